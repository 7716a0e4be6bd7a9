/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Adoption of what needs no queue pair, and so on every device: borrowed, owned, and with a destroy function of one's own. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "common.h"

static struct {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
} raw;

static struct {
    vbn_context *context;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_channel *channel;
    vbn_cq *cq;
} ours;

static uint8_t memory[8192];

static void make_raw(void) {
    const char *name = test_device();
    int count = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    if (!list) FAIL("ibv_get_device_list: errno %d", errno);
    raw.context = NULL;
    for (int i = 0; i < count && !raw.context; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0) raw.context = ibv_open_device(list[i]);
    ibv_free_device_list(list);
    CHECK(raw.context != NULL);
    CHECK((raw.pd = ibv_alloc_pd(raw.context)) != NULL);
    CHECK((raw.mr = ibv_reg_mr(raw.pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)) != NULL);
    CHECK((raw.channel = ibv_create_comp_channel(raw.context)) != NULL);
    CHECK((raw.cq = ibv_create_cq(raw.context, 16, NULL, raw.channel, 0)) != NULL);
}

static void free_raw(void) {
    CHECK_EQ(ibv_destroy_cq(raw.cq), 0);
    CHECK_EQ(ibv_destroy_comp_channel(raw.channel), 0);
    CHECK_EQ(ibv_dereg_mr(raw.mr), 0);
    CHECK_EQ(ibv_dealloc_pd(raw.pd), 0);
    CHECK_EQ(ibv_close_device(raw.context), 0);
}

static void adopt_all(const vbn_adopt_attr *attr) {
    CHECK_OK(vbn_context_adopt(raw.context, attr, &ours.context));
    CHECK_OK(vbn_pd_adopt(ours.context, raw.pd, attr, &ours.pd));
    CHECK_OK(vbn_mr_adopt(ours.pd, raw.mr, attr, &ours.mr));
    CHECK_OK(vbn_channel_adopt(ours.context, raw.channel, attr, &ours.channel));
    CHECK_OK(vbn_cq_adopt(ours.context, raw.cq, attr, &ours.cq));
}

/* The handles stand for the raw objects, and work. */
static void check_usable(void) {
    vbn_wc wc;
    uint32_t got = 99;
    CHECK_UEQ(vbn_mr_lkey(ours.mr), raw.mr->lkey);
    CHECK_UEQ(vbn_mr_remote_addr(ours.mr), (uint64_t)(uintptr_t)memory);
    CHECK_EQ(vbn_channel_fd(ours.channel), raw.channel->fd);
    CHECK_OK(vbn_cq_arm(ours.cq, 0));
    CHECK_STATUS(vbn_cq_wait(ours.cq, 1, &wc, 0, SECOND / 100, &got), VBN_ERR_TIMEOUT);
    vbn_mr *more = NULL;
    CHECK_OK(vbn_mr_reg(ours.pd, memory, 100, VBN_ACCESS_LOCAL_WRITE, NULL, &more));
    CHECK_OK(vbn_mr_close(&more));
}

static void close_handles(void) {
    CHECK_OK(vbn_cq_close(&ours.cq));
    CHECK_OK(vbn_channel_close(&ours.channel));
    CHECK_OK(vbn_mr_close(&ours.mr));
    CHECK_OK(vbn_pd_close(&ours.pd));
    CHECK_OK(vbn_context_close(&ours.context));
}

static int open_fds(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) != -1;
    return count;
}

/* Raw verbs can destroy each borrowed object afterwards: none is gone, none is busy. */
static void borrow(void) {
    make_raw();
    adopt_all(NULL);
    check_usable();
    close_handles();
    free_raw();
}

static void own(void) {
    int fds = open_fds();
    make_raw();
    CHECK(open_fds() > fds);
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = VBN_ADOPT_OWN};
    adopt_all(&attr);
    check_usable();
    close_handles();
    CHECK_EQ(open_fds(), fds);
}

static void own_parents_first(void) {
    int fds = open_fds();
    make_raw();
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = VBN_ADOPT_OWN};
    adopt_all(&attr);
    CHECK_OK(vbn_context_close(&ours.context));
    CHECK_OK(vbn_pd_close(&ours.pd));
    CHECK_OK(vbn_channel_close(&ours.channel));
    CHECK(open_fds() > fds);
    CHECK_UEQ(vbn_mr_lkey(ours.mr), raw.mr->lkey);
    CHECK_OK(vbn_mr_close(&ours.mr));
    CHECK_OK(vbn_cq_close(&ours.cq));
    CHECK_EQ(open_fds(), fds);
}

static int destroyed, answer;

static int destroy_cq(void *native, void *arg) {
    if (native != raw.cq || arg != &destroyed) return EINVAL;
    if (answer) return answer;
    destroyed++;
    return ibv_destroy_cq(native);
}

/* A refusal of the destroy function comes back, and the handle stays. */
static void custom(void) {
    make_raw();
    CHECK_OK(vbn_context_adopt(raw.context, NULL, &ours.context));
    CHECK_OK(vbn_channel_adopt(ours.context, raw.channel, NULL, &ours.channel));
    vbn_adopt_attr attr = {.struct_size = sizeof attr, .ownership = VBN_ADOPT_CUSTOM, .destroy = destroy_cq, .destroy_arg = &destroyed};
    CHECK_OK(vbn_cq_adopt(ours.context, raw.cq, &attr, &ours.cq));
    answer = EBUSY;
    destroyed = 0;
    CHECK_STATUS(vbn_cq_close(&ours.cq), VBN_ERR_BUSY);
    CHECK(ours.cq != NULL);
    CHECK_OK(vbn_cq_arm(ours.cq, 0));
    answer = 0;
    CHECK_OK(vbn_cq_close(&ours.cq));
    CHECK_EQ(destroyed, 1);
    CHECK_OK(vbn_channel_close(&ours.channel));
    CHECK_OK(vbn_context_close(&ours.context));
    CHECK_EQ(ibv_destroy_comp_channel(raw.channel), 0);
    CHECK_EQ(ibv_dereg_mr(raw.mr), 0);
    CHECK_EQ(ibv_dealloc_pd(raw.pd), 0);
    CHECK_EQ(ibv_close_device(raw.context), 0);
}

static const struct test tests[] = {
    {"borrow", borrow},
    {"own", own},
    {"own_parents_first", own_parents_first},
    {"custom", custom},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("adopt_no_qp", tests, argc, argv);
}
