/* Tests the guarantees of carryline.h for memory and for 32-bit sums; sums.c tests the others. Prints each violation and
 * exits with 1, or prints "kept". Compiled as C and as C++, with and without inline code. */
#include <carryline.h>

#include <stdio.h>
#include <string.h>

enum { BYTES = 700 };

static int broken = 0;

static void expect(int holds, const char *what, size_t offset, size_t len) {
    if (!holds) {
        printf("broken: %s (offset %lu, length %lu)\n", what, (unsigned long)offset, (unsigned long)len);
        broken = 1;
    }
}

/* A generator of Marsaglia's xorshift family. */
static unsigned char next_byte(void) {
    static uint32_t state = 2463534242U;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (unsigned char)(state >> 24);
}

/* The checksum by its definition: the sum of words in wire order. */
static unsigned reference(const unsigned char *data, size_t len, const unsigned char seed[4]) {
    uint64_t sum = (uint64_t)seed[0] * 256 + seed[1] + (uint64_t)seed[2] * 256 + seed[3];
    size_t i;
    for (i = 0; i < len; i++) {
        sum += (uint64_t)data[i] * (i % 2 == 0 ? 256 : 1);
    }
    while (sum > 0xffff) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (unsigned)sum;
}

static unsigned wire(uint16_t number) {
    unsigned char bytes[2];
    memcpy(bytes, &number, sizeof bytes);
    return bytes[0] * 256U + bytes[1];
}

static void sums(const unsigned char *memory, size_t offset, size_t len, uint32_t seed) {
    static unsigned char copied[BYTES + 64];
    static const unsigned char nothing[4] = {0, 0, 0, 0};
    const unsigned char *data = memory + offset;
    unsigned char seed_bytes[4];
    unsigned expected;
    uint32_t sum;

    memcpy(seed_bytes, &seed, sizeof seed_bytes);
    expected = reference(data, len, seed_bytes);
    sum = carryline_checksum_partial(data, len, seed);
    expect(wire(carryline_checksum_fold(sum)) == expected, "partial is the sum", offset, len);
    expected = 0xffff - reference(data, len, nothing);
    expect(wire(carryline_checksum_internet(data, len)) == expected, "internet is the checksum", offset, len);

    memset(copied, 0xa5, sizeof copied);
    expected = reference(data, len, seed_bytes);
    sum = carryline_copy_and_sum(copied + offset, data, len, seed);
    expect(wire(carryline_checksum_fold(sum)) == expected, "copy_and_sum sums", offset, len);
    expect(memcmp(copied + offset, data, len) == 0, "copy_and_sum copies", offset, len);
    expect(copied[offset + len] == 0xa5, "copy_and_sum stays inside", offset, len);

    memset(copied, 0xa5, sizeof copied);
    carryline_copy(copied + offset, data, len);
    expect(memcmp(copied + offset, data, len) == 0, "copy copies", offset, len);
    expect(copied[offset + len] == 0xa5, "copy stays inside", offset, len);

    memset(copied, 0xa5, sizeof copied);
    carryline_zero(copied + offset, len);
    expect(len == 0 || (copied[offset] == 0 && memcmp(copied + offset, copied + offset + 1, len - 1) == 0),
           "zero zeroes", offset, len);
    expect(copied[offset + len] == 0xa5, "zero stays inside", offset, len);
}

static void moves(const unsigned char *memory) {
    unsigned char moved[BYTES];
    size_t distance;
    for (distance = 0; distance <= 100; distance++) {
        memcpy(moved, memory, BYTES);
        carryline_move(moved + distance, moved, BYTES - distance);
        expect(memcmp(moved + distance, memory, BYTES - distance) == 0, "move upwards", distance, BYTES - distance);
        memcpy(moved, memory, BYTES);
        carryline_move(moved, moved + distance, BYTES - distance);
        expect(memcmp(moved, memory + distance, BYTES - distance) == 0, "move downwards", distance, BYTES - distance);
    }
}

int main(void) {
    static const uint32_t seeds[] = {0, 1, 0xffff, 0x10000, 0x80000000U, 0xfffffffeU, 0xffffffffU};
    static unsigned char memory[BYTES + 64];
    uint16_t (*internet)(const void *, size_t) = carryline_checksum_internet;
    size_t pattern, offset, len, seed;

    carryline_zero(NULL, 0);
    carryline_copy(NULL, NULL, 0);
    carryline_move(NULL, NULL, 0);
    expect(carryline_checksum_partial(NULL, 0, 0) == 0, "nothing sums to 0", 0, 0);
    expect(carryline_checksum_fold(carryline_checksum_partial(NULL, 0, 7)) == 7, "nothing adds nothing", 0, 0);
    expect(carryline_checksum_internet(NULL, 0) == 0xffff, "the checksum of nothing", 0, 0);
    expect(carryline_checksum_fold(carryline_copy_and_sum(NULL, NULL, 0, 7)) == 7, "nothing is copied", 0, 0);
    expect(carryline_checksum_fold(0) == 0 && carryline_checksum_fold(0xffffffffU) == 0xffff, "fold", 0, 0);
    expect(strcmp(carryline_version(), CARRYLINE_VERSION) == 0, "version", 0, 0);

    /* All zeros, all ones, all ones except for one byte, random. */
    for (pattern = 0; pattern < 4; pattern++) {
        memset(memory, pattern == 0 ? 0 : 0xff, sizeof memory);
        if (pattern == 2) {
            memory[30] = 0xfe;
        }
        for (offset = 0; pattern == 3 && offset < sizeof memory; offset++) {
            memory[offset] = next_byte();
        }
        for (seed = 0; seed < sizeof seeds / sizeof seeds[0]; seed++) {
            for (offset = 0; offset < 8; offset++) {
                for (len = 0; len <= 300; len++) {
                    sums(memory, offset, len, seeds[seed]);
                }
                sums(memory, offset, BYTES, seeds[seed]);
            }
        }
        expect(internet(memory, 20) == carryline_checksum_internet(memory, 20), "through a pointer", 0, 20);
    }
    moves(memory);
    if (!broken) {
        printf("kept\n");
    }
    return broken;
}
