/* carryline.h: zeroing, copying and Internet checksums (RFC 1071) of memory.
 *
 * C99 or later, and C++. Link with -lcarryline (pkg-config: carryline).
 *
 * Every function works at every address and length, keeps no state that a caller can see, and may be called from
 * any thread and from signal handlers. A pointer may be NULL where the length is 0.
 *
 * Byte order. A checksum and a sum are numbers in the byte order of the machine: their bytes in memory, in the
 * order of their addresses, are the bytes on the wire. So a finished checksum goes into the packet as it is, with
 * memcpy or an assignment, never through htons:
 *
 *     uint16_t field = carryline_checksum_internet(header, 20);   // with the field itself set to 0
 *     memcpy(header + 10, &field, sizeof field);
 *
 * For the same reason a field of a packet goes into a sum as it was read from there; a number of the program's own
 * goes through htons first.
 *
 * With GCC and compatible compilers on ELF systems, the sum of a constant 20, 40 or 60 bytes (headers) is computed
 * inline. It gives the same checksums as the library. #define CARRYLINE_NO_INLINE before the #include to have
 * calls only.
 *
 * MIT OR Apache-2.0. */
#ifndef CARRYLINE_H
#define CARRYLINE_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; carryline_version() is that of the library. */
#define CARRYLINE_VERSION "0.1.0"

#if defined(__GNUC__)
/* Reads memory and changes none: equal calls may be merged, unused ones dropped. */
#define CARRYLINE_PURE __attribute__((__pure__))
/* Depends on its arguments only. */
#define CARRYLINE_CONST __attribute__((__const__))
#else
#define CARRYLINE_PURE
#define CARRYLINE_CONST
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Zeroing and copying ---- */

/* Zeroes len bytes at dst. Not for secrets: a compiler that sees the whole program may drop the call. */
void carryline_zero(void *dst, size_t len);

/* Zeroes len bytes at dst even if nobody reads them again: keys, passwords. It does not find copies of the secret in
 * registers and elsewhere, and makes none. */
void carryline_zero_secret(void *dst, size_t len);

/* Reads len bytes at dst and writes only the lines of 64 bytes that are not zero already, and the parts of lines at
 * both ends. Returns how many bytes it wrote. */
size_t carryline_zero_if_dirty(void *dst, size_t len);

/* Copies len bytes from src to dst. They must not overlap. */
void carryline_copy(void *dst, const void *src, size_t len);

/* Copies len bytes from src to dst, which may overlap. */
void carryline_move(void *dst, const void *src, size_t len);

/* Who needs the bytes next, which decides whether they belong in the cache. */
enum carryline_next {
    CARRYLINE_NEXT_UNKNOWN = 0,        /* the size decides, as it does in the functions above */
    CARRYLINE_NEXT_READ_HERE = 1,      /* this core, soon: they stay in the caches, whatever their size */
    CARRYLINE_NEXT_READ_ELSEWHERE = 2, /* another core, soon: they stay as long as the last level can hold them */
    CARRYLINE_NEXT_NOT_SOON = 3,       /* nobody soon: they go around the caches, unless they are few */
    CARRYLINE_NEXT_DEVICE = 4          /* a device: the same, and on their way before any later store */
};

/* What the program knows about a call. It is advice: whatever it says, the bytes are the same, in the same order for
 * other threads and devices. A wrong one costs time. */
typedef struct carryline_intent {
    uint32_t next;        /* an enum carryline_next; an unknown number is CARRYLINE_NEXT_UNKNOWN */
    uint32_t source_done; /* not 0: nobody needs the source of a copy again; zeroing ignores it */
    size_t job_bytes;     /* not 0: the call is part of a job of so many bytes in all */
} carryline_intent;

/* An intent that says nothing else: carryline_zero_with(dst, len, carryline_intend(CARRYLINE_NEXT_NOT_SOON)). */
static inline carryline_intent carryline_intend(enum carryline_next next) {
    carryline_intent intent;
    intent.next = (uint32_t)next;
    intent.source_done = 0;
    intent.job_bytes = 0;
    return intent;
}

/* The functions above for a caller who knows what comes next. An intent to move counts where the bytes turn out not to
 * overlap. */
void carryline_zero_with(void *dst, size_t len, carryline_intent intent);
void carryline_copy_with(void *dst, const void *src, size_t len, carryline_intent intent);
void carryline_move_with(void *dst, const void *src, size_t len, carryline_intent intent);

