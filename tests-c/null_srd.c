/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SRD over the null provider's libefa: what reaches ibv_wr_*, in which order, what becomes of refusals, and extended polls. */
#include <arpa/inet.h>
#include "null_help.h"

enum { MOST = 200 };

static struct {
    vbn_context *context;
    vbn_pd *pd, *other_pd;
    vbn_cq *cq;
    vbn_qp *qp;
    vbn_ah *ah;
    vbn_peer *peers[3], *foreign;
    struct ibv_ah *native_ah[3];
    uint32_t qpn;
} s;

static vbn_send_wr wrs[MOST];
static vbn_sge lists[MOST][2];
static uint32_t posted;

static vbn_peer *peer_of(vbn_pd *pd, uint8_t gid, uint32_t qp_num)
{
    vbn_endpoint endpoint = {.gid = {0xfe, 0x80, [15] = gid}, .qp_num = qp_num, .qkey = 0x1000 + qp_num};
    vbn_peer *peer;

    OK(vbn_peer_from_endpoint(pd, &endpoint, NULL, &peer));
    return peer;
}

static void open_efa(void)
{
    setenv("NULLV_EFA", "1", 1);
    OK(vbn_context_open("nullefa0", NULL, &s.context));
    unsetenv("NULLV_EFA");
    OK(vbn_pd_alloc(s.context, NULL, &s.pd));
}

/* A device with limits that are soon reached. */
static int narrow;

/* `flags`: those of the queue pair. */
static void begin_with(uint64_t flags, uint8_t sq_sig_all)
{
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);

    null_begin();
    if (narrow) {
        null.efa_attr()->max_rdma_size = 5000;
        null.port_attr()->max_msg_sz = 4000;
    }
    memset(&s, 0, sizeof(s));
    open_efa();
    OK(vbn_pd_alloc(s.context, NULL, &s.other_pd));
    cq.cqe = 512;
    OK(vbn_cq_create(s.context, &cq, &s.cq));
    qp.send_cq = s.cq;
    qp.qp_type = VBN_QPT_SRD;
    qp.max_send_wr = qp.max_recv_wr = 256;
    qp.max_send_sge = 2;
    qp.max_inline_data = 32;
    qp.flags = flags;
    qp.sq_sig_all = sq_sig_all;
    OK(vbn_qp_create(s.pd, &qp, &s.qp));
    s.qpn = vbn_qp_num(s.qp);
    for (uint8_t i = 0; i < 3; i++) {
        NEW(vbn_ah_attr, ah);

        s.peers[i] = peer_of(s.pd, (uint8_t)(1 + i / 2), 0x50 + i); /* the first two behind one GID */
        ah.path.dgid[0] = 0xfe;
        ah.path.dgid[1] = 0x80;
        ah.path.dgid[15] = (uint8_t)(1 + i / 2);
        OK(vbn_ah_create(s.pd, &ah, &s.ah));
        OK(vbn_ah_native(s.ah, &s.native_ah[i]));
        OK(vbn_ah_close(&s.ah));
    }
    MUST(s.native_ah[0] == s.native_ah[1] && s.native_ah[1] != s.native_ah[2], "one ibv_ah for each GID");
    s.foreign = peer_of(s.other_pd, 1, 0x60);
    null.set_walk(1);
}

static void begin(void) { begin_with(0, 0); }

static void end(void)
{
    for (int i = 0; i < 3; i++)
        OK(vbn_peer_close(&s.peers[i]));
    OK(vbn_peer_close(&s.foreign));
    OK(vbn_qp_close(&s.qp));
    OK(vbn_cq_close(&s.cq));
    OK(vbn_pd_close(&s.other_pd));
    OK(vbn_pd_close(&s.pd));
    OK(vbn_context_close(&s.context));
    null_clean();
}

static const uint32_t opcodes[] = {VBN_WR_RDMA_WRITE, VBN_WR_RDMA_READ, VBN_WR_SEND, VBN_WR_SEND_WITH_IMM, VBN_WR_RDMA_WRITE_WITH_IMM};

