/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Several processes, by kind of queue pair or operation: their records go over a socket, what they move is verified at the other end, and one of
 * them dies without a word: killed while it waits, or while it sends.
 */
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "process.h"

enum { SIZE = 4 << 20, PIECE = 256 << 10, PIECES = SIZE / PIECE };

#define PROGRAM "two_process"
#define QKEY 0x11223344

/* What one side tells the other: both kinds of records, and its memory. */
struct greeting {
    uint8_t record[VBN_RC_RECORD_SIZE];
    uint8_t info[VBN_RECORD_MAX_SIZE];
    uint64_t info_size, addr;
    uint32_t rkey, qkey;
};

/* One end of a connection to another process. */
struct end {
    int fd;
    pid_t pid; /* of the other, where it was started from here */
    struct side side;
    struct greeting theirs;
    vbn_endpoint_info own_info, their_info;
    vbn_peer *peer; /* UD */
};

#define REMOTE_ACCESS (VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC)

/* For who sends to nobody but the dead: some 50 ms. */
static const vbn_rc_attr hasty = {
    .struct_size = sizeof hasty,
    .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT | VBN_RC_SET_ACCESS,
    .access = REMOTE_ACCESS,
    .timeout = 12,
    .retry_cnt = 2,
};
/* For who sends to the living, too: seconds, for a machine that is emulated and busy. */
static const vbn_rc_attr patient = {
    .struct_size = sizeof patient,
    .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT | VBN_RC_SET_ACCESS,
    .access = REMOTE_ACCESS,
    .timeout = 17,
    .retry_cnt = 6, /* 7 is for ever with soft-RoCE */
};

static const struct setup rc_setup = {.size = SIZE};
static const struct setup uc_setup = {.size = SIZE, .qp_type = VBN_QPT_UC};
static const struct setup ud_setup = {.qp_type = VBN_QPT_UD};
static const struct setup windows_setup = {.access = ACCESS_ALL | VBN_ACCESS_MW_BIND};
static const struct setup atomics_setup = {.access = ACCESS_ALL | VBN_ACCESS_REMOTE_ATOMIC};
static const struct setup plain_setup = {.size = 0};

/* Both tell their records; with them this side's queue pair can be connected. */
static void exchange(struct end *e, vbn_qp *qp, const vbn_rc_attr *rc) {
    struct greeting own;
    size_t size = 0;
    memset(&own, 0, sizeof own);
    e->own_info = e->their_info = (vbn_endpoint_info){.struct_size = sizeof e->own_info};
    vbn_qp_info info = qp_info(qp);
    if (info.qp_type != VBN_QPT_UD) {
        vbn_rc_record record = e->side.record;
        if (qp != e->side.qp) CHECK_OK(vbn_rc_record_local(qp, rc, &record));
        CHECK_OK(vbn_rc_record_encode(&record, own.record, sizeof own.record));
    }
    CHECK_OK(vbn_endpoint_info_local(qp, NULL, &e->own_info));
    CHECK_OK(vbn_endpoint_info_encode(&e->own_info, own.info, sizeof own.info, &size));
    own.info_size = size;
    own.addr = vbn_mr_remote_addr(e->side.mr);
    own.rkey = vbn_mr_rkey(e->side.mr);
    tell(e->fd, &own, sizeof own);
    hear(e->fd, &e->theirs, sizeof e->theirs);
    CHECK_OK(vbn_endpoint_info_decode(e->theirs.info, e->theirs.info_size, &e->their_info));
}

static void greet_only(struct end *e) {
    exchange(e, e->side.qp, NULL);
}

/* By the versioned records, for any type. Each may send only when the other can receive. */
static void connect_qp(struct end *e, vbn_qp *qp, const vbn_rc_attr *rc) {
    exchange(e, qp, rc);
    CHECK_OK(vbn_qp_connect(qp, &e->own_info, &e->their_info, rc));
    meet(e->fd);
}

/* By the short ones, RC's. */
static void connect_by_record(struct end *e) {
    vbn_rc_record record;
    greet_only(e);
    CHECK_OK(vbn_rc_record_decode(e->theirs.record, sizeof e->theirs.record, &record));
    CHECK_OK(vbn_qp_connect_rc(e->side.qp, &e->side.record, &record, NULL));
    meet(e->fd);
}

/* This side of a conversation with a process that plays `role`. */
static void start(struct end *e, const char *role) {
    e->pid = process_start(PROGRAM, role, &e->fd);
}

static void open_end(struct end *e, int fd, const struct setup *setup) {
    memset(e, 0, sizeof *e);
    e->fd = fd;
    side_open(&e->side, setup);
}

static void start_and_open(struct end *e, const char *role, const struct setup *setup) {
    memset(e, 0, sizeof *e);
    need_rc(test_device());
    side_open(&e->side, setup);
    start(e, role);
}

static void end_well(struct end *e) {
    meet(e->fd);
    process_end(e->pid, e->fd);
    CHECK_OK(vbn_peer_close(&e->peer));
    side_close(&e->side);
}

