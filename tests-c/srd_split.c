/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * vbn_rdma_split on SRD, from a queue pair to itself: 5 GiB in requests of exactly the device's limit, and transfers whose
 * requests the device carries out in any order (on softnic, another one with each --seed).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "srd.h"

enum { MOST = 512 };

#define GIB (UINT64_C(1) << 30)

/* A queue pair that is its own peer, made by open_self. */
static struct {
    vbn_context *context;
    vbn_pd *pd;
    vbn_cq *cq;
    vbn_qp *qp;
    vbn_peer *self;
    uint64_t max_rdma;
    uint32_t opcode; /* WRITE where libefa and device have it, else READ */
} s;

static void close_self(void);

static void open_any(uint32_t send_wr) {
    memset(&s, 0, sizeof s);
    need_efa(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &s.context));
    vbn_efa_device_info efa = {.struct_size = sizeof efa};
    CHECK_OK(vbn_efa_query_device(s.context, &efa));
    s.max_rdma = efa.max_rdma_size;
    CHECK_OK(vbn_pd_alloc(s.context, NULL, &s.pd));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 1024};
    CHECK_OK(vbn_cq_create(s.context, &cq, &s.cq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .qp_type = VBN_QPT_SRD, .send_cq = s.cq, .max_send_wr = send_wr};
    CHECK_OK(vbn_qp_create(s.pd, &qp, &s.qp));
    s.opcode = qp_info(s.qp).send_ops & VBN_QP_OP_RDMA_WRITE ? VBN_WR_RDMA_WRITE : VBN_WR_RDMA_READ;
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = vbn_qkey_random()};
    CHECK_OK(vbn_qp_prepare(s.qp, &prepare));
    vbn_endpoint endpoint;
    CHECK_OK(vbn_endpoint_local(s.qp, &endpoint));
    CHECK_OK(vbn_peer_from_endpoint(s.pd, &endpoint, NULL, &s.self));
}

static int sends_alone(void) {
    return !(qp_info(s.qp).send_ops & (VBN_QP_OP_RDMA_READ | VBN_QP_OP_RDMA_WRITE));
}

/* Skips on a device without RDMA, of which softnic's p3dn is the only profile. */
static void open_self(uint32_t send_wr) {
    open_any(send_wr);
    if (!sends_alone()) return;
    const char *profile = getenv("VBN_TEST_PROFILE");
    if (profile && *profile && strcmp(profile, "p3dn") != 0) FAIL("profile %s has neither read nor write", profile);
    close_self();
    SKIP("needs RDMA READ, which the device lacks");
}

static void close_self(void) {
    CHECK_OK(vbn_peer_close(&s.self));
    CHECK_OK(vbn_qp_close(&s.qp));
    CHECK_OK(vbn_cq_close(&s.cq));
    CHECK_OK(vbn_pd_close(&s.pd));
    CHECK_OK(vbn_context_close(&s.context));
}

