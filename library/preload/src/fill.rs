//! Filling with a byte other than zero: `memset`'s other half, in the same size classes as the library's zeroing.
//!
//! The byte is spread over a block once; then it is two overlapping stores for the small sizes and an aligned loop. For
//! large sizes the library's own plan of zeroing decides between the loop, `rep stosb` and non-temporal stores.

use carryline::internals::cpu::Features;
use core::sync::atomic::{Ordering, compiler_fence};

/// `memset` with a byte that is already one.
pub(crate) type Fill = unsafe extern "C" fn(dst: *mut u8, byte: u8, len: usize) -> *mut u8;

/// The kernel for a CPU.
pub(crate) fn for_features(features: Features) -> Fill {
    #[cfg(target_arch = "x86_64")]
    {
        if features.contains(Features::AVX512) {
            return x86_64::avx512;
        }
        if features.contains(Features::AVX2) {
            return x86_64::avx2;
        }
    }
    let _ = features;
    portable
}

/// Blocks that a byte can be spread over.
trait Block: Copy {
    /// Every byte of the block is `byte`.
    ///
    /// # Safety
    /// The CPU has the block's vectors.
    unsafe fn splat(byte: u8) -> Self;
}

/// A byte repeated over a word.
const fn spread(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Block for $integer {
            #[inline(always)]
            unsafe fn splat(byte: u8) -> Self {
                spread(byte) as $integer
            }
        }
    )*};
}
integers!(u16, u32, u64);

/// 16 bytes in whatever stores them best.
#[cfg(target_arch = "x86_64")]
type Block16 = core::arch::x86_64::__m128i;
#[cfg(target_arch = "x86_64")]
impl Block for Block16 {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: SSE2 is part of the architecture.
        unsafe { core::arch::x86_64::_mm_set1_epi8(byte as i8) }
    }
}
#[cfg(not(target_arch = "x86_64"))]
type Block16 = u128;
#[cfg(not(target_arch = "x86_64"))]
impl Block for Block16 {
    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        u128::from(spread(byte)) << 64 | u128::from(spread(byte))
    }
}

/// With stores of 16 bytes at most: what every CPU of the architecture can do. Reads no relocated data.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes.
pub(crate) unsafe extern "C" fn portable(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
    // SAFETY: the caller's obligation.
    unsafe {
        match len {
            0..=32 => fill_up_to_32(dst, byte, len),
            33..=64 => fill_ends::<Block16, 2>(dst, byte, len),
            65..=128 => fill_ends::<Block16, 4>(dst, byte, len),
            _ => fill_loop::<Block16>(dst, byte, len),
        }
    }
    dst
}

/// # Safety
/// `len <= 32`; otherwise as [`portable`].
#[inline(always)]
unsafe fn fill_up_to_32(dst: *mut u8, byte: u8, len: usize) {
    // SAFETY: each branch has at least as many bytes as its block.
    unsafe {
        match len {
            16.. => fill_ends::<Block16, 1>(dst, byte, len),
            8.. => fill_ends::<u64, 1>(dst, byte, len),
            4.. => fill_ends::<u32, 1>(dst, byte, len),
            2.. => fill_ends::<u16, 1>(dst, byte, len),
            1 => dst.write(byte),
            0 => {}
        }
    }
}

/// `N` blocks at the start and `N` at the end.
///
/// # Safety
/// The CPU has the block's vectors; `N` blocks fit into `len`; otherwise as [`portable`].
#[inline(always)]
unsafe fn fill_ends<B: Block, const N: usize>(dst: *mut u8, byte: u8, len: usize) {
    // SAFETY: N blocks from the start and N before the end lie within len.
    unsafe {
        let block = B::splat(byte);
        store::<B, N>(dst, block);
        store::<B, N>(dst.add(len - N * size_of::<B>()), block);
    }
}

/// One block unaligned, groups of four aligned, and four more that end with the buffer.
///
/// # Safety
/// The CPU has the block's vectors; `len` is at least five blocks; otherwise as [`portable`].
#[inline(always)]
unsafe fn fill_loop<B: Block>(dst: *mut u8, byte: u8, len: usize) {
    let last = len - 4 * size_of::<B>();
    let mut at = size_of::<B>() - (dst.addr() & (size_of::<B>() - 1));
    // SAFETY: a group fits behind `at` while at < last; the last group ends at len.
    unsafe {
        let block = B::splat(byte);
        store::<B, 1>(dst, block);
        while at < last {
            store::<B, 4>(dst.add(at), block);
            at += 4 * size_of::<B>();
            compiler_fence(Ordering::SeqCst);
        }
        store::<B, 4>(dst.add(last), block);
    }
}

