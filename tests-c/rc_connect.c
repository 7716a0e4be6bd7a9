/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Records, connecting, and every parameter of it. */
#include <string.h>

#include "common.h"

static struct pair p;

static void record_local(void) {
    pair_open(&p, NULL);
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(p.a.context, 1, &port));
    const vbn_rc_record *record = &p.a.record;
    CHECK_UEQ(record->qp_num, vbn_qp_num(p.a.qp));
    CHECK_UEQ(record->port_num, 1);
    CHECK_UEQ(record->mtu, port.active_mtu);
    CHECK_UEQ(record->lid, port.lid);
    CHECK(record->psn < 1 << 24);
    vbn_gid_choice choice = {.struct_size = sizeof choice};
    CHECK_OK(vbn_gid_select(p.a.context, 1, NULL, &choice, NULL, 0, 0, NULL));
    CHECK_MEM(record->gid, choice.gid, 16);
    pair_close(&p);
}

/* Two records of one queue pair have different random numberings; one that is asked for is taken. */
static void record_psn(void) {
    side_open(&p.a, NULL);
    int differ = 0;
    for (int i = 0; i < 8; i++) {
        vbn_rc_record other;
        CHECK_OK(vbn_rc_record_local(p.a.qp, NULL, &other));
        differ += other.psn != p.a.record.psn;
    }
    CHECK(differ >= 7);
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_PSN, .psn = 0};
    CHECK_OK(vbn_rc_record_local(p.a.qp, &attr, &p.a.record));
    CHECK_UEQ(p.a.record.psn, 0);
    attr.psn = 0xffffff;
    CHECK_OK(vbn_rc_record_local(p.a.qp, &attr, &p.a.record));
    CHECK_UEQ(p.a.record.psn, 0xffffff);
    attr.psn = 0x1000000;
    CHECK_STATUS(vbn_rc_record_local(p.a.qp, &attr, &p.a.record), VBN_ERR_ARGUMENT);
    side_close(&p.a);
}

static void record_gid_index(void) {
    side_open(&p.a, NULL);
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_SGID_INDEX, .sgid_index = 0};
    vbn_rc_record record;
    uint8_t gid[16];
    CHECK_OK(vbn_rc_record_local(p.a.qp, &attr, &record));
    CHECK_OK(vbn_context_query_gid(p.a.context, 1, 0, gid));
    CHECK_MEM(record.gid, gid, 16);
    attr.port_num = 77;
    CHECK_STATUS(vbn_rc_record_local(p.a.qp, &attr, &record), VBN_ERR_LIMIT);
    side_close(&p.a);
}

/* A GID of zeros is no address to give to a peer. */
static void record_empty_gid(void) {
    static const uint8_t nothing[16];
    uint8_t gid[16];
    side_open(&p.a, NULL);
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_SGID_INDEX, .sgid_index = 200};
    vbn_rc_record record;
    if (vbn_context_query_gid(p.a.context, 1, 200, gid) == VBN_OK && !memcmp(gid, nothing, 16))
        CHECK_STATUS(vbn_rc_record_local(p.a.qp, &attr, &record), VBN_ERR_NOT_FOUND);
    else
        test_skip("the place at 200 of the GID table is not empty");
    side_close(&p.a);
}

static const vbn_rc_record sample = {
    .qp_num = 0x123456, .psn = 0xabcdef, .lid = 0x0102, .port_num = 1, .mtu = VBN_MTU_4096,
    .gid = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8},
};

static void record_bytes(void) {
    static const uint8_t expected[VBN_RC_RECORD_SIZE] = {
        0, 0x12, 0x34, 0x56, 0, 0xab, 0xcd, 0xef, 1, 2, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 5,
    };
    uint8_t bytes[VBN_RC_RECORD_SIZE];
    vbn_rc_record back;
    CHECK_OK(vbn_rc_record_encode(&sample, bytes, sizeof bytes));
    CHECK_MEM(bytes, expected, sizeof expected);
    CHECK_OK(vbn_rc_record_decode(bytes, sizeof bytes, &back));
    CHECK_MEM(&back, &sample, sizeof sample);
}

static void record_sizes(void) {
    uint8_t bytes[40] = {0};
    vbn_rc_record record;
    CHECK_OK(vbn_rc_record_encode(&sample, bytes, 28));
    CHECK_STATUS(vbn_rc_record_decode(bytes, 27, &record), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "28");
    CHECK_UEQ(test_error().value, 27);
    CHECK_STATUS(vbn_rc_record_decode(bytes, 29, &record), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_rc_record_encode(&sample, bytes, 27), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_rc_record_encode(&sample, bytes, 29), VBN_ERR_ARGUMENT);
}

