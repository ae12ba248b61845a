//! What one call executed, instruction by instruction, with the registers before each.
//! It is made by single-stepping a routine; the addresses of memory operands follow from the registers, so a trace
//! knows exactly which load reads which store.

use crate::decode::Function;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Register};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The general registers in the order of their numbers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
pub type Registers = [u64; 16];

/// One executed instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceStep {
    /// Its address.
    pub address: u64,
    /// The registers before it.
    pub registers: Registers,
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// Its instructions, in order.
    pub steps: Vec<TraceStep>,
    /// The bytes from each address on, 15 of them.
    pub code: BTreeMap<u64, Vec<u8>>,
    /// True if the call went on after the last step.
    pub is_cut: bool,
}

/// How far a call's stack may reach.
const STACK_BYTES: u64 = 1 << 20;

impl Trace {
    /// The instructions, each once. A repeated string instruction, which stops after each repetition, is one step.
    #[must_use]
    pub fn function(&self) -> Function {
        let decode = |(address, bytes): (&u64, &Vec<u8>)| {
            Decoder::with_ip(64, bytes, *address, DecoderOptions::NONE).decode()
        };
        let entry = self.steps.first().map_or(0, |step| step.address);
        let instructions = self.code.iter().map(decode).filter(|found| !found.is_invalid()).collect();
        Function { entry, instructions, stops: Vec::new() }
    }

    /// The functions that the call entered by calls and indirect jumps, relative to its first instruction, each
    /// once, in order.
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

    /// The addresses that belong to the stack.
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
