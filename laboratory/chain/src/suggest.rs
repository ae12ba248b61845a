//! Rewrites that shorten a checksum's chain by moving additions to a second accumulator.
//!
//! One's-complement addition is commutative and associative, so a chain of additions to one register can be
//! split into two independent ones. The code is actually rewritten (a spare register, a `mov` for the first
//! addend, the second sum added to the first) and analysed again; the new bounds are those of that analysis.
//! The result is a suggestion for a programmer, not a compiler pass: whether the spare register is unused
//! outside this code is unknown.

use crate::analysis::{self, Analysis, LoopBound, Options};
use crate::rewrite::{Additions, looped, name, rewrite, sized, spare_register, straight, two_sums, unrolled};
use crate::signature::Signature;
use iced_x86::{Instruction, Mnemonic, OpAccess, OpKind, Register};
use serde::Serialize;

/// The kind of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Split a chain into two.
    SplitTheChain,
    /// Carry into the next iteration instead of adding the carry to the sum in each.
    KeepTheCarry,
    /// Load eight bytes instead of one or two.
    WidenTheLoad,
    /// Use vector instructions.
    UseVectors,
    /// Let the common path fall through.
    DropABranch,
    /// Move additions out of the chain after the loop.
    AddLessAfterTheLoop,
}

/// The least relative gain that is reported; smaller ones are within the noise.
pub const WORTH: f64 = 0.05;

/// A suggestion and its gain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// Its kind.
    pub kind: Remedy,
    /// The change, in a sentence.
    pub what: String,
    /// The instructions concerned.
    pub moved: Vec<String>,
    /// The bounds before and after, in core cycles.
    pub bounds: Vec<Change>,
}

/// A bound before and after a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The name of the input or loop.
    pub name: String,
    /// Cycles of the code as it is.
    pub before: Option<f64>,
    /// Cycles after the change.
    pub after: Option<f64>,
}

/// Code of more steps is not rewritten.
const MOST_STEPS: usize = 2000;

/// The best split of the chain through the sum, in straight code or a trace.
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
        // A shorter path of the sum must not lengthen that of the data.
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
            "add {moved} of the {words} addends of {sum} in a second accumulator ({}) that does not depend on {}, and add that \
                         to {sum} once",
            name(sized(spare, run.sum)),
            chained.name
        ),
        moved: run.steps[..moved].iter().map(|step| crate::text::instruction(&code[*step])).collect(),
        bounds: bounds.collect(),
    }]
}

/// A second accumulator for a loop of one block that is bound by its carried chain.
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
                "add the later addends of each iteration in a second register ({}) beside {}; add the two after the loop",
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

/// The longest run of additions on a path: an addition, additions with carry to the same register, and
/// finally one of zero, which adds the last carry.
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
        let is_closed = adds_zero(code, *step) && run.steps.len() > 3;
        if is_closed && best.as_ref().is_none_or(|known| known.steps.len() < run.steps.len()) {
            best = current.take().filter(|run| is_movable(code, run)).or(best);
        }
    }
    best
}

/// The kind of addition to a general register, if the instruction is one.
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

