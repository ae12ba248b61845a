//! Creates an instruction of a given form with chosen registers.
//!
//! A form does not determine the encoding: every code of its mnemonic is tried until one encodes and decodes
//! to the same form with the same registers.

use crate::form::{Form, Masking, Operand};
use iced_x86::{Code, Decoder, DecoderOptions, Encoder, Instruction, OpKind, Register};

/// An immediate that is neither zero nor one, because shifts by one have their own encoding.
const IMMEDIATE: i64 = 3;

const IMMEDIATE_KINDS: [OpKind; 8] = [
    OpKind::Immediate8,
    OpKind::Immediate8to32,
    OpKind::Immediate8to64,
    OpKind::Immediate8to16,
    OpKind::Immediate32,
    OpKind::Immediate32to64,
    OpKind::Immediate16,
    OpKind::Immediate64,
];

/// The registers for a form.
#[derive(Clone, Debug)]
pub(super) struct Filling {
    /// The full register of each operand; ignored for operands that are not registers.
    pub registers: Vec<Register>,
    /// The base of a memory operand or of an address computed by `lea`.
    pub base: Register,
    /// The index of such an address, if the form has one.
    pub index: Register,
    /// The mask of a masked instruction.
    pub mask: Register,
}

/// An instruction of the form; `None` if no encoding takes these registers.
pub(super) fn of(form: &Form, filling: &Filling) -> Option<Instruction> {
    let codes = Code::values().filter(|code| code.mnemonic() == form.mnemonic);
    let mut ways = codes.flat_map(|code| IMMEDIATE_KINDS.map(|kind| (code, kind)));
    ways.find_map(|(code, kind)| {
        [false, true].into_iter().find_map(|all| attempt(code, kind, all, form, filling))
    })
}

/// Tries one encoding: this code, this kind of immediate, and a memory operand that is broadcast or not.
fn attempt(
    code: Code,
    immediate: OpKind,
    is_broadcast: bool,
    form: &Form,
    filling: &Filling,
) -> Option<Instruction> {
    let mut instruction = Instruction::default();
    instruction.set_code(code);
    if instruction.op_count() as usize != form.operands.len() {
        return None;
    }
    let mut has_immediate = false;
    for (index, operand) in form.operands.iter().enumerate() {
        let place = index as u32;
        if let Some(register) = register(*operand, *filling.registers.get(index)?) {
            instruction.try_set_op_kind(place, OpKind::Register).ok()?;
            instruction.try_set_op_register(place, register).ok()?;
            continue;
        }
        match *operand {
            Operand::Memory(_) => {
                instruction.try_set_op_kind(place, OpKind::Memory).ok()?;
                instruction.set_memory_base(filling.base);
                instruction.set_is_broadcast(is_broadcast);
            }
            Operand::Address { registers, scaled, displaced } => {
                instruction.try_set_op_kind(place, OpKind::Memory).ok()?;
                if registers > 1 || !scaled {
                    instruction.set_memory_base(filling.base);
                }
                if registers > 1 || scaled {
                    let only = registers == 1;
                    instruction.set_memory_index(if only { filling.base } else { filling.index });
                    instruction.set_memory_index_scale(if scaled { 2 } else { 1 });
                }
                let displacement = if displaced { 16 } else { 0 };
                // Without a base, the displacement is encoded in four bytes.
                let bytes = if registers == 1 && scaled { 4 } else { u32::from(displaced) };
                instruction.set_memory_displacement64(displacement);
                instruction.set_memory_displ_size(bytes);
            }
            Operand::Zero | Operand::Immediate => {
                has_immediate = true;
                instruction.try_set_op_kind(place, immediate).ok()?;
                let value = if *operand == Operand::Zero { 0 } else { IMMEDIATE };
                instruction.try_set_immediate_i64(place, value).ok()?;
            }
            _ => return None,
        }
    }
    if !has_immediate && immediate != IMMEDIATE_KINDS[0] {
        return None;
    }
    if form.masking != Masking::None {
        instruction.set_op_mask(filling.mask);
        instruction.set_zeroing_masking(form.masking == Masking::Zeroing);
    }
    let decoded = decoded_again(&instruction)?;
    let same = |place: usize| {
        let place = place as u32;
        instruction.op_kind(place) != OpKind::Register
            || instruction.op_register(place) == decoded.op_register(place)
    };
    (Form::of(&decoded) == *form && (0..form.operands.len()).all(same)).then_some(decoded)
}

