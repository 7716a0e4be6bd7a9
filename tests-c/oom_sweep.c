/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory that runs out: this program's own malloc fails at the nth call, or from the nth on, for n from 1 until nothing fails
 * any more. Every failure must be a clean VBN_ERR_NO_MEMORY, and what was open must close without memory. Each n runs in a child,
 * so that what is allocated once a process (library, slabs) is met too. Not for sanitizers or valgrind, which bring a malloc
 * of their own.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "null_cm.h"
#include "null_flow.h"
#include "simcuda/simcuda_load.h"
#include "sysfs_tree.h"

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
static vbn_srq *g_srq;
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
    vbn_device_match found[2];
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
    STEP(vbn_device_find(VBN_CAP_RC, found, sizeof(found[0]), 2, &count));
    for (uint32_t i = 0; i < count && i < 2; i++)
        if (found[i].open_status) {
            snprintf(failed_message, sizeof(failed_message), "%s", found[i].reason);
            failed_errno = found[i].open_errno;
            return found[i].open_status;
        }
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
    STEP(vbn_srq_create(g.pd, NULL, &g_srq));
    STEP(vbn_qp_create(g.pd, &qp, &g.qp));
    return VBN_OK;
}

/* A window of each type, bound; closed in any case. */
static vbn_status windows(void)
{
    NEW(vbn_mw_bind_attr, attr);
    vbn_bind_mw_ext ext = {.addr = (uintptr_t)rig_memory, .length = 8};
    vbn_send_wr wr = {.opcode = VBN_WR_BIND_MW, .ext = &ext};
    vbn_mr *mr = NULL;
    vbn_mw *mw1 = NULL, *mw2 = NULL;
    uint32_t posted;
    vbn_status status;

    status = vbn_mr_reg(g.pd, rig_memory, sizeof(rig_memory), VBN_ACCESS_MW_BIND, NULL, &mr);
    if (!status)
        status = vbn_mw_alloc(g.pd, VBN_MW_TYPE_1, NULL, &mw1);
    if (!status)
        status = vbn_mw_alloc(g.pd, VBN_MW_TYPE_2, NULL, &mw2);
    attr.mr = ext.mr = mr;
    attr.addr = ext.addr;
    ext.mw = mw2;
    if (!status)
        status = vbn_mw_bind(g.qp, mw1, &attr, NULL);
    if (!status)
        status = vbn_qp_post_send(g.qp, &wr, 1, &posted);
    if (status)
        failure(status);
    if (vbn_mw_close(&mw1) || vbn_mw_close(&mw2) || vbn_mr_close(&mr))
        _exit(99);
    return status;
}

/* The way back to a sender. */
static vbn_status answer(void)
{
    vbn_wc wc = {.opcode = VBN_WC_RECV, .wc_flags = VBN_WC_GRH};
    uint8_t header[40] = {0x60, [8] = 1};
    vbn_ah *ah;

    STEP(vbn_context_query_gid(g.context, 1, 0, header + 24));
    STEP(vbn_ah_from_wc(g.pd, &wc, header, 1, &ah));
    return vbn_ah_close(&ah);
}

/* What few devices have; closed in any case. */
static vbn_status few_have(void)
{
    vbn_mr_rereg_attr rereg = {.struct_size = sizeof(rereg), .set = VBN_MR_REREG_TRANSLATION, .addr = rig_memory, .length = 64};
    vbn_cq_modify_attr modify = {.struct_size = sizeof(modify), .set = VBN_CQ_SET_MODERATION};
    vbn_mr *nothing = NULL;
    vbn_dm_attr dm_attr = {.struct_size = sizeof(dm_attr), .length = 64};
    vbn_td *td = NULL;
    vbn_pd *parent = NULL;
    vbn_dm *dm = NULL;
    vbn_mr *dm_mr = NULL;
    vbn_counters *counters = NULL, *more = NULL;
    vbn_flow *flow = NULL;
    struct ibv_context *raw;
    vbn_mr_set *set = NULL;
    vbn_status status = vbn_mr_alloc_null(g.pd, NULL, &nothing);

    if (!status)
        status = vbn_td_alloc(g.context, NULL, &td);
    if (!status)
        status = vbn_pd_alloc_parent(g.pd, td, NULL, &parent);
    if (!status)
        status = vbn_dm_alloc(g.context, &dm_attr, &dm);
    if (!status)
        status = vbn_mr_reg_dm(g.pd, dm, 0, 64, 0, NULL, &dm_mr);
    if (!status)
        status = vbn_context_native(g.context, &raw);
    if (!status) {
        steer(raw);
        status = vbn_counters_create(g.context, NULL, &counters);
    }
    if (!status)
        status = vbn_counters_create(g.context, NULL, &more);
    if (!status) {
        vbn_flow_spec spec = {.type = VBN_FLOW_SPEC_ACTION_COUNT, .counters = counters};
        status = vbn_flow_create(g.qp, NULL, &spec, 1, &flow);
    }
    if (!status)
        status = vbn_counters_attach(more, flow, VBN_COUNTER_BYTES, 0);
    if (!status)
        status = vbn_mr_set_create((vbn_mr *[]){dm_mr, g.mr}, 2, NULL, &set);

    if (!status)
        status = vbn_mr_rereg(g.mr, &rereg);
    if (!status)
        status = vbn_cq_modify(g.cq, &modify);
    if (!status)
        status = vbn_cq_resize(g.cq, 100);
    if (status)
        failure(status);
    if (vbn_mr_set_close(&set) || vbn_mr_close(&nothing) || vbn_pd_close(&parent) || vbn_td_close(&td) || vbn_mr_close(&dm_mr) || vbn_dm_close(&dm) || vbn_flow_close(&flow) || vbn_counters_close(&counters) || vbn_counters_close(&more))
        _exit(99);
    return status;
}

