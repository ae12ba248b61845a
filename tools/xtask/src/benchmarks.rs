//! The benchmarks program, built and run. It is a separate crate because it reads databases: installing the C library
//! builds xtask, and should not have to build that.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Runs the benchmarks program with these arguments, in the folder that the caller is in.
///
/// # Errors
/// Cargo cannot be started. What the program has to say it says itself.
pub fn benchmarks(arguments: &[String]) -> io::Result<ExitStatus> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("goals").join("Cargo.toml");
    Command::new(cargo)
        .args(["run", "--quiet", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(arguments)
        .status()
}
