/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What few devices have. Soft-RoCE resizes completion queues; of the rest neither it nor EFA has anything, and says so. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static vbn_context *context;
static vbn_pd *pd;
static vbn_cq *cq;
static uint8_t memory[8192] __attribute__((aligned(4096)));

static void open_all(void) {
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16};
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    CHECK_OK(vbn_cq_create(context, &attr, &cq));
}

static void close_all(void) {
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
}

/* The last refusal: by errno, on this device, with a remedy. */
static void absent(const char *remedy) {
    vbn_error_info error = test_error();
    test_note("%s", error.message);
    CHECK_HAS(error.message, test_device());
    CHECK_HAS(error.message, remedy);
}

static void moderation(void) {
    vbn_cq_modify_attr attr = {.struct_size = sizeof attr, .set = VBN_CQ_SET_MODERATION, .moderation_count = 4};
    vbn_device_attr device = {.struct_size = sizeof device};
    open_all();
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_UEQ(device.cq_moderation_max_count, 0);
    CHECK_STATUS(vbn_cq_modify(cq, &attr), VBN_ERR_NOT_SUPPORTED);
    absent("moderate");
    close_all();
}

/* Completions that wait are kept; a queue too small for them is refused. */
static void resize_keeps_completions(void) {
    struct setup setup = {.cqe = 8};
    vbn_cq_info info = {.struct_size = sizeof info};
    struct pair p;
    pair_open_connected(&p, &setup);
    for (uint64_t i = 0; i < 4; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 100 + i, 64 * i, 64);
        wr.flags = VBN_SEND_SIGNALED;
        post_send(&p.a, &wr);
    }
    /* Once the last one is there, the others are, too. */
    sleep_ms(1000);
    CHECK_OK(vbn_cq_resize(p.a.cq, 500));
    CHECK_OK(vbn_cq_query(p.a.cq, &info));
    CHECK(info.cqe >= 500);
    CHECK_STATUS(vbn_cq_resize(p.a.cq, 1), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EINVAL);
    CHECK_HAS(test_error().message, "more completions wait");
    for (uint64_t i = 0; i < 4; i++)
        next_ok(&p.a, 100 + i);
    CHECK_OK(vbn_cq_resize(p.a.cq, 4));
    CHECK_OK(vbn_cq_query(p.a.cq, &info));
    CHECK(info.cqe >= 4 && info.cqe < 500);
    check_alive(&p);
    pair_close(&p);
}

static void resize(void) {
    vbn_cq_info before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    open_all();
    CHECK_OK(vbn_cq_query(cq, &before));
    vbn_status status = vbn_cq_resize(cq, 1000);
    CHECK_EQ(status, is_soft_roce(test_device()) ? VBN_OK : VBN_ERR_NOT_SUPPORTED);
    if (status)
        absent("deep enough");
    CHECK_OK(vbn_cq_query(cq, &after));
    CHECK(status ? after.cqe == before.cqe : after.cqe >= 1000);
    close_all();
}

/* The field is named, and the queue can be made without it. */
static void timestamps(void) {
    static const uint64_t fields[] = {VBN_WC_EX_TIMESTAMP, VBN_WC_EX_WALLCLOCK, VBN_WC_EX_CVLAN, VBN_WC_EX_FLOW_TAG};
    static const char *const names[] = {"VBN_WC_EX_TIMESTAMP", "VBN_WC_EX_WALLCLOCK", "VBN_WC_EX_CVLAN", "VBN_WC_EX_FLOW_TAG"};
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .fields = VBN_WC_EX_STANDARD};
    vbn_cq *other;
    open_all();
    CHECK_OK(vbn_cq_create(context, &attr, &other));
    CHECK_OK(vbn_cq_close(&other));
    for (int i = 0; i < 4; i++) {
        attr.fields = VBN_WC_EX_STANDARD | fields[i];
        CHECK_STATUS(vbn_cq_create(context, &attr, &other), VBN_ERR_NOT_SUPPORTED);
        absent(names[i]);
        for (int k = 0; k < 4; k++)
            CHECK(k == i || !strstr(test_error().message, names[k]));
    }
    close_all();
}

/* ---- Completions of extended queues ---- */

static struct pair extended;

