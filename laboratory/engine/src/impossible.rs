//! Combinations that cannot be measured, with the reason.

use carryline_conditions::{Beside, Condition, Offsets, Operands, Then};
use carryline_machine::process::allowed_cpus;
use carryline_variants::Family;

/// Why a family cannot be measured under a condition.
pub fn impossible(family: Family, condition: &Condition) -> Option<String> {
    let sums = matches!(family, Family::Checksum | Family::CopyChecksum);
    if !condition.segments.is_empty() && !sums {
        return Some(format!(
            "--segments: a message of several buffers is for checksum families, not {family}"
        ));
    }
    if !condition.segments.is_empty() && condition.then != Then::Nothing {
        return Some(format!("--then {} cannot be joined with --segments", condition.then));
    }
    if condition.sizes.period.is_some() && !condition.can_repeat() {
        let label = &condition.sizes.label;
        return Some(format!(
            "--sizes {label}: a period is for --cache hot without --then and --segments; leave '/period:' away"
        ));
    }
    if condition.offsets == Offsets::Alias && !(family.reads() && family.writes()) {
        return Some(format!("--offsets alias: {family} has one buffer, and an alias takes two"));
    }
    let one_sided = |operands| match operands {
        Operands::Both => None,
        Operands::Source => (!family.reads()).then_some("source"),
        Operands::Destination => (!family.writes()).then_some("destination"),
    };
    if let Some(side) = one_sided(condition.cache.operands) {
        return Some(format!("--cache {}: {family} has no {side}", condition.cache));
    }
    if matches!(condition.then, Then::Read | Then::ReadLater(_)) && !family.writes() {
        return Some(format!("--then {}: {family} writes nothing that could be read", condition.then));
    }
    if let (Then::ReadLater(_), true) = (condition.then, !condition.cache.is_hot()) {
        return Some(format!("--then {} is for --cache hot", condition.then));
    }
    if condition.beside == Beside::Stream && allowed_cpus().len() < 2 {
        return Some(format!(
            "--beside {}: another core is to work meanwhile, and only one CPU may be used here; leave it away",
            condition.beside
        ));
    }
    None
}
