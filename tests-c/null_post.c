/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Posting: what reaches the provider, field by field, and what becomes of its refusals. */
#include <arpa/inet.h>
#include <limits.h>
#include "null_help.h"

enum { MOST = 200 };

static struct rig g;
static vbn_send_wr sends[MOST];
static vbn_recv_wr recvs[MOST];
static vbn_sge lists[MOST][4];
static uint32_t posted;

/* Only requests with their built-in segment, which the library has a shorter way for. */
static int common;

/* Good requests of every kind in turn, no two alike. */
static void fill(void)
{
    static const uint32_t opcodes[] = {VBN_WR_SEND, VBN_WR_SEND_WITH_IMM, VBN_WR_RDMA_WRITE, VBN_WR_RDMA_WRITE_WITH_IMM, VBN_WR_RDMA_READ};

    memset(sends, 0, sizeof(sends));
    memset(recvs, 0, sizeof(recvs));
    for (uint32_t i = 0; i < MOST; i++) {
        vbn_send_wr *s = &sends[i];
        vbn_recv_wr *r = &recvs[i];

        for (uint32_t k = 0; k < 4; k++)
            lists[i][k] = (vbn_sge){.addr = 0x100000 * (i + 1) + k * 0x100, .length = i * 8 + k, .lkey = 0x8000 + i * 4 + k};
        s->wr_id = 0xffffffff00000000u + i;
        s->opcode = opcodes[i % ARRAY_SIZE(opcodes)];
        s->flags = i % 8;
        s->remote_addr = 0xfedcba9876543210u + i;
        s->rkey = 0x90000000u + i;
        s->imm = 0x01020304u + i;
        r->wr_id = 0xeeeeeeee00000000u + i;
        /* The built-in segment; a list of 1, 3 and 4; none at all, with and without a list. */
        switch (common ? 0 : i % 6) {
        case 0: s->num_sge = 1; s->sge = lists[i][0]; break;
        case 1: s->num_sge = 1; s->sg_list = lists[i]; break;
        case 2: s->num_sge = 3; s->sg_list = lists[i]; break;
        case 3: s->num_sge = 4; s->sg_list = lists[i]; break;
        case 4: s->num_sge = 0; break;
        default: s->num_sge = 0; s->sg_list = lists[i]; break;
        }
        r->num_sge = s->num_sge;
        r->sg_list = s->sg_list;
        r->sge = s->sge;
        /* Nobody looks at what is reserved, nor at the segment beside a list. */
        memset(s->reserved, 0xff, sizeof(s->reserved));
        s->compare_add = s->swap = r->reserved1 = UINT64_MAX;
        s->invalidate_rkey = s->remote_srqn = r->reserved0 = UINT32_MAX;
        if (s->sg_list)
            s->sge = r->sge = (vbn_sge){UINT64_MAX, UINT32_MAX, UINT32_MAX};
    }
}

static void same_segments(const struct nullv_wr *got, uint32_t i)
{
    const vbn_sge *list = sends[i].sg_list ? sends[i].sg_list : &sends[i].sge;

    MUST(got->num_sge == sends[i].num_sge, "[%u] has %u segments, not %u", i, got->num_sge, sends[i].num_sge);
    for (uint32_t k = 0; k < got->num_sge; k++)
        MUST(got->sge[k].addr == list[k].addr && got->sge[k].length == list[k].length && got->sge[k].lkey == list[k].lkey,
             "[%u] segment %u differs", i, k);
}

/* The request with number `back`, counted from the latest, must be what sends[i] asked for. */
static void same_send(unsigned back, uint32_t i)
{
    const vbn_send_wr *want = &sends[i];
    int remote = want->opcode == VBN_WR_RDMA_WRITE || want->opcode == VBN_WR_RDMA_WRITE_WITH_IMM || want->opcode == VBN_WR_RDMA_READ;
    int imm = want->opcode == VBN_WR_SEND_WITH_IMM || want->opcode == VBN_WR_RDMA_WRITE_WITH_IMM;
    struct nullv_wr got;

    MUST(!null.posted(back, &got), "[%u] didn't reach the provider", i);
    MUST(got.wr_id == want->wr_id, "[%u] wr_id 0x%llx", i, (unsigned long long)got.wr_id);
    MUST(got.opcode == want->opcode, "[%u] opcode %u, not %u", i, got.opcode, want->opcode);
    MUST(got.flags == want->flags, "[%u] flags 0x%x, not 0x%llx", i, got.flags, (unsigned long long)want->flags);
    MUST(got.imm == (imm ? htonl(want->imm) : 0), "[%u] imm 0x%x on the wire", i, got.imm);
    MUST(got.remote_addr == (remote ? want->remote_addr : 0), "[%u] remote_addr 0x%llx", i, (unsigned long long)got.remote_addr);
    MUST(got.rkey == (remote ? want->rkey : 0), "[%u] rkey 0x%x", i, got.rkey);
    MUST(got.qp_num == g.qpn && !got.is_recv && !got.via_wr_api && !got.inlined, "[%u] other", i);
    same_segments(&got, i);
}

