//! A decision for which the search proposes another value, and the cells that it affects.

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

/// A decision on which two settings differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The decision's name.
    pub name: String,
    /// The unit of its values.
    pub unit: &'static str,
    /// The value before: a number or a word.
    pub default: Value,
    /// The value that the search found.
    pub found: Value,
    /// The two values as text for the user.
    pub shown: [String; 2],
    /// The number of its ladder. Changes on one ladder affect the same sizes, so they are kept or rejected
    /// together.
    pub ladder: usize,
    /// The cells that it affects.
    pub cells: Vec<Cell>,
}

/// An entry of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A number.
    Number(Decision),
    /// The kernel of a function.
    Kernel(Function),
}

/// Sizes at which kernels are confirmed; the search uses others.
const OTHER_SIZES: [(Family, &[&str]); 4] = [
    (Family::Zero, &["fleet:memset-B", "fleet:memset-L", "8", "77", "300", "2000"]),
    (Family::Copy, &["fleet:memcpy-B", "fleet:memcpy-L", "8", "77", "300", "2000"]),
    (Family::Checksum, &["64..576", "28", "77", "576", "9000"]),
    (Family::CopyChecksum, &["64..576", "77", "576", "4K"]),
];

/// Where a moved threshold is checked: positions in the range of sizes that it moved across, on a logarithmic
/// scale.
const POINTS: [f64; 4] = [0.07, 0.36, 0.64, 0.93];

impl Entry {
    /// Every entry of a profile, numbers first.
    pub fn all() -> impl Iterator<Item = Entry> + Clone {
        let numbers = Decision::ALL.iter().map(|decision| Entry::Number(*decision));
        numbers.chain(Function::ALL.into_iter().map(Entry::Kernel))
    }

    /// The name in a profile.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Entry::Number(decision) => decision.name().to_owned(),
            Entry::Kernel(function) => format!("kernels.{}", function.name()),
        }
    }

    /// The unit of its values.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Entry::Number(decision) => decision.unit(),
            Entry::Kernel(_) => "kernel",
        }
    }

    /// The value as text for the user.
    #[must_use]
    pub fn shown(self, settings: &Settings) -> String {
        match self {
            Entry::Number(decision) => shown(decision, settings.bytes(decision)),
            Entry::Kernel(function) => settings.kernel(function).to_owned(),
        }
    }

    /// The value as JSON: a number or a word.
    #[must_use]
    pub fn value(self, settings: &Settings) -> Value {
        match self {
            Entry::Number(decision) => match settings.bytes(decision) {
                bytes if bytes != u64::MAX && shown(decision, bytes) != "detected" => bytes.into(),
                bytes => shown(decision, bytes).into(),
            },
            Entry::Kernel(function) => settings.kernel(function).into(),
        }
    }

    /// `settings` with this entry of `from`.
    #[must_use]
    pub fn taken(self, settings: Settings, from: &Settings) -> Settings {
        match self {
            Entry::Number(decision) => settings.with(decision, from.bytes(decision)),
            Entry::Kernel(function) => settings.with_kernel(function, from.kernels[function as usize]),
        }
    }

    /// The cells that a difference in this entry affects.
    fn cells(self, base: &Settings, found: &Settings) -> Result<Vec<Cell>, Failure> {
        match self {
            Entry::Number(Decision::SumPrefetchAhead) => prefetched(found, [1.5, 3.0, 6.0]),
            Entry::Number(changed) => Ok(questions::all()
                .flat_map(|question| {
                    let names = [Some(question.alternative), question.non_temporal].into_iter().flatten();
                    let named = names.filter(|name| decision(name) == changed);
                    named.flat_map(|name| moved(&question, name, base, found)).collect::<Vec<_>>()
                })
                .collect()),
            Entry::Kernel(kernel) => {
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

/// All entries on which two settings of the library differ.
///
/// # Errors
/// Fails if a size cannot be parsed.
pub fn changes(base: &Settings, found: &Settings) -> Result<Vec<Change>, Failure> {
    let different = Entry::all().filter(|entry| entry.value(base) != entry.value(found));
    let names: Vec<String> = different.clone().map(Entry::name).collect();
    let questions: Vec<Question> = questions::all().collect();
    let ladders = ladders(&questions, base, found, &names);
    different
        .zip(ladders)
        .map(|(entry, ladder)| {
            Ok(Change {
                name: entry.name(),
                unit: entry.unit(),
                default: entry.value(base),
                found: entry.value(found),
                shown: [entry.shown(base), entry.shown(found)],
                ladder,
                cells: entry.cells(base, found)?,
            })
        })
        .collect()
}

/// The ladder number of each change, given the changes' names. The two thresholds of a question share a
/// number if both moved across some size.
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

/// The range of sizes that a threshold of a question moved across; `None` if the question is not affected.
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

/// Cells of a question at sizes that one of its thresholds moved across.
pub fn moved<K: Knobs>(question: &Question, name: &str, base: &K, found: &K) -> Vec<Cell> {
    let Some((low, high)) = ends(question, name, base, found) else { return Vec::new() };
    let size = |point: f64| (low as f64 * (high as f64 / low as f64).powf(point)) as u64;
    // Sizes that are not a multiple of a vector.
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
    fn thresholds_that_move_across_the_same_sizes_share_a_ladder() {
        // From never, and from 16 KiB.
        let overlapping =
            ladders_of(&[("rep_stosb_not_soon_from_bytes", 8192), ("zero_non_temporal_from_bytes", 1 << 20)]);
        assert_eq!(overlapping.len(), 2);
        assert_eq!(overlapping[0].1, overlapping[1].1);
        let apart = ladders_of(&[("rep_stosb_from_bytes", 1 << 20), ("rep_movsb_from_bytes", 1 << 20)]);
        assert_ne!(apart[0].1, apart[1].1);
    }

    #[test]
    fn every_change_has_cells_and_equal_settings_have_no_changes() {
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
