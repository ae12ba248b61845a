//! Adversarial requests beyond the vectors, for which the reference has the answers.
//!
//! Short requests come before long ones and ordinary before unusual ones, so that the first failure is close
//! to the smallest input that fails.

use crate::reference;
use crate::wire::{Data, Packet, Protocol, Reply, Request, Rule};
use carryline_verification::adversarial::{self, KINDS, OVERFLOWING};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Lengths around those of packets and unrolled loops.
const MIDDLING: [usize; 24] = [
    127, 128, 129, 255, 256, 257, 511, 512, 513, 576, 1024, 1279, 1280, 1281, 1460, 1499, 1500, 1501, 4095,
    4097, 9000, 16_384, 65_534, 65_535,
];
/// Words at the limits of 16-bit arithmetic.
const WORDS: [[u8; 2]; 12] = [
    [0, 0],
    [0xff, 0xff],
    [0xff, 0xfe],
    [0xfe, 0xff],
    [0, 1],
    [1, 0],
    [0x7f, 0xff],
    [0x80, 0],
    [0, 0xff],
    [0xff, 0],
    [0x12, 0x34],
    [0xab, 0xcd],
];

/// Requests for one function; if it is unsupported, the rest of the group is skipped.
pub struct Group {
    /// Their subject, for the progress line.
    pub about: &'static str,
    /// The requests.
    pub requests: Box<dyn Iterator<Item = Request>>,
}

/// All groups, with data of at most `longest` bytes.
#[must_use]
pub fn groups(seed: u64, longest: usize) -> Vec<Group> {
    let group = |about, requests| Group { about, requests };
    let mut groups = vec![
        group("short messages", Box::new(short(seed))),
        group("messages as long as packets", Box::new(middling(seed))),
        group("pieces", Box::new(pieces(seed))),
        group("seeds", Box::new(onto(seed))),
        group("updates", Box::new(updates(Rule::Internet, seed))),
        group("updates of UDP", Box::new(updates(Rule::Udp, seed))),
        group("pseudo-headers", Box::new(pseudo_headers())),
    ];
    for protocol in PROTOCOLS {
        groups.push(group("packets to send", Box::new(packets(protocol, seed).map(Request::Packet))));
        groups.push(group("packets received", Box::new(packets(protocol, seed).flat_map(received))));
    }
    groups.push(group("messages longer than packets", Box::new(long(seed, longest))));
    groups
}

fn sum(kind: usize, len: usize, seed: u64) -> Request {
    Request::Sum(Data::literal(&adversarial::bytes(kind, len, seed)))
}

fn short(seed: u64) -> impl Iterator<Item = Request> {
    (0..=72).flat_map(move |len| (0..KINDS).map(move |kind| sum(kind, len, seed)))
}

fn middling(seed: u64) -> impl Iterator<Item = Request> {
    MIDDLING.into_iter().flat_map(move |len| (0..KINDS).map(move |kind| sum(kind, len, seed)))
}

/// Lengths around those at which 32-bit accumulators overflow, with one lane or several; the vectors contain
/// longer data.
fn long(seed: u64, longest: usize) -> impl Iterator<Item = Request> {
    let around = |base: usize| {
        [base - 2, base - 1, base, base + 1, base + 2, base + 4, base + 16, base + 64, base + 512]
    };
    let lengths = [131_072, 196_608, 262_144, 524_288, 1 << 20, 1 << 21].into_iter().flat_map(around);
    let lengths = (131_068..131_100).step_by(4).chain(lengths).filter(move |len| *len <= longest);
    lengths.flat_map(move |len| {
        let kinds = if len > 1 << 20 { &OVERFLOWING[..1] } else { &OVERFLOWING[..] };
        kinds.iter().map(move |kind| sum(*kind, len, seed))
    })
}

fn pieces(seed: u64) -> impl Iterator<Item = Request> {
    let cut = move |kind: usize, len: usize, cuts: &[usize]| {
        let bytes = adversarial::bytes(kind, len, seed);
        let mut pieces = Vec::new();
        let mut from = 0;
        for &at in cuts.iter().chain([&len]) {
            pieces.push(Data::literal(&bytes[from..at]));
            from = at;
        }
        Request::Pieces(pieces)
    };
    let two = (1..=12)
        .flat_map(|len| (0..=len).map(move |at| (len, at)))
        .flat_map(move |(len, at)| OVERFLOWING.into_iter().map(move |kind| cut(kind, len, &[at])));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let many = (0..400).map(move |turn| {
        let len = 8 + (rng.next_u64() % if turn % 8 == 0 { 3000 } else { 120 }) as usize;
        let mut cuts: Vec<usize> =
            (0..2 + turn % 6).map(|_| (rng.next_u64() % (len as u64 + 1)) as usize).collect();
        cuts.sort_unstable();
        cut(turn % KINDS, len, &cuts)
    });
    two.chain(many)
}

