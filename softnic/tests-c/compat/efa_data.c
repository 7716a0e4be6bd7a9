// SPDX-License-Identifier: MIT OR Apache-2.0
// Every operation of SRD between two processes through the real libefa, with the data compared at both ends: SEND, SEND with immediate, inline SEND,
// RDMA READ, WRITE, WRITE with immediate. The target of the one-sided ones sleeps in read(2) meanwhile.
//
//   softnic run --device efa -- ./efa_data yes|no     whether WRITE is expected to be possible here
//
// Built against any efadv.h from rdma-core 44 on, runs with that libefa and newer ones. Prints a line per operation and exits with 1 if one failed.
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1 << 20, MESSAGE = 8000, SHORT = 24, QKEY = 0x1234, IMM = 0x5af7, SECONDS = 20 };
enum { CAP_WRITE = 1 << 3 }; // EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE, which rdma-core 44's header lacks

static const char *who = "initiator";

static void die(int line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "efa_data.c:%d: %s: ", line, who);
    vfprintf(stderr, format, list);
    fprintf(stderr, " (errno %d)\n", errno);
    va_end(list);
    _exit(1);
}
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            die(__LINE__, "%s", #condition);                                                                           \
    } while (0)

struct address {
    union ibv_gid gid;
    uint32_t qpn, rkey;
    uint64_t base;
};

struct end {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    struct ibv_ah *ah;
    unsigned char *memory;
    struct address peer;
    int can_write, link;
};

static void pattern(unsigned char *to, size_t length, uint32_t seed)
{
    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = seed >> 24;
    }
}

static int has_pattern(const unsigned char *at, size_t length, uint32_t seed)
{
    static unsigned char expected[SIZE];
    pattern(expected, length, seed);
    return memcmp(at, expected, length) == 0;
}

static int make_qp(struct end *e, uint64_t operations)
{
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e->cq,
        .recv_cq = e->cq,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = SHORT},
        .pd = e->pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = operations,
    };
    struct efadv_qp_init_attr efa = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    e->qp = efadv_create_qp_ex(e->context, &init, &efa, sizeof(efa));
    return e->qp != NULL;
}

static void open_end(struct end *e, int want_write)
{
    int n;
    struct ibv_device **list = ibv_get_device_list(&n);
    CHECK(list && n > 0);
    CHECK(e->context = ibv_open_device(list[0]));
    ibv_free_device_list(list);
    struct efadv_device_attr attr = {0};
    CHECK(efadv_query_device(e->context, &attr, sizeof(attr)) == 0);
    e->can_write = !!(attr.device_caps & CAP_WRITE);
    if (e->can_write != want_write)
        die(__LINE__, "libefa says WRITE %s possible, expected the opposite", e->can_write ? "is" : "isn't");
    CHECK(e->pd = ibv_alloc_pd(e->context));
    CHECK(e->cq = ibv_create_cq(e->context, 64, NULL, NULL, 0));
    uint64_t operations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ;
    uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    if (!e->can_write) {
        CHECK(!make_qp(e, operations | writes));
        CHECK(errno == EOPNOTSUPP);
    }
    CHECK(make_qp(e, e->can_write ? operations | writes : operations));
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    CHECK(ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
    a.qp_state = IBV_QPS_RTR;
    CHECK(ibv_modify_qp(e->qp, &a, IBV_QP_STATE) == 0);
    a.qp_state = IBV_QPS_RTS;
    CHECK(ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
    CHECK(posix_memalign((void **)&e->memory, 4096, SIZE) == 0);
    memset(e->memory, 0, SIZE);
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (e->can_write ? IBV_ACCESS_REMOTE_WRITE : 0);
    CHECK(e->mr = ibv_reg_mr(e->pd, e->memory, SIZE, access));
}

static void connect_end(struct end *e)
{
    struct address own = {.qpn = e->qp->qp_num, .rkey = e->mr->rkey, .base = (uintptr_t)e->memory};
    CHECK(ibv_query_gid(e->context, 1, 0, &own.gid) == 0);
    CHECK(write(e->link, &own, sizeof(own)) == sizeof(own));
    CHECK(read(e->link, &e->peer, sizeof(e->peer)) == sizeof(e->peer));
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh.dgid = e->peer.gid};
    CHECK(e->ah = ibv_create_ah(e->pd, &attr));
}

static void close_end(struct end *e)
{
    CHECK(ibv_destroy_qp(e->qp) == 0);
    CHECK(ibv_destroy_ah(e->ah) == 0);
    CHECK(ibv_dereg_mr(e->mr) == 0);
    CHECK(ibv_destroy_cq(e->cq) == 0);
    CHECK(ibv_dealloc_pd(e->pd) == 0);
    CHECK(ibv_close_device(e->context) == 0);
}

static struct ibv_wc next(struct end *e)
{
    time_t end = time(NULL) + SECONDS;
    struct ibv_wc wc = {0};
    int n;
    while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0)
        if (time(NULL) > end)
            die(__LINE__, "no completion within %d s", SECONDS);
    CHECK(n == 1);
    if (wc.status != IBV_WC_SUCCESS)
        die(__LINE__, "completion: %s, vendor %u", ibv_wc_status_str(wc.status), wc.vendor_err);
    return wc;
}

