/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Posting in every state, and transitions: what they take, and what a refused one names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

static struct pair p;

/* ---- Posting ---- */

/* Posts two writes where the queue pair may not send. Soft-RoCE answers with an error and keeps the requests; other devices take them,
 * drop them or refuse them: whatever they do, `posted` and status must fit together. */
static vbn_status post_too_early(struct side *side, struct side *peer, uint32_t *posted) {
    vbn_send_wr wrs[2];
    for (unsigned i = 0; i < 2; i++) wrs[i] = send_wr(side, peer, VBN_WR_RDMA_WRITE, 100 + i, 64 * i, 64);
    *posted = 99;
    vbn_status status = vbn_qp_post_send(side->qp, wrs, 2, posted);
    test_note("in %s: %s, posted %u", vbn_qp_state_name(qp_state(side->qp)), vbn_status_name(status), *posted);
    switch (status) {
    case VBN_OK: CHECK_UEQ(*posted, 2); break;
    case VBN_ERR_UNCERTAIN:
        CHECK_UEQ(*posted, 2);
        CHECK_HAS(test_error().message, "later");
        break;
    case VBN_ERR_DRIVER: CHECK(*posted < 2); break;
    default: FAIL("%s", test_last_error());
    }
    return status;
}

static void send_in_reset(void) {
    uint32_t posted;
    pair_open(&p, NULL);
    vbn_status status = post_too_early(&p.a, &p.b, &posted);
    if (is_soft_roce(test_device())) CHECK_STATUS(status, VBN_ERR_UNCERTAIN);
    check_no_wc(&p.a);
    pair_close(&p);
}

/* What was posted too early runs once the queue pair is ready and something makes the driver look. */
static void runs_later(struct side *side, uint32_t posted) {
    fill(side->memory, 256, 44);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 200, 128, 64);
    post_send(&p.a, &wr);
    for (uint32_t i = 0; i < posted; i++) next_ok(&p.a, 100 + i);
    next_ok(&p.a, 200);
    CHECK_MEM(p.b.memory, p.a.memory, 192);
}

static void send_in_init(void) {
    uint32_t posted;
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    vbn_status status = post_too_early(&p.a, &p.b, &posted);
    if (is_soft_roce(test_device())) CHECK_STATUS(status, VBN_ERR_UNCERTAIN);
    pair_connect(&p, NULL);
    if (is_soft_roce(test_device())) runs_later(&p.a, posted);
    pair_close(&p);
}

static void send_in_rtr(void) {
    uint32_t posted;
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    CHECK_OK(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, NULL));
    vbn_status status = post_too_early(&p.a, &p.b, &posted);
    if (is_soft_roce(test_device())) CHECK_STATUS(status, VBN_ERR_UNCERTAIN);
    pair_connect(&p, NULL);
    if (is_soft_roce(test_device())) runs_later(&p.a, posted);
    pair_close(&p);
}

/* More than a batch in INIT: posted counts those that the driver was handed, no more. */
static void many_in_init(void) {
    vbn_send_wr wrs[80];
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    for (unsigned i = 0; i < 80; i++) wrs[i] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, i, 64 * i, 64);
    uint32_t posted = 99;
    vbn_status status = vbn_qp_post_send(p.a.qp, wrs, 80, &posted);
    test_note("%s, posted %u of 80", vbn_status_name(status), posted);
    if (status != VBN_ERR_UNCERTAIN) SKIP("this device answers %s to posting in INIT", vbn_status_name(status));
    fill(p.a.memory, 80 * 64, 45);
    pair_connect(&p, NULL);
    vbn_send_wr last = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 999, 8000, 8);
    post_send(&p.a, &last);
    for (uint32_t i = 0; i < posted; i++) next_ok(&p.a, i);
    next_ok(&p.a, 999);
    check_no_wc(&p.a);
    CHECK_MEM(p.b.memory, p.a.memory, posted * 64);
    pair_close(&p);
}

static void send_in_rts(void) {
    pair_open_connected(&p, NULL);
    check_alive(&p);
    pair_close(&p);
}

