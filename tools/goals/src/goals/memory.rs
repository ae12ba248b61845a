//! Goals of the zero and copy library in the AVX-512 tier.

use super::fleet;
use crate::goal::{Against, Cells, Goal, Part};
use carryline_conditions::{Offsets, Then};
use carryline_variants::Family::{Copy, Zero};

const FLEET: &str = "fleet distributions, sizes that no predictor can learn: memcpy and memmove 2.6 times libc in the \
     geometric mean, memset 1.4 times, no single set below";
const LEARNT: &str = "fleet distributions, 4096 sizes repeated: 1.05 times libc in the mean, no set below";
const STORES: &str = "hot, 2 to 20 KB: 0.98 of the store limit";
const LARGE: &str = "copies of 32 to 512 KB no slower than libc; of 1 to 8 MB 1.1 times as fast";
const COLD: &str = "cold, the data not needed soon: zeroing of 4 KB and more twice libc, copies of 64 MB and more 1.3 \
     times, never slower; non-temporal stores at 0.95 of their limit";
const LATER: &str =
    "zero now, read later (4 MB and more between): 1.3 times libc in total; read immediately: no slower";
const ELSEWHERE: &str = "at offsets from the whole page and at near-aliases no slower than libc, above 1 KiB";
const LOADED: &str = "a copy whose result is loaded immediately costs at most 1.15 times libc's";
const EDGE: &str = "a call ending at an unmapped page costs at most 5 ticks more than elsewhere";

/// The required mean ratio over each function's distributions.
const FLEETS: [f64; 3] = [2.6, 2.6, 1.4];

/// The variant with the data declared not needed soon.
const NOT_SOON: &str = "carryline_not_soon";

/// The variant with the data declared read immediately.
const READ_HERE: &str = "carryline_read_here";

/// How many MiB are accessed between zeroing and reading, and the intent that a caller declares: as long as a
/// last level may hold the bytes, "not soon" is not true.
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

/// The goals.
#[must_use]
pub fn goals() -> Vec<Goal> {
    let memset = Against::Variant("libc_memset");
    let memcpy = Against::Variant("libc_memcpy");
    let mut goals = Vec::new();
    for (sets, want) in fleet::ALL.iter().zip(FLEETS) {
        let (function, ours, against) = (sets.function, sets.ours, Against::Variant(sets.libc));
        let drawn = sets.drawn();
        goals.push(goal(&format!("fleet-{function}"), drawn.clone(), against, want, FLEET).ours(ours).mean());
        goals.push(goal(&format!("fleet-{function}-worst"), drawn, against, 1.0, FLEET).ours(ours));
        let learnt = sets.learnt();
        goals.push(
            goal(&format!("learnt-{function}"), learnt.clone(), against, 1.05, LEARNT).ours(ours).mean(),
        );
        goals.push(goal(&format!("learnt-{function}-worst"), learnt, against, 1.0, LEARNT).ours(ours));
    }
    goals.push(goal("zero-hot", Cells::hot(Zero, HOT), Against::Limit, 0.98, STORES).also("libc_memset"));
    goals.push(goal("copy-hot", Cells::hot(Copy, HOT), Against::Limit, 0.98, STORES).also("libc_memcpy"));
    goals.push(goal("zero-hot-random", Cells::hot(Zero, HOT).random(), memset, 1.0, ELSEWHERE));
    goals.push(goal("copy-hot-random", Cells::hot(Copy, HOT).random(), memcpy, 1.0, ELSEWHERE));
    let alias = Cells::hot(Copy, HOT).at(Offsets::Alias);
    goals.push(goal("copy-hot-alias", alias, memcpy, 1.0, ELSEWHERE));
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
    goals
}
