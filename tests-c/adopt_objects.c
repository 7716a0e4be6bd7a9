/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Objects that raw verbs made, taken in: borrowed, owned, and with a destroy function of their own. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

/* What raw verbs made for side a. */
struct raw {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};

static struct raw raw;
static enum ibv_qp_type raw_type = IBV_QPT_RC;
static struct pair p;

static struct ibv_context *open_raw(const char *name) {
    int count = 0;
    struct ibv_context *context = NULL;
    struct ibv_device **list = ibv_get_device_list(&count);
    if (!list) FAIL("ibv_get_device_list: errno %d", errno);
    for (int i = 0; i < count && !context; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0) context = ibv_open_device(list[i]);
    ibv_free_device_list(list);
    CHECK(context != NULL);
    return context;
}

static void make_raw(void) {
    need_rc(test_device());
    p.a.size = 65536;
    p.a.memory = aligned_alloc(4096, p.a.size);
    CHECK(p.a.memory != NULL);
    memset(p.a.memory, 0, p.a.size);
    raw.context = open_raw(test_device());
    CHECK((raw.pd = ibv_alloc_pd(raw.context)) != NULL);
    raw.mr = ibv_reg_mr(raw.pd, p.a.memory, p.a.size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(raw.mr != NULL);
    CHECK((raw.channel = ibv_create_comp_channel(raw.context)) != NULL);
    CHECK((raw.cq = ibv_create_cq(raw.context, 64, NULL, raw.channel, 0)) != NULL);
    struct ibv_qp_init_attr init = {
        .send_cq = raw.cq,
        .recv_cq = raw.cq,
        .cap = {.max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 32},
        .qp_type = raw_type,
    };
    CHECK((raw.qp = ibv_create_qp(raw.pd, &init)) != NULL);
}

static void free_raw(void) {
    CHECK_EQ(ibv_destroy_qp(raw.qp), 0);
    CHECK_EQ(ibv_destroy_cq(raw.cq), 0);
    CHECK_EQ(ibv_destroy_comp_channel(raw.channel), 0);
    CHECK_EQ(ibv_dereg_mr(raw.mr), 0);
    CHECK_EQ(ibv_dealloc_pd(raw.pd), 0);
    CHECK_EQ(ibv_close_device(raw.context), 0);
    free(p.a.memory);
}

static void adopt_all(const vbn_adopt_attr *attr) {
    CHECK_OK(vbn_context_adopt(raw.context, attr, &p.a.context));
    CHECK_OK(vbn_pd_adopt(p.a.context, raw.pd, attr, &p.a.pd));
    CHECK_OK(vbn_mr_adopt(p.a.pd, raw.mr, attr, &p.a.mr));
    CHECK_OK(vbn_channel_adopt(p.a.context, raw.channel, attr, &p.a.channel));
    CHECK_OK(vbn_cq_adopt(p.a.context, raw.cq, attr, &p.a.cq));
    CHECK_OK(vbn_qp_adopt(p.a.pd, raw.qp, attr, &p.a.qp));
    CHECK_OK(vbn_rc_record_local(p.a.qp, NULL, &p.a.record));
    CHECK_UEQ(p.a.record.qp_num, raw.qp->qp_num);
}

static vbn_wc poll_until(vbn_cq *cq) {
    vbn_wc wc;
    uint32_t got = 0;
    CHECK_OK(vbn_cq_wait(cq, 1, &wc, 0, PATIENCE, &got));
    return wc;
}

/* Everything over the adopted objects: write, read, send, receive. */
static void traffic(void) {
    side_open(&p.b, NULL);
    pair_connect(&p, NULL);
    fill(p.a.memory, 5000, 1);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 5000);
    post_send(&p.a, &wr);
    vbn_wc wc = poll_until(p.a.cq);
    CHECK_OK(vbn_wc_check(&wc));
    CHECK_MEM(p.b.memory, p.a.memory, 5000);
    fill(p.b.memory + 8192, 5000, 2);
    wr = send_wr(&p.b, &p.a, VBN_WR_RDMA_WRITE, 2, 8192, 5000);
    run_send(&p.b, &wr);
    CHECK_MEM(p.a.memory + 8192, p.b.memory + 8192, 5000);
    post_recv(&p.a, 3, 20000, 100);
    wr = send_wr(&p.b, &p.a, VBN_WR_SEND_WITH_IMM, 4, 0, 100);
    wr.imm = 0xcafe0001;
    run_send(&p.b, &wr);
    wc = poll_until(p.a.cq);
    CHECK_OK(vbn_wc_check(&wc));
    CHECK_UEQ(wc.wr_id, 3);
    CHECK_UEQ(wc.imm, 0xcafe0001);
    CHECK_MEM(p.a.memory + 20000, p.b.memory, 100);
    side_close(&p.b);
}

