// SPDX-License-Identifier: MIT OR Apache-2.0
// What a program sees of each kind of rule in a fault file. check-softnic writes the files:
//
//   status 7 for request 3 op read             faults status
//   rnr for request 1                          faults rnr          no retries: an error; faults rnr-patient: it goes through
//   stall 200ms for request 1                  faults stall       the queue fills up
//   delay 200ms for request 1                  faults delay
//   late-dma 200ms for request 1 op read       faults late-dma
//   drop for request 2                         faults drop        a datagram is lost, and its sender hears nothing
//   cq-overflow for completion 2 event         faults cq-overflow
//   fail command create_qp 2 errno 12          faults fail
//   remove device 0 at request 2               faults remove
//   remove device 0 after 200ms                faults waiters      threads asleep in ibv_get_cq_event and ibv_get_async_event
//   port down after 200ms, port up after 500ms faults port
//   any                                        faults list         prints the device's status of 60 requests
#define _GNU_SOURCE
#include "srd.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>

static struct end e;
static struct ibv_ah *self;

static void read_self(uint64_t id) { post(&e, id, self, e.qp->qp_num, 1, 4096 * id, 0, 64); }

static void expect(uint64_t id, uint32_t status)
{
    struct ibv_wc wc;
    CHECK(poll_for(&e, &wc, 5));
    if (wc.wr_id != id || wc.vendor_err != status || (wc.status == IBV_WC_SUCCESS) != (status == 0)) {
        fprintf(stderr, "request %lu: %s (device status %u), expected request %lu with %u\n", wc.wr_id, ibv_wc_status_str(wc.status), wc.vendor_err, id, status);
        exit(1);
    }
}

static int arrived(uint64_t id) { return memcmp(e.buffer, e.buffer + 4096 * id, 64) == 0; }

static enum ibv_event_type next_event(int ms)
{
    struct pollfd p = {.fd = e.ctx->async_fd, .events = POLLIN};
    CHECK(poll(&p, 1, ms) == 1);
    struct ibv_async_event event;
    CHECK(!ibv_get_async_event(e.ctx, &event));
    ibv_ack_async_event(&event);
    return event.event_type;
}

static void status(void)
{
    for (uint64_t id = 1; id <= 4; id++) {
        read_self(id);
        expect(id, id == 3 ? 7 : 0);
        CHECK(arrived(id) == (id != 3));
    }
}

static void send_self(uint64_t id)
{
    post_recv(&e, 100 + id, 32768, 64);
    post(&e, id, self, e.qp->qp_num, 0, 0, 0, 64);
}

static void rnr(void)
{
    struct ibv_wc wc;
    send_self(1);
    expect(1, 10);
    CHECK(!poll_for(&e, &wc, 0.05));
    post(&e, 2, self, e.qp->qp_num, 0, 0, 0, 64);
    int seen = 0;
    for (int i = 0; i < 2; i++) {
        CHECK(poll_for(&e, &wc, 5) && wc.status == IBV_WC_SUCCESS);
        seen |= wc.wr_id == 2 ? 1 : wc.wr_id == 101 ? 2 : 4;
    }
    CHECK(seen == 3);
}

static void rnr_patient(void)
{
    struct ibv_wc wc;
    send_self(1);
    for (int i = 0; i < 2; i++) CHECK(poll_for(&e, &wc, 5) && wc.status == IBV_WC_SUCCESS);
}

static void stall(void)
{
    enum { DEPTH = 64 };
    double start = seconds();
    // A queue that stands still fills up, and then takes no more.
    for (uint64_t id = 1; id <= DEPTH; id++) post(&e, id, self, e.qp->qp_num, 1, 4096, 0, 64);
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e.qp);
    ibv_wr_start(qp);
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_read(qp, e.mr->rkey, (uintptr_t)e.buffer);
    ibv_wr_set_sge(qp, e.mr->lkey, (uintptr_t)e.buffer + 4096, 64);
    ibv_wr_set_ud_addr(qp, self, e.qp->qp_num, QKEY);
    CHECK(ibv_wr_complete(qp) == ENOMEM);
    struct ibv_wc wc;
    for (int i = 0; i < DEPTH; i++) {
        CHECK(poll_for(&e, &wc, 5) && wc.status == IBV_WC_SUCCESS);
        CHECK(seconds() - start > 0.19);
    }
    read_self(1);
    expect(1, 0);
}

static void delay(void)
{
    double start = seconds();
    read_self(1);
    read_self(2);
    expect(2, 0);
    expect(1, 0);
    CHECK(seconds() - start > 0.19);
}

