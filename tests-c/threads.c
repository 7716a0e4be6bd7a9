/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads: each with its own queue pair and queue, several on one queue, and several that open and close at once. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

#define THREADS 4
#define ROUNDS 200

struct worker {
    struct pair pair;
    uint32_t number;
    char problem[1200]; /* empty: none */
};

static struct worker workers[THREADS];

static void run_all(void *(*body)(void *), int count) {
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++) {
        workers[i].number = (uint32_t)i;
        workers[i].problem[0] = 0;
        CHECK_EQ(pthread_create(&threads[i], NULL, body, &workers[i]), 0);
    }
    for (int i = 0; i < count; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < count; i++)
        if (workers[i].problem[0]) FAIL("thread %d: %s", i, workers[i].problem);
}

/* Notes the first problem. */
static int wrong(struct worker *w, const char *what, vbn_status status) {
    if (!w->problem[0]) {
        vbn_error_info info = {.struct_size = sizeof info};
        vbn_last_error(&info);
        snprintf(w->problem, sizeof w->problem, "%s: %d, %.900s", what, status, info.message);
    }
    return 1;
}

static int write_round(struct worker *w, uint32_t round) {
    struct pair *p = &w->pair;
    fill(p->a.memory, 1000, w->number * 1000 + round);
    vbn_send_wr wr = send_wr(&p->a, &p->b, VBN_WR_RDMA_WRITE, round, 0, 1000);
    uint32_t n = 0;
    vbn_wc wc;
    vbn_status status = vbn_qp_post_send(p->a.qp, &wr, 1, &n);
    if (status != VBN_OK) return wrong(w, "post", status);
    status = vbn_cq_wait(p->a.cq, 1, &wc, 0, PATIENCE, &n);
    if (status != VBN_OK) return wrong(w, "wait", status);
    if (wc.status != VBN_WC_SUCCESS || wc.wr_id != round) return wrong(w, "completion", wc.status);
    if (memcmp(p->a.memory, p->b.memory, 1000) != 0) return wrong(w, "data", (vbn_status)round);
    return 0;
}

static void *write_loop(void *arg) {
    struct worker *w = arg;
    for (uint32_t round = 0; round < ROUNDS; round++)
        if (write_round(w, round)) break;
    return NULL;
}

static void own_queues(void) {
    for (int i = 0; i < THREADS; i++) pair_open_connected(&workers[i].pair, NULL);
    run_all(write_loop, THREADS);
    for (int i = 0; i < THREADS; i++) pair_close(&workers[i].pair);
}

/* ---- Two threads poll one queue while the main thread posts ---- */

#define TOTAL 2000

static struct pair shared;
static atomic_int seen[TOTAL];
static atomic_int polled;

static void *poll_loop(void *arg) {
    struct worker *w = arg;
    while (atomic_load(&polled) < TOTAL && !w->problem[0]) {
        vbn_wc wcs[8];
        uint32_t got = 0;
        vbn_status status = vbn_cq_poll(shared.a.cq, 8, wcs, &got);
        if (status != VBN_OK) wrong(w, "poll", status);
        if (got == 0) sched_yield();
        for (uint32_t i = 0; i < got; i++) {
            if (wcs[i].status != VBN_WC_SUCCESS || wcs[i].wr_id >= TOTAL) wrong(w, "completion", wcs[i].status);
            else atomic_fetch_add(&seen[wcs[i].wr_id], 1);
            atomic_fetch_add(&polled, 1);
        }
    }
    return NULL;
}

/* The poster is a thread too; it goes on when the queue is full. */
static void *post_loop(void *arg) {
    struct worker *w = arg;
    for (uint64_t id = 0; id < TOTAL && !w->problem[0];) {
        vbn_send_wr wr = send_wr(&shared.a, &shared.b, VBN_WR_RDMA_WRITE, id, 0, 16);
        uint32_t posted = 0;
        vbn_status status = vbn_qp_post_send(shared.a.qp, &wr, 1, &posted);
        if (status == VBN_ERR_QUEUE_FULL) sched_yield();
        else if (status != VBN_OK) wrong(w, "post", status);
        id += posted;
    }
    return NULL;
}

