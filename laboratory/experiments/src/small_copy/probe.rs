//! 48 bytes, the arguments of a system call, copied in every way that a kernel could use.
//!
//! Modes:
//! - `independent`: copies that do not wait for each other, both buffers hot;
//! - `chained`: each copy reads what the previous one wrote;
//! - `missing`: the source is flushed from all caches, with fences around each copy; the destination is hot;
//! - `random`: 1 to 96 bytes, drawn anew for every batch and therefore unpredictable, the same for every method; buffers hot, calls
//!   independent; only for methods that take any length.
//!
//! A fixed length is known at compile time, except for the calls and for `rep movsb, variable`. The empty
//! series, `nothing`, is the loop alone.

use carryline_engine::probe::{Impossible, Probe, Rounds, Setup};

/// See the module.
pub static PROBE: Probe =
    Probe { name: "small_copy", what: "48 bytes by every method, fixed and unpredictable", start };

/// The methods, in the order of the table.
pub const METHODS: [&str; 9] = [
    "nothing",
    "rep movsb",
    "rep movsb, variable",
    "rep movsq",
    "32-bit registers",
    "64-bit registers",
    "SSE registers",
    "a call: libc",
    "a call: carryline",
];
/// The modes, in the order of the table.
pub const MODES: [&str; 4] = ["independent", "chained", "missing", "random"];
/// The largest random length.
pub const MOST_BYTES: usize = 96;

/// The name of a series.
#[must_use]
pub fn name(method: &str, mode: &str) -> String {
    format!("{method}, {mode}")
}

/// Whether the method takes any length.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn takes_any_length(method: &str) -> bool {
    matches!(method, "nothing" | "rep movsb, variable" | "a call: libc" | "a call: carryline")
}

#[cfg(not(target_arch = "x86_64"))]
fn start(_setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    Err(Impossible("string instructions are x86-64 code".to_owned()))
}

