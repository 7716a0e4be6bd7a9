/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each function of the provider fails in its own way: status, errno and message are right, nothing leaks, and the next try works. */
#include "null_help.h"

static struct rig g;
static vbn_rc_record local, remote;
static vbn_qp *other_qp;

static const struct {
    int err;
    vbn_status status;
} errors[] = {
    {ENOMEM, VBN_ERR_NO_MEMORY},      {EBUSY, VBN_ERR_BUSY},   {ENOSYS, VBN_ERR_NOT_SUPPORTED}, {EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED},
    {EPROTONOSUPPORT, VBN_ERR_NOT_SUPPORTED}, {ENODEV, VBN_ERR_DEVICE_GONE}, {EINVAL, VBN_ERR_DRIVER}, {EFAULT, VBN_ERR_DRIVER},
    {EACCES, VBN_ERR_DRIVER},         {ETIMEDOUT, VBN_ERR_DRIVER}, {EIO, VBN_ERR_DRIVER},       {EAGAIN, VBN_ERR_DRIVER},
};

/* The calls. Constructors close at once what they made. */
#define CONSTRUCTOR(name, type, close, call) \
    static vbn_status name(void) \
    { \
        type *out = (void *)rig_memory; \
        vbn_status status = call; \
        MUST(status ? !out : !!out, "*out after %s", vbn_status_name(status)); \
        if (!status) \
            OK(close(&out)); \
        return status; \
    }

static vbn_cq_attr cq_attr = {.struct_size = sizeof(cq_attr), .cqe = 8};
static vbn_qp_init_attr qp_attr = {.struct_size = sizeof(qp_attr)};

CONSTRUCTOR(context_open, vbn_context, vbn_context_close, vbn_context_open("null0", NULL, &out))
CONSTRUCTOR(context_adopt, vbn_context, vbn_context_close, vbn_context_adopt(g.ibv_context, NULL, &out))
CONSTRUCTOR(pd_alloc, vbn_pd, vbn_pd_close, vbn_pd_alloc(g.context, NULL, &out))
CONSTRUCTOR(mr_reg, vbn_mr, vbn_mr_close, vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, &out))
CONSTRUCTOR(mr_reg_dmabuf, vbn_mr, vbn_mr_close, vbn_mr_reg_dmabuf(g.pd, 5, 0, 64, 0, 0, NULL, &out))
CONSTRUCTOR(channel_create, vbn_channel, vbn_channel_close, vbn_channel_create(g.context, NULL, &out))
CONSTRUCTOR(cq_create, vbn_cq, vbn_cq_close, vbn_cq_create(g.context, &cq_attr, &out))
CONSTRUCTOR(qp_create, vbn_qp, vbn_qp_close, (qp_attr.send_cq = g.cq, vbn_qp_create(g.pd, &qp_attr, &out)))
CONSTRUCTOR(qp_adopt, vbn_qp, vbn_qp_close, vbn_qp_adopt(g.pd, g.ibv_qp, NULL, &out))

#define CALL(name, ...) \
    static vbn_status name(void) { __VA_ARGS__; }

static uint32_t count;
static uint8_t gid[16];
static uint16_t pkey;

CALL(qp_query, NEW(vbn_qp_info, info); return vbn_qp_query(g.qp, &info))
CALL(query_device, NEW(vbn_device_attr, attr); return vbn_context_query_device(g.context, &attr))
CALL(query_port, NEW(vbn_port_attr, attr); return vbn_context_query_port(g.context, 1, &attr))
CALL(query_gid, return vbn_context_query_gid(g.context, 1, 0, gid))
CALL(query_pkey, return vbn_context_query_pkey(g.context, 1, 0, &pkey))
CALL(cq_arm, return vbn_cq_arm(g.cq, 0))
CALL(qp_modify, NEW(vbn_qp_attr, attr); attr.set = VBN_QP_STATE; attr.qp_state = VBN_QPS_ERR; return vbn_qp_modify(g.qp, &attr))
CALL(to_init, return vbn_qp_to_init(other_qp, NULL))
CALL(to_rtr, return vbn_qp_to_rtr(other_qp, &local, &remote, NULL))
CALL(to_rts, return vbn_qp_to_rts(other_qp, &local, NULL))
CALL(connect_rc, return vbn_qp_connect_rc(other_qp, &local, &remote, NULL))
CALL(record_local, return vbn_rc_record_local(other_qp, NULL, &local))
CALL(device_list, return vbn_device_list(NULL, 0, 0, &count))
CALL(gid_table, return vbn_context_gid_table(g.context, NULL, 0, 0, &count))
CALL(gid_select, return vbn_gid_select(g.context, 1, NULL, NULL, NULL, 0, 0, &count))

