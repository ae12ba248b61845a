//! Limits raised by what variants moved: no routine beats the machine, so a rate that passes a measured limit is one.

use crate::Limit;
use crate::gather::Gathered;
use carryline_conditions::{Beside, Dependence, Operands, Then};
use carryline_machine::environment::Level;
use carryline_statistics as statistics;
use carryline_variants::Family;

/// A situation whose figures are throughputs, and so have a share of a limit.
pub(crate) struct Throughput {
    /// What is done with the bytes.
    pub family: Family,
    /// Mean bytes of a call.
    pub bytes: f64,
    /// The level that the operands come from.
    pub level: Level,
    /// True if a part of them fits into the level before, see [`Observed::between`](crate::Observed).
    pub between: bool,
}

impl Throughput {
    /// The throughput of a situation; `None` where calls wait for each other, something follows them or goes on beside
    /// them, or the operands come from two levels by intent.
    pub fn of(gathered: &Gathered) -> Option<Throughput> {
        let situation = &gathered.situation;
        let condition = &situation.condition;
        let observed = gathered.observed()?;
        let one_level = condition.cache.is_hot() || condition.cache.operands == Operands::Both;
        let is_one = one_level
            && condition.dependence == Dependence::Independent
            && condition.then == Then::Nothing
            && condition.beside == Beside::Nothing;
        is_one.then_some(Throughput {
            family: situation.family,
            bytes: observed.size_mean,
            level: observed.level,
            between: observed.between,
        })
    }
}

/// Raises the limits of a run to the most that any of its variants moved at the level, and notes which it was.
///
/// Operands that lie between two levels do not count: a part of them comes from the nearer one, whose rate is no limit
/// of the farther.
pub fn raise(limits: &mut [Limit], all: &[Gathered]) {
    for gathered in all {
        if let Some(throughput) = Throughput::of(gathered)
            && !throughput.between
        {
            raise_by(limits, gathered, &throughput);
        }
    }
}

/// Raises the limits to the most that a situation's own variants moved.
pub(crate) fn raise_by(limits: &mut [Limit], gathered: &Gathered, throughput: &Throughput) {
    let Throughput { family, bytes, level, .. } = throughput;
    let Some(limit) = limits.iter_mut().find(|limit| limit.level == *level) else { return };
    for (place, name) in gathered.situation.subjects.iter().enumerate() {
        if gathered.lost.iter().any(|(lost, _, _)| *lost == place) {
            continue;
        }
        let ticks = statistics::typical(&gathered.gross(place)).filter(|ticks| *ticks > 0.0);
        let Some(ticks) = ticks else { continue };
        let by = || Some(format!("{family}/{name}"));
        let rate = bytes / ticks;
        if family.reads() && rate > limit.load {
            (limit.load, limit.load_by) = (rate, by());
        }
        if family.writes() && rate > limit.store.max(limit.nt_store) {
            (limit.store, limit.store_by) = (rate, by());
        }
    }
}

/// The least time that a call's bytes take at the limits of their level; `None` where they were not measured.
pub(crate) fn bytes_ticks(limits: &[Limit], throughput: &Throughput) -> Option<f64> {
    let limit = limits.iter().find(|limit| limit.level == throughput.level)?;
    Some(throughput.bytes / rate(limit, throughput.family))
}

/// The most bytes of a call's length per tick that a family's routines can do at a level. Reads and writes go on side by
/// side, so the slower of the two decides.
#[must_use]
pub fn rate(limit: &Limit, family: Family) -> f64 {
    let read = if family.reads() { limit.load } else { f64::INFINITY };
    let written = if family.writes() { limit.store.max(limit.nt_store) } else { f64::INFINITY };
    read.min(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Observed;
    use crate::gather::{Replicate, Situation};
    use crate::round::Round;
    use carryline_conditions::Condition;

    fn gathered(family: Family, level: Level, between: bool, ticks: &[f64]) -> Gathered {
        let mut gathered = Gathered::new(Situation {
            name: "s".to_owned(),
            family,
            condition: Condition::plain(1000),
            subjects: (0..ticks.len()).map(|k| format!("v{k}")).collect(),
            baseline: None,
            twins: vec![],
            weight: 1.0,
        });
        let observed = Observed { size_mean: 1000.0, level, between, ..Observed::default() };
        let round = Round {
            number: 0,
            multiplier: 1,
            samples: ticks.to_vec(),
            null_ticks: 4.0,
            ticks_per_cycle: 0.6,
            counted: false,
        };
        gathered.replicates =
            vec![Replicate { rounds: vec![round; 3], observed: Some(observed), steady: true }; 3];
        gathered
    }

    fn limit() -> Limit {
        Limit {
            level: Level::L2,
            buffer_bytes: 1 << 19,
            load: 100.0,
            store: 60.0,
            nt_store: 80.0,
            load_by: None,
            store_by: None,
        }
    }

    #[test]
    fn what_a_variant_moves_is_a_limit_of_its_level() {
        let mut limits = vec![limit()];
        raise(&mut limits, &[gathered(Family::Checksum, Level::L2, false, &[20.0, 8.0])]);
        assert_eq!((limits[0].load, limits[0].load_by.as_deref()), (125.0, Some("checksum/v1")));
        assert_eq!((limits[0].store, &limits[0].store_by), (60.0, &None), "sums store nothing");

        raise(&mut limits, &[gathered(Family::Zero, Level::L2, false, &[12.5])]);
        assert_eq!(limits[0].store_by, None, "no more than the non-temporal stores");
        raise(&mut limits, &[gathered(Family::Copy, Level::L2, false, &[10.0])]);
        assert_eq!((limits[0].store, limits[0].store_by.as_deref()), (100.0, Some("copy/v0")));
        assert_eq!(limits[0].load, 125.0);
    }

    #[test]
    fn other_levels_and_latencies_raise_nothing() {
        let mut chained = gathered(Family::Checksum, Level::L2, false, &[1.0]);
        chained.situation.condition.dependence = Dependence::Chained;
        let mut read = gathered(Family::Checksum, Level::L2, false, &[1.0]);
        read.situation.condition.then = Then::Read;
        let mut half = gathered(Family::Copy, Level::L2, false, &[1.0]);
        half.situation.condition.cache = "cold:clflush:src".parse().expect("a cache state");
        let mut lost = gathered(Family::Checksum, Level::L2, false, &[1.0]);
        lost.lose(0, crate::Status::Wrong, "wrong");
        let elsewhere = gathered(Family::Checksum, Level::L1, false, &[1.0]);
        let between = gathered(Family::Checksum, Level::L2, true, &[1.0]);
        let mut limits = vec![limit()];
        raise(&mut limits, &[chained, read, half, lost, elsewhere, between]);
        assert_eq!(limits, [limit()]);
    }
}
