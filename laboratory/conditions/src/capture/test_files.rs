//! Tests with files of both formats: valid, unusual, inconsistent, truncated, damaged, and slow.

use super::*;
use carryline_packets::file::MOST_RECORD_BYTES;
use carryline_packets::handmade::*;
use carryline_packets::link::types as link;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write;

const ORDERS: [Order; 2] = [Order::Little, Order::Big];

fn parse(file: &[u8]) -> Result<Capture, CaptureError> {
    read_from(file, "test.pcap")
}

fn error(file: &[u8]) -> CaptureError {
    parse(file).expect_err("unusable")
}

#[test]
fn pcapng_knows_sections_interfaces_and_all_three_packet_blocks() {
    let ether = |len| {
        let frame = frame(link::ETHERNET, Order::Little, &ipv4(6, 0, &tcp(len)));
        (frame.clone(), frame.len() as u32)
    };
    let raw = |len| {
        let frame = ipv4(6, 0, &tcp(len));
        (frame.clone(), frame.len() as u32)
    };
    for (first, second) in [(Order::Little, Order::Big), (Order::Big, Order::Little)] {
        let mut file = section(first);
        let time = [option(first, 9, &[255]), option(first, 2, b"eth0"), option(first, 0, b"")].concat();
        file.extend(interface(first, link::ETHERNET, 0, &time));
        file.extend(interface(first, link::RAW, 96, &[]));
        file.extend(enhanced_packet(first, 1, &raw(21), &option(first, 1, b"a comment")));
        file.extend(enhanced_packet(first, 0, &ether(101), &[]));
        file.extend(simple_packet(first, &ether(102)));
        file.extend(old_packet(first, 1, &raw(23)));
        file.extend(block(first, 4, &[0; 40]));
        file.extend(block(first, 0x8000_0bad, b"private"));
        file.extend(enhanced_packet(first, 2, &raw(24), &[]));
        file.extend(section(second));
        file.extend(enhanced_packet(second, 0, &ether(103), &[]));
        file.extend(simple_packet(second, &ether(104)));
        file.extend(interface(second, link::RAW, 40, &[]));
        let (long, original) = raw(1000);
        file.extend(simple_packet(second, &(long[..40].to_vec(), original)));
        file.extend(simple_packet(second, &(long[..36].to_vec(), original)));
        let capture = parse(&file).expect("a capture");
        assert_eq!(capture.sizes, [(21, 1), (23, 1), (101, 1), (102, 1), (1000, 1)]);
        assert_eq!(capture.skipped, [(Skip::BadRecord, 1), (Skip::UnknownInterface, 3)]);
        assert_eq!(capture.packets_skipped(), 4);
    }
}

#[test]
fn an_inconsistent_record_is_skipped() {
    let order = Order::Little;
    let good = whole([ipv4(6, 0, &tcp(30))]).remove(0);
    let mut file = [section(order), interface(order, link::RAW, 0, &[])].concat();
    // A captured length beyond the block.
    let mut bad = enhanced_packet(order, 0, &good, &[]);
    bad[20..24].copy_from_slice(&order.u32(0xffff_fff0));
    file.extend(bad);
    let mut bad = enhanced_packet(order, 0, &good, &[]);
    bad[20..24].copy_from_slice(&order.u32(good.0.len() as u32 + 4));
    file.extend(bad);
    // An option beyond the block.
    file.extend(enhanced_packet(order, 0, &good, &[1, 0, 200, 0]));
    let mut bad = old_packet(order, 0, &good);
    bad[20..24].copy_from_slice(&order.u32(0x8000_0000));
    file.extend(bad);
    file.extend(enhanced_packet(order, 0, &good, &[]));
    let capture = parse(&file).expect("one packet is good");
    assert_eq!(capture.sizes, [(30, 1)]);
    assert_eq!(capture.skipped, [(Skip::BadRecord, 4)]);
}

