//! The experiments of the source documents: one folder each, one line in the list.
//!
//! A folder holds the claims of the source (`claims.rs`), a probe for timings that do not fit in the
//! sampler's cells (`probe.rs`, optional), and `mod.rs`: a `static EXPERIMENT` with its id (the folder's
//! name, with hyphens), its source, a title, its share of the time, its [`Claim`]s as data, its probe, and a
//! function that measures. The function gets a [`Context`]:
//! - [`Context::situation`] and [`Context::measure`] measure cells through the engine; the variants are
//!   verified in the worker process before they are timed there.
//! - [`Context::probe`] times what does not fit in a cell (a fault, a switch, a system call) with the code in
//!   the experiment's `probe.rs`; [`carryline_engine::probe`] has the rules.
//! - [`Context::prove`] runs the full verification, for variants known to be wrong.
//!
//! The function returns an [`Outcome`]: tables (published next to measured), plots, notes, and the
//! [`Figures`] that its claims name. It never decides a verdict; the rules in [`carryline_results::claims`]
//! do. Whatever the machine cannot do becomes a missing figure with a reason ([`Figures::missing`],
//! [`Figures::add_or_reason`]). If nothing is left to show, the function returns
//! `Err(context.impossible("..."))`: the runner prints the reason in place of the experiment and continues
//! with the others. Names of figures are lower-case words; every figure named in a rule must be added, or
//! given a reason, in every case.
//!
//! If the user asks for something that the claims do not cover (a chain of his own),
//! [`Outcome::beside_the_claims`] is set and no claim is judged.
//!
//! A worked example, `laboratory/experiments/src/zero_twice/mod.rs` (in which `super` stands for this crate):
//!
//! ```
//! // The file begins with: //! zero-twice: whether zeroing 4 KB costs twice what zeroing 2 KB does.
//!
//! use carryline_experiments::{Basis, Context, Experiment, In, Outcome};
//! use carryline_engine::failure::Failure;
//! use carryline_results::claims::{Claim, Datum, Rule, TableResult};
//! use carryline_results::sources::EVANS_2003;
//! use carryline_conditions::Condition;
//! use carryline_variants::Family;
//!
//! pub static EXPERIMENT: Experiment = Experiment {
//!     id: "zero-twice",
//!     source: &EVANS_2003,
//!     title: "Zeroing twice as much",
//!     weight: 0.5, // half of the usual time
//!     claims: &[Claim::new(
//!         "twice-as-long",
//!         "4 KB take at least 1.5 times as long as 2 KB",
//!         "no figure",
//!         Rule::at_least("4 KB", "2 KB", 1.5),
//!     )],
//!     probe: None,
//!     run,
//! };
//!
//! fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
//!     let sizes = [2048, 4096];
//!     let situations =
//!         sizes.map(|size| context.situation(Family::Zero, Condition::plain(size), &["rep_stosb", "sse2"]));
//!     let measured = context.measure(situations.into(), 1.0)?; // all of its time
//!     let mut outcome = Outcome::default();
//!     let mut table = TableResult::new("rep stosb", &[("size", "bytes"), ("published", "ns"), ("here", "ns")]);
//!     for (place, (size, name)) in sizes.into_iter().zip(["2 KB", "4 KB"]).enumerate() {
//!         let time = measured.time(place, "rep_stosb", Basis::Gross, In::Ns);
//!         table.push(vec![(size as f64).into(), Datum::None, time.as_ref().ok().into()]);
//!         outcome.figures.add_or_reason(name, time);
//!     }
//!     outcome.tables.push(table);
//!     // A probe: its series become figures in the same way.
//!     let faults = context.probe("first_touch", &(), 0.0)?;
//!     outcome.figures.add_or_reason("fault", faults.ns("write first"));
//!     Ok(outcome)
//! }
//! ```
//!
//! plus `zero_twice,` in the list below.

mod batches;
mod chase;
pub mod context;
mod pages;
mod planted;
pub mod probed;
pub mod run;
#[cfg(test)]
mod testing;

use carryline_engine::failure::Failure;
use carryline_engine::probe::Probe;
use carryline_results::claims::{Claim, Figures, TableResult};
use carryline_results::sources::Source;
pub use context::{Basis, Context, In, Measured};
pub use probed::Probed;

