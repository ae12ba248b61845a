//! A cell's figures in the requested unit.
//!
//! Times are net of the null call, with the gross time next to them; rates are gross, because bytes over a
//! net time near zero are no rate. Cycles come from a hardware counter only if every cell of a table has one,
//! so that a table has a single basis.

use crate::roles::Roles;
use crate::units::{Factors, Unit, decimals_for, number_with};
use carryline_results::{Cell, CycleBasis, RunResult};
use carryline_statistics::{Estimate, Ratio};

/// A figure with its 95 % interval, in some unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplayedFigure {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval; of a rate, from the upper end of the time.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Printed for a net time below zero: the call took no longer than the null call.
pub const WITHIN_NULL: &str = "<null";

/// The line below a table that has [`WITHIN_NULL`].
pub(crate) const WITHIN_NULL_LEGEND: &str = "<null: within the null call, which does nothing";

impl DisplayedFigure {
    /// True for a net time below zero, which means that the work is hidden by the null call.
    #[must_use]
    pub fn is_within_null(&self) -> bool {
        self.value < 0.0
    }

    /// The estimate as text.
    #[must_use]
    pub fn text(&self) -> String {
        time(self.value)
    }

    /// The interval with the decimals of its estimate: `[52.1, 52.6]`.
    #[must_use]
    pub fn interval(&self) -> String {
        let decimals = decimals_for(self.value);
        if self.high < 0.0 {
            return format!("[{WITHIN_NULL}]");
        }
        format!("[{}, {}]", end(self.low, decimals), end(self.high, decimals))
    }
}

/// A net time with three digits, or [`WITHIN_NULL`].
pub(crate) fn time(value: f64) -> String {
    end(value, decimals_for(value))
}

/// An end of an interval; never below zero.
fn end(value: f64, decimals: usize) -> String {
    if value < 0.0 { WITHIN_NULL.to_owned() } else { number_with(value, decimals) }
}

/// The unit and basis of the figures in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The requested unit.
    pub unit: Unit,
    factors: Factors,
    counted: bool,
}

impl Scale {
    /// The scale for a table of these cells.
    #[must_use]
    pub fn of<'a>(run: &RunResult, unit: Unit, cells: impl IntoIterator<Item = &'a Cell>) -> Scale {
        let mut timed = cells.into_iter().filter(|cell| cell.gross.is_some()).peekable();
        let counted = timed.peek().is_some()
            && timed.all(|cell| cell.basis == Some(CycleBasis::Pmu) && own_factor(cell).is_some());
        Scale { unit, factors: Factors::of_run(run), counted }
    }

    fn factors(&self, cell: &Cell) -> Factors {
        match own_factor(cell) {
            Some(factor) => Factors { ticks_per_cycle: Some(factor), ..self.factors },
            None => self.factors,
        }
    }

    fn estimate(&self, cell: &Cell, ticks: Option<Estimate>) -> Option<DisplayedFigure> {
        let Estimate { median, low, high, .. } = ticks?;
        let factors = self.factors(cell);
        let convert = |ticks| self.unit.convert(ticks, cell.bytes_per_call, factors);
        let (value, low, high) = (convert(median)?, convert(low)?, convert(high)?);
        Some(if self.unit.is_rate() {
            DisplayedFigure { value, low: high, high: low }
        } else {
            DisplayedFigure { value, low, high }
        })
    }

    /// The main figure of a table: net for times, gross for rates.
    #[must_use]
    pub fn headline(&self, cell: &Cell) -> Option<DisplayedFigure> {
        self.estimate(cell, if self.unit.is_rate() { cell.gross } else { cell.ticks_per_call })
    }

    /// The secondary figure: gross for times, net for rates. No net rate is given if the null call takes at
    /// least nine tenths of the time.
    #[must_use]
    pub fn secondary(&self, cell: &Cell) -> Option<DisplayedFigure> {
        if !self.unit.is_rate() {
            return self.estimate(cell, cell.gross);
        }
        let (net, gross) = (cell.ticks_per_call?, cell.gross?);
        self.estimate(cell, Some(net).filter(|net| net.median * 10.0 > gross.median))
    }

    /// The unit's name, for cycles with their basis.
    #[must_use]
    pub const fn unit_name(&self) -> &'static str {
        match (self.unit, self.counted) {
            (Unit::Cycles, true) => "cycles pmu",
            (Unit::Cycles, false) => "cycles est.",
            (Unit::BytesPerCycle, true) => "B/cycle pmu",
            (Unit::BytesPerCycle, false) => "B/cycle est.",
            (unit, _) => unit.word(),
        }
    }

    /// The basis of the main figure: `net` or `gross`.
    #[must_use]
    pub const fn headline_basis(&self) -> &'static str {
        if self.unit.is_rate() { "gross" } else { "net" }
    }

    /// The basis of the secondary figure.
    #[must_use]
    pub const fn secondary_basis(&self) -> &'static str {
        if self.unit.is_rate() { "net" } else { "gross" }
    }

    /// Why there are no figures in this unit, if a factor is missing.
    #[must_use]
    pub fn missing_factor(&self) -> Option<&'static str> {
        let known = |factor: Option<f64>| factor.is_some_and(|factor| factor > 0.0);
        match self.unit {
            Unit::Cycles | Unit::BytesPerCycle if !self.counted && !known(self.factors.ticks_per_cycle) => {
                Some("no figures in cycles: this run has no ticks per core cycle; try --unit ticks")
            }
            Unit::Ns | Unit::GbPerS | Unit::GibPerS if !known(self.factors.ticks_per_ns) => {
                Some("no figures in seconds: this run has no ticks per nanosecond; try --unit ticks")
            }
            _ => None,
        }
    }
}

