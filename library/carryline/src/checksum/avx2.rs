//! The sum by 64-bit additions, 32 bytes at a time. The carries that they lose are counted afterwards.
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
//! This takes 17 operations for eight vectors; multiplying words by one and adding takes 24. Up to 128 bytes,
//! 32-bit halves are added instead, which lose no carry.
//!
//! If sizes vary, a mispredicted branch costs more than vectors that add nothing. So the length selects one
//! of six paths, and within each no branch depends on it except for the number of whole groups. Up to 64
//! bytes, loads are masked by 32 bits, and the last 0 to 3 bytes come from one 32-bit load that ends with the
//! data. Above, the last vectors end with the data, and the bytes already added are masked out.

use super::{adc, fold_64};
use crate::blocks::{
    begin_on_a_line, bytes_to_multiple, is_mask_slow, load, load_group, order_by_distance, store,
    store_group, unlikely,
};
use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi64, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_unpackhi_epi64,
    _mm256_add_epi64, _mm256_and_si256, _mm256_avg_epu16, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_maskload_epi32, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_sll_epi64, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_sub_epi64,
};

/// The bytes of a group: eight vectors.
const GROUP_BYTES: usize = 8 * 32;

/// The bytes summed before the carries are counted; at most one more group follows them. The bound above
/// allows 2730 groups; these are 512.
pub(crate) const BLOCK_BYTES: usize = 512 * GROUP_BYTES;

/// 16 active 32-bit lanes, then 16 inactive ones: starting at lane 16 - n, the first n of 16 lanes are
/// active.
static LANES: [u32; 32] = {
    let mut lanes = [0; 32];
    let mut i = 0;
    while i < 16 {
        lanes[i] = u32::MAX;
        i += 1;
    }
    lanes
};

/// Starting at byte 2 * [`GROUP_BYTES`] - n, the first n bytes of a vector are selected; starting at byte n,
/// the last n bytes of a group.
static SELECTED: Selected = Selected({
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
struct Selected([u8; 2 * GROUP_BYTES + 32]);

/// Selects the code by length.
///
/// # Safety
/// The CPU has AVX2; otherwise as [`partial_raw`](super::partial_raw).
#[target_feature(enable = "avx2")]
pub(crate) unsafe extern "C" fn partial(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is within the bounds that each function requires; masked loads do not reach into the next
    // page.
    unsafe {
        match len {
            ..4 => fold_64(u64::from(seed) + below_4(data, len)),
            4..=64 if !is_mask_slow(data) => up_to_64(data, len, seed),
            65.. => above_64::<false>(core::ptr::null_mut(), data, len, seed),
            _ => {
                begin_on_a_line();
                adc::partial(data, len, seed)
            }
        }
    }
}

/// Selects the code above 64 bytes; with `COPY`, also copies to `dst`.
///
/// # Safety
/// The CPU has AVX2; `len > 64`; `src` is valid for reads and, with `COPY`, `dst` for writes of `len` bytes;
/// no overlap.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn above_64<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: len is within the bounds that each function requires; otherwise the same contract.
    unsafe {
        match len {
            ..=128 => up_to_128::<COPY>(dst, src, len, seed),
            129..=256 => up_to_256::<COPY>(dst, src, len, seed),
            257..=384 => up_to_384::<COPY>(dst, src, len, seed),
            385..=512 => up_to_512::<COPY>(dst, src, len, seed),
            _ if COPY && len >= BY_DISTANCE_FROM_BYTES => copy_long(dst, src, len, seed),
            _ if COPY => walk::<true, false>(dst, src, len, seed),
            _ => sum_long(src, len, seed),
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
    // SAFETY: the first len / 4 of 16 lanes are active; at most 16 lanes of the table precede them.
    let sums = unsafe {
        let lanes = LANES.as_ptr().add(16 - len / 4);
        let first = _mm256_maskload_epi32(data.cast(), load(lanes.cast()));
        let second = _mm256_maskload_epi32(data.wrapping_add(32).cast(), load(lanes.add(8).cast()));
        _mm256_add_epi64(halves(first), halves(second))
    };
    // SAFETY: len is at least 4.
    fold_64(u64::from(seed) + add_lanes(sums) + unsafe { last_bytes(data, len) })
}

/// Loads a vector, and with `COPY` stores it to the copy.
///
/// # Safety
/// The CPU has AVX2; `src` is valid for reads and, with `COPY`, `dst` for writes of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn take<const COPY: bool>(dst: *mut u8, src: *const u8) -> __m256i {
    // SAFETY: 32 bytes by contract.
    unsafe {
        let vector: __m256i = load(src);
        if COPY {
            store(dst, vector);
        }
        vector
    }
}

/// [`take`] for four vectors. Not by `array::map`, which LLVM does not always inline, and then the vectors go
/// through memory: sums of 400 bytes took 82 ticks instead of 12.
///
/// # Safety
/// The CPU has AVX2; `src` is valid for reads and, with `COPY`, `dst` for writes of 128 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn take_four<const COPY: bool>(dst: *mut u8, src: *const u8) -> [__m256i; 4] {
    // SAFETY: 128 bytes by contract.
    unsafe {
        [
            take::<COPY>(dst, src),
            take::<COPY>(dst.wrapping_add(32), src.add(32)),
            take::<COPY>(dst.wrapping_add(64), src.add(64)),
            take::<COPY>(dst.wrapping_add(96), src.add(96)),
        ]
    }
}

/// [`take`] for a group, in two halves.
///
/// # Safety
/// The CPU has AVX2; `src` is valid for reads and, with `COPY`, `dst` for writes of [`GROUP_BYTES`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn take_group<const COPY: bool>(dst: *mut u8, src: *const u8) -> [[__m256i; 4]; 2] {
    // SAFETY: a group by contract.
    unsafe { [take_four::<COPY>(dst, src), take_four::<COPY>(dst.wrapping_add(128), src.add(128))] }
}

