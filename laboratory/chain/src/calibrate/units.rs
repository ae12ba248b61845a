//! The links of a dependent chain: the instruction under test, and the closers that lead from its output back
//! to its input.
//!
//! If input and output are registers of the same kind, the instruction alone is a link. Both are then the
//! same register or, if the output is also read, two registers alternate, so that the output's own dependency
//! spans two links. In other cases, [closers] follow. An instruction that also reads flags gets flags that are
//! always ready.

use super::closers::{self, BUFFER, BUFFER_AGAIN, CONSTANT, COUNTER, Closer, Flag, HUB, OTHER_COUNTER, ZERO};
use super::instance::{self, Filling};
use crate::effects::{Effects, Location, Reader};
use crate::form::Operand;
use crate::latency::{Key, Port};
use crate::table::HighBytes;
use iced_x86::{Code, FlowControl, Instruction, Register, RflagsBits};

/// The general register that alternates with the chain's.
const OTHER: Register = Register::RBP;
/// The vector register between general registers and wide memory.
const CARRIER: Register = Register::ZMM3;
/// Registers outside the chain.
const BYSTANDERS: [Register; 4] = [Register::RSI, Register::RDI, Register::R8, Register::R9];
/// The same for forms with a high byte (`ah` and others), which cannot be combined with the newer registers.
const OLD_BYSTANDERS: [Register; 4] = [Register::RAX, Register::RDX, Register::RCX, Register::RAX];
/// Registers that the instruction under test must not write.
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

/// A link of a chain, and its closers.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub instructions: Vec<Instruction>,
    pub closers: Vec<Closer>,
}

/// The location of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Storage {
    General(Register),
    Vector(Register),
    Mask(Register),
    Flags,
    Address,
    Memory,
}

/// Link number `index` of a key's chain.
///
/// # Errors
/// The reason there is no such chain.
pub(super) fn unit(key: &Key, index: usize) -> Result<Unit, &'static str> {
    let draft = Draft::new(key)?;
    let (input, output) = draft.ends(index)?;
    let test = draft.instruction(input, output, index)?;
    let mut instructions = Vec::new();
    if draft.reads_flags && key.from != Port::Flags {
        // Makes the flags independent of the chain.
        instructions.push(closers::create(Instruction::with2(Code::Cmp_rm64_r64, Register::R11, CONSTANT)));
    }
    instructions.push(test);
    let mut unit = Unit { instructions, closers: Vec::new() };
    if !draft.alternates {
        unit.close(output, input, &draft)?;
    }
    Ok(unit)
}

