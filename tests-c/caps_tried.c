/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What vbn_context_caps tells, tried on the device: what it has must carry data, up to the limit; what it lacks must be refused, on an EFA by libefa
 * too, which raw verbs ask below the library's own checks.
 */
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "srd.h"

enum { QKEY = 0x1234567, WHERE = 4096, LENGTH = 1000 };

static vbn_caps caps;
static struct pair p;
static struct srd_side s;

static int has(uint64_t cap) {
    return (caps.caps & cap) == cap;
}

static void ask(vbn_context *context) {
    memset(&caps, 0, sizeof caps);
    caps.struct_size = sizeof caps;
    CHECK_OK(vbn_context_caps(context, &caps));
}

/* The capability is told exactly if this worked. */
static void agree(uint64_t cap, int worked, const char *how) {
    char text[512] = "";
    if (worked == has(cap)) return;
    CHECK_OK(vbn_caps_reason(&caps, cap, text, sizeof text, NULL));
    FAIL("%s: %s; but %s %s: %s", vbn_cap_name(cap), text, how, worked ? "works" : "does not", test_last_error());
}

static const struct op {
    uint64_t cap, op;
    uint32_t opcode;
} OPS[] = {
    {VBN_CAP_SEND, VBN_QP_OP_SEND, VBN_WR_SEND},
    {VBN_CAP_SEND_IMM, VBN_QP_OP_SEND_WITH_IMM, VBN_WR_SEND_WITH_IMM},
    {VBN_CAP_WRITE, VBN_QP_OP_RDMA_WRITE, VBN_WR_RDMA_WRITE},
    {VBN_CAP_WRITE_IMM, VBN_QP_OP_RDMA_WRITE_WITH_IMM, VBN_WR_RDMA_WRITE_WITH_IMM},
    {VBN_CAP_READ, VBN_QP_OP_RDMA_READ, VBN_WR_RDMA_READ},
    {VBN_CAP_ATOMICS, VBN_QP_OP_ATOMIC_CMP_AND_SWP, VBN_WR_ATOMIC_CMP_AND_SWP},
    {VBN_CAP_ATOMICS, VBN_QP_OP_ATOMIC_FETCH_AND_ADD, VBN_WR_ATOMIC_FETCH_AND_ADD},
    {VBN_CAP_INVALIDATE, VBN_QP_OP_SEND_WITH_INV, VBN_WR_SEND_WITH_INV},
    {VBN_CAP_INVALIDATE, VBN_QP_OP_LOCAL_INV, VBN_WR_LOCAL_INV},
    {VBN_CAP_ATOMIC_WRITE, VBN_QP_OP_ATOMIC_WRITE, VBN_WR_ATOMIC_WRITE},
    {VBN_CAP_FLUSH, VBN_QP_OP_FLUSH, VBN_WR_FLUSH},
};
enum { OP_COUNT = sizeof OPS / sizeof OPS[0] };

static int takes_receive(uint32_t opcode) {
    return opcode == VBN_WR_SEND || opcode == VBN_WR_SEND_WITH_IMM || opcode == VBN_WR_RDMA_WRITE_WITH_IMM;
}

static int is_send(uint32_t opcode) {
    return opcode == VBN_WR_SEND || opcode == VBN_WR_SEND_WITH_IMM;
}

/* ---- Connected queue pairs ---- */

static const vbn_rc_attr may = {
    .struct_size = sizeof may,
    .set = VBN_RC_SET_ACCESS,
    .access = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC,
};

static uint64_t connected_access(void) {
    return ACCESS_ALL | (has(VBN_CAP_ATOMICS) ? VBN_ACCESS_REMOTE_ATOMIC : 0) | (has(VBN_CAP_MW) ? VBN_ACCESS_MW_BIND : 0);
}

/* `may` asks for atomics, which a queue pair without them refuses. */
static void open_connected(struct setup setup) {
    vbn_context *context = NULL;
    need_known(test_device());
    need_rc(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    ask(context);
    CHECK_OK(vbn_context_close(&context));
    setup.access = connected_access();
    if (setup.qp_type == VBN_QPT_RC && has(VBN_CAP_ATOMICS)) setup.rc = &may;
    pair_open_connected(&p, &setup);
}

static int made(int32_t type, uint64_t send_ops) {
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .qp_type = type, .send_ops = send_ops};
    vbn_qp *qp = NULL;
    int done = vbn_qp_create(p.a.pd, &attr, &qp) == VBN_OK;
    CHECK_OK(vbn_qp_close(&qp));
    return done;
}

