/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events: which object they name, whoever made it; and a device that goes away. */
#include <dlfcn.h>
#include <unistd.h>
#include "null_help.h"

static struct rig g;

/* The raw verbs of the library in use. */
static struct {
    __typeof__(ibv_create_cq) *create_cq;
    __typeof__(ibv_destroy_cq) *destroy_cq;
    __typeof__(ibv_create_qp) *create_qp;
    __typeof__(ibv_destroy_qp) *destroy_qp;
    __typeof__(ibv_create_srq) *create_srq;
    __typeof__(ibv_destroy_srq) *destroy_srq;
    __typeof__(ibv_dereg_mr) *dereg_mr;
    __typeof__(ibv_destroy_comp_channel) *destroy_comp_channel;
    __typeof__(ibv_dealloc_pd) *dealloc_pd;
} raw;

static void raw_load(void)
{
    void *library = dlopen(getenv("VBN_IBVERBS_LIBRARY"), RTLD_NOW | RTLD_LOCAL);

#define FIND(name) MUST(*(void **)&raw.name = dlsym(library, "ibv_" #name), "no ibv_" #name)
    FIND(create_cq);
    FIND(destroy_cq);
    FIND(create_qp);
    FIND(destroy_qp);
    FIND(create_srq);
    FIND(destroy_srq);
    FIND(dereg_mr);
    FIND(destroy_comp_channel);
    FIND(dealloc_pd);
}

static void begin(void)
{
    raw_load();
    null_begin();
    g = rig_open();
}

static void end(void)
{
    rig_close(&g);
    null_clean();
}

static struct ibv_qp *raw_qp(struct ibv_cq *cq)
{
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
    struct ibv_qp *qp = raw.create_qp(g.ibv_pd, &attr);

    MUST(qp, "ibv_create_qp");
    return qp;
}

static struct ibv_cq *raw_cq(struct ibv_comp_channel *channel)
{
    struct ibv_cq *cq = raw.create_cq(g.ibv_context, 16, NULL, channel, 0);

    MUST(cq, "ibv_create_cq");
    return cq;
}

static vbn_async_event next(void)
{
    vbn_async_event event;

    memset(&event, 0xa5, sizeof(event));
    event.struct_size = sizeof(event);
    OK(vbn_context_get_async_event(g.context, 0, &event));
    for (size_t i = 0; i < sizeof(event.reserved0); i++)
        MUST(!event.reserved0[i], "reserved0");
    MUST(!null.unacked(), "the event isn't acknowledged");
    return event;
}

static void event_is(int32_t type, int32_t element, uint64_t user_data, uint32_t number, int known)
{
    vbn_async_event e = next();

    MUST(e.type == type && e.kind == element, "%s: type %d, kind %d", vbn_event_type_name(type), e.type, e.kind);
    MUST(e.user_data == user_data, "%s: user_data 0x%llx, not 0x%llx", vbn_event_type_name(type), (unsigned long long)e.user_data,
         (unsigned long long)user_data);
    MUST(e.number == number, "%s: number %u, not %u", vbn_event_type_name(type), e.number, number);
    MUST(e.known == known, "%s: known %u", vbn_event_type_name(type), e.known);
}

static const int32_t qp_events[] = {
    VBN_EVENT_QP_FATAL, VBN_EVENT_QP_REQ_ERR, VBN_EVENT_QP_ACCESS_ERR, VBN_EVENT_COMM_EST, VBN_EVENT_SQ_DRAINED,
    VBN_EVENT_PATH_MIG, VBN_EVENT_PATH_MIG_ERR, VBN_EVENT_QP_LAST_WQE_REACHED,
};
static const int32_t port_events[] = {
    VBN_EVENT_PORT_ACTIVE, VBN_EVENT_PORT_ERR, VBN_EVENT_LID_CHANGE, VBN_EVENT_PKEY_CHANGE, VBN_EVENT_SM_CHANGE,
    VBN_EVENT_CLIENT_REREGISTER, VBN_EVENT_GID_CHANGE, VBN_EVENT_DEVICE_SPEED_CHANGE,
};

