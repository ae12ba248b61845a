//! Shared by the tests: the interposer as installed, a temporary folder, C programs, and runs with and
//! without it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The interposer, built as by `cargo xtask install`.
pub fn interposer() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| xtask::preload().expect("the interposer can be built"))
}

/// A temporary folder, removed when dropped.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Compiles a source of this folder without built-in functions, so that every call remains a call.
    pub fn compile(&self, source: &str, output: &str, flags: &[&str]) -> PathBuf {
        self.try_compile(source, output, flags).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same; fails with the compiler's messages.
    pub fn try_compile(&self, source: &str, output: &str, flags: &[&str]) -> Result<PathBuf, String> {
        let program = self.path().join(output);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(compiler);
        command
            .args(["-O1", "-fno-builtin", "-Wall", "-Wextra", "-pthread"])
            .arg("-o")
            .arg(&program)
            .arg(source);
        let output = command.args(flags).output().expect("a C compiler, as building Rust needs one");
        match output.status.success() {
            true => Ok(program),
            false => Err(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr))),
        }
    }
}

/// A command without any of our variables in its environment.
pub fn plain(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).env_remove("LD_PRELOAD");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARRYLINE_") {
            command.env_remove(name);
        }
    }
    command
}

/// A command with the interposer and these variables.
pub fn interposed(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = plain(program, arguments);
    command.env("LD_PRELOAD", interposer()).envs(variables.iter().copied());
    command
}

pub fn run(mut command: Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs a command, and expects success and this output.
pub fn succeeds(command: Command, expected: &str) {
    let what = format!("{command:?}");
    let output = run(command);
    let (out, err) = texts(&output);
    assert!(output.status.success() && out == expected, "{what}: {}\n{out}{err}", output.status);
}

pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The path of a program as found by the shell; otherwise prints a remark.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("remark: {name} is not installed; tests that need it are skipped");
    }
    found
}

/// The settings under which programs are run: the default and the most different ones.
pub const SETTINGS: &[&[(&str, &str)]] = &[
    &[],
    &[("CARRYLINE_MASK", "avx2")],
    &[("CARRYLINE_FORCE_ZERO", "rep_stosb"), ("CARRYLINE_FORCE_COPY", "rep_movsb")],
];
