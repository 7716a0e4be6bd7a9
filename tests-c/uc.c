/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* UC queue pairs: traffic, what gets lost without a word, states, and connecting (RC too) by the records that can grow. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static struct pair p;
static const struct setup uc = {.qp_type = VBN_QPT_UC, .send_sge = 3, .recv_sge = 3, .inline_data = 32};

/* ---- Traffic ---- */

static void sends(void) {
    pair_open_connected(&p, &uc);
    fill(p.a.memory, 30000, 1);
    for (uint32_t i = 0; i < 20; i++) {
        /* From nothing to many packets. */
        uint32_t length = i * i * 20;
        post_recv(&p.b, 100 + i, 0, 10000);
        vbn_send_wr wr = send_wr(&p.a, &p.b, i % 2 ? VBN_WR_SEND_WITH_IMM : VBN_WR_SEND, i, 100 * i, length);
        wr.imm = 0xfeed0000 + i;
        run_send(&p.a, &wr);
        vbn_wc wc = next_ok(&p.b, 100 + i);
        CHECK_EQ(wc.opcode, VBN_WC_RECV);
        CHECK_UEQ(wc.byte_len, length);
        CHECK_UEQ(wc.wc_flags & VBN_WC_WITH_IMM, i % 2 ? VBN_WC_WITH_IMM : 0);
        if (i % 2) CHECK_UEQ(wc.imm, 0xfeed0000 + i);
        CHECK_MEM(p.b.memory, p.a.memory + 100 * i, length);
    }
    check_no_wc(&p.a);
    check_no_wc(&p.b);
    pair_close(&p);
}

static void writes(void) {
    pair_open_connected(&p, &uc);
    fill(p.a.memory, 60000, 2);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 7, 20001);
    run_send(&p.a, &wr);
    post_recv(&p.b, 5, 0, 0);
    wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE_WITH_IMM, 2, 30000, 30000);
    wr.imm = 0x1234;
    run_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.b, 5);
    CHECK_EQ(wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wc.imm, 0x1234);
    /* In order: what was written before the immediate is there. */
    CHECK_MEM(p.b.memory + 7, p.a.memory + 7, 20001);
    CHECK_MEM(p.b.memory + 30000, p.a.memory + 30000, 30000);
    pair_close(&p);
}

static void gathered_and_inline(void) {
    pair_open_connected(&p, &uc);
    fill(p.a.memory, 8192, 3);
    vbn_sge list[3] = {sge_at(&p.a, 0, 1000), sge_at(&p.a, 2000, 1), sge_at(&p.a, 4000, 999)};
    vbn_sge into[2] = {sge_at(&p.b, 0, 500), sge_at(&p.b, 1000, 1500)};
    vbn_recv_wr recv = {.wr_id = 9, .sg_list = into, .num_sge = 2};
    uint32_t posted;
    CHECK_OK(vbn_qp_post_recv(p.b.qp, &recv, 1, &posted));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 1, 0, 0);
    wr.sg_list = list;
    wr.num_sge = 3;
    run_send(&p.a, &wr);
    CHECK_UEQ(next_ok(&p.b, 9).byte_len, 2000);
    CHECK_MEM(p.b.memory, p.a.memory, 500);
    CHECK_MEM(p.b.memory + 1000, p.a.memory + 500, 500);
    CHECK_MEM(p.b.memory + 1500, p.a.memory + 2000, 1);
    CHECK_MEM(p.b.memory + 1501, p.a.memory + 4000, 999);

    char text[32] = "copied while posting";
    post_recv(&p.b, 10, 0, 64);
    wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 2, 0, sizeof text);
    wr.flags |= VBN_SEND_INLINE;
    wr.sge.addr = (uintptr_t)text;
    wr.sge.lkey = 0;
    post_send(&p.a, &wr);
    memset(text, 0, sizeof text);
    next_ok(&p.a, 2);
    next_ok(&p.b, 10);
    CHECK_STR((char *)p.b.memory, "copied while posting");
    pair_close(&p);
}

static void no_reads(void) {
    pair_open_connected(&p, &uc);
    CHECK_UEQ(qp_info(p.a.qp).send_ops, VBN_QP_OP_SEND | VBN_QP_OP_SEND_WITH_IMM | VBN_QP_OP_RDMA_WRITE | VBN_QP_OP_RDMA_WRITE_WITH_IMM);
    vbn_send_wr wrs[2];
    wrs[0] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 64);
    wrs[1] = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 2, 0, 64);
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 2, &posted), VBN_ERR_NOT_SUPPORTED);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 1);
    check_no_wc(&p.a);
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .qp_type = VBN_QPT_UC, .send_ops = VBN_QP_OP_SEND | VBN_QP_OP_RDMA_READ};
    vbn_qp *qp;
    CHECK_STATUS(vbn_qp_create(p.a.pd, &attr, &qp), VBN_ERR_NOT_SUPPORTED);
    CHECK_UEQ(test_error().value, VBN_QP_OP_RDMA_READ);
    CHECK_HAS(test_error().message, "UC");
    check_alive(&p);
    pair_close(&p);
}

