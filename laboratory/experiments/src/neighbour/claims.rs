//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "zeroing-slows-bandwidth",
        "an idle core that zeroes pages through the cache slows another core's memory stream by at least 5 %",
        "no figure",
        Rule::at_least("bandwidth, beside cached zeroing", "bandwidth, alone", 1.05),
    ),
    Claim::new(
        "zeroing-slows-latency",
        "it slows another core's memory latency by at least 5 %",
        "no figure",
        Rule::at_least("latency, beside cached zeroing", "latency, alone", 1.05),
    ),
    Claim::new(
        "not-only-pollution",
        "not only the caches suffer: non-temporal zeroing slows a stream from memory as well",
        "no figure",
        Rule::at_least("bandwidth, beside NT zeroing", "bandwidth, alone", 1.05),
    ),
    Claim::new(
        "zeroing-pollutes-a-shared-cache",
        "zeroing through the cache evicts others' data: work within the last level is slowed by at least 10 %",
        "no figure",
        Rule::at_least("cache latency, beside cached zeroing", "cache latency, alone", 1.1),
    ),
    Claim::new(
        "past-the-cache-spares-it",
        "non-temporal zeroing hardly affects work within the last level: at most 5 % slower",
        "no figure",
        Rule::at_most("cache latency, beside NT zeroing", "cache latency, alone", 1.05),
    ),
];
