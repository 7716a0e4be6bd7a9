/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Proves the null provider through the ordinary verbs API. Run with LD_LIBRARY_PATH at its folder. */
#define _GNU_SOURCE   /* dlvsym */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nullv_load.h"

static unsigned checks;

#define CHANGES 12

#define CHECK(condition) do { \
	checks++; \
	if (!(condition)) { \
		fprintf(stderr, "selftest: %s:%d: %s is false (errno %d)\n", __func__, __LINE__, #condition, errno); \
		exit(1); \
	} \
} while (0)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_cq_ex *cq_ex;
static struct ibv_qp *qp;
static struct ibv_qp_ex *qp_ex;
static struct ibv_mr *mr;
static char buffer[4096];

static struct nullv_live alive(void)
{
	struct nullv_live l;

	nullv_live(&l);
	return l;
}

static struct nullv_stats stats(void)
{
	struct nullv_stats s;

	nullv_stats(&s);
	return s;
}

static void devices(void)
{
	struct ibv_device **list;
	int n;

	setenv("NULLV_DEVICES", "0", 1);
	list = ibv_get_device_list(&n);
	CHECK(list && n == 0 && !list[0]);
	ibv_free_device_list(list);
	unsetenv("NULLV_DEVICES");

	setenv("NULLV_LIST_ERRNO", "38", 1);
	CHECK(!ibv_get_device_list(&n) && errno == ENOSYS);
	unsetenv("NULLV_LIST_ERRNO");

	list = ibv_get_device_list(&n);
	CHECK(n == 2 && !list[2]);
	CHECK(!strcmp(ibv_get_device_name(list[0]), "null0"));
	CHECK(ibv_get_device_guid(list[0]) != ibv_get_device_guid(list[1]));
	CHECK(!nullv_hide_op("alloc_mw"));
	CHECK(nullv_hide_op("no_such_op") && errno == EINVAL);
	ctx = ibv_open_device(list[1]);
	CHECK(ctx && !ctx->ops.alloc_mw && ctx->ops.dealloc_mw);
	nullv_reset();
	CHECK(!ctx->ops.alloc_mw);
	CHECK(!ibv_close_device(ctx));
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	CHECK(ctx && ctx->ops.alloc_mw && alive().lists == 0 && alive().contexts == 1);
}

static void queries(void)
{
	struct ibv_device_attr_ex dev;
	struct ibv_port_attr port;
	struct ibv_gid_entry gids[8];
	union ibv_gid gid;
	__be16 pkey;

	CHECK(!ibv_query_device_ex(ctx, NULL, &dev) && dev.orig_attr.max_qp_wr == 8192);
	CHECK(!ibv_query_port(ctx, 1, &port) && port.state == IBV_PORT_ACTIVE && port.gid_tbl_len == 4);
	CHECK(ibv_query_port(ctx, 2, &port) == EINVAL);
	CHECK(ibv_query_gid_table(ctx, gids, 8, 0) == 3);
	CHECK(gids[0].gid_type == IBV_GID_TYPE_ROCE_V1 && gids[2].gid_type == IBV_GID_TYPE_ROCE_V2);
	CHECK(!memcmp(gids[2].gid.raw + 10, "\xff\xff\xc0\x00\x02\x01", 6));
	CHECK(ibv_query_gid_table(ctx, gids, 2, 0) == -EINVAL);
	CHECK(ibv_query_gid_ex(ctx, 1, 3, gids, 0) == ENODATA);
	CHECK(!ibv_query_gid(ctx, 1, 3, &gid) && !gid.global.interface_id);
	CHECK(ibv_query_gid(ctx, 1, 4, &gid) == -1);
	CHECK(!ibv_query_pkey(ctx, 1, 0, &pkey) && pkey == 0xffff);
	nullv_device_attr()->orig_attr.max_sge = 1;
	CHECK(!ibv_query_device(ctx, &dev.orig_attr) && dev.orig_attr.max_sge == 1);
	nullv_reset();
}

