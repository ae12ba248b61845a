//! The machine's bandwidth limits, to which shares of the limit refer.

use crate::table::{ColumnKind, Emphasis, Style, Table};
use crate::text::{safe, wrap};
use crate::units::{Factors, Unit, align_points, byte_size_rough, number_or_dash};
use carryline_results::RunResult;

/// The limits in a unit of rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The unit of the rates.
    pub unit: String,
    /// Level, buffer, and the rates of reads, cached stores and non-temporal stores.
    pub rows: Vec<[String; 5]>,
    /// The variants that define a limit, because they moved more than the plain loops.
    pub notes: Vec<String>,
}

/// The headers of [`Limits::rows`].
pub const HEADERS: [&str; 5] = ["level", "buffer", "read", "store", "nt store"];

/// The limits of a run in the requested unit if it is a rate, else in GB/s, or in bytes per tick if the clock
/// is unknown.
#[must_use]
pub fn limits(run: &RunResult, unit: Unit) -> Limits {
    let factors = Factors::of_run(run);
    let usable = |unit: &Unit| unit.is_rate() && unit.convert(1.0, 1.0, factors).is_some();
    let unit = [unit, Unit::GbPerS].into_iter().find(usable);
    let rate = |bytes_per_tick: f64| match unit {
        Some(unit) => unit.convert(1.0, bytes_per_tick, factors),
        None => Some(bytes_per_tick),
    };
    let column = |of: fn(&carryline_results::Limit) -> f64| {
        align_points(run.limits.iter().map(|limit| number_or_dash(rate(of(limit)))).collect())
    };
    let rates = column(|l| l.load).into_iter().zip(column(|l| l.store)).zip(column(|l| l.nt_store));
    let rows = run.limits.iter().zip(rates).map(|(limit, ((load, store), nt_store))| {
        [limit.level.to_string(), byte_size_rough(limit.buffer_bytes), load, store, nt_store]
    });
    let notes = run.limits.iter().flat_map(|limit| {
        [("read", &limit.load_by), ("store", &limit.store_by)].into_iter().filter_map(|(access, by)| {
            let (level, by) = (limit.level.to_string(), safe(by.as_deref()?));
            Some(format!("{level} {access}: measured by {by}, which exceeded the plain loops"))
        })
    });
    Limits {
        unit: unit.map_or("bytes/tick", Unit::word).to_owned(),
        rows: rows.collect(),
        notes: notes.collect(),
    }
}

impl Limits {
    /// The table; empty if no limit was measured.
    #[must_use]
    pub fn to_text(&self, style: Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let kinds = [
            ColumnKind::Name,
            ColumnKind::Number,
            ColumnKind::Number,
            ColumnKind::Number,
            ColumnKind::Number,
        ];
        let mut table = Table::new(HEADERS.into_iter().zip(kinds));
        for row in &self.rows {
            table.push(row.to_vec(), Emphasis::None);
        }
        let mut out = format!("One core's limits, {}\n{}", self.unit, table.render(style));
        for note in &self.notes {
            out.push_str(&wrap(note, style.width, 2));
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn rates_are_in_a_known_unit() {
        let mut run = fixture::run();
        insta::assert_snapshot!(limits(&run, Unit::Ticks).to_text(Style::default()), @"
        One core's limits, GB/s
        level   buffer   read  store  nt store
        ──────────────────────────────────────
        L1      16 KiB  520    273       104
        memory   1 GiB   46.8   31.2      93.6
        ");
        assert_eq!(limits(&run, Unit::BytesPerCycle).rows[0][2], "120  ");
        run.limits[1].store_by = Some("zero/clzero".to_owned());
        let text = limits(&run, Unit::Ticks).to_text(Style::default());
        assert!(
            text.ends_with("memory store: measured by zero/clzero, which exceeded the plain loops\n"),
            "{text}"
        );
        run.ticks_per_ns = None;
        assert_eq!(limits(&run, Unit::GibPerS).unit, "bytes/tick");
        run.limits.clear();
        assert_eq!(limits(&run, Unit::Ticks).to_text(Style::default()), "");
    }
}