/* Good requests, no two alike. `kind`: one operation of `opcodes`, or all in turn. */
static void fill(size_t kind, int many_peers)
{
    memset(wrs, 0, sizeof(wrs));
    for (uint32_t i = 0; i < MOST; i++)
        wrs[i] = (vbn_send_wr){
            .wr_id = 0xffffffff00000000u + i, .flags = VBN_SEND_SIGNALED, .num_sge = 1,
            .opcode = opcodes[kind < ARRAY_SIZE(opcodes) ? kind : i % ARRAY_SIZE(opcodes)],
            .sge = {0x100000 + i * 0x1000u, 100 + i, 0x8000 + i}, .remote_addr = 0xfedcba9876543210u + i, .rkey = 0x90000000u + i,
            .imm = 0x01020304u + i, .peer = s.peers[many_peers ? i * 7 % 3 : 0],
        };
}

static struct nullv_stats stats(void)
{
    struct nullv_stats got;

    null.stats(&got);
    MUST(!got.misuse, "misuse: %s", null.last_misuse());
    return got;
}

/* The request with number `back`, counted from the latest, must be what wrs[i] asked for. */
static void same(unsigned back, uint32_t i)
{
    const vbn_send_wr *want = &wrs[i];
    int remote = want->opcode != VBN_WR_SEND && want->opcode != VBN_WR_SEND_WITH_IMM;
    int imm = want->opcode == VBN_WR_SEND_WITH_IMM || want->opcode == VBN_WR_RDMA_WRITE_WITH_IMM;
    const vbn_sge *sge = want->sg_list ? want->sg_list : &want->sge;
    struct nullv_wr got;
    uint32_t p = 0;

    while (p < 2 && s.peers[p] != want->peer)
        p++;
    MUST(!null.posted(back, &got), "[%u] didn't reach the provider", i);
    MUST(got.via_wr_api && got.qp_num == s.qpn && got.wr_id == want->wr_id, "[%u] is another", i);
    MUST(got.opcode == want->opcode, "[%u] opcode %u, not %u", i, got.opcode, want->opcode);
    MUST(got.flags == (want->flags & VBN_SEND_SIGNALED), "[%u] flags 0x%x", i, got.flags);
    MUST(got.imm == (imm ? htonl(want->imm) : 0), "[%u] imm 0x%x", i, got.imm);
    MUST(got.remote_addr == (remote ? want->remote_addr : 0) && got.rkey == (remote ? want->rkey : 0), "[%u] remote", i);
    MUST(got.ah == s.native_ah[p] && got.remote_qpn == 0x50 + p && got.remote_qkey == 0x1050 + p, "[%u] peer", i);
    MUST(got.hints == (want->flags & VBN_SEND_BURST ? 1 : 0), "[%u] hints %u", i, got.hints);
    if (want->flags & VBN_SEND_INLINE) {
        MUST(got.inlined && !got.num_sge, "[%u] isn't inline", i);
        return;
    }
    MUST(!got.inlined && got.num_sge == want->num_sge, "[%u] %u segments", i, got.num_sge);
    for (uint32_t k = 0; k < got.num_sge; k++)
        MUST(got.sge[k].addr == sge[k].addr && got.sge[k].length == sge[k].length && got.sge[k].lkey == sge[k].lkey,
             "[%u] segment %u differs", i, k);
}

static void post_all(uint32_t n)
{
    null.stats_reset();
    posted = 77;
    OK(vbn_qp_post_send(s.qp, wrs, n, &posted));
    MUST(posted == n && stats().send.wrs == n, "posted %u of %u", posted, n);
    for (uint32_t i = 0; i < n; i++)
        same(n - 1 - i, i);
}

/* One session, and in it for each request: the operation, the address, the data. */
static void in_order(uint32_t n, const char *each)
{
    const char *log = null.wr_log();
    size_t length = strlen(each);

    MUST(strlen(log) == n * length + 2 && log[0] == 'S' && log[n * length + 1] == 'C', "%s", log);
    for (uint32_t i = 0; i < n; i++)
        MUST(!memcmp(log + 1 + i * length, each, length), "[%u]: %s", i, log);
}

/* However many sessions were begun, one is completed, and it is the last: that is where a provider rings. */
static void one_doorbell(void)
{
    const char *log = null.wr_log(), *end = strchr(log, 'C');

    MUST(end && !end[1], "%s", log);
}

static void every_operation(void)
{
    static const uint32_t counts[] = {1, 2, 3, 31, 32, 33, MOST};

    begin();
    for (size_t kind = 0; kind <= ARRAY_SIZE(opcodes); kind++)
        for (int many_peers = 0; many_peers < 2; many_peers++)
            for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
                fill(kind, many_peers);
                post_all(counts[c]);
                /* Mixed ones cost a session that is given up, at the first that is unlike the one before. */
                if (kind < ARRAY_SIZE(opcodes))
                    in_order(counts[c], "oud");
                one_doorbell();
            }
    OK(vbn_qp_post_send(s.qp, wrs, 0, &posted));
    MUST(!posted, "posted %u of none", posted);
    end();
}

