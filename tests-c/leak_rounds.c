/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Ten thousand rounds (or VBN_TEST_ROUNDS, at least 1000) of making and closing leave nothing behind: no memory, no descriptors, no objects of the device.
 * Fewer are run of what is slow. To open a device and close it costs 13 ms in the emulated VM, all but a twentieth of it libibverbs' own (the list of devices
 * from sysfs 8, ibv_open_device and ibv_close_device 4): ten thousand contexts on other devices, a thousand on soft-RoCE. As many failures, one of which
 * looks for a device; and TRAFFIC, SRD_ROUNDS.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "srd.h"

#define ROUNDS 10000
/* Those that open the device twice, connect and send: each costs as much as dozens of the others. */
#define TRAFFIC 100
/* softnic's object has tables in this heap, which grow by some 3 KiB in all: fewer rounds could not tell that from a byte a round. */
#define SRD_ROUNDS 6000

struct usage {
    long resident_kb;
    size_t heap;
    int fds;
};

static int count_fds(void) {
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir != NULL);
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

static long resident_kb(void) {
    char line[256];
    long kb = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld kB", &kb) == 1) break;
    fclose(file);
    return kb;
}

#if __GLIBC_PREREQ(2, 33)
#define HEAP_USED() mallinfo2().uordblks
#else /* right for a heap of less than 2 GiB */
#define HEAP_USED() (size_t)mallinfo().uordblks
#endif

static struct usage usage(void) {
    struct usage u = {.resident_kb = resident_kb(), .heap = HEAP_USED(), .fds = count_fds()};
    return u;
}

/* A hundredth of the rounds first, and some, so that what is allocated once is there, in each of the library's slots too, which take turns; then all,
   with next to no growth. */
static void check_all_rounds(const char *what, int rounds, void (*round)(int)) {
    for (int i = 0; i < rounds / 100 + 60; i++) round(i);
    struct usage before = usage();
    for (int i = 0; i < rounds; i++) round(i);
    struct usage after = usage();
    test_note("%d rounds of %s: heap %+ld bytes, resident %+ld kB, descriptors %+d", rounds, what, (long)after.heap - (long)before.heap,
              after.resident_kb - before.resident_kb, after.fds - before.fds);
    CHECK_EQ(after.fds, before.fds);
    /* A byte a round would be too much. */
    CHECK((long)after.heap - (long)before.heap < rounds);
    CHECK(after.resident_kb - before.resident_kb < 256);
}

static void check_rounds(const char *what, int rounds, void (*round)(int)) {
    const char *fewer = getenv("VBN_TEST_ROUNDS");
    check_all_rounds(what, fewer && rounds > 1000 ? atoi(fewer) : rounds, round);
}

static vbn_context *context;
static vbn_pd *pd;
static vbn_cq *cq;
static uint8_t memory[8192];

static void open_device(void) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_pd_alloc(context, NULL, &pd));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16};
    CHECK_OK(vbn_cq_create(context, &attr, &cq));
}

static void close_device(void) {
    vbn_live_info live = live_info(context);
    CHECK_UEQ(live.mr_open + live.qp_open + live.channel_open + live.srq_open + live.mw_open + live.peer_open + live.ah_open + live.td_open, 0);
    CHECK_UEQ(live.cq_closed + live.pd_closed + live.srq_closed + live.ah_closed + live.td_closed, 0);
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&context));
}

/* Every second time the domain is closed before its region. */
static void mr_round(int i) {
    vbn_pd *own = NULL;
    vbn_mr *mr = NULL;
    CHECK_OK(vbn_pd_alloc(context, NULL, &own));
    CHECK_OK(vbn_mr_reg(own, memory + i % 100, 4000, ACCESS_ALL, NULL, &mr));
    if (i % 2) CHECK_OK(vbn_pd_close(&own));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_pd_close(&own));
}

/* Every second time the queue is on the channel, which is closed first. */
static void cq_round(int i) {
    vbn_cq *own = NULL;
    vbn_channel *channel = NULL;
    CHECK_OK(vbn_channel_create(context, NULL, &channel));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .channel = i % 2 ? channel : NULL};
    CHECK_OK(vbn_cq_create(context, &attr, &own));
    CHECK_OK(vbn_channel_close(&channel));
    CHECK_OK(vbn_cq_close(&own));
}

