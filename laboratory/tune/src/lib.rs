//! The search for what a machine is best off with: the library's decisions, and the C library's tunables.
//!
//! **The path.** [`search`] measures by [`thresholds`], in processes that differ in their settings alone ([`arms`]), each method that a decision
//! chooses from, over a grid of sizes and then around the crossings; [`ladder`] has the thresholds that cost least. What
//! differs from the settings in force is a [`change`]. The library is verified with all changes, as any variant is. Then
//! [`confirm`] compares it with the settings in force in new processes, at sizes and offsets that the search had not, beside
//! the settings in force a second time: only a change that is faster over its cells by more than these two differ, and
//! slower in none, is kept.

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
use carryline_engine::prove::{self, Proof, Verdict};
use carryline_engine::supervise::Supervisor;
use carryline_variants::{Family, Role};
use carryline_verification::subject::SubjectId;
use change::{Change, What, changes};
use confirm::{Confirmed, Judged};
use search::cells_of;
use settings::Settings;
use std::path::Path;
use std::time::{Duration, Instant};
use thresholds::{Knobs, Measured};

/// The search's part of the time.
const FOR_SEARCH: f64 = 0.5;
/// The confirmation's part of what is left then.
const FOR_JUDGING: f64 = 0.6;
/// What a tune of zeroing, or of copying, takes at least: every cell three times in every arm.
const LEAST_FOR_STORES: Duration = Duration::from_secs(20);
/// The same for checksums, which only prefetch or not.
const LEAST_FOR_PREFETCHES: Duration = Duration::from_secs(10);
/// The same for copies with a checksum, whose only decision is the kernel.
const LEAST_FOR_KERNELS: Duration = Duration::from_secs(5);
/// A floor above this hides gains that are worth having.
const HIGH_FLOOR: f64 = 0.05;

/// What was found.
#[derive(Debug)]
pub struct Tuned {
    /// The settings before.
    pub base: Settings,
    /// The settings with what was confirmed.
    pub settings: Settings,
    /// What the search would have otherwise, and what became of it.
    pub judged: Vec<Judged>,
    /// The settings with what was confirmed against those before, over the sizes of programs; empty if nothing was.
    pub whole: Vec<Confirmed>,
    /// What the search measured; empty where there was none.
    pub measured: Vec<Measured>,
    /// Verification of the library with all changes; empty where there are none.
    pub proofs: Vec<Proof>,
    /// True if the user stopped it.
    pub interrupted: bool,
}

impl Tuned {
    /// True if nothing can be said: it was stopped, or the machine is too noisy for all that the search had found.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.interrupted || self.settings == self.base && self.hidden().next().is_some()
    }

    /// Decisions whose gain the noise hides.
    pub fn hidden(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|judged| is_hidden(judged))
    }

    /// Subjects about which verification has no verdict.
    pub fn unverified(&self) -> impl Iterator<Item = &Proof> {
        let open = |proof: &&Proof| matches!(proof.verdict, Verdict::NotProved(_) | Verdict::TimedOut(_));
        self.proofs.iter().filter(open)
    }

    /// Subjects that verification found wrong.
    pub fn wrong(&self) -> impl Iterator<Item = &Proof> {
        self.proofs.iter().filter(|proof| matches!(proof.verdict, Verdict::Wrong(_) | Verdict::Crashed(_)))
    }
}

/// True for a gain that the floor hides.
fn is_hidden(judged: &Judged) -> bool {
    match judged.gain {
        None => true,
        Some(gain) => {
            judged.verdict == confirm::Verdict::Same
                && judged.floor > HIGH_FLOOR
                && gain.median < 1.0 / (1.0 + HIGH_FLOOR)
        }
    }
}

/// The least time for these families.
#[must_use]
pub fn least_budget(families: &[Family]) -> Duration {
    let least = |family: &Family| match family {
        Family::Zero | Family::Copy => LEAST_FOR_STORES,
        Family::Checksum => LEAST_FOR_PREFETCHES,
        Family::CopyChecksum => LEAST_FOR_KERNELS,
    };
    families.iter().map(least).sum()
}

/// Tunes the library's decisions for some families, from `base` on. `sizes` are the user's own, over which the gain is stated
/// too.
///
/// # Errors
/// When workers cannot be started, or files not be written.
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

/// Compares settings with those in force, decision by decision, without a search.
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
    // What is not known to be right is not kept.
    if tuned.wrong().chain(tuned.unverified()).next().is_some() {
        return Ok(tuned);
    }
    let left = || end.saturating_duration_since(Instant::now());
    tuned.judged = confirm::judge(lab, &before, &after, &changes, left().mul_f64(FOR_JUDGING))?;
    for what in What::all() {
        let kept = tuned
            .judged
            .iter()
            .any(|judged| judged.change.name == what.name() && judged.verdict == confirm::Verdict::Faster);
        if kept {
            tuned.settings = what.taken(tuned.settings, found);
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

/// The sizes of programs: those seen in a fleet, and the user's own.
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
