//! The list of `carryline history` as text.

use super::RunList;
use crate::table::{ColumnKind, Emphasis, Style, Table};
use crate::text::safe;
use crate::units::number_with;
use carryline_results::content_hash::SHOWN_DIGITS;

impl RunList {
    /// The table.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        if self.runs.is_empty() {
            return "no run is stored\n".to_owned();
        }
        let mut table = Table::new([
            ("run", ColumnKind::Number),
            ("hash", ColumnKind::Name),
            ("started", ColumnKind::Name),
            ("status", ColumnKind::Name),
            ("situations", ColumnKind::Number),
            ("cells", ColumnKind::Number),
            ("rounds", ColumnKind::Number),
        ]);
        for run in &self.runs {
            let emphasis = if run.status == "complete" { Emphasis::None } else { Emphasis::Faint };
            let cells = vec![
                run.id.to_string(),
                run.content_hash
                    .as_deref()
                    .and_then(|hash| hash.get(..SHOWN_DIGITS))
                    .unwrap_or("-")
                    .to_owned(),
                run.started.clone(),
                run.status.clone(),
                run.situations.to_string(),
                number_with(run.cells as f64, 0),
                number_with(run.rounds as f64, 0),
            ];
            table.push(cells, emphasis);
        }
        // No column wraps, so that a row is a line; what belongs to it follows.
        let text = table.render(style);
        let (head, rows) = text.split_at(text.len() - lines_of(&text, self.runs.len()));
        let mut out = head.to_owned();
        for (row, run) in rows.lines().zip(&self.runs) {
            out.push_str(&format!("{row}\n"));
            if let Some(label) = &run.label {
                out.push_str(&format!("     label: {}\n", safe(label)));
            }
            out.push_str(&continued(&safe(&run.command), style.width));
        }
        out
    }
}

/// The length in bytes of the last lines of a text.
fn lines_of(text: &str, count: usize) -> usize {
    text.split_inclusive('\n').rev().take(count).map(str::len).sum()
}

/// A command of a shell, indented, in lines that end in a backslash, so that it can be pasted. Words in quotes are not
/// broken.
pub(super) fn continued(command: &str, width: Option<u16>) -> String {
    let width = width.map_or(usize::MAX, usize::from);
    let mut out = String::from("     ");
    let mut column = 5;
    for (index, word) in whole_words(command).iter().enumerate() {
        let length = word.chars().count();
        // Two columns are for the backslash.
        if index > 0 && column + 1 + length + 2 > width {
            out.push_str(" \\\n       ");
            column = 7;
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

/// The words of a command, with those in quotes whole.
fn whole_words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for part in command.split(' ') {
        match words.last_mut().filter(|_| is_open) {
            Some(word) => word.push_str(&format!(" {part}")),
            None => words.push(part.to_owned()),
        }
        is_open ^= part.matches('\'').count() % 2 == 1;
    }
    words
}
