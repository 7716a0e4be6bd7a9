/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The objects of an EFA: device, completion queues, queue pairs and their states, address handles, peers, records. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "srd.h"

static struct srd_side s;
static const struct srd_setup reset = {.no_prepare = 1};

/* ---- device ---- */

static void device(void) {
    vbn_device_info devices[8];
    uint32_t count = 0, found = 0;
    need_efa(test_device());
    CHECK_OK(vbn_device_list(devices, sizeof devices[0], 8, &count));
    for (uint32_t i = 0; i < count && i < 8; i++) found += strcmp(devices[i].name, test_device()) == 0;
    CHECK_UEQ(found, 1);
    srd_open(&s, &reset);
    vbn_device_attr attr = {.struct_size = sizeof attr};
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_device(s.context, &attr));
    CHECK_UEQ(attr.vendor_id, 0x1d0f);
    CHECK_OK(vbn_context_query_port(s.context, 1, &port));
    CHECK_STR(vbn_port_state_name(port.state), "ACTIVE");
    CHECK(port.max_msg_sz > 0);
    CHECK_EQ(port.gid_tbl_len, 1);
    uint8_t gid[16] = {0};
    static const uint8_t none[16];
    CHECK_OK(vbn_context_query_gid(s.context, 1, 0, gid));
    CHECK(memcmp(gid, none, 16) != 0);
    srd_close(&s);
}

static void efa_attributes(void) {
    srd_open(&s, &reset);
    vbn_efa_device_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_efa_query_device(s.context, &info));
    CHECK(info.max_sq_wr > 0 && info.max_rq_wr > 0 && info.max_sq_sge > 0 && info.max_rq_sge > 0 && info.inline_buf_size > 0);
    CHECK_EQ(info.max_rdma_size > 0, !!(info.caps & VBN_EFA_CAP_RDMA_READ));
    srd_close(&s);
}

/* ---- completion queues ---- */

static vbn_status create_cq(uint32_t cqe, uint32_t vector, uint64_t fields, vbn_channel *channel, vbn_cq **out) {
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = cqe, .comp_vector = vector, .fields = fields, .channel = channel};
    return vbn_cq_create(s.context, &attr, out);
}

static void cq_plain(void) {
    vbn_cq *cq = NULL;
    vbn_cq_info info = {.struct_size = sizeof info};
    vbn_wc_ext wc;
    uint32_t got = 99;
    srd_open(&s, &reset);
    CHECK_OK(create_cq(100, 0, 0, NULL, &cq));
    CHECK_OK(vbn_cq_query(cq, &info));
    CHECK(info.cqe >= 100);
    CHECK_UEQ(info.has_channel, 0);
    CHECK_UEQ(info.fields, 0);
    CHECK_OK(vbn_cq_poll(cq, 1, &wc.wc, &got));
    CHECK_UEQ(got, 0);
    CHECK_OK(vbn_cq_poll_ext(cq, 1, &wc, sizeof wc, &got));
    CHECK_UEQ(got, 0);
    vbn_cq *copy = cq;
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_STATUS(vbn_cq_poll(copy, 1, &wc.wc, &got), VBN_ERR_CLOSED);
    CHECK_STATUS(create_cq(0, 0, 0, NULL, &cq), VBN_ERR_ARGUMENT);
    CHECK_STATUS(create_cq(1 << 30, 0, 0, NULL, &cq), VBN_ERR_LIMIT);
    CHECK_STATUS(create_cq(16, 10000, 0, NULL, &cq), VBN_ERR_LIMIT);
    CHECK(cq == NULL);
    srd_close(&s);
}

