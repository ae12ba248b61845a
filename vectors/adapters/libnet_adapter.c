/* libnet's checksum as an adapter: Debian's libnet1-dev; cc libnet_adapter.c -lnet */
#include <libnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static char line[1 << 20];
    static uint16_t words[1 << 18];

    while (fgets(line, sizeof line, stdin)) {
        unsigned char *data = (unsigned char *)words;
        int len, sum;

        if (strncmp(line, "sum ", 4) == 0) {
            for (len = 0; strspn(line + 4 + 2 * len, "-\n") == 0; len++) {
                char digits[3] = {line[4 + 2 * len], line[5 + 2 * len]};
                data[len] = strtoul(digits, NULL, 16);
            }
            sum = libnet_in_cksum(words, len);
            words[0] = LIBNET_CKSUM_CARRY(sum);
            printf("%02x%02x\n", data[0], data[1]);
        } else {
            puts(strncmp(line, "hello", 5) == 0 ? "libnet " LIBNET_VERSION : "unsupported");
        }
        fflush(stdout);
    }
    return 0;
}
