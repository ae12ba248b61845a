/* Tests the guarantees of carryline.h for profiles. Prints each violation and exits with 1, or prints "kept". Compiled as
 * C and as C++. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <carryline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 300000 };

static int broken = 0;
static unsigned char memory[BYTES];
static unsigned char copied[BYTES];

/* A profile for every CPU, with one line as an argument. */
#define PROFILE(line)                                                                                                  \
    "version = 1\nname = \"of a test\"\nsource = \"none\"\n[decisions]\n"                                              \
    "rep_stosb_from_bytes = 16384\nrep_stosb_read_here_from_bytes = 16384\nrep_stosb_not_soon_from_bytes = 512\n"      \
    "rep_stosb_narrow_from_bytes = 4096\n"                                                                            \
    "rep_movsb_from_bytes = 16384\nrep_movsb_not_soon_from_bytes = \"never\"\nrep_movsb_narrow_from_bytes = 4096\n"    \
    "rep_movsb_near_from_bytes = 4096\n"                                                                              \
    "rep_stosb_scalar_from_bytes = 4096\nrep_movsb_scalar_from_bytes = 4096\n"                                         \
    "zero_non_temporal_from_bytes = 512\ncopy_non_temporal_from_bytes = 512\nread_once_from_bytes = 512\n"             \
    "clzero_from_bytes = 512\n"                                                                                       \
    "zero_prefetch_from_bytes = 16384\ncopy_prefetch_from_bytes = 16384\n"                                             \
    "sum_prefetch_from_bytes = 131072\nsum_prefetch_ahead_bytes = 2048\n"                                              \
    "copy_prefetch_far_from_bytes = 1048576\nsum_prefetch_far_from_bytes = 1048576\n"                                  \
    "cache_share_bytes = \"detected\"\n" line

static void expect(int holds, const char *what, const char *message) {
    if (!holds) {
        printf("broken: %s (message '%s')\n", what, message);
        broken = 1;
    }
}

/* Writes the text to the file and loads it. */
static bool load(const char *path, const char *text, char *message, size_t message_size) {
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        printf("broken: no file can be written\n");
        exit(1);
    }
    return carryline_tuning_load(path, message, message_size);
}

static void functions_are_right(void) {
    uint32_t sum;
    size_t i;
    for (i = 0; i < BYTES; i++) {
        memory[i] = (unsigned char)(i * 7 + i / 256);
    }
    sum = carryline_copy_and_sum(copied, memory, BYTES, 0);
    expect(carryline_checksum_fold(sum) == carryline_checksum_fold(carryline_checksum_partial(memory, BYTES, 0)),
           "sums are the same", "");
    expect(memcmp(copied, memory, BYTES) == 0, "copies are right", "");
    carryline_copy(copied + 1, memory, BYTES - 1);
    expect(memcmp(copied + 1, memory, BYTES - 1) == 0, "copies are right", "");
    carryline_zero_with(copied, BYTES, carryline_intend(CARRYLINE_NEXT_NOT_SOON));
    expect(copied[0] == 0 && memcmp(copied, copied + 1, BYTES - 1) == 0, "zeroes are right", "");
}

/* A profile that prefers another kernel replaces the pointers; the one from before remains valid. */
static void pointers_follow(const char *path) {
    const carryline_routines *routines = carryline_routines_in_force();
    void (*before)(void *, size_t);
    carryline_zero(copied, BYTES);
    before = routines->zero;
    expect(load(path, PROFILE("last_level_bytes = 4_194_304\n[kernels]\nzero = \"portable\"\n"), NULL, 0), "a kernel", "");
    expect(routines == carryline_routines_in_force(), "the pointers have one place", "");
#if defined(__x86_64__)
    expect(routines->zero != before, "the pointer is replaced", "");
#endif
    memset(copied, 1, BYTES);
    before(copied, BYTES / 2);
    routines->zero(copied + BYTES / 2, BYTES - BYTES / 2);
    expect(copied[0] == 0 && memcmp(copied, copied + 1, BYTES - 1) == 0, "both zero", "");
    functions_are_right();
}

int main(void) {
    char path[] = "/tmp/carryline-tuning-XXXXXX";
    char message[200] = "before";
    int file = mkstemp(path);
    if (file < 0) {
        printf("broken: no file can be made\n");
        return 1;
    }
    close(file);

    expect(!carryline_tuning_load("/nonexistent/tuning.toml", message, sizeof message), "an absent file", message);
    expect(strlen(message) > 0, "an absent file has a message", message);
    expect(!carryline_tuning_load(NULL, message, sizeof message), "no path", message);
    expect(!carryline_tuning_load(NULL, NULL, 0), "no path and no message", "");
    functions_are_right();

    expect(load(path, PROFILE("last_level_bytes = 4_194_304\n"), message, sizeof message), "a right file", message);
    expect(message[0] == 0, "success has no message", message);
    functions_are_right();

    expect(!load(path, PROFILE("last_level_bytes = 1\n"), message, sizeof message), "a wrong number", message);
    expect(strstr(message, "line 26: found 1; last_level_bytes must be") == message, "the line is named", message);
    memset(message, '#', sizeof message);
    expect(!load(path, PROFILE(""), message, 12), "a missing key", "");
    expect(strcmp(message, "line 4: mis") == 0 && message[12] == '#', "a message is cut", message);
    memset(message, '#', sizeof message);
    expect(!load(path, PROFILE(""), message, 1), "room for the end alone", "");
    expect(message[0] == 0 && message[1] == '#', "the end alone", "");
    functions_are_right();

    pointers_follow(path);

    unlink(path);
    expect(mkfifo(path, 0600) == 0, "a pipe", "");
    expect(!carryline_tuning_load(path, message, sizeof message), "a pipe is no profile, and is not waited for", "");
    unlink(path);
    puts(broken ? "broken" : "kept");
    return broken;
}