/* One request from a to b, of which every byte must arrive, and nothing beside them. */
static void carry(uint32_t opcode, uint64_t length) {
    struct side *from = opcode == VBN_WR_RDMA_READ ? &p.b : &p.a, *to = opcode == VBN_WR_RDMA_READ ? &p.a : &p.b;
    uint64_t at = is_send(opcode) ? 2 * WHERE : WHERE;
    fill(from->memory + WHERE, length, opcode + 1);
    memset(to->memory + at - 1, 0x77, length + 2);
    if (takes_receive(opcode)) post_recv(&p.b, 2, at, is_send(opcode) ? (uint32_t)length : 0);
    vbn_send_wr wr = send_wr(&p.a, &p.b, opcode, 1, WHERE, (uint32_t)length);
    wr.imm = 0xabcd;
    run_send(&p.a, &wr);
    if (takes_receive(opcode)) {
        vbn_wc wc = next_ok(&p.b, 2);
        CHECK_UEQ(wc.byte_len, length);
        if (opcode != VBN_WR_SEND) CHECK_UEQ(wc.imm, 0xabcd);
    } else {
        /* On UC the completion says only that it has been sent. */
        for (int i = 0; i < 60000 && memcmp(to->memory + at, from->memory + WHERE, length) != 0; i++) sleep_ms(1);
    }
    CHECK_MEM(to->memory + at, from->memory + WHERE, length);
    CHECK(to->memory[at - 1] == 0x77 && to->memory[at + length] == 0x77);
}

static void run_atomic(uint32_t opcode) {
    uint64_t before = 100, after;
    memcpy(p.b.memory + WHERE, &before, sizeof before);
    vbn_send_wr wr = send_wr(&p.a, &p.b, opcode, 1, WHERE, 8);
    wr.compare_add = 100;
    wr.swap = 7;
    run_send(&p.a, &wr);
    memcpy(&after, p.b.memory + WHERE, sizeof after);
    CHECK_UEQ(after, opcode == VBN_WR_ATOMIC_CMP_AND_SWP ? 7 : 200);
    CHECK_MEM(p.a.memory + WHERE, &before, sizeof before);
}

static void rc_operations(void) {
    open_connected((struct setup){.qp_type = VBN_QPT_RC});
    for (unsigned i = 0; i < OP_COUNT; i++) {
        agree(OPS[i].cap, made(VBN_QPT_RC, OPS[i].op), vbn_wr_opcode_name((int32_t)OPS[i].opcode));
        if (!has(OPS[i].cap)) {
            vbn_send_wr wr = send_wr(&p.a, &p.b, OPS[i].opcode, 1, WHERE, 8);
            srd_refused(p.a.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "opcode");
        } else if (OPS[i].opcode <= VBN_WR_RDMA_READ) {
            carry(OPS[i].opcode, LENGTH);
        } else if (OPS[i].cap == VBN_CAP_ATOMICS) {
            run_atomic(OPS[i].opcode);
        }
    }
    if (has(VBN_CAP_MW)) {
        vbn_mw *mw = NULL;
        CHECK_OK(vbn_mw_alloc(p.a.pd, VBN_MW_TYPE_2, NULL, &mw));
        uint32_t rkey = bind_window(&p.a, mw, 0, 4096, VBN_ACCESS_REMOTE_WRITE);
        if (has(VBN_CAP_INVALIDATE)) invalidate_window(&p.a, rkey);
        CHECK_OK(vbn_mw_close(&mw));
    }
    pair_close(&p);
}

