//! Counts the calls of a verification by check, length, offsets and placement.
//!
//! A positive verdict is worth as much as what was tried, so every call is counted.

use super::call::Call;
use super::note::{Note, PAGE, Spot, Stage};
use carryline_variants::Family;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A class of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthClass {
    /// 0 bytes.
    Empty,
    /// 1 to 64 bytes.
    #[serde(rename = "to_64")]
    To64,
    /// 65 to 300 bytes.
    #[serde(rename = "to_300")]
    To300,
    /// 301 to 4096 bytes.
    #[serde(rename = "to_4_kib")]
    To4Kib,
    /// Up to 64 KiB.
    #[serde(rename = "to_64_kib")]
    To64Kib,
    /// Up to 1 MiB.
    #[serde(rename = "to_1_mib")]
    To1Mib,
    /// Up to 64 MiB.
    #[serde(rename = "to_64_mib")]
    To64Mib,
    /// Up to 5 GiB.
    #[serde(rename = "to_5_gib")]
    To5Gib,
    /// Larger: only the edges of the buffers are accessible.
    Beyond,
}

/// A class of offsets in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offsets {
    /// Every buffer starts at a page boundary.
    PageAligned,
    /// Source and destination have the same offset, which is not 0.
    Equal,
    /// Source and destination are 1 to 63 bytes apart modulo 4096.
    Near,
    /// Every buffer starts at a multiple of 64, and none of the above applies.
    LineAligned,
    /// Other offsets.
    Other,
}

/// The position of the buffers relative to guard pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// A buffer starts after a guard.
    AfterGuard,
    /// A buffer ends before a guard.
    BeforeGuard,
    /// One starts after a guard, the other ends before one.
    Both,
    /// No buffer is at a guard.
    Free,
}

/// The number of calls in one combination of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// The check.
    pub check: Stage,
    /// The length of the buffers.
    pub length: LengthClass,
    /// The offsets of the buffers in their pages.
    pub offsets: Offsets,
    /// The position of the buffers.
    pub placement: Placement,
    /// The number of calls.
    pub calls: u64,
}

impl LengthClass {
    /// All classes, ascending.
    pub const ALL: [LengthClass; 9] = [
        LengthClass::Empty,
        LengthClass::To64,
        LengthClass::To300,
        LengthClass::To4Kib,
        LengthClass::To64Kib,
        LengthClass::To1Mib,
        LengthClass::To64Mib,
        LengthClass::To5Gib,
        LengthClass::Beyond,
    ];

    const fn of(len: usize) -> LengthClass {
        match len {
            0 => LengthClass::Empty,
            1..=64 => LengthClass::To64,
            65..=300 => LengthClass::To300,
            301..=0x1000 => LengthClass::To4Kib,
            0x1001..=0x1_0000 => LengthClass::To64Kib,
            0x1_0001..=0x10_0000 => LengthClass::To1Mib,
            0x10_0001..=0x400_0000 => LengthClass::To64Mib,
            0x400_0001..=0x1_4000_0000 => LengthClass::To5Gib,
            _ => LengthClass::Beyond,
        }
    }
}

impl fmt::Display for LengthClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LengthClass::Empty => "0",
            LengthClass::To64 => "1 to 64 bytes",
            LengthClass::To300 => "65 to 300 bytes",
            LengthClass::To4Kib => "301 bytes to 4 KiB",
            LengthClass::To64Kib => "to 64 KiB",
            LengthClass::To1Mib => "to 1 MiB",
            LengthClass::To64Mib => "to 64 MiB",
            LengthClass::To5Gib => "to 5 GiB",
            LengthClass::Beyond => "1 TiB (only the edges are accessible)",
        })
    }
}

impl Offsets {
    /// All classes.
    pub const ALL: [Offsets; 5] =
        [Offsets::PageAligned, Offsets::Equal, Offsets::Near, Offsets::LineAligned, Offsets::Other];

    fn of(family: Family, call: &Call) -> Offsets {
        let (dst, src) = (call.dst.addr() % PAGE, call.src.addr() % PAGE);
        let (dst, src) = match (family.writes(), family.reads()) {
            (true, true) => (dst, src),
            (true, false) => (dst, dst),
            (false, _) => (src, src),
        };
        let two = family.reads() && family.writes();
        let apart = dst.wrapping_sub(src) % PAGE;
        if dst == 0 && src == 0 {
            Offsets::PageAligned
        } else if two && apart == 0 {
            Offsets::Equal
        } else if two && !(64..=PAGE - 64).contains(&apart) {
            Offsets::Near
        } else if dst % 64 == 0 && src % 64 == 0 {
            Offsets::LineAligned
        } else {
            Offsets::Other
        }
    }
}

impl fmt::Display for Offsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Offsets::PageAligned => "page-aligned",
            Offsets::Equal => "equal in both buffers",
            Offsets::Near => "1 to 63 apart modulo 4096",
            Offsets::LineAligned => "multiples of 64",
            Offsets::Other => "others",
        })
    }
}

impl Placement {
    /// All classes.
    pub const ALL: [Placement; 4] =
        [Placement::AfterGuard, Placement::BeforeGuard, Placement::Both, Placement::Free];

    fn of(note: Note) -> Placement {
        let at = |spot| note.dst == spot || note.src == spot;
        match (at(Spot::AfterGuard), at(Spot::BeforeGuard)) {
            (true, true) => Placement::Both,
            (true, false) => Placement::AfterGuard,
            (false, true) => Placement::BeforeGuard,
            (false, false) => Placement::Free,
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Placement::AfterGuard => "after a guard page",
            Placement::BeforeGuard => "before a guard page",
            Placement::Both => "one after, one before a guard page",
            Placement::Free => "away from guard pages",
        })
    }
}

