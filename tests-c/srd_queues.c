/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An EFA's queues: full ones, failures among successes, completions of destroyed queue pairs, fields, waiting, threads. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "srd.h"

static struct srd_side s;
static vbn_peer *self;

enum { TARGET = 32768 };

static void open_self(const struct srd_setup *setup) {
    srd_open(&s, setup);
    self = srd_self(&s);
}

static void close_self(void) {
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

static vbn_send_wr request(uint32_t opcode, uint64_t wr_id, uint32_t length) {
    return srd_wr_at(&s, self, &s, opcode, wr_id, 0, TARGET, length);
}

/* ---- by READ, or by messages where there is no READ ---- */

/* Who gets the messages: a side of its own, so that a queue holds what was sent alone. */
static struct srd_side sink;
static vbn_peer *to_sink;

static int by_message(void) {
    return !(s.caps & VBN_EFA_CAP_RDMA_READ);
}

/* With so many receives of 64 bytes, where there is no READ. */
static void open_sink(uint32_t receives) {
    const struct srd_setup setup = {.recv_wr = receives, .cqe = receives, .size = 64 * receives};
    if (!by_message()) return;
    srd_open(&sink, &setup);
    to_sink = srd_peer(&s, &sink);
    for (uint32_t i = 0; i < receives; i++) srd_recv(&sink, i, 64 * i, 64);
}

static void close_sink(void) {
    if (!by_message()) return;
    CHECK_OK(vbn_peer_close(&to_sink));
    srd_close(&sink);
}

static vbn_send_wr some_request(uint64_t wr_id, uint32_t length) {
    return by_message() ? srd_wr(&s, to_sink, VBN_WR_SEND, wr_id, 0, length) : request(VBN_WR_RDMA_READ, wr_id, length);
}

/* ---- failures ---- */

/* Each message of 16 bytes has come once, whichever receive it met; the one that failed has not. */
static void all_arrived(uint32_t count, uint32_t but) {
    static vbn_wc wcs[1024];
    static uint8_t came[1024];
    CHECK(count <= 1024);
    memset(came, 0, sizeof came);
    srd_wait(&sink, count - 1, wcs);
    for (uint32_t i = 0; i + 1 < count; i++) {
        CHECK_OK(vbn_wc_check(wcs + i));
        uint32_t from = 0;
        while (from < count && (came[from] || memcmp(sink.memory + 64 * wcs[i].wr_id, s.memory + 16 * from, 16) != 0)) from++;
        CHECK(from < count && from != but);
        came[from] = 1;
    }
}

/* A failure is its own request's: the others complete, the queue pair works on, nothing is flushed. */
static void one_of_a_thousand(void) {
    enum { ALL = 1000, BAD = 501 };
    static const struct srd_setup deep = {.send_wr = ALL, .cqe = 2 * ALL};
    static vbn_send_wr wrs[ALL];
    static vbn_wc wcs[ALL];
    uint32_t posted = 0;
    vbn_wc first;
    open_self(&deep);
    open_sink(ALL);
    int reads = !by_message();
    for (uint32_t i = 0; i < ALL; i++) {
        wrs[i] = some_request(i, 16);
        wrs[i].sge.addr += 16 * i;
        wrs[i].remote_addr += 16 * i;
    }
    fill(s.memory + (reads ? TARGET : 0), 16 * ALL, 3);
    if (reads) wrs[BAD].rkey ^= 0x5a5a5a;
    else wrs[BAD].sge.lkey ^= 0x5a5a5a;
    CHECK_STATUS(vbn_qp_first_error(s.qp, &first), VBN_ERR_NOT_FOUND);
    CHECK_OK(vbn_qp_post_send(s.qp, wrs, ALL, &posted));
    CHECK_UEQ(posted, ALL);
    srd_wait(&s, ALL, wcs);
    for (uint32_t i = 0; i < ALL; i++) {
        CHECK_UEQ(wcs[i].wr_id, i);
        if (i != BAD) CHECK_OK(vbn_wc_check(wcs + i));
    }
    CHECK_UEQ(wcs[BAD].vendor_err, reads ? 7 : 5);
    CHECK(wcs[BAD].status != VBN_WC_SUCCESS);
    srd_explained(wcs + BAD, reads ? "BAD_ADDRESS" : "INVALID_LKEY");
    if (reads) {
        CHECK_MEM(s.memory, s.memory + TARGET, 16 * BAD);
        CHECK_MEM(s.memory + 16 * (BAD + 1), s.memory + TARGET + 16 * (BAD + 1), 16 * (ALL - BAD - 1));
    } else {
        all_arrived(ALL, BAD);
    }
    CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "RTS");
    CHECK_OK(vbn_qp_first_error(s.qp, &first));
    CHECK_UEQ(first.wr_id, BAD);
    CHECK_UEQ(first.vendor_err, reads ? 7 : 5);
    close_sink();
    srd_alive(&s, &s, self);
    close_self();
}

