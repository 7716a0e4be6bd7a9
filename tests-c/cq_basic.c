/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Completion queues and channels. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "common.h"

static struct pair p;

static vbn_context *context;

static void open_context(void) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &context));
}

static vbn_cq *create(uint32_t cqe, vbn_channel *channel, uint64_t user_data) {
    vbn_cq *cq = NULL;
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = cqe, .channel = channel, .user_data = user_data};
    CHECK_OK(vbn_cq_create(context, &attr, &cq));
    return cq;
}

static vbn_cq_info cq_info(vbn_cq *cq) {
    vbn_cq_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_cq_query(cq, &info));
    return info;
}

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static void granted(void) {
    open_context();
    static const uint32_t asked[] = {1, 2, 64, 1000};
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++) {
        vbn_cq *cq = create(asked[i], NULL, 42);
        CHECK(cq_info(cq).cqe >= asked[i]);
        CHECK_UEQ(cq_info(cq).user_data, 42);
        CHECK_EQ(cq_info(cq).has_channel, 0);
        CHECK_OK(vbn_cq_close(&cq));
        CHECK(cq == NULL);
        CHECK_OK(vbn_cq_close(&cq));
    }
    CHECK_OK(vbn_context_close(&context));
}

static void refused(void) {
    open_context();
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_context_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_context_query_device(context, &device));
    CHECK_OK(vbn_context_query(context, &info));
    vbn_cq *cq = NULL;
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 0};
    CHECK_STATUS(vbn_cq_create(context, &attr, &cq), VBN_ERR_ARGUMENT);
    attr.cqe = (uint32_t)device.max_cqe + 1;
    CHECK_STATUS(vbn_cq_create(context, &attr, &cq), VBN_ERR_LIMIT);
    CHECK_UEQ(test_error().value, device.max_cqe + 1);
    CHECK_UEQ(test_error().limit, device.max_cqe);
    attr.cqe = 16;
    attr.comp_vector = info.num_comp_vectors;
    CHECK_STATUS(vbn_cq_create(context, &attr, &cq), VBN_ERR_LIMIT);
    CHECK_HAS(test_error().message, "comp_vector");
    CHECK(cq == NULL);
    attr.comp_vector = info.num_comp_vectors - 1;
    CHECK_OK(vbn_cq_create(context, &attr, &cq));
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_context_close(&context));
}

static void empty(void) {
    open_context();
    vbn_cq *cq = create(16, NULL, 0);
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_OK(vbn_cq_poll(cq, 1, &wc, &got));
    CHECK_UEQ(got, 0);
    CHECK_STATUS(vbn_cq_arm(cq, 0), VBN_ERR_ARGUMENT);
    CHECK_HAS(test_error().message, "channel");
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_context_close(&context));
}

/* A poll for none takes none. */
static void poll_none(void) {
    pair_open_connected(&p, NULL);
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 7, 0, 8);
    post_send(&p.a, &wr);
    sleep_ms(100);
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_OK(vbn_cq_poll(p.a.cq, 0, &wc, &got));
    CHECK_UEQ(got, 0);
    next_ok(&p.a, 7);
    pair_close(&p);
}