struct row {
    const char *op, *function;
    vbn_status (*call)(void);
    int once;   /* succeeding changes things, so that it works only once */
    int names_device;
};

static const struct row rows[] = {
    {"vbn_context_open", "ibv_open_device", context_open, 0, 1},
    {"vbn_context_open", "ibv_query_device", context_open, 0, 1},
    {"vbn_context_adopt", "ibv_query_device", context_adopt, 0, 1},
    {"vbn_pd_alloc", "ibv_alloc_pd", pd_alloc, 0, 1},
    {"vbn_mr_reg", "ibv_reg_mr_iova2", mr_reg, 0, 1},
    {"vbn_mr_reg_dmabuf", "ibv_reg_dmabuf_mr", mr_reg_dmabuf, 0, 1},
    {"vbn_channel_create", "ibv_create_comp_channel", channel_create, 0, 1},
    {"vbn_cq_create", "ibv_create_cq", cq_create, 0, 1},
    {"vbn_qp_create", "ibv_create_qp", qp_create, 0, 1},
    {"vbn_qp_adopt", "ibv_query_qp", qp_adopt, 0, 1},
    {"vbn_qp_query", "ibv_query_qp", qp_query, 0, 1},
    {"vbn_context_query_port", "ibv_query_port", query_port, 0, 1},
    {"vbn_context_query_gid", "ibv_query_gid", query_gid, 0, 1},
    {"vbn_context_query_gid", "ibv_query_port", query_gid, 0, 1},
    {"vbn_context_query_pkey", "ibv_query_pkey", query_pkey, 0, 1},
    {"vbn_cq_arm", "ibv_req_notify_cq", cq_arm, 0, 1},
    {"vbn_qp_modify", "ibv_modify_qp", qp_modify, 0, 1},
    {"vbn_qp_to_init", "ibv_modify_qp", to_init, 0, 1},
    {"vbn_qp_to_init", "ibv_query_port", to_init, 0, 1},
    {"vbn_qp_to_rtr", "ibv_modify_qp", to_rtr, 0, 1},
    {"vbn_qp_to_rtr", "ibv_query_port", to_rtr, 0, 1},
    {"vbn_qp_to_rts", "ibv_modify_qp", to_rts, 0, 1},
    {"vbn_rc_record_local", "ibv_query_port", record_local, 0, 1},
    {"vbn_rc_record_local", "ibv_query_gid", record_local, 0, 1},
};

static void begin(void)
{
    NEW(vbn_qp_init_attr, attr);

    null_begin();
    g = rig_open();
    attr.send_cq = g.cq;
    OK(vbn_qp_create(g.pd, &attr, &other_qp));
    OK(vbn_rc_record_local(other_qp, NULL, &local));
    remote = local;
    remote.qp_num = 77;
}

static void end(void)
{
    OK(vbn_qp_close(&other_qp));
    rig_close(&g);
    null_clean();
}

/* The provider's objects before and after a failure. */
static void nothing_is_left(const struct nullv_live *before)
{
    struct nullv_live now;

    null.live(&now);
    MUST(!memcmp(&now, before, sizeof(now)), "the failure has left something behind");
}