/* The first failure is kept, whichever way completions are taken, until the queue pair goes to RESET. */
static void first_error(void) {
    static const struct srd_setup extended = {.fields = VBN_WC_EX_STANDARD};
    vbn_wc first;
    vbn_wc_ext wc;
    need_read();
    open_self(&extended);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 4, 16);
    wr.rkey ^= 0x5a5a5a;
    srd_post(&s, &wr);
    srd_wait_ext(&s, 1, &wc);
    CHECK_UEQ(wc.wc.vendor_err, 7);
    CHECK_UEQ(wc.fields, VBN_WC_EX_QP_NUM);
    wr.wr_id = 5;
    wr.rkey = vbn_mr_rkey(s.mr);
    wr.sge.lkey ^= 0x5a5a5a;
    srd_post(&s, &wr);
    srd_failed(&s, 5, 5);
    CHECK_OK(vbn_qp_first_error(s.qp, &first));
    CHECK_UEQ(first.wr_id, 4);
    qp_force(s.qp, VBN_QPS_RESET);
    CHECK_STATUS(vbn_qp_first_error(s.qp, &first), VBN_ERR_NOT_FOUND);
    CHECK_OK(srd_prepare(s.qp, s.qkey));
    srd_alive(&s, &s, self);
    close_self();
}

/* No receive is posted, and rnr_retry is 0: an error of that request. */
static void receiver_not_ready(void) {
    static const struct srd_setup hasty = {.set_rnr_retry = 1, .rnr_retry = 0};
    open_self(&hasty);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    srd_post(&s, &wr);
    vbn_wc wc = srd_failed(&s, 1, 10);
    CHECK_EQ(wc.status, VBN_WC_RNR_RETRY_EXC_ERR);
    srd_explained(&wc, "receive");
    srd_alive(&s, &s, self);
    close_self();
}

/* rnr_retry 7: the sender waits until the receiver is ready. */
static void receiver_late(void) {
    vbn_wc wcs[2];
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    srd_post(&s, &wr);
    sleep_ms(20);
    srd_no_wc(&s);
    srd_recv(&s, 2, TARGET, 64);
    srd_wait(&s, 2, wcs);
    for (int i = 0; i < 2; i++) CHECK_OK(vbn_wc_check(wcs + i));
    close_self();
}

/* The receive that is too short is used up; the sender learns of it. */
static void receive_too_short(void) {
    vbn_wc wcs[2];
    open_self(NULL);
    srd_recv(&s, 2, TARGET, 63);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    srd_post(&s, &wr);
    srd_wait(&s, 2, wcs);
    CHECK_UEQ(wcs[0].vendor_err, 11);
    CHECK_EQ(wcs[0].status, VBN_WC_REM_INV_REQ_ERR);
    srd_explained(wcs, "BAD_LENGTH");
    CHECK(wcs[1].status != VBN_WC_SUCCESS);
    srd_alive(&s, &s, self);
    close_self();
}

/* ---- full queues ---- */

