//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "hot-cached-beats-nt",
        "hot, the best loop through the cache is at least 3 times as fast as movntps",
        "9.80 against 2.28 GB/s",
        Rule::at_least("movntps hot", "best cached hot", 3.0),
    ),
    Claim::new(
        "cold-nt-beats-cached",
        "never cached, movntps is at least 2.5 times as fast as the best other",
        "2.24 against 0.78 GB/s",
        Rule::at_least("best cached cold", "movntps cold", 2.5),
    ),
    Claim::new(
        "unrolling-helps-hot",
        "hot, unrolling to 64 bytes is at least 1.5 times as fast as stosl",
        "9.80 against 5.89 GB/s",
        Rule::at_least("stosl hot", "unroll 64 hot", 1.5),
    ),
    Claim::new(
        "unrolling-idle-cold",
        "never cached, unrolling to 64 bytes gains nothing over stosl",
        "0.67 against 0.71 GB/s",
        Rule::at_least("unroll 64 cold", "stosl cold", 0.97),
    ),
    Claim::new(
        "preallocate-never-helps",
        "reading a line before writing it never helps, hot or cold",
        "-10, -17, -14 % hot; -5, -4, -1 % cold",
        Rule::All(&[
            Rule::at_least("unroll 16 preallocate hot", "unroll 16 hot", 0.97),
            Rule::at_least("unroll 32 preallocate hot", "unroll 32 hot", 0.97),
            Rule::at_least("unroll 64 preallocate hot", "unroll 64 hot", 0.97),
            Rule::at_least("unroll 16 preallocate cold", "unroll 16 cold", 0.97),
            Rule::at_least("unroll 32 preallocate cold", "unroll 32 cold", 0.97),
            Rule::at_least("unroll 64 preallocate cold", "unroll 64 cold", 0.97),
        ]),
    ),
    Claim::new(
        "no-read-before-write",
        "never cached, stores that need no read before the write save 66 % of the time or more",
        "0.71 -> 2.24 GB/s",
        Rule::at_most("movntps cold", "stosl cold", 0.34),
    ),
    Claim::new(
        "plain-loop-slow-hot",
        "hot, a plain loop of movl takes at least 1.5 times as long as stosl",
        "3.01 against 5.89 GB/s",
        Rule::at_least("movl hot", "stosl hot", 1.5),
    ),
    Claim::new(
        "i586-slow-hot",
        "hot, x87 stores with the state saved around them take at least twice as long as stosl",
        "2.55 against 5.89 GB/s",
        Rule::at_least("i586_bzero hot", "stosl hot", 2.0),
    ),
    Claim::new(
        "fstl-best-cold",
        "never cached, 64-bit x87 stores beat equally unrolled 32-bit ones by 10 %",
        "0.78 against 0.67 GB/s",
        Rule::at_least("unroll 64 cold", "fstl cold", 1.1),
    ),
    Claim::new(
        "cold-loops-alike",
        "never cached, the slowest cached method takes at most 1.4 times as long as the best",
        "0.61 to 0.78 GB/s",
        Rule::at_most("slowest cached cold", "best cached cold", 1.4),
    ),
    Claim::new(
        "nt-ignores-the-cache",
        "movntps is as fast on memory never cached as on cached memory",
        "2.24 and 2.28 GB/s",
        Rule::between("movntps cold", "movntps hot", 0.8, 1.25),
    ),
    Claim::new(
        "pagezero-reads",
        "hot and already zero, the read-only pagezero is 1.2 times as fast as stosl",
        "7.65 against 5.89 GB/s",
        Rule::at_least("stosl hot", "i686_pagezero hot", 1.2),
    ),
];
