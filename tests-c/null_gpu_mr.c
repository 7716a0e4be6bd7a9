/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * vbn_gpu_mr_* and vbn_mr_reg_dltensor over the null provider and the simulated libcuda: each way to a region, what is told of those that failed,
 * that nothing stays behind, and whether freed memory is noticed.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include "null_efa.h"
#include "null_help.h"
#include "simcuda/simcuda_load.h"
#include "sysfs_tree.h"

#define MIB (UINT64_C(1) << 20)
#define SEGMENT (2 * MIB)
#define ACCESS (VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ)
#define EXPORT "cuMemGetHandleForAddressRange"
enum { INVALID_VALUE = 1, BUFFER_ID = 7, NOT_SUPPORTED = 801 };

#define CU(call) \
    do { \
        CUresult cu_ = (call); \
        MUST(!cu_, #call ": CUresult %d", (int)cu_); \
    } while (0)

static struct rig g;
static CUcontext context;
static unsigned fds_before;

static unsigned fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* What happens right behind an export. */
static void (*after_export)(void);

static CUresult export_and_more(void *out, CUdeviceptr addr, size_t size, unsigned type, unsigned long long flags)
{
    CUresult result = sim.cuda.MemGetHandleForAddressRange(out, addr, size, type, flags);

    if (after_export)
        after_export();
    return result;
}

static void *lookup(const char *symbol, const char *version, void *arg)
{
    CUresult (*mine)(void *, CUdeviceptr, size_t, unsigned, unsigned long long) = export_and_more;
    void *address = sim.lookup(symbol, version, arg);

    if (address && !strcmp(symbol, EXPORT))
        memcpy(&address, &mine, sizeof(address));
    return address;
}

/* The driver is initialised, and a context of GPU 0 is current. */
static void begin(void)
{
    NEW(vbn_library_attr, attr);

    sim.reset();
    after_export = NULL;
    attr.library = VBN_LIBRARY_CUDA;
    attr.lookup = lookup;
    OK(vbn_library_init(&attr));
    CU(sim.cuda.Init(0));
    CU(sim.cuda.CtxCreate(&context, 0, 0));
    null_begin();
    g = rig_open();
}

/* Nothing is left, neither of the driver's nor of the provider's, and the thread's contexts are as they were. */
static void end(void)
{
    rig_close(&g);
    null_clean();
    MUST(!sim.open(), "the driver has %u things left", sim.open());
    MUST(sim.contexts() == 1, "contexts: %u", sim.contexts());
}

static CUdeviceptr alloc(size_t size)
{
    CUdeviceptr ptr;

    CU(sim.cuda.MemAlloc(&ptr, size));
    fds_before = fds();
    return ptr;
}

/* VMM memory, with a hole of a segment behind it. */
static CUdeviceptr vmm_new(size_t segments)
{
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}, .allocFlags = {.gpuDirectRDMACapable = 1}};
    CUmemAccessDesc access = {{1, 0}, 3};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr addr;

    CU(sim.cuda.MemAddressReserve(&addr, (segments + 1) * SEGMENT, 0, 0, 0));
    for (size_t i = 0; i < segments; i++) {
        CU(sim.cuda.MemCreate(&handle, SEGMENT, &prop, 0));
        CU(sim.cuda.MemMap(addr + i * SEGMENT, SEGMENT, 0, handle, 0));
        CU(sim.cuda.MemRelease(handle));
    }
    CU(sim.cuda.MemSetAccess(addr, segments * SEGMENT, &access, 1));
    fds_before = fds();
    return addr;
}

static void vmm_free(CUdeviceptr addr, size_t segments)
{
    CU(sim.cuda.MemUnmap(addr, segments * SEGMENT));
    CU(sim.cuda.MemAddressFree(addr, (segments + 1) * SEGMENT));
}

/* A registration and its report, which must not contradict each other; no descriptor stays in any case. */
static vbn_gpu_mr_report report;
static vbn_mr_set *set;

static vbn_status reg(uint64_t ptr, uint64_t length, const vbn_gpu_mr_attr *attr)
{
    static const uint32_t paths[] = {VBN_GPU_PATH_DMABUF, VBN_GPU_PATH_SEGMENTS, VBN_GPU_PATH_PEER};
    static const vbn_gpu_attempt none;
    vbn_status status;
    int won = 0;

    memset(&report, 0x5a, sizeof(report));
    report.struct_size = sizeof(report);
    set = (void *)&report;
    status = vbn_gpu_mr_reg(g.pd, ptr, length, ACCESS, attr, &set, &report);
    MUST(!status == !!set, "*out after %s", vbn_status_name(status));
    MUST(!status == !!report.path && !status == !!report.count, "path %u count %u after %s", report.path, report.count, vbn_status_name(status));
    MUST(report.num_attempts == ARRAY_SIZE(paths), "%u attempts", report.num_attempts);
    MUST(!memcmp(&report.attempts[3], &none, sizeof(none)) && !memcmp(&report.attempts[4], &none, sizeof(none)), "behind the last attempt isn't zero");
    for (int i = 0; i < 3; i++) {
        const vbn_gpu_attempt *a = &report.attempts[i];

        MUST(a->path == paths[i], "path of attempt %d", i);
        MUST((a->outcome == VBN_GPU_ATTEMPT_WON) == !a->reason[0], "reason of attempt %d: %s", i, a->reason);
        MUST((a->outcome == VBN_GPU_ATTEMPT_FAILED) == (a->status != VBN_OK), "status of attempt %d: %s", i, vbn_status_name(a->status));
        if (a->outcome == VBN_GPU_ATTEMPT_WON) {
            MUST(!won++ && a->path == report.path, "attempt %d has won", i);
        }
    }
    MUST(won == !status, "%d have won", won);
    MUST(fds() == fds_before, "descriptors: %u, before %u", fds(), fds_before);
    return status;
}

static vbn_mr_entry entry_of(uint32_t index)
{
    NEW(vbn_mr_entry, entry);

    OK(vbn_mr_set_entry(set, index, &entry));
    return entry;
}

static vbn_mr_set_info info_of(void)
{
    NEW(vbn_mr_set_info, info);

    OK(vbn_mr_set_query(set, &info));
    return info;
}

static int kind_of(const vbn_mr *mr)
{
    NEW(vbn_mr_info, info);

    OK(vbn_mr_query(mr, &info));
    MUST(!info.memory, "memory that no CPU can see");
    return info.kind;
}

