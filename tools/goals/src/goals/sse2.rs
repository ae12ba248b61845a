//! Goals of the SSE2 tier, to which few machines belong: no loss, and sums no slower than the kernel's form.

use crate::goal::{Against, Cells, Goal, Part};
use carryline_variants::Family::Checksum;

const SUMS: &str = "sums no slower than those of current kernels";

/// The goals.
#[must_use]
pub fn goals() -> Vec<Goal> {
    let kernel = Against::Variant("adc_2_streams");
    let fixed = Cells::hot(Checksum, ["20", "40", "64", "128", "256", "576", "1500", "4096", "9000"]);
    let mixed = Cells::hot(Checksum, ["1..64", "1..256", "1..1500"]).random();
    [
        ("checksum-kernel", fixed.clone()),
        ("checksum-kernel-random", fixed.random()),
        ("checksum-mixed", mixed),
    ]
    .map(|(id, cells)| Goal::new(id, Part::Checksum, cells, kernel, 1.0, SUMS))
    .into()
}
