//! The order in which other threads see stores, which no intent may change.

use super::usable;
use crate::intent::{Plan, Way};
use crate::{copy, zero};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that two threads access in turn.
struct Shared {
    bytes: Vec<u8>,
    start: *mut u8,
    turn: AtomicUsize,
}

// SAFETY: a thread accesses the memory only after waiting for its turn, and only that thread passes the turn
// on.
unsafe impl Sync for Shared {}

impl Shared {
    fn new(bytes: usize) -> Shared {
        let mut bytes = vec![0xff; bytes];
        Shared { start: bytes.as_mut_ptr(), bytes, turn: AtomicUsize::new(0) }
    }

    fn start(&self) -> *mut u8 {
        self.start
    }

    fn wait_for(&self, turn: usize) {
        while self.turn.load(Ordering::Acquire) != turn {
            // If both threads share a CPU, busy waiting would last a time slice.
            std::thread::yield_now();
        }
    }

    fn pass(&self, turn: usize) {
        self.turn.store(turn, Ordering::Release);
    }
}

/// One thread writes with non-temporal stores and passes the turn with an ordinary store; the other checks
/// the bytes and makes the memory dirty again.
fn publish(write: impl Fn(*mut u8, usize) + Sync, expected: impl Fn(usize) -> u8) {
    let shared = &Shared::new(BYTES);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                shared.wait_for(2 * round);
                write(shared.start(), round);
                shared.pass(2 * round + 1);
            }
        });
        for round in 0..ROUNDS {
            shared.wait_for(2 * round + 1);
            // SAFETY: the memory lives in `shared`, and it is this thread's turn.
            let bytes = unsafe { std::slice::from_raw_parts_mut(shared.start(), shared.bytes.len()) };
            // The bytes written last are those that an unfenced store would deliver late.
            let stale = bytes.iter().rposition(|seen| *seen != expected(round));
            bytes.fill(0xff);
            // Passes the turn first, so that a failure does not block the other thread.
            shared.pass(2 * round + 2);
            assert_eq!(stale, None, "round {round}: a stale byte");
        }
    });
}

const ROUNDS: usize = 3000;
const BYTES: usize = 5000;
const NON_TEMPORAL: Plan = Plan { way: Way::NonTemporal, source_done: true, fetched: false };

#[test]
fn non_temporal_zeros_are_seen_before_a_later_store() {
    for kernel in usable(zero::kernels::KERNELS) {
        for way in [Way::NonTemporal, Way::Clzero] {
            let plan = Plan { way, source_done: false, fetched: false };
            // SAFETY: the memory has `BYTES` bytes; the CPU has what the kernel needs.
            publish(|dst, _| unsafe { (kernel.function.planned)(dst, BYTES, plan) }, |_| 0);
        }
    }
}

#[test]
fn non_temporal_copies_are_seen_before_a_later_store() {
    let sources: Vec<Vec<u8>> = (0..16).map(|byte| vec![byte; BYTES]).collect();
    for kernel in usable(copy::kernels::KERNELS) {
        let write = |dst, round: usize| {
            // SAFETY: the memory has `BYTES` bytes; the CPU has what the kernel needs.
            unsafe { (kernel.function.planned)(dst, sources[round % 16].as_ptr(), BYTES, NON_TEMPORAL) }
        };
        publish(write, |round| (round % 16) as u8);
    }
}

#[test]
fn unfenced_stores_are_seen_after_a_drain() {
    let write = |dst: *mut u8, _| {
        for piece in 0..5 {
            // SAFETY: five pieces of the memory; `drain` follows.
            unsafe {
                zero::fill_raw_unfenced(
                    dst.add(piece * 1000),
                    1000,
                    crate::Intent::new(crate::Next::NotSoon).part_of(BYTES),
                )
            };
        }
        crate::drain();
    };
    publish(write, |_| 0);
}
