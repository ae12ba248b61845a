//! checksum: the Internet checksum's partial sum (RFC 1071), in the form of Linux's `csum_partial`.
//!
//! # Contract
//! `checksum(data, len, seed)`, for every address, every length the variant declares, and every seed, returns
//! a 32-bit partial sum. Folded to 16 bits with end-around carry it is the one's-complement sum of
//! - the seed, as its two 16-bit halves, and
//! - the message as native-endian 16-bit words, the first at `data` whatever its address (odd ones too), an
//!   odd last byte padded with a zero byte after it.
//!
//! The folded value is exact: 0 only if the seed and every byte are 0; any other multiple of 65535 gives
//! 0xffff. The unfolded 32 bits are otherwise unspecified. Nothing is complemented.
//!
//! No byte outside the `len` bytes is read and none is written; if `len` is 0, nothing is accessed (`data`
//! may then be any address, null included) and the seed's value is returned. The direction flag, MXCSR, the
//! x87 state and the callee-saved registers are preserved.
//!
//! Peers return the complemented 16-bit checksum of a message, some in network byte order; their wrappers
//! undo both and add the seed.
//!
//! A variant may support only seed 0 ([`Lengths::OnlyUnseeded`](crate::Lengths)); otherwise the contract is
//! the same.
//!
//! # Safety
//! `data` is valid for reads of `len` initialised bytes, the variant supports `len` and the seed, and the CPU
//! has the features that the variant needs.
//!
//! To add a variant: one file here with its `static VARIANT`, and its name in the list.

family! {
    reference;
    words16_c;
    #[cfg(target_arch = "x86_64")]
    bde1;
    #[cfg(target_arch = "x86_64")]
    dr1;
    #[cfg(target_arch = "x86_64")]
    myc1;
    #[cfg(target_arch = "x86_64")]
    myc2;
    adc_1_stream;
    #[cfg(target_arch = "x86_64")]
    adc_2_streams;
    #[cfg(target_arch = "x86_64")]
    adc_4_streams;
    #[cfg(target_arch = "x86_64")]
    adx_2_streams;
    odd_address_swap;
    specialised_40;
    no_odd_40;
    #[cfg(target_arch = "x86_64")]
    dead_code_40;
    #[cfg(target_arch = "x86_64")]
    adx_40;
    #[cfg(target_arch = "x86_64")]
    two_streams_40;
    #[cfg(target_arch = "x86_64")]
    train32_40;
    #[cfg(target_arch = "x86_64")]
    zero_sum_40;
    #[cfg(target_arch = "x86_64")]
    avx2;
    #[cfg(target_arch = "x86_64")]
    avx512_dot;
    carryline;
    #[cfg(feature = "peers")]
    internet_checksum;
    #[cfg(feature = "peers")]
    smoltcp;
    #[cfg(feature = "peers")]
    etherparse;
    #[cfg(feature = "peers")]
    s2n_quic;
    #[cfg(feature = "peers")]
    pnet;
    #[cfg(feature = "dpdk")]
    dpdk;
    odd_address_baseline;
    #[cfg(target_arch = "x86_64")]
    two_streams_article;
}
