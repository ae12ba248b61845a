//! Sums in pieces: they equal the sum of the whole, however the pieces are added, combined and copied.

use carryline::checksum::{self, Checksum, Sum, fold, internet, partial};
use proptest::prelude::*;
use std::mem::MaybeUninit;

/// The checksum by another algorithm: a wide sum and a division.
fn naive(data: &[u8]) -> [u8; 2] {
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    let total: u64 = data.chunks(2).map(word).sum();
    let folded = if total == 0 { 0 } else { ((total - 1) % 65535 + 1) as u16 };
    (!folded).to_be_bytes()
}

/// Bytes often at the ends of the range, which cause carries.
fn data(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0_u8), Just(0xff), Just(0xfe), Just(1), Just(0x80), any::<u8>()];
    prop::collection::vec(byte, 0..most)
}

/// Data in pieces.
fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(data(80), 0..12)
}

#[test]
fn two_halves_combine_at_every_split_point() {
    let carries: Vec<u8> = (0..300).map(|index| if index % 7 == 3 { index as u8 } else { 0xff }).collect();
    let counting: Vec<u8> = (0..300).map(|index| (index * 37 + 11) as u8).collect();
    for data in [carries, counting, vec![0xff; 300], vec![0; 300]] {
        for len in [298, 299, 300] {
            let data = &data[..len];
            let whole = Sum::new().add(data);
            assert_eq!(whole.finish(), naive(data));
            for at in 0..=len {
                let (head, tail) = data.split_at(at);
                let combined = Sum::new().add(head).combine(Sum::new().add(tail));
                assert_eq!(combined, whole, "{len} bytes split at {at}");
                assert_eq!(combined.finish(), naive(data), "{len} bytes split at {at}");
                assert_eq!(
                    combined.combine(Sum::new().add(b"more")),
                    whole.add(b"more"),
                    "{len} split at {at}"
                );
                assert_eq!(Sum::new().add(head).add(tail), whole, "{len} bytes added in two at {at}");
                assert_eq!(Sum::new().add_fresh(head).add(tail), whole, "{len} bytes, fresh up to {at}");
            }
        }
    }
}

#[test]
fn arrays_of_every_length_sum_like_slices() {
    fn check<const N: usize>() {
        for fill in [[0; N], [0xff; N], std::array::from_fn(|index| (index * 37 + 200) as u8)] {
            for before in [&b""[..], b"\xff", b"\x01\xff\xff"] {
                let sum = Sum::new().add(before);
                assert_eq!(sum.add_const(&fill), sum.add(&fill), "{N} bytes after {}", before.len());
            }
        }
    }
    macro_rules! check_all {
        ($($n:literal)*) => { $(check::<$n>();)* };
    }
    check_all!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 31 32 33 36 40 48 60 63 64 65 127);
}

#[test]
fn sums_are_small_and_compare_by_value() {
    assert_eq!(size_of::<Sum>(), 8);
    assert_eq!(size_of::<Checksum>(), 2);
    assert_eq!(Sum::from_partial(0x0001_0000), Sum::from_partial(1));
    assert_ne!(Sum::from_partial(0), Sum::from_partial(0xffff));
    assert_ne!(Sum::new(), Sum::new().add(&[0]));
    assert_eq!(Sum::new().add(&[0]).add(&[0]), Sum::new());
    assert_eq!(format!("{:?}", Sum::new().add(&[0x12, 0x34, 0x56])), "Sum(6834, odd number of bytes)");
    assert_eq!(format!("{:?}", Checksum([0xb1, 0xe6])), "Checksum(b1e6)");
}

/// Seeds at the limit of the 32-bit accumulator, which make it carry.
#[test]
fn full_accumulators_carry_correctly() {
    for seed in [0xffff_ffff, 0xffff_0000, 0x0000_ffff, 0xffff_fffe, 0x8000_0000] {
        let sum = Sum::from_partial(seed);
        let of_seed = u64::from(seed);
        for data in [&[0xff_u8; 7][..], &[0xff; 64], &[1], &[0xff]] {
            let expected = (of_seed + u64::from(partial(data, 0)) - 1) % 0xffff + 1;
            assert_eq!(u64::from(fold(sum.add(data).to_partial())), expected, "{seed:#x}");
            assert_eq!(u64::from(fold(sum.add_fresh(data).to_partial())), expected, "{seed:#x}");
            assert_eq!(
                u64::from(fold(sum.combine(Sum::new().add(data)).to_partial())),
                expected,
                "{seed:#x}"
            );
        }
        let twice = (2 * of_seed - 1) % 0xffff + 1;
        assert_eq!(u64::from(fold(sum.combine(sum).to_partial())), twice, "{seed:#x}");
    }
}

/// A carry into a word of all ones carries again, also in arrays, where carries go from word to word.
#[test]
fn carries_in_arrays_propagate_through_words_of_all_ones() {
    for seed in [0, 1, 2, 0x8000_0000, 0xffff_fffe, 0xffff_ffff] {
        for last in 0..=0xff {
            let mut data = [0xff; 40];
            (data[16], data[39]) = (last, !last);
            let sum = Sum::from_partial(seed);
            assert_eq!(sum.add_const(&data), sum.add(&data), "{seed:#x}, {last:#x}");
            assert_eq!(sum.add_const(&[0xff; 16]), sum.add(&[0xff; 16]), "{seed:#x}");
            assert_eq!(sum.add_const(&[0xff; 24]), sum.add(&[0xff; 24]), "{seed:#x}");
        }
    }
}

