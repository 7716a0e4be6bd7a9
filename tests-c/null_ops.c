/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Atomics, invalidation, windows, atomic writes and flushes: what reaches the provider, field by field, and what is refused
 * before it does. */
#include "null_help.h"

#define CAP_FLUSH_GLOBAL (1ull << 38)
#define CAP_FLUSH_PERSISTENT (1ull << 39)
#define CAP_ATOMIC_WRITE (1ull << 40)
#define BASIC 0x1full
#define CLASSIC 0x3ffull
#define BOUND_MEMORY ((uintptr_t)rig_memory)

static struct rig g;
static vbn_mr *mr;
static vbn_mw *mw, *mw1;
static uint32_t posted;
static const char eight[8] = "8 bytes!";

static struct nullv_stats stats(void)
{
    struct nullv_stats s;

    null.stats(&s);
    MUST(!s.misuse, "misuse: %s", null.last_misuse());
    return s;
}

/* A region that may carry windows, and a window of each type. */
static void begin(void)
{
    uint64_t access = VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_MW_BIND;

    g = rig_open();
    OK(vbn_mr_reg(g.pd, rig_memory, sizeof(rig_memory), access, NULL, &mr));
    OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_2, NULL, &mw));
    OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &mw1));
    null.set_walk(1);
}

static void end(void)
{
    OK(vbn_mw_close(&mw));
    OK(vbn_mw_close(&mw1));
    OK(vbn_mr_close(&mr));
    rig_close(&g);
    null_clean();
}

static vbn_qp *queue_pair(uint64_t send_ops, int32_t post_path)
{
    NEW(vbn_qp_init_attr, attr);
    vbn_qp *qp;

    attr.send_cq = g.cq;
    attr.send_ops = send_ops;
    attr.post_path = post_path;
    attr.max_send_sge = 4;
    attr.max_inline_data = 64;
    attr.max_send_wr = 512;
    OK(vbn_qp_create(g.pd, &attr, &qp));
    return qp;
}

static vbn_bind_mw_ext bind_ext(void)
{
    return (vbn_bind_mw_ext){.mw = mw, .mr = mr, .addr = BOUND_MEMORY + 64, .length = 100, .access = VBN_ACCESS_REMOTE_WRITE};
}

/* A good request of an operation; what it has no use for is full of noise. */
static vbn_send_wr good(uint32_t opcode, uint64_t wr_id)
{
    static vbn_bind_mw_ext bind;
    static vbn_flush_ext flush = {.length = 5ull << 32, .type = VBN_FLUSH_GLOBAL, .level = VBN_FLUSH_RANGE};
    vbn_send_wr wr;

    memset(&wr, 0xee, sizeof(wr));
    bind = bind_ext();
    wr.wr_id = wr_id;
    wr.flags = VBN_SEND_SIGNALED | VBN_SEND_FENCE;
    wr.opcode = opcode;
    wr.num_sge = 1;
    wr.sg_list = NULL;
    wr.sge = (vbn_sge){0x1000 + wr_id * 8, 8, 0x77};
    wr.remote_addr = 0xfedcba9876543210u + 8 * wr_id;
    wr.rkey = 0x90000000u + (uint32_t)wr_id;
    wr.imm = 0x01020304;
    wr.invalidate_rkey = 0xabcd0000u + (uint32_t)wr_id;
    wr.compare_add = 0x1122334455667788u + wr_id;
    wr.swap = 0x99aabbccddeeff00u + wr_id;
    if (opcode == VBN_WR_LOCAL_INV || opcode == VBN_WR_BIND_MW || opcode == VBN_WR_FLUSH || opcode == VBN_WR_ATOMIC_WRITE)
        wr.num_sge = 0;
    if (opcode == VBN_WR_BIND_MW)
        wr.ext = &bind;
    if (opcode == VBN_WR_FLUSH)
        wr.ext = &flush;
    if (opcode == VBN_WR_ATOMIC_WRITE)
        wr.ext = eight;
    return wr;
}

