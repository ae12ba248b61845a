//! `carryline_sum` and `carryline_csum`: [`Sum`] and [`Checksum`] by value.
//!
//! Both are integers without padding, and any values are valid: a sum that a program has zeroed, read from a file or
//! compared by `memcmp` breaks nothing. On the ABIs of 64-bit machines each travels in one register.

use crate::memory::{array, bytes, iovec, pieces};
use carryline::checksum::{Checksum, Sum, copy_and_sum_raw, partial_raw};
use core::ffi::c_void;

/// A partial sum: [`Sum`]. All zero is the sum of nothing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct carryline_sum {
    /// The sum as the next byte sees it.
    pub acc: u32,
    /// 1 after an odd number of bytes, else 0; only the lowest bit counts.
    pub odd: u32,
}

/// A finished checksum: [`Checksum`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct carryline_csum {
    /// The bytes of the field, in the order of the wire.
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

/// The sum of nothing: [`Sum::new`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_new() -> carryline_sum {
    Sum::new().into()
}

/// Goes on from a sum in the form of `carryline_checksum_partial` over an even number of bytes: [`Sum::from_partial`].
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
    behind(unsafe { partial_raw(data.cast(), len, acc) }, odd, len)
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

/// Adds `count` pieces one behind the other: [`Sum::add_iov`].
///
/// # Safety
/// `iov` must be valid for reads of `count` entries, each of them valid for reads of its `iov_len` initialised bytes;
/// where a number is 0, its pointer may be any.
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

/// This sum and that of the data behind it: [`Sum::combine`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_combine(sum: carryline_sum, behind: carryline_sum) -> carryline_sum {
    Sum::from(sum).combine(behind.into()).into()
}

/// Copies `len` bytes from `src` to `dst`, which do not overlap, and adds them: [`Sum::copy`], and [`Sum::copy_over`],
/// which are one where nothing knows what is initialised.
///
/// # Safety
/// `src` must be valid for reads of `len` initialised bytes and `dst` for writes of `len` bytes, and they must not
/// overlap; with `len` 0 they may be any pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_sum_copy(
    sum: carryline_sum,
    dst: *mut c_void,
    src: *const c_void,
    len: usize,
) -> carryline_sum {
    let (acc, odd) = Sum::from(sum).into_raw_parts();
    // SAFETY: `src` is readable, initialised, and `dst` writable for `len` bytes, and they do not overlap, by contract.
    let acc = unsafe { copy_and_sum_raw(dst.cast(), src.cast(), len, acc) };
    behind(acc, odd, len)
}

/// The sum with `len` bytes more, after which the kernel's is `acc`: as zeros they move its parity on. Without a slice,
/// which a null pointer cannot make.
#[inline(always)]
fn behind(acc: u32, odd: bool, len: usize) -> carryline_sum {
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

/// Whether the data, its checksum included, is intact: [`Sum::verify`].
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_verify(sum: carryline_sum) -> bool {
    Sum::from(sum).verify()
}

/// What a network card wants to find in the field: [`Sum::offload_seed`], the bytes of the field.
#[unsafe(no_mangle)]
pub extern "C" fn carryline_sum_offload_seed(sum: carryline_sum) -> carryline_csum {
    carryline_csum { b: Sum::from(sum).offload_seed() }
}
