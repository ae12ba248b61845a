//! Reduces updates, pseudo-headers and packets. They stay valid: an update of possible data, a complete
//! header, consistent lengths.

use super::{Budget, smallest};
use crate::reference;
use crate::wire::{Packet, Protocol, Reply, Request};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reduces an update: a shorter change of simpler bytes, at a smaller offset.
pub(super) fn update(budget: &mut Budget<'_>, request: &Request) -> Request {
    let Request::Update { rule, checksum, offset, old, new } = request else { return request.clone() };
    let (rule, mut checksum, mut offset) = (*rule, *checksum, *offset);
    let (mut old, mut new) = (old.clone(), new.clone());
    let mut fails = |checksum: [u8; 2], offset: usize, old: &[u8], new: &[u8]| {
        let candidate = Request::Update { rule, checksum, offset, old: old.to_vec(), new: new.to_vec() };
        has_one_answer(&candidate) && budget.fails(&candidate)
    };
    for nearer in [0, offset % 2] {
        if nearer < offset && fails(checksum, nearer, &old, &new) {
            offset = nearer;
        }
    }
    for bytes in [2, 1] {
        while old.len().min(new.len()) > bytes {
            let (shorter_old, shorter_new) = (&old[..old.len() - bytes], &new[..new.len() - bytes]);
            if !fails(checksum, offset, shorter_old, shorter_new) {
                break;
            }
            (old, new) = (shorter_old.to_vec(), shorter_new.to_vec());
        }
    }
    for at in 0..old.len().max(new.len()) {
        for plain in [0, 0xff, 1] {
            let with = |bytes: &[u8]| {
                let mut bytes = bytes.to_vec();
                bytes.get_mut(at).into_iter().for_each(|byte| *byte = plain);
                bytes
            };
            let plainness = |bytes: &[u8]| bytes.get(at).map_or(0, |byte| rank(*byte));
            let (plain_old, plain_new) = (with(&old), with(&new));
            if rank(plain) < plainness(&old) && fails(checksum, offset, &plain_old, &new) {
                old = plain_old;
            }
            if rank(plain) < plainness(&new) && fails(checksum, offset, &old, &plain_new) {
                new = plain_new;
            }
        }
    }
    for plain in [[0, 0], [0xff, 0xfe], [0, 1]] {
        if plain < checksum && fails(plain, offset, &old, &new) {
            checksum = plain;
        }
    }
    Request::Update { rule, checksum, offset, old, new }
}

/// The rank of a byte by simplicity: 00 first, then ff and 01, then all others.
fn rank(byte: u8) -> u8 {
    match byte {
        0 => 0,
        0xff => 1,
        1 => 2,
        _ => 3,
    }
}

/// False for an update whose result does not follow from the checksum. `ffff` is the checksum of zeros only.
/// If all bytes outside the change may be zero, it is unknown whether all bytes are zero after it.
fn has_one_answer(update: &Request) -> bool {
    let Request::Update { checksum, old, new, .. } = update else { return false };
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    if *checksum == [0xff, 0xff] {
        return is_zero(old);
    }
    let ends_at_zero = matches!(reference::answer(update), Some(Reply::Field([0, 0] | [0xff, 0xff])));
    !(ends_at_zero && is_zero(new))
}

/// Reduces a pseudo-header: a smaller length, unspecified addresses.
pub(super) fn pseudo_header(budget: &mut Budget<'_>, request: &Request) -> Request {
    let Request::Pseudo { source, destination, protocol, length } = request else { return request.clone() };
    let (mut source, mut destination, mut protocol) = (*source, *destination, *protocol);
    let with =
        |source, destination, protocol, length| Request::Pseudo { source, destination, protocol, length };
    let most = usize::try_from(*length).unwrap_or(usize::MAX);
    let length = smallest(most, &mut |length| {
        u32::try_from(length).is_ok_and(|length| budget.fails(&with(source, destination, protocol, length)))
    });
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    if protocol != 0 && budget.fails(&with(source, destination, 0, length)) {
        protocol = 0;
    }
    if budget.fails(&with(unspecified(source), destination, protocol, length)) {
        source = unspecified(source);
    }
    if budget.fails(&with(source, unspecified(destination), protocol, length)) {
        destination = unspecified(destination);
    }
    with(source, destination, protocol, length)
}