/// Copies a group, all of which is loaded before anything is stored.
///
/// # Safety
/// The CPU has AVX2; `src` is valid for reads and `dst` for writes of [`GROUP_BYTES`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn copy_group(dst: *mut u8, src: *const u8) -> [[__m256i; 4]; 2] {
    // SAFETY: a group by contract.
    unsafe {
        let halves = [load_group(src), load_group(src.add(128))];
        store_group(dst, halves[0]);
        store_group(dst.add(128), halves[1]);
        halves
    }
}

/// Vectors that end with the data, or one byte before its end, with the bytes already added set to zero. They
/// begin an even number of bytes after these, so that words stay whole.
#[derive(Clone, Copy)]
struct Last {
    dst: *mut u8,
    src: *const u8,
    selected: *const u8,
}

impl Last {
    /// The last `bytes` up to `end`, the last `keep` of which are to be added.
    ///
    /// # Safety
    /// `keep <= bytes <= end` and `bytes` is at most [`GROUP_BYTES`]; `src` is valid for reads and `dst`, if
    /// there is a copy, for writes of `end` bytes.
    #[inline(always)]
    unsafe fn new(dst: *mut u8, src: *const u8, end: usize, bytes: usize, keep: usize) -> Last {
        let start = end - bytes;
        // SAFETY: the pointers are within or at the end of the data, and within the table.
        unsafe {
            let selected = SELECTED.0.as_ptr().add(GROUP_BYTES - bytes + keep);
            Last { dst: dst.wrapping_add(start), src: src.add(start), selected }
        }
    }

    /// The vector `at` bytes after the first.
    ///
    /// # Safety
    /// The CPU has AVX2; `at` is at most `bytes` - 32; with `COPY` there is a copy; otherwise as
    /// [`Last::new`].
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn take<const COPY: bool>(self, at: usize) -> __m256i {
        // SAFETY: the vector ends at or before `end`, and in the table at or before 2 * GROUP_BYTES.
        unsafe {
            let vector = take::<COPY>(self.dst.wrapping_add(at), self.src.add(at));
            _mm256_and_si256(vector, load(self.selected.add(at)))
        }
    }

