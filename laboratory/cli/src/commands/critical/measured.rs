//! Measures the calls that were predicted: chained, independent and fenced, in core cycles.

use super::predict::Prediction;
use crate::cli::{Common, Critical, Subjects};
use crate::output;
use crate::prepared::Prepared;
use carryline_conditions::{Condition, Dependence};
use carryline_engine::failure::Failure;
use carryline_engine::machine::Here;
use carryline_engine::standard;
use carryline_results::gather::Situation;
use carryline_results::{Cell, CycleBasis, Status};
use std::time::Duration;

/// The default time for each routine.
const BUDGET_EACH: Duration = Duration::from_secs(3);

/// The measurements of a routine.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Cycles, by dependence.
    pub cycles: Vec<Cycles>,
    /// How cycles were determined: `pmu` or `est`.
    pub basis: Option<CycleBasis>,
    /// Why there are no cycles.
    pub missing: Option<String>,
}

/// Core cycles of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// The dependence between calls.
    pub dependence: Dependence,
    /// Gross cycles.
    pub gross: f64,
    /// Gross cycles of the null call.
    pub null: f64,
}

impl Cycles {
    /// The figure to compare with a bound. Gross for chained calls, because the chain bypasses the call and
    /// return instructions, and for independent calls, because they share the front end with these
    /// instructions. Net for fenced calls, because fences and the work that they wait for add up.
    pub fn compared(&self) -> f64 {
        match self.dependence {
            Dependence::Chained | Dependence::Independent => self.gross,
            Dependence::Fenced => self.gross - self.null,
        }
    }

    /// The cycles that a bound does not explain; the null call is a bound too.
    pub fn unexplained(&self, bound: Option<f64>) -> Option<f64> {
        let least = if self.dependence == Dependence::Fenced { 0.0 } else { self.null };
        bound.map(|bound| self.compared() - bound.max(least))
    }
}

impl Measured {
    /// The cycles of calls with this dependence.
    pub fn of(&self, dependence: Dependence) -> Option<Cycles> {
        self.cycles.iter().find(|known| known.dependence == dependence).copied()
    }
}

/// The measurements of all routines.
#[derive(Debug, Default)]
pub struct Measurements {
    cells: Vec<Cell>,
}

impl Measurements {
    /// The measurements of a routine; `None` if it was not measured.
    pub fn of(&self, prediction: &Prediction) -> Option<Measured> {
        let variant = prediction.variant?;
        let size = prediction.size?.to_string();
        let own = self.cells.iter().filter(|cell| {
            cell.variant == variant.name
                && cell.family == variant.family()
                && cell.condition.sizes.label == size
        });
        let mut found = Measured::default();
        let mut any = false;
        for cell in own {
            any = true;
            match (gross_and_null(cell), cell.status) {
                (Some((gross, null)), Status::Ok) => {
                    found.cycles.push(Cycles { dependence: cell.condition.dependence, gross, null });
                    found.basis = cell.basis;
                }
                _ => {
                    found.missing = cell.detail.clone().or(Some("core cycles are unknown here".to_owned()));
                }
            }
        }
        any.then_some(found)
    }
}

/// Gross core cycles of a cell, and of the null call in the same rounds.
fn gross_and_null(cell: &Cell) -> Option<(f64, f64)> {
    let gross = cell.bytes_per_call / cell.bytes_per_cycle.filter(|rate| *rate > 0.0)?;
    // A call without bytes has no rate.
    (cell.bytes_per_call > 0.0).then_some((gross, gross - cell.cycles_per_call?))
}

/// Measures every predicted routine of the collection at its size.
pub fn measure(
    args: &Critical,
    predictions: &[&Prediction],
    here: &Here,
    common: &Common,
) -> Result<Measurements, Failure> {
    let names = predictions.iter().filter_map(|prediction| prediction.variant);
    let mut names: Vec<String> = names.map(|v| format!("{}/{}", v.family(), v.name)).collect();
    names.sort_unstable();
    names.dedup();
    let subjects = Subjects { family: Vec::new(), variants: names, plugin: Vec::new() };
    let prepared = Prepared::new(&subjects, &args.effort(), here)?;
    let mut situations: Vec<Situation> = Vec::new();
    for prediction in predictions {
        let (Some(variant), Some(size)) = (prediction.variant, prediction.size) else { continue };
        for dependence in Dependence::ALL {
            let condition = Condition { dependence, ..Condition::plain(size as u64) };
            let name = standard::name(variant.family(), &condition);
            match situations.iter_mut().find(|known| known.name == name) {
                Some(known) if known.subjects.iter().any(|name| name == variant.name) => {}
                Some(known) => known.subjects.push(variant.name.to_owned()),
                None => situations.push(Situation {
                    name,
                    family: variant.family(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dependence_is_compared_with_its_bound() {
        let cycles = |dependence| Cycles { dependence, gross: 20.0, null: 7.0 };
        assert_eq!(cycles(Dependence::Chained).unexplained(Some(17.0)), Some(3.0));
        // The null call is a bound too.
        assert_eq!(cycles(Dependence::Chained).unexplained(Some(5.0)), Some(13.0));
        assert_eq!(cycles(Dependence::Independent).unexplained(Some(2.0)), Some(13.0));
        assert_eq!(cycles(Dependence::Independent).unexplained(Some(18.0)), Some(2.0));
        assert_eq!(cycles(Dependence::Fenced).unexplained(Some(12.0)), Some(1.0));
        assert_eq!(cycles(Dependence::Fenced).unexplained(None), None);
    }
}
