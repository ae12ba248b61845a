//! Suggestions other than a second accumulator, from the executed instructions: keep the carry, widen loads,
//! use vectors, take fewer branches, add less after the loop. Each states the cycles of a call before and
//! after; a gain of less than [`WORTH`] is not reported.

use crate::analysis::{Analysis, LoopBound};
use crate::fold::{self, Body};
use crate::form::{Form, Operand};
use crate::latencies::Latencies;
use crate::sketch;
use crate::suggest::{Change, Remedy, Suggestion, WORTH};
use crate::table::Table;
use crate::text;
use crate::window::{Leaves, Limits, Ops, simulate};
use iced_x86::{Instruction, Mnemonic};

/// A traced call with its prediction.
#[derive(Clone, Copy, Debug)]
pub struct Followed<'a> {
    /// Its analysis.
    pub call: &'a Analysis,
    /// The instructions of one of many independent calls.
    pub independent: &'a Ops,
    /// The predicted cycles of a chained call.
    pub chained_cycles: f64,
    /// The predicted cycles of an independent call.
    pub independent_cycles: f64,
    /// The bytes per call.
    pub bytes: usize,
}

/// The least number of bytes for which vectors pay off.
const LEAST_FOR_VECTORS: usize = 128;
/// The cycles of folding 64 bits to 32: a shift, an addition, a carry.
const FOLD: f64 = 3.0;

/// All changes with a sufficient gain, except those of [`suggest`](crate::suggest).
#[must_use]
pub fn of(
    followed: Followed<'_>,
    main: Option<&LoopBound>,
    code: &Analysis,
    latencies: &Latencies,
) -> Vec<Suggestion> {
    let bodies = fold::bodies(&followed.call.order);
    let repeated: Vec<Body> = bodies.into_iter().filter(|body| body.times > 1).collect();
    let found = [
        main.and_then(|main| keep_the_carry(followed, main, code)),
        narrow(followed, &repeated, latencies),
        vectors(followed, &repeated, latencies),
        branches(followed, latencies.table()),
        after_the_loop(followed, &repeated),
    ];
    found.into_iter().flatten().collect()
}

/// How many iterations of the loop at `offset` were executed.
#[must_use]
pub fn turns(call: &Analysis, offset: i64) -> usize {
    let at = |index: &&usize| call.function.offset(call.function.instructions[**index].ip()) == offset;
    call.order.iter().filter(at).count()
}

/// A suggestion, if at least one of the changes gains enough.
fn worthwhile(
    kind: Remedy,
    what: String,
    moved: Vec<String>,
    changes: Vec<(&str, f64, f64)>,
) -> Option<Suggestion> {
    let gains = |(_, before, after): &(&str, f64, f64)| before - after > WORTH * before && *after > 0.0;
    let bounds: Vec<Change> = changes
        .into_iter()
        .filter(gains)
        .map(|(name, before, after)| Change {
            name: name.to_owned(),
            before: Some(before),
            after: Some(after),
        })
        .collect();
    (!bounds.is_empty()).then_some(Suggestion { kind, what, moved, bounds })
}

const CHAINED: &str = "a chained call";
const INDEPENDENT: &str = "an independent call";

fn is_closing(instruction: &Instruction) -> bool {
    let form = Form::of(instruction);
    instruction.mnemonic() == Mnemonic::Adc && form.operands.get(1) == Some(&Operand::Zero)
}

/// For a loop that adds the carry to the sum at the end of each iteration.
fn keep_the_carry(followed: Followed<'_>, main: &LoopBound, code: &Analysis) -> Option<Suggestion> {
    let turns = turns(followed.call, main.offset) as f64;
    let closing: Vec<usize> = main
        .chain
        .iter()
        .map(|link| link.instruction)
        .filter(|index| is_closing(&code.function.instructions[*index]))
        .collect();
    let is_chain = main.binding() == "recurrence" && main.chain.len() > closing.len();
    if closing.is_empty() || !is_chain || turns < 2.0 {
        return None;
    }
    let saved = closing.len() as f64 * (turns - 1.0);
    let what = "carry into the next iteration, with counters updated by lea and dec, which preserve the carry; add the last \
                    carry once after the loop";
    let moved = closing.iter().map(|index| code.function.text(*index)).collect();
    let change = (CHAINED, followed.chained_cycles, followed.chained_cycles - saved);
    worthwhile(Remedy::KeepTheCarry, what.to_owned(), moved, vec![change])
}

