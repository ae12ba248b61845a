//! `carryline measure`: a user-defined matrix.

use super::run::{answer, conclude, ranked};
use super::words::{read_segments, read_sizes, words};
use crate::cli::{Common, Detail, Measure};
use crate::output;
use crate::prepared::Prepared;
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Condition, Offsets};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::impossible::impossible;
use carryline_engine::machine::Here;
use carryline_engine::standard;
use carryline_report::advice::advice;
use carryline_report::matrix::matrices;
use carryline_report::roles::Roles;
use carryline_results::RunResult;
use carryline_results::gather::Situation;
use std::time::Duration;

/// The default budget.
const BUDGET: Duration = Duration::from_secs(20);
/// The maximum number of situations whose rankings are printed without --full.
const MOST_RANKINGS: usize = 6;

/// Measures the matrix.
pub fn run(args: &Measure, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let prepared = Prepared::new(&args.subjects, &args.effort, &here)?;
    let (sizes, warnings) = read_sizes(&args.sizes, common)?;
    let segments = args
        .segments
        .as_deref()
        .map(|text| read_segments("--segments", text))
        .transpose()?
        .unwrap_or_default();
    let sizes = match segments.is_empty() {
        true => sizes,
        false => vec![Sizes::fixed(segments.iter().copied().map(u64::from).sum())],
    };
    let offsets: Vec<Offsets> = match segments.is_empty() {
        true => words("--offsets", &args.offsets, common)?,
        // Every segment of a chain has its own random alignment.
        false => vec![Offsets::Random],
    };
    let conditions = vec![Condition { segments, ..Condition::plain(0) }];
    let conditions = vary(conditions, &sizes, |condition, sizes| condition.sizes = sizes);
    let conditions = vary(conditions, &offsets, |condition, offsets| condition.offsets = offsets);
    let conditions =
        vary(conditions, &words("--cache", &args.cache, common)?, |condition, cache| condition.cache = cache);
    let conditions =
        vary(conditions, &words("--dependence", &args.dependence, common)?, |condition, dependence| {
            condition.dependence = dependence
        });
    let conditions =
        vary(conditions, &words("--pages", &args.pages, common)?, |condition, pages| condition.pages = pages);
    let conditions =
        vary(conditions, &words("--then", &args.then, common)?, |condition, then| condition.then = then);
    let conditions = vary(conditions, &words("--beside", &args.beside, common)?, |condition, beside| {
        condition.beside = beside
    });

    let subjects = |family| prepared.selection.subjects(family);
    let mut situations: Vec<Situation> = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    for family in &prepared.selection.families {
        for condition in &conditions {
            match impossible(*family, condition, &here.caches) {
                Some(reason) if refused.contains(&reason) => {}
                Some(reason) => refused.push(reason),
                None => situations.push(standard::situation(*family, condition.clone(), 1.0, &subjects)),
            }
        }
    }
    if situations.is_empty() {
        return Err(usage(refused.into_iter().next().unwrap_or_else(|| "nothing to measure".to_owned())));
    }
    for reason in refused {
        output::note(&format!("left out: {reason}"), common);
    }
    let plan = prepared.plan(situations, &args.effort, BUDGET, common);
    let Some(finished) = prepared.execute(&plan, &args.effort, &here, warnings, common)? else {
        return Ok(0);
    };
    let text = result_text(&finished.result, &prepared, args.detail)?;
    conclude(&finished, &text, prepared.unit, &args.effort, common)
}

/// Each condition with each value of a field; the values of a condition are neighbours.
fn vary<T: Clone>(
    conditions: Vec<Condition>,
    values: &[T],
    set: impl Fn(&mut Condition, T),
) -> Vec<Condition> {
    let mut varied = Vec::new();
    for condition in conditions {
        for value in values {
            let mut condition = condition.clone();
            set(&mut condition, value.clone());
            varied.push(condition);
        }
    }
    varied
}

/// The advice, followed by the rankings if they are few or requested, otherwise by matrices.
fn result_text(result: &RunResult, prepared: &Prepared, detail: Detail) -> Result<String, Failure> {
    let style = output::style();
    let advice = advice(result, &Roles::of_collection());
    let is_long = advice.situations > MOST_RANKINGS;
    if detail.full {
        return answer(result, prepared.unit, detail);
    }
    if is_long && !detail.pairs {
        let mut text = answer(result, prepared.unit, detail)?;
        for matrix in matrices(result, prepared.unit) {
            text.push('\n');
            text.push_str(&matrix.to_text(style));
        }
        return Ok(text);
    }
    Ok(format!("{}\n{}", advice.to_text(style), ranked(result, prepared.unit, detail)?))
}
