/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A forked child can't use what it inherited and can't harm it, and can open the device anew. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

static struct pair p;

/* Runs a test body in a child and waits for it: its failure is this test's. */
static void in_child(const char *name, void (*body)(void)) {
    struct test test = {name, body};
    pid_t pid = test_fork();
    if (pid == 0) exit(test_child("fork_child", &test)); /* with all that libraries have registered for an exit */
    CHECK(pid > 0);
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    if (status != 0) FAIL("the child failed: wait status 0x%x", status);
}

/* Every kind of call on every kind of handle. */
static void all_answer_forked(void) {
    struct side *a = &p.a;
    vbn_context_info context = {.struct_size = sizeof context};
    vbn_device_attr device = {.struct_size = sizeof device};
    vbn_port_attr port = {.struct_size = sizeof port};
    vbn_async_event async = {.struct_size = sizeof async};
    vbn_pd_info pd = {.struct_size = sizeof pd};
    vbn_mr_info mr = {.struct_size = sizeof mr};
    vbn_cq_info cq = {.struct_size = sizeof cq};
    vbn_qp_info qp = {.struct_size = sizeof qp};
    vbn_channel_info channel = {.struct_size = sizeof channel};
    vbn_cq_event event = {.struct_size = sizeof event};
    CHECK_STATUS(vbn_context_query(a->context, &context), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_context_query_device(a->context, &device), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_context_query_port(a->context, 1, &port), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_context_get_async_event(a->context, 0, &async), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_pd_query(a->pd, &pd), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_mr_query(a->mr, &mr), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cq_query(a->cq, &cq), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_qp_query(a->qp, &qp), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_channel_query(a->channel, &channel), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_channel_get_event(a->channel, 0, &event), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cq_arm(a->cq, 0), VBN_ERR_FORKED);
    CHECK_HAS(test_error().message, "fork");
    CHECK_UEQ(vbn_mr_lkey(a->mr), 0);
    CHECK_UEQ(vbn_qp_num(a->qp), 0);
    CHECK_EQ(vbn_channel_fd(a->channel), -1);
}

static void posting_answers_forked(void) {
    vbn_send_wr send = {.opcode = VBN_WR_RDMA_WRITE, .flags = VBN_SEND_SIGNALED};
    vbn_recv_wr recv = {.num_sge = 0};
    vbn_wc wc;
    uint32_t n = 99;
    CHECK_STATUS(vbn_qp_post_send(p.a.qp, &send, 1, &n), VBN_ERR_FORKED);
    CHECK_UEQ(n, 0);
    n = 99;
    CHECK_STATUS(vbn_qp_post_recv(p.a.qp, &recv, 1, &n), VBN_ERR_FORKED);
    CHECK_UEQ(n, 0);
    n = 99;
    CHECK_STATUS(vbn_cq_poll(p.a.cq, 1, &wc, &n), VBN_ERR_FORKED);
    CHECK_UEQ(n, 0);
    n = 99;
    CHECK_STATUS(vbn_cq_wait(p.a.cq, 1, &wc, 0, PATIENCE, &n), VBN_ERR_FORKED);
    CHECK_UEQ(n, 0);
    vbn_qp_attr attr = {.struct_size = sizeof attr, .set = VBN_QP_STATE, .qp_state = VBN_QPS_ERR};
    CHECK_STATUS(vbn_qp_modify(p.a.qp, &attr), VBN_ERR_FORKED);
}

static void making_answers_forked(void) {
    vbn_pd *pd = NULL;
    vbn_mr *mr = NULL;
    vbn_cq *cq = NULL;
    vbn_qp *qp = NULL;
    vbn_cq_attr cq_attr = {.struct_size = sizeof cq_attr, .cqe = 4};
    vbn_qp_init_attr qp_attr = {.struct_size = sizeof qp_attr, .send_cq = p.a.cq};
    CHECK_STATUS(vbn_pd_alloc(p.a.context, NULL, &pd), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_mr_reg(p.a.pd, p.a.memory, 100, 0, NULL, &mr), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_cq_create(p.a.context, &cq_attr, &cq), VBN_ERR_FORKED);
    CHECK_STATUS(vbn_qp_create(p.a.pd, &qp_attr, &qp), VBN_ERR_FORKED);
    CHECK(!pd && !mr && !cq && !qp);
}

