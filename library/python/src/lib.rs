//! The Python package `carryline`: Internet checksums, zeroing and copying of any object that has a buffer.
//!
//! Each function checks its arguments and makes one call of the Rust library; arguments that would make it
//! panic raise `ValueError`. Checksums are numbers as shown in packet dumps, for `struct.pack("!H", ...)`.
//! `carryline.pyi` describes the interface for type checkers and readers; a test keeps it consistent.

mod addresses;
mod buffers;
mod protocols;
mod sum;

use buffers::{overlap, sum_after, with_bytes, with_copy, with_writable};
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
    buffers::sum(data).map(|sum| number(sum.finish()))
}

/// Whether the data, including its checksum field, is intact.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn verify(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    buffers::sum(data).map(carryline::checksum::Sum::verify)
}

/// The checksum after `old` at `offset` of the data was replaced by `new` (RFC 1624).
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
            format!("old has {} bytes and new has {}: their lengths must be equal", old.len(), new.len());
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
        // SAFETY: writable for `len` bytes, by the contract of `with_writable`.
        unsafe { carryline::zero::fill_raw(dst, len) }
    })
}

/// Copies the data to a writable buffer of the same length. They may overlap.
#[pyfunction]
#[pyo3(signature = (dst, src, /))]
fn copy(dst: &Bound<'_, PyAny>, src: &Bound<'_, PyAny>) -> PyResult<()> {
    with_copy(dst, src, |dst, src, len| {
        // SAFETY: writable and readable for `len` bytes, by the contract of `with_copy`.
        unsafe { carryline::copy::within_raw(dst, src, len) };
        Ok(())
    })
}

/// Copies the data to a writable buffer of the same length, which must not overlap, and returns its sum.
#[pyfunction]
#[pyo3(signature = (dst, src, /))]
fn copy_and_sum(dst: &Bound<'_, PyAny>, src: &Bound<'_, PyAny>) -> PyResult<sum::Sum> {
    with_copy(dst, src, |dst, src, len| {
        if overlap(dst, src, len) {
            return Err(PyValueError::new_err("the buffers overlap"));
        }
        // SAFETY: writable and readable for `len` bytes, by the contract of `with_copy`, and they do not
        // overlap.
        let partial = unsafe { carryline::checksum::copy_and_sum_raw(dst, src, len, 0) };
        Ok(sum::Sum::from(sum_after(partial, len)))
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
