//! From an input that fails to the smallest that still does.
//!
//! The failing call is made again in fresh memory, alone. If it fails there too, one thing after the other is
//! made smaller or plainer, as long as it goes on failing in the same way: the length, the offsets, the seed,
//! what the destination held, the data. A call that does not fail alone is reported as it was.

use super::bench::{Bench, Mismatch, Prefill, Trial, Window};
use super::call::Call;
use super::counterexample::{Counterexample, Kind, Note, Spot, Stage, hex, sums};
use super::ground::Caught;
use super::images::checksum_of;
use super::memory::Region;
use super::patterns::{PATTERNS, Random};
use carryline_variants::{Family, Lengths};
use std::time::{Duration, Instant};

/// Reducing ends after this time, with what it has by then.
const PATIENCE: Duration = Duration::from_millis(700);
/// Room for canaries beside a buffer.
const ROOM: usize = 1024;

/// What lies around the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    Zeros,
    Ones,
    Random,
}

#[derive(Clone, Debug)]
struct Input {
    len: usize,
    seed: u32,
    data: Vec<u8>,
    prefill: Vec<u8>,
    dst: (Spot, usize),
    src: (Spot, usize),
    around: Around,
}

struct Reducer<'b, 's> {
    bench: &'b mut Bench<'s>,
    memory: Option<(Region, Region, Vec<u8>)>,
    kind: Kind,
    lengths: Lengths,
    start: Instant,
}

/// The smallest failing input that can be found from `caught`, as it is to be reported.
///
/// Only lengths that the routine's authors support are tried.
pub(super) fn reduce(bench: &mut Bench<'_>, lengths: Lengths, caught: Caught) -> Counterexample {
    let kind = caught.mismatch.kind;
    // Neither becomes plainer when it is done again and again.
    let once = matches!(kind, Kind::Forked | Kind::TimedOut);
    let caught = Caught { reducible: caught.reducible && !once, ..caught };
    let mut reducer = Reducer { bench, memory: None, kind, lengths, start: Instant::now() };
    if caught.reducible
        && let Some((input, mismatch)) = reducer.run(&caught)
    {
        return reducer.report(&input, mismatch, caught.note);
    }
    as_it_was(caught, bench)
}

/// True for kinds that turn into each other as an input shrinks.
fn alike(one: Kind, other: Kind) -> bool {
    let group = |kind| match kind {
        Kind::WrongBytes | Kind::LeftBytesUnwritten => 1,
        Kind::WrongResult | Kind::ReadDependence => 2,
        Kind::WroteOutside | Kind::ReadOutside => 3,
        _ => 0,
    };
    one == other || (group(one) != 0 && group(one) == group(other))
}

impl Reducer<'_, '_> {
    fn run(&mut self, caught: &Caught) -> Option<(Input, Mismatch)> {
        let mut input = Input {
            len: caught.call.len,
            seed: caught.call.seed,
            data: caught.data.clone(),
            prefill: caught.prefill.clone(),
            dst: (caught.note.dst, caught.call.dst as usize % 64),
            src: (caught.note.src, caught.call.src as usize % 64),
            around: Around::Random,
        };
        let mut failing = None;
        let mut everywhere = true;
        for around in [Around::Random, Around::Ones, Around::Zeros] {
            let candidate = Input { around, ..input.clone() };
            match self.attempt(&candidate, 128) {
                Some(mismatch) => failing = Some((candidate, mismatch)),
                None => everywhere = false,
            }
        }
        let mut mismatch;
        (input, mismatch) = failing?;
        if !everywhere && mismatch.kind == Kind::WrongResult {
            mismatch.kind = Kind::ReadDependence;
        }
        let depends = mismatch.kind == Kind::ReadDependence;
        for _ in 0..4 {
            let before = (input.len, input.dst, input.src, input.seed);
            self.shorten(&mut input, &mut mismatch);
            self.plainer(&mut input, &mut mismatch);
            if before == (input.len, input.dst, input.src, input.seed) {
                break;
            }
        }
        if depends {
            mismatch.kind = Kind::ReadDependence;
            mismatch.about = format!(
                "the result changes with bytes outside the buffer: expected {}, got {}",
                mismatch.expected, mismatch.got
            );
        }
        Some((input, mismatch))
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
        for len in (0..input.len.min(513)).filter(|len| lengths.contains(*len)) {
            for from_end in [false, true] {
                if self.keep(input, mismatch, input.cut(len, from_end)) {
                    return;
                }
            }
        }
        // Too long for every length to be tried: ever smaller steps down.
        let mut step = input.len / 2;
        while step > 0 && input.len > 512 {
            let shorter = input.len - step;
            let possible = shorter >= 512 && lengths.contains(shorter);
            if !possible || !self.keep(input, mismatch, input.cut(shorter, false)) {
                step /= 2;
            }
        }
    }

