//! The claims of this experiment.

use carryline_results::claims::{Claim, Rule};

/// The claims.
pub(super) const CLAIMS: &[Claim] = &[
    Claim::new(
        "write-first-faults-once",
        "a first write takes one fault: it does not copy a page of zeros",
        "one fault",
        Rule::Value { figure: "write first, faults", at_least: Some(0.95), at_most: Some(1.05) },
    ),
    Claim::new(
        "read-first-faults-twice",
        "a page that is read first and written later takes two faults",
        "two faults",
        Rule::Value { figure: "read, then write, faults", at_least: Some(1.95), at_most: Some(2.05) },
    ),
    Claim::new(
        "read-first-costs-more",
        "reading first makes a page slower by at least the kernel entry, a twelfth",
        "1000 of 12000 cycles",
        Rule::at_least("read, then write", "write first", 1.08),
    ),
    Claim::new(
        "entry-a-thousand",
        "the fault without the clearing takes about 1000 cycles: 500 to 2000",
        "on the order of 1000 cycles",
        Rule::Value { figure: "ready page", at_least: Some(500.0), at_most: Some(2000.0) },
    ),
    Claim::new(
        "ready-page-wins",
        "mapping a ready page costs at most half as much as one that must be cleared",
        "5000 against 12000 cycles",
        Rule::at_most("ready page", "write first", 0.5),
    ),
    Claim::new(
        "cold-frames-make-it",
        "a first write costs at least twice as much where the memory to clear is not cached",
        "12000 cycles, against 1000 and 847 for a hot clearing",
        Rule::at_least("write first", "write first, frames hot", 2.0),
    ),
    Claim::new(
        "entries-saved-are-little",
        "mapping all pages by one call saves the kernel entries, at most a tenth",
        "1000 of 12000 cycles",
        Rule::at_least("populate", "write first", 0.9),
    ),
];
