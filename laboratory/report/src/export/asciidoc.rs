//! An AsciiDoc table.

use super::cells::{columns, figures};
use super::{ExportError, Exported};

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    let escape = |text: &str| text.replace('|', "\\|");
    let widths: Vec<&str> = columns().iter().map(|(_, number)| if *number { ">1" } else { "<2" }).collect();
    let mut out = format!("[cols=\"{}\", options=\"header\"]\n|===\n", widths.join(","));
    let line =
        |cells: &[String]| cells.iter().map(|cell| format!("| {cell}")).collect::<Vec<_>>().join(" ") + "\n";
    out.push_str(&line(&columns().map(|(name, _)| name.to_owned())));
    for cell in &exported.run.cells {
        out.push_str(&line(&figures(cell).map(|text| escape(&text))));
    }
    out.push_str("|===\n");
    Ok(out)
}
