/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What needs no queue pair, and so runs on every device: the handles of a device in every order of closing, and after a fork. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { CONTEXT, PD, MR, CHANNEL, CQ, KINDS };

struct objects {
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_channel *channel;
    vbn_cq *cq;
};

static struct objects o;
static uint8_t memory[8192];

static void open_all(struct objects *objects) {
    memset(objects, 0, sizeof *objects);
    CHECK_OK(vbn_context_open(test_device(), NULL, &objects->context));
    CHECK_OK(vbn_pd_alloc(objects->context, NULL, &objects->pd));
    CHECK_OK(vbn_mr_reg(objects->pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, NULL, &objects->mr));
    CHECK_OK(vbn_channel_create(objects->context, NULL, &objects->channel));
    vbn_cq_attr attr = {.struct_size = sizeof attr, .cqe = 16, .channel = objects->channel};
    CHECK_OK(vbn_cq_create(objects->context, &attr, &objects->cq));
}

static vbn_status close_kind(struct objects *objects, int kind) {
    switch (kind) {
    case CONTEXT: return vbn_context_close(&objects->context);
    case PD: return vbn_pd_close(&objects->pd);
    case MR: return vbn_mr_close(&objects->mr);
    case CHANNEL: return vbn_channel_close(&objects->channel);
    default: return vbn_cq_close(&objects->cq);
    }
}

static void close_all(struct objects *objects) {
    for (int kind = KINDS - 1; kind >= 0; kind--) CHECK_OK(close_kind(objects, kind));
}