static void create(void)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = { 64, 64, 4, 4, 64 }, .qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
	};
	struct ibv_cq_init_attr_ex cq_init = { .cqe = 16, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct nullv_mr_args args;

	pd = ibv_alloc_pd(ctx);
	mr = ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
	CHECK(pd && mr && mr->lkey != mr->rkey && mr->length == sizeof(buffer));
	CHECK(!nullv_last_reg_mr(&args) && args.addr == buffer && args.access == IBV_ACCESS_LOCAL_WRITE && args.fd == -1);
	channel = ibv_create_comp_channel(ctx);
	cq = ibv_create_cq(ctx, 16, &buffer, channel, 0);
	cq_ex = ibv_create_cq_ex(ctx, &cq_init);
	CHECK(channel && cq && cq_ex && cq_ex->read_byte_len && !cq_ex->read_completion_ts);
	CHECK(!ibv_create_cq(ctx, 16, NULL, NULL, 4) && errno == EINVAL);
	CHECK(!ibv_create_cq(ctx, 1 << 30, NULL, NULL, 0) && errno == EINVAL);

	init.pd = pd;
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp_ex(ctx, &init);
	CHECK(qp && qp->qp_num && qp->state == IBV_QPS_RESET);
	qp_ex = ibv_qp_to_qp_ex(qp);
	CHECK(qp_ex && qp_ex->wr_send && !qp_ex->wr_rdma_read && !qp_ex->wr_set_ud_addr);
	init.cap.max_send_wr = 8193;
	CHECK(!ibv_create_qp_ex(ctx, &init) && errno == EINVAL);

	CHECK(ibv_dealloc_pd(pd) == EBUSY && ibv_destroy_cq(cq) == EBUSY && ibv_destroy_comp_channel(channel) == EBUSY);
}

static void modify(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 7 }, got;
	struct ibv_qp_init_attr init;
	int mask;

	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
	CHECK(!ibv_query_qp(qp, &got, IBV_QP_STATE, &init));
	CHECK(got.qp_state == IBV_QPS_INIT && got.port_num == 1 && got.qkey == 0 && init.cap.max_send_wr == 64);
	CHECK(!nullv_last_modify(&got, &mask) && mask == (IBV_QP_STATE | IBV_QP_PORT) && got.qkey == 7);
	nullv_fail("ibv_modify_qp", 2, EINVAL);
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	CHECK(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == EINVAL && !nullv_pending());
	CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

static void fast(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .num_sge = -1 }, *bad;   /* nobody may read it */
	struct ibv_recv_wr rwr = { .num_sge = -1 }, *rbad;
	struct ibv_wc wc[4], prepared;

	nullv_reset();
	wr.next = (struct ibv_send_wr *)16;
	CHECK(!ibv_post_send(qp, &wr, &bad) && !ibv_post_recv(qp, &rwr, &rbad) && !ibv_req_notify_cq(cq, 0));
	CHECK(ibv_poll_cq(cq, 4, wc) == 0);
	nullv_set_poll_n(3);
	CHECK(ibv_poll_cq(cq, 2, wc) == 2 && ibv_poll_cq(cq, 4, wc) == 3 && wc[2].byte_len == 64);
	memset(&prepared, 0, sizeof(prepared));
	for (size_t i = 0; i < sizeof(prepared); i++)
		((char *)&prepared)[i] = (char)i;
	memset(wc, 0xff, sizeof(wc));
	nullv_set_wc(&prepared);
	CHECK(ibv_poll_cq(cq, 4, wc) == 3 && wc[3].wr_id == UINT64_MAX);
	for (int i = 0; i < 3; i++)
		CHECK(!memcmp(&wc[i], &prepared, sizeof(prepared)));
	prepared = (struct ibv_wc){ .byte_len = 64 };
	nullv_set_wc(&prepared);
	CHECK(!ibv_start_poll(cq_ex, &(struct ibv_poll_cq_attr){ 0 }) && ibv_wc_read_byte_len(cq_ex) == 64);
	CHECK(!ibv_next_poll(cq_ex) && !ibv_next_poll(cq_ex) && ibv_next_poll(cq_ex) == ENOENT);
	ibv_end_poll(cq_ex);
	nullv_set_poll_n(0);
	CHECK(ibv_start_poll(cq_ex, &(struct ibv_poll_cq_attr){ 0 }) == ENOENT);
	CHECK(stats().send.wrs == 0 && stats().misuse == 0);
}

