//! One batch of one member: prepares the cache state, makes the calls in order, and takes the time.

use super::loops::{self, Batch, Call, Follow};
use super::workload::{Operand, PAGE, Place, draw_calls};
use super::{Bench, prepare};
use carryline_conditions::sizes::LEARNING_PASSES;
use carryline_conditions::{CacheMethod, ColdBatch, Dependence, Then};
use carryline_machine::clock;
use carryline_verification::forked;
use carryline_verification::status::{Now, Phase, StatusPage};
use std::time::{Duration, Instant};

/// Untimed calls before a batch, to warm code and branch predictors as in a busy program.
pub(super) const WARM_CALLS: usize = 16;
/// The least time of untimed calls before a batch. Wide multipliers that have rested start slowly: up to
/// 7 microseconds at a third of their speed on Granite Rapids.
const WARM_TIME: Duration = Duration::from_micros(10);

impl Bench<'_> {
    pub(super) fn entries(&self, multiplier: u32) -> usize {
        self.batch_calls * multiplier as usize * self.condition.segments.len().max(1)
    }

    /// Prepares the caches, runs a batch of one member, and returns its gross ticks per call.
    pub(super) fn batch(&mut self, member: usize, multiplier: u32, status: &StatusPage) -> f64 {
        let subject = self.members[member].subject;
        let segments = self.condition.segments.len().max(1);
        let count = self.batch_calls * multiplier as usize;
        let entries = self.layout.listed(count * segments);
        let warm = self.untimed_calls(count);
        let turns = match self.layout.period {
            Some(period) => LEARNING_PASSES * period / warm,
            None if self.condition.cache.batch == ColdBatch::Single => WARM_CALLS,
            None => 1,
        };
        // The bytes flushed or touched before the calls are at most those that the calls process.
        let work = 2 * self.layout.largest * ((count + warm * turns) * segments) as u64;
        let len = self.layout.largest;
        status.set(Now { subject, phase: Phase::Time as u64, len, detail: work, ..Now::default() });
        let fixed = self.fixed_call();
        if fixed.is_none() && self.rounds == 0 && self.layout.period.is_none() {
            // Before the first round, there is no list yet.
            draw_calls(&self.layout, self.condition, &self.sizes, &mut self.rng, &mut self.calls[..entries]);
        }
        let (dst, src) = self.windows(self.batches);
        let template = Batch {
            dst,
            src,
            fixed,
            calls: &[],
            count,
            segments,
            seed: 1,
            dependence: match self.condition.dependence {
                Dependence::Chained => loops::CHAINED,
                Dependence::Independent => loops::INDEPENDENT,
                Dependence::Fenced => loops::FENCED,
            },
            follow: match self.condition.then {
                // The second is only in stored runs.
                Then::Nothing | Then::ReadWrapped(_) => Follow::Nothing,
                Then::Read => Follow::Read { lag: 0 },
                Then::ReadLater(_) => Follow::Read { lag: self.layout.lag },
                Then::Victim(_) => Follow::Victim { base: self.victim.0, len: self.victim.1 },
            },
            placement: self.placement,
        };
        let landing = self.members[member].landing;

        self.evict(&template);
        if warm > 0 {
            if self.condition.cache.is_hot() || self.condition.cache.mixed().is_some() {
                self.touch(&template);
            }
            // Lines that are cold already must stay untouched: the untimed calls use the previous window instead.
            let window = match self.condition.cache.method {
                CacheMethod::Evict | CacheMethod::Arena | CacheMethod::Mixed { .. } => {
                    self.batches.wrapping_sub(1)
                }
                _ => self.batches,
            };
            let (dst, src) = self.windows(window);
            // What the first calls read later is what these have written.
            let follow = if self.layout.lag > 0 { template.follow } else { Follow::Nothing };
            self.reorder(entries);
            self.shift(entries, window);
            let calls = match self.layout.period {
                Some(_) => &self.calls[..],
                None if fixed.is_some() => &[][..],
                None => self.list(entries),
            };
            // Each turn makes the next calls of a list, lest the predictors learn the first.
            let mut parts = calls.chunks_exact(warm * segments).cycle();
            let begin = Instant::now();
            for turn in 1.. {
                let calls = parts.next().unwrap_or_default();
                let untimed = Batch { dst, src, count: warm, calls, follow, ..template };
                // SAFETY: as for the timed batch below; a part of a list has `warm * segments` entries.
                unsafe { loops::time_landing(&landing, &untimed) };
                forked::exit_if_child();
                if turn >= turns && begin.elapsed() >= self.warm_time() {
                    break;
                }
            }
        }
        let window = self.batches;
        self.batches = self.batches.wrapping_add(1);
        if self.layout.lag == 0 {
            self.reorder(entries);
        }
        self.shift(entries, window);
        let batch = Batch { calls: if fixed.is_some() { &[] } else { self.list(entries) }, ..template };
        self.cool(&batch);
        // SAFETY: `draw_calls` and the layout keep every call inside its operand's arena (a test covers all
        // conditions); source and destination are different arenas; the routine is verified for these
        // lengths, or is the null call; a list has at least count * segments entries; a victim is in its own arena.
        let ticks = unsafe { loops::time_landing(&landing, &batch) };
        forked::exit_if_child();
        if self.rounds > 0 {
            self.seen.calls += count as u64;
        }
        (ticks as f64 - self.overhead_ticks).max(0.0) / count as f64
    }

    /// The arguments of every call, if they are all the same.
    pub(super) fn fixed_call(&self) -> Option<Call> {
        let len = self.layout.largest;
        let offset = |operand: Option<Operand>| operand.and_then(|o| o.fixed_offset(len)).unwrap_or(0);
        self.layout.uniform.then(|| Call { len, dst: offset(self.layout.dst), src: offset(self.layout.src) })
    }

    /// The bases of both operands in batch number `batch`, which is in this round.
    fn windows(&self, batch: usize) -> (*mut u8, *const u8) {
        let base = |operand: Option<Operand>, start: *mut u8, at: usize| {
            let Some(operand) = operand else { return start };
            let [first, page] = [self.start_page[at], self.round_page[at]];
            let start = start.wrapping_sub(first * PAGE).wrapping_add(page * PAGE);
            prepare::window_base(start, &operand, batch)
        };
        (base(self.layout.dst, self.dst_start, 0), base(self.layout.src, self.src_start, 1))
    }

    /// Moves the calls on the arena slots of mixed operands to the window of batch number `batch`; the hot
    /// slot is not moved.
    fn shift(&mut self, entries: usize, batch: usize) {
        if self.shifted.is_empty() {
            return;
        }
        let shifts = self.layout.shifts(batch);
        for (to, from) in self.shifted.iter_mut().zip(&self.calls[..entries]) {
            *to = self.layout.moved(from, shifts);
        }
    }

    /// The calls of a batch.
    fn list(&self, entries: usize) -> &[Call] {
        if self.shifted.is_empty() { &self.calls[..entries] } else { &self.shifted[..entries] }
    }

    /// Shuffles the list's entries if their order is free.
    fn reorder(&mut self, entries: usize) {
        if self.layout.period.is_none() && !self.layout.uniform {
            let segments = self.condition.segments.len();
            self.layout.reorder(segments, &mut self.rng, &mut self.calls[..entries]);
        }
    }

    /// The number of untimed calls before a batch of `count`: enough to warm code and branch predictors and,
    /// when hot, to bring the caches into the state that this routine leaves. None if one call exceeds the
    /// caches, since nothing of it would remain.
    fn untimed_calls(&self, count: usize) -> usize {
        let segments = self.condition.segments.len().max(1);
        let hot = self.condition.cache.is_hot();
        let single = self.condition.cache.batch == ColdBatch::Single;
        match count {
            // The whole list, with which predictors relearn the sizes after the other members' batches.
            _ if self.layout.period.is_some() => self.calls.len(),
            // All destinations once.
            _ if self.layout.lag > 0 => self.layout.lag + 1,
            _ if hot && self.layout.largest as usize > self.cached_bytes => 0,
            1..4 if hot => count.min(2),
            // Its code must be as warm as that of a stream.
            _ if single => usize::from(self.layout.largest as usize <= self.cached_bytes),
            1..4 => 0,
            _ => (WARM_CALLS / segments).max(1).min(count),
        }
    }

    /// The least time of the untimed calls before a batch. Zero if further calls would change the state of the
    /// caches, if there are many calls anyway, or if flushing the batch follows, which takes longer than execution
    /// units stay awake.
    fn warm_time(&self) -> Duration {
        let flushes = self.condition.cache.method == CacheMethod::Clflush;
        let steady = !flushes && self.layout.lag == 0 && self.layout.period.is_none();
        if steady { WARM_TIME } else { Duration::ZERO }
    }

    /// Evicts every line from the caches, code included, if that is the method. A virtual machine's host may have taken
    /// back pages of the batch that rested since; so each is accessed before, and once more before the last pass.
    fn evict(&self, batch: &Batch<'_>) {
        let Some((evicting, len)) = self.evict else { return };
        let bring_back = |operand: Option<Operand>, base, write| {
            let span = operand.map_or(0, |operand| operand.window * operand.stride);
            // SAFETY: a batch's window is in the operand's arena. One line of each page is used.
            unsafe { prepare::touch_every(PAGE, base, span, write) };
        };
        // SAFETY: the eviction buffer is mapped, `len` bytes long and not shared.
        unsafe {
            prepare::evict(evicting, len, || {
                bring_back(self.layout.dst, batch.dst, true);
                bring_back(self.layout.src, batch.src.cast_mut(), false);
            });
        }
    }

    /// Flushes the cold operands of a batch, if that is the method, and makes the others hot again.
    fn cool(&self, batch: &Batch<'_>) {
        let operands = [
            (self.layout.dst, batch.dst, (|call: &Call| call.dst) as fn(&Call) -> u32),
            (self.layout.src, batch.src.cast_mut(), |call: &Call| call.src),
        ];
        if self.condition.cache.method == CacheMethod::Clflush {
            for (_, base, pick) in operands.iter().filter(|(operand, _, _)| operand.is_some_and(|o| o.cold)) {
                // SAFETY: the calls of the batch are inside the operand's mapped arena.
                unsafe { prepare::flush(*base, batch.calls, *pick) };
            }
        }
        if !self.condition.cache.is_hot() {
            self.touch(batch);
        }
        clock::fence();
    }

    /// Loads the hot operands into the caches if they fit.
    fn touch(&self, batch: &Batch<'_>) {
        for (operand, base, write) in
            [(self.layout.dst, batch.dst, true), (self.layout.src, batch.src.cast_mut(), false)]
        {
            let Some(operand) = operand.filter(|operand| !operand.cold || operand.hot_percent.is_some())
            else {
                continue;
            };
            let first = operand.fixed_offset(self.layout.largest).unwrap_or(0) as usize;
            let (offset, span) = match operand.slots {
                1 if operand.place == Place::End => (first & !63, operand.stride - (first & !63)),
                _ if operand.hot_percent.is_some() => (0, operand.stride),
                1 if operand.place == Place::Page => (0, operand.stride),
                1 => (first, self.layout.largest as usize + 64),
                slots => (0, slots * operand.stride),
            };
            if span <= self.cached_bytes {
                // SAFETY: a slot holds the largest call at the largest offset, and the bytes up to the slot's
                // end, so the span is in the arena.
                unsafe { prepare::touch(base.wrapping_add(offset), span, write) };
            }
        }
    }
}
