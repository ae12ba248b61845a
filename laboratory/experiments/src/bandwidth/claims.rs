//! The claims of this experiment.

use super::MOST;
use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "reads-reach-half",
        "reads of memory reach half of its bandwidth",
        "1/2 of the bandwidth",
        Rule::between("read", MOST, 0.4, 0.6),
    ),
    Claim::new(
        "writes-reach-a-third",
        "writes through the caches reach a third of it",
        "1/3 (0.71 of 2.24 GB/s)",
        Rule::between("cached write", MOST, 0.25, 0.42),
    ),
    Claim::new(
        "nt-reaches-all",
        "non-temporal writes reach all of it",
        "2.24 GB/s of about 2.1",
        Rule::at_least("non-temporal write", MOST, 0.95),
    ),
    Claim::new(
        "nt-three-times-cached",
        "never cached, non-temporal writes are about 3 times as fast as cached ones",
        "2.24 against 0.71 GB/s",
        Rule::between("non-temporal write", "cached write", 2.5, 3.5),
    ),
    Claim::new(
        "no-read-before-write-doubles-zeroing",
        "writing without reading first roughly doubles the speed of zeroing",
        "'roughly double', quoted",
        Rule::between("non-temporal write", "cached write", 1.7, 2.3),
    ),
    Claim::new(
        "no-read-before-write-helps-copies",
        "writing without reading first makes copies about 1.5 times as fast",
        "'about 50 %', quoted",
        Rule::between("non-temporal copy", "cached copy", 1.3, 1.7),
    ),
    Claim::new(
        "reads-beat-cached-writes",
        "reads move 1.5 times as much as cached writes",
        "1/2 against 1/3 of the bandwidth",
        Rule::between("read", "cached write", 1.3, 1.7),
    ),
];
