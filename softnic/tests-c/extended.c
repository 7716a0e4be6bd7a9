// SPDX-License-Identifier: MIT OR Apache-2.0
// Extended CQs as their man page shows them: ibv_start_poll, ibv_next_poll until ENOENT, ibv_end_poll. libefa never tells the device then what was
// read. Each message to itself is numbered, and must complete once on both sides.
//
//   extended default       a CQ of 64 entries, queues of 64 and 64
//   extended large         CQs of 128 and 1024: the queues can't fill them
//   extended early         the same sizes; the first poll ends before ENOENT, which tells the device once
//   extended small         a CQ of 16
//   extended two           a CQ for sends, one for receives, as large and smaller than their queues
//   extended channel       sleeps on the CQ's channel, for each message and for one in 100; no event gets lost, and none come for ever
//   extended unsolicited   WRITEs with immediate that take no receive; exit status 77 where libefa or device has none
//   extended told          not extended: a CQ of 16 that is far too small, polled by ibv_poll_cq, which does tell
#include "srd.h"
#include <poll.h>

enum { DEPTH = 64, MESSAGES = 5000, LENGTH = 64, LIMIT = 15, TARGETS = 8192 };

static struct end e;
static struct ibv_ah *ah;
static struct ibv_cq_ex *cqs[2]; // of sends, of receives; may be one
static unsigned char done[3][MESSAGES]; // send requests, receive requests, messages that were received
static int unsolicited;

static struct ibv_cq_ex *create_cq(int cqe)
{
    struct ibv_cq_init_attr_ex attr = {.cqe = cqe, .channel = e.channel, .wc_flags = IBV_WC_STANDARD_FLAGS};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(e.ctx, &attr);
    CHECK(cq && ibv_cq_ex_to_cq(cq)->cqe == cqe);
    return cq;
}

// In place of the QP and the CQ of open_end. False if there is no such QP here.
static int open_qp(struct ibv_cq *send, struct ibv_cq *recv)
{
    struct ibv_qp_init_attr_ex init = {
        .send_cq = send,
        .recv_cq = recv,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
        .pd = e.pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = unsolicited ? IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM : IBV_QP_EX_WITH_SEND,
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    uint16_t flags = unsolicited; // a field since rdma-core 53, reserved before
    memcpy((char *)&srd + 12, &flags, sizeof flags);
    CHECK(!ibv_destroy_qp(e.qp));
    if (!(e.qp = efadv_create_qp_ex(e.ctx, &init, &srd, sizeof srd))) return 0;
    make_ready(e.qp, -1);
    return 1;
}

static void open_all(int send_cqe, int recv_cqe)
{
    memset(done, 0, sizeof done);
    e.writes = unsolicited;
    open_end(&e, 0, -1);
    ah = address(&e, e.gid);
    cqs[0] = create_cq(send_cqe);
    cqs[1] = recv_cqe ? create_cq(recv_cqe) : cqs[0];
    if (!open_qp(ibv_cq_ex_to_cq(cqs[0]), ibv_cq_ex_to_cq(cqs[1]))) _exit(77);
}

static void close_all(void)
{
    CHECK(!ibv_destroy_qp(e.qp));
    CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(cqs[0])));
    if (cqs[1] != cqs[0]) CHECK(!ibv_destroy_cq(ibv_cq_ex_to_cq(cqs[1])));
    CHECK(!ibv_destroy_ah(ah));
    CHECK(!ibv_dereg_mr(e.mr));
    CHECK(!ibv_destroy_cq(e.cq));
    if (e.channel) CHECK(!ibv_destroy_comp_channel(e.channel));
    CHECK(!ibv_dealloc_pd(e.pd));
    CHECK(!ibv_close_device(e.ctx));
    free(e.buffer);
    e = (struct end){0};
}

// Message n goes from one half of the buffer to the other.
static size_t source(int n) { return n % DEPTH * LENGTH; }
static size_t target(int n) { return TARGETS + n % DEPTH * LENGTH; }

static void send_message(int n)
{
    memcpy(e.buffer + source(n), &n, sizeof n);
    if (!unsolicited) {
        post_recv(&e, n, target(n), LENGTH);
        post(&e, n, ah, e.qp->qp_num, 0, source(n), 0, LENGTH);
        return;
    }
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e.qp);
    ibv_wr_start(qp);
    qp->wr_id = n;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write_imm(qp, e.mr->rkey, (uintptr_t)e.buffer + target(n), n);
    ibv_wr_set_sge(qp, e.mr->lkey, (uintptr_t)e.buffer + source(n), LENGTH);
    ibv_wr_set_ud_addr(qp, ah, e.qp->qp_num, QKEY);
    CHECK(!ibv_wr_complete(qp));
}

static void once(unsigned char *which, uint64_t n)
{
    CHECK(n < MESSAGES && !which[n]++);
}

// SRD has no order: a receive request takes any message.
static void completed(int received, uint64_t id)
{
    once(done[received], id);
    if (!received) return;
    int n;
    memcpy(&n, e.buffer + target(id), sizeof n);
    once(done[2], n);
}

static void take(struct ibv_cq_ex *cq)
{
    CHECK(cq->status == IBV_WC_SUCCESS);
    int received = !!(ibv_wc_read_opcode(cq) & IBV_WC_RECV);
    completed(received, received && unsolicited ? ibv_wc_read_imm_data(cq) : cq->wr_id);
}