/// Ticks per cycle while the cell was measured, counted or estimated: gross ticks over gross cycles.
fn own_factor(cell: &Cell) -> Option<f64> {
    let gross_cycles = cell.bytes_per_call / cell.bytes_per_cycle.filter(|rate| *rate > 0.0)?;
    Some(cell.gross?.median / gross_cycles).filter(|factor| factor.is_finite() && *factor > 0.0)
}

/// The baseline of the cells of a situation: the one stored in the cells, or the family's baseline for cells
/// stored before that field existed; `None` without a ratio.
#[must_use]
pub fn baseline<'a>(cells: impl IntoIterator<Item = &'a Cell>, roles: &'a Roles) -> Option<&'a str> {
    let compared = cells.into_iter().find(|cell| cell.ratio_to_baseline.is_some())?;
    compared.baseline.as_deref().or_else(|| roles.baseline(compared.family))
}

/// The speed relative to the baseline; `None` without one.
#[must_use]
pub fn speed(cell: &Cell) -> Option<f64> {
    let ratio = cell.ratio_to_baseline?.median;
    (ratio > 0.0).then(|| 1.0 / ratio).filter(|speed| speed.is_finite())
}

/// Whether a cell leads its situation; false in results that do not say.
pub(crate) fn leads(cell: &Cell) -> bool {
    cell.ratio_to_leader == Some(Ratio { median: 1.0, low: 1.0, high: 1.0 }) && cell.rank == Some(1)
}

/// Sorts the cells of a condition: by rank, the leader first, then by the upper end of the paired ratios if all have
/// one, otherwise of the gross time. The leader of a rank is thus the cell with the lowest upper bound. Cells
/// without a rank or a time come last.
pub fn fastest_first(cells: &mut [&Cell]) {
    let paired = cells.iter().all(|cell| cell.gross.is_none() || cell.ratio_to_baseline.is_some());
    let time = |cell: &Cell| {
        let ratio = cell.ratio_to_baseline.filter(|_| paired).map(|ratio| ratio.high);
        ratio
            .or_else(|| cell.gross.map(|gross| gross.high))
            .filter(|time| !time.is_nan())
            .unwrap_or(f64::INFINITY)
    };
    let rank = |cell: &Cell| cell.rank.unwrap_or(u32::MAX);
    cells.sort_by(|a, b| {
        let order = rank(a).cmp(&rank(b)).then(leads(b).cmp(&leads(a))).then(time(a).total_cmp(&time(b)));
        order.then_with(|| a.variant.cmp(&b.variant))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_below_zero_is_printed_as_within_the_null_call() {
        let written = |value, low, high| {
            let figure = DisplayedFigure { value, low, high };
            (figure.text(), figure.interval(), figure.is_within_null())
        };
        assert_eq!(written(1.0, 0.5, 1.5), ("1.00".to_owned(), "[0.50, 1.50]".to_owned(), false));
        assert_eq!(written(0.2, -0.1, 0.4), ("0.20".to_owned(), "[<null, 0.40]".to_owned(), false));
        assert_eq!(written(-0.001, -0.2, 0.3), ("<null".to_owned(), "[<null, 0.30]".to_owned(), true));
        assert_eq!(written(-0.4, -0.5, -0.3), ("<null".to_owned(), "[<null]".to_owned(), true));
    }
}
