//! From a database to verdicts.

use crate::support::{environment, gathered, limit};
use carryline_conditions::Offsets;
use carryline_goals::goal::{Against, Cells, Goal, Part};
use carryline_goals::judge::{Finding, GoalVerdict, judge};
use carryline_goals::results::read_all;
use carryline_goals::stored::Stored;
use carryline_goals::tier::Tier;
use carryline_results::cells::{noise_floor, summarise};
use carryline_results::gather::Gathered;
use carryline_results::round::{Round, RoundRecord};
use carryline_results::{RunResult, SCHEMA_VERSION};
use carryline_store::{RunHeader, Store};
use carryline_variants::Family;
use std::path::Path;
use std::process::Command;

/// Keeps a run of these situations, as the command does; without an end if `killed`.
fn keep(store: &mut Store, command: &str, all: &[Gathered], killed: bool) {
    keep_on(store, command, all, killed, environment());
}

fn keep_on(store: &mut Store, command: &str, all: &[Gathered], killed: bool, environment: serde_json::Value) {
    let situations: Vec<_> = all.iter().map(|of| of.situation.clone()).collect();
    let header = RunHeader {
        command: command.split(' ').map(str::to_owned).collect(),
        seed: 3,
        environment: environment.clone(),
        plan: serde_json::json!({ "situations": situations }),
    };
    let id = store.begin_run(&header).expect("begun");
    for of in all {
        for (replicate, measured) in of.replicates.iter().enumerate() {
            for (number, round) in measured.rounds.iter().enumerate() {
                let record = RoundRecord {
                    situation: of.situation.name.clone(),
                    replicate: replicate as u32,
                    round: Round { number: number as u32, ..round.clone() },
                };
                store.add_round(id, &record).expect("kept");
            }
        }
    }
    if killed {
        return;
    }
    let limits = vec![limit()];
    let named = |of: &Gathered| (of.situation.name.clone(), summarise(of, &limits, 3));
    let summaries: Vec<_> = all.iter().map(named).collect();
    let result = RunResult {
        schema_version: SCHEMA_VERSION,
        run_id: Some(id.0),
        seed: 3,
        environment,
        noise_floor: noise_floor(&summaries),
        ticks_per_cycle: Some(0.6),
        ticks_per_ns: Some(2.5),
        limits: limits.clone(),
        warnings: vec![],
        cells: summaries.into_iter().flat_map(|(_, summary)| summary.cells).collect(),
        experiments: vec![],
        complete: true,
    };
    store.finish_run(id, &result).expect("ended");
}

fn zeros(ours: f64, theirs: f64) -> Gathered {
    gathered(Family::Zero, "4K", &[("libc_memset", theirs), ("carryline", ours)])
}

fn ratio(goal: Goal, stored: &Stored) -> Result<f64, String> {
    let Finding { ratio, verdict, .. } = judge(&[goal], stored).remove(0);
    match verdict {
        GoalVerdict::NotMeasured(why) => Err(why),
        _ => Ok((ratio.expect("a figure").median * 100.0).round() / 100.0),
    }
}

fn goal(cells: Cells, against: Against) -> Goal {
    Goal::new("g", Part::Memory, cells, against, 1.0, "a test")
}

/// What a database of one machine and one tier holds.
fn only_group(path: &Path) -> Stored {
    let mut groups = Stored::load(path).expect("runs");
    assert_eq!(groups.len(), 1);
    groups.remove(0).stored
}

