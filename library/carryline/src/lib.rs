//! Zeroing, copying and Internet checksumming of memory, fast at every length and safe at every address.
//!
//! ```
//! let mut packet = *b"\x00\x01\xf2\x03\xf4\xf5\xf6\xf7"; // the example of RFC 1071, section 3
//! assert_eq!(carryline::checksum(&packet), [0x22, 0x0d]);
//!
//! let mut copied = [0xff; 8];
//! carryline::copy(&mut copied, &packet);
//! assert_eq!(copied, packet);
//!
//! carryline::zero(&mut packet);
//! assert_eq!(packet, [0; 8]);
//! ```
//!
//! [`zero()`], [`copy()`] and [`checksum()`] are the plain forms; [`mod@zero`], [`mod@copy`] and [`mod@checksum`] have the
//! others. A caller who knows what comes next says so with an [`Intent`], and the bytes stay in the cache or go around
//! it:
//!
//! ```
//! use carryline::{Next, zero};
//! let mut guest_memory = vec![1; 1 << 20];
//! zero::fill_with(&mut guest_memory, Next::NotSoon);
//! assert!(guest_memory.iter().all(|byte| *byte == 0));
//! ```
//!
//! Each function has a list of kernels, from AVX-512 down to portable Rust; [`dispatch`] picks one at the first
//! call. The `_raw` forms take pointers, for callers whose memory is not (or not yet) a slice.
//!
//! The kernels never call `memcpy`, `memmove` or `memset`, so that these can be built from them; where the
//! compiler would make such a call out of a loop, the module `blocks` says how it is kept from it.
//!
//! Without the crate feature `std` the crate is `no_std` and reads no environment. It needs no allocator.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

mod blocks;
pub mod checksum;
pub mod copy;
pub mod cpu;
pub mod dispatch;
pub mod intent;
pub mod zero;

mod word;

#[cfg(all(test, unix))]
mod tests;

pub use checksum::internet as checksum;
pub use copy::copy;
pub use intent::{Intent, Next, drain};
pub use zero::fill as zero;
