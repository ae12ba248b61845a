/* Compares sums of constant sizes, computed inline, with the library's functions, called through pointers: every length
 * up to 64 and some longer, data at the limits of carries, every offset in a word, seeds of both parities. Prints each
 * difference and exits with 1, or prints "equal". */
#include <carryline.h>

#include <stdio.h>
#include <string.h>

static int differs = 0;

/* Volatile, so that the compiler does not know the function. */
static uint32_t (*volatile partial)(const void *, size_t, uint32_t) = carryline_checksum_partial;
static uint16_t (*volatile internet)(const void *, size_t) = carryline_checksum_internet;
static uint16_t (*volatile fold)(uint32_t) = carryline_checksum_fold;
static carryline_sum (*volatile new_sum)(void) = carryline_sum_new;
static carryline_sum (*volatile add)(carryline_sum, const void *, size_t) = carryline_sum_add;
static carryline_sum (*volatile add_fresh)(carryline_sum, const void *, size_t) = carryline_sum_add_fresh;
static uint32_t (*volatile to_partial)(carryline_sum) = carryline_sum_to_partial;
static bool (*volatile verify)(carryline_sum) = carryline_sum_verify;
static carryline_csum (*volatile finish)(carryline_sum) = carryline_sum_finish;
static carryline_csum (*volatile finish_udp)(carryline_sum) = carryline_sum_finish_udp;

static void report(int holds, const char *what, size_t len, const unsigned char *data, uint32_t seed) {
    if (!holds) {
        printf("differs: %s (%lu bytes, first %02x, seed %08lx)\n", what, (unsigned long)len, data[0],
               (unsigned long)seed);
        differs = 1;
    }
}

static int same(carryline_csum one, carryline_csum other) {
    return memcmp(one.b, other.b, sizeof one.b) == 0;
}

/* True if both sums finish equally, now and after one more byte, which depends on the parity. */
static int compare(carryline_sum one, carryline_sum other) {
    static const unsigned char more[1] = {0x5a};
    return one.odd == other.odd && same(carryline_sum_finish(one), finish(other)) &&
           same(carryline_sum_finish_udp(one), finish_udp(other)) && carryline_sum_verify(one) == verify(other) &&
           fold(carryline_sum_to_partial(one)) == fold(to_partial(other)) &&
           same(carryline_sum_finish(carryline_sum_add(one, more, 1)), finish(add(other, more, sizeof more)));
}

/* Not inlined, which would take long to compile at so many lengths. */
static int (*volatile go_on_alike)(carryline_sum, carryline_sum) = compare;
static void (*volatile expect)(int, const char *, size_t, const unsigned char *, uint32_t) = report;

#define LENGTH(len)                                                                                                    \
    expect(carryline_checksum_fold(carryline_checksum_partial(data, len, seed)) == fold(partial(data, len, seed)),     \
           "partial", len, data, seed);                                                                                \
    expect((carryline_checksum_partial(data, len, seed) == 0) == (partial(data, len, seed) == 0), "zero", len, data,   \
           seed);                                                                                                      \
    expect(carryline_checksum_internet(data, len) == internet(data, len), "internet", len, data, seed);                \
    for (odd = 0; odd < 2; odd++) {                                                                                    \
        carryline_sum sum = {0, 0};                                                                                    \
        sum.acc = seed;                                                                                                \
        sum.odd = odd;                                                                                                 \
        expect(go_on_alike(carryline_sum_add(sum, data, len), add(sum, data, len)), "add", len, data, seed);           \
        expect(go_on_alike(carryline_sum_add_fresh(sum, data, len), add_fresh(sum, data, len)), "add_fresh", len,      \
               data, seed);                                                                                            \
    }
/* One function for few lengths, because one for all would take long to compile. */
#define FUNCTION(from)                                                                                                 \
    static void from_##from(const unsigned char *data, uint32_t seed) {                                                \
        uint32_t odd;                                                                                                  \
        LENGTH(from) LENGTH(from + 1)                                                                                  \
    }
#define EACH(USE)                                                                                                      \
    USE(0) USE(2) USE(4) USE(6) USE(8) USE(10) USE(12) USE(14) USE(16) USE(18) USE(20) USE(22) USE(24) USE(26) USE(28) \
    USE(30) USE(32) USE(34) USE(36) USE(38) USE(40) USE(42) USE(44) USE(46) USE(48) USE(50) USE(52) USE(54) USE(56)    \
    USE(58) USE(60) USE(62) USE(64) USE(66)
EACH(FUNCTION)
#define CALL(from) from_##from(memory + offset, seeds[seed]);

static unsigned char next_byte(void) {
    static uint32_t state = 88675123U;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (unsigned char)(state >> 24);
}

int main(void) {
    static const uint32_t seeds[] = {0, 1, 0xffff, 0x10000, 0x80000000U, 0xfffffffeU, 0xffffffffU};
    static unsigned char memory[80];
    size_t pattern, offset, seed, byte;

    for (pattern = 0; pattern < 40; pattern++) {
        for (byte = 0; byte < sizeof memory; byte++) {
            unsigned char any = next_byte();
            unsigned char bounds = any < 8 ? 0xfe : any < 16 ? 0x01 : any < 24 ? 0x80 : any < 32 ? 0x7f : 0xff;
            memory[byte] = (unsigned char)(pattern == 0   ? 0
                                           : pattern == 1 ? 0xff
                                           : pattern == 2 ? (byte % 8 == 0 ? 1 : byte % 16 < 8 ? 0xff : 0)
                                           : pattern < 20 ? bounds
                                           : pattern < 30 ? (any & 1) * 0xff
                                                          : any);
        }
        for (seed = 0; seed < sizeof seeds / sizeof seeds[0]; seed++) {
            for (offset = 0; offset < 8; offset++) {
                EACH(CALL)
            }
        }
    }
    expect(go_on_alike(carryline_sum_new(), new_sum()), "new", 0, memory, 0);
    expect(carryline_checksum_partial(NULL, 0, 7) == 7 && carryline_checksum_internet(NULL, 0) == 0xffff &&
               go_on_alike(carryline_sum_add(carryline_sum_new(), NULL, 0), add(new_sum(), NULL, 0)),
           "nothing", 0, memory, 7);
    if (!differs) {
        printf("equal\n");
    }
    return differs;
}
