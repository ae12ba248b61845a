//! `carryline critical`: explains the time of a routine by its critical chain and throughput bounds, next to
//! the measured time.

mod calibration;
mod json;
mod listing;
mod llvm_mca;
mod measured;
mod own;
pub mod page;
mod predict;
mod show;
mod siblings;
mod summary;
mod traced;

use crate::cli::{Common, Critical, Drawing};
use crate::output;
use anyhow::Context;
use carryline_chain::draw::{self, Hot, Picture, View};
use carryline_chain::suggest::Suggestion;
use carryline_chain::table::{self, Table};
use carryline_chain::text::in_cycles;
use carryline_chain::window::Binds;
use carryline_chain::{Latencies, Scope};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_engine::select;
use carryline_machine::nearest::{did_you_mean, nearest};
use measured::{Measured, Measurements};
use predict::Prediction;
use std::path::Path;
use std::time::Duration;

/// Predicts, draws, measures and prints.
pub fn run(args: &Critical, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let (table, is_own) = table(args, &here)?;
    // Without a table of this CPU, only measurements are known.
    let measures = args.microarchitecture.as_deref() == Some(MEASURED) || !is_own && !args.no_measure;
    let mut own = match measures {
        true => own::measured(table, &here, here.cpu(args.cpu)?, common),
        false => None,
    };
    let is_guess = own.is_none() && !is_own;
    let mut latencies = Latencies::of_table(own.as_ref().map_or(table, |own| own.table));
    let mut predictions = predictions(args, &latencies, common)?;
    note_families(args, &predictions, common);
    let mut calibration = None;
    if args.calibrate || own.is_some() {
        let keys = predictions.iter().flat_map(Prediction::keys).cloned().collect();
        let cpu = here.cpu(args.cpu)?;
        calibration = match &mut own {
            Some(own) => own.overlay(&mut latencies, keys, cpu, args.calibrate, common),
            None => calibration::overlay(&mut latencies, keys, cpu, common),
        };
        predictions = self::predictions(args, &latencies, common)?;
    }
    let suggestions: Vec<Vec<Suggestion>> = predictions
        .iter()
        .map(|prediction| if args.suggest { prediction.suggest(args, &latencies) } else { Vec::new() })
        .collect();
    let mut others = Vec::new();
    for (prediction, suggested) in predictions.iter().zip(&suggestions) {
        let known = |name: &str| predictions.iter().any(|prediction| prediction.name == name);
        let found = siblings::predict(prediction, suggested, args, &latencies)?;
        others.extend(found.into_iter().filter(|other| !known(&other.name)));
    }
    let measurements = match args.no_measure || predictions.iter().all(|p| p.variant.is_none()) {
        true => Measurements::default(),
        false => {
            measured::measure(args, &predictions.iter().chain(&others).collect::<Vec<_>>(), &here, common)?
        }
    };
    draw_all(args, &predictions, &measurements, &latencies, common)?;
    let shown: Vec<show::Shown<'_>> = predictions
        .iter()
        .zip(suggestions)
        .map(|(prediction, suggestions)| show::Shown {
            prediction,
            measured: measurements.of(prediction),
            opinion: if args.no_opinion { None } else { llvm_mca::of(prediction, latencies.table()) },
            beside: suggestions
                .iter()
                .map(|one| {
                    let all: Vec<&Prediction> = predictions.iter().chain(&others).collect();
                    siblings::beside(one.kind, prediction, &all, &measurements)
                })
                .collect(),
            suggestions,
            suggest: args.suggest,
            is_full: args.full,
            is_guess,
        })
        .collect();
    let json = json::object(&shown, &latencies, calibration.as_ref());
    let text = |style| show::render(&shown, &latencies, calibration.as_ref(), style);
    output::print_result("critical", &json, text, common)?;
    output::end_of_partial(common)?;
    Ok(if carryline_engine::interrupt::requested() {
        carryline_engine::failure::status::INTERRUPTED
    } else {
        0
    })
}

/// The name of the table that is measured on this machine.
pub const MEASURED: &str = "measured";

/// The table of the requested microarchitecture, or of this CPU; false if it is only the nearest one.
fn table(args: &Critical, here: &Here) -> Result<(&'static Table, bool), Failure> {
    let cpu = &here.environment.cpu;
    let vendor = cpu.vendor.as_deref().unwrap_or_default();
    let found = table::of_cpu(vendor, cpu.family.unwrap_or(0), cpu.model.unwrap_or(0));
    match args.microarchitecture.as_deref() {
        None => Ok((found.table, found.is_own)),
        Some(MEASURED) => Ok((found.table, false)),
        Some(name) => {
            let unknown = || {
                let known: Vec<&str> = table::all().iter().map(|table| table.name.as_str()).collect();
                let near = did_you_mean(&nearest(name, known.iter().copied()));
                usage(format!(
                    "unknown microarchitecture '{name}'{near} (known: {}, {MEASURED})",
                    known.join(", ")
                ))
            };
            table::by_name(name).map(|table| (table, true)).ok_or_else(unknown)
        }
    }
}

/// The approximate time to trace a call of a usual size; large ones take longer.
const TRACE: Duration = Duration::from_millis(300);

