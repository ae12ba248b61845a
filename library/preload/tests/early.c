/* Tests calls before main: from a constructor of the highest priority, from the constructor of a library, and from the
   resolver of an indirect function while the dynamic linker is still relocating. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#ifdef LIBRARY
static char early[100];
static int answer(void) { return early[99] == 'x' && early[98] == 'x' && early[1] == 0; }
static int wrong_answer(void) { return 0; }
static __typeof__(answer) *resolve(void) {
    char copy[100];
    volatile size_t n = sizeof early;
    memset(early, 'x', n);
    bzero(early, n - 2);
    memcpy(copy, early, n);
    memmove(copy + 1, copy, n - 1);
    return copy[99] == 'x' && copy[98] == 0 ? answer : wrong_answer;
}
int resolved(void) __attribute__((ifunc("resolve")));
char of_library[300];
__attribute__((constructor(101))) static void construct(void) {
    volatile size_t n = sizeof of_library;
    memset(of_library, 'l', n);
}
#else
int resolved(void);
extern char of_library[300];
static char of_program[300];
__attribute__((constructor(101))) static void construct(void) {
    volatile size_t n = sizeof of_program;
    memcpy(of_program, of_library, n);
}
int main(void) {
    volatile size_t n = sizeof of_program;
    int right = resolved() && memcmp(of_program, of_library, n) == 0 && of_program[299] == 'l';
    puts(right ? "right" : "wrong");
    return !right;
}
#endif