/* ---- Lost without a word ---- */

static void wrong_rkey_is_dropped(void) {
    pair_open_connected(&p, &uc);
    fill(p.a.memory, 5000, 4);
    memset(p.b.memory, 0x33, 5000);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 5000);
    wr.rkey ^= 0x5a;
    run_send(&p.a, &wr); /* success: it was sent */
    wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 2, 0, 100);
    wr.remote_addr += p.b.size - 50;
    run_send(&p.a, &wr);
    /* What follows arrives, so what was dropped had its turn. */
    post_recv(&p.b, 7, 8192, 64);
    wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 3, 8192, 64);
    run_send(&p.a, &wr);
    next_ok(&p.b, 7);
    for (int i = 0; i < 5000; i++) CHECK_EQ(p.b.memory[i], 0x33);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    CHECK_EQ(qp_state(p.b.qp), VBN_QPS_RTS);
    check_no_wc(&p.a);
    check_no_wc(&p.b);
    check_alive(&p);
    pair_close(&p);
}

/* A region or a queue pair that doesn't allow it drops as well. */
static void access_is_checked(void) {
    struct setup setup = uc;
    setup.access = VBN_ACCESS_LOCAL_WRITE;
    pair_open_connected(&p, &setup);
    memset(p.b.memory, 0x44, 100);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 100);
    run_send(&p.a, &wr);
    post_recv(&p.b, 7, 8192, 64);
    wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 3, 8192, 64);
    run_send(&p.a, &wr);
    next_ok(&p.b, 7);
    for (int i = 0; i < 100; i++) CHECK_EQ(p.b.memory[i], 0x44);
    pair_close(&p);
}

static void no_receive_posted(void) {
    pair_open_connected(&p, &uc);
    fill(p.a.memory, 4000, 5);
    for (uint32_t i = 0; i < 5; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, i, 0, 4000);
        run_send(&p.a, &wr);
    }
    check_alive(&p);
    post_recv(&p.b, 1, 4096, 2000);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 9, 0, 2000);
    run_send(&p.a, &wr);
    next_ok(&p.b, 1);
    CHECK_MEM(p.b.memory + 4096, p.a.memory, 2000);
    check_no_wc(&p.b);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    pair_close(&p);
}

/* Without a peer nothing fails either. */
static void peer_has_gone(void) {
    pair_open_connected(&p, &uc);
    side_close(&p.b);
    for (uint32_t i = 0; i < 5; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.a, VBN_WR_SEND, i, 0, 4000);
        run_send(&p.a, &wr);
    }
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    side_close(&p.a);
}

/* On a wire that loses packets: what arrives is whole, what doesn't is missed by nobody. */
static void lossy_wire(void) {
    enum { COUNT = 300, SIZE = 4000 };
    const char *second = getenv("VBN_TEST_DEVICE2");
    if (!getenv("VBN_TEST_LOSSY")) SKIP("needs two devices and a wire that loses packets: vmrun -n veth2 -l 2%%");
    struct setup one = {.qp_type = VBN_QPT_UC, .recv_wr = COUNT, .cqe = 2 * COUNT}, two = one;
    two.device = second ? second : "rxe1";
    side_open(&p.a, &one);
    side_open(&p.b, &two);
    pair_connect(&p, NULL);
    uint32_t got = 0, sum_sent = 0;
    for (uint32_t i = 0; i < COUNT; i++) post_recv(&p.b, i, 0, SIZE);
    for (uint32_t i = 0; i < COUNT; i++) {
        fill(p.a.memory, SIZE, i);
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_IMM, i, 0, SIZE);
        wr.imm = i;
        run_send(&p.a, &wr);
        sum_sent++;
        vbn_wc wc;
        uint32_t n = 0;
        for (int tries = 0; tries < 40 && n == 0; tries++) {
            CHECK_OK(vbn_cq_poll(p.b.cq, 1, &wc, &n));
            if (n == 0) sleep_ms(1);
        }
        if (n == 0) continue;
        CHECK_OK(vbn_wc_check(&wc));
        CHECK_UEQ(wc.byte_len, SIZE);
        CHECK(wc.imm <= i);
        if (wc.imm == i) CHECK_MEM(p.b.memory, p.a.memory, SIZE);
        got++;
    }
    test_note("%u of %u messages of 4 packets arrived", got, sum_sent);
    CHECK(got < COUNT);
    CHECK(got > COUNT / 3);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    CHECK_EQ(qp_state(p.b.qp), VBN_QPS_RTS);
    pair_close(&p);
}

