/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Faults that a review of the library found, each with the test that shows it: races, stale errnos, peers taken for others. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "null_help.h"

static struct rig g;

static void begin(void)
{
    null_begin();
    g = rig_open();
}

static void end(void)
{
    rig_close(&g);
    null_clean();
}

static int rounds(int usual)
{
    const char *divisor = getenv("VBN_TEST_STRIDE");

    return divisor ? usual / 20 : usual;
}

static int get(int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

/* ---- The fork handlers of the first open ---- */

static struct {
    int armed, refuse;
    int inside, others_turn_is_over;
} registration;

/* What pthread_atfork ends in. Here it can fail, or take until another thread has had every opportunity. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
{
    static __typeof__(__register_atfork) *real;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "__register_atfork");
    if (registration.refuse) {
        registration.refuse = 0;
        return ENOMEM;
    }
    if (registration.armed) {
        set(&registration.inside);
        for (int i = 0; i < 100 && !get(&registration.others_turn_is_over); i++)
            usleep(5000);
    }
    return real(prepare, parent, child, dso);
}

static void *open_first(void *arg)
{
    vbn_context *context;

    return vbn_context_open("null0", NULL, &context) || vbn_context_close(&context) ? NULL : arg;
}

/* One thread is registering the handlers when the next opens a device and forks: the child must know that it is one. */
static void two_first_opens_and_a_fork(void)
{
    NEW(vbn_context_info, info);
    vbn_context *context;
    pthread_t thread;
    void *result;
    int status;
    pid_t child;

    null_begin();
    registration.refuse = 1;
    WANT(vbn_context_open("null0", NULL, &context), VBN_ERR_NO_MEMORY);
    MUST(!registration.refuse, "a device was opened before, or without fork handlers");
    registration.armed = 1;
    MUST(!pthread_create(&thread, NULL, open_first, &g), "pthread_create");
    for (int i = 0; i < 10000 && !get(&registration.inside); i++)
        usleep(1000);
    MUST(get(&registration.inside), "after a failure the handlers aren't registered any more");
    OK(vbn_context_open("null1", NULL, &context));
    child = fork();
    /* Another program, since leak checkers would blame the child for what the parent's threads have. */
    if (!child) {
        const char *program = vbn_context_query(context, &info) == VBN_ERR_FORKED ? "true" : "false";

        execlp(program, program, (char *)NULL);
        _exit(2);
    }
    set(&registration.others_turn_is_over);
    MUST(child > 0 && waitpid(child, &status, 0) == child, "fork");
    pthread_join(thread, &result);
    registration.armed = 0;
    MUST(result == &g, "the other thread's open failed");
    MUST(WIFEXITED(status) && !WEXITSTATUS(status), "the child's handle doesn't say that it is the parent's (wait status 0x%x)",
         (unsigned)status);
    OK(vbn_context_close(&context));
    null_clean();
}

/* ---- Walks over all objects ---- */

enum { WALKERS = 2 };

static int stop, walkers[WALKERS];

/* The calls that look at all objects of the process: counts, the search for the parents of what is adopted, a device that goes. */
static int walk_once(const int *walker)
{
    NEW(vbn_live_info, live);
    NEW(vbn_async_event, event);
    vbn_context *context;
    vbn_cq *cq;

    for (int i = 0; i < 100; i++)
        if (vbn_context_live(g.context, &live) || live.pd_open != 1 || live.channel_open != 1)
            return 0;
    for (int i = 0; i < 10; i++)
        if (vbn_cq_adopt(g.context, g.ibv_cq, NULL, &cq) || vbn_cq_close(&cq))
            return 0;
    /* One walker only, as the event is for one. Handles are of one context: those on g.context live on. */
    if (walker != &walkers[0])
        return 1;
    if (vbn_context_adopt(g.ibv_context, NULL, &context) || null.push_port_event(g.ibv_context, IBV_EVENT_DEVICE_FATAL, 1))
        return 0;
    return !vbn_context_get_async_event(context, 0, &event) && event.kind == VBN_ELEMENT_DEVICE && !vbn_context_close(&context);
}

static void *walk(void *arg)
{
    int *failed = arg;

    while (!get(&stop) && !*failed)
        *failed = !walk_once(failed);
    return NULL;
}

static int destroys, answer;
static pthread_t closer;

static int destroy(void *native, void *arg)
{
    (void)native;
    (void)arg;
    destroys += pthread_equal(pthread_self(), closer) ? 1 : 1000;
    return answer;
}

/* The checks of WANT take long; here the time between two calls must be short. */
#define QUICK(call, status) if ((call) != (status)) return #call " isn't " #status

/* Closes and releases of objects that have nothing to do with the walks beside them. Returns what is wrong. */
static const char *strangers(vbn_context *context, struct ibv_pd *ibv_pd, struct ibv_comp_channel *ibv_channel)
{
    NEW(vbn_adopt_attr, custom);
    struct ibv_pd *released;
    vbn_channel *channel;
    vbn_pd *pd;

    custom.ownership = VBN_ADOPT_CUSTOM;
    custom.destroy = destroy;
    destroys = 0;
    QUICK(vbn_pd_adopt(context, ibv_pd, &custom, &pd), VBN_OK);
    QUICK(vbn_channel_adopt(context, ibv_channel, &custom, &channel), VBN_OK);
    answer = EBUSY;
    QUICK(vbn_pd_close(&pd), VBN_ERR_BUSY);
    QUICK(vbn_channel_close(&channel), VBN_ERR_BUSY);
    if (!pd || !channel || destroys != 2)
        return "a refused destroy loses the handle";
    answer = 0;
    QUICK(vbn_pd_close(&pd), VBN_OK);
    QUICK(vbn_channel_close(&channel), VBN_OK);
    if (destroys != 4)
        return "close has returned, and not called the destroy function";
    QUICK(vbn_pd_adopt(context, ibv_pd, NULL, &pd), VBN_OK);
    QUICK(vbn_pd_release(&pd, &released), VBN_OK);
    return NULL;
}

static void walks_leave_strangers_alone(void)
{
    struct ibv_comp_channel *ibv_channel;
    NEW(vbn_adopt_attr, own);
    struct ibv_pd *ibv_pd;
    pthread_t threads[WALKERS];
    const char *wrong = NULL;
    vbn_channel *channel;
    vbn_context *context;
    vbn_pd *pd;
    int round;

    begin();
    OK(vbn_context_open("null1", NULL, &context));
    OK(vbn_pd_alloc(context, NULL, &pd));
    OK(vbn_channel_create(context, NULL, &channel));
    OK(vbn_pd_release(&pd, &ibv_pd));
    OK(vbn_channel_release(&channel, &ibv_channel));
    closer = pthread_self();
    stop = 0;
    memset(walkers, 0, sizeof(walkers));
    for (size_t i = 0; i < WALKERS; i++)
        MUST(!pthread_create(&threads[i], NULL, walk, &walkers[i]), "pthread_create");
    for (round = 0; !wrong && round < rounds(400000); round++)
        wrong = strangers(context, ibv_pd, ibv_channel);
    set(&stop);
    for (size_t i = 0; i < WALKERS; i++)
        pthread_join(threads[i], NULL);
    MUST(!wrong, "round %d: %s", round, wrong);
    MUST(!walkers[0] && !walkers[1], "a walk failed");
    own.ownership = VBN_ADOPT_OWN;
    OK(vbn_channel_adopt(context, ibv_channel, &own, &channel));
    OK(vbn_pd_adopt(context, ibv_pd, &own, &pd));
    OK(vbn_channel_close(&channel));
    OK(vbn_pd_close(&pd));
    OK(vbn_context_close(&context));
    end();
}

/* ---- A close that the driver refuses, beside calls on the handle ---- */

static vbn_cq *lonely_cq;
static char complaint[1200];

static int is_fine(const char *call, vbn_status status)
{
    if (!status)
        return 1;
    if ((status == VBN_ERR_CLOSED || status == VBN_ERR_BUSY) && !strstr(last()->message, "NULL"))
        return 1;
    snprintf(complaint, sizeof(complaint), "%s: %s: %s", call, vbn_status_name(status), last()->message);
    return 0;
}
#define FINE(call) is_fine(#call, (call))

static void *use(void *arg)
{
    vbn_send_wr wr = {.opcode = VBN_WR_SEND};
    NEW(vbn_qp_info, qp);
    uint64_t covered;
    uint32_t n;
    vbn_sge sge;
    vbn_wc wc;

    while (!get(&stop))
        if (!FINE(vbn_mr_segments(g.mr, 0, 8, 0, &sge, 1, &n, &covered)) || !FINE(vbn_qp_query(g.qp, &qp)) ||
            !FINE(vbn_qp_post_send(g.qp, &wr, 1, &n)) || !FINE(vbn_cq_poll(lonely_cq, 1, &wc, &n)))
            return NULL;
    return arg;
}

/* The handles stay good, so nobody may be told that the device has gone, nor that an argument is NULL. */
static void refused_closes_beside_calls(void)
{
    NEW(vbn_cq_attr, attr);
    pthread_t thread;
    void *result;
    int busy = 1;

    begin();
    attr.cqe = 8;
    OK(vbn_cq_create(g.context, &attr, &lonely_cq));
    null.fail("ibv_dereg_mr", 0, EBUSY);
    null.fail("ibv_destroy_qp", 0, EBUSY);
    null.fail("ibv_destroy_cq", 0, EBUSY);
    complaint[0] = '\0';
    stop = 0;
    MUST(!pthread_create(&thread, NULL, use, &g), "pthread_create");
    for (int i = 0; busy && i < rounds(1000000); i++) {
        /* Through copies: the other thread reads the variables, and nothing is written to them. */
        vbn_mr *mr = g.mr;
        vbn_qp *qp = g.qp;
        vbn_cq *cq = lonely_cq;

        busy = vbn_mr_close(&mr) == VBN_ERR_BUSY && vbn_qp_close(&qp) == VBN_ERR_BUSY && vbn_cq_close(&cq) == VBN_ERR_BUSY;
    }
    set(&stop);
    pthread_join(thread, &result);
    MUST(busy, "a close isn't refused: %s", last()->message);
    MUST(result == &g, "%s", complaint);
    null.reset();
    OK(vbn_cq_close(&lonely_cq));
    end();
}

/* ---- A provider that fails and leaves errno alone ---- */

static struct {
    void *provider;   /* where it is loaded; NULL: not armed */
    int value;        /* what it writes then */
} lost_errno;

/* The provider's writes to errno go elsewhere while the above is armed. */
int *__errno_location(void)
{
    static __typeof__(__errno_location) *real;
    Dl_info info;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "__errno_location");
    if (lost_errno.provider && dladdr(__builtin_return_address(0), &info) && info.dli_fbase == lost_errno.provider)
        return &lost_errno.value;
    return real();
}

