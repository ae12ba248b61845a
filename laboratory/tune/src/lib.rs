//! Searches for the best settings on a machine: the library's decisions and the C library's tunables.
//!
//! 1. The search ([`search`], [`thresholds`]) times each method that a decision can choose, over a grid of
//!    sizes and then around the crossings. It compares settings in processes that differ only in them
//!    ([`arms`]), and chooses the thresholds with the least cost ([`ladder`]).
//! 2. A decision on which the result differs from the settings in force is a [`change`]. The library is
//!    verified with all changes, as any variant is.
//! 3. The confirmation ([`confirm`]) compares all changes with the settings in force in new processes, at
//!    sizes and offsets that the search did not use. The settings in force run twice; the difference between
//!    the two is the noise floor. A change is kept only if it is faster over its cells by more than the noise
//!    floor, and slower in none.

pub mod arms;
pub mod c_library;
pub mod change;
pub mod confirm;
pub mod ladder;
pub mod output;
pub mod questions;
pub mod safe;
pub mod search;
pub mod settings;
pub mod thresholds;

use arms::{Cell, Lab};
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Condition, Offsets};
use carryline_engine::failure::Failure;
use carryline_engine::interrupt;
use carryline_engine::prove::{self, Proof, ProofVerdict};
use carryline_engine::supervise::Supervisor;
use carryline_variants::{Family, Role};
use carryline_verification::subject::SubjectId;
use change::{Change, Entry, changes};
use confirm::{ChangeVerdict, Confirmed, Judged};
use search::cells_of;
use settings::Settings;
use std::path::Path;
use std::time::{Duration, Instant};
use thresholds::{Knobs, Measured};

/// The fraction of the time spent on the search.
const FOR_SEARCH: f64 = 0.5;
/// The fraction of the remaining time spent on judging the changes.
const FOR_JUDGING: f64 = 0.6;
/// The least time to tune zeroing or copying: every cell three times in every arm.
const LEAST_FOR_STORES: Duration = Duration::from_secs(20);
/// The same for checksums, whose only decisions are the kernel and prefetching.
const LEAST_FOR_PREFETCHES: Duration = Duration::from_secs(10);
/// The same for copies with a checksum, whose only decision is the kernel.
const LEAST_FOR_KERNELS: Duration = Duration::from_secs(5);
/// A noise floor above this hides worthwhile gains.
const HIGH_FLOOR: f64 = 0.05;

/// The result for the library.
#[derive(Debug)]
pub struct Tuned {
    /// The initial settings.
    pub base: Settings,
    /// The initial settings with the confirmed changes.
    pub settings: Settings,
    /// The changes that the search proposed, with their verdicts.
    pub judged: Vec<Judged>,
    /// `settings` compared with `base` over the sizes of programs; empty if no change was confirmed.
    pub whole: Vec<Confirmed>,
    /// The times measured in the search; empty if there was none.
    pub measured: Vec<Measured>,
    /// The verification of the library with all changes; empty if there are none.
    pub proofs: Vec<Proof>,
    /// True if the user interrupted it.
    pub interrupted: bool,
}

impl Tuned {
    /// True if there is no answer: the run was interrupted, or noise hides every change that the search
    /// proposed.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.interrupted || self.settings == self.base && self.hidden().next().is_some()
    }

    /// Changes whose gain may be hidden by noise.
    pub fn hidden(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| is_hidden(judged))
    }

    /// Changes that no measurement covers.
    pub fn not_compared(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| judged.verdict == ChangeVerdict::NotCompared)
    }

    /// Subjects that verification could not decide on.
    pub fn unverified(&self) -> impl Iterator<Item = &Proof> {
        let open =
            |proof: &&Proof| matches!(proof.verdict, ProofVerdict::NotProved(_) | ProofVerdict::TimedOut(_));
        self.proofs.iter().filter(open)
    }

    /// Subjects that verification found to be wrong.
    pub fn wrong(&self) -> impl Iterator<Item = &Proof> {
        use ProofVerdict::{Crashed, Wrong, WrongLater};
        self.proofs.iter().filter(|proof| matches!(proof.verdict, Wrong(_) | WrongLater(_) | Crashed(_)))
    }
}

/// True if noise may hide the gain of a change.
fn is_hidden(judged: &Judged) -> bool {
    match judged.gain {
        None => judged.verdict != ChangeVerdict::NotCompared,
        Some(gain) => {
            judged.verdict == ChangeVerdict::Same
                && judged.floor > HIGH_FLOOR
                && gain.median < 1.0 / (1.0 + HIGH_FLOOR)
        }
    }
}

/// The least time that tuning these families takes.
#[must_use]
pub fn least_budget(families: &[Family]) -> Duration {
    let least = |family: &Family| match family {
        Family::Zero | Family::Copy => LEAST_FOR_STORES,
        Family::Checksum => LEAST_FOR_PREFETCHES,
        Family::CopyChecksum => LEAST_FOR_KERNELS,
    };
    families.iter().map(least).sum()
}

