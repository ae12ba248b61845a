//! One call per protocol for TCP and UDP, over a whole packet or over pieces: [`checksum::tcp`] and related
//! functions.

use crate::memory::{iovec, pieces};
use crate::protocols::{compute, put, v4, v6, whole};
use crate::sum::carryline_csum;
use carryline::checksum::{self, UdpVerdict};
use core::ffi::c_void;

/// The result of verifying a received UDP datagram: [`UdpVerdict`].
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(non_camel_case_types, reason = "the names in C")]
pub enum carryline_udp_verdict {
    /// Damaged, or shorter than its header.
    CARRYLINE_UDP_DAMAGED = 0,
    /// Intact.
    CARRYLINE_UDP_INTACT = 1,
    /// Sent without a checksum.
    CARRYLINE_UDP_ABSENT = 2,
}

impl From<UdpVerdict> for carryline_udp_verdict {
    fn from(verdict: UdpVerdict) -> carryline_udp_verdict {
        match verdict {
            UdpVerdict::Damaged => carryline_udp_verdict::CARRYLINE_UDP_DAMAGED,
            UdpVerdict::Intact => carryline_udp_verdict::CARRYLINE_UDP_INTACT,
            UdpVerdict::Absent => carryline_udp_verdict::CARRYLINE_UDP_ABSENT,
        }
    }
}

/// The checksum of a TCP segment over IPv4: [`checksum::tcp`].
///
/// # Safety
/// `src` and `dst` must be valid for reads of 4 initialised bytes, `segment` for reads of `len`; with `len` 0
/// it may be any pointer. `checksum` must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_tcp_v4(
    src: *const c_void,
    dst: *const c_void,
    segment: *const c_void,
    len: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and `len` bytes at `segment` are readable, and `checksum` is
    // writable.
    unsafe { put(compute(checksum::tcp, v4(src, dst), whole(segment, len)), checksum) }
}

/// The checksum of a TCP segment over IPv4, in pieces: [`checksum::tcp`].
///
/// # Safety
/// As [`carryline_checksum_tcp_v4`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_tcp_v4_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and the `count` pieces are readable, and `checksum` is writable.
    unsafe { put(compute(checksum::tcp, v4(src, dst), pieces(iov, count)), checksum) }
}

/// True if a received TCP segment over IPv4 is intact: [`checksum::verify_tcp`].
///
/// # Safety
/// As [`carryline_checksum_tcp_v4`], without `checksum`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_tcp_v4(
    src: *const c_void,
    dst: *const c_void,
    segment: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: the addresses and `len` bytes at `segment` are readable by contract.
    unsafe { checksum::verify_tcp(v4(src, dst), whole(segment, len)) }
}

/// True if a received TCP segment over IPv4 in pieces is intact: [`checksum::verify_tcp`].
///
/// # Safety
/// As [`carryline_checksum_verify_tcp_v4`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_tcp_v4_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
) -> bool {
    // SAFETY: the addresses and the `count` pieces are readable by contract.
    unsafe { checksum::verify_tcp(v4(src, dst), pieces(iov, count)) }
}

/// The checksum of a TCP segment over IPv6: [`checksum::tcp`].
///
/// # Safety
/// As [`carryline_checksum_tcp_v4`], with addresses of 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_tcp_v6(
    src: *const c_void,
    dst: *const c_void,
    segment: *const c_void,
    len: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and `len` bytes at `segment` are readable, and `checksum` is
    // writable.
    unsafe { put(compute(checksum::tcp, v6(src, dst), whole(segment, len)), checksum) }
}

/// The checksum of a TCP segment over IPv6, in pieces: [`checksum::tcp`].
///
/// # Safety
/// As [`carryline_checksum_tcp_v6`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_tcp_v6_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and the `count` pieces are readable, and `checksum` is writable.
    unsafe { put(compute(checksum::tcp, v6(src, dst), pieces(iov, count)), checksum) }
}

/// True if a received TCP segment over IPv6 is intact: [`checksum::verify_tcp`].
///
/// # Safety
/// As [`carryline_checksum_tcp_v6`], without `checksum`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_tcp_v6(
    src: *const c_void,
    dst: *const c_void,
    segment: *const c_void,
    len: usize,
) -> bool {
    // SAFETY: the addresses and `len` bytes at `segment` are readable by contract.
    unsafe { checksum::verify_tcp(v6(src, dst), whole(segment, len)) }
}