static void end_dead(struct end *e) {
    close(e->fd);
    CHECK_OK(vbn_peer_close(&e->peer));
    side_close(&e->side);
}

/* The roles' end. */
static void leave(struct end *e) {
    meet(e->fd);
    CHECK_OK(vbn_peer_close(&e->peer));
    side_close(&e->side);
}

/* Stays until it is killed: nothing is ever told to it. */
static void linger(struct end *e) {
    uint8_t byte;
    hear(e->fd, &byte, 1);
}

static vbn_send_wr to_their_memory(const struct end *e, uint32_t opcode, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_send_wr wr = send_wr(&e->side, &e->side, opcode, wr_id, offset, length);
    wr.remote_addr = e->theirs.addr + offset;
    wr.rkey = e->theirs.rkey;
    return wr;
}

static void move_all(struct end *e, uint32_t opcode) {
    for (uint32_t i = 0; i < PIECES; i++) {
        vbn_send_wr wr = to_their_memory(e, opcode, i, (uint64_t)i * PIECE, PIECE);
        wr.imm = 1000 + i;
        post_send(&e->side, &wr);
    }
    for (uint32_t i = 0; i < PIECES; i++) next_ok(&e->side, i);
}

/* A peer that is gone is told by the first request. */
static void check_gone(struct end *e, const vbn_send_wr *wr) {
    post_send(&e->side, wr);
    vbn_wc wc = next_wc(&e->side);
    CHECK_UEQ(wc.wr_id, wr->wr_id);
    CHECK_STR(vbn_wc_status_name(wc.status), "RETRY_EXC_ERR");
}

static struct end e;

/* ---- RC ---- */

/* Receives, verifies, answers with the checksum, waits for the reader. */
static void serve_rc(int fd) {
    open_end(&e, fd, &rc_setup);
    CHECK_OK(vbn_qp_to_init(e.side.qp, NULL));
    post_recv(&e.side, 1, 0, 0);
    connect_by_record(&e);
    vbn_wc wc = next_ok(&e.side, 1);
    CHECK_EQ(wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wc.imm, 0xabcd0123);
    uint64_t sum = checksum(e.side.memory, SIZE);
    tell(e.fd, &sum, sizeof sum);
    leave(&e);
}

static void write_and_read_back(void) {
    uint64_t theirs = 0;
    start_and_open(&e, "rc", &rc_setup);
    connect_by_record(&e);
    fill(e.side.memory, SIZE, 2026);
    uint64_t sum = checksum(e.side.memory, SIZE);
    move_all(&e, VBN_WR_RDMA_WRITE);
    vbn_send_wr last = to_their_memory(&e, VBN_WR_RDMA_WRITE_WITH_IMM, 99, 0, 0);
    last.num_sge = 0;
    last.imm = 0xabcd0123;
    run_send(&e.side, &last);
    hear(e.fd, &theirs, sizeof theirs);
    CHECK_UEQ(theirs, sum);

    memset(e.side.memory, 0, SIZE);
    move_all(&e, VBN_WR_RDMA_READ);
    CHECK_UEQ(checksum(e.side.memory, SIZE), sum);
    end_well(&e);
}

static void idle_rc(int fd) {
    open_end(&e, fd, &plain_setup);
    connect_qp(&e, e.side.qp, &hasty);
    linger(&e);
}

/* The writer learns of it, and can close. */
static void peer_dies(void) {
    start_and_open(&e, "idle_rc", &plain_setup);
    connect_qp(&e, e.side.qp, &hasty);
    process_kill(e.pid);
    vbn_send_wr wr = to_their_memory(&e, VBN_WR_RDMA_WRITE, 7, 0, 4096);
    check_gone(&e, &wr);
    end_dead(&e);
}

/* ---- UC ---- */

enum { MESSAGES = 40, MESSAGE = 9000 };

/* Is written to, each piece with its number, and sends it all back as messages with the bits turned. */
static void serve_uc(int fd) {
    struct setup setup = uc_setup;
    setup.recv_wr = PIECES;
    open_end(&e, fd, &setup);
    CHECK_OK(vbn_qp_to_init(e.side.qp, NULL));
    for (uint32_t i = 0; i < PIECES; i++) post_recv(&e.side, i, 0, 0);
    connect_qp(&e, e.side.qp, NULL);
    for (uint32_t i = 0; i < PIECES; i++) {
        vbn_wc wc = next_ok(&e.side, i);
        CHECK_EQ(wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
        CHECK_UEQ(wc.imm, 1000 + i);
        CHECK_UEQ(wc.byte_len, PIECE);
    }
    uint64_t sum = checksum(e.side.memory, SIZE);
    tell(e.fd, &sum, sizeof sum);
    for (uint32_t i = 0; i < MESSAGES * MESSAGE; i++) e.side.memory[i] ^= 0xff;
    meet(e.fd); /* the receives are posted there */
    for (uint32_t i = 0; i < MESSAGES; i++) {
        vbn_send_wr wr = to_their_memory(&e, VBN_WR_SEND_WITH_IMM, i, (uint64_t)i * MESSAGE, MESSAGE);
        wr.imm = i;
        run_send(&e.side, &wr);
    }
    leave(&e);
}

/* With a process that has just been started. */
static void converse_uc(uint32_t seed) {
    uint64_t theirs = 0;
    connect_qp(&e, e.side.qp, NULL);
    fill(e.side.memory, SIZE, seed);
    uint64_t sum = checksum(e.side.memory, SIZE);
    move_all(&e, VBN_WR_RDMA_WRITE_WITH_IMM);
    hear(e.fd, &theirs, sizeof theirs);
    CHECK_UEQ(theirs, sum);
    for (uint32_t i = 0; i < MESSAGES; i++) post_recv(&e.side, 500 + i, SIZE / 2 + (uint64_t)i * MESSAGE, MESSAGE);
    meet(e.fd);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        vbn_wc wc = next_ok(&e.side, 500 + i);
        CHECK_UEQ(wc.byte_len, MESSAGE);
        CHECK_UEQ(wc.imm, i);
    }
    for (uint32_t i = 0; i < MESSAGES * MESSAGE; i++) CHECK_EQ(e.side.memory[SIZE / 2 + i], e.side.memory[i] ^ 0xff);
}

