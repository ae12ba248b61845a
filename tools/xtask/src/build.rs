//! Builds packages with cargo, and finds the resulting files, wherever cargo puts them.

use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// The oldest glibc that packages support.
pub(crate) const OLDEST_GLIBC: &str = "2.17";

/// The compiler and linker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Toolchain {
    /// This machine's, for its glibc and newer.
    Native,
    /// Zig as the C compiler and linker, for [`OLDEST_GLIBC`] and newer.
    Zig,
}

impl Toolchain {
    /// The arguments in place of `build`.
    fn arguments(self) -> Vec<String> {
        match self {
            Toolchain::Native => vec!["build".to_owned()],
            Toolchain::Zig => {
                let target = format!("{}-unknown-linux-gnu.{OLDEST_GLIBC}", std::env::consts::ARCH);
                vec!["zigbuild".to_owned(), "--target".to_owned(), target]
            }
        }
    }
}

/// Builds the library `target` of a package with the profile `capi` and without std; returns the files that
/// cargo made.
pub(crate) fn library(
    workspace: &Path,
    package: &str,
    target: &str,
    toolchain: Toolchain,
) -> io::Result<Vec<PathBuf>> {
    if !cfg!(target_os = "linux") {
        return Err(io::Error::other("the C library and the interposer can be built only on Linux"));
    }
    let of_package = ["--package", package, "--lib", "--profile", "capi", "--no-default-features"];
    let messages = build(workspace, package, &of_package, toolchain)?;
    Ok(messages.iter().flat_map(|message| strings(&message["filenames"], target, message)).collect())
}

/// Builds the command for release; returns its file.
pub(crate) fn command(workspace: &Path, toolchain: Toolchain) -> io::Result<PathBuf> {
    let of_package = ["--package", "carryline-cli", "--bin", "carryline", "--release"];
    let messages = build(workspace, "carryline-cli", &of_package, toolchain)?;
    let mut programs = messages
        .iter()
        .filter(|message| message["target"]["name"] == "carryline" && !message["executable"].is_null());
    let program = programs.find_map(|message| message["executable"].as_str());
    program.map(PathBuf::from).ok_or_else(|| io::Error::other("cargo built no program"))
}

/// Runs cargo; returns its messages about built artifacts.
fn build(
    workspace: &Path,
    package: &str,
    arguments: &[&str],
    toolchain: Toolchain,
) -> io::Result<Vec<Value>> {
    let mut command = crate::cargo(workspace);
    command.args(toolchain.arguments()).args(arguments).arg("--message-format=json-render-diagnostics");
    if toolchain == Toolchain::Zig {
        // Packages are kept small, but keep symbols, by which `carryline critical` finds the end of a
        // routine.
        command.env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo").env("CARGO_PROFILE_CAPI_STRIP", "debuginfo");
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("building {package} failed: {}", output.status)));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages.filter(|message| message["reason"] == "compiler-artifact").collect())
}

/// The paths in a list, if the message is about `target`.
fn strings(list: &Value, target: &str, message: &Value) -> Vec<PathBuf> {
    let is_of_target = message["target"]["name"] == target;
    let words = list.as_array().filter(|_| is_of_target).into_iter().flatten();
    words.filter_map(Value::as_str).map(PathBuf::from).collect()
}

/// The file with that extension.
pub(crate) fn with_extension(files: &[PathBuf], extension: &str) -> io::Result<PathBuf> {
    let found = files.iter().find(|file| file.extension().is_some_and(|found| found == extension));
    found.cloned().ok_or_else(|| io::Error::other(format!("cargo built no .{extension} of the library")))
}
