//! Copying upwards between buffers that do not overlap, with aligned stores but for the first and the last block.

use super::loops::{aligned_loop, end_of_groups, two_pointers};
use super::{Block, READ_KEPT, bytes_to_next_multiple, copy_forward, load, load_group, store, store_group};
use core::mem::MaybeUninit;
use core::sync::atomic::{Ordering, compiler_fence};

/// Copies upwards, with an unaligned block at each end and, between them, groups of four whose stores are aligned to the block.
/// The last group overlaps the one before:
///
/// ```text
/// [ head ]                                                        [ tail ]
///    [ 4 aligned blocks ][ 4 aligned blocks ]
///                                    [ last, 4 aligned blocks ]
/// ```
///
/// [`copy_forward`] has four unaligned blocks at the start, of which two more cross into a second line at random offsets, and in
/// a quarter of the lengths a block behind a branch. Ticks on Zen 4 with 32-byte blocks, by it and by this, both in one process,
/// at random offsets: 384 bytes 13.8 and 13.2, 700 23.8 and 21.6, 1500 42.7 and 39.2, 2500 64.5 and 62.3, 4091 96.4 and 96.2, sizes
/// from 257 to 512 24.3 and 22.2, to 1024 32.7 and 29.0, from 1025 to 4096 69.2 and 65.1; at offset 0 257 and 900 bytes the same, others
/// 0.7 more. Of the fleet's sets two differ: memcpy-D 26.0 and 26.4, memcpy-A 15.5 and 15.4, but in alternating builds of the
/// command 15.2 and 15.6.
///
/// With the last group loaded before anything is stored, which would allow an overlap, 1500 bytes take 40.1, memcpy-A 0.3 more. In
/// groups of two, 1500 bytes take 37.3, but sizes from 257 to 512 25.6.
///
/// With the end stored before the loop, so that it does not wait for the loop's last branch, sizes from 257 to 512 take 20.9 instead of
/// 22.2 and memcpy-D 26.2 instead of 26.9, but 257 bytes at offset 0 9.1 instead of 8.4, and single sizes at random offsets up to 0.6
/// more. With seven blocks at the end, as in fills, 512 bytes at offset 0 take 12.7 instead of 13.4, and 1024 23.9 instead of 24.6, but
/// lengths 2 to 33 bytes above a multiple of 128 1.5 to 2.8 more (900 bytes 23.9 instead of 21.8), and sizes from 257 to 1024 31.4
/// instead of 29.1.
///
/// Blocks of other sizes are copied by [`copy_forward`]. Prototypes that load the last group first: with blocks of 16 bytes, of
/// which this CPU stores two at a time, 200 to 2500 bytes take up to 8 % longer; with blocks of 64, which it splits, and
/// groups of two, 600 to 2500 bytes take up to 12 % less at random offsets, and from 7 % less to 7 % more at offset 0.
///
/// The number of groups depends on the length alone, so that the end of the loop is not mispredicted for buffers of one size
/// at random offsets. No other branch depends on the length.
///
/// Proof, with `B` for `B::BYTES`. The aligned blocks begin `f` bytes in and end `t` bytes before the end, both 1 to `B`, so that
/// there are `n = (len - f - t) / B`, which is `m = (len - 2) / B` rounded down or one less, and at least 4. The groups before
/// the last one have `4 * g` blocks, `g = (m - 1) / 4` rounded down. They end inside: `4 * g <= m - 1 <= n`. They reach the
/// last one: `4 * g + 4 >= m >= n`.
///
/// # Safety
/// `len >= 6 * B::BYTES`; `src` is valid for reads and `dst` for writes of `len` bytes; no overlap.
#[inline(always)]
pub(crate) unsafe fn copy_apart<B: Block>(dst: *mut u8, src: *const u8, len: usize) {
    if B::BYTES != 32 {
        // SAFETY: the same contract.
        return unsafe { copy_forward::<B, READ_KEPT>(dst, src, len) };
    }
    let group_bytes = 4 * B::BYTES;
    // SAFETY: all is inside the buffers, by the proof; there is at least one group before the last, because len is at least six
    // blocks. The order is irrelevant, because nothing overlaps.
    unsafe {
        let head: MaybeUninit<B> = load(src);
        let tail: MaybeUninit<B> = load(src.add(len - B::BYTES));
        let first_at = bytes_to_next_multiple(dst, B::BYTES);
        let end = first_at + (len - B::BYTES - 2) / group_bytes * group_bytes;
        let first: [MaybeUninit<B>; 4] = load_group(src.add(first_at));
        store(dst, head);
        store_group(dst.add(first_at), first);
        let second_at = first_at + group_bytes;
        if second_at < end {
            let (mut to, mut from, end) = aligned_loop(dst.add(second_at), src.add(second_at), dst.add(end));
            loop {
                let group: [MaybeUninit<B>; 4] = load_group(from);
                store_group(to, group);
                (to, from) = two_pointers(to.add(group_bytes), from.add(group_bytes));
                compiler_fence(Ordering::SeqCst);
                if to >= end {
                    break;
                }
            }
        }
        let last_at = end_of_groups(B::BYTES, dst, len) - group_bytes;
        let last: [MaybeUninit<B>; 4] = load_group(src.add(last_at));
        store_group(dst.add(last_at), last);
        store(dst.add(len - B::BYTES), tail);
    }
}
