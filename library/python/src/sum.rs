//! `Sum`: a checksum in pieces.

use crate::addresses;
use crate::buffers::with_bytes;
use crate::number;
use carryline::checksum::{self, Addresses};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A sum in pieces of any length.
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
    /// The sum of the data, or of nothing.
    #[new]
    #[pyo3(signature = (data = None, /))]
    fn new(data: Option<&Bound<'_, PyAny>>) -> PyResult<Sum> {
        let sum = checksum::Sum::new();
        data.map_or(Ok(Sum(sum)), |data| with_bytes(data, |data| Sum(sum.add(data))))
    }

    /// The sum of the pseudo-header in front of a TCP segment, a UDP datagram or an ICMPv6 message of `length` bytes.
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

    /// Adds the data after what was added before, and returns this sum.
    #[pyo3(signature = (data, /))]
    fn add<'py>(slf: Bound<'py, Sum>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Sum>> {
        // Summed by itself: other threads may use this sum meanwhile.
        let behind = with_bytes(data, |data| checksum::Sum::new().add(data))?;
        let mut sum = slf.try_borrow_mut()?;
        sum.0 = sum.0.combine(behind);
        drop(sum);
        Ok(slf)
    }

    /// Adds so many zero bytes, and returns this sum.
    #[pyo3(signature = (length, /))]
    fn add_zeros(slf: Bound<'_, Sum>, length: usize) -> PyResult<Bound<'_, Sum>> {
        let mut sum = slf.try_borrow_mut()?;
        sum.0 = sum.0.add_zeros(length);
        drop(sum);
        Ok(slf)
    }

    /// Adds what another sum was made of, and returns this sum.
    #[pyo3(signature = (behind, /))]
    fn combine<'py>(slf: Bound<'py, Sum>, behind: Bound<'py, Sum>) -> PyResult<Bound<'py, Sum>> {
        let behind = behind.try_borrow()?.0;
        let mut sum = slf.try_borrow_mut()?;
        sum.0 = sum.0.combine(behind);
        drop(sum);
        Ok(slf)
    }

    /// A sum of the same data.
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

    /// Whether what was summed, checksum field and pseudo-header included, is intact.
    fn verify(&self) -> bool {
        self.0.verify()
    }

    /// The folded sum, not complemented: what a network card that completes the checksum expects in the field.
    fn folded(&self) -> u16 {
        u16::from_be_bytes(self.0.offload_seed())
    }

    fn __repr__(&self) -> String {
        format!("<carryline.Sum folded={:#06x}>", self.folded())
    }
}