#[test]
fn machines_and_tiers_are_kept_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("db.sqlite");
    let mut store = Store::open(&path).expect("a store");
    let mut elsewhere = environment();
    elsewhere["cpu"]["model"] = 99.into();
    let mut masked = environment();
    masked["cpu"]["features"] = serde_json::json!(["sse2", "avx2"]);
    masked["cpu"]["masked_features"] = serde_json::json!(["avx512f"]);
    for (ticks, environment) in [(20.0, environment()), (30.0, masked), (40.0, elsewhere)] {
        keep_on(&mut store, "measure", &[zeros(10.0, ticks)], false, environment);
    }
    let groups = Stored::load(&path).expect("runs");
    let memset = goal(Cells::hot(Family::Zero, ["4K"]), Against::Variant("libc_memset"));
    let found: Vec<_> =
        groups.iter().map(|group| (group.tier, ratio(memset.clone(), &group.stored))).collect();
    assert_eq!(found, [(Tier::Avx512, Ok(4.0)), (Tier::Avx2, Ok(3.0)), (Tier::Avx512, Ok(2.0))]);
    assert_eq!(groups[1].machine, groups[2].machine);
    assert!(groups[0].machine.ends_with("model99"), "{}", groups[0].machine);
}

#[test]
fn notes_are_stored_and_shown_with_the_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let (db, out) = (folder.path().join("db.sqlite"), folder.path().join("benchmarks.md"));
    let mut store = Store::open(&db).expect("a store");
    keep(&mut store, "measure", &[zeros(10.0, 20.0)], false);
    let note = "Measured while a build ran.";
    let written = Command::new(env!("CARGO_BIN_EXE_benchmarks"))
        .args(["write", "--note", note, "--db"])
        .arg(&db)
        .arg("--out")
        .arg(&out)
        .output()
        .expect("cargo has built it");
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let results = read_all(&out.with_extension("")).expect("results");
    assert_eq!(results[0].notes.last().map(String::as_str), Some(note));
    let text = std::fs::read_to_string(&out).expect("a document");
    assert!(text.lines().any(|line| line == note), "{text}");
}

#[test]
fn the_latest_finished_run_of_the_same_matrix_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("db.sqlite");
    let mut store = Store::open(&path).expect("a store");
    keep(&mut store, "measure --family zero", &[zeros(10.0, 20.0)], false);
    keep(&mut store, "measure --family zero", &[zeros(10.0, 30.0)], false);
    keep(&mut store, "measure --variants carryline,libc_memset", &[zeros(10.0, 40.0)], false);
    keep(&mut store, "measure --family zero", &[zeros(10.0, 50.0)], true);
    let stored = only_group(&path);
    assert_eq!(stored.runs.iter().map(|run| run.id).collect::<Vec<_>>(), [3, 2]);
    let memset = Against::Variant("libc_memset");
    let cells = Cells::hot(Family::Zero, ["4K"]);
    assert_eq!(ratio(goal(cells.clone(), memset), &stored), Ok(3.0));
    let some = cells.clone().only(&["carryline", "libc_memset"]);
    assert_eq!(ratio(goal(some, memset), &stored), Ok(4.0));
    let beside = cells.clone().with([Family::Copy]);
    assert!(ratio(goal(beside, memset), &stored).is_err(), "never measured beside copies");
    assert!(ratio(goal(cells.random(), memset), &stored).is_err());
}

#[test]
fn what_is_compared_between_offsets_comes_from_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("db.sqlite");
    let mut store = Store::open(&path).expect("a store");
    let mut at_end = zeros(12.0, 20.0);
    at_end.situation.condition.offsets = Offsets::End;
    at_end.situation.name += " at the end";
    let command = "measure --variants carryline,libc_memset";
    keep(&mut store, command, &[zeros(10.0, 20.0), at_end], false);
    // The same situation in a later run that has it alone.
    keep(&mut store, command, &[zeros(40.0, 20.0)], false);
    let cells = Cells::hot(Family::Zero, ["4K"]).at_page_ends().only(&["carryline", "libc_memset"]);
    let found = ratio(goal(cells, Against::OursAt(200)), &only_group(&path));
    assert_eq!(found, Ok(1.0), "10 and 2 over 12");
}

