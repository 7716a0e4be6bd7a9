/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Failed requests: status, message, state afterwards, and the cause among the flushes. */
#include <stdio.h>
#include <string.h>

#include "common.h"

static struct pair p;

/* A short wait before giving up. */
static const vbn_rc_attr hasty = {
    .struct_size = sizeof hasty,
    .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT | VBN_RC_SET_RNR_RETRY | VBN_RC_SET_MIN_RNR_TIMER,
    .timeout = 12,
    .retry_cnt = 1,
    .rnr_retry = 1,
    .min_rnr_timer = 1,
};

static void open_hasty(void) {
    struct setup setup = {.rc = &hasty};
    pair_open_connected(&p, &setup);
}

/* Waits until the queue pair is in the error state: some devices get there after the completion is seen. */
static void check_in_error(vbn_qp *qp) {
    for (int i = 0; i < 500 && qp_state(qp) != VBN_QPS_ERR; i++) sleep_ms(10);
    CHECK_STR(vbn_qp_state_name(qp_state(qp)), "ERR");
}

static void check_explained(const vbn_wc *wc, const char *words) {
    CHECK_STATUS(vbn_wc_check(wc), VBN_ERR_COMPLETION);
    vbn_error_info error = test_error();
    CHECK_STR(error.op_name, "vbn_wc_check");
    CHECK_EQ(error.vendor_domain, VBN_VENDOR_WC);
    CHECK_EQ(error.vendor_code, wc->vendor_err);
    CHECK_UEQ(error.value, wc->status);
    CHECK_HAS(error.message, words);
}

/* The failure is the cause that is kept, and everything behind it is flushed. */
static void check_first_error(struct side *side, const vbn_wc *wc) {
    vbn_wc first;
    memset(&first, 0, sizeof first);
    CHECK_OK(vbn_qp_first_error(side->qp, &first));
    CHECK_UEQ(first.wr_id, wc->wr_id);
    CHECK_EQ(first.status, wc->status);
    CHECK_UEQ(first.qp_num, vbn_qp_num(side->qp));
}

static void wrong_rkey(void) {
    open_hasty();
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 31, 0, 100);
    wr.rkey ^= 0x5a;
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    CHECK_UEQ(wc.wr_id, 31);
    CHECK_STR(vbn_wc_status_name(wc.status), "REM_ACCESS_ERR");
    check_explained(&wc, "rkey");
    check_in_error(p.a.qp);
    check_first_error(&p.a, &wc);
    pair_close(&p);
}

static void beyond_the_region(void) {
    open_hasty();
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 32, 0, 100);
    wr.remote_addr += p.b.size - 99;
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    CHECK_EQ(wc.status, VBN_WC_REM_ACCESS_ERR);
    pair_close(&p);
}

/* What the region or the queue pair does not allow, the peer can't do. */
static void not_allowed(uint64_t mr_access, uint32_t qp_access, uint32_t opcode) {
    vbn_rc_attr rc = hasty;
    rc.set |= VBN_RC_SET_ACCESS;
    rc.access = qp_access;
    struct setup setup = {.rc = &rc, .access = mr_access};
    pair_open_connected(&p, &setup);
    fill(p.a.memory, 16, 1);
    fill(p.b.memory, 16, 1);
    vbn_send_wr wr = send_wr(&p.a, &p.b, opcode, 33, 0, 16);
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    test_note("region 0x%x, queue pair 0x%x, %s: %s", (unsigned)mr_access, qp_access, vbn_wr_opcode_name(opcode),
              vbn_wc_status_name(wc.status));
    CHECK(wc.status == VBN_WC_REM_ACCESS_ERR || wc.status == VBN_WC_REM_INV_REQ_ERR);
    pair_close(&p);
}

static void access_of_region(void) {
    uint32_t all = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ;
    not_allowed(VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, all, VBN_WR_RDMA_WRITE);
    not_allowed(VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE, all, VBN_WR_RDMA_READ);
}

static void access_of_queue_pair(void) {
    not_allowed(ACCESS_ALL, VBN_ACCESS_REMOTE_READ, VBN_WR_RDMA_WRITE);
    not_allowed(ACCESS_ALL, VBN_ACCESS_REMOTE_WRITE, VBN_WR_RDMA_READ);
}

static void wrong_lkey(void) {
    open_hasty();
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 34, 0, 100);
    wr.sge.lkey ^= 0x5a;
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    CHECK_UEQ(wc.wr_id, 34);
    test_note("a wrong lkey completes with %s", vbn_wc_status_name(wc.status));
    /* The specification says LOC_PROT_ERR; soft-RoCE of Linux 6.1 LOC_QP_OP_ERR, of 6.12 WR_FLUSH_ERR. */
    CHECK(wc.status == VBN_WC_LOC_PROT_ERR || wc.status == VBN_WC_LOC_QP_OP_ERR || wc.status == VBN_WC_WR_FLUSH_ERR);
    check_in_error(p.a.qp);
    for (unsigned i = 0; i < 100; i++) CHECK_EQ(p.b.memory[i], 0);
    pair_close(&p);
}