static void refuse_encode(vbn_rc_record record) {
    uint8_t bytes[VBN_RC_RECORD_SIZE];
    CHECK_STATUS(vbn_rc_record_encode(&record, bytes, sizeof bytes), VBN_ERR_ARGUMENT);
}

static void record_ranges(void) {
    vbn_rc_record r = sample;
    r.qp_num = 1 << 24;
    refuse_encode(r);
    r = sample;
    r.psn = 1 << 24;
    refuse_encode(r);
    r = sample;
    r.port_num = 0;
    refuse_encode(r);
    r = sample;
    r.mtu = 0;
    refuse_encode(r);
    r.mtu = 6;
    refuse_encode(r);
    static const struct { int at; uint8_t value; } wrong[] = {{0, 1}, {4, 1}, {26, 0}, {27, 0}, {27, 6}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t bytes[VBN_RC_RECORD_SIZE];
        CHECK_OK(vbn_rc_record_encode(&sample, bytes, sizeof bytes));
        bytes[wrong[i].at] = wrong[i].value;
        CHECK_STATUS(vbn_rc_record_decode(bytes, sizeof bytes, &r), VBN_ERR_ARGUMENT);
    }
}

static void defaults(void) {
    pair_open_connected(&p, NULL);
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_device(p.a.context, &device));
    CHECK_OK(vbn_context_query_port(p.a.context, 1, &port));
    vbn_qp_info info = qp_info(p.a.qp);
    CHECK_EQ(info.path_mtu, port.active_mtu);
    CHECK_EQ(info.timeout, 14);
    CHECK_EQ(info.retry_cnt, 6);
    CHECK_EQ(info.rnr_retry, 7);
    CHECK_EQ(info.min_rnr_timer, 12);
    CHECK_EQ(info.max_rd_atomic, device.max_qp_init_rd_atom < 16 ? device.max_qp_init_rd_atom : 16);
    CHECK_EQ(info.max_dest_rd_atomic, device.max_qp_rd_atom < 16 ? device.max_qp_rd_atom : 16);
    CHECK_UEQ(info.qp_access_flags & (VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ), VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ);
    CHECK_EQ(info.path.hop_limit, 64);
    CHECK_EQ(info.path.is_global, 1);
    CHECK_EQ(info.port_num, 1);
    CHECK_EQ(info.pkey_index, 0);
    pair_close(&p);
}

static void every_parameter(void) {
    vbn_rc_attr attr = {
        .struct_size = sizeof attr,
        .set = VBN_RC_SET_ACCESS | VBN_RC_SET_PATH_MTU | VBN_RC_SET_HOP_LIMIT | VBN_RC_SET_MIN_RNR_TIMER | VBN_RC_SET_MAX_DEST_RD_ATOMIC |
               VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT | VBN_RC_SET_RNR_RETRY | VBN_RC_SET_MAX_RD_ATOMIC | VBN_RC_SET_PSN,
        .access = VBN_ACCESS_REMOTE_WRITE,
        .psn = 0x777,
        .path_mtu = VBN_MTU_512,
        .flow_label = 0x54321,
        .hop_limit = 9,
        .traffic_class = 0x20,
        .min_rnr_timer = 20,
        .max_dest_rd_atomic = 2,
        .timeout = 19,
        .retry_cnt = 3,
        .rnr_retry = 2,
        .max_rd_atomic = 4, /* powers of two: devices round up */
    };
    struct setup setup = {.rc = &attr};
    pair_open_connected(&p, &setup);
    vbn_qp_info info = qp_info(p.a.qp);
    CHECK_EQ(info.path_mtu, VBN_MTU_512);
    CHECK_EQ(info.timeout, 19);
    CHECK_EQ(info.retry_cnt, 3);
    CHECK_EQ(info.rnr_retry, 2);
    CHECK_EQ(info.min_rnr_timer, 20);
    CHECK_EQ(info.max_rd_atomic, 4);
    CHECK_EQ(info.max_dest_rd_atomic, 2);
    CHECK_UEQ(info.sq_psn, 0x777);
    CHECK_UEQ(info.rq_psn, 0x777);
    CHECK_UEQ(info.path.flow_label, 0x54321);
    /* On RoCE version 2 the kernel takes the route's own hop limit. */
    CHECK(info.path.hop_limit == 9 || info.path.hop_limit == 64);
    CHECK_EQ(info.path.traffic_class, 0x20);
    CHECK_UEQ(info.qp_access_flags & (VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ), VBN_ACCESS_REMOTE_WRITE);
    check_alive(&p);
    pair_close(&p);
}

