//! `Sum`: the checksum of data in pieces.

use crate::addresses;
use crate::buffers;
use crate::number;
use carryline::checksum::{self, Addresses};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A sum of data in pieces of any length.
#[pyclass(module = "carryline", eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Sum(checksum::Sum);

impl From<checksum::Sum> for Sum {
    fn from(sum: checksum::Sum) -> Sum {
        Sum(sum)
    }
}

#[pymethods]
impl Sum {
    /// The sum of the data, or of no data.
    #[new]
    #[pyo3(signature = (data = None, /))]
    fn new(data: Option<&Bound<'_, PyAny>>) -> PyResult<Sum> {
        data.map_or(Ok(checksum::Sum::new()), buffers::sum).map(Sum)
    }

    /// The sum of the pseudo-header for a TCP segment, UDP datagram or ICMPv6 message of `length` bytes.
    #[staticmethod]
    #[pyo3(signature = (src, dst, protocol, length))]
    fn pseudo_header(
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        protocol: u8,
        length: u32,
    ) -> PyResult<Sum> {
        match addresses::pair(src, dst)? {
            Addresses::V4 { src, dst } => {
                let length = u16::try_from(length).map_err(|_| {
                    PyValueError::new_err(format!("over IPv4 the length is at most 65535, not {length}"))
                })?;
                Ok(Sum(checksum::Sum::pseudo_v4(src, dst, protocol, length)))
            }
            Addresses::V6 { src, dst } => Ok(Sum(checksum::Sum::pseudo_v6(src, dst, length, protocol))),
        }
    }

    /// Adds the data after the data added so far, and returns this sum.
    #[pyo3(signature = (data, /))]
    fn add<'py>(slf: Bound<'py, Sum>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Sum>> {
        // Summed separately: other threads may use this sum meanwhile.
        let next = buffers::sum(data)?;
        let mut sum = slf.try_borrow_mut()?;
        sum.0 = sum.0.combine(next);
        drop(sum);
        Ok(slf)
    }

    /// Adds `length` zero bytes, and returns this sum.
    #[pyo3(signature = (length, /))]
    fn add_zeros(slf: Bound<'_, Sum>, length: usize) -> PyResult<Bound<'_, Sum>> {
        let mut sum = slf.try_borrow_mut()?;
        sum.0 = sum.0.add_zeros(length);
        drop(sum);
        Ok(slf)
    }

    /// Adds the data of another sum after the data added so far, and returns this sum.
    #[pyo3(signature = (next, /))]
    fn combine<'py>(slf: Bound<'py, Sum>, next: Bound<'py, Sum>) -> PyResult<Bound<'py, Sum>> {
        let next = next.try_borrow()?.0;
        let mut sum = slf.try_borrow_mut()?;
        sum.0 = sum.0.combine(next);
        drop(sum);
        Ok(slf)
    }

    /// A copy of the sum.
    fn copy(&self) -> Sum {
        self.clone()
    }

    /// The finished checksum.
    fn checksum(&self) -> u16 {
        number(self.0.finish())
    }

    /// The finished checksum as UDP sends it.
    fn udp_checksum(&self) -> u16 {
        number(self.0.finish_udp())
    }

    /// Whether the data, including checksum field and pseudo-header, is intact.
    fn verify(&self) -> bool {
        self.0.verify()
    }

    /// The folded sum, not complemented: the field value for checksum offload to a network card.
    fn folded(&self) -> u16 {
        u16::from_be_bytes(self.0.offload_seed())
    }

    fn __repr__(&self) -> String {
        format!("<carryline.Sum folded={:#06x}>", self.folded())
    }
}
