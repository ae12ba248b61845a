//! Bencher Metric Format: benchmarks with measures, each with a value and its bounds.

use super::{ExportError, Exported};
use carryline_statistics::Estimate;
use serde_json::{Map, Value, json};

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    let mut benchmarks = Map::new();
    let metric = |Estimate { median, low, high, .. }: Estimate, unit: f64| json!({"value": median / unit, "lower_value": low / unit, "upper_value": high / unit});
    for cell in exported.measured() {
        let Some(gross) = cell.gross else { continue };
        let mut measures = Map::new();
        // Bencher's own measure "latency" is in nanoseconds.
        if let Some(per_ns) = exported.run.ticks_per_ns.filter(|ticks| *ticks > 0.0) {
            measures.insert("latency".to_owned(), metric(gross, per_ns));
        }
        measures.insert("ticks".to_owned(), metric(gross, 1.0));
        benchmarks.insert(exported.name(cell), Value::Object(measures));
    }
    Ok(serde_json::to_string_pretty(&benchmarks)? + "\n")
}