// One byte over the link: "ready" or "look now".
static void tell(struct end *e)
{
    CHECK(write(e->link, "", 1) == 1);
}
static void hear(struct end *e)
{
    char c;
    CHECK(read(e->link, &c, 1) == 1);
}

static void post_recv(struct end *e, uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)e->memory, .length = length, .lkey = e->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(ibv_post_recv(e->qp, &wr, &bad) == 0);
}

enum operation { SEND, SEND_IMM, SEND_INLINE, READ, WRITE, WRITE_IMM, OPERATIONS };
static const struct {
    const char *name;
    uint32_t length;
    int write, receives, imm;
} operations[OPERATIONS] = {
    [SEND] = {"send", MESSAGE, 0, 1, 0},     [SEND_IMM] = {"send_imm", MESSAGE, 0, 1, 1},
    [SEND_INLINE] = {"send_inline", SHORT, 0, 1, 0}, [READ] = {"read", SIZE, 0, 0, 0},
    [WRITE] = {"write", SIZE, 1, 0, 0},      [WRITE_IMM] = {"write_imm", SIZE, 1, 1, 1},
};

static void post(struct end *e, enum operation o)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);
    CHECK(qp);
    ibv_wr_start(qp);
    qp->wr_id = 100 + o;
    qp->wr_flags = IBV_SEND_SIGNALED;
    switch (o) {
    case SEND_IMM: ibv_wr_send_imm(qp, htobe32(IMM)); break;
    case READ: ibv_wr_rdma_read(qp, e->peer.rkey, e->peer.base); break;
    case WRITE: ibv_wr_rdma_write(qp, e->peer.rkey, e->peer.base); break;
    case WRITE_IMM: ibv_wr_rdma_write_imm(qp, e->peer.rkey, e->peer.base, htobe32(IMM)); break;
    default: ibv_wr_send(qp);
    }
    if (o == SEND_INLINE)
        ibv_wr_set_inline_data(qp, e->memory, SHORT);
    else
        ibv_wr_set_sge(qp, e->mr->lkey, (uintptr_t)e->memory, operations[o].length);
    ibv_wr_set_ud_addr(qp, e->ah, e->peer.qpn, QKEY);
    CHECK(ibv_wr_complete(qp) == 0);
}

static void initiate(struct end *e, enum operation o)
{
    uint32_t length = operations[o].length;
    if (o == READ)
        memset(e->memory, 0, SIZE);
    else
        pattern(e->memory, length, o + 1);
    hear(e);
    post(e, o);
    CHECK(next(e).wr_id == 100 + (uint64_t)o);
    if (o == READ)
        CHECK(has_pattern(e->memory, length, o + 1));
    tell(e);
    hear(e);
    printf("%s %u bytes ok\n", operations[o].name, length);
}

static void serve(struct end *e, enum operation o)
{
    uint32_t length = operations[o].length;
    if (o == READ)
        pattern(e->memory, length, o + 1);
    else
        memset(e->memory, 0, SIZE);
    if (operations[o].receives)
        post_recv(e, length);
    tell(e);
    if (operations[o].receives) {
        struct ibv_wc wc = next(e);
        CHECK(wc.wr_id == 7 && wc.byte_len == length);
        CHECK(wc.opcode == (o == WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV));
        CHECK(!!(wc.wc_flags & IBV_WC_WITH_IMM) == operations[o].imm);
        CHECK(!operations[o].imm || be32toh(wc.imm_data) == IMM);
    }
    hear(e);
    CHECK(has_pattern(e->memory, length, o + 1));
    tell(e);
}

static void run(int link, int want_write, void (*part)(struct end *, enum operation))
{
    struct end e = {.link = link};
    open_end(&e, want_write);
    connect_end(&e);
    for (int o = 0; o < OPERATIONS; o++)
        if (e.can_write || !operations[o].write)
            part(&e, o);
    close_end(&e);
}

int main(int argc, char **argv)
{
    int links[2], status = 0;
    if (argc != 2 || (strcmp(argv[1], "yes") && strcmp(argv[1], "no"))) {
        fprintf(stderr, "usage: efa_data yes|no (whether WRITE is expected to be possible)\n");
        return 2;
    }
    int want_write = strcmp(argv[1], "yes") == 0;
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, links) == 0);
    alarm(4 * SECONDS);
    pid_t child = fork();
    CHECK(child >= 0);
    close(links[child == 0 ? 0 : 1]);
    if (child == 0) {
        who = "target";
        run(links[1], want_write, serve);
        _exit(0);
    }
    run(links[0], want_write, initiate);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    puts(want_write ? "all ok" : "all ok; WRITE refused");
    return 0;
}
