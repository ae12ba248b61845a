//! `carryline history`: the runs kept so far, and any of them again.

use super::run::ranked_result;
use crate::cli::{Common, Format, History};
use crate::engine::session::open_store;
use crate::failure::{Failure, usage};
use crate::output;
use carryline_measure::store::RunId;
use carryline_report::listing::{RunLine, RunList, to_json};
use carryline_report::units::{Unit, UnknownUnit};

/// Lists runs, or shows one.
pub fn run(args: &History, common: &Common) -> Result<u8, Failure> {
    let unit: Unit = args.unit.parse().map_err(|error: UnknownUnit| usage(error.to_string()))?;
    let store = open_store(common.db.as_deref()).map_err(|error| usage(error.to_string()))?;
    if let Some(id) = args.show {
        let found = store.load_run(RunId(id)).map_err(|error| usage(error.to_string()))?;
        let Some(result) = found else {
            return Err(usage(format!(
                "run {id} is not in the store, or ended before it had a result ('carryline history' lists the runs)"
            )));
        };
        match common.format {
            Format::Json => output::print(&carryline_report::json::run_json(&result)?)?,
            Format::Table => output::print(&ranked_result(&result, unit)?)?,
        }
        output::warn(&result.warnings, common);
        return Ok(0);
    }
    let runs = store.runs(args.most).map_err(|error| usage(error.to_string()))?;
    let list = RunList { runs: runs.into_iter().map(line).collect() };
    match common.format {
        Format::Table => output::print(&list.to_text(output::style()))?,
        Format::Json => output::print(&to_json(&list)?)?,
    }
    Ok(0)
}
