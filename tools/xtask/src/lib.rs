//! Workspace tasks for which cargo has no command: [`install`] installs the command, the C library and the
//! interposer; [`package`] builds packages of them; [`vendor_c`] writes the C library as sources for programs
//! built without Rust; [`python`] builds the Python package; [`adopt`] puts our sum into other crates;
//! [`site`] builds a site from the documents; [`picture`] draws the output of a terminal; [`benchmarks`]
//! evaluates the goals of the library; [`profiles`] computes the safe decisions for unmeasured CPUs; [`miri`]
//! interprets the library's examples and some tests; and [`deep`] runs the checks that take too long for `cargo test`.

mod adopt;
mod benchmarks;
mod build;
mod deep;
mod install;
mod miri;
#[cfg(target_os = "linux")]
mod package;
mod picture;
mod python;
mod site;
mod vendor_c;

pub use adopt::{Adopted, Comparison, adopt, adoptable};
pub use benchmarks::{benchmarks, profiles};
pub use deep::{Deep, deep};
pub use install::{Install, Installed, how_to_use, install, install_library, preload};
pub use miri::miri;
#[cfg(target_os = "linux")]
pub use package::package;
pub use picture::picture;
pub use python::{Python, PythonDone, python};
pub use site::site;
pub use vendor_c::{VendorC, Vendored, vendor_c};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fmt, io};

/// Builds packages.
///
/// # Errors
/// Always, because packages are built only on Linux.
#[cfg(not(target_os = "linux"))]
pub fn package(_: &std::path::Path) -> io::Result<Vec<PathBuf>> {
    Err(io::Error::other("packages can be built only on Linux"))
}

/// The help text.
pub const HELP: &str = "\
Usage: cargo xtask install --prefix DIR [--destdir DIR]
       cargo xtask package DIR
       cargo xtask vendor-c DIR [--prefix P]
       cargo xtask python wheel DIR | test
       cargo xtask adopt smoltcp|etherparse|pnet_packet
       cargo xtask site DIR
       cargo xtask picture FILE.svg < CAPTURE
       cargo xtask benchmarks run|show|write|goals|critical ...
       cargo xtask profiles
       cargo xtask miri
       cargo xtask deep [--seconds N]

install builds everything for release and installs it (Linux):
  DIR/bin/carryline, with manual pages in DIR/share/man and completions for bash, zsh and fish
  DIR/lib/carryline/libcarryline-preload.so, the interposer, where `carryline real` finds it
  DIR/include/carryline.h
  DIR/lib/libcarryline.so.0, libcarryline.so (a link to it), libcarryline.a
  DIR/lib/pkgconfig/carryline.pc

  --prefix DIR    the folder to install into; an absolute path
  --destdir DIR   put the files under this folder, for packages: DESTDIR/PREFIX/bin ...

package builds three packages for Debian (carryline, libcarryline0, libcarryline-dev), a tarball that
runs on any Linux with glibc 2.17 or newer, and SHA256SUMS. It needs cargo-zigbuild, which links for
an old glibc: `pip install cargo-zigbuild` installs it and Zig.

vendor-c writes the C library as source files for programs that are built without Rust:
carryline.h and, for each architecture, carryline-ARCHITECTURE.S, which gcc and clang assemble.

  --prefix P      put P in front of every name, as in P_carryline_zero for --prefix P_

python builds the wheel of the Python package into DIR; or builds it, installs it into a new
environment and runs its tests there. If the machine lacks a tool for this, it says so and succeeds.

adopt puts carryline's sum into a copy of that crate, runs the crate's own tests with its sum and
with carryline's, and times both. It fails if a test no longer passes.

site builds a web site from the documents with mdBook (`cargo install mdbook`).

picture draws the output of a terminal as an image, light and dark, from the bytes that
`script -qc COMMAND /dev/null` writes.

benchmarks measures the cells of the goals of this machine's tier, evaluates the goals, and writes
the machine's results and docs/benchmarks.md; see `cargo xtask benchmarks --help`.

profiles writes the library's profiles for unmeasured CPUs: the settings that lose least on those in
docs/profiles.

miri interprets the library's documented examples and some of its tests as on a big-endian
processor, and reports undefined behaviour (about four minutes). It installs nightly Rust with Miri,
by rustup, if needed.

deep runs the checks that take too long for `cargo test`: fuzzing, and the tests marked as deep.

  --seconds N     the approximate duration, without building [default: 900]
";