static void qp_round(int i) {
    (void)i;
    vbn_qp *qp = NULL;
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = cq, .max_send_wr = 4, .max_recv_wr = 4};
    CHECK_OK(vbn_qp_create(pd, &attr, &qp));
    CHECK_OK(vbn_qp_close(&qp));
}

static int32_t type;

static void type_round(int i) {
    (void)i;
    vbn_qp *qp = NULL;
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = cq, .max_send_wr = 4, .max_recv_wr = 4, .qp_type = type};
    CHECK_OK(vbn_qp_create(pd, &attr, &qp));
    CHECK_OK(vbn_qp_close(&qp));
}

/* A shared receive queue, every second time closed before its queue pair. */
static void srq_round(int i) {
    vbn_srq *srq = NULL;
    vbn_qp *qp = NULL;
    vbn_srq_attr srq_attr = {.struct_size = sizeof srq_attr, .max_wr = 8};
    CHECK_OK(vbn_srq_create(pd, &srq_attr, &srq));
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = cq, .max_send_wr = 4, .srq = srq};
    CHECK_OK(vbn_qp_create(pd, &attr, &qp));
    if (i % 2) CHECK_OK(vbn_srq_close(&srq));
    CHECK_OK(vbn_qp_close(&qp));
    CHECK_OK(vbn_srq_close(&srq));
}

static void window_round(int i) {
    vbn_mw *mw = NULL;
    CHECK_OK(vbn_mw_alloc(pd, i % 2 ? VBN_MW_TYPE_1 : VBN_MW_TYPE_2, NULL, &mw));
    CHECK_OK(vbn_mw_close(&mw));
}

static vbn_endpoint here;

static void peer_round(int i) {
    (void)i;
    vbn_peer *peer = NULL;
    CHECK_OK(vbn_peer_from_endpoint(pd, &here, NULL, &peer));
    CHECK_OK(vbn_peer_close(&peer));
}

static vbn_qp *member;

static void group_round(int i) {
    const uint8_t group[16] = {[10] = 0xff, 0xff, 239, 1, 2, (uint8_t)i};
    CHECK_OK(vbn_qp_attach_mcast(member, group, 0));
    CHECK_OK(vbn_qp_detach_mcast(member, group, 0));
}

/* ---- From opening to closing, with what only traffic makes in between ---- */

static struct pair p;

static void uc_traffic_round(int i) {
    struct setup setup = {.qp_type = VBN_QPT_UC};
    pair_open_connected(&p, &setup);
    post_recv(&p.b, 1, 0, 64);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, (uint64_t)i, 0, 64);
    run_send(&p.a, &wr);
    next_ok(&p.b, 1);
    pair_close(&p);
}

static void ud_traffic_round(int i) {
    struct setup setup = {.qp_type = VBN_QPT_UD};
    pair_open(&p, &setup);
    ud_prepare(&p.a, 5);
    ud_prepare(&p.b, 5);
    vbn_peer *peer = ud_peer(&p.a, &p.b);
    post_recv(&p.b, 1, 0, GRH + 64);
    vbn_send_wr wr = ud_wr(&p.a, peer, (uint64_t)i, 0, 64);
    run_send(&p.a, &wr);
    vbn_wc wc = next_ok(&p.b, 1);
    vbn_ah *back = NULL;
    CHECK_OK(vbn_ah_from_wc(p.b.pd, &wc, p.b.memory, 1, &back));
    CHECK_OK(vbn_ah_close(&back));
    CHECK_OK(vbn_peer_close(&peer));
    pair_close(&p);
}

static vbn_srq *make_srq(struct side *side) {
    vbn_srq *srq;
    CHECK_OK(vbn_srq_create(side->pd, NULL, &srq));
    return srq;
}

/* A receive is left on the queue. */
static void srq_traffic_round(int i) {
    struct setup one = {.size = 4096}, two = {.size = 4096, .srq = make_srq};
    uint32_t posted;
    side_open(&p.a, &one);
    side_open(&p.b, &two);
    pair_connect(&p, NULL);
    vbn_recv_wr recv[2] = {recv_wr(&p.b, 1, 0, 64), recv_wr(&p.b, 2, 0, 64)};
    CHECK_OK(vbn_srq_post_recv(p.b.srq, recv, 2, &posted));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, (uint64_t)i, 0, 64);
    run_send(&p.a, &wr);
    next_ok(&p.b, 1);
    pair_close(&p);
}