static void uc_operations(void) {
    const uint64_t uc = VBN_CAP_SEND | VBN_CAP_SEND_IMM | VBN_CAP_WRITE | VBN_CAP_WRITE_IMM;
    open_connected((struct setup){.qp_type = VBN_QPT_RC});
    int there = has(VBN_CAP_UC);
    agree(VBN_CAP_UC, made(VBN_QPT_UC, 0), "vbn_qp_create");
    pair_close(&p);
    if (!there) return;
    open_connected((struct setup){.qp_type = VBN_QPT_UC});
    for (unsigned i = 0; i < OP_COUNT; i++) {
        if (OPS[i].cap & uc && has(OPS[i].cap)) {
            carry(OPS[i].opcode, LENGTH);
        } else if (!(OPS[i].cap & uc)) {
            vbn_send_wr wr = send_wr(&p.a, &p.b, OPS[i].opcode, 1, WHERE, 8);
            if (OPS[i].cap == VBN_CAP_INVALIDATE) continue; /* which UC may have, and nothing tells */
            srd_refused(p.a.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "opcode");
        }
    }
    pair_close(&p);
}

/* Both are new: nothing is on their queues. */
static void rc_flags(void) {
    open_connected((struct setup){.qp_type = VBN_QPT_RC, .inline_data = caps.max_inline});
    static const struct {
        uint64_t cap, flags;
    } rows[] = {{VBN_CAP_UNSIGNALED, 0}, {VBN_CAP_FENCE, VBN_SEND_SIGNALED | VBN_SEND_FENCE}, {VBN_CAP_SOLICITED, VBN_SEND_SIGNALED | VBN_SEND_SOLICITED}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t posted = 0;
        fill(p.a.memory, 100, i);
        post_recv(&p.b, 10 + i, 100, 100);
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, i, 0, 100);
        wr.flags = rows[i].flags;
        int taken = vbn_qp_post_send(p.a.qp, &wr, 1, &posted) == VBN_OK;
        agree(rows[i].cap, taken, "a request");
        if (!taken) continue;
        next_ok(&p.b, 10 + i);
        CHECK_MEM(p.b.memory + 100, p.a.memory, 100);
        if (wr.flags & VBN_SEND_SIGNALED) next_ok(&p.a, i);
        check_no_wc(&p.a);
    }
    pair_close(&p);
}

/* Data that is overwritten once the request has been posted. */
static void rc_inline(void) {
    static const struct {
        uint64_t cap;
        uint32_t opcode;
    } rows[] = {{VBN_CAP_INLINE, VBN_WR_SEND}, {VBN_CAP_INLINE_WRITE, VBN_WR_RDMA_WRITE}};
    open_connected((struct setup){.qp_type = VBN_QPT_RC});
    uint32_t limit = caps.max_inline;
    agree(VBN_CAP_INLINE, limit > 0, "a limit above 0");
    pair_close(&p);
    open_connected((struct setup){.qp_type = VBN_QPT_RC, .inline_data = limit});
    uint8_t wanted[1024];
    CHECK(limit <= sizeof wanted);
    for (unsigned i = 0; i < 2; i++) {
        if (!has(rows[i].cap)) continue;
        fill(wanted, limit, i);
        memcpy(p.a.memory, wanted, limit);
        memset(p.b.memory, 0, limit);
        if (rows[i].opcode == VBN_WR_SEND) post_recv(&p.b, 2, 0, limit);
        vbn_send_wr wr = send_wr(&p.a, &p.b, rows[i].opcode, 1, 0, limit);
        wr.flags |= VBN_SEND_INLINE;
        wr.sge.lkey = 0;
        post_send(&p.a, &wr);
        memset(p.a.memory, 0, limit);
        next_ok(&p.a, 1);
        if (rows[i].opcode == VBN_WR_SEND) next_ok(&p.b, 2);
        CHECK_MEM(p.b.memory, wanted, limit);
    }
    pair_close(&p);
}

