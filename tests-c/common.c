/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static uint32_t or_default(uint32_t value, uint32_t otherwise) {
    return value ? value : otherwise;
}

static void open_queues(struct side *side, const struct setup *setup) {
    if (!setup->no_channel) CHECK_OK(vbn_channel_create(side->context, NULL, &side->channel));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = or_default(setup->cqe, 256), .channel = side->channel, .fields = setup->fields};
    CHECK_OK(vbn_cq_create(side->context, &cq, &side->cq));
    if (setup->srq) side->srq = setup->srq(side);
    vbn_qp_init_attr qp = {
        .struct_size = sizeof qp,
        .send_cq = side->cq,
        .srq = side->srq,
        .max_send_wr = setup->send_wr,
        .max_recv_wr = setup->recv_wr,
        .max_send_sge = setup->send_sge,
        .max_recv_sge = setup->recv_sge,
        .max_inline_data = setup->inline_data,
        .send_ops = setup->send_ops,
        .qp_type = setup->qp_type,
        .sq_sig_all = setup->sq_sig_all,
    };
    CHECK_OK(vbn_qp_create(side->pd, &qp, &side->qp));
}

void side_open(struct side *side, const struct setup *setup) {
    static const struct setup usual;
    if (!setup) setup = &usual;
    memset(side, 0, sizeof *side);
    need_rc(setup->device ? setup->device : test_device());
    side->size = setup->size ? setup->size : 65536;
    side->memory = aligned_alloc(4096, (side->size + 4095) / 4096 * 4096);
    CHECK(side->memory != NULL);
    memset(side->memory, 0, side->size);
    CHECK_OK(vbn_context_open(setup->device ? setup->device : test_device(), NULL, &side->context));
    CHECK_OK(vbn_pd_alloc(side->context, NULL, &side->pd));
    uint64_t access = setup->access ? setup->access : ACCESS_ALL;
    CHECK_OK(vbn_mr_reg(side->pd, side->memory, side->size, access, NULL, &side->mr));
    open_queues(side, setup);
    if (setup->qp_type != VBN_QPT_UD) CHECK_OK(vbn_rc_record_local(side->qp, setup->rc, &side->record));
}

void side_close(struct side *side) {
    CHECK_OK(vbn_qp_close(&side->qp));
    CHECK_OK(vbn_srq_close(&side->srq));
    CHECK_OK(vbn_cq_close(&side->cq));
    CHECK_OK(vbn_channel_close(&side->channel));
    CHECK_OK(vbn_mr_close(&side->mr));
    CHECK_OK(vbn_pd_close(&side->pd));
    CHECK_OK(vbn_context_close(&side->context));
    free(side->memory);
    side->memory = NULL;
}

void pair_open(struct pair *pair, const struct setup *setup) {
    side_open(&pair->a, setup);
    side_open(&pair->b, setup);
}

void pair_connect(struct pair *pair, const struct setup *setup) {
    const vbn_rc_attr *rc = setup ? setup->rc : NULL;
    CHECK_OK(vbn_qp_connect_rc(pair->a.qp, &pair->a.record, &pair->b.record, rc));
    CHECK_OK(vbn_qp_connect_rc(pair->b.qp, &pair->b.record, &pair->a.record, rc));
}

void pair_open_connected(struct pair *pair, const struct setup *setup) {
    pair_open(pair, setup);
    pair_connect(pair, setup);
}

void pair_close(struct pair *pair) {
    side_close(&pair->a);
    side_close(&pair->b);
}

void fill(void *memory, uint64_t length, uint32_t seed) {
    uint8_t *bytes = memory;
    uint32_t x = seed * 2654435761u + 1;
    for (uint64_t i = 0; i < length; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(x >> 24);
    }
}

uint64_t checksum(const void *memory, uint64_t length) {
    const uint8_t *bytes = memory;
    uint64_t sum = UINT64_C(14695981039346656037);
    for (uint64_t i = 0; i < length; i++) sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

vbn_sge sge_at(const struct side *side, uint64_t offset, uint32_t length) {
    vbn_sge sge = {.addr = vbn_mr_remote_addr(side->mr) + offset, .length = length, .lkey = vbn_mr_lkey(side->mr)};
    return sge;
}

vbn_send_wr send_wr(const struct side *side, const struct side *peer, uint32_t opcode, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_send_wr wr = {
        .wr_id = wr_id,
        .flags = VBN_SEND_SIGNALED,
        .opcode = opcode,
        .num_sge = 1,
        .sge = sge_at(side, offset, length),
        .remote_addr = vbn_mr_remote_addr(peer->mr) + offset,
        .rkey = vbn_mr_rkey(peer->mr),
    };
    return wr;
}

vbn_recv_wr recv_wr(const struct side *side, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_recv_wr wr = {.wr_id = wr_id, .num_sge = 1, .sge = sge_at(side, offset, length)};
    return wr;
}

void post_send(struct side *side, const vbn_send_wr *wr) {
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_send(side->qp, wr, 1, &posted));
    CHECK_UEQ(posted, 1);
}

