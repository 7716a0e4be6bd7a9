/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an EFA's failures look like: every status of the device, those that real mistakes give, and a device that is pulled. */
#include <stdio.h>
#include <string.h>

#include "srd.h"

enum { TARGET = 32768 };

static struct srd_side s;
static vbn_peer *self;

static void open_self(const struct srd_setup *setup) {
    srd_open(&s, setup);
    self = srd_self(&s);
}

static void close_self(void) {
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

static vbn_send_wr request(uint32_t opcode, uint64_t wr_id) {
    return srd_wr_at(&s, self, &s, opcode, wr_id, 0, TARGET, 64);
}

/* What can fail at its own end: READ, and messages where there is none. */
static uint32_t any_opcode(void) {
    return s.caps & VBN_EFA_CAP_RDMA_READ ? VBN_WR_RDMA_READ : VBN_WR_SEND;
}

/* ---- statuses by fault ---- */

/* The device's codes by the names that vbn_explain gives them, and the status that every rdma-core from 44 on makes of them; -1:
 * older ones make another one. */
static const struct {
    uint32_t code;
    int32_t status;
    const char *name;
} codes[] = {
    {1, VBN_WC_WR_FLUSH_ERR, "FLUSHED"},
    {2, VBN_WC_LOC_QP_OP_ERR, "QP_INTERNAL_ERROR"},
    {3, VBN_WC_LOC_QP_OP_ERR, "UNSUPPORTED_OP"},
    {4, VBN_WC_LOC_QP_OP_ERR, "INVALID_AH"},
    {5, VBN_WC_LOC_PROT_ERR, "INVALID_LKEY"},
    {6, VBN_WC_LOC_LEN_ERR, "BAD_LENGTH"},
    {7, -1, "BAD_ADDRESS"},
    {8, VBN_WC_REM_ABORT_ERR, "ABORT"},
    {9, VBN_WC_REM_INV_RD_REQ_ERR, "BAD_DEST_QPN"},
    {10, VBN_WC_RNR_RETRY_EXC_ERR, "RNR"},
    {11, VBN_WC_REM_INV_REQ_ERR, "BAD_LENGTH"},
    {12, VBN_WC_BAD_RESP_ERR, "BAD_STATUS"},
    {13, VBN_WC_RESP_TIMEOUT_ERR, "UNRESP_REMOTE"},
    {14, -1, "UNKNOWN_PEER"},
    {15, -1, "UNREACH_REMOTE"},
    {16, VBN_WC_GENERAL_ERR, "16"},
    {17, VBN_WC_GENERAL_ERR, "17"},
    {18, -1, "FEATURE_MISMATCH"},
    {200, VBN_WC_GENERAL_ERR, "200"},
};
enum { CODES = sizeof codes / sizeof codes[0] };

static void check_code(const vbn_wc *wc, int i) {
    CHECK_UEQ(wc->wr_id, (uint64_t)i);
    CHECK_UEQ(wc->vendor_err, codes[i].code);
    CHECK(wc->status != VBN_WC_SUCCESS);
    if (codes[i].status >= 0) CHECK_EQ(wc->status, codes[i].status);
    CHECK_UEQ(wc->qp_num, vbn_qp_num(s.qp));
    srd_explained(wc, codes[i].name);
}

/* Request i gets code i: by a plain queue and by one with fields, one after another and all at once. */
static void inner_statuses(void) {
    static const struct srd_setup setups[2] = {{0}, {.fields = VBN_WC_EX_STANDARD}};
    vbn_wc first, wcs[CODES];
    vbn_wc_ext ext[CODES];
    vbn_send_wr wrs[CODES];
    uint32_t posted = 0;
    open_self(&setups[0]);
    for (int i = 0; i < CODES; i++) {
        vbn_send_wr wr = request(any_opcode(), (uint64_t)i);
        srd_post(&s, &wr);
        srd_wait(&s, 1, wcs);
        check_code(wcs, i);
        CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "RTS");
    }
    CHECK_OK(vbn_qp_first_error(s.qp, &first));
    CHECK_UEQ(first.wr_id, 1); /* a flush is no first error */
    srd_alive(&s, &s, self);
    close_self();
    open_self(&setups[1]);
    for (int i = 0; i < CODES; i++) wrs[i] = request(any_opcode(), (uint64_t)i);
    CHECK_OK(vbn_qp_post_send(s.qp, wrs, CODES, &posted));
    srd_wait_ext(&s, CODES, ext);
    for (int i = 0; i < CODES; i++) {
        CHECK_UEQ(ext[i].fields, VBN_WC_EX_QP_NUM);
        check_code(&ext[i].wc, i);
    }
    CHECK_OK(vbn_qp_first_error(s.qp, &first));
    CHECK(first.wr_id != 0);
    srd_alive(&s, &s, self);
    close_self();
}

