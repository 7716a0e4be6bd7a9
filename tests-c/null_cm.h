/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A librdmacm of ours above the null provider, by vbn_library_init's lookup function. It knows one device, null0, resolves every address at once,
 * and says in `cm` what it was told. Events are in a list of their channel, whose descriptor counts them.
 */
#ifndef NULL_CM_H
#define NULL_CM_H

#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "null_help.h"

struct cm_event {
    struct rdma_cm_event event;
    struct cm_event *next;
    unsigned char data[256];
};

struct cm_channel {
    struct rdma_event_channel channel;
    struct cm_event *first;
};

static struct {
    const char *fail_at; /* the next call of this function fails */
    int fail_errno;
    const char *hidden;  /* this symbol is missing */
    unsigned channels, ids, events, unacked;
    unsigned holds; /* of the device, by ids and lists */
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct rdma_conn_param param; /* of the last connect or accept */
    unsigned char data[256];      /* of the last connect, accept or reject */
    size_t length;
    int timeout_ms, backlog, option, unlisted;
    struct rdma_cm_id *last_id; /* that was made */
} cm;

static int cm_fails(const char *function)
{
    if (!cm.fail_at || strcmp(cm.fail_at, function))
        return 0;
    cm.fail_at = NULL;
    errno = cm.fail_errno;
    return 1;
}

/* Around what threads may do at once: lists of events, counts. */
static pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;

/* A function of the null provider's. */
static void *cm_verb(const char *name)
{
    static void *library;
    void *function;

    if (!library)
        library = dlopen(getenv("VBN_IBVERBS_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    MUST(library, "%s", dlerror());
    function = dlvsym(library, name, "IBVERBS_1.1");
    MUST(function, "%s", name);
    return function;
}

#define CM_VERB(name) (*(__typeof__(name) **)&(void *[]){cm_verb(#name)})

/* One more user of the device: 0, or -1. */
static int cm_hold(void)
{
    if (!cm.context) {
        struct ibv_device **list = CM_VERB(ibv_get_device_list)(NULL);

        if (!list)
            return -1;
        cm.context = CM_VERB(ibv_open_device)(list[0]);
        CM_VERB(ibv_free_device_list)(list);
        if (!cm.context)
            return -1;
        cm.pd = CM_VERB(ibv_alloc_pd)(cm.context);
        if (!cm.pd) {
            CM_VERB(ibv_close_device)(cm.context);
            cm.context = NULL;
            return -1;
        }
    }
    cm.holds++;
    return 0;
}

static void cm_let_go(void)
{
    MUST(cm.holds > 0, "nobody holds the device");
    if (--cm.holds)
        return;
    MUST(!CM_VERB(ibv_dealloc_pd)(cm.pd) && !CM_VERB(ibv_close_device)(cm.context), "the device is in use");
    cm.pd = NULL;
    cm.context = NULL;
}

static struct rdma_event_channel *cm_create_event_channel(void)
{
    struct cm_channel *channel;

    if (cm_fails("create_event_channel") || !(channel = calloc(1, sizeof(*channel))))
        return NULL;
    channel->channel.fd = eventfd(0, EFD_SEMAPHORE);
    cm.channels++;
    return &channel->channel;
}

static struct cm_event *cm_take(struct cm_channel *channel, struct rdma_cm_id *of)
{
    struct cm_event **at = &channel->first, *event;

    while (*at && of && (*at)->event.id != of && (*at)->event.listen_id != of)
        at = &(*at)->next;
    event = *at;
    if (event)
        *at = event->next;
    return event;
}

/* An event that nobody has read; the id of a request goes with it. */
static void cm_drop(struct cm_event *event)
{
    if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        if (event->event.id->verbs)
            cm_let_go();
        free(event->event.id);
        cm.ids--;
    }
    free(event);
}

static void cm_destroy_event_channel(struct rdma_event_channel *channel)
{
    struct cm_channel *all = (struct cm_channel *)channel;
    struct cm_event *event;

    while ((event = cm_take(all, NULL)))
        cm_drop(event);
    close(channel->fd);
    free(channel);
    cm.channels--;
}

/* Puts an event at the end of the id's channel. */
static struct rdma_cm_event *cm_push(struct rdma_cm_id *id, int type, int status, const void *data, uint8_t length)
{
    struct cm_channel *channel = (struct cm_channel *)id->channel;
    struct cm_event *event = calloc(1, sizeof(*event)), **at = &channel->first;
    uint64_t one = 1;

    if (!event)
        return NULL;
    event->event.id = id;
    event->event.event = (enum rdma_cm_event_type)type;
    event->event.status = status;
    if (length) {
        memcpy(event->data, data, length);
        event->event.param.conn.private_data = event->data;
        event->event.param.conn.private_data_len = length;
    }
    while (*at)
        at = &(*at)->next;
    *at = event;
    MUST(write(channel->channel.fd, &one, sizeof(one)) == sizeof(one), "eventfd");
    return &event->event;
}

static int cm_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
    uint64_t one;
    struct cm_event *event;

    if (cm_fails("get_cm_event") || read(channel->fd, &one, sizeof(one)) != sizeof(one))
        return -1;
    pthread_mutex_lock(&cm_lock);
    event = cm_take((struct cm_channel *)channel, NULL);
    cm.unacked++;
    cm.events++;
    pthread_mutex_unlock(&cm_lock);
    MUST(event, "an event without content");
    *out = &event->event;
    return 0;
}

