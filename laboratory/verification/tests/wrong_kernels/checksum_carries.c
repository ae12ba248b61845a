/* Checksums that lose or invent a carry, or stop counting. */
#include "kernels.h"

// wrong: checksum: wrong_result: smallest 9
// Two accumulators, each with its carry brought around; the carry out of their sum is dropped.
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
// The halves of the 64-bit sum are added in 32 bits: the carry of that addition is lost.
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
// The seed is sign-extended on its way into the 64-bit sum: 2^32 too little, which is 1 after folding.
uint32_t seed_sign_extended(const void *data, size_t len, uint32_t seed)
{
    return fold16(words(data, len, 0) + (uint64_t)(int64_t)(int32_t)seed);
}

// wrong: checksum: wrong_result
// 16-bit words into one 32-bit accumulator: full after 65537 words of ffff.
uint32_t overflow_past_131072_bytes(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint32_t sum = fold16(seed);
    for (; len >= 2; p += 2, len -= 2)
        sum += load16(p);
    return fold16(len ? sum + *p : sum);
}

// wrong: checksum: wrong_result
// Four 32-bit lanes; three are emptied into a wide sum every 64 KiB, the fourth is forgotten.
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
// Eight 32-bit lanes that are never emptied: right up to 512 KiB.
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
// Only the lower half of the seed counts.
uint32_t seed_upper_half_ignored(const void *data, size_t len, uint32_t seed)
{
    return fold16(words(data, len, (uint16_t)seed));
}

// wrong: checksum: wrong_result
// At an odd address the words are summed from the even one and the result's bytes swapped, the seed's with them.
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
// An odd last byte is taken for the upper half of its word, as on a big-endian machine.
uint32_t odd_byte_in_the_wrong_half(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = words(p, len & ~(size_t)1, seed);
    return fold16(len & 1 ? sum + ((uint64_t)p[len - 1] << 8) : sum);
}

// wrong: checksum: wrong_result: smallest 0
// All seeds and data whose sum is a multiple of 65535 give 0, though not everything is 0.
uint32_t returns_0_for_ffff(const void *data, size_t len, uint32_t seed)
{
    uint32_t sum = fold16(words(data, len, seed));
    return sum == 0xffff ? 0 : sum;
}

// wrong: checksum: wrong_result: smallest 0
// Sums modulo 65535 and takes 0 for 65535, even where everything is 0.
uint32_t returns_ffff_for_0(const void *data, size_t len, uint32_t seed)
{
    uint64_t rest = words(data, len, seed) % 65535;
    return rest ? (uint32_t)rest : 0xffff;
}

// wrong: checksum: wrong_result
// One fold into 16 bits: its own carry is cut off.
uint32_t folded_once_into_16_bits(const void *data, size_t len, uint32_t seed)
{
    uint32_t sum = fold32(words(data, len, seed));
    return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

// wrong: checksum: wrong_result
// Blocks of 16 KiB are folded and then added in 16 bits without the carry.
uint32_t carry_lost_between_blocks(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint16_t sum = 0;
    for (; len >= 16384; p += 16384, len -= 16384)
        sum += (uint16_t)fold16(words(p, 16384, 0));
    return fold16(words(p, len, (uint64_t)seed + sum));
}

// wrong: checksum: wrong_result
// An adc chain in blocks of 32 bytes: the carry that the loop's own counter destroys is not put back.
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
// Two halves summed as two streams; where the half is odd, the second begins with the upper byte of a word.
uint32_t two_streams_split_at_an_odd_byte(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    size_t half = len / 2;
    return fold16(words(p, half, 0) + words(p + half, len - half, seed));
}

// wrong: checksum: wrong_result
// Words are added as signed numbers in 32 bits: right as long as none is above 7fff.
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
// Words of 128 bits; the carry out of them is dropped, which random data hardly ever shows.
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
// The data is summed with exclusive or where two equal words follow each other.
uint32_t equal_words_cancel(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 16; p += 16, len -= 16)
        if (load64(p) != load64(p + 8))
            sum = add_carry(add_carry(sum, load64(p)), load64(p + 8));
    return fold16(add_carry(fold16(sum), words(p, len, 0)));
}