static void uc(void) {
    start_and_open(&e, "uc", &uc_setup);
    converse_uc(1);
    end_well(&e);
}

static void idle_uc(int fd) {
    open_end(&e, fd, &uc_setup);
    connect_qp(&e, e.side.qp, NULL);
    linger(&e);
}

/* Nobody tells the writer. The queue pair still works: by way of RESET it goes to the next process. */
static void uc_peer_dies(void) {
    start_and_open(&e, "idle_uc", &uc_setup);
    connect_qp(&e, e.side.qp, NULL);
    process_kill(e.pid);
    close(e.fd);
    for (uint32_t i = 0; i < 5; i++) {
        vbn_send_wr wr = to_their_memory(&e, i % 2 ? VBN_WR_RDMA_WRITE : VBN_WR_SEND, i, 0, 20000);
        run_send(&e.side, &wr);
    }
    CHECK_STR(vbn_qp_state_name(qp_state(e.side.qp)), "RTS");
    qp_force(e.side.qp, VBN_QPS_RESET);
    start(&e, "uc");
    converse_uc(2);
    end_well(&e);
}

/* ---- UD ---- */

enum { PINGS = 50, PING = 300 };

/* Answers every datagram, by what its completion and header tell; the QKEY is agreed on. */
static void serve_ud(int fd) {
    open_end(&e, fd, &ud_setup);
    ud_prepare(&e.side, QKEY);
    post_recv(&e.side, 0, 0, GRH + PING);
    greet_only(&e);
    meet(e.fd);
    for (uint64_t i = 0; i < PINGS; i++) {
        vbn_wc wc = next_ok(&e.side, i);
        CHECK_UEQ(wc.byte_len, GRH + PING);
        CHECK_UEQ(wc.src_qp, e.their_info.qp_num);
        if (!e.peer) {
            vbn_ah *ah;
            CHECK_OK(vbn_ah_from_wc(e.side.pd, &wc, e.side.memory, 1, &ah));
            vbn_peer_attr attr = {.struct_size = sizeof attr, .ah = ah, .qp_num = wc.src_qp, .qkey = QKEY};
            CHECK_OK(vbn_peer_create(e.side.pd, &attr, &e.peer));
            CHECK_OK(vbn_ah_close(&ah));
        }
        for (uint32_t at = 0; at < PING; at++) e.side.memory[4096 + at] = e.side.memory[GRH + at] ^ 0xff;
        post_recv(&e.side, i + 1, 0, GRH + PING);
        vbn_send_wr wr = ud_wr(&e.side, e.peer, 1000 + i, 4096, PING);
        run_send(&e.side, &wr);
    }
    leave(&e);
}

static void meet_peer_ud(void) {
    greet_only(&e);
    CHECK_OK(vbn_peer_from_info(e.side.qp, &e.their_info, NULL, &e.peer));
    meet(e.fd);
}

static void converse_ud(uint32_t seed) {
    for (uint32_t i = 0; i < PINGS; i++) {
        fill(e.side.memory + 4096, PING, seed + i);
        post_recv(&e.side, i, 0, GRH + PING);
        vbn_send_wr wr = ud_wr(&e.side, e.peer, 1000 + i, 4096, PING);
        run_send(&e.side, &wr);
        CHECK_UEQ(next_ok(&e.side, i).byte_len, GRH + PING);
        for (uint32_t at = 0; at < PING; at++) CHECK_EQ(e.side.memory[GRH + at], e.side.memory[4096 + at] ^ 0xff);
    }
}

static void ud(void) {
    start_and_open(&e, "ud", &ud_setup);
    ud_prepare(&e.side, QKEY);
    meet_peer_ud();
    converse_ud(0);
    end_well(&e);
}

static void idle_ud(int fd) {
    open_end(&e, fd, &ud_setup);
    ud_prepare(&e.side, QKEY);
    greet_only(&e);
    meet(e.fd);
    linger(&e);
}

