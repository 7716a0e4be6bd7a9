/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What libverbena adds to a call, beside raw verbs doing the same from arrays of the application's own. Runs over the null
 * provider, whose data path returns at once; bench/overhead counts the instructions of raw_CASE and vbn_CASE.
 *
 *	overhead count CASE raw|vbn|bare|empty ROUNDS   runs one loop, for callgrind
 *	overhead same                              shows that both sides hand the same requests to the provider, and the same completions to the caller
 *	overhead calls                             counts heap calls on the data path
 */
#include <dlfcn.h>
#include <errno.h>
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

/* The same on an EFA: requests with a peer, by ibv_wr_*, and extended completions. */
static vbn_qp *srd;
static vbn_cq *cq_ext, *cq_efa;
static struct ibv_qp_ex *raw_srd;
static struct ibv_cq_ex *raw_cq_ext, *raw_cq_efa;
static struct efadv_cq *raw_efa;

/* efadv.h's of rdma-core 52 and later. */
struct efadv_cq {
	uint64_t comp_mask;
	int (*wc_read_sgid)(struct efadv_cq *cq, union ibv_gid *sgid);
	_Bool (*wc_is_unsolicited)(struct efadv_cq *cq);
};

/* What an application would keep of a request to an SRD queue pair. */
struct own_send {
	uint64_t wr_id;
	uint64_t remote_addr;
	struct ibv_ah *ah;
	uint32_t qp_num, qkey, rkey, flags;
	struct ibv_sge sge;
};

static struct own_send raw_srd_sends[BATCH];
static vbn_send_wr srd_sends[BATCH];
static vbn_wc_ext exts[BATCH];

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

/* What is there on nullefa0; returns the native address handle of the one peer. */
static struct ibv_ah *make_efa(vbn_peer **peer)
{
	vbn_context *efa;
	vbn_pd *efa_pd;
	vbn_cq *srd_cq;
	vbn_ah *ah;
	struct ibv_ah *raw_ah;
	struct ibv_qp *raw;
	struct ibv_cq *raw_ext, *raw_of_efa;
	struct efadv_cq *(*readers_of)(struct ibv_cq_ex *);
	vbn_cq_attr cq_attr = { .struct_size = sizeof(cq_attr), .cqe = 256 };
	vbn_qp_init_attr qp_attr = { .struct_size = sizeof(qp_attr), .qp_type = VBN_QPT_SRD, .max_send_wr = 256, .max_recv_wr = 256 };
	vbn_ah_attr ah_attr = { .struct_size = sizeof(ah_attr), .path.dgid = { 0xfe, 0x80, [15] = 1 } };
	vbn_peer_attr peer_attr = { .struct_size = sizeof(peer_attr), .qp_num = 0x51, .qkey = 0x1234 };

