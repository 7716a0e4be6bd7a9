/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every operation of an RC queue pair moves the right bytes and completes as it should. */
#include <string.h>

#include "common.h"

static struct pair p;

/* Bytes before and after the target stay as they were. */
static void check_only(const struct side *side, uint64_t offset, uint64_t length) {
    for (uint64_t i = 0; i < side->size; i++) {
        if ((i < offset || i >= offset + length) && side->memory[i] != 0)
            FAIL("byte %llu outside of %llu+%llu was written", (unsigned long long)i, (unsigned long long)offset, (unsigned long long)length);
    }
}

static void write_moves(uint64_t offset, uint32_t length) {
    fill(p.a.memory + offset, length, 7 + length);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 11, offset, length);
    post_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.a, 11);
    CHECK_EQ(wc.opcode, VBN_WC_RDMA_WRITE);
    CHECK_MEM(p.b.memory + offset, p.a.memory + offset, length);
    check_only(&p.b, offset, length);
    check_no_wc(&p.b);
}

static void write_any_length(void) {
    static const uint32_t lengths[] = {1, 2, 3, 4, 5, 255, 256, 257, 4095, 4096, 4097, 30000};
    pair_open_connected(&p, NULL);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(p.b.memory, 0, p.b.size);
        write_moves(4093 + i, lengths[i]);
    }
    pair_close(&p);
}

static void write_nothing(void) {
    pair_open_connected(&p, NULL);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 0);
    wr.num_sge = 0;
    fill(p.a.memory, 64, 1);
    run_send(&p.a, &wr);
    check_only(&p.b, 0, 0);
    pair_close(&p);
}

static void write_imm(void) {
    pair_open_connected(&p, NULL);
    post_recv(&p.b, 5, 0, 0);
    fill(p.a.memory + 100, 1000, 3);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE_WITH_IMM, 12, 100, 1000);
    wr.imm = 0xDEADBEEF;
    run_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.b, 5);
    CHECK_EQ(wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wc.imm, 0xDEADBEEF);
    CHECK(wc.wc_flags & VBN_WC_WITH_IMM);
    CHECK_UEQ(wc.byte_len, 1000);
    CHECK_MEM(p.b.memory + 100, p.a.memory + 100, 1000);
    pair_close(&p);
}

/* A receive without any segment is enough for a write with immediate. */
static void write_imm_into_empty_recv(void) {
    pair_open_connected(&p, NULL);
    vbn_recv_wr recv = {.wr_id = 6, .num_sge = 0};
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_recv(p.b.qp, &recv, 1, &posted));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE_WITH_IMM, 12, 0, 10);
    wr.imm = 1;
    run_send(&p.a, &wr);
    CHECK_UEQ(next_ok(&p.b, 6).imm, 1);
    pair_close(&p);
}

static void read_moves(void) {
    pair_open_connected(&p, NULL);
    fill(p.b.memory + 33, 9000, 4);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 13, 33, 9000);
    post_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.a, 13);
    CHECK_EQ(wc.opcode, VBN_WC_RDMA_READ);
    CHECK_MEM(p.a.memory + 33, p.b.memory + 33, 9000);
    check_only(&p.a, 33, 9000);
    check_no_wc(&p.b);
    pair_close(&p);
}

static void send_moves(uint32_t length) {
    memset(p.b.memory, 0, p.b.size);
    post_recv(&p.b, 21, 5000, length + 10);
    fill(p.a.memory, length, length);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 14, 0, length);
    post_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.b, 21);
    CHECK_EQ(wc.opcode, VBN_WC_RECV);
    CHECK_UEQ(wc.byte_len, length);
    CHECK(!(wc.wc_flags & VBN_WC_WITH_IMM));
    CHECK_EQ(next_ok(&p.a, 14).opcode, VBN_WC_SEND);
    CHECK_MEM(p.b.memory + 5000, p.a.memory, length);
    check_only(&p.b, 5000, length);
}

static void send_any_length(void) {
    pair_open_connected(&p, NULL);
    send_moves(1);
    send_moves(63);
    send_moves(4097);
    send_moves(20000);
    pair_close(&p);
}

