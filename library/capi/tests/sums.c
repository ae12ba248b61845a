/* Tests the guarantees of carryline.h for sums in pieces, updates and packets by comparing with checksums computed by
 * their definition. Prints each violation and exits with 1, or prints "kept". Compiled as C and as C++, with and without
 * inline code. */
#include <carryline.h>

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

enum { BYTES = 400 };

static int broken = 0;

static void expect(int holds, const char *what, size_t number) {
    if (!holds) {
        printf("broken: %s (%lu)\n", what, (unsigned long)number);
        broken = 1;
    }
}

static uint32_t next_number(uint32_t bound) {
    static uint32_t state = 2463534242U;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (state >> 8) % bound;
}

/* Mostly the smallest and largest bytes, which cause carries. */
static void fill(unsigned char *data, size_t len) {
    size_t i;
    for (i = 0; i < len; i++) {
        uint32_t kind = next_number(8);
        data[i] = (unsigned char)(kind < 4 ? 0xff : kind < 6 ? 0 : next_number(256));
    }
}

/* The folded sum of the bytes as a number; the first byte is at an even offset. */
static unsigned folded(const unsigned char *data, size_t len) {
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < len; i++) {
        sum += (uint64_t)data[i] * (i % 2 == 0 ? 256 : 1);
    }
    while (sum > 0xffff) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (unsigned)sum;
}

static unsigned wire(carryline_csum checksum) {
    return checksum.b[0] * 256U + checksum.b[1];
}

/* Compares all results of a sum with the bytes. */
static void is_sum_of(carryline_sum sum, const unsigned char *data, size_t len, const char *what) {
    unsigned expected = folded(data, len);
    uint16_t loaded = carryline_checksum_fold(carryline_sum_to_partial(sum));
    carryline_csum of_loaded;
    memcpy(of_loaded.b, &loaded, sizeof loaded);
    expect(wire(carryline_sum_finish(sum)) == 0xffff - expected, what, len);
    expect(wire(carryline_sum_finish_udp(sum)) == (expected == 0xffff ? 0xffff : 0xffff - expected), "finish_udp", len);
    expect(carryline_sum_verify(sum) == (expected == 0xffff), "verify", len);
    expect(wire(carryline_sum_offload_seed(sum)) == expected, "offload_seed", len);
    expect(wire(of_loaded) == expected, "to_partial", len);
    expect(sum.odd == len % 2, "parity", len);
}

/* Random pieces, added in random ways. */
static void pieces(void) {
    static unsigned char data[BYTES], copied[BYTES];
    carryline_sum sum = carryline_sum_new();
    size_t len = 0;
    fill(data, sizeof data);
    while (len < BYTES) {
        size_t piece = next_number(70), first;
        struct iovec iov[3];
        if (piece > BYTES - len) {
            piece = BYTES - len;
        }
        first = next_number((uint32_t)piece + 1);
        switch (next_number(7)) {
        case 0:
            sum = carryline_sum_add(sum, data + len, piece);
            break;
        case 1:
            sum = carryline_sum_add_fresh(sum, data + len, piece);
            break;
        case 2:
            iov[0].iov_base = data + len;
            iov[0].iov_len = first;
            iov[1].iov_base = NULL;
            iov[1].iov_len = 0;
            iov[2].iov_base = data + len + first;
            iov[2].iov_len = piece - first;
            sum = carryline_sum_add_iov(sum, iov, 3);
            break;
        case 3:
            memset(data + len, 0, piece);
            sum = carryline_sum_add_zeros(sum, piece);
            break;
        case 4:
            sum = carryline_sum_combine(sum, carryline_sum_add(carryline_sum_new(), data + len, piece));
            break;
        case 5:
            memset(copied, 0xa5, sizeof copied);
            sum = carryline_sum_copy(sum, copied, data + len, piece);
            expect(memcmp(copied, data + len, piece) == 0, "copy copies", piece);
            expect(piece == BYTES || copied[piece] == 0xa5, "copy stays inside", piece);
            break;
        default:
            piece = 0;
            if (sum.odd == 0) {
                sum = carryline_sum_from_partial(carryline_sum_to_partial(sum));
            }
            break;
        }
        len += piece;
        is_sum_of(sum, data, len, "pieces");
    }
}

