/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two processes exchange records over a socket; one writes 4 MiB into the other, which verifies them, and reads them back. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

#define SIZE (4 << 20)
#define PIECE (256 << 10)

/* What one side tells the other besides the record. */
struct greeting {
    uint8_t record[VBN_RC_RECORD_SIZE];
    uint64_t addr;
    uint32_t rkey;
};


static void send_all(int fd, const void *data, size_t size) {
    CHECK_EQ(write(fd, data, size), (ssize_t)size);
}

static void receive_all(int fd, void *data, size_t size) {
    uint8_t *to = data;
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, to + done, size - done);
        if (n <= 0) FAIL("the other process has gone");
        done += (size_t)n;
    }
}

/* Exchanges records and connects; fills `peer` with where the other's memory is. */
static void greet(int fd, struct side *side, struct greeting *peer) {
    struct greeting own;
    memset(&own, 0, sizeof own);
    CHECK_OK(vbn_rc_record_encode(&side->record, own.record, sizeof own.record));
    own.addr = vbn_mr_remote_addr(side->mr);
    own.rkey = vbn_mr_rkey(side->mr);
    send_all(fd, &own, sizeof own);
    receive_all(fd, peer, sizeof *peer);
    vbn_rc_record record;
    CHECK_OK(vbn_rc_record_decode(peer->record, sizeof peer->record, &record));
    CHECK_OK(vbn_qp_connect_rc(side->qp, &side->record, &record, NULL));
    /* Each may send only when the other can receive. */
    uint8_t ready = 1;
    send_all(fd, &ready, 1);
    receive_all(fd, &ready, 1);
}

static const struct setup large = {.size = SIZE};

/* The second process: receives, verifies, answers with the checksum, waits for the reader. */
static void serve(int fd) {
    struct side side;
    struct greeting peer;
    side_open(&side, &large);
    CHECK_OK(vbn_qp_to_init(side.qp, NULL));
    post_recv(&side, 1, 0, 0);
    greet(fd, &side, &peer);
    vbn_wc wc = next_ok(&side, 1);
    CHECK_EQ(wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wc.imm, 0xabcd0123);
    uint64_t sum = checksum(side.memory, SIZE);
    send_all(fd, &sum, sizeof sum);
    uint8_t done;
    receive_all(fd, &done, 1);
    side_close(&side);
}

static int child_fd;

static void serve_test(void) {
    serve(child_fd);
}

static vbn_send_wr piece(const struct side *side, const struct greeting *peer, uint32_t opcode, uint32_t i) {
    vbn_send_wr wr = {
        .wr_id = i,
        .flags = VBN_SEND_SIGNALED,
        .opcode = opcode,
        .num_sge = 1,
        .sge = sge_at(side, (uint64_t)i * PIECE, PIECE),
        .remote_addr = peer->addr + (uint64_t)i * PIECE,
        .rkey = peer->rkey,
    };
    return wr;
}

static void move_all(struct side *side, const struct greeting *peer, uint32_t opcode) {
    for (uint32_t i = 0; i < SIZE / PIECE; i++) {
        vbn_send_wr wr = piece(side, peer, opcode, i);
        post_send(side, &wr);
    }
    for (uint32_t i = 0; i < SIZE / PIECE; i++) next_ok(side, i);
}

static pid_t start_child(int fd, int others) {
    pid_t pid = fork();
    if (pid != 0) return pid;
    close(others);
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    execl("/proc/self/exe", "two_process", "--serve", number, (char *)NULL);
    _exit(127);
}

static void write_and_read_back(void) {
    int fds[2];
    struct side side;
    struct greeting peer;
    need_rc(test_device());
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pid_t pid = start_child(fds[1], fds[0]);
    CHECK(pid > 0);
    close(fds[1]);

    side_open(&side, &large);
    greet(fds[0], &side, &peer);
    fill(side.memory, SIZE, 2026);
    uint64_t sum = checksum(side.memory, SIZE), theirs = 0;
    move_all(&side, &peer, VBN_WR_RDMA_WRITE);
    vbn_send_wr last = {.wr_id = 99, .flags = VBN_SEND_SIGNALED, .opcode = VBN_WR_RDMA_WRITE_WITH_IMM, .imm = 0xabcd0123,
                        .remote_addr = peer.addr, .rkey = peer.rkey};
    run_send(&side, &last);
    receive_all(fds[0], &theirs, sizeof theirs);
    CHECK_UEQ(theirs, sum);

    memset(side.memory, 0, SIZE);
    move_all(&side, &peer, VBN_WR_RDMA_READ);
    CHECK_UEQ(checksum(side.memory, SIZE), sum);
    uint8_t done = 1;
    send_all(fds[0], &done, 1);
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    close(fds[0]);
    side_close(&side);
}

/* The peer process dies without a word: the writer learns of it, and can close. */
static void peer_dies(void) {
    int fds[2];
    struct side side;
    struct greeting peer;
    vbn_wc wc;
    need_rc(test_device());
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pid_t pid = start_child(fds[1], fds[0]);
    close(fds[1]);
    side_open(&side, &large);
    vbn_rc_record record;
    struct greeting own;
    memset(&own, 0, sizeof own);
    CHECK_OK(vbn_rc_record_encode(&side.record, own.record, sizeof own.record));
    send_all(fds[0], &own, sizeof own);
    receive_all(fds[0], &peer, sizeof peer);
    CHECK_OK(vbn_rc_record_decode(peer.record, sizeof peer.record, &record));
    vbn_rc_attr hasty = {.struct_size = sizeof hasty, .set = VBN_RC_SET_TIMEOUT | VBN_RC_SET_RETRY_CNT, .timeout = 12, .retry_cnt = 2};
    CHECK_OK(vbn_qp_connect_rc(side.qp, &side.record, &record, &hasty));
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    vbn_send_wr wr = piece(&side, &peer, VBN_WR_RDMA_WRITE, 0);
    post_send(&side, &wr);
    wc = next_wc(&side);
    CHECK_STR(vbn_wc_status_name(wc.status), "RETRY_EXC_ERR");
    close(fds[0]);
    side_close(&side);
}

static const struct test tests[] = {
    {"write_and_read_back", write_and_read_back},
    {"peer_dies", peer_dies},
    {NULL, NULL},
};

static const struct test child = {"serve", serve_test};

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--serve") == 0) {
        child_fd = atoi(argv[2]);
        return test_child("two_process", &child);
    }
    return test_main("two_process", tests, argc, argv);
}
