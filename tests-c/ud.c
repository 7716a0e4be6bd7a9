/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* UD queue pairs on a device that has RC too: datagrams and their 40-byte header, the ways to a peer and back, what is dropped, multicast. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

#define QKEY 0x11223344

static struct pair p;
static const struct setup ud = {.qp_type = VBN_QPT_UD, .send_sge = 2, .recv_sge = 2, .inline_data = 32};
/* The ways from a to b and from b to a. */
static vbn_peer *to_b, *to_a;

static void open_ready(const struct setup *setup) {
    pair_open(&p, setup);
    ud_prepare(&p.a, QKEY);
    ud_prepare(&p.b, QKEY + 1);
    to_b = ud_peer(&p.a, &p.b);
    to_a = ud_peer(&p.b, &p.a);
}

static void close_ready(void) {
    CHECK_OK(vbn_peer_close(&to_b));
    CHECK_OK(vbn_peer_close(&to_a));
    pair_close(&p);
}

static uint32_t mtu(struct side *side) {
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(side->context, 1, &port));
    return 128u << port.active_mtu;
}

/* A datagram arrives: the sign of life of both ends, and a barrier behind what was dropped. */
static void check_alive_ud(void) {
    static uint64_t id = 5000;
    id++;
    fill(p.a.memory + 60000, 100, (uint32_t)id);
    post_recv(&p.b, id, 50000, GRH + 100);
    vbn_send_wr wr = ud_wr(&p.a, to_b, id, 60000, 100);
    run_send(&p.a, &wr);
    CHECK_UEQ(next_ok(&p.b, id).byte_len, GRH + 100);
    CHECK_MEM(p.b.memory + 50000 + GRH, p.a.memory + 60000, 100);
}

/* ---- Bringing it up ---- */

static void prepare_in_one_call(void) {
    pair_open(&p, &ud);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);
    vbn_qp_prepare_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = QKEY, .psn = 0x123456};
    CHECK_OK(vbn_qp_prepare(p.a.qp, &attr));
    vbn_qp_info info = qp_info(p.a.qp);
    CHECK_EQ(info.qp_state, VBN_QPS_RTS);
    CHECK_EQ(info.qp_type, VBN_QPT_UD);
    CHECK_UEQ(info.qkey, QKEY);
    CHECK_UEQ(info.sq_psn, 0x123456);
    CHECK_UEQ(info.send_ops, VBN_QP_OP_SEND | VBN_QP_OP_SEND_WITH_IMM);
    CHECK_UEQ(info.max_message, mtu(&p.a));
    /* Once more is fine, with the same key. */
    CHECK_OK(vbn_qp_prepare(p.a.qp, &attr));
    attr.qkey++;
    CHECK_STATUS(vbn_qp_prepare(p.a.qp, &attr), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "another QKEY");
    CHECK_UEQ(test_error().limit, QKEY);
    qp_force(p.a.qp, VBN_QPS_ERR);
    attr.qkey = QKEY;
    CHECK_STATUS(vbn_qp_prepare(p.a.qp, &attr), VBN_ERR_ARGUMENT);
    qp_force(p.a.qp, VBN_QPS_RESET);
    CHECK_OK(vbn_qp_prepare(p.a.qp, &attr));
    /* From INIT and from RTR it goes on. */
    vbn_qp_attr step = {.struct_size = sizeof step, .set = VBN_QP_STATE | VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_QKEY,
                        .qp_state = VBN_QPS_INIT, .port_num = 1, .qkey = 7};
    CHECK_OK(vbn_qp_modify(p.b.qp, &step));
    CHECK_OK(vbn_qp_prepare(p.b.qp, &attr));
    CHECK_UEQ(qp_info(p.b.qp).qkey, QKEY);
    qp_force(p.b.qp, VBN_QPS_RESET);
    CHECK_OK(vbn_qp_modify(p.b.qp, &step));
    step.set = VBN_QP_STATE;
    step.qp_state = VBN_QPS_RTR;
    CHECK_OK(vbn_qp_modify(p.b.qp, &step));
    CHECK_STATUS(vbn_qp_prepare(p.b.qp, &attr), VBN_ERR_ARGUMENT); /* it was 7 */
    attr.qkey = 7;
    CHECK_OK(vbn_qp_prepare(p.b.qp, &attr));
    CHECK_EQ(qp_state(p.b.qp), VBN_QPS_RTS);
    pair_close(&p);
}

