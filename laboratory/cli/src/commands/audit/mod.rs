//! `carryline audit`: faults in the checksums and copies of other implementations, and in the checksums of
//! captures.

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

/// `carryline adapter`: answers an audit's requests, in a process that may crash; started by `carryline
/// audit`.
pub fn adapter(args: &Adapter) -> Result<u8, Failure> {
    serve::serve(serve::adapter(&args.words))?;
    Ok(0)
}
