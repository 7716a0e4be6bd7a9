/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The functions of nullv.h for a program that isn't linked against the null provider: nullv_load() finds them in the copy
 * that is loaded. `path` is what libverbena was given (VBN_IBVERBS_LIBRARY), or NULL for the one that LD_LIBRARY_PATH leads to.
 *
 *	struct nullv n;
 *	if (nullv_load(&n, getenv("VBN_IBVERBS_LIBRARY")))
 *		skip("this is not the null provider");
 *	n.fail("reg_mr", 1, ENOMEM);
 */
#ifndef NULLV_LOAD_H
#define NULLV_LOAD_H

#include <dlfcn.h>
#include "nullv.h"

#define NULLV_FUNCTIONS(X) \
	X(set_poll_n) X(set_wc) X(set_wc_extra) X(set_walk) X(stats) X(stats_reset) X(last_misuse) X(posted) X(fail) \
	X(pending) X(fail_post) X(set_room) X(push_wc) X(push_wc_to) X(push_wc_at_arm) X(hide_op) X(reset) X(push_cq_event) \
	X(push_async_event) X(push_port_event) X(unacked) X(live) X(last_modify) X(last_create_qp) X(last_create_cq) \
	X(last_create_ah) X(last_reg_mr) X(last_bind_mw) X(srq_tags) X(device_attr) X(port_attr) \
	X(wr_log) X(efa_attr) X(last_create_efa)

struct nullv {
#define X(name) __typeof__(nullv_##name) *name;
	NULLV_FUNCTIONS(X)
#undef X
};

/* 0, or -1: not loaded, or another libibverbs. */
static inline int nullv_load(struct nullv *n, const char *path)
{
	void *handle = dlopen(path ? path : "libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -1;
#define X(name) \
	*(void **)&n->name = dlsym(handle, "nullv_" #name); \
	if (!n->name) \
		return -1;
	NULLV_FUNCTIONS(X)
#undef X
	return 0;
}

#endif