/* Posts `count` of which `room` fit; the rest is posted when the queue has been polled. */
static void overfill(vbn_send_wr *wrs, uint32_t count, uint32_t room) {
    static vbn_wc wcs[256];
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_send(s.qp, wrs, count, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, room);
    vbn_error_info error = test_error();
    CHECK_UEQ(error.index, room);
    CHECK_UEQ(error.limit, qp_info(s.qp).max_send_wr);
    CHECK_HAS(error.message, "poll completions");
    CHECK_STATUS(vbn_qp_post_send(s.qp, wrs + room, count - room, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, 0);
    srd_wait(&s, qp_info(s.qp).max_send_wr, wcs); /* exactly so many were posted */
    for (uint32_t i = 0; i < qp_info(s.qp).max_send_wr; i++) CHECK_OK(vbn_wc_check(wcs + i));
    CHECK_OK(vbn_qp_post_send(s.qp, wrs + room, count - room, &posted));
    CHECK_UEQ(posted, count - room);
    srd_wait(&s, count - room, wcs);
    for (uint32_t i = 0; i < count - room; i++) {
        CHECK_OK(vbn_wc_check(wcs + i));
        CHECK_UEQ(wcs[i].wr_id, wrs[room + i].wr_id);
    }
}

/* Requests of one kind, and of several: the library fills the queue to the last place in both ways of posting. */
static void fill_up(int mixed, uint32_t before) {
    static const struct srd_setup small = {.send_wr = 64, .send_sge = 2};
    static vbn_send_wr wrs[256];
    uint32_t posted = 0;
    open_self(&small);
    open_sink(256);
    uint32_t depth = qp_info(s.qp).max_send_wr, count = depth + 37;
    CHECK(depth >= 64 && count <= 256);
    vbn_sge list = {.addr = vbn_mr_remote_addr(s.mr) + 8, .length = 8, .lkey = vbn_mr_lkey(s.mr)};
    for (uint32_t i = 0; i < count; i++) {
        wrs[i] = some_request(1000 + i, 8);
        if (mixed && i % 3 == 1) wrs[i].sg_list = &list;
    }
    if (before) {
        CHECK_OK(vbn_qp_post_send(s.qp, wrs, before, &posted));
        CHECK_UEQ(posted, before);
    }
    overfill(wrs + before, count - before, depth - before);
    close_sink();
    srd_alive(&s, &s, self);
    close_self();
}

static void send_queue_full(void) {
    fill_up(0, 0);
}
static void send_queue_full_mixed(void) {
    fill_up(1, 0);
}
static void send_queue_full_partly(void) {
    fill_up(0, 3);
    fill_up(1, 61);
    fill_up(0, 64);
}

/* One wrong request among too many: nothing is posted at all, though a prefix would fit. */
static void wrong_before_full(void) {
    static const struct srd_setup small = {.send_wr = 64};
    static vbn_send_wr wrs[200];
    open_self(&small);
    for (uint32_t i = 0; i < 200; i++) wrs[i] = request(VBN_WR_SEND, i, 8);
    wrs[199].flags = 0;
    srd_refused(s.qp, wrs, 200, VBN_ERR_ARGUMENT, 199, "not signaled");
    srd_no_wc(&s);
    close_self();
}

/* More receives than the queue holds; each is there once. */
static void receive_queue_full(void) {
    static const struct srd_setup small = {.recv_wr = 64};
    static vbn_recv_wr wrs[256];
    static vbn_wc wcs[512];
    uint32_t posted = 99;
    open_self(&small);
    uint32_t depth = qp_info(s.qp).max_recv_wr, count = depth + 5;
    CHECK(depth >= 64 && count <= 256);
    for (uint32_t i = 0; i < count; i++)
        wrs[i] = (vbn_recv_wr){.wr_id = 1000 + i, .num_sge = 1,
                               .sge = {.addr = vbn_mr_remote_addr(s.mr) + TARGET + 8 * i, .length = 8, .lkey = vbn_mr_lkey(s.mr)}};
    CHECK_STATUS(vbn_qp_post_recv(s.qp, wrs, count, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, depth);
    CHECK_UEQ(test_error().index, depth);
    CHECK_STATUS(vbn_qp_post_recv(s.qp, wrs + depth, 1, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, 0);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 8);
    for (uint32_t i = 0; i < depth; i++) {
        srd_post(&s, &wr);
        srd_wait(&s, 2, wcs + 2 * i);
        CHECK_UEQ(wcs[2 * i + 1].wr_id, 1000 + i);
    }
    CHECK_OK(vbn_qp_post_recv(s.qp, wrs + depth, count - depth, &posted));
    CHECK_UEQ(posted, count - depth);
    close_self();
}

/* SEND, READ and WRITE in one call, two segments and inline data among them. */
static void mixed_batch(void) {
    static const struct srd_setup wide = {.send_sge = 2, .inline_data = 16};
    vbn_wc wcs[8];
    uint32_t posted = 0, count = 0;
    need_read();
    open_self(&wide);
    fill(s.memory, 4096, 4);
    fill(s.memory + TARGET, 4096, 5);
    vbn_sge two[2] = {{.addr = vbn_mr_remote_addr(s.mr), .length = 10, .lkey = vbn_mr_lkey(s.mr)},
                      {.addr = vbn_mr_remote_addr(s.mr) + 20, .length = 6, .lkey = vbn_mr_lkey(s.mr)}};
    vbn_send_wr wrs[5];
    wrs[count++] = srd_wr_at(&s, self, &s, VBN_WR_RDMA_READ, 0, 8192, TARGET, 100);
    wrs[count] = request(VBN_WR_SEND, 1, 0);
    wrs[count].sg_list = two;
    wrs[count++].num_sge = 2;
    wrs[count] = request(VBN_WR_SEND_WITH_IMM, 2, 16);
    wrs[count].imm = 3;
    wrs[count++].flags |= VBN_SEND_INLINE;
    if (s.caps & VBN_EFA_CAP_RDMA_WRITE) wrs[count++] = srd_wr_at(&s, self, &s, VBN_WR_RDMA_WRITE, 3, 0, 40000, 100);
    for (uint64_t i = 0; i < 2; i++) srd_recv(&s, 100 + i, 50000 + 64 * i, 64);
    CHECK_OK(vbn_qp_post_send(s.qp, wrs, count, &posted));
    CHECK_UEQ(posted, count);
    srd_wait(&s, count + 2, wcs);
    for (uint32_t i = 0; i < count + 2; i++) CHECK_OK(vbn_wc_check(wcs + i));
    CHECK_MEM(s.memory + 8192, s.memory + TARGET, 100);
    if (count == 4) CHECK_MEM(s.memory + 40000, s.memory, 100);
    /* SRD keeps no order: either message may have come first. */
    const vbn_wc *with_imm = wcs + count + (wcs[count].wc_flags & VBN_WC_WITH_IMM ? 0 : 1);
    CHECK_UEQ(with_imm->imm, 3);
    CHECK_MEM(s.memory + 50000 + 64 * (with_imm->wr_id - 100), s.memory, 16);
    CHECK_MEM(s.memory + 50000 + 64 * (101 - with_imm->wr_id), s.memory, 10);
    close_self();
}

/* ---- completions of destroyed queue pairs ---- */

/* Leaves `count` completions of a queue pair that is no more in the queue. */
static void leave_stale(uint32_t count) {
    uint32_t posted = 0;
    vbn_qp *gone = srd_another_qp(&s, NULL);
    vbn_peer *there = srd_peer_of(&s, gone);
    memset(s.memory + 1024, 0, 8 * count);
    memset(s.memory + TARGET, 0x5a, 8 * count);
    for (uint32_t i = 0; i < count; i++) {
        vbn_send_wr wr = srd_wr_at(&s, there, &s, VBN_WR_RDMA_READ, 7000 + i, 1024 + 8 * i, TARGET + 8 * i, 8);
        CHECK_OK(vbn_qp_post_send(gone, &wr, 1, &posted));
    }
    /* When the data are there, the completions are about to be. */
    for (int i = 0; i < 60000 && memcmp(s.memory + 1024, s.memory + TARGET, 8 * count) != 0; i++) sleep_ms(1);
    CHECK_MEM(s.memory + 1024, s.memory + TARGET, 8 * count);
    sleep_ms(20);
    CHECK_OK(vbn_peer_close(&there));
    CHECK_OK(vbn_qp_close(&gone));
}

static uint64_t skipped(void) {
    vbn_cq_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_cq_query(s.cq, &info));
    return info.skipped;
}

/* They are passed over and counted, by every way of taking completions; what is behind them comes in the same call. */
static void stale_completions(void) {
    static const struct srd_setup extended = {.fields = VBN_WC_EX_STANDARD};
    vbn_wc wc;
    vbn_wc_ext ext[16];
    uint32_t got = 99;
    need_read();
    open_self(&extended);
    CHECK_UEQ(skipped(), 0);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1, 8);
    leave_stale(5);
    CHECK_OK(vbn_cq_poll(s.cq, 1, &wc, &got)); /* nothing but stale ones */
    CHECK_UEQ(got, 0);
    CHECK_UEQ(skipped(), 5);
    leave_stale(3);
    srd_run(&s, &wr);
    CHECK_UEQ(skipped(), 8);
    leave_stale(4);
    srd_post(&s, &wr);
    srd_wait_ext(&s, 1, ext);
    CHECK_UEQ(ext[0].wc.wr_id, 1);
    CHECK_OK(vbn_wc_check(&ext[0].wc));
    CHECK_UEQ(skipped(), 12);
    leave_stale(2);
    CHECK_OK(vbn_cq_poll_ext(s.cq, 16, ext, sizeof ext[0], &got));
    CHECK_UEQ(got, 0);
    CHECK_UEQ(skipped(), 14);
    close_self();
}