/* What is sent to the dead is lost; the same queue pair serves the next process meanwhile. */
static void ud_peer_dies(void) {
    start_and_open(&e, "idle_ud", &ud_setup);
    ud_prepare(&e.side, QKEY);
    meet_peer_ud();
    process_kill(e.pid);
    close(e.fd);
    vbn_peer *dead = e.peer;
    uint32_t number_of_dead = e.their_info.qp_num;
    for (uint32_t i = 0; i < 5; i++) {
        vbn_send_wr wr = ud_wr(&e.side, dead, i, 4096, PING);
        run_send(&e.side, &wr);
    }
    start(&e, "ud");
    meet_peer_ud();
    vbn_send_wr wr = ud_wr(&e.side, dead, 9, 4096, 16);
    if (e.their_info.qp_num != number_of_dead) run_send(&e.side, &wr);
    converse_ud(100);
    check_no_wc(&e.side);
    CHECK_OK(vbn_peer_close(&dead));
    end_well(&e);
}

/* ---- Multicast ---- */

static const uint8_t group[16] = {0xff, 0x02, [15] = 0x78};

/* Tells the number of each datagram that comes in, until it hears something; then 0. */
static void serve_group(int fd) {
    enum { RECEIVES = 8, STRIDE = 512 };
    struct setup setup = ud_setup;
    setup.device = second_device();
    open_end(&e, fd, &setup);
    ud_prepare(&e.side, QKEY);
    int ip = join_group(&e.side, group);
    CHECK_OK(vbn_qp_attach_mcast(e.side.qp, group, 0));
    for (uint64_t i = 0; i < RECEIVES; i++) post_recv(&e.side, i, i * STRIDE, STRIDE);
    meet(e.fd);
    struct pollfd told = {.fd = e.fd, .events = POLLIN};
    while (poll(&told, 1, 0) == 0) {
        static uint8_t expected[PING];
        vbn_wc wc;
        uint32_t got = 0;
        vbn_status status = vbn_cq_wait(e.side.cq, 1, &wc, 0, SECOND / 20, &got);
        if (status == VBN_ERR_TIMEOUT) continue;
        CHECK_OK(status);
        CHECK_OK(vbn_wc_check(&wc));
        CHECK_UEQ(wc.byte_len, GRH + PING);
        fill(expected, PING, wc.imm);
        CHECK_MEM(e.side.memory + wc.wr_id * STRIDE + GRH, expected, PING);
        tell(e.fd, &wc.imm, sizeof wc.imm);
        post_recv(&e.side, wc.wr_id, wc.wr_id * STRIDE, STRIDE);
    }
    uint8_t stop;
    uint32_t last = 0;
    hear(e.fd, &stop, 1);
    tell(e.fd, &last, sizeof last);
    CHECK_OK(vbn_qp_detach_mcast(e.side.qp, group, 0));
    close(ip);
    leave(&e);
}

/* How many datagrams this member tells of, as they come. */
static uint32_t heard_by(int fd) {
    struct pollfd told = {.fd = fd, .events = POLLIN};
    uint32_t number, count = 0;
    while (poll(&told, 1, 0) > 0) {
        hear(fd, &number, sizeof number);
        count++;
    }
    return count;
}

/* Sends, the wire may lose some, until each of the members has had `enough` more. */
static void send_to_group(struct side *side, vbn_peer *all, const int *fds, int members, uint32_t enough) {
    static uint32_t number;
    uint32_t heard[2] = {0, 0};
    for (int tries = 0; tries < 2000; tries++) {
        int ready = 1;
        fill(side->memory, PING, ++number);
        vbn_send_wr wr = ud_wr(side, all, number, 0, PING);
        wr.opcode = VBN_WR_SEND_WITH_IMM;
        wr.imm = number;
        run_send(side, &wr);
        sleep_ms(10);
        for (int i = 0; i < members; i++) {
            heard[i] += heard_by(fds[i]);
            if (heard[i] < enough) ready = 0;
        }
        if (ready) return;
    }
    FAIL("of %d members the first has had %u of %u datagrams, the second %u", members, heard[0], enough, heard[1]);
}

/* Two processes are members; one dies, and the other goes on getting what is sent to the group. */
static void group_member_dies(void) {
    struct side side;
    need_rc(test_device());
    second_device();
    side_open(&side, &ud_setup);
    ud_prepare(&side, QKEY);
    vbn_peer *all = group_peer(&side, group, QKEY);
    pid_t pids[2];
    int fds[2];
    for (int i = 0; i < 2; i++) {
        pids[i] = process_start(PROGRAM, "group", &fds[i]);
        meet(fds[i]);
    }
    send_to_group(&side, all, fds, 2, 5);
    process_kill(pids[1]);
    close(fds[1]);
    send_to_group(&side, all, fds, 1, 5);
    uint8_t stop = 1;
    tell(fds[0], &stop, 1);
    for (uint32_t number = 1; number != 0;) hear(fds[0], &number, sizeof number);
    meet(fds[0]);
    process_end(pids[0], fds[0]);
    CHECK_OK(vbn_peer_close(&all));
    side_close(&side);
}

