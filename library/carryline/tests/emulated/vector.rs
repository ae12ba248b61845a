//! Instructions on vectors and masks.

use crate::machine::Machine;
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

type Vector = [u8; 64];

impl Machine {
    /// Executes the instruction if it is a vector one.
    pub fn execute_vector(&mut self, instruction: &Instruction) -> bool {
        let lane = match instruction.mnemonic() {
            M::Vmovdqu8 | M::Vpaddb | M::Vpbroadcastb | M::Vpshufb => 1,
            M::Vmovdqu64
            | M::Vmovdqa64
            | M::Vpxorq
            | M::Vpandq
            | M::Vpaddq
            | M::Vpsrlq
            | M::Vpbroadcastq
            | M::Vextracti64x4 => 8,
            _ => 4,
        };
        let result = match instruction.mnemonic() {
            M::Vmovdqu8
            | M::Vmovdqu64
            | M::Vmovdqa64
            | M::Vmovups
            | M::Vmovaps
            | M::Vmovdqu
            | M::Vmovdqa
            | M::Vmovntdq
            | M::Movups
            | M::Movaps
            | M::Movdqu
            | M::Movdqa => {
                self.move_vector(instruction, lane);
                return true;
            }
            M::Vmovd | M::Vmovq | M::Movd | M::Movq => {
                self.move_low(instruction);
                return true;
            }
            M::Vpcmpub => {
                let (left, right) = (self.vector(instruction, 1), self.vector(instruction, 2));
                let holds = |at: &usize| match instruction.immediate8() {
                    1 => left[*at] < right[*at],
                    2 => left[*at] <= right[*at],
                    5 => left[*at] >= right[*at],
                    6 => left[*at] > right[*at],
                    other => panic!("comparison {other} is not emulated"),
                };
                let lanes = (0..instruction.op_register(1).size()).filter(holds);
                let mask = lanes.fold(0, |mask, at| mask | 1 << at) & self.active(instruction);
                self.masks[instruction.op_register(0).number()] = mask;
                return true;
            }
            M::Kshiftrq => {
                let mask = self.masks[instruction.op_register(1).number()];
                let shifted = mask.checked_shr(instruction.immediate8().into()).unwrap_or(0);
                self.masks[instruction.op_register(0).number()] = shifted;
                return true;
            }
            M::Vextracti128 | M::Vextracti32x4 => self.extracted(instruction, 16),
            M::Vextracti64x4 => self.extracted(instruction, 32),
            M::Vpxor | M::Vxorps | M::Vpxord | M::Vpxorq => {
                self.bytes(instruction, |left, right| left ^ right)
            }
            M::Vpand | M::Vpandd | M::Vpandq => self.bytes(instruction, |left, right| left & right),
            // For each bit, the three operands are the place of the result in the immediate.
            M::Vpternlogd => {
                let operands = [0, 1, 2].map(|operand| self.vector(instruction, operand));
                std::array::from_fn(|at| {
                    let place = |bit: u8| operands.iter().fold(0, |place, of| place << 1 | of[at] >> bit & 1);
                    (0..8).fold(0, |byte, bit| byte | (instruction.immediate8() >> place(bit) & 1) << bit)
                })
            }
            M::Vpaddb => {
                let (left, right) = (self.vector(instruction, 1), self.loaded(instruction, 2, lane));
                std::array::from_fn(|at| left[at].wrapping_add(right[at]))
            }
            M::Vpaddd => self.words(instruction, u32::wrapping_add),
            M::Vpaddq => {
                let (left, right) = (self.vector(instruction, 1), self.vector(instruction, 2));
                from_quads(std::array::from_fn(|at| quads(left)[at].wrapping_add(quads(right)[at])))
            }
            M::Vpsrlq => {
                let count = u32::from(instruction.immediate8());
                from_quads(
                    quads(self.vector(instruction, 1)).map(|quad| quad.checked_shr(count).unwrap_or(0)),
                )
            }
            M::Vpmaddwd => self.words(instruction, dot),
            M::Vpdpwssd => {
                let sums = words(self.vector(instruction, 0));
                let products = words(self.words(instruction, dot));
                from_words(std::array::from_fn(|at| sums[at].wrapping_add(products[at])))
            }
            M::Vpshufd => {
                let (source, order) = (words(self.vector(instruction, 1)), instruction.immediate8());
                from_words(std::array::from_fn(|at| source[at & !3 | (order >> (at % 4 * 2)) as usize & 3]))
            }
            M::Vpshufb => {
                let (source, order) = (self.vector(instruction, 1), self.vector(instruction, 2));
                std::array::from_fn(|at| match order[at] {
                    0..0x80 => source[at & !15 | order[at] as usize & 15],
                    _ => 0,
                })
            }
            M::Vpbroadcastb | M::Vpbroadcastd | M::Vpbroadcastq | M::Vbroadcastss => {
                let element = self.low(instruction, 1).to_le_bytes();
                std::array::from_fn(|at| element[at % lane])
            }
            _ => return false,
        };
        self.write_vector(instruction, lane, &result);
        true
    }

