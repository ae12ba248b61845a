//! The sum by 64-bit additions, 32 bytes at a time; the carries that these lose are counted afterwards.
//!
//! 2^16 is 1 modulo 65535, so a lane of 64 bits counts as the sum of its four words, and a carry out of its top counts as
//! one. `vpaddq` has no carry. But how often a lane's sum has passed 2^64 is known once its true upper bits are known
//! roughly, and these are what the lanes' top words add up to. Of eight vectors a tree of seven `vpavgw` has the mean of the
//! top words, rounded up by less than 1.5; with `A` the sum of these means over `n` groups, `T` the true sum of a lane and
//! `S` what is left of it modulo 2^64,
//!
//! ```text
//! -8 n < 8 A - (T >> 48) < 12 n,     T >> 48 = (carries << 16) + (S >> 48)
//! carries = (8 A - (S >> 48) + 2^15) >> 16     exactly, as long as 12 n is below 2^15
//! ```
//!
//! That is 17 operations for eight vectors, where multiplying words by one and adding takes 24. What is less than a group is
//! added in halves of 32 bits, which lose nothing.
//!
//! Up to 256 bytes there is no branch on the length but those between 64, 128 and 256: loads are masked by 32 bits, and the
//! last 0 to 3 bytes come out of one 32-bit load that ends with the data.

use super::{adc, fold_64};
use crate::blocks::{begin_on_a_line, bytes_to_multiple, is_mask_slow, load, store};
use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi64, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_unpackhi_epi64,
    _mm256_add_epi64, _mm256_and_si256, _mm256_avg_epu16, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_maskload_epi32, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_sll_epi64, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_sub_epi64,
};

/// Bytes of a group: eight vectors.
const GROUP_BYTES: usize = 8 * 32;

/// Bytes summed before the carries are counted. The bound above allows 2730 groups; these are 512.
pub(crate) const BLOCK_BYTES: usize = 512 * GROUP_BYTES;

/// 16 lanes of 32 bits that are active, and 48 that are not: from lane 16 - n on, the first n of up to 48 lanes are active.
static LANES: [u32; 64] = {
    let mut lanes = [0; 64];
    let mut i = 0;
    while i < 16 {
        lanes[i] = u32::MAX;
        i += 1;
    }
    lanes
};

/// 32 bytes from n on select the last n bytes of a vector; from 64 - n on, the first n.
static BYTES: [u8; 96] = {
    let mut bytes = [0; 96];
    let mut i = 32;
    while i < 64 {
        bytes[i] = 0xff;
        i += 1;
    }
    bytes
};

/// The ladder.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`partial_raw`](super::partial_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is in the bounds that each function asks for; masked loads do not reach into the next page.
    unsafe {
        match len {
            4..=64 if !is_mask_slow(data) => up_to_64(data, len, seed),
            65..=128 if !is_mask_slow(data.wrapping_add(64)) => up_to_128(data, len, seed),
            129..=256 if data.wrapping_add(128).addr() & 4095 <= 4096 - 128 => up_to_256(data, len, seed),
            257.. => sum_long(data, len, seed),
            _ => {
                begin_on_a_line();
                adc::partial(data, len, seed)
            }
        }
    }
}

/// # Safety
/// The CPU has AVX2; `4 <= len <= 64`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_64(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first len / 4 of 16 lanes are active, at most 16 lanes of the table before them.
    let sums = unsafe {
        let lanes = LANES.as_ptr().add(16 - len / 4);
        let first = _mm256_maskload_epi32(data.cast(), load(lanes.cast()));
        let second = _mm256_maskload_epi32(data.wrapping_add(32).cast(), load(lanes.add(8).cast()));
        _mm256_add_epi64(halves(first), halves(second))
    };
    // SAFETY: len is at least 4.
    fold_64(u64::from(seed) + add_lanes(sums) + unsafe { last_bytes(data, len) })
}

/// # Safety
/// The CPU has AVX2; `64 <= len <= 128`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_128(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the first 64 bytes are there. Of the 16 lanes behind them len / 4 - 16 are active.
    let sums = unsafe {
        let lanes = LANES.as_ptr().add(32 - len / 4);
        let third = _mm256_maskload_epi32(data.add(64).cast(), load(lanes.cast()));
        let fourth = _mm256_maskload_epi32(data.wrapping_add(96).cast(), load(lanes.add(8).cast()));
        let whole = _mm256_add_epi64(halves(load(data)), halves(load(data.add(32))));
        _mm256_add_epi64(whole, _mm256_add_epi64(halves(third), halves(fourth)))
    };
    // SAFETY: len is at least 4.
    fold_64(u64::from(seed) + add_lanes(sums) + unsafe { last_bytes(data, len) })
}

/// # Safety
/// The CPU has AVX2; `128 <= len <= 256`; `data` is valid for reads of `len` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn up_to_256(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut sums = Sums::new();
    // SAFETY: the first 128 bytes are there. Of the 32 lanes behind them len / 4 - 32 are active: with up to 16 the table is
    // read from their number before its first inactive lane on, with more the first two vectors are whole.
    unsafe {
        let behind = len / 4 - 32;
        let near = LANES.as_ptr().add(16 - behind.min(16));
        let far = LANES.as_ptr().add(16 - behind.saturating_sub(16));
        let masked = |at: usize, lanes: *const u32| {
            _mm256_maskload_epi32(data.wrapping_add(at).cast(), load(lanes.cast()))
        };
        sums.add([
            load(data),
            load(data.add(32)),
            load(data.add(64)),
            load(data.add(96)),
            masked(128, near),
            masked(160, near.add(8)),
            masked(192, far),
            masked(224, far.add(8)),
        ]);
    }
    // SAFETY: len is at least 4.
    fold_64(u64::from(seed) + add_lanes(sums.lanes()) + unsafe { last_bytes(data, len) })
}

