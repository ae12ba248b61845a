//! Renders the result of an audit as tables or as a document.

use crate::examine::{LONGEST_AS_DIGITS, LONGEST_REPEATED};
use crate::report::{Audit, Fault, FileCounts, Implementation, Status, grouped};
use carryline_report::table::{ColumnKind, Emphasis, Style, Table};
use carryline_report::text::{safe, wrap};
use carryline_report::units::{byte_size, number_with};
use std::fmt::Write as _;

/// Renders an audit for a terminal: the table, the tables of vectors, then one line per fault.
#[must_use]
pub fn to_text(audit: &Audit, style: Style) -> String {
    let mut table = Table::new([
        ("implementation", ColumnKind::Name),
        ("version", ColumnKind::Name),
        ("verdict", ColumnKind::Name),
        ("vectors", ColumnKind::Number),
        ("failed", ColumnKind::Number),
        ("skipped", ColumnKind::Number),
        ("questions", ColumnKind::Number),
        ("calls", ColumnKind::Number),
        ("faults", ColumnKind::Text),
    ]);
    for one in &audit.implementations {
        let emphasis = match one.status {
            Status::Right => Emphasis::None,
            Status::Incomplete | Status::Unusable => Emphasis::Faint,
            _ => Emphasis::Bad,
        };
        table.push(cells(one).into_iter().map(in_groups).collect(), emphasis);
    }
    let mut out = table.render_in_parts(style);
    if audit.implementations.iter().any(|one| one.vectors.skipped > 0) {
        let columns = file_columns(audit).into_iter().enumerate();
        let mut files = Table::new(
            columns.map(|(at, head)| (head, if at == 0 { ColumnKind::Name } else { ColumnKind::Number })),
        );
        for one in asked(audit) {
            files.push(file_cells(one), Emphasis::None);
        }
        let _infallible = write!(
            out,
            "\n{}\n{}\n",
            files.render_in_parts(style),
            wrap(&skip_reasons().replace('\n', " "), style.width, 0)
        );
    }
    for one in &audit.implementations {
        let reports = one.faults.iter().map(|fault| safe(&fault.report));
        let reason = one.reason.iter().map(|reason| format!("{}: {}", safe(&one.title()), safe(reason)));
        let form = one
            .form
            .iter()
            .filter(|_| one.kind == "object")
            .map(|form| format!("{}: form {form}", safe(&one.title())));
        let left = one.notes.iter().filter(|note| note.starts_with("not ") || note.starts_with("once, "));
        let left = left.map(|note| format!("{}: {}", safe(&one.title()), safe(note)));
        for line in form.chain(reason).chain(reports).chain(left) {
            let _infallible = write!(out, "\n{}\n", wrap(&line, style.width, 2));
        }
    }
    out
}

/// A number with its digits in groups, as in all tables; other words as they are.
fn in_groups(cell: String) -> String {
    cell.parse::<u64>().map_or(cell, |number| number_with(number as f64, 0))
}

fn cells(one: &Implementation) -> Vec<String> {
    let vectors = &one.vectors;
    let asked = vectors.passed + vectors.failed + vectors.skipped > 0;
    let count = |number: u32| if asked { number.to_string() } else { String::new() };
    let some = |number: u64| if number > 0 { number.to_string() } else { String::new() };
    let faults: Vec<String> = one.faults.iter().map(|fault| fault.class.replace('_', " ")).collect();
    vec![
        safe(&one.name),
        one.version.as_deref().map(safe).unwrap_or_default(),
        one.status.words().to_owned(),
        count(vectors.passed),
        count(vectors.failed),
        count(vectors.skipped),
        some(one.questions),
        some(one.calls),
        faults.join(", "),
    ]
}

/// The implementations that received the vectors.
fn asked(audit: &Audit) -> impl Iterator<Item = &Implementation> {
    audit.implementations.iter().filter(|one| !one.vectors.by_file.is_empty())
}

/// The columns of the table of vectors by file, with the reasons for skipping.
fn file_columns(audit: &Audit) -> Vec<String> {
    let files = asked(audit).max_by_key(|one| one.vectors.by_file.len());
    let files = files.into_iter().flat_map(|one| &one.vectors.by_file);
    let files = files.map(|counts| counts.file.replace('_', "-"));
    let reasons = ["no function", "too long"].map(str::to_owned);
    std::iter::once("passed of".to_owned()).chain(files).chain(reasons).collect()
}

fn file_cells(one: &Implementation) -> Vec<String> {
    let by_file = &one.vectors.by_file;
    let cell = |counts: &FileCounts| match counts.passed + counts.failed {
        0 => "-".to_owned(),
        answered => format!("{} of {answered}", counts.passed),
    };
    let no_function: u32 = by_file.iter().map(|counts| counts.no_function).sum();
    let too_long: u32 = by_file.iter().map(|counts| counts.too_long).sum();
    std::iter::once(safe(&one.name))
        .chain(by_file.iter().map(cell))
        .chain([no_function, too_long].map(|count| count.to_string()))
        .collect()
}

/// The reasons for skipping vectors.
fn skip_reasons() -> String {
    format!(
        "No function: vectors for functions that the implementation does not have. Too long: data of more than {} is not\n\
         sent, nor data of more than {} bytes to programs that do not repeat patterns themselves.",
        byte_size(LONGEST_REPEATED as u64),
        grouped(LONGEST_AS_DIGITS)
    )
}

