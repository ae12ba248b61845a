/* Unusual but correct routines that verification must accept. */
#include "kernels.h"
#include <pthread.h>

#define ASSEMBLY(name, body) __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" body "\n.size " #name ", .-" #name)

// right: checksum
// Returns another 32-bit number with the same folded value, which is allowed.
uint32_t unfolded_otherwise(const void *data, size_t len, uint32_t seed)
{
    uint32_t sum = fold16(words(data, len, seed));
    return sum ? sum << 16 | 0xffff : 0;
}

// right: checksum
// Adds bytes individually, each with its weight.
uint32_t byte_by_byte(const void *data, size_t len, uint32_t seed)
{
    const volatile uint8_t *p = data;
    uint64_t sum = seed;
    for (size_t i = 0; i < len; i++)
        sum += (uint64_t)p[i] << (i % 2 * 8);
    return fold16(sum);
}

// right: checksum
// Reads from the end, and everything twice: the number of reads does not matter.
uint32_t backwards_and_twice(const void *data, size_t len, uint32_t seed)
{
    const volatile uint8_t *p = data;
    uint64_t sum = 0;
    for (int round = 0; round < 2; round++) {
        sum = seed;
        for (size_t i = len; i-- > 0;)
            sum += (uint64_t)p[i] << (i % 2 * 8);
    }
    return fold16(sum);
}

// right: checksum
// Loads the aligned word that contains the tail and masks it. It never crosses a page, so it is harmless, and no guard
// page can detect it.
uint32_t aligned_word_around_the_tail(const void *data, size_t len, uint32_t seed)
{
    const uint8_t *p = data;
    uint64_t sum = seed;
    for (; len >= 8; p += 8, len -= 8)
        sum = add_carry(sum, load64(p));
    if ((uintptr_t)p % 8 || len == 0)
        return fold16(add_carry(fold16(sum), words(p, len, 0)));
    uint64_t word = *(const volatile uint64_t *)p;
    return fold16(add_carry(sum, word & (~0ULL >> (64 - 8 * len))));
}

// right: checksum
// The carry flag, the upper half of rax and the scratch registers may hold anything on return.
uint32_t returns_with_carry_set(const void *data, size_t len, uint32_t seed);
ASSEMBLY(returns_with_carry_set,
         "movl %edx, %eax\n 1: cmp $2, %rsi\n jb 2f\n movzwl (%rdi), %ecx\n add %rcx, %rax\n add $2, %rdi\n"
         "sub $2, %rsi\n jmp 1b\n 2: test %rsi, %rsi\n jz 3f\n movzbl (%rdi), %ecx\n add %rcx, %rax\n"
         "3: mov %rax, %rdx\n shr $32, %rdx\n add %edx, %eax\n adc $0, %eax\n"
         "mov $0x7777777700000000, %r8\n or %r8, %rax\n mov %r8, %r9\n mov %r8, %r10\n mov %r8, %r11\n stc\n ret");

// right: checksum
// Sums in thread-local memory, which verification's signals and calls of other threads do not affect.
uint32_t in_memory_of_the_thread(const void *data, size_t len, uint32_t seed)
{
    static __thread volatile uint64_t sum;
    sum = words(data, len, seed);
    return fold16(sum);
}

// right: checksum
// Uses the x87 registers and leaves them empty.
uint32_t by_way_of_x87(const void *data, size_t len, uint32_t seed)
{
    int64_t sum = (int64_t)words(data, len, seed);
    __asm__ volatile("fildll %0; fistpll %0" : "+m"(sum));
    return fold16((uint64_t)sum);
}

// right: checksum
// Sums a copy if memory for it can be allocated.
uint32_t from_a_copy(const void *data, size_t len, uint32_t seed)
{
    uint8_t *copy = malloc(len + 1);
    if (!copy)
        return fold16(words(data, len, seed));
    bytes_copy(copy, data, len);
    uint32_t sum = fold16(words(copy, len, seed));
    free(copy);
    return sum;
}

// right: zero
// Uses a string instruction.
void by_rep_stosb(void *dst, size_t len);
ASSEMBLY(by_rep_stosb, "mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret");

// right: zero
// Zeroes from the end with the direction flag set, and clears the flag.
void by_std_and_cld(void *dst, size_t len);
ASSEMBLY(by_std_and_cld,
         "mov %rsi, %rcx\n lea -1(%rdi,%rsi), %rdi\n xor %eax, %eax\n std\n rep stosb\n cld\n ret");

