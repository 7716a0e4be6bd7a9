/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The control side of the null provider: a whole libibverbs.so.1 of our own whose devices do nothing, fast.
 * Everything here is exported under the version node NULLV_1; a test that opens the library itself finds these
 * functions with dlsym. Functions that return int answer 0, or -1 with errno set, unless they say otherwise.
 */
#ifndef NULLV_H
#define NULLV_H

#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Data path -------------------------------------------------------------------------------------------- */

/* How many completions each poll finds: ibv_poll_cq answers min(num_entries, n). 0, the default, is an empty queue. */
void nullv_set_poll_n(int n);
/* The completion that is handed out. The default is a successful SEND. */
void nullv_set_wc(const struct ibv_wc *wc);

/* What the extended reads (timestamps and the like) answer. */
struct nullv_wc_extra {
	uint64_t completion_ts;
	uint64_t wallclock_ns;
	uint64_t tm_tag;
	uint32_t tm_priv;
	uint32_t flow_tag;
	uint16_t cvlan;
	uint8_t has_sgid;          /* EFA: the sender is a stranger, with this GID */
	uint8_t unsolicited;       /* EFA: a write with immediate that used up no receive */
	uint8_t sgid[16];
};
void nullv_set_wc_extra(const struct nullv_wc_extra *extra);

/* Walk mode: every post reads all its requests and adds them to the statistics. */
void nullv_set_walk(int on);

/*
 * A side's checksum covers every field that its opcode gives a meaning to, so that the same work gives the same number
 * whichever way it was posted (list, array, ibv_wr_*). An inline request counts by its bytes, not by their addresses.
 */
struct nullv_side {
	uint64_t calls;    /* posts, or ibv_wr_complete calls */
	uint64_t wrs;
	uint64_t sges;
	uint64_t bytes;
	uint64_t checksum;
};
struct nullv_stats {
	struct nullv_side send;
	struct nullv_side recv;
	uint64_t poll_calls;   /* slow mode only, like all the rest */
	uint64_t wcs;
	uint64_t notify_calls;
	uint64_t misuse;       /* calls that break the rules of verbs: see nullv_last_misuse() */
};
void nullv_stats(struct nullv_stats *out);
void nullv_stats_reset(void);
/* What the latest misuse was, or "" where there was none. */
const char *nullv_last_misuse(void);

#define NULLV_MAX_SGE 16

/* One posted request as the provider saw it. Fields without a meaning for the opcode are 0. */
struct nullv_wr {
	uint64_t wr_id;
	uint32_t opcode;
	uint32_t flags;            /* IBV_SEND_*, without IBV_SEND_INLINE: see `inlined` */
	uint32_t imm;              /* immediate data as it goes on the wire, or the key to invalidate */
	uint32_t rkey;
	uint64_t remote_addr;
	uint64_t compare_add;
	uint64_t swap;
	const struct ibv_ah *ah;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	uint32_t remote_srqn;
	uint32_t mw_rkey;
	const struct ibv_mw *mw;
	struct ibv_mw_bind_info bind;
	const void *tso_hdr;
	uint16_t tso_hdr_sz;
	uint16_t tso_mss;
	uint64_t flush_length;
	uint8_t flush_type;
	uint8_t flush_level;
	uint32_t qp_num;           /* 0 for a shared receive queue */
	uint8_t is_recv;
	uint8_t via_wr_api;
	uint8_t inlined;
	uint8_t has_ud_addr;
	uint32_t num_sge;          /* may be above NULLV_MAX_SGE; only that many are kept */
	struct ibv_sge sge[NULLV_MAX_SGE];
	uint64_t sge_hash;         /* over all segments */
	uint64_t bytes;
	uint64_t inline_hash;
	uint32_t hints;            /* of efadv_wr_set_processing_hints */
};
/* The request accepted `back` requests ago (0 is the latest); walk mode or an armed script is needed. 256 are kept. */
int nullv_posted(unsigned back, struct nullv_wr *out);

/*
 * The ibv_wr_* calls since the statistics were reset, one letter each; walk mode or an armed script is needed. S start, o an
 * operation, u ibv_wr_set_ud_addr, d data, h hints, C complete, A abort. The first 4095 are kept.
 */
const char *nullv_wr_log(void);

/* ---- Failures --------------------------------------------------------------------------------------------- */

/*
 * The nth next call of `fn` (1 is the very next) fails with errno `err`, in the way of that function: NULL and errno, the
 * number itself, -1 and errno, a negative number. nth = 0: every call from now on. Names are those of the verbs
 * ("ibv_reg_mr", "ibv_poll_cq", "ibv_wr_complete"), or of a family without "ibv_" ("reg_mr": all ways to register,
 * "create_qp": both), or "*": all of the control path but ibv_get_device_list, ibv_open_device and ibv_close_device; with
 * nth = 0 and EIO that is a device that has gone. Several scripts may be pending. An unknown name is refused: EINVAL.
 */
