//! Assembles the chains, times them in rounds, and subtracts the closers.

use super::closers::{self, Closer};
use super::mapping::Mapping;
use super::program::{self, LINKS, Width};
use super::rates::Rates;
use super::samples;
use super::units;
use super::{CalibrateError, Calibration, Clock, Measured, features};
use crate::class::Class;
use crate::form::{Form, Masking, Operand};
use crate::latency::{Key, Port};
use iced_x86::{Instruction, Mnemonic};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The pairs of classes whose sharing determines the port layout.
const PAIRS: [(Class, Class); 14] = [
    (Class::Alu, Class::Carry),
    (Class::Alu, Class::Shift),
    (Class::Alu, Class::Lea),
    (Class::Alu, Class::Multiply),
    (Class::Alu, Class::BitCount),
    (Class::Alu, Class::Branch),
    (Class::Shift, Class::Branch),
    (Class::Shift, Class::Multiply),
    (Class::Shift, Class::BitCount),
    (Class::Alu, Class::Vector),
    (Class::VectorMultiply, Class::Shuffle),
    (Class::Load, Class::Store),
    (Class::VectorLoad, Class::VectorStore),
    (Class::Vector, Class::Mask),
];

/// `uint64_t chain(void *buffer, uint64_t iterations)`.
type Chain = unsafe extern "sysv64" fn(buffer: *mut Buffer, iterations: u64) -> u64;

/// The memory that chains access, in a page of its own.
#[repr(C, align(4096))]
pub(super) struct Buffer([u8; 4096]);

/// Approximate core cycles per batch.
const BATCH_CYCLES: f64 = 6_000.0;
const ROUNDS: usize = 41;
/// Medians closer than this (or 1 %) to a whole number are rounded to it.
const NEAR: f64 = 0.06;

/// A chain that is ready to run.
struct Loaded {
    offset: usize,
    iterations: u64,
    /// Cycles per link, by round.
    rounds: Vec<f64>,
}

