/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Compare-and-swap and fetch-and-add: what they bring back, what they leave behind, and who may. */
#include <string.h>

#include "common.h"

#define ACCESS_ATOMIC (ACCESS_ALL | VBN_ACCESS_REMOTE_ATOMIC)
#define ATOMIC_OPS (VBN_QP_OP_ATOMIC_CMP_AND_SWP | VBN_QP_OP_ATOMIC_FETCH_AND_ADD)

static struct pair p;

static const vbn_rc_attr may = {
    .struct_size = sizeof may,
    .set = VBN_RC_SET_ACCESS,
    .access = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC,
};

static int has_atomics(void) {
    vbn_context *context = NULL;
    vbn_caps caps = {.struct_size = sizeof caps};
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_context_caps(context, &caps));
    CHECK_OK(vbn_context_close(&context));
    return (caps.caps & VBN_CAP_ATOMICS) != 0;
}

static void open_atomic(void) {
    struct setup setup = {.rc = &may, .access = ACCESS_ATOMIC};
    need_rc(test_device());
    if (!has_atomics()) LACKS("%s has no atomics", test_device());
    pair_open_connected(&p, &setup);
}

/* The 64-bit numbers of a side's memory. */
static uint64_t number(const struct side *side, uint64_t offset) {
    uint64_t value;
    memcpy(&value, side->memory + offset, sizeof value);
    return value;
}

static void put(struct side *side, uint64_t offset, uint64_t value) {
    memcpy(side->memory + offset, &value, sizeof value);
}

/* From a's `offset` to the same of b. */
static vbn_send_wr atomic(uint32_t opcode, uint64_t wr_id, uint64_t offset, uint64_t compare_add, uint64_t swap) {
    vbn_send_wr wr = send_wr(&p.a, &p.b, opcode, wr_id, offset, 8);
    wr.compare_add = compare_add;
    wr.swap = swap;
    return wr;
}

static void run(uint32_t opcode, uint64_t before, uint64_t compare_add, uint64_t swap, uint64_t after) {
    memset(p.a.memory, 0xa5, 64);
    memset(p.b.memory, 0x5a, 64);
    put(&p.b, 24, before);
    vbn_send_wr wr = atomic(opcode, 5, 24, compare_add, swap);
    post_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.a, 5);
    CHECK_EQ(wc.opcode, opcode == VBN_WR_ATOMIC_CMP_AND_SWP ? VBN_WC_COMP_SWAP : VBN_WC_FETCH_ADD);
    CHECK_UEQ(number(&p.a, 24), before);
    CHECK_UEQ(number(&p.b, 24), after);
    for (int i = 0; i < 64; i++)
        if (i < 24 || i >= 32) CHECK(p.a.memory[i] == 0xa5 && p.b.memory[i] == 0x5a);
    check_no_wc(&p.b);
}

static void fetch_and_add(void) {
    open_atomic();
    run(VBN_WR_ATOMIC_FETCH_AND_ADD, 100, 25, 0, 125);
    run(VBN_WR_ATOMIC_FETCH_AND_ADD, 0x0102030405060708, 0x1010101010101010, 0, 0x1112131415161718);
    run(VBN_WR_ATOMIC_FETCH_AND_ADD, UINT64_MAX, 2, 77, 1);
    run(VBN_WR_ATOMIC_FETCH_AND_ADD, 5, (uint64_t)-3, 0, 2);
    run(VBN_WR_ATOMIC_FETCH_AND_ADD, 0xffffffff, 1, 0, 0x100000000);
    run(VBN_WR_ATOMIC_FETCH_AND_ADD, 9, 0, 0, 9);
    pair_close(&p);
}

