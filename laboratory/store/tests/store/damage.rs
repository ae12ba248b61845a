//! Damaged, foreign and newer files: rejected with a typed error and unchanged, or read correctly; never
//! wrong numbers.

use super::{header, place, record, result};
use carryline_results::RunResult;
use carryline_results::round::RoundRecord;
use carryline_store::{RunHeader, RunId, RunStatus, RunSummary, Store, StoreError};
use std::path::{Path, PathBuf};

/// The contents of a store.
#[derive(Debug, PartialEq)]
struct Content {
    runs: Vec<RunSummary>,
    headers: Vec<RunHeader>,
    rounds: Vec<Vec<RoundRecord>>,
    results: Vec<RunResult>,
}

const RUNS: [RunId; 3] = [RunId(1), RunId(2), RunId(3)];

/// Reads everything, or returns the error. Every readable part is compared with the truth on the way.
fn read(path: &Path, truth: Option<&Content>) -> Result<Content, StoreError> {
    let store = Store::open(path)?;
    let ended = RUNS[..2].iter();
    let (runs, headers, rounds, results) = (
        store.runs(usize::MAX),
        RUNS.iter().map(|run| store.header(*run)).collect::<Vec<_>>(),
        RUNS.iter().map(|run| store.rounds(*run)).collect::<Vec<_>>(),
        ended.map(|run| store.load_run(*run)).collect::<Vec<_>>(),
    );
    if let Some(truth) = truth {
        let right =
            |summary: &RunSummary| summary.status == RunStatus::Damaged || truth.runs.contains(summary);
        assert!(runs.iter().flatten().all(right), "{runs:?}");
        for (i, part) in headers.iter().enumerate() {
            assert!(part.as_ref().ok().is_none_or(|part| *part == truth.headers[i]), "{part:?}");
        }
        for (i, part) in rounds.iter().enumerate() {
            assert!(part.as_ref().ok().is_none_or(|part| *part == truth.rounds[i]), "{part:?}");
        }
        for (i, part) in results.iter().enumerate() {
            assert!(part.as_ref().ok().is_none_or(|part| *part == truth.results[i]), "{part:?}");
        }
    }
    let content = Content {
        runs: runs?,
        headers: headers.into_iter().collect::<Result<_, _>>()?,
        rounds: rounds.into_iter().collect::<Result<_, _>>()?,
        results: results.into_iter().collect::<Result<_, _>>()?,
    };
    store.check()?;
    Ok(content)
}

/// Fills a small store with a complete, an interrupted and a killed run.
fn fill(path: &Path) -> Store {
    let mut store = Store::open(path).expect("a new store");
    for run in RUNS {
        assert_eq!(store.begin_run(&header(run.0 as u64)).expect("a run"), run);
    }
    for index in 0..60 {
        store.add_round(RUNS[index as usize % 3], &record(index)).expect("a round");
    }
    store.finish_run(RUNS[0], &result(1)).expect("an end");
    store.mark_interrupted(RUNS[1], &result(2)).expect("an end");
    store
}

struct Sample {
    _folder: tempfile::TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
    truth: Content,
}

