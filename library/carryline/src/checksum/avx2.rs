//! The sum by 64-bit additions, 32 bytes at a time, whose carries are counted afterwards; see [`avx2_vectors`].
//!
//! Up to 128 bytes, 32-bit halves are added, which lose no carry; above, [`Sums`].
//!
//! If sizes vary, a mispredicted branch costs more than vectors that add nothing. So the length selects one
//! of six paths, and within each no branch depends on it except for the number of whole groups. Up to 64
//! bytes, loads are masked by 32 bits, and the last 0 to 3 bytes come from one 32-bit load that ends with the
//! data. Above, the last vectors end with the data, and the bytes already added are masked out.
//!
//! [`avx2_vectors`]: super::avx2_vectors

use super::avx2_groups::walk;
use super::avx2_vectors::{GROUP_BYTES, Sums, Vectors, add_lanes, halves, take_byte};
use super::by_blocks::{BEYOND_CACHES_LEAST_BYTES, beyond_caches};
use super::{adc_assembly, fold_64, is_prefetched_far};
use crate::blocks::{begin_on_a_line, end_of_branch, is_near_page_end, load, unlikely};
use crate::profile::PREFETCH_FAR_LEAST_BYTES;
use core::arch::x86_64::{__m256i, _mm256_add_epi64, _mm256_maskload_epi32};

/// 16 active 32-bit lanes, 16 inactive ones, and 16 active ones: starting at lane 16 - n, the first n of 16 lanes are active;
/// starting at lane 16 + n, the last n.
pub(super) static LANES: Lanes = Lanes({
    let mut lanes = [u32::MAX; 48];
    let mut i = 16;
    while i < 32 {
        lanes[i] = 0;
        i += 1;
    }
    lanes
});

/// Aligned, so that as few loads as possible cross a cache line.
#[repr(align(64))]
pub(super) struct Lanes([u32; 48]);

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`partial_raw`](super::partial_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is within the bounds that each function requires.
    unsafe {
        match len {
            4..=64 => from_4_to_64(data, len, seed),
            65.. => above_64::<false>(core::ptr::null_mut(), data, len, seed),
            ..4 => fold_64(u64::from(seed) + below_4(data, len)),
        }
    }
}

/// # Safety
/// The CPU has AVX2; `4 <= len <= 64`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn from_4_to_64(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract; masked loads do not reach into the next page.
    unsafe {
        if is_near_page_end(data) {
            unlikely();
            begin_on_a_line();
            return adc_assembly::partial(data, len, seed);
        }
        up_to_64(data, len, seed)
    }
}

/// Selects the code above 64 bytes; with `COPY`, also copies to `dst`. Above 256, lengths up to 512 are told apart
/// first: with one more jump, 257 bytes took 17.9 instead of 16.5 ticks on Zen 3; 1024 bytes take as long.
///
/// # Safety
/// The CPU has AVX2; `len > 64`; `src` is valid for reads and, with `COPY`, `dst` for writes of `len` bytes;
/// no overlap.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn above_64<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is within the bounds that each function requires; otherwise the same contract.
    unsafe {
        if len <= 256 {
            return match len {
                ..=128 => up_to_128::<COPY>(dst, src, len, seed),
                _ => up_to_256::<COPY>(dst, src, len, seed),
            };
        }
        if len > 512 {
            return match len {
                ..=UNALIGNED_UP_TO_BYTES => by_groups::<COPY>(dst, src, len, seed),
                _ if COPY => copy_long(dst, src, len, seed),
                _ => sum_long(src, len, seed),
            };
        }
        match len {
            ..=384 => up_to_384::<COPY>(dst, src, len, seed),
            _ => up_to_512::<COPY>(dst, src, len, seed),
        }
    }
}

/// A part of [`above_64`], for the assembly.
///
/// # Safety
/// The CPU has AVX2; `256 < len <= 512`; `data` is valid for reads of `len` bytes.
#[cfg(any(target_os = "linux", target_os = "none"))]
#[target_feature(enable = "avx2")]
pub(super) unsafe extern "C" fn from_257_to_512(data: *const u8, len: usize, seed: u32) -> u32 {
    begin_on_a_line();
    // SAFETY: the same contract; nothing is copied.
    unsafe {
        match len {
            ..=384 => up_to_384::<false>(core::ptr::null_mut(), data, len, seed),
            _ => up_to_512::<false>(core::ptr::null_mut(), data, len, seed),
        }
    }
}

