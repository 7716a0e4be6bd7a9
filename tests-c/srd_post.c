/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Requests of an EFA in loopback: every operation that there is, and every one that is refused before the provider sees it. */
#include <string.h>

#include "srd.h"

static struct srd_side s;
static vbn_peer *self;

enum { TARGET = 32768 }; /* where messages to oneself arrive; requests begin at 0 */

static void open_self(const struct srd_setup *setup) {
    srd_open(&s, setup);
    self = srd_self(&s);
}

static void close_self(void) {
    CHECK_OK(vbn_peer_close(&self));
    srd_close(&s);
}

static vbn_send_wr request(uint32_t opcode, uint64_t wr_id, uint32_t length) {
    return srd_wr_at(&s, self, &s, opcode, wr_id, 0, TARGET, length);
}

static void check_both(vbn_wc wcs[2]) {
    srd_wait(&s, 2, wcs);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(vbn_wc_check(wcs + i));
        CHECK_UEQ(wcs[i].qp_num, vbn_qp_num(s.qp));
    }
}

/* ---- what works ---- */

static void send_of(uint32_t length) {
    vbn_wc wcs[2];
    fill(s.memory, length, length + 1);
    memset(s.memory + TARGET, 0, length + 1);
    srd_recv(&s, 2, TARGET, 16384);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, length);
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_UEQ(wcs[0].wr_id, 1);
    CHECK_EQ(wcs[0].opcode, VBN_WC_SEND);
    CHECK_UEQ(wcs[1].wr_id, 2);
    CHECK_EQ(wcs[1].opcode, VBN_WC_RECV);
    CHECK_UEQ(wcs[1].byte_len, length);
    CHECK_UEQ(wcs[1].src_qp, vbn_qp_num(s.qp));
    CHECK_UEQ(wcs[1].wc_flags, 0);
    CHECK_MEM(s.memory + TARGET, s.memory, length);
    CHECK_UEQ(s.memory[TARGET + length], 0);
}

static void send(void) {
    open_self(NULL);
    send_of(1);
    send_of(100);
    send_of(4096);
    send_of(qp_info(s.qp).max_message);
    close_self();
}

static void send_nothing(void) {
    vbn_wc wcs[2];
    open_self(NULL);
    srd_recv(&s, 2, TARGET, 64);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 0);
    wr.num_sge = 0;
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_UEQ(wcs[1].byte_len, 0);
    close_self();
}

static void send_imm(void) {
    vbn_wc wcs[2];
    open_self(NULL);
    srd_recv(&s, 2, TARGET, 64);
    vbn_send_wr wr = request(VBN_WR_SEND_WITH_IMM, 1, 64);
    wr.imm = 0xdeadbeef;
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_UEQ(wcs[1].imm, 0xdeadbeef);
    CHECK(wcs[1].wc_flags & VBN_WC_WITH_IMM);
    CHECK_EQ(wcs[1].opcode, VBN_WC_RECV);
    CHECK(!(wcs[0].wc_flags & VBN_WC_WITH_IMM));
    close_self();
}

static void write_plain(void) {
    need_write();
    open_self(NULL);
    fill(s.memory, 20000, 7);
    vbn_send_wr wr = request(VBN_WR_RDMA_WRITE, 1, 20000);
    srd_post(&s, &wr);
    CHECK_EQ(srd_ok(&s, 1).opcode, VBN_WC_RDMA_WRITE);
    CHECK_MEM(s.memory + TARGET, s.memory, 20000);
    close_self();
}

static void write_imm(void) {
    vbn_wc wcs[2];
    need_write();
    open_self(NULL);
    fill(s.memory, 10000, 8);
    srd_recv(&s, 2, 60000, 1); /* as a credit: nothing is put there */
    vbn_send_wr wr = request(VBN_WR_RDMA_WRITE_WITH_IMM, 1, 10000);
    wr.imm = 0x01020304;
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_EQ(wcs[1].opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wcs[1].imm, 0x01020304);
    CHECK(wcs[1].wc_flags & VBN_WC_WITH_IMM);
    CHECK_UEQ(wcs[1].byte_len, 10000);
    CHECK_MEM(s.memory + TARGET, s.memory, 10000);
    CHECK_UEQ(s.memory[60000], 0);
    close_self();
}

