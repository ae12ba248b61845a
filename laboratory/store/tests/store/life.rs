//! Normal operation of the store, and rejected requests.

use super::{cell, header, place, record, result};
use carryline_results::RunResult;
use carryline_results::round::{Round, RoundRecord};
use carryline_store::{RunId, RunStatus, Store, StoreError};

#[test]
fn data_is_the_same_after_reopening() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let (first, second) = (
        store.begin_run(&header(u64::MAX)).expect("a run"),
        store.begin_run(&header(2)).expect("a concurrent run"),
    );
    for index in 0..20 {
        store.add_round(first, &record(index)).expect("a round");
        store.add_round(second, &record(index + 100)).expect("a round");
    }
    store.finish_run(first, &result(1)).expect("an end");
    drop(store);

    let store = Store::open(&path).expect("the same store");
    store.check().expect("all of it");
    assert_eq!(store.rounds(first).expect("rounds"), (0..20).map(record).collect::<Vec<_>>());
    assert_eq!(store.rounds(second).expect("rounds"), (100..120).map(record).collect::<Vec<_>>());
    assert_eq!(store.header(first).expect("a header"), header(u64::MAX));
    // Every bit of every figure, and the assigned number.
    let loaded = store.load_run(first).expect("a result");
    assert_eq!(loaded, RunResult { run_id: Some(first.0), ..result(1) });
    assert!(matches!(store.load_run(second), Err(StoreError::Unfinished { run, .. }) if run == second));

    let runs = store.runs(10).expect("a history");
    assert_eq!(runs.iter().map(|r| r.id).collect::<Vec<_>>(), [second, first]);
    assert_eq!(
        runs.iter().map(|r| r.status).collect::<Vec<_>>(),
        [RunStatus::Incomplete, RunStatus::Complete]
    );
    assert_eq!((runs[0].situations, runs[0].cells, runs[0].rounds), (2, 12, 20));
    assert_eq!((runs[1].situations, runs[1].cells, runs[1].rounds), (2, 3, 20));
    assert_eq!(runs[1].command, header(1).command);
    let started = runs[1].started.as_bytes();
    assert_eq!((started.len(), started[4], started[10], started[19]), (20, b'-', b'T', b'Z'));
    assert_eq!(store.runs(1).expect("the latest").len(), 1);
}

#[test]
fn stores_of_version_1_are_upgraded_when_a_run_is_added() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let run = store.begin_run(&header(1)).expect("a run");
    store.add_round(run, &record(0)).expect("a round");
    drop(store);
    let version = |set: Option<i32>| -> i32 {
        let file = rusqlite::Connection::open(&path).expect("the file");
        if let Some(version) = set {
            file.pragma_update(None, "user_version", version).expect("written");
        }
        file.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
    };
    assert_eq!(version(Some(1)), 1);

    let mut store = Store::open(&path).expect("the old store");
    assert_eq!(store.rounds(run).expect("rounds"), [record(0)]);
    assert_eq!(version(None), 1);
    let next = store.begin_run(&header(2)).expect("another run");
    store.add_round(next, &record(2)).expect("a round");
    store.check().expect("all of it");
    assert_eq!(version(None), 2);
}

#[test]
fn samples_keep_every_bit() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let run = store.begin_run(&header(1)).expect("a run");
    let odd = [f64::NAN, f64::INFINITY, -0.0, 5e-324, f64::MAX];
    let round = Round { samples: odd.to_vec(), ..record(1).round };
    store.add_round(run, &RoundRecord { round, ..record(1) }).expect("a round");
    let back = store.rounds(run).expect("rounds").remove(0).round.samples;
    assert_eq!(back.iter().map(|ticks| ticks.to_bits()).collect::<Vec<_>>(), odd.map(f64::to_bits));
}

#[test]
fn interrupted_runs_keep_their_partial_result() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let run = store.begin_run(&header(1)).expect("a run");
    let partial = RunResult { complete: false, cells: vec![cell("pages", "sse2")], ..result(1) };
    store.mark_interrupted(run, &partial).expect("an end");
    assert_eq!(store.runs(9).expect("a history")[0].status, RunStatus::Interrupted);
    assert_eq!(store.load_run(run).expect("a result").cells, partial.cells);
    for rejected in [store.add_round(run, &record(1)), store.finish_run(run, &result(1))] {
        assert!(matches!(rejected, Err(StoreError::Ended { .. })), "{rejected:?}");
    }
}

#[test]
fn missing_runs_are_unknown() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let none = RunId(-7);
    for error in [
        store.load_run(none).expect_err("a missing run"),
        store.rounds(none).expect_err("a missing run"),
        store.header(none).expect_err("a missing run"),
        store.add_round(none, &record(2)).expect_err("a missing run"),
    ] {
        assert!(matches!(error, StoreError::UnknownRun { .. }), "{error:?}");
    }
}

#[test]
fn figures_that_json_cannot_represent_are_rejected_before_the_run_ends() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let run = store.begin_run(&header(1)).expect("a run");
    let mut infinite = result(1);
    infinite.cells[0].bytes_per_call = f64::INFINITY;
    let mut optional = result(1);
    optional.cells[0].limit_share = Some(f64::NAN);
    for bad in [infinite, optional] {
        let error = store.finish_run(run, &bad).expect_err("not finite");
        assert!(matches!(error, StoreError::Unstorable { .. }), "{error:?}");
    }
    store.finish_run(run, &result(1)).expect("still running");
}

