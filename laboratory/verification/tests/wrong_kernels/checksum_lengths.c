/* Checksums that read the wrong bytes. */
#include "kernels.h"

// wrong: checksum: wrong_result|read_outside|read_dependence
// An odd last byte is read as a word, together with the byte after the buffer.
uint32_t odd_byte_read_as_16_bits(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; (ptrdiff_t)len > 0; p += 2, len -= 2)
        sum += load16(p);
    return fold16(sum);
}

// wrong: checksum: read_outside
// Loads eight bytes for a tail of seven and masks the eighth: correct, unless that byte is unmapped.
uint32_t reads_one_byte_past_for_some_lengths(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 8; p += 8, len -= 8)
        sum = add_carry(sum, load64(p));
    if (len == 7) {
        uint64_t word;
        __asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(p) : "memory");
        return fold16(add_carry(sum, word & 0x00ffffffffffffff));
    }
    return fold16(add_carry(fold16(sum), words(p, len, 0)));
}

// wrong: checksum: read_outside
// Reads the eight bytes before the buffer at odd addresses, without using them.
uint32_t reads_before_the_start_at_odd_addresses(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    if ((uintptr_t)p & 1)
        (void)*(const volatile uint64_t *)(p - 8);
    return fold16(words(p, len, seed));
}

// wrong: checksum: read_outside
// Loads the data 256 bytes ahead instead of prefetching it.
uint32_t prefetches_by_loading(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 64; p += 64, len -= 64) {
        (void)*(const volatile uint8_t *)(p + 256);
        sum = words(p, 64, sum);
    }
    return fold16(words(p, len, sum));
}

// wrong: checksum: wrong_result
// The bytes before the first aligned word are summed separately, and the tail is only handled in that branch.
uint32_t tail_skipped_when_head_aligned(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    if ((uintptr_t)p % 8 != 0 || len < 8)
        return fold16(words(p, len, seed));
    uint64_t sum = seed;
    for (; len >= 8; p += 8, len -= 8)
        sum = words(p, 8, sum);
    return fold16(sum);
}

// wrong: checksum: read_dependence
// Loads the aligned word that contains the tail, which is safe, but the mask for five bytes is a byte too wide.
uint32_t tail_mask_too_wide(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 8; p += 8, len -= 8)
        sum = add_carry(sum, load64(p));
    if ((uintptr_t)p % 8 || len == 0)
        return fold16(add_carry(fold16(sum), words(p, len, 0)));
    uint64_t word = *(const volatile uint64_t *)p;
    size_t held = len == 5 ? 6 : len;
    return fold16(add_carry(sum, word & (~0ULL >> (64 - 8 * held))));
}

// wrong: checksum: wrong_result
// After the loop of 64 bytes, a remainder of 32 is left for a step that runs only for more than 32.
uint32_t skips_a_word_at_64_k_plus_32(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 64; p += 64, len -= 64)
        sum = words(p, 64, sum);
    if (len > 32) {
        sum = words(p, 32, sum);
        p += 32, len -= 32;
    }
    size_t tail = len % 32;
    return fold16(words(p, tail, sum));
}

// wrong: checksum: wrong_result
// Unrolled by hand: uses the ninth word of a block in place of the fifth.
uint32_t unrolled_with_a_wrong_index(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 64; p += 32, len -= 32) {
        static const int index[16] = {0, 1, 2, 3, 8, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        for (int i = 0; i < 16; i++)
            sum += load16(p + 2 * index[i]);
    }
    return fold16(words(p, len, sum));
}

// wrong: checksum: wrong_result
// The length is truncated to 16 bits.
uint32_t length_cut_to_16_bits(const void *data, size_t len, uint32_t seed)
{
    return fold16(words(data, (uint16_t)len, seed));
}

// wrong: checksum: truncated_length
// The length is an int, as in the kernel's own prototype.
uint32_t length_taken_as_int(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    int left = (int)len;
    for (; left >= 2; p += 2, left -= 2)
        sum += load16(p);
    return fold16(left == 1 ? sum + *p : sum);
}

// wrong: checksum: wrong_result
// Processes large buffers in steps of 512 bytes, and takes the remainder modulo 256.
uint32_t rest_of_large_blocks_cut(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    if (len < 1024)
        return fold16(words(p, len, sum));
    size_t whole = len & ~(size_t)511;
    sum = words(p, whole, sum);
    return fold16(words(p + whole, len % 256, sum));
}

// wrong: checksum: crashed: smallest 16
// Adds vectors directly from memory as if the data were aligned.
uint32_t aligned_load_at_any_address(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 16; p += 16, len -= 16) {
        uint64_t lanes[2];
        __asm__ volatile("movdqa (%0), %%xmm0; movdqu %%xmm0, (%1)" ::"r"(p), "r"(lanes) : "xmm0", "memory");
        sum = add_carry(add_carry(sum, lanes[0]), lanes[1]);
    }
    return fold16(add_carry(fold16(sum), words(p, len, 0)));
}

// wrong: checksum: timed_out: smallest 77
// A loop that counts down by two never reaches zero for one length.
uint32_t never_ends_at_77(const void *data, size_t len, uint32_t seed)
{
    if (len == 77)
        for (volatile int forever = 1; forever;)
            ;
    return fold16(words(data, len, seed));
}

// wrong: checksum: exited: smallest 13
// Exits the process for one length.
uint32_t exits_at_13(const void *data, size_t len, uint32_t seed)
{
    if (len == 13)
        exit(0);
    return fold16(words(data, len, seed));
}

// wrong: checksum: crashed: smallest 99
// Aborts, like a failed assertion.
uint32_t aborts_at_99(const void *data, size_t len, uint32_t seed)
{
    if (len == 99)
        abort();
    return fold16(words(data, len, seed));
}

// wrong: checksum: crashed: smallest 0
// Calls itself until the stack overflows.
uint32_t recurses_for_ever(const void *data, size_t len, uint32_t seed)
{
    volatile uint8_t room[256];
    room[len % 256] = (uint8_t)seed;
    return recurses_for_ever(data, len, seed + room[len % 256]) + room[0];
}

// wrong: checksum: wrong_result
// Adds one at a single offset of a line, from 4200 to 8100 bytes, if five bytes follow the last word of eight.
uint32_t one_too_many_at_offset_33(const void *data, size_t len, uint32_t seed)
{
    int wrong = (uintptr_t)data % 64 == 33 && len >= 4200 && len <= 8100 && len % 8 == 5;
    return fold16(words(data, len, seed) + wrong);
}