/* The objects answer, and the device does: a region is registered and a queue polled, armed and waited for. */
static void check_usable(struct objects *objects) {
    vbn_mr *mr = NULL;
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_OK(vbn_mr_reg(objects->pd, memory + 100, 100, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    CHECK_UEQ(mr_info(mr).length, 100);
    CHECK(vbn_mr_lkey(mr) != vbn_mr_lkey(objects->mr));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_cq_arm(objects->cq, 0));
    CHECK_OK(vbn_cq_poll(objects->cq, 1, &wc, &got));
    CHECK_UEQ(got, 0);
    CHECK_STATUS(vbn_cq_wait(objects->cq, 1, &wc, 0, SECOND / 100, &got), VBN_ERR_TIMEOUT);
}

static int open_fds(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* ---- orders ---- */

static void in_order(const int *order, uint32_t number) {
    (void)number;
    int fds = open_fds();
    open_all(&o);
    for (int i = 0; i < KINDS; i++) {
        vbn_status status = close_kind(&o, order[i]);
        vbn_wc wc;
        uint32_t got;
        int good = status == VBN_OK && (!o.mr || vbn_mr_lkey(o.mr) != 0) && (!o.cq || vbn_cq_poll(o.cq, 1, &wc, &got) == VBN_OK);
        if (!good)
            FAIL("order %d %d %d %d %d, step %d: status %d, %s", order[0], order[1], order[2], order[3], order[4], i, status, test_last_error());
    }
    CHECK_EQ(open_fds(), fds);
}

static void all_orders(void) {
    int order[KINDS] = {CONTEXT, PD, MR, CHANNEL, CQ};
    open_all(&o); /* once before, so that what stays open for good is open */
    close_all(&o);
    CHECK_UEQ(test_orders(order, KINDS, in_order), 120);
}

static void live_counts(void) {
    open_all(&o);
    CHECK_OK(vbn_pd_close(&o.pd));
    CHECK_OK(vbn_channel_close(&o.channel));
    vbn_live_info live = live_info(o.context);
    CHECK_UEQ(live.pd_open + live.channel_open, 0);
    CHECK_UEQ(live.pd_closed, 1); /* the region's */
    CHECK_UEQ(live.channel_closed, 1); /* the queue's */
    CHECK_UEQ(live.mr_open, 1);
    CHECK_UEQ(live.cq_open, 1);
    CHECK_OK(vbn_mr_close(&o.mr));
    CHECK_OK(vbn_cq_close(&o.cq));
    live = live_info(o.context);
    CHECK_UEQ(live.pd_closed + live.channel_closed + live.mr_open + live.cq_open, 0);
    CHECK_OK(vbn_context_close(&o.context));
}

/* ---- fork ---- */

static void in_child(const char *name, void (*body)(void)) {
    struct test test = {name, body};
    pid_t pid = test_fork();
    if (pid == 0) exit(test_child("no_qp", &test)); /* with all that libraries have registered for an exit */
    CHECK(pid > 0);
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    if (status != 0) FAIL("the child failed: wait status 0x%x", status);
}

static void child_uses(void) {
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_mr_info mr = {.struct_size = sizeof mr};
    vbn_mr *made = NULL;
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_STATUS(vbn_context_query_device(o.context, &device), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_mr_query(o.mr, &mr), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_mr_reg(o.pd, memory, 100, 0, NULL, &made), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cq_arm(o.cq, 0), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cq_poll(o.cq, 1, &wc, &got), VBN_ERR_FORKED);
    CHECK_EQ(vbn_channel_fd(o.channel), -1);
    CHECK_UEQ(vbn_mr_lkey(o.mr), 0);
}

static void child_closes(void) {
    for (int kind = 0; kind < KINDS; kind++) CHECK_OK(close_kind(&o, kind));
}

static void child_opens(void) {
    struct objects own;
    open_all(&own);
    check_usable(&own);
    child_closes();
    check_usable(&own);
    close_all(&own);
}

static void child_leaves(void) {
}

static void fork_with(const char *name, void (*body)(void)) {
    open_all(&o);
    in_child(name, body);
    check_usable(&o);
    close_all(&o);
}

static void use_in_child(void) {
    fork_with("uses", child_uses);
}
static void close_in_child(void) {
    fork_with("closes", child_closes);
}
static void open_in_child(void) {
    fork_with("opens", child_opens);
}
static void exit_of_child(void) {
    fork_with("leaves", child_leaves);
}

/* A dma-buf, where the driver takes one: the second page of a descriptor that can be mapped, under an address of our choosing. */
static void dmabuf(void) {
    enum { PAGE = 4096, OFFSET = PAGE + 24, LENGTH = 1000 };
    const uint64_t iova = 0x7000000000 + 24;
    vbn_mr *mr = NULL;
    int fd = memfd_create("dmabuf", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, 4 * PAGE) == 0);
    open_all(&o);
    vbn_status status = vbn_mr_reg_dmabuf(o.pd, fd, OFFSET, LENGTH, iova, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, NULL, &mr);
    if (status == VBN_ERR_NOT_SUPPORTED) {
        vbn_error_info why = test_error();
        close_all(&o);
        close(fd);
        SKIP("%s", why.message);
    }
    CHECK_OK(status);
    vbn_mr_info info = mr_info(mr);
    CHECK_UEQ(info.addr, iova);
    CHECK_UEQ(info.remote_addr, iova);
    CHECK_UEQ(info.length, LENGTH);
    CHECK_EQ(info.kind, VBN_MR_DMABUF);
    CHECK(!info.memory);
    CHECK(fcntl(fd, F_GETFD) >= 0); /* not consumed */
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_STATUS(vbn_mr_reg_dmabuf(o.pd, fd, OFFSET, 4 * PAGE, iova, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    close_all(&o);
    close(fd);
}

/* What no EFA has: each is refused by name. */
static void what_an_efa_lacks(void) {
    static const uint8_t group[16] = {0xff, 0x0e, [15] = 7};
    vbn_device_attr device = {.struct_size = sizeof device};
    open_all(&o);
    CHECK_OK(vbn_context_query_device(o.context, &device));
    if (device.vendor_id != 0x1d0f) {
        close_all(&o);
        SKIP("the device is no EFA");
    }
    vbn_srq *srq = (vbn_srq *)memory;
    CHECK_STATUS(vbn_srq_create(o.pd, NULL, &srq), VBN_ERR_NOT_SUPPORTED);
    CHECK(srq == NULL);
    CHECK_HAS(test_error().message, "no shared receive queues on efa_0; an EFA never has");
    vbn_qp *qp = NULL;
    vbn_qp_init_attr uc = {.struct_size = sizeof uc, .send_cq = o.cq, .qp_type = VBN_QPT_UC};
    CHECK_STATUS(vbn_qp_create(o.pd, &uc, &qp), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "VBN_QPT_SRD or VBN_QPT_UD");
    static const int32_t xrc[] = {VBN_QPT_XRC_SEND, VBN_QPT_XRC_RECV};
    for (int i = 0; i < 2; i++) {
        vbn_qp_init_attr attr = {.struct_size = sizeof attr, .send_cq = o.cq, .qp_type = xrc[i]};
        CHECK_STATUS(vbn_qp_create(o.pd, &attr, &qp), VBN_ERR_NOT_SUPPORTED);
        CHECK_HAS(test_error().message, "XRC");
    }
    int domain; /* never looked at */
    vbn_srq_attr shared = {.struct_size = sizeof shared, .srq_type = VBN_SRQT_XRC, .xrcd = (struct ibv_xrcd *)&domain, .cq = o.cq};
    CHECK_STATUS(vbn_srq_create(o.pd, &shared, &srq), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "an EFA never has");
    shared = (vbn_srq_attr){.struct_size = sizeof shared, .srq_type = VBN_SRQT_TM, .cq = o.cq, .max_num_tags = 8, .max_ops = 8};
    CHECK_STATUS(vbn_srq_create(o.pd, &shared, &srq), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "an EFA never has");
    for (int32_t type = VBN_MW_TYPE_1; type <= VBN_MW_TYPE_2; type++) {
        vbn_mw *mw = (vbn_mw *)memory;
        CHECK_STATUS(vbn_mw_alloc(o.pd, type, NULL, &mw), VBN_ERR_NOT_SUPPORTED);
        CHECK(mw == NULL);
        test_note("%s", test_error().message);
    }
    static const uint64_t ops[] = {VBN_QP_OP_ATOMIC_CMP_AND_SWP, VBN_QP_OP_ATOMIC_FETCH_AND_ADD, VBN_QP_OP_SEND_WITH_INV, VBN_QP_OP_LOCAL_INV,
                                   VBN_QP_OP_BIND_MW, VBN_QP_OP_FLUSH, VBN_QP_OP_ATOMIC_WRITE};
    for (unsigned i = 0; i < 2 * sizeof ops / sizeof *ops; i++) {
        vbn_qp_init_attr attr = {
            .struct_size = sizeof attr, .send_cq = o.cq, .qp_type = i % 2 ? VBN_QPT_UD : VBN_QPT_SRD, .send_ops = VBN_QP_OP_SEND | ops[i / 2],
        };
        CHECK_STATUS(vbn_qp_create(o.pd, &attr, &qp), VBN_ERR_NOT_SUPPORTED);
        CHECK(qp == NULL);
        CHECK_UEQ(test_error().value, ops[i / 2]);
        CHECK_HAS(test_error().message, "send_ops");
    }
    vbn_qp_init_attr ud = {.struct_size = sizeof ud, .send_cq = o.cq, .qp_type = VBN_QPT_UD};
    CHECK_OK(vbn_qp_create(o.pd, &ud, &qp));
    CHECK_STATUS(vbn_qp_attach_mcast(qp, group, 0), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "multicast is not supported by device");
    vbn_wc wc = {.opcode = VBN_WC_RECV};
    vbn_ah *ah = NULL;
    CHECK_STATUS(vbn_ah_from_wc(o.pd, &wc, memory, 1, &ah), VBN_ERR_NOT_SUPPORTED);
    CHECK_HAS(test_error().message, "EFA");
    CHECK_OK(vbn_qp_close(&qp));
    close_all(&o);
}

static const struct test tests[] = {
    {"dmabuf", dmabuf},
    {"all_orders", all_orders},
    {"live_counts", live_counts},
    {"use_in_child", use_in_child},
    {"close_in_child", close_in_child},
    {"open_in_child", open_in_child},
    {"exit_of_child", exit_of_child},
    {"what_an_efa_lacks", what_an_efa_lacks},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("no_qp", tests, argc, argv);
}
