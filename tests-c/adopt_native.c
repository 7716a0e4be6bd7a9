/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Raw verbs on the library's own objects: lent, given away, and in the way of a close. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "common.h"

static struct pair p;

/* Raw posts and polls on lent pointers, interleaved with the library's own. */
static void lent(void) {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_comp_channel *channel;
    pair_open_connected(&p, NULL);
    CHECK_OK(vbn_context_native(p.a.context, &context));
    CHECK_OK(vbn_pd_native(p.a.pd, &pd));
    CHECK_OK(vbn_mr_native(p.a.mr, &mr));
    CHECK_OK(vbn_channel_native(p.a.channel, &channel));
    CHECK_OK(vbn_cq_native(p.a.cq, &cq));
    CHECK_OK(vbn_qp_native(p.a.qp, &qp));
    CHECK(pd->context == context && mr->pd == pd && cq->context == context && cq->channel == channel && qp->pd == pd && qp->send_cq == cq);
    CHECK_UEQ(mr->lkey, vbn_mr_lkey(p.a.mr));
    CHECK_UEQ(qp->qp_num, vbn_qp_num(p.a.qp));
    CHECK_EQ(channel->fd, vbn_channel_fd(p.a.channel));

    post_recv(&p.b, 8, 4096, 64);
    fill(p.a.memory, 64, 17);
    struct ibv_sge sge = {.addr = (uintptr_t)p.a.memory, .length = 64, .lkey = mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = 5, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED,
        .imm_data = htonl(0x11223344),
        .wr.rdma = {.remote_addr = vbn_mr_remote_addr(p.b.mr), .rkey = vbn_mr_rkey(p.b.mr)},
    };
    struct ibv_send_wr *bad;
    CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
    next_ok(&p.a, 5);
    CHECK_UEQ(next_ok(&p.b, 8).imm, 0x11223344);
    CHECK_MEM(p.b.memory, p.a.memory, 64);

    vbn_send_wr own = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 6, 100, 64);
    post_send(&p.a, &own);
    struct ibv_wc wc;
    int got = 0;
    for (int i = 0; i < 60000 && (got = ibv_poll_cq(cq, 1, &wc)) == 0; i++) sleep_ms(1);
    CHECK_EQ(got, 1);
    CHECK_UEQ(wc.wr_id, 6);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    check_alive(&p);
    pair_close(&p);
}

/* The same layout: a vbn_wc and a vbn_sge can be read as libibverbs' own. */
static void layouts(void) {
    CHECK_UEQ(sizeof(vbn_sge), sizeof(struct ibv_sge));
    CHECK_UEQ(sizeof(vbn_wc), sizeof(struct ibv_wc));
    struct ibv_wc raw;
    memset(&raw, 0, sizeof raw);
    raw.wr_id = 1;
    raw.status = IBV_WC_RETRY_EXC_ERR;
    raw.vendor_err = 2;
    raw.byte_len = 3;
    raw.qp_num = 4;
    raw.src_qp = 5;
    raw.wc_flags = 6;
    raw.pkey_index = 7;
    raw.slid = 8;
    raw.sl = 9;
    raw.dlid_path_bits = 10;
    vbn_wc wc;
    memcpy(&wc, &raw, sizeof wc);
    CHECK_UEQ(wc.wr_id, 1);
    CHECK_EQ(wc.status, VBN_WC_RETRY_EXC_ERR);
    CHECK_UEQ(wc.vendor_err, 2);
    CHECK_UEQ(wc.byte_len, 3);
    CHECK_UEQ(wc.qp_num, 4);
    CHECK_UEQ(wc.src_qp, 5);
    CHECK_UEQ(wc.wc_flags, 6);
    CHECK_UEQ(wc.pkey_index, 7);
    CHECK_UEQ(wc.slid, 8);
    CHECK_UEQ(wc.sl, 9);
    CHECK_UEQ(wc.dlid_path_bits, 10);
    CHECK_EQ(VBN_WR_RDMA_READ, IBV_WR_RDMA_READ);
    CHECK_EQ(VBN_SEND_INLINE, IBV_SEND_INLINE);
    CHECK_EQ(VBN_ACCESS_RELAXED_ORDERING, IBV_ACCESS_RELAXED_ORDERING);
}

