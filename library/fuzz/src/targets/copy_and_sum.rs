//! `copy_and_sum`: any length, source and destination at any address, with every kernel. Checks the copied
//! bytes, the sum, and that nothing else changed.

use super::first_difference;
use crate::input::{Input, MOST_BYTES};
use crate::memory::{with_destination, with_source};
use crate::usable;
use carryline::checksum::fold;
use carryline::internals::kernels;
use carryline_variants::checksum::reference::folded_sum;

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (len, seed) = (input.length(MOST_BYTES), input.seed());
    with_source(&mut input, len, |src, input| {
        src.reset();
        input.fill(src.bytes());
        let expected = folded_sum(src.bytes(), seed);
        with_destination(input, len, |dst, _| {
            for kernel in usable(kernels::COPY_AND_SUM) {
                dst.reset();
                // SAFETY: both buffers have len accessible bytes, in different mappings; the CPU can run the
                // kernel.
                let sum = unsafe { (kernel.function)(dst.pointer(), src.pointer(), len, seed) };
                let at = format!(
                    "{}: {len} bytes to {} from {} modulo 64, seed {seed:#x}",
                    kernel.name,
                    dst.offset(),
                    src.offset()
                );
                let folded = fold(sum);
                assert!(
                    folded == expected,
                    "{at}: the sum {sum:#x} folds to {folded:#06x}, not to {expected:#06x}"
                );
                if let Some(place) = first_difference(dst.bytes(), src.bytes()) {
                    panic!("{at}: byte {place} was not copied");
                }
                dst.check_canaries(&at, "destination");
                src.check_canaries(&at, "source");
                let source = folded_sum(src.bytes(), seed);
                assert!(source == expected, "{at}: the source changed");
            }
        });
    });
}
