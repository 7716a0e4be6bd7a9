/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Connected queue pairs and what tests do with them. Every function here ends the test when something fails. */
#ifndef TESTS_C_COMMON_H
#define TESTS_C_COMMON_H

#include <stdint.h>
#include <stdlib.h>

#include "harness.h"

#define SECOND INT64_C(1000000000)
/* Long enough for an emulated machine on a busy host. */
#define PATIENCE (60 * SECOND)

#define ACCESS_ALL (VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ)

struct side;

/* What differs from the usual. All zero: the usual. */
struct setup {
    const char *device; /* test_device() */
    uint64_t size;      /* bytes of memory: 64 KiB */
    uint64_t access;    /* ACCESS_ALL */
    uint32_t send_wr, recv_wr, send_sge, recv_sge, inline_data;
    uint32_t cqe; /* 256 */
    uint64_t fields; /* of an extended completion queue */
    uint64_t send_ops;
    int32_t qp_type; /* VBN_QPT_RC; UC, UD (without record) */
    vbn_srq *(*srq)(struct side *side); /* makes side->srq, for the queue pair to receive from */
    uint8_t sq_sig_all;
    uint8_t no_channel;
    const vbn_rc_attr *rc; /* for record and connection */
};

/* One end of a connection, with a device handle of its own. */
struct side {
    vbn_context *context;
    vbn_pd *pd;
    vbn_channel *channel;
    vbn_cq *cq;
    vbn_srq *srq;
    vbn_qp *qp;
    vbn_mr *mr;
    uint8_t *memory;
    uint64_t size;
    vbn_rc_record record;
    vbn_wc kept[8]; /* receives that came while run_send waited */
    uint32_t kept_count;
};

struct pair {
    struct side a, b;
};

/* Skips on a device without RC. */
void side_open(struct side *side, const struct setup *setup);
void side_close(struct side *side);

/* Both ends, in RESET or connected. */
void pair_open(struct pair *pair, const struct setup *setup);
void pair_connect(struct pair *pair, const struct setup *setup);
void pair_open_connected(struct pair *pair, const struct setup *setup);
void pair_close(struct pair *pair);

/* Fills memory with a pattern that a seed determines; no two bytes in a row repeat it. */
void fill(void *memory, uint64_t length, uint32_t seed);
uint64_t checksum(const void *memory, uint64_t length);

/* Requests on a side's own memory. A one-sided one aims at the same offset of the peer's memory. */
vbn_sge sge_at(const struct side *side, uint64_t offset, uint32_t length);
vbn_send_wr send_wr(const struct side *side, const struct side *peer, uint32_t opcode, uint64_t wr_id, uint64_t offset, uint32_t length);
vbn_recv_wr recv_wr(const struct side *side, uint64_t wr_id, uint64_t offset, uint32_t length);
void post_send(struct side *side, const vbn_send_wr *wr);
void post_recv(struct side *side, uint64_t wr_id, uint64_t offset, uint32_t length);

/* The next completion, which must come; the same, which must have succeeded and be of this request. */
vbn_wc next_wc(struct side *side);
vbn_wc next_ok(struct side *side, uint64_t wr_id);
/* A post and its success. Between the two a peer's answer may come in: nothing orders a receive's completion and that of the send which
 * it answers. Such receives are kept for next_wc. */
void run_send(struct side *side, const vbn_send_wr *wr);
/* No completion is there. */
void check_no_wc(struct side *side);
/* A write that arrives, as a sign of life of both ends. */
void check_alive(struct pair *pair);

/* ---- Datagrams ---- */

/* A UD receive begins with this many bytes for the header. */
#define GRH 40

void ud_prepare(struct side *side, uint32_t qkey);
/* The way from one side to another, which is prepared. */
vbn_peer *ud_peer(struct side *from, struct side *to);
vbn_send_wr ud_wr(const struct side *side, vbn_peer *peer, uint64_t wr_id, uint64_t offset, uint32_t length);

/* Multicast on a second device of RoCE v2, from the first one's link-local address, which needs no route to the group. Skips without a second. */
const char *second_device(void);
vbn_peer *group_peer(struct side *side, const uint8_t group[16], uint32_t qkey);
/* The receiving host must be a member of the IP group as well: as long as this socket is open. */
int join_group(struct side *side, const uint8_t group[16]);

/* ---- Threads ---- */

/* A thread can't end its test: it notes its first problem, with the library's last error, and gives up. */
struct problem {
    char text[1200]; /* empty: none */
};

/* Returns 1. */
int wrong(struct problem *problem, const char *what, int64_t number);

/* ---- Memory windows of type 2 ---- */

vbn_send_wr bind_wr(const vbn_bind_mw_ext *ext, uint64_t wr_id);
vbn_send_wr invalidate_wr(uint32_t rkey, uint64_t wr_id);
/* Binds the window to a part of the side's memory; returns its key once it is bound. The side's region must allow it. */
uint32_t bind_window(struct side *side, vbn_mw *mw, uint64_t offset, uint64_t length, uint64_t access);
void invalidate_window(struct side *side, uint32_t rkey);

int32_t qp_state(vbn_qp *qp);
vbn_qp_info qp_info(vbn_qp *qp);
vbn_mr_info mr_info(vbn_mr *mr);
vbn_live_info live_info(const vbn_context *context);
/* Takes the queue pair to a state by setting VBN_QP_STATE alone (RESET, ERR). */
void qp_force(vbn_qp *qp, int32_t state);

int is_soft_roce(const char *device);
/* Ends a test for which something is missing: a failure in the VM, whose soft-RoCE, kernel and libraries are known to have it; elsewhere a skip. */
#define LACKS(...)                                   \
    do {                                             \
        if (getenv("VMRUN_GUEST")) FAIL(__VA_ARGS__); \
        SKIP(__VA_ARGS__);                           \
    } while (0)
/* Skips the test on a device without RC queue pairs, with the reason "needs RC: ...". Leaves nothing open. */
void need_rc(const char *device);
void sleep_ms(int ms);

#endif
