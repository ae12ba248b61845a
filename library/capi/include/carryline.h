/* carryline.h: zeroing, copying and Internet checksums (RFC 1071) of memory.
 *
 * C99 or later, and C++. Link with -lcarryline (pkg-config: carryline).
 *
 * Every function works at every address and length, has no visible state, and may be called from any thread and from
 * signal handlers; only carryline_tuning_load must not be called from signal handlers, nor in the child of a fork of a
 * program with several threads. A pointer may be NULL if its length is 0.
 *
 * Byte order. A checksum holds the bytes of the field: a carryline_csum in wire order, a uint16_t as this machine loads
 * them. Store either into the packet with memcpy, never through htons:
 *
 *     carryline_csum field = carryline_sum_finish(sum);
 *     memcpy(&udp->check, &field, sizeof field);
 *
 * For the same reason, pass a field of a packet as it was loaded; convert the program's own numbers with htons first.
 * Lengths and protocol numbers are plain numbers.
 *
 * ABI. Structs are passed and returned by value. Their layout, the values of enumerators and the functions do not
 * change under one soname.
 *
 * Inline code. With GCC and compatible compilers, and with optimisation, sums of a constant number of bytes up to 64
 * (headers of 8, 20, 40 bytes ...) are computed inline with loads of at most 8 bytes, which suits headers that were
 * just written: wide loads would wait for the narrow stores. This applies to carryline_checksum_partial,
 * carryline_checksum_internet, carryline_sum_add and carryline_sum_add_fresh; starting and finishing a sum is inline at
 * any size. The inline code gives the same results as the library, except that the 32 bits of a sum may differ if they
 * fold to the same 16. carryline_zero, carryline_copy, carryline_move and carryline_copy_and_sum are called through the
 * pointers of carryline_routines_in_force(). These names are also macros; used as pointers, they are the library's
 * functions. #define CARRYLINE_NO_INLINE before the #include to disable inline code.
 *
 * MIT OR Apache-2.0. */
#ifndef CARRYLINE_H
#define CARRYLINE_H

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

/* The version of this header; carryline_version() returns that of the library. */
#define CARRYLINE_VERSION "0.1.0"

#if defined(__GNUC__)
/* Reads memory but does not change it: equal calls may be merged, unused ones dropped. */
#define CARRYLINE_PURE __attribute__((__pure__))
/* Depends only on its arguments. */
#define CARRYLINE_CONST __attribute__((__const__))
/* Warn if the result is ignored. */
#define CARRYLINE_USE __attribute__((__warn_unused_result__))
#else
#define CARRYLINE_PURE
#define CARRYLINE_CONST
#define CARRYLINE_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Zeroing and copying ---- */

/* Zeroes len bytes at dst. Not for secrets: a compiler that sees the whole program may drop the call. */
void carryline_zero(void *dst, size_t len);

/* Zeroes len bytes at dst even if they are not read again, for keys and passwords. It makes no copies of the secret,
 * but does not erase existing ones in registers or elsewhere. */
void carryline_zero_secret(void *dst, size_t len);

/* Reads len bytes at dst and writes only the lines of 64 bytes, and parts of lines at both ends, that are not already
 * zero. Returns the number of bytes written. */
size_t carryline_zero_if_dirty(void *dst, size_t len);

/* Copies len bytes from src to dst. They must not overlap. */
void carryline_copy(void *dst, const void *src, size_t len);

/* Copies len bytes from src to dst, which may overlap. */
void carryline_move(void *dst, const void *src, size_t len);

/* Who needs the bytes next; this decides whether they should stay in the caches. */
enum carryline_next {
    CARRYLINE_NEXT_UNKNOWN = 0,        /* decided by the size, as in the functions above */
    CARRYLINE_NEXT_READ_HERE = 1,      /* this core, soon: they stay in the caches at any size */
    CARRYLINE_NEXT_READ_ELSEWHERE = 2, /* another core, soon: they stay if they fit into the last level */
    CARRYLINE_NEXT_NOT_SOON = 3,       /* not read soon: non-temporal stores, except for short lengths */
    CARRYLINE_NEXT_DEVICE = 4          /* a device: the same, and ordered before later stores */
};

