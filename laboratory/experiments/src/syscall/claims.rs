//! The claims of this experiment.

use super::ADDED;
use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "a-call-takes-83-ns",
        "the shortest system call takes 82.71 ns, within 20 %",
        "82.71 ns",
        Rule::Value { figure: "getppid, ns", at_least: Some(66.2), at_most: Some(99.3) },
    ),
    Claim::new(
        "a-call-takes-337-cycles",
        "it takes 337 cycles, within 20 %",
        "337 cycles",
        Rule::Value { figure: "getppid", at_least: Some(270.0), at_most: Some(404.0) },
    ),
    Claim::new(
        "ten-million-a-second",
        "getppid can be called 10.65 million times a second",
        "10.65 M/s",
        Rule::value_at_least("getppid, million a second", 10.65),
    ),
    Claim::new(
        "registers-give-45-percent",
        "registers instead of rep movsb for the six arguments make a system call 1.45 times as fast",
        "7.31 -> 10.65 M/s, doubted",
        Rule::at_least("rep movsb, then getppid", "registers, then getppid", 1.45),
    ),
    Claim::new(
        "the-copy-is-hidden",
        "next to a system call the difference between the two copies is at most 5 cycles",
        "1.2 cycles",
        Rule::value_at_most(ADDED, 5.0),
    ),
];
