/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory that runs out: this program's own malloc fails at the nth call, or from the nth on, for n from 1 until nothing fails
 * any more. Every failure must be a clean VBN_ERR_NO_MEMORY, and what was open must close without memory. Each n runs in a child,
 * so that what is allocated once a process (library, slabs) is met too. Not for sanitizers or valgrind, which bring a malloc
 * of their own.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "null_help.h"

/* ---- The allocator ---- */

/* glibc's own, under the names by which it exports them for this purpose. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* Counts down while above 0; at 0 it fails, and with `for_ever` from then on. Below 0: off. */
static long countdown = -1;
static int for_ever;
static unsigned long failed, calls;

static int refused(void)
{
    if (countdown < 0)
        return 0;
    calls++;
    if (countdown > 1) {
        countdown--;
        return 0;
    }
    if (!for_ever)
        countdown = -1;
    failed++;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return refused() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return refused() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return refused() ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return refused() ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *memory = refused() ? NULL : __libc_memalign(alignment, size);

    if (memory)
        *out = memory;
    return memory ? 0 : ENOMEM;
}

static void oom_begin(long nth, int ever_after)
{
    failed = calls = 0;
    for_ever = ever_after;
    countdown = nth;
}

static void oom_end(void) { countdown = -1; }

/* ---- The scenarios: the status of the first call that failed ---- */

static struct rig g;
static char failed_message[1024];
static int failed_errno;

/* Outside of the sweep: asking for the message allocates nothing, and nothing may fail here. */
static vbn_status failure(vbn_status status)
{
    const vbn_error_info *e = last();

    snprintf(failed_message, sizeof(failed_message), "%s", e->message);
    failed_errno = e->sys_errno;
    return status;
}

#define STEP(call) \
    do { \
        vbn_status status_ = (call); \
        if (status_) \
            return failure(status_); \
    } while (0)

static vbn_status listing(void)
{
    vbn_device_info devices[2];
    NEW(vbn_device_list_reason_info, reason);
    uint32_t count;

    STEP(vbn_device_list(devices, sizeof(devices[0]), 2, &count));
    for (uint32_t i = 0; i < count && i < 2; i++)
        if (devices[i].open_status) {
            snprintf(failed_message, sizeof(failed_message), "probing a device");
            failed_errno = devices[i].open_errno;
            return devices[i].open_status;
        }
    STEP(vbn_device_list_reason(&reason));
    return VBN_OK;
}

static vbn_status objects(void)
{
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);

    STEP(vbn_context_open("null0", NULL, &g.context));
    STEP(vbn_pd_alloc(g.context, NULL, &g.pd));
    STEP(vbn_mr_reg(g.pd, rig_memory, sizeof(rig_memory), VBN_ACCESS_LOCAL_WRITE, NULL, &g.mr));
    STEP(vbn_channel_create(g.context, NULL, &g.channel));
    cq.cqe = 64;
    cq.channel = g.channel;
    STEP(vbn_cq_create(g.context, &cq, &g.cq));
    qp.send_cq = g.cq;
    STEP(vbn_qp_create(g.pd, &qp, &g.qp));
    return VBN_OK;
}

