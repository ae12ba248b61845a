//! Comparison with libraries outside the collection, measured as plug-ins.
//!
//! No goal depends on them, so that goals mean the same on machines with and without them.

use super::collect::{interval, order, rounded};
use super::{Interval, Order};
use crate::goal::PLUGIN;
use crate::goals::fleet;
use crate::judge::{FLOOR_WITHOUT_TWINS, MEAN_SEED};
use crate::mean::{Part, Processes, mean_of};
use crate::stored::{Stored, StoredSituation};
use carryline_conditions::{Condition, Offsets};
use carryline_statistics::{Ratio, paired_ratio};
use carryline_variants::Family;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Our variant in these comparisons.
const OURS: &str = "carryline";

/// A routine of another library compared with ours, over all cells in which both were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherLibrary {
    /// Its name, without the prefix of plug-ins.
    pub name: String,
    /// Its family.
    pub family: Family,
    /// Cells in which both have figures.
    pub cells: usize,
    /// Cells in which ours is significantly faster.
    pub faster: usize,
    /// Cells in which ours is significantly slower.
    pub slower: usize,
    /// The cells with the lowest ratios of its time over ours.
    pub worst: Vec<CellRatio>,
    /// The geometric mean of its time over ours on a fleet's size distributions, drawn again for each batch,
    /// at random offsets, hot and independent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fleet: Option<Interval>,
}

/// A cell with its ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellRatio {
    /// The size and the condition.
    pub condition: String,
    /// Its time over ours.
    pub ratio: f64,
    /// Which of the two is significantly faster.
    pub order: Order,
}

/// The number of cells listed, the worst first.
const LISTED: usize = 5;

/// The comparisons with all plug-ins in the stored runs.
pub(super) fn others(stored: &Stored) -> Vec<OtherLibrary> {
    let mut found: BTreeMap<(String, Family), Vec<(&StoredSituation, Ratio)>> = BTreeMap::new();
    for situation in &stored.situations {
        let family = situation.gathered.situation.family;
        let seed = stored.runs[situation.run].seed;
        for subject in &situation.gathered.situation.subjects {
            let Some(name) = subject.strip_prefix(PLUGIN) else { continue };
            if situation.cell(subject).is_err() || situation.cell(OURS).is_err() {
                continue;
            }
            let ratio = paired_ratio(&situation.samples(subject), &situation.samples(OURS), seed);
            if let Some(ratio) = ratio {
                found.entry((name.to_owned(), family)).or_default().push((situation, ratio));
            }
        }
    }
    found.into_iter().map(|((name, family), cells)| library(name, family, cells)).collect()
}

fn library(name: String, family: Family, mut cells: Vec<(&StoredSituation, Ratio)>) -> OtherLibrary {
    cells.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    let floor = |situation: &StoredSituation| situation.floor.unwrap_or(FLOOR_WITHOUT_TWINS);
    let place = |(situation, ratio): &(&StoredSituation, Ratio)| CellRatio {
        condition: situation.words(),
        ratio: rounded(ratio.median),
        order: order(ratio, floor(situation)),
    };
    let all: Vec<CellRatio> = cells.iter().map(place).collect();
    let of_fleet = cells.iter().filter(|(situation, _)| is_fleet(&situation.gathered.situation.condition));
    let part = |(situation, ratio): &(&StoredSituation, Ratio)| {
        let theirs = situation.samples(&format!("{PLUGIN}{name}"));
        let processes = Processes::of(situation.run, &theirs, &situation.samples(OURS));
        Part { ratio: *ratio, floor: floor(situation), processes }
    };
    let mean = mean_of(&of_fleet.map(part).collect::<Vec<_>>(), MEAN_SEED);
    OtherLibrary {
        name,
        family,
        cells: all.len(),
        faster: all.iter().filter(|place| place.order == Order::Faster).count(),
        slower: all.iter().filter(|place| place.order == Order::Slower).count(),
        fleet: mean.map(|(ratio, _)| interval(&ratio)),
        worst: all.into_iter().take(LISTED).collect(),
    }
}

/// Whether the sizes are a fleet's, in unpredictable order, under the condition of the goals for them.
fn is_fleet(condition: &Condition) -> bool {
    let label = &condition.sizes.label;
    let plain = Condition { sizes: condition.sizes.clone(), offsets: Offsets::Random, ..Condition::plain(0) };
    label.starts_with(fleet::PREFIX) && !label.contains("period") && *condition == plain
}
