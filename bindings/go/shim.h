/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Between two calls into C a goroutine may move to another thread, and vbn_last_error tells the last failure of its own
 * thread. So each function here makes its call and fetches the failure in one go. */
#include <stdlib.h>
#include <verbena.h>

static inline vbn_status fetch(vbn_status status, vbn_error_info *e)
{
    if (status != VBN_OK) {
        e->struct_size = sizeof *e;
        vbn_last_error(e);
    }
    return status;
}

static inline vbn_status post_send(vbn_qp *qp, const vbn_send_wr *wrs, uint32_t n, uint32_t *posted, vbn_error_info *e)
{
    return fetch(vbn_qp_post_send(qp, wrs, n, posted), e);
}

static inline vbn_status post_recv(vbn_qp *qp, const vbn_recv_wr *wrs, uint32_t n, uint32_t *posted, vbn_error_info *e)
{
    return fetch(vbn_qp_post_recv(qp, wrs, n, posted), e);
}

static inline vbn_status wait_cq(vbn_cq *cq, vbn_wc *wcs, uint32_t n, int64_t timeout_ns, uint32_t *got, vbn_error_info *e)
{
    return fetch(vbn_cq_wait(cq, n, wcs, 0, timeout_ns, got), e);
}

static inline vbn_status wc_check(const vbn_wc *wc, vbn_error_info *e)
{
    return fetch(vbn_wc_check(wc), e);
}

/* Two connected queue pairs and their memory. */
typedef struct {
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_channel *channel;
    vbn_cq *cq;
    vbn_qp *qp[2];
    uint64_t base; /* the region's first address, for requests */
    uint32_t lkey, rkey;
} pair;

static inline vbn_status pair_make(pair *p, const char *device, void *memory, uint64_t length, uint32_t depth)
{
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = 4 * depth};
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .max_send_wr = depth, .max_recv_wr = depth};
    vbn_rc_record record[2];
    vbn_status s;

    if ((s = vbn_context_open(device, NULL, &p->context)) || (s = vbn_pd_alloc(p->context, NULL, &p->pd)) ||
        (s = vbn_mr_reg(p->pd, memory, length, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE, NULL, &p->mr)) ||
        (s = vbn_channel_create(p->context, NULL, &p->channel)))
        return s;
    cq.channel = p->channel;
    if ((s = vbn_cq_create(p->context, &cq, &p->cq)))
        return s;
    qp.send_cq = p->cq;
    for (int i = 0; i < 2; i++)
        if ((s = vbn_qp_create(p->pd, &qp, &p->qp[i])) || (s = vbn_rc_record_local(p->qp[i], NULL, &record[i])))
            return s;
    for (int i = 0; i < 2; i++)
        if ((s = vbn_qp_connect_rc(p->qp[i], &record[i], &record[1 - i], NULL)))
            return s;
    p->base = vbn_mr_remote_addr(p->mr);
    p->lkey = vbn_mr_lkey(p->mr);
    p->rkey = vbn_mr_rkey(p->mr);
    return VBN_OK;
}

static inline vbn_status pair_open(pair *p, const char *device, void *memory, uint64_t length, uint32_t depth, vbn_error_info *e)
{
    return fetch(pair_make(p, device, memory, length, depth), e);
}

static inline vbn_status pair_close(pair *p, vbn_error_info *e)
{
    vbn_status s;
    if ((s = vbn_qp_close(&p->qp[0])) || (s = vbn_qp_close(&p->qp[1])) || (s = vbn_cq_close(&p->cq)) ||
        (s = vbn_channel_close(&p->channel)) || (s = vbn_mr_close(&p->mr)) || (s = vbn_pd_close(&p->pd)))
        return fetch(s, e);
    return fetch(vbn_context_close(&p->context), e);
}
