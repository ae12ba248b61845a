//! Plain tables: a header, a thin rule, right-aligned numbers, no boxes.
//!
//! A thin layer over comfy-table, which arranges the columns. Numbers and names are never broken; only text
//! columns wrap to a given width. Colour is added to whole lines afterwards, and only on request, so that
//! widths are right and piped output is plain.
//! for, so that every width is right and piped output is plain.

use crate::text::{safe, wrap};
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width, presets,
};

/// The style for a terminal or a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether to use bold and colour by ANSI escape sequences.
    pub colour: bool,
    /// The width in columns; without one, lines are never broken.
    pub width: Option<u16>,
}

/// The kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Right-aligned, never broken.
    Number,
    /// Left-aligned, never broken.
    Name,
    /// Left-aligned, wraps.
    Text,
}

/// The emphasis of a row in colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// None.
    None,
    /// A winner.
    Strong,
    /// Of little interest.
    Faint,
    /// A failure.
    Bad,
}

impl Emphasis {
    const fn start(self) -> &'static str {
        match self {
            Emphasis::None => "",
            Emphasis::Strong => "\u{1b}[1;32m",
            Emphasis::Faint => "\u{1b}[2m",
            Emphasis::Bad => "\u{1b}[31m",
        }
    }
}

/// The width below which a text column is not wrapped further.
const LEAST_TEXT: usize = 16;
/// The columns between two columns of a table.
const GAP: usize = 2;

const BOLD: &str = "\u{1b}[1m";
const RESET: &str = "\u{1b}[0m";

/// The text in bold if the style has colour.
#[must_use]
pub fn bold(text: &str, style: Style) -> String {
    paint(text, BOLD, style)
}

/// The text with the emphasis if the style has colour.
#[must_use]
pub fn emphasise(text: &str, emphasis: Emphasis, style: Style) -> String {
    paint(text, emphasis.start(), style)
}

fn paint(text: &str, start: &str, style: Style) -> String {
    if style.colour && !start.is_empty() { format!("{start}{text}{RESET}") } else { text.to_owned() }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, ColumnKind)>,
    rows: Vec<(Vec<String>, Emphasis)>,
}

impl Table {
    /// A table without rows. A header may have several lines. The first column is never broken, whatever its
    /// kind.
    #[must_use]
    pub fn new<H: Into<String>>(columns: impl IntoIterator<Item = (H, ColumnKind)>) -> Table {
        Table {
            columns: columns.into_iter().map(|(header, kind)| (header.into(), kind)).collect(),
            rows: vec![],
        }
    }

    /// Adds a row; missing cells are empty, excess cells are dropped.
    pub fn push(&mut self, mut cells: Vec<String>, emphasis: Emphasis) {
        cells.resize(self.columns.len(), String::new());
        self.rows.push((cells, emphasis));
    }

    /// True if there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as lines, each with a line break; empty if there are no rows.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut out = String::new();
        let mut in_header = true;
        let mut row = None;
        for line in self.arrange(style.width).lines().map(str::trim_end) {
            let is_rule = in_header && line.starts_with('─');
            let start = if is_rule {
                in_header = false;
                ""
            } else if in_header {
                BOLD
            } else {
                if self.begins_row(line) {
                    row = Some(row.map_or(0, |index| index + 1));
                }
                row.and_then(|index: usize| self.rows.get(index)).map_or("", |(_, emphasis)| emphasis.start())
            };
            out.push_str(&paint(line, start, style));
            out.push('\n');
        }
        out
    }

    /// As [`Table::render`]; but a table that is too wide even with its text wrapped becomes several, one below the
    /// other, each with the first column.
    #[must_use]
    pub fn render_in_parts(&self, style: Style) -> String {
        let Some(width) = style.width.map(usize::from) else { return self.render(style) };
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.least_width(column)).collect();
        let Some((first, rest)) = widths.split_first() else { return String::new() };
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut taken = 0;
        for (index, least) in rest.iter().enumerate() {
            match parts.last_mut() {
                Some(part) if taken + GAP + least <= width => part.push(index + 1),
                _ => {
                    parts.push(vec![0, index + 1]);
                    taken = *first;
                }
            }
            taken += GAP + least;
        }
        let parts: Vec<String> = parts.iter().map(|part| self.part(part).render(style)).collect();
        parts.join("\n")
    }

    /// True if the table is no wider than the style allows once its text is wrapped.
    #[must_use]
    pub fn fits(&self, style: Style) -> bool {
        let gaps = GAP * self.columns.len().saturating_sub(1);
        let least = (0..self.columns.len()).map(|column| self.least_width(column)).sum::<usize>() + gaps;
        style.width.is_none_or(|width| least <= usize::from(width))
    }

    /// The rows below one another, for tables that do not fit: the first `of_title` columns in a line, then each further
    /// column that is not empty, with its header.
    #[must_use]
    pub fn render_as_list(&self, of_title: usize, style: Style) -> String {
        let mut out = String::new();
        for (cells, emphasis) in &self.rows {
            let title: Vec<String> =
                cells.iter().take(of_title).map(|cell| safe(cell)).filter(|cell| !cell.is_empty()).collect();
            out.push_str(&emphasise(&wrap(&title.join(" "), style.width, 4), *emphasis, style));
            out.push('\n');
            for ((header, _), cell) in self.columns.iter().zip(cells).skip(of_title) {
                if !matches!(cell.as_str(), "" | "-") {
                    let line = format!("{}: {}", header.replace('\n', " "), safe(cell));
                    let width = style.width.map(|width| width.saturating_sub(2));
                    out.push_str(&format!("  {}\n", wrap(&line, width, 4)));
                }
            }
        }
        out
    }

    /// The width that a column needs at least.
    fn least_width(&self, column: usize) -> usize {
        let (header, kind) = &self.columns[column];
        let cells = self.rows.iter().map(|(cells, _)| cells[column].chars().count());
        let most = cells.chain(header.lines().map(|line| line.chars().count())).max().unwrap_or(0);
        if *kind == ColumnKind::Text && column > 0 { most.min(LEAST_TEXT) } else { most }
    }

    /// The table with some of its columns.
    fn part(&self, columns: &[usize]) -> Table {
        let pick = |cells: &Vec<String>| columns.iter().map(|column| cells[*column].clone()).collect();
        Table {
            columns: columns.iter().map(|column| self.columns[*column].clone()).collect(),
            rows: self.rows.iter().map(|(cells, emphasis)| (pick(cells), *emphasis)).collect(),
        }
    }

    /// True if a line of the body begins a row, that is, if its first column is not blank. That column never
    /// wraps, and an empty first cell is printed as a dash.
    fn begins_row(&self, line: &str) -> bool {
        let first = self.rows.iter().map(|(cells, _)| first_cell(cells).chars().count());
        let header = self.columns.first().map_or("", |(header, _)| header.as_str());
        let width = first.chain(header.lines().map(|line| line.chars().count())).max().unwrap_or(0);
        line.chars().take(width).any(|c| c != ' ')
    }

    fn arrange(&self, width: Option<u16>) -> String {
        let rule = LineStyle::none().fill('─').junction('─');
        let style: TableStyle = presets::NOTHING.header_separator(rule);
        let mut table = comfy_table::Table::new();
        table.load_style(style);
        let safe_lines = |text: &str| text.lines().map(safe).collect::<Vec<_>>().join("\n");
        table.set_header(self.columns.iter().map(|(header, _)| Cell::new(safe_lines(header))));
        for (cells, _) in &self.rows {
            let rest = cells.iter().skip(1).map(|cell| Cell::new(safe(cell)));
            table.add_row(std::iter::once(Cell::new(first_cell(cells))).chain(rest));
        }
        match width {
            Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
            None => table.set_content_arrangement(ContentArrangement::Disabled),
        };
        let last = self.columns.len().saturating_sub(1);
        for (index, (_, kind)) in self.columns.iter().enumerate() {
            let Some(column) = table.column_mut(index) else { continue };
            column.set_padding(if index == last { (0, 0) } else { (0, 1) });
            if *kind == ColumnKind::Number {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if *kind == ColumnKind::Text && index > 0 {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(LEAST_TEXT as u16)));
            } else {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table.to_string()
    }
}

