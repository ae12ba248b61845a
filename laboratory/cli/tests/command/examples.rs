//! Every example in the help texts, in the README and in the pages of docs runs as it stands, but for a smaller budget.

use crate::reproduce::ALL;
use crate::support::{Place, RIGHT_SUM, SHORT_VERIFICATION, SMALL_CACHES, capture, texts, three_at_a_time};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The commands that a help text shows, without the remarks beside them.
fn examples_in(help: &str) -> Vec<String> {
    let from = help.split("Examples:").nth(1).unwrap_or_default();
    let lines = from.lines().map(str::trim).filter(|line| line.starts_with("carryline"));
    lines.map(|line| line.split("   ").next().unwrap_or(line).to_owned()).collect()
}

/// Pages whose commands are not run here: verification's own tests build and verify the plug-ins; the others need sources of
/// other projects.
const ELSEWHERE: [&str; 2] = ["plugins.md", "other-libraries.md"];

/// The README and the pages of docs.
fn pages() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of_docs =
        std::fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("an entry").path());
    let is_page = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.ends_with(".md") && !ELSEWHERE.contains(&name)
    };
    let paths = of_docs.filter(is_page).chain([root.join("README.md")]);
    paths.map(|path| std::fs::read_to_string(path).expect("a page")).collect()
}

/// The commands of ours that a page shows in its shell blocks, continued lines joined and comments cut off.
fn examples_in_page(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap_or_default());
    let lines =
        blocks.flat_map(|block| block.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>());
    let ours = lines.filter_map(|line| {
        let command = line.split(" #").next().unwrap_or_default().trim();
        match command.strip_prefix("cargo run --release") {
            // Without arguments it is the tour.
            Some(arguments) => {
                Some(format!("carryline{}", arguments.strip_prefix(" --").unwrap_or(arguments)))
            }
            None => command.starts_with("carryline").then(|| command.to_owned()),
        }
    });
    ours.collect()
}

/// Options that make an example quick without changing what it shows; with `few`, of few variants.
fn shorter(command: &str, few: bool) -> String {
    let few = if few && !command.contains("--variants") { " --variants carryline" } else { "" };
    match command.split_whitespace().nth(1) {
        _ if command.contains('>') || command.contains(" -- ") || command.contains("--list") => String::new(),
        Some("verify") if command == "carryline verify" => few.replace(" --variants", ""),
        Some("audit") if command == "carryline audit" => "carryline".to_owned(),
        Some("watch") => format!("--rounds 1{few}"),
        // Of the families, copy_checksum has the fewest large buffers; a plug-in has one of its own.
        Some("run") if !few.is_empty() && !command.contains("--family") => {
            let family = if command.contains(":checksum") { "checksum" } else { "copy_checksum" };
            format!("--family {family} --budget 300ms --replicates 1{few}")
        }
        Some("run" | "measure") => format!("--budget 300ms --replicates 1{few}"),
        Some("tune") if command.contains("--check") => "--budget 1s".to_owned(),
        Some("tune") if command.contains("--libc") => "--family zero --budget 20s".to_owned(),
        Some("tune") => "--family copy_checksum --budget 5s".to_owned(),
        Some("reproduce") => "--budget 300ms".to_owned(),
        Some("critical") if !command.contains("--no-measure") => "--budget 300ms --replicates 1".to_owned(),
        Some("inlining") if command.contains("--flags") => "--budget 300ms --limit 500".to_owned(),
        // Not optimised, the probes compile fastest.
        Some("inlining") => "--budget 300ms --flags -O0 --limit 500".to_owned(),
        Some("gate") => "--budget 1s".to_owned(),
        Some("selftest") => "--runs 1 --pairs 5 --budget 300ms".to_owned(),
        _ => String::new(),
    }
}

/// The command without its `--limit N`, for which [`shorter`] has another: above a limit near the largest size, `inlining` has
/// few loops to compile.
fn without_limit(command: &str) -> String {
    let mut words = command.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--limit" => drop(words.next()),
            word => kept.push(word),
        }
    }
    kept.join(" ")
}

