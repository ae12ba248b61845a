//! Reduces a failing input to the smallest one that still fails.
//!
//! The failing call is repeated alone in new memory. If it fails there too, one property after the other is
//! made shrink or simpler as long as the call still fails in the same way: the length, the offsets, the
//! seed, the destination's contents, the data. Then it is tried in a process in which the routine was never
//! called ([`fresh`](super::fresh)): if it fails there, it fails on every replay. Otherwise it needs earlier
//! calls; these are searched for, and are reduced along with the rest. A call that does not fail again is
//! reported as it was.
//!
//! The effort is limited in bytes and calls rather than in time, so that a busy machine finds the same
//! example.

use super::checker::{Checker, Mismatch};
use super::counterexample::{Counterexample, FaultKind};
use super::desk::Desk;
use super::fresh::{Answer, Fresh};
use super::ground::Caught;
use super::note::{LINE, PAGE, Place, Spot};
use super::replay::{Around, Change, Earlier, Input};
use super::reported;
use super::sweep::SMALL;
use carryline_variants::Lengths;
use std::time::{Duration, Instant};

/// The budget for reducing, in bytes processed by calls or comparisons. Calls, mappings and processes cost
/// the equivalent of their time.
const BUDGET: u64 = 1 << 30;
const COST_OF_A_CALL: u64 = 256;
const COST_OF_AN_ATTEMPT: u64 = 64 << 10;
const COST_OF_A_PROCESS: u64 = 4 << 20;
/// For routines that take very long per byte.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// The largest number of equal calls before a failing one that is tried.
const MOST_CALLS: u32 = 1 << 14;

/// Where attempts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Here,
    /// In a process in which the routine was never called.
    Elsewhere,
}

struct Reducer<'b, 's> {
    checker: &'b mut Checker<'s>,
    fresh: Option<&'b Fresh>,
    place: Where,
    desk: Option<(usize, Desk)>,
    kind: FaultKind,
    lengths: Lengths,
    spent: u64,
    start: Instant,
    /// The number of the last failed call.
    count: u64,
}

/// The report of the smallest failing input found, starting from `caught`.
///
/// Only lengths that the routine's authors support are tried.
pub(super) fn reduce(
    checker: &mut Checker<'_>,
    lengths: Lengths,
    caught: Caught,
    fresh: Option<&Fresh>,
) -> Counterexample {
    let kind = caught.mismatch.kind;
    // Repeating these makes nothing simpler.
    let once = matches!(kind, FaultKind::Forked | FaultKind::TimedOut | FaultKind::Signals);
    let caught = Caught { reducible: caught.reducible && !once, ..caught };
    let (start, count) = (Instant::now(), checker.caller.calls);
    let mut reducer =
        Reducer { checker, fresh, place: Where::Here, desk: None, kind, lengths, spent: 0, start, count };
    if caught.reducible
        && let Some(example) = reducer.run(&caught)
    {
        return example;
    }
    reported::as_it_was(caught, checker.family)
}

/// Whether the kinds can turn into each other as an input shrinks.
fn same_group(one: FaultKind, other: FaultKind) -> bool {
    let group = |kind| match kind {
        FaultKind::WrongBytes | FaultKind::LeftBytesUnwritten => 1,
        FaultKind::WrongResult | FaultKind::ReadDependence => 2,
        FaultKind::WroteOutside | FaultKind::ReadOutside => 3,
        _ => 0,
    };
    one == other || (group(one) != 0 && group(one) == group(other))
}

impl Reducer<'_, '_> {
    fn run(&mut self, caught: &Caught) -> Option<Counterexample> {
        let here = self.alone(caught);
        if let Some((input, mismatch)) = &here
            && self.confirmed(input)
        {
            return Some(reported::alone(self.checker.family, input, mismatch.clone(), caught.note, true));
        }
        // Not by itself in a new process: it needs the recorded calls, the first call of a process, or many
        // calls.
        self.place = Where::Elsewhere;
        self.spent = 0;
        let exact = exact(caught);
        let plain = here.as_ref().map_or(&exact, |(input, _)| input);
        let found = self
            .again(&with_earlier(caught))
            .or_else(|| self.again(&exact))
            .or_else(|| self.after_many(plain));
        if let Some((mut input, mut mismatch)) = found {
            self.drop_earlier(&mut input, &mut mismatch);
            self.shrink(&mut input, &mut mismatch);
            self.drop_earlier(&mut input, &mut mismatch);
            return Some(reported::after_calls(self.checker.family, &input, mismatch, caught.note));
        }
        let (input, mismatch) = here?;
        Some(reported::alone(self.checker.family, &input, mismatch, caught.note, self.fresh.is_none()))
    }

