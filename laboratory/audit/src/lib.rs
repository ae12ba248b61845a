//! Audits of other implementations: are their checksums and copies correct?
//!
//! An implementation answers requests line by line ([`wire`]) in a process of its own, which may crash or
//! hang ([`client`]). It is a program in any language, one of the crates under comparison, or a symbol of a
//! shared library (the latter two are served by [`serve`]). It first receives the conformance [`vectors`],
//! then adversarial requests ([`trial`]). Wrong answers are reduced to the smallest input ([`reduce`]) and
//! classified ([`class`]). Functions that can be called are also verified in memory, by the workers that
//! verify the laboratory's own routines. The result is a [`report`], which [`render`] turns into text.

pub mod class;
pub mod client;
pub mod data;
mod examine;
pub mod reduce;
mod reference;
pub mod render;
pub mod report;
pub mod run;
pub mod serve;
pub mod subjects;
pub mod trial;
pub mod vectors;
pub mod wire;
