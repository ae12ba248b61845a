//! The claims of this experiment.

use super::REAL_WORK;
use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "ordered-frames-help-writes",
        "frames in order make the write benchmark at least 25 % faster than random frames",
        "+33 %",
        Rule::at_least("write, frames at random", "write, frames in order", 1.25),
    ),
    Claim::new(
        "real-work-gains-nothing",
        "in real work page colouring gains nothing",
        "0 % of real time",
        Rule::between(REAL_WORK, "real work as it is", 0.99, 1.01),
    ),
];