/* What the short way doesn't take arrives all the same. */
static void lists_inline_and_hints(void)
{
    static const char data[] = "thirty-two bytes of inline data.";

    begin_with(VBN_QP_PROCESSING_HINTS, 0);
    for (uint32_t at = 0; at < 6; at++) {
        fill(2, 1);
        lists[at][0] = wrs[at].sge;
        lists[at][1] = (vbn_sge){5, 6, 7};
        wrs[at].sg_list = lists[at];
        wrs[at].num_sge = 1 + at % 2;
        post_all(6);
        fill(2, 1);
        wrs[at].num_sge = 0;
        post_all(6);
        fill(2, 1);
        wrs[at].flags |= VBN_SEND_INLINE;
        wrs[at].sge = (vbn_sge){(uintptr_t)data, 32, 0};
        post_all(6);
        fill(0, 1);
        wrs[at].flags |= VBN_SEND_BURST;
        post_all(6);
    }
    fill(0, 0);
    wrs[0].flags |= VBN_SEND_BURST;
    post_all(1);
    in_order(1, "ohud");
    end();
    /* With sq_sig_all the flag is the caller's to leave out. */
    begin_with(0, 1);
    for (uint32_t n = 1; n < 5; n++) {
        fill(0, 0);
        for (uint32_t i = 0; i < n; i++)
            wrs[i].flags = 0;
        post_all(n);
        wrs[n - 1].flags = VBN_SEND_SIGNALED;
        post_all(n);
    }
    end();
}

/* ---- Refusals by validation ---- */

static void no_peer(vbn_send_wr *wr) { wr->peer = NULL; }
static void odd_peer(vbn_send_wr *wr) { wr->peer = (vbn_peer *)(void *)((char *)wr->peer + 1); }
static void another_handle(vbn_send_wr *wr) { wr->peer = (vbn_peer *)(void *)s.qp; }
static void foreign_peer(vbn_send_wr *wr) { wr->peer = s.foreign; }
static void closed_peer(vbn_send_wr *wr)
{
    vbn_peer *peer = peer_of(s.pd, 1, 9);

    wr->peer = peer;
    OK(vbn_peer_close(&peer));
}
static void unsignaled(vbn_send_wr *wr) { wr->flags = 0; }
static void fence(vbn_send_wr *wr) { wr->flags |= VBN_SEND_FENCE; }
static void solicited(vbn_send_wr *wr) { wr->flags |= VBN_SEND_SOLICITED; }
static void unknown_flag(vbn_send_wr *wr) { wr->flags |= 1ull << 40; }
static void burst(vbn_send_wr *wr) { wr->flags |= VBN_SEND_BURST; }
static void inline_rdma(vbn_send_wr *wr) { wr->flags |= VBN_SEND_INLINE; wr->sge.length = 8; wr->opcode = VBN_WR_RDMA_WRITE; }
static void inline_read(vbn_send_wr *wr) { wr->flags |= VBN_SEND_INLINE; wr->sge.length = 8; wr->opcode = VBN_WR_RDMA_READ; }
static void inline_long(vbn_send_wr *wr) { wr->flags |= VBN_SEND_INLINE; wr->sge.length = 33; wr->opcode = VBN_WR_SEND; }
static void no_opcode(vbn_send_wr *wr) { wr->opcode = 5; }
static void opcode_64(vbn_send_wr *wr) { wr->opcode = 64; }
static void two_for_rdma(vbn_send_wr *wr) { wr->opcode = VBN_WR_RDMA_WRITE; wr->num_sge = 2; wr->sg_list = lists[0]; }
static void three(vbn_send_wr *wr) { wr->opcode = VBN_WR_SEND; wr->num_sge = 3; wr->sg_list = lists[0]; }
static void two_without_list(vbn_send_wr *wr) { wr->opcode = VBN_WR_SEND; wr->num_sge = 2; }
static void odd_list(vbn_send_wr *wr) { wr->sg_list = (vbn_sge *)(void *)((char *)lists[0] + 1); }
static void long_rdma(vbn_send_wr *wr) { wr->opcode = VBN_WR_RDMA_WRITE; wr->sge.length = 5001; }
static void long_send(vbn_send_wr *wr) { wr->opcode = VBN_WR_SEND; wr->sge.length = 4001; }

