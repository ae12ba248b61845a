//! Charts for the page as inline SVG: curves with the machine's limits.
//!
//! Positions are percentages and text has the page's own size, so that charts fit a phone without shrinking
//! their text; colours come from the page's style sheet, so that they follow light and dark mode. Plotting
//! libraries fix sizes and colours, so none is used.

use crate::curve::{Axis, RateCurve, letter};
use crate::units::{byte_size, number};
use maud::{Markup, html};

/// The minimum distance between labels of limits, as a share of the height.
const LABELS_APART: f64 = 0.07;

/// A share of the chart's width or height as a percentage.
fn part(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// A curve with axes, limits and legend.
#[must_use]
pub fn curve(rates: &RateCurve) -> Markup {
    let curve = &rates.curve;
    let points = curve.series.iter().flat_map(|series| &series.points).map(|(_, value)| *value);
    let limits = || rates.limits.iter().map(|(_, rate)| *rate);
    let (x, y) = (curve.x_axis(), Axis::over(points.chain(limits()), curve.log_y));
    let at = |(size, value): &(u64, f64)| (part(x.place(*size as f64)), part(1.0 - y.place(*value)));
    let mut labelled: Vec<(f64, u64)> = vec![];
    for size in curve.sizes() {
        let place = x.place(size as f64);
        if labelled.last().is_none_or(|(last, _)| place - last > 0.12) {
            labelled.push((place, size));
        }
    }
    html! {
        div.curve {
            svg role="img" aria-label=(curve.title) width="100%" height="300" {
                title { (curve.title) }
                @for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    @let below = part(1.0 - share);
                    line.grid x1="0" x2="100%" y1=(below) y2=(below) {}
                    text.figure x="0" y=(below) dx="-6" dy="4" text-anchor="end" { (number(y.value(share))) }
                }
                @for (place, size) in &labelled {
                    line.grid x1=(part(*place)) x2=(part(*place)) y1="0" y2="100%" {}
                    text.figure x=(part(*place)) y="100%" dy="18" text-anchor="middle" { (byte_size(*size)) }
                }
                @for (level, rate, label_at) in labels(&rates.limits, y) {
                    line.limit x1="0" x2="100%" y1=(part(1.0 - y.place(rate))) y2=(part(1.0 - y.place(rate))) {}
                    text.limit x="0" y=(part(label_at)) dx="4" dy="-3" { (level) " " (number(rate)) }
                }
                @for (index, series) in curve.series.iter().enumerate() {
                    g class=(format!("series-{index}")) {
                        @for pair in series.points.windows(2) {
                            @let ((x1, y1), (x2, y2)) = (at(&pair[0]), at(&pair[1]));
                            line x1=(x1) y1=(y1) x2=(x2) y2=(y2) {}
                        }
                        @for point in &series.points {
                            @let (cx, cy) = at(point);
                            circle cx=(cx) cy=(cy) r="3" {
                                title { (series.name) ", " (byte_size(point.0)) ": " (number(point.1)) }
                            }
                        }
                        // Letters too, for readers who cannot tell the colours apart and for prints in grey.
                        @if let Some(point) = series.points.iter().cycle().nth(index) {
                            @let (x, y) = at(point);
                            text x=(x) y=(y) dx="5" dy="-5" { (letter(index)) }
                        }
                    }
                }
            }
        }
        p.legend {
            @for (index, series) in curve.series.iter().enumerate() {
                span class=(format!("series-{index}")) { b { (letter(index)) } " " (series.name) } " "
            }
            @if !rates.limits.is_empty() { span.limit { "dashed: limits" } }
        }
    }
}

/// The limits in descending order, each with the position of its label as a share of the height: at its line,
/// or below the previous label if they would overlap.
fn labels(limits: &[(String, f64)], y: Axis) -> Vec<(&str, f64, f64)> {
    let mut sorted: Vec<(&str, f64)> = limits.iter().map(|(level, rate)| (level.as_str(), *rate)).collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut last = f64::NEG_INFINITY;
    let placed = sorted.into_iter().map(|(level, rate)| {
        last = (1.0 - y.place(rate)).max(last + LABELS_APART);
        (level, rate, last)
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::rate_curves;
    use crate::fixture;

    #[test]
    fn limits_are_lines_on_the_same_axis_as_the_rates() {
        let mut run = fixture::run();
        let curves = rate_curves(&run, &fixture::roles());
        assert_eq!(curves.len(), 1, "zero alone has three sizes");
        assert_eq!(curves[0].curve.unit, "B/cycle est.");
        // The greater of the two kinds of stores, in bytes per tick, times 0.6 ticks per cycle.
        assert_eq!(curves[0].limits, [("L1".to_owned(), 63.0), ("memory".to_owned(), 36.0 * 0.6)]);
        let markup = curve(&curves[0]).into_string();
        assert!(markup.contains(">L1 63.0<") && markup.contains(">memory 21.6<"), "{markup}");
        assert_eq!(markup.matches("<line class=\"limit\"").count(), 2);
        assert!(!markup.contains("NaN") && !markup.contains("inf"), "{markup}");
        run.ticks_per_cycle = None;
        let per_tick = rate_curves(&run, &fixture::roles());
        assert_eq!((per_tick[0].curve.unit.as_str(), per_tick[0].limits[0].1), ("B/tick", 105.0));
    }

    #[test]
    fn labels_of_close_limits_do_not_overlap() {
        let limits =
            [("L2", 99.0), ("L1", 100.0), ("memory", 1.0)].map(|(name, rate)| (name.to_owned(), rate));
        let y = Axis::over([1.0, 100.0].into_iter(), true);
        let placed = labels(&limits, y);
        let names: Vec<&str> = placed.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, ["L1", "L2", "memory"]);
        assert!(placed.windows(2).all(|pair| pair[1].2 - pair[0].2 >= LABELS_APART - 1e-9), "{placed:?}");
        assert_eq!(placed[2].2, 1.0);
    }
}