fn onto(seed: u64) -> impl Iterator<Item = Request> {
    WORDS.into_iter().flat_map(move |sum| {
        (0..=24).flat_map(move |len| {
            [0, 1, 6, 8, 22, 23].into_iter().map(move |kind| Request::Onto {
                sum,
                data: Data::literal(&adversarial::bytes(kind, len, seed)),
            })
        })
    })
}

/// Changes of one word, and of four bytes, in data with the given checksum. No change makes all data zero,
/// because an update cannot detect that.
fn updates(rule: Rule, seed: u64) -> impl Iterator<Item = Request> {
    let around = adversarial::bytes(6, 6, seed);
    let one =
        WORDS.into_iter().flat_map(|old| WORDS.into_iter().map(move |new| (old.to_vec(), new.to_vec())));
    let two = WORDS.into_iter().map(|word| ([word, [0x45, 0]].concat(), [[0x45, 0], word].concat()));
    one.chain(two).flat_map(move |(old, new)| {
        let others = [around.clone(), vec![0, 1], vec![0xff, 0xfe], {
            // The word with which the checksum becomes 0000.
            let Some(Reply::Field(field)) = reference::answer(&Request::Sum(Data::literal(&new))) else {
                return Vec::new();
            };
            field.to_vec()
        }];
        let request = |rest: &Vec<u8>| {
            let data = [rest.as_slice(), &old].concat();
            let Some(Reply::Field(field)) = reference::answer(&Request::Sum(Data::literal(&data))) else {
                return None;
            };
            let field = match (rule, field) {
                (Rule::Udp, [0, 0]) => [0xff, 0xff],
                (_, field) => field,
            };
            let becomes_zero = rest.iter().chain(&new).all(|byte| *byte == 0);
            let was_zero = data.iter().all(|byte| *byte == 0);
            let (offset, old, new) = (rest.len(), old.clone(), new.clone());
            (!becomes_zero && !was_zero).then_some(Request::Update {
                rule,
                checksum: field,
                offset,
                old,
                new,
            })
        };
        let mut asked: Vec<Request> = others.iter().filter_map(request).collect();
        if rule == Rule::Udp {
            asked.push(Request::Update {
                rule,
                checksum: [0, 0],
                offset: 2,
                old: old.clone(),
                new: new.clone(),
            });
        }
        asked
    })
}

/// Addresses for which the sum of the pseudo-header carries often, and hardly ever.
const ADDRESSES: [(IpAddr, IpAddr); 4] = [
    (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V4(Ipv4Addr::new(198, 51, 100, 2))),
    (IpAddr::V4(Ipv4Addr::new(255, 255, 255, 254)), IpAddr::V4(Ipv4Addr::BROADCAST)),
    (
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)),
    ),
    (IpAddr::V6(Ipv6Addr::from_bits(u128::MAX - 1)), IpAddr::V6(Ipv6Addr::from_bits(u128::MAX))),
];

fn pseudo_headers() -> impl Iterator<Item = Request> {
    let lengths = [0, 1, 8, 255, 256, 0x7fff, 0x8000, 0xfffe, 0xffff, 0x1_0000, 0xffff_0000, u32::MAX];
    let protocols = [0, 6, 17, 58, 255];
    ADDRESSES.into_iter().flat_map(move |(source, destination)| {
        protocols.into_iter().flat_map(move |protocol| {
            let fit = move |length: &u32| source.is_ipv6() || *length <= 0xffff;
            lengths.into_iter().filter(fit).map(move |length| Request::Pseudo {
                source,
                destination,
                protocol,
                length,
            })
        })
    })
}

const PROTOCOLS: [Protocol; 5] =
    [Protocol::Ipv4Header, Protocol::Tcp, Protocol::Udp, Protocol::Icmp, Protocol::Icmpv6];

/// Ordinary headers, with an arbitrary checksum field, before adversarial payloads. One payload of each
/// length makes the checksum `0000`.
fn packets(protocol: Protocol, seed: u64) -> impl Iterator<Item = Packet> {
    let lengths = (0..=16).chain([1459, 1460]);
    addresses(protocol).into_iter().flat_map(move |addresses| {
        lengths.clone().flat_map(move |len| {
            let packet =
                move |payload: &[u8]| Packet { protocol, addresses, bytes: with_header(protocol, payload) };
            let payloads = OVERFLOWING.into_iter().chain([0]).map(move |kind| match protocol {
                // Options are multiples of four bytes.
                Protocol::Ipv4Header => adversarial::bytes(kind, len.min(10) * 4, seed),
                _ => adversarial::bytes(kind, len, seed),
            });
            let mut all: Vec<Packet> = payloads.map(|payload| packet(&payload)).collect();
            all.extend(all.first().and_then(summing_to_zero));
            all
        })
    })
}

