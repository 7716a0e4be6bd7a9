/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared receive queues: several queue pairs of each type on one, the limit and its event, resizing, close order, refusals. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

static struct pair p;
/* More queue pairs for both sides, beside those of the pair. */
static vbn_qp *more_a, *more_b;

static void need_srq(void) {
    need_rc(test_device());
    vbn_context *context = NULL;
    vbn_device_attr device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_OK(vbn_context_close(&context));
    if (device.max_srq <= 0) LACKS("the device has no shared receive queues");
}

static vbn_srq *small(struct side *side) {
    vbn_srq_attr attr = {.struct_size = sizeof attr, .user_data = 42, .max_wr = 60, .max_sge = 2};
    vbn_srq *srq;
    CHECK_OK(vbn_srq_create(side->pd, &attr, &srq));
    return srq;
}

static vbn_srq_info srq_info(vbn_srq *srq) {
    vbn_srq_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_srq_query(srq, &info));
    return info;
}

static void share(struct side *side, uint64_t wr_id, uint64_t offset, uint32_t length) {
    vbn_recv_wr wr = recv_wr(side, wr_id, offset, length);
    uint32_t posted = 99;
    CHECK_OK(vbn_srq_post_recv(side->srq, &wr, 1, &posted));
    CHECK_UEQ(posted, 1);
}

/* Side b receives from a shared queue; a has an ordinary queue pair. */
static void open_shared(int32_t type) {
    need_srq();
    struct setup one = {.qp_type = type}, two = {.qp_type = type, .srq = small};
    side_open(&p.a, &one);
    side_open(&p.b, &two);
    if (type != VBN_QPT_UD) pair_connect(&p, NULL);
}

static void make_more(int32_t type) {
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .qp_type = type};
    CHECK_OK(vbn_qp_create(p.a.pd, &attr, &more_a));
    attr.send_cq = p.b.cq;
    attr.srq = p.b.srq;
    CHECK_OK(vbn_qp_create(p.b.pd, &attr, &more_b));
    if (type == VBN_QPT_UD) return;
    vbn_rc_record a, b;
    CHECK_OK(vbn_rc_record_local(more_a, NULL, &a));
    CHECK_OK(vbn_rc_record_local(more_b, NULL, &b));
    CHECK_OK(vbn_qp_connect_rc(more_a, &a, &b, NULL));
    CHECK_OK(vbn_qp_connect_rc(more_b, &b, &a, NULL));
}

static void close_shared(void) {
    CHECK_OK(vbn_qp_close(&more_a));
    CHECK_OK(vbn_qp_close(&more_b));
    pair_close(&p);
}

static void send_on(vbn_qp *qp, const vbn_send_wr *wr) {
    uint32_t posted = 99;
    CHECK_OK(vbn_qp_post_send(qp, wr, 1, &posted));
    vbn_wc wc = next_wc(&p.a);
    CHECK_OK(vbn_wc_check(&wc));
    CHECK_UEQ(wc.wr_id, wr->wr_id);
}

/* ---- Making ---- */

static void created(void) {
    need_srq();
    side_open(&p.a, NULL);
    vbn_device_attr device = {.struct_size = sizeof device};
    CHECK_OK(vbn_context_query_device(p.a.context, &device));
    vbn_srq *srq;
    CHECK_OK(vbn_srq_create(p.a.pd, NULL, &srq));
    vbn_srq_info info = srq_info(srq);
    CHECK(info.max_wr >= 128);
    CHECK(info.max_sge >= 1);
    CHECK_UEQ(info.limit, 0);
    CHECK_EQ(info.srq_type, VBN_SRQT_BASIC);
    CHECK_UEQ(info.srq_num, 0);
    CHECK_UEQ(info.user_data, 0);
    CHECK_UEQ(live_info(p.a.context).srq_open, 1);
    CHECK_OK(vbn_srq_close(&srq));
    CHECK(srq == NULL);
    CHECK_OK(vbn_srq_close(&srq));
    CHECK_UEQ(live_info(p.a.context).srq_open, 0);

    vbn_srq_attr attr = {.struct_size = sizeof attr, .user_data = 7, .max_wr = 60, .max_sge = 3, .limit = 9};
    CHECK_OK(vbn_srq_create(p.a.pd, &attr, &srq));
    info = srq_info(srq);
    CHECK(info.max_wr >= 60 && info.max_sge >= 3);
    CHECK_UEQ(info.limit, 9);
    CHECK_UEQ(info.user_data, 7);
    CHECK_OK(vbn_srq_close(&srq));

    attr = (vbn_srq_attr){.struct_size = sizeof attr, .max_wr = (uint32_t)device.max_srq_wr + 1};
    CHECK_STATUS(vbn_srq_create(p.a.pd, &attr, &srq), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().limit, device.max_srq_wr);
    CHECK(srq == NULL);
    attr.max_wr = 0;
    attr.max_sge = (uint32_t)device.max_srq_sge + 1;
    CHECK_STATUS(vbn_srq_create(p.a.pd, &attr, &srq), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().limit, device.max_srq_sge);
    side_close(&p.a);
}