/// More than 256 bytes, out of the way of the small sizes.
///
/// # Safety
/// The CPU has AVX2; `len > 256`; `data` is valid for reads of `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe extern "C" fn sum_long(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract; nothing is stored.
    unsafe { walk::<false>(core::ptr::null_mut(), data, len, seed) }
}

/// The last 0 to 3 bytes, those behind the last whole 32 bits, as the low bytes of a word.
///
/// # Safety
/// `len >= 4`; `data` is valid for reads of `len` bytes.
#[inline(always)]
unsafe fn last_bytes(data: *const u8, len: usize) -> u64 {
    // SAFETY: the last four bytes.
    let last = u64::from(unsafe { load::<u32>(data.add(len - 4)) });
    last >> (32 - 8 * (len % 4))
}

/// The sum of 64 bytes and more, and with `COPY` a copy of them to `dst`. Vectors are aligned: of the source, or of what is
/// stored.
///
/// ```text
/// [ head ]
///      [ group ][ group ]..[ vector ][ vector ]
///                                    [ tail ]b
/// ```
///
/// Of the head only the bytes before the first aligned vector are added, of the tail those behind the last, which is cut at
/// an even number of them; an odd last byte is added by itself. Where an odd number of bytes comes before the aligned
/// vectors, every word of these is a byte late, and what is summed from there on comes out with its bytes swapped: 256 times
/// too much, or too little, which is the same modulo 65535 as 256^2 = 65536 is 1. Multiplied by 256 it is right again.
///
/// # Safety
/// The CPU has AVX2; `len >= 64`; `src` is valid for reads and, with `COPY`, `dst` for writes of `len` bytes; no overlap.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn walk<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    let before = bytes_to_multiple(if COPY { dst } else { src }, 32);
    let take = |at: usize| {
        // SAFETY: 32 bytes from `at` on are there, as who calls it says.
        unsafe {
            let vector: __m256i = load(src.add(at));
            if COPY {
                store(dst.add(at), vector);
            }
            vector
        }
    };
    // SAFETY: `before` is below 32, so that 32 bytes of the table are there.
    let head = _mm256_and_si256(take(0), unsafe { load(BYTES.as_ptr().add(64 - before)) });

    let mut at = before;
    let mut body = _mm256_setzero_si256();
    while len - at >= GROUP_BYTES {
        let mut sums = Sums::new();
        let groups = ((len - at) / GROUP_BYTES).min(BLOCK_BYTES / GROUP_BYTES);
        for _ in 0..groups {
            // Eight vectors, which end at or before len.
            sums.add([0, 32, 64, 96, 128, 160, 192, 224].map(|vector| take(at + vector)));
            at += GROUP_BYTES;
        }
        // Both are below 2^35 again.
        body = _mm256_add_epi64(halves(body), sums.lanes());
    }
    while len - at >= 32 {
        body = _mm256_add_epi64(body, halves(take(at)));
        at += 32;
    }
    let left = len - at;
    let odd = left & 1;
    // SAFETY: the vector ends at len, or a byte before it, and starts at or behind 0; `left` is below 32; the last
    // byte is there, odd or not.
    let odd_byte = unsafe {
        if COPY {
            take(len - 32);
        }
        let tail: __m256i = load(src.add(len - odd - 32));
        let selected = load(BYTES.as_ptr().add(left - odd));
        body = _mm256_add_epi64(body, halves(_mm256_and_si256(tail, selected)));
        u64::from(src.add(len - 1).read()) * odd as u64
    };
    // Below 2^36 in each lane, and below 2^44 if the bytes are swapped.
    let swap = 8 * (before & 1);
    let body = _mm256_sll_epi64(body, _mm_cvtsi64_si128(swap as i64));
    let sums = _mm256_add_epi64(halves(head), body);
    fold_64(u64::from(seed) + add_lanes(sums) + (odd_byte << swap))
}

/// Sums of groups of eight vectors.
struct Sums {
    /// Modulo 2^64.
    sums: [__m256i; 4],
    /// The means of the top words.
    tops: __m256i,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Sums {
        Sums { sums: [_mm256_setzero_si256(); 4], tops: _mm256_setzero_si256() }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, [a, b, c, d, e, f, g, h]: [__m256i; 8]) {
        for (sum, [one, other]) in self.sums.iter_mut().zip([[a, e], [b, f], [c, g], [d, h]]) {
            *sum = _mm256_add_epi64(_mm256_add_epi64(*sum, one), other);
        }
        let mean = |one, other| _mm256_avg_epu16(one, other);
        let mean = mean(mean(mean(a, b), mean(c, d)), mean(mean(e, f), mean(g, h)));
        self.tops = _mm256_add_epi64(self.tops, _mm256_srli_epi64::<48>(mean));
    }

    /// What was added, carries included, as lanes below 2^34. At most [`BLOCK_BYTES`] may have been added.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes(&self) -> __m256i {
        let [a, b, c, d] = self.sums;
        let sum = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
        let tops = _mm256_sub_epi64(_mm256_slli_epi64::<3>(self.tops), _mm256_srli_epi64::<48>(sum));
        let carries = _mm256_srli_epi64::<16>(_mm256_add_epi64(tops, _mm256_set1_epi64x(1 << 15)));
        _mm256_add_epi64(halves(sum), carries)
    }
}

/// In each lane of 64 bits the sum of its halves, below 2^33.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(vector: __m256i) -> __m256i {
    let low = _mm256_and_si256(vector, _mm256_set1_epi64x(0xffff_ffff));
    _mm256_add_epi64(low, _mm256_srli_epi64::<32>(vector))
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_lanes(lanes: __m256i) -> u64 {
    let two: __m128i = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))) as u64
}
