//! The JSON output: the fields common to all objects, and the public form of a run. Fields are added, never
//! renamed: `ticks_per_call`, `gross` and `cycles_per_call` are older names of `net_ticks_per_call`,
//! `gross_ticks_per_call` and `net_cycles_per_call`, and remain.
//!
//! [`RunResult`]'s own serde form is for storage. Here a condition consists of the words of the command line,
//! so that it can be requested again, and every cell has every field: `null` if there is no value.

use crate::labels;
use crate::ranking::group_letters;
use carryline_conditions::Condition;
use carryline_results::claims::ExperimentResult;
use carryline_results::{Cell, CycleBasis, Limit, Observed, RunResult, SCHEMA_VERSION, Status, Warning};
use carryline_statistics::{Estimate, Ratio};
use carryline_variants::Family;
use carryline_warnings::trust::trust;
use serde::Serialize;
use std::collections::BTreeMap;

/// The fields that begin the JSON of every command.
#[derive(Debug)]
pub struct Head {
    /// The name of its JSON Schema.
    pub schema: &'static str,
    /// The words of the command line.
    pub command: Vec<String>,
    /// The time of writing, in UTC.
    pub date: String,
}

#[derive(Serialize)]
struct WithHead<'a, T> {
    schema_version: u32,
    schema: &'static str,
    date: &'a str,
    command_line: &'a [String],
    #[serde(flatten)]
    body: &'a T,
}

/// An object with its head as indented JSON, without a final line break. Non-finite figures are `null`.
///
/// # Errors
/// If the body is not an object.
pub fn with_head<T: Serialize>(head: &Head, body: &T) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(body)?;
    // Some bodies are also written to files, so they contain their own version.
    match value.as_object_mut().and_then(|object| object.remove("schema_version")) {
        Some(_) => pretty(head, &value),
        None => pretty(head, body),
    }
}

fn pretty<T: Serialize>(head: &Head, body: &T) -> Result<String, serde_json::Error> {
    let Head { schema, command, date } = head;
    serde_json::to_string_pretty(&WithHead {
        schema_version: SCHEMA_VERSION,
        schema,
        date,
        command_line: command,
        body,
    })
}

/// A stored run's properties other than its result.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The hash of its content, which identifies it in every store.
    pub content_hash: Option<String>,
    /// The user's label.
    pub label: Option<String>,
    /// The time of its start, in UTC.
    pub started: Option<String>,
    /// The command line that measured it.
    pub made_by: Vec<String>,
}

#[derive(Serialize)]
struct Run<'a> {
    content_hash: Option<&'a str>,
    label: Option<&'a str>,
    started: Option<&'a str>,
    made_by: &'a [String],
    run_id: Option<i64>,
    seed: u64,
    complete: bool,
    environment: &'a serde_json::Value,
    ticks_per_cycle: Option<f64>,
    ticks_per_ns: Option<f64>,
    noise_floor: Option<NoiseFloor<'a>>,
    trust: Trust,
    limits: &'a [Limit],
    warnings: &'a [Warning],
    cells: Vec<PublicCell<'a>>,
    experiments: Vec<ExperimentResult>,
}

/// The grade of trust, as on the first screen of a run.
#[derive(Serialize)]
struct Trust {
    grade: String,
    reason: Option<String>,
}

#[derive(Serialize)]
struct NoiseFloor<'a> {
    relative: f64,
    pairs: u32,
    by_situation: BTreeMap<&'a str, f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Size<'a> {
    Bytes(u64),
    Label(&'a str),
}

#[derive(Serialize)]
struct PublicCondition<'a> {
    size: Size<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    learned: bool,
    offsets: String,
    cache: String,
    dependence: &'static str,
    pages: String,
    segments: &'a [u32],
    then: String,
    beside: String,
}

/// A net time; negative values are not times and become `null`.
#[derive(Serialize)]
struct Net {
    median: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    min: Option<f64>,
}

impl From<Estimate> for Net {
    fn from(Estimate { median, low, high, min }: Estimate) -> Net {
        let [median, low, high, min] = [median, low, high, min].map(|time| (time >= 0.0).then_some(time));
        Net { median, low, high, min }
    }
}

#[derive(Serialize)]
struct PublicCell<'a> {
    situation: &'a str,
    variant: &'a str,
    family: Family,
    status: Status,
    detail: Option<&'a str>,
    condition: PublicCondition<'a>,
    observed: Option<&'a Observed>,
    bytes_per_call: f64,
    net_ticks_per_call: Option<Net>,
    gross_ticks_per_call: Option<Estimate>,
    ticks_per_call: Option<Net>,
    within_null_call: bool,
    gross: Option<Estimate>,
    net_cycles_per_call: Option<f64>,
    cycles_per_call: Option<f64>,
    basis: Option<CycleBasis>,
    bytes_per_cycle: Option<f64>,
    limit_share: Option<f64>,
    ratio_to_baseline: Option<Ratio>,
    baseline: Option<&'a str>,
    rank: Option<u32>,
    group: Option<String>,
    ties_with: &'a [String],
}

