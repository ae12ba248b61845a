//! `cargo xtask benchmarks`: measure what the goals need, and write the document.
//!
//! Exit status: 0 done, whatever the figures; 1 a measurement or something else failed; 2 unusable arguments.

use anyhow::Context;
use carryline_benchmarks::{document, drive, goal::Cells, goals, judge, stored::Stored, table};
use carryline_report::table::Style;
use clap::{Args, Parser, Subcommand};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The library's goals, measured by the release command, judged, and written down.
#[derive(Parser)]
#[command(name = "benchmarks", bin_name = "cargo xtask benchmarks")]
#[command(disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  cargo xtask benchmarks run --only checksum-1500       what tuning at 1500 bytes needs, in seconds
  cargo xtask benchmarks run                            everything, in some six minutes
  cargo xtask benchmarks show --only memory             the goals again, from stored results
  cargo xtask benchmarks write                          docs/benchmarks.md from stored results")]
struct Cli {
    #[command(subcommand)]
    job: Job,
}

#[derive(Subcommand)]
enum Job {
    /// Measure the cells that goals need, keep the results, print the goals
    Run(Run),
    /// Print the goals from stored results
    Show(Which),
    /// Write the document from stored results
    Write(WriteArgs),
    /// List the goals
    Goals(Which),
}

#[derive(Args)]
struct Which {
    /// Goals to take: checksum, memory, a goal, or the beginning of several goals' names [default: all].
    #[arg(long, value_name = "GOAL", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// The database with the results [default: benchmarks.sqlite in cargo's target folder].
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

#[derive(Args)]
struct Run {
    #[command(flatten)]
    which: Which,
    /// Time for everything that is measured, 60s or 5m [default: as much as the cells need].
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget: Option<Duration>,
    /// The command to measure with, in place of a fresh release build.
    #[arg(long, value_name = "PATH")]
    carryline: Option<PathBuf>,
    /// Print what would be run, and stop.
    #[arg(long)]
    plan: bool,
}

#[derive(Args)]
struct WriteArgs {
    /// The database with the results [default: benchmarks.sqlite in cargo's target folder].
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The document [default: docs/benchmarks.md of the workspace].
    #[arg(long, value_name = "FILE")]
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

fn main() -> ExitCode {
    let done = match Cli::parse().job {
        Job::Run(args) => run(&args),
        Job::Show(args) => selected(&args).and_then(|goals| {
            let stored = Stored::load(&database(args.db.as_deref()))?;
            print(&table::render(&judge::judge(&goals, &stored), style()))?;
            Ok(ExitCode::SUCCESS)
        }),
        Job::Write(args) => write(&args),
        Job::Goals(args) => selected(&args).and_then(|goals| {
            let lines: Vec<String> = goals.iter().map(|g| format!("{}: {}\n", g.id, g.source)).collect();
            print(&lines.concat())?;
            Ok(ExitCode::SUCCESS)
        }),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// The goals asked for. Words that mean none end the program, as any unusable argument does.
fn selected(which: &Which) -> anyhow::Result<Vec<carryline_benchmarks::goal::Goal>> {
    goals::only(&which.only).map_err(|error| {
        eprintln!("error: --only: {error}");
        std::process::exit(2)
    })
}

fn run(args: &Run) -> anyhow::Result<ExitCode> {
    let goals = selected(&args.which)?;
    let db = std::path::absolute(database(args.which.db.as_deref()))?;
    let matrices = drive::matrices(&goals);
    let planned: f64 = matrices.iter().map(drive::seconds).sum();
    let scale = args.budget.map_or(1.0, |budget| budget.as_secs_f64() / planned);
    let budget = |cells: &Cells| Duration::from_secs_f64((drive::seconds(cells) * scale).max(1.0));
    if args.plan {
        for cells in &matrices {
            let words = drive::arguments(cells, budget(cells), &db);
            let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            print(&format!("carryline {}\n", words.join(" ")))?;
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
    let begin = Instant::now();
    let mut failed = false;
    let total: f64 = matrices.iter().map(|cells| budget(cells).as_secs_f64()).sum();
    for (at, cells) in matrices.iter().enumerate() {
        let left: f64 = matrices[at..].iter().map(|cells| budget(cells).as_secs_f64()).sum();
        let families: Vec<&str> = cells.families.iter().map(|family| family.name()).collect();
        eprintln!(
            "{}/{}: {} {}, {} sizes ({left:.0} of {total:.0} s left)",
            at + 1,
            matrices.len(),
            families.join("+"),
            cells.words(),
            cells.sizes.len()
        );
        if let Err(error) = drive::measure(&program, cells, budget(cells), &db) {
            eprintln!("error: {error:#}");
            failed = true;
        }
    }
    eprintln!("measured in {:.0} s", begin.elapsed().as_secs_f64());
    let stored = Stored::load(&db)?;
    print(&table::render(&judge::judge(&goals, &stored), style()))?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn write(args: &WriteArgs) -> anyhow::Result<ExitCode> {
    let stored = Stored::load(&database(args.db.as_deref()))?;
    let out = args.out.clone().unwrap_or_else(|| workspace().join("docs/benchmarks.md"));
    let text = document::document(&goals::all(), &stored);
    std::fs::write(&out, text).with_context(|| out.display().to_string())?;
    print(&format!("{}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
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

/// Two folders above this crate's: the program runs where it was built.
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
