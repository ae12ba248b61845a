//! The main part of verification: every length, every offset, every kind of data.
//!
//! Lengths ascend, so that the first failure is near the smallest failing input. At full depth, every pair of
//! length and offset (for copies, of both offsets) meets every placement, and for checksums every pattern;
//! seeds and, for copies, patterns alternate. At replicate depth, there is one call per length and offset,
//! and the seed determines the rest.

use super::Depth;
use super::call::CallError;
use super::checker::{Checker, Prefill, mismatch_of_error};
use super::counterexample::{signal_name, sums};
use super::ground::{Caught, Destination, Field, Ground, Pick, Source, Stop, caught_around};
use super::images::Album;
use super::note::{LINE, Place, Spot, Stage};
use super::patterns::{PATTERNS, Random, SEEDS, index};
use super::signals::Actions;
use super::standard::Standard;
use carryline_variants::{Family, Lengths};

/// The state that all stages of one verification share.
pub(super) struct Verification<'s> {
    pub checker: Checker<'s>,
    pub family: Family,
    pub lengths: Lengths,
    pub depth: Depth,
    pub seed: u64,
    pub random: Random,
    turns: usize,
    /// The function of the C standard whose requirements the routine must also meet.
    pub standard: Option<Standard>,
    /// Observations that are not faults, and checks that were not possible.
    pub notes: Vec<String>,
}

/// The longest length of the sweep over all lengths and offsets.
pub(super) const SMALL: usize = 300;
/// The longest length for which there is an album with all patterns.
pub(super) const MIDDLING: usize = 8194;

const PREFILLS: [usize; 11] =
    [index::CONSTANT, 7, index::PARTLY_ZERO, 27, index::ONES, index::ZEROS, 3, 12, 13, 5, index::RANDOM];

impl<'s> Verification<'s> {
    pub fn new(checker: Checker<'s>, lengths: Lengths, depth: Depth, seed: u64) -> Verification<'s> {
        let family = checker.family;
        Verification {
            checker,
            family,
            lengths,
            depth,
            seed,
            random: Random::new(seed),
            turns: 0,
            standard: None,
            notes: Vec::new(),
        }
    }

    /// The same, of a routine that must also meet the requirements of a function of the C standard.
    pub fn of_standard(mut self, standard: Option<Standard>) -> Verification<'s> {
        self.standard = standard;
        self.checker.caller.returns_destination = standard.is_some();
        self
    }

    /// Makes a trial, and captures its data if it fails.
    pub fn run(&mut self, pick: &Pick<'_>) -> Result<(), Stop> {
        let trial = pick.trial(self.family);
        self.checker
            .check(&trial)
            .map_err(|mismatch| Stop::Caught(Box::new(Caught::new(*mismatch, &trial, self.family, true))))
    }

    /// Checks after the last call that no effects of the calls remain, among them other actions of signals.
    pub fn quiet(&mut self, actions: Option<&Actions>) -> Result<(), Stop> {
        let outcome = self.checker.caller.look().and_then(|()| match actions.and_then(Actions::restore) {
            Some(signal) => Err(CallError::SignalHandling(format!("the action of {}", signal_name(signal)))),
            None => Ok(()),
        });
        match (outcome, self.checker.last) {
            (Err(error), Some((call, note))) => {
                Err(caught_around(mismatch_of_error(error, &call, self.family), call, note))
            }
            _ => Ok(()),
        }
    }

    /// Notes, once, a check that was not possible.
    pub fn note(&mut self, what: &str) {
        if !self.notes.iter().any(|note| note == what) {
            self.notes.push(what.to_owned());
        }
    }

    /// The outcome of a stage; if there was not enough memory for it, a note instead of an error.
    pub fn note_if_out_of_memory(&mut self, what: &str, outcome: Result<(), Stop>) -> Result<(), Stop> {
        match outcome {
            Err(Stop::Memory(error)) => {
                self.notes.push(format!("not tried: {what}: {error}"));
                Ok(())
            }
            other => other,
        }
    }