static void statuses(void) {
    char rules[2048];
    int n = 0, reads = !!(srd_caps(test_device()) & VBN_EFA_CAP_RDMA_READ);
    /* Among messages there is one more, between the rounds: the sign of life. */
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < CODES; i++)
            n += snprintf(rules + n, sizeof rules - (size_t)n, "status %u for request %d op %s\n", codes[i].code, round * (CODES + !reads) + i + 1, reads ? "read" : "send");
    under_faults(rules, "statuses");
}

/* One failed request of each operation among good ones, as far as the device has it. */
static void inner_operations(void) {
    vbn_wc wcs[2];
    open_self(NULL);
    for (uint64_t i = 1; i <= 3; i++) {
        vbn_send_wr wr = request(VBN_WR_SEND, i);
        if (i != 2) srd_recv(&s, 100 + i, TARGET, 64);
        srd_post(&s, &wr);
        srd_wait(&s, i == 2 ? 1 : 2, wcs); /* the failed one takes no receive */
        CHECK_UEQ(wcs[0].vendor_err, i == 2 ? 12 : 0);
        if (!(s.caps & VBN_EFA_CAP_RDMA_WRITE)) continue;
        fill(s.memory, 64, (uint32_t)i);
        memset(s.memory + TARGET, 0, 64);
        wr = request(VBN_WR_RDMA_WRITE, i);
        srd_post(&s, &wr);
        srd_wait(&s, 1, wcs);
        CHECK_UEQ(wcs[0].vendor_err, i == 2 ? 8 : 0);
        CHECK_EQ(memcmp(s.memory + TARGET, s.memory, 64) == 0, i != 2);
    }
    close_self();
}

static void operations(void) {
    under_faults("status 12 for request 2 op send\nstatus 8 for request 2 op write\n", "operations");
}

/* The peer seems to have gone, and the data arrive all the same: buffers of a failed request may still change. */
static void inner_late_data(void) {
    open_self(NULL);
    fill(s.memory + TARGET, 64, 5);
    memset(s.memory, 0, 64);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1);
    srd_post(&s, &wr);
    vbn_wc wc = srd_failed(&s, 1, 13);
    CHECK_EQ(wc.status, VBN_WC_RESP_TIMEOUT_ERR);
    srd_explained(&wc, "UNRESP_REMOTE");
    CHECK(memcmp(s.memory, s.memory + TARGET, 64) != 0);
    for (int i = 0; i < 60000 && memcmp(s.memory, s.memory + TARGET, 64) != 0; i++) {
        srd_no_wc(&s);
        sleep_ms(1);
    }
    CHECK_MEM(s.memory, s.memory + TARGET, 64);
    srd_alive(&s, &s, self);
    close_self();
}

static void late_data(void) {
    need_read();
    under_faults("late-dma 500ms for request 1 op read\n", "late_data");
}

/* A queue that stands still fills up; what was posted completes when it goes on. */
static void inner_stalled(void) {
    enum { MOST = 200 };
    static vbn_send_wr wrs[MOST];
    static vbn_wc wcs[MOST];
    uint32_t posted = 0;
    open_self(NULL);
    uint32_t depth = qp_info(s.qp).max_send_wr;
    CHECK(depth < MOST);
    for (uint32_t i = 0; i < MOST; i++) wrs[i] = request(VBN_WR_RDMA_READ, i);
    CHECK_STATUS(vbn_qp_post_send(s.qp, wrs, MOST, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, depth);
    srd_wait(&s, depth, wcs);
    for (uint32_t i = 0; i < depth; i++) {
        CHECK_OK(vbn_wc_check(wcs + i));
        CHECK_UEQ(wcs[i].wr_id, i);
    }
    srd_alive(&s, &s, self);
    close_self();
}

static void stalled(void) {
    need_read();
    under_faults("stall 200ms for request 5\n", "stalled");
}

/* A lost completion: an event says so, and the queue works on. */
static void inner_overflow(void) {
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1);
    srd_post(&s, &wr);
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_OK(vbn_context_get_async_event(s.context, PATIENCE, &event));
    CHECK_EQ(event.type, VBN_EVENT_CQ_ERR);
    CHECK_EQ(event.kind, VBN_ELEMENT_CQ);
    CHECK_UEQ(event.known, 1);
    wr.wr_id = 2;
    srd_run(&s, &wr);
    close_self();
}