/// # Safety
/// `to` is valid for writes of `N` blocks.
#[inline(always)]
unsafe fn store<B: Copy, const N: usize>(to: *mut u8, block: B) {
    for i in 0..N {
        // SAFETY: the caller's obligation; unaligned is allowed.
        unsafe { to.cast::<B>().add(i).write_unaligned(block) };
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{Block, fill_ends, fill_loop, fill_up_to_32};
    use carryline::internals::cpu::LOOPS_BELOW_BYTES;
    use carryline::Intent;
    use carryline::internals::plan::{Plan, Way};
    use core::arch::asm;
    use core::arch::x86_64::{
        __m256i, __m512i, _bzhi_u64, _mm_sfence, _mm256_set1_epi8, _mm256_stream_si256,
        _mm512_mask_storeu_epi8, _mm512_set1_epi8, _mm512_stream_si512,
    };
    use core::sync::atomic::{Ordering, compiler_fence};

    impl Block for __m256i {
        #[inline(always)]
        unsafe fn splat(byte: u8) -> Self {
            // SAFETY: the caller's obligation.
            unsafe { _mm256_set1_epi8(byte as i8) }
        }
    }

    impl Block for __m512i {
        #[inline(always)]
        unsafe fn splat(byte: u8) -> Self {
            // SAFETY: the caller's obligation.
            unsafe { _mm512_set1_epi8(byte as i8) }
        }
    }

    /// # Safety
    /// The CPU has AVX2; otherwise as [`super::portable`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe extern "C" fn avx2(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
        // SAFETY: each branch has the bytes that its blocks ask for.
        unsafe {
            match len {
                0..=32 => fill_up_to_32(dst, byte, len),
                33..=64 => fill_ends::<__m256i, 1>(dst, byte, len),
                65..=128 => fill_ends::<__m256i, 2>(dst, byte, len),
                129..=256 => fill_ends::<__m256i, 4>(dst, byte, len),
                257..LOOPS_BELOW_BYTES => fill_loop::<__m256i>(dst, byte, len),
                _ => match Plan::of_zero(Intent::default(), len).way {
                    Way::Loop => fill_loop::<__m256i>(dst, byte, len),
                    Way::String => rep_stosb(dst, byte, len),
                    Way::NonTemporal => {
                        let block = __m256i::splat(byte);
                        lines_past_the_caches(dst, byte, len, |line| {
                            _mm256_stream_si256(line.cast(), block);
                            _mm256_stream_si256(line.add(32).cast(), block);
                        });
                    }
                },
            }
        }
        dst
    }

    /// # Safety
    /// The CPU has [`Features::AVX512`](carryline::internals::cpu::Features::AVX512); otherwise as [`super::portable`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    pub(super) unsafe extern "C" fn avx512(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
        // SAFETY: each branch has the bytes that its blocks ask for; a masked store writes only the first len bytes.
        unsafe {
            match len {
                0 => {}
                // A masked store whose idle lanes lie in a page that is not there is right, but slow.
                1..=64 if dst.addr() & 4095 <= 4096 - 64 => {
                    let mask = _bzhi_u64(u64::MAX, len as u32);
                    _mm512_mask_storeu_epi8(dst.cast(), mask, __m512i::splat(byte));
                }
                1..=32 => fill_up_to_32(dst, byte, len),
                33..=64 => fill_ends::<__m256i, 1>(dst, byte, len),
                65..=128 => fill_ends::<__m512i, 1>(dst, byte, len),
                129..=256 => fill_ends::<__m512i, 2>(dst, byte, len),
                257..=512 => fill_ends::<__m512i, 4>(dst, byte, len),
                513..LOOPS_BELOW_BYTES => fill_loop::<__m512i>(dst, byte, len),
                _ => match Plan::of_zero(Intent::default(), len).way {
                    Way::Loop => fill_loop::<__m512i>(dst, byte, len),
                    Way::String => rep_stosb(dst, byte, len),
                    Way::NonTemporal => {
                        let block = __m512i::splat(byte);
                        lines_past_the_caches(dst, byte, len, |line| _mm512_stream_si512(line.cast(), block));
                    }
                },
            }
        }
        dst
    }

    /// Both ends with ordinary stores, whole lines between them by `stream`, and a fence, lest a later store of the
    /// caller's be seen before these.
    ///
    /// # Safety
    /// The CPU has AVX2, `len >= 128`, and `stream` writes the 64 bytes of the aligned line that it is given.
    #[inline(always)]
    unsafe fn lines_past_the_caches(dst: *mut u8, byte: u8, len: usize, stream: impl Fn(*mut u8)) {
        let mut at = 64 - (dst.addr() & 63);
        // SAFETY: 64 bytes at either end are within len; a line fits behind `at` while at + 64 <= len.
        unsafe {
            fill_ends::<__m256i, 1>(dst, byte, 64);
            fill_ends::<__m256i, 1>(dst.add(len - 64), byte, 64);
            while at + 64 <= len {
                stream(dst.add(at));
                at += 64;
                compiler_fence(Ordering::SeqCst);
            }
            _mm_sfence();
        }
    }

    /// `rep stosb` behind a head that aligns it to a line.
    ///
    /// # Safety
    /// The CPU has AVX2, `len >= 64`.
    #[inline(always)]
    unsafe fn rep_stosb(dst: *mut u8, byte: u8, len: usize) {
        let skip = 64 - (dst.addr() & 63);
        // SAFETY: the head takes 64 bytes; the rest begins 1 to 64 bytes in and ends at len. The direction flag is
        // clear on entry to every function.
        unsafe {
            fill_ends::<__m256i, 1>(dst, byte, 64);
            asm!(
                "rep stosb",
                inout("rcx") len - skip => _,
                inout("rdi") dst.add(skip) => _,
                in("al") byte,
                options(nostack, preserves_flags)
            );
        }
    }
}