/* ---- SRQ ---- */

enum { SLOTS = 16, SLOT = 8192, SRQ_MESSAGES = 200 };

static uint32_t srq_length(uint32_t i) {
    return 1 + i * 37 % SLOT;
}

static void send_numbered(struct end *end, uint32_t i, uint32_t length) {
    fill(end->side.memory, length, i);
    vbn_send_wr wr = to_their_memory(end, VBN_WR_SEND_WITH_IMM, i, 0, length);
    wr.imm = i;
    run_send(&end->side, &wr);
}

static void client_srq(int fd) {
    open_end(&e, fd, &plain_setup);
    connect_qp(&e, e.side.qp, &patient);
    meet(e.fd); /* go */
    for (uint32_t i = 0; i < SRQ_MESSAGES; i++) send_numbered(&e, i, srq_length(i));
    leave(&e);
}

/* Sends until it is killed. */
static void flood_srq(int fd) {
    open_end(&e, fd, &plain_setup);
    connect_qp(&e, e.side.qp, &patient);
    for (uint32_t i = 0;; i++) send_numbered(&e, i, srq_length(i));
}

static vbn_srq *make_srq(struct side *side) {
    vbn_srq_attr attr = {.struct_size = sizeof attr, .max_wr = SLOTS};
    vbn_srq *srq;
    CHECK_OK(vbn_srq_create(side->pd, &attr, &srq));
    return srq;
}

static void post_slot(struct side *side, uint64_t slot) {
    vbn_recv_wr wr = recv_wr(side, slot, slot * SLOT, SLOT);
    uint32_t posted = 99;
    CHECK_OK(vbn_srq_post_recv(side->srq, &wr, 1, &posted));
    CHECK_UEQ(posted, 1);
}

/* The end that two processes send to: a's queue pair is the side's own, b's is another; both receive from one queue. */
static struct end a, b;
static vbn_qp *second;

static void open_hub(const char *role_a, const char *role_b, const struct setup *setup) {
    memset(&b, 0, sizeof b);
    second = NULL;
    start_and_open(&a, role_a, setup);
    start(&b, role_b);
    b.side = a.side;
    vbn_qp_init_attr init = {.struct_size = sizeof init, .send_cq = a.side.cq, .srq = a.side.srq};
    CHECK_OK(vbn_qp_create(a.side.pd, &init, &second));
}

/* The hub sends to nobody but the dead. */
static void join_hub(void) {
    connect_qp(&a, a.side.qp, &hasty);
    connect_qp(&b, second, &hasty);
}

static void close_hub(void) {
    CHECK_OK(vbn_qp_close(&second));
    side_close(&a.side);
}

/* Takes one message and verifies it; `next` is the number that each of the two comes to. Returns whose it was. */
static int take_numbered(uint32_t next[2]) {
    vbn_wc wc = next_wc(&a.side);
    CHECK_OK(vbn_wc_check(&wc));
    int which = second && wc.qp_num == vbn_qp_num(second);
    if (!which) CHECK_UEQ(wc.qp_num, vbn_qp_num(a.side.qp));
    CHECK_UEQ(wc.imm, next[which]);
    uint32_t length = srq_length(wc.imm);
    CHECK_UEQ(wc.byte_len, length);
    CHECK(wc.wr_id < SLOTS);
    static uint8_t expected[SLOT];
    fill(expected, length, wc.imm);
    CHECK_MEM(a.side.memory + wc.wr_id * SLOT, expected, length);
    next[which]++;
    post_slot(&a.side, wc.wr_id);
    return which;
}

static const struct setup srq_setup = {.size = SLOTS * SLOT, .srq = make_srq};

static void srq(void) {
    uint32_t next[2] = {0, 0};
    open_hub("srq", "srq", &srq_setup);
    for (uint64_t i = 0; i < SLOTS; i++) post_slot(&a.side, i);
    join_hub();
    meet(a.fd);
    meet(b.fd);
    for (int i = 0; i < 2 * SRQ_MESSAGES; i++) take_numbered(next);
    CHECK_UEQ(next[0], SRQ_MESSAGES);
    CHECK_UEQ(next[1], SRQ_MESSAGES);
    check_no_wc(&a.side);
    meet(a.fd);
    process_end(a.pid, a.fd);
    meet(b.fd);
    process_end(b.pid, b.fd);
    close_hub();
}

/* One dies while it sends: what it has sent is whole, and the other is served from the same queue. */
static void srq_peer_dies(void) {
    uint32_t next[2] = {0, 0};
    open_hub("flood_srq", "srq", &srq_setup);
    for (uint64_t i = 0; i < SLOTS; i++) post_slot(&a.side, i);
    join_hub();
    while (next[0] < 20) take_numbered(next);
    process_kill(a.pid);
    close(a.fd);
    meet(b.fd);
    while (next[1] < SRQ_MESSAGES) take_numbered(next);
    CHECK_OK(vbn_qp_close(&a.side.qp));
    check_no_wc(&a.side);
    meet(b.fd);
    process_end(b.pid, b.fd);
    CHECK_OK(vbn_qp_close(&second));
    CHECK_OK(vbn_srq_close(&a.side.srq));
    vbn_live_info live = live_info(a.side.context);
    CHECK_UEQ(live.srq_closed + live.srq_refused + live.qp_open, 0);
    side_close(&a.side);
}

