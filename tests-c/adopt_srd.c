/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Raw verbs and libefa beside the library on an EFA: their objects taken in, and its own lent to them. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "srd.h"

enum { TARGET = 32768 };

static struct srd_side s;

static struct ibv_pd *raw_pd(void) {
    struct ibv_pd *pd = NULL;
    CHECK_OK(vbn_pd_native(s.pd, &pd));
    return pd;
}

static struct ibv_cq *raw_cq(void) {
    struct ibv_cq *cq = NULL;
    CHECK_OK(vbn_cq_native(s.cq, &cq));
    return cq;
}

/* An SRD queue pair as a program without this library makes it, in RESET. */
static struct ibv_qp *make_srd(uint64_t send_ops, int sq_sig_all) {
    struct ibv_pd *pd = raw_pd();
    struct ibv_cq *cq = raw_cq();
    struct ibv_qp_init_attr_ex init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 1, .max_recv_sge = 1},
        .sq_sig_all = sq_sig_all,
        .pd = pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | (send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
        .send_ops_flags = send_ops,
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    struct ibv_qp *qp = efadv_create_qp_ex(pd->context, &init, &srd, sizeof srd);
    CHECK(qp != NULL);
    return qp;
}

static const uint64_t COMMON = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ;

/* The side gets the adopted queue pair instead of its own, and sends to itself. */
static vbn_peer *take_over(struct ibv_qp *native, int32_t ownership) {
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = ownership, .user_data = 6};
    CHECK_OK(vbn_qp_close(&s.qp));
    CHECK_OK(vbn_qp_adopt(s.pd, native, &attr, &s.qp));
    CHECK_OK(srd_prepare(s.qp, s.qkey));
    s.endpoint = srd_endpoint(s.qp);
    CHECK_UEQ(s.endpoint.qp_num, native->qp_num);
    return srd_self(&s);
}