fn sample() -> Sample {
    let (folder, path) = place();
    drop(fill(&path));
    assert!(!beside(&path, "-wal").exists(), "closing moves the log into the file");
    let truth = read(&path, None).expect("intact");
    assert!(truth.rounds.iter().all(|rounds| rounds.len() == 20));
    let bytes = std::fs::read(&path).expect("the file");
    Sample { _folder: folder, path, bytes, truth }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn remove_files_beside(path: &Path) {
    for suffix in ["-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(beside(path, suffix));
    }
}

const PAGE_BYTES: usize = 4096;

#[test]
fn files_truncated_at_every_page_are_rejected() {
    let sample = sample();
    assert!(sample.bytes.len() >= 8 * PAGE_BYTES);
    for page in 0..sample.bytes.len() / PAGE_BYTES {
        for extra in [0, 1, 99, 100, 2048, PAGE_BYTES - 1] {
            let length = page * PAGE_BYTES + extra;
            if length == 0 {
                continue;
            }
            std::fs::write(&sample.path, &sample.bytes[..length]).expect("written");
            let error = read(&sample.path, Some(&sample.truth)).expect_err("truncated");
            let typed = match length {
                ..100 => matches!(error, StoreError::NotADatabase { .. }),
                _ => matches!(error, StoreError::Damaged { .. }),
            };
            assert!(typed, "{length}: {error:?}");
            let message = error.to_string();
            assert!(message.contains("carryline.sqlite") && message.contains("--db"), "{message}");
            assert_eq!(std::fs::read(&sample.path).expect("the file"), sample.bytes[..length], "untouched");
            remove_files_beside(&sample.path);
        }
    }
}

#[test]
fn flipped_bits_in_every_page_are_detected_or_harmless() {
    let sample = sample();
    let (mut rejected, mut harmless) = (0, 0);
    let mut flip = |offset: usize, mask: u8| {
        let mut bytes = sample.bytes.clone();
        bytes[offset] ^= mask;
        std::fs::write(&sample.path, &bytes).expect("written");
        match read(&sample.path, Some(&sample.truth)) {
            // Bytes that are unused or only a hint.
            Ok(content) => {
                assert_eq!(content, sample.truth, "offset {offset} mask {mask:#x}");
                harmless += 1;
            }
            Err(error) => {
                let generic = matches!(error, StoreError::Sqlite { .. } | StoreError::Busy { .. });
                assert!(!generic, "offset {offset} mask {mask:#x}: {error:?}");
                assert!(error.to_string().contains("carryline.sqlite"), "{error}");
                rejected += 1;
            }
        }
        remove_files_beside(&sample.path);
    };
    // The header densely, the pages with a stride that covers every kind of byte.
    for offset in 0..100 {
        flip(offset, 0x01);
        flip(offset, 0x80);
    }
    for offset in (100..sample.bytes.len()).step_by(67) {
        flip(offset, 0x10);
    }
    for page in 0..sample.bytes.len() / PAGE_BYTES {
        for offset in 0..12 {
            flip(page * PAGE_BYTES + if page == 0 { 100 } else { 0 } + offset, 0x04);
        }
    }
    assert!(rejected > 100 && harmless > 0, "{rejected} rejected, {harmless} harmless");
}

#[test]
fn replaced_and_zeroed_pages_are_detected() {
    let sample = sample();
    let pages = sample.bytes.len() / PAGE_BYTES;
    for page in 1..pages {
        for source in [None, Some(1 + page % (pages - 1))] {
            let mut bytes = sample.bytes.clone();
            let at = |page: usize| page * PAGE_BYTES..(page + 1) * PAGE_BYTES;
            match source {
                None => bytes[at(page)].fill(0),
                Some(source) => bytes[at(page)].copy_from_slice(&sample.bytes[at(source)]),
            }
            std::fs::write(&sample.path, &bytes).expect("written");
            match read(&sample.path, Some(&sample.truth)) {
                Ok(content) => assert_eq!(content, sample.truth, "page {page}"),
                Err(StoreError::Damaged { .. }) => {}
                Err(error) => panic!("page {page}: {error:?}"),
            }
            remove_files_beside(&sample.path);
        }
    }
}

#[test]
fn leftover_logs_are_used_up_to_their_first_damage() {
    let (folder, path) = place();
    let store = fill(&path);
    // The remains of a killed process: the file and its log, without the index of the log.
    let copy = folder.path().join("left.sqlite");
    let main = std::fs::read(&path).expect("the file");
    let log = std::fs::read(beside(&path, "-wal")).expect("the log");
    let put = |log: &[u8]| {
        remove_files_beside(&copy);
        std::fs::write(&copy, &main).expect("written");
        std::fs::write(beside(&copy, "-wal"), log).expect("written");
    };
    put(&log);
    let left = read(&copy, None).expect("a whole log");
    assert_eq!(left.rounds, RUNS.map(|run| store.rounds(run).expect("rounds")));
    assert_eq!(left.runs, store.runs(9).expect("a history"));

    // A log ends where its checksums stop matching: earlier frames are used, in the order written.
    let frame_bytes = PAGE_BYTES + 24;
    let mut shorter = 0;
    for offset in (40..log.len()).step_by(frame_bytes / 2 * 7 + 11) {
        for cut in [false, true] {
            let mut bytes = log.clone();
            if cut {
                bytes.truncate(offset);
            } else {
                bytes[offset] ^= 0x20;
            }
            put(&bytes);
            let reopened = Store::open(&copy).expect("an older state");
            reopened.check().expect("consistent");
            for summary in reopened.runs(9).expect("a history") {
                let rounds = reopened.rounds(summary.id).expect("rounds");
                let all = store.rounds(summary.id).expect("rounds");
                assert_eq!(rounds, all[..rounds.len()]);
                shorter += usize::from(rounds.len() < all.len());
            }
        }
    }
    assert!(shorter > 10, "only {shorter} runs lost rounds");
}

fn rejected_unchanged(path: &Path, bytes: &[u8]) -> StoreError {
    std::fs::write(path, bytes).expect("written");
    let error = Store::open(path).expect_err("not a store");
    assert_eq!(std::fs::read(path).expect("the file"), bytes, "{error}");
    let folder = path.parent().expect("a folder");
    let names: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["carryline.sqlite"], "{error}");
    let message = error.to_string();
    assert!(message.contains("carryline.sqlite") && message.contains("--db"), "{message}");
    error
}