/* Several completions in one poll, in order, no more than there is room for. */
static void poll_many(void) {
    pair_open_connected(&p, NULL);
    vbn_send_wr wrs[10];
    for (unsigned i = 0; i < 10; i++) wrs[i] = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, i, 0, 8);
    uint32_t posted = 0, got = 0, total = 0;
    CHECK_OK(vbn_qp_post_send(p.a.qp, wrs, 10, &posted));
    while (total < 10) {
        vbn_wc wcs[4];
        memset(wcs, 0xa5, sizeof wcs);
        CHECK_OK(vbn_cq_wait(p.a.cq, 3, wcs, 0, PATIENCE, &got));
        CHECK(got >= 1);
        CHECK(got <= 3);
        for (uint32_t i = 0; i < got; i++) {
            CHECK_UEQ(wcs[i].wr_id, total++);
            CHECK_EQ(wcs[i].status, VBN_WC_SUCCESS);
        }
        CHECK_UEQ(wcs[3].wr_id, UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
    check_no_wc(&p.a);
    pair_close(&p);
}

static void channel_descriptor(void) {
    open_context();
    vbn_channel *channel = NULL;
    vbn_channel_attr attr = {.struct_size = sizeof attr, .user_data = 7};
    CHECK_OK(vbn_channel_create(context, &attr, &channel));
    vbn_channel_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_channel_query(channel, &info));
    CHECK_UEQ(info.user_data, 7);
    CHECK(info.fd >= 0);
    CHECK_EQ(info.fd, vbn_channel_fd(channel));
    CHECK(fcntl(info.fd, F_GETFL) & O_NONBLOCK);
    CHECK(fcntl(info.fd, F_GETFD) & FD_CLOEXEC);
    vbn_cq *cq = create(16, channel, 0);
    CHECK_EQ(cq_info(cq).has_channel, 1);
    CHECK_OK(vbn_cq_arm(cq, 0));
    CHECK_OK(vbn_cq_close(&cq));
    CHECK_OK(vbn_channel_close(&channel));
    CHECK(channel == NULL);
    CHECK_EQ(vbn_channel_fd(channel), -1);
    CHECK_OK(vbn_context_close(&context));
}

static void no_event(void) {
    open_context();
    vbn_channel *channel = NULL;
    CHECK_OK(vbn_channel_create(context, NULL, &channel));
    vbn_cq_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_channel_get_event(channel, 0, &event), VBN_ERR_TIMEOUT);
    int64_t start = now_ns();
    CHECK_STATUS(vbn_channel_get_event(channel, SECOND / 20, &event), VBN_ERR_TIMEOUT);
    CHECK(now_ns() - start >= SECOND / 20);
    CHECK_OK(vbn_channel_close(&channel));
    CHECK_OK(vbn_context_close(&context));
}

/* Replaces side a's queues by ones with this user data. */
static void with_user_data(uint64_t user_data) {
    side_open(&p.a, NULL);
    side_open(&p.b, NULL);
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_OK(vbn_cq_close(&p.a.cq));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 64, .channel = p.a.channel, .user_data = user_data};
    CHECK_OK(vbn_cq_create(p.a.context, &attr, &p.a.cq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .send_cq = p.a.cq};
    CHECK_OK(vbn_qp_create(p.a.pd, &qp, &p.a.qp));
    CHECK_OK(vbn_rc_record_local(p.a.qp, NULL, &p.a.record));
    pair_connect(&p, NULL);
}

static void write_one(uint64_t wr_id) {
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, wr_id, 0, 8);
    post_send(&p.a, &wr);
}

static void poll_one(uint64_t wr_id) {
    vbn_wc wc;
    uint32_t got = 0;
    CHECK_OK(vbn_cq_poll(p.a.cq, 1, &wc, &got));
    CHECK_UEQ(got, 1);
    CHECK_UEQ(wc.wr_id, wr_id);
}

/* Arm, write, wait on the descriptor, take the event, poll; and the same again. */
static void arm_and_wait(void) {
    with_user_data(0xfeedfacecafe);
    for (uint64_t round = 0; round < 3; round++) {
        CHECK_OK(vbn_cq_arm(p.a.cq, 0));
        write_one(round);
        struct pollfd fd = {.fd = vbn_channel_fd(p.a.channel), .events = POLLIN};
        CHECK_EQ(poll(&fd, 1, 60000), 1);
        vbn_cq_event event = {.struct_size = sizeof event};
        CHECK_OK(vbn_channel_get_event(p.a.channel, 0, &event));
        CHECK_UEQ(event.user_data, 0xfeedfacecafe);
        CHECK_EQ(event.known, 1);
        CHECK_EQ(event.kind, VBN_ELEMENT_CQ);
        CHECK_UEQ(event.number, cq_info(p.a.cq).handle);
        CHECK_STATUS(vbn_channel_get_event(p.a.channel, 0, &event), VBN_ERR_TIMEOUT);
        poll_one(round);
    }
    /* Not armed: no event. */
    write_one(9);
    vbn_cq_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_channel_get_event(p.a.channel, SECOND / 5, &event), VBN_ERR_TIMEOUT);
    poll_one(9);
    pair_close(&p);
}

