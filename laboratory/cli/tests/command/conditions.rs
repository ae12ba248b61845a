//! The conditions of a cell are those that its labels state.

use crate::commands::cells;
use crate::support::{Place, short};
use serde_json::Value;

#[test]
fn every_condition_can_be_measured() {
    let place = Place::new();
    for (arguments, count) in [
        (&["--variants", "copy/avx2", "--cache", "hot,cold:clflush,cold:arena:src,cold:evict:dst"][..], 4),
        (&["--variants", "copy/avx2", "--cache", "cold:clflush:single,cold:arena:dst:single,mixed:30"], 3),
        (
            &[
                "--variants",
                "zero/sse2,copy/sse2,checksum/words16_c,copy_checksum/fused",
                "--dependence",
                "chained,independent,fenced",
            ],
            12,
        ),
        (&["--variants", "copy/int64_registers", "--offsets", "0,13,0:63,random,alias,random-line"], 6),
        (&["--variants", "zero/avx2", "--then", "nothing,read,read-later:64K,victim:16K"], 4),
        (&["--variants", "checksum/avx2,copy_checksum/fused", "--segments", "1,3,1,3,40,1500"], 2),
        (&["--variants", "zero/avx2", "--sizes", "0,1..64,fleet:memset-B,64K", "--pages", "4k,huge"], 8),
    ] {
        let once = ["--budget", "300ms", "--replicates", "1"];
        let arguments: Vec<&str> =
            ["measure"].into_iter().chain(arguments.iter().copied()).chain(once).collect();
        let run = place.json(&arguments);
        let bad: Vec<&Value> = cells(&run).iter().filter(|cell| cell["status"] != "ok").collect();
        assert!(bad.is_empty(), "{arguments:?}: {bad:?}");
        let mut situations: Vec<&str> =
            cells(&run).iter().filter_map(|cell| cell["situation"].as_str()).collect();
        situations.dedup();
        assert_eq!(situations.len(), count, "{situations:?}");
    }
}

#[test]
fn labels_come_from_what_ran() {
    let place = Place::new();
    let run = place.json(&short(&[
        "measure",
        "--variants",
        "checksum/avx2",
        "--sizes",
        "1..64",
        "--offsets",
        "random",
    ]));
    let seen = &cells(&run)[0]["observed"];
    assert_eq!((seen["size_min"].as_u64(), seen["size_max"].as_u64()), (Some(1), Some(64)), "{seen}");
    assert_eq!(seen["size_distinct"], 64);
    assert_eq!(seen["src_alignments"], 64);
    assert_eq!(seen["dst_alignments"], 0);
}

#[test]
fn an_alias_is_left_out_with_a_message_where_there_is_one_buffer() {
    let place = Place::new();
    let arguments = short(&[
        "measure",
        "--family",
        "zero,copy",
        "--variants",
        "zero/avx2,copy/avx2",
        "--sizes",
        "1500",
        "--offsets",
        "0,alias",
        "--format",
        "json",
    ]);
    let (out, err) = place.expect(&arguments, 0);
    let run: Value = serde_json::from_str(&out).expect("JSON");
    let mut measured: Vec<_> = cells(&run)
        .iter()
        .map(|cell| {
            (
                cell["family"].as_str().unwrap_or_default(),
                cell["condition"]["offsets"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    measured.sort_unstable();
    measured.dedup();
    assert_eq!(measured, [("copy", "0"), ("copy", "alias"), ("zero", "0")]);
    assert!(err.contains("left out: --offsets alias: needs two buffers, but zero has one"), "{err}");
}

#[test]
fn short_buffers_at_the_end_of_a_page_are_not_cold_in_an_arena() {
    let place = Place::new();
    let arguments = short(&[
        "measure",
        "--family",
        "zero",
        "--variants",
        "zero/libc_memset",
        "--sizes",
        "64",
        "--cache",
        "cold:arena",
        "--offsets",
        "end",
        "--no-save",
    ]);
    let (_, err) = place.expect(&arguments, 2);
    assert!(err.contains("so few lines that the caches keep them") && err.contains("cold:clflush"), "{err}");
}

#[test]
fn cold_mixed_and_accompanied_cells_report_what_ran() {
    let place = Place::new();
    let measure = |more: &[&str]| {
        let arguments = ["measure", "--variants", "copy/avx2", "--sizes", "4K", "--no-save"];
        let run = place.json(&short(&[&arguments[..], more].concat()));
        let cell = cells(&run).iter().find(|cell| cell["variant"] == "avx2").expect("the variant").clone();
        assert_eq!(cell["status"], "ok", "{cell}");
        cell["observed"].clone()
    };
    let stream = measure(&["--cache", "cold:clflush"]);
    assert!(stream["batch_calls"].as_u64() > Some(1), "{stream}");
    assert_eq!(measure(&["--cache", "cold:clflush:single"])["batch_calls"], 1);
    assert_eq!(measure(&["--offsets", "alias"])["near_alias"], 1.0);
    let random = measure(&["--offsets", "random"]);
    assert!(random["near_alias"].as_f64().is_some_and(|share| share < 0.1), "{random}");
    assert!(random.get("batch_calls").is_none() && random.get("beside_bytes").is_none(), "{random}");
    let mixed = measure(&["--cache", "mixed:30"]);
    assert!(mixed["hot_share"].as_f64().is_some_and(|share| (0.1..0.5).contains(&share)), "{mixed}");
    if carryline_machine::process::allowed_cpus().len() > 1 {
        let beside = measure(&["--beside", "stream"]);
        assert!(beside["beside_bytes"].as_u64() > Some(0), "{beside}");
    }
}

#[test]
fn a_large_cell_is_at_the_level_that_holds_it() {
    let place = Place::new();
    // Tests take the last level to have at most 16 MiB.
    let last = carryline_machine::environment::Environment::here().last_level_bytes().unwrap_or(32 << 20);
    let last_mib = (last >> 20).clamp(4, 16);
    let large = format!("{}K", (last_mib << 10) / 4 * 3);
    let arguments = ["measure", "--variants", "checksum/words16_c", "--sizes", &large, "--no-save"];
    let run = place.json(&short(&arguments));
    let level = &cells(&run)[0]["observed"]["level"];
    let warnings = run["warnings"].as_array().expect("a list");
    // The only cell is the largest one, which the level holds if all of what was read is held.
    let is_part = warnings.iter().any(|warning| warning["code"] == "W32");
    assert_eq!(level == "memory", is_part, "{level}: {warnings:?}");
    let limits = run["limits"].as_array().expect("a list");
    assert!(limits.iter().any(|limit| &limit["level"] == level), "{limits:?}");
}
