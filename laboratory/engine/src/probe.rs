//! What an experiment times itself, where the sampler's cells cannot hold it: set up in a worker process, then sampled
//! round by round: a page fault, a task switch, a system call.
//!
//! A probe runs in a worker process of its own, like everything that is timed: a crash or a hang costs one row that says
//! so. A worker starts it once ([`Probe::start`]) and asks for rounds ([`Rounds::round`]), each of which fills in one
//! sample for every series; the command repeats that in several processes, and the statistics are those of all other figures. Times
//! are in ticks of [`carryline_machine::clock`], less [`clock::overhead_ticks`] where that matters.
//!
//! Rules for an author:
//! - each round measures every series once, in random order where they compete, so that ratios can be paired;
//! - one series twice, under two names, makes an A/A pair ([`Rounds::twins`]), from which the noise floor comes;
//! - [`StatusPage::beat`] at least every few seconds, or the worker counts as hung;
//! - what cannot be done on this machine is [`Impossible`], with the reason in words for a user;
//! - what was set up is a fact ([`Rounds::facts`]): pages that were untouched, sums that agreed; tests look at these
//!   and not at times. Facts are a structure of the experiment's own, which the engine passes on;
//! - what takes no part for a reason of its own is [`Unusable`], with the reason ([`Rounds::unusable`]);
//! - a routine of the collection is called only once it is verified: [`Setup::verified`].

use carryline_machine::clock;
use carryline_machine::environment::CacheSizes;
use carryline_results::claims::Unit;
use carryline_variants::Family;
use carryline_verification::status::StatusPage;
use carryline_verification::subject::Subject;
use carryline_verification::{self as verify, Copying, Depth, Verified, Zeroing};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What an experiment times itself.
#[derive(Debug)]
pub struct Probe {
    /// Its file's name.
    pub name: &'static str,
    /// What it measures, in a sentence.
    pub what: &'static str,
    /// Sets it up in the worker process.
    pub start: fn(&Setup<'_>) -> Result<Box<dyn Rounds>, Impossible>,
}

/// What a probe is set up with.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// What the experiment requested: see [`Setup::parameters()`].
    pub parameters: &'a serde_json::Value,
    /// Decides everything that is drawn. It differs from replicate to replicate.
    pub seed: u64,
    /// Number of the replicate.
    pub replicate: u32,
    /// The machine's caches.
    pub caches: CacheSizes,
    /// The logical CPU that this process stays on, if any.
    pub cpu: Option<usize>,
    /// Ticks of the clock per nanosecond.
    pub ticks_per_ns: f64,
    /// To beat on.
    pub status: &'a StatusPage,
}

impl Setup<'_> {
    /// What the experiment asked for, in a structure of its own; the default where it asked for nothing.
    ///
    /// # Errors
    /// [`Impossible`] for parameters of another form, which names what is wrong with them.
    pub fn parameters<P: DeserializeOwned + Default>(&self) -> Result<P, Impossible> {
        Option::<P>::deserialize(self.parameters)
            .map(Option::unwrap_or_default)
            .map_err(|error| Impossible(format!("unusable parameters {}: {error}", self.parameters)))
    }

    /// A variant of the collection, verified in this process. The worker ends with the measurement, so its
    /// subject is never freed.
    ///
    /// # Errors
    /// [`Impossible`] when there is no such variant, the CPU lacks what it needs, or it is wrong.
    pub fn verified(&self, family: Family, name: &str) -> Result<Verified<'static>, Impossible> {
        let variant = carryline_variants::find(family, name)
            .ok_or_else(|| Impossible(format!("there is no variant {family}/{name}")))?;
        let subject: &'static Subject = Box::leak(Box::new(Subject::of_variant(variant)));
        verify::prove(subject, Depth::Replicate, self.seed, self.status, u64::MAX)
            .map(|(verified, _)| verified)
            .map_err(|failure| Impossible(format!("{family}/{name}: {failure}")))
    }

    /// The first of these ways to zero that runs here, verified in this process, with its name.
    ///
    /// # Errors
    /// [`Impossible`] when none of them does; the reason is that of the last.
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

    /// The first of these ways to copy that runs here, verified in this process, with its name.
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

/// Why something cannot be measured here, in words for a user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Impossible(pub String);

/// A name and a unit for one sample of every round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// Unique in its probe.
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

/// What takes no part in a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unusable {
    /// What the names of its series begin with.
    pub series: String,
    /// Why, in words for a user.
    pub reason: String,
}

impl Unusable {
    /// Series whose names begin so, and why they take no part.
    #[must_use]
    pub fn new(series: impl Into<String>, reason: impl ToString) -> Unusable {
        Unusable { series: series.into(), reason: reason.to_string() }
    }
}

/// A probe that has been set up.
pub trait Rounds {
    /// What each round samples.
    fn series(&self) -> Vec<Series>;

    /// A/A pairs: indices of series that measure the same thing.
    fn twins(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Measures every series once: a sample each, `NaN` for one that failed this time.
    ///
    /// # Errors
    /// [`Impossible`], after which no further round is made.
    fn round(&mut self, status: &StatusPage) -> Result<Vec<f64>, Impossible>;

    /// What was established besides the samples, once the rounds are made: a structure of the experiment's own.
    fn facts(&mut self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// What takes no part, and why.
    fn unusable(&self) -> Vec<Unusable> {
        Vec::new()
    }

    /// Rounds that are enough.
    fn most_rounds(&self) -> u32 {
        64
    }
}

/// Ticks that `action` takes, less the clock's own cost as given.
#[inline(always)]
pub fn time(overhead_ticks: f64, action: impl FnOnce()) -> f64 {
    let begin = clock::start();
    action();
    clock::stop().wrapping_sub(begin) as f64 - overhead_ticks
}