static void send_imm(void) {
    pair_open_connected(&p, NULL);
    post_recv(&p.b, 22, 0, 100);
    fill(p.a.memory, 50, 8);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_IMM, 15, 0, 50);
    wr.imm = 0x01020304;
    run_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.b, 22);
    CHECK_EQ(wc.opcode, VBN_WC_RECV);
    CHECK_UEQ(wc.imm, 0x01020304);
    CHECK(wc.wc_flags & VBN_WC_WITH_IMM);
    CHECK_UEQ(wc.byte_len, 50);
    CHECK_MEM(p.b.memory, p.a.memory, 50);
    pair_close(&p);
}

/* Three segments of unequal length, in memory in another order than in the message. */
static void three_segments(const struct side *side, vbn_sge list[3]) {
    list[0] = sge_at(side, 9000, 7);
    list[1] = sge_at(side, 100, 5001);
    list[2] = sge_at(side, 20000, 130);
}

static void gather(uint8_t *message, const struct side *side) {
    memcpy(message, side->memory + 9000, 7);
    memcpy(message + 7, side->memory + 100, 5001);
    memcpy(message + 5008, side->memory + 20000, 130);
}

#define MESSAGE 5138

static const struct setup three = {.send_sge = 3, .recv_sge = 3};

static void segments_write(void) {
    static uint8_t message[MESSAGE];
    vbn_sge list[3];
    pair_open_connected(&p, &three);
    fill(p.a.memory, p.a.size, 5);
    three_segments(&p.a, list);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 40, 0);
    wr.sg_list = list;
    wr.num_sge = 3;
    run_send(&p.a, &wr);
    gather(message, &p.a);
    CHECK_MEM(p.b.memory + 40, message, MESSAGE);
    check_only(&p.b, 40, MESSAGE);
    pair_close(&p);
}

static void segments_read(void) {
    static uint8_t message[MESSAGE];
    vbn_sge list[3];
    pair_open_connected(&p, &three);
    fill(p.b.memory, p.b.size, 6);
    three_segments(&p.a, list);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 1, 77, 0);
    wr.sg_list = list;
    wr.num_sge = 3;
    run_send(&p.a, &wr);
    gather(message, &p.a);
    CHECK_MEM(message, p.b.memory + 77, MESSAGE);
    pair_close(&p);
}

static void segments_send(void) {
    static uint8_t sent[MESSAGE], received[MESSAGE];
    vbn_sge from[3], to[3];
    pair_open_connected(&p, &three);
    fill(p.a.memory, p.a.size, 7);
    three_segments(&p.a, from);
    /* Other cuts than the sender's. */
    to[0] = sge_at(&p.b, 30000, 5000);
    to[1] = sge_at(&p.b, 0, 1);
    to[2] = sge_at(&p.b, 50000, 137);
    vbn_recv_wr recv = {.wr_id = 2, .sg_list = to, .num_sge = 3};
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_recv(p.b.qp, &recv, 1, &posted));
    vbn_send_wr wr = {.wr_id = 1, .flags = VBN_SEND_SIGNALED, .opcode = VBN_WR_SEND, .sg_list = from, .num_sge = 3};
    run_send(&p.a, &wr);
    CHECK_UEQ(next_ok(&p.b, 2).byte_len, MESSAGE);
    gather(sent, &p.a);
    memcpy(received, p.b.memory + 30000, 5000);
    received[5000] = p.b.memory[0];
    memcpy(received + 5001, p.b.memory + 50000, 137);
    CHECK_MEM(received, sent, MESSAGE);
    pair_close(&p);
}

/* The lkey of inline data is not looked at, and the buffer is free as soon as the post returns. */
static void inline_from(const void *data, uint32_t length, uint32_t opcode) {
    vbn_send_wr wr = send_wr(&p.a, &p.b, opcode, 3, 600, length);
    wr.sge.addr = (uint64_t)(uintptr_t)data;
    wr.sge.lkey = 0;
    wr.flags |= VBN_SEND_INLINE;
    post_send(&p.a, &wr);
}

static void inline_single(void) {
    struct setup setup = {.inline_data = 64};
    uint8_t data[64], copy[64];
    pair_open_connected(&p, &setup);
    CHECK(qp_info(p.a.qp).max_inline_data >= 64);
    for (uint32_t length = 1; length <= 64; length += 9) {
        memset(p.b.memory, 0, p.b.size);
        fill(data, length, length);
        memcpy(copy, data, length);
        inline_from(data, length, VBN_WR_RDMA_WRITE);
        memset(data, 0xee, length);
        next_ok(&p.a, 3);
        CHECK_MEM(p.b.memory + 600, copy, length);
        check_only(&p.b, 600, length);
    }
    post_recv(&p.b, 4, 0, 100);
    fill(data, 64, 99);
    inline_from(data, 64, VBN_WR_SEND);
    next_ok(&p.a, 3);
    CHECK_UEQ(next_ok(&p.b, 4).byte_len, 64);
    CHECK_MEM(p.b.memory, data, 64);
    pair_close(&p);
}

