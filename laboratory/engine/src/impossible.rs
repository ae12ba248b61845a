//! Combinations of options that cannot be measured, with the reason.

use carryline_conditions::{Beside, Condition, Offsets, Operands, Then};
use carryline_machine::environment::CacheSizes;
use carryline_machine::process::allowed_cpus;
use carryline_variants::Family;

/// Why a family cannot be measured under a condition, with caches of these sizes.
pub fn impossible(family: Family, condition: &Condition, caches: &CacheSizes) -> Option<String> {
    let sums = matches!(family, Family::Checksum | Family::CopyChecksum);
    if !condition.segments.is_empty() && !sums {
        return Some(format!(
            "--segments: messages of several buffers are for the checksum families, not {family}"
        ));
    }
    if !condition.segments.is_empty() && condition.then != Then::Nothing {
        return Some(format!("--then {} cannot be combined with --segments", condition.then));
    }
    if condition.sizes.period.is_some() && !condition.can_repeat() {
        let label = &condition.sizes.label;
        return Some(format!(
            "--sizes {label}: a period requires --cache hot, without --then and --segments; remove '/period:'"
        ));
    }
    let two = match condition.offsets {
        Offsets::Fixed { dst, src } => dst != src,
        offsets => offsets == Offsets::Alias,
    };
    if two && !(family.reads() && family.writes()) {
        return Some(format!("--offsets {}: needs two buffers, but {family} has one", condition.offsets));
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
        return Some(format!("--then {}: {family} writes no memory that could be read", condition.then));
    }
    if let (Then::ReadLater(_), true) = (condition.then, !condition.cache.is_hot()) {
        return Some(format!("--then {} requires --cache hot", condition.then));
    }
    if condition.beside == Beside::Stream && allowed_cpus().len() < 2 {
        return Some(format!(
            "--beside {}: needs a second CPU, but this process may use only one; remove the option",
            condition.beside
        ));
    }
    if carryline_sampler::uses_few_lines(family, condition, caches) {
        return Some(format!(
            "--cache {} --offsets {}: buffers this short use so few lines that the caches keep them; use larger \
             sizes, offsets below 64, --offsets random or --cache cold:clflush",
            condition.cache, condition.offsets
        ));
    }
    None
}
