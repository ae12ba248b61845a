//! Fuzz targets for the library. A target decodes arbitrary bytes into calls, makes these calls, and panics
//! if a result differs from that of the naive reference or a byte outside a buffer was changed.
//!
//! Two drivers share the targets: libFuzzer, which searches for inputs that reach new code (the folder
//! `fuzz/` of the repository), and the command of this crate, which draws inputs at random and needs only
//! stable Rust.
//!
//! Lengths are limited to [`input::MOST_BYTES`]; the library's own tests go up to 1 GiB.
//! carryline-verification verifies variants more thoroughly (registers, flags, threads), but without a
//! search. Sums in pieces and random updates are tested only here.

#[cfg(not(unix))]
compile_error!("the guard pages around buffers need POSIX memory mapping");

#[cfg(feature = "command")]
pub mod generate;
pub mod input;
mod memory;
pub mod targets;

pub use targets::{TARGETS, Target, check};

use carryline::internals::cpu::features;
use carryline::internals::dispatch::Kernel;

/// The kernels of a list that can run here, with `CARRYLINE_MASK` applied.
pub fn usable<F>(list: &'static [Kernel<F>]) -> impl Iterator<Item = &'static Kernel<F>> {
    list.iter().filter(|kernel| features().contains(kernel.needs))
}