static void close_handles(void) {
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_OK(vbn_cq_close(&p.a.cq));
    CHECK_OK(vbn_channel_close(&p.a.channel));
    CHECK_OK(vbn_mr_close(&p.a.mr));
    CHECK_OK(vbn_pd_close(&p.a.pd));
    CHECK_OK(vbn_context_close(&p.a.context));
}

/* Borrowed objects live on: raw verbs can destroy each of them afterwards, and none was busy. */
static void borrow(void) {
    make_raw();
    adopt_all(NULL);
    traffic();
    close_handles();
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(raw.qp, &attr, IBV_QP_STATE, &init), 0);
    free_raw();
}

static int open_fds(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* Owned ones go with their handles; the descriptors show it. */
static void own(void) {
    int fds = open_fds();
    make_raw();
    CHECK(open_fds() > fds);
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = VBN_ADOPT_OWN};
    adopt_all(&attr);
    traffic();
    close_handles();
    CHECK_EQ(open_fds(), fds);
    free(p.a.memory);
}

/* Adopted queues keep what they use alive when that has a handle, too: any order will do. */
static void own_parents_first(void) {
    int fds = open_fds();
    make_raw();
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = VBN_ADOPT_OWN};
    adopt_all(&attr);
    CHECK_OK(vbn_context_close(&p.a.context));
    CHECK_OK(vbn_pd_close(&p.a.pd));
    CHECK_OK(vbn_channel_close(&p.a.channel));
    CHECK_OK(vbn_cq_close(&p.a.cq));
    CHECK_OK(vbn_mr_close(&p.a.mr));
    CHECK(open_fds() > fds);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_EQ(open_fds(), fds);
    free(p.a.memory);
}

static int destroyed, answer;

static int destroy_qp(void *native, void *arg) {
    if (native != raw.qp || arg != &destroyed) return EINVAL;
    if (answer) return answer;
    destroyed++;
    return ibv_destroy_qp(native);
}

static void custom(void) {
    make_raw();
    CHECK_OK(vbn_context_adopt(raw.context, NULL, &p.a.context));
    CHECK_OK(vbn_pd_adopt(p.a.context, raw.pd, NULL, &p.a.pd));
    vbn_adopt_attr attr = {
        .struct_size = sizeof attr, .ownership = VBN_ADOPT_CUSTOM, .destroy = destroy_qp, .destroy_arg = &destroyed,
    };
    CHECK_OK(vbn_qp_adopt(p.a.pd, raw.qp, &attr, &p.a.qp));
    /* A refusal comes back, and the handle stays. */
    answer = EBUSY;
    destroyed = 0;
    CHECK_STATUS(vbn_qp_close(&p.a.qp), VBN_ERR_BUSY);
    CHECK_EQ(test_error().sys_errno, EBUSY);
    CHECK(p.a.qp != NULL);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RESET);
    answer = 0;
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_EQ(destroyed, 1);
    CHECK_OK(vbn_pd_close(&p.a.pd));
    CHECK_OK(vbn_context_close(&p.a.context));
    CHECK_EQ(ibv_destroy_cq(raw.cq), 0);
    CHECK_EQ(ibv_destroy_comp_channel(raw.channel), 0);
    CHECK_EQ(ibv_dereg_mr(raw.mr), 0);
    CHECK_EQ(ibv_dealloc_pd(raw.pd), 0);
    CHECK_EQ(ibv_close_device(raw.context), 0);
    free(p.a.memory);
}

