//! Small building blocks of the kernels: moves of one block, overlapping moves at both ends, the aligned loop.
//!
//! A block `B` is any plain type of 1 to 64 bytes: an integer or a vector. The blocks carry no
//! `#[target_feature]` of their own: they are always inlined and so take on the features of the kernel that
//! uses them.
//!
//! **No hidden `memset` or `memcpy`.** LLVM turns a loop that stores zeros, or stores what it loads, into a
//! call of these symbols. A `memset` built on this crate would then call itself, and on a bare target the
//! symbol may not exist. Every loop here therefore has a compiler fence in its body: the compiler may not merge
//! the stores on both of its sides into one operation. The fence emits no instruction. Moves of one block are
//! fixed in size and become instructions, never calls.

use core::sync::atomic::{Ordering, compiler_fence};

/// 16 bytes in whatever moves them best.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) type Block16 = core::arch::x86_64::__m128i;
/// 16 bytes in whatever moves them best.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) type Block16 = u128;

/// A plain block: any bytes are a value of it, and all-zero bytes are its zero.
///
/// # Safety
/// The type has no padding, no invalid bit pattern and no drop glue.
pub(crate) unsafe trait Block: Copy {
    /// Bytes in one block.
    const BYTES: usize = size_of::<Self>();

    /// All bytes zero.
    #[inline(always)]
    fn zeroed() -> Self {
        // SAFETY: the trait's contract: zero bytes are a value.
        unsafe { core::mem::zeroed() }
    }
}

// SAFETY: integers and vectors of integers have no padding and no invalid pattern.
unsafe impl Block for u16 {}
// SAFETY: as above.
unsafe impl Block for u32 {}
// SAFETY: as above.
unsafe impl Block for u64 {}
// SAFETY: as above.
unsafe impl Block for Block16 {}
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
// SAFETY: as above.
unsafe impl Block for core::arch::x86_64::__m256i {}
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
// SAFETY: as above.
unsafe impl Block for core::arch::x86_64::__m512i {}

/// Reads a block at any address.
///
/// # Safety
/// `from` is valid for reads of `B::BYTES`.
#[inline(always)]
pub(crate) unsafe fn load<B: Block>(from: *const u8) -> B {
    // SAFETY: valid by contract; unaligned is allowed, and any bytes are a `B`.
    unsafe { from.cast::<B>().read_unaligned() }
}

/// Writes a block at any address.
///
/// # Safety
/// `to` is valid for writes of `B::BYTES`.
#[inline(always)]
pub(crate) unsafe fn store<B: Block>(to: *mut u8, block: B) {
    // SAFETY: valid by contract; unaligned is allowed.
    unsafe { to.cast::<B>().write_unaligned(block) }
}

/// Bytes from `address` (exclusive) up to the next multiple of `alignment`: 1 to `alignment`.
#[inline(always)]
pub(crate) fn bytes_to_next_multiple(address: *const u8, alignment: usize) -> usize {
    alignment - (address.addr() & (alignment - 1))
}

/// Copies with `N` blocks at the start and `N` at the end, which overlap unless `len` is `2 * N * B::BYTES`:
///
/// ```text
/// [ head 0 ][ head 1 ]
///           [ tail 1 ][ tail 0 ]
/// ```
///
/// All loads come before all stores, so that it moves overlapping buffers too.
///
/// # Safety
/// `N * B::BYTES <= len <= 2 * N * B::BYTES`; `src` is valid for reads and `dst` for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn copy_head_tail<B: Block, const N: usize>(dst: *mut u8, src: *const u8, len: usize) {
    let mut head = [B::zeroed(); N];
    let mut tail = [B::zeroed(); N];
    // SAFETY: block i of the head covers i * BYTES .. (i + 1) * BYTES, block i of the tail the same distance
    // before the end; both lie within len because N * BYTES does.
    unsafe {
        let src_tail = src.add(len - N * B::BYTES);
        let dst_tail = dst.add(len - N * B::BYTES);
        for i in 0..N {
            head[i] = load(src.add(i * B::BYTES));
            tail[i] = load(src_tail.add(i * B::BYTES));
        }
        for i in 0..N {
            store(dst.add(i * B::BYTES), head[i]);
            store(dst_tail.add(i * B::BYTES), tail[i]);
        }
    }
}

