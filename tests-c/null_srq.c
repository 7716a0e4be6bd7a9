/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared receive queues, XRC, multicast and UC where a device is to fail, or to have what soft-RoCE hasn't. */
#include <dlfcn.h>
#include "null_help.h"

static struct rig g;
static vbn_srq *srq;

static void begin(void)
{
    NEW(vbn_srq_attr, attr);

    null_begin();
    g = rig_open();
    attr.user_data = 99;
    attr.max_wr = 200;
    attr.max_sge = 3;
    OK(vbn_srq_create(g.pd, &attr, &srq));
}

static void end(void)
{
    OK(vbn_srq_close(&srq));
    rig_close(&g);
    null_clean();
}

static vbn_qp *on_shared(int32_t type)
{
    NEW(vbn_qp_init_attr, attr);
    vbn_qp *qp;

    attr.send_cq = g.cq;
    attr.srq = srq;
    attr.qp_type = type;
    OK(vbn_qp_create(g.pd, &attr, &qp));
    return qp;
}

/* What the driver is told, by both ways of creating a queue pair. */
static void the_driver_is_told(void)
{
    for (int by_wr = 0; by_wr < 2; by_wr++) {
        struct ibv_qp_init_attr_ex seen;
        NEW(vbn_qp_init_attr, attr);
        struct ibv_srq *native;
        vbn_qp *qp;

        begin();
        OK(vbn_srq_native(srq, &native));
        attr.send_cq = g.cq;
        attr.srq = srq;
        attr.post_path = by_wr ? VBN_POST_PATH_WR : VBN_POST_PATH_AUTO;
        OK(vbn_qp_create(g.pd, &attr, &qp));
        MUST(!null.last_create_qp(&seen), "nothing was created");
        MUST(seen.srq == native && !seen.cap.max_recv_wr && !seen.cap.max_recv_sge, "srq %p, receives %u, segments %u", (void *)seen.srq,
             seen.cap.max_recv_wr, seen.cap.max_recv_sge);
        OK(vbn_qp_close(&qp));
        end();
    }
}