static void rc_calls_are_refused(void) {
    pair_open(&p, &ud);
    ud_prepare(&p.a, QKEY);
    vbn_rc_record record = {.qp_num = vbn_qp_num(p.a.qp), .port_num = 1, .mtu = 1};
    CHECK_STATUS(vbn_qp_to_init(p.a.qp, NULL), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &record, &record, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "vbn_qp_prepare");
    vbn_endpoint_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_endpoint_info_local(p.a.qp, NULL, &info));
    CHECK_STATUS(vbn_qp_connect(p.a.qp, &info, &info, NULL), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_rc_record_local(p.a.qp, NULL, &record), VBN_ERR_ARGUMENT);
    pair_close(&p);
}

/* ---- Traffic ---- */

static void datagrams(void) {
    open_ready(&ud);
    fill(p.a.memory, 20000, 1);
    uint32_t most = mtu(&p.a);
    uint32_t lengths[] = {0, 1, 39, 40, 41, 500, most - 1, most};
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(p.b.memory, 0x5c, 8192);
        post_recv(&p.b, 100 + i, 0, GRH + most);
        vbn_send_wr wr = ud_wr(&p.a, to_b, i, 64 * i, lengths[i]);
        if (i % 2) {
            wr.opcode = VBN_WR_SEND_WITH_IMM;
            wr.imm = 0xabc00000 + i;
        }
        run_send(&p.a, &wr);
        vbn_wc wc = next_ok(&p.b, 100 + i);
        CHECK_EQ(wc.opcode, VBN_WC_RECV);
        CHECK_UEQ(wc.byte_len, GRH + lengths[i]);
        CHECK_UEQ(wc.wc_flags, VBN_WC_GRH | (i % 2 ? VBN_WC_WITH_IMM : 0));
        if (i % 2) CHECK_UEQ(wc.imm, 0xabc00000 + i);
        CHECK_UEQ(wc.src_qp, vbn_qp_num(p.a.qp));
        CHECK_MEM(p.b.memory + GRH, p.a.memory + 64 * i, lengths[i]);
        CHECK_EQ(p.b.memory[GRH + lengths[i]], 0x5c);
    }
    check_no_wc(&p.a);
    check_no_wc(&p.b);
    close_ready();
}

/* The header is in the first 40 bytes whatever the segments: here one for it and one for the data. */
static void header_apart(void) {
    open_ready(&ud);
    vbn_sge into[2] = {sge_at(&p.b, 0, GRH), sge_at(&p.b, 4096, 1000)}, from[2] = {sge_at(&p.a, 0, 10), sge_at(&p.a, 500, 90)};
    vbn_recv_wr recv = {.wr_id = 3, .sg_list = into, .num_sge = 2};
    uint32_t posted;
    fill(p.a.memory, 1000, 2);
    CHECK_OK(vbn_qp_post_recv(p.b.qp, &recv, 1, &posted));
    vbn_send_wr wr = ud_wr(&p.a, to_b, 1, 0, 0);
    wr.sg_list = from;
    wr.num_sge = 2;
    run_send(&p.a, &wr);
    CHECK_UEQ(next_ok(&p.b, 3).byte_len, GRH + 100);
    CHECK_MEM(p.b.memory + 4096, p.a.memory, 10);
    CHECK_MEM(p.b.memory + 4106, p.a.memory + 500, 90);
    /* RoCE v2 over IPv4 has the IP header at its end: version 4, and both addresses, which are those of the GIDs. */
    vbn_endpoint a, b;
    CHECK_OK(vbn_endpoint_local(p.a.qp, &a));
    CHECK_OK(vbn_endpoint_local(p.b.qp, &b));
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (memcmp(a.gid, mapped, 12) == 0) {
        CHECK_EQ(p.b.memory[20] >> 4, 4);
        CHECK_MEM(p.b.memory + 32, a.gid + 12, 4);
        CHECK_MEM(p.b.memory + 36, b.gid + 12, 4);
    }
    close_ready();
}

