//! The JSON of `--format json`; with every sample, also the plan and the rounds, for `carryline compare` and
//! `carryline gate`.

use super::{ExportError, Exported};
use crate::json::{stored, with_head};
use crate::redact::redacted;
use carryline_results::round::{Round, RoundRecord};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Whole<'a, T> {
    #[serde(flatten)]
    run: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rounds: Vec<WholeRound<'a>>,
}

#[derive(Serialize)]
struct WholeRound<'a> {
    situation: &'a str,
    replicate: u32,
    #[serde(flatten)]
    round: &'a Round,
}

impl<'a> WholeRound<'a> {
    fn of(record: &'a RoundRecord) -> WholeRound<'a> {
        WholeRound { situation: &record.situation, replicate: record.replicate, round: &record.round }
    }
}

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    let whole = Whole {
        run: stored(exported.about, exported.run),
        plan: exported.raw.then_some(exported.plan),
        rounds: if exported.raw { exported.rounds.iter().map(WholeRound::of).collect() } else { Vec::new() },
    };
    let mut text = match exported.redact {
        true => serde_json::to_string_pretty(&redacted(serde_json::from_str(&with_head(
            exported.head,
            &whole,
        )?)?))?,
        false => with_head(exported.head, &whole)?,
    };
    text.push('\n');
    Ok(text)
}
