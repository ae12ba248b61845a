//! What a dependent chain repeats: the instruction under test, and whatever leads from its output back to its input.
//!
//! Where both are registers of one kind, the instruction alone is the link: both operands are one register, or, where the
//! output is also read, two registers take turns, so that the output's own dependence spans two links. Else
//! [closers](super::closers) follow it. An instruction that reads flags which are not in question gets flags that are always
//! ready.

use super::closers::{self, BUFFER, BUFFER_AGAIN, CONSTANT, COUNTER, Closer, Flag, HUB, OTHER_COUNTER, ZERO};
use super::instance::{self, Filling};
use crate::effects::{Effects, Location, Reader};
use crate::form::Operand;
use crate::latency::{Key, Port};
use crate::table::HighBytes;
use iced_x86::{Code, FlowControl, Instruction, Register, RflagsBits};

/// General register that takes turns with the chain's.
const OTHER: Register = Register::RBP;
/// Vector register between general ones and wide memory.
const CARRIER: Register = Register::ZMM3;
const BYSTANDERS: [Register; 4] = [Register::RSI, Register::RDI, Register::R8, Register::R9];
/// For forms with `ah` and its like, which cannot be used together with the newer registers.
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
        instructions.push(closers::create(Instruction::with2(Code::Cmp_rm64_r64, Register::R11, CONSTANT)));
    }
    instructions.push(test);
    let mut unit = Unit { instructions, closers: Vec::new() };
    if !draft.takes_turns {
        unit.close(output, input, &draft)?;
    }
    Ok(unit)
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
                    Some(Kind::General) if self.waits_for_count() => Place::General(Register::RCX),
                    Some(Kind::General) if other && self.is_old() => Place::General(Register::RDX),
                    Some(Kind::General) => Place::General(if other { OTHER } else { HUB }),
                    Some(Kind::Vector) => Place::Vector(if other { Register::ZMM1 } else { Register::ZMM0 }),
                    Some(Kind::Mask) => Place::Mask(if other { Register::K2 } else { Register::K1 }),
                    None => return Err("an operand that is neither register nor memory"),
                }
            }
        })
    }

    fn waits_for_count(&self) -> bool {
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
        // Where nothing but the instruction itself stores and loads, the registers take turns.
        let alone = (input, output) == (Place::Memory, Place::Memory) && index % 2 == 1;
        let base = match (self.key.from, alone) {
            (Port::Address, _) => HUB,
            (_, true) => BUFFER_AGAIN,
            (_, false) => BUFFER,
        };
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
        if self.key.form.mnemonic_name().contains("movnt") {
            return Err("what bypasses the caches is not forwarded");
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
            !matches!(memory.base, BUFFER | BUFFER_AGAIN | HUB)
                || memory.index != Register::None
                || memory.displacement != 0
                || memory.bytes > 64
        };
        if effects.memory.iter().any(foreign) {
            return Err("it reaches memory in a way of its own");
        }
        if self.key.from == Port::Address && effects.memory.iter().any(|memory| memory.is_written) {
            return Err("what it stored itself reaches it before its address does");
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
                self.add(closers::lea(to, from), Closer::Lea);
                Ok(())
            }
            (P::Memory, P::Vector(to)) if closers::vector_load(to, bits).is_some() => {
                self.instructions.extend(closers::vector_load(to, bits));
                Ok(())
            }
            (P::Memory, to) => {
                let (load, loaded) = match closers::load(HUB, bits) {
                    Some(load) => (load, P::General(HUB)),
                    None => (closers::vector_load(CARRIER, bits).ok_or(unwieldy)?, P::Vector(CARRIER)),
                };
                self.instructions.push(load);
                self.close(loaded, to, draft)
            }
            (P::Vector(from), P::Memory) => match closers::vector_store(from, bits) {
                Some(store) => {
                    self.add(store, Closer::VectorStore(bits));
                    Ok(())
                }
                None => {
                    self.add(closers::from_vector(HUB, closers::xmm(from)), Closer::Vector);
                    self.add(closers::store(HUB, bits).ok_or(unwieldy)?, Closer::Store(bits));
                    Ok(())
                }
            },
            (P::General(from), P::Memory) => match closers::store(from, bits) {
                Some(store) => {
                    self.add(store, Closer::Store(bits));
                    Ok(())
                }
                None => {
                    self.add(closers::to_vector(from, closers::xmm(CARRIER)), Closer::Vector);
                    self.close(P::Vector(CARRIER), P::Memory, draft)
                }
            },
            (P::General(from), to) if from != HUB => {
                self.add(closers::lea(HUB, from), Closer::Lea);
                self.close(P::General(HUB), to, draft)
            }
            (P::General(_), P::Flags) => {
                self.add(closers::compare(), Closer::Compare);
                Ok(())
            }
            (P::General(_), P::Address) => {
                self.add(closers::general(Code::And_rm64_r64, HUB, ZERO), Closer::And);
                self.add(closers::general(Code::Or_rm64_r64, HUB, BUFFER), Closer::Or);
                Ok(())
            }
            (P::General(_), P::Vector(to)) => {
                self.add(closers::to_vector(HUB, closers::xmm(to)), Closer::Vector);
                Ok(())
            }
            (P::General(_), P::Mask(to)) => {
                self.add(closers::to_mask(HUB, to), Closer::Mask);
                Ok(())
            }
            (P::Vector(from), to) => {
                self.add(closers::from_vector(HUB, closers::xmm(from)), Closer::Vector);
                self.close(P::General(HUB), to, draft)
            }
            (P::Mask(from), to) => {
                self.add(closers::from_mask(HUB, from), Closer::Mask);
                self.close(P::General(HUB), to, draft)
            }
            (P::Flags, to) => {
                let flag = draft.flag.ok_or("it writes no flag that can be waited for")?;
                self.add(closers::select(flag), Closer::Select(flag));
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
