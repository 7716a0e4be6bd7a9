// SPDX-License-Identifier: MIT OR Apache-2.0
// SRD through the real libefa in one process: SEND and READ to self, both completions, a completion channel, an error
// completion for freed memory, and every object destroyed. Exits with the number of the line that failed.
//
//   softnic run --device efa -- ./srd
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define CHECK(cond)                                                                                                    \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, "srd.c:%d: %s (errno %d)\n", __LINE__, #cond, errno);                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { SIZE = 4096, QKEY = 0x1234 };

struct end {
    struct ibv_context *ctx;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_ah *ah;
    struct ibv_mr *mr;
    unsigned char *buffer;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static struct ibv_wc wait_one(struct end *e, uint64_t id)
{
    double end = seconds() + 5;
    struct ibv_wc wc = {0};
    int n;
    while ((n = ibv_poll_cq(e->cq, 1, &wc)) == 0)
        CHECK(seconds() < end);
    CHECK(n == 1);
    CHECK(wc.wr_id == id);
    return wc;
}

static void open_end(struct end *e, struct ibv_device *device)
{
    e->ctx = ibv_open_device(device);
    CHECK(e->ctx);
    struct efadv_device_attr attr = {0};
    CHECK(efadv_query_device(e->ctx, &attr, sizeof(attr)) == 0);
    CHECK(attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RDMA_READ);
    CHECK(attr.max_rdma_size == 1u << 30);
    e->pd = ibv_alloc_pd(e->ctx);
    CHECK(e->pd);
    e->channel = ibv_create_comp_channel(e->ctx);
    CHECK(e->channel);
    e->cq = ibv_create_cq(e->ctx, 64, e, e->channel, 0);
    CHECK(e->cq);
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e->cq,
        .recv_cq = e->cq,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
        .pd = e->pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ,
    };
    struct efadv_qp_init_attr efa = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    e->qp = efadv_create_qp_ex(e->ctx, &init, &efa, sizeof(efa));
    CHECK(e->qp);
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .pkey_index = 0, .port_num = 1, .qkey = QKEY};
    CHECK(ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
    a.qp_state = IBV_QPS_RTR;
    CHECK(ibv_modify_qp(e->qp, &a, IBV_QP_STATE) == 0);
    a.qp_state = IBV_QPS_RTS;
    CHECK(ibv_modify_qp(e->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
    union ibv_gid gid;
    CHECK(ibv_query_gid(e->ctx, 1, 0, &gid) == 0);
    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.dgid = gid};
    e->ah = ibv_create_ah(e->pd, &to);
    CHECK(e->ah);
    e->buffer = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(e->buffer != MAP_FAILED);
    e->mr = ibv_reg_mr(e->pd, e->buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(e->mr);
}

static void post_recv(struct end *e, uint64_t id, size_t offset, uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)e->buffer + offset, .length = length, .lkey = e->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(ibv_post_recv(e->qp, &wr, &bad) == 0);
}

static void post(struct end *e, uint64_t id, int read, size_t local, size_t remote, uint32_t length)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);
    CHECK(qp);
    ibv_wr_start(qp);
    qp->wr_id = id;
    qp->wr_flags = IBV_SEND_SIGNALED;
    if (read)
        ibv_wr_rdma_read(qp, e->mr->rkey, (uintptr_t)e->buffer + remote);
    else
        ibv_wr_send(qp);
    ibv_wr_set_sge(qp, e->mr->lkey, (uintptr_t)e->buffer + local, length);
    ibv_wr_set_ud_addr(qp, e->ah, e->qp->qp_num, QKEY);
    CHECK(ibv_wr_complete(qp) == 0);
}

static void send_and_receive(struct end *e)
{
    memset(e->buffer, 'a', 64);
    memset(e->buffer + 1024, 0, 64);
    post_recv(e, 1, 1024, 64);
    post(e, 2, 0, 0, 0, 64);
    struct ibv_wc seen[2];
    for (int i = 0; i < 2;) {
        static double end;
        if (!end)
            end = seconds() + 5;
        int n = ibv_poll_cq(e->cq, 1, &seen[i]);
        CHECK(n >= 0 && seconds() < end);
        i += n;
    }
    for (int i = 0; i < 2; i++) {
        CHECK(seen[i].status == IBV_WC_SUCCESS);
        CHECK(seen[i].wr_id == 1 ? seen[i].opcode == IBV_WC_RECV && seen[i].byte_len == 64 : seen[i].wr_id == 2);
    }
    CHECK(seen[0].wr_id != seen[1].wr_id);
    CHECK(memcmp(e->buffer, e->buffer + 1024, 64) == 0);
}

