//! Jobs around the workspace that cargo has no command for: [`install`], the C library and the interposer in the layout
//! that C programs expect, [`benchmarks`], the goals of the library held against measurements, [`profiles`], the safe decisions for
//! CPUs that nobody measured, and [`deep`], the checks that take too long for `cargo test`.

mod benchmarks;
mod deep;
mod install;

pub use benchmarks::{benchmarks, profiles};
pub use deep::{Deep, deep};
pub use install::{Install, Installed, install, preload};

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What the command says when it is asked.
pub const HELP: &str = "\
Usage: cargo xtask install --prefix DIR [--destdir DIR]
       cargo xtask benchmarks run|show|write|goals ...
       cargo xtask profiles
       cargo xtask deep [--seconds N]

install builds carryline's C library and its interposer for release and installs them (Linux):
  DIR/include/carryline.h
  DIR/lib/libcarryline.so.0, libcarryline.so (a link to it), libcarryline.a
  DIR/lib/libcarryline-preload.so, for LD_PRELOAD
  DIR/lib/pkgconfig/carryline.pc

  --prefix DIR    where the library will be used from; an absolute path
  --destdir DIR   put the files under this folder, for packages: DESTDIR/PREFIX/include ...

benchmarks measures what the goals of this machine's tier need, judges them, and writes the
machine's results and docs/benchmarks.md: `cargo xtask benchmarks --help` says more.

profiles writes the library's profile for CPUs that nobody measured: what loses least on those in
docs/profiles.

deep runs what takes too long for `cargo test`: fuzzing, and the tests marked as deep.

  --seconds N     for about so long, building not counted [default: 900]
";

/// The command line's request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Job {
    /// Print [`HELP`].
    Help,
    /// Install the C library.
    Install(Install),
    /// Hand these arguments to the program that knows the library's goals.
    Benchmarks(Vec<String>),
    /// Compute the profile for CPUs that nobody measured.
    Profiles,
    /// Run the deep checks for about so long.
    Deep(Duration),
}

/// The arguments are not usable. The message names the one at fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; `cargo xtask --help` shows the usage", self.0)
    }
}

impl std::error::Error for UsageError {}

/// Reads the arguments, the program's name left out.
///
/// # Errors
/// A word that is not known or missing, a folder that is not an absolute path.
///
/// ```
/// use std::path::PathBuf;
/// use xtask::{Install, Job, parse};
/// let job = parse(["install", "--prefix", "/usr/local"].map(String::from));
/// assert_eq!(job, Ok(Job::Install(Install { prefix: PathBuf::from("/usr/local"), destdir: None })));
/// assert!(parse(["install", "--prefix", "here"].map(String::from)).is_err());
/// let job = parse(["benchmarks", "goals"].map(String::from));
/// assert_eq!(job, Ok(Job::Benchmarks(vec![String::from("goals")])));
/// let job = parse(["deep", "--seconds", "60"].map(String::from));
/// assert_eq!(job, Ok(Job::Deep(std::time::Duration::from_secs(60))));
/// ```
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Job, UsageError> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref() {
        Some("install") => {}
        Some("benchmarks") => return Ok(Job::Benchmarks(arguments.collect())),
        Some("profiles") => {
            return arguments.next().map_or(Ok(Job::Profiles), |word| {
                Err(UsageError(format!("`{word}` is not an argument of profiles")))
            });
        }
        Some("deep") => return parse_deep(arguments),
        Some("help" | "--help" | "-h") => return Ok(Job::Help),
        Some(other) => return Err(UsageError(format!("`{other}` is not a command of xtask"))),
        None => return Err(UsageError("no job given".to_owned())),
    }
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
