//! `carryline audit`: what is wrong with the implementations that people run, and with the checksums in captures.

mod capture;
mod implementations;

use crate::cli::{Adapter, Audit, Audited, Common};
use carryline_audit::serve;
use carryline_engine::failure::Failure;

/// Audits implementations, or captures.
pub fn run(args: &Audit, common: &Common) -> Result<u8, Failure> {
    match &args.other {
        None => implementations::run(args, common),
        Some(Audited::Capture(args)) => capture::run(args, common),
    }
}

/// `carryline adapter`: the command started by itself, to answer an audit's requests in a process that may crash.
pub fn adapter(args: &Adapter) -> Result<u8, Failure> {
    serve::serve(serve::adapter(&args.words))?;
    Ok(0)
}
