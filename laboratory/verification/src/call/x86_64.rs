use super::{Call, CallError};
use crate::counterexample::FaultKind;
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
/// The number of calls between two whose upper halves and whole x87 state are observed.
const OBSERVE_EVERY: u64 = 61;

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
        // Prime, so that it does not keep step with loops over offsets.
        let observed = count % OBSERVE_EVERY == 2;
        let mut mode = match count % 4 {
            _ if observed && avx => MODE_YMM | MODE_CLEAN_UPPER,
            0 if avx512 => MODE_ZMM,
            0 | 1 if avx => MODE_YMM,
            2 if avx => MODE_YMM | MODE_CLEAN_UPPER,
            _ => 0,
        };
        if observed {
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
                return state(FaultKind::ClobberedRegister, name, hex(before), hex(frame.after[i]));
            }
        }
        if frame.after_r12 != self.frame.as_ptr() as u64 {
            let before = hex(self.frame.as_ptr() as u64);
            return state(FaultKind::ClobberedRegister, "r12", before, hex(frame.after_r12));
        }
        if frame.after_stack != frame.saved_stack {
            return state(FaultKind::StackPointer, "rsp", hex(frame.saved_stack), hex(frame.after_stack));
        }
        if frame.stack_damage != 0 {
            let after = "overwritten".to_owned();
            return state(FaultKind::WroteCallerStack, "the caller's stack", "intact".to_owned(), after);
        }
        if frame.after_flags & DIRECTION != 0 {
            return state(FaultKind::DirectionFlag, "the direction flag", "0".to_owned(), "1".to_owned());
        }
        if frame.after_flags & ALIGNMENT != 0 {
            let what = "the alignment check flag";
            return state(FaultKind::ClobberedRegister, what, "0".to_owned(), "1".to_owned());
        }
        if (frame.mxcsr_after ^ frame.mxcsr_before) & MXCSR_CONTROL != 0 {
            let (before, after) = (u64::from(frame.mxcsr_before), u64::from(frame.mxcsr_after));
            return state(FaultKind::Mxcsr, "MXCSR", hex(before), hex(after));
        }
        if frame.control_after != frame.control_before {
            let (before, after) = (u64::from(frame.control_before), u64::from(frame.control_after));
            return state(FaultKind::X87, "the x87 control word", hex(before), hex(after));
        }
        state(
            FaultKind::X87,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A routine may forget `vzeroupper` at one offset only.
    #[test]
    fn observed_calls_do_not_keep_step_with_loops_over_offsets() {
        let mut state = State::new(Landing::Set(libc::memset));
        let call = Call { dst: null_mut(), src: std::ptr::null(), len: 0, seed: 0 };
        let mut seen = BTreeSet::new();
        for count in 0..64 * OBSERVE_EVERY {
            state.prepare(&call, count, false);
            // SAFETY: this state's own allocation; no call is made.
            if unsafe { state.frame.as_ref() }.mode & MODE_OBSERVE != 0 {
                seen.insert(count % 64);
            }
        }
        assert_eq!(seen.len(), 64);
    }
}
