/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * libefa's own functions, for the devices "nullefa0"... that NULLV_EFA asks for. They lie in this same object, as a provider
 * inside libibverbs would have them. The layouts are those of rdma-core 65; shorter lengths are understood, as libefa does.
 */
#include <stddef.h>
#include "slow.h"

struct ah_attr {
	uint64_t comp_mask;
	uint16_t ahn;
	uint8_t reserved[6];
};

struct qp_init_attr {
	uint64_t comp_mask;
	uint32_t driver_qp_type;
	uint16_t flags;
	uint8_t sl;
	uint8_t reserved;
	uint64_t wr_flags;
};

struct cq_init_attr {
	uint64_t comp_mask;
	uint64_t wc_flags;
	uint64_t flags;
	uint8_t ext_mem_dmabuf[32];
};

struct mr_attr {
	uint64_t comp_mask;
	uint16_t ic_id_validity;
	uint16_t recv_ic_id;
	uint16_t rdma_read_ic_id;
	uint16_t rdma_recv_ic_id;
};

struct wq_attr {
	uint64_t comp_mask;
	uint8_t *buffer;
	uint32_t entry_size;
	uint32_t num_entries;
	uint32_t *doorbell;
	uint32_t max_batch;
	uint16_t caps;
	uint8_t reserved[2];
};

struct cq_attr {
	uint64_t comp_mask;
	uint8_t *buffer;
	uint32_t entry_size;
	uint32_t num_entries;
	uint32_t *doorbell;
};

struct depth_attr {
	uint64_t comp_mask;
	uint32_t flags;       /* of a receive queue: max_recv_sge */
	uint32_t max_send_sge;
	uint32_t max_rdma_sge;
	uint32_t max_inline_data;
};

enum { QP_UNSOLICITED = 1, QP_INLINE_WRITE = 2, WR_HINTS = 1, WC_SGID = 1, WC_UNSOLICITED = 2 };

int efadv_query_device(struct ibv_context *context, struct nullv_efa_attr *attr, uint32_t inlen);
struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init, struct qp_init_attr *own, uint32_t inlen);
int efadv_query_ah(struct ibv_ah *ah, struct ah_attr *attr, uint32_t inlen);
struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *init, struct cq_init_attr *own, uint32_t inlen);
struct efa_cq *efadv_cq_from_ibv_cq_ex(struct ibv_cq_ex *cq);
int efadv_query_mr(struct ibv_mr *mr, struct mr_attr *attr, uint32_t inlen);
int efadv_query_qp_wqs(struct ibv_qp *qp, struct wq_attr *sq, struct wq_attr *rq, uint32_t inlen);
int efadv_query_cq(struct ibv_cq *cq, struct cq_attr *attr, uint32_t inlen);
int efadv_get_max_sq_depth(struct ibv_context *context, struct depth_attr *attr, uint32_t inlen);
int efadv_get_max_rq_depth(struct ibv_context *context, struct depth_attr *attr, uint32_t inlen);
struct efa_qp *efadv_qp_from_ibv_qp_ex(struct ibv_qp_ex *qp);

static struct nullv_efa_attr attributes;
static struct nullv_efa_create last;
static bool have_last;

void efa_reset(void)
{
	attributes = (struct nullv_efa_attr){
		.max_sq_wr = 4096, .max_rq_wr = 8192, .max_sq_sge = 2, .max_rq_sge = 3, .inline_buf_size = 32,
		.inline_buf_size_ex = 64,
		.device_caps = NULLV_EFA_READ | NULLV_EFA_RNR_RETRY | NULLV_EFA_SGID | NULLV_EFA_WRITE | NULLV_EFA_UNSOLICITED,
		.max_rdma_size = 1U << 30,
	};
}

struct nullv_efa_attr *nullv_efa_attr(void)
{
	nullv_init();
	return &attributes;
}

int nullv_last_create_efa(struct nullv_efa_create *out)
{
	if (!have_last) {
		errno = ENODATA;
		return -1;
	}
	*out = last;
	return 0;
}

/* What the caller knows of the answer, and zeros where it knows more. */
static int answer(void *to, uint32_t inlen, const void *from, size_t size)
{
	memset(to, 0, inlen);
	memcpy(to, from, inlen < size ? inlen : size);
	return 0;
}
#define ANSWER(to, inlen, from) answer(to, inlen, &(from), sizeof(from))

int efadv_query_device(struct ibv_context *context, struct nullv_efa_attr *attr, uint32_t inlen)
{
	if (!is_efa(context))
		return EOPNOTSUPP;
	FAIL_ERRNO(efadv_query_device);
	if (inlen < offsetof(struct nullv_efa_attr, inline_buf_size_ex))
		return EINVAL;
	return ANSWER(attr, inlen, attributes);
}

/* The part of an input that the caller has; what this provider doesn't know must be zero. */
static bool take(void *to, size_t size, size_t least, const void *from, uint32_t inlen)
{
	memset(to, 0, size);
	memcpy(to, from, inlen < size ? inlen : size);
	for (size_t i = size; i < inlen; i++)
		if (((const char *)from)[i])
			return false;
	return inlen >= least;
}

struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init, struct qp_init_attr *own, uint32_t inlen)
{
	struct qp_init_attr a;
	bool known;

	if (!is_efa(context)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	known = take(&a, sizeof(a), offsetof(struct qp_init_attr, flags), own, inlen);
	pthread_mutex_lock(&big);
	last = (struct nullv_efa_create){ .inlen = inlen, .flags = a.flags, .sl = a.sl, .wr_flags = a.wr_flags };
	have_last = true;
	pthread_mutex_unlock(&big);
	if (!known || a.comp_mask || a.driver_qp_type || init->qp_type != IBV_QPT_DRIVER || init->srq ||
	    a.flags & ~(QP_UNSOLICITED | QP_INLINE_WRITE) || a.wr_flags & ~(uint64_t)WR_HINTS || !init->cap.max_recv_sge) {
		errno = EINVAL;
		return NULL;
	}
	return qp_new(context, init, F_efadv_create_qp_ex);
}

/* In fast mode there is no session, and nothing to note. */
static void wr_set_processing_hints(struct efa_qp *efa, uint32_t hints)
{
	slow_set_hints((struct nqp *)((char *)efa - offsetof(struct nqp, efa)), hints);
}

struct efa_qp *efadv_qp_from_ibv_qp_ex(struct ibv_qp_ex *qp)
{
	struct nqp *q = to_qp_ex(qp);

	q->efa.wr_set_processing_hints = wr_set_processing_hints;
	return &q->efa;
}

int efadv_query_ah(struct ibv_ah *ah, struct ah_attr *attr, uint32_t inlen)
{
	struct ah_attr a = { .ahn = (uint16_t)ah->handle };

	if (!is_efa(ah->context))
		return EOPNOTSUPP;
	FAIL_ERRNO(efadv_query_ah);
	return ANSWER(attr, inlen, a);
}

/* The sender's GID is there for those alone that have no address handle here. */
static int wc_read_sgid(struct efa_cq *cq, union ibv_gid *gid)
{
	(void)cq;
	if (!poll_extra.has_sgid)
		return -ENOENT;
	memcpy(gid, poll_extra.sgid, sizeof(*gid));
	return 0;
}

static bool wc_is_unsolicited(struct efa_cq *cq)
{
	(void)cq;
	return poll_extra.unsolicited;
}

struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *init, struct cq_init_attr *own, uint32_t inlen)
{
	struct cq_init_attr a;
	struct ncq *c;

	if (!is_efa(context)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!take(&a, sizeof(a), offsetof(struct cq_init_attr, flags), own, inlen) || a.comp_mask || a.flags ||
	    a.wc_flags & ~(uint64_t)(WC_SGID | WC_UNSOLICITED)) {
		errno = EINVAL;
		return NULL;
	}
	c = cq_new(context, init, F_efadv_create_cq);
	if (!c)
		return NULL;
	c->efa.wc_read_sgid = a.wc_flags & WC_SGID ? wc_read_sgid : NULL;
	c->efa.wc_is_unsolicited = a.wc_flags & WC_UNSOLICITED ? wc_is_unsolicited : NULL;
	return &c->cq;
}

struct efa_cq *efadv_cq_from_ibv_cq_ex(struct ibv_cq_ex *cq)
{
	return &to_cq_ex(cq)->efa;
}

int efadv_query_mr(struct ibv_mr *mr, struct mr_attr *attr, uint32_t inlen)
{
	struct mr_attr a = { .ic_id_validity = 5, .recv_ic_id = 1, .rdma_recv_ic_id = 3 };

	if (!is_efa(mr->context))
		return EOPNOTSUPP;
	FAIL_ERRNO(efadv_query_mr);
	return ANSWER(attr, inlen, a);
}

/* Queues that nobody reads: their memory is this. */
static uint32_t doorbell;
static uint8_t queue[64];

int efadv_query_qp_wqs(struct ibv_qp *qp, struct wq_attr *sq, struct wq_attr *rq, uint32_t inlen)
{
	const struct ibv_qp_cap *cap = &to_qp(qp)->attr.cap;
	struct wq_attr s = { .buffer = queue, .entry_size = 64, .num_entries = cap->max_send_wr, .doorbell = &doorbell, .max_batch = 16 };
	struct wq_attr r = { .buffer = queue, .entry_size = 16, .num_entries = cap->max_recv_wr, .doorbell = &doorbell };

	if (!is_efa(qp->context))
		return EOPNOTSUPP;
	FAIL_ERRNO(efadv_query_qp_wqs);
	ANSWER(sq, inlen, s);
	return ANSWER(rq, inlen, r);
}

int efadv_query_cq(struct ibv_cq *cq, struct cq_attr *attr, uint32_t inlen)
{
	struct cq_attr a = { .buffer = queue, .entry_size = 64, .num_entries = (uint32_t)cq->cqe, .doorbell = &doorbell };

	if (!is_efa(cq->context))
		return EOPNOTSUPP;
	FAIL_ERRNO(efadv_query_cq);
	return ANSWER(attr, inlen, a);
}

/* These two answer a number, or a negated errno. */
int efadv_get_max_sq_depth(struct ibv_context *context, struct depth_attr *attr, uint32_t inlen)
{
	int err = is_efa(context) ? fn_fails(F_efadv_get_max_sq_depth) : EOPNOTSUPP;

	(void)inlen;
	if (err)
		return -err;
	return (int)attributes.max_sq_wr >> (attr->flags & 1 || attr->max_inline_data > attributes.inline_buf_size);
}

int efadv_get_max_rq_depth(struct ibv_context *context, struct depth_attr *attr, uint32_t inlen)
{
	int err = is_efa(context) ? fn_fails(F_efadv_get_max_rq_depth) : EOPNOTSUPP;

	(void)inlen;
	if (err)
		return -err;
	return attr->flags ? (int)(attributes.max_rq_wr / attr->flags) : -EINVAL;
}
