/* Classes of faults at some sizes only. The line above a class's comment states what verification must report:
       // wrong at sizes: FAMILY: KIND[|KIND...][: needs FEATURE]
   AT_SIZES makes three plug-ins of it, NAME_small, NAME_middle and NAME_large, each with the fault at its own sizes and
   correct at all others. */
#include "kernels.h"

#define small(len) ((len) > 16 && (len) <= 300)
#define middle(len) ((len) > 300 && (len) < 65536)
#define large(len) ((len) >= 65536)

/* Correct, fast, and no tail call: used at the sizes that have no fault. */
static inline void right_zero(uint8_t *dst, size_t len) { memset(dst, 0, len); __asm__ volatile("" ::: "memory"); }
static inline void right_copy(uint8_t *dst, const uint8_t *src, size_t len)
{
    memcpy(dst, src, len);
    __asm__ volatile("" ::: "memory");
}
static inline uint32_t right_sum(const uint8_t *src, size_t len, uint32_t seed)
{
    uint64_t sum = seed;
    for (; len >= 8; src += 8, len -= 8)
        sum = add_carry(sum, load64(src));
    uint64_t last = 0;
    memcpy(&last, src, len);
    return fold32(add_carry(sum, last));
}

#define ZERO(name, size, ...)                        \
    void name##_##size(uint8_t *dst, size_t len)     \
    {                                                \
        if (!size(len)) {                            \
            right_zero(dst, len);                    \
            return;                                  \
        }                                            \
        __VA_ARGS__                                  \
    }
#define COPY(name, size, ...)                                           \
    void name##_##size(uint8_t *dst, const uint8_t *src, size_t len)    \
    {                                                                   \
        if (!size(len)) {                                               \
            right_copy(dst, src, len);                                  \
            return;                                                     \
        }                                                               \
        __VA_ARGS__                                                     \
    }
#define SUM(name, size, ...)                                                \
    uint32_t name##_##size(const uint8_t *src, size_t len, uint32_t seed)   \
    {                                                                       \
        if (!size(len))                                                     \
            return right_sum(src, len, seed);                               \
        __VA_ARGS__                                                         \
    }
#define COPY_SUM(name, size, ...)                                                          \
    uint32_t name##_##size(uint8_t *dst, const uint8_t *src, size_t len, uint32_t seed)    \
    {                                                                                      \
        if (!size(len)) {                                                                  \
            right_copy(dst, src, len);                                                     \
            return right_sum(src, len, seed);                                              \
        }                                                                                  \
        __VA_ARGS__                                                                        \
    }
#define AT_SIZES(family, name, ...)    \
    family(name, small, __VA_ARGS__)   \
    family(name, middle, __VA_ARGS__)  \
    family(name, large, __VA_ARGS__)

/* Keeps a word 512 bytes below the stack pointer for two instructions, where a signal frame may overwrite it. */
static inline uint64_t by_way_of_the_stack_below(uint64_t word)
{
    __asm__ volatile("movq %0, -512(%%rsp)\n nop\n movq -512(%%rsp), %0" : "+r"(word)::"memory");
    return word;
}

/* The distance of the first above the second, modulo 4096. */
static inline size_t above(const void *one, const void *other)
{
    return ((uintptr_t)one - (uintptr_t)other) % 4096;
}