/// The subject of a chain.
enum Subject {
    Reference,
    Check(&'static str),
    Closer(Closer),
    Key(usize, Vec<Closer>),
}

pub(super) fn calibrate(
    keys: &[Key],
    clock: Clock,
    tell: &mut dyn FnMut(usize, usize),
) -> Result<Calibration, CalibrateError> {
    let mut calibration = Calibration::default();
    let (mut code, mut subjects) = (Vec::new(), Vec::new());
    let mut place = |bytes: Vec<u8>, subject: Subject| {
        // Every chain starts on a cache line.
        code.resize(code.len().next_multiple_of(64), 0xcc);
        subjects.push((subject, code.len()));
        code.extend(bytes);
    };
    let [add, lea] = checks();
    place(of_key(&add).map_err(|_| CalibrateError::NoReference)?.0, Subject::Reference);
    for (name, key) in [("add", &add), ("lea", &lea)] {
        place(of_key(key).map_err(|_| CalibrateError::NoReference)?.0, Subject::Check(name));
    }
    let mut closers: BTreeSet<Closer> = BTreeSet::new();
    for (index, key) in keys.iter().enumerate() {
        tell(index, 2 * keys.len());
        match of_key(key) {
            Ok((bytes, used)) => {
                closers.extend(&used);
                place(bytes, Subject::Key(index, used));
            }
            Err(reason) => calibration.left_out.push((key.clone(), reason)),
        }
    }
    for closer in closers {
        let Some(round_trip) = closers::round_trip(closer) else { continue };
        if let Ok(bytes) = assemble(&round_trip.repeat(LINKS), false) {
            place(bytes, Subject::Closer(closer));
        }
    }

    let mapping = Mapping::new(&code).map_err(|errno| CalibrateError::Forbidden(errno.to_string()))?;
    let mut timer = ChainTimer::new(&mapping, clock);
    let reference = timer.load(0).ok_or(CalibrateError::NoReference)?;
    let mut closer_cycles: BTreeMap<Closer, f64> = BTreeMap::from([(Closer::Compare, 1.0)]);
    let mut timed: Vec<(usize, Vec<Closer>, Loaded)> = Vec::new();
    let count = subjects.len();
    for (done, (subject, offset)) in subjects.into_iter().enumerate() {
        tell(keys.len() * (count + done) / count, 2 * keys.len());
        let found = timer.load(offset).map(|mut chain| {
            timer.rounds(&mut chain, &reference);
            chain
        });
        match (subject, found) {
            (Subject::Reference, _) => {}
            (Subject::Check(name), found) => {
                calibration.checks.push((name, found.map_or(f64::NAN, |chain| median(&chain.rounds))));
            }
            (Subject::Closer(closer), Some(chain)) => {
                let fixed = if matches!(closer, Closer::Select(_)) { 1.0 } else { 0.0 };
                closer_cycles.insert(closer, (near_whole(median(&chain.rounds)) - fixed) / closer.times());
            }
            (Subject::Key(key, used), Some(chain)) => timed.push((key, used, chain)),
            (Subject::Key(key, _), None) => {
                let reason = "its chain returned different numbers in two calls".to_owned();
                calibration.left_out.push((keys[key].clone(), reason));
            }
            (Subject::Closer(_), None) => {}
        }
    }
    for (key, used, chain) in timed {
        let known: Option<Vec<f64>> = used.iter().map(|closer| closer_cycles.get(closer).copied()).collect();
        match known {
            Some(known) => calibration.measured.push(measured(&keys[key], &chain.rounds, known.iter().sum())),
            None => calibration.left_out.push((keys[key].clone(), "a closer could not be timed".to_owned())),
        }
    }
    calibration.measured.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(calibration)
}

/// Instructions per iteration of the loop for a rate.
const INSTRUCTIONS: usize = 240;

/// Instructions of the classes in the ratio of their rates, mixed as evenly as possible.
fn mixed(classes: &[(Class, f64)]) -> Result<Vec<Instruction>, String> {
    let total: f64 = classes.iter().map(|(_, rate)| rate).sum();
    let mut owed = vec![0.0; classes.len()];
    let mut given = vec![0_usize; classes.len()];
    (0..INSTRUCTIONS)
        .map(|_| {
            for (owed, (_, rate)) in owed.iter_mut().zip(classes) {
                *owed += rate / total;
            }
            let most = (0..owed.len()).max_by(|a, b| owed[*a].total_cmp(&owed[*b])).unwrap_or(0);
            owed[most] -= 1.0;
            given[most] += 1;
            samples::instruction(classes[most].0, given[most]).map_err(|error| error.to_string())
        })
        .collect()
}

/// Times the classes alone, then the pairs that determine how ports are shared.
pub(super) fn rates(clock: Clock, tell: &mut dyn FnMut(usize, usize)) -> Result<Rates, CalibrateError> {
    let alone: Vec<Vec<(Class, f64)>> = samples::classes().map(|class| vec![(class, 1.0)]).collect();
    let count = alone.len() + PAIRS.len() + 1;
    let nops = timed(&[vec![(Class::Nothing, 1.0)]], clock)?[0].unwrap_or(f64::NAN);
    tell(1, count);
    let alone = timed(&alone, clock)?;
    tell(1 + alone.len(), count);
    let mut found = Rates { width: nops, ..Rates::default() };
    for (class, rate) in samples::classes().zip(alone) {
        // One in five instructions of the carry samples only breaks the chain.
        let rate = rate.map(|rate| if class == Class::Carry { rate * 0.8 } else { rate });
        found.alone.extend(rate.map(|rate| (class.name().to_owned(), rate)));
    }
    let pairs = PAIRS.map(|(a, b)| Some(vec![(a, found.alone(a)?), (b, found.alone(b)?)]));
    let mixes: Vec<Vec<(Class, f64)>> = pairs.into_iter().flatten().collect();
    let together = timed(&mixes, clock)?;
    tell(count, count);
    let fastest = together.iter().flatten().copied().fold(found.width, f64::max);
    found.width = if found.width.is_nan() { fastest } else { found.width.max(fastest) };
    for (mix, rate) in mixes.iter().zip(together) {
        let [a, b] = [0, 1].map(|index| mix[index].0.name().to_owned());
        found.together.extend(rate.map(|rate| (a, b, rate)));
    }
    Ok(found)
}

/// Instructions per cycle of each mix; `None` if the machine lacks some of them.
fn timed(mixes: &[Vec<(Class, f64)>], clock: Clock) -> Result<Vec<Option<f64>>, CalibrateError> {
    let mut code = of_key(&checks()[0]).map_err(|_| CalibrateError::NoReference)?.0;
    let places: Vec<Option<usize>> = mixes
        .iter()
        .map(|mix| {
            let bytes = mixed(mix).and_then(|instructions| assemble(&instructions, true)).ok()?;
            code.resize(code.len().next_multiple_of(64), 0xcc);
            let place = code.len();
            code.extend(bytes);
            Some(place)
        })
        .collect();
    let mapping = Mapping::new(&code).map_err(|errno| CalibrateError::Forbidden(errno.to_string()))?;
    let mut timer = ChainTimer::new(&mapping, clock);
    let reference = timer.load(0).ok_or(CalibrateError::NoReference)?;
    let rate = |place: usize, timer: &mut ChainTimer<'_>| {
        let mut loaded = timer.load(place)?;
        timer.rounds(&mut loaded, &reference);
        // An iteration of the reference takes one cycle per link.
        Some(INSTRUCTIONS as f64 / (median(&loaded.rounds) * LINKS as f64))
    };
    Ok(places.into_iter().map(|place| rate(place?, &mut timer)).collect())
}

