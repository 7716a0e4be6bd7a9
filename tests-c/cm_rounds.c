/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Many connections of the connection manager: by several threads at once, and one after the other, of which nothing is left. VBN_TEST_CM_ADDRESS is the address
 * of an RDMA device here (192.0.2.1).
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define THREADS 3
#define CONNECTIONS 4 /* of each thread */
#define ROUNDS 40
#define LENGTH 4096

struct worker {
    uint32_t number;
    struct problem problem;
};

/* One side of a connection. */
struct leg {
    vbn_cm_channel *events;
    vbn_cm_id *id;
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_cq *cq;
    vbn_qp *qp;
    uint8_t memory[LENGTH];
};

#define TRY(call) \
    do { \
        vbn_status status_ = (call); \
        if (status_ != VBN_OK) return wrong(&w->problem, #call, status_); \
    } while (0)

static const char *address_text(void) {
    const char *text = getenv("VBN_TEST_CM_ADDRESS");
    return text ? text : "192.0.2.1";
}

static int event_is(struct worker *w, struct leg *leg, int32_t type, vbn_cm_id **id) {
    vbn_cm_event event = {.struct_size = sizeof event};
    TRY(vbn_cm_channel_get_event(leg->events, 3 * PATIENCE, &event, id));
    if (event.type != type) return wrong(&w->problem, vbn_cm_event_name(event.type), event.status);
    return 0;
}

static int give_queues(struct worker *w, struct leg *leg, uint32_t seed) {
    fill(leg->memory, LENGTH, seed);
    TRY(vbn_cm_id_context(leg->id, NULL, &leg->context));
    TRY(vbn_pd_alloc(leg->context, NULL, &leg->pd));
    TRY(vbn_mr_reg(leg->pd, leg->memory, LENGTH, ACCESS_ALL, NULL, &leg->mr));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 16};
    TRY(vbn_cq_create(leg->context, &cq, &leg->cq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .send_cq = leg->cq, .max_send_wr = 4, .max_recv_wr = 4};
    TRY(vbn_cm_id_create_qp(leg->id, leg->pd, &qp, &leg->qp));
    return 0;
}

static int listen_somewhere(struct worker *w, struct leg *leg, vbn_cm_addr *at) {
    vbn_cm_id_info info = {.struct_size = sizeof info};
    TRY(vbn_cm_channel_create(NULL, &leg->events));
    TRY(vbn_cm_id_create(leg->events, NULL, &leg->id));
    TRY(vbn_cm_addr_parse(address_text(), 0, at));
    TRY(vbn_cm_id_bind(leg->id, at));
    TRY(vbn_cm_id_listen(leg->id, 4));
    TRY(vbn_cm_id_query(leg->id, &info));
    *at = info.local;
    return 0;
}

static int write_across(struct worker *w, struct leg *from, struct leg *to) {
    vbn_send_wr wr = {
        .wr_id = 7,
        .flags = VBN_SEND_SIGNALED,
        .opcode = VBN_WR_RDMA_WRITE,
        .num_sge = 1,
        .sge = {.addr = vbn_mr_remote_addr(from->mr), .length = LENGTH, .lkey = vbn_mr_lkey(from->mr)},
        .remote_addr = vbn_mr_remote_addr(to->mr),
        .rkey = vbn_mr_rkey(to->mr),
    };
    vbn_wc wc;
    uint32_t n = 0;
    TRY(vbn_qp_post_send(from->qp, &wr, 1, &n));
    TRY(vbn_cq_wait(from->cq, 1, &wc, 0, PATIENCE, &n));
    TRY(vbn_wc_check(&wc));
    if (wc.wr_id != 7 || memcmp(from->memory, to->memory, LENGTH) != 0) return wrong(&w->problem, "the bytes are not those that were written", 0);
    return 0;
}

static int leg_close(struct worker *w, struct leg *leg) {
    TRY(vbn_qp_close(&leg->qp));
    TRY(vbn_cq_close(&leg->cq));
    TRY(vbn_mr_close(&leg->mr));
    TRY(vbn_pd_close(&leg->pd));
    TRY(vbn_context_close(&leg->context));
    TRY(vbn_cm_id_close(&leg->id));
    TRY(vbn_cm_channel_close(&leg->events));
    return 0;
}

/* The server's events come where the listener's do. */
static int run_connection(struct worker *w, struct leg *listener, struct leg *server, struct leg *client, uint32_t seed) {
    vbn_cm_addr at;
    if (listen_somewhere(w, listener, &at)) return 1;
    TRY(vbn_cm_channel_create(NULL, &client->events));
    TRY(vbn_cm_id_create(client->events, NULL, &client->id));
    TRY(vbn_cm_id_resolve(client->id, NULL, &at, PATIENCE));
    if (give_queues(w, client, seed)) return 1;
    TRY(vbn_cm_id_connect(client->id, NULL));
    if (event_is(w, listener, VBN_CM_EVENT_CONNECT_REQUEST, &server->id) || give_queues(w, server, seed + 1)) return 1;
    TRY(vbn_cm_id_accept(server->id, NULL));
    vbn_cm_id *none;
    if (event_is(w, client, VBN_CM_EVENT_ESTABLISHED, &none) || event_is(w, listener, VBN_CM_EVENT_ESTABLISHED, &none)) return 1;
    if (write_across(w, client, server)) return 1;
    TRY(vbn_cm_id_disconnect(client->id));
    if (event_is(w, listener, VBN_CM_EVENT_DISCONNECTED, &none)) return 1;
    TRY(vbn_cm_id_disconnect(server->id));
    if (event_is(w, client, VBN_CM_EVENT_DISCONNECTED, &none)) return 1;
    return leg_close(w, client) || leg_close(w, server) || leg_close(w, listener);
}

static int connection(struct worker *w, uint32_t seed) {
    struct leg legs[3];
    memset(legs, 0, sizeof legs);
    return run_connection(w, &legs[0], &legs[1], &legs[2], seed);
}

static void need_cm(void) {
    vbn_cm_channel *channel;
    vbn_status status = vbn_cm_channel_create(NULL, &channel);
    if (status == VBN_ERR_NOT_SUPPORTED || status == VBN_ERR_LIBRARY_MISSING) LACKS("%s", test_last_error());
    CHECK_OK(status);
    CHECK_OK(vbn_cm_channel_close(&channel));
}

static void *connect_some(void *worker) {
    struct worker *w = worker;
    for (uint32_t i = 0; i < CONNECTIONS; i++)
        if (connection(w, 100 * w->number + 2 * i)) break;
    return NULL;
}

static void threads(void) {
    struct worker workers[THREADS];
    pthread_t ids[THREADS];
    need_cm();
    memset(workers, 0, sizeof workers);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].number = i + 1;
        CHECK_EQ(pthread_create(&ids[i], NULL, connect_some, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(ids[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].problem.text[0]) FAIL("thread %d: %s", i, workers[i].problem.text);
}

#if __GLIBC_PREREQ(2, 33)
#define HEAP_USED() (long)mallinfo2().uordblks
#else
#define HEAP_USED() (long)mallinfo().uordblks
#endif

static void heap(void) {
    struct worker w = {0};
    long before = 0;
    need_cm();
    for (uint32_t round = 0; round < 2 * ROUNDS; round++) {
        /* What is allocated once is there after the first half. */
        if (round == ROUNDS) before = HEAP_USED();
        if (connection(&w, round)) FAIL("round %u: %s", round, w.problem.text);
    }
    long grown = HEAP_USED() - before;
    test_note("%d connections: heap %+ld bytes", ROUNDS, grown);
    CHECK(grown < ROUNDS);
}

static const struct test tests[] = {
    {"threads", threads},
    {"heap", heap},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("cm_rounds", tests, argc, argv);
}
