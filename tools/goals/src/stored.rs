//! The contents of a database used by the goals: the latest run of each situation.

use crate::commit::Commits;
use crate::goal::Cells;
use crate::machine;
use crate::tier::Tier;
use anyhow::{Context, bail};
use carryline_conditions::Condition;
use carryline_conditions::Offsets;
use carryline_results::gather::{Gathered, Situation};
use carryline_results::{Cell, Limit, Status, Warning};
use carryline_store::{RunStatus, Store};
use carryline_variants::Family;
use std::collections::BTreeSet;
use std::path::Path;

/// A run of the command.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// Its number in the database.
    pub id: i64,
    /// The start time in UTC: `2026-01-31T23:59:59Z`.
    pub started: String,
    /// The command's arguments.
    pub command: Vec<String>,
    /// The random seed.
    pub seed: u64,
    /// The machine and the build.
    pub environment: serde_json::Value,
    /// The commit that was built, if known.
    pub commit: Option<String>,
    /// Ticks per core cycle, if known.
    pub ticks_per_cycle: Option<f64>,
    /// The limits of the machine.
    pub limits: Vec<Limit>,
    /// The warnings.
    pub warnings: Vec<Warning>,
}

/// What distinguishes runs of different purpose: their families, whether variants were selected, and their
/// offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The families measured in the run.
    pub families: BTreeSet<Family>,
    /// Whether only some variants were measured.
    pub restricted: bool,
    /// The offsets measured in the run, sorted: a goal that compares two of them needs both from one run.
    pub offsets: Vec<String>,
}

impl Matrix {
    /// The matrix that cells belong to.
    #[must_use]
    pub fn of(cells: &Cells) -> Matrix {
        let offsets = std::iter::once(cells.condition.offsets).chain(cells.also_at);
        Matrix::new(cells.families.iter().copied(), !cells.variants.is_empty(), offsets)
    }

    fn new(
        families: impl Iterator<Item = Family>,
        restricted: bool,
        offsets: impl Iterator<Item = Offsets>,
    ) -> Matrix {
        let offsets: BTreeSet<String> = offsets.map(|offsets| offsets.to_string()).collect();
        Matrix { families: families.collect(), restricted, offsets: offsets.into_iter().collect() }
    }
}

/// A situation with its latest figures.
#[derive(Clone, Debug)]
pub struct StoredSituation {
    /// Index of its run in [`Stored::runs`].
    pub run: usize,
    /// The matrix that it is a part of. The same situation can be in several, each with its own figures.
    pub matrix: Matrix,
    /// The samples.
    pub gathered: Gathered,
    /// The figures.
    pub cells: Vec<Cell>,
    /// The noise floor: the relative difference up to which everything is a tie.
    pub floor: Option<f64>,
}

/// Everything on which goals are evaluated.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// The runs of these situations, latest first.
    pub runs: Vec<StoredRun>,
    /// The situations; those of a run are adjacent, in the order of its plan.
    pub situations: Vec<StoredSituation>,
}

/// The stored runs of one machine in one tier.
#[derive(Clone, Debug)]
pub struct Group {
    /// The machine, see [`machine::name`].
    pub machine: String,
    /// The tier of its features without the masked ones.
    pub tier: Tier,
    /// The results.
    pub stored: Stored,
}

