//! What is claimed.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "clearing-pollutes",
        text: "clearing twice the second level through the cache makes a working set there at least 1.5 \
               times as slow",
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
        text: "non-temporal clearing leaves the working set cached: at most 10 % slower",
        published: "no figure",
        rule: Rule::All(&[
            Rule::at_most("L1, zero, NT", "L1, undisturbed", 1.1),
            Rule::at_most("L2, zero, NT", "L2, undisturbed", 1.1),
            Rule::at_most("L3, zero, NT", "L3, undisturbed", 1.1),
        ]),
    },
    Claim {
        id: "last-level-too",
        text: "clearing through the cache pollutes the last level as well: a working set there is 1.5 times as slow",
        published: "no figure",
        rule: Rule::at_least("L3, zero, cached", "L3, undisturbed", 1.5),
    },
    Claim {
        id: "copy-past-the-cache-reads-through-it",
        text: "a non-temporal copy spares a working set in the second level more than a cached one: at most 0.8 times the time",
        published: "no figure",
        rule: Rule::at_most("L2, copy, NT", "L2, copy, cached", 0.8),
    },
];