/// True if a received TCP segment over IPv6 in pieces is intact: [`checksum::verify_tcp`].
///
/// # Safety
/// As [`carryline_checksum_verify_tcp_v6`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_tcp_v6_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
) -> bool {
    // SAFETY: the addresses and the `count` pieces are readable by contract.
    unsafe { checksum::verify_tcp(v6(src, dst), pieces(iov, count)) }
}

/// The checksum of a UDP datagram over IPv4: [`checksum::udp`].
///
/// # Safety
/// As [`carryline_checksum_tcp_v4`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_udp_v4(
    src: *const c_void,
    dst: *const c_void,
    datagram: *const c_void,
    len: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and `len` bytes at `datagram` are readable, and `checksum` is
    // writable.
    unsafe { put(compute(checksum::udp, v4(src, dst), whole(datagram, len)), checksum) }
}

/// The checksum of a UDP datagram over IPv4, in pieces: [`checksum::udp`].
///
/// # Safety
/// As [`carryline_checksum_udp_v4`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_udp_v4_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and the `count` pieces are readable, and `checksum` is writable.
    unsafe { put(compute(checksum::udp, v4(src, dst), pieces(iov, count)), checksum) }
}

/// Verifies a received UDP datagram over IPv4: [`checksum::verify_udp`].
///
/// # Safety
/// As [`carryline_checksum_udp_v4`], without `checksum`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_udp_v4(
    src: *const c_void,
    dst: *const c_void,
    datagram: *const c_void,
    len: usize,
) -> carryline_udp_verdict {
    // SAFETY: the addresses and `len` bytes at `datagram` are readable by contract.
    unsafe { checksum::verify_udp(v4(src, dst), whole(datagram, len)).into() }
}

/// Verifies a received UDP datagram over IPv4 in pieces: [`checksum::verify_udp`].
///
/// # Safety
/// As [`carryline_checksum_verify_udp_v4`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_udp_v4_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
) -> carryline_udp_verdict {
    // SAFETY: the addresses and the `count` pieces are readable by contract.
    unsafe { checksum::verify_udp(v4(src, dst), pieces(iov, count)).into() }
}

/// The checksum of a UDP datagram over IPv6: [`checksum::udp`].
///
/// # Safety
/// As [`carryline_checksum_tcp_v4`], with addresses of 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_udp_v6(
    src: *const c_void,
    dst: *const c_void,
    datagram: *const c_void,
    len: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and `len` bytes at `datagram` are readable, and `checksum` is
    // writable.
    unsafe { put(compute(checksum::udp, v6(src, dst), whole(datagram, len)), checksum) }
}

/// The checksum of a UDP datagram over IPv6, in pieces: [`checksum::udp`].
///
/// # Safety
/// As [`carryline_checksum_udp_v6`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_udp_v6_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
    checksum: *mut carryline_csum,
) -> bool {
    // SAFETY: by contract, the addresses and the `count` pieces are readable, and `checksum` is writable.
    unsafe { put(compute(checksum::udp, v6(src, dst), pieces(iov, count)), checksum) }
}

/// Verifies a received UDP datagram over IPv6: [`checksum::verify_udp`].
///
/// # Safety
/// As [`carryline_checksum_udp_v6`], without `checksum`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_udp_v6(
    src: *const c_void,
    dst: *const c_void,
    datagram: *const c_void,
    len: usize,
) -> carryline_udp_verdict {
    // SAFETY: the addresses and `len` bytes at `datagram` are readable by contract.
    unsafe { checksum::verify_udp(v6(src, dst), whole(datagram, len)).into() }
}

/// Verifies a received UDP datagram over IPv6 in pieces: [`checksum::verify_udp`].
///
/// # Safety
/// As [`carryline_checksum_verify_udp_v6`]; the pieces as in `carryline_sum_add_iov`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carryline_checksum_verify_udp_v6_iov(
    src: *const c_void,
    dst: *const c_void,
    iov: *const iovec,
    count: usize,
) -> carryline_udp_verdict {
    // SAFETY: the addresses and the `count` pieces are readable by contract.
    unsafe { checksum::verify_udp(v6(src, dst), pieces(iov, count)).into() }
}
