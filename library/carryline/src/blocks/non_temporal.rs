//! Non-temporal stores of whole lines, with ordinary moves before the first and after the last, so that no
//! line gets both kinds.
//!
//! A non-temporal store does not read the line that it overwrites and leaves nothing in the caches. It is
//! weakly ordered: a later store, such as that of a flag, may become visible before it. Only functions marked
//! as unfenced may expose this to their callers. [`fence`](super::fence) restores the order, once per call.
//!
//! `clzero` zeroes a line in the same way: see [`zero_by_clzero`](super::zero_by_clzero).

use super::{
    Block, Fill, LINE_BYTES, READ_FAR, READ_ONCE, Zero, bytes_to_multiple, copy_up_to_64, fill_up_to_64,
    load, prefetch_far, prefetch_page_far,
};
use core::arch::asm;
use core::arch::x86_64::{__m128i, __m256i, __m512i, _MM_HINT_NTA, _MM_HINT_T0, _mm_prefetch};
use core::mem::MaybeUninit;

/// A block that can be stored non-temporally.
///
/// # Safety
/// [`stream`](Stream::stream) stores the block and has no other effect.
pub(crate) unsafe trait Stream: Block {
    /// Stores the block non-temporally.
    ///
    /// # Safety
    /// `to` is valid for writes of `B::BYTES` and a multiple of them; the CPU has the vectors of this width;
    /// the caller fences.
    unsafe fn stream(block: MaybeUninit<Self>, to: *mut u8);
}

/// Defines the store of each vector. The functions of `core::arch` take vectors of initialised bytes only.
macro_rules! streams {
    ($($vector:ident: $features:literal, $instruction:literal, $register:ident;)*) => {$(
        // SAFETY: `stream` is one store of the block.
        unsafe impl Stream for $vector {
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn stream(block: MaybeUninit<Self>, to: *mut u8) {
                // SAFETY: writable and aligned, and the CPU has the vectors, by contract; the caller fences.
                unsafe {
                    asm!(
                        concat!($instruction, " [{to}], {block}"),
                        to = in(reg) to,
                        block = in($register) block,
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    )*};
}
#[cfg(not(target_feature = "avx"))]
streams! { __m128i: "sse2", "movntdq", xmm_reg; }
#[cfg(target_feature = "avx")]
streams! { __m128i: "avx", "vmovntdq", xmm_reg; }
streams! {
    __m256i: "avx", "vmovntdq", ymm_reg;
    __m512i: "avx512f", "vmovntdq", zmm_reg;
}

/// Zeroes with non-temporal stores, unfenced.
///
/// # Safety
/// `len >= 64`; `dst` is valid for writes of `len` bytes; the CPU has vectors of `B`.
#[inline(always)]
pub(crate) unsafe fn zero_non_temporal<B: Stream>(dst: *mut u8, len: usize) {
    // SAFETY: at least a line, writable, and the CPU's vectors, by contract.
    unsafe { fill_non_temporal::<B>(dst, len, Zero) }
}

/// Fills with non-temporal stores, unfenced.
///
/// # Safety
/// `len >= 64`; `dst` is valid for writes of `len` bytes; the CPU has vectors of `B`.
#[inline(always)]
pub(crate) unsafe fn fill_non_temporal<B: Stream>(dst: *mut u8, len: usize, fill: impl Fill) {
    const GROUP_BYTES: usize = 4 * LINE_BYTES;
    let mut at = bytes_to_multiple(dst, LINE_BYTES);
    // SAFETY: the head is less than a line, and len is at least a line. Lines start at multiples of 64 and
    // end at or before len; less than a line is left after them.
    unsafe {
        fill_up_to_64(dst, at, fill);
        while len - at >= GROUP_BYTES {
            for line in 0..4 {
                fill_line::<B>(dst.add(at + line * LINE_BYTES), fill);
            }
            at += GROUP_BYTES;
        }
        while len - at >= LINE_BYTES {
            fill_line::<B>(dst.add(at), fill);
            at += LINE_BYTES;
        }
        fill_up_to_64(dst.add(at), len - at, fill);
    }
}

/// # Safety
/// `to` is a multiple of 64 and valid for writes of 64 bytes; the CPU has vectors of `B`.
#[inline(always)]
unsafe fn fill_line<B: Stream>(to: *mut u8, fill: impl Fill) {
    for block in 0..LINE_BYTES / B::BYTES {
        // SAFETY: a block of the line, aligned like the line.
        unsafe { B::stream(MaybeUninit::new(fill.block()), to.add(block * B::BYTES)) };
    }
}

/// The bytes of the source that are brought into the first-level cache before they are stored: reads and
/// stores then come in bursts, so that memory does not switch between them for each line.
const BLOCK_BYTES: usize = 1024;

/// Copies with non-temporal stores, unfenced, block by block. All lines of a block are prefetched first, or with [`READ_FAR`], a
/// few of a block far ahead: 64 MiB at offset 0 on Zen 4 then take 0.89 times as long with pages of 4 KiB, and 0.87 times with pages of
/// 2 MiB.
///
/// # Safety
/// `len >= 64`; `src` is valid for reads and `dst` for writes of `len` bytes; no overlap; the CPU has vectors
/// of `B`.
#[inline(always)]
pub(crate) unsafe fn copy_non_temporal<B: Stream, const READ: u8>(dst: *mut u8, src: *const u8, len: usize) {
    let mut at = bytes_to_multiple(dst, LINE_BYTES);
    // SAFETY: the head is less than a line, and len is at least a line. Blocks and lines start where dst is a
    // multiple of 64 and end at or before len; less than a line is left after them.
    unsafe {
        copy_up_to_64(dst, src, at);
        while len - at >= BLOCK_BYTES {
            if READ == READ_FAR {
                prefetch_far(src.add(at), BLOCK_BYTES);
                prefetch_page_far(dst.add(at));
            } else {
                for line in 0..BLOCK_BYTES / LINE_BYTES {
                    prefetch::<READ>(src.add(at + line * LINE_BYTES));
                }
            }
            for line in 0..BLOCK_BYTES / LINE_BYTES {
                copy_line::<B>(dst.add(at + line * LINE_BYTES), src.add(at + line * LINE_BYTES));
            }
            at += BLOCK_BYTES;
        }
        while len - at >= LINE_BYTES {
            copy_line::<B>(dst.add(at), src.add(at));
            at += LINE_BYTES;
        }
        copy_up_to_64(dst.add(at), src.add(at), len - at);
    }
}

#[inline(always)]
fn prefetch<const READ: u8>(at: *const u8) {
    // SAFETY: a prefetch accesses nothing, whatever the address.
    unsafe {
        if READ == READ_ONCE {
            _mm_prefetch::<_MM_HINT_NTA>(at.cast());
        } else {
            _mm_prefetch::<_MM_HINT_T0>(at.cast());
        }
    }
}

/// # Safety
/// `dst` is a multiple of 64 and valid for writes, `src` valid for reads of 64 bytes; the CPU has vectors of
/// `B`.
#[inline(always)]
unsafe fn copy_line<B: Stream>(dst: *mut u8, src: *const u8) {
    for block in 0..LINE_BYTES / B::BYTES {
        // SAFETY: a block of the line, aligned like the line.
        unsafe { B::stream(load(src.add(block * B::BYTES)), dst.add(block * B::BYTES)) };
    }
}
