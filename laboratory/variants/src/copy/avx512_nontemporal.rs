//! Non-temporal 64-byte stores after a block prefetch, for copies larger than the caches.
//!
//! Blocks of 1 KiB: first all lines of the next block are prefetched at once, then this block is loaded and
//! stored, bypassing the caches. Memory therefore sees runs of reads and runs of writes instead of a mixture.
//! The destination is not read in the process, and its next reader waits for memory. The bytes before the
//! first and after the last whole line of the destination are copied by ordinary moves, so that no line gets
//! both kinds of stores.

use crate::{Routine, Variant, edges};
use carryline::internals::cpu::Features;

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "avx512_nontemporal",
    routine: Routine::Copy(run),
    needs: Features::AVX512F,
    summary: "1 KiB blocks: prefetch the next, store this one with 64-byte non-temporal stores",
    provenance: "evans-2003: prefetch and movntps beyond the caches; AMD's block prefetch (Athlon optimization guide)",
    ..Variant::PLAIN
};

const BLOCK_BYTES: usize = 1024;

/// # Safety
/// See [the family](super).
#[target_feature(enable = "avx512f")]
unsafe extern "C" fn run(dst: *mut u8, src: *const u8, len: usize) {
    use core::arch::x86_64::{
        __m512i, _MM_HINT_T0, _mm_prefetch, _mm_sfence, _mm512_loadu_si512, _mm512_stream_si512,
    };
    let head = edges::bytes_to_boundary(dst, 64, len);
    // SAFETY: head is less than 64 and at most len. After it every line of dst starts at a multiple of 64 and
    // has 64 bytes left in both buffers; fewer than 64 bytes remain. Only addresses in src are prefetched.
    // sfence orders the stores.
    unsafe {
        edges::copy_below_64(dst, src, head);
        let mut from = src.add(head);
        let mut to = dst.add(head);
        let mut left = len - head;
        while left >= BLOCK_BYTES {
            if left >= 2 * BLOCK_BYTES {
                for line in 0..BLOCK_BYTES / 64 {
                    _mm_prefetch::<_MM_HINT_T0>(from.add(BLOCK_BYTES + line * 64).cast());
                }
            }
            for line in 0..BLOCK_BYTES / 64 {
                let bytes = _mm512_loadu_si512(from.add(line * 64).cast());
                _mm512_stream_si512(to.add(line * 64).cast::<__m512i>(), bytes);
            }
            from = from.add(BLOCK_BYTES);
            to = to.add(BLOCK_BYTES);
            left = edges::keep_loop(left - BLOCK_BYTES);
        }
        while left >= 64 {
            _mm512_stream_si512(to.cast::<__m512i>(), _mm512_loadu_si512(from.cast()));
            from = from.add(64);
            to = to.add(64);
            left = edges::keep_loop(left - 64);
        }
        edges::copy_below_64(to, from, left);
        _mm_sfence();
    }
}
