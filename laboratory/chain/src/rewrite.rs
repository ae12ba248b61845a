//! Code with reordered additions, for [`suggest`](crate::suggest).

use crate::decode::Function;
use crate::effects::Location;
use iced_x86::{Code, Instruction, MemoryOperand, Mnemonic, OpKind, Register};

/// A run of additions to one register, each adding the carry of the previous one.
pub(crate) struct Additions {
    /// The register that accumulates the sum.
    pub sum: Register,
    /// The additions, as indices in execution order.
    pub steps: Vec<usize>,
}

/// A general register that the code does not use, caller-saved ones first.
pub(crate) fn spare_register(code: &[Instruction]) -> Option<Register> {
    use Register as R;
    const CANDIDATES: [Register; 14] = [
        R::R8,
        R::R9,
        R::R10,
        R::R11,
        R::RCX,
        R::RAX,
        R::RSI,
        R::RDX,
        R::RBX,
        R::RBP,
        R::R12,
        R::R13,
        R::R14,
        R::R15,
    ];
    let mut factory = iced_x86::InstructionInfoFactory::new();
    let mut used: Vec<Option<Location>> = Vec::new();
    for instruction in code {
        let info = factory.info(instruction);
        used.extend(info.used_registers().iter().map(|used| Location::of(used.register())));
    }
    CANDIDATES.into_iter().find(|register| !used.contains(&Location::of(*register)))
}

/// The spare register, as wide as `like`.
pub(crate) fn sized(spare: Register, like: Register) -> Register {
    if like.is_gpr32() { spare.full_register32() } else { spare.full_register() }
}

/// A register's name.
pub(crate) fn name(register: Register) -> String {
    format!("{register:?}").to_lowercase()
}

/// An instruction that applies `mnemonic` to a register and the addend of `like`.
fn onto(mnemonic: Mnemonic, sum: Register, like: &Instruction) -> Option<Instruction> {
    let code = match (mnemonic, sum.is_gpr64()) {
        (Mnemonic::Mov, true) => Code::Mov_r64_rm64,
        (Mnemonic::Mov, false) => Code::Mov_r32_rm32,
        (Mnemonic::Add, true) => Code::Add_r64_rm64,
        (Mnemonic::Add, false) => Code::Add_r32_rm32,
        (_, true) => Code::Adc_r64_rm64,
        (_, false) => Code::Adc_r32_rm32,
    };
    match like.op_kind(1) {
        OpKind::Register => Instruction::with2(code, sum, like.op1_register()).ok(),
        OpKind::Memory => {
            let operand = MemoryOperand::new(
                like.memory_base(),
                like.memory_index(),
                like.memory_index_scale(),
                like.memory_displacement64() as i64,
                like.memory_displ_size(),
                false,
                Register::None,
            );
            Instruction::with2(code, sum, operand).ok()
        }
        _ => None,
    }
}

/// Adds the last carry.
fn close(sum: Register) -> Option<Instruction> {
    let code = if sum.is_gpr64() { Code::Adc_rm64_imm8 } else { Code::Adc_rm32_imm8 };
    Instruction::with2(code, sum, 0).ok()
}

/// Adds two registers of the same width.
fn add(mnemonic: Mnemonic, to: Register, from: Register) -> Option<Instruction> {
    let code = match (mnemonic, to.is_gpr64()) {
        (Mnemonic::Add, true) => Code::Add_r64_rm64,
        (Mnemonic::Add, false) => Code::Add_r32_rm32,
        (_, true) => Code::Adc_r64_rm64,
        (_, false) => Code::Adc_r32_rm32,
    };
    Instruction::with2(code, to, from).ok()
}

/// The code with the first addends of a run in a second accumulator.
pub(crate) fn rewrite(
    code: &[Instruction],
    run: &Additions,
    spare: Register,
    moved: usize,
) -> Option<Vec<Instruction>> {
    let (addends, rest) = run.steps[..run.steps.len() - 1].split_at_checked(moved)?;
    let (sum, other) = (run.sum, sized(spare, run.sum));
    let mut new = Vec::new();
    for (place, step) in addends.iter().enumerate() {
        let mnemonic = [Mnemonic::Mov, Mnemonic::Add, Mnemonic::Adc][place.min(2)];
        new.push(onto(mnemonic, other, &code[*step])?);
    }
    new.push(close(other)?);
    for (place, step) in rest.iter().enumerate() {
        new.push(onto(if place == 0 { Mnemonic::Add } else { Mnemonic::Adc }, sum, &code[*step])?);
    }
    new.push(add(if rest.is_empty() { Mnemonic::Add } else { Mnemonic::Adc }, sum, other)?);
    new.push(close(sum)?);
    Some(replaced(code, run, new))
}

