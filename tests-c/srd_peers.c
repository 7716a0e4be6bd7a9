/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Peers of an EFA and the handles that they share: both directions, two behind one GID, the cache, forks, and every order of closing. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "srd.h"

enum { TARGET = 32768 };

static struct srd_side a, b;

static void open_both(void) {
    struct srd_setup second = {.device = need_second()};
    srd_open(&a, NULL);
    srd_open(&b, &second);
    CHECK(memcmp(a.endpoint.gid, b.endpoint.gid, 16) != 0);
}

static void close_both(void) {
    srd_close(&a);
    srd_close(&b);
}

static void close_peer(vbn_peer **peer) {
    CHECK_OK(vbn_peer_close(peer));
    CHECK(*peer == NULL);
}

/* A peer at a GID that nobody has. */
static vbn_peer *nobody(const struct srd_side *side, uint8_t number) {
    vbn_endpoint endpoint = {.gid = {0xfe, 0x80, [14] = 0xbe, [15] = number}, .qp_num = 1, .qkey = 1};
    vbn_peer *peer = NULL;
    CHECK_OK(vbn_peer_from_endpoint(side->pd, &endpoint, NULL, &peer));
    return peer;
}

static void check_handles(const struct srd_side *side, uint32_t used, uint32_t idle) {
    vbn_live_info live = live_info(side->context);
    CHECK_UEQ(live.ah_cached, used);
    CHECK_UEQ(live.ah_idle, idle);
}

static vbn_send_wr read_from(vbn_peer *peer, uint64_t wr_id) {
    return srd_wr_at(&a, peer, &b, VBN_WR_RDMA_READ, wr_id, 0, TARGET, 5000);
}

/* From a to a queue pair of b's: by READ, or by a message where there is no READ. */
static void reach(vbn_peer *peer, vbn_qp *to, uint64_t wr_id) {
    vbn_send_wr wr = read_from(peer, wr_id);
    vbn_recv_wr recv = {.wr_id = wr_id, .num_sge = 1, .sge = {.addr = vbn_mr_remote_addr(b.mr), .length = 5000, .lkey = vbn_mr_lkey(b.mr)}};
    uint32_t posted = 0;
    if (a.caps & VBN_EFA_CAP_RDMA_READ) {
        srd_run(&a, &wr);
        return;
    }
    CHECK_OK(vbn_qp_post_recv(to, &recv, 1, &posted));
    wr.opcode = VBN_WR_SEND;
    srd_run(&a, &wr);
    CHECK_UEQ(srd_ok(&b, wr_id).qp_num, vbn_qp_num(to));
}

/* ---- two devices ---- */

static void send_both_ways(void) {
    open_both();
    vbn_peer *to_b = srd_peer(&a, &b), *to_a = srd_peer(&b, &a);
    for (int i = 0; i < 3; i++) {
        srd_alive(&a, &b, to_b);
        srd_alive(&b, &a, to_a);
    }
    close_peer(&to_a);
    close_peer(&to_b);
    close_both();
}

static void write_and_read(void) {
    need_read();
    open_both();
    vbn_peer *to_b = srd_peer(&a, &b), *to_a = srd_peer(&b, &a);
    fill(a.memory, 5000, 1);
    fill(b.memory + TARGET, 5000, 2);
    if (a.caps & VBN_EFA_CAP_RDMA_WRITE) {
        vbn_send_wr wr = srd_wr_at(&a, to_b, &b, VBN_WR_RDMA_WRITE, 1, 0, 0, 5000);
        srd_run(&a, &wr);
        CHECK_MEM(b.memory, a.memory, 5000);
    }
    vbn_send_wr wr = read_from(to_b, 2);
    srd_run(&a, &wr);
    CHECK_MEM(a.memory, b.memory + TARGET, 5000);
    srd_no_wc(&b); /* the side that is read from learns nothing */
    close_peer(&to_a);
    close_peer(&to_b);
    close_both();
}

