//! The Internet checksum.

/// Sums `len` bytes at `data` onto `seed`.
///
/// # Safety
/// `data` must be valid for reads of `len` bytes.
#[must_use]
pub unsafe fn partial_raw(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut sum = u64::from(seed);
    for i in 0..len {
        // SAFETY: i < len.
        let byte = u64::from(unsafe { *data.add(i) });
        let even = cfg!(target_endian = "little") == (i % 2 == 0);
        sum += if even { byte } else { byte << 8 };
    }
    while sum >> 32 != 0 {
        sum = (sum & 0xffff_ffff) + (sum >> 32);
    }
    sum as u32
}

/// Copies and sums.
///
/// # Safety
/// As [`partial_raw`] and [`copy_raw`](crate::copy::copy_raw).
#[must_use]
pub unsafe fn copy_and_sum_raw(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: the caller's obligation is the same.
    unsafe {
        crate::copy::copy_raw(dst, src, len);
        partial_raw(src, len, seed)
    }
}

/// Folds to 16 bits.
#[must_use]
pub const fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}