/* ---- States ---- */

static void stepwise(void) {
    pair_open(&p, &uc);
    CHECK_EQ(qp_info(p.a.qp).qp_type, VBN_QPT_UC);
    CHECK_STR(vbn_qp_type_name(VBN_QPT_UC), "UC");
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    vbn_qp_info info = qp_info(p.a.qp);
    CHECK_EQ(info.qp_state, VBN_QPS_INIT);
    CHECK_UEQ(info.qp_access_flags & (VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ), VBN_ACCESS_REMOTE_WRITE);
    CHECK_OK(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, NULL));
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTR);
    CHECK_OK(vbn_qp_to_rts(p.a.qp, &p.a.record, NULL));
    info = qp_info(p.a.qp);
    CHECK_EQ(info.qp_state, VBN_QPS_RTS);
    CHECK_UEQ(info.dest_qp_num, p.b.record.qp_num);
    CHECK_UEQ(info.rq_psn, p.b.record.psn);
    CHECK_UEQ(info.sq_psn, p.a.record.psn);
    CHECK_MEM(info.path.dgid, p.b.record.gid, 16);
    qp_force(p.a.qp, VBN_QPS_ERR);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_ERR);
    qp_force(p.a.qp, VBN_QPS_RESET);
    pair_connect(&p, NULL);
    check_alive(&p);
    pair_close(&p);
}

static vbn_status modify(vbn_qp *qp, uint64_t set, int32_t state) {
    vbn_qp_attr attr = {
        .struct_size = sizeof attr, .set = set | VBN_QP_STATE, .qp_state = state, .port_num = 1, .path_mtu = VBN_MTU_256,
        .dest_qp_num = p.b.record.qp_num, .rq_psn = 5, .sq_psn = 6, .timeout = 14, .retry_cnt = 3, .rnr_retry = 3, .min_rnr_timer = 12,
        .max_rd_atomic = 1, .max_dest_rd_atomic = 1, .qp_access_flags = VBN_ACCESS_REMOTE_WRITE,
        .path = {.is_global = 1, .hop_limit = 64, .port_num = 1},
    };
    memcpy(attr.path.dgid, p.b.record.gid, 16);
    vbn_gid_choice choice = {.struct_size = sizeof choice};
    CHECK_OK(vbn_gid_select(p.a.context, 1, NULL, &choice, NULL, 0, 0, NULL));
    attr.path.sgid_index = (uint8_t)choice.index;
    return vbn_qp_modify(qp, &attr);
}

/* The masks of UC: what RC wants besides is refused by the device and named here, and what is missing too. */
static void masks(void) {
    enum { INIT = 0, RTR, RTS };
    static const uint64_t good[] = {
        VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_ACCESS_FLAGS,
        VBN_QP_AV | VBN_QP_PATH_MTU | VBN_QP_DEST_QPN | VBN_QP_RQ_PSN,
        VBN_QP_SQ_PSN,
    };
    static const struct {
        int step;
        uint64_t bit;
        const char *name;
    } extra[] = {
        {INIT, VBN_QP_QKEY, "VBN_QP_QKEY"},
        {RTR, VBN_QP_MIN_RNR_TIMER, "VBN_QP_MIN_RNR_TIMER"},
        {RTR, VBN_QP_MAX_DEST_RD_ATOMIC, "VBN_QP_MAX_DEST_RD_ATOMIC"},
        {RTS, VBN_QP_TIMEOUT, "VBN_QP_TIMEOUT"},
        {RTS, VBN_QP_RETRY_CNT, "VBN_QP_RETRY_CNT"},
        {RTS, VBN_QP_RNR_RETRY, "VBN_QP_RNR_RETRY"},
        {RTS, VBN_QP_MAX_QP_RD_ATOMIC, "VBN_QP_MAX_QP_RD_ATOMIC"},
    };
    pair_open(&p, &uc);
    for (int step = INIT; step <= RTS; step++) {
        for (unsigned i = 0; i < sizeof extra / sizeof *extra; i++) {
            if (extra[i].step != step) continue;
            CHECK_STATUS(modify(p.a.qp, good[step] | extra[i].bit, VBN_QPS_INIT + step), VBN_ERR_DRIVER);
            CHECK_EQ(test_error().sys_errno, EINVAL);
            CHECK_HAS(test_error().message, extra[i].name);
            CHECK_HAS(test_error().message, "is in set");
        }
        for (uint64_t bit = 1; bit <= good[step]; bit <<= 1) {
            if (!(good[step] & bit)) continue;
            CHECK_STATUS(modify(p.a.qp, good[step] & ~bit, VBN_QPS_INIT + step), VBN_ERR_DRIVER);
            CHECK_HAS(test_error().message, "is not in set");
        }
        CHECK_OK(modify(p.a.qp, good[step], VBN_QPS_INIT + step));
    }
    CHECK_STATUS(modify(p.a.qp, 0, VBN_QPS_INIT), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "no such transition");
    pair_close(&p);
}

