//! The commands, one file each.

pub mod audit;
pub mod compare;
pub mod completions;
pub mod critical;
pub mod explain;
pub mod export;
pub mod gate;
pub mod history;
pub mod inlining;
pub mod list;
pub mod machine;
pub mod measure;
pub mod real;
pub mod report;
pub mod reproduce;
pub mod rerun;
pub mod run;
pub mod schema;
pub mod selftest;
pub mod tour;
pub mod tune;
pub mod verify;
pub mod watch;
pub mod words;
pub mod worker;