/// The addresses of packets, if the checksum covers them.
fn addresses(protocol: Protocol) -> Vec<Option<(IpAddr, IpAddr)>> {
    match protocol {
        Protocol::Ipv4Header | Protocol::Icmp => vec![None],
        Protocol::Icmpv6 => ADDRESSES[2..].iter().copied().map(Some).collect(),
        Protocol::Tcp | Protocol::Udp => ADDRESSES.into_iter().map(Some).collect(),
    }
}

/// The payload after an ordinary header.
fn with_header(protocol: Protocol, payload: &[u8]) -> Vec<u8> {
    let whole = |header: &[u8]| [header, payload].concat();
    match protocol {
        Protocol::Ipv4Header => {
            let mut bytes = whole(&[
                0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, 17, 0xa5, 0x5a, 192, 0, 2, 1, 198, 51, 100, 2,
            ]);
            // Options without effect: end of list, and padding.
            bytes[20..].fill(0);
            let (words, total) = (bytes.len() / 4, bytes.len() as u16);
            bytes[0] = 0x40 | words as u8;
            bytes[2..4].copy_from_slice(&total.to_be_bytes());
            // The identification is the adversarial part.
            if let [first, second, ..] = payload {
                bytes[4..6].copy_from_slice(&[*first, *second]);
            }
            bytes
        }
        Protocol::Tcp => whole(&[
            0xed, 0x52, 0, 80, 0x90, 0xf4, 0x7f, 0xf1, 0, 0, 0, 1, 0x50, 0x10, 0xfa, 0xf0, 0xa5, 0x5a, 0, 0,
        ]),
        Protocol::Udp => {
            let [high, low] = ((payload.len() + 8) as u16).to_be_bytes();
            whole(&[0x9c, 0x75, 0x27, 0x0f, high, low, 0xa5, 0x5a])
        }
        Protocol::Icmp => whole(&[0, 0, 0xa5, 0x5a, 0x12, 0x34, 0, 1]),
        Protocol::Icmpv6 => whole(&[129, 0, 0xa5, 0x5a, 0x12, 0x34, 0, 1]),
    }
}

/// The packet with one word changed so that the sum becomes `ffff`.
fn summing_to_zero(packet: &Packet) -> Option<Packet> {
    let at = match packet.protocol {
        // The identification (IPv4, ICMP), a sequence number (TCP), or the payload (UDP).
        Protocol::Ipv4Header | Protocol::Icmp | Protocol::Icmpv6 => 4,
        Protocol::Tcp => 6,
        Protocol::Udp => 8,
    };
    let mut summing = packet.clone();
    summing.bytes.get_mut(at..at + 2)?.fill(0);
    let sealed = reference::with_checksum(&summing)?;
    let field_at = reference::field_at(&sealed)?;
    let missing = [sealed.bytes[field_at], sealed.bytes[field_at + 1]];
    summing.bytes[at..at + 2].copy_from_slice(&missing);
    Some(summing)
}

/// The packet as sent, with one bit flipped, and, if the protocol allows it, without a checksum.
fn received(packet: Packet) -> Vec<Request> {
    let Some(sealed) = reference::with_checksum(&packet) else { return Vec::new() };
    let Some(at) = reference::field_at(&sealed) else { return Vec::new() };
    let mut flipped = sealed.clone();
    // A bit of the field itself, so that lengths do not change.
    flipped.bytes[at + 1] ^= 0x10;
    let mut all = vec![sealed.clone(), flipped];
    if packet.protocol == Protocol::Udp && packet.addresses.is_some_and(|(source, _)| source.is_ipv4()) {
        let mut without = sealed;
        without.bytes[at..at + 2].fill(0);
        all.push(without);
    }
    all.into_iter().map(Request::Verify).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_has_an_answer_and_groups_are_large_enough() {
        for group in groups(1, 300_000) {
            let mut asked = 0;
            for request in group.requests {
                assert!(reference::answer(&request).is_some(), "{}", request.line(true));
                assert!(request.input_len() <= 300_000);
                asked += 1;
            }
            assert!(asked >= 100, "{}: {asked}", group.about);
        }
    }

    #[test]
    fn updates_result_in_the_checksum_of_the_new_data() {
        // The equation of the rule against a sum of everything, with neither zero.
        let Some(request) = updates(Rule::Internet, 1).nth(20) else { panic!("there are more") };
        let Request::Update { checksum, old, new, .. } = &request else { panic!("an update") };
        let sum = |bytes: &[u8]| u64::from(carryline_variants::checksum::reference::folded_sum(bytes, 0));
        let before = u64::from(!u16::from_ne_bytes(*checksum));
        let after = (before + 65_535 - sum(old) + sum(new)) % 65_535;
        let Some(Reply::Field(field)) = reference::answer(&request) else { panic!("a field") };
        assert_eq!(u64::from(!u16::from_ne_bytes(field)) % 65_535, after);
    }
}
