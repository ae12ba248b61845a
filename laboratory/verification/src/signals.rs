//! Signal handlers during a verification: a crash inside a routine becomes a result.
//!
//! The handler sends the thread to the trampoline's exit, so that a routine that touched a guard page can be
//! called again with a smaller input. It runs on a separate stack, since the routine may have lost its own. A
//! crash anywhere else gets the default action: verification's own faults are not hidden.
//!
//! Handlers are process-wide, so [`Handlers::install`] holds a lock: one verification at a time.

use std::mem::zeroed;
use std::sync::{Mutex, MutexGuard, PoisonError};

static ONE_VERIFICATION: Mutex<()> = Mutex::new(());

/// The installed handlers, until dropped.
pub(crate) struct Handlers {
    _saved: Vec<Saved>,
    _stack: SignalStack,
    _lock: MutexGuard<'static, ()>,
}

impl Handlers {
    /// Installs the handlers for the process, and a signal stack for this thread.
    pub fn install() -> Handlers {
        let lock = ONE_VERIFICATION.lock().unwrap_or_else(PoisonError::into_inner);
        Handlers {
            #[cfg(target_arch = "x86_64")]
            _saved: x86_64::CRASHES
                .into_iter()
                .map(|signal| Saved::install(signal, x86_64::on_crash, libc::SA_ONSTACK))
                .collect(),
            #[cfg(not(target_arch = "x86_64"))]
            _saved: Vec::new(),
            _stack: SignalStack::install(64 << 10),
            _lock: lock,
        }
    }
}

/// A stack for this thread's signal handlers, until dropped.
pub(crate) struct SignalStack {
    old: libc::stack_t,
    _memory: Box<[u8]>,
}

impl SignalStack {
    /// Installs a stack of at least `bytes`, and at least what the kernel needs for this CPU's registers.
    pub fn install(bytes: usize) -> SignalStack {
        // SAFETY: reads a number from the auxiliary vector.
        let least = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
        let mut memory = vec![0; bytes.max(least + 4096)].into_boxed_slice();
        let new = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
        let mut old = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: valid structures; the memory lives as long as the guard, which restores the old stack.
        unsafe { libc::sigaltstack(&raw const new, &raw mut old) };
        SignalStack { old, _memory: memory }
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        // SAFETY: the previous stack of this thread.
        unsafe { libc::sigaltstack(&raw const self.old, std::ptr::null_mut()) };
    }
}

pub(crate) type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// The previous action of a signal.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only x86-64 has handlers"))]
pub(crate) struct Saved {
    signal: i32,
    old: libc::sigaction,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only x86-64 has handlers"))]
impl Saved {
    pub fn install(signal: i32, handler: Handler, flags: i32) -> Saved {
        // SAFETY: all-zero is a valid value of these C structures.
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = unsafe { (zeroed(), zeroed()) };
        new.sa_sigaction = handler as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | flags;
        // SAFETY: valid structures, and a handler with the signature that SA_SIGINFO requires.
        unsafe { libc::sigaction(signal, &raw const new, &raw mut old) };
        Saved { signal, old }
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        // SAFETY: the action that the kernel returned at installation.
        unsafe { libc::sigaction(self.signal, &raw const self.old, std::ptr::null_mut()) };
    }
}

/// The signals that this thread blocks: the first 64 bits of the set.
pub(crate) fn blocked() -> u64 {
    // SAFETY: all-zero is a valid value of this C structure; the call only reads this thread's mask into it. A set is
    // at least 64 bits long on Linux.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set);
        (&raw const set).cast::<u64>().read_unaligned()
    }
}

/// Makes this thread block exactly these signals.
pub(crate) fn block(signals: u64) {
    // SAFETY: all-zero is a valid value of this C structure, which is at least 64 bits long on Linux; the call reads it.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        (&raw mut set).cast::<u64>().write_unaligned(signals);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// The actions of the process' signals.
pub(crate) struct Actions(Vec<libc::sigaction>);

impl Actions {
    /// The current ones, of the signals 1 to 31, which programs use.
    pub fn now() -> Actions {
        Actions((1..32).map(action).collect())
    }

    /// The first signal whose action has changed; all are set back.
    pub fn restore(&self) -> Option<i32> {
        // The C library adds this flag.
        const RESTORER: i32 = 0x0400_0000;
        let parts = |action: &libc::sigaction| (action.sa_sigaction, action.sa_flags & !RESTORER);
        let changed: Vec<i32> = (1..)
            .zip(&self.0)
            .filter(|(signal, held)| parts(&action(*signal)) != parts(held))
            .map(|(signal, _)| signal)
            .collect();
        for signal in &changed {
            // SAFETY: an action that the kernel returned for this signal.
            unsafe {
                libc::sigaction(*signal, &raw const self.0[*signal as usize - 1], std::ptr::null_mut())
            };
        }
        changed.first().copied()
    }
}

fn action(signal: i32) -> libc::sigaction {
    // SAFETY: all-zero is a valid value of this C structure, and the call only reads the action into it.
    unsafe {
        let mut held: libc::sigaction = zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut held);
        held
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86_64 {
    use crate::call::x86_64::CURRENT;
    use crate::trampoline::{Fault, carryline_proof_recover};

    pub(super) const CRASHES: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];

    const WRITE: i64 = 2;
    const FLAGS_TO_CLEAR: i64 = 1 << 8 | 1 << 10 | 1 << 18;

    pub(crate) extern "C" fn on_crash(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes this structure to a handler installed with SA_SIGINFO; a signal sent by a
        // process (kill, tgkill, sigqueue) carries the sender's id.
        let from_elsewhere = unsafe { (*info).si_code <= 0 && (*info).si_pid() != libc::getpid() };
        if from_elsewhere {
            // Another process sent it: the call continues.
            return;
        }
        let frame = CURRENT.get();
        if frame.is_null() {
            // SAFETY: the default action: the faulting instruction runs again and ends the process.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            return;
        }
        // SAFETY: the kernel passes both structures to a handler installed with SA_SIGINFO.
        let (info, context) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
        let registers = &mut context.uc_mcontext.gregs;
        // SI_KERNEL (general protection) and signals from other processes have no address.
        let has_address = info.si_code > 0 && info.si_code != libc::SI_KERNEL;
        let fault = Fault {
            signal,
            has_address,
            // SAFETY: these signals carry an address if the kernel raises them for a fault; otherwise this
            // reads another member of the same initialised structure, which is not used.
            address: unsafe { info.si_addr() } as usize,
            write: registers[libc::REG_ERR as usize] & WRITE != 0,
            stack: registers[libc::REG_RSP as usize] as usize,
        };
        // SAFETY: the frame of this thread's current call, which will not continue.
        let saved_stack = unsafe {
            (&raw mut (*frame).fault).write(fault);
            (&raw const (*frame).saved_stack).read()
        };
        registers[libc::REG_RIP as usize] = (&raw const carryline_proof_recover) as i64;
        registers[libc::REG_RSP as usize] = saved_stack as i64;
        registers[libc::REG_RCX as usize] = frame as i64;
        registers[libc::REG_EFL as usize] &= !FLAGS_TO_CLEAR;
    }
}
