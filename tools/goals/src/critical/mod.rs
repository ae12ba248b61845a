//! The accuracy of `carryline critical`: every cell predicted and measured, from the tables and after
//! calibration, compared with llvm-mca if it is installed.
//!
//! [`measure`] runs the command and produces [`Scores`], which are stored in `docs/critical`, one file per
//! machine; [`page`] generates the document from these files alone.

pub mod page;
mod summary;

use crate::drive;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The families, and the sizes at which all of their routines are predicted and measured.
pub const CELLS: [(&str, usize); 5] =
    [("checksum", 40), ("checksum", 576), ("checksum", 1500), ("zero", 4096), ("copy", 4096)];

/// The time for measuring a family at a size.
const BUDGET: &str = "25s";

/// The predicted and measured cycles of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The family.
    pub family: String,
    /// The routine.
    pub variant: String,
    /// Bytes of a call.
    pub size: usize,
    /// What bounds such calls, by the prediction.
    pub kind: CallBound,
    /// The measured core cycles of a call, gross.
    pub measured: f64,
    /// The cycles of the null call in the same rounds.
    pub null_call: f64,
    /// The lower bound, by the tables.
    pub bound: Option<f64>,
    /// The simulated cycles with the tables.
    pub predicted: Option<f64>,
    /// The simulated cycles with latencies measured on the machine.
    pub calibrated: Option<f64>,
    /// The cycles by llvm-mca.
    pub llvm_mca: Option<f64>,
    /// The bottleneck, by the simulation.
    pub binds: Option<String>,
    /// Instructions of the call that are not modelled; if there are any, nothing is predicted.
    pub not_modelled: Vec<String>,
}

/// What bounds calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallBound {
    /// Each call waits for the previous one, and this latency dominates.
    ChainedLatency,
    /// Each call waits for the previous one, but its own work takes longer.
    ChainedThroughput,
    /// No call waits.
    Independent,
}

impl CallBound {
    /// Every kind.
    pub const ALL: [CallBound; 3] =
        [CallBound::ChainedLatency, CallBound::ChainedThroughput, CallBound::Independent];

    /// The kind in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            CallBound::ChainedLatency => "chained, bound by latency",
            CallBound::ChainedThroughput => "chained, bound by throughput",
            CallBound::Independent => "independent",
        }
    }
}

impl Score {
    /// Whether the front end and the scheduler of the tables were fitted to this routine. The other routines
    /// validate the fit.
    #[must_use]
    pub fn is_of_the_fit(&self) -> bool {
        self.variant.bytes().map(u32::from).sum::<u32>() % 2 == 0
    }

    /// Takes the predictions from an output of the command.
    fn predict(&mut self, one: &Value) {
        let dependence = if self.kind == CallBound::Independent { "independent" } else { "chained" };
        let list = one["not_modelled"].as_array().into_iter().flatten();
        self.kind = kind(one, dependence);
        self.bound = one["bounds"][dependence].as_f64();
        self.predicted = one["predicted"][dependence].as_f64();
        self.calibrated = None;
        self.binds = one["binds"][dependence]["part"].as_str().map(str::to_owned);
        self.not_modelled = list.filter_map(|text| text.as_str().map(str::to_owned)).collect();
    }
}

/// The scores of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// The machine, in words.
    pub machine: String,
    /// The latency table.
    pub table: String,
    /// The CPU model given to llvm-mca, and its version.
    pub llvm_mca: Option<String>,
    /// The cells.
    pub cells: Vec<Score>,
}

impl Scores {
    /// Adds the cells of the same machine's scores in `all` that were not measured again.
    pub fn keep_others(&mut self, all: Vec<Scores>) {
        let known = all.into_iter().filter(|scores| scores.table == self.table);
        let others: Vec<Score> = known.flat_map(|scores| scores.cells).collect();
        let is_new =
            |old: &Score| self.cells.iter().any(|cell| (&cell.family, cell.size) == (&old.family, old.size));
        let kept: Vec<Score> = others.into_iter().filter(|old| !is_new(old)).collect();
        self.cells.extend(kept);
        let place = |cell: &Score| CELLS.iter().position(|known| *known == (cell.family.as_str(), cell.size));
        // The sort is stable, so the order within a family and size is kept.
        self.cells.sort_by_key(place);
    }
}

/// The families and sizes of words such as `checksum:40`; all for none.
///
/// # Errors
/// If a word names none of [`CELLS`].
pub fn cells(only: &[String]) -> anyhow::Result<Vec<(&'static str, usize)>> {
    let word = |(family, size): &(&str, usize)| format!("{family}:{size}");
    let find = |wanted: &String| {
        let known: Vec<String> = CELLS.iter().map(word).collect();
        let found = CELLS.into_iter().find(|cell| word(cell) == *wanted);
        found.with_context(|| format!("unknown '{wanted}' (known: {})", known.join(", ")))
    };
    match only.is_empty() {
        true => Ok(CELLS.to_vec()),
        false => only.iter().map(find).collect(),
    }
}

