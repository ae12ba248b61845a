//! The sources' experiments: one folder each, one line in the list.
//!
//! A folder holds what the source says (`claims.rs`), what is timed (`probe.rs`, where cells of the sampler cannot hold
//! it), and how it is judged (`mod.rs`): a `static EXPERIMENT` with its id (the folder's name, with hyphens), its source, a
//! title, its part of the time, its [`Claim`]s as data, its probe, and a function that measures. What it measures with is [`Context`]:
//! - [`Context::situation`] and [`Context::measure`]: cells through the engine, of variants that are verified in the
//!   worker process before they are timed there;
//! - [`Context::probe`]: what cells cannot hold (a fault, a switch, a system call), written in the
//!   experiment's `probe.rs`; see [`carryline_engine::probe`] for its rules;
//! - [`Context::prove`]: the full verification, for what is known to be wrong.
//!
//! It returns an [`Outcome`]: tables (published beside measured), plots, notes, and the [`Figures`] that its claims name.
//! It never decides a verdict: rules do, see [`carryline_results::claims`]. What the machine cannot do is a figure that
//! is missing, with the reason ([`Figures::missing`], [`Figures::add_or_reason`]), or, where nothing is left to
//! show, `Err(context.impossible("..."))`: the runner then prints the reason in the experiment's place, and the rest
//! runs. Names of figures are lower-case words; those in rules must be made, or given a reason, in every case.
//!
//! Where the user asks for something that the claims are not about (a chain of his own), [`Outcome::beside_the_claims`] is
//! set and none is judged.
//!
//! A worked example, `laboratory/experiments/src/zero_twice/mod.rs` (there `super` stands for this crate):
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

/// The modules of experiments, and the list of what is in them.
macro_rules! experiments {
    ($($name:ident,)*) => {
        $(mod $name;)*

        /// The list, in the order in which they run.
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

/// A probe's parameters or facts in the form in which they are sent.
fn json(structure: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(structure).expect("plain data with text keys")
}

/// The indices of those of `known` that are named; of all of them if none is.
fn chosen(names: &[String], known: &[&str]) -> Vec<usize> {
    (0..known.len()).filter(|at| names.is_empty() || names.iter().any(|name| name == known[*at])).collect()
}

/// What workers can time: the experiments' probes, and one for tests that behaves as its parameters say.
#[must_use]
pub fn probes() -> Vec<&'static Probe> {
    EXPERIMENTS.iter().filter_map(|experiment| experiment.probe).chain([&planted::PROBE]).collect()
}

/// One of the source documents' experiments.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line: its file's name with hyphens.
    pub id: &'static str,
    /// The document it comes from; a claim may name another.
    pub source: &'static Source,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Its part of the time, relative to the others'; 1 is the usual.
    pub weight: f64,
    /// What is claimed.
    pub claims: &'static [Claim],
    /// What it times itself, where cells cannot hold it.
    pub probe: Option<&'static Probe>,
    /// Measures it.
    pub run: fn(&Context<'_>) -> Result<Outcome, Failure>,
}

impl Experiment {
    /// The documents that it and its claims come from, the main one first.
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

    /// Their names, separated by commas.
    #[must_use]
    pub fn source_ids(&self) -> String {
        let ids: Vec<&str> = self.sources().iter().map(|source| source.id).collect();
        ids.join(", ")
    }
}

/// What an experiment found, before it is judged.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Published beside measured.
    pub tables: Vec<TableResult>,
    /// Plots in text, where a curve says more.
    pub plots: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// The figures that claims name.
    pub figures: Figures,
    /// True if what was run is not what the claims are about: none of them is judged then.
    pub beside_the_claims: bool,
}

/// The experiment of that name.
pub fn find(id: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().copied().find(|experiment| experiment.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_results::sources::SOURCES;
    use std::collections::BTreeSet;

    #[test]
    fn every_folder_is_on_the_list_under_its_name() {
        let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in std::fs::read_dir(source).expect("the folder of experiments") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                let experiment = find(&name.replace('_', "-"));
                assert!(experiment.is_some(), "{name} is on no list");
                let probe = experiment.and_then(|experiment| experiment.probe);
                assert_eq!(probe.is_some(), path.join("probe.rs").exists(), "{name}");
            }
        }
    }

    #[test]
    fn probes_have_names_of_their_own() {
        let names: BTreeSet<&str> = probes().iter().map(|probe| probe.name).collect();
        assert_eq!(names.len(), probes().len());
    }

    #[test]
    fn ids_are_unique_and_claims_say_what_they_need() {
        let ids: BTreeSet<&str> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
        assert_eq!(ids.len(), EXPERIMENTS.len());
        for experiment in EXPERIMENTS {
            let mut claims = BTreeSet::new();
            for claim in experiment.claims {
                assert!(claims.insert(claim.id), "{}: {} is there twice", experiment.id, claim.id);
                assert!(
                    !claim.text.is_empty() && !claim.published.is_empty() && !claim.rule.names().is_empty()
                );
            }
            assert!(!experiment.title.is_empty() && experiment.weight > 0.0, "{}", experiment.id);
            for source in experiment.sources() {
                assert!(SOURCES.contains(&source), "{}: {} is on no list", experiment.id, source.id);
            }
        }
    }
}
