//! Programs of other crates, built and run: those read databases and know the laboratory, and installing the
//! C library, which builds xtask, should not have to build that.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Runs the benchmarks program with these arguments, in the folder that the caller is in.
///
/// # Errors
/// Cargo cannot be started. What the program has to say it says itself.
pub fn benchmarks(arguments: &[String]) -> io::Result<ExitStatus> {
    run("tools/goals", &[], arguments)
}

/// Runs the program that computes the profile for CPUs that nobody measured.
///
/// # Errors
/// As [`benchmarks`].
pub fn profiles() -> io::Result<ExitStatus> {
    run("laboratory/tune", &["--bin", "safe-profile"], &[])
}

fn run(folder: &str, which: &[&str], arguments: &[String]) -> io::Result<ExitStatus> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--manifest-path"]).arg(manifest).args(which);
    command.arg("--").args(arguments).status()
}
