//! The building blocks of the kernels: moves of one block, and in submodules overlapping moves at both ends,
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
//! Moves of one block have a fixed size and become instructions where the crate is optimised (opt-level 1 or
//! more). At opt-level 0 they may become calls: the functions of `core` that move a block are then calls of their
//! own, and call `memcpy`.

use core::mem::MaybeUninit;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod apart;
#[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "none")))]
mod assembly;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod by_distance;
#[cfg(target_arch = "x86_64")]
mod clzero;
mod dirty;
mod ends;
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
pub(crate) use ends::{
    copy_head_tail, copy_up_to_32, fill_head_tail, fill_up_to_32, zero_head_tail, zero_up_to_32,
    zero_up_to_64,
};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use ends::{copy_up_to_64, fill_up_to_64};
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
