//! A whole program with its memory functions served by the interposer, beside the same program without: what better
//! routines are worth where it counts.
//!
//! **The plan.** Two runs first, one of each form, that are not counted: they warm the caches of files, give the
//! outputs that all others are compared with, and the interposed one counts calls, which the timed ones do not. Then
//! rounds of three runs in random order: without, with, and without again. The first two are the pair whose ratio is
//! requested; the third makes with the first the pair of like forms whose spread is the noise floor. Every round
//! counts as a replicate, since each of its runs is a process of its own.
//!
//! **What is equal.** Arguments, working folder, standard input (empty), where the outputs go, and the size of the
//! environment: the form without has the interposer's variables under names that nothing reads, as the place of the
//! stack depends on how much lies above it.
//!
//! **What must be equal.** Standard output and the exit status of every run; the first difference ends the
//! comparison. Standard error may differ (compilers print times there) and is only remarked upon.
//!
//! When not to use it: to compare routines. A program spends percents of its time in them; the figures of `measure`
//! are what explains its own.

mod agreement;
mod child;
mod figures;
mod preload;
mod served;

pub use agreement::{Difference, Disagreement};
pub use figures::{Figure, Metric};
pub use preload::{FAMILIES, Form, Interposer};
pub use served::{Row, Served, Which};

use super::progress::Progress;
use crate::failure::{Failure, usage};
use crate::interrupt;
use agreement::Outputs;
use carryline_statistics::shuffle;
use child::Run;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::ffi::OsString;
use std::time::Duration;

/// The files in the folder of outputs that a run writes.
const STDOUT: &str = "stdout";
/// As [`STDOUT`].
const STDERR: &str = "stderr";