// Reads all that is there, or with `early` one. Returns how many there were.
static int drain(struct ibv_cq_ex *cq, int early)
{
    struct ibv_poll_cq_attr attr = {0};
    int n = 0, rc = ibv_start_poll(cq, &attr);
    CHECK(rc == 0 || rc == ENOENT);
    if (rc) return 0;
    do {
        take(cq);
        n++;
    } while (!early && !(rc = ibv_next_poll(cq)));
    CHECK(early || rc == ENOENT);
    ibv_end_poll(cq);
    return n;
}

// Sleeps for an event of the CQ of sends, and arms it anew. False if none comes.
static int event(int ms)
{
    struct pollfd fd = {e.channel->fd, POLLIN, 0};
    int n;
    do n = poll(&fd, 1, ms);
    while (n < 0 && errno == EINTR);
    CHECK(n >= 0);
    if (!n) return 0;
    struct ibv_cq *cq;
    void *context;
    CHECK(!ibv_get_cq_event(e.channel, &cq, &context) && cq == ibv_cq_ex_to_cq(cqs[0]));
    ibv_ack_cq_events(cq, 1);
    CHECK(!ibv_req_notify_cq(cq, 0));
    return 1;
}

// All messages, so many at a time: no more than the CQs have room for. With a channel it sleeps for each `nap`th message, and polls for the others.
static void exchange(int batch, int early, int nap)
{
    for (int sent = 0; sent < MESSAGES;) {
        int first = sent, left = 0;
        for (; sent < MESSAGES && sent < first + batch; sent++, left += 2) send_message(sent);
        for (double end = seconds() + LIMIT; left;) {
            if (e.channel && first % nap == 0) CHECK(event(LIMIT * 1000));
            left -= drain(cqs[0], early && !first);
            if (cqs[1] != cqs[0]) left -= drain(cqs[1], early && !first);
            if (seconds() > end) {
                fprintf(stderr, "stuck after %d messages, with %d completions missing\n", first, left);
                _exit(1);
            }
        }
        for (int n = first; n < sent; n++) CHECK(done[0][n] && done[1][n] && done[2][n]);
    }
    CHECK(!drain(cqs[0], 0) && !drain(cqs[1], 0));
}

static void run(int send_cqe, int recv_cqe, int batch, int early)
{
    open_all(send_cqe, recv_cqe);
    exchange(1, early, 1);
    memset(done, 0, sizeof done);
    exchange(batch, early, 1);
    close_all();
}

static void channel(void)
{
    e.events = 1;
    open_all(64, 0);
    CHECK(!ibv_req_notify_cq(ibv_cq_ex_to_cq(cqs[0]), 0));
    exchange(1, 0, 1);
    memset(done, 0, sizeof done);
    exchange(20, 0, 1);
    memset(done, 0, sizeof done);
    exchange(1, 0, 100);
    // What was read since the last "arm" the device doesn't know, so one event may be there early. Now everything is told.
    CHECK(!ibv_req_notify_cq(ibv_cq_ex_to_cq(cqs[0]), 0));
    int early = event(1000);
    CHECK(!drain(cqs[0], 0) && (!early || !event(1000)));
    close_all();
}

static void told(void)
{
    open_end(&e, 0, -1);
    ah = address(&e, e.gid);
    struct ibv_cq *cq = ibv_create_cq(e.ctx, 16, NULL, NULL, 0);
    CHECK(cq && cq->cqe == 16);
    CHECK(open_qp(cq, cq));
    for (int round = 0; round < 50; round++) {
        memset(done, 0, sizeof done);
        for (int n = 0; n < DEPTH; n++) send_message(n);
        double end = seconds() + LIMIT;
        for (int got = 0, n; got < 2 * DEPTH; got += n) {
            struct ibv_wc wc;
            CHECK((n = ibv_poll_cq(cq, 1, &wc)) >= 0 && seconds() < end);
            if (!n) continue;
            CHECK(wc.status == IBV_WC_SUCCESS);
            completed(!!(wc.opcode & IBV_WC_RECV), wc.wr_id);
        }
        CHECK(done[0][DEPTH - 1] && done[1][DEPTH - 1] && done[2][DEPTH - 1]);
    }
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    if (!strcmp(kind, "default")) {
        run(64, 0, 30, 0);
    } else if (!strcmp(kind, "large") || !strcmp(kind, "early")) {
        for (int cqe = 128; cqe <= 1024; cqe *= 8) run(cqe, 0, DEPTH, *kind == 'e');
    } else if (!strcmp(kind, "small")) {
        run(16, 0, 8, 0);
        run(16, 0, 8, 1);
    } else if (!strcmp(kind, "two")) {
        run(64, 64, DEPTH, 0);
        run(32, 16, 16, 0);
    } else if (!strcmp(kind, "channel")) {
        channel();
    } else if (!strcmp(kind, "unsolicited")) {
        unsolicited = 1;
        run(64, 0, 30, 0);
        run(64, 32, 32, 0);
        run(1024, 1024, DEPTH, 1);
    } else if (!strcmp(kind, "told")) {
        told();
    } else {
        fprintf(stderr, "usage: extended default|large|early|small|two|channel|unsolicited|told\n");
        return 2;
    }
    printf("extended %s: ok\n", kind);
    return 0;
}
