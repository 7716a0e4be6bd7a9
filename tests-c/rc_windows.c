/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory windows of both types, and keys that are taken back: by the owner, and by the peer's SEND. */
#include <string.h>

#include "common.h"

#define ACCESS_WINDOWS (ACCESS_ALL | VBN_ACCESS_REMOTE_ATOMIC | VBN_ACCESS_MW_BIND)
#define READ_WRITE (VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ)

/* The window: 4096 bytes from 8192 of b's memory. Only the window is told to a, not the region's key. */
enum { FROM = 8192, LENGTH = 4096 };

static struct pair p;

static const vbn_rc_attr hasty = {
    .struct_size = sizeof hasty,
    .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT | VBN_RC_SET_RNR_RETRY | VBN_RC_SET_ACCESS,
    .access = READ_WRITE | VBN_ACCESS_REMOTE_ATOMIC,
    .timeout = 12,
    .retry_cnt = 1,
    .rnr_retry = 1,
};

static void open_windows(void) {
    struct setup setup = {.rc = &hasty, .access = ACCESS_WINDOWS};
    vbn_caps caps = {.struct_size = sizeof caps};
    pair_open_connected(&p, &setup);
    CHECK_OK(vbn_context_caps(p.a.context, &caps));
    if (!(caps.caps & VBN_CAP_MW)) {
        pair_close(&p);
        LACKS("%s has no memory windows", test_device());
    }
}

static vbn_mw *window(int32_t type) {
    vbn_mw *mw = NULL;
    vbn_mw_attr attr = {.struct_size = sizeof attr, .user_data = 77};
    CHECK_OK(vbn_mw_alloc(p.b.pd, type, &attr, &mw));
    vbn_mw_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_mw_query(mw, &info));
    CHECK_UEQ(info.user_data, 77);
    CHECK_EQ(info.mw_type, type);
    CHECK_UEQ(info.rkey, vbn_mw_rkey(mw));
    return mw;
}

static uint64_t at_b(uint64_t offset) {
    return vbn_mr_remote_addr(p.b.mr) + offset;
}

/* The completion of what b has posted. */
static void b_completes(uint64_t wr_id, int32_t opcode) {
    vbn_wc wc = next_ok(&p.b, wr_id);
    CHECK_EQ(wc.opcode, opcode);
}

/* A request of a's to an offset of b's memory by a key. */
static int32_t reach(uint32_t opcode, uint64_t offset, uint32_t length, uint32_t rkey) {
    static uint32_t seed = 500;
    vbn_send_wr wr = send_wr(&p.a, &p.b, opcode, 9, offset, length);
    wr.rkey = rkey;
    /* Also where it ends behind the memory: then nothing must arrive. */
    wr.sge.addr = vbn_mr_remote_addr(p.a.mr);
    if (offset + length <= p.b.size) fill(opcode == VBN_WR_RDMA_READ ? p.b.memory + offset : p.a.memory, length, ++seed);
    post_send(&p.a, &wr);
    vbn_wc wc = next_wc(&p.a);
    CHECK_UEQ(wc.wr_id, 9);
    if (wc.status == VBN_WC_SUCCESS) CHECK_MEM(p.b.memory + offset, p.a.memory, length);
    return wc.status;
}

static void check_reached(uint32_t opcode, uint64_t offset, uint32_t length, uint32_t rkey) {
    CHECK_STR(vbn_wc_status_name(reach(opcode, offset, length, rkey)), "SUCCESS");
}

/* Refused; the connection is over with that. */
static void check_barred(uint32_t opcode, uint64_t offset, uint32_t length, uint32_t rkey) {
    CHECK_STR(vbn_wc_status_name(reach(opcode, offset, length, rkey)), "REM_ACCESS_ERR");
}

/* Out of the window, inside the region. Soft-RoCE of Linux 6.1 looks at the region's bounds alone. */
static void check_outside(uint32_t opcode, uint64_t offset, uint32_t length, uint32_t rkey) {
    int32_t status = reach(opcode, offset, length, rkey);
    if (status == VBN_WC_SUCCESS && is_soft_roce(test_device())) {
        test_note("%s lets a window's key reach all of its region", test_device());
        status = reach(opcode, p.b.size - 1, 2, rkey);
    }
    CHECK_STR(vbn_wc_status_name(status), "REM_ACCESS_ERR");
}