    /// Reduces the call alone, in this process.
    fn alone(&mut self, caught: &Caught) -> Option<(Input, Mismatch)> {
        let exact = exact(caught);
        let mut failing = None;
        let mut everywhere = true;
        // Offsets matter modulo 64 first for small buffers, modulo 4096 for large ones.
        let grains = if exact.len <= SMALL { [LINE, PAGE] } else { [PAGE, LINE] };
        for grain in grains {
            for around in [Around::Random, Around::Ones, Around::Zeros] {
                let candidate = Input {
                    around,
                    dst: regrained(exact.dst, grain),
                    src: regrained(exact.src, grain),
                    ..exact.clone()
                };
                match self.attempt(&candidate, 128) {
                    Some(mismatch) => failing = Some((candidate, mismatch)),
                    None => everywhere = false,
                }
            }
            if failing.is_some() {
                break;
            }
            everywhere = true;
        }
        let (mut input, mut mismatch) = failing?;
        if !everywhere && mismatch.kind == FaultKind::WrongResult {
            mismatch.kind = FaultKind::ReadDependence;
        }
        let depends = mismatch.kind == FaultKind::ReadDependence;
        self.shrink(&mut input, &mut mismatch);
        if depends {
            mismatch.kind = FaultKind::ReadDependence;
            mismatch.about = format!(
                "the result changes with bytes outside the buffer: expected {}, got {}",
                mismatch.expected, mismatch.got
            );
        }
        Some((input, mismatch))
    }

    /// Whether the input also fails in a new process, or no new process is available.
    fn confirmed(&self, input: &Input) -> bool {
        let Some(fresh) = self.fresh else { return true };
        match fresh.try_on(input, self.count) {
            Answer::Wrong(mismatch) => same_group(mismatch.kind, self.kind),
            Answer::Nothing => true,
            Answer::Right => false,
        }
    }

    fn again(&mut self, input: &Input) -> Option<(Input, Mismatch)> {
        self.attempt(input, 1).map(|mismatch| (input.clone(), mismatch))
    }

    /// The input after the smallest number of equal calls that make it fail.
    fn after_many(&mut self, input: &Input) -> Option<(Input, Mismatch)> {
        let after = |times| {
            let earlier = Earlier { len: input.len as u64, times, then: Change::Nothing };
            Input { earlier: vec![earlier], ..input.clone() }
        };
        let mut times = 1;
        while self.attempt(&after(times), 1).is_none() {
            times *= 2;
            if times > MOST_CALLS {
                return None;
            }
        }
        let (mut few, mut many) = (times / 2, times);
        while many - few > 1 {
            let middle = few.midpoint(many);
            match self.attempt(&after(middle), 1) {
                Some(_) => many = middle,
                None => few = middle,
            }
        }
        self.again(&after(many))
    }

    /// Removes earlier calls that are not needed.
    fn drop_earlier(&mut self, input: &mut Input, mismatch: &mut Mismatch) {
        let mut at = 0;
        while at < input.earlier.len() {
            let mut candidate = input.clone();
            candidate.earlier.remove(at);
            if !self.keep(input, mismatch, candidate) {
                at += 1;
            }
        }
        for at in 0..input.earlier.len() {
            if input.earlier[at].then != Change::Nothing {
                let mut candidate = input.clone();
                candidate.earlier[at].then = Change::Nothing;
                self.keep(input, mismatch, candidate);
            }
        }
    }

    fn shrink(&mut self, input: &mut Input, mismatch: &mut Mismatch) {
        for _ in 0..4 {
            let before = (input.len, input.dst, input.src, input.seed);
            self.shorten(input, mismatch);
            self.simplify(input, mismatch);
            if before == (input.len, input.dst, input.src, input.seed) {
                break;
            }
        }
    }

    fn keep(&mut self, input: &mut Input, mismatch: &mut Mismatch, candidate: Input) -> bool {
        match self.attempt(&candidate, 9) {
            Some(found) => {
                (*input, *mismatch) = (candidate, found);
                true
            }
            None => false,
        }
    }

    fn shorten(&mut self, input: &mut Input, mismatch: &mut Mismatch) {
        let lengths = self.lengths;
        // In a new process, every length needs a process: only powers of two and adjacent lengths are tried.
        let likely = |len: &usize| {
            self.place == Where::Here
                || *len <= 8
                || (len - 1).is_power_of_two()
                || len.is_power_of_two()
                || (len + 1).is_power_of_two()
        };
        let candidates: Vec<usize> =
            (0..input.len.min(513)).filter(likely).filter(|len| lengths.contains(*len)).collect();
        for len in candidates {
            for from_end in [false, true] {
                if self.keep(input, mismatch, input.cut(len, from_end)) {
                    return;
                }
            }
        }
        // Too long to try every length: decreasing steps.
        let mut step = input.len / 2;
        while step > 0 && input.len > 512 {
            let shorter = input.len - step;
            let possible = shorter >= 512 && lengths.contains(shorter);
            if !possible || !self.keep(input, mismatch, input.cut(shorter, false)) {
                step /= 2;
            }
        }
    }

