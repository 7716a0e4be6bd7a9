/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Completion queues, plain and extended. */
#include "data.h"

static struct ibv_cq_init_attr_ex last;
static bool have_last;

int nullv_last_create_cq(struct ibv_cq_init_attr_ex *attr)
{
	if (!have_last) {
		errno = ENODATA;
		return -1;
	}
	*attr = last;
	return 0;
}

static int check(struct ibv_context *context, const struct ibv_cq_init_attr_ex *a)
{
	if (!a->cqe || a->cqe > (uint32_t)nullv_device_attr()->orig_attr.max_cqe)
		return EINVAL;
	if (a->comp_vector >= (uint32_t)context->num_comp_vectors)
		return EINVAL;
	if (a->wc_flags & ~(uint64_t)(is_efa(context) ? IBV_WC_STANDARD_FLAGS : IBV_CREATE_CQ_SUP_WC_FLAGS))
		return EOPNOTSUPP;
	return 0;
}

/* The reads that were asked for; cq_mode() keeps to these. */
static void set_reads(struct ibv_cq_ex *cq, uint64_t flags)
{
	const struct ibv_cq_ex *from = fast_ops.cq;

	cq->start_poll = from->start_poll;
	cq->next_poll = from->next_poll;
	cq->end_poll = from->end_poll;
	cq->read_opcode = from->read_opcode;
	cq->read_vendor_err = from->read_vendor_err;
	cq->read_wc_flags = from->read_wc_flags;
#define READ(flag, name) do { if (flags & IBV_WC_EX_WITH_##flag) cq->name = from->name; } while (0)
	READ(BYTE_LEN, read_byte_len);
	READ(IMM, read_imm_data);
	READ(QP_NUM, read_qp_num);
	READ(SRC_QP, read_src_qp);
	READ(SLID, read_slid);
	READ(SL, read_sl);
	READ(DLID_PATH_BITS, read_dlid_path_bits);
	READ(COMPLETION_TIMESTAMP, read_completion_ts);
	READ(CVLAN, read_cvlan);
	READ(FLOW_TAG, read_flow_tag);
	READ(TM_INFO, read_tm_info);
	READ(COMPLETION_TIMESTAMP_WALLCLOCK, read_completion_wallclock_ns);
#undef READ
}

struct ncq *cq_new(struct ibv_context *context, const struct ibv_cq_init_attr_ex *a, enum fn fn)
{
	bool extended = fn != F_ibv_create_cq;
	struct ncq *c;
	int err;

	pthread_mutex_lock(&big);
	last = *a;
	have_last = true;
	pthread_mutex_unlock(&big);
	err = fn_fails(fn);
	if (!err)
		err = check(context, a);
	c = err ? NULL : calloc(1, sizeof(*c));
	if (!c) {
		if (err)
			errno = err;
		return NULL;
	}
	c->cq.context = context;
	c->cq.channel = a->channel;
	c->cq.cq_context = a->cq_context;
	c->cq.handle = next_number();
	c->cq.cqe = (int)a->cqe;
	pthread_mutex_init(&c->cq.mutex, NULL);
	pthread_cond_init(&c->cq.cond, NULL);
	c->extended = extended;
	if (extended)
		set_reads(&c->cq, a->wc_flags);

	pthread_mutex_lock(&big);
	cq_mode(c);
	if (a->channel)
		a->channel->refcnt++;
	c->next = to_ctx(context)->cqs;
	if (c->next)
		c->next->prev = c;
	to_ctx(context)->cqs = c;
	to_ctx(context)->children++;
	live.cqs++;
	pthread_mutex_unlock(&big);
	return c;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct ibv_cq_init_attr_ex a = {
		.cqe = (uint32_t)cqe, .cq_context = cq_context, .channel = channel, .comp_vector = (uint32_t)comp_vector,
	};

	return (struct ibv_cq *)cq_new(context, &a, F_ibv_create_cq);
}

struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init)
{
	return (struct ibv_cq_ex *)cq_new(context, init, F_ibv_create_cq_ex);
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	FAIL_ERRNO(ibv_resize_cq);
	if (cqe <= 0 || cqe > nullv_device_attr()->orig_attr.max_cqe)
		return EINVAL;
	cq->cqe = cqe;
	return 0;
}

int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq;
	FAIL_ERRNO(ibv_modify_cq);
	return attr->attr_mask & ~(uint32_t)IBV_CQ_ATTR_MODERATE ? EOPNOTSUPP : 0;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct ncq *c = to_cq(cq);
	struct ncontext *ctx = to_ctx(cq->context);

	FAIL_ERRNO(ibv_destroy_cq);
	pthread_mutex_lock(&big);
	if (c->children) {
		pthread_mutex_unlock(&big);
		return EBUSY;
	}
	if (c->comp_got != cq->comp_events_completed || c->async_got != cq->async_events_completed)
		live.destroyed_unacked++;
	events_drop_cq(c);
	if (cq->channel)
		cq->channel->refcnt--;
	*(c->prev ? &c->prev->next : &ctx->cqs) = c->next;
	if (c->next)
		c->next->prev = c->prev;
	struct wc_queue *queues[] = { &c->injected, &c->at_arm };
	for (int i = 0; i < 2; i++)
		for (struct wc_node *node = queues[i]->head, *next; node; node = next) {
			next = node->next;
			free(node);
		}
	ctx->children--;
	live.cqs--;
	pthread_mutex_unlock(&big);
	pthread_mutex_destroy(&cq->mutex);
	pthread_cond_destroy(&cq->cond);
	free(c);
	return 0;
}