#[test]
fn an_impossible_length_ends_reading_at_its_record() {
    let record = whole([ipv4(6, 0, &tcp(30))]).remove(0);
    for order in ORDERS {
        let good = pcap(order, false, link::RAW, std::slice::from_ref(&record));
        for claim in [0x8000_0000_u32, 0xffff_ffff, MOST_RECORD_BYTES + 1] {
            let mut file = good.clone();
            for field in [1, 1, claim, claim] {
                file.extend(order.u32(field));
            }
            let error = error(&file);
            assert_eq!(error.offset, good.len() as u64);
            assert!(
                error.to_string().contains(&format!("impossible length of {claim} captured bytes")),
                "{error}"
            );
        }
        let good = pcapng(order, link::RAW, std::slice::from_ref(&record));
        for kind in [1_u32, 2, 3, 6, 0x0a0d_0d0a, 4, 99] {
            for claim in [0_u32, 1, 11, 13, 0xffff_fffd, 0xffff_ffff] {
                let mut file = good.clone();
                file.extend([order.u32(kind), order.u32(claim), order.u32(0x1a2b_3c4d)].concat());
                file.extend([0; 64]);
                let error = error(&file);
                assert_eq!(error.offset, good.len() as u64, "type {kind:#x}, length {claim:#x}");
                assert!(error.to_string().starts_with("test.pcap: byte "), "{error}");
                assert!(matches!(error.fault, Fault::Damaged(_)), "{error}");
            }
            // A possible length beyond the end: an error if the block must be kept, otherwise skipped to the
            // end.
            let mut file = good.clone();
            file.extend([order.u32(kind), order.u32(0xffff_fffc), order.u32(0x1a2b_3c4d)].concat());
            match parse(&file) {
                Ok(capture) => {
                    assert!([4, 99].contains(&kind));
                    assert_eq!(capture.skipped, [(Skip::CutShort, 1)]);
                }
                Err(error) => {
                    assert!(![4, 99].contains(&kind));
                    assert_eq!(error.offset, good.len() as u64);
                }
            }
        }
    }
}

#[test]
fn blocks_with_different_lengths_at_both_ends_end_reading() {
    for order in ORDERS {
        for kind in [1, 6, 5] {
            let mut file = pcapng(order, link::RAW, &whole([ipv4(6, 0, &tcp(30))]));
            let start = file.len() as u64;
            let mut odd = block(order, kind, &[0; 24]);
            let end = odd.len() - 4;
            odd[end..].copy_from_slice(&order.u32(40));
            file.extend(odd);
            let error = error(&file);
            assert_eq!(error.offset, start);
            assert!(
                error.to_string().contains("36 bytes long at its beginning and 40 at its end"),
                "{error}"
            );
        }
    }
}