static void push(int32_t type, void *element)
{
    MUST(!null.push_async_event((enum ibv_event_type)type, element), "push");
}

static void every_type_names_its_object(void)
{
    NEW(vbn_async_event, event);

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(qp_events); i++) {
        push(qp_events[i], g.ibv_qp);
        event_is(qp_events[i], VBN_ELEMENT_QP, QP_DATA, g.qpn, 1);
    }
    push(VBN_EVENT_CQ_ERR, g.ibv_cq);
    event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, CQ_DATA, g.ibv_cq->handle, 1);
    for (size_t i = 0; i < ARRAY_SIZE(port_events); i++)
        for (int port = 1; port < 256; port += 127) {
            null.push_port_event(g.ibv_context, (enum ibv_event_type)port_events[i], port);
            event_is(port_events[i], VBN_ELEMENT_PORT, CONTEXT_DATA, (uint32_t)port, 1);
        }
    WANT(vbn_context_get_async_event(g.context, 0, &event), VBN_ERR_TIMEOUT);
    end();
}

static void unknown_types_come_through(void)
{
    begin();
    for (int32_t type = 21; type < 1000; type += 489) {
        null.push_port_event(g.ibv_context, (enum ibv_event_type)type, 0);
        event_is(type, VBN_ELEMENT_NONE, 0, 0, 0);
    }
    end();
}

static void objects_of_raw_verbs_are_unknown(void)
{
    struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 8, .max_sge = 1}};
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_srq *srq;

    begin();
    cq = raw_cq(NULL);
    qp = raw_qp(cq);
    srq = raw.create_srq(g.ibv_pd, &srq_attr);
    push(VBN_EVENT_QP_FATAL, qp);
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, 0, qp->qp_num, 0);
    push(VBN_EVENT_CQ_ERR, cq);
    event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, 0, cq->handle, 0);
    push(VBN_EVENT_SRQ_LIMIT_REACHED, srq);
    event_is(VBN_EVENT_SRQ_LIMIT_REACHED, VBN_ELEMENT_SRQ, 0, srq->handle, 0);
    push(VBN_EVENT_SRQ_ERR, srq);
    event_is(VBN_EVENT_SRQ_ERR, VBN_ELEMENT_SRQ, 0, srq->handle, 0);
    raw.destroy_srq(srq);
    raw.destroy_qp(qp);
    raw.destroy_cq(cq);
    end();
}

/* Adopted objects are known as long as they have a handle, released ones no longer. */
static void adopted_and_released_objects(void)
{
    NEW(vbn_adopt_attr, attr);
    struct ibv_cq *ibv_cq;
    struct ibv_qp *ibv_qp, *released_qp;
    struct ibv_cq *released_cq;
    vbn_cq *cq;
    vbn_qp *qp;

    begin();
    ibv_cq = raw_cq(NULL);
    ibv_qp = raw_qp(ibv_cq);
    /* Nothing of the object's own context pointer may be used. */
    ibv_cq->cq_context = ibv_qp->qp_context = (void *)1;
    attr.user_data = 0xadad;
    OK(vbn_cq_adopt(g.context, ibv_cq, &attr, &cq));
    attr.user_data = 0xbebe;
    OK(vbn_qp_adopt(g.pd, ibv_qp, &attr, &qp));
    push(VBN_EVENT_CQ_ERR, ibv_cq);
    event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, 0xadad, ibv_cq->handle, 1);
    push(VBN_EVENT_QP_FATAL, ibv_qp);
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, 0xbebe, ibv_qp->qp_num, 1);
    OK(vbn_qp_close(&qp));
    OK(vbn_cq_close(&cq));
    push(VBN_EVENT_CQ_ERR, ibv_cq);
    event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, 0, ibv_cq->handle, 0);
    push(VBN_EVENT_QP_FATAL, ibv_qp);
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, 0, ibv_qp->qp_num, 0);
    raw.destroy_qp(ibv_qp);
    raw.destroy_cq(ibv_cq);
    OK(vbn_qp_release(&g.qp, &released_qp));
    OK(vbn_cq_release(&g.cq, &released_cq));
    push(VBN_EVENT_QP_FATAL, released_qp);
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, 0, released_qp->qp_num, 0);
    push(VBN_EVENT_CQ_ERR, released_cq);
    event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, 0, released_cq->handle, 0);
    raw.destroy_qp(released_qp);
    raw.destroy_cq(released_cq);
    end();
}