/* What the program knows about a call. This is only advice: it never changes the bytes, or their order for other
 * threads and devices. Wrong advice costs time. */
typedef struct carryline_intent {
    uint32_t next;        /* an enum carryline_next; an unknown number is CARRYLINE_NEXT_UNKNOWN */
    uint32_t source_done; /* not 0: the source of a copy is not needed again; zeroing ignores it */
    size_t job_bytes;     /* not 0: the size of the job that the call is part of */
} carryline_intent;

/* An intent with only the given next: carryline_zero_with(dst, len, carryline_intend(CARRYLINE_NEXT_NOT_SOON)). */
static inline carryline_intent carryline_intend(enum carryline_next next) {
    carryline_intent intent;
    intent.next = (uint32_t)next;
    intent.source_done = 0;
    intent.job_bytes = 0;
    return intent;
}

/* The functions above for callers that know what happens next. carryline_move_with ignores the intent if the bytes
 * overlap. */
void carryline_zero_with(void *dst, size_t len, carryline_intent intent);
void carryline_copy_with(void *dst, const void *src, size_t len, carryline_intent intent);
void carryline_move_with(void *dst, const void *src, size_t len, carryline_intent intent);

/* The routines that the functions of the same names jump to on this CPU. A call through a pointer spares that jump, which
 * can take as long as zeroing or copying a few bytes does. */
typedef struct carryline_routines {
    void (*zero)(void *dst, size_t len);
    void (*copy)(void *dst, const void *src, size_t len);
    void (*move)(void *dst, const void *src, size_t len);
    uint32_t (*checksum_partial)(const void *data, size_t len, uint32_t seed);
    uint32_t (*copy_and_sum)(void *dst, const void *src, size_t len, uint32_t seed);
} carryline_routines;

/* Returns a pointer, never NULL, that is valid as long as the library is loaded. carryline_tuning_load may replace the
 * members, each by one atomic store: a program that calls it while other threads run reads them atomically. A pointer
 * that was read before remains valid. GCC and compatible compilers call this way by themselves, see "Inline code". */
const carryline_routines *carryline_routines_in_force(void) CARRYLINE_CONST CARRYLINE_USE;

/* Reads a profile for a CPU model from the file path and puts it in force for the process: from which lengths string
 * instructions are used, when stores are non-temporal, which kernels are preferred. Returns true, or false if the file
 * cannot be read or is rejected. Then the previous profile stays in force, and the reason is written to message,
 * truncated to message_size bytes including the NUL; it names the line and the valid values. After success, message is
 * empty. message may be NULL if message_size is 0. Other threads may call any function meanwhile: results never depend
 * on the profile. Not for signal handlers, nor for the child of a fork of a program with several threads, which would
 * wait for ever if another thread loaded a profile at the fork. The format is described in carryline's README. */
bool carryline_tuning_load(const char *path, char *message, size_t message_size);

/* ---- Checksums ---- */

/* The one's-complement sum of len bytes and of seed, the sum of what comes before (0 at the start). Only the folded
 * value of the result is defined; it is 0 only if all bytes and the seed are 0.
 *
 * To sum a message in parts, pass each result as the next seed; every part but the last must have an even length. An
 * odd last byte counts as if a zero byte followed. */
uint32_t carryline_checksum_partial(const void *data, size_t len, uint32_t seed) CARRYLINE_PURE CARRYLINE_USE;

/* Reduces a sum to 16 bits by end-around carry. Its complement, (uint16_t)~carryline_checksum_fold(sum), is the
 * finished checksum in wire order. The caller must send a UDP checksum of 0 as 0xffff (RFC 768). */
uint16_t carryline_checksum_fold(uint32_t sum) CARRYLINE_CONST CARRYLINE_USE;

/* The finished checksum of len bytes, complemented and ready to be stored (see "Byte order" above). Over data that
 * includes its checksum, it is 0 unless the data is damaged. */
uint16_t carryline_checksum_internet(const void *data, size_t len) CARRYLINE_PURE CARRYLINE_USE;

