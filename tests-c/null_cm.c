/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The connection manager where the kernel's can't be made to go: a librdmacm that is missing or fails, events that never come, threads. */
#include <pthread.h>
#include <sys/wait.h>
#include "null_cm.h"

static struct cm_rig r;

static void begin(void)
{
    null_begin();
    r = cm_rig_open();
}

static void end(void)
{
    cm_rig_close(&r);
    null_clean();
}

static vbn_cm_event get(vbn_status wanted, vbn_cm_id **id)
{
    NEW(vbn_cm_event, event);
    vbn_cm_id *none;

    WANT(vbn_cm_channel_get_event(r.channel, 0, &event, id ? id : &none), wanted);
    MUST(!cm.unacked, "an event isn't acknowledged");
    return event;
}

/* Must be the first test: afterwards the library is loaded. */
static void without_a_library(void)
{
    NEW(vbn_library_attr, attr);
    NEW(vbn_library_info, info);
    NEW(vbn_symbol_info, symbol);
    vbn_cm_channel *channel = (vbn_cm_channel *)1;

    null_begin();
    attr.library = VBN_LIBRARY_RDMACM;
    attr.path = "/nowhere/librdmacm.so.1";
    OK(vbn_library_init(&attr));
    WANT(vbn_cm_channel_create(NULL, &channel), VBN_ERR_LIBRARY_MISSING);
    MUST(!channel, "*out");
    WANT_TEXT("/nowhere/librdmacm.so.1");
    WANT_TEXT("librdmacm1");
    WANT_TEXT("VBN_RDMACM_LIBRARY");
    WANT(vbn_library_missing(VBN_LIBRARY_RDMACM, 0, &symbol), VBN_ERR_LIBRARY_MISSING);
    OK(vbn_library_query(VBN_LIBRARY_RDMACM, &info));
    MUST(!info.loaded && info.library == VBN_LIBRARY_RDMACM && info.source == VBN_LIBRARY_FROM_PATH, "info");
    MUST(!strcmp(info.path, attr.path) && strstr(info.error, "/nowhere"), "%s: %s", info.path, info.error);

    /* By the environment. */
    attr.path = NULL;
    OK(vbn_library_init(&attr));
    setenv("VBN_RDMACM_LIBRARY", "/elsewhere/librdmacm.so.1", 1);
    WANT(vbn_cm_channel_create(NULL, &channel), VBN_ERR_LIBRARY_MISSING);
    WANT_TEXT("/elsewhere");
    unsetenv("VBN_RDMACM_LIBRARY");

    /* One that lacks something. */
    cm.hidden = "rdma_accept";
    cm_use();
    WANT(vbn_cm_channel_create(NULL, &channel), VBN_ERR_SYMBOL_MISSING);
    WANT_TEXT("rdma_accept");
    OK(vbn_library_query(VBN_LIBRARY_RDMACM, &info));
    MUST(!info.loaded && info.missing_count == 1 && info.source == VBN_LIBRARY_FROM_LOOKUP, "missing %u", info.missing_count);
    OK(vbn_library_missing(VBN_LIBRARY_RDMACM, 0, &symbol));
    MUST(!strcmp(symbol.name, "rdma_accept") && !strcmp(symbol.version, "RDMACM_1.0") && symbol.required, "%s", symbol.name);
    cm.hidden = NULL;

    OK(vbn_cm_channel_create(NULL, &channel));
    OK(vbn_cm_channel_close(&channel));
    OK(vbn_library_query(VBN_LIBRARY_RDMACM, &info));
    MUST(info.loaded && !info.missing_count && !info.error[0], "%s", info.error);
    WANT(vbn_library_init(&attr), VBN_ERR_BUSY);
    cm_use();
    null_clean();
}

static void without_a_kernel(void)
{
    static const struct {
        int number;
        vbn_status status;
        const char *text;
    } cases[] = {
        {ENOENT, VBN_ERR_NOT_SUPPORTED, "rdma_ucm"}, {ENODEV, VBN_ERR_NOT_SUPPORTED, "rdma_ucm"}, {EACCES, VBN_ERR_DRIVER, "/dev/infiniband/rdma_cm"},
        {ENOMEM, VBN_ERR_NO_MEMORY, "rdma_create_event_channel"}, {EMFILE, VBN_ERR_DRIVER, "ulimit"},
    };
    vbn_cm_channel *channel;

    null_begin();
    cm_use();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cm.fail_at = "create_event_channel";
        cm.fail_errno = cases[i].number;
        WANT(vbn_cm_channel_create(NULL, &channel), cases[i].status);
        WANT_ERRNO(cases[i].number);
        WANT_TEXT(cases[i].text);
    }
    null_clean();
}