/* What soft-RoCE has no kind of. */
static void other_types(void) {
    need_srq();
    if (!is_soft_roce(test_device())) SKIP("the device may have XRC or tag matching");
    side_open(&p.a, NULL);
    int domain; /* never looked at */
    /* What evidence.md says of XRC; a kernel whose soft-RoCE has it is to prove more. */
    vbn_caps caps = {.struct_size = sizeof caps};
    CHECK_OK(vbn_context_caps(p.a.context, &caps));
    CHECK_UEQ(caps.caps & VBN_CAP_XRC, 0);
    vbn_srq_attr attr = {.struct_size = sizeof attr, .srq_type = VBN_SRQT_XRC, .xrcd = (struct ibv_xrcd *)&domain, .cq = p.a.cq};
    vbn_srq *srq;
    CHECK_STATUS(vbn_srq_create(p.a.pd, &attr, &srq), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "XRC is not supported by device on rxe0");
    attr = (vbn_srq_attr){.struct_size = sizeof attr, .srq_type = VBN_SRQT_TM, .cq = p.a.cq, .max_num_tags = 8, .max_ops = 8};
    CHECK_STATUS(vbn_srq_create(p.a.pd, &attr, &srq), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "tag matching is not supported by device");
    static const int32_t types[] = {VBN_QPT_XRC_SEND, VBN_QPT_XRC_RECV};
    for (int i = 0; i < 2; i++) {
        vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .send_cq = p.a.cq, .qp_type = types[i]};
        vbn_qp *qp;
        CHECK_STATUS(vbn_qp_create(p.a.pd, &qp_attr, &qp), VBN_ERR_NOT_SUPPORTED);
        CHECK_HAS(test_error().message, "vbn_qp_adopt");
    }
    side_close(&p.a);
}

/* A queue pair on a shared receive queue has none of its own: neither at creation nor later. */
static void no_receives_of_its_own(void) {
    open_shared(VBN_QPT_RC);
    vbn_qp_info info = qp_info(p.b.qp);
    CHECK_EQ(info.has_srq, 1);
    CHECK_UEQ(info.max_recv_wr, 0);
    CHECK_EQ(qp_info(p.a.qp).has_srq, 0);
    vbn_recv_wr wr = recv_wr(&p.b, 1, 0, 64);
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_recv(p.b.qp, &wr, 1, &posted), VBN_ERR_ARGUMENT);
    CHECK_UEQ(posted, 0);
    CHECK_HAS(test_error().message, "vbn_srq_post_recv");
    vbn_recv_wr many[40];
    for (int i = 0; i < 40; i++) many[i] = wr;
    CHECK_STATUS(vbn_qp_post_recv(p.b.qp, many, 40, &posted), VBN_ERR_ARGUMENT);
    CHECK_UEQ(posted, 0);

    static const struct { uint32_t wr, sge; uint64_t set; } own[] = {
        {1, 0, 0}, {0, 1, 0}, {0, 0, VBN_QP_INIT_SET_MAX_RECV_WR}, {0, 0, VBN_QP_INIT_SET_MAX_RECV_SGE},
    };
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++) {
        vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.b.cq, .srq = p.b.srq, .max_recv_wr = own[i].wr,
                                 .max_recv_sge = own[i].sge, .set = own[i].set};
        vbn_qp *qp;
        CHECK_STATUS(vbn_qp_create(p.b.pd, &attr, &qp), VBN_ERR_ARGUMENT);
        CHECK_HAS(test_error().message, "none of its own");
    }
    /* That of another device handle. */
    vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .srq = p.b.srq};
    vbn_qp *qp;
    CHECK_STATUS(vbn_qp_create(p.a.pd, &attr, &qp), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "srq belongs to another context");
    close_shared();
}

