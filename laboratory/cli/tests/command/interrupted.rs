//! Ctrl-C: every command says that its results are partial, and derives nothing from them.

use crate::support::{Place, short, texts, three_at_a_time};
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// True if a thread of a process has a child.
fn has_a_child(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut children =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    children.any(|children| !children.trim().is_empty())
}

/// Runs a command, and interrupts it as soon as it has a worker.
fn interrupted(place: &Place, arguments: &[&str]) -> Output {
    let mut command = place.command(arguments);
    // Only the command gets the signal, as from another terminal; it stops its workers itself.
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().expect("the command starts");
    let begin = Instant::now();
    while !has_a_child(child.id()) && begin.elapsed() < Duration::from_secs(60) {
        assert!(child.try_wait().expect("a child").is_none(), "{arguments:?} ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: a signal to a child of this test that has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    child.wait_with_output().expect("it ends")
}

#[test]
fn every_command_says_that_its_results_are_partial() {
    let place = Place::new();
    place.expect(&short(&["measure", "--variants", "checksum/avx2"]), 0);
    let commands: [&[&str]; 10] = [
        &["measure", "--variants", "zero/avx2,zero/sse2", "--budget", "60s", "--replicates", "40"],
        &["run", "--budget", "60s"],
        &["verify"],
        &["selftest", "--runs", "1"],
        &["gate", "1", "--budget", "60s"],
        &["tune", "--family", "zero", "--budget", "5m"],
        &["audit"],
        &["rerun", "1"],
        &["critical", "adc_1_stream", "--budget", "60s"],
        &["watch", "--family", "checksum"],
    ];
    three_at_a_time(&commands, |arguments| {
        let output = interrupted(&place, arguments);
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(130), "{arguments:?}\n{out}\n{err}");
        assert!(out.contains("Interrupted: partial results."), "{arguments:?}\n{out}\n{err}");
        for word in ["no time was left", "timed out", "keep ", "no failures", "0 of 0", "undecided", " same"]
        {
            assert!(!out.contains(word), "{arguments:?}: {word} in\n{out}");
        }
    });
}

#[test]
fn json_is_valid_and_standard_error_says_it() {
    let place = Place::new();
    for arguments in [&["verify", "--format", "json"][..], &["selftest", "--format", "json"]] {
        let output = interrupted(&place, arguments);
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(130), "{arguments:?}\n{out}\n{err}");
        let object = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
        crate::support::assert_described(&object);
        assert!(err.contains("Interrupted: partial results."), "{arguments:?}\n{err}");
    }
}