/// Declares the experiments' modules and the list of their `EXPERIMENT`s.
macro_rules! experiments {
    ($($name:ident,)*) => {
        $(mod $name;)*

        /// The experiments, in the order in which they run.
        pub static EXPERIMENTS: &[&Experiment] = &[$(&$name::EXPERIMENT),*];
    };
}

experiments! {
    zeroing,
    bandwidth,
    dirty_check,
    page_colour,
    string_startup,
    small_copy,
    syscall,
    latency,
    four_numbers,
    first_touch,
    prezero,
    neighbour,
    simd_switch,
    pollution,
    csum40,
    chains,
    lockert,
    real_work,
}

/// A probe's parameters or facts as JSON.
fn json(structure: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(structure).expect("plain data with text keys")
}

/// The indices of the `known` names that are in `names`; all indices if `names` is empty.
fn chosen(names: &[String], known: &[&str]) -> Vec<usize> {
    (0..known.len()).filter(|at| names.is_empty() || names.iter().any(|name| name == known[*at])).collect()
}

/// The experiments' probes, and one for tests that fails as its parameters say.
#[must_use]
pub fn probes() -> Vec<&'static Probe> {
    EXPERIMENTS.iter().filter_map(|experiment| experiment.probe).chain([&planted::PROBE]).collect()
}

/// An experiment of one of the source documents.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line: its folder's name with hyphens.
    pub id: &'static str,
    /// The document it comes from; a claim may name another.
    pub source: &'static Source,
    /// The subject, in a few words.
    pub title: &'static str,
    /// Its share of the time, relative to the others; 1 is typical.
    pub weight: f64,
    /// The claims.
    pub claims: &'static [Claim],
    /// The probe for timings that do not fit in cells.
    pub probe: Option<&'static Probe>,
    /// Measures everything.
    pub run: fn(&Context<'_>) -> Result<Outcome, Failure>,
}

impl Experiment {
    /// The documents of the experiment and its claims, the main one first.
    #[must_use]
    pub fn sources(&self) -> Vec<&'static Source> {
        let mut sources = vec![self.source];
        for source in self.claims.iter().filter_map(|claim| claim.source) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }

    /// The ids of these documents, separated by commas.
    #[must_use]
    pub fn source_ids(&self) -> String {
        let ids: Vec<&str> = self.sources().iter().map(|source| source.id).collect();
        ids.join(", ")
    }
}

/// The results of an experiment, before its claims are judged.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Published next to measured values.
    pub tables: Vec<TableResult>,
    /// Plots in text form.
    pub plots: Vec<String>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// The figures that claims name.
    pub figures: Figures,
    /// True if the claims do not cover what was run; none is judged then.
    pub beside_the_claims: bool,
}

/// The experiment with this id.
pub fn find(id: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().copied().find(|experiment| experiment.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_results::sources::SOURCES;
    use std::collections::BTreeSet;

    #[test]
    fn every_folder_is_in_the_list_under_its_name() {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in std::fs::read_dir(source).expect("the folder of experiments") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                let experiment = find(&name.replace('_', "-"));
                assert!(experiment.is_some(), "{name} is not in the list");
                let probe = experiment.and_then(|experiment| experiment.probe);
                assert_eq!(probe.is_some(), path.join("probe.rs").exists(), "{name}");
            }
        }
    }

    #[test]
    fn probe_names_are_unique() {
        let names: BTreeSet<&str> = probes().iter().map(|probe| probe.name).collect();
        assert_eq!(names.len(), probes().len());
    }

    #[test]
    fn ids_are_unique_and_claims_are_complete() {
        let ids: BTreeSet<&str> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
        assert_eq!(ids.len(), EXPERIMENTS.len());
        for experiment in EXPERIMENTS {
            let mut claims = BTreeSet::new();
            for claim in experiment.claims {
                assert!(claims.insert(claim.id), "{}: duplicate claim {}", experiment.id, claim.id);
                assert!(
                    !claim.text.is_empty() && !claim.published.is_empty() && !claim.rule.names().is_empty()
                );
            }
            assert!(!experiment.title.is_empty() && experiment.weight > 0.0, "{}", experiment.id);
            for source in experiment.sources() {
                assert!(SOURCES.contains(&source), "{}: unlisted source {}", experiment.id, source.id);
            }
        }
    }
}