/* The adopted descriptors stay as raw verbs made them. */
static void descriptors_are_left_alone(void) {
    make_raw();
    int async = fcntl(raw.context->async_fd, F_GETFL), channel = fcntl(raw.channel->fd, F_GETFL);
    CHECK(!(async & O_NONBLOCK));
    adopt_all(NULL);
    vbn_cq_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_channel_get_event(p.a.channel, 0, &event), VBN_ERR_TIMEOUT);
    vbn_async_event async_event = {.struct_size = sizeof async_event};
    CHECK_STATUS(vbn_context_get_async_event(p.a.context, SECOND / 100, &async_event), VBN_ERR_TIMEOUT);
    CHECK_EQ(fcntl(raw.context->async_fd, F_GETFL), async);
    CHECK_EQ(fcntl(raw.channel->fd, F_GETFL), channel);
    close_handles();
    free_raw();
}

static void user_data(void) {
    make_raw();
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .user_data = 4711};
    adopt_all(&attr);
    vbn_context_info context = {.struct_size = sizeof context};
    vbn_pd_info pd = {.struct_size = sizeof pd};
    vbn_cq_info cq = {.struct_size = sizeof cq};
    CHECK_OK(vbn_context_query(p.a.context, &context));
    CHECK_OK(vbn_pd_query(p.a.pd, &pd));
    CHECK_OK(vbn_cq_query(p.a.cq, &cq));
    CHECK_UEQ(context.user_data, 4711);
    CHECK_EQ(context.ownership, VBN_ADOPT_BORROW);
    CHECK_STR(context.name, test_device());
    CHECK_UEQ(pd.user_data, 4711);
    CHECK_UEQ(cq.user_data, 4711);
    CHECK_EQ(cq.has_channel, 1);
    CHECK_UEQ(qp_info(p.a.qp).user_data, 4711);
    CHECK_UEQ(mr_info(p.a.mr).user_data, 4711);
    CHECK_EQ(mr_info(p.a.mr).kind, VBN_MR_ADOPTED);
    CHECK_UEQ(vbn_mr_lkey(p.a.mr), raw.mr->lkey);
    CHECK_UEQ(vbn_mr_rkey(p.a.mr), raw.mr->rkey);

    /* Events of the adopted queue carry it. */
    side_open(&p.b, NULL);
    pair_connect(&p, NULL);
    CHECK_OK(vbn_cq_arm(p.a.cq, 0));
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 8);
    post_send(&p.a, &wr);
    vbn_cq_event event = {.struct_size = sizeof event};
    CHECK_OK(vbn_channel_get_event(p.a.channel, PATIENCE, &event));
    CHECK_UEQ(event.user_data, 4711);
    CHECK_EQ(event.known, 1);
    side_close(&p.b);
    close_handles();
    free_raw();
}

/* A raw queue on a lent channel: its event is known as nobody's. */
static void unknown_queue(void) {
    make_raw();
    CHECK_OK(vbn_context_adopt(raw.context, NULL, &p.a.context));
    CHECK_OK(vbn_pd_adopt(p.a.context, raw.pd, NULL, &p.a.pd));
    CHECK_OK(vbn_mr_adopt(p.a.pd, raw.mr, NULL, &p.a.mr));
    CHECK_OK(vbn_channel_adopt(p.a.context, raw.channel, NULL, &p.a.channel));
    CHECK_OK(vbn_qp_adopt(p.a.pd, raw.qp, NULL, &p.a.qp));
    CHECK_OK(vbn_rc_record_local(p.a.qp, NULL, &p.a.record));
    side_open(&p.b, NULL);
    pair_connect(&p, NULL);
    CHECK_EQ(ibv_req_notify_cq(raw.cq, 0), 0);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 77, 0, 8);
    post_send(&p.a, &wr);
    vbn_cq_event event = {.struct_size = sizeof event, .user_data = 9};
    CHECK_OK(vbn_channel_get_event(p.a.channel, PATIENCE, &event));
    CHECK_EQ(event.known, 0);
    CHECK_UEQ(event.user_data, 0);
    struct ibv_wc wc;
    CHECK_EQ(ibv_poll_cq(raw.cq, 1, &wc), 1);
    CHECK_UEQ(wc.wr_id, 77);
    side_close(&p.b);
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_OK(vbn_channel_close(&p.a.channel));
    CHECK_OK(vbn_mr_close(&p.a.mr));
    CHECK_OK(vbn_pd_close(&p.a.pd));
    CHECK_OK(vbn_context_close(&p.a.context));
    free_raw(); /* would hang on an event that was not acknowledged */
}

