//! `zero_copy`: zeroing, filling and copying of any length at any address, through every entry point of every
//! kernel and with every plan. Checks the bytes, and that nothing else changed.

use super::first_difference;
use crate::input::{Input, MOST_BYTES};
use crate::memory::{with_destination, with_source};
use crate::usable;
use carryline::internals::dispatch::{CopyCode, ZeroCode};
use carryline::internals::kernels;
use carryline::internals::plan::{Plan, Way};

const PLANS: [Plan; 8] = [
    Plan { way: Way::Clzero, source_done: false, fetched: false },
    Plan { way: Way::String, source_done: false, fetched: false },
    Plan { way: Way::Loop, source_done: false, fetched: false },
    Plan { way: Way::Loop, source_done: false, fetched: true },
    Plan { way: Way::NonTemporal, source_done: false, fetched: false },
    Plan { way: Way::NonTemporal, source_done: false, fetched: true },
    Plan { way: Way::Loop, source_done: true, fetched: false },
    Plan { way: Way::NonTemporal, source_done: true, fetched: false },
];

type Zero<'a> = &'a dyn Fn(*mut u8, usize);
type Copy<'a> = &'a dyn Fn(*mut u8, *const u8, usize);

/// Calls `each` with every way to zero.
///
/// # Safety
/// The CPU has the features that the code needs. What `each` passes to a way is valid for writes of `len`
/// initialised bytes.
unsafe fn ways_to_zero(code: ZeroCode, each: &mut dyn FnMut(&str, Zero)) {
    // SAFETY: by contract, the memory is writable and initialised, and the CPU has the features.
    each("zero", &|dst, len| unsafe { (code.zero)(dst, len) });
    // SAFETY: by contract, the memory is writable and initialised, and the CPU has the features.
    each("read_here", &|dst, len| unsafe { (code.read_here)(dst, len) });
    // SAFETY: by contract, the memory is writable and initialised, and the CPU has the features.
    each("if_dirty", &|dst, len| assert!(unsafe { (code.if_dirty)(dst, len) } <= len));
    for plan in &PLANS[..5] {
        // SAFETY: by contract, the memory is writable and initialised, and the CPU has the features.
        each("planned", &|dst, len| unsafe { (code.planned)(dst, len, *plan) });
        // SAFETY: by contract, the memory is writable and initialised, and the CPU has the features; only
        // this thread reads the stores.
        each("unfenced", &|dst, len| unsafe { (code.unfenced)(dst, len, *plan) });
    }
}

/// Calls `each` with every way to copy.
///
/// # Safety
/// The CPU has the features that the code needs. What `each` passes to a way is valid for writes and reads of
/// `len` bytes, which do not overlap.
unsafe fn ways_to_copy(code: CopyCode, each: &mut dyn FnMut(&str, Copy)) {
    // SAFETY: by contract, the buffers are accessible and do not overlap, and the CPU has the features.
    each("copy", &|dst, src, len| unsafe { (code.copy)(dst, src, len) });
    // SAFETY: by contract, the buffers are accessible and do not overlap, and the CPU has the features.
    each("read_here", &|dst, src, len| unsafe { (code.read_here)(dst, src, len) });
    // SAFETY: by contract, the buffers are accessible and do not overlap, and the CPU has the features.
    each("overlapping", &|dst, src, len| unsafe { (code.overlapping)(dst, src, len) });
    for plan in PLANS {
        // SAFETY: by contract, the buffers are accessible and do not overlap, and the CPU has the features.
        each("planned", &|dst, src, len| unsafe { (code.planned)(dst, src, len, plan) });
        // SAFETY: by contract, the buffers are accessible and do not overlap, and the CPU has the features;
        // only this thread reads the stores.
        each("unfenced", &|dst, src, len| unsafe { (code.unfenced)(dst, src, len, plan) });
    }
}

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let len = input.length(MOST_BYTES);
    with_destination(&mut input, len, |dst, input| {
        for kernel in usable(kernels::ZERO) {
            let mut check = |way: &str, zero: Zero| {
                dst.reset();
                zero(dst.pointer(), len);
                let at = format!("{way} {}: {len} bytes at {} modulo 64", kernel.name, dst.offset());
                let left = dst.bytes().iter().position(|byte| *byte != 0);
                if let Some(left) = left {
                    panic!("{at}: byte {left} is not zero");
                }
                dst.check_canaries(&at, "destination");
            };
            // SAFETY: `dst` has len accessible bytes; the CPU can run the kernel.
            unsafe { ways_to_zero(kernel.function, &mut check) };
        }
        for kernel in usable(kernels::SET) {
            let byte = len as u8;
            dst.reset();
            // SAFETY: `dst` has len accessible bytes; the CPU can run the kernel.
            unsafe { (kernel.function)(dst.pointer(), byte, len) };
            let at = format!("set {}: {len} bytes of {byte:#x} at {} modulo 64", kernel.name, dst.offset());
            if let Some(other) = dst.bytes().iter().position(|found| *found != byte) {
                panic!("{at}: byte {other} is different");
            }
            dst.check_canaries(&at, "destination");
        }
        with_source(input, len, |src, input| {
            src.reset();
            input.fill(src.bytes());
            let original = src.bytes().to_vec();
            for kernel in usable(kernels::COPY) {
                let mut check = |way: &str, copy: Copy| {
                    dst.reset();
                    copy(dst.pointer(), src.pointer(), len);
                    let (to, from) = (dst.offset(), src.offset());
                    let at = format!("{way} {}: {len} bytes to {to} from {from} modulo 64", kernel.name);
                    if let Some(place) = first_difference(dst.bytes(), &original) {
                        panic!("{at}: byte {place} was not copied");
                    }
                    assert!(src.bytes() == original, "{at}: the source changed");
                    dst.check_canaries(&at, "destination");
                    src.check_canaries(&at, "source");
                };
                // SAFETY: both buffers have len accessible bytes, in different mappings; the CPU can run the
                // kernel.
                unsafe { ways_to_copy(kernel.function, &mut check) };
            }
        });
    });
}
