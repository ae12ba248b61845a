//! Comma-separated values (RFC 4180) with a header: a row for each cell, or for each sample.

use super::flat::rows;
use super::samples::samples;
use super::{ExportError, Exported};
use serde::Serialize;

pub(super) fn render(exported: &Exported<'_>) -> Result<String, ExportError> {
    match exported.raw {
        true => table(samples(exported)),
        false => table(rows(exported)),
    }
}

fn table<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Result<String, ExportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