/// Tunes the library's decisions for some families, starting from `base`. The gain is also measured over
/// `sizes`, the user's own.
///
/// # Errors
/// Fails if a worker cannot be started or a file cannot be written.
pub fn tune(
    lab: &Lab<'_>,
    base: &Settings,
    families: &[Family],
    sizes: &[Sizes],
    budget: Duration,
) -> Result<Tuned, Failure> {
    let end = Instant::now() + budget.mul_f64(0.96);
    let folder = tempfile::tempdir()?;
    let found = search::search(lab, base, families, folder.path(), budget.mul_f64(FOR_SEARCH))?;
    let mut tuned = confirmed(lab, base, &found.settings, sizes, folder.path(), end)?;
    tuned.measured = found.measured;
    Ok(tuned)
}

/// Judges the decisions of `other` against `base` without a search.
///
/// # Errors
/// As [`tune`].
pub fn check(
    lab: &Lab<'_>,
    base: &Settings,
    other: &Settings,
    sizes: &[Sizes],
    budget: Duration,
) -> Result<Tuned, Failure> {
    let end = Instant::now() + budget.mul_f64(0.96);
    let folder = tempfile::tempdir()?;
    confirmed(lab, base, other, sizes, folder.path(), end)
}

fn confirmed(
    lab: &Lab<'_>,
    base: &Settings,
    found: &Settings,
    sizes: &[Sizes],
    folder: &Path,
    end: Instant,
) -> Result<Tuned, Failure> {
    let changes: Vec<Change> = changes(base, found)?;
    let mut tuned = Tuned {
        base: *base,
        settings: *base,
        judged: Vec::new(),
        whole: Vec::new(),
        measured: Vec::new(),
        proofs: Vec::new(),
        interrupted: interrupt::requested(),
    };
    if changes.is_empty() || tuned.interrupted {
        return Ok(tuned);
    }
    let (before, after) = (base.arm("in force", folder)?, found.arm("found", folder)?);
    tuned.proofs = verified(lab, &after.environment)?;
    // Changes that were not verified are not kept.
    if tuned.wrong().chain(tuned.unverified()).next().is_some() {
        return Ok(tuned);
    }
    let left = || end.saturating_duration_since(Instant::now());
    tuned.judged = confirm::judge(lab, &before, &after, &changes, left().mul_f64(FOR_JUDGING))?;
    for entry in Entry::all() {
        let kept = tuned
            .judged
            .iter()
            .any(|judged| judged.change.name == entry.name() && judged.verdict == ChangeVerdict::Faster);
        if kept {
            tuned.settings = entry.taken(tuned.settings, found);
        }
    }
    if tuned.settings != *base && !interrupt::requested() {
        let kept = tuned.settings.arm("kept", folder)?;
        tuned.whole = confirm::compare_in(lab, &before, &kept, &programs(sizes)?, left())?;
    }
    tuned.interrupted = interrupt::requested();
    Ok(tuned)
}

/// Verifies the library's own variants in processes with this environment.
fn verified(lab: &Lab<'_>, environment: &[(String, String)]) -> Result<Vec<Proof>, Failure> {
    let supervisor = Supervisor { environment: environment.to_vec(), ..lab.supervisor.clone() };
    let own = carryline_variants::all()
        .filter(|variant| variant.role == Role::Ours || variant.name.starts_with("carryline"));
    let subjects: Vec<SubjectId> =
        own.map(|variant| SubjectId { family: variant.family(), name: variant.name.to_owned() }).collect();
    Ok(prove::all(&supervisor, &[], &subjects, lab.seed, lab.progress)?)
}

/// Cells with the sizes of programs: the fleet's distributions and the user's own.
fn programs(sizes: &[Sizes]) -> Result<Vec<Cell>, Failure> {
    let sets = |function: &str| ["A", "B", "D", "L", "M", "Q"].map(|set| format!("fleet:{function}-{set}"));
    let mut cells = Vec::new();
    for (family, function) in [(Family::Zero, "memset"), (Family::Copy, "memcpy")] {
        let words = sets(function);
        cells.extend(cells_of(family, &words.each_ref().map(String::as_str))?);
    }
    for sizes in sizes {
        for family in Family::ALL {
            let condition =
                Condition { sizes: sizes.clone(), offsets: Offsets::Random, ..Condition::plain(0) };
            cells.push(Cell { family, subject: "carryline", condition });
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline::internals::tuning::{Decision, built_in};

    #[test]
    fn a_change_that_no_measurement_covers_is_not_hidden_by_noise() {
        let base = Settings::from(built_in("unmeasured").expect("it is built in"));
        let found = base.with(Decision::LastLevel, 64 << 20).with(Decision::RepStosbScalar, 8192);
        let changes = changes(&base, &found).expect("sizes can be read");
        assert_eq!(changes.len(), 2);
        let judged = |verdict| -> Vec<Judged> {
            let judge = |change: &Change| {
                assert!(change.cells.is_empty(), "{change:?}");
                Judged { change: change.clone(), gain: None, floor: 0.005, cells: Vec::new(), verdict }
            };
            changes.iter().map(judge).collect()
        };
        let tuned = |verdict| Tuned {
            base,
            settings: base,
            judged: judged(verdict),
            whole: Vec::new(),
            measured: Vec::new(),
            proofs: Vec::new(),
            interrupted: false,
        };
        let not_compared = tuned(ChangeVerdict::NotCompared);
        assert!(!not_compared.is_undecided() && not_compared.hidden().next().is_none());
        assert_eq!(not_compared.not_compared().count(), 2);
        assert!(output::decisions(&not_compared).iter().all(|row| row.floor.is_none()));
        assert!(tuned(ChangeVerdict::Unknown).is_undecided());
    }
}
