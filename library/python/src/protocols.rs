//! One function per protocol.

use crate::addresses;
use crate::buffers::{with_bytes, with_start};
use crate::number;
use carryline::checksum::{self, Addresses};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::iter::once;

/// The result of verifying a received UDP datagram. Only `INTACT` is true.
#[pyclass(module = "carryline", eq, frozen, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum UdpVerdict {
    /// The datagram is intact.
    #[pyo3(name = "INTACT")]
    Intact,
    /// The datagram was sent without a checksum, which is valid over IPv4.
    #[pyo3(name = "ABSENT")]
    Absent,
    /// The datagram is damaged, shorter than its header, or longer than the pseudo-header can express.
    #[pyo3(name = "DAMAGED")]
    Damaged,
}

#[pymethods]
impl UdpVerdict {
    fn __bool__(&self) -> bool {
        *self == UdpVerdict::Intact
    }
}

/// The checksum of a protocol with a pseudo-header.
///
/// # Errors
/// The message is longer than the pseudo-header can express.
fn compute(
    addresses: Addresses,
    message: &Bound<'_, PyAny>,
    protocol: impl FnOnce(&[u8]) -> checksum::Checksum + Send,
) -> PyResult<u16> {
    let (longest, version) = match addresses {
        Addresses::V4 { .. } => (usize::from(u16::MAX), "IPv4"),
        Addresses::V6 { .. } => (u32::MAX as usize, "IPv6"),
    };
    with_bytes(message, move |bytes| {
        let len = bytes.len();
        if len > longest {
            let message = format!("{len} bytes are too long: at most {longest} over {version}");
            return Err(PyValueError::new_err(message));
        }
        Ok(number(protocol(bytes)))
    })?
}

/// The length of the longest IPv4 header.
const IPV4_MOST_BYTES: usize = 60;

/// The checksum of an IPv4 header, over the number of bytes in its length field.
#[pyfunction]
#[pyo3(signature = (header, /))]
pub(crate) fn ipv4(header: &Bound<'_, PyAny>) -> PyResult<u16> {
    with_start::<IPV4_MOST_BYTES, _>(header, |header, len| {
        let stated = header.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
        if stated < 20 || len < stated {
            let message = format!("{len} bytes with a header length of {stated}: not an IPv4 header");
            return Err(PyValueError::new_err(message));
        }
        Ok(number(checksum::ipv4_header(header)))
    })?
}

/// Whether a received IPv4 header is intact.
#[pyfunction]
#[pyo3(signature = (header, /))]
pub(crate) fn verify_ipv4(header: &Bound<'_, PyAny>) -> PyResult<bool> {
    with_start::<IPV4_MOST_BYTES, _>(header, |header, _| checksum::verify_ipv4_header(header))
}

/// The checksum of a TCP segment, header and data.
#[pyfunction]
#[pyo3(signature = (src, dst, segment))]
pub(crate) fn tcp(
    src: &Bound<'_, PyAny>,
    dst: &Bound<'_, PyAny>,
    segment: &Bound<'_, PyAny>,
) -> PyResult<u16> {
    let addresses = addresses::pair(src, dst)?;
    compute(addresses, segment, |segment| checksum::tcp(addresses, once(segment)))
}

/// Whether a received TCP segment is intact.
#[pyfunction]
#[pyo3(signature = (src, dst, segment))]
pub(crate) fn verify_tcp(
    src: &Bound<'_, PyAny>,
    dst: &Bound<'_, PyAny>,
    segment: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let addresses = addresses::pair(src, dst)?;
    with_bytes(segment, |segment| checksum::verify_tcp(addresses, once(segment)))
}

/// The checksum of a UDP datagram, header and data; never 0.
#[pyfunction]
#[pyo3(signature = (src, dst, datagram))]
pub(crate) fn udp(
    src: &Bound<'_, PyAny>,
    dst: &Bound<'_, PyAny>,
    datagram: &Bound<'_, PyAny>,
) -> PyResult<u16> {
    let addresses = addresses::pair(src, dst)?;
    compute(addresses, datagram, |datagram| checksum::udp(addresses, once(datagram)))
}

/// Whether a received UDP datagram is intact, damaged, or was sent without a checksum.
#[pyfunction]
#[pyo3(signature = (src, dst, datagram))]
pub(crate) fn verify_udp(
    src: &Bound<'_, PyAny>,
    dst: &Bound<'_, PyAny>,
    datagram: &Bound<'_, PyAny>,
) -> PyResult<UdpVerdict> {
    let addresses = addresses::pair(src, dst)?;
    with_bytes(datagram, |datagram| match checksum::verify_udp(addresses, once(datagram)) {
        checksum::UdpVerdict::Intact => UdpVerdict::Intact,
        checksum::UdpVerdict::Absent => UdpVerdict::Absent,
        checksum::UdpVerdict::Damaged => UdpVerdict::Damaged,
    })
}

/// The checksum of an ICMP message.
#[pyfunction]
#[pyo3(signature = (message, /))]
pub(crate) fn icmp(message: &Bound<'_, PyAny>) -> PyResult<u16> {
    with_bytes(message, |message| number(checksum::icmp(once(message))))
}

/// Whether a received ICMP message is intact.
#[pyfunction]
#[pyo3(signature = (message, /))]
pub(crate) fn verify_icmp(message: &Bound<'_, PyAny>) -> PyResult<bool> {
    with_bytes(message, |message| checksum::verify_icmp(once(message)))
}

/// Two IPv6 addresses.
fn v6(src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<([u8; 16], [u8; 16])> {
    match addresses::pair(src, dst)? {
        Addresses::V6 { src, dst } => Ok((src, dst)),
        Addresses::V4 { .. } => Err(PyValueError::new_err("ICMPv6 requires IPv6 addresses")),
    }
}

/// The checksum of an ICMPv6 message.
#[pyfunction]
#[pyo3(signature = (src, dst, message))]
pub(crate) fn icmpv6(
    src: &Bound<'_, PyAny>,
    dst: &Bound<'_, PyAny>,
    message: &Bound<'_, PyAny>,
) -> PyResult<u16> {
    let (src, dst) = v6(src, dst)?;
    compute(Addresses::V6 { src, dst }, message, |message| checksum::icmpv6(src, dst, once(message)))
}

/// Whether a received ICMPv6 message is intact.
#[pyfunction]
#[pyo3(signature = (src, dst, message))]
pub(crate) fn verify_icmpv6(
    src: &Bound<'_, PyAny>,
    dst: &Bound<'_, PyAny>,
    message: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let (src, dst) = v6(src, dst)?;
    with_bytes(message, |message| checksum::verify_icmpv6(src, dst, once(message)))
}
