//! Assigns subjects to kinds of worker processes: a worker's C library has its thresholds as installed or
//! raised, never both (see [`carryline_variants::c_library`]).
//!
//! If a row with raised thresholds takes part, replicates alternate between the two kinds. Subjects that do
//! not call the C library take part in both kinds, so that they are paired with both rows of the C library.

use super::plan::RunPlan;
use carryline_machine::c_library;
use carryline_results::gather::Situation;
use carryline_variants::Variant;
use carryline_variants::c_library::Thresholds;
use carryline_verification::plugin::PluginSpec;
use carryline_verification::subject::SubjectId;
use object::{Object, ObjectSymbol};
use std::collections::HashMap;

/// Functions of the C library that differ between the two kinds of process; a plug-in may call them.
const STRING_FUNCTIONS: [&str; 11] = [
    "memcpy",
    "memmove",
    "memset",
    "mempcpy",
    "bcopy",
    "bzero",
    "explicit_bzero",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "__mempcpy_chk",
];

/// The kinds of process that some subjects need; all others run in both kinds.
#[derive(Debug, Default)]
pub struct Needs(HashMap<SubjectId, Thresholds>);

impl Needs {
    /// The needs of a plan's subjects.
    pub fn of(plan: &RunPlan) -> Needs {
        let plugin = |id: &SubjectId| {
            let (word, _) = plan.plugins.iter().find(|(_, plugin)| plugin == id)?;
            calls_the_c_library(word).then_some(Thresholds::AsInstalled)
        };
        let found = plan.subjects().into_iter().filter_map(|id| {
            let needed = of_variant(&id).or_else(|| plugin(&id))?;
            Some((id, needed))
        });
        Needs(found.collect())
    }

    /// True if the subject can run in a process of this kind.
    pub fn allow(&self, id: &SubjectId, thresholds: Thresholds) -> bool {
        self.0.get(id).is_none_or(|needed| *needed == thresholds)
    }

    /// True if a subject of the situation that still takes part needs raised thresholds.
    pub fn raised_in(&self, situation: &Situation, takes_part: impl Fn(&SubjectId) -> bool) -> bool {
        let mut ids = situation.subjects.iter().map(|name| id_in(situation, name));
        ids.any(|id| self.0.get(&id) == Some(&Thresholds::Raised) && takes_part(&id))
    }
}

/// The situation's subject with this name.
pub fn id_in(situation: &Situation, name: &str) -> SubjectId {
    SubjectId { family: situation.family, name: name.to_owned() }
}

/// The kinds of a run's worker processes in order, and their shares of the time.
#[derive(Debug)]
pub struct Schedule {
    /// The kinds, each with the total weight of the situations that its processes measure.
    kinds: Vec<(Thresholds, f64)>,
}

impl Schedule {
    /// The schedule for a plan; only subjects for which `takes_part` is true count.
    pub fn of(plan: &RunPlan, needs: &Needs, takes_part: impl Fn(&SubjectId) -> bool) -> Schedule {
        let weight = |situations: &mut dyn Iterator<Item = &Situation>| situations.map(|s| s.weight).sum();
        let mut kinds = vec![(Thresholds::AsInstalled, weight(&mut plan.situations.iter()))];
        let raised = |situation: &&Situation| needs.raised_in(situation, &takes_part);
        if plan.situations.iter().any(|situation| raised(&situation)) {
            kinds.push((Thresholds::Raised, weight(&mut plan.situations.iter().filter(raised))));
        }
        Schedule { kinds }
    }

    /// The number of processes for this number of replicates of each kind.
    pub fn processes(&self, replicates: u32) -> u32 {
        replicates.saturating_mul(self.kinds.len() as u32)
    }

    /// The kind of a process. The order of the two kinds alternates from pair to pair, so that drift during
    /// the run affects both equally.
    pub fn kind(&self, process: u32) -> Thresholds {
        self.entry(process).0
    }

    fn entry(&self, process: u32) -> (Thresholds, f64) {
        let count = self.kinds.len() as u32;
        let (pair, place) = (process / count, process % count);
        self.kinds[if pair % 2 == 0 { place } else { count - 1 - place } as usize]
    }

    /// The share that a process gets of the time for itself and the following processes below `until`.
    pub fn share(&self, process: u32, until: u32) -> f64 {
        let weights: f64 = (process..until.max(process + 1)).map(|number| self.entry(number).1).sum();
        if weights > 0.0 { self.entry(process).1 / weights } else { 1.0 }
    }
}

