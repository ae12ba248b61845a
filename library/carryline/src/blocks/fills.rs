//! Filling with aligned stores: in a loop of four blocks, or a few of a fixed number.

use super::loops::end_of_groups;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::loops::{FETCHED_AHEAD_BYTES, fetch_group};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::unlikely;
use super::{Block, Fill, Zero, bytes_to_next_multiple, store};
use core::hint::select_unpredictable;
use core::sync::atomic::{Ordering, compiler_fence};

/// Fills with four unaligned blocks at the start, one at the end and, between them, groups of four whose stores are
/// aligned to the block. The first group overlaps the start, or is moved there if it would begin before the buffer:
///
/// ```text
/// [        head, 4 blocks        ]
///         [ first, 4 blocks ][ 4 aligned blocks ][ 4 aligned blocks ]|
///                                                                [ tail ]
/// ```
///
/// The four are at the start because that is more often aligned than the end, and an aligned store never crosses a
/// cache line. Gross ticks on Zen 3 (AVX2) with them at the end and at the start: 575 bytes at offset 0 19.6 and
/// 16.6, at random offsets 20.3 and 20.9.
///
/// No branch depends on the length but the loop's, and that one does not depend on the alignment. With a rest before
/// the groups, as in copies ([`copy_forward`](super::copy_forward)), a branch is mispredicted if sizes vary; without
/// one, a quarter of the lengths take three blocks more. Gross ticks on Zen 3 with a rest and without, medians of two
/// runs while another guest used the core. 32-byte blocks: sizes from 513 to 1024 45 and 41 at offset 0, 46 and 43 at
/// random offsets, from 1025 to 2048 68 and 66, 70 and 68; 640, 1024 and 777 bytes, the last one of the quarter, 25.4
/// and 23.6, 33.7 and 33.9, 30.3 and 32.9, at random offsets 28.1 and 27.8, 40.9 and 39.6, 32.8 and 37.7. 16-byte
/// blocks at offset 0, on a quiet and on a busy core: sizes from 257 to 512 36 and 32, 48 and 43; 320 bytes 17.7 and
/// 17.4, 26.1 and 24.7; 400, one of the quarter, 21.1 and 23.6, 31.9 and 30.0. Copies lost as much at single sizes up to
/// 512 as they gained at varying ones.
///
/// Proof, with groups of `G = 4 * B::BYTES`. They end at `E`, with `len - B::BYTES <= E < len`, and are
/// `n = (len - 2) / G`, at least one. So they begin at `E - n * G`, which is at most `len - 1 - (len - 2 - (G - 1)) = G`, where
/// the head ends, and at least `2 - B::BYTES`: only the first can begin before the buffer, and moved to its start, it
/// covers what it would have covered there.
///
/// Blocks of 32 bytes are stored by [`fill_between_ends`] instead.
///
/// # Safety
/// `len > 8 * B::BYTES`; `dst` is valid for writes of `len` bytes; the CPU has the block's vectors.
#[inline(always)]
pub(crate) unsafe fn fill_aligned_loop<B: Block>(dst: *mut u8, len: usize, fill: impl Fill) {
    // SAFETY: the same contract.
    unsafe {
        if B::BYTES == 32 {
            fill_between_ends::<B>(dst, len, fill);
        } else {
            fill_loop::<B, false>(dst, len, fill);
        }
    }
}

/// [`fill_aligned_loop`], whose loop fetches lines before it stores them.
///
/// # Safety
/// As [`fill_aligned_loop`].
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) unsafe fn fill_prefetched_loop<B: Block>(dst: *mut u8, len: usize, fill: impl Fill) {
    // SAFETY: the same contract.
    unsafe { fill_loop::<B, true>(dst, len, fill) }
}

