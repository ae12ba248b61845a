/* Makes an IPv4 packet that carries a UDP datagram: fills in both checksums, verifies them as a receiver does, and
 * sums the packet while copying it.
 *
 *     cc packet.c $(pkg-config --cflags --libs carryline) && ./a.out
 */
#include <carryline.h>

#include <stdio.h>
#include <string.h>

enum { IP_HEADER = 20, UDP_HEADER = 8 };

static const char PAYLOAD[] = "carry the carry around the end!"; /* 31 characters: an odd length */
enum { PAYLOAD_BYTES = sizeof PAYLOAD - 1, UDP_BYTES = UDP_HEADER + PAYLOAD_BYTES, PACKET = IP_HEADER + UDP_BYTES };

/* 192.0.2.1 port 1024 to 198.51.100.2 port 53; both checksum fields are zero. */
static const unsigned char HEADERS[IP_HEADER + UDP_HEADER] = {
    0x45, 0x00, 0x00, PACKET, 0x1c, 0x46, 0x40, 0x00, 0x40, 17, 0x00, 0x00, /* IPv4 ... */
    192,  0,    2,    1,      198,  51,   100,  2,                          /* ... source and destination */
    0x04, 0x00, 0x00, 53,     0x00, UDP_BYTES, 0x00, 0x00,                  /* UDP */
};

/* The sum of UDP's pseudo-header (RFC 768): addresses, protocol and length, in the order of the wire. */
static uint32_t pseudo_header(const unsigned char *packet) {
    const unsigned char rest[4] = {0, 17, packet[IP_HEADER + 4], packet[IP_HEADER + 5]};
    return carryline_checksum_partial(rest, sizeof rest, carryline_checksum_partial(packet + 12, 8, 0));
}

static uint16_t udp_checksum(const unsigned char *packet) {
    uint32_t sum = carryline_checksum_partial(packet + IP_HEADER, UDP_BYTES, pseudo_header(packet));
    return (uint16_t)~carryline_checksum_fold(sum);
}

int main(void) {
    unsigned char packet[PACKET];
    unsigned char copied[PACKET];
    uint16_t field;
    uint32_t sum;

    carryline_zero(packet, sizeof packet);
    carryline_copy(packet, HEADERS, sizeof HEADERS);
    carryline_copy(packet + sizeof HEADERS, PAYLOAD, PAYLOAD_BYTES);

    field = carryline_checksum_internet(packet, IP_HEADER);
    memcpy(packet + 10, &field, sizeof field); /* as it is: no htons */
    printf("IPv4 header checksum: %02x %02x\n", packet[10], packet[11]);

    field = udp_checksum(packet);
    if (field == 0) {
        field = 0xffff; /* in UDP, 0 says that there is no checksum */
    }
    memcpy(packet + IP_HEADER + 6, &field, sizeof field);
    printf("UDP checksum: %02x %02x\n", packet[IP_HEADER + 6], packet[IP_HEADER + 7]);

    printf("IPv4 header is %s\n", carryline_checksum_internet(packet, IP_HEADER) == 0 ? "intact" : "damaged");
    printf("UDP datagram is %s\n", udp_checksum(packet) == 0 ? "intact" : "damaged");

    sum = carryline_copy_and_sum(copied, packet, sizeof packet, 0);
    printf("copy is %s\n", memcmp(copied, packet, sizeof packet) == 0 ? "equal" : "different");
    field = (uint16_t)~carryline_checksum_fold(sum);
    printf("sum of the copy is %s\n",
           field == carryline_checksum_internet(packet, sizeof packet) ? "that of the packet" : "wrong");

    copied[IP_HEADER + UDP_HEADER] ^= 1;
    printf("UDP datagram with a flipped bit is %s\n", udp_checksum(copied) == 0 ? "intact" : "damaged");
    printf("version %s\n", strcmp(carryline_version(), CARRYLINE_VERSION) == 0 ? "of the header" : "differs");
    return 0;
}
