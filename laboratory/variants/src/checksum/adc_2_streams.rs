//! Two sums, each with its own add-with-carry chain.
//!
//! There is only one carry flag, so the chains do not interleave instruction by instruction: each takes eight
//! words and adds its last carry back, and the out-of-order core runs the two in parallel. Steps of 128
//! bytes, then at most one each of 64 and 32 bytes, then the remaining bytes.

use crate::{
    Routine, Variant,
    ones_complement::{self, adc_chain},
};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "adc_2_streams",
    routine: Routine::Checksum(run),
    summary: "two add-with-carry chains, 128 bytes per iteration",
    provenance: "vandeven-2021, two streams without ADX, for every length and with every carry",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    ones_complement::reduce(unsafe { chains(u64::from(seed), 0, data, len) })
}

/// The one's-complement sum of `first`, `second` and `left` bytes in 64 bits.
///
/// # Safety
/// `at` is valid for reads of `left` bytes.
#[inline(always)]
pub(super) unsafe fn chains(mut first: u64, mut second: u64, mut at: *const u8, mut left: usize) -> u64 {
    // SAFETY: each step reads only what is left: at least 128 bytes in the loop; after it, the bits of `left`
    // say which of 64 and 32 bytes follow, and fewer than 32 remain.
    unsafe {
        while left >= 128 {
            adc_chain!(first, at, 0, 8, 16, 24, 32, 40, 48, 56);
            adc_chain!(second, at, 64, 72, 80, 88, 96, 104, 112, 120);
            at = at.add(128);
            left -= 128;
        }
        if left & 64 != 0 {
            adc_chain!(first, at, 0, 8, 16, 24);
            adc_chain!(second, at, 32, 40, 48, 56);
            at = at.add(64);
        }
        if left & 32 != 0 {
            adc_chain!(first, at, 0, 8);
            adc_chain!(second, at, 16, 24);
            at = at.add(32);
        }
        let first = ones_complement::add_rest(first, at, left & 31);
        ones_complement::add(first, second)
    }
}
