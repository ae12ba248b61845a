//! JSON Lines: an object for each cell, or for each sample.

use super::flat::rows;
use super::samples::samples;
use super::{ExportError, Exported};
use serde::Serialize;

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    match exported.raw {
        true => lines(samples(exported)),
        false => lines(rows(exported)),
    }
}

fn lines<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<String, ExportError> {
    let mut out = String::new();
    for row in rows {
        out.push_str(&serde_json::to_string(&row)?);
        out.push('\n');
    }
    Ok(out)
}
