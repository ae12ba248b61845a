//! `cargo xtask benchmarks`: measures the cells of the goals, and writes the document.
//!
//! Exit status: 0 if done, whatever the figures; 1 if a measurement or something else failed; 2 for invalid
//! arguments.

use anyhow::Context;
use carryline_goals::commit::{self, Commits};
use carryline_goals::goal::{Cells, Goal};
use carryline_goals::results::{self, Results};
use carryline_goals::stored::{Group, Stored};
use carryline_goals::tier::{Measured, Tier, to_measure};
use carryline_goals::{critical, document, drive, goals, judge, machine, table};
use carryline_machine::environment::Environment;
use carryline_report::table::Style;
use carryline_verification::plugin::{PluginError, PluginSpec};
use clap::{Args, Parser, Subcommand};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Measure, evaluate and document the library's goals with the release command.
#[derive(Parser)]
#[command(name = "benchmarks", bin_name = "cargo xtask benchmarks")]
#[command(disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  cargo xtask benchmarks run --only checksum-1500       the goals at 1500 bytes, in seconds
  cargo xtask benchmarks run                            everything, in under nine minutes per tier
  cargo xtask benchmarks run --tier avx2                one tier; on a stronger machine by CARRYLINE_MASK
  cargo xtask benchmarks show --only memory             the goals again, from stored results
  cargo xtask benchmarks critical                       the accuracy of `carryline critical`, in four minutes
  cargo xtask benchmarks write                          this machine's results, and docs/benchmarks.md from all")]
struct Cli {
    #[command(subcommand)]
    job: Job,
}

#[derive(Subcommand)]
enum Job {
    /// Measure the cells of the goals of this machine's tier, store the results, print the goals
    Run(Run),
    /// Print the goals from stored results
    Show(Which),
    /// Write this machine's results to a file that can be committed, and the document from all such files
    Write(WriteArgs),
    /// Compare the predictions of `carryline critical` with measurements, and write docs/critical.md
    Critical(CriticalArgs),
    /// List the goals
    Goals(Which),
}

