//! What is said about a routine that is wrong: the input, what came out, and a sentence.

use super::patterns::{self, PATTERNS};
use crate::status::Now;
use carryline_machine::arena::MapError;
use carryline_variants::Family;
use serde::{Deserialize, Serialize};
use std::fmt;

/// In which way a routine is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The checksum is another.
    WrongResult,
    /// The checksum changes with bytes that lie outside the buffer.
    ReadDependence,
    /// Bytes of the destination are as they were before the call.
    LeftBytesUnwritten,
    /// Bytes of the destination are neither as they were nor as they should be.
    WrongBytes,
    /// A byte outside the destination was written.
    WroteOutside,
    /// A byte outside a buffer was read, where nothing can be read.
    ReadOutside,
    /// A byte of the source was written.
    ChangedSource,
    /// A register that belongs to the caller has another value.
    ClobberedRegister,
    /// The stack pointer is elsewhere.
    StackPointer,
    /// The stack above the return address was written.
    WroteCallerStack,
    /// The direction flag is set.
    DirectionFlag,
    /// The control bits of MXCSR are changed.
    Mxcsr,
    /// The x87 control word or register stack is not as it was.
    X87,
    /// The result depends on earlier calls.
    History,
    /// Two threads with buffers of their own disturb each other.
    Threads,
    /// Bytes next to the destination were written, if only for a moment: what another thread writes there is lost.
    NeighbourRace,
    /// A signal during the call changes the result.
    Signals,
    /// The length was not taken as a whole: a buffer larger than 2 or 4 GiB was not worked through.
    TruncatedLength,
    /// It ended in a signal for another reason.
    Crashed,
    /// It did not return in time, or is too slow for verification to come to an end.
    TimedOut,
    /// It ended the process.
    Exited,
    /// It left a second process behind.
    Forked,
}

/// An input on which a routine is wrong: the smallest that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterexample {
    /// In which way.
    pub kind: Kind,
    /// The routine's family.
    pub family: Family,
    /// The call's length in bytes.
    pub len: u64,
    /// The destination's address modulo 4096; `None` where there is no destination.
    pub dst_offset: Option<u64>,
    /// The source's address modulo 4096; `None` where there is no source.
    pub src_offset: Option<u64>,
    /// The checksum's seed; `None` where there is none.
    pub seed: Option<u32>,
    /// What the source holds, or the destination before the call where there is no source, in words.
    pub pattern: String,
    /// The same as bytes in hexadecimal: all up to 64, else the first and the last. `None` where unknown.
    pub bytes: Option<String>,
    /// What should have been.
    pub expected: String,
    /// What was.
    pub got: String,
    /// The first wrong byte, counted from the destination's first; negative before it.
    pub first_difference: Option<i64>,
    /// Where the buffers lie and what else goes on.
    pub place: String,
    /// False if the same call alone does not fail again: then what came before it matters.
    pub every_time: bool,
    /// All of it in one sentence.
    pub sentence: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// Why verification failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The routine is wrong.
    #[error("{0}")]
    Wrong(Box<Counterexample>),
    /// This CPU lacks instructions of the routine, or the mask takes them away.
    #[error("needs {0}, which this CPU lacks")]
    Unsupported(String),
    /// There was not enough memory for verification, so nothing is known about the routine.
    #[error("no proof: {0}")]
    NoMemory(#[from] MapError),
}

/// What is going on when a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    Sweep,
    Lengths,
    Large,
    EmptyBuffer,
    OneMapping,
    AddressLine,
    SharedMemory,
    Repeated,
    BeyondMemory,
    Stepped,
    NeighbourRace,
    Threads,
    Signals,
    Reduced,
}

impl Stage {
    const ALL: [(Stage, &'static str); 14] = [
        (Stage::Sweep, ""),
        (Stage::Lengths, ""),
        (Stage::Large, "a large buffer"),
        (Stage::EmptyBuffer, "pointers that must not be followed"),
        (Stage::OneMapping, "source and destination in one mapping"),
        (Stage::AddressLine, "across a line of 2 or 4 GiB of addresses"),
        (Stage::SharedMemory, "memory shared through a file"),
        (Stage::Repeated, "the same call again with other data"),
        (Stage::BeyondMemory, "a buffer of which only the edges can be accessed"),
        (
            Stage::Stepped,
            "one instruction at a time, with signal frames below the stack and changing neighbours",
        ),
        (Stage::NeighbourRace, "another thread writes next to the destination"),
        (Stage::Threads, "two threads with buffers of their own"),
        (Stage::Signals, "signals arrive during the call"),
        (Stage::Reduced, ""),
    ];

    pub fn words(self) -> &'static str {
        Stage::ALL[self as usize].1
    }
}

