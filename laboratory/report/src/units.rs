//! Units and the formatting of numbers.
//!
//! A run is measured in ticks of the time-stamp counter. Other units need a factor that may be unknown (ticks
//! per core cycle, ticks per nanosecond), in which case a conversion returns `None`. Numbers are printed with
//! a decimal point, a space between groups of three digits, and about three significant digits; more would be
//! noise.

use carryline_results::RunResult;
pub use carryline_warnings::numbers::{counted, number_with, percent_fine};
use std::fmt;
use std::str::FromStr;

/// The units of `--unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Unit {
    /// Ticks of the time-stamp counter per call, as measured.
    #[default]
    Ticks,
    /// Core cycles per call.
    Cycles,
    /// Nanoseconds per call.
    Ns,
    /// 10^9 bytes of the call's length per second.
    GbPerS,
    /// 2^30 bytes of the call's length per second.
    GibPerS,
    /// Bytes of the call's length per core cycle.
    BytesPerCycle,
}

/// An unknown unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownUnit {
    /// The word given.
    pub word: String,
}

impl fmt::Display for UnknownUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Unit::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        write!(f, "unknown unit '{}'; known: {known}", self.word)
    }
}

impl std::error::Error for UnknownUnit {}

/// The units of a tick, if the run could determine them.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Factors {
    /// Ticks of the time-stamp counter per core cycle.
    pub ticks_per_cycle: Option<f64>,
    /// Ticks of the time-stamp counter per nanosecond.
    pub ticks_per_ns: Option<f64>,
}

impl Factors {
    /// The factors of a run.
    #[must_use]
    pub const fn of_run(run: &RunResult) -> Factors {
        Factors { ticks_per_cycle: run.ticks_per_cycle, ticks_per_ns: run.ticks_per_ns }
    }
}

impl Unit {
    /// The words of the command line, with descriptions.
    pub const WORDS: &'static [(&'static str, &'static str)] = &[
        ("ticks", "ticks of the time-stamp counter per call"),
        ("cycles", "core cycles per call"),
        ("ns", "nanoseconds per call"),
        ("GB/s", "10^9 bytes per second"),
        ("GiB/s", "2^30 bytes per second"),
        ("B/cycle", "bytes per core cycle"),
    ];

    /// All units, in the order of [`Unit::WORDS`].
    pub const ALL: [Unit; 6] =
        [Unit::Ticks, Unit::Cycles, Unit::Ns, Unit::GbPerS, Unit::GibPerS, Unit::BytesPerCycle];

    /// The word of the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Ticks => "ticks",
            Unit::Cycles => "cycles",
            Unit::Ns => "ns",
            Unit::GbPerS => "GB/s",
            Unit::GibPerS => "GiB/s",
            Unit::BytesPerCycle => "B/cycle",
        }
    }

    /// True for rates: bytes per time instead of time per call.
    #[must_use]
    pub const fn is_rate(self) -> bool {
        matches!(self, Unit::GbPerS | Unit::GibPerS | Unit::BytesPerCycle)
    }

    /// Converts the time of a call of `bytes`. `None` if a factor is unknown or the result is not a number,
    /// such as the rate of a call that took no time.
    ///
    /// ```
    /// use carryline_report::units::{Factors, Unit};
    /// let factors = Factors { ticks_per_cycle: Some(0.5), ticks_per_ns: None };
    /// assert_eq!(Unit::Cycles.convert(20.0, 64.0, factors), Some(40.0));
    /// assert_eq!(Unit::BytesPerCycle.convert(20.0, 80.0, factors), Some(2.0));
    /// assert_eq!(Unit::Ns.convert(20.0, 64.0, factors), None);
    /// ```
    #[must_use]
    pub fn convert(self, ticks: f64, bytes: f64, factors: Factors) -> Option<f64> {
        let cycles = || Some(ticks / factors.ticks_per_cycle.filter(|factor| *factor > 0.0)?);
        let ns = || Some(ticks / factors.ticks_per_ns.filter(|factor| *factor > 0.0)?);
        let rate = |time: Option<f64>| Some(bytes / time.filter(|time| *time > 0.0)?);
        let value = match self {
            Unit::Ticks => Some(ticks),
            Unit::Cycles => cycles(),
            Unit::Ns => ns(),
            Unit::GbPerS => rate(ns()),
            Unit::GibPerS => rate(ns()).map(|rate| rate * 1e9 / f64::from(1 << 30)),
            Unit::BytesPerCycle => rate(cycles()),
        };
        value.filter(|value| value.is_finite())
    }
}

