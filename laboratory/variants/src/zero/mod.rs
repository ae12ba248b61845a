//! zero: fill with zero bytes.
//!
//! # Contract
//! `zero(dst, len)`, for every address and every length:
//! - on return the `len` bytes from `dst` on are zero;
//! - no byte outside them is written or read, and at `len` 0 nothing is touched (`dst` may then be any address,
//!   null included);
//! - the stores are ordered before the caller's later stores, as ordinary ones are: non-temporal stores and
//!   `clzero` are followed by `sfence`;
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
#[cfg(target_arch = "x86_64")]
pub mod bzero_stosl;
pub mod carryline;
pub mod carryline_not_soon;
pub mod carryline_read_here;
pub mod carryline_secret;
#[cfg(target_arch = "x86_64")]
pub mod clzero;
#[cfg(target_arch = "x86_64")]
pub mod generic_bzero;
#[cfg(target_arch = "x86_64")]
pub mod i486_bzero;
#[cfg(target_arch = "x86_64")]
pub mod i586_bzero;
#[cfg(target_arch = "x86_64")]
pub mod i686_pagezero_or;
#[cfg(target_arch = "x86_64")]
pub mod i686_pagezero_scan;
pub mod libc_memset;
pub mod libc_memset_no_rep;
pub mod mov32_loop;
#[cfg(target_arch = "x86_64")]
pub mod mov32_unroll_16;
#[cfg(target_arch = "x86_64")]
pub mod mov32_unroll_16_preallocate;
#[cfg(target_arch = "x86_64")]
pub mod mov32_unroll_32;
#[cfg(target_arch = "x86_64")]
pub mod mov32_unroll_32_preallocate;
#[cfg(target_arch = "x86_64")]
pub mod mov32_unroll_64;
#[cfg(target_arch = "x86_64")]
pub mod mov32_unroll_64_preallocate;
#[cfg(target_arch = "x86_64")]
pub mod mov32_unroll_8;
#[cfg(target_arch = "x86_64")]
pub mod movntps;
pub mod reference;
#[cfg(target_arch = "x86_64")]
pub mod rep_stosb;
#[cfg(target_arch = "x86_64")]
pub mod rep_stosl;
#[cfg(target_arch = "x86_64")]
pub mod rep_stosq;
#[cfg(target_arch = "x86_64")]
pub mod rep_stosw;
#[cfg(target_arch = "x86_64")]
pub mod sse2;
pub mod write_bytes;
#[cfg(target_arch = "x86_64")]
pub mod x87_fstl;
#[cfg(feature = "peers")]
pub mod zeroize;

/// The family's variants.
pub static VARIANTS: &[&Variant] = &[
    &reference::VARIANT,
    &libc_memset::VARIANT,
    &libc_memset_no_rep::VARIANT,
    &write_bytes::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_stosb::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_stosl::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_stosq::VARIANT,
    &mov32_loop::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &rep_stosw::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &mov32_unroll_8::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &mov32_unroll_16::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &mov32_unroll_16_preallocate::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &mov32_unroll_32::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &mov32_unroll_32_preallocate::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &mov32_unroll_64::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &mov32_unroll_64_preallocate::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &x87_fstl::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &generic_bzero::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &i486_bzero::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &i586_bzero::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &i686_pagezero_scan::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &i686_pagezero_or::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &bzero_stosl::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &sse2::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &avx2::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &avx512::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &movntps::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &avx512_nontemporal::VARIANT,
    #[cfg(target_arch = "x86_64")]
    &clzero::VARIANT,
    &carryline::VARIANT,
    &carryline_not_soon::VARIANT,
    &carryline_read_here::VARIANT,
    &carryline_secret::VARIANT,
    #[cfg(feature = "peers")]
    &zeroize::VARIANT,
];
