//! Timing in rounds of batches: every member of a comparison once per round, in random order.
//!
//! Only [`Verified`] subjects are timed. All members of a [`Bench`] share one condition, the same calls and
//! the same preparation of the caches before each batch. In list form, the calls are the same multiset of
//! arguments, reshuffled for every batch so that no branch predictor can learn the order. The null call is a
//! member of every bench, and, if requested, an A/A twin: one variant a second time. A round does not
//! allocate.

mod batch;
mod buffers;
mod invoke;
pub mod last_level;
pub mod limits;
pub mod loops;
pub mod object_loops;
mod prepare;
mod recheck;
mod seen;
mod streamer;
mod workload;

pub use buffers::Buffers;
use carryline_machine::environment::{CacheSizes, Level};
use carryline_results::round::Round;
pub use loops::Call;
pub use loops::{PLACEMENTS, place};
pub use prepare::{flush, touch, zero_words};
pub use workload::{hot_bytes, least_bytes, level_of, memory_bytes, uses_few_lines};

use batch::WARM_CALLS;
use carryline_conditions::sizes::SizeSource;
use carryline_conditions::{Beside, CacheMethod, Condition, Offsets, Then};
use carryline_machine::arena::{MapError, Pages};
use carryline_machine::clock;
use carryline_machine::counters::CycleCounter;
use carryline_statistics::{self as statistics, below, shuffle};
use carryline_variants::landing::Landing;
use carryline_variants::{Family, Lengths};
use carryline_verification::status::{Now, Phase, StatusPage};
use carryline_verification::{Verified, forked};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use seen::Seen;
use std::time::{Duration, Instant};
use streamer::Streamer;
use workload::{Layout, Operand, Place, draw_calls};

/// The shortest timed batch; the clock's resolution and cost must be negligible in it.
const SHORTEST_BATCH: Duration = Duration::from_micros(1);
/// The range of desired batch lengths if time allows: at the first, the clock's resolution is negligible;
/// beyond the second, a batch suffers more interruptions than it gains precision.
const AIMED_BATCH: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(200)];
/// The minimum number of rounds in a slice of time.
const AIMED_ROUNDS: u32 = 10;
/// The maximum number of rounds in a slice: additional time makes batches longer, then goes to the next
/// situation.
pub const MOST_ROUNDS: u32 = 64;
/// A list whose calls take no longer than this in total is drawn completely, however little time there is.
const CHEAP_LIST: Duration = Duration::from_millis(1);
/// The minimum number of calls in a list, however long they take.
const LEAST_LIST: usize = 16;
/// The number of rounds after which an endless warm-up is abandoned.
const WARM_ROUNDS: usize = 64;
/// 2^64 divided by the golden ratio: its multiples give every round a seed of its own, far from those of other replicates.
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// The reason that a bench cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Out of memory.
    #[error(transparent)]
    Memory(#[from] MapError),
    /// The machine cannot establish the condition.
    #[error("{0}")]
    Unsupported(String),
}

/// A comparison ready to be timed.
#[derive(Debug)]
pub struct Bench<'a> {
    condition: &'a Condition,
    layout: Layout,
    sizes: SizeSource,
    members: Vec<Member>,
    family: Family,
    order: Vec<usize>,
    calls: Vec<Call>,
    /// The calls of a batch with mixed operands; those on arena slots are moved to the batch's window.
    shifted: Vec<Call>,
    /// The starts of the operands before the first round, and the pages of their arenas that these are.
    dst_start: *mut u8,
    src_start: *mut u8,
    start_page: [usize; 2],
    /// The pages where they start in this round.
    round_page: [usize; 2],
    evict: Option<(*mut u8, usize)>,
    victim: (*const u8, usize),
    /// Concurrent work on another core, until the bench is dropped.
    streamer: Option<Streamer>,
    huge_bytes: Option<u64>,
    level: Level,
    between: bool,
    cached_bytes: usize,
    placement: usize,
    batch_calls: usize,
    batches: usize,
    rounds: u32,
    overhead_ticks: f64,
    seed: u64,
    rng: Xoshiro256PlusPlus,
    seen: Seen,
}

