//! Where compilers write a copy or a fill of constant size in place, read from the code that they make.
//!
//! **Path**: [`compilers`] (which are there) -> [`probes`] (what each is asked, under which flags) -> [`bounded`] (asking
//! it) -> [`object_code`] (what the answer is) -> [`rows`] -> [`limit`] (what a hard-coded limit on the size costs, timed).
//! A compiler is run once for each set of flags, with every function and every size in one file, and not at all where
//! [`cache`] knows the answer.
//!
//! When not to use it: for sizes that are not constants, which always become a call or a loop.

pub mod cache;
pub mod compilers;
pub mod limit;

mod bounded;
mod object_code;
mod probes;
mod rows;
mod survey;

pub use probes::Language;
pub use survey::{Question, survey};
