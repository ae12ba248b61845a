//! What is claimed.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "clearing-pollutes",
        text: "clearing memory of twice the second level through the cache makes a working set there at least half as dear \
               again",
        published: "no figure",
        rule: Rule::at_least("L2, zero, cached", "L2, undisturbed", 1.5),
    },
    Claim {
        id: "rep-pollutes-too",
        text: "so does clearing it by rep stosb",
        published: "no figure",
        rule: Rule::at_least("L2, zero, rep", "L2, undisturbed", 1.5),
    },
    Claim {
        id: "past-the-cache-leaves-it",
        text: "clearing past the cache leaves the working set where it was: at most a tenth dearer",
        published: "no figure",
        rule: Rule::All(&[
            Rule::at_most("L1, zero, NT", "L1, undisturbed", 1.1),
            Rule::at_most("L2, zero, NT", "L2, undisturbed", 1.1),
            Rule::at_most("L3, zero, NT", "L3, undisturbed", 1.1),
        ]),
    },
    Claim {
        id: "last-level-too",
        text: "clearing through the cache takes the last level as well: a working set there is half as dear again",
        published: "no figure",
        rule: Rule::at_least("L3, zero, cached", "L3, undisturbed", 1.5),
    },
    Claim {
        id: "copy-past-the-cache-reads-through-it",
        text: "a copy past the cache spares a working set in the second level more than one through it: at most 0.8 times",
        published: "no figure",
        rule: Rule::at_most("L2, copy, NT", "L2, copy, cached", 0.8),
    },
];
