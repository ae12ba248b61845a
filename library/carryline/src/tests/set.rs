//! Filling with any byte: every length and offset, next to guards; thresholds.

use super::guarded::Guarded;
use super::zero::check_filling;
use super::{long_lengths, usable};
use crate::intent::{LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES};
use crate::profile::Decision;
use crate::set::KERNELS;
use crate::tuning::decided;

#[test]
fn is_exact_at_every_length_and_offset() {
    for kernel in usable(KERNELS) {
        for byte in [0xa4, 0, 0x80] {
            let name = format!("set {} {byte:#x}", kernel.name);
            // SAFETY: len accessible bytes; the CPU has what the kernel needs.
            check_filling(byte, &name, &|dst, len| unsafe { (kernel.function)(dst, byte, len) }, 0..=600);
        }
    }
}

#[test]
fn is_exact_around_thresholds() {
    let thresholds =
        [LOOPS_BELOW_BYTES, NARROW_LOOPS_BELOW_BYTES, decided(Decision::RepStosb)].map(|t| t.min(1 << 20));
    let non_temporal_from_bytes = decided(Decision::CacheShare);
    let mut buffer = Guarded::new(non_temporal_from_bytes + (1 << 16));
    let image = buffer.all().to_vec();
    let lengths = long_lengths(1 << 17, &thresholds).into_iter();
    for len in
        lengths.chain([non_temporal_from_bytes - 1, non_temporal_from_bytes, non_temporal_from_bytes + 65])
    {
        // Of the bytes, only 0 may be stored by `clzero`.
        for (kernel, byte) in usable(KERNELS).flat_map(|kernel| [(kernel, 0xff), (kernel, 0)]) {
            let filled = vec![byte; len];
            for distance in [0, 1, 63] {
                let target = buffer.ending(len, distance);
                // SAFETY: len accessible bytes; the CPU has what the kernel needs.
                let set = || unsafe { (kernel.function)(target, byte, len) };
                let wrong = buffer.wrong_after(&image, target, &filled, set);
                assert_eq!(
                    wrong, None,
                    "set {} {byte:#x}: len {len}, {distance} before the end",
                    kernel.name
                );
            }
        }
    }
}