/* What only RC has is refused with a sentence, by each step. */
static void what_uc_lacks(void) {
    static const uint64_t bits[] = {VBN_RC_SET_MIN_RNR_TIMER, VBN_RC_SET_MAX_DEST_RD_ATOMIC, VBN_RC_SET_TIMEOUT,
                                    VBN_RC_SET_RETRY_CNT, VBN_RC_SET_RNR_RETRY, VBN_RC_SET_MAX_RD_ATOMIC};
    pair_open(&p, &uc);
    vbn_endpoint_info a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    CHECK_OK(vbn_endpoint_info_local(p.a.qp, NULL, &a));
    CHECK_OK(vbn_endpoint_info_local(p.b.qp, NULL, &b));
    for (unsigned i = 0; i < sizeof bits / sizeof *bits; i++) {
        vbn_rc_attr attr = {.struct_size = sizeof attr, .set = bits[i]};
        CHECK_STATUS(vbn_qp_to_init(p.a.qp, &attr), VBN_ERR_ARGUMENT);
        CHECK_HAS(test_error().message, "UC");
        CHECK_STATUS(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, &attr), VBN_ERR_ARGUMENT);
        CHECK_STATUS(vbn_qp_to_rts(p.a.qp, &p.a.record, &attr), VBN_ERR_ARGUMENT);
        CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &p.b.record, &attr), VBN_ERR_ARGUMENT);
        CHECK_STATUS(vbn_qp_connect(p.a.qp, &a, &b, &attr), VBN_ERR_ARGUMENT);
        CHECK_HAS(test_error().message, "UC");
    }
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 1};
    CHECK_STATUS(vbn_qp_prepare(p.a.qp, &prepare), VBN_ERR_ARGUMENT);
    vbn_endpoint endpoint;
    CHECK_STATUS(vbn_endpoint_local(p.a.qp, &endpoint), VBN_ERR_ARGUMENT);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);
    pair_connect(&p, NULL);
    check_alive(&p);
    pair_close(&p);
}

/* Asked for at creation: each refused with its own reason. */
static void operations_of_rc(void) {
    static const struct { uint64_t op; const char *why; } ops[] = {
        {VBN_QP_OP_RDMA_READ, "no answers"}, {VBN_QP_OP_ATOMIC_CMP_AND_SWP, "no answers"}, {VBN_QP_OP_ATOMIC_FETCH_AND_ADD, "no answers"},
        {VBN_QP_OP_SEND_WITH_INV, "keys taken back"}, {VBN_QP_OP_LOCAL_INV, "keys taken back"}, {VBN_QP_OP_BIND_MW, "windows"},
        {VBN_QP_OP_FLUSH, "flushes"}, {VBN_QP_OP_ATOMIC_WRITE, "atomic writes"},
    };
    side_open(&p.a, &uc);
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
        vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .qp_type = VBN_QPT_UC, .send_ops = VBN_QP_OP_SEND | ops[i].op};
        vbn_qp *qp = NULL;
        CHECK_STATUS(vbn_qp_create(p.a.pd, &attr, &qp), VBN_ERR_NOT_SUPPORTED);
        CHECK(!qp);
        CHECK_UEQ(test_error().value, ops[i].op);
        CHECK_HAS(test_error().message, ops[i].why);
        CHECK_HAS(test_error().message, "use RC");
    }
    side_close(&p.a);
}

/* ---- Connecting by the records that can grow ---- */

static vbn_endpoint_info one, two;

static void infos(const vbn_endpoint_info_attr *attr) {
    one = two = (vbn_endpoint_info){.struct_size = sizeof one};
    CHECK_OK(vbn_endpoint_info_local(p.a.qp, attr, &one));
    CHECK_OK(vbn_endpoint_info_local(p.b.qp, attr, &two));
    /* As the peer gets them. */
    uint8_t bytes[VBN_RECORD_MAX_SIZE];
    size_t size;
    CHECK_OK(vbn_endpoint_info_encode(&two, bytes, sizeof bytes, &size));
    CHECK_OK(vbn_endpoint_info_decode(bytes, size, &two));
}

