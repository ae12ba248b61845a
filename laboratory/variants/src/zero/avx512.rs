//! 64-byte vector stores: a whole cache line each, never split once aligned.
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
    name: "avx512",
    routine: Routine::Zero(run),
    needs: Features::AVX512F,
    summary: "64-byte aligned stores, four per iteration",
    provenance: "Intel's Optimization Reference Manual, on AVX-512 stores of whole lines",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx512f")]
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    use core::arch::x86_64::{__m512i, _mm512_setzero_si512, _mm512_store_si512, _mm512_storeu_si512};
    if len < 64 {
        // SAFETY: the caller owns len writable bytes, fewer than 64.
        return unsafe { edges::zero_below_64(dst, len) };
    }
    let zero = _mm512_setzero_si512();
    // SAFETY: at least 64 bytes, so the head fits. The first boundary after dst is at most at dst + 64,
    // which is not past the end; every aligned store has its bytes left before the end; the tail ends at the
    // end.
    unsafe {
        _mm512_storeu_si512(dst.cast(), zero);
        let end = dst.add(len);
        let mut at = dst.add(64 - (dst as usize & (64 - 1))).cast::<__m512i>();
        let mut left = end as usize - at as usize;
        while left >= 4 * 64 {
            _mm512_store_si512(at, zero);
            _mm512_store_si512(at.add(1), zero);
            _mm512_store_si512(at.add(2), zero);
            _mm512_store_si512(at.add(3), zero);
            at = at.add(4);
            left = edges::keep_loop(left - 4 * 64);
        }
        while left >= 64 {
            _mm512_store_si512(at, zero);
            at = at.add(1);
            left = edges::keep_loop(left - 64);
        }
        _mm512_storeu_si512(end.sub(64).cast(), zero);
    }
}
