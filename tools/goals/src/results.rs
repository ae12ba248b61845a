//! The results of one machine in one tier, small enough to commit: the document is generated from such files
//! alone.
//!
//! A file is `docs/benchmarks/MACHINE-TIER.json`. Its fields and lines have a stable order, so that the
//! differences between two measurements are readable.

mod collect;
mod others;
mod tables;
mod text;

pub use others::OtherLibrary;

use crate::goal::Part;
use crate::goals;
use crate::judge::GoalVerdict;
use crate::tier::Tier;
use anyhow::{Context, bail};
use carryline_machine::environment::Level;
use carryline_variants::Family;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The version of the format.
pub const VERSION: u32 = 1;

/// The results of a machine in a tier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// See [`VERSION`].
    pub version: u32,
    /// The machine's name, see [`machine::name`](crate::machine::name).
    pub machine: String,
    /// The tier.
    pub tier: Tier,
    /// Features that the CPU has and that were masked.
    pub masked: Vec<String>,
    /// CPU, caches, clock and so on, as pairs of name and value.
    pub environment: Vec<[String; 2]>,
    /// The day of the runs, or the first and the last day.
    pub measured: String,
    /// The number of runs.
    pub runs: usize,
    /// The commit whose code was measured, or several, the newest run's first, if known; with `-dirty` if the
    /// library or the laboratory was changed. Goals with a day of their own may be of an older one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// Remarks on the figures.
    pub notes: Vec<String>,
    /// The differences between the runs.
    pub differences: Vec<String>,
    /// The most that one core moved, by level.
    pub limits: Vec<Limit>,
    /// The noise floors of all situations.
    pub floor: Option<Floor>,
    /// The warnings of the runs, with their counts.
    pub warnings: BTreeMap<String, usize>,
    /// The goals, in the order of the document.
    pub goals: Vec<GoalResult>,
    /// Libraries outside of the collection.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub others: Vec<OtherLibrary>,
    /// The figures of all variants.
    pub tables: Vec<Table>,
}

/// The most that one core moved at a level, in bytes per core cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The level.
    pub level: Level,
    /// Reads.
    pub load: f64,
    /// Cached stores.
    pub store: f64,
    /// Non-temporal stores.
    pub nt_store: f64,
}

/// The noise floors of all situations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Their median.
    pub median: f64,
    /// Their maximum.
    pub maximum: f64,
    /// The number of situations.
    pub situations: usize,
}

/// The kind of a goal's opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpponentKind {
    /// What users have without this project.
    Others,
    /// The same, at every size of a range.
    Sizes,
    /// The plain loop and libc: a trap is a cell that is far behind.
    Trap,
    /// The machine's limit, the null call, or our own routines.
    Machine,
}

/// A goal and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalResult {
    /// The goal's name.
    pub id: String,
    /// The part of the library.
    pub part: Part,
    /// The sentence that it is taken from.
    pub source: String,
    /// The kind of its opponent.
    pub kind: OpponentKind,
    /// The family of our routine.
    pub family: Family,
    /// Our routine.
    pub routine: String,
    /// The condition in words, without sizes.
    pub condition: String,
    /// The sizes in words: the worst of several, or those of the mean.
    pub sizes: String,
    /// The required ratio: how many times as fast as the opponent, or the share of a limit.
    pub want: f64,
    /// The verdict.
    pub outcome: GoalVerdict,
    /// Our gross ticks at the judged size; none for a mean.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ours: Option<f64>,
    /// The opponent there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub opponent: Option<String>,
    /// Its gross ticks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub opponent_ticks: Option<f64>,
    /// The judged ratio, with its interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ratio: Option<Interval>,
    /// The ratio to another variant, without effect on the outcome.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub also: Option<(String, Interval)>,
    /// Its cells, the lowest ratio first; of many cells only the first ones.
    pub cells: Vec<CellResult>,
    /// The cell with the highest ratio, if `cells` does not include it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub best: Option<CellResult>,
    /// The number of cells by result.
    pub count: Count,
    /// The day of its measurement, if not that of the others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured: Option<String>,
}

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// One cell of a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// The size.
    pub size: String,
    /// The opponent's time over ours.
    pub ratio: f64,
    /// The opponent.
    pub opponent: String,
    /// Our gross ticks, if stored.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ours: Option<f64>,
    /// The opponent's gross ticks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub theirs: Option<f64>,
    /// Which of the two is significantly faster.
    pub order: Order,
}

/// The relation of our time to the opponent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Ours is lower by more than interval and noise floor.
    Faster,
    /// They cannot be distinguished.
    Tie,
    /// Ours is higher.
    Slower,
}

