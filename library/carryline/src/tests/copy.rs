//! Copying: every length, offsets of both buffers, next to guards on both sides; thresholds; every entry
//! point.

use super::guarded::Guarded;
use super::{long_lengths, patterns, usable};
use crate::copy;
use crate::copy::kernels::KERNELS;
use crate::dispatch::CopyCode;
use crate::intent::{self, LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES, Plan};
use crate::profile::Decision;
use crate::tuning::decided;

/// A call that copies `len` bytes.
pub(super) type Call<'a> = &'a dyn Fn(*mut u8, *const u8, usize);

/// Every entry point of a kernel, with every plan.
fn for_each_entry(code: CopyCode, then: &mut dyn FnMut(&str, Call)) {
    // SAFETY: both buffers have len accessible bytes; the CPU has what the kernel needs.
    then("copy", &|dst, src, len| unsafe { (code.copy)(dst, src, len) });
    // SAFETY: both buffers have len accessible bytes; the CPU has what the kernel needs.
    then("read_here", &|dst, src, len| unsafe { (code.read_here)(dst, src, len) });
    // SAFETY: both buffers have len accessible bytes; the CPU has what the kernel needs.
    then("overlapping", &|dst, src, len| unsafe { (code.overlapping)(dst, src, len) });
    for (way, source_done, fetched) in [
        (intent::Way::Loop, false, false),
        (intent::Way::Loop, true, false),
        (intent::Way::Loop, false, true),
        (intent::Way::String, false, false),
        (intent::Way::NonTemporal, false, false),
        (intent::Way::NonTemporal, false, true),
        (intent::Way::NonTemporal, true, false),
    ] {
        let plan = Plan { way, source_done, fetched };
        // SAFETY: both buffers have len accessible bytes; the CPU has what the kernel needs.
        then(&format!("{plan:?}"), &|dst, src, len| unsafe { (code.planned)(dst, src, len, plan) });
        // SAFETY: both buffers have len accessible bytes that no other thread accesses; the CPU has what the
        // kernel needs.
        then(&format!("unfenced {plan:?}"), &|dst, src, len| unsafe { (code.unfenced)(dst, src, len, plan) });
    }
}

/// Buffers to copy between.
struct Buffers {
    dst: Guarded,
    image: Vec<u8>,
    src: Guarded,
    contents: Vec<u8>,
}

impl Buffers {
    fn new(bytes: usize) -> Buffers {
        let (mut dst, mut src) = (Guarded::new(bytes), Guarded::new(bytes));
        patterns::fill_random(src.all(), 77);
        src.make_read_only();
        let (image, contents) = (dst.all().to_vec(), src.all().to_vec());
        Buffers { dst, image, src, contents }
    }

    /// Copies between the starts of the buffers, and between their ends, `distances` away from the guards.
    fn check(&mut self, name: &str, call: Call, len: usize, (dst_distance, src_distance): (usize, usize)) {
        for (dst, src) in [
            (self.dst.start().wrapping_add(dst_distance), self.src.start().wrapping_add(src_distance)),
            (self.dst.ending(len, dst_distance), self.src.ending(len, src_distance)),
        ] {
            let from = self.src.index_of(src);
            let expected = &self.contents[from..from + len];
            let wrong = self.dst.wrong_after(&self.image, dst, expected, || call(dst, src, len));
            assert_eq!(
                wrong,
                None,
                "{name}: len {len}, destination % 64 = {}, source % 64 = {}: wrong byte",
                dst.addr() % 64,
                src.addr() % 64
            );
        }
    }
}

/// Checks the lengths at all distances of the destination from its guards, with some distances of the source
/// for each.
pub(super) fn check_everywhere(name: &str, call: Call, lengths: impl Iterator<Item = usize>) {
    let mut buffers = Buffers::new(1 << 16);
    for len in lengths {
        for dst_distance in 0..64 {
            for src_distance in [dst_distance, (dst_distance * 29 + len) % 64, 0] {
                buffers.check(name, call, len, (dst_distance, src_distance));
            }
        }
    }
}

#[test]
fn is_exact_at_every_length_and_offset() {
    for kernel in usable(KERNELS) {
        for_each_entry(kernel.function, &mut |entry, call| {
            // Below 512 bytes, all plans are the same.
            let lengths = if entry.contains("Plan") { 500..=600 } else { 0..=600 };
            check_everywhere(&format!("{} {entry}", kernel.name), call, lengths);
        });
    }
}

#[test]
fn is_exact_at_every_pair_of_offsets() {
    let mut buffers = Buffers::new(1 << 13);
    for kernel in usable(KERNELS) {
        for_each_entry(kernel.function, &mut |entry, call| {
            let name = format!("{} {entry}", kernel.name);
            for pair in (0..64).flat_map(|dst| (0..64).map(move |src| (dst, src))) {
                for len in [1, 2, 3, 7, 15, 31, 33, 63, 64, 65, 127, 129, 255, 300, 513, 700, 1700] {
                    // Each pair is tested with a third of the lengths per kernel and entry point.
                    if (pair.0 + pair.1 + len + entry.len()) % 3 == 0 {
                        buffers.check(&name, call, len, pair);
                    }
                }
            }
        });
    }
}