static void the_smaller_mtu(void) {
    pair_open(&p, NULL);
    vbn_rc_record small = p.b.record;
    small.mtu = VBN_MTU_256;
    CHECK_OK(vbn_qp_connect_rc(p.a.qp, &p.a.record, &small, NULL));
    CHECK_EQ(qp_info(p.a.qp).path_mtu, VBN_MTU_256);
    pair_close(&p);
}

static void twice(void) {
    pair_open_connected(&p, NULL);
    pair_connect(&p, NULL);
    check_alive(&p);
    vbn_rc_record other = p.b.record;
    other.qp_num ^= 1;
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "a peer of another number");
    CHECK_UEQ(test_error().value, other.qp_num);
    other = p.b.record;
    other.gid[15] ^= 1;
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "a peer of another GID");
    check_alive(&p);
    pair_close(&p);
}

/* In RTR number, address and the peer's numbering count; and a step that has been made isn't made again. */
static void another_peer_in_rtr(void) {
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    CHECK_OK(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, NULL));
    vbn_rc_record other = p.b.record;
    other.qp_num ^= 1;
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "a peer of another number");
    CHECK_UEQ(test_error().value, other.qp_num);
    CHECK_UEQ(test_error().limit, p.b.record.qp_num);
    other = p.b.record;
    other.gid[15] ^= 1;
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "a peer of another GID");
    other = p.b.record;
    other.psn = (other.psn + 1) & 0xffffff;
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &other, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "another PSN");
    CHECK_UEQ(test_error().value, other.psn);
    CHECK_STATUS(vbn_qp_to_rtr(p.a.qp, &p.a.record, &p.b.record, NULL), VBN_ERR_DRIVER);
    test_note("%s", test_error().message);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTR);
    pair_connect(&p, NULL);
    CHECK_STATUS(vbn_qp_to_rts(p.a.qp, &p.a.record, NULL), VBN_ERR_DRIVER);
    test_note("%s", test_error().message);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    check_alive(&p);
    pair_close(&p);
}

/* From INIT and from RTR it goes on from there. */
static void from_any_state(void) {
    pair_open(&p, NULL);
    CHECK_OK(vbn_qp_to_init(p.a.qp, NULL));
    CHECK_OK(vbn_qp_to_init(p.b.qp, NULL));
    CHECK_OK(vbn_qp_to_rtr(p.b.qp, &p.b.record, &p.a.record, NULL));
    pair_connect(&p, NULL);
    check_alive(&p);
    pair_close(&p);
}

/* The record of another queue pair is refused as one's own. */
static void foreign_local_record(void) {
    pair_open(&p, NULL);
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.b.record, &p.b.record, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "local record");
    pair_connect(&p, NULL);
    check_alive(&p);
    pair_close(&p);
}

/* A failed attempt may be repeated. */
static void after_a_failure(void) {
    pair_open(&p, NULL);
    vbn_rc_attr attr = {.struct_size = sizeof attr, .set = VBN_RC_SET_MAX_RD_ATOMIC, .max_rd_atomic = 255};
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &p.b.record, &attr), VBN_ERR_LIMIT);
    pair_connect(&p, NULL);
    check_alive(&p);
    pair_close(&p);
}

static void no_peer_address(void) {
    pair_open(&p, NULL);
    vbn_rc_record zero = p.b.record;
    memset(zero.gid, 0, 16);
    vbn_status status = vbn_qp_connect_rc(p.a.qp, &p.a.record, &zero, NULL);
    if (status == VBN_OK) SKIP("this link connects by LID");
    CHECK_STATUS(status, VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "GID");
    pair_close(&p);
}

static const struct test tests[] = {
    {"record_local", record_local},
    {"record_psn", record_psn},
    {"record_gid_index", record_gid_index},
    {"record_empty_gid", record_empty_gid},
    {"record_bytes", record_bytes},
    {"record_sizes", record_sizes},
    {"record_ranges", record_ranges},
    {"defaults", defaults},
    {"every_parameter", every_parameter},
    {"the_smaller_mtu", the_smaller_mtu},
    {"twice", twice},
    {"another_peer_in_rtr", another_peer_in_rtr},
    {"from_any_state", from_any_state},
    {"foreign_local_record", foreign_local_record},
    {"after_a_failure", after_a_failure},
    {"no_peer_address", no_peer_address},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("rc_connect", tests, argc, argv);
}