/// Where a buffer lies in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Spot {
    /// There is no such buffer.
    None,
    /// As near behind an inaccessible page as its offset allows.
    AfterGuard,
    /// As near before an inaccessible page as its offset allows.
    BeforeGuard,
    /// Away from both.
    Middle,
}

impl Spot {
    pub const ALL: [Spot; 3] = [Spot::AfterGuard, Spot::BeforeGuard, Spot::Middle];

    fn from_code(code: u64) -> Spot {
        Spot::ALL.into_iter().find(|spot| *spot as u64 == code & 0xff).unwrap_or(Spot::None)
    }

    /// Where in `size` bytes of memory (a multiple of 64) a buffer of `len` bytes begins, so that its address
    /// is `offset` modulo 64.
    pub fn place(self, size: usize, len: usize, offset: usize) -> usize {
        match self {
            Spot::BeforeGuard => {
                let latest = size - len;
                latest - (latest + 64 - offset) % 64
            }
            Spot::Middle => (size - len - offset) / 128 * 64 + offset,
            Spot::AfterGuard | Spot::None => offset,
        }
    }

    pub fn words(self, buffer: &str, offset: u64, len: u64) -> String {
        let slack = (4096 - (offset + len) % 4096) % 4096;
        match self {
            Spot::None | Spot::Middle => String::new(),
            Spot::AfterGuard if offset == 0 => format!("the {buffer} begins behind a guard page"),
            Spot::AfterGuard => format!("the {buffer} begins {offset} bytes behind a guard page"),
            Spot::BeforeGuard if slack == 0 => format!("the {buffer} ends at a guard page"),
            Spot::BeforeGuard => format!("the {buffer} ends {slack} bytes before a guard page"),
        }
    }
}

/// What the status page holds in its two free fields during a verification.
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

    fn read(now: &Now) -> Note {
        let stage = (now.detail >> 16 & 0xff) as usize;
        Note {
            stage: Stage::ALL.get(stage).map_or(Stage::Sweep, |(stage, _)| *stage),
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

/// How a worker ended that was proving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By this signal.
    Signal(i32),
    /// It made no call for too long and was killed.
    TimedOut,
    /// With this exit status, before it had reported.
    Exit(i32),
}

/// Names the input of a worker that died or was killed while it verified a routine of that family, from its status
/// page and the seed of its proof.
#[must_use]
pub fn describe(now: &Now, family: Family, seed: u64, ending: Ending) -> Counterexample {
    let note = Note::read(now);
    let (kind, got) = match ending {
        Ending::Signal(signal) => (Kind::Crashed, signal_name(signal)),
        Ending::TimedOut => (Kind::TimedOut, "no return in time".to_owned()),
        Ending::Exit(status) => (Kind::Exited, format!("the process ended with status {status}")),
    };
    let data_offset = if family.reads() { now.src_offset } else { now.dst_offset } as usize;
    let pattern = if family.reads() { note.pattern } else { note.prefill };
    let bytes = (note.stage == Stage::Sweep && data_offset + now.len as usize <= 4096).then(|| {
        let mut page = vec![0; 4096];
        patterns::fill(&mut page, pattern, note.shift, seed);
        hex(&page[data_offset..data_offset + now.len as usize])
    });
    let mut example = Counterexample {
        kind,
        family,
        len: now.len,
        dst_offset: family.writes().then_some(now.dst_offset),
        src_offset: family.reads().then_some(now.src_offset),
        seed: sums(family).then_some(now.seed as u32),
        pattern: PATTERNS[pattern].name.to_owned(),
        bytes,
        expected: "a return".to_owned(),
        got,
        first_difference: None,
        place: note.place(now.dst_offset, now.src_offset, now.len),
        every_time: true,
        sentence: String::new(),
    };
    example.sentence = example.compose("");
    example
}

/// True if routines of the family return a checksum.
pub(super) const fn sums(family: Family) -> bool {
    matches!(family, Family::Checksum | Family::CopyChecksum)
}

impl Counterexample {
    /// The sentence; `about` says more than `expected` and `got` do.
    pub(super) fn compose(&self, about: &str) -> String {
        let mut input = format!("{} byte{}", self.len, if self.len == 1 { "" } else { "s" });
        match (self.dst_offset, self.src_offset) {
            (Some(dst), Some(src)) => input += &format!(" from offset {} to offset {}", src % 64, dst % 64),
            (Some(at), None) | (None, Some(at)) => input += &format!(" at offset {}", at % 64),
            (None, None) => {}
        }
        if let Some(seed) = self.seed {
            input += &format!(", seed {seed:#x}");
        }
        input += &match &self.bytes {
            _ if self.len == 0 => String::new(),
            Some(bytes) if bytes.len() <= 128 => format!(", bytes {bytes}"),
            _ => format!(", data: {}", self.pattern),
        };
        if !self.place.is_empty() {
            input += &format!(" ({})", self.place);
        }
        let what = if about.is_empty() {
            format!("expected {}, got {}", self.expected, self.got)
        } else {
            about.to_owned()
        };
        let once = if self.every_time { "" } else { "; the same call alone does not fail again" };
        format!("{input}: {what}{once}")
    }
}

/// All bytes in hexadecimal up to 64, else the first 32, the last 16 and how many there are.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if bytes.len() <= 64 {
        return digits(bytes);
    }
    let (head, tail) = (&bytes[..32], &bytes[bytes.len() - 16..]);
    format!("{}..{} ({} bytes)", digits(head), digits(tail), bytes.len())
}