    /// One of `0..choices`: each in turn at first, so that none is left out, then random.
    fn choose(&mut self, choices: usize) -> usize {
        if self.turns < 128 { self.turns % choices } else { self.random.below(choices) }
    }

    /// The argument of the next call besides addresses and length: a checksum's seed, or the byte of a function
    /// like `memset`.
    pub fn argument(&mut self) -> u32 {
        if self.standard == Some(Standard::Memset) {
            // Often zero, which may have a path of its own. Of the int, only the lowest eight bits count.
            return if self.random.below(2) == 0 { 0 } else { self.random.next() as u32 };
        }
        if !sums(self.family) {
            return 0;
        }
        let seed = match self.choose(SEEDS.len() + 1) {
            listed if listed < SEEDS.len() => SEEDS[listed],
            _ => self.random.next() as u32,
        };
        self.lengths.seed(seed)
    }

    fn prefill(&mut self) -> Prefill {
        if self.family == Family::Zero {
            return Prefill::Plain;
        }
        match self.choose(24) {
            0 => Prefill::Source,
            1 => Prefill::Reversed,
            2 => Prefill::AllButOne,
            _ => Prefill::Plain,
        }
    }

    /// A trial with this length and these offsets, and other choices made here.
    pub fn one(
        &mut self,
        stage: Stage,
        ground: Ground<'_>,
        len: usize,
        dst_offset: usize,
        src_offset: usize,
    ) -> Result<(), Stop> {
        let (src_spot, turn) = (Spot::ALL[self.choose(3)], self.choose(9));
        let dst_spot = Spot::ALL[(turn / 3 + turn) % 3];
        let (dst, src) = (Place::in_line(dst_spot, dst_offset), Place::in_line(src_spot, src_offset));
        self.at(stage, ground, len, dst, src)
    }

    /// A trial with this length and these places, and other choices made here.
    pub fn at(
        &mut self,
        stage: Stage,
        ground: Ground<'_>,
        len: usize,
        dst: Place,
        src: Place,
    ) -> Result<(), Stop> {
        self.turns += 1;
        let src = self.family.reads().then(|| {
            let patterns = ground.album.patterns();
            let pattern = patterns[self.choose(patterns.len())];
            let follow = self.random.below(2) == 0;
            Source::in_album(ground.album, pattern, follow, src, len)
        });
        let dst = self.family.writes().then(|| {
            let field = &ground.fields[self.choose(ground.fields.len())];
            let prefill = self.prefill();
            Destination::in_field(field, prefill, dst, len)
        });
        let seed = self.argument();
        self.run(&Pick { stage, len, seed, src, dst })
    }

    /// Buffers that touch a guard page with their first or last byte, in every combination.
    fn at_guards(&mut self, stage: Stage, ground: Ground<'_>, len: usize) -> Result<(), Stop> {
        let first = Place::in_line(Spot::AfterGuard, 0);
        let last = Place::in_line(Spot::BeforeGuard, (64 - len % 64) % 64);
        for (dst, src) in [(last, last), (first, first), (last, first), (first, last)] {
            self.at(stage, ground, len, dst, src)?;
        }
        Ok(())
    }

    /// The `lengths` that the routine's authors support, or the only length of a routine that has just one.
    pub fn supported(&self, lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut supported: Vec<usize> =
            lengths.into_iter().filter(|len| self.lengths.contains(*len)).collect();
        if let Lengths::Only(only) | Lengths::OnlyUnseeded(only) = self.lengths
            && supported.is_empty()
            && only <= MIDDLING
        {
            supported.push(only);
        }
        supported
    }

    /// A random supported length up to `most`, if there is one.
    pub fn some_length(&mut self, most: usize) -> usize {
        match self.lengths {
            Lengths::Any => self.random.below(most + 1),
            Lengths::UpTo(limit) => self.random.below(most.min(limit) + 1),
            Lengths::Only(only) | Lengths::OnlyUnseeded(only) => only.min(MIDDLING),
        }
    }

