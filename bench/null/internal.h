/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the null provider share. */
#ifndef NULLV_INTERNAL_H
#define NULLV_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "nullv.h"

/* verbs.h puts inline functions over these names; here they are defined. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/*
 * The functions that a script can fail: name, family, class (C: matched by "*", D: data path and events, L: library).
 */
#define FN_LIST(X) \
	X(ibv_get_device_list, get_device_list, L) \
	X(ibv_open_device, open_device, L) \
	X(ibv_close_device, close_device, L) \
	X(ibv_fork_init, fork_init, L) \
	X(ibv_query_device, query_device, C) \
	X(ibv_query_device_ex, query_device, C) \
	X(ibv_query_port, query_port, C) \
	X(ibv_query_gid, query_gid, C) \
	X(ibv_query_gid_ex, query_gid, C) \
	X(ibv_query_gid_table, query_gid_table, C) \
	X(ibv_query_pkey, query_pkey, C) \
	X(ibv_query_rt_values_ex, query_rt_values, C) \
	X(ibv_alloc_pd, alloc_pd, C) \
	X(ibv_alloc_parent_domain, alloc_pd, C) \
	X(ibv_dealloc_pd, dealloc_pd, C) \
	X(ibv_alloc_td, alloc_td, C) \
	X(ibv_dealloc_td, dealloc_td, C) \
	X(ibv_reg_mr, reg_mr, C) \
	X(ibv_reg_mr_iova, reg_mr, C) \
	X(ibv_reg_mr_iova2, reg_mr, C) \
	X(ibv_reg_dmabuf_mr, reg_mr, C) \
	X(ibv_reg_dm_mr, reg_mr, C) \
	X(ibv_alloc_null_mr, reg_mr, C) \
	X(ibv_rereg_mr, rereg_mr, C) \
	X(ibv_dereg_mr, dereg_mr, C) \
	X(ibv_advise_mr, advise_mr, C) \
	X(ibv_alloc_mw, alloc_mw, C) \
	X(ibv_dealloc_mw, dealloc_mw, C) \
	X(ibv_bind_mw, bind_mw, D) \
	X(ibv_alloc_dm, alloc_dm, C) \
	X(ibv_free_dm, free_dm, C) \
	X(ibv_create_comp_channel, create_comp_channel, C) \
	X(ibv_destroy_comp_channel, destroy_comp_channel, C) \
	X(ibv_create_cq, create_cq, C) \
	X(ibv_create_cq_ex, create_cq, C) \
	X(ibv_resize_cq, resize_cq, C) \
	X(ibv_modify_cq, modify_cq, C) \
	X(ibv_destroy_cq, destroy_cq, C) \
	X(ibv_get_cq_event, get_cq_event, D) \
	X(ibv_get_async_event, get_async_event, D) \
	X(ibv_create_srq, create_srq, C) \
	X(ibv_create_srq_ex, create_srq, C) \
	X(ibv_modify_srq, modify_srq, C) \
	X(ibv_query_srq, query_srq, C) \
	X(ibv_get_srq_num, get_srq_num, C) \
	X(ibv_destroy_srq, destroy_srq, C) \
	X(ibv_create_qp, create_qp, C) \
	X(ibv_create_qp_ex, create_qp, C) \
	X(ibv_modify_qp, modify_qp, C) \
	X(ibv_modify_qp_rate_limit, modify_qp_rate_limit, C) \
	X(ibv_query_qp, query_qp, C) \
	X(ibv_query_qp_data_in_order, query_qp_data_in_order, C) \
	X(ibv_query_ece, query_ece, C) \
	X(ibv_set_ece, set_ece, C) \
	X(ibv_destroy_qp, destroy_qp, C) \
	X(ibv_create_ah, create_ah, C) \
	X(ibv_destroy_ah, destroy_ah, C) \
	X(ibv_attach_mcast, attach_mcast, C) \
	X(ibv_detach_mcast, detach_mcast, C) \
	X(ibv_open_xrcd, open_xrcd, C) \
	X(ibv_close_xrcd, close_xrcd, C) \
	X(ibv_post_send, post_send, D) \
	X(ibv_wr_complete, wr_complete, D) \
	X(ibv_post_recv, post_recv, D) \
	X(ibv_post_srq_recv, post_srq_recv, D) \
	X(efadv_query_device, query_efa, C) \
	X(efadv_create_qp_ex, create_qp, C) \
	X(efadv_create_cq, create_cq, C) \
	X(efadv_query_ah, query_efa, C) \
	X(efadv_query_mr, query_efa, C) \
	X(efadv_query_qp_wqs, query_efa, C) \
	X(efadv_query_cq, query_efa, C) \
	X(efadv_get_max_sq_depth, query_efa, C) \
	X(efadv_get_max_rq_depth, query_efa, C) \
	X(ibv_poll_cq, poll_cq, D) \
	X(ibv_start_poll, start_poll, D) \
	X(ibv_next_poll, next_poll, D) \
	X(ibv_req_notify_cq, req_notify_cq, D)