static void compare_and_swap(void) {
    open_atomic();
    run(VBN_WR_ATOMIC_CMP_AND_SWP, 100, 100, 7, 7);
    run(VBN_WR_ATOMIC_CMP_AND_SWP, 100, 101, 7, 100);
    run(VBN_WR_ATOMIC_CMP_AND_SWP, 0x0102030405060708, 0x0102030405060708, 0x1122334455667788, 0x1122334455667788);
    /* Equal in one half only, and with the bytes turned around. */
    run(VBN_WR_ATOMIC_CMP_AND_SWP, 0x100000005, 5, 9, 0x100000005);
    run(VBN_WR_ATOMIC_CMP_AND_SWP, 0x0102030405060708, 0x0807060504030201, 9, 0x0102030405060708);
    run(VBN_WR_ATOMIC_CMP_AND_SWP, UINT64_MAX, UINT64_MAX, 0, 0);
    pair_close(&p);
}

/* What comes back may be spread over segments. */
static void two_segments(void) {
    struct setup setup = {.rc = &may, .access = ACCESS_ATOMIC, .send_sge = 2};
    need_rc(test_device());
    if (!has_atomics()) LACKS("%s has no atomics", test_device());
    pair_open_connected(&p, &setup);
    uint64_t value = 0x0102030405060708, back;
    put(&p.b, 0, value);
    vbn_sge list[2] = {sge_at(&p.a, 100, 3), sge_at(&p.a, 200, 5)};
    vbn_send_wr wr = atomic(VBN_WR_ATOMIC_FETCH_AND_ADD, 6, 0, 1, 0);
    wr.sg_list = list;
    wr.num_sge = 2;
    run_send(&p.a, &wr);
    memcpy(&back, p.a.memory + 100, 3);
    memcpy((uint8_t *)&back + 3, p.a.memory + 200, 5);
    CHECK_UEQ(back, value);
    CHECK_UEQ(number(&p.b, 0), value + 1);
    pair_close(&p);
}

enum { ROUNDS = 256, BATCH = 16 };

/* Adds 1 ROUNDS times from each of two queue pairs of b's, posted in turn: no value is seen twice, and the sum is right. */
static void two_queue_pairs(void) {
    open_atomic();
    struct setup setup = {.rc = &may, .access = ACCESS_ATOMIC};
    struct side c;
    side_open(&c, &setup);
    vbn_qp_init_attr init = {.struct_size = sizeof init, .send_cq = p.b.cq};
    vbn_qp *second = NULL;
    vbn_rc_record record;
    CHECK_OK(vbn_qp_create(p.b.pd, &init, &second));
    CHECK_OK(vbn_rc_record_local(second, &may, &record));
    CHECK_OK(vbn_qp_connect_rc(second, &record, &c.record, &may));
    CHECK_OK(vbn_qp_connect_rc(c.qp, &c.record, &record, &may));

    put(&p.b, 0, 1000);
    struct side *sides[2] = {&p.a, &c};
    for (unsigned round = 0; round < ROUNDS; round += BATCH) {
        for (unsigned s = 0; s < 2; s++) {
            vbn_send_wr wrs[BATCH];
            for (unsigned i = 0; i < BATCH; i++) {
                wrs[i] = send_wr(sides[s], &p.b, VBN_WR_ATOMIC_FETCH_AND_ADD, round + i, 8 * (round + i), 8);
                wrs[i].remote_addr = vbn_mr_remote_addr(p.b.mr);
                wrs[i].compare_add = 1;
            }
            uint32_t posted = 0;
            CHECK_OK(vbn_qp_post_send(sides[s]->qp, wrs, BATCH, &posted));
            CHECK_UEQ(posted, BATCH);
        }
        for (unsigned s = 0; s < 2; s++)
            for (unsigned i = 0; i < BATCH; i++) next_ok(sides[s], round + i);
    }
    CHECK_UEQ(number(&p.b, 0), 1000 + 2 * ROUNDS);
    static uint8_t seen[2 * ROUNDS];
    memset(seen, 0, sizeof seen);
    for (unsigned s = 0; s < 2; s++) {
        uint64_t last = 0;
        for (unsigned i = 0; i < ROUNDS; i++) {
            uint64_t value = number(sides[s], 8 * i);
            CHECK(value >= 1000 && value < 1000 + 2 * ROUNDS && value > last);
            CHECK(!seen[value - 1000]);
            seen[value - 1000] = 1;
            last = value;
        }
    }
    CHECK_OK(vbn_qp_close(&second));
    side_close(&c);
    pair_close(&p);
}

