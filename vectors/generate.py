#!/usr/bin/env python3
"""Writes the conformance vectors for the Internet checksum.

Independent of the library on purpose: data is one big integer, and the sum is its remainder modulo 65535. As 65536 is
1 modulo 65535, that is the sum of the 16-bit words. Packets are as a Linux kernel sent them; their checksums are the
kernel's and are only checked here.

Usage: vectors/generate.py [--check]     --check compares with the files and writes nothing.
"""
import ipaddress
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def repeated(pattern, size):
    """What `size` bytes of a repeated pattern count as, one big integer, padded to whole words."""
    if len(pattern) % 2:
        pattern += pattern
    whole, rest = divmod(size, len(pattern))
    rest = pattern[:rest]
    rest += bytes(len(rest) % 2)
    # A repetition of a word-aligned pattern: every copy counts the same.
    return int.from_bytes(pattern, "big") % 65535 * whole + int.from_bytes(rest, "big"), any(pattern[:size])


def size_of(part):
    return part["bytes"] if "repeat" in part else len(part["hex"]) // 2


def sum_of(parts):
    """The sum of parts one behind the other: 0 for nothing but zeros, otherwise 1 to 65535.

    A part at an odd place counts 256-fold, which swaps its bytes.
    """
    total, place, anything = 0, 0, False
    for part in parts:
        if "repeat" in part:
            number, nonzero = repeated(bytes.fromhex(part["repeat"]), part["bytes"])
        else:
            data = bytes.fromhex(part["hex"])
            number, nonzero = int.from_bytes(data + bytes(len(data) % 2), "big"), any(data)
        total += number * (256 if place % 2 else 1)
        anything |= nonzero
        place += size_of(part)
    return (total - 1) % 65535 + 1 if anything else 0


def raw(data):
    return sum_of([{"hex": data.hex()}])


def word(value):
    return f"{value:04x}"


def results(parts):
    total = sum_of(parts)
    finished = 0xFFFF - total
    return {"sum": word(total), "checksum": word(finished), "udp_checksum": word(finished or 0xFFFF)}


def hexed(text):
    return {"hex": text.replace(" ", "")}


def repeat(pattern, size):
    return {"repeat": pattern, "bytes": size}


def sums():
    def case(name, *parts):
        return {"name": name, "data": list(parts), **results(parts)}

    yield case("nothing")
    yield case("RFC 1071, section 3", hexed("0001 f203 f4f5 f6f7"))
    for text in ["00", "01", "ff", "0000", "0001", "0100", "ff00", "00ff", "ffff", "fffe", "feff"]:
        yield case(f"one piece {text}", hexed(text))
    for text in [
        "ffff 0001", "ffff 0000", "ffff ffff", "fffe 0001", "fffe 0002", "8000 8000", "7fff 8000", "7fff 7fff 0001",
        "ffff ffff 0001", "0001 ffff ffff ffff", "1234 edcb", "1234 edca", "1234 edcc", "ffff ff", "ffff 01",
        "0000 0000 00", "0000 0000 01",
    ]:
        yield case(f"carry {text}", hexed(text))
    # A fold that carries again, in 16, 32 and 64 bits.
    yield case("the fold carries once more, 32 bits", hexed("ffff 0001 ffff ffff"))
    yield case("all ones but the last bit, 64 bits", hexed("ffff ffff ffff fffe"))
    yield case("a carry out of 64 bits", hexed("ffff ffff ffff ffff 0000 0000 0000 0001"))
    yield case("a carry out of 64 bits, and one more", hexed("ffff ffff ffff ffff ffff ffff ffff ffff 0000 0000 0000 0002"))
    # As little-endian loads see it.
    yield case("a carry out of 64 bits, bytes reversed", hexed("ffff ffff ffff ffff 0100 0000 0000 0000"))
    for size in list(range(1, 34)) + [63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 511, 512, 513, 576, 1500]:
        yield case(f"{size} bytes of ff", repeat("ff", size))
        yield case(f"{size} bytes counting up", repeat("".join(f"{byte:02x}" for byte in range(1, 252)), size))
    for size in [9000, 16 * KIB - 1, 65_535, 65_536]:
        yield case(f"{size} bytes of ff", repeat("ff", size))
        yield case(f"{size} bytes of 01 00 fe ff", repeat("0100feff", size))
        yield case(f"{size} bytes of ff 7f", repeat("ff7f", size))
        yield case(f"{size} bytes of 00 80", repeat("0080", size))
    # 2^16 words of ffff are the first that do not fit into 32 bits; lanes of 32 bits multiply that.
    for bound in [128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB]:
        for size in [bound - 2, bound - 1, bound, bound + 1, bound + 2, bound + 4, bound + 64, bound + 131]:
            yield case(f"saturation: {size} bytes of ff", repeat("ff", size))
        yield case(f"saturation: {bound} bytes of ff 7f", repeat("ff7f", bound))
        yield case(f"saturation: {bound} bytes of 00 80", repeat("0080", bound))
        yield case(f"saturation: {bound} bytes of ff and a word of 1", repeat("ff", bound), hexed("0001"))
        yield case(f"only the last of {bound + 1} bytes is not zero", repeat("00", bound), hexed("01"))
    yield case("saturation: 64 MiB and 3 bytes of ff", repeat("ff", 64 * MIB + 3))
    yield case("saturation: 1 GiB of ff", repeat("ff", GIB))
    yield case("saturation: 1 GiB less 1 byte of 01 00 fe ff", repeat("0100feff", GIB - 1))