static void connect_both(const vbn_rc_attr *attr) {
    CHECK_OK(vbn_qp_connect(p.a.qp, &one, &two, attr));
    CHECK_OK(vbn_qp_connect(p.b.qp, &two, &one, attr));
}

static void connect_type(int32_t type) {
    struct setup setup = {.qp_type = type};
    pair_open(&p, &setup);
    infos(NULL);
    connect_both(NULL);
    vbn_qp_info info = qp_info(p.a.qp);
    CHECK_EQ(info.qp_state, VBN_QPS_RTS);
    CHECK_UEQ(info.dest_qp_num, two.qp_num);
    CHECK_UEQ(info.rq_psn, two.psn);
    CHECK_UEQ(info.sq_psn, one.psn);
    CHECK_MEM(info.path.dgid, two.gids[0].gid, 16);
    CHECK_EQ(info.path_mtu, one.mtu);
    check_alive(&p);

    /* Once more is fine, with the same peer. */
    connect_both(NULL);
    check_alive(&p);
    vbn_endpoint_info other = two;
    other.qp_num ^= 1;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "a peer of another number");
    check_alive(&p);

    /* From ERR there is no way but by RESET. */
    qp_force(p.a.qp, VBN_QPS_ERR);
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &two, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "RESET");
    pair_close(&p);

    /* From INIT and RTR it goes on. */
    pair_open(&p, &setup);
    infos(NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    CHECK_OK(vbn_qp_to_init(p.b.qp, NULL));
    vbn_rc_record own = p.b.record, peer = p.a.record;
    own.psn = two.psn;
    peer.psn = one.psn;
    CHECK_OK(vbn_qp_to_rtr(p.b.qp, &own, &peer, NULL));
    connect_both(NULL);
    check_alive(&p);
    pair_close(&p);
}

static void connect_uc(void) {
    connect_type(VBN_QPT_UC);
}

static void connect_rc(void) {
    connect_type(VBN_QPT_RC);
}

/* All that keeps the two apart is named before the first step. */
static void mismatches(void) {
    pair_open(&p, &uc);
    infos(NULL);
    vbn_endpoint_info other = two;
    other.qp_type = VBN_QPT_RC;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_UEQ(test_error().value, VBN_MISMATCH_TRANSPORT);
    CHECK_HAS(test_error().message, "this queue pair is UC, the peer's RC");
    other = two;
    other.num_gids = 1;
    other.gids[0].type = VBN_GID_TYPE_IB;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_UEQ(test_error().value, VBN_MISMATCH_GID);
    other.qp_type = VBN_QPT_RC;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_UEQ(test_error().value, VBN_MISMATCH_TRANSPORT | VBN_MISMATCH_GID);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);

    /* The record of another queue pair, and of another type, as one's own. */
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &two, &two, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "local record");
    vbn_endpoint_info foreign = one;
    foreign.qp_type = VBN_QPT_RC;
    other = two;
    other.qp_type = VBN_QPT_RC;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &foreign, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "qp_type of the local record");
    other = two;
    other.qp_num = 1 << 24;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);

    /* An address that has gone. */
    foreign = one;
    foreign.num_gids = 1;
    foreign.gids[0].gid[15] ^= 0x55;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &foreign, &two, NULL), VBN_ERR_NOT_FOUND);
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_PATH_MTU, .path_mtu = VBN_MTU_4096};
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(p.a.context, 1, &port));
    if (port.active_mtu < VBN_MTU_4096) CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &two, &attr), VBN_ERR_LIMIT);
    /* After all that it still connects. */
    connect_both(NULL);
    check_alive(&p);
    pair_close(&p);
}

/* One refusal of vbn_qp_connect, after which the queue pair is in INIT as before. */
static void refused(const vbn_endpoint_info *remote, const vbn_rc_attr *attr, vbn_status status, const char *says) {
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, remote, attr), status);
    CHECK_HAS(test_error().message, says);
    CHECK_STR(test_error().op_name, "vbn_qp_connect");
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_INIT);
}

static void does_not_fit(const vbn_endpoint_info *remote, uint64_t bits, const char *says) {
    refused(remote, NULL, VBN_ERR_ARGUMENT, says);
    CHECK_UEQ(test_error().value, bits);
}

static vbn_endpoint_gid gid_of(int32_t type, int32_t family, const uint8_t address[16]) {
    vbn_endpoint_gid gid = {.type = type, .family = family};
    memcpy(gid.gid, address, 16);
    return gid;
}