    fn plainer(&mut self, input: &mut Input, mismatch: &mut Mismatch) {
        for offset in [0, 1] {
            if input.dst.1 > offset {
                let dst = (input.dst.0, offset);
                self.keep(input, mismatch, Input { dst, ..input.clone() });
            }
            if input.src.1 > offset {
                let src = (input.src.0, offset);
                self.keep(input, mismatch, Input { src, ..input.clone() });
            }
        }
        if input.dst.0 != Spot::None && input.dst.0 != Spot::Middle {
            self.keep(input, mismatch, Input { dst: (Spot::Middle, input.dst.1), ..input.clone() });
        }
        if input.src.0 != Spot::None && input.src.0 != Spot::Middle {
            self.keep(input, mismatch, Input { src: (Spot::Middle, input.src.1), ..input.clone() });
        }
        for seed in [0, 1, 0xffff, 0x1_0000, 0x8000_0000] {
            if seed < input.seed && self.keep(input, mismatch, Input { seed, ..input.clone() }) {
                break;
            }
        }
        for byte in [0xa5, 0] {
            if !input.prefill.iter().all(|held| *held == byte) {
                self.keep(input, mismatch, Input { prefill: vec![byte; input.len], ..input.clone() });
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

    /// Makes the call some times in fresh memory; the first failure of the kind that is looked for.
    fn attempt(&mut self, input: &Input, calls: usize) -> Option<Mismatch> {
        if self.start.elapsed() > PATIENCE {
            return None;
        }
        let family = self.bench.family;
        let size = (input.len + 2 * ROOM).next_multiple_of(carryline_machine::arena::page_bytes());
        if self.memory.as_ref().is_none_or(|(src, ..)| src.len() != size) {
            self.memory = Some((Region::new(size).ok()?, Region::new(size).ok()?, vec![0; size]));
        }
        let (src, dst, shadow) = self.memory.as_mut()?;
        let (src_at, dst_at) = (
            input.src.0.place(size, input.len, input.src.1),
            input.dst.0.place(size, input.len, input.dst.1),
        );
        src.set_read_only(false).ok()?;
        input.around.fill(src.bytes_mut());
        if family.reads() {
            src.bytes_mut()[src_at..src_at + input.len].copy_from_slice(&input.data);
        }
        src.set_read_only(true).ok()?;
        input.around.fill(shadow);
        if family.writes() {
            shadow[dst_at..dst_at + input.len].copy_from_slice(&input.prefill);
        }
        dst.bytes_mut().copy_from_slice(shadow);
        let window = Window { base: dst.start(), shadow: shadow.as_ptr(), size };
        let source = src.start().wrapping_add(src_at);
        let trial = Trial {
            call: Call {
                dst: if family.writes() {
                    dst.start().wrapping_add(dst_at)
                } else {
                    std::ptr::dangling_mut()
                },
                src: if family.reads() { source } else { std::ptr::dangling() },
                len: input.len,
                seed: input.seed,
            },
            window: family.writes().then_some(window),
            prefill: Prefill::Plain,
            content: source,
            sum: if sums(family) { checksum_of(&input.data, input.seed) } else { 0 },
            note: Note {
                stage: Stage::Reduced,
                pattern: 0,
                shift: 0,
                prefill: 0,
                dst: input.dst.0,
                src: input.src.0,
            },
            step: false,
        };
        for _ in 0..calls {
            if let Err(mismatch) = self.bench.check(&trial)
                && alike(mismatch.kind, self.kind)
            {
                return Some(*mismatch);
            }
        }
        None
    }

    fn report(&self, input: &Input, mismatch: Mismatch, note: Note) -> Counterexample {
        let family = self.bench.family;
        let size = (input.len + 2 * ROOM).next_multiple_of(carryline_machine::arena::page_bytes());
        let at = |(spot, offset): (Spot, usize)| spot.place(size, input.len, offset) as u64 % 4096;
        let (dst, src) = (at(input.dst), at(input.src));
        let held = if family.reads() { &input.data } else { &input.prefill };
        let name = if family.reads() { note.pattern } else { note.prefill };
        let pattern = match held.first() {
            Some(first) if held.iter().all(|byte| byte == first) => format!("every byte {first:#04x}"),
            _ => format!("from: {}", PATTERNS[name].name),
        };
        let note = Note { stage: Stage::Reduced, dst: input.dst.0, src: input.src.0, ..note };
        finish(mismatch, family, input.len, input.seed, dst, src, pattern, Some(hex(held)), note, true)
    }
}

impl Input {
    /// The same with only the first or the last `len` bytes.
    fn cut(&self, len: usize, from_end: bool) -> Input {
        let part = |bytes: &[u8]| match bytes.len() {
            0 => Vec::new(),
            all if from_end => bytes[all - len..].to_vec(),
            _ => bytes[..len].to_vec(),
        };
        Input { len, data: part(&self.data), prefill: part(&self.prefill), ..self.clone() }
    }
}

impl Around {
    fn fill(self, bytes: &mut [u8]) {
        match self {
            Around::Zeros => bytes.fill(0),
            Around::Ones => bytes.fill(0xff),
            Around::Random => {
                let mut random = Random::new(0x6172_6f75_6e64);
                bytes.fill_with(|| random.next() as u8);
            }
        }
    }
}

fn as_it_was(caught: Caught, bench: &Bench<'_>) -> Counterexample {
    let family = bench.family;
    let Caught { mismatch, call, note, data, prefill, reducible } = caught;
    let held = if family.reads() { data } else { prefill };
    let name = PATTERNS[if family.reads() { note.pattern } else { note.prefill }].name;
    let bytes = (held.len() == call.len && call.len > 0).then(|| hex(&held));
    let (dst, src) = (call.dst as u64 % 4096, call.src as u64 % 4096);
    finish(mismatch, family, call.len, call.seed, dst, src, name.to_owned(), bytes, note, !reducible)
}

#[allow(clippy::too_many_arguments, reason = "the fields of the report, gathered from two places")]
fn finish(
    mismatch: Mismatch,
    family: Family,
    len: usize,
    seed: u32,
    dst_offset: u64,
    src_offset: u64,
    pattern: String,
    bytes: Option<String>,
    note: Note,
    every_time: bool,
) -> Counterexample {
    let mut example = Counterexample {
        kind: mismatch.kind,
        family,
        len: len as u64,
        dst_offset: family.writes().then_some(dst_offset),
        src_offset: family.reads().then_some(src_offset),
        seed: sums(family).then_some(seed),
        pattern,
        bytes,
        expected: mismatch.expected,
        got: mismatch.got,
        first_difference: mismatch.first_difference,
        place: note.place(dst_offset, src_offset, len as u64),
        every_time,
        sentence: String::new(),
    };
    example.sentence = example.compose(&mismatch.about);
    example
}