/* ---- Traffic ---- */

/* Receives are taken in the order in which messages come in, on whichever queue pair. */
static void two_queue_pairs(int32_t type, uint32_t header) {
    open_shared(type);
    make_more(type);
    vbn_peer *peers[2] = {NULL, NULL};
    if (type == VBN_QPT_UD) {
        vbn_qp *all[4] = {p.a.qp, more_a, p.b.qp, more_b};
        for (int i = 0; i < 4; i++) {
            vbn_qp_prepare_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = 5};
            CHECK_OK(vbn_qp_prepare(all[i], &attr));
        }
        for (int i = 0; i < 2; i++) {
            vbn_endpoint endpoint;
            CHECK_OK(vbn_endpoint_local(all[2 + i], &endpoint));
            CHECK_OK(vbn_peer_from_endpoint(p.a.pd, &endpoint, NULL, &peers[i]));
        }
    }
    fill(p.a.memory, 20000, 1);
    for (uint32_t i = 0; i < 20; i++) share(&p.b, 100 + i, 1000 * i, 1000);
    for (uint32_t i = 0; i < 20; i++) {
        int which = i % 3 == 0;
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND_WITH_IMM, i, 1000 * i, 900 - i);
        wr.imm = i;
        wr.peer = peers[which];
        send_on(which ? more_a : p.a.qp, &wr);
        vbn_wc wc = next_wc(&p.b);
        CHECK_OK(vbn_wc_check(&wc));
        CHECK_UEQ(wc.wr_id, 100 + i);
        CHECK_UEQ(wc.qp_num, vbn_qp_num(which ? more_b : p.b.qp));
        CHECK_UEQ(wc.imm, i);
        CHECK_UEQ(wc.byte_len, header + 900 - i);
        CHECK_MEM(p.b.memory + 1000 * i + header, p.a.memory + 1000 * i, 900 - i);
    }
    check_no_wc(&p.b);
    CHECK_OK(vbn_peer_close(&peers[0]));
    CHECK_OK(vbn_peer_close(&peers[1]));
    close_shared();
}

static void rc(void) {
    two_queue_pairs(VBN_QPT_RC, 0);
}

static void uc(void) {
    two_queue_pairs(VBN_QPT_UC, 0);
}

static void ud(void) {
    two_queue_pairs(VBN_QPT_UD, 40);
}

/* Writes with immediate take a receive too; sends of the side that has the queue go on as ever; RDMA passes it by. */
static void other_operations(void) {
    open_shared(VBN_QPT_RC);
    share(&p.b, 1, 0, 0);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE_WITH_IMM, 9, 4096, 500);
    wr.imm = 77;
    fill(p.a.memory, 8192, 2);
    send_on(p.a.qp, &wr);
    vbn_wc wc = next_ok(&p.b, 1);
    CHECK_EQ(wc.opcode, VBN_WC_RECV_RDMA_WITH_IMM);
    CHECK_UEQ(wc.imm, 77);
    CHECK_MEM(p.b.memory + 4096, p.a.memory + 4096, 500);
    check_alive(&p);
    post_recv(&p.a, 5, 0, 100);
    wr = send_wr(&p.b, &p.a, VBN_WR_SEND, 6, 4096, 100);
    run_send(&p.b, &wr);
    next_ok(&p.a, 5);
    wr = send_wr(&p.b, &p.a, VBN_WR_RDMA_READ, 7, 4096, 100);
    run_send(&p.b, &wr);
    close_shared();
}