impl FromStr for Unit {
    type Err = UnknownUnit;
    fn from_str(word: &str) -> Result<Unit, UnknownUnit> {
        let known = Unit::ALL.into_iter().find(|unit| unit.word() == word);
        known.ok_or_else(|| UnknownUnit { word: word.to_owned() })
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The number of decimals for about three significant digits.
#[must_use]
pub fn decimals_for(value: f64) -> usize {
    match value.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    }
}

/// A number with about three significant digits: `4.06`, `52.3`, `287`, `1 234`.
#[must_use]
pub fn number(value: f64) -> String {
    number_with(value, decimals_for(value))
}

/// A number, or `-` for `None`.
#[must_use]
pub fn number_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

/// A share as a whole percentage; nonzero shares that round to zero are `<1 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.5 { "<1 %".to_owned() } else { format!("{} %", number_with(percent, 0)) }
}

/// A relative difference as a whole percentage with its sign, `+3 %`; `<1 %` if it rounds to zero, in either
/// direction.
///
/// ```
/// use carryline_report::units::percent_signed;
/// assert_eq!([0.03, -0.03, 0.002, -0.002].map(percent_signed), ["+3 %", "-3 %", "<1 %", "<1 %"]);
/// ```
#[must_use]
pub fn percent_signed(share: f64) -> String {
    match percent(share.abs()) {
        small if small.starts_with('<') => small,
        whole if share < 0.0 => format!("-{whole}"),
        whole => format!("+{whole}"),
    }
}

/// A factor: `1.82x`.
#[must_use]
pub fn times(factor: f64) -> String {
    if factor.is_finite() { format!("{}x", number_with(factor, 2)) } else { "-".to_owned() }
}