/* The longest messages, and the most segments. */
static void rc_limits(void) {
    enum { MOST = 16 << 20, SEGMENTS = 64 };
    open_connected((struct setup){.qp_type = VBN_QPT_RC});
    uint64_t longest = caps.max_send_size > caps.max_rdma_size ? caps.max_send_size : caps.max_rdma_size;
    uint32_t send_sge = caps.max_send_sge, recv_sge = caps.max_recv_sge, write_sge = caps.max_write_sge, read_sge = caps.max_read_sge;
    pair_close(&p);
    if (send_sge > SEGMENTS || recv_sge > SEGMENTS) SKIP("%u and %u segments are more than this test has room for", send_sge, recv_sge);
    int all = longest <= MOST;
    if (!all) test_note("no message of %llu bytes was tried", (unsigned long long)longest);
    open_connected((struct setup){.qp_type = VBN_QPT_RC, .size = (all ? longest : 0) + 3 * WHERE, .send_sge = send_sge, .recv_sge = recv_sge});
    static const struct {
        uint64_t cap;
        uint32_t opcode;
    } rows[] = {{VBN_CAP_SEND, VBN_WR_SEND}, {VBN_CAP_WRITE, VBN_WR_RDMA_WRITE}, {VBN_CAP_READ, VBN_WR_RDMA_READ}};
    for (unsigned i = 0; i < 3; i++) {
        if (!has(rows[i].cap)) continue;
        uint64_t limit = rows[i].opcode == VBN_WR_SEND ? caps.max_send_size : caps.max_rdma_size;
        if (all) carry(rows[i].opcode, limit);
        vbn_send_wr wr = send_wr(&p.a, &p.b, rows[i].opcode, 1, 0, (uint32_t)limit + 1);
        srd_refused(p.a.qp, &wr, 1, VBN_ERR_LIMIT, 0, "");
        CHECK_UEQ(test_error().limit, limit);

        vbn_sge list[SEGMENTS], into[SEGMENTS];
        uint32_t most = rows[i].opcode == VBN_WR_SEND ? send_sge : rows[i].opcode == VBN_WR_RDMA_READ ? read_sge : write_sge;
        CHECK(most <= SEGMENTS);
        struct side *from = rows[i].opcode == VBN_WR_RDMA_READ ? &p.b : &p.a, *to = rows[i].opcode == VBN_WR_RDMA_READ ? &p.a : &p.b;
        fill(from->memory, 10 * most, i);
        memset(to->memory, 0, 10 * most);
        for (uint32_t k = 0; k < most; k++) list[k] = sge_at(&p.a, 10 * k, 10);
        for (uint32_t k = 0; k < recv_sge; k++) into[k] = sge_at(&p.b, 10 * k, 10);
        into[recv_sge - 1].length = 10 * SEGMENTS;
        vbn_recv_wr recv = {.wr_id = 2, .sg_list = into, .num_sge = recv_sge};
        uint32_t posted = 0;
        if (rows[i].opcode == VBN_WR_SEND) CHECK_OK(vbn_qp_post_recv(p.b.qp, &recv, 1, &posted));
        wr = send_wr(&p.a, &p.b, rows[i].opcode, 1, 0, 0);
        wr.sg_list = list;
        wr.num_sge = most;
        run_send(&p.a, &wr);
        if (rows[i].opcode == VBN_WR_SEND) CHECK_UEQ(next_ok(&p.b, 2).byte_len, 10 * most);
        CHECK_MEM(to->memory, from->memory, 10 * most);
    }
    pair_close(&p);
}

/* ---- Datagrams, of any device ---- */

static vbn_peer *ud_open(uint64_t size) {
    vbn_context *context = NULL;
    need_known(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    ask(context);
    CHECK_OK(vbn_context_close(&context));
    memset(&s, 0, sizeof s);
    s.size = size;
    s.memory = aligned_alloc(4096, size);
    CHECK(s.memory != NULL);
    CHECK_OK(vbn_context_open(test_device(), NULL, &s.context));
    CHECK_OK(vbn_pd_alloc(s.context, NULL, &s.pd));
    CHECK_OK(vbn_mr_reg(s.pd, s.memory, s.size, VBN_ACCESS_LOCAL_WRITE, NULL, &s.mr));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 16};
    CHECK_OK(vbn_cq_create(s.context, &cq, &s.cq));
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = s.cq, .qp_type = VBN_QPT_UD};
    agree(VBN_CAP_UD, vbn_qp_create(s.pd, &attr, &s.qp) == VBN_OK, "vbn_qp_create");
    if (!s.qp) return NULL;
    CHECK_OK(srd_prepare(s.qp, QKEY));
    return srd_peer_of(&s, s.qp);
}

