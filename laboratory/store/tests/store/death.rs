//! Killed writers, full disks, read-only folders, concurrent writers.

use super::child::{reported, start};
use super::{header, place, record, result};
use carryline_store::{RunId, RunStatus, Store};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

/// Starts a writer and kills it `delay` after it has written this many rounds; returns its output.
fn killed_after(rounds: usize, delay: Duration, path: &Path) -> Vec<u8> {
    let mut writer = start("write until killed", path);
    let mut lines = BufReader::new(writer.stdout.take().expect("a pipe"));
    let mut output_so_far = Vec::new();
    while reported("ack ", &output_so_far).len() < rounds {
        assert!(lines.read_until(b'\n', &mut output_so_far).expect("a line") > 0, "it has ended early");
    }
    std::thread::sleep(delay);
    writer.kill().expect("killed");
    lines.read_to_end(&mut output_so_far).expect("the rest");
    writer.wait().expect("collected");
    output_so_far
}

#[test]
fn acknowledged_rounds_survive_kill_9() {
    let (mut _folder, mut path) = place();
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(60);
    for kill in 0..60 {
        // A new store now and then: every check reads all of it.
        if kill % 12 == 0 {
            (_folder, path) = place();
        }
        // Every third at any time after its start, the others while they write.
        let (rounds, delay) = match kill % 3 {
            0 => (0, chance.next_u64() % 60_000),
            _ => (1 + (chance.next_u64() % 8) as usize, chance.next_u64() % 3_000),
        };
        let output_so_far = killed_after(rounds, Duration::from_micros(delay), &path);
        let store = Store::open(&path).expect("the store of a killed process");
        store.check().expect("intact");
        let listed = store.runs(usize::MAX).expect("a history");
        let Some(run) = reported("run ", &output_so_far).first().copied().map(RunId) else { continue };
        let summary = listed.iter().find(|summary| summary.id == run).expect("the run is listed");
        assert_eq!(summary.status, RunStatus::Incomplete);
        let acknowledged = reported("ack ", &output_so_far);
        let rounds = store.rounds(run).expect("its rounds");
        // The round in progress may or may not be stored.
        assert!((0..=1).contains(&(rounds.len() as i64 - acknowledged.len() as i64)), "kill {kill}");
        for (index, round) in rounds.iter().enumerate() {
            assert_eq!(*round, record(index as u32));
        }
    }
}

#[test]
fn stores_survive_kills_during_their_creation() {
    let mut chance = Xoshiro256PlusPlus::seed_from_u64(61);
    for _ in 0..40 {
        let (_folder, path) = place();
        let output_so_far = killed_after(0, Duration::from_micros(2_000 + chance.next_u64() % 15_000), &path);
        let mut store = Store::open(&path).expect("a partial store is completed");
        store.check().expect("intact");
        let acknowledged = reported("ack ", &output_so_far).len();
        if let Some(run) = reported("run ", &output_so_far).first() {
            assert!(store.rounds(RunId(*run)).expect("its rounds").len() >= acknowledged);
        }
        let run = store.begin_run(&header(1)).expect("a new run");
        store.finish_run(run, &result(1)).expect("its end");
    }
}

#[test]
fn two_writers_can_share_a_store() {
    let (_folder, path) = place();
    // Both find no file and create it concurrently.
    let writers = [start("write and finish", &path), start("write and finish", &path)];
    for writer in writers {
        let output = writer.wait_with_output().expect("its output");
        assert!(output.status.success());
        assert_eq!(reported("finished ", &output.stdout), [1]);
    }
    let store = Store::open(&path).expect("their store");
    store.check().expect("intact");
    let runs = store.runs(9).expect("a history");
    assert_eq!(runs.len(), 2);
    for summary in runs {
        assert_eq!((summary.status, summary.rounds), (RunStatus::Complete, 100));
        assert_eq!(store.rounds(summary.id).expect("rounds"), (0..100).map(record).collect::<Vec<_>>());
    }
}

fn reported_error(output: &Output) -> (String, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("error "));
    let (kind, message) =
        line.and_then(|line| line.split_once(": ")).unwrap_or_else(|| panic!("no error in {text}"));
    (kind.to_owned(), message.to_owned())
}

#[test]
fn full_disks_lose_no_acknowledged_rounds() {
    let (_folder, path) = place();
    let output = start("write until full", &path).wait_with_output().expect("its output");
    let (kind, message) = reported_error(&output);
    assert_eq!(kind, "Full", "{message}");
    assert!(message.contains("carryline.sqlite") && message.contains("--db"), "{message}");
    let acknowledged = reported("ack ", &output.stdout).len();
    assert!(acknowledged > 5, "{acknowledged}");

    let store = Store::open(&path).expect("a store");
    store.check().expect("intact");
    let run = RunId(reported("run ", &output.stdout)[0]);
    assert_eq!(store.rounds(run).expect("rounds"), (0..acknowledged as u32).map(record).collect::<Vec<_>>());
    assert_eq!(store.runs(9).expect("a history")[0].status, RunStatus::Incomplete);
}

#[test]
fn initially_full_disks_give_an_error() {
    let (_folder, path) = place();
    let output = start("open when full", &path).wait_with_output().expect("its output");
    let (kind, message) = reported_error(&output);
    assert_eq!(kind, "Full", "{message}");
    assert!(message.contains("carryline.sqlite"), "{message}");
    Store::open(&path).expect("once there is room").check().expect("intact");
}

#[test]
fn read_only_folders_and_files_give_errors() {
    use std::os::unix::fs::PermissionsExt;
    let allow = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    let error_kind = |path: &Path| {
        let output = start("write without permission", path).wait_with_output().expect("its output");
        let (kind, message) = reported_error(&output);
        assert!(message.contains("carryline.sqlite") && message.contains("--db"), "{message}");
        kind
    };
    // There is no file, and none can be created.
    let (folder, path) = place();
    allow(folder.path(), 0o555);
    assert_eq!(error_kind(&path), "Open");
    // A store beside which no log can be created.
    allow(folder.path(), 0o755);
    let mut store = Store::open(&path).expect("a store");
    let run = store.begin_run(&header(1)).expect("a run");
    store.add_round(run, &record(1)).expect("a round");
    drop(store);
    let before = std::fs::read(&path).expect("the file");
    allow(&path, 0o644);
    allow(folder.path(), 0o555);
    let kind = error_kind(&path);
    assert!(kind == "ReadOnly" || kind == "Open", "{kind}");
    // A file that may not even be read.
    allow(&path, 0o000);
    assert_eq!(error_kind(&path), "Open");
    allow(folder.path(), 0o755);
    allow(&path, 0o644);
    assert_eq!(std::fs::read(&path).expect("the file"), before);
    let store = Store::open(&path).expect("with permission");
    assert_eq!(store.rounds(run).expect("rounds"), [record(1)]);
}
