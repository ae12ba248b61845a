//! Smaller updates, pseudo-headers and packets, which stay what they are: an update of data that there can be, a header that
//! is whole, lengths that agree.

use super::{Budget, least};
use crate::reference;
use crate::wire::{Packet, Protocol, Reply, Request};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A shorter change of plainer bytes, at the front.
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

/// How plain a byte is: 00 most, then ff and 01, then all others.
fn rank(byte: u8) -> u8 {
    match byte {
        0 => 0,
        0xff => 1,
        1 => 2,
        _ => 3,
    }
}

/// False for an update of which the checksum does not say what comes out of it: `ffff` is the checksum of zeros alone, and
/// where all but the change may be zero, it cannot be told whether all is zero after it.
fn has_one_answer(update: &Request) -> bool {
    let Request::Update { checksum, old, new, .. } = update else { return false };
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    if *checksum == [0xff, 0xff] {
        return is_zero(old);
    }
    let ends_at_zero = matches!(reference::answer(update), Some(Reply::Field([0, 0] | [0xff, 0xff])));
    !(ends_at_zero && is_zero(new))
}

/// A shorter length, plainer addresses.
pub(super) fn pseudo_header(budget: &mut Budget<'_>, request: &Request) -> Request {
    let Request::Pseudo { source, destination, protocol, length } = request else { return request.clone() };
    let (mut source, mut destination, mut protocol) = (*source, *destination, *protocol);
    let with =
        |source, destination, protocol, length| Request::Pseudo { source, destination, protocol, length };
    let most = usize::try_from(*length).unwrap_or(usize::MAX);
    let length = least(most, &mut |length| {
        u32::try_from(length).is_ok_and(|length| budget.fails(&with(source, destination, protocol, length)))
    });
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    if protocol != 0 && budget.fails(&with(source, destination, 0, length)) {
        protocol = 0;
    }
    if budget.fails(&with(nobody(source), destination, protocol, length)) {
        source = nobody(source);
    }
    if budget.fails(&with(source, nobody(destination), protocol, length)) {
        destination = nobody(destination);
    }
    with(source, destination, protocol, length)
}

/// The address of that kind whose bits are all 0.
const fn nobody(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}

