/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* pthread_cancel: no call is a cancellation point, so a cancelled thread leaves no reference, lock or object behind. */
#include <pthread.h>
#include <unistd.h>
#include "null_help.h"

static struct rig g;

/* AddressSanitizer doesn't follow a cancellation through frames with variables that it watches, so those that are left by one have none. */
#define APART __attribute__((noinline))

enum { CQ_WAIT, CHANNEL_EVENT, ASYNC_EVENT };

static int inside, returned;
static vbn_status answer;

static APART vbn_status wait_in(int call, int64_t timeout)
{
    NEW(vbn_async_event, async);
    NEW(vbn_cq_event, event);
    uint32_t got;
    vbn_wc wc;

    switch (call) {
    case CQ_WAIT: return vbn_cq_wait(g.cq, 1, &wc, 0, timeout, &got);
    case CHANNEL_EVENT: return vbn_channel_get_event(g.channel, timeout, &event);
    default: return vbn_context_get_async_event(g.context, timeout, &async);
    }
}

static void *waiter(void *arg)
{
    __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
    answer = wait_in(*(int *)arg, 300000000);
    returned = 1;
    pthread_testcancel();
    return arg;
}

/* The thread comes back from the call, and is cancelled after it. */
static void cancelled_in(int call)
{
    pthread_t thread;
    void *result;

    null_begin();
    g = rig_open();
    inside = returned = 0;
    MUST(!pthread_create(&thread, NULL, waiter, &call), "pthread_create");
    while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
        usleep(1000);
    usleep(20000);
    MUST(!pthread_cancel(thread), "pthread_cancel");
    MUST(!pthread_join(thread, &result), "pthread_join");
    MUST(result == PTHREAD_CANCELED, "the thread wasn't cancelled after the call either");
    MUST(returned && answer == VBN_ERR_TIMEOUT, "the call %s", returned ? vbn_status_name(answer) : "was cut off");
    /* References that are left behind show as objects that the provider still has. */
    rig_close(&g);
    null_clean();
}

static void waiting_for_completions(void) { cancelled_in(CQ_WAIT); }
static void waiting_for_a_channel(void) { cancelled_in(CHANNEL_EVENT); }
static void waiting_for_async_events(void) { cancelled_in(ASYNC_EVENT); }

/* Opens, makes, closes. */
static APART vbn_status live_once(void)
{
    NEW(vbn_cq_attr, cq_attr);
    vbn_context *context;
    vbn_channel *channel;
    vbn_status status;
    vbn_pd *pd;
    vbn_mr *mr;
    vbn_cq *cq;

#define TRY(call) if ((status = (call))) return status
    TRY(vbn_context_open("null1", NULL, &context));
    TRY(vbn_pd_alloc(context, NULL, &pd));
    TRY(vbn_mr_reg(pd, rig_memory, 64, 0, NULL, &mr));
    TRY(vbn_channel_create(context, NULL, &channel));
    cq_attr.cqe = 8;
    cq_attr.channel = channel;
    TRY(vbn_cq_create(context, &cq_attr, &cq));
    TRY(vbn_context_close(&context));
    TRY(vbn_cq_close(&cq));
    TRY(vbn_channel_close(&channel));
    TRY(vbn_mr_close(&mr));
    return vbn_pd_close(&pd);
}

/* The only place to be cancelled at is the one where it has nothing. */
static void *live(void *arg)
{
    __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
    while (!live_once())
        pthread_testcancel();
    return arg;
}

static void opening_and_closing(void)
{
    const char *divisor = getenv("VBN_TEST_STRIDE");

    null_begin();
    for (int i = 0; i < (divisor ? 20 : 300); i++) {
        pthread_t thread;
        void *result;

        inside = 0;
        MUST(!pthread_create(&thread, NULL, live, &g), "pthread_create");
        while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
            usleep(10);
        /* A little later each time. */
        usleep((unsigned)i % 50 * 7);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        MUST(result == PTHREAD_CANCELED, "a call failed in the cancelled thread");
        /* With a lock left taken this would not return; with a reference, not be clean. */
        g = rig_open();
        rig_close(&g);
        null_clean();
    }
}

/* Whether a thread can be cancelled is its own affair before and after. */
static void the_threads_own_setting_is_kept(void)
{
    int state;

    null_begin();
    g = rig_open();
    WANT(vbn_cq_wait(g.cq, 1, &(vbn_wc){0}, 0, 0, &(uint32_t){0}), VBN_ERR_TIMEOUT);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    MUST(state == PTHREAD_CANCEL_ENABLE, "after a call the thread can't be cancelled");
    WANT(vbn_cq_wait(g.cq, 1, &(vbn_wc){0}, 0, 0, &(uint32_t){0}), VBN_ERR_TIMEOUT);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    MUST(state == PTHREAD_CANCEL_DISABLE, "after a call the thread can be cancelled again");
    rig_close(&g);
    null_clean();
}

static const struct test tests[] = {
    {"waiting_for_completions", waiting_for_completions},
    {"waiting_for_a_channel", waiting_for_a_channel},
    {"waiting_for_async_events", waiting_for_async_events},
    {"opening_and_closing", opening_and_closing},
    {"the_threads_own_setting_is_kept", the_threads_own_setting_is_kept},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_cancel", tests, argc, argv);
}
