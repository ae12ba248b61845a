//! Goals of the SSE2 tier, to which few machines belong: no loss, against the C library's routines and the checksum of current
//! kernels.

use super::fleet;
use crate::goal::{Against, Cells, Goal, Part};
use carryline_variants::Family::Checksum;

const SUMS: &str = "sums no slower than those of current kernels";
const FLEET: &str = "fleet distributions, sizes that no predictor can learn, offsets from the whole page: no slower than \
     libc in the mean, no set below";

/// The goals.
#[must_use]
pub fn goals() -> Vec<Goal> {
    let kernel = Against::Variant("adc_2_streams");
    let fixed = Cells::hot(Checksum, ["20", "40", "64", "128", "256", "576", "1500", "4096", "9000"]);
    let mixed = Cells::hot(Checksum, ["1..64", "1..256", "1..1500"]).random();
    let sums = [
        ("checksum-kernel", fixed.clone()),
        ("checksum-kernel-random", fixed.random()),
        ("checksum-mixed", mixed),
    ]
    .map(|(id, cells)| Goal::new(id, Part::Checksum, cells, kernel, 1.0, SUMS));
    let moves = fleet::ALL.iter().flat_map(|sets| {
        let (function, libc) = (sets.function, Against::Variant(sets.libc));
        let goal = |id: String| Goal::new(id, Part::Memory, sets.drawn(), libc, 1.0, FLEET).ours(sets.ours);
        [goal(format!("fleet-{function}")).mean(), goal(format!("fleet-{function}-worst"))]
    });
    sums.into_iter().chain(moves).collect()
}
