//! The library's kernels and the collection's variants, with the return value of `memcpy` and `memset`.
//!
//! Kernels return nothing, but the served functions return their destination. The kernels are known by name
//! when this library is compiled, so they are inlined into functions that return it, to which the entries
//! jump; those in assembly, which cannot be inlined, have entry points that return it. Variants are called through
//! a pointer, which costs one more call: a few cycles.

use carryline::internals::cpu::Features;
use carryline::internals::dispatch::{self, CopyCode, CopyFn, Function, Kernel, ZeroCode, ZeroFn};
use carryline::internals::kernels::SetFn;
#[cfg(target_arch = "x86_64")]
use carryline::internals::kernels::returning::{avx2, avx512_branched, avx512_prefer_256, sse2};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// `memmove`, which also serves `memcpy`.
pub(crate) type Copy = unsafe extern "C" fn(dst: *mut u8, src: *const u8, len: usize) -> *mut u8;
/// `memset` with the byte 0.
pub(crate) type Zero = unsafe extern "C" fn(dst: *mut u8, len: usize) -> *mut u8;

/// `memset` with its byte already converted.
pub(crate) type Fill = unsafe extern "C" fn(dst: *mut u8, byte: u8, len: usize) -> *mut u8;

/// The routine called by [`pointed_copy`].
static COPY: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The routine that it calls if the buffers overlap.
static MOVE: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The routine called by [`pointed_zero`].
static ZERO: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// A set of kernels.
pub(crate) struct Kernels {
    pub(crate) copy: Copy,
    pub(crate) zero: Zero,
    /// For bytes other than 0.
    pub(crate) fill: Fill,
}

/// The library's best kernels for a CPU. This does not use the library's own dispatch, which with `std` reads
/// the environment at the first call; here, that may happen anywhere.
pub(crate) fn best(features: Features) -> Kernels {
    use carryline::internals::kernels;
    let copy = copy_named(dispatch::best(Function::Copy, kernels::COPY, features).name);
    let zero = zero_named(dispatch::best(Function::Zero, kernels::ZERO, features).name);
    let fill = fill_named(dispatch::best(Function::Zero, kernels::SET, features).name);
    Kernels { copy, zero, fill }
}

/// A copy that calls `routine` for buffers that are apart, and `overlapping` for others. There is only one pointer for
/// each, so the last ones count.
pub(crate) fn copy_through(routine: CopyFn, overlapping: Copy) -> Copy {
    COPY.store(routine as *mut (), Ordering::Relaxed);
    MOVE.store(overlapping as *mut (), Ordering::Relaxed);
    pointed_copy
}

/// True if the buffers do not overlap.
#[inline(always)]
pub(crate) fn are_apart(dst: *mut u8, src: *const u8, len: usize) -> bool {
    let (dst, src) = (dst.addr(), src.addr());
    dst.wrapping_sub(src) >= len && src.wrapping_sub(dst) >= len
}

/// A zeroing function that calls `routine`. There is only one pointer, so the last `routine` counts.
pub(crate) fn zero_through(routine: ZeroFn) -> Zero {
    ZERO.store(routine as *mut (), Ordering::Relaxed);
    pointed_zero
}

/// # Safety
/// As the routines passed to [`copy_through`], which must have been called.
unsafe extern "C" fn pointed_copy(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
    // SAFETY: each pointer holds only routines of its type, and is set before this function can be obtained from a table.
    // The routines' own requirements hold by contract; the first gets only buffers that are apart.
    unsafe {
        if !are_apart(dst, src, len) {
            return transmute::<*mut (), Copy>(MOVE.load(Ordering::Relaxed))(dst, src, len);
        }
        transmute::<*mut (), CopyFn>(COPY.load(Ordering::Relaxed))(dst, src, len);
    }
    dst
}

/// # Safety
/// As the routine passed to [`zero_through`], which must have been called.
unsafe extern "C" fn pointed_zero(dst: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: the pointer holds only routines of this type, and is set before this function can be obtained from a table.
    // The routine's own requirements hold by contract.
    unsafe { transmute::<*mut (), ZeroFn>(ZERO.load(Ordering::Relaxed))(dst, len) };
    dst
}

