//! Goals of the zero and copy library.

use crate::goal::{Against, Cells, Goal, Part};
use carryline_measure::condition::Then;
use carryline_measure::fleet;
use carryline_variants::Family::{self, Copy, Zero};

const FLEET: &str = "fleet distributions, sizes that no predictor can learn: memcpy and memmove 2.4 times libc in the \
     geometric mean, memset 1.4 times, no single set below";
const LEARNT: &str =
    "fleet distributions, 4096 sizes again and again: 1.05 times libc in the mean, no set below";
const STORES: &str = "hot, 2 to 20 KB: 0.95 of the store limit";
const LARGE: &str = "copies of 32 to 512 KB no slower than libc; of 1 to 8 MB 1.1 times as fast";
const COLD: &str = "cold, the data not needed soon: zeroing of 4 KB and more twice libc, copies of 64 MB and more 1.3 \
     times, never slower; non-temporal stores at 0.95 of their limit";
const LATER: &str =
    "zero now, read later (4 MB and more between): 1.3 times libc in total; read at once: no slower";
const LOADED: &str = "a copy whose result is loaded at once costs at most 1.15 times libc's";
const EDGE: &str = "a call ending at an unmapped page costs at most 5 ticks more than elsewhere";
const SWEEP: &str = "no loss to libc of more than 5 % at any size from 0 to 4096";

/// The fleet's sets by function: the family that does the job, our routine, the C library's, the lead in the mean.
const FLEETS: [(&str, Family, &str, &str, f64); 3] = [
    ("memcpy", Copy, "carryline", "libc_memcpy", 2.4),
    ("memmove", Copy, OVERLAPPING, "libc_memmove", 2.4),
    ("memset", Zero, "carryline", "libc_memset", 1.4),
];

/// What is told that the data is not needed soon.
const NOT_SOON: &str = "carryline_not_soon";

/// What bears an overlap, as memmove does.
const OVERLAPPING: &str = "carryline_overlapping";

/// What is told that the data is read at once.
const READ_HERE: &str = "carryline_read_here";

/// How many MiB lie between zeroing and reading, and what a caller says then: as long as a last level may hold the bytes,
/// "not soon" is not true.
const LATER_READS: [(&str, u64, &str); 3] = [
    ("zero-read-later-4m", 4, "carryline"),
    ("zero-read-later-16m", 16, "carryline"),
    ("zero-read-later-128m", 128, NOT_SOON),
];

const HOT: [&str; 5] = ["2K", "4K", "8K", "16K", "20K"];
const MIDDLE: [&str; 5] = ["32K", "64K", "128K", "256K", "512K"];
const BIG: [&str; 3] = ["1M", "4M", "8M"];
const EDGES: [&str; 10] = ["0", "1", "8", "31", "63", "64", "127", "200", "256", "1500"];
const CALLS: [&str; 3] = ["4K", "64K", "1M"];

fn goal(id: &str, cells: Cells, against: Against, want: f64, source: &'static str) -> Goal {
    Goal::new(id, Part::Memory, cells, against, want, source)
}

/// The sets of one function, each with an ending.
fn sets(function: &str, ending: &str) -> Vec<String> {
    let of = |name: &&&str| name.strip_prefix(function).is_some_and(|rest| rest.starts_with('-'));
    fleet::NAMES.iter().filter(of).map(|name| format!("fleet:{name}{ending}")).collect()
}

/// Sizes from 0 to 4096: every one up to 40, then those around multiples of powers of two, where ladders have steps,
/// and some between.
fn sweep() -> Vec<String> {
    let mut sizes: Vec<u32> = (0..=40).collect();
    for step in [48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024, 1536, 2048, 3072, 4096] {
        sizes.extend([step - 1, step, step + 1]);
    }
    sizes.extend([100, 200, 450, 640, 900, 1280, 1500, 1800, 2500, 3500]);
    sizes.retain(|size| *size <= 4096);
    sizes.sort_unstable();
    sizes.iter().map(u32::to_string).collect()
}

