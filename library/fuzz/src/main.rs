//! `carryline-fuzz`: runs the targets on random inputs, for any length of time, on stable Rust.

mod crash;

use anyhow::{Context, bail};
use carryline::internals::dispatch::chosen;
use carryline_fuzz::generate::Generator;
use carryline_fuzz::{TARGETS, Target};
use clap::Parser;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The exit status if a failure was found.
const WRONG: u8 = 3;

/// Fuzzes the library: decodes random bytes into calls and compares the results with a naive reference.
#[derive(Parser, Debug)]
#[command(
    name = "carryline-fuzz",
    max_term_width = 100,
    after_help = "\
Examples:
  carryline-fuzz all --seconds 10             every target for ten seconds
  carryline-fuzz partial --seed 7 --runs 1e6  a million inputs of another sequence
  carryline-fuzz partial --seed 7 --first 1234 --runs 1
                                              repeats one of these, as its failure message states
  carryline-fuzz update --input crash-1a2b    a file written by libFuzzer
  CARRYLINE_FORCE=portable carryline-fuzz sum_pieces --seconds 10
                                              sums in pieces with another kernel than the default

Exit status: 0 success, 2 unusable arguments or input, 3 a failure was found."
)]
struct Arguments {
    /// A target, or `all`; without it, the targets are listed.
    target: Option<String>,
    /// The time for each target [default: 10, without --runs].
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<Duration>,
    /// The number of inputs for each target.
    #[arg(long, value_name = "N", value_parser = count)]
    runs: Option<u64>,
    /// The seed of the inputs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The number of the first input, from 0.
    #[arg(long, value_name = "N", value_parser = count, default_value_t = 0)]
    first: u64,
    /// Run a single input from a file instead.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "runs", "seed", "first"])]
    input: Option<PathBuf>,
    /// Hide progress.
    #[arg(long, short)]
    quiet: bool,
}

/// Parses a time in seconds, with or without a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| format!("`{text}` is not a number of seconds; try 10 or 0.5"))?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| format!("`{text}` seconds is out of range; try 10 or 0.5"))
}

/// Parses a whole number, also in the form 1e6.
fn count(text: &str) -> Result<u64, String> {
    let unusable = || format!("`{text}` is not a whole number; try 1000000 or 1e6");
    let (digits, zeros) = text.split_once('e').unwrap_or((text, "0"));
    let (digits, zeros): (u64, u32) =
        (digits.parse().map_err(|_| unusable())?, zeros.parse().map_err(|_| unusable())?);
    10_u64.checked_pow(zeros).and_then(|power| digits.checked_mul(power)).ok_or_else(unusable)
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(error) = carryline::environment::check() {
        eprintln!("carryline-fuzz: {error}");
        return ExitCode::from(2);
    }
    let targets = match named(arguments.target.as_deref()) {
        Ok(targets) => targets,
        Err(error) => {
            eprintln!("carryline-fuzz: {error:#}");
            return ExitCode::from(2);
        }
    };
    match fuzz(&arguments, targets) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(WRONG),
        Err(error) => {
            eprintln!("carryline-fuzz: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The targets with this name; empty without a name.
fn named(word: Option<&str>) -> anyhow::Result<Vec<Target>> {
    let Some(word) = word else { return Ok(Vec::new()) };
    let found: Vec<Target> =
        TARGETS.iter().filter(|target| word == "all" || word == target.name).copied().collect();
    if found.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        bail!("`{word}` is not a target; known are {}, and all", names.join(", "));
    }
    Ok(found)
}

/// Runs the targets; false if a failure was found.
fn fuzz(arguments: &Arguments, targets: Vec<Target>) -> anyhow::Result<bool> {
    if targets.is_empty() {
        for target in TARGETS {
            println!("{:<14}{}", target.name, target.summary);
        }
        return Ok(true);
    }
    crash::install_handlers();
    if let Some(path) = &arguments.input {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let good = targets.iter().all(|target| {
            crash::set_command(target.name, &format!("--input {}", path.display()), None);
            is_right(*target, &bytes)
        });
        println!("{}: {}", path.display(), if good { "nothing wrong" } else { "wrong" });
        return Ok(good);
    }
    let kernels: Vec<String> =
        chosen().iter().map(|choice| format!("{} {}", choice.function.name(), choice.kernel)).collect();
    if !arguments.quiet {
        eprintln!("carryline-fuzz: kernels: {}", kernels.join(", "));
    }
    // Continues with the other targets after a failure.
    let wrong = targets.into_iter().filter(|target| !run(arguments, *target)).count();
    Ok(wrong == 0)
}

/// Runs one target until its time or number of inputs is reached, or a failure is found.
fn run(arguments: &Arguments, target: Target) -> bool {
    let (start, mut reported) = (Instant::now(), None::<Instant>);
    let most_time = match (arguments.seconds, arguments.runs) {
        (None, None) => Some(Duration::from_secs(10)),
        (seconds, _) => seconds,
    };
    let mut generator = Generator::new(arguments.seed);
    generator.skip_to(arguments.first);
    let mut made = 0_u64;
    crash::set_command(target.name, &format!("--seed {}", arguments.seed), Some(arguments.first));
    while arguments.runs.is_none_or(|runs| made < runs) {
        // An input takes a microsecond or two, so the clock is not read for each one.
        if made.is_multiple_of(64) {
            if most_time.is_some_and(|most| start.elapsed() >= most) {
                break;
            }
            if !arguments.quiet && reported.is_none_or(|at| at.elapsed() >= Duration::from_secs(2)) {
                reported = Some(Instant::now());
                eprintln!("{}: {made} inputs in {} s", target.name, start.elapsed().as_secs());
            }
        }
        crash::set_number(arguments.first.wrapping_add(made));
        if !is_right(target, generator.next_input()) {
            let number = arguments.first.wrapping_add(made);
            println!("{}: input {number} of seed {} is wrong", target.name, arguments.seed);
            crash::print();
            return false;
        }
        made += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{}: {made} inputs in {seconds:.1} s, no failures (seed {})", target.name, arguments.seed);
    true
}

/// True if the check passes; otherwise the panic printed the reason.
fn is_right(target: Target, bytes: &[u8]) -> bool {
    // The targets keep no state between inputs except memory that each input fills again.
    catch_unwind(AssertUnwindSafe(|| (target.check)(bytes))).is_ok()
}
