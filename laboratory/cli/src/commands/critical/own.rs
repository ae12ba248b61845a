//! A CPU without a table gets one of its own: width, ports and latencies measured once and kept in the user's cache folder.

use super::calibration;
use crate::cli::Common;
use crate::inlining::cache::user_folder;
use crate::output;
use carryline_chain::calibrate::rates::{self, Rates};
use carryline_chain::calibrate::{Calibration, Clock};
use carryline_chain::table::Table;
use carryline_chain::{Key, Latencies};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_machine::{clock, process};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the measurement of width and ports takes, roughly.
const EXPECTED: Duration = Duration::from_secs(2);

/// What was measured of a CPU.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// The CPU; a file of another one is not read.
    cpu: String,
    rates: Rates,
    /// By key, as printed: core cycles.
    latencies: BTreeMap<String, f64>,
}

/// The measured table of a CPU.
#[derive(Debug)]
pub struct Own {
    /// The nearest table with measured width and ports.
    pub table: &'static Table,
    kept: Kept,
}

/// The CPU in a word that serves as a file's name.
fn name(here: &Here) -> String {
    let cpu = &here.environment.cpu;
    let vendor = cpu.vendor.as_deref().unwrap_or("unknown");
    let vendor: String = vendor.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{vendor}-{}-{}", cpu.family.unwrap_or(0), cpu.model.unwrap_or(0))
}

fn file(cpu: &str) -> Option<PathBuf> {
    user_folder("calibration").map(|folder| folder.join(format!("{cpu}.json")))
}

fn recall(path: &Path, cpu: &str) -> Option<Kept> {
    let kept: Kept = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (kept.cpu == cpu).then_some(kept)
}

/// The table of this CPU, measured now unless it was before; `None`, with a remark, where that is not possible.
pub fn measured(nearest: &Table, here: &Here, cpu: Option<usize>, common: &Common) -> Option<Own> {
    let name = name(here);
    let known = file(&name).and_then(|path| recall(&path, &name));
    let kept = match known {
        Some(kept) => kept,
        None => {
            let text = format!(
                "there is no table for this CPU: its width, ports and latencies are measured ({})",
                nearest.title
            );
            output::note(&text, common);
            Kept { cpu: name, rates: measure(cpu, common)?, latencies: BTreeMap::new() }
        }
    };
    match kept.rates.table(nearest) {
        Ok(table) => Some(Own { table, kept }),
        Err(error) => {
            output::note(&format!("{error}: the nearest table is used, {}", nearest.title), common);
            None
        }
    }
}

fn measure(cpu: Option<usize>, common: &Common) -> Option<Rates> {
    let progress = Progress::new(EXPECTED, common.quiet);
    // In a separate thread, because the affinity persists.
    let measure = || {
        let _measured_all_the_same = cpu.map(process::pin);
        let clock = Clock { start: clock::start, stop: clock::stop, overhead_ticks: clock::overhead_ticks() };
        rates::rates(clock, &mut |done, all| {
            progress.say(format!("measuring width and ports ({done} of {all})"));
        })
    };
    let found = std::thread::scope(|scope| match scope.spawn(measure).join() {
        Ok(found) => found,
        Err(panic) => std::panic::resume_unwind(panic),
    });
    progress.finish();
    found.map_err(|error| output::note(&error.to_string(), common)).ok()
}

impl Own {
    /// Lays the latencies over the table: those that were kept, or, where one of the keys is not among them, all measured anew
    /// and kept.
    pub fn overlay(
        &mut self,
        latencies: &mut Latencies,
        keys: BTreeSet<Key>,
        cpu: Option<usize>,
        common: &Common,
    ) -> Option<Calibration> {
        let known: Vec<(Key, f64)> = keys
            .iter()
            .filter_map(|key| Some((key.clone(), *self.kept.latencies.get(&key.to_string())?)))
            .collect();
        if !self.kept.latencies.is_empty() {
            latencies.overlay(known);
            return None;
        }
        let calibration = calibration::overlay(latencies, keys, cpu, common)?;
        if calibration.problems().is_empty() {
            let measured = calibration.measured.iter().map(|one| (one.key.to_string(), one.cycles));
            self.kept.latencies = measured.collect();
            if let Err(error) = self.keep() {
                output::note(&format!("the calibration could not be kept: {error}"), common);
            }
        }
        Some(calibration)
    }

    fn keep(&self) -> std::io::Result<()> {
        let Some(path) = file(&self.kept.cpu) else { return Ok(()) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, serde_json::to_vec(&self.kept)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_cpu_or_of_nonsense_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one.json");
        let kept = Kept { cpu: "one".into(), ..Kept::default() };
        std::fs::write(&path, serde_json::to_vec(&kept).expect("JSON")).expect("a file");
        assert!(recall(&path, "one").is_some());
        assert!(recall(&path, "other").is_none());
        std::fs::write(&path, "nonsense").expect("a file");
        assert!(recall(&path, "one").is_none());
    }
}