#[test]
fn newer_schemas_are_rejected_unchanged() {
    let Sample { _folder, path, bytes, .. } = sample();
    for version in [3u32, 7, i32::MAX as u32] {
        let mut newer = bytes.clone();
        newer[60..64].copy_from_slice(&version.to_be_bytes());
        let error = rejected_unchanged(&path, &newer);
        let StoreError::NewerSchema { found, known, .. } = &error else { panic!("{error:?}") };
        assert_eq!((*found, *known), (version as i32, 2));
        assert!(
            error.to_string().contains(&format!("version {version}, this carryline supports up to 2")),
            "{error}"
        );
    }
}

#[test]
fn newer_schemas_in_the_log_are_rejected_unchanged() {
    let (folder, path) = place();
    drop(fill(&path));
    let newer = rusqlite::Connection::open(&path).expect("a later program");
    newer.pragma_update(None, "user_version", 3).expect("it migrates");
    let copy = folder.path().join("left.sqlite");
    for suffix in ["", "-wal"] {
        std::fs::copy(beside(&path, suffix), beside(&copy, suffix)).expect("copied");
    }
    let before =
        [std::fs::read(&copy).expect("the file"), std::fs::read(beside(&copy, "-wal")).expect("the log")];
    assert_eq!(before[0][60..64], 2u32.to_be_bytes(), "the file itself has the old version");
    let error = Store::open(&copy).expect_err("newer");
    assert!(matches!(error, StoreError::NewerSchema { found: 3, known: 2, .. }), "{error:?}");
    let after =
        [std::fs::read(&copy).expect("the file"), std::fs::read(beside(&copy, "-wal")).expect("the log")];
    assert!(before == after);
}

#[test]
fn foreign_files_are_rejected_unchanged() {
    let Sample { _folder, path, bytes, .. } = sample();
    for text in [&b"x"[..], b"SQLite format 3", b"not a database\n", &[0; 5000], &[0xff; 100]] {
        let error = rejected_unchanged(&path, text);
        assert!(matches!(error, StoreError::NotADatabase { .. }), "{error:?}");
    }
    let mut foreign = bytes.clone();
    foreign[68..72].copy_from_slice(&0x4750_4b47u32.to_be_bytes());
    let error = rejected_unchanged(&path, &foreign);
    assert!(matches!(error, StoreError::NotAStore { application_id: 0x4750_4b47, .. }), "{error:?}");
    let mut unversioned = bytes;
    unversioned[60..64].fill(0);
    let error = rejected_unchanged(&path, &unversioned);
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn changed_tables_are_rejected() {
    for change in [
        "DROP TABLE result",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
    ] {
        let Sample { _folder, path, .. } = sample();
        rusqlite::Connection::open(&path).and_then(|db| db.execute_batch(change)).expect("changed");
        let error = Store::open(&path).expect_err("changed tables");
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {error:?}");
    }
}

#[test]
fn changed_rows_are_detected() {
    for change in [
        "UPDATE run SET seed = '77' WHERE id = 1",
        "UPDATE run SET id = 9 WHERE id = 2",
        "UPDATE result SET json = replace(json, '0.6', '0.7') WHERE run = 1",
        "UPDATE progress SET status = 'complete' WHERE run = 3",
        "DELETE FROM round WHERE run = 1 AND sequence = 19",
        "DELETE FROM round WHERE run = 1 AND sequence = 3",
        "UPDATE round SET body = (SELECT body FROM round WHERE run = 2 AND sequence = 4) WHERE run = 1 AND sequence = 4",
        "DELETE FROM run WHERE id = 2",
        "DELETE FROM result WHERE run = 2",
        "DELETE FROM progress WHERE run = 3",
        "UPDATE ledger SET runs = 2",
    ] {
        let Sample { _folder, path, truth, .. } = sample();
        rusqlite::Connection::open(&path).and_then(|db| db.execute_batch(change)).expect("changed");
        let error = read(&path, Some(&truth)).expect_err("changed rows");
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {error:?}");
    }
}

#[test]
fn a_damaged_run_leaves_the_others_readable() {
    let Sample { _folder, path, truth, .. } = sample();
    let change = "UPDATE run SET plan = '{}' WHERE id = 2";
    rusqlite::Connection::open(&path).and_then(|db| db.execute_batch(change)).expect("changed");
    let store = Store::open(&path).expect("the rest");
    let listed = store.runs(9).expect("a history");
    assert_eq!(listed[1].status, RunStatus::Damaged);
    assert_eq!((&listed[0], &listed[2]), (&truth.runs[0], &truth.runs[2]));
    assert!(store.check().is_err());
    assert_eq!(store.load_run(RunId(1)).expect("a result"), truth.results[0]);
}