/// The unspecified address of the same family.
const fn unspecified(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

/// Reduces a packet: fewer and simpler bytes, unspecified addresses. An intact packet gets the checksum of
/// its new content.
pub(super) fn packet(budget: &mut Budget<'_>, packet: &Packet, with: &dyn Fn(Packet) -> Request) -> Request {
    // Nothing can be removed from a malformed packet.
    if reference::field_at(packet).is_none() {
        return with(packet.clone());
    }
    let right = reference::answer(&with(packet.clone()));
    let mut packet = packet.clone();
    let mut fails_alike = |candidate: Packet, packet: &mut Packet| {
        let candidate = match right {
            Some(Reply::Intact) => reference::with_checksum(&candidate),
            _ => Some(candidate),
        };
        let Some(candidate) = candidate.filter(|candidate| candidate != packet) else { return false };
        let request = with(candidate.clone());
        let answer = reference::answer(&request);
        // Verdicts must be equal; of fields, any will do.
        let is_same = match right {
            Some(Reply::Field(_)) => matches!(answer, Some(Reply::Field(_))),
            _ => answer == right,
        };
        let fails = is_same && budget.fails(&request);
        if fails {
            *packet = candidate;
        }
        fails
    };
    // A fault of the checksum 0000 needs that checksum: one word of the payload then compensates for what is
    // removed elsewhere.
    let mut is_smaller = |candidate: Packet, packet: &mut Packet| {
        let balanced =
            with_equal_checksum(&candidate, packet).filter(|balanced| is_simpler(balanced, packet));
        fails_alike(candidate, packet) || balanced.is_some_and(|balanced| fails_alike(balanced, packet))
    };
    let header_bytes = header_bytes(&packet);
    let bytes = packet.bytes.clone();
    // Options are multiples of four bytes.
    let unit = if packet.protocol == Protocol::Ipv4Header { 4 } else { 1 };
    smallest((bytes.len() - header_bytes) / unit, &mut |units| {
        is_smaller(shortened(&packet, &bytes[..header_bytes + units * unit]), &mut packet)
    });
    if let Some((source, destination)) = packet.addresses {
        for ends in [
            (unspecified(source), unspecified(destination)),
            (unspecified(source), destination),
            (source, unspecified(destination)),
        ] {
            if is_smaller(Packet { addresses: Some(ends), ..packet.clone() }, &mut packet) {
                break;
            }
        }
    }
    let mut part = packet.bytes.len().next_power_of_two() / 2;
    while part > 0 {
        for at in (0..packet.bytes.len()).step_by(part) {
            let end = (at + part).min(packet.bytes.len());
            let mut plain = packet.clone();
            plain.bytes[at..end].fill(0);
            is_smaller(with_lengths_of(plain, &packet), &mut packet);
        }
        part /= 2;
    }
    with(packet)
}

/// The packet with the last whole word of its payload chosen so that its checksum equals that of `other`.
fn with_equal_checksum(packet: &Packet, other: &Packet) -> Option<Packet> {
    let at = (packet.bytes.len() & !1).checked_sub(2)?;
    if reference::field_at(packet).is_none() || at < header_bytes(packet) {
        return None;
    }
    let mut balanced = packet.clone();
    balanced.bytes[at..at + 2].fill(0);
    let field = |packet: &Packet| {
        let (at, complete) = (reference::field_at(packet)?, reference::with_checksum(packet)?);
        Some(u16::from_be_bytes([complete.bytes[at], complete.bytes[at + 1]]))
    };
    // The required sum, less the sum without the word.
    let sum = u32::from(!field(other)?) + u32::from(field(&balanced)?);
    let word = (sum & 0xffff) + (sum >> 16);
    balanced.bytes[at..at + 2].copy_from_slice(&(word as u16).to_be_bytes());
    Some(balanced)
}

/// True for fewer bytes, fewer specified addresses, or fewer non-zero bytes, in this order.
fn is_simpler(packet: &Packet, than: &Packet) -> bool {
    let size = |packet: &Packet| {
        let addresses = match packet.addresses {
            Some((source, destination)) => {
                usize::from(!source.is_unspecified()) + usize::from(!destination.is_unspecified())
            }
            None => 0,
        };
        let bytes = packet.bytes.iter().filter(|byte| **byte != 0).count();
        (packet.bytes.len(), addresses, bytes)
    };
    size(packet) < size(than)
}

/// The length of the header in bytes.
fn header_bytes(packet: &Packet) -> usize {
    match packet.protocol {
        Protocol::Ipv4Header => 20,
        Protocol::Tcp => usize::from(packet.bytes[12] >> 4) * 4,
        Protocol::Udp | Protocol::Icmp | Protocol::Icmpv6 => 8,
    }
}

/// The packet with only these bytes, and its length fields adjusted.
fn shortened(packet: &Packet, bytes: &[u8]) -> Packet {
    let mut shorter = Packet { bytes: bytes.to_vec(), ..packet.clone() };
    let [high, low] = (bytes.len() as u16).to_be_bytes();
    match packet.protocol {
        Protocol::Udp => shorter.bytes[4..6].copy_from_slice(&[high, low]),
        Protocol::Ipv4Header => shorter.bytes[0] = 0x40 | (bytes.len() / 4) as u8,
        _ => {}
    }
    shorter
}

/// Restores the length fields of the header.
fn with_lengths_of(mut plain: Packet, packet: &Packet) -> Packet {
    let lengths = match packet.protocol {
        Protocol::Ipv4Header => 0..4,
        Protocol::Tcp => 12..13,
        Protocol::Udp => 4..6,
        // The type, which the implementation must know.
        Protocol::Icmp | Protocol::Icmpv6 => 0..1,
    };
    plain.bytes[lengths.clone()].copy_from_slice(&packet.bytes[lengths]);
    plain
}

#[cfg(test)]
mod tests {
    use crate::reduce::{Effort, reduce};
    use crate::wire::{Request, Rule};

    /// The reduced request, as a line.
    fn reduced(line: &str, fails: &mut dyn FnMut(&Request) -> bool) -> String {
        let request = Request::read(line).unwrap_or_else(|| panic!("{line}"));
        assert!(fails(&request), "{line}");
        reduce(&request, Effort::default(), fails).line(false)
    }

    #[test]
    fn a_packet_loses_its_payload_addresses_and_irrelevant_fields() {
        let line = "packet udp 192.0.2.1 192.0.2.2 9c7500350011dfd12233445566778899aa";
        let mut long = |request: &Request| request.input_len() >= 13;
        assert_eq!(reduced(line, &mut long), "packet udp 0.0.0.0 0.0.0.0 00000000000d00000000000000");
        // The relevant byte is kept, and the length in the header is adjusted.
        let mut holding = |request: &Request| request.input().bytes().contains(&0x44);
        assert_eq!(reduced(line, &mut holding), "packet udp 0.0.0.0 0.0.0.0 00000000000b0000000044");
        let mut any = |_: &Request| true;
        let header =
            "packet ipv4_header - - 48000030e29040004011c05cc0000201c0000202070b08c00002010000000000";
        assert_eq!(reduced(header, &mut any).len(), "packet ipv4_header - - ".len() + 2 * 20);
    }

    #[test]
    fn a_word_of_the_payload_keeps_a_relevant_checksum() {
        let line = "packet udp 192.0.2.1 192.0.2.2 9c750035000affffdf2b";
        let mut zero = |request: &Request| {
            crate::reference::answer(request) == Some(crate::wire::Reply::Field([0xff, 0xff]))
        };
        // 17, and twice the length.
        assert_eq!(reduced(line, &mut zero), "packet udp 0.0.0.0 0.0.0.0 00000000000a0000ffda");
    }

    #[test]
    fn an_intact_packet_stays_intact() {
        let line = "verify icmp - - 0000a58a12340001000102030405060708090a0b0c0d0e0f10";
        let mut any =
            |request: &Request| crate::reference::answer(request) == Some(crate::wire::Reply::Intact);
        assert_eq!(reduced(line, &mut any), "verify icmp - - 0000ffff00000000");
    }

    #[test]
    fn a_pseudo_header_keeps_a_relevant_length() {
        let mut long =
            |request: &Request| matches!(request, Request::Pseudo { length, .. } if *length > 0xffff);
        assert_eq!(reduced("pseudo 2001:db8::1 2001:db8::2 6 4294967295", &mut long), "pseudo :: :: 0 65536");
    }

    #[test]
    fn an_update_is_short_and_of_possible_data() {
        let mut internet = |request: &Request| matches!(request, Request::Update { rule: Rule::Internet, new, .. } if new.contains(&0x85));
        assert_eq!(
            reduced("update internet dd2f 6 55551234 32851234", &mut internet),
            "update internet 0000 0 0000 0085"
        );
        // If all bytes were zero, the checksum could be 0000 or ffff.
        let mut any = |_: &Request| true;
        assert_eq!(reduced("update internet dd2f 2 5555 3285", &mut any), "update internet 0001 0 00 00");
    }
}
