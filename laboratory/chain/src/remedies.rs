//! What besides a second stream would make a call faster, judged by what was executed: a carry that is kept, wider loads,
//! vectors, fewer taken branches, less behind the loop. Each says what the call takes now and what it would take; what gains
//! less than [`WORTH`] is not said.

use crate::analysis::{Analysis, LoopBound};
use crate::fold::{self, Body};
use crate::form::{Form, Operand};
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
    table: &Table,
) -> Vec<Suggestion> {
    let bodies = fold::bodies(&followed.call.order);
    let turns: Vec<Body> = bodies.into_iter().filter(|body| body.times > 1).collect();
    let found = [
        main.and_then(|main| keep_the_carry(followed, main, code)),
        narrow(followed, &turns),
        vectors(followed, &turns, table),
        branches(followed, table),
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

/// The share of the steps that lies in bodies.
fn share(call: &Analysis, turns: &[Body]) -> f64 {
    turns.iter().map(|body| body.length * body.times).sum::<usize>() as f64 / call.order.len().max(1) as f64
}

/// Loads of 8 or 16 bits in a loop.
fn narrow(followed: Followed<'_>, turns: &[Body]) -> Option<Suggestion> {
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
    // As many turns as before do the work of 64 / bits of them: what is in the loop shrinks by that.
    let left = 1.0 - share(followed.call, turns) * (1.0 - f64::from(bits) / 64.0);
    let mut moved: Vec<String> = loads.into_iter().map(|(_, text, _)| text).collect();
    moved.dedup();
    let what = format!("load 8 bytes in place of {} and add them with carry", bits / 8);
    let changes = vec![
        (CHAINED, followed.chained_cycles, followed.chained_cycles * left),
        (INDEPENDENT, followed.independent_cycles, followed.independent_cycles * left),
    ];
    worthwhile(Remedy::WidenTheLoad, what, moved, changes)
}

/// A loop without vectors over data that are long enough for them.
fn vectors(followed: Followed<'_>, turns: &[Body], table: &Table) -> Option<Suggestion> {
    let is_vector = |form: Form| form.operands.iter().any(|operand| matches!(operand, Operand::Vector(_)));
    let has_vectors =
        followed.call.order.iter().any(|index| is_vector(followed.call.effects[*index].form.clone()));
    let adds = turn(followed.call, turns).any(|(i, _)| {
        matches!(i.mnemonic(), Mnemonic::Add | Mnemonic::Adc | Mnemonic::Adcx | Mnemonic::Adox)
    });
    if has_vectors || !adds || followed.bytes < LEAST_FOR_VECTORS {
        return None;
    }
    // Three operations for 32 bytes: a load with an exclusive or, products summed in pairs, an addition.
    let ports =
        table.work_of(crate::class::Class::Vector).first().map_or(1, |ports| ports.ports.count_ones());
    let loop_cycles = followed.bytes as f64 / 32.0 * 3.0 / f64::from(ports.max(1));
    let rest = 1.0 - share(followed.call, turns);
    let changes = vec![
        (CHAINED, followed.chained_cycles, followed.chained_cycles * rest + loop_cycles),
        (INDEPENDENT, followed.independent_cycles, followed.independent_cycles * rest + loop_cycles),
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
