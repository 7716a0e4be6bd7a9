/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Queue pairs. Their state is whatever modify says: nothing is validated, failures are for the scripts. */
#include <stddef.h>
#include "internal.h"

static struct ibv_qp_init_attr_ex last_create;
static struct ibv_qp_attr last_attr;
static int last_mask;
static bool have_create, have_modify;

int nullv_last_create_qp(struct ibv_qp_init_attr_ex *attr)
{
	if (!have_create) {
		errno = ENODATA;
		return -1;
	}
	*attr = last_create;
	return 0;
}

int nullv_last_modify(struct ibv_qp_attr *attr, int *mask)
{
	if (!have_modify) {
		errno = ENODATA;
		return -1;
	}
	*attr = last_attr;
	*mask = last_mask;
	return 0;
}

static int check(struct ibv_context *context, const struct ibv_qp_init_attr_ex *a)
{
	const struct ibv_device_attr *d = &nullv_device_attr()->orig_attr;
	const struct ibv_qp_cap *c = &a->cap;

	if (!(a->comp_mask & (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD)))
		return EINVAL;
	if (c->max_send_wr > (uint32_t)d->max_qp_wr || c->max_recv_wr > (uint32_t)d->max_qp_wr)
		return EINVAL;
	if (c->max_send_sge > (uint32_t)d->max_sge || c->max_recv_sge > (uint32_t)d->max_sge)
		return EINVAL;
	if (a->comp_mask & (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH))
		return EOPNOTSUPP;
	if (is_efa(context) && a->qp_type != IBV_QPT_UD && a->qp_type != IBV_QPT_DRIVER)
		return EOPNOTSUPP;
	return 0;
}

/* Takes (1) or gives back (-1) the QP's references. */
static void count_users(struct nqp *q, int by)
{
	struct ibv_qp *b = &q->qp.qp_base;

	if (b->pd)
		to_pd(b->pd)->children += (unsigned)by;
	else
		to_ctx(b->context)->children += (unsigned)by;
	if (b->send_cq)
		to_cq(b->send_cq)->children += (unsigned)by;
	if (b->recv_cq)
		to_cq(b->recv_cq)->children += (unsigned)by;
	if (b->srq)
		to_srq(b->srq)->children += (unsigned)by;
	if (q->xrcd)
		q->xrcd->children += (unsigned)by;
	live.qps += (unsigned)by;
}

static void qp_fill(struct nqp *q, struct ibv_context *context, const struct ibv_qp_init_attr_ex *a)
{
	struct ibv_qp *b = &q->qp.qp_base;

	b->context = context;
	b->qp_context = a->qp_context;
	b->pd = a->comp_mask & IBV_QP_INIT_ATTR_PD ? a->pd : NULL;
	b->send_cq = a->send_cq;
	b->recv_cq = a->recv_cq;
	b->srq = a->srq;
	b->handle = next_number();
	b->qp_num = next_number();
	b->state = IBV_QPS_RESET;
	b->qp_type = a->qp_type;
	pthread_mutex_init(&b->mutex, NULL);
	pthread_cond_init(&b->cond, NULL);
	q->xrcd = a->comp_mask & IBV_QP_INIT_ATTR_XRCD ? (struct nxrcd *)a->xrcd : NULL;
	q->extended = a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	q->send_ops = q->extended ? a->send_ops_flags : 0;
	memcpy(&q->init, a, sizeof(q->init));   /* the extended struct begins with the plain one */
	q->attr.cap = a->cap;
}

struct ibv_qp *qp_new(struct ibv_context *context, struct ibv_qp_init_attr_ex *a, enum fn fn)
{
	struct nqp *q;
	int err;

	pthread_mutex_lock(&big);
	last_create = *a;
	have_create = true;
	pthread_mutex_unlock(&big);
	err = fn_fails(fn);
	if (!err)
		err = check(context, a);
	q = err ? NULL : calloc(1, sizeof(*q));
	if (!q) {
		if (err)
			errno = err;
		return NULL;
	}
	qp_fill(q, context, a);
	pthread_mutex_lock(&big);
	qp_mode(q);
	count_users(q, 1);
	q->next = to_ctx(context)->qps;
	if (q->next)
		q->next->prev = q;
	to_ctx(context)->qps = q;
	pthread_mutex_unlock(&big);
	return &q->qp.qp_base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex a = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };

	/* Not sizeof(*init): comp_mask lies where the plain struct ends in padding. */
	memcpy(&a, init, offsetof(struct ibv_qp_init_attr_ex, comp_mask));
	return qp_new(pd->context, &a, F_ibv_create_qp);
}

struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	return qp_new(context, init, F_ibv_create_qp_ex);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return to_qp(qp)->extended ? &to_qp(qp)->qp : NULL;
}

static void merge(struct ibv_qp_attr *to, const struct ibv_qp_attr *a, int mask)
{
#define FIELD(flag, name) do { if (mask & IBV_QP_##flag) to->name = a->name; } while (0)
	FIELD(EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	FIELD(ACCESS_FLAGS, qp_access_flags);
	FIELD(PKEY_INDEX, pkey_index);
	FIELD(PORT, port_num);
	FIELD(QKEY, qkey);
	FIELD(AV, ah_attr);
	FIELD(PATH_MTU, path_mtu);
	FIELD(TIMEOUT, timeout);
	FIELD(RETRY_CNT, retry_cnt);
	FIELD(RNR_RETRY, rnr_retry);
	FIELD(RQ_PSN, rq_psn);
	FIELD(MAX_QP_RD_ATOMIC, max_rd_atomic);
	FIELD(ALT_PATH, alt_ah_attr);
	FIELD(ALT_PATH, alt_pkey_index);
	FIELD(ALT_PATH, alt_port_num);
	FIELD(ALT_PATH, alt_timeout);
	FIELD(MIN_RNR_TIMER, min_rnr_timer);
	FIELD(SQ_PSN, sq_psn);
	FIELD(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	FIELD(PATH_MIG_STATE, path_mig_state);
	FIELD(CAP, cap);
	FIELD(DEST_QPN, dest_qp_num);
	FIELD(RATE_LIMIT, rate_limit);
#undef FIELD
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct nqp *q = to_qp(qp);

	pthread_mutex_lock(&big);
	last_attr = *attr;
	last_mask = mask;
	have_modify = true;
	pthread_mutex_unlock(&big);
	FAIL_ERRNO(ibv_modify_qp);
	pthread_mutex_lock(&big);
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		q->attr = (struct ibv_qp_attr){ .cap = q->attr.cap };
	merge(&q->attr, attr, mask);
	if (mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	pthread_mutex_unlock(&big);
	return 0;
}

int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	FAIL_ERRNO(ibv_modify_qp_rate_limit);
	to_qp(qp)->attr.rate_limit = attr->rate_limit;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct nqp *q = to_qp(qp);

	(void)mask;
	FAIL_ERRNO(ibv_query_qp);
	pthread_mutex_lock(&big);
	*attr = q->attr;
	attr->qp_state = attr->cur_qp_state = qp->state;
	*init = q->init;
	init->cap = q->attr.cap;
	pthread_mutex_unlock(&big);
	return 0;
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp, (void)op, (void)flags;
	/* Its answer is yes or no: a failure can only be a no. */
	return !fn_fails(F_ibv_query_qp_data_in_order);
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	FAIL_ERRNO(ibv_query_ece);
	*ece = to_qp(qp)->ece;
	return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	FAIL_ERRNO(ibv_set_ece);
	to_qp(qp)->ece = *ece;
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	FAIL_ERRNO(ibv_attach_mcast);
	return 0;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp, (void)gid, (void)lid;
	FAIL_ERRNO(ibv_detach_mcast);
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct nqp *q = to_qp(qp);

	FAIL_ERRNO(ibv_destroy_qp);
	pthread_mutex_lock(&big);
	if (q->session)
		misuse("ibv_destroy_qp inside an open ibv_wr_start session");
	if (q->async_got != qp->events_completed)
		live.destroyed_unacked++;
	events_drop_async(qp->context, qp);
	*(q->prev ? &q->prev->next : &to_ctx(qp->context)->qps) = q->next;
	if (q->next)
		q->next->prev = q->prev;
	count_users(q, -1);
	pthread_mutex_unlock(&big);
	pthread_mutex_destroy(&qp->mutex);
	pthread_cond_destroy(&qp->cond);
	free(q->staged);
	free(q);
	return 0;
}
