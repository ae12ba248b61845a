//! Overlapping copies: both directions, every distance up to 300, next to guards; just overlapping; 4 KiB
//! apart.

use super::guarded::Guarded;
use super::usable;
use crate::copy::kernels::KERNELS;
use crate::copy::{within, within_with};
use crate::dispatch::CopyFn;

/// Moves `len` bytes by `distance`, with the lower of both ranges `shift` bytes after the start of the
/// memory, and with the higher one `shift` bytes before its end.
fn check(
    name: &str,
    kernel: CopyFn,
    buffer: &mut Guarded,
    image: &[u8],
    (len, distance, shift): (usize, isize, usize),
) {
    let extent = len + distance.unsigned_abs();
    for lowest in [shift, image.len() - shift - extent] {
        let (to, from) = match distance {
            0.. => (lowest + distance as usize, lowest),
            _ => (lowest, lowest + distance.unsigned_abs()),
        };
        let window = lowest.saturating_sub(128)..(lowest + extent + 128).min(image.len());
        buffer.all()[window.clone()].copy_from_slice(&image[window.clone()]);
        let start = buffer.start();
        // SAFETY: both ranges are in the buffer; the CPU has what the kernel needs.
        unsafe { kernel(start.add(to), start.add(from), len) };
        let all = buffer.all();
        let right = all[to..to + len] == image[from..from + len]
            && all[window.start..to] == image[window.start..to]
            && all[to + len..window.end] == image[to + len..window.end];
        assert!(right, "{name}: len {len} by {distance}, {shift} from a guard");
    }
}

#[test]
fn every_distance_to_300_at_every_length_to_600() {
    for kernel in usable(KERNELS) {
        let mut buffer = Guarded::new(1 << 13);
        let image = buffer.all().to_vec();
        for len in 0..=600 {
            for distance in -300..=300_isize {
                let shift = (len * 7 + distance.unsigned_abs() * 13) % 65;
                check(kernel.name, kernel.function.overlapping, &mut buffer, &image, (len, distance, shift));
            }
        }
    }
}

/// Distances at which buffers just touch or just overlap, at which addresses are equal modulo 4 KiB, and one
/// much smaller than the copy. The lengths cover every size class.
#[test]
fn long_copies_at_critical_distances() {
    for kernel in usable(KERNELS) {
        let mut buffer = Guarded::new(1 << 18);
        let image = buffer.all().to_vec();
        for len in [601, 1000, 1023, 1024, 1025, 2500, 4095, 4096, 4097, 9000, 20_479, 20_480, 20_481, 50_001]
        {
            let near = [1, 15, 16, 17, 31, 33, 63, 64, 65, 127, 255, 256, 257, 511, 2000, len / 2];
            let touching = (len - 65..=len + 65).step_by(if len < 5000 { 1 } else { 8 });
            let aliased = (4096 - 64..=4096 + 64).step_by(if len < 5000 { 3 } else { 16 });
            let exact = [len - 1, len, len + 1, 4096, 8192];
            for distance in near.into_iter().chain(touching).chain(aliased).chain(exact) {
                for signed in [distance as isize, -(distance as isize)] {
                    let shift = (len + distance) % 64;
                    check(
                        kernel.name,
                        kernel.function.overlapping,
                        &mut buffer,
                        &image,
                        (len, signed, shift),
                    );
                }
            }
        }
    }
}

/// Copies that must not overlap, directly adjacent and equal modulo 4 KiB.
#[test]
fn adjacent_copies_are_exact() {
    for kernel in usable(KERNELS) {
        let mut buffer = Guarded::new(1 << 18);
        let image = buffer.all().to_vec();
        for len in (0..600).chain([1024, 4000, 4096, 20_480, 30_000]) {
            for gap in [0, 1, 63, 64, (4096 - len % 4096) % 4096, (4096 - len % 4096) % 4096 + 1] {
                let distance = (len + gap) as isize;
                for signed in [distance, -distance] {
                    check(kernel.name, kernel.function.copy, &mut buffer, &image, (len, signed, len % 64));
                }
            }
        }
    }
}

#[test]
fn public_functions_match_copy_within() {
    for (len, from, to) in [(0, 10, 90), (50, 0, 7), (50, 30, 7), (93, 7, 0), (93, 0, 7), (100, 0, 0)] {
        let original: Vec<u8> = (0..100).collect();
        let mut expected = original.clone();
        expected.copy_within(from..from + len, to);
        let mut moved = original.clone();
        within(&mut moved, from..from + len, to);
        assert_eq!(moved, expected, "{len} from {from} to {to}");
        let mut moved = original.clone();
        within_with(&mut moved, from..from + len, to, crate::Next::NotSoon);
        assert_eq!(moved, expected, "{len} from {from} to {to}");
    }
    let mut moved = *b"0123456789";
    within(&mut moved, ..=2, 4);
    assert_eq!(&moved, b"0123012789");
    within(&mut moved, 8.., 0);
    assert_eq!(&moved, b"8923012789");
    use std::ops::Bound::{Excluded, Unbounded};
    within(&mut moved, (Excluded(7), Unbounded), 1);
    assert_eq!(&moved, b"8893012789");
}

#[test]
fn ranges_outside_the_buffer_panic() {
    use std::ops::Bound::{Excluded, Included};
    let message_of = |range: (std::ops::Bound<usize>, std::ops::Bound<usize>), to| {
        let panic = std::panic::catch_unwind(|| within(&mut [0; 10], range, to)).expect_err("a panic");
        *panic.downcast::<String>().expect("a formatted message")
    };
    let message = message_of((Included(2), Excluded(11)), 0);
    assert_eq!(message, "bytes 2..11 cannot be copied to byte 0 on in a buffer of 10 bytes");
    message_of((Included(5), Excluded(4)), 0);
    message_of((Included(0), Excluded(5)), 6);
    message_of((Included(0), Excluded(0)), 11);
    message_of((Included(0), Included(usize::MAX)), 0);
    message_of((Excluded(usize::MAX), Excluded(5)), 0);
    message_of((Included(0), Excluded(1)), usize::MAX);
}