static void *post_or_poll(void *arg) {
    return ((struct worker *)arg)->number == 0 ? post_loop(arg) : poll_loop(arg);
}

static void one_queue_two_pollers(void) {
    struct setup setup = {.send_wr = 64, .cqe = 1024, .no_channel = 1};
    atomic_store(&polled, 0);
    for (int i = 0; i < TOTAL; i++) atomic_store(&seen[i], 0);
    pair_open_connected(&shared, &setup);
    run_all(post_or_poll, 3);
    for (int i = 0; i < TOTAL; i++) CHECK_EQ(atomic_load(&seen[i]), 1);
    check_no_wc(&shared.a);
    pair_close(&shared);
}

/* ---- Control path: all threads make and close objects on one context ---- */

static vbn_context *context;

static int make_round(struct worker *w) {
    static uint8_t memory[THREADS][4096];
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 16};
    vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .max_send_wr = 8, .max_recv_wr = 8};
    vbn_status status;
    if ((status = vbn_pd_alloc(context, NULL, &pd)) != VBN_OK) return wrong(w, "pd", status);
    if ((status = vbn_mr_reg(pd, memory[w->number], 4096, ACCESS_ALL, NULL, &mr)) != VBN_OK) return wrong(w, "mr", status);
    if ((status = vbn_cq_create(context, &cq_attr, &cq)) != VBN_OK) return wrong(w, "cq", status);
    qp_attr.send_cq = cq;
    if ((status = vbn_qp_create(pd, &qp_attr, &qp)) != VBN_OK) return wrong(w, "qp", status);
    if ((status = vbn_pd_close(&pd)) != VBN_OK) return wrong(w, "close pd", status);
    if ((status = vbn_cq_close(&cq)) != VBN_OK) return wrong(w, "close cq", status);
    if ((status = vbn_qp_close(&qp)) != VBN_OK) return wrong(w, "close qp", status);
    if ((status = vbn_mr_close(&mr)) != VBN_OK) return wrong(w, "close mr", status);
    return 0;
}

static void *make_loop(void *arg) {
    for (int round = 0; round < 100; round++)
        if (make_round(arg)) break;
    return NULL;
}

