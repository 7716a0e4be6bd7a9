/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads: each with its own queue pair and queue, for each kind of queue pair and operation; several on one queue, and several that open and close
   at once. */
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
    vbn_peer *peer; /* UD: from a to b */
    vbn_mw *mw;
    uint64_t seen[ROUNDS]; /* what each atomic found */
    struct problem problem;
};

static struct worker workers[THREADS];

static void run_all(void *(*body)(void *), int count) {
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++) {
        workers[i].number = (uint32_t)i;
        workers[i].problem.text[0] = 0;
        CHECK_EQ(pthread_create(&threads[i], NULL, body, &workers[i]), 0);
    }
    for (int i = 0; i < count; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < count; i++)
        if (workers[i].problem.text[0]) FAIL("thread %d: %s", i, workers[i].problem.text);
}

static int post(struct worker *w, struct side *side, const vbn_send_wr *wr) {
    uint32_t n = 0;
    vbn_status status = vbn_qp_post_send(side->qp, wr, 1, &n);
    return status != VBN_OK || n != 1 ? wrong(&w->problem, "post", status) : 0;
}

static int receive(struct worker *w, struct side *side, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_recv_wr wr = recv_wr(side, wr_id, offset, length);
    uint32_t n = 0;
    vbn_status status = side->srq ? vbn_srq_post_recv(side->srq, &wr, 1, &n) : vbn_qp_post_recv(side->qp, &wr, 1, &n);
    return status != VBN_OK || n != 1 ? wrong(&w->problem, "receive", status) : 0;
}

/* The side's next completion, which must be a success. */
static int wait_for(struct worker *w, struct side *side, vbn_wc *wc) {
    uint32_t n = 0;
    vbn_status status = vbn_cq_wait(side->cq, 1, wc, 0, PATIENCE, &n);
    if (status != VBN_OK) return wrong(&w->problem, "wait", status);
    if (wc->status != VBN_WC_SUCCESS) return wrong(&w->problem, "completion", wc->status);
    if (wc->qp_num != vbn_qp_num(side->qp)) return wrong(&w->problem, "another queue pair's completion", wc->qp_num);
    return 0;
}

static int done(struct worker *w, struct side *side, uint64_t wr_id) {
    vbn_wc wc;
    if (wait_for(w, side, &wc)) return 1;
    return wc.wr_id != wr_id ? wrong(&w->problem, "another request's completion", wc.wr_id) : 0;
}

static int run(struct worker *w, struct side *side, const vbn_send_wr *wr) {
    return post(w, side, wr) || done(w, side, wr->wr_id);
}

static int same(struct worker *w, const void *one, const void *other, size_t length, uint32_t round) {
    return memcmp(one, other, length) != 0 ? wrong(&w->problem, "data", round) : 0;
}

/* ---- Each thread with a pair of its own ---- */

enum { LENGTH = 1000 };

static void fill_a(struct worker *w, uint32_t round) {
    fill(w->pair.a.memory, LENGTH, w->number * 1000 + round);
}

static int write_round(struct worker *w, uint32_t round) {
    struct pair *p = &w->pair;
    fill_a(w, round);
    vbn_send_wr wr = send_wr(&p->a, &p->b, VBN_WR_RDMA_WRITE, round, 0, LENGTH);
    return run(w, &p->a, &wr) || same(w, p->a.memory, p->b.memory, LENGTH, round);
}

/* With UC the writer's completion doesn't say that the data are there. */
static int uc_round(struct worker *w, uint32_t round) {
    struct pair *p = &w->pair;
    fill_a(w, round);
    vbn_send_wr wr = send_wr(&p->a, &p->b, round % 2 ? VBN_WR_SEND : VBN_WR_RDMA_WRITE_WITH_IMM, round, 0, LENGTH);
    return receive(w, &p->b, 5000 + round, 0, LENGTH) || run(w, &p->a, &wr) || done(w, &p->b, 5000 + round) ||
           same(w, p->a.memory, p->b.memory, LENGTH, round);
}

