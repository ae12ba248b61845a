//! `partial`: any length at any address with any seed, with every kernel, compared with the reference.

use crate::input::{Input, MOST_BYTES};
use crate::memory::with_source;
use crate::usable;
use carryline::checksum::fold;
use carryline::internals::dispatch::{ChecksumFn, Kernel};
use carryline::internals::kernels;
use carryline_variants::checksum::reference::folded_sum;

pub(super) fn check(bytes: &[u8]) {
    check_list(kernels::CHECKSUM, bytes);
}

fn check_list(list: &'static [Kernel<ChecksumFn>], bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (len, seed) = (input.length(MOST_BYTES), input.seed());
    with_source(&mut input, len, |data, input| {
        data.reset();
        input.fill(data.bytes());
        let expected = folded_sum(data.bytes(), seed);
        for kernel in usable(list) {
            // SAFETY: `data` has len readable bytes; the CPU can run the kernel.
            let sum = unsafe { (kernel.function)(data.pointer(), len, seed) };
            let (name, offset, folded) = (kernel.name, data.offset(), fold(sum));
            assert!(
                folded == expected,
                "{name}: {len} bytes at {offset} modulo 64, seed {seed:#x}: the sum {sum:#x} folds to {folded:#06x}, \
                 not to {expected:#06x}"
            );
        }
    });
}

#[cfg(all(test, feature = "command"))]
mod tests {
    use super::*;
    use carryline::internals::cpu::Features;

    /// A faulty sum that drops carries out of 32 bits.
    ///
    /// # Safety
    /// `data` is valid for reads of `len` initialised bytes and not null.
    unsafe extern "C" fn loses_a_carry(data: *const u8, len: usize, seed: u32) -> u32 {
        // SAFETY: valid, initialised and not null by contract; bytes have no alignment requirement.
        let data = unsafe { std::slice::from_raw_parts(data, len) };
        data.chunks(4).fold(seed, |sum, chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            sum.wrapping_add(u32::from_ne_bytes(word))
        })
    }

    static WRONG: [Kernel<ChecksumFn>; 1] =
        [Kernel { name: "wrong", needs: Features::NONE, function: loses_a_carry }];

    #[test]
    #[should_panic(expected = "wrong: ")]
    fn a_lost_carry_is_found() {
        let mut generator = crate::generate::Generator::new(1);
        for _ in 0..1000 {
            check_list(&WRONG, generator.next_input());
        }
    }
}
