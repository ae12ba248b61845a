//! [`Sum`]: a partial sum that remembers whether the next byte is the first or the second of a 16-bit word.

use super::{Checksum, copy_and_sum_raw, fold, partial, scalar};
use core::fmt;
use core::mem::MaybeUninit;

/// The sum of the bytes so far, and whether their number is odd, so that data may come in pieces of any
/// length. Every method takes the sum by value and returns the new one. It is `Copy`, has 8 bytes, and is
/// passed in a register.
///
/// ```
/// use carryline::checksum::Sum;
/// // 01 | ff ff ff ff: the second piece starts in the middle of a word.
/// let sum = Sum::new().add(&[0x01]).add(&[0xff; 4]);
/// assert_eq!(sum, Sum::new().add(&[0x01, 0xff, 0xff, 0xff, 0xff]));
/// assert_eq!(sum.finish(), [!0x01, !0x00]);
/// ```
/// Two sums are equal if they have the same folded value and the same parity.
// The sum is stored as seen from the next byte: after an odd number of bytes, its two bytes are swapped (RFC
// 1071, section 2 (B)), so that the kernel takes it as its seed whatever the parity. Rotating 32 bits by 8
// multiplies by 256 modulo 2^32 - 1, hence modulo 65535: it swaps the bytes of every 16-bit word.
#[derive(Clone, Copy)]
#[must_use = "a sum is a value: the methods return the new sum and do not change the old one"]
pub struct Sum {
    acc: u32,
    odd: bool,
}

#[expect(
    clippy::should_implement_trait,
    reason = "`add` adds bytes, not a number, and `+` would hide the order"
)]
impl Sum {
    /// The sum of no bytes.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// assert_eq!(Sum::new().finish(), [0xff, 0xff]);
    /// ```
    #[inline]
    pub const fn new() -> Sum {
        Sum { acc: 0, odd: false }
    }

    /// Continues a sum in the form of [`partial`] (Linux's `csum_partial`) over an even number of bytes.
    ///
    /// ```
    /// use carryline::checksum::{Sum, partial};
    /// let header = *b"\x45\x00\x00\x73\x00\x00\x40\x00\x40\x11\x00\x00\xc0\xa8\x00\x01\xc0\xa8\x00\xc7";
    /// assert_eq!(Sum::from_partial(partial(&header, 0)).finish(), [0xb8, 0x61]);
    /// ```
    #[inline]
    pub const fn from_partial(sum: u32) -> Sum {
        Sum { acc: sum, odd: false }
    }

    /// The sum in the form of [`partial`]: 32 bits, of which only the [folded](fold) value is defined. The
    /// parity of the number of bytes is lost.
    ///
    /// ```
    /// use carryline::checksum::{Sum, fold, partial};
    /// assert_eq!(fold(Sum::new().add(b"odd").to_partial()), fold(partial(b"odd", 0)));
    /// ```
    #[inline]
    #[must_use]
    pub const fn to_partial(self) -> u32 {
        self.acc.rotate_left(8 * self.odd as u32)
    }

    /// The two fields, for storage where a `Sum` cannot be used, such as in C or in a file.
    /// [`from_raw_parts`](Sum::from_raw_parts) is the inverse. The first is the sum as seen from the next
    /// byte, not [`to_partial`](Sum::to_partial).
    ///
    /// ```
    /// use carryline::checksum::Sum;
    /// let (acc, odd) = Sum::new().add(b"a pause").into_raw_parts();
    /// assert!(odd);
    /// assert_eq!(Sum::from_raw_parts(acc, odd).add(b", then"), Sum::new().add(b"a pause, then"));
    /// ```
    #[inline]
    #[must_use]
    pub const fn into_raw_parts(self) -> (u32, bool) {
        (self.acc, self.odd)
    }

    /// Restores a sum from [`into_raw_parts`](Sum::into_raw_parts). Any two values are a valid sum.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// assert_eq!(Sum::from_raw_parts(0, false), Sum::new());
    /// ```
    #[inline]
    pub const fn from_raw_parts(acc: u32, odd: bool) -> Sum {
        Sum { acc, odd }
    }