def segments():
    def case(name, *pieces):
        pieces = [[piece] if isinstance(piece, dict) else piece for piece in pieces]
        return {"name": name, "segments": pieces, **results([part for piece in pieces for part in piece])}

    yield case("no segments")
    yield case("empty segments only", [], [], [])
    yield case("a carry in a segment at an odd place", hexed("01"), hexed("ffffffff"))
    yield case("a carry in each of two segments at odd places", hexed("01"), hexed("ffffffff"), hexed("feffffff"))
    yield case("odd, empty, odd", hexed("12"), [], hexed("34"))
    yield case("single bytes", *[hexed(f"{byte:02x}") for byte in range(1, 18)])
    yield case("odd, even, odd", hexed("010203"), hexed("0405"), hexed("060708090a"))
    yield case("even, odd, even", hexed("0102"), hexed("030405"), hexed("06070809"))
    yield case("odd zeros in front", hexed("00"), hexed("0001 f203 f4f5 f6f7"))
    yield case("an odd end", hexed("0001 f203"), hexed("f4f5 f6"))
    for first in range(0, 9):
        data = "0001f203f4f5f6f7"
        yield case(f"RFC 1071 split at {first}", hexed(data[: 2 * first]), hexed(data[2 * first :]))
    for first in [1, 31, 63, 64, 65, 127, 129]:
        yield case(f"1500 bytes of ff split at {first}", repeat("ff", first), repeat("ff", 1500 - first))
        yield case(f"1501 bytes of ff fe split at {first}", repeat("fffe", first), repeat("fffe", 1501 - first))
    yield case("header, odd payload, trailer", repeat("a5", 54), repeat("ff", 1447), repeat("5a", 20))
    yield case("saturation in a segment at an odd place", hexed("01"), repeat("ff", MIB + 1), hexed("0002"))
    yield case("saturation in each of 3 odd segments", *[repeat("ff", 256 * KIB + 1)] * 3)


def updates():
    """Each case has the data before and after, so that the new checksum is one of a full sum."""

    def case(name, data, offset, new, rule="internet", before=None):
        data, new = bytes.fromhex(data.replace(" ", "")), bytes.fromhex(new.replace(" ", ""))
        after = data[:offset] + new + data[offset + len(new) :]
        key = "udp_checksum" if rule == "udp" else "checksum"
        old_checksum = before or results([{"hex": data.hex()}])[key]
        updated = results([{"hex": after.hex()}])[key]
        if rule == "udp" and old_checksum == "0000":
            updated = "0000"
        return {
            "name": name, "rule": rule, "data": data.hex(), "offset": offset,
            "old": data[offset : offset + len(new)].hex(), "new": new.hex(),
            "checksum": old_checksum, "updated": updated,
        }

    # RFC 1624, section 4: the other words sum to cd7a.
    yield case("RFC 1624, section 4", "cd7a 5555", 2, "3285")
    yield case("the word becomes what it was", "4500 0073 4011", 2, "0073")
    yield case("ffff becomes 0000", "4500 ffff 4011", 2, "0000")
    yield case("0000 becomes ffff", "4500 0000 4011", 2, "ffff")
    yield case("the sum becomes ffff, the checksum 0000", "1234 0000", 2, "edcb")
    yield case("the checksum was 0000", "1234 edcb", 2, "edca")
    yield case("the checksum was 0000 and stays", "1234 edcb 0000", 4, "ffff")
    yield case("nothing but zeros, unchanged", "0000 0000", 2, "0000")
    yield case("nothing but zeros become something", "0000 0000", 2, "0001")
    header = "4500001fe28d4000401100 00c0000201c0000202"
    yield case("TTL, one byte at an even place", header, 8, "3f")
    yield case("protocol, one byte at an odd place", header, 9, "06")
    yield case("TTL and protocol", header, 8, "3f06")
    yield case("source address", header, 12, "cb007107")
    yield case("both addresses", header, 12, "cb007107c6336401")
    yield case("three bytes from an odd place", header, 13, "010203")
    yield case("four bytes from an odd place", header, 13, "ffffffff")
    yield case("the last byte of odd data", "01 02 03 04 05", 4, "ff")
    yield case("the whole", "01 02 03 04 05", 0, "0504030201")
    v6 = "20010db8000000000000000000000001 20010db8000000000000000000000002 0000000b 00000011 9c750035000b0000 6f6464"
    yield case("IPv6 source address in the pseudo-header", v6, 0, "20010db8ffff000000000000000000fe", rule="udp")
    yield case("UDP port", v6, 40, "0400", rule="udp")
    yield case("UDP without a checksum stays so", v6, 40, "0400", rule="udp", before="0000")
    yield case("UDP: the computed zero is sent as ffff", "1234 0000", 2, "edcb", rule="udp")
    yield case("UDP: ffff was a computed zero", "1234 edcb", 2, "edca", rule="udp")
    yield case("UDP: ffff stays", "1234 edcb 0001", 4, "0001", rule="udp")
    yield case("UDP: one byte at an odd place", v6, 47 + 3, "00", rule="udp")
    for old in ["0000", "0001", "7fff", "8000", "fffe", "ffff"]:
        for new in ["0000", "0001", "7fff", "8000", "fffe", "ffff"]:
            for others in ["0001", "8000", "fffe", "ffff"]:
                yield case(f"beside {others}, {old} becomes {new}", others + old, 2, new)


