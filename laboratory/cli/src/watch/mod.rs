//! The live screen: what `carryline watch` shows, by which keys it changes, and where its figures come from.
//!
//! `feed` has the engine measure one replicate after the other and sends its rounds; `state` makes decayed estimates of
//! them (`decay`); `screen` and `plain` print the state and do nothing else; `keys` says what keys do to it; `choice` is
//! what they choose among; `show` brings all of them together; `terminal` makes the terminal a screen and gives it back, whatever happens.

pub mod choice;
pub mod decay;
pub mod feed;
pub mod keys;
pub mod plain;
pub mod screen;
pub mod show;
pub mod state;
pub mod terminal;
