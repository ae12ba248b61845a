//! Stopping a call between two instructions.
//!
//! With the trap flag set, the processor stops after every instruction and the kernel delivers a signal on the
//! routine's own stack. A page that is made inaccessible stops the call where it first reaches that page, whatever the
//! call's length; from there it goes on by single instructions for a while. That makes certain what a race only
//! makes likely. At each stop the handler
//!
//! - has, by being there, overwritten the stack below the red zone;
//! - looks at the bytes next to the destination: a routine that writes there, if only to restore them, is caught
//!   in the act, and one that reads them and writes them back later loses what the handler wrote meanwhile, as it would
//!   lose what another thread writes;
//! - now and then lets another thread make whole calls of the same routine on buffers of its own, so that state
//!   that calls share is overwritten in the middle of one.

use super::checker::{Mismatch, Trial, ill_mismatch};
use super::companion::Meeting;
use super::counterexample::Kind;
use super::memory::Region;
use super::note::PAGE;
use super::signals::{Saved, scribble, x86_64::on_crash};
use super::sweep::Proof;
use carryline_machine::arena::MapError;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// How many bytes on either side of a destination change while it is written.
const NEIGHBOURS: usize = 64;
const TRAP: i64 = 1 << 8;

/// Where a call is stopped, and what happens there.
#[derive(Clone, Copy, Debug)]
pub(super) struct StopPlan<'m> {
    /// After how many instructions from the call's beginning on.
    pub first: u32,
    /// At every how many stops another thread is let in; 0 for never.
    pub meet_every: u32,
    pub meeting: &'m Meeting,
    /// Stop, and do nothing.
    pub quiet: bool,
}

/// Pages of a region that stop a call.
#[derive(Debug)]
pub(super) struct Closed<'w> {
    pub region: &'w Region,
    pub read_only: bool,
    /// For each page: after how many instructions the call stops once it has reached it; 0 where it does not stop there.
    pub windows: &'w mut [u32],
}

/// Bytes on one side of the destination.
#[derive(Clone, Copy, Debug)]
struct Side {
    start: *mut u8,
    len: usize,
    /// What was last written to them.
    held: u8,
}

#[derive(Debug)]
struct Steps {
    count: u32,
    /// Stops that are still to come before the call runs on.
    left: u32,
    tick: u8,
    sides: [Side; 2],
    /// Where a neighbour was found changed, and what it was.
    found: Option<(usize, u8, u8)>,
    meet_every: u32,
    meeting: *const Meeting,
    quiet: bool,
    /// The first page that may be closed, each page's window, and what makes it accessible again.
    pages: *mut u8,
    windows: *mut [u32],
    access: i32,
}

static STEPS: AtomicPtr<Steps> = AtomicPtr::new(null_mut());

impl Steps {
    /// Compares the neighbours with what was last written there.
    fn look(&mut self) {
        for side in self.sides {
            let len = if self.reaches(&side) { side.len } else { 0 };
            for i in 0..len {
                // SAFETY: bytes of the memory that the trial writes to, next to its destination, in no closed page.
                let got = unsafe { side.start.add(i).read_volatile() };
                if got != side.held && self.found.is_none() {
                    self.found = Some((side.start as usize + i, side.held, got));
                }
            }
        }
    }

    fn write(&mut self) {
        for at in 0..self.sides.len() {
            let side = self.sides[at];
            if self.reaches(&side) {
                for i in 0..side.len {
                    // SAFETY: as in `look`.
                    unsafe { side.start.add(i).write_volatile(self.tick) };
                }
                self.sides[at].held = self.tick;
            }
        }
    }

    /// True if none of the side's bytes lies in a closed page.
    fn reaches(&self, side: &Side) -> bool {
        // SAFETY: the windows outlive the stopped call, and only its handlers use them meanwhile.
        let windows = unsafe { &*self.windows };
        [0, side.len.saturating_sub(1)].into_iter().all(|i| {
            let page = (side.start.addr() + i).wrapping_sub(self.pages.addr()) / PAGE;
            windows.get(page).is_none_or(|window| *window == 0)
        })
    }

    /// What is done between two instructions.
    fn stop(&mut self) {
        self.count += 1;
        if self.quiet {
            return;
        }
        self.look();
        self.tick = self.tick.wrapping_add(1);
        self.write();
        if self.count.is_multiple_of(16) {
            scribble::<40_000>();
        } else {
            scribble::<2_000>();
        }
    }

