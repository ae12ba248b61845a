//! Non-temporal 64-byte stores: a whole cache line each.
//!
//! Like [`movntps`](super::movntps), with a quarter of the stores: no line is ever half written, so none
//! leaves the write-combining buffers too early.

use crate::{Routine, Variant, edges};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "avx512_nontemporal",
    routine: Routine::Zero(run),
    needs: Features::AVX512F,
    summary: "non-temporal 64-byte stores to whole lines, four per iteration, then sfence",
    provenance: "evans-2003's movntps, at the width of a line",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx512f")]
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    use core::arch::x86_64::{__m512i, _mm_sfence, _mm512_setzero_si512, _mm512_stream_si512};
    let head = edges::bytes_to_boundary(dst, 64, len);
    let zero = _mm512_setzero_si512();
    // SAFETY: head is less than 64 and at most len. After it every line starts at a multiple of 64 and has
    // 64 bytes left; fewer than 64 bytes remain. All of them are the caller's, and sfence orders the stores.
    unsafe {
        edges::zero_below_64(dst, head);
        let mut line = dst.add(head).cast::<__m512i>();
        let mut left = len - head;
        while left >= 256 {
            _mm512_stream_si512(line, zero);
            _mm512_stream_si512(line.add(1), zero);
            _mm512_stream_si512(line.add(2), zero);
            _mm512_stream_si512(line.add(3), zero);
            line = line.add(4);
            left = edges::keep_loop(left - 256);
        }
        while left >= 64 {
            _mm512_stream_si512(line, zero);
            line = line.add(1);
            left = edges::keep_loop(left - 64);
        }
        edges::zero_below_64(line.cast(), left);
        _mm_sfence();
    }
}