static void read_from_self(struct end *e)
{
    memset(e->buffer + 2048, 'r', 100);
    memset(e->buffer, 0, 100);
    post(e, 3, 1, 0, 2048, 100);
    CHECK(wait_one(e, 3).status == IBV_WC_SUCCESS);
    CHECK(memcmp(e->buffer, e->buffer + 2048, 100) == 0);
}

static int take_event(struct end *e, int wait_ms)
{
    struct pollfd fd = {.fd = e->channel->fd, .events = POLLIN};
    if (poll(&fd, 1, wait_ms) == 0)
        return 0;
    struct ibv_cq *cq;
    void *cookie;
    CHECK(ibv_get_cq_event(e->channel, &cq, &cookie) == 0);
    CHECK(cq == e->cq && cookie == e);
    ibv_ack_cq_events(cq, 1);
    return 1;
}

static void channel_wakes(struct end *e)
{
    // An early event is allowed; after it the CQ is armed and empty, so there can't be another.
    take_event(e, 0);
    CHECK(ibv_req_notify_cq(e->cq, 0) == 0);
    CHECK(!take_event(e, 20));
    post(e, 4, 1, 0, 2048, 100);
    CHECK(take_event(e, 5000));
    CHECK(wait_one(e, 4).status == IBV_WC_SUCCESS);
    // One more event that nobody reads: destroying the CQ must not wait for it.
    CHECK(ibv_req_notify_cq(e->cq, 0) == 0);
    post(e, 5, 1, 0, 2048, 100);
    CHECK(wait_one(e, 5).status == IBV_WC_SUCCESS);
}

// The region stays registered, its memory goes: an error, not a crash.
static void stale_memory(struct end *e)
{
    CHECK(munmap(e->buffer, SIZE) == 0);
    post(e, 6, 1, 0, 2048, 100);
    struct ibv_wc wc = wait_one(e, 6);
    CHECK(wc.status != IBV_WC_SUCCESS);
    printf("stale memory: %s (vendor %u)\n", ibv_wc_status_str(wc.status), wc.vendor_err);
}

static void close_end(struct end *e)
{
    CHECK(ibv_destroy_qp(e->qp) == 0);
    CHECK(ibv_destroy_ah(e->ah) == 0);
    CHECK(ibv_dereg_mr(e->mr) == 0);
    CHECK(ibv_destroy_cq(e->cq) == 0);
    CHECK(ibv_destroy_comp_channel(e->channel) == 0);
    CHECK(ibv_dealloc_pd(e->pd) == 0);
    CHECK(ibv_close_device(e->ctx) == 0);
}

int main(void)
{
    int n = 0;
    struct ibv_device **list = ibv_get_device_list(&n);
    CHECK(list && n >= 1);
    struct end e = {0};
    open_end(&e, list[0]);
    send_and_receive(&e);
    read_from_self(&e);
    channel_wakes(&e);
    double start = seconds();
    int rounds = getenv("ROUNDS") ? atoi(getenv("ROUNDS")) : 20000;
    for (int i = 0; i < rounds; i++) {
        post_recv(&e, 1, 1024, 64);
        post(&e, 2, 0, 0, 0, 64);
        for (int seen = 0; seen < 2;) {
            struct ibv_wc wc;
            int got = ibv_poll_cq(e.cq, 1, &wc);
            CHECK(got >= 0 && (got == 0 || wc.status == IBV_WC_SUCCESS));
            seen += got;
        }
    }
    printf("%d SENDs of 64 bytes to self: %.2f us each\n", rounds, (seconds() - start) / rounds * 1e6);
    stale_memory(&e);
    close_end(&e);
    ibv_free_device_list(list);
    puts("ok");
    return 0;
}
