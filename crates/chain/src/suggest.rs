//! What would shorten a checksum's chain: accumulations that can be made a second stream.
//!
//! One's-complement addition may be done in any order, so a chain of additions onto one register can be cut in two that do not
//! wait for each other. The code is really rewritten (a free register, a `mov` for the first addend, the second
//! sum added to the first), and the rewritten code analysed; the bound named is what that analysis finds. It is
//! a proposal for a person, not a compiler: whether a register is free beyond this code nobody here knows.

use crate::analysis::{self, Analysis, LoopBound, Options};
use crate::decode::Function;
use crate::effects::Location;
use crate::signature::Signature;
use iced_x86::{Code, Instruction, MemoryOperand, Mnemonic, OpKind, Register};
use serde::Serialize;

/// A split and what it gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// What to do, in a sentence.
    pub what: String,
    /// The instructions that become a second stream.
    pub moved: Vec<String>,
    /// The bounds before and after: of what, in core cycles.
    pub bounds: Vec<Change>,
}

/// A bound before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Of what: an input, or a loop.
    pub name: String,
    /// Cycles as the code is.
    pub before: Option<f64>,
    /// Cycles as it would be.
    pub after: Option<f64>,
}

/// A run of additions onto one register, each taking in the carry of the one before.
struct Run {
    sum: Register,
    /// Places in the order of steps.
    steps: Vec<usize>,
}

/// Longer code is not rewritten.
const MOST_STEPS: usize = 2000;

/// Splits of the chain that the sum goes through, in straight code or a trace; the best one.
#[must_use]
pub fn for_call(found: &Analysis, signature: &Signature, options: Options<'_>) -> Vec<Suggestion> {
    if found.scope == analysis::Scope::Branching || found.order.len() > MOST_STEPS {
        return Vec::new();
    }
    let code: Vec<Instruction> =
        found.order.iter().map(|index| found.function.instructions[*index]).collect();
    let Some(chained) = signature.chained.and_then(|name| found.input(name)) else { return Vec::new() };
    let on_path: Vec<usize> = chained.steps.iter().map(|step| step.step).collect();
    let Some(run) = longest_run(&code, &on_path) else { return Vec::new() };
    let Some(spare) = spare_register(&code) else { return Vec::new() };
    let longest = |analysis: &Analysis| analysis.longest().and_then(|input| input.path_cycles).unwrap_or(0.0);
    let before = longest(found);
    let mut best: Option<(f64, usize, Analysis)> = None;
    for moved in 2..run.steps.len() {
        let Some(rewritten) = rewrite(&code, &run, spare, moved) else { continue };
        let after = analysis::of_function(straight(rewritten), signature, options);
        let Some(cycles) = after.input(&chained.name).and_then(|input| input.path_cycles) else { continue };
        let is_better = best.as_ref().is_none_or(|(known, ..)| cycles < *known);
        // A shorter way for the sum must not be paid for by the data's.
        if is_better && longest(&after) <= before + 1e-9 {
            best = Some((cycles, moved, after));
        }
    }
    let Some((cycles, moved, after)) = best else { return Vec::new() };
    if chained.path_cycles.is_none_or(|known| cycles >= known) {
        return Vec::new();
    }
    let words = run.steps.len() - 1;
    let sum = name(run.sum);
    let bounds = found.inputs.iter().map(|input| Change {
        name: input.name.clone(),
        before: input.path_cycles,
        after: after.input(&input.name).and_then(|input| input.path_cycles),
    });
    vec![Suggestion {
        what: format!(
            "sum {moved} of the {words} addends of {sum} in a second stream ({}) that does not wait for {}, and add it \
             to {sum} once",
            name(sized(spare, run.sum)),
            chained.name
        ),
        moved: run.steps[..moved].iter().map(|step| crate::text::instruction(&code[*step])).collect(),
        bounds: bounds.collect(),
    }]
}