/* Memory that takes pages only where it is touched; huge ones where there are, as gigabytes of small ones take long to fault in. */
static uint8_t *sparse(uint64_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

static vbn_mr *region(void *memory, uint64_t size) {
    vbn_mr *mr = NULL;
    uint64_t access = VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ | (s.opcode == VBN_WR_RDMA_WRITE ? VBN_ACCESS_REMOTE_WRITE : 0);
    CHECK_OK(vbn_mr_reg(s.pd, memory, size, access, NULL, &mr));
    return mr;
}

/* From one region to another: by a write, or by a read the other way round. */
static vbn_split_attr transfer(vbn_mr *from, uint64_t from_offset, vbn_mr *to, uint64_t to_offset, uint64_t length, uint64_t chunk) {
    int writes = s.opcode == VBN_WR_RDMA_WRITE;
    vbn_mr *remote = writes ? to : from;
    vbn_split_attr attr = {
        .struct_size = sizeof attr,
        .wr_id = UINT64_C(0xfffffffffffff000) - MOST, /* 64 bits, near their end */
        .flags = VBN_SEND_SIGNALED,
        .mr = writes ? from : to,
        .offset = writes ? from_offset : to_offset,
        .length = length,
        .remote_addr = vbn_mr_remote_addr(remote),
        .remote_length = mr_info(remote).length,
        .remote_offset = writes ? to_offset : from_offset,
        .chunk = chunk,
        .peer = s.self,
        .opcode = s.opcode,
        .rkey = vbn_mr_rkey(remote),
    };
    return attr;
}

/* Polls one completion, which must have succeeded; its number in the transfer. */
static uint64_t reap(const vbn_split_attr *attr) {
    vbn_wc wc;
    uint32_t got = 0;
    CHECK_OK(vbn_cq_wait(s.cq, 1, &wc, 0, PATIENCE, &got));
    if (wc.status != VBN_WC_SUCCESS) FAIL("request %llu: %s", (unsigned long long)(wc.wr_id - attr->wr_id), vbn_wc_status_name(wc.status));
    return wc.wr_id - attr->wr_id;
}

/* Runs a transfer by way of an array of `capacity`; tells how many requests completed out of turn, and how often the queue was full. */
static void run(const vbn_split_attr *attr, uint64_t requests, uint32_t capacity, unsigned *out_of_turn, unsigned *full) {
    static uint8_t done[MOST];
    uint64_t next = 0, total = 1, completed = 0;
    *out_of_turn = *full = 0;
    memset(done, 0, sizeof done);
    while (completed < total) {
        static vbn_send_wr wrs[MOST];
        uint32_t n = 0, posted = 0;
        CHECK_OK(vbn_rdma_split(s.qp, attr, next, wrs, capacity, &n, &total));
        CHECK_UEQ(total, requests);
        vbn_status status = n ? vbn_qp_post_send(s.qp, wrs, n, &posted) : VBN_OK;
        next += posted;
        if (status == VBN_ERR_QUEUE_FULL) ++*full;
        else CHECK_OK(status);
        if (status == VBN_OK && next < total) continue;
        uint64_t index = reap(attr);
        CHECK(index < next && !done[index]);
        done[index] = 1;
        if (index != completed) ++*out_of_turn;
        completed++;
    }
}

/* A byte that depends on its place. */
static uint8_t mark(uint64_t at) { return (uint8_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 56 | 1); }

static int is_zero(const uint8_t *bytes, uint64_t length) {
    return length == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0);
}

/*
 * 5 GiB and a byte, between addresses that are not aligned alike: six requests whose boundaries are exact. The source is
 * zero but for marks around each boundary and half-way between, so it takes few pages; the target is looked at and given up request by request.
 */
static void five_gib(void) {
    const uint64_t length = 5 * GIB + 1, from_offset = 4096 + 7, to_offset = 3;
    open_self(4);
    uint64_t limit = s.max_rdma, requests = (length + limit - 1) / limit;
    test_note("max_rdma_size %llu, %s", (unsigned long long)limit, vbn_wr_opcode_name((int32_t)s.opcode));
    if (requests > MOST) SKIP("%llu requests are more than this test has room for", (unsigned long long)requests);
    uint8_t *from = sparse(length + 8192), *to = sparse(length + 8192);
    vbn_mr *from_mr = region(from, length + 8192), *to_mr = region(to, length + 8192);
    for (uint64_t k = 0; k <= requests; k++)
        for (int64_t d = -3; d < 3; d++) {
            uint64_t at = (k < requests ? k * limit : length) + (uint64_t)d;
            if (at < length) from[from_offset + at] = mark(at);
        }
    for (uint64_t k = 0; k + 1 < requests; k++) from[from_offset + k * limit + limit / 2] = mark(k);
    /* What lies around the range must not arrive. */
    from[from_offset - 1] = from[from_offset + length] = 0xee;
    vbn_split_attr attr = transfer(from_mr, from_offset, to_mr, to_offset, length, 0);
    for (uint64_t i = 0; i < requests; i++) {
        vbn_send_wr wr;
        uint32_t n = 0, posted = 0;
        uint64_t total = 0, begin = i * limit, size = length - begin < limit ? length - begin : limit;
        CHECK_OK(vbn_rdma_split(s.qp, &attr, i, &wr, 1, &n, &total));
        CHECK_UEQ(n, 1);
        CHECK_UEQ(total, requests);
        CHECK_UEQ(wr.wr_id, attr.wr_id + i);
        CHECK_UEQ(wr.sge.length, size);
        CHECK_UEQ(wr.sge.addr, vbn_mr_remote_addr((vbn_mr *)(uintptr_t)attr.mr) + attr.offset + begin);
        CHECK_UEQ(wr.remote_addr, attr.remote_addr + attr.remote_offset + begin);
        CHECK_OK(vbn_qp_post_send(s.qp, &wr, 1, &posted));
        CHECK_UEQ(reap(&attr), i);
        const uint8_t *here = to + to_offset + begin;
        uint64_t edge = size < 3 ? size : 3;
        for (uint64_t d = 0; d < edge; d++) {
            CHECK_EQ(here[d], mark(begin + d));
            CHECK_EQ(here[size - 1 - d], mark(begin + size - 1 - d));
        }
        if (i + 1 < requests) {
            CHECK_EQ(here[limit / 2], mark(i));
            CHECK(is_zero(here + 3, limit / 2 - 3) && is_zero(here + limit / 2 + 1, size - limit / 2 - 4));
        }
        /* Neither before nor behind. The pages of the request before have been given up, so they are zero but for the last. */
        CHECK_EQ(here[size], 0);
        if (i == 0) CHECK(is_zero(to, to_offset));
        CHECK_EQ(madvise(to, (to_offset + begin + size) & ~UINT64_C(4095), MADV_DONTNEED), 0);
    }
    CHECK_OK(vbn_mr_close(&from_mr));
    CHECK_OK(vbn_mr_close(&to_mr));
    munmap(from, length + 8192);
    munmap(to, length + 8192);
    close_self();
}

