//! What the calls take, beside what was predicted: chained, independent and fenced, in core cycles.

use super::predict::Prediction;
use crate::cli::{Common, Critical, Subjects};
use crate::commands::run::Prepared;
use crate::engine::machine::Here;
use crate::engine::standard;
use crate::failure::Failure;
use crate::output;
use carryline_measure::condition::{Condition, Dependence};
use carryline_measure::gather::Situation;
use carryline_measure::results::{Cell, Status};
use std::time::Duration;

/// Time for each routine unless told otherwise.
const BUDGET_EACH: Duration = Duration::from_secs(3);

/// What was measured of a routine.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Core cycles per call less the null call's, by dependence.
    pub cycles: Vec<(Dependence, f64)>,
    /// How they were found: `pmu` or `est`.
    pub basis: Option<String>,
    /// Why there is nothing.
    pub missing: Option<String>,
}

impl Measured {
    /// The cycles of calls that depend on each other in this way.
    pub fn of(&self, dependence: Dependence) -> Option<f64> {
        self.cycles.iter().find(|(known, _)| *known == dependence).map(|(_, cycles)| *cycles)
    }
}

/// Of all routines.
#[derive(Debug, Default)]
pub struct Measurements {
    cells: Vec<Cell>,
}

impl Measurements {
    /// What was measured of a routine; `None` if it was not to be measured.
    pub fn of(&self, prediction: &Prediction) -> Option<Measured> {
        let variant = prediction.variant?;
        let size = prediction.size?.to_string();
        let own = self.cells.iter().filter(|cell| {
            cell.variant == variant.name
                && cell.family == variant.family().name()
                && cell.condition.sizes.label == size
        });
        let mut found = Measured::default();
        let mut any = false;
        for cell in own {
            any = true;
            match (cell.cycles_per_call, cell.status) {
                (Some(cycles), Status::Ok) => {
                    found.cycles.push((cell.condition.dependence, cycles));
                    found.basis.clone_from(&cell.basis);
                }
                _ => {
                    found.missing =
                        cell.detail.clone().or(Some("core cycles cannot be told here".to_owned()));
                }
            }
        }
        any.then_some(found)
    }
}

/// Measures every routine of the collection at its size.
pub fn measure(
    args: &Critical,
    predictions: &[Prediction],
    here: &Here,
    common: &Common,
) -> Result<Measurements, Failure> {
    let names = predictions.iter().filter_map(|prediction| prediction.variant);
    let names: Vec<String> = names.map(|v| format!("{}/{}", v.family(), v.name)).collect();
    let subjects = Subjects { family: Vec::new(), variants: names, plugin: Vec::new() };
    let prepared = Prepared::new(&subjects, &args.effort(), here)?;
    let mut situations: Vec<Situation> = Vec::new();
    for prediction in predictions {
        let (Some(variant), Some(size)) = (prediction.variant, prediction.size) else { continue };
        for dependence in Dependence::ALL {
            let condition = Condition { dependence, ..Condition::plain(size as u64) };
            let name = standard::name(variant.family(), &condition);
            match situations.iter_mut().find(|known| known.name == name) {
                Some(known) => known.subjects.push(variant.name.to_owned()),
                None => situations.push(Situation {
                    name,
                    family: variant.family().name().to_owned(),
                    condition,
                    subjects: vec![variant.name.to_owned()],
                    baseline: None,
                    twins: Vec::new(),
                    weight: 1.0,
                }),
            }
        }
    }
    let budget = BUDGET_EACH * predictions.len().min(20) as u32;
    let plan = prepared.plan(situations, &args.effort(), budget, common);
    let Some(finished) = prepared.execute(&plan, &args.effort(), here, Vec::new(), common)? else {
        return Ok(Measurements::default());
    };
    output::warn(&finished.result.warnings, common);
    Ok(Measurements { cells: finished.result.cells })
}