/* The same three requests by list and by ibv_wr_*; `change` alters one bit of one field. */
static uint64_t by_list(unsigned change)
{
	struct ibv_sge sge[2] = { { (uintptr_t)buffer, 100, mr->lkey }, { (uintptr_t)buffer + 200, 28, mr->lkey } };
	struct ibv_send_wr wr[3] = {
		{ .wr_id = 1, .next = &wr[1], .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		  .send_flags = IBV_SEND_SIGNALED, .imm_data = htonl(5), .wr.rdma = { 0x1000, 0x77 } },
		{ .wr_id = 2, .next = &wr[2], .sg_list = sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE },
		{ .wr_id = 3, .sg_list = &sge[1], .num_sge = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		  .wr.atomic = { 0x2000, 8, 9, 0x78 } },
	}, *bad = NULL;

	switch (change) {
	case 1: wr[0].imm_data ^= 1; break;
	case 2: wr[0].wr_id ^= 1; break;
	case 3: wr[0].opcode ^= 1; break;
	case 4: wr[0].send_flags ^= IBV_SEND_FENCE; break;
	case 5: wr[0].wr.rdma.remote_addr ^= 1; break;
	case 6: wr[0].wr.rdma.rkey ^= 1; break;
	case 7: wr[2].wr.atomic.swap ^= 1; break;
	case 8: wr[2].wr.atomic.compare_add ^= 1; break;
	case 9: wr[2].wr.atomic.rkey ^= 1; break;
	case 10: sge[1].addr ^= 1; break;
	case 11: sge[1].lkey ^= 1; break;
	case 12: sge[1].length ^= 1; break;
	}
	nullv_stats_reset();
	CHECK(!ibv_post_send(qp, wr, &bad));
	CHECK(stats().send.wrs == 3 && stats().send.calls == 1 && stats().send.sges == 3);
	CHECK(change == CHANGES || stats().send.bytes == 128 + 100 + 28);
	return stats().send.checksum;
}

static uint64_t by_wr(void)
{
	struct ibv_sge sge[2] = { { (uintptr_t)buffer, 100, mr->lkey }, { (uintptr_t)buffer + 200, 28, mr->lkey } };
	struct nullv_wr w;

	nullv_stats_reset();
	ibv_wr_start(qp_ex);
	qp_ex->wr_id = 1;
	qp_ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(qp_ex, 0x77, 0x1000, htonl(5));
	ibv_wr_set_sge_list(qp_ex, 2, sge);
	qp_ex->wr_id = 2;
	qp_ex->wr_flags = 0;
	ibv_wr_send(qp_ex);
	ibv_wr_set_inline_data(qp_ex, buffer, 100);
	qp_ex->wr_id = 3;
	ibv_wr_atomic_cmp_swp(qp_ex, 0x78, 0x2000, 8, 9);
	ibv_wr_set_sge(qp_ex, sge[1].lkey, sge[1].addr, sge[1].length);
	CHECK(!ibv_wr_complete(qp_ex) && stats().send.wrs == 3 && stats().misuse == 0);
	CHECK(!nullv_posted(2, &w) && w.via_wr_api && w.rkey == 0x77 && w.sge[1].length == 28 && w.imm == htonl(5));
	return stats().send.checksum;
}

static void walk(void)
{
	uint64_t sum;

	nullv_reset();
	nullv_set_walk(1);
	strcpy(buffer, "payload");
	sum = by_list(0);
	CHECK(sum == by_list(0) && sum == by_wr());
	for (unsigned change = 1; change <= CHANGES; change++)
		CHECK(sum != by_list(change));
	buffer[1] ^= 1;
	CHECK(sum != by_list(0));

	CHECK(stats().misuse == 0);
	ibv_wr_start(qp_ex);
	ibv_wr_send(qp_ex);
	CHECK(!ibv_wr_complete(qp_ex) && stats().misuse == 1 && strstr(nullv_last_misuse(), "without its"));
	ibv_wr_start(qp_ex);
	ibv_wr_send(qp_ex);
	ibv_wr_abort(qp_ex);
	CHECK(stats().send.wrs == 4 && stats().misuse == 1);
	nullv_reset();
}

