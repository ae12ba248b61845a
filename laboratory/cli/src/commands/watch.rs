//! `carryline watch`: the live screen.

use super::run::conclude;
use super::words::{read_sizes, words};
use crate::cli::{Common, Watch};
use crate::output;
use crate::prepared::Prepared;
use crate::watch::choice::{Choice, Ladder, usual_caches, usual_offsets, usual_sizes};
use crate::watch::plain;
use crate::watch::show::{BUDGET, Watching};
use crate::watch::state::{Live, Sort, State, View};
use carryline_conditions::Offsets;
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_engine::{interrupt, session};
use carryline_report::advice::advice;
use carryline_report::roles::Roles;
use carryline_report::units::Factors;
use carryline_results::Warning;
use carryline_variants::Family;

/// Shows the screen, or prints blocks without a terminal.
pub fn run(args: &Watch, common: &Common) -> Result<u8, Failure> {
    let here = Here::look();
    let prepared = Prepared::new(&args.subjects, &args.effort, &here)?;
    let (choice, warnings) = choice(args, &prepared, common)?;
    let watch = Watching { args, common, here: &here, prepared: &prepared, warnings };
    let situations = watch.situations(&choice).map_err(usage)?;
    if args.effort.plan {
        let plan = prepared.plan(situations, &args.effort, BUDGET, common);
        prepared.execute(&plan, &args.effort, &here, Vec::new(), common)?;
        return Ok(0);
    }
    if !args.effort.no_save {
        // Fail before spending time if the results cannot be saved.
        drop(session::open_store(common.db.as_deref()).map_err(|error| usage(error.to_string()))?);
    }
    let state = State {
        choice,
        column: State::usual_column(&situations),
        live: Live::new(situations),
        sort: Sort::List,
        view: View::Bars,
        unit: prepared.unit,
        factors: Factors::default(),
        scroll: 0,
        help: false,
        paused: false,
        colour: output::style().colour,
        clock_s: 0.0,
        half_life_s: args.half_life.as_secs_f64(),
        now: String::new(),
        remark: "press h for help".to_owned(),
    };
    let (finished, state) = watch.show(state)?;
    let Some(finished) = finished else {
        output::note("nothing was measured", common);
        output::end_of_partial(common)?;
        return Ok(if interrupt::requested() { status::INTERRUPTED } else { 0 });
    };
    let trust = advice(&finished.result, &Roles::of_collection()).trust_line();
    output::note(&trust, common);
    let mut block = plain::block(&state, output::style().width);
    if finished.interrupted {
        block.push_str(&format!("{}\n", output::INTERRUPTED));
    }
    conclude(&finished, &block, state.unit, &args.effort, common)
}

/// The choices of the screen, and warnings about the captures among the sizes.
fn choice(args: &Watch, prepared: &Prepared, common: &Common) -> Result<(Choice, Vec<Warning>), Failure> {
    let (sizes, warnings) = read_sizes(&args.sizes, common)?;
    let offsets: Vec<Offsets> = words("--offsets", &args.offsets, common)?;
    if offsets.len() > 2 {
        return Err(usage(format!(
            "--offsets {}: the screen has columns for two; press 'o' to step through others",
            args.offsets.join(",")
        )));
    }
    let mut families = prepared.selection.families.clone();
    if args.subjects.family.is_empty() {
        // Checksums come first, as on the screen of the original program.
        families.sort_by_key(|family| *family != Family::Checksum);
    }
    let usual = usual_sizes().map_err(|error| usage(error.to_string()))?;
    let requested = if offsets.is_empty() { Vec::new() } else { vec![offsets] };
    let nothing = || usage("nothing to watch");
    Ok((
        Choice {
            family: Ladder::new(families, Vec::new()).ok_or_else(nothing)?,
            size: Ladder::new(sizes, usual).ok_or_else(nothing)?,
            offsets: Ladder::new(requested, usual_offsets()).ok_or_else(nothing)?,
            cache: Ladder::new(words("--cache", &args.cache, common)?, usual_caches()).ok_or_else(nothing)?,
        },
        warnings,
    ))
}
