/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How the two processes of an example meet: over TCP, as RDMA needs a few numbers from the other side before the first
 * byte can flow; and what all examples are told. Nothing here is about RDMA. The example defines TIMEOUT, in ns, before it includes this.
 */
#ifndef EXAMPLES_C_TCP_H
#define EXAMPLES_C_TCP_H

#include <netdb.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <verbena.h>

static const char *role; /* "server" or "client", at the start of each line */

static inline void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", role);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* Every call of the library returns a status. The record behind it has the whole story as a sentence. */
static inline const char *why(vbn_status status) {
    static vbn_error_info error;
    error.struct_size = sizeof error;
    return vbn_last_error(&error) == VBN_OK ? error.message : vbn_status_text(status);
}

static inline void check(vbn_status status) {
    if (status != VBN_OK) die("%s", why(status));
}

/* Numbers of `size` bytes, the highest first; both return or leave the place behind them. */
static inline uint8_t *put(uint8_t *bytes, uint64_t value, int size) {
    for (int i = size - 1; i >= 0; i--, value >>= 8) bytes[i] = (uint8_t)value;
    return bytes + size;
}

static inline uint64_t get(const uint8_t **bytes, int size) {
    uint64_t value = 0;
    while (size-- > 0) value = value << 8 | *(*bytes)++;
    return value;
}

static inline void tcp_write(int fd, const void *data, size_t size) {
    for (const uint8_t *p = data; size > 0;) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n <= 0) die("the TCP connection to the peer broke; see what the peer says");
        p += n;
        size -= (size_t)n;
    }
}

static inline void tcp_read(int fd, void *data, size_t size) {
    for (uint8_t *p = data; size > 0;) {
        ssize_t n = recv(fd, p, size, 0);
        if (n < 0) die("the peer says nothing over TCP"); /* a time-out, as set below */
        if (n == 0) die("the peer closed the TCP connection early; see what the peer says");
        p += n;
        size -= (size_t)n;
    }
}

/* Returns when the other has come as far, with what it has to say. */
static inline char tcp_meet(int fd, char mine) {
    char theirs;
    tcp_write(fd, &mine, 1);
    tcp_read(fd, &theirs, 1);
    return theirs;
}

static inline struct addrinfo *resolve(const char *host, const char *port) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found;
    int error = getaddrinfo(host, port, &hints, &found);
    if (error) die("%s, TCP port %s: %s", host, port, gai_strerror(error));
    return found;
}

static inline void set_timeout(int fd) {
    struct timeval limit = {.tv_sec = TIMEOUT / 1000000000};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0) die("can't set the time-out of a TCP socket");
}

/* Port 0: a free one, which is told. */
static inline int tcp_accept(const char *address, const char *port) {
    struct addrinfo *at = resolve(address, port);
    int listener = socket(at->ai_family, at->ai_socktype, at->ai_protocol), yes = 1;
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    char number[16];
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
        bind(listener, at->ai_addr, at->ai_addrlen) < 0 || listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&name, &size) < 0 ||
        getnameinfo((struct sockaddr *)&name, size, NULL, 0, number, sizeof number, NI_NUMERICSERV) != 0)
        die("can't listen on %s, TCP port %s", address, port);
    freeaddrinfo(at);
    printf("%s: listening on TCP port %s\n", role, number);
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) die("no TCP connection came in");
    close(listener);
    set_timeout(fd);
    return fd;
}

static inline int tcp_connect(const char *host, const char *port) {
    struct addrinfo *at = resolve(host, port);
    for (int attempt = 0; attempt < 300; attempt++) { /* the server may not be up yet */
        int fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (fd < 0) break;
        if (connect(fd, at->ai_addr, at->ai_addrlen) == 0) {
            freeaddrinfo(at);
            set_timeout(fd);
            return fd;
        }
        close(fd);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    die("nobody listens on %s, TCP port %s: start the side with --listen %s first", host, port, port);
    return -1;
}

/* --listen PORT [--address ADDRESS] or --connect HOST PORT, and --device NAME. */
struct options {
    const char *port, *address, *host; /* host: the client has one */
    const char *device;                /* NULL: any that will do */
};

/* Takes an argument that is one of these, with what belongs to it, and leaves `arg` at the last. */
static inline int take_option(struct options *options, char ***arg) {
    char **at = *arg;
    if (strcmp(at[0], "--listen") == 0 && at[1]) {
        role = "server", options->port = *++at;
    } else if (strcmp(at[0], "--connect") == 0 && at[1] && at[2]) {
        role = "client", options->host = *++at, options->port = *++at;
    } else if (strcmp(at[0], "--address") == 0 && at[1]) {
        options->address = *++at;
    } else if (strcmp(at[0], "--device") == 0 && at[1]) {
        options->device = *++at;
    } else {
        return 0;
    }
    *arg = at;
    return 1;
}

static inline int tcp_open(const struct options *options) {
    setvbuf(stdout, NULL, _IOLBF, 0); /* lines of the two don't mix */
    return options->host ? tcp_connect(options->host, options->port) : tcp_accept(options->address ? options->address : "127.0.0.1", options->port);
}

#endif