/// What to compare.
pub struct Job {
    /// The program and its arguments; not empty.
    pub command: Vec<OsString>,
    /// Rounds.
    pub runs: u32,
    /// The interposer and its settings.
    pub interposer: Interposer,
    /// Whether standard output must be the same in all runs; exit statuses must be in any case.
    pub compare_output: bool,
    /// Seed of the order.
    pub seed: u64,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct RealWork {
    /// The command as a shell would read it.
    pub command: String,
    /// What serves zeroing and copying.
    pub served_by: preload::ServedBy,
    /// Seed of the order.
    pub seed: u64,
    /// Complete rounds.
    pub runs: usize,
    /// The exit status of all runs, where they agree.
    pub exit_status: child::Exit,
    /// Time, memory, faults and switches.
    pub figures: Vec<Figure>,
    /// What the interposer was called for in one run.
    pub served: Served,
    /// The first difference between two runs.
    pub disagreement: Option<Disagreement>,
    /// What a reader should know.
    pub remarks: Vec<String>,
    /// The user stopped it.
    pub interrupted: bool,
}

/// Compares.
///
/// # Errors
/// A command that cannot be started or an interposer that cannot be loaded ([`Failure::Usage`]); outputs that cannot
/// be kept.
pub fn compare(job: &Job, quiet: bool) -> Result<RealWork, Failure> {
    let folder = tempfile::tempdir()?;
    let page = served::Page::create(folder.path())?;
    let mut outputs = Outputs::new(folder.path(), job.compare_output);
    let first = Progress::new(Duration::from_secs(2), quiet);
    first.say("one run of each form to warm up");
    let once = |form: Form<'_>| child::run(&job.command, &job.interposer, &form, folder.path());

    let warm = once(Form::Without)?;
    outputs.keep(warm.exit)?;
    let counted = once(Form::Counted(page.path()))?;
    let served = page.read()?;
    if let Some(line) = job.interposer.refused(folder.path())? {
        return Err(usage(format!("the interposer cannot serve as asked: {line}")));
    }
    first.finish();

    let mut work = RealWork {
        command: shown(&job.command),
        served_by: job.interposer.served_by(),
        seed: job.seed,
        runs: 0,
        exit_status: warm.exit,
        figures: Vec::new(),
        remarks: Vec::new(),
        served,
        disagreement: None,
        // Ctrl-C ends the command too, in its own way.
        interrupted: interrupt::requested(),
    };
    if !work.interrupted {
        work.disagreement = outputs.compare(counted.exit, true)?;
    }
    let mut rounds = Vec::new();
    if work.disagreement.is_none() && !work.interrupted {
        let is_tuned = job.interposer.has_tunables();
        let expected = (warm.elapsed + counted.elapsed) * if is_tuned { 4 } else { 3 } * job.runs / 2;
        let progress = Progress::new(expected, quiet);
        let mut order = Xoshiro256PlusPlus::seed_from_u64(job.seed);
        while rounds.len() < job.runs as usize && work.disagreement.is_none() && !work.interrupted {
            progress.say(format!("round {} of {}", rounds.len() + 1, job.runs));
            let round = round(&mut order, is_tuned, &once, &mut outputs, &mut work.disagreement)?;
            work.interrupted = interrupt::requested();
            rounds.extend(round);
        }
        progress.finish();
    }
    if let Some(disagreement) = &mut work.disagreement
        && disagreement.interposed
    {
        // Does the program agree with itself?
        let again = once(Form::Without)?;
        disagreement.differs_by_itself = outputs.compare(again.exit, false)?.is_some();
    }
    work.runs = rounds.len();
    work.figures = figures::all(&rounds, job.seed);
    work.remarks = remarks(&work, &outputs, &rounds);
    Ok(work)
}

/// The runs of a round, in random order: three, and one more with other tunables. `None` if one disagrees or the user has
/// interrupted.
fn round(
    order: &mut Xoshiro256PlusPlus,
    is_tuned: bool,
    once: &dyn Fn(Form<'_>) -> Result<Run, Failure>,
    outputs: &mut Outputs,
    disagreement: &mut Option<Disagreement>,
) -> Result<Option<figures::Round>, Failure> {
    let mut places = [0, 1, 2, 3];
    let places = if is_tuned { &mut places[..] } else { &mut places[..3] };
    shuffle(order, places);
    let mut runs = [None; 4];
    for place in places.iter().copied() {
        let interposed = place == 1;
        let run = once(match place {
            1 => Form::With,
            3 => Form::Tuned,
            _ => Form::Without,
        })?;
        if interrupt::requested() {
            return Ok(None);
        }
        *disagreement = outputs.compare(run.exit, interposed)?;
        if disagreement.is_some() {
            return Ok(None);
        }
        runs[place] = Some(run.usage);
    }
    let [Some(without), Some(with), Some(again), tuned] = runs else { return Ok(None) };
    Ok(Some(figures::Round { without, with, again, tuned }))
}

fn remarks(work: &RealWork, outputs: &Outputs, rounds: &[figures::Round]) -> Vec<String> {
    let mut remarks = Vec::new();
    if work.served.processes == 0 {
        remarks.push(
            "no process loaded the interposer: a static program, one with elevated privileges, or one \
             that clears its environment is not affected by it; both forms are identical"
                .to_owned(),
        );
    } else if work.served.calls == 0 {
        remarks.push("the interposer was loaded and never called".to_owned());
    }
    if !work.exit_status.success() && work.disagreement.is_none() {
        remarks.push(format!("the command ends with {} in both forms", work.exit_status));
    }
    if outputs.error_differs() {
        remarks.push("the runs' standard error differs; it is not compared".to_owned());
    }
    let overlapping: u64 =
        work.served.rows.iter().filter(|row| row.must_not_overlap()).map(|row| row.overlapping).sum();
    if overlapping > 0 {
        remarks.push(format!(
            "{overlapping} calls of memcpy or mempcpy have overlapping source and destination, which ISO \
             C does not allow; the interposer serves them as memmove"
        ));
    }
    let own_peak = child::own_peak_memory_bytes();
    if rounds.iter().any(|round| round.without.peak_memory_bytes <= own_peak) {
        remarks.push(
            "peak memory is at least that of carryline itself, from whose process the command is started: the figure \
             is an upper bound"
                .to_owned(),
        );
    }
    if (1..5).contains(&rounds.len()) {
        remarks.push("too few rounds to estimate the noise; 7 or more are better (--runs)".to_owned());
    }
    remarks
}

/// The command as one would type it.
fn shown(command: &[OsString]) -> String {
    let word = |word: &OsString| {
        let text = word.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.into_owned()
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_is_typed() {
        let words = |words: &[&str]| shown(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(words(&["ls", "-l", "/a b", ""]), "ls -l '/a b' ''");
        assert_eq!(words(&["sh", "-c", "echo 'x'"]), "sh -c 'echo '\\''x'\\'''");
    }
}
