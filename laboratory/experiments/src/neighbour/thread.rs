//! The thread that zeroes memory next to the victim.

use carryline_machine::arena::Arena;
use carryline_verification::Zeroing;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The index of the mode that spins; the idle modes are below, the zeroing ones above.
pub(super) const SPINNING: usize = 2;
/// Bytes that the neighbour zeroes between two looks at the mode.
pub(super) const BLOCK: usize = 64 << 10;

/// The state shared by both threads.
#[derive(Default)]
pub(super) struct Shared {
    /// Index into [`MODES`](super::probe::MODES).
    pub(super) mode: AtomicUsize,
    /// Blocks done since the start.
    pub(super) blocks: AtomicU64,
    /// The CPU on which the neighbour last ran.
    pub(super) cpu: AtomicI32,
    pub(super) stop: AtomicBool,
}

/// The loop of the neighbour's thread.
pub(super) fn work(shared: &Shared, own: &Arena, bytes: usize, routines: &[Option<Zeroing>]) {
    let mut at = 0;
    while !shared.stop.load(Ordering::Acquire) {
        let mode = shared.mode.load(Ordering::Acquire);
        // SAFETY: has no preconditions; it only returns the number of the CPU.
        shared.cpu.store(unsafe { libc::sched_getcpu() }, Ordering::Relaxed);
        match mode.checked_sub(SPINNING) {
            // Idle: the thread sleeps, so that its core is idle.
            None => {
                shared.blocks.fetch_add(1, Ordering::Release);
                std::thread::park_timeout(Duration::from_millis(20));
            }
            Some(0) => {
                let mut turns = 0_u32;
                while turns < 4096 {
                    turns = std::hint::black_box(turns + 1);
                }
                shared.blocks.fetch_add(1, Ordering::Release);
            }
            Some(mode) => {
                if let Some(zero) = routines[mode - 1] {
                    // SAFETY: at + BLOCK <= bytes, the arena's length; only this thread uses the arena, and
                    // the routine is verified.
                    unsafe { zero.call(own.start().wrapping_add(at), BLOCK) };
                    at = (at + BLOCK) % bytes;
                }
                shared.blocks.fetch_add(1, Ordering::Release);
            }
        }
    }
}
