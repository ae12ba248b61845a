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
            assert!(left.is_none(), "{at}: byte {left:?} is not zero");
            let damage = dst.damage();
            assert!(damage.is_none(), "{at}: the byte at {damage:?}, outside of it, changed");
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
                let difference = first_difference(dst.bytes(), &original);
                assert!(difference.is_none(), "{at}: byte {difference:?} was not copied");
                assert!(src.bytes() == original, "{at}: the source changed");
                for (what, damage) in [("destination", dst.damage()), ("source", src.damage())] {
                    assert!(
                        damage.is_none(),
                        "{at}: the byte at {damage:?} of the {what}, outside of it, changed"
                    );
                }
            }
        });
    });
}