/* One dma-buf, whatever the alignment: the provider is given the whole pages' descriptor and the offset in it. */
static void one_dmabuf(void)
{
    static const struct {
        uint64_t offset, length;
    } cases[] = {{0, 4 * MIB}, {0, 1}, {1, 1}, {4095, 2}, {12345, MIB}, {4 * MIB - 1, 1}, {2 * MIB - 7, 4096}};
    NEW(vbn_gpu_mr_attr, attr);
    NEW(vbn_gpu_pointer_info, pointer);
    struct nullv_mr_args args;
    CUdeviceptr ptr;
    int owner;

    begin();
    sim.pci(0, "0000:C1:02.3");
    ptr = alloc(4 * MIB);
    attr.owner = &owner;
    attr.user_data = 99;
    OK(vbn_gpu_pointer_query(VBN_GPU_KIND_ANY, ptr, &pointer));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t at = ptr + cases[i].offset;

        OK(reg(at, cases[i].length, &attr));
        MUST(report.path == VBN_GPU_PATH_DMABUF && report.count == 1 && report.segments == 1 && report.kind == VBN_GPU_KIND_CUDA &&
                 report.device == 0 && report.allocation == pointer.allocation && report.buffer_id == pointer.buffer_id && report.buffer_id,
             "the report");
        CHECK_HAS(report.attempts[1].reason, "an earlier path has worked");
        null.last_reg_mr(&args);
        MUST(!strcmp(args.fn, "ibv_reg_dmabuf_mr") && args.iova == at && args.length == cases[i].length && args.offset == at % 4096 &&
                 args.access == ACCESS && args.fd >= 0,
             "%s iova %#llx offset %llu", args.fn, (unsigned long long)args.iova, (unsigned long long)args.offset);
        vbn_mr_set_info info = info_of();
        MUST(info.owner == &owner && info.user_data == 99 && info.length == cases[i].length && info.count == 1 && info.takes &&
                 info.memory == VBN_MEMORY_CUDA && info.gpu == 0,
             "what the set tells");
        MUST(info.place_set & VBN_PLACE_SET_GPU && info.place_set & VBN_PLACE_SET_PCI && info.pci_domain == 0 && info.pci_bus == 0xc1 &&
                 info.pci_device == 2 && info.pci_function == 3,
             "where it says that the GPU is: %llx, %x", (unsigned long long)info.place_set, info.pci_bus);
        vbn_mr_entry entry = entry_of(0);
        NEW(vbn_mr_info, mr);
        OK(vbn_mr_query(entry.mr, &mr));
        MUST(entry.addr == at && entry.length == cases[i].length && mr.kind == VBN_MR_DMABUF && mr.owner == &owner && mr.user_data == 99, "the entry");
        OK(vbn_mr_set_close(&set));
    }
    /* Without attr and report. */
    OK(vbn_gpu_mr_reg(g.pd, ptr, 5, ACCESS, NULL, &set, NULL));
    OK(vbn_mr_set_close(&set));
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* Several segments as one dma-buf where the driver can, else one for each. */
static void segments(void)
{
    CUdeviceptr ptr;
    uint64_t first = 12345, length = 2 * SEGMENT + 777;

    begin();
    ptr = vmm_new(3);
    OK(reg(ptr + first, length, NULL));
    MUST(report.path == VBN_GPU_PATH_DMABUF && report.count == 1 && report.segments == 3, "path %u of %u", report.path, report.segments);
    OK(vbn_mr_set_close(&set));

    sim.segments_export(0);
    OK(reg(ptr + first, length, NULL));
    MUST(report.path == VBN_GPU_PATH_SEGMENTS && report.count == 3, "path %u, %u regions", report.path, report.count);
    MUST(report.attempts[0].outcome == VBN_GPU_ATTEMPT_FAILED && report.attempts[0].vendor_domain == VBN_VENDOR_CUDA && report.attempts[0].vendor_code,
         "what of the first");
    CHECK_HAS(report.attempts[0].reason, EXPORT);
    CHECK_HAS(report.attempts[0].reason, "several segments");
    MUST(report.attempts[2].outcome == VBN_GPU_ATTEMPT_NONE, "and the last");
    MUST(entry_of(0).addr == ptr + first && entry_of(0).length == SEGMENT - first, "entry 0");
    MUST(entry_of(1).addr == ptr + SEGMENT && entry_of(1).length == SEGMENT && entry_of(1).offset == SEGMENT - first, "entry 1");
    MUST(entry_of(2).addr == ptr + 2 * SEGMENT && entry_of(2).length == first + 777, "entry 2");
    MUST(info_of().length == length && kind_of(entry_of(1).mr) == VBN_MR_DMABUF, "the set");
    OK(vbn_mr_set_close(&set));

    /* Also where the driver doesn't tell that it is VMM memory. */
    sim.fail("cuMemRetainAllocationHandle", 0, NOT_SUPPORTED);
    OK(reg(ptr + first, length, NULL));
    MUST(report.allocation == VBN_GPU_ALLOCATION_UNKNOWN && report.segments == 3 && report.path == VBN_GPU_PATH_SEGMENTS && report.count == 3,
         "path %u of %u", report.path, report.segments);
    OK(vbn_mr_set_close(&set));
    OK(reg(ptr + first, 1, NULL));
    MUST(report.segments == 1 && report.path == VBN_GPU_PATH_DMABUF, "path %u of %u", report.path, report.segments);
    OK(vbn_mr_set_close(&set));
    sim.fail("cuMemRetainAllocationHandle", 0, 0);
    vmm_free(ptr, 3);
    end();
}

/* By address, when nothing can be exported; whole, or piece by piece. */
static void peer(void)
{
    struct nullv_mr_args args;
    CUdeviceptr ptr;

    begin();
    ptr = alloc(MIB);
    sim.plain_export(0);
    OK(reg(ptr + 5, 1000, NULL));
    MUST(report.path == VBN_GPU_PATH_PEER && report.count == 1, "path %u", report.path);
    CHECK_HAS(report.attempts[0].reason, "expandable_segments");
    CHECK_HAS(report.attempts[1].reason, "one segment");
    null.last_reg_mr(&args);
    MUST(args.fd == -1 && (uint64_t)args.addr == ptr + 5 && args.iova == ptr + 5 && args.length == 1000, "%s", args.fn);
    MUST(kind_of(entry_of(0).mr) == VBN_MR_PEER && entry_of(0).addr == ptr + 5, "the entry");
    MUST(!strcmp(vbn_mr_kind_name(VBN_MR_PEER), "PEER"), "the kind's name");
    OK(vbn_mr_set_close(&set));
    CU(sim.cuda.MemFree(ptr));

    ptr = vmm_new(2);
    sim.fail(EXPORT, 0, NOT_SUPPORTED);
    OK(reg(ptr + SEGMENT - 1, 2, NULL));
    MUST(report.path == VBN_GPU_PATH_PEER && report.count == 1, "path %u, %u regions", report.path, report.count);
    OK(vbn_mr_set_close(&set));
    null.fail("reg_mr", 1, EFAULT);
    OK(reg(ptr + SEGMENT - 1, 2, NULL));
    MUST(report.path == VBN_GPU_PATH_PEER && report.count == 2, "path %u, %u regions", report.path, report.count);
    MUST(entry_of(0).length == 1 && entry_of(1).addr == ptr + SEGMENT, "the entries");
    OK(vbn_mr_set_close(&set));
    /* The second piece fails: the first doesn't stay, and what the whole has said is told. */
    null.fail("reg_mr", 1, EFAULT);
    null.fail("reg_mr", 3, ENOMEM);
    WANT(reg(ptr, 2 * SEGMENT, NULL), VBN_ERR_DRIVER);
    WANT_ERRNO(EFAULT);
    sim.fail(EXPORT, 0, 0);
    vmm_free(ptr, 2);
    end();
}

