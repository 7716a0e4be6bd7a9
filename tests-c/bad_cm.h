/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The rows of bad_input.c for the connection manager, above a librdmacm of ours. Included there, after what the rows share. */
#ifndef BAD_CM_H
#define BAD_CM_H

#include "null_cm.h"

static struct cm_rig c;

/* Wrong handles for an argument that wants the id, or the channel. */
static void bad_cm_handles(int wants_id, call *with)
{
    void *good = wants_id ? (void *)c.id : (void *)c.channel, *other = wants_id ? (void *)c.channel : (void *)c.id, *gone;
    vbn_cm_channel *channel;
    vbn_cm_id *id;

    GOT(with(NULL), VBN_ERR_ARGUMENT, "NULL handle");
    WANT_TEXT("NULL");
    for (enum kind kind = 0; kind < KINDS; kind++)
        GOT(with(live(kind)), VBN_ERR_ARGUMENT, "handle of another type");
    GOT(with(other), VBN_ERR_ARGUMENT, "handle of another type");
    WANT_TEXT("is not a");
    GOT(with((char *)good + 1), VBN_ERR_ARGUMENT, "misaligned handle");
    OK(vbn_cm_channel_create(NULL, &channel));
    OK(vbn_cm_id_create(channel, NULL, &id));
    gone = wants_id ? (void *)id : (void *)channel;
    OK(vbn_cm_id_close(&id));
    OK(vbn_cm_channel_close(&channel));
    GOT(with(gone), VBN_ERR_CLOSED, "closed handle");
}

/* A row that opens and closes the rig around its body. */
#define CM_ROW(name) \
    static void cm_row_##name(void); \
    static void bad_##name(void) \
    { \
        c = cm_rig_open(); \
        cm_row_##name(); \
        cm_rig_close(&c); \
    } \
    static void cm_row_##name(void)

/* A constructor: NULL in the output after every failure; what it makes is closed. */
#define CM_CONSTRUCT(type, close, body) \
    do { \
        type *made_ = (type *)(void *)out_room, **out = &made_; \
        vbn_status status_ = (body); \
        MUST(status_ ? !made_ : made_ && made_ != (type *)(void *)out_room, "after %s *out is %p", vbn_status_name(status_), (void *)made_); \
        if (!status_) \
            OK(close(&made_)); \
        return status_; \
    } while (0)

/* ---- Close, release, native, of both ---- */

