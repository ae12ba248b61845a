//! Counterexamples: the failing input, the outcome, and a sentence that describes both.

use super::checker::Mismatch;
use super::note::Note;
use super::patterns::{self, PATTERNS};
use super::replay::Earlier;
use crate::status::Now;
use carryline_machine::arena::MapError;
use carryline_variants::Family;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The checksum is wrong.
    WrongResult,
    /// The checksum depends on bytes outside the buffer.
    ReadDependence,
    /// The returned address is not the destination's.
    ReturnValue,
    /// Bytes of the destination are unchanged.
    LeftBytesUnwritten,
    /// Bytes of the destination have changed to wrong values.
    WrongBytes,
    /// A byte outside the destination was written.
    WroteOutside,
    /// An inaccessible byte outside a buffer was read.
    ReadOutside,
    /// A byte of the source was written.
    ChangedSource,
    /// A callee-saved register was not preserved.
    ClobberedRegister,
    /// The stack pointer was not preserved.
    StackPointer,
    /// The stack above the return address was written.
    WroteCallerStack,
    /// The direction flag is set.
    DirectionFlag,
    /// The control bits of MXCSR have changed.
    Mxcsr,
    /// The x87 control word or register stack was not preserved.
    X87,
    /// The result depends on earlier calls.
    History,
    /// Two threads with separate buffers affect each other.
    Threads,
    /// Bytes next to the destination were written, if only temporarily: writes by another thread are lost.
    NeighbourRace,
    /// The call returns without a fence after non-temporal stores, so that another thread may see them late.
    UnfencedStores,
    /// A signal during the call changes the result, or the call changes the signal mask or a signal's action.
    Signals,
    /// The length was truncated: a buffer larger than 2 or 4 GiB was not fully processed.
    TruncatedLength,
    /// It ended in a signal for another reason.
    Crashed,
    /// It did not return in time, or is too slow for verification to finish.
    TimedOut,
    /// It ended the process.
    Exited,
    /// It left a child process behind.
    Forked,
}

/// An input on which a routine is wrong: the smallest one found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterexample {
    /// The kind of failure.
    pub kind: FaultKind,
    /// The routine's family.
    pub family: Family,
    /// The call's length in bytes.
    pub len: u64,
    /// The destination's address modulo 4096; `None` if there is no destination.
    pub dst_offset: Option<u64>,
    /// The source's address modulo 4096; `None` if there is no source.
    pub src_offset: Option<u64>,
    /// The checksum's seed; `None` if there is none.
    pub seed: Option<u32>,
    /// The contents of the source, or of the destination before the call if there is no source, in words.
    pub pattern: String,
    /// The same in hexadecimal: all bytes up to 64, otherwise the first and the last. `None` if unknown.
    pub bytes: Option<String>,
    /// The expected outcome.
    pub expected: String,
    /// The actual outcome.
    pub got: String,
    /// The first wrong byte, relative to the start of the destination; negative before it.
    pub first_difference: Option<i64>,
    /// Where the buffers are, and the circumstances.
    pub place: String,
    /// The calls that must precede it, in a process in which the routine was not called before; mostly none.
    pub earlier: Vec<Earlier>,
    /// Whether offsets matter modulo 4096, rather than only modulo 64.
    pub in_page: bool,
    /// False if the call, after the earlier ones, did not fail again: then it depends on something unknown.
    pub every_time: bool,
    /// A sentence that contains all of this.
    pub sentence: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// The reason that verification failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The routine is wrong.
    #[error("{0}")]
    Wrong(Box<Counterexample>),
    /// This CPU lacks instructions that the routine needs, or they are masked.
    #[error("needs {0}, which this CPU lacks")]
    Unsupported(String),
    /// There was not enough memory for verification, so nothing is known about the routine.
    #[error("not verified: {0}")]
    NoMemory(#[from] MapError),
}

/// How a worker that was verifying ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By this signal.
    Signal(i32),
    /// It made no call for too long and was killed.
    TimedOut,
    /// With this exit status, before reporting a result.
    Exit(i32),
}