static void overflow(void) {
    need_read();
    under_faults("cq-overflow for completion 1 event\n", "overflow");
}

/* ---- statuses by mistake ---- */

static void fails_with(vbn_send_wr wr, uint32_t code, const char *part) {
    srd_post(&s, &wr);
    vbn_wc wc = srd_failed(&s, wr.wr_id, code);
    srd_explained(&wc, part);
}

static void local_mistakes(void) {
    open_self(NULL);
    vbn_send_wr wr = request(any_opcode(), 1);
    wr.sge.lkey ^= 0x5a5a5a;
    fails_with(wr, 5, "INVALID_LKEY");
    wr = request(any_opcode(), 2); /* beyond the region */
    wr.sge.addr += s.size - 63;
    fails_with(wr, 5, "INVALID_LKEY");
    vbn_mr *gone = NULL;
    CHECK_OK(vbn_mr_reg(s.pd, s.memory, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &gone));
    wr = request(VBN_WR_SEND, 3);
    wr.sge.lkey = vbn_mr_lkey(gone);
    CHECK_OK(vbn_mr_close(&gone));
    fails_with(wr, 5, "INVALID_LKEY");
    srd_alive(&s, &s, self);
    close_self();
}

static void remote_mistakes(void) {
    need_read();
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1);
    wr.rkey ^= 0x5a5a5a;
    fails_with(wr, 7, "BAD_ADDRESS");
    wr = request(VBN_WR_RDMA_READ, 2);
    wr.remote_addr += s.size;
    fails_with(wr, 7, "BAD_ADDRESS");
    vbn_mr *local = NULL; /* not readable from afar */
    CHECK_OK(vbn_mr_reg(s.pd, s.memory, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &local));
    wr = request(VBN_WR_RDMA_READ, 3);
    wr.rkey = vbn_mr_rkey(local);
    wr.remote_addr = vbn_mr_remote_addr(local);
    fails_with(wr, 7, "BAD_ADDRESS");
    CHECK_OK(vbn_mr_close(&local));
    srd_alive(&s, &s, self);
    close_self();
}

/* A queue pair that is no more, another QKEY, a datagram queue pair: the peer's record is an old or a wrong one. */
static void wrong_records(void) {
    static const struct srd_setup datagram = {.qp_type = VBN_QPT_UD};
    open_self(NULL);
    vbn_qp *gone = srd_another_qp(&s, NULL), *ud = srd_another_qp(&s, &datagram);
    vbn_peer *to_gone = srd_peer_of(&s, gone), *to_ud = srd_peer_of(&s, ud), *to_other_key = NULL;
    CHECK_OK(vbn_qp_close(&gone));
    vbn_endpoint endpoint = s.endpoint;
    endpoint.qkey ^= 1;
    CHECK_OK(vbn_peer_from_endpoint(s.pd, &endpoint, NULL, &to_other_key));
    srd_recv(&s, 50, TARGET, 64);
    vbn_peer *peers[3] = {to_gone, to_ud, to_other_key};
    for (uint64_t i = 0; i < 3; i++) {
        vbn_send_wr wr = request(VBN_WR_SEND, i);
        wr.peer = peers[i];
        fails_with(wr, 9, "BAD_DEST_QPN");
    }
    vbn_wc wcs[2]; /* the receive is still there */
    vbn_send_wr wr = request(VBN_WR_SEND, 9);
    srd_post(&s, &wr);
    srd_wait(&s, 2, wcs);
    CHECK_UEQ(wcs[1].wr_id, 50);
    for (int i = 0; i < 3; i++) CHECK_OK(vbn_peer_close(&peers[i]));
    CHECK_OK(vbn_qp_close(&ud));
    close_self();
}

