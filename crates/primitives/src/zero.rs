//! Zeroing.

/// Zeroes `len` bytes at `dst`.
///
/// # Safety
/// `dst` must be valid for writes of `len` bytes.
pub unsafe fn zero_raw(dst: *mut u8, len: usize) {
    // SAFETY: the caller's obligation is the same.
    unsafe { dst.write_bytes(0, len) }
}