/* The request `back` before the latest is `want` as libibverbs knows it. `key`: a bind's. */
static void same(unsigned back, const vbn_send_wr *want, vbn_qp *qp, int via_wr_api, uint32_t key)
{
    uint32_t op = want->opcode;
    int atomic = op == VBN_WR_ATOMIC_CMP_AND_SWP || op == VBN_WR_ATOMIC_FETCH_AND_ADD;
    int remote = op <= VBN_WR_RDMA_WRITE_WITH_IMM || op == VBN_WR_RDMA_READ || atomic || op == VBN_WR_ATOMIC_WRITE || op == VBN_WR_FLUSH;
    int invalidates = op == VBN_WR_LOCAL_INV || op == VBN_WR_SEND_WITH_INV;
    struct ibv_mw *native_mw;
    struct ibv_mr *native_mr;
    struct nullv_wr got;

    MUST(!null.posted(back, &got), "request %llu didn't arrive", (unsigned long long)want->wr_id);
    MUST(got.wr_id == want->wr_id && got.opcode == op, "wr_id %llu, opcode %u; not %llu, %u", (unsigned long long)got.wr_id,
         got.opcode, (unsigned long long)want->wr_id, op);
    MUST(got.qp_num == vbn_qp_num(qp) && got.via_wr_api == via_wr_api, "[%u] queue pair, or way %u", op, got.via_wr_api);
    MUST(got.flags == want->flags, "[%u] flags 0x%x", op, got.flags);
    MUST(got.remote_addr == (remote ? want->remote_addr : 0) && got.rkey == (remote ? want->rkey : 0), "[%u] remote_addr or rkey", op);
    MUST(got.compare_add == (atomic ? want->compare_add : 0), "[%u] compare_add", op);
    MUST(got.swap == (op == VBN_WR_ATOMIC_CMP_AND_SWP ? want->swap : 0), "[%u] swap", op);
    MUST(!invalidates || got.imm == want->invalidate_rkey, "[%u] invalidate_rkey 0x%x", op, got.imm);
    if (op == VBN_WR_BIND_MW) {
        const vbn_bind_mw_ext *ext = want->ext;

        OK(vbn_mw_native(ext->mw, &native_mw));
        OK(vbn_mr_native(ext->mr, &native_mr));
        MUST(got.mw == native_mw && got.bind.mr == native_mr && got.mw_rkey == key, "bind: objects, or key 0x%x, not 0x%x", got.mw_rkey, key);
        MUST(got.bind.addr == ext->addr && got.bind.length == ext->length && got.bind.mw_access_flags == ext->access, "bind: range or access");
    }
    if (op == VBN_WR_FLUSH) {
        const vbn_flush_ext *ext = want->ext;

        MUST(got.flush_length == ext->length && got.flush_type == ext->type && got.flush_level == ext->level, "flush: fields");
    }
    if (op == VBN_WR_ATOMIC_WRITE) {
        MUST(got.inlined && got.bytes == 8 && !got.num_sge, "atomic write: %llu bytes", (unsigned long long)got.bytes);
    } else {
        MUST(got.num_sge == want->num_sge, "[%u] %u segments", op, got.num_sge);
        MUST(!got.num_sge || !memcmp(&got.sge[0], &want->sge, sizeof(want->sge)), "[%u] the segment", op);
    }
}

/* Every operation of `ops`, in `count` requests, one call. */
static void arrive(vbn_qp *qp, const uint32_t *ops, size_t num_ops, uint32_t count, int via_wr_api, uint64_t wr_only)
{
    vbn_send_wr wrs[100];
    uint32_t keys[100], key = vbn_mw_rkey(mw);

    for (uint32_t i = 0; i < count; i++) {
        wrs[i] = good(ops[i % num_ops], i);
        if (wrs[i].opcode == VBN_WR_BIND_MW)
            key = (key & ~0xffu) | ((key + 1) & 0xff);
        keys[i] = key;
    }
    null.stats_reset();
    posted = 777;
    OK(vbn_qp_post_send(qp, wrs, count, &posted));
    MUST(posted == count && stats().send.wrs == count, "posted %u of %u", posted, count);
    for (uint32_t i = 0; i < count; i++)
        same(count - 1 - i, &wrs[i], qp, via_wr_api || wr_only >> wrs[i].opcode & 1, keys[i]);
    MUST(vbn_mw_rkey(mw) == key, "the window's key is 0x%x, not 0x%x", vbn_mw_rkey(mw), key);
}

static const uint32_t classic[] = {
    VBN_WR_SEND, VBN_WR_ATOMIC_CMP_AND_SWP, VBN_WR_ATOMIC_FETCH_AND_ADD, VBN_WR_LOCAL_INV, VBN_WR_BIND_MW, VBN_WR_SEND_WITH_INV,
    VBN_WR_RDMA_WRITE,
};
static const uint32_t with_new[] = {
    VBN_WR_RDMA_WRITE, VBN_WR_ATOMIC_WRITE, VBN_WR_FLUSH, VBN_WR_SEND, VBN_WR_BIND_MW, VBN_WR_FLUSH, VBN_WR_ATOMIC_FETCH_AND_ADD,
};
static const uint32_t counts[] = {1, 2, 3, 5, 7, 31, 32, 33, 65, 100};

/* By ibv_post_send, alone and mixed with plain requests. */
static void requests_arrive(void)
{
    null_begin();
    begin();
    for (size_t k = 0; k < ARRAY_SIZE(classic); k++)
        arrive(g.qp, &classic[k], 1, 40, 0, 0);
    for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
        arrive(g.qp, classic, ARRAY_SIZE(classic), counts[c], 0, 0);
    end();
}

/* By ibv_wr_*, where that is asked for. */
static void by_wr_api(void)
{
    vbn_qp *qp;

    null_begin();
    null.device_attr()->device_cap_flags_ex |= CAP_FLUSH_GLOBAL | CAP_ATOMIC_WRITE;
    begin();
    qp = queue_pair(CLASSIC | VBN_QP_OP_FLUSH | VBN_QP_OP_ATOMIC_WRITE, VBN_POST_PATH_WR);
    for (size_t k = 0; k < ARRAY_SIZE(classic); k++)
        arrive(qp, &classic[k], 1, 40, 1, 0);
    for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
        arrive(qp, classic, ARRAY_SIZE(classic), counts[c], 1, 0);
        arrive(qp, with_new, ARRAY_SIZE(with_new), counts[c], 1, 0);
    }
    OK(vbn_qp_close(&qp));
    /* Without asking there are the first five alone. */
    qp = queue_pair(0, VBN_POST_PATH_WR);
    {
        NEW(vbn_qp_info, info);
        OK(vbn_qp_query(qp, &info));
        MUST(info.send_ops == BASIC, "send_ops 0x%llx", (unsigned long long)info.send_ops);
    }
    OK(vbn_qp_close(&qp));
    end();
}