/// A condition in the words of the command line, as in every cell.
#[must_use]
pub fn condition(condition: &Condition) -> serde_json::Value {
    serde_json::to_value(public_condition(condition)).unwrap_or_default()
}

fn public_condition(condition: &Condition) -> PublicCondition<'_> {
    PublicCondition {
        size: labels::fixed_size(condition).map_or(Size::Label(&condition.sizes.label), Size::Bytes),
        learned: condition.sizes.learned,
        offsets: condition.offsets.to_string(),
        cache: condition.cache.to_string(),
        dependence: condition.dependence.word(),
        pages: condition.pages.to_string(),
        segments: &condition.segments,
        then: condition.then.to_string(),
        beside: condition.beside.to_string(),
    }
}

/// A cell with the letters of its tie groups.
fn cell(cell: &Cell, group: Option<String>) -> PublicCell<'_> {
    PublicCell {
        situation: &cell.situation,
        variant: &cell.variant,
        family: cell.family,
        status: cell.status,
        detail: cell.detail.as_deref(),
        condition: public_condition(&cell.condition),
        observed: cell.observed.as_ref(),
        bytes_per_call: cell.bytes_per_call,
        net_ticks_per_call: cell.ticks_per_call.map(Net::from),
        gross_ticks_per_call: cell.gross,
        ticks_per_call: cell.ticks_per_call.map(Net::from),
        within_null_call: cell.ticks_per_call.is_some_and(|net| net.median < 0.0),
        gross: cell.gross,
        net_cycles_per_call: cell.cycles_per_call.filter(|cycles| *cycles >= 0.0),
        cycles_per_call: cell.cycles_per_call.filter(|cycles| *cycles >= 0.0),
        basis: cell.basis,
        bytes_per_cycle: cell.bytes_per_cycle,
        limit_share: cell.limit_share,
        ratio_to_baseline: cell.ratio_to_baseline,
        baseline: cell.baseline.as_deref(),
        rank: cell.rank,
        group,
        ties_with: &cell.ties_with,
    }
}

/// An experiment whose tables have no net times below zero.
fn experiment(known: &ExperimentResult) -> ExperimentResult {
    let mut public = known.clone();
    for table in &mut public.tables {
        for row in &mut table.rows {
            for (datum, column) in row.iter_mut().zip(&table.columns) {
                *datum = datum.printed(&column.unit);
            }
        }
    }
    public
}