/* The side that is read from or written to needs a handle for the one that does it; for a SEND it does not. */
static void reverse_handle(void) {
    need_read();
    open_both();
    vbn_peer *to_b = srd_peer(&a, &b);
    srd_alive(&a, &b, to_b);
    vbn_send_wr wr = read_from(to_b, 1);
    srd_post(&a, &wr);
    vbn_wc wc = srd_failed(&a, 1, 14);
    srd_explained(&wc, "UNKNOWN_PEER");
    if (a.caps & VBN_EFA_CAP_RDMA_WRITE) {
        wr.opcode = VBN_WR_RDMA_WRITE;
        srd_post(&a, &wr);
        srd_failed(&a, 1, 14);
        wr.opcode = VBN_WR_RDMA_READ;
    }
    vbn_peer *to_a = srd_peer(&b, &a);
    srd_run(&a, &wr);
    srd_alive(&a, &b, to_b);
    close_peer(&to_a);
    close_peer(&to_b);
    close_both();
}

/* A closed peer leaves its handle idle: the other side's access goes on until the handle is trimmed. */
static void idle_keeps_access(void) {
    uint32_t gone = 99;
    need_read();
    open_both();
    vbn_peer *to_b = srd_peer(&a, &b), *to_a = srd_peer(&b, &a);
    check_handles(&b, 1, 0);
    close_peer(&to_a);
    check_handles(&b, 0, 1);
    vbn_send_wr wr = read_from(to_b, 1);
    srd_run(&a, &wr);
    CHECK_OK(vbn_pd_trim_ahs(b.pd, 0, &gone));
    CHECK_UEQ(gone, 1);
    check_handles(&b, 0, 0);
    srd_post(&a, &wr);
    srd_failed(&a, 1, 14);
    to_a = srd_peer(&b, &a);
    srd_run(&a, &wr);
    close_peer(&to_a);
    close_peer(&to_b);
    close_both();
}

/* Two queue pairs behind one GID: a peer for each, one handle. One peer is closed, the other works on. */
static void behind_one_gid(void) {
    open_both();
    vbn_qp *second = srd_another_qp(&b, NULL);
    vbn_peer *to_first = srd_peer(&a, &b), *to_second = srd_peer_of(&a, second), *back = srd_peer(&b, &a), *copy = to_second;
    CHECK(to_first != to_second);
    check_handles(&a, 1, 0);
    CHECK_UEQ(live_info(a.context).peer_open, 2);
    reach(to_first, b.qp, 1);
    reach(to_second, second, 2);
    close_peer(&to_second);
    check_handles(&a, 1, 0);
    reach(to_first, b.qp, 1);
    srd_alive(&a, &b, to_first);
    vbn_send_wr wrs[2] = {srd_wr(&a, to_first, VBN_WR_SEND, 1, 0, 64), srd_wr(&a, copy, VBN_WR_SEND, 2, 0, 64)};
    srd_refused(a.qp, wrs, 2, VBN_ERR_CLOSED, 1, "vbn_peer");
    to_second = srd_peer_of(&a, second);
    reach(to_second, second, 2);
    close_peer(&to_first);
    reach(to_second, second, 2);
    close_peer(&to_second);
    close_peer(&back);
    CHECK_OK(vbn_qp_close(&second));
    close_both();
}

/* ---- the cache ---- */