static void inline_list(void) {
    struct setup setup = {.inline_data = 64, .send_sge = 3};
    uint8_t x[5], y[40], z[19], message[64];
    pair_open_connected(&p, &setup);
    fill(message, 64, 31);
    memcpy(x, message, 5);
    memcpy(y, message + 5, 40);
    memcpy(z, message + 45, 19);
    vbn_sge list[3] = {
        {.addr = (uint64_t)(uintptr_t)x, .length = 5},
        {.addr = (uint64_t)(uintptr_t)y, .length = 40},
        {.addr = (uint64_t)(uintptr_t)z, .length = 19},
    };
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 9, 1000, 0);
    wr.sg_list = list;
    wr.num_sge = 3;
    wr.flags |= VBN_SEND_INLINE;
    run_send(&p.a, &wr);
    CHECK_MEM(p.b.memory + 1000, message, 64);
    check_only(&p.b, 1000, 64);
    pair_close(&p);
}

static void inline_too_long(void) {
    struct setup setup = {.inline_data = 64};
    pair_open_connected(&p, &setup);
    uint32_t granted = qp_info(p.a.qp).max_inline_data, posted = 99;
    vbn_send_wr wrs[2] = {
        send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 1),
        send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 2, 0, granted + 1),
    };
    wrs[1].flags |= VBN_SEND_INLINE;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, wrs, 2, &posted), VBN_ERR_LIMIT);
    vbn_error_info error = test_error();
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(error.index, 1);
    CHECK_UEQ(error.value, granted + 1);
    CHECK_UEQ(error.limit, granted);
    CHECK_HAS(error.message, "inline");
    sleep_ms(50);
    check_no_wc(&p.a);
    pair_close(&p);
}

static void unsignaled_then_signaled(void) {
    pair_open_connected(&p, NULL);
    vbn_send_wr wrs[3];
    for (unsigned i = 0; i < 3; i++) {
        wrs[i] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, i, 100 * i, 100);
        wrs[i].flags = i == 2 ? VBN_SEND_SIGNALED : 0;
    }
    fill(p.a.memory, 300, 12);
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 3, &posted));
    CHECK_UEQ(posted, 3);
    next_ok(&p.a, 2);
    check_no_wc(&p.a);
    CHECK_MEM(p.b.memory, p.a.memory, 300);
    pair_close(&p);
}

static void sq_sig_all(void) {
    struct setup setup = {.sq_sig_all = 1};
    pair_open_connected(&p, &setup);
    CHECK_EQ(qp_info(p.a.qp).sq_sig_all, 1);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 8, 0, 10);
    wr.flags = 0;
    run_send(&p.a, &wr);
    pair_close(&p);
}

/* A fenced write of what a read brought: without the fence it could carry the old bytes. */
static void fence(void) {
    pair_open_connected(&p, NULL);
    for (uint32_t round = 0; round < 10; round++) {
        fill(p.b.memory, 16384, 50 + round);
        memset(p.a.memory, 0, 16384);
        memset(p.b.memory + 32768, 0, 16384);
        vbn_send_wr wrs[2] = {
            send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 1, 0, 16384),
            send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 2, 0, 16384),
        };
        wrs[1].remote_addr += 32768;
        wrs[1].flags |= VBN_SEND_FENCE;
        uint32_t posted = 0;
        CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 2, &posted));
        next_ok(&p.a, 1);
        next_ok(&p.a, 2);
        CHECK_MEM(p.b.memory + 32768, p.b.memory, 16384);
    }
    pair_close(&p);
}

