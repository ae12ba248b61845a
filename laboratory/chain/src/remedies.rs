//! What besides a second stream would make a call faster, judged by what was executed: a carry that is kept, wider loads,
//! vectors, fewer taken branches, less behind the loop. Each says what the call takes now and what it would take; what gains
//! less than [`WORTH`] is not said.

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

/// A call that was followed.
#[derive(Clone, Copy, Debug)]
pub struct Followed<'a> {
    /// Its analysis.
    pub call: &'a Analysis,
    /// Its instructions among independent calls.
    pub independent: &'a Ops,
    /// Cycles of a chained call, as predicted.
    pub chained_cycles: f64,
    /// Cycles of an independent call.
    pub independent_cycles: f64,
    /// Bytes of a call.
    pub bytes: usize,
}

/// The bytes from which vectors are worth their setting up.
const LEAST_FOR_VECTORS: usize = 128;
/// The cycles of a fold of 64 bits to 32: a shift, an addition, a carry.
const FOLD: f64 = 3.0;

/// Every change that gains enough, but for those of [`suggest`](crate::suggest).
#[must_use]
pub fn of(
    followed: Followed<'_>,
    main: Option<&LoopBound>,
    code: &Analysis,
    latencies: &Latencies,
) -> Vec<Suggestion> {
    let bodies = fold::bodies(&followed.call.order);
    let turns: Vec<Body> = bodies.into_iter().filter(|body| body.times > 1).collect();
    let found = [
        main.and_then(|main| keep_the_carry(followed, main, code)),
        narrow(followed, &turns, latencies),
        vectors(followed, &turns, latencies),
        branches(followed, latencies.table()),
        after_the_loop(followed, &turns),
    ];
    found.into_iter().flatten().collect()
}

/// How often the loop's first instruction was executed.
#[must_use]
pub fn turns(call: &Analysis, offset: i64) -> usize {
    let at = |index: &&usize| call.function.offset(call.function.instructions[**index].ip()) == offset;
    call.order.iter().filter(at).count()
}

/// A suggestion, if what it changes gains enough.
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

/// A loop that takes its last carry in at the end of every turn.
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
    let what = "let the carry go on to the next turn, with counts by lea and dec, which leave it alone, and take it in once after \
                the loop";
    let moved = closing.iter().map(|index| code.function.text(*index)).collect();
    let change = (CHAINED, followed.chained_cycles, followed.chained_cycles - saved);
    worthwhile(Remedy::KeepTheCarry, what.to_owned(), moved, vec![change])
}

/// The steps of one turn of each body.
fn turn<'a>(call: &'a Analysis, turns: &'a [Body]) -> impl Iterator<Item = (&'a Instruction, usize)> {
    turns.iter().flat_map(move |body| {
        let steps = &call.order[body.first..body.first + body.length];
        steps.iter().map(move |index| (&call.function.instructions[*index], body.times))
    })
}

/// Loads of 8 or 16 bits in a loop.
fn narrow(followed: Followed<'_>, turns: &[Body], latencies: &Latencies) -> Option<Suggestion> {
    let load = |instruction: &Instruction| {
        let form = Form::of(instruction);
        match form.memory().filter(|place| *place > 0).map(|place| form.operands[place]) {
            Some(Operand::Memory(bits @ (8 | 16))) => Some(bits),
            _ => None,
        }
    };
    let loads: Vec<(u16, String, usize)> = turn(followed.call, turns)
        .filter_map(|(i, times)| Some((load(i)?, text::instruction(i), times)))
        .collect();
    let bits = loads.iter().map(|(bits, ..)| *bits).max()?;
    let read: usize = loads.iter().map(|(bits, _, times)| usize::from(*bits) / 8 * times).sum();
    if read * 2 < followed.bytes {
        return None;
    }
    let promise = sketch::carried(followed.bytes, latencies)?;
    let mut moved: Vec<String> = loads.into_iter().map(|(_, text, _)| text).collect();
    moved.dedup();
    let what = format!("load 8 bytes in place of {} and add them with carry", bits / 8);
    let changes = vec![
        (CHAINED, followed.chained_cycles, promise.chained),
        (INDEPENDENT, followed.independent_cycles, promise.independent),
    ];
    worthwhile(Remedy::WidenTheLoad, what, moved, changes)
}