    /// The mask of the active lanes.
    fn active(&self, instruction: &Instruction) -> u64 {
        match instruction.op_mask() {
            Register::None => u64::MAX,
            mask => self.masks[mask.number()],
        }
    }

    /// A vector operand; a scalar in memory is repeated if the instruction says so.
    fn vector(&self, instruction: &Instruction, operand: u32) -> Vector {
        if instruction.op_kind(operand) == OpKind::Register {
            return self.vectors[instruction.op_register(operand).number()];
        }
        let address = self.address(instruction, operand);
        let element = instruction.memory_size().element_size();
        let size = if instruction.is_broadcast() { element } else { instruction.memory_size().size() };
        let mut bytes = [0; 64];
        for (at, byte) in bytes.iter_mut().enumerate() {
            if instruction.is_broadcast() || at < size {
                [*byte] = self.load(address + (at % size) as u64);
            }
        }
        bytes
    }

    /// The low part of a vector, a general register, or a scalar in memory.
    fn low(&self, instruction: &Instruction, operand: u32) -> u64 {
        let register = instruction.op_register(operand);
        if instruction.op_kind(operand) == OpKind::Register && register.is_vector_register() {
            return quads(self.vectors[register.number()])[0];
        }
        self.read(instruction, operand)
    }

    /// Writes the active lanes of a register; what lies above the operand is cleared. Or stores them.
    fn write_vector(&mut self, instruction: &Instruction, lane: usize, value: &Vector) {
        let active = self.active(instruction);
        if instruction.op_kind(0) == OpKind::Memory {
            let address = self.address(instruction, 0);
            let size = instruction.memory_size().size();
            if instruction.op_mask() == Register::None {
                return self.store(address, &value[..size]);
            }
            self.note_masked(address, size);
            for at in (0..size).step_by(lane).filter(|at| active >> (at / lane) & 1 != 0) {
                self.store(address + at as u64, &value[at..at + lane]);
            }
            return;
        }
        let register = instruction.op_register(0);
        let size = register.size();
        let target = &mut self.vectors[register.number()];
        for at in 0..64 {
            if at >= size {
                target[at] = 0;
            } else if active >> (at / lane) & 1 != 0 {
                target[at] = value[at];
            } else if instruction.zeroing_masking() {
                target[at] = 0;
            }
        }
    }

    /// A vector operand. If it is in memory, inactive lanes are not loaded, and zero.
    fn loaded(&mut self, instruction: &Instruction, operand: u32, lane: usize) -> Vector {
        if instruction.op_kind(operand) != OpKind::Memory {
            return self.vector(instruction, operand);
        }
        let (address, size) = (self.address(instruction, operand), instruction.memory_size().size());
        let aligned = [M::Vmovaps, M::Vmovdqa, M::Vmovdqa64, M::Movaps, M::Movdqa];
        assert!(
            !aligned.contains(&instruction.mnemonic()) || (address as usize).is_multiple_of(size),
            "an aligned load"
        );
        let mut value = [0; 64];
        if instruction.op_mask() == Register::None {
            match size {
                16 => value[..16].copy_from_slice(&self.load::<16>(address)),
                32 => value[..32].copy_from_slice(&self.load::<32>(address)),
                _ => value = self.load(address),
            }
        } else {
            self.note_masked(address, size);
            let active = self.active(instruction);
            for at in (0..size).filter(|at| active >> (at / lane) & 1 != 0) {
                [value[at]] = self.load(address + at as u64);
            }
        }
        value
    }