/* Each call that librdmacm refuses is named, with its errno; nothing is left behind. */
static void each_refusal(void)
{
    vbn_cm_addr addr = cm_addr();
    NEW(vbn_cm_id_attr, attr);
    NEW(vbn_cm_event, event);
    vbn_cm_id *id;
    vbn_context *context;

    begin();
#define REFUSED(function, number, text, call) \
    do { \
        cm.fail_at = function; \
        cm.fail_errno = number; \
        WANT(call, number == ENODEV ? VBN_ERR_NOT_FOUND : VBN_ERR_DRIVER); \
        WANT_ERRNO(number); \
        WANT_TEXT("rdma_" function); \
        WANT_TEXT(text); \
    } while (0)
    REFUSED("create_id", EPERM, "", vbn_cm_id_create(r.channel, NULL, &id));
    MUST(!id, "*out");
    attr.set = VBN_CM_ID_SET_TOS;
    attr.tos = 5;
    REFUSED("set_option", EPERM, "", vbn_cm_id_create(r.channel, &attr, &id));
    MUST(cm.option == 5 && cm.ids == 1, "option %x", cm.option);
    REFUSED("bind_addr", EADDRINUSE, "another id has the port", vbn_cm_id_bind(r.id, &addr));
    REFUSED("bind_addr", ENODEV, "no RDMA device of this machine", vbn_cm_id_bind(r.id, &addr));
    REFUSED("bind_addr", EACCES, "CAP_NET_BIND_SERVICE", vbn_cm_id_bind(r.id, &addr));
    REFUSED("listen", EADDRINUSE, "wildcard", vbn_cm_id_listen(r.id, 5));
    REFUSED("resolve_addr", ENODEV, "no RDMA device is on", vbn_cm_id_resolve_addr(r.id, NULL, &addr, 1));
    REFUSED("resolve_addr", ENETUNREACH, "no route", vbn_cm_id_resolve(r.id, NULL, &addr, 1));
    REFUSED("resolve_route", ENODEV, "loopback", vbn_cm_id_resolve_route(r.id, 1));
    REFUSED("resolve_route", EINVAL, "resolved first", vbn_cm_id_resolve_route(r.id, 1));
    REFUSED("connect", EINVAL, "not be connected yet", vbn_cm_id_connect(r.id, NULL));
    REFUSED("connect", EPERM, "", vbn_cm_id_connect(r.id, NULL));
    REFUSED("accept", EINVAL, "connection request", vbn_cm_id_accept(r.id, NULL));
    REFUSED("reject", EINVAL, "connection request", vbn_cm_id_reject(r.id, NULL, 0));
    REFUSED("disconnect", EINVAL, "not connected", vbn_cm_id_disconnect(r.id));
    REFUSED("get_devices", EPERM, "", vbn_cm_id_context(r.id, NULL, &context));
    OK(vbn_cm_id_disconnect(r.id));
    REFUSED("get_cm_event", EBADF, "closed by other code", vbn_cm_channel_get_event(r.channel, 0, &event, &id));
    get(VBN_OK, NULL);
    cm.unlisted = 1;
    WANT(vbn_cm_id_context(r.id, NULL, &context), VBN_ERR_DEVICE_GONE);
    cm.unlisted = 0;
    /* A refused destroy changes nothing. */
    id = r.id;
    OK(vbn_qp_close(&r.qp));
    REFUSED("destroy_id", EPERM, "", vbn_cm_id_close(&r.id));
    MUST(r.id == id && cm.ids == 1, "the handle stays");
    end();
}