    /// Adds `data`, of any length and at any address, after the data added so far. The length is not limited:
    /// no accumulator overflows.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// // RFC 1071, section 3.
    /// let sum = Sum::new().add(&[0x00, 0x01, 0xf2, 0x03]).add(&[0xf4, 0xf5, 0xf6, 0xf7]);
    /// assert_eq!(sum.finish(), [!0xdd, !0xf2]);
    /// ```
    #[inline]
    pub fn add(self, data: &[u8]) -> Sum {
        self.after(partial(data, self.acc), data.len())
    }

    /// Adds an array by inline code: for headers, whose length is known. Also works at compile time. For
    /// arrays of more than about 100 bytes, [`add`](Sum::add) is faster.
    ///
    /// ```
    /// use carryline::checksum::{Checksum, Sum};
    /// const HEADER: [u8; 20] = *b"\x45\x00\x00\x3c\x1c\x46\x40\x00\x40\x06\x00\x00\xac\x10\x0a\x63\xac\x10\x0a\x0c";
    /// const CHECKSUM: Checksum = Sum::new().add_const(&HEADER).finish();
    /// assert_eq!(CHECKSUM, [0xb1, 0xe6]);
    /// ```
    #[inline(always)]
    pub const fn add_const<const N: usize>(self, data: &[u8; N]) -> Sum {
        self.add_inline(data)
    }

    /// Adds bytes that were just written field by field, such as a new header. The result is that of
    /// [`add`](Sum::add); only the loads differ. [`add`](Sum::add) reads short data by one wide load, which
    /// waits until the narrow stores have left the store buffer; this method loads at most 8 bytes at a time.
    ///
    /// For long data, and for data from elsewhere, [`add`](Sum::add) is faster.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// // The header of a UDP datagram from port 40053 to port 53, with 3 bytes of data.
    /// let mut header = [0; 8];
    /// header[0..2].copy_from_slice(&40053_u16.to_be_bytes());
    /// header[2..4].copy_from_slice(&53_u16.to_be_bytes());
    /// header[4..6].copy_from_slice(&11_u16.to_be_bytes());
    /// let sum = Sum::pseudo_v4([192, 0, 2, 1], [192, 0, 2, 2], 17, 11).add_fresh(&header).add(b"odd");
    /// assert_eq!(sum.finish_udp(), [0x0b, 0xc5]);
    /// ```
    #[inline]
    pub fn add_fresh(self, data: &[u8]) -> Sum {
        self.after(scalar::fresh(data, self.acc), data.len())
    }