static void send_in_err(void) {
    pair_open_connected(&p, NULL);
    qp_force(p.a.qp, VBN_QPS_ERR);
    vbn_send_wr wrs[2];
    for (unsigned i = 0; i < 2; i++) wrs[i] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 300 + i, 0, 64);
    wrs[0].flags = 0; /* flushed requests complete even unsignaled */
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 2, &posted));
    CHECK_UEQ(posted, 2);
    for (unsigned i = 0; i < 2; i++) {
        vbn_wc wc = next_wc(&p.a);
        CHECK_UEQ(wc.wr_id, 300 + i);
        CHECK_EQ(wc.status, VBN_WC_WR_FLUSH_ERR);
    }
    vbn_wc first;
    CHECK_STATUS(vbn_qp_first_error(p.a.qp, &first), VBN_ERR_NOT_FOUND);
    pair_close(&p);
}

/* Receives may be posted from INIT on, and serve once connected. */
static void recv_before_rts(void) {
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.b.qp, NULL));
    post_recv(&p.b, 1, 0, 32);
    CHECK_OK(vbn_qp_to_rtr(p.b.qp, &p.b.record, &p.a.record, NULL));
    post_recv(&p.b, 2, 32, 32);
    CHECK_OK(vbn_qp_to_rts(p.b.qp, &p.b.record, NULL));
    post_recv(&p.b, 3, 64, 32);
    pair_connect(&p, NULL);
    fill(p.a.memory, 96, 46);
    for (uint64_t i = 0; i < 3; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, i, 32 * i, 32);
        run_send(&p.a, &wr);
        next_ok(&p.b, i + 1);
    }
    CHECK_MEM(p.b.memory, p.a.memory, 96);
    pair_close(&p);
}

static void recv_in_reset(void) {
    pair_open(&p, NULL);
    vbn_recv_wr wr = recv_wr(&p.a, 1, 0, 32);
    uint32_t posted = 99;
    vbn_status status = vbn_qp_post_recv(p.a.qp, &wr, 1, &posted);
    test_note("%s, posted %u", vbn_status_name(status), posted);
    CHECK(status == VBN_OK || status == VBN_ERR_DRIVER || status == VBN_ERR_UNCERTAIN);
    CHECK_UEQ(posted, status == VBN_ERR_DRIVER ? 0 : 1);
    check_no_wc(&p.a);
    pair_close(&p);
}

/* Receives that wait are flushed when the queue pair fails; one posted then is taken, and flushed at the latest with the next
 * transition (soft-RoCE looks at its receive queue only when something happens). */
static void recv_in_err(void) {
    pair_open_connected(&p, NULL);
    post_recv(&p.a, 1, 0, 32);
    qp_force(p.a.qp, VBN_QPS_ERR);
    vbn_wc wc = next_wc(&p.a);
    CHECK_UEQ(wc.wr_id, 1);
    CHECK_EQ(wc.status, VBN_WC_WR_FLUSH_ERR);
    post_recv(&p.a, 2, 0, 32);
    qp_force(p.a.qp, VBN_QPS_ERR);
    wc = next_wc(&p.a);
    CHECK_UEQ(wc.wr_id, 2);
    CHECK_EQ(wc.status, VBN_WC_WR_FLUSH_ERR);
    pair_close(&p);
}

/* ---- Transitions ---- */

static void stepwise(void) {
    pair_open(&p, NULL);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_INIT);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_INIT);
    CHECK_OK(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, NULL));
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTR);
    CHECK_OK(vbn_qp_to_rts(p.a.qp, &p.a.record, NULL));
    vbn_qp_info info = qp_info(p.a.qp);
    CHECK_EQ(info.qp_state, VBN_QPS_RTS);
    CHECK_UEQ(info.dest_qp_num, p.b.record.qp_num);
    CHECK_UEQ(info.rq_psn, p.b.record.psn);
    CHECK_UEQ(info.sq_psn, p.a.record.psn);
    CHECK_MEM(info.path.dgid, p.b.record.gid, 16);
    qp_force(p.a.qp, VBN_QPS_ERR);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_ERR);
    qp_force(p.a.qp, VBN_QPS_RESET);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);
    pair_close(&p);
}

