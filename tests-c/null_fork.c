/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A forked child: inherited handles answer "forked", closing them leaves the device alone, and the parent goes on. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "null_flow.h"

static struct rig g;

#define FORKED(call) WANT(call, VBN_ERR_FORKED)

static void every_call_says_forked(void)
{
    NEW(vbn_context_info, context);
    NEW(vbn_device_attr, device);
    NEW(vbn_port_attr, port);
    NEW(vbn_async_event, event);
    NEW(vbn_live_info, live);
    NEW(vbn_pd_info, pd);
    NEW(vbn_mr_info, mr);
    NEW(vbn_channel_info, channel);
    NEW(vbn_cq_event, cq_event);
    NEW(vbn_cq_info, cq);
    NEW(vbn_cq_attr, cq_attr);
    NEW(vbn_qp_info, qp);
    NEW(vbn_qp_attr, qp_attr);
    NEW(vbn_qp_init_attr, init);
    vbn_rc_record local, remote;
    vbn_send_wr send = {.opcode = VBN_WR_SEND};
    vbn_recv_wr recv = {0};
    uint32_t posted = 77, got = 77, count = 77;
    uint64_t covered;
    uint16_t pkey;
    uint8_t gid[16];
    vbn_sge sge;
    vbn_wc wc;
    void *out = &out;

    memset(&local, 0, sizeof(local));
    local.port_num = local.mtu = 1;
    remote = local;
    cq_attr.cqe = 1;
    init.send_cq = g.cq;
    qp_attr.set = VBN_QP_STATE;
    FORKED(vbn_context_query(g.context, &context));
    WANT_TEXT("fork");
    FORKED(vbn_context_query_device(g.context, &device));
    FORKED(vbn_context_query_port(g.context, 1, &port));
    FORKED(vbn_context_query_gid(g.context, 1, 0, gid));
    FORKED(vbn_context_query_pkey(g.context, 1, 0, &pkey));
    FORKED(vbn_context_gid_table(g.context, NULL, 0, 0, &count));
    FORKED(vbn_gid_select(g.context, 1, NULL, NULL, NULL, 0, 0, NULL));
    FORKED(vbn_context_get_async_event(g.context, -1, &event));
    FORKED(vbn_context_live(g.context, &live));
    FORKED(vbn_context_native(g.context, (struct ibv_context **)(void *)&out));
    FORKED(vbn_context_release(&g.context, (struct ibv_context **)(void *)&out));
    MUST(out == &out, "a native pointer was lent");
    FORKED(vbn_pd_alloc(g.context, NULL, (vbn_pd **)(void *)&out));
    FORKED(vbn_channel_create(g.context, NULL, (vbn_channel **)(void *)&out));
    FORKED(vbn_cq_create(g.context, &cq_attr, (vbn_cq **)(void *)&out));
    FORKED(vbn_qp_create(g.pd, &init, (vbn_qp **)(void *)&out));
    FORKED(vbn_mr_reg(g.pd, rig_memory, 1, 0, NULL, (vbn_mr **)(void *)&out));
    FORKED(vbn_mr_reg_dmabuf(g.pd, 5, 0, 1, 0, 0, NULL, (vbn_mr **)(void *)&out));
    FORKED(vbn_pd_adopt(g.context, g.ibv_pd, NULL, (vbn_pd **)(void *)&out));
    FORKED(vbn_cq_adopt(g.context, g.ibv_cq, NULL, (vbn_cq **)(void *)&out));
    FORKED(vbn_channel_adopt(g.context, g.ibv_channel, NULL, (vbn_channel **)(void *)&out));
    FORKED(vbn_mr_adopt(g.pd, g.ibv_mr, NULL, (vbn_mr **)(void *)&out));
    FORKED(vbn_qp_adopt(g.pd, g.ibv_qp, NULL, (vbn_qp **)(void *)&out));
    MUST(!out, "*out");
    out = &out;
    FORKED(vbn_pd_query(g.pd, &pd));
    FORKED(vbn_pd_native(g.pd, (struct ibv_pd **)(void *)&out));
    FORKED(vbn_pd_release(&g.pd, (struct ibv_pd **)(void *)&out));
    FORKED(vbn_mr_query(g.mr, &mr));
    FORKED(vbn_mr_segments(g.mr, 0, 1, 0, &sge, 1, &count, &covered));
    FORKED(vbn_mr_native(g.mr, (struct ibv_mr **)(void *)&out));
    FORKED(vbn_mr_release(&g.mr, (struct ibv_mr **)(void *)&out));
    FORKED(vbn_channel_query(g.channel, &channel));
    FORKED(vbn_channel_get_event(g.channel, -1, &cq_event));
    FORKED(vbn_channel_native(g.channel, (struct ibv_comp_channel **)(void *)&out));
    FORKED(vbn_channel_release(&g.channel, (struct ibv_comp_channel **)(void *)&out));
    FORKED(vbn_cq_query(g.cq, &cq));
    FORKED(vbn_cq_arm(g.cq, 0));
    FORKED(vbn_cq_poll(g.cq, 1, &wc, &got));
    MUST(!got, "got %u", got);
    FORKED(vbn_cq_wait(g.cq, 1, &wc, 0, -1, &got));
    FORKED(vbn_cq_native(g.cq, (struct ibv_cq **)(void *)&out));
    FORKED(vbn_cq_release(&g.cq, (struct ibv_cq **)(void *)&out));
    FORKED(vbn_qp_query(g.qp, &qp));
    FORKED(vbn_qp_modify(g.qp, &qp_attr));
    FORKED(vbn_qp_post_send(g.qp, &send, 1, &posted));
    MUST(!posted, "posted %u", posted);
    posted = 77;
    FORKED(vbn_qp_post_recv(g.qp, &recv, 1, &posted));
    MUST(!posted, "posted %u", posted);
    FORKED(vbn_qp_first_error(g.qp, &wc));
    FORKED(vbn_qp_native(g.qp, (struct ibv_qp **)(void *)&out));
    FORKED(vbn_qp_release(&g.qp, (struct ibv_qp **)(void *)&out));
    MUST(out == &out, "a native pointer was lent");
    FORKED(vbn_rc_record_local(g.qp, NULL, &local));
    FORKED(vbn_qp_to_init(g.qp, NULL));
    FORKED(vbn_qp_to_rtr(g.qp, &local, &remote, NULL));
    FORKED(vbn_qp_to_rts(g.qp, &local, NULL));
    FORKED(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    MUST(!vbn_qp_num(g.qp) && !vbn_mr_lkey(g.mr) && !vbn_mr_rkey(g.mr) && !vbn_mr_remote_addr(g.mr) && vbn_channel_fd(g.channel) == -1,
         "a value of an inherited handle");
}

/* In any order, and a second time. The child's copy of the provider must not be called at all. */
static void closing_touches_nothing(void)
{
    struct nullv_live before, after;
    vbn_pd *stale = g.pd;

    null.live(&before);
    null.fail("*", 0, EFAULT);
    null.fail("ibv_close_device", 0, EFAULT);
    OK(vbn_context_close(&g.context));
    OK(vbn_pd_close(&g.pd));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_qp_close(&g.qp));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_mr_close(&g.mr));
    MUST(!g.context && !g.pd && !g.cq && !g.qp && !g.channel && !g.mr, "a handle is left");
    null.live(&after);
    MUST(!memcmp(&before, &after, sizeof(after)), "the provider was called");
    MUST(null.pending() == 2, "the scripts have gone");
    WANT(vbn_pd_close(&stale), VBN_ERR_CLOSED);
}

