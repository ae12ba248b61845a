//! Access to the bytes of Python buffers, without the interpreter's lock for large ones.

use carryline::checksum::Sum;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use std::ffi::c_char;

/// From this length on, the interpreter's lock is released. Releasing and reacquiring it costs about as much
/// as summing a few KiB.
const RELEASED_FROM_BYTES: usize = 64 << 10;

/// Runs `job`, without the interpreter's lock if it takes long.
fn run<T: Send>(py: Python<'_>, len: usize, job: impl FnOnce() -> T + Send) -> T {
    if len < RELEASED_FROM_BYTES { job() } else { py.detach(job) }
}

/// Calls `job` with the address and length of the bytes of `object`, without copying them. Without bytes, the address
/// may be null. Other threads may write the bytes meanwhile: Python code while the lock is released, and system calls
/// such as `os.readv`, which run without it, at any time.
///
/// # Errors
/// `object` has no buffer, or a non-contiguous one.
pub(crate) fn with_raw<T: Send>(
    object: &Bound<'_, PyAny>,
    job: impl FnOnce(*const u8, usize) -> T + Send,
) -> PyResult<T> {
    let py = object.py();
    // The two types of most packets, without the cost of requesting a buffer.
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        return Ok(run(py, bytes.len(), || job(bytes.as_ptr(), bytes.len())));
    }
    if let Ok(array) = object.cast_exact::<PyByteArray>()
        && array.len() < RELEASED_FROM_BYTES
    {
        // Only a thread that has the lock could resize it.
        return Ok(job(array.data(), array.len()));
    }
    let buffer = Buffer::of(object)?;
    // An integer, because pointers are not `Send`.
    let (data, len) = (buffer.data() as usize, buffer.len());
    Ok(run(py, len, || job(data as *const u8, len)))
}

/// Calls `job` with the bytes of `object`, without copying them. Their values must not decide what `job` accesses or
/// whether it panics, because they may change while it runs: see [`with_raw`].
///
/// # Errors
/// As [`with_raw`].
pub(crate) fn with_bytes<T: Send>(
    object: &Bound<'_, PyAny>,
    job: impl FnOnce(&[u8]) -> T + Send,
) -> PyResult<T> {
    with_raw(object, |data, len| {
        // SAFETY: the buffer is held until `job` returns, so it is neither freed nor resized, and all its bytes are
        // initialised. That no other thread writes them meanwhile cannot be proved, only assumed. Should one do so,
        // the reads may give old or new bytes, but at the same places, because `job` uses none of them as an index
        // or a length.
        job(if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } })
    })
}

/// Calls `job` with a copy of the first `N` bytes of `object`, or of all if it has fewer, and with their number in
/// `object`. No other thread can change the copy.
///
/// # Errors
/// As [`with_raw`].
pub(crate) fn with_start<const N: usize, T: Send>(
    object: &Bound<'_, PyAny>,
    job: impl FnOnce(&[u8], usize) -> T + Send,
) -> PyResult<T> {
    with_raw(object, |data, len| {
        let (mut start, bytes) = ([0; N], len.min(N));
        // SAFETY: the buffer is held until this returns, and has at least so many bytes, as has the array, which is
        // apart from it. The compiler does not know the called routine, so that it cannot read the buffer in place of
        // the copy.
        unsafe { carryline::copy::bytes_raw(start.as_mut_ptr(), data, bytes) };
        job(&start[..bytes], len)
    })
}

/// The sum of the bytes of `object`.
///
/// # Errors
/// As [`with_raw`].
pub(crate) fn sum(object: &Bound<'_, PyAny>) -> PyResult<Sum> {
    with_raw(object, |data, len| {
        // SAFETY: the buffer is held until this returns, so it is neither freed nor resized, and all its bytes are
        // initialised. The routine accesses the same places whatever they contain: bytes that another thread writes
        // meanwhile are summed as before or after it.
        sum_after(unsafe { carryline::checksum::partial_raw(data, len, 0) }, len)
    })
}

/// The [`Sum`] of `len` bytes whose sum in 32 bits, from their start, is `partial`.
pub(crate) fn sum_after(partial: u32, len: usize) -> Sum {
    let is_odd = !len.is_multiple_of(2);
    // A `Sum` is kept as seen from the next byte.
    Sum::from_raw_parts(partial.rotate_left(8 * u32::from(is_odd)), is_odd)
}

