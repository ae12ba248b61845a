//! Zeroing: every length and offset, next to guards on both sides; thresholds; every entry point.

use super::guarded::Guarded;
use super::{long_lengths, usable};
use crate::dispatch::ZeroCode;
use crate::intent::{self, LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES, Plan};
use crate::profile::Decision;
use crate::tuning::decided;
use crate::zero;
use crate::zero::kernels::KERNELS;

/// A call that zeroes `len` bytes.
pub(super) type Call<'a> = &'a dyn Fn(*mut u8, usize);

const NON_TEMPORAL: Plan = Plan { way: intent::Way::NonTemporal, source_done: false, fetched: false };
const BY_CLZERO: Plan = Plan { way: intent::Way::Clzero, source_done: false, fetched: false };
const BY_LOOP: Plan = Plan { way: intent::Way::Loop, source_done: false, fetched: false };
const PREFETCHED: Plan = Plan { way: intent::Way::Loop, source_done: false, fetched: true };
const BY_STRING: Plan = Plan { way: intent::Way::String, source_done: false, fetched: false };

/// Every entry point of a kernel, with every plan. The CPU must have the kernel's needs.
fn for_each_entry(code: ZeroCode, then: &mut dyn FnMut(&str, Call)) {
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("zero", &|dst, len| unsafe { (code.zero)(dst, len) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("planned by loop", &|dst, len| unsafe { (code.planned)(dst, len, BY_LOOP) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("read_here", &|dst, len| unsafe { (code.read_here)(dst, len) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("planned by loop, prefetched", &|dst, len| unsafe { (code.planned)(dst, len, PREFETCHED) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("planned by string", &|dst, len| unsafe { (code.planned)(dst, len, BY_STRING) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("planned non-temporal", &|dst, len| unsafe { (code.planned)(dst, len, NON_TEMPORAL) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("planned by clzero", &|dst, len| unsafe { (code.planned)(dst, len, BY_CLZERO) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("unfenced by loop", &|dst, len| unsafe { (code.unfenced)(dst, len, BY_LOOP) });
    // SAFETY: the target has len accessible bytes that no other thread accesses; the CPU has what the kernel
    // needs.
    then("unfenced non-temporal", &|dst, len| unsafe { (code.unfenced)(dst, len, NON_TEMPORAL) });
    // SAFETY: the target has len accessible bytes that no other thread accesses; the CPU has what the kernel
    // needs.
    then("unfenced by clzero", &|dst, len| unsafe { (code.unfenced)(dst, len, BY_CLZERO) });
    // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
    then("if_dirty", &|dst, len| assert!(unsafe { (code.if_dirty)(dst, len) } <= len));
}

/// Checks the lengths at all distances from the guards on both sides.
pub(super) fn check_everywhere(name: &str, call: Call, lengths: impl Iterator<Item = usize>) {
    check_filling(0, name, call, lengths);
}

/// As `check_everywhere`, for filling with an even byte.
pub(super) fn check_filling(byte: u8, name: &str, call: Call, lengths: impl Iterator<Item = usize>) {
    let mut buffer = Guarded::new(1 << 16);
    let image = buffer.all().iter().map(|byte| byte | 1).collect::<Vec<u8>>();
    let filled = vec![byte; image.len()];
    for len in lengths {
        for distance in 0..64 {
            for target in [buffer.start().wrapping_add(distance), buffer.ending(len, distance)] {
                let wrong = buffer.wrong_after(&image, target, &filled[..len], || call(target, len));
                assert_eq!(
                    wrong,
                    None,
                    "{name}: len {len}, address % 64 = {}: wrong byte",
                    target.addr() % 64
                );
            }
        }
    }
}

#[test]
fn is_exact_at_every_length_and_offset() {
    for kernel in usable(KERNELS) {
        for_each_entry(kernel.function, &mut |entry, call| {
            check_everywhere(&format!("{} {entry}", kernel.name), call, 0..=600);
        });
    }
}

#[test]
fn is_exact_around_thresholds() {
    let strings =
        [Decision::RepStosb, Decision::RepStosbReadHere].map(|decision| decided(decision).min(1 << 20));
    let thresholds = [LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES, strings[0], strings[1]];
    let non_temporal_from_bytes = decided(Decision::CacheShare);
    let mut buffer = Guarded::new(non_temporal_from_bytes + (1 << 16));
    let image = buffer.all().to_vec();
    let zeros = vec![0; image.len()];
    let lengths: Vec<usize> = long_lengths(1 << 17, &thresholds)
        .into_iter()
        .chain([non_temporal_from_bytes - 1, non_temporal_from_bytes, non_temporal_from_bytes + 65])
        .collect();
    for kernel in usable(KERNELS) {
        for_each_entry(kernel.function, &mut |entry, call| {
            for len in lengths.iter().copied().filter(|len| *len < 1 << 20 || entry == "zero") {
                for distance in [0, 1, 63] {
                    let target = buffer.ending(len, distance);
                    let wrong = buffer.wrong_after(&image, target, &zeros[..len], || call(target, len));
                    assert_eq!(wrong, None, "{} {entry}: len {len}, {distance} before the end", kernel.name);
                }
            }
        });
    }
}

#[test]
fn only_dirty_lines_are_written() {
    for kernel in usable(KERNELS) {
        let mut buffer = Guarded::new(1 << 12);
        buffer.all().fill(0);
        for (len, distance) in (0..300).flat_map(|len| [0, 1, 17, 63].map(|distance| (len, distance))) {
            let start = buffer.start().wrapping_add(distance);
            for dirty in (0..len).step_by(3) {
                buffer.at(start, len)[dirty] = 0x80;
                // Blocks are lines, truncated at both ends.
                let line = (distance + dirty) / 64 * 64;
                let block = line.max(distance)..(line + 64).min(distance + len);
                // SAFETY: len initialised bytes that we own; the CPU has what the kernel needs.
                let written = unsafe { (kernel.function.if_dirty)(start, len) };
                assert_eq!(written, block.len(), "{}: len {len} at {distance}, byte {dirty}", kernel.name);
                // This one is zero again, and all others were.
                assert_eq!(buffer.at(start, len)[dirty], 0, "{}: len {len} at {distance}", kernel.name);
            }
            assert!(buffer.all().iter().all(|byte| *byte == 0));
            // SAFETY: the target has len accessible bytes; the CPU has what the kernel needs.
            let written = unsafe { (kernel.function.if_dirty)(start, len) };
            assert_eq!(written, 0, "{}: nothing to do", kernel.name);
        }
    }
}

/// Zeros are not written, so they may be in read-only memory.
#[test]
fn clean_memory_is_only_read() {
    let mut buffer = Guarded::new(1 << 16);
    buffer.all().fill(0);
    buffer.make_read_only();
    let (start, len) = (buffer.start(), buffer.all().len());
    for kernel in usable(KERNELS) {
        for (distance, len) in [(0, len), (1, len - 1), (0, len - 1), (7, 50), (70, 3)] {
            // SAFETY: bytes that we own, all zero, so that none is written.
            assert_eq!(unsafe { (kernel.function.if_dirty)(start.add(distance), len) }, 0, "{}", kernel.name);
        }
    }
}

#[test]
fn empty_buffers_may_have_any_pointer() {
    for kernel in usable(KERNELS) {
        for_each_entry(kernel.function, &mut |_, call| {
            super::dangling_pointers().for_each(|dangling| call(dangling, 0))
        });
    }
}

#[test]
fn public_functions_zero_exactly_their_ranges() {
    use crate::Next;
    use core::mem::MaybeUninit;
    for next in [Next::Unknown, Next::ReadHere, Next::ReadElsewhere, Next::NotSoon, Next::Device] {
        for len in [0, 1, 77, 600, 5000, 70_000] {
            let zeros = vec![0; len];
            let mut buffer = vec![7; len + 2];
            let mut check = |what: &str, act: &dyn Fn(&mut [u8])| {
                buffer.fill(7);
                act(&mut buffer[1..=len]);
                assert!(
                    buffer[0] == 7 && buffer[len + 1] == 7 && buffer[1..=len] == zeros,
                    "{what} {next:?} {len}"
                );
            };
            check("fill", &|dst| zero::fill(dst));
            check("fill_with", &|dst| zero::fill_with(dst, next));
            check("secret", &|dst| zero::secret(dst));
            check("if_dirty", &|dst| assert_eq!(zero::if_dirty(dst), len));
            check("fill_unfenced", &|dst| {
                // SAFETY: no other thread accesses the buffer.
                unsafe { zero::fill_unfenced(dst, next) };
                crate::drain();
            });
            let mut fresh = vec![MaybeUninit::uninit(); len];
            assert!(zero::fill_uninit(&mut fresh) == zeros);
            let mut fresh = vec![MaybeUninit::uninit(); len];
            assert!(zero::fill_uninit_with(&mut fresh, next) == zeros);
        }
    }
}

#[test]
fn exactly_the_given_pages_are_zeroed() {
    use crate::zero::Page;
    let mut memory = vec![Page([9; Page::BYTES]); 5];
    zero::pages(&mut memory[1..3]);
    zero::pages_with(&mut memory[3..4], crate::Next::Device);
    zero::pages(&mut []);
    for (page, byte) in memory.iter().zip([9, 0, 0, 0, 9]) {
        assert!(page.0 == [byte; Page::BYTES]);
    }
}