static void cache_counts(void) {
    srd_open(&a, NULL);
    check_handles(&a, 0, 0);
    vbn_peer *self = srd_self(&a), *again = srd_self(&a), *other = nobody(&a, 1);
    check_handles(&a, 2, 0);
    vbn_ah_attr attr = {.struct_size = sizeof attr};
    vbn_ah *ah = NULL;
    memcpy(attr.path.dgid, a.endpoint.gid, 16);
    CHECK_OK(vbn_ah_create(a.pd, &attr, &ah));
    check_handles(&a, 2, 0);
    CHECK_UEQ(live_info(a.context).ah_open, 1);
    CHECK_UEQ(live_info(a.context).peer_open, 3);
    close_peer(&self);
    close_peer(&other);
    check_handles(&a, 1, 1);
    close_peer(&again);
    check_handles(&a, 1, 1); /* the vbn_ah's */
    CHECK_OK(vbn_ah_close(&ah));
    check_handles(&a, 0, 2);
    other = nobody(&a, 1); /* the idle one is taken again */
    check_handles(&a, 1, 1);
    close_peer(&other);
    /* Another PD of the same device has handles of its own. */
    vbn_pd *pd = NULL;
    CHECK_OK(vbn_pd_alloc(a.context, NULL, &pd));
    CHECK_OK(vbn_peer_from_endpoint(pd, &a.endpoint, NULL, &self));
    check_handles(&a, 1, 2);
    close_peer(&self);
    check_handles(&a, 0, 3);
    CHECK_OK(vbn_pd_close(&pd)); /* takes its own along */
    check_handles(&a, 0, 2);
    srd_close(&a);
}

/* What is in use stays; of the idle ones the youngest are kept. */
static void trim(void) {
    uint32_t gone = 99;
    srd_open(&a, NULL);
    vbn_peer *self = srd_self(&a), *idle[4];
    for (uint8_t i = 0; i < 4; i++) idle[i] = nobody(&a, i);
    for (int i = 3; i >= 0; i--) close_peer(&idle[i]); /* number 0 is the youngest */
    check_handles(&a, 1, 4);
    CHECK_OK(vbn_pd_trim_ahs(a.pd, 5, &gone));
    CHECK_UEQ(gone, 0);
    CHECK_OK(vbn_pd_trim_ahs(a.pd, 2, &gone));
    CHECK_UEQ(gone, 2);
    check_handles(&a, 1, 2);
    for (uint8_t i = 0; i < 2; i++) idle[i] = nobody(&a, i); /* these were kept */
    check_handles(&a, 3, 0);
    for (int i = 0; i < 2; i++) close_peer(&idle[i]);
    CHECK_OK(vbn_pd_trim_ahs(a.pd, 0, NULL));
    check_handles(&a, 1, 0);
    CHECK_OK(vbn_pd_trim_ahs(a.pd, 0, &gone));
    CHECK_UEQ(gone, 0);
    srd_alive(&a, &a, self);
    close_peer(&self);
    srd_close(&a);
}

/* The device is full: the oldest idle handle goes, here that by which the second device has access. */
static void inner_evict(void) {
    open_both();
    vbn_peer *to_a = srd_peer(&b, &a), *own = srd_peer(&a, &b), *idle[2] = {nobody(&a, 0), nobody(&a, 1)};
    close_peer(&own);
    for (int i = 0; i < 2; i++) close_peer(&idle[i]);
    check_handles(&a, 0, 3);
    vbn_send_wr wr = srd_wr_at(&b, to_a, &a, VBN_WR_RDMA_READ, 1, 0, TARGET, 64);
    srd_run(&b, &wr);
    vbn_peer *last = nobody(&a, 2); /* this one is refused at first */
    check_handles(&a, 1, 2);
    srd_post(&b, &wr);
    srd_failed(&b, 1, 14);
    for (uint8_t i = 0; i < 2; i++) idle[i] = nobody(&a, i);
    check_handles(&a, 3, 0);
    for (int i = 0; i < 2; i++) close_peer(&idle[i]);
    close_peer(&last);
    close_peer(&to_a);
    close_both();
}

/* The same with all in use: an error that says what to do, and nothing is lost. */
static void inner_full(void) {
    srd_open(&a, NULL);
    vbn_peer *self = srd_self(&a), *peer = NULL;
    CHECK_STATUS(vbn_peer_from_endpoint(a.pd, &(vbn_endpoint){.gid = {0xfe, 0x80, [15] = 9}}, NULL, &peer), VBN_ERR_NO_MEMORY);
    CHECK(peer == NULL);
    CHECK_HAS(test_error().message, "close peers");
    check_handles(&a, 1, 0);
    srd_alive(&a, &a, self);
    close_peer(&self);
    srd_close(&a);
}

