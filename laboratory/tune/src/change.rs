//! A decision that the search would have otherwise, and the cells where that makes a difference.

use crate::arms::Cell;
use crate::questions::{self, Question};
use crate::search::{cells_of, prefetched};
use crate::settings::{Settings, decision, function, shown};
use crate::thresholds::Knobs;
use carryline::internals::dispatch::Function;
use carryline::internals::tuning::Decision;
use carryline_engine::failure::Failure;
use carryline_variants::Family;
use serde_json::Value;

/// What differs between two settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The decision's name.
    pub name: String,
    /// The unit of its values.
    pub unit: &'static str,
    /// Its value before: a number, or a word.
    pub default: Value,
    /// Its value by the search.
    pub found: Value,
    /// The two for a person.
    pub shown: [String; 2],
    /// Changes of one ladder move over the same sizes, and so are kept together or not at all.
    pub ladder: usize,
    /// Where it makes a difference.
    pub cells: Vec<Cell>,
}

/// A decision of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A number.
    Number(Decision),
    /// The kernel of a function.
    Kernel(Function),
}

/// Sizes in a cell's family that the search did not compare kernels at.
const OTHER_SIZES: [(Family, &[&str]); 4] = [
    (Family::Zero, &["fleet:memset-B", "fleet:memset-L", "8", "77", "300", "2000"]),
    (Family::Copy, &["fleet:memcpy-B", "fleet:memcpy-L", "8", "77", "300", "2000"]),
    (Family::Checksum, &["64..576", "28", "77", "576", "9000"]),
    (Family::CopyChecksum, &["64..576", "77", "576", "4K"]),
];

/// Where in the range of sizes that a threshold moves over the change is looked at, on a scale of logarithms.
const POINTS: [f64; 4] = [0.07, 0.36, 0.64, 0.93];

impl What {
    /// Every decision, numbers first.
    pub fn all() -> impl Iterator<Item = What> + Clone {
        let numbers = Decision::ALL.iter().map(|decision| What::Number(*decision));
        numbers.chain(Function::ALL.into_iter().map(What::Kernel))
    }

    /// The name in a profile.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            What::Number(decision) => decision.name().to_owned(),
            What::Kernel(function) => format!("kernels.{}", function.name()),
        }
    }

    /// The unit of its values.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            What::Number(decision) => decision.unit(),
            What::Kernel(_) => "kernel",
        }
    }

    /// Its value for a person.
    #[must_use]
    pub fn shown(self, settings: &Settings) -> String {
        match self {
            What::Number(decision) => shown(decision, settings.bytes(decision)),
            What::Kernel(function) => settings.kernel(function).to_owned(),
        }
    }

    /// Its value for a program: a number, or a word.
    #[must_use]
    pub fn value(self, settings: &Settings) -> Value {
        match self {
            What::Number(decision) => match settings.bytes(decision) {
                bytes if bytes != u64::MAX && shown(decision, bytes) != "detected" => bytes.into(),
                bytes => shown(decision, bytes).into(),
            },
            What::Kernel(function) => settings.kernel(function).into(),
        }
    }

    /// `settings` with this decision of `from`.
    #[must_use]
    pub fn taken(self, settings: Settings, from: &Settings) -> Settings {
        match self {
            What::Number(decision) => settings.with(decision, from.bytes(decision)),
            What::Kernel(function) => settings.with_kernel(function, from.kernels[function as usize]),
        }
    }

    /// The cells in which it makes a difference between two settings.
    fn cells(self, base: &Settings, found: &Settings) -> Result<Vec<Cell>, Failure> {
        match self {
            What::Number(Decision::SumPrefetchAhead) => prefetched(found, [1.5, 3.0, 6.0]),
            What::Number(changed) => Ok(questions::all()
                .flat_map(|question| {
                    let names = [Some(question.alternative), question.non_temporal].into_iter().flatten();
                    let named = names.filter(|name| decision(name) == changed);
                    named.flat_map(|name| moved(&question, name, base, found)).collect::<Vec<_>>()
                })
                .collect()),
            What::Kernel(kernel) => {
                let of = OTHER_SIZES.into_iter().filter(|(family, _)| function(*family) == kernel);
                let mut cells = Vec::new();
                for (family, words) in of {
                    cells.extend(cells_of(family, words)?);
                }
                Ok(cells)
            }
        }
    }
}

