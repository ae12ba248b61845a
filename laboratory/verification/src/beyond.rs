//! Lengths that do not fit into fewer than 64 bits.
//!
//! Processing 2^40 bytes would take too long, so only the edges of such a buffer are accessible. A routine
//! that takes the length as it is runs into the middle and is caught there; one that returns has truncated
//! the length. 2^40 + 37 reveals a length, or a number of words, lines or blocks of 256 bytes, truncated to
//! 32 bits; adding 2^31 reveals one taken for negative.
//!
//! These calls are aborted, and a lock held by the routine is then held forever. So they come last, in a
//! thread that may be abandoned.

use super::call::{Call, CallError, Caller};
use super::checker::{Mismatch, mismatch_of_error};
use super::counterexample::FaultKind;
use super::ground::{Stop, caught_around};
use super::memory::Region;
use super::note::Stage;
use super::other_thread::{look, this_thread};
use super::places::note;
use super::signals::SignalStack;
use super::sweep::Verification;
use carryline_variants::Lengths;
use carryline_variants::landing::Landing;
use std::ptr::{without_provenance, without_provenance_mut};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A call reaches the middle within microseconds: the CPU time that it may take, and the elapsed time if the
/// system does not report CPU time.
const TIMEOUT: Duration = Duration::from_secs(1);
const TIMEOUTS_WITHOUT_CPU_TIME: u32 = 30;
const EDGE_BYTES: usize = 64 << 10;

impl Verification<'_> {
    /// Calls with buffers larger than the memory.
    pub fn beyond_memory(&mut self, routine: Landing) -> Result<(), Stop> {
        if self.lengths != Lengths::Any || cfg!(not(target_arch = "x86_64")) {
            return Ok(());
        }
        let Some(huge) = 1_usize.checked_shl(40) else { return Ok(()) };
        // An aborted call may still hold a lock, for which the next one would wait forever.
        match self.hollow(routine, huge + 37, false)? {
            true => self.hollow(routine, huge + (1 << 31) + 37, true).map(|_| ()),
            false => Ok(()),
        }
    }

    /// False if further calls are pointless.
    fn hollow(&mut self, routine: Landing, len: usize, may_be_locked: bool) -> Result<bool, Stop> {
        let map = || Region::hollow(len, EDGE_BYTES);
        let (Ok(dst), Ok(src)) = (map(), map()) else {
            self.notes.push(format!(
                "not tried: a buffer of {len} bytes, which does not fit into the address space"
            ));
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
        // The thread's own caller makes the call.
        self.checker.caller.calls += 1;
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            let _stack = SignalStack::install(64 << 10);
            let _memory = (dst, src);
            // The receiver may have stopped waiting.
            let _ = sender.send(Err(this_thread()));
            let whole = call;
            // SAFETY: memory that this thread owns, without references to it.
            let outcome = unsafe { Caller::new(routine).call(&whole, false) };
            let _ = sender.send(Ok(outcome));
        });
        let mut number = None;
        let mut waited = 0;
        let outcome = loop {
            match receiver.recv_timeout(TIMEOUT) {
                Ok(Err(thread)) => number = Some(thread),
                Ok(Ok(outcome)) => break Some(outcome),
                Err(RecvTimeoutError::Timeout) => {
                    waited += 1;
                    self.checker.beat();
                    match number.and_then(look) {
                        Some(seen) if seen.asleep => break None,
                        Some(seen) if seen.cpu < TIMEOUT => continue,
                        None if waited < TIMEOUTS_WITHOUT_CPU_TIME => continue,
                        _ if may_be_locked => break None,
                        _ => {}
                    }
                    let mismatch = Mismatch::new(FaultKind::TimedOut, "a return", "no return in time");
                    return Err(caught_around(mismatch, call, note));
                }
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        let Some(outcome) = outcome else {
            let what = "it waits, perhaps for a lock that an earlier aborted call still holds";
            self.notes.push(format!("not tried fully: a buffer of {len} bytes; {what}"));
            return Ok(false);
        };
        // It has nothing left to do or to report.
        let _ = thread.join();
        let inside = |address: usize, buffer: usize| buffer != 1 && address.wrapping_sub(buffer) < len;
        let mismatch = match outcome {
            Err(CallError::Fault { address: Some(address), signal: libc::SIGSEGV, .. })
                if inside(address, call.dst as usize) || inside(address, call.src as usize) =>
            {
                return Ok(true);
            }
            Err(error) => mismatch_of_error(error, &call, self.family),
            Ok(_) => Mismatch {
                about: "returned without touching most of its buffer: the length was truncated".to_owned(),
                ..Mismatch::new(FaultKind::TruncatedLength, "all bytes", "some bytes")
            },
        };
        Err(caught_around(mismatch, call, note))
    }
}
