//! The C library's tunables: the thresholds of glibc's `memcpy`, `memmove` and `memset`.

use crate::arms::{Arm, Lab};
use crate::change::{Change, ladders, moved};
use crate::confirm::{self, ChangeVerdict, Judged};
use crate::ladder::Thresholds;
use crate::questions::{Question, Setting};
use crate::thresholds::{Knobs, search_thresholds};
use carryline_conditions::Then;
use carryline_engine::failure::Failure;
use carryline_engine::interrupt;
use carryline_machine::c_library::{self, MOVSB, NEVER, STOSB, TUNABLES_VARIABLE, Tunable};
use carryline_variants::Family;
use std::path::Path;
use std::time::{Duration, Instant};

/// The size from which copies are non-temporal.
const NON_TEMPORAL: &str = "glibc.cpu.x86_non_temporal_threshold";
/// The size from which `memset` is non-temporal; only newer versions have this tunable.
const MEMSET_NON_TEMPORAL: &str = "glibc.cpu.x86_memset_non_temporal_threshold";
/// All the tunables that are searched.
pub const NAMES: [&str; 4] = [MOVSB, STOSB, NON_TEMPORAL, MEMSET_NON_TEMPORAL];

/// The families whose C library functions have tunables.
pub const FAMILIES: [Family; 2] = [Family::Zero, Family::Copy];

/// The fraction of the time spent on the search.
const FOR_SEARCH: f64 = 0.55;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The questions; `memset`'s asks about non-temporal stores only if the tunable exists.
fn questions(has_memset_non_temporal: bool) -> [Question; 2] {
    let copy = Question {
        family: Family::Copy,
        subject: "libc_memcpy",
        alternative: MOVSB,
        non_temporal: Some(NON_TEMPORAL),
        buffers: 1,
        sizes: (2 * KIB, 32 * MIB),
        then: Then::Nothing,
        settings: &[Setting::Hot, Setting::Aligned, Setting::Alias, Setting::Cold, Setting::Mixed],
    };
    let set = Question {
        family: Family::Zero,
        subject: "libc_memset",
        alternative: STOSB,
        non_temporal: has_memset_non_temporal.then_some(MEMSET_NON_TEMPORAL),
        settings: &[Setting::Hot, Setting::Aligned, Setting::Cold, Setting::Mixed],
        ..copy
    };
    [copy, set]
}

/// The thresholds of a process's C library, in the order of [`NAMES`]; `None` for a tunable that it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunables {
    all: [Option<Tunable>; NAMES.len()],
}

impl Tunables {
    /// The thresholds in this process.
    ///
    /// # Errors
    /// Says why the thresholds cannot be set.
    pub fn here() -> Result<Tunables, String> {
        let found = c_library::tunables(&NAMES)?;
        let mut all = [None; NAMES.len()];
        all.copy_from_slice(&found);
        match all {
            [Some(_), Some(_), Some(_), _] => Ok(Tunables { all }),
            _ => Err(format!("it lacks one of {}, {}, {}", NAMES[0], NAMES[1], NAMES[2])),
        }
    }

    fn tunable(&self, name: &str) -> Option<Tunable> {
        NAMES.iter().position(|known| *known == name).and_then(|place| self.all[place])
    }

    /// The value of a tunable in bytes; `u64::MAX` if no call reaches it.
    #[must_use]
    pub fn bytes(&self, name: &str) -> u64 {
        self.tunable(name)
            .map_or(u64::MAX, |tunable| if tunable.value >= NEVER { u64::MAX } else { tunable.value })
    }

    /// True if this C library has the tunable.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.tunable(name).is_some()
    }

    /// The value of a tunable as JSON: a number, or "never".
    #[must_use]
    pub fn value(&self, name: &str) -> serde_json::Value {
        value(self.bytes(name))
    }

    /// The tunables whose values differ from those of `from`, with their values.
    fn different(&self, from: &Tunables) -> Vec<(&'static str, u64)> {
        let values = |tunables: &Tunables| tunables.all.map(|tunable| tunable.map(|tunable| tunable.value));
        let (own, others) = (values(self), values(from));
        let different = NAMES.into_iter().zip(own).zip(others).filter(|((_, own), other)| own != other);
        different.filter_map(|((name, own), _)| Some((name, own?))).collect()
    }

    /// The value of `GLIBC_TUNABLES` that changes `from` to these thresholds and keeps the user's own; `None`
    /// if they are equal.
    #[must_use]
    pub fn line(&self, from: &Tunables) -> Option<String> {
        let different = self.different(from);
        let own = std::env::var(TUNABLES_VARIABLE).ok();
        (!different.is_empty()).then(|| c_library::setting(own.as_deref(), &different))
    }
}

impl Knobs for Tunables {
    fn thresholds(&self, question: &Question) -> Thresholds {
        let non_temporal = question.non_temporal.map_or(u64::MAX, |name| self.bytes(name));
        Thresholds { alternative: self.bytes(question.alternative), non_temporal }
    }

    fn set(&self, name: &'static str, bytes: u64) -> Tunables {
        let mut set = self.clone();
        if let Some(place) = NAMES.iter().position(|known| *known == name)
            && let Some(tunable) = &mut set.all[place]
        {
            tunable.value = bytes.min(NEVER).clamp(tunable.least, tunable.most);
        }
        set
    }

    fn arm(&self, label: &str, _: &Path) -> std::io::Result<Arm> {
        let own = std::env::var(TUNABLES_VARIABLE).ok();
        let all: Vec<(&str, u64)> = NAMES
            .into_iter()
            .zip(self.all)
            .filter_map(|(name, tunable)| Some((name, tunable?.value)))
            .collect();
        let environment = vec![(TUNABLES_VARIABLE.to_owned(), c_library::setting(own.as_deref(), &all))];
        Ok(Arm { label: label.to_owned(), environment })
    }