static vbn_status everything(void)
{
    vbn_rc_record local, remote;
    NEW(vbn_endpoint_info, endpoint);
    vbn_endpoint_info peer;
    vbn_send_wr wrs[40];
    vbn_gid_entry gids[8];
    NEW(vbn_gid_choice, choice);
    NEW(vbn_qp_info, info);
    NEW(vbn_live_info, live);
    NEW(vbn_device_attr, device);
    NEW(vbn_port_attr, port);
    NEW(vbn_caps, caps);
    uint32_t n;
    vbn_wc wc;

    STEP(objects());
    STEP(vbn_context_query_device(g.context, &device));
    STEP(vbn_context_query_port(g.context, 1, &port));
    STEP(vbn_context_caps(g.context, &caps));
    STEP(vbn_context_gid_table(g.context, gids, sizeof(gids[0]), 8, &n));
    STEP(vbn_gid_select(g.context, 1, NULL, &choice, NULL, 0, 0, NULL));
    STEP(vbn_rc_record_local(g.qp, NULL, &local));
    STEP(vbn_endpoint_info_local(g.qp, NULL, &endpoint));
    remote = local;
    remote.qp_num ^= 1;
    peer = endpoint;
    peer.qp_num ^= 1;
    STEP(vbn_qp_connect(g.qp, &endpoint, &peer, NULL));
    STEP(vbn_qp_connect_rc(g.qp, &local, &remote, NULL));
    STEP(answer());
    STEP(vbn_qp_query(g.qp, &info));
    STEP(vbn_context_live(g.context, &live));
    memset(wrs, 0, sizeof(wrs));
    for (size_t i = 0; i < ARRAY_SIZE(wrs); i++)
        wrs[i].opcode = VBN_WR_SEND;
    STEP(vbn_qp_post_send(g.qp, wrs, ARRAY_SIZE(wrs), &n));
    STEP(vbn_cq_poll(g.cq, 1, &wc, &n));
    STEP(vbn_cq_arm(g.cq, 0));
    STEP(few_have());
    return windows();
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

/* An EFA's: a queue with fields, an SRD queue pair, an address handle, and more peers than a chunk of the slab holds. */
static vbn_ah *efa_ah;
static vbn_peer *efa_peers[40];

static vbn_status efa_objects(void)
{
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);
    NEW(vbn_qp_prepare_attr, prepare);
    NEW(vbn_ah_attr, ah);
    NEW(vbn_peer_attr, peer);
    vbn_endpoint endpoint;
    vbn_send_wr wrs[2];
    vbn_wc_ext wc;
    uint32_t n;

    STEP(vbn_context_open("nullefa0", NULL, &g.context));
    STEP(vbn_pd_alloc(g.context, NULL, &g.pd));
    cq.cqe = 64;
    cq.fields = VBN_WC_EX_STANDARD | VBN_WC_EX_SGID | VBN_WC_EX_UNSOLICITED;
    STEP(vbn_cq_create(g.context, &cq, &g.cq));
    qp.send_cq = g.cq;
    qp.qp_type = VBN_QPT_SRD;
    qp.flags = VBN_QP_UNSOLICITED_WRITE_RECV;
    STEP(vbn_qp_create(g.pd, &qp, &g.qp));
    prepare.set = VBN_QP_PREPARE_SET_QKEY;
    prepare.qkey = 5;
    STEP(vbn_qp_prepare(g.qp, &prepare));
    STEP(vbn_endpoint_local(g.qp, &endpoint));
    memcpy(ah.path.dgid, endpoint.gid, sizeof(ah.path.dgid));
    STEP(vbn_ah_create(g.pd, &ah, &efa_ah));
    peer.ah = efa_ah;
    peer.qp_num = endpoint.qp_num;
    STEP(vbn_peer_create(g.pd, &peer, &efa_peers[0]));
    for (size_t i = 1; i < ARRAY_SIZE(efa_peers); i++) {
        endpoint.gid[0] = (uint8_t)i;
        STEP(vbn_peer_from_endpoint(g.pd, &endpoint, NULL, &efa_peers[i]));
    }
    memset(wrs, 0, sizeof(wrs));
    for (size_t i = 0; i < ARRAY_SIZE(wrs); i++)
        wrs[i] = (vbn_send_wr){.opcode = VBN_WR_SEND, .flags = VBN_SEND_SIGNALED, .num_sge = 1, .peer = efa_peers[i]};
    STEP(vbn_qp_post_send(g.qp, wrs, ARRAY_SIZE(wrs), &n));
    STEP(vbn_cq_poll_ext(g.cq, 1, &wc, sizeof(wc), &n));
    STEP(vbn_pd_trim_ahs(g.pd, 0, NULL));
    return VBN_OK;
}