const MULTIPLES: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// An exact number of bytes, for labels: `40`, `1500`, `4 KiB`, `8 MiB`; never rounded.
///
/// ```
/// use carryline_report::units::byte_size;
/// assert_eq!([40, 1500, 4096, 256 << 10, 8 << 20, 1536 << 10].map(byte_size),
///            ["40", "1500", "4 KiB", "256 KiB", "8 MiB", "1536 KiB"]);
/// ```
#[must_use]
pub fn byte_size(bytes: u64) -> String {
    let exact = MULTIPLES.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    match exact {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// An exact number of bytes as a phrase: `40 bytes`, `1 byte`, `4 KiB`.
#[must_use]
pub fn byte_phrase(bytes: u64) -> String {
    let size = byte_size(bytes);
    match bytes {
        1 => "1 byte".to_owned(),
        _ if size.ends_with('B') => size,
        _ => format!("{size} bytes"),
    }
}

/// A rough number of bytes, for footprints and buffers: `19.1 MiB`.
#[must_use]
pub fn byte_size_rough(bytes: u64) -> String {
    match MULTIPLES.iter().find(|(unit, _)| bytes >= *unit && !bytes.is_multiple_of(*unit)) {
        Some((unit, name)) if byte_size(bytes).len() > 8 || !byte_size(bytes).ends_with('B') => {
            format!("{} {name}", number(bytes as f64 / *unit as f64))
        }
        _ => byte_phrase(bytes),
    }
}

/// Pads numbers so that their decimal points align, for a right-aligned column.
///
/// ```
/// use carryline_report::units::align_points;
/// assert_eq!(align_points(vec!["4.06".into(), "335".into(), "-".into()]), ["4.06", "335   ", "-   "]);
/// ```
#[must_use]
pub fn align_points(numbers: Vec<String>) -> Vec<String> {
    let tail = |text: &str| text.find('.').map_or(0, |at| text.len() - at);
    let longest = numbers.iter().map(|text| tail(text)).max().unwrap_or(0);
    numbers.into_iter().map(|text| format!("{text}{}", " ".repeat(longest - tail(&text)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_unit_is_an_error_that_lists_the_known_ones() {
        for unit in Unit::ALL {
            assert_eq!(unit.word().parse(), Ok(unit));
            assert!(Unit::WORDS.iter().any(|(word, _)| *word == unit.word()));
        }
        let error = "furlongs".parse::<Unit>().expect_err("no unit");
        insta::assert_snapshot!(error, @"unknown unit 'furlongs'; known: ticks, cycles, ns, GB/s, GiB/s, B/cycle");
    }

    #[test]
    fn conversions_match_hand_calculation() {
        // 1 500 bytes in 26 ticks, at 0.65 ticks per cycle and 2.6 per ns: 40 cycles, 10 ns, 150 bytes per ns.
        let factors = Factors { ticks_per_cycle: Some(0.65), ticks_per_ns: Some(2.6) };
        let values = Unit::ALL.map(|unit| unit.convert(26.0, 1500.0, factors).expect("both factors known"));
        let right = [26.0, 40.0, 10.0, 150.0, 150e9 / 1_073_741_824.0, 37.5];
        for (value, right) in values.into_iter().zip(right) {
            assert!((value - right).abs() < 1e-9 * right, "{value} is not {right}");
        }
    }

    #[test]
    fn an_unknown_factor_or_zero_time_gives_none() {
        let none = Factors::default();
        assert_eq!(
            Unit::ALL.map(|unit| unit.convert(26.0, 1.0, none).is_some()),
            [true, false, false, false, false, false]
        );
        let factors = Factors { ticks_per_cycle: Some(0.65), ticks_per_ns: Some(2.6) };
        assert_eq!(Unit::GbPerS.convert(0.0, 1.0, factors), None);
        assert_eq!(Unit::GbPerS.convert(-1.0, 1.0, factors), None);
        assert_eq!(Unit::Cycles.convert(f64::NAN, 1.0, factors), None);
        assert_eq!(
            Unit::Cycles.convert(1.0, 1.0, Factors { ticks_per_cycle: Some(0.0), ticks_per_ns: None }),
            None
        );
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        let written =
            [0.0, 0.049, 4.062, 9.996, 52.34, 99.96, 287.4, 1234.5, 12_345_678.0, -3.0, f64::INFINITY]
                .map(number);
        assert_eq!(
            written,
            ["0.00", "0.05", "4.06", "10.0", "52.3", "100", "287", "1 234", "12 345 678", "-3.00", "-"]
        );
        assert_eq!([0.0, 0.001, 0.974, 1.02].map(percent), ["0 %", "<1 %", "97 %", "102 %"]);
        assert_eq!([0.0082, -0.5].map(percent_fine), ["0.8 %", "-50 %"]);
        assert_eq!([1.824, f64::NAN].map(times), ["1.82x", "-"]);
    }

    #[test]
    fn byte_sizes_are_exact_in_labels_and_rough_elsewhere() {
        assert_eq!(
            [0, 1, 40, 4096, 9000, (1 << 30) + 1].map(byte_size),
            ["0", "1", "40", "4 KiB", "9000", "1073741825"]
        );
        assert_eq!([1, 40, 4096].map(byte_phrase), ["1 byte", "40 bytes", "4 KiB"]);
        assert_eq!(
            [40, 1500, 20_000_000, 4096, 32 << 20, 96 << 10].map(byte_size_rough),
            ["40 bytes", "1.46 KiB", "19.1 MiB", "4 KiB", "32 MiB", "96 KiB"]
        );
    }
}