/* Raw verbs connected it: connecting again to the same peer is fine, to another refused. */
static void already_connected(void) {
    make_raw();
    adopt_all(NULL);
    side_open(&p.b, NULL);
    pair_connect(&p, NULL);
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_OK(vbn_qp_adopt(p.a.pd, raw.qp, NULL, &p.a.qp));
    CHECK_OK(vbn_qp_connect_rc(p.a.qp, &p.a.record, &p.b.record, NULL));
    vbn_rc_record other = p.b.record;
    other.qp_num ^= 3;
    CHECK_STATUS(vbn_qp_connect_rc(p.a.qp, &p.a.record, &other, NULL), VBN_ERR_ARGUMENT);
    side_close(&p.b);
    close_handles();
    free_raw();
}

static void wrong_parent(void) {
    make_raw();
    vbn_context *own = NULL;
    vbn_pd *pd = NULL, *adopted = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    vbn_mr *mr = NULL;
    CHECK_OK(vbn_context_open(test_device(), NULL, &own));
    CHECK_OK(vbn_pd_alloc(own, NULL, &pd));
    CHECK_STATUS(vbn_pd_adopt(own, raw.pd, NULL, &adopted), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_cq_adopt(own, raw.cq, NULL, &cq), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_qp_adopt(pd, raw.qp, NULL, &qp), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_mr_adopt(pd, raw.mr, NULL, &mr), VBN_ERR_ARGUMENT);
    CHECK(!adopted && !cq && !qp && !mr);
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = 7};
    vbn_context *context = NULL;
    CHECK_STATUS(vbn_context_adopt(raw.context, &attr, &context), VBN_ERR_ARGUMENT);
    attr.ownership = VBN_ADOPT_CUSTOM; /* without a function */
    CHECK_STATUS(vbn_context_adopt(raw.context, &attr, &context), VBN_ERR_ARGUMENT);
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&own));
    free_raw();
}

/* A UC queue pair, and one on a shared receive queue that has a handle. */
static void uc(void) {
    static const struct setup setup = {.qp_type = VBN_QPT_UC};
    raw_type = IBV_QPT_UC;
    make_raw();
    raw_type = IBV_QPT_RC;
    adopt_all(NULL);
    CHECK_EQ(qp_info(p.a.qp).qp_type, VBN_QPT_UC);
    side_open(&p.b, &setup);
    pair_connect(&p, NULL);
    check_alive(&p);
    vbn_send_wr read = send_wr(&p.a, &p.b, VBN_WR_RDMA_READ, 1, 0, 8);
    uint32_t posted;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, &read, 1, &posted), VBN_ERR_NOT_SUPPORTED);
    side_close(&p.b);
    close_handles();
    free_raw();
}

