//! The sum in 64-bit words, for CPUs of either byte order.
//!
//! 2^16 is 1 modulo 65535, so a 64-bit word counts as the sum of its four 16-bit words, and a carry out of
//! the top counts as one. Words are added to 128-bit sums, whose upper halves count the carries: one add and
//! one add-with-carry per word, in four independent chains.

use super::{fold_64, fold_128};
use crate::blocks::load;

/// # Safety
/// As [`partial_raw`](super::partial_raw).
pub(crate) unsafe extern "C" fn partial(mut data: *const u8, mut len: usize, seed: u32) -> u32 {
    let mut sums = [u128::from(seed), 0, 0, 0];
    // SAFETY: the loop reads 64 bytes while at least 64 are left; the rest is below 64, then below 32.
    unsafe {
        while len >= 64 {
            for (chain, sum) in sums.iter_mut().enumerate() {
                *sum += u128::from(load::<u64>(data.add(chain * 16)));
                *sum += u128::from(load::<u64>(data.add(chain * 16 + 8)));
            }
            data = data.add(64);
            len -= 64;
        }
        if len >= 32 {
            for (chain, sum) in sums.iter_mut().enumerate() {
                *sum += u128::from(load::<u64>(data.add(chain * 8)));
            }
            data = data.add(32);
            len -= 32;
        }
        // Each sum is below 2^64 * 2^64 / 8: no address space holds enough words to overflow it.
        fold_64(fold_128(sums[0] + sums[1] + sums[2] + sums[3] + below_32(data, len)))
    }
}

/// The sum of the last (or only) 0 to 31 bytes: whole 64-bit words, and the rest padded with zero bytes to a
/// word. The rest is taken from the last eight bytes if there are eight.
///
/// # Safety
/// `len < 32`; `data` is valid for reads of `len` bytes.
#[inline(always)]
unsafe fn below_32(data: *const u8, len: usize) -> u128 {
    // SAFETY: every word read ends at or before len, by the conditions.
    unsafe {
        if len < 8 {
            return u128::from(below_8(data, len));
        }
        let mut sum = u128::from(load::<u64>(data));
        if len >= 16 {
            sum += u128::from(load::<u64>(data.add(8)));
        }
        if len >= 24 {
            sum += u128::from(load::<u64>(data.add(16)));
        }
        sum + u128::from(last_bytes(load::<u64>(data.add(len - 8)), len % 8))
    }
}

/// The last `count` (0 to 7) bytes of a word, moved to its start in memory order and followed by zero bytes. Two
/// shifts, since one by 64 bits for no bytes would need a branch.
#[inline(always)]
pub(super) fn last_bytes(word: u64, count: usize) -> u64 {
    if cfg!(target_endian = "little") { word >> 8 >> (56 - 8 * count) } else { word << 8 << (56 - 8 * count) }
}

/// # Safety
/// `len < 8`; `data` is valid for reads of `len` bytes.
#[inline(always)]
pub(super) unsafe fn below_8(data: *const u8, len: usize) -> u64 {
    let mut sum = 0;
    let mut at = 0;
    // SAFETY: the three parts follow the binary digits of len, hence end at len.
    unsafe {
        if len & 4 != 0 {
            sum += u64::from(load::<u32>(data));
            at = 4;
        }
        if len & 2 != 0 {
            sum += u64::from(load::<u16>(data.add(at)));
            at += 2;
        }
        if len & 1 != 0 {
            sum += u64::from(u16::from_ne_bytes([data.add(at).read(), 0]));
        }
    }
    sum
}
