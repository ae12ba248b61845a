//! What is claimed.

use super::probe::CLOCK;
use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "order-decides",
        text: "number 1, 4 KB by rep stosl, costs at least 4 times as much when run first as when run last, its original place",
        published: "847 cycles, in the order 4, 3, 2, 1",
        rule: Rule::at_least("1 at place 1", "1 at place 4", 4.0),
    },
    Claim {
        id: "first-pays-the-fault",
        text: "whatever runs first pays for the page: 3 run first costs as much as 4",
        published: "33 and 12000 cycles, in the order 4, 3, 2, 1",
        rule: Rule::between("3 at place 1", "4 at place 1", 0.8, 1.25),
    },
    Claim {
        id: "both-are-hot",
        text: "numbers 1 and 2 of the original order are the times of clearing cached memory",
        published: "847 and 915 cycles under Linux",
        rule: Rule::All(&[
            Rule::between("order 4321: 1", "rep stosl, hot", 0.8, 1.25),
            Rule::between("order 4321: 2", "bzero, hot", 0.8, 1.25),
        ]),
    },
    Claim {
        id: "cold-clear-is-slow",
        text: "clearing 4 KB that are not cached costs at least 5 times as much, measured until all stores are in the cache",
        published: "11000 against 1030 cycles under FreeBSD",
        rule: Rule::at_least("bzero, cold, drained", "bzero, hot, drained", 5.0),
    },
    Claim {
        id: "second-write-is-free",
        text: "number 3 is little more than the cost of the clock",
        published: "33 cycles, 32 of them the clock's",
        rule: Rule::at_most("order 4321: 3", CLOCK, 1.1),
    },
    Claim {
        id: "store-buffer",
        text: "a single write goes to the write buffers: it costs the same whether its line is cached or not",
        published: "33 cycles",
        rule: Rule::between("write, cold line", "write, hot line", 0.9, 1.1),
    },
    Claim {
        id: "nine-tenths-are-clearing",
        text: "everything but the clearing is at most a tenth of the first write to a page",
        published: "1000 of 12000 cycles",
        rule: Rule::at_most("write, ready page not mapped", "first write, frame cold", 0.1),
    },
    Claim {
        id: "stosb-hardly-slower",
        text: "hot, rep stosb takes at most 5 % longer than rep stosl for 4 KB",
        published: "863 against 847 cycles, 2 %",
        rule: Rule::at_most("rep stosb, fenced", "rep stosl, fenced", 1.05),
    },
];
