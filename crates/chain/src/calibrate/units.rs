//! What a dependent chain repeats: the instruction under test, and whatever leads from its output back to its input.
//!
//! A latency from one register to another of its kind needs nothing else: the output of one is the input of the next. Between
//! kinds (general, vector and mask registers, flags, an address, memory) the way back takes *closers*, whose own
//! latency is measured by themselves and taken off:
//!
//! | from -> to | closer | its latency |
//! | --- | --- | --- |
//! | general -> another general | `lea r, [r + zero]` | measured |
//! | general -> address | `and r, zero`; `or r, base` | measured |
//! | general -> flags | `cmp` | that of `add`, the unit: both come from one operation |
//! | flags -> general | `cmov` on a flag that the instruction writes | with `cmp` in a circle, less the unit |
//! | general <-> vector | `vmovq` | half of the round trip |
//! | general <-> mask | `kmovq` | half of the round trip |
//! | memory -> register | the plain load | 0: forwarding is charged to the store |
//! | register -> memory | the plain store | with that load in a circle |
//!
//! Only circles can be timed, so how a round trip is divided is a convention. It does not matter to a path from general
//! register to general register, which crosses every border as often in one direction as in the other.

use super::instance::{self, Filling};
use crate::effects::{Effects, Location, Reader};
use crate::form::Operand;
use crate::latency::{Key, Port};
use crate::table::HighBytes;
use iced_x86::{Code, FlowControl, Instruction, MemoryOperand, Register, RflagsBits};

/// General register of the chain, and the one that takes turns with it.
pub(super) const HUB: Register = Register::RBX;
const OTHER: Register = Register::RBP;
/// Always zero; the address of the buffer; always the same.
pub(super) const ZERO: Register = Register::R13;
pub(super) const BUFFER: Register = Register::R14;
pub(super) const CONSTANT: Register = Register::R10;
/// The loop counters: the first leaves flags alone, the second leaves `cl` alone.
pub(super) const COUNTER: Register = Register::RCX;
pub(super) const OTHER_COUNTER: Register = Register::R15;
/// Vector register between general ones and wide memory.
const CARRIER: Register = Register::ZMM3;
const BYSTANDERS: [Register; 4] = [Register::RSI, Register::RDI, Register::R8, Register::R9];
/// For forms with `ah` and its like, which cannot stand beside the newer registers.
const OLD_BYSTANDERS: [Register; 4] = [Register::RAX, Register::RDX, Register::RCX, Register::RAX];
/// What no instruction under test may write.
const RESERVED: [Register; 8] = [
    Register::RSP,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
    Register::RCX,
];

/// Something whose latency is known, or found out first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Closer {
    /// `lea r, [r + r]`.
    Lea,
    /// `and r, r`.
    And,
    /// `or r, r`.
    Or,
    /// `cmp r, r`, register to flags: the unit.
    Compare,
    /// `cmov` on such a flag, flags to register.
    Select(Flag),
    /// `vmovq`, either way.
    Vector,
    /// `kmovq`, either way.
    Mask,
    /// A plain store of so many bits from a general register.
    Store(u16),
    /// The same from a vector register.
    VectorStore(u16),
}

/// A flag that a conditional move can wait for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Flag {
    Carry,
    Overflow,
    Zero,
    Sign,
}

/// One link of a chain, and what is in it beside the latency in question.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub instructions: Vec<Instruction>,
    pub closers: Vec<Closer>,
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    General(Register),
    Vector(Register),
    Mask(Register),
    Flags,
    Address,
    Memory,
}

/// The link number `index` of the chain for a key.
///
/// # Errors
/// Why there is no such chain.
pub(super) fn unit(key: &Key, index: usize) -> Result<Unit, &'static str> {
    let draft = Draft::new(key)?;
    let (input, output) = draft.ends(index)?;
    let test = draft.instruction(input, output, index)?;
    let mut instructions = Vec::new();
    if draft.reads_flags && key.from != Port::Flags {
        // Flags that are always ready.
        instructions.push(create(Instruction::with2(Code::Cmp_rm64_r64, Register::R11, CONSTANT)));
    }
    instructions.push(test);
    let mut unit = Unit { instructions, closers: Vec::new() };
    if !draft.takes_turns {
        unit.close(output, input, &draft)?;
    }
    Ok(unit)
}