/* Given away one by one, in an order in which nothing is in use, they are raw verbs' to destroy. */
static void released(void) {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_comp_channel *channel;
    pair_open_connected(&p, NULL);
    CHECK_STATUS(vbn_context_release(&p.a.context, &context), VBN_ERR_BUSY);
    CHECK_STATUS(vbn_pd_release(&p.a.pd, &pd), VBN_ERR_BUSY);
    CHECK_STATUS(vbn_cq_release(&p.a.cq, &cq), VBN_ERR_BUSY);
    CHECK_STATUS(vbn_channel_release(&p.a.channel, &channel), VBN_ERR_BUSY);
    check_alive(&p);
    uint32_t lkey = vbn_mr_lkey(p.a.mr);
    CHECK_OK(vbn_mr_release(&p.a.mr, &mr));
    CHECK_OK(vbn_qp_release(&p.a.qp, &qp));
    CHECK_OK(vbn_cq_release(&p.a.cq, &cq));
    CHECK_OK(vbn_channel_release(&p.a.channel, &channel));
    CHECK_OK(vbn_pd_release(&p.a.pd, &pd));
    CHECK_OK(vbn_context_release(&p.a.context, &context));
    CHECK(!p.a.mr && !p.a.qp && !p.a.cq && !p.a.channel && !p.a.pd && !p.a.context);

    /* Still connected. */
    fill(p.a.memory, 64, 18);
    struct ibv_sge sge = {.addr = (uintptr_t)p.a.memory, .length = 64, .lkey = lkey};
    struct ibv_send_wr wr = {
        .wr_id = 5, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = vbn_mr_remote_addr(p.b.mr), .rkey = vbn_mr_rkey(p.b.mr)},
    };
    struct ibv_send_wr *bad;
    struct ibv_wc wc;
    int got = 0;
    CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
    for (int i = 0; i < 60000 && (got = ibv_poll_cq(cq, 1, &wc)) == 0; i++) sleep_ms(1);
    CHECK_EQ(got, 1);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_MEM(p.b.memory, p.a.memory, 64);

    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
    CHECK_EQ(ibv_close_device(context), 0);
    side_close(&p.b);
}

/* A region that raw verbs made in our PD: its close is refused and the handle stays, until the region is gone. */
static void pd_in_use(void) {
    static char memory[4096];
    struct ibv_pd *pd;
    side_open(&p.a, NULL);
    vbn_pd *handle = NULL;
    CHECK_OK(vbn_pd_alloc(p.a.context, NULL, &handle));
    CHECK_OK(vbn_pd_native(handle, &pd));
    struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr != NULL);
    CHECK_STATUS(vbn_pd_close(&handle), VBN_ERR_BUSY);
    CHECK_EQ(test_error().sys_errno, EBUSY);
    CHECK(handle != NULL);
    vbn_pd_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_pd_query(handle, &info));
    CHECK_UEQ(info.handle, pd->handle);
    vbn_mr *own = NULL;
    CHECK_OK(vbn_mr_reg(handle, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &own));
    CHECK_OK(vbn_mr_close(&own));
    CHECK_STATUS(vbn_pd_close(&handle), VBN_ERR_BUSY);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_OK(vbn_pd_close(&handle));
    CHECK(handle == NULL);
    side_close(&p.a);
}

static struct ibv_qp *raw_qp(vbn_pd *pd_handle, vbn_cq *cq_handle) {
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    CHECK_OK(vbn_pd_native(pd_handle, &pd));
    CHECK_OK(vbn_cq_native(cq_handle, &cq));
    struct ibv_qp_init_attr init = {
        .send_cq = cq, .recv_cq = cq, .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    CHECK(qp != NULL);
    return qp;
}

/* The same for a completion queue and a raw queue pair. */
static void cq_in_use(void) {
    side_open(&p.a, NULL);
    vbn_cq *cq = NULL;
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16};
    CHECK_OK(vbn_cq_create(p.a.context, &attr, &cq));
    struct ibv_qp *qp = raw_qp(p.a.pd, cq);
    CHECK_STATUS(vbn_cq_close(&cq), VBN_ERR_BUSY);
    CHECK(cq != NULL);
    vbn_wc wc;
    uint32_t got = 9;
    CHECK_OK(vbn_cq_poll(cq, 1, &wc, &got));
    CHECK_UEQ(got, 0);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_OK(vbn_cq_close(&cq));
    side_close(&p.a);
}