/* Every set of fields that the device says it has can be had; others are refused, with the reason. */
static void cq_fields(void) {
    vbn_cq *cq = NULL;
    srd_open(&s, &reset);
    static const uint64_t standard[] = {VBN_WC_EX_STANDARD, VBN_WC_EX_QP_NUM, VBN_WC_EX_BYTE_LEN | VBN_WC_EX_IMM};
    for (int i = 0; i < 3; i++) {
        vbn_cq_info info = {.struct_size = sizeof info};
        CHECK_OK(create_cq(16, 0, standard[i], NULL, &cq));
        CHECK_OK(vbn_cq_query(cq, &info));
        CHECK_UEQ(info.fields, standard[i]);
        CHECK_OK(vbn_cq_close(&cq));
    }
    static const struct {
        uint64_t field, cap;
        const char *name;
    } own[] = {{VBN_WC_EX_SGID, VBN_EFA_CAP_CQ_WITH_SGID, "VBN_WC_EX_SGID"},
               {VBN_WC_EX_UNSOLICITED, VBN_EFA_CAP_UNSOLICITED_WRITE_RECV, "VBN_WC_EX_UNSOLICITED"}};
    for (int i = 0; i < 2; i++) {
        if (s.caps & own[i].cap) {
            CHECK_OK(create_cq(16, 0, VBN_WC_EX_STANDARD | own[i].field, NULL, &cq));
            CHECK_OK(vbn_cq_close(&cq));
        } else {
            CHECK_STATUS(create_cq(16, 0, own[i].field, NULL, &cq), VBN_ERR_NOT_SUPPORTED);
            CHECK_HAS(test_error().message, own[i].name);
        }
    }
    CHECK_STATUS(create_cq(16, 0, VBN_WC_EX_TIMESTAMP, NULL, &cq), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "doesn't offer all of VBN_WC_EX_TIMESTAMP");
    CHECK_STATUS(create_cq(16, 0, UINT64_C(1) << 50, NULL, &cq), VBN_ERR_ARGUMENT);
    srd_close(&s);
}

/* Arming a queue without a channel would ring a doorbell at NULL in libefa. */
static void cq_arm(void) {
    srd_open(&s, &reset);
    CHECK_STATUS(vbn_cq_arm(s.cq, 0), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "no channel");
    vbn_channel *channel = NULL;
    vbn_cq *cq = NULL;
    CHECK_OK(vbn_channel_create(s.context, NULL, &channel));
    if (srd_no_notifications()) {
        CHECK_STATUS(create_cq(16, 0, 0, channel, &cq), VBN_ERR_NOT_SUPPORTED);
        CHECK_HAS(test_error().message, "create the queue without a channel, and vbn_cq_wait polls");
        CHECK_OK(vbn_channel_close(&channel));
        srd_close(&s);
        return;
    }
    CHECK_OK(create_cq(16, 0, 0, channel, &cq));
    CHECK_OK(vbn_cq_arm(cq, 0));
    CHECK_STATUS(vbn_cq_arm(cq, 1), VBN_ERR_NOT_SUPPORTED); /* solicited only */
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(create_cq(16, 0, VBN_WC_EX_STANDARD, channel, &cq));
    CHECK_OK(vbn_cq_arm(cq, 0));
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_channel_close(&channel));
    srd_close(&s);
}

static void cq_query_efa(void) {
    vbn_efa_cq_info info = {.struct_size = sizeof info};
    srd_open(&s, &reset);
    vbn_status status = vbn_efa_query_cq(s.cq, &info);
    if (status == VBN_ERR_SYMBOL_MISSING) {
        CHECK_HAS(test_error().message, "59");
    } else {
        CHECK_OK(status);
        CHECK(info.buffer != NULL);
        CHECK_UEQ(info.num_entries, 256);
        CHECK(info.entry_size == 32 || info.entry_size == 16);
    }
    srd_close(&s);
}

/* ---- queue pairs ---- */

static void create_reset(void) {
    srd_open(&s, &reset);
    vbn_qp_info info = qp_info(s.qp);
    CHECK_STR(vbn_qp_state_name(info.qp_state), "RESET");
    CHECK_EQ(info.qp_type, VBN_QPT_SRD);
    CHECK_UEQ(info.qp_num, vbn_qp_num(s.qp));
    CHECK_EQ(info.post_path, VBN_POST_PATH_WR);
    CHECK(info.max_send_wr >= 128 && info.max_recv_wr >= 128 && info.max_send_sge >= 1 && info.max_recv_sge >= 1);
    CHECK(info.send_ops & VBN_QP_OP_SEND && info.send_ops & VBN_QP_OP_SEND_WITH_IMM);
    /* By default what the device has, so that creation works everywhere. */
    CHECK_UEQ(!!(info.send_ops & VBN_QP_OP_RDMA_READ), !!(s.caps & VBN_EFA_CAP_RDMA_READ));
    CHECK_UEQ(!!(info.send_ops & VBN_QP_OP_RDMA_WRITE), !!(s.caps & VBN_EFA_CAP_RDMA_WRITE));
    CHECK_UEQ(!!(info.send_ops & VBN_QP_OP_RDMA_WRITE_WITH_IMM), !!(s.caps & VBN_EFA_CAP_RDMA_WRITE));
    if (s.caps & VBN_EFA_CAP_RDMA_READ) CHECK_UEQ(info.max_rdma, 1u << 30);
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(s.context, 1, &port));
    CHECK_UEQ(info.max_message, port.max_msg_sz);
    vbn_qp *copy = s.qp;
    CHECK_OK(vbn_qp_close(&s.qp));
    CHECK_OK(vbn_qp_close(&s.qp)); /* once more: nothing */
    CHECK_STATUS(vbn_qp_query(copy, &info), VBN_ERR_CLOSED);
    srd_close(&s);
}

