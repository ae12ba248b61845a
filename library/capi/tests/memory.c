/* Tests the guarantees of carryline.h for zeroing and copying, with every intent. Prints each violation and exits with 1,
 * or prints "kept". Compiled as C and as C++. */
#include <carryline.h>

#include <stdio.h>
#include <string.h>

/* Covers all but the largest steps of the size ladders. */
enum { SMALL = 700, LARGE = 70000 };

static int broken = 0;
static unsigned char image[LARGE + 64];
static unsigned char memory[2 * LARGE + 64];

static void expect(int holds, const char *what, unsigned next, size_t offset, size_t len) {
    if (!holds) {
        printf("broken: %s (intent %u, offset %lu, length %lu)\n", what, next, (unsigned long)offset, (unsigned long)len);
        broken = 1;
    }
}

static int all_zero(const unsigned char *bytes, size_t len) {
    return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

/* Checks the buffer, and that the bytes next to both ends did not change. */
static void expect_inside(const char *what, unsigned next, size_t offset, size_t len, const unsigned char *expected) {
    const unsigned char *bytes = memory + offset;
    int right = expected == NULL ? all_zero(bytes, len) : memcmp(bytes, expected, len) == 0;
    expect(right, what, next, offset, len);
    expect(bytes[-1] == 0xa5 && bytes[len] == 0xa5, "only what it was given", next, offset, len);
    memset(memory + offset - 1, 0xa5, len + 2);
}

static void with(carryline_intent intent, size_t offset, size_t len) {
    carryline_zero_with(memory + offset, len, intent);
    expect_inside("zero_with", intent.next, offset, len, NULL);
    carryline_copy_with(memory + offset, image + offset % 7, len, intent);
    expect_inside("copy_with", intent.next, offset, len, image + offset % 7);
    memcpy(memory + offset + len / 3, image, len);
    carryline_move_with(memory + offset, memory + offset + len / 3, len, intent);
    expect(memcmp(memory + offset, image, len) == 0, "move_with, downwards", intent.next, offset, len);
    memset(memory + offset, 0xa5, len + len / 3);
    memcpy(memory + offset, image, len);
    carryline_move_with(memory + offset + len / 3, memory + offset, len, intent);
    expect(memcmp(memory + offset + len / 3, image, len) == 0, "move_with, upwards", intent.next, offset, len);
    memset(memory + offset, 0xa5, len + len / 3);
    memcpy(memory + offset + len, image, len);
    carryline_move_with(memory + offset, memory + offset + len, len, intent);
    expect(memcmp(memory + offset, image, len) == 0, "move_with, side by side", intent.next, offset, len);
    memset(memory + offset, 0xa5, 2 * len);
}

static void without(size_t offset, size_t len) {
    size_t written;
    carryline_zero(memory + offset, len);
    expect_inside("zero", 0, offset, len, NULL);
    carryline_zero_secret(memory + offset, len);
    expect_inside("zero_secret", 0, offset, len, NULL);
    written = carryline_zero_if_dirty(memory + offset, len);
    expect(written == len, "if_dirty says how much it wrote", 0, offset, len);
    written = carryline_zero_if_dirty(memory + offset, len);
    expect(written == 0, "if_dirty has nothing left to write", 0, offset, len);
    expect_inside("zero_if_dirty", 0, offset, len, NULL);
    carryline_copy(memory + offset, image + 5, len);
    expect_inside("copy", 0, offset, len, image + 5);
}

/* Calls through pointers, which are those of the functions. */
static void directly(const carryline_routines *routines, size_t offset, size_t len) {
    uint32_t sum = (carryline_checksum_partial)(image + 5, len, 9);
    routines->zero(memory + offset, len);
    expect_inside("routines->zero", 0, offset, len, NULL);
    routines->copy(memory + offset, image + 5, len);
    expect_inside("routines->copy", 0, offset, len, image + 5);
    memcpy(memory + offset, image, len);
    routines->move(memory + offset + len / 3, memory + offset, len);
    expect(memcmp(memory + offset + len / 3, image, len) == 0, "routines->move", 0, offset, len);
    memset(memory + offset, 0xa5, len + len / 3);
    expect(routines->checksum_partial(image + 5, len, 9) == sum, "routines->checksum_partial", 0, offset, len);
    expect(carryline_checksum_fold(routines->copy_and_sum(memory + offset, image + 5, len, 9)) ==
               carryline_checksum_fold(sum),
           "routines->copy_and_sum", 0, offset, len);
    expect_inside("routines->copy_and_sum", 0, offset, len, image + 5);
    (carryline_zero)(memory + offset, len);
    expect_inside("the function zero", 0, offset, len, NULL);
    (carryline_copy)(memory + offset, image + 5, len);
    expect_inside("the function copy", 0, offset, len, image + 5);
}

int main(void) {
    static const size_t lengths[] = {511, 512, 513, 4095, 4096, 5000, 20480, LARGE};
    carryline_intent intent = carryline_intend(CARRYLINE_NEXT_UNKNOWN);
    size_t offset, len, i;
    for (i = 0; i < sizeof image; i++) {
        image[i] = (unsigned char)((i * 2654435761U) >> 13);
    }
    memset(memory, 0xa5, sizeof memory);
    expect(intent.next == 0 && intent.source_done == 0 && intent.job_bytes == 0, "an intent says nothing else", 0, 0, 0);
    expect(sizeof intent == 8 + sizeof(size_t), "the structure has no gaps", 0, 0, 0);

    /* Unknown numbers count as CARRYLINE_NEXT_UNKNOWN. */
    for (intent.next = 0; intent.next <= 6; intent.next++) {
        carryline_zero_with(NULL, 0, intent);
        carryline_copy_with(NULL, NULL, 0, intent);
        carryline_move_with(NULL, NULL, 0, intent);
        for (intent.source_done = 0; intent.source_done < 2; intent.source_done++) {
            intent.job_bytes = intent.source_done ? (size_t)-1 : 0;
            for (len = 0; len <= SMALL; len += len < 300 ? 1 : 37) {
                with(intent, 1 + len % 31, len);
            }
            for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
                with(intent, 1 + i * 9 % 63, lengths[i]);
            }
        }
    }
    for (offset = 1; offset <= 60; offset += 7) {
        for (len = 0; len <= SMALL; len++) {
            without(offset, len);
            directly(carryline_routines_in_force(), offset, len);
        }
        without(offset, LARGE);
        directly(carryline_routines_in_force(), offset, LARGE);
    }
    carryline_zero(NULL, 0);
    carryline_copy(NULL, NULL, 0);
    carryline_move(NULL, NULL, 0);
    expect(carryline_copy_and_sum(NULL, NULL, 0, 7) == 7, "nothing is added", 0, 0, 0);
    carryline_zero_secret(NULL, 0);
    expect(carryline_zero_if_dirty(NULL, 0) == 0, "nothing is not written", 0, 0, 0);
    if (!broken) {
        printf("kept\n");
    }
    return broken;
}
