/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vbn_rdma_split on RC: transfers in requests of the device's limit, through arrays and queues that are too small for them. */
#include <string.h>

#include "common.h"

enum { MOST = 300 };

static struct pair p;

static void open_pair(uint64_t size, uint32_t send_wr) {
    struct setup setup = {.size = size, .send_wr = send_wr, .cqe = 1024};
    memset(&p, 0, sizeof p);
    pair_open_connected(&p, &setup);
}

static vbn_split_attr transfer(uint32_t opcode, uint64_t offset, uint64_t length, uint64_t chunk) {
    vbn_split_attr attr = {
        .struct_size = sizeof attr,
        .wr_id = 5000,
        .flags = VBN_SEND_SIGNALED,
        .mr = p.a.mr,
        .offset = offset,
        .length = length,
        .remote_addr = vbn_mr_remote_addr(p.b.mr),
        .remote_length = p.b.size,
        .remote_offset = offset,
        .chunk = chunk,
        .opcode = opcode,
        .rkey = vbn_mr_rkey(p.b.mr),
    };
    return attr;
}

/* Posts all of it as a program would, by way of an array of `capacity`, and counts how often the queue was full. */
static unsigned run(const vbn_split_attr *attr, uint64_t requests, uint32_t capacity) {
    unsigned full = 0;
    uint64_t next = 0, total = 1, completed = 0;
    while (completed < total) {
        vbn_send_wr wrs[MOST];
        uint32_t n = 0, posted = 0;
        CHECK_OK(vbn_rdma_split(p.a.qp, attr, next, wrs, capacity, &n, &total));
        CHECK_UEQ(total, requests);
        CHECK_UEQ(n, total - next < capacity ? total - next : capacity);
        vbn_status status = n ? vbn_qp_post_send(p.a.qp, wrs, n, &posted) : VBN_OK;
        next += posted;
        if (status == VBN_ERR_QUEUE_FULL) full++;
        else CHECK_OK(status);
        if (status == VBN_OK && next < total) continue;
        vbn_wc wc = next_wc(&p.a);
        CHECK_EQ(wc.status, VBN_WC_SUCCESS);
        CHECK_UEQ(wc.wr_id, attr->wr_id + completed);
        completed++;
    }
    check_no_wc(&p.a);
    return full;
}

static uint64_t port_limit(void) {
    vbn_port_attr port = {.struct_size = sizeof port};
    CHECK_OK(vbn_context_query_port(p.a.context, 1, &port));
    return port.max_msg_sz;
}

/* Two and a half times the device's limit, from an odd place. */
static void device_limit(void) {
    open_pair(1 << 20, 0);
    uint64_t limit = port_limit();
    pair_close(&p);
    if (limit > 64 << 20) SKIP("the port takes messages of %llu bytes, more than this test has memory for", (unsigned long long)limit);
    open_pair(3 * limit, 0);
    uint64_t length = 2 * limit + limit / 2 + 1, offset = 13;
    fill(p.a.memory, p.a.size, 1);
    vbn_split_attr attr = transfer(VBN_WR_RDMA_WRITE, offset, length, 0);
    run(&attr, 3, 2);
    CHECK_MEM(p.b.memory + offset, p.a.memory + offset, length);
    for (uint64_t i = 0; i < offset; i++) CHECK_EQ(p.b.memory[i], 0);
    CHECK_EQ(p.b.memory[offset + length], 0);

    memset(p.a.memory, 0, p.a.size);
    attr = transfer(VBN_WR_RDMA_READ, offset, length, 0);
    run(&attr, 3, 2);
    CHECK_MEM(p.a.memory + offset, p.b.memory + offset, length);

    attr.chunk = limit + 1;
    vbn_send_wr wr;
    uint32_t n;
    uint64_t total;
    CHECK_STATUS(vbn_rdma_split(p.a.qp, &attr, 0, &wr, 1, &n, &total), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().limit, limit);
    pair_close(&p);
}

/* An array of few requests, and then a queue of fewer than the array: the transfer goes on after both. */
static void small_queue(void) {
    open_pair(1 << 20, 4);
    fill(p.a.memory, p.a.size, 2);
    vbn_split_attr attr = transfer(VBN_WR_RDMA_WRITE, 0, p.a.size, 4001);
    uint64_t requests = (p.a.size + 4000) / 4001;
    run(&attr, requests, 7);
    CHECK_MEM(p.b.memory, p.a.memory, p.a.size);
    memset(p.b.memory, 0, p.b.size);
    CHECK(qp_info(p.a.qp).max_send_wr < requests && requests < MOST);
    CHECK(run(&attr, requests, MOST) > 0);
    CHECK_MEM(p.b.memory, p.a.memory, p.a.size);
    pair_close(&p);
}

/* The last request alone has the immediate value, and its arrival means that all is there. */
static void immediate(void) {
    open_pair(1 << 18, 0);
    fill(p.a.memory, p.a.size, 3);
    post_recv(&p.b, 77, 0, 0);
    vbn_split_attr attr = transfer(VBN_WR_RDMA_WRITE_WITH_IMM, 0, p.a.size, 65536);
    attr.imm = 0xc0ffee;
    attr.flags = 0;
    attr.last_flags = VBN_SEND_SIGNALED;
    vbn_send_wr wrs[4];
    uint32_t n, posted;
    uint64_t total;
    CHECK_OK(vbn_rdma_split(p.a.qp, &attr, 0, wrs, 4, &n, &total));
    CHECK_UEQ(total, 4);
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, n, &posted));
    vbn_wc wc = next_ok(&p.b, 77);
    CHECK_EQ(wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wc.imm, 0xc0ffee);
    CHECK_MEM(p.b.memory, p.a.memory, p.a.size);
    next_ok(&p.a, attr.wr_id + 3);
    check_no_wc(&p.a);
    check_no_wc(&p.b);
    pair_close(&p);
}

/* One request again, as after its failure, and memory given by address and key. */
static void one_again(void) {
    open_pair(1 << 16, 0);
    fill(p.a.memory, p.a.size, 4);
    vbn_split_attr attr = transfer(VBN_WR_RDMA_WRITE, 0, p.a.size, 1000);
    attr.mr = NULL;
    attr.local_addr = vbn_mr_remote_addr(p.a.mr);
    attr.local_length = p.a.size;
    attr.lkey = vbn_mr_lkey(p.a.mr);
    vbn_send_wr wr;
    uint32_t n;
    uint64_t total;
    CHECK_OK(vbn_rdma_split(p.a.qp, &attr, 33, &wr, 1, &n, &total));
    CHECK_UEQ(wr.wr_id, 5033);
    run_send(&p.a, &wr);
    CHECK_MEM(p.b.memory + 33000, p.a.memory + 33000, 1000);
    CHECK_EQ(p.b.memory[32999], 0);
    CHECK_EQ(p.b.memory[34000], 0);
    pair_close(&p);
}

static const struct test tests[] = {
    {"device_limit", device_limit},
    {"small_queue", small_queue},
    {"immediate", immediate},
    {"one_again", one_again},
    {NULL, NULL},
};

int main(int argc, char **argv) { return test_main("rc_split", tests, argc, argv); }
