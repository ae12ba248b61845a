//! copy_checksum: copy a buffer and checksum it, in one call.
//!
//! # Contract
//! `copy_checksum(dst, src, len, seed)` does what [`copy`](crate::copy) does with the two buffers and returns
//! what [`checksum`](crate::checksum) returns for the source; both contracts apply. Parity is that of the
//! message: the first word begins at `src`, whatever the addresses.
//!
//! # Safety
//! `src` is valid for reads of `len` initialised bytes and `dst` for writes of as many, the two do not
//! overlap, the variant supports `len`, and the CPU has the features that the variant needs.
//!
//! To add a variant: one file here with its `static VARIANT`, and its name in the list.

family! {
    reference;
    memcpy_then_sum;
    memcpy_then_sum_no_rep;
    #[cfg(target_arch = "x86_64")]
    fused;
    #[cfg(target_arch = "x86_64")]
    fused_avx512;
    carryline;
}
