//! Tests other people's crates with our sum in place of theirs: runs each crate's own tests before and after,
//! and times its checksum.
//!
//! The sources are those fetched by cargo, in the version of the workspace's `Cargo.lock`. They are copied,
//! and the copy is edited as listed in [`crates`].

mod crates;
mod edit;
mod suite;

pub use crates::Adopted;

use crate::install::{naming, workspace};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fmt, fs, io};
use suite::Tests;

/// The names of the crates, for messages.
pub fn adoptable() -> Vec<&'static str> {
    crates::ALL.iter().map(|adopted| adopted.name).collect()
}

/// The adoptable crate of this name.
pub(crate) fn find(name: &str) -> Option<&'static Adopted> {
    crates::ALL.iter().find(|adopted| adopted.name == name)
}

/// The lengths at which the checksum is timed.
const SIZES: [usize; 3] = [40, 1500, 65_536];

/// How often each of the two timing programs runs, in alternation.
const TURNS: usize = 7;

/// A crate with its own sum and with ours.
#[derive(Clone, Debug)]
pub struct Comparison {
    name: &'static str,
    version: String,
    /// The edited files and functions.
    places: Vec<String>,
    before: Side,
    after: Side,
    /// The edited source, which cargo can use in place of the crate.
    source: PathBuf,
}

#[derive(Clone, Debug)]
struct Side {
    tests: Tests,
    /// Median nanoseconds per call, for each of [`SIZES`].
    nanoseconds: [f64; SIZES.len()],
}

impl Comparison {
    /// Whether every test that passes with the crate's sum passes with ours.
    pub fn holds(&self) -> bool {
        self.before.tests.passed.is_subset(&self.after.tests.passed)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (&self.before, &self.after);
        writeln!(f, "{} {}, edited: {}", self.name, self.version, self.places.join(", "))?;
        writeln!(f, "{:<20}{:>14}{:>14}", "", "its own", "carryline's")?;
        let counts = |tests: &Tests| [tests.passed.len(), tests.failed.len(), tests.ignored.len()];
        let rows = ["tests passed", "tests failed", "tests ignored"];
        for (row, (one, other)) in rows.iter().zip(counts(&before.tests).iter().zip(counts(&after.tests))) {
            writeln!(f, "{row:<20}{one:>14}{other:>14}")?;
        }
        for (size, (one, other)) in SIZES.iter().zip(before.nanoseconds.iter().zip(after.nanoseconds)) {
            let row = format!("ns for {size} bytes");
            writeln!(f, "{row:<20}{one:>14.1}{other:>14.1}")?;
        }
        for (what, tests) in [("unchanged", &before.tests), ("with carryline's sum", &after.tests)] {
            for name in &tests.failed {
                writeln!(f, "failed {what}: {name}")?;
            }
        }
        for name in before.tests.passed.difference(&after.tests.passed) {
            writeln!(f, "no longer passes: {name}")?;
        }
        write!(f, "edited source: {}", self.source.display())
    }
}

/// Runs the crate's own tests with its sum and with ours, and times both.
///
/// # Errors
/// If the source cannot be fetched, lacks a function to edit, or does not build; cargo has printed the
/// reason.
pub fn adopt(adopted: &Adopted) -> io::Result<Comparison> {
    let (version, source) = fetched(adopted.name)?;
    let folder = crate::target_folder()?.join("adopt");
    let place = |side: &str| folder.join(format!("{}-{version}-{side}", adopted.name));
    let (before, after) = (place("before"), place("after"));
    for copy in [&before, &after] {
        match fs::remove_dir_all(copy) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(naming(copy, &error)),
            _ => copy_folder(&source, copy)?,
        }
        fs::create_dir_all(copy.join("examples"))?;
        write(&copy.join(TIMING_FILE), &timing_program(adopted))?;
        // The copy is its own workspace. Published manifests list their examples, so this one is added.
        let tables = format!("\n[[example]]\nname = \"{TIMING}\"\npath = \"{TIMING_FILE}\"\n\n[workspace]\n");
        append(&copy.join("Cargo.toml"), &tables)?;
    }
    let mut places = Vec::new();
    for edit in adopted.edits {
        let file = after.join(edit.file);
        let text = fs::read_to_string(&file).map_err(|error| naming(&file, &error))?;
        let edited = edit::with_body(&text, edit.function, edit.body)
            .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
        write(&file, &edited)?;
        places.push(format!("{} (`{}`)", edit.file, edit.name()));
    }
    let library = workspace()?.join("library/carryline");
    let dependency = format!("\n[dependencies.carryline]\npath = {library:?}\ndefault-features = false\n");
    append(&after.join("Cargo.toml"), &dependency)?;

    let target = folder.join("target");
    let mut sides = Vec::new();
    for side in [&before, &after] {
        let tests = suite::run(|| cargo(side, &target), adopted.test_arguments)?;
        succeeds(cargo(side, &target).args(["build", "--quiet", "--release", "--example", TIMING]))?;
        // Both copies build the same path.
        let program = folder.join(format!("{}-timing", side.file_name().unwrap_or_default().display()));
        fs::copy(target.join("release/examples").join(TIMING), &program)?;
        sides.push((tests, program));
    }
    let mut samples = vec![[const { Vec::new() }; SIZES.len()]; 2];
    for _ in 0..TURNS {
        for ((_, program), samples) in sides.iter().zip(&mut samples) {
            for (figure, samples) in timed(program)?.into_iter().zip(samples) {
                samples.push(figure);
            }
        }
    }
    let mut sides = sides.into_iter().zip(samples).map(|((tests, _), samples)| Side {
        tests,
        nanoseconds: samples.map(|mut samples| {
            samples.sort_by(f64::total_cmp);
            samples[samples.len() / 2]
        }),
    });
    let (Some(first), Some(second)) = (sides.next(), sides.next()) else { unreachable!("there are two") };
    Ok(Comparison { name: adopted.name, version, places, before: first, after: second, source: after })
}