/// Runs commands in a place that has what they name, several at a time: nothing here depends on what they measure.
fn run_all(commands: &[String], few: bool) {
    let place = Place::new();
    for name in ["traffic.pcap", "monday.pcap", "tuesday.pcap"] {
        place.write(name, &capture());
    }
    let unmeasured = concat!(env!("CARGO_MANIFEST_DIR"), "/../../library/carryline/profiles/unmeasured.toml");
    place.write("tuning.toml", &std::fs::read(unmeasured).expect("a profile"));
    place.write("main.c", b"int main(void) { return 0; }\n");
    // `real` looks for the interposer where cargo puts it; a page of docs names the place where `cargo xtask install` puts it.
    #[cfg(target_os = "linux")]
    {
        let built = xtask::preload().expect("the interposer can be built");
        std::fs::create_dir_all(place.file(".local/lib/carryline")).expect("a folder");
        let installed = place.file(".local/lib/carryline/libcarryline-preload.so");
        std::os::unix::fs::symlink(built, installed).expect("a link");
    }
    place.shared_object("mine", RIGHT_SUM);
    for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions", "bin"] {
        std::fs::create_dir_all(place.file(folder)).expect("a folder");
    }
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_carryline"), place.file("bin/carryline")).expect("a link");
    let path = format!("{}:{}", place.file("bin").display(), std::env::var("PATH").unwrap_or_default());
    // For `history --show` and `rerun`.
    for _ in 0..3 {
        let arguments = ["measure", "--variants", "zero/sse2", "--budget", "300ms", "--replicates", "1"];
        place.expect(&arguments, 0);
    }
    // For `--db results.sqlite`, in whatever order the examples run.
    let stored = ["measure", "--variants", "zero/sse2", "--budget", "300ms", "--db", "results.sqlite"];
    place.expect(&stored, 0);
    // For `compare` and `gate`.
    place.expect(&["export", "1", "--to", "json", "--raw", "--output", "base.json"], 0);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_carryline"), place.file("old")).expect("a link");
    three_at_a_time(commands, |command| {
        let line = format!("{} {}", without_limit(command), shorter(command, few));
        let mut shell = Command::new("sh");
        if few {
            shell.env(SHORT_VERIFICATION, "1").env(SMALL_CACHES, "1");
        }
        let output = shell
            .args(["-c", &line])
            .current_dir(place.path())
            .env("PATH", &path)
            .env("HOME", place.path())
            .env("XDG_DATA_HOME", place.file("data"))
            .env("XDG_CACHE_HOME", place.file("cache"))
            .output()
            .expect("a shell");
        let (out, err) = texts(&output);
        // A machine that is too noisy to tell is an answer of some, as is of `gate` that it is slower than before.
        let answer = match output.status.code() {
            Some(5) => ["tune", "gate", "selftest"]
                .iter()
                .any(|sub| command.starts_with(&format!("carryline {sub}"))),
            Some(4) => command.starts_with("carryline gate"),
            // The program that it names does not exist here.
            Some(2) => command.starts_with("carryline audit --command"),
            _ => false,
        };
        assert!(
            answer || output.status.success(),
            "{line}: {}\n--- out\n{out}\n--- err\n{err}",
            output.status
        );
        assert!(!out.is_empty() || command.contains('>'), "{line} prints nothing");
    });
}

/// The examples of every help text.
fn examples_in_helps() -> Vec<String> {
    let place = Place::new();
    let (top, _) = place.expect(&["--help"], 0);
    let mut commands = examples_in(&top);
    for sub in [
        "run",
        "list",
        "machine",
        "verify",
        "audit",
        "measure",
        "watch",
        "reproduce",
        "tune",
        "real",
        "critical",
        "inlining",
        "audit",
        "audit capture",
        "history",
        "rerun",
        "compare",
        "gate",
        "export",
        "schema",
        "explain",
        "selftest",
        "completions",
        "man",
    ] {
        let words: Vec<&str> = sub.split(' ').chain(["--help"]).collect();
        let (help, _) = place.expect(&words, 0);
        let found = examples_in(&help);
        assert!(found.len() >= 3, "{sub}: {found:?}");
        commands.extend(found);
    }
    commands
}

/// Every command that is documented, once. What takes longest, the tour and verification of everything, comes first.
fn documented() -> Vec<String> {
    let pages: Vec<String> = pages().iter().flat_map(|page| examples_in_page(page)).collect();
    assert!(pages.len() >= 30, "{pages:?}");
    assert!(pages.contains(&"carryline".to_owned()), "the tour: {pages:?}");
    let mut commands: Vec<String> =
        pages.into_iter().chain(examples_in_helps()).collect::<BTreeSet<_>>().into_iter().collect();
    commands.sort_by_key(|command| !["carryline", "carryline verify"].contains(&command.as_str()));
    commands
}

#[test]
fn every_documented_command_runs() {
    let mut commands = documented();
    let all = commands.iter().position(|command| command == ALL).expect("it is documented");
    // The tests of `reproduce` run it.
    commands.remove(all);
    // Those of `tune` do with smaller searches what its longer examples do.
    commands.retain(|command| !command.starts_with("carryline tune") || command.contains("--write"));
    run_all(&commands, true);
}

mod deep {
    #[test]
    #[ignore = "deep: every documented command with every variant"]
    fn every_documented_command_runs_with_all_variants() {
        super::run_all(&super::documented(), false);
    }
}
