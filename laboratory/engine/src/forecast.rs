//! Estimates the least time that a plan takes, so that a budget that is too small is reported at the start.

use crate::machine::Here;
use crate::plan::RunPlan;
use crate::prove;
use crate::thresholds::{self, Needs, Schedule, id_in};
use carryline_machine::arena::{Arena, Pages};
use carryline_results::gather::Situation;
use carryline_sampler::least_bytes;
use carryline_verification::Depth;
use std::time::{Duration, Instant};

/// The approximate CPU time to verify one subject: in full, and by a sample of the inputs.
const PROOF: Duration = Duration::from_millis(1000);
const SAMPLE: Duration = Duration::from_millis(120);
/// From this size, the time to fill buffers is noticeable.
const LARGE: u64 = 64 << 20;
/// How far a budget may be exceeded without a message.
const TOLERANCE: f64 = 1.33;

/// The approximate time to verify that many subjects on all CPUs.
#[must_use]
pub fn verification(subjects: usize, depth: Depth) -> Duration {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let each = match depth {
        Depth::Full => PROOF,
        Depth::Replicate => SAMPLE,
    };
    each * subjects as u32 / cpus.clamp(1, subjects.max(1)) as u32
}

/// The approximate time before a worker process starts to measure.
pub fn overhead(subjects: usize) -> Duration {
    Duration::from_millis(300 + 25 * subjects as u64)
}

/// The least number of bytes that the members of a situation process in a worker, averaged over the `kinds`
/// of worker processes: members that call the C library take part in one kind only.
fn processed(situation: &Situation, here: &Here, kinds: f64) -> f64 {
    let share = |place: usize| {
        let subject =
            situation.twins.get(place.wrapping_sub(situation.subjects.len())).copied().unwrap_or(place);
        match thresholds::of_variant(&id_in(situation, &situation.subjects[subject])) {
            Some(_) => 1.0 / kinds,
            None => 1.0,
        }
    };
    let members: f64 = (0..situation.places()).map(share).sum();
    least_bytes(situation.family, &situation.condition, &here.caches) as f64 * members
}

/// The least resources that a plan needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The time to verify all subjects.
    pub proof: Duration,
    /// The number of worker processes, which run one after the other.
    pub processes: u32,
    /// The number of processes in a replicate: one of each kind.
    pub kinds: u32,
    /// The time of each process.
    pub each: Duration,
    /// The bytes that each process fills first.
    pub filled_bytes: u64,
}

/// The speed at which this machine processes large buffers, in bytes per second.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Filling new memory for the first time.
    pub filling: f64,
    /// Processing memory that was written before.
    pub passing: f64,
}

impl Speed {
    /// Measures it on 64 MiB: first as buffers are filled, then as routines write. `None` if they cannot be
    /// allocated.
    pub fn here() -> Option<Speed> {
        const BYTES: usize = 64 << 20;
        let mut arena = Arena::new(BYTES, Pages::Base).ok()?;
        let rate = |begin: Instant| BYTES as f64 / begin.elapsed().as_secs_f64().max(1e-6);
        let begin = Instant::now();
        arena.prefault();
        let filling = rate(begin);
        let begin = Instant::now();
        // SAFETY: the bytes belong to the arena, to which nothing else has access.
        unsafe { arena.start().write_bytes(1, BYTES) };
        std::hint::black_box(&mut arena);
        Some(Speed { filling, passing: rate(begin) })
    }
}

