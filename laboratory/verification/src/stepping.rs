//! Small calls, one instruction at a time: what a routine does between its first and last instruction.

use super::checker::Prefill;
use super::companion::Companion;
use super::ground::{Destination, Ground, Pick, Source, Stop};
use super::note::{Place, Spot, Stage};
use super::stops::StopPlan;
use super::sweep::{SMALL, Verification};

/// The maximum number of stops in one verification, in its first round and in all; each costs a signal, which takes
/// 25 microseconds on a virtual machine.
const MOST_STEPS: [u32; 2] = [16_000, 9000];
const MOST_STEPS_OF_A_CALL: u32 = 3000;
const MOST_VISITS_IN_A_CALL: u32 = 12;
const LENGTHS: [usize; 29] = [
    1, 16, 7, 33, 64, 3, 15, 8, 40, 100, 31, 63, 2, 5, 9, 17, 23, 32, 47, 65, 12, 96, 127, 129, 13, 4, 200,
    255, 300,
];
/// The number of classes of lengths from 66 to 300, of each of which the seed draws one.
const CLASSES: usize = 8;

impl Verification<'_> {
    /// Calls with small buffers, stopped after each instruction.
    pub fn stepped(&mut self, ground: Ground<'_>, companion: &Companion<'_>) -> Result<(), Stop> {
        let listed = self.supported(LENGTHS);
        let drawn = self.length_of_each_class(66, SMALL + 1, CLASSES);
        let mut steps = 0;
        let mut left_out = Vec::new();
        for round in 0..4 {
            // Two rounds of the drawn ones, which are longer.
            let longer = drawn.iter().filter(|_| round < 2);
            for (turn, len) in listed.iter().chain(longer).copied().enumerate() {
                // A slow routine leaves fewer steps for the remaining calls.
                if steps >= MOST_STEPS[round.min(1)] {
                    if round == 0 {
                        left_out.push(len);
                    }
                    continue;
                }
                let offset = if round == 0 { 1 + turn % 7 } else { self.random.below(64) };
                let place = self.place_in_turn(turn + round, len, offset);
                let meet_every = if len <= 16 && round == 0 { 3 } else { 29 };
                steps += self.step(ground, companion, len, place, meet_every)?;
            }
        }
        self.note_left_out("small calls, stopped after each instruction", left_out);
        Ok(())
    }

    /// Notes the lengths for which no stops were left.
    pub fn note_left_out(&mut self, what: &str, mut lengths: Vec<usize>) {
        if lengths.is_empty() {
            return;
        }
        lengths.sort_unstable();
        lengths.dedup();
        let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        self.note(&format!(
            "not tried fully: {what}: the routine executes so many instructions that lengths are left out: {}",
            lengths.join(", ")
        ));
    }

    fn step(
        &mut self,
        ground: Ground<'_>,
        companion: &Companion<'_>,
        len: usize,
        dst_place: Place,
        meet_every: u32,
    ) -> Result<u32, Stop> {
        let Ground { album, fields } = ground;
        let pattern = album.patterns()[self.random.below(album.patterns().len())];
        let src_place = Place::in_line(Spot::Middle, self.random.below(64));
        let src = self.family.reads().then(|| Source::in_album(album, pattern, true, src_place, len));
        let turn = self.random.below(fields.len());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Depth;
    use crate::checker::Checker;
    use carryline_variants::landing::Landing;
    use carryline_variants::{Family, Lengths, find};

    #[test]
    fn lengths_left_out_are_noted_once_in_order() {
        let code: Landing = find(Family::Zero, "carryline").expect("in the collection").landing();
        let mut verification = Verification::new(Checker::new(code, None, 0), Lengths::Any, Depth::Full, 1);
        verification.note_left_out("nothing", Vec::new());
        verification.note_left_out("small calls", vec![300, 96, 300]);
        assert_eq!(verification.notes.len(), 1);
        assert!(verification.notes[0].ends_with("lengths are left out: 96, 300"), "{:?}", verification.notes);
        // Drawn lengths are of all classes.
        let drawn = verification.length_of_each_class(66, SMALL + 1, CLASSES);
        assert_eq!(drawn.len(), CLASSES);
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]) && drawn[0] >= 66, "{drawn:?}");
    }
}
