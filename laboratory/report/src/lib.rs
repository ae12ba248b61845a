//! Tables, rankings and pages of a run's results.
//!
//! Nothing here measures or writes files: every function takes results or plain lists and returns text. Two
//! rules of the method apply throughout. A table never mixes figures of different
//! [dependence](carryline_conditions::Dependence): rankings return a typed error, matrices and
//! recommendations make a table for each. And a tie is printed as a tie.
//!
//! ```
//! use carryline_results::{RunResult, SCHEMA_VERSION};
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
//!     experiments: vec![],
//!     complete: true,
//! };
//! let rankings = ranking::rankings(&run, Unit::Ticks, &Roles::of_collection())?;
//! assert!(rankings.is_empty());
//! let about = json::About::default();
//! assert_eq!(serde_json::to_value(json::stored(&about, &run))?["cells"], serde_json::json!([]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod advice;
pub mod charts;
pub mod claims_page;
pub mod comparison;
pub mod curve;
pub mod experiments;
pub mod export;
pub mod figure;
pub mod gate;
mod grouping;
pub mod inlining;
pub mod json;
pub mod labels;
pub mod limits;
pub mod listing;
pub mod matrix;
pub mod page;
pub mod ranking;
pub mod recommend;
pub mod redact;
pub mod roles;
pub mod table;
pub mod text;
pub mod units;
pub mod warnings;

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod tests {
    use crate::{
        advice, curve, fixture, limits, matrix, ranking, recommend, table::Style, units::Unit, warnings,
    };

    #[test]
    fn renderings_are_valid_for_any_width_unit_and_empty_runs() {
        for run in [fixture::run(), fixture::empty()] {
            for unit in Unit::ALL {
                for width in [None, Some(0), Some(1), Some(17), Some(79), Some(400)] {
                    let style = Style { colour: width == Some(79), width };
                    let rankings = ranking::rankings(&run, unit, &fixture::roles()).expect("nothing mixed");
                    let matrices = matrix::matrices(&run, unit);
                    let curves = curve::curves(&run, unit, &fixture::roles());
                    let mut texts = vec![
                        recommend::recommend(&run, &fixture::roles()).to_text(style),
                        limits::limits(&run, unit).to_text(style),
                        warnings::to_text(&run.warnings, style),
                    ];
                    texts
                        .extend(rankings.iter().map(|ranking| ranking.to_text(style, ranking::Rows::Folded)));
                    texts.extend(
                        rankings.iter().map(|ranking| ranking.to_text(style, ranking::Rows::AllAndPairs)),
                    );
                    texts.push(advice::advice(&run, &fixture::roles()).to_text(style));
                    texts.extend(matrices.iter().map(|matrix| matrix.to_text(style)));
                    texts.extend(curves.iter().map(|c| c.to_text(style, curve::Glyphs::Braille, 3)));
                    for text in texts {
                        assert!(
                            text.ends_with('\n') && !text.contains("NaN") && !text.contains("inf"),
                            "{text}"
                        );
                        assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
                    }
                }
            }
        }
    }
}
