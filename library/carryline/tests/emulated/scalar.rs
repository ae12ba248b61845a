//! Instructions on general registers, and jumps.

use crate::machine::{Machine, narrowed};
use iced_x86::{ConditionCode, Instruction, Mnemonic as M};

impl Machine {
    /// Executes the instruction if it is a scalar one.
    pub fn execute(&mut self, instruction: &Instruction) -> bool {
        let operands = instruction.op_count();
        let last = operands.saturating_sub(1);
        let bits = if operands == 0 { 0 } else { 8 * Machine::size(instruction, 0) as u32 };
        // Of a size below 64, shifts use five bits of the count.
        let count_mask = if bits == 64 { 63 } else { 31 };
        match instruction.mnemonic() {
            M::Nop | M::Endbr64 | M::Sfence | M::Vzeroupper => {}
            M::Prefetcht0 | M::Prefetcht1 | M::Prefetchnta => {}
            M::Mov | M::Movzx | M::Kmovq => self.write(instruction, 0, self.read(instruction, 1)),
            M::Lea => self.write(instruction, 0, self.address(instruction, 1)),
            M::Add => self.add(instruction, 0, false),
            M::Adc => self.add(instruction, 0, self.carry),
            M::Inc => self.step(instruction, 1),
            M::Dec => self.step(instruction, u64::MAX),
            M::Cmp => {
                _ = self.subtract(instruction, self.read(instruction, 0), self.read(instruction, 1), false)
            }
            M::Sub | M::Sbb => {
                let borrow = instruction.mnemonic() == M::Sbb && self.carry;
                let difference =
                    self.subtract(instruction, self.read(instruction, 0), self.read(instruction, 1), borrow);
                self.write(instruction, 0, difference);
            }
            M::Neg => {
                let difference = self.subtract(instruction, 0, self.read(instruction, 0), false);
                self.write(instruction, 0, difference);
            }
            M::Not => self.write(instruction, 0, !self.read(instruction, 0)),
            M::And | M::Or | M::Xor | M::Test => {
                let (left, right) = (self.read(instruction, 0), self.read(instruction, 1));
                let value = match instruction.mnemonic() {
                    M::Or => left | right,
                    M::Xor => left ^ right,
                    _ => left & right,
                };
                self.flags_of(value, bits);
                (self.carry, self.overflow) = (false, false);
                if instruction.mnemonic() != M::Test {
                    self.write(instruction, 0, value);
                }
            }
            M::Shl | M::Shr | M::Rol => {
                let (value, count) =
                    (self.read(instruction, 0), self.read(instruction, 1) as u32 & count_mask);
                let shifted = match instruction.mnemonic() {
                    M::Shl => narrowed(value << count, bits as usize / 8),
                    M::Shr => value >> count,
                    _ if bits == 64 => value.rotate_left(count),
                    _ if bits == 32 => u64::from((value as u32).rotate_left(count)),
                    _ => u64::from((value as u16).rotate_left(count)),
                };
                if count > 0 && instruction.mnemonic() != M::Rol {
                    self.flags_of(shifted, bits);
                    self.carry = match instruction.mnemonic() {
                        M::Shl => value >> (bits - count) & 1 != 0,
                        _ => value >> (count - 1) & 1 != 0,
                    };
                }
                self.write(instruction, 0, shifted);
            }
            M::Shlx | M::Shrx => {
                let (value, count) =
                    (self.read(instruction, 1), self.read(instruction, 2) as u32 & count_mask);
                let left = instruction.mnemonic() == M::Shlx;
                self.write(instruction, 0, if left { value << count } else { value >> count });
            }
            M::Rorx => {
                let (value, count) =
                    (self.read(instruction, 1), u32::from(instruction.immediate8()) & count_mask);
                let rotated = if bits == 64 {
                    value.rotate_right(count)
                } else {
                    (value as u32).rotate_right(count).into()
                };
                self.write(instruction, 0, rotated);
            }
            M::Andn => {
                let value = !self.read(instruction, 1) & self.read(instruction, 2);
                self.flags_of(value, bits);
                (self.carry, self.overflow) = (false, false);
                self.write(instruction, 0, value);
            }
            M::Bzhi => {
                let (value, from) = (self.read(instruction, 1), self.read(instruction, 2) as u8);
                let kept = if u32::from(from) < bits { value & ((1 << from) - 1) } else { value };
                self.flags_of(kept, bits);
                self.write(instruction, 0, kept);
            }
            M::Imul if operands > 1 => {
                let left = self.read(instruction, last - 1);
                self.write(instruction, 0, left.wrapping_mul(self.read(instruction, last)));
            }
            M::Mul => {
                let size = bits / 8;
                let left = narrowed(self.general[0], size as usize);
                let product = u128::from(left) * u128::from(self.read(instruction, 0));
                let (low, high) = (product as u64, (product >> bits) as u64);
                (self.general[0], self.general[2]) = (narrowed(low, size as usize), high);
                (self.carry, self.overflow) = (high != 0, high != 0);
            }
            M::Push => {
                let value = self.read(instruction, 0);
                self.push(value);
            }
            M::Pop => {
                let value = self.pop();
                self.write(instruction, 0, value);
            }
            M::Ret => self.next = self.pop(),
            M::Jmp | M::Call => {
                if instruction.mnemonic() == M::Call {
                    self.push(self.next);
                }
                self.next = match instruction.near_branch_target() {
                    0 => self.read(instruction, 0),
                    target => target,
                };
            }
            _ => return self.execute_conditional(instruction),
        }
        true
    }