static int ud_round(struct worker *w, uint32_t round) {
    struct pair *p = &w->pair;
    fill_a(w, round);
    vbn_send_wr wr = ud_wr(&p->a, w->peer, round, 0, LENGTH);
    return receive(w, &p->b, 5000 + round, 0, GRH + LENGTH) || run(w, &p->a, &wr) || done(w, &p->b, 5000 + round) ||
           same(w, p->a.memory, p->b.memory + GRH, LENGTH, round);
}

static int (*round_of)(struct worker *w, uint32_t round);

static void *loop(void *arg) {
    for (uint32_t round = 0; round < ROUNDS; round++)
        if (round_of(arg, round)) break;
    return NULL;
}

static void run_rounds(int (*round)(struct worker *w, uint32_t round)) {
    round_of = round;
    run_all(loop, THREADS);
}

static void own_pairs(const struct setup *setup, int (*round)(struct worker *w, uint32_t round)) {
    for (int i = 0; i < THREADS; i++) pair_open_connected(&workers[i].pair, setup);
    run_rounds(round);
    for (int i = 0; i < THREADS; i++) pair_close(&workers[i].pair);
}

static void own_queues(void) {
    own_pairs(NULL, write_round);
}

static void uc(void) {
    struct setup setup = {.qp_type = VBN_QPT_UC};
    own_pairs(&setup, uc_round);
}

/* ---- Each thread sends from a device handle of its own to its queue pair on one that all share, with one PD and one region ---- */

static struct side hub;

/* The worker's end of the hub has a queue pair and a completion queue of its own. */
static void open_at_hub(struct side *side, const struct setup *setup) {
    *side = hub;
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 64};
    CHECK_OK(vbn_channel_create(hub.context, NULL, &side->channel));
    cq.channel = side->channel;
    CHECK_OK(vbn_cq_create(hub.context, &cq, &side->cq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .send_cq = side->cq, .srq = hub.srq, .qp_type = setup->qp_type};
    CHECK_OK(vbn_qp_create(hub.pd, &qp, &side->qp));
    if (setup->qp_type != VBN_QPT_UD) CHECK_OK(vbn_rc_record_local(side->qp, setup->rc, &side->record));
}

static void open_hub(const struct setup *setup) {
    side_open(&hub, setup);
    struct setup plain = *setup;
    plain.srq = NULL;
    for (int i = 0; i < THREADS; i++) {
        struct pair *p = &workers[i].pair;
        side_open(&p->a, &plain);
        open_at_hub(&p->b, setup);
        if (setup->qp_type != VBN_QPT_UD) pair_connect(p, setup);
    }
}

static void close_hub(void) {
    for (int i = 0; i < THREADS; i++) {
        struct side *b = &workers[i].pair.b;
        side_close(&workers[i].pair.a);
        CHECK_OK(vbn_qp_close(&b->qp));
        CHECK_OK(vbn_cq_close(&b->cq));
        CHECK_OK(vbn_channel_close(&b->channel));
    }
    vbn_live_info live = live_info(hub.context);
    CHECK_UEQ(live.qp_open, 1);
    CHECK_UEQ(live.cq_open, 1);
    CHECK_UEQ(live.mw_open + live.cq_closed + live.cq_refused, 0);
    side_close(&hub);
}

/* The peers' address handles are one, shared by all queue pairs of the PD. */
static void ud(void) {
    struct setup setup = {.qp_type = VBN_QPT_UD};
    for (int i = 0; i < THREADS; i++) {
        struct pair *p = &workers[i].pair;
        pair_open(p, &setup);
        ud_prepare(&p->a, 0x1234);
        ud_prepare(&p->b, 0x1234);
        workers[i].peer = ud_peer(&p->a, &p->b);
    }
    run_rounds(ud_round);
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(vbn_peer_close(&workers[i].peer));
        pair_close(&workers[i].pair);
    }
}