static void adopt_owned(void) {
    need_read();
    srd_open(&s, NULL);
    vbn_peer *self = take_over(make_srd(COMMON, 0), VBN_ADOPT_OWN);
    vbn_qp_info info = qp_info(s.qp);
    CHECK_EQ(info.qp_type, VBN_QPT_SRD);
    CHECK_EQ(info.post_path, VBN_POST_PATH_WR);
    CHECK_UEQ(info.user_data, 6);
    CHECK(info.max_send_wr >= 32 && info.max_recv_wr >= 32);
    srd_alive(&s, &s, self);
    fill(s.memory + TARGET, 3000, 1);
    vbn_send_wr wr = srd_wr_at(&s, self, &s, VBN_WR_RDMA_READ, 1, 0, TARGET, 3000);
    srd_run(&s, &wr);
    CHECK_MEM(s.memory, s.memory + TARGET, 3000);
    /* The rules hold here too. */
    wr.flags = 0;
    srd_refused(s.qp, &wr, 1, VBN_ERR_ARGUMENT, 0, "sq_sig_all");
    wr.flags = VBN_SEND_SIGNALED | VBN_SEND_FENCE;
    srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "fence");
    wr.flags = VBN_SEND_SIGNALED;
    wr.opcode = 99;
    srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "opcode");
    vbn_recv_wr recv = {.num_sge = 0};
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_recv(s.qp, &recv, 1, &posted), VBN_ERR_ARGUMENT);
    /* A full queue takes the prefix that fits. */
    static vbn_send_wr wrs[64];
    static vbn_wc wcs[64];
    for (uint32_t i = 0; i < 64; i++) wrs[i] = srd_wr_at(&s, self, &s, VBN_WR_RDMA_READ, i, 0, TARGET, 8);
    CHECK_STATUS(vbn_qp_post_send(s.qp, wrs, 64, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, info.max_send_wr);
    srd_wait(&s, posted, wcs);
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

static void adopt_all_signaled(void) {
    need_read();
    srd_open(&s, NULL);
    vbn_peer *self = take_over(make_srd(COMMON, 1), VBN_ADOPT_OWN);
    vbn_send_wr wr = srd_wr_at(&s, self, &s, VBN_WR_RDMA_READ, 1, 0, TARGET, 8);
    wr.flags = 0;
    uint32_t posted = 99;
    vbn_status status = vbn_qp_post_send(s.qp, &wr, 1, &posted);
    if (qp_info(s.qp).sq_sig_all) {
        CHECK_OK(status);
        srd_ok(&s, 1);
    } else { /* libefa doesn't tell: then the flag is asked for */
        CHECK_STATUS(status, VBN_ERR_ARGUMENT);
    }
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

/* Borrowed: it is there still when its handle is closed. */
static void adopt_borrowed(void) {
    need_read();
    srd_open(&s, NULL);
    struct ibv_qp *native = make_srd(COMMON, 0);
    vbn_peer *self = take_over(native, VBN_ADOPT_BORROW);
    srd_alive(&s, &s, self);
    CHECK_OK(vbn_qp_close(&s.qp));
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(native, &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
    CHECK_EQ(ibv_destroy_qp(native), 0);
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

/* Without send operations at creation there is no way to post RDMA to it: refused. Another PD's, too. */
static void adopt_refused(void) {
    need_read();
    struct srd_side other;
    vbn_qp *qp = NULL;
    srd_open(&s, NULL);
    struct ibv_qp *plain = make_srd(0, 0);
    CHECK_STATUS(vbn_qp_adopt(s.pd, plain, NULL, &qp), VBN_ERR_NOT_SUPPORTED);
    CHECK(qp == NULL);
    CHECK_EQ(ibv_destroy_qp(plain), 0);
    srd_open(&other, NULL);
    struct ibv_qp *good = make_srd(COMMON, 0);
    CHECK_STATUS(vbn_qp_adopt(other.pd, good, NULL, &qp), VBN_ERR_ARGUMENT);
    CHECK_EQ(ibv_destroy_qp(good), 0);
    srd_close(&other);
    srd_close(&s);
}

/* A queue and an address handle of raw verbs, with an own queue pair and peer on them. */
static void adopt_cq_and_ah(void) {
    srd_open(&s, NULL);
    struct ibv_pd *pd = raw_pd();
    struct ibv_cq *native = ibv_create_cq(pd->context, 64, NULL, NULL, 0);
    CHECK(native != NULL);
    vbn_adopt_attr own = {.struct_size = sizeof own, .ownership = VBN_ADOPT_OWN}, borrow = {.struct_size = sizeof borrow};
    CHECK_OK(vbn_qp_close(&s.qp));
    CHECK_OK(vbn_cq_close(&s.cq));
    CHECK_OK(vbn_cq_adopt(s.context, native, &own, &s.cq));
    s.qp = srd_another_qp(&s, NULL);
    s.endpoint = srd_endpoint(s.qp);

    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1};
    memcpy(to.grh.dgid.raw, s.endpoint.gid, 16);
    struct ibv_ah *raw = ibv_create_ah(pd, &to);
    CHECK(raw != NULL);
    vbn_ah *ah = NULL;
    vbn_peer *peer = NULL;
    borrow.ownership = VBN_ADOPT_BORROW;
    CHECK_OK(vbn_ah_adopt(s.pd, raw, &borrow, &ah));
    vbn_ah_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_ah_query(ah, &info));
    CHECK_UEQ(info.is_shared, 0);
    vbn_peer_attr attr = {.struct_size = sizeof attr, .ah = ah, .qp_num = s.endpoint.qp_num, .qkey = s.qkey};
    CHECK_OK(vbn_peer_create(s.pd, &attr, &peer));
    CHECK_UEQ(live_info(s.context).ah_cached, 0);
    srd_alive(&s, &s, peer);
    CHECK_OK(vbn_ah_close(&ah));
    srd_alive(&s, &s, peer);
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_EQ(ibv_destroy_ah(raw), 0);
    srd_close(&s);
}

/* A borrowed PD is given back without address handles of the library's in it: its owner can destroy it. */
static void borrowed_pd(void) {
    struct ibv_context *context = NULL;
    vbn_adopt_attr borrow = {.struct_size = sizeof borrow, .ownership = VBN_ADOPT_BORROW};
    vbn_pd *pd = NULL;
    vbn_peer *peer = NULL;
    srd_open(&s, NULL);
    CHECK_OK(vbn_context_native(s.context, &context));
    struct ibv_pd *native = ibv_alloc_pd(context);
    CHECK(native != NULL);
    CHECK_OK(vbn_pd_adopt(s.context, native, &borrow, &pd));
    CHECK_OK(vbn_peer_from_endpoint(pd, &s.endpoint, NULL, &peer));
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_UEQ(live_info(s.context).ah_idle, 1);
    CHECK_EQ(ibv_dealloc_pd(native), EBUSY);
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_UEQ(live_info(s.context).ah_idle, 0);
    CHECK_EQ(ibv_dealloc_pd(native), 0);
    srd_close(&s);
}

/* The same for a PD that is given away. */
static void released_pd(void) {
    struct ibv_pd *native = NULL;
    vbn_pd *pd = NULL;
    vbn_peer *peer = NULL;
    srd_open(&s, NULL);
    CHECK_OK(vbn_pd_alloc(s.context, NULL, &pd));
    CHECK_OK(vbn_peer_from_endpoint(pd, &s.endpoint, NULL, &peer));
    CHECK_STATUS(vbn_pd_release(&pd, &native), VBN_ERR_BUSY);
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_UEQ(live_info(s.context).ah_idle, 1);
    CHECK_OK(vbn_pd_release(&pd, &native));
    CHECK_UEQ(live_info(s.context).ah_idle, 0);
    CHECK_EQ(ibv_dealloc_pd(native), 0);
    srd_close(&s);
}

/* Two handles on one ibv_context share its address handles; when one is closed, the other still has them. */
static void two_contexts(void) {
    struct ibv_context *native = NULL;
    vbn_adopt_attr borrow = {.struct_size = sizeof borrow, .ownership = VBN_ADOPT_BORROW};
    vbn_context *second = NULL;
    srd_open(&s, NULL);
    vbn_peer *self = srd_self(&s), *idle = NULL;
    CHECK_OK(vbn_peer_from_endpoint(s.pd, &(vbn_endpoint){.gid = {0xfe, 0x80, [15] = 7}, .qp_num = 1}, NULL, &idle));
    CHECK_OK(vbn_peer_close(&idle));
    CHECK_OK(vbn_context_native(s.context, &native));
    CHECK_OK(vbn_context_adopt(native, &borrow, &second));
    CHECK_UEQ(live_info(second).ah_cached, 1);
    CHECK_OK(vbn_context_close(&second));
    CHECK_UEQ(live_info(s.context).ah_cached, 1);
    CHECK_UEQ(live_info(s.context).ah_idle, 1);
    srd_alive(&s, &s, self);
    CHECK_OK(vbn_peer_close(&self));
    CHECK_UEQ(live_info(s.context).ah_idle, 2);
    srd_close(&s); /* the PD can go */
}

/* Raw requests and polls on the library's own objects, in turn with its own. */
static void lent(void) {
    need_read();
    struct ibv_qp *qp = NULL;
    struct ibv_ah *ah = NULL;
    srd_open(&s, NULL);
    vbn_peer *self = srd_self(&s);
    vbn_ah_attr attr = {.struct_size = sizeof attr};
    vbn_ah *handle = NULL;
    memcpy(attr.path.dgid, s.endpoint.gid, 16);
    CHECK_OK(vbn_ah_create(s.pd, &attr, &handle));
    CHECK_OK(vbn_ah_native(handle, &ah));
    struct ibv_ah *given = NULL;
    CHECK_STATUS(vbn_ah_release(&handle, &given), VBN_ERR_NOT_SUPPORTED); /* others share it */
    CHECK_OK(vbn_qp_native(s.qp, &qp));
    CHECK(qp->pd == raw_pd() && qp->send_cq == raw_cq() && qp->qp_num == vbn_qp_num(s.qp) && ah->pd == qp->pd);
    struct ibv_qp_ex *builder = ibv_qp_to_qp_ex(qp);
    CHECK(builder != NULL);
    fill(s.memory + TARGET, 200, 3);
    for (uint64_t i = 0; i < 3; i++) {
        ibv_wr_start(builder);
        builder->wr_id = 10 + i;
        builder->wr_flags = IBV_SEND_SIGNALED;
        ibv_wr_rdma_read(builder, vbn_mr_rkey(s.mr), vbn_mr_remote_addr(s.mr) + TARGET);
        ibv_wr_set_sge(builder, vbn_mr_lkey(s.mr), vbn_mr_remote_addr(s.mr), 200);
        ibv_wr_set_ud_addr(builder, ah, s.endpoint.qp_num, s.qkey);
        CHECK_EQ(ibv_wr_complete(builder), 0);
        srd_ok(&s, 10 + i);
        CHECK_MEM(s.memory, s.memory + TARGET, 200);
        vbn_send_wr own = srd_wr_at(&s, self, &s, VBN_WR_RDMA_READ, 20 + i, 0, TARGET, 100);
        srd_post(&s, &own);
        struct ibv_wc wc;
        int got = 0;
        for (int j = 0; j < 60000 && (got = ibv_poll_cq(raw_cq(), 1, &wc)) == 0; j++) sleep_ms(1);
        CHECK_EQ(got, 1);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_UEQ(wc.wr_id, 20 + i);
    }
    CHECK_OK(vbn_ah_close(&handle));
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

/* Given away, they are raw verbs' to destroy, and work till then. */
static void released(void) {
    need_read();
    struct ibv_qp *qp = NULL;
    struct ibv_cq *cq = NULL;
    srd_open(&s, NULL);
    CHECK_STATUS(vbn_cq_release(&s.cq, &cq), VBN_ERR_BUSY);
    CHECK_OK(vbn_qp_release(&s.qp, &qp));
    CHECK_OK(vbn_cq_release(&s.cq, &cq));
    CHECK(s.qp == NULL && s.cq == NULL);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    srd_close(&s);
}

static const struct test tests[] = {
    {"adopt_owned", adopt_owned},
    {"adopt_all_signaled", adopt_all_signaled},
    {"adopt_borrowed", adopt_borrowed},
    {"adopt_refused", adopt_refused},
    {"adopt_cq_and_ah", adopt_cq_and_ah},
    {"borrowed_pd", borrowed_pd},
    {"released_pd", released_pd},
    {"two_contexts", two_contexts},
    {"lent", lent},
    {"released", released},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("adopt_srd", tests, argc, argv);
}
