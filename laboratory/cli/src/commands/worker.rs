//! `carryline worker`: the command started by itself, see [`carryline_measure::worker`].

use crate::failure::Failure;

/// Does the job on standard input.
pub fn run() -> Result<u8, Failure> {
    match carryline_measure::worker::main() {
        Ok(status) => Ok(status),
        Err(error) => Err(crate::failure::usage(error.to_string())),
    }
}
