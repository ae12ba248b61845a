//! `carryline_sum` and `carryline_csum`: [`Sum`] and [`Checksum`] by value.
//!
//! Both are integers without padding, and all values are valid, so a program may zero a sum, store it in a
//! file or compare it with `memcmp`. On 64-bit ABIs each fits in one register.

use crate::memory::{array, bytes, iovec, pieces};
use carryline::checksum::{Checksum, Sum, copy_and_sum_raw, partial_raw};
use core::ffi::c_void;

/// A partial sum: [`Sum`]. All zeros is the sum of no bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct carryline_sum {
    /// The sum, rotated for the next byte.
    pub acc: u32,
    /// 1 after an odd number of bytes, else 0; only the lowest bit counts.
    pub odd: u32,
}

/// A finished checksum: [`Checksum`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct carryline_csum {
    /// The bytes of the field in wire order.
    pub b: [u8; 2],
}

impl From<Sum> for carryline_sum {
    #[inline(always)]
    fn from(sum: Sum) -> carryline_sum {
        let (acc, odd) = sum.into_raw_parts();
        carryline_sum { acc, odd: u32::from(odd) }
    }
}

impl From<carryline_sum> for Sum {
    #[inline(always)]
    fn from(sum: carryline_sum) -> Sum {
        Sum::from_raw_parts(sum.acc, sum.odd & 1 == 1)
    }
}

impl From<Checksum> for carryline_csum {
    #[inline(always)]
    fn from(checksum: Checksum) -> carryline_csum {
        carryline_csum { b: checksum.0 }
    }
}

impl From<carryline_csum> for Checksum {
    #[inline(always)]
    fn from(checksum: carryline_csum) -> Checksum {
        Checksum(checksum.b)
    }
}

/// The sum of no bytes: [`Sum::new`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_new() -> carryline_sum {
    Sum::new().into()
}

/// Continues from a sum in the form of `carryline_checksum_partial` over an even number of bytes:
/// [`Sum::from_partial`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_from_partial(partial: u32) -> carryline_sum {
    Sum::from_partial(partial).into()
}

/// The sum in the form of `carryline_checksum_partial`: [`Sum::to_partial`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_to_partial(sum: carryline_sum) -> u32 {
    Sum::from(sum).to_partial()
}

/// Adds `len` bytes: [`Sum::add`].
///
/// # Safety
/// `data` must be valid for reads of `len` initialised bytes; with `len` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_sum_add(
    sum: carryline_sum,
    data: *const c_void,
    len: usize,
) -> carryline_sum {
    let (acc, odd) = Sum::from(sum).into_raw_parts();
    // SAFETY: `data` is valid for reads of `len` initialised bytes by contract.
    with_parity(unsafe { partial_raw(data.cast(), len, acc) }, odd, len)
}

/// Adds `len` bytes that were just written: [`Sum::add_fresh`].
///
/// # Safety
/// As [`carryline_sum_add`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_sum_add_fresh(
    sum: carryline_sum,
    data: *const c_void,
    len: usize,
) -> carryline_sum {
    // SAFETY: `data` is readable for `len` bytes by contract.
    Sum::from(sum).add_fresh(unsafe { bytes(data, len) }).into()
}

/// Adds `count` pieces in order: [`Sum::add_iov`].
///
/// # Safety
/// `iov` must be valid for reads of `count` entries, and each entry for reads of `iov_len` initialised bytes;
/// if a count or length is 0, its pointer may be any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_sum_add_iov(
    sum: carryline_sum,
    iov: *const iovec,
    count: usize,
) -> carryline_sum {
    // SAFETY: the `count` pieces are readable by contract.
    Sum::from(sum).add_iov(unsafe { pieces(iov, count) }).into()
}

/// Adds `len` zero bytes: [`Sum::add_zeros`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_add_zeros(sum: carryline_sum, len: usize) -> carryline_sum {
    Sum::from(sum).add_zeros(len).into()
}

/// Combines this sum with that of the data that follows: [`Sum::combine`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_combine(sum: carryline_sum, behind: carryline_sum) -> carryline_sum {
    Sum::from(sum).combine(behind.into()).into()
}

/// Copies `len` bytes from `src` to `dst`, which do not overlap, and adds them. This is both [`Sum::copy`]
/// and [`Sum::copy_over`], because C does not distinguish uninitialised memory.
///
/// # Safety
/// `src` must be valid for reads of `len` initialised bytes and `dst` for writes of `len` bytes, and they
/// must not overlap; with `len` 0 they may be any pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_sum_copy(
    sum: carryline_sum,
    dst: *mut c_void,
    src: *const c_void,
    len: usize,
) -> carryline_sum {
    let (acc, odd) = Sum::from(sum).into_raw_parts();
    // SAFETY: by contract, `src` is readable and initialised and `dst` is writable for `len` bytes, and they
    // do not overlap.
    let acc = unsafe { copy_and_sum_raw(dst.cast(), src.cast(), len, acc) };
    with_parity(acc, odd, len)
}

/// The sum after `len` more bytes for which the kernel returned `acc`. Adding zeros updates the parity
/// without a slice, which cannot be made from a null pointer.
#[inline(always)]
fn with_parity(acc: u32, odd: bool, len: usize) -> carryline_sum {
    Sum::from_raw_parts(acc, odd).add_zeros(len).into()
}

/// The sum of the IPv4 pseudo-header: [`Sum::pseudo_v4`].
///
/// # Safety
/// `src` and `dst` must be valid for reads of 4 initialised bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_sum_pseudo_v4(
    src: *const c_void,
    dst: *const c_void,
    protocol: u8,
    len: u16,
) -> carryline_sum {
    // SAFETY: the addresses are readable by contract.
    let (src, dst) = unsafe { (array(src), array(dst)) };
    Sum::pseudo_v4(src, dst, protocol, len).into()
}

/// The sum of the IPv6 pseudo-header: [`Sum::pseudo_v6`].
///
/// # Safety
/// `src` and `dst` must be valid for reads of 16 initialised bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_sum_pseudo_v6(
    src: *const c_void,
    dst: *const c_void,
    len: u32,
    next_header: u8,
) -> carryline_sum {
    // SAFETY: the addresses are readable by contract.
    let (src, dst) = unsafe { (array(src), array(dst)) };
    Sum::pseudo_v6(src, dst, len, next_header).into()
}

/// The finished checksum: [`Sum::finish`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_finish(sum: carryline_sum) -> carryline_csum {
    Sum::from(sum).finish().into()
}

/// The finished checksum as UDP sends it: [`Sum::finish_udp`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_finish_udp(sum: carryline_sum) -> carryline_csum {
    Sum::from(sum).finish_udp().into()
}

/// True if the data is intact, its checksum included: [`Sum::verify`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_verify(sum: carryline_sum) -> bool {
    Sum::from(sum).verify()
}

/// The bytes of the field that a network card expects if it completes the checksum: [`Sum::offload_seed`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_offload_seed(sum: carryline_sum) -> carryline_csum {
    carryline_csum { b: Sum::from(sum).offload_seed() }
}
