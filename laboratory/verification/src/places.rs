//! Buffers at addresses where arithmetic goes wrong.
//!
//! Adjacent buffers; distances near a multiple of 4096, where a load seems to depend on a store; buffers
//! across the addresses where a 32-bit or a signed comparison overflows; memory shared through a file; and
//! invalid pointers with length 0.

use super::Depth;
use super::call::Call;
use super::checker::{Mismatch, Prefill, Trial, mismatch_of_error};
use super::counterexample::{FaultKind, sums};
use super::ground::{Caught, Field, Stop, caught_around};
use super::images::{Image, fold};
use super::memory::Region;
use super::note::{Note, Spot, Stage};
use super::patterns::{SEEDS, index};
use super::sweep::Verification;
use std::ptr::{null, null_mut, without_provenance_mut};

const FIELD_BYTES: usize = 16 << 10;

pub(super) fn note(stage: Stage) -> Note {
    Note { stage, pattern: index::RANDOM, shift: 0, prefill: index::RANDOM, dst: Spot::None, src: Spot::None }
}

impl Verification<'_> {
    /// A trial with both buffers in `field`, which is restored afterwards.
    fn within(
        &mut self,
        stage: Stage,
        field: &Field<'_>,
        dst_at: usize,
        src_at: usize,
        len: usize,
    ) -> Result<(), Stop> {
        let apart = dst_at + len <= src_at || src_at + len <= dst_at;
        let (reads, writes) = (self.family.reads(), self.family.writes());
        if !self.lengths.contains(len) || (reads && writes && !apart) {
            return Ok(());
        }
        let picture = field.picture();
        let seed = self.argument();
        let trial = Trial {
            call: Call {
                dst: if writes { field.start().wrapping_add(dst_at) } else { std::ptr::dangling_mut() },
                src: if reads { field.start().wrapping_add(src_at) } else { std::ptr::dangling() },
                len,
                seed,
            },
            window: writes.then(|| field.whole()),
            prefill: Prefill::Plain,
            content: picture.start().wrapping_add(src_at),
            sum: if sums(self.family) { picture.checksum(src_at, len, seed) } else { 0 },
            note: note(stage),
            step: false,
        };
        self.checker.check(&trial).map_err(|mismatch| {
            let mut caught = Caught::new(*mismatch, &trial, self.family, true);
            caught.reducible = false;
            Stop::Caught(Box::new(caught))
        })
    }

    /// Source and destination in one mapping: adjacent, and at nearly equal offsets modulo 4096.
    pub fn one_mapping(&mut self, picture: &Image) -> Result<(), Stop> {
        if !(self.family.reads() && self.family.writes()) {
            return Ok(());
        }
        let field = Field::new(picture)?;
        let every = if self.depth == Depth::Full { 1 } else { 11 };
        let first = self.random.below(every);
        for len in (first..=300).step_by(every).chain([511, 512, 1000, 1024, 2048, 4096]) {
            for at in [512, 512 + 1 + self.random.below(63)] {
                self.within(Stage::OneMapping, &field, at + len, at, len)?;
                self.within(Stage::OneMapping, &field, at, at + len, len)?;
            }
            for distance in [self.random.below(64), 0, 1, 8, 63] {
                let at = 64 + self.random.below(64);
                self.within(Stage::OneMapping, &field, at + 4096 + distance, at, len)?;
                self.within(Stage::OneMapping, &field, at, at + 4096 + distance, len)?;
                self.within(Stage::OneMapping, &field, at + 4096, at + distance, len)?;
            }
        }
        Ok(())
    }

    /// Buffers on both sides of 2 and 4 GiB, and across them.
    pub fn address_lines(&mut self, picture: &Image) -> Result<(), Stop> {
        for line in [1_usize << 31, 1 << 32] {
            let half = FIELD_BYTES / 2;
            let Ok(region) = Region::at(line - half, FIELD_BYTES) else {
                self.notes.push(format!("not tried: buffers across address {line:#x}, which is not free"));
                continue;
            };
            let field = Field::on(region, picture)?;
            self.across(Stage::AddressLine, &field)?;
        }
        Ok(())
    }

    /// The same in memory shared through a file.
    pub fn shared_memory(&mut self, picture: &Image) -> Result<(), Stop> {
        let field = Field::on(Region::shared(FIELD_BYTES, 1)?, picture)?;
        self.across(Stage::SharedMemory, &field)
    }

    fn across(&mut self, stage: Stage, field: &Field<'_>) -> Result<(), Stop> {
        let half = FIELD_BYTES / 2;
        let lengths =
            [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 127, 128, 129, 255, 300, 1500, 3000];
        for len in lengths {
            for before in [0, 1, len / 2, len - 1, len] {
                let (at, apart) = (half - before, 3100 + self.random.below(64));
                self.within(stage, field, at, at - apart, len)?;
                self.within(stage, field, at, at + apart, len)?;
                self.within(stage, field, at - apart, at, len)?;
                self.within(stage, field, at + apart, at, len)?;
            }
            self.within(stage, field, half - len, half, len)?;
            self.within(stage, field, half, half - len, len)?;
        }
        Ok(())
    }

    /// Length 0 with invalid pointers.
    pub fn empty_buffers(&mut self) -> Result<(), Stop> {
        if !self.lengths.contains(0) {
            return Ok(());
        }
        let region = Region::new(4096)?;
        let (start, end) = (region.start(), region.start().wrapping_add(region.len()));
        let pointers: [*mut u8; 6] = [
            null_mut(),
            without_provenance_mut(1),
            without_provenance_mut(usize::MAX),
            start.wrapping_sub(9),
            end,
            end.wrapping_add(9),
        ];
        for (turn, dst) in pointers.into_iter().enumerate() {
            for (other, src) in pointers.into_iter().enumerate() {
                let seed = self.lengths.seed(SEEDS[(turn * 5 + other) % SEEDS.len()]);
                let call = Call {
                    dst: if self.family.writes() { dst } else { null_mut() },
                    src: if self.family.reads() { src.cast_const() } else { null() },
                    len: 0,
                    seed,
                };
                let mismatch = match self.checker.call(&call, note(Stage::EmptyBuffer), false) {
                    Ok(sum) if !sums(self.family) || fold(u64::from(sum)) == fold(u64::from(seed)) => {
                        continue;
                    }
                    Ok(sum) => Mismatch::new(
                        FaultKind::WrongResult,
                        format!("{:#06x}", fold(u64::from(seed))),
                        format!("{:#06x}", fold(u64::from(sum))),
                    ),
                    Err(error) => mismatch_of_error(error, &call, self.family),
                };
                return Err(caught_around(mismatch, call, note(Stage::EmptyBuffer)));
            }
        }
        Ok(())
    }
}