#[test]
fn times_of_other_families_are_added_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("db.sqlite");
    let mut store = Store::open(&path).expect("a store");
    let all = [
        gathered(Family::CopyChecksum, "1500", &[("memcpy_then_sum", 90.0), ("carryline", 20.0)]),
        gathered(Family::Copy, "1500", &[("libc_memcpy", 18.0), ("carryline", 10.0)]),
        gathered(
            Family::Checksum,
            "1500",
            &[("adc_1_stream", 92.0), ("carryline", 9.0), ("avx512_dot", 12.0)],
        ),
    ];
    keep(&mut store, "measure --family copy_checksum,copy,checksum", &all, false);
    let stored = only_group(&path);
    let cells = Cells::hot(Family::CopyChecksum, ["1500"]).with([Family::Copy, Family::Checksum]);
    assert_eq!(ratio(goal(cells.clone(), Against::TwoPasses), &stored), Ok(1.5), "(18 + 12) / 20");
    assert_eq!(ratio(goal(cells, Against::Elsewhere(Family::Copy, "libc_memcpy")), &stored), Ok(0.9));
}

#[test]
fn what_is_no_database_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing.sqlite");
    let error = Stored::load(&missing).expect_err("nothing there").to_string();
    assert!(error.contains("missing.sqlite") && error.contains("benchmarks run"), "{error}");
    assert!(!missing.exists());
    let empty = folder.path().join("empty.sqlite");
    drop(Store::open(&empty).expect("a store"));
    let error = Stored::load(&empty).expect_err("nothing in it").to_string();
    assert!(error.contains("no finished run"), "{error}");
}

/// The C library's two rows, each in every second process, beside ours in all.
fn two_rows(family: Family, size: &str, rows: [(&str, f64); 2], ours: f64) -> Gathered {
    let mut made = gathered(family, size, &[rows[0], rows[1], ("carryline", ours)]);
    made.replicates.extend(made.replicates.clone());
    for (number, replicate) in made.replicates.iter_mut().enumerate() {
        for round in &mut replicate.rounds {
            round.samples[1 - number % 2] = f64::NAN;
        }
    }
    made
}

#[test]
fn the_c_library_stands_for_the_faster_of_its_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("db.sqlite");
    let mut store = Store::open(&path).expect("a store");
    let copies = two_rows(Family::Copy, "4K", [("libc_memcpy", 50.0), ("libc_memcpy_no_rep", 30.0)], 20.0);
    let zeros = two_rows(Family::Zero, "4K", [("libc_memset", 30.0), ("libc_memset_no_rep", 50.0)], 10.0);
    let sums = gathered(Family::Checksum, "4K", &[("adc_1_stream", 40.0), ("carryline", 10.0)]);
    let both = two_rows(
        Family::CopyChecksum,
        "4K",
        [("memcpy_then_sum", 90.0), ("memcpy_then_sum_no_rep", 70.0)],
        35.0,
    );
    keep(&mut store, "measure", &[copies, zeros, sums, both], false);
    let stored = only_group(&path);
    let of = |family: Family| {
        let others = Family::ALL.into_iter().filter(|other| *other != family);
        Cells::hot(family, ["4K"]).with(others)
    };
    let against = |family, against| ratio(goal(of(family), against), &stored);
    assert_eq!(against(Family::Copy, Against::Variant("libc_memcpy")), Ok(1.5));
    assert_eq!(against(Family::Copy, Against::BestOf(&["libc_memcpy"])), Ok(1.5));
    assert_eq!(against(Family::Copy, Against::BestPeer), Ok(1.5));
    assert_eq!(against(Family::Zero, Against::Variant("libc_memset")), Ok(3.0));
    assert_eq!(against(Family::CopyChecksum, Against::Elsewhere(Family::Copy, "libc_memcpy")), Ok(0.86));
    // Checksums are not measured in processes with raised thresholds: (30 + 40) / 35.
    assert_eq!(against(Family::CopyChecksum, Against::TwoPasses), Ok(2.0));
}
