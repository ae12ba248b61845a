//! From this collection's C form to the interfaces of other people's crates.

use carryline::internals::cpu::Features;

/// Holds the peers that select their code by the CPU's features to those that are `usable`: a masked feature is masked for
/// them too. The C library is held by the environment that a process starts with.
///
/// # Safety
/// The program has no other thread yet.
pub unsafe fn hold_to(usable: Features) {
    // SAFETY: there is no thread that could call it, by contract.
    unsafe { crate::copy::stringzilla::hold_to(usable) }
}

/// The caller's bytes as a slice; an empty one where `len` is 0, whatever the pointer.
///
/// # Safety
/// `data` is valid for reads of `len` initialised bytes, which nothing writes as long as the slice lives.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    let data = if len == 0 { core::ptr::NonNull::dangling().as_ptr() } else { data.cast_mut() };
    // SAFETY: valid and initialised by contract, not null as it can be accessed, and bytes have no alignment; for an empty
    // slice any pointer that is not null is right.
    unsafe { core::slice::from_raw_parts(data, len) }
}

/// As [`bytes`], to write.
///
/// # Safety
/// `data` is valid for writes of `len` initialised bytes, which nothing else touches as long as the slice lives.
#[inline(always)]
pub(crate) unsafe fn bytes_mut<'a>(data: *mut u8, len: usize) -> &'a mut [u8] {
    let data = if len == 0 { core::ptr::NonNull::dangling().as_ptr() } else { data };
    // SAFETY: valid and initialised by contract, not null as it can be accessed, and bytes have no alignment; for an empty
    // slice any pointer that is not null is right.
    unsafe { core::slice::from_raw_parts_mut(data, len) }
}

/// A peer's 16-bit sum in native byte order, complement undone, onto the seed with end-around carry.
#[inline(always)]
pub(crate) fn onto_seed(seed: u32, sum: u16) -> u32 {
    let (total, carry) = seed.overflowing_add(u32::from(sum));
    total.wrapping_add(u32::from(carry))
}
