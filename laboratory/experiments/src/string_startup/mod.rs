//! string-startup: the start-up cost and the rate of string instructions.
//!
//! T(n) = a + n / b: start-up a, rate b, and a * b, the length at which half of the time is start-up. The
//! line is fitted in every round to the lengths from 256 bytes on, by the median of slopes, so that the three
//! results have intervals like any other figure.

mod claims;
mod probe;

use super::{Context, Experiment, Outcome, Probed};
use carryline_engine::failure::Failure;
use carryline_report::curve::{Curve, Glyphs, Series};
use carryline_report::table::Style;
use carryline_results::claims::{Datum, Figure, Figures, TableResult, Unit};
use carryline_results::sources::EVANS_2018;
use carryline_statistics::{self as statistics, Line};
use claims::CLAIMS;
use probe::{ALIGNMENTS, FIT_FROM, INSTRUCTIONS, PAIR, SIZES, name};

/// See the module.
pub static EXPERIMENT: Experiment = Experiment {
    id: "string-startup",
    source: &EVANS_2018,
    title: "Start-up and rate of the string instructions",
    weight: 0.6,
    claims: CLAIMS,
    probe: Some(&probe::PROBE),
    run,
};

/// A figure of a line: its name, its unit, and its computation from the line.
type OfLine = (&'static str, Unit, fn(&Line) -> f64);

const OF_LINES: [OfLine; 3] = [
    ("start-up", Unit::CyclesEst, |line| line.at_zero),
    ("rate", Unit::BytesPerCycleEst, |line| 1.0 / line.slope),
    ("half-performance", Unit::Bytes, Line::half_performance),
];

fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::default();
    let found = context.probe("string_startup", &(), 1.0)?;
    let lines: Vec<(&str, &str)> = INSTRUCTIONS
        .into_iter()
        .chain([PAIR])
        .flat_map(|instruction| ALIGNMENTS.map(|alignment| (instruction, alignment)))
        .collect();
    for (instruction, alignment) in &lines {
        for bytes in SIZES {
            let name = name(instruction, alignment, bytes);
            outcome.figures.add_or_reason(name.clone(), found.cycles(&name));
        }
        for (what, figure) in fitted(&found, instruction, alignment, context.seed) {
            outcome.figures.add_or_reason(format!("{instruction}, {alignment}, {what}"), figure);
        }
    }
    for bytes in SIZES {
        let name = name("libc", "aligned", bytes);
        outcome.figures.add_or_reason(name.clone(), found.cycles(&name));
    }
    for name in
        ["movsb, aligned, 0", "movsq and movsb, aligned, 0", "stosl, aligned, 1024", "stosl, aligned, 4096"]
    {
        outcome.figures.add_or_reason(name, found.cycles(name));
    }
    outcome.tables.push(fits(&outcome.figures, &lines));
    outcome.tables.push(times(&outcome.figures));
    for alignment in ALIGNMENTS {
        outcome.plots.push(curve(&outcome.figures, alignment));
    }
    outcome.notes.push(format!(
        "State: both buffers in the first level, written before; instructions inlined and independent. \
         The line is fitted from {FIT_FROM} bytes on: newer CPUs have a separate, faster path for \
         shorter strings. Misaligned: destination 7, source 13 bytes past a line."
    ));
    if let Some(reason) = &found.reason {
        outcome.notes.push(format!("Cannot be measured here: {reason}."));
    }
    Ok(outcome)
}

/// Start-up, rate and half-performance length of an instruction, from a line fitted to its times in each
/// round.
fn fitted(
    found: &Probed,
    instruction: &str,
    alignment: &str,
    seed: u64,
) -> Vec<(&'static str, Result<Figure, String>)> {
    let times: Result<Vec<Figure>, String> =
        fit_sizes().map(|bytes| found.cycles(&name(instruction, alignment, bytes))).collect();
    let figure = |(what, unit, value): OfLine| {
        let figure = times.as_ref().map_err(Clone::clone).and_then(|times| {
            let times: Vec<&Figure> = times.iter().collect();
            Figure::by_round(unit, &times, seed, |cycles| fit(cycles).map_or(f64::NAN, |line| value(&line)))
                .ok_or_else(|| "no line fits its times".to_owned())
        });
        (what, figure)
    };
    OF_LINES.map(figure).into()
}

/// The lengths used for the fit.
fn fit_sizes() -> impl Iterator<Item = u32> {
    SIZES.into_iter().filter(|bytes| *bytes >= FIT_FROM)
}

/// The line fitted to times at [`fit_sizes`].
fn fit(cycles: &[f64]) -> Option<Line> {
    let points: Vec<(f64, f64)> = fit_sizes().map(f64::from).zip(cycles.iter().copied()).collect();
    statistics::line(&points)
}