/* In between others: none of those is lost, and vbn_cq_poll_ext finds all in one call. (libefa's ibv_poll_cq drops one that ends its array
 * without a word, and ends its array there: so vbn_cq_poll may take several calls, and no count from it is exact.) */
static void stale_between(uint64_t fields, int by_ext) {
    const struct srd_setup setup = {.fields = fields};
    vbn_wc_ext ext[16];
    vbn_wc wcs[16];
    uint32_t found = 0, got = 0;
    need_read();
    open_self(&setup);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t at = 2048 + 8 * i;
        fill(s.memory + TARGET, 8, 100 + i);
        vbn_send_wr wr = srd_wr_at(&s, self, &s, VBN_WR_RDMA_READ, 10 + i, at, TARGET, 8);
        srd_post(&s, &wr);
        for (int ms = 0; ms < 60000 && memcmp(s.memory + at, s.memory + TARGET, 8) != 0; ms++) sleep_ms(1);
        sleep_ms(20);
        leave_stale(2);
    }
    uint64_t ids = 0;
    for (int polls = 0; found < 4 && polls < (by_ext ? 1 : 1000); polls++) {
        if (by_ext) CHECK_OK(vbn_cq_poll_ext(s.cq, 16, ext, sizeof ext[0], &got));
        else CHECK_OK(vbn_cq_poll(s.cq, 16, wcs, &got));
        for (uint32_t i = 0; i < got; i++) ids |= UINT64_C(1) << (by_ext ? ext[i].wc.wr_id : wcs[i].wr_id);
        found += got;
    }
    CHECK_UEQ(found, 4);
    CHECK_UEQ(ids, 0xf << 10);
    if (by_ext && fields) CHECK_UEQ(skipped(), 8);
    CHECK_UEQ(srd_drain(&s), 0);
    if (!by_ext || !fields) CHECK(skipped() >= 1 && skipped() <= 8);
    close_self();
}

