//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};
use carryline_results::sources::TORVALDS_2000;

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "start-up-of-25-cycles",
        "rep movsb takes 25 cycles to start, within a third",
        "25 cycles",
        Rule::Value { figure: "movsb, aligned, start-up", at_least: Some(16.7), at_most: Some(33.3) },
    ),
    Claim::new(
        "rate-of-32-bytes",
        "then it moves about 32 bytes a cycle, within a third, with both buffers in the first level",
        "32 B/cycle",
        Rule::Value { figure: "movsb, aligned, rate", at_least: Some(21.3), at_most: Some(42.7) },
    ),
    Claim::new(
        "half-at-800-bytes",
        "so it takes 800 bytes, within a third, to repay half of the start-up",
        "25 * 32 = 800 bytes",
        Rule::Value {
            figure: "movsb, aligned, half-performance",
            at_least: Some(533.0),
            at_most: Some(1067.0),
        },
    ),
    Claim::new(
        "empty-rep-costs-a-start-up",
        "a rep movsb of zero bytes still costs a start-up",
        "about 25 cycles",
        Rule::value_at_least("movsb, aligned, 0", 16.7),
    ),
    Claim::new(
        "second-rep-doubles-the-overhead",
        "a second rep movs, nearly always empty, doubles the cost of a short copy by the first",
        "'null except in misaligned cases', 'pessimal', no figure",
        Rule::at_least("movsq and movsb, aligned, 64", "movsq, aligned, 64", 2.0),
    ),
    Claim::new(
        "inlined-beats-libraries",
        "with fast strings an inlined rep movsb of 4 KB is no slower than the library's memcpy",
        "'better than most libraries'",
        Rule::at_most("movsb, aligned, 4096", "libc, aligned, 4096", 1.0),
    ),
    Claim::new(
        "stosb-as-fast-as-stosl",
        "4 KB by rep stosb take as long as by rep stosl, within 5 %",
        "863 against 847 cycles",
        Rule::between("stosb, aligned, 4096", "stosl, aligned, 4096", 0.95, 1.05),
    )
    .by(&TORVALDS_2000),
];