static const struct srd_setup unsolicited = {.fields = VBN_WC_EX_STANDARD | VBN_WC_EX_UNSOLICITED, .flags = VBN_QP_UNSOLICITED_WRITE_RECV};

static void write_imm_unsolicited(void) {
    vbn_wc_ext wcs[2];
    need_unsolicited();
    open_self(&unsolicited);
    CHECK_UEQ(qp_info(s.qp).flags, VBN_QP_UNSOLICITED_WRITE_RECV);
    fill(s.memory, 500, 9);
    vbn_send_wr wr = request(VBN_WR_RDMA_WRITE_WITH_IMM, 9, 500);
    wr.imm = 77;
    srd_post(&s, &wr); /* no receive is posted */
    srd_wait_ext(&s, 2, wcs);
    CHECK_OK(vbn_wc_check(&wcs[0].wc));
    CHECK_OK(vbn_wc_check(&wcs[1].wc));
    CHECK_UEQ(wcs[0].wc.wr_id, 0);
    CHECK_EQ(wcs[0].wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wcs[0].unsolicited, 1);
    CHECK(wcs[0].fields & VBN_WC_EX_UNSOLICITED);
    CHECK_UEQ(wcs[0].wc.imm, 77);
    CHECK_UEQ(wcs[0].wc.byte_len, 500);
    CHECK_UEQ(wcs[1].wc.wr_id, 9);
    CHECK_UEQ(wcs[1].unsolicited, 0);
    CHECK_MEM(s.memory + TARGET, s.memory, 500);
    close_self();
}

/* A SEND to such a queue pair takes a receive as ever, and says so. */
static void unsolicited_and_send(void) {
    vbn_wc_ext wcs[2];
    need_unsolicited();
    open_self(&unsolicited);
    srd_recv(&s, 2, TARGET, 64);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    srd_post(&s, &wr);
    srd_wait_ext(&s, 2, wcs);
    CHECK_OK(vbn_wc_check(&wcs[1].wc));
    CHECK_UEQ(wcs[1].wc.wr_id, 2);
    CHECK_UEQ(wcs[1].unsolicited, 0);
    close_self();
}

/* One side has the flag, the other not: status 18, and the versioned record says so before. */
static void unsolicited_mismatch(void) {
    struct srd_side with, without;
    vbn_endpoint_info info = {.struct_size = sizeof info};
    vbn_peer *peer = NULL;
    need_unsolicited();
    srd_open(&with, &unsolicited);
    srd_open(&without, NULL);
    vbn_peer *there = srd_peer(&without, &with), *back = srd_peer(&with, &without);
    vbn_send_wr wr = srd_wr_at(&without, there, &with, VBN_WR_RDMA_WRITE_WITH_IMM, 3, 0, TARGET, 64);
    srd_post(&without, &wr);
    vbn_wc wc = srd_failed(&without, 3, 18);
    srd_explained(&wc, "was made to take unsolicited writes");
    srd_recv(&without, 5, 0, 64);
    wr = srd_wr_at(&with, back, &without, VBN_WR_RDMA_WRITE_WITH_IMM, 4, 0, TARGET, 64);
    srd_post(&with, &wr);
    srd_failed(&with, 4, 18);
    CHECK_OK(vbn_endpoint_info_local(with.qp, NULL, &info));
    CHECK_UEQ(info.unsolicited, 1);
    CHECK_STATUS(vbn_peer_from_info(without.qp, &info, NULL, &peer), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "VBN_QP_UNSOLICITED_WRITE_RECV");
    CHECK_OK(vbn_peer_from_info(with.qp, &info, NULL, &peer));
    CHECK_OK(vbn_peer_close(&peer));
    CHECK_OK(vbn_peer_close(&there));
    CHECK_OK(vbn_peer_close(&back));
    srd_close(&with);
    srd_close(&without);
}

static void read_plain(void) {
    need_read();
    open_self(NULL);
    fill(s.memory + TARGET, 20000, 10);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1, 20000);
    srd_post(&s, &wr);
    vbn_wc wc = srd_ok(&s, 1);
    CHECK_EQ(wc.opcode, VBN_WC_SEND); /* libefa up to 65 says SEND */
    CHECK_MEM(s.memory, s.memory + TARGET, 20000);
    close_self();
}