/* Copies len bytes from src to dst, which must not overlap, and returns the sum of the bytes and seed, like
 * carryline_checksum_partial. */
uint32_t carryline_copy_and_sum(void *dst, const void *src, size_t len, uint32_t seed);

/* The version of the library: a string such as "0.1.0" that is never freed. */
const char *carryline_version(void);

/* ---- Sums in pieces ---- */

/* The sum of the bytes so far, and whether their number is odd, so pieces may have any length. {0, 0} is the sum of no
 * bytes. The fields are for the functions below: compare finished checksums, not fields. */
typedef struct carryline_sum {
    uint32_t acc; /* the sum, rotated for the next byte */
    uint32_t odd; /* 1 after an odd number of bytes, else 0 */
} carryline_sum;

/* A finished checksum: the two bytes of the field in wire order. */
typedef struct carryline_csum {
    uint8_t b[2];
} carryline_csum;

/* POSIX: a piece of a packet. #include <sys/uio.h> to make one. */
struct iovec;

/* The sum of no bytes. */
carryline_sum carryline_sum_new(void) CARRYLINE_CONST CARRYLINE_USE;

/* Convert from and to the form of carryline_checksum_partial, which is that of Linux's csum_partial. It does not record
 * whether the number of bytes was odd; a sum made from it continues as after an even number. */
carryline_sum carryline_sum_from_partial(uint32_t partial) CARRYLINE_CONST CARRYLINE_USE;
uint32_t carryline_sum_to_partial(carryline_sum sum) CARRYLINE_CONST CARRYLINE_USE;

/* Adds len bytes after what was added before. There is no length limit. */
carryline_sum carryline_sum_add(carryline_sum sum, const void *data, size_t len) CARRYLINE_PURE CARRYLINE_USE;

/* The same for bytes that were just written field by field, such as a header: reads at most 8 bytes at a time, because
 * wide loads would wait for the narrow stores. For all other data, carryline_sum_add is faster. */
carryline_sum carryline_sum_add_fresh(carryline_sum sum, const void *data, size_t len) CARRYLINE_PURE CARRYLINE_USE;

/* Adds count pieces in order, as if they were one buffer. Pieces may be empty or of odd length. */
carryline_sum carryline_sum_add_iov(carryline_sum sum, const struct iovec *iov,
                                    size_t count) CARRYLINE_PURE CARRYLINE_USE;

/* Adds len zero bytes, for a field that is treated as zero or for padding. */
carryline_sum carryline_sum_add_zeros(carryline_sum sum, size_t len) CARRYLINE_CONST CARRYLINE_USE;

/* Combines this sum with that of the data that follows, which was summed separately. */
carryline_sum carryline_sum_combine(carryline_sum sum, carryline_sum behind) CARRYLINE_CONST CARRYLINE_USE;

/* Copies len bytes from src to dst, which must not overlap, and adds them, in one pass where the CPU allows it. */
carryline_sum carryline_sum_copy(carryline_sum sum, void *dst, const void *src, size_t len) CARRYLINE_USE;

/* The sum of the pseudo-header of IPv4 and of IPv6. src and dst point to 4 and to 16 bytes in packet order, at any
 * alignment: &ip->saddr, a struct in6_addr. len counts transport header and data. */
carryline_sum carryline_sum_pseudo_v4(const void *src, const void *dst, uint8_t protocol,
                                      uint16_t len) CARRYLINE_PURE CARRYLINE_USE;
carryline_sum carryline_sum_pseudo_v6(const void *src, const void *dst, uint32_t len,
                                      uint8_t next_header) CARRYLINE_PURE CARRYLINE_USE;

/* The finished checksum, and the finished checksum as UDP sends it: 00 00 becomes ff ff. */
carryline_csum carryline_sum_finish(carryline_sum sum) CARRYLINE_CONST CARRYLINE_USE;
carryline_csum carryline_sum_finish_udp(carryline_sum sum) CARRYLINE_CONST CARRYLINE_USE;

/* True if the data is intact. The sum must include the checksum field and the pseudo-header. */
bool carryline_sum_verify(carryline_sum sum) CARRYLINE_CONST CARRYLINE_USE;

