//! `zero_copy`: zeroing and copying of any length at any address, by every kernel: the bytes, and nothing else changed.

use super::first_difference;
use crate::input::{Input, MOST_BYTES};
use crate::memory::{with_destination, with_source};
use crate::usable;
use carryline::{copy, zero};

pub(super) fn check(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let len = input.length(MOST_BYTES);
    with_destination(&mut input, len, |dst, input| {
        for kernel in usable(zero::KERNELS) {
            dst.reset();
            // SAFETY: `dst` has len accessible bytes; the CPU has what the kernel needs.
            unsafe { (kernel.function)(dst.pointer(), len) };
            let at = format!("zero {}: {len} bytes at {} modulo 64", kernel.name, dst.offset());
            let left = dst.bytes().iter().position(|byte| *byte != 0);
            if let Some(left) = left {
                panic!("{at}: byte {left} is not zero");
            }
            dst.is_undamaged(&at, "destination");
        }
        with_source(input, len, |src, input| {
            src.reset();
            input.fill(src.bytes());
            let original = src.bytes().to_vec();
            for kernel in usable(copy::KERNELS) {
                dst.reset();
                // SAFETY: both have len accessible bytes, in different mappings; the CPU has what the kernel needs.
                unsafe { (kernel.function)(dst.pointer(), src.pointer(), len) };
                let (to, from) = (dst.offset(), src.offset());
                let at = format!("copy {}: {len} bytes to {to} from {from} modulo 64", kernel.name);
                if let Some(place) = first_difference(dst.bytes(), &original) {
                    panic!("{at}: byte {place} was not copied");
                }
                assert!(src.bytes() == original, "{at}: the source changed");
                dst.is_undamaged(&at, "destination");
                src.is_undamaged(&at, "source");
            }
        });
    });
}
