/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Four threads at once: loading, opening, making, posting, closing; and each with an error record of its own. */
#include <pthread.h>
#include "null_help.h"

enum { THREADS = 4 };

static int rounds(int usual)
{
    const char *divisor = getenv("VBN_TEST_STRIDE");

    return divisor ? usual / 10 : usual;
}

struct worker {
    pthread_t thread;
    int number;
    int rounds;
    char failure[1200];   /* empty: none */
};

static pthread_barrier_t barrier;

/* In a thread nothing may end the test, so the first failure is written down. */
static int fails(struct worker *w, const char *call, vbn_status status, vbn_status want)
{
    if (status == want)
        return 0;
    snprintf(w->failure, sizeof(w->failure), "thread %d: %s: %s, %s", w->number, call, vbn_status_name(status), last()->message);
    return 1;
}
#define TRY(call) if (fails(w, #call, (call), VBN_OK)) return NULL

static void run(void *(*body)(void *), int how_many)
{
    struct worker workers[THREADS];

    memset(workers, 0, sizeof(workers));
    MUST(!pthread_barrier_init(&barrier, NULL, THREADS), "barrier");
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].rounds = how_many;
        MUST(!pthread_create(&workers[i].thread, NULL, body, &workers[i]), "pthread_create");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < THREADS; i++)
        MUST(!workers[i].failure[0], "%s", workers[i].failure);
}