static void unreachable(void) {
    vbn_endpoint endpoint = {.gid = {0xfe, 0x80, [15] = 0xee}, .qp_num = 1, .qkey = 1};
    vbn_peer *nobody = NULL;
    open_self(NULL);
    CHECK_OK(vbn_peer_from_endpoint(s.pd, &endpoint, NULL, &nobody));
    vbn_send_wr wr = request(VBN_WR_SEND, 1);
    wr.peer = nobody;
    fails_with(wr, 15, "security group");
    CHECK_OK(vbn_peer_close(&nobody));
    srd_alive(&s, &s, self);
    close_self();
}

/* The peer's queue pair goes away in the middle of a transfer. */
static void inner_peer_resets(void) {
    open_self(NULL);
    vbn_qp *second = srd_another_qp(&s, NULL);
    vbn_peer *there = srd_peer_of(&s, second);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1);
    wr.peer = there;
    srd_post(&s, &wr);
    CHECK_OK(vbn_qp_close(&second));
    srd_failed(&s, 1, 9);
    CHECK_OK(vbn_peer_close(&there));
    srd_alive(&s, &s, self);
    close_self();
}

static void peer_resets(void) {
    need_read();
    under_faults("delay 500ms for request 1\n", "peer_resets");
}

/* What waits in the queue when the queue pair is closed never completes, and its memory is free. */
static void inner_closed_in_flight(void) {
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1);
    srd_post(&s, &wr);
    srd_recv(&s, 2, TARGET, 64);
    CHECK_OK(vbn_qp_close(&s.qp));
    CHECK_OK(vbn_mr_close(&s.mr));
    sleep_ms(800);
    CHECK_UEQ(srd_drain(&s), 0);
    close_self();
}

static void closed_in_flight(void) {
    need_read();
    under_faults("delay 500ms for request 1\n", "closed_in_flight");
}

/* ---- a device that is pulled ---- */

static void check_gone(const char *call, vbn_status status) {
    if (status != VBN_ERR_DEVICE_GONE) FAIL("%s: %s (%d), %s", call, vbn_status_name(status), status, test_last_error());
}
#define CHECK_GONE(call) check_gone(#call, call)

static void inner_removed(void) {
    static const struct srd_setup with_channel = {.with_channel = 1};
    open_self(&with_channel);
    vbn_peer *second = srd_self(&s);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1);
    srd_run(&s, &wr);
    srd_post(&s, &wr); /* with this one it is pulled */
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_OK(vbn_context_get_async_event(s.context, PATIENCE, &event));
    CHECK_EQ(event.type, VBN_EVENT_DEVICE_FATAL);

    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    vbn_peer *peer = NULL;
    vbn_wc wc;
    vbn_wc_ext ext;
    uint32_t n = 99;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 16};
    vbn_qp_info info = {.struct_size = sizeof info};
    vbn_endpoint other = {.gid = {0xfe, 0x80, [15] = 1}}, own;
    static const struct srd_setup usual;
    vbn_recv_wr recv = {.num_sge = 1, .sge = wr.sge};
    CHECK_GONE(vbn_pd_alloc(s.context, NULL, &pd));
    CHECK_GONE(vbn_mr_reg(s.pd, s.memory, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    CHECK_GONE(vbn_cq_create(s.context, &cq_attr, &cq));
    CHECK_GONE(srd_create_qp(&s, &usual, &qp));
    CHECK_GONE(vbn_qp_query(s.qp, &info));
    CHECK_GONE(srd_prepare(s.qp, s.qkey));
    CHECK_GONE(vbn_endpoint_local(s.qp, &own));
    CHECK_GONE(vbn_peer_from_endpoint(s.pd, &other, NULL, &peer));
    CHECK_GONE(vbn_qp_post_send(s.qp, &wr, 1, &n));
    CHECK_UEQ(n, 0);
    CHECK_GONE(vbn_qp_post_recv(s.qp, &recv, 1, &n));
    CHECK_GONE(vbn_cq_poll(s.cq, 1, &wc, &n));
    CHECK_UEQ(n, 0);
    CHECK_GONE(vbn_cq_poll_ext(s.cq, 1, &ext, sizeof ext, &n));
    CHECK_GONE(vbn_cq_arm(s.cq, 0));
    CHECK_GONE(vbn_cq_wait(s.cq, 1, &wc, 0, SECOND, &n));
    CHECK_GONE(vbn_pd_trim_ahs(s.pd, 0, &n));
    CHECK_OK(vbn_peer_close(&second));
    close_self(); /* every close works */
}

static void removed(void) {
    need_read();
    under_faults("remove device 0 at request 2\n", "removed");
}

/* Nobody reads the event: waiting ends all the same, and so does closing. */
static void inner_removed_unseen(void) {
    struct srd_setup other = {.device = need_second()};
    vbn_wc wc;
    uint32_t n = 99;
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1);
    srd_post(&s, &wr);
    CHECK_STATUS(vbn_cq_wait(s.cq, 1, &wc, 0, SECOND / 5, &n), VBN_ERR_TIMEOUT);
    vbn_pd *pd = NULL;
    vbn_status status = vbn_pd_alloc(s.context, NULL, &pd); /* the handles don't know yet */
    CHECK(status == VBN_ERR_DEVICE_GONE || status == VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, 5);
    close_self();
    /* The other device is there still. */
    open_self(&other);
    srd_alive(&s, &s, self);
    close_self();
}