/// # Safety
/// As [`fill_aligned_loop`].
#[inline(always)]
unsafe fn fill_loop<B: Block, const FETCHED: bool>(dst: *mut u8, len: usize, fill: impl Fill) {
    let group = 4 * B::BYTES;
    // SAFETY: the head is the first of at least eight blocks, the tail the last. The groups are inside the buffer, by the
    // proof.
    unsafe {
        let block: B = fill.block();
        fill_group(dst, block);
        let end = end_of_groups(B::BYTES, dst, len);
        let start = end.wrapping_sub((len - 2) & !(group - 1));
        fill_group(dst.add(select_unpredictable(start.cast_signed() < 0, 0, start)), block);
        let second = start.wrapping_add(group);
        if second < end {
            let (mut to, end) = aligned_loop(dst.add(second), dst.add(end));
            loop {
                #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
                if FETCHED {
                    fetch_group::<B>(to.wrapping_add(FETCHED_AHEAD_BYTES));
                }
                fill_group(to, block);
                to = to.add(group);
                if to >= end {
                    break;
                }
            }
        }
        store(dst.add(len - B::BYTES), block);
    }
    // Its last stores are those of shorter fills too.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    super::end_of_branch::<{ usize::MAX }>();
}

/// Fills with an unaligned block at each end and, between them, aligned ones: groups of four, and seven that end with the last,
/// which may overlap the groups:
///
/// ```text
/// [ head ]                                                              [ tail ]
///    [ 4 aligned blocks ][ 4 aligned blocks ]
///                              [          7 aligned blocks          ]
/// ```
///
/// Ticks on Zen 4 with 32-byte blocks, by [`fill_loop`] and by a form of this, both in one process, at random offsets: 260 to 400 bytes
/// the same, 700 19.9 and 19.4, 900 26.1 and 22.2, 1300 34.2 and 30.6, 4 KiB the same, sizes from 257 to 1024 28.5 and 27.8, from 513 to
/// 2048 34.1 and 32.6, the fleet's memset-D 23.8 and 23.5; at offset 0 900 23.9 and 21.8, 1500 35.1 and 35.8. In groups of two, single
/// sizes take up to 2 less, but sizes from 257 to 1024 30.8 and memset-M 18.3 instead of 17.1.
///
/// That form had four blocks at the end, and one group more before them. Of `128 * k + r` bytes it makes `4 * k + 2` stores if `r` is below 34,
/// and else `4 * k + 6`; this makes `4 * k + 1` if `r` is below 2, and else `4 * k + 5`. In the mean of all lengths they are as many, but
/// multiples of 128 are frequent, and a plain loop makes `4 * k` if they are aligned. There, by four and by seven, at random offsets: 544
/// bytes 13.8 and 15.9, 575 16.6 and 15.9, 640 16.6 and 15.9, 900 24.7 and 26.9, 1024 25.0 and 24.3, 1500 36.4 and 35.7, the fleet's
/// memset-D 24.0 and 23.9, -M 17.1 and 16.8. Copies have four.
///
/// No branch depends on the alignment; see [`copy_apart`](super::copy_apart), whose proof has the same `m` and `n`. Here `g = m / 4 - 1`
/// groups, rounded down, precede the seven. They end inside, because `4 * g <= m - 4 < n`, and reach them, because
/// `4 * g + 7 >= m >= n`. The first group is always stored: `n` is at least 6, and where `g` would be 0, `m` is 7.
///
/// # Safety
/// As [`fill_aligned_loop`].
#[inline(always)]
unsafe fn fill_between_ends<B: Block>(dst: *mut u8, len: usize, fill: impl Fill) {
    let group = 4 * B::BYTES;
    // SAFETY: all is inside the buffer, by the proof; it is longer than the seven blocks and the last one.
    unsafe {
        let block: B = fill.block();
        store(dst, block);
        let first = bytes_to_next_multiple(dst, B::BYTES);
        fill_group(dst.add(first), block);
        let (second, end) = (first + group, first + (len - 2) / group * group - group);
        if second < end {
            let (mut to, end) = aligned_loop(dst.add(second), dst.add(end));
            loop {
                fill_group(to, block);
                to = to.add(group);
                if to >= end {
                    break;
                }
            }
        }
        let seven = dst.add(end_of_groups(B::BYTES, dst, len) - 7 * B::BYTES);
        fill_blocks::<B, 7>(seven, block);
        store(dst.add(len - B::BYTES), block);
    }
    // Its last stores are those of shorter fills too.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    super::end_of_branch::<{ usize::MAX }>();
}