/* Updates the checksum after changes of a field. */
static void updates(void) {
    static unsigned char data[64];
    unsigned char before[64];
    carryline_csum old_field, updated, udp;
    uint16_t words[2];
    uint32_t wide[2];
    size_t offset = next_number(50), len = next_number(14), even = offset & ~(size_t)1;
    fill(data, sizeof data);
    data[63] = 0x5a; /* never all zero */
    memcpy(before, data, sizeof data);
    old_field = carryline_sum_finish(carryline_sum_add(carryline_sum_new(), data, sizeof data));

    fill(data + offset, len);
    updated = carryline_csum_replace_range(old_field, offset, before + offset, data + offset, len);
    expect(wire(updated) == 0xffff - folded(data, sizeof data), "replace_range", offset);
    udp = carryline_csum_replace_range_udp(old_field, offset, before + offset, data + offset, len);
    expect(wire(udp) == (wire(old_field) == 0 ? 0 : wire(updated) == 0 ? 0xffff : wire(updated)), "and UDP", offset);

    memcpy(data, before, sizeof data);
    fill(data + even, 2);
    memcpy(&words[0], before + even, 2);
    memcpy(&words[1], data + even, 2);
    updated = carryline_csum_replace16(old_field, words[0], words[1]);
    expect(wire(updated) == 0xffff - folded(data, sizeof data), "replace16", offset);
    udp = carryline_csum_replace16_udp(old_field, words[0], words[1]);
    expect(wire(udp) == (wire(old_field) == 0 ? 0 : wire(updated) == 0 ? 0xffff : wire(updated)), "and UDP", offset);

    memcpy(data, before, sizeof data);
    fill(data + even, 4);
    memcpy(&wide[0], before + even, 4);
    memcpy(&wide[1], data + even, 4);
    updated = carryline_csum_replace32(old_field, wide[0], wide[1]);
    expect(wire(updated) == 0xffff - folded(data, sizeof data), "replace32", offset);
    udp = carryline_csum_replace32_udp(old_field, wide[0], wide[1]);
    expect(wire(udp) == (wire(old_field) == 0 ? 0 : wire(updated) == 0 ? 0xffff : wire(updated)), "and UDP", offset);
}