static void create_ud(void) {
    static const struct srd_setup ud = {.qp_type = VBN_QPT_UD, .no_prepare = 1};
    srd_open(&s, &ud);
    vbn_qp_info info = qp_info(s.qp);
    CHECK_EQ(info.qp_type, VBN_QPT_UD);
    CHECK_EQ(info.post_path, VBN_POST_PATH_WR);
    CHECK_STR(vbn_qp_state_name(info.qp_state), "RESET");
    CHECK_UEQ(info.send_ops, VBN_QP_OP_SEND | VBN_QP_OP_SEND_WITH_IMM);
    srd_close(&s);
}

static void create_refused(const struct srd_setup *setup, vbn_status status, const char *part) {
    vbn_qp *qp = NULL;
    CHECK_STATUS(srd_create_qp(&s, setup, &qp), status);
    CHECK(qp == NULL);
    CHECK_HAS(test_error().message, part);
}

static void types_refused(void) {
    static const struct srd_setup rc = {.qp_type = VBN_QPT_RC}, uc = {.qp_type = VBN_QPT_UC}, raw = {.qp_type = VBN_QPT_RAW_PACKET};
    srd_open(&s, &reset);
    create_refused(&rc, VBN_ERR_NOT_SUPPORTED, "RC");
    create_refused(&uc, VBN_ERR_NOT_SUPPORTED, "RC or UC");
    create_refused(&raw, VBN_ERR_NOT_SUPPORTED, "qp_type");
    srd_close(&s);
}

static void limits_refused(void) {
    static const struct srd_setup sends = {.send_wr = 1 << 20}, receives = {.recv_wr = 1 << 20}, gathers = {.send_sge = 99},
                                  scatters = {.recv_sge = 99}, inlines = {.inline_data = 5000};
    srd_open(&s, &reset);
    vbn_efa_device_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_efa_query_device(s.context, &info));
    uint32_t line = info.inline_buf_size > info.inline_buf_size_ex ? info.inline_buf_size : info.inline_buf_size_ex;
    const struct {
        const struct srd_setup *setup;
        const char *name;
        uint32_t value, limit;
    } cases[] = {{&sends, "max_send_wr", 1 << 20, info.max_sq_wr}, {&receives, "max_recv_wr", 1 << 20, info.max_rq_wr},
                 {&gathers, "max_send_sge", 99, info.max_sq_sge},  {&scatters, "max_recv_sge", 99, info.max_rq_sge},
                 {&inlines, "max_inline_data", 5000, line}};
    for (int i = 0; i < 5; i++) {
        create_refused(cases[i].setup, VBN_ERR_LIMIT, cases[i].name);
        CHECK_UEQ(test_error().value, cases[i].value);
        CHECK_UEQ(test_error().limit, cases[i].limit);
    }
    srd_close(&s);
}

/* libefa divides by max_recv_sge. */
static void recv_sge_zero(void) {
    vbn_qp *qp = NULL;
    srd_open(&s, &reset);
    for (int type = 0; type < 2; type++) {
        vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = s.cq, .qp_type = type ? VBN_QPT_UD : VBN_QPT_SRD,
                                 .set = VBN_QP_INIT_SET_MAX_RECV_SGE};
        CHECK_STATUS(vbn_qp_create(s.pd, &attr, &qp), VBN_ERR_ARGUMENT);
        CHECK_HAS(test_error().message, "divide by zero");
        attr.set = VBN_QP_INIT_SET_MAX_RECV_WR; /* the remedy */
        CHECK_OK(vbn_qp_create(s.pd, &attr, &qp));
        CHECK_OK(vbn_qp_close(&qp));
    }
    srd_close(&s);
}

