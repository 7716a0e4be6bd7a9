/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* softnic_speed ROUNDS SECONDS [CASE...]: how fast softnic moves data, and how fast the same machine does without it. bench/softnic-speed
 * builds it, runs it under softnic and makes a table. Each line of output is a case and its figure in one round: "pair 812.4" is ns
 * for one round trip, "read-pair 9120.1" MB/s; "skip CASE WHY" is one that can't be measured here.
 *
 * Two processes: the parent measures, the child is the other end. Every round measures each case once, about SECONDS long, so that a
 * busy machine is busy for all of them. What happens in one process is measured in processor time, which a busy machine changes
 * little; what takes two processes, in the time that passes. */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHECK(cond)                                                                                      \
    do {                                                                                                 \
        if (!(cond)) {                                                                                   \
            fprintf(stderr, "softnic_speed.c:%d: %s: %s\n", __LINE__, #cond, strerror(errno));           \
            exit(1);                                                                                     \
        }                                                                                                \
    } while (0)
#define CAPS_RDMA_WRITE (1u << 3) /* of device_caps; named in headers from rdma-core 46 on */

enum {
    SMALL = 64,
    BIG = 1 << 20,
    QKEY = 0x5eed,
    DEPTH = 16,
    SPINS = 16, /* looks in vain before the processor is offered to others, as two must who may share one; the same on softnic and in
                   shared memory */
};

static double round_seconds = 0.1; /* for one case in one round */
static unsigned spins_at_most = SPINS; /* for ever in the cases that never offer */

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static double passed(void) { return read_clock(CLOCK_MONOTONIC); }
static double used(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

static void relax(unsigned *spins) {
    if (++*spins >= spins_at_most) {
        *spins = 0;
        sched_yield();
    }
}

/* --- one end --------------------------------------------------------------------------------------- */

struct address {
    union ibv_gid gid;
    uint32_t qpn, rkey;
    uint64_t memory;
};

struct end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel; /* only for "pair-events" */
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_qp_ex *post;
    struct ibv_mr *mr;
    uint8_t *memory; /* two blocks of BIG */
    uint32_t caps;
    struct address mine;
};

/* Where requests go to: this process or the other. */
struct target {
    struct ibv_ah *ah;
    struct address at;
};

static void open_end(struct end *e, int events) {
    int n = 0;
    struct ibv_device **list = ibv_get_device_list(&n);
    CHECK(list && n >= 1);
    CHECK((e->context = ibv_open_device(list[0])));
    ibv_free_device_list(list);
    struct efadv_device_attr attr = {0};
    CHECK(efadv_query_device(e->context, &attr, sizeof attr) == 0);
    e->caps = attr.device_caps;
    int write = (e->caps & CAPS_RDMA_WRITE) != 0;
    CHECK((e->pd = ibv_alloc_pd(e->context)));
    if (events) CHECK((e->channel = ibv_create_comp_channel(e->context)));
    CHECK((e->cq = ibv_create_cq(e->context, 4 * DEPTH, NULL, e->channel, 0)));
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e->cq,
        .recv_cq = e->cq,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
        .pd = e->pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ | (write ? IBV_QP_EX_WITH_RDMA_WRITE : 0),
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    CHECK((e->qp = efadv_create_qp_ex(e->context, &init, &srd, sizeof srd)));
    CHECK((e->post = ibv_qp_to_qp_ex(e->qp)));
    struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    CHECK(ibv_modify_qp(e->qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
    to.qp_state = IBV_QPS_RTR;
    CHECK(ibv_modify_qp(e->qp, &to, IBV_QP_STATE) == 0);
    to.qp_state = IBV_QPS_RTS;
    CHECK(ibv_modify_qp(e->qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);

    CHECK((e->memory = aligned_alloc(4096, 2 * BIG)));
    memset(e->memory, 'a', 2 * BIG);
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (write ? IBV_ACCESS_REMOTE_WRITE : 0);
    CHECK((e->mr = ibv_reg_mr(e->pd, e->memory, 2 * BIG, access)));
    e->mine = (struct address){.qpn = e->qp->qp_num, .rkey = e->mr->rkey, .memory = (uintptr_t)e->memory};
    CHECK(ibv_query_gid(e->context, 1, 0, &e->mine.gid) == 0);
}

static struct target reach(struct end *e, struct address at) {
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh.dgid = at.gid};
    struct target target = {.ah = ibv_create_ah(e->pd, &attr), .at = at};
    CHECK(target.ah);
    return target;
}

static void post_receive(struct end *e) {
    struct ibv_sge sge = {.addr = (uintptr_t)e->memory + BIG, .length = SMALL, .lkey = e->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(ibv_post_recv(e->qp, &wr, &bad) == 0);
}

static void post(struct end *e, const struct target *to, enum ibv_wr_opcode what, uint32_t length) {
    ibv_wr_start(e->post);
    e->post->wr_id = 0;
    e->post->wr_flags = IBV_SEND_SIGNALED;
    uint8_t *local = e->memory;
    if (what == IBV_WR_SEND)
        ibv_wr_send(e->post);
    else if (what == IBV_WR_RDMA_WRITE)
        ibv_wr_rdma_write(e->post, to->at.rkey, to->at.memory + BIG);
    else
        ibv_wr_rdma_read(e->post, to->at.rkey, to->at.memory), local += BIG;
    ibv_wr_set_sge(e->post, e->mr->lkey, (uintptr_t)local, length);
    ibv_wr_set_ud_addr(e->post, to->ah, to->at.qpn, QKEY);
    CHECK(ibv_wr_complete(e->post) == 0);
}

/* Polls until that many sends and receives have completed. One at a time: no completion beyond those is taken. */
static void complete(struct end *e, int sends, int receives) {
    struct ibv_wc wc;
    unsigned spins = 0;
    while (sends > 0 || receives > 0) {
        int n = ibv_poll_cq(e->cq, 1, &wc);
        CHECK(n >= 0);
        if (n == 0) {
            relax(&spins);
            continue;
        }
        if (wc.status != IBV_WC_SUCCESS) {
            fprintf(stderr, "softnic_speed: a request failed: %s (%u)\n", ibv_wc_status_str(wc.status), wc.vendor_err);
            exit(1);
        }
        *(wc.opcode & IBV_WC_RECV ? &receives : &sends) -= 1;
    }
}

/* The same, asleep until the event. */
static void complete_by_events(struct end *e, int sends, int receives) {
    struct ibv_wc wc;
    for (int armed = 0; sends > 0 || receives > 0;) {
        int n = ibv_poll_cq(e->cq, 1, &wc);
        CHECK(n >= 0);
        if (n > 0) {
            CHECK(wc.status == IBV_WC_SUCCESS);
            *(wc.opcode & IBV_WC_RECV ? &receives : &sends) -= 1;
        } else if (!armed) {
            CHECK(ibv_req_notify_cq(e->cq, 0) == 0);
            armed = 1; /* look once more before the sleep */
        } else {
            struct ibv_cq *cq;
            void *context;
            CHECK(ibv_get_cq_event(e->channel, &cq, &context) == 0);
            ibv_ack_cq_events(cq, 1);
            armed = 0;
        }
    }
}

/* --- the cases ------------------------------------------------------------------------------------- */

struct bench {
    struct end end;
    struct target self, other;
    int fd; /* to the other process */
    struct shared *shared;
    unsigned mails; /* sent so far through shared memory */
};

static void tell(int fd, char what) { CHECK(write(fd, &what, 1) == 1); }

static char hear(int fd) {
    char what = 0;
    return read(fd, &what, 1) == 1 ? what : 0;
}

static void order(int fd, char what) {
    tell(fd, what);
    CHECK(hear(fd) == what);
}

/* Ping-pong: the first byte of a message tells the other end whether there will be another. */
enum { MORE = 1, LAST = 2 };

static double pair_softnic(struct bench *b) {
    struct end *e = &b->end;
    order(b->fd, 's');
    double start = passed();
    long trips = 0;
    for (int last = 0; !last; trips++) {
        if (trips % 8 == 7) last = passed() > start + round_seconds;
        e->memory[0] = last ? LAST : MORE;
        post_receive(e);
        post(e, &b->other, IBV_WR_SEND, SMALL);
        complete(e, 1, 1);
    }
    return (passed() - start) * 1e9 / (double)trips;
}

static void echo_softnic(struct end *e, const struct target *to) {
    complete(e, 0, 1); /* a receive was posted before the other end was told to begin */
    for (;;) {
        int last = (e->memory[0] = e->memory[BIG]) == LAST;
        if (!last) post_receive(e);
        post(e, to, IBV_WR_SEND, SMALL);
        complete(e, 1, !last);
        if (last) return;
    }
}

static double pair_events(struct bench *b) {
    struct end *e = &b->end;
    order(b->fd, 'e');
    double start = passed();
    long trips = 0;
    for (int last = 0; !last; trips++) {
        last = passed() > start + round_seconds;
        e->memory[0] = last ? LAST : MORE;
        post_receive(e);
        post(e, &b->other, IBV_WR_SEND, SMALL);
        complete_by_events(e, 1, 1);
    }
    return (passed() - start) * 1e9 / (double)trips;
}

static void echo_events(struct end *e, const struct target *to) {
    complete_by_events(e, 0, 1);
    for (;;) {
        int last = (e->memory[0] = e->memory[BIG]) == LAST;
        if (!last) post_receive(e);
        post(e, to, IBV_WR_SEND, SMALL);
        complete_by_events(e, 1, !last);
        if (last) return;
    }
}

/* The same through the socket between the two, each asleep until the other has written. */
static double pair_socket(struct bench *b) {
    uint8_t bytes[SMALL] = {0};
    order(b->fd, 'k');
    double start = passed();
    long trips = 0;
    for (int last = 0; !last; trips++) {
        last = passed() > start + round_seconds;
        bytes[0] = last ? LAST : MORE;
        CHECK(write(b->fd, bytes, SMALL) == SMALL && read(b->fd, bytes, SMALL) == SMALL);
    }
    return (passed() - start) * 1e9 / (double)trips;
}

static void echo_socket(int fd) {
    uint8_t bytes[SMALL];
    do CHECK(read(fd, bytes, SMALL) == SMALL && write(fd, bytes, SMALL) == SMALL);
    while (bytes[0] != LAST);
}

/* The same between two processes that share a page: 64 bytes out, 64 back, and a number that says that they are there. */
struct mailbox {
    _Alignas(64) atomic_uint number;
    _Alignas(64) uint8_t bytes[SMALL];
};
struct shared {
    struct mailbox to_child, to_parent;
};

static void put_mail(struct mailbox *box, unsigned number, const uint8_t *bytes) {
    memcpy(box->bytes, bytes, SMALL);
    atomic_store_explicit(&box->number, number, memory_order_release);
}

static void take_mail(struct mailbox *box, unsigned number, uint8_t *bytes) {
    for (unsigned spins = 0; atomic_load_explicit(&box->number, memory_order_acquire) != number;) relax(&spins);
    memcpy(bytes, box->bytes, SMALL);
}

static double pair_shared(struct bench *b) {
    uint8_t bytes[SMALL] = {0};
    order(b->fd, 'm');
    double start = passed();
    long trips = 0;
    for (int last = 0; !last; trips++) {
        if (trips % 8 == 7) last = passed() > start + round_seconds;
        bytes[0] = last ? LAST : MORE;
        put_mail(&b->shared->to_child, ++b->mails, bytes);
        take_mail(&b->shared->to_parent, b->mails, bytes);
    }
    return (passed() - start) * 1e9 / (double)trips;
}

static void echo_shared(struct shared *shared, unsigned *mails) {
    uint8_t bytes[SMALL];
    do {
        take_mail(&shared->to_child, ++*mails, bytes);
        put_mail(&shared->to_parent, *mails, bytes);
    } while (bytes[0] != LAST);
}

/* Both again, where neither ever offers its processor. */
static double for_ever(struct bench *b, double (*measure)(struct bench *)) {
    order(b->fd, 'f');
    spins_at_most = UINT_MAX;
    double ns = measure(b);
    spins_at_most = SPINS;
    order(b->fd, 'o');
    return ns;
}
static double spin_softnic(struct bench *b) { return for_ever(b, pair_softnic); }
static double spin_shared(struct bench *b) { return for_ever(b, pair_shared); }

/* In one process: a message to oneself, and both its completions. */
static double self_softnic(struct bench *b) {
    double start = used();
    long trips = 0;
    do {
        for (int i = 0; i < 64; i++, trips++) {
            post_receive(&b->end);
            post(&b->end, &b->self, IBV_WR_SEND, SMALL);
            complete(&b->end, 1, 1);
        }
    } while (used() < start + round_seconds);
    return (used() - start) * 1e9 / (double)trips;
}

static double copy_ns(struct bench *b, size_t size, int batch, double (*clock)(void)) {
    double start = clock();
    long copies = 0;
    do {
        for (int i = 0; i < batch; i++, copies++) {
            memcpy(b->end.memory + BIG, b->end.memory, size);
            __asm__ volatile("" : : "r"(b->end.memory) : "memory"); /* every copy is really made */
        }
    } while (clock() < start + round_seconds / 2);
    return (clock() - start) * 1e9 / (double)copies;
}
static double copy_small(struct bench *b) { return copy_ns(b, SMALL, 4096, used); }
static double copy_big(struct bench *b) { return BIG * 1e3 / copy_ns(b, BIG, 1, used); }
static double copy_big_wall(struct bench *b) { return BIG * 1e3 / copy_ns(b, BIG, 1, passed); }

/* MB/s of blocks of BIG, `window` at once. */
static double move(struct end *e, const struct target *to, enum ibv_wr_opcode what, int window, double (*clock)(void)) {
    double start = clock();
    long posted = 0, done = 0;
    for (int over = 0; !over || done < posted; done++) {
        for (; !over && posted - done < window; posted++) post(e, to, what, BIG);
        complete(e, 1, 0);
        over = clock() > start + round_seconds;
    }
    return (double)posted * BIG / 1e6 / (clock() - start);
}
static double read_self(struct bench *b) { return move(&b->end, &b->self, IBV_WR_RDMA_READ, 1, used); }
static double read_pair(struct bench *b) { return move(&b->end, &b->other, IBV_WR_RDMA_READ, 1, passed); }
static double read4_pair(struct bench *b) { return move(&b->end, &b->other, IBV_WR_RDMA_READ, 4, passed); }
static double write_self(struct bench *b) { return move(&b->end, &b->self, IBV_WR_RDMA_WRITE, 1, used); }
static double write_pair(struct bench *b) { return move(&b->end, &b->other, IBV_WR_RDMA_WRITE, 1, passed); }
static double write4_pair(struct bench *b) { return move(&b->end, &b->other, IBV_WR_RDMA_WRITE, 4, passed); }

/* Needs an end with a channel, which would change the others: measured only by name. */
#define EVENTS "pair-events"

static const struct {
    const char *name;
    double (*measure)(struct bench *);
    uint32_t needs; /* of device_caps */
} cases[] = {
    {EVENTS, pair_events, 0},
    {"pair-socket", pair_socket, 0},
    {"self", self_softnic, 0},
    {"copy-small", copy_small, 0},
    {"pair", pair_softnic, 0},
    {"pair-shared", pair_shared, 0},
    {"spin", spin_softnic, 0},
    {"spin-shared", spin_shared, 0},
    {"copy-big", copy_big, 0},
    {"copy-big-wall", copy_big_wall, 0},
    {"read-self", read_self, EFADV_DEVICE_ATTR_CAPS_RDMA_READ},
    {"read-pair", read_pair, EFADV_DEVICE_ATTR_CAPS_RDMA_READ},
    {"read4-pair", read4_pair, EFADV_DEVICE_ATTR_CAPS_RDMA_READ},
    {"write-self", write_self, CAPS_RDMA_WRITE},
    {"write-pair", write_pair, CAPS_RDMA_WRITE},
    {"write4-pair", write4_pair, CAPS_RDMA_WRITE},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* --- the two processes ------------------------------------------------------------------------------- */

static struct target meet(struct end *e, int fd) {
    struct address theirs;
    CHECK(write(fd, &e->mine, sizeof e->mine) == sizeof e->mine);
    CHECK(read(fd, &theirs, sizeof theirs) == sizeof theirs);
    struct target target = reach(e, theirs);
    order(fd, 'a'); /* both have an address handle */
    return target;
}

/* The other end: echoes when told to; while it waits for orders, softnic's own thread serves READs and WRITEs. */
static int child(int fd, struct shared *shared, int events) {
    struct end e = {0};
    open_end(&e, events);
    struct target parent = meet(&e, fd);
    unsigned mails = 0;
    for (char what; (what = hear(fd));) {
        if (what == 's' || what == 'e') post_receive(&e);
        tell(fd, what);
        if (what == 'f') spins_at_most = UINT_MAX;
        if (what == 'o') spins_at_most = SPINS;
        if (what == 's') echo_softnic(&e, &parent);
        if (what == 'e') echo_events(&e, &parent);
        if (what == 'k') echo_socket(fd);
        if (what == 'm') echo_shared(shared, &mails);
    }
    return 0;
}

static int is_named(const char *name, char **names) {
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return 1;
    return 0;
}

static void run_cases(struct bench *b, int rounds, char **only) {
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < CASES; i++) {
            if (*only ? !is_named(cases[i].name, only) : strcmp(EVENTS, cases[i].name) == 0) continue;
            if (cases[i].needs & ~b->end.caps) {
                if (round == 0) printf("skip %s this libefa or this device does not offer it; RDMA WRITE came with rdma-core 46\n", cases[i].name);
            } else {
                printf("%s %f\n", cases[i].name, cases[i].measure(b));
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc < 3) return fputs("usage: softnic_speed ROUNDS SECONDS [CASE...]\n", stderr), 2;
    round_seconds = atof(argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was measured is kept when the time runs out */
    int fds[2];
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    int events = is_named(EVENTS, argv + 3);
    pid_t parent = getpid(), pid = fork(); /* before either has opened the device */
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) return 1;
        close(fds[0]);
        return child(fds[1], shared, events);
    }
    close(fds[1]);
    struct bench b = {.fd = fds[0], .shared = shared};
    open_end(&b.end, events);
    b.self = reach(&b.end, b.end.mine);
    b.other = meet(&b.end, b.fd);
    run_cases(&b, atoi(argv[1]), argv + 3);
    return 0;
}