/* get_event itself waits, too. */
static void event_waits(void) {
    with_user_data(5);
    CHECK_OK(vbn_cq_arm(p.a.cq, 0));
    write_one(1);
    vbn_cq_event event = {.struct_size = sizeof event};
    CHECK_OK(vbn_channel_get_event(p.a.channel, PATIENCE, &event));
    CHECK_UEQ(event.user_data, 5);
    pair_close(&p);
}

/* Two queues on one channel: each event says of which it is. */
static void shared_channel(void) {
    with_user_data(1);
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 64, .channel = p.a.channel, .user_data = 2};
    vbn_cq *second = NULL;
    CHECK_OK(vbn_cq_create(p.a.context, &attr, &second));
    vbn_qp_init_attr init = {.struct_size = sizeof init, .send_cq = second};
    vbn_qp *qp = NULL;
    struct side c;
    vbn_rc_record record;
    CHECK_OK(vbn_qp_create(p.a.pd, &init, &qp));
    CHECK_OK(vbn_rc_record_local(qp, NULL, &record));
    side_open(&c, NULL);
    CHECK_OK(vbn_qp_connect_rc(qp, &record, &c.record, NULL));
    CHECK_OK(vbn_qp_connect_rc(c.qp, &c.record, &record, NULL));
    CHECK_OK(vbn_cq_arm(p.a.cq, 0));
    CHECK_OK(vbn_cq_arm(second, 0));

    vbn_cq_event event = {.struct_size = sizeof event};
    uint32_t posted = 0;
    vbn_send_wr wr = send_wr(&p.a, &c, VBN_WR_RDMA_WRITE, 5, 0, 8);
    CHECK_OK(vbn_qp_post_send(qp, &wr, 1, &posted));
    CHECK_OK(vbn_channel_get_event(p.a.channel, PATIENCE, &event));
    CHECK_UEQ(event.user_data, 2);
    write_one(6);
    CHECK_OK(vbn_channel_get_event(p.a.channel, PATIENCE, &event));
    CHECK_UEQ(event.user_data, 1);

    /* vbn_cq_wait would lose the other's events. */
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_STATUS(vbn_cq_wait(second, 1, &wc, 0, SECOND, &got), VBN_ERR_ARGUMENT);
    CHECK_UEQ(got, 0);
    CHECK_HAS(test_error().message, "channel");
    CHECK_OK(vbn_qp_close(&qp));
    CHECK_OK(vbn_cq_close(&second));
    side_close(&c);
    next_ok(&p.a, 6); /* alone on the channel again */
    pair_close(&p);
}

/* Armed for solicited completions, an ordinary one gives no event, a solicited one does. */
static void solicited(void) {
    pair_open_connected(&p, NULL);
    post_recv(&p.b, 1, 0, 16);
    post_recv(&p.b, 2, 0, 16);
    CHECK_OK(vbn_cq_arm(p.b.cq, 1));
    vbn_cq_event event = {.struct_size = sizeof event};
    vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_SEND, 3, 0, 16);
    run_send(&p.a, &wr);
    CHECK_STATUS(vbn_channel_get_event(p.b.channel, SECOND / 5, &event), VBN_ERR_TIMEOUT);
    wr.flags |= VBN_SEND_SOLICITED;
    run_send(&p.a, &wr);
    CHECK_OK(vbn_channel_get_event(p.b.channel, PATIENCE, &event));
    vbn_wc wcs[3];
    uint32_t got = 0;
    CHECK_OK(vbn_cq_poll(p.b.cq, 3, wcs, &got));
    CHECK_UEQ(got, 2);
    pair_close(&p);
}