static void inline_data(void) {
    open_ready(&ud);
    char text[32] = "copied while posting";
    post_recv(&p.b, 3, 0, 200);
    vbn_send_wr wr = ud_wr(&p.a, to_b, 1, 0, sizeof text);
    wr.flags |= VBN_SEND_INLINE;
    wr.sge.addr = (uintptr_t)text;
    wr.sge.lkey = 0;
    post_send(&p.a, &wr);
    memset(text, 0, sizeof text);
    next_ok(&p.a, 1);
    next_ok(&p.b, 3);
    CHECK_STR((char *)p.b.memory + GRH, "copied while posting");
    close_ready();
}

/* More than a batch in one call, and to two peers in turn. */
static void many_at_once(void) {
    enum { COUNT = 40 };
    open_ready(&(struct setup){.qp_type = VBN_QPT_UD, .send_wr = COUNT, .recv_wr = COUNT});
    vbn_peer *to_self = ud_peer(&p.a, &p.a);
    vbn_send_wr wrs[COUNT];
    fill(p.a.memory, COUNT * 64, 3);
    for (uint32_t i = 0; i < COUNT; i++) {
        wrs[i] = ud_wr(&p.a, i % 2 ? to_b : to_self, i, 64 * i, 64);
        post_recv(i % 2 ? &p.b : &p.a, 1000 + i, 10000 + 128 * i, 128);
    }
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, COUNT, &posted));
    CHECK_UEQ(posted, COUNT);
    for (uint32_t i = 0; i < COUNT + COUNT / 2; i++) CHECK_OK(vbn_wc_check(&(vbn_wc[1]){next_wc(&p.a)}[0]));
    for (uint32_t i = 1; i < COUNT; i += 2) next_ok(&p.b, 1000 + i);
    for (uint32_t i = 0; i < COUNT; i++) CHECK_MEM((i % 2 ? &p.b : &p.a)->memory + 10000 + 128 * i + GRH, p.a.memory + 64 * i, 64);
    CHECK_OK(vbn_peer_close(&to_self));
    close_ready();
}

/* ---- The ways to a peer, and back ---- */

/* By an address handle made of attributes. */
static void by_attributes(void) {
    open_ready(&ud);
    vbn_endpoint b;
    vbn_gid_choice choice = {.struct_size = sizeof choice};
    CHECK_OK(vbn_endpoint_local(p.b.qp, &b));
    CHECK_OK(vbn_gid_select(p.a.context, 1, NULL, &choice, NULL, 0, 0, NULL));
    vbn_ah_attr attr = {.struct_size = sizeof attr, .user_data = 9, .path = {.is_global = 1, .hop_limit = 3, .traffic_class = 8, .port_num = 1}};
    attr.path.sgid_index = (uint8_t)choice.index;
    memcpy(attr.path.dgid, b.gid, 16);
    vbn_ah *ah;
    CHECK_OK(vbn_ah_create(p.a.pd, &attr, &ah));
    vbn_ah_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_ah_query(ah, &info));
    CHECK_UEQ(info.user_data, 9);
    CHECK_EQ(info.is_shared, 0);
    CHECK_MEM(&info.path, &attr.path, sizeof info.path);
    vbn_peer_attr peer_attr = {.struct_size = sizeof peer_attr, .ah = ah, .qp_num = b.qp_num, .qkey = b.qkey};
    vbn_peer *peer;
    CHECK_OK(vbn_peer_create(p.a.pd, &peer_attr, &peer));
    /* The peer keeps the address handle. */
    CHECK_OK(vbn_ah_close(&ah));
    CHECK_UEQ(live_info(p.a.context).ah_closed, 1);
    post_recv(&p.b, 3, 0, 200);
    vbn_send_wr wr = ud_wr(&p.a, peer, 1, 0, 64);
    run_send(&p.a, &wr);
    next_ok(&p.b, 3);
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_UEQ(live_info(p.a.context).ah_closed, 0);

    /* Without the global header there is no way on RoCE. */
    attr.path.is_global = 0;
    CHECK_STATUS(vbn_ah_create(p.a.pd, &attr, &ah), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EINVAL);
    CHECK(ah == NULL);
    close_ready();
}