/// Returns the pointers of a loop, and aligns the loop that begins with them to 32 bytes, half a cache line. The loop must
/// not test its end before the first turn, or LLVM jumps into its middle.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "no instruction uses them")]
#[inline(always)]
fn aligned_loop(mut to: *mut u8, mut end: *mut u8) -> (*mut u8, *mut u8) {
    // SAFETY: only no-operation instructions; both pointers pass unchanged.
    unsafe {
        core::arch::asm!(
            ".p2align 5 /* {0} {1} */",
            inout(reg) to,
            inout(reg) end,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    (to, end)
}

/// Returns the pointers of a loop.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
fn aligned_loop(to: *mut u8, end: *mut u8) -> (*mut u8, *mut u8) {
    (to, end)
}

/// [`fill_aligned_loop`] with zeros.
///
/// # Safety
/// `len > 8 * B::BYTES`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_aligned_loop<B: Block>(dst: *mut u8, len: usize) {
    // SAFETY: the bounds by contract; a block of zeros is made without an instruction of its vectors.
    unsafe { fill_aligned_loop::<B>(dst, len, Zero) }
}

/// As [`zero_aligned_loop`] without a loop: four blocks at the start, `ALIGNED` aligned ones up to the last multiple of the
/// block before the end, and one that ends with the buffer. A fifth one at the start is only stored if the first four and
/// the aligned ones do not meet.
///
/// # Safety
/// `(ALIGNED + 1) * B::BYTES <= len <= (ALIGNED + 5) * B::BYTES`, and `ALIGNED` is at least 3; `dst` is valid for writes of
/// `len` bytes.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) unsafe fn zero_mostly_aligned<B: Block, const ALIGNED: usize>(dst: *mut u8, len: usize) {
    // SAFETY: the buffer has at least ALIGNED + 1 blocks, hence the first four and the last. The aligned ones end below len,
    // but at most one block below, so that they begin inside the buffer. The fifth is only stored if they begin behind its
    // start, hence end behind its end.
    unsafe {
        let block: B = Zero.block();
        fill_group(dst, block);
        let start = end_of_groups(B::BYTES, dst, len) - ALIGNED * B::BYTES;
        if start > 4 * B::BYTES {
            unlikely();
            store(dst.add(4 * B::BYTES), block);
        }
        fill_blocks::<B, ALIGNED>(dst.add(start), block);
        store(dst.add(len - B::BYTES), block);
    }
    super::end_of_branch::<ALIGNED>();
}

/// [`fill_blocks`] with the four of a group.
///
/// # Safety
/// `to` is valid for writes of four blocks.
#[inline(always)]
unsafe fn fill_group<B: Block>(to: *mut u8, block: B) {
    // SAFETY: the same contract.
    unsafe { fill_blocks::<B, 4>(to, block) }
}

/// Fills `COUNT` blocks in ascending order. LLVM reverses the stores if nothing keeps their order, and zeroing
/// 512 KiB of L2 with 32-byte stores then takes 7200 ticks instead of 5100 on Zen 5, because halves of a line
/// that are not stored one after the other are not combined.
///
/// # Safety
/// `to` is valid for writes of `COUNT` blocks.
#[inline(always)]
unsafe fn fill_blocks<B: Block, const COUNT: usize>(to: *mut u8, block: B) {
    for i in 0..COUNT {
        // SAFETY: one of COUNT blocks by contract.
        unsafe { store(to.add(i * B::BYTES), block) };
        compiler_fence(Ordering::SeqCst);
    }
}
