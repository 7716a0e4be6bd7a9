/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The two sets of data path functions: fast ones that do nothing, slow ones that look at everything. */
#ifndef NULLV_DATA_H
#define NULLV_DATA_H

#include "internal.h"

struct data_ops {
	int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
	int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
	int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **);
	int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *);
	int (*req_notify_cq)(struct ibv_cq *, int);
	const struct ibv_qp_ex *qp;   /* of these two only the function pointers are used */
	const struct ibv_cq_ex *cq;
};

extern const struct data_ops fast_ops;

/* What a poll finds where nothing was injected. Hidden: without a look in the GOT. */
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN int poll_n;
extern HIDDEN struct ibv_wc poll_wc;
extern HIDDEN struct nullv_wc_extra poll_extra;

/* slow_poll.c */
void slow_reset(void);
bool slow_active(void);

#endif