/* b answers without knowing more of a than what the datagram brings, and the QKEY. */
static void answer(const vbn_wc *wc, const void *grh) {
    vbn_ah *ah = NULL;
    vbn_peer *peer = NULL;
    vbn_endpoint a;
    CHECK_OK(vbn_ah_from_wc(p.b.pd, wc, grh, 1, &ah));
    vbn_ah_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_ah_query(ah, &info));
    CHECK_OK(vbn_endpoint_local(p.a.qp, &a));
    CHECK_MEM(info.path.dgid, a.gid, 16);
    CHECK_EQ(info.path.is_global, 1);
    CHECK_EQ(info.path.port_num, 1);
    vbn_peer_attr attr = {.struct_size = sizeof attr, .ah = ah, .qp_num = wc->src_qp, .qkey = QKEY};
    CHECK_OK(vbn_peer_create(p.b.pd, &attr, &peer));
    CHECK_OK(vbn_ah_close(&ah));
    fill(p.b.memory + 8192, 77, 9);
    post_recv(&p.a, 21, 0, 200);
    vbn_send_wr wr = ud_wr(&p.b, peer, 20, 8192, 77);
    run_send(&p.b, &wr);
    vbn_wc back = next_ok(&p.a, 21);
    CHECK_UEQ(back.byte_len, GRH + 77);
    CHECK_UEQ(back.src_qp, vbn_qp_num(p.b.qp));
    CHECK_MEM(p.a.memory + GRH, p.b.memory + 8192, 77);
    CHECK_OK(vbn_peer_close(&peer));
}

static void by_completion(void) {
    open_ready(&ud);
    post_recv(&p.b, 3, 0, 200);
    vbn_send_wr wr = ud_wr(&p.a, to_b, 1, 0, 64);
    run_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.b, 3);
    answer(&wc, p.b.memory);

    /* A header that was copied elsewhere, at no alignment; the completion put together by hand. */
    uint8_t room[GRH + 1];
    memcpy(room + 1, p.b.memory, GRH);
    vbn_wc made = {.opcode = VBN_WC_RECV, .wc_flags = VBN_WC_GRH, .src_qp = wc.src_qp};
    answer(&made, room + 1);

    /* What tells nothing of the sender is refused. */
    vbn_ah *ah = (vbn_ah *)room;
    vbn_wc other = wc;
    other.wc_flags = 0;
    CHECK_STATUS(vbn_ah_from_wc(p.b.pd, &other, p.b.memory, 1, &ah), VBN_ERR_ARGUMENT);
    CHECK(ah == NULL);
    other = wc;
    other.status = VBN_WC_WR_FLUSH_ERR;
    CHECK_STATUS(vbn_ah_from_wc(p.b.pd, &other, p.b.memory, 1, &ah), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_ah_from_wc(p.b.pd, &wc, NULL, 1, &ah), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_ah_from_wc(p.b.pd, &wc, p.b.memory, 77, &ah), VBN_ERR_LIMIT);
    memset(room, 0x77, sizeof room);
    CHECK_STATUS(vbn_ah_from_wc(p.b.pd, &wc, room, 1, &ah), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "header");
    CHECK_UEQ(live_info(p.b.context).ah_open, 0);
    close_ready();
}