/* SRQ: a thread's message takes the next receive, whoever posted it; who has read it posts it again. */
enum { SLOTS = 4 * THREADS, SLOT = 1024 };

static vbn_srq *make_srq(struct side *side) {
    vbn_srq_attr attr = {.struct_size = sizeof attr, .max_wr = SLOTS};
    vbn_srq *srq;
    CHECK_OK(vbn_srq_create(side->pd, &attr, &srq));
    return srq;
}

static int srq_round(struct worker *w, uint32_t round) {
    struct pair *p = &w->pair;
    vbn_wc wc;
    fill_a(w, round);
    vbn_send_wr wr = send_wr(&p->a, &p->b, VBN_WR_SEND, round, 0, LENGTH);
    if (run(w, &p->a, &wr) || wait_for(w, &p->b, &wc)) return 1;
    if (wc.wr_id >= SLOTS || wc.byte_len != LENGTH) return wrong(&w->problem, "receive", wc.wr_id);
    return same(w, p->a.memory, hub.memory + wc.wr_id * SLOT, LENGTH, round) || receive(w, &p->b, wc.wr_id, wc.wr_id * SLOT, SLOT);
}

static void srq(void) {
    struct setup setup = {.srq = make_srq};
    open_hub(&setup);
    for (uint64_t i = 0; i < SLOTS; i++) {
        vbn_recv_wr wr = recv_wr(&hub, i, i * SLOT, SLOT);
        uint32_t posted = 0;
        CHECK_OK(vbn_srq_post_recv(hub.srq, &wr, 1, &posted));
        CHECK_UEQ(posted, 1);
    }
    run_rounds(srq_round);
    close_hub();
}

/* Atomics: all add to one number, in turn by fetch-and-add and by compare-and-swap until it succeeds. */
static int atomic_add(struct worker *w, uint32_t opcode, uint64_t compare_add, uint64_t swap, uint64_t *found) {
    vbn_send_wr wr = send_wr(&w->pair.a, &hub, opcode, 3, 0, 8);
    wr.compare_add = compare_add;
    wr.swap = swap;
    if (run(w, &w->pair.a, &wr)) return 1;
    memcpy(found, w->pair.a.memory, 8);
    return 0;
}

static int atomics_round(struct worker *w, uint32_t round) {
    uint64_t *found = &w->seen[round], expected = round ? w->seen[round - 1] + 1 : 0;
    if (round % 2 == 0) return atomic_add(w, VBN_WR_ATOMIC_FETCH_AND_ADD, 1, 0, found);
    for (;;) {
        if (atomic_add(w, VBN_WR_ATOMIC_CMP_AND_SWP, expected, expected + 1, found)) return 1;
        if (*found == expected) return 0;
        expected = *found;
    }
}

static void atomics(void) {
    static uint8_t marks[THREADS * ROUNDS];
    static const vbn_rc_attr may = {
        .struct_size = sizeof may,
        .set = VBN_RC_SET_ACCESS,
        .access = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC,
    };
    struct setup setup = {.rc = &may, .access = ACCESS_ALL | VBN_ACCESS_REMOTE_ATOMIC};
    vbn_caps caps = {.struct_size = sizeof caps};
    open_hub(&setup);
    CHECK_OK(vbn_context_caps(hub.context, &caps));
    if (!(caps.caps & VBN_CAP_ATOMICS)) {
        close_hub();
        LACKS("%s has no atomics", test_device());
    }
    run_rounds(atomics_round);
    uint64_t sum;
    memcpy(&sum, hub.memory, 8);
    CHECK_UEQ(sum, THREADS * ROUNDS);
    memset(marks, 0, sizeof marks);
    for (int i = 0; i < THREADS; i++)
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t found = workers[i].seen[round];
            CHECK(found < THREADS * ROUNDS);
            CHECK(round == 0 || found > workers[i].seen[round - 1]);
            CHECK_EQ(marks[found]++, 0);
        }
    close_hub();
}

