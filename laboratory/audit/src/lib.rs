//! Audits of what others run: is their checksum right, is their copy?
//!
//! An implementation answers requests line by line ([`wire`]), in a process of its own that may die or hang ([`talk`]): a
//! program in any language, a crate of the collection or a shared library's symbol ([`serve`]). It is asked the conformance
//! [`vectors`] and then questions chosen to be answered wrongly ([`trial`]). What it answers wrongly is reduced to the
//! smallest input ([`reduce`]) and named ([`class`]). What can be called is also verified in memory, by the same workers
//! that verify the laboratory's own routines. The [`report`] is data; [`render`] makes text of it.

pub mod class;
pub mod data;
mod examine;
pub mod reduce;
mod reference;
pub mod render;
pub mod report;
pub mod run;
pub mod serve;
pub mod subjects;
pub mod talk;
pub mod trial;
pub mod vectors;
pub mod wire;
