/* Tests every served function: all lengths up to 600 next to inaccessible pages, overlap in both directions at distances
   up to 300, return values, and names that only old or fortified programs call. Prints "right" and exits with 0, or
   prints the first wrong call. Compiled with -fno-builtin, so that every call remains a call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
void __explicit_bzero_chk(void *, size_t, size_t);
void *__mempcpy(void *, const void *, size_t);
void __bzero(void *, size_t);
#ifdef __x86_64__
void *old_memcpy(void *, const void *, size_t);
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");
#else
#define old_memcpy memcpy
#endif

enum { MOST = 600, PAGE = 4096, ROOM = 4 * PAGE };

static void *bcopy_(void *d, const void *s, size_t n) { bcopy(s, d, n); return d; }
static void *memcpy_chk(void *d, const void *s, size_t n) { return __memcpy_chk(d, s, n, n); }
static void *memmove_chk(void *d, const void *s, size_t n) { return __memmove_chk(d, s, n, n + 1); }
static void *mempcpy_chk(void *d, const void *s, size_t n) { return __mempcpy_chk(d, s, n, SIZE_MAX); }
static void *bzero_(void *d, int c, size_t n) { (void)c; bzero(d, n); return d; }
static void *bzero2(void *d, int c, size_t n) { (void)c; __bzero(d, n); return d; }
static void *explicit_(void *d, int c, size_t n) { (void)c; explicit_bzero(d, n); return d; }
static void *explicit_chk(void *d, int c, size_t n) { (void)c; __explicit_bzero_chk(d, n, n); return d; }
static void *memset_chk(void *d, int c, size_t n) { return __memset_chk(d, c, n, n); }

static const struct { const char *name; void *(*call)(void *, const void *, size_t); int to_end; } copies[] = {
    {"memcpy", memcpy, 0}, {"memmove", memmove, 0}, {"mempcpy", mempcpy, 1}, {"__mempcpy", __mempcpy, 1},
    {"memcpy@GLIBC_2.2.5", old_memcpy, 0}, {"bcopy", bcopy_, 0}, {"__memcpy_chk", memcpy_chk, 0},
    {"__memmove_chk", memmove_chk, 0}, {"__mempcpy_chk", mempcpy_chk, 1}};
static const struct { const char *name; void *(*call)(void *, int, size_t); int zero_only; } fills[] = {
    {"memset", memset, 0}, {"__memset_chk", memset_chk, 0}, {"bzero", bzero_, 1}, {"__bzero", bzero2, 1},
    {"explicit_bzero", explicit_, 1}, {"__explicit_bzero_chk", explicit_chk, 1}};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void fail(const char *format, ...) {
    va_list words;
    va_start(words, format);
    vprintf(format, words);
    putchar('\n');
    exit(1);
}

/* ROOM bytes between two inaccessible pages. */
static unsigned char *guarded(void) {
    unsigned char *all = mmap(0, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + PAGE, ROOM, PROT_READ | PROT_WRITE)) fail("no memory");
    return all + PAGE;
}

static unsigned char noise(size_t i) { return (unsigned char)((i * 2654435761u) >> 13 | 1); }

static unsigned char *dst, *src;

/* Up to 80 bytes on each side of the buffer must not change. */
static void around(const char *name, unsigned char *at, size_t n, unsigned char was) {
    for (unsigned char *p = at - (at - dst > 80 ? 80 : at - dst); p < at; p++)
        if (*p != was) fail("%s(%zu) writes %td bytes before the buffer", name, n, at - p);
    unsigned char *end = at + n, *last = dst + ROOM - end > 80 ? end + 80 : dst + ROOM;
    for (unsigned char *p = end; p < last; p++)
        if (*p != was) fail("%s(%zu) writes %td bytes after the buffer", name, n, p - end);
}

static void copy_once(size_t f, unsigned char *to, unsigned char *from, size_t n) {
    size_t low = to - dst > 80 ? 80 : to - dst;
    for (unsigned char *p = to - low; p < to + n + 80 && p < dst + ROOM; p++) *p = 0xa5;
    void *result = copies[f].call(to, from, n);
    if (result != to + (copies[f].to_end ? n : 0)) fail("%s(%zu) returns something else", copies[f].name, n);
    for (size_t i = 0; i < n; i++) {
        if (to[i] != from[i]) fail("%s(%zu): byte %zu is wrong", copies[f].name, n, i);
        if (from[i] != noise(from + i - src)) fail("%s(%zu): the source has changed", copies[f].name, n);
    }
    around(copies[f].name, to, n, 0xa5);
}

static void fill_once(size_t f, unsigned char *to, int byte, size_t n) {
    unsigned char want = fills[f].zero_only ? 0 : (unsigned char)byte;
    size_t low = to - dst > 80 ? 80 : to - dst;
    for (unsigned char *p = to - low; p < to + n + 80 && p < dst + ROOM; p++) *p = 0x5a;
    if (fills[f].call(to, byte, n) != to) fail("%s(%zu) returns something else", fills[f].name, n);
    for (size_t i = 0; i < n; i++)
        if (to[i] != want) fail("%s(%d, %zu): byte %zu is wrong", fills[f].name, byte, n, i);
    around(fills[f].name, to, n, 0x5a);
}

