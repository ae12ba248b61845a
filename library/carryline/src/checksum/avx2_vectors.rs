//! AVX2 vectors of the sum: loading them, with or without a copy, and adding them by 64-bit additions. The
//! carries that these lose are counted afterwards.
//!
//! 2^16 is 1 modulo 65535, so a 64-bit lane counts as the sum of its four words, and a carry out of its top
//! counts as one. `vpaddq` has no carry. But the number of times that a lane's sum has passed 2^64 follows
//! from an approximation of the upper bits of the true sum, and these are the sum of the lane's top words. A
//! tree of seven `vpavgw` gives the mean of the top words of eight vectors, rounded up by less than 1.5. With
//! `A` the sum of these means over `n` groups, `T` the true sum of a lane and `S` that sum modulo 2^64,
//!
//! ```text
//! -8 n < 8 A - (T >> 48) < 12 n,     T >> 48 = (carries << 16) + (S >> 48)
//! carries = (8 A - (S >> 48) + 2^15) >> 16     exactly, as long as 12 n is below 2^15
//! ```
//!
//! This takes 17 operations for eight vectors; multiplying words by one and adding takes 24.

use crate::blocks::{load, load_group, store, store_group};
use core::arch::asm;
use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi64, _mm_cvtsi128_si64, _mm_unpackhi_epi64, _mm256_add_epi64,
    _mm256_and_si256, _mm256_avg_epu16, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_set1_epi64x,
    _mm256_setzero_si256, _mm256_slli_epi64, _mm256_srli_epi64, _mm256_sub_epi64,
};

/// The bytes of a group: eight vectors.
pub(super) const GROUP_BYTES: usize = 8 * 32;

/// The bytes summed before the carries are counted; at most one more group follows them. The bound above
/// allows 2730 groups; these are 512.
pub(crate) const BLOCK_BYTES: usize = 512 * GROUP_BYTES;

/// Starting at byte 2 * [`GROUP_BYTES`] - n, the first n bytes of a vector are selected; starting at byte n,
/// the last n bytes of a group.
pub(super) static SELECTED: Selected = Selected({
    let mut bytes = [0; 2 * GROUP_BYTES + 32];
    let mut i = GROUP_BYTES;
    while i < 2 * GROUP_BYTES {
        bytes[i] = 0xff;
        i += 1;
    }
    bytes
});

/// Aligned, so that as few loads as possible cross a cache line.
#[repr(align(64))]
pub(super) struct Selected([u8; 2 * GROUP_BYTES + 32]);

/// A vector of which the first `bytes` are selected.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn first_bytes(bytes: usize) -> __m256i {
    assert!(bytes <= GROUP_BYTES);
    // SAFETY: the vector starts in the table, 32 bytes or more before its end.
    unsafe { load(SELECTED.0.as_ptr().add(2 * GROUP_BYTES - bytes)) }
}

/// Loads a vector, and with `COPY` stores it to the copy.
///
/// # Safety
/// The CPU has AVX2; `src` is valid for reads and, with `COPY`, `dst` for writes of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn take<const COPY: bool>(dst: *mut u8, src: *const u8) -> __m256i {
    // SAFETY: 32 bytes by contract.
    unsafe {
        let vector: __m256i = load(src);
        if COPY {
            store(dst, vector);
        }
        vector
    }
}

/// Copies a group, all of which is loaded before anything is stored.
///
/// # Safety
/// The CPU has AVX2; `src` is valid for reads and `dst` for writes of [`GROUP_BYTES`].
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn copy_group(dst: *mut u8, src: *const u8) -> [[__m256i; 4]; 2] {
    // SAFETY: a group by contract.
    unsafe {
        let halves = [load_group(src), load_group(src.add(128))];
        store_group(dst, halves[0]);
        store_group(dst.add(128), halves[1]);
        halves
    }
}

/// Consecutive vectors, which are copied when they are loaded if `COPY`. If `MASKED`, they end with the data, or
/// one byte before its end, and the bytes already added are set to zero. They begin an even number of bytes
/// after these, so that words stay whole.
#[derive(Clone, Copy)]
pub(super) struct Vectors<const COPY: bool, const MASKED: bool> {
    dst: *mut u8,
    src: *const u8,
    selected: *const u8,
}