/// The counterexample for a worker that died or was killed while it verified a routine of `family`, from its
/// status page and the seed of its verification.
#[must_use]
pub fn describe(now: &Now, family: Family, seed: u64, ending: Ending) -> Counterexample {
    let note = Note::read(now);
    let (kind, got) = match ending {
        Ending::Signal(signal) => (FaultKind::Crashed, signal_name(signal)),
        Ending::TimedOut => (FaultKind::TimedOut, "no return in time".to_owned()),
        Ending::Exit(status) => (FaultKind::Exited, format!("the process exited with status {status}")),
    };
    let data_offset = if family.reads() { now.src_offset } else { now.dst_offset } as usize;
    let pattern = if family.reads() { note.pattern } else { note.prefill };
    let bytes =
        (note.stage == super::note::Stage::Sweep && data_offset + now.len as usize <= 4096).then(|| {
            let mut page = vec![0; 4096];
            patterns::fill(&mut page, pattern, note.shift, seed);
            hex(&page[data_offset..data_offset + now.len as usize])
        });
    let mismatch = Mismatch::new(kind, "a return", got);
    Counterexample {
        pattern: PATTERNS[pattern].name.to_owned(),
        bytes,
        ..Counterexample::plain(
            mismatch,
            family,
            now.len as usize,
            [now.dst_offset, now.src_offset],
            now.seed as u32,
            note,
        )
    }
    .with_sentence("")
}

/// Whether routines of the family return a checksum.
pub(super) const fn sums(family: Family) -> bool {
    matches!(family, Family::Checksum | Family::CopyChecksum)
}

impl Counterexample {
    /// The counterexample of a mismatch and its call, with its offsets and its seed or byte; the contents of the buffers are added later.
    pub(super) fn plain(
        mismatch: Mismatch,
        family: Family,
        len: usize,
        [dst_offset, src_offset]: [u64; 2],
        argument: u32,
        note: Note,
    ) -> Counterexample {
        // The byte of a function like `memset`.
        let byte = (family == Family::Zero && argument as u8 != 0)
            .then(|| format!("set to {:#04x}", argument as u8));
        let place = note.place(dst_offset, src_offset, len as u64);
        let place = byte.into_iter().chain(Some(place).filter(|place| !place.is_empty()));
        Counterexample {
            kind: mismatch.kind,
            family,
            len: len as u64,
            dst_offset: family.writes().then_some(dst_offset),
            src_offset: family.reads().then_some(src_offset),
            seed: sums(family).then_some(argument),
            pattern: String::new(),
            bytes: None,
            expected: mismatch.expected,
            got: mismatch.got,
            first_difference: mismatch.first_difference,
            place: place.collect::<Vec<_>>().join("; "),
            earlier: Vec::new(),
            in_page: false,
            every_time: true,
            sentence: String::new(),
        }
    }

    /// Adds the sentence; `about` gives more details than `expected` and `got`.
    pub(super) fn with_sentence(self, about: &str) -> Counterexample {
        let sentence = self.compose(about);
        Counterexample { sentence, ..self }
    }

    fn compose(&self, about: &str) -> String {
        let mut input = format!("{} byte{}", self.len, if self.len == 1 { "" } else { "s" });
        let (modulo, of) = if self.in_page { (4096, " in a page") } else { (64, "") };
        match (self.dst_offset, self.src_offset) {
            (Some(dst), Some(src)) => {
                input += &format!(" from offset {} to offset {}{of}", src % modulo, dst % modulo);
            }
            (Some(at), None) | (None, Some(at)) => input += &format!(" at offset {}{of}", at % modulo),
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
        let once = if self.every_time { "" } else { "; it did not fail again" };
        format!("{input}: {what}{once}")
    }
}

/// All bytes in hexadecimal up to 64, otherwise the first 32, the last 16 and the number of bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if bytes.len() <= 64 {
        return digits(bytes);
    }
    let (head, tail) = (&bytes[..32], &bytes[bytes.len() - 16..]);
    format!("{}..{} ({} bytes)", digits(head), digits(tail), bytes.len())
}

/// `SIGSEGV` for 11, etc.
#[must_use]
pub fn signal_name(signal: i32) -> String {
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
    use crate::note::{Spot, Stage};

    #[test]
    fn dead_workers_give_counterexamples() {
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
    fn long_data_is_truncated() {
        assert_eq!(hex(&[1, 0xab]), "01ab");
        let text = hex(&[0xff; 100]);
        assert_eq!(text, format!("{}..{} (100 bytes)", "ff".repeat(32), "ff".repeat(16)));
    }
}