/* An address handle counts, on a UD QP of either kind of post. */
static void walk_ud(void)
{
	struct ibv_qp_init_attr_ex init = {
		.cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_UD, .send_cq = cq, .recv_cq = cq, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_ah *ah = ibv_create_ah(pd, &(struct ibv_ah_attr){ .port_num = 1 });
	struct ibv_qp *ud = ibv_create_qp_ex(ctx, &init);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(ud);
	struct ibv_sge sge = { (uintptr_t)buffer, 8, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .wr.ud = { ah, 5, 6 } }, *bad;
	uint64_t sum;

	nullv_set_walk(1);
	CHECK(!ibv_post_send(ud, &wr, &bad));
	sum = stats().send.checksum;
	for (uint32_t qkey = 6; qkey <= 7; qkey++) {
		nullv_stats_reset();
		ibv_wr_start(ex);
		ex->wr_id = 0;
		ex->wr_flags = 0;
		ibv_wr_send(ex);
		ibv_wr_set_ud_addr(ex, ah, 5, qkey);
		ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
		CHECK(!ibv_wr_complete(ex) && (sum == stats().send.checksum) == (qkey == 6) && !stats().misuse);
	}
	CHECK(!ibv_destroy_qp(ud) && !ibv_destroy_ah(ah));
	nullv_reset();
}

static void refusals(void)
{
	struct ibv_sge sge = { (uintptr_t)buffer, 8, mr->lkey };
	struct ibv_send_wr wr[4], *bad;
	struct ibv_recv_wr rwr = { .sg_list = &sge, .num_sge = 1 }, *rbad;

	for (int i = 0; i < 4; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = (unsigned)i, .next = i < 3 ? &wr[i + 1] : NULL, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		};
	nullv_fail_post(2, ENOMEM, 1);
	CHECK(ibv_post_send(qp, wr, &bad) == ENOMEM && bad == &wr[2] && stats().send.wrs == 2);
	CHECK(!ibv_post_send(qp, wr, &bad));
	nullv_fail_post(1, EINVAL, 0);
	bad = NULL;
	CHECK(ibv_post_send(qp, wr, &bad) == EINVAL && !bad);
	nullv_set_room(3);
	CHECK(ibv_post_send(qp, wr, &bad) == ENOMEM && bad == &wr[3]);
	CHECK(ibv_post_recv(qp, &rwr, &rbad) == ENOMEM && rbad == &rwr);
	nullv_set_room(1);
	nullv_stats_reset();
	for (int n = 2; n >= 1; n--) {
		ibv_wr_start(qp_ex);
		for (int i = 0; i < n; i++) {
			ibv_wr_rdma_write(qp_ex, 1, 2);
			ibv_wr_set_sge(qp_ex, 3, 4, 5);
		}
		CHECK(ibv_wr_complete(qp_ex) == (n == 2 ? ENOMEM : 0));
		CHECK(stats().send.wrs == (n == 2 ? 0 : 1));
	}
	nullv_reset();
	CHECK(!ibv_post_send(qp, wr, &bad) && stats().send.calls == 0);   /* fast again */
}

static void failures(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq };
	struct ibv_device_attr attr;
	struct ibv_async_event event;
	struct ibv_gid_entry e;
	struct ibv_wc wc;

	CHECK(nullv_fail("ibv_no_such", 1, EIO) && errno == EINVAL);
	nullv_fail("reg_mr", 1, EFAULT);
	CHECK(!ibv_reg_mr_iova2(pd, buffer, 1, 0, 0) && errno == EFAULT);
	nullv_fail("ibv_create_qp", 1, ENOSPC);
	CHECK(!ibv_create_qp(pd, &init) && errno == ENOSPC);
	nullv_fail("ibv_dereg_mr", 1, EBUSY);
	CHECK(ibv_dereg_mr(mr) == EBUSY);
	nullv_fail("ibv_poll_cq", 1, EIO);
	CHECK(ibv_poll_cq(cq, 1, &wc) == -EIO && ibv_poll_cq(cq, 1, &wc) == 0);
	nullv_fail("ibv_get_async_event", 1, EINTR);
	CHECK(ibv_get_async_event(ctx, &event) == -1 && errno == EINTR);
	nullv_fail("ibv_query_gid_table", 1, EOPNOTSUPP);
	CHECK(ibv_query_gid_table(ctx, &e, 1, 0) == -EOPNOTSUPP);
	nullv_fail("ibv_wr_complete", 1, EIO);
	ibv_wr_start(qp_ex);
	CHECK(ibv_wr_complete(qp_ex) == EIO);
	CHECK(!nullv_pending());
	nullv_fail("*", 0, EIO);
	CHECK(ibv_query_device(ctx, &attr) == EIO && ibv_destroy_qp(qp) == EIO && !ibv_alloc_pd(ctx) && errno == EIO);
	CHECK(nullv_pending() == 1);
	nullv_reset();
	CHECK(!ibv_query_device(ctx, &attr));
}

