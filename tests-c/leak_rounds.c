/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ten thousand rounds of making and closing leave nothing behind: no memory, no descriptors, no objects of the device. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

#define ROUNDS 10000

struct usage {
    long resident_kb;
    size_t heap;
    int fds;
};

static int count_fds(void) {
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir != NULL);
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

static long resident_kb(void) {
    char line[256];
    long kb = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld kB", &kb) == 1) break;
    fclose(file);
    return kb;
}

static struct usage usage(void) {
    struct usage u = {.resident_kb = resident_kb(), .heap = mallinfo2().uordblks, .fds = count_fds()};
    return u;
}

/* A hundredth of the rounds first, so that what is allocated once is there; then all, with next to no growth. */
static void check_rounds(const char *what, int rounds, void (*round)(int)) {
    for (int i = 0; i < rounds / 100 + 10; i++) round(i);
    struct usage before = usage();
    for (int i = 0; i < rounds; i++) round(i);
    struct usage after = usage();
    test_note("%d rounds of %s: heap %+ld bytes, resident %+ld kB, descriptors %+d", rounds, what, (long)after.heap - (long)before.heap,
              after.resident_kb - before.resident_kb, after.fds - before.fds);
    CHECK_EQ(after.fds, before.fds);
    /* A byte a round would be too much. */
    CHECK((long)after.heap - (long)before.heap < rounds);
    CHECK(after.resident_kb - before.resident_kb < 256);
}

static vbn_context *context;
static vbn_pd *pd;
static vbn_cq *cq;
static uint8_t memory[8192];

static void open_device(void) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16};
    CHECK_OK(vbn_cq_create(context, &attr, &cq));
}

static void close_device(void) {
    vbn_live_info live = live_info(context);
    CHECK_UEQ(live.mr_open + live.qp_open + live.channel_open + live.cq_closed + live.pd_closed, 0);
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
}

static void mr_round(int i) {
    vbn_mr *mr = NULL;
    CHECK_OK(vbn_mr_reg(pd, memory + i % 100, 4000, ACCESS_ALL, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
}

static void cq_round(int i) {
    vbn_cq *own = NULL;
    vbn_channel *channel = NULL;
    if (i % 2) CHECK_OK(vbn_channel_create(context, NULL, &channel));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .channel = channel};
    CHECK_OK(vbn_cq_create(context, &attr, &own));
    CHECK_OK(vbn_channel_close(&channel));
    CHECK_OK(vbn_cq_close(&own));
}

static void qp_round(int i) {
    (void)i;
    vbn_qp *qp = NULL;
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = cq, .max_send_wr = 4, .max_recv_wr = 4};
    CHECK_OK(vbn_qp_create(pd, &attr, &qp));
    CHECK_OK(vbn_qp_close(&qp));
}

static void context_round(int i) {
    (void)i;
    vbn_context *own = NULL;
    vbn_pd *own_pd = NULL;
    CHECK_OK(vbn_context_open(test_device(), NULL, &own));
    CHECK_OK(vbn_pd_alloc(own, NULL, &own_pd));
    CHECK_OK(vbn_context_close(&own));
    CHECK_OK(vbn_pd_close(&own_pd));
}

/* Failures leave nothing behind either. */
static void failure_round(int i) {
    (void)i;
    vbn_mr *mr = NULL;
    vbn_cq *own = NULL;
    vbn_qp *qp = NULL;
    vbn_context *none = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 1u << 30};
    vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .send_cq = cq, .max_inline_data = 1000000};
    CHECK_STATUS(vbn_mr_reg(pd, (void *)4096, 4096, ACCESS_ALL, NULL, &mr), VBN_ERR_DRIVER);
    CHECK(vbn_cq_create(context, &cq_attr, &own) != VBN_OK);
    CHECK(vbn_qp_create(pd, &qp_attr, &qp) != VBN_OK);
    CHECK_STATUS(vbn_context_open("no such device", NULL, &none), VBN_ERR_NOT_FOUND);
}

static void regions(void) {
    open_device();
    check_rounds("a region", ROUNDS, mr_round);
    close_device();
}

static void queues(void) {
    open_device();
    check_rounds("a completion queue", ROUNDS, cq_round);
    close_device();
}

static void queue_pairs(void) {
    need_rc(test_device());
    open_device();
    check_rounds("a queue pair", ROUNDS, qp_round);
    close_device();
}

static void contexts(void) {
    test_device();
    check_rounds("a context", ROUNDS / 20, context_round);
}

static void failures(void) {
    open_device();
    check_rounds("failures", ROUNDS / 10, failure_round);
    close_device();
}

static const struct test tests[] = {
    {"regions", regions},
    {"queues", queues},
    {"queue_pairs", queue_pairs},
    {"contexts", contexts},
    {"failures", failures},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("leak_rounds", tests, argc, argv);
}