fn first_cell(cells: &[String]) -> String {
    match cells.first().map(|cell| safe(cell)) {
        Some(cell) if !cell.trim().is_empty() => cell,
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new([
            ("variant", ColumnKind::Name),
            ("net\nticks", ColumnKind::Number),
            ("note", ColumnKind::Text),
        ]);
        let note = "a note that is long enough to need several lines in a narrow place";
        table.push(vec!["avx2".into(), "4.06".into(), note.into()], Emphasis::Strong);
        table.push(vec!["evil\u{1b}[2J".into(), "335   ".into(), "short".into()], Emphasis::Bad);
        table
    }

    #[test]
    fn only_text_wraps_and_control_characters_are_escaped() {
        insta::assert_snapshot!(sample().render(Style { colour: false, width: Some(50) }), @r"
        variant           net  note
                        ticks
        ──────────────────────────────────────────────────
        avx2             4.06  a note that is long enough
                               to need several lines in a
                               narrow place
        evil\u{1b}[2J  335     short
        ");
        insta::assert_snapshot!(sample().render(Style::default()), @r"
        variant           net  note
                        ticks
        ─────────────────────────────────────────────────────────────────────────────────────────
        avx2             4.06  a note that is long enough to need several lines in a narrow place
        evil\u{1b}[2J  335     short
        ");
    }

    #[test]
    fn colour_covers_whole_rows_and_is_optional() {
        let plain = sample().render(Style { colour: false, width: Some(50) });
        let coloured = sample().render(Style { colour: true, width: Some(50) });
        assert!(!plain.contains('\u{1b}'));
        insta::assert_snapshot!(coloured.replace('\u{1b}', "^"), @r"
        ^[1mvariant           net  note^[0m
        ^[1m                ticks^[0m
        ──────────────────────────────────────────────────
        ^[1;32mavx2             4.06  a note that is long enough^[0m
        ^[1;32m                       to need several lines in a^[0m
        ^[1;32m                       narrow place^[0m
        ^[31mevil\u{1b}[2J  335     short^[0m
        ");
        let bare = [RESET, BOLD, "\u{1b}[1;32m", "\u{1b}[31m"]
            .iter()
            .fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(bare, plain);
    }

    #[test]
    fn a_table_that_is_too_wide_is_divided() {
        let columns = ["name", "first number", "second number", "third number"];
        let mut table = Table::new(
            columns.map(|name| (name, if name == "name" { ColumnKind::Name } else { ColumnKind::Number })),
        );
        table.push(["a variant", "1", "2", "3"].map(str::to_owned).to_vec(), Emphasis::None);
        insta::assert_snapshot!(table.render_in_parts(Style { colour: false, width: Some(40) }), @r"
        name       first number  second number
        ──────────────────────────────────────
        a variant             1              2

        name       third number
        ───────────────────────
        a variant             3
        ");
        assert_eq!(table.render_in_parts(Style::default()), table.render(Style::default()));
    }

    #[test]
    fn an_empty_table_renders_as_nothing() {
        assert_eq!(Table::new([("a", ColumnKind::Name)]).render(Style::default()), "");
    }
}
