//! Captures built byte by byte for tests.

use crate::link::types as link;

/// The byte order of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl Order {
    /// A 16-bit field.
    pub fn u16(self, value: u16) -> [u8; 2] {
        if self == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    /// A 32-bit field.
    pub fn u32(self, value: u32) -> [u8; 4] {
        if self == Order::Little { value.to_le_bytes() } else { value.to_be_bytes() }
    }
}

/// An IPv4 packet with `options` extra words in its header.
pub fn ipv4(protocol: u8, options: u8, payload: &[u8]) -> Vec<u8> {
    let header_bytes = 20 + 4 * usize::from(options);
    let total = (header_bytes + payload.len()) as u16;
    let mut packet = vec![0x45 + options, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    packet.resize(header_bytes, 1);
    packet.extend(payload);
    packet
}

/// An IPv6 packet with extension headers, each a type and bytes; the first byte is overwritten with the next
/// type.
pub fn ipv6(extensions: &[(u8, Vec<u8>)], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let extension_bytes: usize = extensions.iter().map(|(_, bytes)| bytes.len()).sum();
    let kinds: Vec<u8> = extensions.iter().map(|(kind, _)| *kind).chain([protocol]).collect();
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(((extension_bytes + payload.len()) as u16).to_be_bytes());
    packet.extend([kinds[0], 64]);
    packet.extend([0x20; 32]);
    for ((_, bytes), next) in extensions.iter().zip(&kinds[1..]) {
        packet.push(*next);
        packet.extend(&bytes[1..]);
    }
    packet.extend(payload);
    packet
}

/// A TCP segment of `len` bytes.
pub fn tcp(len: usize) -> Vec<u8> {
    let mut segment = vec![0x1f, 0x90, 0xc0, 0x01, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10];
    segment.resize(len, 0xa5);
    segment
}

/// A UDP datagram of `len` bytes with the given checksum field.
pub fn udp(len: usize, checksum: u16) -> Vec<u8> {
    let mut datagram = vec![0, 53, 0x30, 0x39];
    datagram.extend((len as u16).to_be_bytes());
    datagram.extend(checksum.to_be_bytes());
    datagram.resize(len, 0x5a);
    datagram
}

/// An ICMP or ICMPv6 message of `len` bytes.
pub fn echo(kind: u8, len: usize) -> Vec<u8> {
    let mut message = vec![kind, 0, 0x11, 0x22, 0, 1, 0, 2];
    message.resize(len, 0x3c);
    message
}

/// Wraps an IP packet for a link type. Ethernet pads to 60 bytes.
pub fn frame(link: u32, order: Order, packet: &[u8]) -> Vec<u8> {
    let six = packet[0] >> 4 == 6;
    let ethertype: [u8; 2] = if six { [0x86, 0xdd] } else { [0x08, 0x00] };
    let mut frame = match link {
        link::ETHERNET => [&[2; 12][..], &ethertype].concat(),
        link::LINUX_COOKED => [&[0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0][..], &ethertype].concat(),
        link::LINUX_COOKED_2 => {
            [&ethertype[..], &[0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0]].concat()
        }
        link::BSD_NULL => order.u32(if six { 30 } else { 2 }).to_vec(),
        link::BSD_LOOP => (if six { 24_u32 } else { 2 }).to_be_bytes().to_vec(),
        link::PPP => vec![0xff, 0x03, 0, if six { 0x57 } else { 0x21 }],
        link::PPP_SERIAL => vec![if six { 0x57 } else { 0x21 }],
        _ => Vec::new(),
    };
    frame.extend(packet);
    if link == link::ETHERNET && frame.len() < 60 {
        frame.resize(60, 0);
    }
    frame
}

/// An Ethernet frame with VLAN tags.
pub fn tagged(tags: &[u16], packet: &[u8]) -> Vec<u8> {
    let plain = frame(link::ETHERNET, Order::Little, packet);
    let mut frame = plain[..12].to_vec();
    for tag in tags {
        frame.extend(tag.to_be_bytes());
        frame.extend([0, 42]);
    }
    frame.extend(&plain[12..]);
    frame
}

/// A captured frame with its length on the wire.
pub type Record = (Vec<u8>, u32);

/// Completely captured frames.
pub fn whole(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<Record> {
    frames.into_iter().map(|frame| (frame.clone(), frame.len() as u32)).collect()
}

/// A pcap file.
pub fn pcap(order: Order, nanoseconds: bool, link: u32, records: &[Record]) -> Vec<u8> {
    let mut file = order.u32(if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
    file.extend(order.u16(2));
    file.extend(order.u16(4));
    for field in [0, 0, 65535, link] {
        file.extend(order.u32(field));
    }
    for (number, (captured, original)) in (1_u32..).zip(records) {
        for field in [1_700_000_000, number, captured.len() as u32, *original] {
            file.extend(order.u32(field));
        }
        file.extend(captured);
    }
    file
}

/// A pcapng block with consistent lengths.
pub fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let len = order.u32(padded as u32 + 12);
    let mut block = [&order.u32(kind)[..], &len, body].concat();
    block.resize(8 + padded, 0);
    block.extend(len);
    block
}

/// A section header block with an option.
pub fn section(order: Order) -> Vec<u8> {
    let mut body = order.u32(0x1a2b_3c4d).to_vec();
    body.extend(order.u16(1));
    body.extend(order.u16(0));
    body.extend([0xff; 8]);
    body.extend(option(order, 4, b"by hand"));
    body.extend(option(order, 0, b""));
    block(order, 0x0a0d_0d0a, &body)
}

/// An option, padded to four bytes.
pub fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut option = [order.u16(code), order.u16(value.len() as u16)].concat();
    option.extend(value);
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

/// An interface description block.
pub fn interface(order: Order, link: u32, snap_bytes: u32, options: &[u8]) -> Vec<u8> {
    let body = [&order.u16(link as u16)[..], &[0, 0], &order.u32(snap_bytes), options].concat();
    block(order, 1, &body)
}

/// An enhanced packet block.
pub fn enhanced_packet(order: Order, interface: u32, record: &Record, options: &[u8]) -> Vec<u8> {
    let (captured, original) = record;
    let mut body = Vec::new();
    for field in [interface, 0x0005_f5e1, 7, captured.len() as u32, *original] {
        body.extend(order.u32(field));
    }
    body.extend(captured);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(options);
    block(order, 6, &body)
}

/// A simple packet block.
pub fn simple_packet(order: Order, record: &Record) -> Vec<u8> {
    block(order, 3, &[&order.u32(record.1)[..], &record.0].concat())
}

/// The packet block of early drafts.
pub fn old_packet(order: Order, interface: u16, record: &Record) -> Vec<u8> {
    let (captured, original) = record;
    let mut body = [order.u16(interface), order.u16(0)].concat();
    for field in [1, 2, captured.len() as u32, *original] {
        body.extend(order.u32(field));
    }
    body.extend(captured);
    block(order, 2, &body)
}

/// A pcapng file with one interface and all packets in enhanced packet blocks.
pub fn pcapng(order: Order, link: u32, records: &[Record]) -> Vec<u8> {
    let mut file = section(order);
    file.extend(interface(order, link, 0, &[]));
    for record in records {
        file.extend(enhanced_packet(order, 0, record, &[]));
    }
    file
}

/// A pcap with payloads of 28, 28 and 1480 bytes and one ARP packet.
pub fn example_capture() -> Vec<u8> {
    let ether = |packet: Vec<u8>| frame(link::ETHERNET, Order::Little, &packet);
    let mut arp = [&[0xff; 12][..], &[0x08, 0x06]].concat();
    arp.resize(60, 1);
    let frames =
        [ether(ipv4(6, 0, &tcp(28))), arp, ether(ipv4(17, 0, &udp(28, 7))), ether(ipv4(6, 0, &tcp(1480)))];
    pcap(Order::Little, false, link::ETHERNET, &whole(frames))
}
