//! Gains that other decisions may bring, for which `carryline tune` searches.

use super::{Situation, slower_by};
use crate::units::times;
use carryline_results::Cell;
use carryline_variants::c_library::Thresholds;
use carryline_variants::{Family, Role, find};

/// The least size in bytes that tunable decisions affect.
const TUNED_FROM_BYTES: u64 = 16 << 10;
/// Smaller gains are not reported.
const LEAST_GAIN: f64 = 0.05;

/// A sentence for the library and one for the C library, if there is a gain.
pub(super) fn sentences(situations: &[Situation], ours: Option<&str>) -> Vec<String> {
    let of_library = ours.and_then(|ours| {
        let (by, words) = most(situations.iter().filter_map(|situation| {
            let own = measured(situation, |cell| cell.variant == ours)?;
            let best = measured(situation, is_a_method)?;
            Some((gain(own, best)?, place(situation)))
        }))?;
        Some(format!(
            "Another method is {} as fast as {ours} at {words}; 'carryline tune' searches for such gains.",
            times(1.0 + by)
        ))
    });
    let of_c_library = c_library(situations, place).map(|(by, words)| {
        format!(
            "The C library is {} as fast with other thresholds at {words}; 'carryline tune --libc' searches for them.",
            times(1.0 + by)
        )
    });
    of_library.into_iter().chain(of_c_library).collect()
}

/// The largest gain by raised thresholds of the C library: its extra time as installed, and the situation.
pub(crate) fn c_library(
    situations: &[Situation],
    place: fn(&Situation<'_>) -> String,
) -> Option<(f64, String)> {
    most(situations.iter().filter_map(|situation| {
        let installed = measured(situation, |cell| thresholds(cell) == Some(Thresholds::AsInstalled))?;
        let raised = measured(situation, |cell| thresholds(cell) == Some(Thresholds::Raised))?;
        Some((gain(installed, raised)?, place(situation)))
    }))
}

/// The largest gain.
fn most(gains: impl Iterator<Item = (f64, String)>) -> Option<(f64, String)> {
    gains.max_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// The fastest measured cell that satisfies a condition.
fn measured<'a>(situation: &Situation<'a>, is: impl Fn(&Cell) -> bool) -> Option<&'a Cell> {
    situation.cells.iter().copied().find(|cell| cell.gross.is_some() && is(cell))
}

/// True for the methods of storing among which the library chooses.
fn is_a_method(cell: &Cell) -> bool {
    let methods: &[&str] = match cell.family {
        Family::Zero => &["rep_stosb", "avx2", "avx512", "avx512_nontemporal", "sse2"],
        Family::Copy => &["rep_movsb", "avx2", "avx512", "avx512_nontemporal", "sse2"],
        Family::Checksum | Family::CopyChecksum => &[],
    };
    cell.condition.sizes.min() >= TUNED_FROM_BYTES && methods.contains(&cell.variant.as_str())
}

fn thresholds(cell: &Cell) -> Option<Thresholds> {
    let variant = find(cell.family, &cell.variant).filter(|variant| variant.role == Role::Baseline)?;
    variant.thresholds()
}

/// The extra time of `own`, if the intervals and the ranking agree on it.
fn gain(own: &Cell, other: &Cell) -> Option<f64> {
    let (slow, fast) = (own.gross?, other.gross?);
    let is_clear = slow.low > fast.high && !own.ties_with.contains(&other.variant);
    slower_by(own, other).filter(|by| is_clear && *by > LEAST_GAIN)
}

fn place(situation: &Situation) -> String {
    situation.words()
}
