//! Each condition a second time, by other means: is it what its name says?
//!
//! ```sh
//! cargo bench -p carryline-sampler --bench conditions
//! cargo bench -p carryline-sampler --bench conditions -- cold
//! ```
//!
//! The sampler's gross median is next to that of a harness of this file's own: its own memory, lists, loops and ways
//! of making a state, with nothing shared but the clock and the routine. Its loops are plain Rust and differ by a few
//! ticks a call. So a difference of a few percent is expected, and of more only where a state depends on the machine's
//! mood (cold ones). A condition that means something else than its name differs by much more: that is how `random`
//! and `cold` were found out.

#![allow(clippy::print_stdout, reason = "a bench prints what it finds")]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cases;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod check;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod harness;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("to be run by 'cargo bench'");
        return;
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    check::run(&wanted);
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    println!("needs Linux on x86-64; nothing done for {wanted:?}");
}