static void created(void) {
    struct setup setup = {.send_wr = 64, .recv_wr = 64, .send_sge = 2, .recv_sge = 3, .inline_data = 32};
    side_open(&p.a, &setup);
    vbn_qp_info info = qp_info(p.a.qp);
    CHECK_EQ(info.qp_type, VBN_QPT_RC);
    CHECK_EQ(info.qp_state, VBN_QPS_RESET);
    CHECK_UEQ(info.qp_num, vbn_qp_num(p.a.qp));
    CHECK(info.qp_num != 0);
    CHECK(info.max_send_wr >= 64);
    CHECK(info.max_recv_wr >= 64);
    CHECK(info.max_send_sge >= 2);
    CHECK(info.max_recv_sge >= 3);
    CHECK(info.max_inline_data >= 32);
    CHECK_UEQ(info.send_ops & 0x1f, 0x1f);
    CHECK(info.max_message >= 1 << 20);
    side_close(&p.a);
}

static void too_much_asked(void) {
    side_open(&p.a, NULL);
    vbn_device_attr device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_query_device(p.a.context, &device));
    vbn_qp *qp = NULL;
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .max_send_wr = (uint32_t)device.max_qp_wr + 1};
    CHECK_STATUS(vbn_qp_create(p.a.pd, &attr, &qp), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().value, device.max_qp_wr + 1);
    CHECK_UEQ(test_error().limit, device.max_qp_wr);
    CHECK_HAS(test_error().message, "max_send_wr");
    attr.max_send_wr = 0;
    attr.max_recv_sge = (uint32_t)device.max_sge + 1;
    CHECK_STATUS(vbn_qp_create(p.a.pd, &attr, &qp), VBN_ERR_LIMIT);
    CHECK_HAS(test_error().message, "max_recv_sge");
    CHECK(qp == NULL);
    attr.max_recv_sge = 0;
    attr.max_inline_data = 1000000;
    vbn_status status = vbn_qp_create(p.a.pd, &attr, &qp);
    test_note("1000000 bytes inline: %s", test_last_error());
    CHECK(status == VBN_ERR_LIMIT || status == VBN_ERR_ARGUMENT || status == VBN_ERR_DRIVER || status == VBN_ERR_NO_MEMORY);
    CHECK(qp == NULL);
    side_close(&p.a);
}

/* A queue pair without receive queue is asked for by a zero that is meant. */
static void no_receive_queue(void) {
    side_open(&p.a, NULL);
    vbn_qp *qp = NULL;
    vbn_qp_init_attr attr = {
        .struct_size = sizeof attr,
        .set = VBN_QP_INIT_SET_MAX_RECV_WR | VBN_QP_INIT_SET_MAX_RECV_SGE,
        .send_cq = p.a.cq,
    };
    vbn_status status = vbn_qp_create(p.a.pd, &attr, &qp);
    if (status == VBN_OK) {
        test_note("granted: %u receives of %u segments", qp_info(qp).max_recv_wr, qp_info(qp).max_recv_sge);
    } else {
        test_note("%s", test_last_error());
    }
    CHECK_OK(vbn_qp_close(&qp));
    side_close(&p.a);
}

/* A transition of a queue pair in INIT to RTR that would succeed. */
static vbn_qp_attr good_rtr(void) {
    vbn_gid_choice gid = {.struct_size = sizeof gid};
    CHECK_OK(vbn_gid_select(p.a.context, 1, NULL, &gid, NULL, 0, 0, NULL));
    vbn_qp_attr attr = {
        .struct_size = sizeof attr,
        .set = VBN_QP_STATE | VBN_QP_AV | VBN_QP_PATH_MTU | VBN_QP_DEST_QPN | VBN_QP_RQ_PSN | VBN_QP_MAX_DEST_RD_ATOMIC |
               VBN_QP_MIN_RNR_TIMER,
        .qp_state = VBN_QPS_RTR,
        .path_mtu = VBN_MTU_1024,
        .dest_qp_num = p.b.record.qp_num,
        .rq_psn = p.b.record.psn,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .path = {.is_global = 1, .hop_limit = 64, .sgid_index = (uint8_t)gid.index, .port_num = 1},
    };
    memcpy(attr.path.dgid, p.b.record.gid, 16);
    return attr;
}

