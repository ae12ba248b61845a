/* Calls the checked form selected by the argument with more bytes than fit into the buffer: must abort with the C
   library's message. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
void __explicit_bzero_chk(void *, size_t, size_t);
int main(int count, char **words) {
    static char a[65], b[65];
    switch (count > 1 ? atoi(words[1]) : 0) {
    case 1: __memcpy_chk(a, b, 64, 63); break;
    case 2: __memmove_chk(a, b, 1, 0); break;
    case 3: __mempcpy_chk(a, b, (size_t)-1, 64); break;
    case 4: __memset_chk(a, 1, 64, 63); break;
    case 5: __memset_chk(a, 0, 64, 63); break;
    case 6: __explicit_bzero_chk(a, 65, 64); break;
    }
    puts("went on");
    return 0;
}
