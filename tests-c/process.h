/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Other processes for a test: the program once more, started in one of its roles at the other end of a socket. Not a fork alone, since what a
 * parent has open a child may not use. main begins with
 *
 *     if (process_role("PROGRAM", roles, argc, argv, &status)) return status;
 *
 * Except for process_role, every function here ends the test when something fails.
 */
#ifndef TESTS_C_PROCESS_H
#define TESTS_C_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

struct role {
    const char *name;
    void (*run)(int fd); /* a test: it may CHECK */
};

/* Plays the role, if the arguments name one: then its status is 0, or 1 after a failed CHECK. The table ends with a NULL. */
int process_role(const char *program, const struct role *roles, int argc, char **argv, int *status);

/* Starts one; *fd is this end of the socket. */
pid_t process_start(const char *program, const char *role, int *fd);
/* It must end by itself, and well. */
void process_end(pid_t pid, int fd);
/* It dies without a word. */
void process_kill(pid_t pid);

void tell(int fd, const void *data, size_t size);
void hear(int fd, void *data, size_t size);
/* Both are at this point. */
void meet(int fd);

#endif