static void every_function_fails(void)
{
    struct nullv_live before;

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (size_t k = 0; k < ARRAY_SIZE(errors); k++) {
            char what[128];

            snprintf(what, sizeof(what), "%s with %s failing with errno %d", rows[i].op, rows[i].function, errors[k].err);
            null.live(&before);
            MUST(!null.fail(rows[i].function, 1, errors[k].err), "%s can't be made to fail", rows[i].function);
            null_want(__FILE__, __LINE__, what, rows[i].op, rows[i].call(), errors[k].status);
            MUST(!null.pending(), "%s: it wasn't called", what);
            MUST(last()->sys_errno == errors[k].err, "%s: the record's errno is %d", what, last()->sys_errno);
            MUST(strstr(last()->message, rows[i].function), "%s: %s", what, last()->message);
            MUST(!strcmp(last()->object, "null0"), "%s: the object is \"%s\"", what, last()->object);
            MUST(strstr(last()->message, "null0"), "%s: %s", what, last()->message);
            MUST(last()->vendor_domain == VBN_VENDOR_NONE && last()->index == VBN_INDEX_NONE, "%s: vendor_domain or index", what);
            nothing_is_left(&before);
            null_want(__FILE__, __LINE__, what, NULL, rows[i].call(), VBN_OK);
            nothing_is_left(&before);
        }
    end();
}

/* Nobody has read the event of a removed device; a call finds out, and from then on every handle says so. */
static void removed_without_event(void)
{
    vbn_pd *pd = NULL;
    uint32_t got = 9;
    vbn_wc wc;

    begin();
    null.fail("ibv_alloc_pd", 0, EIO);
    WANT(vbn_pd_alloc(g.context, NULL, &pd), VBN_ERR_DRIVER); /* the device is well */
    OK(vbn_cq_poll(g.cq, 1, &wc, &got));
    null.fail("query_device", 0, EIO);
    WANT(vbn_pd_alloc(g.context, NULL, &pd), VBN_ERR_DEVICE_GONE);
    WANT_ERRNO(EIO);
    WANT(vbn_cq_poll(g.cq, 1, &wc, &got), VBN_ERR_DEVICE_GONE);
    WANT(vbn_pd_alloc(g.context, NULL, &pd), VBN_ERR_DEVICE_GONE);
    null.reset();
    end();
}

/* A function that fails without setting errno must not look like success, nor like "no error". */
static void failures_without_errno(void)
{
    begin();
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        null.fail(rows[i].function, 1, -1);
        /* Pointers: NULL with errno -1. Numbers: -1 with whatever errno there was. Both end as some errno above 0. */
        errno = 0;
        MUST(rows[i].call() != VBN_OK, "%s succeeds though %s fails", rows[i].op, rows[i].function);
        MUST(last()->sys_errno > 0, "%s: errno %d", rows[i].op, last()->sys_errno);
    }
    end();
}

/* The extended query falls back to the plain one where the driver hasn't got it; both failing is a failure. */
static void query_device_fails(void)
{
    begin();
    for (size_t k = 0; k < ARRAY_SIZE(errors); k++) {
        if (errors[k].err == EIO || errors[k].err == ENODEV) /* that the device is gone: see below */
            continue;
        null.reset();
        null.fail("query_device", 0, errors[k].err);
        null_want(__FILE__, __LINE__, "both queries fail", "vbn_context_query_device", query_device(), errors[k].status);
        WANT_ERRNO(errors[k].err);
    }
    null.reset();
    null.fail("ibv_query_device_ex", 0, EINVAL);
    null_want(__FILE__, __LINE__, "the extended query fails", "vbn_context_query_device", query_device(), VBN_ERR_DRIVER);
    null.reset();
    null_want(__FILE__, __LINE__, "none fails", "vbn_context_query_device", query_device(), VBN_OK);
    end();
}