static const struct {
    const char *what, *text;
    vbn_status status;
    void (*make)(vbn_send_wr *wr);
} mistakes[] = {
    {"no peer", "peer is NULL", VBN_ERR_ARGUMENT, no_peer},
    {"misaligned peer", "peer", VBN_ERR_ARGUMENT, odd_peer},
    {"another handle as peer", "vbn_peer", VBN_ERR_ARGUMENT, another_handle},
    {"peer of another PD", "protection domain", VBN_ERR_ARGUMENT, foreign_peer},
    {"closed peer", "closed", VBN_ERR_CLOSED, closed_peer},
    {"unsignaled", "signaled", VBN_ERR_ARGUMENT, unsignaled},
    {"fence", "fence", VBN_ERR_NOT_SUPPORTED, fence},
    {"solicited", "solicited", VBN_ERR_NOT_SUPPORTED, solicited},
    {"unknown flag", "flags", VBN_ERR_ARGUMENT, unknown_flag},
    {"burst without hints", "flags", VBN_ERR_ARGUMENT, burst},
    {"inline write", "inline", VBN_ERR_NOT_SUPPORTED, inline_rdma},
    {"inline read", "read", VBN_ERR_ARGUMENT, inline_read},
    {"long inline", "33", VBN_ERR_LIMIT, inline_long},
    {"atomic", "opcode", VBN_ERR_NOT_SUPPORTED, no_opcode},
    {"opcode 64", "opcode", VBN_ERR_NOT_SUPPORTED, opcode_64},
    {"two segments for RDMA", "RDMA", VBN_ERR_LIMIT, two_for_rdma},
    {"three segments", "num_sge", VBN_ERR_LIMIT, three},
    {"two without a list", "sg_list", VBN_ERR_ARGUMENT, two_without_list},
    {"misaligned list", "sg_list", VBN_ERR_ARGUMENT, odd_list},
    {"long RDMA", "5001", VBN_ERR_LIMIT, long_rdma},
    {"long message", "4001", VBN_ERR_LIMIT, long_send},
};

/* Wherever the wrong one stands, it is named, and nothing is posted: a session that was begun is given up. */
static void mistakes_are_named(void)
{
    static const uint32_t places[][2] = {{1, 0}, {2, 0}, {2, 1}, {5, 2}, {40, 39}, {MOST, 33}};

    narrow = 1;
    begin();
    narrow = 0;
    for (size_t m = 0; m < ARRAY_SIZE(mistakes); m++)
        for (size_t kind = 0; kind <= ARRAY_SIZE(opcodes); kind++)
            for (size_t p = 0; p < ARRAY_SIZE(places); p++) {
                uint32_t n = places[p][0], at = places[p][1];
                const char *log;
                int open = 0;

                fill(kind, 0);
                mistakes[m].make(&wrs[at]);
                null.stats_reset();
                posted = 77;
                WANT(vbn_qp_post_send(s.qp, wrs, n, &posted), mistakes[m].status);
                WANT_TEXT(mistakes[m].text);
                MUST(!posted && last()->index == at, "%s: posted %u, index %llu, not %u", mistakes[m].what, posted,
                     (unsigned long long)last()->index, at);
                MUST(!stats().send.wrs && !stats().send.calls, "%s: something was posted", mistakes[m].what);
                for (log = null.wr_log(); *log; log++) {
                    open += *log == 'S' ? 1 : *log == 'A' ? -1 : 0;
                    MUST(*log != 'C' && (open == 0 || open == 1), "%s: %s", mistakes[m].what, null.wr_log());
                }
                MUST(!open, "%s: the session stays open: %s", mistakes[m].what, null.wr_log());
            }
    fill(0, 0);
    wrs[0].sge.length = 5000;
    post_all(2);
    fill(2, 0);
    wrs[0].sge.length = 4000;
    post_all(2);
    end();
}

/* ---- Refusals by the provider ---- */