/* ---- Atomics ---- */

/* In the hub's memory: the number that all add to, a lock, and a number that only its holder may touch. */
enum { COUNTER = 0, LOCK = 64, GUARDED = 128, ADDS = 300, LOCKED = 40 };

static uint64_t number(const struct side *side, uint64_t offset) {
    uint64_t value;
    memcpy(&value, side->memory + offset, sizeof value);
    return value;
}

static void put(struct side *side, uint64_t offset, uint64_t value) {
    memcpy(side->memory + offset, &value, sizeof value);
}

/* Does an atomic to the hub's number at `offset`; returns what was there. */
static uint64_t atomic_at(uint32_t opcode, uint64_t offset, uint64_t compare_add, uint64_t swap) {
    vbn_send_wr wr = to_their_memory(&e, opcode, offset, offset, 8);
    wr.compare_add = compare_add;
    wr.swap = swap;
    run_send(&e.side, &wr);
    return number(&e.side, offset);
}

static void open_adder(int fd) {
    open_end(&e, fd, &atomics_setup);
    connect_qp(&e, e.side.qp, &patient);
    meet(e.fd); /* go */
}

/* Adds, and tells what was there each time; then adds to the guarded number, by READ and WRITE under the lock. */
static void client_atomics(int fd) {
    uint64_t seen[ADDS], id = (uint64_t)getpid();
    open_adder(fd);
    for (int i = 0; i < ADDS; i++) seen[i] = atomic_at(VBN_WR_ATOMIC_FETCH_AND_ADD, COUNTER, 1, 0);
    tell(e.fd, seen, sizeof seen);
    for (int i = 0; i < LOCKED; i++) {
        while (atomic_at(VBN_WR_ATOMIC_CMP_AND_SWP, LOCK, 0, id) != 0) sched_yield();
        vbn_send_wr wr = to_their_memory(&e, VBN_WR_RDMA_READ, 1, GUARDED, 8);
        run_send(&e.side, &wr);
        put(&e.side, GUARDED, number(&e.side, GUARDED) + 1);
        wr = to_their_memory(&e, VBN_WR_RDMA_WRITE, 2, GUARDED, 8);
        run_send(&e.side, &wr);
        CHECK_UEQ(atomic_at(VBN_WR_ATOMIC_CMP_AND_SWP, LOCK, id, 0), id);
    }
    leave(&e);
}

/* Adds until it is killed, and tells each number that it has got. */
static void flood_atomics(int fd) {
    open_adder(fd);
    for (;;) {
        uint64_t seen = atomic_at(VBN_WR_ATOMIC_FETCH_AND_ADD, COUNTER, 1, 0);
        tell(e.fd, &seen, sizeof seen);
    }
}

static void need_atomics(void) {
    vbn_context *context = NULL;
    vbn_caps caps = {.struct_size = sizeof caps};
    need_rc(test_device());
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_context_caps(context, &caps));
    CHECK_OK(vbn_context_close(&context));
    if (!(caps.caps & VBN_CAP_ATOMICS)) LACKS("%s has no atomics", test_device());
}

/* Marks the numbers that one has got: all below `end`, in rising order, none twice. */
static void mark(uint8_t *marks, const uint64_t *seen, int count, uint64_t end) {
    for (int i = 0; i < count; i++) {
        CHECK(seen[i] < end);
        CHECK(i == 0 || seen[i] > seen[i - 1]);
        CHECK_EQ(marks[seen[i]]++, 0);
    }
}

static void atomics(void) {
    static uint64_t seen_a[ADDS], seen_b[ADDS];
    static uint8_t marks[2 * ADDS];
    need_atomics();
    memset(marks, 0, sizeof marks);
    open_hub("atomics", "atomics", &atomics_setup);
    join_hub();
    meet(a.fd);
    meet(b.fd);
    hear(a.fd, seen_a, sizeof seen_a);
    hear(b.fd, seen_b, sizeof seen_b);
    CHECK_UEQ(number(&a.side, COUNTER), 2 * ADDS);
    mark(marks, seen_a, ADDS, 2 * ADDS);
    mark(marks, seen_b, ADDS, 2 * ADDS);
    meet(a.fd);
    process_end(a.pid, a.fd);
    meet(b.fd);
    process_end(b.pid, b.fd);
    CHECK_UEQ(number(&a.side, GUARDED), 2 * LOCKED);
    CHECK_UEQ(number(&a.side, LOCK), 0);
    close_hub();
}

