//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "clearing-ahead-costs-more",
        "cleared long before its use, a page costs at least 1.2 times as much in total as one cleared on demand",
        "5000 + 11000 + 1030 against 12000 + 915 + 847 cycles",
        Rule::at_least("sum cached after 64 MB", "sum cached at once", 1.2),
    ),
    Claim::new(
        "slower-even-if-cleared-for-free",
        "even where the clearing is free, using a page that has left the cache costs as much as clearing and \
               using one on demand",
        "5000 + 11000 against 12000 + 915 cycles",
        Rule::at_least("use cached after 64 MB", "sum cached at once", 1.0),
    ),
    Claim::new(
        "clearing-warms-the-cache",
        "clearing through the cache makes the following use at least 3 times as fast",
        "11000 against 915 cycles",
        Rule::at_least("use cached after 64 MB", "use cached at once", 3.0),
    ),
    Claim::new(
        "past-the-cache-loses-at-once",
        "used immediately, a page cleared by non-temporal stores costs at least 20 % more in total",
        "no figure",
        Rule::at_least("sum NT at once", "sum cached at once", 1.2),
    ),
    Claim::new(
        "past-the-cache-wins-late",
        "used late, a page cleared by non-temporal stores costs no more in total than one cleared through the cache",
        "no figure",
        Rule::at_most("sum NT after 64 MB", "sum cached after 64 MB", 1.0),
    ),
    Claim::new(
        "never-used-past-the-cache",
        "never used, a page costs less if cleared by non-temporal stores",
        "no figure",
        Rule::at_most("clear NT at once", "clear cached at once", 1.0),
    ),
];