/// A shorter packet of plainer bytes between plainer addresses. One that was intact stays so, by another checksum.
pub(super) fn packet(budget: &mut Budget<'_>, packet: &Packet, with: &dyn Fn(Packet) -> Request) -> Request {
    // What is no whole packet has nothing that could be left out.
    if reference::field_at(packet).is_none() {
        return with(packet.clone());
    }
    let right = reference::answer(&with(packet.clone()));
    let mut packet = packet.clone();
    let mut is_the_same = |candidate: Packet, packet: &mut Packet| {
        let candidate = match right {
            Some(Reply::Intact) => reference::sealed(&candidate),
            _ => Some(candidate),
        };
        let Some(candidate) = candidate.filter(|candidate| candidate != packet) else { return false };
        let request = with(candidate.clone());
        let answer = reference::answer(&request);
        // A verdict is the same; a field is a field.
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
    // A fault of the checksum 0000 needs that checksum: one word of the payload then makes up for what is left out elsewhere.
    let mut is_smaller = |candidate: Packet, packet: &mut Packet| {
        let balanced = with_checksum_of(&candidate, packet).filter(|balanced| is_plainer(balanced, packet));
        is_the_same(candidate, packet) || balanced.is_some_and(|balanced| is_the_same(balanced, packet))
    };
    let header_bytes = header_bytes(&packet);
    let bytes = packet.bytes.clone();
    // Options come in words.
    let unit = if packet.protocol == Protocol::Ipv4Header { 4 } else { 1 };
    least((bytes.len() - header_bytes) / unit, &mut |units| {
        is_smaller(shortened(&packet, &bytes[..header_bytes + units * unit]), &mut packet)
    });
    if let Some((source, destination)) = packet.addresses {
        for ends in [
            (nobody(source), nobody(destination)),
            (nobody(source), destination),
            (source, nobody(destination)),
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
            is_smaller(kept_in_form(plain, &packet), &mut packet);
        }
        part /= 2;
    }
    with(packet)
}

/// The packet with the last whole word of its payload chosen so that it is sent with the checksum of `other`.
fn with_checksum_of(packet: &Packet, other: &Packet) -> Option<Packet> {
    let at = (packet.bytes.len() & !1).checked_sub(2)?;
    if reference::field_at(packet).is_none() || at < header_bytes(packet) {
        return None;
    }
    let mut balanced = packet.clone();
    balanced.bytes[at..at + 2].fill(0);
    let field = |packet: &Packet| {
        let (at, sealed) = (reference::field_at(packet)?, reference::sealed(packet)?);
        Some(u16::from_be_bytes([sealed.bytes[at], sealed.bytes[at + 1]]))
    };
    // The sum that is wanted, less the one that is there without the word.
    let sum = u32::from(!field(other)?) + u32::from(field(&balanced)?);
    let word = (sum & 0xffff) + (sum >> 16);
    balanced.bytes[at..at + 2].copy_from_slice(&(word as u16).to_be_bytes());
    Some(balanced)
}

/// True for fewer bytes, or for more of them zero; zero addresses count.
fn is_plainer(packet: &Packet, than: &Packet) -> bool {
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

/// How many bytes at the front are no payload.
fn header_bytes(packet: &Packet) -> usize {
    match packet.protocol {
        Protocol::Ipv4Header => 20,
        Protocol::Tcp => usize::from(packet.bytes[12] >> 4) * 4,
        Protocol::Udp | Protocol::Icmp | Protocol::Icmpv6 => 8,
    }
}

/// Those bytes alone, with the length that they have.
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

/// With the lengths of the header as they were.
fn kept_in_form(mut plain: Packet, packet: &Packet) -> Packet {
    let lengths = match packet.protocol {
        Protocol::Ipv4Header => 0..4,
        Protocol::Tcp => 12..13,
        Protocol::Udp => 4..6,
        // A type that the other side knows.
        Protocol::Icmp | Protocol::Icmpv6 => 0..1,
    };
    plain.bytes[lengths.clone()].copy_from_slice(&packet.bytes[lengths]);
    plain
}

#[cfg(test)]
mod tests {
    use crate::reduce::{Effort, reduce};
    use crate::wire::{Request, Rule};

    /// What is left of the line where that decides.
    fn left(line: &str, fails: &mut dyn FnMut(&Request) -> bool) -> String {
        let request = Request::read(line).unwrap_or_else(|| panic!("{line}"));
        assert!(fails(&request), "{line}");
        reduce(&request, Effort::default(), fails).line(false)
    }

    #[test]
    fn a_packet_loses_its_payload_its_addresses_and_what_is_not_its_form() {
        let line = "packet udp 192.0.2.1 192.0.2.2 9c7500350011dfd12233445566778899aa";
        let mut long = |request: &Request| request.input_len() >= 13;
        assert_eq!(left(line, &mut long), "packet udp 0.0.0.0 0.0.0.0 00000000000d00000000000000");
        // The byte that matters is kept, and the length in the header follows.
        let mut holding = |request: &Request| request.input().bytes().contains(&0x44);
        assert_eq!(left(line, &mut holding), "packet udp 0.0.0.0 0.0.0.0 00000000000b0000000044");
        let mut any = |_: &Request| true;
        let header =
            "packet ipv4_header - - 48000030e29040004011c05cc0000201c0000202070b08c00002010000000000";
        assert_eq!(left(header, &mut any).len(), "packet ipv4_header - - ".len() + 2 * 20);
    }

    #[test]
    fn a_checksum_that_matters_is_kept_by_a_word_of_the_payload() {
        let line = "packet udp 192.0.2.1 192.0.2.2 9c750035000affffdf2b";
        let mut zero = |request: &Request| {
            crate::reference::answer(request) == Some(crate::wire::Reply::Field([0xff, 0xff]))
        };
        // 17, and twice the length.
        assert_eq!(left(line, &mut zero), "packet udp 0.0.0.0 0.0.0.0 00000000000a0000ffda");
    }

    #[test]
    fn an_intact_packet_stays_intact() {
        let line = "verify icmp - - 0000a58a12340001000102030405060708090a0b0c0d0e0f10";
        let mut any =
            |request: &Request| crate::reference::answer(request) == Some(crate::wire::Reply::Intact);
        assert_eq!(left(line, &mut any), "verify icmp - - 0000ffff00000000");
    }

    #[test]
    fn a_pseudo_header_keeps_what_matters() {
        let mut long =
            |request: &Request| matches!(request, Request::Pseudo { length, .. } if *length > 0xffff);
        assert_eq!(left("pseudo 2001:db8::1 2001:db8::2 6 4294967295", &mut long), "pseudo :: :: 0 65536");
    }

    #[test]
    fn an_update_is_short_and_of_data_that_there_can_be() {
        let mut internet = |request: &Request| matches!(request, Request::Update { rule: Rule::Internet, new, .. } if new.contains(&0x85));
        assert_eq!(
            left("update internet dd2f 6 55551234 32851234", &mut internet),
            "update internet 0000 0 0000 0085"
        );
        // With all bytes zero, it could not be told whether the checksum is 0000 or ffff.
        let mut any = |_: &Request| true;
        assert_eq!(left("update internet dd2f 2 5555 3285", &mut any), "update internet 0001 0 00 00");
    }
}