/// Calls `job` with the address and length of a writable buffer.
///
/// # Errors
/// `object` has no buffer, or a read-only or non-contiguous one.
pub(crate) fn with_writable<T: Send>(
    object: &Bound<'_, PyAny>,
    job: impl FnOnce(*mut u8, usize) -> T + Send,
) -> PyResult<T> {
    let py = object.py();
    let buffer = Buffer::writable(object)?;
    let (data, len) = (buffer.data() as usize, buffer.len());
    Ok(run(py, len, || job(data as *mut u8, len)))
}

/// Calls `job` with the destination, the source and their length. The buffers may overlap.
///
/// # Errors
/// As [`with_writable`] and [`with_bytes`]; if the lengths differ; the errors of `job`.
pub(crate) fn with_copy<T: Send>(
    dst: &Bound<'_, PyAny>,
    src: &Bound<'_, PyAny>,
    job: impl FnOnce(*mut u8, *const u8, usize) -> PyResult<T> + Send,
) -> PyResult<T> {
    let py = dst.py();
    let (dst, src) = (Buffer::writable(dst)?, Buffer::of(src)?);
    let len = dst.len();
    if len != src.len() {
        let message = format!("dst has {len} bytes and src has {}: their lengths must be equal", src.len());
        return Err(PyValueError::new_err(message));
    }
    // Integers, because pointers are not `Send`.
    let (to, from) = (dst.data() as usize, src.data() as usize);
    run(py, len, || job(to as *mut u8, from as *const u8, len))
}

/// Whether two ranges of the same length overlap.
pub(crate) fn overlap(dst: *const u8, src: *const u8, len: usize) -> bool {
    dst.addr().abs_diff(src.addr()) < len
}

/// A contiguous buffer that is held: until it is dropped, nothing frees or resizes it. Not PyO3's, which rejects buffers
/// without a shape or strides, although these are contiguous: those of `ctypes`.
struct Buffer<'py> {
    /// From a `Box`, and at the same address until it is dropped, because a view may point into itself.
    view: *mut ffi::Py_buffer,
    /// Proves that the lock is held when it is released.
    _py: Python<'py>,
}

impl<'py> Buffer<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Buffer<'py>> {
        let py = object.py();
        let view = Box::into_raw(Box::new(ffi::Py_buffer::new()));
        // SAFETY: the object is alive, the view is valid for writes, and the lock is held.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view, ffi::PyBUF_FULL_RO) } != 0 {
            // SAFETY: it comes from a `Box`, and was not filled.
            drop(unsafe { Box::from_raw(view) });
            return Err(PyErr::fetch(py));
        }
        let buffer = Buffer { view, _py: py };
        // SAFETY: the view has just been filled.
        if unsafe { ffi::PyBuffer_IsContiguous(view, b'C' as c_char) } == 0 {
            return Err(PyBufferError::new_err("the buffer is not contiguous: copy it to bytes first"));
        }
        Ok(buffer)
    }

    fn writable(object: &Bound<'py, PyAny>) -> PyResult<Buffer<'py>> {
        let buffer = Buffer::of(object)?;
        // SAFETY: the view is filled and valid until the buffer is dropped.
        if unsafe { (*buffer.view).readonly } != 0 {
            return Err(PyBufferError::new_err("the buffer is read-only: use a bytearray, for example"));
        }
        Ok(buffer)
    }

    /// The address; without bytes, it may be null.
    fn data(&self) -> *mut u8 {
        // SAFETY: the view is filled and valid until the buffer is dropped.
        unsafe { (*self.view).buf.cast() }
    }

    /// The number of bytes.
    fn len(&self) -> usize {
        // SAFETY: the view is filled and valid until the buffer is dropped.
        let len = unsafe { (*self.view).len };
        // Never negative.
        usize::try_from(len).unwrap_or_default()
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the view was filled and not yet released, and the lock is held: a buffer cannot outlive its token.
        unsafe { ffi::PyBuffer_Release(self.view) };
        // SAFETY: it comes from a `Box`, and nothing points to it any more.
        drop(unsafe { Box::from_raw(self.view) });
    }
}
