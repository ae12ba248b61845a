//! Closers: instructions that lead a chain from the output of the instruction under test back to its input.
//!
//! A latency between registers of the same kind needs none: the output of one link is the input of the next.
//! Between kinds (general, vector and mask registers, flags, an address, memory) the way back takes closers,
//! each of which is timed by itself and subtracted:
//!
//! | from -> to | closer | latency |
//! | --- | --- | --- |
//! | general -> another general | `lea r, [r + zero]` | measured |
//! | general -> address | `and r, zero`; `or r, base` | measured |
//! | general -> flags | `cmp` | that of `add`, the unit: both are results of one operation |
//! | flags -> general | `cmov` on a flag that the instruction writes | that of a round trip with `cmp`, less the unit |
//! | general <-> vector | `vmovq` | half of the round trip |
//! | general <-> mask | `kmovq` | half of the round trip |
//! | memory -> register | the plain load through another base register | 0: forwarding counts towards the store |
//! | register -> memory | the plain store | that of a round trip with that load |
//!
//! Only round trips can be timed, so their division is a convention. It does not affect paths from a
//! general register to a general register, which cross each border equally often in both directions.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// The general register of the chain.
pub(super) const HUB: Register = Register::RBX;
/// Always zero.
pub(super) const ZERO: Register = Register::R13;
/// The address of the buffer.
pub(super) const BUFFER: Register = Register::R14;
/// The address of the buffer in another register. Some CPUs match loads with stores by the names of the
/// registers and bypass forwarding; a store through one register and the load through the other prevent that.
pub(super) const BUFFER_AGAIN: Register = Register::R12;
/// Never changes.
pub(super) const CONSTANT: Register = Register::R10;
/// The loop counters: the first preserves flags, the second preserves `cl`.
pub(super) const COUNTER: Register = Register::RCX;
pub(super) const OTHER_COUNTER: Register = Register::R15;

/// An instruction whose latency is known or measured first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum Closer {
    /// `lea r, [r + r]`.
    Lea,
    /// `and r, r`.
    And,
    /// `or r, r`.
    Or,
    /// `cmp r, r`, from register to flags: the unit.
    Compare,
    /// `cmov` on a flag, from flags to register.
    Select(Flag),
    /// `vmovq` in either direction.
    Vector,
    /// `kmovq` in either direction.
    Mask,
    /// A plain store of this many bits from a general register.
    Store(u16),
    /// A plain store of this many bits from a vector register.
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

/// The round trip from which a closer's latency is measured.
pub(super) fn round_trip(closer: Closer) -> Option<Vec<Instruction>> {
    let instructions = match closer {
        Closer::Compare => return None,
        Closer::Lea => vec![lea(HUB, HUB)],
        Closer::And => vec![general(Code::And_rm64_r64, HUB, CONSTANT)],
        Closer::Or => vec![general(Code::Or_rm64_r64, HUB, CONSTANT)],
        Closer::Select(flag) => vec![compare(), select(flag)],
        Closer::Vector => vec![to_vector(HUB, Register::XMM0), from_vector(HUB, Register::XMM0)],
        Closer::Mask => vec![to_mask(HUB, Register::K1), from_mask(HUB, Register::K1)],
        Closer::Store(bits) => vec![elsewhere(store(HUB, bits)?), load(HUB, bits)?],
        Closer::VectorStore(bits) => {
            vec![elsewhere(vector_store(Register::ZMM0, bits)?), vector_load(Register::ZMM0, bits)?]
        }
    };
    Some(instructions)
}

impl Closer {
    /// How often the closer occurs in its round trip.
    pub fn times(self) -> f64 {
        if matches!(self, Closer::Vector | Closer::Mask) { 2.0 } else { 1.0 }
    }
}

// The instructions, in codes that every encoder accepts for the registers used here.

pub(super) fn create(instruction: Result<Instruction, iced_x86::IcedError>) -> Instruction {
    // An invalid instruction does not assemble; its chain is then left out with the assembler's reason.
    instruction.unwrap_or_default()
}

pub(super) fn general(code: Code, to: Register, from: Register) -> Instruction {
    create(Instruction::with2(code, to, from))
}

pub(super) fn lea(to: Register, from: Register) -> Instruction {
    create(Instruction::with2(Code::Lea_r64_m, to, MemoryOperand::with_base_index(from, ZERO)))
}

pub(super) fn compare() -> Instruction {
    general(Code::Cmp_rm64_r64, HUB, Register::R11)
}

pub(super) fn select(flag: Flag) -> Instruction {
    let code = match flag {
        Flag::Carry => Code::Cmovb_r64_rm64,
        Flag::Overflow => Code::Cmovo_r64_rm64,
        Flag::Zero => Code::Cmove_r64_rm64,
        Flag::Sign => Code::Cmovs_r64_rm64,
    };
    general(code, HUB, CONSTANT)
}

fn has_avx() -> bool {
    std::arch::is_x86_feature_detected!("avx")
}

pub(super) fn xmm(full: Register) -> Register {
    Register::XMM0 + full.number() as u32
}

pub(super) fn to_vector(from: Register, to: Register) -> Instruction {
    general(if has_avx() { Code::VEX_Vmovq_xmm_rm64 } else { Code::Movq_xmm_rm64 }, to, from)
}

pub(super) fn from_vector(to: Register, from: Register) -> Instruction {
    general(if has_avx() { Code::VEX_Vmovq_rm64_xmm } else { Code::Movq_rm64_xmm }, to, from)
}

pub(super) fn to_mask(from: Register, to: Register) -> Instruction {
    general(Code::VEX_Kmovq_kr_r64, to, from)
}

pub(super) fn from_mask(to: Register, from: Register) -> Instruction {
    general(Code::VEX_Kmovq_r64_kr, to, from)
}

/// The memory operand of closers.
fn buffer() -> MemoryOperand {
    MemoryOperand::with_base(BUFFER_AGAIN)
}

/// The instruction with the same address in the other register.
fn elsewhere(mut instruction: Instruction) -> Instruction {
    instruction.set_memory_base(BUFFER);
    instruction
}

/// The plain load of this many bits into a general register.
pub(super) fn load(to: Register, bits: u16) -> Option<Instruction> {
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

/// The plain store of this many bits from a general register.
pub(super) fn store(from: Register, bits: u16) -> Option<Instruction> {
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

pub(super) fn vector_load(to: Register, bits: u16) -> Option<Instruction> {
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

pub(super) fn vector_store(from: Register, bits: u16) -> Option<Instruction> {
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
