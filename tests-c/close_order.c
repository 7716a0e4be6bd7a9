/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The handles of a device may be closed in any order: what others need stays alive behind them. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { CONTEXT, PD, MR, CHANNEL, CQ, QP, KINDS };

static struct pair p;

/* One write without a completion queue handle to look at: the peer's memory shows when it has come. */
static int write_arrives(vbn_qp *qp, vbn_send_wr *wr, uint32_t seed) {
    volatile uint8_t *last = p.b.memory + 255;
    fill(p.a.memory, 256, seed);
    memset(p.b.memory, 0, 256);
    if (p.a.memory[255] == 0) p.a.memory[255] = 1;
    uint32_t posted = 0;
    if (vbn_qp_post_send(qp, wr, 1, &posted) != VBN_OK) return 0;
    for (int i = 0; i < 60000 && *last != p.a.memory[255]; i++) sleep_ms(1);
    return memcmp(p.a.memory, p.b.memory, 256) == 0;
}

static vbn_status close_kind(int kind) {
    switch (kind) {
    case CONTEXT: return vbn_context_close(&p.a.context);
    case PD: return vbn_pd_close(&p.a.pd);
    case MR: return vbn_mr_close(&p.a.mr);
    case CHANNEL: return vbn_channel_close(&p.a.channel);
    case CQ: return vbn_cq_close(&p.a.cq);
    default: return vbn_qp_close(&p.a.qp);
    }
}

static int open_fds(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* Opens side a, closes its handles in this order, and checks that writes arrive as long as region and queue pair are there. */
static void in_order(const int *order, uint32_t round) {
    int fds = open_fds();
    side_open(&p.a, NULL);
    CHECK_OK(vbn_rc_record_local(p.b.qp, NULL, &p.b.record));
    pair_connect(&p, NULL);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 256);
    int region = 1, queue = 1;
    for (int i = 0; i < KINDS; i++) {
        vbn_status status = close_kind(order[i]);
        region &= order[i] != MR;
        queue &= order[i] != QP;
        int good = status == VBN_OK && (!region || !queue || write_arrives(p.a.qp, &wr, 10 * round + (uint32_t)i));
        if (!good)
            FAIL("order %d %d %d %d %d %d, step %d: status %d, %s", order[0], order[1], order[2], order[3], order[4], order[5], i, status,
                 status == VBN_OK ? "a write did not arrive" : test_last_error());
    }
    CHECK_EQ(open_fds(), fds);
    free(p.a.memory);
    qp_force(p.b.qp, VBN_QPS_RESET);
}

static void all_orders(void) {
    int order[KINDS] = {CONTEXT, PD, MR, CHANNEL, CQ, QP};
    side_open(&p.b, NULL);
    CHECK_UEQ(test_orders(order, KINDS, in_order), 720);
    side_close(&p.b);
}

/* What is closed but needed shows in vbn_context_live, and is gone with its last user. */
static void live_counts(void) {
    struct pair q;
    pair_open_connected(&q, NULL);
    vbn_live_info live = live_info(q.a.context);
    CHECK_UEQ(live.pd_open, 1);
    CHECK_UEQ(live.mr_open, 1);
    CHECK_UEQ(live.channel_open, 1);
    CHECK_UEQ(live.cq_open, 1);
    CHECK_UEQ(live.qp_open, 1);
    CHECK_UEQ(live.pd_closed + live.cq_closed + live.channel_closed, 0);
    CHECK_OK(vbn_pd_close(&q.a.pd));
    CHECK_OK(vbn_cq_close(&q.a.cq));
    CHECK_OK(vbn_channel_close(&q.a.channel));
    live = live_info(q.a.context);
    CHECK_UEQ(live.pd_open, 0);
    CHECK_UEQ(live.pd_closed, 1);
    CHECK_UEQ(live.cq_open, 0);
    CHECK_UEQ(live.cq_closed, 1);
    CHECK_UEQ(live.channel_closed, 1);
    CHECK_OK(vbn_qp_close(&q.a.qp));
    live = live_info(q.a.context);
    CHECK_UEQ(live.cq_closed, 0);
    CHECK_UEQ(live.channel_closed, 0);
    CHECK_UEQ(live.pd_closed, 1);
    CHECK_OK(vbn_mr_close(&q.a.mr));
    live = live_info(q.a.context);
    CHECK_UEQ(live.pd_closed + live.qp_open + live.mr_open, 0);
    CHECK_UEQ(live.pd_refused + live.cq_refused + live.channel_refused, 0);
    CHECK_OK(vbn_context_close(&q.a.context));
    free(q.a.memory);
    side_close(&q.b);
}

/* A PD outlives the handle of its context, and can still be used. */
static void children_of_a_closed_context(void) {
    vbn_context *context = NULL;
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    static char memory[100];
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    CHECK_OK(vbn_context_close(&context));
    CHECK(context == NULL);
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK(vbn_mr_lkey(mr) != 0);
    CHECK_OK(vbn_mr_close(&mr));
}

/* Use after close answers "closed"; so does a second close through a copy of the pointer. */
static void use_after_close(void) {
    struct pair q;
    pair_open_connected(&q, NULL);
    vbn_qp *qp = q.a.qp, *again = q.a.qp;
    vbn_send_wr wr = send_wr(&q.a, &q.b, VBN_WR_RDMA_WRITE, 1, 0, 8);
    CHECK_OK(vbn_qp_close(&q.a.qp));
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_send(qp, &wr, 1, &posted), VBN_ERR_CLOSED);
    CHECK_UEQ(posted, 0);
    vbn_qp_info info = {.struct_size = sizeof info};
    CHECK_STATUS(vbn_qp_query(qp, &info), VBN_ERR_CLOSED);
    CHECK_STATUS(vbn_qp_close(&again), VBN_ERR_CLOSED);
    pair_close(&q);
}

static const struct test tests[] = {
    {"all_orders", all_orders},
    {"live_counts", live_counts},
    {"children_of_a_closed_context", children_of_a_closed_context},
    {"use_after_close", use_after_close},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("close_order", tests, argc, argv);
}
