//! The library's kernels and the collection's variants, with the return value of `memcpy` and `memset`.
//!
//! Kernels return nothing, the functions that are served return their destination. A kernel that is known by name
//! here when this library is compiled is inlined into a function that does so, and the entries jump to it. Any other,
//! and every variant, is called through a pointer: one call more, some cycles.

use carryline::cpu::Features;
use carryline::dispatch::{CopyFn, Kernel, ZeroFn};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// `memcpy`, or `memmove`.
pub(crate) type Copy = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize) -> *mut u8;
/// `memset` with the byte 0.
pub(crate) type Zero = unsafe extern "C" fn(dst: *mut u8, len: usize) -> *mut u8;

/// What is behind [`pointed_copy`].
static COPY: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// What is behind [`pointed_zero`].
static ZERO: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// The library's best copy for a CPU: the first kernel of its list. Not through the library's own dispatch: built
/// with `std`, that reads the environment at the first call, which here may be anywhere.
pub(crate) fn best_copy(features: Features) -> Option<Copy> {
    let kernel = carryline::copy::KERNELS.iter().find(|kernel| features.contains(kernel.needs))?;
    #[cfg(target_arch = "x86_64")]
    match kernel.name {
        "avx512" if kernel.needs.contains(Features::AVX512) => return Some(avx512_copy),
        "avx2" if kernel.needs.contains(Features::AVX2) => return Some(avx2_copy),
        _ => {}
    }
    Some(copy_through(kernel.function))
}

/// The library's best zeroing for a CPU.
pub(crate) fn best_zero(features: Features) -> Option<Zero> {
    let kernel = carryline::zero::KERNELS.iter().find(|kernel| features.contains(kernel.needs))?;
    #[cfg(target_arch = "x86_64")]
    match kernel.name {
        "avx512" if kernel.needs.contains(Features::AVX512) => return Some(avx512_zero),
        "avx2" if kernel.needs.contains(Features::AVX2) => return Some(avx2_zero),
        _ => {}
    }
    Some(zero_through(kernel.function))
}

/// A copy that calls `routine`. There is one such pointer: the last one given counts.
pub(crate) fn copy_through(routine: CopyFn) -> Copy {
    COPY.store(routine as *mut (), Ordering::Relaxed);
    pointed_copy
}

/// A zeroing that calls `routine`. There is one such pointer: the last one given counts.
pub(crate) fn zero_through(routine: ZeroFn) -> Zero {
    ZERO.store(routine as *mut (), Ordering::Relaxed);
    pointed_zero
}

/// # Safety
/// As the routine, which has been given to [`copy_through`].
unsafe extern "C" fn pointed_copy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: only routines of this type are stored there, and this function is not to be had before one is.
    unsafe { transmute::<*mut (), CopyFn>(COPY.load(Ordering::Relaxed))(dst, src, len) };
    dst
}

/// # Safety
/// As the routine, which has been given to [`zero_through`].
unsafe extern "C" fn pointed_zero(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: as in `pointed_copy`.
    unsafe { transmute::<*mut (), ZeroFn>(ZERO.load(Ordering::Relaxed))(dst, len) };
    dst
}

/// The kernel of that name, while this library is compiled; else the last of the list, which every CPU can run.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no kernel is known by name"))]
const fn named<F: core::marker::Copy>(list: &'static [Kernel<F>], name: &str) -> F {
    let mut index = 0;
    while index < list.len() - 1 && !is_same(list[index].name, name) {
        index += 1;
    }
    list[index].function
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

#[cfg(target_arch = "x86_64")]
macro_rules! inlined {
    ($($copy:ident, $zero:ident: $name:literal, $features:literal;)*) => {$(
        /// # Safety
        /// The CPU has the kernel's features; otherwise as the kernel.
        #[target_feature(enable = $features)]
        unsafe extern "C" fn $copy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
            const KERNEL: CopyFn = named(carryline::copy::KERNELS, $name);
            // SAFETY: the caller's obligation.
            unsafe { KERNEL(dst, src, len) };
            dst
        }

        /// # Safety
        /// The CPU has the kernel's features; otherwise as the kernel.
        #[target_feature(enable = $features)]
        unsafe extern "C" fn $zero(dst: *mut u8, len: usize) -> *mut u8 {
            const KERNEL: ZeroFn = named(carryline::zero::KERNELS, $name);
            // SAFETY: the caller's obligation.
            unsafe { KERNEL(dst, len) };
            dst
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
inlined! {
    avx512_copy, avx512_zero: "avx512", "avx512f,avx512bw,avx512vl,bmi2";
    avx2_copy, avx2_zero: "avx2", "avx2";
}