#[test]
fn is_exact_around_thresholds() {
    let from_bytes = [Decision::RepMovsb, Decision::ReadOnce].map(|decision| decided(decision).min(1 << 20));
    // The last three are where copies begin to choose their direction, by one kernel or another.
    let thresholds = [
        LOOPS_BELOW_BYTES,
        NARROW_LOOPS_BELOW_BYTES,
        from_bytes[0],
        from_bytes[1],
        3 << 10,
        6 << 10,
        8 << 10,
    ];
    let non_temporal_from_bytes = decided(Decision::CacheShare) / 2;
    let mut buffers = Buffers::new(non_temporal_from_bytes + (1 << 16));
    let lengths: Vec<usize> = long_lengths(1 << 17, &thresholds)
        .into_iter()
        .chain([non_temporal_from_bytes - 1, non_temporal_from_bytes, non_temporal_from_bytes + 65])
        .collect();
    for kernel in usable(KERNELS) {
        for_each_entry(kernel.function, &mut |entry, call| {
            let name = format!("{} {entry}", kernel.name);
            let by_size = ["copy", "overlapping"].contains(&entry);
            for len in lengths.iter().copied().filter(|len| *len < 1 << 20 || by_size) {
                // On either side of half a page, the order of the moves changes.
                for distances in [(0, 0), (1, 0), (0, 1), (17, 63), (63, 17), (2047, 0), (2048, 0)] {
                    buffers.check(&name, call, len, distances);
                }
            }
        });
    }
}

#[test]
fn empty_buffers_may_have_any_pointer() {
    for kernel in usable(KERNELS) {
        for_each_entry(kernel.function, &mut |_, call| {
            super::dangling_pointers().for_each(|dangling| call(dangling, dangling, 0));
        });
    }
}

#[test]
fn public_functions_copy_exactly_their_ranges() {
    use crate::{Intent, Next};
    use core::mem::MaybeUninit;
    let mut source = vec![0; 70_000];
    patterns::fill_random(&mut source, 3);
    for next in [Next::Unknown, Next::ReadHere, Next::ReadElsewhere, Next::NotSoon, Next::Device] {
        for len in [0, 1, 77, 600, 5000, 70_000] {
            let src = &source[..len];
            let intent = Intent::new(next).source_done();
            let mut buffer = vec![7; len + 2];
            let mut check = |what: &str, act: &dyn Fn(&mut [u8])| {
                buffer.fill(7);
                act(&mut buffer[1..=len]);
                assert!(
                    buffer[0] == 7 && buffer[len + 1] == 7 && buffer[1..=len] == *src,
                    "{what} {next:?} {len}"
                );
            };
            check("bytes", &|dst| copy::bytes(dst, src));
            check("bytes_with", &|dst| copy::bytes_with(dst, src, next));
            check("bytes_with, source done", &|dst| copy::bytes_with(dst, src, intent));
            check("bytes_unfenced", &|dst| {
                // SAFETY: no other thread accesses the buffer.
                unsafe { copy::bytes_unfenced(dst, src, next) };
                crate::drain();
            });
            let mut fresh = vec![MaybeUninit::uninit(); len];
            assert!(copy::bytes_uninit(&mut fresh, src) == src);
            let mut fresh = vec![MaybeUninit::uninit(); len];
            assert!(copy::bytes_uninit_with(&mut fresh, src, intent) == src);
        }
    }
}

/// The message of a panic, and the file of its location.
fn panic_of(act: impl FnOnce() + std::panic::UnwindSafe) -> (String, String) {
    use std::sync::{Arc, Mutex};
    let seen = Arc::new(Mutex::new(String::new()));
    let (for_hook, this) = (Arc::clone(&seen), std::thread::current().id());
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == this {
            *for_hook.lock().unwrap() = info.location().map_or(String::new(), |at| at.file().to_owned());
        }
    }));
    let panic = std::panic::catch_unwind(act);
    std::panic::set_hook(before);
    let message = panic.expect_err("it panics").downcast::<String>().expect("a formatted message");
    let file = seen.lock().unwrap().clone();
    (*message, file)
}

#[test]
fn copies_between_different_lengths_panic_at_the_caller_and_name_both() {
    use core::mem::MaybeUninit;
    let acts: [Box<dyn FnOnce() + std::panic::UnwindSafe>; 5] = [
        Box::new(|| copy::bytes(&mut [0; 3], &[0; 4])),
        Box::new(|| copy::bytes_with(&mut [0; 3], &[0; 4], crate::Next::NotSoon)),
        Box::new(|| {
            let _ = copy::bytes_uninit(&mut [MaybeUninit::uninit(); 3], &[0; 4]);
        }),
        Box::new(|| {
            let _ = copy::bytes_uninit_with(&mut [MaybeUninit::uninit(); 3], &[0; 4], crate::Next::NotSoon);
        }),
        // SAFETY: it panics.
        Box::new(|| unsafe { copy::bytes_unfenced(&mut [0; 3], &[0; 4], crate::Next::NotSoon) }),
    ];
    for act in acts {
        let (message, file) = panic_of(act);
        assert_eq!(message, "the destination has 3 bytes, the source 4: their lengths must be equal");
        assert!(file.ends_with("copy.rs") && file.contains("tests"), "{file}");
    }
}
