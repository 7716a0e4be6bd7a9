/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Posting under observation: lists of requests are read, counted, and refused as the scripts say. */
#include "slow.h"

#define RING 256

static struct nullv_wr ring[RING];
static uint64_t ring_count;

/* nullv_fail_post and nullv_set_room. */
static struct {
	bool armed, name_bad;
	unsigned accept;
	int err;
} refusal;
static long room = -1;

/* ---- Hashing ---- */

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3ULL;
	return h;
}

void slow_add_sge(struct nullv_wr *w, const struct ibv_sge *s)
{
	if (w->num_sge < NULLV_MAX_SGE)
		w->sge[w->num_sge] = *s;
	w->num_sge++;
	w->bytes += s->length;
	w->sge_hash = mix(mix(mix(w->sge_hash, s->addr), s->length), s->lkey);
}

void slow_add_inline(struct nullv_wr *w, const void *data, size_t n)
{
	w->inlined = 1;
	w->bytes += n;
	w->inline_hash = mix_bytes(w->inline_hash, data, n);
}

static uint64_t checksum(const struct nullv_wr *w)
{
	uint64_t h = mix(w->wr_id, w->opcode);

	h = mix(mix(h, w->flags), w->imm);
	h = mix(mix(h, w->remote_addr), w->rkey);
	h = mix(mix(h, w->compare_add), w->swap);
	h = mix(mix(mix(h, (uintptr_t)w->ah), w->remote_qpn), w->remote_qkey);
	h = mix(mix(mix(h, w->remote_srqn), (uintptr_t)w->mw), w->mw_rkey);
	h = mix(mix(h, (uintptr_t)w->bind.mr), w->bind.addr);
	h = mix(mix(h, w->bind.length), w->bind.mw_access_flags);
	h = mix(mix(h, (uintptr_t)w->tso_hdr), ((uint64_t)w->tso_hdr_sz << 16) | w->tso_mss);
	h = mix(mix(mix(h, w->qp_num), w->inlined), w->hints);
	return mix(mix(mix(h, w->sge_hash), w->inline_hash), w->bytes);
}

/* Order counts: a list posted backwards is other work. */
void slow_account(struct nullv_side *side, const struct nullv_wr *w)
{
	side->wrs++;
	side->sges += w->num_sge;
	side->bytes += w->bytes;
	side->checksum = mix(side->checksum, checksum(w));
	ring[ring_count++ % RING] = *w;
}

int nullv_posted(unsigned back, struct nullv_wr *out)
{
	int ret = -1;

	pthread_mutex_lock(&big);
	if (back < RING && back < ring_count) {
		*out = ring[(ring_count - 1 - back) % RING];
		ret = 0;
	}
	pthread_mutex_unlock(&big);
	if (ret)
		errno = ENODATA;
	return ret;
}

/* ---- Refusals ---- */

int nullv_fail_post(unsigned accept, int err, int name_bad_wr)
{
	pthread_mutex_lock(&big);
	refusal.armed = true;
	refusal.accept = accept;
	refusal.err = err;
	refusal.name_bad = name_bad_wr;
	pthread_mutex_unlock(&big);
	mode_update();
	return 0;
}

void nullv_set_room(long n)
{
	pthread_mutex_lock(&big);
	room = n < 0 ? -1 : n;
	pthread_mutex_unlock(&big);
	mode_update();
}

/* Takes n requests or none. *name_bad stays as it is unless the refusal is one that names nobody. */
int slow_admit(size_t n, bool *name_bad)
{
	if (refusal.armed && refusal.accept < n) {
		refusal.armed = false;
		*name_bad = refusal.name_bad;
		return refusal.err;
	}
	if (room >= 0 && (size_t)room < n)
		return ENOMEM;
	if (refusal.armed)
		refusal.accept -= (unsigned)n;
	if (room >= 0)
		room -= (long)n;
	return 0;
}

/* ---- Lists ---- */

static bool has_imm(uint32_t opcode)
{
	return opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND_WITH_IMM;
}

static bool is_send(uint32_t opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_TSO;
}