/* Atomic writes and flushes go by ibv_wr_*, and what stands between them still by ibv_post_send, all in order. */
static void two_ways_in_one_call(void)
{
    struct ibv_qp_init_attr_ex made;
    uint64_t wr_only = VBN_QP_OP_FLUSH | VBN_QP_OP_ATOMIC_WRITE;
    vbn_qp *qp;

    null_begin();
    null.device_attr()->device_cap_flags_ex |= CAP_FLUSH_GLOBAL | CAP_ATOMIC_WRITE;
    begin();
    qp = queue_pair(CLASSIC | wr_only, 0);
    MUST(!null.last_create_qp(&made) && made.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, "made without send_ops_flags");
    MUST(made.send_ops_flags == (CLASSIC | 1 << 11 | 1 << 12), "send_ops_flags 0x%llx", (unsigned long long)made.send_ops_flags);
    for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
        arrive(qp, with_new, ARRAY_SIZE(with_new), counts[c], 0, wr_only);
    arrive(qp, &with_new[1], 2, 4, 0, wr_only);
    MUST(stats().send.calls == 1, "%llu calls for four requests of one kind", (unsigned long long)stats().send.calls);
    OK(vbn_qp_close(&qp));
    end();
}

/* An inline SEND_WITH_INV, and results in two segments. */
static void inline_and_lists(void)
{
    vbn_sge two[2] = {{0x100, 5, 1}, {0x200, 3, 2}};
    vbn_send_wr wr;
    struct nullv_wr got;

    null_begin();
    begin();
    wr = good(VBN_WR_SEND_WITH_INV, 1);
    wr.flags = VBN_SEND_INLINE;
    wr.sge = (vbn_sge){(uintptr_t)eight, 8, 0};
    OK(vbn_qp_post_send(g.qp, &wr, 1, &posted));
    MUST(!null.posted(0, &got) && got.inlined && got.bytes == 8 && got.imm == wr.invalidate_rkey, "inline SEND_WITH_INV");
    wr = good(VBN_WR_ATOMIC_FETCH_AND_ADD, 2);
    wr.sg_list = two;
    wr.num_sge = 2;
    OK(vbn_qp_post_send(g.qp, &wr, 1, &posted));
    MUST(!null.posted(0, &got) && got.num_sge == 2 && got.bytes == 8 && got.sge[1].addr == 0x200, "two segments");
    end();
}

/* ---- Refusals ---- */

static vbn_qp *all_ops;
static vbn_pd *other_pd;
static vbn_mr *other_mr, *plain_mr, *read_mr;
static vbn_mw *other_mw;
static vbn_bind_mw_ext ext;
static vbn_flush_ext flush;

struct mistake {
    const char *what;
    uint32_t opcode;
    vbn_status status;
    const char *words;
    void (*make)(vbn_send_wr *wr);
};

static void inlined(vbn_send_wr *wr) { wr->flags |= VBN_SEND_INLINE; }
static void a_segment(vbn_send_wr *wr) { wr->num_sge = 1; }
static void misplaced(vbn_send_wr *wr) { wr->remote_addr += 4; }
static void four_bytes(vbn_send_wr *wr) { wr->sge.length = 4; }
static void nine_bytes(vbn_send_wr *wr) { wr->sge.length = 9; }
static void no_segment(vbn_send_wr *wr) { wr->num_sge = 0; }
static void five_segments(vbn_send_wr *wr) { static vbn_sge list[5]; wr->num_sge = 5; wr->sg_list = list; }
static void no_ext(vbn_send_wr *wr) { wr->ext = NULL; }
static void misaligned_ext(vbn_send_wr *wr) { wr->ext = (char *)&ext + 1; }
static void misaligned_flush(vbn_send_wr *wr) { wr->ext = (char *)&flush + 1; }
static void unknown_flag(vbn_send_wr *wr) { wr->flags |= 16; }
#define EXT(name, change) static void name(vbn_send_wr *wr) { ext = bind_ext(); change; wr->ext = &ext; }
EXT(no_mw, ext.mw = NULL)
EXT(no_mr, ext.mr = NULL)
EXT(not_a_mw, ext.mw = (vbn_mw *)mr)
EXT(not_a_mr, ext.mr = (vbn_mr *)mw)
EXT(misaligned_mw, ext.mw = (vbn_mw *)((char *)mw + 1))
EXT(type_1, ext.mw = mw1)
EXT(foreign_mw, ext.mw = other_mw)
EXT(foreign_mr, ext.mr = other_mr)
EXT(no_windows, ext.mr = plain_mr)
EXT(no_local_write, ext.mr = read_mr)
EXT(unknown_access, ext.access = VBN_ACCESS_LOCAL_WRITE)
EXT(high_access, ext.access = 1ull << 33)
EXT(before_it, ext.addr = BOUND_MEMORY - 1)
EXT(behind_it, (ext.addr = BOUND_MEMORY + sizeof(rig_memory) - 10, ext.length = 11))
EXT(far_behind, (ext.addr = UINT64_MAX, ext.length = 1))
EXT(endless, ext.length = UINT64_MAX)
EXT(nothing, ext.length = 0)
EXT(foreign_key, ext.rkey = vbn_mw_rkey(mw) ^ 0x100)
EXT(reserved, ext.reserved0 = 1)
#define FLUSH(name, change) \
    static void name(vbn_send_wr *wr) { flush = (vbn_flush_ext){.length = 1, .type = VBN_FLUSH_GLOBAL}; change; wr->ext = &flush; }
FLUSH(no_type, flush.type = 0)
FLUSH(unknown_type, flush.type = 4)
FLUSH(persistent, flush.type = VBN_FLUSH_PERSISTENT | VBN_FLUSH_GLOBAL)
FLUSH(unknown_level, flush.level = 2)

