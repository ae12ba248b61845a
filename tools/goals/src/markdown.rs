//! Tables in Markdown, aligned so that the source is readable too.

use std::fmt::Write;

/// A table with columns as wide as their widest cells; `right` marks the columns to align right.
///
/// ```
/// let rows = vec![vec!["a|b".to_owned(), "1.5".to_owned()]];
/// let table = carryline_goals::markdown::table(&["name", "ticks"], &[false, true], &rows);
/// assert_eq!(table, "| name | ticks |\n| ---- | ----: |\n| a\\|b |   1.5 |\n");
/// ```
#[must_use]
pub fn table<H: AsRef<str>>(header: &[H], right: &[bool], rows: &[Vec<String>]) -> String {
    let escaped = |cell: &str| cell.replace('|', "\\|").replace('\n', " ");
    let header: Vec<String> = header.iter().map(|word| escaped(word.as_ref())).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect();
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).chain(header.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let is_right = |at: usize| right.get(at).copied().unwrap_or(false);
    let mut out = String::new();
    let mut line = |cells: &[String]| {
        for (at, &width) in widths.iter().enumerate() {
            let cell = cells.get(at).map_or("", String::as_str);
            let _ = match is_right(at) {
                true => write!(out, "| {cell:>width$} "),
                false => write!(out, "| {cell:<width$} "),
            };
        }
        out.push_str("|\n");
    };
    line(&header);
    let rule = widths.iter().enumerate().map(|(at, &width)| match is_right(at) {
        true => format!("{}:", "-".repeat(width - 1)),
        false => "-".repeat(width),
    });
    line(&rule.collect::<Vec<_>>());
    for row in &rows {
        line(row);
    }
    out
}
