/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The records of one's own queue pairs, on whatever the device has; what it hasn't is skipped. null_endpoint.c has their bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "srd.h"

struct own {
    vbn_context *context;
    vbn_pd *pd;
    vbn_cq *cq;
    vbn_qp *qp;
    vbn_device_attr device;
};

/* Skips where the device has none of this type. */
static void own_open(struct own *own, int32_t type) {
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 64};
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .qp_type = type, .max_send_wr = 8, .max_recv_wr = 8};
    need_known(test_device());
    memset(own, 0, sizeof *own);
    own->device.struct_size = sizeof own->device;
    CHECK_OK(vbn_context_open(test_device(), NULL, &own->context));
    CHECK_OK(vbn_context_query_device(own->context, &own->device));
    CHECK_OK(vbn_pd_alloc(own->context, NULL, &own->pd));
    CHECK_OK(vbn_cq_create(own->context, &cq, &own->cq));
    qp.send_cq = own->cq;
    vbn_status status = vbn_qp_create(own->pd, &qp, &own->qp);
    if (status == VBN_ERR_NOT_SUPPORTED) {
        char why[1024];
        snprintf(why, sizeof why, "%s", test_error().message);
        CHECK_OK(vbn_cq_close(&own->cq));
        CHECK_OK(vbn_pd_close(&own->pd));
        CHECK_OK(vbn_context_close(&own->context));
        SKIP("%s", why);
    }
    CHECK_OK(status);
}

static void own_close(struct own *own) {
    CHECK_OK(vbn_qp_close(&own->qp));
    CHECK_OK(vbn_cq_close(&own->cq));
    CHECK_OK(vbn_pd_close(&own->pd));
    CHECK_OK(vbn_context_close(&own->context));
}

static vbn_endpoint_info info_of(vbn_qp *qp) {
    vbn_endpoint_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_endpoint_info_local(qp, NULL, &info));
    return info;
}

/* What every type has: an address that the port has, its numbers, and bytes that give the same again. */
static void check_common(struct own *own, const vbn_endpoint_info *info, int32_t type) {
    vbn_port_attr port = {.struct_size = sizeof port};
    vbn_gid_entry gids[64];
    uint32_t count = 0;
    CHECK_OK(vbn_context_query_port(own->context, 1, &port));
    CHECK_OK(vbn_context_gid_table(own->context, gids, sizeof gids[0], 64, &count));
    CHECK_EQ(info->qp_type, type);
    CHECK_UEQ(info->qp_num, vbn_qp_num(own->qp));
    CHECK(info->num_gids >= 1 && info->num_gids <= VBN_ENDPOINT_MAX_GIDS && info->num_gids <= count);
    for (uint32_t i = 0; i < info->num_gids; i++) {
        uint32_t at = 0;
        while (at < count && (memcmp(gids[at].gid, info->gids[i].gid, 16) || gids[at].type != info->gids[i].type)) at++;
        CHECK(at < count);
        CHECK_EQ(info->gids[i].family, gids[at].family);
    }
    CHECK(info->set & VBN_ENDPOINT_SET_PORT_NUM);
    CHECK_UEQ(info->port_num, 1);
    CHECK(info->set & VBN_ENDPOINT_SET_MTU);
    CHECK_EQ(info->mtu, port.active_mtu);
    CHECK(info->set & VBN_ENDPOINT_SET_MAX_MESSAGE);
    CHECK_UEQ(info->max_message, port.max_msg_sz);
    CHECK(info->set & VBN_ENDPOINT_SET_INCARNATION);
    CHECK(info_of(own->qp).incarnation != info->incarnation);
    int efa = own->device.vendor_id == 0x1d0f;
    CHECK_EQ(!!(info->set & VBN_ENDPOINT_SET_EFA_GENERATION), efa);
    if (efa) CHECK_UEQ(info->efa_generation, own->device.vendor_part_id);
    CHECK_EQ(!!(info->set & VBN_ENDPOINT_SET_UNSOLICITED), type == VBN_QPT_SRD);
    CHECK_EQ(!!(info->set & VBN_ENDPOINT_SET_READ_DEPTH), type == VBN_QPT_RC);

    uint8_t bytes[VBN_RECORD_MAX_SIZE];
    size_t size = 0;
    vbn_endpoint_info back;
    memset(&back, 0, sizeof back);
    back.struct_size = sizeof back;
    CHECK_OK(vbn_endpoint_info_encode(info, bytes, sizeof bytes, &size));
    CHECK_OK(vbn_endpoint_info_decode(bytes, size, &back));
    CHECK_MEM(&back, info, sizeof back);
}