    /// Adds pieces in order, as if they were one buffer. Pieces may be empty or of odd length.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// let pieces: [&[u8]; 4] = [b"pie", b"c", b"", b"es"];
    /// assert_eq!(Sum::new().add_iov(pieces), Sum::new().add(b"pieces"));
    /// ```
    #[inline]
    pub fn add_iov<I>(self, pieces: I) -> Sum
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        pieces.into_iter().fold(self, |sum, piece| sum.add(piece.as_ref()))
    }

    /// Adds the buffers of a vectored write in order, like [`add_iov`](Sum::add_iov).
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// use std::io::IoSlice;
    /// let buffers = [IoSlice::new(b"vec"), IoSlice::new(b"tored")];
    /// assert_eq!(Sum::new().add_io_slices(&buffers), Sum::new().add(b"vectored"));
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[inline]
    pub fn add_io_slices(self, buffers: &[std::io::IoSlice<'_>]) -> Sum {
        buffers.iter().fold(self, |sum, buffer| sum.add(buffer))
    }

    /// Adds `bytes` zero bytes, for a field that is treated as zero, or for padding. Only the parity of their
    /// number matters.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// assert_eq!(Sum::new().add(b"a").add_zeros(2).add(b"b"), Sum::new().add(b"a\0\0b"));
    /// ```
    #[inline]
    pub const fn add_zeros(self, bytes: usize) -> Sum {
        self.after(self.acc, bytes)
    }

    /// Combines this sum with that of the data that follows, which was summed separately, for example by
    /// another thread.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// let (head, tail) = b"summed in two places".split_at(7);
    /// assert_eq!(Sum::new().add(head).combine(Sum::new().add(tail)), Sum::new().add(b"summed in two places"));
    /// ```
    #[inline]
    pub const fn combine(self, next: Sum) -> Sum {
        // As seen from the end of `next`: this sum continues over its bytes as over zeros.
        let before = self.add_zeros(next.odd as usize);
        let (acc, carry) = before.acc.overflowing_add(next.acc);
        Sum { acc: acc + carry as u32, odd: before.odd }
    }

    /// Copies `src` to `dst` and adds the bytes, in one pass where the CPU allows it. Returns the new sum and
    /// `dst`, which is now initialised.
    ///
    /// # Panics
    /// If the lengths differ; the message names both.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// use std::mem::MaybeUninit;
    /// let mut buffer = [MaybeUninit::uninit(); 29];
    /// let query = b"\x1a\x2b\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01";
    /// let (sum, copied) = Sum::new().copy(&mut buffer, query);
    /// assert_eq!(copied, query);
    /// assert_eq!(sum.finish(), Sum::new().add(query).finish());
    /// ```
    #[inline]
    #[track_caller]
    pub fn copy<'d>(self, dst: &'d mut [MaybeUninit<u8>], src: &[u8]) -> (Sum, &'d mut [u8]) {
        if dst.len() != src.len() {
            crate::copy::lengths_differ(dst.len(), src.len());
        }
        // SAFETY: slices are valid for their length, which is the same, and a mutable one overlaps no other.
        let acc = unsafe { copy_and_sum_raw(dst.as_mut_ptr().cast(), src.as_ptr(), src.len(), self.acc) };
        // SAFETY: every byte has just been written; `MaybeUninit<u8>` has the layout of `u8`.
        let copied = unsafe { &mut *(core::ptr::from_mut(dst) as *mut [u8]) };
        (self.after(acc, src.len()), copied)
    }

    /// Copies like [`copy`](Sum::copy), to memory that is already initialised.
    ///
    /// # Panics
    /// As [`copy`](Sum::copy).
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// let mut buffer = [0; 8];
    /// let sum = Sum::new().copy_over(&mut buffer, &[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
    /// assert_eq!(buffer[6..], [0xf6, 0xf7]);
    /// assert_eq!(sum.finish(), [0x22, 0x0d]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn copy_over(self, dst: &mut [u8], src: &[u8]) -> Sum {
        self.after(super::copy_and_sum(dst, src, self.acc), src.len())
    }

    /// The finished checksum: the complement of the folded sum (RFC 1071, section 1). It is `ff ff` only if
    /// all data added is zero.
    ///
    /// For UDP, see [`finish_udp`](Sum::finish_udp).
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// let header = b"\x45\x00\x00\x73\x00\x00\x40\x00\x40\x11\x00\x00\xc0\xa8\x00\x01\xc0\xa8\x00\xc7";
    /// assert_eq!(Sum::new().add(header).finish(), [0xb8, 0x61]);
    /// ```
    #[inline]
    pub const fn finish(self) -> Checksum {
        Checksum::from_folded(self.folded())
    }

    /// The finished checksum as UDP sends it: `00 00` becomes `ff ff`, because a field of zero means that the
    /// sender computed none (RFC 768; for IPv6, RFC 8200, section 8.1).
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// let sum = Sum::new().add(&[0x12, 0x34, 0xed, 0xcb]);
    /// assert_eq!(sum.finish(), [0x00, 0x00]);
    /// assert_eq!(sum.finish_udp(), [0xff, 0xff]);
    /// ```
    #[inline]
    pub const fn finish_udp(self) -> Checksum {
        self.finish().sent_by_udp()
    }

    /// Whether the data, its checksum field included, is intact: the folded sum is all ones (RFC 1071,
    /// section 1).
    ///
    /// Both zeros of one's-complement arithmetic are accepted in the field: a UDP checksum of `ff ff`
    /// verifies. All-zero data does not verify, since no checksum gives a sum of 0. For UDP, check first
    /// whether the datagram carries a checksum: see [`verify_udp`](super::verify_udp).
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// let mut header = *b"\x45\x00\x00\x3c\x1c\x46\x40\x00\x40\x06\xb1\xe6\xac\x10\x0a\x63\xac\x10\x0a\x0c";
    /// assert!(Sum::new().add(&header).verify());
    /// header[8] -= 1; // a router that forgot the checksum
    /// assert!(!Sum::new().add(&header).verify());
    /// assert!(!Sum::new().add(&[0; 20]).verify());
    /// ```
    #[inline]
    #[must_use]
    pub const fn verify(self) -> bool {
        self.folded() == 0xffff
    }

    /// The field value that a network card expects if it completes the checksum: the folded sum of the
    /// pseudo-header, **not** complemented, in wire order. The card sums from the start of the transport
    /// header, this field included, and stores the complement there.
    ///
    /// This is the form of Linux's `CHECKSUM_PARTIAL`, virtio's `VIRTIO_NET_HDR_F_NEEDS_CSUM` and DPDK's
    /// `RTE_MBUF_F_TX_TCP_CKSUM`. For segmentation offload (TSO), DPDK requires a pseudo-header of length 0,
    /// because each segment has its own length.
    ///
    /// ```
    /// # use carryline::checksum::Sum;
    /// let pseudo_header = Sum::pseudo_v4([192, 0, 2, 1], [192, 0, 2, 2], 17, 11);
    /// let mut datagram = *b"\x9c\x75\x00\x35\x00\x0b\0\0odd";
    /// datagram[6..8].copy_from_slice(&pseudo_header.offload_seed());
    /// // What the card does:
    /// assert_eq!(Sum::new().add(&datagram).finish_udp(), [0x0b, 0xc5]);
    /// ```
    #[inline]
    #[must_use]
    pub const fn offload_seed(self) -> [u8; 2] {
        self.folded().to_ne_bytes()
    }

    /// The sum of all 16-bit words so far, in the machine's byte order.
    #[inline]
    pub(super) const fn folded(self) -> u16 {
        fold(self.to_partial())
    }

    /// [`add_const`](Sum::add_const) for a slice whose length is known at the call.
    #[inline(always)]
    pub(super) const fn add_inline(self, data: &[u8]) -> Sum {
        self.after(scalar::sum(data, self.acc), data.len())
    }

    /// The sum after `bytes` more bytes, with `acc` the new accumulator as seen from their start.
    #[inline(always)]
    const fn after(self, acc: u32, bytes: usize) -> Sum {
        let odd = bytes % 2 == 1;
        Sum { acc: acc.rotate_left(8 * odd as u32), odd: self.odd ^ odd }
    }
}

