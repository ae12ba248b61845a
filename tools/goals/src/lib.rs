//! The library's goals as data, judged by stored measurements.
//!
//! A [`goal`](goal::Goal) names the cells it speaks of, who is to be beaten there and by how much, and the
//! sentence it comes from. [`drive`] has the release command `carryline measure` those cells into a database,
//! all variants of a family side by side; nothing here has a clock of its own. [`judge`](judge::judge) holds
//! the goals against what is stored. What came out is kept in a small file for each machine and
//! [`tier`](tier::Tier) ([`results`]), and [`document`] is written from those files.
//!
//! Not a part of the command: the goals are this project's own, of no use to those who measure their own
//! routines. And not of `xtask`, which the C library's packagers build and which therefore must not need a
//! database.

pub mod critical;
pub mod document;
pub mod drive;
pub mod goal;
pub mod goals;
pub mod judge;
pub mod machine;
pub mod markdown;
pub mod results;
pub mod standing;
pub mod stored;
pub mod table;
pub mod tier;