/// A second accumulator for a loop of one block that its own carried chain binds.
#[must_use]
pub fn for_loop(found: &Analysis, bound: &LoopBound, options: Options<'_>) -> Vec<Suggestion> {
    if bound.binding() != "recurrence" || bound.chain.is_empty() {
        return Vec::new();
    }
    let code: Vec<Instruction> =
        bound.instructions.iter().map(|index| found.function.instructions[*index]).collect();
    let Some((branch, body)) = code.split_last() else { return Vec::new() };
    if !branch.is_jcc_short_or_near() || body.iter().any(crate::text::is_branch) {
        return Vec::new();
    }
    let place = |link: &crate::recurrence::Link| {
        bound.instructions.iter().position(|index| *index == link.instruction)
    };
    let on_path: Vec<usize> = bound.chain.iter().filter_map(place).collect();
    let (rewritten, what, times) = match longest_run(body, &on_path) {
        Some(run) => {
            let Some(spare) = spare_register(&code) else { return Vec::new() };
            let Some(rewritten) = two_sums(body, &run, spare) else { return Vec::new() };
            let what = format!(
                "sum every iteration's later addends in a second register ({}) beside {}; add the two after the loop",
                name(sized(spare, run.sum)),
                name(run.sum)
            );
            (rewritten, what, 1)
        }
        None => {
            let Some((rewritten, sum, spare)) = unrolled(body, &on_path) else { return Vec::new() };
            let what = format!(
                "unroll the loop twice with a second accumulator ({}) beside {}; add the two after the loop",
                name(spare),
                name(sum)
            );
            (rewritten, what, 2)
        }
    };
    let after = analysis::of_function(looped(rewritten, *branch), &Signature::unknown(), options);
    let Some(new) = after.loops.first() else { return Vec::new() };
    if new.cycles() / f64::from(times) >= bound.cycles() - 1e-9 {
        return Vec::new();
    }
    let bytes = bound.bytes_per_iteration.map(|bytes| format!(" ({bytes} bytes)")).unwrap_or_default();
    vec![Suggestion {
        what,
        moved: on_path.iter().map(|place| crate::text::instruction(&code[*place])).collect(),
        bounds: vec![Change {
            name: format!("each iteration{bytes} of the loop at {:#x}", bound.offset),
            before: Some(bound.cycles()),
            after: Some(new.cycles() / f64::from(times)),
        }],
    }]
}

/// The longest run among instructions of a path: an addition, additions with carry onto the same register, and at last one of nothing,
/// which takes in the last carry.
fn longest_run(code: &[Instruction], on_path: &[usize]) -> Option<Run> {
    let mut best: Option<Run> = None;
    let mut current: Option<Run> = None;
    for step in on_path {
        let instruction = &code[*step];
        let Some(kind) = accumulation(instruction) else { continue };
        let sum = instruction.op0_register();
        let continues = kind != Mnemonic::Add && current.as_ref().is_some_and(|run| run.sum == sum);
        if !continues {
            current = Some(Run { sum, steps: Vec::new() });
        }
        let Some(run) = &mut current else { continue };
        run.steps.push(*step);
        let is_closed = is_nothing(code, *step) && run.steps.len() > 3;
        if is_closed && best.as_ref().is_none_or(|known| known.steps.len() < run.steps.len()) {
            best = current.take().filter(|run| is_movable(code, run));
        }
    }
    best
}

/// The kind of addition onto a general register, if it is one.
fn accumulation(instruction: &Instruction) -> Option<Mnemonic> {
    use Mnemonic as M;
    let is_wide = instruction.op_count() == 2
        && instruction.op_kind(0) == OpKind::Register
        && (instruction.op0_register().is_gpr64() || instruction.op0_register().is_gpr32());
    match instruction.mnemonic() {
        M::Add if is_wide => Some(M::Add),
        M::Adc | M::Adcx | M::Adox if is_wide => Some(M::Adc),
        _ => None,
    }
}

/// True if what is added is zero: an immediate, or a register that an idiom cleared.
fn is_nothing(code: &[Instruction], step: usize) -> bool {
    let instruction = &code[step];
    if instruction.op_kind(1) != OpKind::Register {
        return instruction.op_kind(1) != OpKind::Memory && instruction.immediate(1) == 0;
    }
    let register = instruction.op1_register().full_register();
    let writer = code[..step].iter().rev().find(|before| {
        before.op_count() > 0
            && before.op_kind(0) == OpKind::Register
            && before.op0_register().full_register() == register
    });
    writer.is_some_and(|writer| {
        writer.mnemonic() == Mnemonic::Xor && writer.op1_register() == writer.op0_register()
    })
}