/* The next completion by vbn_cq_poll_ext, which says which fields it has and writes behind none. */
static vbn_wc_ext next_ext(struct side *side, uint64_t fields) {
    vbn_wc_ext wcs[3], none;
    uint32_t got = 0;
    for (int i = 0; i < 60000 && !got; i++) {
        memset(wcs, 0x5a, sizeof wcs);
        CHECK_OK(vbn_cq_poll_ext(side->cq, 1, wcs, sizeof wcs[0], &got));
        if (!got) sleep_ms(1);
    }
    CHECK_UEQ(got, 1);
    memset(&none, 0x5a, sizeof none);
    CHECK_MEM(&wcs[1], &none, sizeof none);
    CHECK_UEQ(wcs[0].fields, fields);
    return wcs[0];
}

static void check_imm(const vbn_wc *wc, uint64_t wr_id, uint32_t imm, uint32_t length) {
    CHECK_UEQ(wc->wr_id, wr_id);
    CHECK_EQ(wc->status, VBN_WC_SUCCESS);
    CHECK_EQ(wc->opcode, VBN_WC_RECV);
    CHECK(wc->wc_flags & VBN_WC_WITH_IMM);
    CHECK_UEQ(wc->imm, imm);
    CHECK_UEQ(wc->byte_len, length);
}

/* RC: by both polls and by waiting, then a request that fails and what it takes along. */
static void polled_rc(void) {
    struct setup setup = {.fields = VBN_WC_EX_STANDARD};
    struct pair *p = &extended;
    pair_open_connected(p, &setup);
    vbn_cq_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_cq_query(p->b.cq, &info));
    CHECK_UEQ(info.fields, VBN_WC_EX_STANDARD);
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t length = 100 + i, imm = 0xabc00000 + i;
        vbn_wc wc;
        vbn_wc_ext ext;
        uint32_t got = 0;
        post_recv(&p->b, 10 + i, 4096, 1000);
        vbn_send_wr wr = send_wr(&p->a, &p->b, VBN_WR_SEND_WITH_IMM, 50 + i, 0, length);
        wr.imm = imm;
        fill(p->a.memory, length, i);
        post_send(&p->a, &wr);
        switch (i % 3) {
        case 0:
            ext = next_ext(&p->b, VBN_WC_EX_STANDARD);
            check_imm(&ext.wc, 10 + i, imm, length);
            CHECK_UEQ(ext.wc.qp_num, vbn_qp_num(p->b.qp));
            ext = next_ext(&p->a, VBN_WC_EX_STANDARD);
            CHECK_UEQ(ext.wc.wr_id, 50 + i);
            CHECK_EQ(ext.wc.status, VBN_WC_SUCCESS);
            CHECK_EQ(ext.wc.opcode, VBN_WC_SEND);
            CHECK_UEQ(ext.wc.qp_num, vbn_qp_num(p->a.qp));
            break;
        case 1:
            wc = next_wc(&p->b);
            check_imm(&wc, 10 + i, imm, length);
            CHECK_UEQ(wc.qp_num, vbn_qp_num(p->b.qp));
            CHECK_EQ(next_ok(&p->a, 50 + i).opcode, VBN_WC_SEND);
            break;
        default:
            CHECK_OK(vbn_cq_wait(p->b.cq, 1, &wc, 0, PATIENCE, &got));
            CHECK_UEQ(got, 1);
            check_imm(&wc, 10 + i, imm, length);
            next_ok(&p->a, 50 + i);
        }
        CHECK_MEM(p->b.memory + 4096, p->a.memory, length);
    }
    vbn_send_wr wr = send_wr(&p->a, &p->b, VBN_WR_RDMA_WRITE, 70, 0, 64);
    wr.rkey ^= 0x5500;
    post_send(&p->a, &wr);
    vbn_wc_ext failed = next_ext(&p->a, VBN_WC_EX_QP_NUM);
    CHECK_UEQ(failed.wc.wr_id, 70);
    CHECK_EQ(failed.wc.status, VBN_WC_REM_ACCESS_ERR);
    CHECK_UEQ(failed.wc.qp_num, vbn_qp_num(p->a.qp));
    wr = send_wr(&p->a, &p->b, VBN_WR_SEND, 71, 0, 8);
    post_send(&p->a, &wr);
    failed = next_ext(&p->a, VBN_WC_EX_QP_NUM);
    CHECK_UEQ(failed.wc.wr_id, 71);
    CHECK_EQ(failed.wc.status, VBN_WC_WR_FLUSH_ERR);
    check_no_wc(&p->a);
    pair_close(p);
}

