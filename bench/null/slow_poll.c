/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Polling under observation: completions that tests injected come first. */
#include "slow.h"

static struct wc_queue injected;

static int push(struct wc_queue *q, const struct ibv_wc *wc)
{
	struct wc_node *node = malloc(sizeof(*node));

	if (!node)
		return -1;
	node->wc = *wc;
	node->next = NULL;
	pthread_mutex_lock(&big);
	if (!q->head)
		q->tail = &q->head;
	*q->tail = node;
	q->tail = &node->next;
	pthread_mutex_unlock(&big);
	mode_update();
	return 0;
}

int nullv_push_wc(const struct ibv_wc *wc)
{
	return push(&injected, wc);
}

int nullv_push_wc_to(struct ibv_cq *cq, const struct ibv_wc *wc)
{
	return push(&to_cq(cq)->injected, wc);
}

int nullv_push_wc_at_arm(struct ibv_cq *cq, const struct ibv_wc *wc)
{
	return push(&to_cq(cq)->at_arm, wc);
}

static bool pop(struct wc_queue *q, struct ibv_wc *out)
{
	struct wc_node *node = q->head;

	if (!node)
		return false;
	*out = node->wc;
	q->head = node->next;
	free(node);
	return true;
}

static bool pop_for(struct ncq *cq, struct ibv_wc *out)
{
	return pop(&cq->injected, out) || pop(&injected, out);
}

int slow_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc)
{
	struct ncq *c = to_cq(cq);
	int n = 0, err = fn_fails(F_ibv_poll_cq);

	if (err)
		return -err;
	pthread_mutex_lock(&big);
	if (c->polling)
		misuse("ibv_poll_cq between ibv_start_poll and ibv_end_poll");
	while (n < num && pop_for(c, &wc[n]))
		n++;
	if (!n)
		for (; n < num && n < poll_n; n++)
			wc[n] = poll_wc;
	stats.poll_calls++;
	stats.wcs += (unsigned)n;
	pthread_mutex_unlock(&big);
	return n;
}

int slow_req_notify_cq(struct ibv_cq *cq, int solicited)
{
	struct ncq *c = to_cq(cq);

	(void)solicited;
	FAIL_ERRNO(ibv_req_notify_cq);
	pthread_mutex_lock(&big);
	stats.notify_calls++;
	if (c->at_arm.head) {
		if (!c->injected.head)
			c->injected.tail = &c->injected.head;
		*c->injected.tail = c->at_arm.head;
		c->injected.tail = c->at_arm.tail;
		c->at_arm.head = NULL;
	}
	pthread_mutex_unlock(&big);
	return 0;
}

static int advance(struct ncq *c)
{
	if (!pop_for(c, &c->cur)) {
		if (c->left <= 0)
			return ENOENT;
		c->left--;
		c->cur = poll_wc;
	}
	c->cq.wr_id = c->cur.wr_id;
	c->cq.status = c->cur.status;
	stats.wcs++;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct ncq *c = to_cq_ex(cq);
	int err;

	if (attr && attr->comp_mask)
		return EINVAL;
	FAIL_ERRNO(ibv_start_poll);
	pthread_mutex_lock(&big);
	if (c->polling)
		misuse("ibv_start_poll twice without ibv_end_poll");
	stats.poll_calls++;
	c->left = poll_n;
	err = advance(c);
	/* A poll that finds nothing is over: it must not be ended. */
	c->polling = !err;
	pthread_mutex_unlock(&big);
	return err;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	struct ncq *c = to_cq_ex(cq);
	int err;

	FAIL_ERRNO(ibv_next_poll);
	pthread_mutex_lock(&big);
	if (!c->polling)
		misuse("ibv_next_poll without a successful ibv_start_poll");
	err = advance(c);
	pthread_mutex_unlock(&big);
	return err;
}

static void end_poll(struct ibv_cq_ex *cq)
{
	struct ncq *c = to_cq_ex(cq);

	if (!c->polling)
		misuse("ibv_end_poll without a successful ibv_start_poll");
	c->polling = false;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.opcode; }
static uint32_t read_vendor_err(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.vendor_err; }
static uint32_t read_byte_len(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.byte_len; }
static __be32 read_imm_data(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.imm_data; }
static uint32_t read_qp_num(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.qp_num; }
static uint32_t read_src_qp(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.src_qp; }
static unsigned int read_wc_flags(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.wc_flags; }
static uint32_t read_slid(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.slid; }
static uint8_t read_sl(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.sl; }
static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq) { return to_cq_ex(cq)->cur.dlid_path_bits; }
static uint64_t read_completion_ts(struct ibv_cq_ex *cq) { return (void)cq, poll_extra.completion_ts; }
static uint16_t read_cvlan(struct ibv_cq_ex *cq) { return (void)cq, poll_extra.cvlan; }
static uint32_t read_flow_tag(struct ibv_cq_ex *cq) { return (void)cq, poll_extra.flow_tag; }
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cq) { return (void)cq, poll_extra.wallclock_ns; }

static void read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *info)
{
	(void)cq;
	info->tag = poll_extra.tm_tag;
	info->priv = poll_extra.tm_priv;
}

bool slow_active(void)
{
	if (slow_post_active() || injected.head)
		return true;
	for (struct ncontext *ctx = contexts; ctx; ctx = ctx->next)
		for (struct ncq *cq = ctx->cqs; cq; cq = cq->next)
			if (cq->injected.head || cq->at_arm.head)
				return true;
	return false;
}

void slow_reset(void)
{
	struct ibv_wc wc;

	pthread_mutex_lock(&big);
	slow_post_reset();
	while (pop(&injected, &wc))
		;
	for (struct ncontext *ctx = contexts; ctx; ctx = ctx->next)
		for (struct ncq *cq = ctx->cqs; cq; cq = cq->next)
			while (pop(&cq->injected, &wc) || pop(&cq->at_arm, &wc))
				;
	pthread_mutex_unlock(&big);
}

const struct ibv_cq_ex slow_cq_ops = {
	.start_poll = start_poll,
	.next_poll = next_poll,
	.end_poll = end_poll,
	.read_opcode = read_opcode,
	.read_vendor_err = read_vendor_err,
	.read_byte_len = read_byte_len,
	.read_imm_data = read_imm_data,
	.read_qp_num = read_qp_num,
	.read_src_qp = read_src_qp,
	.read_wc_flags = read_wc_flags,
	.read_slid = read_slid,
	.read_sl = read_sl,
	.read_dlid_path_bits = read_dlid_path_bits,
	.read_completion_ts = read_completion_ts,
	.read_cvlan = read_cvlan,
	.read_flow_tag = read_flow_tag,
	.read_tm_info = read_tm_info,
	.read_completion_wallclock_ns = read_completion_wallclock_ns,
};