static void same_recv(unsigned back, uint32_t i)
{
    struct nullv_wr got;

    MUST(!null.posted(back, &got), "[%u] didn't reach the provider", i);
    MUST(got.wr_id == recvs[i].wr_id && got.is_recv && got.qp_num == g.qpn, "[%u] wr_id 0x%llx", i, (unsigned long long)got.wr_id);
    same_segments(&got, i);
}

static struct nullv_stats stats(void)
{
    struct nullv_stats s;

    null.stats(&s);
    MUST(!s.misuse, "misuse: %s", null.last_misuse());
    return s;
}

static void begin(void)
{
    null_begin();
    g = rig_open();
    null.set_walk(1);
    fill();
}

static void end(void)
{
    rig_close(&g);
    null_clean();
}

static const uint32_t counts[] = {1, 2, 31, 32, 33, 64, 65, 100, MOST};

static void sends_arrive(void)
{
    begin();
    for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
        uint32_t n = counts[c];

        null.stats_reset();
        posted = 77;
        OK(vbn_qp_post_send(g.qp, sends, n, &posted));
        MUST(posted == n, "posted %u of %u", posted, n);
        MUST(stats().send.wrs == n && stats().send.calls == (n + 31) / 32, "%llu requests in %llu calls",
             (unsigned long long)stats().send.wrs, (unsigned long long)stats().send.calls);
        for (uint32_t i = 0; i < n; i++)
            same_send(n - 1 - i, i);
    }
    end();
}

static void recvs_arrive(void)
{
    begin();
    for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
        uint32_t n = counts[c];

        null.stats_reset();
        posted = 77;
        OK(vbn_qp_post_recv(g.qp, recvs, n, &posted));
        MUST(posted == n, "posted %u of %u", posted, n);
        MUST(stats().recv.wrs == n && stats().recv.calls == (n + 31) / 32, "%llu requests in %llu calls",
             (unsigned long long)stats().recv.wrs, (unsigned long long)stats().recv.calls);
        for (uint32_t i = 0; i < n; i++)
            same_recv(n - 1 - i, i);
    }
    end();
}

/* Inline data goes by the flag; the provider reads the bytes. A list of 3, and the built-in segment. */
static void inline_arrives(void)
{
    static const char data[] = "sixty-four bytes of inline data, more or less, in three parts..";
    struct nullv_wr got[2];
    vbn_sge parts[3];

    begin();
    for (int k = 0; k < 3; k++)
        parts[k] = (vbn_sge){.addr = (uintptr_t)data + (unsigned)k * 20, .length = k < 2 ? 20 : 24};
    memset(sends, 0, sizeof(sends));
    sends[0] = (vbn_send_wr){.opcode = VBN_WR_SEND, .flags = VBN_SEND_INLINE | VBN_SEND_SIGNALED, .num_sge = 3, .sg_list = parts};
    sends[1] = (vbn_send_wr){.opcode = VBN_WR_SEND, .flags = VBN_SEND_INLINE, .num_sge = 1, .sge = {(uintptr_t)data, 64, 0}};
    OK(vbn_qp_post_send(g.qp, sends, 2, &posted));
    for (unsigned back = 0; back < 2; back++) {
        MUST(!null.posted(back, &got[back]), "not there");
        MUST(got[back].inlined && got[back].bytes == 64, "inlined %u, %llu bytes", got[back].inlined, (unsigned long long)got[back].bytes);
    }
    MUST(got[0].inline_hash == got[1].inline_hash, "the three parts and the whole are different bytes");
    MUST(got[1].flags == VBN_SEND_SIGNALED, "flags 0x%x", got[1].flags);
    sends[1].sge.length = 65;
    WANT(vbn_qp_post_send(g.qp, sends, 2, &posted), VBN_ERR_LIMIT);
    WANT_NUMBERS(65, 64);
    MUST(last()->index == 1 && !posted, "index and posted");
    end();
}

/* ---- Refusals by validation: posted is 0, the index is that of the wrong one, and nothing reaches the provider ---- */

struct mistake {
    const char *what;
    vbn_status status;
    void (*make)(vbn_send_wr *wr);
    uint64_t value, limit;
};

