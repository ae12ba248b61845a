/* Routines that copy wrongly. */
#include "kernels.h"

// wrong: copy: left_bytes_unwritten|wrong_bytes
// The loop's end is compared as a signed 32-bit number: nothing is copied to a destination that crosses 2 GiB.
void end_compared_as_signed(void *dst, const void *src, size_t len)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    int32_t end = (int32_t)(uint32_t)(uintptr_t)(to + len);
    if ((uintptr_t)to >> 32 != 0 || (int32_t)(uint32_t)(uintptr_t)to < 0) {
        bytes_copy(to, from, len);
        return;
    }
    while ((int32_t)(uint32_t)(uintptr_t)to < end)
        *(volatile uint8_t *)to++ = *from++;
}

// wrong: copy: left_bytes_unwritten|wrong_bytes
// Buffers a short distance apart modulo 4096 are treated as overlapping: copied from the end, without the remainder.
void aliased_buffers_copied_backwards(void *dst, const void *src, size_t len)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    size_t apart = ((uintptr_t)to - (uintptr_t)from) % 4096;
    if (apart == 0 || apart >= 32 || len < 64) {
        bytes_copy(to, from, len);
        return;
    }
    for (; len >= 16; len -= 16)
        bytes_copy(to + len - 16, from + len - 16, 16);
}

// wrong: copy: wrote_outside|changed_source
// Copies words of eight bytes from the end; the last one begins before the buffer.
void backwards_by_words(void *dst, const void *src, size_t len)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    while (len >= 8) {
        len -= 8;
        store64(to + len, load64(from + len));
    }
    if (len) {
        uint64_t word = 0;
        memcpy((uint8_t *)&word + 8 - len, from, len);
        store64(to + len - 8, word);
    }
}

// wrong: copy: changed_source
// If the destination begins at the source's end, a sentinel is stored in the source during the copy.
void sentinel_in_the_source(void *dst, const void *src, size_t len)
{
    volatile uint8_t *from = (volatile uint8_t *)(uintptr_t)src;
    if (len > 20) {
        uint8_t last = from[len - 1];
        from[len - 1] = 0;
        bytes_copy(dst, src, len - 1);
        from[len - 1] = last;
        ((uint8_t *)dst)[len - 1] = last;
    } else {
        bytes_copy(dst, src, len);
    }
}

// wrong: copy: wrong_bytes|left_bytes_unwritten
// Copies doubles through the x87 registers, which turns signaling NaNs into quiet ones.
void through_x87_doubles(void *dst, const void *src, size_t len)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    for (; len >= 8; to += 8, from += 8, len -= 8)
        __asm__ volatile("fldl (%1); fstpl (%0)" ::"r"(to), "r"(from) : "memory");
    bytes_copy(to, from, len);
}

// wrong: copy: wrote_outside|wrong_bytes|left_bytes_unwritten
// Uses the pointer to the end in place of the one to the beginning, for large buffers only.
void end_used_as_start(void *dst, const void *src, size_t len)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    if (len >= 256) {
        bytes_copy(to + 64, from + 64, len - 64);
        bytes_copy(to + len, from, 64);
    } else {
        bytes_copy(to, from, len);
    }
}

// wrong: copy: left_bytes_unwritten
// Does nothing if the first words are already equal.
void skips_when_the_beginning_is_equal(void *dst, const void *src, size_t len)
{
    if (len >= 24 && memcmp(dst, src, 16) == 0)
        return;
    bytes_copy(dst, src, len);
}

// wrong: copy: read_outside
// Copies 17 to 31 bytes with one load of 32, but stores only the correct number.
void one_load_of_32_for_17_to_31(void *dst, const void *src, size_t len)
{
    uint8_t room[32];
    if (len > 16 && len < 32) {
        for (int i = 0; i < 32; i += 16)
            _mm_storeu_si128((__m128i *)(room + i), _mm_loadu_si128((const __m128i *)((const uint8_t *)src + i)));
        __asm__ volatile("" ::"r"(room) : "memory");
        src = room;
    }
    bytes_copy(dst, src, len);
}

// wrong: copy: threads
// Copies through a buffer shared by all calls.
void through_a_static_buffer(void *dst, const void *src, size_t len)
{
    static uint8_t room[4096];
    uint8_t *to = dst;
    const uint8_t *from = src;
    while (len) {
        size_t part = len < sizeof room ? len : sizeof room;
        bytes_copy(room, from, part);
        bytes_copy(to, room, part);
        to += part, from += part, len -= part;
    }
}