static void connectionless(int32_t type) {
    struct own own;
    vbn_endpoint endpoint, before;
    vbn_endpoint_info info = {.struct_size = sizeof info};
    own_open(&own, type);
    memset(&endpoint, 0xee, sizeof endpoint);
    before = endpoint;
    CHECK_STATUS(vbn_endpoint_local(own.qp, &endpoint), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_last_error(), "vbn_qp_prepare");
    CHECK_MEM(&endpoint, &before, sizeof endpoint);
    CHECK_STATUS(vbn_endpoint_info_local(own.qp, NULL, &info), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_last_error(), "RESET");

    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 0x1eadbeef};
    CHECK_OK(vbn_qp_prepare(own.qp, &prepare));
    CHECK_OK(vbn_endpoint_local(own.qp, &endpoint));
    CHECK_UEQ(endpoint.qp_num, vbn_qp_num(own.qp));
    CHECK_UEQ(endpoint.qkey, 0x1eadbeef);
    vbn_gid_choice choice = {.struct_size = sizeof choice};
    CHECK_OK(vbn_gid_select(own.context, 1, NULL, &choice, NULL, 0, 0, NULL));
    CHECK_MEM(endpoint.gid, choice.gid, 16);

    info = info_of(own.qp);
    check_common(&own, &info, type);
    CHECK_MEM(info.gids[0].gid, endpoint.gid, 16);
    CHECK(info.set & VBN_ENDPOINT_SET_QKEY);
    CHECK_UEQ(info.qkey, 0x1eadbeef);
    CHECK_EQ(info.set & VBN_ENDPOINT_SET_PSN, 0);
    CHECK_EQ(info.unsolicited, 0);

    /* The caller of an adopted one may say what it doesn't tell. */
    vbn_endpoint_info_attr attr = {.struct_size = sizeof attr, .set = VBN_ENDPOINT_ATTR_SET_UNSOLICITED, .unsolicited = 1};
    CHECK_OK(vbn_endpoint_info_local(own.qp, &attr, &info));
    CHECK_EQ(info.unsolicited, type == VBN_QPT_SRD);
    own_close(&own);
}

/* A queue pair of the other kind says so. The completion queue must be able to tell such completions. */
static void local_unsolicited(void) {
    struct own own;
    own_open(&own, VBN_QPT_SRD);
    CHECK_OK(vbn_qp_close(&own.qp));
    CHECK_OK(vbn_cq_close(&own.cq));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 64, .fields = VBN_WC_EX_UNSOLICITED};
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .qp_type = VBN_QPT_SRD, .flags = VBN_QP_UNSOLICITED_WRITE_RECV};
    vbn_status status = vbn_cq_create(own.context, &cq, &own.cq);
    if (status == VBN_ERR_NOT_SUPPORTED || status == VBN_ERR_SYMBOL_MISSING) {
        char why[1024];
        snprintf(why, sizeof why, "%s", test_error().message);
        CHECK_OK(vbn_pd_close(&own.pd));
        CHECK_OK(vbn_context_close(&own.context));
        SKIP("%s", why);
    }
    CHECK_OK(status);
    qp.send_cq = own.cq;
    CHECK_OK(vbn_qp_create(own.pd, &qp, &own.qp));
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 5};
    CHECK_OK(vbn_qp_prepare(own.qp, &prepare));
    vbn_endpoint_info info = info_of(own.qp);
    CHECK(info.set & VBN_ENDPOINT_SET_UNSOLICITED);
    CHECK_EQ(info.unsolicited, 1);
    own_close(&own);
}

