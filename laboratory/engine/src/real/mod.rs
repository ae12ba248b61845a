//! Compares a whole program with and without the interposer: the effect of better routines on real work.
//!
//! **Runs.** First one uncounted run of each form: these fill the file cache and give the output with which
//! all others are compared. The interposed one counts calls, which timed runs do not. Then rounds of three
//! or four runs in random order: without, with, and without again. The first two give the ratio; the two runs without
//! give the noise floor. A fourth run without, with other tunables of the C library, is what the user could have by an
//! environment variable. Each round counts as a replicate, because each of its runs is a process of its own.
//!
//! **Kept equal.** Arguments, working directory, standard input (empty), the destination of the outputs, and
//! the size of the environment: the form without has the interposer's variables under unused names, because
//! the stack's address depends on the size of the environment.
//!
//! **Required to be equal.** Standard output and the exit status of every run; the first difference ends the
//! comparison. A difference in standard error only leads to a remark, because programs such as compilers
//! print times there.
//!
//! Not for comparing routines: a program spends a few percent of its time in them. Use `measure` to explain a
//! program's figures.

mod agreement;
mod child;
mod figures;
mod preload;
mod served;

pub use agreement::{Difference, Disagreement};
pub use figures::{Metric, MetricFigure};
pub use preload::{FAMILIES, Form, Interposer};
pub use served::{Served, ServedRow, Which};

use super::progress::Progress;
use crate::failure::{Failure, usage};
use crate::interrupt;
use agreement::Outputs;
use carryline_report::text::shell;
use carryline_statistics::shuffle;
use child::FinishedRun;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::ffi::OsString;
use std::time::Duration;

/// The names of the output files of a run.
const STDOUT: &str = "stdout";
/// As [`STDOUT`].
const STDERR: &str = "stderr";

/// The least number of rounds that give an estimate of the noise.
pub const LEAST_ROUNDS: usize = 5;

/// A comparison to make.
pub struct Job {
    /// The program and its arguments; not empty.
    pub command: Vec<OsString>,
    /// The number of rounds.
    pub runs: u32,
    /// The interposer and its settings.
    pub interposer: Interposer,
    /// Whether standard output must be the same in all runs; exit statuses always must.
    pub compare_output: bool,
    /// The seed of the order.
    pub seed: u64,
}

/// The result of a comparison.
#[derive(Debug, Serialize)]
pub struct RealWork {
    /// The command as a shell would read it.
    pub command: String,
    /// The routines that serve zeroing and copying.
    pub served_by: preload::ServedBy,
    /// The value of `GLIBC_TUNABLES` in the fourth form, if there is one.
    pub tunables: Option<String>,
    /// The seed of the order.
    pub seed: u64,
    /// The number of complete rounds.
    pub runs: usize,
    /// The exit status of the first run; that of all runs if there is no disagreement.
    pub exit_status: child::Exit,
    /// Times, memory, faults and switches.
    pub figures: Vec<MetricFigure>,
    /// The calls that the interposer served in one run.
    pub served: Served,
    /// The first difference between two runs.
    pub disagreement: Option<Disagreement>,
    /// Remarks for the reader.
    pub remarks: Vec<String>,
    /// True if the user interrupted it.
    pub interrupted: bool,
}

/// Runs the comparison.
///
/// # Errors
/// Fails if the command cannot be started or the interposer cannot be loaded ([`Failure::Usage`]), or if
/// outputs cannot be stored.
pub fn compare(job: &Job, quiet: bool) -> Result<RealWork, Failure> {
    let folder = tempfile::tempdir()?;
    let page = served::Page::create(folder.path())?;
    let mut outputs = Outputs::new(folder.path(), job.compare_output);
    let first = Progress::new(Duration::from_secs(2), quiet);
    first.say("warm-up: one run of each form");
    let once = |form: Form<'_>| child::run(&job.command, &job.interposer, &form, folder.path());

    let warm = once(Form::Without)?;
    outputs.keep(warm.exit)?;
    let counted = once(Form::Counted(page.path()))?;
    let served = page.read()?;
    if let Some(line) = job.interposer.refused(folder.path())? {
        return Err(usage(format!("the interposer cannot serve as requested: {line}")));
    }
    first.finish();

    let mut work = RealWork {
        command: shown(&job.command),
        served_by: job.interposer.served_by(),
        tunables: job.interposer.tunables().map(str::to_owned),
        seed: job.seed,
        runs: 0,
        exit_status: warm.exit,
        figures: Vec::new(),
        remarks: Vec::new(),
        served,
        disagreement: None,
        // Ctrl-C ends the command too, with an exit of its own.
        interrupted: interrupt::requested(),
    };
    if !work.interrupted {
        work.disagreement = outputs.compare(counted.exit, true)?;
    }
    let mut rounds = Vec::new();
    if work.disagreement.is_none() && !work.interrupted {
        let is_tuned = job.interposer.tunables().is_some();
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
        // Whether runs without the interposer differ too.
        let again = once(Form::Without)?;
        disagreement.differs_by_itself = outputs.compare(again.exit, false)?.is_some();
    }
    work.runs = rounds.len();
    work.figures = figures::all(&rounds, job.seed);
    work.remarks = remarks(&work, &outputs, &rounds);
    Ok(work)
}

/// The runs of a round in random order: three, and a fourth if other tunables are compared. `None` if one
/// differs or the user has interrupted.
fn round(
    order: &mut Xoshiro256PlusPlus,
    is_tuned: bool,
    once: &dyn Fn(Form<'_>) -> Result<FinishedRun, Failure>,
    outputs: &mut Outputs,
    disagreement: &mut Option<Disagreement>,
) -> Result<Option<figures::ProgramRound>, Failure> {
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
    Ok(Some(figures::ProgramRound { without, with, again, tuned }))
}

fn remarks(work: &RealWork, outputs: &Outputs, rounds: &[figures::ProgramRound]) -> Vec<String> {
    let mut remarks = Vec::new();
    if work.served.processes == 0 {
        remarks.push(
            "no process loaded the interposer: a static program, one with elevated privileges, or one \
             that clears its environment is not affected by it; both forms are identical"
                .to_owned(),
        );
    } else if work.served.calls == 0 {
        remarks.push("the interposer was loaded but never called".to_owned());
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
    if (1..LEAST_ROUNDS).contains(&rounds.len()) {
        remarks.push("too few rounds to estimate the noise; 7 or more are better (--runs)".to_owned());
    }
    remarks
}

/// The command with the quoting of a shell.
fn shown(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    shell(words.iter().map(AsRef::as_ref))
}