/// The function for a kernel of the copy list.
fn copy_named(name: &str) -> Copy {
    match name {
        #[cfg(target_arch = "x86_64")]
        "avx512" => move_avx512,
        #[cfg(target_arch = "x86_64")]
        "avx512_branched" => avx512_branched::overlapping,
        #[cfg(target_arch = "x86_64")]
        "avx512_prefer_256" => avx512_prefer_256::overlapping,
        #[cfg(target_arch = "x86_64")]
        "avx2" => avx2::overlapping,
        #[cfg(target_arch = "x86_64")]
        "sse2" => move_sse2,
        _ => move_portable,
    }
}

/// The function for a kernel of the zero list.
fn zero_named(name: &str) -> Zero {
    match name {
        #[cfg(target_arch = "x86_64")]
        "avx512" => zero_avx512,
        #[cfg(target_arch = "x86_64")]
        "avx512_branched" => avx512_branched::zero,
        #[cfg(target_arch = "x86_64")]
        "avx512_prefer_256" => avx512_prefer_256::zero,
        #[cfg(target_arch = "x86_64")]
        "avx2" => avx2::zero,
        #[cfg(target_arch = "x86_64")]
        "sse2" => sse2::zero,
        _ => zero_portable,
    }
}

/// The function for a kernel of the list for any byte.
fn fill_named(name: &str) -> Fill {
    match name {
        #[cfg(target_arch = "x86_64")]
        "avx512" => fill_avx512,
        #[cfg(target_arch = "x86_64")]
        "avx2" => fill_avx2,
        #[cfg(target_arch = "x86_64")]
        "sse2" => fill_sse2,
        _ => fill_portable,
    }
}

/// The kernel of that name, at compile time; otherwise the last of the list, which every CPU can run.
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

/// Functions that return `dst` for copies by kernels known by name; the last kernel serves all other names.
macro_rules! inlined_copies {
    ($($function:ident: $name:literal $(, $features:literal)?;)*) => {
        $(
            /// # Safety
            /// The CPU has the kernel's features; otherwise as for the kernel.
            $(#[target_feature(enable = $features)])?
            pub(crate) unsafe extern "C" fn $function(dst: *mut u8, src: *const u8, len: usize) -> *mut u8 {
                const COPY: CopyCode = named(carryline::internals::kernels::COPY, $name);
                // SAFETY: by contract, the CPU has the features and the kernel's requirements hold.
                unsafe { (COPY.overlapping)(dst, src, len) };
                dst
            }
        )*
    };
}

// `move_portable` and `zero_portable` also serve calls before any kernel is chosen: they use moves of at most 16 bytes, which every
// CPU of the architecture supports, and read no relocated data.
inlined_copies! {
    move_portable: "portable";
}

#[cfg(target_arch = "x86_64")]
inlined_copies! {
    move_avx512: "avx512", "avx512f,avx512bw,avx512vl,bmi2";
    move_sse2: "sse2";
}

/// The same for zeroing.
macro_rules! inlined_zeros {
    ($($function:ident: $name:literal $(, $features:literal)?;)*) => {
        $(
            /// # Safety
            /// The CPU has the kernel's features; otherwise as for the kernel.
            $(#[target_feature(enable = $features)])?
            pub(crate) unsafe extern "C" fn $function(dst: *mut u8, len: usize) -> *mut u8 {
                const ZERO: ZeroCode = named(carryline::internals::kernels::ZERO, $name);
                // SAFETY: by contract, the CPU has the features and the kernel's requirements hold.
                unsafe { (ZERO.zero)(dst, len) };
                dst
            }
        )*
    };
}

inlined_zeros! {
    zero_portable: "portable";
}

#[cfg(target_arch = "x86_64")]
inlined_zeros! {
    zero_avx512: "avx512", "avx512f,avx512bw,avx512vl,bmi2";
}

/// The same for filling with any byte, for which there are fewer kernels.
macro_rules! inlined_fills {
    ($($function:ident: $name:literal $(, $features:literal)?;)*) => {
        $(
            /// # Safety
            /// The CPU has the kernel's features; otherwise as for the kernel.
            $(#[target_feature(enable = $features)])?
            pub(crate) unsafe extern "C" fn $function(dst: *mut u8, byte: u8, len: usize) -> *mut u8 {
                const SET: SetFn = named(carryline::internals::kernels::SET, $name);
                // SAFETY: by contract, the CPU has the features and the kernel's requirements hold.
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
    fill_sse2: "sse2";
}
