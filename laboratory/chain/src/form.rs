//! The form of an instruction, which determines its latencies: the mnemonic and the kind of each operand.
//!
//! `adc rax, [rdi + 8]` and `adc rdx, [rsi]` have the same form, `adc r64, m64`. Forms distinguish what CPUs
//! distinguish: the width of registers and memory, shifts by `cl`, an immediate of zero (Haswell's `adc r,
//! 0`), the parts of an address that `lea` computes, and the masking of vector instructions.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use std::fmt;

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Operand {
    /// A general register of this many bits.
    General(u16),
    /// `ah`, `bh`, `ch` or `dh`.
    HighByte,
    /// `cl` as a shift count.
    Count,
    /// A vector register of this many bits.
    Vector(u16),
    /// A mask register.
    Mask,
    /// Memory of this many bits; 0 if the instruction does not specify them.
    Memory(u16),
    /// An address that `lea` computes.
    Address {
        /// The number of registers: base and index.
        registers: u8,
        /// True if the index is scaled.
        scaled: bool,
        /// True if there is a displacement.
        displaced: bool,
    },
    /// The immediate zero.
    Zero,
    /// Any other immediate.
    Immediate,
    /// The target of a branch.
    Target,
    /// Segment, control, x87 or other registers.
    Other,
}

impl Operand {
    /// The kind of operand `index` of the instruction.
    #[must_use]
    pub fn of(instruction: &Instruction, index: u32) -> Operand {
        match instruction.op_kind(index) {
            OpKind::Register => Operand::of_register(instruction, index),
            OpKind::Memory if matches!(instruction.mnemonic(), Mnemonic::Lea) => Operand::Address {
                registers: [instruction.memory_base(), instruction.memory_index()]
                    .iter()
                    .filter(|register| !matches!(register, Register::None | Register::RIP | Register::EIP))
                    .count() as u8,
                scaled: instruction.memory_index() != Register::None && instruction.memory_index_scale() > 1,
                displaced: instruction.memory_displacement64() != 0,
            },
            OpKind::NearBranch16
            | OpKind::NearBranch32
            | OpKind::NearBranch64
            | OpKind::FarBranch16
            | OpKind::FarBranch32 => Operand::Target,
            _ => match instruction.try_immediate(index) {
                Ok(0) => Operand::Zero,
                Ok(_) => Operand::Immediate,
                // Memory, including the implicit memory of string instructions.
                Err(_) => Operand::Memory((instruction.memory_size().size() * 8) as u16),
            },
        }
    }

    fn of_register(instruction: &Instruction, index: u32) -> Operand {
        let register = instruction.op_register(index);
        let bits = (register.size() * 8) as u16;
        match register {
            Register::AH | Register::BH | Register::CH | Register::DH => Operand::HighByte,
            Register::CL if index > 0 && is_shift(instruction.mnemonic()) => Operand::Count,
            register if register.is_gpr() => Operand::General(bits),
            register if register.is_vector_register() => Operand::Vector(bits),
            register if register.is_k() => Operand::Mask,
            _ => Operand::Other,
        }
    }

    /// True for memory that is read or written, but not for an address computed by `lea`.
    #[must_use]
    pub const fn is_memory(self) -> bool {
        matches!(self, Operand::Memory(_))
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::General(bits) => write!(f, "r{bits}"),
            Operand::HighByte => f.write_str("r8h"),
            Operand::Count => f.write_str("cl"),
            Operand::Vector(128) => f.write_str("xmm"),
            Operand::Vector(256) => f.write_str("ymm"),
            Operand::Vector(_) => f.write_str("zmm"),
            Operand::Mask => f.write_str("k"),
            Operand::Memory(0) => f.write_str("m"),
            Operand::Memory(bits) => write!(f, "m{bits}"),
            Operand::Address { registers, scaled, displaced } => {
                let first = if *registers > 0 { "b" } else { "" };
                let second = match (registers, scaled) {
                    (2.., true) => "+i*s",
                    (2.., false) => "+i",
                    (1, true) => "*s",
                    _ => "",
                };
                write!(f, "[{first}{second}{}]", if *displaced { "+d" } else { "" })
            }
            Operand::Zero => f.write_str("0"),
            Operand::Immediate => f.write_str("imm"),
            Operand::Target => f.write_str("target"),
            Operand::Other => f.write_str("other"),
        }
    }
}

/// The masking of a vector instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Masking {
    /// No mask.
    None,
    /// Masked elements keep the destination's values.
    Merging,
    /// Masked elements become zero.
    Zeroing,
}

/// True for non-temporal stores.
pub(crate) fn is_non_temporal(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Movnti
            | M::Movntq
            | M::Movntdq
            | M::Movntps
            | M::Movntpd
            | M::Vmovntdq
            | M::Vmovntps
            | M::Vmovntpd
            | M::Maskmovdqu
            | M::Vmaskmovdqu
    )
}

/// A mnemonic with its operand kinds.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Form {
    /// The mnemonic.
    pub mnemonic: Mnemonic,
    /// The explicit operands, destination first.
    pub operands: Vec<Operand>,
    /// The masking of the first operand.
    pub masking: Masking,
}

impl Form {
    /// The form of an instruction.
    #[must_use]
    pub fn of(instruction: &Instruction) -> Form {
        let operands = (0..instruction.op_count()).map(|index| Operand::of(instruction, index)).collect();
        let masking = match (instruction.op_mask(), instruction.zeroing_masking()) {
            (Register::None, _) => Masking::None,
            (_, true) => Masking::Zeroing,
            (_, false) => Masking::Merging,
        };
        Form { mnemonic: instruction.mnemonic(), operands, masking }
    }

    /// The mnemonic in lower case.
    #[must_use]
    pub fn mnemonic_name(&self) -> String {
        format!("{:?}", self.mnemonic).to_lowercase()
    }

    /// The index of the memory operand, if there is one.
    #[must_use]
    pub fn memory(&self) -> Option<usize> {
        self.operands.iter().position(|operand| operand.is_memory())
    }

    /// The name of an operand as printed: its kind, numbered if earlier operands are of the same kind.
    pub(crate) fn operand_name(&self, index: usize) -> String {
        let Some(operand) = self.operands.get(index) else { return format!("op{}", index + 1) };
        match self.operands[..index].iter().filter(|other| *other == operand).count() {
            0 => operand.to_string(),
            before => format!("{operand} ({})", before + 1),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.mnemonic_name())?;
        for (index, operand) in self.operands.iter().enumerate() {
            write!(f, "{}{operand}", if index == 0 { " " } else { ", " })?;
            match (index, self.masking) {
                (0, Masking::Merging) => f.write_str("{k}")?,
                (0, Masking::Zeroing) => f.write_str("{k}{z}")?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// True for shifts and rotates, which leave the flags unchanged if the count in `cl` is zero.
pub(crate) fn is_shift(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(
        mnemonic,
        M::Shl | M::Sal | M::Shr | M::Sar | M::Rol | M::Ror | M::Rcl | M::Rcr | M::Shld | M::Shrd
    )
}
