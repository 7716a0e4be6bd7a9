/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the slow data path share. */
#ifndef NULLV_SLOW_H
#define NULLV_SLOW_H

#include "data.h"

/* slow_post.c: pieces that lists and ibv_wr_* have in common. */
void slow_add_sge(struct nullv_wr *w, const struct ibv_sge *sge);
void slow_add_inline(struct nullv_wr *w, const void *data, size_t n);
void slow_set_ud(struct nullv_wr *w, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey);
void slow_account(struct nullv_side *side, const struct nullv_wr *w);
int slow_admit(size_t n, bool *name_bad);
bool slow_post_active(void);

/* slow_wr.c */
void slow_set_hints(struct nqp *qp, uint32_t hints);
void slow_log_reset(void);
void slow_post_reset(void);

/* What the tables point at in slow mode. */
int slow_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int slow_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int slow_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int slow_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc);
int slow_req_notify_cq(struct ibv_cq *cq, int solicited);
extern const struct ibv_qp_ex slow_wr_ops;
extern const struct ibv_cq_ex slow_cq_ops;

#endif