#[test]
fn offloaded_checksums_equal_ours() {
    let (src, dst) = ([192, 0, 2, 1], [198, 51, 100, 7]);
    let mut datagram = *b"\x9c\x75\x00\x35\x00\x0b\0\0odd";
    let pseudo = Sum::pseudo_v4(src, dst, 17, 11);
    let ours = checksum::udp((src, dst), [datagram]);
    datagram[6..8].copy_from_slice(&pseudo.offload_seed());
    assert_eq!(Sum::new().add(&datagram).finish_udp(), ours);
}

#[test]
fn truncated_packets_are_damaged_and_never_panic() {
    let v4 = ([192, 0, 2, 1], [192, 0, 2, 2]);
    let segment = [0xff; 20];
    for len in 0..20 {
        assert!(!checksum::verify_tcp(v4, [&segment[..len]]), "{len}");
        assert!(!checksum::verify_ipv4_header(&segment[..len]), "{len}");
    }
    for len in 0..8 {
        assert_eq!(checksum::verify_udp(v4, [&[0; 8][..len]]), checksum::UdpVerdict::Damaged, "{len}");
    }
    for len in 0..4 {
        assert!(!checksum::verify_icmp([&segment[..len]]), "{len}");
        assert!(!checksum::verify_icmpv6([0; 16], [0; 16], [&segment[..len]]), "{len}");
    }
    // Header lengths beyond the packet, or below the minimum.
    for first in [0x40, 0x44, 0x46, 0x4f] {
        let mut header = [0; 20];
        header[0] = first;
        let checksum = internet(&header);
        header[10..12].copy_from_slice(&checksum.0);
        assert!(Sum::new().add(&header).verify());
        assert!(!checksum::verify_ipv4_header(&header), "{first:#x}");
    }
    // More than a pseudo-header over IPv4 can express.
    assert!(!checksum::verify_tcp(v4, [vec![0xff; 65_536]]));
    assert_eq!(checksum::verify_udp(v4, [vec![0xff; 65_536]]), checksum::UdpVerdict::Damaged);
    // Without a checksum too, in one piece and in several.
    let most = vec![0; 65_535];
    assert_eq!(checksum::verify_udp(v4, [&most]), checksum::UdpVerdict::Absent);
    assert_eq!(checksum::verify_udp(v4, [&most[..], &[0]]), checksum::UdpVerdict::Damaged);
    assert_eq!(checksum::verify_udp(v4, [vec![0; 70_000]]), checksum::UdpVerdict::Damaged);
    let v6 = ([0x20; 16], [0x21; 16]);
    assert_eq!(checksum::verify_udp(v6, [vec![0; 70_000]]), checksum::UdpVerdict::Absent);
}

#[test]
#[should_panic(expected = "65536 bytes do not fit into the length of a pseudo-header")]
fn segments_too_long_for_their_pseudo_header_panic() {
    let _ = checksum::tcp(([192, 0, 2, 1], [192, 0, 2, 2]), [vec![0; 65_536]]);
}

#[test]
#[should_panic(expected = "20 bytes with an IPv4 header length of 24")]
fn truncated_ipv4_headers_panic() {
    let _ = checksum::ipv4_header(&[0x46; 20]);
}

#[test]
#[should_panic(expected = "the destination has 3 bytes, the source 4")]
fn copies_between_different_lengths_panic() {
    let _ = Sum::new().copy(&mut [MaybeUninit::uninit(); 3], &[0; 4]);
}

proptest! {
    #[test]
    fn pieces_sum_to_the_whole(pieces in pieces()) {
        let all = pieces.concat();
        let whole = Sum::new().add(&all);
        prop_assert_eq!(whole.finish(), naive(&all));
        prop_assert_eq!(Sum::new().add_iov(&pieces), whole);
        prop_assert_eq!(pieces.iter().fold(Sum::new(), |sum, piece| sum.add_fresh(piece)), whole);
        prop_assert_eq!(pieces.iter().fold(Sum::new(), |sum, piece| sum.combine(Sum::new().add(piece))), whole);
    }

    #[test]
    fn combining_is_associative(a in data(70), b in data(70), c in data(70)) {
        let [a, b, c] = [a, b, c].map(|data| Sum::new().add(&data));
        prop_assert_eq!(a.combine(b).combine(c), a.combine(b.combine(c)));
        prop_assert_eq!(Sum::new().combine(a), a);
        prop_assert_eq!(a.combine(Sum::new()), a);
    }

    #[test]
    fn copies_in_pieces_give_the_bytes_and_the_sum(pieces in pieces()) {
        let all = pieces.concat();
        let mut buffer = vec![MaybeUninit::uninit(); all.len()];
        let mut rest = buffer.as_mut_slice();
        let mut copied = Vec::new();
        let mut sum = Sum::new();
        for piece in &pieces {
            let (to, after) = std::mem::take(&mut rest).split_at_mut(piece.len());
            rest = after;
            let (next, bytes) = sum.copy(to, piece);
            copied.extend_from_slice(bytes);
            sum = next;
        }
        prop_assert_eq!(sum, Sum::new().add(&all));
        prop_assert_eq!(copied, all);
    }

    #[test]
    fn packets_with_their_checksum_verify(mut packet in data(300), place in any::<prop::sample::Index>()) {
        packet.extend_from_slice(&[1, 0, 0]);
        let field = place.index(packet.len() / 2) * 2;
        packet[field..field + 2].fill(0);
        for checksum in [Sum::new().add(&packet).finish(), Sum::new().add(&packet).finish_udp()] {
            packet[field..field + 2].copy_from_slice(&checksum.0);
            prop_assert!(Sum::new().add(&packet).verify());
            packet[field..field + 2].fill(0);
        }
    }
}