/* Windows: each thread binds its own over the one region, is written to through it, and takes it back. */
static int windows_round(struct worker *w, uint32_t round) {
    struct side *a = &w->pair.a, *b = &w->pair.b;
    uint64_t offset = w->number * 8192;
    vbn_bind_mw_ext ext = {.mw = w->mw, .mr = hub.mr, .addr = vbn_mr_remote_addr(hub.mr) + offset, .length = LENGTH, .access = VBN_ACCESS_REMOTE_WRITE};
    uint32_t before = vbn_mw_rkey(w->mw);
    vbn_send_wr wr = bind_wr(&ext, 7000 + round);
    if (run(w, b, &wr)) return 1;
    uint32_t rkey = vbn_mw_rkey(w->mw);
    if (rkey == before) return wrong(&w->problem, "key", rkey);
    fill_a(w, round);
    wr = send_wr(a, b, VBN_WR_RDMA_WRITE, round, 0, LENGTH);
    wr.remote_addr += offset;
    wr.rkey = rkey;
    if (run(w, a, &wr) || same(w, a->memory, hub.memory + offset, LENGTH, round)) return 1;
    wr = invalidate_wr(rkey, 8000 + round);
    return run(w, b, &wr);
}

static void windows(void) {
    struct setup setup = {.access = ACCESS_ALL | VBN_ACCESS_MW_BIND};
    vbn_caps caps = {.struct_size = sizeof caps};
    open_hub(&setup);
    CHECK_OK(vbn_context_caps(hub.context, &caps));
    uint64_t wanted = VBN_QP_OP_BIND_MW | VBN_QP_OP_LOCAL_INV;
    if (!(caps.caps & VBN_CAP_MW) || (qp_info(hub.qp).send_ops & wanted) != wanted) {
        close_hub();
        LACKS("%s has no memory windows of type 2", test_device());
    }
    for (int i = 0; i < THREADS; i++) CHECK_OK(vbn_mw_alloc(hub.pd, VBN_MW_TYPE_2, NULL, &workers[i].mw));
    run_rounds(windows_round);
    for (int i = 0; i < THREADS; i++) CHECK_OK(vbn_mw_close(&workers[i].mw));
    close_hub();
}

/* ---- Two threads poll one queue while the main thread posts ---- */

#define TOTAL 2000

static struct pair shared;
static atomic_int seen[TOTAL];
static atomic_int polled;

static void *poll_loop(void *arg) {
    struct worker *w = arg;
    while (atomic_load(&polled) < TOTAL && !w->problem.text[0]) {
        vbn_wc wcs[8];
        uint32_t got = 0;
        vbn_status status = vbn_cq_poll(shared.a.cq, 8, wcs, &got);
        if (status != VBN_OK) wrong(&w->problem, "poll", status);
        if (got == 0) sched_yield();
        for (uint32_t i = 0; i < got; i++) {
            if (wcs[i].status != VBN_WC_SUCCESS || wcs[i].wr_id >= TOTAL) wrong(&w->problem, "completion", wcs[i].status);
            else atomic_fetch_add(&seen[wcs[i].wr_id], 1);
            atomic_fetch_add(&polled, 1);
        }
    }
    return NULL;
}

