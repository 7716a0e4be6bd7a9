/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A small test harness. A program lists its tests in a table and calls test_main:
 *
 *     static void opens(void) { CHECK_OK(vbn_context_open(...)); }
 *     static const struct test tests[] = {{"opens", opens}, {NULL, NULL}};
 *     int main(int argc, char **argv) { return test_main("device", tests, argc, argv); }
 *
 * With arguments, only tests whose name contains one of them are run; -l lists the names. Each test prints one line:
 * "ok PROG/NAME", "FAIL PROG/NAME: file:line: what" or "skip PROG/NAME: reason"; other lines begin with "# ". A failed CHECK ends its test
 * (by longjmp), so what the test had open stays open; the process goes on with the next one. Exit status: 0, 1 if a test
 * failed, 77 if all were skipped, 2 if no test matched.
 *
 * CHECKs belong in the main thread. A thread or child reports by its result.
 */
#ifndef TESTS_C_HARNESS_H
#define TESTS_C_HARNESS_H

#include <stdint.h>
#include <sys/types.h>
#include <verbena.h>

struct test {
    const char *name;
    void (*run)(void);
};

int test_main(const char *program, const struct test *tests, int argc, char **argv);

/* Runs one test in a child process: 0 if it passed; else 1, with its message as a remark. */
int test_child(const char *program, const struct test *test);

/* fork, such that a child that ends by exit doesn't print what its parent has not printed yet. */
pid_t test_fork(void);

/* Calls `each` with every order of the `count` items, numbered from 1, and returns how many there were. */
uint32_t test_orders(int *items, int count, void (*each)(const int *items, uint32_t number));

/* Copies a file's content; CHECKs that it worked. */
void test_copy_file(const char *from, const char *to);

/* These three end the test. */
_Noreturn void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A remark among the output. */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The device to test with: VBN_TEST_DEVICE, or the first that opens. Without one, skips with the reason that libverbena gives. */
const char *test_device(void);

/* What vbn_last_error tells: "op: message (status, errno)". In a static buffer. */
const char *test_last_error(void);

/* vbn_last_error's record. */
vbn_error_info test_error(void);

/* The checks. Each evaluates its arguments once. */
void check_true(const char *file, int line, const char *text, int value);
void check_int(const char *file, int line, const char *text, int64_t actual, int64_t expected);
void check_uint(const char *file, int line, const char *text, uint64_t actual, uint64_t expected);
void check_text(const char *file, int line, const char *text, const char *actual, const char *expected);
void check_contains(const char *file, int line, const char *text, const char *actual, const char *part);
void check_bytes(const char *file, int line, const char *text, const void *actual, const void *expected, uint64_t length);
void check_status(const char *file, int line, const char *text, vbn_status actual, vbn_status expected);

/* The condition holds. */
#define CHECK(condition) check_true(__FILE__, __LINE__, #condition, (condition) ? 1 : 0)
/* Signed and unsigned numbers are equal. */
#define CHECK_EQ(actual, expected) check_int(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))
#define CHECK_UEQ(actual, expected) check_uint(__FILE__, __LINE__, #actual, (uint64_t)(actual), (uint64_t)(expected))
/* Texts are equal; a text contains another. */
#define CHECK_STR(actual, expected) check_text(__FILE__, __LINE__, #actual, (actual), (expected))
#define CHECK_HAS(actual, part) check_contains(__FILE__, __LINE__, #actual, (actual), (part))
/* Memory is equal; says at which byte it is not. */
#define CHECK_MEM(actual, expected, length) check_bytes(__FILE__, __LINE__, #actual, (actual), (expected), (length))
/* A call returned a status; on a mismatch the error record is printed too. */
#define CHECK_STATUS(call, expected) check_status(__FILE__, __LINE__, #call, (call), (expected))
#define CHECK_OK(call) CHECK_STATUS(call, VBN_OK)
/* Ends the test as failed. */
#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)
#define SKIP(...) test_skip(__VA_ARGS__)

#endif
