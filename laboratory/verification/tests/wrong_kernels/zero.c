/* Routines that zero too few or too many bytes. */
#include "kernels.h"

// wrong: zero: left_bytes_unwritten: smallest 9
// Treats a buffer that begins with a zero word as zero.
void skips_when_first_word_is_zero(void *dst, size_t len)
{
    if (len >= 8 && load64(dst) == 0)
        return;
    bytes_zero(dst, len);
}

// wrong: zero: wrote_outside: smallest 1
// Writes whole words: the length is rounded up to eight.
void rounds_up_to_8(void *dst, size_t len)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < len; i += 8)
        store64(p + i, 0);
}

// wrong: zero: wrote_outside
// Zeroes nine to fifteen bytes with one store of sixteen.
void one_store_of_16_for_9_to_15(void *dst, size_t len)
{
    if (len >= 9 && len < 16)
        _mm_storeu_si128(dst, _mm_setzero_si128());
    else
        bytes_zero(dst, len);
}

// wrong: zero: neighbour_race
// Reads the first and the last aligned word, clears a part of them, and writes them back: no byte outside changes, but
// a concurrent write of another thread to such a byte is lost.
void blends_whole_words(void *dst, size_t len)
{
    uint8_t *p = dst;
    while (len && (uintptr_t)p % 8 == 0 && len >= 8) {
        store64(p, 0);
        p += 8, len -= 8;
    }
    while (len) {
        volatile uint64_t *word = (volatile uint64_t *)((uintptr_t)p & ~(uintptr_t)7);
        size_t at = (uintptr_t)p % 8, count = len < 8 - at ? len : 8 - at;
        uint64_t mask = (count == 8 ? ~0ULL : (1ULL << 8 * count) - 1) << 8 * at;
        *word &= ~mask;
        p += count, len -= count;
    }
}

// wrong: zero: neighbour_race
// Overwrites the byte after the buffer and restores it, unless that byte is in another page.
void restores_its_neighbour(void *dst, size_t len)
{
    volatile uint8_t *p = dst;
    if (len && ((uintptr_t)dst + len) % 4096) {
        uint8_t kept = p[len];
        for (size_t i = 0; i <= len; i++)
            p[i] = 0;
        p[len] = kept;
    } else {
        bytes_zero(dst, len);
    }
}

// wrong: zero: left_bytes_unwritten: smallest 63
// Leaves out the last byte of a tail of 63 bytes.
void leaves_the_last_byte_of_63(void *dst, size_t len)
{
    bytes_zero(dst, len % 64 == 63 ? len - 1 : len);
}

// wrong: zero: left_bytes_unwritten
// Treats a block whose words have the sum zero as zero.
void skips_blocks_that_sum_to_zero(void *dst, size_t len)
{
    uint8_t *p = dst;
    for (; len >= 32; p += 32, len -= 32)
        if (load64(p) + load64(p + 8) + load64(p + 16) + load64(p + 24) != 0)
            bytes_zero(p, 32);
    bytes_zero(p, len);
}

// wrong: zero: left_bytes_unwritten
// The same, with exclusive or instead of the sum.
void skips_blocks_that_cancel(void *dst, size_t len)
{
    uint8_t *p = dst;
    for (; len >= 32; p += 32, len -= 32)
        if ((load64(p) ^ load64(p + 8) ^ load64(p + 16) ^ load64(p + 24)) != 0)
            bytes_zero(p, 32);
    bytes_zero(p, len);
}

// wrong: zero: left_bytes_unwritten
// Finds the first nonzero word and begins after it.
void begins_behind_the_first_nonzero_word(void *dst, size_t len)
{
    uint8_t *p = dst;
    while (len >= 8 && load64(p) == 0)
        p += 8, len -= 8;
    if (len > 32 && (uint8_t)load64(p) == 0)
        p += 8, len -= 8;
    bytes_zero(p, len);
}

// wrong: zero: wrote_outside
// Zeroes whole cache lines, from the start of the first one.
void whole_cache_lines(void *dst, size_t len)
{
    uint8_t *p = dst;
    if (len >= 128)
        for (uint8_t *line = (uint8_t *)((uintptr_t)p & ~(uintptr_t)63); line + 64 <= p + len; line += 64)
            bytes_zero(line, 64);
    bytes_zero(p, len);
}

// wrong: zero: left_bytes_unwritten
// From 128 KiB, zeroes whole lines and leaves out the remainder.
void large_buffers_lose_their_tail(void *dst, size_t len)
{
    bytes_zero(dst, len >= 131072 ? len & ~(size_t)63 : len);
}

// wrong: zero: left_bytes_unwritten|wrong_bytes
// From 32 MiB, leaves out the last kilobyte.
void beyond_the_caches_a_kilobyte_is_missing(void *dst, size_t len)
{
    memset(dst, 0, len >= 32 << 20 ? len - 1024 : len);
}

// wrong: zero: truncated_length
// The length is truncated to 32 bits.
void count_in_32_bits(void *dst, size_t len)
{
    uint32_t count = (uint32_t)len;
    uint8_t *p = dst;
    __asm__ volatile("rep stosb" : "+D"(p) : "c"((uint64_t)count), "a"(0) : "memory");
}

// wrong: zero: left_bytes_unwritten
// Compares only the lower 32 bits of the end: a buffer across a 4 GiB boundary seems to end before it begins.
void end_compared_in_32_bits(void *dst, size_t len)
{
    uint8_t *p = dst;
    for (uint32_t end = (uint32_t)(uintptr_t)(p + len); (uint32_t)(uintptr_t)p < end; p++)
        *(volatile uint8_t *)p = 0;
}

// wrong: zero: history|left_bytes_unwritten: smallest 1
// Remembers the last buffer that it zeroed. The sweep also uses the same destination twice.
void remembers_what_is_zero(void *dst, size_t len)
{
    static __thread void *last;
    static __thread size_t last_len;
    if (dst == last && len == last_len && len > 0)
        return;
    last = dst, last_len = len;
    bytes_zero(dst, len);
}

// wrong: zero: wrong_bytes|left_bytes_unwritten|wrote_outside
// Exchanges memset's value and length for long buffers.
void writes_its_length(void *dst, size_t len)
{
    memset(dst, len > 200 ? 1 : 0, len);
}
