/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What few devices have (moderation, re-registration, null regions, advice...): what reaches the provider, field by field, and what its answers
 * mean. Functions of the null provider are replaced here, in the table of the context or by vbn_library_init's lookup. */
#include <fcntl.h>
#include <unistd.h>
#include "null_help.h"

static struct rig g;

/* ---- The library, with some functions of ours ---- */

static void *library;

/* The null provider's own, since this program isn't linked against it. */
static void *own(const char *name)
{
    return dlvsym(library, name, "IBVERBS_1.1");
}

static struct {
    int code, err; /* of the next ibv_rereg_mr; code 0: it is done by the null provider */
    int calls, flags, access;
    void *addr;
    size_t length;
    struct ibv_pd *pd;
} rereg;

static int fake_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
    int (*real)(struct ibv_mr *, int, struct ibv_pd *, void *, size_t, int);
    int code = rereg.code;

    *(void **)&real = dlvsym(library, "ibv_rereg_mr", "IBVERBS_1.1");

    rereg.calls++, rereg.flags = flags, rereg.access = access, rereg.addr = addr, rereg.length = length, rereg.pd = pd;
    rereg.code = 0;
    if (!code || code == IBV_REREG_MR_ERR_DO_FORK_OLD) {
        MUST(!real(mr, flags, pd, addr, length, access), "the null provider refuses");
        mr->lkey += 0x100;
        mr->rkey += 0x100;
    }
    if (code)
        errno = rereg.err;
    return code;
}

static int in_order, in_order_newest; /* what it answers; whether it knows flags */

static int fake_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
    MUST(qp == g.ibv_qp && opcode == IBV_WR_RDMA_WRITE, "opcode %d", opcode);
    if (flags & ~(in_order_newest ? 3u : 0))
        return 0;
    int answer = flags & 2 ? in_order ^ 3 : in_order; /* the device alone: something else */
    if (flags & 1)
        return answer;
    return answer & 1;
}

/* Another process's objects: a context of null0, and in it what has the number 5. */
static struct {
    int fd, err, unimported_pds, unimported_mrs;
    uint32_t handle;
    struct ibv_pd *pd;
} import;

static struct ibv_context *fake_import_device(int fd)
{
    struct ibv_device **(*get_list)(int *), **list;
    void (*free_list)(struct ibv_device **);
    struct ibv_context *(*open_device)(struct ibv_device *), *context;

    *(void **)&get_list = own("ibv_get_device_list");
    *(void **)&free_list = own("ibv_free_device_list");
    *(void **)&open_device = own("ibv_open_device");
    import.fd = fd;
    if (import.err) {
        errno = import.err;
        return NULL;
    }
    list = get_list(NULL);
    context = open_device(list[0]);
    free_list(list);
    /* As in rdma-core the descriptor is the context's from now on. */
    close(context->cmd_fd);
    context->cmd_fd = fd;
    return context;
}

static struct ibv_pd *fake_import_pd(struct ibv_context *context, uint32_t handle)
{
    struct ibv_pd *pd;

    import.handle = handle;
    if (handle != 5) {
        errno = ENOENT;
        return NULL;
    }
    pd = calloc(1, sizeof(*pd));
    pd->context = context;
    pd->handle = handle;
    return pd;
}

static void fake_unimport_pd(struct ibv_pd *pd)
{
    import.unimported_pds++;
    free(pd);
}

static struct ibv_mr *fake_import_mr(struct ibv_pd *pd, uint32_t handle)
{
    struct ibv_mr *mr;

    import.handle = handle;
    import.pd = pd;
    if (handle != 5) {
        errno = ENOENT;
        return NULL;
    }
    mr = calloc(1, sizeof(*mr));
    *mr = (struct ibv_mr){.context = pd->context, .pd = pd, .length = 12345, .handle = handle, .lkey = 77, .rkey = 88};
    return mr;
}

static void fake_unimport_mr(struct ibv_mr *mr)
{
    import.unimported_mrs++;
    free(mr);
}

/* Memory of another process's device; libibverbs of rdma-core 33 has no such number. */
struct newer_dm {
    struct ibv_context *context;
    void *to, *from;
    uint32_t comp_mask, handle;
};
static int unimported_dms;

static struct ibv_dm *fake_import_dm(struct ibv_context *context, uint32_t handle)
{
    struct newer_dm *dm;

    import.handle = handle;
    if (handle != 5) {
        errno = ENOENT;
        return NULL;
    }
    dm = calloc(1, sizeof(*dm));
    *dm = (struct newer_dm){.context = context, .comp_mask = 1, .handle = handle};
    return (struct ibv_dm *)(void *)dm;
}

static void fake_unimport_dm(struct ibv_dm *dm)
{
    unimported_dms++;
    free(dm);
}

static struct {
    int err, calls;
    uint32_t port;
    uint64_t answer;
} speed;

static int fake_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *answer)
{
    MUST(context, "context");
    speed.calls++, speed.port = port;
    *answer = speed.answer;
    return speed.err;
}

/* The state in which the vendor's options were set. */
static struct {
    int calls;
    enum ibv_qp_state state;
    struct ibv_ece told;
} options;

static int fake_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    int (*real)(struct ibv_qp *, struct ibv_ece *);
    int (*query)(struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *);
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    *(void **)&real = dlvsym(library, "ibv_set_ece", "IBVERBS_1.10");
    *(void **)&query = own("ibv_query_qp");
    MUST(!query(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
    options.calls++, options.state = attr.qp_state, options.told = *ece;
    return real(qp, ece);
}

static void *lookup(const char *symbol, const char *version, void *arg)
{
    (void)arg;
    if (!strcmp(symbol, "ibv_import_dm"))
        return (void *)(uintptr_t)fake_import_dm;
    if (!strcmp(symbol, "ibv_unimport_dm"))
        return (void *)(uintptr_t)fake_unimport_dm;
    if (!strcmp(symbol, "ibv_query_port_speed"))
        return (void *)(uintptr_t)fake_query_port_speed;
    if (!strcmp(symbol, "ibv_set_ece"))
        return (void *)(uintptr_t)fake_set_ece;
    if (!strcmp(symbol, "ibv_query_qp_data_in_order"))
        return (void *)(uintptr_t)fake_data_in_order;
    if (!strcmp(symbol, "ibv_rereg_mr"))
        return (void *)(uintptr_t)fake_rereg_mr;
    if (!strcmp(symbol, "ibv_import_device"))
        return (void *)(uintptr_t)fake_import_device;
    if (!strcmp(symbol, "ibv_import_pd"))
        return (void *)(uintptr_t)fake_import_pd;
    if (!strcmp(symbol, "ibv_unimport_pd"))
        return (void *)(uintptr_t)fake_unimport_pd;
    if (!strcmp(symbol, "ibv_import_mr"))
        return (void *)(uintptr_t)fake_import_mr;
    if (!strcmp(symbol, "ibv_unimport_mr"))
        return (void *)(uintptr_t)fake_unimport_mr;
    return dlvsym(library, symbol, version);
}

static void begin(void)
{
    null_begin();
    memset(&rereg, 0, sizeof(rereg));
    memset(&options, 0, sizeof(options));
    memset(&speed, 0, sizeof(speed));
    speed.err = EOPNOTSUPP;
    g = rig_open();
}

static void end(void)
{
    rig_close(&g);
    null_clean();
}

/* ---- Completion queues ---- */

static struct ibv_modify_cq_attr modified;
static struct ibv_cq *modified_cq;

static int fake_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    modified = *attr;
    modified_cq = cq;
    return 0;
}

static vbn_cq_modify_attr moderation(uint32_t count, uint32_t period)
{
    return (vbn_cq_modify_attr){.struct_size = sizeof(vbn_cq_modify_attr), .set = VBN_CQ_SET_MODERATION, .moderation_count = count, .moderation_period_us = period};
}

