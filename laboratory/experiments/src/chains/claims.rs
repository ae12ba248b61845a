//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "all-agree",
        "all implementations return the same checksum for every chain at every alignment",
        "72 of 72 draws",
        Rule::value_at_most("draws that disagree", 0.0),
    )
    .of_any_machine(),
    Claim::new(
        "per-buffer-cost",
        "on 32 one-byte buffers, myc1's alignment handling makes it slower than dr1",
        "131 against 118 (no unit given)",
        Rule::at_least("myc1 32 x 1", "dr1 32 x 1", 1.0),
    ),
    Claim::new(
        "bde1-loses-short",
        "on buffers of 1 and 3 bytes bde1 takes at least 1.5 times as long as the C version",
        "90 against 49 (no unit given)",
        Rule::at_least("bde1 1 3 1 3 1 3 1", "orig 1 3 1 3 1 3 1", 1.5),
    ),
    Claim::new(
        "all-meet-at-40",
        "on 40 bytes dr1, myc1 and myc2 are within 10 % of each other",
        "12, 12.5 and 12 (no unit given)",
        Rule::All(&[
            Rule::between("myc1 40", "dr1 40", 0.9, 1.1),
            Rule::between("myc2 40", "dr1 40", 0.9, 1.1),
        ]),
    ),
    Claim::new(
        "rewritten-beats-c-at-40",
        "on 40 bytes dr1 is at least 3 times as fast as the C version",
        "12 against 54 (no unit given)",
        Rule::at_least("orig 40", "dr1 40", 3.0),
    ),
    Claim::new(
        "touching-wins-from-576",
        "from 576 bytes on, touching the lines ahead is at least 1.3 times as fast",
        "47 -> 28, 108.5 -> 58.5, 141 -> 74 (no unit given)",
        Rule::All(&[
            Rule::at_least("dr1 576", "myc2 576", 1.3),
            Rule::at_least("dr1 1536", "myc2 1536", 1.3),
            Rule::at_least("dr1 2048", "myc2 2048", 1.3),
        ]),
    ),
    Claim::new(
        "last-word-first",
        "adding the last word of each 16 bytes first gains at least 5 % at 2048 bytes",
        "141 -> 128 (no unit given)",
        Rule::at_least("dr1 2048", "myc1 2048", 1.05),
    ),
    Claim::new(
        "touching-wins-nfs",
        "on a reassembled NFS packet, touching the lines ahead is at least 1.4 times as fast",
        "1778 -> 1165.5 (no unit given)",
        Rule::at_least("dr1 10 x 1536 + 1152", "myc2 10 x 1536 + 1152", 1.4),
    ),
    Claim::new(
        "rewritten-beats-c-tenfold",
        "on 2048 bytes at an even address the C version takes at least 10 times as long as dr1",
        "1753 against 140 (no unit given)",
        Rule::at_least("orig 2048 even", "dr1 2048 even", 10.0),
    ),
    Claim::new(
        "c-slower-at-odd-addresses",
        "the C version takes at least 1.4 times as long at an odd address",
        "2773 against 1753 (no unit given)",
        Rule::at_least("orig 2048 odd", "orig 2048 even", 1.4),
    ),
    Claim::new(
        "rewritten-immune",
        "the rewritten versions are within 5 % at odd and even addresses",
        "145 and 145, 142 and 140, 129 and 128, 74 and 74 (no unit given)",
        Rule::All(&[
            Rule::between("bde1 2048 odd", "bde1 2048 even", 0.95, 1.05),
            Rule::between("dr1 2048 odd", "dr1 2048 even", 0.95, 1.05),
            Rule::between("myc1 2048 odd", "myc1 2048 even", 0.95, 1.05),
            Rule::between("myc2 2048 odd", "myc2 2048 even", 0.95, 1.05),
        ]),
    ),
];
