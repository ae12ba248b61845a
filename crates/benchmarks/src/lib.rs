//! The library's goals as data, judged by stored measurements.
//!
//! A [`goal`](goal::Goal) names the cells it speaks of, who is to be beaten there and by how much, and the sentence it
//! comes from. [`drive`] has the release command `carryline measure` those cells into a database, all variants of a
//! family side by side; nothing here has a clock of its own. [`judge`](judge::judge) holds the goals against what is
//! stored, and [`document`] writes it all down.
//!
//! Not a part of the command: the goals are this project's own, of no use to those who measure their own routines. And
//! not of `xtask`, which the C library's packagers build and which therefore must not need a database.

pub mod document;
pub mod drive;
pub mod goal;
pub mod goals;
pub mod judge;
pub mod markdown;
pub mod stored;
pub mod table;
