//! A call with everything that leads to it, as data, and its execution in this or another process.

use super::checker::{Checker, Mismatch};
use super::desk::{Desk, Spread};
use super::note::{Note, Place, Spot, Stage, room_for};
use super::patterns::Random;
use carryline_machine::arena::MapError;
use serde::{Deserialize, Serialize};

/// The change to the buffers between a call and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The destination is restored to its contents before the call.
    Nothing,
    /// The same, except for one byte; the same byte of the source changes too.
    Byte(u64),
    /// Both buffers get new contents.
    Contents,
    /// Both buffers are unmapped, and new ones take their addresses.
    Buffers,
    /// The bytes around the source change.
    Surroundings,
}

/// Calls that preceded the failing one on the same buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// Their length in bytes.
    pub len: u64,
    /// The number of such calls.
    pub times: u32,
    /// The change after them.
    pub then: Change,
}

impl std::fmt::Display for Earlier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = if self.len == 1 { "1 byte".to_owned() } else { format!("{} bytes", self.len) };
        match self.times {
            1 => write!(f, "a call of {bytes}")?,
            times => write!(f, "{times} calls of {bytes}")?,
        }
        match self.then {
            Change::Nothing => Ok(()),
            Change::Byte(at) => write!(f, ", then byte {at} changed"),
            Change::Contents => write!(f, ", then all bytes changed"),
            Change::Buffers => write!(f, ", then other buffers took the same addresses"),
            Change::Surroundings => write!(f, ", then the bytes around the source changed"),
        }
    }
}

/// The contents around the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Around {
    Zeros,
    Ones,
    Random,
}

impl Around {
    fn fill(self, bytes: &mut [u8]) {
        match self {
            Around::Zeros => bytes.fill(0),
            Around::Ones => bytes.fill(0xff),
            Around::Random => Random::new(0x6172_6f75_6e64).fill(bytes),
        }
    }
}

/// A call and the calls before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Input {
    pub len: usize,
    pub seed: u32,
    /// The initial contents of the source and the destination: `len` bytes, or none.
    #[serde(skip)]
    pub data: Vec<u8>,
    #[serde(skip)]
    pub prefill: Vec<u8>,
    pub dst: Place,
    pub src: Place,
    pub around: Around,
    /// The number of the failing call, which determines the garbage in registers and flags.
    pub count: u64,
    pub earlier: Vec<Earlier>,
}

impl Input {
    /// The length of the longest call.
    fn longest(&self) -> usize {
        self.earlier.iter().map(|earlier| earlier.len as usize).fold(self.len, usize::max)
    }

    /// The memory needed for each of source and destination.
    pub fn room(&self) -> usize {
        room_for(self.longest())
    }

    /// The bytes that its calls process.
    pub fn bytes(&self) -> u64 {
        let earlier = |earlier: &Earlier| (earlier.len + 64) * u64::from(earlier.times);
        self.len as u64 + self.earlier.iter().map(earlier).sum::<u64>()
    }

    /// The number of calls before the failing one.
    pub fn before(&self) -> u64 {
        self.earlier.iter().map(|earlier| u64::from(earlier.times)).sum()
    }

    fn spread(&self, len: usize) -> Spread {
        let (room, longest) = (self.room(), self.longest());
        let (dst_at, src_at) = (self.dst.within(room, longest), self.src.within(room, longest));
        Spread { dst_at, src_at, len, seed: self.seed }
    }

    /// The same with only the first or the last `len` bytes.
    pub fn cut(&self, len: usize, from_end: bool) -> Input {
        let part = |bytes: &[u8]| match bytes.len() {
            0 => Vec::new(),
            all if from_end => bytes[all - len..].to_vec(),
            _ => bytes[..len].to_vec(),
        };
        let whole = self.len.max(1) as u64;
        let shrunk = |earlier: &Earlier| Earlier {
            // Earlier calls keep their length in proportion.
            len: earlier.len * len as u64 / whole,
            then: match earlier.then {
                Change::Byte(at) => Change::Byte(at * len as u64 / whole),
                other => other,
            },
            ..*earlier
        };
        Input {
            len,
            data: part(&self.data),
            prefill: part(&self.prefill),
            earlier: self.earlier.iter().map(shrunk).collect(),
            ..self.clone()
        }
    }

    /// Makes the earlier calls and then the call itself `times` times; returns the first mismatch.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn make(
        &self,
        checker: &mut Checker<'_>,
        desk: &mut Desk,
        times: usize,
    ) -> Result<Option<Mismatch>, MapError> {
        let family = checker.family;
        let whole = self.spread(self.len);
        desk.source.set_read_only(false)?;
        self.around.fill(desk.source.bytes_mut());
        self.around.fill(desk.target.bytes_mut());
        if family.reads() {
            desk.source.bytes_mut()[whole.src_at..whole.src_at + self.len].copy_from_slice(&self.data);
        }
        if family.writes() {
            desk.target.bytes_mut()[whole.dst_at..whole.dst_at + self.len].copy_from_slice(&self.prefill);
        }
        let note = Note {
            stage: Stage::Reduced,
            pattern: 0,
            shift: 0,
            prefill: 0,
            dst: if family.writes() { self.dst.spot } else { Spot::None },
            src: if family.reads() { self.src.spot } else { Spot::None },
        };
        let last = Earlier { len: self.len as u64, times: times as u32, then: Change::Nothing };
        for (number, step) in self.earlier.iter().chain([&last]).enumerate() {
            desk.source.set_read_only(true)?;
            let trial = desk.trial(family, self.spread(step.len as usize), note);
            for _ in 0..step.times {
                if let Err(mismatch) = checker.check(&trial) {
                    return Ok(Some(*mismatch));
                }
            }
            desk.source.set_read_only(false)?;
            desk.change(step.then, whole, number as u64)?;
        }
        Ok(None)
    }
}
