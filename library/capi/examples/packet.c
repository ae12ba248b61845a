/* Builds two IPv4 packets, one with a UDP datagram and one with a TCP segment: fills in the checksums, verifies them
 * like a receiver, and updates them like a router and a NAT.
 *
 *     cc packet.c $(pkg-config --cflags --libs carryline) && ./a.out
 */
#include <carryline.h>

#include <stdio.h>
#include <string.h>

static const char PAYLOAD[] = "carry the carry around the end!"; /* 31 characters: an odd length */

enum {
    /* lengths in bytes */
    IP = 20,
    UDP = 8,
    TCP = 20,
    PAYLOAD_BYTES = sizeof PAYLOAD - 1,
    UDP_BYTES = UDP + PAYLOAD_BYTES,
    TCP_BYTES = TCP + PAYLOAD_BYTES,
    /* offsets of fields in a packet */
    TTL = 8,
    IP_CHECKSUM = 10,
    SOURCE = 12,
    DESTINATION = 16,
    SOURCE_PORT = IP,
    UDP_CHECKSUM = IP + 6,
    TCP_CHECKSUM = IP + 16,

    PROTOCOL_TCP = 6
};

/* 192.0.2.1 port 1024 to 198.51.100.2 port 53; both checksum fields are zero. */
static const unsigned char UDP_HEADERS[IP + UDP] = {
    0x45, 0x00, 0x00, IP + UDP_BYTES, 0x1c, 0x46, 0x40, 0x00, 0x40, 17, 0x00, 0x00, /* IPv4 ... */
    192,  0,    2,    1,              198,  51,   100,  2,                          /* ... source and destination */
    0x04, 0x00, 0x00, 53,             0x00, UDP_BYTES, 0x00, 0x00,                  /* UDP */
};

/* The same between port 1024 and port 80, with push and acknowledgement. */
static const unsigned char TCP_HEADERS[IP + TCP] = {
    0x45, 0x00, 0x00, IP + TCP_BYTES, 0x1c, 0x47, 0x40, 0x00, 0x40, PROTOCOL_TCP, 0x00, 0x00, /* IPv4 ... */
    192,  0,    2,    1,              198,  51,   100,  2,                  /* ... source and destination */
    0x04, 0x00, 0x00, 80,             0x12, 0x34, 0x56, 0x78,               /* TCP: ports and sequence number */
    0x9a, 0xbc, 0xde, 0xf0,           0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0,   /* ... flags, window, checksum */
};

/* Stores a checksum in the packet unchanged: its bytes are in wire order. */
static void store(unsigned char *field, carryline_csum checksum) {
    memcpy(field, checksum.b, sizeof checksum.b);
}

static carryline_csum load(const unsigned char *field) {
    carryline_csum checksum;
    memcpy(checksum.b, field, sizeof checksum.b);
    return checksum;
}

static void show(const char *what, const unsigned char *field) {
    printf("%s: %02x %02x\n", what, field[0], field[1]);
}

static const char *verdict(bool intact) {
    return intact ? "intact" : "damaged";
}

/* With one call per protocol. The checksum field need not be cleared first. */
static bool make_udp(unsigned char *packet) {
    carryline_csum checksum;
    carryline_copy(packet, UDP_HEADERS, sizeof UDP_HEADERS);
    carryline_copy(packet + IP + UDP, PAYLOAD, PAYLOAD_BYTES);
    if (!carryline_checksum_ipv4_header(packet, IP, &checksum)) {
        return false; /* the header is truncated */
    }
    store(packet + IP_CHECKSUM, checksum);
    if (!carryline_checksum_udp_v4(packet + SOURCE, packet + DESTINATION, packet + IP, UDP_BYTES, &checksum)) {
        return false; /* too long for UDP */
    }
    store(packet + UDP_CHECKSUM, checksum);
    return true;
}

/* With a sum in pieces: the payload is summed while it is copied. */
static void make_tcp(unsigned char *packet) {
    carryline_sum sum;
    memcpy(packet, TCP_HEADERS, sizeof TCP_HEADERS);
    sum = carryline_sum_pseudo_v4(packet + SOURCE, packet + DESTINATION, PROTOCOL_TCP, TCP_BYTES);
    sum = carryline_sum_add_fresh(sum, packet + IP, TCP); /* a constant size: no call */
    sum = carryline_sum_copy(sum, packet + IP + TCP, PAYLOAD, PAYLOAD_BYTES);
    store(packet + TCP_CHECKSUM, carryline_sum_finish(sum));
    store(packet + IP_CHECKSUM, carryline_sum_finish(carryline_sum_add_fresh(carryline_sum_new(), packet, IP)));
}