/* The poster is a thread too; it goes on when the queue is full. */
static void *post_loop(void *arg) {
    struct worker *w = arg;
    for (uint64_t id = 0; id < TOTAL && !w->problem.text[0];) {
        vbn_send_wr wr = send_wr(&shared.a, &shared.b, VBN_WR_RDMA_WRITE, id, 0, 16);
        uint32_t posted = 0;
        vbn_status status = vbn_qp_post_send(shared.a.qp, &wr, 1, &posted);
        if (status == VBN_ERR_QUEUE_FULL) sched_yield();
        else if (status != VBN_OK) wrong(&w->problem, "post", status);
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

static int make_round(struct worker *w, int32_t type) {
    static uint8_t memory[THREADS][4096];
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 16};
    vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .max_send_wr = 8, .max_recv_wr = 8, .qp_type = type};
    vbn_status status;
    if ((status = vbn_pd_alloc(context, NULL, &pd)) != VBN_OK) return wrong(&w->problem, "pd", status);
    if ((status = vbn_mr_reg(pd, memory[w->number], 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr)) != VBN_OK) return wrong(&w->problem, "mr", status);
    if ((status = vbn_cq_create(context, &cq_attr, &cq)) != VBN_OK) return wrong(&w->problem, "cq", status);
    qp_attr.send_cq = cq;
    if ((status = vbn_qp_create(pd, &qp_attr, &qp)) != VBN_OK) return wrong(&w->problem, "qp", status);
    if ((status = vbn_pd_close(&pd)) != VBN_OK) return wrong(&w->problem, "close pd", status);
    if ((status = vbn_cq_close(&cq)) != VBN_OK) return wrong(&w->problem, "close cq", status);
    if ((status = vbn_qp_close(&qp)) != VBN_OK) return wrong(&w->problem, "close qp", status);
    if ((status = vbn_mr_close(&mr)) != VBN_OK) return wrong(&w->problem, "close mr", status);
    return 0;
}

static void *make_loop(void *arg) {
    static const int32_t types[] = {VBN_QPT_RC, VBN_QPT_UC, VBN_QPT_UD};
    for (int round = 0; round < 99; round++)
        if (make_round(arg, types[round % 3])) break;
    return NULL;
}

/* The PD is closed first, and goes with the other. */
static int make_srq_round(struct worker *w) {
    vbn_pd *pd = NULL;
    vbn_srq *one = NULL;
    vbn_status status;
    if ((status = vbn_pd_alloc(context, NULL, &pd)) != VBN_OK) return wrong(&w->problem, "pd", status);
    if ((status = vbn_srq_create(pd, NULL, &one)) != VBN_OK) return wrong(&w->problem, "srq", status);
    if ((status = vbn_pd_close(&pd)) != VBN_OK) return wrong(&w->problem, "close pd", status);
    if ((status = vbn_srq_close(&one)) != VBN_OK) return wrong(&w->problem, "close srq", status);
    return 0;
}

static vbn_endpoint here;

static int make_peer_round(struct worker *w) {
    vbn_pd *pd = NULL;
    vbn_peer *peer = NULL;
    vbn_status status;
    if ((status = vbn_pd_alloc(context, NULL, &pd)) != VBN_OK) return wrong(&w->problem, "pd", status);
    if ((status = vbn_peer_from_endpoint(pd, &here, NULL, &peer)) != VBN_OK) return wrong(&w->problem, "peer", status);
    if ((status = vbn_pd_close(&pd)) != VBN_OK) return wrong(&w->problem, "close pd", status);
    if ((status = vbn_peer_close(&peer)) != VBN_OK) return wrong(&w->problem, "close peer", status);
    return 0;
}

static int make_window_round(struct worker *w) {
    vbn_pd *pd = NULL;
    vbn_mw *mw = NULL;
    vbn_status status;
    if ((status = vbn_pd_alloc(context, NULL, &pd)) != VBN_OK) return wrong(&w->problem, "pd", status);
    if ((status = vbn_mw_alloc(pd, VBN_MW_TYPE_2, NULL, &mw)) != VBN_OK) return wrong(&w->problem, "mw", status);
    if ((status = vbn_pd_close(&pd)) != VBN_OK) return wrong(&w->problem, "close pd", status);
    if ((status = vbn_mw_close(&mw)) != VBN_OK) return wrong(&w->problem, "close mw", status);
    return 0;
}

static int (*make_kind)(struct worker *w);

static void *make_kind_loop(void *arg) {
    for (int round = 0; round < 100; round++)
        if (make_kind(arg)) break;
    return NULL;
}