/* Inline data need no lkey and are the caller's again at once. */
static void inline_of(uint32_t asked, uint32_t length) {
    const struct srd_setup setup = {.inline_data = asked};
    vbn_wc wcs[2];
    open_self(&setup);
    CHECK(qp_info(s.qp).max_inline_data >= length);
    fill(s.memory, length, 11);
    uint64_t sum = checksum(s.memory, length);
    srd_recv(&s, 2, TARGET, 256);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, length);
    wr.flags |= VBN_SEND_INLINE;
    wr.sge.lkey = 0xbad;
    srd_post(&s, &wr);
    memset(s.memory, 0, length);
    check_both(wcs);
    CHECK_UEQ(wcs[1].byte_len, length);
    CHECK_UEQ(checksum(s.memory + TARGET, length), sum);
    close_self();
}

static void inline_at_limit(void) {
    srd_open(&s, NULL);
    vbn_efa_device_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_efa_query_device(s.context, &info));
    srd_close(&s);
    inline_of(1, 1);
    inline_of(info.inline_buf_size, info.inline_buf_size);
    if (info.inline_buf_size_ex > info.inline_buf_size)
        inline_of(info.inline_buf_size_ex, info.inline_buf_size_ex); /* in requests of twice the size */
    else
        test_note("no inline data above %u bytes here", info.inline_buf_size);
}

static void inline_of_two(void) {
    static const struct srd_setup setup = {.inline_data = 32, .send_sge = 2};
    vbn_wc wcs[2];
    open_self(&setup);
    fill(s.memory, 200, 12);
    vbn_sge list[2] = {{.addr = (uintptr_t)s.memory, .length = 10}, {.addr = (uintptr_t)s.memory + 100, .length = 22}};
    srd_recv(&s, 2, TARGET, 256);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 0);
    wr.flags |= VBN_SEND_INLINE;
    wr.sg_list = list;
    wr.num_sge = 2;
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_UEQ(wcs[1].byte_len, 32);
    CHECK_MEM(s.memory + TARGET, s.memory, 10);
    CHECK_MEM(s.memory + TARGET + 10, s.memory + 100, 22);
    close_self();
}

static vbn_sge piece(uint64_t offset, uint32_t length) {
    return (vbn_sge){.addr = vbn_mr_remote_addr(s.mr) + offset, .length = length, .lkey = vbn_mr_lkey(s.mr)};
}

static void gather_and_scatter(void) {
    static const struct srd_setup setup = {.send_sge = 2, .recv_sge = 3};
    vbn_wc wcs[2];
    open_self(&setup);
    fill(s.memory, 3000, 13);
    vbn_sge from[2] = {piece(0, 700), piece(1000, 500)}, to[3] = {piece(TARGET, 100), piece(TARGET + 2000, 1), piece(TARGET + 3000, 4000)};
    vbn_recv_wr recv = {.wr_id = 2, .num_sge = 3, .sg_list = to};
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_recv(s.qp, &recv, 1, &posted));
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 0);
    wr.sg_list = from;
    wr.num_sge = 2;
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_UEQ(wcs[1].byte_len, 1200);
    CHECK_MEM(s.memory + TARGET, s.memory, 100);
    CHECK_MEM(s.memory + TARGET + 2000, s.memory + 100, 1);
    CHECK_MEM(s.memory + TARGET + 3000, s.memory + 101, 599);
    CHECK_MEM(s.memory + TARGET + 3000 + 599, s.memory + 1000, 500);
    close_self();
}

