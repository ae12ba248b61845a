/* Routines that access memory correctly but not other state. */
#include "kernels.h"

/* A function of assembly with the given name. */
#define ASSEMBLY(name, body) __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" body "\n.size " #name ", .-" #name)

// wrong: zero: clobbered_register: smallest 0
// Counts in rbx and does not restore it.
void clobbers_rbx(void *dst, size_t len);
ASSEMBLY(clobbers_rbx, "mov %rsi, %rbx\n 1: test %rbx, %rbx\n jz 2f\n movb $0, -1(%rdi,%rbx)\n dec %rbx\n jmp 1b\n 2: ret");

// wrong: zero: clobbered_register
// Uses r12 as a pointer from 64 bytes.
void clobbers_r12_when_large(void *dst, size_t len);
ASSEMBLY(clobbers_r12_when_large,
         "cmp $64, %rsi\n jb 1f\n mov %rdi, %r12\n 1: mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret");

// wrong: copy: direction_flag
// Copies from the end and leaves the direction flag set.
void leaves_the_direction_flag_set(void *dst, const void *src, size_t len);
ASSEMBLY(leaves_the_direction_flag_set,
         "mov %rdx, %rcx\n jrcxz 1f\n lea -1(%rdi,%rdx), %rdi\n lea -1(%rsi,%rdx), %rsi\n std\n rep movsb\n 1: ret");

// wrong: zero: x87: smallest 8
// Zeroes through an MMX register without emms.
void leaves_mmx_in_use(void *dst, size_t len);
ASSEMBLY(leaves_mmx_in_use,
         "1: cmp $8, %rsi\n jb 2f\n pxor %mm0, %mm0\n movq %mm0, (%rdi)\n add $8, %rdi\n sub $8, %rsi\n jmp 1b\n"
         "2: mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret");

// wrong: zero: x87
// Leaves a zero on the x87 stack, in a register other than the top one.
void leaves_an_x87_register_in_use(void *dst, size_t len);
ASSEMBLY(leaves_an_x87_register_in_use,
         "fldz\n fincstp\n mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret");

// wrong: zero: mxcsr: smallest 0
// Sets flush-to-zero and does not reset it.
void sets_flush_to_zero(void *dst, size_t len)
{
    _mm_setcsr(_mm_getcsr() | 0x8000);
    bytes_zero(dst, len);
}

// wrong: zero: x87: smallest 0
// Sets the x87 precision and does not reset it.
void sets_x87_precision(void *dst, size_t len)
{
    uint16_t control = 0x27f;
    __asm__ volatile("fldcw %0" ::"m"(control));
    bytes_zero(dst, len);
}

// wrong: zero: stack_pointer: smallest 0
// Pops eight bytes of arguments that were not pushed, as in another calling convention.
void pops_arguments(void *dst, size_t len);
ASSEMBLY(pops_arguments, "mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret $8");

// wrong: zero: wrote_caller_stack: smallest 0
// Stores its arguments above the return address, where another calling convention reserves space for them.
void uses_home_space(void *dst, size_t len);
ASSEMBLY(uses_home_space,
         "mov %rdi, 8(%rsp)\n mov %rsi, 16(%rsp)\n mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n ret");

// wrong: copy: signals
// Keeps bytes 512 bytes below the stack pointer, below the red zone, where a signal frame may overwrite them.
void uses_the_stack_below_the_red_zone(void *dst, const void *src, size_t len);
ASSEMBLY(uses_the_stack_below_the_red_zone,
         "1: test %rdx, %rdx\n jz 2f\n movb -1(%rsi,%rdx), %al\n movb %al, -512(%rsp)\n nop\n movb -512(%rsp), %al\n"
         "movb %al, -1(%rdi,%rdx)\n dec %rdx\n jmp 1b\n 2: ret");

// wrong: checksum: wrong_result
// Begins an adc chain without clearing the carry flag.
uint32_t carry_flag_taken_for_clear(const void *data, size_t len, uint32_t seed);
ASSEMBLY(carry_flag_taken_for_clear,
         "movl %edx, %eax\n mov %rsi, %rcx\n jrcxz 4f\n cmp $2, %rcx\n jb 3f\n"
         "clc\n jmp 2f\n 2: movzwl (%rdi), %edx\n lea 2(%rdi), %rdi\n add %rdx, %rax\n lea -2(%rcx), %rcx\n"
         "cmp $2, %rcx\n jae 2b\n 3: jrcxz 5f\n movzbl (%rdi), %edx\n add %rdx, %rax\n jmp 5f\n 4: adc $0, %rax\n"
         "5: mov %rax, %rdx\n shr $32, %rdx\n mov %eax, %eax\n add %edx, %eax\n adc $0, %eax\n ret");