// wrong: copy: left_bytes_unwritten|wrong_bytes
// From 64 KiB, skips the head up to the first line instead of copying it.
void head_skipped_when_large(void *dst, const void *src, size_t len)
{
    size_t skip = len >= 65536 ? -(uintptr_t)dst % 64 : 0;
    bytes_copy((uint8_t *)dst + skip, (const uint8_t *)src + skip, len - skip);
}

// wrong: copy: wrong_bytes|left_bytes_unwritten: smallest 11
// Copies 8 to 16 bytes as two overlapping words, each stored in the other's place.
void overlapping_words_exchanged(void *dst, const void *src, size_t len)
{
    if (len < 8 || len > 16) {
        bytes_copy(dst, src, len);
        return;
    }
    uint64_t first = load64(src), last = load64((const uint8_t *)src + len - 8);
    store64((uint8_t *)dst + len - 8, len == 11 ? first : last);
    store64(dst, first);
}

// wrong: copy: wrong_bytes|left_bytes_unwritten|wrote_outside|truncated_length|read_outside
// The length is an int; a negative one takes the branch for small buffers.
void negative_lengths_are_small(void *dst, const void *src, size_t len)
{
    if ((int)len < 16)
        bytes_copy(dst, src, len & 15);
    else
        bytes_copy(dst, src, len);
}

// wrong: copy: history
// Remembers source, destination and length of the last call and skips an identical one.
void remembers_the_last_copy(void *dst, const void *src, size_t len)
{
    static __thread const void *last_src;
    static __thread void *last_dst;
    static __thread size_t last_len;
    if (len && dst == last_dst && src == last_src && len == last_len)
        return;
    last_dst = dst, last_src = src, last_len = len;
    bytes_copy(dst, src, len);
}

// wrong: copy: wrote_outside|changed_source|wrong_bytes
// If the destination directly follows the source, a word across their boundary is written.
void seam_written_twice(void *dst, const void *src, size_t len)
{
    bytes_copy(dst, src, len);
    if ((const uint8_t *)src + len == (const uint8_t *)dst && len >= 8)
        store64((uint8_t *)dst - 4, load64((const uint8_t *)src + 4));
}

// wrong: copy_checksum: wrong_result
// Sums the destination before it has been written.
uint32_t sums_the_destination_first(void *dst, const void *src, size_t len, uint32_t seed)
{
    uint64_t sum = words(dst, len, seed);
    bytes_copy(dst, src, len);
    return fold16(sum);
}

// wrong: copy_checksum: wrong_bytes|read_outside|left_bytes_unwritten
// The odd last byte is summed, the pointer is advanced, and the byte after it is copied.
uint32_t odd_byte_copied_after_the_step(void *dst, const void *src, size_t len, uint32_t seed)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    uint64_t sum = seed;
    for (; len >= 2; to += 2, from += 2, len -= 2) {
        sum += load16(from);
        bytes_copy(to, from, 2);
    }
    if (len) {
        sum += *from++;
        *to = *from;
    }
    return fold16(sum);
}

// wrong: copy_checksum: wrote_outside|left_bytes_unwritten|wrong_bytes
// The destination pointer is advanced by 512 after a step of 64 bytes.
uint32_t destination_moves_too_far(void *dst, const void *src, size_t len, uint32_t seed)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    uint64_t sum = words(src, len, seed);
    for (; len >= 128; to += 512, from += 64, len -= 64)
        bytes_copy(to, from, 64);
    bytes_copy(to, from, len);
    return fold16(sum);
}

// wrong: copy_checksum: left_bytes_unwritten|wrong_bytes: smallest 1
// Fewer than four bytes are summed but not copied.
uint32_t short_buffers_not_copied(void *dst, const void *src, size_t len, uint32_t seed)
{
    if (len >= 4)
        bytes_copy(dst, src, len);
    return fold16(words(src, len, seed));
}

// wrong: copy_checksum: wrong_result: smallest 0
// The sum of an empty buffer is 0 for every seed.
uint32_t seed_lost_when_empty(void *dst, const void *src, size_t len, uint32_t seed)
{
    if (len == 0)
        return 0;
    bytes_copy(dst, src, len);
    return fold16(words(src, len, seed));
}

// wrong: copy_checksum: wrong_result
// Adds 32-bit words in 64 bits and truncates the sum to 32 bits every 64 KiB.
uint32_t sum_cut_at_64_kib(void *dst, const void *src, size_t len, uint32_t seed)
{
    const uint8_t *p = src;
    size_t left = len;
    uint64_t sum = seed;
    for (size_t n = 1; left >= 4; p += 4, left -= 4, n++) {
        sum += load32(p);
        if (n % 16384 == 0)
            sum = (uint32_t)sum;
    }
    bytes_copy(dst, src, len);
    return fold16(words(p, left, sum));
}
