//! `cargo xtask`: see the library.
//!
//! Exit status: 0 done, 1 failed, 2 invalid arguments; `benchmarks`, `profiles` and `miri` exit with the status
//! of the program they run.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use xtask::{HELP, Job};

fn main() -> ExitCode {
    // A word that is not Unicode is not a valid argument; the message shows an approximation.
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    match xtask::parse(arguments) {
        Ok(Job::Help) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Job::Install(job)) => done(xtask::install(&job), |installed| {
            eprintln!("{}", xtask::how_to_use(&job));
            list(&installed.files)
        }),
        Ok(Job::Package(folder)) => done(xtask::package(&folder), |files| list(&files)),
        Ok(Job::Site(folder)) => done(xtask::site(&folder), |index| say(&index.display())),
        Ok(Job::Picture(file)) => {
            done(xtask::picture(std::io::stdin().lock(), &file), |()| say(&file.display()))
        }
        Ok(Job::VendorC(job)) => done(xtask::vendor_c(&job), |vendored| {
            for remark in &vendored.left_out {
                eprintln!("note: {remark}");
            }
            list(&vendored.files)
        }),
        Ok(Job::Python(job)) => done(xtask::python(&job), |done| say(&done)),
        Ok(Job::Adopt(adopted)) => done(xtask::adopt(adopted), |comparison| {
            say(&comparison);
            if comparison.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }),
        Ok(Job::Deep(time)) => done(xtask::deep(time), |done| say(&done)),
        Ok(Job::Benchmarks(arguments)) => ended(xtask::benchmarks(&arguments)),
        Ok(Job::Profiles) => ended(xtask::profiles()),
        Ok(Job::Miri) => ended(xtask::miri()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Converts the exit status of a program that was run.
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

/// Passes a result to `answer`, or prints the error.
fn done<T, E: Display>(result: Result<T, E>, answer: impl FnOnce(T) -> ExitCode) -> ExitCode {
    match result {
        Ok(result) => answer(result),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn list(files: &[PathBuf]) -> ExitCode {
    for file in files {
        println!("{}", file.display());
    }
    ExitCode::SUCCESS
}

fn say(what: &impl Display) -> ExitCode {
    println!("{what}");
    ExitCode::SUCCESS
}
