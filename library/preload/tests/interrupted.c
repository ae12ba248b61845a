/* Copies and fills in threads, in the handler of frequent signals, after fork and vfork, and in a library loaded at run
   time. The handler's stack is little larger than the kernel needs; compile with -z now, because lazy binding needs more.
   Prints "right", or what was wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { THREADS = 3, TURNS = 300, BYTES = 70000 };
static volatile sig_atomic_t handled;
static volatile int wrong;

static void handler(int signal) {
    static __thread char a[700], b[700];
    (void)signal;
    for (size_t n = 0; n < sizeof a; n += 53) {
        volatile size_t bytes = n;
        memset(a, 'h', bytes);
        memcpy(b, a, bytes);
        bzero(a, bytes);
        for (size_t i = 0; i < n; i++) wrong |= b[i] != 'h' || a[i] != 0;
    }
    handled++;
}

static void *work(void *seed) {
    /* After an inaccessible page, which detects overflows. */
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    stack_t stack = {.ss_size = (frame ? frame : MINSIGSTKSZ) + 1024};
    char *memory = mmap(0, 4096 + stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_sp = memory + 4096;
    if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) || sigaltstack(&stack, 0)) wrong = 1;
    unsigned char *a = malloc(BYTES), *b = malloc(BYTES + 8), byte = (unsigned char)(long)seed;
    for (int turn = 0; turn < TURNS; turn++) {
        volatile size_t n = (size_t)turn * 997 % BYTES;
        memset(a, byte, n);
        memcpy(b, a, n);
        memmove(b + 8, b, n);
        memset(a, 0, n);
        for (size_t i = 0; i < n; i++) wrong |= b[i + 8] != byte || a[i] != 0;
    }
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, 0);
    free(a), free(b), munmap(memory, 4096 + stack.ss_size);
    return 0;
}

static int child(void) {
    char a[3000], b[3000];
    volatile size_t n = sizeof a;
    memset(a, 5, n);
    memmove(b, a, n);
    return b[2999] == 5 ? 7 : 1;
}

int main(int count, char **words) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(SIGUSR1, &action, 0);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int turn = 0; turn < 200; turn++) {
        for (int i = 0; i < THREADS; i++) pthread_kill(threads[i], SIGUSR1);
        usleep(200);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) _exit(child());
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) != 7) puts("fork"), wrong = 1;
    pid = vfork();
    if (pid == 0) _exit(child());
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) != 7) puts("vfork"), wrong = 1;
    void *plugin = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;
    int (*call)(void) = plugin ? (int (*)(void))dlsym(plugin, "call") : 0;
    if (!call || call() != 7) puts("plug-in"), wrong = 1;
    puts(wrong ? "wrong" : "right");
    return wrong;
}