/* Objects come and go in no order, and events keep finding the right ones. */
static void many_objects(void)
{
    enum { MANY = 150 };
    static vbn_cq *cqs[MANY];
    static struct ibv_cq *natives[MANY];
    static uint64_t data[MANY];
    uint32_t random = 12345;
    uint64_t next_data = 1;

    begin();
    memset(cqs, 0, sizeof(cqs));
    for (int round = 0; round < 3000; round++) {
        uint32_t i = (random = random * 1664525 + 1013904223) >> 8;

        i %= MANY;
        if (cqs[i]) {
            push(VBN_EVENT_CQ_ERR, natives[i]);
            event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, data[i], natives[i]->handle, 1);
            if (random & 0x40)
                OK(vbn_cq_close(&cqs[i]));
        } else {
            NEW(vbn_cq_attr, attr);

            attr.cqe = 1;
            attr.user_data = data[i] = next_data++;
            OK(vbn_cq_create(g.context, &attr, &cqs[i]));
            OK(vbn_cq_native(cqs[i], &natives[i]));
        }
    }
    push(VBN_EVENT_QP_FATAL, g.ibv_qp);
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, QP_DATA, g.qpn, 1);
    for (size_t i = 0; i < MANY; i++)
        OK(vbn_cq_close(&cqs[i]));
    end();
}

/* ---- Completion events ---- */

static void cq_event_is(uint64_t user_data, uint32_t number, int known)
{
    vbn_cq_event e;

    memset(&e, 0xa5, sizeof(e));
    e.struct_size = sizeof(e);
    OK(vbn_channel_get_event(g.channel, 1000000000, &e));
    MUST(e.user_data == user_data && e.kind == VBN_ELEMENT_CQ && e.number == number && e.known == known,
         "user_data 0x%llx, kind %d, number %u (not %u), known %u", (unsigned long long)e.user_data, e.kind, e.number, number, e.known);
    MUST(!null.unacked(), "the event isn't acknowledged");
}

static void completion_events_name_their_queue(void)
{
    NEW(vbn_adopt_attr, adopt);
    NEW(vbn_cq_attr, attr);
    NEW(vbn_cq_event, event);
    struct ibv_cq *native, *second_native;
    vbn_cq *second, *adopted;

    begin();
    attr.cqe = 8;
    attr.channel = g.channel;
    attr.user_data = 0x5ec0;
    OK(vbn_cq_create(g.context, &attr, &second));
    OK(vbn_cq_native(second, &second_native));
    native = raw_cq(g.ibv_channel);
    native->cq_context = (void *)1;
    for (int round = 0; round < 3; round++) {
        null.push_cq_event(g.ibv_cq);
        null.push_cq_event(second_native);
        null.push_cq_event(native);
        cq_event_is(CQ_DATA, g.ibv_cq->handle, 1);
        cq_event_is(0x5ec0, second_native->handle, 1);
        if (round == 1)
            cq_event_is(0xadad, native->handle, 1);
        else
            cq_event_is(0, native->handle, 0);
        adopt.user_data = 0xadad;
        if (round == 0)
            OK(vbn_cq_adopt(g.context, native, &adopt, &adopted));
        if (round == 1)
            OK(vbn_cq_close(&adopted));
    }
    WANT(vbn_channel_get_event(g.channel, 0, &event), VBN_ERR_TIMEOUT);
    raw.destroy_cq(native);
    OK(vbn_cq_close(&second));
    end();
}