/// `SIGSEGV` for 11, and so on.
pub(super) fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "SIGSEGV".to_owned(),
        libc::SIGBUS => "SIGBUS".to_owned(),
        libc::SIGILL => "SIGILL".to_owned(),
        libc::SIGFPE => "SIGFPE".to_owned(),
        libc::SIGTRAP => "SIGTRAP".to_owned(),
        libc::SIGABRT => "SIGABRT".to_owned(),
        libc::SIGKILL => "SIGKILL".to_owned(),
        other => format!("signal {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_where_their_numbers_say() {
        for (number, (stage, _)) in Stage::ALL.iter().enumerate() {
            assert_eq!(*stage as usize, number);
        }
    }

    #[test]
    fn a_dead_worker_is_described() {
        let note = Note {
            stage: Stage::Sweep,
            pattern: patterns::index::ONES,
            shift: 0,
            prefill: 0,
            dst: Spot::None,
            src: Spot::BeforeGuard,
        };
        let now = Now {
            len: 33,
            src_offset: 4096 - 33,
            seed: 7,
            detail: note.detail(),
            placement: note.placement(),
            ..Now::default()
        };
        let example = describe(&now, Family::Checksum, 1, Ending::Signal(libc::SIGSEGV));
        assert_eq!(
            example.sentence,
            format!(
                "33 bytes at offset 31, seed 0x7, bytes {} (the source ends at a guard page): expected a return, got SIGSEGV",
                "ff".repeat(33)
            )
        );
        assert_eq!((example.dst_offset, example.src_offset, example.seed), (None, Some(4063), Some(7)));
    }

    #[test]
    fn buffers_lie_where_their_spot_says() {
        for len in 0..=300 {
            for offset in 0..64 {
                for spot in Spot::ALL {
                    let at = spot.place(4096, len, offset);
                    assert_eq!(at % 64, offset);
                    assert!(at + len <= 4096);
                    if spot == Spot::BeforeGuard {
                        assert!(at + len + 64 > 4096);
                    }
                }
            }
        }
        assert_eq!(Spot::BeforeGuard.place(4096, 33, 31), 4063);
    }

    #[test]
    fn long_data_is_cut() {
        assert_eq!(hex(&[1, 0xab]), "01ab");
        let text = hex(&[0xff; 100]);
        assert_eq!(text, format!("{}..{} (100 bytes)", "ff".repeat(32), "ff".repeat(16)));
    }
}