static void calls_and_closes(void)
{
    every_call_says_forked();
    closing_touches_nothing();
}

/* A child may open the device anew. */
static void a_device_of_its_own(void)
{
    struct rig inherited = g, own;
    NEW(vbn_pd_info, info);

    own = rig_open();
    FORKED(vbn_pd_query(inherited.pd, &info));
    OK(vbn_pd_query(own.pd, &info));
    rig_close(&own);
}

static void nothing_at_all(void) {}

/* The child's verdict is its exit status, its words are its output. */
static void in_child(void (*body)(void))
{
    const struct test one[] = {{"in_child", body}, {NULL, NULL}};
    char output[4096], *verdict;
    int fds[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t child;

    fflush(stdout);
    MUST(!pipe(fds), "pipe");
    child = fork();
    MUST(child >= 0, "fork");
    if (!child) {
        char program[] = "child", *arguments[] = {program, NULL};

        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        if (test_main("child", one, 1, arguments))
            _exit(1);
        /* Another program, since leak checkers would find what the parent's other threads had allocated, and blame the child. */
        execlp("true", "true", (char *)NULL);
        _exit(2);
    }
    close(fds[1]);
    while (n < sizeof(output) - 1 && (got = read(fds[0], output + n, sizeof(output) - 1 - n)) > 0)
        n += (size_t)got;
    output[n] = '\0';
    close(fds[0]);
    MUST(waitpid(child, &status, 0) == child, "waitpid");
    output[strcspn(output, "\n")] = '\0';
    verdict = strstr(output, ": ");
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s (wait status 0x%x)", verdict ? verdict + 2 : output, (unsigned)status);
}

/* Before and after, the parent's objects work; in between a child does what it likes. */
static void with_child(void (*body)(void))
{
    vbn_send_wr wr = {.opcode = VBN_WR_SEND};
    uint32_t posted;

    null_begin();
    g = rig_open();
    OK(vbn_qp_post_send(g.qp, &wr, 1, &posted));
    in_child(body);
    OK(vbn_qp_post_send(g.qp, &wr, 1, &posted));
    MUST(vbn_qp_num(g.qp) == g.qpn, "the parent's queue pair");
    rig_close(&g);
    null_clean();
}

static void inherited_handles(void) { with_child(calls_and_closes); }
static void opening_anew(void) { with_child(a_device_of_its_own); }
static void leaving_at_once(void) { with_child(nothing_at_all); }

static void grandchild_of(void) { in_child(calls_and_closes); }
static void grandchildren(void) { with_child(grandchild_of); }

/* Forking while other threads open and close: no lock stays taken in the child. */
static int stop;

static void *churn(void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        vbn_context *context;
        vbn_pd *pd;

        if (vbn_context_open("null1", NULL, &context) || vbn_pd_alloc(context, NULL, &pd) || vbn_pd_close(&pd) || vbn_context_close(&context))
            return NULL;
    }
    return arg;
}