static void refused_events(void)
{
    NEW(vbn_cq_event, cq_event);
    NEW(vbn_async_event, event);

    begin();
    null.push_cq_event(g.ibv_cq);
    null.fail("ibv_get_cq_event", 1, EINVAL);
    WANT(vbn_channel_get_event(g.channel, 0, &cq_event), VBN_ERR_DRIVER);
    WANT_ERRNO(EINVAL);
    null.fail("ibv_get_cq_event", 1, EINTR);
    cq_event_is(CQ_DATA, g.ibv_cq->handle, 1);
    push(VBN_EVENT_QP_FATAL, g.ibv_qp);
    null.fail("ibv_get_async_event", 1, EINVAL);
    WANT(vbn_context_get_async_event(g.context, 0, &event), VBN_ERR_DRIVER);
    WANT_ERRNO(EINVAL);
    null.fail("ibv_get_async_event", 1, EINTR);
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, QP_DATA, g.qpn, 1);
    /* Another thread was faster: with time left the call goes on. */
    push(VBN_EVENT_QP_FATAL, g.ibv_qp);
    null.fail("ibv_get_async_event", 1, EAGAIN);
    OK(vbn_context_get_async_event(g.context, 1000000000, &event));
    end();
}

/* Readable and yet with nothing to read, as older kernels show a removed device: the time is kept all the same. */
static void nothing_behind_a_readable_descriptor(void)
{
    static const int64_t timeouts[] = {0, 1000000, 30000000};
    NEW(vbn_cq_event, cq_event);
    NEW(vbn_async_event, event);
    uint32_t got;
    vbn_wc wc;

    begin();
    null.push_cq_event(g.ibv_cq);
    push(VBN_EVENT_QP_FATAL, g.ibv_qp);
    null.fail("ibv_get_cq_event", 0, EAGAIN);
    null.fail("ibv_get_async_event", 0, EAGAIN);
    /* A call that never ends is ended by this. */
    alarm(60);
    for (size_t i = 0; i < ARRAY_SIZE(timeouts); i++) {
        WANT(vbn_context_get_async_event(g.context, timeouts[i], &event), VBN_ERR_TIMEOUT);
        WANT(vbn_channel_get_event(g.channel, timeouts[i], &cq_event), VBN_ERR_TIMEOUT);
        WANT(vbn_cq_wait(g.cq, 1, &wc, 0, timeouts[i], &got), VBN_ERR_TIMEOUT);
    }
    alarm(0);
    null.reset();
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, QP_DATA, g.qpn, 1);
    cq_event_is(CQ_DATA, g.ibv_cq->handle, 1);
    end();
}

/* An object whose destroy failed is known to events as before; one that is destroyed no longer, whenever that was. */
static void known_until_destroyed(void)
{
    NEW(vbn_adopt_attr, attr);
    NEW(vbn_qp_init_attr, init);
    struct ibv_cq *native;
    vbn_cq *cq;
    vbn_qp *qp;

    begin();
    null.fail("ibv_destroy_qp", 1, EIO);
    WANT(vbn_qp_close(&g.qp), VBN_ERR_DRIVER);
    push(VBN_EVENT_QP_FATAL, g.ibv_qp);
    event_is(VBN_EVENT_QP_FATAL, VBN_ELEMENT_QP, QP_DATA, g.qpn, 1);
    /* Borrowed, so that the native queue outlives its handle; closed, it has one until its last user goes. */
    native = raw_cq(NULL);
    attr.user_data = 0xadad;
    OK(vbn_cq_adopt(g.context, native, &attr, &cq));
    init.send_cq = cq;
    OK(vbn_qp_create(g.pd, &init, &qp));
    OK(vbn_cq_close(&cq));
    push(VBN_EVENT_CQ_ERR, native);
    event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, 0xadad, native->handle, 1);
    OK(vbn_qp_close(&qp));
    push(VBN_EVENT_CQ_ERR, native);
    event_is(VBN_EVENT_CQ_ERR, VBN_ELEMENT_CQ, 0, native->handle, 0);
    raw.destroy_cq(native);
    end();
}

/* ---- A device that goes away ---- */

#define GONE(call) WANT(call, VBN_ERR_DEVICE_GONE)