/* The bytes of the field for a network card that completes the checksum itself (CHECKSUM_PARTIAL,
 * VIRTIO_NET_HDR_F_NEEDS_CSUM, RTE_MBUF_F_TX_TCP_CKSUM): the folded sum of the pseudo-header, not complemented. */
carryline_csum carryline_sum_offload_seed(carryline_sum sum) CARRYLINE_CONST CARRYLINE_USE;

/* ---- Updates after a change of part of the data (RFC 1624) ---- */

/* The checksum after a word at an even offset in the data changed; both words as in the packet. The _udp functions keep
 * a checksum of 00 00, which means that there is none, and change a computed 00 00 to ff ff. */
carryline_csum carryline_csum_replace16(carryline_csum checksum, uint16_t before,
                                        uint16_t after) CARRYLINE_CONST CARRYLINE_USE;
carryline_csum carryline_csum_replace32(carryline_csum checksum, uint32_t before,
                                        uint32_t after) CARRYLINE_CONST CARRYLINE_USE;
carryline_csum carryline_csum_replace16_udp(carryline_csum checksum, uint16_t before,
                                            uint16_t after) CARRYLINE_CONST CARRYLINE_USE;
carryline_csum carryline_csum_replace32_udp(carryline_csum checksum, uint32_t before,
                                            uint32_t after) CARRYLINE_CONST CARRYLINE_USE;

/* The same for len bytes at offset, from the start of the data that the checksum covers; both may be odd. */
carryline_csum carryline_csum_replace_range(carryline_csum checksum, size_t offset, const void *before,
                                            const void *after, size_t len) CARRYLINE_PURE CARRYLINE_USE;
carryline_csum carryline_csum_replace_range_udp(carryline_csum checksum, size_t offset, const void *before,
                                                const void *after, size_t len) CARRYLINE_PURE CARRYLINE_USE;

/* ---- One call per protocol ----
 *
 * Functions that compute a checksum treat the checksum field as zero, whatever its value, and find it however the
 * pieces are divided. Those that return bool write the checksum to *checksum, which may be in the packet itself, and
 * return true. For an invalid packet they write nothing and return false: one that is too long for its pseudo-header
 * (more than 65535 bytes over IPv4, 2^32 - 1 over IPv6), or an IPv4 header that is truncated.
 *
 * Functions that verify accept untrusted packets. The pieces must contain the packet only: remove padding of the link
 * layer. src and dst are as for the pseudo-headers. */

