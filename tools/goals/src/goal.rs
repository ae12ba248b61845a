//! Definition of a goal: cells, opponent, and required ratio.

use carryline_conditions::{Cache, CacheMethod, Condition, Dependence, Offsets, Then};
use carryline_statistics::Ratio;
use carryline_variants::{Family, Role};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The part of the library that a goal belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Checksums, and copies with a checksum.
    Checksum,
    /// Zeroing and copying.
    Memory,
}

impl Part {
    /// Both parts, in the order of the document.
    pub const ALL: [Part; 2] = [Part::Checksum, Part::Memory];

    /// The word on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Part::Checksum => "checksum",
            Part::Memory => "memory",
        }
    }
}

/// Cells of one condition and several sizes, measured by one `carryline measure`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The goal's own family, then others measured in the same run.
    pub families: Vec<Family>,
    /// The values of `--sizes`.
    pub sizes: Vec<String>,
    /// All other conditions; its sizes field is unused.
    pub condition: Condition,
    /// The values of `--variants`; empty for all.
    pub variants: Vec<String>,
    /// Further offsets measured in the same run, for [`Against::OursAt`].
    pub also_at: Option<Offsets>,
}

impl Cells {
    /// Hot, independent, aligned cells.
    #[must_use]
    pub fn hot<S: Into<String>>(family: Family, sizes: impl IntoIterator<Item = S>) -> Cells {
        Cells {
            families: vec![family],
            sizes: sizes.into_iter().map(Into::into).collect(),
            condition: Condition::plain(0),
            variants: Vec::new(),
            also_at: None,
        }
    }

    /// The same at random offsets, drawn from the whole page.
    #[must_use]
    pub fn random(self) -> Cells {
        self.at(Offsets::Random)
    }

    /// The same at these offsets.
    #[must_use]
    pub fn at(mut self, offsets: Offsets) -> Cells {
        self.condition.offsets = offsets;
        self
    }

    /// The same with buffers that end with a page, and in the same run aligned.
    #[must_use]
    pub fn at_page_ends(mut self) -> Cells {
        (self.condition.offsets, self.also_at) = (Offsets::End, Some(Offsets::ALIGNED));
        self
    }

    /// The same cold, as a stream of calls.
    #[must_use]
    pub fn cold(mut self) -> Cells {
        self.condition.cache = Cache::cold(CacheMethod::Arena);
        self
    }

    /// The same with each call waiting for the previous one.
    #[must_use]
    pub fn chained(mut self) -> Cells {
        self.condition.dependence = Dependence::Chained;
        self
    }

    /// The same followed by something.
    #[must_use]
    pub fn then(mut self, then: Then) -> Cells {
        self.condition.then = then;
        self
    }

    /// The same together with cells of other families.
    #[must_use]
    pub fn with(mut self, families: impl IntoIterator<Item = Family>) -> Cells {
        self.families.extend(families);
        self
    }

    /// The same with only these variants, if all would take too long.
    #[must_use]
    pub fn only(mut self, variants: &[&str]) -> Cells {
        self.variants = variants.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// The family of the goal.
    #[must_use]
    pub fn family(&self) -> Family {
        self.families[0]
    }

    /// The condition in words, without sizes and defaults.
    #[must_use]
    pub fn words(&self) -> String {
        let (plain, here) = (Condition::plain(0), &self.condition);
        let mut words = format!("{}, {}", here.cache, here.dependence);
        if here.offsets != plain.offsets {
            let _ = write!(words, ", offset {}", here.offsets);
        }
        if here.then != plain.then {
            let _ = write!(words, ", then {}", here.then);
        }
        words
    }
}

/// The opponent of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The fastest routine that users have without this project, in each cell: see [`is_peer`].
    BestPeer,
    /// This variant of the family. A row of the C library stands for the faster of its two rows (as installed
    /// and with raised thresholds) in each cell.
    Variant(&'static str),
    /// The fastest of these variants of the family in each cell, with both rows of the C library.
    BestOf(&'static [&'static str]),
    /// This variant of another family, in the same run and under the same condition.
    Elsewhere(Family, &'static str),
    /// The C library's memcpy followed by the fastest checksum that is not ours, of any origin: the sum of
    /// their times.
    TwoPasses,
    /// A share of the machine's load or store limit.
    Limit,
    /// The null call plus the given hundredths of a tick.
    Null(u32),
    /// The same variant at the other offsets of the cells ([`Cells::also_at`]), plus the given hundredths of
    /// a tick.
    OursAt(u32),
}

/// The evaluation of a goal over several cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// By the cell with the lowest ratio.
    Worst,
    /// By the geometric mean of the ratios.
    Mean,
}