static void flags_refused(void) {
    static const struct srd_setup ud = {.qp_type = VBN_QPT_UD, .flags = VBN_QP_UNSOLICITED_WRITE_RECV},
                                  unsolicited = {.flags = VBN_QP_UNSOLICITED_WRITE_RECV}, unknown = {.flags = UINT64_C(1) << 40};
    srd_open(&s, &reset);
    create_refused(&ud, VBN_ERR_ARGUMENT, "SRD");
    create_refused(&unknown, VBN_ERR_ARGUMENT, "flags");
    if (s.caps & VBN_EFA_CAP_UNSOLICITED_WRITE_RECV)
        create_refused(&unsolicited, VBN_ERR_ARGUMENT, "VBN_WC_EX_UNSOLICITED"); /* the queue can't tell them */
    else
        create_refused(&unsolicited, VBN_ERR_NOT_SUPPORTED, "rdma-core 52");
    srd_close(&s);
}

/* An operation that device or libefa lack is refused at creation, with what it takes. */
static void absent_operations(void) {
    static const struct srd_setup write = {.send_ops = VBN_QP_OP_SEND | VBN_QP_OP_RDMA_WRITE}, odd = {.send_ops = UINT64_C(1) << 40},
                                  ud_read = {.qp_type = VBN_QPT_UD, .send_ops = VBN_QP_OP_RDMA_READ};
    static const struct srd_setup read = {.send_ops = VBN_QP_OP_SEND | VBN_QP_OP_RDMA_READ};
    vbn_qp *qp = NULL;
    srd_open(&s, &reset);
    create_refused(&odd, VBN_ERR_ARGUMENT, "send_ops");
    if (s.caps & VBN_EFA_CAP_RDMA_READ) {
        CHECK_OK(srd_create_qp(&s, &read, &qp));
        CHECK_OK(vbn_qp_close(&qp));
    } else {
        create_refused(&read, VBN_ERR_NOT_SUPPORTED, "the device has no such operation");
        CHECK_UEQ(test_error().value, VBN_QP_OP_RDMA_READ);
    }
    create_refused(&ud_read, VBN_ERR_NOT_SUPPORTED, "send_ops");
    if (s.caps & VBN_EFA_CAP_RDMA_WRITE) {
        CHECK_OK(srd_create_qp(&s, &write, &qp));
        CHECK_OK(vbn_qp_close(&qp));
    } else {
        vbn_efa_mr_info mr = {.struct_size = sizeof mr};
        int old = vbn_efa_query_mr(s.mr, &mr) == VBN_ERR_SYMBOL_MISSING;
        create_refused(&write, VBN_ERR_NOT_SUPPORTED, old ? "RDMA WRITE needs rdma-core 46 or newer" : "the device has no such operation");
        CHECK_UEQ(test_error().value, VBN_QP_OP_RDMA_WRITE);
    }
    srd_close(&s);
}

static void foreign_cq(void) {
    struct srd_side other;
    vbn_qp *qp = NULL;
    srd_open(&s, &reset);
    srd_open(&other, &reset);
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = s.cq, .recv_cq = other.cq, .qp_type = VBN_QPT_SRD};
    CHECK_STATUS(vbn_qp_create(s.pd, &attr, &qp), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "recv_cq");
    srd_close(&other);
    srd_close(&s);
}

/* ---- states ---- */

static vbn_qp_attr step(int32_t state, uint64_t set) {
    vbn_qp_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_STATE | set, .qp_state = state, .port_num = 1, .qkey = 0x1234567, .sq_psn = 77};
    return attr;
}

static void steps_of(int32_t type) {
    const struct srd_setup setup = {.qp_type = type, .no_prepare = 1};
    srd_open(&s, &setup);
    vbn_qp_attr init = step(VBN_QPS_INIT, VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_QKEY), rtr = step(VBN_QPS_RTR, 0),
                rts = step(VBN_QPS_RTS, VBN_QP_SQ_PSN);
    CHECK_OK(vbn_qp_modify(s.qp, &init));
    CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "INIT");
    CHECK_UEQ(qp_info(s.qp).qkey, 0x1234567);
    CHECK_OK(vbn_qp_modify(s.qp, &rtr));
    CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "RTR");
    CHECK_OK(vbn_qp_modify(s.qp, &rts));
    vbn_qp_info info = qp_info(s.qp);
    CHECK_STR(vbn_qp_state_name(info.qp_state), "RTS");
    CHECK_UEQ(info.qkey, 0x1234567);
    CHECK_UEQ(info.sq_psn, 77);
    CHECK_UEQ(info.port_num, 1);
    srd_close(&s);
}