static void make_and_close(void) {
    need_rc(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    run_all(make_loop, THREADS);
    vbn_live_info live = live_info(context);
    CHECK_UEQ(live.pd_open + live.mr_open + live.cq_open + live.qp_open, 0);
    CHECK_UEQ(live.pd_closed + live.cq_closed + live.pd_refused + live.cq_refused, 0);
    CHECK_OK(vbn_context_close(&context));
}

/* Opening and closing the device in all threads. */
static void *open_loop(void *arg) {
    struct worker *w = arg;
    for (int round = 0; round < 20; round++) {
        vbn_context *own = NULL;
        vbn_status status = vbn_context_open(test_device(), NULL, &own);
        if (status == VBN_OK) status = vbn_context_close(&own);
        if (status != VBN_OK) {
            wrong(w, "open", status);
            break;
        }
    }
    return NULL;
}

static void open_at_once(void) {
    test_device();
    run_all(open_loop, THREADS);
}

/* Each thread has an error record of its own. */
static void *fail_with_number(void *arg) {
    struct worker *w = arg;
    char bytes[64] = {0};
    for (int round = 0; round < 500; round++) {
        vbn_rc_record record;
        size_t size = 30 + w->number;
        vbn_rc_record_decode((const uint8_t *)bytes, size, &record);
        sched_yield();
        vbn_error_info info = {.struct_size = sizeof info};
        vbn_last_error(&info);
        if (info.value != size) wrong(w, "another thread's error", (vbn_status)info.value);
    }
    return NULL;
}

static void error_per_thread(void) {
    run_all(fail_with_number, THREADS);
}

/* ---- Closing while another thread waits ---- */

static atomic_int waiting;
static vbn_channel *channel;
static vbn_cq *queue;

static void *wait_for_async(void *arg) {
    vbn_async_event event = {.struct_size = sizeof event};
    atomic_store(&waiting, 1);
    vbn_status status = vbn_context_get_async_event(context, 3 * SECOND, &event);
    if (status != VBN_ERR_TIMEOUT) wrong(arg, "async event", status);
    return NULL;
}

static void *wait_for_channel(void *arg) {
    vbn_cq_event event = {.struct_size = sizeof event};
    atomic_store(&waiting, 1);
    vbn_status status = vbn_channel_get_event(channel, 3 * SECOND, &event);
    if (status != VBN_ERR_TIMEOUT) wrong(arg, "channel event", status);
    return NULL;
}

static void *wait_for_completion(void *arg) {
    vbn_wc wc;
    uint32_t got;
    atomic_store(&waiting, 1);
    vbn_status status = vbn_cq_wait(queue, 1, &wc, 0, 3 * SECOND, &got);
    if (status != VBN_ERR_TIMEOUT) wrong(arg, "wait", status);
    return NULL;
}

/* Starts a waiter and waits until it is surely asleep. */
static pthread_t start_waiter(void *(*body)(void *)) {
    pthread_t thread;
    workers[0].problem[0] = 0;
    atomic_store(&waiting, 0);
    CHECK_EQ(pthread_create(&thread, NULL, body, &workers[0]), 0);
    while (!atomic_load(&waiting)) sched_yield();
    sleep_ms(300);
    return thread;
}

static void end_waiter(pthread_t thread) {
    CHECK_EQ(pthread_join(thread, NULL), 0);
    if (workers[0].problem[0]) FAIL("%s", workers[0].problem);
}

/* The waiter keeps what it waits on: its wait ends by its own time-out, nothing crashes, nothing is left. */
static void close_under_a_waiter(void) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    pthread_t thread = start_waiter(wait_for_async);
    vbn_context *copy = context; /* the waiter reads the variable no more */
    CHECK_OK(vbn_context_close(&copy));
    end_waiter(thread);

    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_channel_create(context, NULL, &channel));
    thread = start_waiter(wait_for_channel);
    vbn_channel *channel_copy = channel;
    CHECK_OK(vbn_channel_close(&channel_copy));
    end_waiter(thread);
    CHECK_UEQ(live_info(context).channel_open + live_info(context).channel_closed, 0);

    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 8};
    CHECK_OK(vbn_channel_create(context, NULL, &channel));
    attr.channel = channel;
    CHECK_OK(vbn_cq_create(context, &attr, &queue));
    thread = start_waiter(wait_for_completion);
    vbn_cq *queue_copy = queue;
    vbn_status status = vbn_cq_close(&queue_copy);
    end_waiter(thread);
    test_note("closing the queue under its waiter: %s", vbn_status_name(status));
    CHECK(status == VBN_OK || status == VBN_ERR_BUSY);
    if (status == VBN_ERR_BUSY) CHECK_OK(vbn_cq_close(&queue_copy));
    CHECK_OK(vbn_channel_close(&channel));
    CHECK_UEQ(live_info(context).cq_open + live_info(context).cq_closed + live_info(context).cq_refused, 0);
    CHECK_OK(vbn_context_close(&context));
}

static const struct test tests[] = {
    {"own_queues", own_queues},
    {"one_queue_two_pollers", one_queue_two_pollers},
    {"make_and_close", make_and_close},
    {"open_at_once", open_at_once},
    {"error_per_thread", error_per_thread},
    {"close_under_a_waiter", close_under_a_waiter},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("threads", tests, argc, argv);
}