int nullv_fail(const char *fn, unsigned nth, int err);
/* Scripts that have not fired yet, those with nth = 0 included. A test that ends should find 0. */
unsigned nullv_pending(void);

/*
 * From now on `accept` more requests are taken, in one post or several; the next one is refused with `err`, once. name_bad_wr
 * = 0 leaves the caller's bad_wr untouched, as some drivers do. A batch of ibv_wr_* is refused whole.
 */
int nullv_fail_post(unsigned accept, int err, int name_bad_wr);
/* A queue with room for n more requests, sends and receives together; ENOMEM once it is full. Negative: no limit. */
void nullv_set_room(long n);

/* Completions that the next polls find before anything else: of any queue, or of one. */
int nullv_push_wc(const struct ibv_wc *wc);
int nullv_push_wc_to(struct ibv_cq *cq, const struct ibv_wc *wc);
/* One that comes just before this queue is armed next: no event tells of it. */
int nullv_push_wc_at_arm(struct ibv_cq *cq, const struct ibv_wc *wc);

/* Contexts opened from now on lack this operation (NULL in the table): "alloc_mw", "create_cq_ex"... EINVAL: no such. */
int nullv_hide_op(const char *op);

/*
 * Ends everything above: scripts, queued completions, hidden operations, walk mode, room, statistics, attributes, and the
 * counts of errors in struct nullv_live. Objects live on. After it the data path is the fast one again.
 */
void nullv_reset(void);

/* ---- Events ----------------------------------------------------------------------------------------------- */

int nullv_push_cq_event(struct ibv_cq *cq);
/* `element`: the CQ, QP or SRQ that the type speaks of; for port and device events the context, and the port is 1. */
int nullv_push_async_event(enum ibv_event_type type, void *element);
int nullv_push_port_event(struct ibv_context *context, enum ibv_event_type type, int port);
/* Events that were read and not acknowledged, of both kinds. Port events need no acknowledgement and are not counted. */
unsigned nullv_unacked(void);

/* ---- What the provider knows ------------------------------------------------------------------------------ */

struct nullv_live {
	unsigned lists, contexts, pds, tds, mrs, mws, dms, channels, cqs, srqs, qps, ahs, xrcds;
	unsigned fds;                  /* descriptors opened by this library and not closed: 3 a context, 2 a channel */
	unsigned destroyed_unacked;    /* objects destroyed with unacknowledged events: the real library would hang */
	unsigned overacked;            /* acknowledgements beyond what was read */
	unsigned closed_busy;          /* contexts closed with live children */
};
void nullv_live(struct nullv_live *out);

/* Arguments of the latest call, successful or not. -1 with ENODATA where there was none. */
int nullv_last_modify(struct ibv_qp_attr *attr, int *mask);
int nullv_last_create_qp(struct ibv_qp_init_attr_ex *attr);
int nullv_last_create_cq(struct ibv_cq_init_attr_ex *attr);
int nullv_last_create_ah(struct ibv_ah_attr *attr);

struct nullv_mr_args {
	const char *fn;   /* "ibv_reg_mr", "ibv_reg_dmabuf_mr"... */
	void *addr;
	size_t length;
	uint64_t iova;
	uint64_t offset;  /* into the dma-buf */
	int fd;           /* -1 without a dma-buf */
	unsigned access;
};
int nullv_last_reg_mr(struct nullv_mr_args *args);
int nullv_last_bind_mw(struct ibv_mw_bind *bind);

/* What a shared receive queue that matches tags was made with; -1 for another. */
int nullv_srq_tags(struct ibv_srq *srq, struct ibv_tm_cap *tags, struct ibv_cq **cq);

/* What efadv_query_device answers on the devices that NULLV_EFA asks for, to be changed in place. As in rdma-core 65. */
struct nullv_efa_attr {
	uint64_t comp_mask;
	uint32_t max_sq_wr;
	uint32_t max_rq_wr;
	uint16_t max_sq_sge;
	uint16_t max_rq_sge;
	uint16_t inline_buf_size;
	uint16_t inline_buf_size_ex;
	uint32_t device_caps;
	uint32_t max_rdma_size;
};
enum {
	NULLV_EFA_READ = 1, NULLV_EFA_RNR_RETRY = 2, NULLV_EFA_SGID = 4, NULLV_EFA_WRITE = 8, NULLV_EFA_UNSOLICITED = 16,
};
struct nullv_efa_attr *nullv_efa_attr(void);

/* What libefa was told beside the verbs' part, by the latest efadv_create_qp_ex. -1 with ENODATA where there was none. */
struct nullv_efa_create {
	uint32_t inlen;
	uint16_t flags;
	uint8_t sl;
	uint64_t wr_flags;
};
int nullv_last_create_efa(struct nullv_efa_create *out);

/* What the queries answer, to be changed in place before they are made. */
struct ibv_device_attr_ex *nullv_device_attr(void);
struct ibv_port_attr *nullv_port_attr(void);

#ifdef __cplusplus
}
#endif
#endif