/* 300 requests at once, through a queue of 64 and arrays of several sizes, in whatever order: every byte arrives once, and nothing around it. */
static void shuffled(void) {
    static const uint32_t capacities[] = {1, 7, 64, MOST};
    const uint64_t chunk = 4093, length = 300 * chunk - 11, room = length + 64;
    unsigned turns = 0;
    open_self(64);
    uint8_t *from = sparse(room), *to = sparse(room);
    vbn_mr *from_mr = region(from, room), *to_mr = region(to, room);
    for (unsigned i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
        unsigned out_of_turn, full;
        fill(from, room, i + 1);
        memset(to, 0, room);
        vbn_split_attr attr = transfer(from_mr, 5, to_mr, 32, length, chunk);
        run(&attr, 300, capacities[i], &out_of_turn, &full);
        CHECK_MEM(to + 32, from + 5, length);
        CHECK(is_zero(to, 32) && is_zero(to + 32 + length, room - 32 - length));
        /* The queue holds a power of two that is at least what was asked for, and 300 are more. */
        CHECK(full > 0);
        turns += out_of_turn;
    }
    test_note("%u of 1200 completed out of turn", turns);
    if (!getenv("VBN_TEST_IN_ORDER")) CHECK(turns > 0);
    CHECK_OK(vbn_mr_close(&from_mr));
    CHECK_OK(vbn_mr_close(&to_mr));
    munmap(from, room);
    munmap(to, room);
    close_self();
}

/* An immediate value with the last of several requests would say nothing of the others. */
static void immediate(void) {
    open_self(64);
    if (s.opcode != VBN_WR_RDMA_WRITE) SKIP("needs RDMA write: libefa or %s has none", test_device());
    static uint8_t memory[8192];
    vbn_mr *mr = region(memory, sizeof memory);
    vbn_split_attr attr = transfer(mr, 0, mr, 4096, 4096, 1000);
    vbn_send_wr wrs[8];
    uint32_t n = 9;
    uint64_t total = 9;
    attr.opcode = VBN_WR_RDMA_WRITE_WITH_IMM;
    CHECK_STATUS(vbn_rdma_split(s.qp, &attr, 0, wrs, 8, &n, &total), VBN_ERR_NOT_SUPPORTED);
    CHECK_UEQ(n, 0);
    CHECK_UEQ(test_error().value, 5);
    CHECK_HAS(test_error().message, "no order");
    attr.length = 1000;
    attr.imm = 5;
    CHECK_OK(vbn_rdma_split(s.qp, &attr, 0, wrs, 8, &n, &total));
    CHECK_UEQ(n, 1);
    CHECK_UEQ(wrs[0].imm, 5);
    CHECK_OK(vbn_mr_close(&mr));
    close_self();
}