static void atomics_traffic_round(int i) {
    static const vbn_rc_attr may = {
        .struct_size = sizeof may,
        .set = VBN_RC_SET_ACCESS,
        .access = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC,
    };
    struct setup setup = {.size = 4096, .rc = &may, .access = ACCESS_ALL | VBN_ACCESS_REMOTE_ATOMIC};
    pair_open_connected(&p, &setup);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 8);
    wr.compare_add = (uint64_t)i;
    run_send(&p.a, &wr);
    CHECK_MEM(p.b.memory, &wr.compare_add, 8);
    pair_close(&p);
}

/* Bound, every second time taken back, and closed before its region. */
static void window_traffic_round(int i) {
    struct setup setup = {.size = 4096, .access = ACCESS_ALL | VBN_ACCESS_MW_BIND};
    pair_open_connected(&p, &setup);
    vbn_mw *mw = NULL;
    CHECK_OK(vbn_mw_alloc(p.b.pd, VBN_MW_TYPE_2, NULL, &mw));
    uint32_t rkey = bind_window(&p.b, mw, 0, 64, VBN_ACCESS_REMOTE_WRITE);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 64);
    wr.rkey = rkey;
    run_send(&p.a, &wr);
    if (i % 2) invalidate_window(&p.b, rkey);
    CHECK_OK(vbn_mw_close(&mw));
    pair_close(&p);
}

static void domain_round(int i) {
    vbn_td *td = NULL;
    vbn_pd *parent = NULL;
    vbn_mr *mr = NULL;
    CHECK_OK(vbn_td_alloc(context, NULL, &td));
    CHECK_OK(vbn_pd_alloc_parent(pd, td, NULL, &parent));
    CHECK_OK(vbn_mr_reg(parent, memory, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    if (i % 2) CHECK_OK(vbn_td_close(&td));
    CHECK_OK(vbn_pd_close(&parent));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_td_close(&td));
}

static void context_round(int i) {
    (void)i;
    vbn_context *own = NULL;
    vbn_pd *own_pd = NULL;
    CHECK_OK(vbn_context_open(test_device(), NULL, &own));
    CHECK_OK(vbn_pd_alloc(own, NULL, &own_pd));
    CHECK_OK(vbn_context_close(&own));
    CHECK_OK(vbn_pd_close(&own_pd));
}

/* Failures leave nothing behind either. */
static void failure_round(int i) {
    (void)i;
    vbn_mr *mr = NULL;
    vbn_cq *own = NULL;
    vbn_qp *qp = NULL;
    vbn_context *none = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 1u << 30};
    vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .send_cq = cq, .max_inline_data = 1000000};
    CHECK_STATUS(vbn_mr_reg(pd, (void *)4096, 4096, ACCESS_ALL, NULL, &mr), VBN_ERR_DRIVER);
    CHECK(vbn_cq_create(context, &cq_attr, &own) != VBN_OK);
    CHECK(vbn_qp_create(pd, &qp_attr, &qp) != VBN_OK);
    CHECK_STATUS(vbn_context_open("no such device", NULL, &none), VBN_ERR_NOT_FOUND);
}

static void regions(void) {
    open_device();
    check_rounds("a protection domain and a region", ROUNDS, mr_round);
    close_device();
}

static void queues(void) {
    open_device();
    check_rounds("a channel and a completion queue", ROUNDS, cq_round);
    close_device();
}

static void queue_pairs(void) {
    need_rc(test_device());
    open_device();
    check_rounds("a queue pair", ROUNDS, qp_round);
    close_device();
}

static void rounds_of_type(int32_t which, const char *what) {
    need_rc(test_device());
    type = which;
    open_device();
    check_rounds(what, ROUNDS, type_round);
    close_device();
}

static void uc(void) {
    rounds_of_type(VBN_QPT_UC, "a UC queue pair");
    check_rounds("UC traffic", TRAFFIC, uc_traffic_round);
}

static void ud(void) {
    rounds_of_type(VBN_QPT_UD, "a UD queue pair");
    check_rounds("UD traffic", TRAFFIC, ud_traffic_round);
}

