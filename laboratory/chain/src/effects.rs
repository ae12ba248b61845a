//! The inputs and outputs of an instruction: registers with their partial-register rules, individual flags,
//! masks and memory; and the instructions that depend on nothing.
//!
//! A location is what the CPU renames as a unit: a general register (in all widths), a vector register, a
//! mask register, or a flag. A 32-bit write replaces the whole register; an 8-bit or 16-bit write keeps the
//! rest of it and so depends on it. `ah`, `bh`, `ch` and `dh` are registers of their own where the
//! microarchitecture renames them.

use crate::form::{self, Form, Operand};
use crate::fusion;
use crate::latency::Port;
use crate::location::FLAGS;
pub use crate::location::Location;
use crate::table::{HighBytes, Table};
use iced_x86::{
    CpuidFeature, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

/// A memory operand with a symbolic address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// The base register.
    pub base: Register,
    /// The index register.
    pub index: Register,
    /// The factor of the index.
    pub scale: u32,
    /// The displacement.
    pub displacement: i64,
    /// Size in bytes; 0 if unknown.
    pub bytes: u64,
    /// True if it is read.
    pub is_read: bool,
    /// True if it is written.
    pub is_written: bool,
}

/// The effects of an instruction.
#[derive(Clone, Debug)]
pub struct Effects {
    /// The form, which determines the latencies.
    pub form: Form,
    /// The locations that it reads.
    pub inputs: Vec<(Location, Port)>,
    /// The locations that it writes.
    pub outputs: Vec<(Location, Port)>,
    /// Its memory operands.
    pub memory: Vec<Memory>,
    /// True if its result does not depend on its registers.
    pub is_idiom: bool,
    /// True for a move that register renaming can eliminate.
    pub is_move: bool,
    /// True if the conditional jump after it is fused with it: the pair takes one slot, and the jump does its work.
    pub is_fused: bool,
    /// True if its time depends on data in a way that is not modelled.
    pub is_not_modelled: bool,
}

/// What an instruction does to the stack with a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stack {
    /// It pushes it.
    Push,
    /// It pops it.
    Pop,
    /// Nothing, or something else.
    Other,
}

impl Effects {
    /// What it does to the stack.
    #[must_use]
    pub fn stack(&self) -> Stack {
        match (self.form.mnemonic, &self.form.operands[..]) {
            (Mnemonic::Push, [Operand::General(64)]) => Stack::Push,
            (Mnemonic::Pop, [Operand::General(64)]) => Stack::Pop,
            _ => Stack::Other,
        }
    }

    /// The latency of one of its paths, given that of the instruction alone: fused with a jump, it is executed, even where it
    /// otherwise costs nothing.
    pub(crate) fn cycles(&self, alone: f64) -> f64 {
        if self.is_fused { alone.max(1.0) } else { alone }
    }

    fn empty(instruction: &Instruction) -> Effects {
        Effects {
            form: Form::of(instruction),
            inputs: Vec::new(),
            outputs: Vec::new(),
            memory: Vec::new(),
            is_idiom: false,
            is_move: false,
            is_fused: false,
            is_not_modelled: false,
        }
    }
}

/// Determines effects by the rules of a microarchitecture.
pub struct Reader {
    factory: InstructionInfoFactory,
    high_bytes: HighBytes,
    calls_are_opaque: bool,
}

impl Reader {
    /// A reader with the given rule for high bytes.
    #[must_use]
    pub fn new(high_bytes: HighBytes) -> Reader {
        Reader { factory: InstructionInfoFactory::new(), high_bytes, calls_are_opaque: false }
    }

    /// Lets a call read all argument registers and overwrite all caller-saved registers. For code, in which
    /// callees are not followed; traces do follow them.
    #[must_use]
    pub fn calls_are_opaque(mut self) -> Reader {
        self.calls_are_opaque = true;
        self
    }

    /// The effects of a function's instructions, in the order of their addresses. Those that the table fuses with a jump are marked.
    #[must_use]
    pub fn read_all(mut self, instructions: &[Instruction], table: &Table) -> Vec<Effects> {
        let mut effects: Vec<Effects> =
            instructions.iter().map(|instruction| self.read(instruction)).collect();
        fusion::mark(instructions, &mut effects, table);
        effects
    }