/* An IPv4 header, over the number of bytes in its length field; len may be that of the whole packet. */
bool carryline_checksum_ipv4_header(const void *header, size_t len, carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_verify_ipv4_header(const void *header, size_t len) CARRYLINE_PURE CARRYLINE_USE;

/* TCP, header and data. */
bool carryline_checksum_tcp_v4(const void *src, const void *dst, const void *segment, size_t len,
                               carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_tcp_v4_iov(const void *src, const void *dst, const struct iovec *iov, size_t count,
                                   carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_verify_tcp_v4(const void *src, const void *dst, const void *segment,
                                      size_t len) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_verify_tcp_v4_iov(const void *src, const void *dst, const struct iovec *iov,
                                          size_t count) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_tcp_v6(const void *src, const void *dst, const void *segment, size_t len,
                               carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_tcp_v6_iov(const void *src, const void *dst, const struct iovec *iov, size_t count,
                                   carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_verify_tcp_v6(const void *src, const void *dst, const void *segment,
                                      size_t len) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_verify_tcp_v6_iov(const void *src, const void *dst, const struct iovec *iov,
                                          size_t count) CARRYLINE_PURE CARRYLINE_USE;

/* The result of verifying a received UDP datagram. Absent is valid over IPv4. Over IPv6, drop the datagram unless it
 * belongs to a tunnel that allows it (RFC 6935). */
typedef enum carryline_udp_verdict {
    CARRYLINE_UDP_DAMAGED = 0, /* or shorter than its header, or longer than its pseudo-header can express */
    CARRYLINE_UDP_INTACT = 1,
    CARRYLINE_UDP_ABSENT = 2 /* sent without a checksum */
} carryline_udp_verdict;

/* UDP, header and data. The checksum is never 00 00. */
bool carryline_checksum_udp_v4(const void *src, const void *dst, const void *datagram, size_t len,
                               carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_udp_v4_iov(const void *src, const void *dst, const struct iovec *iov, size_t count,
                                   carryline_csum *checksum) CARRYLINE_USE;
carryline_udp_verdict carryline_checksum_verify_udp_v4(const void *src, const void *dst, const void *datagram,
                                                       size_t len) CARRYLINE_PURE CARRYLINE_USE;
carryline_udp_verdict carryline_checksum_verify_udp_v4_iov(const void *src, const void *dst, const struct iovec *iov,
                                                           size_t count) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_udp_v6(const void *src, const void *dst, const void *datagram, size_t len,
                               carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_udp_v6_iov(const void *src, const void *dst, const struct iovec *iov, size_t count,
                                   carryline_csum *checksum) CARRYLINE_USE;
carryline_udp_verdict carryline_checksum_verify_udp_v6(const void *src, const void *dst, const void *datagram,
                                                       size_t len) CARRYLINE_PURE CARRYLINE_USE;
carryline_udp_verdict carryline_checksum_verify_udp_v6_iov(const void *src, const void *dst, const struct iovec *iov,
                                                           size_t count) CARRYLINE_PURE CARRYLINE_USE;

/* ICMP, and ICMPv6, which has a pseudo-header. */
carryline_csum carryline_checksum_icmp(const void *message, size_t len) CARRYLINE_PURE CARRYLINE_USE;
carryline_csum carryline_checksum_icmp_iov(const struct iovec *iov, size_t count) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_verify_icmp(const void *message, size_t len) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_verify_icmp_iov(const struct iovec *iov, size_t count) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_icmpv6(const void *src, const void *dst, const void *message, size_t len,
                               carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_icmpv6_iov(const void *src, const void *dst, const struct iovec *iov, size_t count,
                                   carryline_csum *checksum) CARRYLINE_USE;
bool carryline_checksum_verify_icmpv6(const void *src, const void *dst, const void *message,
                                      size_t len) CARRYLINE_PURE CARRYLINE_USE;
bool carryline_checksum_verify_icmpv6_iov(const void *src, const void *dst, const struct iovec *iov,
                                          size_t count) CARRYLINE_PURE CARRYLINE_USE;

/* ---- The rest is inline code, not to be called directly. ---- */

#if defined(__GNUC__) && !defined(CARRYLINE_NO_INLINE)

#define CARRYLINE_PRIVATE_INLINE static __inline__ __attribute__((__always_inline__, __unused__))
#define CARRYLINE_PRIVATE_IS_SHORT(len) (__builtin_constant_p(len) && (len) <= 64)

/* Sums 8 bytes at any alignment into a type twice as wide as a word, whose upper half collects the carries, and narrows
 * such a sum by adding the upper half to the lower. This may carry once more; adding that carry cannot. */
#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 carryline_private_wide;

CARRYLINE_PRIVATE_INLINE carryline_private_wide carryline_private_sum_8(const unsigned char *data) {
    uint64_t word;
    __builtin_memcpy(&word, data, sizeof word);
    return word;
}

CARRYLINE_PRIVATE_INLINE uint64_t carryline_private_narrow(carryline_private_wide sum) {
    uint64_t carries = (uint64_t)(sum >> 64);
    uint64_t narrow = (uint64_t)sum + carries;
    return narrow + (narrow < carries);
}
#else
typedef uint64_t carryline_private_wide;

CARRYLINE_PRIVATE_INLINE carryline_private_wide carryline_private_sum_8(const unsigned char *data) {
    uint32_t words[2];
    __builtin_memcpy(words, data, sizeof words);
    return (uint64_t)words[0] + words[1];
}

CARRYLINE_PRIVATE_INLINE uint64_t carryline_private_narrow(carryline_private_wide sum) {
    return sum;
}
#endif

/* The sum of up to 64 bytes and the seed, in 32 bits. RFC 1071, section 2: words of any width give the same sum, as
 * 2^16, 2^32 and 2^64 are 1 modulo 65535. */
CARRYLINE_PRIVATE_INLINE uint32_t carryline_private_sum(const void *data, size_t len, uint32_t seed) {
    const unsigned char *bytes = (const unsigned char *)data;
    carryline_private_wide sum = seed;
    uint64_t folded;
#define CARRYLINE_PRIVATE_ADD(at)                                                                                      \
    if (len >= (at) + 8) {                                                                                             \
        sum += carryline_private_sum_8(bytes + (at));                                                                  \
    }
    CARRYLINE_PRIVATE_ADD(0)
    CARRYLINE_PRIVATE_ADD(8)
    CARRYLINE_PRIVATE_ADD(16)
    CARRYLINE_PRIVATE_ADD(24)
    CARRYLINE_PRIVATE_ADD(32)
    CARRYLINE_PRIVATE_ADD(40)
    CARRYLINE_PRIVATE_ADD(48)
    CARRYLINE_PRIVATE_ADD(56)
#undef CARRYLINE_PRIVATE_ADD
    bytes += len & ~(size_t)7;
    if (len & 4) {
        uint32_t word;
        __builtin_memcpy(&word, bytes, sizeof word);
        sum += word;
        bytes += 4;
    }
    if (len & 2) {
        uint16_t word;
        __builtin_memcpy(&word, bytes, sizeof word);
        sum += word;
        bytes += 2;
    }
    if (len & 1) {
        /* As if a zero byte followed. */
        const unsigned char pair[2] = {*bytes, 0};
        uint16_t word;
        __builtin_memcpy(&word, pair, sizeof word);
        sum += word;
    }
    folded = carryline_private_narrow(sum);
    /* At most 2^33 - 2, and then at most 2^32 - 1. */
    folded = (folded & 0xffffffffU) + (folded >> 32);
    return (uint32_t)folded + (uint32_t)(folded >> 32);
}

/* After an odd number of bytes, the two bytes of every word are swapped for the next byte. */
CARRYLINE_PRIVATE_INLINE uint32_t carryline_private_swapped(uint32_t sum, uint32_t odd) {
    return (odd & 1) != 0 ? sum << 8 | sum >> 24 : sum;
}

CARRYLINE_PRIVATE_INLINE carryline_sum carryline_private_short(carryline_sum sum, const void *data, size_t len) {
    sum.acc = carryline_private_swapped(carryline_private_sum(data, len, sum.acc), (uint32_t)len);
    sum.odd ^= (uint32_t)(len & 1);
    return sum;
}

/* One function per name, which calls the library's unless the size is constant and short. */

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE uint32_t carryline_private_checksum_partial(const void *data, size_t len,
                                                                                   uint32_t seed) {
    return CARRYLINE_PRIVATE_IS_SHORT(len) ? carryline_private_sum(data, len, seed)
                                           : carryline_checksum_partial(data, len, seed);
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE uint16_t carryline_private_checksum_fold(uint32_t sum) {
    sum = (sum & 0xffffU) + (sum >> 16);
    return (uint16_t)(sum + (sum >> 16));
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE uint16_t carryline_private_checksum_internet(const void *data, size_t len) {
    return CARRYLINE_PRIVATE_IS_SHORT(len)
               ? (uint16_t)~carryline_private_checksum_fold(carryline_private_sum(data, len, 0))
               : carryline_checksum_internet(data, len);
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE carryline_sum carryline_private_sum_new(void) {
    carryline_sum sum = {0, 0};
    return sum;
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE carryline_sum carryline_private_sum_add(carryline_sum sum, const void *data,
                                                                               size_t len) {
    return CARRYLINE_PRIVATE_IS_SHORT(len) ? carryline_private_short(sum, data, len)
                                           : carryline_sum_add(sum, data, len);
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE carryline_sum carryline_private_sum_add_fresh(carryline_sum sum,
                                                                                     const void *data, size_t len) {
    return CARRYLINE_PRIVATE_IS_SHORT(len) ? carryline_private_short(sum, data, len)
                                           : carryline_sum_add_fresh(sum, data, len);
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE uint32_t carryline_private_sum_to_partial(carryline_sum sum) {
    return carryline_private_swapped(sum.acc, sum.odd);
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE bool carryline_private_sum_verify(carryline_sum sum) {
    return carryline_private_checksum_fold(carryline_private_sum_to_partial(sum)) == 0xffffU;
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE carryline_csum carryline_private_sum_finish(carryline_sum sum) {
    uint16_t field = (uint16_t)~carryline_private_checksum_fold(carryline_private_sum_to_partial(sum));
    carryline_csum checksum;
    __builtin_memcpy(&checksum, &field, sizeof checksum);
    return checksum;
}

CARRYLINE_PRIVATE_INLINE CARRYLINE_USE carryline_csum carryline_private_sum_finish_udp(carryline_sum sum) {
    carryline_csum checksum = carryline_private_sum_finish(sum);
    if ((checksum.b[0] | checksum.b[1]) == 0) {
        checksum.b[0] = checksum.b[1] = 0xff;
    }
    return checksum;
}

/* The library's pointers, for each translation unit: NULL before its first call. */
static const carryline_routines *carryline_private_routines __attribute__((__unused__));

CARRYLINE_PRIVATE_INLINE const carryline_routines *carryline_private_in_force(void) {
    const carryline_routines *routines = __atomic_load_n(&carryline_private_routines, __ATOMIC_RELAXED);
    if (__builtin_expect(routines == NULL, 0)) {
        routines = carryline_routines_in_force();
        __atomic_store_n(&carryline_private_routines, routines, __ATOMIC_RELAXED);
    }
    return routines;
}

CARRYLINE_PRIVATE_INLINE void carryline_private_zero(void *dst, size_t len) {
    __atomic_load_n(&carryline_private_in_force()->zero, __ATOMIC_RELAXED)(dst, len);
}

CARRYLINE_PRIVATE_INLINE void carryline_private_copy(void *dst, const void *src, size_t len) {
    __atomic_load_n(&carryline_private_in_force()->copy, __ATOMIC_RELAXED)(dst, src, len);
}

CARRYLINE_PRIVATE_INLINE void carryline_private_move(void *dst, const void *src, size_t len) {
    __atomic_load_n(&carryline_private_in_force()->move, __ATOMIC_RELAXED)(dst, src, len);
}

CARRYLINE_PRIVATE_INLINE uint32_t carryline_private_copy_and_sum(void *dst, const void *src, size_t len,
                                                                 uint32_t seed) {
    return __atomic_load_n(&carryline_private_in_force()->copy_and_sum, __ATOMIC_RELAXED)(dst, src, len, seed);
}

#undef CARRYLINE_PRIVATE_IS_SHORT
#undef CARRYLINE_PRIVATE_INLINE

/* Names without parentheses, for example to take a pointer, are the library's functions. */
#define carryline_zero(...) carryline_private_zero(__VA_ARGS__)
#define carryline_copy(...) carryline_private_copy(__VA_ARGS__)
#define carryline_move(...) carryline_private_move(__VA_ARGS__)
#define carryline_copy_and_sum(...) carryline_private_copy_and_sum(__VA_ARGS__)
#define carryline_checksum_partial(...) carryline_private_checksum_partial(__VA_ARGS__)
#define carryline_checksum_fold(...) carryline_private_checksum_fold(__VA_ARGS__)
#define carryline_checksum_internet(...) carryline_private_checksum_internet(__VA_ARGS__)
#define carryline_sum_new() carryline_private_sum_new()
#define carryline_sum_add(...) carryline_private_sum_add(__VA_ARGS__)
#define carryline_sum_add_fresh(...) carryline_private_sum_add_fresh(__VA_ARGS__)
#define carryline_sum_to_partial(...) carryline_private_sum_to_partial(__VA_ARGS__)
#define carryline_sum_verify(...) carryline_private_sum_verify(__VA_ARGS__)
#define carryline_sum_finish(...) carryline_private_sum_finish(__VA_ARGS__)
#define carryline_sum_finish_udp(...) carryline_private_sum_finish_udp(__VA_ARGS__)

#endif

#ifdef __cplusplus
}
#endif

#endif
