//! One's-complement arithmetic shared by several checksum kernels.
//!
//! 2^16, 2^32 and 2^64 are all 1 modulo 65535. Words of any of these widths may therefore be added in any
//! order: if every carry out of the top is added back at the bottom (RFC 1071, section 2), the value modulo
//! 65535 stays the same. Such a sum is zero only if everything added was zero.

/// `a + b` with end-around carry.
#[inline(always)]
pub(crate) fn add(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    // After a carry the sum is at most 2^64 - 2, so this cannot overflow.
    sum.wrapping_add(u64::from(carry))
}

/// Adds the halves, with end-around carry.
#[inline(always)]
pub(crate) fn reduce(sum: u64) -> u32 {
    let (sum, carry) = (sum as u32).overflowing_add((sum >> 32) as u32);
    sum.wrapping_add(u32::from(carry))
}

/// Adds the 16-bit halves, twice, so that no carry remains: 0 only for 0.
pub(crate) const fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

/// `sum` plus the native-endian words of fewer than 8 bytes, which begin at an even distance from the start
/// of the message; an odd last byte is padded with a zero byte.
///
/// # Safety
/// `data` is valid for reads of `len` bytes, `len < 8`.
#[inline(always)]
pub(crate) unsafe fn add_below_8(sum: u64, data: *const u8, len: usize) -> u64 {
    debug_assert!(len < 8);
    let mut tail = 0_u64;
    // SAFETY: len & 4, len & 2 and len & 1 bytes are consecutive within the len bytes.
    unsafe {
        if len & 4 != 0 {
            tail += u64::from(data.cast::<u32>().read_unaligned());
        }
        if len & 2 != 0 {
            tail += u64::from(data.add(len & 4).cast::<u16>().read_unaligned());
        }
        if len & 1 != 0 {
            tail += u64::from(u16::from_ne_bytes([data.add(len & 6).read(), 0]));
        }
    }
    add(sum, tail)
}

/// `sum` plus the words of `len` bytes, eight bytes at a time: for the bytes after a kernel's loop.
///
/// # Safety
/// `data` is valid for reads of `len` bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn add_rest(mut sum: u64, mut data: *const u8, mut len: usize) -> u64 {
    while len >= 8 {
        // SAFETY: at least 8 bytes are left.
        unsafe {
            sum = add(sum, data.cast::<u64>().read_unaligned());
            data = data.add(8);
        }
        len = crate::edges::keep_loop(len - 8);
    }
    // SAFETY: len bytes are left, fewer than 8.
    unsafe { add_below_8(sum, data, len) }
}

/// Adds the 64-bit words at the given byte distances from `$data` to `$sum` (a `u64` variable), in one chain
/// of add-with-carry whose last carry is added back.
///
/// The caller's `unsafe` must ensure that each word is readable.
#[cfg(target_arch = "x86_64")]
macro_rules! adc_chain {
    ($sum:ident, $data:expr, $first:literal $(, $next:literal)*) => {
        core::arch::asm!(
            concat!("add {sum}, qword ptr [{data} + ", $first, "]"),
            $(concat!("adc {sum}, qword ptr [{data} + ", $next, "]"),)*
            "adc {sum}, 0",
            sum = inout(reg) $sum,
            data = in(reg) $data,
            options(pure, readonly, nostack)
        )
    };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use adc_chain;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_wrap_around() {
        assert_eq!(add(u64::MAX, 1), 1);
        assert_eq!(add(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(add(0, 0), 0);
        assert_eq!(reduce(0xffff_ffff_0000_0001), 1);
        assert_eq!(reduce(u64::MAX), u32::MAX);
        assert_eq!(reduce(1 << 32), 1);
    }

    #[test]
    fn tails_add_all_their_words() {
        let data = [0x01, 0x80, 0xff, 0xfe, 0x7f, 0x00, 0x90];
        for len in 0..=data.len() {
            let words = data[..len].chunks(2).map(|pair| match pair {
                [first, second] => u16::from_ne_bytes([*first, *second]),
                _ => u16::from_ne_bytes([pair[0], 0]),
            });
            let expected: u64 = words.map(u64::from).sum::<u64>() % 65535;
            // SAFETY: len bytes of the array.
            let sum = unsafe { add_below_8(0, data.as_ptr(), len) };
            assert_eq!(sum % 65535, expected, "{len}");
        }
    }
}