/* Every call on every handle. */
static void all_gone(void)
{
    NEW(vbn_context_info, context);
    NEW(vbn_device_attr, device);
    NEW(vbn_port_attr, port);
    NEW(vbn_async_event, event);
    NEW(vbn_pd_info, pd);
    NEW(vbn_channel_info, channel);
    NEW(vbn_cq_info, cq);
    NEW(vbn_qp_info, qp);
    NEW(vbn_qp_attr, qp_attr);
    NEW(vbn_cq_event, cq_event);
    NEW(vbn_cq_attr, cq_attr);
    NEW(vbn_qp_init_attr, init);
    vbn_rc_record local, remote;
    uint8_t gid[16];
    uint16_t pkey;
    uint32_t count = 77, got = 77, posted = 77;
    uint64_t covered;
    vbn_send_wr send = {.opcode = VBN_WR_SEND};
    vbn_recv_wr recv = {0};
    vbn_sge sge;
    vbn_wc wc;
    void *out = &out;

    memset(&local, 0, sizeof(local));
    local.port_num = local.mtu = 1;
    remote = local;
    GONE(vbn_context_query(g.context, &context));
    WANT_TEXT("removed");
    GONE(vbn_context_query_device(g.context, &device));
    GONE(vbn_context_query_port(g.context, 1, &port));
    GONE(vbn_context_query_gid(g.context, 1, 0, gid));
    GONE(vbn_context_query_pkey(g.context, 1, 0, &pkey));
    GONE(vbn_context_gid_table(g.context, NULL, sizeof(vbn_gid_entry), 0, &count));
    GONE(vbn_gid_select(g.context, 1, NULL, NULL, NULL, 0, 0, &count));
    GONE(vbn_context_get_async_event(g.context, 0, &event));
    GONE(vbn_pd_alloc(g.context, NULL, (vbn_pd **)(void *)&out));
    GONE(vbn_channel_create(g.context, NULL, (vbn_channel **)(void *)&out));
    cq_attr.cqe = 1;
    GONE(vbn_cq_create(g.context, &cq_attr, (vbn_cq **)(void *)&out));
    GONE(vbn_pd_adopt(g.context, g.ibv_pd, NULL, (vbn_pd **)(void *)&out));
    GONE(vbn_cq_adopt(g.context, g.ibv_cq, NULL, (vbn_cq **)(void *)&out));
    GONE(vbn_channel_adopt(g.context, g.ibv_channel, NULL, (vbn_channel **)(void *)&out));
    GONE(vbn_pd_query(g.pd, &pd));
    GONE(vbn_mr_reg(g.pd, rig_memory, 1, 0, NULL, (vbn_mr **)(void *)&out));
    GONE(vbn_mr_reg_dmabuf(g.pd, 5, 0, 1, 0, 0, NULL, (vbn_mr **)(void *)&out));
    GONE(vbn_mr_adopt(g.pd, g.ibv_mr, NULL, (vbn_mr **)(void *)&out));
    GONE(vbn_qp_adopt(g.pd, g.ibv_qp, NULL, (vbn_qp **)(void *)&out));
    init.send_cq = g.cq;
    GONE(vbn_qp_create(g.pd, &init, (vbn_qp **)(void *)&out));
    MUST(!out, "*out");
    GONE(vbn_mr_segments(g.mr, 0, 1, 0, &sge, 1, &count, &covered));
    GONE(vbn_channel_query(g.channel, &channel));
    GONE(vbn_channel_get_event(g.channel, 0, &cq_event));
    MUST(vbn_channel_fd(g.channel) == -1 && !vbn_qp_num(g.qp) && !vbn_mr_lkey(g.mr), "a value of a device that is gone");
    GONE(vbn_cq_query(g.cq, &cq));
    GONE(vbn_cq_arm(g.cq, 0));
    GONE(vbn_cq_poll(g.cq, 1, &wc, &got));
    MUST(!got, "got %u", got);
    GONE(vbn_cq_wait(g.cq, 1, &wc, 0, -1, &got));
    GONE(vbn_qp_query(g.qp, &qp));
    qp_attr.set = VBN_QP_STATE;
    GONE(vbn_qp_modify(g.qp, &qp_attr));
    GONE(vbn_qp_post_send(g.qp, &send, 1, &posted));
    MUST(!posted, "posted %u", posted);
    GONE((posted = 77, vbn_qp_post_recv(g.qp, &recv, 1, &posted)));
    MUST(!posted, "posted %u", posted);
    GONE(vbn_qp_first_error(g.qp, &wc));
    GONE(vbn_rc_record_local(g.qp, NULL, &local));
    GONE(vbn_qp_to_init(g.qp, NULL));
    GONE(vbn_qp_to_rtr(g.qp, &local, &remote, NULL));
    GONE(vbn_qp_to_rts(g.qp, &local, NULL));
    GONE(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
}

static void native_pointers_stay(void)
{
    struct ibv_context *context;
    struct ibv_qp *qp;

    OK(vbn_context_native(g.context, &context));
    OK(vbn_qp_native(g.qp, &qp));
    MUST(context == g.ibv_context && qp == g.ibv_qp, "native pointers");
}

static void device_fatal(void)
{
    vbn_context *other;
    NEW(vbn_context_info, info);

    begin();
    OK(vbn_context_open("null1", NULL, &other));
    push(VBN_EVENT_DEVICE_FATAL, g.ibv_context);
    event_is(VBN_EVENT_DEVICE_FATAL, VBN_ELEMENT_DEVICE, CONTEXT_DATA, 0, 1);
    all_gone();
    native_pointers_stay();
    OK(vbn_context_query(other, &info));
    OK(vbn_context_close(&other));
    end();
}

/* The kernel says so by an error on the descriptor too. */
static void error_from_the_event_queue(int err)
{
    NEW(vbn_async_event, event);

    begin();
    null.push_port_event(g.ibv_context, IBV_EVENT_PORT_ERR, 1);
    null.fail("ibv_get_async_event", 1, err);
    WANT(vbn_context_get_async_event(g.context, 0, &event), VBN_ERR_DEVICE_GONE);
    WANT_ERRNO(err);
    all_gone();
    end();
}

static void eio_from_the_event_queue(void) { error_from_the_event_queue(EIO); }
static void enodev_from_the_event_queue(void) { error_from_the_event_queue(ENODEV); }

/* Of a channel the caller learns the same. */
static void error_from_the_channel(int err)
{
    NEW(vbn_cq_event, event);

    begin();
    null.push_cq_event(g.ibv_cq);
    null.fail("ibv_get_cq_event", 1, err);
    WANT(vbn_channel_get_event(g.channel, 0, &event), VBN_ERR_DEVICE_GONE);
    WANT_ERRNO(err);
    end();
}

static void eio_from_the_channel(void) { error_from_the_channel(EIO); }
static void enodev_from_the_channel(void) { error_from_the_channel(ENODEV); }

/* A destroy says that the device has gone, and it is so: that one counts as done, and all other handles are told. */
static void a_destroy_finds_the_device_gone(int err)
{
    NEW(vbn_context_info, info);
    vbn_context *other;

    begin();
    OK(vbn_context_open("null1", NULL, &other));
    null.fail("*", 0, err);
    OK(vbn_mr_close(&g.mr));
    MUST(!g.mr, "a handle is left");
    GONE(vbn_context_query(g.context, &info));
    WANT_TEXT("removed");
    GONE(vbn_pd_query(g.pd, &(vbn_pd_info){.struct_size = sizeof(vbn_pd_info)}));
    GONE(vbn_qp_query(g.qp, &(vbn_qp_info){.struct_size = sizeof(vbn_qp_info)}));
    GONE(vbn_cq_poll(g.cq, 1, &(vbn_wc){0}, &(uint32_t){0}));
    GONE(vbn_channel_query(g.channel, &(vbn_channel_info){.struct_size = sizeof(vbn_channel_info)}));
    OK(vbn_context_query(other, &info));
    OK(vbn_context_close(&other));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_pd_close(&g.pd));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_qp_close(&g.qp));
    /* The provider, which only pretended, still has them. */
    null.reset();
    MUST(!raw.destroy_qp(g.ibv_qp) && !raw.dereg_mr(g.ibv_mr) && !raw.destroy_cq(g.ibv_cq), "they were destroyed after all");
    MUST(!raw.destroy_comp_channel(g.ibv_channel) && !raw.dealloc_pd(g.ibv_pd), "they were destroyed after all");
    OK(vbn_context_close(&g.context));
    null_clean();
}

