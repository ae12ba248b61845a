//! The sum by add-with-carry, in two or four independent chains.
//!
//! One chain of `adc` takes a cycle per 8 bytes. Two chains, over the two halves of each 128 bytes, run in
//! parallel, since the CPU renames the carry flag; so do four of each 256 bytes, where there are many. Each ends by adding its carry to
//! itself, so that no carry is lost between them. This is assembly because Rust cannot guarantee that a carry stays in the flag from
//! one addition to the next. Where object files are ELF, the kernel is [`adc_assembly`](super::adc_assembly).
//!
//! What is left of 128 bytes is assembly as a whole, in which each jump skips digits that are zero. LLVM's order of the
//! same instructions had up to four jumps more. Medians of four alternating rounds on a busy Zen 3, at random offsets,
//! with LLVM's order and with this: 40, 64 and 96 bytes 22.8, 18.0 and 20.5, 13.0, 13.4 and 16.3 ticks; lengths from 1 to
//! 64 43.5 and 34.3; 129 bytes 20.1 and 22.6.
//!
//! With two chains and with four from 512 bytes on, in one process on a busy Zen 4, the quieter of two runs at random offsets: 994 bytes
//! 48.5 and 43.7, 1500 80.5 and 71.7, 16 KiB 879 and 704, but lengths from 1 to 1500 68.1 and 73.6: another branch is mispredicted.

use super::portable::below_8;
use super::{FOUR_SUMS_FROM, fold_64, fold_128};
use crate::blocks::unlikely;
use core::arch::asm;

/// Adds the words at the given distances from `$data` to `$sum`, with the carry out of the last.
///
/// The caller's `unsafe` must ensure that each word is readable.
macro_rules! add_words {
    ($sum:ident, $data:expr, $first:literal $(, $next:literal)*) => {
        asm!(
            concat!("add {sum}, [{data} + ", $first, "]"),
            $(concat!("adc {sum}, [{data} + ", $next, "]"),)*
            "adc {sum}, 0",
            sum = inout(reg) $sum,
            data = in(reg) $data,
            options(pure, readonly, nostack)
        )
    };
}

/// After the steps of 128 bytes, at most one each of 64, 32, 16 and 8, as the digits of the length say, and what is
/// left of a word.
///
/// # Safety
/// As [`partial_raw`](super::partial_raw).
pub(crate) unsafe extern "C" fn partial(mut data: *const u8, len: usize, seed: u32) -> u32 {
    let mut low = u64::from(seed);
    let mut high = 0_u64;
    // SAFETY: fewer than 8 bytes are read by `below_8`. Of more, 256 are read while at least 256 are left, and 128 while at least
    // 128; `digits` gets the rest, with which at least 8 bytes end.
    unsafe {
        if len < 8 {
            unlikely();
            return fold_64(low + below_8(data, len));
        }
        if len < 128 {
            return digits(data, len, low, high);
        }
        let mut left = len;
        if len >= FOUR_SUMS_FROM {
            let (mut third, mut fourth) = (0_u64, 0_u64);
            while left >= 256 {
                add_words!(low, data, 0, 8, 16, 24, 32, 40, 48, 56);
                add_words!(high, data, 64, 72, 80, 88, 96, 104, 112, 120);
                add_words!(third, data, 128, 136, 144, 152, 160, 168, 176, 184);
                add_words!(fourth, data, 192, 200, 208, 216, 224, 232, 240, 248);
                data = data.add(256);
                left -= 256;
            }
            high = fold_128(u128::from(high) + u128::from(third) + u128::from(fourth));
        }
        while left >= 128 {
            add_words!(low, data, 0, 8, 16, 24, 32, 40, 48, 56);
            add_words!(high, data, 64, 72, 80, 88, 96, 104, 112, 120);
            data = data.add(128);
            left -= 128;
        }
        // A whole number of steps is frequent: powers of two.
        if left == 0 {
            return fold_64(fold_128(u128::from(low) + u128::from(high)));
        }
        digits(data, left, low, high)
    }
}

/// The one's-complement sum of `low`, `high` and `left` bytes, folded to 32 bits.
///
/// # Safety
/// `left < 128`; `data` is valid for reads of `left` bytes, and at least 8 bytes end there.
#[inline(always)]
unsafe fn digits(data: *const u8, left: usize, mut low: u64, high: u64) -> u32 {
    // SAFETY: the parts follow the digits of `left` in their order, so that they are consecutive. The word that ends with
    // the last byte exists by contract; all but its last `left & 7` bytes are shifted out, by 8 bits first, because a
    // shift by 64 does nothing. If the sum of low and high carries, at most 2^64 - 2 is left of it. Whether or not it did,
    // at most 2^64 - 2 is left if the next addition carries, so the last carry has room.
    unsafe {
        asm!(
            "test cl, 64",
            "jz 3f",
            "add {low}, [{data}]",
            "adc {low}, [{data} + 8]",
            "adc {low}, [{data} + 16]",
            "adc {low}, [{data} + 24]",
            "adc {low}, [{data} + 32]",
            "adc {low}, [{data} + 40]",
            "adc {low}, [{data} + 48]",
            "adc {low}, [{data} + 56]",
            "adc {low}, 0",
            "add {data}, 64",
            "test cl, 56",
            "jz 6f",
            "3:",
            "test cl, 32",
            "jz 4f",
            "add {high}, [{data}]",
            "adc {high}, [{data} + 8]",
            "adc {high}, [{data} + 16]",
            "adc {high}, [{data} + 24]",
            "adc {high}, 0",
            "add {data}, 32",
            "4:",
            "test cl, 16",
            "jz 5f",
            "add {low}, [{data}]",
            "adc {low}, [{data} + 8]",
            "adc {low}, 0",
            "add {data}, 16",
            "5:",
            "test cl, 8",
            "jz 6f",
            "add {high}, [{data}]",
            "adc {high}, 0",
            "add {data}, 8",
            "6:",
            "and ecx, 7",
            "mov {rest}, [{data} + rcx - 8]",
            "shl ecx, 3",
            "shr {rest}, 8",
            "xor ecx, 56",
            "shr {rest}, cl",
            "add {low}, {high}",
            "adc {low}, {rest}",
            "adc {low}, 0",
            // As `fold_64`, which LLVM would merge with that of other sizes, and jump to it.
            "mov {rest}, {low}",
            "rol {low}, 32",
            "add {low}, {rest}",
            "shr {low}, 32",
            data = inout(reg) data => _,
            inout("rcx") left => _,
            low = inout(reg) low,
            high = inout(reg) high => _,
            rest = out(reg) _,
            options(pure, readonly, nostack)
        );
    }
    // At most 32 bits are left.
    low as u32
}