static void ud_operations(void) {
    vbn_wc wcs[2];
    vbn_peer *self = ud_open(65536);
    if (!self) {
        srd_close(&s);
        return;
    }
    CHECK(caps.max_datagram_size >= 256 && caps.max_datagram_size <= 16384);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t length = (uint32_t)caps.max_datagram_size;
        fill(s.memory, length, i);
        srd_recv(&s, 2, 32768, GRH + length);
        vbn_send_wr wr = srd_wr(&s, self, i ? VBN_WR_SEND_WITH_IMM : VBN_WR_SEND, 1, 0, length);
        wr.imm = 99;
        uint32_t posted = 0;
        int taken = vbn_qp_post_send(s.qp, &wr, 1, &posted) == VBN_OK;
        agree(i ? VBN_CAP_SEND_IMM : VBN_CAP_SEND, taken, "a datagram");
        srd_wait(&s, 2, wcs);
        for (int k = 0; k < 2; k++) CHECK_OK(vbn_wc_check(wcs + k));
        CHECK_UEQ(wcs[1].byte_len, GRH + length);
        if (i) CHECK_UEQ(wcs[1].imm, 99);
        CHECK_MEM(s.memory + 32768 + GRH, s.memory, length);
        wr = srd_wr(&s, self, VBN_WR_SEND, 1, 0, length + 1);
        srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "");
    }
    for (unsigned i = 0; i < OP_COUNT; i++) {
        if (is_send(OPS[i].opcode) || OPS[i].cap == VBN_CAP_INVALIDATE) continue;
        vbn_send_wr wr = srd_wr(&s, self, OPS[i].opcode, 1, 0, 8);
        srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "opcode");
    }
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

/* ---- Objects, of any device ---- */

static void objects(void) {
    vbn_context *context = NULL;
    vbn_pd *pd = NULL;
    vbn_mw *mw = NULL;
    vbn_srq *srq = NULL;
    vbn_dm *dm = NULL;
    vbn_mr *mr = NULL;
    static uint8_t memory[4096];
    need_known(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    ask(context);
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    agree(VBN_CAP_SRQ, vbn_srq_create(pd, NULL, &srq) == VBN_OK, "vbn_srq_create");
    CHECK_OK(vbn_srq_close(&srq));
    vbn_dm_attr dm_attr = {.struct_size = sizeof dm_attr, .length = 64};
    agree(VBN_CAP_DEVICE_MEMORY, vbn_dm_alloc(context, &dm_attr, &dm) == VBN_OK, "vbn_dm_alloc");
    CHECK_OK(vbn_dm_close(&dm));
    agree(VBN_CAP_ODP, vbn_mr_reg(pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_ON_DEMAND, NULL, &mr) == VBN_OK, "vbn_mr_reg on demand");
    CHECK_OK(vbn_mr_close(&mr));
    /* Taken everywhere, which is why nothing follows from it. */
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_RELAXED_ORDERING, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_EQ(caps.absence[41], VBN_ABSENCE_UNKNOWN);
    static const struct {
        uint64_t cap, field;
    } fields[] = {
        {VBN_CAP_WC_SGID, VBN_WC_EX_SGID},
        {VBN_CAP_WC_TIMESTAMP, VBN_WC_EX_TIMESTAMP},
        {VBN_CAP_UNSOLICITED_WRITE_RECV, VBN_WC_EX_UNSOLICITED},
    };
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        vbn_cq *cq = NULL;
        vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 4, .fields = VBN_WC_EX_BYTE_LEN | fields[i].field};
        agree(fields[i].cap, vbn_cq_create(context, &attr, &cq) == VBN_OK, "vbn_cq_create with the field");
        CHECK_OK(vbn_cq_close(&cq));
    }
    int one = vbn_mw_alloc(pd, VBN_MW_TYPE_1, NULL, &mw) == VBN_OK;
    CHECK_OK(vbn_mw_close(&mw));
    int two = vbn_mw_alloc(pd, VBN_MW_TYPE_2, NULL, &mw) == VBN_OK;
    CHECK_OK(vbn_mw_close(&mw));
    agree(VBN_CAP_MW, one || two, "vbn_mw_alloc");
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
}

