//! Building with cargo: what a package's library or program has become, wherever cargo is set up to put it.

use serde_json::Value;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest glibc that packages are made for.
pub(crate) const OLDEST_GLIBC: &str = "2.17";

/// With what code is compiled and linked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Toolchain {
    /// This machine's, for its glibc and later.
    Native,
    /// Zig as the C compiler and linker, for [`OLDEST_GLIBC`] and later.
    Zig,
}

impl Toolchain {
    /// The arguments that stand in place of `build`.
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

/// Builds the library `target` of a package with the profile `capi` and without std: the files that cargo has
/// made of it.
pub(crate) fn library(
    workspace: &Path,
    package: &str,
    target: &str,
    toolchain: Toolchain,
) -> io::Result<Vec<PathBuf>> {
    if !cfg!(target_os = "linux") {
        return Err(io::Error::other("the C library and the interposer are for Linux only"));
    }
    let of_package = ["--package", package, "--lib", "--profile", "capi", "--no-default-features"];
    let messages = build(workspace, package, &of_package, toolchain)?;
    Ok(messages.iter().flat_map(|message| strings(&message["filenames"], target, message)).collect())
}

/// Builds the command for release: its file.
pub(crate) fn command(workspace: &Path, toolchain: Toolchain) -> io::Result<PathBuf> {
    let of_package = ["--package", "carryline-cli", "--bin", "carryline", "--release"];
    let messages = build(workspace, "carryline-cli", &of_package, toolchain)?;
    let mut programs = messages
        .iter()
        .filter(|message| message["target"]["name"] == "carryline" && !message["executable"].is_null());
    let program = programs.find_map(|message| message["executable"].as_str());
    program.map(PathBuf::from).ok_or_else(|| io::Error::other("cargo has built no program"))
}

/// Runs cargo: its messages about what has been built.
fn build(
    workspace: &Path,
    package: &str,
    arguments: &[&str],
    toolchain: Toolchain,
) -> io::Result<Vec<Value>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(toolchain.arguments()).args(arguments).arg("--message-format=json-render-diagnostics");
    if toolchain == Toolchain::Zig {
        // What is handed out is small; symbols stay, by which `carryline critical` finds where a routine
        // ends.
        command.env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo").env("CARGO_PROFILE_CAPI_STRIP", "debuginfo");
    }
    let output = command.current_dir(workspace).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("building {package} failed: {}", output.status)));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages.filter(|message| message["reason"] == "compiler-artifact").collect())
}

/// The paths of a list, if the message is about `target`.
fn strings(list: &Value, target: &str, message: &Value) -> Vec<PathBuf> {
    let is_of_target = message["target"]["name"] == target;
    let words = list.as_array().filter(|_| is_of_target).into_iter().flatten();
    words.filter_map(Value::as_str).map(PathBuf::from).collect()
}

/// The file with that extension.
pub(crate) fn with_extension(files: &[PathBuf], extension: &str) -> io::Result<PathBuf> {
    let found = files.iter().find(|file| file.extension().is_some_and(|found| found == extension));
    found.cloned().ok_or_else(|| io::Error::other(format!("cargo has built no .{extension} of the library")))
}