void slow_set_ud(struct nullv_wr *w, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	w->has_ud_addr = 1;
	w->ah = ah;
	w->remote_qpn = qpn;
	w->remote_qkey = qkey;
}

/* The fields of the unions that this opcode gives a meaning to. */
static void read_opcode_fields(const struct ibv_qp *qp, const struct ibv_send_wr *wr, struct nullv_wr *w)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_WRITE:
		w->remote_addr = wr->wr.rdma.remote_addr;
		w->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		w->swap = wr->wr.atomic.swap;
		/* fallthrough */
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		w->compare_add = wr->wr.atomic.compare_add;
		w->remote_addr = wr->wr.atomic.remote_addr;
		w->rkey = wr->wr.atomic.rkey;
		break;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		w->imm = wr->invalidate_rkey;
		break;
	case IBV_WR_BIND_MW:
		w->mw = wr->bind_mw.mw;
		w->mw_rkey = wr->bind_mw.rkey;
		w->bind = wr->bind_mw.bind_info;
		break;
	case IBV_WR_TSO:
		w->tso_hdr = wr->tso.hdr;
		w->tso_hdr_sz = wr->tso.hdr_sz;
		w->tso_mss = wr->tso.mss;
		break;
	default:
		break;
	}
	if (has_imm(wr->opcode))
		w->imm = wr->imm_data;
	/* The address shares its bytes with the remote one, so only requests without that can have it. */
	if ((qp->qp_type == IBV_QPT_UD || qp->qp_type == IBV_QPT_DRIVER) && is_send(wr->opcode))
		slow_set_ud(w, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		w->remote_srqn = wr->qp_type.xrc.remote_srqn;
}

static void read_send(const struct ibv_qp *qp, const struct ibv_send_wr *wr, struct nullv_wr *w)
{
	memset(w, 0, sizeof(*w));
	w->wr_id = wr->wr_id;
	w->opcode = wr->opcode;
	w->flags = wr->send_flags & ~(unsigned)IBV_SEND_INLINE;
	w->qp_num = qp->qp_num;
	read_opcode_fields(qp, wr, w);
	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *s = &wr->sg_list[i];

		if (wr->send_flags & IBV_SEND_INLINE)
			slow_add_inline(w, (const void *)(uintptr_t)s->addr, s->length);
		else
			slow_add_sge(w, s);
	}
}

int slow_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int err = fn_fails(F_ibv_post_send);
	bool name_bad = true;

	pthread_mutex_lock(&big);
	stats.send.calls++;
	if (to_qp(qp)->session)
		misuse("ibv_post_send inside an open ibv_wr_start session");
	while (!err && wr) {
		struct nullv_wr w;

		err = slow_admit(1, &name_bad);
		if (err)
			break;
		read_send(qp, wr, &w);
		slow_account(&stats.send, &w);
		wr = wr->next;
	}
	pthread_mutex_unlock(&big);
	if (err && name_bad)
		*bad = wr;
	return err;
}

static int post_recvs(uint32_t qp_num, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, int err)
{
	bool name_bad = true;

	pthread_mutex_lock(&big);
	stats.recv.calls++;
	while (!err && wr) {
		struct nullv_wr w = { .wr_id = wr->wr_id, .qp_num = qp_num, .is_recv = 1 };

		err = slow_admit(1, &name_bad);
		if (err)
			break;
		for (int i = 0; i < wr->num_sge; i++)
			slow_add_sge(&w, &wr->sg_list[i]);
		slow_account(&stats.recv, &w);
		wr = wr->next;
	}
	pthread_mutex_unlock(&big);
	if (err && name_bad)
		*bad = wr;
	return err;
}

int slow_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (qp->srq)
		misuse("ibv_post_recv to a QP that has a shared receive queue");
	return post_recvs(qp->qp_num, wr, bad, fn_fails(F_ibv_post_recv));
}

int slow_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq;
	return post_recvs(0, wr, bad, fn_fails(F_ibv_post_srq_recv));
}

bool slow_post_active(void)
{
	return refusal.armed || room >= 0;
}

void slow_post_reset(void)
{
	refusal.armed = false;
	room = -1;
	ring_count = 0;
}
