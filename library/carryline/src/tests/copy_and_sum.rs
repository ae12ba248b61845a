//! Copy and sum: the bytes and the sum at every length and offset of both buffers.

use super::guarded::Guarded;
use super::patterns::{self, Pattern, SEEDS, exact_sum, expected};
use super::{long_lengths, usable};
use crate::checksum::fold;
use crate::checksum::kernels::COPY_AND_SUM_KERNELS;
use crate::dispatch::{CopyAndSumFn, Kernel};
use crate::profile::Decision;
use crate::tuning::decided;

const MARGIN_BYTES: usize = 128;

struct Buffers {
    destination: Guarded,
    image: Vec<u8>,
    source: Guarded,
}

impl Buffers {
    fn new(bytes: usize) -> Buffers {
        let mut destination = Guarded::new(bytes);
        let image = destination.all().to_vec();
        Buffers { destination, image, source: Guarded::new(bytes) }
    }

    fn check(
        &mut self,
        kernel: &Kernel<CopyAndSumFn>,
        dst: *mut u8,
        src: *mut u8,
        (len, exact, seed): (usize, u64, u32),
    ) {
        let index = self.destination.index_of(dst);
        let window = index.saturating_sub(MARGIN_BYTES)..(index + len + MARGIN_BYTES).min(self.image.len());
        let all = self.destination.all();
        all[window.clone()].copy_from_slice(&self.image[window.clone()]);
        // SAFETY: both have len accessible bytes in different mappings; the CPU has what the kernel needs.
        let sum = unsafe { (kernel.function)(dst, src, len, seed) };
        let at = |what: &str| {
            let (name, dst, src) = (kernel.name, dst.addr() % 64, src.addr() % 64);
            format!(
                "{name}: len {len}, destination % 64 = {dst}, source % 64 = {src}, seed {seed:#x}: {what}"
            )
        };
        assert_eq!(fold(sum), expected(exact, seed), "{}", at("sum"));
        let (before, after) = (window.start..index, index + len..window.end);
        assert!(all[index..index + len] == *self.source.at(src, len), "{}", at("a byte was not copied"));
        assert!(all[before.clone()] == self.image[before], "{}", at("a byte before the destination"));
        assert!(all[after.clone()] == self.image[after], "{}", at("a byte after the destination"));
    }
}

#[test]
fn bytes_and_sum_are_exact_at_every_length_and_offset() {
    let mut buffers = Buffers::new(4096);
    patterns::fill_random(buffers.source.all(), 5);
    for len in 0..=600 {
        for src_distance in 0..64 {
            let first = buffers.source.start().wrapping_add(src_distance);
            let last = buffers.source.ending(len, src_distance);
            let exact = [first, last].map(|src| exact_sum(buffers.source.at(src, len)));
            for dst_distance in 0..64 {
                let seed = SEEDS[(len + dst_distance) % SEEDS.len()];
                let dst = buffers.destination.start().wrapping_add(dst_distance);
                let dst_last = buffers.destination.ending(len, dst_distance);
                for kernel in usable(COPY_AND_SUM_KERNELS) {
                    buffers.check(kernel, dst, first, (len, exact[0], seed));
                    buffers.check(kernel, dst_last, last, (len, exact[1], seed));
                }
            }
        }
    }
}

/// Each number of lines has its own entry into unrolled code, and above that the order of the lines depends on
/// the distance between the buffers: on either side of half a page it changes.
#[test]
fn bytes_and_sum_are_exact_for_every_number_of_lines_and_order() {
    let mut buffers = Buffers::new(8192);
    for pattern in [Pattern::Ones, Pattern::Random] {
        pattern.fill(buffers.source.all(), 7);
        for len in 600..=2700 {
            for (dst_distance, src_distance) in [(0, 0), (1, 0), (0, 1), (32, 33), (0, 2047), (0, 2048)] {
                let src = buffers.source.ending(len, src_distance);
                let exact = exact_sum(buffers.source.at(src, len));
                let dst = buffers.destination.ending(len, dst_distance);
                for kernel in usable(COPY_AND_SUM_KERNELS) {
                    buffers.check(kernel, dst, src, (len, exact, SEEDS[len % SEEDS.len()]));
                }
            }
        }
    }
}

#[test]
fn sums_of_adversarial_bytes_are_exact() {
    let mut buffers = Buffers::new(4096);
    for pattern in Pattern::ALL {
        for len in 0..=600 {
            for (dst_distance, src_distance) in [(0, 0), (1, 0), (0, 1), (33, 32), (62, 7)] {
                let src = buffers.source.ending(len, src_distance);
                pattern.fill(buffers.source.at(src, len), len + dst_distance);
                let exact = exact_sum(buffers.source.at(src, len));
                let dst = buffers.destination.ending(len, dst_distance);
                for kernel in usable(COPY_AND_SUM_KERNELS) {
                    for seed in SEEDS {
                        buffers.check(kernel, dst, src, (len, exact, seed));
                    }
                }
            }
        }
    }
}

#[test]
fn long_buffers_are_exact_around_block_sizes() {
    let by_blocks = crate::checksum::by_blocks::BLOCK_BYTES;
    #[cfg(target_arch = "x86_64")]
    let blocks = [by_blocks, crate::checksum::avx512_copy::BLOCK_BYTES];
    #[cfg(not(target_arch = "x86_64"))]
    let blocks = [by_blocks];
    let thresholds: Vec<usize> = blocks.iter().flat_map(|block| [*block, 2 * block, 3 * block]).collect();
    let mut buffers = Buffers::new(2 << 20);
    for pattern in [Pattern::Zeros, Pattern::Ones, Pattern::Random] {
        pattern.fill(buffers.source.all(), 6);
        for len in long_lengths(1 << 18, &thresholds) {
            // The last two have the destination above the source modulo the page.
            for (dst_distance, src_distance) in [(0, 0), (1, 0), (62, 7), (0, 1), (7, 62)] {
                let src = buffers.source.ending(len, src_distance);
                let exact = exact_sum(buffers.source.at(src, len));
                let dst = buffers.destination.ending(len, dst_distance);
                for kernel in usable(COPY_AND_SUM_KERNELS) {
                    buffers.check(kernel, dst, src, (len, exact, 0xffff_ffff));
                }
            }
        }
    }
}

#[test]
fn buffers_beyond_the_caches_are_exact() {
    let from = decided(Decision::CacheShare) / 2;
    let mut buffers = Buffers::new(from + (1 << 16));
    for pattern in [Pattern::Ones, Pattern::Random] {
        pattern.fill(buffers.source.all(), 8);
        for len in [from - 1, from, from + 1, from + 8191, from + 8192 + 63] {
            for (dst_distance, src_distance) in [(0, 0), (1, 0), (62, 7), (0, 1)] {
                let src = buffers.source.ending(len, src_distance);
                let exact = exact_sum(buffers.source.at(src, len));
                let dst = buffers.destination.ending(len, dst_distance);
                for kernel in usable(COPY_AND_SUM_KERNELS) {
                    buffers.check(kernel, dst, src, (len, exact, 1));
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "the destination has 5 bytes, the source 4")]
fn different_lengths_panic_and_name_both() {
    let _ = crate::checksum::copy_and_sum(&mut [0; 5], &[0; 4], 0);
}
