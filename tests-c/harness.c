/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "harness.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum outcome { PASSED, FAILED, SKIPPED };

static jmp_buf out;
static char what[4096]; /* why the test failed or was skipped */

_Noreturn void test_fail(const char *file, int line, const char *format, ...) {
    const char *base = strrchr(file, '/');
    int n = snprintf(what, sizeof what, "%s:%d: ", base ? base + 1 : file, line);
    va_list args;
    va_start(args, format);
    vsnprintf(what + n, sizeof what - (size_t)n, format, args);
    va_end(args);
    longjmp(out, FAILED);
}

_Noreturn void test_skip(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    longjmp(out, SKIPPED);
}

void test_note(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("# ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    fflush(stdout);
}

vbn_error_info test_error(void) {
    vbn_error_info info = {.struct_size = sizeof info};
    vbn_status status = vbn_last_error(&info);
    if (status != VBN_OK) snprintf(info.message, sizeof info.message, "vbn_last_error itself failed: %d", status);
    return info;
}

const char *test_last_error(void) {
    static char text[1400];
    vbn_error_info info = test_error();
    snprintf(text, sizeof text, "%s: %s (%s, errno %d)", info.op_name, info.message, vbn_status_name(info.status), info.sys_errno);
    return text;
}

static int opens(const char *name) {
    vbn_context *context = NULL;
    if (vbn_context_open(name, NULL, &context) != VBN_OK) return 0;
    vbn_context_close(&context);
    return 1;
}

const char *test_device(void) {
    static char name[VBN_NAME_SIZE];
    const char *wanted = getenv("VBN_TEST_DEVICE");
    if (wanted && *wanted) return wanted;
    if (name[0]) return name;
    vbn_device_info devices[16];
    uint32_t count = 0;
    vbn_status status = vbn_device_list(devices, sizeof devices[0], 16, &count);
    if (status != VBN_OK) test_fail(__FILE__, __LINE__, "vbn_device_list: %s", test_last_error());
    for (uint32_t i = 0; i < count && i < 16; i++) {
        if (devices[i].open_status == VBN_OK && opens(devices[i].name)) {
            memcpy(name, devices[i].name, sizeof name);
            return name;
        }
    }
    vbn_device_list_reason_info reason = {.struct_size = sizeof reason};
    if (vbn_device_list_reason(&reason) != VBN_OK) test_fail(__FILE__, __LINE__, "vbn_device_list_reason: %s", test_last_error());
    test_skip("no device: %s", reason.message);
}

void check_true(const char *file, int line, const char *text, int value) {
    if (!value) test_fail(file, line, "%s is not true; last error: %s", text, test_last_error());
}

void check_int(const char *file, int line, const char *text, int64_t actual, int64_t expected) {
    if (actual != expected) test_fail(file, line, "%s is %" PRId64 ", expected %" PRId64, text, actual, expected);
}

void check_uint(const char *file, int line, const char *text, uint64_t actual, uint64_t expected) {
    if (actual != expected)
        test_fail(file, line, "%s is %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")", text, actual, actual, expected, expected);
}

void check_text(const char *file, int line, const char *text, const char *actual, const char *expected) {
    if (strcmp(actual, expected) != 0) test_fail(file, line, "%s is \"%s\", expected \"%s\"", text, actual, expected);
}

void check_contains(const char *file, int line, const char *text, const char *actual, const char *part) {
    if (!strstr(actual, part)) test_fail(file, line, "%s is \"%s\", which lacks \"%s\"", text, actual, part);
}

void check_bytes(const char *file, int line, const char *text, const void *actual, const void *expected, uint64_t length) {
    const unsigned char *a = actual, *e = expected;
    for (uint64_t i = 0; i < length; i++)
        if (a[i] != e[i])
            test_fail(file, line, "%s differs at byte %" PRIu64 " of %" PRIu64 ": 0x%02x, expected 0x%02x", text, i, length, a[i], e[i]);
}

void check_status(const char *file, int line, const char *text, vbn_status actual, vbn_status expected) {
    if (actual == expected) return;
    test_fail(file, line, "%s is %s (%d), expected %s (%d); last error: %s", text, vbn_status_name(actual), actual,
              vbn_status_name(expected), expected, test_last_error());
}

static enum outcome attempt(const struct test *test) {
    switch (setjmp(out)) {
    case PASSED: test->run(); return PASSED;
    case FAILED: return FAILED;
    default: return SKIPPED;
    }
}

/* A test that failed may have left child processes, which would wait for it, and hold its output open, for ever. */
static void end_children(void) {
    char list[4096] = "";
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t length = read(fd, list, sizeof list - 1);
    close(fd);
    if (length <= 0) return;
    char *at = list;
    for (long pid; (pid = strtol(at, &at, 10)) > 0;) {
        kill((pid_t)pid, SIGKILL);
        waitpid((pid_t)pid, NULL, 0);
    }
}

static enum outcome run(const char *program, const struct test *test) {
    what[0] = 0;
    enum outcome outcome = attempt(test);
    if (outcome == FAILED) end_children();
    switch (outcome) {
    case PASSED: printf("ok %s/%s\n", program, test->name); break;
    case FAILED: printf("FAIL %s/%s: %s\n", program, test->name, what); break;
    case SKIPPED: printf("skip %s/%s: %s\n", program, test->name, what); break;
    }
    fflush(stdout);
    return outcome;
}

int test_child(const char *program, const struct test *test) {
    what[0] = 0;
    if (attempt(test) == PASSED) return 0;
    test_note("%s/%s in a child: %s", program, test->name, what);
    return 1;
}

pid_t test_fork(void) {
    fflush(NULL);
    return fork();
}

static uint32_t orders_from(int at, int *items, int count, uint32_t number, void (*each)(const int *, uint32_t)) {
    if (at == count) {
        each(items, ++number);
        return number;
    }
    for (int i = at; i < count; i++) {
        int first = items[at];
        items[at] = items[i];
        items[i] = first;
        number = orders_from(at + 1, items, count, number, each);
        items[i] = items[at];
        items[at] = first;
    }
    return number;
}

uint32_t test_orders(int *items, int count, void (*each)(const int *items, uint32_t number)) {
    return orders_from(0, items, count, 0, each);
}

void test_copy_file(const char *from, const char *to) {
    char buffer[65536];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in && out);
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0) CHECK_UEQ(fwrite(buffer, 1, n, out), n);
    fclose(in);
    CHECK_EQ(fclose(out), 0);
}

static int wanted(const char *name, int argc, char **argv) {
    if (argc < 2) return 1;
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i])) return 1;
    return 0;
}

int test_main(const char *program, const struct test *tests, int argc, char **argv) {
    int counts[3] = {0, 0, 0};
    if (argc == 2 && strcmp(argv[1], "-l") == 0) {
        for (; tests->name; tests++) puts(tests->name);
        return 0;
    }
    for (; tests->name; tests++)
        if (wanted(tests->name, argc, argv)) counts[run(program, tests)]++;
    printf("%s: %d passed, %d failed, %d skipped\n", program, counts[PASSED], counts[FAILED], counts[SKIPPED]);
    fflush(stdout);
    if (counts[FAILED]) return 1;
    if (counts[PASSED]) return 0;
    return counts[SKIPPED] ? 77 : 2;
}
