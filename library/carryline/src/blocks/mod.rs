//! The building blocks of the kernels: moves of one block, overlapping moves at both ends, and in submodules
//! small moves for mixed sizes, masked accesses, loops, non-temporal stores, string instructions and reading
//! before writing.
//!
//! A block `B` is any plain type of 1 to 64 bytes: an integer or a vector. Copies move it as `MaybeUninit<B>`, because the
//! bytes of the source may be uninitialised or parts of pointers, of which an integer is neither. The functions have no
//! `#[target_feature]` of their own: they are always inlined and take on the features of the kernel that uses
//! them.
//!
//! **No hidden `memset` or `memcpy`.** LLVM turns a loop that stores zeros, or that stores what it loads,
//! into a call of these symbols. A `memset` built on this crate would then call itself, and on a bare target
//! the symbol may not exist. Every loop here therefore has a compiler fence in its body, which keeps the
//! compiler from merging the stores on both of its sides into one operation. The fence emits no instruction.
//! Moves of one block have a fixed size and become instructions, never calls.

use core::mem::MaybeUninit;
use core::sync::atomic::{Ordering, compiler_fence};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod apart;
#[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "none")))]
mod assembly;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod by_distance;
#[cfg(target_arch = "x86_64")]
mod clzero;
mod dirty;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod far;
#[cfg(target_arch = "x86_64")]
mod fence;
mod fills;
mod loops;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod masked;
mod mixed;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod non_temporal;
#[cfg(target_arch = "x86_64")]
mod rep;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use apart::copy_apart;
#[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "none")))]
pub(crate) use assembly::assembly_function;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "sse2",
    any(target_os = "linux", target_os = "none")
))]
pub(crate) use assembly::returned;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use by_distance::{copy_by_distance, is_downwards_faster, order_by_distance};
#[cfg(target_arch = "x86_64")]
pub(crate) use clzero::zero_by_clzero;
pub(crate) use dirty::zero_if_dirty;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use far::{prefetch_far, prefetch_page_far};
#[cfg(target_arch = "x86_64")]
pub(crate) use fence::fence;
pub(crate) use fills::{fill_aligned_loop, zero_aligned_loop};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use fills::{fill_prefetched_loop, zero_mostly_aligned};
#[cfg(all(
    target_arch = "x86_64",
    any(test, target_feature = "sse2", not(any(target_os = "linux", target_os = "none")))
))]
pub(crate) use loops::unlikely;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use loops::{READ_FAR, READ_ONCE, STORED_AFTER_FETCHING, STORED_AT_ONCE, load_group, store_group};
pub(crate) use loops::{READ_KEPT, copy_backward, copy_forward};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use masked::{
    MaskedEnds, back_from_page_end, computed_here, copy_masked, copy_masked_by_halves, is_in_first_line,
    is_mask_slow, is_mask_slow_at_either, is_near_page_end, straight_line_ends,
};
pub(crate) use mixed::{copy_mixed_up_to_64, zero_mixed_up_to_64};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use non_temporal::{copy_non_temporal, fill_non_temporal, zero_non_temporal};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use rep::copy_rep_movsb;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use rep::fill_rep_stosb;
#[cfg(target_arch = "x86_64")]
pub(crate) use rep::zero_rep_stosb;
#[cfg(all(target_arch = "x86_64", not(target_feature = "sse2")))]
pub(crate) use {mixed::places, rep::rep_movsb};

/// The number of bytes in a cache line.
pub(crate) const LINE_BYTES: usize = 64;

/// A 16-byte block of the type that moves fastest.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) type Block16 = core::arch::x86_64::__m128i;
/// A 16-byte block of the type that moves fastest.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) type Block16 = u128;

/// A plain block: any bytes are a valid value, and all-zero bytes are its zero.
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

    /// A block in which every byte is `byte`.
    ///
    /// # Safety
    /// The CPU has the block's vectors.
    unsafe fn splat(byte: u8) -> Self;
}

/// The byte that blocks are filled with.
pub(crate) trait Fill: Copy {
    /// The byte.
    fn byte(self) -> u8;

    /// A block of it.
    ///
    /// # Safety
    /// The CPU has the block's vectors.
    unsafe fn block<B: Block>(self) -> B;
}

/// The byte 0, a compile-time constant: the code is that of zeroing alone.
#[derive(Clone, Copy)]
pub(crate) struct Zero;