/* A queue with room for k of n, which takes a session whole or not at all: the longest beginning is posted. */
static void full_queue(void)
{
    begin();
    for (int many_peers = 0; many_peers < 2; many_peers++)
        for (uint32_t n = 1; n <= 40; n = n < 18 ? n + 1 : n + 11)
            for (uint32_t k = 0; k <= n; k++) {
                fill(many_peers ? ARRAY_SIZE(opcodes) : 0, many_peers);
                null.stats_reset();
                null.set_room(k);
                posted = 77;
                WANT(vbn_qp_post_send(s.qp, wrs, n, &posted), k < n ? VBN_ERR_QUEUE_FULL : VBN_OK);
                MUST(posted == k && stats().send.wrs == k, "posted %u of %u with room for %u", posted, n, k);
                if (k < n) {
                    MUST(last()->index == k, "index %llu, not %u", (unsigned long long)last()->index, k);
                    WANT_ERRNO(ENOMEM);
                    WANT_NUMBERS(256, 256);
                }
                for (uint32_t i = 0; i < k; i++)
                    same(k - 1 - i, i);
            }
    null.set_room(-1);
    end();
}

/* Sessions that fail otherwise: nothing of them is posted, and what was posted before counts. */
static void failing_sessions(void)
{
    static const int errors[] = {EIO, EINVAL, EPERM};

    begin();
    for (uint32_t n = 1; n < 4; n++)
        for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
            fill(0, 0);
            null.fail("ibv_wr_complete", 1, errors[i]);
            WANT(vbn_qp_post_send(s.qp, wrs, n, &posted), VBN_ERR_DRIVER);
            WANT_ERRNO(errors[i]);
            WANT_TEXT("ibv_wr_complete");
            MUST(!posted && !last()->index && !null.pending(), "posted %u", posted);
            post_all(n);
        }
    /* All 8 don't fit, 4 do, then the device breaks. */
    fill(0, 0);
    null.stats_reset();
    null.fail("ibv_wr_complete", 1, ENOMEM);
    null.fail("ibv_wr_complete", 3, EIO);
    WANT(vbn_qp_post_send(s.qp, wrs, 8, &posted), VBN_ERR_DRIVER);
    MUST(posted == 4 && last()->index == 4 && stats().send.wrs == 4, "posted %u", posted);
    /* A lack that passes is none. */
    null.fail("ibv_wr_complete", 1, EAGAIN);
    null.fail("ibv_wr_complete", 2, ENOSPC);
    post_all(8);
    end();
}

static void receives(void)
{
    vbn_recv_wr recv[3];

    begin();
    for (int i = 0; i < 3; i++)
        recv[i] = (vbn_recv_wr){.wr_id = (unsigned)i, .num_sge = 1, .sge = {64, 65535, 1}};
    OK(vbn_qp_post_recv(s.qp, recv, 3, &posted));
    MUST(posted == 3, "posted %u", posted);
    null.stats_reset();
    recv[1].sge.length = 65536;
    WANT(vbn_qp_post_recv(s.qp, recv, 3, &posted), VBN_ERR_LIMIT);
    WANT_NUMBERS(65536, 65535);
    MUST(!posted && last()->index == 1 && !stats().recv.wrs, "posted %u", posted);
    recv[1].num_sge = 0;
    WANT(vbn_qp_post_recv(s.qp, recv, 3, &posted), VBN_ERR_ARGUMENT);
    WANT_TEXT("num_sge is 0");
    MUST(!posted && last()->index == 1 && !stats().recv.wrs, "posted %u", posted);
    end();
}

/* ---- Extended completions ---- */

static vbn_cq *cq_with(uint64_t fields)
{
    NEW(vbn_cq_attr, attr);
    vbn_cq *cq;

    attr.cqe = 64;
    attr.fields = fields;
    OK(vbn_cq_create(s.context, &attr, &cq));
    return cq;
}

static void begin_poll(void)
{
    null_begin();
    memset(&s, 0, sizeof(s));
    open_efa();
}

static void end_poll(void)
{
    OK(vbn_pd_close(&s.pd));
    OK(vbn_context_close(&s.context));
    null_clean();
}

static const struct ibv_wc good = {
    .wr_id = 42, .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV_RDMA_WITH_IMM, .byte_len = 64, .qp_num = 7, .src_qp = 8,
    .wc_flags = IBV_WC_WITH_IMM, .slid = 9, .sl = 3, .dlid_path_bits = 2,
};