static void removed_unseen(void) {
    need_read();
    need_second();
    under_faults("remove device 0 at request 1\n", "removed_unseen");
}

/* Every command fails once, in turn: an error that names call and errno, nothing left behind, and a second try works. */
static void inner_commands(void) {
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    vbn_peer *peer = NULL;
    static const struct srd_setup usual;
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16};
    open_self(NULL);
    vbn_live_info before = live_info(s.context);
    CHECK_STATUS(vbn_pd_alloc(s.context, NULL, &pd), VBN_ERR_NO_MEMORY);
    CHECK_STATUS(vbn_mr_reg(s.pd, s.memory, 64, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_NO_MEMORY);
    CHECK_HAS(test_error().message, "ibv_reg_mr");
    CHECK_STATUS(vbn_cq_create(s.context, &attr, &cq), VBN_ERR_NO_MEMORY);
    CHECK_STATUS(srd_create_qp(&s, &usual, &qp), VBN_ERR_NO_MEMORY);
    CHECK_HAS(test_error().message, "efadv_create_qp_ex");
    CHECK_EQ(test_error().sys_errno, 12);
    vbn_live_info after = live_info(s.context);
    CHECK_MEM(&after, &before, sizeof after);
    CHECK_OK(srd_create_qp(&s, &usual, &qp));
    CHECK_STATUS(srd_prepare(qp, s.qkey), VBN_ERR_DRIVER);
    CHECK_OK(srd_prepare(qp, s.qkey));
    peer = srd_peer_of(&s, qp);
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_OK(vbn_qp_close(&qp));
    srd_alive(&s, &s, self);
    close_self();
}

static void commands(void) {
    under_faults("fail command alloc_pd 2 errno 12\nfail command reg_mr 2 errno 12\nfail command create_cq 2 errno 12\nfail command create_qp 2 errno 12\n"
                 "fail command modify_qp 5 errno 22\n",
                 "commands");
}

static const struct test tests[] = {
    {"statuses", statuses},
    {"operations", operations},
    {"late_data", late_data},
    {"stalled", stalled},
    {"overflow", overflow},
    {"local_mistakes", local_mistakes},
    {"remote_mistakes", remote_mistakes},
    {"wrong_records", wrong_records},
    {"unreachable", unreachable},
    {"peer_resets", peer_resets},
    {"closed_in_flight", closed_in_flight},
    {"removed", removed},
    {"removed_unseen", removed_unseen},
    {"commands", commands},
    {NULL, NULL},
};

static const struct test inner[] = {
    {"statuses", inner_statuses},
    {"operations", inner_operations},
    {"late_data", inner_late_data},
    {"stalled", inner_stalled},
    {"overflow", inner_overflow},
    {"peer_resets", inner_peer_resets},
    {"closed_in_flight", inner_closed_in_flight},
    {"removed", inner_removed},
    {"removed_unseen", inner_removed_unseen},
    {"commands", inner_commands},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return srd_main("srd_faults", tests, inner, argc, argv);
}
