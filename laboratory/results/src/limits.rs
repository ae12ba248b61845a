//! Raises limits to the rates of variants: no routine is faster than the machine, so a rate above a measured
//! limit is the better estimate.

use crate::Limit;
use crate::gather::Gathered;
use carryline_conditions::{Beside, ColdBatch, Dependence, Operands, Then};
use carryline_machine::environment::Level;
use carryline_statistics as statistics;
use carryline_variants::Family;

/// A situation that measures throughput, and so has a share of a limit.
pub(crate) struct Throughput {
    /// The family.
    pub family: Family,
    /// The mean bytes of a call.
    pub bytes: f64,
    /// The level of the operands.
    pub level: Level,
    /// True if a part of the operands fits into the next nearer level, see
    /// [`Observed::between`](crate::Observed).
    pub between: bool,
}

impl Throughput {
    /// The throughput of a situation; `None` if calls depend on each other or are isolated, something follows them
    /// or runs beside them, or the operands are at two levels by intent. The time of an isolated call ends when its
    /// stores retire, before they reach a cache, so its bytes per tick are no rate that memory sustains.
    pub fn of(gathered: &Gathered) -> Option<Throughput> {
        let situation = &gathered.situation;
        let condition = &situation.condition;
        let observed = gathered.observed()?;
        let one_level = condition.cache.is_hot() || condition.cache.operands == Operands::Both;
        let is_one = one_level
            && condition.cache.batch != ColdBatch::Single
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

/// Raises a run's limits to the highest rate of any variant at each level, and records the variant.
///
/// Situations whose operands lie between two levels do not count: a part of the operands comes from the
/// nearer level, whose rate is no limit of the farther one.
pub fn raise(limits: &mut [Limit], all: &[Gathered]) {
    for gathered in all {
        // Nor do calls of various sizes: their mean counts all bytes, and the median of the rounds not all of the time.
        if let Some(throughput) = Throughput::of(gathered)
            && !throughput.between
            && !gathered.situation.condition.sizes_vary()
        {
            raise_by(limits, gathered, &throughput);
        }
    }
}

/// Raises the limits to the highest rate of a situation's own variants.
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

/// The least time for a call's bytes at the limits of their level; `None` if these were not measured.
pub(crate) fn bytes_ticks(limits: &[Limit], throughput: &Throughput) -> Option<f64> {
    let limit = limits.iter().find(|limit| limit.level == throughput.level)?;
    Some(throughput.bytes / rate(limit, throughput.family))
}

/// The most bytes of a call's length that a family's routines can process per tick at a level. Reads and writes
/// overlap, so the slower of the two counts.
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
    use carryline_conditions::sizes::Sizes;

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
    fn a_variants_rate_raises_the_limit_of_its_level() {
        let mut limits = vec![limit()];
        raise(&mut limits, &[gathered(Family::Checksum, Level::L2, false, &[20.0, 8.0])]);
        assert_eq!((limits[0].load, limits[0].load_by.as_deref()), (125.0, Some("checksum/v1")));
        assert_eq!((limits[0].store, &limits[0].store_by), (60.0, &None), "sums store nothing");

        raise(&mut limits, &[gathered(Family::Zero, Level::L2, false, &[12.5])]);
        assert_eq!(limits[0].store_by, None, "not above the non-temporal stores");
        raise(&mut limits, &[gathered(Family::Copy, Level::L2, false, &[10.0])]);
        assert_eq!((limits[0].store, limits[0].store_by.as_deref()), (100.0, Some("copy/v0")));
        assert_eq!(limits[0].load, 125.0);
    }

    #[test]
    fn isolated_calls_raise_no_limit_and_have_no_share() {
        for (cache, has_share) in
            [("cold:clflush:single", false), ("cold:arena:single", false), ("cold:clflush", true)]
        {
            let mut isolated = gathered(Family::Zero, Level::L2, false, &[1.0]);
            isolated.situation.condition.cache = cache.parse().expect("a cache state");
            let mut limits = vec![limit()];
            raise(&mut limits, std::slice::from_ref(&isolated));
            assert_eq!(limits[0].store_by.is_some(), has_share, "{cache}");
            let summary = crate::cells::summarise(&isolated, &[limit()], 1);
            assert_eq!(summary.cells[0].limit_share.is_some(), has_share, "{cache}");
        }
    }

    #[test]
    fn other_levels_and_latencies_raise_no_limit() {
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
        let mut mixed = gathered(Family::Checksum, Level::L2, false, &[1.0]);
        mixed.situation.condition.sizes = Sizes::parse_list("1..2000").expect("sizes").remove(0);
        let mut limits = vec![limit()];
        raise(&mut limits, &[chained, read, half, lost, elsewhere, between, mixed]);
        assert_eq!(limits, [limit()]);
    }
}