/* The refusal names what is at fault, and the queue pair stays where it was. */
static void check_refused(const vbn_qp_attr *attr, const char *suspect) {
    int32_t before = qp_state(p.a.qp);
    vbn_status status = vbn_qp_modify(p.a.qp, attr);
    vbn_error_info error = test_error();
    test_note("%s", error.message);
    CHECK(status == VBN_ERR_ARGUMENT || status == VBN_ERR_DRIVER || status == VBN_ERR_LIMIT);
    CHECK_STR(error.op_name, "vbn_qp_modify");
    CHECK_HAS(error.message, suspect);
    CHECK_EQ(qp_state(p.a.qp), before);
}

static void in_init(void) {
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
}

static void suspect_wrong_state(void) {
    pair_open(&p, NULL);
    vbn_qp_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_STATE, .qp_state = VBN_QPS_RTS};
    check_refused(&attr, "state");
    CHECK_UEQ(test_error().value, VBN_QPS_RTS);
    CHECK_UEQ(test_error().limit, VBN_QPS_RESET);
    CHECK_EQ(test_error().sys_errno, EINVAL);
    pair_close(&p);
}

static void suspect_missing_bit(void) {
    in_init();
    vbn_qp_attr attr = good_rtr();
    attr.set &= ~(uint64_t)VBN_QP_RQ_PSN;
    check_refused(&attr, "VBN_QP_RQ_PSN");
    attr = good_rtr();
    attr.set &= ~(uint64_t)VBN_QP_AV;
    check_refused(&attr, "VBN_QP_AV");
    attr = good_rtr();
    attr.set &= ~(uint64_t)VBN_QP_MIN_RNR_TIMER;
    check_refused(&attr, "VBN_QP_MIN_RNR_TIMER");
    attr = good_rtr();
    CHECK_OK(vbn_qp_modify(p.a.qp, &attr));
    pair_close(&p);
}

static void suspect_bit_too_many(void) {
    in_init();
    vbn_qp_attr attr = good_rtr();
    attr.set |= VBN_QP_SQ_PSN;
    check_refused(&attr, "VBN_QP_SQ_PSN");
    pair_close(&p);
}

static void suspect_path_mtu(void) {
    in_init();
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(p.a.context, 1, &port));
    vbn_qp_attr attr = good_rtr();
    attr.path_mtu = 6;
    check_refused(&attr, "path_mtu");
    attr.path_mtu = port.active_mtu + 1;
    if (port.active_mtu < VBN_MTU_4096) check_refused(&attr, "path_mtu");
    pair_close(&p);
}

/* Soft-RoCE checks one of the two depths only, and takes any for the other. */
static void suspect_read_depth(void) {
    in_init();
    vbn_device_attr device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_query_device(p.a.context, &device));
    if (device.max_qp_rd_atom >= 255 || device.max_qp_init_rd_atom >= 255) SKIP("the device takes 255");
    if (!is_soft_roce(test_device())) {
        vbn_qp_attr rtr = good_rtr();
        rtr.max_dest_rd_atomic = 255;
        check_refused(&rtr, "max_dest_rd_atomic");
        CHECK_UEQ(test_error().limit, device.max_qp_rd_atom);
    }
    CHECK_OK(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, NULL));
    vbn_qp_attr rts = {
        .struct_size = sizeof rts,
        .set = VBN_QP_STATE | VBN_QP_SQ_PSN | VBN_QP_TIMEOUT | VBN_QP_RETRY_CNT | VBN_QP_RNR_RETRY | VBN_QP_MAX_QP_RD_ATOMIC,
        .qp_state = VBN_QPS_RTS,
        .max_rd_atomic = 255,
    };
    check_refused(&rts, "max_rd_atomic");
    CHECK_UEQ(test_error().value, 255);
    CHECK_UEQ(test_error().limit, device.max_qp_init_rd_atom);
    pair_close(&p);
}

static void suspect_sgid_index(void) {
    in_init();
    vbn_qp_attr attr = good_rtr();
    attr.path.sgid_index = 200; /* an empty place of the table, or none */
    check_refused(&attr, "sgid_index");
    pair_close(&p);
}