/* By the records that grow: what doesn't fit together is named. */
static void by_record(void) {
    pair_open(&p, &ud);
    ud_prepare(&p.a, QKEY);
    ud_prepare(&p.b, QKEY + 1);
    vbn_endpoint_info b = {.struct_size = sizeof b};
    CHECK_OK(vbn_endpoint_info_local(p.b.qp, NULL, &b));
    CHECK_OK(vbn_peer_from_info(p.a.qp, &b, NULL, &to_b));
    CHECK_OK(vbn_endpoint_info_local(p.a.qp, NULL, &b));
    CHECK_OK(vbn_peer_from_info(p.b.qp, &b, NULL, &to_a));
    check_alive_ud();
    b.qp_type = VBN_QPT_RC;
    b.set |= VBN_ENDPOINT_SET_PSN;
    vbn_peer *none = NULL;
    CHECK_STATUS(vbn_peer_from_info(p.b.qp, &b, NULL, &none), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "UD");
    close_ready();
}

/* Every single thing that keeps two apart; no handle is made, and a record that fits still does. */
static void mismatches(void) {
    static const uint8_t loop[16] = {[10] = 0xff, 0xff, 127, 0, 0, 9}, net[16] = {[10] = 0xff, 0xff, 192, 0, 2, 9}, loop6[16] = {[15] = 1};
    open_ready(&ud);
    vbn_endpoint_info good = {.struct_size = sizeof good}, other;
    CHECK_OK(vbn_endpoint_info_local(p.b.qp, NULL, &good));
    int host = memcmp(good.gids[0].gid, loop, 13) == 0 || memcmp(good.gids[0].gid, loop6, 16) == 0;
    for (int i = 0; i < 12; i++) {
        const char *says = NULL;
        uint64_t bits = VBN_MISMATCH_GID;
        other = good;
        other.num_gids = 1;
        switch (i) {
        case 0:
        case 1:
            other = good;
            other.qp_type = i ? VBN_QPT_RC : VBN_QPT_UC;
            other.set |= VBN_ENDPOINT_SET_PSN;
            bits = VBN_MISMATCH_TRANSPORT;
            says = i ? "this queue pair is UD, the peer's RC" : "this queue pair is UD, the peer's UC";
            break;
        case 2: other.gids[0].type = VBN_GID_TYPE_ROCE_V1, says = "RoCE v2 here, RoCE v1 there"; break;
        case 3: other.gids[0].type = VBN_GID_TYPE_IB, says = "RoCE v2 here, IB there"; break;
        case 4: other.gids[0].family = VBN_GID_FAMILY_ANY, says = "none (not of RoCE) there"; break;
        case 5:
            memcpy(other.gids[0].gid, host ? net : loop, 16);
            other.gids[0].family = VBN_GID_FAMILY_IPV4;
            says = host ? "that of this side is a loopback address" : "that of the peer is a loopback address";
            break;
        case 6: other.num_gids = 0, other.set |= VBN_ENDPOINT_SET_LID, says = "the peer tells no GID, only a LID"; break;
        case 7: other.num_gids = 0, says = "neither a GID nor a LID", bits = 0; break;
        case 8: memset(other.gids[0].gid, 0, 16), says = "the GID is all zero", bits = 0; break;
        case 9: other.set &= ~VBN_ENDPOINT_SET_QKEY, says = "needs a qkey", bits = 0; break;
        case 10: other.qp_num = 1 << 24, says = "qp_num", bits = 1 << 24; break;
        case 11: other.mtu = 6, says = "mtu", bits = 6; break;
        }
        vbn_peer *none = (vbn_peer *)1;
        CHECK_STATUS(vbn_peer_from_info(p.a.qp, &other, NULL, &none), VBN_ERR_ARGUMENT);
        CHECK(none == NULL);
        CHECK_HAS(test_error().message, says);
        if (bits) CHECK_UEQ(test_error().value, bits);
    }
    CHECK_OK(vbn_peer_close(&to_b));
    CHECK_OK(vbn_peer_from_info(p.a.qp, &good, NULL, &to_b));
    check_alive_ud();
    close_ready();
}