/// The command line's request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Job {
    /// Print [`HELP`].
    Help,
    /// Install everything.
    Install(Install),
    /// Build packages into this folder.
    Package(PathBuf),
    /// Write the C library as assembly sources.
    VendorC(VendorC),
    /// The Python package.
    Python(Python),
    /// Test another crate with our sum.
    Adopt(&'static Adopted),
    /// Build the site in this folder.
    Site(PathBuf),
    /// Draw the terminal output from standard input into this file.
    Picture(PathBuf),
    /// Run the program for the library's goals with these arguments.
    Benchmarks(Vec<String>),
    /// Compute the profiles for unmeasured CPUs.
    Profiles,
    /// Run the library's examples and tests in Miri.
    Miri,
    /// Run the deep checks for about this long.
    Deep(Duration),
}

/// Invalid arguments. The message names the wrong one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; `cargo xtask --help` shows the usage", self.0)
    }
}

impl std::error::Error for UsageError {}

/// Parses the arguments, without the program's name.
///
/// # Errors
/// If a word is unknown or missing, or a folder is not an absolute path.
///
/// ```
/// use std::path::PathBuf;
/// use xtask::{Install, Job, VendorC, parse};
/// let job = parse(["install", "--prefix", "/usr/local"].map(String::from));
/// assert_eq!(job, Ok(Job::Install(Install { prefix: PathBuf::from("/usr/local"), destdir: None })));
/// assert!(parse(["install", "--prefix", "here"].map(String::from)).is_err());
/// let job = parse(["vendor-c", "third_party", "--prefix", "my_"].map(String::from));
/// assert_eq!(job, Ok(Job::VendorC(VendorC { folder: "third_party".into(), prefix: "my_".to_owned() })));
/// let job = parse(["benchmarks", "goals"].map(String::from));
/// assert_eq!(job, Ok(Job::Benchmarks(vec![String::from("goals")])));
/// assert_eq!(parse(["miri"].map(String::from)), Ok(Job::Miri));
/// assert!(parse(["miri", "now"].map(String::from)).is_err());
/// let job = parse(["deep", "--seconds", "60"].map(String::from));
/// assert_eq!(job, Ok(Job::Deep(std::time::Duration::from_secs(60))));
/// ```
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Job, UsageError> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref() {
        Some("install") => parse_install(arguments),
        Some("package") => one_path("package", "a folder", arguments, Job::Package),
        Some("site") => one_path("site", "a folder", arguments, Job::Site),
        Some("picture") => one_path("picture", "a file", arguments, Job::Picture),
        Some("benchmarks") => Ok(Job::Benchmarks(arguments.collect())),
        Some("profiles") => alone("profiles", arguments, Job::Profiles),
        Some("miri") => alone("miri", arguments, Job::Miri),
        Some("deep") => parse_deep(arguments),
        Some("python") => parse_python(arguments),
        Some("adopt") => parse_adopt(arguments),
        Some("vendor-c") => parse_vendor_c(arguments),
        Some("help" | "--help" | "-h") => Ok(Job::Help),
        Some(other) => Err(UsageError(format!("`{other}` is not a command of xtask"))),
        None => Err(UsageError("no job given".to_owned())),
    }
}

/// A job without arguments.
fn alone(name: &str, mut arguments: impl Iterator<Item = String>, job: Job) -> Result<Job, UsageError> {
    match arguments.next().as_deref() {
        None => Ok(job),
        Some("--help" | "-h") => Ok(Job::Help),
        Some(word) => Err(UsageError(format!("`{word}` is not an argument of {name}"))),
    }
}

/// Parses the single path of a job.
fn one_path(
    job: &str,
    what: &str,
    mut arguments: impl Iterator<Item = String>,
    make: fn(PathBuf) -> Job,
) -> Result<Job, UsageError> {
    let path = arguments.next().ok_or_else(|| UsageError(format!("{job} needs {what}")))?;
    if path == "--help" || path == "-h" {
        return Ok(Job::Help);
    }
    match arguments.next() {
        _ if path.starts_with('-') => Err(UsageError(format!("`{path}` is not an argument of {job}"))),
        Some(other) => Err(UsageError(format!("`{other}` is not an argument of {job}"))),
        None => Ok(make(PathBuf::from(path))),
    }
}

fn parse_install(mut arguments: impl Iterator<Item = String>) -> Result<Job, UsageError> {
    let (mut prefix, mut destdir) = (None, None);
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let place = match name {
            "--prefix" => &mut prefix,
            "--destdir" => &mut destdir,
            "--help" | "-h" => return Ok(Job::Help),
            _ => return Err(UsageError(format!("`{argument}` is not an argument of install"))),
        };
        let folder = value.or_else(|| arguments.next()).map(PathBuf::from);
        let folder = folder.ok_or_else(|| UsageError(format!("{name} needs a folder")))?;
        if !folder.is_absolute() {
            return Err(UsageError(format!("{name} {}: not an absolute path", folder.display())));
        }
        *place = Some(folder);
    }
    let prefix = prefix.ok_or_else(|| UsageError("install needs --prefix DIR".to_owned()))?;
    Ok(Job::Install(Install { prefix, destdir }))
}

