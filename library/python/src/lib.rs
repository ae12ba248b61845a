//! The Python package `carryline`: Internet checksums, zeroing and copying of anything that has a buffer.
//!
//! Each function is one call of the Rust library, its arguments checked first: what would panic is a `ValueError`.
//! Checksums are numbers as packets have them, for `struct.pack("!H", ...)`. The interface is described for type checkers and
//! readers in `carryline.pyi`; a test compares.

mod addresses;
mod buffers;
mod protocols;
mod sum;

use buffers::{overlap, with_bytes, with_copy, with_writable};
use carryline::checksum::Checksum;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The bytes of the field as a number.
fn number(checksum: Checksum) -> u16 {
    u16::from_be_bytes(checksum.0)
}

/// The Internet checksum of the data (RFC 1071).
#[pyfunction]
#[pyo3(signature = (data, /))]
fn checksum(data: &Bound<'_, PyAny>) -> PyResult<u16> {
    with_bytes(data, |data| number(carryline::checksum::internet(data)))
}

/// Whether the data, a checksum field included, sums to what intact data sums to.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn verify(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    with_bytes(data, |data| carryline::checksum::Sum::new().add(data).verify())
}

/// The checksum after `old` at `offset` of the data has become `new` (RFC 1624).
#[pyfunction]
#[pyo3(signature = (checksum, offset, old, new, *, udp = false))]
fn update(
    checksum: u16,
    offset: usize,
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    udp: bool,
) -> PyResult<u16> {
    let old = with_bytes(old, <[u8]>::to_vec)?;
    let new = with_bytes(new, <[u8]>::to_vec)?;
    if old.len() != new.len() {
        let message =
            format!("old has {} bytes and new has {}: they must have equally many", old.len(), new.len());
        return Err(PyValueError::new_err(message));
    }
    let before = Checksum(checksum.to_be_bytes());
    let after = match udp {
        true => before.replace_range_udp(offset, &old, &new),
        false => before.replace_range(offset, &old, &new),
    };
    Ok(number(after))
}

/// Zeroes a writable buffer.
#[pyfunction]
#[pyo3(signature = (buffer, /))]
fn zero(buffer: &Bound<'_, PyAny>) -> PyResult<()> {
    with_writable(buffer, |dst, len| {
        // SAFETY: writable for that many bytes, as `with_writable` says.
        unsafe { carryline::zero::fill_raw(dst, len) }
    })
}

/// Copies the data into a writable buffer of the same length. They may overlap.
#[pyfunction]
#[pyo3(signature = (dst, src, /))]
fn copy(dst: &Bound<'_, PyAny>, src: &Bound<'_, PyAny>) -> PyResult<()> {
    with_copy(dst, src, |dst, src, len| {
        // SAFETY: writable and readable for that many bytes, as `with_copy` says.
        unsafe { carryline::copy::within_raw(dst, src, len) };
        Ok(())
    })
}

/// Copies the data into a writable buffer of the same length, which must not overlap, and returns its sum.
#[pyfunction]
#[pyo3(signature = (dst, src, /))]
fn copy_and_sum(dst: &Bound<'_, PyAny>, src: &Bound<'_, PyAny>) -> PyResult<sum::Sum> {
    with_copy(dst, src, |dst, src, len| {
        if overlap(dst, src, len) {
            return Err(PyValueError::new_err("the buffers overlap"));
        }
        // SAFETY: writable and readable for that many bytes, as `with_copy` says, and they do not overlap.
        let (dst, src) =
            unsafe { (std::slice::from_raw_parts_mut(dst, len), std::slice::from_raw_parts(src, len)) };
        Ok(sum::Sum::from(carryline::checksum::Sum::new().copy_over(dst, src)))
    })
}

#[pymodule]
#[pyo3(name = "carryline")]
mod module {
    #[pymodule_export]
    use super::protocols::{
        UdpVerdict, icmp, icmpv6, ipv4, tcp, udp, verify_icmp, verify_icmpv6, verify_ipv4, verify_tcp,
        verify_udp,
    };
    #[pymodule_export]
    use super::sum::Sum;
    #[pymodule_export]
    use super::{checksum, copy, copy_and_sum, update, verify, zero};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
