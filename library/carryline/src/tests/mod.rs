//! Tests of all kernels: every kernel of every list that this CPU can run is compared with naive references,
//! with inaccessible pages around the buffers and known bytes next to them.
//!
//! `CARRYLINE_MASK` in the environment tests the kernels of a weaker CPU.

mod checksum;
mod copy;
mod copy_and_sum;
mod dispatch;
mod guarded;
mod intents;
mod interpreted;
mod overlapping;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod paths;
mod patterns;
mod set;
mod zero;

use crate::cpu::features;
use crate::dispatch::Kernel;

/// The kernels of a list that this CPU can run.
fn usable<F>(list: &'static [Kernel<F>]) -> impl Iterator<Item = &'static Kernel<F>> {
    list.iter().filter(|kernel| features().contains(kernel.needs))
}

/// Lengths around each power of two and around each given threshold.
fn long_lengths(most_bytes: usize, thresholds: &[usize]) -> Vec<usize> {
    let powers = (9..).map(|power| 1_usize << power).take_while(|length| *length <= most_bytes);
    let mut lengths: Vec<usize> = powers
        .chain(thresholds.iter().copied())
        .flat_map(|middle| {
            [middle - 65, middle - 1, middle, middle + 1, middle + 2, middle + 63, middle + 64]
        })
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Pointers at which no byte may be read or written.
fn dangling_pointers() -> impl Iterator<Item = *mut u8> {
    // The last but one is no address on any CPU: of the upper bits, some are set and some are not.
    let addresses = [0, 1, 64, usize::MAX / 0xff * 0xa5, usize::MAX];
    addresses.map(std::ptr::without_provenance_mut).into_iter()
}
