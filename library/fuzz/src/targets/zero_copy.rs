//! `zero_copy`: zeroing, filling and copying of any length at any address, through every entry point of every
//! kernel and with every plan. Checks the bytes, and that nothing else changed.

use super::first_difference;
use crate::input::{Input, MOST_BYTES};
use crate::memory::{Buffer, with_destination, with_source};
use crate::usable;
use carryline::internals::dispatch::{CopyCode, ZeroCode};
use carryline::internals::kernels;
use carryline::internals::plan::{Plan, Way};
use std::sync::LazyLock;

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

/// The lines of 64 bytes that are not zero before a call of `if_dirty`.
#[derive(Clone, Copy)]
struct Dirty {
    /// Which of 16 lines, by address.
    lines: u16,
    /// The place of the byte in its line that is not zero; from 128, all bytes are not.
    place: u8,
}

impl Dirty {
    /// Some lines, or all.
    fn from_input(input: &mut Input<'_>) -> Dirty {
        let place = input.byte();
        let lines = if input.byte() < 0x20 { u16::MAX } else { input.word() };
        Dirty { lines, place }
    }

    /// Zeroes `bytes` except for these lines. Returns the number of bytes in them, which is how many `if_dirty`
    /// writes.
    fn prepare(self, bytes: &mut [u8]) -> usize {
        let (start, len) = (bytes.as_ptr().addr(), bytes.len());
        bytes.fill(0);
        let (mut at, mut dirty) = (0, 0);
        while at < len {
            let line = (start + at) / 64;
            let end = ((line + 1) * 64 - start).min(len);
            if self.lines >> (line % 16) & 1 == 1 {
                match self.place {
                    0x80.. => bytes[at..end].fill(0x6b),
                    place => bytes[at + usize::from(place) % (end - at)] = 0x10,
                }
                dirty += end - at;
            }
            at = end;
        }
        dirty
    }
}

/// Checks that a way to zero dirty lines writes these and no others, by its count.
fn check_if_dirty(
    dst: &mut Buffer<'_>,
    dirty: Dirty,
    name: &str,
    if_dirty: &dyn Fn(*mut u8, usize) -> usize,
) {
    dst.reset();
    let expected = dirty.prepare(dst.bytes());
    let len = dst.bytes().len();
    let written = if_dirty(dst.pointer(), len);
    let at = format!("if_dirty {name}: {len} bytes at {} modulo 64", dst.offset());
    assert!(written == expected, "{at}: {written} bytes were written, not {expected}");
    if let Some(left) = dst.bytes().iter().position(|byte| *byte != 0) {
        panic!("{at}: byte {left} is not zero");
    }
    dst.check_canaries(&at, "destination");
}

/// Checks a copy of `len` bytes within `memory`, from its start to its end if `upwards`, or from its end to its
/// start.
fn check_overlapping(memory: &mut Buffer<'_>, len: usize, upwards: bool, name: &str, copy: Copy) {
    memory.reset();
    let mut expected = PATTERN[..memory.bytes().len()].to_vec();
    memory.bytes().copy_from_slice(&expected);
    let distance = expected.len() - len;
    let (to, from) = if upwards { (distance, 0) } else { (0, distance) };
    expected.copy_within(from..from + len, to);
    let start = memory.pointer();
    copy(start.wrapping_add(to), start.wrapping_add(from), len);
    let way = if upwards { "up" } else { "down" };
    let at = format!("overlapping {name}: {len} bytes {distance} {way} at {} modulo 64", memory.offset());
    if let Some(place) = first_difference(memory.bytes(), &expected) {
        panic!("{at}: byte {place} of both buffers is wrong");
    }
    memory.check_canaries(&at, "buffers");
}

/// The most bytes of two overlapping buffers together.
const MOST_TOGETHER: usize = MOST_BYTES + 512;

/// Bytes without a period, so that a copy from another place differs.
static PATTERN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..MOST_TOGETHER as u32).map(|index| (index.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect()
});

/// The largest distance of two buffers of `len` bytes that overlap, or touch, and fit into the memory together.
fn most_distance(len: usize) -> usize {
    len.min(MOST_TOGETHER - len)
}

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let len = input.length(MOST_BYTES);
    let dirty = Dirty::from_input(&mut input);
    let upwards = input.byte() & 1 == 1;
    let distance = input.length(most_distance(len));
    with_destination(&mut input, len + distance, |memory, _| {
        for kernel in usable(kernels::COPY) {
            check_overlapping(memory, len, upwards, kernel.name, &|dst, src, len| {
                // SAFETY: both buffers are in `memory` and may overlap; the CPU can run the kernel.
                unsafe { (kernel.function.overlapping)(dst, src, len) }
            });
        }
    });
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
            check_if_dirty(dst, dirty, kernel.name, &|dst, len| {
                // SAFETY: `dst` has len accessible, initialised bytes; the CPU can run the kernel.
                unsafe { (kernel.function.if_dirty)(dst, len) }
            });
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// True if the check of a copy by single bytes, in ascending order, fails.
    fn ascending_fails(len: usize, distance: usize, upwards: bool) -> bool {
        let check = || {
            with_destination(&mut Input::new(&[]), len + distance, |memory, _| {
                check_overlapping(memory, len, upwards, "ascending", &|dst, src, len| {
                    for at in 0..len {
                        // SAFETY: both buffers have len accessible bytes.
                        unsafe { dst.wrapping_add(at).write(src.wrapping_add(at).read()) };
                    }
                });
            });
        };
        catch_unwind(AssertUnwindSafe(check)).is_err()
    }

    #[test]
    fn a_copy_that_reads_what_it_has_written_fails() {
        for (len, distance) in [(3, 1), (100, 64), (MOST_BYTES, 1), (MOST_BYTES, most_distance(MOST_BYTES))] {
            assert!(ascending_fails(len, distance, true), "{len} {distance}");
            assert!(!ascending_fails(len, distance, false), "{len} {distance}");
        }
        for (len, distance) in [(0, 0), (7, 0), (7, 7)] {
            assert!(!ascending_fails(len, distance, true), "{len} {distance}");
        }
    }

    /// True if the check of a correct way fails that counts `more` bytes than it writes.
    fn counting_fails(len: usize, dirty: Dirty, more: usize) -> bool {
        let check = || {
            with_destination(&mut Input::new(&[0xfe]), len, |dst, _| {
                check_if_dirty(dst, dirty, "correct", &|dst, len| {
                    // SAFETY: the buffer has len accessible, initialised bytes.
                    let bytes = unsafe { std::slice::from_raw_parts_mut(dst, len) };
                    let lines = |at: usize| (bytes.as_ptr().addr() + at) / 64;
                    let dirty: Vec<usize> = (0..len).filter(|at| bytes[*at] != 0).map(lines).collect();
                    let written = (0..len).filter(|at| dirty.contains(&lines(*at))).count();
                    bytes.fill(0);
                    written + more
                });
            });
        };
        catch_unwind(AssertUnwindSafe(check)).is_err()
    }

    #[test]
    fn a_wrong_count_of_dirty_bytes_fails() {
        for lines in [0, 1, 0x5555, 0xfffe, 0xffff] {
            for (len, place) in [(1, 0), (63, 5), (1000, 63), (1000, 0x80)] {
                let dirty = Dirty { lines, place };
                assert!(!counting_fails(len, dirty, 0), "{len} {lines:#x} {place}");
                assert!(counting_fails(len, dirty, 1), "{len} {lines:#x} {place}");
            }
        }
    }
}