/* Every single thing that keeps two apart, found before RTR. */
static void every_mismatch(int32_t type) {
    static const uint8_t site[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 9}, loop6[16] = {[15] = 1};
    static const uint8_t net[16] = {[10] = 0xff, 0xff, 192, 0, 2, 9}, loop4[16] = {[10] = 0xff, 0xff, 127, 0, 0, 9};
    struct setup setup = {.qp_type = type};
    pair_open(&p, &setup);
    infos(NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    const vbn_endpoint_info mine = one, good = two;
    const vbn_endpoint_gid *own = &mine.gids[0];
    vbn_endpoint_info other = good;

    other.qp_type = type == VBN_QPT_RC ? VBN_QPT_UC : VBN_QPT_RC;
    does_not_fit(&other, VBN_MISMATCH_TRANSPORT, type == VBN_QPT_RC ? "this queue pair is RC, the peer's UC" : "this queue pair is UC, the peer's RC");
    other.qp_type = VBN_QPT_UD;
    other.set |= VBN_ENDPOINT_SET_QKEY;
    does_not_fit(&other, VBN_MISMATCH_TRANSPORT, "the peer's UD");
    other.qp_type = VBN_QPT_SRD;
    does_not_fit(&other, VBN_MISMATCH_TRANSPORT, "the peer's SRD");

    /* Addresses: type, family, reach, and none. */
    CHECK_EQ(own->type, VBN_GID_TYPE_ROCE_V2);
    int v4 = own->family == VBN_GID_FAMILY_IPV4;
    one.num_gids = 1;
    other = good;
    other.num_gids = 1;
    other.gids[0].type = VBN_GID_TYPE_ROCE_V1;
    does_not_fit(&other, VBN_MISMATCH_GID, "RoCE v2 here, RoCE v1 there");
    other.gids[0].type = VBN_GID_TYPE_IB;
    does_not_fit(&other, VBN_MISMATCH_GID, "RoCE v2 here, IB there");
    other.gids[0] = v4 ? gid_of(own->type, VBN_GID_FAMILY_IPV6, site) : gid_of(own->type, VBN_GID_FAMILY_IPV4, net);
    does_not_fit(&other, VBN_MISMATCH_GID, v4 ? "IPv4 here, IPv6 there" : "IPv6 here, IPv4 there");
    one.gids[0] = v4 ? gid_of(own->type, own->family, loop4) : gid_of(own->type, own->family, loop6);
    other.gids[0] = v4 ? gid_of(own->type, own->family, net) : gid_of(own->type, own->family, site);
    does_not_fit(&other, VBN_MISMATCH_GID, "that of this side is a loopback address");
    vbn_endpoint_gid far = other.gids[0];
    other.gids[0] = one.gids[0];
    one.gids[0] = far;
    does_not_fit(&other, VBN_MISMATCH_GID, "that of the peer is a loopback address");
    one = mine;
    other.num_gids = 0;
    refused(&other, NULL, VBN_ERR_ARGUMENT, "neither a GID nor a LID");
    other.set |= VBN_ENDPOINT_SET_LID;
    other.lid = 7;
    does_not_fit(&other, VBN_MISMATCH_GID, "the peer tells no GID, only a LID");
    /* Both claim to have a LID, which RoCE has no use for. */
    one.set |= VBN_ENDPOINT_SET_LID;
    one.lid = 8;
    refused(&other, NULL, VBN_ERR_ARGUMENT, "the peer's GID is all zero");
    one = mine;
    other = good;
    memset(other.gids[0].gid, 0, 16);
    refused(&other, NULL, VBN_ERR_ARGUMENT, "the GID is all zero");
    one.num_gids = 1;
    one.gids[0].gid[15] ^= 0x55;
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &good, NULL), VBN_ERR_NOT_FOUND);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_INIT);
    one = mine;

    /* All at once: each is named. */
    other = good;
    other.qp_type = type == VBN_QPT_RC ? VBN_QPT_UC : VBN_QPT_RC;
    other.num_gids = 1;
    other.gids[0].type = VBN_GID_TYPE_ROCE_V1;
    other.set |= VBN_ENDPOINT_SET_ECE | VBN_ENDPOINT_SET_UNSOLICITED | VBN_ENDPOINT_SET_EFA_GENERATION;
    other.ece_vendor_id = 5, other.ece_options = 1, other.unsolicited = 1, other.efa_generation = 0xefa0;
    one.set |= VBN_ENDPOINT_SET_ECE | VBN_ENDPOINT_SET_UNSOLICITED | VBN_ENDPOINT_SET_EFA_GENERATION;
    one.ece_vendor_id = 6, one.ece_options = 1, one.unsolicited = 0, one.efa_generation = 0xefa1;
    does_not_fit(&other, VBN_MISMATCH_TRANSPORT | VBN_MISMATCH_GID | VBN_MISMATCH_ECE | VBN_MISMATCH_UNSOLICITED | VBN_MISMATCH_EFA_GENERATION,
                 "of vendor 0x6, the peer of vendor 0x5");
    CHECK_HAS(test_error().message, "RoCE v2 here, RoCE v1 there");
    CHECK_HAS(test_error().message, "VBN_QP_UNSOLICITED_WRITE_RECV");
    CHECK_HAS(test_error().message, "0xefa1 and an EFA 0xefa0");
    one = mine;

    /* Numbers. */
    other = good;
    other.set &= ~VBN_ENDPOINT_SET_PSN;
    refused(&other, NULL, VBN_ERR_ARGUMENT, "needs a psn");
    other = good;
    other.psn = 1 << 24;
    refused(&other, NULL, VBN_ERR_ARGUMENT, "psn");
    other = good;
    other.qp_num = 1 << 24;
    refused(&other, NULL, VBN_ERR_ARGUMENT, "qp_num");
    one.set &= ~VBN_ENDPOINT_SET_PSN;
    refused(&good, NULL, VBN_ERR_ARGUMENT, "needs a psn");
    one = mine;
    one.qp_num ^= 1;
    refused(&good, NULL, VBN_ERR_ARGUMENT, "qp_num of the local record");
    one = mine;
    one.port_num = 77;
    refused(&good, NULL, VBN_ERR_LIMIT, "port_num");
    one = mine;
    for (uint8_t mtu = 0; mtu <= 6; mtu += 6) {
        other = good;
        other.mtu = mtu;
        refused(&other, NULL, VBN_ERR_ARGUMENT, "mtu");
    }
    other = good;
    other.mtu = VBN_MTU_256;
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_PATH_MTU, .path_mtu = VBN_MTU_512};
    refused(&other, &attr, VBN_ERR_LIMIT, "path_mtu 2 exceeds the peer's mtu 1");
    CHECK_UEQ(test_error().limit, VBN_MTU_256);
    attr = (vbn_rc_attr){.struct_size = sizeof attr, .set = VBN_RC_SET_IS_GLOBAL, .is_global = 0};
    refused(&good, &attr, VBN_ERR_ARGUMENT, "is_global");
    attr = (vbn_rc_attr){.struct_size = sizeof attr, .port_num = 2};
    refused(&good, &attr, VBN_ERR_ARGUMENT, "port_num");
    attr = (vbn_rc_attr){.struct_size = sizeof attr, .set = VBN_RC_SET_SGID_INDEX, .sgid_index = 200};
    refused(&good, &attr, VBN_ERR_ARGUMENT, "sgid_index");
    if (type == VBN_QPT_RC) {
        other = good;
        other.max_dest_rd_atomic = 2;
        attr = (vbn_rc_attr){.struct_size = sizeof attr, .set = VBN_RC_SET_MAX_RD_ATOMIC, .max_rd_atomic = 4};
        refused(&other, &attr, VBN_ERR_LIMIT, "the peer's max_dest_rd_atomic");
    }

    /* After all that it still connects. In RTR the peer's number, GID and PSN count; in RTS its number and GID. */
    vbn_rc_record from = p.a.record, to = p.b.record;
    from.psn = mine.psn;
    to.psn = good.psn;
    memcpy(from.gid, own->gid, 16);
    memcpy(to.gid, good.gids[0].gid, 16);
    CHECK_OK(vbn_qp_to_rtr(p.a.qp, &from, &to, NULL));
    for (int32_t state = VBN_QPS_RTR; state <= VBN_QPS_RTS; state++) {
        CHECK_EQ(qp_state(p.a.qp), state);
        other = good;
        other.qp_num ^= 1;
        CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
        CHECK_HAS(test_error().message, "a peer of another number");
        CHECK_UEQ(test_error().value, other.qp_num);
        CHECK_UEQ(test_error().limit, good.qp_num);
        other = good;
        other.num_gids = 1;
        other.gids[0].gid[15] ^= 2;
        CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
        CHECK_HAS(test_error().message, "a peer of another GID");
        if (state == VBN_QPS_RTS) break;
        other = good;
        other.psn = (other.psn + 1) & 0xffffff;
        CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &other, NULL), VBN_ERR_ARGUMENT);
        CHECK_HAS(test_error().message, "another PSN");
        CHECK_UEQ(test_error().value, other.psn);
        CHECK_UEQ(test_error().limit, good.psn);
        CHECK_EQ(qp_state(p.a.qp), state);
        connect_both(NULL);
    }
    check_alive(&p);
    pair_close(&p);
}

