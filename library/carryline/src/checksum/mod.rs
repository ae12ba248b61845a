//! The Internet checksum (RFC 1071): the one's-complement sum of 16-bit words.
//!
//! | you have | you call |
//! | --- | --- |
//! | a packet, whole or in pieces | [`ipv4_header`], [`tcp`], [`udp`], [`icmp`], [`icmpv6`]; `verify_...` |
//! | one buffer | [`internet`] |
//! | pieces, a copy to make, a pseudo-header, checksum offload to a network card | [`Sum`] |
//! | a checksum and a field that changes | [`Checksum::replace`] |
//! | code that works with Linux's `csum_partial` | [`partial`], [`fold`], [`copy_and_sum`] |
//!
//! [`Sum`] knows whether the next byte is the first of a word, and [`Checksum`] is the bytes of the field, so
//! that callers need not care about byte order, odd lengths, or the number of folds. Neither can be confused
//! with a number.
//!
//! # Packets
//!
//! A packet is given in pieces, `[&segment]` or `[&header[..], &payload]`, split anywhere. The functions that
//! compute treat the checksum field as zero, whatever it contains and however the pieces are split, so it
//! need not be cleared first. They read headers as bytes just written ([`Sum::add_fresh`]). The functions
//! that verify accept untrusted data: no packet makes them panic.
//!
//! The pieces are the packet and nothing after it: their total is the length in the pseudo-header. Link-layer
//! padding (Ethernet pads to 60 bytes) must be cut off first, using the length in the IP header.
//! [`Addresses`] selects IPv4 or IPv6.
//!
//! # Sums in 32 bits
//! [`partial`] sums, [`fold`] reduces a sum to 16 bits, [`internet`] does both and complements. Sums have the
//! form of Linux's `csum_partial`: words are taken in the machine's byte order, which gives the same bytes in
//! memory (RFC 1071, section 2 (B)); an odd last byte is padded with a zero byte; the sum of earlier data is
//! passed as `seed`. Any 32-bit value is a valid sum: only its folded value matters.
//!
//! A sum folds to 0 only if all summed bytes and the seed are 0. Any other multiple of 65535 folds to 0xffff.
//! Both represent zero in one's-complement arithmetic, but protocols distinguish them.
//!
//! ```
//! use carryline::checksum::{fold, partial};
//! let message = b"sums of parts of even length go in as seeds";
//! let (head, tail) = message.split_at(20);
//! assert_eq!(fold(partial(tail, partial(head, 0))), fold(partial(message, 0)));
//! ```

use crate::dispatch::TABLE;

#[cfg(all(target_arch = "x86_64", any(test, not(any(target_os = "linux", target_os = "none")))))]
pub(crate) mod adc;
// Assembly is for ELF, with arguments in the registers of System V; elsewhere, LLVM compiles the whole kernel.
#[cfg(all(target_arch = "x86_64", not(any(target_os = "linux", target_os = "none"))))]
use adc as adc_assembly;
#[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "none")))]
mod adc_assembly;
mod addresses;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
mod avx2_assembly;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "sse2",
    not(any(target_os = "linux", target_os = "none"))
))]
use {
    avx2 as avx2_assembly, avx2_copy::copy_and_sum as copy_and_sum_prefer_256,
    avx512_branched as avx512_merged, avx512_branched as avx512_prefer_256,
    avx512_copy as avx512_merged_copy,
};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2_copy;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2_groups;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx2_vectors;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512_branched;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) mod avx512_copy;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512_lines;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
mod avx512_merged;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
mod avx512_merged_copy;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
mod avx512_prefer_256;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512_vectors;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "sse2",
    any(target_os = "linux", target_os = "none")
))]
use avx512_merged_copy::copy_and_sum_prefer_256;
pub(crate) mod by_blocks;
mod field;
pub(crate) mod kernels;
pub(crate) mod portable;
mod protocols;
mod pseudo;
mod scalar;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", any(target_os = "linux", target_os = "none")))]
mod signed_words;
mod sum;
mod update;

pub use addresses::Addresses;
pub use field::Checksum;
pub use protocols::{
    UdpVerdict, icmp, icmpv6, ipv4_header, tcp, udp, verify_icmp, verify_icmpv6, verify_ipv4_header,
    verify_tcp, verify_udp,
};
pub use sum::Sum;

/// The one's-complement sum of `data` and `seed`, in 32 bits; only its [folded](fold) value is defined.
///
/// ```
/// use carryline::checksum::{fold, partial};
/// assert_eq!(fold(partial(&[], 0)), 0);
/// assert_eq!(fold(partial(&[0xff; 64], 0)), 0xffff);
/// assert_eq!(fold(partial(&0x1234_u16.to_ne_bytes(), 0xedcb)), 0xffff);
/// ```
#[inline]
#[must_use]
pub fn partial(data: &[u8], seed: u32) -> u32 {
    // SAFETY: a slice is valid for reads of its length.
    unsafe { partial_raw(data.as_ptr(), data.len(), seed) }
}

/// The one's-complement sum of `len` bytes at `data`, at any address, and `seed`; see [`partial`].
///
/// ```
/// use carryline::checksum::{fold, partial, partial_raw};
/// let bytes = *b"\x00\x01\xf2\x03\xf4\xf5";
/// // SAFETY: five bytes, from the second to the last.
/// let sum = unsafe { partial_raw(bytes.as_ptr().add(1), 5, 0) };
/// assert_eq!(fold(sum), fold(partial(&bytes[1..], 0)));
/// // SAFETY: of no bytes, any pointer is valid.
/// assert_eq!(unsafe { partial_raw(core::ptr::null(), 0, 7) }, 7);
/// ```
///
/// # Safety
/// `data` must be valid for reads of `len` initialised bytes; with `len` 0 it may be any pointer.
#[inline]
#[must_use]
pub unsafe fn partial_raw(data: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: `data` is readable for `len` initialised bytes by contract; the kernel was chosen for this CPU.
    unsafe { TABLE.checksum()(data, len, seed) }
}