void post_recv(struct side *side, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_recv_wr wr = recv_wr(side, wr_id, offset, length);
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_recv(side->qp, &wr, 1, &posted));
    CHECK_UEQ(posted, 1);
}

static vbn_wc newest_wc(struct side *side) {
    vbn_wc wc;
    memset(&wc, 0xa5, sizeof wc);
    uint32_t got = 99;
    CHECK_OK(vbn_cq_wait(side->cq, 1, &wc, 0, PATIENCE, &got));
    CHECK_UEQ(got, 1);
    return wc;
}

vbn_wc next_wc(struct side *side) {
    if (side->kept_count == 0) return newest_wc(side);
    vbn_wc oldest = side->kept[0];
    memmove(side->kept, side->kept + 1, --side->kept_count * sizeof oldest);
    return oldest;
}

static void check_wc(const struct side *side, const vbn_wc *wc, uint64_t wr_id) {
    CHECK_OK(vbn_wc_check(wc));
    CHECK_UEQ(wc->wr_id, wr_id);
    CHECK_UEQ(wc->qp_num, vbn_qp_num(side->qp));
}

vbn_wc next_ok(struct side *side, uint64_t wr_id) {
    vbn_wc wc = next_wc(side);
    check_wc(side, &wc, wr_id);
    return wc;
}

void run_send(struct side *side, const vbn_send_wr *wr) {
    post_send(side, wr);
    for (;;) {
        vbn_wc wc = newest_wc(side);
        int received = wc.status == VBN_WC_SUCCESS && (wc.opcode & VBN_WC_RECV);
        if (!received) {
            check_wc(side, &wc, wr->wr_id);
            return;
        }
        CHECK(side->kept_count < sizeof side->kept / sizeof side->kept[0]);
        side->kept[side->kept_count++] = wc;
    }
}

void check_no_wc(struct side *side) {
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_UEQ(side->kept_count, 0);
    CHECK_OK(vbn_cq_poll(side->cq, 1, &wc, &got));
    if (got) FAIL("a completion too many: wr_id %llu, %s", (unsigned long long)wc.wr_id, vbn_wc_status_name(wc.status));
}

void check_alive(struct pair *pair) {
    static uint32_t seed = 1000;
    fill(pair->a.memory, 256, ++seed);
    memset(pair->b.memory, 0, 256);
    vbn_send_wr wr = send_wr(&pair->a, &pair->b, VBN_WR_RDMA_WRITE, seed, 0, 256);
    run_send(&pair->a, &wr);
    /* With UC the completion says that it has been sent. */
    for (int i = 0; i < 60000 && memcmp(pair->b.memory, pair->a.memory, 256) != 0; i++) sleep_ms(1);
    CHECK_MEM(pair->b.memory, pair->a.memory, 256);
}

void ud_prepare(struct side *side, uint32_t qkey) {
    vbn_qp_prepare_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = qkey};
    CHECK_OK(vbn_qp_prepare(side->qp, &attr));
}

vbn_peer *ud_peer(struct side *from, struct side *to) {
    vbn_endpoint endpoint;
    vbn_peer *peer;
    CHECK_OK(vbn_endpoint_local(to->qp, &endpoint));
    CHECK_OK(vbn_peer_from_endpoint(from->pd, &endpoint, NULL, &peer));
    return peer;
}

vbn_send_wr ud_wr(const struct side *side, vbn_peer *peer, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_send_wr wr = send_wr(side, side, VBN_WR_SEND, wr_id, offset, length);
    wr.peer = peer;
    return wr;
}

const char *second_device(void) {
    static char name[VBN_NAME_SIZE];
    const char *given = getenv("VBN_TEST_DEVICE2");
    vbn_device_info devices[16];
    uint32_t count = 0;
    if (given) return given;
    CHECK_OK(vbn_device_list(devices, sizeof devices[0], 16, &count));
    if (count < 2) SKIP("needs two devices on a wire: vmrun -n veth2");
    snprintf(name, sizeof name, "%s", devices[1].name);
    return name;
}

