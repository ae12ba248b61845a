//! A Markdown table in GitHub's dialect.

use super::cells::{columns, figures};
use super::{ExportError, Exported};

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    let escape = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|");
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let names: Vec<String> = columns().map(|(name, _)| name.to_owned()).to_vec();
    let rules: Vec<String> =
        columns().map(|(_, number)| if number { "---:" } else { "---" }.to_owned()).to_vec();
    let mut out = line(&names) + &line(&rules);
    for cell in &exported.run.cells {
        out.push_str(&line(&figures(cell).map(|text| escape(&text))));
    }
    Ok(out)
}
