/* Routines that are wrong at the end of a page whose neighbours are accessible, or between two instructions at lengths that no
   list names. */
#include "kernels.h"

static void strings_zero(uint8_t *dst, size_t len)
{
    __asm__ volatile("rep stosb" : "+D"(dst), "+c"(len) : "a"(0) : "memory");
}

static void strings_copy(uint8_t *dst, const uint8_t *src, size_t len)
{
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(len)::"memory");
}

/* The bytes from here to the end of the page. */
static size_t room(const void *at) { return 4096 - (uintptr_t)at % 4096; }

/* Of a buffer that crosses into another page, only the first page's bytes, at these lengths. */
static size_t cut(const void *at, size_t len, size_t low, size_t high)
{
    return len >= low && len <= high && room(at) < len ? room(at) : len;
}

// wrong: checksum: wrong_result: smallest 20
// Twenty bytes across two pages: only those in the first are summed.
uint32_t sum_20_in_the_first_page(const uint8_t *src, size_t len, uint32_t seed)
{
    return fold16(words(src, cut(src, len, 20, 20), seed));
}

// wrong: copy: left_bytes_unwritten|wrong_bytes
// The same for copies of 18 to 30 bytes whose source crosses.
void copy_18_to_30_in_the_first_page(uint8_t *dst, const uint8_t *src, size_t len)
{
    strings_copy(dst, src, cut(src, len, 18, 30));
}

// wrong: zero: left_bytes_unwritten: runs deep
// The same for zeroing.
void zero_18_to_30_in_the_first_page(uint8_t *dst, size_t len)
{
    strings_zero(dst, cut(dst, len, 18, 30));
}

// wrong: copy: left_bytes_unwritten|wrong_bytes: runs deep
// Leaves out a byte if both buffers cross, and the destination is less than a line above the source modulo 4096.
void copy_near_its_source_across_pages(uint8_t *dst, const uint8_t *src, size_t len)
{
    size_t above = ((uintptr_t)dst - (uintptr_t)src) % 4096;
    int wrong = len >= 130 && len <= 300 && above && above < 64 && room(src) < len && room(dst) < len;
    strings_copy(dst, src, len - wrong);
}

// wrong: zero: neighbour_race
// In the last line of a page, loads the 64 bytes that end with the buffer, and stores them with the buffer's cleared.
void zero_blends_in_the_last_line(uint8_t *dst, size_t len)
{
    uint8_t held[64];
    if (!len || len >= 64 || room(dst) > 63 || room(dst) < len) {
        strings_zero(dst, len);
        return;
    }
    strings_copy(held, dst + len - 64, 64);
    strings_zero(held + 64 - len, len);
    strings_copy(dst + len - 64, held, 64);
}

// wrong: copy_checksum: neighbour_race: runs deep
// In the last sixteen bytes of a page, the same with sixteen bytes.
uint32_t copies_and_blends_in_the_last_line(uint8_t *dst, const uint8_t *src, size_t len, uint32_t seed)
{
    if (len && len < 16 && room(dst) < 16 && room(dst) >= len) {
        __m128i held = _mm_loadu_si128((const __m128i *)(dst + len - 16));
        uint8_t bytes[16];
        _mm_storeu_si128((__m128i *)bytes, held);
        strings_copy(bytes + 16 - len, src, len);
        _mm_storeu_si128((__m128i *)(dst + len - 16), _mm_loadu_si128((const __m128i *)bytes));
    } else {
        strings_copy(dst, src, len);
    }
    return fold16(words(src, len, seed));
}

/* Overwrites the byte after the buffer and restores it, unless that byte is in another page. */
static void zero_with_its_neighbour(uint8_t *dst, size_t len)
{
    volatile uint8_t *end = dst + len;
    if ((uintptr_t)end % 4096 == 0) {
        strings_zero(dst, len);
        return;
    }
    uint8_t kept = *end;
    *end = 0;
    strings_zero(dst, len);
    *end = kept;
}

