//! Verifies every kernel of `tests/wrong_kernels`.

use crate::child::{ProofResult, verify_with};
use crate::compile;
use carryline::internals::cpu::{Features, features};
use carryline_verification::FaultKind;
use carryline_verification::plugin::PluginSpec;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The sizes at which the plug-ins of a class are wrong.
const SIZES: [&str; 3] = ["small", "middle", "large"];

/// A kernel and its annotation.
struct Kernel {
    spec: PluginSpec,
    /// The acceptable kinds of failure; empty if it is correct.
    kinds: Vec<FaultKind>,
    /// The length of the smallest failing input.
    smallest: Option<u64>,
    /// The one of [`SIZES`] at which it is wrong, if its class has all three.
    size: Option<&'static str>,
    /// Whether only the deep test verifies it.
    deep: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong_kernels")
}

/// Parses the kernels of a file, without those that this CPU cannot run.
fn kernels(source: &str, object: &Path) -> Vec<Kernel> {
    let mut found = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let marks =
            [("// wrong: ", true, false), ("// right: ", false, false), ("// wrong at sizes: ", true, true)];
        let mark =
            marks.into_iter().find_map(|(mark, wrong, sizes)| Some((line.strip_prefix(mark)?, wrong, sizes)));
        let Some((rest, wrong, at_sizes)) = mark else { continue };
        let mut parts = rest.split(": ");
        let family = parts.next().expect("a family");
        let mut kinds = Vec::new();
        if wrong {
            let words = parts.next().expect("a wrong kernel's kinds");
            let kind = |word| serde_json::from_value(serde_json::Value::String(word)).expect("a kind's name");
            kinds = words.split('|').map(|word| kind(word.to_owned())).collect();
        }
        let (mut smallest, mut needs, mut deep) = (None, Features::NONE, false);
        for part in parts {
            match part.split_once(' ').expect("a word and its value") {
                ("smallest", len) => smallest = Some(len.parse().expect("a length")),
                ("needs", name) => needs = Features::from_name(name).expect("a feature"),
                ("runs", "deep") => deep = true,
                other => panic!("{other:?}"),
            }
        }
        let head = lines.by_ref().find(|line| !line.starts_with("//")).expect("a function");
        let names: Vec<(String, Option<&str>)> = if at_sizes {
            let class = head.split([',', '(']).nth(2).expect("AT_SIZES(FAMILY, NAME, ...)").trim();
            SIZES.map(|size| (format!("{class}_{size}"), Some(size))).into()
        } else {
            let name = head.split('(').next().and_then(|before| before.split(' ').next_back());
            vec![(name.expect("its name").trim_start_matches('*').to_owned(), None)]
        };
        for (name, size) in names.into_iter().filter(|_| features().contains(needs)) {
            let spec = PluginSpec::parse(&format!("{}:{name}:{family}", object.display())).expect("a spec");
            found.push(Kernel { spec, kinds: kinds.clone(), smallest, size, deep });
        }
    }
    found
}

/// All kernels, compiled into `objects`.
fn corpus(objects: &Path) -> Vec<Kernel> {
    let mut all = Vec::new();
    let entries = folder().read_dir().expect("the folder of kernels");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    for file in files {
        if file.extension().is_some_and(|extension| extension == "c") {
            let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let object = objects.join(format!("{name}.so"));
            let (source, target) = (file.to_string_lossy(), object.to_string_lossy());
            compile(&["-O2", "-fPIC", "-shared", "-pthread", "-o", &target, &source], &folder());
            all.extend(kernels(&std::fs::read_to_string(&file).expect("a source"), &object));
        }
    }
    let wrong = all.iter().filter(|kernel| !kernel.kinds.is_empty()).count();
    assert!(wrong >= 230, "only {wrong} wrong kernels");
    assert!(all.len() - wrong >= 40, "only {} correct ones", all.len() - wrong);
    all
}

