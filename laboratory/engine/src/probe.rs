//! Probes: measurements that an experiment makes itself because the sampler's cells cannot express them, such
//! as a page fault, a context switch or a system call.
//!
//! Like all measurements, a probe runs in a worker process of its own, so that a crash or a hang costs one
//! row, which states the reason. The worker sets the probe up once ([`Probe::start`]) and then asks for
//! rounds ([`Rounds::round`]), each of which yields one sample per series. The command repeats this in
//! several processes; the statistics are those of all other figures. Times are in ticks of
//! [`carryline_machine::clock`], less [`clock::overhead_ticks`] where that matters.
//!
//! Rules for authors:
//! - A round measures every series once. Series that are compared are measured in random order, so that their
//!   ratios can be paired.
//! - One series under two names is an A/A pair ([`Rounds::twins`]), which gives the noise floor.
//! - Call [`StatusPage::beat`] at least every few seconds; otherwise the worker counts as hung.
//! - Return [`Impossible`] for what cannot be done on this machine, with a reason for the user.
//! - Report properties of the setup as facts ([`Rounds::facts`]): pages were untouched, sums agreed. Tests
//!   check facts, not times. Their type is the experiment's own; the engine passes them on.
//! - Report a series that cannot take part as [`Unusable`], with the reason ([`Rounds::unusable`]).
//! - Call a routine of the collection only after verifying it with [`Setup::verified`].

use carryline_machine::arena::MapError;
use carryline_machine::clock;
use carryline_machine::environment::CacheSizes;
use carryline_results::claims::Unit;
use carryline_variants::Family;
use carryline_verification::status::StatusPage;
use carryline_verification::subject::Subject;
use carryline_verification::{self as verify, Copying, Depth, Verified, Zeroing};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A measurement that an experiment makes itself.
#[derive(Debug)]
pub struct Probe {
    /// Its file's name.
    pub name: &'static str,
    /// What it measures, in one sentence.
    pub what: &'static str,
    /// Sets the probe up in the worker process.
    pub start: fn(&Setup<'_>) -> Result<Box<dyn Rounds>, Impossible>,
}

/// The arguments of [`Probe::start`].
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The experiment's parameters: see [`Setup::parameters()`].
    pub parameters: &'a serde_json::Value,
    /// The random seed; it differs between replicates.
    pub seed: u64,
    /// The number of the replicate.
    pub replicate: u32,
    /// The machine's caches.
    pub caches: CacheSizes,
    /// The logical CPU to which this process is pinned, if any.
    pub cpu: Option<usize>,
    /// Clock ticks per nanosecond.
    pub ticks_per_ns: f64,
    /// The page for heartbeats.
    pub status: &'a StatusPage,
}

impl Setup<'_> {
    /// The experiment's parameters as a type of its own; the default if there are none.
    ///
    /// # Errors
    /// [`Impossible`] if the parameters have another form, with the reason.
    pub fn parameters<P: DeserializeOwned + Default>(&self) -> Result<P, Impossible> {
        Option::<P>::deserialize(self.parameters)
            .map(Option::unwrap_or_default)
            .map_err(|error| Impossible(format!("unusable parameters {}: {error}", self.parameters)))
    }

    /// A variant of the collection, verified in this process. Its subject is leaked: the worker ends with the
    /// measurement.
    ///
    /// # Errors
    /// [`Impossible`] if there is no such variant, the CPU cannot run it, or it is wrong.
    pub fn verified(&self, family: Family, name: &str) -> Result<Verified<'static>, Impossible> {
        let variant = carryline_variants::find(family, name)
            .ok_or_else(|| Impossible(format!("there is no variant {family}/{name}")))?;
        let subject: &'static Subject = Box::leak(Box::new(Subject::of_variant(variant)));
        verify::prove(subject, Depth::Replicate, self.seed, self.status, u64::MAX)
            .map(|(verified, _)| verified)
            .map_err(|failure| Impossible(format!("{family}/{name}: {failure}")))
    }

    /// The first of these zeroing variants that can run here and is verified in this process, with its name.
    ///
    /// # Errors
    /// [`Impossible`] if there is none, with the reason for the last name.
    pub fn zeroing(&self, names: &[&'static str]) -> Result<(&'static str, Zeroing), Impossible> {
        let mut reason = Impossible("no zeroing variant was named".to_owned());
        for name in names {
            match self.verified(Family::Zero, name).map(|verified| verified.zeroing()) {
                Ok(Some(routine)) => return Ok((name, routine)),
                Ok(None) => {}
                Err(why) => reason = why,
            }
        }
        Err(reason)
    }

    /// The first of these copying variants that can run here and is verified in this process, with its name.
    ///
    /// # Errors
    /// As [`Setup::zeroing`].
    pub fn copying(&self, names: &[&'static str]) -> Result<(&'static str, Copying), Impossible> {
        let mut reason = Impossible("no copying variant was named".to_owned());
        for name in names {
            match self.verified(Family::Copy, name).map(|verified| verified.copying()) {
                Ok(Some(routine)) => return Ok((name, routine)),
                Ok(None) => {}
                Err(why) => reason = why,
            }
        }
        Err(reason)
    }
}

/// Why something cannot be measured here, for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Impossible(pub String);

impl From<MapError> for Impossible {
    fn from(error: MapError) -> Impossible {
        Impossible(error.to_string())
    }
}

/// The name and unit of one sample per round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// A name that is unique in the probe.
    pub name: String,
    /// The unit of its samples.
    pub unit: Unit,
}

impl Series {
    /// A series of times in ticks of the clock.
    #[must_use]
    pub fn ticks(name: impl Into<String>) -> Series {
        Series { name: name.into(), unit: Unit::Ticks }
    }
}

/// Series that take no part in a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unusable {
    /// The prefix of their names.
    pub series: String,
    /// The reason, for the user.
    pub reason: String,
}

impl Unusable {
    /// Excludes the series whose names have this prefix.
    #[must_use]
    pub fn new(series: impl Into<String>, reason: impl ToString) -> Unusable {
        Unusable { series: series.into(), reason: reason.to_string() }
    }
}

/// A probe that has been set up.
pub trait Rounds {
    /// The series that each round samples.
    fn series(&self) -> Vec<Series>;

    /// A/A pairs: indices of series that measure the same thing.
    fn twins(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Measures every series once, and returns a sample of each; `NaN` for one that failed this time.
    ///
    /// # Errors
    /// [`Impossible`] ends the probe.
    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible>;

    /// The facts established besides the samples, called after the last round; the type is the experiment's
    /// own.
    fn facts(&mut self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// The series that take no part, with the reasons.
    fn unusable(&self) -> Vec<Unusable> {
        Vec::new()
    }

    /// The most rounds to measure.
    fn most_rounds(&self) -> u32 {
        64
    }
}

/// The ticks that `action` takes, less the given overhead of the clock.
#[inline(always)]
pub fn time(overhead_ticks: f64, action: impl FnOnce()) -> f64 {
    let begin = clock::start();
    action();
    clock::stop().wrapping_sub(begin) as f64 - overhead_ticks
}
