/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A libefa of ours for the null provider, by vbn_library_init's lookup function: it serves the device null1, and answers as `efa` says. The structs
 * are declared here, as libefa 65 has them: the header of an older one lacks most.
 */
#ifndef NULL_EFA_H
#define NULL_EFA_H

#include "null_help.h"

struct efa_device_attr {
    uint64_t comp_mask;
    uint32_t max_sq_wr, max_rq_wr;
    uint16_t max_sq_sge, max_rq_sge, inline_buf_size, inline_buf_size_ex;
    uint32_t device_caps, max_rdma_size;
};

struct efa_ring {
    uint64_t comp_mask;
    uint8_t *buffer;
    uint32_t entry_size, num_entries;
    uint32_t *doorbell;
};

struct efa_wq {
    struct efa_ring ring;
    uint32_t max_batch;
    uint16_t caps;
    uint8_t reserved[2];
};

struct efa_mr_attr {
    uint64_t comp_mask;
    uint16_t valid, recv, rdma_read, rdma_recv;
};

struct efa_sq_depth {
    uint64_t comp_mask;
    uint32_t flags, max_send_sge, max_rdma_sge, max_inline_data;
};

struct efa_rq_depth {
    uint64_t comp_mask;
    uint32_t max_recv_sge, tail;
};

static struct {
    int ret;            /* what the functions return instead of an answer */
    int set_errno;      /* and leave in errno */
    unsigned calls;     /* of all but query_device */
    uint32_t inlen;     /* of the last one */
    unsigned oldest;    /* symbols of releases above this are missing; 0: none */
    struct efa_sq_depth sq;
    struct efa_rq_depth rq;
    unsigned char ring[64];
    uint32_t doorbell[3];
    void *object;       /* what was asked about */
} efa;

/* Counts the call; whether it shall answer. `attr` is what the caller prepared: libefa takes a longer struct only with zeros in it. */
static int efa_answers(void *object, const void *attr, uint32_t inlen)
{
    efa.calls++;
    efa.inlen = inlen;
    efa.object = object;
    MUST(!*(const uint64_t *)attr, "comp_mask isn't 0");
    errno = efa.set_errno;
    return !efa.ret;
}

static int efa_query_device(struct ibv_context *context, struct efa_device_attr *attr, uint32_t inlen)
{
    static const struct efa_device_attr device = {
        .max_sq_wr = 4096, .max_rq_wr = 32768, .max_sq_sge = 2, .max_rq_sge = 3, .inline_buf_size = 32, .inline_buf_size_ex = 80,
        .device_caps = 0x5b, .max_rdma_size = 1 << 30,
    };

    if (strcmp(context->device->name, "null1"))
        return EOPNOTSUPP;
    MUST(inlen == sizeof(*attr) && !attr->comp_mask, "inlen %u", inlen);
    *attr = device;
    return 0;
}

static int efa_query_ah(struct ibv_ah *ah, uint64_t *attr, uint32_t inlen)
{
    if (!efa_answers(ah, attr, inlen))
        return efa.ret;
    attr[1] = 0;
    ((uint16_t *)attr)[4] = 0xabcd;
    return 0;
}

static int efa_query_mr(struct ibv_mr *mr, struct efa_mr_attr *attr, uint32_t inlen)
{
    static const struct efa_mr_attr answer = {.valid = 5, .recv = 0x1111, .rdma_read = 0, .rdma_recv = 0x3333};

    if (efa_answers(mr, attr, inlen))
        *attr = answer;
    return efa.ret;
}

static struct efa_ring efa_ring_of(uint32_t number)
{
    return (struct efa_ring){0, efa.ring + 16 * number, 16 << number, 100 + number, efa.doorbell + number};
}

static int efa_query_cq(struct ibv_cq *cq, struct efa_ring *attr, uint32_t inlen)
{
    if (efa_answers(cq, attr, inlen))
        *attr = efa_ring_of(0);
    return efa.ret;
}

static int efa_query_qp_wqs(struct ibv_qp *qp, struct efa_wq *sq, struct efa_wq *rq, uint32_t inlen)
{
    if (efa_answers(qp, sq, inlen)) {
        MUST(!rq->ring.comp_mask, "comp_mask isn't 0");
        *sq = (struct efa_wq){efa_ring_of(1), 7, 1, {0, 0}};
        *rq = (struct efa_wq){efa_ring_of(2), 8, 0, {0, 0}};
    }
    return efa.ret;
}