static void child_uses(void) {
    all_answer_forked();
    posting_answers_forked();
    making_answers_forked();
}

/* Closing succeeds and frees memory, in any order. */
static void child_closes(void) {
    CHECK_OK(vbn_context_close(&p.a.context));
    CHECK_OK(vbn_pd_close(&p.a.pd));
    CHECK_OK(vbn_qp_close(&p.a.qp));
    CHECK_OK(vbn_mr_close(&p.a.mr));
    CHECK_OK(vbn_cq_close(&p.a.cq));
    CHECK_OK(vbn_channel_close(&p.a.channel));
    side_close(&p.b);
    CHECK(!p.a.context && !p.a.pd && !p.a.qp && !p.a.mr && !p.a.cq && !p.a.channel);
}

static void use_in_child(void) {
    pair_open_connected(&p, NULL);
    in_child("uses", child_uses);
    check_alive(&p);
    pair_close(&p);
}

static void close_in_child(void) {
    pair_open_connected(&p, NULL);
    check_alive(&p);
    in_child("closes", child_closes);
    for (int i = 0; i < 10; i++) check_alive(&p);
    CHECK_EQ(qp_state(p.a.qp), VBN_QPS_RTS);
    pair_close(&p);
}

/* The child exits without closing anything: exit runs no destructors of ours, either. */
static void leave(void) {
}

static void exit_of_child(void) {
    pair_open_connected(&p, NULL);
    in_child("leaves", leave);
    check_alive(&p);
    pair_close(&p);
}

/* Anew in the child, while the parent's go on; also what was closed first is no hindrance. */
static void child_opens(void) {
    struct pair own;
    pair_open_connected(&own, NULL);
    check_alive(&own);
    child_closes();
    check_alive(&own);
    pair_close(&own);
}

static void open_in_child(void) {
    pair_open_connected(&p, NULL);
    in_child("opens", child_opens);
    check_alive(&p);
    pair_close(&p);
}

/* Traffic under way during fork, close in the child and exit. */
static void under_way(void) {
    pair_open_connected(&p, NULL);
    for (int round = 0; round < 3; round++) {
        fill(p.a.memory, p.a.size, 90 + (uint32_t)round);
        memset(p.b.memory, 0, p.b.size);
        vbn_send_wr wr = send_wr(&p.a, &p.b, VBN_WR_RDMA_WRITE, 1, 0, 65536);
        post_send(&p.a, &wr);
        in_child("closes", child_closes);
        next_ok(&p.a, 1);
        CHECK_MEM(p.b.memory, p.a.memory, p.a.size);
    }
    pair_close(&p);
}

/* A grandchild is a child of a child: it can't use the child's handles. */
static void child_of_child(void) {
    struct pair own = p;
    pair_open_connected(&p, NULL);
    in_child("uses", child_uses);
    in_child("closes", child_closes);
    check_alive(&p);
    pair_close(&p);
    p = own;
    child_uses();
    child_closes();
}

static void grandchild(void) {
    pair_open_connected(&p, NULL);
    in_child("child_of_child", child_of_child);
    check_alive(&p);
    pair_close(&p);
}

/* The list of devices needs no handle. */
static void child_lists(void) {
    uint32_t count = 0;
    CHECK_OK(vbn_device_list(NULL, sizeof(vbn_device_info), 0, &count));
    CHECK(count > 0);
}

static void list_in_child(void) {
    test_device();
    in_child("lists", child_lists);
}

static void fork_init(void) {
    test_device();
    vbn_library_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_library_query(VBN_LIBRARY_IBVERBS, &info));
    test_note("fork state %d", info.fork_state);
    CHECK(info.fork_state >= VBN_FORK_UNKNOWN && info.fork_state <= VBN_FORK_UNNEEDED);
    if (info.fork_state == VBN_FORK_UNNEEDED) {
        CHECK_OK(vbn_fork_init());
        CHECK_OK(vbn_fork_init());
    }
}

static const struct test tests[] = {
    {"use_in_child", use_in_child},
    {"close_in_child", close_in_child},
    {"exit_of_child", exit_of_child},
    {"open_in_child", open_in_child},
    {"under_way", under_way},
    {"grandchild", grandchild},
    {"list_in_child", list_in_child},
    {"fork_init", fork_init},
    {NULL, NULL},
};

int main(int argc, char **argv) {
    return test_main("fork_child", tests, argc, argv);
}