/* A receive whose lkey is wrong fails at both ends. */
static void wrong_lkey_of_receive(void) {
    open_hasty();
    vbn_recv_wr recv = recv_wr(&p.b, 35, 0, 100);
    recv.sge.lkey ^= 0x5a;
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_recv(p.b.qp, &recv, 1, &posted));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 36, 0, 50);
    post_send(&p.a, &wr);
    vbn_wc sent = next_wc(&p.a), received = next_wc(&p.b);
    test_note("sender %s, receiver %s", vbn_wc_status_name(sent.status), vbn_wc_status_name(received.status));
    CHECK(sent.status != VBN_WC_SUCCESS);
    CHECK(received.status != VBN_WC_SUCCESS);
    CHECK_UEQ(received.wr_id, 35);
    pair_close(&p);
}

static void receive_too_small(void) {
    open_hasty();
    post_recv(&p.b, 37, 0, 10);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 38, 0, 5000);
    post_send(&p.a, &wr);
    vbn_wc sent = next_wc(&p.a), received = next_wc(&p.b);
    test_note("sender %s, receiver %s", vbn_wc_status_name(sent.status), vbn_wc_status_name(received.status));
    CHECK(sent.status == VBN_WC_REM_INV_REQ_ERR || sent.status == VBN_WC_REM_OP_ERR);
    /* Soft-RoCE runs into the end of the list and calls that a malformed request. */
    CHECK_EQ(received.status, is_soft_roce(test_device()) ? VBN_WC_LOC_QP_OP_ERR : VBN_WC_LOC_LEN_ERR);
    if (is_soft_roce(test_device())) {
        static char text[VBN_EXPLAIN_TEXT_SIZE];
        vbn_explain_attr attr = {
            .struct_size = sizeof attr, .context = p.b.context, .status = received.status, .vendor_err = received.vendor_err, .qp_num = received.qp_num,
        };
        CHECK_OK(vbn_explain(&attr, text, sizeof text, NULL));
        CHECK_HAS(text, "Soft-RoCE (Linux 6.1) reports a wrong lkey so");
        attr.context = NULL;
        CHECK_OK(vbn_explain(&attr, text, sizeof text, NULL));
        CHECK(!strstr(text, "Soft-RoCE (Linux 6.1) reports"));
    }
    CHECK_UEQ(received.wr_id, 37);
    check_first_error(&p.b, &received);
    pair_close(&p);
}

static void no_receive(void) {
    open_hasty();
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 39, 0, 50);
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    CHECK_STR(vbn_wc_status_name(wc.status), "RNR_RETRY_EXC_ERR");
    check_explained(&wc, "receive");
    check_first_error(&p.a, &wc);
    pair_close(&p);
}

/* With rnr_retry 7 the sender waits until there is a receive. */
static void late_receive(void) {
    pair_open_connected(&p, NULL);
    CHECK_EQ(qp_info(p.a.qp).rnr_retry, 7);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 40, 0, 50);
    fill(p.a.memory, 50, 9);
    post_send(&p.a, &wr);
    sleep_ms(100);
    check_no_wc(&p.a);
    post_recv(&p.b, 41, 0, 50);
    next_ok(&p.b, 41);
    next_ok(&p.a, 40);
    CHECK_MEM(p.b.memory, p.a.memory, 50);
    pair_close(&p);
}

static void peer_is_gone(void) {
    open_hasty();
    CHECK_OK(vbn_qp_close(&p.b.qp));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 42, 0, 50);
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    CHECK_STR(vbn_wc_status_name(wc.status), "RETRY_EXC_ERR");
    check_explained(&wc, "did not answer");
    check_in_error(p.a.qp);
    check_first_error(&p.a, &wc);
    pair_close(&p);
}

/* The failure comes first, the flushes of what was behind it follow. */
static void flushes_after(void) {
    open_hasty();
    vbn_wc none;
    CHECK_STATUS(vbn_qp_first_error(p.a.qp, &none), VBN_ERR_NOT_FOUND);
    vbn_send_wr wrs[4];
    for (unsigned i = 0; i < 4; i++) wrs[i] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 50 + i, 0, 10);
    wrs[0].rkey ^= 0x77;
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 4, &posted));
    vbn_wc wc = next_wc(&p.a);
    CHECK_UEQ(wc.wr_id, 50);
    CHECK_EQ(wc.status, VBN_WC_REM_ACCESS_ERR);
    for (unsigned i = 1; i < 4; i++) {
        vbn_wc flush = next_wc(&p.a);
        CHECK_UEQ(flush.wr_id, 50 + i);
        CHECK_STR(vbn_wc_status_name(flush.status), "WR_FLUSH_ERR");
        check_explained(&flush, "vbn_qp_first_error");
        check_first_error(&p.a, &wc);
    }
    qp_force(p.a.qp, VBN_QPS_RESET);
    CHECK_STATUS(vbn_qp_first_error(p.a.qp, &none), VBN_ERR_NOT_FOUND);
    pair_close(&p);
}