/// A goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The name on the command line and in the document.
    pub id: String,
    /// The part of the library.
    pub part: Part,
    /// The cells in which it is measured.
    pub cells: Cells,
    /// Our variant.
    pub ours: &'static str,
    /// The opponent.
    pub against: Against,
    /// Another variant whose ratio is shown, without effect on the verdict.
    pub also: Option<&'static str>,
    /// The required ratio: how many times as fast as the opponent, or the share of a limit.
    pub want: f64,
    /// How several cells are combined.
    pub over: Over,
    /// The sentence it is taken from.
    pub source: &'static str,
}

impl Goal {
    /// A goal for `carryline`, judged by the worst of its cells.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        part: Part,
        cells: Cells,
        against: Against,
        want: f64,
        source: &'static str,
    ) -> Goal {
        Goal {
            id: id.into(),
            part,
            cells,
            ours: "carryline",
            against,
            also: None,
            want,
            over: Over::Worst,
            source,
        }
    }

    /// The same for another variant of this project.
    #[must_use]
    pub fn ours(mut self, variant: &'static str) -> Goal {
        self.ours = variant;
        self
    }

    /// The same, judged by the geometric mean.
    #[must_use]
    pub fn mean(mut self) -> Goal {
        self.over = Over::Mean;
        self
    }

    /// The same, with the ratio to another variant shown.
    #[must_use]
    pub fn also(mut self, variant: &'static str) -> Goal {
        self.also = Some(variant);
        self
    }

    /// Whether the opponent is what users have without this project, and not the machine or our own routines.
    #[must_use]
    pub fn is_against_others(&self) -> bool {
        !matches!(self.against, Against::Limit | Against::Null(_) | Against::OursAt(_))
    }

    /// Whether a tie with this ratio reaches the goal. "No slower" is reached within 2 % of the bar, unless the
    /// interval leaves room for more than a tenth below it. A lower bar is an allowance already: only the noise
    /// floor may leave doubt there, so the whole interval has to be at the bar or above it.
    #[must_use]
    pub fn is_reached_by_a_tie(&self, ratio: &Ratio) -> bool {
        match self.against {
            Against::Limit => false,
            _ if self.want > 1.0 => false,
            _ if self.want < 1.0 => ratio.low >= self.want,
            _ => ratio.median * (1.0 + TIE_WITHIN) >= 1.0 && ratio.low >= LEAST_OF_A_TIE,
        }
    }
}

/// How far our time may exceed the opponent's in a tie that counts as "no slower".
const TIE_WITHIN: f64 = 0.02;

/// The least lower end of such a tie's interval.
const LEAST_OF_A_TIE: f64 = 0.9;

/// Techniques of the collection that others ship too: the checksum of current kernels, and C library routines
/// that are not the baseline of their family.
const SHIPPED: [(Family, &str); 4] = [
    (Family::Checksum, "adc_2_streams"),
    (Family::Copy, "libc_memmove"),
    (Family::Copy, "libc_memmove_no_rep"),
    (Family::Zero, "write_bytes"),
];

/// Whether the variant is our own.
#[must_use]
pub fn is_ours(name: &str) -> bool {
    name == "carryline" || name.starts_with("carryline_")
}

/// The prefix of plug-in names.
pub const PLUGIN: &str = "plugin:";

/// Whether a variant is what users have without this project: the baseline, another project's library, or the
/// C library's. A plug-in is not, so that goals do not depend on what else was measured.
///
/// A variant unknown to this build of the collection was measured by one with more features, and those add
/// only peers.
#[must_use]
pub fn is_peer(family: Family, name: &str) -> bool {
    if is_ours(name) || name.starts_with(PLUGIN) {
        return false;
    }
    match carryline_variants::find(family, name).map(|variant| variant.role) {
        None | Some(Role::Baseline | Role::Peer) => true,
        Some(Role::Technique) => SHIPPED.contains(&(family, name)),
        Some(Role::Reference | Role::Ours | Role::Historical) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_recognised() {
        for peer in ["adc_1_stream", "adc_2_streams", "dpdk", "s2n_quic"] {
            assert!(is_peer(Family::Checksum, peer), "{peer}");
        }
        for other in
            ["plugin:memcpy", "carryline", "carryline_not_soon", "avx512_dot", "words16_c", "reference"]
        {
            assert!(!is_peer(Family::Checksum, other), "{other}");
        }
        for (family, name) in SHIPPED {
            assert!(
                carryline_variants::find(family, name).is_some(),
                "{name} is no longer in the collection"
            );
        }
    }
}