/// The code with the second half of a run in a second accumulator.
pub(crate) fn two_sums(code: &[Instruction], run: &Additions, spare: Register) -> Option<Vec<Instruction>> {
    let addends = &run.steps[..run.steps.len() - 1];
    let (first, second) = addends.split_at(addends.len().div_ceil(2));
    let mut new = Vec::new();
    for (sum, half) in [(run.sum, first), (sized(spare, run.sum), second)] {
        for (place, step) in half.iter().enumerate() {
            new.push(onto(if place == 0 { Mnemonic::Add } else { Mnemonic::Adc }, sum, &code[*step])?);
        }
        new.push(close(sum)?);
    }
    Some(replaced(code, run, new))
}

/// The code with a run's instructions removed, and others inserted at the position of the last.
fn replaced(code: &[Instruction], run: &Additions, new: Vec<Instruction>) -> Vec<Instruction> {
    let last = run.steps.last().copied().unwrap_or(0);
    let mut new = Some(new);
    let mut out = Vec::with_capacity(code.len() + 4);
    for (step, instruction) in code.iter().enumerate() {
        if step == last {
            out.extend(new.take().into_iter().flatten());
        } else if !run.steps.contains(&step) {
            out.push(*instruction);
        }
    }
    out
}

/// The body twice, the second time with another accumulator.
pub(crate) fn unrolled(
    body: &[Instruction],
    on_path: &[usize],
) -> Option<(Vec<Instruction>, Register, Register)> {
    let sums: Vec<Register> = on_path.iter().map(|step| body[*step].op0_register()).collect();
    let sum = *sums.first()?;
    let is_one = sums.iter().all(|other| *other == sum) && on_path.iter().all(|step| adds(&body[*step]));
    if !is_one {
        return None;
    }
    let spare = match sum {
        register if register.is_gpr() => sized(spare_register(body)?, register),
        register if register.is_vector_register() => {
            let used = |number: usize| {
                body.iter().any(|i| {
                    (0..i.op_count()).any(|operand| {
                        i.op_kind(operand) == OpKind::Register
                            && i.op_register(operand).is_vector_register()
                            && i.op_register(operand).number() == number
                    })
                })
            };
            let number = (0..16).find(|number| !used(*number))?;
            register.base() + number as u32
        }
        _ => return None,
    };
    let mut second = body.to_vec();
    for instruction in &mut second {
        for operand in 0..instruction.op_count() {
            if instruction.op_kind(operand) == OpKind::Register && instruction.op_register(operand) == sum {
                instruction.set_op_register(operand, spare);
            }
        }
    }
    Some((body.iter().copied().chain(second).collect(), sum, spare))
}

/// True for additions that can be reordered.
fn adds(instruction: &Instruction) -> bool {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    ["add", "vpadd", "padd", "vpdpwssd", "vpdpbusd"].iter().any(|start| name.starts_with(start))
}

/// A function of the instructions at consecutive addresses.
fn placed(code: Vec<Instruction>) -> Function {
    // The maximum length of an instruction.
    const STEP: u64 = 15;
    let mut instructions = code;
    for (place, instruction) in instructions.iter_mut().enumerate() {
        instruction.set_len(STEP as usize);
        instruction.set_ip(place as u64 * STEP);
    }
    Function { entry: 0, instructions, stops: Vec::new() }
}

/// A function of the instructions, without branches.
pub(crate) fn straight(code: Vec<Instruction>) -> Function {
    let body = code.into_iter().filter(|instruction| !crate::text::is_branch(instruction));
    placed(body.chain([Instruction::with(Code::Retnq)]).collect())
}

/// A function that repeats the instructions.
pub(crate) fn looped(mut body: Vec<Instruction>, mut branch: Instruction) -> Function {
    branch.set_near_branch64(0);
    body.extend([branch, Instruction::with(Code::Retnq)]);
    placed(body)
}