/* UD: who sent it, and that there is a header. */
static void polled_ud(void) {
    struct setup setup = {.qp_type = VBN_QPT_UD, .fields = VBN_WC_EX_STANDARD};
    struct pair *p = &extended;
    pair_open(p, &setup);
    ud_prepare(&p->a, 0x1234);
    ud_prepare(&p->b, 0x1235);
    vbn_peer *peer = ud_peer(&p->a, &p->b);
    for (int plain = 0; plain < 2; plain++) {
        post_recv(&p->b, 1, 0, 1000);
        vbn_send_wr wr = ud_wr(&p->a, peer, 2, 2000, 77);
        wr.opcode = VBN_WR_SEND_WITH_IMM;
        wr.imm = 0x01020304;
        fill(p->a.memory + 2000, 77, 5);
        post_send(&p->a, &wr);
        vbn_wc wc = plain ? next_wc(&p->b) : next_ext(&p->b, VBN_WC_EX_STANDARD).wc;
        check_imm(&wc, 1, 0x01020304, GRH + 77);
        CHECK_UEQ(wc.src_qp, vbn_qp_num(p->a.qp));
        CHECK_UEQ(wc.qp_num, vbn_qp_num(p->b.qp));
        CHECK(wc.wc_flags & VBN_WC_GRH);
        CHECK_MEM(p->b.memory + GRH, p->a.memory + 2000, 77);
        CHECK_EQ(next_ext(&p->a, VBN_WC_EX_STANDARD).wc.opcode, VBN_WC_SEND);
    }
    CHECK_OK(vbn_peer_close(&peer));
    pair_close(p);
}

static vbn_srq *shared_queue(struct side *side) {
    vbn_srq *srq;
    CHECK_OK(vbn_srq_create(side->pd, NULL, &srq));
    return srq;
}

/* Receives of a shared queue, and queues that shall tell less: what isn't asked for isn't claimed. */
static void polled_fields(void) {
    static const uint64_t sets[] = {
        VBN_WC_EX_STANDARD, VBN_WC_EX_BYTE_LEN, VBN_WC_EX_IMM, VBN_WC_EX_QP_NUM, VBN_WC_EX_SRC_QP, VBN_WC_EX_SLID, VBN_WC_EX_SL,
        VBN_WC_EX_DLID_PATH_BITS, VBN_WC_EX_BYTE_LEN | VBN_WC_EX_QP_NUM,
    };
    struct pair *p = &extended;
    for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct setup plain = {.size = 0}, setup = {.srq = shared_queue, .fields = sets[i]};
        uint32_t posted;
        side_open(&p->a, &plain);
        side_open(&p->b, &setup);
        pair_connect(p, NULL);
        vbn_recv_wr recv = recv_wr(&p->b, 30 + i, 0, 500);
        CHECK_OK(vbn_srq_post_recv(p->b.srq, &recv, 1, &posted));
        vbn_send_wr wr = send_wr(&p->a, &p->b, VBN_WR_SEND_WITH_IMM, 40, 1000, 200 + i);
        wr.imm = 0x11110000 + i;
        fill(p->a.memory + 1000, 200 + i, i);
        run_send(&p->a, &wr);
        vbn_wc_ext ext = next_ext(&p->b, sets[i]);
        CHECK_UEQ(ext.wc.wr_id, 30 + i);
        CHECK_EQ(ext.wc.status, VBN_WC_SUCCESS);
        CHECK_EQ(ext.wc.opcode, VBN_WC_RECV);
        if (sets[i] & VBN_WC_EX_BYTE_LEN) CHECK_UEQ(ext.wc.byte_len, 200 + i);
        if (sets[i] & VBN_WC_EX_IMM) CHECK_UEQ(ext.wc.imm, 0x11110000 + i);
        if (sets[i] & VBN_WC_EX_QP_NUM) CHECK_UEQ(ext.wc.qp_num, vbn_qp_num(p->b.qp));
        CHECK_MEM(p->b.memory, p->a.memory + 1000, 200 + i);
        pair_close(p);
    }
}

