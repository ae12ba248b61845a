//! Small calls, one instruction at a time: what a routine does between its first and last instruction.

use super::checker::Prefill;
use super::companion::Companion;
use super::ground::{Destination, Ground, Pick, Source, Stop};
use super::note::{Place, Spot, Stage};
use super::stops::StopPlan;
use super::sweep::Verification;

/// The maximum number of stops in one verification; each costs a signal.
const MOST_STEPS: u32 = 9000;
const MOST_STEPS_OF_A_CALL: u32 = 3000;
const MOST_VISITS_IN_A_CALL: u32 = 12;

impl Verification<'_> {
    /// Calls with small buffers, stopped after each instruction.
    pub fn stepped(&mut self, ground: Ground<'_>, companion: &Companion<'_>) -> Result<(), Stop> {
        let lengths = self.supported([
            1, 16, 7, 33, 64, 3, 15, 8, 40, 100, 31, 63, 2, 5, 9, 17, 23, 32, 47, 65, 12, 96, 127, 129, 13,
            4, 200, 255, 300,
        ]);
        let mut steps = 0;
        for round in 0..4 {
            for (turn, len) in lengths.iter().copied().enumerate() {
                // A slow routine leaves fewer steps for the remaining calls.
                if steps >= MOST_STEPS {
                    return Ok(());
                }
                let offset = if round == 0 { 1 + turn % 7 } else { self.random.below(64) };
                let meet_every = if len <= 16 && round == 0 { 3 } else { 29 };
                steps += self.step(ground, companion, len, offset, meet_every)?;
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        ground: Ground<'_>,
        companion: &Companion<'_>,
        len: usize,
        offset: usize,
        meet_every: u32,
    ) -> Result<u32, Stop> {
        let Ground { album, fields } = ground;
        let pattern = album.patterns()[self.random.below(album.patterns().len())];
        let src_place = Place::in_line(Spot::Middle, self.random.below(64));
        let src = self.family.reads().then(|| Source::in_album(album, pattern, true, src_place, len));
        let turn = self.random.below(fields.len());
        let dst_place = Place::in_line(Spot::Middle, offset);
        let dst = self
            .family
            .writes()
            .then(|| Destination::in_field(&fields[turn], Prefill::Plain, dst_place, len));
        let seed = self.argument();
        let trial = Pick { stage: Stage::Stepped, len, seed, src, dst }.trial(self.family);
        let meeting = companion.meeting();
        meeting.begin(MOST_VISITS_IN_A_CALL, len);
        let plan = StopPlan { first: MOST_STEPS_OF_A_CALL, meet_every, meeting, quiet: false };
        self.judged(&trial, companion, plan, None)
    }
}