/* Segments; a gathered message is scattered. */
static void segments(void) {
    open_shared(VBN_QPT_RC);
    vbn_sge list[2] = {sge_at(&p.b, 0, 300), sge_at(&p.b, 4096, 700)};
    vbn_recv_wr recv = {.wr_id = 3, .sg_list = list, .num_sge = 2};
    uint32_t posted;
    CHECK_OK(vbn_srq_post_recv(p.b.srq, &recv, 1, &posted));
    fill(p.a.memory, 900, 3);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 1, 0, 900);
    send_on(p.a.qp, &wr);
    CHECK_UEQ(next_ok(&p.b, 3).byte_len, 900);
    CHECK_MEM(p.b.memory, p.a.memory, 300);
    CHECK_MEM(p.b.memory + 4096, p.a.memory + 300, 600);
    close_shared();
}

/* ---- Posting ---- */

static void posted_means_the_same(void) {
    open_shared(VBN_QPT_RC);
    uint32_t depth = srq_info(p.b.srq).max_wr, most = srq_info(p.b.srq).max_sge, posted = 99;
    CHECK(depth >= 60 && depth < 1000);
    vbn_recv_wr wrs[1100];
    for (uint32_t i = 0; i < 1100; i++) wrs[i] = recv_wr(&p.b, i, 0, 64);
    /* Wrong ones: nothing is posted, the index says which. */
    wrs[40].flags = 2;
    CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 50, &posted), VBN_ERR_ARGUMENT);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 40);
    CHECK_STR(test_error().op_name, "vbn_srq_post_recv");
    wrs[40].flags = 0;
    wrs[3].num_sge = most + 1;
    CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 5, &posted), VBN_ERR_LIMIT);
    CHECK_UEQ(posted, 0);
    CHECK_UEQ(test_error().index, 3);
    CHECK_UEQ(test_error().value, most + 1);
    CHECK_UEQ(test_error().limit, most);
    wrs[3].num_sge = 2; /* without a list */
    CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 5, &posted), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "sg_list is NULL");
    wrs[3].num_sge = 1;
    wrs[3].sg_list = (const vbn_sge *)((const char *)&wrs[0].sge + 1);
    CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 5, &posted), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "aligned");
    wrs[3].sg_list = NULL;
    CHECK_UEQ(posted, 0);

    /* Full: the longest prefix is on it. */
    CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 1100, &posted), VBN_ERR_QUEUE_FULL);
    CHECK(posted >= 60 && posted <= depth);
    CHECK_UEQ(test_error().index, posted);
    CHECK_UEQ(test_error().limit, depth);
    CHECK_HAS(test_error().message, "shared receive queue");
    uint32_t room = posted;
    CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 1, &posted), VBN_ERR_QUEUE_FULL);
    CHECK_UEQ(posted, 0);
    /* They serve in their order; each makes room for one. */
    for (uint32_t i = 0; i < room; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 1, 0, 8);
        send_on(p.a.qp, &wr);
        next_ok(&p.b, i);
        if (i == 0) {
            CHECK_OK(vbn_srq_post_recv(p.b.srq, &wrs[1000], 1, &posted));
            CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 1, &posted), VBN_ERR_QUEUE_FULL);
        }
    }
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 1, 0, 8);
    send_on(p.a.qp, &wr);
    next_ok(&p.b, 1000);
    check_no_wc(&p.b);
    close_shared();
}

/* An empty one answers RNR, as an empty queue does. */
static void empty(void) {
    need_srq();
    vbn_rc_attr hasty = {.struct_size = sizeof hasty, .set = VBN_RC_SET_RNR_RETRY | VBN_RC_SET_MIN_RNR_TIMER, .rnr_retry = 1, .min_rnr_timer = 1};
    struct setup one = {.rc = &hasty}, two = {.rc = &hasty, .srq = small};
    side_open(&p.a, &one);
    side_open(&p.b, &two);
    pair_connect(&p, &one);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 1, 0, 8);
    post_send(&p.a, &wr);
    CHECK_STR(vbn_wc_status_name(next_wc(&p.a).status), "RNR_RETRY_EXC_ERR");
    close_shared();
}