static void nothing_left(void) {
    vbn_live_info live = live_info(context);
    CHECK_UEQ(live.pd_open + live.mr_open + live.cq_open + live.qp_open + live.srq_open + live.mw_open + live.peer_open + live.td_open, 0);
    CHECK_UEQ(live.pd_closed + live.cq_closed + live.srq_closed + live.ah_closed + live.td_closed, 0);
    CHECK_UEQ(live.pd_refused + live.cq_refused + live.srq_refused + live.ah_refused + live.td_refused, 0);
    CHECK_OK(vbn_context_close(&context));
}

static void make_kinds(int (*kind)(struct worker *w)) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    make_kind = kind;
    run_all(make_kind_loop, THREADS);
    nothing_left();
}

static void make_and_close(void) {
    need_rc(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    run_all(make_loop, THREADS);
    nothing_left();
}

static void make_srqs(void) {
    need_rc(test_device());
    make_kinds(make_srq_round);
}

static void make_peers(void) {
    struct setup setup = {.qp_type = VBN_QPT_UD};
    side_open(&hub, &setup);
    ud_prepare(&hub, 1);
    CHECK_OK(vbn_endpoint_local(hub.qp, &here));
    make_kinds(make_peer_round);
    side_close(&hub);
}

static void make_windows(void) {
    vbn_caps caps = {.struct_size = sizeof caps};
    need_rc(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_context_caps(context, &caps));
    CHECK_OK(vbn_context_close(&context));
    if (!(caps.caps & VBN_CAP_MW)) LACKS("%s has no memory windows", test_device());
    make_kinds(make_window_round);
}

/* A thread domain for each thread, and all of the thread's objects in its parent domain; a datagram queue pair, which each device here has, sends to
   itself. */
static int domain_round(struct worker *w) {
    static uint8_t memory[THREADS][4096];
    uint8_t *own = memory[w->number];
    vbn_td *td = NULL;
    vbn_pd *pd = NULL, *parent = NULL;
    vbn_mr *mr = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    vbn_peer *peer = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 16};
    vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .max_send_wr = 8, .max_recv_wr = 8, .qp_type = VBN_QPT_UD};
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 77};
    vbn_endpoint endpoint;
    vbn_status status;
    if ((status = vbn_td_alloc(context, NULL, &td)) != VBN_OK) return wrong(&w->problem, "td", status);
    if ((status = vbn_pd_alloc(context, NULL, &pd)) != VBN_OK) return wrong(&w->problem, "pd", status);
    if ((status = vbn_pd_alloc_parent(pd, td, NULL, &parent)) != VBN_OK) return wrong(&w->problem, "parent", status);
    if ((status = vbn_mr_reg(parent, own, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr)) != VBN_OK) return wrong(&w->problem, "mr", status);
    if ((status = vbn_cq_create(context, &cq_attr, &cq)) != VBN_OK) return wrong(&w->problem, "cq", status);
    qp_attr.send_cq = cq;
    if ((status = vbn_qp_create(parent, &qp_attr, &qp)) != VBN_OK) return wrong(&w->problem, "qp", status);
    if ((status = vbn_qp_prepare(qp, &prepare)) != VBN_OK) return wrong(&w->problem, "prepare", status);
    if ((status = vbn_endpoint_local(qp, &endpoint)) != VBN_OK) return wrong(&w->problem, "endpoint", status);
    if ((status = vbn_peer_from_endpoint(parent, &endpoint, NULL, &peer)) != VBN_OK) return wrong(&w->problem, "peer", status);
    fill(own, 500, w->number + 7);
    memset(own + 1000, 0, 1000);
    vbn_sge from = {.addr = vbn_mr_remote_addr(mr), .length = 500, .lkey = vbn_mr_lkey(mr)}, to = from;
    to.addr += 1000;
    to.length = 1000;
    vbn_recv_wr recv = {.wr_id = 1, .num_sge = 1, .sge = to};
    vbn_send_wr send = {.wr_id = 2, .flags = VBN_SEND_SIGNALED, .opcode = VBN_WR_SEND, .num_sge = 1, .sge = from, .peer = peer};
    uint32_t n = 0;
    if ((status = vbn_qp_post_recv(qp, &recv, 1, &n)) != VBN_OK) return wrong(&w->problem, "receive", status);
    if ((status = vbn_qp_post_send(qp, &send, 1, &n)) != VBN_OK) return wrong(&w->problem, "post", status);
    for (int seen = 0; seen < 2;) {
        vbn_wc wc;
        if ((status = vbn_cq_wait(cq, 1, &wc, 0, PATIENCE, &n)) != VBN_OK) return wrong(&w->problem, "wait", status);
        if (wc.status != VBN_WC_SUCCESS) return wrong(&w->problem, "completion", wc.status);
        seen++;
    }
    if (same(w, own, own + 1000 + GRH, 500, 0)) return 1;
    if ((status = vbn_td_close(&td)) != VBN_OK) return wrong(&w->problem, "close td", status);
    if ((status = vbn_pd_close(&pd)) != VBN_OK) return wrong(&w->problem, "close pd", status);
    if ((status = vbn_pd_close(&parent)) != VBN_OK) return wrong(&w->problem, "close parent", status);
    if ((status = vbn_cq_close(&cq)) != VBN_OK) return wrong(&w->problem, "close cq", status);
    if ((status = vbn_peer_close(&peer)) != VBN_OK) return wrong(&w->problem, "close peer", status);
    if ((status = vbn_qp_close(&qp)) != VBN_OK) return wrong(&w->problem, "close qp", status);
    if ((status = vbn_mr_close(&mr)) != VBN_OK) return wrong(&w->problem, "close mr", status);
    return 0;
}

