/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Questions to libefa, over one of ours: every field arrives, each kind of failure is told alike, and a missing function names its release. The
 * functions are taken once a process, so each test runs in a child.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "null_efa.h"

static vbn_library_info library(void)
{
    NEW(vbn_library_info, info);

    OK(vbn_library_query(VBN_LIBRARY_EFA, &info));
    MUST(info.library == VBN_LIBRARY_EFA && !!info.loaded == !info.error[0], "loaded %u, error: %s", info.loaded, info.error);
    return info;
}

static void every_field(void)
{
    NEW(vbn_efa_device_info, device);
    NEW(vbn_efa_cq_info, cq);
    NEW(vbn_efa_wq_info, sq);
    NEW(vbn_efa_wq_info, rq);
    NEW(vbn_efa_mr_info, mr);
    NEW(vbn_efa_sq_attr, sq_attr);
    NEW(vbn_efa_rq_attr, rq_attr);
    uint32_t depth = 0;
    uint16_t ahn = 0;
    struct efa_rig r;

    efa_use();
    r = efa_rig_open();
    OK(vbn_efa_query_device(r.context, &device));
    MUST(device.caps == 0x5b && device.max_rdma_size == 1 << 30 && device.max_sq_wr == 4096 && device.max_rq_wr == 32768, "device");
    MUST(device.max_sq_sge == 2 && device.max_rq_sge == 3 && device.inline_buf_size == 32 && device.inline_buf_size_ex == 80, "device");
    OK(vbn_efa_query_cq(r.cq, &cq));
    MUST(efa.inlen == sizeof(struct efa_ring), "inlen %u", efa.inlen);
    MUST(cq.buffer == efa.ring && cq.doorbell == efa.doorbell && cq.entry_size == 16 && cq.num_entries == 100, "cq");
    OK(vbn_efa_query_qp(r.qp, &sq, &rq));
    MUST(efa.inlen == sizeof(struct efa_wq), "inlen %u", efa.inlen);
    MUST(sq.buffer == efa.ring + 16 && sq.doorbell == efa.doorbell + 1 && sq.entry_size == 32 && sq.num_entries == 101, "sq");
    MUST(sq.max_batch == 7 && sq.caps == VBN_EFA_WQ_64_BIT_REQ_ID, "sq");
    MUST(rq.buffer == efa.ring + 32 && rq.doorbell == efa.doorbell + 2 && rq.entry_size == 64 && rq.num_entries == 102, "rq");
    MUST(rq.max_batch == 8 && !rq.caps, "rq");
    OK(vbn_efa_query_mr(r.mr, &mr));
    MUST(efa.inlen == sizeof(struct efa_mr_attr), "inlen %u", efa.inlen);
    MUST(mr.valid == (VBN_EFA_MR_RECV_IC_ID | VBN_EFA_MR_RDMA_RECV_IC_ID), "valid %u", mr.valid);
    MUST(mr.recv_ic_id == 0x1111 && !mr.rdma_read_ic_id && mr.rdma_recv_ic_id == 0x3333, "mr");
    OK(vbn_efa_query_ah(r.ah, &ahn));
    MUST(efa.inlen == 16 && ahn == 0xabcd, "inlen %u, number %u", efa.inlen, ahn);
    sq_attr.flags = VBN_EFA_SQ_INLINE_WRITE;
    sq_attr.max_send_sge = 2;
    sq_attr.max_inline_data = 80;
    OK(vbn_efa_max_sq_depth(r.context, &sq_attr, &depth));
    MUST(depth == 2048 && efa.inlen == sizeof(efa.sq), "depth %u, inlen %u", depth, efa.inlen);
    MUST(efa.sq.flags == 1 && efa.sq.max_send_sge == 2 && !efa.sq.max_rdma_sge && efa.sq.max_inline_data == 80, "sq");
    rq_attr.max_recv_sge = 3;
    OK(vbn_efa_max_rq_depth(r.context, &rq_attr, &depth));
    MUST(depth == 32768 / 3 && efa.inlen == sizeof(efa.rq) && efa.rq.max_recv_sge == 3 && !efa.rq.tail, "depth %u", depth);
    efa_rig_close(&r);
}