/* Listing: no devices is no failure, whatever libibverbs calls it. */
static void listing_fails(void)
{
    begin();
    for (size_t k = 0; k < ARRAY_SIZE(errors); k++) {
        NEW(vbn_device_list_reason_info, reason);
        int none = errors[k].err == ENOSYS;

        null.fail("ibv_get_device_list", 1, errors[k].err);
        count = 77;
        null_want(__FILE__, __LINE__, "ibv_get_device_list fails", "vbn_device_list", device_list(), none ? VBN_OK : errors[k].status);
        MUST(count == (none ? 0 : 77), "count %u", count);
        null.fail("ibv_get_device_list", 1, errors[k].err);
        null_want(__FILE__, __LINE__, "ibv_get_device_list fails", "vbn_context_open", context_open(), none ? VBN_ERR_NOT_FOUND : errors[k].status);
        null.fail("ibv_get_device_list", 1, errors[k].err);
        OK(vbn_device_list_reason(&reason));
        if (!none)
            MUST(reason.reason == VBN_REASON_LIST_FAILED && reason.sys_errno == errors[k].err, "reason %d, errno %d", reason.reason,
                 reason.sys_errno);
        MUST(strlen(reason.message) > 10, "message: %s", reason.message);
    }
    OK(vbn_device_list(NULL, 0, 0, &count));
    MUST(count == 2, "count %u", count);
    end();
}

/* A device that can't be opened is listed with the reason, and by name refused with it; without a name the next is taken. */
static void a_device_that_does_not_open(void)
{
    vbn_device_info devices[2];
    NEW(vbn_device_list_reason_info, reason);
    NEW(vbn_context_info, info);
    vbn_context *context;

    begin();
    null.fail("ibv_open_device", 1, EACCES);
    OK(vbn_device_list(devices, sizeof(devices[0]), 2, &count));
    MUST(count == 2 && devices[0].open_errno == EACCES && devices[0].open_status == VBN_ERR_DRIVER, "null0: %d, %d",
         devices[0].open_status, devices[0].open_errno);
    MUST(devices[1].open_status == VBN_OK && devices[1].open_errno == 0 && devices[1].index == 1, "null1");
    CHECK_STR(devices[0].name, "null0");
    CHECK_STR(devices[1].name, "null1");
    CHECK_UEQ(devices[1].guid, 0x020000fffe000002u);
    null.fail("ibv_open_device", 1, EACCES);
    OK(vbn_context_open(NULL, NULL, &context));
    OK(vbn_context_query(context, &info));
    CHECK_STR(info.name, "null1");
    OK(vbn_context_close(&context));
    null.fail("ibv_open_device", 0, EACCES);
    WANT(vbn_context_open("", NULL, &context), VBN_ERR_DRIVER);
    WANT_ERRNO(EACCES);
    OK(vbn_device_list_reason(&reason));
    MUST(reason.reason == VBN_REASON_NOT_PERMITTED && reason.sys_errno == EACCES && reason.count == 2, "reason %d", reason.reason);
    null.reset();
    null.fail("ibv_open_device", 0, ENOENT);
    OK(vbn_device_list_reason(&reason));
    MUST(reason.reason == VBN_REASON_NO_NODE && reason.count == 2, "reason %d", reason.reason);
    null.reset();
    null.fail("ibv_open_device", 0, EINVAL);
    OK(vbn_device_list_reason(&reason));
    MUST(reason.reason == VBN_REASON_CANNOT_OPEN && reason.sys_errno == EINVAL, "reason %d", reason.reason);
    null.reset();
    null.fail("ibv_open_device", 1, EINVAL);
    OK(vbn_device_list_reason(&reason));
    MUST(reason.reason == VBN_REASON_NONE && reason.count == 2, "reason %d: %s", reason.reason, reason.message);
    end();
}

static void the_gid_table_fails(void)
{
    begin();
    null.fail("ibv_query_gid_table", 1, EINVAL);
    null_want(__FILE__, __LINE__, "the table", "vbn_context_gid_table", gid_table(), VBN_ERR_DRIVER);
    WANT_ERRNO(EINVAL);
    WANT_TEXT("ibv_query_gid_table");
    null.fail("ibv_query_gid_table", 1, ENOMEM);
    null_want(__FILE__, __LINE__, "the table", "vbn_gid_select", gid_select(), VBN_ERR_NO_MEMORY);
    null_want(__FILE__, __LINE__, "the table again", NULL, gid_table(), VBN_OK);
    MUST(count == 3, "count %u", count);
    end();
}

