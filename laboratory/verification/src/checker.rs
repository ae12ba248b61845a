//! One trial: fill, announce, call, compare.

use super::call::{Call, CallError, Caller};
use super::counterexample::{FaultKind, signal_name, sums};
use super::images::fold;
use super::memory::GUARD_BYTES;
use super::note::Note;
use super::tally::Tally;
use crate::status::{Now, Phase, StatusPage};
use carryline_variants::Family;
use carryline_variants::landing::Landing;
use serde::{Deserialize, Serialize};

/// The memory around a destination, and its contents between calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub base: *mut u8,
    pub shadow: *const u8,
    pub size: usize,
}

/// The contents of the destination before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefill {
    /// The contents of the shadow.
    Plain,
    /// The source's bytes.
    Source,
    /// The source's bytes in reverse.
    Reversed,
    /// The source's bytes except one.
    AllButOne,
}

impl Prefill {
    /// Fills a destination of the source's length.
    fn write(self, dst: &mut [u8], source: &[u8]) {
        if self == Prefill::Plain {
            return;
        }
        dst.copy_from_slice(source);
        match self {
            Prefill::Reversed => dst.reverse(),
            Prefill::AllButOne if !dst.is_empty() => {
                let other = Prefill::other(source);
                dst[other] = !source[other];
            }
            Prefill::Plain | Prefill::Source | Prefill::AllButOne => {}
        }
    }

    /// The byte that differs from the source in [`Prefill::AllButOne`].
    fn other(source: &[u8]) -> usize {
        source.len() * 5 / 8
    }

    /// The byte written at `i`; `None` if nothing is written.
    pub fn byte(self, source: &[u8], i: usize) -> Option<u8> {
        match self {
            Prefill::Plain => None,
            Prefill::Source => Some(source[i]),
            Prefill::Reversed => Some(source[source.len() - 1 - i]),
            Prefill::AllButOne if i == Prefill::other(source) => Some(!source[i]),
            Prefill::AllButOne => Some(source[i]),
        }
    }
}

/// A call with everything that it is checked against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub call: Call,
    /// `None` if the family writes nothing.
    pub window: Option<Window>,
    pub prefill: Prefill,
    /// The expected contents of a copy, with the call's length: the source itself if it cannot change.
    pub content: *const u8,
    /// The expected checksum, folded.
    pub sum: u16,
    pub note: Note,
    /// Stop after every instruction.
    pub step: bool,
}

/// The difference between the outcome of a trial and the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mismatch {
    pub kind: FaultKind,
    pub expected: String,
    pub got: String,
    pub first_difference: Option<i64>,
    /// Details beyond `expected` and `got`, or empty.
    pub about: String,
}

impl Mismatch {
    pub fn new(kind: FaultKind, expected: impl Into<String>, got: impl Into<String>) -> Mismatch {
        Mismatch {
            kind,
            expected: expected.into(),
            got: got.into(),
            first_difference: None,
            about: String::new(),
        }
    }

    /// The mismatch in words.
    pub fn what(&self) -> String {
        if self.about.is_empty() {
            format!("expected {}, got {}", self.expected, self.got)
        } else {
            self.about.clone()
        }
    }
}

/// Makes and checks the calls of a verification, in one thread.
#[derive(Debug)]
pub(super) struct Checker<'s> {
    pub family: Family,
    pub caller: Caller,
    /// The page on which calls are announced; `None` for threads that are not watched.
    status: Option<&'s StatusPage>,
    subject_index: u64,
    /// The calls made so far, by class.
    pub tally: Tally,
    /// The last call, for effects detected only afterwards.
    pub last: Option<(Call, Note)>,
}