static const struct mistake mistakes[] = {
    {"inline", VBN_WR_ATOMIC_CMP_AND_SWP, VBN_ERR_ARGUMENT, "VBN_SEND_INLINE", inlined},
    {"inline", VBN_WR_ATOMIC_FETCH_AND_ADD, VBN_ERR_ARGUMENT, "VBN_SEND_INLINE", inlined},
    {"inline", VBN_WR_LOCAL_INV, VBN_ERR_ARGUMENT, "VBN_SEND_INLINE", inlined},
    {"inline", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "VBN_SEND_INLINE", inlined},
    {"inline", VBN_WR_FLUSH, VBN_ERR_ARGUMENT, "VBN_SEND_INLINE", inlined},
    {"inline", VBN_WR_ATOMIC_WRITE, VBN_ERR_ARGUMENT, "VBN_SEND_INLINE", inlined},
    {"a segment", VBN_WR_LOCAL_INV, VBN_ERR_ARGUMENT, "num_sge 1 is not 0", a_segment},
    {"a segment", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "num_sge 1 is not 0", a_segment},
    {"a segment", VBN_WR_FLUSH, VBN_ERR_ARGUMENT, "num_sge 1 is not 0", a_segment},
    {"a segment", VBN_WR_ATOMIC_WRITE, VBN_ERR_ARGUMENT, "num_sge 1 is not 0", a_segment},
    {"place", VBN_WR_ATOMIC_CMP_AND_SWP, VBN_ERR_ARGUMENT, "a multiple of 8", misplaced},
    {"place", VBN_WR_ATOMIC_FETCH_AND_ADD, VBN_ERR_ARGUMENT, "a multiple of 8", misplaced},
    {"place", VBN_WR_ATOMIC_WRITE, VBN_ERR_ARGUMENT, "a multiple of 8", misplaced},
    {"4 bytes", VBN_WR_ATOMIC_CMP_AND_SWP, VBN_ERR_ARGUMENT, "4 is not 8", four_bytes},
    {"9 bytes", VBN_WR_ATOMIC_FETCH_AND_ADD, VBN_ERR_ARGUMENT, "9 is not 8", nine_bytes},
    {"no segment", VBN_WR_ATOMIC_FETCH_AND_ADD, VBN_ERR_ARGUMENT, "0 is not 8", no_segment},
    {"5 segments", VBN_WR_ATOMIC_FETCH_AND_ADD, VBN_ERR_LIMIT, "max_send_sge", five_segments},
    {"5 segments", VBN_WR_SEND_WITH_INV, VBN_ERR_LIMIT, "max_send_sge", five_segments},
    {"flag 16", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "unknown bits", unknown_flag},
    {"no ext", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "vbn_bind_mw_ext", no_ext},
    {"no ext", VBN_WR_FLUSH, VBN_ERR_ARGUMENT, "vbn_flush_ext", no_ext},
    {"no ext", VBN_WR_ATOMIC_WRITE, VBN_ERR_ARGUMENT, "8 bytes", no_ext},
    {"misaligned ext", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "not aligned", misaligned_ext},
    {"misaligned ext", VBN_WR_FLUSH, VBN_ERR_ARGUMENT, "not aligned", misaligned_flush},
    {"no mw", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "ext->mw is NULL", no_mw},
    {"no mr", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "ext->mr is NULL", no_mr},
    {"a region for a window", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "not a vbn_mw", not_a_mw},
    {"a window for a region", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "not a vbn_mr", not_a_mr},
    {"misaligned mw", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "not a vbn_mw", misaligned_mw},
    {"type 1", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "vbn_mw_bind", type_1},
    {"mw of another PD", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "mw belongs to another protection domain", foreign_mw},
    {"mr of another PD", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "mr belongs to another protection domain", foreign_mr},
    {"without MW_BIND", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "VBN_ACCESS_MW_BIND", no_windows},
    {"without LOCAL_WRITE", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "VBN_ACCESS_LOCAL_WRITE", no_local_write},
    {"access LOCAL_WRITE", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "unknown bits", unknown_access},
    {"access 2^33", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "unknown bits", high_access},
    {"before the region", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "inside the region", before_it},
    {"behind the region", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "length 11 exceeds 10", behind_it},
    {"at the last address", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "inside the region", far_behind},
    {"2^64-1 bytes", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "exceeds", endless},
    {"no bytes", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "VBN_WR_LOCAL_INV", nothing},
    {"a stranger's key", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "low byte", foreign_key},
    {"reserved0", VBN_WR_BIND_MW, VBN_ERR_ARGUMENT, "reserved0", reserved},
    {"no type", VBN_WR_FLUSH, VBN_ERR_ARGUMENT, "VBN_FLUSH_GLOBAL", no_type},
    {"type 4", VBN_WR_FLUSH, VBN_ERR_ARGUMENT, "unknown bits", unknown_type},
    {"persistent", VBN_WR_FLUSH, VBN_ERR_NOT_SUPPORTED, "not offered by the device", persistent},
    {"level 2", VBN_WR_FLUSH, VBN_ERR_ARGUMENT, "VBN_FLUSH_RANGE", unknown_level},
};