/* ---- Refused before the device sees it ---- */

static void beyond_the_mtu(void) {
    open_ready(&ud);
    uint32_t most = mtu(&p.a), posted = 99;
    vbn_send_wr wrs[2] = {ud_wr(&p.a, to_b, 1, 0, 64), ud_wr(&p.a, to_b, 2, 0, most + 1)};
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 2, &posted), VBN_ERR_LIMIT);
    CHECK_UEQ(posted, 0);
    vbn_error_info error = test_error();
    CHECK_UEQ(error.index, 1);
    CHECK_UEQ(error.value, most + 1);
    CHECK_UEQ(error.limit, most);
    CHECK_HAS(error.message, "MTU");
    /* Segments count together. */
    vbn_sge list[2] = {sge_at(&p.a, 0, most), sge_at(&p.a, 0, 1)};
    wrs[0].sg_list = list;
    wrs[0].num_sge = 2;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 1, &posted), VBN_ERR_LIMIT);
    CHECK_UEQ(posted, 0);
    check_no_wc(&p.a);
    check_alive_ud();
    close_ready();
}

static void operations(void) {
    open_ready(&ud);
    static const uint32_t none[] = {VBN_WR_RDMA_WRITE, VBN_WR_RDMA_WRITE_WITH_IMM, VBN_WR_RDMA_READ};
    for (int i = 0; i < 3; i++) {
        vbn_send_wr wr = ud_wr(&p.a, to_b, 1, 0, 64);
        uint32_t posted = 99;
        wr.opcode = none[i];
        CHECK_STATUS(vbn_qp_post_send(p.a.qp, &wr, 1, &posted), VBN_ERR_NOT_SUPPORTED);
        CHECK_UEQ(posted, 0);
    }
    check_alive_ud();
    close_ready();
}

static void peers(void) {
    open_ready(&ud);
    uint32_t posted = 99;
    vbn_peer *gone = ud_peer(&p.a, &p.b), *copy = gone;
    vbn_send_wr wrs[2] = {ud_wr(&p.a, to_b, 1, 0, 64), ud_wr(&p.a, gone, 2, 0, 64)};
    CHECK_OK(vbn_peer_close(&gone));
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 2, &posted), VBN_ERR_CLOSED);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 1);
    CHECK(copy != NULL);
    wrs[1].peer = NULL;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 2, &posted), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "peer is NULL");
    wrs[1].peer = to_a; /* of the other context */
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 2, &posted), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "protection domain");
    wrs[1].peer = (vbn_peer *)p.a.qp;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 2, &posted), VBN_ERR_ARGUMENT);
    CHECK_UEQ(posted, 0);
    check_no_wc(&p.a);
    check_alive_ud();
    close_ready();
}

/* ---- Dropped without a word ---- */

static void wrong_qkey(void) {
    open_ready(&ud);
    vbn_endpoint b;
    vbn_peer *wrong;
    CHECK_OK(vbn_endpoint_local(p.b.qp, &b));
    b.qkey ^= 1;
    CHECK_OK(vbn_peer_from_endpoint(p.a.pd, &b, NULL, &wrong));
    memset(p.b.memory, 0x66, 200);
    post_recv(&p.b, 5, 0, 200);
    for (uint32_t i = 0; i < 5; i++) {
        vbn_send_wr wr = ud_wr(&p.a, wrong, i, 1000, 64);
        run_send(&p.a, &wr);
    }
    /* The receive is still there for one with the right key. */
    vbn_send_wr wr = ud_wr(&p.a, to_b, 9, 2000, 32);
    fill(p.a.memory + 2000, 32, 4);
    run_send(&p.a, &wr);
    CHECK_UEQ(next_ok(&p.b, 5).byte_len, GRH + 32);
    CHECK_MEM(p.b.memory + GRH, p.a.memory + 2000, 32);
    for (int i = GRH + 32; i < 200; i++) CHECK_EQ(p.b.memory[i], 0x66);
    check_no_wc(&p.b);
    CHECK_EQ(qp_state(p.b.qp), VBN_QPS_RTS);
    CHECK_OK(vbn_peer_close(&wrong));
    close_ready();
}

