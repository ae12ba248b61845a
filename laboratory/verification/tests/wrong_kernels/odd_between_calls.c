/* Unusual but correct routines that the tests with repeated, stopped and large calls must accept. */
#define _GNU_SOURCE
#include "sizes.h"
#include <alloca.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

// right: checksum
// Keeps a copy of the last data and its sum, and returns that sum if the data is the same.
uint32_t keeps_what_it_compares(const uint8_t *src, size_t len, uint32_t seed)
{
    static __thread uint8_t held[2048];
    static __thread size_t held_len;
    static __thread uint32_t held_sum;
    if (len == 0 || len > sizeof held)
        return fold16(right_sum(src, len, seed));
    if (len != held_len || memcmp(held, src, len)) {
        right_copy(held, src, len);
        held_len = len;
        held_sum = fold16(right_sum(src, len, 0));
    }
    return fold16((uint64_t)held_sum + seed);
}

// right: checksum
// Counts calls and bytes of all threads.
uint32_t counts_its_calls(const uint8_t *src, size_t len, uint32_t seed)
{
    static uint64_t calls, bytes;
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes, len, __ATOMIC_RELAXED);
    return right_sum(src, len, seed);
}

static uint16_t low[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void fill_low(void)
{
    for (unsigned i = 0; i < 256; i++)
        low[i] = (uint16_t)i;
}

// right: checksum
// Uses a table that the first call of any thread fills.
uint32_t by_a_table_filled_once(const uint8_t *src, size_t len, uint32_t seed)
{
    pthread_once(&once, fill_low);
    uint64_t sum = seed;
    for (size_t i = 0; i < len; i++)
        sum += (uint64_t)low[src[i]] << (i % 2 * 8);
    return fold16(sum);
}

// right: checksum
// Sums recursively by halves.
uint32_t by_halves(const uint8_t *src, size_t len, uint32_t seed)
{
    if (len < 64)
        return fold16(right_sum(src, len, seed));
    size_t half = len / 4 * 2;
    return fold16((uint64_t)by_halves(src, half, seed) + by_halves(src + half, len - half, 0));
}

// right: checksum
// Reads a byte of every page first.
uint32_t touches_every_page_first(const uint8_t *src, size_t len, uint32_t seed)
{
    for (size_t at = 0; at < len; at += 4096)
        (void)*(const volatile uint8_t *)(src + at);
    return right_sum(src, len, seed);
}

// right: checksum
// Prefetches a kilobyte ahead, including unmapped memory.
uint32_t prefetches_beyond_the_end(const uint8_t *src, size_t len, uint32_t seed)
{
    uint64_t sum = seed;
    for (; len >= 64; src += 64, len -= 64) {
        __builtin_prefetch(src + 1024);
        sum = add_carry(sum, right_sum(src, 64, 0));
    }
    return fold32(add_carry(fold32(sum), right_sum(src, len, 0)));
}

// right: checksum
// Sums a copy on its stack, up to 64 KiB.
uint32_t from_a_copy_on_the_stack(const uint8_t *src, size_t len, uint32_t seed)
{
    if (len == 0 || len > 65536)
        return right_sum(src, len, seed);
    uint8_t *copy = alloca(len);
    right_copy(copy, src, len);
    return right_sum(copy, len, seed);
}

// right: zero
// Saves the flags on the stack and restores them.
void zero_with_kept_flags(uint8_t *dst, size_t len)
{
    uint64_t flags;
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; popq %0; lea 128(%%rsp), %%rsp" : "=r"(flags));
    right_zero(dst, len);
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushq %0; popfq; lea 128(%%rsp), %%rsp" ::"r"(flags) : "cc");
}

// right: zero
// Zeroes the last page first, then the others in ascending order.
void zero_the_last_page_first(uint8_t *dst, size_t len)
{
    size_t last = len > 4096 ? 4096 : len;
    right_zero(dst + len - last, last);
    right_zero(dst, len - last);
}

// right: zero
// Uses non-temporal stores from 64 KiB, followed by a fence.
void zero_past_the_caches_when_large(uint8_t *dst, size_t len)
{
    if (len < 65536) {
        right_zero(dst, len);
        return;
    }
    size_t head = -(uintptr_t)dst % 16;
    right_zero(dst, head);
    for (dst += head, len -= head; len >= 16; dst += 16, len -= 16)
        _mm_stream_si128((__m128i *)dst, _mm_setzero_si128());
    _mm_sfence();
    right_zero(dst, len);
}

// right: zero
// Skips pages that are already zero.
void zero_unless_all_of_it_is(uint8_t *dst, size_t len)
{
    while (len) {
        size_t part = len < 4096 ? len : 4096;
        uint8_t any = 0;
        for (size_t i = 0; i < part; i++)
            any |= dst[i];
        if (any)
            right_zero(dst, part);
        dst += part, len -= part;
    }
}

// right: copy
// Zeroes the destination, then copies.
void copy_after_zeroing(uint8_t *dst, const uint8_t *src, size_t len)
{
    right_zero(dst, len);
    right_copy(dst, src, len);
}

// right: copy
// Copies lines from the end.
void copy_backwards_by_lines(uint8_t *dst, const uint8_t *src, size_t len)
{
    for (; len >= 64; len -= 64)
        right_copy(dst + len - 64, src + len - 64, 64);
    right_copy(dst, src, len);
}

// right: copy
// Copies through a buffer shared by all calls, protected by a spinlock.
void copy_behind_a_spinning_lock(uint8_t *dst, const uint8_t *src, size_t len)
{
    static uint8_t room[4096];
    static int locked;
    while (len) {
        size_t part = len < sizeof room ? len : sizeof room;
        while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
            __builtin_ia32_pause();
        right_copy(room, src, part);
        right_copy(dst, room, part);
        __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
        dst += part, src += part, len -= part;
    }
}

// right: copy
// Copies some sizes through a file: its system calls fail on pages that are not yet accessible.
void copy_through_a_file(uint8_t *dst, const uint8_t *src, size_t len)
{
    static __thread int file = -1;
    if (file < 0)
        file = memfd_create("copy", MFD_CLOEXEC);
    if (len < 1000 || len > 70000 || len % 4 || file < 0) {
        right_copy(dst, src, len);
        return;
    }
    if (pwrite(file, src, len, 0) == (ssize_t)len)
        (void)!pread(file, dst, len, 0);
}

// right: copy
// Sleeps briefly in some calls.
void copy_that_sleeps_now_and_then(uint8_t *dst, const uint8_t *src, size_t len)
{
    static __thread unsigned calls;
    if (calls++ % 8192 == 0)
        usleep(100);
    right_copy(dst, src, len);
}

// right: copy_checksum
// Sums the source, copies, and sums the copy too, without using that sum.
uint32_t sums_twice(uint8_t *dst, const uint8_t *src, size_t len, uint32_t seed)
{
    uint32_t sum = fold16(right_sum(src, len, seed));
    right_copy(dst, src, len);
    return sum == fold16(right_sum(dst, len, seed)) ? sum : 0;
}

// right: copy_checksum
// Goes page by page, copying one and summing the previous one.
uint32_t sums_a_page_behind(uint8_t *dst, const uint8_t *src, size_t len, uint32_t seed)
{
    uint64_t sum = seed;
    size_t behind = 0;
    const uint8_t *last = src;
    while (len) {
        size_t part = len < 4096 ? len : 4096;
        right_copy(dst, src, part);
        sum = add_carry(sum, fold16(right_sum(last, behind, 0)));
        last = src, behind = part;
        dst += part, src += part, len -= part;
    }
    return fold32(add_carry(fold32(sum), fold16(right_sum(last, behind, 0))));
}
