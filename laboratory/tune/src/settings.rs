//! The decisions of a profile, without its name and source.

use crate::arms::Arm;
use crate::ladder::Thresholds;
use crate::questions::{Question, SHARE};
use crate::thresholds::Knobs;
use carryline::internals::cpu;
use carryline::internals::dispatch::{Function, kernels};
use carryline::internals::tuning::{DETECTED, Decision, Decisions, Models, Profile, detected_here};
use carryline_variants::Family;
use std::path::Path;

/// The decisions and kernels of a profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The preferred kernel of each function, in the order of [`Function::ALL`].
    pub kernels: [Option<&'static str>; Function::ALL.len()],
    /// The numbers.
    pub decisions: Decisions,
}

impl From<&Profile<'_>> for Settings {
    fn from(profile: &Profile<'_>) -> Settings {
        Settings { kernels: profile.kernels, decisions: profile.decisions }
    }
}

impl Settings {
    /// The value of a decision in bytes; `u64::MAX` for never.
    #[must_use]
    pub fn bytes(&self, decision: Decision) -> u64 {
        match self.decisions.get(decision) {
            usize::MAX => u64::MAX,
            bytes => bytes as u64,
        }
    }

    /// These settings with another value of a decision, clamped to its bounds.
    #[must_use]
    pub fn with(self, decision: Decision, bytes: u64) -> Settings {
        let bounds = decision.bounds();
        let bytes = match usize::try_from(bytes) {
            Ok(bytes) if decision.allows(bytes) => bytes,
            Ok(bytes) => bytes.clamp(*bounds.start(), *bounds.end()),
            Err(_) => *bounds.end(),
        };
        let decisions = self.decisions.with(decision, bytes).unwrap_or(self.decisions);
        Settings { decisions, ..self }
    }

    /// These settings with another kernel of a function.
    #[must_use]
    pub fn with_kernel(mut self, function: Function, kernel: Option<&'static str>) -> Settings {
        self.kernels[function as usize] = kernel;
        self
    }

    /// The kernel that a function uses on this CPU with these settings.
    #[must_use]
    pub fn kernel(&self, function: Function) -> &'static str {
        let preferred = self.kernels[function as usize];
        let usable =
            || kernels(function).filter(|(_, needs)| cpu::features().contains(*needs)).map(|(name, _)| name);
        // The last kernel of every list runs on any CPU.
        preferred
            .filter(|name| usable().any(|usable| usable == *name))
            .or_else(|| usable().next())
            .unwrap_or("portable")
    }

    /// These settings with kernels that this CPU can run. A process refuses a profile that prefers others, such as one of an
    /// AVX-512 machine where `CARRYLINE_MASK` hides AVX-512.
    fn runnable(mut self) -> Settings {
        for function in Function::ALL {
            let preferred = self.kernels[function as usize];
            self.kernels[function as usize] = preferred.map(|_| self.kernel(function));
        }
        self
    }

    /// The text of a profile with these settings.
    #[must_use]
    pub fn to_file(&self, name: &str, source: &str, run: Option<&str>, models: Option<Models>) -> String {
        Profile { name, source, run, cpu: models, kernels: self.kernels, decisions: self.decisions }
            .to_string()
    }
}

impl Knobs for Settings {
    fn thresholds(&self, question: &Question) -> Thresholds {
        let non_temporal = question.non_temporal.map_or(u64::MAX, |name| {
            let bytes = match self.bytes(decision(name)) {
                bytes if bytes == DETECTED as u64 => detected_share(),
                bytes => bytes,
            };
            question.non_temporal_from(bytes)
        });
        Thresholds { alternative: self.bytes(decision(question.alternative)), non_temporal }
    }

    fn set(&self, name: &'static str, bytes: u64) -> Settings {
        self.with(decision(name), bytes)
    }

