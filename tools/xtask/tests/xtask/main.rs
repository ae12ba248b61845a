//! The jobs of xtask, and the rules that it checks.

mod arguments;
mod python;
mod safety;