/* One protocol with its pseudo-header: computed over the whole packet and in pieces, stored in the packet, verified. */
static void packet(int version, uint8_t protocol, size_t field, size_t header) {
    /* the bytes covered: addresses and the rest of the pseudo-header, then the packet */
    static unsigned char covered[40 + BYTES];
    size_t pseudo = version == 6 ? 40 : version == 4 ? 12 : 0, address = version == 6 ? 16 : 4;
    size_t len = header + next_number(BYTES - 60), first = next_number((uint32_t)len + 1);
    unsigned char *src = covered, *dst = covered + address, *data = covered + pseudo;
    carryline_csum one = {{1, 2}}, pieced = {{3, 4}};
    struct iovec iov[2];
    bool done = true, pieced_done = true;
    int intact = 0, pieced_intact = 0, damaged = 0;
    unsigned expected;

    fill(covered, sizeof covered);
    if (version == 4) {
        unsigned char rest[4];
        rest[0] = 0;
        rest[1] = protocol;
        rest[2] = (unsigned char)(len >> 8);
        rest[3] = (unsigned char)len;
        memcpy(covered + 8, rest, 4);
        is_sum_of(carryline_sum_pseudo_v4(src, dst, protocol, (uint16_t)len), covered, pseudo, "pseudo_v4");
    } else if (version == 6) {
        memset(covered + 32, 0, 8);
        covered[34] = (unsigned char)(len >> 8);
        covered[35] = (unsigned char)len;
        covered[39] = protocol;
        is_sum_of(carryline_sum_pseudo_v6(src, dst, (uint32_t)len, protocol), covered, pseudo, "pseudo_v6");
    }
    iov[0].iov_base = data;
    iov[0].iov_len = first;
    iov[1].iov_base = data + first;
    iov[1].iov_len = len - first;

#define COMPUTE(name)                                                                                                  \
    done = carryline_checksum_##name(src, dst, data, len, &one);                                                       \
    pieced_done = carryline_checksum_##name##_iov(src, dst, iov, 2, &pieced)
#define VERIFY(name)                                                                                                   \
    intact = (int)carryline_checksum_verify_##name(src, dst, data, len);                                               \
    pieced_intact = (int)carryline_checksum_verify_##name##_iov(src, dst, iov, 2);                                     \
    data[len - 1] ^= 0x10;                                                                                             \
    damaged = (int)carryline_checksum_verify_##name(src, dst, data, len);                                              \
    data[len - 1] ^= 0x10
#define EITHER(what, name)                                                                                             \
    if (version == 4) {                                                                                                \
        what(name##_v4);                                                                                               \
    } else {                                                                                                           \
        what(name##_v6);                                                                                               \
    }
    switch (protocol) {
    case 6:
        EITHER(COMPUTE, tcp)
        break;
    case 17:
        EITHER(COMPUTE, udp)
        break;
    case 58:
        COMPUTE(icmpv6);
        break;
    default:
        one = carryline_checksum_icmp(data, len);
        pieced = carryline_checksum_icmp_iov(iov, 2);
        break;
    }
    expect(done && pieced_done, "there is such a packet", len);
    memset(data + field, 0, 2);
    expected = 0xffff - folded(covered, pseudo + len);
    if (protocol == 17 && expected == 0) {
        expected = 0xffff;
    }
    expect(wire(one) == expected && wire(pieced) == expected, "the checksum of a packet", protocol);
    memcpy(data + field, one.b, sizeof one.b);

    switch (protocol) {
    case 6:
        EITHER(VERIFY, tcp)
        break;
    case 17:
        EITHER(VERIFY, udp)
        expect(intact == CARRYLINE_UDP_INTACT && damaged == CARRYLINE_UDP_DAMAGED, "the verdict on a datagram", len);
        memset(data + field, 0, 2);
        expect((version == 4 ? carryline_checksum_verify_udp_v4(src, dst, data, len)
                             : carryline_checksum_verify_udp_v6(src, dst, data, len)) == CARRYLINE_UDP_ABSENT,
               "no checksum", len);
        break;
    case 58:
        VERIFY(icmpv6);
        break;
    default:
        intact = carryline_checksum_verify_icmp(data, len);
        pieced_intact = carryline_checksum_verify_icmp_iov(iov, 2);
        data[len - 1] ^= 0x10;
        damaged = carryline_checksum_verify_icmp(data, len);
        break;
    }
    expect(intact == 1 && pieced_intact == 1 && damaged == 0, "verified", protocol);
}

static void ipv4_headers(void) {
    unsigned char header[60];
    carryline_csum field = {{1, 2}};
    size_t words, len;
    for (words = 0; words < 16; words++) {
        for (len = 0; len <= sizeof header; len++) {
            int there = words >= 5 && words * 4 <= len;
            fill(header, sizeof header);
            header[0] = (unsigned char)(0x40 | words);
            memcpy(field.b, header + 10, 2);
            expect(carryline_checksum_ipv4_header(header, len, &field) == there, "there is such a header", len);
            if (!there) {
                expect(memcmp(field.b, header + 10, 2) == 0, "nothing is written", len);
                expect(!carryline_checksum_verify_ipv4_header(header, len), "no header is not intact", len);
                continue;
            }
            memset(header + 10, 0, 2);
            expect(wire(field) == 0xffff - folded(header, words * 4), "the checksum of a header", words);
            memcpy(header + 10, field.b, 2);
            expect(carryline_checksum_verify_ipv4_header(header, len), "a header is intact", words);
            header[1] ^= 1;
            expect(!carryline_checksum_verify_ipv4_header(header, len), "a header is damaged", words);
        }
    }
    expect(!carryline_checksum_ipv4_header(NULL, 0, &field) && !carryline_checksum_verify_ipv4_header(NULL, 0),
           "nothing is no header", 0);
}

/* Null pointers with length 0, and invalid packets. */
static void edges(void) {
    static unsigned char large[65536 + 8], addresses[32];
    carryline_csum field = {{1, 2}};
    carryline_sum seven = carryline_sum_add_zeros(carryline_sum_from_partial(7), 3);
    is_sum_of(carryline_sum_add(carryline_sum_new(), NULL, 0), large, 0, "nothing added");
    is_sum_of(carryline_sum_add_fresh(carryline_sum_new(), NULL, 0), large, 0, "nothing fresh added");
    is_sum_of(carryline_sum_add_iov(carryline_sum_new(), NULL, 0), large, 0, "no pieces");
    is_sum_of(carryline_sum_copy(carryline_sum_new(), NULL, NULL, 0), large, 0, "nothing copied");
    expect(carryline_checksum_fold(carryline_sum_to_partial(seven)) == 7 && seven.odd == 1, "zeros", 3);
    field = carryline_csum_replace_range(field, 3, NULL, NULL, 0);
    expect(wire(field) == 0x0102, "nothing replaced", 0);
    expect(wire(carryline_csum_replace_range_udp(field, 3, NULL, NULL, 0)) == 0x0102, "nothing replaced", 0);
    expect(wire(carryline_checksum_icmp(NULL, 0)) == 0xffff && wire(carryline_checksum_icmp_iov(NULL, 0)) == 0xffff,
           "no message", 0);
    expect(!carryline_checksum_verify_icmp(NULL, 0), "nothing is not intact", 0);
    expect(!carryline_checksum_verify_tcp_v4_iov(addresses, addresses, NULL, 0), "nothing is not intact", 1);
    expect(carryline_checksum_verify_udp_v6(addresses, addresses, NULL, 0) == CARRYLINE_UDP_DAMAGED, "no datagram", 0);
    expect(carryline_checksum_tcp_v4(addresses, addresses, NULL, 0, &field), "an empty segment sums", 0);
    field.b[0] = 1;
    field.b[1] = 2;
    expect(!carryline_checksum_tcp_v4(addresses, addresses, large, 65536, &field), "65536 bytes over IPv4", 0);
    expect(!carryline_checksum_udp_v4(addresses, addresses, large, 65536, &field), "65536 bytes over IPv4", 1);
    expect(wire(field) == 0x0102, "nothing is written", 0);
    expect(carryline_checksum_udp_v4(addresses, addresses, large, 65535, &field), "65535 bytes over IPv4", 0);
    expect(carryline_checksum_tcp_v6(addresses, addresses, large, 65536, &field), "65536 bytes over IPv6", 0);
    /* Stored in the packet itself. */
    fill(large, 100);
    expect(carryline_checksum_udp_v4(addresses, addresses, large, 99, (carryline_csum *)(large + 6)), "stored", 99);
    expect(carryline_checksum_verify_udp_v4(addresses, addresses, large, 99) == CARRYLINE_UDP_INTACT, "intact", 99);
}

int main(void) {
    size_t round;
    for (round = 0; round < 400; round++) {
        pieces();
        updates();
        packet(4, 6, 16, 20);
        packet(6, 6, 16, 20);
        packet(4, 17, 6, 8);
        packet(6, 17, 6, 8);
        packet(6, 58, 2, 4);
        packet(0, 1, 2, 4);
    }
    ipv4_headers();
    edges();
    if (!broken) {
        printf("kept\n");
    }
    return broken;
}
