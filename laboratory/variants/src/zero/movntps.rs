//! `movntps`: non-temporal 16-byte stores, four to a cache line.
//!
//! The lines go to memory without being read first and do not stay in the caches. This is good for large
//! buffers that are not read soon, and slow for everything else, because the next reader of the buffer waits
//! for memory. The bytes before the first and after the last whole line are written by ordinary stores, so
//! that no line gets both kinds.

use crate::{Routine, Variant, edges};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "movntps",
    routine: Routine::Zero(run),
    needs: Features::SSE2,
    summary: "non-temporal 16-byte stores to whole lines, then sfence",
    provenance: "evans-2003: row zeroF",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "sse2")]
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    use core::arch::x86_64::{_mm_setzero_ps, _mm_sfence, _mm_stream_ps};
    let head = edges::bytes_to_boundary(dst, 64, len);
    let zero = _mm_setzero_ps();
    // SAFETY: head is less than 64 and at most len. After it every line starts at a multiple of 64 and has
    // 64 bytes left; fewer than 64 bytes remain. All of them are the caller's, and sfence orders the stores.
    unsafe {
        edges::zero_below_64(dst, head);
        let mut line = dst.add(head);
        let mut left = len - head;
        while left >= 64 {
            _mm_stream_ps(line.cast(), zero);
            _mm_stream_ps(line.add(16).cast(), zero);
            _mm_stream_ps(line.add(32).cast(), zero);
            _mm_stream_ps(line.add(48).cast(), zero);
            line = line.add(64);
            left = edges::keep_loop(left - 64);
        }
        edges::zero_below_64(line, left);
        _mm_sfence();
    }
}