/// The instruction after encoding and decoding.
fn decoded_again(instruction: &Instruction) -> Option<Instruction> {
    let mut encoder = Encoder::new(64);
    encoder.encode(instruction, 0).ok()?;
    let bytes = encoder.take_buffer();
    let decoded = Decoder::new(64, &bytes, DecoderOptions::NONE).decode();
    (!decoded.is_invalid() && decoded.len() == bytes.len()).then_some(decoded)
}

/// The part of a full register that the operand denotes; `None` if it is not a register.
fn register(operand: Operand, full: Register) -> Option<Register> {
    let number = full.number() as u32;
    Some(match operand {
        Operand::General(64) => full,
        Operand::General(32) => Register::EAX + number,
        Operand::General(16) => Register::AX + number,
        // The numbers of AH to BH come between those of BL and SPL.
        Operand::General(8) if number < 4 => Register::AL + number,
        Operand::General(8) => Register::SPL + (number - 4),
        Operand::HighByte if number < 4 => Register::AH + number,
        Operand::Count => Register::CL,
        Operand::Vector(128) => Register::XMM0 + number,
        Operand::Vector(256) => Register::YMM0 + number,
        Operand::Vector(512) => Register::ZMM0 + number,
        Operand::Mask => full,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_recreated_with_other_registers() {
        let filling = Filling {
            registers: vec![Register::RBX, Register::RBP, Register::R8],
            base: Register::R14,
            index: Register::R13,
            mask: Register::K3,
        };
        for code in [
            &[0x48, 0x13, 0x47, 0x08][..],            // adc rax, [rdi + 8]
            &[0x48, 0x83, 0xd0, 0x00],                // adc rax, 0
            &[0x48, 0xc1, 0xe8, 0x20],                // shr rax, 32
            &[0x48, 0xd3, 0xe8],                      // shr rax, cl
            &[0x48, 0x8d, 0x44, 0x37, 0x10],          // lea rax, [rdi + rsi + 16]
            &[0x48, 0x8d, 0x04, 0x75, 0x10, 0, 0, 0], // lea rax, [rsi * 2 + 16]
            &[0x48, 0x8d, 0x07],                      // lea rax, [rdi]
            &[0xc4, 0xe2, 0xfb, 0xf6, 0xc6],          // mulx rax, rax, rsi
            &[0x0f, 0xb6, 0xc0],                      // movzx eax, al
            &[0x66, 0x4c, 0x0f, 0x38, 0xf6, 0xc8],    // adcx r9, rax
            &[0xf3, 0x48, 0x0f, 0xb8, 0xc7],          // popcnt rax, rdi
            &[0x48, 0x0f, 0x42, 0xc7],                // cmovb rax, rdi
            &[0x0f, 0x92, 0xc0],                      // setb al
        ] {
            let form = Form::of(&Decoder::new(64, code, DecoderOptions::NONE).decode());
            let made = of(&form, &filling).unwrap_or_else(|| panic!("{form}"));
            assert_eq!(Form::of(&made), form);
        }
    }

    #[test]
    fn vector_forms_keep_their_masks() {
        let filling = Filling {
            registers: vec![Register::ZMM0, Register::ZMM1, Register::ZMM4],
            base: Register::R14,
            index: Register::None,
            mask: Register::K3,
        };
        let broadcast = [0x62, 0xf2, 0x75, 0x58, 0x52, 0x07]; // vpdpwssd zmm0, zmm1, [rdi]{1to16}
        let form = Form::of(&Decoder::new(64, &broadcast, DecoderOptions::NONE).decode());
        assert!(of(&form, &filling).expect("an encoding").is_broadcast());
        let masked_load = [0x62, 0xf1, 0x7f, 0xc9, 0x6f, 0x07]; // vmovdqu8 zmm0{k1}{z}, [rdi]
        let form = Form::of(&Decoder::new(64, &masked_load, DecoderOptions::NONE).decode());
        let made = of(&form, &filling).expect("an encoding");
        assert_eq!((made.op_mask(), made.zeroing_masking()), (Register::K3, true));
        assert_eq!(made.memory_base(), Register::R14);
    }
}