/* ---- SRD ---- */

static vbn_peer *srd_begin(const struct srd_setup *setup) {
    srd_open(&s, setup);
    ask(s.context);
    return srd_self(&s);
}

static void srd_end(vbn_peer *self) {
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

/* Whether libefa itself makes a queue pair: of SRD with these operations, or one of the common types. */
static int raw_made_with(int type, uint64_t send_ops, uint32_t depth, uint32_t inline_data) {
    struct ibv_pd *pd = NULL;
    struct ibv_cq *cq = NULL;
    CHECK_OK(vbn_pd_native(s.pd, &pd));
    CHECK_OK(vbn_cq_native(s.cq, &cq));
    struct ibv_qp_init_attr_ex init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = (enum ibv_qp_type)type,
        .cap = {.max_send_wr = depth, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = inline_data},
        .pd = pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | (send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
        .send_ops_flags = send_ops,
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    struct ibv_qp *qp = type == IBV_QPT_DRIVER ? efadv_create_qp_ex(pd->context, &init, &srd, sizeof srd) : ibv_create_qp_ex(pd->context, &init);
    if (!qp) return 0;
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    return 1;
}

static int raw_made(int type, uint64_t send_ops) {
    return raw_made_with(type, send_ops, 4, 0);
}

/* One request to itself; every byte must arrive. */
static void srd_carry(vbn_peer *self, uint32_t opcode, uint32_t length) {
    vbn_wc wcs[2];
    uint32_t count = takes_receive(opcode) ? 2 : 1;
    uint8_t *local = s.memory, *remote = s.memory + 32768, *from = opcode == VBN_WR_RDMA_READ ? remote : local, *to = opcode == VBN_WR_RDMA_READ ? local : remote;
    fill(from, length, opcode + 1);
    memset(to, 0, length + 1);
    if (count == 2) srd_recv(&s, 2, 32768, is_send(opcode) ? length : 1);
    vbn_send_wr wr = srd_wr_at(&s, self, &s, opcode, 1, 0, 32768, length);
    wr.imm = 0xabcd;
    srd_post(&s, &wr);
    srd_wait(&s, count, wcs);
    for (uint32_t i = 0; i < count; i++) CHECK_OK(vbn_wc_check(wcs + i));
    if (count == 2) CHECK_UEQ(wcs[1].byte_len, length);
    if (count == 2 && opcode != VBN_WR_SEND) CHECK_UEQ(wcs[1].imm, 0xabcd);
    CHECK_MEM(to, from, length);
    CHECK_EQ(to[length], 0);
}

static void srd_operations(void) {
    vbn_peer *self = srd_begin(NULL);
    agree(VBN_CAP_RC, raw_made(IBV_QPT_RC, 0), "ibv_create_qp_ex");
    agree(VBN_CAP_UC, raw_made(IBV_QPT_UC, 0), "ibv_create_qp_ex");
    agree(VBN_CAP_UD, raw_made(IBV_QPT_UD, 0), "ibv_create_qp_ex");
    agree(VBN_CAP_SRD, raw_made(IBV_QPT_DRIVER, IBV_QP_EX_WITH_SEND), "efadv_create_qp_ex");
    for (unsigned i = 0; i < OP_COUNT; i++) {
        /* The numbers are libibverbs' own, of rdma-core 45 and later too. */
        agree(OPS[i].cap, raw_made(IBV_QPT_DRIVER, OPS[i].op), vbn_wr_opcode_name((int32_t)OPS[i].opcode));
        if (has(OPS[i].cap)) {
            srd_carry(self, OPS[i].opcode, LENGTH);
        } else {
            vbn_send_wr wr = srd_wr(&s, self, OPS[i].opcode, 1, 0, 8);
            srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "opcode");
        }
    }
    srd_end(self);
}

/* A SEND with these flags, by ibv_post_send. */
static int raw_taken(struct ibv_ah *ah, unsigned flags) {
    struct ibv_qp *qp = NULL;
    CHECK_OK(vbn_qp_native(s.qp, &qp));
    struct ibv_sge sge = {.addr = (uintptr_t)s.memory, .length = 16, .lkey = vbn_mr_lkey(s.mr)};
    struct ibv_send_wr wr = {
        .wr_id = 1,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = flags,
        .wr.ud = {.ah = ah, .remote_qpn = vbn_qp_num(s.qp), .remote_qkey = s.qkey},
    }, *bad = NULL;
    srd_recv(&s, 2, 4096, 16);
    int taken = ibv_post_send(qp, &wr, &bad) == 0;
    vbn_wc wcs[2];
    if (taken) srd_wait(&s, 2, wcs);
    return taken;
}

static void srd_flags(void) {
    vbn_peer *self = srd_begin(NULL);
    static const struct {
        uint64_t cap, flags;
        unsigned raw;
    } rows[] = {
        {VBN_CAP_UNSIGNALED, 0, 0},
        {VBN_CAP_FENCE, VBN_SEND_SIGNALED | VBN_SEND_FENCE, IBV_SEND_SIGNALED | IBV_SEND_FENCE},
        {VBN_CAP_SOLICITED, VBN_SEND_SIGNALED | VBN_SEND_SOLICITED, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED},
    };
    vbn_ah *ah = NULL;
    struct ibv_ah *raw_ah = NULL;
    vbn_ah_attr attr = {.struct_size = sizeof attr, .path = {.is_global = 1, .port_num = 1}};
    memcpy(attr.path.dgid, s.endpoint.gid, 16);
    CHECK_OK(vbn_ah_create(s.pd, &attr, &ah));
    CHECK_OK(vbn_ah_native(ah, &raw_ah));
    CHECK(raw_taken(raw_ah, IBV_SEND_SIGNALED)); /* what is refused below is the flag */
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t posted = 0;
        vbn_send_wr wr = srd_wr(&s, self, VBN_WR_SEND, 1, 0, 16);
        wr.flags = rows[i].flags;
        agree(rows[i].cap, vbn_qp_post_send(s.qp, &wr, 1, &posted) == VBN_OK, "a request");
        agree(rows[i].cap, raw_taken(raw_ah, rows[i].raw), "ibv_post_send");
    }
    CHECK_OK(vbn_ah_close(&ah));
    srd_end(self);
}