static void suspect_no_global_header(void) {
    in_init();
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(p.a.context, 1, &port));
    if (strcmp(vbn_link_layer_name(port.link_layer), "ETHERNET") != 0) SKIP("not RoCE");
    vbn_qp_attr attr = good_rtr();
    attr.path.is_global = 0;
    check_refused(&attr, "is_global");
    pair_close(&p);
}

static void suspect_of_init(void) {
    pair_open(&p, NULL);
    vbn_qp_attr attr = {
        .struct_size = sizeof attr,
        .set = VBN_QP_STATE | VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_ACCESS_FLAGS,
        .qp_state = VBN_QPS_INIT,
        .port_num = 99,
    };
    check_refused(&attr, "port");
    CHECK_UEQ(test_error().value, 99);
    attr.port_num = 1;
    /* Soft-RoCE takes any. */
    attr.pkey_index = 9999;
    if (!is_soft_roce(test_device())) check_refused(&attr, "pkey_index");
    attr.pkey_index = 0;
    CHECK_OK(vbn_qp_modify(p.a.qp, &attr));
    pair_close(&p);
}

/* The same by the helpers: the limit is known before the kernel is asked. */
static void helpers_name_the_limit(void) {
    pair_open(&p, NULL);
    vbn_rc_attr attr = {.struct_size = sizeof attr, .port_num = 99};
    CHECK_STATUS(vbn_qp_to_init(p.a.qp, &attr), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().value, 99);
    attr = (vbn_rc_attr){.struct_size = sizeof attr, .set = VBN_RC_SET_PKEY_INDEX, .pkey_index = 9999};
    CHECK_STATUS(vbn_qp_to_init(p.a.qp, &attr), VBN_ERR_LIMIT);
    CHECK_HAS(test_error().message, "pkey_index");
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    attr = (vbn_rc_attr){.struct_size = sizeof attr, .set = VBN_RC_SET_MAX_DEST_RD_ATOMIC, .max_dest_rd_atomic = 255};
    CHECK_STATUS(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, &attr), VBN_ERR_LIMIT);
    CHECK_HAS(test_error().message, "max_dest_rd_atomic");
    attr = (vbn_rc_attr){.struct_size = sizeof attr, .set = VBN_RC_SET_PATH_MTU, .path_mtu = 9};
    CHECK_STATUS(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, &attr), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "path_mtu");
    vbn_rc_record not_mine = p.a.record;
    not_mine.gid[15] ^= 0xff;
    CHECK_STATUS(vbn_qp_to_rtr(p.a.qp, &not_mine, &p.b.record, NULL), VBN_ERR_NOT_FOUND);
    CHECK_OK(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, NULL));
    attr = (vbn_rc_attr){.struct_size = sizeof attr, .set = VBN_RC_SET_MAX_RD_ATOMIC, .max_rd_atomic = 255};
    CHECK_STATUS(vbn_qp_to_rts(p.a.qp, &p.a.record, &attr), VBN_ERR_LIMIT);
    CHECK_HAS(test_error().message, "max_rd_atomic");
    CHECK_OK(vbn_qp_to_rts(p.a.qp, &p.a.record, NULL));
    pair_close(&p);
}

/* An attribute that may change while connected does. */
static void modify_in_rts(void) {
    pair_open_connected(&p, NULL);
    vbn_qp_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_MIN_RNR_TIMER, .min_rnr_timer = 17};
    CHECK(qp_info(p.a.qp).min_rnr_timer != 17);
    CHECK_OK(vbn_qp_modify(p.a.qp, &attr));
    CHECK_EQ(qp_info(p.a.qp).min_rnr_timer, 17);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    check_alive(&p);
    pair_close(&p);
}

