//! The claims of this experiment.

use super::probe::CLOCK;
use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "order-decides",
        "number 1, 4 KB by rep stosl, costs at least 4 times as much when run first as when run last, its original place",
        "847 cycles, in the order 4, 3, 2, 1",
        Rule::at_least("1 at place 1", "1 at place 4", 4.0),
    ),
    Claim::new(
        "first-pays-the-fault",
        "whatever runs first pays for the page: 3 run first costs as much as 4",
        "33 and 12000 cycles, in the order 4, 3, 2, 1",
        Rule::between("3 at place 1", "4 at place 1", 0.8, 1.25),
    ),
    Claim::new(
        "both-are-hot",
        "numbers 1 and 2 of the original order are the times of clearing cached memory",
        "847 and 915 cycles under Linux",
        Rule::All(&[
            Rule::between("order 4321: 1", "rep stosl, hot", 0.8, 1.25),
            Rule::between("order 4321: 2", "bzero, hot", 0.8, 1.25),
        ]),
    ),
    Claim::new(
        "cold-clear-is-slow",
        "clearing 4 KB that are not cached costs at least 5 times as much, measured until all stores are in the cache",
        "11000 against 1030 cycles under FreeBSD",
        Rule::at_least("bzero, cold, drained", "bzero, hot, drained", 5.0),
    ),
    Claim::new(
        "second-write-is-free",
        "number 3 is little more than the cost of the clock",
        "33 cycles, 32 of them the clock's",
        Rule::at_most("order 4321: 3", CLOCK, 1.1),
    ),
    Claim::new(
        "store-buffer",
        "a single write goes to the write buffers: it costs the same whether its line is cached or not",
        "33 cycles",
        Rule::between("write, cold line", "write, hot line", 0.9, 1.1),
    ),
    Claim::new(
        "nine-tenths-are-clearing",
        "everything but the clearing is at most a tenth of the first write to a page",
        "1000 of 12000 cycles",
        Rule::at_most("write, ready page not mapped", "first write, frame cold", 0.1),
    ),
    Claim::new(
        "stosb-hardly-slower",
        "hot, rep stosb takes at most 5 % longer than rep stosl for 4 KB",
        "863 against 847 cycles, 2 %",
        Rule::at_most("rep stosb, fenced", "rep stosl, fenced", 1.05),
    ),
];
