//! `carryline schema NAME`: prints the JSON Schema of a command's JSON output.

use crate::cli::{Common, Format, Schema};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_machine::nearest::{did_you_mean, nearest};
use carryline_report::text::wrap;
use serde_json::json;

/// Name, commands and text of each schema, sorted by name.
const SCHEMAS: &[(&str, &str, &str)] = &[
    ("audit", "audit", include_str!("../../../../docs/schema/audit.json")),
    ("audit-capture", "audit capture", include_str!("../../../../docs/schema/audit-capture.json")),
    ("compare", "compare", include_str!("../../../../docs/schema/compare.json")),
    ("critical", "critical", include_str!("../../../../docs/schema/critical.json")),
    ("experiments", "reproduce --list", include_str!("../../../../docs/schema/experiments.json")),
    ("explain", "explain", include_str!("../../../../docs/schema/explain.json")),
    ("gate", "gate", include_str!("../../../../docs/schema/gate.json")),
    ("history", "history", include_str!("../../../../docs/schema/history.json")),
    ("inlining", "inlining", include_str!("../../../../docs/schema/inlining.json")),
    ("list", "list", include_str!("../../../../docs/schema/list.json")),
    ("machine", "machine", include_str!("../../../../docs/schema/machine.json")),
    ("plan", "run --plan, measure --plan", include_str!("../../../../docs/schema/plan.json")),
    ("real", "real", include_str!("../../../../docs/schema/real.json")),
    ("report", "report", include_str!("../../../../docs/schema/report.json")),
    (
        "run",
        "run, measure, watch, reproduce, rerun, history --show, export --to json, and carryline alone",
        include_str!("../../../../docs/schema/run.json"),
    ),
    ("schemas", "schema", include_str!("../../../../docs/schema/schemas.json")),
    ("selftest", "selftest", include_str!("../../../../docs/schema/selftest.json")),
    ("tune", "tune", include_str!("../../../../docs/schema/tune.json")),
    ("verify", "verify", include_str!("../../../../docs/schema/verify.json")),
];

/// The names of the schemas.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, ..)| *name)
}

/// Prints a schema, or lists all.
pub fn run(args: &Schema, common: &Common) -> Result<u8, Failure> {
    if let Some(wanted) = &args.name {
        let Some((_, _, text)) = SCHEMAS.iter().find(|(name, ..)| name == wanted) else {
            let near = did_you_mean(&nearest(wanted, names()));
            let all: Vec<&str> = names().collect();
            return Err(usage(format!("there is no schema '{wanted}'{near} (schemas: {})", all.join(", "))));
        };
        return output::print(text).map(|()| 0);
    }
    match common.format {
        Format::Json => {
            let line = |(name, commands, _): &(&str, &str, &str)| json!({"name": name, "commands": commands});
            let lines: Vec<_> = SCHEMAS.iter().map(line).collect();
            output::print_json("schemas", &json!({ "schemas": lines }), common)?;
        }
        Format::Table => {
            let width = output::style().width;
            let line = |(name, commands, _): &(&str, &str, &str)| {
                wrap(&format!("{name:13} {commands}"), width, 14) + "\n"
            };
            output::print(&SCHEMAS.iter().map(line).collect::<String>())?;
        }
    }
    Ok(0)
}