    fn simplify(&mut self, input: &mut Input, mismatch: &mut Mismatch) {
        let places: [fn(&mut Input) -> &mut Place; 2] = [|input| &mut input.dst, |input| &mut input.src];
        for place in places {
            let held = *place(input);
            if held.spot == Spot::None {
                continue;
            }
            let line = held.offset % LINE;
            let simpler = [0, 1, line].into_iter().filter(|offset| *offset < held.offset);
            let moved = simpler.map(|offset| Place { offset, ..held });
            let anywhere = regrained(held, LINE);
            for candidate in moved.chain([anywhere]).collect::<Vec<_>>() {
                let mut with = input.clone();
                *place(&mut with) = candidate;
                if candidate != held && self.keep(input, mismatch, with) {
                    break;
                }
            }
            if place(input).spot != Spot::Middle {
                let mut with = input.clone();
                place(&mut with).spot = Spot::Middle;
                self.keep(input, mismatch, with);
            }
        }
        for seed in [0, 1, 0xffff, 0x1_0000, 0x8000_0000] {
            if seed < input.seed && self.keep(input, mismatch, Input { seed, ..input.clone() }) {
                break;
            }
        }
        for byte in [0xa5, 0] {
            if !input.prefill.iter().all(|held| *held == byte) {
                let prefill = vec![byte; input.prefill.len()];
                self.keep(input, mismatch, Input { prefill, ..input.clone() });
            }
        }
        for byte in [0, 0xff, 1] {
            if input.data.iter().all(|held| *held == byte) {
                return;
            }
            if self.keep(input, mismatch, Input { data: vec![byte; input.data.len()], ..input.clone() }) {
                return;
            }
        }
        if self.place == Where::Elsewhere {
            return;
        }
        let mut part = input.len.min(4096).next_power_of_two() / 2;
        while part > 0 {
            for from in (0..input.len).step_by(part) {
                let to = (from + part).min(input.len);
                if input.data[from..to].iter().any(|byte| *byte != 0) {
                    let mut candidate = input.clone();
                    candidate.data[from..to].fill(0);
                    self.keep(input, mismatch, candidate);
                }
            }
            part /= 2;
        }
    }

    /// Makes the call `calls` times in new memory, or once in a new process; returns the first failure of the
    /// expected kind.
    fn attempt(&mut self, input: &Input, calls: usize) -> Option<Mismatch> {
        if self.spent > BUDGET || self.start.elapsed() > TIME_LIMIT {
            return None;
        }
        let room = input.room();
        self.spent += 4 * room as u64 + COST_OF_AN_ATTEMPT;
        let found = match self.place {
            Where::Here => {
                if self.desk.as_ref().is_none_or(|(bytes, _)| *bytes != room) {
                    self.desk = Some((room, Desk::new(room).ok()?));
                }
                let (_, desk) = self.desk.as_mut()?;
                let before = self.checker.caller.calls;
                let found = input.make(self.checker, desk, calls).ok()?;
                let made = self.checker.caller.calls - before;
                self.spent += made * (3 * input.len as u64 + COST_OF_A_CALL);
                if found.as_ref().is_some_and(|mismatch| same_group(mismatch.kind, self.kind)) {
                    self.count = self.checker.caller.calls;
                }
                found
            }
            Where::Elsewhere => {
                self.spent += 3 * input.bytes() + COST_OF_A_PROCESS;
                self.checker.beat();
                match self.fresh?.try_on(input, self.count) {
                    Answer::Wrong(mismatch) => Some(mismatch),
                    Answer::Right | Answer::Nothing => None,
                }
            }
        };
        found.filter(|mismatch| same_group(mismatch.kind, self.kind))
    }
}

/// The call exactly as it was made.
fn exact(caught: &Caught) -> Input {
    let Caught { call, note, data, prefill, .. } = caught;
    Input {
        len: call.len,
        seed: call.seed,
        data: data.clone(),
        prefill: prefill.clone(),
        dst: Place::in_page(note.dst, call.dst.addr() % PAGE),
        src: Place::in_page(note.src, call.src.addr() % PAGE),
        around: Around::Random,
        count: 0,
        earlier: Vec::new(),
    }
}

/// The call with the earlier calls, starting from the buffers' contents before the first.
fn with_earlier(caught: &Caught) -> Input {
    let exact = exact(caught);
    let [data, prefill] = match &caught.at_first {
        Some(at_first) => at_first.clone(),
        None => [exact.data.clone(), exact.prefill.clone()],
    };
    Input { data, prefill, earlier: caught.earlier.clone(), ..exact }
}

const fn regrained(place: Place, grain: usize) -> Place {
    Place { offset: place.offset % grain, grain, ..place }
}
