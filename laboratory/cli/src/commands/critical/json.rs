//! Predictions as JSON.

use super::show::Shown;
use carryline_chain::analysis::InputPath;
use carryline_chain::calibrate::Calibration;
use carryline_chain::{Analysis, Latencies};
use carryline_conditions::Dependence;
use carryline_results::SCHEMA_VERSION;
use serde_json::{Map, Value, json};

/// One routine as an object, several as a list in an object.
pub fn object(shown: &[Shown<'_>], latencies: &Latencies, calibration: Option<&Calibration>) -> Value {
    let mut all: Vec<Value> = shown.iter().map(|one| routine(one, latencies)).collect();
    let mut object = match all.len() {
        1 => all.remove(0),
        _ => json!({ "schema_version": SCHEMA_VERSION, "variants": all }),
    };
    object["calibration"] = calibration.map_or(Value::Null, calibrated);
    object
}

/// The latencies measured, those left out with the reason, and the results of the method's own checks.
fn calibrated(calibration: &Calibration) -> Value {
    let figures = calibration.measured.iter().map(|measured| {
        json!({
            "key": measured.key,
            "cycles": measured.cycles,
            "median": measured.median,
            "low": measured.interval.start,
            "high": measured.interval.end,
        })
    });
    let left_out = calibration.left_out.iter().map(|(key, why)| json!({ "key": key, "reason": why }));
    let checks = calibration.checks.iter().map(|(name, cycles)| ((*name).to_owned(), json!(cycles)));
    json!({
        "used": calibration.problems().is_empty(),
        "checks": checks.collect::<Map<String, Value>>(),
        "measured": figures.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

fn routine(shown: &Shown<'_>, latencies: &Latencies) -> Value {
    let prediction = shown.prediction;
    let call = &prediction.call;
    let main = prediction.main_loop();
    let mut known = call.latencies.clone();
    known.extend(prediction.code.iter().flat_map(|code| code.latencies.clone()));
    let keys: Vec<Value> = known
        .iter()
        .map(|(key, latency)| json!({ "key": key, "cycles": latency.cycles, "source": latency.source }))
        .collect();
    let mut sources = prediction.code.as_ref().map(Analysis::sources).unwrap_or_default();
    sources.extend(call.sources());
    let notes: Vec<&String> = prediction.notes.iter().chain(&call.notes).collect();
    let not_modelled = call.not_modelled();
    let is_modelled = not_modelled.is_empty();
    json!({
        "schema_version": SCHEMA_VERSION,
        "variant": prediction.name,
        "family": prediction.variant.map(|variant| variant.family().name()),
        "size": prediction.size,
        "scope": call.scope,
        "microarchitecture": latencies.table().name,
        "inputs": call.inputs.iter().map(|input| path(call, input)).collect::<Vec<_>>(),
        "recurrence_cycles": main.map(|(_, found)| found.recurrence_cycles),
        "throughput_cycles": main.map(|(_, found)| found.throughput.cycles).or(is_modelled.then_some(call.throughput.cycles)),
        "binding": prediction.code.as_ref().unwrap_or(call).binding(),
        "call": {
            "throughput": is_modelled.then_some(&call.throughput),
            "binding": is_modelled.then(|| call.binding()),
            "not_modelled": not_modelled,
            "instructions": call.order.iter().map(|index| line(call, *index)).collect::<Vec<_>>(),
        },
        "loops": prediction.loops().iter().map(|found| {
            let code = prediction.code.as_ref().unwrap_or(call);
            let text = |index: usize| code.function.text(index);
            json!({
                "offset": found.offset,
                "innermost": found.is_innermost,
                "bytes_per_iteration": found.bytes_per_iteration,
                "recurrence_cycles": found.recurrence_cycles,
                "chain": found.chain.iter().map(|link| text(link.instruction)).collect::<Vec<_>>(),
                "throughput": found.throughput,
                "cycles_per_byte": found.cycles_per_byte(),
                "binding": found.binding(),
            })
        }).collect::<Vec<_>>(),
        "bounds_are_estimates": shown.is_guess,
        "bounds": by_dependence(|dependence| prediction.bound(dependence)),
        "predicted": by_dependence(|dependence| prediction.predicted(dependence)),
        "binds": prediction.overlapping.as_ref().map(|found| {
            let word = |d| found.of(d).and_then(|one| one.binds).map(|(part, without)| {
                json!({ "part": part, "cycles_without": without })
            });
            Dependence::ALL.into_iter().map(|d| (d.word().to_owned(), json!(word(d)))).collect::<Map<_, _>>()
        }),
        "ports": prediction.overlapping.as_ref().map(|found| {
            let names = latencies.table().port_names.iter().cloned();
            let used = found.independent.simulated.ports.iter().map(|count| json!(count));
            names.zip(used).collect::<Map<_, _>>()
        }),
        "not_modelled": not_modelled,
        "measured": shown.measured.as_ref().map(|measured| {
            let compared = |dependence| measured.of(dependence).map(|cycles| cycles.compared());
            let mut object = by_dependence(|dependence| compared(dependence).filter(|cycles| *cycles >= 0.0));
            let within = Dependence::ALL.into_iter().any(|d| compared(d).is_some_and(|cycles| cycles < 0.0));
            object.insert("within_null_call".to_owned(), json!(within));
            object.insert("gross".to_owned(), json!(by_dependence(|d| measured.of(d).map(|cycles| cycles.gross))));
            object.insert("null_call".to_owned(), json!(by_dependence(|d| measured.of(d).map(|cycles| cycles.null))));
            object.insert("basis".to_owned(), json!(measured.basis));
            object.insert("missing".to_owned(), json!(measured.missing));
            object
        }),
        "unexplained": shown.measured.as_ref().map(|measured| by_dependence(|dependence| {
            measured.of(dependence)?.unexplained(prediction.bound(dependence))
        })),
        "latencies": sources,
        "latency_keys": keys,
        "suggestions": shown.suggestions,
        "suggested_by_measured": shown.beside,
        "second_opinion": shown.opinion.as_ref().map(|opinion| json!({
            "tool": "llvm-mca",
            "model": opinion.model,
            "call_cycles": opinion.call_cycles,
            "loop_cycles": opinion.loop_cycles,
            "asked": format!("{} for {}", opinion.tool, opinion.model),
            "unknown_model": opinion.unknown,
            "chained": opinion.chained,
            "independent": opinion.independent,
            "misreads": opinion.misreads,
        })),
        "notes": notes,
    })
}

/// An object with a figure for each dependence.
fn by_dependence(figure: impl Fn(Dependence) -> Option<f64>) -> Map<String, Value> {
    Dependence::ALL.into_iter().map(|d| (d.word().to_owned(), json!(figure(d)))).collect()
}

fn path(call: &Analysis, input: &InputPath) -> Value {
    let steps: Vec<Value> = input
        .steps
        .iter()
        .map(|step| {
            let mut object = line(call, step.instruction);
            object["cycles"] = json!(step.cycles);
            object
        })
        .collect();
    json!({
        "name": input.name,
        "register": input.register,
        "path_cycles": input.path_cycles,
        "output": input.output,
        "instructions": steps,
    })
}

fn line(call: &Analysis, index: usize) -> Value {
    let found = &call.function.instructions[index];
    json!({ "offset": call.function.offset(found.ip()), "text": call.function.text(index) })
}
