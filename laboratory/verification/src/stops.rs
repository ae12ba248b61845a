//! Stops a call between two instructions.
//!
//! With the trap flag set, the processor stops after every instruction, and the kernel delivers a signal, whose
//! handler has its own stack. An inaccessible page stops the call where it first accesses that page, whatever
//! the call's length; from there it continues by single steps for a while. This makes certain what a race
//! only makes likely. At each stop, the handler
//!
//! - overwrites every byte of the routine's stack below the red zone, as another system's signal frame may:
//!   this system's has gaps, which are different on CPUs with and without AVX-512;
//! - checks the bytes next to the destination: a routine that writes there, if only to restore them, is
//!   caught in the act; one that reads them and writes them back later loses what the handler wrote in
//!   between, as it would lose another thread's writes;
//! - follows whether non-temporal stores are fenced before the call returns;
//! - sometimes lets another thread make whole calls of the same routine on its own buffers, so that state
//!   shared between calls is overwritten in the middle of one.

use super::checker::{Mismatch, Trial, mismatch_of_error};
use super::companion::Meeting;
use super::counterexample::FaultKind;
use super::memory::Region;
use super::note::PAGE;
use super::signals::{Saved, x86_64::on_crash};
use super::sweep::Verification;
use super::weak_stores::Order;
use carryline_machine::arena::MapError;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The number of bytes on either side of a destination that change during the call.
const NEIGHBOURS: usize = 64;
const TRAP: i64 = 1 << 8;
/// The number of bytes below the stack pointer that belong to the routine (System V ABI for x86-64, section 3.2.2).
const RED_ZONE: usize = 128;
/// A routine whose stack pointer is further below its caller's has moved to a stack of its own, or lost it.
const DEEPEST: u64 = 64 << 10;

/// Where a call is stopped, and what happens there.
#[derive(Clone, Copy, Debug)]
pub(super) struct StopPlan<'m> {
    /// The number of single steps from the start of the call.
    pub first: u32,
    /// The number of stops between visits of the other thread; 0 for none.
    pub meet_every: u32,
    pub meeting: &'m Meeting,
    /// Stop without doing anything.
    pub quiet: bool,
}

/// Pages of a region that stop a call.
#[derive(Debug)]
pub(super) struct Closed<'w> {
    pub region: &'w Region,
    pub read_only: bool,
    /// For each page, the number of single steps once the call has reached it; 0 if it does not stop the
    /// call.
    pub windows: &'w mut [u32],
}

/// The bytes on one side of the destination.
#[derive(Clone, Copy, Debug)]
struct Side {
    start: *mut u8,
    len: usize,
    /// The value last written to them.
    held: u8,
}

#[derive(Debug)]
struct Steps {
    count: u32,
    /// The number of stops left before the call runs on.
    left: u32,
    tick: u8,
    sides: [Side; 2],
    /// The address of a changed neighbour, its expected value and its value.
    found: Option<(usize, u8, u8)>,
    order: Order,
    meet_every: u32,
    meeting: *const Meeting,
    quiet: bool,
    /// The first page that may be closed, each page's window, and the protection that makes it accessible
    /// again.
    pages: *mut u8,
    windows: *mut [u32],
    access: i32,
}

static STEPS: AtomicPtr<Steps> = AtomicPtr::new(null_mut());