static void wrong(vbn_qp *qp, const struct mistake *m, uint32_t n, uint32_t at)
{
    vbn_send_wr wrs[70];
    uint32_t key = vbn_mw_rkey(mw);

    for (uint32_t i = 0; i < n; i++)
        wrs[i] = good(i == at ? m->opcode : classic[i % ARRAY_SIZE(classic)], i);
    m->make(&wrs[at]);
    null.stats_reset();
    posted = 77;
    null_want(__FILE__, __LINE__, m->what, "vbn_qp_post_send", vbn_qp_post_send(qp, wrs, n, &posted), m->status);
    WANT_TEXT(m->words);
    MUST(!posted && last()->index == at, "%s, %u of %u: posted %u, index %llu", m->what, at, n, posted, (unsigned long long)last()->index);
    MUST(!stats().send.calls && vbn_mw_rkey(mw) == key, "%s: something was posted", m->what);
}

static void wrong_requests_are_refused(void)
{
    static const uint32_t lengths[] = {1, 2, 32, 33, 70};

    null_begin();
    null.device_attr()->device_cap_flags_ex |= CAP_FLUSH_GLOBAL | CAP_ATOMIC_WRITE;
    begin();
    OK(vbn_pd_alloc(g.context, NULL, &other_pd));
    OK(vbn_mr_reg(other_pd, rig_memory, sizeof(rig_memory), VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_MW_BIND, NULL, &other_mr));
    OK(vbn_mr_reg(g.pd, rig_memory, sizeof(rig_memory), VBN_ACCESS_LOCAL_WRITE, NULL, &plain_mr));
    OK(vbn_mr_reg(g.pd, rig_memory, sizeof(rig_memory), VBN_ACCESS_REMOTE_READ | VBN_ACCESS_MW_BIND, NULL, &read_mr));
    OK(vbn_mw_alloc(other_pd, VBN_MW_TYPE_2, NULL, &other_mw));
    for (int way = 0; way < 2; way++) {
        all_ops = queue_pair(CLASSIC | VBN_QP_OP_FLUSH | VBN_QP_OP_ATOMIC_WRITE, way ? VBN_POST_PATH_WR : 0);
        for (size_t k = 0; k < ARRAY_SIZE(mistakes); k++)
            for (size_t c = 0; c < ARRAY_SIZE(lengths); c++) {
                wrong(all_ops, &mistakes[k], lengths[c], 0);
                wrong(all_ops, &mistakes[k], lengths[c], lengths[c] - 1);
            }
        OK(vbn_qp_close(&all_ops));
    }
    /* Read access is fine through a region that can't be written. */
    {
        vbn_send_wr wr = good(VBN_WR_BIND_MW, 1);

        ext = bind_ext();
        ext.mr = read_mr;
        ext.access = VBN_ACCESS_REMOTE_READ | VBN_ACCESS_ZERO_BASED;
        wr.ext = &ext;
        OK(vbn_qp_post_send(g.qp, &wr, 1, &posted));
        same(0, &wr, g.qp, 0, vbn_mw_rkey(mw));
    }
    OK(vbn_mw_close(&other_mw));
    OK(vbn_mr_close(&read_mr));
    OK(vbn_mr_close(&plain_mr));
    OK(vbn_mr_close(&other_mr));
    OK(vbn_pd_close(&other_pd));
    end();
}

/* A closed window or region is told of, not used. */
static void closed_handles(void)
{
    vbn_send_wr wr;
    vbn_mw *gone;
    vbn_mr *gone_mr;

    null_begin();
    begin();
    wr = good(VBN_WR_BIND_MW, 1);
    ext = bind_ext();
    wr.ext = &ext;
    OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_2, NULL, &gone));
    ext.mw = gone;
    OK(vbn_mw_close(&gone));
    WANT(vbn_qp_post_send(g.qp, &wr, 1, &posted), VBN_ERR_CLOSED);
    ext = bind_ext();
    OK(vbn_mr_reg(g.pd, rig_memory, 64, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_MW_BIND, NULL, &gone_mr));
    ext.mr = gone_mr;
    OK(vbn_mr_close(&gone_mr));
    WANT(vbn_qp_post_send(g.qp, &wr, 1, &posted), VBN_ERR_CLOSED);
    end();
}

/* A queue that fills up in the middle: the key is that of the last bind that is on it. */
static void full_queues(void)
{
    vbn_qp *qps[3];

    null_begin();
    null.device_attr()->device_cap_flags_ex |= CAP_FLUSH_GLOBAL | CAP_ATOMIC_WRITE;
    begin();
    qps[0] = queue_pair(0, 0);
    qps[1] = queue_pair(CLASSIC | VBN_QP_OP_FLUSH | VBN_QP_OP_ATOMIC_WRITE, 0);
    qps[2] = queue_pair(CLASSIC | VBN_QP_OP_FLUSH | VBN_QP_OP_ATOMIC_WRITE, VBN_POST_PATH_WR);
    for (size_t q = 0; q < ARRAY_SIZE(qps); q++)
        for (long room = 0; room < 40; room++) {
            const uint32_t *ops = q ? with_new : classic;
            size_t num_ops = q ? ARRAY_SIZE(with_new) : ARRAY_SIZE(classic);
            uint32_t key = vbn_mw_rkey(mw);
            vbn_send_wr wrs[40];

            for (uint32_t i = 0; i < ARRAY_SIZE(wrs); i++) {
                wrs[i] = good(ops[i % num_ops], i);
                if (wrs[i].opcode == VBN_WR_BIND_MW && i < room)
                    key = (key & ~0xffu) | ((key + 1) & 0xff);
            }
            null.set_room(room);
            null.stats_reset();
            WANT(vbn_qp_post_send(qps[q], wrs, ARRAY_SIZE(wrs), &posted), VBN_ERR_QUEUE_FULL);
            MUST(posted == room && last()->index == (uint64_t)room, "room for %ld: posted %u", room, posted);
            MUST(stats().send.wrs == (uint64_t)room, "%llu requests are on the queue", (unsigned long long)stats().send.wrs);
            MUST(vbn_mw_rkey(mw) == key, "room for %ld: key 0x%x, not 0x%x", room, vbn_mw_rkey(mw), key);
            null.set_room(-1);
        }
    for (size_t q = 0; q < ARRAY_SIZE(qps); q++)
        OK(vbn_qp_close(&qps[q]));
    end();
}