/* Compares a move with a copy made byte by byte through another buffer. */
static void overlap_once(size_t f, size_t n, size_t distance, int up) {
    static unsigned char want[ROOM];
    unsigned char *from = dst + 1000, *to = up ? from - distance : from + distance;
    for (size_t i = 0; i < 4 * MOST; i++) dst[1000 - MOST + i] = noise(i);
    for (size_t i = 0; i < n; i++) want[i] = from[i];
    copies[f].call(to, from, n);
    for (size_t i = 0; i < n; i++)
        if (to[i] != want[i]) fail("%s(%zu) %s by %zu: byte %zu is wrong", copies[f].name, n, up ? "down" : "up", distance, i);
    for (size_t i = 0; i < 4 * MOST; i++) {
        unsigned char *p = dst + 1000 - MOST + i;
        if ((p < to || p >= to + n) && *p != noise(i)) fail("%s(%zu) by %zu changes other bytes", copies[f].name, n, distance);
    }
}

/* Large sizes, which are common to all copies and to all fills: one or two of each suffice. */
static void large(size_t n) {
    unsigned char *to = malloc(n + 64), *from = malloc(n + 64);
    if (!to || !from) fail("no memory");
    for (size_t i = 0; i < n; i++) from[i] = noise(i);
    for (size_t f = 0; f < 1; f++) {
        to[12] = to[n + 13] = 0x77;
        copies[f].call(to + 13, from, n);
        for (size_t i = 0; i < n; i++) if (to[13 + i] != noise(i)) fail("%s(%zu): byte %zu", copies[f].name, n, i);
        if (to[12] != 0x77 || to[n + 13] != 0x77) fail("%s(%zu): beside the buffer", copies[f].name, n);
    }
    for (size_t f = 1; f < 3; f++) {
        to[4] = to[n + 5] = 0x77;
        fills[f].call(to + 5, 0xee, n);
        for (size_t i = 0; i < n; i++) if (to[5 + i] != (fills[f].zero_only ? 0 : 0xee)) fail("%s(%zu): byte %zu", fills[f].name, n, i);
        if (to[4] != 0x77 || to[n + 5] != 0x77) fail("%s(%zu): beside the buffer", fills[f].name, n);
    }
    memmove(from + 7, from, n);
    for (size_t i = 0; i < n; i++) if (from[7 + i] != noise(i)) fail("memmove(%zu) up by 7: byte %zu", n, i);
    memmove(from, from + 7, n);
    for (size_t i = 0; i < n; i++) if (from[i] != noise(i)) fail("memmove(%zu) down by 7: byte %zu", n, i);
    free(to);
    free(from);
}

/* Fails if the interposer does not serve, so that a test without it cannot pass. */
static void check_who_serves(void) {
    static const char *names[] = {"memcpy", "memmove", "mempcpy", "memset", "bzero", "bcopy", "explicit_bzero", "__memcpy_chk",
        "__memmove_chk", "__mempcpy_chk", "__memset_chk", "__explicit_bzero_chk", "__mempcpy", "__bzero"};
    for (size_t i = 0; i < COUNT(names); i++) {
        Dl_info info;
        void *symbol = dlsym(RTLD_DEFAULT, names[i]);
        if (!symbol || !dladdr(symbol, &info) || !strstr(info.dli_fname, "carryline"))
            fail("%s is not served by the interposer", names[i]);
    }
    Dl_info info;
    if (!dladdr((void *)old_memcpy, &info) || !strstr(info.dli_fname, "carryline")) fail("memcpy@GLIBC_2.2.5 is not served");
}

int main(void) {
    check_who_serves();
    dst = guarded();
    src = guarded();
    for (size_t i = 0; i < ROOM; i++) src[i] = noise(i);
    for (size_t n = 0; n <= MOST; n++) {
        for (size_t f = 0; f < COUNT(copies); f++) {
            copy_once(f, dst + ROOM - n, src + ROOM - n, n);
            copy_once(f, dst, src, n);
            copy_once(f, dst + ROOM - n - n % 61, src + n % 67, n);
        }
        for (size_t f = 0; f < COUNT(fills); f++) {
            fill_once(f, dst + ROOM - n, 0, n);
            fill_once(f, dst + ROOM - n, 0xff + 0x100 * (int)n, n);
            fill_once(f, dst, -128, n);
            fill_once(f, dst + 100 + n % 67, 1, n);
        }
    }
    for (size_t n = 0; n <= MOST; n += n < 140 ? 1 : 13)
        for (size_t distance = 0; distance <= 300; distance += distance < 70 ? 1 : 11)
            for (size_t f = 0; f < 2; f++) {
                overlap_once(f, n, distance, 0);
                overlap_once(f, n, distance, 1);
            }
    static const size_t sizes[] = {4095, 20479, 20480, 20481, 524287, 524288, 524289, 16777216, 16777217};
    for (size_t i = 0; i < COUNT(sizes); i++) large(sizes[i]);
    for (size_t f = 0; f < COUNT(copies); f++) copies[f].call(0, 0, 0);
    for (size_t f = 0; f < COUNT(fills); f++) fills[f].call(0, 1, 0);
    puts("right");
    return 0;
}