/* One dies while it adds: what it has been told of has been added, and at most one more; the other's sum is right. */
static void atomics_peer_dies(void) {
    enum { MOST = 100000 };
    static uint64_t seen_b[ADDS];
    uint64_t seen, told = 0, last = 0;
    need_atomics();
    open_hub("flood_atomics", "atomics", &atomics_setup);
    join_hub();
    meet(a.fd);
    for (; told < 50; told++) {
        hear(a.fd, &seen, sizeof seen);
        CHECK(told == 0 || seen > last);
        last = seen;
    }
    process_kill(a.pid);
    while (read(a.fd, &seen, sizeof seen) == (ssize_t)sizeof seen) {
        CHECK(seen > last && told < MOST);
        last = seen;
        told++;
    }
    close(a.fd);
    meet(b.fd);
    hear(b.fd, seen_b, sizeof seen_b);
    for (int i = 1; i < ADDS; i++) CHECK(seen_b[i] > seen_b[i - 1]);
    meet(b.fd);
    process_end(b.pid, b.fd);
    uint64_t sum = number(&a.side, COUNTER);
    test_note("the dead one was told of %llu additions, %llu were made", (unsigned long long)told, (unsigned long long)(sum - ADDS));
    CHECK(sum == told + ADDS || sum == told + 1 + ADDS);
    CHECK_UEQ(number(&a.side, GUARDED), LOCKED);
    /* The other way round: an atomic to the dead fails. */
    vbn_send_wr wr = to_their_memory(&a, VBN_WR_ATOMIC_FETCH_AND_ADD, 7, 0, 8);
    wr.compare_add = 1;
    check_gone(&a, &wr);
    close_hub();
}

/* ---- Memory windows ---- */

enum { FROM = 8192, LENGTH = 32768 };

/* What the owner tells of its window. */
struct offer {
    uint64_t addr;
    uint32_t rkey;
};

static vbn_mw *make_window(struct side *side) {
    vbn_mw *mw = NULL;
    CHECK_OK(vbn_mw_alloc(side->pd, VBN_MW_TYPE_2, NULL, &mw));
    return mw;
}

static struct offer bind_offer(struct side *side, vbn_mw *mw) {
    struct offer offer = {.addr = vbn_mr_remote_addr(side->mr) + FROM};
    offer.rkey = bind_window(side, mw, FROM, LENGTH, VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ);
    return offer;
}

/* Checked here, so that this side says what is missing. */
static void need_windows(void) {
    vbn_caps caps = {.struct_size = sizeof caps};
    need_rc(test_device());
    side_open(&e.side, &windows_setup);
    CHECK_OK(vbn_context_caps(e.side.context, &caps));
    uint64_t wanted = VBN_QP_OP_BIND_MW | VBN_QP_OP_LOCAL_INV | VBN_QP_OP_SEND_WITH_INV;
    int has = (caps.caps & VBN_CAP_MW) && (qp_info(e.side.qp).send_ops & wanted) == wanted;
    if (has) {
        vbn_mw *mw = make_window(&e.side);
        CHECK_OK(vbn_mw_close(&mw));
    }
    side_close(&e.side);
    if (!has) LACKS("%s has no memory windows of type 2", test_device());
}

/* Offers a window, verifies what is written there, and takes it back: once itself, once by the peer's SEND. */
static void serve_windows(int fd) {
    open_end(&e, fd, &windows_setup);
    connect_qp(&e, e.side.qp, &patient);
    vbn_mw *mw = make_window(&e.side);
    for (int round = 0; round < 2; round++) {
        struct offer offer = bind_offer(&e.side, mw);
        if (round == 1) post_recv(&e.side, 50, 0, 64);
        tell(e.fd, &offer, sizeof offer);
        uint64_t sum, own;
        hear(e.fd, &sum, sizeof sum);
        own = checksum(e.side.memory + FROM, LENGTH);
        CHECK_UEQ(own, sum);
        meet(e.fd);
        if (round == 0) {
            invalidate_window(&e.side, offer.rkey);
            meet(e.fd);
            /* The peer's next request broke the connection. */
            for (int i = 0; i < 6000 && qp_state(e.side.qp) != VBN_QPS_ERR; i++) sleep_ms(10);
            qp_force(e.side.qp, VBN_QPS_RESET);
            connect_qp(&e, e.side.qp, &patient);
        } else {
            CHECK_UEQ(next_ok(&e.side, 50).imm, offer.rkey);
            meet(e.fd);
        }
        CHECK_UEQ(checksum(e.side.memory + FROM, LENGTH), own);
    }
    CHECK_OK(vbn_mw_close(&mw));
    leave(&e);
}

static vbn_send_wr through(const struct offer *offer, uint32_t opcode, uint64_t wr_id) {
    vbn_send_wr wr = send_wr(&e.side, &e.side, opcode, wr_id, FROM, LENGTH);
    wr.remote_addr = offer->addr;
    wr.rkey = offer->rkey;
    return wr;
}

static void check_refused(const struct offer *offer) {
    fill(e.side.memory + FROM, LENGTH, 4711);
    vbn_send_wr wr = through(offer, VBN_WR_RDMA_WRITE, 8);
    post_send(&e.side, &wr);
    CHECK_STR(vbn_wc_status_name(next_wc(&e.side).status), "REM_ACCESS_ERR");
}

