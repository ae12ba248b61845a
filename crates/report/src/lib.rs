//! Tables, rankings and pages: from what a run found to what people read.
//!
//! Nothing here measures, and nothing here writes: every function takes results or plain lists and returns text.
//! Two rules of the method live here. A table never mixes figures of different
//! [dependence](carryline_measure::condition::Dependence): rankings refuse it with a typed error, matrices and
//! recommendations make one table for each. And a tie is printed as a tie.
//!
//! ```
//! use carryline_measure::results::{RunResult, SCHEMA_VERSION};
//! use carryline_report::{json, ranking, roles::Roles, units::Unit};
//!
//! let run = RunResult {
//!     schema_version: SCHEMA_VERSION,
//!     run_id: None,
//!     seed: 1,
//!     environment: serde_json::json!({"cpu": "any"}),
//!     noise_floor: None,
//!     ticks_per_cycle: None,
//!     ticks_per_ns: None,
//!     limits: vec![],
//!     warnings: vec![],
//!     cells: vec![],
//!     complete: true,
//! };
//! let rankings = ranking::rankings(&run, Unit::Ticks, &Roles::of_collection())?;
//! assert!(rankings.is_empty());
//! assert!(json::run_json(&run)?.contains("\"cells\": []"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod charts;
pub mod curve;
pub mod figure;
pub mod json;
pub mod labels;
pub mod limits;
pub mod listing;
pub mod matrix;
pub mod page;
pub mod ranking;
pub mod recommend;
pub mod roles;
pub mod table;
pub mod text;
pub mod units;
pub mod warnings;

#[cfg(test)]
mod fixture;
