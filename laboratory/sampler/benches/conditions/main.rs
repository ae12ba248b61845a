//! Checks with a second implementation that each condition is what its name states.
//!
//! ```sh
//! cargo bench -p carryline-sampler --bench conditions
//! cargo bench -p carryline-sampler --bench conditions -- cold
//! ```
//!
//! The sampler's gross median is compared with that of a separate harness with its own memory, lists, loops
//! and methods of establishing a cache state; only the clock and the routine are shared. Its loops are plain
//! Rust and differ by a few ticks per call. So a difference of a few percent is expected, and more only for
//! states that vary on the machine (cold ones). A condition that differs from its name shows a much larger
//! difference: this revealed faults of `random` and `cold`.

#![allow(clippy::print_stdout, reason = "a bench prints its results")]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cases;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod check;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cold;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod dependence;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod harness;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("run this with 'cargo bench'");
        return;
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    check::run(&wanted);
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    println!("needs Linux on x86-64; nothing done for {wanted:?}");
}
