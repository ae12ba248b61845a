//! `carryline worker`: a worker process, started by the command itself; see [`carryline_engine::worker`].

use carryline_engine::failure::Failure;
use carryline_experiments::probes;

/// Does the job read from standard input.
pub fn run() -> Result<u8, Failure> {
    match carryline_engine::worker::main(&probes()) {
        Ok(status) => Ok(status),
        Err(error) => Err(carryline_engine::failure::usage(error.to_string())),
    }
}
