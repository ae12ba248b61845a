//! Goals of the checksum library in the AVX-512 tier.
//!
//! The fastest known peer, VPP's checksum for AVX-512, is C code that is in no package registry. Its speed is
//! known from measurements together with the kernel's own form, which is part of all our runs: a goal
//! `...-kernel` requires the same lead over that form. The kernel of those measurements summed two chains
//! (`adc_2_streams`; 52 ticks at 1500 bytes), so that form decides; the ratio to the classic one
//! (`adc_1_stream`) is also shown.

use crate::goal::{Against, Cells, Goal, Part};
use carryline_conditions::Offsets;
use carryline_variants::Family::{Checksum, Copy, CopyChecksum};

const BY_CALL: &str =
    "up to 64 bytes through a call: the null call plus 0.3 ticks; at 20 and 40 no slower than any peer";
const BY_SIZE: &str = "64 to 256 bytes: 1.2 times the best peer; 576: 1.3; 1500: 1.9; 4096 and 9000: 1.9";
const KERNEL: &str = "the lead over the kernel's form that corresponds to this lead over VPP's AVX-512 form";
const RANDOM: &str = "1500 bytes at random offsets: 1.7 times the best peer; elsewhere no slower";
const MIXED: &str = "random sizes 1..64, 1..256, 1..1500: 1.2, 1.8, 1.5 times the best peer";
const LEVELS: &str = "32 KiB in L1: 0.90 of the load limit; L2, L3 and memory: 0.95";
const COPIES: &str =
    "copy and sum: twice memcpy followed by the best sum, and within 1.25 times memcpy alone";

/// The variants measured with a copy and its sum if all would take too long.
const PAIR: [&str; 4] = ["carryline", "memcpy_then_sum", "libc_memcpy", "libc_memcpy_no_rep"];

/// Required ratios to the best peer by size: aligned, and at random offsets.
const PEERS: [(&str, f64, f64); 9] = [
    ("20", 1.0, 1.0),
    ("40", 1.0, 1.0),
    ("64", 1.2, 1.0),
    ("128", 1.2, 1.0),
    ("256", 1.2, 1.0),
    ("576", 1.3, 1.0),
    ("1500", 1.9, 1.7),
    ("4096", 1.9, 1.0),
    ("9000", 1.9, 1.0),
];

/// The ticks of the kernel's form and of the goal in the same run, by size.
const KERNELS: [(&str, f64, f64); 7] = [
    ("64", 6.4, 4.1),
    ("128", 6.5, 4.7),
    ("256", 9.9, 5.3),
    ("576", 18.9, 6.2),
    ("1500", 52.3, 9.0),
    ("4096", 146.0, 20.5),
    ("9000", 335.0, 44.0),
];

/// The same for random sizes, with the ratio to the best peer.
const MIXES: [(&str, &str, f64, f64, f64); 3] = [
    ("1-64", "1..64", 1.2, 30.0, 4.0),
    ("1-256", "1..256", 1.8, 42.0, 10.0),
    ("1-1500", "1..1500", 1.5, 63.0, 22.0),
];

/// For each cache level, a size that it holds, and the share of the load limit.
const SHARES: [(&str, &str, f64); 4] =
    [("l1", "32K", 0.90), ("l2", "256K", 0.95), ("l3", "8M", 0.95), ("memory", "128M", 0.95)];

fn goal(id: String, cells: Cells, against: Against, want: f64, source: &'static str) -> Goal {
    Goal::new(id, Part::Checksum, cells, against, want, source)
}

/// A goal against the kernel's form: `ticks` of that form, `aim` of ours.
fn kernel(id: String, cells: Cells, ticks: f64, aim: f64) -> Goal {
    let want = (ticks / aim * 100.0).round() / 100.0;
    goal(id, cells, Against::Variant("adc_2_streams"), want, KERNEL).also("adc_1_stream")
}

/// The goals.
#[must_use]
pub fn goals() -> Vec<Goal> {
    let mut goals = Vec::new();
    for size in ["20", "40", "64"] {
        let cells = Cells::hot(Checksum, [size]);
        goals.push(goal(format!("checksum-{size}-call"), cells, Against::Null(30), 1.0, BY_CALL));
    }
    for (size, want, _) in PEERS {
        let source = if want > 1.0 { BY_SIZE } else { BY_CALL };
        goals.push(goal(
            format!("checksum-{size}"),
            Cells::hot(Checksum, [size]),
            Against::BestPeer,
            want,
            source,
        ));
    }
    for (size, ticks, aim) in KERNELS {
        goals.push(kernel(format!("checksum-{size}-kernel"), Cells::hot(Checksum, [size]), ticks, aim));
    }
    for (size, _, want) in PEERS {
        let cells = Cells::hot(Checksum, [size]).random();
        goals.push(goal(format!("checksum-{size}-random"), cells, Against::BestPeer, want, RANDOM));
    }
    let cells = Cells::hot(Checksum, ["1500"]).random();
    goals.push(kernel("checksum-1500-random-kernel".to_owned(), cells, 57.0, 14.0));
    for (id, sizes, want, ticks, aim) in MIXES {
        let cells = Cells::hot(Checksum, [sizes]).random();
        goals.push(goal(format!("checksum-{id}"), cells.clone(), Against::BestPeer, want, MIXED));
        goals.push(kernel(format!("checksum-{id}-kernel"), cells, ticks, aim));
    }
    goals.push(goal(
        "checksum-latency-40".to_owned(),
        Cells::hot(Checksum, ["40"]).chained(),
        Against::Variant("adc_1_stream"),
        1.0 / 1.1,
        "chained latency at 40 bytes within 10 % of the classic form's",
    ));
    let cold = Cells::hot(Checksum, ["1500"]).random().cold();
    goals.push(goal(
        "checksum-cold-1500".to_owned(),
        cold.clone(),
        Against::BestPeer,
        1.4,
        "1500 bytes cold at random offsets: 1.4 times the best peer",
    ));
    goals.push(kernel("checksum-cold-1500-kernel".to_owned(), cold, 832.0, 185.0));
    for (level, size, want) in SHARES {
        let cells = Cells::hot(Checksum, [size]);
        goals.push(goal(format!("checksum-{level}"), cells, Against::Limit, want, LEVELS));
    }
    let large = Cells::hot(Checksum, ["32K", "256K"]).random();
    goals.push(goal("checksum-large-random".to_owned(), large, Against::BestPeer, 1.0, RANDOM));
    for (ending, offsets) in [("random", Offsets::Random), ("alias", Offsets::Alias)] {
        let cells = Cells::hot(CopyChecksum, ["1500", "9000"]).at(offsets).with([Copy]).only(&PAIR);
        let alone = Against::Elsewhere(Copy, "libc_memcpy");
        goals.push(goal(format!("checksum-copy-{ending}-memcpy"), cells, alone, 1.0 / 1.25, COPIES));
    }
    for size in ["1500", "9000"] {
        let cells = Cells::hot(CopyChecksum, [size]).with([Copy, Checksum]);
        let two = goal(format!("checksum-copy-{size}"), cells.clone(), Against::TwoPasses, 2.0, COPIES);
        goals.push(two.also("memcpy_then_sum"));
        let alone = Against::Elsewhere(Copy, "libc_memcpy");
        goals.push(goal(format!("checksum-copy-{size}-memcpy"), cells, alone, 1.0 / 1.25, COPIES));
    }
    goals
}
