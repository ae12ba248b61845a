/* Checksums that lose or add a carry, or overflow. */
#include "kernels.h"

// wrong: checksum: wrong_result: smallest 9
// Two accumulators with end-around carry; the carry out of their sum is dropped.
uint32_t carry_lost_between_accumulators(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t a = seed, b = 0;
    for (; len >= 16; p += 16, len -= 16) {
        a = add_carry(a, load64(p));
        b = add_carry(b, load64(p + 8));
    }
    if (len >= 8) {
        a = add_carry(a, load64(p));
        p += 8, len -= 8;
    }
    uint64_t last = 0;
    memcpy(&last, p, len);
    b = add_carry(b, last);
    return fold32(a + b);
}

// wrong: checksum: wrong_result
// The halves of the 64-bit sum are added in 32 bits, and the carry of that addition is lost.
uint32_t carry_lost_from_64_to_32(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 8; p += 8, len -= 8)
        sum = add_carry(sum, load64(p));
    uint64_t last = 0;
    memcpy(&last, p, len);
    sum = add_carry(sum, last);
    return (uint32_t)sum + (uint32_t)(sum >> 32);
}

// wrong: checksum: wrong_result
// The seed is sign-extended when it is added to the 64-bit sum: 2^32 too little, which is 1 after folding.
uint32_t seed_sign_extended(const void *data, size_t len, uint32_t seed)
{
    return fold16(words(data, len, 0) + (uint64_t)(int64_t)(int32_t)seed);
}

// wrong: checksum: wrong_result
// Adds 16-bit words to one 32-bit accumulator, which overflows after 65537 words of ffff.
uint32_t overflow_past_131072_bytes(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint32_t sum = fold16(seed);
    for (; len >= 2; p += 2, len -= 2)
        sum += load16(p);
    return fold16(len ? sum + *p : sum);
}

// wrong: checksum: wrong_result
// Four 32-bit lanes; every 64 KiB, three of them are added to a wide sum and cleared, but not the fourth.
uint32_t one_lane_overflows(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t wide = seed;
    uint32_t lane[4] = {0, 0, 0, 0};
    for (size_t n = 0; len >= 8; p += 8, len -= 8) {
        for (int i = 0; i < 4; i++)
            lane[i] += load16(p + 2 * i);
        if (++n % 8192 == 0)
            for (int i = 0; i < 3; i++)
                wide += lane[i], lane[i] = 0;
    }
    for (int i = 0; i < 4; i++)
        wide += lane[i];
    return fold16(words(p, len, wide));
}

// wrong: checksum: wrong_result
// Eight 32-bit lanes that are never added to a wider sum: correct up to 512 KiB.
uint32_t lanes_overflow_past_1_mib(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint32_t lane[16] = {0};
    for (; len >= 32; p += 32, len -= 32)
        for (int i = 0; i < 16; i++)
            lane[i] += load16(p + 2 * i);
    uint64_t wide = seed;
    for (int i = 0; i < 16; i++)
        wide += lane[i];
    return fold16(words(p, len, wide));
}

// wrong: checksum: wrong_result: smallest 0
// Only the lower half of the seed is used.
uint32_t seed_upper_half_ignored(const void *data, size_t len, uint32_t seed)
{
    return fold16(words(data, len, (uint16_t)seed));
}

// wrong: checksum: wrong_result
// At an odd address, sums words from the even address before it and swaps the bytes of the result, including the seed's.
uint32_t seed_swapped_at_odd_address(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    if (((uintptr_t)p & 1) == 0 || len == 0)
        return fold16(words(p, len, seed));
    uint64_t sum = seed + ((uint64_t)*p << 8);
    sum = fold16(words(p + 1, len - 1, sum));
    return (uint16_t)(sum << 8 | sum >> 8);
}

// wrong: checksum: wrong_result: smallest 1
// An odd last byte is treated as the upper half of its word, as on a big-endian machine.
uint32_t odd_byte_in_the_wrong_half(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = words(p, len & ~(size_t)1, seed);
    return fold16(len & 1 ? sum + ((uint64_t)p[len - 1] << 8) : sum);
}

// wrong: checksum: wrong_result: smallest 0
// Returns 0 for every sum that is a multiple of 65535, even if some bits of seed or data are not 0.
uint32_t returns_0_for_ffff(const void *data, size_t len, uint32_t seed)
{
    uint32_t sum = fold16(words(data, len, seed));
    return sum == 0xffff ? 0 : sum;
}

// wrong: checksum: wrong_result: smallest 0
// Sums modulo 65535 and returns 65535 instead of 0, even if seed and data are all zero.
uint32_t returns_ffff_for_0(const void *data, size_t len, uint32_t seed)
{
    uint64_t rest = words(data, len, seed) % 65535;
    return rest ? (uint32_t)rest : 0xffff;
}

// wrong: checksum: wrong_result
// Folds into 16 bits only once; the carry of that fold is lost.
uint32_t folded_once_into_16_bits(const void *data, size_t len, uint32_t seed)
{
    uint32_t sum = fold32(words(data, len, seed));
    return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

// wrong: checksum: wrong_result
// The folded sums of blocks of 16 KiB are added in 16 bits without the carry.
uint32_t carry_lost_between_blocks(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint16_t sum = 0;
    for (; len >= 16384; p += 16384, len -= 16384)
        sum += (uint16_t)fold16(words(p, 16384, 0));
    return fold16(words(p, len, (uint64_t)seed + sum));
}

// wrong: checksum: wrong_result
// An adc chain in blocks of 32 bytes; the carry is not preserved across the update of the loop counter.
uint32_t loop_counter_eats_the_carry(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 32; p += 32, len -= 32)
        __asm__("addq (%1), %0; adcq 8(%1), %0; adcq 16(%1), %0; adcq 24(%1), %0" : "+r"(sum) : "r"(p) : "cc", "memory");
    for (; len >= 2; p += 2, len -= 2)
        sum = add_carry(sum, load16(p));
    return fold16(len ? add_carry(sum, *p) : sum);
}

// wrong: checksum: wrong_result
// Sums the two halves as two streams; if the half is odd, the second stream begins with the upper byte of a word.
uint32_t two_streams_split_at_an_odd_byte(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    size_t half = len / 2;
    return fold16(words(p, half, 0) + words(p + half, len - half, seed));
}

// wrong: checksum: wrong_result
// Words are added as signed numbers in 32 bits: correct only if no word is above 7fff.
uint32_t words_taken_as_signed(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    int64_t sum = seed;
    for (; len >= 2; p += 2, len -= 2)
        sum += (int16_t)load16(p);
    if (len)
        sum += *p;
    return fold16((uint64_t)sum);
}

// wrong: checksum: wrong_result: smallest 32
// Adds in 128 bits and drops the carry, which random data rarely reveals.
uint32_t carry_of_128_bits_dropped(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    unsigned __int128 sum = 0;
    for (; len >= 16; p += 16, len -= 16) {
        unsigned __int128 word;
        memcpy(&word, p, 16);
        sum += word;
    }
    uint64_t low = add_carry((uint64_t)sum, (uint64_t)(sum >> 64));
    return fold16(add_carry(low, words(p, len, seed)));
}

// wrong: checksum: wrong_result
// Pairs of equal words are left out, as if combined by exclusive or.
uint32_t equal_words_cancel(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 16; p += 16, len -= 16)
        if (load64(p) != load64(p + 8))
            sum = add_carry(add_carry(sum, load64(p)), load64(p + 8));
    return fold16(add_carry(fold16(sum), words(p, len, 0)));
}