    /// The effects of one instruction.
    pub fn read(&mut self, instruction: &Instruction) -> Effects {
        if instruction.mnemonic() == Mnemonic::Vzeroupper {
            // It changes only the state of the register file; the lower halves are kept.
            return Effects::empty(instruction);
        }
        let mut effects = Effects {
            is_idiom: is_idiom(instruction),
            is_move: is_eliminable_move(instruction),
            is_not_modelled: is_not_modelled(instruction),
            ..Effects::empty(instruction)
        };
        self.explicit(instruction, &mut effects);
        self.implicit(instruction, &mut effects);
        flags(instruction, &mut effects);
        let flow = instruction.flow_control();
        if self.calls_are_opaque && matches!(flow, FlowControl::Call | FlowControl::IndirectCall) {
            call(&mut effects);
        }
        if effects.is_idiom {
            effects.inputs.clear();
        }
        effects
    }

    fn explicit(&mut self, instruction: &Instruction, effects: &mut Effects) {
        let accesses: Vec<OpAccess> = {
            let info = self.factory.info(instruction);
            (0..instruction.op_count()).map(|operand| info.op_access(operand)).collect()
        };
        for (operand, access) in accesses.into_iter().enumerate() {
            let port = Port::Operand(operand as u8);
            match instruction.op_kind(operand as u32) {
                OpKind::Register => {
                    let register = instruction.op_register(operand as u32);
                    if reads(access) {
                        self.input(effects, register, port);
                    }
                    if writes(access) {
                        self.output(effects, register, port);
                    }
                }
                OpKind::Memory => {
                    for register in [instruction.memory_base(), instruction.memory_index()] {
                        self.input(effects, register, Port::Address);
                    }
                }
                _ => {}
            }
        }
    }

    /// Registers that the instruction uses implicitly, and all its memory operands.
    fn implicit(&mut self, instruction: &Instruction, effects: &mut Effects) {
        let info = self.factory.info(instruction);
        let registers: Vec<_> =
            info.used_registers().iter().map(|used| (used.register(), used.access())).collect();
        let memory: Vec<_> = info.used_memory().to_vec();
        let named: Vec<Option<Location>> = (0..instruction.op_count())
            .filter(|operand| instruction.op_kind(*operand) == OpKind::Register)
            .map(|operand| instruction.op_register(operand))
            .chain([instruction.memory_base(), instruction.memory_index()])
            .map(Location::of)
            .collect();
        for (register, access) in registers {
            if Location::of(register).is_none() || named.contains(&Location::of(register)) {
                continue;
            }
            let port = Port::Implicit(register.full_register());
            if reads(access) {
                self.input(effects, register, port);
            }
            if writes(access) {
                self.output(effects, register, port);
            }
        }
        for used in memory {
            let access = used.access();
            if !is_access(access) {
                continue;
            }
            for register in [used.base(), used.index()] {
                if !named.contains(&Location::of(register)) {
                    self.input(effects, register, Port::Address);
                }
            }
            effects.memory.push(Memory {
                base: used.base(),
                index: used.index(),
                scale: used.scale(),
                displacement: used.displacement() as i64,
                bytes: used.memory_size().size() as u64,
                is_read: reads(access),
                is_written: writes(access),
            });
        }
    }

    fn input(&self, effects: &mut Effects, register: Register, port: Port) {
        let Some(full) = Location::of(register) else { return };
        let high = Location::high(register).filter(|_| self.high_bytes == HighBytes::Renamed);
        let is_high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
        match high {
            Some(high) if is_high => effects.inputs.push((high, port)),
            // The low byte does not depend on the high one.
            Some(high) if register.size() > 1 => effects.inputs.extend([(full, port), (high, port)]),
            _ => effects.inputs.push((full, port)),
        }
    }

    fn output(&self, effects: &mut Effects, register: Register, port: Port) {
        let Some(full) = Location::of(register) else { return };
        let high = Location::high(register).filter(|_| self.high_bytes == HighBytes::Renamed);
        let is_high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
        let is_partial = register.is_gpr() && register.size() < 4;
        if let (Some(high), true) = (high, is_high) {
            effects.outputs.push((high, port));
            return;
        }
        // A partial write depends on the rest of the old value.
        if is_partial && !effects.inputs.contains(&(full, port)) {
            effects.inputs.push((full, port));
        }
        effects.outputs.push((full, port));
        if let (Some(high), true) = (high, register.size() > 1) {
            effects.outputs.push((high, port));
        }
    }
}

/// The registers that a callee may read and write (System V).
fn call(effects: &mut Effects) {
    use Register as R;
    for register in [R::RDI, R::RSI, R::RDX, R::RCX, R::R8, R::R9] {
        effects.inputs.extend(Location::of(register).map(|location| (location, Port::Implicit(register))));
    }
    let written = (0..Location::COUNT).map(Location::at).filter(|location| !location.is_callee_saved());
    effects.outputs.extend(written.map(|location| (location, Port::Implicit(R::RAX))));
}