/* ---- Checksums ---- */

/* The one's-complement sum of len bytes and of seed, the sum of what comes before (0 at the start). Only what the
 * result folds to is defined; that is 0 only where all the bytes and the seed are 0.
 *
 * Parts of a message are summed one after the other by handing on the result as the seed, if every part but the
 * last has an even length. An odd last byte counts as if a zero byte followed. */
uint32_t carryline_checksum_partial(const void *data, size_t len, uint32_t seed) CARRYLINE_PURE;

/* A sum brought to 16 bits by end-around carry. Its complement, (uint16_t)~carryline_checksum_fold(sum), is the
 * finished checksum in wire order. A UDP checksum of 0 is sent as 0xffff (RFC 768); that is for the caller to do. */
uint16_t carryline_checksum_fold(uint32_t sum) CARRYLINE_CONST;

/* The finished checksum of len bytes, complemented, ready to be stored (see "Byte order" above). Over data whose
 * checksum field is filled in it is 0, or the data is damaged. */
uint16_t carryline_checksum_internet(const void *data, size_t len) CARRYLINE_PURE;

/* Copies len bytes from src to dst, which must not overlap, and returns their sum and that of seed, as
 * carryline_checksum_partial does. */
uint32_t carryline_copy_and_sum(void *dst, const void *src, size_t len, uint32_t seed);

/* The version of the library: a string such as "0.1.0" that is never freed. */
const char *carryline_version(void);

/* ---- From here on: how constant sizes become inline code. Nothing to call. ---- */

#if defined(__GNUC__) && defined(__ELF__) && !defined(CARRYLINE_NO_INLINE)

/* The library's functions, under names that the inline ones below do not hide. */
extern uint32_t carryline_private_partial(const void *data, size_t len, uint32_t seed)
    __asm__("carryline_checksum_partial") CARRYLINE_PURE;
extern uint16_t carryline_private_internet(const void *data, size_t len)
    __asm__("carryline_checksum_internet") CARRYLINE_PURE;

#define CARRYLINE_PRIVATE_INLINE extern __inline __attribute__((__gnu_inline__, __always_inline__, __artificial__))
#define CARRYLINE_PRIVATE_IS_HEADER(len) (__builtin_constant_p(len) && ((len) == 20 || (len) == 40 || (len) == 60))

/* The sum of five words of 32 bits, each of which may carry into the upper half. */
CARRYLINE_PRIVATE_INLINE uint64_t carryline_private_sum_20(const unsigned char *data) {
    uint32_t words[5];
    __builtin_memcpy(words, data, sizeof words);
    return (uint64_t)words[0] + words[1] + words[2] + words[3] + words[4];
}

/* The sum of 20, 40 or 60 bytes and the seed, in 32 bits: sixteen words at most stay below 2^36, so that the first
 * step leaves at most 2^32 + 14, and if that carries, a small number. */
CARRYLINE_PRIVATE_INLINE uint32_t carryline_private_sum(const void *data, size_t len, uint32_t seed) {
    const unsigned char *bytes = (const unsigned char *)data;
    uint64_t sum = seed + carryline_private_sum_20(bytes);
    if (len >= 40) {
        sum += carryline_private_sum_20(bytes + 20);
    }
    if (len >= 60) {
        sum += carryline_private_sum_20(bytes + 40);
    }
    sum = (sum & 0xffffffffU) + (sum >> 32);
    return (uint32_t)sum + (uint32_t)(sum >> 32);
}

CARRYLINE_PRIVATE_INLINE uint32_t carryline_checksum_partial(const void *data, size_t len, uint32_t seed) {
    if (CARRYLINE_PRIVATE_IS_HEADER(len)) {
        return carryline_private_sum(data, len, seed);
    }
    return carryline_private_partial(data, len, seed);
}

CARRYLINE_PRIVATE_INLINE uint16_t carryline_checksum_internet(const void *data, size_t len) {
    if (CARRYLINE_PRIVATE_IS_HEADER(len)) {
        uint32_t sum = carryline_private_sum(data, len, 0);
        sum = (sum & 0xffffU) + (sum >> 16);
        return (uint16_t)~(sum + (sum >> 16));
    }
    return carryline_private_internet(data, len);
}

#undef CARRYLINE_PRIVATE_IS_HEADER
#undef CARRYLINE_PRIVATE_INLINE

#endif

#ifdef __cplusplus
}
#endif

#endif
