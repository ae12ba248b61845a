//! The timing loop around a call, as part of the trace: arguments from preserved registers, a call through a
//! register, the use of the result, and a counter.

use crate::signature::Signature;
use crate::trace::{Registers, Trace, TraceStep};
use iced_x86::code_asm::{
    CodeAssembler, byte_ptr, eax, ebx, edx, r12, r12d, r13, r14, r15, rax, rbx, rdi, rdx, rsi,
};
use iced_x86::{IcedError, Register};

/// The dependency between consecutive calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// An argument of each call depends on the previous call's result, or on the last byte that it wrote.
    Chained,
    /// Calls do not depend on each other.
    Independent,
}

/// The address of the loop: line-aligned and far from all other code.
const AT: u64 = 0x10_0000;

/// True for the addresses of the loop, which occupies at most two lines.
pub(super) fn is_of_the_loop(address: u64) -> bool {
    (AT..AT + 128).contains(&address)
}

/// The trace of one iteration of the loop, with a call of `bytes` bytes.
///
/// # Errors
/// If the loop cannot be assembled, which does not occur for any input.
pub fn called(trace: &Trace, signature: &Signature, calls: Calls, bytes: usize) -> Result<Trace, IcedError> {
    let Some(first) = trace.steps.first().map(|step| step.registers) else { return Ok(trace.clone()) };
    let is_chained = calls == Calls::Chained;
    let mut code = CodeAssembler::new(64)?;
    // `rbx` holds the result of the previous call, or a zero derived from it.
    let is_sum = signature.chained == Some("sum");
    let mut start = code.create_label();
    code.set_label(&mut start)?;
    match (is_sum, is_chained) {
        (true, _) => {
            code.mov(rdi, r14)?;
            code.mov(rsi, r15)?;
            code.mov(edx, ebx)?;
        }
        (false, true) => {
            // Both addresses depend on the byte read after the previous call.
            code.lea(rdi, r14 + rbx)?;
            code.lea(rsi, r15 + rbx)?;
            code.mov(rdx, r15)?;
        }
        (false, false) => {
            code.mov(rdi, r14)?;
            code.mov(rsi, r15)?;
            code.mov(rdx, r15)?;
        }
    }
    code.call(r13)?;
    let before = code.instructions().len();
    match (is_sum, is_chained) {
        (true, true) => code.mov(ebx, eax)?,
        (true, false) => code.xor(r12d, eax)?,
        (false, true) => {
            code.movzx(ebx, byte_ptr(rax + rbx))?;
            code.and(ebx, r12d)?;
        }
        (false, false) => {}
    }
    code.dec(r12)?;
    code.jne(start)?;
    let assembled = code.assemble(AT)?;

    let mut registers: Registers = first;
    registers[Register::RAX.number()] = first[Register::RDI.number()].wrapping_add(bytes.max(1) as u64 - 1);
    registers[Register::RBX.number()] = 0;
    // Before the call, the return address is not on the stack.
    registers[Register::RSP.number()] = first[Register::RSP.number()].wrapping_add(8);
    let mut found = Trace { steps: Vec::new(), code: trace.code.clone(), is_cut: trace.is_cut };
    let decoder = iced_x86::Decoder::with_ip(64, &assembled, AT, iced_x86::DecoderOptions::NONE);
    let mut after = Vec::new();
    for (place, instruction) in decoder.into_iter().enumerate() {
        let begin = (instruction.ip() - AT) as usize;
        found.code.insert(instruction.ip(), assembled[begin..begin + instruction.len()].to_vec());
        let step = TraceStep { address: instruction.ip(), registers };
        if place < before { found.steps.push(step) } else { after.push(step) }
    }
    found.steps.extend(&trace.steps);
    found.steps.extend(after);
    Ok(found)
}
