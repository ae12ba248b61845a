/* Routines that access memory correctly but fork, or change what signals do. */
#include "kernels.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// wrong: zero: forked
// Forks in its first fifty calls and returns in both processes.
void forks_fifty_times(void *dst, size_t len)
{
    static int calls;
    if (calls++ < 50)
        (void)!fork();
    bytes_zero(dst, len);
}

// wrong: checksum: forked
// Forks once, after a thousand calls, and returns in both processes.
uint32_t forks_late(const void *src, size_t len, uint32_t seed)
{
    static int calls;
    if (calls++ == 1000)
        (void)!fork();
    return fold32(words(src, len, seed));
}

// wrong: copy_checksum: forked
// Forks in every call and returns in both processes.
uint32_t forks_always(void *dst, const void *src, size_t len, uint32_t seed)
{
    (void)!fork();
    bytes_copy(dst, src, len);
    return fold32(words(src, len, seed));
}

// wrong: copy: forked
// Leaves a child process that sleeps for a while.
void leaves_a_sleeper(void *dst, const void *src, size_t len)
{
    static int calls;
    if (calls++ == 3 && fork() == 0) {
        sleep(1);
        _exit(0);
    }
    bytes_copy(dst, src, len);
}

// right: zero
// Lets a child do the work once and waits for its end: strange, but no process is left.
void waits_for_its_child(void *dst, size_t len)
{
    static int calls;
    if (calls++ == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    bytes_zero(dst, len);
}

// wrong: zero: signals
// Blocks a signal, as if to protect the call, and does not unblock it.
void leaves_a_signal_blocked(void *dst, size_t len)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    bytes_zero(dst, len);
}

// wrong: zero: signals
// Ignores a signal from now on.
void ignores_a_signal(void *dst, size_t len)
{
    signal(SIGUSR2, SIG_IGN);
    bytes_zero(dst, len);
}