/* The flushes come first: receives are flushed into their own queue, which is polled before the one with the cause. */
static void flushes_before(void) {
    vbn_cq *receives = NULL;
    vbn_qp *qp = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 16};
    side_open(&p.a, NULL);
    side_open(&p.b, NULL);
    CHECK_OK(vbn_cq_create(p.a.context, &cq_attr, &receives));
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .recv_cq = receives};
    CHECK_OK(vbn_qp_create(p.a.pd, &attr, &qp));
    CHECK_OK(vbn_qp_close(&p.a.qp));
    p.a.qp = qp;
    CHECK_OK(vbn_rc_record_local(qp, NULL, &p.a.record));
    pair_connect(&p, NULL);
    post_recv(&p.a, 60, 0, 10);
    post_recv(&p.a, 61, 0, 10);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 62, 0, 10);
    wr.rkey ^= 0x77;
    post_send(&p.a, &wr);
    check_in_error(qp);

    vbn_wc wc, first;
    uint32_t got = 0;
    for (uint64_t id = 60; id < 62; id++) {
        CHECK_OK(vbn_cq_wait(receives, 1, &wc, 0, PATIENCE, &got));
        CHECK_UEQ(wc.wr_id, id);
        CHECK_EQ(wc.status, VBN_WC_WR_FLUSH_ERR);
        CHECK_STATUS(vbn_qp_first_error(qp, &first), VBN_ERR_NOT_FOUND);
    }
    wc = next_wc(&p.a);
    CHECK_EQ(wc.status, VBN_WC_REM_ACCESS_ERR);
    check_first_error(&p.a, &wc);
    pair_close(&p);
    CHECK_OK(vbn_cq_close(&receives));
}

/* Of two failures on two queue pairs that share a completion queue each keeps its own. */
static void first_error_is_per_queue_pair(void) {
    struct side c;
    open_hasty();
    side_open(&c, NULL);
    vbn_qp *second = NULL;
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq};
    vbn_rc_record record;
    CHECK_OK(vbn_qp_create(p.a.pd, &attr, &second));
    CHECK_OK(vbn_rc_record_local(second, NULL, &record));
    CHECK_OK(vbn_qp_connect_rc(second, &record, &c.record, &hasty));
    CHECK_OK(vbn_qp_connect_rc(c.qp, &c.record, &record, &hasty));
    vbn_send_wr wr = send_wr(&p.a, &c, VBN_WR_SEND, 71, 0, 10);
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(second, &wr, 1, &posted));
    vbn_wc wc = next_wc(&p.a), first;
    CHECK_EQ(wc.status, VBN_WC_RNR_RETRY_EXC_ERR);
    CHECK_OK(vbn_qp_first_error(second, &first));
    CHECK_UEQ(first.wr_id, 71);
    CHECK_STATUS(vbn_qp_first_error(p.a.qp, &first), VBN_ERR_NOT_FOUND);
    check_alive(&p);
    CHECK_OK(vbn_qp_close(&second));
    side_close(&c);
    pair_close(&p);
}

/* RESET and a new connection heal a failed queue pair. */
static void reconnect(void) {
    open_hasty();
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 80, 0, 100);
    wr.rkey ^= 0x11;
    post_send(&p.a, &wr);
    CHECK(next_wc(&p.a).status != VBN_WC_SUCCESS);
    check_in_error(p.a.qp);
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &p.b.record, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "RESET");
    qp_force(p.a.qp, VBN_QPS_RESET);
    qp_force(p.b.qp, VBN_QPS_RESET);
    pair_connect(&p, NULL);
    check_alive(&p);
    pair_close(&p);
}

static void check_success(void) {
    vbn_wc wc;
    memset(&wc, 0, sizeof wc);
    CHECK_OK(vbn_wc_check(&wc));
}

static const struct test tests[] = {
    {"wrong_rkey", wrong_rkey},
    {"beyond_the_region", beyond_the_region},
    {"access_of_region", access_of_region},
    {"access_of_queue_pair", access_of_queue_pair},
    {"wrong_lkey", wrong_lkey},
    {"wrong_lkey_of_receive", wrong_lkey_of_receive},
    {"receive_too_small", receive_too_small},
    {"no_receive", no_receive},
    {"late_receive", late_receive},
    {"peer_is_gone", peer_is_gone},
    {"flushes_after", flushes_after},
    {"flushes_before", flushes_before},
    {"first_error_is_per_queue_pair", first_error_is_per_queue_pair},
    {"reconnect", reconnect},
    {"check_success", check_success},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("rc_errors", tests, argc, argv);
}