static char three_sges[64];

static void unknown_flag(vbn_send_wr *wr) { wr->flags = 16; }
static void unknown_high_flag(vbn_send_wr *wr) { wr->flags = 1ull << 32; }
static void tso_opcode(vbn_send_wr *wr) { wr->opcode = 10; }
static void opcode_64(vbn_send_wr *wr) { wr->opcode = 64; }
static void opcode_huge(vbn_send_wr *wr) { wr->opcode = UINT32_MAX; }
static void own_opcode(vbn_send_wr *wr) { wr->opcode = 0x10000; }
static void five_segments(vbn_send_wr *wr) { wr->num_sge = 5; wr->sg_list = (vbn_sge *)(void *)three_sges; }
static void endless_segments(vbn_send_wr *wr) { wr->num_sge = UINT32_MAX; }
static void two_without_list(vbn_send_wr *wr) { wr->num_sge = 2; wr->sg_list = NULL; }
static void too_long(vbn_send_wr *wr) { wr->num_sge = 1; wr->sg_list = NULL; wr->sge.length = (1u << 30) + 1; }
static void too_long_together(vbn_send_wr *wr)
{
    static const vbn_sge two[2] = {{0, 1u << 30, 0}, {0, 1, 0}};

    wr->num_sge = 2;
    wr->sg_list = two;
}
static void inline_read(vbn_send_wr *wr) { wr->opcode = VBN_WR_RDMA_READ; wr->flags = VBN_SEND_INLINE; wr->num_sge = 0; }
static void inline_long(vbn_send_wr *wr)
{
    wr->opcode = VBN_WR_SEND;
    wr->flags = VBN_SEND_INLINE;
    wr->num_sge = 1;
    wr->sg_list = NULL;
    wr->sge.length = 65;
}
static void misaligned_list(vbn_send_wr *wr) { wr->num_sge = 2; wr->sg_list = (vbn_sge *)(void *)(three_sges + 1); }

static const struct mistake mistakes[] = {
    {"flag 16", VBN_ERR_ARGUMENT, unknown_flag, 16, 15},
    {"flag 2^32", VBN_ERR_ARGUMENT, unknown_high_flag, 1ull << 32, 15},
    {"opcode 10", VBN_ERR_NOT_SUPPORTED, tso_opcode, 10, 0},
    {"opcode 64", VBN_ERR_NOT_SUPPORTED, opcode_64, 64, 0},
    {"opcode 2^32-1", VBN_ERR_NOT_SUPPORTED, opcode_huge, UINT32_MAX, 0},
    {"opcode 0x10000", VBN_ERR_NOT_SUPPORTED, own_opcode, 0x10000, 0},
    {"5 segments", VBN_ERR_LIMIT, five_segments, 5, 4},
    {"2^32-1 segments", VBN_ERR_LIMIT, endless_segments, UINT32_MAX, 4},
    {"2 segments without a list", VBN_ERR_ARGUMENT, two_without_list, 0, 0},
    {"message too long", VBN_ERR_LIMIT, too_long, (1u << 30) + 1, 1u << 30},
    {"two segments that are too long together", VBN_ERR_LIMIT, too_long_together, (1u << 30) + 1, 1u << 30},
    {"inline READ", VBN_ERR_ARGUMENT, inline_read, 0, 0},
    {"inline data too long", VBN_ERR_LIMIT, inline_long, 65, 64},
    {"misaligned list", VBN_ERR_ARGUMENT, misaligned_list, 0, 0},
};

static void refused(const char *what, const char *op, vbn_status status, vbn_status want, uint32_t n, uint32_t at)
{
    null_want(__FILE__, __LINE__, what, op, status, want);
    MUST(posted == 0, "%s, %u of %u: posted is %u", what, at, n, posted);
    MUST(last()->index == at, "%s, %u of %u: the record's index is %llu", what, at, n, (unsigned long long)last()->index);
    MUST(!stats().send.calls && !stats().recv.calls, "%s, %u of %u: the provider was called", what, at, n);
}

static void wrong_send(const struct mistake *m, uint32_t n, uint32_t at)
{
    vbn_send_wr kept = sends[at];

    m->make(&sends[at]);
    null.stats_reset();
    posted = 77;
    refused(m->what, "vbn_qp_post_send", vbn_qp_post_send(g.qp, sends, n, &posted), m->status, n, at);
    WANT_NUMBERS(m->value, m->limit);
    sends[at] = kept;
}

