//! The report of a failing input: from the input, or the call as it was caught, to a counterexample.

use super::checker::Mismatch;
use super::counterexample::{Counterexample, FaultKind, hex};
use super::ground::Caught;
use super::note::{Note, PAGE, Place, Spot, Stage};
use super::patterns::PATTERNS;
use super::replay::{Earlier, Input};
use carryline_variants::Family;

/// The report of an input that fails without earlier calls, or as if it did.
pub(super) fn alone(
    family: Family,
    input: &Input,
    mismatch: Mismatch,
    note: Note,
    every_time: bool,
) -> Counterexample {
    let at = |place: Place| place.within(input.room(), input.len) as u64 % PAGE as u64;
    let (dst, src) = (at(input.dst), at(input.src));
    let held = if family.reads() { &input.data } else { &input.prefill };
    let name = if family.reads() { note.pattern } else { note.prefill };
    let pattern = match held.first() {
        Some(first) if held.iter().all(|byte| byte == first) => format!("every byte {first:#04x}"),
        _ => format!("from: {}", PATTERNS[name].name),
    };
    let note = Note { stage: Stage::Reduced, dst: input.dst.spot, src: input.src.spot, ..note };
    Counterexample {
        pattern,
        bytes: Some(hex(held)),
        in_page: [input.dst, input.src].iter().any(|place| place.grain == PAGE && place.spot != Spot::None),
        every_time,
        earlier: input.earlier.clone(),
        ..Counterexample::plain(mismatch.clone(), family, input.len, [dst, src], input.seed, note)
    }
    .with_sentence(&mismatch.about)
}

/// The report of an input that fails only in a new process, or after the calls that it lists.
pub(super) fn after_calls(family: Family, input: &Input, mismatch: Mismatch, note: Note) -> Counterexample {
    if input.earlier.is_empty() {
        let about = format!("in the first call of a process: {}", mismatch.what());
        return alone(family, input, Mismatch { about, ..mismatch }, note, true);
    }
    alone(family, input, after(&input.earlier, mismatch), note, true)
}

/// A mismatch that needs these earlier calls.
fn after(earlier: &[Earlier], mismatch: Mismatch) -> Mismatch {
    let calls: Vec<String> = earlier.iter().map(ToString::to_string).collect();
    let about = format!("after {}: {}", calls.join("; "), mismatch.what());
    let data = matches!(
        mismatch.kind,
        FaultKind::WrongResult | FaultKind::WrongBytes | FaultKind::LeftBytesUnwritten
    );
    let kind = if data { FaultKind::History } else { mismatch.kind };
    Mismatch { kind, about, ..mismatch }
}

/// The report of a call that did not fail again, or cannot be repeated alone.
pub(super) fn as_it_was(caught: Caught, family: Family) -> Counterexample {
    let Caught { mut mismatch, call, note, mut data, mut prefill, earlier, at_first, reducible } = caught;
    if !earlier.is_empty() {
        mismatch = after(&earlier, mismatch);
        if let Some(at_first) = at_first {
            [data, prefill] = at_first;
        }
    }
    let held = if family.reads() { data } else { prefill };
    let name = PATTERNS[if family.reads() { note.pattern } else { note.prefill }].name;
    let (dst, src) = (call.dst as u64 % 4096, call.src as u64 % 4096);
    Counterexample {
        pattern: name.to_owned(),
        bytes: (held.len() == call.len && call.len > 0).then(|| hex(&held)),
        every_time: !reducible,
        earlier,
        ..Counterexample::plain(mismatch.clone(), family, call.len, [dst, src], call.seed, note)
    }
    .with_sentence(&mismatch.about)
}