    /// The last supported lengths, at every offset.
    pub fn declared(&mut self, ground: Ground<'_>) -> Result<(), Stop> {
        let last = match self.lengths {
            Lengths::Any => return Ok(()),
            Lengths::UpTo(limit) => limit.saturating_sub(2)..=limit,
            Lengths::Only(only) | Lengths::OnlyUnseeded(only) => only..=only,
        };
        let room = ground.album.of(ground.album.patterns()[0]).len() - 128;
        let rounds = if self.depth == Depth::Full { 24 } else { 2 };
        for len in last.filter(|len| (SMALL + 1..=room).contains(len)) {
            self.at_guards(Stage::Lengths, ground, len)?;
            for offset in (0..64).chain(0..64).take(if len <= MIDDLING { 128 } else { 8 }) {
                for _ in 0..if len <= MIDDLING { rounds } else { 1 } {
                    let src = if self.family.writes() { self.random.below(64) } else { offset };
                    self.one(Stage::Lengths, ground, len, offset, src)?;
                }
            }
        }
        Ok(())
    }

    /// All lengths up to [`SMALL`] at all offsets.
    pub fn small(&mut self, ground: Ground<'_>) -> Result<(), Stop> {
        for len in (0..=SMALL).filter(|len| self.lengths.contains(*len)).collect::<Vec<_>>() {
            self.at_guards(Stage::Sweep, ground, len)?;
            match (self.depth, self.family) {
                (Depth::Replicate, _) => {
                    let turn = self.random.below(64);
                    for offset in 0..64 {
                        self.one(Stage::Sweep, ground, len, offset, (offset * 5 + turn) % 64)?;
                    }
                }
                (Depth::Full, Family::Checksum) => self.small_sums(ground.album, len)?,
                (Depth::Full, Family::Zero) => self.small_zeros(ground.fields, len)?,
                (Depth::Full, Family::Copy | Family::CopyChecksum) => self.small_copies(ground, len)?,
            }
        }
        Ok(())
    }

    fn small_sums(&mut self, album: &Album, len: usize) -> Result<(), Stop> {
        for offset in 0..64 {
            for pattern in 0..PATTERNS.len() {
                for (turn, spot) in Spot::ALL.into_iter().enumerate() {
                    self.turns += 1;
                    let follow = (turn + offset).is_multiple_of(2);
                    let src =
                        Some(Source::in_album(album, pattern, follow, Place::in_line(spot, offset), len));
                    let seed = self.argument();
                    self.run(&Pick { stage: Stage::Sweep, len, seed, src, dst: None })?;
                }
            }
            for seed in SEEDS.map(|seed| self.lengths.seed(seed)) {
                let pattern = self.random.below(PATTERNS.len());
                let src =
                    Some(Source::in_album(album, pattern, true, Place::in_line(Spot::Middle, offset), len));
                self.run(&Pick { stage: Stage::Sweep, len, seed, src, dst: None })?;
            }
        }
        Ok(())
    }

