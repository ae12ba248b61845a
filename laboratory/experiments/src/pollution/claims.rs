//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};
use carryline_results::sources::EVANS_2003;

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "clearing-pollutes",
        "clearing twice the second level through the cache makes a working set there at least 1.5 \
               times as slow",
        "no figure",
        Rule::at_least("L2, zero, cached", "L2, undisturbed", 1.5),
    ),
    Claim::new(
        "rep-pollutes-too",
        "so does clearing it by rep stosb",
        "no figure",
        Rule::at_least("L2, zero, rep", "L2, undisturbed", 1.5),
    ),
    Claim::new(
        "past-the-cache-leaves-it",
        "non-temporal clearing leaves the working set cached: at most 10 % slower",
        "no figure",
        Rule::All(&[
            Rule::at_most("L1, zero, NT", "L1, undisturbed", 1.1),
            Rule::at_most("L2, zero, NT", "L2, undisturbed", 1.1),
            Rule::at_most("L3, zero, NT", "L3, undisturbed", 1.1),
        ]),
    )
    .by(&EVANS_2003),
    Claim::new(
        "last-level-too",
        "clearing through the cache pollutes the last level as well: a working set there is 1.5 times as slow",
        "no figure",
        Rule::at_least("L3, zero, cached", "L3, undisturbed", 1.5),
    ),
    Claim::new(
        "copy-past-the-cache-reads-through-it",
        "a non-temporal copy spares a working set in the second level more than a cached one: at most 0.8 times the time",
        "no figure",
        Rule::at_most("L2, copy, NT", "L2, copy, cached", 0.8),
    )
    .by(&EVANS_2003),
];
