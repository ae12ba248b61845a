"""dpkt's checksums as an adapter: pip install dpkt."""
from socket import AF_INET, AF_INET6, inet_pton

import dpkt
import lines
from dpkt import icmp, icmp6, ip, ip6, tcp, udp

LAYERS = {"tcp": (6, tcp.TCP), "udp": (17, udp.UDP), "icmpv6": (58, icmp6.ICMP6)}


def onto(word, data):
    before = dpkt.dpkt.in_cksum_add(0, bytes.fromhex(word))
    return dpkt.dpkt.in_cksum_done(dpkt.dpkt.in_cksum_add(before, lines.data(data)))


def packet(protocol, source, destination, word):
    data = lines.data(word)
    if protocol == "ipv4_header":
        # It writes the length anew: with a payload, the one that stands there.
        data += bytes(max(0, int.from_bytes(data[2:4], "big") - len(data)))
    if protocol in LAYERS:
        number, layer = LAYERS[protocol]
        six = ":" in source
        ends = [inet_pton(AF_INET6 if six else AF_INET, end) for end in (source, destination)]
        if six:
            sent = ip6.IP6(src=ends[0], dst=ends[1], nxt=number, plen=len(data))
            sent.extension_hdrs = {}
        else:
            sent = ip.IP(src=ends[0], dst=ends[1], p=number)
        inner = sent.data = layer(data)
    else:
        try:
            inner = sent = (ip.IP if protocol == "ipv4_header" else icmp.ICMP)(data)
        except dpkt.UnpackError:
            return "none"
    inner.sum = 0
    bytes(sent)
    return inner.sum


lines.serve("dpkt", dpkt.__version__, {
    "sum": lambda word: dpkt.in_cksum(lines.data(word)),
    "onto": onto,
    "packet": packet,
})
