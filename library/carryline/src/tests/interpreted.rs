//! Short tests for Miri, which interprets them for another processor, hence with the portable kernels, and finds undefined
//! behaviour that no run shows: `cargo xtask miri`. Those of the other modules would take it days.

use super::patterns::{Pattern, exact_sum, expected, fill_random};
use crate::{Next, checksum, copy, zero};
use std::mem::MaybeUninit;

/// All lengths of moves without a loop, and some with one.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=70).chain([95, 96, 97, 127, 128, 129, 191, 200, 256, 300])
}

/// Calls that copy `len` bytes. The first two allow an overlap.
const COPIES: [unsafe fn(*mut u8, *const u8, usize); 6] = [
    copy::within_raw,
    |dst, src, len| {
        // SAFETY: as that of the call.
        unsafe { copy::within_raw_with(dst, src, len, Next::NotSoon) }
    },
    copy::bytes_raw,
    |dst, src, len| {
        // SAFETY: as that of the call.
        unsafe { copy::bytes_raw_with(dst, src, len, Next::ReadHere) }
    },
    |dst, src, len| {
        // SAFETY: as that of the call.
        unsafe { copy::bytes_raw_with(dst, src, len, Next::Unknown) }
    },
    |dst, src, len| {
        // SAFETY: as that of the call; no other thread sees the copy.
        unsafe { copy::bytes_raw_unfenced(dst, src, len, Next::NotSoon) }
    },
];

/// A pointer, and bytes between the fields that are not initialised.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Record {
    tag: u8,
    text: &'static str,
    last: u16,
}

#[test]
fn copies_keep_pointers_and_padding() {
    let text = ["", "a", "bc"];
    for count in 0..=20 {
        let records: Vec<Record> =
            (0..count).map(|at| Record { tag: at as u8, text: text[at % 3], last: !at as u16 }).collect();
        let single: Vec<&str> = records.iter().map(|record| record.text).collect();
        for call in COPIES {
            assert_eq!(copied(&records, call), records);
            assert_eq!(copied(&single, call), single);
        }
    }
}

/// A copy of `values` made by `call`.
fn copied<T: Copy>(values: &[T], call: unsafe fn(*mut u8, *const u8, usize)) -> Vec<T> {
    let mut copy: Vec<T> = Vec::with_capacity(values.len());
    // SAFETY: the bytes of all values, into memory for as many.
    unsafe {
        call(copy.as_mut_ptr().cast(), values.as_ptr().cast(), size_of_val(values));
        copy.set_len(values.len());
    }
    copy
}

#[test]
fn copies_keep_bytes_that_are_not_initialised() {
    for len in lengths() {
        let mut src = vec![MaybeUninit::<u8>::uninit(); len];
        for (at, byte) in src.iter_mut().enumerate().step_by(3) {
            byte.write(at as u8);
        }
        for call in COPIES {
            for (at, byte) in copied(&src, call).iter().enumerate().step_by(3) {
                // SAFETY: a copy of one of those that have been written.
                assert_eq!(unsafe { byte.assume_init() }, at as u8, "byte {at} of {len}");
            }
        }
    }
}

#[test]
fn copies_within_a_buffer_are_exact() {
    let mut contents = [0; 420];
    fill_random(&mut contents, 1);
    for len in lengths() {
        for (src, dst) in [(3, 0), (0, 5), (64, 0), (0, 64), (7, 120), (9, 9)] {
            for call in &COPIES[..2] {
                let (mut buffer, mut wanted) = (contents, contents);
                wanted.copy_within(src..src + len, dst);
                let start = buffer.as_mut_ptr();
                // SAFETY: both ranges are within the buffer.
                unsafe { call(start.add(dst), start.add(src), len) };
                assert!(buffer == wanted, "{len} bytes from {src} to {dst}");
            }
        }
    }
}

#[test]
fn fills_are_exact() {
    for len in lengths() {
        for offset in [0, 1, 7] {
            let mut buffer = [1; 400];
            let (before, target) = buffer.split_at_mut(offset);
            let (target, after) = target.split_at_mut(len);
            zero::fill(target);
            assert!(target.iter().all(|byte| *byte == 0), "{len}");
            target.fill(0xa5);
            zero::fill_with(target, Next::NotSoon);
            assert_eq!(zero::if_dirty(target), 0, "{len}");
            assert!(before.iter().chain(&*after).all(|byte| *byte == 1), "{len}: beside the target");
        }
    }
}

#[test]
fn sums_are_exact() {
    for pattern in [Pattern::Ones, Pattern::Carries, Pattern::Random] {
        for len in lengths() {
            for offset in [0, 1] {
                let mut buffer = vec![0x5a; offset + len];
                let data = &mut buffer[offset..];
                pattern.fill(data, len);
                let exact = exact_sum(data);
                for seed in [0, 0xffff_ffff] {
                    let context = format!("{pattern:?}, {len} bytes at {offset}, seed {seed:#x}");
                    assert_eq!(
                        checksum::fold(checksum::partial(data, seed)),
                        expected(exact, seed),
                        "{context}"
                    );
                    let mut copy = vec![0; len];
                    let sum = checksum::copy_and_sum(&mut copy, data, seed);
                    assert_eq!(checksum::fold(sum), expected(exact, seed), "copied: {context}");
                    assert!(copy == data, "{context}");
                }
            }
        }
    }
}
