//! Independent instructions of each class.

use crate::class::Class;
use iced_x86::code_asm::{CodeAssembler, dword_ptr, qword_ptr, registers::*, ymmword_ptr, zmmword_ptr};
use iced_x86::{IcedError, Instruction};

/// The classes that are timed: not [`Class::Nothing`], which takes no port, and not those with a
/// [broader](Class::broader) class, which represents them.
pub(super) fn classes() -> impl Iterator<Item = Class> {
    Class::ALL.iter().copied().filter(|class| *class != Class::Nothing && class.broader().is_none())
}

/// The `nth` instruction of a class, or a `nop` for one that is not timed: destinations alternate, so that no instruction depends on the previous
/// one.
pub(super) fn instruction(class: Class, nth: usize) -> Result<Instruction, IcedError> {
    let mut a = CodeAssembler::new(64)?;
    let general = [eax, edx, esi, edi, r8d, r9d, r11d, ebp][nth % 8];
    let y = [ymm1, ymm2, ymm3, ymm4, ymm5, ymm6, ymm7][nth % 7];
    let z = [zmm1, zmm2, zmm3, zmm4, zmm5, zmm6, zmm7][nth % 7];
    let k = [k1, k2, k3, k4, k5, k6][nth % 6];
    match class {
        // It does not read its destination, and clears the carry.
        Class::Alu => a.andn(general, r10d, r10d)?,
        Class::Carry => match nth % 5 {
            // One instruction in five overwrites the carry, so that the chains through it are short.
            0 => a.cmp(r10d, r10d)?,
            _ => a.adc(general, r10d)?,
        },
        // It preserves the flags: branches among the samples must not be taken.
        Class::Shift => a.shlx(general, r10d, r10d)?,
        Class::Lea => a.lea(general, r10 + 8)?,
        Class::Multiply => a.imul_3(general, r10d, 3)?,
        Class::BitCount => a.popcnt(general, r10d)?,
        // Never taken: no sample that it is mixed with sets the carry.
        Class::Branch => a.jb(0)?,
        Class::Load => a.mov(general, dword_ptr(r14))?,
        Class::VectorLoad => a.vmovdqu(y, ymmword_ptr(r14))?,
        Class::VectorLoad512 => a.vmovdqu64(z, zmmword_ptr(r14))?,
        Class::Store => a.mov(qword_ptr(r14 + 8 * (nth % 8)), r10)?,
        Class::VectorStore => a.vmovdqu(ymmword_ptr(r14 + 32 * (nth % 2)), ymm0)?,
        Class::VectorStore512 => a.vmovdqu64(zmmword_ptr(r14), zmm0)?,
        Class::Vector => a.vpaddd(y, ymm0, ymm0)?,
        Class::Vector512 => a.vpaddd(z, zmm0, zmm0)?,
        Class::VectorMultiply => a.vpmaddwd(y, ymm0, ymm0)?,
        Class::VectorMultiply512 => a.vpmaddwd(z, zmm0, zmm0)?,
        Class::Shuffle => a.vpunpcklbw(y, ymm0, ymm0)?,
        Class::Shuffle512 => a.vpunpcklbw(z, zmm0, zmm0)?,
        Class::Cross => a.vmovd(general, xmm0)?,
        Class::Mask => a.kandq(k, k7, k7)?,
        Class::AddConstant
        | Class::LeaConstant
        | Class::LeaIndexed
        | Class::VectorShift
        | Class::VectorShift512
        | Class::ShuffleInLane
        | Class::ShuffleInLane512
        | Class::FromVector
        | Class::Nothing => a.nop()?,
    }
    // Each arm has added one instruction.
    Ok(a.instructions()[0])
}
