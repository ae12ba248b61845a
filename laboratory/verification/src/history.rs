//! Sequences of calls: a routine must not depend on earlier ones.
//!
//! A routine that caches results by address and length is correct as long as the data does not change. So
//! calls are repeated at the same addresses with one byte changed (the first, the last or any), with a
//! shorter and a longer call between them, with new buffers at the same addresses, and with other bytes
//! around the source, since a checksum that changes with those reads outside its buffer. Earlier calls are
//! recorded, so that a failure that needs them can be reported with them.

use super::Depth;
use super::desk::{Desk, Spread};
use super::ground::{Caught, Stop};
use super::note::{Note, PAGE, Place, Spot, Stage, room_for};
use super::patterns::{Random, index};
use super::replay::{Change, Earlier};
use super::sweep::{SMALL, Verification};

const LONGEST: usize = 1 << 20;
/// Lengths above those of the sweep.
const LARGE: [usize; 13] = [
    512,
    1024,
    1500,
    2048,
    4096,
    9000,
    16 << 10,
    32 << 10,
    64 << 10,
    (128 << 10) + 1,
    256 << 10,
    (512 << 10) - 1,
    LONGEST,
];

impl Verification<'_> {
    /// Sequences of calls for lengths up to 300.
    pub fn repeated(&mut self) -> Result<(), Stop> {
        let every = if self.depth == Depth::Full { 1 } else { 7 };
        let first = 1 + self.random.below(every);
        let mut random = Random::new(self.seed ^ 0x6869_7374_6f72_7921);
        let mut desk = Desk::new(room_for(2 * SMALL + 1))?;
        for len in self.supported((first..=SMALL).step_by(every)) {
            self.course(&mut desk, len, &mut random)?;
        }
        Ok(())
    }

    /// Sequences of calls for lengths up to 1 MiB.
    pub fn repeated_at_large(&mut self) -> Result<(), Stop> {
        let mut random = Random::new(self.seed ^ 0x6869_7374_6f72_7922);
        let lengths = self.lengths;
        for len in LARGE.into_iter().filter(|len| lengths.contains(*len)) {
            let mut desk = Desk::new(room_for(longer(len)))?;
            self.course(&mut desk, len, &mut random)?;
        }
        Ok(())
    }

    fn course(&mut self, desk: &mut Desk, len: usize, random: &mut Random) -> Result<(), Stop> {
        let supported = |other: usize| if self.lengths.contains(other) { other } else { len };
        let (shorter, longer) = (supported(len / 2), supported(longer(len)));
        let any = random.below(len) as u64;
        let course = [
            (len, Change::Byte(0)),
            (len, Change::Byte(len as u64 - 1)),
            (len, Change::Byte(any)),
            (len, Change::Byte(any / 2)),
            (shorter, Change::Byte(any / 2)),
            (len, Change::Nothing),
            (longer, Change::Byte(any)),
            (len, Change::Buffers),
            (len, Change::Surroundings),
            (len, Change::Nothing),
        ];
        let course = course.map(|(len, then)| Earlier { len: len as u64, times: 1, then });
        let seed = self.argument();
        let place = |offset| Place::in_page(Spot::Middle, offset).within(desk.target.len(), longer);
        let offsets = if random.below(3) == 0 { [0; 2] } else { [random.below(PAGE), random.below(PAGE)] };
        let [dst_at, src_at] = offsets.map(place);
        let initial = random.clone();
        desk.fill(random);
        let spot = |has: bool| if has { Spot::Middle } else { Spot::None };
        let note = Note {
            stage: Stage::Repeated,
            pattern: index::RANDOM,
            shift: 0,
            prefill: index::RANDOM,
            dst: spot(self.family.writes()),
            src: spot(self.family.reads()),
        };
        for (number, step) in course.iter().enumerate() {
            let spread = Spread { dst_at, src_at, len: step.len as usize, seed };
            let trial = desk.trial(self.family, spread, note);
            if let Err(mismatch) = self.checker.check(&trial) {
                let mut caught = Caught::new(*mismatch, &trial, self.family, true);
                // The initial contents: a replay of all calls begins with them.
                desk.fill(&mut initial.clone());
                let held = |has: bool, bytes: &[u8], at: usize| match has {
                    true => bytes[at..at + spread.len].to_vec(),
                    false => Vec::new(),
                };
                let data = held(self.family.reads(), desk.source.bytes(), src_at);
                let prefill = held(self.family.writes(), desk.target.bytes(), dst_at);
                caught.at_first = Some([data, prefill]);
                caught.earlier = course[..number].to_vec();
                return Err(Stop::Caught(Box::new(caught)));
            }
            desk.change(step.then, Spread { len, ..spread }, number as u64)?;
        }
        Ok(())
    }
}

/// The length of the longer call between calls of `len` bytes.
const fn longer(len: usize) -> usize {
    if len < LONGEST / 2 { 2 * len + 1 } else { len + PAGE }
}