/* The whole life of a queue pair, on a context of one's own or a shared one. */
static void *life(struct worker *w, vbn_context *shared)
{
    static char memory[THREADS][4096] __attribute__((aligned(4096)));

    for (int round = 0; round < w->rounds; round++) {
        NEW(vbn_cq_attr, cq_attr);
        NEW(vbn_qp_init_attr, qp_attr);
        vbn_send_wr wr = {.opcode = VBN_WR_SEND, .wr_id = (uint64_t)round};
        vbn_context *context = shared, *own = NULL;
        vbn_channel *channel;
        vbn_pd *pd;
        vbn_mr *mr;
        vbn_cq *cq;
        vbn_qp *qp;
        uint32_t n;
        vbn_wc wc;

        if (!shared) {
            TRY(vbn_context_open(w->number % 2 ? "null0" : "null1", NULL, &own));
            context = own;
        }
        TRY(vbn_pd_alloc(context, NULL, &pd));
        TRY(vbn_mr_reg(pd, memory[w->number], 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
        TRY(vbn_channel_create(context, NULL, &channel));
        cq_attr.cqe = 16;
        cq_attr.channel = channel;
        TRY(vbn_cq_create(context, &cq_attr, &cq));
        qp_attr.send_cq = cq;
        TRY(vbn_qp_create(pd, &qp_attr, &qp));
        TRY(vbn_qp_post_send(qp, &wr, 1, &n));
        TRY(vbn_cq_poll(cq, 1, &wc, &n));
        /* Parents first every other time. */
        if (round % 2) {
            if (own)
                TRY(vbn_context_close(&own));
            TRY(vbn_pd_close(&pd));
            TRY(vbn_channel_close(&channel));
            TRY(vbn_cq_close(&cq));
        }
        TRY(vbn_qp_close(&qp));
        TRY(vbn_mr_close(&mr));
        TRY(vbn_cq_close(&cq));
        TRY(vbn_channel_close(&channel));
        TRY(vbn_pd_close(&pd));
        TRY(vbn_context_close(&own));
    }
    return NULL;
}

static void *own_context(void *arg)
{
    pthread_barrier_wait(&barrier);
    return life(arg, NULL);
}

static vbn_context *shared_context;

static void *on_shared_context(void *arg)
{
    pthread_barrier_wait(&barrier);
    return life(arg, shared_context);
}

/* The first of all: the library isn't loaded yet, and all four want it. */
static void loading_at_once(void)
{
    null_begin();
    run(own_context, 1);
    null_clean();
}

static void own_contexts(void)
{
    null_begin();
    run(own_context, rounds(500));
    null_clean();
}

static void one_context(void)
{
    null_begin();
    OK(vbn_context_open("null0", NULL, &shared_context));
    run(on_shared_context, rounds(500));
    OK(vbn_context_close(&shared_context));
    null_clean();
}

/* Each thread fails in its own way and finds its own record. */
static void *own_error(void *arg)
{
    struct worker *w = arg;

    for (int round = 0; round < w->rounds; round++) {
        vbn_wc wc = {.status = w->number + 1, .vendor_err = (uint32_t)round, .qp_num = (uint32_t)w->number};
        const vbn_error_info *e;

        fails(w, "vbn_wc_check", vbn_wc_check(&wc), VBN_ERR_COMPLETION);
        pthread_barrier_wait(&barrier);
        e = last();
        if (e->status != VBN_ERR_COMPLETION || e->value != (uint64_t)w->number + 1 || e->vendor_code != round) {
            snprintf(w->failure, sizeof(w->failure), "thread %d has the record of another: %s", w->number, e->message);
            /* The others wait at the barrier: go on. */
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void errors_are_per_thread(void)
{
    vbn_wc wc = {.status = 20};

    WANT(vbn_wc_check(&wc), VBN_ERR_COMPLETION);
    run(own_error, rounds(200));
    MUST(last()->value == 20, "a thread has overwritten the main thread's record");
}

/* A new thread has no error. */
static void *no_error(void *arg)
{
    struct worker *w = arg;
    const vbn_error_info *e = last();

    if (e->status != VBN_OK || e->op || e->op_name[0] || !e->message[0])
        snprintf(w->failure, sizeof(w->failure), "a new thread's record: %s", e->message);
    return NULL;
}

static void a_new_thread_has_no_error(void)
{
    vbn_wc wc = {.status = 20};

    WANT(vbn_wc_check(&wc), VBN_ERR_COMPLETION);
    run(no_error, 1);
}

/* Queries against closes of the same objects: each call finds the object live or closed, and nothing breaks. */
static struct rig g;

static void *query_or_closed(void *arg)
{
    struct worker *w = arg;
    struct rig handles = g;
    int closer = w->number == 0;

    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2000 && !closer; i++) {
        NEW(vbn_context_info, context);
        NEW(vbn_pd_info, pd);
        NEW(vbn_cq_info, cq);
        NEW(vbn_mr_info, mr);
        NEW(vbn_live_info, info);
        const vbn_status statuses[] = {
            vbn_context_query(handles.context, &context), vbn_pd_query(handles.pd, &pd), vbn_cq_query(handles.cq, &cq),
            vbn_mr_query(handles.mr, &mr), vbn_context_live(handles.context, &info),
        };

        for (size_t k = 0; k < ARRAY_SIZE(statuses); k++)
            if (statuses[k] != VBN_OK && fails(w, "query", statuses[k], VBN_ERR_CLOSED))
                return NULL;
    }
    if (closer) {
        TRY(vbn_context_close(&handles.context));
        TRY(vbn_qp_close(&handles.qp));
        TRY(vbn_mr_close(&handles.mr));
        TRY(vbn_pd_close(&handles.pd));
        TRY(vbn_cq_close(&handles.cq));
        TRY(vbn_channel_close(&handles.channel));
    }
    return NULL;
}

static void queries_against_closes(void)
{
    null_begin();
    for (int round = 0; round < rounds(30); round++) {
        g = rig_open();
        run(query_or_closed, 1);
        null_clean();
    }
}

/* Many poll and post while one looks at failures: first_error is written once and read whole. */
static void *poll_failures(void *arg)
{
    struct worker *w = arg;
    vbn_wc wcs[4];
    uint32_t n;

    pthread_barrier_wait(&barrier);
    for (int round = 0; round < w->rounds; round++) {
        vbn_wc wc = {0};
        vbn_status status;

        TRY(vbn_cq_poll(g.cq, 4, wcs, &n));
        status = vbn_qp_first_error(g.qp, &wc);
        if (status != VBN_ERR_NOT_FOUND && fails(w, "vbn_qp_first_error", status, VBN_OK))
            return NULL;
        if (!status && (wc.wr_id != wc.vendor_err || wc.status != VBN_WC_RETRY_EXC_ERR || !wc.wr_id))
            snprintf(w->failure, sizeof(w->failure), "a torn completion");
    }
    return NULL;
}

static void first_error_is_whole(void)
{
    vbn_wc first;

    null_begin();
    g = rig_open();
    for (uint32_t i = 1; i <= 2000; i++) {
        struct ibv_wc wc = {.wr_id = i, .vendor_err = i, .status = IBV_WC_RETRY_EXC_ERR, .qp_num = g.qpn};

        null.push_wc_to(g.ibv_cq, &wc);
    }
    run(poll_failures, rounds(1000));
    OK(vbn_qp_first_error(g.qp, &first));
    /* Which one it is depends on the threads. */
    MUST(first.wr_id >= 1 && first.wr_id <= 2000, "the first error is that of request %llu", (unsigned long long)first.wr_id);
    rig_close(&g);
    null_clean();
}

/* Threads wait for events; each event goes to one of them. */
static unsigned events_taken;

static void *take_events(void *arg)
{
    struct worker *w = arg;

    pthread_barrier_wait(&barrier);
    for (;;) {
        NEW(vbn_async_event, event);
        vbn_status status;

        status = vbn_context_get_async_event(g.context, 300000000, &event);
        if (status == VBN_ERR_TIMEOUT)
            return NULL;
        if (fails(w, "vbn_context_get_async_event", status, VBN_OK))
            return NULL;
        if (event.user_data != QP_DATA || event.number != g.qpn)
            snprintf(w->failure, sizeof(w->failure), "another event");
        __atomic_add_fetch(&events_taken, 1, __ATOMIC_RELAXED);
    }
}

static void each_event_goes_to_one_thread(void)
{
    null_begin();
    g = rig_open();
    events_taken = 0;
    for (int i = 0; i < 50; i++)
        MUST(!null.push_async_event(IBV_EVENT_QP_FATAL, g.ibv_qp), "push");
    run(take_events, 1);
    MUST(events_taken == 50, "%u events of 50", events_taken);
    rig_close(&g);
    null_clean();
}

static const struct test tests[] = {
    {"loading_at_once", loading_at_once},
    {"own_contexts", own_contexts},
    {"one_context", one_context},
    {"errors_are_per_thread", errors_are_per_thread},
    {"a_new_thread_has_no_error", a_new_thread_has_no_error},
    {"queries_against_closes", queries_against_closes},
    {"first_error_is_whole", first_error_is_whole},
    {"each_event_goes_to_one_thread", each_event_goes_to_one_thread},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_threads", tests, argc, argv);
}