static void stale_between_plain(void) {
    stale_between(VBN_WC_EX_STANDARD, 0);
    stale_between(0, 0);
}
static void stale_between_ext(void) {
    stale_between(VBN_WC_EX_STANDARD, 1);
    stale_between(0, 1);
}

/* ---- fields ---- */

static void receive_with_fields(uint64_t fields) {
    const struct srd_setup setup = {.fields = fields};
    vbn_wc_ext wcs[2];
    open_self(&setup);
    srd_recv(&s, 2, TARGET, 64);
    vbn_send_wr wr = request(VBN_WR_SEND_WITH_IMM, 1, 40);
    wr.imm = 0x11223344;
    srd_post(&s, &wr);
    srd_wait_ext(&s, 2, wcs);
    CHECK_UEQ(wcs[0].fields, fields & ~(uint64_t)(VBN_WC_EX_IMM | VBN_WC_EX_SGID));
    CHECK_UEQ(wcs[1].fields, fields & ~(uint64_t)VBN_WC_EX_SGID);
    const vbn_wc *wc = &wcs[1].wc;
    CHECK_UEQ(wc->wr_id, 2);
    CHECK_EQ(wc->status, VBN_WC_SUCCESS);
    CHECK_EQ(wc->opcode, VBN_WC_RECV);
    CHECK_UEQ(wc->vendor_err, 0);
    CHECK(wc->wc_flags & VBN_WC_WITH_IMM);
    CHECK_UEQ(wc->byte_len, fields & VBN_WC_EX_BYTE_LEN ? 40 : 0);
    CHECK_UEQ(wc->imm, fields & VBN_WC_EX_IMM ? 0x11223344 : 0);
    CHECK_UEQ(wc->qp_num, fields & VBN_WC_EX_QP_NUM ? vbn_qp_num(s.qp) : 0);
    CHECK_UEQ(wc->src_qp, fields & VBN_WC_EX_SRC_QP ? vbn_qp_num(s.qp) : 0);
    CHECK_UEQ(wc->sl, 0);
    CHECK_UEQ(wc->dlid_path_bits, 0);
    /* A failure tells what it can. */
    int reads = !!(s.caps & VBN_EFA_CAP_RDMA_READ);
    if (reads) wr.opcode = VBN_WR_RDMA_READ, wr.rkey ^= 0x5a5a5a;
    else wr.sge.lkey ^= 0x5a5a5a;
    srd_post(&s, &wr);
    srd_wait_ext(&s, 1, wcs);
    CHECK_UEQ(wcs[0].fields, fields & VBN_WC_EX_QP_NUM);
    CHECK_UEQ(wcs[0].wc.vendor_err, reads ? 7 : 5);
    CHECK_UEQ(wcs[0].wc.qp_num, fields & VBN_WC_EX_QP_NUM ? vbn_qp_num(s.qp) : 0);
    close_self();
}

/* Every subset of what a plain completion holds: a reader that was not asked for is NULL in libefa, and must not be called. */
static void reduced_fields(void) {
    for (uint64_t fields = 1; fields <= VBN_WC_EX_STANDARD; fields++) receive_with_fields(fields);
    if (srd_caps(test_device()) & VBN_EFA_CAP_CQ_WITH_SGID) {
        receive_with_fields(VBN_WC_EX_SGID);
        receive_with_fields(VBN_WC_EX_SGID | VBN_WC_EX_STANDARD);
    }
}

