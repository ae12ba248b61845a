/* A library that a program loads at run time, or, with RIVAL, one that is preloaded with the interposer and defines
   memcpy. */
#include <string.h>
int call(void) {
    char a[500], b[500];
    volatile size_t n = sizeof a;
    memset(a, 3, n);
    memcpy(b, a, n);
    return b[499] == 3 ? 7 : 1;
}
#ifdef RIVAL
void *memcpy(void *restrict dst, const void *restrict src, size_t len) {
    char *to = dst;
    const char *from = src;
    while (len--) {
        *to++ = *from++;
        __asm__ volatile("" ::: "memory");
    }
    return dst;
}
#endif
