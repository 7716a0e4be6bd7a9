// SPDX-License-Identifier: MIT OR Apache-2.0
// An SRD queue pair with what it needs, through libibverbs and libefa. A check that fails ends the process.
#ifndef SRD_H
#define SRD_H
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(cond)                                                                                                    \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #cond, errno);                               \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

enum { QKEY = 0x1234, SIZE = 65536 };

struct end {
    struct ibv_context *ctx;
    struct ibv_pd *pd;
    int events; // asked for before open_end: the CQ has a channel
    int writes; // asked for before open_end: WRITE; cleared if this libefa has none
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    union ibv_gid gid;
    unsigned char *buffer;
};

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static inline double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static inline struct ibv_qp *create_qp(struct end *e)
{
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e->cq,
        .recv_cq = e->cq,
        .qp_type = IBV_QPT_DRIVER,
        .cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1},
        .pd = e->pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ | (e->writes ? IBV_QP_EX_WITH_RDMA_WRITE : 0),
    };
    struct efadv_qp_init_attr srd = {.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD};
    return efadv_create_qp_ex(e->ctx, &init, &srd, sizeof(srd));
}

// From reset to ready to send. rnr_retry: -1 leaves the device's own.
static inline void make_ready(struct ibv_qp *qp, int rnr_retry)
{
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    a.qp_state = IBV_QPS_RTR;
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE));
    a.qp_state = IBV_QPS_RTS;
    a.rnr_retry = rnr_retry;
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | (rnr_retry >= 0 ? IBV_QP_RNR_RETRY : 0)));
}

// Device number `n`, ready to send.
static inline void open_end(struct end *e, int n, int rnr_retry)
{
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    CHECK(list && n < count);
    CHECK(e->ctx = ibv_open_device(list[n]));
    ibv_free_device_list(list);
    CHECK(e->pd = ibv_alloc_pd(e->ctx));
    if (e->events) CHECK(e->channel = ibv_create_comp_channel(e->ctx));
    CHECK(e->cq = ibv_create_cq(e->ctx, 256, e, e->channel, 0));
    CHECK(!posix_memalign((void **)&e->buffer, 4096, SIZE));
    memset(e->buffer, 0, SIZE);
    CHECK(e->mr = ibv_reg_mr(e->pd, e->buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (e->writes ? IBV_ACCESS_REMOTE_WRITE : 0)));
    CHECK(!ibv_query_gid(e->ctx, 1, 0, &e->gid));
    e->qp = create_qp(e);
    if (!e->qp && e->writes) {
        e->writes = 0;
        e->qp = create_qp(e);
    }
    CHECK(e->qp);
    make_ready(e->qp, rnr_retry);
}

static inline void close_end(struct end *e)
{
    CHECK(!ibv_destroy_qp(e->qp));
    CHECK(!ibv_dereg_mr(e->mr));
    CHECK(!ibv_destroy_cq(e->cq));
    if (e->channel) CHECK(!ibv_destroy_comp_channel(e->channel));
    CHECK(!ibv_dealloc_pd(e->pd));
    CHECK(!ibv_close_device(e->ctx));
    free(e->buffer);
}

static inline struct ibv_ah *address(struct end *e, union ibv_gid gid)
{
    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.dgid = gid};
    struct ibv_ah *ah = ibv_create_ah(e->pd, &to);
    CHECK(ah);
    return ah;
}

static inline void post_recv(struct end *e, uint64_t id, size_t offset, uint32_t length)
{
    struct ibv_sge sge = {(uintptr_t)e->buffer + offset, length, e->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(!ibv_post_recv(e->qp, &wr, &bad));
}

// READ copies from `remote` of its own buffer.
static inline void post(struct end *e, uint64_t id, struct ibv_ah *ah, uint32_t qpn, int read, size_t local, size_t remote, uint32_t length)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp);
    ibv_wr_start(qp);
    qp->wr_id = id;
    qp->wr_flags = IBV_SEND_SIGNALED;
    if (read)
        ibv_wr_rdma_read(qp, e->mr->rkey, (uintptr_t)e->buffer + remote);
    else
        ibv_wr_send(qp);
    ibv_wr_set_sge(qp, e->mr->lkey, (uintptr_t)e->buffer + local, length);
    ibv_wr_set_ud_addr(qp, ah, qpn, QKEY);
    CHECK(!ibv_wr_complete(qp));
}

// One completion within so many seconds; false if none came.
static inline int poll_for(struct end *e, struct ibv_wc *wc, double limit)
{
    double end = seconds() + limit;
    int n;
    while ((n = ibv_poll_cq(e->cq, 1, wc)) == 0)
        if (seconds() > end) return 0;
    CHECK(n == 1);
    return 1;
}

#endif
