//! The trace of a call: every executed instruction, with the registers before it.
//!
//! Traces are recorded by single-stepping. The addresses of memory operands follow from the registers, so a
//! trace shows exactly which load reads which store.

use crate::decode::Function;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Register};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The general registers by number: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
pub type Registers = [u64; 16];

/// An executed instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceStep {
    /// Its address.
    pub address: u64,
    /// The registers before its execution.
    pub registers: Registers,
}

/// The trace of a call.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The executed instructions, in order; a repeated string instruction is one step.
    pub steps: Vec<TraceStep>,
    /// The 15 bytes at the address of each instruction.
    pub code: BTreeMap<u64, Vec<u8>>,
    /// True if the call continued after the last step.
    pub is_cut: bool,
}

/// The assumed size of a call's stack, in bytes.
const STACK_BYTES: u64 = 1 << 20;

impl Trace {
    /// The distinct instructions.
    #[must_use]
    pub fn function(&self) -> Function {
        let decode = |(address, bytes): (&u64, &Vec<u8>)| {
            Decoder::with_ip(64, bytes, *address, DecoderOptions::NONE).decode()
        };
        let entry = self.steps.first().map_or(0, |step| step.address);
        let instructions = self.code.iter().map(decode).filter(|found| !found.is_invalid()).collect();
        Function { entry, instructions, stops: Vec::new() }
    }

    /// The functions that the call entered by calls and indirect jumps: their offsets from the first
    /// instruction, each once, in order.
    #[must_use]
    pub fn entered(&self) -> Vec<i64> {
        let function = self.function();
        let is_transfer = |address: u64| {
            let flow = function.index_of(address).map(|index| function.instructions[index].flow_control());
            matches!(flow, Some(FlowControl::Call | FlowControl::IndirectCall | FlowControl::IndirectBranch))
        };
        let mut found = Vec::new();
        for pair in self.steps.windows(2).filter(|pair| is_transfer(pair[0].address)) {
            let to = function.offset(pair[1].address);
            if !found.contains(&to) {
                found.push(to);
            }
        }
        found
    }

    /// The address range of the stack.
    #[must_use]
    pub fn stack(&self) -> Range<u64> {
        let top = self.steps.first().map_or(0, |step| step.registers[Register::RSP.number()]);
        top.saturating_sub(STACK_BYTES)..top + 8
    }

    /// The addresses of an instruction's memory operands, in the order of its effects.
    #[must_use]
    pub fn addresses(&self, step: &TraceStep, instruction: &Instruction) -> Vec<u64> {
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(instruction);
        let value = |register: Register| {
            let full = register.full_register();
            full.is_gpr().then(|| step.registers[full.number()])
        };
        let used = info.used_memory().iter().filter(|used| crate::effects::is_access(used.access()));
        used.map(|used| used.virtual_address(0, |register, _, _| value(register).or(Some(0))).unwrap_or(0))
            .collect()
    }
}