/// Renders the document that `--report` writes.
#[must_use]
pub fn to_markdown(audit: &Audit) -> String {
    let mut out = String::from(HEAD);
    out +=
        "| implementation | version | verdict | vectors | failed | skipped | questions | calls | faults |\n";
    out += "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
    for one in &audit.implementations {
        let cells: Vec<String> = cells(one).iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _infallible = writeln!(out, "| {} |", cells.join(" | "));
    }
    if asked(audit).next().is_some() {
        let columns = file_columns(audit);
        let _infallible = write!(
            out,
            "\n## Vectors\n\n{}\n\n| {} |\n| --- |{}\n",
            skip_reasons(),
            columns.join(" | "),
            " ---: |".repeat(columns.len() - 1)
        );
        for one in asked(audit) {
            let cells: Vec<String> = file_cells(one).iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _infallible = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    out += "\n## The faults\n";
    for one in audit.implementations.iter().filter(|one| !one.faults.is_empty() || one.reason.is_some()) {
        let _infallible = write!(out, "\n### {}\n\n", safe(&one.title()));
        if let Some(reason) = &one.reason {
            let _infallible = write!(out, "{}\n\n", safe(reason));
        }
        for fault in &one.faults {
            let _infallible = writeln!(out, "{}", item(fault));
        }
    }
    out
}

const HEAD: &str = "\
# Audit

Written by `carryline audit --report`, with the same data as JSON beside it. Columns: how many of the
conformance vectors (`vectors/README.md` of the project) were answered correctly, wrongly, or not at all (the second table has the reasons);
the total number of questions; and the calls with buffers at every offset and between guard pages. \"Right to 65,535 bytes\"
means wrong only for longer input, which no IP packet has except a jumbogram.

`carryline audit NAME` repeats the row of a crate, `carryline audit libc` that of the C library; the others are run by the programs
in `vectors/adapters`. Any of them can be asked the question under a fault:
`ff*70000` is 70,000 bytes of ff.

";

fn item(fault: &Fault) -> String {
    let mut text =
        format!("- **{}**: `{}`", fault.class.replace('_', " "), safe(&fault.report).replace('`', "'"));
    if let Some(request) = &fault.request {
        let _infallible = write!(text, "\n  Asked: `{}`", safe(request));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{VectorOutcome, Vectors};

    fn audit() -> Audit {
        let right = Implementation { questions: 10, ..Implementation::new("fine", "crate") };
        let wrong = Implementation {
            version: Some("0.2.1".to_owned()),
            status: Status::Wrong,
            vectors: {
                let mut vectors = Vectors::default();
                for outcome in [
                    VectorOutcome::Passed,
                    VectorOutcome::Passed,
                    VectorOutcome::Failed,
                    VectorOutcome::TooLong,
                ] {
                    vectors.count("sums", outcome);
                }
                vectors.count("pseudo_headers", VectorOutcome::NoFunction);
                vectors
            },
            faults: vec![Fault {
                class: "lost_carry".to_owned(),
                input_hex: Some("ffff0100".to_owned()),
                input: "4 bytes ffff0100".to_owned(),
                seed: None,
                expected: "feff".to_owned(),
                got: "ffff".to_owned(),
                request: Some("sum ffff0100".to_owned()),
                report: "bad 0.2.1: the checksum of 4 bytes ffff0100 should be feff (RFC 1071), got ffff [lost carry]"
                    .to_owned(),
            }],
            ..Implementation::new("bad", "crate")
        };
        let gone = Implementation::new("a | b", "command").unusable("no such command");
        Audit { seed: 1, implementations: vec![right, wrong, gone] }
    }

    #[test]
    fn the_table_has_every_row_and_fault() {
        for width in [None, Some(40), Some(100)] {
            let text = to_text(&audit(), Style { colour: false, width });
            for expected in [
                "fine",
                "0.2.1",
                "lost carry",
                "should be feff",
                "no such command",
                "2 of 3",
                "pseudo-headers",
            ] {
                assert!(text.contains(expected), "{expected}: {text}");
            }
        }
    }

    #[test]
    fn the_document_follows_from_the_data() {
        let audit = audit();
        let json = serde_json::to_string(&audit).expect("plain data");
        let read: Audit = serde_json::from_str(&json).expect("valid JSON");
        assert_eq!(read, audit);
        let text = to_markdown(&read);
        assert!(
            text.contains("| bad | 2 of 3 | - | 1 | 1 |")
                && text.contains("| a \\| b |")
                && text.contains("### bad 0.2.1")
                && text.contains("`sum ffff0100`"),
            "{text}"
        );
        assert!(json.contains("\"faults\":[{\"class\":\"lost_carry\",\"input_hex\":\"ffff0100\""), "{json}");
    }

    #[test]
    fn the_stored_document_matches_its_data() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let kept: Audit = serde_json::from_str(&read("audit.json")).expect("an audit in the current format");
        assert!(kept.implementations.len() > 5);
        let again = "carryline audit --report docs/audit.md, with the names and commands of its rows";
        assert!(to_markdown(&kept) == read("audit.md"), "docs/audit.md is out of date: {again}");
    }
}