/* A queue pair that fails takes nothing from the queue with it: the receives serve another. */
static void failure_of_one(void) {
    open_shared(VBN_QPT_RC);
    make_more(VBN_QPT_RC);
    share(&p.b, 1, 0, 100);
    qp_force(p.b.qp, VBN_QPS_ERR);
    sleep_ms(50);
    check_no_wc(&p.b);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 5, 0, 100);
    send_on(more_a, &wr);
    vbn_wc wc = next_wc(&p.b);
    CHECK_UEQ(wc.wr_id, 1);
    CHECK_EQ(wc.status, VBN_WC_SUCCESS);
    close_shared();
}

/* ---- Limit and depth ---- */

static vbn_status set_limit(uint32_t limit) {
    vbn_srq_modify_attr attr = {.struct_size = sizeof attr, .set = VBN_SRQ_SET_LIMIT, .limit = limit};
    return vbn_srq_modify(p.b.srq, &attr);
}

static void no_event(void) {
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_context_get_async_event(p.b.context, 0, &event), VBN_ERR_TIMEOUT);
}

static void take_one(uint64_t expected) {
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 1, 0, 8);
    send_on(p.a.qp, &wr);
    next_ok(&p.b, expected);
}

static void limit_event(void) {
    open_shared(VBN_QPT_RC);
    for (uint32_t i = 0; i < 10; i++) share(&p.b, i, 0, 64);
    CHECK_OK(set_limit(8));
    CHECK_UEQ(srq_info(p.b.srq).limit, 8);
    take_one(0);
    take_one(1);
    no_event(); /* 8 are left, which is not fewer than 8 */
    take_one(2);
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_OK(vbn_context_get_async_event(p.b.context, PATIENCE, &event));
    CHECK_EQ(event.type, VBN_EVENT_SRQ_LIMIT_REACHED);
    CHECK_EQ(event.kind, VBN_ELEMENT_SRQ);
    CHECK_UEQ(event.user_data, 42);
    CHECK_EQ(event.known, 1);
    CHECK_UEQ(event.number, srq_info(p.b.srq).handle);
    CHECK_STR(vbn_event_type_name(event.type), "SRQ_LIMIT_REACHED");
    /* Once: the limit has gone. */
    CHECK_UEQ(srq_info(p.b.srq).limit, 0);
    take_one(3);
    no_event();
    /* Until it is set again. */
    for (uint32_t i = 10; i < 14; i++) share(&p.b, i, 0, 64);
    CHECK_OK(set_limit(10));
    take_one(4);
    CHECK_OK(vbn_context_get_async_event(p.b.context, PATIENCE, &event));
    CHECK_EQ(event.type, VBN_EVENT_SRQ_LIMIT_REACHED);
    /* Taken away in time. */
    CHECK_OK(set_limit(9));
    CHECK_OK(set_limit(0));
    take_one(5);
    take_one(6);
    no_event();
    close_shared();
}

/* A limit given at creation counts from the start. */
static vbn_srq *with_limit(struct side *side) {
    vbn_srq_attr attr = {.struct_size = sizeof attr, .user_data = 4711, .max_wr = 20, .limit = 2};
    vbn_srq *srq;
    CHECK_OK(vbn_srq_create(side->pd, &attr, &srq));
    return srq;
}

static void limit_at_creation(void) {
    need_srq();
    struct setup two = {.srq = with_limit};
    side_open(&p.a, NULL);
    side_open(&p.b, &two);
    pair_connect(&p, NULL);
    for (uint32_t i = 0; i < 3; i++) share(&p.b, i, 0, 64);
    take_one(0);
    no_event();
    take_one(1);
    vbn_async_event event = {.struct_size = sizeof event};
    CHECK_OK(vbn_context_get_async_event(p.b.context, PATIENCE, &event));
    CHECK_EQ(event.type, VBN_EVENT_SRQ_LIMIT_REACHED);
    CHECK_UEQ(event.user_data, 4711);
    close_shared();
}