static void windows(void) {
    struct offer offer;
    need_windows();
    start_and_open(&e, "windows", &windows_setup);
    connect_qp(&e, e.side.qp, &patient);
    for (uint32_t round = 0; round < 2; round++) {
        hear(e.fd, &offer, sizeof offer);
        CHECK(offer.rkey != e.theirs.rkey);
        fill(e.side.memory + FROM, LENGTH, 77 + round);
        uint64_t sum = checksum(e.side.memory + FROM, LENGTH);
        vbn_send_wr wr = through(&offer, VBN_WR_RDMA_WRITE, 1);
        run_send(&e.side, &wr);
        memset(e.side.memory + FROM, 0, LENGTH);
        wr = through(&offer, VBN_WR_RDMA_READ, 2);
        run_send(&e.side, &wr);
        CHECK_UEQ(checksum(e.side.memory + FROM, LENGTH), sum);
        tell(e.fd, &sum, sizeof sum);
        meet(e.fd);
        if (round == 1) {
            wr = send_wr(&e.side, &e.side, VBN_WR_SEND_WITH_INV, 3, 0, 10);
            wr.invalidate_rkey = offer.rkey;
            run_send(&e.side, &wr);
        }
        meet(e.fd);
        check_refused(&offer);
        if (round == 0) {
            qp_force(e.side.qp, VBN_QPS_RESET);
            connect_qp(&e, e.side.qp, &patient);
        }
    }
    end_well(&e);
}

/* Has a window bound and is killed. */
static void idle_windows(int fd) {
    open_end(&e, fd, &windows_setup);
    connect_qp(&e, e.side.qp, &patient);
    struct offer offer = bind_offer(&e.side, make_window(&e.side));
    tell(e.fd, &offer, sizeof offer);
    linger(&e);
}

/* Writes through the other's window until it is killed. */
static void flood_windows(int fd) {
    struct offer offer;
    open_end(&e, fd, &windows_setup);
    connect_qp(&e, e.side.qp, &patient);
    hear(e.fd, &offer, sizeof offer);
    fill(e.side.memory + FROM, LENGTH, 99);
    for (uint64_t i = 0;; i++) {
        vbn_send_wr wr = through(&offer, VBN_WR_RDMA_WRITE, i);
        run_send(&e.side, &wr);
        tell(e.fd, &i, sizeof i);
    }
}

static void windows_peer_dies(void) {
    struct offer offer;
    need_windows();
    /* The owner dies. */
    start_and_open(&e, "idle_windows", &windows_setup);
    connect_qp(&e, e.side.qp, &patient);
    hear(e.fd, &offer, sizeof offer);
    vbn_send_wr wr = through(&offer, VBN_WR_RDMA_WRITE, 1);
    run_send(&e.side, &wr);
    process_kill(e.pid);
    check_gone(&e, &wr);
    end_dead(&e);

    /* The writer dies: the owner has the data, takes the window back and closes. */
    start_and_open(&e, "flood_windows", &windows_setup);
    connect_qp(&e, e.side.qp, &patient);
    vbn_mw *mw = make_window(&e.side);
    offer = bind_offer(&e.side, mw);
    tell(e.fd, &offer, sizeof offer);
    uint64_t written;
    for (int i = 0; i < 20; i++) hear(e.fd, &written, sizeof written);
    process_kill(e.pid);
    static uint8_t expected[LENGTH];
    fill(expected, LENGTH, 99);
    CHECK_MEM(e.side.memory + FROM, expected, LENGTH);
    CHECK_STATUS(vbn_mr_close(&e.side.mr), VBN_ERR_BUSY);
    invalidate_window(&e.side, offer.rkey);
    CHECK_OK(vbn_mr_close(&e.side.mr));
    CHECK_OK(vbn_mw_close(&mw));
    end_dead(&e);
}

static const struct test tests[] = {
    {"write_and_read_back", write_and_read_back},
    {"peer_dies", peer_dies},
    {"uc", uc},
    {"uc_peer_dies", uc_peer_dies},
    {"ud", ud},
    {"ud_peer_dies", ud_peer_dies},
    {"group_member_dies", group_member_dies},
    {"srq", srq},
    {"srq_peer_dies", srq_peer_dies},
    {"atomics", atomics},
    {"atomics_peer_dies", atomics_peer_dies},
    {"windows", windows},
    {"windows_peer_dies", windows_peer_dies},
    {NULL, NULL},
};

static const struct role roles[] = {
    {"rc", serve_rc},
    {"idle_rc", idle_rc},
    {"uc", serve_uc},
    {"idle_uc", idle_uc},
    {"ud", serve_ud},
    {"idle_ud", idle_ud},
    {"group", serve_group},
    {"srq", client_srq},
    {"flood_srq", flood_srq},
    {"atomics", client_atomics},
    {"flood_atomics", flood_atomics},
    {"windows", serve_windows},
    {"idle_windows", idle_windows},
    {"flood_windows", flood_windows},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    int status;
    if (process_role(PROGRAM, roles, argc, argv, &status)) return status;
    return test_main(PROGRAM, tests, argc, argv);
}
