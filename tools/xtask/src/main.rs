//! `cargo xtask`: see the library.
//!
//! Exit status: 0 done, 1 failed, 2 unusable arguments; of `benchmarks` and `profiles` what the program ends with.

use std::io;
use std::process::{ExitCode, ExitStatus};
use xtask::{HELP, Job};

fn main() -> ExitCode {
    // A word that is not Unicode is not a valid argument; the message shows it as well as possible.
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    match xtask::parse(arguments) {
        Ok(Job::Help) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Job::Install(job)) => match xtask::install(&job) {
            Ok(installed) => {
                for file in &installed.files {
                    println!("{}", file.display());
                }
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Job::VendorC(job)) => match xtask::vendor_c(&job) {
            Ok(vendored) => {
                for remark in vendored.left_out {
                    eprintln!("note: {remark}");
                }
                for file in &vendored.files {
                    println!("{}", file.display());
                }
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Job::Python(job)) => match xtask::python(&job) {
            Ok(done) => {
                println!("{done}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Job::Adopt(adopted)) => match xtask::adopt(adopted) {
            Ok(comparison) => {
                println!("{comparison}");
                if comparison.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Job::Deep(time)) => match xtask::deep(time) {
            Ok(done) => {
                println!("{done}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Job::Benchmarks(arguments)) => ended(xtask::benchmarks(&arguments)),
        Ok(Job::Profiles) => ended(xtask::profiles()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The exit status of a program that was run.
fn ended(status: io::Result<ExitStatus>) -> ExitCode {
    match status {
        Ok(status) => {
            status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            eprintln!("error: cargo: {error}");
            ExitCode::FAILURE
        }
    }
}