fn predictions(args: &Critical, latencies: &Latencies, common: &Common) -> Result<Vec<Prediction>, Failure> {
    let mut found = Vec::new();
    if let Some(hex) = &args.bytes {
        found.push(Prediction::of_bytes(hex, args, latencies)?);
    }
    if let (Some(object), Some(symbol)) = (&args.object, &args.symbol) {
        found.push(Prediction::of_object(object, symbol, args, latencies)?);
    }
    if !args.names.is_empty() {
        let families = select::families(&args.family)?;
        let variants = select::variants(&args.names, &families, &[])?;
        let progress = Progress::new(TRACE * variants.len() as u32, common.quiet);
        for (index, variant) in variants.iter().enumerate() {
            let (family, name) = (variant.family(), variant.name);
            progress.say(format!("tracing call {} of {}: {family}/{name}", index + 1, variants.len()));
            found.push(Prediction::of_variant(variant, args, latencies)?);
        }
    }
    match found.is_empty() {
        true => Err(usage(
            "name a VARIANT ('carryline list' shows all), or give --object and --symbol, or --bytes",
        )),
        false => Ok(found),
    }
}

/// Notes names that belong to several variants, all of which are shown.
fn note_families(args: &Critical, predictions: &[Prediction], common: &Common) {
    for name in args.names.iter().filter(|name| !name.contains('/')) {
        let of_name =
            predictions.iter().filter_map(|prediction| prediction.variant.filter(|v| v.name == name));
        let full: Vec<String> = of_name.map(|variant| format!("{}/{name}", variant.family())).collect();
        if full.len() > 1 && args.family.is_empty() {
            output::note(
                &format!(
                    "'{name}' is the name of {} variants, all shown: {}; give a full name or --family",
                    full.len(),
                    full.join(", ")
                ),
                common,
            );
        }
    }
}

/// Writes the requested drawings, one file for each routine.
fn draw_all(
    args: &Critical,
    predictions: &[Prediction],
    measurements: &Measurements,
    latencies: &Latencies,
    common: &Common,
) -> Result<(), Failure> {
    if args.svg.is_none() && args.dot.is_none() {
        return Ok(());
    }
    for prediction in predictions {
        let measured = measurements.of(prediction);
        let picture = picture(prediction, args, measured.as_ref(), latencies)?;
        if picture.nodes.len() > draw::MOST_BOXES {
            return Err(usage(format!(
                "{}: {} instructions are too many to draw (at most {}); choose a smaller --size",
                prediction.title(),
                picture.nodes.len(),
                draw::MOST_BOXES
            )));
        }
        let wanted = [(&args.svg, draw::to_svg as fn(&Picture) -> String), (&args.dot, draw::to_dot)];
        for (path, render) in wanted {
            let Some(path) = path else { continue };
            let path = match predictions.len() {
                1 => path.clone(),
                _ => path_for(path, &name_among(prediction, predictions)),
            };
            output::check_writable(&path)?;
            std::fs::write(&path, render(&picture))
                .with_context(|| format!("cannot write {}", path.display()))?;
            output::note(&format!("wrote {}", path.display()), common);
        }
    }
    Ok(())
}

/// The name of a drawing: that of the routine, with its family if another routine has the same name.
fn name_among(prediction: &Prediction, all: &[Prediction]) -> String {
    let name = &prediction.name;
    let is_shared = all.iter().filter(|other| other.name == *name).count() > 1;
    match prediction.variant.filter(|_| is_shared) {
        Some(variant) => format!("{}-{name}", variant.family()),
        None => name.clone(),
    }
}

/// The path of one of several drawings: `dir/f-name.svg` for `dir/f.svg`.
fn path_for(path: &Path, name: &str) -> std::path::PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{name}{extension}"))
}

fn picture(
    prediction: &Prediction,
    args: &Critical,
    measured: Option<&Measured>,
    latencies: &Latencies,
) -> Result<Picture, Failure> {
    let title = prediction.title();
    match args.draw {
        Drawing::Call => {
            let at_most = if prediction.call.scope == Scope::Branching { "at most " } else { "" };
            let inputs = prediction.call.inputs.iter();
            let paths = inputs.filter_map(|input| {
                let cycles = in_cycles(input.path_cycles?);
                Some(format!("{at_most}{cycles} through {}", input.name))
            });
            let paths: Vec<String> = paths.collect();
            let title = if paths.is_empty() { title } else { format!("{title}: {}", paths.join(", ")) };
            let busy = summary::busy(prediction, latencies.table());
            let hot = match prediction.overlapping.as_ref().map(summary::main_binding) {
                None | Some(None | Some(Binds::Chain | Binds::Window)) => Hot::Chain,
                Some(Some(Binds::Ports)) => Hot::Instructions(&busy),
                Some(Some(Binds::Issue | Binds::FrontEnd)) => Hot::Nothing,
            };
            let view = View { full: args.full, hot };
            let mut picture = draw::of_analysis(&prediction.call, &title, prediction.signature.chained, view);
            picture.remark = summary::sentence(prediction, measured).unwrap_or_default();
            Ok(picture)
        }
        Drawing::Loop => {
            let (code, found) = prediction
                .main_loop()
                .ok_or_else(|| usage(format!("{title}: no loop to draw; try --draw call")))?;
            let title = format!(
                "{}: one iteration of the loop at {:#x}, {} carried",
                prediction.name,
                found.offset,
                in_cycles(found.recurrence_cycles)
            );
            let busy = summary::busy_in_loop(code, found, latencies.table());
            let hot = match found.binding() {
                "recurrence" => Hot::Chain,
                _ if found.throughput.port_cycles > found.throughput.issue_cycles => Hot::Instructions(&busy),
                _ => Hot::Nothing,
            };
            let mut picture = draw::of_loop(code, found, &title, hot);
            picture.remark = summary::of_loop(found);
            Ok(picture)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_drawings_gets_its_own_name() {
        assert_eq!(path_for(Path::new("out/f.svg"), "avx2"), Path::new("out/f-avx2.svg"));
        assert_eq!(path_for(Path::new("f"), "avx2"), Path::new("f-avx2"));
    }
}