// right: zero
// Writes each byte twice, the first time with another value.
void each_byte_twice(void *dst, size_t len)
{
    volatile uint8_t *p = dst;
    for (size_t i = 0; i < len; i++)
        p[i] = 0xee;
    for (size_t i = len; i-- > 0;)
        p[i] = 0;
}

// right: zero
// Uses non-temporal stores, with the fence that they need.
void by_nontemporal_stores(void *dst, size_t len)
{
    uint8_t *p = dst;
    for (; len && (uintptr_t)p % 16; p++, len--)
        *(volatile uint8_t *)p = 0;
    for (; len >= 16; p += 16, len -= 16)
        _mm_stream_si128((__m128i *)p, _mm_setzero_si128());
    _mm_sfence();
    bytes_zero(p, len);
}

// right: zero
// Uses overlapping stores from both ends.
void by_overlapping_stores(void *dst, size_t len)
{
    uint8_t *p = dst;
    if (len < 8) {
        bytes_zero(p, len);
        return;
    }
    for (size_t i = 0; i + 8 <= len; i += 8)
        store64(p + i, 0);
    store64(p + len - 8, 0);
}

// right: zero: needs avx2
// Leaves the upper halves of vector registers in use: slow for some callers, but allowed.
void without_vzeroupper(void *dst, size_t len);
ASSEMBLY(without_vzeroupper,
         "vpcmpeqd %ymm0, %ymm0, %ymm0\n vpxor %ymm1, %ymm1, %ymm1\n 1: cmp $32, %rsi\n jb 2f\n vmovdqu %ymm1, (%rdi)\n"
         "add $32, %rdi\n sub $32, %rsi\n jmp 1b\n 2: mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret");

// right: copy
// Uses a string instruction.
void by_rep_movsb(void *dst, const void *src, size_t len);
ASSEMBLY(by_rep_movsb, "mov %rdx, %rcx\n rep movsb\n ret");

// right: copy
// Keeps bytes in the red zone, which a signal handler does not change.
void through_the_red_zone(void *dst, const void *src, size_t len);
ASSEMBLY(through_the_red_zone,
         "1: test %rdx, %rdx\n jz 2f\n movb -1(%rsi,%rdx), %al\n movb %al, -128(%rsp)\n nop\n movb -128(%rsp), %al\n"
         "movb %al, -1(%rdi,%rdx)\n dec %rdx\n jmp 1b\n 2: ret");

// right: copy
// Uses the callee-saved registers, and saves and restores them.
void with_saved_registers(void *dst, const void *src, size_t len);
ASSEMBLY(with_saved_registers,
         "push %rbx\n push %rbp\n push %r12\n push %r15\n mov %rsi, %r12\n mov %rdi, %r15\n mov %rdx, %rbx\n"
         "1: test %rbx, %rbx\n jz 2f\n movb -1(%r12,%rbx), %bpl\n movb %bpl, -1(%r15,%rbx)\n dec %rbx\n jmp 1b\n"
         "2: pop %r15\n pop %r12\n pop %rbp\n pop %rbx\n ret");

// right: copy
// Copies through a buffer shared by all calls, protected by a mutex.
void through_a_locked_buffer(void *dst, const void *src, size_t len)
{
    static uint8_t room[4096];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uint8_t *to = dst;
    const uint8_t *from = src;
    while (len) {
        size_t part = len < sizeof room ? len : sizeof room;
        pthread_mutex_lock(&lock);
        memcpy(room, from, part);
        memcpy(to, room, part);
        pthread_mutex_unlock(&lock);
        to += part, from += part, len -= part;
    }
}

// right: copy
// The C library's, which detects the CPU in its first call.
void by_memmove(void *dst, const void *src, size_t len)
{
    memmove(dst, src, len);
}

// right: copy_checksum
// Copies, then sums the copy.
uint32_t copies_then_sums_the_copy(void *dst, const void *src, size_t len, uint32_t seed)
{
    memcpy(dst, src, len);
    return fold16(words(dst, len, seed));
}

// right: copy_checksum
// Copies and sums word by word, and returns a 32-bit sum that is not folded.
uint32_t word_by_word(void *dst, const void *src, size_t len, uint32_t seed)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    uint64_t sum = seed;
    for (; len >= 8; to += 8, from += 8, len -= 8) {
        uint64_t word = load64(from);
        store64(to, word);
        sum = add_carry(sum, word);
    }
    bytes_copy(to, from, len);
    uint64_t last = 0;
    memcpy(&last, from, len);
    return fold32(add_carry(sum, last));
}
