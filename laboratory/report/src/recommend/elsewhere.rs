//! Conditions in which the usual winners may lose: near-aliases, partly cached data, and a core that streams.

use super::{Situation, by_effort, one_of, slower_by};
use crate::labels;
use crate::roles::Roles;
use crate::text::{enumerate, safe};
use crate::units::{percent_fine, times};
use carryline_conditions::{Beside, Cache, Condition, Offsets};
use carryline_results::Cell;

/// A condition to check.
struct Variation {
    /// The beginning of its sentence.
    words: &'static str,
    /// The words for its absence.
    without: &'static str,
    is: fn(&Condition) -> bool,
    /// The conditions without it, in order of preference for comparison.
    plain: fn(&Condition) -> Vec<Condition>,
    /// Whether to report variants that take much longer there.
    is_trap: bool,
}

const VARIATIONS: [Variation; 3] = [
    Variation {
        words: "If source and destination lie 1 to 63 bytes apart modulo 4 KiB",
        without: "elsewhere",
        is: |condition| condition.offsets == Offsets::Alias,
        plain: |condition| {
            [Offsets::Random, Offsets::ALIGNED]
                .map(|offsets| Condition { offsets, ..condition.clone() })
                .to_vec()
        },
        is_trap: true,
    },
    Variation {
        words: "If some of the buffers are cached",
        without: "if all are cached",
        is: |condition| condition.cache.mixed().is_some() && condition.beside == Beside::Nothing,
        plain: |condition| vec![Condition { cache: Cache::HOT, ..condition.clone() }],
        is_trap: false,
    },
    Variation {
        words: "While another core streams through memory",
        without: "alone",
        is: |condition| condition.beside == Beside::Stream,
        plain: |condition| vec![Condition { beside: Beside::Nothing, ..condition.clone() }],
        is_trap: false,
    },
];

/// The least ratio of times in a trap and elsewhere that is reported.
const TRAPPED: f64 = 1.5;

/// A sentence for each variation that was measured; losses of `singled` variants in a trap are reported.
pub(super) fn sentences(situations: &[Situation], singled: &[&str], roles: &Roles) -> Vec<String> {
    VARIATIONS.iter().filter_map(|variation| sentence(variation, situations, singled, roles)).collect()
}

fn sentence(
    variation: &Variation,
    situations: &[Situation],
    singled: &[&str],
    roles: &Roles,
) -> Option<String> {
    let here: Vec<&Situation> = situations.iter().filter(|s| (variation.is)(&s.first().condition)).collect();
    let plain = |situation: &Situation| {
        let wanted = (variation.plain)(&situation.first().condition);
        wanted.into_iter().find_map(|wanted| situations.iter().find(|s| s.first().condition == wanted))
    };
    let mut words: Vec<String> = vec![];
    for situation in &here {
        let size = labels::size_phrase(&situation.first().condition);
        words.push(format!(
            "{} at {}",
            one_of(&by_effort(situation.first().family, &situation.winners, roles)),
            safe(&size)
        ));
    }
    let mut notes: Vec<String> = vec![];
    for situation in &here {
        let fallen = plain(situation).and_then(|plain| {
            let lost = |cell: &&&Cell| {
                let name = safe(&cell.variant);
                plain.winners.contains(&name) && !situation.winners.contains(&name)
            };
            let slower = |cell: &&Cell| Some((safe(&cell.variant), slower_by(cell, situation.first())?));
            situation.cells.iter().filter(lost).filter_map(slower).max_by(|a, b| a.1.total_cmp(&b.1))
        });
        // Singled variants in a trap are reported below.
        let reported = |name: &String| variation.is_trap && singled.contains(&name.as_str());
        if let Some((name, by)) = fallen.filter(|(name, _)| !reported(name)) {
            let size = labels::size_phrase(&situation.first().condition);
            let longer =
                if by < 1.0 { format!("{} longer", percent_fine(by)) } else { times(1.0 + by) + " as long" };
            let without = variation.without;
            notes.push(format!("at {} {name}, fastest {without}, takes {longer}", safe(&size)));
        }
    }
    for name in singled.iter().filter(|_| variation.is_trap) {
        let gross = |situation: &Situation| {
            situation.cells.iter().find(|cell| cell.variant == *name)?.gross.map(|gross| gross.median)
        };
        let longer = here
            .iter()
            .filter_map(|situation| Some(gross(situation)? / gross(plain(situation)?)?))
            .max_by(f64::total_cmp);
        if let Some(longer) = longer.filter(|longer| *longer >= TRAPPED) {
            let without = variation.without;
            notes.push(format!("{name} takes up to {} as long there as {without}", times(longer)));
        }
    }
    let found = format!("{}: {}.", variation.words, enumerate(&words));
    let notes: String = notes.iter().map(|note| format!(" {}.", capital(note))).collect();
    (!words.is_empty()).then(|| found + &notes)
}