/// The circle that tells a closer's latency, and what else is in it.
pub(super) fn circle(closer: Closer) -> Option<Unit> {
    let instructions = match closer {
        Closer::Compare => return None,
        Closer::Lea => vec![lea(HUB, HUB)],
        Closer::And => vec![general(Code::And_rm64_r64, HUB, CONSTANT)],
        Closer::Or => vec![general(Code::Or_rm64_r64, HUB, CONSTANT)],
        Closer::Select(flag) => vec![compare(), select(flag)],
        Closer::Vector => vec![to_vector(HUB, Register::XMM0), from_vector(HUB, Register::XMM0)],
        Closer::Mask => vec![to_mask(HUB, Register::K1), from_mask(HUB, Register::K1)],
        Closer::Store(bits) => vec![store(HUB, bits)?, load(HUB, bits)?],
        Closer::VectorStore(bits) => {
            vec![vector_store(Register::ZMM0, bits)?, vector_load(Register::ZMM0, bits)?]
        }
    };
    let closers = if matches!(closer, Closer::Select(_)) { vec![Closer::Compare] } else { vec![] };
    Some(Unit { instructions, closers })
}

impl Closer {
    /// How many times its circle holds it.
    pub fn times(self) -> f64 {
        if matches!(self, Closer::Vector | Closer::Mask) { 2.0 } else { 1.0 }
    }
}

/// What is known of a key before registers are chosen.
struct Draft<'a> {
    key: &'a Key,
    /// The output is a register that the instruction also reads, and the input is another one of its kind: two registers
    /// take turns, so that the output's own dependence spans two links.
    takes_turns: bool,
    reads_flags: bool,
    flag: Option<Flag>,
    bits: u16,
}

impl<'a> Draft<'a> {
    fn new(key: &'a Key) -> Result<Draft<'a>, &'static str> {
        let form = &key.form;
        let filling = Filling {
            registers: (0..form.operands.len()).map(|index| bystander(key, index)).collect(),
            base: BUFFER,
            index: ZERO,
            mask: Register::K3,
        };
        let sample = instance::of(form, &filling).ok_or("no encoding has the registers of the chain")?;
        let effects = Reader::new(HighBytes::Merged).read(&sample);
        let reads = |port: Port| effects.inputs.iter().any(|(_, known)| *known == port);
        let takes_turns = match (key.from, key.to) {
            (Port::Operand(from), Port::Operand(to)) => {
                let counts = form.operands.contains(&Operand::Count);
                let kind_of = |index: u8| form.operands.get(usize::from(index)).map(|operand| kind(*operand));
                from != to && kind_of(from) == kind_of(to) && reads(key.to) && !counts
            }
            _ => false,
        };
        let written = sample.rflags_written();
        let flag = [
            (RflagsBits::CF, Flag::Carry),
            (RflagsBits::OF, Flag::Overflow),
            (RflagsBits::ZF, Flag::Zero),
            (RflagsBits::SF, Flag::Sign),
        ]
        .into_iter()
        .find(|(bit, _)| written & bit != 0)
        .map(|(_, flag)| flag);
        let bits = form.memory().map_or(0, |at| match form.operands[at] {
            Operand::Memory(bits) => bits,
            _ => 0,
        });
        Ok(Draft { key, takes_turns, reads_flags: reads(Port::Flags), flag, bits })
    }