// wrong: zero: neighbour_race
// At 130 to 199 bytes.
void zero_130_to_199_with_its_neighbour(uint8_t *dst, size_t len)
{
    if (len >= 130 && len <= 199)
        zero_with_its_neighbour(dst, len);
    else
        strings_zero(dst, len);
}

// wrong: zero: neighbour_race: runs deep
// At 800 to 1400 bytes.
void zero_800_to_1400_with_its_neighbour(uint8_t *dst, size_t len)
{
    if (len >= 800 && len <= 1400)
        zero_with_its_neighbour(dst, len);
    else
        strings_zero(dst, len);
}

/* Copies through a buffer shared by all calls. */
static void copy_by_way_of_static_memory(uint8_t *dst, const uint8_t *src, size_t len)
{
    static uint8_t held[64];
    for (size_t part; len; dst += part, src += part, len -= part) {
        part = len < sizeof held ? len : sizeof held;
        strings_copy(held, src, part);
        strings_copy(dst, held, part);
    }
}

// wrong: copy: threads: runs deep
// At 130 to 199 bytes.
void copy_130_to_199_by_way_of_static_memory(uint8_t *dst, const uint8_t *src, size_t len)
{
    if (len >= 130 && len <= 199)
        copy_by_way_of_static_memory(dst, src, len);
    else
        strings_copy(dst, src, len);
}

// wrong: copy: threads
// At 900 to 1005 bytes.
void copy_900_to_1005_by_way_of_static_memory(uint8_t *dst, const uint8_t *src, size_t len)
{
    if (len >= 900 && len <= 1005)
        copy_by_way_of_static_memory(dst, src, len);
    else
        strings_copy(dst, src, len);
}

// wrong: copy: signals: runs deep
// At 130 to 199 bytes, keeps the first word below the red zone during the copy.
void copy_130_to_199_with_a_word_below(uint8_t *dst, const uint8_t *src, size_t len);
__asm__(".text\n.globl copy_130_to_199_with_a_word_below\n.type copy_130_to_199_with_a_word_below,@function\n"
        "copy_130_to_199_with_a_word_below:\n mov %rdx, %rcx\n cmp $130, %rdx\n jb 1f\n cmp $199, %rdx\n ja 1f\n"
        "movq (%rsi), %rax\n movq %rax, -512(%rsp)\n rep movsb\n sub %rdx, %rdi\n movq -512(%rsp), %rax\n movq %rax, (%rdi)\n ret\n"
        "1: rep movsb\n ret\n.size copy_130_to_199_with_a_word_below, .-copy_130_to_199_with_a_word_below");

/* From `least` bytes, non-temporal stores of whole vectors, without a fence. */
static void zero_around_the_caches_from(size_t least, uint8_t *dst, size_t len)
{
    if (len < least) {
        strings_zero(dst, len);
        return;
    }
    size_t head = -(uintptr_t)dst % 16;
    strings_zero(dst, head);
    dst += head, len -= head;
    for (; len >= 16; dst += 16, len -= 16)
        _mm_stream_si128((__m128i *)dst, _mm_setzero_si128());
    strings_zero(dst, len);
}

// wrong: zero: unfenced_stores
// From 64 KiB, non-temporal stores without sfence.
void zero_from_64_kib_without_a_fence(uint8_t *dst, size_t len)
{
    zero_around_the_caches_from(65536, dst, len);
}

// wrong: zero: unfenced_stores: runs deep
// The same from 40 bytes.
void zero_from_40_bytes_without_a_fence(uint8_t *dst, size_t len)
{
    zero_around_the_caches_from(40, dst, len);
}

// right: zero
// A locked instruction orders the stores too.
void zero_without_the_caches_and_a_locked_instruction(uint8_t *dst, size_t len)
{
    zero_around_the_caches_from(40, dst, len);
    __asm__ volatile("lock orq $0, (%%rsp)" ::: "memory", "cc");
}
