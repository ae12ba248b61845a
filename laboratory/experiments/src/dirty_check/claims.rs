//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "check-pays-on-clean-cold-pages",
        "on a cold page that is already zero, checking is faster than stosl",
        "0.75 against 0.71 GB/s",
        Rule::at_least("rep_stosl, cold, 0", "i686_pagezero_or, cold, 0", 1.0),
    ),
    Claim::new(
        "or-beats-scan",
        "a check that ORs 32 bytes together beats one that scans by scasl",
        "scasl replaced, no figure",
        Rule::at_least("i686_pagezero_scan, hot, 0", "i686_pagezero_or, hot, 0", 1.0),
    ),
    Claim::new(
        "check-pays-with-few-dirty",
        "hot, writing only the nonzero blocks pays when 4 in 128 are dirty",
        "the point of the algorithm, no figure",
        Rule::at_least("rep_stosl, hot, 4", "i686_pagezero_or, hot, 4", 1.0),
    ),
    Claim::new(
        "check-costs-with-all-dirty",
        "hot, with every block dirty, the optimised loop is slower than stosl",
        "no figure",
        Rule::at_least("i686_pagezero_or, hot, 128", "rep_stosl, hot, 128", 1.0),
    ),
    Claim::new(
        "nt-beats-the-check-on-clean-cold-pages",
        "cold, movntps is at least 2.5 times as fast as the check even where nothing is dirty",
        "2.24 against 0.75 GB/s",
        Rule::at_least("i686_pagezero_or, cold, 0", "movntps, cold, 0", 2.5),
    ),
    Claim::new(
        "nt-halves-pagezero",
        "cold and dirty, movntps takes at most half the time of the pagezero it replaced",
        "57 -> 28 s in a world built",
        Rule::at_least("i686_pagezero_or, cold, 128", "movntps, cold, 128", 2.0),
    ),
];
