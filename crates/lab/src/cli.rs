//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Which way to zero, copy or checksum memory is fastest here: proved, measured, ranked.
///
/// Without a command: a tour of about 20 seconds.
#[derive(Parser, Debug)]
#[command(name = "carryline", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(args_override_self = true)]
#[command(after_help = "\
Examples:
  carryline                        a tour: the machine, the proof, three rankings
  carryline run                    prove and measure everything, rank, recommend, save
  carryline measure --family checksum --sizes 40,1500 --cache hot,cold:clflush

Exit status: 0 done, 1 failed, 2 unusable arguments or input, 3 something was proved wrong,
130 interrupted. Results go to standard output, progress and warnings to standard error.")]
pub struct Cli {
    /// What to do; without it, the tour.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

/// Options that every command takes.
#[derive(Args, Debug, Clone)]
pub struct Common {
    /// What to print.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub format: Format,
    /// Seed of everything random; the same seed repeats a run's plan exactly.
    #[arg(long, global = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Where results are kept [default: carryline/carryline.sqlite in the user's data folder].
    #[arg(long, global = true, value_name = "PATH")]
    pub db: Option<PathBuf>,
    /// No progress line and no warnings.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// One JSON object.
    Json,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Prove, measure the standard matrix, rank, recommend, save
    Run(Run),
    /// Show the variants: family, needs, provenance, whether they run here
    List(List),
    /// Show the machine, and what cannot be measured on it and why
    Machine(Machine),
    /// Prove variants right, or show the smallest input that proves them wrong
    Verify(Verify),
    /// Measure a matrix of your own
    Measure(Measure),
    /// Watch variants live, with keys to change what is measured
    Watch(crate::watch::args::Watch),
    /// Run the seeds' experiments again, each with a verdict on its claims
    Reproduce(Reproduce),
    /// Run a program with its memory functions replaced and without, and compare
    ///
    /// The interposer (libcarryline-preload.so) serves memcpy, memmove, memset and their relatives in the program and in
    /// all that it starts. Each round runs the command three times in random order: without, with, and without again, which
    /// says how much runs of one form differ. Standard input is empty; standard output and the exit status must be the same
    /// in all runs, or the first difference is shown and the exit status is 3. Two runs more come first, to warm up and to
    /// count calls.
    Real(Real),
    /// Show why a routine takes the time it takes: critical chain, bounds, drawing
    Critical(Critical),
    /// Show at which constant sizes compilers write memmove, memcpy and memset in place
    Inlining(Inlining),
    /// Show the runs kept so far
    History(History),
    /// Make a run of the history again, with its seed
    Rerun(Rerun),
    /// Explain a warning code or a word of the vocabulary
    Explain(Explain),
    /// Check the measuring itself: A/A pairs that must tie, a planted slow-down that must be seen
    Selftest(Selftest),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    Man,
    /// (internal) be a worker process
    #[command(hide = true)]
    Worker,
}

/// How much is measured, and how it is printed.
#[derive(Args, Debug, Clone)]
pub struct Effort {
    /// Time for proof and measurement together: 20s, 2m, 500ms.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<std::time::Duration>,
    /// Worker processes that measure everything anew, each with its own layout.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub replicates: Option<u32>,
    /// Unit of the figures: ticks, cycles, ns, GB/s, GiB/s, B/cycle.
    #[arg(long, value_name = "UNIT", default_value = "ticks")]
    pub unit: String,
    /// Show what would be measured and how long it takes, and stop.
    #[arg(long)]
    pub plan: bool,
    /// Write a page with tables, charts and everything needed to repeat the run.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Do not keep the results.
    #[arg(long)]
    pub no_save: bool,
    /// Logical CPU to measure on [default: the last one allowed].
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Seconds without any progress after which a routine counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub patience: u64,
}

/// Which subjects take part.
#[derive(Args, Debug, Clone)]
pub struct Subjects {
    /// Families: zero, copy, checksum, copy_checksum [default: all].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// Variants, by name or FAMILY/NAME [default: all that are candidates].
    #[arg(long, value_name = "VARIANT", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// A routine of your own in a shared object; may be given several times.
    #[arg(long, value_name = "FILE.so:SYMBOL:FAMILY")]
    pub plugin: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline run --budget 60s
  carryline run --family checksum --report checksum.html
  carryline run --sizes capture:traffic.pcap --plugin ./mine.so:my_sum:checksum")]
pub struct Run {
    #[command(flatten)]
    pub subjects: Subjects,
    /// More sizes to measure beside the matrix's own: see 'carryline measure --help'.
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<String>,
    #[command(flatten)]
    pub effort: Effort,
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
    /// Variants, by name or FAMILY/NAME [default: all, or none beside plug-ins].
    #[arg(value_name = "VARIANT")]
    pub names: Vec<String>,
    /// Families to prove [default: all].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// A routine of your own in a shared object; may be given several times.
    #[arg(long, value_name = "FILE.so:SYMBOL:FAMILY")]
    pub plugin: Vec<String>,
    /// Seconds without any progress after which a routine counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub patience: u64,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Sizes: 40 | 4K | 8M | 1..64 (every size in the range alike) | fleet:memcpy-A (sizes seen in a production fleet)
| histogram:FILE (probabilities of size 0, 1, 2, ... on one line, or 'size,count' lines)
| capture:FILE.pcap (the IP payloads of a capture). A list is one cell for each. Mixed sizes never repeat their order,
unless told so: fleet:memcpy-A/period:4096 is 4096 of them again and again, for a branch predictor to learn.

Examples:
  carryline measure --family checksum --sizes 40,1500 --offsets 0,1,random --cache hot,cold:clflush
  carryline measure --family zero,copy --sizes fleet:memset-A --budget 20s
  carryline measure --family checksum --segments 1,3,1,3 --dependence chained,independent,fenced")]
pub struct Measure {
    #[command(flatten)]
    pub subjects: Subjects,
    /// Sizes of the calls.
    #[arg(long, value_name = "SIZES", default_value = "1500")]
    pub sizes: String,
    /// Where buffers begin: N (0 to 4095), D:S (destination and source apart), random.
    #[arg(long, value_name = "OFFSETS", value_delimiter = ',', default_value = "0")]
    pub offsets: Vec<String>,
    /// State of the caches: hot, cold:clflush, cold:evict, cold:arena; a cold one for one side with :src or :dst.
    #[arg(long, value_name = "STATES", value_delimiter = ',', default_value = "hot")]
    pub cache: Vec<String>,
    /// How calls follow each other: chained, independent, fenced.
    #[arg(long, value_name = "MODES", value_delimiter = ',', default_value = "independent")]
    pub dependence: Vec<String>,
    /// Lengths of the buffers of one message, each at its own random alignment (checksum families).
    #[arg(long, value_name = "LENGTHS")]
    pub segments: Option<String>,
    /// Pages the buffers are mapped with: 4k, huge.
    #[arg(long, value_name = "PAGES", value_delimiter = ',', default_value = "4k")]
    pub pages: Vec<String>,
    /// What follows each call: nothing, read, read-later:BYTES, victim:BYTES.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "nothing")]
    pub then: Vec<String>,
    #[command(flatten)]
    pub effort: Effort,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline real -- sh -c 'seq 100000 | sort -r | md5sum'
  carryline real --runs 21 --variant zero=movntps -- cc -O2 -c main.c
  carryline real --record copy=sizes.csv -- ls -lR /etc")]
pub struct Real {
    /// Rounds, of three runs each.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// What serves a family: a variant of 'carryline list', or 'libc' for the program's own [default: carryline].
    #[arg(long, value_name = "FAMILY=NAME", value_delimiter = ',')]
    pub variant: Vec<String>,
    /// Families to serve: zero, copy [default: both].
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// Write the sizes of the calls of one run, for --sizes histogram:FILE; zero=FILE or copy=FILE for a family alone.
    #[arg(long, value_name = "[FAMILY=]FILE")]
    pub record: Vec<String>,
    /// Compare exit statuses alone: for commands that print times.
    #[arg(long)]
    pub ignore_output: bool,
    /// The interposer [default: beside this program or in ../lib].
    #[arg(long, value_name = "PATH")]
    pub preload: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<std::ffi::OsString>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
A verdict is computed from measured intervals and the rule beside the claim: holds, fails, reversed,
undecided, cannot be measured here.

Examples:
  carryline reproduce --list
  carryline reproduce csum40 --quick
  carryline reproduce chains --chain 1,3,1,3
  carryline reproduce chains --quick -- 8 1 3 1 3
  carryline reproduce all --quick --format json")]
pub struct Reproduce {
    /// Experiments, by id [default: all].
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Show the experiments and stop.
    #[arg(long)]
    pub list: bool,
    /// Less time and fewer worker processes: wider intervals, more that is undecided.
    #[arg(long)]
    pub quick: bool,
    /// Time for all experiments together [default: 30 s for most, 9 minutes at most].
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<std::time::Duration>,
    /// Lengths of a chain of buffers for 'chains', in place of the nine of 1996.
    #[arg(long, value_name = "LENGTHS")]
    pub chain: Option<String>,
    /// Print a run of the history again.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["ids", "quick", "budget", "chain", "list"])]
    pub from: Option<i64>,
    /// Print the claims and tables as Markdown, the machine named.
    #[arg(long)]
    pub markdown: bool,
    /// Do not keep the results.
    #[arg(long)]
    pub no_save: bool,
    /// Logical CPU to measure on [default: the last one allowed].
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Seconds without any progress after which a measurement counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub patience: u64,
    /// Repeats, then the lengths of a chain for 'chains', as its author's program took them: -- 8 1 3 1 3.
    #[arg(last = true, value_name = "REPEATS LENGTHS")]
    pub repeats_and_lengths: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
The longest path from each argument to the result, what loops carry from one iteration to the next, and how fast the
instructions can be started; beside it what calls take. Code that depends on the size is followed through a call
of --size bytes.

Examples:
  carryline critical adc_1_stream --size 40
  carryline critical adx_2_streams adc_2_streams --no-measure --suggest
  carryline critical adc_2_streams --calibrate
  carryline critical checksum/avx2 --size 1500 --draw loop --svg loop.svg --no-measure
  carryline critical --bytes '4801f8 4883d000 c3' --microarchitecture haswell --dot chain.dot")]
pub struct Critical {
    /// Variants, by name or FAMILY/NAME.
    #[arg(value_name = "VARIANT")]
    pub names: Vec<String>,
    /// Families that names are looked up in; with --object or --bytes, the one whose arguments the code takes.
    #[arg(long, value_name = "FAMILY", value_delimiter = ',')]
    pub family: Vec<String>,
    /// An object file, shared object or program to take a function from.
    #[arg(long, value_name = "FILE", requires = "symbol")]
    pub object: Option<PathBuf>,
    /// The function's name in it.
    #[arg(long, value_name = "NAME", requires = "object")]
    pub symbol: Option<String>,
    /// Machine code in hexadecimal.
    #[arg(long, value_name = "HEX")]
    pub bytes: Option<String>,
    /// Bytes of the call to follow and to measure [default: 40, or what the variant is made for].
    #[arg(long, value_name = "BYTES")]
    pub size: Option<usize>,
    /// Whose latencies to take: zen5, zen4, skylake_x, haswell, generic [default: this CPU's].
    #[arg(long, value_name = "NAME")]
    pub microarchitecture: Option<String>,
    /// Measure the latencies on this machine first; what is measured is used before any table.
    #[arg(long, conflicts_with = "microarchitecture")]
    pub calibrate: bool,
    /// Whether moves between registers take time [default: as the CPU does it].
    #[arg(long, value_enum, value_name = "HOW")]
    pub moves: Option<Moves>,
    /// Name the accumulations that a second stream could take, and the bound that this gives.
    #[arg(long)]
    pub suggest: bool,
    /// Draw the dependency graph as an image.
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
    /// Write the dependency graph for Graphviz.
    #[arg(long, value_name = "FILE.dot")]
    pub dot: Option<PathBuf>,
    /// What to draw.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Drawing::Call)]
    pub draw: Drawing,
    /// Predict only.
    #[arg(long)]
    pub no_measure: bool,
    /// Do not ask llvm-mca.
    #[arg(long)]
    pub no_opinion: bool,
    /// Time for measuring: 20s, 2m, 500ms [default: 3s for each routine].
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<std::time::Duration>,
    /// Worker processes that measure everything anew, each with its own layout.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub replicates: Option<u32>,
    /// Logical CPU to measure on [default: the last one allowed].
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
}

impl Critical {
    /// How its measurement is made.
    pub fn effort(&self) -> Effort {
        Effort {
            budget: self.budget,
            replicates: self.replicates,
            unit: "cycles".to_owned(),
            plan: false,
            report: None,
            no_save: true,
            cpu: self.cpu,
            patience: 10,
        }
    }
}

/// Whether moves between registers take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Moves {
    /// They are renamed away.
    Eliminated,
    /// They are executed.
    Executed,
}

/// What `critical` draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// The call, or the code as a whole.
    Call,
    /// An iteration of the main loop.
    Loop,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Every gcc, clang and rustc on PATH compiles memmove, memcpy, memset, bcopy (plain and __builtin_), ptr::copy,
ptr::copy_nonoverlapping and ptr::write_bytes for each constant size from 1 to 512 under several sets of flags; the
machine code says what it made of them. Fills are with zero. Answers are kept until the compiler changes.

Examples:
  carryline inlining
  carryline inlining --compiler gcc --limit 32
  carryline inlining --compiler cc --flags '-O2 -mno-sse' --format json")]
pub struct Inlining {
    /// Ask this compiler only: a path, or a name on PATH; may be given several times.
    #[arg(long, value_name = "PATH")]
    pub compiler: Vec<PathBuf>,
    /// Compile under these flags, instead of ten usual sets; may be given several times.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Time for timing the loops of all compilers.
    #[arg(long, value_name = "TIME", default_value = "12s", value_parser = parse_duration)]
    pub budget: std::time::Duration,
    /// The hard-coded limit on inlined sizes whose cost is measured.
    #[arg(long, value_name = "BYTES", default_value_t = crate::inlining::limit::USUAL_LIMIT_BYTES,
        value_parser = clap::value_parser!(u32).range(0..=511))]
    pub limit: u32,
    /// Seconds after which a compiler counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub patience: u64,
    /// Ask and measure again, and keep the new answers.
    #[arg(long)]
    pub refresh: bool,
    /// Neither believe earlier answers nor keep new ones.
    #[arg(long)]
    pub no_cache: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline history
  carryline history --show 3
  carryline history --format json --db results.sqlite")]
pub struct History {
    /// Show this run's results again.
    #[arg(long, value_name = "ID")]
    pub show: Option<i64>,
    /// How many runs to list, newest first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub most: usize,
    /// Unit of the figures of --show.
    #[arg(long, value_name = "UNIT", default_value = "ticks")]
    pub unit: String,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline rerun 1
  carryline rerun 2 --format json
  carryline rerun 3 --quiet")]
pub struct Rerun {
    /// The run's number, as 'carryline history' lists it.
    #[arg(value_name = "ID")]
    pub id: i64,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline explain W01
  carryline explain cold:clflush
  carryline explain 'noise floor'")]
pub struct Explain {
    /// A warning code or a word; without one, all of them are listed.
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
    /// Runs to make.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// A/A pairs in each run.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub pairs: u32,
    /// Time for each run.
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = parse_duration)]
    pub budget: std::time::Duration,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  carryline completions bash > ~/.local/share/bash-completion/completions/carryline
  carryline completions zsh > ~/.zfunc/_carryline
  carryline completions fish > ~/.config/fish/completions/carryline.fish")]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Reads `20s`, `2m`, `500ms`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        unit => return Err(format!("unknown unit '{unit}' in '{text}'; use ms, s or m (20s, 2m)")),
    };
    let number: f64 =
        digits.parse().map_err(|_| format!("'{text}' is not a time; write 20s, 2m or 500ms"))?;
    let seconds = number * scale;
    if (0.1..=86_400.0).contains(&seconds) {
        Ok(std::time::Duration::from_secs_f64(seconds))
    } else {
        Err(format!("'{text}' is not between 100ms and a day"))
    }
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
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "man") {
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = help.lines().filter(|line| line.trim_start().contains("carryline ")).count();
            assert!(examples >= 3, "{}: {examples} examples", sub.get_name());
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(parse_duration("20s"), Ok(std::time::Duration::from_secs(20)));
        assert_eq!(parse_duration("2m"), Ok(std::time::Duration::from_secs(120)));
        assert_eq!(parse_duration("500ms"), Ok(std::time::Duration::from_millis(500)));
        for wrong in ["", "s", "-1s", "20h", "0", "nan", "1e99"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