/* A connection, from the channel to the request of a client. */
static vbn_status connecting(void)
{
    struct cm_rig r = {0};
    vbn_cm_addr addr = cm_addr();
    NEW(vbn_cq_attr, cq);
    NEW(vbn_qp_init_attr, qp);
    NEW(vbn_cm_event, event);
    vbn_cm_id *requests[40] = {NULL};
    vbn_pd *pd = NULL;
    vbn_status status;
    int n = 0;

    cm_use();
    status = vbn_cm_channel_create(NULL, &r.channel);
    if (!status)
        status = vbn_cm_id_create(r.channel, NULL, &r.id);
    if (!status)
        status = vbn_cm_id_native(r.id, &r.native);
    if (!status)
        status = vbn_cm_id_resolve(r.id, NULL, &addr, 1000000000);
    if (!status)
        status = vbn_cm_id_context(r.id, NULL, &r.context);
    if (!status)
        status = vbn_cm_id_pd(r.id, r.context, NULL, &pd);
    if (!status)
        status = vbn_pd_alloc(r.context, NULL, &r.pd);
    cq.cqe = 8;
    if (!status)
        status = vbn_cq_create(r.context, &cq, &r.cq);
    qp.send_cq = r.cq;
    if (!status)
        status = vbn_cm_id_create_qp(r.id, r.pd, &qp, &r.qp);
    if (!status)
        status = vbn_cm_id_connect(r.id, NULL);
    if (!status)
        status = vbn_cm_channel_get_event(r.channel, 0, &event, &requests[0]);
    /* More ids than the first table and chunk of slots hold. The requests are made with memory, but taken without. */
    for (; !status && n < (int)ARRAY_SIZE(requests); n++) {
        long was = countdown;

        countdown = -1;
        cm_push_request(r.native, NULL, 0);
        countdown = was;
        status = vbn_cm_channel_get_event(r.channel, 0, &event, &requests[n]);
        if (status == VBN_ERR_NO_MEMORY && vbn_cm_channel_get_event(r.channel, 0, &event, &requests[n]) == VBN_ERR_TIMEOUT)
            _exit(97); /* the event is lost */
    }
    if (status)
        failure(status);
    for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
        if (vbn_cm_id_close(&requests[i]))
            _exit(99);
    if (vbn_qp_close(&r.qp) || vbn_cq_close(&r.cq) || vbn_pd_close(&r.pd) || vbn_pd_close(&pd) || vbn_context_close(&r.context) ||
        vbn_cm_id_close(&r.id) || vbn_cm_channel_close(&r.channel))
        _exit(99);
    if (cm.channels || cm.ids || cm.unacked || cm.holds)
        _exit(98);
    return status;
}

/* A GPU's memory of three segments, which are exported one by one: regions of it, and the NIC that is nearest. */
enum { SEGMENTS = 3, SEGMENT = 2 << 20 };
static struct tree gpu_tree;

static CUdeviceptr gpu_memory(void)
{
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}, .allocFlags = {.gpuDirectRDMACapable = 1}};
    CUmemAccessDesc access = {{1, 0}, 3};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr addr = 0;
    CUcontext context;
    int bad;

    sim.reset();
    sim.segments_export(0);
    sim.pci(0, "0000:02:00.0");
    bad = simcuda_use(0) || sim.cuda.Init(0) || sim.cuda.CtxCreate(&context, 0, 0) || sim.cuda.MemAddressReserve(&addr, SEGMENTS * SEGMENT, 0, 0, 0);
    for (uint64_t i = 0; i < SEGMENTS && !bad; i++)
        bad = sim.cuda.MemCreate(&handle, SEGMENT, &prop, 0) || sim.cuda.MemMap(addr + i * SEGMENT, SEGMENT, 0, handle, 0) ||
              sim.cuda.MemRelease(handle);
    if (bad || sim.cuda.MemSetAccess(addr, SEGMENTS * SEGMENT, &access, 1))
        _exit(96);
    return addr;
}

