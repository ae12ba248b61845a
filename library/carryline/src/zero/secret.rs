//! Zeroing secrets.

use super::fill_raw;

/// Zeroes `dst` such that the compiler cannot remove the call, even if the memory is not read again. As fast
/// as [`fill`](super::fill).
///
/// When it returns, the bytes of `dst` are zero. Other copies of the secret remain: in registers of the code
/// that used it, in copies that the compiler made when a value moved, in spills to the stack, in swapped-out
/// pages. The call itself makes no copies: the kernels only write, so their registers hold zeros and never
/// the secret.
///
/// ```
/// let mut key = *b"correct horse battery staple";
/// carryline::zero::secret(&mut key);
/// assert_eq!(key, [0; 28]);
/// ```
#[inline]
pub fn secret(dst: &mut [u8]) {
    // SAFETY: a slice is valid for writes of its length.
    unsafe { secret_raw(dst.as_mut_ptr(), dst.len()) }
}

/// [`secret`] for `len` bytes at `dst`, which may be uninitialised.
///
/// # Safety
/// As [`fill_raw`].
///
/// ```
/// let mut pin = [1_u16, 2, 3, 4];
/// // SAFETY: the bytes of the array.
/// unsafe { carryline::zero::secret_raw(pin.as_mut_ptr().cast(), 8) };
/// assert_eq!(pin, [0; 4]);
/// ```
#[inline]
pub unsafe fn secret_raw(dst: *mut u8, len: usize) {
    // SAFETY: `dst` is valid for writes of `len` bytes by contract.
    unsafe { fill_raw(dst, len) };
    observe(dst);
}

/// Makes the compiler assume that all memory reachable from the pointer is read here, so that it keeps all
/// earlier stores. It emits no instruction.
#[inline(always)]
#[cfg(all(
    not(miri),
    any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "riscv64",
        target_arch = "riscv32",
        target_arch = "s390x",
        target_arch = "loongarch64"
    )
))]
fn observe(dst: *mut u8) {
    // SAFETY: there is no instruction, so nothing is accessed.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) dst, options(nostack, preserves_flags, readonly));
    }
}

/// Without inline assembly: the equivalent in the standard library.
#[inline(always)]
#[cfg(not(all(
    not(miri),
    any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64",
        target_arch = "arm",
        target_arch = "riscv64",
        target_arch = "riscv32",
        target_arch = "s390x",
        target_arch = "loongarch64"
    )
)))]
fn observe(dst: *mut u8) {
    core::hint::black_box(dst);
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}
