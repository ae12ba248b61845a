//! The carryline command.

mod cli;
mod commands;
mod config;
mod inlining;
mod output;
mod prepared;
mod watch;

use carryline_engine::allocator::Allocator;
use carryline_engine::failure::{self, Failure};
use carryline_engine::interrupt;
use clap::{CommandFactory, Parser};
use cli::{Cli, Command};
use std::ffi::OsString;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    output::restore_broken_pipe();
    commands::completions::answer();
    let given: Vec<OsString> = std::env::args_os().collect();
    let (words, file) = match config::with_file(given.clone(), &Cli::command()) {
        Ok(found) => found,
        Err(failure) => {
            output::message(&failure.to_string());
            return ExitCode::from(failure.status());
        }
    };
    let cli = Cli::try_parse_from(words).unwrap_or_else(|error| match file {
        // Without the file's options, the command line is right.
        Some(file) if Cli::try_parse_from(given).is_ok() => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            output::message(&format!("{}: {}", file.display(), first.trim_start_matches("error: ")));
            std::process::exit(i32::from(failure::status::USAGE))
        }
        _ => error.exit(),
    });
    match run(&cli) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            output::message(&failure.to_string());
            ExitCode::from(failure.status())
        }
    }
}

fn run(cli: &Cli) -> Result<u8, Failure> {
    if matches!(cli.command, Some(Command::Worker)) {
        mask_peers();
        return commands::worker::run();
    }
    if let Some(Command::Adapter(args)) = &cli.command {
        mask_peers();
        return commands::audit::adapter(args);
    }
    carryline::environment::check().map_err(|error| failure::usage(error.to_string()))?;
    mask_peers();
    interrupt::listen();
    let common = &cli.common;
    match &cli.command {
        None => commands::tour::run(common),
        Some(Command::Run(args)) => commands::run::run(args, common),
        Some(Command::List(args)) => commands::list::run(args, common),
        Some(Command::Machine(_)) => commands::machine::run(common),
        Some(Command::Verify(args)) => commands::verify::run(args, common),
        Some(Command::Audit(args)) => commands::audit::run(args, common),
        Some(Command::Measure(args)) => commands::measure::run(args, common),
        Some(Command::Watch(args)) => commands::watch::run(args, common),
        Some(Command::Tune(args)) => commands::tune::run(args, common),
        Some(Command::Reproduce(args)) => commands::reproduce::run(args, common),
        Some(Command::Real(args)) => commands::real::run(args, common),
        Some(Command::Critical(args)) => commands::critical::run(args, common),
        Some(Command::Inlining(args)) => commands::inlining::run(args, common),
        Some(Command::History(args)) => commands::history::run(args, common),
        Some(Command::Report(args)) => commands::report::run(args, common),
        Some(Command::Rerun(args)) => commands::rerun::run(args, common),
        Some(Command::Compare(args)) => commands::compare::run(args, common),
        Some(Command::Gate(args)) => commands::gate::run(args, common),
        Some(Command::Export(args)) => commands::export::run(args, common),
        Some(Command::Schema(args)) => commands::schema::run(args, common),
        Some(Command::Explain(args)) => commands::explain::run(args, common),
        Some(Command::Selftest(args)) => commands::selftest::run(args, common),
        Some(Command::Completions(args)) => commands::completions::completions(args),
        Some(Command::Man(args)) => commands::completions::man(args),
        Some(Command::Adapter(args)) => commands::audit::adapter(args),
        Some(Command::Worker) => commands::worker::run(),
    }
}

/// Applies `CARRYLINE_MASK` to other people's libraries too.
fn mask_peers() {
    #[cfg(feature = "peers")]
    // SAFETY: `main` calls it before any other thread starts.
    unsafe {
        carryline_variants::peer::restrict_to(carryline::internals::cpu::features());
    }
}
