/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared receive queues. */
#include "internal.h"

static struct ibv_srq *srq_new(struct ibv_pd *pd, void *srq_context, struct ibv_srq_attr *attr, struct ibv_xrcd *xrcd,
			       struct ibv_cq *cq, const struct ibv_tm_cap *tags)
{
	const struct ibv_device_attr *d = &nullv_device_attr()->orig_attr;
	struct nsrq *s;

	if (attr->max_wr > (uint32_t)d->max_srq_wr || attr->max_sge > (uint32_t)d->max_srq_sge) {
		errno = EINVAL;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->srq.context = pd->context;
	s->srq.srq_context = srq_context;
	s->srq.pd = pd;
	s->srq.handle = next_number();
	pthread_mutex_init(&s->srq.mutex, NULL);
	pthread_cond_init(&s->srq.cond, NULL);
	s->attr = *attr;
	s->attr.srq_limit = 0;
	s->number = next_number();
	s->xrcd = (struct nxrcd *)xrcd;
	s->cq = cq ? to_cq(cq) : NULL;
	s->tags = *tags;
	pthread_mutex_lock(&big);
	to_pd(pd)->children++;
	if (s->xrcd)
		s->xrcd->children++;
	if (s->cq)
		s->cq->children++;
	live.srqs++;
	pthread_mutex_unlock(&big);
	return &s->srq;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	FAIL_PTR(ibv_create_srq);
	return srq_new(pd, init->srq_context, &init->attr, NULL, NULL, &(struct ibv_tm_cap){0, 0});
}

struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
	static const struct ibv_tm_cap none;
	uint32_t mask = init->comp_mask;
	bool xrc = mask & IBV_SRQ_INIT_ATTR_TYPE && init->srq_type == IBV_SRQT_XRC;
	bool tm = mask & IBV_SRQ_INIT_ATTR_TYPE && init->srq_type == IBV_SRQT_TM;

	(void)context;
	FAIL_PTR(ibv_create_srq_ex);
	if (mask & ~(uint32_t)(IBV_SRQ_INIT_ATTR_RESERVED - 1)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(mask & IBV_SRQ_INIT_ATTR_PD) || ((xrc || tm) && !(mask & IBV_SRQ_INIT_ATTR_CQ)) ||
	    (xrc && !(mask & IBV_SRQ_INIT_ATTR_XRCD)) || tm != !!(mask & IBV_SRQ_INIT_ATTR_TM) || (tm && !init->tm_cap.max_num_tags)) {
		errno = EINVAL;
		return NULL;
	}
	return srq_new(init->pd, init->srq_context, &init->attr, xrc ? init->xrcd : NULL, xrc || tm ? init->cq : NULL, tm ? &init->tm_cap : &none);
}

/* What a queue that matches tags was made with. */
int nullv_srq_tags(struct ibv_srq *srq, struct ibv_tm_cap *tags, struct ibv_cq **cq)
{
	struct nsrq *s = to_srq(srq);

	*tags = s->tags;
	*cq = s->cq ? ibv_cq_ex_to_cq(&s->cq->cq) : NULL;
	return s->tags.max_num_tags ? 0 : -1;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct nsrq *s = to_srq(srq);

	FAIL_ERRNO(ibv_modify_srq);
	if (mask & IBV_SRQ_MAX_WR)
		s->attr.max_wr = attr->max_wr;
	if (mask & IBV_SRQ_LIMIT)
		s->attr.srq_limit = attr->srq_limit;
	return 0;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	FAIL_ERRNO(ibv_query_srq);
	*attr = to_srq(srq)->attr;
	return 0;
}

int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	FAIL_ERRNO(ibv_get_srq_num);
	*number = to_srq(srq)->number;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct nsrq *s = to_srq(srq);

	FAIL_ERRNO(ibv_destroy_srq);
	pthread_mutex_lock(&big);
	if (s->children) {
		pthread_mutex_unlock(&big);
		return EBUSY;
	}
	if (s->async_got != srq->events_completed)
		live.destroyed_unacked++;
	events_drop_async(srq->context, srq);
	to_pd(srq->pd)->children--;
	if (s->xrcd)
		s->xrcd->children--;
	if (s->cq)
		s->cq->children--;
	live.srqs--;
	pthread_mutex_unlock(&big);
	pthread_mutex_destroy(&srq->mutex);
	pthread_cond_destroy(&srq->cond);
	free(s);
	return 0;
}
