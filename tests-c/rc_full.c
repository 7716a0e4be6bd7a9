/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Full queues: what was posted is the longest prefix, and after polling it goes on where it stopped. */
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define MANY 500
#define PIECE 64

static struct pair p;
static vbn_send_wr sends[MANY];
static vbn_recv_wr recvs[MANY];

static void open_small(void) {
    struct setup setup = {.send_wr = 16, .recv_wr = 16, .cqe = 2 * MANY};
    pair_open_connected(&p, &setup);
    if (qp_info(p.a.qp).max_send_wr >= MANY || qp_info(p.a.qp).max_recv_wr >= MANY)
        SKIP("the device grants %u requests where 16 were asked for", qp_info(p.a.qp).max_send_wr);
    fill(p.a.memory, MANY * PIECE, 1);
    for (unsigned i = 0; i < MANY; i++) sends[i] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, i, i * PIECE, PIECE);
}

/* A full queue says so, with the number that fits and the first that does not. */
static void check_full(vbn_status status, uint32_t posted, uint32_t depth) {
    CHECK_STATUS(status, VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(test_error().index, posted);
    CHECK(posted >= 16);
    CHECK(posted < MANY);
    test_note("asked for 16, granted %u, took %u", depth, posted);
}

static void send_queue(void) {
    open_small();
    uint32_t posted = 99;
    vbn_status status = vbn_qp_post_send(p.a.qp, sends, MANY, &posted);
    check_full(status, posted, qp_info(p.a.qp).max_send_wr);
    for (uint32_t i = 0; i < posted; i++) next_ok(&p.a, i);
    sleep_ms(20);
    check_no_wc(&p.a);
    CHECK_MEM(p.b.memory, p.a.memory, posted * PIECE);
    for (uint32_t i = posted * PIECE; i < p.b.size; i++) CHECK_EQ(p.b.memory[i], 0);

    /* It goes on from there. */
    uint32_t more = 99;
    CHECK_OK(vbn_qp_post_send(p.a.qp, sends + posted, 16, &more));
    CHECK_UEQ(more, 16);
    for (uint32_t i = 0; i < 16; i++) next_ok(&p.a, posted + i);
    CHECK_MEM(p.b.memory, p.a.memory, (posted + 16) * PIECE);
    pair_close(&p);
}

/* A full queue that is full already takes none. */
static void send_queue_takes_none(void) {
    struct setup setup = {.send_wr = 4, .cqe = 256, .rc = NULL};
    vbn_rc_attr slow = {.struct_size = sizeof slow, .set = VBN_RC_SET_TIMEOUT, .timeout = 17};
    pair_open(&p, &setup);
    /* The peer stays in RESET, so nothing completes meanwhile. */
    CHECK_OK(vbn_qp_connect_rc(p.a.qp, &p.a.record, &p.b.record, &slow));
    for (unsigned i = 0; i < MANY; i++) sends[i] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, i, 0, 8);
    uint32_t first = 99, second = 99;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, sends, MANY, &first), VBN_ERR_QUEUE_FULL);
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, sends + first, 1, &second), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(second, 0);
    CHECK_UEQ(test_error().index, 0);
    CHECK_HAS(test_error().message, "poll");
    pair_close(&p);
}

/* Far more than the queue holds, a batch at a time, gets through in order. */
static void progress(void) {
    open_small();
    uint32_t done = 0, completed = 0, full = 0;
    while (completed < MANY) {
        uint32_t posted = 0;
        if (done < MANY) {
            vbn_status status = vbn_qp_post_send(p.a.qp, sends + done, MANY - done, &posted);
            if (status != VBN_OK) {
                CHECK_STATUS(status, VBN_ERR_QUEUE_FULL);
                full++;
            }
            done += posted;
        }
        next_ok(&p.a, completed++);
    }
    CHECK_UEQ(done, MANY);
    CHECK(full > 0);
    check_no_wc(&p.a);
    CHECK_MEM(p.b.memory, p.a.memory, MANY * PIECE);
    pair_close(&p);
}

static void receive_queue(void) {
    open_small();
    for (unsigned i = 0; i < MANY; i++) recvs[i] = recv_wr(&p.b, 1000 + i, i * PIECE, PIECE);
    uint32_t taken = 99, one;
    vbn_status status = vbn_qp_post_recv(p.b.qp, recvs, MANY, &taken);
    check_full(status, taken, qp_info(p.b.qp).max_recv_wr);
    for (uint32_t i = 0; i < taken; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, i, i * PIECE, PIECE);
        run_send(&p.a, &wr);
        CHECK_UEQ(next_ok(&p.b, 1000 + i).byte_len, PIECE);
    }
    CHECK_MEM(p.b.memory, p.a.memory, taken * PIECE);
    CHECK_OK(vbn_qp_post_recv(p.b.qp, recvs + taken, 1, &one));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 9, taken * PIECE, PIECE);
    run_send(&p.a, &wr);
    next_ok(&p.b, 1000 + taken);
    CHECK_MEM(p.b.memory, p.a.memory, (taken + 1) * PIECE);
    pair_close(&p);
}

/* An error in the middle of a long array posts none of it. */
static void wrong_one_in_the_middle(void) {
    open_small();
    uint32_t posted = 99;
    sends[300].opcode = 63;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, sends, MANY, &posted), VBN_ERR_NOT_SUPPORTED);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 300);
    sends[300].opcode = VBN_WR_RDMA_WRITE;
    sends[10].num_sge = qp_info(p.a.qp).max_send_sge + 1;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, sends, 12, &posted), VBN_ERR_LIMIT);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 10);
    CHECK_UEQ(test_error().value, sends[10].num_sge);
    CHECK_UEQ(test_error().limit, sends[10].num_sge - 1);
    recvs[0] = recv_wr(&p.b, 1, 0, 8);
    recvs[1] = recvs[0];
    recvs[1].num_sge = qp_info(p.b.qp).max_recv_sge + 1;
    CHECK_STATUS(vbn_qp_post_recv(p.b.qp, recvs, 2, &posted), VBN_ERR_LIMIT);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 1);
    sleep_ms(50);
    check_no_wc(&p.a);
    pair_close(&p);
}

static void post_none(void) {
    pair_open_connected(&p, NULL);
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_send(p.a.qp, sends, 0, &posted));
    CHECK_UEQ(posted, 0);
    posted = 99;
    CHECK_OK(vbn_qp_post_recv(p.a.qp, recvs, 0, &posted));
    CHECK_UEQ(posted, 0);
    pair_close(&p);
}

static const struct test tests[] = {
    {"send_queue", send_queue},
    {"send_queue_takes_none", send_queue_takes_none},
    {"progress", progress},
    {"receive_queue", receive_queue},
    {"wrong_one_in_the_middle", wrong_one_in_the_middle},
    {"post_none", post_none},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("rc_full", tests, argc, argv);
}
