//! Charts for the page, as inline SVG: bars with their intervals, and curves.
//!
//! Positions are percentages and text has the page's own size, so a chart fits a phone without its words
//! shrinking, and colours come from the page's style sheet, so that it follows light and dark. That is why it is
//! written out here and not drawn by a plotting library, which fixes sizes and colours.

use crate::curve::{Curve, letter};
use crate::figure::Figure;
use crate::units::{byte_size, number};
use maud::{Markup, html};

/// A bar of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Its length and interval.
    pub figure: Figure,
    /// True for a winner.
    pub strong: bool,
}

const BAR_PIXELS: usize = 40;

/// A share of the chart's width or height.
fn part(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// Horizontal bars from zero, each with a whisker from one end of its interval to the other, its name above its
/// left end and its figure above its right.
#[must_use]
pub fn bars(title: &str, unit: &str, bars: &[Bar]) -> Markup {
    // A few very long bars would squeeze the others: what is over three times the median is cut off.
    let mut ends: Vec<f64> = bars.iter().map(|bar| bar.figure.high.max(bar.figure.value)).collect();
    ends.sort_by(f64::total_cmp);
    let (median, longest) = (ends.get(ends.len() / 2), ends.last());
    let full =
        median.zip(longest).map_or(0.0, |(median, longest)| longest.min(median * 3.0)).max(f64::MIN_POSITIVE);
    let place = |value: f64| (value / full).clamp(0.0, 1.0);
    let height = bars.len() * BAR_PIXELS;
    html! {
        svg.bars role="img" aria-label=(title) width="100%" height=(height) {
            title { (title) }
            @for (index, bar) in bars.iter().enumerate() {
                @let top = index * BAR_PIXELS;
                @let (figure, is_cut) = (bar.figure, bar.figure.value > full);
                text x="0" y=(top + 15) { (bar.name) }
                text.figure x="100%" y=(top + 15) text-anchor="end" {
                    @if figure.is_within_null() { "within the null call" }
                    @else { (number(figure.value)) " " (unit) @if is_cut { " (longer than shown)" } }
                }
                @let [value, low, high] = [figure.value, figure.low, figure.high].map(|value| part(place(value)));
                rect.strong[bar.strong].cut[is_cut] x="0" y=(top + 20) height="12" rx="2" width=(value) {}
                @if !is_cut {
                    line.whisker x1=(low) x2=(high) y1=(top + 26) y2=(top + 26) {}
                    @for end in [low, high] {
                        line.whisker x1=(end) x2=(end) y1=(top + 22) y2=(top + 30) {}
                    }
                }
            }
        }
    }
}

/// A curve with axes, and its legend below it.
#[must_use]
pub fn curve(curve: &Curve) -> Markup {
    let (x, y) = (curve.x_axis(), curve.y_axis());
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
            svg role="img" aria-label=(curve.title) width="100%" height="260" {
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
                        // Letters besides colours, for those who cannot tell colours apart and for grey paper.
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: f64, strong: bool) -> Bar {
        Bar { name: name.into(), figure: Figure { value, low: value * 0.9, high: value * 1.1 }, strong }
    }

    #[test]
    fn bars_are_in_proportion_and_cut_where_they_would_squeeze() {
        let markup = bars(
            "a chart",
            "ticks",
            &[bar("a<b", 10.0, true), bar("c", 20.0, false), bar("slow", 100.0, false)],
        )
        .into_string();
        insta::assert_snapshot!(markup.replace("><", ">\n<"), @r#"
        <svg class="bars" role="img" aria-label="a chart" width="100%" height="120">
        <title>a chart</title>
        <text x="0" y="15">a&lt;b</text>
        <text class="figure" x="100%" y="15" text-anchor="end">10.0 ticks</text>
        <rect class="strong" x="0" y="20" height="12" rx="2" width="15.15%">
        </rect>
        <line class="whisker" x1="13.64%" x2="16.67%" y1="26" y2="26">
        </line>
        <line class="whisker" x1="13.64%" x2="13.64%" y1="22" y2="30">
        </line>
        <line class="whisker" x1="16.67%" x2="16.67%" y1="22" y2="30">
        </line>
        <text x="0" y="55">c</text>
        <text class="figure" x="100%" y="55" text-anchor="end">20.0 ticks</text>
        <rect class="" x="0" y="60" height="12" rx="2" width="30.30%">
        </rect>
        <line class="whisker" x1="27.27%" x2="33.33%" y1="66" y2="66">
        </line>
        <line class="whisker" x1="27.27%" x2="27.27%" y1="62" y2="70">
        </line>
        <line class="whisker" x1="33.33%" x2="33.33%" y1="62" y2="70">
        </line>
        <text x="0" y="95">slow</text>
        <text class="figure" x="100%" y="95" text-anchor="end">100 ticks (longer than shown)</text>
        <rect class=" cut" x="0" y="100" height="12" rx="2" width="100.00%">
        </rect>
        </svg>
        "#);
    }

    #[test]
    fn without_bars_the_chart_is_empty_but_whole() {
        let markup = bars("none", "ticks", &[]).into_string();
        assert!(
            markup.starts_with("<svg") && markup.ends_with("</svg>") && !markup.contains("NaN"),
            "{markup}"
        );
    }
}