// wrong: checksum: wrong_result: smallest 0
// Adds the whole register of the 32-bit seed, whose upper half is undefined.
uint32_t upper_half_of_the_seed_register_used(const void *data, size_t len, uint32_t seed);
ASSEMBLY(upper_half_of_the_seed_register_used,
         "mov %rdx, %rax\n 1: cmp $2, %rsi\n jb 2f\n movzwl (%rdi), %ecx\n add %rcx, %rax\n adc $0, %rax\n add $2, %rdi\n"
         "sub $2, %rsi\n jmp 1b\n 2: test %rsi, %rsi\n jz 3f\n movzbl (%rdi), %ecx\n add %rcx, %rax\n adc $0, %rax\n"
         "3: mov %rax, %rdx\n shr $32, %rdx\n add %edx, %eax\n adc $0, %eax\n ret");

// wrong: zero: wrong_bytes|left_bytes_unwritten: needs avx2
// Stores a vector register that was not cleared.
void vector_register_taken_for_zero(void *dst, size_t len);
ASSEMBLY(vector_register_taken_for_zero,
         "1: cmp $32, %rsi\n jb 2f\n vmovdqu %ymm7, (%rdi)\n add $32, %rdi\n sub $32, %rsi\n jmp 1b\n"
         "2: mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n vzeroupper\n ret");

// wrong: zero: wrong_bytes|left_bytes_unwritten: needs avx2
// Clears the lower half of a vector register by a legacy SSE instruction, which keeps the upper half, and stores all of it.
void upper_half_taken_for_zero(void *dst, size_t len);
ASSEMBLY(upper_half_taken_for_zero,
         "pxor %xmm7, %xmm7\n 1: cmp $32, %rsi\n jb 2f\n vmovdqu %ymm7, (%rdi)\n add $32, %rdi\n sub $32, %rsi\n jmp 1b\n"
         "2: mov %rsi, %rcx\n xor %eax, %eax\n rep stosb\n vzeroupper\n ret");

// wrong: zero: crashed: smallest 0
// An instruction that no CPU supports.
void illegal_instruction(void *dst, size_t len);
ASSEMBLY(illegal_instruction, "ud2");

// wrong: checksum: wrong_result
// The first call in a process returns before its table is ready.
uint32_t wrong_at_the_first_call(const void *data, size_t len, uint32_t seed)
{
    static int ready;
    if (!ready) {
        ready = 1;
        return fold16(words(data, len, seed)) ^ 1;
    }
    return fold16(words(data, len, seed));
}

// wrong: checksum: history: smallest 0
// A counter overflows after 5000 calls.
uint32_t wrong_after_5000_calls(const void *data, size_t len, uint32_t seed)
{
    static int calls;
    if (++calls > 5000)
        return fold16(words(data, len, seed)) ^ 0x100;
    return fold16(words(data, len, seed));
}

// wrong: checksum: history
// Keeps the last sum by address, length and seed.
uint32_t remembers_by_address_and_length(const void *data, size_t len, uint32_t seed)
{
    static __thread const void *last;
    static __thread size_t last_len;
    static __thread uint32_t last_seed, last_sum;
    if (data == last && len == last_len && seed == last_seed && len > 0)
        return last_sum;
    last = data, last_len = len, last_seed = seed;
    return last_sum = fold16(words(data, len, seed));
}

// wrong: checksum: history
// The same, but only if the first word is unchanged.
uint32_t remembers_by_first_word(const void *data, size_t len, uint32_t seed)
{
    static __thread const void *last;
    static __thread size_t last_len;
    static __thread uint64_t last_word;
    static __thread uint32_t last_seed, last_sum;
    uint64_t word = len >= 8 ? load64(data) : len;
    if (len >= 8 && data == last && len == last_len && seed == last_seed && word == last_word)
        return last_sum;
    last = data, last_len = len, last_seed = seed, last_word = word;
    return last_sum = fold16(words(data, len, seed));
}

// wrong: checksum: threads
// Sums in memory shared by all calls.
uint32_t sums_in_static_memory(const void *data, size_t len, uint32_t seed)
{
    static volatile uint64_t sum;
    const uint8_t *p = data;
    sum = seed;
    for (; len >= 2; p += 2, len -= 2)
        sum += load16(p);
    if (len)
        sum += *p;
    return fold16(sum);
}
