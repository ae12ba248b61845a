//! What a goal is: cells, who is to be beaten there, and by how much.

use carryline_conditions::{Cache, CacheMethod, Condition, Dependence, Offsets, Then};
use carryline_variants::{Family, Role};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The part of the library that a goal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Checksums, and copies with a checksum.
    Checksum,
    /// Zeroing and copying.
    Memory,
}

impl Part {
    /// Both, in the order of the document.
    pub const ALL: [Part; 2] = [Part::Checksum, Part::Memory];

    /// The word of the command line.
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
    /// The goal's own family, then others that are measured in the same run.
    pub families: Vec<Family>,
    /// Words of `--sizes`.
    pub sizes: Vec<String>,
    /// Everything else; its sizes field says nothing.
    pub condition: Condition,
    /// Words of `--variants`; empty for all.
    pub variants: Vec<String>,
    /// Measured in the same run at these offsets too, for [`Against::OursAt`].
    pub also_at: Option<Offsets>,
}

impl Cells {
    /// Hot, independent, aligned.
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

    /// At random offsets, drawn from the whole page.
    #[must_use]
    pub fn random(self) -> Cells {
        self.at(Offsets::Random)
    }

    /// With buffers that begin where `offsets` says.
    #[must_use]
    pub fn at(mut self, offsets: Offsets) -> Cells {
        self.condition.offsets = offsets;
        self
    }

    /// Ending with a page, and in the same run at a line's start.
    #[must_use]
    pub fn at_page_ends(mut self) -> Cells {
        (self.condition.offsets, self.also_at) = (Offsets::End, Some(Offsets::ALIGNED));
        self
    }

    /// With lines that no cache holds, as a stream of calls.
    #[must_use]
    pub fn cold(mut self) -> Cells {
        self.condition.cache = Cache::cold(CacheMethod::Arena);
        self
    }

    /// Each call waiting for the one before.
    #[must_use]
    pub fn chained(mut self) -> Cells {
        self.condition.dependence = Dependence::Chained;
        self
    }

    /// Followed by something.
    #[must_use]
    pub fn then(mut self, then: Then) -> Cells {
        self.condition.then = then;
        self
    }

    /// Beside cells of other families.
    #[must_use]
    pub fn beside(mut self, families: impl IntoIterator<Item = Family>) -> Cells {
        self.families.extend(families);
        self
    }

    /// With these variants alone, where all would take too long.
    #[must_use]
    pub fn only(mut self, variants: &[&str]) -> Cells {
        self.variants = variants.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// The family that the goal is about.
    #[must_use]
    pub fn family(&self) -> Family {
        self.families[0]
    }

    /// The condition in words, without sizes and without what is plainest.
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

/// Who is to be beaten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The fastest of what users have without us, in that very cell: see [`is_peer`].
    BestPeer,
    /// This variant of the family; a row of the C library stands for the faster of its two, as installed and
    /// with raised thresholds, in that very cell.
    Variant(&'static str),
    /// The fastest of these variants of the family, in that very cell; of the C library both rows.
    BestOf(&'static [&'static str]),
    /// This variant of another family, in the same run and under the same condition.
    Elsewhere(Family, &'static str),
    /// The C library's memcpy, and then the fastest checksum that is not ours, of any origin: the times of
    /// the two added up.
    TwoPasses,
    /// What the machine allows: a share of its load or store limit.
    Limit,
    /// The null call plus the given hundredths of a tick.
    Null(u32),
    /// The same variant at the other offsets of the cells ([`Cells::also_at`]), and so many hundredths of a
    /// tick.
    OursAt(u32),
}

/// How a goal over several cells is judged.
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
    /// What it is about.
    pub part: Part,
    /// Where it is measured.
    pub cells: Cells,
    /// The variant that is ours.
    pub ours: &'static str,
    /// Who is to be beaten.
    pub against: Against,
    /// Another variant to show the ratio to, which does not decide.
    pub also: Option<&'static str>,
    /// How many times as fast, at least; of a limit, which share.
    pub want: f64,
    /// How several cells are judged.
    pub over: Over,
    /// Where it comes from.
    pub source: &'static str,
}

impl Goal {
    /// A goal for `carryline` in its cells, judged by the worst of them.
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

    /// Judged by the geometric mean.
    #[must_use]
    pub fn mean(mut self) -> Goal {
        self.over = Over::Mean;
        self
    }

    /// The ratio to one more variant shown.
    #[must_use]
    pub fn also(mut self, variant: &'static str) -> Goal {
        self.also = Some(variant);
        self
    }

    /// True if it is held against what users have without us, and not against the machine or our own
    /// routines.
    #[must_use]
    pub fn is_against_others(&self) -> bool {
        !matches!(self.against, Against::Limit | Against::Null(_) | Against::OursAt(_))
    }

    /// True if a tie at the bar is all that was requested.
    #[must_use]
    pub fn is_reached_by_a_tie(&self) -> bool {
        self.want <= 1.0 && self.against != Against::Limit
    }
}

/// Techniques of the collection that are also what others ship: the checksum of current kernels, and C
/// library routines that are no family's baseline.
const SHIPPED: [(Family, &str); 4] = [
    (Family::Checksum, "adc_2_streams"),
    (Family::Copy, "libc_memmove"),
    (Family::Copy, "libc_memmove_no_rep"),
    (Family::Zero, "write_bytes"),
];

/// True if the variant is our own.
#[must_use]
pub fn is_ours(name: &str) -> bool {
    name == "carryline" || name.starts_with("carryline_")
}

/// How the names of plug-ins begin.
pub const PLUGIN: &str = "plugin:";

/// True if a variant is what users have without us: the baseline, another project's library, or the C
/// library's. A plug-in is not, so that goals do not depend on what somebody measured beside them.
///
/// A variant that this build of the collection does not know was measured by one with more features: those
/// bring peers, and nothing else.
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
    fn who_is_a_peer() {
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
