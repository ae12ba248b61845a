//! Properties of this computer: CPU and caches, clock and counters, memory, and what the kernel permits.

pub mod arena;
pub mod c_library;
pub mod clock;
pub mod counters;
pub mod disturbance;
pub mod environment;
pub mod nearest;
pub mod process;
pub mod second_core;
pub mod words;