static vbn_status gpu_regions(void)
{
    int64_t shape[] = {1000};
    vbn_dltensor tensor = {.device_type = VBN_DL_CUDA, .ndim = 1, .dtype_code = 2, .dtype_bits = 32, .dtype_lanes = 1, .shape = shape};
    vbn_distance_attr nearest = {.struct_size = sizeof(nearest), .gpu_kind = VBN_GPU_KIND_CUDA, .sysfs = gpu_tree.root};
    NEW(vbn_gpu_mr_report, report);
    NEW(vbn_gpu_dmabuf, buf);
    vbn_distance_info nics[2];
    vbn_mr_set *set = NULL, *of_tensor = NULL;
    long was = countdown;
    uint64_t memory;
    vbn_status status;
    uint32_t n;

    countdown = -1;
    memory = gpu_memory();
    countdown = was;
    tensor.data = (void *)(uintptr_t)memory;
    status = vbn_context_open("null0", NULL, &g.context);
    if (!status)
        status = vbn_pd_alloc(g.context, NULL, &g.pd);
    if (!status)
        status = vbn_gpu_mr_reg(g.pd, memory + 5, SEGMENTS * SEGMENT - 5, VBN_ACCESS_LOCAL_WRITE, NULL, &set, &report);
    if (!status)
        status = vbn_mr_reg_dltensor(g.pd, &tensor, VBN_ACCESS_LOCAL_WRITE, NULL, &of_tensor, NULL);
    buf.fd = -1;
    if (!status)
        status = vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, memory + 7, 100, NULL, &buf);
    if (buf.fd >= 0)
        close(buf.fd);
    if (!status)
        status = vbn_nic_nearest(&nearest, nics, sizeof(nics[0]), 2, &n);
    if (status)
        failure(status);
    if (vbn_mr_set_close(&set) || vbn_mr_set_close(&of_tensor))
        _exit(99);
    if (sim.contexts() != 1 || (!status && n != 2))
        _exit(95);
    was = countdown;
    countdown = -1;
    sim.reset();
    countdown = was;
    return status;
}

/* How many descriptors the process has. */
static unsigned descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
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
    for (size_t i = 0; i < ARRAY_SIZE(efa_peers); i++)
        if (vbn_peer_close(&efa_peers[i]) || efa_peers[i])
            return "vbn_peer_close";
    if (vbn_ah_close(&efa_ah) || efa_ah)
        return "vbn_ah_close";
    CLOSE(context);
    CLOSE(channel);
    CLOSE(qp);
    status = vbn_srq_close(&g_srq);
    if (status || g_srq)
        return "vbn_srq_close";
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
    unsigned fds = descriptors();

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
    else if (left.contexts || left.pds || left.mrs || left.channels || left.cqs || left.qps || left.srqs || left.ahs || left.lists || left.fds || left.mws)
        printf("n %ld: after %s, %u contexts %u PDs %u MRs %u channels %u CQs %u QPs %u SRQs %u AHs %u lists %u fds are left", nth, failed_message,
               left.contexts, left.pds, left.mrs, left.channels, left.cqs, left.qps, left.srqs, left.ahs, left.lists, left.fds);
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
        if (descriptors() != fds)
            printf("n %ld: %u descriptors, %u before", nth, descriptors(), fds);
        else if (status || close || left.contexts || left.fds)
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
SCENARIO(making_efa_objects, efa_objects, 1)
SCENARIO(making_connections, connecting, 1)
SCENARIO(loading_the_library, everything, 0)
SCENARIO(registering_gpu_memory_swept, gpu_regions, 1)

static void registering_gpu_memory(void)
{
    gpu_tree = tree_open();
    tree_device(&gpu_tree, "pci0000:00/0000:00:01.0/0000:02:00.0", 0, NULL);
    tree_device(&gpu_tree, "pci0000:00/0000:00:02.0/0000:03:00.0", 0, "null0");
    tree_device(&gpu_tree, "pci0000:00/0000:00:02.0/0000:03:00.1", 0, "null1");
    registering_gpu_memory_swept();
    tree_close(&gpu_tree);
}

static const struct test tests[] = {
    {"listing_devices", listing_devices},
    {"making_objects", making_objects},
    {"using_everything", using_everything},
    {"growing_slabs", growing_slabs},
    {"making_efa_objects", making_efa_objects},
    {"making_connections", making_connections},
    {"loading_the_library", loading_the_library},
    {"registering_gpu_memory", registering_gpu_memory},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    if (simcuda_start())
        return 2;
    setenv("NULLV_EFA", "1", 1);
    return test_main("oom_sweep", tests, argc, argv);
}