/// What no check can detect, in sentences that METHODOLOGY.md repeats.
pub const CANNOT_SEE: &[&str] = &[
    "Reads outside a buffer that stay within its first or last page, as long as the result does not depend on them.",
    "Writes more than a page away from a large destination, unless they hit a guard.",
    "A byte next to the destination that a single instruction reads and writes back: this is caught only by chance, and with two CPUs.",
    "A byte more than 64 bytes from the destination that is written and restored within the call.",
    "What a call of up to 300 bytes does between two instructions, at lengths that are neither among the 29 of the single \
     steps nor among the 8 that this seed draws.",
    "The actions of a call of more than 300 bytes between its stops, and at lengths that are neither among the 17 of the \
     stopped calls nor among the 16 that this seed draws. Single steps cover its first 300 instructions, 300 from where it \
     reaches its first and its last page, and 12 to 31 from where it reaches each of up to 24 others.",
    "A missing fence after non-temporal stores in calls of more than 1 MiB, or if more than 2500 instructions follow where \
     the call has reached its last page.",
    "A missing `vzeroupper` at few inputs only: one call in 61 is observed.",
    "Lengths of 301 bytes to 8 KiB at offsets not drawn by this seed. A copy has six pairs of offsets at each length to \
     4160, and one at 1200 lengths above; a routine with one buffer has every offset at each length modulo 64.",
    "Overlapping buffers of more than 300 bytes at distances that are neither on the list nor drawn by this seed.",
    "Lengths above 8 KiB that are neither in the product of large lengths nor chosen by this seed, and lengths above 4 MiB except \
     for accumulator limits (64 MiB), one write of 33 MiB and the edges of buffers of 1 TiB.",
    "A dependence on more earlier calls than were made, or on state shared between processes.",
    "A child process that shares its parent's memory, or has ended before it is searched for.",
    "Code that detects that it is being verified.",
];

const LENGTHS: usize = LengthClass::ALL.len();
const OFFSETS: usize = Offsets::ALL.len();
const PLACEMENTS: usize = Placement::ALL.len();

/// The counts of one verification.
#[derive(Debug)]
pub(super) struct Tally(Box<[u64; Stage::COUNT * LENGTHS * OFFSETS * PLACEMENTS]>);

impl Tally {
    pub fn new() -> Tally {
        Tally(Box::new([0; _]))
    }

    pub fn count(&mut self, family: Family, call: &Call, note: Note) {
        let place = (note.stage as usize * LENGTHS + LengthClass::of(call.len) as usize) * OFFSETS
            + Offsets::of(family, call) as usize;
        self.0[place * PLACEMENTS + Placement::of(note) as usize] += 1;
    }

    /// The combinations of classes with calls.
    pub fn cells(&self) -> Vec<Tried> {
        let mut counts = self.0.iter();
        let mut cells = Vec::new();
        for check in Stage::all() {
            for length in LengthClass::ALL {
                for offsets in Offsets::ALL {
                    for (placement, &calls) in Placement::ALL.into_iter().zip(counts.by_ref()) {
                        if calls > 0 {
                            cells.push(Tried { check, length, offsets, placement, calls });
                        }
                    }
                }
            }
        }
        cells
    }
}

/// Adds the calls of `more` to those of `sum`.
pub fn add(sum: &mut Vec<Tried>, more: &[Tried]) {
    for tried in more {
        let class = |tried: &Tried| (tried.check, tried.length, tried.offsets, tried.placement);
        match sum.iter_mut().find(|held| class(held) == class(tried)) {
            Some(held) => held.calls += tried.calls,
            None => sum.push(*tried),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{without_provenance, without_provenance_mut};

    #[test]
    fn the_methodology_has_the_same_sentences() {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../METHODOLOGY.md");
        let page = words(&std::fs::read_to_string(page).expect("METHODOLOGY.md"));
        for sentence in CANNOT_SEE {
            assert!(page.contains(&words(sentence)), "{sentence}");
        }
    }

    fn call(dst: usize, src: usize, len: usize) -> Call {
        Call { dst: without_provenance_mut(dst), src: without_provenance(src), len, seed: 0 }
    }

    #[test]
    fn calls_are_classified() {
        for (dst, src, offsets) in [
            (8192, 4096, Offsets::PageAligned),
            (8192 + 5, 4096 + 5, Offsets::Equal),
            (8192 + 10, 4096 + 4090, Offsets::Near),
            (8192 + 63, 4096, Offsets::Near),
            (8192 + 64, 4096, Offsets::LineAligned),
            (8192 + 65, 4096, Offsets::Other),
        ] {
            assert_eq!(Offsets::of(Family::Copy, &call(dst, src, 1)), offsets, "{dst} {src}");
        }
        // A family that only writes has no distance.
        assert_eq!(Offsets::of(Family::Zero, &call(8192 + 5, 1, 1)), Offsets::Other);
        for (len, class) in [(0, LengthClass::Empty), (300, LengthClass::To300), (301, LengthClass::To4Kib)] {
            assert_eq!(LengthClass::of(len), class);
        }
    }

    #[test]
    fn counts_are_added() {
        let mut tally = Tally::new();
        let note = crate::places::note(Stage::Large);
        tally.count(Family::Copy, &call(8192, 4096, 100), note);
        tally.count(Family::Copy, &call(8192, 4096, 65), note);
        let cells = tally.cells();
        assert_eq!((cells.len(), cells[0].calls, cells[0].check), (1, 2, Stage::Large));
        let mut sum = cells.clone();
        add(&mut sum, &cells);
        assert_eq!((sum.len(), sum[0].calls), (1, 4));
    }
}