/* A channel with a raw queue on it. */
static void channel_in_use(void) {
    struct ibv_context *context;
    struct ibv_comp_channel *native;
    side_open(&p.a, NULL);
    vbn_channel *channel = NULL;
    CHECK_OK(vbn_channel_create(p.a.context, NULL, &channel));
    CHECK_OK(vbn_context_native(p.a.context, &context));
    CHECK_OK(vbn_channel_native(channel, &native));
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, native, 0);
    CHECK(cq != NULL);
    CHECK_STATUS(vbn_channel_close(&channel), VBN_ERR_BUSY);
    CHECK(vbn_channel_fd(channel) >= 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    CHECK_OK(vbn_channel_close(&channel));
    side_close(&p.a);
}

/* A region with a window on it can't be deregistered: the handle and its owner stay until the window is gone. */
static void mr_with_window(void) {
    int owner;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_qp *qp;
    pair_open_connected(&p, NULL);
    CHECK_OK(vbn_mr_close(&p.a.mr));
    vbn_mr_attr attr = {.struct_size = sizeof attr, .owner = &owner};
    CHECK_OK(vbn_mr_reg(p.a.pd, p.a.memory, p.a.size, ACCESS_ALL | VBN_ACCESS_MW_BIND, &attr, &p.a.mr));
    CHECK_OK(vbn_pd_native(p.a.pd, &pd));
    CHECK_OK(vbn_mr_native(p.a.mr, &mr));
    CHECK_OK(vbn_qp_native(p.a.qp, &qp));
    struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
    if (!mw) LACKS("ibv_alloc_mw failed: errno %d", errno);
    struct ibv_mw_bind bind = {
        .wr_id = 55, .send_flags = IBV_SEND_SIGNALED,
        .bind_info = {.mr = mr, .addr = (uintptr_t)p.a.memory, .length = 4096, .mw_access_flags = IBV_ACCESS_REMOTE_WRITE},
    };
    CHECK_EQ(ibv_bind_mw(qp, mw, &bind), 0);
    vbn_wc wc = next_ok(&p.a, 55);
    CHECK_EQ(wc.opcode, VBN_WC_BIND_MW);
    vbn_status status = vbn_mr_close(&p.a.mr);
    test_note("close with a window bound: %s", status == VBN_OK ? "VBN_OK" : test_last_error());
    CHECK(status != VBN_OK);
    CHECK(p.a.mr != NULL);
    CHECK(mr_info(p.a.mr).owner == &owner);
    CHECK(vbn_mr_lkey(p.a.mr) != 0);
    check_alive(&p); /* still registered */
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    CHECK_OK(vbn_mr_close(&p.a.mr));
    pair_close(&p);
}

/* A destroy that was put off until the last user went, and was refused then: it shows as refused, and a later close retries it. */
static void deferred_and_refused(void) {
    side_open(&p.a, NULL);
    struct ibv_qp *raw = raw_qp(p.a.pd, p.a.cq);
    CHECK_OK(vbn_cq_close(&p.a.cq)); /* our queue pair still needs it */
    CHECK_OK(vbn_pd_close(&p.a.pd));
    CHECK_UEQ(live_info(p.a.context).cq_closed, 1);
    CHECK_OK(vbn_mr_close(&p.a.mr));
    vbn_status status = vbn_qp_close(&p.a.qp); /* now raw verbs' queue pair needs both */
    test_note("closing the last user: %s", vbn_status_name(status));
    CHECK_OK(status);
    vbn_live_info live = live_info(p.a.context);
    CHECK_UEQ(live.cq_refused, 1);
    CHECK_UEQ(live.pd_refused, 1);
    CHECK_UEQ(live.qp_open, 0);
    CHECK_EQ(ibv_destroy_qp(raw), 0);
    vbn_pd *other = NULL;
    CHECK_OK(vbn_pd_alloc(p.a.context, NULL, &other));
    CHECK_OK(vbn_pd_close(&other)); /* any close on the device tries again */
    live = live_info(p.a.context);
    CHECK_UEQ(live.cq_refused, 0);
    CHECK_UEQ(live.pd_refused, 0);
    CHECK_OK(vbn_channel_close(&p.a.channel));
    CHECK_OK(vbn_context_close(&p.a.context));
}

