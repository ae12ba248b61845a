//! Lists and plans on a terminal of 80 columns; commands of the history that can be pasted.

use crate::support::pty::Pty;
use crate::support::{Place, short};
use std::process::Command;
use std::time::Duration;

/// What a command that has ended printed, once the terminal has handed on all of it.
fn all_of(terminal: &Pty) -> String {
    let mut printed = terminal.printed();
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let now = terminal.printed();
        if now == printed && !now.is_empty() {
            return now;
        }
        printed = now;
    }
}

#[test]
fn lists_and_plans_fit_into_80_columns() {
    let place = Place::new();
    place.expect(&short(&["measure", "--variants", "checksum/avx2", "--label", "a b"]), 0);
    let lists: [&[&str]; 9] = [
        &["list"],
        &["history"],
        &["schema"],
        &["measure", "--plan"],
        &["machine"],
        &["critical", "zero/sse2", "copy/sse2", "--no-measure", "--no-opinion", "--quiet"],
        &["explain"],
        &["explain", "W01", "floor", "kernel"],
        &["audit", "carryline", "pnet_packet", "--quiet"],
    ];
    for arguments in lists {
        let terminal = Pty::new();
        let mut child = terminal.start(&mut place.command(arguments));
        assert_eq!(terminal.status(&mut child), Some(if arguments[0] == "audit" { 3 } else { 0 }));
        let printed = all_of(&terminal);
        let mut plain = String::new();
        let mut rest = printed.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            plain.push_str(before);
            rest = after.split_once('m').map_or("", |(_, after)| after);
        }
        plain.push_str(rest);
        // A word alone in its line, such as a path, cannot be broken.
        let is_wide = |line: &&str| line.chars().count() > 80 && line.trim().contains(' ');
        let wide: Vec<&str> = plain.lines().map(str::trim_end).filter(is_wide).collect();
        assert!(wide.is_empty() && plain.lines().count() > 2, "{arguments:?}: {wide:#?}");
    }
}

#[test]
fn the_history_shows_labels_and_commands_that_can_be_pasted() {
    let place = Place::new();
    place.expect(&short(&["measure", "--variants", "checksum/avx2*", "--label", "it's a test"]), 0);
    let (out, _) = place.expect(&["history"], 0);
    assert!(out.contains("label: it's a test"), "{out}");
    let (_, command) = out.split_once("     carryline ").expect("a command");
    let script = format!("printf '%s\\n' {command}");
    let words = Command::new("sh").args(["-c", &script]).output().expect("a shell").stdout;
    let words = String::from_utf8_lossy(&words);
    assert!(words.contains("\nchecksum/avx2*\n") && words.contains("\nit's a test\n"), "{words}");
    let run = &place.json(&["history"])["runs"][0];
    assert!(run["command"].as_str().is_some_and(|command| command.contains(r"'it'\''s a test'")), "{run}");
}
