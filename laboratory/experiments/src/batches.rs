//! Series that are batches of one action. Each round times every series once, in random order.
//!
//! Most probes are of this kind. Those that must bring the machine into a given state before each sample do
//! so in [`Timed::before`], outside the timed region.

use carryline_engine::probe::{Impossible, Rounds, Series, Setup, Unusable, time};
use carryline_machine::clock;
use carryline_sampler::{Call, flush};
use carryline_statistics::shuffle;
use carryline_verification::status::StatusPage;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// The repeated action; it gets the number of repetitions.
pub(crate) type Action = Box<dyn FnMut(u32)>;

/// A series: the timed action, and the divisor of a sample.
pub(crate) struct Timed {
    name: String,
    calls: u32,
    per: f64,
    warm: u32,
    repeats: u32,
    before: Option<Box<dyn FnMut()>>,
    action: Action,
}

impl Timed {
    /// A batch of `calls`, preceded by a sixteenth as many untimed ones. A sample is the time of one call.
    pub(crate) fn new(name: impl Into<String>, calls: u32, action: impl FnMut(u32) + 'static) -> Timed {
        let (name, action) = (name.into(), Box::new(action));
        Timed {
            name,
            calls,
            per: f64::from(calls),
            warm: calls.div_ceil(16),
            repeats: 1,
            before: None,
            action,
        }
    }

    /// Runs `prepare` before each batch, untimed, and disables the warm-up.
    pub(crate) fn before(mut self, prepare: impl FnMut() + 'static) -> Timed {
        self.before = Some(Box::new(prepare));
        self.warm = 0;
        self
    }

    /// Makes a sample the mean of this many batches, each with its preparation: for batches so short that the
    /// clock's resolution shows.
    pub(crate) fn repeated(mut self, times: u32) -> Timed {
        self.repeats = times.max(1);
        self
    }

    /// Disables the warm-up, so that the caches are left as they are.
    pub(crate) fn without_warm_up(mut self) -> Timed {
        self.warm = 0;
        self
    }

    /// Divides the time of the batch by this instead of its number of calls.
    pub(crate) fn per(mut self, divisor: f64) -> Timed {
        self.per = divisor;
        self
    }
}

/// All series of a probe.
pub(crate) struct Batches {
    all: Vec<Timed>,
    twins: Vec<(usize, usize)>,
    facts: serde_json::Value,
    unusable: Vec<Unusable>,
    overhead_ticks: f64,
    rng: Xoshiro256PlusPlus,
}

impl Batches {
    pub(crate) fn new(setup: &Setup<'_>, all: Vec<Timed>) -> Batches {
        Batches {
            all,
            twins: Vec::new(),
            facts: serde_json::Value::Null,
            unusable: Vec::new(),
            overhead_ticks: clock::overhead_ticks(),
            rng: Xoshiro256PlusPlus::seed_from_u64(setup.seed),
        }
    }

    /// Declares `name` and `name again` an A/A pair.
    pub(crate) fn twin(mut self, name: &str) -> Batches {
        let place = |wanted: &str| self.all.iter().position(|timed| timed.name == wanted);
        if let Some(pair) = place(name).zip(place(&format!("{name} again"))) {
            self.twins.push(pair);
        }
        self
    }

    /// Adds facts.
    pub(crate) fn with_facts(mut self, facts: &impl Serialize) -> Batches {
        self.facts = crate::json(facts);
        self
    }

    /// Declares series that cannot be measured.
    pub(crate) fn without(mut self, unusable: Vec<Unusable>) -> Batches {
        self.unusable = unusable;
        self
    }
}

impl Rounds for Batches {
    fn series(&self) -> Vec<Series> {
        self.all.iter().map(|timed| Series::ticks(timed.name.clone())).collect()
    }

    fn twins(&self) -> Vec<(usize, usize)> {
        self.twins.clone()
    }

    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible> {
        let mut samples = vec![f64::NAN; self.all.len()];
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        shuffle(&mut self.rng, &mut order);
        for place in order {
            let timed = &mut self.all[place];
            let mut ticks = 0.0;
            for _ in 0..timed.repeats {
                if let Some(before) = &mut timed.before {
                    before();
                }
                if timed.warm > 0 {
                    (timed.action)(timed.warm);
                }
                let (action, calls) = (&mut timed.action, timed.calls);
                ticks += time(self.overhead_ticks, || action(calls));
            }
            samples[place] = ticks / timed.per / f64::from(timed.repeats);
            status.beat();
        }
        Ok(samples)
    }

    fn facts(&mut self) -> serde_json::Value {
        self.facts.take()
    }

    fn unusable(&self) -> Vec<Unusable> {
        self.unusable.clone()
    }
}

/// Flushes every line of a range out of all caches and waits until this is done.
///
/// # Safety
/// `len` bytes at `base` must be mapped.
pub(crate) unsafe fn flush_range(base: *const u8, len: usize) {
    let all = Call { len: len as u64, dst: 0, src: 0 };
    // SAFETY: the caller gives `len` mapped bytes at `base`; the one call spans just these.
    unsafe { flush(base, &[all], |_| 0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::setup;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn each_round_prepares_and_runs_every_batch_once() {
        let status = StatusPage::create().expect("a page");
        let (prepared, run) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let (p, r, r2) = (prepared.clone(), run.clone(), run.clone());
        let all = vec![
            Timed::new("one", 32, move |calls| r.set(r.get() + calls)),
            Timed::new("one again", 5, move |calls| r2.set(r2.get() + calls))
                .before(move || p.set(p.get() + 1))
                .repeated(2)
                .per(2.0),
        ];
        let mut batches =
            Batches::new(&setup(&serde_json::Value::Null, &status), all).twin("one").twin("two");
        assert_eq!(batches.twins(), [(0, 1)]);
        for round in 1..=3 {
            assert_eq!(batches.round(&status).expect("samples").len(), 2);
            assert_eq!((prepared.get(), run.get()), (2 * round, round * (32 + 2 + 2 * 5)));
        }
        assert_eq!(batches.series()[1].name, "one again");
    }
}
