//! Source and destination addresses from Python objects.

use carryline::checksum::Addresses;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::net::IpAddr;

/// A pair of addresses, each a string, the bytes of a packet, or an `ipaddress` object.
///
/// # Errors
/// An object is none of these, or the IP versions differ.
pub(crate) fn pair(src: &Bound<'_, PyAny>, dst: &Bound<'_, PyAny>) -> PyResult<Addresses> {
    let (src, dst) = (address(src)?, address(dst)?);
    Addresses::new(src, dst)
        .ok_or_else(|| PyValueError::new_err(format!("{src} and {dst} have different IP versions")))
}

fn address(object: &Bound<'_, PyAny>) -> PyResult<IpAddr> {
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_cow()?;
        return text.parse().map_err(|_| PyValueError::new_err(format!("'{text}' is not an IP address")));
    }
    let packed = match object.cast::<PyBytes>() {
        Ok(bytes) => bytes.clone(),
        Err(_) => {
            object.getattr("packed").and_then(|packed| Ok(packed.cast_into::<PyBytes>()?)).map_err(|_| {
                let kind = object.get_type().to_string();
                PyTypeError::new_err(format!(
                    "an address must be a str, bytes, or an ipaddress object, not {kind}"
                ))
            })?
        }
    };
    let bytes = packed.as_bytes();
    let of_v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    of_v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).map_err(|_| {
        PyValueError::new_err(format!("an address must have 4 or 16 bytes, not {}", bytes.len()))
    })
}