static void wait_times_out(void) {
    pair_open_connected(&p, NULL);
    vbn_wc wc;
    uint32_t got = 99;
    int64_t start = now_ns();
    CHECK_STATUS(vbn_cq_wait(p.a.cq, 1, &wc, 0, SECOND / 10, &got), VBN_ERR_TIMEOUT);
    CHECK(now_ns() - start >= SECOND / 10);
    CHECK_UEQ(got, 0);
    got = 99;
    CHECK_STATUS(vbn_cq_wait(p.a.cq, 1, &wc, 0, 0, &got), VBN_ERR_TIMEOUT);
    CHECK_UEQ(got, 0);
    CHECK_STATUS(vbn_cq_wait(p.a.cq, 1, &wc, SECOND / 20, SECOND / 10, &got), VBN_ERR_TIMEOUT);
    CHECK_STATUS(vbn_cq_wait(p.a.cq, 1, &wc, SECOND, SECOND / 10, &got), VBN_ERR_TIMEOUT);
    CHECK_STATUS(vbn_cq_wait(p.a.cq, 0, &wc, 0, 0, &got), VBN_ERR_ARGUMENT);
    /* After all this a completion still comes through. */
    write_one(4);
    next_ok(&p.a, 4);
    pair_close(&p);
}

/* The busy window, the sleeping part, a completion that is there already, and no channel at all. */
static void wait_ways(void) {
    vbn_wc wc;
    uint32_t got = 0;
    pair_open_connected(&p, NULL);
    write_one(1);
    CHECK_OK(vbn_cq_wait(p.a.cq, 1, &wc, PATIENCE, PATIENCE, &got));
    CHECK_UEQ(wc.wr_id, 1);
    write_one(2);
    CHECK_OK(vbn_cq_wait(p.a.cq, 1, &wc, 1000, -1, &got));
    CHECK_UEQ(wc.wr_id, 2);
    write_one(3);
    sleep_ms(100);
    CHECK_OK(vbn_cq_wait(p.a.cq, 1, &wc, 0, 0, &got));
    CHECK_UEQ(wc.wr_id, 3);
    pair_close(&p);
    struct setup setup = {.no_channel = 1};
    pair_open_connected(&p, &setup);
    write_one(5);
    CHECK_OK(vbn_cq_wait(p.a.cq, 1, &wc, 0, PATIENCE, &got));
    CHECK_UEQ(wc.wr_id, 5);
    CHECK_STATUS(vbn_cq_wait(p.a.cq, 1, &wc, 0, SECOND / 50, &got), VBN_ERR_TIMEOUT);
    pair_close(&p);
}

/* Many rounds of wait, so that an event of an earlier round meets a later one. */
static void wait_often(void) {
    pair_open_connected(&p, NULL);
    for (uint64_t i = 0; i < 200; i++) {
        write_one(i);
        vbn_wc wc;
        uint32_t got = 0;
        CHECK_OK(vbn_cq_wait(p.a.cq, 1, &wc, i % 3 ? 0 : 100000, PATIENCE, &got));
        CHECK_UEQ(wc.wr_id, i);
    }
    pair_close(&p);
}

/* A channel of another device handle is refused. */
static void foreign_channel(void) {
    open_context();
    vbn_context *other = NULL;
    vbn_channel *channel = NULL;
    CHECK_OK(vbn_context_open(test_device(), NULL, &other));
    CHECK_OK(vbn_channel_create(other, NULL, &channel));
    vbn_cq *cq = NULL;
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .channel = channel};
    CHECK_STATUS(vbn_cq_create(context, &attr, &cq), VBN_ERR_ARGUMENT);
    CHECK_OK(vbn_channel_close(&channel));
    CHECK_OK(vbn_context_close(&other));
    CHECK_OK(vbn_context_close(&context));
}

static const struct test tests[] = {
    {"granted", granted},
    {"refused", refused},
    {"empty", empty},
    {"poll_none", poll_none},
    {"poll_many", poll_many},
    {"channel_descriptor", channel_descriptor},
    {"no_event", no_event},
    {"arm_and_wait", arm_and_wait},
    {"event_waits", event_waits},
    {"shared_channel", shared_channel},
    {"solicited", solicited},
    {"wait_times_out", wait_times_out},
    {"wait_ways", wait_ways},
    {"wait_often", wait_often},
    {"foreign_channel", foreign_channel},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("cq_basic", tests, argc, argv);
}