/* A queue pair on its way to RTS may fail at each step; a second try goes on from there. */
static void connecting_fails_at_each_step(void)
{
    static const char *const functions[] = {"ibv_query_qp", "ibv_query_port", "ibv_modify_qp"};

    for (size_t f = 0; f < ARRAY_SIZE(functions); f++)
        for (unsigned nth = 1; nth < 20; nth++) {
            NEW(vbn_qp_info, info);

            begin();
            null.fail(functions[f], nth, EINVAL);
            if (connect_rc() == VBN_OK) {
                MUST(null.pending() == 1 && nth > 1, "it connects though %s fails", functions[f]);
                null.reset();
                end();
                break;
            }
            null_want(__FILE__, __LINE__, functions[f], "vbn_qp_connect_rc", last()->status, VBN_ERR_DRIVER);
            WANT_ERRNO(EINVAL);
            null_want(__FILE__, __LINE__, "a second try", NULL, connect_rc(), VBN_OK);
            OK(vbn_qp_query(other_qp, &info));
            MUST(info.qp_state == VBN_QPS_RTS && info.dest_qp_num == 77, "state %d", info.qp_state);
            end();
        }
}

/* ENOMEM of a registration tells about the limit on locked memory. */
static void registration_tells_the_memlock_limit(void)
{
    begin();
    null.fail("reg_mr", 1, ENOMEM);
    null_want(__FILE__, __LINE__, "registration", "vbn_mr_reg", mr_reg(), VBN_ERR_NO_MEMORY);
    MUST(last()->value == 64, "value %llu", (unsigned long long)last()->value);
    WANT_TEXT("64 bytes");
    WANT_TEXT("lock");
    static char text[VBN_EXPLAIN_TEXT_SIZE];
    vbn_error_info record = *last();
    OK(vbn_explain_error(&record, NULL, text, sizeof(text), NULL));
    MUST(strstr(text, "has 64 bytes") && strstr(text, "RLIMIT_MEMLOCK (ulimit -l) is ") && strstr(text, "\n  -> "), "%s", text);
    null.fail("reg_mr", 1, EPERM);
    null_want(__FILE__, __LINE__, "registration", "vbn_mr_reg", mr_reg(), VBN_ERR_DRIVER);
    WANT_TEXT("RLIMIT_MEMLOCK 0");
    end();
}

/* ---- Refused destroys ---- */

static const char *const destroy_functions[] = {"ibv_destroy_qp", "ibv_dereg_mr", "ibv_destroy_cq", "ibv_destroy_comp_channel", "ibv_dealloc_pd", "ibv_close_device"};

static vbn_status close_nth(size_t i)
{
    switch (i) {
    case 0: return vbn_qp_close(&g.qp);
    case 1: return vbn_mr_close(&g.mr);
    case 2: return vbn_cq_close(&g.cq);
    case 3: return vbn_channel_close(&g.channel);
    case 4: return vbn_pd_close(&g.pd);
    default: return vbn_context_close(&g.context);
    }
}

static void *handle_nth(size_t i)
{
    void *const handles[] = {g.qp, g.mr, g.cq, g.channel, g.pd, g.context};

    return handles[i];
}

static vbn_status use_nth(size_t i)
{
    NEW(vbn_qp_info, qp);
    NEW(vbn_mr_info, mr);
    NEW(vbn_cq_info, cq);
    NEW(vbn_channel_info, channel);
    NEW(vbn_pd_info, pd);
    NEW(vbn_context_info, context);

    switch (i) {
    case 0: return vbn_qp_query(g.qp, &qp);
    case 1: return vbn_mr_query(g.mr, &mr);
    case 2: return vbn_cq_query(g.cq, &cq);
    case 3: return vbn_channel_query(g.channel, &channel);
    case 4: return vbn_pd_query(g.pd, &pd);
    default: return vbn_context_query(g.context, &context);
    }
}