/* The null provider isn't made for forks, so this stays in libverbena. */
static void look_around(void)
{
    NEW(vbn_context_info, info);
    NEW(vbn_library_info, library);

    FORKED(vbn_context_query(g.context, &info));
    OK(vbn_library_query(VBN_LIBRARY_IBVERBS, &library));
    OK(vbn_qp_close(&g.qp));
    OK(vbn_cq_close(&g.cq));
    OK(vbn_mr_close(&g.mr));
    OK(vbn_pd_close(&g.pd));
    OK(vbn_channel_close(&g.channel));
    OK(vbn_context_close(&g.context));
}

static void forks_among_threads(void)
{
    pthread_t threads[2];
    void *result;

    null_begin();
    g = rig_open();
    stop = 0;
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        MUST(!pthread_create(&threads[i], NULL, churn, threads), "pthread_create");
    for (int i = 0; i < 40; i++)
        in_child(look_around);
    stop = 1;
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        pthread_join(threads[i], &result);
        MUST(result == threads, "a thread failed: opening and closing in the parent");
    }
    rig_close(&g);
    null_clean();
}

static vbn_flow *rule;
static vbn_counters *counters;

static void rules_are_the_parents(void)
{
    uint64_t value;
    vbn_flow *other;

    FORKED(vbn_counters_read(counters, &value, 1, 0));
    FORKED(vbn_counters_attach(counters, rule, VBN_COUNTER_BYTES, 0));
    FORKED(vbn_flow_create(g.qp, NULL, NULL, 0, &other));
    OK(vbn_qp_close(&g.qp));
    OK(vbn_counters_close(&counters));
    OK(vbn_flow_close(&rule));
    MUST(steering.flows == 1 && steering.counters == 1, "%d rules, %d counters", steering.flows, steering.counters);
}

static void rules(void)
{
    vbn_flow_spec spec = {.type = VBN_FLOW_SPEC_ACTION_COUNT};

    null_begin();
    memset(&steering, 0, sizeof(steering));
    g = rig_open();
    steer(g.ibv_context);
    OK(vbn_counters_create(g.context, NULL, &counters));
    spec.counters = counters;
    OK(vbn_flow_create(g.qp, NULL, &spec, 1, &rule));
    in_child(rules_are_the_parents);
    OK(vbn_flow_close(&rule));
    OK(vbn_counters_close(&counters));
    MUST(!steering.flows && !steering.counters, "%d rules, %d counters", steering.flows, steering.counters);
    rig_close(&g);
    null_clean();
}

static const struct test tests[] = {
    {"inherited_handles", inherited_handles},
    {"opening_anew", opening_anew},
    {"leaving_at_once", leaving_at_once},
    {"grandchildren", grandchildren},
    {"forks_among_threads", forks_among_threads},
    {"rules", rules},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_fork", tests, argc, argv);
}
