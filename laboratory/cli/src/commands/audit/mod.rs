//! `carryline audit`: what is wrong with the implementations that people run.

mod implementations;

use crate::cli::{Adapter, Audit, Common};
use carryline_audit::serve;
use carryline_engine::failure::Failure;

/// Audits implementations.
pub fn run(args: &Audit, common: &Common) -> Result<u8, Failure> {
    implementations::run(args, common)
}

/// `carryline adapter`: the command started by itself, to answer an audit's requests in a process that may crash.
pub fn adapter(args: &Adapter) -> Result<u8, Failure> {
    serve::serve(serve::adapter(&args.words))?;
    Ok(0)
}
