//! Copying.

/// Copies `len` bytes from `src` to `dst`.
///
/// # Safety
/// `src` valid for reads, `dst` for writes of `len` bytes, not overlapping.
pub unsafe fn copy_raw(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller's obligation is the same.
    unsafe { dst.copy_from_nonoverlapping(src, len) }
}
