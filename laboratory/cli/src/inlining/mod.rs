//! Finds the constant sizes at which compilers inline copies and fills, from the machine code that they
//! generate.
//!
//! **Path**: [`compilers`] (which exist) -> [`probes`] (sources and sets of flags) -> [`bounded`] (runs the
//! compiler) -> [`object_code`] (classifies the machine code) -> [`rows`] -> [`limit`] (times the cost of a
//! hard-coded limit on the size). A compiler runs once for each set of flags, with every function and size in
//! one file, and not at all if the result is in the [`cache`].
//!
//! Sizes that are not constants always become a call or a loop, so there is nothing to find.

pub mod cache;
pub mod compilers;
pub mod limit;

mod bounded;
mod object_code;
mod probes;
mod rows;
mod survey;

pub use probes::Language;
pub use survey::{Settings, survey};