static void completions(void)
{
	struct ibv_wc wc = { .wr_id = 42, .status = IBV_WC_REM_ACCESS_ERR, .vendor_err = 9, .byte_len = 3 }, got[4];

	CHECK(!nullv_push_wc(&wc));
	wc.wr_id = 43;
	CHECK(!nullv_push_wc_to((struct ibv_cq *)cq_ex, &wc));
	CHECK(ibv_poll_cq(cq, 4, got) == 1 && got[0].wr_id == 42 && got[0].status == IBV_WC_REM_ACCESS_ERR);
	CHECK(ibv_poll_cq(cq, 4, got) == 0);
	CHECK(!ibv_start_poll(cq_ex, &(struct ibv_poll_cq_attr){ 0 }) && cq_ex->wr_id == 43);
	CHECK(ibv_wc_read_vendor_err(cq_ex) == 9 && ibv_wc_read_byte_len(cq_ex) == 3 && ibv_next_poll(cq_ex) == ENOENT);
	ibv_end_poll(cq_ex);
	for (uint64_t id = 44; id < 46; id++) {
		wc.wr_id = id;
		CHECK(!nullv_push_wc_at_arm(cq, &wc));
	}
	CHECK(ibv_poll_cq(cq, 4, got) == 0 && !ibv_req_notify_cq((struct ibv_cq *)cq_ex, 0) && ibv_poll_cq(cq, 4, got) == 0);
	CHECK(!ibv_req_notify_cq(cq, 0) && ibv_poll_cq(cq, 4, got) == 2 && got[0].wr_id == 44 && got[1].wr_id == 45);
	CHECK(stats().misuse == 0);
	nullv_reset();
}

static int readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0);
}

static void events(void)
{
	struct ibv_async_event event;
	struct ibv_cq *other, *got;
	void *context;

	CHECK(!readable(channel->fd) && !nullv_push_cq_event(cq) && readable(channel->fd));
	CHECK(!ibv_get_cq_event(channel, &got, &context) && got == cq && context == &buffer && nullv_unacked() == 1);
	ibv_ack_cq_events(cq, 1);
	CHECK(!nullv_unacked() && alive().overacked == 0);

	/* A destroyed queue takes its unread events along, and only its own. */
	other = ibv_create_cq(ctx, 1, NULL, channel, 0);
	CHECK(!nullv_push_cq_event(other) && !nullv_push_cq_event(cq) && !nullv_push_cq_event(other));
	CHECK(!ibv_destroy_cq(other));
	CHECK(!ibv_get_cq_event(channel, &got, &context) && got == cq && !readable(channel->fd));
	ibv_ack_cq_events(cq, 1);

	CHECK(!nullv_push_async_event(IBV_EVENT_QP_FATAL, qp) && readable(ctx->async_fd));
	CHECK(!ibv_get_async_event(ctx, &event) && event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == qp);
	CHECK(nullv_unacked() == 1);
	ibv_ack_async_event(&event);
	CHECK(!nullv_push_async_event(IBV_EVENT_PORT_ERR, ctx));
	CHECK(!ibv_get_async_event(ctx, &event) && event.element.port_num == 1 && !readable(ctx->async_fd));
	CHECK(!nullv_unacked() && alive().destroyed_unacked == 0);
}

static void others(void)
{
	struct ibv_srq_init_attr srq_init = { .attr = { 16, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &srq_init);
	struct ibv_ah_attr ah_attr = { .port_num = 1, .is_global = 1, .grh.sgid_index = 2 }, last;
	struct ibv_ah *ah = ibv_create_ah(pd, &ah_attr);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &(struct ibv_alloc_dm_attr){ .length = 64 });
	struct ibv_mr *dmabuf = ibv_reg_dmabuf_mr(pd, 4096, 64, 0x5000, 1, 0);
	struct nullv_mr_args args;
	char out[4];

	CHECK(srq && ah && mw && dm && dmabuf && alive().srqs == 1 && alive().ahs == 1 && alive().mrs == 2);
	CHECK(!nullv_last_reg_mr(&args) && args.fd == 1 && args.offset == 4096 && args.iova == 0x5000);
	CHECK(!nullv_last_create_ah(&last) && last.grh.sgid_index == 2);
	CHECK(!ibv_memcpy_to_dm(dm, 60, "abcd", 4) && !ibv_memcpy_from_dm(out, dm, 60, 4) && !memcmp(out, "abcd", 4));
	CHECK(ibv_memcpy_to_dm(dm, 61, "abcd", 4) == EFAULT);
	CHECK(!ibv_dereg_mr(dmabuf) && !ibv_free_dm(dm) && !ibv_dealloc_mw(mw) && !ibv_destroy_ah(ah) && !ibv_destroy_srq(srq));
}

