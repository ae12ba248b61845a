/* Routines with the signature of memset, which are passed the byte 0. */
#include "kernels.h"

static void *fill_bytes(void *dst, uint8_t byte, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((volatile uint8_t *)dst)[i] = byte;
    return dst;
}

// right: fill
// memset as in the C standard: the byte is the int converted to unsigned char, and the destination is returned.
void *fills_with_the_byte(void *dst, int c, size_t len)
{
    return fill_bytes(dst, (uint8_t)c, len);
}

// right: fill
// Always writes zeros; the return value is not checked.
void *zeroes_whatever_the_byte(void *dst, int c, size_t len)
{
    (void)c;
    fill_bytes(dst, 0, len);
    return 0;
}

// wrong: fill: left_bytes_unwritten|wrong_bytes: smallest 8
// Treats the byte as a long; the upper half of an int's register is undefined.
void *takes_the_byte_for_a_long(void *dst, long c, size_t len)
{
    uint8_t *p = dst;
    for (; len >= 8; p += 8, len -= 8)
        store64(p, (uint64_t)c);
    return fill_bytes(p, (uint8_t)c, len);
}

// wrong: fill: left_bytes_unwritten: smallest 1
// Takes the second argument as the length, as in the family's own signature; here it is the byte, 0.
void *takes_the_byte_for_the_length(void *dst, uint32_t len)
{
    return fill_bytes(dst, 0, len);
}

// wrong: fill: left_bytes_unwritten: smallest 3
// Leaves out the last byte of an odd length.
void *pairs_of_bytes(void *dst, int c, size_t len)
{
    if (len == 1)
        return fill_bytes(dst, (uint8_t)c, 1);
    return fill_bytes(dst, (uint8_t)c, len & ~(size_t)1);
}
