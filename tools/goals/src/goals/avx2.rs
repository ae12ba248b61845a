//! Goals of the AVX2 tier.

use super::fleet;
use crate::goal::{Against, Cells, Goal, Part};
use carryline_conditions::Offsets;
use carryline_variants::Family::{Checksum, Copy, CopyChecksum};

const SUMS: &str = "sums: 1.4 times the best peer at 20 to 64 bytes, 1.9 at 1500 (1.8 at random offsets), 2.7 at 4096, 3.1 \
     at 9000; 5, 3.7 and 2.2 times on 1..64, 1..256 and 1..1500";
const SHARES: &str = "sums: 0.60 of the load limit at 4096 bytes, 0.70 at 9000, 0.95 in L2";
const FLEET: &str = "fleet distributions, sizes that no predictor can learn, offsets from the whole page: 1.2 times libc \
     in the mean, no set below";
const LEARNT: &str = "fleet distributions, 4096 sizes repeated: memcpy and memmove 1.1 times libc in the mean, no \
     set below; memset not below 0.98";
const COPIES: &str =
    "copy and sum: at 1500 bytes within 1.15 times memcpy alone, at 9000 and at random offsets faster";

/// Goals relative to the best peer: name, sizes, whether at random offsets, ratio.
const PEERS: [(&str, &str, bool, f64); 10] = [
    ("20", "20", false, 1.4),
    ("40", "40", false, 1.4),
    ("64", "64", false, 1.4),
    ("1500", "1500", false, 1.9),
    ("1500-random", "1500", true, 1.8),
    ("4096", "4096", false, 2.7),
    ("9000", "9000", false, 3.1),
    ("1-64", "1..64", true, 5.0),
    ("1-256", "1..256", true, 3.7),
    ("1-1500", "1..1500", true, 2.2),
];

fn sum(id: &str, cells: Cells, against: Against, want: f64, source: &'static str) -> Goal {
    Goal::new(format!("checksum-{id}"), Part::Checksum, cells, against, want, source)
}

/// The goals.
#[must_use]
pub fn goals() -> Vec<Goal> {
    let mut goals = Vec::new();
    for (id, size, is_random, want) in PEERS {
        let cells = Cells::hot(Checksum, [size]);
        let cells = if is_random { cells.random() } else { cells };
        goals.push(sum(id, cells, Against::BestPeer, want, SUMS));
    }
    for (id, size, want) in [("4096-limit", "4096", 0.60), ("9000-limit", "9000", 0.70), ("l2", "256K", 0.95)]
    {
        goals.push(sum(id, Cells::hot(Checksum, [size]), Against::Limit, want, SHARES));
    }
    let alone = Against::Elsewhere(Copy, "libc_memcpy");
    for (id, size, offsets, want) in [
        ("copy-1500", "1500", Offsets::ALIGNED, 1.0 / 1.15),
        ("copy-9000", "9000", Offsets::ALIGNED, 1.0),
        ("copy-1500-random", "1500", Offsets::Random, 1.0),
        ("copy-9000-random", "9000", Offsets::Random, 1.0),
    ] {
        let cells = Cells::hot(CopyChecksum, [size]).at(offsets).with([Copy]);
        goals.push(sum(id, cells, alone, want, COPIES));
    }
    for sets in &fleet::ALL {
        let against = Against::Variant(sets.libc);
        let is_memset = sets.function == "memset";
        let goal = |id: String, cells: Cells, want: f64, source| {
            Goal::new(id, Part::Memory, cells, against, want, source).ours(sets.ours)
        };
        let function = sets.function;
        goals.push(goal(format!("fleet-{function}"), sets.drawn(), 1.2, FLEET).mean());
        goals.push(goal(format!("fleet-{function}-worst"), sets.drawn(), 1.0, FLEET));
        if !is_memset {
            goals.push(goal(format!("learnt-{function}"), sets.learnt(), 1.1, LEARNT).mean());
        }
        let worst = if is_memset { 0.98 } else { 1.0 };
        goals.push(goal(format!("learnt-{function}-worst"), sets.learnt(), worst, LEARNT));
    }
    goals
}