impl Fill for Zero {
    #[inline(always)]
    fn byte(self) -> u8 {
        0
    }

    #[inline(always)]
    unsafe fn block<B: Block>(self) -> B {
        B::zeroed()
    }
}

/// Any byte.
impl Fill for u8 {
    #[inline(always)]
    fn byte(self) -> u8 {
        self
    }

    #[inline(always)]
    unsafe fn block<B: Block>(self) -> B {
        // SAFETY: the CPU has the block's vectors by contract.
        unsafe { B::splat(self) }
    }
}

// SAFETY: as for the block itself; bytes that are not initialised are a value too.
unsafe impl<B: Block> Block for MaybeUninit<B> {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: the CPU has the block's vectors by contract.
        MaybeUninit::new(unsafe { B::splat(byte) })
    }
}

/// Defines blocks of integers: a multiplication by 01 01 01 ... replicates the byte.
macro_rules! integers {
    ($($integer:ty),*) => {$(
        // SAFETY: an integer has no padding, no invalid pattern and no drop glue.
        unsafe impl Block for $integer {
            #[inline(always)]
            unsafe fn splat(byte: u8) -> $integer {
                <$integer>::from(byte) * (<$integer>::MAX / 0xff)
            }
        }
    )*};
}
integers!(u8, u16, u32, u64);
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
integers!(u128);

/// Defines blocks of vectors, each with the instruction that broadcasts a byte.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
macro_rules! vectors {
    ($($vector:ident: $splat:ident;)*) => {$(
        // SAFETY: a vector of integers has no padding, no invalid pattern and no drop glue.
        unsafe impl Block for core::arch::x86_64::$vector {
            #[inline(always)]
            unsafe fn splat(byte: u8) -> Self {
                // SAFETY: the CPU has the vector by contract.
                unsafe { core::arch::x86_64::$splat(byte as i8) }
            }
        }
    )*};
}
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
vectors! {
    __m128i: _mm_set1_epi8;
    __m256i: _mm256_set1_epi8;
    __m512i: _mm512_set1_epi8;
}

/// Reads a block at any address.
///
/// # Safety
/// `from` is valid for reads of `B::BYTES`.
#[inline(always)]
pub(crate) unsafe fn load<B: Block>(from: *const u8) -> B {
    // SAFETY: valid by contract; unaligned is allowed, and any bytes are a valid `B`.
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

/// The initialised bytes of a slice.
///
/// # Safety
/// Every byte of the slice is initialised.
#[inline(always)]
pub(crate) unsafe fn assume_init(slice: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: initialised by contract; the same address and length, and the result takes over the borrow.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len()) }
}

/// Bytes from `address` (exclusive) up to the next multiple of `alignment`: 1 to `alignment`.
#[inline(always)]
pub(crate) fn bytes_to_next_multiple(address: *const u8, alignment: usize) -> usize {
    alignment - (address.addr() & (alignment - 1))
}

/// Bytes from `address` (inclusive) up to the next multiple of `alignment`: 0 to `alignment` - 1.
#[inline(always)]
pub(crate) fn bytes_to_multiple(address: *const u8, alignment: usize) -> usize {
    address.addr().wrapping_neg() & (alignment - 1)
}

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

/// Aligns the start of the function into which it is inlined to a cache line, if each function has its own
/// section, as rustc arranges for ELF: a section has the alignment of its most aligned item, and the function
/// is at its start. With rustc's default of 16 bytes, a kernel for small sizes may span one line more.
/// Sixteen placements of the copy kernel on Zen 5, with the sizes of the distribution memmove-A: 5.2 ticks
/// per call at 0 or 16 bytes into a line, 5.4 at 32, 6.0 (5.3 to 6.8) at 48. This emits up to 63 bytes of
/// no-operations, so use it on cold paths only.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) fn begin_on_a_line() {
    // SAFETY: only no-operation instructions.
    unsafe { core::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags)) };
}

/// At the end of a branch: keeps LLVM from merging its last instructions with those of a branch with another
/// `N`, to which it would then jump. This emits no instruction. Without it, zeroing of 256 bytes for a reader
/// took four jumps instead of three, and with the read 8.5 instead of 7.8 ticks on Zen 5.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) fn end_of_branch<const N: usize>() {
    // SAFETY: only a comment.
    unsafe { core::arch::asm!("/* branch {} ends */", const N, options(nomem, nostack, preserves_flags)) };
}
