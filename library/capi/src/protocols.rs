//! One call per protocol, over a whole packet or over pieces: IPv4 headers, ICMP, ICMPv6, and what these
//! share with TCP and UDP.
//!
//! A function that computes a checksum returns false for an invalid packet (a length that does not fit into
//! the pseudo-header, or a truncated IPv4 header), for which the Rust function panics. The checksum is
//! written last, so that it may be stored in the packet itself.

use crate::memory::{Piece, array, bytes, iovec, pieces};
use crate::sum::carryline_csum;
use carryline::checksum::{self, Addresses, Checksum};
use core::ffi::c_void;

/// # Safety
/// `src` and `dst` must be valid for reads of 4 initialised bytes.
#[inline(always)]
pub(crate) unsafe fn v4(src: *const c_void, dst: *const c_void) -> Addresses {
    // SAFETY: the addresses are readable by contract.
    unsafe { Addresses::V4 { src: array(src), dst: array(dst) } }
}

/// # Safety
/// `src` and `dst` must be valid for reads of 16 initialised bytes.
#[inline(always)]
pub(crate) unsafe fn v6(src: *const c_void, dst: *const c_void) -> Addresses {
    // SAFETY: the addresses are readable by contract.
    unsafe { Addresses::V6 { src: array(src), dst: array(dst) } }
}

/// A packet in one piece.
///
/// # Safety
/// As [`bytes`].
#[inline(always)]
pub(crate) unsafe fn whole<'a>(data: *const c_void, len: usize) -> core::iter::Once<Piece<'a>> {
    // SAFETY: `data` is readable for `len` bytes by contract.
    core::iter::once(Piece(unsafe { bytes(data, len) }))
}

/// Writes the checksum and returns true if the packet's length fits into its pseudo-header; otherwise returns
/// false.
///
/// # Safety
/// `to` must be valid for writes, and `checksum` comes from data that is borrowed no longer, because `to` may be a part
/// of it.
#[inline(always)]
pub(crate) unsafe fn put(checksum: Option<Checksum>, to: *mut carryline_csum) -> bool {
    // SAFETY: `to` is writable by contract.
    checksum.map(|checksum| unsafe { to.write(checksum.into()) }).is_some()
}

/// The checksum of a packet in pieces; `None` if its length does not fit into its pseudo-header. Writes nothing: the
/// place for the checksum may be in the packet, and a function's arguments are borrowed until it returns.
#[inline(always)]
pub(crate) fn compute<'a, I: Iterator<Item = Piece<'a>> + Clone>(
    protocol: impl FnOnce(Addresses, I) -> Checksum,
    addresses: Addresses,
    pieces: I,
) -> Option<Checksum> {
    let len = pieces.clone().fold(0_usize, |len, piece| len.saturating_add(piece.as_ref().len()));
    let fits = match addresses {
        Addresses::V4 { .. } => u16::try_from(len).is_ok(),
        Addresses::V6 { .. } => u32::try_from(len).is_ok(),
    };
    fits.then(|| protocol(addresses, pieces))
}

/// ICMPv6 with the signature of the other protocols, although it has only IPv6 addresses.
#[inline(always)]
fn icmpv6<'a>(addresses: Addresses, pieces: impl Iterator<Item = Piece<'a>>) -> Checksum {
    match addresses {
        Addresses::V6 { src, dst } => checksum::icmpv6(src, dst, pieces),
        Addresses::V4 { .. } => unreachable!("ICMPv6 is called with `v6` only"),
    }
}

/// The checksum of an IPv4 header: [`checksum::ipv4_header`]. False if the header's own length is invalid or
/// more than `len`.
///
/// # Safety
/// `header` must be valid for reads of `len` initialised bytes; with `len` 0 it may be any pointer.
/// `checksum` must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_ipv4_header(
    header: *const c_void,
    len: usize,
    checksum: *mut carryline_csum,
) -> bool {
    let of_header = |header: &[u8]| {
        let header_len = header.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
        (header_len >= 20 && header_len <= len).then(|| checksum::ipv4_header(header))
    };
    // SAFETY: `header` is readable for `len` bytes and `checksum` writable by contract; the header, which may contain it, is
    // no longer borrowed.
    unsafe { put(of_header(bytes(header, len)), checksum) }
}

/// True if a received IPv4 header is intact: [`checksum::verify_ipv4_header`].
///
/// # Safety
/// `header` must be valid for reads of `len` initialised bytes; with `len` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_ipv4_header(header: *const c_void, len: usize) -> bool {
    // SAFETY: `header` is readable for `len` bytes by contract.
    checksum::verify_ipv4_header(unsafe { bytes(header, len) })
}

/// The checksum of an ICMP message: [`checksum::icmp`].
///
/// # Safety
/// `message` must be valid for reads of `len` initialised bytes; with `len` 0 it may be any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_icmp(message: *const c_void, len: usize) -> carryline_csum {
    // SAFETY: `message` is readable for `len` bytes by contract.
    checksum::icmp(unsafe { whole(message, len) }).into()
}

/// The checksum of an ICMP message, in pieces: [`checksum::icmp`].
///
/// # Safety
/// As [`carryline_checksum_icmp`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_icmp_iov(iov: *const iovec, count: usize) -> carryline_csum {
    // SAFETY: the `count` pieces are readable by contract.
    checksum::icmp(unsafe { pieces(iov, count) }).into()
}

/// True if a received ICMP message is intact: [`checksum::verify_icmp`].
///
/// # Safety
/// As [`carryline_checksum_icmp`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_icmp(message: *const c_void, len: usize) -> bool {
    // SAFETY: `message` is readable for `len` bytes by contract.
    checksum::verify_icmp(unsafe { whole(message, len) })
}

/// True if a received ICMP message in pieces is intact: [`checksum::verify_icmp`].
///
/// # Safety
/// As [`carryline_checksum_verify_icmp`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_icmp_iov(iov: *const iovec, count: usize) -> bool {
    // SAFETY: the `count` pieces are readable by contract.
    checksum::verify_icmp(unsafe { pieces(iov, count) })
}

/// The checksum of an ICMPv6 message: [`checksum::icmpv6`].
///
/// # Safety
/// As `carryline_checksum_tcp_v4`, with addresses of 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_icmpv6(
    src: *const c_void,
    dst: *const c_void,
    message: *const c_void,
    len: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and `len` bytes at `message` are readable, and `checksum` is
    // writable.
    unsafe { put(compute(icmpv6, v6(src, dst), whole(message, len)), checksum) }
}

/// The checksum of an ICMPv6 message, in pieces: [`checksum::icmpv6`].
///
/// # Safety
/// As [`carryline_checksum_icmpv6`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_icmpv6_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and the `count` pieces are readable, and `checksum` is writable.
    unsafe { put(compute(icmpv6, v6(src, dst), pieces(iov, count)), checksum) }
}

/// True if a received ICMPv6 message is intact: [`checksum::verify_icmpv6`].
///
/// # Safety
/// As [`carryline_checksum_icmpv6`], without `checksum`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_icmpv6(
    src: *const c_void,
    dst: *const c_void,
    message: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: the addresses and `len` bytes at `message` are readable by contract.
    unsafe { checksum::verify_icmpv6(array(src), array(dst), whole(message, len)) }
}

/// True if a received ICMPv6 message in pieces is intact: [`checksum::verify_icmpv6`].
///
/// # Safety
/// As [`carryline_checksum_verify_icmpv6`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_icmpv6_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
) -> bool {
    // SAFETY: the addresses and the `count` pieces are readable by contract.
    unsafe { checksum::verify_icmpv6(array(src), array(dst), pieces(iov, count)) }
}