/// The version and the folder of a crate in the workspace's lock file, fetched if necessary.
fn fetched(name: &str) -> io::Result<(String, PathBuf)> {
    let mut metadata = crate::cargo(&workspace()?);
    metadata.args(["metadata", "--format-version=1", "--all-features", "--locked"]);
    let output = metadata.output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("cargo metadata: {}", output.status)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut found = packages.filter(|package| package["name"] == name && package["source"].is_string());
    let package = found.next().ok_or_else(|| io::Error::other(format!("Cargo.lock has no {name}")))?;
    let (version, manifest) = (package["version"].as_str(), package["manifest_path"].as_str());
    let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
    match (version, folder) {
        (Some(version), Some(folder)) => Ok((version.to_owned(), folder.to_owned())),
        _ => Err(io::Error::other(format!("cargo metadata: nothing about {name}"))),
    }
}

fn cargo(folder: &Path, target: &Path) -> Command {
    let mut command = crate::cargo(folder);
    command.env("CARGO_TARGET_DIR", target);
    // Like cargo for dependencies: warnings of a newer compiler are not errors, even if the crate denies
    // warnings.
    command.env("RUSTFLAGS", "--cap-lints=allow").env("CARGO_TERM_COLOR", "never");
    command
}

fn succeeds(command: &mut Command) -> io::Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cargo: {status}"))) }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text).map_err(|error| naming(path, &error))
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let before = fs::read_to_string(path).map_err(|error| naming(path, &error))?;
    write(path, &(before + text))
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to).map_err(|error| naming(to, &error))?;
    for entry in fs::read_dir(from).map_err(|error| naming(from, &error))? {
        let (entry, to) = (entry?, to);
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            // Copies only the content: the registry's files are read-only.
            let content = fs::read(entry.path()).map_err(|error| naming(&entry.path(), &error))?;
            fs::write(&to, content).map_err(|error| naming(&to, &error))?;
        }
    }
    Ok(())
}

/// The name of the timing example.
const TIMING: &str = "carryline_timing";
const TIMING_FILE: &str = "examples/carryline_timing.rs";

/// A program that prints, for each of [`SIZES`], a line with the nanoseconds per call: the median of its
/// rounds.
fn timing_program(adopted: &Adopted) -> String {
    let mut program = String::from("use std::hint::black_box;\nuse std::time::Instant;\n\n");
    let _ = writeln!(program, "fn checksum(data: &[u8]) -> u64 {{\n    {}\n}}", adopted.call);
    let _ = write!(
        program,
        "
fn main() {{
    for size in {SIZES:?} {{
        let data: Vec<u8> = (0..size).map(|at: usize| (at * 167 + at / 251) as u8).collect();
        let run = |calls: u32| {{
            let begin = Instant::now();
            for _ in 0..calls {{
                black_box(checksum(black_box(&data)));
            }}
            begin.elapsed().as_secs_f64() * 1e9
        }};
        let mut calls = 1;
        while run(calls) < 1e6 {{
            calls *= 2;
        }}
        let mut rounds: Vec<f64> = (0..15).map(|_| run(calls) / f64::from(calls)).collect();
        rounds.sort_by(f64::total_cmp);
        println!(\"{{}}\", rounds[rounds.len() / 2]);
    }}
}}
"
    );
    program
}

fn timed(program: &Path) -> io::Result<[f64; SIZES.len()]> {
    let output = Command::new(program).stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    let wrong = |_| io::Error::other(format!("{}: {}: {text}", program.display(), output.status));
    figures.try_into().map_err(wrong)
}