/// The public form of a run.
#[must_use]
pub fn stored<'a>(about: &'a About, run: &'a RunResult) -> impl Serialize + use<'a> {
    let noise_floor = run.noise_floor.as_ref().map(|floor| NoiseFloor {
        relative: floor.relative,
        pairs: floor.pairs,
        by_situation: floor.by_situation.iter().map(|(name, relative)| (name.as_str(), *relative)).collect(),
    });
    let carryline_warnings::trust::Trust { grade, reason } = trust(run);
    let mut letters = group_letters(run);
    let mut public = |known: &'a Cell| {
        let group = letters.remove(&(known.situation.as_str(), known.family, known.variant.as_str()));
        cell(known, group)
    };
    Run {
        content_hash: about.content_hash.as_deref(),
        label: about.label.as_deref(),
        started: about.started.as_deref(),
        made_by: &about.made_by,
        run_id: run.run_id,
        seed: run.seed,
        complete: run.complete,
        environment: &run.environment,
        ticks_per_cycle: run.ticks_per_cycle,
        ticks_per_ns: run.ticks_per_ns,
        noise_floor,
        trust: Trust { grade: grade.to_string(), reason },
        limits: &run.limits,
        warnings: &run.warnings,
        cells: run.cells.iter().map(&mut public).collect(),
        experiments: run.experiments.iter().map(experiment).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use carryline_results::claims::{Datum, TableResult};
    use serde_json::{Value, json};

    fn value(run: &RunResult) -> Value {
        let head = Head { schema: "run", command: vec!["carryline".to_owned()], date: "now".to_owned() };
        let text = with_head(&head, &stored(&About::default(), run)).expect("serialises");
        serde_json::from_str(&text).expect("parses")
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().map_or(vec![], |object| object.keys().map(String::as_str).collect())
    }

    #[test]
    fn a_run_has_exactly_the_published_fields() {
        let run = value(&fixture::run());
        let top = "cells command_line complete content_hash date environment experiments label limits made_by noise_floor run_id \
                   schema schema_version seed started ticks_per_cycle ticks_per_ns trust warnings";
        assert_eq!(keys(&run).join(" "), top);
        let cell = "baseline basis bytes_per_call bytes_per_cycle condition cycles_per_call detail family gross \
                    gross_ticks_per_call group limit_share net_cycles_per_call net_ticks_per_call observed rank ratio_to_baseline situation status ticks_per_call ties_with \
                    variant within_null_call";
        let cells = run["cells"].as_array().expect("an array");
        assert_eq!(cells.len(), fixture::run().cells.len());
        for one in cells {
            assert_eq!(keys(one).join(" "), cell);
            let condition = "beside cache dependence offsets pages segments size then";
            assert_eq!(keys(&one["condition"]).join(" "), condition);
        }
        assert_eq!(keys(&cells[0]["ticks_per_call"]).join(" "), "high low median min");
        assert_eq!(keys(&cells[0]["gross"]).join(" "), "high low median min");
        assert_eq!(keys(&run["warnings"][0]).join(" "), "cause code remedy");
    }

    #[test]
    fn a_cell_has_the_words_of_its_request() {
        let run = value(&fixture::run());
        let first = &run["cells"][1];
        assert_eq!(
            (&first["variant"], &first["status"], &first["rank"]),
            (&json!("avx512"), &json!("ok"), &json!(1))
        );
        assert_eq!(first["ties_with"], json!(["carryline"]));
        // Rows that share a letter tie; cells without a rank have no letter.
        assert_eq!(first["group"], json!("a"));
        assert_eq!(run["cells"][4]["group"], Value::Null);
        let trust = json!({"grade": "fair", "reason": "too few rounds in one place"});
        assert_eq!(run["trust"], trust);
        let condition = json!({"size": 40, "offsets": "0", "cache": "hot", "dependence": "independent",
                               "pages": "4k", "segments": [], "then": "nothing", "beside": "nothing"});
        assert_eq!(first["condition"], condition);
        assert_eq!(first["ticks_per_call"]["median"], json!(0.05));
        let statuses: Vec<&Value> =
            run["cells"].as_array().expect("an array")[4..8].iter().map(|c| &c["status"]).collect();
        assert_eq!(
            statuses,
            [&json!("unsupported"), &json!("crashed"), &json!("timed_out"), &json!("wrong")]
        );
        assert_eq!(run["cells"][4]["gross"], Value::Null);
        let mixed = run["cells"].as_array().and_then(|cells| cells.last()).expect("a cell");
        assert_eq!(mixed["condition"]["size"], json!("1..200"));
        assert_eq!(run["noise_floor"]["by_situation"]["zero 40 independent"], json!(0.008));
    }

    #[test]
    fn a_negative_net_time_is_within_the_null_call() {
        let mut run = fixture::run();
        let within = Estimate { median: -0.2, low: -0.5, high: 0.1, min: -1.0 };
        run.cells[0].ticks_per_call = Some(within);
        run.cells[0].cycles_per_call = Some(-0.33);
        run.cells[1].ticks_per_call = Some(Estimate { median: 0.2, low: -0.1, high: 0.4, min: -1.0 });
        let run = value(&run);
        let (first, second) = (&run["cells"][0], &run["cells"][1]);
        assert_eq!(first["within_null_call"], json!(true));
        assert_eq!(first["ticks_per_call"], json!({"median": null, "low": null, "high": 0.1, "min": null}));
        assert_eq!(first["cycles_per_call"], Value::Null);
        assert_eq!(second["within_null_call"], json!(false));
        assert_eq!(second["ticks_per_call"], json!({"median": 0.2, "low": null, "high": 0.4, "min": null}));
    }

    #[test]
    fn a_negative_net_time_of_an_experiment_is_within_the_null_call() {
        let mut experiment = fixture::experiment();
        let figure = |value| Datum::Figure { value, low: -2.0, high: 1.0 };
        let mut table = TableResult::new("Times", &[("net", "cycles"), ("here", "change, %")]);
        table.push(vec![figure(-0.5), figure(-0.5)]);
        table.push(vec![figure(0.5), figure(0.5)]);
        experiment.tables = vec![table];
        let run = value(&RunResult { experiments: vec![experiment], ..fixture::empty() });
        let rows = &run["experiments"][0]["tables"][0]["rows"];
        let number = |value: f64| json!({"value": value, "low": -2.0, "high": 1.0});
        assert_eq!(rows[0], json!([{"within_null_call": true}, number(-0.5)]));
        assert_eq!(rows[1], json!([number(0.5), number(0.5)]));
        let read: Vec<Datum> = serde_json::from_value(rows[0].clone()).expect("data");
        assert_eq!(read, [Datum::WithinNull { within_null_call: true }, figure(-0.5)]);
    }

    #[test]
    fn non_finite_figures_are_null() {
        let mut run = fixture::run();
        run.cells[0].limit_share = Some(f64::NAN);
        run.noise_floor = None;
        assert_eq!(value(&run)["cells"][0]["limit_share"], Value::Null);
        assert_eq!(value(&run)["noise_floor"], Value::Null);
    }
}
