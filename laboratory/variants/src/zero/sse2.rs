//! 16-byte vector stores, which every x86-64 CPU has.
//!
//! The first and the last vector are unaligned and may overlap the aligned ones between them:
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
    routine: Routine::Zero(run),
    needs: Features::SSE2,
    summary: "16-byte aligned stores, four per iteration",
    provenance: "Intel's Optimization Reference Manual, on memset with SSE",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "sse2")]
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    use core::arch::x86_64::{__m128i, _mm_setzero_si128, _mm_store_si128, _mm_storeu_si128};
    if len < 16 {
        // SAFETY: the caller owns len writable bytes, fewer than 16.
        return unsafe { edges::zero_below_16(dst, len) };
    }
    let zero = _mm_setzero_si128();
    // SAFETY: at least 16 bytes, so the head fits. The first boundary after dst is at most at dst + 16,
    // which is not past the end; every aligned store has its bytes left before the end; the tail ends at the
    // end.
    unsafe {
        _mm_storeu_si128(dst.cast(), zero);
        let end = dst.add(len);
        let mut at = dst.add(16 - (dst as usize & (16 - 1))).cast::<__m128i>();
        let mut left = end as usize - at as usize;
        while left >= 4 * 16 {
            _mm_store_si128(at, zero);
            _mm_store_si128(at.add(1), zero);
            _mm_store_si128(at.add(2), zero);
            _mm_store_si128(at.add(3), zero);
            at = at.add(4);
            left = edges::keep_loop(left - 4 * 16);
        }
        while left >= 16 {
            _mm_store_si128(at, zero);
            at = at.add(1);
            left = edges::keep_loop(left - 16);
        }
        _mm_storeu_si128(end.sub(16).cast(), zero);
    }
}
