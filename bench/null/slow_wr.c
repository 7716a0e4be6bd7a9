/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The ibv_wr_* session under observation: requests are staged, and count once ibv_wr_complete takes them. */
#include "slow.h"

/* nullv_wr_log. */
static char calls[4096];
static size_t num_calls;

static void note(char call)
{
	if (num_calls < sizeof(calls) - 1)
		calls[num_calls++] = call;
}

const char *nullv_wr_log(void)
{
	return calls;
}

void slow_log_reset(void)
{
	memset(calls, 0, sizeof(calls));
	num_calls = 0;
}

static struct nullv_wr *staged(struct ibv_qp_ex *qp)
{
	struct nqp *q = to_qp_ex(qp);

	if (q->session && q->num_staged)
		return &q->staged[q->num_staged - 1];
	misuse("an ibv_wr_set_* call without a request before it");
	return NULL;
}

/* The request that data is for; each takes exactly one ibv_wr_set_sge or ibv_wr_set_inline_data. */
static struct nullv_wr *staged_data(struct ibv_qp_ex *qp)
{
	struct nullv_wr *w = staged(qp);

	note('d');
	if (w && !to_qp_ex(qp)->need_data)
		misuse("data for an ibv_wr_* request that takes none, or has its own already");
	to_qp_ex(qp)->need_data = false;
	return w;
}

static void check_data(struct nqp *q)
{
	if (q->need_data)
		misuse("an ibv_wr_* request without its ibv_wr_set_sge or ibv_wr_set_inline_data");
	q->need_data = false;
}

/* A new request of this session, or NULL (out of memory, or no session). */
static struct nullv_wr *stage(struct ibv_qp_ex *qp, uint32_t opcode, bool takes_data)
{
	struct nqp *q = to_qp_ex(qp);
	struct nullv_wr *w;

	note('o');
	if (!q->session) {
		misuse("an ibv_wr_* request outside ibv_wr_start and ibv_wr_complete");
		return NULL;
	}
	check_data(q);
	if (q->num_staged == q->cap_staged) {
		size_t cap = q->cap_staged ? 2 * q->cap_staged : 16;

		w = realloc(q->staged, cap * sizeof(*w));
		if (!w) {
			misuse("the null provider is out of memory");
			return NULL;
		}
		q->staged = w;
		q->cap_staged = cap;
	}
	w = &q->staged[q->num_staged++];
	memset(w, 0, sizeof(*w));
	w->wr_id = qp->wr_id;
	w->opcode = opcode;
	w->flags = qp->wr_flags;
	w->qp_num = qp->qp_base.qp_num;
	w->via_wr_api = 1;
	q->need_data = takes_data;
	if (qp->wr_flags & IBV_SEND_INLINE)
		misuse("IBV_SEND_INLINE in wr_flags: ibv_wr_set_inline_data says it");
	return w;
}

static void stage_remote(struct ibv_qp_ex *qp, uint32_t opcode, uint32_t rkey, uint64_t addr, uint32_t imm)
{
	struct nullv_wr *w = stage(qp, opcode, true);

	if (!w)
		return;
	w->rkey = rkey;
	w->remote_addr = addr;
	w->imm = imm;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	stage_remote(qp, IBV_WR_RDMA_READ, rkey, addr, 0);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	stage_remote(qp, IBV_WR_RDMA_WRITE, rkey, addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	stage_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr, imm);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
{
	struct nullv_wr *w = stage(qp, IBV_WR_ATOMIC_CMP_AND_SWP, true);

	if (!w)
		return;
	w->rkey = rkey;
	w->remote_addr = addr;
	w->compare_add = compare;
	w->swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	struct nullv_wr *w = stage(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, true);

	if (!w)
		return;
	w->rkey = rkey;
	w->remote_addr = addr;
	w->compare_add = add;
}

/* The eight bytes come with the call, so they count as inline data. */
static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, const void *data)
{
	struct nullv_wr *w = stage(qp, IBV_WR_ATOMIC_WRITE, false);

	if (!w)
		return;
	w->rkey = rkey;
	w->remote_addr = addr;
	slow_add_inline(w, data, 8);
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t length, uint8_t type, uint8_t level)
{
	struct nullv_wr *w = stage(qp, NULL_WR_FLUSH, false);

	if (!w)
		return;
	w->rkey = rkey;
	w->remote_addr = addr;
	w->flush_length = length;
	w->flush_type = type;
	w->flush_level = level;
}

static void fast_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t length, uint8_t type, uint8_t level)
{
	(void)qp, (void)rkey, (void)addr, (void)length, (void)type, (void)level;
}

