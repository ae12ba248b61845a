//! What is claimed.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "write-first-faults-once",
        text: "a first write takes one fault: it does not copy a page of zeros",
        published: "one fault",
        rule: Rule::Value { figure: "write first, faults", at_least: Some(0.95), at_most: Some(1.05) },
    },
    Claim {
        id: "read-first-faults-twice",
        text: "a page that is read first and written later takes two faults",
        published: "two faults",
        rule: Rule::Value { figure: "read, then write, faults", at_least: Some(1.95), at_most: Some(2.05) },
    },
    Claim {
        id: "read-first-costs-more",
        text: "reading first makes a page slower by at least the kernel entry, a twelfth",
        published: "1000 of 12000 cycles",
        rule: Rule::at_least("read, then write", "write first", 1.08),
    },
    Claim {
        id: "entry-a-thousand",
        text: "the fault without the clearing takes about 1000 cycles: 500 to 2000",
        published: "on the order of 1000 cycles",
        rule: Rule::Value { figure: "ready page", at_least: Some(500.0), at_most: Some(2000.0) },
    },
    Claim {
        id: "ready-page-wins",
        text: "mapping a ready page costs at most half as much as one that must be cleared",
        published: "5000 against 12000 cycles",
        rule: Rule::at_most("ready page", "write first", 0.5),
    },
    Claim {
        id: "cold-frames-make-it",
        text: "a first write costs at least twice as much where the memory to clear is not cached",
        published: "12000 cycles, against 1000 and 847 for a hot clearing",
        rule: Rule::at_least("write first", "write first, frames hot", 2.0),
    },
    Claim {
        id: "entries-saved-are-little",
        text: "mapping all pages by one call saves the kernel entries, at most a tenth",
        published: "1000 of 12000 cycles",
        rule: Rule::at_least("populate", "write first", 0.9),
    },
];