/* With a depth of one the requests take their turn. */
static void depth_of_one(void) {
    vbn_rc_attr one = may;
    one.set |= VBN_RC_SET_MAX_RD_ATOMIC | VBN_RC_SET_MAX_DEST_RD_ATOMIC;
    one.max_rd_atomic = one.max_dest_rd_atomic = 1;
    struct setup setup = {.rc = &one, .access = ACCESS_ATOMIC};
    need_rc(test_device());
    if (!has_atomics()) LACKS("%s has no atomics", test_device());
    pair_open_connected(&p, &setup);
    vbn_send_wr wrs[20];
    for (uint64_t i = 0; i < 20; i++) {
        wrs[i] = atomic(i % 2 ? VBN_WR_ATOMIC_CMP_AND_SWP : VBN_WR_ATOMIC_FETCH_AND_ADD, i, 8 * i, i % 2 ? i : 1, i + 1);
        wrs[i].remote_addr = vbn_mr_remote_addr(p.b.mr);
    }
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 20, &posted));
    for (uint64_t i = 0; i < 20; i++) {
        next_ok(&p.a, i);
        CHECK_UEQ(number(&p.a, 8 * i), i);
    }
    CHECK_UEQ(number(&p.b, 0), 20);
    pair_close(&p);
}

/* Refused before the driver sees it; the others of the call are not posted either. */
static void refused(vbn_send_wr wrong, const char *words, uint64_t value) {
    vbn_send_wr wrs[3] = {atomic(VBN_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 1, 0), send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 2, 0, 8), wrong};
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 3, &posted), VBN_ERR_ARGUMENT);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 2);
    CHECK_UEQ(test_error().value, value);
    CHECK_HAS(test_error().message, words);
}

static void malformed(void) {
    open_atomic();
    vbn_send_wr wr = atomic(VBN_WR_ATOMIC_FETCH_AND_ADD, 3, 0, 1, 0);
    for (unsigned i = 1; i < 8; i++) {
        wr.remote_addr = vbn_mr_remote_addr(p.b.mr) + i;
        refused(wr, "multiple of 8", wr.remote_addr);
    }
    wr = atomic(VBN_WR_ATOMIC_CMP_AND_SWP, 3, 0, 1, 0);
    wr.sge.length = 4;
    refused(wr, "8, the size", 4);
    wr.sge.length = 16;
    refused(wr, "8, the size", 16);
    wr.num_sge = 0;
    refused(wr, "8, the size", 0);
    wr = atomic(VBN_WR_ATOMIC_CMP_AND_SWP, 3, 0, 1, 0);
    wr.flags |= VBN_SEND_INLINE;
    refused(wr, "VBN_SEND_INLINE", VBN_WR_ATOMIC_CMP_AND_SWP);
    sleep_ms(20);
    check_no_wc(&p.a);
    check_alive(&p);
    pair_close(&p);
}

/* What the region or the queue pair does not allow. */
static void not_allowed(uint64_t mr_access, uint32_t qp_access) {
    vbn_rc_attr rc = may;
    rc.access = qp_access;
    struct setup setup = {.rc = &rc, .access = mr_access};
    need_rc(test_device());
    if (!has_atomics()) LACKS("%s has no atomics", test_device());
    pair_open_connected(&p, &setup);
    put(&p.b, 0, 41);
    vbn_send_wr wr = atomic(VBN_WR_ATOMIC_FETCH_AND_ADD, 4, 0, 1, 0);
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    test_note("region 0x%x, queue pair 0x%x: %s", (unsigned)mr_access, qp_access, vbn_wc_status_name(wc.status));
    CHECK(wc.status == VBN_WC_REM_ACCESS_ERR || wc.status == VBN_WC_REM_INV_REQ_ERR);
    CHECK_UEQ(number(&p.b, 0), 41);
    pair_close(&p);
}

static void access_of_region(void) {
    not_allowed(ACCESS_ALL, may.access);
}

static void access_of_queue_pair(void) {
    not_allowed(ACCESS_ATOMIC, VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ);
}

