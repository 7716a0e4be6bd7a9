/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The yardstick: a provider that costs as little as a provider can. */
#include "data.h"

int poll_n;
struct ibv_wc poll_wc = { .wr_id = 1, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND, .byte_len = 64, .qp_num = 0x11 };
struct nullv_wc_extra poll_extra;

/* Arguments go unread here by design. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) { return 0; }
static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) { return 0; }
static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) { return 0; }
static int req_notify_cq(struct ibv_cq *cq, int solicited) { return 0; }

/* A completion is three vector registers, loaded once per poll: a copy can't cost less. */
typedef uint64_t vec __attribute__((vector_size(16), aligned(8), may_alias));
_Static_assert(sizeof(struct ibv_wc) == 3 * sizeof(vec), "struct ibv_wc has another size");

static int poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc)
{
	const vec *from = (const vec *)&poll_wc;
	int n = num < poll_n ? num : poll_n;

	if (n <= 0)
		return 0;
	const vec a = from[0], b = from[1], c = from[2];

	for (struct ibv_wc *end = wc + n; wc != end; wc++) {
		vec *to = (vec *)wc;

		to[0] = a;
		to[1] = b;
		to[2] = c;
	}
	return n;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap) {}
static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add) {}
static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info) {}
static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey) {}
static void wr_rdma(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr) {}
static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm) {}
static void wr_send(struct ibv_qp_ex *qp) {}
static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm) {}
static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey) {}
static void wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t size, uint16_t mss) {}
static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey) {}
static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn) {}
static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length) {}
static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list) {}
static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length) {}
static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list) {}
static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, const void *data) {}
static void wr_start(struct ibv_qp_ex *qp) {}
static int wr_complete(struct ibv_qp_ex *qp) { return 0; }
static void wr_abort(struct ibv_qp_ex *qp) {}

static int next_poll(struct ibv_cq_ex *cq)
{
	struct ncq *n = to_cq_ex(cq);

	if (n->left <= 0)
		return ENOENT;
	n->left--;
	cq->wr_id = poll_wc.wr_id;
	cq->status = poll_wc.status;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	to_cq_ex(cq)->left = poll_n;
	return next_poll(cq);
}

static void end_poll(struct ibv_cq_ex *cq) {}
static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq) { return poll_wc.opcode; }
static uint32_t read_vendor_err(struct ibv_cq_ex *cq) { return poll_wc.vendor_err; }
static uint32_t read_byte_len(struct ibv_cq_ex *cq) { return poll_wc.byte_len; }
static __be32 read_imm_data(struct ibv_cq_ex *cq) { return poll_wc.imm_data; }
static uint32_t read_qp_num(struct ibv_cq_ex *cq) { return poll_wc.qp_num; }
static uint32_t read_src_qp(struct ibv_cq_ex *cq) { return poll_wc.src_qp; }
static unsigned int read_wc_flags(struct ibv_cq_ex *cq) { return poll_wc.wc_flags; }
static uint32_t read_slid(struct ibv_cq_ex *cq) { return poll_wc.slid; }
static uint8_t read_sl(struct ibv_cq_ex *cq) { return poll_wc.sl; }
static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq) { return poll_wc.dlid_path_bits; }
static uint64_t read_completion_ts(struct ibv_cq_ex *cq) { return poll_extra.completion_ts; }
static uint16_t read_cvlan(struct ibv_cq_ex *cq) { return poll_extra.cvlan; }
static uint32_t read_flow_tag(struct ibv_cq_ex *cq) { return poll_extra.flow_tag; }
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *cq) { return poll_extra.wallclock_ns; }

static void read_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *info)
{
	info->tag = poll_extra.tm_tag;
	info->priv = poll_extra.tm_priv;
}

static const struct ibv_qp_ex wr_ops = {
	.wr_atomic_cmp_swp = wr_atomic_cmp_swp,
	.wr_atomic_fetch_add = wr_atomic_fetch_add,
	.wr_bind_mw = wr_bind_mw,
	.wr_local_inv = wr_local_inv,
	.wr_rdma_read = wr_rdma,
	.wr_rdma_write = wr_rdma,
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

static const struct ibv_cq_ex cq_ops = {
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

const struct data_ops fast_ops = {
	.post_send = post_send,
	.post_recv = post_recv,
	.post_srq_recv = post_srq_recv,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
	.qp = &wr_ops,
	.cq = &cq_ops,
};