/// Reduces a sum to 16 bits by end-around carry.
///
/// ```
/// use carryline::checksum::fold;
/// assert_eq!(fold(0x0001_0002), 3);
/// assert_eq!(fold(0xffff_ffff), 0xffff);
/// assert_eq!(fold(0), 0);
/// ```
#[inline]
#[must_use]
pub const fn fold(sum: u32) -> u16 {
    // The first step leaves at most 0x1fffe, hence the second at most 0xffff.
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

/// The finished checksum, as the two bytes that go into the packet: the complement of the folded sum.
/// Over data that includes a filled-in checksum field, it is `[0, 0]` exactly if the packet is intact. UDP
/// sends a checksum of 0 as 0xffff (RFC 768); [`udp`] and [`Sum::finish_udp`] do that.
///
/// ```
/// let mut header = *b"\x45\x00\x00\x3c\x1c\x46\x40\x00\x40\x06\x00\x00\xac\x10\x0a\x63\xac\x10\x0a\x0c";
/// let checksum = carryline::checksum::internet(&header);
/// assert_eq!(checksum, [0xb1, 0xe6]);
/// header[10..12].copy_from_slice(&checksum.0);
/// assert_eq!(carryline::checksum::internet(&header), [0, 0]);
/// ```
#[inline]
pub fn internet(data: &[u8]) -> Checksum {
    Sum::new().add(data).finish()
}

/// Copies `src` to `dst` and returns the sum of the bytes and `seed`, as [`partial`] does. A copy that exceeds the caches does not
/// stay there, as with [`copy::bytes`](crate::copy::bytes).
///
/// # Panics
/// If the lengths differ; the message names both.
///
/// ```
/// use carryline::checksum::{copy_and_sum, fold, partial};
/// let mut copied = [0; 5];
/// assert_eq!(fold(copy_and_sum(&mut copied, b"bytes", 7)), fold(partial(b"bytes", 7)));
/// assert_eq!(&copied, b"bytes");
/// ```
#[inline]
#[must_use]
#[track_caller]
pub fn copy_and_sum(dst: &mut [u8], src: &[u8], seed: u32) -> u32 {
    if dst.len() != src.len() {
        crate::copy::lengths_differ(dst.len(), src.len());
    }
    // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other.
    unsafe { copy_and_sum_raw(dst.as_mut_ptr(), src.as_ptr(), src.len(), seed) }
}

/// Copies `len` bytes from `src` to `dst` and returns the sum of the bytes and `seed`, as [`partial_raw`]
/// does.
///
/// ```
/// use carryline::checksum::{copy_and_sum_raw, fold, partial};
/// let mut copied = Vec::with_capacity(5);
/// // SAFETY: there is capacity for the five bytes that are written, and then set to be the vector's.
/// let sum = unsafe {
///     let sum = copy_and_sum_raw(copied.as_mut_ptr(), b"bytes".as_ptr(), 5, 7);
///     copied.set_len(5);
///     sum
/// };
/// assert_eq!((copied.as_slice(), fold(sum)), (&b"bytes"[..], fold(partial(b"bytes", 7))));
/// ```
///
/// # Safety
/// `src` must be valid for reads of `len` initialised bytes and `dst` for writes of `len` bytes, and they
/// must not overlap; with `len` 0 they may be any pointers.
#[inline]
#[must_use]
pub unsafe fn copy_and_sum_raw(dst: *mut u8, src: *const u8, len: usize, seed: u32) -> u32 {
    // SAFETY: valid for `len` bytes, the source's initialised, and no overlap, by contract; the kernel was
    // chosen for this CPU.
    unsafe { TABLE.copy_and_sum()(dst, src, len, seed) }
}

/// Whether a sum of `len` bytes, at least [`PREFETCH_FAR_LEAST_BYTES`](crate::profile::PREFETCH_FAR_LEAST_BYTES), prefetches
/// [far ahead](crate::blocks::prefetch_far). Not inlined, so that shorter sums read no decision.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[cold]
#[inline(never)]
extern "C" fn is_prefetched_far(len: usize) -> bool {
    len >= crate::tuning::decided(crate::profile::Decision::SumPrefetchFar)
}

/// Reduces 64 bits to 32 by end-around carry. The result is 0 only for 0.
#[inline(always)]
pub(crate) const fn fold_64(sum: u64) -> u32 {
    // Each half of the sum is that of both halves; what the lower one carries is added to the upper one. Two
    // halves of at most 2^32 - 1 sum to at most 2^33 - 2: where they carry, at most 2^32 - 2 is left, and the
    // carry has room. It is 0 only if both halves are.
    (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32
}

/// From how many bytes on the kernels by add-with-carry have four sums instead of two; see `adc_assembly`.
#[cfg(target_arch = "x86_64")]
const FOUR_SUMS_FROM: usize = 512;

/// Reduces 128 bits to 64 by end-around carry. The result is 0 only for 0.
#[inline(always)]
pub(crate) const fn fold_128(sum: u128) -> u64 {
    let (low, carry) = (sum as u64).overflowing_add((sum >> 64) as u64);
    low + carry as u64
}
