//! The requirements of the C standard on `memcpy`, `memmove` and `memset` beyond the families' contracts:
//! overlapping buffers, every byte value. Also real buffers of more than 2 and 4 GiB.
//!
//! Every call of a verification, in this stage or another, must return the destination's address, and `memset` is
//! passed bytes other than 0 throughout. Lengths and distances ascend, so that the first failure is near the
//! smallest failing input.

use super::call::Call;
use super::checker::{Mismatch, mismatch_of_error};
use super::counterexample::FaultKind;
use super::ground::{Stop, caught_around};
use super::memory::Region;
use super::note::{PAGE, Stage};
use super::patterns::{self, index};
use super::places::note;
use super::sweep::Verification;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A function of the C standard's `string.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standard {
    /// `void *memcpy(void *dst, const void *src, size_t len)`.
    Memcpy,
    /// `void *memmove(void *dst, const void *src, size_t len)`: the buffers may overlap.
    Memmove,
    /// `void *memset(void *dst, int byte, size_t len)`.
    Memset,
}

impl Standard {
    /// All functions.
    pub const ALL: [Standard; 3] = [Standard::Memcpy, Standard::Memmove, Standard::Memset];

    /// The function's name in C.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Standard::Memcpy => "memcpy",
            Standard::Memmove => "memmove",
            Standard::Memset => "memset",
        }
    }

    /// The function with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Standard> {
        Standard::ALL.into_iter().find(|standard| standard.name() == name)
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Memory that is mapped repeatedly to make a buffer of more than 4 GiB.
const UNIT: usize = 2 << 20;
/// The byte of `memset` for such buffers.
const BYTE: u32 = 0xa5;

impl Verification<'_> {
    /// Checks the additional requirements of the standard.
    pub fn standard(&mut self, standard: Standard) -> Result<(), Stop> {
        match standard {
            Standard::Memcpy => self.same_buffer()?,
            Standard::Memmove => {
                self.small_overlaps()?;
                self.overlaps_across_lines()?;
                let outcome = self.large_overlaps();
                self.note_if_out_of_memory("overlapping buffers of up to 5 MiB", outcome)?;
            }
            Standard::Memset => self.values()?,
        }
        let outcome = self.gibibytes();
        self.note_if_out_of_memory("buffers of 2 and 4 GiB and more", outcome)
    }

    /// Makes one call, which must return the destination's address.
    pub(super) fn made(&mut self, stage: Stage, call: &Call) -> Result<(), Stop> {
        let note = note(stage);
        let outcome = self.checker.call(call, note, false);
        outcome
            .map(drop)
            .map_err(|error| caught_around(mismatch_of_error(error, call, self.family), *call, note))
    }

    /// Compares a region with its expected contents.
    pub(super) fn same(
        &self,
        stage: Stage,
        call: &Call,
        region: &Region,
        from: usize,
        right: &[u8],
    ) -> Result<(), Stop> {
        let held = &region.bytes()[from..from + right.len()];
        // Faster than a search, and mostly all that is needed.
        if held == right {
            return Ok(());
        }
        let Some(at) = held.iter().zip(right).position(|(held, right)| held != right) else { return Ok(()) };
        let place = (region.start() as usize + from + at) as i64 - call.dst as i64;
        let inside = (0..call.len as i64).contains(&place);
        let moved = call.dst as i64 - call.src as i64;
        let how = match stage {
            Stage::Overlap if moved >= 0 => format!("copied {moved} bytes upwards: "),
            Stage::Overlap => format!("copied {} bytes downwards: ", -moved),
            _ => String::new(),
        };
        let byte = |value: u8| format!("{value:02x}");
        let mismatch = Mismatch {
            first_difference: Some(place),
            about: format!(
                "{how}byte {place} of the destination is {:02x}, expected {:02x}",
                held[at], right[at]
            ),
            ..Mismatch::new(
                if inside { FaultKind::WrongBytes } else { FaultKind::WroteOutside },
                byte(right[at]),
                byte(held[at]),
            )
        };
        Err(caught_around(mismatch, *call, note(stage)))
    }

    /// Every byte value, passed as an `int` of which only the low eight bits count.
    fn values(&mut self) -> Result<(), Stop> {
        let size = 2 * PAGE;
        let mut region = Region::new(size)?;
        let mut right = vec![0; size];
        let lengths = (0..=40).chain([63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 500, 1024, 2049, 4096]);
        for len in lengths {
            for byte in 0..=255_u32 {
                // The previous contents differ from the byte everywhere.
                right.fill(!byte as u8);
                region.bytes_mut().fill(!byte as u8);
                let at = match byte % 3 {
                    0 => 0,
                    1 => size - len,
                    _ => (PAGE - 61 + (byte as usize + len) % 64).min(size - len),
                };
                right[at..at + len].fill(byte as u8);
                let upper = [0, 0xffff_ff00, 0x0001_a500][byte as usize % 3];
                let call = Call {
                    dst: region.start().wrapping_add(at),
                    src: std::ptr::dangling(),
                    len,
                    seed: byte | upper,
                };
                self.made(Stage::Values, &call)?;
                self.same(Stage::Values, &call, &region, 0, &right)?;
            }
        }
        Ok(())
    }

    /// Buffers of more than 2 and 4 GiB: 2 MiB of memory, mapped repeatedly.
    fn gibibytes(&mut self) -> Result<(), Stop> {
        if usize::BITS < 64 {
            return Ok(());
        }
        let repeats = (4_usize << 30) / UNIT + 1;
        let mut dst = Region::shared(UNIT, repeats)?;
        let mut src = Region::shared(UNIT, repeats)?;
        patterns::fill(&mut src.bytes_mut()[..UNIT], index::RANDOM, 0, self.seed);
        let reads = self.family.reads();
        for len in [(1_usize << 31) + 37, (1 << 32) + 4133] {
            let at = dst.len() - len;
            dst.bytes_mut()[..UNIT].fill(0x5a);
            let call = Call {
                dst: dst.start().wrapping_add(at),
                src: if reads { src.start().wrapping_add(at) } else { std::ptr::dangling() },
                len,
                seed: if reads { 0 } else { BYTE },
            };
            self.made(Stage::Gibibytes, &call)?;
            let right = if reads { src.bytes()[..UNIT].to_vec() } else { vec![BYTE as u8; UNIT] };
            // All are the same memory; the last one lies within the buffer.
            self.same(Stage::Gibibytes, &call, &dst, dst.len() - UNIT, &right)?;
            self.checker.beat();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
