//! Tests of the store under failures: death of the writer, damage, full disks, concurrent access.

#[cfg(unix)]
mod child;
mod damage;
#[cfg(unix)]
mod death;
mod life;

use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Beside, Cache, Condition, Dependence, Offsets, Then};
use carryline_machine::arena::Pages;
use carryline_machine::environment::Level;
use carryline_results::round::{Round, RoundRecord};
use carryline_results::{Cell, CycleBasis, Limit, NoiseFloor, RunResult, SCHEMA_VERSION, Status, Warning};
use carryline_statistics::{Estimate, Ratio};
use carryline_store::RunHeader;
use carryline_variants::Family;
use std::path::PathBuf;

fn header(seed: u64) -> RunHeader {
    RunHeader {
        command: vec!["run".to_owned(), "--budget=2s".to_owned()],
        seed,
        environment: serde_json::json!({"cpu": "a CPU", "ghz": 4.25, "features": ["adx", "avx2"]}),
        plan: serde_json::json!({"situations": ["packets", "pages"]}),
    }
}

/// A record in which every field depends on its index.
fn record(index: u32) -> RoundRecord {
    RoundRecord {
        situation: if index.is_multiple_of(3) { "packets".to_owned() } else { "pages".to_owned() },
        replicate: index / 10,
        round: Round {
            number: index % 10,
            multiplier: 1 + index % 2,
            samples: (0..6).map(|place| f64::from(index) + f64::from(place) / 7.0).collect(),
            null_ticks: 4.06 + f64::from(index) / 1000.0,
            ticks_per_cycle: 0.59,
            counted: index.is_multiple_of(2),
        },
    }
}

fn cell(situation: &str, variant: &str) -> Cell {
    Cell {
        situation: situation.to_owned(),
        variant: variant.to_owned(),
        family: Family::Zero,
        status: Status::Ok,
        detail: None,
        condition: Condition {
            sizes: Sizes::fixed(4096),
            offsets: Offsets::ALIGNED,
            cache: Cache::HOT,
            dependence: Dependence::Independent,
            pages: Pages::Base,
            segments: vec![],
            then: Then::Nothing,
            beside: Beside::Nothing,
        },
        observed: None,
        bytes_per_call: 4096.0,
        ticks_per_call: Some(Estimate { median: 0.1 + 0.2, low: 1.0 / 3.0, high: 1e300, min: 5e-324 }),
        gross: None,
        cycles_per_call: Some(2.0_f64.sqrt()),
        basis: Some(CycleBasis::Est),
        bytes_per_cycle: Some(63.5),
        limit_share: None,
        ratio_to_baseline: Some(Ratio { median: 0.9, low: 0.899_999_999_999_999_9, high: 0.91 }),
        baseline: Some("libc_memcpy".to_owned()),
        ratio_to_leader: Some(Ratio { median: 1.0, low: 1.0, high: 1.0 }),
        rank: Some(1),
        ties_with: vec!["avx2".to_owned()],
    }
}

fn result(seed: u64) -> RunResult {
    RunResult {
        schema_version: SCHEMA_VERSION,
        run_id: None,
        seed,
        environment: serde_json::json!({"cpu": "a CPU"}),
        noise_floor: Some(NoiseFloor {
            relative: 0.01,
            pairs: 2,
            by_situation: vec![("pages".to_owned(), 0.01)],
        }),
        ticks_per_cycle: Some(0.6),
        ticks_per_ns: Some(2.596),
        limits: vec![Limit {
            level: Level::L1,
            buffer_bytes: 1 << 14,
            load: 1.0,
            store: 2.0,
            nt_store: 0.3,
            load_by: Some("checksum/carryline".to_owned()),
            store_by: None,
        }],
        warnings: vec![Warning { code: "W01".to_owned(), cause: "a".to_owned(), remedy: "b".to_owned() }],
        cells: vec![cell("pages", "sse2"), cell("pages", "avx2"), cell("packets", "sse2")],
        experiments: Vec::new(),
        complete: true,
    }
}

/// A temporary folder that lasts as long as the test, and the path of a store in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("carryline.sqlite");
    (folder, path)
}
