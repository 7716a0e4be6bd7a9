/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

static const struct role *playing;
static int playing_fd;

static void play(void) {
    playing->run(playing_fd);
}

int process_role(const char *program, const struct role *roles, int argc, char **argv, int *status) {
    if (argc != 4 || strcmp(argv[1], "--role") != 0) return 0;
    for (playing = roles; playing->name && strcmp(playing->name, argv[2]) != 0; playing++) {
    }
    if (!playing->name) return 0;
    playing_fd = atoi(argv[3]);
    struct test test = {playing->name, play};
    *status = test_child(program, &test);
    return 1;
}

pid_t process_start(const char *program, const char *role, int *fd) {
    int fds[2];
    char number[16];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    snprintf(number, sizeof number, "%d", fds[1]);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        fcntl(fds[1], F_SETFD, 0);
        execl("/proc/self/exe", program, "--role", role, number, (char *)NULL);
        _exit(127);
    }
    CHECK(pid > 0);
    close(fds[1]);
    *fd = fds[0];
    return pid;
}

void process_end(pid_t pid, int fd) {
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    close(fd);
}

void process_kill(pid_t pid) {
    int status = -1;
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    /* It was still alive. */
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void tell(int fd, const void *data, size_t size) {
    const uint8_t *from = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = send(fd, from + done, size - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) FAIL("the other process has gone");
        done += (size_t)n;
    }
}

void hear(int fd, void *data, size_t size) {
    uint8_t *to = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, to + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) FAIL("the other process has gone");
        done += (size_t)n;
    }
}

void meet(int fd) {
    uint8_t byte = 1;
    tell(fd, &byte, 1);
    hear(fd, &byte, 1);
}
