//! One call of the routine under test, and its effects on the state around it.

use super::counterexample::FaultKind;
use super::other_thread::waited_for_a_cpu;
use super::signals::{block, blocked};
use crate::forked::{Watch, record_and_exit_if_child};
#[cfg(not(target_arch = "x86_64"))]
use carryline_variants::Routine;
use carryline_variants::landing::Landing;
use std::time::Instant;

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The destination; dangling if the family writes nothing.
    pub dst: *mut u8,
    /// The source; dangling if the family reads nothing.
    pub src: *const u8,
    /// The number of bytes.
    pub len: usize,
    /// The checksum's seed; for a function like `memset`, the byte, as an `int` of which the lowest eight bits count.
    pub seed: u32,
}

// SAFETY: these are only addresses; dereferencing them needs unsafe code of its own.
unsafe impl Send for Call {}

/// A call that violated the calling convention.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only the x86-64 call looks around"))]
pub(super) enum CallError {
    /// It crashed, and the signal was caught.
    Fault {
        /// The signal's number.
        signal: i32,
        /// The address it accessed, if the processor reports it.
        address: Option<usize>,
        /// Whether it was a write.
        write: bool,
        /// The stack pointer at that moment.
        stack: usize,
    },
    /// Some state was not preserved.
    State {
        /// The kind of state.
        kind: FaultKind,
        /// Its name.
        what: String,
        /// Its value before the call.
        before: String,
        /// Its value after the call.
        after: String,
    },
    /// It returned this instead of the destination's address.
    Returned(u64),
    /// It changed this part of the process' signal handling.
    SignalHandling(String),
    /// It left a child process behind.
    Forked,
    /// The time limit for verification has passed.
    Overdue,
}

/// The number of calls between two checks of the clock, the signal mask and for children.
const CHECK_EVERY: u64 = 16;

/// Calls one routine, from one thread.
#[derive(Debug)]
pub(super) struct Caller {
    #[cfg(not(target_arch = "x86_64"))]
    routine: Landing,
    /// The number of calls made.
    pub calls: u64,
    /// Set once a call that began with clean upper halves of the vector registers left them in use.
    pub dirty_upper: bool,
    /// Whether the routine must return the destination's address.
    pub returns_destination: bool,
    /// The time limit of the verification.
    pub deadline: Option<Instant>,
    pub watch: Watch,
    /// The signals that the thread blocks.
    blocked: u64,
    #[cfg(target_arch = "x86_64")]
    state: x86_64::State,
    #[cfg(not(target_arch = "x86_64"))]
    returned: u64,
}

impl Caller {
    pub fn new(routine: Landing) -> Caller {
        Caller {
            #[cfg(not(target_arch = "x86_64"))]
            routine,
            calls: 0,
            dirty_upper: false,
            returns_destination: false,
            deadline: None,
            watch: Watch::current(),
            blocked: blocked(),
            #[cfg(target_arch = "x86_64")]
            state: x86_64::State::new(routine),
            #[cfg(not(target_arch = "x86_64"))]
            returned: 0,
        }
    }

    /// Makes the call; with `step`, one instruction at a time, for the handler installed by
    /// [`stops`](super::stops).
    ///
    /// # Safety
    /// Verification owns the memory that `call` names, and there are no references to it. A wrong routine
    /// may access other memory; worker processes exist to contain that risk.
    pub unsafe fn call(&mut self, call: &Call, step: bool) -> Result<u32, CallError> {
        self.calls += 1;
        // SAFETY: verification owns the memory that `call` names, by contract; the rest is the worker's risk.
        let outcome = unsafe { self.plain(call, step) };
        record_and_exit_if_child();
        if outcome.is_ok() {
            if self.watch.came_back() {
                return Err(CallError::Forked);
            }
            if self.calls <= CHECK_EVERY || self.calls.is_multiple_of(CHECK_EVERY) {
                self.look()?;
            }
            if self.returns_destination && self.returned() != call.dst.addr() as u64 {
                return Err(CallError::Returned(self.returned()));
            }
        }
        outcome
    }

    /// All bits of the last call's result.
    pub fn returned(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return self.state.returned();
        #[cfg(not(target_arch = "x86_64"))]
        return self.returned;
    }

    /// Checks the clock, the thread's signal mask, and for child processes left behind.
    pub fn look(&self) -> Result<(), CallError> {
        if self.watch.came_back() || self.watch.left_behind() {
            return Err(CallError::Forked);
        }
        if blocked() != self.blocked {
            block(self.blocked);
            return Err(CallError::SignalHandling("the signal mask".to_owned()));
        }
        match self.deadline {
            // The deadline excludes the time that this thread waited for a CPU, which is not the routine's
            // fault.
            Some(deadline) if Instant::now() > deadline && Instant::now() > deadline + waited_for_a_cpu() => {
                Err(CallError::Overdue)
            }
            _ => Ok(()),
        }
    }

    /// # Safety
    /// As for `call`.
    unsafe fn plain(&mut self, call: &Call, step: bool) -> Result<u32, CallError> {
        #[cfg(target_arch = "x86_64")]
        {
            self.state.prepare(call, self.calls, step);
            // SAFETY: the frame was prepared for this routine's signature.
            let outcome = unsafe { self.state.run() };
            self.dirty_upper |= self.state.left_upper_halves_in_use();
            outcome
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = step;
            let Call { dst, src, len, seed } = *call;
            // SAFETY: verification owns the memory that `call` names, by contract; the rest is the worker's
            // risk.
            self.returned = unsafe {
                match self.routine {
                    Landing::Routine(Routine::Zero(zero)) => {
                        zero(dst, len);
                        0
                    }
                    Landing::Routine(Routine::Copy(copy)) => {
                        copy(dst, src, len);
                        0
                    }
                    Landing::Routine(Routine::Checksum(sum)) => u64::from(sum(src, len, seed)),
                    Landing::Routine(Routine::CopyChecksum(sum)) => u64::from(sum(dst, src, len, seed)),
                    Landing::Set(set) => set(dst.cast(), seed as libc::c_int, len) as u64,
                    Landing::Move(copy) => copy(dst.cast(), src.cast(), len) as u64,
                }
            };
            Ok(self.returned as u32)
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86_64;
