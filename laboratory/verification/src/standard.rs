//! The requirements of the C standard on `memcpy`, `memmove` and `memset` beyond the families' contracts: the
//! returned address, overlapping buffers, every byte value. Also real buffers of more than 2 and 4 GiB.
//!
//! Lengths and distances ascend, so that the first failure is near the smallest failing input.

use super::call::Call;
use super::checker::{Mismatch, mismatch_of_error};
use super::counterexample::FaultKind;
use super::ground::{Stop, caught_around};
use super::memory::Region;
use super::note::Stage;
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

const PAGE: usize = 4096;
/// The memory in which small buffers overlap.
const ROOM: usize = 3 * PAGE;
/// Memory that is mapped repeatedly to make a buffer of more than 4 GiB.
const UNIT: usize = 2 << 20;
/// Distances that matter to vectors, unrolled loops and overlap checks.
const DISTANCES: [usize; 24] =
    [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4095];

impl Verification<'_> {
    /// Checks the additional requirements of the standard.
    pub fn standard(&mut self, standard: Standard) -> Result<(), Stop> {
        match standard {
            Standard::Memcpy => self.returned()?,
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

    /// Makes one call and checks that it returns the destination's address.
    fn made(&mut self, stage: Stage, call: &Call) -> Result<(), Stop> {
        let note = note(stage);
        self.checker.announce(call, note);
        self.checker.tally.count(self.family, call, note);
        // SAFETY: the callers pass buffers in their own regions, without references to them.
        let outcome = unsafe { self.checker.caller.call(call, false) };
        outcome.map_err(|error| caught_around(mismatch_of_error(error, call, self.family), *call, note))?;
        let returned = self.checker.caller.returned();
        if returned != call.dst as u64 {
            let mismatch = Mismatch {
                about: "returned an address other than the destination's".to_owned(),
                ..Mismatch::new(
                    FaultKind::ReturnValue,
                    format!("{:#x}", call.dst as u64),
                    format!("{returned:#x}"),
                )
            };
            return Err(caught_around(mismatch, *call, note));
        }
        Ok(())
    }

    /// Compares a region with its expected contents.
    fn same(
        &self,
        stage: Stage,
        call: &Call,
        region: &Region,
        from: usize,
        right: &[u8],
    ) -> Result<(), Stop> {
        let held = &region.bytes()[from..from + right.len()];
        let Some(at) = held.iter().zip(right).position(|(held, right)| held != right) else { return Ok(()) };
        let place = (region.start() as usize + from + at) as i64 - call.dst as i64;
        let inside = (0..call.len as i64).contains(&place);
        let moved = call.dst as i64 - call.src as i64;
        let how = match stage {
            Stage::Values => format!("set to {:#04x}", call.seed as u8),
            _ if moved >= 0 => format!("copied {moved} bytes upwards"),
            _ => format!("copied {} bytes downwards", -moved),
        };
        let byte = |value: u8| format!("{value:02x}");
        let mismatch = Mismatch {
            first_difference: Some(place),
            about: format!(
                "{how}: byte {place} of the destination is {:02x}, expected {:02x}",
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

    /// Checks the address that `memcpy` returns.
    fn returned(&mut self) -> Result<(), Stop> {
        let (dst, src) = (Region::new(PAGE)?, Region::new(PAGE)?);
        for len in (0..=300).chain([1000, 2048, 4000]) {
            for offset in [0, 1, 63] {
                let call = Call {
                    dst: dst.start().wrapping_add(offset),
                    src: src.start().wrapping_add(63 - offset),
                    len,
                    seed: 0,
                };
                self.made(Stage::ReturnValue, &call)?;
            }
        }
        Ok(())
    }

    /// Moves `len` bytes from `src` to `dst` in a region with the contents `picture`.
    fn overlap(
        &mut self,
        region: &mut Region,
        picture: &[u8],
        right: &mut [u8],
        dst: usize,
        src: usize,
        len: usize,
    ) -> Result<(), Stop> {
        let (low, high) = (dst.min(src), dst.max(src) + len);
        let (from, to) = (low.saturating_sub(PAGE), picture.len().min(high + PAGE));
        region.bytes_mut()[from..to].copy_from_slice(&picture[from..to]);
        right[from..to].copy_from_slice(&picture[from..to]);
        right.copy_within(src..src + len, dst);
        let start = region.start();
        let call = Call { dst: start.wrapping_add(dst), src: start.wrapping_add(src), len, seed: 0 };
        self.made(Stage::Overlap, &call)?;
        self.same(Stage::Overlap, &call, region, from, &right[from..to])
    }

    /// Every length up to 66 at every distance, then chosen ones: after a guard page, before one, and in the
    /// middle.
    fn small_overlaps(&mut self) -> Result<(), Stop> {
        let mut region = Region::new(ROOM)?;
        let mut picture = vec![0; ROOM];
        patterns::fill(&mut picture, index::RANDOM, 0, self.seed);
        let mut right = picture.clone();
        let lengths = (0..=300).chain([511, 512, 513, 1000, 1024, 2047, 2048, 2049, 4000]);
        for len in lengths {
            let mut distances: Vec<usize> = if len <= 66 {
                (0..=len + 1).collect()
            } else {
                DISTANCES.into_iter().chain([len / 2, len - 1, len, len + 1]).collect()
            };
            distances.sort_unstable();
            distances.dedup();
            for distance in distances {
                let span = len + distance;
                for low in [0, ROOM - span, (ROOM - span) / 2 / 64 * 64 + (distance + len) % 64] {
                    let (lower, upper) = (low.min(ROOM - span), low.min(ROOM - span) + distance);
                    self.overlap(&mut region, &picture, &mut right, upper, lower, len)?;
                    self.overlap(&mut region, &picture, &mut right, lower, upper, len)?;
                }
            }
        }
        Ok(())
    }

    /// Overlapping buffers across 2 and 4 GiB, where a signed or a 32-bit comparison overflows.
    fn overlaps_across_lines(&mut self) -> Result<(), Stop> {
        let mut picture = vec![0; 2 * ROOM];
        patterns::fill(&mut picture, index::RANDOM, 0, self.seed);
        let mut right = picture.clone();
        for line in [1_usize << 31, 1 << 32] {
            let Ok(mut region) = Region::at(line - ROOM, 2 * ROOM) else {
                self.note(&format!(
                    "not tried: overlapping buffers across address {line:#x}, which is not free"
                ));
                continue;
            };
            for len in [1, 2, 7, 8, 16, 17, 33, 64, 65, 129, 300, 1500, 4096, 9000] {
                for distance in [1, 8, 63, 64, len / 2, len - 1, len] {
                    for before in [0, 1, len / 2, len] {
                        let lower = ROOM - before.min(ROOM - distance);
                        let lower = lower.min(2 * ROOM - len - distance);
                        self.overlap(&mut region, &picture, &mut right, lower + distance, lower, len)?;
                        self.overlap(&mut region, &picture, &mut right, lower, lower + distance, len)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Lengths from which string instructions and non-temporal stores are used.
    fn large_overlaps(&mut self) -> Result<(), Stop> {
        const MOST: usize = 5 << 20;
        let size = 2 * MOST + 8 * PAGE;
        let mut region = Region::new(size)?;
        let mut picture = vec![0; size];
        patterns::fill(&mut picture, index::RANDOM, 0, self.seed);
        let mut right = picture.clone();
        for len in [8 << 10, (16 << 10) + 1, (64 << 10) - 1, (256 << 10) + 17, (1 << 20) + 63, MOST] {
            for distance in [1, 63, 64, 4095, 4096, len / 2 + 1, len - 1] {
                let lower = 3 * PAGE + (len + distance) % 64;
                self.overlap(&mut region, &picture, &mut right, lower + distance, lower, len)?;
                self.overlap(&mut region, &picture, &mut right, lower, lower + distance, len)?;
            }
            self.checker.beat();
        }
        Ok(())
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
                seed: 0,
            };
            self.made(Stage::Gibibytes, &call)?;
            let right = if reads { src.bytes()[..UNIT].to_vec() } else { vec![0; UNIT] };
            self.same(Stage::Gibibytes, &call, &dst, 0, &right)?;
            self.checker.beat();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
