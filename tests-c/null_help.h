/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests on the null provider share: its control functions, a set of live objects, and checks of the error record. */
#ifndef NULL_HELP_H
#define NULL_HELP_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <verbena.h>
#include "harness.h"
#include "../bench/null/nullv_load.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct nullv null;

/* CHECK with a message of one's own. */
static inline void __attribute__((format(printf, 4, 5))) must(const char *file, int line, int holds, const char *format, ...)
{
    char text[2048];
    va_list arguments;

    if (holds)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    test_fail(file, line, "%s", text);
}
#define MUST(holds, ...) must(__FILE__, __LINE__, (holds) ? 1 : 0, __VA_ARGS__)

/* Ends the program when the library isn't the null provider: every test of it would be void. */
static inline void null_start(void)
{
    const char *path = getenv("VBN_IBVERBS_LIBRARY");

    if (!path || nullv_load(&null, path)) {
        fprintf(stderr, "VBN_IBVERBS_LIBRARY must name the null provider's libibverbs.so.1; tests-c/run-null sets it\n");
        exit(2);
    }
}

/* This thread's last error. */
static inline const vbn_error_info *last(void)
{
    static __thread vbn_error_info info;

    memset(&info, 0x5a, sizeof(info));
    info.struct_size = sizeof(info);
    vbn_last_error(&info);
    return &info;
}

/* The status and everything that must hold of the record beside it. */
static inline void null_want(const char *file, int line, const char *call, const char *op, vbn_status got, vbn_status wanted)
{
    const vbn_error_info *e;

    must(file, line, got == wanted, "%s: %s, not %s (%s)", call, vbn_status_name(got), vbn_status_name(wanted),
           got ? last()->message : "");
    if (!got)
        return;
    e = last();
    must(file, line, e->status == got, "%s: the record says %s", call, vbn_status_name(e->status));
    must(file, line, !op || !strcmp(e->op_name, op), "%s: the record's op_name is %s", call, e->op_name);
    must(file, line, e->op > 0, "%s: the record's op is %d", call, e->op);
    must(file, line, strlen(e->message) > strlen(e->op_name) + 4, "%s: the message is \"%s\"", call, e->message);
    must(file, line, !op || !strncmp(e->message, op, strlen(op)), "%s: the message doesn't begin with %s: %s", call, op,
           e->message);
    for (size_t i = 0; i < ARRAY_SIZE(e->reserved); i++)
        must(file, line, !e->reserved[i], "%s: reserved isn't zero", call);
    if (wanted == VBN_ERR_LIMIT) {
        char number[2][24];

        snprintf(number[0], sizeof(number[0]), "%llu", (unsigned long long)e->value);
        snprintf(number[1], sizeof(number[1]), "%llu", (unsigned long long)e->limit);
        must(file, line, strstr(e->message, number[0]) && strstr(e->message, number[1]),
               "%s: value %s and limit %s aren't both in: %s", call, number[0], number[1], e->message);
    }
}

/* The operation is the name up to the parenthesis; NULL for anything but a plain call. */
static inline const char *null_op(const char *call)
{
    static __thread char name[64];
    size_t n = strcspn(call, "(");

    snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : 0), call);
    return strncmp(name, "vbn_", 4) ? NULL : name;
}

/* WANT(vbn_pd_close(&pd), VBN_ERR_BUSY): checks status, record, op_name and message. */
#define WANT(call, status) null_want(__FILE__, __LINE__, #call, null_op(#call), (call), (status))
#define OK(call) WANT(call, VBN_OK)
/* After WANT: the errno of the record. */
#define WANT_ERRNO(number) MUST(last()->sys_errno == (number), "errno %d, not %d: %s", last()->sys_errno, (number), last()->message)
#define WANT_TEXT(text) MUST(strstr(last()->message, (text)), "\"%s\" isn't in: %s", (text), last()->message)
#define WANT_NUMBERS(v, l) \
    MUST(last()->value == (uint64_t)(v) && last()->limit == (uint64_t)(l), "value %llu limit %llu: %s", \
          (unsigned long long)last()->value, (unsigned long long)last()->limit, last()->message)

#define NEW(type, name) type name = { .struct_size = sizeof(type) }