/* ---- What devices have ---- */

static uint64_t offered(void)
{
    NEW(vbn_qp_info, info);
    vbn_qp *qp = queue_pair(0, 0);

    OK(vbn_qp_query(qp, &info));
    OK(vbn_qp_close(&qp));
    return info.send_ops;
}

static vbn_status asked(uint64_t ops, int32_t type)
{
    NEW(vbn_qp_init_attr, attr);
    vbn_qp *qp = NULL;
    vbn_status status;

    attr.send_cq = g.cq;
    attr.send_ops = ops;
    attr.qp_type = type;
    status = vbn_qp_create(g.pd, &attr, &qp);
    OK(vbn_qp_close(&qp));
    return status;
}

/* Without `what`, `ops` are not offered, `cap` is not told, and asking for them is refused with the reason. */
static void lacks(const char *what, uint64_t ops, uint64_t cap, const char *words)
{
    NEW(vbn_caps, caps);

    g = rig_open();
    MUST(offered() == (CLASSIC & ~ops), "without %s: 0x%llx", what, (unsigned long long)offered());
    OK(vbn_context_caps(g.context, &caps));
    MUST(!(caps.caps & cap), "without %s: the capability is there", what);
    for (int bit = 0; bit < 64; bit++)
        if (ops >> bit & 1) {
            WANT(asked(1ull << bit | VBN_QP_OP_SEND, 0), VBN_ERR_NOT_SUPPORTED);
            WANT_TEXT(words);
            WANT_TEXT("null0");
            MUST(last()->value == 1ull << bit, "value 0x%llx", (unsigned long long)last()->value);
        }
    rig_close(&g);
    null_clean();
}