/* Elements of a larger struct; what lies between them is left alone. */
static void stride(void) {
    struct {
        vbn_wc_ext wc;
        uint64_t own[3];
    } room[3];
    uint32_t got = 0, posted = 0;
    need_read();
    open_self(NULL);
    memset(room, 0x77, sizeof room);
    vbn_send_wr wrs[2] = {request(VBN_WR_RDMA_READ, 1, 8), request(VBN_WR_RDMA_READ, 2, 8)};
    CHECK_OK(vbn_qp_post_send(s.qp, wrs, 2, &posted));
    sleep_ms(50);
    CHECK_STATUS(vbn_cq_poll_ext(s.cq, 3, &room[0].wc, sizeof(vbn_wc_ext) - 8, &got), VBN_ERR_ARGUMENT);
    CHECK_UEQ(got, 0);
    uint32_t found = 0;
    for (int polls = 0; found < 2 && polls < 1000; polls++) {
        CHECK_OK(vbn_cq_poll_ext(s.cq, 2 - found, &room[found].wc, sizeof room[0], &got));
        found += got;
        sleep_ms(1);
    }
    CHECK_UEQ(room[0].wc.wc.wr_id + room[1].wc.wc.wr_id, 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) CHECK_UEQ(room[i].own[j], UINT64_C(0x7777777777777777));
    CHECK_UEQ(room[2].wc.wc.wr_id, UINT64_C(0x7777777777777777));
    close_self();
}

/* ---- waiting ---- */

/* Stands before the C library's: notes the main thread's sleeps. */
static pthread_t watched;
static atomic_int watching;
static int64_t sleeps[4096];
static int sleep_count;

int nanosleep(const struct timespec *time, struct timespec *left) {
    if (atomic_load(&watching) && pthread_equal(pthread_self(), watched) && sleep_count < 4096)
        sleeps[sleep_count++] = (int64_t)time->tv_sec * SECOND + time->tv_nsec;
    return clock_nanosleep(CLOCK_REALTIME, 0, time, left) == 0 ? 0 : -1;
}

static uint8_t wait_mode(vbn_cq *cq) {
    vbn_cq_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_cq_query(cq, &info));
    return info.wait_mode;
}

/* Runs under "delay": the completion comes late. */
static void wait_late(void) {
    vbn_wc wc;
    uint32_t got = 99;
    int reads = !!(s.caps & VBN_EFA_CAP_RDMA_READ);
    vbn_send_wr wr = request(reads ? VBN_WR_RDMA_READ : VBN_WR_SEND, 1, 8);
    if (!reads) srd_recv(&s, 2, TARGET, 64);
    srd_post(&s, &wr);
    watched = pthread_self();
    sleep_count = 0;
    atomic_store(&watching, 1);
    vbn_status status = vbn_cq_wait(s.cq, 1, &wc, 0, PATIENCE, &got);
    atomic_store(&watching, 0);
    CHECK_OK(status);
    CHECK_UEQ(got, 1);
    CHECK_OK(vbn_wc_check(&wc));
    if (reads) {
        CHECK_UEQ(wc.wr_id, 1);
        return;
    }
    /* Of a message there are two, in whichever order. */
    srd_ok(&s, wc.wr_id == 1 ? 2 : 1);
}

/* Without a channel it sleeps between polls, from 10 microseconds to a millisecond, and says so. */
static void check_growing_sleeps(void) {
    CHECK_UEQ(wait_mode(s.cq), VBN_CQ_WAIT_SLEEP);
    wait_late();
    CHECK(sleep_count > 10);
    CHECK_EQ(sleeps[0], 10000);
    for (int i = 1; i < sleep_count; i++) CHECK_EQ(sleeps[i], sleeps[i - 1] * 2 > 1000000 ? 1000000 : sleeps[i - 1] * 2);
}

static void inner_wait_polls(void) {
    open_self(NULL);
    check_growing_sleeps();
    close_self();
}

static void inner_wait_sleeps(void) {
    static const struct srd_setup with_channel = {.with_channel = 1};
    open_self(&with_channel);
    CHECK_UEQ(wait_mode(s.cq), VBN_CQ_WAIT_EVENT);
    wait_late();
    CHECK_EQ(sleep_count, 0);
    close_self();
}

/* A device that knows no notifications: the refusal says what to do, and that works. */
static void inner_no_notifications(void) {
    vbn_channel *channel = NULL;
    vbn_cq *cq = NULL;
    vbn_context *context = NULL;
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_channel_create(context, NULL, &channel));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .channel = channel};
    CHECK_STATUS(vbn_cq_create(context, &attr, &cq), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "create the queue without a channel, and vbn_cq_wait polls");
    attr.fields = VBN_WC_EX_STANDARD;
    CHECK_STATUS(vbn_cq_create(context, &attr, &cq), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "create the queue without a channel, and vbn_cq_wait polls");
    CHECK_OK(vbn_channel_close(&channel));
    CHECK_OK(vbn_context_close(&context));
    inner_wait_polls();
}

static void wait_polls(void) {
    under_faults("delay 1000ms for request 1\n", "wait_polls");
}
static void need_notifications(void) {
    if (srd_no_notifications()) SKIP("needs completion notifications, which the device lacks");
}