    /// Moves a whole vector. The forms without a `v` keep what lies above them.
    fn move_vector(&mut self, instruction: &Instruction, lane: usize) {
        let value = self.loaded(instruction, 1, lane);
        if instruction.op_kind(0) == OpKind::Memory {
            let aligned = [M::Vmovaps, M::Vmovdqa, M::Vmovdqa64, M::Vmovntdq, M::Movaps, M::Movdqa];
            let (address, size) = (self.address(instruction, 0), instruction.memory_size().size());
            assert!(
                !aligned.contains(&instruction.mnemonic()) || (address as usize).is_multiple_of(size),
                "an aligned store"
            );
        } else if [M::Movups, M::Movaps, M::Movdqu, M::Movdqa].contains(&instruction.mnemonic()) {
            self.vectors[instruction.op_register(0).number()][..16].copy_from_slice(&value[..16]);
            return;
        }
        self.write_vector(instruction, lane, &value);
    }

    /// Moves 4 or 8 bytes between a vector and a general register or memory.
    fn move_low(&mut self, instruction: &Instruction) {
        let size = if [M::Vmovd, M::Movd].contains(&instruction.mnemonic()) { 4 } else { 8 };
        let low = self.low(instruction, 1).to_le_bytes();
        let target = instruction.op_register(0);
        if instruction.op_kind(0) == OpKind::Memory || !target.is_vector_register() {
            let mut bytes = [0; 8];
            bytes[..size].copy_from_slice(&low[..size]);
            return self.write(instruction, 0, u64::from_le_bytes(bytes));
        }
        let vector = &mut self.vectors[target.number()];
        let cleared = if [M::Vmovd, M::Vmovq].contains(&instruction.mnemonic()) { 64 } else { 16 };
        vector[..cleared].fill(0);
        vector[..size].copy_from_slice(&low[..size]);
    }

    /// One of the parts of a vector.
    fn extracted(&self, instruction: &Instruction, size: usize) -> Vector {
        let source = self.vectors[instruction.op_register(1).number()];
        let start = instruction.immediate8() as usize * size;
        let mut part = [0; 64];
        part[..size].copy_from_slice(&source[start..start + size]);
        part
    }

    fn bytes(&self, instruction: &Instruction, operation: impl Fn(u8, u8) -> u8) -> Vector {
        let (left, right) = (self.vector(instruction, 1), self.vector(instruction, 2));
        std::array::from_fn(|at| operation(left[at], right[at]))
    }

    fn words(&self, instruction: &Instruction, operation: impl Fn(u32, u32) -> u32) -> Vector {
        let (left, right) = (words(self.vector(instruction, 1)), words(self.vector(instruction, 2)));
        from_words(std::array::from_fn(|at| operation(left[at], right[at])))
    }
}

/// The sum of the products of the two signed halves.
fn dot(left: u32, right: u32) -> u32 {
    let product = |shift: u32| i32::from((left >> shift) as i16) * i32::from((right >> shift) as i16);
    product(0).wrapping_add(product(16)) as u32
}

fn words(vector: Vector) -> [u32; 16] {
    std::array::from_fn(|at| u32::from_le_bytes(std::array::from_fn(|byte| vector[4 * at + byte])))
}

fn from_words(words: [u32; 16]) -> Vector {
    std::array::from_fn(|at| words[at / 4].to_le_bytes()[at % 4])
}

fn quads(vector: Vector) -> [u64; 8] {
    std::array::from_fn(|at| u64::from_le_bytes(std::array::from_fn(|byte| vector[8 * at + byte])))
}

fn from_quads(quads: [u64; 8]) -> Vector {
    std::array::from_fn(|at| quads[at / 8].to_le_bytes()[at % 8])
}
