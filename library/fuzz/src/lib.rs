//! Fuzzing of the library: a target takes any bytes for the description of calls, makes the calls, and panics where a
//! result is not that of the naive reference or a byte outside of a buffer was touched.
//!
//! Two drivers share the targets: libFuzzer, which looks for inputs that reach new code (the folder `fuzz/` of the
//! repository), and the command of this crate, which draws them at random and needs nothing but stable Rust.
//!
//! What no description can reach is lengths beyond [`input::MOST_BYTES`]: the library's own tests go to 1 GiB.
//! carryline-verification verifies variants more thoroughly (registers, flags, threads); but nothing searches there, and only
//! here are sums put together of pieces and updated at random.

#[cfg(not(unix))]
compile_error!("the buffers lie between guard pages, which are mapped as POSIX does it");

#[cfg(feature = "command")]
pub mod generate;
pub mod input;
mod memory;
pub mod targets;

pub use targets::{TARGETS, Target, check};

use carryline::internals::cpu::features;
use carryline::internals::dispatch::Kernel;

/// The kernels of a list that can run here, `CARRYLINE_MASK` heeded.
pub fn usable<F>(list: &'static [Kernel<F>]) -> impl Iterator<Item = &'static Kernel<F>> {
    list.iter().filter(|kernel| features().contains(kernel.needs))
}