/* A request is on its way to a GID while another peer there is closed: it is not flushed. */
static void inner_in_flight(void) {
    srd_open(&a, NULL);
    vbn_qp *second = srd_another_qp(&a, NULL);
    vbn_peer *self = srd_self(&a), *to_second = srd_peer_of(&a, second);
    fill(a.memory + TARGET, 5000, 6);
    vbn_send_wr wr = srd_wr_at(&a, to_second, &a, VBN_WR_RDMA_READ, 1, 0, TARGET, 5000);
    srd_post(&a, &wr);
    srd_no_wc(&a);
    close_peer(&self);
    srd_no_wc(&a);
    srd_ok(&a, 1);
    CHECK_MEM(a.memory, a.memory + TARGET, 5000);
    /* Nor when its own peer is closed: the handle is kept. */
    srd_post(&a, &wr);
    close_peer(&to_second);
    srd_ok(&a, 1);
    /* When that is trimmed, the device does what it was kept for. */
    to_second = srd_peer_of(&a, second);
    wr.peer = to_second;
    srd_post(&a, &wr);
    close_peer(&to_second);
    CHECK_OK(vbn_pd_trim_ahs(a.pd, 0, NULL));
    vbn_wc wc = srd_failed(&a, 1, 1);
    CHECK_EQ(wc.status, VBN_WC_WR_FLUSH_ERR);
    CHECK_OK(vbn_qp_close(&second));
    srd_close(&a);
}

static void evict(void) {
    need_second();
    need_read();
    under_faults("fail command create_ah 4 errno 12 device 0\n", "evict");
}
static void full(void) {
    under_faults("fail command create_ah 2 errno 12\n", "full");
}
static void in_flight(void) {
    need_read();
    under_faults("delay 500ms for request 1..3\n", "in_flight");
}

/* ---- fork ---- */

static vbn_peer *inherited, *inherited_back;

static void child_closes(void) {
    vbn_wc wc;
    uint32_t number = 99;
    vbn_send_wr wr = srd_wr(&a, inherited, VBN_WR_SEND, 1, 0, 64);
    CHECK_STATUS(vbn_qp_post_send(a.qp, &wr, 1, &number), VBN_ERR_FORKED);
    CHECK_UEQ(number, 0);
    CHECK_STATUS(vbn_cq_poll(a.cq, 1, &wc, &number), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_pd_trim_ahs(a.pd, 0, &number), VBN_ERR_FORKED);
    close_peer(&inherited);
    close_peer(&inherited_back);
    close_both();
}

/* The child's own objects work, and its handles are its own. */
static void child_opens(void) {
    struct srd_side own;
    srd_open(&own, NULL);
    vbn_peer *self = srd_self(&own);
    check_handles(&own, 1, 0);
    srd_alive(&own, &own, self);
    child_closes();
    srd_alive(&own, &own, self);
    close_peer(&self);
    srd_close(&own);
}

static void fork_with(const char *name, void (*body)(void)) {
    struct test test = {name, body};
    open_both();
    inherited = srd_peer(&a, &b);
    inherited_back = srd_peer(&b, &a);
    vbn_peer *idle = nobody(&a, 1);
    close_peer(&idle);
    pid_t pid = test_fork();
    if (pid == 0) exit(test_child("srd_peers", &test)); /* with all that libraries have registered for an exit */
    CHECK(pid > 0);
    for (int i = 0; i < 50; i++) reach(inherited, b.qp, 1);
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    if (status != 0) FAIL("the child failed: wait status 0x%x", status);
    check_handles(&a, 1, 1);
    for (int i = 0; i < 50; i++) reach(inherited, b.qp, 1);
    srd_alive(&b, &a, inherited_back);
    close_peer(&inherited);
    close_peer(&inherited_back);
    uint32_t gone = 0;
    CHECK_OK(vbn_pd_trim_ahs(a.pd, 0, &gone));
    CHECK_UEQ(gone, 2);
    close_both();
}