/* A request that fails leaves the others alone. */
static void srd_errors_isolated(void) {
    vbn_wc wcs[2];
    vbn_peer *self = srd_begin(NULL);
    srd_recv(&s, 9, 4096, 100);
    vbn_send_wr wrs[2] = {srd_wr(&s, self, VBN_WR_SEND, 1, 0, 100), srd_wr(&s, self, VBN_WR_SEND, 2, 0, 100)};
    wrs[0].sge.lkey ^= 0x3ff;
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(s.qp, wrs, 2, &posted));
    vbn_wc all[3];
    srd_wait(&s, 3, all);
    memcpy(wcs, all, sizeof wcs);
    CHECK_UEQ(wcs[0].wr_id, 1);
    CHECK(wcs[0].status != VBN_WC_SUCCESS);
    agree(VBN_CAP_ERRORS_ISOLATED, wcs[1].status == VBN_WC_SUCCESS && qp_state(s.qp) == VBN_QPS_RTS, "the request behind one that failed");
    srd_end(self);
}

static void srd_limits(void) {
    vbn_peer *self = srd_begin(&(struct srd_setup){.send_sge = 2, .recv_sge = 2, .inline_data = 32});
    srd_carry(self, VBN_WR_SEND, (uint32_t)caps.max_send_size);
    vbn_send_wr wr = srd_wr(&s, self, VBN_WR_SEND, 1, 0, (uint32_t)caps.max_send_size + 1);
    srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "");
    static const struct {
        uint64_t cap;
        uint32_t opcode;
    } rows[] = {{VBN_CAP_WRITE, VBN_WR_RDMA_WRITE}, {VBN_CAP_READ, VBN_WR_RDMA_READ}};
    vbn_sge list[2];
    for (uint32_t i = 0; i < 2; i++) list[i] = (vbn_sge){.addr = vbn_mr_remote_addr(s.mr) + 100 * i, .length = 100, .lkey = vbn_mr_lkey(s.mr)};
    for (unsigned i = 0; i < 2; i++) {
        if (!has(rows[i].cap)) continue;
        srd_carry(self, rows[i].opcode, 30000);
        wr = srd_wr(&s, self, rows[i].opcode, 1, 0, 0);
        wr.sge.length = (uint32_t)caps.max_rdma_size + 1;
        srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "");
        CHECK_UEQ(test_error().limit, caps.max_rdma_size);
        CHECK_UEQ(rows[i].opcode == VBN_WR_RDMA_READ ? caps.max_read_sge : caps.max_write_sge, 1);
        wr.sg_list = list;
        wr.num_sge = 2;
        srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "");
    }
    /* As many segments as a SEND may have. */
    vbn_wc wcs[2];
    CHECK_UEQ(caps.max_send_sge, 2);
    fill(s.memory, 200, 7);
    srd_recv(&s, 2, 32768, 200);
    wr = srd_wr(&s, self, VBN_WR_SEND, 1, 0, 0);
    wr.sg_list = list;
    wr.num_sge = 2;
    srd_post(&s, &wr);
    srd_wait(&s, 2, wcs);
    CHECK_OK(vbn_wc_check(wcs));
    CHECK_UEQ(wcs[1].byte_len, 200);
    CHECK_MEM(s.memory + 32768, s.memory, 200);
    srd_end(self);
}