/// A part of [`above_64`], for the assembly.
///
/// # Safety
/// The CPU has AVX2; `len > 512`; `data` is valid for reads of `len` bytes.
#[cfg(any(target_os = "linux", target_os = "none"))]
#[target_feature(enable = "avx2")]
pub(super) unsafe extern "C" fn above_512(data: *const u8, len: usize, seed: u32) -> u32 {
    begin_on_a_line();
    // SAFETY: the same contract; nothing is copied.
    unsafe {
        match len {
            ..=UNALIGNED_UP_TO_BYTES => by_groups::<false>(core::ptr::null_mut(), data, len, seed),
            _ => sum_long(data, len, seed),
        }
    }
}

/// The sum of 0 to 3 bytes, each shifted to its place in a little-endian word. For one byte, all three loads
/// read it at place 0; for two bytes, the middle one is the last.
///
/// # Safety
/// `len < 4`; `data` is valid for reads of `len` bytes.
#[inline(always)]
unsafe fn below_4(data: *const u8, len: usize) -> u64 {
    if len == 0 {
        return 0;
    }
    // SAFETY: len is at least 1, so all three are within the data.
    let [first, middle, last] = unsafe { [0, len / 2, len - 1].map(|at| u64::from(data.add(at).read())) };
    first | middle << (8 * (len / 2)) | last << (8 * (len - 1))
}

/// # Safety
/// The CPU has AVX2; `4 <= len <= 64`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_64(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first len / 4 of 16 lanes are active; at most 16 lanes of the table precede those after them.
    let sums = unsafe {
        let lanes = LANES.0.as_ptr().add(16).byte_sub(len & !3);
        let first = _mm256_maskload_epi32(data.cast(), load(lanes.cast()));
        let second = _mm256_maskload_epi32(data.wrapping_add(32).cast(), load(lanes.add(8).cast()));
        _mm256_add_epi64(halves(first), halves(second))
    };
    // SAFETY: len is at least 4.
    fold_64(u64::from(seed) + add_lanes(sums) + unsafe { last_bytes(data, len) })
}

/// The sum of four vectors; see [`up_to_512`].
///
/// # Safety
/// The CPU has AVX2; `64 <= len <= 128`; otherwise as [`above_64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_128<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the data has at least 64 bytes, hence an even number of at least 64.
    unsafe {
        let first = Vectors::<COPY, false>::at(dst, src);
        let last = Vectors::<COPY, true>::last(dst, src, len & !1, 64, (len & !1) - 64);
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        let all = _mm256_add_epi64(first.halves_of_two(), last.halves_of_two());
        finish::<128>(all, odd_byte, seed)
    }
}

/// The sum of a group; see [`up_to_512`].
///
/// # Safety
/// The CPU has AVX2; `128 <= len <= 256`; otherwise as [`above_64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_256<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the data has at least 128 bytes, hence an even number of at least 128.
    unsafe {
        let first = Vectors::<COPY, false>::at(dst, src);
        let last = Vectors::<COPY, true>::last(dst, src, len & !1, 128, (len & !1) - 128);
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        let mut sums = Sums::new();
        sums.add_fours(first, last);
        finish::<256>(sums.lanes(), odd_byte, seed)
    }
}

/// The sum of a group and of the four vectors that end with the data; see [`up_to_512`]. With 16 vectors at
/// all lengths, sums of 257 bytes took 10.6 ticks on Zen 5, and 8.7 with these twelve.
///
/// # Safety
/// The CPU has AVX2; `256 <= len <= 384`; otherwise as [`above_64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_384<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the data has at least 256 bytes, hence an even number of at least 256.
    unsafe {
        let last = Vectors::<COPY, true>::last(dst, src, len & !1, 128, (len & !1) - GROUP_BYTES);
        let mut sums = Sums::new();
        sums.add(Vectors::<COPY, false>::at(dst, src));
        let last = last.halves_of_four();
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        let all = _mm256_add_epi64(sums.lanes(), last);
        finish::<384>(all, odd_byte, seed)
    }
}

/// The sum of two groups for every length, one that begins with the data and one that ends with it. Of the
/// second, only the bytes that are not in the first are added:
///
/// ```text
/// len 400:  [       0 .. 256       ]
///                144 [             256 .. 400 ]
/// ```
///
/// Words keep their positions, because both groups begin at even offsets; the last byte of an odd length is
/// added separately.
///
/// # Safety
/// The CPU has AVX2; `256 <= len <= 512`; otherwise as [`above_64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_512<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the data has at least 256 bytes, hence an even number of at least 256.
    unsafe {
        let last = Vectors::<COPY, true>::last(dst, src, len & !1, GROUP_BYTES, (len & !1) - GROUP_BYTES);
        let mut sums = Sums::new();
        sums.add(Vectors::<COPY, false>::at(dst, src));
        sums.add(last);
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        finish::<512>(sums.lanes(), odd_byte, seed)
    }
}