/// Capitalises a note, unless it begins with a name.
fn capital(note: &str) -> String {
    match note.strip_prefix("at ") {
        Some(rest) => format!("At {rest}"),
        None => note.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::recommend;
    use super::*;
    use crate::fixture::{self, cell, rank};
    use carryline_results::RunResult;
    use carryline_variants::Family;

    fn situation(condition: Condition, figures: &[(&str, f64)]) -> Vec<Cell> {
        let cells = figures.iter().map(|(name, ticks)| cell(Family::Copy, name, condition.clone(), *ticks));
        let mut cells = rank(cells.collect(), Some("libc_memcpy"));
        let name = format!("{} {} {}", condition.offsets, condition.cache, condition.beside);
        cells.iter_mut().for_each(|cell| cell.situation.push_str(&name));
        cells
    }

    #[test]
    fn aliases_mixed_caches_and_streaming_are_reported() {
        let at = |offsets, cache: &str, beside| Condition {
            offsets,
            beside,
            cache: cache.parse().expect("a state"),
            ..Condition::plain(65_536)
        };
        let (random, alone) = (Offsets::Random, Beside::Nothing);
        let cells = [
            situation(at(random, "hot", alone), &[("libc_memcpy", 3200.0), ("carryline", 3190.0)]),
            situation(at(Offsets::Alias, "hot", alone), &[("libc_memcpy", 52_600.0), ("carryline", 3230.0)]),
            situation(at(random, "mixed:50", alone), &[("libc_memcpy", 6000.0), ("carryline", 5000.0)]),
            situation(
                at(random, "mixed:50", Beside::Stream),
                &[("libc_memcpy", 8000.0), ("carryline", 9000.0)],
            ),
        ];
        let run = RunResult { cells: cells.concat(), ..fixture::empty() };
        let advice = recommend(&run, &fixture::roles());
        insta::assert_snapshot!(advice.families[0].sentences.join("\n"), @"
        carryline loses in 1 of 4: 64 KiB, offset random, mixed:50, beside stream, independent calls: takes 12 % longer than libc_memcpy.
        No variant is fastest or tied everywhere; carryline comes closest, in 3 of 4.
        If source and destination lie 1 to 63 bytes apart modulo 4 KiB: carryline at 64 KiB. libc_memcpy takes up to 16.42x as long there as elsewhere.
        If some of the buffers are cached: carryline at 64 KiB. At 64 KiB libc_memcpy, fastest if all are cached, takes 20 % longer.
        While another core streams through memory: libc_memcpy at 64 KiB. At 64 KiB carryline, fastest alone, takes 12 % longer.
        ");
    }

    #[test]
    fn variations_that_were_not_measured_are_not_reported() {
        let cells = situation(Condition::plain(4096), &[("libc_memcpy", 9.0), ("carryline", 8.0)]);
        let run = RunResult { cells, ..fixture::empty() };
        let advice = recommend(&run, &fixture::roles());
        assert!(advice.families[0].sentences.iter().all(|s| !s.contains("streams") && !s.contains("modulo")));
    }
}
