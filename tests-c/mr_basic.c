/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory regions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common.h"

static struct pair p;
static vbn_context *context;
static vbn_pd *pd;
static uint8_t memory[3 * 4096];

static void open_pd(void) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
}

static void close_pd(void) {
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
}

static void fields(void) {
    open_pd();
    vbn_mr *mr = NULL;
    int owner;
    vbn_mr_attr attr = {.struct_size = sizeof attr, .owner = &owner, .user_data = 99};
    CHECK_OK(vbn_mr_reg(pd, memory + 5, 5000, ACCESS_ALL, &attr, &mr));
    vbn_mr_info info = mr_info(mr);
    CHECK(info.owner == &owner);
    CHECK(info.memory == memory + 5);
    CHECK_UEQ(info.user_data, 99);
    CHECK_UEQ(info.addr, (uintptr_t)(memory + 5));
    CHECK_UEQ(info.remote_addr, (uintptr_t)(memory + 5));
    CHECK_UEQ(info.length, 5000);
    CHECK_UEQ(info.access, ACCESS_ALL);
    CHECK_EQ(info.kind, VBN_MR_HOST);
    CHECK_UEQ(vbn_mr_lkey(mr), info.lkey);
    CHECK_UEQ(vbn_mr_rkey(mr), info.rkey);
    CHECK_UEQ(vbn_mr_remote_addr(mr), info.remote_addr);
    CHECK(info.lkey != 0);
    CHECK_OK(vbn_mr_close(&mr));
    CHECK(mr == NULL);
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_UEQ(vbn_mr_lkey(mr), 0);
    CHECK_UEQ(vbn_mr_rkey(mr), 0);
    close_pd();
}

static void local_only(void) {
    open_pd();
    vbn_mr *mr = NULL;
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    CHECK(vbn_mr_lkey(mr) != 0);
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, 0, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
    close_pd();
}