/// `add r64, r64` and `lea r64, [b+i]`, from register to register.
pub(super) fn checks() -> [Key; 2] {
    let form = |mnemonic, second| Form {
        mnemonic,
        operands: vec![Operand::General(64), second],
        masking: Masking::None,
    };
    let address = Operand::Address { registers: 2, scaled: false, displaced: false };
    [
        Key { form: form(Mnemonic::Add, Operand::General(64)), from: Port::Operand(0), to: Port::Operand(0) },
        Key { form: form(Mnemonic::Lea, address), from: Port::Address, to: Port::Operand(0) },
    ]
}

/// The machine code of a key's chain, and the closers of a link.
fn of_key(key: &Key) -> Result<(Vec<u8>, Vec<Closer>), String> {
    let links = program::links(key)?;
    let counts_elsewhere = units::needs_cl(key);
    let closers = links.first().map(|link| link.closers.clone()).unwrap_or_default();
    let instructions: Vec<Instruction> = links.into_iter().flat_map(|link| link.instructions).collect();
    assemble(&instructions, counts_elsewhere).map(|bytes| (bytes, closers))
}

/// The machine code of a chain, unless the machine lacks some of its instructions.
pub(super) fn assemble(instructions: &[Instruction], counts_elsewhere: bool) -> Result<Vec<u8>, String> {
    if let Some(missing) = instructions.iter().find(|instruction| !features::runs(instruction)) {
        return Err(format!("this CPU or system lacks {:?}", missing.cpuid_features()));
    }
    let width = Width {
        has_avx: std::arch::is_x86_feature_detected!("avx"),
        has_masks: std::arch::is_x86_feature_detected!("avx512bw"),
    };
    program::assemble(instructions, counts_elsewhere, width).map_err(|error| error.to_string())
}