enum fn {
#define X(name, family, class) F_##name,
	FN_LIST(X)
#undef X
	F_COUNT
};

struct ncontext {
	struct verbs_context v;
	bool opened;
	int async_wfd;
	unsigned children;
	struct nqp *qps;   /* whose function pointers follow the mode */
	struct ncq *cqs;
	struct ncontext *next;
};

struct npd {
	struct ibv_pd pd;
	struct npd *parent;   /* of a parent domain */
	struct ntd *td;
	unsigned children;
};

struct ntd {
	struct ibv_td td;
	unsigned children;
};

struct nmr {
	struct ibv_mr mr;
	struct ndm *dm;
};

struct nmw {
	struct ibv_mw mw;
};

struct ndm {
	struct ibv_dm dm;
	size_t length;
	unsigned children;
	uint8_t bytes[];
};

struct nxrcd {
	struct ibv_xrcd xrcd;
	unsigned children;
};

struct nchannel {
	struct ibv_comp_channel channel;
	int wfd;
};

struct wc_node {
	struct ibv_wc wc;
	struct wc_node *next;
};

struct wc_queue {
	struct wc_node *head, **tail;
};

/* libefa's own halves of a CQ and a QP. */
struct efa_cq {
	uint64_t comp_mask;
	int (*wc_read_sgid)(struct efa_cq *cq, union ibv_gid *gid);
	bool (*wc_is_unsolicited)(struct efa_cq *cq);
};
struct efa_qp {
	uint64_t comp_mask;
	void (*wr_set_processing_hints)(struct efa_qp *qp, uint32_t hints);
};

/* An extended and a plain CQ share their layout up to the extended part, so one type serves both. */
struct ncq {
	struct ibv_cq_ex cq;
	bool extended;
	unsigned children;
	unsigned comp_got, async_got;
	struct wc_queue injected, at_arm;
	/* One extended poll: entries left after the current one, and that one in slow mode. */
	int left;
	bool polling;
	struct ibv_wc cur;
	struct efa_cq efa;
	struct ncq *prev, *next;
};

struct nsrq {
	struct ibv_srq srq;
	struct ibv_srq_attr attr;
	uint32_t number;
	unsigned children;
	unsigned async_got;
	struct ncq *cq;
	struct nxrcd *xrcd;
	struct ibv_tm_cap tags;
};

struct nqp {
	struct ibv_qp_ex qp;
	void *newer[2];   /* operations that come after those of these headers: see null_wr_flush */
	bool extended;
	uint64_t send_ops;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_ece ece;
	struct nxrcd *xrcd;
	unsigned async_got;
	/* An open ibv_wr_* session in slow mode. */
	bool session, need_data;
	struct nullv_wr *staged;
	size_t num_staged, cap_staged;
	struct efa_qp efa;
	struct nqp *prev, *next;
};