static void domains(void) {
    vbn_td *td = NULL;
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    vbn_status status = vbn_td_alloc(context, NULL, &td);
    vbn_error_info error = test_error();
    CHECK_OK(vbn_td_close(&td));
    if (status == VBN_ERR_NOT_SUPPORTED) {
        CHECK_OK(vbn_context_close(&context));
        SKIP("%s", error.message);
    }
    CHECK_OK(status);
    make_kind = domain_round;
    run_all(make_kind_loop, THREADS);
    nothing_left();
}

/* Opening and closing the device in all threads. */
static void *open_loop(void *arg) {
    struct worker *w = arg;
    for (int round = 0; round < 20; round++) {
        vbn_context *own = NULL;
        vbn_status status = vbn_context_open(test_device(), NULL, &own);
        if (status == VBN_OK) status = vbn_context_close(&own);
        if (status != VBN_OK) {
            wrong(&w->problem, "open", status);
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
        if (info.value != size) wrong(&w->problem, "another thread's error", (int64_t)info.value);
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
    workers[0].problem.text[0] = 0;
    atomic_store(&waiting, 0);
    CHECK_EQ(pthread_create(&thread, NULL, body, &workers[0]), 0);
    while (!atomic_load(&waiting)) sched_yield();
    sleep_ms(300);
    return thread;
}

static void end_waiter(pthread_t thread) {
    CHECK_EQ(pthread_join(thread, NULL), 0);
    if (workers[0].problem.text[0]) FAIL("%s", workers[0].problem.text);
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
    {"uc", uc},
    {"ud", ud},
    {"srq", srq},
    {"atomics", atomics},
    {"windows", windows},
    {"one_queue_two_pollers", one_queue_two_pollers},
    {"make_and_close", make_and_close},
    {"make_srqs", make_srqs},
    {"make_peers", make_peers},
    {"make_windows", make_windows},
    {"domains", domains},
    {"open_at_once", open_at_once},
    {"error_per_thread", error_per_thread},
    {"close_under_a_waiter", close_under_a_waiter},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("threads", tests, argc, argv);
}