#[derive(Debug)]
struct Member {
    landing: Landing,
    /// The index of the subject in the worker's job; `u64::MAX` for the null call.
    subject: u64,
    /// The lengths that it supports.
    lengths: Lengths,
}

impl<'a> Bench<'a> {
    /// Sets up a comparison; `status` reports progress while its buffers are filled. `members` are the
    /// verified subjects, each with its index in the worker's job; a subject may occur twice (an A/A twin).
    ///
    /// # Errors
    /// If memory is short or the machine cannot establish the cache state.
    pub fn new(
        family: Family,
        condition: &'a Condition,
        members: &[(&Verified<'_>, u64)],
        buffers: &mut Buffers,
        caches: &CacheSizes,
        seed: u64,
        status: &StatusPage,
    ) -> Result<Bench<'a>, BenchError> {
        forked::arm();
        // Failures while filling buffers are not attributed to a subject. The time for filling is
        // proportional to the bytes.
        let detail = memory_bytes(std::iter::once((family, condition)), caches);
        status.set(Now { subject: u64::MAX, phase: Phase::Time as u64, detail, ..Now::default() });
        if condition.cache.method == CacheMethod::Clflush && !cfg!(target_arch = "x86_64") {
            return Err(BenchError::Unsupported(
                "cold:clflush needs an x86-64 CPU; use cold:evict or cold:arena".into(),
            ));
        }
        if condition.offsets == Offsets::Alias && !(family.reads() && family.writes()) {
            return Err(BenchError::Unsupported(format!(
                "--offsets alias needs a destination and a source; {family} has one buffer"
            )));
        }
        let mut layout = Layout::new(family, condition, caches);
        let reach = |operand: &Operand| operand.hot_percent.is_some() && operand.bytes() > u32::MAX as usize;
        if layout.dst.iter().chain(&layout.src).any(reach) {
            return Err(BenchError::Unsupported(format!(
                "--cache {}: its buffers would take more than 4 GiB; use smaller sizes",
                condition.cache
            )));
        }
        let start = |held: &mut Option<buffers::Held>, operand: &Option<Operand>, page: usize| match operand {
            Some(operand) => {
                let arena = Buffers::hold(held, operand.bytes(), condition.pages, status)?;
                let before = match operand.place {
                    // The last slot ends with the arena.
                    Place::End => arena.len() - operand.span(),
                    Place::At(_) | Place::Page | Place::Line => {
                        page * carryline_machine::arena::page_bytes().min(4096)
                    }
                };
                Ok::<_, MapError>(arena.start().wrapping_add(before))
            }
            None => Ok(std::ptr::null_mut()),
        };
        let dst_start = start(&mut buffers.dst, &layout.dst, buffers.start_page[0])?;
        let src_start = start(&mut buffers.src, &layout.src, buffers.start_page[1])?;
        let evict = if layout.evicts(condition) {
            let bytes = caches.eviction() as usize;
            let base = Buffers::hold(&mut buffers.evict, bytes, Pages::Base, status)?.start();
            for held in [&mut buffers.dst, &mut buffers.src].into_iter().flatten() {
                held.arena.bring_back(&mut || status.beat());
            }
            // The lines of the arenas were just filled, or used by the last bench.
            // SAFETY: mapped, that long, and used by nothing else.
            unsafe { prepare::evict(base, bytes, || {}) };
            (condition.cache.method == CacheMethod::Evict).then_some((base, bytes))
        } else {
            None
        };
        let victim = if let Then::Victim(bytes) = condition.then {
            let base = Buffers::hold(&mut buffers.victim, bytes as usize, Pages::Base, status)?.start();
            (base.cast_const(), bytes as usize)
        } else {
            (std::ptr::null(), 0)
        };
        let streamer = match condition.beside {
            Beside::Nothing => None,
            Beside::Stream => {
                let (measuring, allowed) = &buffers.cpus;
                Some(Streamer::stream(*measuring, allowed, caches.eviction(), &buffers.stream)?)
            }
        };
        let huge_bytes = [&layout.dst, &layout.src]
            .iter()
            .zip([&buffers.dst, &buffers.src])
            .filter(|(operand, _)| operand.is_some())
            .map(|(_, held)| held.as_ref().and_then(|held| held.arena.huge_bytes()))
            .sum::<Option<usize>>()
            .map(|bytes| bytes as u64);

        let longest_list = layout.listed(2 * layout.most_calls * condition.segments.len().max(1));
        let mut calls = if layout.uniform {
            vec![Call::default(); WARM_CALLS]
        } else {
            vec![Call::default(); longest_list]
        };
        let null = Member {
            landing: Landing::Routine(carryline_variants::null::routine(family)),
            subject: u64::MAX,
            lengths: Lengths::Any,
        };
        let member = |(verified, subject): &(&Verified<'_>, u64)| Member {
            landing: verified.landing(),
            subject: *subject,
            lengths: verified.subject().lengths(),
        };
        let members: Vec<Member> = std::iter::once(null).chain(members.iter().map(member)).collect();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        layout.reseed(rng.next_u64());
        let sizes = SizeSource::new(&condition.sizes);
        if layout.period.is_some() {
            draw_calls(&layout, condition, &sizes, &mut rng, &mut calls);
        }
        Ok(Bench {
            sizes,
            order: (0..members.len()).collect(),
            members,
            family,
            shifted: if condition.cache.mixed().is_some() { calls.clone() } else { Vec::new() },
            calls,
            dst_start,
            src_start,
            start_page: buffers.start_page,
            round_page: buffers.start_page,
            evict,
            victim,
            streamer,
            huge_bytes,
            level: workload::level_of(family, condition, caches),
            between: workload::is_between(&layout, condition, caches),
            cached_bytes: caches.l3 as usize,
            placement: below(&mut rng, loops::PLACEMENTS),
            batch_calls: 1,
            batches: 0,
            rounds: 0,
            overhead_ticks: clock::overhead_ticks(),
            seed,
            rng,
            seen: Seen::new(),
            layout,
            condition,
        })
    }

    /// The number of samples in a round: the members in the given order, without the null call.
    #[must_use]
    pub fn members(&self) -> usize {
        self.members.len() - 1
    }

    /// Chooses the number of calls in a batch, if the condition does not state it, from the speed of each
    /// member and the available time, and runs untimed rounds until the times are steady. Returns false if
    /// they did not become steady within a quarter of the slice.
    pub fn calibrate(&mut self, slice: Duration, ticks_per_ns: f64, status: &StatusPage) -> bool {
        let begin = Instant::now();
        let ticks = |time: Duration| time.as_nanos() as f64 * ticks_per_ns;
        // The speed of each member, from a batch that grows until it is long enough to measure.
        let mut fastest = f64::INFINITY;
        let mut together = 0.0;
        for member in 0..self.members.len() {
            let mut calls = if self.layout.stated { self.layout.most_calls } else { 1 };
            let per_call = loop {
                self.batch_calls = calls;
                let gross = self.batch(member, 1, status);
                let enough = gross * calls as f64 >= ticks(SHORTEST_BATCH) || calls >= self.layout.most_calls;
                if enough || begin.elapsed() > slice / 4 {
                    break gross.max(0.5);
                }
                calls = (calls * 4).min(self.layout.most_calls);
            };
            if member > 0 {
                fastest = f64::min(fastest, per_call);
            }
            together += per_call;
        }
        if !fastest.is_finite() {
            fastest = together.max(1.0);
        }
        let shortest = (ticks(SHORTEST_BATCH) / fastest).ceil().max(1.0);
        let [aimed, longest] = AIMED_BATCH.map(|time| (ticks(time) / fastest).ceil());
        // Each round counts one and a half times: for batches with twice the calls, and the work between
        // batches.
        let rounds_of = |rounds: u32| ticks(slice) / f64::from(rounds) / 1.5 / together;
        let affordable = rounds_of(AIMED_ROUNDS);
        let aimed = aimed.max(rounds_of(MOST_ROUNDS)).min(longest);
        self.batch_calls = (aimed.min(affordable).max(shortest) as usize).clamp(1, self.layout.most_calls);
        if let Some(period) = self.layout.period {
            self.batch_calls = period;
        } else if self.layout.stated {
            self.batch_calls = self.layout.most_calls;
        } else if !self.layout.uniform {
            // A list is drawn completely if that is cheap or there is time: a short one is a poor sample of
            // the sizes.
            let cheap = (ticks(CHEAP_LIST) * self.members.len() as f64 / together) as usize;
            let least = cheap.max(LEAST_LIST).min(self.layout.most_calls);
            self.batch_calls = (affordable as usize).clamp(least, self.layout.most_calls);
        }

        // Rounds so long that the slice holds few of them are past all warm-up effects.
        if together * self.batch_calls as f64 > ticks(slice) / f64::from(AIMED_ROUNDS) / 2.0 {
            return true;
        }
        let mut totals = [0.0; WARM_ROUNDS];
        for round in 0..WARM_ROUNDS {
            for member in 0..self.members.len() {
                totals[round] += self.batch(member, 1, status);
            }
            if statistics::steady(&totals[..=round]) {
                return true;
            }
            if begin.elapsed() > slice / 4 {
                break;
            }
        }
        false
    }

    /// Runs one round: a batch of every member in random order. Every second round has batches with twice the
    /// calls.
    ///
    /// # Panics
    /// If `round` does not have [`Bench::members`] samples.
    pub fn round(&mut self, round: &mut Round, counter: Option<&mut CycleCounter>, status: &StatusPage) {
        assert_eq!(round.samples.len(), self.members(), "one sample per member");
        round.number = self.rounds;
        let multiplier = if self.rounds % 2 == 1 && self.layout.doubles { 2 } else { 1 };
        self.rounds += 1;
        // The number of batches before the first round depends on the time that they take, and must not decide what is drawn.
        self.rng =
            Xoshiro256PlusPlus::seed_from_u64(self.seed ^ u64::from(self.rounds).wrapping_mul(GOLDEN_RATIO));
        let mut counter = counter;
        let mut counted_cycles = 0;
        let mut counted_ticks = 0;
        let before = clock::ticks_per_cycle();
        let mut null_ticks = 0.0;
        shuffle(&mut self.rng, &mut self.order);
        self.round_page = self.layout.start_pages(self.start_page, &mut self.rng);
        if !self.layout.uniform {
            let entries = self.entries(multiplier);
            let calls = &mut self.calls[..self.layout.listed(entries)];
            if self.layout.period.is_none() {
                draw_calls(&self.layout, self.condition, &self.sizes, &mut self.rng, calls);
            }
            self.seen.note(&calls[..entries], &self.layout, self.batches);
        }
        for at in 0..self.order.len() {
            let member = self.order[at];
            let count =
                |counter: &mut Option<&mut CycleCounter>| counter.as_mut().and_then(|c| c.read().ok());
            let cycles = count(&mut counter);
            let ticks = if cycles.is_some() { clock::start() } else { 0 };
            let gross = self.batch(member, multiplier, status);
            if let (Some(from), Some(to)) = (cycles, count(&mut counter)) {
                counted_cycles += to - from;
                counted_ticks += clock::stop() - ticks;
            }
            match member {
                0 => null_ticks = gross,
                _ => round.samples[member - 1] = gross,
            }
        }
        let after = clock::ticks_per_cycle();
        let counted = counted_cycles > 0;
        round.ticks_per_cycle = match (before, after) {
            _ if counted => counted_ticks as f64 / counted_cycles as f64,
            (Some(before), Some(after)) => f64::midpoint(before, after),
            _ => 0.0,
        };
        (round.multiplier, round.null_ticks, round.counted) = (multiplier, null_ticks, counted);
    }
}

#[cfg(test)]
mod tests;