/// A complaint about the verdict; `None` if it is as annotated.
fn complaint(kernel: &Kernel, outcome: &ProofResult) -> Option<String> {
    match outcome {
        Ok(_) if kernel.kinds.is_empty() => None,
        Ok(_) => Some("was not caught".to_owned()),
        Err(example) if kernel.kinds.is_empty() => Some(format!("is correct, but: {example}")),
        Err(example) if !kernel.kinds.contains(&example.kind) => {
            Some(format!("should be {:?}, not {:?}: {example}", kernel.kinds, example.kind))
        }
        Err(example) if kernel.smallest.is_some_and(|len| len != example.len) => {
            Some(format!("should fail at {} bytes: {example}", kernel.smallest.unwrap_or(0)))
        }
        // A failure that depends on earlier calls must be reported with them, and be reproducible.
        Err(example)
            if example.kind == FaultKind::History && (example.earlier.is_empty() || !example.every_time) =>
        {
            Some(format!("does not list the earlier calls: {example}"))
        }
        Err(_) => None,
    }
}

/// Verifies every kernel with this seed; returns the complaints. Counts by size are added to `table`.
fn verify_all(
    all: &[Kernel],
    objects: &Path,
    seed: u64,
    table: &mut BTreeMap<String, [u32; 2]>,
) -> Vec<String> {
    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let table = Mutex::new(table);
    std::thread::scope(|scope| {
        // One more than CPUs: some kernels sleep or hang.
        for _ in 0..=std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(kernel) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = verify_with(&kernel.spec, objects, seed, false);
                    let name = &kernel.spec.symbol;
                    match &outcome {
                        Ok(summary) => {
                            println!("{name}: verified with {} calls {:?}", summary.calls, summary.notes)
                        }
                        Err(example) => println!("{name}: {:?}: {example}", example.kind),
                    }
                    let complaint = complaint(kernel, &outcome);
                    let class = match (kernel.kinds.is_empty(), kernel.size) {
                        (true, _) => "correct",
                        (false, size) => size.unwrap_or("any size"),
                    };
                    let mut table = table.lock().expect("no panic");
                    let counts = table.entry(format!("{:14} {class}", kernel.spec.family)).or_default();
                    counts[usize::from(complaint.is_some())] += 1;
                    if let Some(complaint) = complaint {
                        println!("COMPLAINT, seed {seed}: {name} {complaint}");
                        complaints.lock().expect("no panic").push(format!("seed {seed}: {name} {complaint}"));
                    }
                }
            });
        }
    });
    complaints.into_inner().expect("no panic")
}

/// Verifies the corpus with every seed; with `fewer`, at only one size per class, alternating between classes,
/// without those for the deep test, and only every eighth correct kernel, which take longest.
fn verify_with_seeds(seeds: impl IntoIterator<Item = u64>, fewer: bool) {
    let objects = tempfile::tempdir().expect("a folder");
    let mut all = corpus(objects.path());
    if fewer {
        // The sizes of a class are adjacent.
        let (mut sized, mut correct) = (0, 0);
        all.retain(|kernel| {
            if kernel.kinds.is_empty() {
                correct += 1;
                return correct % 8 == 1;
            }
            if kernel.deep {
                return false;
            }
            kernel.size.is_none_or(|size| {
                let class = sized / SIZES.len();
                sized += 1;
                size == SIZES[class % SIZES.len()]
            })
        });
    }
    let (mut complaints, mut table) = (Vec::new(), BTreeMap::new());
    for seed in seeds {
        complaints.extend(verify_all(&all, objects.path(), seed, &mut table));
        println!("seed {seed}: {} complaints so far", complaints.len());
    }
    let mut text = String::from("family         wrong at            as expected  not\n");
    for (what, [good, bad]) in &table {
        let _ = writeln!(text, "{what:33} {good:15} {bad:4}");
    }
    println!("{text}");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn wrong_kernels_are_caught_and_unusual_ones_pass() {
    verify_with_seeds([20], true);
}

/// Data that a change between calls makes fail also fails without the calls.
#[test]
fn faults_of_the_data_are_not_attributed_to_earlier_calls() {
    let objects = tempfile::tempdir().expect("a folder");
    let mut all = corpus(objects.path());
    all.retain(|kernel| kernel.spec.symbol == "sum_zero_for_ffff_middle");
    assert_eq!(all.len(), 1);
    // With this seed, repeated calls find it.
    let complaints = verify_all(&all, objects.path(), 4, &mut BTreeMap::new());
    assert!(complaints.is_empty(), "{complaints:?}");
}

mod deep {
    #[test]
    #[ignore = "deep: the whole corpus with twenty seeds"]
    fn wrong_kernels_are_caught_and_unusual_ones_pass_with_twenty_seeds() {
        super::verify_with_seeds(1..=20, false);
    }
}
