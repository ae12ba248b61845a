//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "l1-takes-1-ns",
        "the first level answers in 1 ns, within 25 %",
        "1 ns",
        Rule::Value { figure: "L1, ns", at_least: Some(0.75), at_most: Some(1.25) },
    ),
    Claim::new(
        "l2-takes-4.5-ns",
        "the second level answers in 4.5 ns, within 25 %",
        "4.5 ns",
        Rule::Value { figure: "L2, ns", at_least: Some(3.38), at_most: Some(5.63) },
    ),
    Claim::new(
        "memory-takes-16-ns",
        "memory answers in 16.3 ns, within 25 %",
        "16.3 ns, doubted",
        Rule::Value { figure: "memory, ns", at_least: Some(12.2), at_most: Some(20.4) },
    ),
    Claim::new(
        "memory-takes-100-cycles-or-two",
        "memory answers in 100 to 200 cycles",
        "'100-200 is more common'",
        Rule::Value { figure: "memory", at_least: Some(100.0), at_most: Some(200.0) },
    ),
    Claim::new(
        "third-level-taken-for-memory",
        "16.3 ns, within 25 %, is what the third level takes",
        "16.3 ns, 'old lmbench doesn't understand L3'",
        Rule::Value { figure: "L3, ns", at_least: Some(12.2), at_most: Some(20.4) },
    ),
    Claim::new(
        "steps-hide-memory",
        "a walk through memory in steps of 128 bytes shows at most half of its latency",
        "16.3 ns, doubted",
        Rule::at_most("memory, in steps of 128 bytes", "memory", 0.5),
    ),
];
