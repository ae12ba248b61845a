//! The command line.

mod audit;
mod audit_capture;
mod compare;
mod completion;
mod critical;
mod export;
mod gate;
mod inlining;
mod measure;
mod numbers;
mod real;
mod report;
mod reproduce;
mod schema;
mod tune;
mod watch;

pub use audit::{Adapter, Audit, Audited};
pub use audit_capture::AuditCapture;
use carryline_report::units::Unit;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub use compare::Compare;
pub use completion::completing;
pub use critical::{Critical, Drawing, Moves};
pub use export::Export;
pub use gate::Gate;
pub use inlining::Inlining;
pub use measure::{Detail, Effort, Measure, Run, Subjects, Workers};
pub use numbers::{parse_duration, size, whole};
pub use real::Real;
pub use report::Report;
pub use reproduce::Reproduce;
pub use schema::Schema;
use std::path::PathBuf;
pub use tune::Tune;
pub use watch::Watch;

/// Finds the fastest way to zero, copy or checksum memory on this machine: verified, measured, ranked.
///
/// Without a command: a tour of about twenty seconds.
#[derive(Parser, Debug)]
#[command(name = "carryline", version, max_term_width = 100)]
#[command(args_override_self = true)]
#[command(after_help = "\
Examples:
  carryline                        a tour: the machine, the verification, three rankings
  carryline run                    verify and measure everything, rank, recommend, save
  carryline measure --family checksum --sizes 40,1500 --cache hot,cold:clflush