/* What the capabilities say is what queue pairs have. */
static void what_is_told(void) {
    vbn_caps caps = {.struct_size = sizeof caps};
    pair_open(&p, NULL);
    CHECK_OK(vbn_context_caps(p.a.context, &caps));
    uint64_t ops = qp_info(p.a.qp).send_ops;
    CHECK_EQ((ops & ATOMIC_OPS) == ATOMIC_OPS, (caps.caps & VBN_CAP_ATOMICS) != 0);
    CHECK_EQ((ops & VBN_QP_OP_LOCAL_INV) != 0, (caps.caps & VBN_CAP_INVALIDATE) != 0);
    CHECK_EQ((ops & VBN_QP_OP_SEND_WITH_INV) != 0, (caps.caps & VBN_CAP_INVALIDATE) != 0);
    CHECK(!(ops & VBN_QP_OP_BIND_MW) || (caps.caps & VBN_CAP_MW));
    /* These two must be asked for, and are granted where the device has them. */
    CHECK_UEQ(ops & (VBN_QP_OP_FLUSH | VBN_QP_OP_ATOMIC_WRITE), 0);
    static const struct {
        uint64_t cap, op;
    } asked[] = {{VBN_CAP_FLUSH, VBN_QP_OP_FLUSH}, {VBN_CAP_ATOMIC_WRITE, VBN_QP_OP_ATOMIC_WRITE}};
    for (unsigned i = 0; i < 2; i++) {
        vbn_qp_init_attr init = {.struct_size = sizeof init, .send_cq = p.a.cq, .send_ops = asked[i].op | VBN_QP_OP_SEND};
        vbn_qp *qp = NULL;
        vbn_status status = vbn_qp_create(p.a.pd, &init, &qp);
        test_note("%s: %s", vbn_cap_name(asked[i].cap), status ? test_error().message : "granted");
        if (!(caps.caps & asked[i].cap)) {
            CHECK_EQ(status, VBN_ERR_NOT_SUPPORTED);
            CHECK_UEQ(test_error().value, asked[i].op);
            CHECK_HAS(test_error().message, "rdma-core");
        }
        if (!status) CHECK_UEQ(qp_info(qp).send_ops, init.send_ops);
        CHECK_OK(vbn_qp_close(&qp));
    }
    pair_close(&p);
}

/* A queue pair that was made without atomics refuses them by itself. */
static void not_asked_for(void) {
    struct setup setup = {.rc = &may, .access = ACCESS_ATOMIC, .send_ops = VBN_QP_OP_RDMA_WRITE | VBN_QP_OP_ATOMIC_FETCH_AND_ADD};
    need_rc(test_device());
    if (!has_atomics()) LACKS("%s has no atomics", test_device());
    pair_open_connected(&p, &setup);
    vbn_send_wr wr = atomic(VBN_WR_ATOMIC_CMP_AND_SWP, 1, 0, 0, 1);
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, &wr, 1, &posted), VBN_ERR_NOT_SUPPORTED);
    CHECK_UEQ(posted, 0);
    wr.opcode = VBN_WR_ATOMIC_FETCH_AND_ADD;
    wr.compare_add = 3;
    run_send(&p.a, &wr);
    CHECK_UEQ(number(&p.b, 0), 3);
    pair_close(&p);
}

/* A pair for what must be asked for. */
static void open_asked(uint64_t op, uint64_t cap, uint64_t access) {
    vbn_rc_attr rc = may;
    rc.access |= (uint32_t)access;
    struct setup setup = {.rc = &rc, .access = ACCESS_ATOMIC | access, .send_ops = op | VBN_QP_OP_RDMA_WRITE | VBN_QP_OP_RDMA_READ};
    vbn_context *context = NULL;
    vbn_caps caps = {.struct_size = sizeof caps};
    char why[512] = "";
    need_rc(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_context_caps(context, &caps));
    CHECK_OK(vbn_caps_reason(&caps, cap, why, sizeof why, NULL));
    CHECK_OK(vbn_context_close(&context));
    if (!(caps.caps & cap)) SKIP("%s", why);
    /* The device may have what the loaded rdma-core doesn't know. */
    pair_open(&p, NULL);
    vbn_qp_init_attr init = {.struct_size = sizeof init, .send_cq = p.a.cq, .send_ops = op};
    vbn_qp *qp = NULL;
    vbn_status status = vbn_qp_create(p.a.pd, &init, &qp);
    vbn_error_info error = test_error();
    CHECK_OK(vbn_qp_close(&qp));
    pair_close(&p);
    if (status == VBN_ERR_NOT_SUPPORTED && error.sys_errno) SKIP("%s", error.message);
    pair_open_connected(&p, &setup);
}

