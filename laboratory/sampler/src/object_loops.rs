//! Timing loops from a shared object: for code that exists only in place, such as a copy inlined by the
//! compiler, which a function pointer can only reach by adding the very call that inlining saves.
//!
//! The members of a comparison are functions `void loop(void *dst, const void *src, uint64_t turns)` that
//! copy or zero a fixed number of bytes in every iteration. Each is checked before it is timed; then each
//! round times every member once, in random order, at the same random offsets. Use the sampler for anything
//! that can be called: it controls far more conditions. The object's code runs in this process, so this must
//! happen in a worker.

use carryline_machine::arena::{Arena, Pages};
use carryline_machine::{clock, process};
use carryline_statistics::shuffle;
use carryline_verification::plugin::open_library;
use carryline_verification::status::{Now, Phase, StatusPage};
use libloading::os::unix::Library;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// `void loop(void *dst, const void *src, uint64_t turns)`.
type Loop = unsafe extern "C" fn(dst: *mut u8, src: *const u8, turns: u64);

/// The work of one replicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoopsJob {
    /// The shared object.
    pub file: PathBuf,
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
    /// Determines the order and the offsets.
    pub seed: u64,
    /// The total time for all comparisons, in milliseconds.
    pub total_ms: u64,
    /// The logical CPU to run on, if any.
    pub cpu: Option<usize>,
}

/// Loops for the same job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The loops' symbols.
    pub members: Vec<String>,
    /// The bytes copied or zeroed per iteration, at most [`MOST_BYTES`].
    pub size: u32,
    /// Whether an iteration zeroes rather than copies.
    pub zeroes: bool,
}

/// The maximum bytes of an iteration.
pub const MOST_BYTES: u32 = 1024;

/// The outcome of a comparison in one replicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Compared {
    /// Ticks per iteration, by round and member.
    Rounds(Vec<Vec<f64>>),
    /// The reason that nothing was timed.
    Refused(String),
}

/// The length of a batch: short enough to avoid interruptions, long enough that the clock's resolution is
/// negligible.
const BATCH_NS: f64 = 3_000.0;
/// The range of rounds of a comparison in a replicate.
const ROUNDS: std::ops::Range<usize> = 8..64;
/// The number of checked bytes on either side of those that may be written.
const AROUND: usize = 64;

/// Runs the job and passes on the outcome of each comparison, by its index.
pub fn run(job: &LoopsJob, status: &StatusPage, send: &mut dyn FnMut(usize, Compared)) {
    let _measured_even_if_not_pinned = job.cpu.map(process::pin);
    let reject_all = |reason: String, send: &mut dyn FnMut(usize, Compared)| {
        for index in 0..job.comparisons.len() {
            send(index, Compared::Refused(reason.clone()));
        }
    };
    status.set(Now { phase: Phase::Load as u64, subject: u64::MAX, ..Now::default() });
    let library = match open_library(&job.file) {
        Ok(library) => library,
        Err(error) => return reject_all(error.to_string(), send),
    };
    let mut timing = match Timing::new(job.seed) {
        Ok(timing) => timing,
        Err(error) => return reject_all(error.to_string(), send),
    };
    let deadline = Instant::now() + Duration::from_millis(job.total_ms);
    for (index, comparison) in job.comparisons.iter().enumerate() {
        let left = (job.comparisons.len() - index) as u32;
        let slice = deadline.saturating_duration_since(Instant::now()) / left;
        status.set(Now {
            phase: Phase::Time as u64,
            subject: index as u64,
            len: comparison.size.into(),
            ..Now::default()
        });
        let compared = match members(&library, comparison) {
            Ok(members) => timing.compare(comparison, &members, slice, status),
            Err(reason) => Err(reason),
        };
        send(index, compared.map_or_else(Compared::Refused, Compared::Rounds));
    }
    // A thread of the object may still run its code.
    std::mem::forget(library);
}