static void mismatches_rc(void) {
    every_mismatch(VBN_QPT_RC);
}

static void mismatches_uc(void) {
    every_mismatch(VBN_QPT_UC);
}

/* Of several addresses of the peer the one of the same subnet is taken, wherever it stands. */
static void same_subnet(void) {
    static const uint8_t far4[16] = {[10] = 0xff, 0xff, 198, 51, 100, 7}, far6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 7};
    pair_open(&p, NULL);
    infos(NULL);
    vbn_endpoint_gid own = one.gids[0];
    static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
    if (own.family != VBN_GID_FAMILY_IPV4 || memcmp(own.gid, mapped, 12) != 0 || own.gid[12] == 127) SKIP("the port has no IPv4 address that others reach");
    two.num_gids = 4;
    two.gids[0] = gid_of(own.type, own.family, far4);
    two.gids[1] = gid_of(own.type, VBN_GID_FAMILY_IPV6, far6);
    two.gids[2] = gid_of(VBN_GID_TYPE_ROCE_V1, own.family, own.gid);
    two.gids[3] = own;
    connect_both(NULL);
    CHECK_MEM(qp_info(p.a.qp).path.dgid, own.gid, 16);
    check_alive(&p);
    pair_close(&p);
}

static void smaller_mtu_and_less_told(void) {
    pair_open(&p, &uc);
    infos(NULL);
    two.mtu = VBN_MTU_256;
    CHECK_OK(vbn_qp_connect(p.a.qp, &one, &two, NULL));
    CHECK_EQ(qp_info(p.a.qp).path_mtu, VBN_MTU_256);
    pair_close(&p);

    /* A peer that tells only what it must. */
    pair_open(&p, &uc);
    infos(NULL);
    one.set = two.set = VBN_ENDPOINT_SET_PSN;
    connect_both(NULL);
    check_alive(&p);
    pair_close(&p);
}

