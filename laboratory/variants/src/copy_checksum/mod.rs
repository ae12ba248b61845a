//! copy_checksum: copy a buffer and checksum it, in one call.
//!
//! # Contract
//! `copy_checksum(dst, src, len, seed)` does what [`copy`](crate::copy) does with the two buffers and returns
//! what
//! [`checksum`](crate::checksum) returns for the source; both contracts hold. Parity is that of the message: the
//! first word begins at `src`, whatever the addresses.
//!
//! To add a variant: one file here with its `static VARIANT`, one `pub mod` line, one line in the list.

use crate::Variant;

pub mod carryline;
#[cfg(target_arch = "x86_64")]
pub mod fused;
#[cfg(target_arch = "x86_64")]
pub mod fused_avx512;
pub mod memcpy_then_sum;
pub mod memcpy_then_sum_no_rep;
pub mod reference;

/// The family's variants.
pub static VARIANTS: &[&Variant] = &[
    &reference::VARIANT,
    &memcpy_then_sum::VARIANT,
    &memcpy_then_sum_no_rep::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &fused::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &fused_avx512::VARIANT,
    &carryline::VARIANT,
];