/// The properties of a key before registers are chosen.
struct Draft<'a> {
    key: &'a Key,
    /// True if the output is a register that the instruction also reads, and the input is another register of
    /// its kind: two registers alternate, so that the output's own dependency spans two links.
    alternates: bool,
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
        let alternates = match (key.from, key.to) {
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
        Ok(Draft { key, alternates, reads_flags: reads(Port::Flags), flag, bits })
    }

    /// The locations of the chain's input and output.
    fn ends(&self, index: usize) -> Result<(Storage, Storage), &'static str> {
        let turn = self.alternates && index % 2 == 1;
        let input = self.place(self.key.from, !turn && self.alternates)?;
        let output = self.place(self.key.to, turn)?;
        match (self.key.from, self.key.to) {
            (Port::Flags, Port::Flags) if self.counts() => Err("the timing loop needs the flags"),
            (Port::Address, Port::Memory) => {
                Err("the time at which a store's address is ready does not affect its value")
            }
            (_, Port::Address) => Err("an address is not a result"),
            _ => Ok((input, output)),
        }
    }

    /// The location of a port, in the chain's first or other register.
    fn place(&self, port: Port, other: bool) -> Result<Storage, &'static str> {
        Ok(match port {
            Port::Flags => Storage::Flags,
            Port::Memory => Storage::Memory,
            Port::Address if self.key.form.memory().is_none() => Storage::General(HUB),
            Port::Address => Storage::Address,
            Port::Implicit(register) if register.is_k() => Storage::Mask(register),
            Port::Implicit(register @ (Register::RAX | Register::RDX)) => Storage::General(register),
            Port::Implicit(_) => return Err("it uses a register that the chain needs"),
            Port::Operand(index) => {
                let operand = self.key.form.operands.get(usize::from(index)).ok_or("no such operand")?;
                match kind(*operand) {
                    Some(RegisterKind::General) if *operand == Operand::Count => {
                        Storage::General(Register::RCX)
                    }
                    // The only register that can be both the count and the value.
                    Some(RegisterKind::General) if self.waits_for_count() => Storage::General(Register::RCX),
                    Some(RegisterKind::General) if other && self.is_old() => Storage::General(Register::RDX),
                    Some(RegisterKind::General) => Storage::General(if other { OTHER } else { HUB }),
                    Some(RegisterKind::Vector) => {
                        Storage::Vector(if other { Register::ZMM1 } else { Register::ZMM0 })
                    }
                    Some(RegisterKind::Mask) => {
                        Storage::Mask(if other { Register::K2 } else { Register::K1 })
                    }
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
    fn instruction(
        &self,
        input: Storage,
        output: Storage,
        index: usize,
    ) -> Result<Instruction, &'static str> {
        let form = &self.key.form;
        let mut registers: Vec<Register> =
            (0..form.operands.len()).map(|index| bystander(self.key, index)).collect();
        if self.key.from == Port::Flags && self.key.to == Port::Flags {
            // Its other outputs must not form a chain.
            if form.operands.first().is_some_and(|first| matches!(first, Operand::General(_))) {
                registers[0] = BYSTANDERS[index % BYSTANDERS.len()];
                for register in registers.iter_mut().skip(1) {
                    *register = CONSTANT;
                }
            }
        }
        for (port, place) in [(self.key.to, output), (self.key.from, input)] {
            if let (Port::Operand(at), Storage::General(r) | Storage::Vector(r) | Storage::Mask(r)) =
                (port, place)
            {
                registers[usize::from(at)] = r;
            }
        }
        let mask = match self.key.from {
            Port::Implicit(register) if register.is_k() => register,
            _ => Register::K3,
        };
        // If only the instruction itself stores and loads, the base registers alternate.
        let alone = (input, output) == (Storage::Memory, Storage::Memory) && index % 2 == 1;
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

    /// Rejects instructions that overwrite the chain's registers or access memory outside the buffer.
    fn check(&self, test: &Instruction) -> Result<(), &'static str> {
        let effects: Effects = Reader::new(HighBytes::Merged).read(test);
        if effects.is_not_modelled || test.flow_control() != FlowControl::Next {
            return Err("its time depends on more than its inputs");
        }
        if self.key.form.mnemonic_name().contains("movnt") {
            return Err("non-temporal stores are not forwarded");
        }
        if effects.is_idiom {
            return Err("with these registers it is an idiom and has no inputs");
        }
        let writes = |register: Register| {
            effects.outputs.iter().any(|(location, _)| Some(*location) == Location::of(register))
        };
        let own = if self.counts() { OTHER_COUNTER } else { COUNTER };
        if RESERVED.iter().any(|register| writes(*register) && (*register != COUNTER || own == COUNTER)) {
            return Err("it writes a register that the chain needs");
        }
        let foreign = |memory: &crate::effects::Memory| {
            !matches!(memory.base, BUFFER | BUFFER_AGAIN | HUB)
                || memory.index != Register::None
                || memory.displacement != 0
                || memory.bytes > 64
        };
        if effects.memory.iter().any(foreign) {
            return Err("it accesses memory outside the buffer");
        }
        if self.key.from == Port::Address && effects.memory.iter().any(|memory| memory.is_written) {
            return Err("its own stored value, not its address, is the bottleneck");
        }
        Ok(())
    }

    /// True if `cl` is used, so that the loop must count in another register.
    pub fn counts(&self) -> bool {
        needs_cl(self.key)
    }
}

/// True if the loop of this key's chain cannot count in `rcx`.
pub(super) fn needs_cl(key: &Key) -> bool {
    key.form.operands.iter().any(|operand| matches!(operand, Operand::Count | Operand::HighByte))
}

impl Unit {
    /// Adds the closers from the output back to the input.
    fn close(&mut self, output: Storage, input: Storage, draft: &Draft<'_>) -> Result<(), &'static str> {
        use Storage as S;
        let bits = draft.bits;
        let unwieldy = "memory of a width that no plain load and store has";
        match (output, input) {
            (from, to) if from == to && !matches!(to, S::Address) => {}
            (S::General(from), S::General(to)) => self.add(closers::lea(to, from), Closer::Lea),
            (S::Memory, S::Vector(to)) if closers::vector_load(to, bits).is_some() => {
                self.instructions.extend(closers::vector_load(to, bits));
            }
            (S::Memory, to) => {
                let (load, loaded) = match closers::load(HUB, bits) {
                    Some(load) => (load, S::General(HUB)),
                    None => (closers::vector_load(CARRIER, bits).ok_or(unwieldy)?, S::Vector(CARRIER)),
                };
                self.instructions.push(load);
                self.close(loaded, to, draft)?;
            }
            (S::Vector(from), S::Memory) => match closers::vector_store(from, bits) {
                Some(store) => self.add(store, Closer::VectorStore(bits)),
                None => {
                    self.add(closers::from_vector(HUB, closers::xmm(from)), Closer::Vector);
                    self.add(closers::store(HUB, bits).ok_or(unwieldy)?, Closer::Store(bits));
                }
            },
            (S::General(from), S::Memory) => match closers::store(from, bits) {
                Some(store) => self.add(store, Closer::Store(bits)),
                None => {
                    self.add(closers::to_vector(from, closers::xmm(CARRIER)), Closer::Vector);
                    self.close(S::Vector(CARRIER), S::Memory, draft)?;
                }
            },
            (S::General(from), to) if from != HUB => {
                self.add(closers::lea(HUB, from), Closer::Lea);
                self.close(S::General(HUB), to, draft)?;
            }
            (S::General(_), S::Flags) => self.add(closers::compare(), Closer::Compare),
            (S::General(_), S::Address) => {
                self.add(closers::general(Code::And_rm64_r64, HUB, ZERO), Closer::And);
                self.add(closers::general(Code::Or_rm64_r64, HUB, BUFFER), Closer::Or);
            }
            (S::General(_), S::Vector(to)) => {
                self.add(closers::to_vector(HUB, closers::xmm(to)), Closer::Vector);
            }
            (S::General(_), S::Mask(to)) => self.add(closers::to_mask(HUB, to), Closer::Mask),
            (S::Vector(from), to) => {
                self.add(closers::from_vector(HUB, closers::xmm(from)), Closer::Vector);
                self.close(S::General(HUB), to, draft)?;
            }
            (S::Mask(from), to) => {
                self.add(closers::from_mask(HUB, from), Closer::Mask);
                self.close(S::General(HUB), to, draft)?;
            }
            (S::Flags, to) => {
                let flag = draft.flag.ok_or("it writes no flag that `cmov` can read")?;
                self.add(closers::select(flag), Closer::Select(flag));
                self.close(S::General(HUB), to, draft)?;
            }
            (S::Address, _) => return Err("an address is not a result"),
        }
        Ok(())
    }

    fn add(&mut self, instruction: Instruction, closer: Closer) {
        self.instructions.push(instruction);
        self.closers.push(closer);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegisterKind {
    General,
    Vector,
    Mask,
}

fn kind(operand: Operand) -> Option<RegisterKind> {
    match operand {
        Operand::General(_) | Operand::HighByte | Operand::Count => Some(RegisterKind::General),
        Operand::Vector(_) => Some(RegisterKind::Vector),
        Operand::Mask => Some(RegisterKind::Mask),
        _ => None,
    }
}

/// The register of an operand outside the chain.
fn bystander(key: &Key, index: usize) -> Register {
    let is_old = key.form.operands.contains(&Operand::HighByte);
    let place = index % 4;
    match key.form.operands.get(index).and_then(|operand| kind(*operand)) {
        Some(RegisterKind::Vector) => Register::ZMM4 + place as u32,
        Some(RegisterKind::Mask) => Register::K4 + place as u32,
        _ if is_old => OLD_BYSTANDERS[place],
        _ => BYSTANDERS[place],
    }
}