fn flags(instruction: &Instruction, effects: &mut Effects) {
    let made = instruction.rflags_modified();
    let mut used = instruction.rflags_read();
    let is_by_count = (0..instruction.op_count())
        .any(|operand| form::Operand::of(instruction, operand) == form::Operand::Count);
    if is_by_count && form::is_shift(instruction.mnemonic()) {
        // A count of zero leaves the flags unchanged.
        used |= made;
    }
    for (bit, name) in FLAGS {
        let location = Location::of_flag(name);
        if used & bit != 0 {
            effects.inputs.push((location, Port::Flags));
        }
        if made & bit != 0 {
            effects.outputs.push((location, Port::Flags));
        }
    }
}

/// True if memory is accessed, which `lea` and hints do not do.
pub(crate) fn is_access(access: OpAccess) -> bool {
    reads(access) || writes(access)
}

fn reads(access: OpAccess) -> bool {
    // A conditional write otherwise keeps the old value.
    matches!(
        access,
        OpAccess::Read
            | OpAccess::CondRead
            | OpAccess::ReadWrite
            | OpAccess::ReadCondWrite
            | OpAccess::CondWrite
    )
}

fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

/// True for instructions that CPUs recognise as independent of their registers: zeroing by `xor`, `sub` and
/// their vector forms, all ones by comparing a register with itself.
fn is_idiom(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let register = |operand| match instruction.op_kind(operand) {
        OpKind::Register => instruction.op_register(operand),
        _ => Register::None,
    };
    let same = |a: u32, b: u32| register(a) != Register::None && register(a) == register(b);
    match instruction.mnemonic() {
        M::Xor | M::Sub => same(0, 1) && register(0).size() >= 4,
        M::Pxor
        | M::Xorps
        | M::Xorpd
        | M::Psubb
        | M::Psubw
        | M::Psubd
        | M::Psubq
        | M::Pcmpeqb
        | M::Pcmpeqw
        | M::Pcmpeqd
        | M::Pcmpeqq
        | M::Pcmpgtb
        | M::Pcmpgtw
        | M::Pcmpgtd => same(0, 1),
        M::Vpxor
        | M::Vpxord
        | M::Vpxorq
        | M::Vxorps
        | M::Vxorpd
        | M::Vpsubb
        | M::Vpsubw
        | M::Vpsubd
        | M::Vpsubq
        | M::Vpcmpeqb
        | M::Vpcmpeqw
        | M::Vpcmpeqd
        | M::Vpcmpeqq
        | M::Vpcmpgtb
        | M::Vpcmpgtw
        | M::Vpcmpgtd => {
            same(1, 2) && instruction.op_mask() == Register::None && register(0).is_vector_register()
        }
        _ => false,
    }
}

/// True for moves between two whole registers, which renaming can eliminate.
fn is_eliminable_move(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let between = instruction.op_count() == 2
        && instruction.op_kind(0) == OpKind::Register
        && instruction.op_kind(1) == OpKind::Register
        && instruction.op_register(0) != instruction.op_register(1)
        && instruction.op_mask() == Register::None;
    between
        && match instruction.mnemonic() {
            M::Mov => {
                let (to, from) = (instruction.op_register(0), instruction.op_register(1));
                to.size() >= 4 && to.is_gpr() && from.is_gpr()
            }
            M::Movdqa
            | M::Movdqu
            | M::Movaps
            | M::Movups
            | M::Movapd
            | M::Movupd
            | M::Vmovdqa
            | M::Vmovdqu
            | M::Vmovaps
            | M::Vmovups
            | M::Vmovapd
            | M::Vmovupd
            | M::Vmovdqa32
            | M::Vmovdqa64
            | M::Vmovdqu8
            | M::Vmovdqu16
            | M::Vmovdqu32
            | M::Vmovdqu64 => true,
            _ => false,
        }
}

/// True if the time depends on data or on the state of the machine: repeated string instructions, division,
/// system and x87 instructions, non-temporal stores, calls.
fn is_not_modelled(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    repeats && instruction.is_string_instruction()
        || matches!(
            instruction.mnemonic(),
            M::Div
                | M::Idiv
                | M::Cpuid
                | M::Rdtsc
                | M::Rdtscp
                | M::Syscall
                | M::Xgetbv
                | M::Mfence
                | M::Lfence
                | M::Sfence
                | M::Clzero
        )
        || form::is_non_temporal(instruction.mnemonic())
        || instruction.cpuid_features().contains(&CpuidFeature::FPU)
        || matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}
