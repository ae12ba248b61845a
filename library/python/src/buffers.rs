//! Access to the bytes of Python buffers, without the interpreter's lock for large ones.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

/// From this length on, the interpreter's lock is released. Releasing and reacquiring it costs about as much
/// as summing a few KiB.
const RELEASED_FROM_BYTES: usize = 64 << 10;

/// Runs `job`, without the interpreter's lock if it takes long.
fn run<T: Send>(py: Python<'_>, len: usize, job: impl FnOnce() -> T + Send) -> T {
    if len < RELEASED_FROM_BYTES { job() } else { py.detach(job) }
}

/// Calls `job` with the bytes of `object`, without copying them.
///
/// # Errors
/// `object` has no buffer, or a non-contiguous one.
pub(crate) fn with_bytes<T: Send>(
    object: &Bound<'_, PyAny>,
    job: impl FnOnce(&[u8]) -> T + Send,
) -> PyResult<T> {
    let py = object.py();
    // The two types of most packets, without the cost of requesting a buffer.
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        return Ok(run(py, bytes.len(), || job(bytes)));
    }
    if let Ok(array) = object.cast_exact::<PyByteArray>()
        && array.len() < RELEASED_FROM_BYTES
    {
        // SAFETY: the lock is held until `job` returns, and `job` calls no Python code: nothing resizes or
        // writes to the array.
        return Ok(job(unsafe { array.as_bytes() }));
    }
    let buffer = contiguous(object)?;
    let (data, len) = (buffer.buf_ptr().cast::<u8>().cast_const(), buffer.len_bytes());
    // SAFETY: a buffer that is held is neither freed nor resized; it is contiguous and fully initialised.
    // Another thread may write to it while the lock is released. As documented, the result is then that of
    // neither content, and no memory outside the buffer is read.
    let bytes: &[u8] = if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } };
    let result = run(py, len, || job(bytes));
    buffer.release(py);
    Ok(result)
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
    let buffer = writable(object)?;
    let (data, len) = (buffer.buf_ptr() as usize, buffer.len_bytes());
    let result = run(py, len, || job(data as *mut u8, len));
    buffer.release(py);
    Ok(result)
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
    let (dst, src) = (writable(dst)?, contiguous(src)?);
    let len = dst.len_bytes();
    if len != src.len_bytes() {
        let message =
            format!("dst has {len} bytes and src has {}: their lengths must be equal", src.len_bytes());
        return Err(PyValueError::new_err(message));
    }
    // Integers, because pointers are not `Send`.
    let (to, from) = (dst.buf_ptr() as usize, src.buf_ptr() as usize);
    let result = run(py, len, || job(to as *mut u8, from as *const u8, len));
    dst.release(py);
    src.release(py);
    result
}

/// Whether two ranges of the same length overlap.
pub(crate) fn overlap(dst: *const u8, src: *const u8, len: usize) -> bool {
    dst.addr().abs_diff(src.addr()) < len
}

fn contiguous(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let buffer = PyUntypedBuffer::get(object)?;
    if buffer.is_c_contiguous() {
        Ok(buffer)
    } else {
        Err(PyBufferError::new_err("the buffer is not contiguous: copy it to bytes first"))
    }
}

fn writable(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let buffer = contiguous(object)?;
    if buffer.readonly() {
        return Err(PyBufferError::new_err("the buffer is read-only: use a bytearray, for example"));
    }
    Ok(buffer)
}