/// Zeroes with `N` blocks at the start and `N` at the end, as [`copy_head_tail`].
///
/// # Safety
/// `N * B::BYTES <= len <= 2 * N * B::BYTES`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_head_tail<B: Block, const N: usize>(dst: *mut u8, len: usize) {
    // SAFETY: as in `copy_head_tail`.
    unsafe {
        let dst_tail = dst.add(len - N * B::BYTES);
        for i in 0..N {
            store(dst.add(i * B::BYTES), B::zeroed());
            store(dst_tail.add(i * B::BYTES), B::zeroed());
        }
    }
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
            1 => dst.write(src.read()),
            0 => {}
        }
    }
}

/// Zeroes up to 32 bytes with stores of at most 16.
///
/// # Safety
/// `len <= 32`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_up_to_32(dst: *mut u8, len: usize) {
    // SAFETY: as in `copy_up_to_32`.
    unsafe {
        match len {
            16.. => zero_head_tail::<Block16, 1>(dst, len),
            8.. => zero_head_tail::<u64, 1>(dst, len),
            4.. => zero_head_tail::<u32, 1>(dst, len),
            2.. => zero_head_tail::<u16, 1>(dst, len),
            1 => dst.write(0),
            0 => {}
        }
    }
}

/// Copies with one unaligned block at the start, four at the end and, between them, groups of four whose stores
/// are aligned to the block:
///
/// ```text
/// [ head ][        tail, 4 blocks        ]      len just above four blocks
/// [ head ]
///      |[ 4 aligned blocks ][ 4 aligned blocks ]
///                                 [        tail, 4 blocks        ]
/// ```
///
/// # Safety
/// `len >= 5 * B::BYTES`; `src` is valid for reads and `dst` for writes of `len` bytes; no overlap.
#[inline(always)]
pub(crate) unsafe fn copy_aligned_loop<B: Block>(dst: *mut u8, src: *const u8, len: usize) {
    let last_group = len - 4 * B::BYTES;
    // SAFETY: the head is the first block. The loop starts at most one block in and runs while a group starts
    // before the last group, hence ends before len. The last group ends at len.
    unsafe {
        store::<B>(dst, load(src));
        let mut at = bytes_to_next_multiple(dst, B::BYTES);
        while at < last_group {
            copy_group::<B>(dst.add(at), src.add(at));
            at += 4 * B::BYTES;
            compiler_fence(Ordering::SeqCst);
        }
        copy_group::<B>(dst.add(last_group), src.add(last_group));
    }
}

/// # Safety
/// `src` is valid for reads and `dst` for writes of four blocks.
#[inline(always)]
unsafe fn copy_group<B: Block>(dst: *mut u8, src: *const u8) {
    // SAFETY: four blocks by contract.
    unsafe {
        let group: [B; 4] =
            [load(src), load(src.add(B::BYTES)), load(src.add(2 * B::BYTES)), load(src.add(3 * B::BYTES))];
        store(dst, group[0]);
        store(dst.add(B::BYTES), group[1]);
        store(dst.add(2 * B::BYTES), group[2]);
        store(dst.add(3 * B::BYTES), group[3]);
    }
}

/// Zeroes as [`copy_aligned_loop`] copies.
///
/// # Safety
/// `len >= 5 * B::BYTES`; `dst` is valid for writes of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn zero_aligned_loop<B: Block>(dst: *mut u8, len: usize) {
    let last_group = len - 4 * B::BYTES;
    // SAFETY: as in `copy_aligned_loop`.
    unsafe {
        store(dst, B::zeroed());
        let mut at = bytes_to_next_multiple(dst, B::BYTES);
        while at < last_group {
            zero_group::<B>(dst.add(at));
            at += 4 * B::BYTES;
            compiler_fence(Ordering::SeqCst);
        }
        zero_group::<B>(dst.add(last_group));
    }
}

/// # Safety
/// `dst` is valid for writes of four blocks.
#[inline(always)]
unsafe fn zero_group<B: Block>(dst: *mut u8) {
    // SAFETY: four blocks by contract.
    unsafe {
        store(dst, B::zeroed());
        store(dst.add(B::BYTES), B::zeroed());
        store(dst.add(2 * B::BYTES), B::zeroed());
        store(dst.add(3 * B::BYTES), B::zeroed());
    }
}

/// True if a 64-byte access at `address` would reach into the next page.
///
/// A masked access there is right, as inactive lanes never fault, but if the next page is not mapped, or not
/// yet touched, the CPU finds that out in microcode: hundreds of cycles. Kernels with masked accesses ask
/// first and take another way. 4096 is the smallest page of the architecture, so larger ones are covered.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) fn reaches_next_page(address: *const u8) -> bool {
    address.addr() & 4095 > 4096 - 64
}
