//! Tests of the public interface: sums, updates, zeroing and copying, and the code generated for inlined
//! calls.

mod codegen;
mod huge;
mod memory;
mod sums;
mod updates;
mod vectors;