static void wait_sleeps(void) {
    need_notifications();
    under_faults("delay 1000ms for request 1\n", "wait_sleeps");
}
static void no_notifications(void) {
    /* Where the device has none itself, libefa doesn't even ask it. */
    under_faults(srd_no_notifications() ? "delay 1000ms for request 1\n" : "delay 1000ms for request 1\nfail command create_cq 1..2 errno 95\n", "no_notifications");
}

static void wait_times_out(void) {
    static const struct srd_setup setups[2] = {{0}, {.with_channel = 1}};
    vbn_wc wc;
    for (int i = 0; i < (srd_no_notifications() ? 1 : 2); i++) {
        uint32_t got = 99;
        open_self(&setups[i]);
        CHECK_STATUS(vbn_cq_wait(s.cq, 1, &wc, 0, SECOND / 100, &got), VBN_ERR_TIMEOUT);
        CHECK_UEQ(got, 0);
        CHECK_STATUS(vbn_cq_wait(s.cq, 1, &wc, SECOND / 200, SECOND / 100, &got), VBN_ERR_TIMEOUT);
        CHECK_STATUS(vbn_cq_wait(s.cq, 1, &wc, 0, 0, &got), VBN_ERR_TIMEOUT);
        srd_alive(&s, &s, self);
        close_self();
    }
}

/* Arm, sleep on the descriptor, take the event, poll; twice. */
static void channel_events(void) {
    static const struct srd_setup with_channel = {.with_channel = 1, .fields = VBN_WC_EX_STANDARD};
    need_notifications();
    need_read();
    open_self(&with_channel);
    for (uint64_t round = 1; round <= 2; round++) {
        vbn_cq_event event = {.struct_size = sizeof event};
        while (vbn_channel_get_event(s.channel, 0, &event) == VBN_OK) {
        }
        CHECK_OK(vbn_cq_arm(s.cq, 0));
        vbn_send_wr wr = request(VBN_WR_RDMA_READ, round, 8);
        srd_post(&s, &wr);
        CHECK_OK(vbn_channel_get_event(s.channel, PATIENCE, &event));
        /* It names the queue. */
        vbn_cq_info info = {.struct_size = sizeof info};
        CHECK_OK(vbn_cq_query(s.cq, &info));
        CHECK_EQ(event.known, 1);
        CHECK_EQ(event.kind, VBN_ELEMENT_CQ);
        CHECK_UEQ(event.number, info.handle);
        srd_ok(&s, round);
    }
    close_self();
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 300 };

struct worker {
    struct srd_side side;
    vbn_peer *peer;
    uint64_t first;
    struct problem problem;
};

static struct worker workers[THREADS];

static void run_all(void *(*body)(void *), int count) {
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++) {
        workers[i].problem.text[0] = 0;
        CHECK_EQ(pthread_create(&threads[i], NULL, body, &workers[i]), 0);
    }
    for (int i = 0; i < count; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < count; i++)
        if (workers[i].problem.text[0]) FAIL("thread %d: %s", i, workers[i].problem.text);
}

static int read_round(struct worker *w, uint32_t round) {
    struct srd_side *side = &w->side;
    vbn_wc wc;
    uint32_t n = 0;
    fill(side->memory + TARGET, 1000, round + (uint32_t)w->first);
    vbn_send_wr wr = srd_wr_at(side, w->peer, side, VBN_WR_RDMA_READ, round, 0, TARGET, 1000);
    vbn_status status = vbn_qp_post_send(side->qp, &wr, 1, &n);
    if (status != VBN_OK) return wrong(&w->problem, "post", status);
    status = vbn_cq_wait(side->cq, 1, &wc, 0, PATIENCE, &n);
    if (status != VBN_OK) return wrong(&w->problem, "wait", status);
    if (wc.status != VBN_WC_SUCCESS || wc.wr_id != round) return wrong(&w->problem, "completion", wc.status);
    if (memcmp(side->memory, side->memory + TARGET, 1000) != 0) return wrong(&w->problem, "data of round", round);
    return 0;
}

static void *read_loop(void *arg) {
    struct worker *w = arg;
    for (uint32_t round = 0; round < ROUNDS; round++)
        if (read_round(w, round)) break;
    return NULL;
}

static void threads_own_queues(void) {
    need_read();
    for (int i = 0; i < THREADS; i++) {
        srd_open(&workers[i].side, NULL);
        workers[i].peer = srd_self(&workers[i].side);
        workers[i].first = 10000u * (unsigned)i;
    }
    run_all(read_loop, THREADS);
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(vbn_peer_close(&workers[i].peer));
        srd_close(&workers[i].side);
    }
}

