//! Known to be wrong: the article's baseline, which handles odd addresses and forgets the seed.
//!
//! A message at an odd address is summed from its second byte on, in the other byte order, and the result is
//! swapped back. The seed is added before that in its own byte order, so it is swapped too. The result is
//! correct at even addresses, with seed 0, and with any seed that is the same after swapping.

use crate::{Routine, Variant, checksum::adc_1_stream, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "odd_address_baseline",
    routine: Routine::Checksum(run),
    summary: "one add-with-carry chain that swaps the seed at odd addresses",
    provenance: "vandeven-2021, baseline",
    known_bad: Some(
        "at an odd address the sum is byte-swapped with the seed in it, which was not: seed 1 and one zero byte \
         give 0x100",
    ),
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let seed = u64::from(seed);
    if len == 0 || data as usize & 1 == 0 {
        // SAFETY: the caller owns len readable bytes.
        return ones_complement::reduce(unsafe { adc_1_stream::chain(seed, data, len) });
    }
    // SAFETY: the first byte, then the len - 1 after it.
    let sum = unsafe {
        let first = u64::from(u16::from_ne_bytes([0, data.read()]));
        ones_complement::reduce(adc_1_stream::chain(seed + first, data.add(1), len - 1))
    };
    u32::from(ones_complement::fold(sum).swap_bytes())
}
