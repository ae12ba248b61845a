//! A decision that the search would have otherwise, and the cells where that makes a difference.

use crate::arms::Cell;
use crate::questions::{QUESTIONS, Question, SHARE};
use crate::search::{Knobs, cells_of};
use crate::settings::{Settings, decision, function, shown};
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
    /// Changes of one ladder: they make a difference to each other, and so are kept together or not at all.
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
    pub fn all() -> impl Iterator<Item = What> {
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

    /// The ladder that it is a step of; a share of the caches that changes makes one ladder of those that have it.
    fn ladder(self, is_share_changed: bool) -> usize {
        let of = |question: &Question, changed: Decision| {
            decision(question.string) == changed
                || question.non_temporal.is_some_and(|name| decision(name) == changed)
        };
        match self {
            What::Number(changed) => {
                let own = QUESTIONS.iter().position(|question| of(question, changed));
                let shared =
                    |place: &usize| is_share_changed && QUESTIONS[*place].non_temporal == Some(SHARE);
                own.map_or(usize::MAX, |place| if shared(&place) { 0 } else { place })
            }
            What::Kernel(function) => QUESTIONS.len() + function as usize,
        }
    }

    /// The cells in which it makes a difference between two settings.
    fn cells(self, base: &Settings, found: &Settings) -> Result<Vec<Cell>, Failure> {
        match self {
            What::Number(changed) => Ok(QUESTIONS
                .iter()
                .flat_map(|question| {
                    let is_string = decision(question.string) == changed;
                    let is_around = question.non_temporal.is_some_and(|name| decision(name) == changed);
                    let named = [
                        (is_string, question.string),
                        (is_around, question.non_temporal.unwrap_or_default()),
                    ];
                    let named = named.into_iter().filter(|(is_named, _)| *is_named);
                    named.flat_map(|(_, name)| moved(question, name, base, found))
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
    let is_changed = |what: &What| what.value(base) != what.value(found);
    let is_share_changed = is_changed(&What::Number(decision(SHARE)));
    What::all()
        .filter(is_changed)
        .map(|what| {
            Ok(Change {
                name: what.name(),
                unit: what.unit(),
                default: what.value(base),
                found: what.value(found),
                shown: [what.shown(base), what.shown(found)],
                ladder: what.ladder(is_share_changed),
                cells: what.cells(base, found)?,
            })
        })
        .collect()
}

/// Cells of a question at sizes over which one of its thresholds has moved.
pub fn moved<K: Knobs>(question: &Question, name: &str, base: &K, found: &K) -> Vec<Cell> {
    let of = |settings: &K| {
        let thresholds = settings.thresholds(question);
        if name == question.string { thresholds.string } else { thresholds.non_temporal }
    };
    let (was, now) = (of(base), of(found));
    let (least, most) = question.sizes;
    let (low, high) = (was.min(now).clamp(least, most), was.max(now).clamp(least, most));
    if low >= high {
        return Vec::new();
    }
    let size = |point: f64| (low as f64 * (high as f64 / low as f64).powf(point)) as u64;
    // Not a whole number of vectors.
    POINTS.into_iter().flat_map(|point| question.cells((size(point) & !63) | 40)).collect()
}