    /// Where the chain enters and leaves the instruction.
    fn ends(&self, index: usize) -> Result<(Place, Place), &'static str> {
        let turn = self.takes_turns && index % 2 == 1;
        let input = self.place(self.key.from, !turn && self.takes_turns)?;
        let output = self.place(self.key.to, turn)?;
        match (self.key.from, self.key.to) {
            (Port::Flags, Port::Flags) if self.counts() => Err("the loop around it needs the flags"),
            (Port::Address, Port::Memory) => {
                Err("when a store's address is ready decides nothing about its value")
            }
            (_, Port::Address) => Err("an address is no result"),
            _ => Ok((input, output)),
        }
    }

    /// Where a port is, in one register of the chain or in the other.
    fn place(&self, port: Port, other: bool) -> Result<Place, &'static str> {
        Ok(match port {
            Port::Flags => Place::Flags,
            Port::Memory => Place::Memory,
            Port::Address if self.key.form.memory().is_none() => Place::General(HUB),
            Port::Address => Place::Address,
            Port::Implicit(register) if register.is_k() => Place::Mask(register),
            Port::Implicit(register @ (Register::RAX | Register::RDX)) => Place::General(register),
            Port::Implicit(_) => return Err("a register that the chain itself needs"),
            Port::Operand(index) => {
                let operand = self.key.form.operands.get(usize::from(index)).ok_or("no such operand")?;
                match kind(*operand) {
                    Some(Kind::General) if *operand == Operand::Count => Place::General(Register::RCX),
                    // The one register that both the count and the value can be.
                    Some(Kind::General) if self.from_count() => Place::General(Register::RCX),
                    Some(Kind::General) if other && self.is_old() => Place::General(Register::RDX),
                    Some(Kind::General) => Place::General(if other { OTHER } else { HUB }),
                    Some(Kind::Vector) => Place::Vector(if other { Register::ZMM1 } else { Register::ZMM0 }),
                    Some(Kind::Mask) => Place::Mask(if other { Register::K2 } else { Register::K1 }),
                    None => return Err("an operand that is neither register nor memory"),
                }
            }
        })
    }

    fn from_count(&self) -> bool {
        matches!(self.key.from, Port::Operand(index)
            if self.key.form.operands.get(usize::from(index)) == Some(&Operand::Count))
    }

    fn is_old(&self) -> bool {
        self.key.form.operands.contains(&Operand::HighByte)
    }

    /// The instruction under test with its registers.
    fn instruction(&self, input: Place, output: Place, index: usize) -> Result<Instruction, &'static str> {
        let form = &self.key.form;
        let mut registers: Vec<Register> =
            (0..form.operands.len()).map(|index| bystander(self.key, index)).collect();
        if self.key.from == Port::Flags && self.key.to == Port::Flags {
            // What it writes beside the flags must not be a chain of its own.
            if form.operands.first().is_some_and(|first| matches!(first, Operand::General(_))) {
                registers[0] = BYSTANDERS[index % BYSTANDERS.len()];
                for register in registers.iter_mut().skip(1) {
                    *register = CONSTANT;
                }
            }
        }
        for (port, place) in [(self.key.to, output), (self.key.from, input)] {
            if let (Port::Operand(at), Place::General(r) | Place::Vector(r) | Place::Mask(r)) = (port, place)
            {
                registers[usize::from(at)] = r;
            }
        }
        let mask = match self.key.from {
            Port::Implicit(register) if register.is_k() => register,
            _ => Register::K3,
        };
        let base = if self.key.from == Port::Address { HUB } else { BUFFER };
        let filling = Filling { registers, base, index: ZERO, mask };
        let test = instance::of(form, &filling).ok_or("no encoding has the registers of the chain")?;
        self.check(&test)?;
        Ok(test)
    }

    /// Refuses what would run away with the chain's own registers or touch foreign memory.
    fn check(&self, test: &Instruction) -> Result<(), &'static str> {
        let effects: Effects = Reader::new(HighBytes::Merged).read(test);
        if effects.is_not_modelled || test.flow_control() != FlowControl::Next {
            return Err("its time depends on more than its inputs");
        }
        if effects.is_idiom {
            return Err("with these registers it waits for nothing");
        }
        let writes = |register: Register| {
            effects.outputs.iter().any(|(location, _)| Some(*location) == Location::of(register))
        };
        let own = if self.counts() { OTHER_COUNTER } else { COUNTER };
        if RESERVED.iter().any(|register| writes(*register) && (*register != COUNTER || own == COUNTER)) {
            return Err("it writes a register that the chain itself needs");
        }
        let foreign = |memory: &crate::effects::Memory| {
            !matches!(memory.base, BUFFER | HUB)
                || memory.index != Register::None
                || memory.displacement != 0
                || memory.bytes > 64
        };
        if effects.memory.iter().any(foreign) {
            return Err("it reaches memory in a way of its own");
        }
        Ok(())
    }

    /// True if `cl` is taken, so that the loop must count in another register.
    pub fn counts(&self) -> bool {
        needs_cl(self.key)
    }
}

/// True if the chain for this key cannot count its turns in `rcx`.
pub(super) fn needs_cl(key: &Key) -> bool {
    key.form.operands.iter().any(|operand| matches!(operand, Operand::Count | Operand::HighByte))
}

