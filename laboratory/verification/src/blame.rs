//! A stopped call that goes wrong: whether the cause is the other thread's calls, the signals, the stops as such, or the call itself.
//!
//! The call is made again with less and less around it. What still goes wrong without the other thread is not its doing; what
//! is right as soon as handlers leave the routine's stack alone is the signals'; and a routine that is right as a plain call, and
//! wrong whenever it is stopped, however little is done then, is not to blame: a system call, for example, fails where a page
//! is closed.

use super::checker::{Mismatch, Trial};
use super::companion::Companion;
use super::counterexample::Kind;
use super::ground::{Caught, Stop};
use super::memory::Region;
use super::signals::Saved;
use super::stops::{Closed, StopPlan, on_step};
use super::sweep::Proof;

impl Proof<'_> {
    /// A call with the plan's stops, and in pages of a region that may be read-only: how many there were, or what is wrong and
    /// whose doing it is.
    pub fn judged(
        &mut self,
        trial: &Trial,
        companion: &Companion<'_>,
        plan: StopPlan<'_>,
        pages: Option<(&Region, bool, &[u32])>,
    ) -> Result<u32, Stop> {
        let again = |proof: &mut Self, plan, with_stops| {
            let mut windows = pages.map_or(Vec::new(), |(.., windows)| windows.to_vec());
            let closed =
                pages.map(|(region, read_only, _)| Closed { region, read_only, windows: &mut windows });
            proof.stopped(trial, plan, closed.filter(|_| with_stops))
        };
        let outcome = again(self, plan, true)?;
        let met = plan.meeting.met();
        if !plan.meeting.settle() {
            self.note(
                "not tried to the end: calls on another thread in the middle of one, which did not return",
            );
        }
        let family = self.family;
        let caught = |mismatch: Mismatch, reducible: bool| {
            let mut caught = Caught::new(mismatch, trial, family, true);
            caught.reducible = reducible;
            Stop::Caught(Box::new(caught))
        };
        companion.verdict().map_err(|mismatch| caught(mismatch, false))?;
        let mismatch = match outcome {
            Ok(steps) => return Ok(steps),
            Err(mismatch) if mismatch.kind == Kind::NeighbourRace => return Err(caught(mismatch, false)),
            Err(mismatch) => mismatch,
        };
        let blame = |kind, who: &str| {
            let about = format!("{who}: {}", mismatch.what());
            let kind = if is_data(mismatch.kind) { kind } else { mismatch.kind };
            Err(caught(Mismatch { kind, about, ..mismatch.clone() }, false))
        };
        let alone = StopPlan { meet_every: 0, ..plan };
        if met && again(self, alone, true)?.is_ok() {
            let who = "a call on another thread in the middle of this one changes what this one does";
            return blame(Kind::Threads, who);
        }
        let quietly = {
            let _elsewhere = Saved::install(libc::SIGTRAP, on_step, libc::SA_ONSTACK);
            again(self, StopPlan { quiet: true, ..alone }, true)?
        };
        if quietly.is_ok() {
            let who =
                "a signal in the middle of the call changes what it does (the stack below the red zone?)";
            return blame(Kind::Signals, who);
        }
        match again(self, StopPlan { first: 0, quiet: true, ..alone }, false)? {
            Err(plain) => Err(caught(plain, true)),
            Ok(_) => {
                // Such as a system call, which fails where a page cannot be accessed.
                self.note(
                    "not tried to the end: stopped calls, since this routine fails where pages open late",
                );
                Ok(0)
            }
        }
    }
}

/// True where the bytes or the sum are wrong, rather than something around the call.
fn is_data(kind: Kind) -> bool {
    matches!(kind, Kind::WrongResult | Kind::WrongBytes | Kind::LeftBytesUnwritten | Kind::WroteOutside)
}
