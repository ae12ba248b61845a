//! `carryline measure`: a user-defined matrix.

use super::run::{answer, conclude, ranked, read_sizes};
use crate::cli::{Common, Detail, Measure};
use crate::output;
use crate::prepared::Prepared;
use carryline_conditions::sizes::Sizes;
use carryline_conditions::{Condition, Offsets};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::impossible::impossible;
use carryline_engine::machine::Here;
use carryline_engine::standard;
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_machine::words::{UnknownWord, parse_bytes};
use carryline_report::advice::advice;
use carryline_report::matrix::matrices;
use carryline_report::roles::Roles;
use carryline_results::RunResult;
use carryline_results::gather::Situation;
use std::str::FromStr;
use std::time::Duration;

/// The default budget.
const BUDGET: Duration = Duration::from_secs(20);
/// The maximum number of situations whose rankings are printed without --full.
const MOST_RANKINGS: usize = 6;
/// The maximum number of segments of a message: each takes an entry of a list that must stay in the cache.
const MOST_SEGMENTS: usize = 512;

/// Measures the matrix.
pub fn run(args: &Measure, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let prepared = Prepared::new(&args.subjects, &args.effort, &here)?;
    let (sizes, warnings) = read_sizes(Some(&args.sizes))?;
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
        true => words(&args.offsets)?,
        // Every segment of a chain has its own random alignment.
        false => vec![Offsets::Random],
    };
    let conditions = vec![Condition { segments, ..Condition::plain(0) }];
    let conditions = vary(conditions, &sizes, |condition, sizes| condition.sizes = sizes);
    let conditions = vary(conditions, &offsets, |condition, offsets| condition.offsets = offsets);
    let conditions = vary(conditions, &words(&args.cache)?, |condition, cache| condition.cache = cache);
    let conditions = vary(conditions, &words(&args.dependence)?, |condition, dependence| {
        condition.dependence = dependence
    });
    let conditions = vary(conditions, &words(&args.pages)?, |condition, pages| condition.pages = pages);
    let conditions = vary(conditions, &words(&args.then)?, |condition, then| condition.then = then);
    let conditions = vary(conditions, &words(&args.beside)?, |condition, beside| condition.beside = beside);

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
    if is_long && !detail.full && !detail.pairs {
        let mut text = answer(result, prepared.unit, detail)?;
        for matrix in matrices(result, prepared.unit) {
            text.push('\n');
            text.push_str(&matrix.to_text(style));
        }
        return Ok(text);
    }
    Ok(format!("{}\n{}", advice.to_text(style), ranked(result, prepared.unit, detail)?))
}

/// Parses words of the vocabulary; the error for an unknown word suggests the nearest.
pub fn words<T: FromStr<Err = UnknownWord>>(words: &[String]) -> Result<Vec<T>, Failure> {
    words
        .iter()
        .map(|word| {
            word.parse().map_err(|error: UnknownWord| {
                let near = did_you_mean(&nearest(&error.word, error.known.split(", ")));
                usage(format!("{error}{near}"))
            })
        })
        .collect()
}

/// Parses `1,3,1,3`; errors name `option`.
pub fn read_segments(option: &str, text: &str) -> Result<Vec<u32>, Failure> {
    let lengths: Vec<u32> = text
        .split(',')
        .map(|word| match parse_bytes(word).map(u32::try_from) {
            Ok(Ok(0)) => Err(usage(format!("{option}: '{word}': a segment has at least one byte"))),
            Ok(Ok(length)) if length <= 1 << 30 => Ok(length),
            Ok(_) => Err(usage(format!("{option}: '{word}' is more than 1 GiB"))),
            Err(reason) => Err(usage(format!("{option}: {reason}"))),
        })
        .collect::<Result<_, _>>()?;
    let total: u64 = lengths.iter().copied().map(u64::from).sum();
    if total > 1 << 30 {
        return Err(usage(format!("{option}: '{text}' has {total} bytes in total, more than 1 GiB")));
    }
    if lengths.len() > MOST_SEGMENTS {
        return Err(usage(format!("{option}: {} segments, more than {MOST_SEGMENTS}", lengths.len())));
    }
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline_conditions::Cache;

    #[test]
    fn each_segment_is_checked() {
        assert_eq!(read_segments("--segments", "1,3,1,3").ok(), Some(vec![1, 3, 1, 3]));
        for (text, word) in
            [("0", "'0'"), ("1,-3", "'-3'"), ("1,x", "'x'"), ("2G", "'2G'"), ("1G,1", "1 GiB"), ("", "''")]
        {
            let error = read_segments("--segments", text).expect_err(text);
            assert_eq!(error.status(), 2);
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn the_nearest_word_is_suggested() {
        let error = words::<Cache>(&["cold:clflsh".to_owned()]).expect_err("an unknown state");
        assert!(
            error.to_string().contains("'cold:clflsh'") && error.to_string().contains("'cold:clflush'"),
            "{error}"
        );
    }
}