/* A transfer cut by vbn_rdma_split: so many requests, each of which completes. */
static void chunked(uint32_t opcode, uint32_t pieces) {
    enum { LENGTH = 30000 };
    vbn_send_wr wrs[8];
    vbn_wc wcs[8];
    uint32_t count = 0, posted = 0;
    uint64_t total = 0;
    open_self(NULL);
    int reads = opcode == VBN_WR_RDMA_READ;
    fill(s.memory + (reads ? TARGET : 0), LENGTH, 14);
    vbn_split_attr attr = {
        .struct_size = sizeof attr, .wr_id = 100, .flags = VBN_SEND_SIGNALED, .last_flags = VBN_SEND_SIGNALED, .mr = s.mr,
        .length = LENGTH, .remote_addr = vbn_mr_remote_addr(s.mr) + TARGET, .remote_length = s.size - TARGET,
        .chunk = (LENGTH + pieces - 1) / pieces, .peer = self, .opcode = opcode, .rkey = vbn_mr_rkey(s.mr),
    };
    CHECK_OK(vbn_rdma_split(s.qp, &attr, 0, wrs, 8, &count, &total));
    CHECK_UEQ(count, pieces);
    CHECK_UEQ(total, pieces);
    CHECK_OK(vbn_qp_post_send(s.qp, wrs, count, &posted));
    CHECK_UEQ(posted, pieces);
    srd_wait(&s, pieces, wcs);
    for (uint32_t i = 0; i < pieces; i++) {
        CHECK_OK(vbn_wc_check(wcs + i));
        CHECK_UEQ(wcs[i].wr_id, 100 + i);
    }
    CHECK_MEM(s.memory + (reads ? 0 : TARGET), s.memory + (reads ? TARGET : 0), LENGTH);
    close_self();
}

static void chunked_read(void) {
    need_read();
    chunked(VBN_WR_RDMA_READ, 2);
}
static void chunked_write(void) {
    need_write();
    chunked(VBN_WR_RDMA_WRITE, 4);
}

/* A receiver that has no handle for the sender learns its GID; one that has learns the handle's number. */
static void sender_gid(void) {
    static const struct srd_setup with_sgid = {.fields = VBN_WC_EX_STANDARD | VBN_WC_EX_SGID};
    struct srd_side to;
    vbn_wc_ext wc;
    if (!(srd_caps(test_device()) & VBN_EFA_CAP_CQ_WITH_SGID)) SKIP("needs a queue that tells the sender's GID");
    srd_open(&s, &with_sgid);
    srd_open(&to, &with_sgid);
    vbn_peer *there = srd_peer(&s, &to);
    srd_recv(&to, 2, 0, 64);
    vbn_send_wr wr = srd_wr(&s, there, VBN_WR_SEND, 1, 0, 64);
    srd_run(&s, &wr);
    srd_wait_ext(&to, 1, &wc);
    CHECK_OK(vbn_wc_check(&wc.wc));
    CHECK(wc.fields & VBN_WC_EX_SGID);
    CHECK_MEM(wc.sgid, s.endpoint.gid, 16);
    vbn_ah_attr attr = {.struct_size = sizeof attr};
    vbn_ah *ah = NULL;
    uint16_t number = 0;
    memcpy(attr.path.dgid, s.endpoint.gid, 16);
    CHECK_OK(vbn_ah_create(to.pd, &attr, &ah));
    CHECK_OK(vbn_efa_query_ah(ah, &number));
    srd_recv(&to, 3, 0, 64);
    srd_run(&s, &wr);
    srd_wait_ext(&to, 1, &wc);
    CHECK(!(wc.fields & VBN_WC_EX_SGID));
    CHECK_UEQ(wc.wc.slid, number);
    CHECK_OK(vbn_ah_close(&ah));
    CHECK_OK(vbn_peer_close(&there));
    srd_close(&to);
    srd_close(&s);
}

static const struct srd_setup datagram = {.qp_type = VBN_QPT_UD};

/* The first 40 bytes of a datagram's receive are room for a header that EFA does not fill, and they count. */
static void ud_send(void) {
    vbn_wc wcs[2];
    open_self(&datagram);
    fill(s.memory, 300, 15);
    srd_recv(&s, 2, TARGET, 512);
    vbn_send_wr wr = request(VBN_WR_SEND_WITH_IMM, 1, 300);
    wr.imm = 5;
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_UEQ(wcs[1].byte_len, 340);
    CHECK_UEQ(wcs[1].imm, 5);
    CHECK_UEQ(wcs[1].src_qp, vbn_qp_num(s.qp));
    CHECK_MEM(s.memory + TARGET + 40, s.memory, 300);
    close_self();
}

/* ---- what is refused ---- */

