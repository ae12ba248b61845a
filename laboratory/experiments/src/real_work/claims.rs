//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "movntps-shortens",
        "a build takes less real time if zeroing is non-temporal",
        "1943.14 -> 1929.02 s",
        Rule::at_most("real time with movntps", "real time without movntps", 1.0),
    ),
    Claim::new(
        "gain-is-small",
        "however much faster zeroing is, the real time of a build changes by no more than 2 %",
        "0.7 %",
        Rule::between("real time with movntps", "real time without movntps", 0.98, 1.02),
    ),
    Claim::new(
        "user-time-unchanged",
        "faster zeroing changes the user time of a build by no more than 1 %",
        "1575.25 -> 1576.67 s",
        Rule::between("user time with movntps", "user time without movntps", 0.99, 1.01),
    ),
];