/* Calls each function once; all must fail with this status and errno, and name themselves. */
static void all_fail(struct efa_rig *r, vbn_status wanted, int number)
{
    NEW(vbn_efa_cq_info, cq);
    NEW(vbn_efa_wq_info, wq);
    NEW(vbn_efa_mr_info, mr);
    NEW(vbn_efa_rq_attr, rq);
    uint32_t depth = 77;
    uint16_t ahn = 77;

    rq.max_recv_sge = 1;
#define FAILS(call, symbol) \
    do { \
        WANT(call, wanted); \
        WANT_ERRNO(number); \
        WANT_TEXT(symbol); \
        WANT_TEXT("null1"); \
    } while (0)
    efa.set_errno = E2BIG; /* not looked at where the answer is an errno itself */
    FAILS(vbn_efa_query_cq(r->cq, &cq), "efadv_query_cq");
    FAILS(vbn_efa_query_qp(r->qp, &wq, NULL), "efadv_query_qp_wqs");
    FAILS(vbn_efa_query_mr(r->mr, &mr), "efadv_query_mr");
    FAILS(vbn_efa_query_ah(r->ah, &ahn), "efadv_query_ah");
    efa.ret = efa.ret > 0 ? -efa.ret : efa.ret;
    FAILS(vbn_efa_max_sq_depth(r->context, NULL, &depth), "efadv_get_max_sq_depth");
    FAILS(vbn_efa_max_rq_depth(r->context, &rq, &depth), "efadv_get_max_rq_depth");
    MUST(depth == 77 && ahn == 77 && !cq.buffer && !wq.buffer && !mr.valid, "an output was written");
}

/* The query functions return an errno, those of depth a negated one; the caller sees no difference. */
static void signs_of_errors(void)
{
    static const struct {
        int number;
        vbn_status status;
    } errors[] = {{EINVAL, VBN_ERR_DRIVER}, {ENOMEM, VBN_ERR_NO_MEMORY}, {EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED}, {EPROTONOSUPPORT, VBN_ERR_NOT_SUPPORTED},
                  {EBUSY, VBN_ERR_BUSY}, {ENODEV, VBN_ERR_DEVICE_GONE}};
    struct efa_rig r;

    efa_use();
    r = efa_rig_open();
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        efa.ret = errors[i].number;
        all_fail(&r, errors[i].status, errors[i].number);
    }
    efa.ret = -EINVAL;
    all_fail(&r, VBN_ERR_DRIVER, EINVAL);
    MUST(efa.calls == 6 * (ARRAY_SIZE(errors) + 1), "%u calls", efa.calls);
    efa.ret = 0;
    efa_rig_close(&r);
}

