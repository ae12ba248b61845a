//! Heads and tails shared by several zeroing and copying kernels.
//!
//! A kernel's technique is its main loop. The bytes before an alignment boundary and after the last whole
//! block are handled here, in the same way for all kernels: two moves of the widest type that fits, one from
//! each end, which may overlap in the middle. Nothing outside the range is accessed.
//!
//! ```text
//! len = 11:  [0 1 2 3 4 5 6 7]8 9 a      first 8 bytes
//!             0 1 2[3 4 5 6 7 8 9 a]     last 8 bytes
//! ```

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "most kernels exist only on x86-64"))]

/// Writes a zero `T` at both ends of `len` bytes.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes, `len` is at least the size of `T`, and all-zero is a valid `T`.
#[inline(always)]
unsafe fn zero_ends<T: Copy>(dst: *mut u8, len: usize) {
    // SAFETY: both places lie in dst..dst + len because size_of::<T>() <= len; all-zero is a valid T.
    unsafe {
        let zero = core::mem::zeroed::<T>();
        dst.cast::<T>().write_unaligned(zero);
        dst.add(len - size_of::<T>()).cast::<T>().write_unaligned(zero);
    }
}

/// Copies a `T` at both ends of `len` bytes; both are read before either is written.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, `len` is at least the size of `T`, and every
/// bit pattern is a valid `T`.
#[inline(always)]
unsafe fn copy_ends<T: Copy>(dst: *mut u8, src: *const u8, len: usize) {
    let last = len - size_of::<T>();
    // SAFETY: size_of::<T>() <= len, so both places lie in the buffers.
    unsafe {
        let head = src.cast::<T>().read_unaligned();
        let tail = src.add(last).cast::<T>().read_unaligned();
        dst.cast::<T>().write_unaligned(head);
        dst.add(last).cast::<T>().write_unaligned(tail);
    }
}

/// Zeroes fewer than 16 bytes.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes, `len < 16`.
#[inline(always)]
pub(crate) unsafe fn zero_below_16(dst: *mut u8, len: usize) {
    debug_assert!(len < 16);
    // SAFETY: each branch has at least as many bytes as its type, and the caller owns len bytes.
    unsafe {
        if len >= 8 {
            zero_ends::<u64>(dst, len);
        } else if len >= 4 {
            zero_ends::<u32>(dst, len);
        } else if len >= 2 {
            zero_ends::<u16>(dst, len);
        } else if len == 1 {
            dst.write(0);
        }
    }
}

/// Zeroes fewer than 32 bytes.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes, `len < 32`.
#[inline(always)]
pub(crate) unsafe fn zero_below_32(dst: *mut u8, len: usize) {
    debug_assert!(len < 32);
    // SAFETY: 16 bytes or more hold a u128 at each end; `zero_below_16` takes fewer. All are writable by
    // contract.
    unsafe {
        if len >= 16 {
            zero_ends::<u128>(dst, len);
        } else {
            zero_below_16(dst, len);
        }
    }
}

/// Zeroes fewer than 64 bytes.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes, `len < 64`.
#[inline(always)]
pub(crate) unsafe fn zero_below_64(dst: *mut u8, len: usize) {
    debug_assert!(len < 64);
    // SAFETY: 32 bytes or more hold a [u128; 2] at each end; `zero_below_32` takes fewer. All are writable by
    // contract.
    unsafe {
        if len >= 32 {
            zero_ends::<[u128; 2]>(dst, len);
        } else {
            zero_below_32(dst, len);
        }
    }
}

/// Copies fewer than 16 bytes.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, `len < 16`.
#[inline(always)]
pub(crate) unsafe fn copy_below_16(dst: *mut u8, src: *const u8, len: usize) {
    debug_assert!(len < 16);
    // SAFETY: each branch has at least as many bytes as its type, and the caller owns len bytes on both
    // sides.
    unsafe {
        if len >= 8 {
            copy_ends::<u64>(dst, src, len);
        } else if len >= 4 {
            copy_ends::<u32>(dst, src, len);
        } else if len >= 2 {
            copy_ends::<u16>(dst, src, len);
        } else if len == 1 {
            dst.write(src.read());
        }
    }
}

/// Copies fewer than 32 bytes.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, `len < 32`.
#[inline(always)]
pub(crate) unsafe fn copy_below_32(dst: *mut u8, src: *const u8, len: usize) {
    debug_assert!(len < 32);
    // SAFETY: 16 bytes or more hold a u128 at each end; `copy_below_16` takes fewer. All are readable and
    // writable by contract.
    unsafe {
        if len >= 16 {
            copy_ends::<u128>(dst, src, len);
        } else {
            copy_below_16(dst, src, len);
        }
    }
}

/// Copies fewer than 64 bytes.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, `len < 64`.
#[inline(always)]
pub(crate) unsafe fn copy_below_64(dst: *mut u8, src: *const u8, len: usize) {
    debug_assert!(len < 64);
    // SAFETY: 32 bytes or more have 32 at each end, which are readable and writable by contract;
    // `copy_below_32` takes fewer.
    unsafe {
        if len >= 32 {
            let head = src.cast::<u128>().read_unaligned();
            let behind_head = src.add(16).cast::<u128>().read_unaligned();
            copy_ends::<u128>(dst.add(len - 32), src.add(len - 32), 32);
            dst.cast::<u128>().write_unaligned(head);
            dst.add(16).cast::<u128>().write_unaligned(behind_head);
        } else {
            copy_below_32(dst, src, len);
        }
    }
}

/// The number of the `len` bytes at `address` that lie before the next multiple of `align` (a power of two).
#[inline(always)]
pub(crate) fn bytes_to_boundary(address: *const u8, align: usize, len: usize) -> usize {
    ((address as usize).wrapping_neg() & (align - 1)).min(len)
}

/// Returns a loop's counter unchanged, and keeps the compiler from rewriting the loop: it can neither replace
/// the loop by a call of memset or memcpy nor unroll it further, because it must assume that the counter
/// changes here and that memory is read and written. Emits no instruction.
#[inline(always)]
pub(crate) fn keep_loop(left: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let mut left = left;
        // SAFETY: emits no instruction.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) left, options(nostack, preserves_flags)) };
        left
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        left
    }
}
