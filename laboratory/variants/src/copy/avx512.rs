//! 64-byte vectors: a whole cache line in each store, never split.
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
    name: "avx512",
    routine: Routine::Copy(run),
    needs: Features::AVX512F,
    summary: "64-byte loads and aligned stores, four per iteration",
    provenance: "Intel's Optimization Reference Manual, on AVX-512 stores of whole lines",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx512f")]
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    use core::arch::x86_64::{__m512i, _mm512_loadu_si512, _mm512_store_si512, _mm512_storeu_si512};
    if len < 64 {
        // SAFETY: the caller owns len bytes on both sides, fewer than 64.
        return unsafe { edges::copy_below_64(dst, src, len) };
    }
    // SAFETY: at least 64 bytes, so the head fits. The first boundary after dst is skip <= 64 <= len bytes
    // away; every vector loaded and stored has its bytes left before the end of both buffers; the tail ends
    // at the end.
    unsafe {
        _mm512_storeu_si512(dst.cast(), _mm512_loadu_si512(src.cast()));
        let skip = 64 - (dst as usize & (64 - 1));
        let mut from = src.add(skip).cast::<__m512i>();
        let mut to = dst.add(skip).cast::<__m512i>();
        let mut left = len - skip;
        while left >= 4 * 64 {
            let first = _mm512_loadu_si512(from);
            let second = _mm512_loadu_si512(from.add(1));
            let third = _mm512_loadu_si512(from.add(2));
            let fourth = _mm512_loadu_si512(from.add(3));
            _mm512_store_si512(to, first);
            _mm512_store_si512(to.add(1), second);
            _mm512_store_si512(to.add(2), third);
            _mm512_store_si512(to.add(3), fourth);
            from = from.add(4);
            to = to.add(4);
            left = edges::keep_loop(left - 4 * 64);
        }
        while left >= 64 {
            _mm512_store_si512(to, _mm512_loadu_si512(from));
            from = from.add(1);
            to = to.add(1);
            left = edges::keep_loop(left - 64);
        }
        let last = len - 64;
        _mm512_storeu_si512(dst.add(last).cast(), _mm512_loadu_si512(src.add(last).cast()));
    }
}