static void eio_and_no_answer(void) { a_destroy_finds_the_device_gone(EIO); }
static void enodev_and_no_answer(void) { a_destroy_finds_the_device_gone(ENODEV); }

/* Errors with which the kernel refuses to destroy what it has destroyed itself: they count as done. */
static void destroys_that_say_gone(int err)
{
    begin();
    push(VBN_EVENT_DEVICE_FATAL, g.ibv_context);
    next();
    null.fail("*", 0, err);
    OK(vbn_qp_close(&g.qp));
    OK(vbn_mr_close(&g.mr));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_pd_close(&g.pd));
    MUST(!g.qp && !g.mr && !g.cq && !g.channel && !g.pd, "a handle is left");
    /* The provider still has them, since it only pretended. */
    null.reset();
    MUST(!raw.destroy_qp(g.ibv_qp) && !raw.dereg_mr(g.ibv_mr) && !raw.destroy_cq(g.ibv_cq), "they were destroyed after all");
    MUST(!raw.destroy_comp_channel(g.ibv_channel) && !raw.dealloc_pd(g.ibv_pd), "they were destroyed after all");
    OK(vbn_context_close(&g.context));
    null_clean();
}

static void eio_at_destroy(void) { destroys_that_say_gone(EIO); }
static void enodev_at_destroy(void) { destroys_that_say_gone(ENODEV); }