/* Every field of a receive arrives, in lists of any length, and the list ends where it should. */
static void posted(void)
{
    static vbn_recv_wr wrs[70];
    vbn_sge list[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    struct nullv_stats stats;
    struct nullv_wr seen;
    uint32_t n;

    begin();
    null.set_walk(1);
    for (uint32_t count = 1; count <= ARRAY_SIZE(wrs); count += count == 1 ? 30 : 1) {
        null.stats_reset();
        memset(wrs, 0, sizeof(wrs));
        for (uint32_t i = 0; i < count; i++) {
            wrs[i].wr_id = 1000 * count + i;
            wrs[i].num_sge = i % 4;
            wrs[i].sg_list = i % 4 == 1 ? NULL : list;
            wrs[i].sge = (vbn_sge){i, 10 + i, 20 + i};
        }
        OK(vbn_srq_post_recv(srq, wrs, count, &n));
        MUST(n == count, "posted %u of %u", n, count);
        null.stats(&stats);
        MUST(stats.recv.wrs == count && stats.recv.calls == (count + 31) / 32, "%u requests in %u calls", (unsigned)stats.recv.wrs,
             (unsigned)stats.recv.calls);
        for (uint32_t i = 0; i < count; i++) {
            MUST(!null.posted(count - 1 - i, &seen), "request %u", i);
            MUST(seen.wr_id == wrs[i].wr_id && seen.num_sge == i % 4 && seen.is_recv && !seen.qp_num, "request %u", i);
            if (i % 4 == 1)
                MUST(seen.sge[0].addr == i && seen.sge[0].length == 10 + i && seen.sge[0].lkey == 20 + i, "segment of %u", i);
            for (uint32_t k = 0; i % 4 > 1 && k < i % 4; k++)
                MUST(seen.sge[k].addr == list[k].addr && seen.sge[k].lkey == list[k].lkey, "segment %u of %u", k, i);
        }
    }
    null.reset();
    end();
}

/* A driver that takes a part of a batch, with and without naming the first that it didn't take. */
static void refused_posts(void)
{
    static vbn_recv_wr wrs[70];
    uint32_t n;

    begin();
    for (unsigned taken = 0; taken < 70; taken += 7) {
        null.fail_post(taken, ENOMEM, 1);
        n = 77;
        WANT(vbn_srq_post_recv(srq, wrs, 70, &n), VBN_ERR_QUEUE_FULL);
        MUST(n == taken && last()->index == taken, "posted %u of %u, index %u", n, taken, (unsigned)last()->index);
        WANT_NUMBERS(200, 200);
        WANT_TEXT("shared receive queue of 200");
        WANT_ERRNO(ENOMEM);
        null.fail_post(taken, EINVAL, 1);
        WANT(vbn_srq_post_recv(srq, wrs, 70, &n), VBN_ERR_DRIVER);
        MUST(n == taken, "posted %u", n);
        null.fail_post(taken, EINVAL, 0);
        WANT(vbn_srq_post_recv(srq, wrs, 70, &n), VBN_ERR_UNCERTAIN);
        MUST(n == (taken / 32 + 1) * 32 || n == 70, "posted %u", n);
        WANT_TEXT("ibv_post_srq_recv");
    }
    end();
}

static void making_fails(void)
{
    NEW(vbn_srq_attr, attr);
    static const struct { int number; vbn_status status; } errnos[] = {
        {ENOMEM, VBN_ERR_NO_MEMORY}, {EINVAL, VBN_ERR_DRIVER}, {EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED}, {EIO, VBN_ERR_DRIVER},
    };
    vbn_srq *other;

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
        null.fail("ibv_create_srq", 1, errnos[i].number);
        other = (void *)&attr;
        WANT(vbn_srq_create(g.pd, NULL, &other), errnos[i].status);
        MUST(!other, "*out");
        WANT_ERRNO(errnos[i].number);
        WANT_TEXT("ibv_create_srq");
    }
    /* The limit can't be set: the queue is destroyed again. */
    attr.limit = 5;
    null.fail("ibv_modify_srq", 1, EPERM);
    WANT(vbn_srq_create(g.pd, &attr, &other), VBN_ERR_DRIVER);
    WANT_TEXT("ibv_modify_srq");
    OK(vbn_srq_create(g.pd, &attr, &other));
    NEW(vbn_srq_info, info);
    OK(vbn_srq_query(other, &info));
    MUST(info.limit == 5, "limit %u", info.limit);
    OK(vbn_srq_close(&other));
    /* A driver that can't be asked grants what it was asked for. */
    null.fail("ibv_query_srq", 1, EOPNOTSUPP);
    OK(vbn_srq_create(g.pd, NULL, &other));
    OK(vbn_srq_close(&other));
    null.fail("ibv_query_srq", 1, EIO);
    WANT(vbn_srq_query(srq, &info), VBN_ERR_DRIVER);
    WANT_TEXT("ibv_query_srq");
    end();
}