/// The instructions of one iteration of each body, with the number of iterations.
fn iteration<'a>(call: &'a Analysis, bodies: &'a [Body]) -> impl Iterator<Item = (&'a Instruction, usize)> {
    bodies.iter().flat_map(move |body| {
        let steps = &call.order[body.first..body.first + body.length];
        steps.iter().map(move |index| (&call.function.instructions[*index], body.times))
    })
}

/// For loads of 8 or 16 bits in a loop.
fn narrow(followed: Followed<'_>, bodies: &[Body], latencies: &Latencies) -> Option<Suggestion> {
    let load = |instruction: &Instruction| {
        let form = Form::of(instruction);
        match form.memory().filter(|place| *place > 0).map(|place| form.operands[place]) {
            Some(Operand::Memory(bits @ (8 | 16))) => Some(bits),
            _ => None,
        }
    };
    let loads: Vec<(u16, String, usize)> = iteration(followed.call, bodies)
        .filter_map(|(i, times)| Some((load(i)?, text::instruction(i), times)))
        .collect();
    let bits = loads.iter().map(|(bits, ..)| *bits).max()?;
    let read: usize = loads.iter().map(|(bits, _, times)| usize::from(*bits) / 8 * times).sum();
    if read * 2 < followed.bytes {
        return None;
    }
    let prediction = sketch::carried(followed.bytes, latencies)?;
    let mut moved: Vec<String> = loads.into_iter().map(|(_, text, _)| text).collect();
    moved.dedup();
    let what = format!("load 8 bytes instead of {} and add them with carry", bits / 8);
    let changes = vec![
        (CHAINED, followed.chained_cycles, prediction.chained),
        (INDEPENDENT, followed.independent_cycles, prediction.independent),
    ];
    worthwhile(Remedy::WidenTheLoad, what, moved, changes)
}

/// For a loop without vectors over enough data.
fn vectors(followed: Followed<'_>, bodies: &[Body], latencies: &Latencies) -> Option<Suggestion> {
    let is_vector = |form: Form| form.operands.iter().any(|operand| matches!(operand, Operand::Vector(_)));
    let has_vectors =
        followed.call.order.iter().any(|index| is_vector(followed.call.effects[*index].form.clone()));
    let adds = iteration(followed.call, bodies).any(|(i, _)| {
        matches!(i.mnemonic(), Mnemonic::Add | Mnemonic::Adc | Mnemonic::Adcx | Mnemonic::Adox)
    });
    if has_vectors || !adds || followed.bytes < LEAST_FOR_VECTORS {
        return None;
    }
    let prediction = sketch::vectors(followed.bytes, latencies)?;
    let changes = vec![
        (CHAINED, followed.chained_cycles, prediction.chained),
        (INDEPENDENT, followed.independent_cycles, prediction.independent),
    ];
    let what = "sum 32 bytes at once: multiply the 16-bit words by one and add them in pairs (vpmaddwd)";
    worthwhile(Remedy::UseVectors, what.to_owned(), Vec::new(), changes)
}

/// For taken branches other than those of loops.
fn branches(followed: Followed<'_>, table: &Table) -> Option<Suggestion> {
    let mut straight = followed.independent.clone();
    let mut taken = 0;
    for op in straight.0.iter_mut().filter(|op| op.leaves == Leaves::Taken) {
        op.leaves = Leaves::Not;
        taken += 1;
    }
    let after = simulate(&straight, &table.core, table.port_names.len(), Limits::ALL).cycles;
    let is = if taken == 1 { "branch is" } else { "branches are" };
    let what = format!("let the common path fall through: {taken} {is} taken");
    worthwhile(Remedy::DropABranch, what, Vec::new(), vec![(INDEPENDENT, followed.independent_cycles, after)])
}