impl Forecast {
    /// The forecast for a plan on this machine; `speed` is called only if buffers are large.
    pub fn of(plan: &RunPlan, here: &Here, depth: Depth, speed: impl FnOnce() -> Option<Speed>) -> Forecast {
        let subjects = plan.subjects();
        let runs = |id: &_| prove::unsupported(id).is_none();
        let proved = subjects.iter().filter(|id| runs(id)).count();
        let processes = Schedule::of(plan, &Needs::of(plan), runs).processes(plan.replicates);
        let filled_bytes = here.memory_needed(&plan.situations);
        let kinds = (processes / plan.replicates.max(1)).max(1);
        let processed: f64 =
            plan.situations.iter().map(|situation| processed(situation, here, f64::from(kinds))).sum();
        let mut each = overhead(proved);
        if processed.max(filled_bytes as f64) > LARGE as f64
            && let Some(speed) = speed()
        {
            let seconds = filled_bytes as f64 / speed.filling + processed / speed.passing;
            each += Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4096);
        }
        Forecast { proof: verification(proved, depth), processes, kinds, each, filled_bytes }
    }

    /// The total time.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.proof.saturating_add(self.each.saturating_mul(self.processes))
    }

    /// A budget of whole seconds that suffices, but at least the usual one.
    #[must_use]
    pub fn budget_of_at_least(&self, usual: Duration) -> Duration {
        let total = self.total();
        match total > usual {
            true => Duration::from_secs(total.as_secs().saturating_add(1)),
            false => usual,
        }
    }

    /// The largest number of replicates, up to `replicates`, that fits into the budget; at least 1.
    #[must_use]
    pub fn replicates_within(&self, budget: Duration, replicates: u32) -> u32 {
        let fits = |replicates: u32| {
            let fewer = Forecast { processes: self.kinds.saturating_mul(replicates), ..*self };
            fewer.total() <= budget.mul_f64(TOLERANCE)
        };
        (1..=replicates).rev().find(|replicates| fits(*replicates)).unwrap_or(1)
    }

    /// How long the plan takes with this budget, in words.
    #[must_use]
    pub fn expected(&self, budget: Duration) -> String {
        let (total, budget) = (self.total().as_secs_f64().ceil(), budget.as_secs_f64());
        match total > budget {
            true => format!("about {total:.0} s, more than the budget of {budget:.0} s"),
            false => format!("about {budget:.0} s"),
        }
    }

    /// A message if the budget is too small.
    #[must_use]
    pub fn against(&self, budget: Duration) -> Option<String> {
        let total = self.total();
        (total > budget.mul_f64(TOLERANCE)).then(|| {
            let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
            let filling = match self.filled_bytes > LARGE {
                true => format!(" and fills {} MiB of memory", self.filled_bytes >> 20),
                false => String::new(),
            };
            format!(
                "the budget of {} is too short: the run takes about {:.0} s (verification {}, {} {}{filling}); use fewer \
                 variants or smaller cells, fewer --replicates, or --budget {:.0}s",
                seconds(budget),
                total.as_secs_f64().ceil(),
                seconds(self.proof),
                match self.processes {
                    1 => "the worker process".to_owned(),
                    processes => format!("each of {processes} worker processes"),
                },
                seconds(self.each),
                total.as_secs_f64().ceil()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard;
    use carryline_conditions::Condition;
    use carryline_machine::environment::CacheSizes;
    use carryline_variants::Family;

    fn forecast(bytes: u64, replicates: u32) -> Forecast {
        let mut here = Here::look();
        here.caches = CacheSizes { l1: 32 << 10, l2: 1 << 20, l3: 16 << 20, l3_held: None };
        let situation =
            standard::situation(Family::Zero, Condition::plain(bytes), 1.0, &|_| (vec!["sse2".into()], None));
        let plan = RunPlan {
            situations: vec![situation],
            plugins: Vec::new(),
            replicates,
            most_replicates: replicates,
            budget: Duration::from_secs(3),
            seed: 1,
            patience: Duration::from_secs(10),
        };
        Forecast::of(&plan, &here, Depth::Full, || Some(Speed { filling: 1e9, passing: 10e9 }))
    }

    #[test]
    fn large_buffers_and_many_processes_take_longer() {
        let small = forecast(4096, 5);
        assert_eq!(small.processes, 5);
        assert_eq!(small.total(), verification(1, Depth::Full) + overhead(1) * 5);
        assert_eq!(small.against(Duration::from_secs(3)), None);
        // 8 GiB filled once and processed eight times by each member.
        let large = forecast(8 << 30, 5);
        let gib = (8_u64 << 30) as f64 / 1e9;
        assert!(large.each.as_secs_f64() > gib + 8.0 * gib / 10.0, "{large:?}");
        let said = large.against(Duration::from_secs(3)).expect("far too little");
        for word in ["3.0 s", "5 worker processes", "8208 MiB", "--replicates"] {
            assert!(said.contains(word), "{word} in {said}");
        }
        assert!(said.contains("the run takes about"), "{said}");
        let expected = large.expected(Duration::from_secs(3));
        assert!(expected.starts_with("about") && expected.ends_with("budget of 3 s"), "{expected}");
        assert_eq!(small.expected(Duration::from_secs(60)), "about 60 s");
        assert_eq!(small.replicates_within(Duration::from_secs(60), 5), 5);
        assert_eq!(
            large.replicates_within(Duration::from_secs(3), 5),
            1,
            "at least one, however small the budget"
        );
        assert_eq!(large.replicates_within(large.each * 3, 5), 3);
        assert_eq!(small.budget_of_at_least(Duration::from_secs(60)), Duration::from_secs(60));
        let enough = large.budget_of_at_least(Duration::from_secs(3));
        assert_eq!((large.against(enough), large.replicates_within(enough, 5)), (None, 5));
        assert!(large.expected(enough) == format!("about {} s", enough.as_secs()));
        let once = forecast(8 << 30, 1);
        assert_eq!(once.against(once.total()), None);
        assert!(once.against(once.total().div_f64(1.4)).is_some());
    }
}
