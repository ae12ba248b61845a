//! `carryline tune`: what this machine is best off with, searched for, verified, confirmed, and kept as a profile.

mod c_library;
mod library;
mod screen;

use crate::cli::{Common, Tune};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_engine::{select, session};
use carryline_tune::arms::Lab;
use carryline_tune::least_budget;
use std::time::Duration;

/// Tunes the library or the C library.
pub fn run(args: &Tune, common: &Common) -> Result<u8, Failure> {
    let families = select::families(&args.family)?;
    let least = if args.check.is_some() { Duration::ZERO } else { least_budget(&families) };
    if args.budget < least {
        return Err(usage(format!(
            "--budget: a search and its confirmation take at least {} s; fewer families (--family) take less",
            least.as_secs()
        )));
    }
    let here = Here::look();
    let supervisor = session::supervisor(args.patience)?;
    let progress = Progress::new(args.budget, common.quiet);
    let lab = Lab {
        supervisor: &supervisor,
        caches: here.caches,
        cpu: here.cpu(args.cpu)?,
        progress: &progress,
        seed: session::seed(common.seed),
    };
    output::warn(&carryline_warnings::of_environment(&here.environment), common);
    if args.libc {
        c_library::run(args, &families, &lab, &here, common)
    } else {
        library::run(args, &families, &lab, &here, common)
    }
}