static void resize(void) {
    open_shared(VBN_QPT_RC);
    uint32_t before = srq_info(p.b.srq).max_wr, posted;
    for (uint32_t i = 0; i < 5; i++) share(&p.b, i, 0, 64);
    vbn_srq_modify_attr attr = {.struct_size = sizeof attr, .set = VBN_SRQ_SET_MAX_WR, .max_wr = 2 * before};
    vbn_status status = vbn_srq_modify(p.b.srq, &attr);
    if (status == VBN_ERR_NOT_SUPPORTED) LACKS("the device can't resize them");
    CHECK_OK(status);
    uint32_t after = srq_info(p.b.srq).max_wr;
    CHECK(after >= 2 * before);
    /* What was on it still is, and there is room for more than before. */
    vbn_recv_wr wrs[1100];
    for (uint32_t i = 0; i < 1100; i++) wrs[i] = recv_wr(&p.b, 1000 + i, 0, 64);
    CHECK_STATUS(vbn_srq_post_recv(p.b.srq, wrs, 1100, &posted), VBN_ERR_QUEUE_FULL);
    CHECK(posted > before);
    CHECK_UEQ(test_error().limit, after);
    for (uint32_t i = 0; i < 5; i++) take_one(i);
    take_one(1000);

    /* Smaller than what is on it, or than the limit. */
    CHECK_OK(set_limit(50));
    attr.max_wr = 40;
    CHECK_STATUS(vbn_srq_modify(p.b.srq, &attr), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "below the limit");
    CHECK_OK(set_limit(0));
    CHECK_STATUS(vbn_srq_modify(p.b.srq, &attr), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "on the queue");
    CHECK_STATUS(set_limit(after + 1), VBN_ERR_DRIVER);
    CHECK_HAS(test_error().message, "limit");
    CHECK_UEQ(test_error().limit, after);
    close_shared();
}

/* ---- Life ---- */

static void close_order(void) {
    open_shared(VBN_QPT_RC);
    make_more(VBN_QPT_RC);
    share(&p.b, 1, 0, 64);
    share(&p.b, 2, 0, 64);
    vbn_srq *copy = p.b.srq;
    CHECK_OK(vbn_srq_close(&p.b.srq));
    CHECK(p.b.srq == NULL);
    CHECK_UEQ(live_info(p.b.context).srq_closed, 1);
    CHECK_UEQ(live_info(p.b.context).srq_open, 0);
    vbn_recv_wr wr = recv_wr(&p.b, 3, 0, 64);
    uint32_t posted = 99;
    CHECK_STATUS(vbn_srq_post_recv(copy, &wr, 1, &posted), VBN_ERR_CLOSED);
    CHECK_UEQ(posted, 0);
    /* What is on it still serves. */
    take_one(1);
    CHECK_OK(vbn_qp_close(&p.b.qp));
    CHECK_UEQ(live_info(p.b.context).srq_closed, 1);
    vbn_send_wr send = send_wr(&p.a, &p.b, VBN_WR_SEND, 5, 0, 8);
    send_on(more_a, &send);
    CHECK_UEQ(next_wc(&p.b).wr_id, 2);
    /* The last queue pair takes it along, and it the PD. */
    CHECK_OK(vbn_mr_close(&p.b.mr));
    CHECK_OK(vbn_pd_close(&p.b.pd));
    CHECK_UEQ(live_info(p.b.context).pd_closed, 1);
    CHECK_OK(vbn_qp_close(&more_b));
    CHECK_UEQ(live_info(p.b.context).srq_closed, 0);
    CHECK_UEQ(live_info(p.b.context).pd_closed, 0);
    close_shared();
}