/// The number of cells of a goal by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// All cells.
    pub cells: usize,
    /// Significantly faster than the opponent.
    pub faster: usize,
    /// Significantly slower.
    pub slower: usize,
    /// With a median below the required ratio.
    pub below: usize,
    /// Those of `below` that take longer by two core cycles or more. A short call of one size takes a whole
    /// number of cycles, so one cycle of it is over 5 %, and which of two routines has it changes from run to
    /// run. Unknown without the length of a cycle.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by_two_cycles: Option<usize>,
}

/// The figures of all variants under one condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Family and condition.
    pub title: String,
    /// The columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Results {
    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}-{}.json", self.machine, self.tier)
    }

    /// The file's text.
    ///
    /// # Errors
    /// Never in practice; the signature is serde's.
    pub fn to_text(&self) -> serde_json::Result<String> {
        Ok(text::pretty(&serde_json::to_value(self)?))
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// If the text is not of this format and version.
    pub fn from_text(text: &str) -> anyhow::Result<Results> {
        let results: Results = serde_json::from_str(text)?;
        if results.version != VERSION {
            bail!("the file has version {}, this program reads {VERSION}", results.version);
        }
        Ok(results)
    }

    /// Whether both were written from the same runs: their noise floors agree in all digits.
    fn is_of_the_runs_of(&self, other: &Results) -> bool {
        (&self.measured, self.runs, &self.floor) == (&other.measured, other.runs, &other.floor)
    }

    /// Adds what only `older` has: goals that were not measured again, and tables of other conditions. Goals
    /// whose definition has changed are not added, nor are tables of conditions that no goal measures any more.
    #[must_use]
    pub fn over(mut self, older: Results) -> Results {
        let is_the_same = |new: &GoalResult, old: &GoalResult| {
            (&new.id, &new.source, &new.family) == (&old.id, &old.source, &old.family)
                && (new.want - old.want).abs() < 1e-3
                && !matches!(old.outcome, GoalVerdict::NotMeasured(_))
        };
        for goal in &mut self.goals {
            if matches!(goal.outcome, GoalVerdict::NotMeasured(_))
                && let Some(old) = older.goals.iter().find(|old| is_the_same(goal, old))
            {
                let measured = old.measured.clone().unwrap_or_else(|| older.measured.clone());
                *goal = GoalResult { measured: Some(measured), ..old.clone() };
            }
        }
        if self.commit.is_none() && self.is_of_the_runs_of(&older) {
            self.commit.clone_from(&older.commit);
        }
        for other in older.others {
            if !self.others.iter().any(|known| (&known.name, known.family) == (&other.name, other.family)) {
                self.others.push(other);
            }
        }
        self.others.sort_by(|a, b| (a.family, &a.name).cmp(&(b.family, &b.name)));
        let goals = goals::all(self.tier);
        let wanted: BTreeSet<String> = goals.iter().flat_map(|goal| tables::titles(&goal.cells)).collect();
        for table in older.tables {
            let is_new = !self.tables.iter().any(|known| known.title == table.title);
            let is_wanted = || {
                wanted.contains(&table.title)
                    || self.goals.iter().any(|goal| tables::is_of(&table.title, goal.family, &goal.condition))
            };
            if is_new && is_wanted() {
                self.tables.push(table);
            }
        }
        self.tables.sort_by(|a, b| a.title.cmp(&b.title));
        self
    }
}

/// Reads every file of a folder, sorted by machine, the one measured last first, and then by tier, the strongest
/// first.
///
/// # Errors
/// If the folder cannot be read, or a file is not of this format; the error names it.
pub fn read_all(folder: &Path) -> anyhow::Result<Vec<Results>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            all.push(read(&path)?);
        }
    }
    sort(&mut all);
    Ok(all)
}

/// Sorts results by machine, the one measured last first, and by tier.
fn sort(all: &mut [Results]) {
    let mut last_days: BTreeMap<String, String> = BTreeMap::new();
    for results in all.iter() {
        let known = last_days.entry(results.machine.clone()).or_default();
        // Of two days, the last one ends the text.
        let day = results.measured.split(' ').next_back().unwrap_or_default();
        if day > known.as_str() {
            day.clone_into(known);
        }
    }
    all.sort_by_cached_key(|results| {
        let day = last_days.get(&results.machine).cloned();
        (std::cmp::Reverse(day), results.machine.clone(), results.tier)
    });
}

fn read(path: &Path) -> anyhow::Result<Results> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Results::from_text(&text)
        .with_context(|| format!("{}: not the results of a machine; remove or restore it", path.display()))
}

/// Writes results into their file in the folder, merged with earlier ones of the same machine and tier;
/// touches no other file. Returns the path.
///
/// # Errors
/// If the folder cannot be written, or the existing file is not of this format.
pub fn write(results: Results, folder: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(results.file_name());
    let results = if path.exists() { results.over(read(&path)?) } else { results };
    std::fs::write(&path, results.to_text()?).with_context(|| path.display().to_string())?;
    Ok(path)
}
