//! Where other decisions would be faster here: what `carryline tune` looks for.

use super::{Situation, slower_by};
use crate::units::times;
use carryline_results::Cell;
use carryline_variants::c_library::Thresholds;
use carryline_variants::{Family, Role, find};

/// Only calls of at least this many bytes go by decisions that can be tuned.
const TUNED_FROM_BYTES: u64 = 16 << 10;
/// A gain of less than this part is not worth a word.
const WORTH_A_WORD: f64 = 0.05;

/// A sentence for the library, and one for the C library, where they would gain.
pub(super) fn sentences(situations: &[Situation], ours: Option<&str>) -> Vec<String> {
    let of_library = ours.and_then(|ours| {
        let (by, words) = most(situations.iter().filter_map(|situation| {
            let own = measured(situation, |cell| cell.variant == ours)?;
            let best = measured(situation, is_a_method)?;
            Some((gain(own, best)?, place(situation)))
        }))?;
        Some(format!(
            "Another method is {} as fast as {ours} at {words}: 'carryline tune' looks for decisions that gain this.",
            times(1.0 + by)
        ))
    });
    let of_c_library = c_library(situations, place).map(|(by, words)| {
        format!(
            "The C library is {} as fast with other thresholds at {words}: 'carryline tune --libc' looks for the setting.",
            times(1.0 + by)
        )
    });
    of_library.into_iter().chain(of_c_library).collect()
}

/// By what part the C library takes longer as installed than with raised thresholds, where that is most.
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

/// The largest gain with its place.
fn most(gains: impl Iterator<Item = (f64, String)>) -> Option<(f64, String)> {
    gains.max_by(|(a, _), (b, _)| a.total_cmp(b))
}

/// The fastest cell that is so.
fn measured<'a>(situation: &Situation<'a>, is: impl Fn(&Cell) -> bool) -> Option<&'a Cell> {
    situation.cells.iter().copied().find(|cell| cell.gross.is_some() && is(cell))
}

/// True for the ways of storing that the library chooses between.
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

/// By what part `own` takes longer, if the intervals and the ranking leave no doubt.
fn gain(own: &Cell, other: &Cell) -> Option<f64> {
    let (slow, fast) = (own.gross?, other.gross?);
    let is_clear = slow.low > fast.high && !own.ties_with.contains(&other.variant);
    slower_by(own, other).filter(|by| is_clear && *by > WORTH_A_WORD)
}

fn place(situation: &Situation) -> String {
    situation.words()
}
