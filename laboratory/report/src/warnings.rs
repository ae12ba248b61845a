//! A run's warnings as text, each with its code, cause and remedy.

use crate::table::{Emphasis, Style, emphasise};
use crate::text::{safe, wrap};
use carryline_results::Warning;

/// The warnings as lines; empty if there are none.
#[must_use]
pub fn to_text(warnings: &[Warning], style: Style) -> String {
    let mut out = String::new();
    for warning in warnings {
        let code = safe(&warning.code);
        let indent = code.chars().count() + 2;
        let cause = wrap(&format!("{code}  {}", safe(&warning.cause)), style.width, indent);
        let (head, rest) = cause.split_at(code.len());
        let remedy = format!("{}{}", " ".repeat(indent), safe(&warning.remedy));
        out.push_str(&emphasise(head, Emphasis::Bad, style));
        out.push_str(rest);
        out.push('\n');
        out.push_str(&wrap_indented(&remedy, style.width, indent));
        out.push('\n');
    }
    out
}

/// Like [`wrap`], for a first line that is already indented.
fn wrap_indented(line: &str, width: Option<u16>, indent: usize) -> String {
    let narrower = width.map(|width| width.saturating_sub(u16::try_from(indent).unwrap_or(u16::MAX)));
    let wrapped = wrap(line.trim_start(), narrower, 0);
    let lines: Vec<String> = wrapped.lines().map(|line| format!("{}{line}", " ".repeat(indent))).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn warnings_have_code_cause_and_remedy() {
        let style = Style { colour: false, width: Some(60) };
        insta::assert_snapshot!(to_text(&fixture::run().warnings, style), @"
        W02  The machine is virtual and shares its cores with
             others.
             Compare ratios within a run, not figures across runs.
        W05  No hardware counters: cycles are estimated.
             Allow perf events: sysctl kernel.perf_event_paranoid=1.
        ");
        assert_eq!(to_text(&[], style), "");
    }
}