#define MAKES(name, type, close, call) \
    static vbn_status name(void) \
    { \
        type *out = NULL; \
        vbn_status status = call; \
        return status || close(&out) ? status : VBN_OK; \
    }
#define CALLS(name, ...) \
    static vbn_status name(void) { __VA_ARGS__; }

static vbn_cq_attr cq_attr = {.struct_size = sizeof(cq_attr), .cqe = 8};
static vbn_qp_init_attr qp_attr = {.struct_size = sizeof(qp_attr)};
static uint8_t gid[16];
static uint16_t pkey;

MAKES(open_device, vbn_context, vbn_context_close, vbn_context_open("null1", NULL, &out))
MAKES(alloc_pd, vbn_pd, vbn_pd_close, vbn_pd_alloc(g.context, NULL, &out))
MAKES(reg_mr, vbn_mr, vbn_mr_close, vbn_mr_reg(g.pd, rig_memory, 64, 0, NULL, &out))
MAKES(create_channel, vbn_channel, vbn_channel_close, vbn_channel_create(g.context, NULL, &out))
MAKES(create_cq, vbn_cq, vbn_cq_close, vbn_cq_create(g.context, &cq_attr, &out))
MAKES(create_qp, vbn_qp, vbn_qp_close, (qp_attr.send_cq = g.cq, vbn_qp_create(g.pd, &qp_attr, &out)))
CALLS(query_device, NEW(vbn_device_attr, attr); return vbn_context_query_device(g.context, &attr))
CALLS(query_port, NEW(vbn_port_attr, attr); return vbn_context_query_port(g.context, 1, &attr))
CALLS(query_gid, return vbn_context_query_gid(g.context, 1, 0, gid))
CALLS(query_pkey, return vbn_context_query_pkey(g.context, 1, 0, &pkey))
CALLS(arm, return vbn_cq_arm(g.cq, 0))
CALLS(query_qp, NEW(vbn_qp_info, info); return vbn_qp_query(g.qp, &info))
CALLS(modify_qp, NEW(vbn_qp_attr, attr); attr.set = VBN_QP_STATE; attr.qp_state = VBN_QPS_RESET; return vbn_qp_modify(g.qp, &attr))
CALLS(destroy_qp, return vbn_qp_close(&g.qp))
CALLS(dereg_mr, return vbn_mr_close(&g.mr))
CALLS(destroy_cq, return vbn_cq_close(&g.cq))
CALLS(destroy_channel, return vbn_channel_close(&g.channel))
CALLS(dealloc_pd, return vbn_pd_close(&g.pd))
CALLS(close_device, return vbn_context_close(&g.context))