/* Inline data up to both limits, which are those of narrow and of wide entries, and WRITE's where there is any. */
static void srd_inline(void) {
    uint32_t limits[2];
    vbn_peer *self = srd_begin(NULL);
    limits[0] = caps.max_inline;
    limits[1] = caps.max_inline_ex;
    agree(VBN_CAP_INLINE, limits[0] > 0, "a limit above 0");
    int writes = has(VBN_CAP_INLINE_WRITE);
    /* No byte more, the first with a queue of full depth, which has narrow entries. libefa up to 62 doesn't look, and would write beyond the entry. */
    for (uint32_t i = 0; i < 2 && caps.release_min >= 63; i++) {
        CHECK(raw_made_with(IBV_QPT_DRIVER, IBV_QP_EX_WITH_SEND, caps.max_sq_depth, limits[0] + i) == !i);
        CHECK(raw_made_with(IBV_QPT_DRIVER, IBV_QP_EX_WITH_SEND, caps.max_sq_depth_ex, limits[1] + i) == !i);
    }
    srd_end(self);
    for (int i = 0; i < 2 + writes; i++) {
        uint32_t limit = limits[i > 0];
        uint8_t wanted[256];
        vbn_wc wcs[2];
        int write = i == 2;
        CHECK(limit <= sizeof wanted);
        self = srd_begin(&(struct srd_setup){.inline_data = limit, .flags = write ? VBN_QP_INLINE_WRITE : 0});
        fill(wanted, limit, (uint32_t)i);
        memcpy(s.memory, wanted, limit);
        if (!write) srd_recv(&s, 2, 32768, limit);
        vbn_send_wr wr = srd_wr_at(&s, self, &s, write ? VBN_WR_RDMA_WRITE : VBN_WR_SEND, 1, 0, 32768, limit);
        wr.flags |= VBN_SEND_INLINE;
        wr.sge.lkey = 0;
        srd_post(&s, &wr);
        memset(s.memory, 0, limit);
        srd_wait(&s, write ? 1 : 2, wcs);
        CHECK_OK(vbn_wc_check(wcs));
        CHECK_MEM(s.memory + 32768, wanted, limit);
        wr.sge.length = limit + 1;
        srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "inline");
        srd_end(self);
    }
}

static const struct test tests[] = {
    {"rc_operations", rc_operations},
    {"rc_flags", rc_flags},
    {"rc_inline", rc_inline},
    {"rc_limits", rc_limits},
    {"uc_operations", uc_operations},
    {"ud_operations", ud_operations},
    {"objects", objects},
    {"srd_operations", srd_operations},
    {"srd_flags", srd_flags},
    {"srd_errors_isolated", srd_errors_isolated},
    {"srd_limits", srd_limits},
    {"srd_inline", srd_inline},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("caps_tried", tests, argc, argv);
}
