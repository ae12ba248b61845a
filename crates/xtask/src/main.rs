//! `cargo xtask`: see the library.
//!
//! Exit status: 0 done, 1 failed, 2 unusable arguments.

use std::process::ExitCode;
use xtask::{HELP, Job};

fn main() -> ExitCode {
    // A word that is not Unicode is no word of ours; the message shows it as far as it can be shown.
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
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