static int cm_ack_cm_event(struct rdma_cm_event *event)
{
    pthread_mutex_lock(&cm_lock);
    cm.unacked--;
    pthread_mutex_unlock(&cm_lock);
    free(event);
    return 0;
}

static int cm_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context, enum rdma_port_space ps)
{
    struct rdma_cm_id *id;

    MUST(!context, "context");
    if (cm_fails("create_id") || !(id = calloc(1, sizeof(*id))))
        return -1;
    id->channel = channel;
    id->ps = ps;
    id->qp_type = ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
    cm.ids++;
    *out = cm.last_id = id;
    return 0;
}

static int cm_destroy_id(struct rdma_cm_id *id)
{
    struct cm_event *event;
    uint64_t one;

    if (cm_fails("destroy_id"))
        return -1;
    MUST(!id->qp, "an id is destroyed before its queue pair");
    pthread_mutex_lock(&cm_lock);
    while ((event = cm_take((struct cm_channel *)id->channel, id))) {
        MUST(read(id->channel->fd, &one, sizeof(one)) == sizeof(one), "eventfd");
        cm_drop(event);
    }
    if (id->verbs)
        cm_let_go();
    cm.ids--;
    pthread_mutex_unlock(&cm_lock);
    free(id);
    return 0;
}

static int cm_device_for(struct rdma_cm_id *id)
{
    if (id->verbs)
        return 0;
    if (cm_hold())
        return -1;
    id->verbs = cm.context;
    id->pd = cm.pd;
    id->port_num = 1;
    return 0;
}

static int cm_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
    if (cm_fails("bind_addr") || cm_device_for(id))
        return -1;
    memcpy(&id->route.addr.src_addr, addr, sizeof(struct sockaddr_in));
    return 0;
}

static int cm_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms)
{
    if (cm_fails("resolve_addr") || cm_device_for(id))
        return -1;
    if (from)
        memcpy(&id->route.addr.src_addr, from, sizeof(struct sockaddr_in));
    memcpy(&id->route.addr.dst_addr, to, sizeof(struct sockaddr_in));
    cm.timeout_ms = timeout_ms;
    return cm_push(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0) ? 0 : -1;
}

static int cm_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    cm.timeout_ms = timeout_ms;
    if (cm_fails("resolve_route"))
        return -1;
    return cm_push(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0) ? 0 : -1;
}

static int cm_listen(struct rdma_cm_id *id, int backlog)
{
    (void)id;
    cm.backlog = backlog;
    return cm_fails("listen") ? -1 : 0;
}

static int cm_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp *qp;

    MUST(!id->qp && pd->context == id->verbs, "rdma_create_qp would fail");
    if (cm_fails("create_qp") || !(qp = CM_VERB(ibv_create_qp)(pd, attr)))
        return -1;
    id->qp = qp;
    id->pd = pd;
    return 0;
}

static void cm_destroy_qp(struct rdma_cm_id *id)
{
    CM_VERB(ibv_destroy_qp)(id->qp);
    id->qp = NULL;
}

static void cm_note(const struct rdma_conn_param *param)
{
    cm.param = *param;
    cm.length = param->private_data_len;
    memcpy(cm.data, param->private_data, cm.length);
}

static int cm_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    if (cm_fails("connect"))
        return -1;
    cm_note(param);
    return cm_push(id, RDMA_CM_EVENT_ESTABLISHED, 0, cm.data, (uint8_t)cm.length) ? 0 : -1;
}

static int cm_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    if (cm_fails("accept"))
        return -1;
    cm_note(param);
    return cm_push(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0) ? 0 : -1;
}

static int cm_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
    (void)id;
    memcpy(cm.data, data, length);
    cm.length = length;
    return cm_fails("reject") ? -1 : 0;
}

static int cm_disconnect(struct rdma_cm_id *id)
{
    if (cm_fails("disconnect"))
        return -1;
    return cm_push(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0) ? 0 : -1;
}

static int cm_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length)
{
    (void)id;
    MUST(!level && (length == 1 || length == sizeof(int)), "option %d of %zu bytes", name, length);
    cm.option = name << 8 | *(unsigned char *)value;
    return cm_fails("set_option") ? -1 : 0;
}