/* libefa's functions, which the real header of release 44 has in part only: so they are looked up and given plain bytes. */
static void *efa(const char *name, const char *version)
{
	void *found = dlvsym(RTLD_DEFAULT, name, version);

	CHECK(found);
	return found;
}

static void efa_device(void)
{
	struct efadv_cq {
		uint64_t comp_mask;
		int (*read_sgid)(struct efadv_cq *cq, union ibv_gid *gid);
		_Bool (*is_unsolicited)(struct efadv_cq *cq);
	} *readers;
	struct efadv_qp {
		uint64_t comp_mask;
		void (*set_hints)(struct efadv_qp *qp, uint32_t hints);
	} *hinter;
	int (*query_device)(struct ibv_context *, void *, uint32_t) = efa("efadv_query_device", "EFA_1.1");
	struct ibv_qp *(*create_qp)(struct ibv_context *, void *, void *, uint32_t) = efa("efadv_create_qp_ex", "EFA_1.1");
	struct ibv_cq_ex *(*create_cq)(struct ibv_context *, void *, void *, uint32_t) = efa("efadv_create_cq", "EFA_1.2");
	struct efadv_cq *(*readers_of)(struct ibv_cq_ex *) = efa("efadv_cq_from_ibv_cq_ex", "EFA_1.2");
	struct efadv_qp *(*hinter_of)(struct ibv_qp_ex *) = efa("efadv_qp_from_ibv_qp_ex", "EFA_1.6");
	int (*max_rq_depth)(struct ibv_context *, void *, uint32_t) = efa("efadv_get_max_rq_depth", "EFA_1.5");
	struct ibv_cq_init_attr_ex cq_init = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_qp_init_attr_ex qp_init = {
		.cap = { 64, 64, 1, 1, 0 }, .qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ,
	};
	struct nullv_wc_extra extra = { .has_sgid = 1, .sgid = "a stranger's GID", .unsolicited = 1 };
	uint64_t own_cq[2] = { 0, 3 }, own_qp[4] = { 0, (uint64_t)5 << 48 | (uint64_t)1 << 32, 1, 0 }, answer[8];
	struct nullv_efa_create told;
	struct ibv_context *c;
	struct ibv_device **list;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct ibv_pd *p;
	struct ibv_cq_ex *ex;
	struct ibv_qp *srd;
	struct ibv_qp_ex *builder;
	struct ibv_ah *ah;
	struct nullv_wr w;
	int n;

	CHECK(query_device(ctx, answer, 32) == EOPNOTSUPP);
	CHECK(!create_qp(ctx, &qp_init, own_qp, 16) && errno == EOPNOTSUPP);
	setenv("NULLV_EFA", "1", 1);
	list = ibv_get_device_list(&n);
	CHECK(n == 3 && !strcmp(ibv_get_device_name(list[2]), "nullefa0") && !list[3]);
	c = ibv_open_device(list[2]);
	ibv_free_device_list(list);
	unsetenv("NULLV_EFA");
	memset(answer, 0xff, sizeof(answer));
	CHECK(c && !query_device(c, answer, 40) && (uint32_t)answer[1] == 4096 && (uint32_t)answer[3] == 31 && !answer[4]);
	CHECK(!ibv_query_port(c, 1, &port) && port.link_layer == IBV_LINK_LAYER_UNSPECIFIED && port.gid_tbl_len == 1);
	CHECK(ibv_query_gid(c, 1, 1, &gid) == -1);
	CHECK(max_rq_depth(c, (uint32_t[6]){ 0, 0, 2 }, 16) == 4096 && max_rq_depth(ctx, answer, 16) == -EOPNOTSUPP);

	p = ibv_alloc_pd(c);
	ex = create_cq(c, &cq_init, own_cq, sizeof(own_cq));
	CHECK(p && ex && ibv_cq_ex_to_cq(ex)->cqe == 16);
	readers = readers_of(ex);
	nullv_set_wc_extra(&extra);
	CHECK(readers->is_unsolicited(readers) && !readers->read_sgid(readers, &gid) && !memcmp(&gid, "a stranger's GID", 16));
	nullv_reset();
	CHECK(!readers->is_unsolicited(readers) && readers->read_sgid(readers, &gid) == -ENOENT);
	own_cq[1] = 4;
	CHECK(!create_cq(c, &cq_init, own_cq, sizeof(own_cq)) && errno == EINVAL);

	qp_init.pd = p;
	qp_init.send_cq = qp_init.recv_cq = ibv_cq_ex_to_cq(ex);
	own_qp[3] = 1;
	CHECK(!create_qp(c, &qp_init, own_qp, sizeof(own_qp)) && errno == EINVAL);   /* a tail that nobody knows */
	srd = create_qp(c, &qp_init, own_qp, 24);
	CHECK(srd && !nullv_last_create_efa(&told) && told.inlen == 24 && told.flags == 1 && told.sl == 5 && told.wr_flags == 1);
	builder = ibv_qp_to_qp_ex(srd);
	CHECK(builder && builder->wr_send && builder->wr_rdma_read && !builder->wr_rdma_write && builder->wr_set_ud_addr);
	qp_init.qp_type = IBV_QPT_RC;
	CHECK(!ibv_create_qp_ex(c, &qp_init) && errno == EOPNOTSUPP);
	ah = ibv_create_ah(p, &(struct ibv_ah_attr){ .port_num = 1, .is_global = 1 });
	hinter = hinter_of(builder);
	nullv_set_walk(1);
	ibv_wr_start(builder);
	builder->wr_id = 1;
	builder->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_read(builder, 1, 2);
	hinter->set_hints(hinter, 1);
	ibv_wr_set_ud_addr(builder, ah, 3, 4);
	ibv_wr_set_sge(builder, 5, 6, 7);
	CHECK(!ibv_wr_complete(builder) && !stats().misuse && !nullv_posted(0, &w) && w.hints == 1 && w.ah == ah);
	ibv_wr_start(builder);
	ibv_wr_send(builder);
	ibv_wr_abort(builder);
	CHECK(!strcmp(nullv_wr_log(), "SohudCSoA"));
	nullv_stats_reset();
	ibv_wr_start(builder);
	ibv_wr_send(builder);
	ibv_wr_set_sge(builder, 5, 6, 7);
	CHECK(!ibv_wr_complete(builder) && stats().misuse == 1 && !strcmp(nullv_wr_log(), "SodC"));   /* no address */
	nullv_reset();
	CHECK(!ibv_destroy_ah(ah) && !ibv_destroy_qp(srd) && !ibv_destroy_cq(ibv_cq_ex_to_cq(ex)) && !ibv_dealloc_pd(p) && !ibv_close_device(c));
}

