/* Makes a known number of calls: 1000 of each function in each of four threads, in a process and in its child. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *unused) {
    char a[200], b[200];
    static __thread char large[20000];
    for (int turn = 0; turn < 1000; turn++) {
        memcpy(a, b, 123);
        memmove(a + 1, a, 150);
        mempcpy(b, a, 45);
        bcopy(a, b, 0);
        memset(large, 0, 10001);
        memset(a, 9, 199);
        bzero(b, 31);
        explicit_bzero(b, 33);
    }
    return unused;
}
int main(void) {
    pid_t pid = fork();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    if (pid == 0) _exit(0);
    int status;
    waitpid(pid, &status, 0);
    return status;
}