fn members(library: &Library, comparison: &Comparison) -> Result<Vec<Loop>, String> {
    if comparison.size > MOST_BYTES {
        return Err(format!("{} bytes are more than {MOST_BYTES}", comparison.size));
    }
    let find = |symbol: &String| {
        // SAFETY: the signature is that which this module's caller compiled; the following check detects a
        // wrong one.
        unsafe { library.get::<Loop>(symbol.as_str()) }
            .map(|found| *found)
            .map_err(|_| format!("the object has no symbol '{symbol}'"))
    };
    comparison.members.iter().map(find).collect()
}

/// Two buffers, and the state for timing.
struct Timing {
    arena: Arena,
    rng: Xoshiro256PlusPlus,
    ticks_per_ns: f64,
    overhead_ticks: f64,
}

/// The size of a buffer and its surroundings, at every offset.
const BUFFER_BYTES: usize = 4096;

impl Timing {
    fn new(seed: u64) -> Result<Timing, carryline_machine::arena::MapError> {
        let mut arena = Arena::new(2 * BUFFER_BYTES, Pages::Base)?;
        arena.prefault();
        Ok(Timing {
            arena,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            ticks_per_ns: clock::ticks_per_ns(Duration::from_millis(5)),
            overhead_ticks: clock::overhead_ticks(),
        })
    }

    /// A destination and a source, each at a random offset from a cache line.
    fn place(&mut self) -> (*mut u8, *mut u8) {
        let random = self.rng.next_u64();
        let at = |part: usize, offset: u64| {
            self.arena.start().wrapping_add(part * BUFFER_BYTES + AROUND + (offset % 64) as usize)
        };
        (at(0, random), at(1, random >> 6))
    }

    fn compare(
        &mut self,
        comparison: &Comparison,
        members: &[Loop],
        slice: Duration,
        status: &StatusPage,
    ) -> Result<Vec<Vec<f64>>, String> {
        let begin = Instant::now();
        for (member, symbol) in members.iter().zip(&comparison.members) {
            self.check(*member, comparison).map_err(|what| format!("'{symbol}' {what}"))?;
        }
        let turns = self.turns(members, status);
        let mut rounds = Vec::new();
        let mut order: Vec<usize> = (0..members.len()).collect();
        while rounds.len() < ROUNDS.end && (rounds.len() < ROUNDS.start || begin.elapsed() < slice) {
            shuffle(&mut self.rng, &mut order);
            let (dst, src) = self.place();
            let mut round = vec![0.0; members.len()];
            for member in &order {
                // The first iterations warm the code and the predictors after the other members.
                let _warm = self.batch(members[*member], dst, src, 16);
                round[*member] = self.batch(members[*member], dst, src, turns) / turns as f64;
            }
            rounds.push(round);
            status.beat();
        }
        Ok(rounds)
    }

    /// The ticks of `turns` iterations, without the cost of the clock.
    fn batch(&self, member: Loop, dst: *mut u8, src: *const u8, turns: u64) -> f64 {
        let begin = clock::start();
        // SAFETY: `check` has verified that this loop writes only its size at `dst`, and MOST_BYTES at either
        // pointer are within the arena: AROUND + 63 + MOST_BYTES < BUFFER_BYTES.
        unsafe { member(dst, src, turns) };
        (clock::stop().wrapping_sub(begin) as f64 - self.overhead_ticks).max(0.0)
    }

    /// The number of iterations with which the slowest member fills a batch.
    fn turns(&mut self, members: &[Loop], status: &StatusPage) -> u64 {
        let wanted = BATCH_NS * self.ticks_per_ns;
        let (dst, src) = self.place();
        let mut turns = 64;
        while turns < 1 << 20 {
            let slowest =
                members.iter().map(|member| self.batch(*member, dst, src, turns)).fold(0.0, f64::max);
            if slowest >= wanted {
                break;
            }
            status.beat();
            turns *= 2;
        }
        turns
    }

