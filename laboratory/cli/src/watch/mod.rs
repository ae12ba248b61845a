//! The live screen of `carryline watch`.
//!
//! `feed` measures one replicate after the other and sends its rounds; `state` turns them into decayed
//! estimates (`decay`); `screen` and `plain` print the state; `keys` changes it; `choice` lists what keys
//! choose from; `show` connects all of them; `terminal` enters the alternate screen and always restores the
//! terminal.

pub mod choice;
pub mod decay;
pub mod feed;
pub mod keys;
pub mod plain;
pub mod screen;
pub mod show;
pub mod state;
pub mod terminal;
