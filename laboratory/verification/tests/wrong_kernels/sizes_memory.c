/* Routines that zero or copy wrongly at some sizes. */
#include "sizes.h"

// wrong at sizes: zero: left_bytes_unwritten
// The last byte is left out.
AT_SIZES(ZERO, zero_but_the_last_byte, right_zero(dst, len - 1);)

// wrong at sizes: zero: wrote_outside|neighbour_race
// The length is rounded up to sixteen.
AT_SIZES(ZERO, zero_rounded_up, right_zero(dst, (len + 15) & ~(size_t)15);)

// wrong at sizes: zero: left_bytes_unwritten
// Skips the bytes before the first whole line.
AT_SIZES(ZERO, zero_from_the_first_line, {
    size_t skip = -(uintptr_t)dst % 64;
    if (skip < len)
        right_zero(dst + skip, len - skip);
})

// wrong at sizes: zero: left_bytes_unwritten
// Zeroes a page-aligned buffer by whole lines and leaves out the remainder.
AT_SIZES(ZERO, zero_page_aligned_by_lines, right_zero(dst, (uintptr_t)dst % 4096 ? len : len - len % 64);)

// wrong at sizes: zero: left_bytes_unwritten
// Leaves out the last word of a buffer that ends at a line boundary.
AT_SIZES(ZERO, zero_but_the_last_word_of_a_line, right_zero(dst, ((uintptr_t)dst + len) % 64 ? len : len - 8);)

// wrong at sizes: zero: left_bytes_unwritten
// Treats a buffer that begins with a zero word as zero.
AT_SIZES(ZERO, zero_unless_the_first_word_is, if (load64(dst)) right_zero(dst, len);)

// wrong at sizes: zero: left_bytes_unwritten
// Treats four words whose sum is zero as zero.
AT_SIZES(ZERO, zero_unless_words_cancel, {
    size_t at = 0;
    for (; at + 32 <= len; at += 32)
        if (load64(dst + at) + load64(dst + at + 8) + load64(dst + at + 16) + load64(dst + at + 24))
            right_zero(dst + at, 32);
    right_zero(dst + at, len - at);
})

// wrong at sizes: zero: history|left_bytes_unwritten
// Remembers the last buffer that it zeroed.
AT_SIZES(ZERO, zero_unless_done_before, {
    static __thread uint8_t *last;
    static __thread size_t last_len;
    if (dst == last && len == last_len)
        return;
    last = dst, last_len = len;
    right_zero(dst, len);
})

// wrong at sizes: zero: neighbour_race
// Overwrites the byte after the buffer and restores it, unless that byte is in another page.
AT_SIZES(ZERO, zero_restores_its_neighbour, {
    volatile uint8_t *end = dst + len;
    if ((uintptr_t)end % 4096) {
        uint8_t kept = *end;
        *end = 0;
        right_zero(dst, len);
        *end = kept;
    } else {
        right_zero(dst, len);
    }
})

// wrong at sizes: zero: neighbour_race
// Reads the word at the end, clears a part of it, and writes it back.
AT_SIZES(ZERO, zero_blends_the_last_word, {
    right_zero(dst, len - 8);
    for (uint8_t *p = dst + len - 8; p < dst + len; p++) {
        volatile uint64_t *word = (volatile uint64_t *)((uintptr_t)p & ~(uintptr_t)7);
        *word &= ~(0xffULL << 8 * ((uintptr_t)p % 8));
    }
})

// wrong at sizes: zero: clobbered_register
// Changes r15, which belongs to the caller.
AT_SIZES(ZERO, zero_takes_r15, {
    right_zero(dst, len);
    __asm__ volatile("xor %r15, %r15");
})

// wrong at sizes: zero: direction_flag
// Leaves the direction flag set.
AT_SIZES(ZERO, zero_leaves_the_direction_flag, {
    right_zero(dst, len);
    __asm__ volatile("std");
})

// wrong at sizes: zero: wrong_bytes|left_bytes_unwritten|signals
// Keeps the word to be stored below the stack pointer.
AT_SIZES(ZERO, zero_by_way_of_the_stack_below, {
    size_t at = 0;
    for (; at + 8 <= len; at += 8)
        store64(dst + at, by_way_of_the_stack_below(0));
    right_zero(dst + at, len - at);
})

// wrong at sizes: copy: left_bytes_unwritten|wrong_bytes
// The last byte is left out.
AT_SIZES(COPY, copy_but_the_last_byte, right_copy(dst, src, len - 1);)

// wrong at sizes: copy: left_bytes_unwritten|wrong_bytes
// If both buffers begin and end at line boundaries, one line is left out.
AT_SIZES(COPY, copy_whole_lines_but_one,
         right_copy(dst, src, ((uintptr_t)dst | (uintptr_t)src | len) % 64 ? len : len - 64);)

// wrong at sizes: copy: left_bytes_unwritten|wrong_bytes
// Between page-aligned buffers, the last sixteen bytes are left out.
AT_SIZES(COPY, copy_page_aligned_but_the_end,
         right_copy(dst, src, ((uintptr_t)dst | (uintptr_t)src) % 4096 ? len : len - 16);)

// wrong at sizes: copy: left_bytes_unwritten|wrong_bytes
// If both buffers have the same offset in a page, the head up to a multiple of 16 is skipped.
AT_SIZES(COPY, copy_equal_offsets_without_head, {
    size_t skip = above(dst, src) ? 0 : -(uintptr_t)dst % 16;
    right_copy(dst + skip, src + skip, len - skip);
})

