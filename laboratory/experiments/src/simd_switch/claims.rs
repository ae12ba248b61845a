//! What is claimed.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "wide-registers-slow-switches",
        text: "a switch costs more if the widest vector registers are in use",
        published: "no figure",
        rule: Rule::at_least("switch, widest", "switch, clean", 1.0),
    },
    Claim {
        id: "xmm-registers-slow-switches",
        text: "a switch costs more if xmm registers are in use",
        published: "no figure",
        rule: Rule::at_least("switch, xmm", "switch, clean", 1.0),
    },
    Claim {
        id: "x87-registers-slow-switches",
        text: "a switch costs more if the x87 registers are in use",
        published: "no figure",
        rule: Rule::at_least("switch, x87", "switch, clean", 1.0),
    },
    Claim {
        id: "saving-eats-the-gain",
        text: "saving and restoring all state costs more than the 36 cycles that MMX gained on 4 KB",
        published: "847 -> 811 cycles by MMX",
        rule: Rule::value_at_least("save and restore, all", 36.0),
    },
    Claim {
        id: "some-kilobytes-repay",
        text: "a wide copy repays the slower switch from some kilobytes on, not below 2 KB",
        published: "more than a few KB",
        rule: Rule::All(&[
            Rule::value_at_least("copy that repays a switch", 2048.0),
            Rule::value_at_least("copy that repays a switch at most", 2048.0),
        ]),
    },
];
