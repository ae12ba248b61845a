//! The carryline command.
fn main() {}
