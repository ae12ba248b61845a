//! Tests that every target passes on some inputs with every kernel, and that invalid arguments are reported.

use carryline::internals::dispatch::{Function, kernels};
use carryline_fuzz::TARGETS;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

fn fuzz(arguments: &[&str], force: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carryline-fuzz"));
    if let Some(kernel) = force {
        command.env("CARRYLINE_FORCE", kernel);
    }
    command.args(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_target_passes() {
    let output = fuzz(&["all", "--runs", "20000", "--quiet"], None);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    for target in TARGETS {
        let line = said.lines().find(|line| line.starts_with(target.name));
        assert!(line.is_some_and(|line| line.contains("no failures")), "{}: {said}", target.name);
    }
}

/// `sum_pieces` calls the kernel that the library chose.
#[test]
fn sums_in_pieces_are_right_with_every_kernel() {
    let names: BTreeSet<&str> = [Function::Checksum, Function::CopyAndSum]
        .into_iter()
        .flat_map(kernels)
        .filter(|(_, needs)| carryline::internals::cpu::features().contains(*needs))
        .map(|(name, _)| name)
        .collect();
    for name in names {
        let output = fuzz(&["sum_pieces", "--runs", "20000", "--seed", "5", "--quiet"], Some(name));
        // Another function's kernel of this name may need more features than the CPU has; then the message
        // says so.
        let error = text(&output.stderr);
        assert!(output.status.success() || error.contains("usable here:"), "{name}: {error}");
        assert!(!output.status.success() || text(&output.stdout).contains("20000 inputs"), "{name}");
    }
}

#[test]
fn every_target_file_is_listed() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    for (folder, besides) in [("src/targets", "mod"), ("../../fuzz/fuzz_targets", "")] {
        let files = std::fs::read_dir(here.join(folder)).expect("a folder of the repository");
        let stems = files.map(|file| file.expect("a file").path().with_extension(""));
        let found: BTreeSet<String> = stems
            .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
            .filter(|stem| stem != besides)
            .collect();
        assert_eq!(found, listed, "{folder}");
    }
}

#[test]
fn without_a_target_all_are_listed() {
    let output = fuzz(&[], None);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout).lines().count(), TARGETS.len());
}

#[test]
fn invalid_arguments_are_reported() {
    for (arguments, message) in [
        (&["sums"][..], "`sums` is not a target; known are partial, "),
        (&["all", "--seconds", "soon"], "`soon` is not a number of seconds"),
        (&["all", "--seconds", "-1"], "'-1'"),
        (&["all", "--runs", "1e99"], "`1e99` is not a whole number"),
        (&["all", "--input", "no-such-file"], "no-such-file"),
    ] {
        let output = fuzz(arguments, None);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

#[test]
fn an_input_is_read_from_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("crash-1");
    std::fs::write(&path, [0x70, 0x01, 0x02, 0xff, 0x10, 0x60, 0x07]).expect("a file of ours");
    let path = path.to_str().expect("a name in ASCII");
    let output = fuzz(&["all", "--input", path], None);
    assert!(output.status.success() && text(&output.stdout).ends_with("nothing wrong\n"), "{output:?}");
}

/// The input is reported even if a signal ends the process.
#[test]
fn a_crash_reports_its_input() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carryline-fuzz"));
    command.args(["update", "--seconds", "120", "--seed", "9"]).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("the command starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    // The first progress line: inputs are running.
    assert!(lines.any(|line| line.starts_with("update: ")));
    let killed = Command::new("kill").args(["-s", "SEGV", &child.id().to_string()]).status();
    assert!(killed.expect("a shell's kill").success());
    let words = lines.find(|line| line.starts_with("repeat it with: "));
    let status = child.wait().expect("our child");
    let number = words.as_deref().and_then(|words| {
        words.strip_prefix("repeat it with: carryline-fuzz update --seed 9 --runs 1 --first ")
    });
    assert!(number.is_some_and(|number| number.parse::<u64>().is_ok()), "{words:?}");
    assert!(status.signal().is_some(), "{status}");
}

/// Runs the examples of the help with shorter times.
#[test]
fn the_examples_in_the_help_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("crash-1a2b"), [1, 2, 3]).expect("a file of ours");
    let help = text(&fuzz(&["--help"], None).stdout);
    let examples = help.split("Examples:").nth(1).expect("examples").lines().map(str::trim);
    let examples: Vec<&str> = examples
        .filter(|line| line.starts_with("carryline-fuzz ") || line.starts_with("CARRYLINE_FORCE="))
        .map(|line| line.split("  ").next().unwrap_or(line))
        .collect();
    assert!(examples.len() >= 3, "{help}");
    for example in examples {
        let shorter = example.replace("--seconds 10", "--seconds 0.2").replace("1e6", "1e3");
        let command = shorter.replace("carryline-fuzz", env!("CARGO_BIN_EXE_carryline-fuzz"));
        let output = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{shorter}: {}", text(&output.stderr));
    }
}
