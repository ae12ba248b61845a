//! The command line: refused arguments, with the message and the exit status.

use std::process::{Command, Output};

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().expect("cargo has built it")
}

#[test]
fn invalid_arguments_exit_with_2_and_name_the_fault() {
    for (arguments, words) in [
        (&[][..], "no job given"),
        (&["remove"], "`remove` is not a command of xtask"),
        (&["install"], "--prefix DIR"),
        (&["install", "--prefix"], "--prefix needs a folder"),
        (&["install", "--prefix", "here"], "--prefix here: not an absolute path"),
        (&["install", "--prefix=/x", "--destdir=y"], "--destdir y: not an absolute path"),
        (&["package"], "package needs a folder"),
        (&["package", "--native"], "`--native` is not an argument of package"),
        (&["site", "a", "b"], "`b` is not an argument of site"),
        (&["picture"], "picture needs a file"),
        (&["vendor-c"], "vendor-c needs a folder"),
        (&["vendor-c", "a", "b"], "`b` is not an argument of vendor-c"),
        (&["vendor-c", "--prefx", "a"], "`--prefx` is not an argument of vendor-c"),
        (&["vendor-c", "a", "--prefix"], "--prefix needs the beginning of a name"),
        (&["vendor-c", "a", "--prefix", "9-"], "--prefix 9-: not the beginning of a C name"),
        (&["python"], "python needs a job: wheel or test"),
        (&["python", "tests"], "`tests` is not a job of python: wheel or test"),
        (&["python", "wheel"], "python wheel needs a folder"),
        (&["python", "test", "x"], "`x` is not an argument of python"),
        (&["adopt"], "adopt needs a crate: smoltcp, etherparse"),
        (&["adopt", "smoltpc"], "`smoltpc` is not a crate that adopt knows: smoltcp"),
        (&["adopt", "smoltcp", "x"], "`x` is not an argument of adopt"),
        (&["deep", "--seconds"], "--seconds needs a number"),
        (&["deep", "--seconds", "0"], "--seconds 0: not a number"),
        (&["deep", "--minutes=2"], "`--minutes=2` is not an argument of deep"),
        (&["install", "/usr/local"], "`/usr/local` is not an argument"),
    ] {
        let output = xtask(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(
            message.contains(words) && message.contains("cargo xtask --help"),
            "{arguments:?}: {message}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn help_is_printed() {
    for arguments in [&["--help"][..], &["help"], &["install", "--help"], &["vendor-c", "--help"]] {
        let output = xtask(arguments);
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), xtask::HELP);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn failures_exit_with_1_and_name_the_path() {
    let not_a_folder = std::env::current_exe().expect("a test has a path");
    let not_a_folder = not_a_folder.to_str().expect("cargo's names are ASCII here");
    for prefix in [&format!("{not_a_folder}/prefix"), "/a/$prefix"] {
        let output = xtask(&["install", "--prefix", prefix]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(prefix), "{message}");
    }
    let folder = format!("{not_a_folder}/vendored");
    let output = xtask(&["vendor-c", &folder]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(&folder), "{message}");
}