static void devices_that_lack_something(void)
{
    null_begin();
    null.device_attr()->orig_attr.atomic_cap = IBV_ATOMIC_NONE;
    lacks("atomics", VBN_QP_OP_ATOMIC_CMP_AND_SWP | VBN_QP_OP_ATOMIC_FETCH_AND_ADD, VBN_CAP_ATOMICS, "atomic_cap");
    null_begin();
    null.device_attr()->orig_attr.device_cap_flags &= ~(unsigned)IBV_DEVICE_MEM_MGT_EXTENSIONS;
    null.device_attr()->device_cap_flags_ex &= ~(uint64_t)IBV_DEVICE_MEM_MGT_EXTENSIONS;
    lacks("extensions", VBN_QP_OP_LOCAL_INV | VBN_QP_OP_SEND_WITH_INV, VBN_CAP_INVALIDATE, "VBN_CAP_INVALIDATE");
    null_begin();
    null.device_attr()->orig_attr.max_mw = 0;
    lacks("windows", VBN_QP_OP_BIND_MW, VBN_CAP_MW, "windows of type 2");
    null_begin();
    lacks("flush", VBN_QP_OP_FLUSH & 0, VBN_CAP_FLUSH | VBN_CAP_ATOMIC_WRITE, "");
    null_begin();
    g = rig_open();
    WANT(asked(VBN_QP_OP_FLUSH, 0), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("45 for flushes");
    WANT(asked(VBN_QP_OP_ATOMIC_WRITE, 0), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("44 for atomic writes");
    WANT(asked(1 << 10, 0), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("segmentation offload");
    for (int bit = 4; bit < 16; bit++)
        if (0xc7f0 >> bit & 1)
            WANT(asked(1ull << bit, VBN_QPT_UD), VBN_ERR_NOT_SUPPORTED);
    rig_close(&g);
    null_clean();
}

/* What the device tells is granted and nothing more: caps and creation agree. */
static void devices_that_have_it(void)
{
    static const struct {
        uint64_t flags, ops, caps;
    } devices[] = {
        {CAP_FLUSH_GLOBAL, VBN_QP_OP_FLUSH, VBN_CAP_FLUSH},
        {CAP_FLUSH_PERSISTENT, 0, 0},
        {CAP_ATOMIC_WRITE, VBN_QP_OP_ATOMIC_WRITE, VBN_CAP_ATOMIC_WRITE},
        {CAP_FLUSH_GLOBAL | CAP_FLUSH_PERSISTENT | CAP_ATOMIC_WRITE, VBN_QP_OP_FLUSH | VBN_QP_OP_ATOMIC_WRITE, VBN_CAP_FLUSH | VBN_CAP_ATOMIC_WRITE},
    };

    for (size_t d = 0; d < ARRAY_SIZE(devices); d++) {
        NEW(vbn_caps, caps);

        null_begin();
        null.device_attr()->device_cap_flags_ex |= devices[d].flags;
        g = rig_open();
        OK(vbn_context_caps(g.context, &caps));
        MUST((caps.caps & (VBN_CAP_FLUSH | VBN_CAP_ATOMIC_WRITE)) == devices[d].caps, "caps");
        MUST(offered() == CLASSIC, "these are offered without being asked for");
        WANT(asked(VBN_QP_OP_FLUSH, 0), devices[d].ops & VBN_QP_OP_FLUSH ? VBN_OK : VBN_ERR_NOT_SUPPORTED);
        WANT(asked(VBN_QP_OP_ATOMIC_WRITE, 0), devices[d].ops & VBN_QP_OP_ATOMIC_WRITE ? VBN_OK : VBN_ERR_NOT_SUPPORTED);
        /* The query of what it has may fail. */
        if (devices[d].ops) {
            null.fail("ibv_query_device_ex", 1, EINVAL);
            WANT(asked(devices[d].ops, 0), VBN_ERR_DRIVER);
        }
        rig_close(&g);
        null_clean();
    }
}

/* A persistent flush where the device has it. */
static void persistent_flush(void)
{
    vbn_flush_ext both = {.length = 0, .type = VBN_FLUSH_PERSISTENT | VBN_FLUSH_GLOBAL, .level = VBN_FLUSH_MR};
    vbn_send_wr wr;
    vbn_qp *qp;

    null_begin();
    null.device_attr()->device_cap_flags_ex |= CAP_FLUSH_GLOBAL | CAP_FLUSH_PERSISTENT;
    begin();
    qp = queue_pair(VBN_QP_OP_FLUSH, 0);
    wr = good(VBN_WR_FLUSH, 3);
    wr.ext = &both;
    OK(vbn_qp_post_send(qp, &wr, 1, &posted));
    same(0, &wr, qp, 1, 0);
    OK(vbn_qp_close(&qp));
    end();
}

/* ---- Windows of type 1 ---- */

static void type_1_binds(void)
{
    NEW(vbn_mw_bind_attr, attr);
    struct ibv_mw_bind bind;
    struct ibv_mr *native;
    uint32_t key, rkey = 0;

    null_begin();
    begin();
    key = vbn_mw_rkey(mw1);
    attr.wr_id = 0x1234567812345678;
    attr.flags = VBN_SEND_SIGNALED | VBN_SEND_FENCE;
    attr.mr = mr;
    attr.addr = BOUND_MEMORY + 5;
    attr.length = 77;
    attr.access = VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_ATOMIC;
    OK(vbn_mw_bind(g.qp, mw1, &attr, &rkey));
    OK(vbn_mr_native(mr, &native));
    MUST(!null.last_bind_mw(&bind), "ibv_bind_mw wasn't called");
    MUST(bind.wr_id == attr.wr_id && bind.send_flags == attr.flags && bind.bind_info.mr == native, "wr_id, flags or region");
    MUST(bind.bind_info.addr == attr.addr && bind.bind_info.length == 77 && bind.bind_info.mw_access_flags == attr.access, "range or access");
    MUST(rkey == key + 1 && rkey == vbn_mw_rkey(mw1), "key 0x%x", rkey);
    attr.length = 0;
    OK(vbn_mw_bind(g.qp, mw1, &attr, NULL));

    rkey = 99;
    null.fail("ibv_bind_mw", 1, ENOMEM);
    WANT(vbn_mw_bind(g.qp, mw1, &attr, &rkey), VBN_ERR_QUEUE_FULL);
    WANT_TEXT("512");
    WANT_ERRNO(ENOMEM);
    null.fail("ibv_bind_mw", 1, EINVAL);
    WANT(vbn_mw_bind(g.qp, mw1, &attr, &rkey), VBN_ERR_DRIVER);
    WANT_ERRNO(EINVAL);
    WANT_TEXT("RESET");
    WANT(vbn_mw_bind(g.qp, mw, &attr, &rkey), VBN_ERR_ARGUMENT);
    WANT_TEXT("VBN_WR_BIND_MW");
    attr.access = VBN_ACCESS_ZERO_BASED;
    WANT(vbn_mw_bind(g.qp, mw1, &attr, &rkey), VBN_ERR_ARGUMENT);
    WANT_TEXT("access");
    attr.access = 0;
    attr.flags = VBN_SEND_SOLICITED;
    WANT(vbn_mw_bind(g.qp, mw1, &attr, &rkey), VBN_ERR_ARGUMENT);
    WANT_TEXT("flags");
    MUST(rkey == 99, "rkey_out was written");
    end();
}

/* Not every driver has windows, nor every device both types. */
static void windows_that_are_not_there(void)
{
    vbn_mw *none = (vbn_mw *)(void *)rig_memory;
    NEW(vbn_mw_bind_attr, attr);

    null_begin();
    null.hide_op("alloc_mw");
    g = rig_open();
    WANT(vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &none), VBN_ERR_NOT_SUPPORTED);
    MUST(!none, "*out after a failure");
    rig_close(&g);
    null_clean();

    null_begin();
    null.device_attr()->orig_attr.device_cap_flags &= ~(unsigned)IBV_DEVICE_MEM_WINDOW_TYPE_2B;
    g = rig_open();
    OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &none));
    OK(vbn_mw_close(&none));
    WANT(vbn_mw_alloc(g.pd, VBN_MW_TYPE_2, NULL, &none), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("no memory windows of this type");
    rig_close(&g);
    null_clean();

    null_begin();
    null.hide_op("bind_mw");
    begin();
    attr.mr = mr;
    attr.addr = BOUND_MEMORY;
    WANT(vbn_mw_bind(g.qp, mw1, &attr, NULL), VBN_ERR_NOT_SUPPORTED);
    end();

    null_begin();
    g = rig_open();
    null.fail("ibv_alloc_mw", 1, ENOMEM);
    WANT(vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &none), VBN_ERR_NO_MEMORY);
    OK(vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &none));
    null.fail("ibv_dealloc_mw", 1, EBUSY);
    WANT(vbn_mw_close(&none), VBN_ERR_BUSY);
    MUST(none, "the handle has gone");
    OK(vbn_mw_close(&none));
    rig_close(&g);
    null_clean();
}

