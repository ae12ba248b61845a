//! One call of the routine under test, and its effects on the state around it.

use super::counterexample::Kind;
use super::other_thread::waited_for_a_cpu;
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
    /// The checksum's seed; for a function like `memset`, the byte.
    pub seed: u32,
}

// SAFETY: these are only addresses; whoever dereferences them is responsible.
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
        kind: Kind,
        /// Its name.
        what: String,
        /// Its value before the call.
        before: String,
        /// Its value after the call.
        after: String,
    },
    /// It left a child process behind.
    Forked,
    /// The time limit for verification has passed.
    Overdue,
}

/// The number of calls between two checks of the clock and for children.
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
    /// The time limit of the verification.
    pub deadline: Option<Instant>,
    pub watch: Watch,
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
            deadline: None,
            watch: Watch::current(),
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
    /// Verification owns the memory that `call` names, and nobody holds a reference to it. A wrong routine
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

    /// Checks the clock, and for child processes left behind.
    pub fn look(&self) -> Result<(), CallError> {
        if self.watch.came_back() || self.watch.left_behind() {
            return Err(CallError::Forked);
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
pub(super) mod x86_64 {
    use super::{Call, CallError};
    use crate::counterexample::Kind;
    use crate::patterns::Random;
    use crate::trampoline::*;
    use carryline::internals::cpu::Features;
    use carryline_variants::Routine;
    use carryline_variants::landing::Landing;
    use std::cell::Cell;
    use std::ptr::{NonNull, null_mut};

    thread_local! {
        /// The frame of this thread's current call; null outside of calls.
        pub(crate) static CURRENT: Cell<*mut Frame> = const { Cell::new(null_mut()) };
    }

    const GARBAGE_BYTES: usize = 32 * 64;
    const SENTINELS: [(&str, u64); 5] = [
        ("rbx", 0xb0b0_1111_b0b0_1111),
        ("rbp", 0xb1b1_2222_b1b1_2222),
        ("r13", 0xb3b3_3333_b3b3_3333),
        ("r14", 0xb4b4_4444_b4b4_4444),
        ("r15", 0xb5b5_5555_b5b5_5555),
    ];
    const DIRECTION: u64 = 1 << 10;
    const ALIGNMENT: u64 = 1 << 18;
    // MXCSR's masks, rounding and flush modes; its lower bits are sticky flags that need not be preserved.
    const MXCSR_CONTROL: u32 = 0xffc0;
    // C3, C2, C0 and the top of the stack: empty, nothing pushed.
    const X87_STATE: u16 = 0x7d00;
    const X87_EMPTY: u16 = 0x4100;
    const TAG_WORD: usize = 4;

    #[derive(Debug)]
    pub(super) struct State {
        routine: Landing,
        frame: NonNull<Frame>,
        // Two sets, each the complement of the other: one of them breaks any assumption about register
        // contents.
        garbage: Box<[[u8; GARBAGE_BYTES]; 2]>,
        features: Features,
    }

    // SAFETY: the frame is this state's own allocation.
    unsafe impl Send for State {}

    impl State {
        pub fn new(routine: Landing) -> State {
            let mut garbage = Box::new([[0; GARBAGE_BYTES]; 2]);
            let mut random = Random::new(0x6761_7262_6167_6521);
            for at in 0..GARBAGE_BYTES {
                let byte = random.next() as u8;
                garbage[0][at] = byte;
                garbage[1][at] = !byte;
            }
            let target = match routine {
                Landing::Routine(routine) => routine.address(),
                Landing::Set(set) => set as usize,
                Landing::Move(copy) => copy as usize,
            };
            let frame = Box::new(Frame {
                target,
                arguments: [0; 4],
                mode: 0,
                scratch: 0,
                garbage: garbage[0].as_ptr(),
                sentinels: SENTINELS.map(|(_, value)| value),
                saved_stack: 0,
                result: 0,
                after: [0; 5],
                after_r12: 0,
                after_stack: 0,
                after_flags: 0,
                stack_damage: 0,
                recovered: 0,
                mxcsr_before: 0,
                mxcsr_after: 0,
                control_before: 0,
                control_after: 0,
                x87_after: 0,
                environment: [0; 14],
                upper: [0; 2],
                fault: Fault::default(),
            });
            State { routine, frame: NonNull::from(Box::leak(frame)), garbage, features: Features::detect() }
        }

        pub fn prepare(&mut self, call: &Call, count: u64, step: bool) {
            // SAFETY: this state's own allocation, shared only with a running call, and none is running.
            let frame = unsafe { self.frame.as_mut() };
            let scratch = count.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63;
            let (dst, src) = (call.dst as u64, call.src as u64);
            // The calling convention leaves the upper half of a 32-bit argument's register undefined.
            let undefined = scratch & 0xffff_ffff_0000_0000;
            let (seed, len) = (u64::from(call.seed) | undefined, call.len as u64);
            frame.arguments = match self.routine {
                Landing::Routine(Routine::Zero(_)) => [dst, len, scratch, !scratch],
                Landing::Routine(Routine::Copy(_)) | Landing::Move(_) => [dst, src, len, scratch],
                Landing::Routine(Routine::Checksum(_)) => [src, len, seed, !scratch],
                Landing::Routine(Routine::CopyChecksum(_)) => [dst, src, len, seed],
                // The byte, as an int.
                Landing::Set(_) => [dst, seed, len, scratch],
            };
            frame.scratch = scratch;
            frame.garbage = self.garbage[(count / 4 % 2) as usize].as_ptr();
            let avx = self.features.contains(Features::AVX2);
            let avx512 = self.features.contains(Features::AVX512F);
            let mut mode = match count % 4 {
                0 if avx512 => MODE_ZMM,
                0 | 1 if avx => MODE_YMM,
                2 if avx => MODE_YMM | MODE_CLEAN_UPPER,
                _ => 0,
            };
            if count % 64 == 2 {
                mode |= MODE_OBSERVE;
            }
            if avx {
                mode |= MODE_AVX;
            }
            if step {
                mode |= MODE_STEP;
            }
            frame.mode = mode;
            frame.recovered = 0;
        }

        /// # Safety
        /// `prepare` was called before, for a call whose memory verification owns.
        pub unsafe fn run(&mut self) -> Result<u32, CallError> {
            let frame = self.frame.as_ptr();
            CURRENT.set(frame);
            // SAFETY: a prepared frame; the trampoline restores every register that this function relies on.
            unsafe { carryline_proof_call(frame) };
            CURRENT.set(null_mut());
            // SAFETY: the call has ended, so only this state uses the frame.
            let frame = unsafe { self.frame.as_ref() };
            let intact = frame.recovered == 0
                && frame.after == frame.sentinels
                && frame.after_r12 == self.frame.as_ptr() as u64
                && frame.after_stack == frame.saved_stack
                && frame.stack_damage == 0
                && frame.after_flags & (DIRECTION | ALIGNMENT) == 0
                && (frame.mxcsr_after ^ frame.mxcsr_before) & MXCSR_CONTROL == 0
                && frame.control_after == frame.control_before
                && frame.x87_after & X87_STATE == X87_EMPTY
                && (frame.mode & MODE_OBSERVE == 0 || frame.environment[TAG_WORD] == 0xffff);
            if intact { Ok(frame.result as u32) } else { Err(self.diagnose()) }
        }

        pub fn returned(&self) -> u64 {
            // SAFETY: see `run`.
            unsafe { self.frame.as_ref() }.result
        }

        #[cold]
        fn diagnose(&self) -> CallError {
            // SAFETY: see `run`.
            let frame = unsafe { self.frame.as_ref() };
            if frame.recovered != 0 {
                let Fault { signal, has_address, write, address, stack } = frame.fault;
                return CallError::Fault { signal, address: has_address.then_some(address), write, stack };
            }
            clean_x87();
            let state = |kind, what: &str, before: String, after: String| CallError::State {
                kind,
                what: what.to_owned(),
                before,
                after,
            };
            let hex = |value: u64| format!("{value:#x}");
            for (i, (name, before)) in SENTINELS.into_iter().enumerate() {
                if frame.after[i] != before {
                    return state(Kind::ClobberedRegister, name, hex(before), hex(frame.after[i]));
                }
            }
            if frame.after_r12 != self.frame.as_ptr() as u64 {
                let before = hex(self.frame.as_ptr() as u64);
                return state(Kind::ClobberedRegister, "r12", before, hex(frame.after_r12));
            }
            if frame.after_stack != frame.saved_stack {
                return state(Kind::StackPointer, "rsp", hex(frame.saved_stack), hex(frame.after_stack));
            }
            if frame.stack_damage != 0 {
                let after = "overwritten".to_owned();
                return state(Kind::WroteCallerStack, "the caller's stack", "intact".to_owned(), after);
            }
            if frame.after_flags & DIRECTION != 0 {
                return state(Kind::DirectionFlag, "the direction flag", "0".to_owned(), "1".to_owned());
            }
            if frame.after_flags & ALIGNMENT != 0 {
                let what = "the alignment check flag";
                return state(Kind::ClobberedRegister, what, "0".to_owned(), "1".to_owned());
            }
            if (frame.mxcsr_after ^ frame.mxcsr_before) & MXCSR_CONTROL != 0 {
                let (before, after) = (u64::from(frame.mxcsr_before), u64::from(frame.mxcsr_after));
                return state(Kind::Mxcsr, "MXCSR", hex(before), hex(after));
            }
            if frame.control_after != frame.control_before {
                let (before, after) = (u64::from(frame.control_before), u64::from(frame.control_after));
                return state(Kind::X87, "the x87 control word", hex(before), hex(after));
            }
            state(
                Kind::X87,
                "the x87 register stack",
                "empty".to_owned(),
                "in use (emms is missing)".to_owned(),
            )
        }

        pub fn left_upper_halves_in_use(&self) -> bool {
            const OBSERVED: u64 = MODE_OBSERVE | MODE_CLEAN_UPPER | MODE_AVX;
            // SAFETY: see `run`.
            let frame = unsafe { self.frame.as_ref() };
            frame.mode & OBSERVED == OBSERVED && frame.recovered == 0 && frame.upper != [0; 2]
        }
    }

    impl Drop for State {
        fn drop(&mut self) {
            // SAFETY: allocated by Box::leak in `new`, and no call is running.
            drop(unsafe { Box::from_raw(self.frame.as_ptr()) });
        }
    }
}