/// A latency, from the cycles of links that include closers.
fn measured(key: &Key, rounds: &[f64], closers: f64) -> Measured {
    let net: Vec<f64> = rounds.iter().map(|cycles| (cycles - closers).max(0.0)).collect();
    let (median, interval) = (median(&net), interval(&net));
    // Halves result from round trips of an odd length.
    let cycles = (near_whole(2.0 * median) / 2.0 * 100.0).round() / 100.0;
    Measured { key: key.clone(), cycles, median, interval }
}

/// The nearest whole number, if the time is close to it; latencies are whole numbers, readings of clocks are
/// not.
fn near_whole(cycles: f64) -> f64 {
    let whole = cycles.round();
    if (cycles - whole).abs() <= NEAR.max(0.01 * whole) { whole } else { cycles }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The 95 % interval of the median by order statistics: the ranks n/2 -+ 0.98 sqrt(n).
fn interval(values: &[f64]) -> Range<f64> {
    let (sorted, n) = (sorted(values), values.len() as f64);
    let at = |rank: f64| sorted.get(rank.clamp(0.0, n - 1.0) as usize).copied().unwrap_or(f64::NAN);
    at(n / 2.0 - 0.98 * n.sqrt())..at(n / 2.0 + 0.98 * n.sqrt())
}

/// Runs and times chains.
pub(super) struct ChainTimer<'a> {
    mapping: &'a Mapping,
    clock: Clock,
    buffer: Box<Buffer>,
    /// Ticks per core cycle, for choosing the size of batches.
    ticks_per_cycle: f64,
}

impl<'a> ChainTimer<'a> {
    pub fn new(mapping: &'a Mapping, clock: Clock) -> ChainTimer<'a> {
        ChainTimer { mapping, clock, buffer: Box::new(Buffer([0; 4096])), ticks_per_cycle: 0.6 }
    }

    /// Runs the chain at an offset for this many iterations and returns its result.
    pub fn call(&mut self, offset: usize, iterations: u64) -> u64 {
        // SAFETY: at the offset begins a complete function made by `program::assemble`, in memory that is
        // executable and lives as long as the borrow. It follows the System V convention: it preserves the
        // registers of its caller, pushes only those, and accesses no memory but the first 64 bytes of the
        // buffer, which `Draft::check` ensures for the instruction under test. `features::runs` has confirmed
        // that the CPU supports every instruction in it. It ends after `iterations` iterations, at least one.
        unsafe {
            let chain: Chain = std::mem::transmute(self.mapping.at(offset));
            chain(&raw mut *self.buffer, iterations.max(1))
        }
    }

    /// The result with a cleared buffer.
    pub fn call_anew(&mut self, offset: usize, iterations: u64) -> u64 {
        self.buffer.0[..64].fill(0);
        self.call(offset, iterations)
    }

    /// Ticks of this many iterations.
    fn ticks(&mut self, offset: usize, iterations: u64) -> f64 {
        let begin = (self.clock.start)();
        self.call(offset, iterations);
        ((self.clock.stop)().wrapping_sub(begin) as f64 - self.clock.overhead_ticks).max(1.0)
    }

    /// The chain at an offset, with enough iterations for a batch; `None` if it does not return the same
    /// number twice.
    fn load(&mut self, offset: usize) -> Option<Loaded> {
        if self.call_anew(offset, 2) != self.call_anew(offset, 2) {
            return None;
        }
        let mut iterations = 1;
        while iterations < 1 << 16 && self.ticks(offset, iterations) < BATCH_CYCLES * self.ticks_per_cycle {
            iterations *= 2;
        }
        Some(Loaded { offset, iterations, rounds: Vec::new() })
    }

    /// Times the chain and the reference in turn.
    fn rounds(&mut self, chain: &mut Loaded, reference: &Loaded) {
        for _ in 0..ROUNDS {
            let unit = self.ticks(reference.offset, reference.iterations) / reference.iterations as f64;
            let link = self.ticks(chain.offset, chain.iterations) / chain.iterations as f64;
            chain.rounds.push(link / unit);
        }
    }
}