    fn meet(&self) {
        if !self.quiet && self.meet_every != 0 && !self.meeting.is_null() {
            // SAFETY: the meeting outlives the stopped calls.
            unsafe { (*self.meeting).let_the_other_run() };
        }
    }

    /// Opens the page of `address` if it is closed: the instructions from there on to be stopped after.
    fn open(&mut self, address: usize) -> Option<u32> {
        let page = address.checked_sub(self.pages as usize)? / PAGE;
        // SAFETY: the windows outlive the stopped call, and only this handler uses them meanwhile.
        let window = unsafe { &mut *self.windows }.get_mut(page).filter(|window| **window > 0)?;
        let count = std::mem::take(window);
        // SAFETY: a page of the region that the plan closed, whose contents are verification's own.
        let opened =
            unsafe { libc::mprotect(self.pages.wrapping_add(page * PAGE).cast(), PAGE, self.access) } == 0;
        opened.then_some(count)
    }
}

/// Keeps what the interrupted routine finds in `errno`.
struct KeptErrno(i32);

impl KeptErrno {
    fn keep() -> KeptErrno {
        // SAFETY: this thread's own variable.
        KeptErrno(unsafe { *libc::__errno_location() })
    }
}

impl Drop for KeptErrno {
    fn drop(&mut self) {
        // SAFETY: as in `keep`.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

pub(super) extern "C" fn on_step(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    use super::call::x86_64::CURRENT;
    use super::trampoline::{carryline_proof_after, carryline_proof_call, carryline_proof_end};
    // SAFETY: the kernel passes it to a handler installed with SA_SIGINFO.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let steps = STEPS.load(Ordering::Relaxed);
    let at = registers[libc::REG_RIP as usize] as usize;
    let (call, after) =
        (carryline_proof_call as *const () as usize, (&raw const carryline_proof_after) as usize);
    let end = (&raw const carryline_proof_end) as usize;
    if steps.is_null() || CURRENT.get().is_null() || (after..end).contains(&at) {
        registers[libc::REG_EFL as usize] &= !TRAP;
        return;
    }
    if (call..after).contains(&at) {
        return;
    }
    let _errno = KeptErrno::keep();
    // SAFETY: set by the thread that is being stepped, which is this one, for the time of the call.
    let steps = unsafe { &mut *steps };
    steps.stop();
    if steps.meet_every != 0 && steps.count % steps.meet_every == 1 {
        steps.meet();
    }
    steps.left = steps.left.saturating_sub(1);
    if steps.left == 0 {
        registers[libc::REG_EFL as usize] &= !TRAP;
    }
}

/// Runs on a stack of its own, as the handler of crashes does; the step that follows is the one on the routine's.
extern "C" fn on_touch(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let errno = KeptErrno::keep();
    let steps = STEPS.load(Ordering::Relaxed);
    if !steps.is_null() && !super::call::x86_64::CURRENT.get().is_null() && signal == libc::SIGSEGV {
        // SAFETY: as in `on_step`; the kernel passes both structures, and a fault of memory carries its address.
        let (steps, address) = unsafe { (&mut *steps, (*info).si_addr() as usize) };
        if let Some(window) = steps.open(address) {
            steps.left = steps.left.max(window);
            steps.meet();
            // SAFETY: as in `on_step`.
            unsafe {
                (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] |= TRAP
            };
            return;
        }
    }
    drop(errno);
    on_crash(signal, info, context);
}

/// The handlers, until dropped.
pub(super) struct Stopping {
    _step: Saved,
    _touch: Saved,
}

impl Stopping {
    /// `None` where the trap flag does not stop this thread as it should: an emulator may not offer it.
    pub fn install() -> Option<Stopping> {
        stops_here().then(|| Stopping {
            _step: Saved::install(libc::SIGTRAP, on_step, 0),
            _touch: Saved::install(libc::SIGSEGV, on_touch, libc::SA_ONSTACK),
        })
    }
}

fn stops_here() -> bool {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn count(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: as in `on_step`.
        let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        if COUNT.fetch_add(1, Ordering::Relaxed) >= 1 {
            registers[libc::REG_EFL as usize] &= !TRAP;
        }
    }
    COUNT.store(0, Ordering::Relaxed);
    let _saved = Saved::install(libc::SIGTRAP, count, 0);
    // SAFETY: the trap flag stops after each of the following instructions until the handler clears it; the
    // red zone is left alone.
    unsafe {
        std::arch::asm!(
            "pushfq",
            "or qword ptr [rsp], 0x100",
            "popfq",
            "nop",
            "nop",
            "nop",
            "nop",
            "pushfq",
            "and qword ptr [rsp], -257",
            "popfq"
        );
    }
    COUNT.load(Ordering::Relaxed) == 2
}

impl Proof<'_> {
    /// The call with the plan's stops; how many there were, or what is wrong. The trial's window shows its picture
    /// again afterwards. An error where pages cannot be closed one by one, for which the system may lack memory.
    pub fn stopped(
        &mut self,
        trial: &Trial,
        plan: StopPlan<'_>,
        mut closed: Option<Closed<'_>>,
    ) -> Result<Result<u32, Mismatch>, MapError> {
        let to = trial.call.dst;
        let sides = match trial.window {
            Some(_) => [to.wrapping_sub(NEIGHBOURS), to.wrapping_add(trial.call.len)].map(|start| Side {
                start,
                len: NEIGHBOURS,
                held: 0,
            }),
            None => [Side { start: null_mut(), len: 0, held: 0 }; 2],
        };
        let (pages, access) = closed.as_ref().map_or((null_mut(), 0), |closed| {
            let write = if closed.read_only { 0 } else { libc::PROT_WRITE };
            (closed.region.start(), libc::PROT_READ | write)
        });
        let mut steps = Steps {
            count: 0,
            left: plan.first,
            tick: 0x5a,
            sides,
            found: None,
            meet_every: plan.meet_every,
            meeting: if plan.meet_every == 0 { null() } else { plan.meeting },
            quiet: plan.quiet,
            pages,
            windows: &mut [],
            access,
        };
        steps.write();
        if let Some(closed) = &closed {
            closed.close()?;
        }
        steps.windows = closed.as_mut().map_or(&mut [], |closed| &mut *closed.windows);
        STEPS.store(&raw mut steps, Ordering::Relaxed);
        let outcome = self.checker.call(&trial.call, trial.note, plan.first > 0);
        STEPS.store(null_mut(), Ordering::Relaxed);
        if let Some(closed) = &closed {
            closed.region.set_read_only(closed.read_only)?;
        }
        // All pages are open again, those too that the call never reached.
        steps.windows = &mut [];
        if !plan.quiet {
            steps.look();
        }
        for Side { start, len, .. } in sides {
            if let Some(window) = trial.window {
                let from = start as usize - window.base as usize;
                // SAFETY: the neighbours lie in the window, as stopped calls leave room for them.
                unsafe { start.copy_from_nonoverlapping(window.shadow.add(from), len) };
            }
        }
        let compared = match outcome {
            Err(ill) => Err(ill_mismatch(ill, &trial.call, self.family)),
            Ok(sum) => self.checker.compare(trial, sum).map_err(|mismatch| *mismatch),
        };
        if let Some(window) = trial.window {
            // SAFETY: as in `Checker::check`.
            unsafe { window.base.copy_from_nonoverlapping(window.shadow, window.size) };
        }
        if let Some((address, expected, got)) = steps.found {
            let first = address as i64 - to as i64;
            return Ok(Err(Mismatch {
                first_difference: Some(first),
                about: format!(
                    "byte {first} from the destination's start, outside it, is written during the call: what \
                     another thread writes there meanwhile is lost"
                ),
                ..Mismatch::new(Kind::NeighbourRace, format!("{expected:#04x}"), format!("{got:#04x}"))
            }));
        }
        Ok(compared.map(|()| steps.count))
    }
}

impl Closed<'_> {
    /// Closes the pages that have a window, or none.
    fn close(&self) -> Result<(), MapError> {
        let pages = self.windows.iter().enumerate().filter(|(_, window)| **window > 0);
        let outcome = pages.into_iter().try_for_each(|(page, _)| self.region.close(page * PAGE, PAGE));
        if outcome.is_err() {
            self.region.set_read_only(self.read_only)?;
        }
        outcome
    }
}
