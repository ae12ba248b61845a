//! Buffers long enough to overflow accumulators and cross thresholds.
//!
//! A 32-bit lane that adds 16-bit words overflows after 65,537 words of ffff. The number of bytes depends on
//! how many lanes share the work: 128 KiB to 64 MiB. Such buffers are one mebibyte of memory mapped
//! repeatedly.

use super::Depth;
use super::call::Call;
use super::checker::{Mismatch, is_filled, mismatch_of_error};
use super::counterexample::{FaultKind, sums};
use super::ground::{Stop, caught_around};
use super::images::{checksum_of, fold};
use super::memory::Region;
use super::note::{Note, Spot, Stage};
use super::patterns::{self, index};
use super::sweep::Verification;
use carryline_variants::Family;

const MIB: usize = 1 << 20;

/// One mebibyte of a pattern, mapped repeatedly.
struct Endless {
    region: Region,
    pattern: usize,
    /// The sum of one mebibyte.
    whole: u64,
}

impl Endless {
    fn new(pattern: usize, repeats: usize, seed: u64) -> Result<Endless, Stop> {
        let mut region = Region::shared(MIB, repeats)?;
        patterns::fill(&mut region.bytes_mut()[..MIB], pattern, 0, seed);
        let whole = u64::from(checksum_of(&region.bytes()[..MIB], 0));
        region.set_read_only(true)?;
        Ok(Endless { region, pattern, whole })
    }

    fn checksum(&self, len: usize, seed: u32) -> u16 {
        let rest = checksum_of(&self.region.bytes()[..len % MIB], 0);
        fold((len / MIB) as u64 * self.whole + u64::from(rest) + u64::from(seed))
    }
}

impl Verification<'_> {
    /// Lengths around each possible bound of a 32-bit accumulator.
    pub fn overflows(&mut self) -> Result<(), Stop> {
        if !sums(self.family) {
            return Ok(());
        }
        let full = self.depth == Depth::Full;
        let ones = Endless::new(index::ONES, if full { 65 } else { 2 }, self.seed)?;
        // The copy repeats like the source, so the destination may also be one mebibyte.
        let target =
            if self.family.writes() { Some(Region::shared(MIB, if full { 65 } else { 2 })?) } else { None };
        let steps: &[isize] = &[0, 16, 64, -64, -2, 1, 2, 32, 128, 256, 512, -512];
        for power in 17..=20 {
            let turn = self.random.below(steps.len());
            for step in 0..if full { steps.len() } else { 1 } {
                let step = if full { steps[step] } else { steps[turn] };
                self.endless(&ones, target.as_ref(), (1_usize << power).saturating_add_signed(step), 0)?;
            }
        }
        if !full {
            return Ok(());
        }
        for power in 21..=25 {
            self.endless(&ones, target.as_ref(), (1 << power) + 512, 0xffff_ffff)?;
        }
        self.endless(&ones, target.as_ref(), 1 << 26, 0)?;
        for pattern in [index::ZEROS, 25, 8] {
            let data = Endless::new(pattern, 9, self.seed)?;
            self.endless(&data, target.as_ref(), (8 << 20) + 64, 1)?;
        }
        Ok(())
    }

    fn endless(
        &mut self,
        data: &Endless,
        target: Option<&Region>,
        len: usize,
        seed: u32,
    ) -> Result<(), Stop> {
        if !self.lengths.contains(len) {
            return Ok(());
        }
        let dst = target.map_or(std::ptr::dangling_mut(), |target| target.start());
        let call = Call { dst, src: data.region.start(), len, seed };
        let note = Note {
            stage: Stage::Bounds,
            pattern: data.pattern,
            shift: 0,
            prefill: 0,
            dst: Spot::None,
            src: Spot::None,
        };
        let right = data.checksum(len, seed);
        let mismatch = match self.checker.call(&call, note, false) {
            Ok(sum) if fold(u64::from(sum)) != right => Mismatch::new(
                FaultKind::WrongResult,
                format!("{right:#06x}"),
                format!("{:#06x}", fold(u64::from(sum))),
            ),
            Ok(_) => match target {
                Some(target) if target.bytes()[..MIB.min(len)] != data.region.bytes()[..MIB.min(len)] => {
                    Mismatch::new(FaultKind::WrongBytes, "the source's bytes", "other bytes")
                }
                _ => return Ok(()),
            },
            Err(error) => mismatch_of_error(error, &call, self.family),
        };
        Err(caught_around(mismatch, call, note))
    }

    /// One write of 33 MiB, above the thresholds from which routines bypass the caches.
    pub fn beyond_caches(&mut self) -> Result<(), Stop> {
        const LEN: usize = 33 * MIB + 37;
        const AT: usize = 4096 + 3;
        if !self.family.writes() || self.depth != Depth::Full || !self.lengths.contains(LEN) {
            return Ok(());
        }
        let source = Endless::new(index::RANDOM, 34, self.seed)?;
        let mut dst = Region::new(LEN + 2 * 4096)?;
        dst.ask_huge();
        dst.bytes_mut().fill(0xa5);
        let seed = if sums(self.family) { 1 } else { self.argument() };
        let call = Call { dst: dst.start().wrapping_add(AT), src: source.region.start(), len: LEN, seed };
        let note = Note {
            stage: Stage::Bounds,
            pattern: index::RANDOM,
            shift: 0,
            prefill: index::CONSTANT,
            dst: Spot::Middle,
            src: Spot::AfterGuard,
        };
        let outcome = self.checker.call(&call, note, false);
        let mismatch = match outcome {
            Err(error) => mismatch_of_error(error, &call, self.family),
            Ok(sum) if sums(self.family) && fold(u64::from(sum)) != source.checksum(LEN, 1) => Mismatch::new(
                FaultKind::WrongResult,
                format!("{:#06x}", source.checksum(LEN, 1)),
                format!("{:#06x}", fold(u64::from(sum))),
            ),
            Ok(_) => match wrong_byte(self.family, seed as u8, dst.bytes(), AT, LEN, &source.region) {
                Some((at, expected, got)) => Mismatch {
                    first_difference: Some(at as i64 - AT as i64),
                    about: format!(
                        "byte {} of the destination is {got:#04x}, expected {expected:#04x}",
                        at as i64 - AT as i64
                    ),
                    ..Mismatch::new(
                        if (AT..AT + LEN).contains(&at) {
                            FaultKind::WrongBytes
                        } else {
                            FaultKind::WroteOutside
                        },
                        format!("{expected:#04x}"),
                        format!("{got:#04x}"),
                    )
                },
                None => return Ok(()),
            },
        };
        Err(caught_around(mismatch, call, note))
    }
}

fn wrong_byte(
    family: Family,
    byte: u8,
    bytes: &[u8],
    at: usize,
    len: usize,
    source: &Region,
) -> Option<(usize, u8, u8)> {
    let inside = &bytes[at..at + len];
    let same = match family {
        Family::Zero => is_filled(inside, byte),
        _ => *inside == source.bytes()[..len],
    };
    let edges = bytes[..at].iter().chain(&bytes[at + len..]).all(|byte| *byte == 0xa5);
    if same && edges {
        return None;
    }
    let right = |i: usize| match family {
        _ if i < at || i >= at + len => 0xa5,
        Family::Zero => byte,
        _ => source.bytes()[i - at],
    };
    (0..bytes.len()).find(|i| bytes[*i] != right(*i)).map(|i| (i, right(i), bytes[i]))
}