	must(vbn_context_open("nullefa0", NULL, &efa) == 0, "open nullefa0");
	must(vbn_pd_alloc(efa, NULL, &efa_pd) == 0, "pd");
	must(vbn_cq_create(efa, &cq_attr, &srd_cq) == 0, "cq");
	cq_attr.fields = VBN_WC_EX_STANDARD;
	must(vbn_cq_create(efa, &cq_attr, &cq_ext) == 0, "extended cq");
	cq_attr.fields |= VBN_WC_EX_SGID | VBN_WC_EX_UNSOLICITED;
	must(vbn_cq_create(efa, &cq_attr, &cq_efa) == 0, "efa's cq");
	qp_attr.send_cq = srd_cq;
	must(vbn_qp_create(efa_pd, &qp_attr, &srd) == 0, "srd qp");
	must(vbn_ah_create(efa_pd, &ah_attr, &ah) == 0, "ah");
	peer_attr.ah = ah;
	must(vbn_peer_create(efa_pd, &peer_attr, peer) == 0, "peer");
	must(vbn_qp_native(srd, &raw) == 0 && vbn_cq_native(cq_ext, &raw_ext) == 0 && vbn_cq_native(cq_efa, &raw_of_efa) == 0 && vbn_ah_native(ah, &raw_ah) == 0, "native");
	/* These two are made of the plain pointers by the verbs' own rule: the extended struct begins with the plain one. */
	raw_srd = (struct ibv_qp_ex *)raw;
	raw_cq_ext = (struct ibv_cq_ex *)raw_ext;
	raw_cq_efa = (struct ibv_cq_ex *)raw_of_efa;
	*(void **)&readers_of = dlsym(dlopen(getenv("VBN_IBVERBS_LIBRARY"), RTLD_NOW), "efadv_cq_from_ibv_cq_ex");
	must(readers_of != NULL, "efadv_cq_from_ibv_cq_ex");
	raw_efa = readers_of(raw_cq_efa);
	return raw_ah;
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

static void fill_srd(void)
{
	vbn_peer *peer;
	struct ibv_ah *raw_ah = make_efa(&peer);

	for (unsigned i = 0; i < BATCH; i++) {
		raw_srd_sends[i] = (struct own_send){
			.wr_id = i, .remote_addr = 0x20000 + 64 * i, .ah = raw_ah, .qp_num = 0x51, .qkey = 0x1234, .rkey = 9,
			.flags = IBV_SEND_SIGNALED, .sge = { 0x10000 + 64 * i, 64 + i, 7 },
		};
		srd_sends[i] = (vbn_send_wr){
			.wr_id = i, .sge = { 0x10000 + 64 * i, 64 + i, 7 }, .num_sge = 1, .opcode = VBN_WR_RDMA_WRITE,
			.flags = VBN_SEND_SIGNALED, .remote_addr = 0x20000 + 64 * i, .rkey = 9, .peer = peer,
		};
	}
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

static inline __attribute__((always_inline)) int raw_post_srd(unsigned n)
{
	struct ibv_qp_ex *qp = raw_srd;

	ibv_wr_start(qp);
	for (const struct own_send *s = raw_srd_sends; s != raw_srd_sends + n; s++) {
		qp->wr_id = s->wr_id;
		qp->wr_flags = s->flags;
		ibv_wr_rdma_write(qp, s->rkey, s->remote_addr);
		ibv_wr_set_ud_addr(qp, s->ah, s->qp_num, s->qkey);
		ibv_wr_set_sge(qp, s->sge.lkey, s->sge.addr, s->sge.length);
	}
	return ibv_wr_complete(qp);
}

NOINLINE int raw_post1_srd(void) { return raw_post_srd(1); }
NOINLINE int raw_post32_srd(void) { return raw_post_srd(BATCH); }

/*
 * The same work as vbn_cq_poll, written with inline verbs in the caller: the count stored, an error told from an empty queue,
 * failures noticed, immediate values in host order. bare_poll is ibv_poll_cq and nothing else. What is stored is not static,
 * so that it can't be left out.
 */
int raw_failures;
uint32_t raw_count;

static inline __attribute__((always_inline)) int raw_poll(int n)
{
	int found = ibv_poll_cq(raw_cq, n, raw_wcs);

	if (found < 0) {
		raw_count = 0;
		return found;
	}
	raw_count = (uint32_t)found;
	for (int i = 0; i < found; i++) {
		if (raw_wcs[i].status != IBV_WC_SUCCESS)
			raw_failures++;
		if (raw_wcs[i].wc_flags & IBV_WC_WITH_IMM)
			raw_wcs[i].imm_data = __builtin_bswap32(raw_wcs[i].imm_data);
	}
	return 0;
}

/* An application's own completion. */
struct own_wc {
	struct ibv_wc wc;
	union ibv_gid sgid;
	_Bool has_sgid, unsolicited;
};
static struct own_wc own_wcs[BATCH];

/* The same work as vbn_cq_poll_ext does for a queue with all standard fields, and with `efa` libefa's two. */
static inline __attribute__((always_inline)) int raw_poll_ext(struct ibv_cq_ex *ext, struct efadv_cq *efa, uint32_t n)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int ret = ibv_start_poll(ext, &attr);
	uint32_t found = 0;

	raw_count = 0;
	if (ret)
		return ret == ENOENT ? 0 : ret;
	do {
		struct ibv_wc *wc = &own_wcs[found].wc;

		wc->wr_id = ext->wr_id;
		wc->status = ext->status;
		if (wc->status != IBV_WC_SUCCESS) {
			wc->vendor_err = ibv_wc_read_vendor_err(ext);
			raw_failures++;
		} else {
			wc->opcode = ibv_wc_read_opcode(ext);
			wc->wc_flags = ibv_wc_read_wc_flags(ext);
			wc->byte_len = ibv_wc_read_byte_len(ext);
			wc->qp_num = ibv_wc_read_qp_num(ext);
			wc->src_qp = ibv_wc_read_src_qp(ext);
			wc->slid = (uint16_t)ibv_wc_read_slid(ext);
			wc->sl = ibv_wc_read_sl(ext);
			wc->dlid_path_bits = ibv_wc_read_dlid_path_bits(ext);
			if (wc->wc_flags & IBV_WC_WITH_IMM)
				wc->imm_data = __builtin_bswap32(ibv_wc_read_imm_data(ext));
			if (efa) {
				own_wcs[found].has_sgid = wc->opcode & IBV_WC_RECV && !efa->wc_read_sgid(efa, &own_wcs[found].sgid);
				own_wcs[found].unsolicited = efa->wc_is_unsolicited(efa);
			}
		}
	} while (++found < n && !(ret = ibv_next_poll(ext)));
	ibv_end_poll(ext);
	raw_count = found;
	return 0;
}

NOINLINE int raw_poll32_ext(void) { return raw_poll_ext(raw_cq_ext, NULL, BATCH); }
NOINLINE int raw_poll32_efa(void) { return raw_poll_ext(raw_cq_efa, raw_efa, BATCH); }
NOINLINE int raw_poll0(void) { return raw_poll(BATCH); }
NOINLINE int raw_poll1(void) { return raw_poll(1); }
NOINLINE int raw_poll32(void) { return raw_poll(BATCH); }
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
NOINLINE int vbn_post1_srd(void) { return vbn_qp_post_send(srd, srd_sends, 1, &count); }
NOINLINE int vbn_post32_srd(void) { return vbn_qp_post_send(srd, srd_sends, BATCH, &count); }
NOINLINE int vbn_poll32_ext(void) { return vbn_cq_poll_ext(cq_ext, BATCH, exts, sizeof(exts[0]), &count); }
NOINLINE int vbn_poll32_efa(void) { return vbn_cq_poll_ext(cq_efa, BATCH, exts, sizeof(exts[0]), &count); }
NOINLINE int nothing(void) { return 0; }

/* Whether the two sides have polled different completions. */
static int plain_differs(void)
{
	return memcmp(raw_wcs, wcs, sizeof(wcs)) != 0;
}

static int ext_differs(void)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct own_wc *raw = &own_wcs[i];
		const struct ibv_wc *a = &raw->wc;
		const vbn_wc *b = &exts[i].wc;