impl<const COPY: bool> Vectors<COPY, false> {
    /// Vectors whose bytes are all to be added.
    #[inline(always)]
    pub(super) const fn at(dst: *mut u8, src: *const u8) -> Self {
        Vectors { dst, src, selected: core::ptr::null() }
    }
}

impl<const COPY: bool> Vectors<COPY, true> {
    /// The last `bytes` up to `end`, the last `keep` of which are to be added.
    ///
    /// # Safety
    /// `keep <= bytes <= end` and `bytes` is at most [`GROUP_BYTES`]; `src` is valid for reads and `dst`, if
    /// there is a copy, for writes of `end` bytes.
    #[inline(always)]
    pub(super) unsafe fn last(dst: *mut u8, src: *const u8, end: usize, bytes: usize, keep: usize) -> Self {
        let start = end - bytes;
        // SAFETY: the pointers are within or at the end of the data, and within the table.
        unsafe {
            let selected = SELECTED.0.as_ptr().add(GROUP_BYTES - bytes + keep);
            Vectors { dst: dst.wrapping_add(start), src: src.add(start), selected }
        }
    }
}

impl<const COPY: bool, const MASKED: bool> Vectors<COPY, MASKED> {
    /// Those from `bytes` after the first on.
    #[inline(always)]
    pub(super) const fn after(self, bytes: usize) -> Self {
        Vectors {
            dst: self.dst.wrapping_add(bytes),
            src: self.src.wrapping_add(bytes),
            selected: self.selected.wrapping_add(bytes),
        }
    }

    /// The vector `at` bytes after the first.
    ///
    /// # Safety
    /// The CPU has AVX2; the data contains the vector, and so does the copy if there is one; if `MASKED`, `at`
    /// is at most `bytes` - 32.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn take(self, at: usize) -> __m256i {
        // SAFETY: by contract; the vector in the table ends at or before 2 * GROUP_BYTES.
        unsafe {
            let vector = take::<COPY>(self.dst.wrapping_add(at), self.src.add(at));
            if MASKED { _mm256_and_si256(vector, load(self.selected.add(at))) } else { vector }
        }
    }

    /// The sum of the [halves] of four vectors, below 2^35.
    ///
    /// # Safety
    /// As [`take`](Self::take), for the first four vectors.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn halves_of_four(self) -> __m256i {
        // SAFETY: four vectors by contract.
        unsafe { _mm256_add_epi64(self.halves_of_two(), self.after(64).halves_of_two()) }
    }

    /// The sum of the [halves] of two vectors, below 2^34.
    ///
    /// # Safety
    /// As [`take`](Self::take), for the first two vectors.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn halves_of_two(self) -> __m256i {
        // SAFETY: two vectors by contract.
        unsafe { _mm256_add_epi64(halves(self.take(0)), halves(self.take(32))) }
    }
}

/// The last byte if `odd` is 1, or 0 if it is 0.
///
/// # Safety
/// `len > 0`; `src` is valid for reads and, with `COPY`, `dst` for writes of `len` bytes.
#[inline(always)]
pub(super) unsafe fn take_byte<const COPY: bool>(
    dst: *mut u8,
    src: *const u8,
    len: usize,
    odd: usize,
) -> u64 {
    // SAFETY: the last byte, readable by contract.
    let byte = unsafe { src.add(len - 1).read() };
    if COPY {
        // SAFETY: the same position in the copy.
        unsafe { dst.add(len - 1).write(byte) };
    }
    u64::from(byte) * odd as u64
}

/// Sums of groups of eight vectors.
pub(super) struct Sums {
    /// Modulo 2^64.
    sums: [__m256i; 4],
    /// The means of the top words.
    tops: __m256i,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new() -> Sums {
        Sums { sums: [_mm256_setzero_si256(); 4], tops: _mm256_setzero_si256() }
    }

