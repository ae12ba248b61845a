//! 16-bit adds into 32 bits: the portable C form of 386BSD's in_cksum, for one buffer.
//!
//! Sixteen words per iteration, then four, then one; the sum is reduced often enough to fit in 32 bits. The
//! words are read at even addresses: a message that begins at an odd one is summed from its second byte on
//! with the running sum shifted by a byte, and shifted back at the end (the bytes of a one's-complement sum
//! may be swapped before or after: RFC 1071, section 2 (B)).
//!
//! The loads are volatile so that the compiler does not vectorise them.

use crate::{Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "words16_c",
    routine: Routine::Checksum(run),
    summary: "16-bit words added into 32 bits, sixteen per iteration",
    provenance: "hannum-1996, implementation orig (386BSD)",
    ..Variant::PLAIN
};

/// The number of steps of 16 words after which the sum is reduced: 2048 * 16 * 0xffff, a reduced sum, a
/// shifted one and the rest stay below 2^32.
const STEPS_MOST: usize = 2048;

/// Adds the 16-bit halves once. The result is at most 0x1fffe.
const fn reduce(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}

/// The value with its bytes swapped, modulo 65535. The result is at most 0xff_ff00.
const fn shift_by_a_byte(sum: u32) -> u32 {
    reduce(reduce(sum)) << 8
}

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(data: *const u8, len: usize, seed: u32) -> u32 {
    let mut sum = reduce(seed);
    let mut at = data;
    let mut left = len;
    let odd = len > 0 && data as usize & 1 != 0;
    // SAFETY: at + left is always the end of the caller's bytes; every branch reads only what is left, and
    // 16-bit words only at even addresses.
    unsafe {
        if odd {
            sum = shift_by_a_byte(sum) + u32::from(u16::from_ne_bytes([0, at.read()]));
            at = at.add(1);
            left -= 1;
        }
        while left >= 32 {
            let steps = (left / 32).min(STEPS_MOST);
            for _ in 0..steps {
                for word in 0..16 {
                    sum += u32::from(at.cast::<u16>().add(word).read_volatile());
                }
                at = at.add(32);
            }
            left -= steps * 32;
            sum = reduce(sum);
        }
        while left >= 8 {
            for word in 0..4 {
                sum += u32::from(at.cast::<u16>().add(word).read_volatile());
            }
            at = at.add(8);
            left = edges::keep_loop(left - 8);
        }
        while left >= 2 {
            sum += u32::from(at.cast::<u16>().read_volatile());
            at = at.add(2);
            left = edges::keep_loop(left - 2);
        }
        if left == 1 {
            sum += u32::from(u16::from_ne_bytes([at.read(), 0]));
        }
    }
    if odd { shift_by_a_byte(sum) } else { sum }
}