def pseudo_header(source, destination, protocol, length):
    source, destination = ipaddress.ip_address(source), ipaddress.ip_address(destination)
    if source.version == 4:
        middle = bytes([0, protocol]) + length.to_bytes(2, "big")
    else:
        middle = length.to_bytes(4, "big") + bytes([0, 0, 0, protocol])
    return source.version, source.packed + destination.packed + middle


def pseudo_headers():
    def case(name, source, destination, protocol, length):
        version, data = pseudo_header(source, destination, protocol, length)
        return {
            "name": name, "version": version, "source": source, "destination": destination, "protocol": protocol,
            "length": length, "bytes": data.hex(), "sum": word(raw(data)),
        }

    yield case("UDP over IPv4", "192.0.2.1", "192.0.2.2", 17, 11)
    yield case("TCP over IPv4", "192.0.2.1", "192.0.2.2", 6, 40)
    yield case("length bytes in their order", "10.0.0.1", "10.0.0.2", 6, 0x0100)
    yield case("the longest over IPv4", "10.0.0.1", "10.0.0.2", 6, 0xFFFF)
    yield case("the shortest", "0.0.0.0", "0.0.0.0", 0, 0)
    yield case("protocol only", "0.0.0.0", "0.0.0.0", 17, 0)
    # The carry of the 64-bit fold that one kernel lost in 2015.
    yield case("carries of full words", "255.255.255.255", "255.0.0.0", 0, 0xFFFF)
    yield case("broadcast", "255.255.255.255", "255.255.255.255", 255, 0xFFFF)
    yield case("UDP over IPv6", "2001:db8::1", "2001:db8::2", 17, 11)
    yield case("TCP over IPv6", "2001:db8::1", "2001:db8::2", 6, 40)
    yield case("ICMPv6", "fe80::1", "ff02::1", 58, 32)
    yield case("a jumbogram: a length of 32 bits", "2001:db8::1", "2001:db8::2", 6, 0x0001_0000)
    yield case("the longest over IPv6", "2001:db8::1", "2001:db8::2", 17, 0xFFFF_FFFF)
    yield case("all ones", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", 255, 0xFFFF_FFFF)
    yield case("all zero", "::", "::", 0, 0)


# As sent by Linux 6 through a tun device; addresses of RFC 5737 and RFC 3849.
CAPTURED = {
    "UDP over IPv4, a DNS query": "45000039035240004011b35ec0000201c00002029c7500350025f55c1a2b01000001000000000000076578616d706c6503636f6d0000010001",
    "UDP over IPv6, a DNS query": "6008bcc30025114020010db800000000000000000000000120010db80000000000000000000000029c75003500251dec1a2b01000001000000000000076578616d706c6503636f6d0000010001",
    "UDP over IPv4, odd": "4500001f035340004011b377c0000201c00002029c750035000b0bc56f6464",
    "UDP over IPv6, odd": "6008bcc3000b114020010db800000000000000000000000120010db80000000000000000000000029c750035000b34546f6464",
    "UDP over IPv4, a computed zero sent as ffff": "4500001ee28e40004011d43cc0000201c00002029c750035000affffdf2b",
    "UDP over IPv6, a computed zero sent as ffff": "6008bcc3000a114020010db800000000000000000000000120010db80000000000000000000000029c750035000affff07bb",
    "UDP over IPv4 without a checksum": "4500001fe28f40004011d43ac0000201c00002029c750035000b00006f6464",
    "UDP over IPv4 with options": "4800002fe29040004011c05cc0000201c0000202070b08c000020100000000009c750035000f18d96f7074696f6e73",
    "TCP over IPv4, a SYN": "4500003c27e7400040068ed1c0000201c0000202ed52005090f47ff100000000a002faf06b370000020405b40402080af11f6e28000000000103030a",
    "TCP over IPv6, a SYN": "600875d60028064020010db800000000000000000000000120010db8000000000000000000000002df22005063c4517f00000000a002fd203e1c0000020405a00402080a63f7b8b1000000000103030a",
    "ICMP, an odd echo reply": "4500002deab5000040010c17c0000201c00002020000a58a12340001000102030405060708090a0b0c0d0e0f10",
    "ICMPv6, an odd echo reply": "600845f500193a4020010db800000000000000000000000120010db80000000000000000000000028100c8c112340001000102030405060708090a0b0c0d0e0f10",
}
PROTOCOLS = {1: ("icmp", 2), 6: ("tcp", 16), 17: ("udp", 6), 58: ("icmpv6", 2)}


def packets():
    for name, text in CAPTURED.items():
        packet = bytes.fromhex(text)
        if packet[0] >> 4 == 4:
            size = (packet[0] & 15) * 4
            header, segment = packet[:size], packet[size:]
            source, destination = (str(ipaddress.IPv4Address(packet[at : at + 4])) for at in (12, 16))
            number = packet[9]
            assert raw(header) == 0xFFFF, name
            yield {
                "name": f"IPv4 header: {name}", "protocol": "ipv4_header", "bytes": header.hex(), "field": 10,
                "checksum": header[10:12].hex(), "verdict": "intact",
            }
        else:
            segment, number = packet[40:], packet[6]
            source, destination = (str(ipaddress.IPv6Address(packet[at : at + 16])) for at in (8, 24))
        protocol, field = PROTOCOLS[number]
        case = {"name": name, "protocol": protocol}
        before = b""
        if protocol != "icmp":
            case |= {"source": source, "destination": destination}
            before = pseudo_header(source, destination, number, len(segment))[1]
        absent = protocol == "udp" and segment[field : field + 2] == b"\0\0"
        cleared = segment[:field] + b"\0\0" + segment[field + 2 :]
        key = "udp_checksum" if protocol == "udp" else "checksum"
        computed = results([{"hex": (before + cleared).hex()}])[key]
        assert absent or segment[field : field + 2].hex() == computed, name
        case |= {"bytes": segment.hex(), "field": field, "checksum": computed}
        yield case | {"verdict": "absent" if absent else "intact"}
        flipped = bytearray(segment)
        flipped[-1] ^= 0x40
        yield {
            **case, "name": f"{name}, one bit of it flipped", "bytes": flipped.hex(),
            "checksum": results([{"hex": (before + cleared[:-1] + flipped[-1:]).hex()}])[key],
            "verdict": "absent" if absent else "damaged",
        }
    zeros = bytes(20)
    yield {
        "name": "IPv4 header: 20 bytes of zero say a length of 0", "protocol": "ipv4_header", "bytes": zeros.hex(),
        "field": 10, "checksum": None, "verdict": "damaged",
    }
    yield {
        "name": "ICMP: nothing but zeros", "protocol": "icmp", "bytes": bytes(8).hex(), "field": 2,
        "checksum": "ffff", "verdict": "damaged",
    }
    yield {
        "name": "ICMP: nothing but zeros and their checksum", "protocol": "icmp", "bytes": "0000ffff00000000", "field": 2,
        "checksum": "ffff", "verdict": "intact",
    }


def main():
    different = []
    for kind, cases in [
        ("sums", sums()), ("segments", segments()), ("updates", updates()), ("pseudo_headers", pseudo_headers()),
        ("packets", packets()),
    ]:
        cases = list(cases)
        names = [case["name"] for case in cases]
        assert len(names) == len(set(names)), f"{kind}: a name stands twice"
        lines = ",\n".join("    " + json.dumps(case) for case in cases)
        text = f'{{\n  "format": "internet checksum vectors",\n  "version": 1,\n  "kind": "{kind}",\n  "cases": [\n{lines}\n  ]\n}}\n'
        path = HERE / f"{kind}.json"
        if "--check" in sys.argv[1:]:
            if path.read_text() != text:
                different.append(path.name)
        else:
            path.write_text(text)
    if different:
        sys.exit(f"not as generated: {', '.join(different)}")


main()