/* The limit is the device's, and the operations are what it has. */
static void limits(void) {
    open_self(64);
    static uint8_t memory[4096];
    vbn_mr *mr = region(memory, sizeof memory);
    vbn_split_attr attr = transfer(mr, 0, mr, 2048, 2048, s.max_rdma + 1);
    uint32_t n;
    uint64_t total;
    CHECK_STATUS(vbn_rdma_split(s.qp, &attr, 0, NULL, 0, &n, &total), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().limit, s.max_rdma);
    attr.chunk = s.max_rdma;
    CHECK_OK(vbn_rdma_split(s.qp, &attr, 0, NULL, 0, &n, &total));
    CHECK_UEQ(total, 1);
    /* A chunk of the caller's own: the last request is the short one. */
    static uint8_t large[250000];
    vbn_mr *large_mr = region(large, sizeof large);
    vbn_split_attr cut = transfer(large_mr, 0, large_mr, 0, sizeof large, 100000);
    vbn_send_wr wrs[4];
    CHECK_OK(vbn_rdma_split(s.qp, &cut, 0, wrs, 4, &n, &total));
    CHECK_UEQ(n, 3);
    CHECK_UEQ(total, 3);
    for (uint32_t i = 0; i < n; i++) {
        CHECK_UEQ(wrs[i].sge.length, i < 2 ? 100000 : 50000);
        CHECK_UEQ(wrs[i].sge.addr - wrs[0].sge.addr, 100000 * i);
        CHECK_UEQ(wrs[i].remote_addr - wrs[0].remote_addr, 100000 * i);
        CHECK_UEQ(wrs[i].wr_id - wrs[0].wr_id, i);
        CHECK(wrs[i].flags & VBN_SEND_SIGNALED);
    }
    CHECK_OK(vbn_mr_close(&large_mr));
    if (s.opcode == VBN_WR_RDMA_READ) {
        attr.opcode = VBN_WR_RDMA_WRITE;
        CHECK_STATUS(vbn_rdma_split(s.qp, &attr, 0, NULL, 0, &n, &total), VBN_ERR_NOT_SUPPORTED);
        vbn_library_info library = {.struct_size = sizeof library};
        CHECK_OK(vbn_library_query(VBN_LIBRARY_EFA, &library));
        CHECK_HAS(test_error().message, library.release_min < 50 ? "rdma-core 46" : "vbn_context_caps");
    }
    CHECK_OK(vbn_mr_close(&mr));
    close_self();
}

/* A device that only sends: nothing is cut, and nothing made of it. */
static void refused_without_rdma(void) {
    static const uint32_t opcodes[] = {VBN_WR_RDMA_WRITE, VBN_WR_RDMA_READ, VBN_WR_RDMA_WRITE_WITH_IMM};
    static uint8_t memory[4096];
    open_any(16);
    if (!sends_alone()) {
        close_self();
        SKIP("the device has RDMA");
    }
    CHECK_UEQ(s.max_rdma, 0);
    vbn_mr *mr = NULL;
    CHECK_OK(vbn_mr_reg(s.pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    for (unsigned i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        vbn_split_attr attr = transfer(mr, 0, mr, 2048, 2048, 0);
        vbn_send_wr wr = {.wr_id = 77};
        uint32_t n = 9;
        uint64_t total = 9;
        attr.opcode = opcodes[i];
        CHECK_STATUS(vbn_rdma_split(s.qp, &attr, 0, &wr, 1, &n, &total), VBN_ERR_NOT_SUPPORTED);
        CHECK_UEQ(test_error().value, opcodes[i]);
        CHECK_UEQ(n, 0);
        CHECK_UEQ(wr.wr_id, 77);
    }
    CHECK_OK(vbn_mr_close(&mr));
    close_self();
}

static const struct test tests[] = {
    {"five_gib", five_gib},
    {"shuffled", shuffled},
    {"immediate", immediate},
    {"limits", limits},
    {"refused_without_rdma", refused_without_rdma},
    {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("srd_split", tests, argc, argv); }
