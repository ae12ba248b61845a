//! Goals of every tier: no size and no pair of offsets at which a call is much slower than usual, such as a
//! string instruction between buffers whose distance is close to a multiple of a page.

use crate::goal::{Against, Cells, Goal, Part};
use crate::tier::Tier;
use carryline_conditions::Offsets;
use carryline_variants::Family::{self, Copy, Zero};

const SOURCE: &str = "no offset pair and no size up to 128 MiB at which a call takes more than 1.05 times the best of the \
     plain loop and libc";

/// Sizes on both sides of every likely threshold of a library.
const SIZES: [&str; 7] = ["1500", "4K", "16K", "64K", "512K", "8M", "128M"];

/// The plain loop and the C library's routine, as installed and with its `rep` thresholds raised.
const fn opponents(family: Family, tier: Tier) -> &'static [&'static str] {
    match (family, tier) {
        (Zero, Tier::Avx512) => &["avx512", "libc_memset", "libc_memset_no_rep"],
        (Zero, Tier::Avx2) => &["avx2", "libc_memset", "libc_memset_no_rep"],
        (Zero, Tier::Sse2) => &["sse2", "libc_memset", "libc_memset_no_rep"],
        (_, Tier::Avx512) => &["avx512", "libc_memcpy", "libc_memcpy_no_rep"],
        (_, Tier::Avx2) => &["avx2", "libc_memcpy", "libc_memcpy_no_rep"],
        (_, Tier::Sse2) => &["sse2", "libc_memcpy", "libc_memcpy_no_rep"],
    }
}

/// The goals of a tier.
#[must_use]
pub fn goals(tier: Tier) -> Vec<Goal> {
    // A destination that is above the source modulo 4096, and in the second half of a line.
    let above = Offsets::Fixed { dst: 49, src: 0 };
    let offsets =
        [("", Offsets::ALIGNED), ("-random", Offsets::Random), ("-alias", Offsets::Alias), ("-above", above)];
    let mut goals = Vec::new();
    for family in [Copy, Zero] {
        for (ending, offsets) in offsets {
            // Distances need two buffers.
            if family == Zero && (offsets == Offsets::Alias || offsets == above) {
                continue;
            }
            let others = opponents(family, tier);
            let names: Vec<&str> = std::iter::once("carryline").chain(others.iter().copied()).collect();
            let cells = Cells::hot(family, SIZES).at(offsets).only(&names);
            let against = Against::BestOf(others);
            let id = format!("{family}-trap{ending}");
            goals.push(Goal::new(id, Part::Memory, cells, against, 1.0 / 1.05, SOURCE));
        }
    }
    goals
}
