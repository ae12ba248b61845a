//! The seeds' experiments: one file each, one line in the list.
//!
//! An experiment is a `static EXPERIMENT`: its id (its file's name, with hyphens), its source, a title, its part of the
//! time, its [`Claim`]s as data, and a function that measures. What it measures with is [`Context`]:
//! - [`Context::situation`] and [`Context::measure`]: cells through the engine, of variants that are proved in the
//!   worker process before they are timed there;
//! - [`Context::special`]: what cells cannot hold (a fault, a switch, a system call), written as one file in
//!   `laboratory/measure/src/special`; see there for its rules;
//! - [`Context::prove`]: the full proof, for what is known to be wrong.
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
//! A worked example, `laboratory/cli/src/experiments/zero_twice.rs`:
//!
//! ```ignore
//! //! zero-twice: whether zeroing 4 KB costs twice what zeroing 2 KB does.
//!
//! use super::{Basis, Context, Experiment, In, Outcome};
//! use carryline_engine::failure::Failure;
//! use carryline_results::claims::{Claim, Rule, TableResult};
//! use carryline_conditions::Condition;
//! use carryline_variants::Family;
//!
//! pub static EXPERIMENT: Experiment = Experiment {
//!     id: "zero-twice",
//!     source: "evans-2003",
//!     title: "Zeroing twice as much",
//!     weight: 0.5, // half of the usual time
//!     claims: &[Claim {
//!         id: "twice-as-long",
//!         text: "4 KB take at least 1.5 times as long as 2 KB",
//!         published: "-",
//!         rule: Rule::at_least("4 KB", "2 KB", 1.5),
//!     }],
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
//!         table.push(vec![(size as f64).into(), None.into(), time.as_ref().ok().into()]);
//!         outcome.figures.add_or_reason(name, time);
//!     }
//!     outcome.tables.push(table);
//!     // A special: its series become figures in the same way.
//!     let faults = context.special("first_touch", &serde_json::json!({"pages": 64}), 0.0)?;
//!     outcome.figures.add_or_reason("fault", faults.ns("write first"));
//!     Ok(outcome)
//! }
//! ```
//!
//! plus `pub mod zero_twice;` and `&zero_twice::EXPERIMENT,` below.

use carryline_engine::failure::Failure;
pub mod bandwidth;
pub mod chains;
pub mod csum40;
pub mod dirty_check;
pub mod first_touch;
pub mod four_numbers;
pub mod latency;
pub mod lockert;
pub mod neighbour;
pub mod page_colour;
pub mod pollution;
pub mod prezero;
pub mod real_work;
pub mod simd_switch;
pub mod small_copy;
pub mod string_startup;
pub mod syscall;
pub mod zeroing;

pub use crate::reproduce::context::{Basis, Context, In, Measured};
#[allow(unused_imports, reason = "an experiment may need its type")]
pub use crate::reproduce::special::Special;
use carryline_results::claims::{Claim, Figures, TableResult};

/// The list, in the order in which they run.
pub static EXPERIMENTS: &[&Experiment] = &[
    &zeroing::EXPERIMENT,
    &bandwidth::EXPERIMENT,
    &dirty_check::EXPERIMENT,
    &page_colour::EXPERIMENT,
    &string_startup::EXPERIMENT,
    &small_copy::EXPERIMENT,
    &syscall::EXPERIMENT,
    &latency::EXPERIMENT,
    &four_numbers::EXPERIMENT,
    &first_touch::EXPERIMENT,
    &prezero::EXPERIMENT,
    &neighbour::EXPERIMENT,
    &simd_switch::EXPERIMENT,
    &pollution::EXPERIMENT,
    &csum40::EXPERIMENT,
    &chains::EXPERIMENT,
    &lockert::EXPERIMENT,
    &real_work::EXPERIMENT,
];

/// One of the seeds' experiments.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line: its file's name with hyphens.
    pub id: &'static str,
    /// The documents it comes from: `evans-2003`.
    pub source: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Its part of the time, relative to the others'; 1 is the usual.
    pub weight: f64,
    /// What is claimed.
    pub claims: &'static [Claim],
    /// Measures it.
    pub run: fn(&Context<'_>) -> Result<Outcome, Failure>,
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
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_on_the_list_under_its_name() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/experiments");
        for entry in std::fs::read_dir(folder).expect("the folder of experiments") {
            let file = entry.expect("an entry").path();
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            if stem != "mod" {
                assert!(find(&stem.replace('_', "-")).is_some(), "{stem} is on no list");
            }
        }
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
            for source in experiment.source.split(", ") {
                let year = source.rsplit('-').next().and_then(|year| year.parse::<u32>().ok());
                assert!(year.is_some_and(|year| (1990..2030).contains(&year)), "{}: {source}", experiment.id);
            }
        }
    }
}
