//! 32-bit add-with-carry over stated words: what the checksum routines of the nineties are made of.

/// Adds the 32-bit words at the given byte distances from `$data` onto `$sum` (a `u32` variable), in one chain of
/// add-with-carry whose last carry is added back. A byte at each `touch` distance is read first, and not used.
///
/// Each must be readable: the caller's `unsafe` says so.
macro_rules! adc32_chain {
    ($sum:ident, $data:expr, touch [$($touch:literal),*], $first:literal $(, $next:literal)*) => {
        core::arch::asm!(
            // Names the register where nothing is touched.
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

/// The sum with the first `bytes` (fewer than `align`) of the message added that lie before a multiple of `align`; an
/// odd first byte turns the sum by eight bits, and then it must be turned back at the end.
///
/// Returns the sum, the bytes taken and whether it was turned.
///
/// # Safety
/// `data` is valid for reads of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn add_head(mut sum: u32, data: *const u8, len: usize, align: usize) -> (u32, usize, bool) {
    let odd = data as usize & 1 != 0 && len > 0;
    let mut taken = 0;
    // SAFETY: each word is read only where its bytes are among the len, at an address that is a multiple of its size.
    unsafe {
        if odd {
            sum = add32(sum.rotate_left(8), u32::from(u16::from_ne_bytes([0, data.read()])));
            taken = 1;
        }
        if data.add(taken) as usize & 2 & (align - 1) != 0 && len - taken >= 2 {
            sum = add32(sum, data.add(taken).cast::<u16>().read().into());
            taken += 2;
        }
        while data.add(taken) as usize & (align - 1) != 0
            && len - taken >= 4
            && (taken ^ data as usize) & 1 == 0
        {
            sum = add32(sum, data.add(taken).cast::<u32>().read_unaligned());
            taken = crate::edges::keep_loop(taken + 4);
        }
    }
    (sum, taken, odd)
}

/// The sum with the last fewer than 32 bytes of a message added: words of 32 bits, then of 16, then a byte.
///
/// # Safety
/// `data` is valid for reads of `len` bytes.
#[inline(always)]
pub(crate) unsafe fn add_tail(mut sum: u32, data: *const u8, len: usize) -> u32 {
    let mut at = 0;
    // SAFETY: each word is read only where its bytes are among the len.
    unsafe {
        while len - at >= 4 {
            sum = add32(sum, data.add(at).cast::<u32>().read_unaligned());
            at = crate::edges::keep_loop(at + 4);
        }
        if len & 2 != 0 {
            sum = add32(sum, data.add(at).cast::<u16>().read_unaligned().into());
            at += 2;
        }
        if len & 1 != 0 {
            sum = add32(sum, u16::from_ne_bytes([data.add(at).read(), 0]).into());
        }
    }
    sum
}