/* Any close order; a window that is given away lives on. */
static void life_of_a_window(void)
{
    NEW(vbn_live_info, live);
    struct ibv_mw *native;
    struct nullv_live seen;

    null_begin();
    begin();
    OK(vbn_context_live(g.context, &live));
    MUST(live.mw_open == 2, "mw_open %u", live.mw_open);
    OK(vbn_mr_close(&mr));
    rig_close(&g);
    null.live(&seen);
    MUST(seen.contexts == null_before.contexts + 1, "the windows don't keep PD and context");
    OK(vbn_mw_release(&mw, &native));
    MUST(!mw && native && native->type == IBV_MW_TYPE_2, "released");
    null.live(&seen);
    MUST(seen.mws == null_before.mws + 2, "a released window is gone");
    MUST(!native->context->ops.dealloc_mw(native), "the caller's own end of it");
    OK(vbn_mw_close(&mw1));
    null_clean();
}

/* A window of raw verbs: bound, owned or not, destroyed by whom it says. */
static int dealloc_by_hand(void *native, void *arg)
{
    ++*(int *)arg;
    return ((struct ibv_mw *)native)->context->ops.dealloc_mw(native);
}

static void windows_of_raw_verbs(void)
{
    int by_hand = 0;
    vbn_adopt_attr attr = {.struct_size = sizeof(attr), .user_data = 77};
    struct ibv_mw *raw;
    vbn_mw *other;
    NEW(vbn_mw_info, info);
    struct nullv_live before, now;
    vbn_pd *pd;

    null_begin();
    begin();
    null.live(&before);
    raw = g.ibv_context->ops.alloc_mw(g.ibv_pd, IBV_MW_TYPE_1);
    MUST(raw, "alloc_mw");
    OK(vbn_mw_adopt(g.pd, raw, &attr, &other));
    OK(vbn_mw_query(other, &info));
    MUST(info.mw_type == VBN_MW_TYPE_1 && info.rkey == raw->rkey && info.handle == raw->handle && info.user_data == 77, "type %d", info.mw_type);
    vbn_mw_bind_attr bind = {.struct_size = sizeof(bind), .mr = mr, .addr = vbn_mr_remote_addr(mr), .length = 8, .access = VBN_ACCESS_REMOTE_READ};
    OK(vbn_mw_bind(g.qp, other, &bind, NULL));
    MUST(vbn_mw_rkey(other) == raw->rkey, "the key");
    OK(vbn_mw_close(&other));
    null.live(&now);
    MUST(now.mws == before.mws + 1, "a borrowed window has gone");
    OK(vbn_pd_alloc(g.context, NULL, &pd));
    WANT(vbn_mw_adopt(pd, raw, NULL, &other), VBN_ERR_ARGUMENT);
    WANT_TEXT("another ibv_pd");
    OK(vbn_pd_close(&pd));
    attr.ownership = VBN_ADOPT_OWN;
    OK(vbn_mw_adopt(g.pd, raw, &attr, &other));
    vbn_mw *twice;
    WANT(vbn_mw_adopt(g.pd, raw, &attr, &twice), VBN_ERR_ARGUMENT);
    WANT_TEXT("already has a handle");
    OK(vbn_mw_close(&other));
    null.live(&now);
    MUST(now.mws == before.mws, "an owned window is left");
    raw = g.ibv_context->ops.alloc_mw(g.ibv_pd, IBV_MW_TYPE_2);
    attr.ownership = VBN_ADOPT_CUSTOM;
    attr.destroy = dealloc_by_hand;
    attr.destroy_arg = &by_hand;
    OK(vbn_mw_adopt(g.pd, raw, &attr, &other));
    OK(vbn_mw_query(other, &info));
    MUST(info.mw_type == VBN_MW_TYPE_2, "type %d", info.mw_type);
    OK(vbn_mw_close(&other));
    null.live(&now);
    MUST(by_hand == 1 && now.mws == before.mws, "destroyed %d times", by_hand);
    /* A type that there isn't. */
    raw = g.ibv_context->ops.alloc_mw(g.ibv_pd, IBV_MW_TYPE_1);
    raw->type = 3;
    WANT(vbn_mw_adopt(g.pd, raw, NULL, &other), VBN_ERR_ARGUMENT);
    raw->type = IBV_MW_TYPE_1;
    MUST(!g.ibv_context->ops.dealloc_mw(raw), "dealloc_mw");
    OK(vbn_mw_close(&mw));
    OK(vbn_mw_close(&mw1));
    OK(vbn_mr_close(&mr));
    rig_close(&g);
    null_clean();
}

static const struct test tests[] = {
    {"requests_arrive", requests_arrive},
    {"by_wr_api", by_wr_api},
    {"two_ways_in_one_call", two_ways_in_one_call},
    {"inline_and_lists", inline_and_lists},
    {"wrong_requests_are_refused", wrong_requests_are_refused},
    {"closed_handles", closed_handles},
    {"full_queues", full_queues},
    {"devices_that_lack_something", devices_that_lack_something},
    {"devices_that_have_it", devices_that_have_it},
    {"persistent_flush", persistent_flush},
    {"type_1_binds", type_1_binds},
    {"windows_that_are_not_there", windows_that_are_not_there},
    {"life_of_a_window", life_of_a_window},
    {"windows_of_raw_verbs", windows_of_raw_verbs},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_ops", tests, argc, argv);
}