/* The handle stays, works, and closes at the next try. */
static void a_refused_destroy_keeps_the_handle(void)
{
    for (size_t k = 0; k < ARRAY_SIZE(errors); k++) {
        if (errors[k].err == ENODEV || errors[k].err == EIO)
            continue;
        null_begin();
        g = rig_open();
        for (size_t i = 0; i < ARRAY_SIZE(destroy_functions); i++) {
            void *before = handle_nth(i);

            null.fail(destroy_functions[i], 1, errors[k].err);
            /* A region that is refused with EINVAL has a window on it. */
            null_want(__FILE__, __LINE__, destroy_functions[i], NULL, close_nth(i),
                      errors[k].err == EINVAL && !strcmp(destroy_functions[i], "ibv_dereg_mr") ? VBN_ERR_BUSY : errors[k].status);
            WANT_ERRNO(errors[k].err);
            WANT_TEXT(destroy_functions[i]);
            WANT_TEXT("null0");
            MUST(handle_nth(i) == before, "%s refused: the handle has gone", destroy_functions[i]);
            null_want(__FILE__, __LINE__, "the handle after a refused destroy", NULL, use_nth(i), VBN_OK);
            null_want(__FILE__, __LINE__, "the second close", NULL, close_nth(i), VBN_OK);
            MUST(!handle_nth(i), "%s: the handle is still there", destroy_functions[i]);
        }
        null_clean();
    }
}

static vbn_live_info live(void)
{
    NEW(vbn_live_info, info);

    OK(vbn_context_live(g.context, &info));
    return info;
}

/* A parent whose destroy is refused when its last child has closed: shown, tried again at later closes. */
static void refused_deferred_destroys(void)
{
    struct nullv_live now;
    vbn_channel *another;
    vbn_live_info info;

    null_begin();
    g = rig_open();
    OK(vbn_cq_close(&g.cq));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_pd_close(&g.pd));
    info = live();
    MUST(info.cq_closed == 1 && info.channel_closed == 1 && info.pd_closed == 1, "closed: %u CQs, %u channels, %u PDs", info.cq_closed,
         info.channel_closed, info.pd_closed);
    MUST(info.qp_open == 1 && info.mr_open == 1 && !info.cq_open && !info.channel_open && !info.pd_open, "open");
    null.fail("ibv_destroy_cq", 0, EBUSY);
    null.fail("ibv_dealloc_pd", 0, EBUSY);
    OK(vbn_qp_close(&g.qp));
    info = live();
    MUST(info.cq_refused == 1 && !info.cq_closed, "the CQ: %u refused, %u closed", info.cq_refused, info.cq_closed);
    MUST(info.channel_closed == 1 && !info.channel_refused, "the channel: %u closed", info.channel_closed);
    MUST(info.pd_closed == 1 && !info.pd_refused, "the PD: %u closed", info.pd_closed);
    OK(vbn_mr_close(&g.mr));
    info = live();
    MUST(info.pd_refused == 1 && !info.pd_closed, "the PD: %u refused, %u closed", info.pd_refused, info.pd_closed);
    null.live(&now);
    MUST(now.cqs == null_before.cqs + 1 && now.pds == null_before.pds + 1 && now.channels == null_before.channels + 1, "they are gone");
    /* Still refused at the next close, then not. */
    OK(vbn_channel_create(g.context, NULL, &another));
    OK(vbn_channel_close(&another));
    MUST(live().cq_refused == 1 && live().pd_refused == 1, "still refused");
    null.reset();
    null.fail("ibv_destroy_comp_channel", 0, EBUSY);
    OK(vbn_pd_alloc(g.context, NULL, &g.pd));
    OK(vbn_pd_close(&g.pd));
    info = live();
    MUST(!info.cq_refused && !info.pd_refused, "retried: %u CQs, %u PDs", info.cq_refused, info.pd_refused);
    MUST(info.channel_refused == 1, "the channel: %u refused", info.channel_refused);
    null.reset();
    OK(vbn_pd_alloc(g.context, NULL, &g.pd));
    OK(vbn_pd_close(&g.pd));
    info = live();
    MUST(!info.channel_refused && !info.channel_closed, "the channel: %u refused", info.channel_refused);
    OK(vbn_context_close(&g.context));
    null_clean();
}