static struct ibv_context **cm_get_devices(int *count)
{
    struct ibv_context **list;

    if (cm_fails("get_devices") || !(list = calloc(2, sizeof(*list))))
        return NULL;
    if (cm_hold()) {
        free(list);
        return NULL;
    }
    list[0] = cm.context;
    *count = cm.unlisted ? 0 : 1;
    return list;
}

static void cm_free_devices(struct ibv_context **list)
{
    cm_let_go();
    free(list);
}

/* A client's request to a listening id, with a new id. */
static inline struct rdma_cm_event *cm_push_request(struct rdma_cm_id *listener, const void *data, uint8_t length)
{
    struct rdma_cm_id *id;
    struct rdma_cm_event *event;

    MUST(!cm_create_id(listener->channel, &id, NULL, listener->ps) && !cm_device_for(id), "no id");
    event = cm_push(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, data, length);
    event->listen_id = listener;
    return event;
}

static void *cm_lookup(const char *symbol, const char *version, void *arg)
{
    static const struct {
        const char *symbol;
        void (*function)(void);
    } symbols[] = {
#define CM_SYMBOL(name) {"rdma_" #name, (void (*)(void))cm_##name}
        CM_SYMBOL(create_event_channel), CM_SYMBOL(destroy_event_channel), CM_SYMBOL(get_cm_event), CM_SYMBOL(ack_cm_event),
        CM_SYMBOL(create_id), CM_SYMBOL(destroy_id), CM_SYMBOL(bind_addr), CM_SYMBOL(resolve_addr), CM_SYMBOL(resolve_route),
        CM_SYMBOL(listen), CM_SYMBOL(create_qp), CM_SYMBOL(destroy_qp), CM_SYMBOL(connect), CM_SYMBOL(accept), CM_SYMBOL(reject),
        CM_SYMBOL(disconnect), CM_SYMBOL(set_option), CM_SYMBOL(get_devices), CM_SYMBOL(free_devices),
    };
    void *address;

    MUST(arg == &cm && !strcmp(version, "RDMACM_1.0"), "lookup_arg, version %s", version);
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
        if (!strcmp(symbols[i].symbol, symbol) && (!cm.hidden || strcmp(cm.hidden, symbol))) {
            memcpy(&address, &symbols[i].function, sizeof(address));
            return address;
        }
    return NULL;
}

/* From now on this is librdmacm. */
static inline void cm_use(void)
{
    NEW(vbn_library_attr, attr);

    attr.library = VBN_LIBRARY_RDMACM;
    attr.lookup = cm_lookup;
    attr.lookup_arg = &cm;
    OK(vbn_library_init(&attr));
}

static inline vbn_cm_addr cm_addr(void)
{
    vbn_cm_addr addr;

    OK(vbn_cm_addr_parse("192.0.2.1", 7471, &addr));
    return addr;
}

/* One of each, the queue pair and what it needs included. */
struct cm_rig {
    vbn_cm_channel *channel;
    vbn_cm_id *id;
    struct rdma_cm_id *native;
    vbn_context *context;
    vbn_pd *pd;
    vbn_cq *cq;
    vbn_qp *qp;
};

static inline struct cm_rig cm_rig_open(void)
{
    struct cm_rig r = {0};
    vbn_cm_addr addr = cm_addr();
    NEW(vbn_cm_id_attr, id);
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);

    cm_use();
    id.user_data = 7;
    OK(vbn_cm_channel_create(NULL, &r.channel));
    OK(vbn_cm_id_create(r.channel, &id, &r.id));
    OK(vbn_cm_id_native(r.id, &r.native));
    OK(vbn_cm_id_resolve(r.id, NULL, &addr, 1000000000));
    OK(vbn_cm_id_context(r.id, NULL, &r.context));
    OK(vbn_pd_alloc(r.context, NULL, &r.pd));
    cq.cqe = 8;
    OK(vbn_cq_create(r.context, &cq, &r.cq));
    qp.send_cq = r.cq;
    OK(vbn_cm_id_create_qp(r.id, r.pd, &qp, &r.qp));
    return r;
}

/* Nothing of it is left then. */
static inline void cm_rig_close(struct cm_rig *r)
{
    OK(vbn_qp_close(&r->qp));
    OK(vbn_cq_close(&r->cq));
    OK(vbn_pd_close(&r->pd));
    OK(vbn_context_close(&r->context));
    OK(vbn_cm_id_close(&r->id));
    OK(vbn_cm_channel_close(&r->channel));
    MUST(!cm.channels && !cm.ids && !cm.unacked && !cm.holds, "left: %u channels, %u ids, %u events, %u holds", cm.channels, cm.ids,
         cm.unacked, cm.holds);
}

#endif