impl Steps {
    /// Compares the neighbours with the value last written.
    fn look(&mut self) {
        for side in self.sides {
            let len = if self.reaches(&side) { side.len } else { 0 };
            for i in 0..len {
                // SAFETY: bytes of the trial's memory, next to its destination, in no closed page.
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
                    // SAFETY: see `look`.
                    unsafe { side.start.add(i).write_volatile(self.tick) };
                }
                self.sides[at].held = self.tick;
            }
        }
    }

    /// Whether none of the side's bytes is in a closed page.
    fn reaches(&self, side: &Side) -> bool {
        // SAFETY: the windows outlive the stopped call, and only its handlers use them during it.
        let windows = unsafe { &*self.windows };
        [0, side.len.saturating_sub(1)].into_iter().all(|i| {
            let page = (side.start.addr() + i).wrapping_sub(self.pages.addr()) / PAGE;
            windows.get(page).is_none_or(|window| *window == 0)
        })
    }

    /// The action between two instructions, with the routine's stack pointer before the call and now.
    fn stop(&mut self, before: u64, now: u64) {
        self.count += 1;
        if self.quiet {
            return;
        }
        self.look();
        self.tick = self.tick.wrapping_add(1);
        self.write();
        if before.checked_sub(now).is_some_and(|used| used <= DEEPEST) {
            let len = if self.count.is_multiple_of(16) { 40_000 } else { 4_000 };
            // SAFETY: the stepped thread's stack, which has room for this below the frames of its callers. Nothing
            // is kept there: the routine may keep data in the red zone only, and this handler has its own stack.
            unsafe { (now as *mut u8).wrapping_sub(RED_ZONE + len).write_bytes(0xcc, len) };
        }
    }

    /// Counts a stop; false if the call runs on.
    fn stays(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0 || self.order.stays()
    }

    fn meet(&self) {
        if !self.quiet && self.meet_every != 0 && !self.meeting.is_null() {
            // SAFETY: the meeting outlives the stopped calls.
            unsafe { (*self.meeting).let_other_run() };
        }
    }

    /// Opens the page of `address` if it is closed; returns its number of single steps.
    fn open(&mut self, address: usize) -> Option<u32> {
        let page = address.checked_sub(self.pages as usize)? / PAGE;
        // SAFETY: the windows outlive the stopped call, and only this handler uses them during it.
        let window = unsafe { &mut *self.windows }.get_mut(page).filter(|window| **window > 0)?;
        let count = std::mem::take(window);
        // SAFETY: a page of the region that the plan closed; verification owns its contents.
        let opened =
            unsafe { libc::mprotect(self.pages.wrapping_add(page * PAGE).cast(), PAGE, self.access) } == 0;
        opened.then_some(count)
    }

    /// Whether the call has reached all pages that stop it.
    fn all_reached(&self) -> bool {
        // SAFETY: see `open`.
        unsafe { &*self.windows }.iter().all(|window| *window == 0)
    }
}

/// Preserves the interrupted routine's `errno`.
struct KeptErrno(i32);

impl KeptErrno {
    fn keep() -> KeptErrno {
        // SAFETY: this thread's own variable.
        KeptErrno(unsafe { *libc::__errno_location() })
    }
}