    /// Jumps, moves and sets on a condition.
    fn execute_conditional(&mut self, instruction: &Instruction) -> bool {
        let holds = match instruction.condition_code() {
            ConditionCode::None => return false,
            ConditionCode::o => self.overflow,
            ConditionCode::no => !self.overflow,
            ConditionCode::b => self.carry,
            ConditionCode::ae => !self.carry,
            ConditionCode::e => self.zero,
            ConditionCode::ne => !self.zero,
            ConditionCode::be => self.carry || self.zero,
            ConditionCode::a => !(self.carry || self.zero),
            ConditionCode::s => self.sign,
            ConditionCode::ns => !self.sign,
            ConditionCode::l => self.sign != self.overflow,
            ConditionCode::ge => self.sign == self.overflow,
            ConditionCode::le => self.zero || self.sign != self.overflow,
            ConditionCode::g => !self.zero && self.sign == self.overflow,
            ConditionCode::p | ConditionCode::np => return false,
        };
        if instruction.is_jcc_short_or_near() {
            if holds {
                self.next = instruction.near_branch_target();
            }
        } else if instruction.op_count() == 1 {
            self.write(instruction, 0, u64::from(holds));
        } else {
            // Without the condition, it is a move to itself, which clears the upper half too.
            let value = self.read(instruction, u32::from(holds));
            self.write(instruction, 0, value);
        }
        true
    }

    fn push(&mut self, value: u64) {
        self.general[4] -= 8;
        self.store(self.general[4], &value.to_le_bytes());
    }

    fn pop(&mut self) -> u64 {
        let value = u64::from_le_bytes(self.load(self.general[4]));
        self.general[4] += 8;
        value
    }

    fn flags_of(&mut self, value: u64, bits: u32) {
        self.zero = value == 0;
        self.sign = value >> (bits - 1) & 1 != 0;
    }

    fn add(&mut self, instruction: &Instruction, operand: u32, carry: bool) {
        let size = Machine::size(instruction, operand);
        let (left, right) = (self.read(instruction, 0), self.read(instruction, 1));
        let wide = u128::from(left) + u128::from(right) + u128::from(carry);
        let sum = narrowed(wide as u64, size);
        let top = 8 * size as u32 - 1;
        self.flags_of(sum, top + 1);
        self.carry = wide >> (8 * size) != 0;
        self.overflow = (left ^ sum) & (right ^ sum) & (1 << top) != 0;
        self.write(instruction, operand, sum);
    }

    /// `inc` and `dec`, which keep the carry.
    fn step(&mut self, instruction: &Instruction, by: u64) {
        let size = Machine::size(instruction, 0);
        let value = narrowed(self.read(instruction, 0).wrapping_add(by), size);
        self.flags_of(value, 8 * size as u32);
        let limit = 1_u64 << (8 * size - 1);
        self.overflow = value == if by == 1 { limit } else { limit - 1 };
        self.write(instruction, 0, value);
    }

    fn subtract(&mut self, instruction: &Instruction, left: u64, right: u64, borrow: bool) -> u64 {
        let size = Machine::size(instruction, 0);
        let difference = narrowed(left.wrapping_sub(right).wrapping_sub(u64::from(borrow)), size);
        let top = 8 * size as u32 - 1;
        self.flags_of(difference, top + 1);
        self.carry = u128::from(left) < u128::from(right) + u128::from(borrow);
        self.overflow = (left ^ right) & (left ^ difference) & (1 << top) != 0;
        difference
    }
}