/* All ways fail: one message has every reason, and so has the report. */
static void every_reason(void)
{
    struct tree tree;
    CUdeviceptr ptr;
    struct nullv_live live;

    /* A host without modules, whatever this one has. */
    tree = tree_open();
    setenv("VBN_SYSFS", tree.root, 1);
    begin();
    ptr = alloc(MIB);
    sim.plain_export(0);
    null.fail("reg_mr", 1, EFAULT);
    WANT(reg(ptr, 4096, NULL), VBN_ERR_DRIVER);
    WANT_ERRNO(EFAULT);
    test_note("%s", last()->message);
    WANT_TEXT("vbn_gpu_mr_reg: no path to the GPU's memory worked: dma-buf: " EXPORT " failed");
    WANT_TEXT("| a dma-buf for each segment: not tried, since the memory is one segment");
    WANT_TEXT("| peer memory: ibv_reg_mr_iova2 failed");
    WANT_TEXT("Bad address");
    WANT_TEXT("modprobe nvidia_peermem");
    MUST(report.attempts[0].outcome == VBN_GPU_ATTEMPT_FAILED && report.attempts[1].outcome == VBN_GPU_ATTEMPT_NONE &&
             report.attempts[2].outcome == VBN_GPU_ATTEMPT_FAILED && report.attempts[2].sys_errno == EFAULT,
         "the report");
    MUST(strstr(last()->message, report.attempts[2].reason), "the report says: %s", report.attempts[2].reason);
    /* With one the remedy is another, and a size that the bus doesn't show has its own. */
    null.fail("reg_mr", 1, EINVAL);
    WANT(reg(ptr, 4096, NULL), VBN_ERR_DRIVER);
    WANT_TEXT("modprobe nvidia_peermem");
    for (int module = 0; module < 2; module++) {
        const char *path = tree_path(&tree, "module/%s/", module ? "nv_peer_mem" : "nvidia_peermem");

        null.fail("reg_mr", 1, EFAULT);
        WANT(reg(ptr, 4096, NULL), VBN_ERR_DRIVER);
        WANT_TEXT("a peer-memory module is loaded, but it doesn't know this address");
        null.fail("reg_mr", 1, EINVAL);
        WANT(reg(ptr, 4096, NULL), VBN_ERR_DRIVER);
        WANT_TEXT("(BAR1; bar_size");
        MUST(!rmdir(path), "rmdir");
    }
    null.fail("reg_mr", 1, ENOMEM);
    WANT(reg(ptr, 4096, NULL), VBN_ERR_NO_MEMORY);
    WANT_TEXT("(BAR1; bar_size");
    unsetenv("VBN_SYSFS");
    tree_close(&tree);
    CU(sim.cuda.MemFree(ptr));

    /* A kernel without dma-bufs, segments, and no module. */
    ptr = vmm_new(2);
    null.fail("reg_mr", 0, EOPNOTSUPP);
    WANT(reg(ptr, 2 * SEGMENT, NULL), VBN_ERR_NOT_SUPPORTED);
    test_note("%s", last()->message);
    for (int i = 0; i < 3; i++)
        MUST(report.attempts[i].outcome == VBN_GPU_ATTEMPT_FAILED && report.attempts[i].sys_errno == EOPNOTSUPP, "attempt %d: %s", i,
             report.attempts[i].reason);
    CHECK_HAS(report.attempts[0].reason, "5.12");
    WANT(vbn_gpu_mr_reg(g.pd, ptr, 100, ACCESS, NULL, &set, NULL), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("no path");
    null.reset();
    null.live(&live);
    MUST(live.mrs == null_before.mrs + 1, "%u regions", live.mrs);
    vmm_free(ptr, 2);
    end();
}

/* A libibverbs without ibv_reg_dmabuf_mr, as before rdma-core 34. What registers by address notes the context that is current. */
static void *verbs_library;
static struct ibv_mr *(*reg_mr_iova2)(struct ibv_pd *, void *, size_t, uint64_t, unsigned);
static CUcontext seen_context;

static struct ibv_mr *reg_and_look(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
    sim.cuda.CtxGetCurrent(&seen_context);
    return reg_mr_iova2(pd, addr, length, iova, access);
}

static void *old_verbs(const char *symbol, const char *version, void *arg)
{
    struct ibv_mr *(*mine)(struct ibv_pd *, void *, size_t, uint64_t, unsigned) = reg_and_look;
    void *address = strcmp(symbol, "ibv_reg_dmabuf_mr") ? dlvsym(verbs_library, symbol, version) : NULL;

    (void)arg;
    if (!strcmp(symbol, "ibv_reg_mr_iova2")) {
        memcpy(&reg_mr_iova2, &address, sizeof(address));
        memcpy(&address, &mine, sizeof(address));
    }
    return address;
}

static void without_reg_dmabuf(void)
{
    NEW(vbn_library_attr, library);
    NEW(vbn_gpu_mr_attr, attr);
    CUdeviceptr ptr, several;
    CUcontext now;

    verbs_library = dlopen(getenv("VBN_IBVERBS_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    MUST(verbs_library, "dlopen: %s", dlerror());
    library.lookup = old_verbs;
    OK(vbn_library_init(&library));
    begin();
    ptr = alloc(MIB);
    several = vmm_new(2);
    /* Peer memory it is, and the report says what the others lacked. */
    OK(reg(several + 5, SEGMENT, NULL));
    MUST(report.path == VBN_GPU_PATH_PEER && kind_of(entry_of(0).mr) == VBN_MR_PEER, "path %u", report.path);
    for (int i = 0; i < 2; i++) {
        MUST(report.attempts[i].status == VBN_ERR_SYMBOL_MISSING, "attempt %d: %s", i, report.attempts[i].reason);
        CHECK_HAS(report.attempts[i].reason, "ibv_reg_dmabuf_mr");
        CHECK_HAS(report.attempts[i].reason, "34");
    }
    OK(vbn_mr_set_close(&set));
    null.fail("reg_mr", 1, EFAULT);
    WANT(reg(ptr, 4096, NULL), VBN_ERR_DRIVER);
    WANT_ERRNO(EFAULT);
    WANT_TEXT("no path to the GPU's memory worked: dma-buf: ibv_reg_dmabuf_mr is not in the loaded library");
    WANT_TEXT("update rdma-core");
    attr.paths = VBN_GPU_PATH_DMABUF;
    WANT(reg(ptr, 4096, &attr), VBN_ERR_SYMBOL_MISSING);
    /* A module may want a context: the memory's is current, in a thread that has none. */
    CU(sim.cuda.CtxPopCurrent(NULL));
    OK(reg(ptr, 4096, NULL));
    CU(sim.cuda.CtxGetCurrent(&now));
    MUST(seen_context == context && !now, "registered in another context");
    OK(vbn_mr_set_close(&set));
    CU(sim.cuda.CtxSetCurrent(context));
    vmm_free(several, 2);
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* In a process of its own, before this one has loaded its libibverbs: so it comes first. */
static void old_rdma_core(void)
{
    static const struct test child = {"without_reg_dmabuf", without_reg_dmabuf};
    int status;
    pid_t pid = test_fork();

    if (!pid)
        exit(test_child("null_gpu_mr", &child));
    MUST(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status), "the child");
}

/* Paths that attr forces or forbids. */
static void chosen_paths(void)
{
    NEW(vbn_gpu_mr_attr, attr);
    CUdeviceptr ptr, several;

    begin();
    ptr = alloc(MIB);
    attr.paths = VBN_GPU_PATH_PEER;
    OK(reg(ptr, 4096, &attr));
    MUST(report.path == VBN_GPU_PATH_PEER && !sim.calls(EXPORT), "path %u, %u exports", report.path, sim.calls(EXPORT));
    CHECK_HAS(report.attempts[0].reason, "paths leaves it out");
    OK(vbn_mr_set_close(&set));

    /* One segment is enough where that is the only way. */
    attr.paths = VBN_GPU_PATH_SEGMENTS;
    OK(reg(ptr, 4096, &attr));
    MUST(report.path == VBN_GPU_PATH_SEGMENTS && report.count == 1 && sim.calls(EXPORT) == 1, "path %u", report.path);
    OK(vbn_mr_set_close(&set));

    several = vmm_new(2);
    attr.paths = VBN_GPU_PATH_SEGMENTS | VBN_GPU_PATH_PEER;
    OK(reg(several, 2 * SEGMENT, &attr));
    MUST(report.path == VBN_GPU_PATH_SEGMENTS && report.count == 2, "path %u", report.path);
    OK(vbn_mr_set_close(&set));

    sim.plain_export(0);
    attr.paths = VBN_GPU_PATH_DMABUF | VBN_GPU_PATH_SEGMENTS;
    WANT(reg(ptr, 4096, &attr), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("peer memory: not tried, since paths leaves it out");
    vmm_free(several, 2);
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* The mapping over PCIe is asked for, or refused with what would do. */
static void pcie(void)
{
    NEW(vbn_gpu_mr_attr, attr);
    CUdeviceptr ptr;

    begin();
    ptr = alloc(MIB);
    attr.flags = VBN_GPU_DMABUF_PCIE;
    attr.paths = VBN_GPU_PATH_DMABUF;
    WANT(reg(ptr, 4096, &attr), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("VBN_GPU_DMABUF_PCIE");
    sim.pcie_export(1);
    OK(reg(ptr, 4096, &attr));
    OK(vbn_mr_set_close(&set));
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* What no NIC can be given, each with a sentence; nothing was tried. */
static void refused(void)
{
    NEW(vbn_gpu_mr_attr, attr);
    CUdeviceptr ptr, managed, several;
    void *pinned;
    static const uint64_t access[] = {VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_ON_DEMAND, VBN_ACCESS_HUGETLB, VBN_ACCESS_ZERO_BASED,
        VBN_ACCESS_REMOTE_WRITE, UINT64_C(1) << 50};

    begin();
    several = vmm_new(2);
    CU(sim.cuda.MemAllocManaged(&managed, MIB, 1));
    CU(sim.cuda.MemHostAlloc(&pinned, MIB, 0));
    ptr = alloc(MIB);
#define REFUSED(ptr_, length, text) \
    do { \
        WANT(reg(ptr_, length, NULL), VBN_ERR_ARGUMENT); \
        WANT_TEXT(text); \
        MUST(!report.path && report.attempts[0].outcome == VBN_GPU_ATTEMPT_NONE, "something was tried"); \
    } while (0)
    REFUSED(0, 1, "ptr is NULL");
    REFUSED(ptr, 0, "length 0");
    REFUSED(ptr, UINT64_MAX, "the room from ptr to 2^64");
    REFUSED((uintptr_t)rig_memory, 64, "host");
    REFUSED((uintptr_t)pinned, 64, "memory of the host");
    REFUSED(managed, 64, "managed memory");
    REFUSED(ptr, MIB + 1, "what the allocation has left");
    REFUSED(several, 2 * SEGMENT + 1, "nothing is mapped");
    for (size_t i = 0; i < ARRAY_SIZE(access); i++) {
        WANT(vbn_gpu_mr_reg(g.pd, ptr, 64, access[i], NULL, &set, NULL), VBN_ERR_ARGUMENT);
        WANT_TEXT(i < 4 ? "VBN_ACCESS_" : "unknown bits");
    }
    attr.flags = 2;
    WANT(reg(ptr, 64, &attr), VBN_ERR_ARGUMENT);
    attr.flags = 0;
    attr.paths = 8;
    WANT(reg(ptr, 64, &attr), VBN_ERR_ARGUMENT);
    attr.paths = 0;
    attr.kind = 77;
    WANT(reg(ptr, 64, &attr), VBN_ERR_ARGUMENT);
    CU(sim.cuda.MemFree(ptr));
    fds_before = fds();
    REFUSED(ptr, 64, "freed");
    CU(sim.cuda.MemFree(managed));
    CU(sim.cuda.MemFreeHost(pinned));
    vmm_free(several, 2);
    end();
}
#undef REFUSED

/* Whatever fails on the way of three segments, and at which of them, nothing stays. */
static void failures_leave_nothing(void)
{
    NEW(vbn_gpu_mr_attr, attr);
    char told[64];
    CUdeviceptr ptr;
    struct nullv_live live;

    begin();
    ptr = vmm_new(3);
    attr.paths = VBN_GPU_PATH_SEGMENTS;
    for (unsigned k = 1; k <= 3; k++) {
        sim.fail(EXPORT, k, INVALID_VALUE);
        WANT(reg(ptr, 3 * SEGMENT, &attr), VBN_ERR_NOT_SUPPORTED);
        MUST(report.attempts[1].segment == k - 1, "segment %u of the failure at %u", report.attempts[1].segment, k - 1);
        null.fail("reg_mr", k, ENOMEM);
        WANT(reg(ptr, 3 * SEGMENT, &attr), VBN_ERR_NO_MEMORY);
        MUST(report.attempts[1].segment == k - 1, "segment %u of the failure at %u", report.attempts[1].segment, k - 1);
        snprintf(told, sizeof(told), "a dma-buf for each segment: [%u]: ", k - 1);
        WANT_TEXT(told);
        null.live(&live);
        MUST(live.mrs == null_before.mrs + 1, "%u regions", live.mrs);
    }
    attr.paths = 0;
    /* A driver without the functions: each is told, and by address it works. */
    sim.fail("cuMemGetAddressRange_v2", 0, INVALID_VALUE);
    WANT(reg(ptr, 3 * SEGMENT, &attr), VBN_ERR_ARGUMENT);
    sim.fail("cuMemGetAddressRange_v2", 0, 0);
    OK(reg(ptr, 3 * SEGMENT, &attr));
    /* A driver that refuses to deregister one of them: the set, and with it the owner, stays. */
    OK(vbn_mr_set_close(&set));
    attr.paths = VBN_GPU_PATH_SEGMENTS;
    attr.owner = &live;
    OK(reg(ptr, 3 * SEGMENT, &attr));
    null.fail("ibv_dereg_mr", 2, EBUSY);
    WANT(vbn_mr_set_close(&set), VBN_ERR_BUSY);
    MUST(set && info_of().owner == &live && info_of().lost, "the set after that");
    OK(vbn_mr_set_close(&set));
    vmm_free(ptr, 3);
    end();
}

/* The driver's functions that the library may call on the way to a region and back. */
static const char *const driver[] = {"cuPointerGetAttribute", "cuMemGetAddressRange_v2", "cuMemRetainAllocationHandle", "cuMemRelease",
    "cuMemGetAllocationPropertiesFromHandle", EXPORT, "cuDeviceGet", "cuDeviceGetCount", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceGetPCIBusId",
    "cuDriverGetVersion", "cuCtxGetCurrent", "cuCtxGetDevice", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxGetState",
    "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2"};

/*
 * Each call of the driver failing in turn, on each way to a region and when it is looked at. It ends with a status and a sentence, or without what the
 * call would have told; whichever, the thread's context is the one that it was, and no region, handle, descriptor or reference stays.
 */
static void every_call_fails(void)
{
    enum { PLAIN_WAY, VMM_WAY, SEGMENTS_WAY, PEER_WAY, VALIDATE, WAYS };
    static const uint32_t paths[WAYS] = {[SEGMENTS_WAY] = VBN_GPU_PATH_SEGMENTS, [PEER_WAY] = VBN_GPU_PATH_PEER};
    NEW(vbn_gpu_mr_attr, attr);
    struct nullv_live live;
    CUcontext primary, now;
    CUdeviceptr plain, vmm;
    unsigned seen[ARRAY_SIZE(driver)] = {0}, refused = 0, served = 0, held;
    int32_t state;

    begin();
    plain = alloc(MIB);
    CU(sim.cuda.PrimaryCtxRetain(&primary, 0));
    vmm = vmm_new(3);
    held = sim.open();
    for (size_t round = 0; round < 2 * ARRAY_SIZE(driver); round++) {
        /* First with a context in this thread, then without, when the memory's own and the primary one serve. */
        size_t f = round / 2;
        unsigned own = round % 2 == 0;

        CU(sim.cuda.CtxSetCurrent(own ? context : NULL));
        for (int way = 0; way < WAYS; way++)
            for (unsigned k = 1;; k++) {
                uint64_t ptr = way == PLAIN_WAY ? plain + 77 : vmm + 77, length = way == PLAIN_WAY ? 1000 : 2 * SEGMENT;
                unsigned before;
                vbn_status status;

                attr.paths = paths[way];
                if (way == VALIDATE)
                    OK(reg(ptr, length, &attr));
                before = sim.calls(driver[f]);
                sim.fail(driver[f], k, 999);
                status = way == VALIDATE ? vbn_gpu_mr_validate(set, &state) : reg(ptr, length, &attr);
                sim.fail(driver[f], 1, 0);
                seen[f] += sim.calls(driver[f]) - before;
                if (status) {
                    refused++;
                    MUST(status == VBN_ERR_DRIVER && last()->vendor_code == 999, "way %d, call %u of %s: %s", way, k, driver[f], last()->message);
                    WANT_TEXT("CUDA_ERROR_UNKNOWN (999)");
                } else
                    served++;
                /* Where even letting go is refused, what stays is the driver's. */
                if (!strcmp(driver[f], "cuMemRelease"))
                    held = sim.open();
                if (!strcmp(driver[f], "cuCtxPopCurrent_v2"))
                    while (sim.contexts() % 1000 > own)
                        CU(sim.cuda.CtxPopCurrent(NULL));
                if (!strcmp(driver[f], "cuDevicePrimaryCtxRelease_v2"))
                    while (sim.contexts() / 1000 > 1)
                        CU(sim.cuda.PrimaryCtxRelease(0));
                CU(sim.cuda.CtxGetCurrent(&now));
                MUST(now == (own ? context : NULL) && sim.contexts() == 1000 + own, "way %d, call %u of %s: contexts %u", way, k, driver[f], sim.contexts());
                if (set)
                    OK(vbn_mr_set_close(&set));
                null.live(&live);
                MUST(live.mrs == null_before.mrs + 1, "way %d, call %u of %s: %u regions", way, k, driver[f], live.mrs);
                MUST(sim.open() == held, "way %d, call %u of %s: left", way, k, driver[f]);
                MUST(fds() == fds_before, "way %d, call %u of %s: descriptors", way, k, driver[f]);
                if (sim.calls(driver[f]) - before < k)
                    break;
            }
    }
    for (size_t f = 0; f < ARRAY_SIZE(driver); f++)
        MUST(seen[f] || strstr(driver[f], "Count") || !strcmp(driver[f], "cuMemGetAllocationPropertiesFromHandle"), "%s is never called", driver[f]);
    test_note("%u failures ended it, %u did not", refused, served);
    MUST(refused > 30 && served > 30, "%u and %u", refused, served);
    rig_close(&g);
    null_clean();
    sim.reset();
}

/* Memory that is freed between the look at it and the end of the registration. */
static void freed_meanwhile(void)
{
    CUdeviceptr ptr;
    unsigned all, some;
    int32_t state;
    struct nullv_live live;

    begin();
    ptr = alloc(MIB);
    all = sim.calls("cuPointerGetAttribute");
    OK(reg(ptr, 4096, NULL));
    some = sim.calls("cuPointerGetAttribute");
    OK(vbn_gpu_mr_validate(set, &state));
    /* The registration ends with what vbn_gpu_mr_validate does. */
    all = some - all;
    some = sim.calls("cuPointerGetAttribute") - some;
    OK(vbn_mr_set_close(&set));
    for (int told = 0; told < 2; told++) {
        sim.fail("cuPointerGetAttribute", all - some + 1, INVALID_VALUE);
        set = NULL;
        WANT(told ? reg(ptr, 4096, NULL) : vbn_gpu_mr_reg(g.pd, ptr, 4096, ACCESS, NULL, &set, NULL), VBN_ERR_ARGUMENT);
        WANT_TEXT("freed while");
    }
    CHECK_HAS(report.attempts[0].reason, "freed while");
    null.live(&live);
    MUST(!set && live.mrs == null_before.mrs + 1 && fds() == fds_before, "something stayed");
    CU(sim.cuda.MemFree(ptr));
    end();
}

static CUdeviceptr changing;
static int replaced;

/* The last segment of a range of two loses its memory, and may get other. */
static void change(void)
{
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}, .allocFlags = {.gpuDirectRDMACapable = 1}};
    CUmemAccessDesc access = {{1, 0}, 3};
    CUmemGenericAllocationHandle handle;
    unsigned with = fds();

    after_export = NULL;
    CU(sim.cuda.MemUnmap(changing + SEGMENT, SEGMENT));
    if (replaced) {
        CU(sim.cuda.MemCreate(&handle, SEGMENT, &prop, 0));
        CU(sim.cuda.MemMap(changing + SEGMENT, SEGMENT, 0, handle, 0));
        CU(sim.cuda.MemRelease(handle));
        CU(sim.cuda.MemSetAccess(changing + SEGMENT, SEGMENT, &access, 1));
    }
    /* The simulation has a descriptor for each piece of memory. */
    fds_before += fds() - with;
}

/* The same by the driver itself, between an export and the end: freed, and replaced by other memory at the same address. */
static void changed_meanwhile(void)
{
    struct nullv_live live;

    begin();
    for (replaced = 0; replaced < 2; replaced++) {
        changing = vmm_new(2);
        after_export = change;
        WANT(reg(changing, 2 * SEGMENT, NULL), VBN_ERR_ARGUMENT);
        WANT_TEXT("freed while");
        MUST(!after_export, "nothing was exported");
        MUST(report.attempts[0].outcome == VBN_GPU_ATTEMPT_FAILED && report.attempts[0].status == VBN_ERR_ARGUMENT, "attempt 0");
        CHECK_HAS(report.attempts[0].reason, "freed while");
        for (int i = 1; i < 3; i++) {
            MUST(report.attempts[i].outcome == VBN_GPU_ATTEMPT_NONE, "attempt %d", i);
            CHECK_HAS(report.attempts[i].reason, "the same as the one before");
        }
        null.live(&live);
        MUST(!set && live.mrs == null_before.mrs + 1, "something stayed");
        if (replaced)
            CU(sim.cuda.MemUnmap(changing + SEGMENT, SEGMENT));
        CU(sim.cuda.MemUnmap(changing, SEGMENT));
        CU(sim.cuda.MemAddressFree(changing, 3 * SEGMENT));
    }
    end();
}

static int32_t state_of(void)
{
    int32_t state = 77;

    OK(vbn_gpu_mr_validate(set, &state));
    return state;
}

/* Freed memory is noticed, and so is other memory at its address. */
static void validate(void)
{
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}, .allocFlags = {.gpuDirectRDMACapable = 1}};
    CUmemAccessDesc access = {{1, 0}, 3};
    CUmemGenericAllocationHandle handle;
    vbn_mr_set *plain;
    CUdeviceptr ptr;
    int32_t state = 77;

    begin();
    ptr = alloc(MIB);
    OK(reg(ptr + 100, 64, NULL));
    MUST(state_of() == VBN_GPU_MR_VALID, "state %d", state_of());
    CU(sim.cuda.MemFree(ptr));
    MUST(state_of() == VBN_GPU_MR_FREED, "state %d", state_of());
    OK(vbn_mr_set_close(&set));

    /* The middle one of three segments. */
    ptr = vmm_new(3);
    OK(reg(ptr + 100, 3 * SEGMENT - 200, NULL));
    MUST(state_of() == VBN_GPU_MR_VALID, "state %d", state_of());
    CU(sim.cuda.MemUnmap(ptr + SEGMENT, SEGMENT));
    MUST(state_of() == VBN_GPU_MR_FREED, "state %d", state_of());
    CU(sim.cuda.MemCreate(&handle, SEGMENT, &prop, 0));
    CU(sim.cuda.MemMap(ptr + SEGMENT, SEGMENT, 0, handle, 0));
    CU(sim.cuda.MemRelease(handle));
    CU(sim.cuda.MemSetAccess(ptr + SEGMENT, SEGMENT, &access, 1));
    MUST(state_of() == VBN_GPU_MR_REPLACED, "state %d", state_of());
    sim.no_pointer_attribute(BUFFER_ID);
    MUST(state_of() == VBN_GPU_MR_UNKNOWN, "state %d", state_of());
    OK(vbn_mr_set_close(&set));
    /* And where there never was a number. */
    OK(reg(ptr, 64, NULL));
    MUST(!report.buffer_id && state_of() == VBN_GPU_MR_UNKNOWN, "state %d", state_of());
    OK(vbn_mr_set_close(&set));
    vmm_free(ptr, 3);

    OK(vbn_mr_set_create(&g.mr, 1, NULL, &plain));
    WANT(vbn_gpu_mr_validate(plain, &state), VBN_ERR_ARGUMENT);
    WANT_TEXT("vbn_gpu_mr_reg");
    MUST(state == 77, "a refused call wrote");
    OK(vbn_mr_set_close(&plain));
    end();
}

/* VMM memory, and no context but one of cuCtxCreate's: a thread without it is refused and told what to do, nothing is made for it, and it can. */
static void *in_created(void *arg)
{
    static char why[1200];
    CUdeviceptr ptr = *(CUdeviceptr *)arg;
    vbn_mr_set *own = NULL;
    vbn_status status = vbn_gpu_mr_reg(g.pd, ptr, 4096, ACCESS, NULL, &own, NULL);

    why[0] = 0;
    if (status != VBN_ERR_DRIVER || own || !strstr(last()->message, "nobody has made its primary one") || !strstr(last()->message, "cuCtxSetCurrent"))
        snprintf(why, sizeof(why), "without: %s", status ? last()->message : "succeeded");
    if (sim.cuda.CtxSetCurrent(context) || vbn_gpu_mr_reg(g.pd, ptr, 4096, ACCESS, NULL, &own, NULL) || vbn_mr_set_close(&own))
        snprintf(why, sizeof(why), "with: %s", last()->message);
    return why[0] ? why : NULL;
}

static void created_context(void)
{
    CUdeviceptr ptr;
    pthread_t thread;
    void *bad;
    int device;

    begin();
    ptr = vmm_new(1);
    MUST(!pthread_create(&thread, NULL, in_created, &ptr) && !pthread_join(thread, &bad), "thread");
    MUST(!bad, "%s", (const char *)bad);
    MUST(!sim.calls("cuDevicePrimaryCtxRetain") && sim.context_at(EXPORT, &device) == context, "the library made a context");
    vmm_free(ptr, 1);
    end();
}

/* A thread without a context, and one whose context is another GPU's: both are as before afterwards. */
static void *in_a_thread(void *arg)
{
    CUdeviceptr ptr = *(CUdeviceptr *)arg;
    vbn_mr_set *own = NULL;
    CUcontext now = &ptr;
    vbn_status status = vbn_gpu_mr_reg(g.pd, ptr, 4096, ACCESS, NULL, &own, NULL);

    if (status || vbn_mr_set_close(&own) || sim.cuda.CtxGetCurrent(&now) || now)
        return (void *)last()->message;
    return NULL;
}

static void other_contexts(void)
{
    CUdeviceptr ptr, several;
    CUcontext other, now, primary;
    pthread_t thread;
    void *bad;
    int device;

    begin();
    ptr = alloc(MIB);
    several = vmm_new(1);
    MUST(!pthread_create(&thread, NULL, in_a_thread, &ptr) && !pthread_join(thread, &bad), "thread");
    MUST(!bad, "%s", (const char *)bad);
    CU(sim.cuda.CtxCreate(&other, 0, 1));
    fds_before = fds();
    OK(reg(ptr, 4096, NULL));
    MUST(sim.context_at(EXPORT, &device) == context && device == 0, "exported in a context of GPU %d", device);
    OK(vbn_mr_set_close(&set));
    /* VMM memory has no context: its GPU's primary one where there is one, else the thread's own does. */
    OK(reg(several, 4096, NULL));
    MUST(sim.context_at(EXPORT, &device) == other && device == 1, "exported in a context of GPU %d", device);
    OK(vbn_mr_set_close(&set));
    CU(sim.cuda.PrimaryCtxRetain(&primary, 0));
    OK(reg(several, 4096, NULL));
    MUST(sim.context_at(EXPORT, &device) == primary && device == 0, "exported in a context of GPU %d", device);
    OK(vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, 0, VBN_GPU_FLUSH_OWNER, NULL));
    MUST(sim.context_at("cuFlushGPUDirectRDMAWrites", &device) == primary && device == 0, "flushed in a context of GPU %d", device);
    OK(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, 0));
    MUST(sim.context_at("cuCtxSynchronize", &device) == primary && device == 0, "waited in a context of GPU %d", device);
    OK(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, VBN_GPU_DEVICE_CURRENT));
    MUST(sim.context_at("cuCtxSynchronize", &device) == other && device == 1, "waited in a context of GPU %d", device);
    OK(vbn_mr_set_close(&set));
    CU(sim.cuda.PrimaryCtxRelease(0));
    CU(sim.cuda.CtxGetCurrent(&now));
    MUST(now == other, "another context is current");
    CU(sim.cuda.CtxDestroy(other));
    CU(sim.cuda.CtxSetCurrent(context));
    vmm_free(several, 1);
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* Many at once. */
enum { THREADS = 4, ROUNDS = 50 };

static void *many(void *arg)
{
    CUdeviceptr ptr = *(CUdeviceptr *)arg;

    for (uintptr_t i = 0; i < ROUNDS; i++) {
        vbn_mr_set *own;
        int32_t state;

        if (vbn_gpu_mr_reg(g.pd, ptr + i, 4096 + i, ACCESS, NULL, &own, NULL) || vbn_gpu_mr_validate(own, &state) || state != VBN_GPU_MR_VALID ||
            vbn_mr_set_close(&own))
            return (void *)(i + 1);
    }
    return NULL;
}

static void threads(void)
{
    CUdeviceptr ptr;
    pthread_t thread[THREADS];
    void *bad;

    begin();
    ptr = alloc(MIB);
    for (int i = 0; i < THREADS; i++)
        MUST(!pthread_create(&thread[i], NULL, many, &ptr), "thread");
    for (int i = 0; i < THREADS; i++)
        MUST(!pthread_join(thread[i], &bad) && !bad, "thread %d: round %llu", i, (unsigned long long)(uintptr_t)bad);
    MUST(fds() == fds_before, "descriptors: %u, before %u", fds(), fds_before);
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* A peer is told where the memory lives: the GPU by the driver, its NUMA node by sysfs, which tells BAR1 too. */
static void record(void)
{
    NEW(vbn_gpu_device_info, gpu);
    struct tree tree = tree_open();
    NEW(vbn_region_info, info);
    NEW(vbn_region_info, back);
    uint8_t bytes[VBN_RECORD_MAX_SIZE];
    CUdeviceptr ptr;
    size_t size;

    tree_device(&tree, "pci0002:00/0002:0f:00.0", 1, NULL);
    tree_write(tree_path(&tree, "devices/pci0002:00/0002:0f:00.0/resource"),
               "0x00000000b0000000 0x00000000b0ffffff 0x0000000000040200\n0x0000380000000000 0x0000381fffffffff 0x000000000014220c");
    setenv("VBN_SYSFS", tree.root, 1);
    begin();
    sim.pci(0, "0002:0f:00.0");
    OK(vbn_gpu_device_query(VBN_GPU_KIND_CUDA, 0, &gpu));
    MUST(gpu.bar_size == 128ull << 30 && gpu.numa_node == 1, "BAR1 %llu, node %d", (unsigned long long)gpu.bar_size, gpu.numa_node);
    ptr = vmm_new(2);
    sim.segments_export(0);
    OK(reg(ptr + 4, 2 * SEGMENT - 8, NULL));
    OK(vbn_region_info_local((const vbn_mr_set *const *)&set, 1, NULL, &info));
    OK(vbn_region_info_encode(&info, bytes, sizeof(bytes), &size));
    OK(vbn_region_info_decode(bytes, size, &back));
    MUST(back.memory == VBN_MEMORY_CUDA && back.place_set & VBN_PLACE_SET_PCI && back.pci_domain == 2 && back.pci_bus == 15 && back.gpu == 0 &&
             back.num_entries == 2 && back.entries[1].addr == ptr + SEGMENT && back.length == 2 * SEGMENT - 8 &&
             back.access == (VBN_ACCESS_REMOTE_READ | VBN_ACCESS_REMOTE_WRITE),
         "the record");
    MUST(back.place_set == (VBN_PLACE_SET_GPU | VBN_PLACE_SET_PCI | VBN_PLACE_SET_NUMA) && back.numa_node == 1, "node %d", back.numa_node);
    OK(vbn_mr_set_close(&set));
    vmm_free(ptr, 2);
    end();
    unsetenv("VBN_SYSFS");
    tree_close(&tree);
}

/* No request that is split has the CPU copy from a GPU: not by the set, not by one of its regions, not by a set of those made by hand. */
static void inline_is_refused(void)
{
    NEW(vbn_split_attr, attr);
    CUdeviceptr ptr;
    vbn_mr *mr;
    vbn_mr_set *own;
    vbn_send_wr wr;
    uint32_t count;
    uint64_t total;

    begin();
    ptr = alloc(MIB);
    for (int peer = 0; peer < 2; peer++) {
        sim.plain_export(!peer);
        OK(reg(ptr, 4096, NULL));
        mr = entry_of(0).mr;
        MUST(kind_of(mr) == (peer ? VBN_MR_PEER : VBN_MR_DMABUF), "kind");
        attr.opcode = VBN_WR_RDMA_WRITE;
        attr.length = 8;
        for (int way = 0; way < 3; way++) {
            own = NULL;
            attr.mr = way == 1 ? mr : NULL;
            attr.mr_set = way == 0 ? set : NULL;
            if (way == 2) {
                /* The region belongs to its set alone; one of vbn_mr_reg_dmabuf's goes into any. */
                NEW(vbn_gpu_dmabuf, buf);

                if (peer)
                    continue;
                OK(vbn_gpu_dmabuf_export(VBN_GPU_KIND_ANY, ptr, 4096, NULL, &buf));
                OK(vbn_mr_reg_dmabuf(g.pd, buf.fd, buf.offset, 4096, ptr, ACCESS, NULL, &mr));
                close(buf.fd);
                OK(vbn_mr_set_create((vbn_mr *[]){g.mr, mr}, 2, NULL, &own));
                attr.mr_set = own;
            }
            attr.flags = attr.last_flags = 0;
            OK(vbn_rdma_split(g.qp, &attr, 0, &wr, 1, &count, &total));
            for (int where = 0; where < 2; where++) {
                attr.flags = where ? 0 : VBN_SEND_INLINE;
                attr.last_flags = where ? VBN_SEND_INLINE : 0;
                WANT(vbn_rdma_split(g.qp, &attr, 0, &wr, 1, &count, &total), VBN_ERR_ARGUMENT);
                WANT_TEXT("leave VBN_SEND_INLINE out");
                WANT_TEXT(way ? "VBN_MR_DMABUF, VBN_MR_PEER" : "the memory is a GPU's");
                MUST(!count && !total, "something was written");
            }
            if (own) {
                OK(vbn_mr_set_close(&own));
                OK(vbn_mr_close(&mr));
            }
        }
        OK(vbn_mr_set_close(&set));
    }
    /* Of the host's it goes. */
    attr.mr_set = NULL;
    attr.mr = g.mr;
    OK(vbn_rdma_split(g.qp, &attr, 0, &wr, 1, &count, &total));
    MUST(wr.flags & VBN_SEND_INLINE, "flags");
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* ---- DLPack ---- */

/* As DLPack 1.1 documents it. */
typedef struct {
    int32_t device_type; /* an enum there */
    int32_t device_id;
} DLDevice;
typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;
#define SAME(ours, theirs) \
    _Static_assert(offsetof(vbn_dltensor, ours) == offsetof(DLTensor, theirs) && sizeof(((vbn_dltensor *)0)->ours) == sizeof(((DLTensor *)0)->theirs), \
                   #ours " is not where DLPack has it")
SAME(data, data);
SAME(device_type, device.device_type);
SAME(device_id, device.device_id);
SAME(ndim, ndim);
SAME(dtype_code, dtype.code);
SAME(dtype_bits, dtype.bits);
SAME(dtype_lanes, dtype.lanes);
SAME(shape, shape);
SAME(strides, strides);
SAME(byte_offset, byte_offset);
_Static_assert(sizeof(vbn_dltensor) == sizeof(DLTensor) && _Alignof(vbn_dltensor) == _Alignof(DLTensor), "size");

static vbn_status reg_tensor(const DLTensor *tensor, const vbn_gpu_mr_attr *attr)
{
    vbn_status status;

    memset(&report, 0x5a, sizeof(report));
    report.struct_size = sizeof(report);
    set = (void *)&report;
    status = vbn_mr_reg_dltensor(g.pd, (const vbn_dltensor *)tensor, ACCESS, attr, &set, &report);
    MUST(!status == !!set, "*out after %s", vbn_status_name(status));
    return status;
}

static void dltensor(void)
{
    int64_t shape[] = {4, 8}, strides[] = {8, 1}, turned[] = {1, 4};
    NEW(vbn_gpu_mr_attr, attr);
    DLTensor host = {rig_memory, {1, 0}, 2, {2, 32, 1}, shape, NULL, 256}, gpu = host, wrong;
    CUdeviceptr ptr;
    int owner;

    begin();
    ptr = alloc(MIB);
    attr.owner = &owner;
    for (int pinned = 0; pinned < 3; pinned++) {
        host.device.device_type = (const int[]){VBN_DL_CPU, VBN_DL_CUDA_HOST, VBN_DL_ROCM_HOST}[pinned];
        OK(reg_tensor(&host, &attr));
        MUST(info_of().owner == &owner && info_of().memory == VBN_MEMORY_HOST && info_of().length == 128 &&
                 entry_of(0).addr == (uintptr_t)rig_memory + 256 && !report.path,
             "a tensor of the host's");
        OK(vbn_mr_set_close(&set));
    }
    gpu.data = (void *)(uintptr_t)ptr;
    gpu.device.device_type = VBN_DL_CUDA;
    gpu.strides = strides;
    OK(reg_tensor(&gpu, &attr));
    MUST(info_of().owner == &owner && info_of().memory == VBN_MEMORY_CUDA && info_of().length == 128 && entry_of(0).addr == ptr + 256 &&
             report.path == VBN_GPU_PATH_DMABUF,
         "a tensor of the GPU's");
    MUST(state_of() == VBN_GPU_MR_VALID, "state");
    OK(vbn_mr_set_close(&set));
    OK(vbn_mr_reg_dltensor(g.pd, (const vbn_dltensor *)&gpu, ACCESS, NULL, &set, NULL));
    OK(vbn_mr_set_close(&set));
    attr.paths = VBN_GPU_PATH_PEER;
    OK(reg_tensor(&gpu, &attr));
    MUST(report.path == VBN_GPU_PATH_PEER, "path %u", report.path);
    OK(vbn_mr_set_close(&set));
    WANT(reg_tensor(&host, &attr), VBN_ERR_ARGUMENT);
    WANT_TEXT("paths and flags");
    attr.paths = 0;
    attr.kind = VBN_GPU_KIND_CUDA;
    WANT(reg_tensor(&gpu, &attr), VBN_ERR_ARGUMENT);
    WANT_TEXT("kind 1");

#define BAD(base, field, value, status, text) \
    do { \
        wrong = base; \
        wrong.field = value; \
        WANT(reg_tensor(&wrong, NULL), status); \
        WANT_TEXT(text); \
    } while (0)
    BAD(gpu, strides, turned, VBN_ERR_ARGUMENT, "the tensor is not contiguous: shape [4, 8], strides [1, 4]");
    BAD(host, strides, turned, VBN_ERR_ARGUMENT, "not contiguous");
    BAD(gpu, shape, ((int64_t[]){4, 0}), VBN_ERR_ARGUMENT, "the tensor is empty: shape [4, 0], strides [8, 1]");
    BAD(gpu, data, NULL, VBN_ERR_ARGUMENT, "data is NULL");
    BAD(gpu, byte_offset, UINT64_MAX, VBN_ERR_ARGUMENT, "the room from data to 2^64");
    BAD(gpu, byte_offset, MIB - 127, VBN_ERR_ARGUMENT, "what the allocation has left");
    BAD(gpu, device.device_type, VBN_DL_CUDA_MANAGED, VBN_ERR_ARGUMENT, "managed memory");
    BAD(gpu, device.device_type, 17, VBN_ERR_NOT_SUPPORTED, "device_type 17");
    BAD(gpu, device.device_type, -1, VBN_ERR_NOT_SUPPORTED, "device_type -1");
    BAD(gpu, ndim, -1, VBN_ERR_ARGUMENT, "ndim -1");
    BAD(gpu, ndim, 65, VBN_ERR_ARGUMENT, "ndim 65");
    BAD(gpu, dtype.bits, 0, VBN_ERR_ARGUMENT, "dtype_bits 0");
    BAD(gpu, dtype.lanes, 0, VBN_ERR_ARGUMENT, "dtype_lanes 0");
    BAD(gpu, shape, NULL, VBN_ERR_ARGUMENT, "shape is NULL");
    /* A pointer of the host's that calls itself the GPU's. */
    BAD(gpu, data, rig_memory, VBN_ERR_ARGUMENT, "host");
#undef BAD
    /* Both reasons are the tensor's own, one after the other. */
    wrong = gpu;
    wrong.strides = turned;
    WANT(reg_tensor(&wrong, NULL), VBN_ERR_ARGUMENT);
    sim.plain_export(0);
    null.fail("reg_mr", 1, EFAULT);
    WANT(reg_tensor(&gpu, NULL), VBN_ERR_DRIVER);
    WANT_TEXT("no path");
    null.fail("reg_mr", 1, ENOMEM);
    host.device.device_type = VBN_DL_CPU;
    WANT(reg_tensor(&host, NULL), VBN_ERR_NO_MEMORY);
    MUST(fds() == fds_before, "descriptors: %u, before %u", fds(), fds_before);
    CU(sim.cuda.MemFree(ptr));
    end();
}

/* By address alone, on one of the two devices; `refused`: the driver knows the address not. */
static void by_address(vbn_pd *pd, CUdeviceptr ptr, int refused, const char *why, const char *not_why)
{
    NEW(vbn_gpu_mr_attr, attr);
    NEW(vbn_gpu_mr_report, told);
    vbn_mr_set *made = NULL;

    attr.paths = VBN_GPU_PATH_PEER;
    if (!refused) {
        OK(vbn_gpu_mr_reg(pd, ptr, 4096, ACCESS, &attr, &made, &told));
        MUST(told.path == VBN_GPU_PATH_PEER, "path %u", told.path);
        OK(vbn_mr_set_close(&made));
        return;
    }
    null.fail("reg_mr", 1, EFAULT);
    WANT(vbn_gpu_mr_reg(pd, ptr, 4096, ACCESS, &attr, &made, &told), VBN_ERR_DRIVER);
    WANT_ERRNO(EFAULT);
    WANT_TEXT(why);
    MUST(!strstr(last()->message, not_why), "\"%s\" is in: %s", not_why, last()->message);
    CHECK_HAS(told.attempts[2].reason, why);
}

/*
 * A host with an EFA (null1) and a device of another kind (null0), as one with a ConnectX besides: each has its own module, neither's is taken for the other's, and what
 * the one has is not kept for the other.
 */
static void two_kinds(void)
{
    struct tree tree = tree_open();
    vbn_context *context_efa;
    vbn_pd *pd_efa;
    CUdeviceptr ptr;

    setenv("VBN_SYSFS", tree.root, 1);
    begin();
    efa_use();
    OK(vbn_context_open("null1", NULL, &context_efa));
    OK(vbn_pd_alloc(context_efa, NULL, &pd_efa));
    ptr = alloc(MIB);

    /* nvidia_peermem alone, and the kernel's file for the EFA empty. */
    tree_path(&tree, "module/nvidia_peermem/");
    tree_write(tree_path(&tree, "class/infiniband/null1/device/p2p"), "");
    by_address(g.pd, ptr, 0, NULL, NULL);
    by_address(pd_efa, ptr, 1, "load efa_nv_peermem", "modprobe nvidia_peermem");
    WANT_TEXT("efa doesn't use nvidia_peermem");
    by_address(g.pd, ptr, 1, "a peer-memory module is loaded, but", "efa_nv_peermem");

    /* efa_nv_peermem alone. */
    MUST(!rmdir(tree_path(&tree, "module/nvidia_peermem")), "rmdir");
    tree_path(&tree, "module/efa_nv_peermem/");
    tree_write(tree_path(&tree, "class/infiniband/null1/device/p2p"), "NVIDIA peermem");
    by_address(pd_efa, ptr, 0, NULL, NULL);
    by_address(g.pd, ptr, 1, "modprobe nvidia_peermem", "efa_nv_peermem");
    by_address(pd_efa, ptr, 1, "has a peer-memory provider (p2p in sysfs)", "nvidia_peermem");

    /* Both, neither. */
    tree_path(&tree, "module/nvidia_peermem/");
    by_address(g.pd, ptr, 0, NULL, NULL);
    by_address(pd_efa, ptr, 0, NULL, NULL);
    MUST(!rmdir(tree_path(&tree, "module/nvidia_peermem")), "rmdir");
    tree_write(tree_path(&tree, "class/infiniband/null1/device/p2p"), "");
    by_address(pd_efa, ptr, 1, "load efa_nv_peermem", "modprobe");
    by_address(g.pd, ptr, 1, "modprobe nvidia_peermem", "efa_nv_peermem");

    unsetenv("VBN_SYSFS");
    tree_close(&tree);
    CU(sim.cuda.MemFree(ptr));
    OK(vbn_pd_close(&pd_efa));
    OK(vbn_context_close(&context_efa));
    end();
}

static const struct test tests[] = {
    {"old_rdma_core", old_rdma_core},
    {"one_dmabuf", one_dmabuf},
    {"segments", segments},
    {"peer", peer},
    {"every_reason", every_reason},
    {"chosen_paths", chosen_paths},
    {"pcie", pcie},
    {"refused", refused},
    {"failures_leave_nothing", failures_leave_nothing},
    {"every_call_fails", every_call_fails},
    {"freed_meanwhile", freed_meanwhile},
    {"changed_meanwhile", changed_meanwhile},
    {"validate", validate},
    {"created_context", created_context},
    {"other_contexts", other_contexts},
    {"threads", threads},
    {"record", record},
    {"inline_is_refused", inline_is_refused},
    {"dltensor", dltensor},
    {"two_kinds", two_kinds},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    if (simcuda_start())
        return 2;
    return test_main("null_gpu_mr", tests, argc, argv);
}