/* The context is the last of all: refused, it goes with the next close of anything in the process. */
static void a_refused_deferred_context(void)
{
    struct nullv_live now;
    vbn_context *other;

    null_begin();
    g = rig_open();
    OK(vbn_context_open("null1", NULL, &other));
    OK(vbn_context_close(&g.context));
    OK(vbn_qp_close(&g.qp));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_mr_close(&g.mr));
    null.fail("ibv_close_device", 0, EBUSY);
    OK(vbn_pd_close(&g.pd));
    null.live(&now);
    MUST(now.contexts == null_before.contexts + 2 && now.pds == null_before.pds, "%u contexts, %u PDs", now.contexts, now.pds);
    null.reset();
    OK(vbn_context_close(&other));
    null_clean();
}

/* A driver without an operation: refused where the object is made, so that the data path needn't look. */
static void missing_operations(void)
{
    static const char *const operations[] = {"post_send", "post_recv", "poll_cq", "req_notify_cq"};

    for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
        NEW(vbn_cq_attr, cq);
        NEW(vbn_qp_init_attr, qp);

        null_begin();
        MUST(!null.hide_op(operations[i]), "%s can't be hidden", operations[i]);
        memset(&g, 0, sizeof(g));
        OK(vbn_context_open("null0", NULL, &g.context));
        OK(vbn_pd_alloc(g.context, NULL, &g.pd));
        OK(vbn_channel_create(g.context, NULL, &g.channel));
        cq.cqe = 8;
        cq.channel = g.channel;
        if (i == 2) {
            WANT(vbn_cq_create(g.context, &cq, &g.cq), VBN_ERR_NOT_SUPPORTED);
            MUST(!g.cq, "*out");
        } else {
            OK(vbn_cq_create(g.context, &cq, &g.cq));
            qp.send_cq = g.cq;
            if (i < 2)
                WANT(vbn_qp_create(g.pd, &qp, &g.qp), VBN_ERR_NOT_SUPPORTED);
            else
                WANT(vbn_cq_arm(g.cq, 0), VBN_ERR_NOT_SUPPORTED);
            MUST(!g.qp, "*out");
        }
        WANT_TEXT(operations[i]);
        rig_close(&g);
        null.reset();
        null_clean();
    }
}

/* Without the extended queries the plain ones will do. */
static void missing_extended_queries(void)
{
    NEW(vbn_device_attr, device);

    null_begin();
    MUST(!null.hide_op("query_device_ex"), "it can't be hidden");
    g = rig_open();
    OK(vbn_context_query_device(g.context, &device));
    MUST(!device.has_extended && device.max_qp == 4096 && !device.max_dm_size, "has_extended %u, max_qp %d", device.has_extended, device.max_qp);
    rig_close(&g);
    null_clean();
}

static const struct test tests[] = {
    {"every_function_fails", every_function_fails},
    {"failures_without_errno", failures_without_errno},
    {"removed_without_event", removed_without_event},
    {"query_device_fails", query_device_fails},
    {"listing_fails", listing_fails},
    {"a_device_that_does_not_open", a_device_that_does_not_open},
    {"the_gid_table_fails", the_gid_table_fails},
    {"connecting_fails_at_each_step", connecting_fails_at_each_step},
    {"registration_tells_the_memlock_limit", registration_tells_the_memlock_limit},
    {"a_refused_destroy_keeps_the_handle", a_refused_destroy_keeps_the_handle},
    {"refused_deferred_destroys", refused_deferred_destroys},
    {"a_refused_deferred_context", a_refused_deferred_context},
    {"missing_extended_queries", missing_extended_queries},
    {"missing_operations", missing_operations},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_fail", tests, argc, argv);
}