static void moderation_arrives(void)
{
    vbn_cq_modify_attr attr = moderation(17, 300);

    begin();
    verbs_get_ctx(g.ibv_context)->modify_cq = fake_modify_cq;
    OK(vbn_cq_modify(g.cq, &attr));
    MUST(modified_cq == g.ibv_cq && modified.attr_mask == IBV_CQ_ATTR_MODERATE, "mask 0x%x", modified.attr_mask);
    MUST(modified.moderate.cq_count == 17 && modified.moderate.cq_period == 300, "%u, %u", modified.moderate.cq_count, modified.moderate.cq_period);
    attr = moderation(0, 0);
    OK(vbn_cq_modify(g.cq, &attr));
    MUST(!modified.moderate.cq_count && !modified.moderate.cq_period, "not ended");
    end();
}

static void moderation_limits(void)
{
    vbn_cq_modify_attr attr = moderation(8, 16);

    begin();
    null.device_attr()->cq_mod_caps.max_cq_count = 8;
    null.device_attr()->cq_mod_caps.max_cq_period = 16;
    OK(vbn_cq_modify(g.cq, &attr));
    attr = moderation(9, 16);
    WANT(vbn_cq_modify(g.cq, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(9, 8);
    attr = moderation(8, 17);
    WANT(vbn_cq_modify(g.cq, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(17, 16);
    WANT_TEXT("null0");
    /* A device that tells no limit still has 16 bits each. */
    null.device_attr()->cq_mod_caps.max_cq_count = 0;
    attr = moderation(65536, 16);
    WANT(vbn_cq_modify(g.cq, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(65536, 65535);
    attr = moderation(65535, 16);
    OK(vbn_cq_modify(g.cq, &attr));
    end();
}

static void moderation_fails(void)
{
    vbn_cq_modify_attr attr = moderation(1, 1);

    begin();
    null.fail("ibv_modify_cq", 1, EOPNOTSUPP);
    WANT(vbn_cq_modify(g.cq, &attr), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("moderate");
    null.fail("ibv_modify_cq", 1, EINVAL);
    WANT(vbn_cq_modify(g.cq, &attr), VBN_ERR_DRIVER);
    WANT_ERRNO(EINVAL);
    verbs_get_ctx(g.ibv_context)->modify_cq = NULL;
    WANT(vbn_cq_modify(g.cq, &attr), VBN_ERR_NOT_SUPPORTED);
    end();
}

static void resize(void)
{
    NEW(vbn_cq_info, info);

    begin();
    OK(vbn_cq_resize(g.cq, 1000));
    OK(vbn_cq_query(g.cq, &info));
    MUST(info.cqe == 1000, "cqe %u", info.cqe);
    null.fail("ibv_resize_cq", 1, EINVAL);
    WANT(vbn_cq_resize(g.cq, 1), VBN_ERR_DRIVER);
    WANT_ERRNO(EINVAL);
    WANT_TEXT("more completions wait");
    null.fail("ibv_resize_cq", 1, EOPNOTSUPP);
    WANT(vbn_cq_resize(g.cq, 1), VBN_ERR_NOT_SUPPORTED);
    null.fail("ibv_resize_cq", 1, ENOMEM);
    WANT(vbn_cq_resize(g.cq, 1), VBN_ERR_NO_MEMORY);
    OK(vbn_cq_query(g.cq, &info));
    MUST(info.cqe == 1000, "cqe %u after failures", info.cqe);
    end();
}

/* Which fields a driver lacks is told by name. */
static void fields_are_named(void)
{
    NEW(vbn_cq_attr, attr);
    vbn_cq *cq;

    begin();
    attr.cqe = 4;
    attr.fields = VBN_WC_EX_STANDARD | VBN_WC_EX_TIMESTAMP | VBN_WC_EX_WALLCLOCK;
    null.fail("ibv_create_cq_ex", 1, EOPNOTSUPP);
    WANT(vbn_cq_create(g.context, &attr, &cq), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("VBN_WC_EX_TIMESTAMP, VBN_WC_EX_WALLCLOCK on null0");
    MUST(!strstr(last()->message, "VBN_WC_EX_SL"), "standard fields are blamed: %s", last()->message);
    attr.fields = VBN_WC_EX_SL;
    null.fail("ibv_create_cq_ex", 1, EOPNOTSUPP);
    WANT(vbn_cq_create(g.context, &attr, &cq), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("VBN_WC_EX_SL");
    /* Another failure has another reason. */
    null.fail("ibv_create_cq_ex", 1, ENOMEM);
    WANT(vbn_cq_create(g.context, &attr, &cq), VBN_ERR_NO_MEMORY);
    MUST(!strstr(last()->message, "VBN_WC_EX_SL "), "%s", last()->message);
    end();
}

/* Every field that a driver may have, of a completion with all of them. */
static void fields_are_read(void)
{
    struct nullv_wc_extra extra = {.completion_ts = 0x1122334455667788, .wallclock_ns = 0x99aabbccddeeff00, .flow_tag = 0xabcdef, .cvlan = 0x123};
    uint64_t rest = VBN_WC_EX_TIMESTAMP | VBN_WC_EX_WALLCLOCK | VBN_WC_EX_CVLAN | VBN_WC_EX_FLOW_TAG;
    NEW(vbn_cq_attr, attr);
    struct ibv_cq_init_attr_ex told;
    vbn_wc_ext wc;
    vbn_cq *cq;
    uint32_t got;

    begin();
    for (uint64_t fields = rest; fields; fields = (fields - 1) & rest) {
        attr.cqe = 4;
        attr.fields = fields;
        OK(vbn_cq_create(g.context, &attr, &cq));
        MUST(!null.last_create_cq(&told) && told.wc_flags == fields, "wc_flags 0x%llx", (unsigned long long)told.wc_flags);
        null.set_poll_n(1);
        null.set_wc_extra(&extra);
        memset(&wc, 0x5a, sizeof(wc));
        OK(vbn_cq_poll_ext(cq, 1, &wc, sizeof(wc), &got));
        MUST(got == 1 && wc.fields == fields, "got %u, fields 0x%llx", got, (unsigned long long)wc.fields);
        MUST(!(fields & VBN_WC_EX_TIMESTAMP) || wc.timestamp == extra.completion_ts, "timestamp");
        MUST(!(fields & VBN_WC_EX_WALLCLOCK) || wc.wallclock_ns == extra.wallclock_ns, "wallclock_ns");
        MUST(!(fields & VBN_WC_EX_CVLAN) || wc.cvlan == extra.cvlan, "cvlan");
        MUST(!(fields & VBN_WC_EX_FLOW_TAG) || wc.flow_tag == extra.flow_tag, "flow_tag");
        null.set_poll_n(0);
        OK(vbn_cq_close(&cq));
    }
    end();
}

/* ---- Regions ---- */

static char other_memory[8192] __attribute__((aligned(4096)));

static vbn_mr_rereg_attr whole(vbn_pd *pd)
{
    return (vbn_mr_rereg_attr){.struct_size = sizeof(vbn_mr_rereg_attr), .set = VBN_MR_REREG_TRANSLATION | VBN_MR_REREG_PD | VBN_MR_REREG_ACCESS,
        .pd = pd, .addr = other_memory, .length = sizeof(other_memory), .owner = &library, .access = VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ};
}

static vbn_mr_info info_of(vbn_mr *mr)
{
    NEW(vbn_mr_info, info);

    OK(vbn_mr_query(mr, &info));
    return info;
}

/* All at once: another PD, other memory, other access. The new PD is kept alive, and the old one let go. */
static void rereg_everything(void)
{
    vbn_mr_rereg_attr attr;
    NEW(vbn_live_info, live);
    vbn_pd *from, *to;
    struct ibv_pd *native;
    vbn_mr *mr;
    vbn_mr_info before, after;
    uint32_t lkey, rkey;

    begin();
    OK(vbn_pd_alloc(g.context, NULL, &from));
    OK(vbn_pd_alloc(g.context, NULL, &to));
    OK(vbn_pd_native(to, &native));
    OK(vbn_mr_reg(from, rig_memory, 64, 0, NULL, &mr));
    before = info_of(mr);
    attr = whole(to);
    OK(vbn_mr_rereg(mr, &attr));
    MUST(rereg.flags == 7 && rereg.pd == native && rereg.addr == other_memory && rereg.length == 8192 && rereg.access == 5, "flags %d, access %d", rereg.flags, rereg.access);
    after = info_of(mr);
    lkey = vbn_mr_lkey(mr), rkey = vbn_mr_rkey(mr);
    MUST(lkey == before.lkey + 0x100 && rkey == before.rkey + 0x100 && after.lkey == lkey && after.rkey == rkey, "keys");
    MUST(after.memory == other_memory && after.addr == (uintptr_t)other_memory && after.remote_addr == after.addr && vbn_mr_remote_addr(mr) == after.addr, "addresses");
    MUST(after.length == 8192 && after.access == attr.access && after.owner == &library && !after.lost, "length, access, owner");
    OK(vbn_pd_close(&from));
    OK(vbn_context_live(g.context, &live));
    MUST(live.pd_open == 2 && !live.pd_closed, "the old PD: %u open, %u closed", live.pd_open, live.pd_closed);
    OK(vbn_pd_close(&to));
    OK(vbn_context_live(g.context, &live));
    MUST(live.pd_open == 1 && live.pd_closed == 1, "the new PD: %u open, %u closed", live.pd_open, live.pd_closed);
    OK(vbn_mr_close(&mr));
    OK(vbn_context_live(g.context, &live));
    MUST(!live.pd_closed && !live.pd_refused, "the new PD is left over");
    end();
}

/* One at a time: what isn't named is neither changed nor told. */
static void rereg_one_by_one(void)
{
    vbn_mr_rereg_attr attr;
    vbn_mr_info before, after;
    vbn_pd *to;

    begin();
    OK(vbn_pd_alloc(g.context, NULL, &to));
    for (uint64_t set = 1; set < 8; set *= 2) {
        before = info_of(g.mr);
        attr = whole(to);
        attr.set = set;
        OK(vbn_mr_rereg(g.mr, &attr));
        after = info_of(g.mr);
        MUST(rereg.flags == (int)set, "flags %d", rereg.flags);
        MUST(!rereg.addr == (set != 1) && !rereg.length == (set != 1) && !rereg.pd == (set != 2) && !rereg.access == (set != 4), "set %llu: more is told", (unsigned long long)set);
        MUST((after.addr != before.addr) == (set == 1) && (after.length != before.length) == (set == 1) && (after.owner != before.owner) == (set == 1), "set %llu: memory", (unsigned long long)set);
        MUST((after.access != before.access) == (set == 4), "set %llu: access", (unsigned long long)set);
    }
    attr = whole(g.pd);
    attr.set = VBN_MR_REREG_PD;
    OK(vbn_mr_rereg(g.mr, &attr));
    OK(vbn_pd_close(&to));
    end();
}

/* What each of the function's codes leaves behind. */
static void rereg_codes(void)
{
    static const struct {
        int code, err;
        vbn_status status;
        int changed, lost;
        const char *text;
    } codes[] = {
        {IBV_REREG_MR_ERR_INPUT, EINVAL, VBN_ERR_DRIVER, 0, 0, "as it was"},
        {IBV_REREG_MR_ERR_DONT_FORK_NEW, ENOMEM, VBN_ERR_NO_MEMORY, 0, 0, "as it was"},
        {IBV_REREG_MR_ERR_DO_FORK_OLD, ENOMEM, VBN_ERR_NO_MEMORY, 1, 0, "IS changed"},
        {IBV_REREG_MR_ERR_CMD, EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED, 0, 0, "as it was"},
        {IBV_REREG_MR_ERR_CMD, EINVAL, VBN_ERR_DRIVER, 0, 1, "nothing is known"},
        {IBV_REREG_MR_ERR_CMD, ENOMEM, VBN_ERR_NO_MEMORY, 0, 1, "nothing is known"},
        {IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW, EIO, VBN_ERR_DRIVER, 0, 1, "nothing is known"},
        {-6, 0, VBN_ERR_DRIVER, 0, 1, "nothing is known"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
        vbn_mr_rereg_attr attr;
        vbn_mr_info before, after;
        vbn_mr *mr;
        int calls;

        begin();
        OK(vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, &mr));
        before = info_of(mr);
        attr = whole(g.pd);
        rereg.code = codes[i].code;
        rereg.err = codes[i].err;
        WANT(vbn_mr_rereg(mr, &attr), codes[i].status);
        WANT_ERRNO(codes[i].err ? codes[i].err : EIO);
        WANT_TEXT(codes[i].text);
        WANT_TEXT("null0");
        after = info_of(mr);
        MUST((after.addr == (uintptr_t)other_memory) == codes[i].changed && (after.length == 8192) == codes[i].changed, "[%zu] memory", i);
        MUST((after.rkey != before.rkey) == codes[i].changed && (after.access == attr.access) == codes[i].changed, "[%zu] key, access", i);
        MUST(after.lost == codes[i].lost, "[%zu] lost %u", i, after.lost);
        /* A lost one isn't touched again; another is. */
        calls = rereg.calls;
        null_want(__FILE__, __LINE__, "again", "vbn_mr_rereg", vbn_mr_rereg(mr, &attr), codes[i].lost ? VBN_ERR_ARGUMENT : VBN_OK);
        MUST(rereg.calls == calls + !codes[i].lost, "[%zu] %d calls", i, rereg.calls - calls);
        OK(vbn_mr_close(&mr));
        end();
    }
}

static void rereg_kinds(void)
{
    vbn_mr_rereg_attr attr;
    vbn_mr *dmabuf, *nothing, *adopted;

    begin();
    attr = whole(g.pd);
    OK(vbn_mr_reg_dmabuf(g.pd, 0, 0, 64, 0, 0, NULL, &dmabuf));
    WANT(vbn_mr_rereg(dmabuf, &attr), VBN_ERR_ARGUMENT);
    OK(vbn_mr_alloc_null(g.pd, NULL, &nothing));
    WANT(vbn_mr_rereg(nothing, &attr), VBN_ERR_ARGUMENT);
    MUST(!rereg.calls, "libibverbs was called");
    OK(vbn_mr_adopt(g.pd, g.ibv_mr, NULL, &adopted));
    OK(vbn_mr_rereg(adopted, &attr));
    OK(vbn_mr_close(&adopted));
    OK(vbn_mr_close(&nothing));
    OK(vbn_mr_close(&dmabuf));
    end();
}

static void null_region(void)
{
    vbn_mr_attr attr = {.struct_size = sizeof(attr), .user_data = 7, .owner = &g};
    vbn_mr_info info;
    vbn_sge sges[2];
    uint32_t count;
    uint64_t covered;
    vbn_mr *mr;

    begin();
    OK(vbn_mr_alloc_null(g.pd, &attr, &mr));
    info = info_of(mr);
    MUST(info.kind == VBN_MR_NULL && info.user_data == 7 && info.owner == &g && !info.memory && !info.addr, "kind %d", info.kind);
    MUST(info.length == UINT64_MAX && info.lkey && info.lkey == vbn_mr_lkey(mr), "length %llx", (unsigned long long)info.length);
    OK(vbn_mr_segments(mr, 5ull << 32, 3ull << 30, 2u << 30, sges, 2, &count, &covered));
    MUST(count == 2 && sges[0].addr == 5ull << 32 && sges[0].lkey == info.lkey && sges[1].length == 1u << 30, "segments");
    OK(vbn_mr_close(&mr));
    null.fail("ibv_alloc_null_mr", 1, ENOMEM);
    WANT(vbn_mr_alloc_null(g.pd, NULL, &mr), VBN_ERR_NO_MEMORY);
    MUST(!mr, "*out");
    verbs_get_ctx(g.ibv_context)->alloc_null_mr = NULL;
    WANT(vbn_mr_alloc_null(g.pd, NULL, &mr), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("null region");
    end();
}

static struct {
    struct ibv_pd *pd;
    enum ibv_advise_mr_advice advice;
    uint32_t flags, num;
    struct ibv_sge sges[3];
} advised;

static int fake_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge *sges, uint32_t num)
{
    advised.pd = pd, advised.advice = advice, advised.flags = flags, advised.num = num;
    memcpy(advised.sges, sges, num * sizeof(*sges));
    return 0;
}

static void advice_arrives(void)
{
    vbn_sge sges[3] = {{0x1000, 5, 6}, {0xfedcba9876543210, 0xffffffff, 8}, {1, 2, 3}};

    begin();
    verbs_get_ctx(g.ibv_context)->advise_mr = fake_advise_mr;
    for (int32_t advice = VBN_ADVISE_PREFETCH; advice <= VBN_ADVISE_PREFETCH_NO_FAULT; advice++)
        for (uint32_t num = 1; num <= 3; num++) {
            OK(vbn_mr_advise(g.pd, advice, num & 1 ? VBN_ADVISE_FLUSH : 0, sges, num));
            MUST(advised.pd == g.ibv_pd && (int32_t)advised.advice == advice && advised.flags == (num & 1) && advised.num == num, "advice %d", advice);
            CHECK_MEM(advised.sges, sges, num * sizeof(sges[0]));
        }
    verbs_get_ctx(g.ibv_context)->advise_mr = NULL;
    WANT(vbn_mr_advise(g.pd, VBN_ADVISE_PREFETCH, 0, sges, 1), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("on-demand");
    end();
}

static void advice_fails(void)
{
    static const struct {
        int err;
        vbn_status status;
        const char *text;
    } failures[] = {
        {EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED, "on-demand"}, {EINVAL, VBN_ERR_DRIVER, "VBN_ACCESS_ON_DEMAND"},
        {ENOENT, VBN_ERR_DRIVER, "VBN_ACCESS_ON_DEMAND"}, {EFAULT, VBN_ERR_DRIVER, "mapped"}, {ENOMEM, VBN_ERR_NO_MEMORY, "ibv_advise_mr"},
    };
    vbn_sge sge = {0x1000, 5, 6};

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
        null.fail("ibv_advise_mr", 1, failures[i].err);
        WANT(vbn_mr_advise(g.pd, VBN_ADVISE_PREFETCH, 0, &sge, 1), failures[i].status);
        WANT_ERRNO(failures[i].err);
        WANT_TEXT(failures[i].text);
    }
    end();
}

/* On-demand access is refused as such only where the device reports that it has none. */
static void on_demand(void)
{
    vbn_mr *mr;

    begin();
    null.fail("ibv_reg_mr_iova2", 1, EINVAL);
    WANT(vbn_mr_reg(g.pd, rig_memory, 64, VBN_ACCESS_ON_DEMAND, NULL, &mr), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("on-demand paging");
    WANT_ERRNO(EINVAL);
    null.fail("ibv_reg_mr_iova2", 1, EINVAL);
    WANT(vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, &mr), VBN_ERR_DRIVER);
    null.device_attr()->odp_caps.general_caps = IBV_ODP_SUPPORT;
    null.fail("ibv_reg_mr_iova2", 1, EINVAL);
    WANT(vbn_mr_reg(g.pd, rig_memory, 64, VBN_ACCESS_ON_DEMAND, NULL, &mr), VBN_ERR_DRIVER);
    OK(vbn_mr_reg(g.pd, rig_memory, 64, VBN_ACCESS_ON_DEMAND, NULL, &mr));
    OK(vbn_mr_close(&mr));
    end();
}

/* ---- Queue pairs ---- */

static void ece(void)
{
    vbn_ece set = {.struct_size = sizeof(set), .vendor_id = 0x15b3, .options = 0xfedcba98, .comp_mask = 0x80000001};
    NEW(vbn_ece, got);
    NEW(vbn_endpoint_info, info);

    begin();
    OK(vbn_qp_query_ece(g.qp, &got));
    MUST(!got.vendor_id && !got.options, "a new queue pair has options");
    OK(vbn_endpoint_info_local(g.qp, NULL, &info));
    MUST(!(info.set & VBN_ENDPOINT_SET_ECE), "no options are told");
    OK(vbn_qp_set_ece(g.qp, &set));
    OK(vbn_qp_query_ece(g.qp, &got));
    MUST(got.vendor_id == 0x15b3 && got.options == 0xfedcba98 && got.comp_mask == 0x80000001 && !got.reserved0, "options");
    OK(vbn_endpoint_info_local(g.qp, NULL, &info));
    MUST(info.set & VBN_ENDPOINT_SET_ECE && info.ece_vendor_id == 0x15b3 && info.ece_options == 0xfedcba98 && info.ece_comp_mask == 0x80000001, "record");
    null.fail("ibv_query_ece", 1, EOPNOTSUPP);
    WANT(vbn_qp_query_ece(g.qp, &got), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("connect without");
    null.fail("ibv_query_ece", 1, EOPNOTSUPP);
    OK(vbn_endpoint_info_local(g.qp, NULL, &info));
    MUST(!(info.set & VBN_ENDPOINT_SET_ECE), "a device without options");
    null.fail("ibv_set_ece", 1, EOPNOTSUPP);
    WANT(vbn_qp_set_ece(g.qp, &set), VBN_ERR_NOT_SUPPORTED);
    null.fail("ibv_set_ece", 1, EINVAL);
    WANT(vbn_qp_set_ece(g.qp, &set), VBN_ERR_DRIVER);
    WANT_TEXT("past INIT");
    end();
}

/* Two sides of one connection, with options of these vendors; 0: none. */
static void with_options(vbn_endpoint_info *local, vbn_endpoint_info *peer, uint32_t own_vendor, uint32_t peer_vendor)
{
    *local = (vbn_endpoint_info){.struct_size = sizeof(*local)};
    OK(vbn_endpoint_info_local(g.qp, NULL, local));
    local->set &= ~VBN_ENDPOINT_SET_ECE;
    if (own_vendor) {
        local->set |= VBN_ENDPOINT_SET_ECE;
        local->ece_vendor_id = own_vendor;
        local->ece_options = 0x10101;
    }
    *peer = *local;
    peer->qp_num ^= 1;
    peer->set &= ~VBN_ENDPOINT_SET_ECE;
    if (peer_vendor) {
        peer->set |= VBN_ENDPOINT_SET_ECE;
        peer->ece_vendor_id = peer_vendor;
        peer->ece_options = 0x80818283;
        peer->ece_comp_mask = 0x90;
    }
}

static int32_t state_now(void)
{
    NEW(vbn_qp_info, info);

    OK(vbn_qp_query(g.qp, &info));
    return info.qp_state;
}

/* The peer's options are set before the first step, if this side has some of that vendor; else there is a name for it, or nothing
 * happens. */
static void ece_while_connecting(void)
{
    vbn_endpoint_info local, peer;
    vbn_qp_attr reset = {.struct_size = sizeof(reset), .set = VBN_QP_STATE, .qp_state = VBN_QPS_RESET};

    begin();
    with_options(&local, &peer, 0x15b3, 0x15b3);
    OK(vbn_qp_connect(g.qp, &local, &peer, NULL));
    MUST(options.calls == 1 && options.state == IBV_QPS_RESET, "%d calls, in state %d", options.calls, options.state);
    MUST(options.told.vendor_id == 0x15b3 && options.told.options == 0x80818283 && options.told.comp_mask == 0x90, "what was told");
    MUST(state_now() == VBN_QPS_RTS, "state %d", state_now());
    /* A repeated call changes nothing. */
    OK(vbn_qp_connect(g.qp, &local, &peer, NULL));
    MUST(options.calls == 1, "%d calls", options.calls);
    /* From INIT, too. */
    OK(vbn_qp_modify(g.qp, &reset));
    OK(vbn_qp_to_init(g.qp, NULL));
    OK(vbn_qp_connect(g.qp, &local, &peer, NULL));
    MUST(options.calls == 2 && options.state == IBV_QPS_INIT, "%d calls, in state %d", options.calls, options.state);
    OK(vbn_qp_modify(g.qp, &reset));
    /* On one side only, or with nothing to offer: no options. */
    for (int i = 0; i < 4; i++) {
        with_options(&local, &peer, i == 0 ? 0 : 0x15b3, i == 1 ? 0 : 0x15b3);
        if (i == 2)
            local.ece_options = 0;
        if (i == 3)
            peer.ece_options = 0;
        OK(vbn_qp_connect(g.qp, &local, &peer, NULL));
        MUST(options.calls == 2, "[%d] %d calls", i, options.calls);
        OK(vbn_qp_modify(g.qp, &reset));
    }
    end();
}

static void ece_that_does_not_fit(void)
{
    static const struct {
        int err;
        vbn_status status;
    } refusals[] = {{EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED}, {EINVAL, VBN_ERR_DRIVER}, {ENOMEM, VBN_ERR_NO_MEMORY}};
    vbn_endpoint_info local, peer;

    begin();
    with_options(&local, &peer, 0x15b3, 0x1d0f);
    WANT(vbn_qp_connect(g.qp, &local, &peer, NULL), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(VBN_MISMATCH_ECE, 0);
    WANT_TEXT("vendor 0x15b3");
    WANT_TEXT("0x1d0f");
    WANT_TEXT("VBN_ENDPOINT_SET_ECE");
    MUST(!options.calls && state_now() == VBN_QPS_RESET, "a step was made");
    with_options(&local, &peer, 0x15b3, 0x15b3);
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        null.fail("ibv_set_ece", 1, refusals[i].err);
        WANT(vbn_qp_connect(g.qp, &local, &peer, NULL), refusals[i].status);
        WANT_ERRNO(refusals[i].err);
        WANT_TEXT("ibv_set_ece");
        WANT_TEXT("VBN_ENDPOINT_SET_ECE");
        MUST(state_now() == VBN_QPS_RESET, "a step was made");
    }
    /* The remedy that it names. */
    local.set &= ~VBN_ENDPOINT_SET_ECE;
    peer.set &= ~VBN_ENDPOINT_SET_ECE;
    OK(vbn_qp_connect(g.qp, &local, &peer, NULL));
    end();
}

/* ---- The port's speed ---- */

/* Since rdma-core 49 the struct has one more field. */
enum { SPEED_EX = 52 };
static uint32_t speed_ex;
static int (*real_query_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);

static int fake_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
    int err = real_query_port(context, port, attr, size);

    MUST(size == SPEED_EX + 4, "the struct has %zu bytes", size);
    memcpy((char *)attr + SPEED_EX, &speed_ex, 4);
    return err;
}

static void port_speed(void)
{
    static const int unsupported[] = {EOPNOTSUPP, ENOSYS, EINVAL};
    NEW(vbn_port_attr, port);
    struct verbs_context *table;

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(unsupported); i++) {
        speed.err = unsupported[i];
        speed.answer = 77;
        memset(&port, 0x5a, sizeof(port));
        port.struct_size = sizeof(port);
        OK(vbn_context_query_port(g.context, 1, &port));
        MUST(!(port.valid & VBN_PORT_VALID_SPEED) && !port.speed_100mbps, "[%zu] a speed that wasn't told", i);
        MUST(!(port.valid & VBN_PORT_VALID_SPEED_EX) && !port.active_speed_ex, "[%zu] speed_ex", i);
    }
    speed.err = 0;
    speed.answer = 0x123456789abc;
    table = verbs_get_ctx(g.ibv_context);
    real_query_port = table->query_port;
    table->query_port = fake_query_port;
    speed_ex = 256;
    OK(vbn_context_query_port(g.context, 1, &port));
    MUST(port.valid & VBN_PORT_VALID_SPEED && port.speed_100mbps == 0x123456789abc && speed.port == 1, "speed 0x%llx of port %u", (unsigned long long)port.speed_100mbps, speed.port);
    MUST(port.valid & VBN_PORT_VALID_SPEED_EX && port.active_speed_ex == 256 && port.active_speed == 32, "active_speed_ex %u", port.active_speed_ex);
    CHECK_STR(vbn_port_speed_name(port.active_speed_ex), "XDR (200 Gbit/s)");
    CHECK_STR(vbn_port_width_name(port.active_width), "4X");
    table->query_port = real_query_port;
    end();
}

/* The answers of three generations of libibverbs. */
static void data_in_order(void)
{
    static const struct { int answer, newest; uint32_t flags, want; } cases[] = {
        {0, 0, 0, 0}, {1, 0, 0, 3}, {1, 0, VBN_IN_ORDER_DEVICE_ONLY, 0},
        {0, 1, 0, 0}, {2, 1, 0, 2}, {3, 1, 0, 3}, {2, 1, VBN_IN_ORDER_DEVICE_ONLY, 3}, {1, 1, VBN_IN_ORDER_DEVICE_ONLY, 2}, {1, 1, 0, 3}, {0x102, 1, 0, 2},
    };
    uint32_t caps;

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        in_order = cases[i].answer;
        in_order_newest = cases[i].newest;
        caps = 77;
        OK(vbn_qp_data_in_order(g.qp, VBN_WR_RDMA_WRITE, cases[i].flags, &caps));
        MUST(caps == cases[i].want, "[%zu] %u", i, caps);
    }
    end();
}

static struct ibv_qp_rate_limit_attr limited;

static int fake_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    MUST(qp == g.ibv_qp, "queue pair");
    limited = *attr;
    return 0;
}

static void rate_limit(void)
{
    vbn_qp_rate_limit_attr attr = {.struct_size = sizeof(attr), .rate_limit = 123456, .max_burst_sz = 0x12345, .typical_pkt_sz = 1500};

    begin();
    verbs_get_ctx(g.ibv_context)->modify_qp_rate_limit = fake_rate_limit;
    OK(vbn_qp_modify_rate_limit(g.qp, &attr));
    MUST(limited.rate_limit == 123456 && limited.max_burst_sz == 0x12345 && limited.typical_pkt_sz == 1500 && !limited.comp_mask, "fields");
    null.device_attr()->packet_pacing_caps.qp_rate_limit_min = 100;
    null.device_attr()->packet_pacing_caps.qp_rate_limit_max = 123455;
    WANT(vbn_qp_modify_rate_limit(g.qp, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(123456, 123455);
    attr.rate_limit = 99;
    WANT(vbn_qp_modify_rate_limit(g.qp, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(99, 100);
    WANT_TEXT("below");
    attr.rate_limit = 100;
    OK(vbn_qp_modify_rate_limit(g.qp, &attr));
    attr.rate_limit = 0;
    OK(vbn_qp_modify_rate_limit(g.qp, &attr));
    MUST(!limited.rate_limit, "not ended");
    verbs_get_ctx(g.ibv_context)->modify_qp_rate_limit = NULL;
    WANT(vbn_qp_modify_rate_limit(g.qp, &attr), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("pace");
    end();
    begin();
    null.fail("ibv_modify_qp_rate_limit", 1, EINVAL);
    WANT(vbn_qp_modify_rate_limit(g.qp, &attr), VBN_ERR_DRIVER);
    WANT_TEXT("RTR");
    end();
}

/* ---- The device ---- */

static struct ibv_values_ex values;

static int fake_rt_values(struct ibv_context *context, struct ibv_values_ex *out)
{
    MUST(context == g.ibv_context && out->comp_mask == IBV_VALUES_MASK_RAW_CLOCK, "mask 0x%x", out->comp_mask);
    *out = values;
    return 0;
}

static void raw_clock(void)
{
    NEW(vbn_rt_values, got);

    begin();
    verbs_get_ctx(g.ibv_context)->query_rt_values = fake_rt_values;
    values = (struct ibv_values_ex){.comp_mask = IBV_VALUES_MASK_RAW_CLOCK, .raw_clock = {5, 0x123456789a}};
    OK(vbn_context_query_rt_values(g.context, &got));
    MUST(got.valid == VBN_RT_RAW_CLOCK && got.raw_clock_sec == 5 && got.raw_clock_nsec == 0x123456789a, "clock");
    values.comp_mask = 0;
    OK(vbn_context_query_rt_values(g.context, &got));
    MUST(!got.valid && !got.raw_clock_sec && !got.raw_clock_nsec, "a clock that isn't told");
    verbs_get_ctx(g.ibv_context)->query_rt_values = NULL;
    WANT(vbn_context_query_rt_values(g.context, &got), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("clock");
    end();
    begin();
    null.fail("ibv_query_rt_values_ex", 1, EFAULT);
    WANT(vbn_context_query_rt_values(g.context, &got), VBN_ERR_DRIVER);
    end();
}

/* ---- Domains ---- */

static struct ibv_parent_domain_init_attr parent_told;
static struct ibv_pd *(*real_alloc_parent)(struct ibv_context *, struct ibv_parent_domain_init_attr *);

static struct ibv_pd *fake_alloc_parent(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
    MUST(context == g.ibv_context, "context");
    parent_told = *attr;
    return real_alloc_parent(context, attr);
}

static vbn_live_info live_now(void)
{
    NEW(vbn_live_info, live);

    OK(vbn_context_live(g.context, &live));
    return live;
}

/* In every order of closing, all goes with its last user. */
static void parent_domains(void)
{
    for (int order = 0; order < 24; order++) {
        vbn_pd_attr attr = {.struct_size = sizeof(attr), .user_data = 7};
        int left[4] = {0, 1, 2, 3}, rest = order;
        vbn_pd *pd, *parent;
        vbn_mr *mr;
        vbn_td *td;
        NEW(vbn_pd_info, info);
        struct nullv_live l;
        struct ibv_pd *native;

        begin();
        real_alloc_parent = verbs_get_ctx(g.ibv_context)->alloc_parent_domain;
        verbs_get_ctx(g.ibv_context)->alloc_parent_domain = fake_alloc_parent;
        OK(vbn_pd_alloc(g.context, NULL, &pd));
        OK(vbn_td_alloc(g.context, NULL, &td));
        OK(vbn_pd_alloc_parent(pd, td, &attr, &parent));
        OK(vbn_pd_native(pd, &native));
        MUST(parent_told.pd == native && parent_told.td && !parent_told.comp_mask && !parent_told.alloc && !parent_told.free, "told");
        OK(vbn_pd_query(parent, &info));
        MUST(info.user_data == 7, "user_data");
        OK(vbn_mr_reg(parent, rig_memory, 64, 0, NULL, &mr));
        MUST(live_now().td_open == 1 && live_now().pd_open == 3, "td_open %u", live_now().td_open);
        for (int n = 4; n > 0; n--) {
            int at = rest % n, which = left[at];

            rest /= n;
            left[at] = left[n - 1];
            if (which == 0)
                OK(vbn_pd_close(&pd));
            else if (which == 1)
                OK(vbn_td_close(&td));
            else if (which == 2)
                OK(vbn_pd_close(&parent));
            else
                OK(vbn_mr_close(&mr));
        }
        null.live(&l);
        MUST(!l.tds && !live_now().td_open && !live_now().td_closed && !live_now().td_refused, "[%d] %u thread domains are left", order, l.tds);
        MUST(l.pds == 1, "[%d] %u domains are left", order, l.pds);
        end();
    }
}

static void parent_failures(void)
{
    vbn_td *td;
    vbn_pd *parent;

    begin();
    null.fail("ibv_alloc_td", 1, ENOMEM);
    WANT(vbn_td_alloc(g.context, NULL, &td), VBN_ERR_NO_MEMORY);
    MUST(!td, "*out");
    OK(vbn_td_alloc(g.context, NULL, &td));
    null.fail("ibv_alloc_parent_domain", 1, EINVAL);
    WANT(vbn_pd_alloc_parent(g.pd, td, NULL, &parent), VBN_ERR_DRIVER);
    MUST(!parent, "*out");
    OK(vbn_pd_alloc_parent(g.pd, td, NULL, &parent));
    null.fail("ibv_dealloc_pd", 1, EBUSY);
    WANT(vbn_pd_close(&parent), VBN_ERR_BUSY);
    OK(vbn_pd_close(&parent));
    null.fail("ibv_dealloc_td", 1, EBUSY);
    WANT(vbn_td_close(&td), VBN_ERR_BUSY);
    OK(vbn_td_close(&td));
    /* A deferred deallocation that is refused is tried again. */
    OK(vbn_td_alloc(g.context, NULL, &td));
    OK(vbn_pd_alloc_parent(g.pd, td, NULL, &parent));
    OK(vbn_td_close(&td));
    MUST(live_now().td_closed == 1, "td_closed %u", live_now().td_closed);
    null.fail("ibv_dealloc_td", 1, EBUSY);
    OK(vbn_pd_close(&parent));
    OK(vbn_pd_alloc(g.context, NULL, &parent));
    OK(vbn_pd_close(&parent));
    MUST(!live_now().td_refused && !live_now().td_closed, "td_refused %u", live_now().td_refused);
    verbs_get_ctx(g.ibv_context)->alloc_td = NULL;
    WANT(vbn_td_alloc(g.context, NULL, &td), VBN_ERR_NOT_SUPPORTED);
    verbs_get_ctx(g.ibv_context)->alloc_parent_domain = NULL;
    WANT(vbn_pd_alloc_parent(g.pd, NULL, NULL, &parent), VBN_ERR_NOT_SUPPORTED);
    end();
}

/* EFA's shared address handles are made in the PD behind a parent domain, and idle ones outlive it. */
static void parent_on_efa(void)
{
    vbn_ah_attr attr = {.struct_size = sizeof(attr), .path = {.dgid = {0xfe, 0x80, [15] = 9}, .is_global = 1, .port_num = 1}};
    NEW(vbn_live_info, live);
    vbn_context *context;
    struct ibv_pd *root;
    struct ibv_ah *native;
    vbn_pd *pd, *parent;
    vbn_ah *ah;

    null_begin();
    OK(vbn_context_open("nullefa0", NULL, &context));
    OK(vbn_pd_alloc(context, NULL, &pd));
    OK(vbn_pd_native(pd, &root));
    OK(vbn_pd_alloc_parent(pd, NULL, NULL, &parent));
    OK(vbn_ah_create(parent, &attr, &ah));
    OK(vbn_ah_native(ah, &native));
    MUST(native->pd == root, "the handle is in the parent domain");
    OK(vbn_ah_close(&ah));
    OK(vbn_context_live(context, &live));
    MUST(live.ah_idle == 1, "%u idle handles", live.ah_idle);
    OK(vbn_pd_close(&parent));
    OK(vbn_context_live(context, &live));
    MUST(live.ah_idle == 1 && !live.pd_closed && !live.pd_refused, "%u idle handles after the parent domain's end", live.ah_idle);
    OK(vbn_pd_close(&pd));
    OK(vbn_context_live(context, &live));
    MUST(!live.ah_idle && !live.pd_refused, "%u idle handles after the PD's end", live.ah_idle);
    OK(vbn_context_close(&context));
    null_clean();
}

/* ---- Memory of the device ---- */

static struct ibv_alloc_dm_attr dm_told;
static struct ibv_dm *(*real_alloc_dm)(struct ibv_context *, struct ibv_alloc_dm_attr *);

static struct ibv_dm *fake_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    dm_told = *attr;
    return real_alloc_dm(context, attr);
}

static void device_memory(void)
{
    vbn_dm_attr attr = {.struct_size = sizeof(attr), .length = 1000, .log_align = 6, .user_data = 5};
    vbn_mr_attr mr_attr = {.struct_size = sizeof(mr_attr), .owner = &g, .user_data = 6};
    struct nullv_mr_args told;
    NEW(vbn_dm_info, info);
    char bytes[1000], back[1000];
    struct nullv_live l;
    vbn_mr_info m;
    vbn_dm *dm;
    vbn_mr *mr;

    begin();
    real_alloc_dm = verbs_get_ctx(g.ibv_context)->alloc_dm;
    verbs_get_ctx(g.ibv_context)->alloc_dm = fake_alloc_dm;
    OK(vbn_dm_alloc(g.context, &attr, &dm));
    MUST(dm_told.length == 1000 && dm_told.log_align_req == 6 && !dm_told.comp_mask, "told");
    OK(vbn_dm_query(dm, &info));
    MUST(info.user_data == 5 && info.length == 1000, "length %llu", (unsigned long long)info.length);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 7 + i / 256);
    OK(vbn_dm_copy_to(dm, 0, bytes, 1000));
    OK(vbn_dm_copy_to(dm, 300, bytes, 50));
    memset(back, 0x5a, sizeof(back));
    OK(vbn_dm_copy_from(dm, 200, back, 300));
    CHECK_MEM(back, bytes + 200, 100);
    CHECK_MEM(back + 100, bytes, 50);
    CHECK_MEM(back + 150, bytes + 350, 150);
    MUST(back[300] == 0x5a, "more was written");
    OK(vbn_mr_reg_dm(g.pd, dm, 100, 900, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE, &mr_attr, &mr));
    MUST(!null.last_reg_mr(&told) && !strcmp(told.fn, "ibv_reg_dm_mr") && told.offset == 100 && told.length == 900, "told");
    MUST(told.access == (VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_ZERO_BASED), "access 0x%x", told.access);
    m = info_of(mr);
    MUST(m.kind == VBN_MR_DM && !m.addr && !m.remote_addr && m.length == 900 && m.owner == &g && m.user_data == 6, "kind %d", m.kind);
    MUST(live_now().dm_open == 1, "dm_open %u", live_now().dm_open);
    OK(vbn_dm_close(&dm));
    MUST(live_now().dm_closed == 1 && !live_now().dm_open, "dm_closed %u", live_now().dm_closed);
    OK(vbn_mr_close(&mr));
    null.live(&l);
    MUST(!l.dms && !live_now().dm_closed && !live_now().dm_refused, "%u are left", l.dms);
    end();
}

static void device_memory_fails(void)
{
    vbn_dm_attr attr = {.struct_size = sizeof(attr), .length = 64};
    vbn_dm *dm;
    vbn_mr *mr;
    char bytes[8];

    begin();
    null.fail("ibv_alloc_dm", 1, ENOMEM);
    WANT(vbn_dm_alloc(g.context, &attr, &dm), VBN_ERR_NO_MEMORY);
    MUST(!dm, "*out");
    OK(vbn_dm_alloc(g.context, &attr, &dm));
    null.fail("ibv_reg_dm_mr", 1, EINVAL);
    WANT(vbn_mr_reg_dm(g.pd, dm, 0, 64, 0, NULL, &mr), VBN_ERR_DRIVER);
    MUST(!mr, "*out");
    verbs_get_ctx(g.ibv_context)->reg_dm_mr = NULL;
    WANT(vbn_mr_reg_dm(g.pd, dm, 0, 64, 0, NULL, &mr), VBN_ERR_NOT_SUPPORTED);
    null.fail("ibv_free_dm", 1, EBUSY);
    WANT(vbn_dm_close(&dm), VBN_ERR_BUSY);
    OK(vbn_dm_copy_from(dm, 0, bytes, 8));
    OK(vbn_dm_close(&dm));
    verbs_get_ctx(g.ibv_context)->alloc_dm = NULL;
    WANT(vbn_dm_alloc(g.context, &attr, &dm), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("max_dm_size");
    end();
}

/* ---- In and out ---- */

static int destroyed_by_hand;
static int by_hand(void *native, void *arg)
{
    destroyed_by_hand++;
    if (arg)
        return verbs_get_ctx(g.ibv_context)->dealloc_td(native);
    return verbs_get_ctx(g.ibv_context)->free_dm(native);
}

static void domains_in_and_out(void)
{
    vbn_adopt_attr attr = {.struct_size = sizeof(attr)};
    struct ibv_td *raw, *lent;
    struct nullv_live l;
    vbn_td *td, *same;
    vbn_pd *parent;

    begin();
    OK(vbn_td_alloc(g.context, NULL, &td));
    OK(vbn_td_native(td, &lent));
    MUST(lent->context == g.ibv_context, "the domain");
    /* Borrowed: used, and left alone. */
    OK(vbn_td_adopt(g.context, lent, NULL, &same));
    OK(vbn_pd_alloc_parent(g.pd, same, NULL, &parent));
    OK(vbn_td_close(&same));
    OK(vbn_pd_close(&parent));
    attr.ownership = VBN_ADOPT_OWN;
    WANT(vbn_td_adopt(g.context, lent, &attr, &same), VBN_ERR_ARGUMENT);
    WANT_TEXT("already has a handle");
    /* Given away only when nobody uses it. */
    OK(vbn_pd_alloc_parent(g.pd, td, NULL, &parent));
    WANT(vbn_td_release(&td, &raw), VBN_ERR_BUSY);
    OK(vbn_pd_close(&parent));
    OK(vbn_td_release(&td, &raw));
    MUST(!td && raw == lent && !live_now().td_open, "released");
    OK(vbn_td_adopt(g.context, raw, &attr, &td));
    OK(vbn_td_close(&td));
    null.live(&l);
    MUST(!l.tds, "%u domains are left", l.tds);
    OK(vbn_td_alloc(g.context, NULL, &td));
    OK(vbn_td_release(&td, &raw));
    attr = (vbn_adopt_attr){.struct_size = sizeof(attr), .ownership = VBN_ADOPT_CUSTOM, .destroy = by_hand, .destroy_arg = &g};
    OK(vbn_td_adopt(g.context, raw, &attr, &td));
    destroyed_by_hand = 0;
    OK(vbn_td_close(&td));
    null.live(&l);
    MUST(destroyed_by_hand == 1 && !l.tds, "destroyed %d times", destroyed_by_hand);
    end();
}

static void device_memory_in_and_out(void)
{
    vbn_dm_attr attr = {.struct_size = sizeof(attr), .length = 100};
    vbn_adopt_attr adopt = {.struct_size = sizeof(adopt), .user_data = 9};
    struct ibv_dm *raw, *lent;
    NEW(vbn_dm_info, info);
    struct nullv_live l;
    char bytes[8] = "0123456", back[8];
    vbn_dm *dm, *same;
    vbn_mr *mr;

    begin();
    OK(vbn_dm_alloc(g.context, &attr, &dm));
    OK(vbn_dm_native(dm, &lent));
    OK(vbn_dm_adopt(g.context, lent, 100, &adopt, &same));
    OK(vbn_dm_query(same, &info));
    MUST(info.length == 100 && info.user_data == 9, "length %llu", (unsigned long long)info.length);
    OK(vbn_dm_copy_to(dm, 92, bytes, 8));
    OK(vbn_dm_copy_from(same, 92, back, 8));
    CHECK_MEM(back, bytes, 8);
    WANT(vbn_dm_copy_from(same, 93, back, 8), VBN_ERR_ARGUMENT);
    OK(vbn_dm_close(&same));
    adopt.ownership = VBN_ADOPT_OWN;
    WANT(vbn_dm_adopt(g.context, lent, 100, &adopt, &same), VBN_ERR_ARGUMENT);
    OK(vbn_mr_reg_dm(g.pd, dm, 0, 64, 0, NULL, &mr));
    WANT(vbn_dm_release(&dm, &raw), VBN_ERR_BUSY);
    OK(vbn_mr_close(&mr));
    OK(vbn_dm_release(&dm, &raw));
    MUST(!dm && raw == lent && !live_now().dm_open, "released");
    OK(vbn_dm_adopt(g.context, raw, 100, &adopt, &dm));
    OK(vbn_mr_reg_dm(g.pd, dm, 36, 64, 0, NULL, &mr));
    OK(vbn_dm_close(&dm));
    OK(vbn_mr_close(&mr));
    null.live(&l);
    MUST(!l.dms, "%u are left", l.dms);
    OK(vbn_dm_alloc(g.context, &attr, &dm));
    OK(vbn_dm_release(&dm, &raw));
    adopt = (vbn_adopt_attr){.struct_size = sizeof(adopt), .ownership = VBN_ADOPT_CUSTOM, .destroy = by_hand};
    OK(vbn_dm_adopt(g.context, raw, 100, &adopt, &dm));
    destroyed_by_hand = 0;
    OK(vbn_dm_close(&dm));
    null.live(&l);
    MUST(destroyed_by_hand == 1 && !l.dms, "destroyed %d times", destroyed_by_hand);
    end();
}

static void device_memory_of_another_process(void)
{
    vbn_dm_attr attr = {.struct_size = sizeof(attr), .length = 4096, .user_data = 3};
    NEW(vbn_dm_info, info);
    vbn_dm *dm, *other;

    begin();
    unimported_dms = 0;
    OK(vbn_dm_import(g.context, 5, &attr, &dm));
    OK(vbn_dm_query(dm, &info));
    MUST(info.handle == 5 && info.length == 4096 && info.user_data == 3 && !info.reserved0, "handle %u", info.handle);
    WANT(vbn_dm_import(g.context, 6, &attr, &other), VBN_ERR_DRIVER);
    WANT_ERRNO(ENOENT);
    WANT_TEXT("number");
    MUST(!other && import.handle == 6, "*out");
    OK(vbn_dm_close(&dm));
    MUST(unimported_dms == 1, "let go %d times", unimported_dms);
    end();
}

/* ---- Another process's objects ---- */

static void import_all(void)
{
    vbn_context_attr attr = {.struct_size = sizeof(attr), .user_data = 9};
    vbn_mr_attr mr_attr = {.struct_size = sizeof(mr_attr), .set = VBN_MR_SET_IOVA, .iova = 0x123000, .owner = &g, .user_data = 11};
    NEW(vbn_context_info, info);
    vbn_context *context;
    vbn_mr_info m;
    vbn_pd *pd;
    vbn_mr *mr, *other;
    int fd = -1;

    begin();
    memset(&import, 0, sizeof(import));
    OK(vbn_context_export(g.context, &fd));
    MUST(fd > 2 && fd != g.ibv_context->cmd_fd && fcntl(fd, F_GETFD) == FD_CLOEXEC, "fd %d", fd);
    OK(vbn_context_import(fd, &attr, &context));
    MUST(import.fd != fd, "the caller's descriptor was given away");
    OK(vbn_context_query(context, &info));
    MUST(info.user_data == 9 && !strcmp(info.name, "null0"), "name %s", info.name);
    OK(vbn_pd_import(context, 5, NULL, &pd));
    OK(vbn_mr_import(pd, 5, &mr_attr, &mr));
    m = info_of(mr);
    MUST(m.kind == VBN_MR_IMPORTED && m.addr == 0x123000 && m.remote_addr == 0x123000 && m.length == 12345 && m.lkey == 77 && m.rkey == 88 && m.handle == 5, "kind %d", m.kind);
    MUST(!m.memory && m.owner == &g && m.user_data == 11 && !m.access, "memory, owner");
    WANT(vbn_mr_import(pd, 6, &mr_attr, &other), VBN_ERR_DRIVER);
    WANT_ERRNO(ENOENT);
    MUST(!other && import.handle == 6, "*out");
    WANT(vbn_pd_import(context, 7, NULL, (vbn_pd **)&other), VBN_ERR_DRIVER);
    WANT_TEXT("number");
    OK(vbn_pd_close(&pd));
    MUST(!import.unimported_pds, "the domain ended before its region");
    OK(vbn_mr_close(&mr));
    MUST(import.unimported_pds == 1 && import.unimported_mrs == 1, "%d, %d", import.unimported_pds, import.unimported_mrs);
    OK(vbn_context_close(&context));
    MUST(!close(fd), "the caller's descriptor was closed");
    end();
}

static void import_failures(void)
{
    static const struct {
        int err;
        vbn_status status;
        const char *text;
    } failures[] = {
        {EINVAL, VBN_ERR_DRIVER, "vbn_context_export"}, {EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED, "mlx5"}, {ENOMEM, VBN_ERR_NO_MEMORY, "ibv_import_device"},
    };
    vbn_context *context;
    int fd;

    begin();
    OK(vbn_context_export(g.context, &fd));
    for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
        import.err = failures[i].err;
        WANT(vbn_context_import(fd, NULL, &context), failures[i].status);
        WANT_TEXT(failures[i].text);
        MUST(!context && fcntl(import.fd, F_GETFD) == -1, "a descriptor is left over");
    }
    import.err = 0;
    null.fail("ibv_query_device", 1, EIO);
    WANT(vbn_context_import(fd, NULL, &context), VBN_ERR_DRIVER);
    MUST(!context && fcntl(import.fd, F_GETFD) == -1, "a descriptor is left over");
    MUST(!close(fd), "the caller's descriptor was closed");
    end();
}

static const struct test tests[] = {
    {"moderation_arrives", moderation_arrives},
    {"moderation_limits", moderation_limits},
    {"moderation_fails", moderation_fails},
    {"resize", resize},
    {"fields_are_named", fields_are_named},
    {"fields_are_read", fields_are_read},
    {"rereg_everything", rereg_everything},
    {"rereg_one_by_one", rereg_one_by_one},
    {"rereg_codes", rereg_codes},
    {"rereg_kinds", rereg_kinds},
    {"null_region", null_region},
    {"advice_arrives", advice_arrives},
    {"advice_fails", advice_fails},
    {"on_demand", on_demand},
    {"ece", ece},
    {"ece_while_connecting", ece_while_connecting},
    {"ece_that_does_not_fit", ece_that_does_not_fit},
    {"port_speed", port_speed},
    {"data_in_order", data_in_order},
    {"rate_limit", rate_limit},
    {"raw_clock", raw_clock},
    {"parent_domains", parent_domains},
    {"parent_failures", parent_failures},
    {"parent_on_efa", parent_on_efa},
    {"device_memory", device_memory},
    {"device_memory_fails", device_memory_fails},
    {"domains_in_and_out", domains_in_and_out},
    {"device_memory_in_and_out", device_memory_in_and_out},
    {"device_memory_of_another_process", device_memory_of_another_process},
    {"import_all", import_all},
    {"import_failures", import_failures},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    NEW(vbn_library_attr, attr);

    setenv("NULLV_EFA", "1", 1);
    null_start();
    library = dlopen(getenv("VBN_IBVERBS_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    attr.library = VBN_LIBRARY_IBVERBS;
    attr.lookup = lookup;
    OK(vbn_library_init(&attr));
    return test_main("null_ext", tests, argc, argv);
}