static void wrong_sends_are_refused(void)
{
    begin();
    for (size_t k = 0; k < ARRAY_SIZE(mistakes); k++)
        for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
            uint32_t n = counts[c];

            wrong_send(&mistakes[k], n, 0);
            wrong_send(&mistakes[k], n, n / 2);
            wrong_send(&mistakes[k], n, n - 1);
        }
    end();
}

/* Of two wrong ones the first is named. */
static void the_first_wrong_one_is_named(void)
{
    begin();
    five_segments(&sends[70]);
    unknown_flag(&sends[40]);
    refused("two wrong ones", "vbn_qp_post_send", vbn_qp_post_send(g.qp, sends, 100, &posted), VBN_ERR_ARGUMENT, 100, 40);
    end();
}

static void wrong_recvs_are_refused(void)
{
    begin();
    for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
        for (uint32_t at = 0; at < counts[c]; at += counts[c] > 1 ? counts[c] - 1 : 1) {
            uint32_t n = counts[c];

            fill();
            null.stats_reset();
            recvs[at].flags = 1;
            refused("flags", "vbn_qp_post_recv", vbn_qp_post_recv(g.qp, recvs, n, &posted), VBN_ERR_ARGUMENT, n, at);
            fill();
            recvs[at].num_sge = 5;
            refused("5 segments", "vbn_qp_post_recv", vbn_qp_post_recv(g.qp, recvs, n, &posted), VBN_ERR_LIMIT, n, at);
            WANT_NUMBERS(5, 4);
            fill();
            recvs[at].num_sge = 2;
            recvs[at].sg_list = NULL;
            refused("2 without list", "vbn_qp_post_recv", vbn_qp_post_recv(g.qp, recvs, n, &posted), VBN_ERR_ARGUMENT, n, at);
        }
    end();
}

/* A queue pair that was made for SEND alone refuses the rest by itself. */
static void send_ops_are_kept(void)
{
    NEW(vbn_qp_init_attr, attr);
    vbn_qp *qp;

    begin();
    attr.send_cq = g.cq;
    attr.send_ops = VBN_QP_OP_SEND;
    attr.max_send_sge = 4;
    OK(vbn_qp_create(g.pd, &attr, &qp));
    for (uint32_t i = 0; i < 5; i++) {
        null.stats_reset();
        if (sends[i].opcode == VBN_WR_SEND) {
            OK(vbn_qp_post_send(qp, &sends[i], 1, &posted));
            continue;
        }
        refused("operation that the queue pair lacks", "vbn_qp_post_send", vbn_qp_post_send(qp, &sends[i], 1, &posted),
                VBN_ERR_NOT_SUPPORTED, 1, 0);
    }
    OK(vbn_qp_close(&qp));
    end();
}

/* ---- Refusals by the provider ---- */

/* `accept` requests are taken and the next one refused, named or not. */
static void provider_refuses(int recv, uint32_t n, uint32_t accept, int err, int named, vbn_status want)
{
    const char *op = recv ? "vbn_qp_post_recv" : "vbn_qp_post_send";
    /* Unnamed, everything handed over so far counts: whole batches of 32. */
    uint32_t unsure = (accept / 32 + 1) * 32 < n ? (accept / 32 + 1) * 32 : n;
    vbn_status status;

    null.stats_reset();
    null.fail_post(accept, err, named);
    posted = 77;
    errno = ERANGE;
    status = recv ? vbn_qp_post_recv(g.qp, recvs, n, &posted) : vbn_qp_post_send(g.qp, sends, n, &posted);
    null_want(__FILE__, __LINE__, "refused by the provider", op, status, want);
    MUST(posted == (named ? accept : unsure), "n %u, accepted %u, errno %d, %s: posted is %u", n, accept, err,
         named ? "named" : "not named", posted);
    MUST((recv ? stats().recv.wrs : stats().send.wrs) == accept, "the provider took %llu, not %u",
         (unsigned long long)(recv ? stats().recv.wrs : stats().send.wrs), accept);
    WANT_ERRNO(err == -1 ? ERANGE : err < 0 ? -err : err);
    MUST(last()->index == (named ? accept : VBN_INDEX_NONE), "the record's index is %llu", (unsigned long long)last()->index);
    if (want == VBN_ERR_QUEUE_FULL)
        WANT_TEXT("full");
    /* What is left can be posted. */
    if (named) {
        uint32_t rest = posted;

        status = recv ? vbn_qp_post_recv(g.qp, recvs + rest, n - rest, &posted) : vbn_qp_post_send(g.qp, sends + rest, n - rest, &posted);
        MUST(!status && posted == n - rest, "the rest: %s, %u of %u", vbn_status_name(status), posted, n - rest);
        for (uint32_t i = 0; i < n; i++)
            recv ? same_recv(n - 1 - i, i) : same_send(n - 1 - i, i);
    }
}