vbn_peer *group_peer(struct side *side, const uint8_t group[16], uint32_t qkey) {
    vbn_gid_entry gids[16];
    uint32_t count = 0;
    vbn_ah_attr attr = {.struct_size = sizeof attr, .path = {.is_global = 1, .hop_limit = 1, .port_num = 1}};
    vbn_ah *ah;
    vbn_peer *all;
    CHECK_OK(vbn_context_gid_table(side->context, gids, sizeof gids[0], 16, &count));
    int found = 0;
    for (uint32_t i = 0; i < count && i < 16 && !found; i++)
        if (gids[i].type == VBN_GID_TYPE_ROCE_V2 && gids[i].gid[0] == 0xfe) {
            attr.path.sgid_index = (uint8_t)gids[i].index;
            found = 1;
        }
    CHECK(found);
    memcpy(attr.path.dgid, group, 16);
    CHECK_OK(vbn_ah_create(side->pd, &attr, &ah));
    vbn_peer_attr peer = {.struct_size = sizeof peer, .ah = ah, .qp_num = 0xffffff, .qkey = qkey};
    CHECK_OK(vbn_peer_create(side->pd, &peer, &all));
    CHECK_OK(vbn_ah_close(&ah));
    return all;
}

int join_group(struct side *side, const uint8_t group[16]) {
    vbn_gid_entry gid;
    uint32_t count = 0;
    struct ipv6_mreq join = {.ipv6mr_interface = 0};
    CHECK_OK(vbn_context_gid_table(side->context, &gid, sizeof gid, 1, &count));
    join.ipv6mr_interface = gid.ifindex;
    memcpy(&join.ipv6mr_multiaddr, group, 16);
    int ip = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(ip >= 0);
    CHECK_EQ(setsockopt(ip, IPPROTO_IPV6, IPV6_JOIN_GROUP, &join, sizeof join), 0);
    return ip;
}

vbn_send_wr bind_wr(const vbn_bind_mw_ext *ext, uint64_t wr_id) {
    /* No bind has an immediate: what stands there must not matter. */
    vbn_send_wr wr = {.wr_id = wr_id, .flags = VBN_SEND_SIGNALED, .opcode = VBN_WR_BIND_MW, .ext = ext, .imm = 0x1234};
    return wr;
}

vbn_send_wr invalidate_wr(uint32_t rkey, uint64_t wr_id) {
    vbn_send_wr wr = {.wr_id = wr_id, .flags = VBN_SEND_SIGNALED, .opcode = VBN_WR_LOCAL_INV, .invalidate_rkey = rkey};
    return wr;
}

uint32_t bind_window(struct side *side, vbn_mw *mw, uint64_t offset, uint64_t length, uint64_t access) {
    vbn_bind_mw_ext ext = {.mw = mw, .mr = side->mr, .addr = vbn_mr_remote_addr(side->mr) + offset, .length = length, .access = access};
    vbn_send_wr wr = bind_wr(&ext, 0xb2);
    uint32_t before = vbn_mw_rkey(mw);
    post_send(side, &wr);
    uint32_t rkey = vbn_mw_rkey(mw);
    CHECK_UEQ(rkey, (before & ~0xffu) | ((before + 1) & 0xff));
    vbn_wc wc = next_ok(side, wr.wr_id);
    CHECK_EQ(wc.opcode, VBN_WC_BIND_MW);
    return rkey;
}

void invalidate_window(struct side *side, uint32_t rkey) {
    vbn_send_wr wr = invalidate_wr(rkey, 0xb3);
    post_send(side, &wr);
    vbn_wc wc = next_ok(side, wr.wr_id);
    CHECK_EQ(wc.opcode, VBN_WC_LOCAL_INV);
}

vbn_qp_info qp_info(vbn_qp *qp) {
    vbn_qp_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_qp_query(qp, &info));
    return info;
}

int32_t qp_state(vbn_qp *qp) {
    return qp_info(qp).qp_state;
}

vbn_mr_info mr_info(vbn_mr *mr) {
    vbn_mr_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_mr_query(mr, &info));
    return info;
}

vbn_live_info live_info(const vbn_context *context) {
    vbn_live_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_context_live(context, &info));
    return info;
}

void qp_force(vbn_qp *qp, int32_t state) {
    vbn_qp_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_STATE, .qp_state = state};
    CHECK_OK(vbn_qp_modify(qp, &attr));
}

int is_soft_roce(const char *device) {
    return strncmp(device, "rxe", 3) == 0;
}

void need_rc(const char *device) {
    static char known[64];
    if (strcmp(device, known) == 0) return;
    vbn_context *context = NULL;
    vbn_device_attr attr = {.struct_size = sizeof attr};
    CHECK_OK(vbn_context_open(device, NULL, &context));
    CHECK_OK(vbn_context_query_device(context, &attr));
    CHECK_OK(vbn_context_close(&context));
    if (attr.vendor_id == 0x1d0f) SKIP("needs RC: %s is an EFA, which has UD and SRD only", device);
    snprintf(known, sizeof known, "%s", device);
}

int wrong(struct problem *problem, const char *what, int64_t number) {
    if (!problem->text[0]) snprintf(problem->text, sizeof problem->text, "%s: %lld, %.900s", what, (long long)number, test_error().message);
    return 1;
}

void sleep_ms(int ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&time, &time) != 0) {
    }
}
