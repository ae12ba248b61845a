/* The checksum of a UDP datagram over IPv6 in pieces of any length, as for writev; the same from two separate sums; and
 * the value for a network card that completes the checksum itself.
 *
 *     cc segments.c $(pkg-config --cflags --libs carryline) && ./a.out
 */
#include <carryline.h>

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

enum { UDP = 17, HEADER = 8, CHECKSUM = 6 };

/* 2001:db8::1 and 2001:db8::2. */
static const unsigned char SOURCE[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
static const unsigned char DESTINATION[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};

static struct iovec piece(void *data, size_t len) {
    struct iovec piece;
    piece.iov_base = data;
    piece.iov_len = len;
    return piece;
}

static void show(const char *what, carryline_csum checksum) {
    printf("%s: %02x %02x\n", what, checksum.b[0], checksum.b[1]);
}

int main(void) {
    unsigned char header[HEADER] = {0x04, 0x00, 0x00, 53, 0, 0, 0, 0};
    char name[] = "carry", rest[] = " around the end, again and again";
    struct iovec pieces[4];
    size_t len = 0, index;
    carryline_csum checksum;
    carryline_sum pseudo, head, tail;

    pieces[0] = piece(header, sizeof header);
    pieces[1] = piece(name, 5); /* an odd length: the next piece begins in the middle of a word */
    pieces[2] = piece(NULL, 0);
    pieces[3] = piece(rest, sizeof rest - 1);
    for (index = 0; index < 4; index++) {
        len += pieces[index].iov_len;
    }
    header[5] = (unsigned char)len;

    if (!carryline_checksum_udp_v6_iov(SOURCE, DESTINATION, pieces, 4, &checksum)) {
        return 1;
    }
    show("UDP checksum", checksum);

    pseudo = carryline_sum_pseudo_v6(SOURCE, DESTINATION, (uint32_t)len, UDP);
    head = carryline_sum_add_iov(pseudo, pieces, 2);
    tail = carryline_sum_add_iov(carryline_sum_new(), pieces + 2, 2); /* separately */
    show("of two sums", carryline_sum_finish_udp(carryline_sum_combine(head, tail)));

    memcpy(header + CHECKSUM, checksum.b, sizeof checksum.b);
    printf("datagram is %s\n",
           carryline_checksum_verify_udp_v6_iov(SOURCE, DESTINATION, pieces, 4) == CARRYLINE_UDP_INTACT ? "intact"
                                                                                                     : "damaged");

    /* The value of the field for the card, and the checksum that the card computes from it. */
    checksum = carryline_sum_offload_seed(pseudo);
    show("for the card", checksum);
    memcpy(header + CHECKSUM, checksum.b, sizeof checksum.b);
    show("from the card", carryline_sum_finish_udp(carryline_sum_add_iov(carryline_sum_new(), pieces, 4)));
    return 0;
}
