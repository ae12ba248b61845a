//! Lengths that fewer than 64 bits cannot hold.
//!
//! Nobody has the time to work through 2^40 bytes in a verification, so only the edges of such a buffer are
//! accessible: a routine that takes the length as it is runs into the middle and is caught there; one that
//! returns has cut the length. 2^40 + 37 shows a length, or its number of words, lines or blocks of 256 bytes,
//! cut to 32 bits; 2^31 more shows one taken for a negative number.
//!
//! The calls are left by force, and a routine that holds a lock meanwhile holds it forever. So they come last, in a
//! thread that may be left behind.

use super::call::{Call, Caller, Ill};
use super::checker::{Mismatch, ill_mismatch};
use super::counterexample::Kind;
use super::ground::{Stop, caught_around};
use super::memory::Region;
use super::note::Stage;
use super::other_thread::{look, this_thread};
use super::places::note;
use super::signals::SignalStack;
use super::sweep::Proof;
use carryline_variants::Lengths;
use carryline_variants::landing::Landing;
use std::ptr::{without_provenance, without_provenance_mut};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A call ends in the middle within microseconds: CPU time that it may take, and time on the clock where the system does not
/// tell that.
const PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE_IN_THE_DARK: u32 = 30;
const EDGE_BYTES: usize = 64 << 10;

impl Proof<'_> {
    /// Calls with buffers larger than any memory.
    pub fn beyond_memory(&mut self, routine: Landing) -> Result<(), Stop> {
        if self.lengths != Lengths::Any || cfg!(not(target_arch = "x86_64")) {
            return Ok(());
        }
        let Some(huge) = 1_usize.checked_shl(40) else { return Ok(()) };
        // A call that was aborted may still hold a lock, for which the next would wait forever.
        match self.hollow(routine, huge + 37, false)? {
            true => self.hollow(routine, huge + (1 << 31) + 37, true).map(|_| ()),
            false => Ok(()),
        }
    }

    /// False if a further call makes no sense.
    fn hollow(&mut self, routine: Landing, len: usize, was_left: bool) -> Result<bool, Stop> {
        let map = || Region::hollow(len, EDGE_BYTES);
        let (Ok(dst), Ok(src)) = (map(), map()) else {
            self.notes.push(format!("not tried: a buffer of {len} bytes, for which there are no addresses"));
            return Ok(false);
        };
        let call = Call {
            dst: if self.family.writes() { dst.start() } else { without_provenance_mut(1) },
            src: if self.family.reads() { src.start() } else { without_provenance(1) },
            len,
            seed: 0,
        };
        let note = note(Stage::BeyondMemory);
        self.checker.announce(&call, note);
        self.checker.tally.count(self.family, &call, note);
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            let _stack = SignalStack::install(64 << 10);
            let _memory = (dst, src);
            // The receiver may have given up waiting.
            let _ = sender.send(Err(this_thread()));
            let whole = call;
            // SAFETY: memory of this thread's own, to which there is no reference.
            let outcome = unsafe { Caller::new(routine).call(&whole, false) };
            let _ = sender.send(Ok(outcome));
        });
        let mut number = None;
        let mut waited = 0;
        let outcome = loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(Err(thread)) => number = Some(thread),
                Ok(Ok(outcome)) => break Some(outcome),
                Err(RecvTimeoutError::Timeout) => {
                    waited += 1;
                    self.checker.beat();
                    match number.and_then(look) {
                        Some(seen) if seen.asleep => break None,
                        Some(seen) if seen.cpu < PATIENCE => continue,
                        None if waited < PATIENCE_IN_THE_DARK => continue,
                        _ if was_left => break None,
                        _ => {}
                    }
                    let mismatch = Mismatch::new(Kind::TimedOut, "a return", "no return in time");
                    return Err(caught_around(mismatch, call, note));
                }
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        let Some(outcome) = outcome else {
            let what = "it waits, perhaps for a lock that an earlier such call still holds";
            self.notes.push(format!("not tried to the end: a buffer of {len} bytes; {what}"));
            return Ok(false);
        };
        // It has nothing left to do, and nothing to tell.
        let _ = thread.join();
        let inside = |address: usize, buffer: usize| buffer != 1 && address.wrapping_sub(buffer) < len;
        let mismatch = match outcome {
            Err(Ill::Fault { address: Some(address), signal: libc::SIGSEGV, .. })
                if inside(address, call.dst as usize) || inside(address, call.src as usize) =>
            {
                return Ok(true);
            }
            Err(ill) => ill_mismatch(ill, &call, self.family),
            Ok(_) => Mismatch {
                about: "returned without touching most of its buffer: the length was cut to fewer bits"
                    .to_owned(),
                ..Mismatch::new(Kind::TruncatedLength, "all bytes", "some bytes")
            },
        };
        Err(caught_around(mismatch, call, note))
    }
}
