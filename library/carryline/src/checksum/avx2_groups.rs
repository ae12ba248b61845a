//! Sums of long data by aligned groups of vectors; see [`avx2`](super::avx2).

use super::avx2_vectors::{
    BLOCK_BYTES, GROUP_BYTES, Sums, Vectors, add_lanes, copy_group, first_bytes, halves, take, take_byte,
};
use super::fold_64;
use crate::blocks::{begin_on_a_line, bytes_to_multiple, order_by_distance, prefetch_far, unlikely};
use core::arch::x86_64::{_mm_cvtsi64_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_sll_epi64};

/// The sum of more than 288 bytes; with `COPY`, also copies them to `dst`. Groups are aligned in the source,
/// or in the destination if there is one. A turn of their loop takes two, because its jump is not free where the
/// other thread of the core takes every second fetch: a group then takes 5.5 core cycles on Zen 3, and 6.4 with
/// one in a turn.
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
/// [`copy_by_distance`](crate::blocks::copy_by_distance), and a group is loaded before it is stored. With `FAR`, which is for sums
/// alone, [`prefetch_far`].
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
pub(super) unsafe fn walk<const COPY: bool, const BY_DISTANCE: bool, const FAR: bool>(
    dst: *mut u8,
    src: *const u8,
    len: usize,
    seed: u32,
) -> u32 {
    /// The largest number of bytes before the groups.
    const MOST_BEFORE: usize = 31;
    let before = bytes_to_multiple(if COPY { dst } else { src }, MOST_BEFORE + 1);
    let swap = _mm_cvtsi64_si128(8 * (before & 1) as i64);
    // Multiplied by 256 here and again at the end, the head is what it was.
    // SAFETY: the data has the first 32 bytes.
    let head = unsafe { _mm256_and_si256(take::<COPY>(dst, src), first_bytes(before)) };
    let mut body = _mm256_sll_epi64(halves(head), swap);

    let mut at = before;
    let mut groups_left = (len - MOST_BEFORE) / GROUP_BYTES;
    let has_rest = (len - MOST_BEFORE) % GROUP_BYTES + MOST_BEFORE >= GROUP_BYTES;
    let mut sums = Sums::new();
    loop {
        let groups = groups_left.min(BLOCK_BYTES / GROUP_BYTES);
        let past = at + groups * GROUP_BYTES;
        if BY_DISTANCE {
            let (mut group, end, step) = order_by_distance(dst, src, at..past, GROUP_BYTES);
            loop {
                // SAFETY: one of the groups up to `past`, which is at most len; there is at least one.
                sums.add_loaded(unsafe { copy_group(dst.wrapping_add(group), src.wrapping_add(group)) });
                group = group.wrapping_add(step);
                if group == end {
                    break;
                }
            }
            at = past;
        } else {
            // SAFETY: every group ends at or before `past`, which is at most len.
            let group = |at: usize| unsafe { Vectors::<COPY, false>::at(dst.wrapping_add(at), src.add(at)) };
            if groups % 2 == 1 {
                // SAFETY: the first of the groups.
                unsafe { sums.add(group(at)) };
                at += GROUP_BYTES;
            }
            while at != past {
                if FAR {
                    prefetch_far(src.wrapping_add(at), 2 * GROUP_BYTES);
                }
                // SAFETY: an even number of groups are left.
                unsafe {
                    sums.add(group(at));
                    sums.add(group(at + GROUP_BYTES));
                }
                at += 2 * GROUP_BYTES;
            }
        }
        groups_left -= groups;
        if groups_left == 0 {
            break;
        }
        // Both are now below 2^42.
        body = _mm256_add_epi64(halves(body), sums.lanes());
        sums = Sums::new();
    }
    if has_rest {
        unlikely();
        begin_on_a_line();
        // SAFETY: the groups are at least a group shorter than the data, and at most 31 bytes precede them.
        let rest = unsafe { take::<COPY>(dst.wrapping_add(at), src.add(at)) };
        body = _mm256_add_epi64(body, halves(rest));
        at += 32;
    }
    let left = len - at;
    // SAFETY: less than a group is left, after a rest at most 255 + 31 - 32 bytes. The data has an even number of
    // bytes, at least a group, that ends there; it has a last byte.
    let odd_byte = unsafe {
        let odd = left & 1;
        sums.add(Vectors::<COPY, true>::last(dst, src, len - odd, GROUP_BYTES, left - odd));
        take_byte::<COPY>(dst, src, len, odd)
    };
    // Below 2^43 in each lane, and below 2^51 if the bytes are swapped.
    let body = _mm256_sll_epi64(_mm256_add_epi64(body, sums.lanes()), swap);
    fold_64(u64::from(seed) + add_lanes(body) + (odd_byte << (8 * (before & 1))))
}
