"""scapy's checksums as an adapter: pip install scapy."""
import lines
import scapy
from scapy.layers.inet import ICMP, IP, TCP, UDP, in4_pseudoheader
from scapy.layers.inet6 import ICMPv6Unknown, IPv6, in6_pseudoheader
from scapy.packet import Raw
from scapy.utils import checksum

FIELDS = {"ipv4_header": (IP, 10), "tcp": (TCP, 16), "udp": (UDP, 6), "icmp": (ICMP, 2)}


def pseudo(source, destination, protocol, length):
    made = in6_pseudoheader if ":" in source else in4_pseudoheader
    ip = (IPv6 if ":" in source else IP)(src=source, dst=destination)
    return ~checksum(bytes(made(int(protocol), ip, int(length)))) & 0xFFFF


def packet(protocol, source, destination, word):
    data = lines.data(word)
    if protocol == "icmpv6":
        inner, field = ICMPv6Unknown(data), 2
        inner.cksum = None
    else:
        layer, field = FIELDS[protocol]
        inner = layer(data)
        inner.chksum = None
    if source != "-":
        inner = (IPv6 if ":" in source else IP)(src=source, dst=destination) / inner
    sent = bytes(inner)[-len(data):]
    return int.from_bytes(sent[field : field + 2], "big")


lines.serve("scapy", scapy.__version__, {
    "sum": lambda word: checksum(lines.data(word)),
    "pseudo": pseudo,
    "packet": packet,
})