/* Between plain requests of one call, each with bytes that the next one has to find; from an odd address. */
static void atomic_write(void) {
    char source[9] = "xABCDEFGH";
    open_asked(VBN_QP_OP_ATOMIC_WRITE, VBN_CAP_ATOMIC_WRITE, 0);
    memset(p.b.memory, 0x5a, 64);
    fill(p.a.memory, 16, 3);
    vbn_send_wr wrs[4] = {
        send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 16), send_wr(&p.a, &p.b, VBN_WR_ATOMIC_WRITE, 2, 8, 0),
        send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 3, 0, 32), send_wr(&p.a, &p.b, VBN_WR_ATOMIC_WRITE, 4, 16, 0),
    };
    wrs[1].num_sge = wrs[3].num_sge = 0;
    wrs[1].ext = wrs[3].ext = source + 1;
    wrs[2].sge = sge_at(&p.a, 1000, 32);
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 4, &posted));
    memset(source, 0, sizeof source);
    for (uint64_t id = 1; id <= 4; id++) {
        vbn_wc wc = next_ok(&p.a, id);
        if (id % 2 == 0) CHECK_EQ(wc.opcode, VBN_WC_ATOMIC_WRITE);
    }
    CHECK_MEM(p.b.memory, p.a.memory, 8);
    CHECK_MEM(p.b.memory + 8, "ABCDEFGHABCDEFGH", 16);
    CHECK_MEM(p.a.memory + 1000, p.b.memory, 16);
    for (int i = 24; i < 64; i++) CHECK_EQ(p.b.memory[i], 0x5a);
    wrs[1].remote_addr++;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, &wrs[1], 1, &posted), VBN_ERR_ARGUMENT);
    pair_close(&p);
}

static void flush(void) {
    vbn_flush_ext range = {.length = 4096, .type = VBN_FLUSH_GLOBAL, .level = VBN_FLUSH_RANGE};
    vbn_flush_ext all = {.type = VBN_FLUSH_GLOBAL, .level = VBN_FLUSH_MR};
    open_asked(VBN_QP_OP_FLUSH, VBN_CAP_FLUSH, VBN_ACCESS_FLUSH_GLOBAL);
    fill(p.a.memory, 4096, 9);
    vbn_send_wr wrs[3] = {
        send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 4096),
        send_wr(&p.a, &p.b, VBN_WR_FLUSH, 2, 0, 0),
        send_wr(&p.a, &p.b, VBN_WR_FLUSH, 3, 0, 0),
    };
    wrs[1].num_sge = wrs[2].num_sge = 0;
    wrs[1].ext = &range;
    wrs[2].ext = &all;
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 3, &posted));
    next_ok(&p.a, 1);
    CHECK_EQ(next_ok(&p.a, 2).opcode, VBN_WC_FLUSH);
    CHECK_EQ(next_ok(&p.a, 3).opcode, VBN_WC_FLUSH);
    CHECK_MEM(p.b.memory, p.a.memory, 4096);
    pair_close(&p);
}

static const struct test tests[] = {
    {"fetch_and_add", fetch_and_add},
    {"compare_and_swap", compare_and_swap},
    {"two_segments", two_segments},
    {"two_queue_pairs", two_queue_pairs},
    {"depth_of_one", depth_of_one},
    {"malformed", malformed},
    {"access_of_region", access_of_region},
    {"access_of_queue_pair", access_of_queue_pair},
    {"what_is_told", what_is_told},
    {"not_asked_for", not_asked_for},
    {"atomic_write", atomic_write},
    {"flush", flush},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("rc_atomics", tests, argc, argv);
}
