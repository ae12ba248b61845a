//! What a user of the library sees: sums, updates, zeroing and copying, and the code that inlined calls become.

mod codegen;
mod huge;
mod memory;
mod sums;
mod updates;
mod vectors;