/// Adds pieces in order, as [`add_iov`](Sum::add_iov) does.
///
/// ```
/// use carryline::checksum::Sum;
/// let mut sum = Sum::new().add(b"one ");
/// sum.extend(["buf", "fer"]);
/// assert_eq!(sum, Sum::new().add(b"one buffer"));
/// ```
impl<P: AsRef<[u8]>> Extend<P> for Sum {
    fn extend<I: IntoIterator<Item = P>>(&mut self, pieces: I) {
        *self = self.add_iov(pieces);
    }
}

/// The sum of pieces in order.
///
/// ```
/// use carryline::checksum::Sum;
/// let words = [[0x00, 0x01], [0xf2, 0x03], [0xf4, 0xf5], [0xf6, 0xf7]];
/// assert_eq!(words.iter().collect::<Sum>().finish(), [0x22, 0x0d]);
/// ```
impl<P: AsRef<[u8]>> FromIterator<P> for Sum {
    fn from_iter<I: IntoIterator<Item = P>>(pieces: I) -> Sum {
        Sum::new().add_iov(pieces)
    }
}

impl Default for Sum {
    fn default() -> Sum {
        Sum::new()
    }
}

impl PartialEq for Sum {
    fn eq(&self, other: &Sum) -> bool {
        self.folded() == other.folded() && self.odd == other.odd
    }
}

impl Eq for Sum {}

/// The bytes of the folded sum, the same on every machine, and the parity.
impl fmt::Debug for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.offload_seed();
        let bytes = if self.odd { "odd" } else { "even" };
        write!(f, "Sum({first:02x}{second:02x}, {bytes} number of bytes)")
    }
}