/* The function that fails, and a call that needs it. */
static const struct {
    const char *function;
    vbn_status (*call)(void);
} silent[] = {
    {"ibv_open_device", open_device},
    {"ibv_alloc_pd", alloc_pd},
    {"reg_mr", reg_mr},
    {"ibv_create_comp_channel", create_channel},
    {"ibv_create_cq", create_cq},
    {"ibv_create_qp", create_qp},
    {"ibv_query_device_ex", query_device},
    {"ibv_query_port", query_port},
    {"ibv_query_gid", query_gid},
    {"ibv_query_pkey", query_pkey},
    {"ibv_req_notify_cq", arm},
    {"ibv_query_qp", query_qp},
    {"ibv_modify_qp", modify_qp},
    /* In this order each has no children left. The second call of each succeeds. */
    {"ibv_destroy_qp", destroy_qp},
    {"ibv_dereg_mr", dereg_mr},
    {"ibv_destroy_cq", destroy_cq},
    {"ibv_destroy_comp_channel", destroy_channel},
    {"ibv_dealloc_pd", dealloc_pd},
    {"ibv_close_device", close_device},
};

/* What the program's last failure of whatever call was must not show. */
static const int stale[] = {ENOENT, ENOMEM, ENODEV, EOPNOTSUPP, EIO};