/// Predicts and measures the routines of these families and sizes with a build of the command.
///
/// # Errors
/// If the command cannot be started, fails, or prints anything but JSON.
pub fn measure(program: &Path, machine: String, cells: &[(&'static str, usize)]) -> anyhow::Result<Scores> {
    let mut scores = Scores { machine, table: String::new(), llvm_mca: None, cells: Vec::new() };
    for (at, (family, size)) in cells.iter().copied().enumerate() {
        eprintln!("{}/{}: {family} of {size} bytes", at + 1, cells.len());
        let names = names(program, family, size)?;
        let size_word = size.to_string();
        let common = ["--size", size_word.as_str(), "--quiet", "--format", "json"];
        let run = |more: &[&str]| {
            let names = names.iter().map(String::as_str);
            let words: Vec<&str> =
                ["critical"].into_iter().chain(names).chain(common).chain(more.iter().copied()).collect();
            json(program, &words)
        };
        let measured = run(&["--budget", BUDGET])?;
        let calibrated = run(&["--calibrate", "--no-measure", "--no-opinion"])?;
        add(&mut scores, &measured, &calibrated);
    }
    if scores.cells.is_empty() {
        bail!("nothing was measured: no core cycles are known on this machine");
    }
    Ok(scores)
}

/// Updates the predictions of every cell with a build of the command and keeps the measurements, for changes
/// of the predictions only. Calibrated predictions depend on measurements, and are removed.
///
/// # Errors
/// As [`measure`].
pub fn predict_again(program: &Path, scores: &mut Scores) -> anyhow::Result<()> {
    for (at, (family, size)) in CELLS.into_iter().enumerate() {
        eprintln!("{}/{}: {family} of {size} bytes", at + 1, CELLS.len());
        let is_own = |cell: &&mut Score| cell.family == family && cell.size == size;
        let mut names: Vec<String> =
            scores.cells.iter_mut().filter(is_own).map(|cell| format!("{family}/{}", cell.variant)).collect();
        names.dedup();
        if names.is_empty() {
            continue;
        }
        let size_word = size.to_string();
        let common =
            ["--size", size_word.as_str(), "--quiet", "--format", "json", "--no-measure", "--no-opinion"];
        let words: Vec<&str> =
            ["critical"].into_iter().chain(names.iter().map(String::as_str)).chain(common).collect();
        let answer = json(program, &words)?;
        for one in routines(&answer) {
            let variant = one["variant"].as_str();
            let own = scores.cells.iter_mut().filter(is_own);
            own.filter(|cell| variant == Some(cell.variant.as_str())).for_each(|cell| cell.predict(one));
        }
    }
    Ok(())
}

/// The routines of a family that run here at that size and are not known to be wrong.
fn names(program: &Path, family: &str, size: usize) -> anyhow::Result<Vec<String>> {
    let listed = json(program, &["list", "--family", family, "--format", "json"])?;
    let all = listed["variants"].as_array().context("'list' printed no list")?;
    let is_wanted = |variant: &&Value| {
        let name = variant["name"].as_str().unwrap_or_default();
        variant["runs_here"] == true
            && variant["known_bad"] == false
            // The name of a routine for one size ends with it.
            && (size == 40 || !name.ends_with("_40"))
    };
    let named = all.iter().filter(is_wanted).filter_map(|variant| variant["name"].as_str());
    Ok(named.map(|name| format!("{family}/{name}")).collect())
}

fn json(program: &Path, words: &[&str]) -> anyhow::Result<Value> {
    let output = Command::new(program)
        .args(words)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("carryline {} failed: {}", words.first().unwrap_or(&""), output.status);
    }
    serde_json::from_slice(&output.stdout).context("the command printed no JSON")
}

/// The routines of an output, which is a list or a single one.
fn routines(answer: &Value) -> Vec<&Value> {
    answer["variants"].as_array().map_or_else(|| vec![answer], |list| list.iter().collect())
}

/// Adds the cells of one family at one size.
fn add(scores: &mut Scores, measured: &Value, calibrated: &Value) {
    let by_name: BTreeMap<&str, &Value> =
        routines(calibrated).into_iter().filter_map(|one| Some((one["variant"].as_str()?, one))).collect();
    for one in routines(measured) {
        let (Some(family), Some(variant)) = (one["family"].as_str(), one["variant"].as_str()) else {
            continue;
        };
        scores.table = one["microarchitecture"].as_str().unwrap_or_default().to_owned();
        if let Some(model) = one["second_opinion"]["asked"].as_str() {
            scores.llvm_mca = Some(model.to_owned());
        }
        for dependence in ["chained", "independent"] {
            let Some(cycles) = one["measured"]["gross"][dependence].as_f64() else { continue };
            let mut cell = Score {
                family: family.to_owned(),
                variant: variant.to_owned(),
                size: one["size"].as_u64().unwrap_or(0) as usize,
                kind: kind(one, dependence),
                measured: cycles,
                null_call: one["measured"]["null_call"][dependence].as_f64().unwrap_or(0.0),
                bound: None,
                predicted: None,
                calibrated: None,
                llvm_mca: one["second_opinion"][dependence].as_f64(),
                binds: None,
                not_modelled: Vec::new(),
            };
            cell.predict(one);
            cell.calibrated = by_name.get(variant).and_then(|one| one["predicted"][dependence].as_f64());
            scores.cells.push(cell);
        }
    }
}

/// The kind of calls, by the bounds: the path through the argument that chains them, or the work of a call.
fn kind(one: &Value, dependence: &str) -> CallBound {
    if dependence == "independent" {
        return CallBound::Independent;
    }
    let work = one["call"]["throughput"]["cycles"].as_f64().unwrap_or(0.0);
    match one["bounds"]["chained"].as_f64() {
        Some(bound) if bound > work => CallBound::ChainedLatency,
        _ => CallBound::ChainedThroughput,
    }
}

/// Writes the scores of a machine into the folder; returns the path of the file.
///
/// # Errors
/// If the file system refuses.
pub fn write(scores: &Scores, folder: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("{}.json", scores.table));
    let text = serde_json::to_string_pretty(scores)? + "\n";
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    Ok(path)
}

