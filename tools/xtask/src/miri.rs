//! The library's documented examples and its tests for this purpose, interpreted by Miri: it finds undefined behaviour, and
//! executes them as on another processor, whatever this one is.

use std::io;
use std::process::{Command, ExitStatus};

/// The processor: 64 bits and big-endian, so that sums with swapped bytes fail, and without kernels of its own, because Miri
/// executes no assembly.
const TARGET: &str = "s390x-unknown-linux-gnu";

/// The compiler: Miri is a part of nightly Rust only.
const TOOLCHAIN: &str = "nightly";

/// Installs Miri if it is missing, and runs it.
///
/// # Errors
/// If cargo or rustup cannot be started, or rustup cannot install Miri.
pub fn miri() -> io::Result<ExitStatus> {
    if !is_installed()? {
        let words =
            ["toolchain", "install", TOOLCHAIN, "--profile", "minimal", "--component", "miri,rust-src"];
        let status = Command::new("rustup").args(words).status().map_err(|error| {
            io::Error::other(format!("rustup: {error}; Miri needs it, see https://rustup.rs"))
        })?;
        if !status.success() {
            return Err(io::Error::other(format!("rustup could not install Miri: {status}")));
        }
    }
    for what in [&["--lib", "interpreted"][..], &["--doc"]] {
        let status = cargo()?
            .args(["miri", "test", "--package", "carryline", "--target", TARGET])
            .args(what)
            .status()?;
        if !status.success() {
            return Ok(status);
        }
    }
    Ok(ExitStatus::default())
}

fn is_installed() -> io::Result<bool> {
    // Fails if there is no rustup, whose error then says more.
    Ok(cargo()?.args(["miri", "--version"]).output().is_ok_and(|output| output.status.success()))
}

/// Cargo of the toolchain: by rustup, because the one that runs this is of another.
fn cargo() -> io::Result<Command> {
    let mut cargo = Command::new("rustup");
    cargo.args(["run", TOOLCHAIN, "cargo"]).current_dir(crate::install::workspace()?);
    // The examples read the environment and files.
    cargo.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    Ok(cargo)
}