/* What exceeds the device's limits doesn't reach libefa, which would say EINVAL and no more; no segments would divide by zero there. */
static void limits(void)
{
    NEW(vbn_efa_sq_attr, sq);
    NEW(vbn_efa_rq_attr, rq);
    uint32_t depth = 77;
    struct efa_rig r;

    efa_use();
    r = efa_rig_open();
    WANT(vbn_efa_max_rq_depth(r.context, &rq, &depth), VBN_ERR_ARGUMENT);
    WANT_TEXT("max_recv_sge 0");
    rq.max_recv_sge = 4;
    WANT(vbn_efa_max_rq_depth(r.context, &rq, &depth), VBN_ERR_LIMIT);
    WANT_NUMBERS(4, 3);
    sq.max_send_sge = 3;
    WANT(vbn_efa_max_sq_depth(r.context, &sq, &depth), VBN_ERR_LIMIT);
    WANT_NUMBERS(3, 2);
    WANT_TEXT("null1");
    sq.max_send_sge = 0;
    sq.max_inline_data = 81;
    WANT(vbn_efa_max_sq_depth(r.context, &sq, &depth), VBN_ERR_LIMIT);
    WANT_NUMBERS(81, 80);
    sq.max_inline_data = 0;
    sq.max_rdma_sge = UINT32_MAX;
    WANT(vbn_efa_max_sq_depth(r.context, &sq, &depth), VBN_ERR_LIMIT);
    sq.max_rdma_sge = 0;
    sq.flags = 2;
    WANT(vbn_efa_max_sq_depth(r.context, &sq, &depth), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(2, VBN_EFA_SQ_INLINE_WRITE);
    MUST(!efa.calls && depth == 77, "%u calls, depth %u", efa.calls, depth);
    efa_rig_close(&r);
}

/* An old libefa: each function that it lacks names itself and the release to have. */
static void old_library(unsigned release, const char *mr, const char *rings, const char *depths)
{
    NEW(vbn_efa_cq_info, cq_info);
    NEW(vbn_efa_wq_info, wq_info);
    NEW(vbn_efa_mr_info, mr_info);
    NEW(vbn_efa_rq_attr, rq);
    NEW(vbn_symbol_info, symbol);
    vbn_library_info info;
    uint32_t depth = 77;
    uint16_t ahn = 0;
    struct efa_rig r;

    rq.max_recv_sge = 1;
    efa.oldest = release;
    efa_use();
    r = efa_rig_open();
#define NEEDS(call, text) \
    do { \
        if (*(text)) { \
            WANT(call, VBN_ERR_SYMBOL_MISSING); \
            WANT_TEXT(text); \
            WANT_TEXT("null1"); \
        } else { \
            OK(call); \
        } \
    } while (0)
    OK(vbn_efa_query_ah(r.ah, &ahn));
    NEEDS(vbn_efa_query_mr(r.mr, &mr_info), mr);
    NEEDS(vbn_efa_query_cq(r.cq, &cq_info), rings);
    NEEDS(vbn_efa_query_qp(r.qp, &wq_info, &wq_info), rings);
    NEEDS(vbn_efa_max_sq_depth(r.context, NULL, &depth), depths);
    NEEDS(vbn_efa_max_rq_depth(r.context, &rq, &depth), depths);
    info = library();
    MUST(info.loaded && info.source == VBN_LIBRARY_FROM_LOOKUP, "source %d", info.source);
    MUST(info.release_min <= release && info.release_below > release, "release %u to %u", info.release_min, info.release_below);
    for (uint32_t i = 0; i < info.missing_count; i++) {
        OK(vbn_library_missing(VBN_LIBRARY_EFA, i, &symbol));
        MUST(!strncmp(symbol.name, "efadv_", 6) && !strncmp(symbol.version, "EFA_1.", 6) && !symbol.required, "%s %s", symbol.name, symbol.version);
        if (!strcmp(symbol.name, "efadv_query_cq"))
            CHECK_STR(symbol.needed_by, "vbn_efa_query_cq");
    }
    WANT(vbn_library_missing(VBN_LIBRARY_EFA, info.missing_count, &symbol), VBN_ERR_NOT_FOUND);
    efa_rig_close(&r);
}

static void old_44(void) { old_library(44, "efadv_query_mr is not in the loaded library; it needs rdma-core 50", "rdma-core 59", "rdma-core 63"); }
static void old_56(void) { old_library(56, "", "efadv_query_", "rdma-core 63"); }
static void old_59(void) { old_library(59, "", "", "efadv_get_max_"); }

/* ---- Where libefa comes from ---- */

static void not_an_efa(void)
{
    NEW(vbn_efa_device_info, device);
    NEW(vbn_efa_cq_info, cq);
    NEW(vbn_efa_wq_info, wq);
    NEW(vbn_efa_mr_info, mr);
    NEW(vbn_efa_rq_attr, rq);
    uint32_t depth;
    struct rig g;

    efa_use();
    g = rig_open();
    rq.max_recv_sge = 1;
#define NONE(call) \
    do { \
        WANT(call, VBN_ERR_NOT_SUPPORTED); \
        WANT_TEXT("null0"); \
        WANT_TEXT("EFA"); \
    } while (0)
    NONE(vbn_efa_query_device(g.context, &device));
    NONE(vbn_efa_query_cq(g.cq, &cq));
    NONE(vbn_efa_query_qp(g.qp, &wq, NULL));
    NONE(vbn_efa_query_mr(g.mr, &mr));
    NONE(vbn_efa_max_sq_depth(g.context, NULL, &depth));
    NONE(vbn_efa_max_rq_depth(g.context, &rq, &depth));
    MUST(!efa.calls && !library().loaded, "%u calls", efa.calls);
    rig_close(&g);
}

/* It is settled when the first EFA is opened; until then anything may be said. */
static void settled(void)
{
    NEW(vbn_library_attr, attr);
    NEW(vbn_symbol_info, symbol);
    vbn_library_info info = library();
    struct efa_rig r;

    MUST(!info.loaded && info.source == VBN_LIBRARY_FROM_PROVIDER && !info.release_min && !info.copies, "source %d", info.source);
    WANT(vbn_library_missing(VBN_LIBRARY_EFA, 0, &symbol), VBN_ERR_LIBRARY_MISSING);
    attr.library = VBN_LIBRARY_EFA;
    attr.path = "/nonexistent/libefa.so.1";
    OK(vbn_library_init(&attr));
    OK(vbn_library_init(NULL)); /* another library's setting */
    efa_use();
    r = efa_rig_open();
    efa_use();
    WANT(vbn_library_init(&attr), VBN_ERR_BUSY);
    WANT_TEXT("libefa");
    info = library();
    MUST(info.loaded && info.source == VBN_LIBRARY_FROM_LOOKUP && info.copies == 1 && info.path[0], "path %s", info.path);
    MUST(info.release_min == 65 && !info.release_below && !info.missing_count, "release %u to %u", info.release_min, info.release_below);
    efa_rig_close(&r);
    WANT(vbn_library_init(&attr), VBN_ERR_BUSY);
}

/* A file that can't be loaded: no device suffers, and the linker's words are kept. */
static void no_such_file(void)
{
    NEW(vbn_efa_device_info, device);
    NEW(vbn_library_attr, attr);
    vbn_context *context;

    MUST(!setenv("VBN_EFA_LIBRARY", "/nonexistent/environment.so", 1), "setenv");
    for (int given = 0; given < 2; given++) {
        OK(vbn_context_open("null1", NULL, &context));
        WANT(vbn_efa_query_device(context, &device), VBN_ERR_NOT_SUPPORTED);
        WANT_TEXT("VBN_LIBRARY_EFA");
        OK(vbn_context_close(&context));
        MUST(strstr(library().error, given ? "/nonexistent/given.so" : "/nonexistent/environment.so"), "error: %s", library().error);
        MUST(strstr(library().error, "No such file"), "error: %s", library().error);
        attr.library = VBN_LIBRARY_EFA;
        attr.path = "/nonexistent/given.so";
        OK(vbn_library_init(&attr));
    }
}

/* ---- Children ---- */

static void in_child(const char *name, void (*body)(void))
{
    const struct test test = {name, body};
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    MUST(child >= 0, "fork");
    if (!child)
        exit(test_child("null_efa", &test));
    MUST(waitpid(child, &status, 0) == child, "waitpid");
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0, "wait status 0x%x", (unsigned)status);
}

#define TESTS(X) \
    X(every_field) X(signs_of_errors) X(limits) X(old_44) X(old_56) X(old_59) X(not_an_efa) X(settled) X(no_such_file)

#define X(name) \
    static void child_##name(void) { in_child(#name, name); }
TESTS(X)
#undef X

static const struct test tests[] = {
#define X(name) {#name, child_##name},
    TESTS(X)
#undef X
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_efa", tests, argc, argv);
}