    fn small_zeros(&mut self, fields: &[Field<'_>], len: usize) -> Result<(), Stop> {
        for offset in 0..64 {
            for field in fields {
                for spot in Spot::ALL {
                    let dst =
                        Some(Destination::in_field(field, Prefill::Plain, Place::in_line(spot, offset), len));
                    let seed = self.argument();
                    self.run(&Pick { stage: Stage::Sweep, len, seed, src: None, dst })?;
                }
            }
        }
        Ok(())
    }

    fn small_copies(&mut self, ground: Ground<'_>, len: usize) -> Result<(), Stop> {
        for dst_offset in 0..64 {
            for src_offset in 0..64 {
                self.turns += 1;
                let pattern = self.choose(PATTERNS.len());
                let turn = src_offset + dst_offset;
                let src_place = Place::in_line(Spot::ALL[turn % 3], src_offset);
                let dst_place = Place::in_line(Spot::ALL[(turn / 3 + src_offset) % 3], dst_offset);
                let field = &ground.fields[(len + src_offset) % ground.fields.len()];
                let prefill = self.prefill();
                let src =
                    Some(Source::in_album(ground.album, pattern, turn.is_multiple_of(2), src_place, len));
                let dst = Some(Destination::in_field(field, prefill, dst_place, len));
                let seed = self.argument();
                self.run(&Pick { stage: Stage::Sweep, len, seed, src, dst })?;
            }
        }
        Ok(())
    }

    /// Lengths of a few pages: every length with a few offsets, and all offsets around powers of two. If there is only one
    /// buffer, every length modulo 64 meets every offset: up to 4160 bytes within twelve such lengths, and once from
    /// there to 8 KiB.
    pub fn middling(&mut self, ground: Ground<'_>) -> Result<(), Stop> {
        let (every, calls) = if self.depth == Depth::Full { (1, 6) } else { (29, 1) };
        let start = SMALL + 1 + self.random.below(every);
        let lone = !(self.family.reads() && self.family.writes());
        let phase = self.random.below(LINE);
        for len in (start..=4160).step_by(every) {
            for call in 0..calls {
                if lone {
                    // The factor is odd, so that 64 successive calls with lengths of one class have all offsets.
                    let offset = ((len / LINE * calls + call) * 37 + phase + len) % LINE;
                    self.alone(ground, len, offset)?;
                } else {
                    self.drawn(Stage::Lengths, ground, len)?;
                }
            }
        }
        for power in 8..=13 {
            for len in (1_usize << power) - 2..=(1 << power) + 2 {
                if self.lengths.contains(len) {
                    self.at_guards(Stage::Lengths, ground, len)?;
                }
                let calls = if self.depth == Depth::Full { 64 } else { 4 };
                for offset in 0..calls {
                    if self.lengths.contains(len) {
                        let (turn, src_turn) = (self.random.below(64), self.random.below(64));
                        let dst = if self.depth == Depth::Full { offset } else { turn };
                        // A family that only reads has its one offset here.
                        let src = if self.family.writes() { src_turn } else { dst };
                        self.one(Stage::Lengths, ground, len, dst, src)?;
                    }
                }
            }
        }
        if lone && self.depth == Depth::Full {
            for turn in 0..LINE * LINE {
                let len = 4160 + turn % LINE + LINE * self.random.below(63);
                self.alone(ground, len, turn / LINE)?;
            }
        }
        for _ in 0..if self.depth == Depth::Full { 1200 } else { 8 } {
            let len = 4160 + self.random.below(4034);
            self.drawn(Stage::Lengths, ground, len)?;
        }
        Ok(())
    }

    /// A trial of a family with one buffer, with this length, if supported, and this offset.
    fn alone(&mut self, ground: Ground<'_>, len: usize, offset: usize) -> Result<(), Stop> {
        if self.lengths.contains(len) {
            self.one(Stage::Lengths, ground, len, offset, offset)
        } else {
            Ok(())
        }
    }

    /// A trial with this length, if supported, and random choices.
    pub fn drawn(&mut self, stage: Stage, ground: Ground<'_>, len: usize) -> Result<(), Stop> {
        if !self.lengths.contains(len) {
            return Ok(());
        }
        let (dst, src) = (self.random.below(64), self.random.below(64));
        self.one(stage, ground, len, dst, src)
    }
}

/// The destinations of a verification, one for each prefill; none if the family writes nothing.
pub(super) fn fields(family: Family, album: &Album, most: usize) -> Result<Vec<Field<'_>>, Stop> {
    if !family.writes() {
        return Ok(Vec::new());
    }
    let patterns = PREFILLS.into_iter().filter(|pattern| album.patterns().contains(pattern));
    patterns.take(most).map(|pattern| Ok(Field::new(album.of(pattern))?)).collect()
}