    fn arm(&self, label: &str, folder: &Path) -> std::io::Result<Arm> {
        let path = folder.join(format!("{}.toml", label.replace(' ', "-")));
        std::fs::write(&path, self.runnable().to_file(label, "an arm of a comparison", None, None))?;
        let path = path.to_str().ok_or_else(|| {
            std::io::Error::other("the folder for temporary files has a name that is not UTF-8")
        })?;
        Ok(Arm { label: label.to_owned(), environment: vec![(VARIABLE.to_owned(), path.to_owned())] })
    }

    fn methods(&self, questions: &[Question]) -> Vec<(&'static str, Settings)> {
        let with = |alternative: u64, around: u64| {
            questions.iter().fold(*self, |settings, question| {
                let settings = settings.with(decision(question.alternative), alternative);
                question.non_temporal.map_or(settings, |name| settings.with(decision(name), around))
            })
        };
        // Clamped to the bounds of each decision.
        let (least, most) = (1, u64::MAX);
        if questions.iter().all(|question| question.non_temporal.is_none()) {
            return vec![
                ("neither prefetching nor clzero", with(most, most)),
                ("prefetching or clzero", with(least, most)),
            ];
        }
        vec![
            ("loops", with(most, most)),
            ("string instructions", with(least, most)),
            ("non-temporal stores", with(most, least)),
        ]
    }
}

/// The share of the caches that a profile gets which leaves it to detection. The active profile may be another.
fn detected_share() -> u64 {
    detected_here(decision(SHARE)) as u64
}

/// The environment variable that names the profile of a process.
pub const VARIABLE: &str = "CARRYLINE_TUNING";

/// The decision with this name in files.
///
/// # Panics
/// Panics if there is none: the names come from this program.
#[must_use]
pub fn decision(name: &str) -> Decision {
    let found = Decision::ALL.iter().find(|decision| decision.name() == name);
    *found.unwrap_or_else(|| panic!("no decision is named {name}"))
}

/// The library's function for a family.
#[must_use]
pub const fn function(family: Family) -> Function {
    match family {
        Family::Zero => Function::Zero,
        Family::Copy => Function::Copy,
        Family::Checksum => Function::Checksum,
        Family::CopyChecksum => Function::CopyAndSum,
    }
}

/// A value as text for the user: `25 KiB`, `never`, `detected`.
#[must_use]
pub fn shown(decision: Decision, bytes: u64) -> String {
    match bytes {
        u64::MAX => "never".to_owned(),
        _ if bytes == DETECTED as u64 => "detected".to_owned(),
        _ if decision.unit() == "bytes" && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        // Exact: a whole number of KiB, or bytes.
        _ if decision.unit() == "bytes" && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ if decision.unit() == "bytes" => format!("{bytes} bytes"),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carryline::internals::tuning::{built_in, built_in_names};

    /// The active profile must not be taken for what is detected: it may be the one that is checked.
    #[test]
    fn a_share_of_the_active_profile_is_not_the_detected_one() {
        let detected = Settings::from(built_in("unmeasured").expect("it is built in"));
        let share = decision(SHARE);
        assert_eq!(detected.bytes(share), DETECTED as u64);
        let other = detected.with(share, detected_share() / 4);
        carryline::tuning::apply(&other.to_file("another share", "a test", None, None)).expect("a profile");
        let changes = crate::change::changes(&detected, &other).expect("sizes can be read");
        let [change] = changes.as_slice() else { panic!("{changes:?}") };
        assert!(change.name == SHARE && !change.cells.is_empty(), "{change:?}");
    }

    #[test]
    fn an_arm_of_any_profile_is_accepted_here() {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        for name in built_in_names() {
            let settings = Settings::from(built_in(name).expect("a name from the list"));
            let arm = settings.arm("an arm", folder.path()).expect("a file can be written");
            let text = std::fs::read_to_string(&arm.environment[0].1).expect("the file was written");
            for function in Function::ALL {
                let line = format!("{} = \"{}\"", function.name(), settings.kernel(function));
                assert!(
                    settings.kernels[function as usize].is_none() || text.contains(&line),
                    "{name}: {text}"
                );
            }
        }
    }
}
