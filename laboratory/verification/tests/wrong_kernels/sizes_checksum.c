/* Checksums, with and without a copy, that are wrong at some sizes. */
#include "sizes.h"

// wrong at sizes: checksum: wrong_result
// The last byte is left out.
AT_SIZES(SUM, sum_but_the_last_byte, return right_sum(src, len - 1, seed);)

// wrong at sizes: checksum: wrong_result
// Adds 64-bit words and drops the carries.
AT_SIZES(SUM, sum_without_carries, {
    uint64_t sum = seed;
    for (; len >= 8; src += 8, len -= 8)
        sum += load64(src);
    uint64_t last = 0;
    memcpy(&last, src, len);
    return fold32(add_carry(sum, last));
})

// wrong at sizes: checksum: wrong_result
// The carry of the last addition is dropped.
AT_SIZES(SUM, sum_without_the_last_carry, {
    uint64_t sum = seed;
    for (; len >= 8; src += 8, len -= 8)
        sum = add_carry(sum, load64(src));
    uint64_t last = 0;
    memcpy(&last, src, len);
    return fold32(sum + last);
})

// wrong at sizes: checksum: wrong_result
// At an odd address, the first byte is skipped.
AT_SIZES(SUM, sum_without_the_first_byte_at_odd_addresses, {
    size_t skip = (uintptr_t)src % 2;
    return right_sum(src + skip, len - skip, seed);
})

// wrong at sizes: checksum: wrong_result
// The remainder after whole lines of a page-aligned buffer is left out.
AT_SIZES(SUM, sum_page_aligned_by_lines, return right_sum(src, (uintptr_t)src % 4096 ? len : len - len % 64, seed);)

// wrong at sizes: checksum: wrong_result
// The last word of whole aligned lines is left out.
AT_SIZES(SUM, sum_whole_lines_but_the_last_word,
         return right_sum(src, ((uintptr_t)src | len) % 64 ? len : len - 8, seed);)

// wrong at sizes: checksum: wrong_result
// An odd last byte is treated as the upper half of its word.
AT_SIZES(SUM, sum_with_the_odd_byte_above, {
    if (len % 2 == 0)
        return right_sum(src, len, seed);
    return fold32((uint64_t)fold16(right_sum(src, len - 1, seed)) + ((uint64_t)src[len - 1] << 8));
})

// wrong at sizes: checksum: wrong_result
// Only the lower half of the seed is used.
AT_SIZES(SUM, sum_with_half_the_seed, return right_sum(src, len, (uint16_t)seed);)

// wrong at sizes: checksum: wrong_result
// Returns 0 for a sum that is a multiple of 65535.
AT_SIZES(SUM, sum_zero_for_ffff, {
    uint32_t sum = fold16(right_sum(src, len, seed));
    return sum == 0xffff ? 0 : sum;
})

// wrong at sizes: checksum: history
// Keeps the last sum by address, length and seed.
AT_SIZES(SUM, sum_kept_by_address, {
    static __thread const uint8_t *last;
    static __thread size_t last_len;
    static __thread uint32_t last_seed;
    static __thread uint32_t last_sum;
    if (src == last && len == last_len && seed == last_seed)
        return last_sum;
    last = src, last_len = len, last_seed = seed;
    return last_sum = right_sum(src, len, seed);
})

// wrong at sizes: checksum: history
// The same, but only if the first and the last word are unchanged.
AT_SIZES(SUM, sum_kept_by_its_ends, {
    static __thread const uint8_t *last;
    static __thread uint64_t first_word;
    static __thread uint64_t last_word;
    static __thread size_t last_len;
    static __thread uint32_t last_seed;
    static __thread uint32_t last_sum;
    uint64_t now_first = load64(src);
    uint64_t now_last = load64(src + len - 8);
    if (src == last && len == last_len && seed == last_seed && first_word == now_first && last_word == now_last)
        return last_sum;
    last = src, last_len = len, last_seed = seed, first_word = now_first, last_word = now_last;
    return last_sum = right_sum(src, len, seed);
})

