//! Assembles the function that runs a chain: `uint64_t chain(void *buffer, uint64_t iterations)`.
//!
//! The buffer's address stays in a register and all other registers start with fixed small numbers, so the
//! function returns the same result in every call with the same buffer. It preserves the registers of its
//! caller and leaves no upper vector state behind.

use super::closers::{BUFFER, BUFFER_AGAIN, CONSTANT, COUNTER, HUB, OTHER_COUNTER, ZERO};
use super::units::{self, Unit};
use iced_x86::code_asm::{CodeAssembler, qword_ptr, registers::*};
use iced_x86::{Code, IcedError, Instruction, Mnemonic, Register};

/// Links per iteration: many, so that the loop's own branch does not matter, and an even number, because some
/// links alternate.
pub(super) const LINKS: usize = 32;

/// The machine's features that the prologue and epilogue depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub has_avx: bool,
    pub has_masks: bool,
}

/// The machine code of a loop over the instructions.
///
/// # Errors
/// The assembler's reason for refusing an instruction.
pub(super) fn assemble(
    instructions: &[Instruction],
    counts_elsewhere: bool,
    width: Width,
) -> Result<Vec<u8>, IcedError> {
    let mut a = CodeAssembler::new(64)?;
    for register in [rbx, rbp, r12, r13, r14, r15] {
        a.push(register)?;
    }
    a.mov(r14, rdi)?;
    a.mov(r12, rdi)?;
    a.mov(rcx, rsi)?;
    a.mov(r15, rsi)?;
    if counts_elsewhere {
        a.mov(ecx, 3)?;
    }
    a.xor(r13d, r13d)?;
    // Some shifts treat a count of zero specially, so the chain starts with another number unless it is an
    // address.
    match instructions.iter().any(|instruction| instruction.memory_base() == HUB && !is_lea(instruction)) {
        true => a.mov(rbx, r14)?,
        false => a.mov(ebx, 3)?,
    }
    a.mov(ebp, 3)?;
    for (register, value) in
        [(eax, 3), (edx, 5), (esi, 1), (edi, 2), (r8d, 3), (r9d, 4), (r10d, 5), (r11d, 7)]
    {
        a.mov(register, value)?;
    }
    for number in 0..8 {
        let xmm = Register::XMM0 + number;
        let code = match width.has_avx {
            true => Instruction::with3(Code::VEX_Vpxor_xmm_xmm_xmmm128, xmm, xmm, xmm)?,
            false => Instruction::with2(Code::Pxor_xmm_xmmm128, xmm, xmm)?,
        };
        a.add_instruction(code)?;
    }
    if width.has_avx {
        a.vzeroupper()?;
    }
    if width.has_masks {
        for mask in [k1, k2, k3, k4, k5, k6, k7] {
            a.kxnorq(mask, mask, mask)?;
        }
    }
    let (mut top, mut done) = (a.create_label(), a.create_label());
    a.set_label(&mut top)?;
    for instruction in instructions {
        a.add_instruction(*instruction)?;
    }
    if counts_elsewhere {
        a.dec(r15)?;
        a.jnz(top)?;
    } else {
        // Preserves the flags: chains through them continue in the next iteration.
        a.lea(rcx, rcx - 1)?;
        a.jrcxz(done)?;
        a.jmp(top)?;
    }
    a.set_label(&mut done)?;
    a.lea(rax, rbx + rbp)?;
    a.xor(rax, qword_ptr(r14))?;
    if width.has_avx {
        a.vzeroupper()?;
    }
    for register in [r15, r14, r13, r12, rbp, rbx] {
        a.pop(register)?;
    }
    a.ret()?;
    debug_assert_eq!(
        [HUB, ZERO, BUFFER, BUFFER_AGAIN, CONSTANT, COUNTER, OTHER_COUNTER],
        [rbx, r13, r14, r12, r10, rcx, r15].map(Into::into)
    );
    a.assemble(0)
}

fn is_lea(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Lea
}

/// The links of a key's chain.
///
/// # Errors
/// The reason there is no such chain.
pub(super) fn links(key: &crate::latency::Key) -> Result<Vec<Unit>, &'static str> {
    (0..LINKS).map(|index| units::unit(key, index)).collect()
}