/* The same for those that are destroyed with their last user, and without any event before. */
static void deferred_destroys_that_say_gone(void)
{
    begin();
    OK(vbn_channel_close(&g.channel));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_pd_close(&g.pd));
    null.fail("*", 0, ENODEV);
    OK(vbn_qp_close(&g.qp));
    OK(vbn_mr_close(&g.mr));
    null.reset();
    MUST(!raw.destroy_qp(g.ibv_qp) && !raw.dereg_mr(g.ibv_mr) && !raw.destroy_cq(g.ibv_cq), "they were destroyed after all");
    MUST(!raw.destroy_comp_channel(g.ibv_channel) && !raw.dealloc_pd(g.ibv_pd), "they were destroyed after all");
    OK(vbn_context_close(&g.context));
    null_clean();
}

static const struct test tests[] = {
    {"every_type_names_its_object", every_type_names_its_object},
    {"unknown_types_come_through", unknown_types_come_through},
    {"objects_of_raw_verbs_are_unknown", objects_of_raw_verbs_are_unknown},
    {"adopted_and_released_objects", adopted_and_released_objects},
    {"many_objects", many_objects},
    {"completion_events_name_their_queue", completion_events_name_their_queue},
    {"refused_events", refused_events},
    {"nothing_behind_a_readable_descriptor", nothing_behind_a_readable_descriptor},
    {"known_until_destroyed", known_until_destroyed},
    {"device_fatal", device_fatal},
    {"eio_from_the_event_queue", eio_from_the_event_queue},
    {"enodev_from_the_event_queue", enodev_from_the_event_queue},
    {"eio_from_the_channel", eio_from_the_channel},
    {"enodev_from_the_channel", enodev_from_the_channel},
    {"eio_and_no_answer", eio_and_no_answer},
    {"enodev_and_no_answer", enodev_and_no_answer},
    {"eio_at_destroy", eio_at_destroy},
    {"enodev_at_destroy", enodev_at_destroy},
    {"deferred_destroys_that_say_gone", deferred_destroys_that_say_gone},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_events", tests, argc, argv);
}