static void steps_srd(void) {
    steps_of(VBN_QPT_SRD);
}
static void steps_ud(void) {
    steps_of(VBN_QPT_UD);
}

/* RC's attributes are none of EFA's; a bit that nobody knows is none of ours. */
static void steps_refused(void) {
    srd_open(&s, &reset);
    vbn_qp_attr rc = step(VBN_QPS_INIT, VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_ACCESS_FLAGS), bogus = step(VBN_QPS_INIT, UINT64_C(1) << 50),
                early = step(VBN_QPS_RTS, VBN_QP_SQ_PSN);
    CHECK(vbn_qp_modify(s.qp, &rc) != VBN_OK);
    CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "RESET");
    CHECK_STATUS(vbn_qp_modify(s.qp, &bogus), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "set");
    CHECK(vbn_qp_modify(s.qp, &early) != VBN_OK);
    vbn_rc_record record;
    CHECK_STATUS(vbn_rc_record_local(s.qp, NULL, &record), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_qp_to_init(s.qp, NULL), VBN_ERR_ARGUMENT);
    srd_close(&s);
}

/* ---- attribute masks ---- */

#define BIT(name) {VBN_QP_##name, "VBN_QP_" #name}
static const struct {
    uint64_t bit;
    const char *name;
} bits[] = {BIT(EN_SQD_ASYNC_NOTIFY), BIT(ACCESS_FLAGS), BIT(PKEY_INDEX), BIT(PORT), BIT(QKEY), BIT(AV), BIT(PATH_MTU), BIT(TIMEOUT), BIT(RETRY_CNT), BIT(RNR_RETRY),
            BIT(RQ_PSN), BIT(MAX_QP_RD_ATOMIC), BIT(ALT_PATH), BIT(MIN_RNR_TIMER), BIT(SQ_PSN), BIT(MAX_DEST_RD_ATOMIC), BIT(PATH_MIG_STATE), BIT(CAP), BIT(DEST_QPN)};

/* One step with each bit that it needs left out, with each that it doesn't know too many, and then with what it takes. */
static void masks_of_step(int32_t to, uint64_t required, uint64_t optional) {
    int32_t from = qp_state(s.qp);
    const uint64_t srd_own = VBN_QP_EN_SQD_ASYNC_NOTIFY | VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_QKEY | VBN_QP_SQ_PSN | VBN_QP_RNR_RETRY;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        if (optional & bits[i].bit) continue;
        vbn_qp_attr attr = step(to, required ^ bits[i].bit);
        attr.path_mtu = VBN_MTU_1024;
        vbn_status status = vbn_qp_modify(s.qp, &attr);
        test_note("%s to %s, %s %s: %s", vbn_qp_state_name(from), vbn_qp_state_name(to), required & bits[i].bit ? "without" : "with", bits[i].name,
                  status ? test_last_error() : "fine");
        CHECK(status != VBN_OK);
        /* What the driver knows, but not for this step, is an EINVAL; what it never takes, an EOPNOTSUPP. */
        CHECK_EQ(test_error().sys_errno, bits[i].bit & srd_own ? EINVAL : EOPNOTSUPP);
        CHECK_HAS(test_error().message, bits[i].name);
        CHECK_EQ(qp_state(s.qp), from);
    }
    vbn_qp_attr attr = step(to, required | optional);
    CHECK_OK(vbn_qp_modify(s.qp, &attr));
    CHECK_EQ(qp_state(s.qp), to);
}

static void masks_of(int32_t type, uint64_t to_rts) {
    const struct srd_setup setup = {.qp_type = type, .no_prepare = 1};
    srd_open(&s, &setup);
    masks_of_step(VBN_QPS_INIT, VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_QKEY, 0);
    masks_of_step(VBN_QPS_RTR, 0, VBN_QP_PKEY_INDEX | VBN_QP_QKEY);
    masks_of_step(VBN_QPS_RTS, VBN_QP_SQ_PSN, VBN_QP_QKEY | to_rts);
    masks_of_step(VBN_QPS_RTS, 0, VBN_QP_QKEY);
    masks_of_step(VBN_QPS_SQD, 0, VBN_QP_EN_SQD_ASYNC_NOTIFY);
    masks_of_step(VBN_QPS_RTS, 0, VBN_QP_QKEY);
    srd_close(&s);
}