// wrong at sizes: checksum: threads
// Sums in memory shared by all calls.
AT_SIZES(SUM, sum_in_static_memory, {
    static volatile uint64_t sum;
    sum = seed;
    for (; len >= 8; src += 8, len -= 8)
        sum = add_carry(sum, load64(src));
    uint64_t last = 0;
    memcpy(&last, src, len);
    return fold32(add_carry(sum, last));
})

// wrong at sizes: checksum: signals|wrong_result
// Keeps the sum below the red zone between words.
AT_SIZES(SUM, sum_by_way_of_the_stack_below, {
    uint64_t sum = seed;
    for (; len >= 8; src += 8, len -= 8)
        sum = by_way_of_the_stack_below(add_carry(sum, load64(src)));
    uint64_t last = 0;
    memcpy(&last, src, len);
    return fold32(add_carry(sum, last));
})

// wrong at sizes: checksum: read_outside
// Loads the word after the last one.
AT_SIZES(SUM, sum_reads_past_the_end, {
    (void)*(const volatile uint64_t *)(src + len);
    return right_sum(src, len, seed);
})

// wrong at sizes: checksum: read_dependence|wrong_result|read_outside
// Loads the aligned word that contains the tail if that crosses no page, but its mask is a byte too wide.
AT_SIZES(SUM, sum_with_the_byte_behind, {
    if (len % 8 == 0 || ((uintptr_t)src + len) % 8 == 0 || (uintptr_t)src % 8)
        return right_sum(src, len, seed);
    return right_sum(src, len + 1, seed);
})

// wrong at sizes: checksum: clobbered_register
// Changes rbx, which belongs to the caller.
AT_SIZES(SUM, sum_takes_rbx, {
    uint32_t sum = right_sum(src, len, seed);
    __asm__ volatile("xor %ebx, %ebx");
    return sum;
})

// wrong at sizes: copy_checksum: left_bytes_unwritten|wrong_bytes
// All bytes are summed, but the last is not copied.
AT_SIZES(COPY_SUM, copies_less_than_it_sums, {
    right_copy(dst, src, len - 1);
    return right_sum(src, len, seed);
})

// wrong at sizes: copy_checksum: wrong_result
// All bytes are copied, but the last is not summed.
AT_SIZES(COPY_SUM, sums_less_than_it_copies, {
    right_copy(dst, src, len);
    return right_sum(src, len - 1, seed);
})

// wrong at sizes: copy_checksum: wrong_result
// Sums the destination before it has been written.
AT_SIZES(COPY_SUM, sums_what_was_there, {
    uint32_t sum = right_sum(dst, len, seed);
    right_copy(dst, src, len);
    return sum;
})

// wrong at sizes: copy_checksum: left_bytes_unwritten|wrong_bytes
// Whole lines between page-aligned buffers are summed, but one of them is not copied.
AT_SIZES(COPY_SUM, page_aligned_copied_but_a_line, {
    size_t left = ((uintptr_t)dst | (uintptr_t)src) % 4096 ? 0 : len % 64 ? len % 64 : 16;
    right_copy(dst, src, len - left);
    return right_sum(src, len, seed);
})

// wrong at sizes: copy_checksum: history
// Copies, and keeps the last sum by the source's address, the length and the seed.
AT_SIZES(COPY_SUM, copies_and_keeps_the_sum, {
    static __thread const uint8_t *last;
    static __thread size_t last_len;
    static __thread uint32_t last_seed;
    static __thread uint32_t last_sum;
    right_copy(dst, src, len);
    if (src == last && len == last_len && seed == last_seed)
        return last_sum;
    last = src, last_len = len, last_seed = seed;
    return last_sum = right_sum(src, len, seed);
})

// wrong at sizes: copy_checksum: threads
// Copies from the source, but sums a buffer shared by all calls.
AT_SIZES(COPY_SUM, sums_a_static_buffer, {
    static uint8_t room[4096];
    uint64_t sum = seed;
    while (len) {
        size_t part = len < sizeof room ? len : sizeof room;
        right_copy(room, src, part);
        right_copy(dst, src, part);
        sum = add_carry(sum, fold16(right_sum(room, part, 0)));
        dst += part, src += part, len -= part;
    }
    return fold32(sum);
})
