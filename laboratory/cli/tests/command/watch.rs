//! `carryline watch`: plain lines without a terminal, a screen where there is one, and the terminal given back.
#![cfg(target_os = "linux")]

use crate::support::pty::{ENTER, LEAVE, Pty};
use crate::support::{Place, texts};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const TWO: [&str; 5] = ["watch", "--family", "checksum", "--variants", "adc_1_stream,words16_c"];

fn two<'a>(more: &[&'a str]) -> Vec<&'a str> {
    TWO.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn redirected_it_prints_blocks_and_keeps_the_run() {
    let place = Place::new();
    let (out, err) = place.expect(&two(&["--rounds", "3", "--seed", "5"]), 0);
    assert!(!out.contains('\u{1b}'), "{out}");
    for word in ["checksum of 40", "chained at 0", "fenced at 1", "adc_1_stream", "words16_c", "(noise, A/A)"]
    {
        assert!(out.contains(word), "no {word} in: {out}");
    }
    // The last block has them all.
    let figures = out.lines().rev().find(|line| line.starts_with("words16_c")).expect("a row");
    // Columns are two spaces apart; thousands within a figure are one.
    let columns = figures.split("  ").filter(|column| !column.trim().is_empty());
    assert_eq!(columns.count(), 7, "{figures}");
    assert!(!figures.contains(" -"), "{figures}");
    assert!(err.contains("saved as run 1"), "{err}");
    let (out, _) = place.expect(&["history"], 0);
    assert!(out.contains("measure") && out.contains("complete"), "{out}");
    let (out, _) = place.expect(&["history", "--show", "1", "--full"], 0);
    assert!(out.contains("words16_c"), "{out}");
}