static void masks(void) {
    masks_of(VBN_QPT_SRD, VBN_QP_RNR_RETRY);
    masks_of(VBN_QPT_UD, 0);
}

static void prepare(void) {
    srd_open(&s, &reset);
    CHECK_OK(srd_prepare(s.qp, s.qkey));
    vbn_qp_info info = qp_info(s.qp);
    CHECK_STR(vbn_qp_state_name(info.qp_state), "RTS");
    CHECK_UEQ(info.qkey, s.qkey);
    CHECK_UEQ(info.sq_psn, 0);
    CHECK_OK(srd_prepare(s.qp, s.qkey)); /* again: fine with the same key */
    CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "RTS");
    CHECK_STATUS(srd_prepare(s.qp, s.qkey ^ 1), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "another QKEY");
    CHECK_UEQ(qp_info(s.qp).qkey, s.qkey);
    /* What is said arrives, all of it. */
    qp_force(s.qp, VBN_QPS_RESET);
    vbn_qp_prepare_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_PREPARE_SET_QKEY | VBN_QP_PREPARE_SET_RNR_RETRY, .qkey = 77, .psn = 0x123456, .rnr_retry = 2};
    CHECK_OK(vbn_qp_prepare(s.qp, &attr));
    info = qp_info(s.qp);
    CHECK_UEQ(info.qkey, 77);
    CHECK_UEQ(info.sq_psn, 0x123456);
    CHECK_UEQ(info.rnr_retry, 2);
    srd_close(&s);
}

/* From the states between, and after an error by way of RESET. */
static void prepare_from(void) {
    srd_open(&s, &reset);
    vbn_qp_attr init = step(VBN_QPS_INIT, VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_QKEY), rtr = step(VBN_QPS_RTR, 0);
    CHECK_OK(vbn_qp_modify(s.qp, &init));
    CHECK_OK(srd_prepare(s.qp, 5)); /* another key than INIT's is fine */
    CHECK_UEQ(qp_info(s.qp).qkey, 5);
    qp_force(s.qp, VBN_QPS_RESET);
    CHECK_OK(vbn_qp_modify(s.qp, &init));
    CHECK_OK(vbn_qp_modify(s.qp, &rtr));
    CHECK_STATUS(srd_prepare(s.qp, 5), VBN_ERR_ARGUMENT);
    CHECK_OK(srd_prepare(s.qp, 0x1234567));
    CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "RTS");
    qp_force(s.qp, VBN_QPS_ERR);
    CHECK_STATUS(srd_prepare(s.qp, 0x1234567), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "RESET");
    qp_force(s.qp, VBN_QPS_RESET);
    CHECK_OK(srd_prepare(s.qp, 6));
    srd_close(&s);
}

static void prepare_refused(void) {
    srd_open(&s, &reset);
    struct {
        vbn_qp_prepare_attr attr;
        vbn_status status;
        const char *part;
    } cases[] = {
        {{.qkey = 1}, VBN_ERR_ARGUMENT, "VBN_QP_PREPARE_SET_QKEY"},
        {{.set = VBN_QP_PREPARE_SET_QKEY, .psn = 1 << 24}, VBN_ERR_ARGUMENT, "psn"},
        {{.set = VBN_QP_PREPARE_SET_QKEY, .port_num = 2}, VBN_ERR_LIMIT, "port"},
        {{.set = VBN_QP_PREPARE_SET_QKEY | VBN_QP_PREPARE_SET_RNR_RETRY, .rnr_retry = 8}, VBN_ERR_ARGUMENT, "rnr_retry"},
        {{.set = VBN_QP_PREPARE_SET_QKEY | 64}, VBN_ERR_ARGUMENT, "set"},
        {{.set = VBN_QP_PREPARE_SET_QKEY, .reserved0 = 1}, VBN_ERR_ARGUMENT, "reserved"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cases[i].attr.struct_size = sizeof cases[i].attr;
        CHECK_STATUS(vbn_qp_prepare(s.qp, &cases[i].attr), cases[i].status);
        CHECK_HAS(test_error().message, cases[i].part);
    }
    CHECK_STR(vbn_qp_state_name(qp_state(s.qp)), "RESET");
    srd_close(&s);
}

static void rnr_retry(void) {
    static const struct srd_setup three = {.set_rnr_retry = 1, .rnr_retry = 3}, zero = {.set_rnr_retry = 1};
    srd_open(&s, &three);
    CHECK_UEQ(qp_info(s.qp).rnr_retry, 3);
    srd_close(&s);
    srd_open(&s, &zero); /* 0 is meant */
    CHECK_UEQ(qp_info(s.qp).rnr_retry, 0);
    srd_close(&s);
    srd_open(&s, NULL);
    CHECK_UEQ(qp_info(s.qp).rnr_retry, 7);
    srd_close(&s);
    static const struct srd_setup ud = {.qp_type = VBN_QPT_UD, .no_prepare = 1};
    srd_open(&s, &ud);
    vbn_qp_prepare_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_PREPARE_SET_QKEY | VBN_QP_PREPARE_SET_RNR_RETRY, .qkey = 1, .rnr_retry = 3};
    CHECK_STATUS(vbn_qp_prepare(s.qp, &attr), VBN_ERR_NOT_SUPPORTED);
    srd_close(&s);
}