static void a_stale_errno_is_never_told(void)
{
    Dl_info info;

    begin();
    MUST(dladdr(*(void **)&null.reset, &info), "where the provider is");
    for (size_t i = 0; i < ARRAY_SIZE(silent); i++) {
        for (size_t k = 0; k < ARRAY_SIZE(stale); k++) {
            vbn_status status;

            /* -1 is what a function returns that returns numbers. */
            MUST(!null.fail(silent[i].function, 1, -1), "fail %s", silent[i].function);
            errno = stale[k];
            lost_errno.provider = info.dli_fbase;
            status = silent[i].call();
            lost_errno.provider = NULL;
            MUST(status == VBN_ERR_DRIVER && last()->sys_errno == EIO, "%s after errno %d: %s", silent[i].function, stale[k],
                 status ? last()->message : "it didn't fail");
        }
        OK(silent[i].call());
    }
    null_clean();
}

/* ---- Connecting ---- */

static vbn_rc_record local, remote;

static void records(void)
{
    OK(vbn_rc_record_local(g.qp, NULL, &local));
    remote = (vbn_rc_record){.qp_num = 0x123456, .psn = 0xfffffe, .lid = 77, .port_num = 1, .mtu = VBN_MTU_512};
    memcpy(remote.gid, local.gid, 16);
    remote.gid[15] ^= 0x40;
}

