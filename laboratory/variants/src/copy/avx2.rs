//! 32-byte vectors.
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
    name: "avx2",
    routine: Routine::Copy(run),
    needs: Features::AVX2,
    summary: "32-byte loads and aligned stores, four per iteration",
    provenance: "evans-2018: pairs of 32-byte moves in compilers' inlined copies",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx2")]
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    use core::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_store_si256, _mm256_storeu_si256};
    if len < 32 {
        // SAFETY: the caller owns len bytes on both sides, fewer than 32.
        return unsafe { edges::copy_below_32(dst, src, len) };
    }
    // SAFETY: at least 32 bytes, so the head fits. The first boundary after dst is skip <= 32 <= len bytes
    // away; every vector loaded and stored has its bytes left before the end of both buffers; the tail ends
    // at the end.
    unsafe {
        _mm256_storeu_si256(dst.cast(), _mm256_loadu_si256(src.cast()));
        let skip = 32 - (dst as usize & (32 - 1));
        let mut from = src.add(skip).cast::<__m256i>();
        let mut to = dst.add(skip).cast::<__m256i>();
        let mut left = len - skip;
        while left >= 4 * 32 {
            let first = _mm256_loadu_si256(from);
            let second = _mm256_loadu_si256(from.add(1));
            let third = _mm256_loadu_si256(from.add(2));
            let fourth = _mm256_loadu_si256(from.add(3));
            _mm256_store_si256(to, first);
            _mm256_store_si256(to.add(1), second);
            _mm256_store_si256(to.add(2), third);
            _mm256_store_si256(to.add(3), fourth);
            from = from.add(4);
            to = to.add(4);
            left = edges::keep_loop(left - 4 * 32);
        }
        while left >= 32 {
            _mm256_store_si256(to, _mm256_loadu_si256(from));
            from = from.add(1);
            to = to.add(1);
            left = edges::keep_loop(left - 32);
        }
        let last = len - 32;
        _mm256_storeu_si256(dst.add(last).cast(), _mm256_loadu_si256(src.add(last).cast()));
    }
}