/* A GID of one's own choice must be one that the peer was told of. */
static void own_gid(void) {
    pair_open(&p, &uc);
    infos(NULL);
    vbn_gid_choice choice = {.struct_size = sizeof choice};
    CHECK_OK(vbn_gid_select(p.a.context, 1, NULL, &choice, NULL, 0, 0, NULL));
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_SGID_INDEX, .sgid_index = 200};
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &two, &attr), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "sgid_index");
    attr.sgid_index = (uint8_t)choice.index;
    connect_both(&attr);
    CHECK_EQ(qp_info(p.a.qp).path.sgid_index, choice.index);
    check_alive(&p);
    pair_close(&p);
}

/* RC: no more reads in flight than the peer answers. */
static void read_depth(void) {
    pair_open(&p, NULL);
    infos(NULL);
    CHECK(one.set & two.set & VBN_ENDPOINT_SET_READ_DEPTH);
    two.max_dest_rd_atomic = 2;
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_MAX_RD_ATOMIC, .max_rd_atomic = 4};
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &one, &two, &attr), VBN_ERR_LIMIT);
    CHECK_HAS(test_error().message, "the peer's max_dest_rd_atomic");
    CHECK_UEQ(test_error().value, 4);
    CHECK_UEQ(test_error().limit, 2);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);
    CHECK_OK(vbn_qp_connect(p.a.qp, &one, &two, NULL));
    CHECK_OK(vbn_qp_connect(p.b.qp, &two, &one, NULL));
    CHECK_EQ(qp_info(p.a.qp).max_rd_atomic, 2);
    CHECK_EQ(qp_info(p.b.qp).max_dest_rd_atomic, 2);
    fill(p.b.memory, 8 * 64, 6);
    for (uint32_t i = 0; i < 8; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, i, 64 * i, 64);
        post_send(&p.a, &wr);
    }
    for (uint32_t i = 0; i < 8; i++) next_ok(&p.a, i);
    CHECK_MEM(p.a.memory, p.b.memory, 8 * 64);
    pair_close(&p);
}

static const struct test tests[] = {
    {"sends", sends},
    {"writes", writes},
    {"gathered_and_inline", gathered_and_inline},
    {"no_reads", no_reads},
    {"wrong_rkey_is_dropped", wrong_rkey_is_dropped},
    {"access_is_checked", access_is_checked},
    {"no_receive_posted", no_receive_posted},
    {"peer_has_gone", peer_has_gone},
    {"lossy_wire", lossy_wire},
    {"stepwise", stepwise},
    {"masks", masks},
    {"what_uc_lacks", what_uc_lacks},
    {"operations_of_rc", operations_of_rc},
    {"connect_uc", connect_uc},
    {"connect_rc", connect_rc},
    {"mismatches", mismatches},
    {"mismatches_rc", mismatches_rc},
    {"mismatches_uc", mismatches_uc},
    {"same_subnet", same_subnet},
    {"smaller_mtu_and_less_told", smaller_mtu_and_less_told},
    {"own_gid", own_gid},
    {"read_depth", read_depth},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("uc", tests, argc, argv);
}
