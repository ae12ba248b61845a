//! The coverage of a verification, at the end of `carryline verify`.

use crate::grouping::distinct;
use crate::table::{ColumnKind, Emphasis, Style, Table};
use crate::text::{safe, wrap};
use crate::units::{counted, number_with};
use carryline_variants::Family;
use serde::Serialize;

/// The number of calls of a family's variants in one class of check, length, offset and placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The family.
    pub family: Family,
    /// The check.
    pub check: String,
    /// The class of lengths.
    pub length: String,
    /// The class of offsets in a page.
    pub offsets: String,
    /// The position of the buffers relative to guard pages.
    pub placement: String,
    /// The number of calls.
    pub calls: u64,
}

/// What was tried, and what no check can detect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// The classes in which calls were made, by family, in the order of their tables.
    pub tried: Vec<Tried>,
    /// Checks that could not be made here.
    pub not_tried: Vec<NotTried>,
    /// Faults that no check can detect, in sentences.
    pub cannot_see: Vec<String>,
}

/// A check that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTried {
    /// The check, and the reason.
    pub what: String,
    /// The number of variants affected.
    pub variants: u64,
}

impl Coverage {
    /// A table for each of check, length, offsets and placement, with a column for each family; then the
    /// lists.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        let mut out = String::new();
        let views: [(&str, View); 4] = [
            ("calls by check", |tried| &tried.check),
            ("calls by length", |tried| &tried.length),
            ("calls by offset in a page", |tried| &tried.offsets),
            ("calls by place", |tried| &tried.placement),
        ];
        let families = distinct(self.tried.iter().map(|tried| tried.family));
        for (title, class) in views {
            let columns = families.iter().map(|family| (family.to_string(), ColumnKind::Number));
            let mut table = Table::new(
                [(title.to_owned(), ColumnKind::Name)].into_iter().chain(columns).collect::<Vec<_>>(),
            );
            for row in distinct(self.tried.iter().map(class)) {
                let calls = |family: &Family| {
                    let of = |tried: &&Tried| tried.family == *family && class(tried) == row;
                    number_with(self.tried.iter().filter(of).map(|tried| tried.calls).sum::<u64>() as f64, 0)
                };
                let cells = std::iter::once(row.clone()).chain(families.iter().map(calls)).collect();
                table.push(cells, Emphasis::None);
            }
            out.push_str(&table.render_in_parts(style));
            out.push('\n');
        }
        let mut list = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                out.push_str(&format!("{title}\n"));
                for line in lines {
                    out.push_str(&wrap(&safe(&format!("- {line}")), style.width, 2));
                    out.push('\n');
                }
            }
        };
        let of = |lacks: &NotTried| format!("{} ({})", lacks.what, counted(lacks.variants, "variant"));
        list("Not tried here:", self.not_tried.iter().map(of).collect());
        list("What no check can detect:", self.cannot_see.clone());
        out
    }
}

/// The class that a table has rows for.
type View = fn(&Tried) -> &String;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_summed_in_each_table() {
        let tried = |family, length: &str, calls| Tried {
            family,
            check: "every length".to_owned(),
            length: length.to_owned(),
            offsets: "others".to_owned(),
            placement: "free".to_owned(),
            calls,
        };
        let coverage = Coverage {
            tried: vec![
                tried(Family::Zero, "0", 3),
                tried(Family::Zero, "to 64", 120),
                tried(Family::Copy, "to 64", 5),
            ],
            not_tried: vec![NotTried { what: "two concurrent threads: one CPU".to_owned(), variants: 2 }],
            cannot_see: vec!["Malice.".to_owned()],
        };
        let text = coverage.to_text(Style { colour: false, width: Some(60) });
        let row = |first: &str| {
            let line = text.lines().find(|line| line.starts_with(first)).expect("a row");
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(row("calls by length"), "calls by length zero copy");
        assert_eq!(row("0"), "0 3 0");
        assert_eq!(row("to 64"), "to 64 120 5");
        assert_eq!(row("every length"), "every length 123 5");
        assert_eq!(row("- two concurrent"), "- two concurrent threads: one CPU (2 variants)");
        assert!(text.ends_with("What no check can detect:\n- Malice.\n"), "{text}");

        // Where all families do not fit beside a long name, they are below one another.
        let tried = Family::ALL.map(|family| Tried {
            check: "beside a page that cannot be accessed, at every offset".to_owned(),
            ..tried(family, "0", 1_234_567)
        });
        let text =
            Coverage { tried: tried.into(), ..coverage }.to_text(Style { colour: false, width: Some(80) });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(Family::ALL.iter().all(|family| text.contains(family.name())), "{text}");
    }
}