#[test]
fn json_is_the_run_alone() {
    let run = Place::new().json(&two(&["--rounds", "1", "--sizes", "1500", "--offsets", "3", "--no-save"]));
    let situations: Vec<&str> = run["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .filter_map(|cell| cell["situation"].as_str())
        .collect();
    // Three columns of two variants.
    assert_eq!(situations.len(), 6, "{situations:?}");
    assert!(situations.iter().all(|name| name.starts_with("checksum 1500 offset 3 hot")), "{situations:?}");
    assert!(run["run_id"].is_null());
}

#[test]
fn copies_have_no_fenced_column_and_a_plan_can_be_seen() {
    let (out, _) = Place::new().expect(&["watch", "--family", "copy", "--sizes", "4K", "--plan"], 0);
    assert!(out.contains("copy 4K hot chained") && out.contains("copy 4K offset 1 hot independent"), "{out}");
    assert!(!out.contains("fenced"), "{out}");
}

#[test]
fn bad_input_is_an_error_that_names_the_word() {
    let place = Place::new();
    for (arguments, wanted) in [
        (&["watch", "--family", "chksum"][..], &["'chksum'", "'checksum'"][..]),
        (&["watch", "--variants", "carrylin"], &["'carrylin'", "'carryline'"]),
        (&["watch", "--sizes", "4Q"], &["4Q"]),
        (&["watch", "--sizes", "100000G"], &["MiB", "available"]),
        (&["watch", "--offsets", "0,1,2"], &["0,1,2", "two"]),
        (&["watch", "--offsets", "5000"], &["'5000'"]),
        (&["watch", "--cache", "cold:clflsh"], &["'cold:clflsh'", "'cold:clflush'"]),
        (&["watch", "--cache", "cold:evict:src", "--family", "zero"], &["cold:evict:src", "zero"]),
        (&["watch", "--half-life", "soon"], &["soon"]),
        (&["watch", "--rounds", "0"], &["'0'"]),
        (&["watch", "--unit", "furlongs"], &["'furlongs'", "GB/s"]),
        (&["watch", "--cpu", "9999"], &["9999"]),
        (&["watch", "--plugin", "nowhere.so"], &["nowhere.so"]),
    ] {
        let (out, err) = place.expect(arguments, 2);
        assert_eq!(out, "", "{arguments:?} prints a result");
        for word in wanted {
            assert!(err.contains(word), "{arguments:?}: no {word} in: {err}");
        }
    }
    place.write("notes.txt", b"no database");
    let (_, err) = place.expect(&two(&["--db", "notes.txt"]), 2);
    assert!(err.contains("notes.txt"), "{err}");
}

#[test]
fn a_signal_ends_it_and_the_run_is_stored_as_interrupted() {
    use std::io::{BufRead, BufReader, Read};
    let place = Place::new();
    let mut child =
        place.command(&two(&[])).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with("words16_c") {
        line.clear();
        assert!(lines.read_line(&mut line).expect("a line") > 0, "it has ended by itself");
    }
    signal(&child, libc::SIGINT);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("the last block");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", texts(&output).1);
    let (out, _) = place.expect(&["history"], 0);
    assert!(out.contains("interrupted"), "{out}");
}

fn signal(child: &Child, signal: i32) {
    // SAFETY: kill has no memory effects; the child has not been collected.
    unsafe { libc::kill(child.id() as i32, signal) };
}

/// The command in a terminal, once its first figures are there.
fn watching(place: &Place) -> (Pty, Child) {
    let pty = Pty::new();
    // It ends even if the test fails.
    let child = pty.start(&mut place.command(&two(&["--budget", "10m"])));
    pty.wait_for("words16_c", 0);
    pty.wait_on_screen("offset 1");
    assert!(pty.printed().contains(ENTER));
    (pty, child)
}

#[test]
fn keys_change_the_screen_and_q_gives_the_terminal_back() {
    let place = Place::new();
    let before = Pty::new().settings();
    let (mut pty, mut child) = watching(&place);
    assert_ne!(pty.settings(), before, "raw mode");
    for (key, text) in [
        ("p", "paused"),
        ("p", "now:"),
        ("h", "Keys"),
        ("h", "checksum of 40"),
        ("u", "cycles per"),
        ("z", "checksum of 64"),
        ("c", "64, cold"),
        ("t", "chained"),
        ("o", "at 13"),
    ] {
        pty.keys(key);
        pty.wait_on_screen(text);
    }
    pty.keys("q");
    assert_eq!(pty.status(&mut child), Some(0), "{}", pty.printed());
    assert_eq!(pty.settings(), before);
    // What it printed last may still be on its way through the terminal.
    pty.wait_for(LEAVE, 0);
    let left = pty.printed().find(LEAVE).expect("the screen is left");
    pty.wait_for("\u{1b}[?25h", left);
}

#[test]
fn control_c_and_signals_give_the_terminal_back() {
    for stop in ["key", "signal"] {
        let place = Place::new();
        let before = Pty::new().settings();
        let (mut pty, mut child) = watching(&place);
        match stop {
            "key" => pty.keys("\u{3}"),
            _ => signal(&child, libc::SIGTERM),
        }
        assert_eq!(pty.status(&mut child), Some(130), "{stop}: {}", pty.printed());
        assert_eq!(pty.settings(), before, "{stop}");
        pty.wait_for(LEAVE, 0);
        let (out, _) = place.expect(&["history"], 0);
        assert!(out.contains("interrupted"), "{stop}: {out}");
    }
}

/// How many replicates the screen says there are: `0 replicates finished`, `1 replicate finished`.
fn replicates(screen: &str) -> Option<u32> {
    let (before, _) = screen.split_once(" replicate")?;
    before.rsplit(' ').next()?.parse().ok()
}

#[test]
fn a_worker_that_is_killed_costs_a_row_at_most() {
    let place = Place::new();
    let before = Pty::new().settings();
    let (mut pty, mut child) = watching(&place);
    let begin = Instant::now();
    let children = format!("/proc/{0}/task", child.id());
    // Whichever thread has started it.
    let worker = loop {
        let threads = std::fs::read_dir(&children).expect("its threads");
        let texts = threads
            .flatten()
            .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
        let found =
            texts.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).next();
        if let Some(pid) = found.and_then(|pid| pid.parse::<i32>().ok()) {
            break pid;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no worker");
        std::thread::sleep(Duration::from_millis(5));
    };
    // SAFETY: kill has no memory effects; a child of the command that this test has started.
    unsafe { libc::kill(worker, libc::SIGKILL) };
    // It goes on: later workers bring replicates that are whole.
    let before_the_kill = pty.wait_until("the number of replicates", replicates);
    pty.wait_until("one more replicate", |screen| replicates(screen).filter(|now| *now > before_the_kill));
    assert!(child.try_wait().expect("a child").is_none(), "{}", pty.printed());
    pty.keys("q");
    // 3 where the kill fell into a variant's call.
    assert!(matches!(pty.status(&mut child), Some(0 | 3)), "{}", pty.printed());
    assert_eq!(pty.settings(), before);
}
