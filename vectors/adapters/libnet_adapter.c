/* libnet's checksums as an adapter: Debian's libnet1-dev; cc libnet_adapter.c -lnet */
#include <arpa/inet.h>
#include <ctype.h>
#include <libnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char data[80 << 20];

/* Digits, or a pattern * a length; parts joined by +. How many bytes. */
static int read_data(const char *word)
{
    int len = 0, begin, pattern, end;

    for (; *word; word += *word == '+') {
        for (begin = len; isxdigit(word[0]) && isxdigit(word[1]); word += 2) {
            char digits[3] = {word[0], word[1]};
            data[len++] = strtoul(digits, NULL, 16);
        }
        if (*word && !strchr("*+", *word))
            return len;
        if (*word != '*')
            continue;
        pattern = len - begin;
        for (end = begin + atoi(word + 1); len < end; len++)
            data[len] = data[len - pattern];
        len = end;
        word += strcspn(word, "+");
    }
    return len;
}

/* The field of a packet that libnet makes of these header fields, or nothing. */
static const char *packet(libnet_t *l, const char *protocol, const char *from, const char *to, int len)
{
    static char answer[5];
    uint16_t words[10];
    uint32_t size;
    uint8_t *made;
    int field = 0, header = 0, number = 0, failed = 0;

    libnet_clear_packet(l);
    memcpy(words, data, sizeof words);
    for (int i = 0; i < 10; i++)
        words[i] = ntohs(words[i]);
    if (strcmp(protocol, "udp") == 0 && len >= 8) {
        number = IPPROTO_UDP, field = 6, header = 8;
        failed |= libnet_build_udp(words[0], words[1], words[2], 0, data + 8, len - 8, l, 0) < 0;
    } else if (strcmp(protocol, "tcp") == 0 && len >= 20 && (header = (data[12] >> 4) * 4) >= 20 && header <= len) {
        number = IPPROTO_TCP, field = 16;
        if (header > 20)
            failed |= libnet_build_tcp_options(data + 20, header - 20, l, 0) < 0;
        failed |= libnet_build_tcp(words[0], words[1], (uint32_t)words[2] << 16 | words[3],
                                   (uint32_t)words[4] << 16 | words[5], words[6] & 0xff, words[7], 0, words[9],
                                   len, data + header, len - header, l, 0) < 0;
    } else if (strcmp(protocol, "icmp") == 0 && len >= 8 && (data[0] == 0 || data[0] == 8)) {
        number = IPPROTO_ICMP, field = 2, header = 8, from = to = "0.0.0.0";
        failed |= libnet_build_icmpv4_echo(data[0], data[1], 0, words[2], words[3], data + 8, len - 8, l, 0) < 0;
    } else {
        return "unsupported";
    }
    if (strchr(from, ':')) {
        struct libnet_in6_addr ends[2];
        inet_pton(AF_INET6, from, &ends[0]);
        inet_pton(AF_INET6, to, &ends[1]);
        failed |= libnet_build_ipv6(0, 0, len, number, 64, ends[0], ends[1], NULL, 0, l, 0) < 0;
        field += LIBNET_IPV6_H;
    } else {
        failed |= libnet_build_ipv4(LIBNET_IPV4_H + len, 0, 0, 0, 64, number, 0, inet_addr(from), inet_addr(to),
                                    NULL, 0, l, 0) < 0;
        field += LIBNET_IPV4_H;
    }
    /* What libnet_write does before it sends. */
    if (failed || libnet_pblock_coalesce(l, &made, &size) < 0)
        return "unsupported";
    sprintf(answer, "%02x%02x", made[field], made[field + 1]);
    free(made - l->aligner);
    return answer;
}

int main(void)
{
    static char line[16 << 20];
    char error[LIBNET_ERRBUF_SIZE], *words[5], *rest;
    /* It sends nothing, and needs no privilege. */
    libnet_t *l = libnet_init(LIBNET_NONE, NULL, error);

    while (fgets(line, sizeof line, stdin)) {
        int count = 0, len;

        for (char *word = strtok_r(line, " \n", &rest); word && count < 5; word = strtok_r(NULL, " \n", &rest))
            words[count++] = word;
        if (count == 2 && strcmp(words[0], "sum") == 0) {
            len = read_data(words[1]);
            int sum = libnet_in_cksum((uint16_t *)data, len);
            uint16_t field = LIBNET_CKSUM_CARRY(sum);
            printf("%04x\n", ntohs(field));
        } else if (count == 5 && strcmp(words[0], "packet") == 0 && l) {
            len = read_data(words[4]);
            puts(packet(l, words[1], words[2], words[3], len));
        } else {
            puts(count && strcmp(words[0], "hello") == 0 ? "libnet " LIBNET_VERSION " repeat" : "unsupported");
        }
        fflush(stdout);
    }
    return 0;
}
