//! `carryline tune`: searches for the best settings on this machine, verifies and confirms them, and writes a
//! profile.

mod c_library;
mod library;
mod screen;

use crate::cli::{Common, Tune};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_engine::{select, session};
use carryline_results::SCHEMA_VERSION;
use carryline_tune::arms::Lab;
use carryline_tune::confirm::Confirmed;
use carryline_tune::least_budget;
use carryline_tune::output::DecisionRow;
use carryline_tune::thresholds::Measured;
use carryline_variants::Family;
use serde::Serialize;
use std::cell::RefCell;
use std::time::Duration;

/// Tunes the library or the C library.
pub fn run(args: &Tune, common: &Common) -> Result<u8, Failure> {
    let mut families = select::families(&args.family)?;
    let no_tunables = |family: &&String| {
        Family::from_name(family).is_some_and(|family| !carryline_tune::c_library::FAMILIES.contains(&family))
    };
    if let Some(family) = args.family.iter().find(no_tunables).filter(|_| args.libc) {
        return Err(usage(format!("--family {family}: --libc tunes zero and copy only")));
    }
    if args.libc {
        families.retain(|family| carryline_tune::c_library::FAMILIES.contains(family));
    }
    let least = if args.check.is_some() { Duration::ZERO } else { least_budget(&families) };
    if args.budget < least {
        return Err(usage(format!(
            "--budget: a search and its confirmation take at least {} s; fewer families (--family) take less",
            least.as_secs()
        )));
    }
    let here = Here::look();
    let supervisor = session::supervisor(args.workers.patience)?;
    let progress = Progress::new(args.budget, common.quiet);
    let lab = Lab {
        supervisor: &supervisor,
        caches: here.caches,
        cpu: here.cpu(args.workers.cpu)?,
        progress: &progress,
        seed: session::seed(common.seed),
        may_cost: args.may_cost / 100.0,
        lost: RefCell::default(),
    };
    output::warn(&carryline_warnings::of_environment(&here.environment), common);
    let status = match args.libc {
        true => c_library::run(args, &families, &lab, &here, common)?,
        false => library::run(args, &families, &lab, &here, common)?,
    };
    for sentence in lab.lost.borrow().iter() {
        output::note(sentence, common);
    }
    Ok(status)
}

/// The result in JSON.
#[derive(Serialize)]
struct TuneAnswer<'a> {
    schema_version: u32,
    seed: u64,
    environment: serde_json::Value,
    decisions: Vec<DecisionRow>,
    confirmation: Vec<&'a Confirmed>,
    /// The measurements of the search.
    measured: &'a [Measured],
    /// The text of the profile, if something was kept.
    profile: Option<&'a str>,
    libc: Option<LibcAnswer<'a>>,
}

/// The part about the C library.
#[derive(Serialize)]
struct LibcAnswer<'a> {
    /// The value of `GLIBC_TUNABLES`; null if none is recommended.
    tunables: Option<String>,
    decisions: Vec<DecisionRow>,
    confirmation: Vec<&'a Confirmed>,
}

impl TuneAnswer<'_> {
    /// A result without decisions.
    fn new(lab: &Lab<'_>, here: &Here) -> Result<Self, Failure> {
        Ok(TuneAnswer {
            schema_version: SCHEMA_VERSION,
            seed: lab.seed,
            environment: serde_json::to_value(&here.environment)?,
            decisions: Vec::new(),
            confirmation: Vec::new(),
            measured: &[],
            profile: None,
            libc: None,
        })
    }
}
