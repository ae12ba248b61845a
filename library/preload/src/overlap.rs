//! Moving bytes between buffers that may overlap.
//!
//! Served by calls before this library's constructor has run, and where the C library's own routine is not found; later
//! calls are the library's kernels' job.
//!
//! Up to eight blocks everything is loaded before anything is stored. Above, the blocks at both ends are kept in
//! registers while a loop goes up (destination below the source) or down, in groups of four blocks, each loaded whole
//! before it is stored:
//! ```text
//! up:    [kept][group][group]...  [ kept: last four ]      kept blocks are stored last
//! down:  [ kept: first four ]  ...[group][group][kept]
//! ```

use core::marker::Copy as Plain;
use core::sync::atomic::{Ordering, compiler_fence};

/// 16 bytes in whatever moves them best.
#[cfg(target_arch = "x86_64")]
type Block16 = core::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Block16 = u128;

/// With moves of 16 bytes at most: what every CPU of the architecture can do. Reads no relocated data.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes.
pub(crate) unsafe extern "C" fn portable(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: the caller's obligation; a Block16 is plain.
    unsafe {
        if len < 32 {
            move_below_32(dst, src, len);
        } else {
            move_blocks::<Block16>(dst, src, len);
        }
    }
    dst
}

/// # Safety
/// `len < 32`; otherwise as [`portable`].
#[inline(always)]
unsafe fn move_below_32(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has at least as many bytes as its block.
    unsafe {
        match len {
            16.. => move_ends::<Block16, 1>(dst, src, len),
            8.. => move_ends::<u64, 1>(dst, src, len),
            4.. => move_ends::<u32, 1>(dst, src, len),
            2.. => move_ends::<u16, 1>(dst, src, len),
            1 => dst.write(src.read()),
            0 => {}
        }
    }
}

/// `N` blocks at the start and `N` at the end, all loaded before any is stored.
///
/// # Safety
/// Any bytes are a `B`; `N` blocks fit into `len`; otherwise as [`portable`].
#[inline(always)]
unsafe fn move_ends<B: Plain, const N: usize>(dst: *mut u8, src: *const u8, len: usize) {
    let tail = len - N * size_of::<B>();
    // SAFETY: N blocks from the start and from `tail` on lie within len.
    unsafe {
        let head = load::<B, N>(src);
        let last = load::<B, N>(src.add(tail));
        store(dst, head);
        store(dst.add(tail), last);
    }
}

/// # Safety
/// Any bytes are a `B`; `len` is at least two blocks; otherwise as [`portable`].
#[inline(always)]
unsafe fn move_blocks<B: Plain>(dst: *mut u8, src: *const u8, len: usize) {
    let block = size_of::<B>();
    // SAFETY: each branch has at least the blocks that it moves.
    unsafe {
        if len <= 2 * block {
            move_ends::<B, 1>(dst, src, len);
        } else if len <= 4 * block {
            move_ends::<B, 2>(dst, src, len);
        } else if len <= 8 * block {
            move_ends::<B, 4>(dst, src, len);
        } else if dst.addr() <= src.addr() {
            move_up::<B>(dst, src, len);
        } else {
            move_down::<B>(dst, src, len);
        }
    }
}

/// # Safety
/// Any bytes are a `B`; `len` is more than eight blocks; `dst` is not above `src`; otherwise as [`portable`].
#[inline(always)]
unsafe fn move_up<B: Plain>(dst: *mut u8, src: *const u8, len: usize) {
    let group = 4 * size_of::<B>();
    let last = len - group;
    // The first store that is aligned to the block.
    let mut at = size_of::<B>() - (dst.addr() & (size_of::<B>() - 1));
    // SAFETY: a group fits behind `at` while at < last. What a group stores lies below what later groups load,
    // because dst is not above src; the last four blocks and the first were loaded before anything was stored.
    unsafe {
        let head = load::<B, 1>(src);
        let tail = load::<B, 4>(src.add(last));
        while at < last {
            let blocks = load::<B, 4>(src.add(at));
            store(dst.add(at), blocks);
            at += group;
            compiler_fence(Ordering::SeqCst);
        }
        store(dst.add(last), tail);
        store(dst, head);
    }
}

/// # Safety
/// As [`move_up`], but `dst` is above `src`.
#[inline(always)]
unsafe fn move_down<B: Plain>(dst: *mut u8, src: *const u8, len: usize) {
    let group = 4 * size_of::<B>();
    // Where the last group ends that is aligned to the block.
    let mut end = len - ((dst.addr() + len) & (size_of::<B>() - 1));
    // SAFETY: a group fits before `end` while end > group. What a group stores lies above what later groups load,
    // because dst is above src; the first four blocks and the last were loaded before anything was stored.
    unsafe {
        let head = load::<B, 4>(src);
        let tail = load::<B, 1>(src.add(len - size_of::<B>()));
        while end > group {
            let blocks = load::<B, 4>(src.add(end - group));
            store(dst.add(end - group), blocks);
            end -= group;
            compiler_fence(Ordering::SeqCst);
        }
        store(dst, head);
        store(dst.add(len - size_of::<B>()), tail);
    }
}

/// # Safety
/// `from` is valid for reads of `N` blocks, and any bytes are a `B`.
#[inline(always)]
unsafe fn load<B: Plain, const N: usize>(from: *const u8) -> [B; N] {
    // SAFETY: the caller's obligation; unaligned is allowed.
    core::array::from_fn(|i| unsafe { from.cast::<B>().add(i).read_unaligned() })
}

/// # Safety
/// `to` is valid for writes of `N` blocks.
#[inline(always)]
unsafe fn store<B: Plain, const N: usize>(to: *mut u8, blocks: [B; N]) {
    for (i, block) in blocks.into_iter().enumerate() {
        // SAFETY: the caller's obligation; unaligned is allowed.
        unsafe { to.cast::<B>().add(i).write_unaligned(block) };
    }
}