impl Stored {
    /// Reads a database, grouped by machine and tier, the group of the newest run first. Runs that never
    /// ended, and damaged ones, are skipped.
    ///
    /// # Errors
    /// If the file does not exist, is not a database of carryline, or holds no finished run.
    pub fn load(path: &Path) -> anyhow::Result<Vec<Group>> {
        if !path.exists() {
            bail!("{}: no such file; 'cargo xtask benchmarks run' creates it", path.display());
        }
        let store = Store::open(path)?;
        let commits = Commits::load(path)?;
        let mut groups: Vec<Group> = Vec::new();
        for summary in store.runs(usize::MAX)? {
            if !matches!(summary.status, RunStatus::Complete | RunStatus::Interrupted) {
                continue;
            }
            let header = store.header(summary.id)?;
            let mut result = store.load_run(summary.id)?;
            let situations: Vec<Situation> = serde_json::from_value(header.plan["situations"].clone())
                .with_context(|| format!("run {}: its plan has another version", summary.id))?;
            let restricted = header.command.iter().any(|word| word.starts_with("--variants"));
            let offsets = situations.iter().map(|of| of.condition.offsets);
            let matrix = Matrix::new(situations.iter().map(|of| of.family), restricted, offsets);
            let (machine, tier) = (machine::name(&result.environment), machine::tier(&result.environment));
            let at = groups.iter().position(|group| group.machine == machine && group.tier == tier);
            let at = at.unwrap_or_else(|| {
                groups.push(Group { machine, tier, stored: Stored::default() });
                groups.len() - 1
            });
            let stored = &mut groups[at].stored;
            let gathered = Gathered::restore(situations, &store.rounds(summary.id)?);
            let known = |gathered: &Gathered| {
                let new = &gathered.situation;
                let same = |old: &StoredSituation| {
                    let old_situation = &old.gathered.situation;
                    // The meaning of a name may have changed.
                    old.matrix == matrix
                        && old_situation.name == new.name
                        && old_situation.condition == new.condition
                };
                stored.situations.iter().any(same)
            };
            let fresh: Vec<Gathered> =
                gathered.into_iter().filter(|new| new.is_measured() && !known(new)).collect();
            if fresh.is_empty() {
                continue;
            }
            let floors = result.noise_floor.take().map(|floor| floor.by_situation).unwrap_or_default();
            for gathered in fresh {
                let name = gathered.situation.name.clone();
                let (here, rest) = result.cells.into_iter().partition(|cell| cell.situation == name);
                result.cells = rest;
                stored.situations.push(StoredSituation {
                    run: stored.runs.len(),
                    matrix: matrix.clone(),
                    gathered,
                    cells: here,
                    floor: floors.iter().find(|(of, _)| *of == name).map(|(_, floor)| *floor),
                });
            }
            stored.runs.push(StoredRun {
                id: summary.id.0,
                started: summary.started,
                command: summary.command,
                seed: header.seed,
                environment: result.environment,
                commit: commits.of(summary.id.0),
                ticks_per_cycle: result.ticks_per_cycle,
                limits: result.limits,
                warnings: result.warnings,
            });
        }
        groups.retain(|group| !group.stored.runs.is_empty());
        if groups.is_empty() {
            bail!("{}: it has no finished run; 'cargo xtask benchmarks run' adds runs", path.display());
        }
        Ok(groups)
    }

    /// The situation of a family and size (as written in the goal), in the matrix and under the condition of
    /// a goal's cells.
    #[must_use]
    pub fn find(&self, family: Family, size: &str, cells: &Cells) -> Option<&StoredSituation> {
        let matrix = Matrix::of(cells);
        self.situations.iter().find(|stored| {
            let situation = &stored.gathered.situation;
            let here = &situation.condition;
            stored.matrix == matrix
                && situation.family == family
                && here.sizes.label == size
                && Condition { sizes: cells.condition.sizes.clone(), ..here.clone() } == cells.condition
        })
    }
}

impl StoredSituation {
    /// The size and the condition, without defaults.
    #[must_use]
    pub fn words(&self) -> String {
        let condition = &self.gathered.situation.condition;
        let cells =
            Cells { condition: condition.clone(), ..Cells::hot(self.gathered.situation.family, [""; 0]) };
        format!("{}, {}", condition.sizes.label, cells.words())
    }

    /// The figures of a variant, or the reason if there are none.
    ///
    /// # Errors
    /// If the variant is missing or could not be measured, in words.
    pub fn cell(&self, variant: &str) -> Result<&Cell, String> {
        let Some(cell) = self.cells.iter().find(|cell| cell.variant == variant) else {
            return Err(format!("{variant} is not there"));
        };
        match (cell.status, &cell.gross, &cell.detail) {
            (Status::Ok, Some(_), _) => Ok(cell),
            (_, _, Some(detail)) => Err(format!("{variant}: {detail}")),
            (_, _, None) => Err(format!("{variant} has no figure")),
        }
    }

    /// The gross samples of a variant by replicate and round; none if the variant is missing.
    #[must_use]
    pub fn samples(&self, variant: &str) -> Vec<Vec<f64>> {
        let place = self.gathered.situation.subjects.iter().position(|name| name == variant);
        place.map(|place| self.gathered.gross(place)).unwrap_or_default()
    }

    /// The variant itself, or the row of the same C library function with other thresholds, if that was
    /// measured here too and is faster: see [`carryline_variants::c_library`].
    #[must_use]
    pub fn better_row<'a>(&self, variant: &'a str) -> &'a str {
        let this = carryline_variants::find(self.gathered.situation.family, variant);
        let other = this.and_then(|this| this.with_other_thresholds()).map(|other| other.name);
        let fastest = self.fastest(|name| name == variant || Some(name) == other);
        match (fastest, other) {
            (Some(cell), Some(other)) if cell.variant == other => other,
            _ => variant,
        }
    }

    /// The measured cell with the lowest median among the `wanted` variants.
    #[must_use]
    pub fn fastest(&self, wanted: impl Fn(&str) -> bool) -> Option<&Cell> {
        let median = |cell: &&Cell| cell.gross.map_or(f64::INFINITY, |gross| gross.median);
        self.cells
            .iter()
            .filter(|cell| wanted(&cell.variant) && cell.status == Status::Ok && cell.gross.is_some())
            .min_by(|a, b| median(a).total_cmp(&median(b)))
    }
}
