//! zero: fill with zero bytes.
//!
//! # Contract
//! `zero(dst, len)`, for every address and every length:
//! - on return the `len` bytes from `dst` on are zero;
//! - no byte outside them is written or read, and if `len` is 0, nothing is accessed (`dst` may then be any
//!   address, null included);
//! - the stores are ordered before the caller's later stores, as ordinary ones are: non-temporal stores and
//!   `clzero` are followed by `sfence`;
//! - the direction flag is clear on entry, as the platform's ABI requires, and on return; MXCSR, the x87
//!   state and the callee-saved registers are preserved.
//!
//! # Safety
//! `dst` is valid for writes of `len` bytes, the variant supports `len`, and the CPU has the features that
//! the variant needs.
//!
//! To add a variant: one file here with its `static VARIANT`, and its name in the list.

family! {
    reference;
    libc_memset;
    libc_memset_no_rep;
    write_bytes;
    #[cfg(target_arch = "x86_64")]
    rep_stosb;
    #[cfg(target_arch = "x86_64")]
    rep_stosl;
    #[cfg(target_arch = "x86_64")]
    rep_stosq;
    mov32_loop;
    #[cfg(target_arch = "x86_64")]
    rep_stosw;
    #[cfg(target_arch = "x86_64")]
    mov32_unroll_8;
    #[cfg(target_arch = "x86_64")]
    mov32_unroll_16;
    #[cfg(target_arch = "x86_64")]
    mov32_unroll_16_preallocate;
    #[cfg(target_arch = "x86_64")]
    mov32_unroll_32;
    #[cfg(target_arch = "x86_64")]
    mov32_unroll_32_preallocate;
    #[cfg(target_arch = "x86_64")]
    mov32_unroll_64;
    #[cfg(target_arch = "x86_64")]
    mov32_unroll_64_preallocate;
    #[cfg(target_arch = "x86_64")]
    x87_fstl;
    #[cfg(target_arch = "x86_64")]
    generic_bzero;
    #[cfg(target_arch = "x86_64")]
    i486_bzero;
    #[cfg(target_arch = "x86_64")]
    i586_bzero;
    #[cfg(target_arch = "x86_64")]
    i686_pagezero_scan;
    #[cfg(target_arch = "x86_64")]
    i686_pagezero_or;
    #[cfg(target_arch = "x86_64")]
    bzero_stosl;
    #[cfg(target_arch = "x86_64")]
    sse2;
    #[cfg(target_arch = "x86_64")]
    avx2;
    #[cfg(target_arch = "x86_64")]
    avx512;
    #[cfg(target_arch = "x86_64")]
    movntps;
    #[cfg(target_arch = "x86_64")]
    avx512_nontemporal;
    #[cfg(target_arch = "x86_64")]
    clzero;
    carryline;
    carryline_not_soon;
    carryline_read_here;
    carryline_secret;
    #[cfg(feature = "peers")]
    zeroize;
}
