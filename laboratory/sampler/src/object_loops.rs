//! Timing loops that a shared object brings with it: for code that only exists in place, such as a copy that a compiler
//! has inlined, which no function pointer can reach without adding the very call that it saves.
//!
//! A comparison's members are functions `void loop(void *dst, const void *src, uint64_t turns)` that copy, or zero, a
//! fixed number of bytes in every turn. Each is checked before it is timed; then rounds time every member once, in random
//! order, at the same random offsets. When not to use it: for anything that can be called; the sampler holds far more
//! fixed. The object's code runs in this process, so this belongs into a worker.

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

/// One replicate's work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LoopsJob {
    /// The shared object.
    pub file: PathBuf,
    /// What to compare.
    pub comparisons: Vec<Comparison>,
    /// Decides order and offsets.
    pub seed: u64,
    /// Time for all of them together.
    pub total_ms: u64,
    /// The logical CPU to stay on, if any.
    pub cpu: Option<usize>,
}

/// Loops that do the same job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// The loops' symbols.
    pub members: Vec<String>,
    /// Bytes copied or zeroed in a turn, [`MOST_BYTES`] at most.
    pub size: u32,
    /// True if a turn zeroes, false if it copies.
    pub zeroes: bool,
}

/// The largest job of a turn.
pub const MOST_BYTES: u32 = 1024;

/// What came of a comparison in one replicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Compared {
    /// Ticks per turn, by round and member.
    Rounds(Vec<Vec<f64>>),
    /// Why nothing was timed.
    Refused(String),
}

/// A batch lasts so long: short enough for a quiet moment, long enough that the clock's steps do not show.
const BATCH_NS: f64 = 3_000.0;
/// Maximum rounds of a comparison in a replicate.
const ROUNDS: std::ops::Range<usize> = 8..64;
/// Bytes looked at on either side of what may be written.
const AROUND: usize = 64;

/// Does the job and hands over what came of each comparison, by its index.
pub fn run(job: &LoopsJob, status: &StatusPage, send: &mut dyn FnMut(usize, Compared)) {
    let _measured_all_the_same = job.cpu.map(process::pin);
    let refuse_all = |reason: String, send: &mut dyn FnMut(usize, Compared)| {
        for index in 0..job.comparisons.len() {
            send(index, Compared::Refused(reason.clone()));
        }
    };
    status.set(Now { phase: Phase::Load as u64, subject: u64::MAX, ..Now::default() });
    let library = match open_library(&job.file) {
        Ok(library) => library,
        Err(error) => return refuse_all(error.to_string(), send),
    };
    let mut timing = match Timing::new(job.seed) {
        Ok(timing) => timing,
        Err(error) => return refuse_all(error.to_string(), send),
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
    // A thread of the object's own may still run its code.
    std::mem::forget(library);
}

fn members(library: &Library, comparison: &Comparison) -> Result<Vec<Loop>, String> {
    if comparison.size > MOST_BYTES {
        return Err(format!("{} bytes are more than {MOST_BYTES}", comparison.size));
    }
    let find = |symbol: &String| {
        // SAFETY: the signature is what this module's caller compiled; the check that follows is there to find out.
        unsafe { library.get::<Loop>(symbol.as_str()) }
            .map(|found| *found)
            .map_err(|_| format!("the object has no symbol '{symbol}'"))
    };
    comparison.members.iter().map(find).collect()
}

/// Two buffers, and what timing needs.
struct Timing {
    arena: Arena,
    rng: Xoshiro256PlusPlus,
    ticks_per_ns: f64,
    overhead_ticks: f64,
}

/// Each buffer with its surroundings, at every offset.
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

    /// A destination and a source, each at a random offset from a line.
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
                // The first turns find the code and the predictors as the others left them.
                let _warm = self.batch(members[*member], dst, src, 16);
                round[*member] = self.batch(members[*member], dst, src, turns) / turns as f64;
            }
            rounds.push(round);
            status.beat();
        }
        Ok(rounds)
    }

    /// Ticks of the given number of iterations, minus the cost of the clock.
    fn batch(&self, member: Loop, dst: *mut u8, src: *const u8, turns: u64) -> f64 {
        let begin = clock::start();
        // SAFETY: `check` has seen this loop write its size at `dst` alone, and MOST_BYTES from either pointer lie
        // within the arena: AROUND + 63 + MOST_BYTES < BUFFER_BYTES.
        unsafe { member(dst, src, turns) };
        (clock::stop().wrapping_sub(begin) as f64 - self.overhead_ticks).max(0.0)
    }

    /// How many turns of the slowest member fill a batch.
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

    /// Runs one turn and looks at every byte it may and may not write.
    fn check(&mut self, member: Loop, comparison: &Comparison) -> Result<(), String> {
        let size = comparison.size as usize;
        let (dst, src) = self.place();
        let whole = size + 2 * AROUND;
        // SAFETY: as in `batch`; with AROUND bytes before and behind, both ranges lie within the arena, which only raw
        // pointers reach.
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
        let right = |at: usize| match (inside.contains(&at), comparison.zeroes) {
            (false, _) => before[at],
            (true, true) => 0,
            (true, false) => source[at],
        };
        match (0..whole).find(|at| after[*at] != right(*at)) {
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
            // SAFETY: 40 bytes, which the caller gives on both sides.
            unsafe { std::hint::black_box(dst).copy_from(src, 40) };
        }
    }

    /// # Safety
    /// 39 bytes are readable at `src` and writable at `dst`.
    unsafe extern "C" fn forgets_one(dst: *mut u8, src: *const u8, _turns: u64) {
        // SAFETY: 39 bytes, which the caller gives on both sides.
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
            .expect("right loops");
        assert_eq!(rounds.len(), ROUNDS.start, "what a replicate gets without any time");
        assert!(rounds.iter().all(|round| round.len() == 2 && round.iter().all(|ticks| *ticks > 0.0)));
    }

    #[test]
    fn what_does_not_do_its_job_is_not_timed() {
        let status = StatusPage::create().expect("a page");
        let mut timing = Timing::new(1).expect("memory");
        let mut refusal = |comparison, member: Loop| {
            timing.compare(&comparison, &[copies, member], Duration::ZERO, &status).expect_err("wrong")
        };
        assert!(refusal(comparison(40, false), forgets_one).contains("'other' writes a wrong byte at 39"));
        assert!(refusal(comparison(39, false), copies).contains("'one' writes a wrong byte at 39"));
        assert!(refusal(comparison(40, true), copies).contains("wrong byte at 0"));
    }

    #[test]
    fn an_object_that_is_not_there_refuses_every_comparison() {
        let status = StatusPage::create().expect("a page");
        let job = LoopsJob {
            file: "/nonexistent/loops.so".into(),
            comparisons: vec![comparison(40, false), comparison(41, true)],
            seed: 1,
            total_ms: 1,
            cpu: None,
        };
        let mut refused = 0;
        run(&job, &status, &mut |_, compared| {
            refused +=
                u32::from(matches!(compared, Compared::Refused(reason) if reason.contains("loops.so")));
        });
        assert_eq!(refused, 2);
    }
}