static vbn_status everything(void)
{
    vbn_rc_record local, remote;
    vbn_send_wr wrs[40];
    vbn_gid_entry gids[8];
    NEW(vbn_gid_choice, choice);
    NEW(vbn_qp_info, info);
    NEW(vbn_live_info, live);
    NEW(vbn_device_attr, device);
    NEW(vbn_port_attr, port);
    uint32_t n;
    vbn_wc wc;

    STEP(objects());
    STEP(vbn_context_query_device(g.context, &device));
    STEP(vbn_context_query_port(g.context, 1, &port));
    STEP(vbn_context_gid_table(g.context, gids, sizeof(gids[0]), 8, &n));
    STEP(vbn_gid_select(g.context, 1, NULL, &choice, NULL, 0, 0, NULL));
    STEP(vbn_rc_record_local(g.qp, NULL, &local));
    remote = local;
    remote.qp_num ^= 1;
    STEP(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    STEP(vbn_qp_query(g.qp, &info));
    STEP(vbn_context_live(g.context, &live));
    memset(wrs, 0, sizeof(wrs));
    for (size_t i = 0; i < ARRAY_SIZE(wrs); i++)
        wrs[i].opcode = VBN_WR_SEND;
    STEP(vbn_qp_post_send(g.qp, wrs, ARRAY_SIZE(wrs), &n));
    STEP(vbn_cq_poll(g.cq, 1, &wc, &n));
    STEP(vbn_cq_arm(g.cq, 0));
    return VBN_OK;
}

/* More objects than one slab chunk and one table hold. */
static vbn_status many_objects(void)
{
    static vbn_pd *pds[100];
    static vbn_cq *cqs[100];
    NEW(vbn_cq_attr, cq);
    vbn_status status = objects();

    cq.cqe = 1;
    for (size_t i = 0; i < ARRAY_SIZE(pds) && !status; i++)
        if (!(status = vbn_pd_alloc(g.context, NULL, &pds[i])))
            status = vbn_cq_create(g.context, &cq, &cqs[i]);
    if (status)
        failure(status);
    for (size_t i = 0; i < ARRAY_SIZE(pds); i++)
        if (vbn_pd_close(&pds[i]) || vbn_cq_close(&cqs[i]))
            _exit(99);
    return status;
}

/* Closing works, memory or not. */
static const char *close_all(void)
{
    vbn_status status;

#define CLOSE(object) \
    do { \
        status = vbn_##object##_close(&g.object); \
        if (status || g.object) \
            return "vbn_" #object "_close"; \
    } while (0)
    CLOSE(context);
    CLOSE(channel);
    CLOSE(qp);
    CLOSE(cq);
    CLOSE(mr);
    CLOSE(pd);
    return NULL;
}

/* ---- The sweep ---- */

struct scenario {
    vbn_status (*run)(void);
    /* Load libibverbs first, so that only allocations of this library and the provider fail. */
    int loaded;
};

enum { NOTHING_FAILED = 10 };

/* In the child: says by its exit status how it went, and by its output why. */
static int one(const struct scenario *s, long nth, int ever_after)
{
    NEW(vbn_library_info, info);
    vbn_status status;
    const char *close;
    struct nullv_live left;
    unsigned long how_many;

    memset(&g, 0, sizeof(g));
    null.reset();
    if (s->loaded && vbn_library_query(VBN_LIBRARY_IBVERBS, &info))
        return 1;
    oom_begin(nth, ever_after);
    status = s->run();
    how_many = failed;
    close = close_all();
    oom_end();
    null.live(&left);
    if (close)
        printf("n %ld: %s fails: %s", nth, close, last()->message);
    else if (left.contexts || left.pds || left.mrs || left.channels || left.cqs || left.qps || left.lists || left.fds)
        printf("n %ld: after %s, %u contexts %u PDs %u MRs %u channels %u CQs %u QPs %u lists %u fds are left", nth, failed_message,
               left.contexts, left.pds, left.mrs, left.channels, left.cqs, left.qps, left.lists, left.fds);
    else if (status && !how_many)
        printf("n %ld: a failure without cause: %s", nth, failed_message);
    /* The linker doesn't say why it can't load a file, and a symbol for which it had no memory is missing for it. */
    else if (status && status != VBN_ERR_NO_MEMORY && !(!s->loaded && (status == VBN_ERR_LIBRARY_MISSING || status == VBN_ERR_SYMBOL_MISSING)))
        printf("n %ld: %s (errno %d), not VBN_ERR_NO_MEMORY: %s", nth, vbn_status_name(status), failed_errno, failed_message);
    else if (status && !failed_message[0])
        printf("n %ld: no message", nth);
    else {
        /* The process is as good as new. */
        status = s->run();
        close = close_all();
        null.live(&left);
        if (status || close || left.contexts || left.fds)
            printf("n %ld: it doesn't work afterwards: %s", nth, failed_message);
        else
            return how_many ? 0 : NOTHING_FAILED;
    }
    return 1;
}

/* The child's exit status; its output in `text`. */
static int in_child(const struct scenario *s, long nth, int ever_after, char *text, size_t size)
{
    int fds[2], status;
    ssize_t got;
    size_t n = 0;
    pid_t child;

    fflush(stdout);
    MUST(!pipe(fds), "pipe");
    child = fork();
    MUST(child >= 0, "fork");
    if (!child) {
        int answer;

        dup2(fds[1], STDOUT_FILENO);
        answer = one(s, nth, ever_after);
        fflush(stdout);
        _exit(answer);
    }
    close(fds[1]);
    while (n < size - 1 && (got = read(fds[0], text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fds[0]);
    MUST(waitpid(child, &status, 0) == child, "waitpid");
    MUST(!WIFSIGNALED(status), "n %ld: signal %d; %s", nth, WTERMSIG(status), text);
    return WEXITSTATUS(status);
}

static void sweep(const struct scenario *s)
{
    char text[2048];

    for (int ever_after = 0; ever_after < 2; ever_after++) {
        long nth = 1;

        for (;; nth++) {
            int answer = in_child(s, nth, ever_after, text, sizeof(text));

            if (answer == NOTHING_FAILED)
                break;
            MUST(answer == 0, "%s%s (exit %d)", text, ever_after ? " [and all later ones]" : "", answer);
            MUST(nth < 5000, "no end after %ld", nth);
        }
        MUST(nth > 2, "only %ld allocations were seen: the program's malloc isn't used", nth - 1);
        test_note("%ld allocations failed, %s", nth - 1, ever_after ? "with all after it" : "one at a time");
    }
}

#define SCENARIO(name, body, is_loaded) \
    static void name(void) \
    { \
        static const struct scenario scenario = {body, is_loaded}; \
        sweep(&scenario); \
    }
SCENARIO(listing_devices, listing, 1)
SCENARIO(making_objects, objects, 1)
SCENARIO(using_everything, everything, 1)
SCENARIO(growing_slabs, many_objects, 1)
SCENARIO(loading_the_library, everything, 0)

static const struct test tests[] = {
    {"listing_devices", listing_devices},
    {"making_objects", making_objects},
    {"using_everything", using_everything},
    {"growing_slabs", growing_slabs},
    {"loading_the_library", loading_the_library},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("oom_sweep", tests, argc, argv);
}