impl Unit {
    /// Adds what leads from the output back to the input.
    fn close(&mut self, output: Place, input: Place, draft: &Draft<'_>) -> Result<(), &'static str> {
        use Place as P;
        let bits = draft.bits;
        let unwieldy = "memory of a width that no plain load and store has";
        match (output, input) {
            (from, to) if from == to && !matches!(to, P::Address) => Ok(()),
            (P::General(from), P::General(to)) => {
                self.add(lea(to, from), Closer::Lea);
                Ok(())
            }
            (P::Memory, P::Vector(to)) => {
                self.instructions.push(vector_load(to, bits).ok_or(unwieldy)?);
                Ok(())
            }
            (P::Memory, to) => {
                let (load, loaded) = match load(HUB, bits) {
                    Some(load) => (load, P::General(HUB)),
                    None => (vector_load(CARRIER, bits).ok_or(unwieldy)?, P::Vector(CARRIER)),
                };
                self.instructions.push(load);
                self.close(loaded, to, draft)
            }
            (P::Vector(from), P::Memory) => {
                self.add(vector_store(from, bits).ok_or(unwieldy)?, Closer::VectorStore(bits));
                Ok(())
            }
            (P::General(from), P::Memory) => match store(from, bits) {
                Some(store) => {
                    self.add(store, Closer::Store(bits));
                    Ok(())
                }
                None => {
                    self.add(to_vector(from, xmm(CARRIER)), Closer::Vector);
                    self.close(P::Vector(CARRIER), P::Memory, draft)
                }
            },
            (P::General(from), to) if from != HUB => {
                self.add(lea(HUB, from), Closer::Lea);
                self.close(P::General(HUB), to, draft)
            }
            (P::General(_), P::Flags) => {
                self.add(compare(), Closer::Compare);
                Ok(())
            }
            (P::General(_), P::Address) => {
                self.add(general(Code::And_rm64_r64, HUB, ZERO), Closer::And);
                self.add(general(Code::Or_rm64_r64, HUB, BUFFER), Closer::Or);
                Ok(())
            }
            (P::General(_), P::Vector(to)) => {
                self.add(to_vector(HUB, xmm(to)), Closer::Vector);
                Ok(())
            }
            (P::General(_), P::Mask(to)) => {
                self.add(to_mask(HUB, to), Closer::Mask);
                Ok(())
            }
            (P::Vector(from), to) => {
                self.add(from_vector(HUB, xmm(from)), Closer::Vector);
                self.close(P::General(HUB), to, draft)
            }
            (P::Mask(from), to) => {
                self.add(from_mask(HUB, from), Closer::Mask);
                self.close(P::General(HUB), to, draft)
            }
            (P::Flags, to) => {
                let flag = draft.flag.ok_or("it writes no flag that can be waited for")?;
                self.add(select(flag), Closer::Select(flag));
                self.close(P::General(HUB), to, draft)
            }
            (P::Address, _) => Err("an address is no result"),
        }
    }

    fn add(&mut self, instruction: Instruction, closer: Closer) {
        self.instructions.push(instruction);
        self.closers.push(closer);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    General,
    Vector,
    Mask,
}

fn kind(operand: Operand) -> Option<Kind> {
    match operand {
        Operand::General(_) | Operand::HighByte | Operand::Count => Some(Kind::General),
        Operand::Vector(_) => Some(Kind::Vector),
        Operand::Mask => Some(Kind::Mask),
        _ => None,
    }
}

/// A register for an operand that is not in the chain.
fn bystander(key: &Key, index: usize) -> Register {
    let is_old = key.form.operands.contains(&Operand::HighByte);
    let place = index % 4;
    match key.form.operands.get(index).and_then(|operand| kind(*operand)) {
        Some(Kind::Vector) => Register::ZMM4 + place as u32,
        Some(Kind::Mask) => Register::K4 + place as u32,
        _ if is_old => OLD_BYSTANDERS[place],
        _ => BYSTANDERS[place],
    }
}

// Closers, written with codes that every encoder accepts for the registers used here.

fn create(instruction: Result<Instruction, iced_x86::IcedError>) -> Instruction {
    // An invalid one does not assemble, and its chain is then left out with the assembler's reason.
    instruction.unwrap_or_default()
}

fn general(code: Code, to: Register, from: Register) -> Instruction {
    create(Instruction::with2(code, to, from))
}

fn lea(to: Register, from: Register) -> Instruction {
    create(Instruction::with2(Code::Lea_r64_m, to, MemoryOperand::with_base_index(from, ZERO)))
}

fn compare() -> Instruction {
    general(Code::Cmp_rm64_r64, HUB, Register::R11)
}

fn select(flag: Flag) -> Instruction {
    let code = match flag {
        Flag::Carry => Code::Cmovb_r64_rm64,
        Flag::Overflow => Code::Cmovo_r64_rm64,
        Flag::Zero => Code::Cmove_r64_rm64,
        Flag::Sign => Code::Cmovs_r64_rm64,
    };
    general(code, HUB, CONSTANT)
}

fn has_avx() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        true
    }
}

