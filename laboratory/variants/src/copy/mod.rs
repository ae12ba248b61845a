//! copy: copy between buffers that do not overlap.
//!
//! # Contract
//! `copy(dst, src, len)`, for every pair of addresses and every length, the two buffers not overlapping:
//! - on return the `len` bytes from `dst` on are those from `src` on, which are unchanged;
//! - no other byte is written or read, and at `len` 0 nothing is touched (the pointers may then be any address,
//!   null included);
//! - the stores are ordered before the caller's later stores, as ordinary ones are: non-temporal stores are
//!   followed by `sfence`;
//! - the direction flag is clear on entry, as the platform's ABI has it, and on return; MXCSR, the x87 state and
//!   the callee-saved registers are as they were.
//!
//! To add a variant: one file here with its `static VARIANT`, one `pub mod` line, one line in the list.

use crate::Variant;

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "x86_64")]
pub mod avx512_nontemporal;
pub mod carryline;
pub mod carryline_not_soon;
pub mod carryline_overlapping;
pub mod carryline_read_here;
pub mod int64_registers;
pub mod libc_memcpy;
pub mod libc_memcpy_no_rep;
pub mod libc_memmove;
pub mod libc_memmove_no_rep;
pub mod reference;
#[cfg(target_arch = "x86_64")]
pub mod rep_movsb;
#[cfg(target_arch = "x86_64")]
pub mod rep_movsl;
#[cfg(target_arch = "x86_64")]
pub mod rep_movsq;
#[cfg(target_arch = "x86_64")]
pub mod rep_movsw;
#[cfg(target_arch = "x86_64")]
pub mod sse2;
#[cfg(feature = "peers")]
pub mod stringzilla;

/// The family's variants.
pub static VARIANTS: &[&Variant] = &[
    &reference::VARIANT,
    &libc_memcpy::VARIANT,
    &libc_memcpy_no_rep::VARIANT,
    &libc_memmove::VARIANT,
    &libc_memmove_no_rep::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_movsb::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_movsq::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_movsw::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_movsl::VARIANT,
    &int64_registers::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &sse2::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &avx2::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &avx512::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &avx512_nontemporal::VARIANT,
    &carryline::VARIANT,
    &carryline_not_soon::VARIANT,
    &carryline_read_here::VARIANT,
    &carryline_overlapping::VARIANT,
    #[cfg(feature = "peers")]
    &stringzilla::VARIANT,
];
