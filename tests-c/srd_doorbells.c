/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One doorbell a batch, as softnic's trace has it: libefa rings within the lock that it posts under, and while a trace is written softnic looks
 * after each such lock. So a batch that is rung for request by request would be as many lines.
 */
#include <stdio.h>
#include <string.h>

#include "srd.h"

enum { BATCH = 32, SINGLES = 3, TARGET = 32768, SIZE = 64, ROOM = SIZE + GRH, MOST = 512, FIRST_RECV = 1000 };

static struct srd_side s;
static vbn_peer *self;

/* ---- what is posted, in a run with a trace ---- */

static void post_receives(uint32_t count) {
    vbn_recv_wr wrs[BATCH];
    uint32_t posted = 0;
    for (uint32_t i = 0; i < count; i++)
        wrs[i] = (vbn_recv_wr){.wr_id = FIRST_RECV + i, .num_sge = 1, .sge = {vbn_mr_remote_addr(s.mr) + TARGET + i * ROOM, ROOM, vbn_mr_lkey(s.mr)}};
    CHECK_OK(vbn_qp_post_recv(s.qp, wrs, count, &posted));
    CHECK_UEQ(posted, count);
}

/* All that were posted end well, with as many receives as there are messages. */
static void completed(uint32_t sends, uint32_t receives) {
    vbn_wc wcs[2 * BATCH];
    srd_wait(&s, sends + receives, wcs);
    for (uint32_t i = 0; i < sends + receives; i++) {
        CHECK_OK(vbn_wc_check(wcs + i));
        CHECK_EQ(wcs[i].wr_id >= FIRST_RECV, i >= sends);
    }
}

/* One call for a batch. Every other request is of `opcode`, the rest are messages. */
static void batch_of(uint32_t opcode) {
    vbn_send_wr wrs[BATCH];
    uint32_t posted = 0, messages = 0;
    for (uint32_t i = 0; i < BATCH; i++) {
        uint32_t op = i % 2 ? opcode : VBN_WR_SEND;
        wrs[i] = srd_wr_at(&s, self, &s, op, i, i * SIZE, TARGET / 2 + i * SIZE, SIZE);
        messages += op == VBN_WR_SEND || op == VBN_WR_SEND_WITH_IMM;
    }
    post_receives(messages);
    CHECK_OK(vbn_qp_post_send(s.qp, wrs, BATCH, &posted));
    CHECK_UEQ(posted, BATCH);
    completed(BATCH, messages);
}

/* More than the queue holds: what there is room for is posted, in a few batches. */
static void overfull(void) {
    enum { ASKED = BATCH + 8 };
    vbn_send_wr wrs[ASKED];
    uint32_t posted = 0;
    for (uint32_t i = 0; i < ASKED; i++) wrs[i] = srd_wr(&s, self, VBN_WR_SEND, i, 0, SIZE);
    post_receives(BATCH);
    CHECK_STATUS(vbn_qp_post_send(s.qp, wrs, ASKED, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, BATCH);
    completed(BATCH, BATCH);
}

static void post_all(int32_t qp_type) {
    struct srd_setup setup = {.qp_type = qp_type, .send_wr = BATCH, .recv_wr = 2 * BATCH};
    int rdma = qp_type == VBN_QPT_SRD;
    srd_open(&s, &setup);
    self = srd_self(&s);
    post_receives(1);
    vbn_send_wr wr = srd_wr(&s, self, VBN_WR_SEND, 0, 0, SIZE);
    srd_post(&s, &wr);
    completed(1, 1);
    batch_of(VBN_WR_SEND);
    batch_of(VBN_WR_SEND_WITH_IMM);
    batch_of(rdma && s.caps & VBN_EFA_CAP_RDMA_READ ? VBN_WR_RDMA_READ : VBN_WR_SEND);
    batch_of(rdma && s.caps & VBN_EFA_CAP_RDMA_WRITE ? VBN_WR_RDMA_WRITE : VBN_WR_SEND);
    post_receives(SINGLES);
    for (wr.wr_id = 0; wr.wr_id < SINGLES; wr.wr_id++) srd_post(&s, &wr);
    completed(SINGLES, SINGLES);
    overfull();
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

static void inner_srd(void) { post_all(VBN_QPT_SRD); }
static void inner_ud(void) { post_all(VBN_QPT_UD); }

/* ---- what the trace says ---- */

struct rings {
    uint32_t count, brought[MOST]; /* requests, or receive descriptors, by each */
};

/* The rings of the one queue pair that there is, of its queue "sq" or "rq". */
static struct rings rings_of(const char *trace, const char *queue) {
    struct rings rings = {0};
    unsigned qp = 0, sum = 0;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "doorbell %s ", queue);
    for (const char *at = trace; (at = strstr(at, wanted)) != NULL; at++) {
        unsigned number, value, brought;
        const char *line = at;
        while (line > trace && line[-1] != '\n') line--;
        const char *name = strstr(line, " qp ");
        CHECK(name != NULL && name < at);
        CHECK_EQ(sscanf(name, " qp %u: doorbell %*s %u: %u posted", &number, &value, &brought), 3);
        CHECK(qp == 0 || qp == number);
        qp = number;
        sum += brought;
        CHECK_UEQ(value, sum);
        CHECK(rings.count < MOST);
        rings.brought[rings.count++] = brought;
    }
    return rings;
}

static void check_rings(const struct rings *rings, const uint32_t *wanted, uint32_t count) {
    CHECK(rings->count >= count);
    for (uint32_t i = 0; i < count; i++) CHECK_UEQ(rings->brought[i], wanted[i]);
}

/* `rdma`: every other request of the batches of READ and WRITE takes no receive. */
static void rung_once(const char *name, int rdma) {
    uint64_t caps = srd_caps(test_device());
    uint32_t reads = rdma && caps & VBN_EFA_CAP_RDMA_READ ? BATCH / 2 : BATCH, writes = rdma && caps & VBN_EFA_CAP_RDMA_WRITE ? BATCH / 2 : BATCH;
    const uint32_t sends[] = {1, BATCH, BATCH, BATCH, BATCH, 1, 1, 1}, receives[] = {1, BATCH, BATCH, reads, writes, SINGLES, BATCH};
    enum { SENDS = sizeof sends / sizeof sends[0], RECEIVES = sizeof receives / sizeof receives[0] };
    char *trace = under_trace(name);
    struct rings sq = rings_of(trace, "sq"), rq = rings_of(trace, "rq");
    free(trace);
    check_rings(&sq, sends, SENDS);
    check_rings(&rq, receives, RECEIVES);
    CHECK_UEQ(rq.count, RECEIVES);
    uint32_t prefix = 0;
    for (uint32_t i = SENDS; i < sq.count; i++) prefix += sq.brought[i];
    CHECK_UEQ(prefix, BATCH);
    CHECK(sq.count - SENDS <= 6); /* as often as the batch can be halved */
}

static void srd(void) { rung_once("srd", 1); }
static void ud(void) { rung_once("ud", 0); }

static const struct test tests[] = {{"srd", srd}, {"ud", ud}, {NULL, NULL}};
static const struct test inner[] = {{"srd", inner_srd}, {"ud", inner_ud}, {NULL, NULL}};

int main(int argc, char **argv) { return srd_main("srd_doorbells", tests, inner, argc, argv); }