/* A region that the driver can't register anew is as it was, and usable. */
static void rereg(void) {
    vbn_mr *mr;
    open_all();
    CHECK_OK(vbn_mr_reg(pd, memory, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    vbn_mr_info before = mr_info(mr);
    vbn_mr_rereg_attr attr = {.struct_size = sizeof attr, .set = VBN_MR_REREG_TRANSLATION, .addr = memory, .length = 8192};
    CHECK_STATUS(vbn_mr_rereg(mr, &attr), VBN_ERR_NOT_SUPPORTED);
    absent("as it was");
    vbn_mr_info after = mr_info(mr);
    CHECK_MEM(&after, &before, sizeof after);
    CHECK_UEQ(after.lost, 0);
    CHECK_OK(vbn_mr_close(&mr));
    close_all();
}

static void null_region(void) {
    vbn_mr *mr;
    open_all();
    CHECK_STATUS(vbn_mr_alloc_null(pd, NULL, &mr), VBN_ERR_NOT_SUPPORTED);
    CHECK(!mr);
    absent("null region");
    close_all();
}

/* What the device's attributes say of paging, and what it does, agree. */
static void on_demand(void) {
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_mr *mr;
    open_all();
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_UEQ(device.odp_general_caps, 0);
    CHECK_STATUS(vbn_mr_reg(pd, memory, 4096, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_ON_DEMAND, NULL, &mr), VBN_ERR_NOT_SUPPORTED);
    absent("on-demand paging");
    CHECK_STATUS(vbn_mr_reg(pd, NULL, UINT64_MAX, VBN_ACCESS_ON_DEMAND, NULL, &mr), VBN_ERR_NOT_SUPPORTED);
    CHECK_OK(vbn_mr_reg(pd, memory, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    vbn_sge sge = {(uintptr_t)memory, 4096, vbn_mr_lkey(mr)};
    CHECK_STATUS(vbn_mr_advise(pd, VBN_ADVISE_PREFETCH, VBN_ADVISE_FLUSH, &sge, 1), VBN_ERR_NOT_SUPPORTED);
    absent("on-demand paging");
    CHECK_OK(vbn_mr_close(&mr));
    close_all();
}

/* A queue pair of a type that the device has. */
static vbn_qp *queue_pair(void) {
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = cq, .qp_type = VBN_QPT_UD, .max_send_wr = 4, .max_recv_wr = 4};
    vbn_qp *qp;
    CHECK_OK(vbn_qp_create(pd, &attr, &qp));
    return qp;
}

static void ece(void) {
    vbn_ece ece = {.struct_size = sizeof ece, .vendor_id = 0x15b3, .options = 1};
    open_all();
    vbn_qp *qp = queue_pair();
    CHECK_STATUS(vbn_qp_set_ece(qp, &ece), VBN_ERR_NOT_SUPPORTED);
    absent("connect without");
    CHECK_STATUS(vbn_qp_query_ece(qp, &ece), VBN_ERR_NOT_SUPPORTED);
    absent("connect without");
    CHECK_OK(vbn_qp_close(&qp));
    close_all();
}

/* The query is there and promises nothing. */
static void data_in_order(void) {
    uint32_t caps = 77;
    open_all();
    vbn_qp *qp = queue_pair();
    CHECK_OK(vbn_qp_data_in_order(qp, VBN_WR_SEND, 0, &caps));
    CHECK_UEQ(caps, 0);
    CHECK_OK(vbn_qp_close(&qp));
    close_all();
}

static void rate_limit(void) {
    vbn_qp_rate_limit_attr attr = {.struct_size = sizeof attr, .rate_limit = 1000};
    open_all();
    vbn_qp *qp = queue_pair();
    CHECK_STATUS(vbn_qp_modify_rate_limit(qp, &attr), VBN_ERR_NOT_SUPPORTED);
    absent("pace");
    CHECK_OK(vbn_qp_close(&qp));
    close_all();
}

static void raw_clock(void) {
    vbn_rt_values values = {.struct_size = sizeof values};
    open_all();
    CHECK_STATUS(vbn_context_query_rt_values(context, &values), VBN_ERR_NOT_SUPPORTED);
    absent("clock");
    close_all();
}

/* Since rdma-core 59 EFA has thread domains: queue pairs are made in one, and all is closed in an order that only counting allows. */
static void thread_domain(void) {
    vbn_td *td;
    open_all();
    vbn_status status = vbn_td_alloc(context, NULL, &td);
    vbn_pd *parent;
    if (status) {
        CHECK_EQ(status, VBN_ERR_NOT_SUPPORTED);
        absent("thread domains");
        CHECK_STATUS(vbn_pd_alloc_parent(pd, NULL, NULL, &parent), VBN_ERR_NOT_SUPPORTED);
        absent("parent domains");
        close_all();
        return;
    }
    test_note("the driver has thread domains");
    CHECK(!is_soft_roce(test_device()));
    /* Out and in again. */
    struct ibv_td *raw;
    vbn_adopt_attr own = {.struct_size = sizeof own, .ownership = VBN_ADOPT_OWN};
    CHECK_OK(vbn_td_release(&td, &raw));
    CHECK(!td);
    CHECK_OK(vbn_td_adopt(context, raw, &own, &td));
    CHECK_OK(vbn_pd_alloc_parent(pd, td, NULL, &parent));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_td_close(&td));
    pd = parent;
    vbn_qp *qp = queue_pair();
    vbn_mr *mr;
    CHECK_OK(vbn_mr_reg(pd, memory, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    vbn_live_info live = live_info(context);
    CHECK_UEQ(live.td_closed, 1);
    CHECK_UEQ(live.pd_closed, 1);
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_qp_close(&qp));
    CHECK_OK(vbn_mr_close(&mr));
    live = live_info(context);
    CHECK_UEQ(live.td_closed + live.td_refused + live.pd_closed + live.pd_refused, 0);
    close_all();
}

static void device_memory(void) {
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_dm_attr attr = {.struct_size = sizeof attr, .length = 64};
    vbn_dm *dm;
    open_all();
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_UEQ(device.max_dm_size, 0);
    CHECK_STATUS(vbn_dm_alloc(context, &attr, &dm), VBN_ERR_NOT_SUPPORTED);
    CHECK(!dm);
    absent("max_dm_size");
    close_all();
}

/* Rules and what they count are for queue pairs that get bare Ethernet packets; neither device knows such. */
static void steering(void) {
    vbn_flow_spec spec = {.type = VBN_FLOW_SPEC_ETH, .value.ether_type = 0x0800, .mask.ether_type = 0xffff};
    vbn_counters *counters;
    vbn_flow *flow;
    open_all();
    vbn_qp *qp = queue_pair();
    CHECK_STATUS(vbn_flow_create(qp, NULL, &spec, 1, &flow), VBN_ERR_NOT_SUPPORTED);
    CHECK(!flow);
    absent("steers no flows");
    CHECK_STATUS(vbn_counters_create(context, NULL, &counters), VBN_ERR_NOT_SUPPORTED);
    CHECK(!counters);
    absent("counters");
    CHECK_OK(vbn_qp_close(&qp));
    close_all();
}

/* Neither shares objects between processes. */
static void imports(void) {
    int32_t fd = -1;
    vbn_context *other;
    vbn_pd *other_pd;
    vbn_mr *mr;
    vbn_mr_attr attr = {.struct_size = sizeof attr, .set = VBN_MR_SET_IOVA};
    open_all();
    CHECK_OK(vbn_context_export(context, &fd));
    CHECK_STATUS(vbn_context_import(fd, NULL, &other), VBN_ERR_NOT_SUPPORTED);
    CHECK(!other);
    test_note("%s", test_error().message);
    CHECK_EQ(close(fd), 0);
    CHECK_STATUS(vbn_pd_import(context, 1, NULL, &other_pd), VBN_ERR_NOT_SUPPORTED);
    absent("mlx5");
    CHECK_STATUS(vbn_mr_import(pd, 1, &attr, &mr), VBN_ERR_NOT_SUPPORTED);
    absent("mlx5");
    vbn_dm_attr dm_attr = {.struct_size = sizeof dm_attr, .length = 64};
    vbn_dm *dm;
    vbn_status status = vbn_dm_import(context, 1, &dm_attr, &dm);
    CHECK(!dm);
    if (status != VBN_ERR_SYMBOL_MISSING) {
        CHECK_EQ(status, VBN_ERR_NOT_SUPPORTED);
        absent("mlx5");
    } else
        CHECK_HAS(test_error().message, "35");
    close_all();
}

static const struct test tests[] = {
    {"moderation", moderation},
    {"resize", resize},
    {"resize_keeps_completions", resize_keeps_completions},
    {"timestamps", timestamps},
    {"polled_rc", polled_rc},
    {"polled_ud", polled_ud},
    {"polled_fields", polled_fields},
    {"rereg", rereg},
    {"null_region", null_region},
    {"on_demand", on_demand},
    {"ece", ece},
    {"data_in_order", data_in_order},
    {"rate_limit", rate_limit},
    {"raw_clock", raw_clock},
    {"thread_domain", thread_domain},
    {"device_memory", device_memory},
    {"steering", steering},
    {"imports", imports},
    {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("ext", tests, argc, argv); }
