//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "versions-agree",
        "the three versions return the same checksum",
        "in every row",
        Rule::value_at_most("rows that disagree", 0.0),
    )
    .of_any_machine(),
    Claim::new(
        "new-beats-c",
        "on every chain the new assembly beats the C version by a quarter",
        "26 to 41 %",
        Rule::All(&[
            Rule::at_least("orig 2 of 78", "myc1 2 of 78", 1.25),
            Rule::at_least("orig 12 of 734", "myc1 12 of 734", 1.25),
            Rule::at_least("orig 3 of 196", "myc1 3 of 196", 1.25),
            Rule::at_least("orig 12 of 653", "myc1 12 of 653", 1.25),
        ]),
    ),
    Claim::new(
        "openbsd-beats-c",
        "on every chain OpenBSD's version beats the C version by a third",
        "36 to 55 %",
        Rule::All(&[
            Rule::at_least("orig 2 of 78", "dr1 2 of 78", 1.33),
            Rule::at_least("orig 12 of 734", "dr1 12 of 734", 1.33),
            Rule::at_least("orig 3 of 196", "dr1 3 of 196", 1.33),
            Rule::at_least("orig 12 of 653", "dr1 12 of 653", 1.33),
        ]),
    ),
    Claim::new(
        "openbsd-beats-new",
        "on every chain OpenBSD's version beats the new assembly",
        "7 to 21 %",
        Rule::All(&[
            Rule::at_least("myc1 2 of 78", "dr1 2 of 78", 1.0),
            Rule::at_least("myc1 12 of 734", "dr1 12 of 734", 1.0),
            Rule::at_least("myc1 3 of 196", "dr1 3 of 196", 1.0),
            Rule::at_least("myc1 12 of 653", "dr1 12 of 653", 1.0),
        ]),
    ),
];