/* One of each. */
struct rig {
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_channel *channel;
    vbn_cq *cq;
    vbn_qp *qp;
    struct ibv_context *ibv_context;
    struct ibv_pd *ibv_pd;
    struct ibv_mr *ibv_mr;
    struct ibv_comp_channel *ibv_channel;
    struct ibv_cq *ibv_cq;
    struct ibv_qp *ibv_qp;
    uint32_t qpn;
};

enum { CONTEXT_DATA = 0xc0, PD_DATA, MR_DATA, CHANNEL_DATA, CQ_DATA, QP_DATA };

static char rig_memory[4096] __attribute__((aligned(4096)));

static inline struct rig rig_open(void)
{
    struct rig r = { 0 };
    NEW(vbn_context_attr, context);
    NEW(vbn_pd_attr, pd);
    NEW(vbn_mr_attr, mr);
    NEW(vbn_channel_attr, channel);
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);

    context.user_data = CONTEXT_DATA;
    OK(vbn_context_open("null0", &context, &r.context));
    pd.user_data = PD_DATA;
    OK(vbn_pd_alloc(r.context, &pd, &r.pd));
    mr.user_data = MR_DATA;
    OK(vbn_mr_reg(r.pd, rig_memory, sizeof(rig_memory), VBN_ACCESS_LOCAL_WRITE, &mr, &r.mr));
    channel.user_data = CHANNEL_DATA;
    OK(vbn_channel_create(r.context, &channel, &r.channel));
    cq.user_data = CQ_DATA;
    cq.channel = r.channel;
    cq.cqe = 256;
    OK(vbn_cq_create(r.context, &cq, &r.cq));
    qp.user_data = QP_DATA;
    qp.send_cq = r.cq;
    qp.max_send_sge = qp.max_recv_sge = 4;
    qp.max_inline_data = 64;
    qp.max_send_wr = qp.max_recv_wr = 512;
    OK(vbn_qp_create(r.pd, &qp, &r.qp));
    OK(vbn_context_native(r.context, &r.ibv_context));
    OK(vbn_pd_native(r.pd, &r.ibv_pd));
    OK(vbn_mr_native(r.mr, &r.ibv_mr));
    OK(vbn_channel_native(r.channel, &r.ibv_channel));
    OK(vbn_cq_native(r.cq, &r.ibv_cq));
    OK(vbn_qp_native(r.qp, &r.ibv_qp));
    r.qpn = vbn_qp_num(r.qp);
    return r;
}

static inline void rig_close(struct rig *r)
{
    OK(vbn_qp_close(&r->qp));
    OK(vbn_cq_close(&r->cq));
    OK(vbn_channel_close(&r->channel));
    OK(vbn_mr_close(&r->mr));
    OK(vbn_pd_close(&r->pd));
    OK(vbn_context_close(&r->context));
}

static struct nullv_live null_before;

/* The beginning of every test: what an earlier one that failed has left counts no more. */
static inline void null_begin(void)
{
    null.reset();
    null.live(&null_before);
}

#define NULL_GONE(field) MUST(live.field == null_before.field, #field ": %u, at the beginning %u", live.field, null_before.field)

/* The end: nothing of the provider's is left over, and every failure that was asked for has happened. */
static inline void null_clean(void)
{
    struct nullv_live live;

    null.live(&live);
    NULL_GONE(contexts);
    NULL_GONE(pds);
    NULL_GONE(mrs);
    NULL_GONE(mws);
    NULL_GONE(channels);
    NULL_GONE(cqs);
    NULL_GONE(qps);
    NULL_GONE(srqs);
    NULL_GONE(ahs);
    NULL_GONE(lists);
    NULL_GONE(fds);
    MUST(!live.destroyed_unacked, "%u objects were destroyed with unacknowledged events", live.destroyed_unacked);
    MUST(!live.overacked, "%u events were acknowledged too often", live.overacked);
    MUST(!live.closed_busy, "%u contexts were closed in use", live.closed_busy);
    MUST(!null.unacked(), "%u unacknowledged events", null.unacked());
    MUST(!null.pending(), "%u failures were asked for and never happened", null.pending());
}

#endif