fn xmm(full: Register) -> Register {
    Register::XMM0 + full.number() as u32
}

fn to_vector(from: Register, to: Register) -> Instruction {
    general(if has_avx() { Code::VEX_Vmovq_xmm_rm64 } else { Code::Movq_xmm_rm64 }, to, from)
}

fn from_vector(to: Register, from: Register) -> Instruction {
    general(if has_avx() { Code::VEX_Vmovq_rm64_xmm } else { Code::Movq_rm64_xmm }, to, from)
}

fn to_mask(from: Register, to: Register) -> Instruction {
    general(Code::VEX_Kmovq_kr_r64, to, from)
}

fn from_mask(to: Register, from: Register) -> Instruction {
    general(Code::VEX_Kmovq_r64_kr, to, from)
}

fn buffer() -> MemoryOperand {
    MemoryOperand::with_base(BUFFER)
}

/// The plain load of so many bits into a whole general register.
fn load(to: Register, bits: u16) -> Option<Instruction> {
    let low = Register::EAX + to.number() as u32;
    let (code, to) = match bits {
        8 => (Code::Movzx_r32_rm8, low),
        16 => (Code::Movzx_r32_rm16, low),
        32 => (Code::Mov_r32_rm32, low),
        64 => (Code::Mov_r64_rm64, to),
        _ => return None,
    };
    Instruction::with2(code, to, buffer()).ok()
}

/// The plain store of so many bits of a general register.
fn store(from: Register, bits: u16) -> Option<Instruction> {
    let number = from.number() as u32;
    let low = if number < 4 { Register::AL + number } else { Register::SPL + (number - 4) };
    let (code, from) = match bits {
        8 => (Code::Mov_rm8_r8, low),
        16 => (Code::Mov_rm16_r16, Register::AX + number),
        32 => (Code::Mov_rm32_r32, Register::EAX + number),
        64 => (Code::Mov_rm64_r64, from),
        _ => return None,
    };
    Instruction::with2(code, buffer(), from).ok()
}

fn vector_load(to: Register, bits: u16) -> Option<Instruction> {
    let number = to.number() as u32;
    let (x, avx) = (Register::XMM0 + number, has_avx());
    let (code, to) = match bits {
        32 => (if avx { Code::VEX_Vmovd_xmm_rm32 } else { Code::Movd_xmm_rm32 }, x),
        64 => (if avx { Code::VEX_Vmovq_xmm_xmmm64 } else { Code::Movq_xmm_xmmm64 }, x),
        128 => (if avx { Code::VEX_Vmovdqu_xmm_xmmm128 } else { Code::Movdqu_xmm_xmmm128 }, x),
        256 => (Code::VEX_Vmovdqu_ymm_ymmm256, Register::YMM0 + number),
        512 => (Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512, to),
        _ => return None,
    };
    Instruction::with2(code, to, buffer()).ok()
}

fn vector_store(from: Register, bits: u16) -> Option<Instruction> {
    let number = from.number() as u32;
    let (x, avx) = (Register::XMM0 + number, has_avx());
    let (code, from) = match bits {
        32 => (if avx { Code::VEX_Vmovd_rm32_xmm } else { Code::Movd_rm32_xmm }, x),
        64 => (if avx { Code::VEX_Vmovq_xmmm64_xmm } else { Code::Movq_xmmm64_xmm }, x),
        128 => (if avx { Code::VEX_Vmovdqu_xmmm128_xmm } else { Code::Movdqu_xmmm128_xmm }, x),
        256 => (Code::VEX_Vmovdqu_ymmm256_ymm, Register::YMM0 + number),
        512 => (Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm, from),
        _ => return None,
    };
    Instruction::with2(code, buffer(), from).ok()
}