/// Sums of up to this length go by groups that are not aligned, for which no head is needed. Gross ticks on Zen 3
/// with aligned groups and without, at offset 0 and at random offsets: 700 bytes 33 and 26, 33 and 27; 1500 bytes
/// 49 and 43, 49 and 45; 3000 bytes 78 and 75, 80 and 80; 4096 bytes 94 and 92, 98 and 99; 9000 bytes 180 and
/// 191, 176 and 207.
const UNALIGNED_UP_TO_BYTES: usize = 2048;

/// The sum of whole groups, as many as leave a byte, and of one that ends with the data; see [`up_to_512`].
///
/// # Safety
/// The CPU has AVX2; `len > 512`; otherwise as [`above_64`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn by_groups<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: a group is added only if a byte follows it, so `at` stays below len; after the loop, at most a group
    // is left.
    unsafe {
        let mut sums = Sums::new();
        sums.add(Vectors::<COPY, false>::at(dst, src));
        let mut at = GROUP_BYTES;
        loop {
            sums.add(Vectors::<COPY, false>::at(dst.wrapping_add(at), src.add(at)));
            at += GROUP_BYTES;
            if at + GROUP_BYTES >= len {
                break;
            }
        }
        sums.add(Vectors::<COPY, true>::last(dst, src, len & !1, GROUP_BYTES, (len & !1) - at));
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        finish::<0>(sums.lanes(), odd_byte, seed)
    }
}

/// The sum of the lanes, of a byte and of the seed, at the end of the branch `N`.
#[inline]
#[target_feature(enable = "avx2")]
fn finish<const N: usize>(lanes: __m256i, odd_byte: u64, seed: u32) -> u32 {
    let sum = fold_64(u64::from(seed) + odd_byte + add_lanes(lanes));
    end_of_branch::<N>();
    sum
}

/// The last 0 to 3 bytes, those after the last whole 32 bits.
///
/// # Safety
/// `len >= 4`; `data` is valid for reads of `len` bytes.
#[inline(always)]
unsafe fn last_bytes(data: *const u8, len: usize) -> u64 {
    // SAFETY: the last four bytes.
    let last = u64::from(unsafe { load::<u32>(data.add(len - 4)) });
    (last << (8 * (len % 4))) >> 32
}

/// The sum of more than [`UNALIGNED_UP_TO_BYTES`]. Not inlined: its registers would be saved at every call.
///
/// A part of [`above_64`], for the assembly.
///
/// # Safety
/// The CPU has AVX2; `len > 512`; `data` is valid for reads of `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe extern "C" fn sum_long(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract; nothing is stored.
    unsafe {
        match len {
            PREFETCH_FAR_LEAST_BYTES.. if is_prefetched_far(len) => {
                walk::<false, false, true>(core::ptr::null_mut(), data, len, seed)
            }
            _ => walk::<false, false, false>(core::ptr::null_mut(), data, len, seed),
        }
    }
}

/// Copies of at least this length, with their sums, go in the order that suits the distance between the buffers.
/// Gross ticks on Zen 5 (AVX-512 masked),
/// without it and with it: 9000 bytes 163 and 148 at random offsets, 139 and 145 at offset 0, and with the
/// destination 14 bytes above the source 217 and 151; 6200 bytes 117 and 108, 96 and 108, 151 and 110.
const BY_DISTANCE_FROM_BYTES: usize = 8 << 10;

/// Copies more than [`UNALIGNED_UP_TO_BYTES`] with the sum. Not inlined, as [`sum_long`].
///
/// # Safety
/// The CPU has AVX2; `len > 288`; `src` is valid for reads and `dst` for writes of `len` bytes; no overlap.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe extern "C" fn copy_long(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract.
    unsafe {
        if len >= BEYOND_CACHES_LEAST_BYTES
            && let Some(total) = beyond_caches(crate::copy::avx2::CODE.unfenced, partial, dst, src, len, seed)
        {
            return total;
        }
        match len {
            ..BY_DISTANCE_FROM_BYTES => walk::<true, false, false>(dst, src, len, seed),
            _ => walk::<true, true, false>(dst, src, len, seed),
        }
    }
}
