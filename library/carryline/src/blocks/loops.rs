//! Copying in loops of four blocks with aligned stores, in both directions.

use super::{Block, LINE_BYTES, load, store};
use core::mem::MaybeUninit;
use core::sync::atomic::{Ordering, compiler_fence};

/// The source is read normally.
pub(crate) const READ_KEPT: u8 = 0;
/// The source is prefetched such that reading it does not evict other lines from the caches.
pub(crate) const READ_ONCE: u8 = 1;
/// Both buffers are [prefetched far ahead](super::prefetch_far); for non-temporal stores.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const READ_FAR: u8 = 2;

/// Lines are stored at once.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const STORED_AT_ONCE: bool = false;
/// Lines are fetched before they are stored, [`FETCHED_AHEAD_BYTES`] before the loop gets there.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const STORED_AFTER_FETCHING: bool = true;

/// How far ahead lines are fetched. Gross ticks on Granite Rapids of 32 KiB copied at offset 0 with 256, 512, 1024 and 2048 bytes
/// 1288, 1270, 1060 and 1459, without 1818; 24 KiB 281, 298, 334 and 394, without 387; 64 KiB zeroed at offset 0 2578, 2585,
/// 2586 and 2593, without 2609.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) const FETCHED_AHEAD_BYTES: usize = 512;

/// Fetches the lines of a group of four blocks, to store it. A line that cannot be accessed is not fetched.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(super) fn fetch_group<B: Block>(at: *const u8) {
    for line in (0..4 * B::BYTES).step_by(LINE_BYTES) {
        // SAFETY: a hint, which changes neither memory nor flags, and never faults. Plans ask for it on CPUs with AVX2 alone,
        // which all execute it, if only as no operation.
        unsafe {
            core::arch::asm!("prefetchw [{}]", in(reg) at.wrapping_add(line), options(nostack, preserves_flags));
        }
    }
}

/// The prefetch distance for a source that is read once.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const READ_ONCE_AHEAD_BYTES: usize = 1024;

/// What lies between the first block and the last group of four: `grouped` bytes in groups, from the first
/// aligned block on, and after them, if `has_rest`, one aligned block. Or the mirror image of that: what lies
/// between the first group and the last block, the groups up to the last multiple of the block before the end.
/// Or either with a line for the block; then the rest is a line that ends where the last group begins, or one before the groups.
///
/// Both depend on the length alone. If the groups ran until they reach the last one, then at a quarter of the
/// lengths some alignments would need a group more than others, and the end of the loop would be mispredicted for
/// buffers of one size at random offsets: zeroing 400 bytes with 32-byte stores takes 16.6 ticks so on Zen 5,
/// and 6.9 this way. The rest is a branch, because a predictor knows it for buffers of one size, and a fifth
/// block at the end, always, takes more from the other lengths than the branch from mixed ones.
///
/// Proof, with groups of `G = 4 * B::BYTES` and `len - 2 = a * G + b`, `b < G`. Groups start 1 to `B::BYTES` bytes
/// in.
/// - If `b >= B::BYTES - 1`, there is no rest, and `grouped` is `a * G`. The groups end at or before
///   `a * G + B::BYTES < len`, and at or after `a * G + 1 >= len - G`, where the last one starts.
/// - Otherwise there is a rest, and `grouped` is `(a - 1) * G`. The block after them ends at or before
///   `(a - 1) * G + 2 * B::BYTES < len`, and at or after `(a - 1) * G + 1 + B::BYTES`, which is more than
///   `len - G`.
/// - With lines of `L` bytes, `B::BYTES <= L <= G`, all this holds with `L` for `B::BYTES`, but for the block after the groups. A rest begins
///   at `len - G - L`, which is `(a - 1) * G + b + 2 - L`, so at or before the end of the groups, which is at or after `(a - 1) * G + 1`.
pub(super) struct Middle {
    pub(super) grouped: usize,
    pub(super) has_rest: bool,
}

