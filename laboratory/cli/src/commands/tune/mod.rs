//! `carryline tune`: what this machine is best off with, searched for, verified, confirmed, and kept as a profile.

mod c_library;
mod library;
mod screen;

use crate::cli::{Common, Tune};
use crate::output;
use carryline_engine::failure::{Failure, usage};
use carryline_engine::machine::Here;
use carryline_engine::progress::Progress;
use carryline_engine::session;
use carryline_tune::LEAST_BUDGET;
use carryline_tune::arms::Lab;

/// Tunes the library or the C library.
pub fn run(args: &Tune, common: &Common) -> Result<u8, Failure> {
    if args.budget < LEAST_BUDGET {
        return Err(usage(format!(
            "--budget: a search and its confirmation take at least {} s",
            LEAST_BUDGET.as_secs()
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
        c_library::run(args, &lab, &here, common)
    } else {
        library::run(args, &lab, &here, common)
    }
}