/// The goals.
#[must_use]
pub fn goals() -> Vec<Goal> {
    let memset = Against::Variant("libc_memset");
    let memcpy = Against::Variant("libc_memcpy");
    let mut goals = Vec::new();
    for (function, family, ours, libc, want) in FLEETS {
        let cells = Cells::hot(family, sets(function, "")).random();
        let against = Against::Variant(libc);
        goals.push(goal(&format!("fleet-{function}"), cells.clone(), against, want, FLEET).ours(ours).mean());
        goals.push(goal(&format!("fleet-{function}-worst"), cells, against, 1.0, FLEET).ours(ours));
        let cells = Cells::hot(family, sets(function, "/period:4096")).random();
        let (mean, worst) = (format!("learnt-{function}"), format!("learnt-{function}-worst"));
        goals.push(goal(&mean, cells.clone(), against, 1.05, LEARNT).ours(ours).mean());
        goals.push(goal(&worst, cells, against, 1.0, LEARNT).ours(ours));
    }
    goals.push(goal("zero-hot", Cells::hot(Zero, HOT), Against::Limit, 0.95, STORES).also("libc_memset"));
    goals.push(goal("copy-hot", Cells::hot(Copy, HOT), Against::Limit, 0.95, STORES).also("libc_memcpy"));
    goals.push(goal("copy-32k-512k", Cells::hot(Copy, MIDDLE), memcpy, 1.0, LARGE));
    goals.push(goal("copy-1m-8m", Cells::hot(Copy, BIG), memcpy, 1.1, LARGE));
    goals.push(goal("zero-cold", Cells::hot(Zero, CALLS).cold(), memset, 2.0, COLD).ours(NOT_SOON));
    goals.push(goal("zero-64m", Cells::hot(Zero, ["64M"]), Against::Limit, 0.95, COLD).ours(NOT_SOON));
    goals.push(goal("copy-cold", Cells::hot(Copy, CALLS).cold(), memcpy, 1.0, COLD).ours(NOT_SOON));
    goals.push(goal("copy-64m", Cells::hot(Copy, ["64M"]), memcpy, 1.3, COLD).ours(NOT_SOON));
    for (id, between, ours) in LATER_READS {
        let cells = Cells::hot(Zero, ["4K", "64K"]).then(Then::ReadLater(between << 20));
        goals.push(goal(id, cells, memset, 1.3, LATER).ours(ours));
    }
    let at_once = Cells::hot(Zero, ["256", "4K", "64K"]).then(Then::Read);
    goals.push(goal("zero-read", at_once, memset, 1.0, LATER).ours(READ_HERE));
    let loaded = Cells::hot(Copy, ["16", "64", "256", "1500"]).then(Then::Read);
    goals.push(goal("copy-read", loaded, memcpy, 1.0 / 1.15, LOADED).ours(READ_HERE));
    let chained = Cells::hot(Copy, ["16", "64", "256", "1500"]).chained();
    goals.push(goal("copy-chained", chained, memcpy, 1.0 / 1.15, LOADED).ours(READ_HERE));
    for (id, family, libc) in [("zero-page-end", Zero, "libc_memset"), ("copy-page-end", Copy, "libc_memcpy")]
    {
        let cells = Cells::hot(family, EDGES).at_page_ends().only(&["carryline", libc]);
        goals.push(goal(id, cells, Against::OursAt(500), 1.0, EDGE));
    }
    let cells = Cells::hot(Zero, sweep()).random().only(&["carryline", "libc_memset"]);
    goals.push(goal("zero-sizes", cells, memset, 1.0 / 1.05, SWEEP));
    let cells = Cells::hot(Copy, sweep()).random().only(&["carryline", "libc_memcpy"]);
    goals.push(goal("copy-sizes", cells, memcpy, 1.0 / 1.05, SWEEP));
    goals
}