/// The scores of every machine in the folder, in the order of file names.
///
/// # Errors
/// If a file cannot be read.
pub fn read_all(folder: &Path) -> anyhow::Result<Vec<Scores>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    };
    files.iter().map(read).collect()
}

/// The given command, or a fresh build.
///
/// # Errors
/// If the build fails.
pub fn program(given: Option<&Path>, workspace: &Path) -> anyhow::Result<PathBuf> {
    match given {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string()),
        None => drive::build(workspace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_selected_by_name_and_others_are_kept() {
        assert_eq!(cells(&[]).expect("all"), CELLS);
        assert_eq!(cells(&["zero:4096".to_owned()]).expect("one"), [("zero", 4096)]);
        let error = cells(&["zero:40".to_owned()]).expect_err("no such").to_string();
        assert!(error.contains("'zero:40'") && error.contains("checksum:1500"), "{error}");
        let cell = |family: &str, size: usize, measured: f64| Score {
            family: family.to_owned(),
            variant: "v".to_owned(),
            size,
            kind: CallBound::Independent,
            measured,
            null_call: 6.0,
            bound: None,
            predicted: None,
            calibrated: None,
            llvm_mca: None,
            binds: None,
            not_modelled: Vec::new(),
        };
        let of = |table: &str, cells: Vec<Score>| Scores {
            machine: String::new(),
            table: table.to_owned(),
            llvm_mca: None,
            cells,
        };
        let mut new = of("zen5", vec![cell("zero", 4096, 2.0)]);
        let old = of("zen5", vec![cell("zero", 4096, 1.0), cell("checksum", 40, 1.0)]);
        new.keep_others(vec![old, of("zen4", vec![cell("checksum", 576, 1.0)])]);
        let found: Vec<(&str, f64)> = new.cells.iter().map(|c| (c.family.as_str(), c.measured)).collect();
        assert_eq!(found, [("checksum", 1.0), ("zero", 2.0)]);
    }

    #[test]
    fn an_output_becomes_two_cells() {
        let one = json!({
            "family": "checksum", "variant": "dr1", "size": 576, "microarchitecture": "zen5",
            "call": { "throughput": { "cycles": 36.0 } },
            "bounds": { "chained": 153.0, "independent": 36.0 },
            "predicted": { "chained": 153.0, "independent": 80.0 },
            "binds": { "chained": { "part": "chain" }, "independent": null },
            "measured": { "gross": { "chained": 154.0, "independent": 94.0 },
                          "null_call": { "chained": 6.0, "independent": 7.0 } },
            "not_modelled": [],
        });
        let mut scores =
            Scores { machine: String::new(), table: String::new(), llvm_mca: None, cells: Vec::new() };
        add(&mut scores, &one, &one);
        let kinds: Vec<CallBound> = scores.cells.iter().map(|cell| cell.kind).collect();
        assert_eq!(kinds, [CallBound::ChainedLatency, CallBound::Independent]);
        assert_eq!(scores.cells[1].calibrated, Some(80.0));
        assert_eq!(scores.cells[0].binds.as_deref(), Some("chain"));
        assert_eq!(scores.table, "zen5");
        let mut again = one;
        again["predicted"]["independent"] = json!(90.0);
        scores.cells[1].predict(&again);
        let cell = &scores.cells[1];
        assert_eq!((cell.predicted, cell.calibrated, cell.measured), (Some(90.0), None, 94.0));
    }
}
