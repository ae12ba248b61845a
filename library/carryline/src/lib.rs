//! Fast zeroing, copying and Internet checksumming of memory, safe at every address and length.
//!
//! ```
//! use carryline::{checksum, copy, zero};
//! let mut packet = *b"\x00\x01\xf2\x03\xf4\xf5\xf6\xf7"; // the example of RFC 1071, section 3
//! assert_eq!(checksum::internet(&packet), [0x22, 0x0d]);
//!
//! let mut copied = [0xff; 8];
//! copy::bytes(&mut copied, &packet);
//! assert_eq!(copied, packet);
//!
//! zero::fill(&mut packet);
//! assert_eq!(packet, [0; 8]);
//! ```
//! A caller who knows how the memory is used next states this with an [`Intent`], which decides whether the
//! stores are non-temporal:
//!
//! ```
//! use carryline::{Next, zero};
//! let mut guest_memory = vec![1; 1 << 20];
//! zero::fill_with(&mut guest_memory, Next::NotSoon);
//! assert!(guest_memory.iter().all(|byte| *byte == 0));
//! ```
//!
//! Each function has a list of kernels, from AVX-512 down to portable Rust, and the first call selects the
//! one for the CPU that it runs on. The `_raw` forms take pointers, for callers whose memory is not (or not
//! yet) a slice.
//!
//! # Building `memcpy` on this crate
//!
//! Optimised (opt-level 1 or more, `s` and `z` included), neither the kernels nor the code that selects them at
//! the first call calls `memcpy`, `memmove` or `memset`, so that these can be built on them; selecting may call
//! `memcmp` or `bcmp`. Not optimised, as in Cargo's profile `dev`, they do call them: each would call itself until
//! the stack is full. A program that defines these functions by this crate must therefore have in its
//! `Cargo.toml`:
//!
//! ```toml
//! [profile.dev.package.carryline]
//! opt-level = 2
//! ```
//!
//! It must not enable the feature `environment` either: the standard library copies what it reads from there.
//!
//! # Crate features
//!
//! - `std` (default): [`Sum::add_io_slices`](checksum::Sum::add_io_slices), and loading a profile from a file
//!   ([`tuning`]). Without it, the crate is `no_std` and needs no allocator.
//! - `environment`: `CARRYLINE_MASK` and `CARRYLINE_FORCE` select kernels, `CARRYLINE_TUNING` a profile; see
//!   the module `environment`. Off by default: environment variables then have no effect. Only programs
//!   should enable it, never libraries.
//!
//! # Stability
//!
//! Versions follow Semantic Versioning. Within a compatible series (0.1.x, later 1.x):
//! - The interface documented here is stable: names, signatures, results, panics. Enums that may grow are
//!   `#[non_exhaustive]`; the others are complete.
//! - Results are exact on every CPU. Speed, the choice of kernels, and the effect of an [`Intent`] on speed
//!   may change with any version.
//! - The minimum supported Rust version is 1.89. Only a new minor version raises it, to one that is at least
//!   six months old; the project's CI builds with it.
//! - Hidden items (the module `internals`) are exempt: they may change with any version.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// The kernels in assembly take lengths and addresses as whole registers, whose upper halves x32 leaves undefined.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "32"))]
compile_error!(
    "x32 (x86-64 with pointers of 32 bits) is not supported: compile for x86_64-unknown-linux-gnu"
);

mod blocks;
pub mod checksum;
pub mod copy;
mod cpu;
mod dispatch;
#[cfg(feature = "environment")]
#[cfg_attr(docsrs, doc(cfg(feature = "environment")))]
pub mod environment;
mod intent;
#[doc(hidden)]
pub mod internals;
mod profile;
mod set;
pub mod tuning;
pub mod zero;

mod word;

#[cfg(all(test, unix))]
mod tests;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use intent::{Intent, Next, drain};
