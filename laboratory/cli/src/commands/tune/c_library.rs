//! `carryline tune --libc`: tunes the C library.

use super::{LibcAnswer, TuneAnswer, screen};
use crate::cli::{Common, Format, Tune};
use crate::output;
use carryline_engine::failure::{Failure, status, usage};
use carryline_engine::machine::Here;
use carryline_tune::arms::Lab;
use carryline_tune::c_library::{NAMES, Tunables, tune};
use carryline_tune::confirm::Confirmed;
use carryline_tune::output::DecisionRow;
use carryline_variants::Family;

/// Searches for better thresholds of the C library and prints the result.
pub fn run(
    args: &Tune,
    families: &[Family],
    lab: &Lab<'_>,
    here: &Here,
    common: &Common,
) -> Result<u8, Failure> {
    let base = Tunables::here().map_err(|reason| {
        usage(format!(
            "--libc: the C library here ({}) has no thresholds to set: {reason}",
            here.environment.system.libc
        ))
    })?;
    let tuned = tune(lab, &base, families, args.budget)?;
    lab.progress.finish();
    let line = tuned.tunables.line(&tuned.base);
    match common.format {
        Format::Json => {
            let confirmation: Vec<&Confirmed> =
                tuned.judged.iter().flat_map(|judged| &judged.cells).collect();
            let libc = LibcAnswer { tunables: line, decisions: rows(&tuned), confirmation };
            let json = TuneAnswer { libc: Some(libc), ..TuneAnswer::new(lab, here)? };
            output::print_json("tune", &json, common)?;
            output::end_of_partial(common)?;
        }
        Format::Table => {
            let caches_known = here.environment.caches.iter().any(|cache| cache.level == 3);
            let text = screen::c_library(&tuned, line.as_deref(), caches_known, output::style());
            output::print(&text)?;
        }
    }
    Ok(match () {
        () if tuned.interrupted => status::INTERRUPTED,
        () if tuned.is_undecided() => status::UNDECIDED,
        () => 0,
    })
}

fn rows(tuned: &carryline_tune::c_library::Tuned) -> Vec<DecisionRow> {
    let there = NAMES.into_iter().filter(|name| tuned.base.has(name));
    there
        .map(|name| match tuned.judged.iter().find(|judged| judged.change.name == name) {
            Some(judged) => DecisionRow::judged(judged),
            None => DecisionRow::unchanged(name.to_owned(), "bytes", tuned.base.value(name)),
        })
        .collect()
}
