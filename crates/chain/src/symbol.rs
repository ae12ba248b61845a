//! Registers as numbers: an unknown value plus a constant, as far as moves, additions of constants and address
//! arithmetic can be followed. Two memory operands whose registers have the same roots are at a known distance, and a
//! register that comes round a loop with its own root is an induction variable.

use crate::effects::{Effects, Location, Memory};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// What a register's value is counted from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Root {
    /// Nothing: the value is known.
    Zero,
    /// What a location held at the beginning.
    Input(Location),
    /// What an instruction gave: its place in the order of steps, and the location written.
    Made(usize, Location),
    /// What was found where several paths met: which meeting, and the location.
    Met(usize, Location),
}

/// A root plus a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// What it is counted from.
    pub root: Root,
    /// What is added.
    pub offset: i64,
}

/// An address: up to two roots, and a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    base: Root,
    index: Root,
    scale: u32,
    offset: i64,
}

impl Place {
    /// A known address.
    #[must_use]
    pub fn absolute(address: u64) -> Place {
        Place { base: Root::Zero, index: Root::Zero, scale: 1, offset: address as i64 }
    }

    /// How far this lies behind another, where that is known.
    #[must_use]
    pub fn distance(&self, other: &Place) -> Option<i64> {
        let same = self.base == other.base && self.index == other.index && self.scale == other.scale;
        same.then(|| self.offset.wrapping_sub(other.offset))
    }

    /// True if it is counted from the stack pointer, or known to lie in `stack`.
    #[must_use]
    pub fn is_on_stack(&self, stack: &std::ops::Range<u64>) -> bool {
        let is_known = self.base == Root::Zero && self.index == Root::Zero;
        let is_pointer = |root| root == Root::Input(Location::RSP);
        is_pointer(self.base) || is_pointer(self.index) || is_known && stack.contains(&(self.offset as u64))
    }
}

/// What is known of the general registers.
#[derive(Clone, Debug)]
pub struct Symbols {
    registers: [Symbol; 16],
}

impl Symbols {
    /// Every register is an input.
    #[must_use]
    pub fn new() -> Symbols {
        let of = |index| Symbol { root: Root::Input(Location::at(index)), offset: 0 };
        Symbols { registers: std::array::from_fn(of) }
    }

    /// The value of a register, in full.
    #[must_use]
    pub fn of(&self, register: Register) -> Symbol {
        match Location::of(register).filter(|_| register.is_gpr()) {
            Some(location) => self.registers[location.index()],
            None => Symbol { root: Root::Zero, offset: 0 },
        }
    }

    /// The value at one of the general registers' locations.
    #[must_use]
    pub fn at(&self, location: Location) -> Option<Symbol> {
        self.registers.get(location.index()).copied()
    }

    /// The address of a memory operand.
    #[must_use]
    pub fn place(&self, memory: &Memory) -> Place {
        let (mut base, mut index) = (self.of(memory.base), self.of(memory.index));
        let scale = if index.root == Root::Zero { 1 } else { memory.scale.max(1) };
        let offset = base.offset.wrapping_add(index.offset.wrapping_mul(i64::from(memory.scale)));
        // Two operands without a scale may stand either way round; a known part comes last.
        if scale == 1 && base.root < index.root {
            std::mem::swap(&mut base, &mut index);
        }
        Place { base: base.root, index: index.root, scale, offset: offset.wrapping_add(memory.displacement) }
    }

    /// What an instruction makes of them; `step` is its place in the order of all steps.
    pub fn step(&mut self, step: usize, instruction: &Instruction, effects: &Effects) {
        let new = self.computed(instruction, effects);
        for (location, _) in effects.outputs.iter().filter(|(location, _)| location.index() < 16) {
            self.registers[location.index()] = Symbol { root: Root::Made(step, *location), offset: 0 };
        }
        if let Some((location, symbol)) = new {
            self.registers[location.index()] = symbol;
        }
    }

    /// The outputs whose value follows from known ones.
    fn computed(&self, instruction: &Instruction, effects: &Effects) -> Option<(Location, Symbol)> {
        use Mnemonic as M;
        let moved = |by: i64| -> Option<(Location, Symbol)> {
            let old = self.registers[Location::RSP.index()];
            Some((Location::RSP, Symbol { offset: old.offset.wrapping_add(by), ..old }))
        };
        let to = (instruction.op_count() > 0 && instruction.op_kind(0) == OpKind::Register)
            .then(|| instruction.op_register(0));
        match instruction.mnemonic() {
            M::Push => return moved(-8),
            // A pop of the stack pointer itself is nobody's.
            M::Pop if to != Some(Register::RSP) => return moved(8),
            M::Call => return moved(-8),
            M::Ret => return moved(8),
            _ => {}
        }
        let to = to.filter(|register| register.is_gpr())?;
        let location = Location::of(to)?;
        if effects.is_idiom {
            return Some((location, Symbol { root: Root::Zero, offset: 0 }));
        }
        let is_constant = instruction.op_count() == 2
            && !matches!(instruction.op_kind(1), OpKind::Register | OpKind::Memory);
        if instruction.mnemonic() == M::Mov && is_constant && to.size() >= 4 {
            let offset = instruction.immediate(1) as i64;
            let offset = if to.size() == 4 { offset & 0xffff_ffff } else { offset };
            return Some((location, Symbol { root: Root::Zero, offset }));
        }
        if to.size() != 8 {
            return None;
        }
        let old = self.registers[location.index()];
        let plus = |by: i64| Symbol { offset: old.offset.wrapping_add(by), ..old };
        let symbol = match instruction.mnemonic() {
            M::Mov if instruction.op_kind(1) == OpKind::Register && instruction.op_register(1).is_gpr() => {
                self.of(instruction.op_register(1))
            }
            M::Add if is_constant => plus(instruction.immediate(1) as i64),
            M::Sub if is_constant => plus((instruction.immediate(1) as i64).wrapping_neg()),
            M::Inc => plus(1),
            M::Dec => plus(-1),
            M::Lea => {
                let place = self.place(&Memory {
                    base: instruction.memory_base(),
                    index: instruction.memory_index(),
                    scale: instruction.memory_index_scale(),
                    displacement: instruction.memory_displacement64() as i64,
                    bytes: 0,
                    is_read: false,
                    is_written: false,
                });
                // One root at most is left, unscaled.
                match (place.base, place.index) {
                    (root, Root::Zero) | (Root::Zero, root) if place.scale == 1 => {
                        Symbol { root, offset: place.offset }
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((location, symbol))
    }

    /// What is known where several paths meet; `place` is another one for every meeting.
    #[must_use]
    pub fn merge(place: usize, states: &[&Symbols]) -> Symbols {
        let Some(first) = states.first() else { return Symbols::new() };
        let mut merged = (*first).clone();
        for (index, symbol) in merged.registers.iter_mut().enumerate() {
            if states.iter().any(|state| state.registers[index] != *symbol) {
                *symbol = Symbol { root: Root::Met(place, Location::at(index)), offset: 0 };
            }
        }
        merged
    }
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols::new()
    }
}
