//! x87 stores of a zero as 64 bits (`fst qword`), eight per iteration.
//!
//! In 32-bit code this was the widest store without vectors. The register stack is empty before and after, as
//! the ABI requires.

use crate::{Role, Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "x87_fstl",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "64-bit x87 stores, eight per iteration",
    provenance: "evans-2003, row zero7 (fstl)",
    ..Variant::PLAIN
};

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let whole = len & !63;
    // SAFETY: whole steps of 64 of the caller's bytes are stored to, and fewer than 64 remain. One x87
    // register is pushed and popped.
    unsafe {
        if whole > 0 {
            core::arch::asm!(
                "fldz",
                "2:",
                "fst qword ptr [{at}]",
                "fst qword ptr [{at} + 8]",
                "fst qword ptr [{at} + 16]",
                "fst qword ptr [{at} + 24]",
                "fst qword ptr [{at} + 32]",
                "fst qword ptr [{at} + 40]",
                "fst qword ptr [{at} + 48]",
                "fst qword ptr [{at} + 56]",
                "add {at}, 64",
                "sub {left}, 64",
                "jne 2b",
                "fstp st(0)",
                at = inout(reg) dst => _,
                left = inout(reg) whole => _,
            out("st(0)") _,
            out("st(1)") _,
            out("st(2)") _,
            out("st(3)") _,
            out("st(4)") _,
            out("st(5)") _,
            out("st(6)") _,
            out("st(7)") _,
                options(nostack)
            );
        }
        edges::zero_below_64(dst.add(whole), len - whole);
    }
}
