/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two processes with SRD: their records go over a socket, messages and data both ways, and one of them dies. */
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "srd.h"

enum { SIZE = 1 << 20, PIECE = 64 << 10, PIECES = SIZE / PIECE, DONE = 0x1ead };
/* Messages lie in the first half of the memory and arrive in the second. */
enum { MESSAGE = 4096, MESSAGES = SIZE / 2 / MESSAGE, THERE = 1, BACK = 2 };

/* What one side tells the other: both kinds of records, and its memory. */
struct greeting {
    uint8_t endpoint[VBN_ENDPOINT_SIZE];
    uint8_t info[1024];
    uint64_t info_size, addr;
    uint32_t rkey, can_write;
};

struct conversation {
    int fd;
    struct srd_side side;
    struct greeting theirs;
    vbn_peer *peer;
};

static struct conversation c;

/* Tells one's own records and makes the peer of the other's: of the short one, or of the versioned one. */
static void greet(int versioned) {
    struct greeting own;
    vbn_endpoint_info info = {.struct_size = sizeof info};
    size_t size = 0;
    memset(&own, 0, sizeof own);
    CHECK_OK(vbn_endpoint_encode(&c.side.endpoint, own.endpoint, sizeof own.endpoint));
    CHECK_OK(vbn_endpoint_info_local(c.side.qp, NULL, &info));
    CHECK_OK(vbn_endpoint_info_encode(&info, own.info, sizeof own.info, &size));
    own.info_size = size;
    own.addr = vbn_mr_remote_addr(c.side.mr);
    own.rkey = vbn_mr_rkey(c.side.mr);
    own.can_write = !!(c.side.caps & VBN_EFA_CAP_RDMA_WRITE);
    tell(c.fd, &own, sizeof own);
    hear(c.fd, &c.theirs, sizeof c.theirs);
    if (versioned) {
        CHECK_OK(vbn_endpoint_info_decode(c.theirs.info, c.theirs.info_size, &info));
        CHECK_OK(vbn_peer_from_info(c.side.qp, &info, NULL, &c.peer));
    } else {
        vbn_endpoint endpoint;
        CHECK_OK(vbn_endpoint_decode(c.theirs.endpoint, sizeof c.theirs.endpoint, &endpoint));
        CHECK_OK(vbn_peer_from_endpoint(c.side.pd, &endpoint, NULL, &c.peer));
    }
    meet(c.fd); /* each has a handle for the other */
}

/* All of the memory, in pieces, from or to the other's. */
static void move_all(uint32_t opcode) {
    vbn_send_wr wrs[PIECES];
    vbn_wc wcs[PIECES];
    uint32_t posted = 0;
    for (uint32_t i = 0; i < PIECES; i++) {
        wrs[i] = srd_wr(&c.side, c.peer, opcode, i, (uint64_t)i * PIECE, PIECE);
        wrs[i].remote_addr = c.theirs.addr + (uint64_t)i * PIECE;
        wrs[i].rkey = c.theirs.rkey;
    }
    CHECK_OK(vbn_qp_post_send(c.side.qp, wrs, PIECES, &posted));
    CHECK_UEQ(posted, PIECES);
    srd_wait(&c.side, PIECES, wcs);
    for (uint32_t i = 0; i < PIECES; i++) CHECK_OK(vbn_wc_check(wcs + i));
}

/* A message without data says that all is there. SRD keeps no order, so it goes when the data have completed. */
static void tell_done(void) {
    vbn_send_wr wr = srd_wr(&c.side, c.peer, VBN_WR_SEND_WITH_IMM, 77, 0, 0);
    wr.num_sge = 0;
    wr.imm = DONE;
    srd_run(&c.side, &wr);
}

static void hear_done(void) {
    vbn_wc wc = srd_ok(&c.side, 500);
    CHECK(wc.wc_flags & VBN_WC_WITH_IMM);
    CHECK_UEQ(wc.imm, DONE);
}

static const struct srd_setup large = {.size = SIZE}, for_messages = {.size = SIZE, .send_wr = MESSAGES, .recv_wr = MESSAGES};

static void open_with(int fd, const struct srd_setup *setup) {
    memset(&c, 0, sizeof c);
    c.fd = fd;
    srd_open(&c.side, setup);
}

static void open_one(int fd) {
    open_with(fd, &large);
}

static void close_one(void) {
    CHECK_OK(vbn_peer_close(&c.peer));
    srd_close(&c.side);
    if (c.fd >= 0) close(c.fd);
}