impl Middle {
    /// For `len >= 5 * B::BYTES`.
    #[inline(always)]
    const fn of<B: Block>(len: usize) -> Middle {
        Middle::aligned_to::<B>(B::BYTES, len)
    }

    /// With groups from a multiple of `bytes` on: a block, or a line of at most four blocks. For `len >= 4 * B::BYTES + bytes`.
    #[inline(always)]
    pub(super) const fn aligned_to<B: Block>(bytes: usize, len: usize) -> Middle {
        let group = 4 * B::BYTES;
        Middle { grouped: (len - bytes - 1) / group * group, has_rest: (len - 2) % group < bytes - 1 }
    }
}

/// Returns the pointers of a loop, and aligns the loop that begins with them to a cache line, into which those of 16-byte and
/// 32-byte blocks fit. LLVM aligns to 16. Copies of 1400 bytes with 64-byte blocks at random offsets take 27.6 ticks on Zen 5
/// with the loop 48 bytes into a line, 26.2 at 32, and 25.5 at 0; of 400 bytes with 16-byte blocks at offset 0 on Granite
/// Rapids 14.3 with the loop at 32, and 12.6 at 0. The loop must not test its end before the first turn, or LLVM jumps into
/// its middle.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "no instruction uses them")]
#[inline(always)]
pub(super) fn aligned_loop(
    mut to: *mut u8,
    mut from: *const u8,
    mut end: *mut u8,
) -> (*mut u8, *const u8, *mut u8) {
    // SAFETY: only no-operation instructions; the pointers pass unchanged.
    unsafe {
        core::arch::asm!(
            ".p2align 6 /* {0} {1} {2} */",
            inout(reg) to,
            inout(reg) from,
            inout(reg) end,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    (to, from, end)
}

/// Returns the pointers of a loop.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
pub(super) fn aligned_loop(to: *mut u8, from: *const u8, end: *mut u8) -> (*mut u8, *const u8, *mut u8) {
    (to, from, end)
}

/// The next pointers of a loop that copies, which the compiler must not replace by one offset to both: Intel's CPUs split a
/// store with an index into two operations. Gross ticks on Granite Rapids, with an offset and with pointers: 32-byte blocks, 4
/// KiB at offset 0 66 and 58, at random offsets 84 and 85, 16 KiB 269 and 233, 336 and 336; 16-byte blocks, 4 KiB 135 and
/// 114, 143 and 125, 16 KiB 520 and 406, 560 and 502. With 64-byte blocks both take as long.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "no instruction uses them")]
#[inline(always)]
pub(super) fn two_pointers(mut to: *mut u8, mut from: *const u8) -> (*mut u8, *const u8) {
    // SAFETY: no instruction; both pointers pass unchanged.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} */",
            inout(reg) to,
            inout(reg) from,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    (to, from)
}

/// The next pointers of a loop.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
pub(super) fn two_pointers(to: *mut u8, from: *const u8) -> (*mut u8, *const u8) {
    (to, from)
}

/// Marks a branch as unlikely: its code is placed behind the others', which need no jump then.
#[cold]
#[inline(always)]
pub(crate) const fn unlikely() {}

/// Copies upwards, with four unaligned blocks at the start, one at the end and, between them, [`Middle`]'s groups of
/// four whose stores are aligned to the block. Copies of 575 bytes on Zen 3 (AVX2) with the four at the end and at
/// the start: at offset 0 19.6 and 16.6 ticks, at random offsets 22.5 and 21.9; of 1500 bytes 38.5 and 37.7, 45.2 and
/// 46.2.
///
/// The tail and each group are loaded before what is stored before them, so the destination may also begin below the
/// source and reach into it. The head is stored as early as that allows: while it waits to be stored, later loads
/// with the same low 12 bits wait too.
///
/// # Safety
/// `len > 5 * B::BYTES`; `src` is valid for reads and `dst` for writes of `len` bytes; `dst` is not within the `len`
/// bytes after `src`.
#[inline(always)]
pub(crate) unsafe fn copy_forward<B: Block, const READ: u8>(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the head is the first group; groups and rest are inside the buffers, see `Middle`; there is at least one group,
    // because len is more than a group and a block. If the buffers overlap, dst is at or below src. Head and tail were
    // loaded before anything is stored. The rest, which ends where the first group begins, is stored at or below
    // that group's source. The first group, which ends where the head ends or after it, was loaded before the head
    // is stored; every other is loaded when everything stored lies below its place in dst, hence in src.
    unsafe {
        let head: [MaybeUninit<B>; 4] = load_group(src);
        let tail: MaybeUninit<B> = load(src.add(len - B::BYTES));
        let end = end_of_groups(B::BYTES, dst, len);
        let Middle { grouped, has_rest } = Middle::of::<B>(len);
        if has_rest {
            unlikely();
            let rest: MaybeUninit<B> = load(src.add(end - grouped - B::BYTES));
            store(dst.add(end - grouped - B::BYTES), rest);
        }
        let mut at = end - grouped;
        let first: [MaybeUninit<B>; 4] = load_group(src.add(at));
        store_group(dst, head);
        store_group(dst.add(at), first);
        at += 4 * B::BYTES;
        if at < end {
            let (mut to, mut from, end) = aligned_loop(dst.add(at), src.add(at), dst.add(end));
            loop {
                if READ == READ_ONCE {
                    prefetch_once::<B>(from);
                }
                let group: [MaybeUninit<B>; 4] = load_group(from);
                store_group(to, group);
                (to, from) = two_pointers(to.add(4 * B::BYTES), from.add(4 * B::BYTES));
                compiler_fence(Ordering::SeqCst);
                if to >= end {
                    break;
                }
            }
        }
        store(dst.add(len - B::BYTES), tail);
    }
}

/// The last multiple of `bytes`, a power of two, before the end of the buffer, as an offset.
#[inline(always)]
pub(super) fn end_of_groups(bytes: usize, dst: *const u8, len: usize) -> usize {
    len - 1 - (dst.addr().wrapping_add(len - 1) & (bytes - 1))
}

/// Loads the blocks of a line, at most four: one if a block is as long.
///
/// # Safety
/// `from` is valid for reads of a line, and of a block; a block is at least a quarter of a line.
#[inline(always)]
pub(super) unsafe fn load_line<B: Block>(from: *const u8) -> [MaybeUninit<B>; 4] {
    const { assert!(4 * B::BYTES >= LINE_BYTES) };
    let mut blocks = [MaybeUninit::uninit(); 4];
    // SAFETY: the first block; every other ends at or before the end of the line.
    unsafe {
        blocks[0] = load(from);
        if B::BYTES < LINE_BYTES {
            blocks[1] = load(from.add(B::BYTES));
        }
        if 2 * B::BYTES < LINE_BYTES {
            blocks[2] = load(from.add(2 * B::BYTES));
            blocks[3] = load(from.add(3 * B::BYTES));
        }
    }
    blocks
}

/// Stores what [`load_line`] has loaded.
///
/// # Safety
/// `to` is valid for writes of a line, and of a block; a block is at least a quarter of a line.
#[inline(always)]
pub(super) unsafe fn store_line<B: Block>(to: *mut u8, blocks: [MaybeUninit<B>; 4]) {
    // SAFETY: the first block; every other ends at or before the end of the line.
    unsafe {
        store(to, blocks[0]);
        if B::BYTES < LINE_BYTES {
            store(to.add(B::BYTES), blocks[1]);
        }
        if 2 * B::BYTES < LINE_BYTES {
            store(to.add(2 * B::BYTES), blocks[2]);
            store(to.add(3 * B::BYTES), blocks[3]);
        }
    }
}

/// Copies downwards, to a destination that begins inside the source or after it. The groups end with a line, as those of
/// [`copy_by_distance`](super::copy_by_distance) begin with one. Alternating builds on Granite Rapids, ticks with groups that end
/// with a block, and with a line, the destination 49 bytes above the source: 16-byte blocks 16 KiB 507 and 423, 32 KiB 3645 and
/// 1587, 64 KiB 7282 and 3224, 512 KiB 57,500 and 25,300; 32-byte blocks 32 KiB 2341 and 1803, 64 KiB 4686 and 3536, 512 KiB 37,400 and 28,500. Where a group ended with
/// a line anyway, nothing changes. Stores in descending order gain as much there, but cost much on Zen 4 (ARCHITECTURE.md). Not
/// measured on other CPUs.
///
/// ```text
/// [        head, 4 blocks        ][    tail    ]      len just above four blocks and a line
///   [ 4 aligned blocks ][ 4 aligned blocks ]|
///                                 [    tail    ]
/// [        head, 4 blocks        ]
/// ```
///
/// # Safety
/// `len > 8 * B::BYTES`; `src` is valid for reads and `dst` for writes of `len` bytes; `dst` is not within
/// the `len` bytes before `src`.
#[inline(always)]
pub(crate) unsafe fn copy_backward<B: Block>(dst: *mut u8, src: *const u8, len: usize) {
    let group_bytes = 4 * B::BYTES;
    let line_bytes = line_bytes::<B>();
    // SAFETY: tail, groups and rest are inside the buffers, see `Middle`; len exceeds a line and a group. The groups begin at
    // most a line after the head ends, so that the rest, which is a line before them, reaches the head. If the buffers overlap,
    // dst is at or above src: everything stored before a group or the rest is loaded lies at or above dst + end, hence not below
    // src + end; tail and head were loaded before anything was stored.
    unsafe {
        let head: [MaybeUninit<B>; 4] = load_group(src);
        let tail: [MaybeUninit<B>; 4] = load_line(src.add(len - line_bytes));
        let mut end = end_of_groups(line_bytes, dst, len);
        let last = end - Middle::aligned_to::<B>(line_bytes, len).grouped;
        while end > last {
            end -= group_bytes;
            let group: [MaybeUninit<B>; 4] = load_group(src.add(end));
            store_group(dst.add(end), group);
            compiler_fence(Ordering::SeqCst);
        }
        if end > group_bytes {
            unlikely();
            let rest: [MaybeUninit<B>; 4] = load_line(src.add(end - line_bytes));
            store_line(dst.add(end - line_bytes), rest);
        }
        store_line(dst.add(len - line_bytes), tail);
        store_group(dst, head);
    }
}

/// The bytes of a line, or of a block if it is longer.
#[inline(always)]
pub(super) const fn line_bytes<B: Block>() -> usize {
    if B::BYTES < LINE_BYTES { LINE_BYTES } else { B::BYTES }
}

/// Loads four blocks.
///
/// # Safety
/// `from` is valid for reads of four blocks.
#[inline(always)]
pub(crate) unsafe fn load_group<B: Block>(from: *const u8) -> [B; 4] {
    // SAFETY: four blocks by contract.
    unsafe {
        [load(from), load(from.add(B::BYTES)), load(from.add(2 * B::BYTES)), load(from.add(3 * B::BYTES))]
    }
}

/// Stores four blocks.
///
/// # Safety
/// `to` is valid for writes of four blocks.
#[inline(always)]
pub(crate) unsafe fn store_group<B: Block>(to: *mut u8, group: [B; 4]) {
    // SAFETY: four blocks by contract.
    unsafe {
        store(to, group[0]);
        store(to.add(B::BYTES), group[1]);
        store(to.add(2 * B::BYTES), group[2]);
        store(to.add(3 * B::BYTES), group[3]);
    }
}

/// Prefetches the lines of a later group, which may lie beyond the source: a prefetch never faults.
#[inline(always)]
fn prefetch_once<B: Block>(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    for line in 0..(4 * B::BYTES).div_ceil(super::LINE_BYTES) {
        use core::arch::x86_64::{_MM_HINT_NTA, _mm_prefetch};
        let ahead = at.wrapping_add(READ_ONCE_AHEAD_BYTES + line * super::LINE_BYTES);
        // SAFETY: a prefetch accesses nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_NTA>(ahead.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    let _ = at;
}
