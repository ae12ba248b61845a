//! Loops of 32-bit stores with a fixed step, as compiled before vector instructions, in assembly.

/// The body of a routine that zeroes by 32-bit stores, `$step` bytes per iteration: at each `$read` distance
/// a 32-bit word is read first, then one is stored at each `$at`. The bytes after the last whole step are
/// zeroed by overlapping stores.
///
/// The caller's `unsafe` must ensure that the bytes are writable and that `$step` is at most 64.
macro_rules! zero_by_32_bits {
    ($dst:expr, $len:expr, $step:literal, reads [$($read:literal),*], stores [$($at:literal),+]) => {{
        let (start, len): (*mut u8, usize) = ($dst, $len);
        let whole = len & !($step - 1);
        if whole > 0 {
            core::arch::asm!(
                // Uses the register operand even if nothing is read.
                "/* {read:e} */",
                "2:",
                $(concat!("mov {read:e}, dword ptr [{at} + ", $read, "]"),)*
                $(concat!("mov dword ptr [{at} + ", $at, "], {zero:e}"),)+
                concat!("add {at}, ", $step),
                concat!("sub {left}, ", $step),
                "jne 2b",
                at = inout(reg) start => _,
                left = inout(reg) whole => _,
                zero = in(reg) 0_u32,
                read = out(reg) _,
                options(nostack)
            );
        }
        $crate::edges::zero_below_64(start.add(whole), len - whole);
    }};
}
pub(crate) use zero_by_32_bits;
