//! x87 stores of 64 bits, one per iteration, with the x87 state saved before and restored after.
//!
//! A kernel must save the state because it belongs to the user. This costs hundreds of cycles, which 4 KB do
//! not repay: it is the second slowest of its table. Fewer than 256 bytes use `rep stosl`, as in the
//! original.

use crate::{Role, Routine, Variant, edges};

/// See the module.
pub static VARIANT: Variant = Variant {
    name: "i586_bzero",
    routine: Routine::Zero(run),
    role: Role::Historical,
    summary: "64-bit x87 stores between fnsave and frstor",
    provenance: "evans-2003, row zeroC (i586_bzero)",
    ..Variant::PLAIN
};

const LEAST: usize = 256;

/// The bytes that `fnsave` writes.
#[repr(C, align(16))]
struct State([u8; 108]);

/// # Safety
/// See [the family](super).
unsafe extern "C" fn run(dst: *mut u8, len: usize) {
    let head = if len < LEAST { len } else { edges::bytes_to_boundary(dst, 8, len) };
    let whole = (len - head) & !7;
    let mut state = State([0; 108]);
    // SAFETY: head bytes by words and bytes, then whole words of 64 bits, then fewer than 8 bytes, all the
    // caller's; upwards, because DF is clear by the ABI. fnsave stores 108 bytes and leaves an empty stack
    // with the default control word; frstor restores the saved state.
    unsafe {
        core::arch::asm!(
            "rep stosd",
            "mov rcx, {rest}",
            "rep stosb",
            rest = in(reg) head & 3,
            inout("rcx") head / 4 => _,
            inout("rdi") dst => _,
            in("eax") 0_u32,
            options(nostack, preserves_flags)
        );
        if whole > 0 {
            core::arch::asm!(
                "fnsave [{state}]",
                "fldz",
                "2:",
                "fst qword ptr [{at}]",
                "add {at}, 8",
                "sub {left}, 8",
                "cmp {left}, 8",
                "jae 2b",
                "fstp st(0)",
                "frstor [{state}]",
                state = in(reg) &raw mut state,
                at = inout(reg) dst.add(head) => _,
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
        edges::zero_below_16(dst.add(head + whole), len - head - whole);
    }
}
