//! copy: copy between buffers that do not overlap.
//!
//! # Contract
//! `copy(dst, src, len)`, for every pair of addresses and every length, the two buffers not overlapping:
//! - on return the `len` bytes from `dst` on are those from `src` on, which are unchanged;
//! - no other byte is written or read, and if `len` is 0, nothing is accessed (the pointers may then be any
//!   address, null included);
//! - the stores are ordered before the caller's later stores, as ordinary ones are: non-temporal stores are
//!   followed by `sfence`;
//! - the direction flag is clear on entry, as the platform's ABI requires, and on return; MXCSR, the x87
//!   state and the callee-saved registers are preserved.
//!
//! # Safety
//! `src` is valid for reads and `dst` for writes of `len` bytes, the two do not overlap, the variant supports
//! `len`, and the CPU has the features that the variant needs.
//!
//! To add a variant: one file here with its `static VARIANT`, and its name in the list.

family! {
    reference;
    libc_memcpy;
    libc_memcpy_no_rep;
    libc_memmove;
    libc_memmove_no_rep;
    #[cfg(target_arch = "x86_64")]
    rep_movsb;
    #[cfg(target_arch = "x86_64")]
    rep_movsq;
    #[cfg(target_arch = "x86_64")]
    rep_movsw;
    #[cfg(target_arch = "x86_64")]
    rep_movsl;
    int64_registers;
    #[cfg(target_arch = "x86_64")]
    sse2;
    #[cfg(target_arch = "x86_64")]
    avx2;
    #[cfg(target_arch = "x86_64")]
    avx512;
    #[cfg(target_arch = "x86_64")]
    avx512_nontemporal;
    carryline;
    carryline_not_soon;
    carryline_read_here;
    carryline_source_done;
    carryline_overlapping;
    #[cfg(feature = "peers")]
    stringzilla;
}
