//! Goals of every tier: no size from 0 to 4096 at which a peer is much faster.

use crate::goal::{Against, Cells, Goal, Part};
use carryline_variants::Family::{self, Checksum, Copy, Zero};

/// The sentence that the goals are taken from.
pub const SOURCE: &str =
    "no size from 0 to 4096 more than 5 % behind the best peer, at fixed and at random offsets";

/// The variants measured for each family: ours, and the peers that are the fastest at some size. All variants
/// would take too long.
const VARIANTS: [(Family, &[&str]); 3] = [
    (Zero, &["carryline", "libc_memset", "libc_memset_no_rep", "write_bytes"]),
    (Copy, &["carryline", "libc_memcpy", "libc_memcpy_no_rep", "stringzilla"]),
    (Checksum, &["carryline", "adc_1_stream", "adc_2_streams", "etherparse", "s2n_quic"]),
];

/// Sizes from 0 to 4096: all up to 40, then those around multiples of powers of two, where size ladders have
/// steps, and some in between.
fn sizes() -> Vec<String> {
    let mut sizes: Vec<u32> = (0..=40).collect();
    for step in [48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024, 1536, 2048, 3072, 4096] {
        sizes.extend([step - 1, step, step + 1]);
    }
    sizes.extend([100, 200, 450, 640, 900, 1280, 1500, 1800, 2500, 3500]);
    sizes.retain(|size| *size <= 4096);
    sizes.sort_unstable();
    sizes.iter().map(u32::to_string).collect()
}

/// Sizes between those, for random offsets: just above a multiple of the bytes that a loop moves in a turn, the
/// number of its turns may depend on the alignment, and its end is mispredicted. The step is a prime, so that the
/// sizes meet every such multiple at a different distance.
fn between() -> Vec<String> {
    (262..=2160).step_by(61).map(|size| size.to_string()).collect()
}

/// The goals.
#[must_use]
pub fn goals() -> Vec<Goal> {
    let mut goals = Vec::new();
    for (family, variants) in VARIANTS {
        let part = if family == Checksum { Part::Checksum } else { Part::Memory };
        let fixed = Cells::hot(family, sizes()).only(variants);
        let between = Cells::hot(family, between()).only(variants).random();
        for (ending, cells) in [("", fixed.clone()), ("-random", fixed.random()), ("-between", between)] {
            let id = format!("{family}-sizes{ending}");
            goals.push(Goal::new(id, part, cells, Against::BestPeer, 1.0 / 1.05, SOURCE));
        }
    }
    goals
}