static void nobody_there(void) {
    open_ready(&ud);
    vbn_endpoint b;
    vbn_peer *wrong;
    CHECK_OK(vbn_endpoint_local(p.b.qp, &b));
    b.qp_num = 0xabcdef;
    CHECK_OK(vbn_peer_from_endpoint(p.a.pd, &b, NULL, &wrong));
    vbn_send_wr wr = ud_wr(&p.a, wrong, 1, 0, 64);
    run_send(&p.a, &wr);
    /* No receive posted. */
    wr = ud_wr(&p.a, to_b, 2, 0, 64);
    run_send(&p.a, &wr);
    /* Sent is not dropped yet: soft-RoCE of Linux 6.12 receives in a worker of the kernel's, which may come late and find the next receive. */
    sleep_ms(500);
    check_alive_ud();
    check_no_wc(&p.b);
    CHECK_OK(vbn_peer_close(&wrong));
    close_ready();
}

/* A receive that has no room for the header and the message: dropped, or its completion fails; never a success. */
static void receive_too_small(void) {
    open_ready(&ud);
    memset(p.b.memory, 0x71, 4096);
    post_recv(&p.b, 5, 0, GRH + 10);
    post_recv(&p.b, 6, 1000, GRH + 100);
    vbn_send_wr wr = ud_wr(&p.a, to_b, 1, 0, 64);
    run_send(&p.a, &wr);
    wr = ud_wr(&p.a, to_b, 2, 0, 8);
    run_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.b);
    test_note("first: wr_id %llu, %s", (unsigned long long)wc.wr_id, vbn_wc_status_name(wc.status));
    CHECK_UEQ(wc.wr_id, 5);
    CHECK(wc.status != VBN_WC_SUCCESS || wc.byte_len == GRH + 8);
    for (int i = GRH + 10; i < 1000; i++) CHECK_EQ(p.b.memory[i], 0x71);
    close_ready();
}

/* ---- Multicast ---- */

/* 239.1.2.3, as RoCE v2 over IPv4 writes it; ff0e::7 for IPv6. */
static const uint8_t group4[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};
static const uint8_t group6[16] = {0xff, 0x0e, [15] = 7};

static void attach_and_detach(void) {
    open_ready(&ud);
    vbn_device_attr device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_query_device(p.a.context, &device));
    if (device.max_mcast_grp == 0) LACKS("the device has no multicast");
    CHECK_OK(vbn_qp_attach_mcast(p.a.qp, group4, 0));
    CHECK_OK(vbn_qp_attach_mcast(p.a.qp, group6, 0));
    /* Attached, it can't go. */
    CHECK_STATUS(vbn_qp_close(&p.a.qp), VBN_ERR_BUSY);
    CHECK_HAS(test_error().message, "vbn_qp_detach_mcast");
    CHECK(p.a.qp != NULL);
    check_alive_ud();
    CHECK_OK(vbn_qp_detach_mcast(p.a.qp, group4, 0));
    CHECK_STATUS(vbn_qp_detach_mcast(p.a.qp, group4, 0), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EINVAL);
    CHECK_HAS(test_error().message, "not attached");
    CHECK_OK(vbn_qp_detach_mcast(p.a.qp, group6, 0));

    uint8_t unicast[16];
    CHECK_OK(vbn_context_query_gid(p.a.context, 1, 0, unicast));
    CHECK_STATUS(vbn_qp_attach_mcast(p.a.qp, unicast, 0), VBN_ERR_ARGUMENT);
    close_ready();
}

static void other_types_have_none(void) {
    pair_open_connected(&p, NULL);
    CHECK_STATUS(vbn_qp_attach_mcast(p.a.qp, group4, 0), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "UD");
    CHECK_STATUS(vbn_qp_detach_mcast(p.a.qp, group4, 0), VBN_ERR_ARGUMENT);
    check_alive(&p);
    pair_close(&p);
}

