//! Every example in the help texts and in the README runs as it stands, but for a smaller budget.

mod support;

use std::process::Command;
use support::{Place, RIGHT_SUM, capture, texts};

/// The commands that a help text shows, without the remarks beside them.
fn examples_in(help: &str) -> Vec<String> {
    let from = help.split("Examples:").nth(1).unwrap_or_default();
    let lines = from.lines().map(str::trim).filter(|line| line.starts_with("carryline"));
    lines.map(|line| line.split("   ").next().unwrap_or(line).to_owned()).collect()
}

/// The commands that the README shows in its shell blocks, continued lines joined and comments cut off.
fn examples_in_readme() -> Vec<String> {
    let readme = include_str!("../../../README.md");
    let mut commands = Vec::new();
    for block in readme.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default().replace("\\\n", " ");
        for line in block.lines() {
            let command = line.split(" #").next().unwrap_or_default().trim();
            let command = command.strip_prefix("cargo run --release --").unwrap_or(command).trim();
            match command.strip_prefix("cargo ") {
                // Without arguments it is the tour; the tests themselves are running already.
                Some("run --release") => commands.push("carryline".to_owned()),
                Some(_) => {}
                None if command.is_empty() => {}
                None if command.starts_with("carryline") => commands.push(command.to_owned()),
                None => commands.push(format!("carryline {command}")),
            }
        }
    }
    commands
}

/// Options that make an example quick without changing what it shows.
fn shorter(command: &str) -> &'static str {
    match command.split_whitespace().nth(1) {
        _ if command.contains('>') || command.contains(" -- ") || command.contains("--list") => "",
        Some("watch") => "--budget 5s",
        Some("run" | "measure") => "--budget 1s --replicates 1",
        Some("reproduce") => "--budget 2s",
        Some("critical") if !command.contains("--no-measure") => "--budget 1s --replicates 1",
        Some("inlining") => "--budget 1s --flags -O2",
        Some("selftest") => "--runs 1 --pairs 5 --budget 1s",
        _ => "",
    }
}

/// Runs commands in a place that has what they name.
fn run_all(commands: &[String]) {
    let place = Place::new();
    place.write("traffic.pcap", &capture());
    place.write("main.c", b"int main(void) { return 0; }\n");
    // `real` looks for it where cargo puts it.
    #[cfg(target_os = "linux")]
    xtask::preload().expect("the interposer can be built");
    place.shared_object("mine", RIGHT_SUM);
    for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions", "bin"] {
        std::fs::create_dir_all(place.file(folder)).expect("a folder");
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_carryline"), place.file("bin/carryline")).expect("a link");
    let path = format!("{}:{}", place.file("bin").display(), std::env::var("PATH").unwrap_or_default());
    // Something for `history --show` to show, in both stores that examples name.
    for _ in 0..3 {
        place.expect(&support::short(&["measure", "--variants", "zero/sse2"]), 0);
    }
    for command in commands {
        let line = format!("{command} {}", shorter(command));
        let output = Command::new("sh")
            .args(["-c", &line])
            .current_dir(place.path())
            .env("PATH", &path)
            .env("HOME", place.path())
            .env("XDG_DATA_HOME", place.file("data"))
            .env("XDG_CACHE_HOME", place.file("cache"))
            .output()
            .expect("a shell");
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{line}\n--- out\n{out}\n--- err\n{err}");
        assert!(!out.is_empty() || command.contains('>'), "{line} prints nothing");
    }
}

#[test]
fn the_examples_of_every_help_run() {
    let place = Place::new();
    let (top, _) = place.expect(&["--help"], 0);
    // The tour is the README's first command.
    let mut commands: Vec<String> =
        examples_in(&top).into_iter().filter(|command| command != "carryline").collect();
    for sub in [
        "run",
        "list",
        "machine",
        "verify",
        "measure",
        "watch",
        "reproduce",
        "real",
        "critical",
        "inlining",
        "history",
        "rerun",
        "explain",
        "selftest",
        "completions",
    ] {
        let (help, _) = place.expect(&[sub, "--help"], 0);
        let found = examples_in(&help);
        assert!(found.len() >= 3, "{sub}: {found:?}");
        commands.extend(found);
    }
    run_all(&commands);
}

#[test]
fn the_commands_of_the_readme_run() {
    let commands = examples_in_readme();
    assert!(commands.len() >= 12, "{commands:?}");
    assert!(commands.contains(&"carryline".to_owned()), "the tour: {commands:?}");
    run_all(&commands);
}