static void modifying_fails(void)
{
    NEW(vbn_srq_modify_attr, attr);

    begin();
    attr.set = VBN_SRQ_SET_LIMIT;
    attr.limit = 201;
    null.fail("ibv_modify_srq", 1, EINVAL);
    WANT(vbn_srq_modify(srq, &attr), VBN_ERR_DRIVER);
    WANT_TEXT("limit 201 exceeds 200");
    attr.limit = 100;
    OK(vbn_srq_modify(srq, &attr));
    attr.set = VBN_SRQ_SET_MAX_WR;
    attr.max_wr = 50;
    null.fail("ibv_modify_srq", 1, EINVAL);
    WANT(vbn_srq_modify(srq, &attr), VBN_ERR_DRIVER);
    WANT_NUMBERS(50, 100);
    WANT_TEXT("below the limit");
    attr.max_wr = 150;
    null.fail("ibv_modify_srq", 1, EINVAL);
    WANT(vbn_srq_modify(srq, &attr), VBN_ERR_DRIVER);
    WANT_TEXT("can't resize");
    /* Both at once, the limit within the new depth. */
    attr.set |= VBN_SRQ_SET_LIMIT;
    attr.max_wr = 300;
    attr.limit = 250;
    OK(vbn_srq_modify(srq, &attr));
    NEW(vbn_srq_info, info);
    OK(vbn_srq_query(srq, &info));
    MUST(info.max_wr == 300 && info.limit == 250 && info.user_data == 99, "%u %u", info.max_wr, info.limit);
    null.fail_post(0, ENOMEM, 1);
    vbn_recv_wr wr = {0};
    uint32_t n;
    WANT(vbn_srq_post_recv(srq, &wr, 1, &n), VBN_ERR_QUEUE_FULL);
    WANT_NUMBERS(300, 300);
    end();
}

/* Refused destroys: by the user's close, and by the last queue pair's. */
static void refused_destroys(void)
{
    NEW(vbn_live_info, live);
    vbn_qp *qp;

    begin();
    null.fail("ibv_destroy_srq", 1, EBUSY);
    WANT(vbn_srq_close(&srq), VBN_ERR_BUSY);
    MUST(srq, "the handle");
    qp = on_shared(VBN_QPT_RC);
    OK(vbn_srq_close(&srq));
    null.fail("ibv_destroy_srq", 1, EBUSY);
    OK(vbn_qp_close(&qp));
    /* It was retried at the end of that close. */
    OK(vbn_context_live(g.context, &live));
    MUST(live.srq_open + live.srq_closed + live.srq_refused == 0, "%u %u %u", live.srq_open, live.srq_closed, live.srq_refused);

    OK(vbn_srq_create(g.pd, NULL, &srq));
    qp = on_shared(VBN_QPT_RC);
    OK(vbn_srq_close(&srq));
    null.fail("ibv_destroy_srq", 0, EBUSY);
    OK(vbn_qp_close(&qp));
    OK(vbn_context_live(g.context, &live));
    MUST(live.srq_refused == 1, "%u refused", live.srq_refused);
    null.reset();
    OK(vbn_srq_create(g.pd, NULL, &srq));
    OK(vbn_srq_close(&srq));
    OK(vbn_context_live(g.context, &live));
    MUST(!live.srq_refused, "%u refused", live.srq_refused);
    end();
}

/* A queue of the device that has gone. */
static void device_gone(void)
{
    vbn_recv_wr wr = {0};
    uint32_t n;

    begin();
    null.fail("*", 0, EIO);
    null.push_async_event(IBV_EVENT_DEVICE_FATAL, g.ibv_context);
    NEW(vbn_async_event, event);
    OK(vbn_context_get_async_event(g.context, 0, &event));
    WANT(vbn_srq_post_recv(srq, &wr, 1, &n), VBN_ERR_DEVICE_GONE);
    NEW(vbn_srq_info, info);
    WANT(vbn_srq_query(srq, &info), VBN_ERR_DEVICE_GONE);
    OK(vbn_srq_close(&srq));
    OK(vbn_qp_close(&g.qp));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_mr_close(&g.mr));
    OK(vbn_pd_close(&g.pd));
    OK(vbn_context_close(&g.context));
    null.reset();
}

static void events(void)
{
    NEW(vbn_async_event, event);
    struct ibv_srq *native;

    begin();
    OK(vbn_srq_native(srq, &native));
    for (int i = 0; i < 2; i++) {
        null.push_async_event(i ? IBV_EVENT_SRQ_ERR : IBV_EVENT_SRQ_LIMIT_REACHED, native);
        OK(vbn_context_get_async_event(g.context, 0, &event));
        MUST(event.type == (i ? VBN_EVENT_SRQ_ERR : VBN_EVENT_SRQ_LIMIT_REACHED) && event.kind == VBN_ELEMENT_SRQ, "type %d", event.type);
        MUST(event.known && event.user_data == 99 && event.number == native->handle, "user_data %u", (unsigned)event.user_data);
    }
    end();
}

