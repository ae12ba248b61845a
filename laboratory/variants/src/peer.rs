//! Adapters from this collection's C form to the interfaces of other people's crates.

use carryline::internals::cpu::Features;

/// Restricts the peers that select their code by CPU features to those that are `usable`, so that masked
/// features are masked for them too. The C library is restricted by the environment in which a process
/// starts.
///
/// # Safety
/// The program has no other thread yet.
pub unsafe fn restrict_to(usable: Features) {
    // SAFETY: no other thread exists that could call it, by contract.
    unsafe { crate::copy::stringzilla::restrict_to(usable) }
}

/// The caller's bytes as a slice; an empty one if `len` is 0, whatever the pointer.
///
/// # Safety
/// `data` is valid for reads of `len` initialised bytes, which nothing writes while the slice lives.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    let data = if len == 0 { core::ptr::NonNull::dangling().as_ptr() } else { data.cast_mut() };
    // SAFETY: valid and initialised by contract, not null because it can be accessed, and bytes need no
    // alignment; for an empty slice any non-null pointer is valid.
    unsafe { core::slice::from_raw_parts(data, len) }
}

/// Like [`bytes`], for writing.
///
/// # Safety
/// `data` is valid for writes of `len` initialised bytes, which nothing else accesses while the slice lives.
#[inline(always)]
pub(crate) unsafe fn bytes_mut<'a>(data: *mut u8, len: usize) -> &'a mut [u8] {
    let data = if len == 0 { core::ptr::NonNull::dangling().as_ptr() } else { data };
    // SAFETY: valid and initialised by contract, not null because it can be accessed, and bytes need no
    // alignment; for an empty slice any non-null pointer is valid.
    unsafe { core::slice::from_raw_parts_mut(data, len) }
}

/// Adds a peer's 16-bit sum (native byte order, not complemented) to the seed with end-around carry.
#[inline(always)]
pub(crate) fn onto_seed(seed: u32, sum: u16) -> u32 {
    let (total, carry) = seed.overflowing_add(u32::from(sum));
    total.wrapping_add(u32::from(carry))
}