/// The kind of process that a variant of the collection needs, if any.
pub fn of_variant(id: &SubjectId) -> Option<Thresholds> {
    carryline_variants::find(id.family, &id.name)?.thresholds()
}

/// True if a plug-in's file imports one of the C library's string functions or cannot be read: then it is
/// measured with the thresholds as installed, as in its user's programs.
fn calls_the_c_library(word: &str) -> bool {
    let Ok(spec) = PluginSpec::parse(word) else { return true };
    let Ok(bytes) = std::fs::read(&spec.file) else { return true };
    let Ok(file) = object::File::parse(&*bytes) else { return true };
    let mut undefined = file.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    undefined.any(|symbol| symbol.name().map_or(true, |name| STRING_FUNCTIONS.contains(&name)))
}

/// Why the C library cannot have the thresholds that a variant needs; `None` if it can, or the variant does
/// not call it.
#[must_use]
pub fn unsupported(variant: &Variant) -> Option<String> {
    let raised = variant.thresholds() == Some(Thresholds::Raised);
    c_library::here().not_raised.clone().filter(|_| raised)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard;
    use carryline_conditions::Condition;
    use carryline_variants::Family;
    use std::time::Duration;

    fn plan(families: &[(Family, &[&str])]) -> RunPlan {
        let situations = families.iter().map(|(family, names)| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            standard::situation(*family, Condition::plain(4096), 1.0, &|_| (names.clone(), Some(0)))
        });
        RunPlan {
            situations: situations.collect(),
            plugins: Vec::new(),
            replicates: 5,
            most_replicates: 5,
            budget: Duration::from_secs(1),
            seed: 1,
            patience: Duration::from_secs(1),
        }
    }

    #[test]
    fn kinds_alternate_if_a_row_needs_raised_thresholds() {
        let plan = plan(&[
            (Family::Copy, &["libc_memcpy", "libc_memcpy_no_rep", "carryline"]),
            (Family::Checksum, &["adc_1_stream", "carryline"]),
        ]);
        assert_eq!(plan.situations[0].twins, [0, 1], "an A/A pair in each kind of process");
        let needs = Needs::of(&plan);
        let schedule = Schedule::of(&plan, &needs, |_| true);
        assert_eq!(schedule.processes(5), 10);
        let (plain, raised) = (Thresholds::AsInstalled, Thresholds::Raised);
        let kinds: Vec<Thresholds> = (0..6).map(|process| schedule.kind(process)).collect();
        assert_eq!(kinds, [plain, raised, raised, plain, plain, raised]);
        // Checksums are measured only in processes of the first kind, which therefore get two thirds of the
        // time.
        assert!((schedule.share(0, 2) - 2.0 / 3.0).abs() < 1e-9 && (schedule.share(1, 2) - 1.0).abs() < 1e-9);
        let id = |name| id_in(&plan.situations[0], name);
        assert!(needs.allow(&id("libc_memcpy"), plain) && !needs.allow(&id("libc_memcpy"), raised));
        assert!(!needs.allow(&id("libc_memcpy_no_rep"), plain));
        assert!(needs.allow(&id("carryline"), plain) && needs.allow(&id("carryline"), raised));
    }

    #[test]
    fn one_kind_is_enough_if_no_row_needs_the_other() {
        let sums = plan(&[(Family::Checksum, &["adc_1_stream", "carryline"])]);
        let copies = plan(&[(Family::Copy, &["libc_memcpy", "libc_memcpy_no_rep"])]);
        for (plan, unsupported) in [(&sums, ""), (&copies, "libc_memcpy_no_rep")] {
            let schedule = Schedule::of(plan, &Needs::of(plan), |id| id.name != unsupported);
            assert_eq!(schedule.processes(5), 5);
            assert!((0..5).all(|process| schedule.kind(process) == Thresholds::AsInstalled));
            assert!((schedule.share(0, 5) - 0.2).abs() < 1e-9);
        }
    }

    #[test]
    fn an_unreadable_file_counts_as_calling_the_c_library() {
        assert!(calls_the_c_library("no such word") && calls_the_c_library("/no/such/file.so:f:copy"));
        // This program calls them.
        let own = std::env::current_exe().expect("a path");
        assert!(calls_the_c_library(&format!("{}:main:copy", own.display())));
    }
}