/* Every set of fields: what was asked for is there and has its bit, what was not is 0 in wc and has none. */
static void every_set_of_fields(void)
{
    static const uint64_t bits[] = {VBN_WC_EX_BYTE_LEN, VBN_WC_EX_IMM, VBN_WC_EX_QP_NUM, VBN_WC_EX_SRC_QP, VBN_WC_EX_SLID,
                                    VBN_WC_EX_SL, VBN_WC_EX_DLID_PATH_BITS, VBN_WC_EX_SGID, VBN_WC_EX_UNSOLICITED};
    struct nullv_wc_extra extra = {.has_sgid = 1, .unsolicited = 1, .sgid = "a stranger's GID"};
    struct ibv_wc wc = good;

    begin_poll();
    wc.imm_data = htonl(0x01020304);
    null.set_wc(&wc);
    null.set_poll_n(3);
    for (unsigned set = 1; set < 1u << ARRAY_SIZE(bits); set++) {
        uint64_t fields = 0;
        vbn_wc_ext got[4];
        uint32_t n = 77;
        vbn_cq *cq;

        for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
            if (set & 1u << i)
                fields |= bits[i];
        cq = cq_with(fields);
        for (int slow = 0; slow < 2; slow++) {
            null.set_walk(slow);
            extra.has_sgid = (uint8_t)!slow;
            null.set_wc_extra(&extra);
            memset(got, 0xa5, sizeof(got));
            OK(vbn_cq_poll_ext(cq, 4, got, sizeof(got[0]), &n));
            MUST(n == 3, "%u completions", n);
#define HAS(bit) ((fields & VBN_WC_EX_##bit) != 0)
            for (uint32_t i = 0; i < n; i++) {
                const vbn_wc *w = &got[i].wc;

                MUST(w->wr_id == 42 && !w->status && !w->vendor_err && w->opcode == VBN_WC_RECV_RDMA_WITH_IMM && w->wc_flags == VBN_WC_WITH_IMM, "always there");
                MUST(w->byte_len == 64 * HAS(BYTE_LEN) && w->qp_num == 7 * HAS(QP_NUM) && w->src_qp == 8 * HAS(SRC_QP), "fields 0x%x", set);
                MUST(w->slid == 9 * HAS(SLID) && w->sl == 3 * HAS(SL) && w->dlid_path_bits == 2 * HAS(DLID_PATH_BITS), "fields 0x%x", set);
                MUST(w->imm == 0x01020304u * HAS(IMM), "imm 0x%x", w->imm);
                MUST(got[i].fields == (slow ? fields & ~VBN_WC_EX_SGID : fields), "fields 0x%llx", (unsigned long long)got[i].fields);
                MUST(!HAS(UNSOLICITED) || got[i].unsolicited == 1, "unsolicited");
                if (HAS(SGID))
                    CHECK_MEM(got[i].sgid, slow ? "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" : "a stranger's GID", 16);
            }
            MUST(((unsigned char *)&got[3])[0] == 0xa5, "more than was found was written");
        }
        OK(vbn_cq_close(&cq));
    }
    MUST(!stats().misuse, "misuse");
    end_poll();
}

/* Without an immediate value imm is 0 and has no bit; sends have no GID; a key is no number to turn around. */
static void values_of_completions(void)
{
    struct nullv_wc_extra extra = {.has_sgid = 1};
    struct ibv_wc wc = good;
    vbn_cq *cq;
    vbn_wc_ext got;
    uint32_t n;

    begin_poll();
    cq = cq_with(VBN_WC_EX_STANDARD | VBN_WC_EX_SGID);
    null.set_wc_extra(&extra);
    wc.wc_flags = 0;
    wc.imm_data = 5;
    wc.opcode = IBV_WC_SEND;
    OK((null.push_wc(&wc), vbn_cq_poll_ext(cq, 1, &got, sizeof(got), &n)));
    MUST(n == 1 && !got.wc.imm && got.fields == (VBN_WC_EX_STANDARD & ~VBN_WC_EX_IMM), "fields 0x%llx", (unsigned long long)got.fields);
    wc.wc_flags = IBV_WC_WITH_INV;
    wc.opcode = IBV_WC_RECV;
    OK((null.push_wc(&wc), vbn_cq_poll_ext(cq, 1, &got, sizeof(got), &n)));
    MUST(n == 1 && got.wc.imm == 5 && got.fields == (VBN_WC_EX_STANDARD | VBN_WC_EX_SGID), "imm %u", got.wc.imm);
    /* After a failure only wr_id, status, vendor_err and qp_num count. */
    wc.status = IBV_WC_REM_ACCESS_ERR;
    wc.vendor_err = 9;
    OK((null.push_wc(&wc), vbn_cq_poll_ext(cq, 1, &got, sizeof(got), &n)));
    MUST(n == 1 && got.wc.status == VBN_WC_REM_ACCESS_ERR && got.wc.vendor_err == 9 && got.wc.wr_id == 42 && got.wc.qp_num == 7, "failure");
    MUST(got.fields == VBN_WC_EX_QP_NUM && !got.wc.byte_len && !got.wc.imm && !got.wc.wc_flags, "fields 0x%llx", (unsigned long long)got.fields);
    OK(vbn_cq_close(&cq));
    end_poll();
}