/// All that two settings of the library differ in.
///
/// # Errors
/// When a size cannot be read.
pub fn changes(base: &Settings, found: &Settings) -> Result<Vec<Change>, Failure> {
    let different = What::all().filter(|what| what.value(base) != what.value(found));
    let names: Vec<String> = different.clone().map(What::name).collect();
    let questions: Vec<Question> = questions::all().collect();
    let ladders = ladders(&questions, base, found, &names);
    different
        .zip(ladders)
        .map(|(what, ladder)| {
            Ok(Change {
                name: what.name(),
                unit: what.unit(),
                default: what.value(base),
                found: what.value(found),
                shown: [what.shown(base), what.shown(found)],
                ladder,
                cells: what.cells(base, found)?,
            })
        })
        .collect()
}

/// For each change, by its name, the number of its ladder: the same for the two thresholds of a question where both move over
/// some size.
pub fn ladders<K: Knobs>(questions: &[Question], base: &K, found: &K, names: &[String]) -> Vec<usize> {
    let mut ladders: Vec<usize> = (0..names.len()).collect();
    for question in questions {
        let place = |name: &str| names.iter().position(|known| known == name);
        let around = question.non_temporal.unwrap_or_default();
        let (Some(one), Some(other)) = (place(question.alternative), place(around)) else { continue };
        let ends = [question.alternative, around].map(|name| ends(question, name, base, found));
        if let [Some((low, high)), Some((other_low, other_high))] = ends
            && low < other_high
            && other_low < high
        {
            let (kept, replaced) = (ladders[one], ladders[other]);
            ladders.iter_mut().filter(|ladder| **ladder == replaced).for_each(|ladder| *ladder = kept);
        }
    }
    ladders
}

/// The sizes over which a threshold of a question has moved; `None` where that makes no difference to it.
fn ends<K: Knobs>(question: &Question, name: &str, base: &K, found: &K) -> Option<(u64, u64)> {
    let of = |settings: &K| {
        let thresholds = settings.thresholds(question);
        if name == question.alternative { thresholds.alternative } else { thresholds.non_temporal }
    };
    let (was, now) = (of(base), of(found));
    let (least, most) = question.sizes;
    let (low, high) = (was.min(now).clamp(least, most), was.max(now).clamp(least, most));
    (low < high).then_some((low, high))
}

/// Cells of a question at sizes over which one of its thresholds has moved.
pub fn moved<K: Knobs>(question: &Question, name: &str, base: &K, found: &K) -> Vec<Cell> {
    let Some((low, high)) = ends(question, name, base, found) else { return Vec::new() };
    let size = |point: f64| (low as f64 * (high as f64 / low as f64).powf(point)) as u64;
    // Not a whole number of vectors.
    POINTS
        .into_iter()
        .flat_map(|point| question.cells((size(point) & !63) | 40))
        .map(|(_, cell)| cell)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline::internals::tuning::built_in;

    fn settings(values: &[(&'static str, u64)]) -> Settings {
        let base = Settings::from(built_in("unmeasured").expect("it is built in"));
        values.iter().fold(base, |settings, (name, bytes)| settings.set(name, *bytes))
    }

    fn ladders_of(values: &[(&'static str, u64)]) -> Vec<(String, usize)> {
        let changes = changes(&settings(&[]), &settings(values)).expect("sizes can be read");
        changes.into_iter().map(|change| (change.name, change.ladder)).collect()
    }

    #[test]
    fn thresholds_that_move_over_the_same_sizes_are_one_ladder() {
        // From never, and from 16 KiB.
        let over_each_other =
            ladders_of(&[("rep_stosb_not_soon_from_bytes", 8192), ("zero_non_temporal_from_bytes", 1 << 20)]);
        assert_eq!(over_each_other.len(), 2);
        assert_eq!(over_each_other[0].1, over_each_other[1].1);
        let apart = ladders_of(&[("rep_stosb_from_bytes", 1 << 20), ("rep_movsb_from_bytes", 1 << 20)]);
        assert_ne!(apart[0].1, apart[1].1);
    }

    #[test]
    fn what_differs_has_cells_and_what_does_not_is_no_change() {
        assert_eq!(changes(&settings(&[]), &settings(&[])).expect("sizes can be read"), []);
        let changed = changes(&settings(&[]), &settings(&[("rep_movsb_from_bytes", 65_536)]))
            .expect("sizes can be read");
        let [change] = changed.as_slice() else { panic!("{changed:?}") };
        assert_eq!((change.default.as_str(), change.found.as_u64()), (Some("never"), Some(65_536)));
        assert_eq!(change.shown, ["never", "64 KiB"]);
        for cell in &change.cells {
            assert_eq!((cell.family, cell.subject), (Family::Copy, "carryline"));
            assert!(cell.condition.sizes.min() >= 65_536 && !cell.condition.sizes.min().is_power_of_two());
        }
        assert!(change.cells.len() >= 4 * 3);
    }
}
