//! The sum by add-with-carry, in two independent chains.
//!
//! One chain of `adc` takes a cycle per 8 bytes. Two chains, over the two halves of each 128 bytes, run in
//! parallel, since the CPU renames the carry flag. Each ends by adding its carry to itself, so that no carry
//! is lost between them. This is assembly because Rust cannot guarantee that a carry stays in the flag from
//! one addition to the next.

use super::portable::below_32;
use super::{fold_64, fold_128};
use core::arch::asm;

/// # Safety
/// As [`partial_raw`](super::partial_raw).
pub(crate) unsafe extern "C" fn partial(mut data: *const u8, mut len: usize, seed: u32) -> u32 {
    let mut low = u64::from(seed);
    let mut high = 0;
    // SAFETY: 128 bytes are read while at least 128 are left, then 32 at a time; fewer than 32 remain.
    unsafe {
        while len >= 128 {
            low = add_64_bytes(low, data);
            high = add_64_bytes(high, data.add(64));
            data = data.add(128);
            len -= 128;
        }
        while len >= 32 {
            low = add_32_bytes(low, data);
            data = data.add(32);
            len -= 32;
        }
        fold_64(fold_128(u128::from(low) + u128::from(high) + below_32(data, len)))
    }
}

/// # Safety
/// `data` is valid for reads of 64 bytes.
#[inline(always)]
unsafe fn add_64_bytes(mut sum: u64, data: *const u8) -> u64 {
    // SAFETY: reads 64 bytes, valid by contract, and writes its output register and the flags.
    unsafe {
        asm!(
            "add {sum}, [{data}]",
            "adc {sum}, [{data} + 8]",
            "adc {sum}, [{data} + 16]",
            "adc {sum}, [{data} + 24]",
            "adc {sum}, [{data} + 32]",
            "adc {sum}, [{data} + 40]",
            "adc {sum}, [{data} + 48]",
            "adc {sum}, [{data} + 56]",
            "adc {sum}, 0",
            sum = inout(reg) sum,
            data = in(reg) data,
            options(pure, readonly, nostack)
        );
    }
    sum
}

/// # Safety
/// `data` is valid for reads of 32 bytes.
#[inline(always)]
unsafe fn add_32_bytes(mut sum: u64, data: *const u8) -> u64 {
    // SAFETY: reads 32 bytes, valid by contract, and writes its output register and the flags.
    unsafe {
        asm!(
            "add {sum}, [{data}]",
            "adc {sum}, [{data} + 8]",
            "adc {sum}, [{data} + 16]",
            "adc {sum}, [{data} + 24]",
            "adc {sum}, 0",
            sum = inout(reg) sum,
            data = in(reg) data,
            options(pure, readonly, nostack)
        );
    }
    sum
}