/// For additions on the critical path after the last iteration.
fn after_the_loop(followed: Followed<'_>, bodies: &[Body]) -> Option<Suggestion> {
    let end = bodies.last().map(|body| body.first + body.length * body.times)?;
    let path = followed.call.longest()?;
    let behind = path.steps.iter().filter(|step| step.step >= end);
    let adds = |index: usize| {
        matches!(followed.call.function.instructions[index].mnemonic(), Mnemonic::Add | Mnemonic::Adc)
    };
    let (mut cycles, mut moved) = (0.0, Vec::new());
    for step in behind.filter(|step| adds(step.instruction)) {
        cycles += step.cycles;
        moved.push(followed.call.function.text(step.instruction));
    }
    let what = format!("add less after the loop: {} additions there are on the chain", moved.len());
    let after = followed.chained_cycles - (cycles - FOLD).max(0.0);
    worthwhile(Remedy::AddLessAfterTheLoop, what, moved, vec![(CHAINED, followed.chained_cycles, after)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{self, Options};
    use crate::signature::Signature;
    use crate::table;
    use crate::trace::{Trace, TraceStep};
    use crate::window::{Calls, called};
    use iced_x86::{Decoder, DecoderOptions, Register};

    /// A number of iterations of `movzx ecx, word [rdi]; add eax, ecx; add rdi, 2; dec rsi; jne`, and a
    /// return.
    fn words(iterations: usize) -> Trace {
        const CODE: [u8; 17] = [
            0x0f, 0xb7, 0x0f, 0x01, 0xc8, 0x48, 0x83, 0xc7, 0x02, 0x48, 0xff, 0xce, 0x75, 0xf2, 0xc3, 0x90,
            0x90,
        ];
        let mut registers = [0x1_0000; 16];
        registers[Register::RSP.number()] = 0x7fff_0000;
        let mut trace = Trace::default();
        let mut steps = Vec::new();
        for instruction in Decoder::with_ip(64, &CODE[..15], 0x40_0000, DecoderOptions::NONE) {
            let from = (instruction.ip() - 0x40_0000) as usize;
            trace.code.insert(instruction.ip(), CODE[from..from + instruction.len()].to_vec());
            steps.push(TraceStep { address: instruction.ip(), registers });
        }
        let (end, iteration) = steps.split_last().expect("instructions");
        for _ in 0..iterations {
            trace.steps.extend(iteration);
        }
        trace.steps.push(*end);
        trace
    }

    fn suggested(bytes: usize) -> (Vec<Suggestion>, f64) {
        let latencies = Latencies::of_table(table::by_name("zen5").expect("a table"));
        let trace = words(bytes / 2);
        let signature = Signature::checksum();
        let call = analysis::of_trace(&trace, &signature, Options::new(&latencies));
        let prediction = sketch::predict(trace.clone(), bytes, &latencies).expect("cycles");
        let caller = called(&trace, &signature, Calls::Independent, bytes).expect("a loop");
        let independent = Ops::of_trace(&caller, &latencies, true);
        let followed = Followed {
            call: &call,
            independent: &independent,
            chained_cycles: prediction.chained,
            independent_cycles: prediction.independent,
            bytes,
        };
        (of(followed, None, &call, &latencies), prediction.chained)
    }

    #[test]
    fn a_loop_of_words_should_be_widened_and_no_prediction_is_below_the_carry_chain() {
        let (found, before) = suggested(1500);
        let after = |kind: Remedy| {
            let one = found.iter().find(|one| one.kind == kind).expect("a suggestion");
            let change = one.bounds.iter().find(|change| change.name == CHAINED).expect("chained calls");
            assert_eq!(change.before, Some(before));
            change.after.expect("a prediction")
        };
        assert!(before > 700.0, "{before}");
        assert!((187.0..230.0).contains(&after(Remedy::WidenTheLoad)));
        assert!((24.0..90.0).contains(&after(Remedy::UseVectors)));
    }

    #[test]
    fn few_bytes_are_not_worth_vectors() {
        let (found, _) = suggested(LEAST_FOR_VECTORS - 2);
        assert!(found.iter().all(|one| one.kind != Remedy::UseVectors), "{found:?}");
    }
}