#[derive(Args)]
struct CriticalArgs {
    /// The command to predict and measure with, instead of a fresh release build.
    #[arg(long, value_name = "PATH")]
    carryline: Option<PathBuf>,
    /// Routines to measure, as FAMILY:BYTES [default: all]; the results of the others are kept.
    #[arg(long, value_name = "FAMILY:BYTES", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// Update the predictions of this machine's stored cells, and keep the measurements.
    #[arg(long, conflicts_with = "only")]
    predict: bool,
    /// Only write the document, from the stored files.
    #[arg(long, conflicts_with_all = ["carryline", "only", "predict"])]
    write: bool,
    /// The document [default: docs/critical.md of the workspace]. The scores are in a folder of the same name
    /// without the extension.
    #[arg(long, value_name = "FILE.md")]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct Which {
    /// The goals: checksum, memory, a goal, or a prefix of several goals' names [default: all].
    #[arg(long, value_name = "GOAL", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// The tier: avx512, avx2 or sse2 [default: for `run` that of the machine, and on an AVX-512 machine also
    /// avx2; otherwise every tier].
    #[arg(long, value_name = "TIER")]
    tier: Option<Tier>,
    /// The database with the results [default: benchmarks.sqlite in cargo's target folder].
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

#[derive(Args)]
struct Run {
    #[command(flatten)]
    which: Which,
    /// Time for all measurements of a tier, 60s or 5m [default: as much as the cells need].
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget: Option<Duration>,
    /// The command to measure with, instead of a fresh release build.
    #[arg(long, value_name = "PATH")]
    carryline: Option<PathBuf>,
    /// The commit of the command, shown with the results [default: git's, unless --carryline is given].
    #[arg(long, value_name = "HASH")]
    commit: Option<String>,
    /// A routine of another library, shown with the collection; no goal depends on it. May be given several
    /// times; see docs/other-libraries.md. One that needs more than a masked tier has requires --tier.
    #[arg(long, value_name = "[NAME=]FILE.so:SYMBOL:FAMILY", value_parser = plugin)]
    plugin: Vec<PluginSpec>,
    /// Only print the commands that would be run.
    #[arg(long)]
    plan: bool,
}

#[derive(Args)]
struct WriteArgs {
    /// The database with the results [default: benchmarks.sqlite in cargo's target folder].
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// A sentence on how these results were measured, stored and shown with them: what the runs cannot know, such
    /// as other measurements on the machine at the same time. May be given several times.
    #[arg(long, value_name = "SENTENCE")]
    note: Vec<String>,
    /// The document [default: docs/benchmarks.md of the workspace]. The results are in a folder of the same
    /// name without the extension.
    #[arg(long, value_name = "FILE.md")]
    out: Option<PathBuf>,
}

fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    match number.parse::<f64>().map(|number| number * unit) {
        Ok(seconds) if (1.0..=86_400.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        Ok(_) => Err(format!("'{text}' is not between a second and a day")),
        Err(_) => Err(format!("'{text}' is not a time: write 60s or 5m")),
    }
}

fn plugin(text: &str) -> Result<PluginSpec, PluginError> {
    PluginSpec::parse(text)
}

fn main() -> ExitCode {
    let done = match Cli::parse().job {
        Job::Run(args) => run(&args),
        Job::Show(args) => show(&args),
        Job::Write(args) => write(&args),
        Job::Critical(args) => critical(&args),
        Job::Goals(args) => list(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Reports an invalid argument and exits with status 2.
fn unusable(argument: &str, error: &dyn std::fmt::Display) -> ! {
    eprintln!("error: {argument}: {error}");
    std::process::exit(2)
}

/// The selected goals of a tier.
fn selected(which: &Which, tier: Tier) -> Vec<Goal> {
    goals::only(&which.only, tier).unwrap_or_else(|error| unusable("--only", &error))
}

/// The requested tier, or all tiers.
fn tiers(which: &Which) -> Vec<Tier> {
    which.tier.map_or_else(|| Tier::ALL.to_vec(), |tier| vec![tier])
}

fn list(which: &Which) -> anyhow::Result<ExitCode> {
    for tier in tiers(which) {
        let lines = selected(which, tier).into_iter().map(|goal| format!("  {}: {}\n", goal.id, goal.source));
        print(&format!("{}\n{}", tier.title(), lines.collect::<String>()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(which: &Which) -> anyhow::Result<ExitCode> {
    let tiers = tiers(which);
    // The arguments are checked before the database is opened.
    let goals: Vec<(Tier, Vec<Goal>)> = tiers.into_iter().map(|tier| (tier, selected(which, tier))).collect();
    for group in Stored::load(&database(which.db.as_deref()))? {
        if let Some((_, goals)) = goals.iter().find(|(tier, _)| *tier == group.tier) {
            print(&verdicts(&group, goals))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The goals of a group with their verdicts, and the worst sizes.
fn verdicts(group: &Group, goals: &[Goal]) -> String {
    let findings = judge::judge(goals, &group.stored);
    let results = Results::of(group, &findings);
    let masked = if results.masked.is_empty() {
        String::new()
    } else {
        format!(", masked: {}", results.masked.join(", "))
    };
    format!(
        "{}, {}{masked}\n{}{}\n",
        group.machine,
        group.tier.title(),
        table::render(&findings, style()),
        table::worst_sizes(&results, style())
    )
}

fn run(args: &Run) -> anyhow::Result<ExitCode> {
    let here = Environment::here();
    let masked = std::env::var(drive::MASK).ok();
    let measured = to_measure(Tier::of(&here.cpu.features), args.which.tier, masked.as_deref());
    let measured = measured.unwrap_or_else(|error| unusable("--tier", &error));
    let planned: Vec<(Measured, Vec<Goal>)> =
        measured.into_iter().map(|one| (one.clone(), selected(&args.which, one.tier))).collect();
    if planned.iter().all(|(_, goals)| goals.is_empty()) {
        let tiers: Vec<&str> = planned.iter().map(|(one, _)| one.tier.word()).collect();
        unusable(
            "--only",
            &format!("no such goal in {}; 'benchmarks goals' lists them by tier", tiers.join(", ")),
        );
    }
    let db = std::path::absolute(database(args.which.db.as_deref()))?;
    if args.plan {
        for (one, goals) in &planned {
            plan(args, one, goals, &db)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let program = match &args.carryline {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => drive::build(&workspace())?,
    };
    if let Some(folder) = db.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let built_here = || if args.carryline.is_none() { commit::of(&workspace()) } else { None };
    let commit = args.commit.clone().or_else(built_here);
    let mut commits = Commits::load(&db)?;
    let mut failed = false;
    for (one, goals) in &planned {
        failed |= !measure(args, one, goals, &program, &db, |run| commits.add(run, commit.as_deref(), &db));
    }
    let groups = Stored::load(&db)?;
    for (one, goals) in planned.iter().filter(|(_, goals)| !goals.is_empty()) {
        // The newest group of a tier is the one just measured.
        if let Some(group) = groups.iter().find(|group| group.tier == one.tier) {
            print(&verdicts(group, goals))?;
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The matrices that goals need, each with its time budget.
fn timed(args: &Run, goals: &[Goal]) -> Vec<(Cells, Duration)> {
    let matrices = drive::matrices(goals);
    let planned: f64 = matrices.iter().map(drive::seconds).sum();
    let scale = args.budget.map_or(1.0, |budget| budget.as_secs_f64() / planned);
    let budget = |cells: &Cells| Duration::from_secs_f64((drive::seconds(cells) * scale).max(1.0));
    let with_time = |cells: Cells| {
        let time = budget(&cells);
        (cells, time)
    };
    matrices.into_iter().map(with_time).collect()
}

/// Prints the commands that would be run.
fn plan(args: &Run, one: &Measured, goals: &[Goal], db: &Path) -> anyhow::Result<()> {
    let settings: String =
        drive::settings(one).iter().map(|(name, words)| format!("{name}={words} ")).collect();
    for (cells, budget) in timed(args, goals) {
        let words = drive::arguments(&cells, &args.plugin, budget, db);
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        print(&format!("{settings}carryline {}\n", words.join(" ")))?;
    }
    Ok(())
}

/// Measures the cells of a tier's goals, and gives each run's number to `keep`; prints errors, and returns false if there were any.
fn measure(
    args: &Run,
    one: &Measured,
    goals: &[Goal],
    program: &Path,
    db: &Path,
    mut keep: impl FnMut(i64) -> anyhow::Result<()>,
) -> bool {
    let begin = Instant::now();
    let matrices = timed(args, goals);
    let total: f64 = matrices.iter().map(|(_, budget)| budget.as_secs_f64()).sum();
    let mut is_done = true;
    for (at, (cells, budget)) in matrices.iter().enumerate() {
        let left: f64 = matrices[at..].iter().map(|(_, budget)| budget.as_secs_f64()).sum();
        let families: Vec<&str> = cells.families.iter().map(|family| family.name()).collect();
        eprintln!(
            "{} {}/{}: {} {}, {} sizes ({left:.0} of {total:.0} s left)",
            one.tier,
            at + 1,
            matrices.len(),
            families.join("+"),
            cells.words(),
            cells.sizes.len()
        );
        let measured = drive::measure(program, cells, &args.plugin, *budget, db, one);
        if let Err(error) = measured.and_then(&mut keep) {
            eprintln!("error: {error:#}");
            is_done = false;
        }
    }
    eprintln!("{}: measured in {:.0} s", one.tier, begin.elapsed().as_secs_f64());
    is_done
}

fn write(args: &WriteArgs) -> anyhow::Result<ExitCode> {
    let out = args.out.clone().unwrap_or_else(|| workspace().join("docs/benchmarks.md"));
    let folder = folder_of(&out);
    let db = database(args.db.as_deref());
    if args.db.is_some() || db.exists() {
        for group in Stored::load(&db)? {
            let mut results = Results::of(&group, &judge::judge(&goals::all(group.tier), &group.stored));
            results.notes.extend(args.note.iter().cloned());
            print(&format!("{}\n", results::write(results, &folder)?.display()))?;
        }
    } else if !args.note.is_empty() {
        anyhow::bail!("{}: no such file, so --note has no results to go with", db.display());
    } else {
        eprintln!(
            "{}: no such file, so there are no new results; the document is written from the stored ones",
            db.display()
        );
    }
    let text = document::document(&results::read_all(&folder)?);
    std::fs::write(&out, text).with_context(|| out.display().to_string())?;
    print(&format!("{}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn critical(args: &CriticalArgs) -> anyhow::Result<ExitCode> {
    let out = args.out.clone().unwrap_or_else(|| workspace().join("docs/critical.md"));
    let folder = folder_of(&out);
    if args.predict {
        let program = critical::program(args.carryline.as_deref(), &workspace())?;
        let machine = machine::words(&Environment::here().cpu);
        for mut scores in critical::read_all(&folder)?.into_iter().filter(|scores| scores.machine == machine)
        {
            critical::predict_again(&program, &mut scores)?;
            print(&format!("{}\n", critical::write(&scores, &folder)?.display()))?;
        }
    } else if !args.write {
        let cells =
            critical::cells(&args.only).unwrap_or_else(|error| unusable("--only", &error.to_string()));
        let program = critical::program(args.carryline.as_deref(), &workspace())?;
        let mut scores = critical::measure(&program, machine::words(&Environment::here().cpu), &cells)?;
        if !args.only.is_empty() {
            scores.keep_others(critical::read_all(&folder)?);
        }
        print(&format!("{}\n", critical::write(&scores, &folder)?.display()))?;
    }
    let text = critical::page::document(&critical::read_all(&folder)?);
    std::fs::write(&out, text).with_context(|| out.display().to_string())?;
    print(&format!("{}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder of a document's results: its name without the extension.
fn folder_of(out: &Path) -> PathBuf {
    let folder = out.with_extension("");
    if folder == out {
        unusable("--out", &format!("{}: the document's name needs an extension, such as .md", out.display()));
    }
    folder
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn style() -> Style {
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    Style { colour, width: None }
}

/// The workspace, two folders above this crate: the program runs where it was built.
fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

fn database(given: Option<&Path>) -> PathBuf {
    let target = || match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => workspace().join("target"),
    };
    given.map_or_else(|| target().join("benchmarks.sqlite"), Path::to_path_buf)
}
