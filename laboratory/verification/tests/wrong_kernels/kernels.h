/* Shared by the kernels of this folder. Each function is a plug-in; the line above its comment states what verification
   must report:
       // wrong: FAMILY: KIND[|KIND...][: smallest LEN][: needs FEATURE][: runs deep]
       // right: FAMILY[: needs FEATURE]
   ("runs deep" leaves it to the deep test), and the comment after it describes the fault, or why there is none. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <immintrin.h>

static inline uint64_t load64(const void *p) { uint64_t w; memcpy(&w, p, 8); return w; }
static inline uint32_t load32(const void *p) { uint32_t w; memcpy(&w, p, 4); return w; }
static inline uint16_t load16(const void *p) { uint16_t w; memcpy(&w, p, 2); return w; }
static inline void store64(void *p, uint64_t w) { memcpy(p, &w, 8); }

/* a + b with end-around carry. */
static inline uint64_t add_carry(uint64_t a, uint64_t b) { a += b; return a + (a < b); }

static inline uint32_t fold32(uint64_t sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    return (uint32_t)((sum & 0xffffffff) + (sum >> 32));
}

static inline uint32_t fold16(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)sum;
}

/* Correct: adds 16-bit words in 64 bits. */
static inline uint64_t words(const uint8_t *p, size_t len, uint64_t sum)
{
    for (; len >= 2; p += 2, len -= 2)
        sum += load16(p);
    return len ? sum + *p : sum;
}

/* Correct, without calling memcpy or memset. */
static inline void bytes_copy(uint8_t *dst, const uint8_t *src, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((volatile uint8_t *)dst)[i] = src[i];
}

static inline void bytes_zero(uint8_t *dst, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((volatile uint8_t *)dst)[i] = 0;
}