    /// Adds a group.
    ///
    /// # Safety
    /// As [`add_fours`](Sums::add_fours).
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add<const COPY: bool, const MASKED: bool>(&mut self, group: Vectors<COPY, MASKED>) {
        // SAFETY: two times four vectors by contract.
        unsafe { self.add_fours(group, group.after(128)) };
    }

    /// Adds a group that consists of twice four consecutive vectors, two vectors at a time.
    ///
    /// # Safety
    /// The CPU has AVX2; the data contains the vectors, and so does the copy if there is one.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add_fours<const COPY: bool, const FIRST_MASKED: bool, const SECOND_MASKED: bool>(
        &mut self,
        first: Vectors<COPY, FIRST_MASKED>,
        second: Vectors<COPY, SECOND_MASKED>,
    ) {
        // SAFETY: four vectors each, by contract.
        unsafe {
            let [a, b] = [self.add_two(0, first, 0), self.add_two(1, first, 64)];
            let mean = _mm256_avg_epu16(a, b);
            let [c, d] = [self.add_two(2, second, 0), self.add_two(3, second, 64)];
            self.add_tops(_mm256_avg_epu16(mean, _mm256_avg_epu16(c, d)));
        }
    }

    /// Adds two vectors to a sum, from the one `at` bytes after the first, and returns their mean.
    ///
    /// They are loaded here and not earlier. LLVM would load all vectors of a group first; a group then takes 5.3
    /// core cycles on Zen 3, and 5.0 this way (16 KiB in L1; with the other thread of the core busy 6.9 and 6.4).
    ///
    /// # Safety
    /// As [`add`](Sums::add).
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn add_two<const COPY: bool, const MASKED: bool>(
        &mut self,
        sum: usize,
        group: Vectors<COPY, MASKED>,
        at: usize,
    ) -> __m256i {
        // SAFETY: within a group, by contract.
        let [one, other] = unsafe { [group.take(at), group.take(at + 32)] };
        let mut added = _mm256_add_epi64(_mm256_add_epi64(self.sums[sum], one), other);
        // SAFETY: only a comment. LLVM takes it for a side effect, and moves no later load before it.
        unsafe { asm!("/* {} */", inout(ymm_reg) added, options(readonly, nostack, preserves_flags)) };
        self.sums[sum] = added;
        _mm256_avg_epu16(one, other)
    }

    /// Adds a group that was loaded before.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add_loaded(&mut self, [[a, b, c, d], [e, f, g, h]]: [[__m256i; 4]; 2]) {
        for (sum, [one, other]) in self.sums.iter_mut().zip([[a, b], [c, d], [e, f], [g, h]]) {
            *sum = _mm256_add_epi64(_mm256_add_epi64(*sum, one), other);
        }
        let mean = |one, other| _mm256_avg_epu16(one, other);
        self.add_tops(mean(mean(mean(a, b), mean(c, d)), mean(mean(e, f), mean(g, h))));
    }

    /// Adds the top words of the mean of a group.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_tops(&mut self, mean: __m256i) {
        self.tops = _mm256_add_epi64(self.tops, _mm256_srli_epi64::<48>(mean));
    }

    /// The total added so far, carries included, as lanes below 2^34. At most [`BLOCK_BYTES`] and one group
    /// may have been added.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn lanes(&self) -> __m256i {
        let [a, b, c, d] = self.sums;
        let sum = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
        let tops = _mm256_sub_epi64(_mm256_slli_epi64::<3>(self.tops), _mm256_srli_epi64::<48>(sum));
        let carries = _mm256_srli_epi64::<16>(_mm256_add_epi64(tops, _mm256_set1_epi64x(1 << 15)));
        _mm256_add_epi64(halves(sum), carries)
    }
}

/// The sum of the halves of each 64-bit lane, below 2^33.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn halves(vector: __m256i) -> __m256i {
    let low = _mm256_and_si256(vector, _mm256_set1_epi64x(0xffff_ffff));
    _mm256_add_epi64(low, _mm256_srli_epi64::<32>(vector))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_lanes(lanes: __m256i) -> u64 {
    let two: __m128i = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))) as u64
}
