//! Builds the wheel of the Python package, and tests it in a clean environment.

use crate::install::{naming, workspace};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fmt, fs, io};

/// The job to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Python {
    /// Build the wheel into this folder.
    Wheel(PathBuf),
    /// Build it, install it into a new environment, and run the tests there.
    Test,
}

/// The result of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PythonDone {
    /// The wheel; if tests were requested, it passed them.
    Wheel(PathBuf),
    /// The tool that this machine lacks.
    Lacks(String),
}

impl fmt::Display for PythonDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PythonDone::Wheel(path) => write!(f, "{}", path.display()),
            PythonDone::Lacks(what) => write!(f, "skipped: {what}"),
        }
    }
}

/// The reason why a job stopped.
enum Stop {
    Lacks(String),
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Failed(error)
    }
}

/// Builds the wheel, and runs its tests if requested. Python is `PYTHON`, or `python3`. maturin is taken from
/// the `PATH`; otherwise pip installs it, like pytest, into an environment in cargo's target folder.
///
/// # Errors
/// If the build or a test fails; they print their own errors.
pub fn python(job: &Python) -> io::Result<PythonDone> {
    match done(job) {
        Ok(wheel) => Ok(PythonDone::Wheel(wheel)),
        Err(Stop::Lacks(what)) => Ok(PythonDone::Lacks(what)),
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn done(job: &Python) -> Result<PathBuf, Stop> {
    let package = workspace()?.join("library/python");
    let folder = crate::target_folder()?.join("python");
    let python = interpreter()?;
    let wheel = match job {
        Python::Wheel(to) => return wheel(&python, &package, &folder, to),
        Python::Test => wheel(&python, &package, &folder, &folder.join("wheels"))?,
    };

    let clean = environment(&python, &folder.join("clean"))?;
    succeeds(pip(&clean).args(["install", "--no-index"]).arg(&wheel), "installing the wheel")?;
    if !pip(&clean).args(["install", "pytest"]).status().is_ok_and(|status| status.success()) {
        return Err(Stop::Lacks("pytest cannot be installed".to_owned()));
    }
    let mut tests = Command::new(&clean);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).env("PYTHONDONTWRITEBYTECODE", "1");
    succeeds(tests.current_dir(&package), "the tests of the Python package")?;
    Ok(wheel)
}

/// A Python interpreter that the package supports.
fn interpreter() -> Result<OsString, Stop> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| OsString::from("python3"));
    let is_new = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    let found = Command::new(&python).args(["-c", is_new]).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        Ok(python)
    } else {
        let python = python.display();
        Err(Stop::Lacks(format!("{python} is missing, older than 3.11, or without venv and pip")))
    }
}

/// Builds the wheel.
fn wheel(python: &OsStr, package: &Path, folder: &Path, to: &Path) -> Result<PathBuf, Stop> {
    let before = wheels(to);
    let mut maturin = maturin(python, folder)?;
    maturin
        .args(["build", "--release", "--locked", "--quiet", "--interpreter"])
        .arg(python)
        .arg("--out")
        .arg(to);
    maturin
        .arg("--manifest-path")
        .arg(package.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", folder.join("target"));
    for wheel in before {
        // An older wheel could be mistaken for the new one.
        fs::remove_file(&wheel).map_err(|error| naming(&wheel, &error))?;
    }
    succeeds(&mut maturin, "building the wheel")?;
    wheels(to).pop().ok_or_else(|| Stop::Failed(io::Error::other(format!("{}: no wheel", to.display()))))
}

/// The wheels of this package in a folder, which may not exist.
fn wheels(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with("carryline-") && name.ends_with(".whl"))
    };
    files.filter(is_ours).collect()
}

/// maturin, from the `PATH` or from our own environment.
fn maturin(python: &OsStr, folder: &Path) -> Result<Command, Stop> {
    let answers = |maturin: &OsStr| {
        let version = Command::new(maturin).arg("--version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let tools = folder.join("tools");
    let installed = tools.join("bin/maturin");
    for maturin in [OsStr::new("maturin"), installed.as_os_str()] {
        if answers(maturin) {
            return Ok(Command::new(maturin));
        }
    }
    let environment = environment(python, &tools)?;
    let status = pip(&environment).args(["install", "maturin>=1.9,<2"]).status();
    if status.is_ok_and(|status| status.success()) && answers(installed.as_os_str()) {
        Ok(Command::new(installed))
    } else {
        Err(Stop::Lacks("maturin is missing and cannot be installed".to_owned()))
    }
}

/// Creates an environment, replacing an existing one; returns its interpreter.
fn environment(python: &OsStr, folder: &Path) -> io::Result<PathBuf> {
    succeeds(Command::new(python).args(["-m", "venv", "--clear"]).arg(folder), "creating an environment")?;
    Ok(folder.join("bin/python"))
}

fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]);
    pip
}

fn succeeds(command: &mut Command, what: &str) -> io::Result<()> {
    let status = command.status().map_err(|error| io::Error::other(format!("{what}: {error}")))?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{what} failed: {status}"))) }
}
