//! Moves of blocks at both ends of a buffer, which overlap in the middle.

use super::{Block, Block16, Fill, Zero, load, store};
use core::mem::MaybeUninit;
use core::sync::atomic::{Ordering, compiler_fence};

/// Copies with `N` blocks at the start and `N` at the end, which overlap unless `len` is `2 * N * B::BYTES`:
///
/// ```text
/// [ head 0 ][ head 1 ]
///           [ tail 1 ][ tail 0 ]
/// ```
///
/// All loads come before all stores, so the buffers may overlap.
///
/// # Safety
/// `N * B::BYTES <= len <= 2 * N * B::BYTES`; `src` is valid for reads and `dst` for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn copy_head_tail<B: Block, const N: usize>(dst: *mut u8, src: *const u8, len: usize) {
    let mut head = [MaybeUninit::<B>::uninit(); N];
    let mut tail = [MaybeUninit::<B>::uninit(); N];
    // SAFETY: block i of the head covers i * BYTES .. (i + 1) * BYTES, block i of the tail the same distance
    // before the end; both lie within len because N * BYTES does.
    unsafe {
        let src_tail = src.add(len - N * B::BYTES);
        let dst_tail = dst.add(len - N * B::BYTES);
        for i in 0..N {
            head[i] = load(src.add(i * B::BYTES));
            tail[i] = load(src_tail.add(i * B::BYTES));
        }
        for (start, blocks) in [(dst, &head), (dst_tail, &tail)] {
            for (i, block) in blocks.iter().enumerate() {
                store(start.add(i * B::BYTES), *block);
            }
        }
    }
}

/// Fills with `N` blocks at the start and `N` at the end, as [`copy_head_tail`].
///
/// # Safety
/// `N * B::BYTES <= len <= 2 * N * B::BYTES`; `dst` is valid for writes of `len` bytes; the CPU has the
/// block's vectors.
#[inline(always)]
pub(crate) unsafe fn fill_head_tail<B: Block, const N: usize>(dst: *mut u8, len: usize, fill: impl Fill) {
    // SAFETY: block i of the head covers i * BYTES .. (i + 1) * BYTES, block i of the tail the same range
    // from N * BYTES before the end; both lie within len because N * BYTES does. The CPU has the vectors by
    // contract.
    unsafe {
        let block: B = fill.block();
        let dst_tail = dst.add(len - N * B::BYTES);
        for start in [dst, dst_tail] {
            for i in 0..N {
                store(start.add(i * B::BYTES), block);
                // Keeps the order. The compiler prefers the reverse one, with which 129 to 256 bytes by 32-byte
                // stores at random offsets took 13.4 ticks instead of 9.3 on Zen 4.
                compiler_fence(Ordering::SeqCst);
            }
        }
    }
}

/// [`fill_head_tail`] with zeros, which require no vectors beyond those of the kernel.
///
/// # Safety
/// `N * B::BYTES <= len <= 2 * N * B::BYTES`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_head_tail<B: Block, const N: usize>(dst: *mut u8, len: usize) {
    // SAFETY: the bounds by contract; making a block of zeros requires no vector instruction.
    unsafe { fill_head_tail::<B, N>(dst, len, Zero) }
}

/// Copies up to 32 bytes with moves of at most 16.
///
/// # Safety
/// `len <= 32`; `src` is valid for reads and `dst` for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn copy_up_to_32(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has len between one and two of its blocks; a single byte is moved for len 1.
    unsafe {
        match len {
            16.. => copy_head_tail::<Block16, 1>(dst, src, len),
            8.. => copy_head_tail::<u64, 1>(dst, src, len),
            4.. => copy_head_tail::<u32, 1>(dst, src, len),
            2.. => copy_head_tail::<u16, 1>(dst, src, len),
            1 => store(dst, load::<MaybeUninit<u8>>(src)),
            0 => {}
        }
    }
}

/// Fills up to 32 bytes with stores of at most 16.
///
/// # Safety
/// `len <= 32`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn fill_up_to_32(dst: *mut u8, len: usize, fill: impl Fill) {
    // SAFETY: each branch has len between one and two of its blocks, whose vectors every CPU has; a single
    // byte is written for len 1.
    unsafe {
        match len {
            16.. => fill_head_tail::<Block16, 1>(dst, len, fill),
            8.. => fill_head_tail::<u64, 1>(dst, len, fill),
            4.. => fill_head_tail::<u32, 1>(dst, len, fill),
            2.. => fill_head_tail::<u16, 1>(dst, len, fill),
            1 => dst.write(fill.byte()),
            0 => {}
        }
    }
}

/// [`fill_up_to_32`] with zeros.
///
/// # Safety
/// `len <= 32`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_up_to_32(dst: *mut u8, len: usize) {
    // SAFETY: at most 32 writable bytes by contract.
    unsafe { fill_up_to_32(dst, len, Zero) }
}

/// Copies up to 64 bytes, such as a head or tail of less than a line, with moves of at most 16.
///
/// # Safety
/// `len <= 64`; `src` is valid for reads and `dst` for writes of `len` bytes.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) unsafe fn copy_up_to_64(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: each branch has the bounds that its block requires.
    unsafe {
        match len {
            ..=32 => copy_up_to_32(dst, src, len),
            _ => copy_head_tail::<Block16, 2>(dst, src, len),
        }
    }
}

/// Fills up to 64 bytes, such as a head or tail of less than a line, with stores of at most 16.
///
/// # Safety
/// `len <= 64`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn fill_up_to_64(dst: *mut u8, len: usize, fill: impl Fill) {
    // SAFETY: each branch has the bounds that its block requires; every CPU has the vectors.
    unsafe {
        match len {
            ..=32 => fill_up_to_32(dst, len, fill),
            _ => fill_head_tail::<Block16, 2>(dst, len, fill),
        }
    }
}

/// [`fill_up_to_64`] with zeros.
///
/// # Safety
/// `len <= 64`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_up_to_64(dst: *mut u8, len: usize) {
    // SAFETY: at most 64 writable bytes by contract.
    unsafe { fill_up_to_64(dst, len, Zero) }
}