#define CM_END_ROWS(name, wants_id, member, native_type) \
    static vbn_status name##_close_with(void *handle) \
    { \
        vbn_##name *variable = handle; \
        vbn_status status = vbn_##name##_close(&variable); \
        MUST(status ? variable == handle : !variable, "the handle's variable after %s", vbn_status_name(status)); \
        return status; \
    } \
    static vbn_status name##_close_or_not(void *handle) { return handle ? name##_close_with(handle) : vbn_##name##_close(NULL) + VBN_ERR_ARGUMENT; } \
    static vbn_status name##_release_with(void *handle) \
    { \
        vbn_##name *variable = handle; \
        native_type *native = (native_type *)(void *)out_room; \
        vbn_status status = vbn_##name##_release(&variable, &native); \
        MUST(!status || (variable == handle && native == (native_type *)(void *)out_room), "variables after %s", vbn_status_name(status)); \
        return status; \
    } \
    static vbn_status name##_native_with(void *handle) \
    { \
        native_type *native; \
        return vbn_##name##_native(handle, &native); \
    } \
    static vbn_status name##_native_out(void *out) { return vbn_##name##_native(c.member, out); } \
    CM_ROW(name##_close) \
    { \
        vbn_##name *none = NULL; \
        GOT(vbn_##name##_close(NULL), VBN_OK, "NULL pointer"); \
        GOT(vbn_##name##_close(&none), VBN_OK, "pointer to NULL"); \
        GOT(vbn_##name##_close((vbn_##name **)(void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned pointer"); \
        for (enum kind kind = 0; kind < KINDS; kind++) \
            GOT(name##_close_or_not(live(kind)), VBN_ERR_ARGUMENT, "handle of another type"); \
        GOT(name##_close_or_not((char *)(void *)c.member + 1), VBN_ERR_ARGUMENT, "misaligned handle"); \
    } \
    CM_ROW(name##_release) \
    { \
        vbn_##name *handle = c.member; \
        native_type *native; \
        bad_cm_handles(wants_id, name##_release_with); \
        GOT(vbn_##name##_release(NULL, &native), VBN_ERR_ARGUMENT, "NULL pointer"); \
        GOT(vbn_##name##_release(&handle, NULL), VBN_ERR_ARGUMENT, "NULL output"); \
        GOT(vbn_##name##_release(&handle, &native), VBN_ERR_BUSY, "in use"); \
    } \
    CM_ROW(name##_native) \
    { \
        bad_cm_handles(wants_id, name##_native_with); \
        bad_out(name##_native_out); \
    }
CM_END_ROWS(cm_channel, 0, channel, struct rdma_event_channel)
CM_END_ROWS(cm_id, 1, id, struct rdma_cm_id)

/* ---- Channels ---- */

static const vbn_cm_channel_attr cm_channel_zero = {.struct_size = sizeof cm_channel_zero};
static vbn_status cm_channel_attr_with(void *attr) { CM_CONSTRUCT(vbn_cm_channel, vbn_cm_channel_close, vbn_cm_channel_create(attr, out)); }
static vbn_status cm_channel_out(void *out) { return vbn_cm_channel_create(NULL, out); }
CM_ROW(cm_channel_create)
{
    bad_input_struct(&cm_channel_zero, sizeof(cm_channel_zero), "vbn_cm_channel_attr", VBN_OK, cm_channel_attr_with);
    bad_out(cm_channel_out);
}

static vbn_status cm_channel_query_with(void *handle)
{
    NEW(vbn_cm_channel_info, info);
    return vbn_cm_channel_query(handle, &info);
}
static vbn_status cm_channel_info_with(void *info) { return vbn_cm_channel_query(c.channel, info); }
CM_ROW(cm_channel_query)
{
    bad_cm_handles(0, cm_channel_query_with);
    bad_output_struct(sizeof(vbn_cm_channel_info), "vbn_cm_channel_info", cm_channel_info_with);
}

CM_ROW(cm_channel_fd)
{
    MUST(vbn_cm_channel_fd(c.channel) >= 0 && vbn_cm_channel_fd(NULL) == -1 && vbn_cm_channel_fd((vbn_cm_channel *)(void *)c.id) == -1, "fd");
}

static vbn_status cm_get_with(void *handle)
{
    NEW(vbn_cm_event, event);
    vbn_cm_id *id = (vbn_cm_id *)(void *)out_room;
    vbn_status status = vbn_cm_channel_get_event(handle, 0, &event, &id);

    MUST(!id, "*id_out");
    return status;
}
static vbn_status cm_get_event_with(void *event)
{
    vbn_cm_id *id;

    cm_push(c.native, RDMA_CM_EVENT_ADDR_CHANGE, 0, NULL, 0);
    return vbn_cm_channel_get_event(c.channel, 0, event, &id);
}
static vbn_status cm_get_id_with(void *id)
{
    NEW(vbn_cm_event, event);
    return vbn_cm_channel_get_event(c.channel, 0, &event, id);
}
CM_ROW(cm_channel_get_event)
{
    bad_cm_handles(0, cm_get_with);
    bad_output_struct(sizeof(vbn_cm_event), "vbn_cm_event", cm_get_event_with);
    bad_out(cm_get_id_with);
    while (!cm_get_with(c.channel))
        ;
    GOT(cm_get_with(c.channel), VBN_ERR_TIMEOUT, "no event");
}

static vbn_status cm_channel_adopt_native(void *native) { CM_CONSTRUCT(vbn_cm_channel, vbn_cm_channel_close, vbn_cm_channel_adopt(native, NULL, out)); }
static vbn_status cm_channel_adopt_attr(void *attr) { CM_CONSTRUCT(vbn_cm_channel, vbn_cm_channel_close, vbn_cm_channel_adopt(c.native->channel, attr, out)); }
static vbn_status cm_channel_adopt_out(void *out) { return vbn_cm_channel_adopt(c.native->channel, NULL, out); }
CM_ROW(cm_channel_adopt) { bad_adopt(0, cm_channel_adopt_attr, cm_channel_adopt_native, cm_channel_adopt_out); }

/* ---- Ids ---- */

static const vbn_cm_id_attr cm_id_zero = {.struct_size = sizeof cm_id_zero};
static vbn_status cm_id_create_with(void *channel) { CM_CONSTRUCT(vbn_cm_id, vbn_cm_id_close, vbn_cm_id_create(channel, NULL, out)); }
static vbn_status cm_id_attr_with(void *attr) { CM_CONSTRUCT(vbn_cm_id, vbn_cm_id_close, vbn_cm_id_create(c.channel, attr, out)); }
static vbn_status cm_id_out(void *out) { return vbn_cm_id_create(c.channel, NULL, out); }
CM_ROW(cm_id_create)
{
    static const int32_t spaces[] = {-1, 1, 2, INT32_MAX};
    vbn_cm_id_attr attr = cm_id_zero;

    bad_cm_handles(0, cm_id_create_with);
    bad_input_struct(&attr, sizeof(attr), "vbn_cm_id_attr", VBN_OK, cm_id_attr_with);
    bad_out(cm_id_out);
    for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
        attr.port_space = spaces[i];
        GOT(cm_id_attr_with(&attr), VBN_ERR_ARGUMENT, "port_space");
    }
    attr = cm_id_zero;
    attr.set = 16;
    GOT(cm_id_attr_with(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
    WANT_NUMBERS(16, 15);
    attr = cm_id_zero;
    attr.reuse_addr = 2;
    GOT(cm_id_attr_with(&attr), VBN_ERR_ARGUMENT, "reuse_addr 2");
    attr = cm_id_zero;
    attr.only_v6 = 2;
    GOT(cm_id_attr_with(&attr), VBN_ERR_ARGUMENT, "only_v6 2");
    attr = cm_id_zero;
    attr.ack_timeout = 32;
    GOT(cm_id_attr_with(&attr), VBN_ERR_ARGUMENT, "ack_timeout 32");
}

static vbn_status cm_id_query_with(void *handle)
{
    NEW(vbn_cm_id_info, info);
    return vbn_cm_id_query(handle, &info);
}
static vbn_status cm_id_info_with(void *info) { return vbn_cm_id_query(c.id, info); }
CM_ROW(cm_id_query)
{
    bad_cm_handles(1, cm_id_query_with);
    bad_output_struct(sizeof(vbn_cm_id_info), "vbn_cm_id_info", cm_id_info_with);
}

static vbn_status cm_id_set_with(void *handle) { return vbn_cm_id_set_user_data(handle, 7); }
CM_ROW(cm_id_set_user_data) { bad_cm_handles(1, cm_id_set_with); }

/* An address that must be there, and be one. */
static void bad_addresses(vbn_status null_gives, vbn_status empty_gives, call *with)
{
    vbn_cm_addr addr = cm_addr(), bad;

    GOT(with(NULL), null_gives, "NULL address");
    GOT(with(&addr), VBN_OK, "a good address");
    bad = (vbn_cm_addr){0};
    GOT(with(&bad), empty_gives, "no address");
    bad = addr;
    bad.reserved0 = 1;
    GOT(with(&bad), VBN_ERR_ARGUMENT, "reserved0");
    for (uint32_t length = 1; length < 16; length++) {
        bad = addr;
        bad.length = length;
        GOT(with(&bad), VBN_ERR_ARGUMENT, "too short");
    }
    bad = addr;
    bad.length = 129;
    GOT(with(&bad), VBN_ERR_ARGUMENT, "too long");
    bad.length = UINT32_MAX;
    GOT(with(&bad), VBN_ERR_ARGUMENT, "length UINT32_MAX");
    bad = addr;
    memset(bad.sockaddr, 0xff, 2);
    GOT(with(&bad), VBN_ERR_ARGUMENT, "unknown family");
}

static vbn_status cm_bind_with(void *handle)
{
    vbn_cm_addr addr = cm_addr();
    return vbn_cm_id_bind(handle, &addr);
}
static vbn_status cm_bind_addr_with(void *addr) { return vbn_cm_id_bind(c.id, addr); }
CM_ROW(cm_id_bind)
{
    bad_cm_handles(1, cm_bind_with);
    bad_addresses(VBN_ERR_ARGUMENT, VBN_ERR_ARGUMENT, cm_bind_addr_with);
}

static vbn_status cm_listen_with(void *handle) { return vbn_cm_id_listen(handle, 3); }
CM_ROW(cm_id_listen)
{
    bad_cm_handles(1, cm_listen_with);
    GOT(vbn_cm_id_listen(c.id, 0x80000000), VBN_ERR_ARGUMENT, "backlog 2^31");
}

static vbn_status cm_resolve_addr_with(void *handle)
{
    vbn_cm_addr addr = cm_addr();
    return vbn_cm_id_resolve_addr(handle, NULL, &addr, 1);
}
static vbn_status cm_resolve_addr_target(void *addr) { return vbn_cm_id_resolve_addr(c.id, NULL, addr, 1); }
static vbn_status cm_resolve_addr_source(void *addr)
{
    vbn_cm_addr to = cm_addr();
    return vbn_cm_id_resolve_addr(c.id, addr, &to, 1);
}
CM_ROW(cm_id_resolve_addr)
{
    bad_cm_handles(1, cm_resolve_addr_with);
    bad_addresses(VBN_ERR_ARGUMENT, VBN_ERR_ARGUMENT, cm_resolve_addr_target);
    bad_addresses(VBN_OK, VBN_OK, cm_resolve_addr_source);
}

static vbn_status cm_resolve_route_with(void *handle) { return vbn_cm_id_resolve_route(handle, 1); }
CM_ROW(cm_id_resolve_route) { bad_cm_handles(1, cm_resolve_route_with); }

static vbn_status cm_resolve_with(void *handle)
{
    vbn_cm_addr addr = cm_addr();
    return vbn_cm_id_resolve(handle, NULL, &addr, 1000000000);
}
static vbn_status cm_resolve_target(void *addr) { return vbn_cm_id_resolve(c.id, NULL, addr, 1000000000); }
static vbn_status cm_resolve_source(void *addr)
{
    vbn_cm_addr to = cm_addr();
    return vbn_cm_id_resolve(c.id, addr, &to, 1000000000);
}
CM_ROW(cm_id_resolve)
{
    bad_cm_handles(1, cm_resolve_with);
    bad_addresses(VBN_ERR_ARGUMENT, VBN_ERR_ARGUMENT, cm_resolve_target);
    bad_addresses(VBN_OK, VBN_OK, cm_resolve_source);
}

static const vbn_context_attr cm_context_zero = {.struct_size = sizeof cm_context_zero};
static vbn_status cm_context_with(void *id) { CM_CONSTRUCT(vbn_context, vbn_context_close, vbn_cm_id_context(id, NULL, out)); }
static vbn_status cm_context_attr_with(void *attr) { CM_CONSTRUCT(vbn_context, vbn_context_close, vbn_cm_id_context(c.id, attr, out)); }
static vbn_status cm_context_out(void *out) { return vbn_cm_id_context(c.id, NULL, out); }
CM_ROW(cm_id_context)
{
    bad_cm_handles(1, cm_context_with);
    bad_input_struct(&cm_context_zero, sizeof(cm_context_zero), "vbn_context_attr", VBN_OK, cm_context_attr_with);
    bad_out(cm_context_out);
}

/* The rig's id has had a queue pair, so another is asked. */
static vbn_cm_id *cm_fresh;
static const vbn_pd_attr cm_pd_zero = {.struct_size = sizeof cm_pd_zero};
static vbn_status cm_pd_with(void *id) { CM_CONSTRUCT(vbn_pd, vbn_pd_close, vbn_cm_id_pd(id == c.id ? cm_fresh : id, c.context, NULL, out)); }
static vbn_status cm_pd_context(void *context) { CM_CONSTRUCT(vbn_pd, vbn_pd_close, vbn_cm_id_pd(cm_fresh, context, NULL, out)); }
static vbn_status cm_pd_attr_with(void *attr) { CM_CONSTRUCT(vbn_pd, vbn_pd_close, vbn_cm_id_pd(cm_fresh, c.context, attr, out)); }
static vbn_status cm_pd_out(void *out) { return vbn_cm_id_pd(cm_fresh, c.context, NULL, out); }
CM_ROW(cm_id_pd)
{
    vbn_cm_addr addr = cm_addr();

    OK(vbn_cm_id_create(c.channel, NULL, &cm_fresh));
    OK(vbn_cm_id_bind(cm_fresh, &addr));
    bad_cm_handles(1, cm_pd_with);
    bad_handles(CONTEXT, cm_pd_context);
    GOT(cm_pd_context(live(CONTEXT)), VBN_ERR_ARGUMENT, "another context");
    GOT(cm_pd_context(c.context), VBN_OK, "the lent context");
    bad_input_struct(&cm_pd_zero, sizeof(cm_pd_zero), "vbn_pd_attr", VBN_OK, cm_pd_attr_with);
    bad_out(cm_pd_out);
    OK(vbn_cm_id_close(&cm_fresh));
}

static vbn_qp_init_attr cm_qp_attr(void)
{
    NEW(vbn_qp_init_attr, attr);
    attr.send_cq = c.cq;
    return attr;
}
static vbn_status cm_qp_with(void *id)
{
    vbn_qp_init_attr attr = cm_qp_attr();
    CM_CONSTRUCT(vbn_qp, vbn_qp_close, vbn_cm_id_create_qp(id, c.pd, &attr, out));
}
static vbn_status cm_qp_pd(void *pd)
{
    vbn_qp_init_attr attr = cm_qp_attr();
    CM_CONSTRUCT(vbn_qp, vbn_qp_close, vbn_cm_id_create_qp(c.id, pd, &attr, out));
}
static vbn_status cm_qp_attr_with(void *attr) { CM_CONSTRUCT(vbn_qp, vbn_qp_close, vbn_cm_id_create_qp(c.id, c.pd, attr, out)); }
static vbn_status cm_qp_out(void *out)
{
    vbn_qp_init_attr attr = cm_qp_attr();
    return vbn_cm_id_create_qp(c.id, c.pd, &attr, out);
}
CM_ROW(cm_id_create_qp)
{
    vbn_qp_init_attr attr = cm_qp_attr();

    OK(vbn_qp_close(&c.qp));
    bad_cm_handles(1, cm_qp_with);
    bad_handles(PD, cm_qp_pd);
    GOT(cm_qp_pd(live(PD)), VBN_ERR_ARGUMENT, "a PD of another context");
    GOT(cm_qp_pd(c.pd), VBN_OK, "a PD of the lent context");
    bad_input_struct(&attr, sizeof(attr), "vbn_qp_init_attr", VBN_ERR_ARGUMENT, cm_qp_attr_with);
    bad_out(cm_qp_out);
    attr.send_cq = NULL;
    GOT(cm_qp_attr_with(&attr), VBN_ERR_ARGUMENT, "send_cq NULL");
    attr.send_cq = live(CQ);
    GOT(cm_qp_attr_with(&attr), VBN_ERR_ARGUMENT, "send_cq of another context");
    attr = cm_qp_attr();
    attr.recv_cq = live(CQ);
    GOT(cm_qp_attr_with(&attr), VBN_ERR_ARGUMENT, "recv_cq of another context");
    attr = cm_qp_attr();
    attr.srq = live(SRQ);
    GOT(cm_qp_attr_with(&attr), VBN_ERR_ARGUMENT, "srq of another context");
    attr = cm_qp_attr();
    attr.qp_type = VBN_QPT_UD;
    GOT(cm_qp_attr_with(&attr), VBN_ERR_ARGUMENT, "UD of a TCP id");
    attr = cm_qp_attr();
    attr.post_path = VBN_POST_PATH_WR;
    GOT(cm_qp_attr_with(&attr), VBN_ERR_NOT_SUPPORTED, "ibv_wr_*");
    attr = cm_qp_attr();
    attr.max_send_wr = UINT32_MAX;
    GOT(cm_qp_attr_with(&attr), VBN_ERR_LIMIT, "max_send_wr");
}

static const vbn_cm_conn_attr cm_conn_zero = {.struct_size = sizeof cm_conn_zero};

static void bad_conn_attr(uint64_t most, call *with)
{
    static const unsigned char data[512];
    vbn_cm_conn_attr attr = cm_conn_zero;

    bad_input_struct(&attr, sizeof(attr), "vbn_cm_conn_attr", VBN_OK, with);
    attr.set = 16;
    GOT(with(&attr), VBN_ERR_ARGUMENT, "unknown bit in set");
    WANT_NUMBERS(16, 15);
    for (size_t i = 0; i < sizeof(attr.reserved0); i++) {
        attr = cm_conn_zero;
        attr.reserved0[i] = 1;
        GOT(with(&attr), VBN_ERR_ARGUMENT, "reserved0");
    }
    attr = cm_conn_zero;
    attr.retry_count = 8;
    GOT(with(&attr), VBN_ERR_ARGUMENT, "retry_count 8");
    attr = cm_conn_zero;
    attr.rnr_retry_count = 8;
    GOT(with(&attr), VBN_ERR_ARGUMENT, "rnr_retry_count 8");
    attr = cm_conn_zero;
    attr.private_data_len = 1;
    GOT(with(&attr), VBN_ERR_ARGUMENT, "NULL private_data");
    attr.private_data = data;
    attr.private_data_len = UINT64_MAX;
    GOT(with(&attr), VBN_ERR_ARGUMENT, "private_data_len UINT64_MAX");
    attr.private_data_len = most;
    GOT(with(&attr), VBN_OK, "as much as there is room for");
    attr.private_data_len = most + 1;
    GOT(with(&attr), VBN_ERR_LIMIT, "one byte more");
    WANT_NUMBERS(most + 1, most);
    attr.private_data_len = sizeof(data);
    GOT(with(&attr), VBN_ERR_LIMIT, "more than fits a byte");
}

static vbn_status cm_connect_with(void *id) { return vbn_cm_id_connect(id, NULL); }
static vbn_status cm_connect_attr_with(void *attr) { return vbn_cm_id_connect(c.id, attr); }
CM_ROW(cm_id_connect)
{
    bad_cm_handles(1, cm_connect_with);
    bad_conn_attr(56, cm_connect_attr_with);
    OK(vbn_qp_close(&c.qp));
    GOT(cm_connect_with(c.id), VBN_ERR_ARGUMENT, "no queue pair");
}

static vbn_status cm_accept_with(void *id) { return vbn_cm_id_accept(id, NULL); }
static vbn_status cm_accept_attr_with(void *attr) { return vbn_cm_id_accept(c.id, attr); }
CM_ROW(cm_id_accept)
{
    bad_cm_handles(1, cm_accept_with);
    bad_conn_attr(196, cm_accept_attr_with);
    OK(vbn_qp_close(&c.qp));
    GOT(cm_accept_with(c.id), VBN_ERR_ARGUMENT, "no queue pair");
}

static vbn_status cm_reject_with(void *id) { return vbn_cm_id_reject(id, NULL, 0); }
CM_ROW(cm_id_reject)
{
    static const unsigned char data[256];

    bad_cm_handles(1, cm_reject_with);
    GOT(vbn_cm_id_reject(c.id, NULL, 1), VBN_ERR_ARGUMENT, "NULL private_data");
    GOT(vbn_cm_id_reject(c.id, data, UINT64_MAX), VBN_ERR_ARGUMENT, "length UINT64_MAX");
    GOT(vbn_cm_id_reject(c.id, data, 148), VBN_OK, "as much as there is room for");
    GOT(vbn_cm_id_reject(c.id, data, 149), VBN_ERR_LIMIT, "one byte more");
    WANT_NUMBERS(149, 148);
}

static vbn_status cm_disconnect_with(void *id) { return vbn_cm_id_disconnect(id); }
CM_ROW(cm_id_disconnect) { bad_cm_handles(1, cm_disconnect_with); }

/* A raw id on the rig's channel. */
static struct rdma_cm_id *cm_raw;
static vbn_status cm_id_adopt_channel(void *channel) { CM_CONSTRUCT(vbn_cm_id, vbn_cm_id_close, vbn_cm_id_adopt(channel, cm_raw, NULL, out)); }
static vbn_status cm_id_adopt_native(void *native) { CM_CONSTRUCT(vbn_cm_id, vbn_cm_id_close, vbn_cm_id_adopt(c.channel, native, NULL, out)); }
static vbn_status cm_id_adopt_attr(void *attr) { CM_CONSTRUCT(vbn_cm_id, vbn_cm_id_close, vbn_cm_id_adopt(c.channel, cm_raw, attr, out)); }
static vbn_status cm_id_adopt_out(void *out) { return vbn_cm_id_adopt(c.channel, cm_raw, NULL, out); }
CM_ROW(cm_id_adopt)
{
    vbn_cm_channel *other;

    MUST(!cm_create_id(c.native->channel, &cm_raw, NULL, RDMA_PS_TCP), "rdma_create_id");
    bad_cm_handles(0, cm_id_adopt_channel);
    bad_adopt(0, cm_id_adopt_attr, cm_id_adopt_native, cm_id_adopt_out);
    OK(vbn_cm_channel_create(NULL, &other));
    GOT(cm_id_adopt_channel(other), VBN_ERR_ARGUMENT, "another channel");
    OK(vbn_cm_channel_close(&other));
    MUST(!cm_destroy_id(cm_raw), "rdma_destroy_id");
}

/* ---- Events and addresses ---- */

static const vbn_cm_event cm_good_event = {.struct_size = sizeof cm_good_event, .type = VBN_CM_EVENT_ESTABLISHED};
static vbn_status cm_check_with(void *event) { return vbn_cm_event_check(event); }
static void bad_cm_event_check(void) { bad_input_struct(&cm_good_event, sizeof(cm_good_event), "vbn_cm_event", VBN_ERR_ARGUMENT, cm_check_with); }

static vbn_status cm_peer_pd(void *pd)
{
    vbn_cm_event event = cm_good_event;
    CM_CONSTRUCT(vbn_peer, vbn_peer_close, (event.has_peer = 1, event.path.dgid[0] = 0xfe, event.path.is_global = 1, vbn_peer_from_cm(pd, &event, NULL, out)));
}
static vbn_status cm_peer_event(void *event) { CM_CONSTRUCT(vbn_peer, vbn_peer_close, vbn_peer_from_cm(g.pd, event, NULL, out)); }
static vbn_cm_event cm_peer_good(void)
{
    vbn_cm_event event = cm_good_event;
    event.has_peer = 1, event.path.dgid[0] = 0xfe, event.path.is_global = 1;
    return event;
}
static vbn_status cm_peer_attr(void *attr)
{
    vbn_cm_event event = cm_peer_good();
    CM_CONSTRUCT(vbn_peer, vbn_peer_close, vbn_peer_from_cm(g.pd, &event, attr, out));
}
static vbn_status cm_peer_out(void *out)
{
    vbn_cm_event event = cm_peer_good();
    return vbn_peer_from_cm(g.pd, &event, NULL, out);
}
static void bad_peer_from_cm(void)
{
    NEW(vbn_peer_attr, attr);
    vbn_cm_event event = cm_peer_good();

    bad_handles(PD, cm_peer_pd);
    bad_input_struct(&event, sizeof(event), "vbn_cm_event", VBN_ERR_ARGUMENT, cm_peer_event);
    bad_input_struct(&attr, sizeof(attr), "vbn_peer_attr", VBN_OK, cm_peer_attr);
    bad_out(cm_peer_out);
    event.has_peer = 0;
    GOT(cm_peer_event(&event), VBN_ERR_ARGUMENT, "no peer");
    event = cm_peer_good();
    event.qp_num = 0x1000000;
    GOT(cm_peer_event(&event), VBN_ERR_ARGUMENT, "qp_num of 25 bits");
    event = cm_peer_good();
    event.path.port_num = 200;
    GOT(cm_peer_event(&event), VBN_ERR_LIMIT, "port_num");
    attr.qkey = 1;
    GOT(cm_peer_attr(&attr), VBN_ERR_ARGUMENT, "qkey");
    attr.qkey = 0, attr.qp_num = 1;
    GOT(cm_peer_attr(&attr), VBN_ERR_ARGUMENT, "qp_num");
    attr.qp_num = 0, attr.path.sl = 1;
    GOT(cm_peer_attr(&attr), VBN_ERR_ARGUMENT, "path");
}

static vbn_status cm_parse_out(void *addr) { return vbn_cm_addr_parse("::1", 1, addr); }
static void bad_cm_addr_parse(void)
{
    static const char *const bad[] = {"", " ", "localhost", "1.2.3", "1.2.3.4.5", "1.2.3.4%1", "fe80::1%", "fe80::1%nothing-of-this-name", "\xff", "::1 "};
    vbn_cm_addr addr, before;

    memset(&addr, 0xa5, sizeof(addr));
    before = addr;
    GOT(cm_parse_out(NULL), VBN_ERR_ARGUMENT, "NULL output");
    GOT(cm_parse_out((char *)&addr + 1), VBN_ERR_ARGUMENT, "misaligned output");
    GOT(vbn_cm_addr_parse(NULL, 1, &addr), VBN_ERR_ARGUMENT, "NULL host");
    GOT(vbn_cm_addr_parse("::1", 65536, &addr), VBN_ERR_ARGUMENT, "port 65536");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        GOT(vbn_cm_addr_parse(bad[i], 1, &addr), VBN_ERR_ARGUMENT, bad[i]);
    CHECK_MEM(&addr, &before, sizeof(addr));
}

static vbn_status cm_format_with(void *addr)
{
    char host[64];
    return vbn_cm_addr_format(addr, host, sizeof(host), NULL);
}
static void bad_cm_addr_format(void)
{
    vbn_cm_addr addr = cm_addr();
    char host[64];
    uint32_t port;

    bad_addresses(VBN_ERR_ARGUMENT, VBN_OK, cm_format_with);
    GOT(vbn_cm_addr_format(&addr, NULL, 64, &port), VBN_ERR_ARGUMENT, "NULL host");
    GOT(vbn_cm_addr_format(&addr, NULL, 0, &port), VBN_ERR_ARGUMENT, "no room");
    GOT(vbn_cm_addr_format(&addr, host, SIZE_MAX, &port), VBN_ERR_ARGUMENT, "size SIZE_MAX");
    GOT(vbn_cm_addr_format(&addr, host, 9, &port), VBN_ERR_ARGUMENT, "too little room");
    WANT_NUMBERS(9, 10);
    GOT(vbn_cm_addr_format(&addr, host, 10, &port), VBN_OK, "just enough room");
    MUST(!strcmp(host, "192.0.2.1") && port == 7471, "%s %u", host, port);
    GOT(vbn_cm_addr_format(&addr, host, sizeof(host), (uint32_t *)(void *)(out_room + 1)), VBN_ERR_ARGUMENT, "misaligned port");
}

static void bad_cm_event_name(void)
{
    MUST(!strcmp(vbn_cm_event_name(-1), "unknown") && !strcmp(vbn_cm_event_name(16), "unknown"), "unknown events");
}

#define SYMBOLS_CM(X) \
    X(cm_addr_format) X(cm_addr_parse) X(cm_channel_adopt) X(cm_channel_close) X(cm_channel_create) X(cm_channel_fd) X(cm_channel_get_event) \
    X(cm_channel_native) X(cm_channel_query) X(cm_channel_release) X(cm_event_check) X(cm_event_name) X(cm_id_accept) X(cm_id_adopt) X(cm_id_bind) \
    X(cm_id_close) X(cm_id_connect) X(cm_id_context) X(cm_id_create) X(cm_id_create_qp) X(cm_id_disconnect) X(cm_id_listen) X(cm_id_native) \
    X(cm_id_pd) X(cm_id_query) X(cm_id_reject) X(cm_id_release) X(cm_id_resolve) X(cm_id_resolve_addr) X(cm_id_resolve_route) \
    X(cm_id_set_user_data) X(peer_from_cm)

#endif
