//! The distribution of a row's samples in each process: a box for the middle half with a line for the median,
//! and whiskers from the 5th to the 95th percentile.

use crate::units::number;
use carryline_results::gather::Gathered;
use carryline_statistics::quantile_of_sorted;
use maud::{Markup, html};
use std::fmt::Write;

/// The width of the drawing in units; each process takes [`LINE`] units of height.
const ACROSS: f64 = 1000.0;
const LINE: usize = 10;
/// The maximum length of a whisker relative to the width of all boxes, which counts as at least this share of
/// the time.
const LONGEST_WHISKER: f64 = 3.0;
const LEAST_SPREAD: f64 = 0.01;
/// The quantiles of whiskers, boxes and medians.
const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// The drawing of a variant's samples in its situation, or a note if they are not stored.
pub(super) fn strip(gathered: &[Gathered], situation: &str, variant: &str) -> Markup {
    let samples = || {
        let of = gathered.iter().find(|of| of.situation.name == situation)?;
        Some(of.gross(of.situation.subjects.iter().position(|name| name == variant)?))
    };
    drawing(&samples().unwrap_or_default())
}

fn drawing(samples: &[Vec<f64>]) -> Markup {
    let processes: Vec<Vec<f64>> =
        samples.iter().map(|samples| sorted(samples)).filter(|p| !p.is_empty()).collect();
    let boxes: Vec<[f64; 5]> = processes.iter().filter_map(|sorted| quantiles(sorted)).collect();
    let ends = |pick: fn(f64, f64) -> f64, of: &mut dyn Iterator<Item = f64>| of.reduce(pick);
    let (Some(low), Some(high)) =
        (ends(f64::min, &mut boxes.iter().map(|b| b[0])), ends(f64::max, &mut boxes.iter().map(|b| b[4])))
    else {
        return html! { p.dim { "Its samples are not stored." } };
    };
    let count: usize = processes.iter().map(Vec::len).sum();
    let least = processes.iter().filter_map(|p| p.first()).copied().fold(f64::INFINITY, f64::min);
    let most = processes.iter().filter_map(|p| p.last()).copied().fold(0.0, f64::max);
    // Cut off what is far beyond the boxes: the whisker of a disturbed process would compress them all.
    let (first, last) =
        boxes.iter().fold((high, low), |(first, last), found| (first.min(found[1]), last.max(found[3])));
    let reach = last + LONGEST_WHISKER * (last - first).max(last * LEAST_SPREAD);
    let (is_cut, high) = (high > reach, high.min(reach));
    let span = (high - low).max(f64::MIN_POSITIVE);
    let place = |value: f64| ((value.min(high) - low) / span * ACROSS).round();
    let (mut lines, mut middles) = (String::new(), String::new());
    for (index, found) in boxes.iter().enumerate() {
        let y = index * LINE + LINE / 2;
        let [low, quarter, median, three_quarters, high] = found.map(place);
        // Writing to a string cannot fail.
        let _ = write!(lines, "M{low} {y}H{high}M{median} {}v8", y - 4);
        let _ = write!(middles, "M{quarter} {}H{three_quarters}v6H{quarter}z", y - 3);
    }
    let height = boxes.len() * LINE;
    html! {
        figure.samples {
            svg viewBox=(format!("0 0 {ACROSS} {height}")) preserveAspectRatio="none" height=(height) {
                path.box d=(middles) {}
                path.line d=(lines) {}
            }
            figcaption {
                span { (number(low)) } " "
                span {
                    (count) " samples of " (boxes.len()) @if boxes.len() == 1 { " process" } @else { " processes" }
                    ", gross ticks; all from " (number(least)) " to " (number(most))
                }
                " " span { @if is_cut { "cut at " } (number(high)) }
            }
        }
    }
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = samples.iter().copied().filter(|sample| sample.is_finite()).collect();
    kept.sort_by(f64::total_cmp);
    kept
}

fn quantiles(sorted: &[f64]) -> Option<[f64; 5]> {
    let [a, b, c, d, e] = SHARES.map(|share| quantile_of_sorted(sorted, share));
    Some([a?, b?, c?, d?, e?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_a_box_and_the_range_is_given() {
        let process =
            |from: f64| (0..=100).map(|n| from + f64::from(n)).chain([f64::NAN]).collect::<Vec<_>>();
        let drawn = drawing(&[process(100.0), vec![f64::NAN], process(200.0)]).into_string();
        // From 105, the 5th percentile of the first, to 295, the 95th of the second.
        assert!(drawn.contains("<span>105</span>") && drawn.contains("<span>295</span>"), "{drawn}");
        assert!(drawn.contains("M0 5H474M237 1v8M526 15H1000M763 11v8"), "{drawn}");
        assert!(drawn.contains("M105 2H368v6H105z"), "{drawn}");
        assert!(drawn.contains("202 samples of 2 processes, gross ticks; all from 100 to 300"), "{drawn}");
    }

    #[test]
    fn a_whisker_far_beyond_the_boxes_is_cut() {
        let disturbed = |most: f64| [vec![100.0; 9], vec![100.0, 110.0, 110.0, 110.0, most]];
        let drawn = drawing(&disturbed(9000.0)).into_string();
        assert!(drawn.contains("<span>cut at 140</span>") && drawn.contains("from 100 to 9 000"), "{drawn}");
        assert!(drawn.contains("H1000M") && !drawn.contains("H1001"), "{drawn}");
        assert!(!drawing(&disturbed(120.0)).into_string().contains("cut"));
    }

    #[test]
    fn missing_and_equal_samples_are_drawn() {
        for samples in [vec![], vec![vec![]], vec![vec![f64::NAN]]] {
            assert!(drawing(&samples).into_string().contains("not stored"));
        }
        let equal = drawing(&[vec![5.0; 3]]).into_string();
        assert!(equal.contains("M0 5H0") && !equal.contains("NaN"), "{equal}");
    }
}
