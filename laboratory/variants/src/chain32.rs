//! 32-bit add-with-carry chains, the building block of the checksum routines of the nineties.

/// Adds the 32-bit words at the given byte distances from `$data` to `$sum` (a `u32` variable), in one chain
/// of add-with-carry whose last carry is added back. A byte at each `touch` distance is read first and not
/// used.
///
/// The caller's `unsafe` must ensure that each is readable.
macro_rules! adc32_chain {
    ($sum:ident, $data:expr, touch [$($touch:literal),*], $first:literal $(, $next:literal)*) => {
        core::arch::asm!(
            // Uses the register operand even if nothing is touched.
            "/* {touched:e} */",
            $(concat!("mov {touched:l}, byte ptr [{data} + ", $touch, "]"),)*
            concat!("add {sum:e}, dword ptr [{data} + ", $first, "]"),
            $(concat!("adc {sum:e}, dword ptr [{data} + ", $next, "]"),)*
            "adc {sum:e}, 0",
            sum = inout(reg) $sum,
            touched = out(reg_abcd) _,
            data = in(reg) $data,
            options(readonly, nostack)
        )
    };
}
pub(crate) use adc32_chain;

/// `a + b` with end-around carry.
#[inline(always)]
pub(crate) fn add32(a: u32, b: u32) -> u32 {
    let (sum, carry) = a.overflowing_add(b);
    // After a carry the sum is at most 2^32 - 2, so this cannot overflow.
    sum.wrapping_add(u32::from(carry))
}

/// The remainder of a message whose first bytes have been summed.
pub(crate) struct Rest {
    /// The sum so far.
    pub sum: u32,
    /// The start of the remainder.
    pub at: *const u8,
    /// Its bytes.
    pub left: usize,
    /// Whether the sum was rotated by eight bits, and must be rotated back at the end.
    pub rotated: bool,
}

/// Adds the bytes before the first multiple of `align` (a power of two, at least 4). An odd first byte
/// rotates the sum by eight bits.
///
/// # Safety
/// `data` is valid for reads of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn add_head(mut sum: u32, data: *const u8, len: usize, align: usize) -> Rest {
    let (mut at, mut left) = (data, len);
    let rotated = at as usize & 1 != 0 && left >= 1;
    // SAFETY: at + left is always the end of the len bytes; each word is read only if that many bytes are
    // left, the 16-bit one at a multiple of 2.
    unsafe {
        if rotated {
            sum = add32(sum.rotate_left(8), u32::from(u16::from_ne_bytes([0, at.read()])));
            at = at.add(1);
            left -= 1;
        }
        if at as usize & 2 != 0 && left >= 2 {
            sum = add32(sum, at.cast::<u16>().read().into());
            at = at.add(2);
            left -= 2;
        }
        while at as usize & (align - 1) != 0 && left >= 4 {
            sum = add32(sum, at.cast::<u32>().read_unaligned());
            at = at.add(4);
            left = crate::edges::keep_loop(left - 4);
        }
    }
    Rest { sum, at, left, rotated }
}

/// Adds the last bytes of a message: words of 32 bits, then of 16, then a byte.
///
/// # Safety
/// `data` is valid for reads of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn add_tail(mut sum: u32, data: *const u8, len: usize) -> u32 {
    let (mut at, mut left) = (data, len);
    // SAFETY: each word is read only if that many bytes are left.
    unsafe {
        while left >= 4 {
            sum = add32(sum, at.cast::<u32>().read_unaligned());
            at = at.add(4);
            left = crate::edges::keep_loop(left - 4);
        }
        if left & 2 != 0 {
            sum = add32(sum, at.cast::<u16>().read_unaligned().into());
            at = at.add(2);
        }
        if left & 1 != 0 {
            sum = add32(sum, u16::from_ne_bytes([at.read(), 0]).into());
        }
    }
    sum
}