    /// Four vectors, the first of them `at` bytes after the first of all.
    ///
    /// # Safety
    /// The CPU has AVX2; `at` is at most `bytes` - 128; with `COPY` there is a copy; otherwise as
    /// [`Last::new`].
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn take_four<const COPY: bool>(self, at: usize) -> [__m256i; 4] {
        // SAFETY: the last vector ends at or before `end`.
        unsafe {
            [
                self.take::<COPY>(at),
                self.take::<COPY>(at + 32),
                self.take::<COPY>(at + 64),
                self.take::<COPY>(at + 96),
            ]
        }
    }
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
        let behind = Last::new(dst, src, len & !1, 64, (len & !1) - 64);
        let [a, b] = [take::<COPY>(dst, src), take::<COPY>(dst.wrapping_add(32), src.add(32))];
        let [c, d] = [behind.take::<COPY>(0), behind.take::<COPY>(32)];
        let first = _mm256_add_epi64(halves(a), halves(b));
        let last = _mm256_add_epi64(halves(c), halves(d));
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        fold_64(u64::from(seed) + odd_byte + add_lanes(_mm256_add_epi64(first, last)))
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
        let behind = Last::new(dst, src, len & !1, 128, (len & !1) - 128);
        let group = [take_four::<COPY>(dst, src), behind.take_four::<COPY>(0)];
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        let mut sums = Sums::new();
        sums.add(group);
        fold_64(u64::from(seed) + odd_byte + add_lanes(sums.lanes()))
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
    let mut sums = Sums::new();
    // SAFETY: the data has at least 256 bytes, hence an even number of at least 256.
    unsafe {
        let behind = Last::new(dst, src, len & !1, 128, (len & !1) - GROUP_BYTES);
        sums.add(take_group::<COPY>(dst, src));
        let [a, b, c, d] = behind.take_four::<COPY>(0);
        let first = _mm256_add_epi64(halves(a), halves(b));
        let last = _mm256_add_epi64(halves(c), halves(d));
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        let all = _mm256_add_epi64(sums.lanes(), _mm256_add_epi64(first, last));
        fold_64(u64::from(seed) + odd_byte + add_lanes(all))
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
    let mut sums = Sums::new();
    // SAFETY: the data has at least 256 bytes, hence an even number of at least 256.
    unsafe {
        let behind = Last::new(dst, src, len & !1, GROUP_BYTES, (len & !1) - GROUP_BYTES);
        sums.add(take_group::<COPY>(dst, src));
        sums.add([behind.take_four::<COPY>(0), behind.take_four::<COPY>(128)]);
        let odd_byte = take_byte::<COPY>(dst, src, len, len & 1);
        fold_64(u64::from(seed) + odd_byte + add_lanes(sums.lanes()))
    }
}

/// The last byte if `odd` is 1, or 0 if it is 0.
///
/// # Safety
/// `len > 0`; `src` is valid for reads and, with `COPY`, `dst` for writes of `len` bytes.
#[inline(always)]
unsafe fn take_byte<const COPY: bool>(dst: *mut u8, src: *const u8, len: usize, odd: usize) -> u64 {
    // SAFETY: the last byte, readable by contract.
    let byte = unsafe { src.add(len - 1).read() };
    if COPY {
        // SAFETY: the same position in the copy.
        unsafe { dst.add(len - 1).write(byte) };
    }
    u64::from(byte) * odd as u64
}

/// The last 0 to 3 bytes, those after the last whole 32 bits, as the low bytes of a word.
///
/// # Safety
/// `len >= 4`; `data` is valid for reads of `len` bytes.
#[inline(always)]
unsafe fn last_bytes(data: *const u8, len: usize) -> u64 {
    // SAFETY: the last four bytes.
    let last = u64::from(unsafe { load::<u32>(data.add(len - 4)) });
    last >> (32 - 8 * (len % 4))
}

/// More than 512 bytes. Not inlined: its registers would be saved at every call.
///
/// # Safety
/// The CPU has AVX2; `len > 512`; `data` is valid for reads of `len` bytes.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe extern "C" fn sum_long(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract; nothing is stored.
    unsafe { walk::<false, false>(core::ptr::null_mut(), data, len, seed) }
}

/// Copies of at least this length, with their sums, go by [`copy_long`]. Gross ticks on Zen 5 (AVX-512 masked),
/// without it and with it: 9000 bytes 163 and 148 at random offsets, 139 and 145 at offset 0, and with the
/// destination 14 bytes above the source 217 and 151; 6200 bytes 117 and 108, 96 and 108, 151 and 110.
const BY_DISTANCE_FROM_BYTES: usize = 8 << 10;

/// Copies with the sum, in the order that suits the distance between the buffers. Not inlined, as
/// [`sum_long`].
///
/// # Safety
/// The CPU has AVX2; `len >= BY_DISTANCE_FROM_BYTES`; `src` is valid for reads and `dst` for writes of `len`
/// bytes; no overlap.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe extern "C" fn copy_long(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the same contract.
    unsafe { walk::<true, true>(dst, src, len, seed) }
}