static void operations_restricted(void) {
    static const struct srd_setup sends = {.send_ops = VBN_QP_OP_SEND};
    static const uint32_t others[] = {VBN_WR_SEND_WITH_IMM, VBN_WR_RDMA_READ, VBN_WR_RDMA_WRITE, VBN_WR_RDMA_WRITE_WITH_IMM};
    open_self(&sends);
    CHECK_UEQ(qp_info(s.qp).send_ops, VBN_QP_OP_SEND);
    for (int i = 0; i < 4; i++) {
        vbn_send_wr wrs[2] = {request(VBN_WR_SEND, 1, 64), request(others[i], 2, 64)};
        srd_refused(s.qp, wrs, 2, VBN_ERR_NOT_SUPPORTED, 1, "opcode");
        CHECK_UEQ(test_error().value, others[i]);
    }
    srd_no_wc(&s);
    srd_alive(&s, &s, self);
    close_self();
}

/* Without WRITE in device or libefa, none is posted, and none is pretended. */
static uint32_t release(void) {
    vbn_library_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_library_query(VBN_LIBRARY_EFA, &info));
    return info.release_min;
}

static void write_absent(void) {
    if (srd_caps(test_device()) & VBN_EFA_CAP_RDMA_WRITE) SKIP("needs a device or libefa without RDMA WRITE");
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_RDMA_WRITE, 1, 64);
    /* A library that may be to blame is named with the release that is needed. */
    const char *why = release() < 50 ? "rdma-core 46" : "vbn_context_caps";
    srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, why);
    wr.opcode = VBN_WR_RDMA_WRITE_WITH_IMM;
    srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, why);
    srd_alive(&s, &s, self);
    close_self();
}

/* Nor READ, on a device that has messages alone. */
static void read_absent(void) {
    if (srd_caps(test_device()) & VBN_EFA_CAP_RDMA_READ) SKIP("needs a device without RDMA READ");
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1, 64);
    srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "vbn_context_caps");
    srd_no_wc(&s);
    srd_alive(&s, &s, self);
    close_self();
}

static void ud_rdma(void) {
    open_self(&datagram);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1, 64);
    srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "opcode");
    close_self();
}

static void opcodes_unknown(void) {
    static const uint32_t opcodes[] = {99, 5, 6, 7, 63, 64, 0x10000, UINT32_MAX};
    open_self(NULL);
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        vbn_send_wr wr = request(opcodes[i], 1, 64);
        srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "opcode");
    }
    close_self();
}

static void destinations(void) {
    struct srd_side other;
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    wr.peer = NULL;
    srd_refused(s.qp, &wr, 1, VBN_ERR_ARGUMENT, 0, "names its destination");
    wr.peer = (vbn_peer *)((char *)self + 1);
    srd_refused(s.qp, &wr, 1, VBN_ERR_ARGUMENT, 0, "vbn_peer");
    wr.peer = (vbn_peer *)s.mr; /* another kind of handle */
    srd_refused(s.qp, &wr, 1, VBN_ERR_ARGUMENT, 0, "vbn_peer");
    srd_open(&other, NULL);
    vbn_peer *foreign = srd_self(&other);
    wr.peer = foreign;
    srd_refused(s.qp, &wr, 1, VBN_ERR_ARGUMENT, 0, "protection domain");
    wr.peer = self;
    vbn_send_wr wrs[3] = {wr, wr, wr};
    wrs[2].peer = foreign;
    srd_refused(s.qp, wrs, 3, VBN_ERR_ARGUMENT, 2, "protection domain");
    CHECK_OK(vbn_peer_close(&foreign));
    wrs[2].peer = wrs[1].peer;
    wrs[0].peer = (vbn_peer *)s.cq;
    srd_refused(s.qp, wrs, 3, VBN_ERR_ARGUMENT, 0, "vbn_peer");
    srd_close(&other);
    srd_no_wc(&s);
    srd_alive(&s, &s, self);
    close_self();
}

static void peer_closed(void) {
    open_self(NULL);
    vbn_peer *second = srd_self(&s), *copy = second;
    vbn_send_wr wrs[2] = {request(VBN_WR_SEND, 1, 64), request(VBN_WR_SEND, 2, 64)};
    wrs[1].peer = copy;
    CHECK_OK(vbn_peer_close(&second));
    srd_refused(s.qp, wrs, 2, VBN_ERR_CLOSED, 1, "vbn_peer");
    srd_no_wc(&s);
    srd_alive(&s, &s, self);
    close_self();
}

