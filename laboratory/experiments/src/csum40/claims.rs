//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "odd-addresses-are-slow",
        "handling odd addresses separately makes them at least 1.5 times as slow",
        "19.2 against 11.1 cycles",
        Rule::at_least("baseline, chained, odd", "baseline, chained, even", 1.5),
    ),
    Claim::new(
        "fixed-length-gains-nothing",
        "fixing the length at 40 alone gains nothing",
        "11.1 against 11.1 cycles",
        Rule::between("specialised, chained, even", "baseline, chained, even", 0.95, 1.05),
    ),
    Claim::new(
        "odd-needs-nothing",
        "without that handling an odd address costs the same as an even one",
        "11.1 and 11.1 cycles",
        Rule::between("odd removed, chained, odd", "odd removed, chained, even", 0.95, 1.05),
    ),
    Claim::new(
        "odd-removed-pays",
        "removing it makes odd addresses at least 1.5 times as fast",
        "19.2 -> 11.1 cycles",
        Rule::at_least("specialised, chained, odd", "odd removed, chained, odd", 1.5),
    ),
    Claim::new(
        "dead-code-pays",
        "one block of 40 bytes instead of 32 and 8 takes at most 0.95 of the time",
        "11.1 -> 9.1 cycles",
        Rule::at_most("dead code, chained, even", "odd removed, chained, even", 0.95),
    ),
    Claim::new(
        "chain-of-nine",
        "nine one-cycle instructions that wait for each other bound it at 9 cycles",
        "9.1 cycles",
        Rule::Value { figure: "dead code, chained, even", at_least: Some(8.5), at_most: Some(9.9) },
    ),
    Claim::new(
        "adx-pays",
        "two chains by adcx and adox are at least 1.3 times as fast as one",
        "9.1 -> 6.1 cycles",
        Rule::at_least("dead code, chained, even", "adx, chained, even", 1.3),
    ),
    Claim::new(
        "adx-not-needed",
        "two chains by plain adc are as fast as those by ADX",
        "6.1 and 6.1 cycles",
        Rule::between("two streams, chained, even", "adx, chained, even", 0.95, 1.05),
    ),
    Claim::new(
        "train-pays",
        "32-bit words in four trains, with nothing to fold, beat two streams",
        "6.1 -> 5.7 cycles",
        Rule::at_least("two streams, chained, even", "train 32, chained, even", 1.0),
    ),
    Claim::new(
        "twice-as-fast",
        "all steps together are more than twice as fast as the baseline",
        "11.1 -> 4.0 cycles",
        Rule::at_least("baseline, chained, even", "zero sum, chained, even", 2.0),
    ),
    Claim::new(
        "two-streams-throughput",
        "two streams beat one chain for independent calls too",
        "9.1 -> 6.1 cycles, in a chain of calls",
        Rule::at_least("dead code, independent, even", "two streams, independent, even", 1.0),
    ),
    Claim::new(
        "zero-sum-throughput",
        "leaving out the seed is 1.3 times as fast as two streams for independent calls too",
        "6.1 -> 4.0 cycles, in a chain of calls",
        Rule::at_least("two streams, independent, even", "zero sum, independent, even", 1.3),
    ),
    Claim::new(
        "fenced-order",
        "between fences one chain has a lower latency than two, by ADX or not",
        "14.0 against 15.8 and 16.3 cycles",
        Rule::All(&[
            Rule::at_least("adx, fenced, even", "dead code, fenced, even", 1.0),
            Rule::at_least("two streams, fenced, even", "dead code, fenced, even", 1.0),
        ]),
    ),
    Claim::new(
        "fenced-zero-sum",
        "between fences leaving out the seed gains nothing over one chain",
        "14.4 against 14.0 cycles",
        Rule::at_least("zero sum, fenced, even", "dead code, fenced, even", 0.97),
    ),
    Claim::new(
        "baseline-is-right",
        "the baseline of all steps sums correctly at odd addresses",
        "sums printed, never compared",
        Rule::value_at_most("baseline's share of wrong sums", 0.0),
    )
    .of_any_machine(),
    Claim::new(
        "listing-is-right",
        "the listing of two streams sums correctly",
        "sums printed, never compared",
        Rule::value_at_most("listing's share of wrong sums", 0.0),
    )
    .of_any_machine(),
];
