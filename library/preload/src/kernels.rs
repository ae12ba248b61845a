//! The library's kernels and the collection's variants, with the return value of `memcpy` and `memset`.
//!
//! Kernels return nothing, the functions that are served return their destination. Kernels are known by name here when
//! this library is compiled, and inlined into functions that do so, and the entries jump to them. Variants are called
//! through a pointer: one call more, some cycles.

use carryline::internals::cpu::Features;
use carryline::internals::dispatch::{self, CopyCode, CopyFn, Function, Kernel, ZeroCode, ZeroFn};
use carryline::internals::kernels::SetFn;
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// `memcpy`, or `memmove`.
pub(crate) type Copy = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize) -> *mut u8;
/// `memset` with the byte 0.
pub(crate) type Zero = unsafe extern "C" fn(dst: *mut u8, len: usize) -> *mut u8;

/// `memset` with a byte that is already one.
pub(crate) type Fill = unsafe extern "C" fn(dst: *mut u8, byte: u8, len: usize) -> *mut u8;

/// What serves where nothing was chosen: with moves of 16 bytes at most, which every CPU of the architecture has, and without
/// a look at relocated data.
pub(crate) use portable::{overlapping as move_portable, zero as zero_portable};

/// What is behind [`pointed_copy`].
static COPY: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// What is behind [`pointed_zero`].
static ZERO: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// One of the library's kernels.
pub(crate) struct Kernels {
    pub(crate) copy: Copy,
    /// For buffers that may overlap.
    pub(crate) overlapping: Copy,
    pub(crate) zero: Zero,
    /// For other bytes.
    pub(crate) fill: Fill,
}

/// The library's best for a CPU. Not through the library's own dispatch: built with
/// `std`, that reads the environment at the first call, which here may be anywhere.
pub(crate) fn best(features: Features) -> Kernels {
    use carryline::internals::kernels;
    let (copy, overlapping) = copy_named(dispatch::best(Function::Copy, kernels::COPY, features).name);
    let zero = zero_named(dispatch::best(Function::Zero, kernels::ZERO, features).name);
    let fill = fill_named(dispatch::best(Function::Zero, kernels::SET, features).name);
    Kernels { copy, overlapping, zero, fill }
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
    // SAFETY: only routines of this type are stored there, and this function is not to be had before one is. What the routine
    // asks of its caller, by contract.
    unsafe { transmute::<*mut (), CopyFn>(COPY.load(Ordering::Relaxed))(dst, src, len) };
    dst
}

/// # Safety
/// As the routine, which has been given to [`zero_through`].
unsafe extern "C" fn pointed_zero(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: only routines of this type are stored there, and this function is not to be had before one is. What the routine
    // asks of its caller, by contract.
    unsafe { transmute::<*mut (), ZeroFn>(ZERO.load(Ordering::Relaxed))(dst, len) };
    dst
}

/// The functions that go with a kernel of the copy list: for buffers that do not overlap, and for any.
fn copy_named(name: &str) -> (Copy, Copy) {
    match name {
        #[cfg(target_arch = "x86_64")]
        "avx512" => (avx512::copy, avx512::overlapping),
        #[cfg(target_arch = "x86_64")]
        "avx512_branched" => (avx512_branched::copy, avx512_branched::overlapping),
        #[cfg(target_arch = "x86_64")]
        "avx2" => (avx2::copy, avx2::overlapping),
        #[cfg(target_arch = "x86_64")]
        "sse2" => (sse2::copy, sse2::overlapping),
        _ => (portable::copy, portable::overlapping),
    }
}

/// The function that goes with a kernel of the zero list.
fn zero_named(name: &str) -> Zero {
    match name {
        #[cfg(target_arch = "x86_64")]
        "avx512" => avx512::zero,
        #[cfg(target_arch = "x86_64")]
        "avx512_branched" => avx512_branched::zero,
        #[cfg(target_arch = "x86_64")]
        "avx2" => avx2::zero,
        #[cfg(target_arch = "x86_64")]
        "sse2" => sse2::zero,
        _ => portable::zero,
    }
}

/// The function that goes with a kernel of the list for any byte.
fn fill_named(name: &str) -> Fill {
    match name {
        #[cfg(target_arch = "x86_64")]
        "avx512" => fill_avx512,
        #[cfg(target_arch = "x86_64")]
        "avx2" => fill_avx2,
        _ => fill_portable,
    }
}

/// The kernel of that name, while this library is compiled; else the last of the list, which every CPU can run.
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

/// One function for each kernel that is known by name; the last one serves every other name.
macro_rules! inlined {
    ($($module:ident: $name:literal $(, $features:literal)?;)*) => {
        $(
            mod $module {
                use super::{CopyCode, ZeroCode, named};

                const COPY: CopyCode = named(carryline::internals::kernels::COPY, $name);
                const ZERO: ZeroCode = named(carryline::internals::kernels::ZERO, $name);

                /// # Safety
                /// The CPU has the kernel's features; otherwise as the kernel.
                $(#[target_feature(enable = $features)])?
                pub(crate) unsafe extern "C" fn copy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
                    // SAFETY: the CPU's features and what the kernel asks of its caller, by contract.
                    unsafe { (COPY.copy)(dst, src, len) };
                    dst
                }

                /// # Safety
                /// The CPU has the kernel's features; otherwise as the kernel.
                $(#[target_feature(enable = $features)])?
                pub(crate) unsafe extern "C" fn overlapping(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
                    // SAFETY: the CPU's features and what the kernel asks of its caller, by contract.
                    unsafe { (COPY.overlapping)(dst, src, len) };
                    dst
                }

                /// # Safety
                /// The CPU has the kernel's features; otherwise as the kernel.
                $(#[target_feature(enable = $features)])?
                pub(crate) unsafe extern "C" fn zero(dst: *mut u8, len: usize) -> *mut u8 {
                    // SAFETY: the CPU's features and what the kernel asks of its caller, by contract.
                    unsafe { (ZERO.zero)(dst, len) };
                    dst
                }
            }
        )*
    };
}

inlined! {
    portable: "portable";
}

#[cfg(target_arch = "x86_64")]
inlined! {
    avx512: "avx512", "avx512f,avx512bw,avx512vl,bmi2";
    avx512_branched: "avx512_branched", "avx512f,avx512bw,avx512vl,bmi2";
    avx2: "avx2", "avx2";
    sse2: "sse2";
}

/// The same for filling with any byte, of which there are fewer kernels.
macro_rules! inlined_fills {
    ($($function:ident: $name:literal $(, $features:literal)?;)*) => {
        $(
            /// # Safety
            /// The CPU has the kernel's features; otherwise as the kernel.
            $(#[target_feature(enable = $features)])?
            pub(crate) unsafe extern "C" fn $function(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
                const SET: SetFn = named(carryline::internals::kernels::SET, $name);
                // SAFETY: the CPU's features and what the kernel asks of its caller, by contract.
                unsafe { SET(dst, byte, len) };
                dst
            }
        )*
    };
}

inlined_fills! {
    fill_portable: "portable";
}

#[cfg(target_arch = "x86_64")]
inlined_fills! {
    fill_avx512: "avx512", "avx512f,avx512bw,avx512vl,bmi2";
    fill_avx2: "avx2", "avx2";
}