fn fits(figures: &Figures, lines: &[(&str, &str)]) -> TableResult {
    let mut table = TableResult::new(
        "T(n) = a + n / b: start-up a, rate b, and a * b, the length that repays half of the start-up",
        &[
            ("instruction", ""),
            ("buffers", ""),
            ("start-up published", "cycles"),
            ("start-up here", "cycles est."),
            ("rate published", "B/cycle"),
            ("rate here", "B/cycle est."),
            ("half at published", "B"),
            ("half at here", "B"),
            ("largest error of the line", "%"),
        ],
    );
    for (instruction, alignment) in lines {
        let here =
            |what: &str| -> Datum { figures.get(&format!("{instruction}, {alignment}, {what}")).into() };
        let known = (*instruction, *alignment) == ("movsb", "aligned");
        let published = |value: f64| if known { Datum::Number(value) } else { Datum::None };
        let points: Option<Vec<f64>> = fit_sizes()
            .map(|bytes| Some(figures.get(&name(instruction, alignment, bytes))?.value()))
            .collect();
        let misses = points.and_then(|cycles| {
            let points: Vec<(f64, f64)> = fit_sizes().map(f64::from).zip(cycles.iter().copied()).collect();
            Some(fit(&cycles)?.misses(&points) * 100.0)
        });
        table.push(vec![
            (*instruction).into(),
            (*alignment).into(),
            published(25.0),
            here("start-up"),
            published(32.0),
            here("rate"),
            published(800.0),
            here("half-performance"),
            misses.into(),
        ]);
    }
    table
}

fn times(figures: &Figures) -> TableResult {
    let rows: Vec<&str> = INSTRUCTIONS.into_iter().chain([PAIR, "libc"]).collect();
    let columns: Vec<(&str, &str)> =
        [("bytes", "bytes")].into_iter().chain(rows.iter().map(|row| (*row, "cycles est."))).collect();
    let mut table = TableResult::new("Cycles by length, aligned", &columns);
    for bytes in SIZES {
        let here = |row: &&str| -> Datum { figures.get(&name(row, "aligned", bytes)).into() };
        table.push(std::iter::once(f64::from(bytes).into()).chain(rows.iter().map(here)).collect());
    }
    table
}

fn curve(figures: &Figures, alignment: &str) -> String {
    let points = |instruction: &str| {
        let point =
            |bytes: u32| Some((u64::from(bytes), figures.get(&name(instruction, alignment, bytes))?.value()));
        (instruction.to_owned(), SIZES.into_iter().filter_map(point).collect())
    };
    let mut series: Vec<(String, Vec<(u64, f64)>)> = INSTRUCTIONS.map(points).into();
    let of_fit = |what: &str| Some(figures.get(&format!("movsb, {alignment}, {what}"))?.value());
    if let Some((start, rate)) = of_fit("start-up").zip(of_fit("rate")) {
        let line = SIZES.map(|bytes| (u64::from(bytes), start + f64::from(bytes) / rate));
        series.push(("the line of movsb".to_owned(), line.into_iter().filter(|(_, y)| *y > 0.0).collect()));
    }
    plot(&format!("String instructions, {alignment}, hot"), "cycles est.", true, series)
}

/// A text plot of named curves over sizes in bytes.
pub(super) fn plot(title: &str, unit: &str, log_y: bool, series: Vec<(String, Vec<(u64, f64)>)>) -> String {
    let series: Vec<Series> = series
        .into_iter()
        .filter(|(_, points)| !points.is_empty())
        .map(|(name, points)| Series { name, points })
        .collect();
    if series.is_empty() {
        return format!("{title}: nothing was measured\n");
    }
    let curve = Curve { title: title.to_owned(), unit: unit.to_owned(), log_y, series };
    curve.to_text(Style { colour: false, width: None }, Glyphs::Ascii, 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_line_is_recovered_from_its_times() {
        let cycles: Vec<f64> = fit_sizes().map(|bytes| 25.0 + f64::from(bytes) / 32.0).collect();
        let line = fit(&cycles).expect("a line");
        let values = OF_LINES.map(|(_, _, value)| value(&line));
        for (value, wanted) in values.into_iter().zip([25.0, 32.0, 800.0]) {
            assert!((value - wanted).abs() < 1e-6, "{value}, not {wanted}");
        }
        assert_eq!(fit(&[f64::NAN; 10]), None);
    }

    #[test]
    fn a_plot_without_curves_says_so() {
        let text = plot("Times", "cycles", true, vec![("one".to_owned(), vec![(64, 1.0), (128, 2.0)])]);
        assert!(text.contains("Times") && text.contains("one") && text.is_ascii(), "{text}");
        assert!(plot("Times", "cycles", true, Vec::new()).contains("nothing"));
    }
}
