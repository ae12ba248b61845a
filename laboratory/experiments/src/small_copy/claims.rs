//! The claims of this experiment.

use super::SAVED;
use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "registers-beat-rep-movs",
        "48 bytes through 64-bit registers beat rep movsb",
        "'much faster'",
        Rule::at_least("rep movsb, independent", "64-bit registers, independent", 1.0),
    ),
    Claim::new(
        "registers-beat-rep-movsq",
        "they beat rep movsq too, which moves six words",
        "'much faster'",
        Rule::at_least("rep movsq, independent", "64-bit registers, independent", 1.0),
    ),
    Claim::new(
        "even-32-bit-registers-win",
        "even 32-bit registers are at least twice as fast as rep movsb",
        "'much faster'",
        Rule::at_least("rep movsb, independent", "32-bit registers, independent", 2.0),
    ),
    Claim::new(
        "a-start-up-is-saved",
        "a fixed length in registers saves the 25 cycles of a start-up, within a third",
        "'more like 25 cycles'",
        Rule::Value { figure: SAVED, at_least: Some(16.7), at_most: Some(33.3) },
    ),
    Claim::new(
        "inlined-rep-beats-a-call",
        "an inlined rep movsb of 48 bytes is no slower than a call to the library",
        "'better than most libraries'",
        Rule::at_most("rep movsb, independent", "a call: libc, independent", 1.0),
    ),
    Claim::new(
        "misses-make-all-alike",
        "with an uncached source, rep movsb and registers are within 25 % of each other",
        "'all methods are slow'",
        Rule::between("rep movsb, missing", "64-bit registers, missing", 0.8, 1.25),
    ),
];