null_flush *null_flush_ops[2] = { fast_flush, wr_flush };

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct nullv_wr *w = stage(qp, IBV_WR_BIND_MW, false);

	if (!w)
		return;
	w->mw = mw;
	w->mw_rkey = rkey;
	w->bind = *info;
}

static void stage_imm(struct ibv_qp_ex *qp, uint32_t opcode, uint32_t imm, bool takes_data)
{
	struct nullv_wr *w = stage(qp, opcode, takes_data);

	if (w)
		w->imm = imm;
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey) { stage_imm(qp, IBV_WR_LOCAL_INV, rkey, false); }
static void wr_send(struct ibv_qp_ex *qp) { stage_imm(qp, IBV_WR_SEND, 0, true); }
static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm) { stage_imm(qp, IBV_WR_SEND_WITH_IMM, imm, true); }
static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey) { stage_imm(qp, IBV_WR_SEND_WITH_INV, rkey, true); }

static void wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t size, uint16_t mss)
{
	struct nullv_wr *w = stage(qp, IBV_WR_TSO, true);

	if (!w)
		return;
	w->tso_hdr = hdr;
	w->tso_hdr_sz = size;
	w->tso_mss = mss;
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct nullv_wr *w = staged(qp);

	note('u');
	if (w)
		slow_set_ud(w, ah, qpn, qkey);
}

void slow_set_hints(struct nqp *q, uint32_t hints)
{
	struct nullv_wr *w = slow ? staged(&q->qp) : NULL;

	if (!w)
		return;
	note('h');
	w->hints = hints;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
	struct nullv_wr *w = staged(qp);

	if (w)
		w->remote_srqn = srqn;
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
	struct nullv_wr *w = staged_data(qp);

	for (size_t i = 0; w && i < n; i++)
		slow_add_inline(w, list[i].addr, list[i].length);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	wr_set_inline_data_list(qp, 1, &(struct ibv_data_buf){ addr, length });
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
	struct nullv_wr *w = staged_data(qp);

	for (size_t i = 0; w && i < n; i++)
		slow_add_sge(w, &list[i]);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	wr_set_sge_list(qp, 1, &(struct ibv_sge){ addr, length, lkey });
}

static void wr_start(struct ibv_qp_ex *qp)
{
	struct nqp *q = to_qp_ex(qp);

	note('S');
	if (q->session)
		misuse("ibv_wr_start inside an open session");
	q->session = true;
	q->need_data = false;
	q->num_staged = 0;
}

static void end_session(struct nqp *q, const char *outside)
{
	if (!q->session)
		misuse(outside);
	q->session = false;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct nqp *q = to_qp_ex(qp);
	int err = fn_fails(F_ibv_wr_complete);
	bool name_bad;

	note('C');
	pthread_mutex_lock(&big);
	end_session(q, "ibv_wr_complete without ibv_wr_start");
	check_data(q);
	stats.send.calls++;
	if (!err)
		err = slow_admit(q->num_staged, &name_bad);
	for (size_t i = 0; !err && i < q->num_staged; i++) {
		if (qp->wr_set_ud_addr && !q->staged[i].has_ud_addr)
			misuse("a UD or SRD request without ibv_wr_set_ud_addr");
		slow_account(&stats.send, &q->staged[i]);
	}
	q->num_staged = 0;
	pthread_mutex_unlock(&big);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	struct nqp *q = to_qp_ex(qp);

	note('A');
	end_session(q, "ibv_wr_abort without ibv_wr_start");
	q->need_data = false;
	q->num_staged = 0;
}

const struct ibv_qp_ex slow_wr_ops = {
	.wr_atomic_cmp_swp = wr_atomic_cmp_swp,
	.wr_atomic_fetch_add = wr_atomic_fetch_add,
	.wr_bind_mw = wr_bind_mw,
	.wr_local_inv = wr_local_inv,
	.wr_rdma_read = wr_rdma_read,
	.wr_rdma_write = wr_rdma_write,
	.wr_rdma_write_imm = wr_rdma_write_imm,
	.wr_send = wr_send,
	.wr_send_imm = wr_send_imm,
	.wr_send_inv = wr_send_inv,
	.wr_send_tso = wr_send_tso,
	.wr_set_ud_addr = wr_set_ud_addr,
	.wr_set_xrc_srqn = wr_set_xrc_srqn,
	.wr_set_inline_data = wr_set_inline_data,
	.wr_set_inline_data_list = wr_set_inline_data_list,
	.wr_set_sge = wr_set_sge,
	.wr_set_sge_list = wr_set_sge_list,
	.wr_start = wr_start,
	.wr_complete = wr_complete,
	.wr_abort = wr_abort,
	.wr_atomic_write = wr_atomic_write,
};
