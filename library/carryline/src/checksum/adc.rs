//! The sum by add-with-carry, in two independent chains.
//!
//! One chain of `adc` takes a cycle per 8 bytes. Two chains, over the two halves of each 128 bytes, run in
//! parallel, since the CPU renames the carry flag. Each ends by adding its carry to itself, so that no carry
//! is lost between them. This is assembly because Rust cannot guarantee that a carry stays in the flag from
//! one addition to the next.

use super::fold_64;
use super::portable::{below_8, last_bytes};
use crate::blocks::load;
use core::arch::asm;

/// Adds the words at the given distances from `$data` to `$sum`, with the carry out of the last.
///
/// The caller's `unsafe` must ensure that each word is readable.
macro_rules! add_words {
    ($sum:ident, $data:expr, $first:literal $(, $next:literal)*) => {
        asm!(
            concat!("add {sum}, [{data} + ", $first, "]"),
            $(concat!("adc {sum}, [{data} + ", $next, "]"),)*
            "adc {sum}, 0",
            sum = inout(reg) $sum,
            data = in(reg) $data,
            options(pure, readonly, nostack)
        )
    };
}

/// After the steps of 128 bytes, at most one each of 64, 32, 16 and 8, as the digits of the length say.
///
/// # Safety
/// As [`partial_raw`](super::partial_raw).
pub(crate) unsafe extern "C" fn partial(mut data: *const u8, len: usize, seed: u32) -> u32 {
    let mut low = u64::from(seed);
    let mut high = 0_u64;
    let mut left = len;
    // SAFETY: 128 bytes are read while at least 128 are left, then what the lower digits of `left` say, in
    // their order, so that the parts are consecutive and end at len. The word that ends there exists if the
    // data has at least 8 bytes; of fewer, nothing was read before.
    unsafe {
        while left >= 128 {
            add_words!(low, data, 0, 8, 16, 24, 32, 40, 48, 56);
            add_words!(high, data, 64, 72, 80, 88, 96, 104, 112, 120);
            data = data.add(128);
            left -= 128;
        }
        if left & 64 != 0 {
            add_words!(low, data, 0, 8, 16, 24, 32, 40, 48, 56);
            data = data.add(64);
        }
        if left & 32 != 0 {
            add_words!(high, data, 0, 8, 16, 24);
            data = data.add(32);
        }
        if left & 16 != 0 {
            add_words!(low, data, 0, 8);
            data = data.add(16);
        }
        if left & 8 != 0 {
            add_words!(high, data, 0);
            data = data.add(8);
        }
        let rest = match len {
            8.. => last_bytes(load::<u64>(data.add(left & 7).sub(8)), left & 7),
            _ => below_8(data, len),
        };
        fold_64(add_three(low, high, rest))
    }
}

/// The one's-complement sum of three words. If the first addition carries, at most 2^64 - 2 is left of it. Whether or
/// not it did, at most 2^64 - 2 is left if the second one carries, so the last carry has room.
#[inline(always)]
fn add_three(mut sum: u64, second: u64, third: u64) -> u64 {
    // SAFETY: only additions.
    unsafe {
        asm!(
            "add {sum}, {second}",
            "adc {sum}, {third}",
            "adc {sum}, 0",
            sum = inout(reg) sum,
            second = in(reg) second,
            third = in(reg) third,
            options(pure, nomem, nostack)
        );
    }
    sum
}
