//! The description of a call that is announced before it is made: the check, the data, the placement of the
//! buffers.

use super::patterns::PATTERNS;
use crate::status::Now;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The check that a call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Stage {
    /// Lengths up to 300 at every offset.
    Sweep,
    /// Small buffers across the end of a page.
    Crossing,
    /// Lengths up to 8 KiB.
    Lengths,
    /// The product of large lengths, pairs of offsets and placements.
    Large,
    /// Lengths at which accumulators overflow, and one larger than the caches.
    Bounds,
    /// Length 0 with invalid pointers.
    EmptyBuffer,
    /// Both buffers in one mapping, adjacent or at nearly equal offsets modulo 4096.
    OneMapping,
    /// Buffers across an address of 2 or 4 GiB.
    AddressLine,
    /// Memory shared through a file.
    SharedMemory,
    /// Sequences of calls: with changed data, another length between, another buffer at the address.
    Repeated,
    /// Small calls, stopped after every instruction.
    Stepped,
    /// Large calls, stopped at chosen pages and after the instructions that follow.
    Interrupted,
    /// A thread on another CPU increments the bytes next to the destination.
    NeighbourRace,
    /// Two threads in the routine concurrently.
    Threads,
    /// A buffer larger than the memory.
    BeyondMemory,
    /// A copy of a buffer to itself.
    SameBuffer,
    /// Overlapping source and destination.
    Overlap,
    /// Bytes other than 0.
    Values,
    /// Buffers of more than 2 and 4 GiB: a little memory, mapped repeatedly.
    Gibibytes,
    /// A failed call, repeated.
    Reduced,
}

impl Stage {
    /// The number of stages.
    pub(super) const COUNT: usize = Stage::ALL.len();

    /// Each stage with its description in a counterexample, and in a count of its calls.
    const ALL: [(Stage, &'static str, &'static str); 20] = [
        (Stage::Sweep, "", "lengths to 300 at every offset"),
        (Stage::Crossing, "", "lengths to 300 across the end of a page"),
        (Stage::Lengths, "", "lengths to 8 KiB"),
        (Stage::Large, "", "typical large buffers"),
        (Stage::Bounds, "a large buffer", "accumulator limits, beyond the caches"),
        (Stage::EmptyBuffer, "invalid pointers", "length 0, invalid pointers"),
        (Stage::OneMapping, "source and destination in one mapping", "both buffers in one mapping"),
        (Stage::AddressLine, "across an address of 2 or 4 GiB", "across addresses of 2 and 4 GiB"),
        (Stage::SharedMemory, "memory shared through a file", "memory shared through a file"),
        (Stage::Repeated, "after other calls", "sequences of calls"),
        (
            Stage::Stepped,
            "one instruction at a time, with signal frames below the stack and changing bytes next to the buffer",
            "small calls, one instruction at a time",
        ),
        (
            Stage::Interrupted,
            "stopped at chosen pages, with signal frames below the stack and changing bytes next to the buffer",
            "large calls, stopped at chosen pages",
        ),
        (
            Stage::NeighbourRace,
            "another thread writes next to the destination",
            "a thread that writes next to the buffer",
        ),
        (Stage::Threads, "two threads with separate buffers", "two concurrent threads"),
        (
            Stage::BeyondMemory,
            "a buffer with only its edges accessible",
            "lengths beyond 32 bits, edges only",
        ),
        (Stage::SameBuffer, "the source is the destination", "a buffer copied to itself"),
        (Stage::Overlap, "source and destination overlap", "overlapping buffers"),
        (Stage::Values, "", "every value of a byte"),
        (Stage::Gibibytes, "little memory, mapped repeatedly", "buffers of more than 2 and 4 GiB"),
        (Stage::Reduced, "", "a failed call, repeated"),
    ];

    pub(super) fn all() -> impl Iterator<Item = Stage> {
        Stage::ALL.into_iter().map(|(stage, ..)| stage)
    }

    pub(super) fn words(self) -> &'static str {
        Stage::ALL[self as usize].1
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Stage::ALL[*self as usize].2)
    }
}

/// The position of a buffer relative to the guards of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub(super) enum Spot {
    /// There is no such buffer.
    None,
    /// As close after an inaccessible page as its offset allows.
    AfterGuard,
    /// As close before an inaccessible page as its offset allows.
    BeforeGuard,
    /// Away from both guards.
    Middle,
}

impl Spot {
    pub const ALL: [Spot; 3] = [Spot::AfterGuard, Spot::BeforeGuard, Spot::Middle];