// wrong at sizes: copy: left_bytes_unwritten|wrong_bytes
// If the destination is a short distance above the source modulo 4096, copies from the end without the remainder.
AT_SIZES(COPY, copy_a_little_above_backwards, {
    size_t rest = above(dst, src) - 1 < 31 ? len % 16 : 0;
    right_copy(dst + rest, src + rest, len - rest);
})

// wrong at sizes: copy: left_bytes_unwritten|wrong_bytes
// The tail is left out if the destination is a short distance below.
AT_SIZES(COPY, copy_a_little_below_without_tail,
         right_copy(dst, src, above(src, dst) - 1 < 31 ? len - len % 16 : len);)

// wrong at sizes: copy: wrong_bytes|left_bytes_unwritten
// If the destination begins at the last byte of a line, the source's second byte is stored there.
AT_SIZES(COPY, copy_wrong_from_the_last_byte_of_a_line, {
    right_copy(dst, src, len);
    if ((uintptr_t)dst % 64 == 63)
        dst[0] = src[1] == src[0] ? (uint8_t)~src[0] : src[1];
})

// wrong at sizes: copy: threads
// Copies through a buffer shared by all calls.
AT_SIZES(COPY, copy_through_a_static_buffer, {
    static uint8_t room[4096];
    while (len) {
        size_t part = len < sizeof room ? len : sizeof room;
        right_copy(room, src, part);
        right_copy(dst, room, part);
        dst += part, src += part, len -= part;
    }
})

// wrong at sizes: copy: signals
// Keeps words below the red zone.
AT_SIZES(COPY, copy_by_way_of_the_stack_below, {
    for (; len >= 8; dst += 8, src += 8, len -= 8)
        store64(dst, by_way_of_the_stack_below(load64(src)));
    right_copy(dst, src, len);
})

// wrong at sizes: copy: signals
// Keeps only the last word below the red zone.
AT_SIZES(COPY, copy_the_end_by_way_of_the_stack_below, {
    right_copy(dst, src, len - 8);
    store64(dst + len - 8, by_way_of_the_stack_below(load64(src + len - 8)));
})

// wrong at sizes: copy: neighbour_race|wrong_bytes|left_bytes_unwritten
// Overwrites the byte before the buffer and restores it, unless it is in another page. It may belong to the source.
AT_SIZES(COPY, copy_restores_its_neighbour, {
    volatile uint8_t *before = dst - 1;
    if ((uintptr_t)dst % 4096) {
        uint8_t kept = *before;
        *before = 0;
        right_copy(dst, src, len);
        *before = kept;
    } else {
        right_copy(dst, src, len);
    }
})

// wrong at sizes: copy: history|left_bytes_unwritten|wrong_bytes
// Remembers source, destination and length of the last copy and skips an identical one.
AT_SIZES(COPY, copy_unless_done_before, {
    static __thread const uint8_t *last_src;
    static __thread uint8_t *last_dst;
    static __thread size_t last_len;
    if (dst == last_dst && src == last_src && len == last_len)
        return;
    last_dst = dst, last_src = src, last_len = len;
    right_copy(dst, src, len);
})

// wrong at sizes: copy: history|left_bytes_unwritten|wrong_bytes
// The same, but if the first or the last word of the source has changed, copies only the ends.
AT_SIZES(COPY, copy_the_ends_if_done_before, {
    static __thread const uint8_t *last_src;
    static __thread uint8_t *last_dst;
    static __thread size_t last_len;
    if (dst == last_dst && src == last_src && len == last_len) {
        right_copy(dst, src, 8);
        right_copy(dst + len - 8, src + len - 8, 8);
        return;
    }
    last_dst = dst, last_src = src, last_len = len;
    right_copy(dst, src, len);
})

// wrong at sizes: copy: read_outside
// Reads a word in the sixteen bytes after the source, without using it.
AT_SIZES(COPY, copy_reads_past_the_end, {
    (void)*(const volatile uint64_t *)(src + len + 8);
    right_copy(dst, src, len);
})

// wrong at sizes: copy: read_outside
// Reads the word before the source, without using it.
AT_SIZES(COPY, copy_reads_before_the_start, {
    (void)*(const volatile uint64_t *)(src - 8);
    right_copy(dst, src, len);
})

// wrong at sizes: copy: changed_source
// Stores a sentinel at the source's end during the copy.
AT_SIZES(COPY, copy_with_a_sentinel, {
    volatile uint8_t *end = (volatile uint8_t *)(uintptr_t)(src + len - 1);
    uint8_t kept = *end;
    *end = 0;
    right_copy(dst, src, len - 1);
    *end = kept;
    dst[len - 1] = kept;
})

// wrong at sizes: copy: left_bytes_unwritten
// Does nothing if the first words are already equal.
AT_SIZES(COPY, copy_unless_the_beginning_is_equal, if (memcmp(dst, src, 16)) right_copy(dst, src, len);)

// wrong at sizes: copy: wrong_bytes|left_bytes_unwritten
// Copies doubles through the x87 registers, which turns signaling NaNs into quiet ones.
AT_SIZES(COPY, copy_by_x87_doubles, {
    for (; len >= 8; dst += 8, src += 8, len -= 8)
        __asm__ volatile("fldl (%1); fstpl (%0)" ::"r"(dst), "r"(src) : "memory");
    right_copy(dst, src, len);
})