struct nah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};

/* One lock for everything but the fast data path. */
extern pthread_mutex_t big;
extern struct nullv_live live;
extern struct ncontext *contexts;
extern bool slow;
extern struct nullv_stats stats;

/* script.c */
int fn_fails(enum fn fn);
void misuse(const char *what);
void nullv_init(void);
bool script_active(void);
bool hidden_op(const char *name);
void script_clear(void);

/* `return FAIL(...)` needs the caller's own convention; these two cover nearly all. */
#define FAIL_ERRNO(fn) do { int e_ = fn_fails(F_##fn); if (e_) return e_; } while (0)
#define FAIL_PTR(fn) do { int e_ = fn_fails(F_##fn); if (e_) { errno = e_; return NULL; } } while (0)
#define FAIL_MINUS(fn) do { int e_ = fn_fails(F_##fn); if (e_) { errno = e_; return -1; } } while (0)

/* device.c */
void context_ops(struct ncontext *ctx);
void attributes_reset(void);
bool is_efa(const struct ibv_context *context);

/* efa.c */
void efa_reset(void);

/* mode.c */
void mode_update(void);
void qp_mode(struct nqp *qp);
void cq_mode(struct ncq *cq);
void context_mode(struct ncontext *ctx);

/* event.c */
int event_pair(int fds[2]);
void event_pair_close(int fds[2]);
void events_drop_cq(struct ncq *cq);
void events_drop_async(struct ibv_context *context, const void *element);

/* cq.c, qp.c, mr.c, pd.c, srq.c: reached through the tables */
struct ncq *cq_new(struct ibv_context *context, const struct ibv_cq_init_attr_ex *a, enum fn fn);
struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init);
int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
struct ibv_qp *qp_new(struct ibv_context *context, struct ibv_qp_init_attr_ex *a, enum fn fn);
struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);
int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int dealloc_mw(struct ibv_mw *mw);
int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
struct ibv_mr *alloc_null_mr(struct ibv_pd *pd);
struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
int free_dm(struct ibv_dm *dm);
struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length, unsigned access);
int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *sges, uint32_t n);
struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *init);
int dealloc_td(struct ibv_td *td);
struct ibv_pd *alloc_parent_domain(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);
struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init);
int close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init);
int get_srq_num(struct ibv_srq *srq, uint32_t *number);

static inline struct ncontext *to_ctx(struct ibv_context *c)
{
	return (struct ncontext *)((char *)c - offsetof(struct verbs_context, context));
}
static inline struct npd *to_pd(struct ibv_pd *p) { return (struct npd *)p; }
static inline struct ncq *to_cq(struct ibv_cq *c) { return (struct ncq *)c; }
static inline struct ncq *to_cq_ex(struct ibv_cq_ex *c) { return (struct ncq *)c; }
static inline struct nqp *to_qp(struct ibv_qp *q) { return (struct nqp *)q; }
static inline struct nqp *to_qp_ex(struct ibv_qp_ex *q) { return (struct nqp *)q; }
static inline struct nsrq *to_srq(struct ibv_srq *s) { return (struct nsrq *)s; }

/* ibv_wr_flush, since rdma-core 45: right behind the last operation of 44, whichever headers these are. */
enum { NULL_WR_FLUSH = 14 };
#define NULL_EX_WITH_FLUSH (1ULL << 11)
typedef void null_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t length, uint8_t type, uint8_t level);
extern null_flush *null_flush_ops[2];   /* fast and slow */
static inline null_flush **null_wr_flush(struct ibv_qp_ex *q)
{
	return (null_flush **)(void *)((char *)q + offsetof(struct ibv_qp_ex, wr_atomic_write) + sizeof(q->wr_atomic_write));
}

/* Handles and numbers that no two objects share. */
uint32_t next_number(void);

#endif