static void flags(void) {
    open_self(NULL);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    static const struct {
        uint64_t flags;
        vbn_status status;
        const char *part;
    } cases[] = {
        {0, VBN_ERR_ARGUMENT, "sq_sig_all"},
        {VBN_SEND_SIGNALED | VBN_SEND_FENCE, VBN_ERR_NOT_SUPPORTED, "fence"},
        {VBN_SEND_SIGNALED | VBN_SEND_SOLICITED, VBN_ERR_NOT_SUPPORTED, "solicited"},
        {VBN_SEND_SIGNALED | VBN_SEND_BURST, VBN_ERR_ARGUMENT, "flags"},
        {VBN_SEND_SIGNALED | 0x10, VBN_ERR_ARGUMENT, "flags"},
        {VBN_SEND_SIGNALED | UINT64_C(1) << 63, VBN_ERR_ARGUMENT, "flags"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vbn_send_wr wrs[2] = {wr, wr};
        wrs[1].flags = cases[i].flags;
        srd_refused(s.qp, wrs, 2, cases[i].status, 1, cases[i].part);
    }
    srd_no_wc(&s);
    close_self();
}

static void signaled_by_queue_pair(void) {
    static const struct srd_setup all = {.sq_sig_all = 1};
    need_read();
    open_self(&all);
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1, 64);
    wr.flags = 0;
    srd_run(&s, &wr);
    CHECK_UEQ(qp_info(s.qp).sq_sig_all, 1);
    close_self();
}

/* Refused with number and limit before the provider sees it; up to the limit it works (see `send`). */
static void lengths(void) {
    open_self(NULL);
    uint32_t message = qp_info(s.qp).max_message, rdma = qp_info(s.qp).max_rdma;
    const struct {
        uint32_t opcode, limit;
    } cases[] = {{VBN_WR_SEND, message}, {VBN_WR_SEND_WITH_IMM, message}, {VBN_WR_RDMA_READ, rdma}, {VBN_WR_RDMA_WRITE, rdma}};
    int kinds = s.caps & VBN_EFA_CAP_RDMA_WRITE ? 4 : s.caps & VBN_EFA_CAP_RDMA_READ ? 3 : 2;
    for (int i = 0; i < kinds; i++) {
        vbn_send_wr wrs[3] = {request(cases[i].opcode, 1, 64), request(cases[i].opcode, 2, cases[i].limit + 1), request(cases[i].opcode, 3, 64)};
        srd_refused(s.qp, wrs, 3, VBN_ERR_LIMIT, 1, i < 2 ? "send it in several messages" : "cut it into several requests (vbn_rdma_split)");
        CHECK_UEQ(test_error().value, cases[i].limit + 1);
        CHECK_UEQ(test_error().limit, cases[i].limit);
    }
    srd_no_wc(&s);
    close_self();
}

static void lengths_of_two(void) {
    static const struct srd_setup setup = {.send_sge = 2};
    open_self(&setup);
    uint32_t message = qp_info(s.qp).max_message;
    vbn_sge list[2] = {piece(0, message), piece(10000, 1)};
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 0);
    wr.sg_list = list;
    wr.num_sge = 2;
    srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "message length");
    CHECK_UEQ(test_error().value, message + 1);
    close_self();
}

static void segments(void) {
    static const struct srd_setup setup = {.send_sge = 2};
    open_self(&setup);
    vbn_sge list[3] = {piece(0, 8), piece(64, 8), piece(128, 8)};
    vbn_send_wr wr = request(VBN_WR_RDMA_READ, 1, 8);
    wr.sg_list = list;
    wr.num_sge = 2;
    if (s.caps & VBN_EFA_CAP_RDMA_READ) srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "one segment for RDMA");
    wr.opcode = VBN_WR_SEND;
    wr.num_sge = 3;
    srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "max_send_sge");
    wr.sg_list = NULL;
    wr.num_sge = 2;
    srd_refused(s.qp, &wr, 1, VBN_ERR_ARGUMENT, 0, "sg_list");
    close_self();
}

