//! Every kernel of `tests/wrong_kernels`.

use crate::child::{Outcome, prove_in_child};
use crate::compile;
use carryline::internals::cpu::{Features, features};
use carryline_verification::Kind;
use carryline_verification::plugin::PluginSpec;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A kernel and what the line above it says.
struct Kernel {
    spec: PluginSpec,
    /// The ways in which it may be found wrong; empty if it is right.
    kinds: Vec<Kind>,
    /// The length of the smallest failing input.
    smallest: Option<u64>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong_kernels")
}

/// Reads the kernels of a file, and leaves out those that this CPU cannot run.
fn kernels(source: &str, object: &Path) -> Vec<Kernel> {
    let mut found = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let (wrong, rest) = match (line.strip_prefix("// wrong: "), line.strip_prefix("// right: ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => continue,
        };
        let mut parts = rest.split(": ");
        let family = parts.next().expect("a family");
        let mut kinds = Vec::new();
        if wrong {
            let words = parts.next().expect("a wrong kernel's kinds");
            let kind = |word| serde_json::from_value(serde_json::Value::String(word)).expect("a kind's name");
            kinds = words.split('|').map(|word| kind(word.to_owned())).collect();
        }
        let (mut smallest, mut needs) = (None, Features::NONE);
        for part in parts {
            match part.split_once(' ').expect("a word and its value") {
                ("smallest", len) => smallest = Some(len.parse().expect("a length")),
                ("needs", name) => needs = Features::from_name(name).expect("a feature"),
                other => panic!("{other:?}"),
            }
        }
        let head = lines.by_ref().find(|line| !line.starts_with("//")).expect("a function");
        let name = head.split('(').next().and_then(|before| before.split(' ').next_back()).expect("its name");
        let name = name.trim_start_matches('*');
        let spec = PluginSpec::parse(&format!("{}:{name}:{family}", object.display())).expect("a spec");
        if features().contains(needs) {
            found.push(Kernel { spec, kinds, smallest });
        }
    }
    found
}

/// What is wrong with verification's verdict; `None` if nothing is.
fn complaint(kernel: &Kernel, outcome: &Outcome) -> Option<String> {
    match outcome {
        Ok(_) if kernel.kinds.is_empty() => None,
        Ok(_) => Some("was not caught".to_owned()),
        Err(example) if kernel.kinds.is_empty() => Some(format!("is right, but: {example}")),
        Err(example) if !kernel.kinds.contains(&example.kind) => {
            Some(format!("should be {:?}, not {:?}: {example}", kernel.kinds, example.kind))
        }
        Err(example) if kernel.smallest.is_some_and(|len| len != example.len) => {
            Some(format!("should fail at {} bytes: {example}", kernel.smallest.unwrap_or(0)))
        }
        Err(_) => None,
    }
}

#[test]
fn wrong_kernels_are_caught_and_odd_ones_pass() {
    let objects = tempfile::tempdir().expect("a folder");
    let mut all = Vec::new();
    for entry in folder().read_dir().expect("the folder of kernels") {
        let file = entry.expect("an entry").path();
        if file.extension().is_some_and(|extension| extension == "c") {
            let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let object = objects.path().join(format!("{name}.so"));
            let (source, target) = (file.to_string_lossy(), object.to_string_lossy());
            compile(&["-O2", "-fPIC", "-shared", "-pthread", "-o", &target, &source], &folder());
            all.extend(kernels(&std::fs::read_to_string(&file).expect("a source"), &object));
        }
    }
    let wrong = all.iter().filter(|kernel| !kernel.kinds.is_empty()).count();
    assert!(wrong >= 37, "only {wrong} wrong kernels");
    assert!(all.len() - wrong >= 14, "only {} right ones", all.len() - wrong);

    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from).max(2) {
            scope.spawn(|| {
                while let Some(kernel) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = prove_in_child(&kernel.spec, objects.path());
                    let name = &kernel.spec.symbol;
                    match &outcome {
                        Ok(summary) => {
                            println!("{name}: proved with {} calls {:?}", summary.calls, summary.notes)
                        }
                        Err(example) => println!("{name}: {:?}: {example}", example.kind),
                    }
                    if let Some(complaint) = complaint(kernel, &outcome) {
                        complaints.lock().expect("no panic").push(format!("{name} {complaint}"));
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no panic");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
