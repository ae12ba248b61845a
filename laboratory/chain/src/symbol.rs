//! Symbolic values of registers: an unknown root plus a constant, followed through moves, additions of
//! constants and address arithmetic. Two memory operands with the same roots are a known distance apart, and
//! a register that comes around a loop with the root it had is an induction variable.

use crate::effects::{Effects, Location, Memory};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// An unknown that a symbolic value is relative to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Root {
    /// None: the value is a known constant.
    Zero,
    /// The initial value of a location.
    Input(Location),
    /// An output of an instruction: the step, and the location written.
    Output(usize, Location),
    /// A value where several paths merge: the number of the merge, and the location.
    Merge(usize, Location),
}

/// The sum of up to two roots and a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The root; the larger of two.
    root: Root,
    /// The second root; [`Root::Zero`] if there is none.
    other: Root,
    /// The constant.
    offset: i64,
}

impl Symbol {
    const fn of(root: Root, offset: i64) -> Symbol {
        Symbol { root, other: Root::Zero, offset }
    }

    /// The sum, unless it has more than two roots.
    fn plus(self, more: Symbol) -> Option<Symbol> {
        let mut roots = [self.root, self.other, more.root, more.other];
        roots.sort_unstable_by(|a, b| b.cmp(a));
        let [root, other, Root::Zero, Root::Zero] = roots else { return None };
        Some(Symbol { root, other, offset: self.offset.wrapping_add(more.offset) })
    }

    const fn moved(self, by: i64) -> Symbol {
        Symbol { offset: self.offset.wrapping_add(by), ..self }
    }

    /// The product with `scale`, if the value is a constant or the scale is 1.
    fn times(self, scale: u32) -> Option<Symbol> {
        match (scale, self.root) {
            (0 | 1, _) => Some(self),
            (_, Root::Zero) => Some(Symbol::of(Root::Zero, self.offset.wrapping_mul(i64::from(scale)))),
            _ => None,
        }
    }
}

/// A symbolic address: roots, the last of which may be scaled, and a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// `None` if the address has too many parts to be followed.
    base: Option<Symbol>,
    scaled: Root,
    scale: u32,
}

impl Address {
    /// A known address.
    #[must_use]
    pub fn absolute(address: u64) -> Address {
        Address { base: Some(Symbol::of(Root::Zero, address as i64)), scaled: Root::Zero, scale: 1 }
    }

    /// The distance from another address, if it is known.
    #[must_use]
    pub fn distance(&self, other: &Address) -> Option<i64> {
        let (a, b) = (self.base?, other.base?);
        let same = (a.root, a.other, self.scaled, self.scale) == (b.root, b.other, other.scaled, other.scale);
        same.then(|| a.offset.wrapping_sub(b.offset))
    }

    /// True if the address is relative to the stack pointer, or known to be in `stack`.
    #[must_use]
    pub fn is_on_stack(&self, stack: &std::ops::Range<u64>) -> bool {
        let Some(base) = self.base else { return false };
        let is_pointer = |root| root == Root::Input(Location::RSP);
        let is_known = base.root == Root::Zero && self.scaled == Root::Zero;
        is_pointer(base.root) || is_pointer(base.other) || is_known && stack.contains(&(base.offset as u64))
    }
}

/// The symbolic values of the general registers.
#[derive(Clone, Debug)]
pub struct Symbols {
    registers: [Symbol; 16],
}

impl Symbols {
    /// Every register holds its input.
    #[must_use]
    pub fn new() -> Symbols {
        let of = |index| Symbol::of(Root::Input(Location::at(index)), 0);
        Symbols { registers: std::array::from_fn(of) }
    }

    /// The symbolic value of a register in full.
    #[must_use]
    pub fn of(&self, register: Register) -> Symbol {
        match Location::of(register).filter(|_| register.is_gpr()) {
            Some(location) => self.registers[location.index()],
            None => Symbol::of(Root::Zero, 0),
        }
    }