#[cfg(target_arch = "x86_64")]
fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
    x86::start(setup)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::BYTES;
    use super::super::copies::{
        movsb, movsb_48, movsb_any_48, movsq_48, nothing, registers_32, registers_64, sse,
    };
    use super::{METHODS, MODES, MOST_BYTES, name, takes_any_length};
    use crate::batches::{Batches, Timed, flush_range};
    use carryline_engine::probe::{Impossible, Rounds, Setup};
    use carryline_machine::arena::{Arena, Pages};
    use carryline_machine::clock;
    use carryline_statistics::{below, shuffle};
    use carryline_variants::Family;
    use carryline_verification::Copying;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::cell::RefCell;
    use std::hint::black_box;
    use std::rc::Rc;

    const CALLS: u32 = 1000;
    /// The uncached sources, each on its own page and used in random order, so that no prefetcher predicts
    /// them.
    const MISSES: usize = 64;
    const SLOT: usize = 4096 + 3 * 64;
    /// The offset of the sources: half a page past a page boundary, as in `string_startup`.
    const SOURCES: usize = (4 << 10) + 2048;
    const ROOM: usize = SOURCES + MISSES * SLOT;

    pub(super) fn start(setup: &Setup<'_>) -> Result<Box<dyn Rounds>, Impossible> {
        let mut arena = Arena::new(ROOM, Pages::Base)?;
        arena.prefault();
        let arena = Rc::new(arena);
        let calls = [verified(setup, "libc_memcpy")?, verified(setup, "carryline")?];
        let mut slots: Vec<usize> = (0..MISSES).collect();
        shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(!setup.seed), &mut slots);
        let missing = Rc::new(slots);
        let mut all = Vec::new();
        for (method, label) in METHODS.into_iter().enumerate() {
            let call = calls[usize::from(method == 8)];
            for mode in MODES {
                if mode == "random" && !takes_any_length(label) {
                    continue;
                }
                let title = name(label, mode);
                all.push(series(title.clone(), method, mode, &arena, call, (setup.seed, missing.clone())));
                if title == "rep movsb, independent" {
                    all.push(series(
                        format!("{title} again"),
                        method,
                        mode,
                        &arena,
                        call,
                        Default::default(),
                    ));
                }
            }
        }
        Ok(Box::new(Batches::new(setup, all).twin("rep movsb, independent")))
    }

    /// The lengths of a batch: the same for every series.
    fn lengths_of(seed: u64, batch: u64) -> Vec<usize> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ batch);
        (0..CALLS).map(|_| 1 + below(&mut rng, MOST_BYTES)).collect()
    }

    fn verified(setup: &Setup<'_>, variant: &str) -> Result<Copying, Impossible> {
        let copying = setup.verified(Family::Copy, variant)?.copying();
        copying.ok_or_else(|| Impossible(format!("copy/{variant} copies nothing")))
    }

    fn series(
        title: String,
        method: usize,
        mode: &str,
        arena: &Rc<Arena>,
        call: Copying,
        (seed, slots): (u64, Rc<Vec<usize>>),
    ) -> Timed {
        let (destination, source) = (arena.start(), arena.start().wrapping_add(SOURCES));
        let (kept, flushed) = (arena.clone(), arena.clone());
        match mode {
            "independent" => Timed::new(title, CALLS, move |times| {
                let _kept = &kept;
                // SAFETY: both are 48 bytes of the arena, not overlapping; nothing else accesses it.
                unsafe { repeat(method, destination, source, times, call) };
            }),
            "chained" => Timed::new(title, CALLS, move |times| {
                let _kept = &kept;
                // SAFETY: both are 48 bytes of the arena, not overlapping, readable and writable; nothing
                // else accesses it.
                unsafe { there_and_back(method, destination, source, times, call) };
            }),
            "missing" => Timed::new(title, MISSES as u32, move |times| {
                let _kept = &kept;
                for slot in slots.iter().take(times as usize) {
                    clock::fence();
                    // SAFETY: MISSES slots of the arena follow SOURCES; the destination is before them.
                    unsafe { repeat(method, destination, source.wrapping_add(slot * SLOT), 1, call) };
                    clock::fence();
                }
            })
            .before(move || {
                let _kept = &flushed;
                // SAFETY: the slots and the destination's line are in the arena.
                unsafe {
                    flush_range(source, MISSES * SLOT);
                    destination.write_volatile(destination.read_volatile());
                }
            }),
            _ => {
                let lengths = Rc::new(RefCell::new(Vec::new()));
                let (drawn, mut batch) = (lengths.clone(), 0);
                Timed::new(title, CALLS, move |times| {
                    let _kept = &kept;
                    for len in lengths.borrow().iter().take(times as usize) {
                        // SAFETY: at most 96 bytes of the arena on both sides, not overlapping.
                        unsafe { once_of(method, destination, source, *len, call) };
                    }
                })
                .before(move || {
                    *drawn.borrow_mut() = lengths_of(seed, batch);
                    batch += 1;
                })
            }
        }
    }

    /// # Safety
    /// 48 bytes are readable at `src` and writable at `dst`, not overlapping.
    unsafe fn repeat(method: usize, dst: *mut u8, src: *const u8, times: u32, call: Copying) {
        macro_rules! each {
            ($($number:literal => $copy:expr),+; $otherwise:expr) => {
                match method {
                    $($number => for _ in 0..times { $copy(dst, src) },)+
                    _ => for _ in 0..times { $otherwise },
                }
            };
        }
        // SAFETY: each copies BYTES (48) bytes, which the caller gives on both sides, not overlapping.
        unsafe {
            each!(
                0 => nothing, 1 => movsb_48, 2 => movsb_any_48, 3 => movsq_48, 4 => registers_32, 5 => registers_64, 6 => sse;
                black_box(call).call(dst, src, black_box(BYTES))
            );
        }
    }

    /// # Safety
    /// 48 bytes are readable and writable at both pointers, not overlapping.
    unsafe fn there_and_back(method: usize, one: *mut u8, other: *mut u8, times: u32, call: Copying) {
        macro_rules! each {
            ($($number:literal => $copy:expr),+; $otherwise:expr) => {
                match method {
                    $($number => for _ in 0..times / 2 { $copy(one, other); $copy(other, one) },)+
                    _ => for _ in 0..times / 2 { $otherwise(one, other); $otherwise(other, one) },
                }
            };
        }
        let called = |dst: *mut u8, src: *mut u8| {
            // SAFETY: 48 bytes, which the caller gives at both pointers, not overlapping.
            unsafe { black_box(call).call(dst, src, black_box(BYTES)) }
        };
        // SAFETY: each copies 48 bytes in one direction; the caller gives both readable and writable, not
        // overlapping.
        unsafe {
            each!(
                0 => nothing, 1 => movsb_48, 2 => movsb_any_48, 3 => movsq_48, 4 => registers_32, 5 => registers_64, 6 => sse;
                called
            );
        }
    }

    /// # Safety
    /// `len` bytes are readable at `src` and writable at `dst`, not overlapping.
    #[inline(always)]
    unsafe fn once_of(method: usize, dst: *mut u8, src: *const u8, len: usize, call: Copying) {
        // SAFETY: the caller gives `len` bytes on both sides, not overlapping.
        unsafe {
            match method {
                0 => nothing(dst, src),
                2 => movsb(dst, src, len),
                _ => call.call(dst, src, len),
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::testing::setup;
        use carryline_verification::status::StatusPage;

        fn libc_copy() -> Copying {
            let status = StatusPage::create().expect("a page");
            verified(&setup(&serde_json::Value::Null, &status), "libc_memcpy").expect("it copies")
        }

        #[test]
        fn every_batch_has_lengths_of_its_own() {
            let [first, second] = [0, 1].map(|batch| lengths_of(7, batch));
            assert_ne!(first, second);
            assert_eq!(first, lengths_of(7, 0), "for every method");
            assert_eq!(first.len(), CALLS as usize);
            assert!(first.iter().all(|len| (1..=MOST_BYTES).contains(len)));
        }

        #[test]
        fn every_method_copies_48_bytes_and_no_other() {
            let libc_copy = libc_copy();
            for (method, label) in METHODS.into_iter().enumerate().skip(1) {
                let mut source: Vec<u8> = (0..200_u32).map(|n| n as u8 + 1).collect();
                let mut got = vec![0xee_u8; 200];
                // SAFETY: 200 bytes on both sides.
                unsafe { repeat(method, got[3..].as_mut_ptr(), source[5..].as_ptr(), 2, libc_copy) };
                let mut wanted = vec![0xee_u8; 200];
                wanted[3..3 + BYTES].copy_from_slice(&source[5..5 + BYTES]);
                assert_eq!(got, wanted, "{}", label);
                // The first buffer gets the contents of the second.
                let held = source.clone();
                // SAFETY: 48 of 200 bytes of either vector, both exclusively borrowed.
                unsafe {
                    there_and_back(method, got[3..].as_mut_ptr(), source[50..].as_mut_ptr(), 4, libc_copy)
                };
                assert_eq!((&got[3..51], &source), (&held[50..98], &held), "{}", label);
                if takes_any_length(label) {
                    got.fill(0xee);
                    // SAFETY: 96 bytes from 3 and from 5 lie inside 200 on both sides.
                    unsafe { once_of(method, got[3..].as_mut_ptr(), source[5..].as_ptr(), 96, libc_copy) };
                    assert_eq!((&got[3..99], got[99]), (&source[5..101], 0xee), "{}", label);
                }
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use crate::testing::setup;
    use carryline_verification::status::StatusPage;

    #[test]
    fn every_method_has_its_modes() {
        let status = StatusPage::create().expect("a page");
        let mut rounds = start(&setup(&serde_json::Value::Null, &status)).expect("x86-64 has them");
        let series = rounds.series();
        for method in METHODS {
            for mode in MODES {
                let there = series.iter().any(|one| one.name == name(method, mode));
                assert_eq!(there, mode != "random" || takes_any_length(method), "{method}, {mode}");
            }
        }
        assert_eq!(rounds.twins().len(), 1);
        let samples = rounds.round(&status).expect("a round");
        assert!(samples.len() == series.len() && samples.iter().all(|sample| sample.is_finite()));
    }
}