/* A failure that raw verbs polled away is not noted. */
static void first_error_of_raw_polls(void) {
    pair_open_connected(&p, NULL);
    struct ibv_cq *cq;
    CHECK_OK(vbn_cq_native(p.a.cq, &cq));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 8);
    wr.rkey ^= 0x55;
    post_send(&p.a, &wr);
    struct ibv_wc raw;
    int got = 0;
    for (int i = 0; i < 60000 && (got = ibv_poll_cq(cq, 1, &raw)) == 0; i++) sleep_ms(1);
    CHECK_EQ(raw.status, IBV_WC_REM_ACCESS_ERR);
    vbn_wc wc;
    CHECK_STATUS(vbn_qp_first_error(p.a.qp, &wc), VBN_ERR_NOT_FOUND);
    pair_close(&p);
}

/* A window of raw verbs is bound here, the peer writes through it, and its end is the handle's; one that is given away is raw verbs' to end. */
static void window_taken_in(void) {
    struct pair p;
    struct ibv_pd *pd;
    struct ibv_mw *raw;
    vbn_mw *mw;
    pair_open_connected(&p, NULL);
    CHECK_OK(vbn_mr_close(&p.a.mr));
    CHECK_OK(vbn_mr_reg(p.a.pd, p.a.memory, p.a.size, ACCESS_ALL | VBN_ACCESS_MW_BIND, NULL, &p.a.mr));
    CHECK_OK(vbn_pd_native(p.a.pd, &pd));
    if (!(raw = ibv_alloc_mw(pd, IBV_MW_TYPE_1))) LACKS("ibv_alloc_mw failed: errno %d", errno);
    vbn_adopt_attr own = {.struct_size = sizeof own, .ownership = VBN_ADOPT_OWN};
    CHECK_OK(vbn_mw_adopt(p.a.pd, raw, &own, &mw));
    vbn_mw_bind_attr bind = {.struct_size = sizeof bind, .wr_id = 56, .flags = VBN_SEND_SIGNALED, .mr = p.a.mr,
                             .addr = vbn_mr_remote_addr(p.a.mr), .length = 4096, .access = VBN_ACCESS_REMOTE_WRITE};
    uint32_t rkey;
    CHECK_OK(vbn_mw_bind(p.a.qp, mw, &bind, &rkey));
    CHECK_EQ(next_ok(&p.a, 56).opcode, VBN_WC_BIND_MW);
    CHECK_UEQ(raw->rkey, rkey);
    fill(p.b.memory, 1000, 7);
    vbn_send_wr wr = send_wr(&p.b, &p.a, VBN_WR_RDMA_WRITE, 57, 0, 1000);
    wr.rkey = rkey;
    run_send(&p.b, &wr);
    CHECK_MEM(p.a.memory, p.b.memory, 1000);
    CHECK_OK(vbn_mw_close(&mw));
    /* With the window the region is free again. */
    CHECK_OK(vbn_mr_close(&p.a.mr));
    CHECK_OK(vbn_mr_reg(p.a.pd, p.a.memory, p.a.size, ACCESS_ALL, NULL, &p.a.mr));
    CHECK_OK(vbn_mw_alloc(p.a.pd, VBN_MW_TYPE_1, NULL, &mw));
    CHECK_OK(vbn_mw_release(&mw, &raw));
    CHECK(!mw);
    CHECK_EQ(ibv_dealloc_mw(raw), 0);
    check_alive(&p);
    pair_close(&p);
}

static const struct test tests[] = {
    {"lent", lent},
    {"layouts", layouts},
    {"released", released},
    {"pd_in_use", pd_in_use},
    {"cq_in_use", cq_in_use},
    {"channel_in_use", channel_in_use},
    {"mr_with_window", mr_with_window},
    {"deferred_and_refused", deferred_and_refused},
    {"first_error_of_raw_polls", first_error_of_raw_polls},
    {"window_taken_in", window_taken_in},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("adopt_native", tests, argc, argv);
}