    fn from_code(code: u64) -> Spot {
        Spot::ALL.into_iter().find(|spot| *spot as u64 == code & 0xff).unwrap_or(Spot::None)
    }

    pub fn words(self, buffer: &str, offset: u64, len: u64) -> String {
        let slack = (4096 - (offset + len) % 4096) % 4096;
        match self {
            Spot::None | Spot::Middle => String::new(),
            Spot::AfterGuard if offset == 0 => format!("the {buffer} starts right after a guard page"),
            Spot::AfterGuard => format!("the {buffer} starts {offset} bytes after a guard page"),
            Spot::BeforeGuard if slack == 0 => format!("the {buffer} ends at a guard page"),
            Spot::BeforeGuard => format!("the {buffer} ends {slack} bytes before a guard page"),
        }
    }
}

/// The placement of a buffer: its spot, and its address modulo `grain`, which is 64 or the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub spot: Spot,
    pub offset: usize,
    pub grain: usize,
}

/// The modulus of offsets in a page.
pub(super) const PAGE: usize = 4096;
pub(super) const LINE: usize = 64;

/// Memory for a buffer of this length at any offset, at least a page away from the guards.
pub(super) const fn room_for(len: usize) -> usize {
    len.next_multiple_of(PAGE) + 3 * PAGE
}

impl Place {
    /// At an offset modulo 64.
    pub const fn in_line(spot: Spot, offset: usize) -> Place {
        Place { spot, offset, grain: LINE }
    }

    /// At an offset modulo 4096.
    pub const fn in_page(spot: Spot, offset: usize) -> Place {
        Place { spot, offset, grain: PAGE }
    }

    /// The start of a buffer of `len` bytes in `size` bytes of memory (a multiple of the grain).
    pub fn within(self, size: usize, len: usize) -> usize {
        let Place { spot, offset, grain } = self;
        match spot {
            Spot::BeforeGuard => {
                let latest = size - len;
                latest - (latest + grain - offset) % grain
            }
            Spot::Middle => (size - len - offset) / (2 * grain) * grain + offset,
            Spot::AfterGuard | Spot::None => offset,
        }
    }
}

/// The contents of the status page's two free fields during a verification.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub stage: Stage,
    pub pattern: usize,
    pub shift: usize,
    pub prefill: usize,
    pub dst: Spot,
    pub src: Spot,
}

impl Note {
    pub fn detail(self) -> u64 {
        self.pattern as u64
            | (self.prefill as u64) << 8
            | (self.stage as u64) << 16
            | (self.shift as u64) << 24
    }

    pub fn placement(self) -> u64 {
        self.dst as u64 | (self.src as u64) << 8
    }

    pub fn read(now: &Now) -> Note {
        let stage = (now.detail >> 16 & 0xff) as usize;
        Note {
            stage: Stage::ALL.get(stage).map_or(Stage::Sweep, |(stage, ..)| *stage),
            pattern: (now.detail & 0xff) as usize % PATTERNS.len(),
            prefill: (now.detail >> 8 & 0xff) as usize % PATTERNS.len(),
            shift: (now.detail >> 24 & 7) as usize,
            dst: Spot::from_code(now.placement),
            src: Spot::from_code(now.placement >> 8),
        }
    }

    pub fn place(self, dst_offset: u64, src_offset: u64, len: u64) -> String {
        let parts = [
            self.stage.words().to_owned(),
            self.src.words("source", src_offset, len),
            self.dst.words("destination", dst_offset, len),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_in_the_order_of_their_numbers() {
        for (number, (stage, ..)) in Stage::ALL.iter().enumerate() {
            assert_eq!(*stage as usize, number);
        }
    }

    #[test]
    fn buffers_are_placed_as_requested() {
        for len in 0..=300 {
            for offset in 0..64 {
                for spot in Spot::ALL {
                    let at = Place::in_line(spot, offset).within(4096, len);
                    assert_eq!(at % 64, offset);
                    assert!(at + len <= 4096);
                    if spot == Spot::BeforeGuard {
                        assert!(at + len + 64 > 4096);
                    }
                    let at = Place::in_page(spot, offset * 64).within(5 * PAGE, len);
                    assert_eq!(at % PAGE, offset * 64);
                    assert!(at + len <= 5 * PAGE);
                    if spot == Spot::Middle {
                        assert!(at >= PAGE && at + len <= 4 * PAGE);
                    }
                }
            }
        }
        assert_eq!(Place::in_line(Spot::BeforeGuard, 31).within(4096, 33), 4063);
    }
}