/* ---- the other process ---- */

/* Has data; gets others written, or reads them. */
static void serve(int fd, int versioned) {
    open_one(fd);
    srd_recv(&c.side, 500, 0, 1); /* a byte for a message without data */
    greet(versioned);
    if (c.theirs.can_write) {
        hear_done();
        uint64_t sum = checksum(c.side.memory, SIZE);
        tell(c.fd, &sum, sizeof sum);
    } else {
        uint8_t ready;
        hear(c.fd, &ready, 1);
        move_all(VBN_WR_RDMA_READ);
        uint64_t sum = checksum(c.side.memory, SIZE);
        tell(c.fd, &sum, sizeof sum);
        tell_done();
    }
    meet(c.fd);
    close_one();
}

static void serve_short(int fd) {
    serve(fd, 0);
}

static void serve_versioned(int fd) {
    serve(fd, 1);
}

/* ---- messages, which every device has: as many each way as fit into half of the memory ---- */

/* Whose bytes are those of message `number` on its way there or back. */
static uint32_t seed_of(uint32_t way, uint32_t number) {
    return way << 16 | number;
}

static void post_receives(void) {
    static vbn_recv_wr wrs[MESSAGES];
    uint32_t posted = 0;
    for (uint32_t i = 0; i < MESSAGES; i++)
        wrs[i] = (vbn_recv_wr){.wr_id = 500 + i, .num_sge = 1, .sge = {vbn_mr_remote_addr(c.side.mr) + SIZE / 2 + i * MESSAGE, MESSAGE, vbn_mr_lkey(c.side.mr)}};
    CHECK_OK(vbn_qp_post_recv(c.side.qp, wrs, MESSAGES, &posted));
    CHECK_UEQ(posted, MESSAGES);
}

/* Every other one tells its number as immediate data, the others in their first bytes, as all do. No two are of one length. */
static void send_all(uint32_t way) {
    static vbn_send_wr wrs[MESSAGES];
    static vbn_wc wcs[MESSAGES];
    uint32_t posted = 0;
    for (uint32_t i = 0; i < MESSAGES; i++) {
        fill(c.side.memory + i * MESSAGE, MESSAGE, seed_of(way, i));
        memcpy(c.side.memory + i * MESSAGE, &i, sizeof i);
        wrs[i] = srd_wr(&c.side, c.peer, i % 2 ? VBN_WR_SEND_WITH_IMM : VBN_WR_SEND, i, i * MESSAGE, MESSAGE - i);
        wrs[i].imm = seed_of(way, i);
    }
    CHECK_OK(vbn_qp_post_send(c.side.qp, wrs, MESSAGES, &posted));
    CHECK_UEQ(posted, MESSAGES);
    srd_wait(&c.side, MESSAGES, wcs);
    for (uint32_t i = 0; i < MESSAGES; i++) CHECK_OK(vbn_wc_check(wcs + i));
}

/* Each came once, whole, into some receive, in whatever order. */
static void receive_all(uint32_t way) {
    static vbn_wc wcs[MESSAGES];
    static uint8_t expected[MESSAGE];
    uint8_t came[MESSAGES] = {0};
    srd_wait(&c.side, MESSAGES, wcs);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        const uint8_t *at = c.side.memory + SIZE / 2 + i * MESSAGE;
        uint32_t number;
        CHECK_OK(vbn_wc_check(wcs + i));
        CHECK_UEQ(wcs[i].wr_id, 500 + i);
        memcpy(&number, at, sizeof number);
        CHECK(number < MESSAGES && !came[number]);
        came[number] = 1;
        fill(expected, MESSAGE, seed_of(way, number));
        memcpy(expected, &number, sizeof number);
        CHECK_UEQ(wcs[i].byte_len, MESSAGE - number);
        CHECK_MEM(at, expected, MESSAGE - number);
        CHECK_EQ(!!(wcs[i].wc_flags & VBN_WC_WITH_IMM), number % 2);
        if (number % 2) CHECK_UEQ(wcs[i].imm, seed_of(way, number));
    }
}

static void answer(int fd) {
    open_with(fd, &for_messages);
    post_receives();
    greet(1);
    receive_all(THERE);
    meet(c.fd); /* an answer before that could come among the other side's completed sends */
    send_all(BACK);
    meet(c.fd);
    close_one();
}

