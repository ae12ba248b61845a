//! 16-byte vectors, which every x86-64 CPU has.
//!
//! Stores are aligned, loads need not be; four loads precede their four stores. The first and
//! the last vector are unaligned and may overlap the aligned ones between them:
//! ```text
//! [head, unaligned]
//!       [aligned][aligned][aligned][aligned] ... [aligned]
//!                                             [tail, unaligned]
//! ```

use crate::{Routine, Variant, edges};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "sse2",
    routine: Routine::Copy(run),
    needs: Features::SSE2,
    summary: "16-byte loads and aligned stores, four per iteration",
    provenance: "evans-2018: SSE in compilers' inlined copies",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "sse2")]
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_store_si128, _mm_storeu_si128};
    if len < 16 {
        // SAFETY: the caller owns len bytes on both sides, fewer than 16.
        return unsafe { edges::copy_below_16(dst, src, len) };
    }
    // SAFETY: at least 16 bytes, so the head fits. The first boundary after dst is skip <= 16 <= len bytes
    // away; every vector loaded and stored has its bytes left before the end of both buffers; the tail ends
    // at the end.
    unsafe {
        _mm_storeu_si128(dst.cast(), _mm_loadu_si128(src.cast()));
        let skip = 16 - (dst as usize & (16 - 1));
        let mut from = src.add(skip).cast::<__m128i>();
        let mut to = dst.add(skip).cast::<__m128i>();
        let mut left = len - skip;
        while left >= 4 * 16 {
            let first = _mm_loadu_si128(from);
            let second = _mm_loadu_si128(from.add(1));
            let third = _mm_loadu_si128(from.add(2));
            let fourth = _mm_loadu_si128(from.add(3));
            _mm_store_si128(to, first);
            _mm_store_si128(to.add(1), second);
            _mm_store_si128(to.add(2), third);
            _mm_store_si128(to.add(3), fourth);
            from = from.add(4);
            to = to.add(4);
            left = edges::keep_loop(left - 4 * 16);
        }
        while left >= 16 {
            _mm_store_si128(to, _mm_loadu_si128(from));
            from = from.add(1);
            to = to.add(1);
            left = edges::keep_loop(left - 16);
        }
        let last = len - 16;
        _mm_storeu_si128(dst.add(last).cast(), _mm_loadu_si128(src.add(last).cast()));
    }
}