static void destroy(void)
{
	struct nullv_live l;

	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_destroy_cq((struct ibv_cq *)cq_ex));
	CHECK(!ibv_destroy_comp_channel(channel) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx));
	nullv_live(&l);
	CHECK(!memcmp(&l, &(struct nullv_live){ 0 }, sizeof(l)));
}

static void load(void)
{
	struct nullv n;

	CHECK(!nullv_load(&n, NULL) && *n.fail == nullv_fail);
	CHECK(nullv_load(&n, "libc.so.6") == -1 && nullv_load(&n, "/no/such/library") == -1);
}

/* Must come first: these are read once. */
static void environment(void)
{
	struct ibv_device **list;

	setenv("NULLV_FAIL", "ibv_get_device_list:2:13,open_device:0:5", 1);
	list = ibv_get_device_list(NULL);
	CHECK(list && !ibv_get_device_list(NULL) && errno == EACCES);
	CHECK(!ibv_open_device(list[0]) && errno == EIO && nullv_pending() == 1);
	ibv_free_device_list(list);
}

int main(void)
{
	alarm(60);   /* a lost event would wait for ever */
	load();
	environment();
	nullv_reset();
	devices();
	queries();
	create();
	modify();
	fast();
	walk();
	walk_ud();
	refusals();
	failures();
	completions();
	events();
	others();
	efa_device();
	destroy();
	printf("selftest: %u checks passed\n", checks);
	return 0;
}