impl<'s> Checker<'s> {
    pub fn new(routine: Landing, status: Option<&'s StatusPage>, subject_index: u64) -> Checker<'s> {
        Checker {
            family: routine.family(),
            caller: Caller::new(routine),
            status,
            subject_index,
            tally: Tally::new(),
            last: None,
        }
    }

    /// Signals progress to the supervisor.
    pub fn beat(&self) {
        if let Some(status) = self.status {
            status.beat();
        }
    }

    /// Announces the call to the supervisor.
    pub fn announce(&self, call: &Call, note: Note) {
        let Some(status) = self.status else { return };
        status.set(Now {
            beat: 0,
            subject: self.subject_index,
            phase: Phase::Prove as u64,
            len: call.len as u64,
            dst_offset: call.dst as u64 % 4096,
            src_offset: call.src as u64 % 4096,
            seed: u64::from(call.seed),
            detail: note.detail(),
            placement: note.placement(),
        });
    }

    /// Announces and makes the call.
    pub fn call(&mut self, call: &Call, note: Note, step: bool) -> Result<u32, CallError> {
        self.announce(call, note);
        self.tally.count(self.family, call, note);
        self.last = Some((*call, note));
        // SAFETY: stages pass memory of their own regions, without references to it.
        unsafe { self.caller.call(call, step) }
    }

    /// Makes the call and compares; restores the window from its shadow afterwards.
    pub fn check(&mut self, trial: &Trial) -> Result<(), Box<Mismatch>> {
        self.fill(trial);
        let outcome = match self.call(&trial.call, trial.note, trial.step) {
            Ok(sum) => self.compare(trial, sum),
            Err(error) => Err(Box::new(mismatch_of_error(error, &trial.call, self.family))),
        };
        if let Some(window) = trial.window {
            let (from, len) =
                if outcome.is_ok() { (dst_at(trial, &window), trial.call.len) } else { (0, window.size) };
            // SAFETY: both ranges are within the window and its shadow, which do not overlap.
            unsafe { window.base.add(from).copy_from_nonoverlapping(window.shadow.add(from), len) };
        }
        outcome
    }

    fn fill(&mut self, trial: &Trial) {
        if trial.prefill == Prefill::Plain || trial.window.is_none() {
            return;
        }
        // SAFETY: both have the call's length and are disjoint: with these prefills, `content` is read-only
        // memory of its own.
        let (dst, source) = unsafe {
            (
                std::slice::from_raw_parts_mut(trial.call.dst, trial.call.len),
                std::slice::from_raw_parts(trial.content, trial.call.len),
            )
        };
        trial.prefill.write(dst, source);
    }

    /// Compares memory and result after a call that returned.
    pub fn compare(&self, trial: &Trial, sum: u32) -> Result<(), Box<Mismatch>> {
        if sums(self.family) && fold(u64::from(sum)) != trial.sum {
            let mut mismatch = Mismatch::new(
                FaultKind::WrongResult,
                format!("{:#06x}", trial.sum),
                format!("{:#06x}", fold(u64::from(sum))),
            );
            if sum > 0xffff {
                mismatch.got += &format!(" (unfolded {sum:#010x})");
            }
            return Err(Box::new(mismatch));
        }
        let Some(window) = trial.window else { return Ok(()) };
        let at = dst_at(trial, &window);
        let (len, size) = (trial.call.len, window.size);
        // SAFETY: `size` readable bytes each, and no call is running.
        let (bytes, shadow) = unsafe {
            (std::slice::from_raw_parts(window.base, size), std::slice::from_raw_parts(window.shadow, size))
        };
        let inside = &bytes[at..at + len];
        let right = match self.family {
            Family::Zero => is_filled(inside, trial.call.seed as u8),
            _ => {
                // SAFETY: `content` has the call's length.
                inside == unsafe { std::slice::from_raw_parts(trial.content, len) }
            }
        };
        if right && bytes[..at] == shadow[..at] && bytes[at + len..] == shadow[at + len..] {
            return Ok(());
        }
        Err(Box::new(self.difference(trial, &window, bytes, shadow)))
    }

    #[cold]
    fn difference(&self, trial: &Trial, window: &Window, bytes: &[u8], shadow: &[u8]) -> Mismatch {
        let at = dst_at(trial, window);
        let len = trial.call.len;
        let content = |i: usize| match self.family {
            Family::Zero => trial.call.seed as u8,
            // SAFETY: i < len, and `content` has the call's length.
            _ => unsafe { *trial.content.add(i) },
        };
        // A wrong byte inside the buffer has priority over one outside: it is simpler.
        let inside = (0..len).find(|i| bytes[at + i] != content(*i)).map(|i| (at + i, content(i)));
        let outside = || {
            let changed = |i: &usize| bytes[*i] != shadow[*i];
            let found = (at + len..bytes.len()).find(changed).or_else(|| (0..at).rev().find(changed));
            found.map(|i| (i, shadow[i]))
        };
        let is_inside = inside.is_some();
        let Some((place, expected)) = inside.or_else(outside) else {
            return Mismatch::new(FaultKind::WrongBytes, "stable memory", "memory that changes by itself");
        };
        let source_at = (trial.call.src as usize).wrapping_sub(window.base as usize);
        let in_source = self.family.reads() && place.wrapping_sub(source_at) < len;
        // SAFETY: `content` has the call's length if the family reads; zero routines have only the plain
        // prefill.
        let source = || unsafe { std::slice::from_raw_parts(trial.content, len) };
        let before = match trial.prefill {
            Prefill::Plain => shadow[place],
            _ if is_inside => trial.prefill.byte(source(), place - at).unwrap_or(shadow[place]),
            _ => shadow[place],
        };
        let first = place as i64 - at as i64;
        let got = bytes[place];
        let (kind, about) = match (is_inside, in_source) {
            (true, _) if got == before => {
                let about = format!("byte {first} is unchanged, {got:#04x}; expected {expected:#04x}");
                (FaultKind::LeftBytesUnwritten, about)
            }
            (true, _) => (FaultKind::WrongBytes, String::new()),
            (false, true) => {
                (FaultKind::ChangedSource, format!("wrote to the source, {first} bytes from the destination"))
            }
            (false, false) if first < 0 => {
                (FaultKind::WroteOutside, format!("wrote {} before the destination", bytes_word(-first)))
            }
            (false, false) => (
                FaultKind::WroteOutside,
                format!("wrote {} past the destination's end", bytes_word(first - len as i64 + 1)),
            ),
        };
        let about = if about.is_empty() {
            format!("byte {first} of the destination is {got:#04x}, expected {expected:#04x}")
        } else {
            about
        };
        Mismatch {
            kind,
            expected: format!("{expected:#04x}"),
            got: format!("{got:#04x}"),
            first_difference: Some(first),
            about,
        }
    }
}

fn bytes_word(count: i64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

fn dst_at(trial: &Trial, window: &Window) -> usize {
    trial.call.dst as usize - window.base as usize
}

/// Whether every byte is `byte`.
pub(super) fn is_filled(bytes: &[u8], byte: u8) -> bool {
    bytes.iter().fold(0, |all, held| all | (held ^ byte)) == 0
}

/// The mismatch for a call that crashed or did not preserve the caller's state.
pub(super) fn mismatch_of_error(error: CallError, call: &Call, family: Family) -> Mismatch {
    let (signal, address, write, stack) = match error {
        CallError::State { kind, what, before, after } => {
            let about = format!("{what} was {before} before the call and is {after} after it");
            return Mismatch { about, ..Mismatch::new(kind, before, after) };
        }
        CallError::Returned(address) => {
            let about = "returned an address other than the destination's".to_owned();
            let (right, got) = (format!("{:#x}", call.dst.addr()), format!("{address:#x}"));
            return Mismatch { about, ..Mismatch::new(FaultKind::ReturnValue, right, got) };
        }
        CallError::SignalHandling(what) => {
            let about = format!("changed {what}, in this call or one before it");
            return Mismatch { about, ..Mismatch::new(FaultKind::Signals, "unchanged", "changed") };
        }
        CallError::Forked => {
            let about = "left a second process behind, in this call or one shortly before it".to_owned();
            return Mismatch { about, ..Mismatch::new(FaultKind::Forked, "one process", "two processes") };
        }
        CallError::Overdue => {
            let about = "had reached this call when the time for verification ran out".to_owned();
            return Mismatch { about, ..Mismatch::new(FaultKind::TimedOut, "an end in time", "none") };
        }
        CallError::Fault { signal, address, write, stack } => (signal, address, write, stack),
    };
    let name = signal_name(signal);
    let did = if write { "wrote" } else { "read" };
    let crashed =
        |about: String| Mismatch { about, ..Mismatch::new(FaultKind::Crashed, "a return", name.clone()) };
    let Some(address) = address else {
        return crashed(match signal {
            libc::SIGSEGV | libc::SIGBUS => format!(
                "{name}: a non-canonical address, or an aligned vector access at an unaligned address"
            ),
            _ => name.clone(),
        });
    };
    if !matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
        return crashed(format!("{name} at the instruction at {address:#x}"));
    }
    if address.abs_diff(stack) < GUARD_BYTES {
        return crashed(format!("{name}: {did} beyond the end of its stack"));
    }
    let buffers =
        [(family.writes(), "destination", call.dst as usize), (family.reads(), "source", call.src as usize)];
    let mut nearest: Option<(usize, Mismatch)> = None;
    for (_, buffer, start) in buffers.into_iter().filter(|(is_used, ..)| *is_used) {
        let end = start.wrapping_add(call.len);
        let kind = if write { FaultKind::WroteOutside } else { FaultKind::ReadOutside };
        let (distance, kind, about) = if address >= end {
            let past = address - end;
            (past, kind, format!("{did} {} past the {buffer}'s end", bytes_word(past as i64 + 1)))
        } else if address < start {
            let before = start - address;
            (before, kind, format!("{did} {} before the {buffer}", bytes_word(before as i64)))
        } else if write {
            (0, FaultKind::ChangedSource, format!("wrote to byte {} of the {buffer}", address - start))
        } else {
            (0, FaultKind::Crashed, format!("crashed at byte {} of the {buffer}", address - start))
        };
        if distance <= GUARD_BYTES && nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
            let about = format!("{about} ({name})");
            nearest = Some((distance, Mismatch { about, ..Mismatch::new(kind, "a return", name.clone()) }));
        }
    }
    nearest
        .map_or_else(|| crashed(format!("{name}: {did} at {address:#x}, far from the buffers")), |(_, m)| m)
}

#[cfg(test)]
mod tests {
    use super::Prefill;

    #[test]
    fn prefills_and_their_reported_bytes_agree() {
        for len in [0, 1, 2, 7, 64, 65] {
            let source: Vec<u8> = (0..len as u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
            for prefill in [Prefill::Plain, Prefill::Source, Prefill::Reversed, Prefill::AllButOne] {
                let mut dst = vec![0xc3; len];
                prefill.write(&mut dst, &source);
                let expected: Vec<u8> = (0..len).map(|i| prefill.byte(&source, i).unwrap_or(0xc3)).collect();
                assert_eq!(dst, expected, "{prefill:?} of {len} bytes");
            }
        }
    }
}