static void on_a_shared_receive_queue(void) {
    make_raw();
    adopt_all(NULL);
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 16, .max_sge = 2}};
    struct ibv_srq *native = ibv_create_srq(raw.pd, &init), *lent;
    CHECK(native != NULL);
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .user_data = 77};
    vbn_srq *srq;
    CHECK_OK(vbn_srq_adopt(p.a.pd, native, &attr, &srq));
    CHECK_OK(vbn_srq_native(srq, &lent));
    CHECK(lent == native);
    vbn_srq_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_srq_query(srq, &info));
    CHECK_UEQ(info.user_data, 77);
    CHECK(info.max_wr >= 16 && info.max_sge >= 2);
    CHECK_EQ(info.srq_type, VBN_SRQT_BASIC);
    CHECK_UEQ(info.handle, native->handle);

    struct ibv_qp_init_attr qp_init = {
        .send_cq = raw.cq, .recv_cq = raw.cq, .srq = native, .cap = {.max_send_wr = 4, .max_send_sge = 1}, .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp *on_it = ibv_create_qp(raw.pd, &qp_init);
    CHECK(on_it != NULL);
    vbn_qp *own = p.a.qp, *qp;
    CHECK_OK(vbn_qp_adopt(p.a.pd, on_it, NULL, &qp));
    CHECK_EQ(qp_info(qp).has_srq, 1);
    CHECK_EQ(qp_info(own).has_srq, 0);
    p.a.qp = qp;
    CHECK_OK(vbn_rc_record_local(qp, NULL, &p.a.record));
    side_open(&p.b, NULL);
    pair_connect(&p, NULL);
    vbn_recv_wr recv = recv_wr(&p.a, 5, 0, 64);
    uint32_t posted = 99;
    CHECK_STATUS(vbn_qp_post_recv(qp, &recv, 1, &posted), VBN_ERR_ARGUMENT);
    CHECK_UEQ(posted, 0);
    CHECK_HAS(test_error().message, "vbn_srq_post_recv");
    CHECK_OK(vbn_srq_post_recv(srq, &recv, 1, &posted));
    fill(p.b.memory, 64, 31);
    vbn_send_wr send = send_wr(&p.b, &p.a, VBN_WR_SEND, 6, 0, 64);
    run_send(&p.b, &send);
    next_ok(&p.a, 5);
    CHECK_MEM(p.a.memory, p.b.memory, 64);
    side_close(&p.b);

    /* The adopted queue pair keeps the handle's object; borrowed, nothing is destroyed in the end. */
    CHECK_OK(vbn_srq_close(&srq));
    CHECK_UEQ(live_info(p.a.context).srq_closed, 1);
    CHECK_OK(vbn_qp_close(&qp));
    CHECK_UEQ(live_info(p.a.context).srq_closed, 0);
    p.a.qp = own;
    CHECK_EQ(ibv_destroy_qp(on_it), 0);
    /* Owned, it is destroyed with its handle. */
    attr.ownership = VBN_ADOPT_OWN;
    CHECK_OK(vbn_srq_adopt(p.a.pd, native, &attr, &srq));
    CHECK_STATUS(vbn_srq_adopt(p.a.pd, native, &attr, &(vbn_srq *){NULL}), VBN_ERR_ARGUMENT);
    CHECK_OK(vbn_srq_close(&srq));
    close_handles();
    free_raw(); /* the PD is free of it */
}

/* A region registered at another iova is told where. */
static void region_with_iova(void) {
    make_raw();
    CHECK_EQ(ibv_dereg_mr(raw.mr), 0);
    raw.mr = ibv_reg_mr_iova(raw.pd, p.a.memory, p.a.size, 0x40000000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    CHECK(raw.mr != NULL);
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .set = VBN_ADOPT_SET_IOVA, .iova = 0x40000000};
    CHECK_OK(vbn_context_adopt(raw.context, NULL, &p.a.context));
    CHECK_OK(vbn_pd_adopt(p.a.context, raw.pd, NULL, &p.a.pd));
    CHECK_OK(vbn_mr_adopt(p.a.pd, raw.mr, &attr, &p.a.mr));
    CHECK_OK(vbn_channel_adopt(p.a.context, raw.channel, NULL, &p.a.channel));
    CHECK_OK(vbn_cq_adopt(p.a.context, raw.cq, NULL, &p.a.cq));
    CHECK_OK(vbn_qp_adopt(p.a.pd, raw.qp, NULL, &p.a.qp));
    CHECK_OK(vbn_rc_record_local(p.a.qp, NULL, &p.a.record));
    CHECK_UEQ(vbn_mr_remote_addr(p.a.mr), 0x40000000);
    traffic();
    close_handles();
    free_raw();
}

static const struct test tests[] = {
    {"borrow", borrow},
    {"own", own},
    {"own_parents_first", own_parents_first},
    {"custom", custom},
    {"descriptors_are_left_alone", descriptors_are_left_alone},
    {"user_data", user_data},
    {"unknown_queue", unknown_queue},
    {"already_connected", already_connected},
    {"wrong_parent", wrong_parent},
    {"uc", uc},
    {"on_a_shared_receive_queue", on_a_shared_receive_queue},
    {"region_with_iova", region_with_iova},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("adopt_objects", tests, argc, argv);
}