		if (a->wr_id != b->wr_id || (int32_t)a->status != b->status || a->vendor_err != b->vendor_err)
			return 1;
		if (a->status != IBV_WC_SUCCESS)
			continue;
		if ((int32_t)a->opcode != b->opcode || a->wc_flags != b->wc_flags || a->byte_len != b->byte_len || a->imm_data != b->imm ||
		    a->qp_num != b->qp_num || a->src_qp != b->src_qp || a->slid != b->slid || a->sl != b->sl || a->dlid_path_bits != b->dlid_path_bits)
			return 1;
		if (raw->unsolicited != exts[i].unsolicited || raw->has_sgid != !!(exts[i].fields & VBN_WC_EX_SGID) ||
		    (raw->has_sgid && memcmp(&raw->sgid, exts[i].sgid, sizeof(raw->sgid))))
			return 1;
	}
	return 0;
}

/* A case that posts finds no completions. */
#define POST -1

static const struct {
	const char *name;
	int (*raw)(void), (*vbn)(void), (*bare)(void);
	int poll; /* completions that are found, or POST */
	int (*differs)(void);
} cases[] = {
	{ "post1", raw_post1, vbn_post1, raw_post1, POST, NULL },
	{ "post32", raw_post32, vbn_post32, raw_post32, POST, NULL },
	{ "post1_srd", raw_post1_srd, vbn_post1_srd, raw_post1_srd, POST, NULL },
	{ "post32_srd", raw_post32_srd, vbn_post32_srd, raw_post32_srd, POST, NULL },
	{ "recv1", raw_recv1, vbn_recv1, raw_recv1, POST, NULL },
	{ "recv32", raw_recv32, vbn_recv32, raw_recv32, POST, NULL },
	{ "poll0", raw_poll0, vbn_poll0, bare_poll0, 0, plain_differs },
	{ "poll1", raw_poll1, vbn_poll1, bare_poll1, 1, plain_differs },
	{ "poll32", raw_poll32, vbn_poll32, bare_poll32, BATCH, plain_differs },
	{ "poll32_ext", raw_poll32_ext, vbn_poll32_ext, raw_poll32_ext, BATCH, ext_differs },
	{ "poll32_efa", raw_poll32_efa, vbn_poll32_efa, raw_poll32_efa, BATCH, ext_differs },
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

static int same_polled(void)
{
	static const struct ibv_wc found[] = {
		{ .wr_id = 1, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_SEND, .byte_len = 64, .qp_num = 0x11 },
		{ .wr_id = 2, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV_RDMA_WITH_IMM, .vendor_err = 0, .byte_len = 3, .imm_data = 0x01020304,
		  .qp_num = 5, .src_qp = 6, .wc_flags = IBV_WC_GRH | IBV_WC_WITH_IMM, .pkey_index = 7, .slid = 8, .sl = 9, .dlid_path_bits = 10 },
		{ .wr_id = 3, .status = IBV_WC_RETRY_EXC_ERR, .opcode = IBV_WC_RDMA_READ, .vendor_err = 11, .qp_num = 12 },
	};
	static const struct nullv_wc_extra extra = { .has_sgid = 1, .unsolicited = 1, .sgid = { 0xfe, 0x80, [15] = 13 } };
	int differ = 0;

	null.set_wc_extra(&extra);
	for (size_t i = 0; i < CASES; i++) {
		if (cases[i].poll == POST)
			continue;
		null.set_poll_n(cases[i].poll);
		for (size_t k = 0; k < sizeof(found) / sizeof(found[0]); k++) {
			null.set_wc(&found[k]);
			memset(raw_wcs, 0, sizeof(raw_wcs));
			memset(own_wcs, 0, sizeof(own_wcs));
			memset(wcs, 0, sizeof(wcs));
			memset(exts, 0, sizeof(exts));
			raw_count = count = 99;
			int differs = cases[i].raw() || cases[i].vbn() || raw_count != (uint32_t)cases[i].poll || count != raw_count || cases[i].differs();
			if (differs)
				printf("%-10s completion %zu differs, of %u and %u\n", cases[i].name, k, raw_count, count);
			differ |= differs;
		}
	}
	return differ;
}

static int run_same(void)
{
	struct nullv_stats raw, ours;
	int differ = same_polled();

	null.set_walk(1);
	for (size_t i = 0; i < CASES; i++) {
		if (cases[i].poll != POST)
			continue;
		null.stats_reset();
		measured(cases[i].raw, 10);
		null.stats(&raw);
		null.stats_reset();
		measured(cases[i].vbn, 10);
		null.stats(&ours);
		differ |= memcmp(&raw, &ours, sizeof(raw)) != 0;
		printf("%-10s raw %016lx vbn %016lx\n", cases[i].name,
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
	fill_srd();
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