static void peers(void) {
    struct setup setup = {.qp_type = VBN_QPT_UD};
    struct side side;
    side_open(&side, &setup);
    ud_prepare(&side, 1);
    CHECK_OK(vbn_endpoint_local(side.qp, &here));
    open_device();
    check_rounds("a peer and its address handle", ROUNDS, peer_round);
    close_device();
    member = side.qp;
    check_rounds("a multicast group", ROUNDS, group_round);
    side_close(&side);
}

static void srqs(void) {
    need_rc(test_device());
    open_device();
    check_rounds("a shared receive queue and its queue pair", ROUNDS, srq_round);
    close_device();
    check_rounds("traffic by a shared receive queue", TRAFFIC, srq_traffic_round);
}

static void need_cap(uint64_t cap, const char *what) {
    vbn_caps caps = {.struct_size = sizeof caps};
    need_rc(test_device());
    open_device();
    CHECK_OK(vbn_context_caps(context, &caps));
    close_device();
    if (!(caps.caps & cap)) LACKS("%s has no %s", test_device(), what);
}

static void atomics(void) {
    need_cap(VBN_CAP_ATOMICS, "atomics");
    check_rounds("atomics", TRAFFIC, atomics_traffic_round);
}

static void windows(void) {
    need_cap(VBN_CAP_MW, "memory windows");
    open_device();
    check_rounds("a memory window", ROUNDS, window_round);
    close_device();
    check_rounds("writes through windows", TRAFFIC, window_traffic_round);
}

static void domains(void) {
    vbn_td *td = NULL;
    open_device();
    vbn_status status = vbn_td_alloc(context, NULL, &td);
    vbn_error_info error = test_error();
    CHECK_OK(vbn_td_close(&td));
    if (status == VBN_OK) check_rounds("a thread domain and its parent domain", ROUNDS, domain_round);
    close_device();
    if (status == VBN_ERR_NOT_SUPPORTED) SKIP("%s", error.message);
    CHECK_OK(status);
}

static void contexts(void) {
    check_rounds("a context", ROUNDS, context_round);
}

static void failures(void) {
    open_device();
    check_rounds("failures", ROUNDS / 10, failure_round);
    close_device();
}

/* ---- SRD ---- */

static struct srd_side srd_rig;

/* An extended completion queue and a queue pair on it, every second time closed before the pair. */
static void srd_round(int i) {
    vbn_cq *own = NULL;
    vbn_qp *qp = NULL;
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .fields = VBN_WC_EX_STANDARD};
    CHECK_OK(vbn_cq_create(srd_rig.context, &attr, &own));
    vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .send_cq = own, .qp_type = VBN_QPT_SRD, .max_send_wr = 4, .max_recv_wr = 4};
    CHECK_OK(vbn_qp_create(srd_rig.pd, &qp_attr, &qp));
    CHECK_OK(srd_prepare(qp, 5));
    if (i % 2) CHECK_OK(vbn_cq_close(&own));
    CHECK_OK(vbn_qp_close(&qp));
    CHECK_OK(vbn_cq_close(&own));
}

/* A peer whose handle is shared with another of the same GID, and taken away when both have closed. */
static void srd_peer_round(int i) {
    vbn_peer *one = srd_self(&srd_rig), *two = srd_self(&srd_rig);
    uint32_t gone = 99;
    CHECK_OK(vbn_peer_close(i % 2 ? &one : &two));
    CHECK_OK(vbn_peer_close(i % 2 ? &two : &one));
    CHECK_OK(vbn_pd_trim_ahs(srd_rig.pd, 0, &gone));
    CHECK_UEQ(gone, 1);
}

static void srd(void) {
    need_efa(test_device());
    srd_open(&srd_rig, NULL);
    check_all_rounds("an extended queue and an SRD queue pair", SRD_ROUNDS, srd_round);
    check_all_rounds("peers and their handle", SRD_ROUNDS, srd_peer_round);
    srd_close(&srd_rig);
}

static const struct test tests[] = {
    {"regions", regions},
    {"queues", queues},
    {"queue_pairs", queue_pairs},
    {"uc", uc},
    {"ud", ud},
    {"peers", peers},
    {"srqs", srqs},
    {"atomics", atomics},
    {"windows", windows},
    {"domains", domains},
    {"contexts", contexts},
    {"failures", failures},
    {"srd", srd},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("leak_rounds", tests, argc, argv);
}