static void the_queue_pair(void)
{
    NEW(vbn_qp_init_attr, attr);
    vbn_qp *qp = r.qp;
    vbn_cm_id *id;
    struct ibv_qp *native;

    begin();
    qp = r.qp;
    /* A refusal isn't lost: the queue pair stays, and stays the id's. */
    null.fail("destroy_qp", 1, EBUSY);
    WANT(vbn_qp_close(&r.qp), VBN_ERR_BUSY);
    MUST(r.qp == qp && r.native->qp, "the handle stays");
    OK(vbn_qp_native(r.qp, &native));
    MUST(native == r.native->qp, "the id's queue pair");
    OK(vbn_qp_close(&r.qp));
    MUST(!r.native->qp, "the id forgets it");
    attr.send_cq = r.cq;
    cm.fail_at = "create_qp";
    cm.fail_errno = ENOMEM;
    WANT(vbn_cm_id_create_qp(r.id, r.pd, &attr, &r.qp), VBN_ERR_NO_MEMORY);
    /* What was made is undone when it can't be taken in. */
    null.fail("query_qp", 1, EPERM);
    WANT(vbn_cm_id_create_qp(r.id, r.pd, &attr, &r.qp), VBN_ERR_DRIVER);
    MUST(!r.native->qp && !r.qp, "undone");
    OK(vbn_cm_id_create_qp(r.id, r.pd, &attr, &r.qp));
    /* Deferred with the queue pair. */
    id = r.id;
    OK(vbn_cm_id_close(&r.id));
    MUST(cm.ids == 1, "its queue pair keeps it");
    WANT(vbn_cm_id_listen(id, 1), VBN_ERR_CLOSED);
    OK(vbn_qp_close(&r.qp));
    MUST(!cm.ids, "gone with the queue pair");
    end();
}