/* Waits to be killed. */
static void idle(int fd) {
    open_one(fd);
    greet(0);
    uint8_t byte;
    hear(c.fd, &byte, 1);
}

static pid_t start(const char *role) {
    return process_start("srd_process", role, &c.fd);
}

/* ---- the tests ---- */

/* 1 MiB gets to the other process: written from here where the device can, else read from there. Then it is read back. */
static void transfer(int versioned) {
    need_read();
    pid_t pid = start(versioned ? "serve_versioned" : "serve_short");
    open_one(c.fd);
    srd_recv(&c.side, 500, 0, 1);
    fill(c.side.memory, SIZE, 2026);
    uint64_t sum = checksum(c.side.memory, SIZE), theirs = 0;
    greet(versioned);
    if (c.side.caps & VBN_EFA_CAP_RDMA_WRITE) {
        move_all(VBN_WR_RDMA_WRITE);
        tell_done();
        hear(c.fd, &theirs, sizeof theirs);
    } else {
        uint8_t ready = 1;
        tell(c.fd, &ready, 1);
        hear(c.fd, &theirs, sizeof theirs);
        hear_done();
    }
    CHECK_UEQ(theirs, sum);
    memset(c.side.memory, 0, SIZE);
    move_all(VBN_WR_RDMA_READ);
    CHECK_UEQ(checksum(c.side.memory, SIZE), sum);
    meet(c.fd);
    process_end(pid, c.fd);
    c.fd = -1;
    close_one();
}

static void short_records(void) {
    transfer(0);
}
static void versioned_records(void) {
    transfer(1);
}

/* 512 KiB there and back, by SEND and SEND with immediate alone. */
static void messages(void) {
    need_efa(test_device());
    pid_t pid = start("answer");
    open_with(c.fd, &for_messages);
    post_receives();
    greet(1);
    send_all(THERE);
    meet(c.fd);
    receive_all(BACK);
    meet(c.fd);
    process_end(pid, c.fd);
    c.fd = -1;
    close_one();
}

/* The peer process dies without a word: requests to it fail, and nothing else does. */
static void peer_dies(void) {
    vbn_wc wc;
    need_efa(test_device());
    pid_t pid = start("idle");
    open_one(c.fd);
    greet(0);
    process_kill(pid);
    for (uint64_t i = 0; i < 3; i++) {
        vbn_send_wr wr = srd_wr(&c.side, c.peer, VBN_WR_SEND, i, 0, 64);
        srd_post(&c.side, &wr);
        srd_wait(&c.side, 1, &wc);
        CHECK_STATUS(vbn_wc_check(&wc), VBN_ERR_COMPLETION);
        CHECK_UEQ(wc.wr_id, i);
        /* No such queue pair, no answer, or none ever. */
        CHECK(wc.vendor_err == 9 || wc.vendor_err == 13 || wc.vendor_err == 15);
    }
    CHECK_STR(vbn_qp_state_name(qp_state(c.side.qp)), "RTS");
    vbn_peer *self = srd_self(&c.side);
    srd_alive(&c.side, &c.side, self);
    CHECK_OK(vbn_peer_close(&self));
    close_one();
}

/* The next process may get the same queue pair number: the old record's QKEY keeps messages for its predecessor out. */
static void old_record(void) {
    need_efa(test_device());
    pid_t first = start("idle");
    open_one(c.fd);
    greet(0);
    vbn_peer *old = c.peer;
    process_kill(first);
    close(c.fd);
    pid_t second = start("idle");
    greet(0);
    vbn_send_wr wr = srd_wr(&c.side, old, VBN_WR_SEND, 1, 0, 64);
    srd_post(&c.side, &wr);
    vbn_wc wc;
    srd_wait(&c.side, 1, &wc);
    CHECK(wc.vendor_err == 9 || wc.vendor_err == 13 || wc.vendor_err == 15);
    process_kill(second);
    CHECK_OK(vbn_peer_close(&old));
    close_one();
}

static const struct test tests[] = {
    {"short_records", short_records},
    {"versioned_records", versioned_records},
    {"messages", messages},
    {"peer_dies", peer_dies},
    {"old_record", old_record},
    {NULL, NULL},
};

static const struct role roles[] = {
    {"serve_short", serve_short},
    {"serve_versioned", serve_versioned},
    {"answer", answer},
    {"idle", idle},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    int status;
    if (process_role("srd_process", roles, argc, argv, &status)) return status;
    return test_main("srd_process", tests, argc, argv);
}