fn parse_python(mut arguments: impl Iterator<Item = String>) -> Result<Job, UsageError> {
    let job = match arguments.next().as_deref() {
        Some("test") => Python::Test,
        Some("wheel") => {
            let folder = arguments.next().filter(|folder| !folder.starts_with('-'));
            let folder = folder.ok_or_else(|| UsageError("python wheel needs a folder".to_owned()))?;
            Python::Wheel(PathBuf::from(folder))
        }
        Some("--help" | "-h") => return Ok(Job::Help),
        Some(other) => return Err(UsageError(format!("`{other}` is not a job of python: wheel or test"))),
        None => return Err(UsageError("python needs a job: wheel or test".to_owned())),
    };
    match arguments.next() {
        Some(other) => Err(UsageError(format!("`{other}` is not an argument of python"))),
        None => Ok(Job::Python(job)),
    }
}

fn parse_adopt(mut arguments: impl Iterator<Item = String>) -> Result<Job, UsageError> {
    let known = || adopt::adoptable().join(", ");
    let name = arguments.next().ok_or_else(|| UsageError(format!("adopt needs a crate: {}", known())))?;
    if name == "--help" || name == "-h" {
        return Ok(Job::Help);
    }
    let adopted = adopt::find(&name)
        .ok_or_else(|| UsageError(format!("`{name}` is not a crate that adopt knows: {}", known())))?;
    match arguments.next() {
        Some(other) => Err(UsageError(format!("`{other}` is not an argument of adopt"))),
        None => Ok(Job::Adopt(adopted)),
    }
}

fn parse_vendor_c(mut arguments: impl Iterator<Item = String>) -> Result<Job, UsageError> {
    let (mut folder, mut prefix) = (None, String::new());
    while let Some(argument) = arguments.next() {
        match argument.split_once('=') {
            Some(("--prefix", value)) => value.clone_into(&mut prefix),
            None if argument == "--prefix" => {
                let value = arguments.next();
                prefix =
                    value.ok_or_else(|| UsageError("--prefix needs the beginning of a name".to_owned()))?;
            }
            None if argument == "--help" || argument == "-h" => return Ok(Job::Help),
            _ if argument.starts_with('-') || folder.is_some() => {
                return Err(UsageError(format!("`{argument}` is not an argument of vendor-c")));
            }
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    if !vendor_c::is_prefix(&prefix) {
        return Err(UsageError(format!("--prefix {prefix}: not the beginning of a C name")));
    }
    let folder = folder.ok_or_else(|| UsageError("vendor-c needs a folder".to_owned()))?;
    Ok(Job::VendorC(VendorC { folder, prefix }))
}

/// The cargo that runs this program, in a folder, with its standard error inherited.
fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    cargo.current_dir(folder).stderr(Stdio::inherit());
    cargo
}

/// Cargo's target folder.
fn target_folder() -> io::Result<PathBuf> {
    let mut metadata = cargo(&install::workspace()?);
    metadata.args(["metadata", "--no-deps", "--format-version=1", "--locked"]);
    let metadata = metadata.output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let folder = metadata["target_directory"].as_str().map(PathBuf::from);
    folder.ok_or_else(|| io::Error::other("cargo metadata: no target_directory"))
}

fn parse_deep(mut arguments: impl Iterator<Item = String>) -> Result<Job, UsageError> {
    let mut time = deep::DEFAULT;
    while let Some(argument) = arguments.next() {
        let value = match argument.split_once('=') {
            Some(("--seconds", value)) => Some(value.to_owned()),
            None if argument == "--seconds" => arguments.next(),
            None if argument == "--help" || argument == "-h" => return Ok(Job::Help),
            _ => return Err(UsageError(format!("`{argument}` is not an argument of deep"))),
        };
        let value = value.ok_or_else(|| UsageError("--seconds needs a number".to_owned()))?;
        let seconds = value.parse::<u32>().ok().filter(|seconds| *seconds > 0);
        let seconds =
            seconds.ok_or_else(|| UsageError(format!("--seconds {value}: not a number of seconds")))?;
        time = Duration::from_secs(seconds.into());
    }
    Ok(Job::Deep(time))
}