/// A loop without vectors over data that are long enough for them.
fn vectors(followed: Followed<'_>, turns: &[Body], latencies: &Latencies) -> Option<Suggestion> {
    let is_vector = |form: Form| form.operands.iter().any(|operand| matches!(operand, Operand::Vector(_)));
    let has_vectors =
        followed.call.order.iter().any(|index| is_vector(followed.call.effects[*index].form.clone()));
    let adds = turn(followed.call, turns).any(|(i, _)| {
        matches!(i.mnemonic(), Mnemonic::Add | Mnemonic::Adc | Mnemonic::Adcx | Mnemonic::Adox)
    });
    if has_vectors || !adds || followed.bytes < LEAST_FOR_VECTORS {
        return None;
    }
    let promise = sketch::vectors(followed.bytes, latencies)?;
    let changes = vec![
        (CHAINED, followed.chained_cycles, promise.chained),
        (INDEPENDENT, followed.independent_cycles, promise.independent),
    ];
    let what = "sum 32 bytes at once: halves multiplied by one and added in pairs (vpmaddwd)";
    worthwhile(Remedy::UseVectors, what.to_owned(), Vec::new(), changes)
}

/// Taken branches that are no loop's.
fn branches(followed: Followed<'_>, table: &Table) -> Option<Suggestion> {
    let mut straight = followed.independent.clone();
    let mut taken = 0;
    for op in straight.0.iter_mut().filter(|op| op.leaves == Leaves::Taken) {
        op.leaves = Leaves::Not;
        taken += 1;
    }
    let after = simulate(&straight, &table.core, table.port_names.len(), Limits::ALL).cycles;
    let is = if taken == 1 { "branch is" } else { "branches are" };
    let what = format!("let what usually runs fall through: {taken} {is} taken");
    worthwhile(Remedy::DropABranch, what, Vec::new(), vec![(INDEPENDENT, followed.independent_cycles, after)])
}

/// What the path through the chained argument spends behind the last turn.
fn after_the_loop(followed: Followed<'_>, turns: &[Body]) -> Option<Suggestion> {
    let end = turns.last().map(|body| body.first + body.length * body.times)?;
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
    let what = format!("add less behind the loop: its {} additions there are on the chain", moved.len());
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

    /// As many turns of `movzx ecx, word [rdi]; add eax, ecx; add rdi, 2; dec rsi; jne`, and a return.
    fn halves(turns: usize) -> Trace {
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
        let (end, turn) = steps.split_last().expect("instructions");
        for _ in 0..turns {
            trace.steps.extend(turn);
        }
        trace.steps.push(*end);
        trace
    }

    fn suggested(bytes: usize) -> (Vec<Suggestion>, f64) {
        let latencies = Latencies::of_table(table::by_name("zen5").expect("a table"));
        let trace = halves(bytes / 2);
        let signature = Signature::checksum();
        let call = analysis::of_trace(&trace, &signature, Options::new(&latencies));
        let promise = sketch::promise(trace.clone(), bytes, &latencies).expect("cycles");
        let caller = called(&trace, &signature, Calls::Independent, bytes).expect("a loop");
        let independent = Ops::of_trace(&caller, &latencies, true);
        let followed = Followed {
            call: &call,
            independent: &independent,
            chained_cycles: promise.chained,
            independent_cycles: promise.independent,
            bytes,
        };
        (of(followed, None, &call, &latencies), promise.chained)
    }

    #[test]
    fn a_loop_of_halves_is_to_be_widened_and_no_promise_is_below_the_chain_of_carries() {
        let (found, before) = suggested(1500);
        let after = |kind: Remedy| {
            let one = found.iter().find(|one| one.kind == kind).expect("a suggestion");
            let change = one.bounds.iter().find(|change| change.name == CHAINED).expect("chained calls");
            assert_eq!(change.before, Some(before));
            change.after.expect("a promise")
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
