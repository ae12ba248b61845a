//! One chain of 64-bit add-with-carry: the form of the Linux kernel's csum_partial on x86-64.
//!
//! Steps of 64 bytes, then at most one each of 32, 16 and 8 bytes, then the remaining bytes; the carry out of
//! each step is added back at its end. Every add waits for the previous one, so the chain limits the speed to
//! one word per cycle. Loads are not aligned, and odd addresses need no special handling, because a sum does
//! not depend on the address of the message.
//!
//! The kernel loads the last bytes as one word that may reach past them, and handles the page fault; here
//! they are read by narrower loads. On other architectures the compiler generates the same chain.

use crate::{Role, Routine, Variant, ones_complement};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "adc_1_stream",
    routine: Routine::Checksum(run),
    role: Role::Baseline,
    summary: "one add-with-carry chain, 64 bytes per iteration, as in the Linux kernel",
    provenance: "vandeven-2021 (Linux csum_partial of 2021, without its handling of odd addresses)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller owns len readable bytes.
    ones_complement::reduce(unsafe { chain(u64::from(seed), data, len) })
}

/// The one's-complement sum of `sum` and `len` bytes in 64 bits.
///
/// # Safety
/// `data` is valid for reads of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn chain(mut sum: u64, data: *const u8, len: usize) -> u64 {
    let mut at = data;
    let mut left = len;
    // SAFETY: each step reads only what is left: at least 64 bytes in the loop; after it, the bits of `left`
    // say which of 32, 16 and 8 bytes follow, and fewer than 8 remain.
    unsafe {
        while left >= 64 {
            sum = add_64(sum, at);
            at = at.add(64);
            left -= 64;
        }
        if left & 32 != 0 {
            sum = add_32(sum, at);
            at = at.add(32);
        }
        if left & 16 != 0 {
            sum = add_16(sum, at);
            at = at.add(16);
        }
        if left & 8 != 0 {
            sum = ones_complement::add(sum, at.cast::<u64>().read_unaligned());
            at = at.add(8);
        }
        if left & 7 == 0 { sum } else { ones_complement::add_below_8(sum, at, left & 7) }
    }
}

/// # Safety
/// 64 bytes are readable at `data`.
#[inline(always)]
unsafe fn add_64(mut sum: u64, data: *const u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads eight words from data on.
    unsafe {
        ones_complement::adc_chain!(sum, data, 0, 8, 16, 24, 32, 40, 48, 56);
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the two halves of the 64 bytes.
    unsafe {
        sum = add_32(add_32(sum, data), data.add(32));
    }
    sum
}

/// # Safety
/// 32 bytes are readable at `data`.
#[inline(always)]
unsafe fn add_32(mut sum: u64, data: *const u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads four words from data on.
    unsafe {
        ones_complement::adc_chain!(sum, data, 0, 8, 16, 24);
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the two halves of the 32 bytes.
    unsafe {
        sum = add_16(add_16(sum, data), data.add(16));
    }
    sum
}

/// # Safety
/// 16 bytes are readable at `data`.
#[inline(always)]
unsafe fn add_16(mut sum: u64, data: *const u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads two words from data on.
    unsafe {
        ones_complement::adc_chain!(sum, data, 0, 8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: two words from data on.
    unsafe {
        sum = ones_complement::add(sum, data.cast::<u64>().read_unaligned());
        sum = ones_complement::add(sum, data.add(8).cast::<u64>().read_unaligned());
    }
    sum
}
