/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What libverbena adds to a call, beside raw verbs doing the same from arrays of the application's own. Runs over the null
 * provider, whose data path returns at once; bench/overhead counts the instructions of raw_CASE and vbn_CASE.
 *
 *	overhead count CASE raw|vbn|bare|empty ROUNDS   runs one loop, for callgrind
 *	overhead same                              shows that both sides hand the same requests to the provider
 *	overhead calls                             counts heap calls on the data path
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <verbena.h>
#include "null/nullv_load.h"

#define BATCH 32

static struct nullv null;
static vbn_context *context;
static vbn_pd *pd;
static vbn_cq *cq;
static vbn_qp *qp;
static struct ibv_qp *raw_qp;
static struct ibv_cq *raw_cq;

static struct ibv_send_wr raw_sends[BATCH];
static struct ibv_recv_wr raw_recvs[BATCH];
static struct ibv_sge raw_sges[BATCH];
static vbn_send_wr sends[BATCH];
static vbn_recv_wr recvs[BATCH];
static struct ibv_wc raw_wcs[BATCH];
static vbn_wc wcs[BATCH];

/* Every allocation of the process passes here, so that the data path can be shown to make none. */
static unsigned long heap_calls;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

void *malloc(size_t size) { heap_calls++; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { heap_calls++; return __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { heap_calls++; return __libc_realloc(old, size); }
void free(void *old) { heap_calls++; __libc_free(old); }

static void must(int ok, const char *what)
{
	if (ok)
		return;
	vbn_error_info e = { .struct_size = sizeof(e) };
	vbn_last_error(&e);
	fprintf(stderr, "overhead: %s: %s\n", what, e.message);
	exit(1);
}

static void make_objects(void)
{
	vbn_cq_attr cq_attr = { .struct_size = sizeof(cq_attr), .cqe = 256 };
	vbn_qp_init_attr qp_attr = { .struct_size = sizeof(qp_attr), .max_send_wr = 256, .max_recv_wr = 256 };

	must(vbn_context_open(NULL, NULL, &context) == 0, "open");
	must(vbn_pd_alloc(context, NULL, &pd) == 0, "pd");
	must(vbn_cq_create(context, &cq_attr, &cq) == 0, "cq");
	qp_attr.send_cq = cq;
	must(vbn_qp_create(pd, &qp_attr, &qp) == 0, "qp");
	must(vbn_qp_native(qp, &raw_qp) == 0, "native qp");
	must(vbn_cq_native(cq, &raw_cq) == 0, "native cq");
}

static void fill_requests(void)
{
	for (unsigned i = 0; i < BATCH; i++) {
		raw_sges[i] = (struct ibv_sge){ .addr = 0x10000 + 64 * i, .length = 64 + i, .lkey = 7 };
		raw_sends[i] = (struct ibv_send_wr){
			.wr_id = i, .sg_list = &raw_sges[i], .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = 0x20000 + 64 * i, .rkey = 9 },
			.next = i + 1 < BATCH ? &raw_sends[i + 1] : NULL,
		};
		raw_recvs[i] = (struct ibv_recv_wr){
			.wr_id = i, .sg_list = &raw_sges[i], .num_sge = 1, .next = i + 1 < BATCH ? &raw_recvs[i + 1] : NULL,
		};
		sends[i] = (vbn_send_wr){
			.wr_id = i, .sge = { 0x10000 + 64 * i, 64 + i, 7 }, .num_sge = 1, .opcode = VBN_WR_RDMA_WRITE,
			.flags = VBN_SEND_SIGNALED, .remote_addr = 0x20000 + 64 * i, .rkey = 9,
		};
		recvs[i] = (vbn_recv_wr){ .wr_id = i, .sge = { 0x10000 + 64 * i, 64 + i, 7 }, .num_sge = 1 };
	}
}

#define NOINLINE __attribute__((noinline))
static struct ibv_send_wr one_send;
static struct ibv_recv_wr one_recv;

NOINLINE int raw_post1(void) { struct ibv_send_wr *bad; return ibv_post_send(raw_qp, &one_send, &bad); }
NOINLINE int raw_post32(void) { struct ibv_send_wr *bad; return ibv_post_send(raw_qp, raw_sends, &bad); }
NOINLINE int raw_recv1(void) { struct ibv_recv_wr *bad; return ibv_post_recv(raw_qp, &one_recv, &bad); }
NOINLINE int raw_recv32(void) { struct ibv_recv_wr *bad; return ibv_post_recv(raw_qp, raw_recvs, &bad); }

/*
 * The same work as vbn_cq_poll, written with inline verbs as a function of the same signature: the count stored, an error
 * told from an empty queue, failures noticed, immediate values in host order. bare_poll is ibv_poll_cq and nothing else.
 */
static int raw_failures;

NOINLINE int raw_poll(struct ibv_cq *queue, int n, struct ibv_wc *wc, uint32_t *got)
{
	int found = ibv_poll_cq(queue, n, wc);

	if (found < 0) {
		*got = 0;
		return found;
	}
	*got = (uint32_t)found;
	for (int i = 0; i < found; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			raw_failures++;
		if (wc[i].wc_flags & IBV_WC_WITH_IMM)
			wc[i].imm_data = __builtin_bswap32(wc[i].imm_data);
	}
	return 0;
}

static uint32_t raw_count;
NOINLINE int raw_poll0(void) { return raw_poll(raw_cq, BATCH, raw_wcs, &raw_count); }
NOINLINE int raw_poll1(void) { return raw_poll(raw_cq, 1, raw_wcs, &raw_count); }
NOINLINE int raw_poll32(void) { return raw_poll(raw_cq, BATCH, raw_wcs, &raw_count); }
NOINLINE int bare_poll0(void) { return ibv_poll_cq(raw_cq, BATCH, raw_wcs) < 0; }
NOINLINE int bare_poll1(void) { return ibv_poll_cq(raw_cq, 1, raw_wcs) < 0; }
NOINLINE int bare_poll32(void) { return ibv_poll_cq(raw_cq, BATCH, raw_wcs) < 0; }

static uint32_t count;
NOINLINE int vbn_post1(void) { return vbn_qp_post_send(qp, sends, 1, &count); }
NOINLINE int vbn_post32(void) { return vbn_qp_post_send(qp, sends, BATCH, &count); }
NOINLINE int vbn_recv1(void) { return vbn_qp_post_recv(qp, recvs, 1, &count); }
NOINLINE int vbn_recv32(void) { return vbn_qp_post_recv(qp, recvs, BATCH, &count); }
NOINLINE int vbn_poll0(void) { return vbn_cq_poll(cq, BATCH, wcs, &count); }
NOINLINE int vbn_poll1(void) { return vbn_cq_poll(cq, 1, wcs, &count); }
NOINLINE int vbn_poll32(void) { return vbn_cq_poll(cq, BATCH, wcs, &count); }
NOINLINE int nothing(void) { return 0; }

static const struct {
	const char *name;
	int (*raw)(void), (*vbn)(void), (*bare)(void);
	int poll;
} cases[] = {
	{ "post1", raw_post1, vbn_post1, raw_post1, 0 },
	{ "post32", raw_post32, vbn_post32, raw_post32, 0 },
	{ "recv1", raw_recv1, vbn_recv1, raw_recv1, 0 },
	{ "recv32", raw_recv32, vbn_recv32, raw_recv32, 0 },
	{ "poll0", raw_poll0, vbn_poll0, bare_poll0, 0 },
	{ "poll1", raw_poll1, vbn_poll1, bare_poll1, 1 },
	{ "poll32", raw_poll32, vbn_poll32, bare_poll32, BATCH },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

/* The loop that callgrind counts. */
NOINLINE int measured(int (*f)(void), long rounds)
{
	int failed = 0;

	for (long i = 0; i < rounds; i++)
		failed |= f();
	return failed;
}

static int run_count(const char *name, const char *side, long rounds)
{
	for (size_t i = 0; i < CASES; i++) {
		if (strcmp(cases[i].name, name))
			continue;
		null.set_poll_n(cases[i].poll);
		return measured(!strcmp(side, "raw") ? cases[i].raw : !strcmp(side, "vbn") ? cases[i].vbn :
				!strcmp(side, "bare") ? cases[i].bare : nothing, rounds);
	}
	return 2;
}

static int run_same(void)
{
	struct nullv_stats raw, ours;
	int differ = 0;

	null.set_walk(1);
	for (size_t i = 0; i < 4; i++) {
		null.stats_reset();
		measured(cases[i].raw, 10);
		null.stats(&raw);
		null.stats_reset();
		measured(cases[i].vbn, 10);
		null.stats(&ours);
		differ |= memcmp(&raw, &ours, sizeof(raw)) != 0;
		printf("%-7s raw %016lx vbn %016lx\n", cases[i].name,
		       (unsigned long)(raw.send.checksum + raw.recv.checksum),
		       (unsigned long)(ours.send.checksum + ours.recv.checksum));
	}
	null.set_walk(0);
	return differ;
}

static int run_calls(void)
{
	for (size_t i = 0; i < CASES; i++) {
		null.set_poll_n(cases[i].poll);
		unsigned long before = heap_calls;
		measured(cases[i].vbn, 100);
		printf("%s %lu\n", cases[i].name, heap_calls - before);
	}
	return 0;
}

int main(int argc, char **argv)
{
	must(nullv_load(&null, getenv("VBN_IBVERBS_LIBRARY")) == 0, "VBN_IBVERBS_LIBRARY must name the null provider");
	make_objects();
	fill_requests();
	one_send = raw_sends[0];
	one_send.next = NULL;
	one_recv = raw_recvs[0];
	one_recv.next = NULL;
	if (argc == 5 && !strcmp(argv[1], "count"))
		return run_count(argv[2], argv[3], atol(argv[4]));
	if (argc == 2 && !strcmp(argv[1], "same"))
		return run_same();
	if (argc == 2 && !strcmp(argv[1], "calls"))
		return run_calls();
	fprintf(stderr, "usage: overhead count CASE raw|vbn|bare|empty ROUNDS | same | calls\n");
	return 2;
}
