//! 32-byte vector stores.
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
    name: "avx2",
    routine: Routine::Zero(run),
    needs: Features::AVX2,
    summary: "32-byte aligned stores, four per iteration",
    provenance: "Intel's Optimization Reference Manual, on memset with AVX",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx2")]
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    use core::arch::x86_64::{__m256i, _mm256_setzero_si256, _mm256_store_si256, _mm256_storeu_si256};
    if len < 32 {
        // SAFETY: the caller owns len writable bytes, fewer than 32.
        return unsafe { edges::zero_below_32(dst, len) };
    }
    let zero = _mm256_setzero_si256();
    // SAFETY: at least 32 bytes, so the head fits. The first boundary after dst is at most at dst + 32,
    // which is not past the end; every aligned store has its bytes left before the end; the tail ends at the
    // end.
    unsafe {
        _mm256_storeu_si256(dst.cast(), zero);
        let end = dst.add(len);
        let mut at = dst.add(32 - (dst as usize & (32 - 1))).cast::<__m256i>();
        let mut left = end as usize - at as usize;
        while left >= 4 * 32 {
            _mm256_store_si256(at, zero);
            _mm256_store_si256(at.add(1), zero);
            _mm256_store_si256(at.add(2), zero);
            _mm256_store_si256(at.add(3), zero);
            at = at.add(4);
            left = edges::keep_loop(left - 4 * 32);
        }
        while left >= 32 {
            _mm256_store_si256(at, zero);
            at = at.add(1);
            left = edges::keep_loop(left - 32);
        }
        _mm256_storeu_si256(end.sub(32).cast(), zero);
    }
}