/* A driver without shared receive queues says so before there is a handle. */
static void no_operation(void)
{
    struct rig r;
    vbn_srq *none;

    null_begin();
    null.hide_op("post_srq_recv");
    r = rig_open();
    WANT(vbn_srq_create(r.pd, NULL, &none), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("post_srq_recv");
    null.reset();
    rig_close(&r);
    null_clean();
}

/* ---- XRC ---- */

static void xrc(void)
{
    struct ibv_xrcd_init_attr domain_attr = {.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = 0};
    struct ibv_xrcd *domain;
    struct ibv_srq *native;
    NEW(vbn_srq_attr, attr);
    NEW(vbn_srq_info, info);
    vbn_srq *of_domain, *again;
    uint32_t n, number;

    begin();
    domain = verbs_get_ctx_op(g.ibv_context, open_xrcd)->open_xrcd(g.ibv_context, &domain_attr);
    MUST(domain, "ibv_open_xrcd");
    attr.srq_type = VBN_SRQT_XRC;
    attr.xrcd = domain;
    attr.cq = g.cq;
    OK(vbn_srq_create(g.pd, &attr, &of_domain));
    OK(vbn_srq_native(of_domain, &native));
    OK(vbn_srq_query(of_domain, &info));
    MUST(!verbs_get_ctx_op(g.ibv_context, get_srq_num)->get_srq_num(native, &number), "ibv_get_srq_num");
    MUST(info.srq_type == VBN_SRQT_XRC && info.srq_num == number, "number %u, not %u", info.srq_num, number);
    vbn_recv_wr recv = {.wr_id = 4};
    OK(vbn_srq_post_recv(of_domain, &recv, 1, &n));
    OK(vbn_srq_adopt(g.pd, native, NULL, &again));
    OK(vbn_srq_query(again, &info));
    MUST(info.srq_type == VBN_SRQT_XRC && info.srq_num == number, "adopted: type %d", info.srq_type);
    OK(vbn_srq_close(&again));
    /* Not by queue pairs of other types. */
    NEW(vbn_qp_init_attr, qp_attr);
    vbn_qp *qp;
    qp_attr.send_cq = g.cq;
    qp_attr.srq = of_domain;
    WANT(vbn_qp_create(g.pd, &qp_attr, &qp), VBN_ERR_ARGUMENT);
    WANT_TEXT("XRC");
    null.fail("ibv_create_srq_ex", 1, EINVAL);
    WANT(vbn_srq_create(g.pd, &attr, &again), VBN_ERR_DRIVER);
    WANT_TEXT("ibv_create_srq_ex");
    null.hide_op("create_srq_ex");
    null.reset();

    /* The two kinds of queue pair, made by raw verbs. */
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_XRC_SEND, .send_cq = g.ibv_cq, .recv_cq = g.ibv_cq, .cap = {8, 0, 2, 0, 0}, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = g.ibv_pd,
    };
    struct ibv_qp *sender = verbs_get_ctx_op(g.ibv_context, create_qp_ex)->create_qp_ex(g.ibv_context, &init);
    MUST(sender, "ibv_create_qp_ex");
    init = (struct ibv_qp_init_attr_ex){.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain};
    struct ibv_qp *receiver = verbs_get_ctx_op(g.ibv_context, create_qp_ex)->create_qp_ex(g.ibv_context, &init);
    MUST(receiver, "ibv_create_qp_ex");

    NEW(vbn_adopt_attr, own);
    own.ownership = VBN_ADOPT_OWN;
    OK(vbn_qp_adopt(g.pd, sender, &own, &qp));
    NEW(vbn_qp_info, qp_info);
    OK(vbn_qp_query(qp, &qp_info));
    MUST(qp_info.qp_type == VBN_QPT_XRC_SEND && !qp_info.has_srq && qp_info.send_ops, "type %d", qp_info.qp_type);
    NEW(vbn_qp_info, rc_info);
    struct nullv_wr seen_atomic;
    null.set_walk(1);
    vbn_send_wr wrs[40];
    memset(wrs, 0, sizeof(wrs));
    for (uint32_t i = 0; i < 40; i++) {
        wrs[i].wr_id = i;
        wrs[i].opcode = VBN_WR_SEND;
        wrs[i].num_sge = 1;
        wrs[i].remote_srqn = 1000 + i;
    }
    OK(vbn_qp_post_send(qp, wrs, 40, &n));
    for (uint32_t i = 0; i < 40; i++) {
        struct nullv_wr seen;

        MUST(!null.posted(39 - i, &seen) && seen.wr_id == i && seen.remote_srqn == 1000 + i, "request %u went to %u", i, seen.remote_srqn);
    }
    null.reset();
    /* It has what RC has on the device, and names the queue with each request. */
    OK(vbn_qp_query(g.qp, &rc_info));
    MUST(qp_info.send_ops == rc_info.send_ops && qp_info.send_ops & VBN_QP_OP_ATOMIC_FETCH_AND_ADD, "%#llx, RC has %#llx",
         (unsigned long long)qp_info.send_ops, (unsigned long long)rc_info.send_ops);
    null.set_walk(1);
    wrs[0].opcode = VBN_WR_ATOMIC_FETCH_AND_ADD;
    wrs[0].sge.length = 8;
    wrs[0].remote_addr = 64;
    wrs[0].compare_add = 3;
    OK(vbn_qp_post_send(qp, wrs, 1, &n));
    MUST(!null.posted(0, &seen_atomic) && seen_atomic.remote_srqn == 1000 && seen_atomic.remote_addr == 64, "queue %u", seen_atomic.remote_srqn);
    null.reset();
    WANT(vbn_qp_post_recv(qp, &recv, 1, &n), VBN_ERR_ARGUMENT);
    WANT_TEXT("XRC");
    vbn_rc_record record;
    WANT(vbn_rc_record_local(qp, NULL, &record), VBN_ERR_ARGUMENT);
    NEW(vbn_qp_prepare_attr, prepare);
    prepare.set = VBN_QP_PREPARE_SET_QKEY;
    WANT(vbn_qp_prepare(qp, &prepare), VBN_ERR_ARGUMENT);
    NEW(vbn_endpoint_info, endpoint);
    WANT(vbn_endpoint_info_local(qp, NULL, &endpoint), VBN_ERR_NOT_SUPPORTED);
    /* Its transitions are the kernel's to judge: no rule of another type is held against it. */
    NEW(vbn_qp_attr, step);
    step.set = VBN_QP_STATE;
    step.qp_state = VBN_QPS_RTR;
    null.fail("ibv_modify_qp", 1, EINVAL);
    WANT(vbn_qp_modify(qp, &step), VBN_ERR_DRIVER);
    MUST(!strstr(last()->message, "not in set") && !strstr(last()->message, "no such transition"), "%s", last()->message);
    OK(vbn_qp_close(&qp));

    OK(vbn_qp_adopt(g.pd, receiver, &own, &qp));
    OK(vbn_qp_query(qp, &qp_info));
    MUST(qp_info.qp_type == VBN_QPT_XRC_RECV && !qp_info.send_ops, "type %d", qp_info.qp_type);
    WANT(vbn_qp_post_send(qp, wrs, 1, &n), VBN_ERR_NOT_SUPPORTED);
    WANT(vbn_qp_post_recv(qp, &recv, 1, &n), VBN_ERR_ARGUMENT);
    OK(vbn_qp_close(&qp));

    OK(vbn_srq_close(&of_domain));
    MUST(!verbs_get_ctx_op(g.ibv_context, close_xrcd)->close_xrcd(domain), "the domain is still in use");
    end();
}