static void release_and_back(void) {
    open_shared(VBN_QPT_RC);
    struct ibv_srq *native = NULL, *lent = NULL;
    CHECK_STATUS(vbn_srq_release(&p.b.srq, &native), VBN_ERR_BUSY);
    CHECK_OK(vbn_qp_close(&p.b.qp));
    CHECK_OK(vbn_srq_native(p.b.srq, &lent));
    CHECK_OK(vbn_srq_release(&p.b.srq, &native));
    CHECK(p.b.srq == NULL && native == lent);
    CHECK_UEQ(live_info(p.b.context).srq_open, 0);
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = VBN_ADOPT_OWN, .user_data = 8};
    CHECK_OK(vbn_srq_adopt(p.b.pd, native, &attr, &p.b.srq));
    CHECK_UEQ(srq_info(p.b.srq).user_data, 8);
    vbn_srq *other = NULL;
    CHECK_STATUS(vbn_srq_adopt(p.a.pd, native, NULL, &other), VBN_ERR_ARGUMENT);
    CHECK_OK(vbn_srq_adopt(p.b.pd, native, NULL, &other)); /* borrowed besides */
    share(&p.b, 1, 0, 64);
    CHECK_OK(vbn_srq_close(&other));
    close_shared();
}

/* ---- Threads ---- */

enum { EACH = 2000 };

static void *poster(void *arg) {
    uint64_t first = (uintptr_t)arg;
    for (uint64_t i = 0; i < EACH;) {
        vbn_recv_wr wr = recv_wr(&p.b, first + i, 0, 64);
        uint32_t posted = 0;
        vbn_status status = vbn_srq_post_recv(p.b.srq, &wr, 1, &posted);
        if (status != VBN_OK && status != VBN_ERR_QUEUE_FULL) return (void *)1;
        if (posted == 0) sleep_ms(1);
        i += posted;
    }
    return NULL;
}

/* Two threads post, one sends and polls: every receive is used, once, and each thread's in its order. */
static void threads(void) {
    open_shared(VBN_QPT_RC);
    pthread_t one, two;
    uint64_t seen[2] = {0, 0};
    CHECK_EQ(pthread_create(&one, NULL, poster, (void *)0), 0);
    CHECK_EQ(pthread_create(&two, NULL, poster, (void *)(uintptr_t)1000000), 0);
    for (uint32_t i = 0; i < 2 * EACH; i++) {
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, i, 0, 8);
        send_on(p.a.qp, &wr);
        vbn_wc wc = next_wc(&p.b);
        CHECK_OK(vbn_wc_check(&wc));
        int which = wc.wr_id >= 1000000;
        CHECK_UEQ(wc.wr_id, seen[which] + (which ? 1000000 : 0));
        seen[which]++;
    }
    void *failed;
    CHECK_EQ(pthread_join(one, &failed), 0);
    CHECK(failed == NULL);
    CHECK_EQ(pthread_join(two, &failed), 0);
    CHECK(failed == NULL);
    CHECK_UEQ(seen[0], EACH);
    CHECK_UEQ(seen[1], EACH);
    close_shared();
}

/* No leaks: many rounds leave nothing behind, and the device doesn't run out. */
static void rounds(void) {
    need_srq();
    side_open(&p.a, NULL);
    for (int i = 0; i < 300; i++) {
        vbn_srq *srq = small(&p.a);
        vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = p.a.cq, .srq = srq};
        vbn_qp *qp;
        CHECK_OK(vbn_qp_create(p.a.pd, &attr, &qp));
        if (i % 2) CHECK_OK(vbn_srq_close(&srq));
        CHECK_OK(vbn_qp_close(&qp));
        CHECK_OK(vbn_srq_close(&srq));
    }
    vbn_live_info live = live_info(p.a.context);
    CHECK_UEQ(live.srq_open + live.srq_closed + live.srq_refused, 0);
    side_close(&p.a);
}

static const struct test tests[] = {
    {"created", created},
    {"other_types", other_types},
    {"no_receives_of_its_own", no_receives_of_its_own},
    {"rc", rc},
    {"uc", uc},
    {"ud", ud},
    {"other_operations", other_operations},
    {"segments", segments},
    {"posted_means_the_same", posted_means_the_same},
    {"empty", empty},
    {"failure_of_one", failure_of_one},
    {"limit_event", limit_event},
    {"limit_at_creation", limit_at_creation},
    {"resize", resize},
    {"close_order", close_order},
    {"release_and_back", release_and_back},
    {"threads", threads},
    {"rounds", rounds},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("srq", tests, argc, argv);
}