static int efa_get_max_sq_depth(struct ibv_context *context, struct efa_sq_depth *attr, uint32_t inlen)
{
    if (!efa_answers(context, attr, inlen))
        return efa.ret;
    efa.sq = *attr;
    return 2048;
}

static int efa_get_max_rq_depth(struct ibv_context *context, struct efa_rq_depth *attr, uint32_t inlen)
{
    if (!efa_answers(context, attr, inlen))
        return efa.ret;
    efa.rq = *attr;
    return 32768 / (int)attr->max_recv_sge;
}

/* What only makes objects that the null provider can't have. */
static void *efa_makes_nothing(void)
{
    errno = EOPNOTSUPP;
    return NULL;
}

static void *efa_lookup(const char *symbol, const char *version, void *arg)
{
    static const struct {
        const char *symbol, *version;
        unsigned since;
        void (*function)(void);
    } symbols[] = {
#define EFA_SYMBOL(name, version, since) {"efadv_" #name, version, since, (void (*)(void))efa_##name}
        EFA_SYMBOL(query_device, "EFA_1.1", 26), EFA_SYMBOL(query_ah, "EFA_1.1", 26), EFA_SYMBOL(query_mr, "EFA_1.3", 50),
        EFA_SYMBOL(query_cq, "EFA_1.4", 59), EFA_SYMBOL(query_qp_wqs, "EFA_1.4", 59), EFA_SYMBOL(get_max_sq_depth, "EFA_1.5", 63),
        EFA_SYMBOL(get_max_rq_depth, "EFA_1.5", 63),
#define EFA_NOTHING(name, version, since) {"efadv_" #name, version, since, (void (*)(void))efa_makes_nothing}
        EFA_NOTHING(create_driver_qp, "EFA_1.0", 24), EFA_NOTHING(create_qp_ex, "EFA_1.1", 26), EFA_NOTHING(create_cq, "EFA_1.2", 43),
        EFA_NOTHING(cq_from_ibv_cq_ex, "EFA_1.2", 43), EFA_NOTHING(qp_from_ibv_qp_ex, "EFA_1.6", 64),
        EFA_NOTHING(create_comp_cntr, "EFA_1.7", 65),
    };
    void *address;

    MUST(arg == &efa, "lookup_arg");
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
        if (!strcmp(symbols[i].symbol, symbol) && !strcmp(symbols[i].version, version) && (!efa.oldest || symbols[i].since <= efa.oldest)) {
            memcpy(&address, &symbols[i].function, sizeof(address));
            return address;
        }
    return NULL;
}

/* From the next open on, null1 is an EFA. */
static inline void efa_use(void)
{
    NEW(vbn_library_attr, attr);

    attr.library = VBN_LIBRARY_EFA;
    attr.lookup = efa_lookup;
    attr.lookup_arg = &efa;
    OK(vbn_library_init(&attr));
}

/* One of each on null1. */
struct efa_rig {
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_cq *cq;
    vbn_qp *qp;
    vbn_ah *ah;
};

static inline struct efa_rig efa_rig_open(void)
{
    struct efa_rig r = {0};
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);
    NEW(vbn_ah_attr, ah);

    memset(&efa.ret, 0, 2 * sizeof(int));
    efa.calls = 0;
    OK(vbn_context_open("null1", NULL, &r.context));
    OK(vbn_pd_alloc(r.context, NULL, &r.pd));
    OK(vbn_mr_reg(r.pd, rig_memory, 64, 0, NULL, &r.mr));
    cq.cqe = 16;
    OK(vbn_cq_create(r.context, &cq, &r.cq));
    qp.send_cq = r.cq;
    OK(vbn_qp_create(r.pd, &qp, &r.qp));
    ah.path.dgid[0] = 0xfe;
    ah.path.dgid[1] = 0x80;
    ah.path.dgid[15] = 9;
    OK(vbn_ah_create(r.pd, &ah, &r.ah));
    return r;
}

static inline void efa_rig_close(struct efa_rig *r)
{
    OK(vbn_ah_close(&r->ah));
    OK(vbn_qp_close(&r->qp));
    OK(vbn_cq_close(&r->cq));
    OK(vbn_mr_close(&r->mr));
    OK(vbn_pd_close(&r->pd));
    OK(vbn_context_close(&r->context));
}

#endif
