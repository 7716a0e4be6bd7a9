/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Protection domains, thread domains, XRC domains, address handles. */
#include "internal.h"

static struct npd *pd_new(struct ibv_context *context)
{
	struct npd *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pd.context = context;
	p->pd.handle = next_number();
	pthread_mutex_lock(&big);
	to_ctx(context)->children++;
	live.pds++;
	pthread_mutex_unlock(&big);
	return p;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct npd *p;

	FAIL_PTR(ibv_alloc_pd);
	p = pd_new(context);
	return p ? &p->pd : NULL;
}

struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
	struct npd *p;

	FAIL_PTR(ibv_alloc_parent_domain);
	p = pd_new(context);
	if (!p)
		return NULL;
	pthread_mutex_lock(&big);
	p->parent = to_pd(attr->pd);
	p->parent->children++;
	p->td = (struct ntd *)attr->td;
	if (p->td)
		p->td->children++;
	pthread_mutex_unlock(&big);
	return &p->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct npd *p = to_pd(pd);
	bool busy;

	FAIL_ERRNO(ibv_dealloc_pd);
	pthread_mutex_lock(&big);
	busy = p->children;
	if (!busy) {
		to_ctx(pd->context)->children--;
		live.pds--;
		if (p->parent)
			p->parent->children--;
		if (p->td)
			p->td->children--;
	}
	pthread_mutex_unlock(&big);
	if (busy)
		return EBUSY;
	free(p);
	return 0;
}

struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *init)
{
	struct ntd *t;

	FAIL_PTR(ibv_alloc_td);
	if (init->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->td.context = context;
	pthread_mutex_lock(&big);
	to_ctx(context)->children++;
	live.tds++;
	pthread_mutex_unlock(&big);
	return &t->td;
}

int dealloc_td(struct ibv_td *td)
{
	struct ntd *t = (struct ntd *)td;
	bool busy;

	FAIL_ERRNO(ibv_dealloc_td);
	pthread_mutex_lock(&big);
	busy = t->children;
	if (!busy) {
		to_ctx(td->context)->children--;
		live.tds--;
	}
	pthread_mutex_unlock(&big);
	if (busy)
		return EBUSY;
	free(t);
	return 0;
}

struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init)
{
	struct nxrcd *x;

	(void)init;
	FAIL_PTR(ibv_open_xrcd);
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->xrcd.context = context;
	pthread_mutex_lock(&big);
	to_ctx(context)->children++;
	live.xrcds++;
	pthread_mutex_unlock(&big);
	return &x->xrcd;
}

int close_xrcd(struct ibv_xrcd *xrcd)
{
	struct nxrcd *x = (struct nxrcd *)xrcd;
	bool busy;

	FAIL_ERRNO(ibv_close_xrcd);
	pthread_mutex_lock(&big);
	busy = x->children;
	if (!busy) {
		to_ctx(xrcd->context)->children--;
		live.xrcds--;
	}
	pthread_mutex_unlock(&big);
	if (busy)
		return EBUSY;
	free(x);
	return 0;
}

static struct ibv_ah_attr last_create;
static bool have_create;

int nullv_last_create_ah(struct ibv_ah_attr *attr)
{
	if (!have_create) {
		errno = ENODATA;
		return -1;
	}
	*attr = last_create;
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct nah *a;

	pthread_mutex_lock(&big);
	last_create = *attr;
	have_create = true;
	pthread_mutex_unlock(&big);
	FAIL_PTR(ibv_create_ah);
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->ah.context = pd->context;
	a->ah.pd = pd;
	a->ah.handle = next_number();
	a->attr = *attr;
	pthread_mutex_lock(&big);
	to_pd(pd)->children++;
	live.ahs++;
	pthread_mutex_unlock(&big);
	return &a->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	FAIL_ERRNO(ibv_destroy_ah);
	pthread_mutex_lock(&big);
	to_pd(ah->pd)->children--;
	live.ahs--;
	pthread_mutex_unlock(&big);
	free(ah);
	return 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	attr->is_global = 1;
	attr->grh.dgid = grh->sgid;
	attr->grh.hop_limit = grh->hop_limit;
	for (int i = 0;; i++) {
		union ibv_gid gid;

		if (ibv_query_gid(context, port, i, &gid))
			return -1;
		if (!memcmp(&gid, &grh->dgid, sizeof(gid))) {
			attr->grh.sgid_index = (uint8_t)i;
			return 0;
		}
	}
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}