/* A NAT replaces the source address and port, and updates each checksum that covers them. The transport checksum also
 * covers the address, in the pseudo-header. */
static void translate(unsigned char *packet, unsigned char *transport_checksum, bool udp) {
    static const unsigned char address[4] = {203, 0, 113, 7}, port[2] = {0x9c, 0x75};
    carryline_csum ip = load(packet + IP_CHECKSUM), transport = load(transport_checksum);
    uint32_t addresses[2];
    uint16_t ports[2];
    memcpy(&addresses[0], packet + SOURCE, sizeof address);
    memcpy(&addresses[1], address, sizeof address);
    memcpy(&ports[0], packet + SOURCE_PORT, sizeof port);
    memcpy(&ports[1], port, sizeof port);

    ip = carryline_csum_replace32(ip, addresses[0], addresses[1]);
    if (udp) {
        transport = carryline_csum_replace32_udp(transport, addresses[0], addresses[1]);
        transport = carryline_csum_replace16_udp(transport, ports[0], ports[1]);
    } else {
        transport = carryline_csum_replace32(transport, addresses[0], addresses[1]);
        transport = carryline_csum_replace16(transport, ports[0], ports[1]);
    }
    memcpy(packet + SOURCE, address, sizeof address);
    memcpy(packet + SOURCE_PORT, port, sizeof port);
    store(packet + IP_CHECKSUM, ip);
    store(transport_checksum, transport);
}

/* A router decrements the time to live, a byte at an even offset. */
static void forward(unsigned char *packet) {
    unsigned char before = packet[TTL]--;
    carryline_csum checksum = load(packet + IP_CHECKSUM);
    store(packet + IP_CHECKSUM, carryline_csum_replace_range(checksum, TTL, &before, packet + TTL, 1));
}

int main(void) {
    unsigned char udp[IP + UDP_BYTES], tcp[IP + TCP_BYTES];

    if (!make_udp(udp)) {
        return 1;
    }
    make_tcp(tcp);
    show("UDP: IPv4 header checksum", udp + IP_CHECKSUM);
    show("UDP checksum", udp + UDP_CHECKSUM);
    show("TCP: IPv4 header checksum", tcp + IP_CHECKSUM);
    show("TCP checksum", tcp + TCP_CHECKSUM);

    translate(udp, udp + UDP_CHECKSUM, true);
    translate(tcp, tcp + TCP_CHECKSUM, false);
    forward(udp);
    forward(tcp);
    show("after NAT and router: UDP: IPv4 header checksum", udp + IP_CHECKSUM);
    show("UDP checksum", udp + UDP_CHECKSUM);
    show("TCP: IPv4 header checksum", tcp + IP_CHECKSUM);
    show("TCP checksum", tcp + TCP_CHECKSUM);

    printf("IPv4 headers are %s and %s\n", verdict(carryline_checksum_verify_ipv4_header(udp, sizeof udp)),
           verdict(carryline_checksum_verify_ipv4_header(tcp, sizeof tcp)));
    printf("UDP datagram is %s\n",
           verdict(carryline_checksum_verify_udp_v4(udp + SOURCE, udp + DESTINATION, udp + IP, UDP_BYTES) ==
                   CARRYLINE_UDP_INTACT));
    printf("TCP segment is %s\n",
           verdict(carryline_checksum_verify_tcp_v4(tcp + SOURCE, tcp + DESTINATION, tcp + IP, TCP_BYTES)));
    tcp[IP + TCP] ^= 1;
    printf("TCP segment with a flipped bit is %s\n",
           verdict(carryline_checksum_verify_tcp_v4(tcp + SOURCE, tcp + DESTINATION, tcp + IP, TCP_BYTES)));
    printf("version %s\n", strcmp(carryline_version(), CARRYLINE_VERSION) == 0 ? "of the header" : "differs");
    return 0;
}
