//! One chain that sums a message at an odd address from its second byte on and swaps the bytes of the result.
//!
//! This is the article's baseline (the Linux kernel's csum_partial of late 2021) as intended: the seed is also
//! rotated by a byte before it is added, because the swap at the end rotates it back. The article's own form
//! omits this: [`odd_address_baseline`](super::odd_address_baseline). The special case is unnecessary either
//! way, since a sum does not depend on the address of the message; the variant exists to measure its cost.

use crate::{Role, Routine, Variant, checksum::adc_1_stream, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "odd_address_swap",
    routine: Routine::Checksum(run),
    role: Role::Historical,
    summary: "one add-with-carry chain, odd addresses handled separately",
    provenance: "vandeven-2021, baseline (Linux csum_partial of late 2021, d31c3c683ee6), with the seed's byte order fixed",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    unsafe { sum(data, len, seed) }
}

/// The same, for callers that inline it.
///
/// # Safety
/// `data` is valid for reads of `len` bytes.
#[inline(always)]
pub unsafe fn sum(data: *const u8, len: usize, seed: u32) -> u32 {
    if len == 0 || data as usize & 1 == 0 {
        // SAFETY: `len` bytes are readable by contract.
        return ones_complement::reduce(unsafe { adc_1_stream::chain(u64::from(seed), data, len) });
    }
    // SAFETY: the first byte, then the len - 1 after it.
    let sum = unsafe {
        let first = u64::from(u16::from_ne_bytes([0, data.read()]));
        let rotated = u64::from(seed.rotate_left(8));
        ones_complement::reduce(adc_1_stream::chain(rotated + first, data.add(1), len - 1))
    };
    u32::from(ones_complement::fold(sum).swap_bytes())
}
