//! What would shorten a checksum's chain: accumulations that can be made a second stream.
//!
//! One's-complement addition may be done in any order, so a chain of additions onto one register can be cut in two
//! that do not wait for each other. The code is really rewritten (a free register, a `mov` for the first addend,
//! the second sum added to the first), and the rewritten code analysed; the bound named is what that analysis
//! finds. It is a proposal for a person, not a compiler: whether a register is free beyond this code nobody here
//! knows.

use crate::analysis::{self, Analysis, LoopBound, Options};
use crate::rewrite::{Additions, looped, name, rewrite, sized, spare_register, straight, two_sums, unrolled};
use crate::signature::Signature;
use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use serde::Serialize;

/// The kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Two chains in place of one.
    SplitTheChain,
    /// A carry that goes on to the next turn in place of an addition of nothing.
    KeepTheCarry,
    /// Eight bytes a load in place of one or two.
    WidenTheLoad,
    /// Vector instructions.
    UseVectors,
    /// Code that falls through.
    DropABranch,
    /// Fewer additions behind the loop.
    AddLessAfterTheLoop,
}

/// A gain below this share of what a call takes is in the noise.
pub const WORTH: f64 = 0.05;

/// A change and what it gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// Its kind.
    pub kind: Remedy,
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
    if chained.path_cycles.is_none_or(|known| known - cycles < WORTH * known) {
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
        kind: Remedy::SplitTheChain,
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
        kind: Remedy::SplitTheChain,
        what,
        moved: on_path.iter().map(|place| crate::text::instruction(&code[*place])).collect(),
        bounds: vec![Change {
            name: format!("each iteration{bytes} of the loop at {:#x}", bound.offset),
            before: Some(bound.cycles()),
            after: Some(new.cycles() / f64::from(times)),
        }],
    }]
}

/// The longest run among instructions of a path: an addition, additions with carry onto the same register, and at
/// last one of nothing, which takes in the last carry.
fn longest_run(code: &[Instruction], on_path: &[usize]) -> Option<Additions> {
    let mut best: Option<Additions> = None;
    let mut current: Option<Additions> = None;
    for step in on_path {
        let instruction = &code[*step];
        let Some(kind) = accumulation(instruction) else { continue };
        let sum = instruction.op0_register();
        let continues = kind != Mnemonic::Add && current.as_ref().is_some_and(|run| run.sum == sum);
        if !continues {
            current = Some(Additions { sum, steps: Vec::new() });
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
fn is_movable(code: &[Instruction], run: &Additions) -> bool {
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
        // Addends that are made between the run's instructions stand before its last one, and so before its new
        // place.
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