static void inline_refused(void) {
    static const struct srd_setup setup = {.inline_data = 32};
    open_self(&setup);
    uint32_t most = qp_info(s.qp).max_inline_data;
    vbn_send_wr wr = request(VBN_WR_SEND, 1, most + 1);
    wr.flags |= VBN_SEND_INLINE;
    srd_refused(s.qp, &wr, 1, VBN_ERR_LIMIT, 0, "inline length");
    CHECK_UEQ(test_error().value, most + 1);
    CHECK_UEQ(test_error().limit, most);
    wr.opcode = VBN_WR_RDMA_READ;
    wr.sge.length = 8;
    if (s.caps & VBN_EFA_CAP_RDMA_READ) srd_refused(s.qp, &wr, 1, VBN_ERR_ARGUMENT, 0, "VBN_SEND_INLINE");
    if (s.caps & VBN_EFA_CAP_RDMA_WRITE) {
        wr.opcode = VBN_WR_RDMA_WRITE;
        srd_refused(s.qp, &wr, 1, VBN_ERR_NOT_SUPPORTED, 0, "VBN_QP_INLINE_WRITE");
    }
    close_self();
}

/* The low latency class and the hint about bursts carry data where libefa has them. */
static void service_level(void) {
    static const struct srd_setup setup = {.sl = 8}, odd = {.sl = 3}, reset = {.no_prepare = 1};
    vbn_qp *qp = NULL;
    srd_open(&s, &reset);
    uint32_t now = release();
    vbn_status status = srd_create_qp(&s, &odd, &qp);
    CHECK(status != VBN_OK);
    CHECK_HAS(test_error().message, "sl");
    srd_close(&s);
    if (now < 55) SKIP("service levels need rdma-core 55, and this libefa is %u or a little newer", now);
    open_self(&setup);
    srd_alive(&s, &s, self);
    close_self();
}

static void bursts(void) {
    static const struct srd_setup setup = {.flags = VBN_QP_PROCESSING_HINTS}, reset = {.no_prepare = 1};
    vbn_qp *qp = NULL;
    srd_open(&s, &reset);
    uint32_t now = release();
    if (now < 64) {
        CHECK_STATUS(srd_create_qp(&s, &setup, &qp), VBN_ERR_SYMBOL_MISSING);
        CHECK_HAS(test_error().message, "rdma-core 64");
    }
    srd_close(&s);
    if (now < 64) SKIP("processing hints need rdma-core 64");
    open_self(&setup);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    vbn_wc wcs[2];
    wr.flags |= VBN_SEND_BURST;
    srd_recv(&s, 2, TARGET, 64);
    srd_post(&s, &wr);
    check_both(wcs);
    if (s.caps & VBN_EFA_CAP_RDMA_READ) {
        wr.opcode = VBN_WR_RDMA_READ;
        srd_run(&s, &wr);
    }
    srd_alive(&s, &s, self);
    close_self();
}

static void inline_write(void) {
    static const struct srd_setup setup = {.inline_data = 32, .flags = VBN_QP_INLINE_WRITE};
    vbn_qp *qp = NULL;
    static const struct srd_setup reset = {.no_prepare = 1};
    srd_open(&s, &reset);
    vbn_efa_device_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_efa_query_device(s.context, &info));
    if (info.inline_buf_size_ex == 0 || !(s.caps & VBN_EFA_CAP_RDMA_WRITE)) {
        CHECK_STATUS(srd_create_qp(&s, &setup, &qp), VBN_ERR_NOT_SUPPORTED);
        CHECK_HAS(test_error().message, "rdma-core 63");
        srd_close(&s);
        return;
    }
    srd_close(&s);
    open_self(&setup);
    fill(s.memory, 32, 21);
    uint64_t sum = checksum(s.memory, 32);
    vbn_send_wr wr = request(VBN_WR_RDMA_WRITE, 1, 32);
    wr.flags |= VBN_SEND_INLINE;
    wr.sge.lkey = 0;
    srd_post(&s, &wr);
    memset(s.memory, 0, 32);
    srd_ok(&s, 1);
    CHECK_UEQ(checksum(s.memory + TARGET, 32), sum);
    close_self();
}

