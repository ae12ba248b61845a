//! Traces of one call of a routine: its instructions in order, with the registers before each.
//!
//! With the trap flag set, the processor stops after every instruction, and the handler records the address.
//! This is exact, however the routine branches by length, alignment or CPU; but calls are a thousand times
//! slower, so nothing is timed here. The analysis of critical chains reads these traces.
//!
//! It must run in a worker process: a wrong routine may do anything.

use serde::{Deserialize, Serialize};

/// The maximum number of recorded instructions.
pub const MOST_STEPS: usize = 20_000;

/// The executed instructions of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executed {
    /// For each: its address, then rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15 before it.
    pub steps: Vec<[u64; 17]>,
    /// The executed code: up to 15 bytes at each address.
    pub code: Vec<(u64, Vec<u8>)>,
    /// Whether the call continued after the last step.
    pub is_cut: bool,
}

/// The reason that a call cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The processor or operating system is not supported.
    #[error("calls can be traced only on x86-64 Linux")]
    Platform,
    /// The trap flag has no effect, as under some emulators.
    #[error("this machine does not support single-stepping")]
    NoStops,
    /// The routine's code cannot be read back.
    #[error("cannot read the executed code: {0}")]
    Code(std::io::Error),
}

/// Traces one call of `len` bytes at an aligned address, after a warm-up call that resolves dispatchers.
///
/// # Errors
/// If this is not supported here.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub fn follow(
    _routine: impl Into<carryline_variants::landing::Landing>,
    _len: usize,
) -> Result<Executed, TraceError> {
    Err(TraceError::Platform)
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use x86_64::follow;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod x86_64 {
    use super::{Executed, MOST_STEPS, TraceError};
    use crate::signals::{Handlers, Saved};
    use carryline_variants::Routine;
    use carryline_variants::landing::Landing;
    use std::collections::BTreeSet;
    use std::os::unix::fs::FileExt;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, Ordering};

    const TRAP: i64 = 1 << 8;
    /// The registers in the order of their encoding.
    const REGISTERS: [i32; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];

    struct Record {
        entry: u64,
        /// Preallocated for all steps: the handler must not allocate.
        steps: Vec<[u64; 17]>,
        is_cut: bool,
    }

    static RECORD: AtomicPtr<Record> = AtomicPtr::new(null_mut());

    extern "C" fn on_step(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes it to a handler installed with SA_SIGINFO.
        let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        let record = RECORD.load(Ordering::Relaxed);
        if record.is_null() {
            registers[libc::REG_EFL as usize] &= !TRAP;
            return;
        }
        // SAFETY: set by the stepped thread, which is this one, for the duration of the call.
        let record = unsafe { &mut *record };
        let mut step = [registers[libc::REG_RIP as usize] as u64; 17];
        for (place, register) in step[1..].iter_mut().zip(REGISTERS) {
            *place = registers[register as usize] as u64;
        }
        const STACK_POINTER: usize = 5;
        match record.steps.first() {
            None if step[0] != record.entry => return,
            // The return has popped the address off the stack: the call has ended.
            Some(first) if step[STACK_POINTER] > first[STACK_POINTER] => {
                registers[libc::REG_EFL as usize] &= !TRAP;
                return;
            }
            _ => {}
        }
        // A repeated string instruction stops after each repetition: one step is enough.
        if record.steps.last().is_some_and(|last| last[0] == step[0]) {
            return;
        }
        if record.steps.len() == MOST_STEPS {
            record.is_cut = true;
            registers[libc::REG_EFL as usize] &= !TRAP;
            return;
        }
        record.steps.push(step);
    }

    /// Traces one call; see the module.
    ///
    /// # Errors
    /// [`TraceError`] if single-stepping has no effect or the code cannot be read.
    pub fn follow(routine: impl Into<Landing>, len: usize) -> Result<Executed, TraceError> {
        let bytes: Vec<u8> = (0..len).map(|i| (i as u8).wrapping_mul(167).wrapping_add(29)).collect();
        let (src, dst) = (Aligned::filled(&bytes), Aligned::filled(&bytes));
        const SUM: u64 = 0x1234_5678;
        let (from, to, n) = (src.address(), dst.address(), len as u64);
        let (entry, arguments) = match routine.into() {
            Landing::Routine(Routine::Zero(f)) => (f as usize as u64, [to, n, 0, 0]),
            Landing::Routine(Routine::Copy(f)) => (f as usize as u64, [to, from, n, 0]),
            Landing::Routine(Routine::Checksum(f)) => (f as usize as u64, [from, n, SUM, 0]),
            Landing::Routine(Routine::CopyChecksum(f)) => (f as usize as u64, [to, from, n, SUM]),
            Landing::Set(f) => (f as usize as u64, [to, 0, n, 0]),
            Landing::Move(f) => (f as usize as u64, [to, from, n, 0]),
        };
        let mut record = Record { entry, steps: Vec::with_capacity(MOST_STEPS), is_cut: false };
        // Holds the lock on the process-wide signal handlers.
        let _handlers = Handlers::install();
        let _saved = Saved::install(libc::SIGTRAP, on_step, 0);
        // SAFETY: the routine's signature has these arguments, in these registers; both buffers hold len
        // bytes.
        unsafe { call(entry, arguments, 0) };
        RECORD.store(&raw mut record, Ordering::Relaxed);
        // SAFETY: the same call with the trap flag set; the handler is installed and its record outlives the
        // call.
        unsafe { call(entry, arguments, TRAP as u64) };
        RECORD.store(null_mut(), Ordering::Relaxed);
        if record.steps.is_empty() {
            return Err(TraceError::NoStops);
        }
        let code = code(&record.steps).map_err(TraceError::Code)?;
        Ok(Executed { steps: record.steps, code, is_cut: record.is_cut })
    }

    /// A buffer that starts at a cache line.
    struct Aligned {
        memory: Vec<u8>,
        from: usize,
    }

    impl Aligned {
        fn filled(bytes: &[u8]) -> Aligned {
            let mut memory = vec![0; bytes.len() + 128];
            let from = memory.as_ptr().align_offset(64);
            memory[from..from + bytes.len()].copy_from_slice(bytes);
            Aligned { memory, from }
        }

        fn address(&self) -> u64 {
            self.memory[self.from..].as_ptr() as u64
        }
    }

    /// Calls a routine with these flags set.
    ///
    /// # Safety
    /// `entry` is a function of the System V convention that takes up to four integers, for which these are
    /// valid arguments. With the trap flag, SIGTRAP has a handler that clears it.
    unsafe fn call(entry: u64, [a, b, c, d]: [u64; 4], flags: u64) {
        // SAFETY: the block may push, so the stack is aligned for calls and has no red zone here; everything
        // that a callee may change is declared, and the flags are restored by the handler or were not
        // changed.
        unsafe {
            std::arch::asm!(
                "pushfq",
                "or qword ptr [rsp], {flags}",
                "popfq",
                "call {entry}",
                "pushfq",
                "and qword ptr [rsp], -257",
                "popfq",
                entry = in(reg) entry,
                flags = in(reg) flags,
                in("rdi") a,
                in("rsi") b,
                in("rdx") c,
                in("rcx") d,
                clobber_abi("C"),
            );
        }
    }

    /// The readable bytes at every instruction.
    fn code(steps: &[[u64; 17]]) -> std::io::Result<Vec<(u64, Vec<u8>)>> {
        let memory = std::fs::File::open("/proc/self/mem")?;
        let addresses: BTreeSet<u64> = steps.iter().map(|step| step[0]).collect();
        let read = |address: u64| {
            let mut bytes = vec![0; 15];
            let count = memory.read_at(&mut bytes, address)?;
            bytes.truncate(count);
            Ok((address, bytes))
        };
        addresses.into_iter().map(read).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use carryline_variants::{Family, find};

        #[test]
        fn longer_calls_have_more_steps_and_end_with_a_return() {
            let routine = find(Family::Checksum, "adc_1_stream").expect("in the collection").routine;
            let short = match follow(routine, 40) {
                Err(TraceError::NoStops) => return,
                other => other.expect("a trace"),
            };
            let long = follow(routine, 4000).expect("a trace");
            assert!(long.steps.len() > short.steps.len() + 300, "{} {}", short.steps.len(), long.steps.len());
            for trace in [short, long] {
                let last = trace.steps.last().expect("steps")[0];
                let code = trace.code.iter().find(|(address, _)| *address == last).expect("its code");
                assert_eq!(code.1[0], 0xc3, "ret");
                assert!(!trace.is_cut);
            }
        }

        #[test]
        fn traces_of_many_steps_are_cut() {
            let routine = find(Family::Checksum, "reference").expect("in the collection").routine;
            match follow(routine, 200_000) {
                Err(TraceError::NoStops) => {}
                other => assert!(other.expect("a trace").is_cut),
            }
        }
    }
}