static void late_dma(void)
{
    read_self(1);
    expect(1, 13);
    CHECK(!arrived(1));
    double end = seconds() + 5;
    struct ibv_wc wc;
    while (!arrived(1)) {
        CHECK(seconds() < end);
        CHECK(ibv_poll_cq(e.cq, 1, &wc) == 0);
    }
}

static void cq_overflow(void)
{
    read_self(1);
    expect(1, 0);
    read_self(2);
    struct ibv_wc wc;
    CHECK(!poll_for(&e, &wc, 0.1));
    CHECK(arrived(2));
    CHECK(next_event(1000) == IBV_EVENT_CQ_ERR);
    read_self(3);
    expect(3, 0);
}

static void fail(void)
{
    errno = 0;
    CHECK(!create_qp(&e) && errno == ENOMEM);
    struct ibv_qp *third = create_qp(&e);
    CHECK(third && !ibv_destroy_qp(third));
}

static void removed(void)
{
    read_self(1);
    expect(1, 0);
    read_self(2);
    CHECK(next_event(5000) == IBV_EVENT_DEVICE_FATAL);
    // Every call that reaches the device; those that end in the library (query_gid of some releases, query_ah) know no better.
    struct ibv_device_attr device;
    struct ibv_port_attr port;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    struct ibv_qp_init_attr init;
    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.dgid = e.gid};
    int fd = memfd_create("memory", 0);
    CHECK(fd >= 0 && !ftruncate(fd, 4096));
#define GONE(call) CHECK((errno = 0, (call) && errno == EIO))
    GONE(ibv_query_device(e.ctx, &device));
    GONE(ibv_query_port(e.ctx, 1, &port));
    GONE(!ibv_alloc_pd(e.ctx));
    GONE(!ibv_reg_mr(e.pd, e.buffer, SIZE, IBV_ACCESS_LOCAL_WRITE));
    GONE(!ibv_reg_dmabuf_mr(e.pd, 0, 4096, 0, fd, IBV_ACCESS_LOCAL_WRITE));
    // Also those that a device which is there would refuse for another reason: no memory, no descriptor.
    GONE(!ibv_reg_mr(e.pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE));
    GONE(!ibv_reg_dmabuf_mr(e.pd, 0, 4096, 0, 12345, IBV_ACCESS_LOCAL_WRITE));
    GONE(!ibv_create_ah(e.pd, &to));
    GONE(!ibv_create_comp_channel(e.ctx));
    GONE(!ibv_create_cq(e.ctx, 16, NULL, NULL, 0));
    GONE(!create_qp(&e));
    GONE(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE));
    GONE(ibv_query_qp(e.qp, &attr, IBV_QP_STATE, &init));
    CHECK(!ibv_open_device(e.ctx->device)); // libibverbs looks for another file then, and tells of that one
    close(fd);
    // What waits is never completed, and what is posted now isn't either.
    struct ibv_wc wc;
    read_self(3);
    CHECK(!poll_for(&e, &wc, 0.05));
}

static void *wait_for_completion(void *result)
{
    struct ibv_cq *cq;
    void *context;
    errno = 0;
    *(int *)result = ibv_get_cq_event(e.channel, &cq, &context) ? errno : -1;
    return NULL;
}

static void *wait_for_event(void *result)
{
    struct ibv_async_event event;
    CHECK(!ibv_get_async_event(e.ctx, &event) && event.event_type == IBV_EVENT_DEVICE_FATAL);
    ibv_ack_async_event(&event);
    errno = 0;
    *(int *)result = ibv_get_async_event(e.ctx, &event) ? errno : -1;
    return NULL;
}

// What a kernel answers on a channel of a device that is gone, blocking or not. poll wakes.
static void ended(int fd)
{
    char bytes[16];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    CHECK(poll(&p, 1, 0) == 1);
    errno = 0;
    CHECK(read(fd, bytes, sizeof bytes) == -1 && errno == EIO);
    int flags = fcntl(fd, F_GETFL);
    CHECK(!fcntl(fd, F_SETFL, flags | O_NONBLOCK));
    errno = 0;
    CHECK(read(fd, bytes, sizeof bytes) == -1 && errno == EIO);
    CHECK(!fcntl(fd, F_SETFL, flags));
}