static void random_qkeys(void) {
    uint32_t seen[64];
    for (int i = 0; i < 64; i++) {
        seen[i] = vbn_qkey_random();
        CHECK(seen[i] != 0 && seen[i] < 0x80000000u);
        for (int j = 0; j < i; j++) CHECK(seen[i] != seen[j]);
    }
}

static void query_wqs(void) {
    vbn_efa_wq_info sq = {.struct_size = sizeof sq}, rq = {.struct_size = sizeof rq};
    srd_open(&s, NULL);
    vbn_status status = vbn_efa_query_qp(s.qp, &sq, &rq);
    if (status == VBN_ERR_SYMBOL_MISSING) {
        CHECK_HAS(test_error().message, "59");
    } else {
        CHECK_OK(status);
        CHECK(sq.buffer && sq.doorbell && sq.entry_size >= 64 && sq.num_entries >= 128);
        CHECK(rq.buffer && rq.doorbell && rq.entry_size > 0 && rq.num_entries >= 128);
    }
    srd_close(&s);
}

/* ---- address handles, peers, records ---- */

static vbn_ah *create_ah(const uint8_t gid[16]) {
    vbn_ah_attr attr = {.struct_size = sizeof attr};
    vbn_ah *ah = NULL;
    memcpy(attr.path.dgid, gid, 16);
    CHECK_OK(vbn_ah_create(s.pd, &attr, &ah));
    return ah;
}

static void address_handle(void) {
    srd_open(&s, NULL);
    vbn_ah *ah = create_ah(s.endpoint.gid), *again = create_ah(s.endpoint.gid);
    vbn_ah_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_ah_query(ah, &info));
    CHECK_UEQ(info.is_shared, 1);
    CHECK_MEM(info.path.dgid, s.endpoint.gid, 16);
    uint16_t number = 0xffff, other = 0xfffe;
    CHECK_OK(vbn_efa_query_ah(ah, &number));
    CHECK_OK(vbn_efa_query_ah(again, &other));
    CHECK_UEQ(number, other);
    vbn_ah *copy = ah;
    CHECK_OK(vbn_ah_close(&ah));
    CHECK_OK(vbn_ah_close(&ah));
    CHECK_STATUS(vbn_efa_query_ah(copy, &number), VBN_ERR_CLOSED);
    CHECK_OK(vbn_efa_query_ah(again, &number));
    CHECK_OK(vbn_ah_close(&again));
    vbn_ah_attr none = {.struct_size = sizeof none};
    CHECK_STATUS(vbn_ah_create(s.pd, &none, &ah), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "dgid is all zero");
    srd_close(&s);
}

