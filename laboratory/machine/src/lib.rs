//! What this computer is: its CPU and caches, its clock and counters, its memory, and what the kernel lets a process have.

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
