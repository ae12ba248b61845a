//! Sums by inlined 64-bit loads: of arrays, of bytes just written, of constants.
//!
//! There is no call, no vector and no dispatch. This suits short headers: a header that was just built field
//! by field is still in the store buffer, and a wide load over several narrow stores waits until they have
//! left it.

use super::fold_64;

/// The sum of `bytes` and `seed` as [`partial`](super::partial) gives it, also at compile time.
#[inline(always)]
pub(super) const fn sum(bytes: &[u8], seed: u32) -> u32 {
    let mut total = seed as u64;
    let mut carry = false;
    let mut rest = bytes;
    // Compilers turn this into one chain of add-with-carry: each word adds the carry of the previous one.
    // Only one of the two additions can carry, because after a carry the first leaves at most 2^64 - 2.
    while let Some((word, behind)) = rest.split_first_chunk::<8>() {
        let (with_word, of_word) = total.overflowing_add(u64::from_ne_bytes(*word));
        let (with_carry, of_carry) = with_word.overflowing_add(carry as u64);
        (total, carry) = (with_carry, of_word | of_carry);
        rest = behind;
    }
    // The last carry, and up to 4, 2 and 1 bytes: below 2^33 together.
    let mut tail = carry as u64;
    if let Some((word, behind)) = rest.split_first_chunk::<4>() {
        tail += u32::from_ne_bytes(*word) as u64;
        rest = behind;
    }
    if let Some((word, behind)) = rest.split_first_chunk::<2>() {
        tail += u16::from_ne_bytes(*word) as u64;
        rest = behind;
    }
    if let Some(last) = rest.first() {
        tail += u16::from_ne_bytes([*last, 0]) as u64;
    }
    let (total, carry) = total.overflowing_add(tail);
    // If it carries, the total is below the tail, hence adding one does not carry.
    fold_64(total + carry as u64)
}

/// The sum of bytes that were just written, by scalar loads only.
#[inline]
pub(super) fn fresh(bytes: &[u8], seed: u32) -> u32 {
    // No compiler vectorises these: one is assembly, the other carries into 128 bits.
    #[cfg(target_arch = "x86_64")]
    let kernel = super::adc_assembly::partial;
    #[cfg(not(target_arch = "x86_64"))]
    let kernel = super::portable::partial;
    // SAFETY: a slice is valid for reads of its length; the kernel needs no CPU feature.
    unsafe { kernel(bytes.as_ptr(), bytes.len(), seed) }
}
