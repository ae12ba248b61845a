/* Routines with the signatures of memcpy, memmove and memset, which must do what the C standard requires. */
#include "kernels.h"

static void *right_move(void *dst, const void *src, size_t len)
{
    void *result = memmove(dst, src, len);
    __asm__ volatile("" ::: "memory");
    return result;
}

static void *right_set(void *dst, int c, size_t len)
{
    void *result = memset(dst, c, len);
    __asm__ volatile("" ::: "memory");
    return result;
}

/* Copies from the beginning, which is wrong if the destination begins within the source. */
static void *upwards(void *dst, const void *src, size_t len)
{
    uint8_t *to = dst;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(src), "+c"(len)::"memory");
    return dst;
}

/* The distance of the destination above the source, huge if it is below. */
static size_t up(const void *dst, const void *src)
{
    return (uintptr_t)dst - (uintptr_t)src;
}

// right: memmove
// memmove itself.
void *moves_as_the_standard_says(void *dst, const void *src, size_t len)
{
    return right_move(dst, src, len);
}

// right: memset
// memset itself: the byte is the int converted to unsigned char.
void *sets_as_the_standard_says(void *dst, int c, size_t len)
{
    return right_set(dst, c, len);
}

// wrong: memset: left_bytes_unwritten|wrong_bytes: smallest 41
// Writes zeros, whatever the byte, at 41 to 62 bytes.
void *zeroes_41_to_62(void *dst, int c, size_t len)
{
    return right_set(dst, len >= 41 && len <= 62 ? 0 : c, len);
}

// wrong: memset: left_bytes_unwritten|wrong_bytes
// The same at 1100 to 1900 bytes.
void *zeroes_1100_to_1900(void *dst, int c, size_t len)
{
    return right_set(dst, len >= 1100 && len <= 1900 ? 0 : c, len);
}

// wrong: memset: left_bytes_unwritten|wrong_bytes: runs deep
// The same from 16 KiB.
void *zeroes_from_16_kib(void *dst, int c, size_t len)
{
    return right_set(dst, len >= 16384 ? 0 : c, len);
}

// wrong: memset: left_bytes_unwritten|wrong_bytes: runs deep
// The same from a gibibyte.
void *zeroes_from_a_gibibyte(void *dst, int c, size_t len)
{
    return right_set(dst, len >= 1 << 30 ? 0 : c, len);
}

// wrong: memset: left_bytes_unwritten|wrong_bytes
// Where the buffer crosses into another page, the bytes behind its start are zero.
void *zeroes_the_second_page(void *dst, int c, size_t len)
{
    size_t room = 4096 - (uintptr_t)dst % 4096;
    right_set(dst, c, len);
    if (len > room && len < 48)
        right_set((uint8_t *)dst + room, 0, len - room);
    return dst;
}

// wrong: memset: return_value
// From 8 KiB to 1 GiB, returns the end.
void *set_returns_its_end(void *dst, int c, size_t len)
{
    right_set(dst, c, len);
    return len > 8192 && len < 1 << 30 ? (uint8_t *)dst + len : dst;
}

// wrong: memcpy: return_value: runs deep
// The same for copies.
void *copy_returns_its_end(void *dst, const void *src, size_t len)
{
    right_move(dst, src, len);
    return len > 8192 && len < 1 << 30 ? (uint8_t *)dst + len : dst;
}

// wrong: memcpy: wrong_bytes|left_bytes_unwritten: runs deep
// Clears the destination first, which may be the source.
void *clears_before_it_copies(void *dst, const void *src, size_t len)
{
    if (dst == src)
        memset(dst, 0, len);
    return right_move(dst, src, len);
}

// wrong: memmove: wrong_bytes: runs deep
// Copies upwards at 520 to 990 bytes, wherever the destination is.
void *upwards_at_520_to_990(void *dst, const void *src, size_t len)
{
    return len >= 520 && len <= 990 ? upwards(dst, src, len) : right_move(dst, src, len);
}

// wrong: memmove: wrong_bytes
// The same at 2100 to 3900 bytes.
void *upwards_at_2100_to_3900(void *dst, const void *src, size_t len)
{
    return len >= 2100 && len <= 3900 ? upwards(dst, src, len) : right_move(dst, src, len);
}

// wrong: memmove: wrong_bytes: runs deep
// The same at 4100 to 8000 bytes.
void *upwards_at_4100_to_8000(void *dst, const void *src, size_t len)
{
    return len >= 4100 && len <= 8000 ? upwards(dst, src, len) : right_move(dst, src, len);
}

// wrong: memmove: wrong_bytes: runs deep
// The same at 20 to 60 KiB.
void *upwards_at_20_to_60_kib(void *dst, const void *src, size_t len)
{
    return len >= 20 << 10 && len <= 60 << 10 ? upwards(dst, src, len) : right_move(dst, src, len);
}

// wrong: memmove: wrong_bytes: smallest 67: runs deep
// Copies upwards by 24, 40 and 48 bytes, above the lengths that vectors hold.
void *upwards_by_odd_multiples_of_8(void *dst, const void *src, size_t len)
{
    size_t by = up(dst, src);
    return len > 66 && (by == 24 || by == 40 || by == 48) ? upwards(dst, src, len) : right_move(dst, src, len);
}

// wrong: memmove: wrong_bytes: runs deep
// Copies upwards by 90 to 120 bytes, above 300 bytes.
void *upwards_by_90_to_120(void *dst, const void *src, size_t len)
{
    size_t by = up(dst, src);
    return len > 300 && by >= 90 && by <= 120 ? upwards(dst, src, len) : right_move(dst, src, len);
}
