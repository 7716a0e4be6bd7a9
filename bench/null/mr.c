/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory regions, windows, device memory. */
#include "internal.h"

static struct nullv_mr_args last;

int nullv_last_reg_mr(struct nullv_mr_args *args)
{
	if (!last.fn) {
		errno = ENODATA;
		return -1;
	}
	*args = last;
	return 0;
}

static struct ibv_mr *mr_new(struct ibv_pd *pd, enum fn fn, const struct nullv_mr_args *args, struct ndm *dm)
{
	struct nmr *m;
	int err;

	pthread_mutex_lock(&big);
	last = *args;
	pthread_mutex_unlock(&big);
	err = fn_fails(fn);
	if (err) {
		errno = err;
		return NULL;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->mr.context = pd->context;
	m->mr.pd = pd;
	m->mr.addr = args->addr;
	m->mr.length = args->length;
	m->mr.handle = next_number();
	/* Different, so that no test passes with the two exchanged. */
	m->mr.lkey = m->mr.handle << 8;
	m->mr.rkey = m->mr.lkey | 0x80000001;
	m->dm = dm;
	pthread_mutex_lock(&big);
	to_pd(pd)->children++;
	if (dm)
		dm->children++;
	live.mrs++;
	pthread_mutex_unlock(&big);
	return &m->mr;
}

#define ARGS(...) &(struct nullv_mr_args){ __VA_ARGS__ }

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return mr_new(pd, F_ibv_reg_mr, ARGS("ibv_reg_mr", addr, length, (uintptr_t)addr, 0, -1, (unsigned)access), NULL);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return mr_new(pd, F_ibv_reg_mr_iova, ARGS("ibv_reg_mr_iova", addr, length, iova, 0, -1, (unsigned)access), NULL);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
	return mr_new(pd, F_ibv_reg_mr_iova2, ARGS("ibv_reg_mr_iova2", addr, length, iova, 0, -1, access), NULL);
}

/* As in the real library, the region's address is the offset. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	return mr_new(pd, F_ibv_reg_dmabuf_mr,
		      ARGS("ibv_reg_dmabuf_mr", (void *)(uintptr_t)offset, length, iova, offset, fd, (unsigned)access), NULL);
}

struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
	return mr_new(pd, F_ibv_alloc_null_mr, ARGS("ibv_alloc_null_mr", NULL, SIZE_MAX, 0, 0, -1, 0), NULL);
}

struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length, unsigned access)
{
	return mr_new(pd, F_ibv_reg_dm_mr, ARGS("ibv_reg_dm_mr", NULL, length, 0, offset, -1, access), (struct ndm *)dm);
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	int err = fn_fails(F_ibv_rereg_mr);

	(void)access;
	if (err) {
		errno = err;
		return IBV_REREG_MR_ERR_CMD;
	}
	if (!flags || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}
	pthread_mutex_lock(&big);
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		to_pd(mr->pd)->children--;
		to_pd(pd)->children++;
		mr->pd = pd;
	}
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
	pthread_mutex_unlock(&big);
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct nmr *m = (struct nmr *)mr;

	FAIL_ERRNO(ibv_dereg_mr);
	pthread_mutex_lock(&big);
	to_pd(mr->pd)->children--;
	if (m->dm)
		m->dm->children--;
	live.mrs--;
	pthread_mutex_unlock(&big);
	free(m);
	return 0;
}

int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *sges, uint32_t n)
{
	(void)pd, (void)advice, (void)flags, (void)sges, (void)n;
	FAIL_ERRNO(ibv_advise_mr);
	return 0;
}

struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct nmw *w;

	FAIL_PTR(ibv_alloc_mw);
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->mw.context = pd->context;
	w->mw.pd = pd;
	w->mw.handle = next_number();
	w->mw.rkey = w->mw.handle << 8;
	w->mw.type = type;
	pthread_mutex_lock(&big);
	to_pd(pd)->children++;
	live.mws++;
	pthread_mutex_unlock(&big);
	return &w->mw;
}

int dealloc_mw(struct ibv_mw *mw)
{
	FAIL_ERRNO(ibv_dealloc_mw);
	pthread_mutex_lock(&big);
	to_pd(mw->pd)->children--;
	live.mws--;
	pthread_mutex_unlock(&big);
	free(mw);
	return 0;
}

static struct ibv_mw_bind last_bind;
static bool have_bind;

int nullv_last_bind_mw(struct ibv_mw_bind *bind)
{
	if (!have_bind) {
		errno = ENODATA;
		return -1;
	}
	*bind = last_bind;
	return 0;
}

int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	(void)qp;
	pthread_mutex_lock(&big);
	last_bind = *bind;
	have_bind = true;
	pthread_mutex_unlock(&big);
	FAIL_ERRNO(ibv_bind_mw);
	mw->rkey = ibv_inc_rkey(mw->rkey);
	return 0;
}

static bool dm_fits(const struct ndm *d, uint64_t offset, size_t length)
{
	return offset <= d->length && length <= d->length - offset;
}

static int to_dm(struct ibv_dm *dm, uint64_t offset, const void *from, size_t length)
{
	struct ndm *d = (struct ndm *)dm;

	if (!dm_fits(d, offset, length))
		return EFAULT;
	memcpy(d->bytes + offset, from, length);
	return 0;
}

static int from_dm(void *to, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	struct ndm *d = (struct ndm *)dm;

	if (!dm_fits(d, offset, length))
		return EFAULT;
	memcpy(to, d->bytes + offset, length);
	return 0;
}

struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	struct ndm *d;

	FAIL_PTR(ibv_alloc_dm);
	if (attr->length > nullv_device_attr()->max_dm_size) {
		errno = EINVAL;
		return NULL;
	}
	d = calloc(1, sizeof(*d) + attr->length);
	if (!d)
		return NULL;
	d->dm.context = context;
	d->dm.memcpy_to_dm = to_dm;
	d->dm.memcpy_from_dm = from_dm;
	d->dm.comp_mask = IBV_DM_MASK_HANDLE;
	d->dm.handle = next_number();
	d->length = attr->length;
	pthread_mutex_lock(&big);
	to_ctx(context)->children++;
	live.dms++;
	pthread_mutex_unlock(&big);
	return &d->dm;
}

int free_dm(struct ibv_dm *dm)
{
	struct ndm *d = (struct ndm *)dm;
	bool busy;

	FAIL_ERRNO(ibv_free_dm);
	pthread_mutex_lock(&big);
	busy = d->children;
	if (!busy) {
		to_ctx(dm->context)->children--;
		live.dms--;
	}
	pthread_mutex_unlock(&big);
	if (busy)
		return EBUSY;
	free(d);
	return 0;
}