static void waiters(void)
{
    int results[2] = {0, 0};
    pthread_t threads[2], cancelled;
    struct timespec limit;
    void *end;
    CHECK(!ibv_req_notify_cq(e.cq, 0));
    // One that is cancelled in its sleep, as programs end such threads, unless the device goes first.
    CHECK(!pthread_create(&cancelled, NULL, wait_for_completion, &results[0]));
    CHECK(!pthread_cancel(cancelled) && !pthread_join(cancelled, &end) && (end == PTHREAD_CANCELED || results[0] == EIO));
    CHECK(!pthread_create(&threads[0], NULL, wait_for_completion, &results[0]));
    CHECK(!pthread_create(&threads[1], NULL, wait_for_event, &results[1]));
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 10;
    for (int i = 0; i < 2; i++) CHECK(!pthread_timedjoin_np(threads[i], NULL, &limit));
    if (results[0] != EIO || results[1] != EIO) {
        fprintf(stderr, "errno of ibv_get_cq_event %d, of the second ibv_get_async_event %d, expected EIO (-1: it succeeded)\n", results[0], results[1]);
        exit(1);
    }
    ended(e.channel->fd);
    ended(e.ctx->async_fd);
    errno = 0;
    CHECK(!ibv_alloc_pd(e.ctx) && errno == EIO);
}

static void port(void)
{
    struct ibv_port_attr attr;
    CHECK(!ibv_query_port(e.ctx, 1, &attr) && attr.state == IBV_PORT_ACTIVE);
    CHECK(next_event(5000) == IBV_EVENT_PORT_ERR);
    CHECK(!ibv_query_port(e.ctx, 1, &attr) && attr.state == IBV_PORT_DOWN);
    read_self(1);
    struct ibv_wc wc;
    CHECK(!poll_for(&e, &wc, 0.05));
    CHECK(next_event(5000) == IBV_EVENT_PORT_ACTIVE);
    CHECK(!ibv_query_port(e.ctx, 1, &attr) && attr.state == IBV_PORT_ACTIVE);
    expect(1, 0);
}

static struct ibv_qp *datagrams(void)
{
    struct ibv_qp_init_attr init = {.send_cq = e.cq, .recv_cq = e.cq, .qp_type = IBV_QPT_UD, .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(e.pd, &init);
    CHECK(qp);
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    a.qp_state = IBV_QPS_RTR;
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE));
    a.qp_state = IBV_QPS_RTS;
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN));
    return qp;
}

static void drop(void)
{
    enum { COUNT = 5, HEADER = 40 };
    struct ibv_qp *qp = datagrams();
    struct ibv_wc wc;
    for (uint64_t id = 1; id <= COUNT; id++) {
        struct ibv_sge to = {(uintptr_t)e.buffer + 4096 * id, 64, e.mr->lkey}, from = {(uintptr_t)e.buffer + id, 1, e.mr->lkey};
        struct ibv_recv_wr recv = {.wr_id = 100 + id, .sg_list = &to, .num_sge = 1}, *bad_recv;
        struct ibv_send_wr send = {.wr_id = id, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad_send;
        send.wr.ud.ah = self, send.wr.ud.remote_qpn = qp->qp_num, send.wr.ud.remote_qkey = QKEY;
        e.buffer[id] = id;
        CHECK(!ibv_post_recv(qp, &recv, &bad_recv) && !ibv_post_send(qp, &send, &bad_send));
    }
    unsigned sent = 0, came = 0;
    for (int i = 0; i < 2 * COUNT - 1; i++) {
        CHECK(poll_for(&e, &wc, 5) && wc.status == IBV_WC_SUCCESS);
        if (wc.wr_id < 100)
            sent |= 1u << wc.wr_id;
        else
            came |= 1u << e.buffer[4096 * (wc.wr_id - 100) + HEADER];
    }
    CHECK(!poll_for(&e, &wc, 0.05));
    CHECK(sent == (2u << COUNT) - 2 && came == (sent & ~(1u << 2)));
    CHECK(!ibv_destroy_qp(qp));
}

static void list(void)
{
    char statuses[61] = "";
    for (uint64_t id = 1; id <= 60; id++) {
        struct ibv_wc wc;
        post(&e, id, self, e.qp->qp_num, 1, 4096, 0, 64);
        CHECK(poll_for(&e, &wc, 5) && wc.wr_id == id);
        statuses[id - 1] = '0' + wc.vendor_err;
    }
    puts(statuses);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {
        {"status", status}, {"rnr", rnr},       {"rnr-patient", rnr_patient}, {"stall", stall},   {"delay", delay}, {"late-dma", late_dma}, {"cq-overflow", cq_overflow},
        {"fail", fail},     {"remove", removed}, {"waiters", waiters}, {"port", port},   {"list", list}, {"drop", drop},
    };
    for (size_t i = 0; argc == 2 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name)) continue;
        e.events = kinds[i].run == waiters;
        open_end(&e, 0, kinds[i].run == rnr ? 0 : -1);
        self = address(&e, e.gid);
        memset(e.buffer, 0x5a, 4096);
        kinds[i].run();
        CHECK(!ibv_destroy_ah(self));
        close_end(&e);
        return 0;
    }
    fprintf(stderr, "faults: which kind?\n");
    return 2;
}
