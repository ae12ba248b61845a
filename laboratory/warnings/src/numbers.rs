//! Numbers in texts, in the C locale.

/// A number with this many decimals, with a space between groups of three digits; `-` if it is not finite.
///
/// ```
/// use carryline_warnings::numbers::number_with;
/// assert_eq!(number_with(-1234567.26, 1), "-1 234 567.3");
/// assert_eq!(number_with(-0.001, 2), "0.00");
/// ```
#[must_use]
pub fn number_with(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let plain = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let is_zero = plain.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let mut out = String::from(if value < 0.0 && !is_zero { "-" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A small relative difference as a percentage with one decimal; from ten percent on, a whole one.
///
/// ```
/// use carryline_warnings::numbers::percent_fine;
/// assert_eq!([0.0082, 0.12].map(percent_fine), ["0.8 %", "12 %"]);
/// ```
#[must_use]
pub fn percent_fine(share: f64) -> String {
    format!("{} %", number_with(share * 100.0, if share.abs() < 0.0995 { 1 } else { 0 }))
}

/// A number of things, with its digits in groups: `1 variant`, `2 variants`, `689 470 calls`.
///
/// ```
/// use carryline_warnings::numbers::counted;
/// assert_eq!([0, 1, 2].map(|count| counted(count, "run")), ["0 runs", "1 run", "2 runs"]);
/// ```
#[must_use]
pub fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", number_with(count as f64, 0))
}