    /// Runs one iteration and checks every byte inside and around the destination.
    fn check(&mut self, member: Loop, comparison: &Comparison) -> Result<(), String> {
        let size = comparison.size as usize;
        let (dst, src) = self.place();
        let whole = size + 2 * AROUND;
        // SAFETY: as in `batch`; with AROUND bytes before and after, both ranges are within the arena, which
        // is accessed only through raw pointers.
        let (before, source, after) = unsafe {
            for at in 0..whole {
                dst.sub(AROUND).add(at).write_volatile(0xa5 ^ at as u8);
                src.sub(AROUND).add(at).write_volatile((at as u8).wrapping_mul(167) ^ 0x3c);
            }
            let copy = |from: *const u8| std::slice::from_raw_parts(from.sub(AROUND), whole).to_vec();
            let (before, source) = (copy(dst), copy(src));
            member(dst, src, 1);
            (before, source, copy(dst))
        };
        let inside = AROUND..AROUND + size;
        let expected = |at: usize| match (inside.contains(&at), comparison.zeroes) {
            (false, _) => before[at],
            (true, true) => 0,
            (true, false) => source[at],
        };
        match (0..whole).find(|at| after[*at] != expected(*at)) {
            Some(at) => Err(format!("writes a wrong byte at {}", at as i64 - AROUND as i64)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// # Safety
    /// 40 bytes are readable at `src` and writable at `dst`.
    unsafe extern "C" fn copies(dst: *mut u8, src: *const u8, turns: u64) {
        for _ in 0..turns {
            // SAFETY: 40 bytes, which the caller provides on both sides.
            unsafe { std::hint::black_box(dst).copy_from(src, 40) };
        }
    }

    /// # Safety
    /// 39 bytes are readable at `src` and writable at `dst`.
    unsafe extern "C" fn forgets_one(dst: *mut u8, src: *const u8, _turns: u64) {
        // SAFETY: 39 bytes, which the caller provides on both sides.
        unsafe { std::hint::black_box(dst).copy_from(src, 39) };
    }

    fn comparison(size: u32, zeroes: bool) -> Comparison {
        Comparison { members: vec!["one".into(), "other".into()], size, zeroes }
    }

    #[test]
    fn every_round_has_a_time_for_every_member() {
        let status = StatusPage::create().expect("a page");
        let mut timing = Timing::new(1).expect("memory");
        let rounds = timing
            .compare(&comparison(40, false), &[copies, copies], Duration::ZERO, &status)
            .expect("correct loops");
        assert_eq!(rounds.len(), ROUNDS.start, "the minimum without any time");
        assert!(rounds.iter().all(|round| round.len() == 2 && round.iter().all(|ticks| *ticks > 0.0)));
    }

    #[test]
    fn loops_that_fail_the_check_are_not_timed() {
        let status = StatusPage::create().expect("a page");
        let mut timing = Timing::new(1).expect("memory");
        let mut rejection = |comparison, member: Loop| {
            timing.compare(&comparison, &[copies, member], Duration::ZERO, &status).expect_err("wrong")
        };
        assert!(rejection(comparison(40, false), forgets_one).contains("'other' writes a wrong byte at 39"));
        assert!(rejection(comparison(39, false), copies).contains("'one' writes a wrong byte at 39"));
        assert!(rejection(comparison(40, true), copies).contains("wrong byte at 0"));
    }

    #[test]
    fn a_missing_object_rejects_every_comparison() {
        let status = StatusPage::create().expect("a page");
        let job = LoopsJob {
            file: "/nonexistent/loops.so".into(),
            comparisons: vec![comparison(40, false), comparison(41, true)],
            seed: 1,
            total_ms: 1,
            cpu: None,
        };
        let mut rejected = 0;
        run(&job, &status, &mut |_, compared| {
            rejected +=
                u32::from(matches!(compared, Compared::Refused(reason) if reason.contains("loops.so")));
        });
        assert_eq!(rejected, 2);
    }
}