Exit status: 0 success, 1 failure, or something could not be verified, 2 unusable arguments or
input, 3 a routine is wrong, confirmed by a second run or found after timing, or a checksum in a
capture is wrong, 4 slower than the base, 5 undecided, or a routine did not return in time, 6 runs
are not comparable, 130 interrupted. Results go to standard output, progress and warnings to
standard error.")]
pub struct Cli {
    /// The command; without one, the tour.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

/// Options that every command takes.
#[derive(Args, Debug, Clone)]
pub struct Common {
    /// Output format.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub format: Format,
    /// Seed of the random generator; the same seed repeats a run's plan exactly.
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,
    /// Database of results [default: carryline/carryline.sqlite in the user's data folder].
    #[arg(long, global = true, value_name = "PATH")]
    pub db: Option<PathBuf>,
    /// Print no progress and no warnings.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print each warning with its remedy, not only their number.
    #[arg(long, global = true)]
    pub warnings: bool,
    /// Omit what identifies the machine and its user from JSON and exports.
    #[arg(long, global = true)]
    pub redact: bool,
    /// The stored run that this run repeats and is then compared with.
    #[arg(skip)]
    pub repeats: Option<i64>,
}

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    Table,
    /// JSON; 'carryline schema' describes it.
    Json,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Verify, measure the standard matrix, rank, recommend, save
    Run(Run),
    /// Show the variants: family, needs, provenance, whether they run here
    List(List),
    /// Show the machine, what cannot be measured on it, and why
    Machine(Machine),
    /// Verify variants, or show the smallest input for which they fail
    Verify(Verify),
    /// Look for faults in checksums and copies of crates, shared libraries, programs and the C library
    Audit(Audit),
    /// Measure a matrix of your own
    Measure(Measure),
    /// Watch variants live, with keys to change what is measured
    Watch(Watch),
    /// Find and confirm better thresholds and kernels for the library, or the C library, on this machine
    Tune(Tune),
    /// Repeat the source documents' experiments, with a verdict on each claim
    Reproduce(Reproduce),
    /// Run a program with and without its memory functions replaced, and compare
    ///
    /// The interposer (libcarryline-preload.so) replaces memcpy, memmove, memset and related functions in the program
    /// and in its child processes. Each round runs the command four times in random order: without, with, without
    /// again, which shows how much identical runs differ, and without it while glibc uses no string instructions.
    /// Standard input is empty; standard output and the exit status must be the same in all runs, or the first
    /// difference is shown and the exit status is 3. Two more runs come first, to warm up and to count calls.
    Real(Real),
    /// Show what bounds a routine's time: critical chains, throughput, a drawing
    Critical(Critical),
    /// Show the constant sizes at which compilers inline memmove, memcpy and memset
    Inlining(Inlining),
    /// Show the stored runs
    History(History),
    /// Write a stored run as an HTML page: advice, heat map, curves, rankings with samples and machine code
    Report(Report),
    /// Repeat a stored run with its seed
    Rerun(Rerun),
    /// Compare stored runs: what became faster or slower
    Compare(Compare),
    /// Measure the plan of a base run again: is this build slower?
    Gate(Gate),
    /// Write a stored run in the format of another program
    Export(Export),
    /// Print the JSON Schema of a command's output
    Schema(Schema),
    /// Explain a warning code, a term, or the source document of a claim
    Explain(Explain),
    /// Check the measurement itself: A/A pairs must tie, a planted slowdown must be detected
    Selftest(Selftest),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page, or write one for each command
    Man(Man),
    /// (internal) answer the requests of `audit`
    #[command(hide = true)]
    Adapter(Adapter),
    /// (internal) run as a worker process
    #[command(hide = true)]
    Worker,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline list
  carryline list --family checksum
  carryline list --format json")]
pub struct List {
    /// Families to show [default: all].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline machine
  carryline machine --format json
  carryline machine --quiet")]
pub struct Machine {}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline verify
  carryline verify carryline checksum/avx2
  carryline verify --plugin ./mine.so:my_sum:checksum")]
pub struct Verify {
    /// Variants, by name, FAMILY/NAME, glob or /regular expression/ [default: all, or none if plug-ins are given].
    #[arg(value_name = "VARIANT")]
    pub names: Vec<String>,
    /// Families to verify [default: all].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// A routine of your own in a shared object; repeatable. FAMILY 'fill' is a zero routine with memset's
    /// signature.
    #[arg(long, value_name = "[NAME=]FILE.so:SYMBOL:FAMILY", value_parser = text())]
    pub plugin: Vec<String>,
    /// Seconds without progress after which a routine counts as hung; calls with large buffers get more.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, allow_negative_numbers = true, value_parser = whole::<u64>(1..=3600))]
    pub patience: u64,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline history
  carryline history --show 3 --full
  carryline history --format json --db results.sqlite")]
pub struct History {
    /// Show the results of a run.
    #[arg(long, value_name = "RUN", value_parser = text())]
    pub show: Option<String>,
    /// Number of runs to list, latest first [default: 20].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>(1..=u64::from(u32::MAX)))]
    pub most: Option<usize>,
    /// Unit of the figures of --show [default: ticks].
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<Unit>,
    #[command(flatten)]
    pub detail: Detail,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline rerun 1
  carryline rerun 2 --format json
  carryline rerun 3 --quiet")]
pub struct Rerun {
    /// The run's number or content hash, as 'carryline history' lists them.
    #[arg(value_name = "RUN", value_parser = text())]
    pub id: String,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline explain W01
  carryline explain 'noise floor'
  carryline explain evans-2003")]
pub struct Explain {
    /// A warning code, a term or a document; without one, all are listed.
    #[arg(value_name = "CODE|WORD")]
    pub word: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline selftest
  carryline selftest --runs 20 --pairs 40
  carryline selftest --runs 5 --format json")]
pub struct Selftest {
    /// Number of runs.
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true, value_parser = whole::<u32>(1..=1000))]
    pub runs: u32,
    /// A/A pairs per run.
    #[arg(long, value_name = "N", default_value_t = 40, allow_negative_numbers = true, value_parser = whole::<u32>(1..=200))]
    pub pairs: u32,
    /// Time per run.
    #[arg(long, value_name = "TIME", default_value = "15s", allow_hyphen_values = true, value_parser = parse_duration)]
    pub budget: std::time::Duration,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline completions bash > ~/.local/share/bash-completion/completions/carryline
  carryline completions zsh > ~/.zfunc/_carryline
  carryline completions fish > ~/.config/fish/completions/carryline.fish

The script asks the carryline on PATH for the candidates: commands, options, variants, sizes, stored
runs.")]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline man | man -l -
  carryline man > carryline.1
  carryline man --pages .")]
pub struct Man {
    /// Write a page for each command into this folder (carryline-run.1 and so on) instead of printing one for
    /// all.
    #[arg(long, value_name = "FOLDER")]
    pub pages: Option<PathBuf>,
}

/// Parses the name of a run.
fn label() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|word| match word.into_string() {
        Ok(text) if text.trim().is_empty() => Err("a label must not be empty"),
        Ok(text) => Ok(text),
        Err(_) => Err("not UTF-8"),
    })
}

/// Parses an argument that is stored with a run and printed as text, such as a file name.
fn text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|word| {
        word.into_string().map_err(|_| "not UTF-8; rename the file, or link to it under another name")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_command_has_three_examples() {
        let mut command = Cli::command();
        command.build();
        command.clone().debug_assert();
        for sub in command
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set() && !["man", "help"].contains(&sub.get_name()))
        {
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = help.lines().filter(|line| line.trim_start().contains("carryline ")).count();
            assert!(examples >= 3, "{}: {examples} examples", sub.get_name());
        }
    }
}
