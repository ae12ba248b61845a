//! Small buffers that end at an inaccessible page, or are empty, are as fast as others: a masked access whose
//! inactive lanes lie there is right, but takes hundreds of cycles, and every kernel must go around it.

use super::guarded::Guarded;
use super::usable;
use crate::checksum::{COPY_AND_SUM_KERNELS, KERNELS};
use crate::{copy, zero};
use std::hint::black_box;

/// The fewest ticks that a call took in the quietest of many short batches.
fn ticks(mut call: impl FnMut()) -> u64 {
    const CALLS: u64 = 16;
    let batch = |call: &mut dyn FnMut()| {
        // SAFETY: every x86-64 CPU has the counter and the fence.
        unsafe {
            use std::arch::x86_64::{_mm_lfence, _rdtsc};
            _mm_lfence();
            let start = _rdtsc();
            _mm_lfence();
            (0..CALLS).for_each(|_| call());
            _mm_lfence();
            (_rdtsc() - start) / CALLS
        }
    };
    (0..200).map(|_| batch(&mut call)).min().unwrap_or(0)
}

/// Far more than any other way around the edge costs, far less than one access that the CPU helps out with.
const MOST_EXTRA_TICKS: u64 = 90;

fn compare(name: &str, len: usize, mut call: impl FnMut(*mut u8, *mut u8)) {
    let (a, b) = (Guarded::new(8192), Guarded::new(8192));
    let inside = ticks(|| call(a.start().wrapping_add(512), b.start().wrapping_add(512)));
    let at_end = ticks(|| call(a.ending(len, 0), b.ending(len, 0)));
    assert!(
        at_end <= inside + MOST_EXTRA_TICKS,
        "{name}: len {len} at the end of a page takes {at_end} ticks, elsewhere {inside}"
    );
}

#[test]
fn small_calls_next_to_an_inaccessible_page_are_not_slow() {
    for len in [0, 1, 7, 17, 40, 63, 64, 65, 100, 129, 191, 200, 255] {
        for kernel in usable(zero::KERNELS) {
            // SAFETY: all pointers have len accessible bytes, in different mappings; the CPU has what is needed.
            compare(kernel.name, len, |a, _| unsafe { (kernel.function)(black_box(a), len) });
        }
        for kernel in usable(copy::KERNELS) {
            // SAFETY: as above.
            compare(kernel.name, len, |a, b| unsafe { (kernel.function)(black_box(a), b, len) });
        }
        for kernel in usable(KERNELS) {
            // SAFETY: as above.
            compare(kernel.name, len, |a, _| unsafe {
                black_box((kernel.function)(black_box(a), len, 0));
            });
        }
        for kernel in usable(COPY_AND_SUM_KERNELS) {
            // SAFETY: as above.
            compare(kernel.name, len, |a, b| unsafe {
                black_box((kernel.function)(black_box(a), b, len, 0));
            });
        }
    }
}