/* ---- Type 1 ---- */

static uint32_t bind_1(vbn_mw *mw, uint64_t from, uint64_t length, uint64_t access) {
    vbn_mw_bind_attr attr = {
        .struct_size = sizeof attr,
        .wr_id = 0xb1,
        .flags = VBN_SEND_SIGNALED,
        .mr = p.b.mr,
        .addr = at_b(from),
        .length = length,
        .access = access,
    };
    uint32_t before = vbn_mw_rkey(mw), rkey = 0;
    CHECK_OK(vbn_mw_bind(p.b.qp, mw, &attr, &rkey));
    CHECK_UEQ(rkey, vbn_mw_rkey(mw));
    CHECK(rkey != before);
    b_completes(0xb1, VBN_WC_BIND_MW);
    return rkey;
}

static void type_1(void) {
    open_windows();
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    uint32_t rkey = bind_1(mw, FROM, LENGTH, READ_WRITE);
    check_reached(VBN_WR_RDMA_WRITE, FROM, LENGTH, rkey);
    check_reached(VBN_WR_RDMA_READ, FROM + 5, 100, rkey);
    check_reached(VBN_WR_RDMA_WRITE, FROM + LENGTH - 1, 1, rkey);
    /* The region's own key reaches all of it. */
    check_reached(VBN_WR_RDMA_WRITE, 0, 64, vbn_mr_rkey(p.b.mr));
    check_outside(VBN_WR_RDMA_WRITE, FROM + LENGTH - 1, 2, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

static void type_1_below(void) {
    open_windows();
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    uint32_t rkey = bind_1(mw, FROM, LENGTH, READ_WRITE);
    check_outside(VBN_WR_RDMA_READ, FROM - 1, 2, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

static void type_1_read_only(void) {
    open_windows();
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    uint32_t rkey = bind_1(mw, FROM, LENGTH, VBN_ACCESS_REMOTE_READ);
    check_reached(VBN_WR_RDMA_READ, FROM, LENGTH, rkey);
    check_barred(VBN_WR_RDMA_WRITE, FROM, 8, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* Bound anew elsewhere: the new key is good and the old one no more. */
static void type_1_again(void) {
    open_windows();
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    uint32_t old = bind_1(mw, FROM, LENGTH, READ_WRITE);
    check_reached(VBN_WR_RDMA_WRITE, FROM, 8, old);
    uint32_t new = bind_1(mw, 100, 50, READ_WRITE);
    CHECK(old != new);
    check_reached(VBN_WR_RDMA_WRITE, 100, 50, new);
    check_barred(VBN_WR_RDMA_WRITE, FROM, 8, old);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* A length of 0 takes it back. */
static void type_1_taken_back(void) {
    open_windows();
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    uint32_t rkey = bind_1(mw, FROM, LENGTH, READ_WRITE);
    check_reached(VBN_WR_RDMA_WRITE, FROM, 8, rkey);
    bind_1(mw, 0, 0, 0);
    check_barred(VBN_WR_RDMA_WRITE, FROM, 8, rkey);
    CHECK_OK(vbn_mr_close(&p.b.mr));
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* ---- Type 2 ---- */

static vbn_bind_mw_ext bind_2_ext(vbn_mw *mw, uint64_t access) {
    vbn_bind_mw_ext ext = {.mw = mw, .mr = p.b.mr, .addr = at_b(FROM), .length = LENGTH, .access = access};
    return ext;
}

static uint32_t bind_2(vbn_mw *mw, uint64_t access) {
    return bind_window(&p.b, mw, FROM, LENGTH, access);
}

static void open_type_2(void) {
    open_windows();
    uint64_t wanted = VBN_QP_OP_BIND_MW | VBN_QP_OP_LOCAL_INV | VBN_QP_OP_SEND_WITH_INV;
    if ((qp_info(p.b.qp).send_ops & wanted) != wanted) {
        pair_close(&p);
        LACKS("%s has no memory windows of type 2", test_device());
    }
}

static void type_2(void) {
    open_type_2();
    vbn_mw *mw = window(VBN_MW_TYPE_2);
    uint32_t rkey = bind_2(mw, READ_WRITE);
    check_reached(VBN_WR_RDMA_WRITE, FROM, LENGTH, rkey);
    check_reached(VBN_WR_RDMA_READ, FROM + 9, 1000, rkey);
    check_outside(VBN_WR_RDMA_READ, FROM + LENGTH - 10, 11, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

static void type_2_atomics(void) {
    open_type_2();
    vbn_mw *mw = window(VBN_MW_TYPE_2);
    uint32_t rkey = bind_2(mw, VBN_ACCESS_REMOTE_ATOMIC);
    uint64_t seven = 7, value;
    memcpy(p.b.memory + FROM, &seven, 8);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_ATOMIC_FETCH_AND_ADD, 4, FROM, 8);
    wr.rkey = rkey;
    wr.compare_add = 3;
    run_send(&p.a, &wr);
    memcpy(&value, p.b.memory + FROM, 8);
    CHECK_UEQ(value, 10);
    check_barred(VBN_WR_RDMA_WRITE, FROM, 8, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

static void invalidated(void) {
    open_type_2();
    vbn_mw *mw = window(VBN_MW_TYPE_2);
    uint32_t rkey = bind_2(mw, READ_WRITE);
    check_reached(VBN_WR_RDMA_WRITE, FROM, 100, rkey);
    invalidate_window(&p.b, rkey);
    memset(p.b.memory + FROM, 0, 100);
    check_barred(VBN_WR_RDMA_WRITE, FROM, 100, rkey);
    for (unsigned i = 0; i < 100; i++) CHECK_EQ(p.b.memory[FROM + i], 0);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* Bind, take back and bind again in one call, twice over: each bind needs the key of the one before. */
static void again_in_one_call(void) {
    open_type_2();
    vbn_mw *mw = window(VBN_MW_TYPE_2);
    uint32_t first = vbn_mw_rkey(mw), keys[3];
    for (unsigned i = 0; i < 3; i++) keys[i] = (first & ~0xffu) | ((first + i + 1) & 0xff);
    vbn_bind_mw_ext next = bind_2_ext(mw, READ_WRITE), named = next;
    named.rkey = keys[2];
    vbn_send_wr wrs[6] = {
        bind_wr(&next, 1), invalidate_wr(keys[0], 2), bind_wr(&next, 3), invalidate_wr(keys[1], 4),
        send_wr(&p.b, &p.a, VBN_WR_RDMA_WRITE, 5, 0, 8), bind_wr(&named, 6),
    };
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.b.qp, wrs, 6, &posted));
    CHECK_UEQ(posted, 6);
    CHECK_UEQ(vbn_mw_rkey(mw), keys[2]);
    for (uint64_t id = 1; id <= 6; id++) next_ok(&p.b, id);
    check_reached(VBN_WR_RDMA_WRITE, FROM, 100, keys[2]);
    check_barred(VBN_WR_RDMA_WRITE, FROM, 100, keys[1]);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* A bind that fails; with the old key back in place the window is good again, on another queue pair. */
static void failed_bind(void) {
    open_type_2();
    vbn_mw *mw = window(VBN_MW_TYPE_2);
    uint32_t rkey = bind_2(mw, READ_WRITE);
    /* It is bound already. */
    vbn_bind_mw_ext ext = bind_2_ext(mw, READ_WRITE);
    vbn_send_wr wr = bind_wr(&ext, 8);
    post_send(&p.b, &wr);
    vbn_wc wc = next_wc(&p.b);
    /* Soft-RoCE of Linux 6.12 has WR_FLUSH_ERR for whatever goes wrong on this side. */
    test_note("a window that is bound already: %s", vbn_wc_status_name(wc.status));
    CHECK(wc.status == VBN_WC_MW_BIND_ERR || (wc.status == VBN_WC_WR_FLUSH_ERR && is_soft_roce(test_device())));
    CHECK(vbn_mw_rkey(mw) != rkey);
    CHECK_STATUS(vbn_mw_set_rkey(mw, rkey ^ 0x100), VBN_ERR_ARGUMENT);
    CHECK_OK(vbn_mw_set_rkey(mw, rkey));
    CHECK_UEQ(vbn_mw_rkey(mw), rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* ---- SEND_WITH_INV ---- */

static void send_with_inv(void) {
    open_type_2();
    vbn_mw *mw = window(VBN_MW_TYPE_2);
    uint32_t rkey = bind_2(mw, READ_WRITE);
    check_reached(VBN_WR_RDMA_WRITE, FROM, 100, rkey);
    post_recv(&p.b, 50, 0, 1000);
    fill(p.a.memory + 200, 600, 3);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_INV, 51, 200, 600);
    wr.invalidate_rkey = rkey;
    wr.imm = 0x55555555;
    post_send(&p.a, &wr);
    CHECK_EQ(next_ok(&p.a, 51).opcode, VBN_WC_SEND);
    vbn_wc wc = next_ok(&p.b, 50);
    CHECK_EQ(wc.opcode, VBN_WC_RECV);
    CHECK_UEQ(wc.byte_len, 600);
    /* Soft-RoCE (Linux 6.1, rdma-core 44 to 65) passes on the kernel's number of this flag, which is libibverbs' of another. */
    test_note("wc_flags 0x%x", wc.wc_flags);
    CHECK(wc.wc_flags & (is_soft_roce(test_device()) ? VBN_WC_WITH_INV | VBN_WC_IP_CSUM_OK : VBN_WC_WITH_INV));
    CHECK(!(wc.wc_flags & VBN_WC_WITH_IMM));
    CHECK_UEQ(wc.imm, rkey);
    CHECK_MEM(p.b.memory, p.a.memory + 200, 600);
    check_barred(VBN_WR_RDMA_WRITE, FROM, 100, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* The window is free again and can be bound anew. */
static void bound_after_send_with_inv(void) {
    open_type_2();
    vbn_mw *mw = window(VBN_MW_TYPE_2);
    for (unsigned round = 0; round < 3; round++) {
        uint32_t rkey = bind_2(mw, READ_WRITE);
        check_reached(VBN_WR_RDMA_WRITE, FROM, 100, rkey);
        post_recv(&p.b, 60, 0, 1000);
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_INV, 61, 0, 10);
        wr.invalidate_rkey = rkey;
        run_send(&p.a, &wr);
        CHECK_UEQ(next_ok(&p.b, 60).imm, rkey);
    }
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* A key that is nobody's can't be taken back. */
static void send_with_inv_of_nothing(void) {
    open_type_2();
    post_recv(&p.b, 70, 0, 1000);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_INV, 71, 0, 10);
    wr.invalidate_rkey = 0xdeadbe00;
    post_send(&p.a, &wr);
    vbn_wc sent = next_wc(&p.a), received = next_wc(&p.b);
    test_note("an unknown key: the SEND %s, the receive %s", vbn_wc_status_name(sent.status), vbn_wc_status_name(received.status));
    CHECK_UEQ(received.wr_id, 70);
    CHECK(received.status != VBN_WC_SUCCESS);
    for (int i = 0; i < 500 && qp_state(p.b.qp) != VBN_QPS_ERR; i++) sleep_ms(10);
    CHECK_STR(vbn_qp_state_name(qp_state(p.b.qp)), "ERR");
    pair_close(&p);
}

/* ---- Objects ---- */

/* A region with a window on it stays, and so must its memory. */
static void busy_region(int32_t type) {
    vbn_mw *mw = window(type);
    if (type == VBN_MW_TYPE_1)
        bind_1(mw, FROM, LENGTH, READ_WRITE);
    else
        bind_2(mw, READ_WRITE);
    CHECK_STATUS(vbn_mr_close(&p.b.mr), VBN_ERR_BUSY);
    CHECK(p.b.mr != NULL);
    CHECK_HAS(test_error().message, "window");
    check_reached(VBN_WR_RDMA_WRITE, FROM, 100, vbn_mw_rkey(mw));
    CHECK_OK(vbn_mw_close(&mw));
    CHECK_OK(vbn_mr_close(&p.b.mr));
}

static void busy_region_1(void) {
    open_windows();
    busy_region(VBN_MW_TYPE_1);
    pair_close(&p);
}

static void busy_region_2(void) {
    open_type_2();
    busy_region(VBN_MW_TYPE_2);
    pair_close(&p);
}

/* Closing a bound window ends the access. */
static void closed_while_bound(void) {
    open_windows();
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    uint32_t rkey = bind_1(mw, FROM, LENGTH, READ_WRITE);
    check_reached(VBN_WR_RDMA_WRITE, FROM, 8, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    check_barred(VBN_WR_RDMA_WRITE, FROM, 8, rkey);
    pair_close(&p);
}

/* A window keeps its PD, and is counted. */
static void counted(void) {
    open_windows();
    vbn_mw *mws[3];
    for (unsigned i = 0; i < 3; i++) {
        CHECK_UEQ(live_info(p.b.context).mw_open, i);
        mws[i] = window(VBN_MW_TYPE_1);
    }
    CHECK_OK(vbn_qp_close(&p.b.qp));
    CHECK_OK(vbn_mr_close(&p.b.mr));
    CHECK_OK(vbn_pd_close(&p.b.pd));
    CHECK_UEQ(live_info(p.b.context).pd_closed, 1);
    for (unsigned i = 0; i < 3; i++) CHECK_OK(vbn_mw_close(&mws[i]));
    CHECK_UEQ(live_info(p.b.context).mw_open, 0);
    CHECK_UEQ(live_info(p.b.context).pd_closed, 0);
    pair_close(&p);
}

/* A region that must not carry windows. */
static void region_without_bind(void) {
    struct setup setup = {.rc = &hasty};
    open_windows();
    pair_close(&p);
    pair_open_connected(&p, &setup);
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    vbn_mw_bind_attr attr = {.struct_size = sizeof attr, .mr = p.b.mr, .addr = at_b(0), .length = 10};
    CHECK_STATUS(vbn_mw_bind(p.b.qp, mw, &attr, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "VBN_ACCESS_MW_BIND");
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

/* Windows are RC's. */
static void not_on_uc(void) {
    struct setup setup = {.qp_type = VBN_QPT_UC, .access = ACCESS_WINDOWS};
    open_windows();
    pair_close(&p);
    pair_open_connected(&p, &setup);
    vbn_mw *mw = window(VBN_MW_TYPE_1);
    vbn_mw_bind_attr attr = {.struct_size = sizeof attr, .mr = p.b.mr, .addr = at_b(0), .length = 10, .access = READ_WRITE};
    CHECK_STATUS(vbn_mw_bind(p.b.qp, mw, &attr, NULL), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "RC queue pairs");
    check_no_wc(&p.b);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

static const struct test tests[] = {
    {"type_1", type_1},
    {"type_1_below", type_1_below},
    {"type_1_read_only", type_1_read_only},
    {"type_1_again", type_1_again},
    {"type_1_taken_back", type_1_taken_back},
    {"type_2", type_2},
    {"type_2_atomics", type_2_atomics},
    {"invalidated", invalidated},
    {"again_in_one_call", again_in_one_call},
    {"failed_bind", failed_bind},
    {"send_with_inv", send_with_inv},
    {"bound_after_send_with_inv", bound_after_send_with_inv},
    {"send_with_inv_of_nothing", send_with_inv_of_nothing},
    {"busy_region_1", busy_region_1},
    {"busy_region_2", busy_region_2},
    {"closed_while_bound", closed_while_bound},
    {"counted", counted},
    {"region_without_bind", region_without_bind},
    {"not_on_uc", not_on_uc},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("rc_windows", tests, argc, argv);
}
