//! `carryline critical`: why a routine takes the time it takes: its critical chain, the bounds, and what was
//! measured.

mod calibration;
mod json;
mod measured;
mod opinion;
mod predict;
mod show;

use crate::cli::{Common, Critical, Drawing, Format};
use crate::output;
use carryline_chain::draw::{self, Picture};
use carryline_chain::text::in_cycles;
use carryline_chain::{Latencies, Scope, table};
use carryline_engine::failure::{Failure, usage};
use carryline_engine::machine::Here;
use carryline_engine::select;
use carryline_machine::nearest::{did_you_mean, nearest};
use predict::Prediction;
use std::path::Path;

/// Predicts, draws, measures and prints.
pub fn run(args: &Critical, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let mut latencies = latencies(args, &here)?;
    let mut predictions = predictions(args, &latencies)?;
    let mut calibration = None;
    if args.calibrate {
        let keys = predictions.iter().flat_map(Prediction::keys).cloned().collect();
        calibration = calibration::overlay(&mut latencies, keys, here.cpu(args.cpu)?, common);
        predictions = self::predictions(args, &latencies)?;
    }
    draw_all(args, &predictions, common)?;
    let measurements = match args.no_measure || predictions.iter().all(|p| p.variant.is_none()) {
        true => measured::Measurements::default(),
        false => measured::measure(args, &predictions, &here, common)?,
    };
    let shown: Vec<show::Shown<'_>> = predictions
        .iter()
        .map(|prediction| show::Shown {
            prediction,
            measured: measurements.of(prediction),
            opinion: if args.no_opinion { None } else { opinion::ask(prediction, latencies.table()) },
            suggestions: if args.suggest { prediction.suggest(args, &latencies) } else { Vec::new() },
            is_asked: args.suggest,
        })
        .collect();
    match common.format {
        Format::Json => {
            output::print_json("critical", &json::object(&shown, &latencies, calibration.as_ref()), common)?
        }
        Format::Table => {
            output::print(&show::render(&shown, &latencies, calibration.as_ref(), output::style()))?
        }
    }
    Ok(if carryline_engine::interrupt::requested() {
        carryline_engine::failure::status::INTERRUPTED
    } else {
        0
    })
}

/// The latencies of the microarchitecture requested, or of this machine's.
///
/// [`calibration::overlay`] lays measured ones over them.
fn latencies(args: &Critical, here: &Here) -> Result<Latencies, Failure> {
    let table = match &args.microarchitecture {
        Some(name) => table::by_name(name).ok_or_else(|| {
            let known: Vec<&str> = table::all().iter().map(|table| table.name.as_str()).collect();
            let near = did_you_mean(&nearest(name, known.iter().copied()));
            usage(format!("unknown microarchitecture '{name}'{near} (known: {})", known.join(", ")))
        })?,
        None => {
            let cpu = &here.environment.cpu;
            let vendor = cpu.vendor.as_deref().unwrap_or_default();
            table::of_cpu(vendor, cpu.family.unwrap_or(0), cpu.model.unwrap_or(0))
        }
    };
    Ok(Latencies::of_table(table))
}

fn predictions(args: &Critical, latencies: &Latencies) -> Result<Vec<Prediction>, Failure> {
    let mut found = Vec::new();
    if let Some(hex) = &args.bytes {
        found.push(Prediction::of_bytes(hex, args, latencies)?);
    }
    if let (Some(object), Some(symbol)) = (&args.object, &args.symbol) {
        found.push(Prediction::of_object(object, symbol, args, latencies)?);
    }
    if !args.names.is_empty() {
        let families = select::families(&args.family)?;
        for variant in select::variants(&args.names, &families)? {
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

/// Writes the drawings that were requested; one file for each routine, where there are several.
fn draw_all(args: &Critical, predictions: &[Prediction], common: &Common) -> Result<(), Failure> {
    if args.svg.is_none() && args.dot.is_none() {
        return Ok(());
    }
    for prediction in predictions {
        let picture = picture(prediction, args.draw)?;
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
            let path = if predictions.len() > 1 { beside(path, &prediction.name) } else { path.clone() };
            std::fs::write(&path, render(&picture))
                .map_err(|error| usage(format!("cannot write {}: {error}", path.display())))?;
            output::note(&format!("wrote {}", path.display()), common);
        }
    }
    Ok(())
}

/// `dir/f.svg` for a routine of several: `dir/f-name.svg`.
fn beside(path: &Path, name: &str) -> std::path::PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{name}{extension}"))
}

fn picture(prediction: &Prediction, drawing: Drawing) -> Result<Picture, Failure> {
    let title = prediction.title();
    match drawing {
        Drawing::Call => {
            let at_most = if prediction.call.scope == Scope::Branching { "at most " } else { "" };
            let inputs = prediction.call.inputs.iter();
            let paths = inputs.filter_map(|input| {
                let cycles = in_cycles(input.path_cycles?);
                Some(format!("{at_most}{cycles} through {}", input.name))
            });
            let paths: Vec<String> = paths.collect();
            let what = if paths.is_empty() { title } else { format!("{title}: {}", paths.join(", ")) };
            Ok(draw::of_analysis(&prediction.call, &what, prediction.signature.chained))
        }
        Drawing::Loop => {
            let (code, found) = prediction
                .main_loop()
                .ok_or_else(|| usage(format!("{title}: no loop to draw; try --draw call")))?;
            let what = format!(
                "{}: one iteration of the loop at {:#x}, {} carried",
                prediction.name,
                found.offset,
                in_cycles(found.recurrence_cycles)
            );
            Ok(draw::of_loop(code, found, &what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_drawings_get_names_of_their_own() {
        assert_eq!(beside(Path::new("out/f.svg"), "avx2"), Path::new("out/f-avx2.svg"));
        assert_eq!(beside(Path::new("f"), "avx2"), Path::new("f-avx2"));
    }
}
