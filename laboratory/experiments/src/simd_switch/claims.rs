//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "wide-registers-slow-switches",
        "a switch costs more if the widest vector registers are in use",
        "no figure",
        Rule::at_least("switch, widest", "switch, clean", 1.0),
    ),
    Claim::new(
        "xmm-registers-slow-switches",
        "a switch costs more if xmm registers are in use",
        "no figure",
        Rule::at_least("switch, xmm", "switch, clean", 1.0),
    ),
    Claim::new(
        "x87-registers-slow-switches",
        "a switch costs more if the x87 registers are in use",
        "no figure",
        Rule::at_least("switch, x87", "switch, clean", 1.0),
    ),
    Claim::new(
        "saving-eats-the-gain",
        "saving and restoring all state costs more than the 36 cycles that MMX gained on 4 KB",
        "847 -> 811 cycles by MMX",
        Rule::value_at_least("save and restore, all", 36.0),
    ),
    Claim::new(
        "some-kilobytes-repay",
        "a wide copy repays the slower switch from some kilobytes on, not below 2 KB",
        "more than a few KB",
        Rule::All(&[
            Rule::value_at_least("copy that repays a switch", 2048.0),
            Rule::value_at_least("copy that repays a switch at most", 2048.0),
        ]),
    ),
];
