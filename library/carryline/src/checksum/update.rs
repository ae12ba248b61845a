//! Updates a checksum when part of the data changes (RFC 1624), as when a router changes the TTL, a NAT the
//! addresses and ports, or a load balancer all of these.
//!
//! Equation 3 of RFC 1624: HC' = ~(~HC + ~m + m'), with HC the checksum, m the old words, m' the new ones.
//! The older equation of RFC 1141 gives `ff ff` where this one gives `00 00`, which a receiver may reject.

use super::{Checksum, Sum};

impl Checksum {
    /// The checksum after `old`, at any even offset from the start of the data, was replaced by `new`. `N`
    /// must be even, because a part of odd length does not determine which byte of a word it ends in; with an
    /// odd `N`, the call does not compile. For single bytes and odd offsets, use
    /// [`replace_range`](Checksum::replace_range); for UDP, [`replace_udp`](Checksum::replace_udp).
    ///
    /// If the checksum verified before, the new one verifies after, with one exception that no update can
    /// detect: all-zero data must carry `ff ff`, but data that becomes all zero gets `00 00`. No IP header
    /// and nothing with a pseudo-header is all zero. If nothing changes, the checksum is unchanged.
    ///
    /// ```
    /// use carryline::checksum::Checksum;
    /// // The example of RFC 1624, section 4: the word 0x5555 becomes 0x3285.
    /// assert_eq!(Checksum([0xdd, 0x2f]).replace([0x55, 0x55], [0x32, 0x85]), [0x00, 0x00]);
    /// // A NAT replaces 192.0.2.1 by 203.0.113.7 in the IPv4 header of a datagram that Linux sent.
    /// let header = *b"\x45\x00\x00\x1f\x03\x53\x40\x00\x40\x11\xb3\x77\xc0\x00\x02\x01\xc0\x00\x02\x02";
    /// let updated = Checksum([header[10], header[11]]).replace([192, 0, 2, 1], [203, 0, 113, 7]);
    /// assert_eq!(updated, [0x39, 0x71]);
    /// ```
    ///
    /// ```compile_fail
    /// # use carryline::checksum::Checksum;
    /// let _ = Checksum([0xb1, 0xe6]).replace([64_u8], [63_u8]); // the TTL alone is not a word
    /// ```
    #[inline]
    pub const fn replace<const N: usize>(self, old: [u8; N], new: [u8; N]) -> Checksum {
        const {
            assert!(N.is_multiple_of(2), "a part of odd length: give the whole words, or use `replace_range`")
        };
        self.exchange(Sum::new().add_const(&old), Sum::new().add_const(&new))
    }

    /// The checksum after the bytes starting at `offset`, counted from the start of the data that the
    /// checksum covers, changed from `old` to `new`. Only the parity of `offset` matters; offset and length
    /// may be odd.
    ///
    /// # Panics
    /// If the lengths differ, since all following data would have moved; the message names both.
    ///
    /// ```
    /// use carryline::checksum::{self, Checksum};
    /// let mut header = *b"\x45\x00\x00\x1f\x03\x53\x40\x00\x40\x11\xb3\x77\xc0\x00\x02\x01\xc0\x00\x02\x02";
    /// // A router decrements the TTL, the byte at 8.
    /// let updated = Checksum([header[10], header[11]]).replace_range(8, &[64], &[63]);
    /// header[8] = 63;
    /// header[10..12].copy_from_slice(&updated.0);
    /// assert!(checksum::verify_ipv4_header(&header));
    /// ```
    #[inline]
    #[track_caller]
    pub fn replace_range(self, offset: usize, old: &[u8], new: &[u8]) -> Checksum {
        if old.len() != new.len() {
            sizes_differ(old.len(), new.len());
        }
        let before = Sum::new().add_zeros(offset % 2);
        self.exchange(before.add_fresh(old), before.add_fresh(new))
    }

    /// [`replace`](Checksum::replace) for UDP: a field of `00 00`, which means that there is no checksum, is
    /// left unchanged, and a computed zero becomes `ff ff` (RFC 768).
    ///
    /// ```
    /// use carryline::checksum::Checksum;
    /// assert_eq!(Checksum::NONE.replace_udp([0x9c, 0x75], [0x04, 0x00]), Checksum::NONE);
    /// assert_eq!(Checksum([0xdd, 0x2f]).replace_udp([0x55, 0x55], [0x32, 0x85]), [0xff, 0xff]);
    /// // A NAT replaces port 40053 by 1024 in a datagram that Linux sent.
    /// assert_eq!(Checksum([0x0b, 0xc5]).replace_udp([0x9c, 0x75], [0x04, 0x00]), [0xa4, 0x3a]);
    /// ```
    #[inline]
    pub const fn replace_udp<const N: usize>(self, old: [u8; N], new: [u8; N]) -> Checksum {
        if let [0, 0] = self.0 { self } else { self.replace(old, new).sent_by_udp() }
    }

    /// [`replace_range`](Checksum::replace_range) for UDP, with the rules of
    /// [`replace_udp`](Checksum::replace_udp).
    ///
    /// # Panics
    /// As [`replace_range`](Checksum::replace_range), even if there is no checksum.
    ///
    /// ```
    /// use carryline::checksum::Checksum;
    /// // The last byte of the data, "odd", at 10 becomes "t"; the pseudo-header's length is even and does not count.
    /// let updated = Checksum([0x0b, 0xc5]).replace_range_udp(10, b"d", b"t");
    /// assert_eq!(updated, [0xfb, 0xc4]);
    /// assert_eq!(Checksum::NONE.replace_range_udp(10, b"d", b"t"), Checksum::NONE);
    /// ```
    #[inline]
    #[track_caller]
    pub fn replace_range_udp(self, offset: usize, old: &[u8], new: &[u8]) -> Checksum {
        let replaced = self.replace_range(offset, old, new);
        if self == Checksum::NONE { self } else { replaced.sent_by_udp() }
    }

    /// Equation 3 of RFC 1624, with the words of each side summed first. If both sums are equal, the checksum
    /// is unchanged: a field of `ff ff`, the checksum of all-zero data, would become `00 00`, which is not
    /// valid for it.
    const fn exchange(self, old: Sum, new: Sum) -> Checksum {
        let (old, new) = (old.folded(), new.folded());
        if old == new {
            return self;
        }
        let sum = self.folded() as u32 + !old as u32 + new as u32;
        Checksum::from_folded(super::fold(sum))
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn sizes_differ(old_bytes: usize, new_bytes: usize) -> ! {
    panic!("{old_bytes} bytes replaced by {new_bytes}: an update must not change the length")
}
