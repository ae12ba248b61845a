//! The format `customSmallerIsBetter` of the GitHub action github-action-benchmark: gross ticks.

use super::{ExportError, Exported};
use crate::units::number;
use serde_json::{Value, json};

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    let entry = |cell| -> Option<Value> {
        let cell: &carryline_results::Cell = cell;
        let gross = cell.gross?;
        Some(json!({
            "name": exported.name(cell),
            "unit": "ticks/call",
            "value": gross.median,
            "range": format!("± {}", number((gross.high - gross.low) / 2.0)),
            "extra": format!("95 % interval [{}, {}]", number(gross.low), number(gross.high)),
        }))
    };
    let entries: Vec<Value> = exported.measured().filter_map(entry).collect();
    Ok(serde_json::to_string_pretty(&entries)? + "\n")
}