static void state_is(int32_t state)
{
    NEW(vbn_qp_info, info);

    OK(vbn_qp_query(g.qp, &info));
    MUST(info.qp_state == state, "the queue pair is in %s", vbn_qp_state_name(info.qp_state));
}

static void refused(const vbn_rc_record *other, const char *what, int32_t state)
{
    WANT(vbn_qp_connect_rc(g.qp, &local, other, NULL), VBN_ERR_ARGUMENT);
    WANT_TEXT(what);
    WANT_TEXT("RESET");
    state_is(state);
}

/* Connecting again is fine with the same peer only; what tells peers apart depends on the address. */
static void again(int32_t state, int by_lid)
{
    vbn_rc_record other;

    begin();
    if (by_lid) {
        null.port_attr()->link_layer = IBV_LINK_LAYER_INFINIBAND;
        null.port_attr()->lid = 42;
        null.port_attr()->flags = 0;
    }
    records();
    if (state == VBN_QPS_RTR) {
        OK(vbn_qp_to_init(g.qp, NULL));
        OK(vbn_qp_to_rtr(g.qp, &local, &remote, NULL));
    } else {
        OK(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    }
    other = remote;
    other.qp_num++;
    refused(&other, "number", state);
    WANT_NUMBERS(0x123457, 0x123456);
    other = remote;
    if (by_lid) {
        other.lid++;
        refused(&other, "LID", state);
        WANT_NUMBERS(78, 77);
    } else {
        other.gid[15] ^= 1;
        refused(&other, "GID", state);
    }
    if (state == VBN_QPS_RTR) {
        /* A peer that was restarted: it begins where the queue pair hasn't come to yet. */
        other = remote;
        other.psn = 3;
        refused(&other, "PSN", state);
    }
    OK(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    state_is(VBN_QPS_RTS);
    OK(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    end();
}

static void again_in_rts_by_lid(void) { again(VBN_QPS_RTS, 1); }
static void again_in_rts_by_gid(void) { again(VBN_QPS_RTS, 0); }
static void again_in_rtr_by_lid(void) { again(VBN_QPS_RTR, 1); }
static void again_in_rtr_by_gid(void) { again(VBN_QPS_RTR, 0); }

/* Depths that can't be are refused while there still is a way back. */
static void depths_are_looked_at_first(void)
{
    NEW(vbn_rc_attr, attr);

    begin();
    records();
    attr.set = VBN_RC_SET_MAX_RD_ATOMIC;
    attr.max_rd_atomic = 200;
    WANT(vbn_qp_connect_rc(g.qp, &local, &remote, &attr), VBN_ERR_LIMIT);
    WANT_TEXT("max_rd_atomic 200");
    state_is(VBN_QPS_RESET);
    attr.set = VBN_RC_SET_MAX_DEST_RD_ATOMIC;
    attr.max_dest_rd_atomic = 201;
    WANT(vbn_qp_connect_rc(g.qp, &local, &remote, &attr), VBN_ERR_LIMIT);
    WANT_TEXT("max_dest_rd_atomic 201");
    state_is(VBN_QPS_RESET);
    OK(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    end();
}

static const struct test tests[] = {
    /* The first, since a process registers its fork handlers only once. */
    {"two_first_opens_and_a_fork", two_first_opens_and_a_fork},
    {"walks_leave_strangers_alone", walks_leave_strangers_alone},
    {"refused_closes_beside_calls", refused_closes_beside_calls},
    {"a_stale_errno_is_never_told", a_stale_errno_is_never_told},
    {"again_in_rts_by_lid", again_in_rts_by_lid},
    {"again_in_rts_by_gid", again_in_rts_by_gid},
    {"again_in_rtr_by_lid", again_in_rtr_by_lid},
    {"again_in_rtr_by_gid", again_in_rtr_by_gid},
    {"depths_are_looked_at_first", depths_are_looked_at_first},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_review", tests, argc, argv);
}