/* Elements further apart; n 0; an empty queue; a plain queue. */
static void strides(void)
{
    struct { vbn_wc_ext ext; uint64_t mine[3]; } room[4];
    static const uint64_t sets[] = {VBN_WC_EX_STANDARD, VBN_WC_EX_QP_NUM, 0};

    begin_poll();
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
        vbn_cq *cq = cq_with(sets[i]);
        uint32_t n = 77;

        null.set_poll_n(9);
        memset(room, 0xa5, sizeof(room));
        OK(vbn_cq_poll_ext(cq, 3, &room[0].ext, sizeof(room[0]), &n));
        MUST(n == 3, "%u completions", n);
        for (int k = 0; k < 3; k++)
            MUST(room[k].ext.wc.wr_id == 1 && room[k].ext.fields & VBN_WC_EX_QP_NUM && room[k].mine[0] == 0xa5a5a5a5a5a5a5a5u, "[%d]", k);
        MUST(room[3].ext.fields == 0xa5a5a5a5a5a5a5a5u, "beyond n");
        OK(vbn_cq_poll_ext(cq, 0, &room[0].ext, sizeof(room[0]), &n));
        MUST(!n, "%u of none", n);
        null.set_poll_n(0);
        n = 77;
        OK(vbn_cq_poll_ext(cq, 3, &room[0].ext, sizeof(room[0]), &n));
        MUST(!n, "%u of an empty queue", n);
        OK(vbn_cq_close(&cq));
    }
    end_poll();
}

/* libefa answers EINVAL to a completion of a queue pair that is gone: passed over and counted. Other failures are told, after what was found. */
static void stale_completions(void)
{
    NEW(vbn_cq_info, info);
    vbn_wc_ext got[4];
    uint32_t n;
    vbn_cq *cq;

    begin_poll();
    cq = cq_with(VBN_WC_EX_STANDARD);
    null.set_poll_n(4);
    null.fail("ibv_start_poll", 1, EINVAL);
    null.fail("ibv_start_poll", 2, EINVAL);
    null.fail("ibv_next_poll", 1, EINVAL);
    OK(vbn_cq_poll_ext(cq, 4, got, sizeof(got[0]), &n));
    OK(vbn_cq_query(cq, &info));
    MUST(n == 4 && info.skipped == 3, "%u completions, %llu skipped", n, (unsigned long long)info.skipped);
    null.fail("ibv_next_poll", 2, EIO);
    OK(vbn_cq_poll_ext(cq, 4, got, sizeof(got[0]), &n));
    MUST(n == 2, "%u completions before the failure", n);
    null.fail("ibv_start_poll", 1, EIO);
    n = 77;
    WANT(vbn_cq_poll_ext(cq, 4, got, sizeof(got[0]), &n), VBN_ERR_DRIVER);
    WANT_ERRNO(EIO);
    MUST(!n, "got is %u", n);
    stats();
    OK(vbn_cq_close(&cq));
    end_poll();
}

/* A failure behind the first completion ends the call, which returns those before it. It is the provider's to tell it again or to go on. */
static void failures_between(void)
{
    vbn_wc_ext got[4];
    uint32_t n;
    vbn_cq *cq;

    begin_poll();
    cq = cq_with(VBN_WC_EX_STANDARD);
    null.set_poll_n(4);
    for (int again = 0; again <= 2; again++) {
        null.fail("ibv_next_poll", 3, EIO);
        for (int i = 0; i < again; i++)
            null.fail("ibv_start_poll", 2 + (unsigned)i, EIO);
        OK(vbn_cq_poll_ext(cq, 4, got, sizeof(got[0]), &n));
        MUST(n == 3, "%u completions before the failure", n);
        for (int i = 0; i < again; i++) {
            n = 77;
            WANT(vbn_cq_poll_ext(cq, 4, got, sizeof(got[0]), &n), VBN_ERR_DRIVER);
            WANT_ERRNO(EIO);
            MUST(!n, "%u completions with the failure", n);
        }
        OK(vbn_cq_poll_ext(cq, 4, got, sizeof(got[0]), &n));
        MUST(n == 4, "%u completions after the failure", n);
    }
    stats();
    OK(vbn_cq_close(&cq));
    end_poll();
}

