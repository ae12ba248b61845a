//! Builds and runs programs of other crates. They depend on the database and the laboratory, which the
//! packagers of the C library, who build xtask, should not have to build.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Runs the benchmarks program with these arguments, in the current directory.
///
/// # Errors
/// If cargo cannot be started. The program prints its own errors.
pub fn benchmarks(arguments: &[String]) -> io::Result<ExitStatus> {
    run("tools/goals", &[], arguments)
}

/// Runs the program that computes the profiles for unmeasured CPUs.
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