    /// The address of a memory operand.
    #[must_use]
    pub fn place(&self, memory: &Memory) -> Address {
        let base = self.of(memory.base).moved(memory.displacement);
        let index = self.of(memory.index);
        match index.times(memory.scale) {
            Some(index) => Address { base: base.plus(index), scaled: Root::Zero, scale: 1 },
            None if index.other == Root::Zero => Address {
                base: Some(base.moved(index.offset.wrapping_mul(i64::from(memory.scale)))),
                scaled: index.root,
                scale: memory.scale,
            },
            None => Address { base: None, scaled: Root::Zero, scale: 1 },
        }
    }

    /// Applies an instruction; `step` is its index in execution order.
    pub fn step(&mut self, step: usize, instruction: &Instruction, effects: &Effects) {
        let new = self.computed(instruction, effects);
        for (location, _) in effects.outputs.iter().filter(|(location, _)| location.index() < 16) {
            self.registers[location.index()] = Symbol::of(Root::Output(step, *location), 0);
        }
        if let Some((location, symbol)) = new {
            self.registers[location.index()] = symbol;
        }
    }

    /// The output and its value, if that follows from known values.
    fn computed(&self, instruction: &Instruction, effects: &Effects) -> Option<(Location, Symbol)> {
        use Mnemonic as M;
        let moved = |by: i64| -> Option<(Location, Symbol)> {
            Some((Location::RSP, self.registers[Location::RSP.index()].moved(by)))
        };
        let to = (instruction.op_count() > 0 && instruction.op_kind(0) == OpKind::Register)
            .then(|| instruction.op_register(0));
        match instruction.mnemonic() {
            M::Push => return moved(-8),
            // A pop into the stack pointer replaces it.
            M::Pop if to != Some(Register::RSP) => return moved(8),
            M::Call => return moved(-8),
            M::Ret => return moved(8),
            _ => {}
        }
        let to = to.filter(|register| register.is_gpr())?;
        let location = Location::of(to)?;
        if effects.is_idiom {
            return Some((location, Symbol::of(Root::Zero, 0)));
        }
        let is_constant = instruction.op_count() == 2
            && !matches!(instruction.op_kind(1), OpKind::Register | OpKind::Memory);
        if instruction.mnemonic() == M::Mov && is_constant && to.size() >= 4 {
            let offset = instruction.immediate(1) as i64;
            let offset = if to.size() == 4 { offset & 0xffff_ffff } else { offset };
            return Some((location, Symbol::of(Root::Zero, offset)));
        }
        if to.size() != 8 {
            return None;
        }
        let old = self.registers[location.index()];
        let is_register = instruction.op_count() == 2
            && instruction.op_kind(1) == OpKind::Register
            && instruction.op_register(1).is_gpr64();
        let symbol = match instruction.mnemonic() {
            M::Mov if is_register => self.of(instruction.op_register(1)),
            M::Add if is_register => old.plus(self.of(instruction.op_register(1)))?,
            M::Add if is_constant => old.moved(instruction.immediate(1) as i64),
            M::Sub if is_constant => old.moved((instruction.immediate(1) as i64).wrapping_neg()),
            M::Inc => old.moved(1),
            M::Dec => old.moved(-1),
            M::Lea => {
                let index = self.of(instruction.memory_index()).times(instruction.memory_index_scale())?;
                let base = self.of(instruction.memory_base()).plus(index)?;
                base.moved(instruction.memory_displacement64() as i64)
            }
            _ => return None,
        };
        Some((location, symbol))
    }

    /// The values where several paths merge; `number` is different for every merge.
    #[must_use]
    pub fn merge(number: usize, states: &[&Symbols]) -> Symbols {
        let Some(first) = states.first() else { return Symbols::new() };
        let mut merged = (*first).clone();
        for (index, symbol) in merged.registers.iter_mut().enumerate() {
            if states.iter().any(|state| state.registers[index] != *symbol) {
                *symbol = Symbol::of(Root::Merge(number, Location::at(index)), 0);
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
