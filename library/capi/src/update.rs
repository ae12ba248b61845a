//! Updates a checksum after a change of part of the data: `Checksum::replace` and related functions (RFC
//! 1624). Words are passed as in the packet, like the checksums of this interface: loaded, not converted.

use crate::memory::bytes;
use crate::sum::carryline_csum;
use carryline::checksum::Checksum;
use core::ffi::c_void;

/// Updates the checksum after a change of a 16-bit word at an even offset: [`Checksum::replace`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_csum_replace16(
    checksum: carryline_csum,
    before: u16,
    after: u16,
) -> carryline_csum {
    Checksum::from(checksum).replace(before.to_ne_bytes(), after.to_ne_bytes()).into()
}

/// Updates the checksum after a change of a 32-bit word at an even offset: [`Checksum::replace`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_csum_replace32(
    checksum: carryline_csum,
    before: u32,
    after: u32,
) -> carryline_csum {
    Checksum::from(checksum).replace(before.to_ne_bytes(), after.to_ne_bytes()).into()
}

/// Updates the checksum after a change of `len` bytes at `offset`: [`Checksum::replace_range`].
///
/// # Safety
/// `before` and `after` must be valid for reads of `len` initialised bytes; with `len` 0 they may be any
/// pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_csum_replace_range(
    checksum: carryline_csum,
    offset: usize,
    before: *const c_void,
    after: *const c_void,
    len: usize,
) -> carryline_csum {
    // SAFETY: both buffers are readable for `len` bytes by contract.
    let (before, after) = unsafe { (bytes(before, len), bytes(after, len)) };
    Checksum::from(checksum).replace_range(offset, before, after).into()
}

/// [`carryline_csum_replace16`] with the rules of UDP: [`Checksum::replace_udp`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_csum_replace16_udp(
    checksum: carryline_csum,
    before: u16,
    after: u16,
) -> carryline_csum {
    Checksum::from(checksum).replace_udp(before.to_ne_bytes(), after.to_ne_bytes()).into()
}

/// [`carryline_csum_replace32`] with the rules of UDP: [`Checksum::replace_udp`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_csum_replace32_udp(
    checksum: carryline_csum,
    before: u32,
    after: u32,
) -> carryline_csum {
    Checksum::from(checksum).replace_udp(before.to_ne_bytes(), after.to_ne_bytes()).into()
}

/// [`carryline_csum_replace_range`] with the rules of UDP: [`Checksum::replace_range_udp`].
///
/// # Safety
/// As [`carryline_csum_replace_range`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_csum_replace_range_udp(
    checksum: carryline_csum,
    offset: usize,
    before: *const c_void,
    after: *const c_void,
    len: usize,
) -> carryline_csum {
    // SAFETY: both buffers are readable for `len` bytes by contract.
    let (before, after) = unsafe { (bytes(before, len), bytes(after, len)) };
    Checksum::from(checksum).replace_range_udp(offset, before, after).into()
}