/* Defaults and what was asked for, as librdmacm gets it. */
static void parameters(void)
{
    static const char data[] = "hello";
    NEW(vbn_cm_conn_attr, attr);
    vbn_cm_addr addr = cm_addr();
    struct ibv_device *device;
    unsigned char much[256] = {1};

    begin();
    OK(vbn_cm_id_connect(r.id, NULL));
    MUST(cm.param.responder_resources == 255 && cm.param.initiator_depth == 255 && cm.param.retry_count == 6 && cm.param.rnr_retry_count == 7 &&
             cm.param.flow_control == 1 && !cm.param.private_data_len, "defaults");
    attr.set = 15;
    OK(vbn_cm_id_accept(r.id, &attr));
    MUST(!cm.param.responder_resources && !cm.param.initiator_depth && !cm.param.retry_count && !cm.param.rnr_retry_count, "zeros that are meant");
    attr.responder_resources = 1, attr.initiator_depth = 2, attr.retry_count = 3, attr.rnr_retry_count = 4;
    attr.private_data = data;
    attr.private_data_len = sizeof(data);
    OK(vbn_cm_id_connect(r.id, &attr));
    MUST(cm.param.responder_resources == 1 && cm.param.initiator_depth == 2 && cm.param.retry_count == 3 && cm.param.rnr_retry_count == 4, "values");
    MUST(cm.length == sizeof(data) && !strcmp((char *)cm.data, data), "private data");
    attr.set = 0;
    OK(vbn_cm_id_connect(r.id, &attr));
    MUST(cm.param.responder_resources == 255 && cm.param.retry_count == 6, "values that don't count");
    OK(vbn_cm_id_reject(r.id, data, 3));
    MUST(cm.length == 3, "length of the refusal");

    /* Another transport has other room. */
    device = r.native->verbs->device;
    attr.private_data = much;
    attr.private_data_len = 255;
    WANT(vbn_cm_id_connect(r.id, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(255, 56);
    device->transport_type = IBV_TRANSPORT_IWARP;
    OK(vbn_cm_id_connect(r.id, &attr));
    attr.private_data_len = 256;
    WANT(vbn_cm_id_connect(r.id, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(256, 255);
    device->transport_type = IBV_TRANSPORT_IB;
    ((struct sockaddr *)&r.native->route.addr.src_addr)->sa_family = 27; /* AF_IB */
    attr.private_data_len = 93;
    WANT(vbn_cm_id_connect(r.id, &attr), VBN_ERR_LIMIT);
    WANT_NUMBERS(93, 92);

    /* Time-outs are milliseconds there. */
    OK(vbn_cm_id_resolve_addr(r.id, &addr, &addr, 1));
    MUST(cm.timeout_ms == 1, "%d ms", cm.timeout_ms);
    OK(vbn_cm_id_resolve_route(r.id, -1));
    MUST(cm.timeout_ms == INT32_MAX, "%d ms", cm.timeout_ms);
    OK(vbn_cm_id_resolve_route(r.id, 0));
    MUST(!cm.timeout_ms, "%d ms", cm.timeout_ms);
    end();
}

/* Every kind of event, and those that nobody knows. */
static void events(void)
{
    static const char data[] = "reason";
    NEW(vbn_cm_event, event);
    vbn_cm_id *id, *second;
    struct rdma_cm_event *pushed;
    struct rdma_cm_id *raw;

    begin();
    for (int type = 0; type < 20; type++) {
        pushed = cm_push(r.native, type, type == 1 ? -ETIMEDOUT : 0, data, sizeof(data));
        pushed->param.conn.qp_num = 0x123456;
        pushed->param.conn.responder_resources = 9;
        if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
            pushed->listen_id = r.native, pushed->id = NULL, raw = NULL;
        if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
            /* With an id of its own. */
            MUST(!cm_create_id(r.native->channel, &raw, NULL, RDMA_PS_TCP) && !cm_device_for(raw), "id");
            pushed->id = raw;
        }
        event = get(VBN_OK, &id);
        MUST(event.type == type && event.user_data == 7 && event.known == 1, "type %d, user_data %d", event.type, (int)event.user_data);
        MUST(!id == (type != 4), "an id with %s", vbn_cm_event_name(type));
        /* Parameters only where there are some. */
        MUST(event.private_data_len == (type >= 4 && type <= 10 ? sizeof(data) : 0), "%s: %u bytes", vbn_cm_event_name(type), event.private_data_len);
        MUST(event.qp_num == (type == 4 || type == 5 || type == 9 ? 0x123456 : 0), "%s: qp_num", vbn_cm_event_name(type));
        MUST(!strcmp(vbn_cm_event_name(type), "unknown") == (type > 15), "the name of %d", type);
        switch (type) {
        case VBN_CM_EVENT_ADDR_ERROR: WANT(vbn_cm_event_check(&event), VBN_ERR_TIMEOUT); WANT_ERRNO(ETIMEDOUT); break;
        case VBN_CM_EVENT_DEVICE_REMOVAL: WANT(vbn_cm_event_check(&event), VBN_ERR_DEVICE_GONE); break;
        case VBN_CM_EVENT_ROUTE_ERROR: case VBN_CM_EVENT_CONNECT_ERROR: case VBN_CM_EVENT_UNREACHABLE: case VBN_CM_EVENT_REJECTED:
        case VBN_CM_EVENT_MULTICAST_ERROR:
            WANT(vbn_cm_event_check(&event), VBN_ERR_DRIVER);
            break;
        default: OK(vbn_cm_event_check(&event));
        }
        OK(vbn_cm_id_close(&id));
    }

    /* A number for the new id, and none for one that raw librdmacm made. */
    cm_push_request(r.native, data, sizeof(data));
    event = get(VBN_OK, &second);
    OK(vbn_cm_id_set_user_data(second, 11));
    OK(vbn_cm_id_native(second, &raw));
    cm_push(raw, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    MUST(get(VBN_OK, NULL).user_data == 11, "user_data");
    OK(vbn_cm_id_release(&second, &raw));
    cm_push(raw, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    event = get(VBN_OK, NULL);
    MUST(!event.known && !event.user_data, "an id without a handle is known");
    MUST(!cm_destroy_id(raw), "destroy");

    /* A wrong argument costs no event. */
    cm_push(r.native, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    event.struct_size = 0;
    WANT(vbn_cm_channel_get_event(r.channel, 0, &event, &id), VBN_ERR_ARGUMENT);
    event.struct_size = sizeof(event);
    WANT(vbn_cm_channel_get_event(r.channel, 0, &event, NULL), VBN_ERR_ARGUMENT);
    get(VBN_OK, NULL);
    get(VBN_ERR_TIMEOUT, NULL);
    end();
}

/* Resolving in one call: another event than those it waits for is told, and a request doesn't get lost in it. */
static void resolving(void)
{
    vbn_cm_addr addr = cm_addr();

    begin();
    cm_push(r.native, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
    WANT(vbn_cm_id_resolve(r.id, NULL, &addr, 1000000), VBN_ERR_DEVICE_GONE);
    get(VBN_OK, NULL);
    cm_push(r.native, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
    WANT(vbn_cm_id_resolve(r.id, NULL, &addr, 1000000), VBN_ERR_DRIVER);
    WANT_TEXT("another event");
    get(VBN_OK, NULL);
    cm_push_request(r.native, NULL, 0);
    MUST(cm.ids == 2, "ids");
    WANT(vbn_cm_id_resolve(r.id, NULL, &addr, 1000000), VBN_ERR_DRIVER);
    MUST(cm.ids == 1, "the request's id is left");
    get(VBN_OK, NULL);
    end();
}

/* The lent device holds no id, and is let go with the last handle. */
static void lent_devices(void)
{
    vbn_context *context;
    vbn_pd *pd;
    struct ibv_context *native;

    begin();
    OK(vbn_qp_close(&r.qp));
    WANT(vbn_cm_id_pd(r.id, r.context, NULL, &pd), VBN_ERR_BUSY);
    OK(vbn_cm_id_close(&r.id));
    MUST(!cm.ids && cm.holds == 1, "%u holds", cm.holds);
    OK(vbn_cm_id_create(r.channel, NULL, &r.id));
    vbn_cm_addr addr = cm_addr();
    OK(vbn_cm_id_bind(r.id, &addr));
    OK(vbn_cm_id_context(r.id, NULL, &context));
    OK(vbn_cm_id_pd(r.id, context, NULL, &pd));
    MUST(cm.holds == 3, "%u holds", cm.holds);
    OK(vbn_context_close(&context));
    OK(vbn_cm_id_close(&r.id));
    MUST(cm.holds == 2, "%u holds", cm.holds);
    OK(vbn_pd_close(&pd));
    MUST(cm.holds == 1 && cm.context, "%u holds", cm.holds);
    OK(vbn_cq_close(&r.cq));
    OK(vbn_pd_close(&r.pd));
    /* Given away, it isn't held any more. */
    OK(vbn_context_release(&r.context, &native));
    MUST(!cm.holds, "%u holds", cm.holds);
    end();
}

enum { THREADS = 4, EACH = 500 };
static unsigned taken[THREADS];

static void *take_events(void *arg)
{
    unsigned *count = arg;
    NEW(vbn_cm_event, event);
    vbn_cm_id *id;

    while (!vbn_cm_channel_get_event(r.channel, 500000000, &event, &id)) {
        if (event.type == VBN_CM_EVENT_CONNECT_REQUEST) {
            if (!id || vbn_cm_id_set_user_data(id, 1) || vbn_cm_id_close(&id))
                return NULL;
        }
        ++*count;
    }
    return count;
}

/* Queries and new numbers, while other threads use the channel. */
static void *look_on(void *arg)
{
    NEW(vbn_cm_channel_info, channel);
    NEW(vbn_cm_id_info, id);

    for (int i = 0; i < 2000; i++)
        if (vbn_cm_channel_query(r.channel, &channel) || vbn_cm_id_query(r.id, &id) || vbn_cm_id_set_user_data(r.id, 7))
            return NULL;
    return arg;
}

/* Each event goes to one thread. */
static void threads(void)
{
    pthread_t pollers[THREADS], watcher;
    unsigned sum = 0;
    void *result;

    begin();
    for (int i = 0; i < EACH; i++)
        if (i % 5)
            cm_push(r.native, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL, 0);
        else
            cm_push_request(r.native, NULL, 0);
    MUST(!pthread_create(&watcher, NULL, look_on, &r), "thread");
    for (int i = 0; i < THREADS; i++)
        MUST(!pthread_create(&pollers[i], NULL, take_events, &taken[i]), "thread");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(pollers[i], &result);
        MUST(result, "a call failed: %s", last()->message);
        sum += taken[i];
    }
    pthread_join(watcher, &result);
    MUST(result, "a call failed");
    MUST(sum == EACH, "%u of %u events", sum, (unsigned)EACH);
    end();
}

static const struct test tests[] = {
    {"without_a_library", without_a_library},
    {"without_a_kernel", without_a_kernel},
    {"each_refusal", each_refusal},
    {"the_queue_pair", the_queue_pair},
    {"parameters", parameters},
    {"events", events},
    {"resolving", resolving},
    {"lent_devices", lent_devices},
    {"threads", threads},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_cm", tests, argc, argv);
}