static void every_place(int err, int named, vbn_status want)
{
    begin();
    for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
        for (int recv = 0; recv < 2; recv++) {
            uint32_t n = counts[c];

            provider_refuses(recv, n, 0, err, named, want);
            provider_refuses(recv, n, n / 2, err, named, want);
            provider_refuses(recv, n, n - 1, err, named, want);
            if (n > 33) {
                provider_refuses(recv, n, 31, err, named, want);
                provider_refuses(recv, n, 32, err, named, want);
                provider_refuses(recv, n, 33, err, named, want);
            }
        }
    end();
}

static void enomem_named(void) { every_place(ENOMEM, 1, VBN_ERR_QUEUE_FULL); }
static void eagain_named(void) { every_place(EAGAIN, 1, VBN_ERR_QUEUE_FULL); }
static void enospc_named(void) { every_place(ENOSPC, 1, VBN_ERR_QUEUE_FULL); }
static void einval_named(void) { every_place(EINVAL, 1, VBN_ERR_DRIVER); }
static void eopnotsupp_named(void) { every_place(EOPNOTSUPP, 1, VBN_ERR_NOT_SUPPORTED); }
static void enodev_named(void) { every_place(ENODEV, 1, VBN_ERR_DEVICE_GONE); }
static void minus_one_named(void) { every_place(-1, 1, VBN_ERR_DRIVER); }
static void minus_einval_named(void) { every_place(-EINVAL, 1, VBN_ERR_DRIVER); }
static void minus_enomem_named(void) { every_place(-ENOMEM, 1, VBN_ERR_QUEUE_FULL); }
static void enomem_unnamed(void) { every_place(ENOMEM, 0, VBN_ERR_UNCERTAIN); }
static void einval_unnamed(void) { every_place(EINVAL, 0, VBN_ERR_UNCERTAIN); }
static void minus_one_unnamed(void) { every_place(-1, 0, VBN_ERR_UNCERTAIN); }

/* Room for 50: the longest prefix goes in, whatever the batches. */
static void a_full_queue_takes_the_longest_prefix(void)
{
    begin();
    for (long room = 0; room < 70; room++) {
        null.stats_reset();
        null.set_room(room);
        WANT(vbn_qp_post_send(g.qp, sends, 100, &posted), VBN_ERR_QUEUE_FULL);
        MUST(posted == room && (long)stats().send.wrs == room, "room %ld: posted %u, taken %llu", room, posted,
             (unsigned long long)stats().send.wrs);
        MUST((long)last()->index == room, "index");
        WANT_ERRNO(ENOMEM);
        WANT_NUMBERS(512, 512);
        for (uint32_t i = 0; i < posted; i++)
            same_send(posted - 1 - i, i);
    }
    null.set_room(-1);
    end();
}

/* Requests made for another queue pair's handle: `posted` is 0 even if the handle is bad. */
static void posted_is_always_written(void)
{
    vbn_qp *stale;

    begin();
    stale = g.qp;
    posted = 77;
    WANT(vbn_qp_post_send((vbn_qp *)(void *)g.cq, sends, 3, &posted), VBN_ERR_ARGUMENT);
    MUST(!posted, "posted");
    OK(vbn_qp_close(&g.qp));
    posted = 77;
    WANT(vbn_qp_post_recv(stale, recvs, 3, &posted), VBN_ERR_CLOSED);
    MUST(!posted, "posted");
    end();
}

/* Each with a mixture of requests, and with common ones only. */
#define TESTS(X) \
    X(sends_arrive) X(recvs_arrive) X(inline_arrives) X(wrong_sends_are_refused) X(the_first_wrong_one_is_named) \
    X(wrong_recvs_are_refused) X(send_ops_are_kept) X(enomem_named) X(eagain_named) X(enospc_named) X(einval_named) \
    X(eopnotsupp_named) X(enodev_named) X(minus_one_named) X(minus_einval_named) X(minus_enomem_named) X(enomem_unnamed) \
    X(einval_unnamed) X(minus_one_unnamed) X(a_full_queue_takes_the_longest_prefix) X(posted_is_always_written)

#define X(name) \
    static void mixed_##name(void) { common = 0; name(); } \
    static void common_##name(void) { common = 1; name(); }
TESTS(X)
#undef X

static const struct test tests[] = {
#define X(name) {#name, mixed_##name}, {#name "_common", common_##name},
    TESTS(X)
#undef X
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_post", tests, argc, argv);
}
