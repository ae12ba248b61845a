//! Zeroing, copying and Internet checksumming of memory, fast at every length and safe at every address.
#![cfg_attr(not(feature = "std"), no_std)]

pub mod checksum;
pub mod copy;
pub mod cpu;
pub mod zero;
