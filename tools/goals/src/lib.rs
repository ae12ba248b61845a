//! The library's goals as data, evaluated from stored measurements.
//!
//! A [`goal`](goal::Goal) has its cells, its opponent, the required ratio, and the sentence it is taken from.
//! [`drive`] runs the release command `carryline measure` on those cells and stores the results in a
//! database, with all variants of a family in the same rounds; nothing here reads a clock.
//! [`judge`](judge::judge) evaluates the goals on what is stored. The results are kept in a small file for
//! each machine and [`tier`](tier::Tier) ([`results`]), and [`document`] is generated from those files.
//!
//! This is not a part of the command, because the goals are this project's own and of no use to those who
//! measure their own routines. Nor is it a part of `xtask`, which the packagers of the C library build and
//! which therefore must not depend on a database.

pub mod commit;
pub mod critical;
pub mod document;
pub mod drive;
pub mod goal;
pub mod goals;
pub mod judge;
pub mod machine;
pub mod markdown;
pub mod mean;
pub mod outcome;
pub mod overview;
pub mod results;
pub mod standing;
pub mod stored;
pub mod table;
pub mod tier;