enum { EACH = 1000, IN_FLIGHT = 48 };
static atomic_int seen[2 * EACH];
static atomic_int polled, ended[2];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void take(struct worker *w) {
    vbn_wc wcs[8];
    uint32_t got = 0;
    vbn_status status = vbn_cq_poll(s.cq, 8, wcs, &got);
    if (status != VBN_OK) wrong(&w->problem, "poll", status);
    for (uint32_t i = 0; i < got; i++) {
        if (wcs[i].status != VBN_WC_SUCCESS || wcs[i].wr_id >= 2 * EACH) {
            wrong(&w->problem, "completion", wcs[i].status);
            continue;
        }
        atomic_fetch_add(&seen[wcs[i].wr_id], 1);
        atomic_fetch_add(&ended[wcs[i].wr_id / EACH], 1);
        atomic_fetch_add(&polled, 1);
    }
}

static uint32_t post_some(struct worker *w, uint64_t i, uint32_t most) {
    vbn_send_wr wrs[3];
    uint32_t posted = 0, count = EACH - i < most ? (uint32_t)(EACH - i) : most;
    for (uint32_t j = 0; j < count; j++) wrs[j] = request(VBN_WR_RDMA_READ, w->first + i + j, 16);
    vbn_status status = vbn_qp_post_send(s.qp, wrs, count, &posted);
    if (status != VBN_OK && status != VBN_ERR_QUEUE_FULL) wrong(&w->problem, "post", status);
    return posted;
}

static void take_rest(struct worker *w) {
    while (atomic_load(&polled) < 2 * EACH && !w->problem.text[0]) {
        take(w);
        sched_yield();
    }
}

/* Never more in flight than there is room for. */
static void *share_with_room(void *arg) {
    struct worker *w = arg;
    int own = w->first != 0;
    for (uint64_t i = 0; i < EACH && !w->problem.text[0];) {
        if ((int)i - atomic_load(&ended[own]) <= IN_FLIGHT) i += post_some(w, i, 3);
        else take(w);
    }
    take_rest(w);
    return NULL;
}

/* Until the queue is full, one thread at a time: libefa (44 to 65) tells the result of a session after it has given the lock up, so
 * that a thread may be told that of another. */
static void *share_full(void *arg) {
    struct worker *w = arg;
    for (uint64_t i = 0; i < EACH && !w->problem.text[0];) {
        pthread_mutex_lock(&one_at_a_time);
        uint32_t posted = post_some(w, i, 3);
        pthread_mutex_unlock(&one_at_a_time);
        if (posted < 3) take(w);
        i += posted;
    }
    take_rest(w);
    return NULL;
}

static void threads_sharing(void *(*body)(void *)) {
    need_read();
    open_self(NULL);
    CHECK(qp_info(s.qp).max_send_wr >= 2 * (IN_FLIGHT + 3));
    atomic_store(&polled, 0);
    for (int i = 0; i < 2; i++) {
        workers[i].first = (unsigned)i * EACH;
        atomic_store(&ended[i], 0);
    }
    for (int i = 0; i < 2 * EACH; i++) atomic_store(&seen[i], 0);
    run_all(body, 2);
    for (int i = 0; i < 2 * EACH; i++)
        if (atomic_load(&seen[i]) != 1) FAIL("request %d completed %d times", i, atomic_load(&seen[i]));
    srd_no_wc(&s);
    close_self();
}

static void threads_one_queue(void) {
    threads_sharing(share_with_room);
}
static void threads_full_queue(void) {
    threads_sharing(share_full);
}

static const struct test tests[] = {
    {"one_of_a_thousand", one_of_a_thousand},
    {"first_error", first_error},
    {"receiver_not_ready", receiver_not_ready},
    {"receiver_late", receiver_late},
    {"receive_too_short", receive_too_short},
    {"send_queue_full", send_queue_full},
    {"send_queue_full_mixed", send_queue_full_mixed},
    {"send_queue_full_partly", send_queue_full_partly},
    {"wrong_before_full", wrong_before_full},
    {"receive_queue_full", receive_queue_full},
    {"mixed_batch", mixed_batch},
    {"stale_completions", stale_completions},
    {"stale_between_plain", stale_between_plain},
    {"stale_between_ext", stale_between_ext},
    {"reduced_fields", reduced_fields},
    {"stride", stride},
    {"wait_polls", wait_polls},
    {"wait_sleeps", wait_sleeps},
    {"no_notifications", no_notifications},
    {"wait_times_out", wait_times_out},
    {"channel_events", channel_events},
    {"threads_own_queues", threads_own_queues},
    {"threads_one_queue", threads_one_queue},
    {"threads_full_queue", threads_full_queue},
    {NULL, NULL},
};

static const struct test inner[] = {
    {"wait_polls", inner_wait_polls},
    {"wait_sleeps", inner_wait_sleeps},
    {"no_notifications", inner_no_notifications},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return srd_main("srd_queues", tests, inner, argc, argv);
}