/* A batch of mixed operations completes in order. */
static void mixed_batch(void) {
    pair_open_connected(&p, NULL);
    fill(p.a.memory, 4096, 60);
    fill(p.b.memory + 8192, 4096, 61);
    post_recv(&p.b, 1, 40000, 100);
    post_recv(&p.b, 2, 41000, 100);
    vbn_send_wr wrs[5] = {
        send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 10, 0, 4096),       send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 11, 8192, 4096),
        send_wr(&p.a, &p.b, VBN_WR_SEND, 12, 0, 100),              send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_IMM, 13, 100, 60),
        send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 14, 4096, 0),
    };
    wrs[3].imm = 77;
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 5, &posted));
    for (uint64_t id = 10; id < 15; id++) next_ok(&p.a, id);
    CHECK_UEQ(next_ok(&p.b, 1).byte_len, 100);
    CHECK_UEQ(next_ok(&p.b, 2).imm, 77);
    CHECK_MEM(p.b.memory, p.a.memory, 4096);
    CHECK_MEM(p.a.memory + 8192, p.b.memory + 8192, 4096);
    CHECK_MEM(p.b.memory + 40000, p.a.memory, 100);
    CHECK_MEM(p.b.memory + 41000, p.a.memory + 100, 60);
    pair_close(&p);
}

static void one_megabyte(void) {
    struct setup setup = {.size = 1 << 20};
    pair_open_connected(&p, &setup);
    fill(p.a.memory, p.a.size, 70);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 1 << 20);
    run_send(&p.a, &wr);
    CHECK_MEM(p.b.memory, p.a.memory, p.a.size);
    pair_close(&p);
}

/* Both directions at once. */
static void both_directions(void) {
    pair_open_connected(&p, NULL);
    fill(p.a.memory, 4096, 80);
    fill(p.b.memory + 8192, 4096, 81);
    vbn_send_wr forth = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 4096);
    vbn_send_wr back = send_wr(&p.b, &p.a, VBN_WR_RDMA_WRITE, 2, 8192, 4096);
    post_send(&p.a, &forth);
    post_send(&p.b, &back);
    next_ok(&p.a, 1);
    next_ok(&p.b, 2);
    CHECK_MEM(p.b.memory, p.a.memory, 4096);
    CHECK_MEM(p.a.memory + 8192, p.b.memory + 8192, 4096);
    pair_close(&p);
}

/* Longer than the port allows: refused with both numbers, alone or as a sum of segments. */
static void message_too_long(void) {
    struct setup setup = {.send_sge = 2};
    pair_open_connected(&p, &setup);
    uint32_t max = qp_info(p.a.qp).max_message, posted = 99;
    if (max >= 0x80000001u) SKIP("the port takes %u bytes", max);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, max + 1);
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, &wr, 1, &posted), VBN_ERR_LIMIT);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().value, (uint64_t)max + 1);
    CHECK_UEQ(test_error().limit, max);
    vbn_sge list[2] = {sge_at(&p.a, 0, max), sge_at(&p.a, 0, 1)};
    wr.sg_list = list;
    wr.num_sge = 2;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, &wr, 1, &posted), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().value, (uint64_t)max + 1);
    check_alive(&p);
    pair_close(&p);
}

/* A queue pair that was made for writes only refuses the rest before the driver sees it. */
static void send_ops(void) {
    struct setup setup = {.send_ops = VBN_QP_OP_RDMA_WRITE};
    pair_open_connected(&p, &setup);
    CHECK_UEQ(qp_info(p.a.qp).send_ops, VBN_QP_OP_RDMA_WRITE);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 1, 0, 8);
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, &wr, 1, &posted), VBN_ERR_NOT_SUPPORTED);
    CHECK_UEQ(posted, 0);
    check_alive(&p);
    pair_close(&p);
}

static const struct test tests[] = {
    {"write_any_length", write_any_length},
    {"write_nothing", write_nothing},
    {"write_imm", write_imm},
    {"write_imm_into_empty_recv", write_imm_into_empty_recv},
    {"read", read_moves},
    {"send_any_length", send_any_length},
    {"send_imm", send_imm},
    {"segments_write", segments_write},
    {"segments_read", segments_read},
    {"segments_send", segments_send},
    {"inline_single", inline_single},
    {"inline_list", inline_list},
    {"inline_too_long", inline_too_long},
    {"unsignaled_then_signaled", unsignaled_then_signaled},
    {"sq_sig_all", sq_sig_all},
    {"fence", fence},
    {"mixed_batch", mixed_batch},
    {"one_megabyte", one_megabyte},
    {"both_directions", both_directions},
    {"message_too_long", message_too_long},
    {"send_ops", send_ops},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("rc_traffic", tests, argc, argv);
}