/* One datagram for all that are attached; the sender is on another device, at the other end of a wire. */
static void group_traffic(void) {
    struct setup other = ud;
    other.device = second_device();
    struct side member;
    side_open(&p.a, &ud);
    side_open(&p.b, &other);
    side_open(&member, &other);
    ud_prepare(&p.a, QKEY);
    ud_prepare(&p.b, QKEY);
    ud_prepare(&member, QKEY);
    const uint8_t group[16] = {0xff, 0x02, [15] = 0x77};
    int ip = join_group(&p.b, group);
    CHECK_OK(vbn_qp_attach_mcast(p.b.qp, group, 0));
    CHECK_OK(vbn_qp_attach_mcast(member.qp, group, 0));
    vbn_ah *ah;
    vbn_peer *all = group_peer(&p.a, group, QKEY);
    fill(p.a.memory, 200, 12);
    post_recv(&p.b, 5, 0, 400);
    post_recv(&member, 6, 0, 400);
    /* The wire may lose a few. */
    vbn_wc wc[2];
    uint32_t got[2] = {0, 0};
    for (int tries = 0; tries < 50 && !(got[0] && got[1]); tries++) {
        vbn_send_wr wr = ud_wr(&p.a, all, 1, 0, 200);
        run_send(&p.a, &wr);
        sleep_ms(20);
        if (!got[0]) CHECK_OK(vbn_cq_poll(p.b.cq, 1, &wc[0], &got[0]));
        if (!got[1]) CHECK_OK(vbn_cq_poll(member.cq, 1, &wc[1], &got[1]));
    }
    CHECK_UEQ(got[0], 1);
    CHECK_UEQ(got[1], 1);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(vbn_wc_check(&wc[i]));
        CHECK_UEQ(wc[i].byte_len, GRH + 200);
        CHECK_UEQ(wc[i].src_qp, vbn_qp_num(p.a.qp));
        CHECK_UEQ(wc[i].wc_flags, VBN_WC_GRH);
        CHECK_MEM((i ? &member : &p.b)->memory + GRH, p.a.memory, 200);
        CHECK_MEM((i ? &member : &p.b)->memory + 24, group, 16);
    }
    /* The header names the group, not an address of the receiver. */
    CHECK_STATUS(vbn_ah_from_wc(p.b.pd, &wc[0], p.b.memory, 1, &ah), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "multicast");

    /* Detached, nothing comes any more. */
    CHECK_OK(vbn_qp_detach_mcast(member.qp, group, 0));
    post_recv(&member, 7, 0, 400);
    for (int i = 0; i < 5; i++) {
        vbn_send_wr wr = ud_wr(&p.a, all, 1, 0, 200);
        run_send(&p.a, &wr);
        sleep_ms(20);
    }
    check_no_wc(&member);
    CHECK_OK(vbn_qp_detach_mcast(p.b.qp, group, 0));
    close(ip);
    CHECK_OK(vbn_peer_close(&all));
    side_close(&member);
    pair_close(&p);
}

static const struct test tests[] = {
    {"prepare_in_one_call", prepare_in_one_call},
    {"rc_calls_are_refused", rc_calls_are_refused},
    {"datagrams", datagrams},
    {"header_apart", header_apart},
    {"inline_data", inline_data},
    {"many_at_once", many_at_once},
    {"by_attributes", by_attributes},
    {"by_completion", by_completion},
    {"by_record", by_record},
    {"mismatches", mismatches},
    {"beyond_the_mtu", beyond_the_mtu},
    {"operations", operations},
    {"peers", peers},
    {"wrong_qkey", wrong_qkey},
    {"nobody_there", nobody_there},
    {"receive_too_small", receive_too_small},
    {"attach_and_detach", attach_and_detach},
    {"other_types_have_none", other_types_have_none},
    {"group_traffic", group_traffic},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("ud", tests, argc, argv);
}