/* ---- What libefa is told ---- */

static void creation(void)
{
    struct nullv_efa_create told;
    struct ibv_qp_init_attr_ex init;
    NEW(vbn_qp_init_attr, qp);

    begin();
    MUST(!null.last_create_efa(&told) && told.inlen == 16 && !told.flags && !told.sl, "%u bytes, flags %u", told.inlen, told.flags);
    MUST(!null.last_create_qp(&init) && init.qp_type == IBV_QPT_DRIVER && init.send_ops_flags == 31, "ops 0x%llx", (unsigned long long)init.send_ops_flags);
    OK(vbn_qp_close(&s.qp));
    qp.send_cq = s.cq;
    qp.qp_type = VBN_QPT_SRD;
    qp.sl = 8;
    qp.flags = VBN_QP_INLINE_WRITE | VBN_QP_PROCESSING_HINTS;
    OK(vbn_qp_create(s.pd, &qp, &s.qp));
    MUST(!null.last_create_efa(&told) && told.inlen == 24 && told.flags == 2 && told.sl == 8 && told.wr_flags == 1, "%u bytes", told.inlen);
    OK(vbn_qp_close(&s.qp));
    /* An unsolicited completion could not be told from others. */
    qp.flags = VBN_QP_UNSOLICITED_WRITE_RECV;
    WANT(vbn_qp_create(s.pd, &qp, &s.qp), VBN_ERR_ARGUMENT);
    WANT_TEXT("recv_cq");
    qp.recv_cq = cq_with(VBN_WC_EX_STANDARD | VBN_WC_EX_UNSOLICITED);
    OK(vbn_qp_create(s.pd, &qp, &s.qp));
    MUST(!null.last_create_efa(&told) && told.flags == 1, "flags %u", told.flags);
    OK(vbn_cq_close(&qp.recv_cq));
    end();
}

/* A device without WRITE: SEND and READ work, WRITE is refused, and by name. */
static void read_only_device(void)
{
    null_begin();
    null.efa_attr()->device_caps = NULLV_EFA_READ;
    memset(&s, 0, sizeof(s));
    open_efa();
    {
        NEW(vbn_cq_attr, cq);
        NEW(vbn_qp_init_attr, qp);

        cq.cqe = 16;
        OK(vbn_cq_create(s.context, &cq, &s.cq));
        qp.send_cq = s.cq;
        qp.qp_type = VBN_QPT_SRD;
        qp.send_ops = VBN_QP_OP_RDMA_WRITE;
        WANT(vbn_qp_create(s.pd, &qp, &s.qp), VBN_ERR_NOT_SUPPORTED);
        qp.send_ops = 0;
        OK(vbn_qp_create(s.pd, &qp, &s.qp));
    }
    s.qpn = vbn_qp_num(s.qp);
    s.peers[0] = peer_of(s.pd, 1, 0x50);
    null.set_walk(1);
    fill(0, 0);
    for (uint32_t n = 1; n < 3; n++) {
        null.stats_reset();
        WANT(vbn_qp_post_send(s.qp, wrs, n, &posted), VBN_ERR_NOT_SUPPORTED);
        MUST(!posted && !stats().send.wrs, "posted %u", posted);
    }
    fill(1, 0);
    OK(vbn_qp_post_send(s.qp, wrs, 2, &posted));
    MUST(posted == 2 && stats().send.wrs == 2, "posted %u", posted);
    OK(vbn_peer_close(&s.peers[0]));
    OK(vbn_qp_close(&s.qp));
    OK(vbn_cq_close(&s.cq));
    end_poll();
}

static const struct test tests[] = {
    {"every_operation", every_operation},
    {"lists_inline_and_hints", lists_inline_and_hints},
    {"mistakes_are_named", mistakes_are_named},
    {"full_queue", full_queue},
    {"failing_sessions", failing_sessions},
    {"receives", receives},
    {"every_set_of_fields", every_set_of_fields},
    {"values_of_completions", values_of_completions},
    {"strides", strides},
    {"stale_completions", stale_completions},
    {"failures_between", failures_between},
    {"creation", creation},
    {"read_only_device", read_only_device},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_srd", tests, argc, argv);
}
