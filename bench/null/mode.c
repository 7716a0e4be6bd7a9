/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which of the two sets the tables point at. Nothing on the fast path ever asks. */
#include "slow.h"

bool slow;
static bool walk;

static const struct data_ops slow_ops = {
	.post_send = slow_post_send,
	.post_recv = slow_post_recv,
	.post_srq_recv = slow_post_srq_recv,
	.poll_cq = slow_poll_cq,
	.req_notify_cq = slow_req_notify_cq,
	.qp = &slow_wr_ops,
	.cq = &slow_cq_ops,
};

static const struct data_ops *ops(void)
{
	return slow ? &slow_ops : &fast_ops;
}

/* Tables change while other threads may call through them: one plain store each. */
#define SET(at, value) __atomic_store_n(&(at), (value), __ATOMIC_RELAXED)

void context_mode(struct ncontext *ctx)
{
	struct ibv_context_ops *o = &ctx->v.context.ops;

	/* What was hidden when the context was opened stays so. */
#define OP(name) do { if (ctx->opened ? o->name != NULL : !hidden_op(#name)) SET(o->name, ops()->name); } while (0)
	OP(post_send);
	OP(post_recv);
	OP(post_srq_recv);
	OP(poll_cq);
	OP(req_notify_cq);
#undef OP
	ctx->opened = true;
}

/* Only the operations that the QP was made for, as the strict ones among real drivers do. */
void qp_mode(struct nqp *qp)
{
	const struct ibv_qp_ex *from = ops()->qp;
	struct ibv_qp_ex *to = &qp->qp;
	uint64_t flags = qp->send_ops;

	if (!qp->extended)
		return;
#define OP(name, condition) SET(to->name, (condition) ? from->name : NULL)
	OP(wr_atomic_cmp_swp, flags & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);
	OP(wr_atomic_fetch_add, flags & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
	OP(wr_bind_mw, flags & IBV_QP_EX_WITH_BIND_MW);
	OP(wr_local_inv, flags & IBV_QP_EX_WITH_LOCAL_INV);
	OP(wr_rdma_read, flags & IBV_QP_EX_WITH_RDMA_READ);
	OP(wr_rdma_write, flags & IBV_QP_EX_WITH_RDMA_WRITE);
	OP(wr_rdma_write_imm, flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
	OP(wr_send, flags & IBV_QP_EX_WITH_SEND);
	OP(wr_send_imm, flags & IBV_QP_EX_WITH_SEND_WITH_IMM);
	OP(wr_send_inv, flags & IBV_QP_EX_WITH_SEND_WITH_INV);
	OP(wr_send_tso, flags & IBV_QP_EX_WITH_TSO);
	OP(wr_atomic_write, flags & IBV_QP_EX_WITH_ATOMIC_WRITE);
	SET(*null_wr_flush(to), flags & NULL_EX_WITH_FLUSH ? null_flush_ops[slow] : NULL);
	OP(wr_set_ud_addr, to->qp_base.qp_type == IBV_QPT_UD || to->qp_base.qp_type == IBV_QPT_DRIVER);
	OP(wr_set_xrc_srqn, to->qp_base.qp_type == IBV_QPT_XRC_SEND);
	OP(wr_set_inline_data, true);
	OP(wr_set_inline_data_list, true);
	OP(wr_set_sge, true);
	OP(wr_set_sge_list, true);
	OP(wr_start, true);
	OP(wr_complete, true);
	OP(wr_abort, true);
#undef OP
}

void cq_mode(struct ncq *cq)
{
	const struct ibv_cq_ex *from = ops()->cq;
	struct ibv_cq_ex *to = &cq->cq;

	if (!cq->extended)
		return;
	/* Which of the optional reads exist was settled when the CQ was made. */
#define OP(name) do { if (to->name) SET(to->name, from->name); } while (0)
	OP(start_poll);
	OP(next_poll);
	OP(end_poll);
	OP(read_opcode);
	OP(read_vendor_err);
	OP(read_byte_len);
	OP(read_imm_data);
	OP(read_qp_num);
	OP(read_src_qp);
	OP(read_wc_flags);
	OP(read_slid);
	OP(read_sl);
	OP(read_dlid_path_bits);
	OP(read_completion_ts);
	OP(read_cvlan);
	OP(read_flow_tag);
	OP(read_tm_info);
	OP(read_completion_wallclock_ns);
#undef OP
}

void mode_update(void)
{
	pthread_mutex_lock(&big);
	slow = walk || script_active() || slow_active();
	for (struct ncontext *ctx = contexts; ctx; ctx = ctx->next) {
		context_mode(ctx);
		for (struct nqp *qp = ctx->qps; qp; qp = qp->next)
			qp_mode(qp);
		for (struct ncq *cq = ctx->cqs; cq; cq = cq->next)
			cq_mode(cq);
	}
	pthread_mutex_unlock(&big);
}

void nullv_set_walk(int on)
{
	walk = on;
	mode_update();
}

void nullv_set_poll_n(int n)
{
	poll_n = n;
}

void nullv_set_wc(const struct ibv_wc *wc)
{
	poll_wc = *wc;
}

void nullv_set_wc_extra(const struct nullv_wc_extra *extra)
{
	poll_extra = *extra;
}

void nullv_reset(void)
{
	static const struct ibv_wc first = {
		.wr_id = 1, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND, .byte_len = 64, .qp_num = 0x11,
	};

	nullv_init();
	script_clear();
	slow_reset();
	nullv_stats_reset();
	attributes_reset();
	poll_n = 0;
	poll_wc = first;
	memset(&poll_extra, 0, sizeof(poll_extra));
	nullv_set_walk(0);
}