    fn methods(&self, questions: &[Question]) -> Vec<(&'static str, Tunables)> {
        let with = |string: u64, around: u64| {
            questions.iter().fold(self.clone(), |set, question| {
                let set = set.set(question.alternative, string);
                question.non_temporal.map_or(set.clone(), |name| set.set(name, around))
            })
        };
        vec![
            ("loops", with(NEVER, NEVER)),
            ("string instructions", with(1, NEVER)),
            ("non-temporal stores", with(NEVER, 1)),
        ]
    }
}

/// The result for the C library.
#[derive(Debug)]
pub struct Tuned {
    /// The initial thresholds.
    pub base: Tunables,
    /// The initial thresholds with the confirmed changes.
    pub tunables: Tunables,
    /// The changes that the search proposed, with their verdicts.
    pub judged: Vec<Judged>,
    /// True if the user interrupted it.
    pub interrupted: bool,
}

impl Tuned {
    /// True if there is no answer: the run was interrupted, or noise hides every change that the search
    /// proposed.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.interrupted || self.tunables == self.base && self.judged.iter().any(crate::is_hidden)
    }
}

/// Searches for the best thresholds of the C library in processes started by this one.
///
/// # Errors
/// Fails if a worker cannot be started.
pub fn tune(lab: &Lab<'_>, base: &Tunables, families: &[Family], budget: Duration) -> Result<Tuned, Failure> {
    let end = Instant::now() + budget.mul_f64(0.96);
    let folder = tempfile::tempdir()?;
    let mut questions = questions(base.tunable(MEMSET_NON_TEMPORAL).is_some()).to_vec();
    questions.retain(|question| families.contains(&question.family));
    let found = search_thresholds(lab, base, &questions, folder.path(), budget.mul_f64(FOR_SEARCH))?.settings;
    let mut tuned = Tuned {
        base: base.clone(),
        tunables: base.clone(),
        judged: Vec::new(),
        interrupted: interrupt::requested(),
    };
    let names: Vec<&'static str> = found.different(base).into_iter().map(|(name, _)| name).collect();
    let ladders =
        ladders(&questions, base, &found, &names.iter().map(ToString::to_string).collect::<Vec<_>>());
    let changes: Vec<Change> = names
        .into_iter()
        .zip(ladders)
        .map(|(name, ladder)| {
            let of_name =
                |question: &&Question| question.alternative == name || question.non_temporal == Some(name);
            let cells =
                questions.iter().filter(of_name).flat_map(|question| moved(question, name, base, &found));
            Change {
                name: name.to_owned(),
                unit: "bytes",
                default: base.value(name),
                found: found.value(name),
                shown: [base.bytes(name), found.bytes(name)].map(shown),
                ladder,
                cells: cells.collect(),
            }
        })
        .collect();
    if changes.is_empty() || tuned.interrupted {
        return Ok(tuned);
    }
    let (before, after) =
        (base.arm("as installed", folder.path())?, found.arm("with tunables", folder.path())?);
    let left = end.saturating_duration_since(Instant::now());
    tuned.judged = confirm::judge(lab, &before, &after, &changes, left)?;
    for judged in tuned.judged.iter().filter(|judged| judged.verdict == ChangeVerdict::Faster) {
        if let Some(name) = NAMES.into_iter().find(|name| *name == judged.change.name) {
            tuned.tunables = tuned.tunables.set(name, found.bytes(name));
        }
    }
    tuned.interrupted = interrupt::requested();
    Ok(tuned)
}

fn value(bytes: u64) -> serde_json::Value {
    if bytes == u64::MAX { "never".into() } else { bytes.into() }
}

/// A threshold as text for the user.
#[must_use]
pub fn shown(bytes: u64) -> String {
    match bytes {
        u64::MAX => "never".to_owned(),
        bytes => carryline_conditions::sizes::Sizes::fixed(bytes).label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tunables() -> Tunables {
        let tunable = |value, least| Some(Tunable { value, least, most: u64::MAX });
        Tunables { all: [tunable(2112, 512), tunable(2048, 1), tunable(0xc0_0000, 0x4040), None] }
    }

    #[test]
    fn each_question_is_of_a_family_with_tunables() {
        for has_memset_non_temporal in [false, true] {
            let questions = questions(has_memset_non_temporal);
            assert!(questions.iter().all(|question| FAMILIES.contains(&question.family)));
        }
    }

    #[test]
    fn only_changed_tunables_are_listed() {
        let base = tunables();
        assert_eq!(base.line(&base), None);
        let changed = base.set(MOVSB, u64::MAX);
        assert_eq!(changed.different(&base), [(MOVSB, NEVER)]);
        assert_eq!(changed.bytes(MOVSB), u64::MAX);
        assert_eq!(base.set(MEMSET_NON_TEMPORAL, 1), base, "this version lacks it");
    }

    #[test]
    fn values_stay_within_the_bounds_of_glibc() {
        assert_eq!(tunables().set(MOVSB, 1).bytes(MOVSB), 512);
        let questions = questions(false);
        let methods = tunables().methods(&questions);
        let thresholds = |method: usize, question: usize| methods[method].1.thresholds(&questions[question]);
        let of = |alternative, non_temporal| Thresholds { alternative, non_temporal };
        assert_eq!(thresholds(0, 0), of(u64::MAX, u64::MAX));
        assert_eq!(thresholds(1, 0), of(512, u64::MAX));
        assert_eq!(thresholds(2, 0), of(u64::MAX, 0x4040));
        assert_eq!(thresholds(2, 1).non_temporal, u64::MAX);
    }
}