#[test]
fn home_directories_are_not_stored() {
    let (folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let secret = "/home/nobody-should-read-this";
    let mut with_home = header(1);
    with_home.command = vec![format!("--db={secret}/x"), format!("capture:{secret}/c.pcap")];
    with_home.plan = serde_json::json!({"capture": format!("{secret}/c.pcap")});
    with_home.environment = serde_json::json!([format!("{secret}")]);
    let run = store.begin_run(&with_home).expect("a run");
    store.add_round(run, &RoundRecord { situation: format!("{secret}/c"), ..record(0) }).expect("a round");
    let mut named = result(1);
    named.cells[0].condition.sizes.label = format!("capture:{secret}/c.pcap");
    store.finish_run(run, &named).expect("an end");
    assert_eq!(store.header(run).expect("a header").command, ["--db=/home/*/x", "capture:/home/*/c.pcap"]);
    assert_eq!(store.rounds(run).expect("rounds")[0].situation, "/home/*/c");
    drop(store);
    for entry in std::fs::read_dir(folder.path()).expect("the folder") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a file");
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
    }
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_resolved_for_the_file_and_its_log() {
    let (folder, path) = place();
    let real = folder.path().join("elsewhere");
    std::fs::create_dir(&real).expect("a folder");
    // Links to a file that does not exist yet, and to its folder.
    std::os::unix::fs::symlink(real.join("data.sqlite"), &path).expect("a link");
    let linked_folder = folder.path().join("linked");
    std::os::unix::fs::symlink(&real, &linked_folder).expect("a link");

    let mut store = Store::open(&path).expect("through the link");
    let run = store.begin_run(&header(1)).expect("a run");
    let mut other = Store::open(linked_folder.join("data.sqlite")).expect("through the folder's link");
    store.add_round(run, &record(0)).expect("a round");
    other.add_round(run, &record(1)).expect("a round through the other link");
    assert_eq!(store.rounds(run).expect("rounds"), [record(0), record(1)]);
    assert!(real.join("data.sqlite-wal").exists());
    assert!(!folder.path().join("carryline.sqlite-wal").exists());
    assert!(path.is_symlink());
}

#[test]
fn paths_that_cannot_be_a_store_are_rejected() {
    let (folder, path) = place();
    let error = Store::open(folder.path()).expect_err("a folder");
    assert!(matches!(error, StoreError::NotAFile { .. }), "{error:?}");
    let error = Store::open(folder.path().join("missing/x.sqlite")).expect_err("no folder");
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    assert!(error.to_string().contains("missing") && error.to_string().contains("--db"), "{error}");
    std::fs::write(&path, b"").expect("an empty file");
    let error = Store::open(path.join("below a file")).expect_err("a file instead of a folder");
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    #[cfg(target_os = "linux")]
    {
        let error = Store::open("/dev/null").expect_err("a device");
        assert!(matches!(error, StoreError::NotAFile { .. }), "{error:?}");
        let error =
            Store::open("/proc/carryline.sqlite").expect_err("a folder in which no file can be created");
        assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    }
    // An empty file is a new store; unusual names are allowed.
    Store::open(&path).expect("0 bytes are a new store").check().expect("all of it");
    let odd = folder.path().join("file:x?mode=memory #1 '\"%41");
    drop(Store::open(&odd).expect("an odd name"));
    assert!(odd.is_file());
}

#[cfg(unix)]
#[test]
fn removed_and_replaced_files_are_noticed() {
    let (folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    let run = store.begin_run(&header(1)).expect("a run");
    store.add_round(run, &record(0)).expect("a round");
    std::fs::rename(&path, folder.path().join("moved")).expect("moved");
    let error = store.add_round(run, &record(1)).expect_err("gone");
    assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
    assert!(error.to_string().contains("carryline.sqlite"), "{error}");
    let replaced = Store::open(folder.path().join("other")).expect("another store");
    std::fs::copy(replaced.path(), &path).expect("another file in its place");
    let error = store.add_round(run, &record(1)).expect_err("another file");
    assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
}

#[test]
fn the_file_header_identifies_a_store() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("a new store"));
    let bytes = std::fs::read(&path).expect("the file");
    assert_eq!(&bytes[..16], b"SQLite format 3\0");
    assert_eq!(bytes[60..64], 2u32.to_be_bytes());
    assert_eq!(&bytes[68..72], b"CLin");
    // Write-ahead log.
    assert_eq!(bytes[18..20], [2, 2]);
}

#[test]
fn waiting_for_a_writer_times_out_as_busy() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("a new store");
    store.set_busy_s(1).expect("a shorter wait");
    let run = store.begin_run(&header(1)).expect("a run");
    let other = rusqlite::Connection::open(&path).expect("another writer");
    other.execute_batch("BEGIN IMMEDIATE").expect("it begins");
    let error = store.add_round(run, &record(0)).expect_err("busy");
    assert!(matches!(error, StoreError::Busy { waited_s: 1, .. }), "{error:?}");
    assert!(store.rounds(run).expect("reading still works").is_empty());
    other.execute_batch("COMMIT").expect("it ends");
    store.add_round(run, &record(0)).expect("the lock is free");
    assert_eq!(store.rounds(run).expect("rounds"), [record(0)]);
}