/* Peers are made of records that fit, and of no others: one's own record, sent over the wire and changed there. */
static void peers(void) {
    static const struct {
        uint64_t bit;
        const char *text;
    } wanted[] = {
        {VBN_MISMATCH_TRANSPORT, "this queue pair is SRD, the peer's UD"},
        {VBN_MISMATCH_UNSOLICITED, "the peer was made with VBN_QP_UNSOLICITED_WRITE_RECV and this side without it"},
        {VBN_MISMATCH_EFA_GENERATION, "can't READ from each other"},
        {VBN_MISMATCH_GID, "no GID of this side"},
    };
    struct own own;
    own_open(&own, VBN_QPT_SRD);
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 5};
    CHECK_OK(vbn_qp_prepare(own.qp, &prepare));
    const vbn_endpoint_info local = info_of(own.qp);
    for (uint64_t bits = 0; bits < 16; bits++) {
        vbn_endpoint_info remote = local, sent = local;
        uint8_t bytes[VBN_RECORD_MAX_SIZE];
        size_t size = 0;
        vbn_peer *peer = NULL;
        if (bits & VBN_MISMATCH_TRANSPORT) sent.qp_type = VBN_QPT_UD;
        if (bits & VBN_MISMATCH_UNSOLICITED) sent.unsolicited = 1;
        if (bits & VBN_MISMATCH_EFA_GENERATION) sent.efa_generation = local.efa_generation == 0xefa0 ? 0xefa1 : 0xefa0;
        if (bits & VBN_MISMATCH_GID) sent.gids[0].type = VBN_GID_TYPE_ROCE_V2;
        CHECK_OK(vbn_endpoint_info_encode(&sent, bytes, sizeof bytes, &size));
        CHECK_OK(vbn_endpoint_info_decode(bytes, size, &remote));
        CHECK_STATUS(vbn_peer_from_info(own.qp, &remote, NULL, &peer), bits ? VBN_ERR_ARGUMENT : VBN_OK);
        CHECK_EQ(peer != NULL, !bits);
        if (!bits) {
            CHECK_OK(vbn_peer_close(&peer));
            continue;
        }
        CHECK_UEQ(test_error().value, bits);
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            CHECK_EQ(strstr(test_error().message, wanted[i].text) != NULL, (bits & wanted[i].bit) != 0);
        }
    }
    own_close(&own);
}

static void local_ud(void) { connectionless(VBN_QPT_UD); }
static void local_srd(void) { connectionless(VBN_QPT_SRD); }

static void local_rc(void) {
    struct own own;
    need_known(test_device());
    need_rc(test_device());
    own_open(&own, VBN_QPT_RC);
    vbn_endpoint endpoint;
    CHECK_STATUS(vbn_endpoint_local(own.qp, &endpoint), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_last_error(), "QKEY");
    /* In RESET: an RC queue pair is described before it is connected. */
    vbn_endpoint_info info = info_of(own.qp);
    check_common(&own, &info, VBN_QPT_RC);
    vbn_rc_record record;
    CHECK_OK(vbn_rc_record_local(own.qp, NULL, &record));
    CHECK_MEM(info.gids[0].gid, record.gid, 16);
    CHECK_EQ(info.set & VBN_ENDPOINT_SET_QKEY, 0);
    CHECK(info.max_rd_atomic > 0 && info.max_rd_atomic <= 16);
    CHECK(info.max_dest_rd_atomic > 0 && info.max_dest_rd_atomic <= 16);

    vbn_endpoint_info_attr attr = {.struct_size = sizeof attr, .psn = 0xabcdef, .sgid_index = 0, .max_rd_atomic = 1, .max_dest_rd_atomic = 2};
    attr.set = VBN_ENDPOINT_ATTR_SET_PSN | VBN_ENDPOINT_ATTR_SET_SGID_INDEX | VBN_ENDPOINT_ATTR_SET_MAX_RD_ATOMIC |
               VBN_ENDPOINT_ATTR_SET_MAX_DEST_RD_ATOMIC;
    CHECK_OK(vbn_endpoint_info_local(own.qp, &attr, &info));
    CHECK_UEQ(info.psn, 0xabcdef);
    CHECK_UEQ(info.max_rd_atomic, 1);
    CHECK_UEQ(info.max_dest_rd_atomic, 2);
    CHECK_UEQ(info.num_gids, 1);
    uint8_t first[16];
    CHECK_OK(vbn_context_query_gid(own.context, 1, 0, first));
    CHECK_MEM(info.gids[0].gid, first, 16);
    own_close(&own);
}

static const struct test tests[] = {
    {"local_ud", local_ud},
    {"local_srd", local_srd},
    {"local_unsolicited", local_unsolicited},
    {"local_rc", local_rc},
    {"peers", peers},
    {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("endpoint", tests, argc, argv); }
