//! Copy and sum in two passes over blocks that stay in the first-level cache.
//!
//! The source is summed. The copy holds the same bytes, but loading them in other widths than they were
//! stored in would wait until the stores have left the store buffer.
//!
//! Buffers that exceed the caches are copied so by the vector kernels too, with non-temporal stores. Alternating builds on Zen 4,
//! million ticks in one pass and so, at offset 0 and with both buffers unaligned: 16 MiB 2.70 and 2.21, 2.64 and 1.92; 64 MiB 18.1 and 13.2,
//! 17.0 and 12.5 (with blocks of 32 KiB 13.0 and 13.0, if a block is summed before it is copied 13.9 and 13.5), a scalar loop 14.8 to
//! 15.9.

#[cfg(target_arch = "x86_64")]
use super::adc_assembly;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::cpu::caches::SHARE_BYTES;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::dispatch::PlannedCopyFn;
use crate::dispatch::{ChecksumFn, CopyFn};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::intent::{Intent, Plan, Way};

/// A block and its copy take half of a first-level cache of 32 KiB. Even, so that words keep their positions
/// from one block to the next.
pub(crate) const BLOCK_BYTES: usize = 8 << 10;

/// # Safety
/// As [`copy_and_sum_raw`](super::copy_and_sum_raw); the CPU has what `copy` and `sum` require.
#[inline(always)]
unsafe fn copy_and_sum(
    copy: CopyFn,
    sum: ChecksumFn,
    mut dst: *mut u8,
    mut src: *const u8,
    mut len: usize,
    seed: u32,
) -> u32 {
    let mut total = seed;
    // SAFETY: whole blocks are taken while more than one is left, then the rest; both buffers contain them.
    unsafe {
        while len > BLOCK_BYTES {
            copy(dst, src, BLOCK_BYTES);
            total = sum(src, BLOCK_BYTES, total);
            dst = dst.add(BLOCK_BYTES);
            src = src.add(BLOCK_BYTES);
            len -= BLOCK_BYTES;
        }
        copy(dst, src, len);
        sum(src, len, total)
    }
}

/// The least length that may be [`beyond_caches`].
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) const BEYOND_CACHES_LEAST_BYTES: usize = *SHARE_BYTES.start() / 2;

/// Copies and sums with non-temporal stores if copies of this length have them ([`Plan`]); otherwise does nothing, and returns `None`.
/// Not inlined, so that shorter calls read no decision.
///
/// # Safety
/// As [`copy_and_sum_raw`](super::copy_and_sum_raw); `len >= BEYOND_CACHES_LEAST_BYTES`; `copy` is a kernel's code for copies without
/// a fence; the CPU has what `copy` and `sum` require.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[cold]
#[inline(never)]
pub(super) unsafe fn beyond_caches(
    copy: PlannedCopyFn,
    sum: ChecksumFn,
    mut dst: *mut u8,
    mut src: *const u8,
    mut len: usize,
    seed: u32,
) -> Option<u32> {
    let plan = Plan::of_copy(Intent::default(), dst, src, len);
    if plan.way != Way::NonTemporal {
        return None;
    }
    let mut total = seed;
    // So that later blocks begin with a line of the destination. Even, as BLOCK_BYTES.
    let mut bytes = BLOCK_BYTES - (dst.addr() & 62);
    // SAFETY: a block is at most what is left, so both buffers contain it; the stores are ordered before later ones by the fence.
    unsafe {
        while len > 0 {
            bytes = bytes.min(len);
            copy(dst, src, bytes, plan);
            total = sum(src, bytes, total);
            dst = dst.add(bytes);
            src = src.add(bytes);
            len -= bytes;
            bytes = BLOCK_BYTES;
        }
        crate::blocks::fence();
    }
    Some(total)
}

/// The portable kernels.
///
/// # Safety
/// As [`copy_and_sum_raw`](super::copy_and_sum_raw).
pub(crate) unsafe extern "C" fn portable(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: valid for `len` bytes, the source's initialised, and no overlap, by contract.
    unsafe { copy_and_sum(crate::copy::portable::copy, super::portable::partial, dst, src, len, seed) }
}

/// The portable copy, or non-temporal stores of 16 bytes, and the sum by add-with-carry.
///
/// # Safety
/// As [`copy_and_sum_raw`](super::copy_and_sum_raw).
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe extern "C" fn adc(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    #[cfg(target_feature = "sse2")]
    if len >= BEYOND_CACHES_LEAST_BYTES {
        let copy = crate::copy::sse2::CODE.unfenced;
        // SAFETY: the same contract; the length was tested; the library is compiled for CPUs with SSE2.
        if let Some(total) = unsafe { beyond_caches(copy, adc_assembly::partial, dst, src, len, seed) } {
            return total;
        }
    }
    // SAFETY: valid for `len` bytes, the source's initialised, and no overlap, by contract.
    unsafe { copy_and_sum(crate::copy::portable::copy, adc_assembly::partial, dst, src, len, seed) }
}