/// True if the run's instructions can stand together at the place of its last one: nothing between them uses the
/// sum or writes what they read.
fn is_movable(code: &[Instruction], run: &Run) -> bool {
    let (Some(first), Some(last)) = (run.steps.first(), run.steps.last()) else { return false };
    let mut factory = iced_x86::InstructionInfoFactory::new();
    let read: Vec<Register> = run
        .steps
        .iter()
        .flat_map(|step| [code[*step].memory_base(), code[*step].memory_index(), run.sum])
        .chain(run.steps.iter().map(|step| {
            if code[*step].op_kind(1) == OpKind::Register {
                code[*step].op1_register()
            } else {
                Register::None
            }
        }))
        .filter(|register| register.is_gpr())
        .map(Register::full_register)
        .collect();
    let defined = |step: usize| {
        // Addends that are made between the run's instructions stand before its last one, and so before its new place.
        let info = factory.info(&code[step]);
        let used = info.used_registers().iter();
        used.map(|used| (used.register().full_register(), used.access())).collect::<Vec<_>>()
    };
    let sum = run.sum.full_register();
    let others = (*first..*last).filter(|step| !run.steps.contains(step));
    let mut is_free = true;
    let uses: Vec<_> = others.map(defined).collect();
    for (register, access) in uses.into_iter().flatten() {
        let writes = !matches!(access, iced_x86::OpAccess::Read | iced_x86::OpAccess::CondRead);
        let is_pointer = run.steps.iter().any(|step| {
            code[*step].memory_base().full_register() == register && code[*step].op_kind(1) == OpKind::Memory
        });
        is_free &= register != sum && !(writes && is_pointer && read.contains(&register));
    }
    is_free
}

/// A general register that the code does not name, caller-saved ones first.
fn spare_register(code: &[Instruction]) -> Option<Register> {
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

/// The spare register in the width of another.
fn sized(spare: Register, like: Register) -> Register {
    if like.is_gpr32() { spare.full_register32() } else { spare.full_register() }
}

fn name(register: Register) -> String {
    format!("{register:?}").to_lowercase()
}

/// An instruction that does `mnemonic` of an addend onto a register.
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

/// Takes the last carry in.
fn close(sum: Register) -> Option<Instruction> {
    let code = if sum.is_gpr64() { Code::Adc_rm64_imm8 } else { Code::Adc_rm32_imm8 };
    Instruction::with2(code, sum, 0).ok()
}

/// Adds registers of one width.
fn add(mnemonic: Mnemonic, to: Register, from: Register) -> Option<Instruction> {
    let code = match (mnemonic, to.is_gpr64()) {
        (Mnemonic::Add, true) => Code::Add_r64_rm64,
        (Mnemonic::Add, false) => Code::Add_r32_rm32,
        (_, true) => Code::Adc_r64_rm64,
        (_, false) => Code::Adc_r32_rm32,
    };
    Instruction::with2(code, to, from).ok()
}

/// The code with the first addends of a run in a second stream.
fn rewrite(code: &[Instruction], run: &Run, spare: Register, moved: usize) -> Option<Vec<Instruction>> {
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

/// The code with the later half of a run summed in a second register.
fn two_sums(code: &[Instruction], run: &Run, spare: Register) -> Option<Vec<Instruction>> {
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

/// The code with a run's instructions taken out and others at the place of its last.
fn replaced(code: &[Instruction], run: &Run, new: Vec<Instruction>) -> Vec<Instruction> {
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

/// The body twice, with another accumulator the second time.
fn unrolled(body: &[Instruction], on_path: &[usize]) -> Option<(Vec<Instruction>, Register, Register)> {
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

/// True for additions, whose order is free.
fn adds(instruction: &Instruction) -> bool {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    ["add", "vpadd", "padd", "vpdpwssd", "vpdpbusd"].iter().any(|start| name.starts_with(start))
}

/// Instructions at addresses of their own, in order.
fn placed(code: Vec<Instruction>) -> Function {
    // The longest that an instruction may be.
    const STEP: u64 = 15;
    let mut instructions = code;
    for (place, instruction) in instructions.iter_mut().enumerate() {
        instruction.set_len(STEP as usize);
        instruction.set_ip(place as u64 * STEP);
    }
    Function { entry: 0, instructions, stops: Vec::new() }
}

/// A function of these instructions without their branches.
fn straight(code: Vec<Instruction>) -> Function {
    let body = code.into_iter().filter(|instruction| !crate::text::is_branch(instruction));
    placed(body.chain([Instruction::with(Code::Retnq)]).collect())
}

/// A function that repeats these instructions.
fn looped(mut body: Vec<Instruction>, mut branch: Instruction) -> Function {
    branch.set_near_branch64(0);
    body.extend([branch, Instruction::with(Code::Retnq)]);
    placed(body)
}