#[test]
fn invalid_headers_are_errors() {
    let order = Order::Little;
    let options_past_the_end =
        [section(order), interface(order, link::RAW, 0, &[9, 0, 40, 0, 1, 0, 0, 0])].concat();
    let refused = error(&options_past_the_end);
    assert_eq!(refused.offset, section(order).len() as u64);
    assert!(refused.to_string().contains("damaged: an interface description"), "{refused}");
    let mut section_options = block(order, 0x0a0d_0d0a, &[0; 20]);
    section_options[8..16].copy_from_slice(&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
    section_options[24..28].copy_from_slice(&[4, 0, 200, 0]);
    assert!(error(&section_options).to_string().contains("byte 0: damaged: a section header"));
    let mut version = section(order);
    version[12] = 9;
    assert!(error(&version).to_string().contains("version 9.0"));
    let mut mark = section(order);
    mark[8] = 0;
    assert!(error(&mark).to_string().contains("byte-order magic"));
    let mut version = pcap(order, false, link::RAW, &[]);
    version[4] = 3;
    assert!(error(&version).to_string().contains("version 3.4"));
}

#[test]
fn other_files_are_not_captures() {
    assert!(matches!(error(b"").fault, Fault::Empty));
    assert!(matches!(error(b"hello, world").fault, Fault::NotACapture("")));
    assert!(matches!(error(b"h").fault, Fault::NotACapture("")));
    assert!(error(&[0x1f, 0x8b, 8, 0, 0]).to_string().contains("gzip"));
    assert!(error(&[0x28, 0xb5, 0x2f, 0xfd, 0]).to_string().contains("zstd"));
    assert!(error(b"snoop\0\0\0").to_string().contains("snoop"));
    assert_eq!(error(b"hello").to_string(), "test.pcap: byte 0: not a pcap or pcapng capture");
    assert!(matches!(read("/nonexistent/x.pcap").expect_err("no file").fault, Fault::Open(_)));
    assert!(matches!(read("/").expect_err("a folder").fault, Fault::Read(_)));
}

#[test]
fn a_capture_without_a_usable_packet_is_an_error_with_the_reasons() {
    let none = error(&pcap(Order::Big, true, link::ETHERNET, &[]));
    assert_eq!(none.to_string(), "test.pcap: byte 24: no usable packet (it holds no packets)");
    let unknown = error(&pcap(Order::Little, false, 147, &whole([ipv4(6, 0, &tcp(30))])));
    assert!(unknown.to_string().contains("1 unknown link type 147"), "{unknown}");
    let arp = [&[0xff; 12][..], &[8, 6], &[0; 46]].concat();
    let arps = error(&pcapng(Order::Little, link::ETHERNET, &whole([arp.clone(), arp])));
    assert!(arps.to_string().contains("no usable packet (2 not IP)"), "{arps}");
    assert!(matches!(error(&section(Order::Big)).fault, Fault::NothingUsable(_)));
}

/// Files of each kind, with the offsets at which records begin or end.
fn samples() -> Vec<(Vec<u8>, Vec<usize>)> {
    let records = whole([ipv4(6, 0, &tcp(21)), ipv4(17, 0, &udp(30, 1)), ipv6(&[], 6, &tcp(50))]);
    let mut samples = Vec::new();
    for order in ORDERS {
        for nanoseconds in [false, true] {
            let ends = (0..=3).map(|n| pcap(order, nanoseconds, link::RAW, &records[..n]).len()).collect();
            samples.push((pcap(order, nanoseconds, link::RAW, &records), ends));
        }
        let mut ends = vec![section(order).len()];
        ends.extend((0..=3).map(|n| pcapng(order, link::RAW, &records[..n]).len()));
        samples.push((pcapng(order, link::RAW, &records), ends));
    }
    samples
}

#[test]
fn truncation_at_every_byte_keeps_what_came_before() {
    for (file, ends) in samples() {
        let first_packet_end = ends[ends.len() - 3];
        for len in 0..file.len() {
            let packets = ends[ends.len() - 3..].iter().filter(|end| **end <= len).count() as u64;
            match parse(&file[..len]) {
                Ok(capture) => {
                    assert!(len >= first_packet_end);
                    assert_eq!(capture.packets_used, packets, "{len} bytes");
                    let cut = u64::from(!ends.contains(&len));
                    assert_eq!(capture.packets_skipped(), cut, "{len} bytes");
                    assert!(capture.skipped.iter().all(|(why, _)| *why == Skip::CutShort));
                }
                Err(error) => {
                    assert!(len < first_packet_end, "{len} bytes: {error}");
                    let right = match error.fault {
                        Fault::Empty => len == 0,
                        Fault::HeaderCut { have, need } => have == len as u64 && need > have && len < ends[0],
                        Fault::NothingUsable(_) => len >= ends[0],
                        _ => false,
                    };
                    assert!(right, "{len} bytes: {error}");
                }
            }
        }
    }
}

#[test]
fn random_damage_never_panics() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(36);
    let (mut used, mut refused) = (0, 0);
    for (file, _) in samples() {
        for _ in 0..20_000 {
            let mut damaged = file.clone();
            for _ in 0..=random.next_u64() % 6 {
                let at = random.next_u64() as usize % damaged.len();
                damaged[at] = match random.next_u64() % 3 {
                    0 => 0xff,
                    1 => 0,
                    _ => random.next_u64() as u8,
                };
            }
            match parse(&damaged) {
                Ok(capture) => {
                    used += 1;
                    assert!(capture.packets_used + capture.packets_skipped() <= 6);
                    assert!(capture.sizes.iter().all(|(size, _)| *size <= 65535));
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.offset <= damaged.len() as u64, "{error}");
                }
            }
        }
    }
    assert!(used > 1000 && refused > 1000, "{used} used, {refused} refused");
}

/// A reader that returns one byte at a time and is interrupted every other time, like a slow pipe.
struct Trickle<'a>(&'a [u8], bool);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        match (self.0.split_first(), buffer.first_mut()) {
            (Some((byte, rest)), Some(place)) => {
                *place = *byte;
                self.0 = rest;
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

#[test]
fn a_slow_stream_reads_like_the_file() {
    for (file, _) in samples() {
        let slow = read_from(Trickle(&file, false), "pipe").expect("a capture");
        assert_eq!(slow, parse(&file).expect("a capture"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_is_read_by_its_path() {
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let write = std::thread::spawn(move || writer.write_all(&example_capture()));
    let capture = read(format!("/proc/self/fd/{}", reader.as_raw_fd())).expect("a capture");
    write.join().expect("no panic").expect("written");
    assert_eq!(capture.sizes, [(28, 2), (1480, 1)]);
    assert_eq!(capture.skipped, [(Skip::NotIp, 1)]);
}

#[test]
fn a_read_error_is_reported_with_its_offset() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let file = example_capture();
            let got = (file.len().min(100) - self.0).min(buffer.len());
            if got == 0 {
                return Err(std::io::Error::other("bad sector"));
            }
            buffer[..got].copy_from_slice(&file[self.0..self.0 + got]);
            self.0 += got;
            Ok(got)
        }
    }
    let error = read_from(Failing(0), "disk").expect_err("a fault");
    assert_eq!(error.to_string(), "disk: byte 100: cannot be read: bad sector");
}