/* A peer keeps its handle; a closed one is closed, and closing it again is nothing. */
static void peers(void) {
    srd_open(&s, NULL);
    vbn_ah *ah = create_ah(s.endpoint.gid);
    vbn_peer_attr attr = {.struct_size = sizeof attr, .ah = ah, .qp_num = s.endpoint.qp_num, .qkey = s.endpoint.qkey, .user_data = 8};
    vbn_peer *peer = NULL;
    CHECK_OK(vbn_peer_create(s.pd, &attr, &peer));
    vbn_peer_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_peer_query(peer, &info));
    CHECK_UEQ(info.qp_num, s.endpoint.qp_num);
    CHECK_UEQ(info.qkey, s.qkey);
    CHECK_UEQ(info.user_data, 8);
    CHECK_OK(vbn_ah_close(&ah));
    srd_alive(&s, &s, peer);
    vbn_peer *copy = peer;
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_STATUS(vbn_peer_query(copy, &info), VBN_ERR_CLOSED);
    attr.ah = NULL;
    CHECK_STATUS(vbn_peer_create(s.pd, &attr, &peer), VBN_ERR_ARGUMENT);
    vbn_endpoint wide = s.endpoint;
    wide.qp_num = 1 << 24;
    CHECK_STATUS(vbn_peer_from_endpoint(s.pd, &wide, NULL, &peer), VBN_ERR_ARGUMENT);
    CHECK(peer == NULL);
    srd_close(&s);
}

static void endpoint(void) {
    vbn_endpoint own, back;
    uint8_t bytes[VBN_ENDPOINT_SIZE];
    srd_open(&s, &reset);
    CHECK_STATUS(vbn_endpoint_local(s.qp, &own), VBN_ERR_ARGUMENT); /* no QKEY yet */
    CHECK_OK(srd_prepare(s.qp, s.qkey));
    CHECK_OK(vbn_endpoint_local(s.qp, &own));
    uint8_t gid[16];
    CHECK_OK(vbn_context_query_gid(s.context, 1, 0, gid));
    CHECK_MEM(own.gid, gid, 16);
    CHECK_UEQ(own.qp_num, vbn_qp_num(s.qp));
    CHECK_UEQ(own.qkey, s.qkey);
    CHECK_OK(vbn_endpoint_encode(&own, bytes, sizeof bytes));
    CHECK_OK(vbn_endpoint_decode(bytes, sizeof bytes, &back));
    CHECK_MEM(&back, &own, sizeof own);
    s.endpoint = back;
    vbn_peer *peer = srd_self(&s);
    srd_alive(&s, &s, peer);
    CHECK_OK(vbn_peer_close(&peer));
    srd_close(&s);
}

/* The versioned record does the same, and tells what the short one can't. */
static void endpoint_info(void) {
    uint8_t bytes[1024];
    size_t size = 0;
    vbn_endpoint_info own = {.struct_size = sizeof own}, back = {.struct_size = sizeof back};
    vbn_peer *peer = NULL;
    srd_open(&s, NULL);
    CHECK_OK(vbn_endpoint_info_local(s.qp, NULL, &own));
    CHECK_EQ(own.qp_type, VBN_QPT_SRD);
    CHECK_UEQ(own.efa_generation & 0xfff0, 0xefa0);
    CHECK_OK(vbn_endpoint_info_encode(&own, bytes, sizeof bytes, &size));
    CHECK_OK(vbn_endpoint_info_decode(bytes, size, &back));
    CHECK_OK(vbn_peer_from_info(s.qp, &back, NULL, &peer));
    srd_alive(&s, &s, peer);
    CHECK_OK(vbn_peer_close(&peer));
    back.qp_type = VBN_QPT_UD;
    CHECK_STATUS(vbn_peer_from_info(s.qp, &back, NULL, &peer), VBN_ERR_ARGUMENT);
    CHECK(peer == NULL);
    srd_close(&s);
}

static const struct test tests[] = {
    {"device", device},
    {"efa_attributes", efa_attributes},
    {"cq_plain", cq_plain},
    {"cq_fields", cq_fields},
    {"cq_arm", cq_arm},
    {"cq_query_efa", cq_query_efa},
    {"create_reset", create_reset},
    {"create_ud", create_ud},
    {"types_refused", types_refused},
    {"limits_refused", limits_refused},
    {"recv_sge_zero", recv_sge_zero},
    {"flags_refused", flags_refused},
    {"absent_operations", absent_operations},
    {"foreign_cq", foreign_cq},
    {"steps_srd", steps_srd},
    {"steps_ud", steps_ud},
    {"steps_refused", steps_refused},
    {"masks", masks},
    {"prepare", prepare},
    {"prepare_from", prepare_from},
    {"prepare_refused", prepare_refused},
    {"rnr_retry", rnr_retry},
    {"random_qkeys", random_qkeys},
    {"query_wqs", query_wqs},
    {"address_handle", address_handle},
    {"peers", peers},
    {"endpoint", endpoint},
    {"endpoint_info", endpoint_info},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("srd_basic", tests, argc, argv);
}