/* In RESET nothing can be posted; in INIT receives can. The message says which state it is. */
static void states(void) {
    static const struct srd_setup reset = {.no_prepare = 1};
    uint32_t posted = 99;
    open_self(NULL);
    vbn_qp *early = srd_another_qp(&s, &reset);
    vbn_send_wr wr = request(VBN_WR_SEND, 1, 64);
    srd_refused(early, &wr, 1, VBN_ERR_DRIVER, 0, "RESET");
    CHECK_EQ(test_error().sys_errno, 22);
    vbn_recv_wr recv = {.wr_id = 1, .num_sge = 1, .sge = piece(TARGET, 64)};
    CHECK_STATUS(vbn_qp_post_recv(early, &recv, 1, &posted), VBN_ERR_DRIVER);
    CHECK_UEQ(posted, 0);
    CHECK_HAS(test_error().message, "RESET");
    vbn_qp_attr init = {.struct_size = sizeof init, .set = VBN_QP_STATE | VBN_QP_PKEY_INDEX | VBN_QP_PORT | VBN_QP_QKEY,
                        .qp_state = VBN_QPS_INIT, .port_num = 1, .qkey = s.qkey};
    CHECK_OK(vbn_qp_modify(early, &init));
    CHECK_OK(vbn_qp_post_recv(early, &recv, 1, &posted));
    CHECK_UEQ(posted, 1);
    srd_refused(early, &wr, 1, VBN_ERR_DRIVER, 0, "not yet in RTS");
    CHECK_OK(vbn_qp_close(&early));
    close_self();
}

static void recv_refused(const vbn_recv_wr *wrs, uint32_t n, vbn_status status, uint32_t index, const char *part) {
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_recv(s.qp, wrs, n, &posted), status);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, index);
    CHECK_HAS(test_error().message, part);
}

static void receives(void) {
    static const struct srd_setup setup = {.recv_wr = 8, .size = 1 << 20};
    open_self(&setup);
    vbn_recv_wr good = {.wr_id = 1, .num_sge = 1, .sge = piece(TARGET, 64)}, wrs[3] = {good, good, good};
    wrs[1].num_sge = 0; /* libefa would take a place and never give it back */
    recv_refused(wrs, 3, VBN_ERR_ARGUMENT, 1, "num_sge is 0");
    wrs[1] = good;
    wrs[2].sge.length = 65536; /* libefa would take it for 65535, before 57 for 0 */
    recv_refused(wrs, 3, VBN_ERR_LIMIT, 2, "length of a receive segment");
    CHECK_UEQ(test_error().value, 65536);
    CHECK_UEQ(test_error().limit, 65535);
    wrs[2] = good;
    wrs[0].num_sge = 2;
    recv_refused(wrs, 3, VBN_ERR_LIMIT, 0, "max_recv_sge");
    wrs[0] = good;
    wrs[1].flags = 1;
    recv_refused(wrs, 3, VBN_ERR_ARGUMENT, 1, "flags");
    /* The longest that is allowed. */
    uint32_t posted = 99;
    good.sge.length = 65535;
    CHECK_OK(vbn_qp_post_recv(s.qp, &good, 1, &posted));
    vbn_wc wcs[2];
    vbn_send_wr wr = request(VBN_WR_SEND, 0, 64);
    srd_post(&s, &wr);
    check_both(wcs);
    CHECK_UEQ(wcs[1].byte_len, 64);
    close_self();
}

static const struct test tests[] = {
    {"send", send},
    {"send_nothing", send_nothing},
    {"send_imm", send_imm},
    {"write", write_plain},
    {"write_imm", write_imm},
    {"write_imm_unsolicited", write_imm_unsolicited},
    {"unsolicited_and_send", unsolicited_and_send},
    {"unsolicited_mismatch", unsolicited_mismatch},
    {"read", read_plain},
    {"inline_at_limit", inline_at_limit},
    {"inline_of_two", inline_of_two},
    {"gather_and_scatter", gather_and_scatter},
    {"chunked_read", chunked_read},
    {"chunked_write", chunked_write},
    {"sender_gid", sender_gid},
    {"ud_send", ud_send},
    {"operations_restricted", operations_restricted},
    {"write_absent", write_absent},
    {"read_absent", read_absent},
    {"ud_rdma", ud_rdma},
    {"opcodes_unknown", opcodes_unknown},
    {"destinations", destinations},
    {"peer_closed", peer_closed},
    {"flags", flags},
    {"signaled_by_queue_pair", signaled_by_queue_pair},
    {"lengths", lengths},
    {"lengths_of_two", lengths_of_two},
    {"segments", segments},
    {"inline_refused", inline_refused},
    {"service_level", service_level},
    {"bursts", bursts},
    {"inline_write", inline_write},
    {"states", states},
    {"receives", receives},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("srd_post", tests, argc, argv);
}