static void not_mapped(void) {
    open_pd();
    uint8_t *hole = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(hole != MAP_FAILED);
    CHECK_EQ(munmap(hole, 8192), 0);
    vbn_mr *mr = (vbn_mr *)memory;
    CHECK_STATUS(vbn_mr_reg(pd, hole, 8192, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    CHECK(mr == NULL);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    vbn_error_info error = test_error();
    test_note("%s", error.message);
    CHECK_HAS(error.message, "map");
    static char text[VBN_EXPLAIN_TEXT_SIZE];
    CHECK_OK(vbn_explain_error(&error, NULL, text, sizeof text, NULL));
    CHECK_UEQ(strncmp(text, error.message, strlen(error.message)), 0);
    CHECK_HAS(text, "/proc/self/maps");
    close_pd();
}

static void read_only_memory(void) {
    open_pd();
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    vbn_mr *mr = NULL;
    CHECK_STATUS(vbn_mr_reg(pd, page, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    CHECK_OK(vbn_mr_reg(pd, page, 4096, VBN_ACCESS_REMOTE_READ, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
    munmap(page, 4096);
    close_pd();
}

static void refused(void) {
    open_pd();
    vbn_mr *mr = NULL;
    CHECK_STATUS(vbn_mr_reg(pd, memory, 0, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_mr_reg(pd, memory, 4096, VBN_ACCESS_REMOTE_WRITE, NULL, &mr), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "LOCAL_WRITE");
    CHECK_STATUS(vbn_mr_reg(pd, memory, 4096, VBN_ACCESS_REMOTE_ATOMIC, NULL, &mr), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_mr_reg(pd, memory, 4096, UINT64_C(1) << 40, NULL, &mr), VBN_ERR_ARGUMENT);
    vbn_device_attr device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_query_device(context, &device));
    vbn_status status = vbn_mr_reg(pd, memory, UINT64_MAX - 8192, VBN_ACCESS_LOCAL_WRITE, NULL, &mr);
    test_note("%s", test_last_error());
    CHECK(status == VBN_ERR_LIMIT || status == VBN_ERR_ARGUMENT);
    CHECK(mr == NULL);
    close_pd();
}

static void optional_flag(void) {
    open_pd();
    vbn_mr *mr = NULL;
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, ACCESS_ALL | VBN_ACCESS_RELAXED_ORDERING, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
    close_pd();
}

/* A side's region again, at another iova. */
static void register_at(struct side *side, uint64_t iova, uint64_t access) {
    CHECK_OK(vbn_mr_close(&side->mr));
    vbn_mr_attr attr = {.struct_size = sizeof attr, .set = VBN_MR_SET_IOVA, .iova = iova};
    CHECK_OK(vbn_mr_reg(side->pd, side->memory, side->size, access, &attr, &side->mr));
    vbn_mr_info info = mr_info(side->mr);
    CHECK_UEQ(info.addr, iova);
    CHECK_UEQ(info.remote_addr, iova);
    CHECK(info.memory == side->memory);
}

static void traffic(void) {
    fill(p.a.memory, 10000, 3);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 100, 9000);
    run_send(&p.a, &wr);
    CHECK_MEM(p.b.memory + 100, p.a.memory + 100, 9000);
    fill(p.b.memory + 20000, 5000, 4);
    wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 2, 20000, 5000);
    run_send(&p.a, &wr);
    CHECK_MEM(p.a.memory + 20000, p.b.memory + 20000, 5000);
}

static void iova(void) {
    pair_open_connected(&p, NULL);
    register_at(&p.a, UINT64_C(0x123456789000), ACCESS_ALL);
    register_at(&p.b, 0, ACCESS_ALL);
    traffic();
    pair_close(&p);
}

static void zero_based(void) {
    pair_open_connected(&p, NULL);
    CHECK_OK(vbn_mr_close(&p.b.mr));
    vbn_status status = vbn_mr_reg(p.b.pd, p.b.memory, p.b.size, ACCESS_ALL | VBN_ACCESS_ZERO_BASED, NULL, &p.b.mr);
    if (status == VBN_ERR_NOT_SUPPORTED) SKIP("%s", test_last_error());
    CHECK_OK(status);
    CHECK_UEQ(vbn_mr_remote_addr(p.b.mr), 0);
    traffic();
    pair_close(&p);
}

static void wrong_iova(void) {
    open_pd();
    vbn_mr *mr = NULL;
    vbn_mr_attr attr = {.struct_size = sizeof attr, .set = VBN_MR_SET_IOVA, .iova = (uintptr_t)memory + 1};
    CHECK_STATUS(vbn_mr_reg(pd, memory, 4096, VBN_ACCESS_LOCAL_WRITE, &attr, &mr), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "iova");
    close_pd();
}

/* The segments of a range follow each other without gap and cover it. */
static void check_segments(vbn_mr *mr, uint64_t offset, uint64_t length, uint32_t max, uint32_t expected) {
    vbn_sge sges[64];
    uint32_t count = 99;
    uint64_t covered = 99, at = vbn_mr_remote_addr(mr) + offset;
    CHECK_OK(vbn_mr_segments(mr, offset, length, max, sges, 64, &count, &covered));
    CHECK_UEQ(count, expected);
    CHECK_UEQ(covered, length);
    for (uint32_t i = 0; i < count; i++) {
        CHECK_UEQ(sges[i].addr, at);
        CHECK_UEQ(sges[i].lkey, vbn_mr_lkey(mr));
        CHECK(sges[i].length <= max);
        at += sges[i].length;
    }
    CHECK_UEQ(at, vbn_mr_remote_addr(mr) + offset + length);
}

static void segments(void) {
    open_pd();
    vbn_mr *mr = NULL;
    vbn_sge sges[4];
    uint32_t count = 99;
    uint64_t covered = 99;
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    check_segments(mr, 0, sizeof memory, 4096, 3);
    check_segments(mr, 1, 10000, 4096, 3);
    check_segments(mr, 8192, 4096, 4096, 1);
    check_segments(mr, 12287, 1, 100, 1);
    check_segments(mr, 7, 100, 1 << 30, 1);
    CHECK_OK(vbn_mr_segments(mr, 0, 12288, 1000, sges, 4, &count, &covered));
    CHECK_UEQ(count, 4);
    CHECK_UEQ(covered, 4000);
    static const struct { uint64_t offset, length; } wrong[] = {{0, 12289}, {12288, 1}, {UINT64_MAX, 2}, {1, UINT64_MAX}, {0, 0}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        count = 99;
        covered = 99;
        CHECK_STATUS(vbn_mr_segments(mr, wrong[i].offset, wrong[i].length, 0, sges, 4, &count, &covered), VBN_ERR_ARGUMENT);
        CHECK_UEQ(count, 0);
        CHECK_UEQ(covered, 0);
    }
    CHECK_STATUS(vbn_mr_segments(mr, 0, 1, 0, sges, 0, &count, &covered), VBN_ERR_ARGUMENT);
    CHECK_OK(vbn_mr_close(&mr));
    close_pd();
}

/* A region of more than 4 GiB: of a sparse file whose one page is mapped again and again, since pinning takes real memory. */
static void more_than_4_gib(void) {
    const uint64_t length = (UINT64_C(4) << 30) + (64 << 20), piece = 16 << 20;
    open_pd();
    int fd = memfd_create("piece", MFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(ftruncate(fd, (off_t)piece), 0);
    uint8_t *base = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) SKIP("no room for %llu bytes of addresses", (unsigned long long)length);
    for (uint64_t at = 0; at < length; at += piece)
        CHECK(mmap(base + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
    vbn_mr *mr = NULL;
    vbn_status status = vbn_mr_reg(pd, base, length, ACCESS_ALL, NULL, &mr);
    if (status != VBN_OK) SKIP("the region can't be registered here: %s", test_last_error());
    CHECK_UEQ(mr_info(mr).length, length);
    check_segments(mr, 0, length, 1 << 30, 5);
    check_segments(mr, length - 5, 5, 1 << 30, 1);
    vbn_sge sges[8];
    uint32_t count = 0;
    uint64_t covered = 0;
    CHECK_OK(vbn_mr_segments(mr, 0, length, 0, sges, 8, &count, &covered));
    CHECK_UEQ(count, 5);
    CHECK_UEQ(sges[0].length, 1 << 30);
    CHECK_UEQ(sges[4].length, 64 << 20);
    CHECK_OK(vbn_mr_close(&mr));
    munmap(base, length);
    close(fd);
    close_pd();
}

static void dmabuf_bad_fd(void) {
    open_pd();
    vbn_mr *mr = (vbn_mr *)memory;
    vbn_status status = vbn_mr_reg_dmabuf(pd, -1, 0, 4096, 0, VBN_ACCESS_LOCAL_WRITE, NULL, &mr);
    test_note("%s", test_last_error());
    CHECK(status == VBN_ERR_ARGUMENT || status == VBN_ERR_DRIVER);
    CHECK(mr == NULL);
    close_pd();
}

/* A descriptor that is no dma-buf, nor memory of any kind: soft-RoCE has none at all, others refuse this one. It stays the caller's. */
static void dmabuf(void) {
    open_pd();
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    vbn_mr *mr = NULL;
    vbn_status status = vbn_mr_reg_dmabuf(pd, fd, 0, 4096, 0, VBN_ACCESS_LOCAL_WRITE, NULL, &mr);
    test_note("%s", test_last_error());
    if (is_soft_roce(test_device())) {
        CHECK_STATUS(status, VBN_ERR_NOT_SUPPORTED);
        CHECK_HAS(test_error().message, "dma-buf");
    } else {
        CHECK(status != VBN_OK);
    }
    CHECK(mr == NULL);
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    close_pd();
}

/* A closed region's keys no longer open anything. */
static void closed_region(void) {
    vbn_rc_attr hasty = {.struct_size = sizeof hasty, .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT, .timeout = 12, .retry_cnt = 1};
    struct setup setup = {.rc = &hasty};
    pair_open_connected(&p, &setup);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 64);
    CHECK_OK(vbn_mr_close(&p.b.mr));
    fill(p.a.memory, 64, 5);
    post_send(&p.a, &wr);
    CHECK_EQ(next_wc(&p.a).status, VBN_WC_REM_ACCESS_ERR);
    for (int i = 0; i < 64; i++) CHECK_EQ(p.b.memory[i], 0);
    pair_close(&p);
}

/* Two regions over the same memory, each with its own keys. */
static void overlapping(void) {
    open_pd();
    vbn_mr *x = NULL, *y = NULL;
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, ACCESS_ALL, NULL, &x));
    CHECK_OK(vbn_mr_reg(pd, memory + 100, 100, VBN_ACCESS_LOCAL_WRITE, NULL, &y));
    CHECK(vbn_mr_lkey(x) != vbn_mr_lkey(y));
    CHECK_OK(vbn_mr_close(&x));
    CHECK_UEQ(mr_info(y).length, 100);
    CHECK_OK(vbn_mr_close(&y));
    close_pd();
}

static const struct test tests[] = {
    {"fields", fields},
    {"local_only", local_only},
    {"not_mapped", not_mapped},
    {"read_only_memory", read_only_memory},
    {"refused", refused},
    {"optional_flag", optional_flag},
    {"iova", iova},
    {"zero_based", zero_based},
    {"wrong_iova", wrong_iova},
    {"segments", segments},
    {"more_than_4_gib", more_than_4_gib},
    {"dmabuf_bad_fd", dmabuf_bad_fd},
    {"dmabuf", dmabuf},
    {"closed_region", closed_region},
    {"overlapping", overlapping},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("mr_basic", tests, argc, argv);
}