static void fork_closes(void) {
    fork_with("closes", child_closes);
}
static void fork_opens(void) {
    fork_with("opens", child_opens);
}

/* ---- orders of closing ---- */

enum { CONTEXT, PD, MR, CQ, QP, PEER, KINDS };

static vbn_peer *self_peer;

static vbn_status close_kind(int kind) {
    switch (kind) {
    case CONTEXT: return vbn_context_close(&a.context);
    case PD: return vbn_pd_close(&a.pd);
    case MR: return vbn_mr_close(&a.mr);
    case CQ: return vbn_cq_close(&a.cq);
    case QP: return vbn_qp_close(&a.qp);
    default: return vbn_peer_close(&self_peer);
    }
}

static int open_fds(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* What is not closed yet works on. */
static void check_rest(void) {
    if (self_peer && a.qp && a.mr && a.cq) srd_alive(&a, &a, self_peer);
}

static void in_order(const int *order, uint32_t number) {
    (void)number;
    int fds = open_fds();
    srd_open(&a, NULL);
    self_peer = srd_self(&a);
    for (int i = 0; i < KINDS; i++) {
        vbn_status status = close_kind(order[i]);
        if (status != VBN_OK)
            FAIL("order %d %d %d %d %d %d, step %d: %s", order[0], order[1], order[2], order[3], order[4], order[5], i, test_last_error());
        if (i < 2) check_rest();
    }
    srd_close(&a); /* frees the memory */
    CHECK_EQ(open_fds(), fds);
}

static void all_orders(void) {
    int order[KINDS] = {CONTEXT, PD, MR, CQ, QP, PEER};
    need_efa(test_device()); /* once before, so that what stays open for good is open */
    CHECK_UEQ(test_orders(order, KINDS, in_order), 720);
}

/* A PD goes with its last user, and its handles with it. */
static void peer_keeps_pd(void) {
    srd_open(&a, NULL);
    vbn_peer *self = srd_self(&a), *other = nobody(&a, 1);
    close_peer(&other);
    CHECK_OK(vbn_pd_close(&a.pd));
    vbn_live_info live = live_info(a.context);
    CHECK_UEQ(live.pd_open, 0);
    CHECK_UEQ(live.pd_closed, 1);
    check_handles(&a, 1, 1);
    srd_alive(&a, &a, self);
    CHECK_OK(vbn_qp_close(&a.qp));
    CHECK_OK(vbn_mr_close(&a.mr));
    CHECK_UEQ(live_info(a.context).pd_closed, 1);
    close_peer(&self);
    live = live_info(a.context);
    CHECK_UEQ(live.pd_closed, 0);
    CHECK_UEQ(live.pd_refused, 0);
    check_handles(&a, 0, 0);
    srd_close(&a);
}

static const struct test tests[] = {
    {"send_both_ways", send_both_ways},
    {"write_and_read", write_and_read},
    {"reverse_handle", reverse_handle},
    {"idle_keeps_access", idle_keeps_access},
    {"behind_one_gid", behind_one_gid},
    {"cache_counts", cache_counts},
    {"trim", trim},
    {"evict", evict},
    {"full", full},
    {"in_flight", in_flight},
    {"fork_closes", fork_closes},
    {"fork_opens", fork_opens},
    {"all_orders", all_orders},
    {"peer_keeps_pd", peer_keeps_pd},
    {NULL, NULL},
};

static const struct test inner[] = {
    {"evict", inner_evict},
    {"full", inner_full},
    {"in_flight", inner_in_flight},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return srd_main("srd_peers", tests, inner, argc, argv);
}
