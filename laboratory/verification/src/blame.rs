//! Finds the cause of a failed stopped call: the other thread's calls, the signals, the stops as such, or the
//! call itself.
//!
//! The call is repeated with less and less around it. If it fails without the other thread's calls, they are
//! not the cause; if it succeeds once handlers leave the routine's stack alone, the signals are. A routine
//! that succeeds as a plain call, and fails whenever it is stopped, is not to blame: a system call, for
//! example, fails on an inaccessible page.

use super::checker::{Mismatch, Trial};
use super::companion::Companion;
use super::counterexample::FaultKind;
use super::ground::{Caught, Stop};
use super::memory::Region;
use super::stops::{Closed, StopPlan};
use super::sweep::Verification;

impl Verification<'_> {
    /// Makes a call with the plan's stops, and with closed pages in a region that may be read-only. Returns
    /// the number of stops, or the mismatch and its cause.
    pub fn judged(
        &mut self,
        trial: &Trial,
        companion: &Companion<'_>,
        plan: StopPlan<'_>,
        pages: Option<(&Region, bool, &[u32])>,
    ) -> Result<u32, Stop> {
        let again = |verification: &mut Self, plan, with_stops| {
            let mut windows = pages.map_or(Vec::new(), |(.., windows)| windows.to_vec());
            let closed =
                pages.map(|(region, read_only, _)| Closed { region, read_only, windows: &mut windows });
            verification.stopped(trial, plan, closed.filter(|_| with_stops))
        };
        let outcome = again(self, plan, true)?;
        let met = plan.meeting.met();
        if !plan.meeting.settle() {
            self.note("not tried fully: calls on another thread during a stopped call, which did not return");
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
            Err(mismatch)
                if matches!(mismatch.kind, FaultKind::NeighbourRace | FaultKind::UnfencedStores) =>
            {
                return Err(caught(mismatch, false));
            }
            Err(mismatch) => mismatch,
        };
        let blame = |kind, who: &str| {
            let about = format!("{who}: {}", mismatch.what());
            let kind = if is_data(mismatch.kind) { kind } else { mismatch.kind };
            Err(caught(Mismatch { kind, about, ..mismatch.clone() }, false))
        };
        let alone = StopPlan { meet_every: 0, ..plan };
        if met && again(self, alone, true)?.is_ok() {
            let who = "the outcome changes if another thread makes a call in the middle of this one";
            return blame(FaultKind::Threads, who);
        }
        if again(self, StopPlan { quiet: true, ..alone }, true)?.is_ok() {
            let who = "the outcome changes if a signal arrives in the middle of the call (data below the red zone?)";
            return blame(FaultKind::Signals, who);
        }
        match again(self, StopPlan { first: 0, quiet: true, ..alone }, false)? {
            Err(plain) => Err(caught(plain, true)),
            Ok(_) => {
                // For example a system call, which fails if a page is inaccessible.
                self.note(
                    "not tried fully: stopped calls, since this routine fails if pages become accessible late",
                );
                Ok(0)
            }
        }
    }
}

/// Whether the bytes or the sum are wrong, rather than the state around the call.
fn is_data(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::WrongResult
            | FaultKind::WrongBytes
            | FaultKind::LeftBytesUnwritten
            | FaultKind::WroteOutside
    )
}
