//! The table of a CPU without one: width, ports and latencies, measured once and stored in the user's cache
//! folder.

use super::calibration;
use crate::cli::Common;
use crate::inlining::cache::user_folder;
use crate::output;
use carryline_chain::calibrate::Calibration;
use carryline_chain::calibrate::rates::{self, Rates};
use carryline_chain::table::Table;
use carryline_chain::{Key, Latencies};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The approximate time of measuring width and ports.
const EXPECTED: Duration = Duration::from_secs(2);

/// The stored measurements of a CPU.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    /// The CPU; the file of another one is ignored.
    cpu: String,
    rates: Rates,
    /// Latencies in core cycles, by printed key.
    latencies: BTreeMap<String, f64>,
    /// The printed keys of latencies that cannot be measured.
    #[serde(default)]
    left_out: BTreeSet<String>,
}

impl Stored {
    /// True if all of these latencies were measured or cannot be.
    fn covers(&self, keys: &BTreeSet<Key>) -> bool {
        let is_known = |key: String| self.latencies.contains_key(&key) || self.left_out.contains(&key);
        !self.latencies.is_empty() && keys.iter().all(|key| is_known(key.to_string()))
    }
}

/// The measured table of a CPU.
#[derive(Debug)]
pub struct OwnTable {
    /// The nearest table, with measured width and ports.
    pub table: &'static Table,
    stored: Stored,
}

/// The CPU's name in a form that suits file names.
fn name(here: &Here) -> String {
    let cpu = &here.environment.cpu;
    let vendor = cpu.vendor.as_deref().unwrap_or("unknown");
    let vendor: String = vendor.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{vendor}-{}-{}", cpu.family.unwrap_or(0), cpu.model.unwrap_or(0))
}

fn file(cpu: &str) -> Option<PathBuf> {
    user_folder("calibration").map(|folder| folder.join(format!("{cpu}.json")))
}

fn load(path: &Path, cpu: &str) -> Option<Stored> {
    let stored: Stored = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    (stored.cpu == cpu).then_some(stored)
}

/// The table of this CPU, measured if it is not stored; `None`, with a note, if that fails.
pub fn measured(nearest: &Table, here: &Here, cpu: Option<usize>, common: &Common) -> Option<OwnTable> {
    let name = name(here);
    let stored = match file(&name).and_then(|path| load(&path, &name)) {
        Some(stored) => stored,
        None => {
            let text = format!(
                "there is no table for this CPU; measuring its width, ports and latencies ({})",
                nearest.title
            );
            output::note(&text, common);
            Stored { cpu: name, rates: measure(cpu, common)?, ..Stored::default() }
        }
    };
    match stored.rates.table(nearest) {
        Ok(table) => Some(OwnTable { table, stored }),
        Err(error) => {
            output::note(&format!("{error}: using the nearest table, {}", nearest.title), common);
            None
        }
    }
}

fn measure(cpu: Option<usize>, common: &Common) -> Option<Rates> {
    let progress = Progress::new(EXPECTED, common.quiet);
    let found = calibration::pinned(cpu, |clock| {
        rates::rates(clock, &mut |done, all| {
            progress.say(format!("measuring width and ports ({done} of {all})"));
        })
    });
    progress.finish();
    found.map_err(|error| output::note(&error.to_string(), common)).ok()
}

impl OwnTable {
    /// Overlays the stored latencies on the table; measures and stores them first if one is missing, or on
    /// request.
    pub fn overlay(
        &mut self,
        latencies: &mut Latencies,
        keys: BTreeSet<Key>,
        cpu: Option<usize>,
        requested: bool,
        common: &Common,
    ) -> Option<Calibration> {
        if !requested && self.stored.covers(&keys) {
            let known = keys.into_iter().filter_map(|key| {
                let cycles = *self.stored.latencies.get(&key.to_string())?;
                Some((key, cycles))
            });
            latencies.overlay(known);
            return None;
        }
        let calibration = calibration::overlay(latencies, keys, cpu, common)?;
        if calibration.problems().is_empty() {
            let measured = calibration.measured.iter().map(|one| (one.key.to_string(), one.cycles));
            self.stored.latencies.extend(measured);
            self.stored.left_out.extend(calibration.left_out.iter().map(|(key, _)| key.to_string()));
            if let Err(error) = self.store() {
                output::note(&format!("the calibration cannot be stored: {error}"), common);
            }
        }
        Some(calibration)
    }

    fn store(&self) -> std::io::Result<()> {
        let Some(path) = file(&self.stored.cpu) else { return Ok(()) };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, serde_json::to_vec(&self.stored)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn stored_latencies_cover_only_keys_that_were_measured_or_left_out() {
        let mut keys = calibration::keys_of_collection();
        let mut stored = Stored::default();
        assert!(!stored.covers(&BTreeSet::new()), "nothing was measured");
        let (left_out, missing) = (keys.pop_first().expect("a key"), keys.pop_first().expect("a key"));
        stored.latencies = keys.iter().map(|key| (key.to_string(), 1.0)).collect();
        assert!(stored.covers(&keys));
        stored.left_out.insert(left_out.to_string());
        keys.insert(left_out);
        assert!(stored.covers(&keys));
        keys.insert(missing);
        assert!(!stored.covers(&keys));
    }

    #[test]
    fn the_file_of_another_cpu_or_a_damaged_one_is_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one.json");
        let stored = Stored { cpu: "one".into(), ..Stored::default() };
        std::fs::write(&path, serde_json::to_vec(&stored).expect("JSON")).expect("a file");
        assert!(load(&path, "one").is_some());
        assert!(load(&path, "other").is_none());
        std::fs::write(&path, "nonsense").expect("a file");
        assert!(load(&path, "one").is_none());
    }
}