impl Drop for KeptErrno {
    fn drop(&mut self) {
        // SAFETY: see `keep`.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

extern "C" fn on_step(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
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
        // SAFETY: set by the stepped thread, which is this one, for the duration of the call.
        if let Some(steps) = unsafe { steps.as_mut() } {
            steps.order.returns();
        }
        registers[libc::REG_EFL as usize] &= !TRAP;
        return;
    }
    if (call..after).contains(&at) {
        return;
    }
    let _errno = KeptErrno::keep();
    // SAFETY: set by the stepped thread, which is this one, for the duration of the call.
    let steps = unsafe { &mut *steps };
    // SAFETY: not null, checked above; the frame of the call that is being made.
    let before = unsafe { (*CURRENT.get()).saved_stack };
    // SAFETY: the instruction that the processor executes next.
    unsafe { steps.order.follow(at) };
    steps.stop(before, registers[libc::REG_RSP as usize] as u64);
    if steps.meet_every != 0 && steps.count % steps.meet_every == 1 {
        steps.meet();
    }
    if !steps.stays() {
        registers[libc::REG_EFL as usize] &= !TRAP;
    }
}

extern "C" fn on_touch(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let errno = KeptErrno::keep();
    let steps = STEPS.load(Ordering::Relaxed);
    if !steps.is_null() && !super::call::x86_64::CURRENT.get().is_null() && signal == libc::SIGSEGV {
        // SAFETY: see `on_step`; the kernel passes both structures, and a memory fault carries its address.
        let (steps, address) = unsafe { (&mut *steps, (*info).si_addr() as usize) };
        if let Some(window) = steps.open(address) {
            steps.left = steps.left.max(window);
            steps.order.is_last_page(steps.all_reached());
            steps.meet();
            // SAFETY: see `on_step`.
            let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
            registers[libc::REG_EFL as usize] |= TRAP;
            // SAFETY: the instruction that reached the page, which is executed again.
            unsafe { steps.order.follow(registers[libc::REG_RIP as usize] as usize) };
            return;
        }
    }
    drop(errno);
    on_crash(signal, info, context);
}

/// The installed handlers, until dropped.
pub(super) struct Stopping {
    _step: Saved,
    _touch: Saved,
}

impl Stopping {
    /// `None` if the trap flag does not stop this thread as expected: an emulator may not support it.
    pub fn install() -> Option<Stopping> {
        stops_here().then(|| Stopping {
            _step: Saved::install(libc::SIGTRAP, on_step, libc::SA_ONSTACK),
            _touch: Saved::install(libc::SIGSEGV, on_touch, libc::SA_ONSTACK),
        })
    }
}

fn stops_here() -> bool {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    extern "C" fn count(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: see `on_step`.
        let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        if COUNT.fetch_add(1, Ordering::Relaxed) >= 1 {
            registers[libc::REG_EFL as usize] &= !TRAP;
        }
    }
    COUNT.store(0, Ordering::Relaxed);
    let _saved = Saved::install(libc::SIGTRAP, count, 0);
    // SAFETY: the trap flag stops after each of the following instructions until the handler clears it; the
    // red zone is not used.
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

impl Verification<'_> {
    /// Makes the call with the plan's stops; returns their number, or the mismatch. Restores the trial's
    /// window afterwards. An error if pages cannot be closed individually, for which the system may lack
    /// memory.
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
            order: Order::default(),
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
        // All pages are open again, including those that the call never reached.
        steps.windows = &mut [];
        if !plan.quiet {
            steps.look();
        }
        for Side { start, len, .. } in sides {
            if let Some(window) = trial.window {
                let from = start as usize - window.base as usize;
                // SAFETY: the neighbours are within the window, since stopped calls leave room for them.
                unsafe { start.copy_from_nonoverlapping(window.shadow.add(from), len) };
            }
        }
        let compared = match outcome {
            Err(error) => Err(mismatch_of_error(error, &trial.call, self.family)),
            Ok(sum) => self.checker.compare(trial, sum).map_err(|mismatch| *mismatch),
        };
        if let Some(window) = trial.window {
            // SAFETY: see `Checker::check`.
            unsafe { window.base.copy_from_nonoverlapping(window.shadow, window.size) };
        }
        if let Some((address, expected, got)) = steps.found {
            let first = address as i64 - to as i64;
            return Ok(Err(Mismatch {
                first_difference: Some(first),
                about: format!(
                    "byte {first} relative to the destination, outside it, is written during the call: \
                     concurrent writes by another thread are lost"
                ),
                ..Mismatch::new(FaultKind::NeighbourRace, format!("{expected:#04x}"), format!("{got:#04x}"))
            }));
        }
        if compared.is_ok() && steps.order.unfenced() {
            let about = "returns without a fence after non-temporal stores, which another thread may see later than what \
                         is stored after the call"
                .to_owned();
            let mismatch = Mismatch::new(FaultKind::UnfencedStores, "sfence or another fence", "none");
            return Ok(Err(Mismatch { about, ..mismatch }));
        }
        Ok(compared.map(|()| steps.count))
    }
}

impl Closed<'_> {
    /// Closes the pages that have a window; on an error, none.
    fn close(&self) -> Result<(), MapError> {
        let pages = self.windows.iter().enumerate().filter(|(_, window)| **window > 0);
        let outcome = pages.into_iter().try_for_each(|(page, _)| self.region.close(page * PAGE, PAGE));
        if outcome.is_err() {
            self.region.set_read_only(self.read_only)?;
        }
        outcome
    }
}
