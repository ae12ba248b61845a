//! What is claimed.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "movntps-shortens",
        text: "a build takes less real time if zeroing is non-temporal",
        published: "1943.14 -> 1929.02 s",
        rule: Rule::at_most("real time with movntps", "real time without movntps", 1.0),
    },
    Claim {
        id: "gain-is-small",
        text: "however much faster zeroing is, the real time of a build changes by no more than 2 %",
        published: "0.7 %",
        rule: Rule::between("real time with movntps", "real time without movntps", 0.98, 1.02),
    },
    Claim {
        id: "user-time-unchanged",
        text: "faster zeroing changes the user time of a build by no more than 1 %",
        published: "1575.25 -> 1576.67 s",
        rule: Rule::between("user time with movntps", "user time without movntps", 0.99, 1.01),
    },
];