/// The sum of more than 256 bytes; with `COPY`, also copies them to `dst`. Groups are aligned in the source,
/// or in the destination if there is one.
///
/// ```text
/// [ head ]
///      [ group ][ group ]..[ group ][rest]
///                           [   tail    ]b
/// ```
///
/// The number of groups depends on the length alone, so that the end of their loop is predicted for buffers of
/// one size at any offset: 520 bytes at random offsets took 21 ticks on Zen 5 when it depended on both, and
/// take 18. At an eighth of the lengths, up to 31 bytes more may be left than the tail has; there, one vector
/// more follows the groups.
///
/// Of the head, only the bytes before the first group are added. The tail is a group that ends with the data,
/// of which only the bytes after the last group are added; it covers an even number of them, and an odd last
/// byte is added separately. No branch depends on these numbers. With `BY_DISTANCE`, the order of the groups
/// follows from the distance between the buffers, as in
/// [`copy_by_distance`](crate::blocks::copy_by_distance), and a group is loaded before it is stored.
///
/// If an odd number of bytes precedes the groups, every word of the groups is shifted by one byte, and their
/// sum has its bytes swapped: it is 256 times too large or too small, which is the same modulo 65535, as
/// 256^2 = 65536 is 1. Multiplying by 256 corrects it.
///
/// # Safety
/// The CPU has AVX2; `len > 288`; `src` is valid for reads and, with `COPY`, `dst` for writes of `len` bytes;
/// no overlap.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn walk<const COPY: bool, const BY_DISTANCE: bool>(
    dst: *mut u8,
    src: *const u8,
    len: usize,
    seed: u32,
) -> u32 {
    /// The largest number of bytes before the groups.
    const MOST_BEFORE: usize = 31;
    let before = bytes_to_multiple(if COPY { dst } else { src }, MOST_BEFORE + 1);
    // SAFETY: the data has the first 32 bytes. `before` is below 32, so 32 bytes of the table follow.
    let head = unsafe {
        let selected = load(SELECTED.0.as_ptr().add(2 * GROUP_BYTES - before));
        _mm256_and_si256(take::<COPY>(dst, src), selected)
    };

    let mut at = before;
    let mut groups_left = (len - MOST_BEFORE) / GROUP_BYTES;
    let has_rest = (len - MOST_BEFORE) % GROUP_BYTES + MOST_BEFORE >= GROUP_BYTES;
    let mut body = _mm256_setzero_si256();
    let mut sums = Sums::new();
    loop {
        let groups = groups_left.min(BLOCK_BYTES / GROUP_BYTES);
        if BY_DISTANCE {
            let past = at + groups * GROUP_BYTES;
            let (mut group, end, step) = order_by_distance(dst, src, at..past, GROUP_BYTES);
            loop {
                // SAFETY: one of the groups up to `past`, which is at most len; there is at least one.
                sums.add(unsafe { copy_group(dst.wrapping_add(group), src.wrapping_add(group)) });
                group = group.wrapping_add(step);
                if group == end {
                    break;
                }
            }
            at = past;
        } else {
            for _ in 0..groups {
                // SAFETY: the group ends at or before len.
                sums.add(unsafe { take_group::<COPY>(dst.wrapping_add(at), src.add(at)) });
                at += GROUP_BYTES;
            }
        }
        groups_left -= groups;
        if groups_left == 0 {
            break;
        }
        // Both are now below 2^35.
        body = _mm256_add_epi64(halves(body), sums.lanes());
        sums = Sums::new();
    }
    if has_rest {
        unlikely();
        // SAFETY: the groups are at least a group shorter than the data, and at most 31 bytes precede them.
        let rest = unsafe { take::<COPY>(dst.wrapping_add(at), src.add(at)) };
        body = _mm256_add_epi64(halves(body), halves(rest));
        at += 32;
    }
    let left = len - at;
    // SAFETY: less than a group is left, after the rest at most 255 + 31 - 32 bytes. The data has an even number of bytes, at least a group, that
    // ends there; it has a last byte.
    let odd_byte = unsafe {
        let odd = left & 1;
        let behind = Last::new(dst, src, len - odd, GROUP_BYTES, left - odd);
        sums.add([behind.take_four::<COPY>(0), behind.take_four::<COPY>(128)]);
        take_byte::<COPY>(dst, src, len, odd)
    };
    // Below 2^36 in each lane, and below 2^44 if the bytes are swapped.
    let body = _mm256_add_epi64(halves(body), sums.lanes());
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
    fn add(&mut self, [[a, b, c, d], [e, f, g, h]]: [[__m256i; 4]; 2]) {
        for (sum, [one, other]) in self.sums.iter_mut().zip([[a, e], [b, f], [c, g], [d, h]]) {
            *sum = _mm256_add_epi64(_mm256_add_epi64(*sum, one), other);
        }
        let mean = |one, other| _mm256_avg_epu16(one, other);
        let mean = mean(mean(mean(a, b), mean(c, d)), mean(mean(e, f), mean(g, h)));
        self.tops = _mm256_add_epi64(self.tops, _mm256_srli_epi64::<48>(mean));
    }

    /// The total added so far, carries included, as lanes below 2^34. At most [`BLOCK_BYTES`] and one group
    /// may have been added.
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

/// The sum of the halves of each 64-bit lane, below 2^33.
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