/* ---- Tag matching ---- */

static void tags(void)
{
    struct ibv_device_attr_ex *device;
    struct ibv_tm_cap told;
    struct ibv_srq *native;
    struct ibv_cq *cq;
    NEW(vbn_srq_attr, attr);
    NEW(vbn_srq_info, info);
    vbn_srq *matching, *again;
    struct ibv_cq *queue;
    NEW(vbn_cq_attr, cq_attr);
    vbn_cq *own_cq;
    uint32_t n;

    begin();
    cq_attr.cqe = 8;
    OK(vbn_cq_create(g.context, &cq_attr, &own_cq));
    OK(vbn_cq_native(own_cq, &queue));
    device = null.device_attr();
    attr.srq_type = VBN_SRQT_TM;
    attr.cq = own_cq;
    attr.user_data = 5;
    attr.max_num_tags = 8;
    attr.max_ops = 4;
    device->tm_caps.max_num_tags = 0;
    WANT(vbn_srq_create(g.pd, &attr, &matching), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("tag matching is not supported by device");
    device->tm_caps.max_num_tags = 8;
    device->tm_caps.max_ops = 4;
    OK(vbn_srq_create(g.pd, &attr, &matching));
    OK(vbn_srq_native(matching, &native));
    MUST(!null.srq_tags(native, &told, &cq), "no queue for tags");
    MUST(told.max_num_tags == 8 && told.max_ops == 4 && cq == queue, "%u tags, %u operations", told.max_num_tags, told.max_ops);
    OK(vbn_srq_query(matching, &info));
    MUST(info.srq_type == VBN_SRQT_TM && !info.srq_num && info.user_data == 5 && info.max_wr == 128, "type %d, number %u", info.srq_type,
         info.srq_num);
    vbn_recv_wr recv = {.wr_id = 4};
    OK(vbn_srq_post_recv(matching, &recv, 1, &n));

    /* Its queue outlives it. */
    NEW(vbn_live_info, live);
    OK(vbn_cq_close(&own_cq));
    OK(vbn_context_live(g.context, &live));
    MUST(live.cq_closed == 1, "%u queues wait", live.cq_closed);
    OK(vbn_srq_close(&matching));
    OK(vbn_context_live(g.context, &live));
    MUST(!live.cq_closed, "the queue is still there");

    attr.cq = g.cq;
    attr.max_num_tags = 9;
    WANT(vbn_srq_create(g.pd, &attr, &matching), VBN_ERR_LIMIT);
    WANT_NUMBERS(9, 8);
    WANT_TEXT("max_num_tags");
    attr.max_num_tags = 8;
    attr.max_ops = 5;
    WANT(vbn_srq_create(g.pd, &attr, &matching), VBN_ERR_LIMIT);
    WANT_NUMBERS(5, 4);
    WANT_TEXT("max_ops");
    attr.max_ops = 4;
    attr.cq = NULL;
    WANT(vbn_srq_create(g.pd, &attr, &matching), VBN_ERR_ARGUMENT);
    WANT_TEXT("cq is NULL");
    attr.cq = g.cq;
    attr.srq_type = VBN_SRQT_BASIC;
    WANT(vbn_srq_create(g.pd, &attr, &matching), VBN_ERR_ARGUMENT);
    attr.srq_type = VBN_SRQT_TM;
    null.fail("ibv_query_device_ex", 1, EIO);
    WANT(vbn_srq_create(g.pd, &attr, &matching), VBN_ERR_DRIVER);
    WANT_TEXT("ibv_query_device_ex");
    null.fail("ibv_create_srq_ex", 1, EOPNOTSUPP);
    WANT(vbn_srq_create(g.pd, &attr, &matching), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("lacks this type of shared receive queue");

    /* One of raw verbs. */
    struct ibv_srq_init_attr_ex init = {
        .attr = {16, 1, 0}, .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM,
        .srq_type = IBV_SRQT_TM, .pd = g.ibv_pd, .cq = g.ibv_cq, .tm_cap = {2, 1},
    };
    MUST(native = verbs_get_ctx_op(g.ibv_context, create_srq_ex)->create_srq_ex(g.ibv_context, &init), "ibv_create_srq_ex");
    NEW(vbn_adopt_attr, own);
    own.ownership = VBN_ADOPT_OWN;
    OK(vbn_srq_adopt(g.pd, native, &own, &again));
    OK(vbn_srq_query(again, &info));
    MUST(info.max_wr == 16, "depth %u", info.max_wr);
    OK(vbn_srq_post_recv(again, &recv, 1, &n));
    OK(vbn_srq_close(&again));
    end();
}

/* ---- UC ---- */

/* The masks that the driver gets, step by step. */
static void masks_of_uc(void)
{
    static const int wanted[3] = {
        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
        IBV_QP_STATE | IBV_QP_SQ_PSN,
    };
    NEW(vbn_qp_init_attr, attr);
    vbn_rc_record local, remote;
    struct ibv_qp_attr seen;
    vbn_qp *qp;
    int mask;

    begin();
    attr.send_cq = g.cq;
    attr.qp_type = VBN_QPT_UC;
    OK(vbn_qp_create(g.pd, &attr, &qp));
    OK(vbn_rc_record_local(qp, NULL, &local));
    remote = local;
    remote.qp_num ^= 1;
    for (int step = 0; step < 3; step++) {
        if (step == 0)
            OK(vbn_qp_to_init(qp, NULL));
        if (step == 1)
            OK(vbn_qp_to_rtr(qp, &local, &remote, NULL));
        if (step == 2)
            OK(vbn_qp_to_rts(qp, &local, NULL));
        MUST(!null.last_modify(&seen, &mask) && mask == wanted[step], "step %d: mask 0x%x, not 0x%x", step, mask, wanted[step]);
        if (step == 0)
            MUST(seen.qp_access_flags == IBV_ACCESS_REMOTE_WRITE, "access 0x%x", seen.qp_access_flags);
    }
    OK(vbn_qp_close(&qp));
    end();
}

/* A failure half way leaves no trace that a repetition minds. */
static void connecting_fails(void)
{
    for (unsigned nth = 1; nth <= 3; nth++) {
        NEW(vbn_endpoint_info, here);
        NEW(vbn_endpoint_info, there);
        NEW(vbn_qp_info, info);

        begin();
        OK(vbn_endpoint_info_local(g.qp, NULL, &here));
        there = here;
        there.qp_num ^= 1;
        null.fail("ibv_modify_qp", nth, ENETUNREACH);
        WANT(vbn_qp_connect(g.qp, &here, &there, NULL), VBN_ERR_DRIVER);
        WANT_ERRNO(ENETUNREACH);
        OK(vbn_qp_query(g.qp, &info));
        MUST(info.qp_state == (int32_t)nth - 1, "state %d after step %u", info.qp_state, nth);
        OK(vbn_qp_connect(g.qp, &here, &there, NULL));
        OK(vbn_qp_query(g.qp, &info));
        MUST(info.qp_state == VBN_QPS_RTS, "state %d", info.qp_state);
        end();
    }
}

/* ---- Multicast and the way back ---- */

static void multicast(void)
{
    static const uint8_t group[16] = {0xff, 2, [15] = 1};
    static const struct { int number; vbn_status status; const char *text; } errnos[] = {
        {EINVAL, VBN_ERR_DRIVER, "RESET"}, {ENOMEM, VBN_ERR_NO_MEMORY, "256"}, {EPERM, VBN_ERR_DRIVER, "ibv_attach_mcast"},
        {EOPNOTSUPP, VBN_ERR_NOT_SUPPORTED, "ibv_attach_mcast"},
    };
    NEW(vbn_qp_init_attr, attr);
    vbn_qp *qp;

    begin();
    attr.send_cq = g.cq;
    attr.qp_type = VBN_QPT_UD;
    OK(vbn_qp_create(g.pd, &attr, &qp));
    for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
        null.fail("ibv_attach_mcast", 1, errnos[i].number);
        WANT(vbn_qp_attach_mcast(qp, group, 0), errnos[i].status);
        WANT_ERRNO(errnos[i].number);
        if (errnos[i].number != ENOMEM)
            WANT_TEXT(errnos[i].text);
        else
            WANT_NUMBERS(256, 16);
    }
    OK(vbn_qp_attach_mcast(qp, group, 0));
    null.fail("ibv_detach_mcast", 1, EINVAL);
    WANT(vbn_qp_detach_mcast(qp, group, 0), VBN_ERR_DRIVER);
    WANT_TEXT("not attached");
    null.fail("ibv_destroy_qp", 1, EBUSY);
    WANT(vbn_qp_close(&qp), VBN_ERR_BUSY);
    WANT_TEXT("vbn_qp_detach_mcast");
    OK(vbn_qp_detach_mcast(qp, group, 0));
    OK(vbn_qp_close(&qp));
    end();
}

/* Every part of the way back comes from the completion or the header. */
static void the_way_back(void)
{
    vbn_wc wc = {.opcode = VBN_WC_RECV, .wc_flags = VBN_WC_GRH, .slid = 7, .sl = 3, .dlid_path_bits = 2, .imm = 99};
    struct { uint32_t words[2]; uint8_t from[16], to[16]; } header = {{0x60, 0}, {1, 2, 3, [15] = 4}, {0}};
    struct ibv_ah_attr seen;
    NEW(vbn_ah_info, info);
    vbn_ah *ah;

    begin();
    /* The last address of the table, at the first of its places. */
    uint8_t place = 0, gid[16];
    OK(vbn_context_query_gid(g.context, 1, 3, header.to));
    do
        OK(vbn_context_query_gid(g.context, 1, place, gid));
    while (memcmp(gid, header.to, 16) && ++place);
    MUST(place, "the last address is the first");
    OK(vbn_ah_from_wc(g.pd, &wc, &header, 1, &ah));
    MUST(!null.last_create_ah(&seen), "nothing was created");
    MUST(seen.is_global == 1 && seen.grh.sgid_index == place && !memcmp(seen.grh.dgid.raw, header.from, 16), "global part");
    MUST(seen.dlid == 7 && seen.sl == 3 && seen.src_path_bits == 2 && seen.port_num == 1, "local part");
    OK(vbn_ah_query(ah, &info));
    MUST(!memcmp(info.path.dgid, header.from, 16) && info.path.sgid_index == place && info.path.sl == 3, "path");
    OK(vbn_ah_close(&ah));
    null.fail("ibv_create_ah", 1, ETIMEDOUT);
    WANT(vbn_ah_from_wc(g.pd, &wc, &header, 1, &ah), VBN_ERR_DRIVER);
    WANT_ERRNO(ETIMEDOUT);
    end();
}

static const struct test tests[] = {
    {"the_driver_is_told", the_driver_is_told},
    {"posted", posted},
    {"refused_posts", refused_posts},
    {"making_fails", making_fails},
    {"modifying_fails", modifying_fails},
    {"refused_destroys", refused_destroys},
    {"device_gone", device_gone},
    {"events", events},
    {"no_operation", no_operation},
    {"xrc", xrc},
    {"tags", tags},
    {"masks_of_uc", masks_of_uc},
    {"connecting_fails", connecting_fails},
    {"multicast", multicast},
    {"the_way_back", the_way_back},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_srq", tests, argc, argv);
}