/// True if the addend is zero: an immediate, or a register cleared by a zeroing idiom.
fn adds_zero(code: &[Instruction], step: usize) -> bool {
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

/// True if the run's instructions can be moved to the position of the last one: no instruction between them uses the sum, writes
/// an addend or a register of an addend's address after the addition that reads it, or stores to memory.
fn is_movable(code: &[Instruction], run: &Additions) -> bool {
    let (Some(first), Some(last)) = (run.steps.first(), run.steps.last()) else { return false };
    let is_read_before = |register: Register, at: usize| {
        run.steps.iter().take_while(|step| **step < at).any(|step| {
            let instruction = &code[*step];
            let read = match instruction.op_kind(1) {
                OpKind::Register => [instruction.op1_register(), Register::None],
                OpKind::Memory => [instruction.memory_base(), instruction.memory_index()],
                _ => [Register::None; 2],
            };
            read.iter().any(|part| part.full_register() == register)
        })
    };
    let is_write = |access: OpAccess| !matches!(access, OpAccess::Read | OpAccess::CondRead);
    let mut factory = iced_x86::InstructionInfoFactory::new();
    (*first..*last).filter(|step| !run.steps.contains(step)).all(|step| {
        let info = factory.info(&code[step]);
        let stores = info.used_memory().iter().any(|used| is_write(used.access()));
        !stores
            && info.used_registers().iter().all(|used| {
                let register = used.register().full_register();
                register != run.sum.full_register()
                    && !(is_write(used.access()) && is_read_before(register, step))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::IcedError;
    use iced_x86::code_asm::{CodeAssembler, qword_ptr, rax, rcx, rdi, rdx};

    fn assemble(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<Instruction> {
        let mut assembler = CodeAssembler::new(64).expect("64 bits are supported");
        write(&mut assembler).expect("instructions that exist");
        assembler.instructions().to_vec()
    }

    fn run(code: &[Instruction]) -> Option<Vec<usize>> {
        let all: Vec<usize> = (0..code.len()).collect();
        longest_run(code, &all).map(|run| run.steps)
    }

    #[test]
    fn a_run_is_not_moved_over_a_write_of_its_base_or_index() {
        for pointer in [rdi, rcx] {
            let code = assemble(|a| {
                a.add(rdx, qword_ptr(rdi + rcx * 8))?;
                a.adc(rdx, qword_ptr(rdi + rcx * 8 + 8))?;
                a.lea(pointer, pointer + 16)?;
                a.adc(rdx, qword_ptr(rdi + rcx * 8))?;
                a.adc(rdx, 0)
            });
            assert_eq!(run(&code), None, "{pointer:?}");
        }
    }

    #[test]
    fn a_run_is_not_moved_over_a_write_of_an_addend_it_has_added_or_a_store() {
        let reloaded = assemble(|a| {
            a.mov(rcx, qword_ptr(rdi))?;
            a.add(rdx, rcx)?;
            a.mov(rcx, qword_ptr(rdi + 8))?;
            a.adc(rdx, rcx)?;
            a.mov(rcx, qword_ptr(rdi + 16))?;
            a.adc(rdx, rcx)?;
            a.adc(rdx, 0)
        });
        assert_eq!(run(&reloaded), None);
        let loaded_in_time = assemble(|a| {
            a.add(rdx, qword_ptr(rdi))?;
            a.mov(rcx, qword_ptr(rdi + 8))?;
            a.adc(rdx, rcx)?;
            a.mov(rax, qword_ptr(rdi + 16))?;
            a.adc(rdx, rax)?;
            a.adc(rdx, 0)
        });
        assert_eq!(run(&loaded_in_time), Some(vec![0, 2, 4, 5]));
        let stored = assemble(|a| {
            a.add(rdx, qword_ptr(rdi))?;
            a.adc(rdx, qword_ptr(rdi + 8))?;
            a.mov(qword_ptr(rcx), rax)?;
            a.adc(rdx, qword_ptr(rdi + 16))?;
            a.adc(rdx, 0)
        });
        assert_eq!(run(&stored), None);
    }

    #[test]
    fn a_longer_run_that_cannot_be_moved_does_not_replace_a_movable_one() {
        let code = assemble(|a| {
            a.add(rdx, qword_ptr(rdi))?;
            a.adc(rdx, qword_ptr(rdi + 8))?;
            a.adc(rdx, qword_ptr(rdi + 16))?;
            a.adc(rdx, 0)?;
            a.add(rax, rdx)?;
            a.adc(rax, qword_ptr(rdi))?;
            a.adc(rax, qword_ptr(rdi + 8))?;
            a.lea(rdi, rdi + 16)?;
            a.adc(rax, qword_ptr(rdi))?;
            a.adc(rax, 0)
        });
        assert_eq!(run(&code), Some(vec![0, 1, 2, 3]));
    }
}