/* Drained, told by an event with the queue pair's user data, and back. */
static void drain(void) {
    pair_open(&p, NULL);
    vbn_qp_init_attr init = {.struct_size = sizeof init, .send_cq = p.a.cq, .user_data = 0x5051};
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_OK(vbn_qp_create(p.a.pd, &init, &p.a.qp));
    CHECK_OK(vbn_rc_record_local(p.a.qp, NULL, &p.a.record));
    pair_connect(&p, NULL);
    check_alive(&p);
    vbn_qp_attr attr = {
        .struct_size = sizeof attr, .set = VBN_QP_STATE | VBN_QP_EN_SQD_ASYNC_NOTIFY, .qp_state = VBN_QPS_SQD, .en_sqd_async_notify = 1,
    };
    vbn_status status = vbn_qp_modify(p.a.qp, &attr);
    if (status != VBN_OK) SKIP("%s", test_last_error());
    vbn_async_event event = {.struct_size = sizeof event};
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 8);
    post_send(&p.a, &wr); /* makes soft-RoCE look at the queue */
    status = vbn_context_get_async_event(p.a.context, 10 * SECOND, &event);
    if (status == VBN_ERR_TIMEOUT) SKIP("the device sends no event");
    CHECK_OK(status);
    CHECK_STR(vbn_event_type_name(event.type), "SQ_DRAINED");
    CHECK_EQ(event.kind, VBN_ELEMENT_QP);
    CHECK_UEQ(event.user_data, 0x5051);
    CHECK_UEQ(event.number, vbn_qp_num(p.a.qp));
    CHECK_EQ(event.known, 1);
    pair_close(&p);
}

/* A send that is posted while the queue drains waits, and runs when the queue pair is back. Receives are taken all the time. */
static void posts_in_sqd(void) {
    pair_open_connected(&p, NULL);
    vbn_qp_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_STATE, .qp_state = VBN_QPS_SQD};
    if (vbn_qp_modify(p.a.qp, &attr) != VBN_OK) SKIP("%s", test_last_error());
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_SQD);
    post_recv(&p.a, 7, 4096, 64);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 8);
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_send(p.a.qp, &wr, 1, &posted));
    CHECK_UEQ(posted, 1);
    sleep_ms(100);
    check_no_wc(&p.a);
    attr.qp_state = VBN_QPS_RTS;
    CHECK_OK(vbn_qp_modify(p.a.qp, &attr));
    vbn_send_wr next = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 2, 0, 8);
    post_send(&p.a, &next); /* soft-RoCE looks at the queue when something is posted */
    next_ok(&p.a, 1);
    next_ok(&p.a, 2);
    pair_close(&p);
}

/* A queue pair gets into SQE by itself only, and no device here ever does: nobody can post in it. */
static void no_way_to_sqe(void) {
    pair_open_connected(&p, NULL);
    vbn_qp_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_STATE, .qp_state = VBN_QPS_SQE};
    CHECK(vbn_qp_modify(p.a.qp, &attr) != VBN_OK);
    CHECK_HAS(test_error().message, "no such transition");
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    check_alive(&p);
    pair_close(&p);
}

static const struct test tests[] = {
    {"posts_in_sqd", posts_in_sqd},
    {"no_way_to_sqe", no_way_to_sqe},
    {"send_in_reset", send_in_reset},
    {"send_in_init", send_in_init},
    {"send_in_rtr", send_in_rtr},
    {"many_in_init", many_in_init},
    {"send_in_rts", send_in_rts},
    {"send_in_err", send_in_err},
    {"recv_before_rts", recv_before_rts},
    {"recv_in_reset", recv_in_reset},
    {"recv_in_err", recv_in_err},
    {"stepwise", stepwise},
    {"created", created},
    {"too_much_asked", too_much_asked},
    {"no_receive_queue", no_receive_queue},
    {"suspect_wrong_state", suspect_wrong_state},
    {"suspect_missing_bit", suspect_missing_bit},
    {"suspect_bit_too_many", suspect_bit_too_many},
    {"suspect_path_mtu", suspect_path_mtu},
    {"suspect_read_depth", suspect_read_depth},
    {"suspect_sgid_index", suspect_sgid_index},
    {"suspect_no_global_header", suspect_no_global_header},
    {"suspect_of_init", suspect_of_init},
    {"helpers_name_the_limit", helpers_name_the_limit},
    {"modify_in_rts", modify_in_rts},
    {"drain", drain},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("rc_states", tests, argc, argv);
}
