/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vbn_gpu_* and regions over a small HSA runtime of our own, and over it and the simulated libcuda at once. */
#include "null_gpu.h"
#include "simhsa.h"
#include "sysfs_tree.h"

/* The runtime is the library's, and the driver's descriptors are counted from here on. */
static void rocm_begin(void)
{
    hsa_use();
    fds_before = fds();
}

static const struct {
    const char *symbol;
    unsigned calls;
} hsa_symbols[] = {{"hsa_amd_pointer_info", 1 << QUERY | 1 << EXPORT},
                   {"hsa_amd_portable_export_dmabuf", 1 << EXPORT},
                   {"hsa_iterate_agents", 1 << QUERY | 1 << EXPORT | 1 << COUNT | 1 << DEVICE},
                   {"hsa_agent_get_info", 1 << QUERY | 1 << EXPORT | 1 << COUNT | 1 << DEVICE},
                   {"hsa_system_get_info", 0}};

static size_t symbol_at;

static void hsa_lacks_one(void)
{
    const char *name = hsa_symbols[symbol_at].symbol;
    NEW(vbn_gpu_device_info, device);

    rocm_begin();
    hsa.hidden = name;
    for (int which = 0; which < FLUSH; which++) {
        int fails = hsa_symbols[symbol_at].calls >> which & 1;

        ends(which, ROCM, hsa_piece(HSA_GPU1), fails ? VBN_ERR_SYMBOL_MISSING : VBN_OK, name);
        if (fails)
            WANT_TEXT("ROCm");
    }
    if (!(hsa_symbols[symbol_at].calls >> DEVICE & 1)) {
        OK(vbn_gpu_device_query(ROCM, 0, &device));
        MUST(device.dmabuf == (symbol_at == 1 ? 0 : symbol_at == 4 ? -1 : 1), "dmabuf %d", device.dmabuf);
    }
    MUST(fds() == fds_before, "descriptors");
}

static void rocm_symbols_missing(void)
{
    for (symbol_at = 0; symbol_at < ARRAY_SIZE(hsa_symbols); symbol_at++)
        in_child(hsa_lacks_one);
}

static void rocm(void)
{
    NEW(vbn_gpu_device_info, device);
    NEW(vbn_gpu_dmabuf, buf);
    vbn_gpu_pointer_info info;
    uint32_t count;
    uint64_t base;

    rocm_begin();
    base = hsa_piece(HSA_GPU1);
    OK(vbn_gpu_device_count(ROCM, &count));
    MUST(count == 2, "%u GPUs", count);
    OK(vbn_gpu_device_query(ROCM, 1, &device));
    MUST(device.kind == ROCM && device.device == 1 && device.dmabuf == 1 && device.gpudirect_rdma == -1 && device.writes_ordering == -1, "device");
    MUST(!strcmp(device.pci_address, "0002:23:03.1") && !strcmp(device.name, "AMD test 3") && device.numa_node == -1, "%s %s", device.pci_address,
         device.name);
    WANT(vbn_gpu_device_query(ROCM, 2, &device), VBN_ERR_NOT_FOUND);
    WANT_NUMBERS(2, 2);
    WANT_TEXT("ROCR_VISIBLE_DEVICES");
    info = query(ROCM, base + 100);
    MUST(info.kind == ROCM && info.memory == VBN_GPU_MEMORY_DEVICE && info.device == 1 && info.base == base && info.size == 65536, "device memory");
    MUST(!info.buffer_id && !info.context && info.allocation == VBN_GPU_ALLOCATION_UNKNOWN && info.rdma_capable == -1 && info.mapped == 1, "rest");
    MUST(info.range_base == base && info.range_size == 65536, "range");
    info = query(ROCM, base + 65536);
    MUST(info.memory == VBN_GPU_MEMORY_HOST && info.device == -1 && info.base == base + 65536, "locked");
    MUST(query(ROCM, base + 2 * 65536).memory == VBN_GPU_MEMORY_HOST, "of the CPU agent");
    info = query(ROCM, base + 3 * 65536);
    MUST(info.memory == VBN_GPU_MEMORY_DEVICE && info.device == 0, "IPC");
    MUST(query(ROCM, (uint64_t)&count).memory == VBN_GPU_MEMORY_UNKNOWN, "a variable");

    /* The runtime takes any alignment, and tells where it is. */
    OK(vbn_gpu_dmabuf_export(ROCM, base + 12345, 1000, NULL, &buf));
    MUST(buf.kind == ROCM && buf.offset == 12345 && buf.base == base && buf.length == 13345 && fcntl(buf.fd, F_GETFD) == FD_CLOEXEC, "dma-buf");
    close(buf.fd);
    /* Each library is asked, and the one that knows the address answers. */
    begin();
    MUST(query(ANY, base).kind == ROCM, "kind");
    OK(vbn_gpu_dmabuf_export(ANY, base, 65536, NULL, &buf));
    MUST(buf.kind == ROCM, "kind");
    close(buf.fd);
    done(1);
    /* One that isn't initialised can't hide what the other knows, */
    begin_cold();
    MUST(query(ANY, base).kind == ROCM, "kind");
    done(0);
    /* nor the other way round. */
    hsa.fail_at = "hsa_amd_pointer_info";
    hsa.fail = 0x100b;
    begin();
    MUST(query(ANY, base).memory == VBN_GPU_MEMORY_UNKNOWN, "memory");
    hsa.fail_at = NULL;
    done(1);
}

static void rocm_refuses(void)
{
    static const struct {
        unsigned code;
        vbn_status status;
        const char *text;
    } cases[] = {{0x100b, VBN_ERR_DRIVER, "HSA_STATUS_ERROR_NOT_INITIALIZED (0x100b)"}, {0x1008, VBN_ERR_NO_MEMORY, "ulimit -n"},
                 {0x1003, VBN_ERR_ARGUMENT, "one allocation"}, {0x1004, VBN_ERR_NOT_SUPPORTED, "exports none"},
                 {0x1000, VBN_ERR_DRIVER, "HSA_STATUS_ERROR (0x1000)"}, {0x4242, VBN_ERR_DRIVER, "hsa_status_t 0x4242"}};
    NEW(vbn_gpu_dmabuf_attr, attr);
    NEW(vbn_gpu_dmabuf, buf);
    uint64_t base;
    unsigned before = hsa.exports;

    rocm_begin();
    base = hsa_piece(HSA_GPU1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        static const char *const functions[] = {"hsa_amd_pointer_info", "hsa_iterate_agents", "hsa_amd_portable_export_dmabuf"};

        hsa.fail = cases[i].code;
        for (size_t f = 0; f < ARRAY_SIZE(functions); f++) {
            hsa.fail_at = functions[f];
            ends(EXPORT, ROCM, base, cases[i].status, cases[i].text);
            WANT_TEXT(functions[f]);
            MUST(last()->vendor_domain == VBN_VENDOR_HSA && last()->vendor_code == cases[i].code, "vendor");
        }
    }
    hsa.fail_at = NULL;
    MUST(hsa.exports == before, "exported all the same");
    ends(FLUSH, ROCM, 0, VBN_ERR_NOT_SUPPORTED, "RDMA READ");
    ends(SYNC, ROCM, 0, VBN_ERR_NOT_SUPPORTED, "hipDeviceSynchronize");
    attr.flags = VBN_GPU_DMABUF_PCIE;
    WANT(vbn_gpu_dmabuf_export(ROCM, base, 1, &attr, &buf), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("leave it out");
    WANT(vbn_gpu_dmabuf_export(ROCM, base + 1, 65536, NULL, &buf), VBN_ERR_ARGUMENT);
    WANT_NUMBERS(65536, 65535);
    WANT(vbn_gpu_dmabuf_export(ROCM, base + 65536, 1, NULL, &buf), VBN_ERR_ARGUMENT);
    WANT_TEXT("memory of the host");
    hsa.unsupported = 1;
    ends(EXPORT, ROCM, base, VBN_ERR_NOT_SUPPORTED, "CONFIG_PCI_P2PDMA");
    hsa.unsupported = 0;
    hsa.no_fd = 1;
    ends(EXPORT, ROCM, base, VBN_ERR_DRIVER, "without a descriptor");
    hsa.no_fd = 0;
    MUST(fds() == fds_before, "descriptors");
}

/* ---- Regions ---- */

#define ACCESS (VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_WRITE | VBN_ACCESS_REMOTE_READ)

static struct rig g;
static vbn_gpu_mr_report report;
static vbn_mr_set *set;

static void regions_begin(void)
{
    null_begin();
    g = rig_open();
    rocm_begin();
}

static void regions_end(void)
{
    MUST(fds() == fds_before, "descriptors: %u, before %u", fds(), fds_before);
    rig_close(&g);
    null_clean();
}

/* `tensor` NULL: by address. Report, result and what is there don't contradict each other. */
static vbn_status reg(const vbn_dltensor *tensor, uint64_t ptr, uint64_t length, const vbn_gpu_mr_attr *attr)
{
    struct nullv_live live;
    vbn_status status;

    memset(&report, 0x5a, sizeof(report));
    report.struct_size = sizeof(report);
    set = (void *)&report;
    status = tensor ? vbn_mr_reg_dltensor(g.pd, tensor, ACCESS, attr, &set, &report) : vbn_gpu_mr_reg(g.pd, ptr, length, ACCESS, attr, &set, &report);
    null.live(&live);
    MUST(!status == !!set && live.mrs == null_before.mrs + 1 + !status, "%u regions after %s", live.mrs, vbn_status_name(status));
    MUST(fds() == fds_before, "descriptors: %u, before %u", fds(), fds_before);
    return status;
}

static int32_t state_of(void)
{
    int32_t state = 77;

    OK(vbn_gpu_mr_validate(set, &state));
    return state;
}

/* One region by dma-buf, at any address; the provider is given the offset that the runtime tells. The set and the peer's record say
   whose memory it is. */
static void regions(void)
{
    NEW(vbn_gpu_mr_attr, attr);
    NEW(vbn_mr_set_info, info);
    NEW(vbn_mr_entry, entry);
    NEW(vbn_mr_info, mr);
    NEW(vbn_region_info, told);
    NEW(vbn_region_info, back);
    NEW(vbn_split_attr, split);
    struct nullv_mr_args args;
    uint8_t bytes[VBN_RECORD_MAX_SIZE];
    uint64_t at, total;
    vbn_send_wr wr;
    uint32_t count;
    size_t size;
    int owner;
    struct tree tree = tree_open();

    tree_device(&tree, "pci0002:00/0002:23:03.1", 1, NULL);
    setenv("VBN_SYSFS", tree.root, 1);
    regions_begin();
    at = hsa_piece(HSA_GPU1) + 12345;
    attr.owner = &owner;
    for (int kind = ANY; kind <= ROCM; kind += ROCM - ANY) {
        attr.kind = kind;
        OK(reg(NULL, at, 1000, &attr));
        MUST(report.kind == ROCM && report.device == 1 && report.path == VBN_GPU_PATH_DMABUF && report.count == 1 && report.segments == 1 &&
                 !report.buffer_id && report.allocation == VBN_GPU_ALLOCATION_UNKNOWN,
             "the report");
        null.last_reg_mr(&args);
        MUST(!strcmp(args.fn, "ibv_reg_dmabuf_mr") && args.iova == at && args.length == 1000 && args.offset == 12345 && args.access == ACCESS,
             "%s, offset %llu", args.fn, (unsigned long long)args.offset);
        OK(vbn_mr_set_query(set, &info));
        MUST(info.memory == VBN_MEMORY_ROCM && info.gpu == 1 && info.owner == &owner && info.place_set & VBN_PLACE_SET_PCI && info.pci_domain == 2 &&
                 info.pci_bus == 0x23 && info.pci_device == 3 && info.pci_function == 1,
             "what the set tells");
        OK(vbn_mr_set_entry(set, 0, &entry));
        OK(vbn_mr_query(entry.mr, &mr));
        MUST(entry.addr == at && entry.length == 1000 && mr.kind == VBN_MR_DMABUF && !mr.memory, "the region");
        OK(vbn_region_info_local((const vbn_mr_set *const *)&set, 1, NULL, &told));
        OK(vbn_region_info_encode(&told, bytes, sizeof(bytes), &size));
        OK(vbn_region_info_decode(bytes, size, &back));
        MUST(back.memory == VBN_MEMORY_ROCM && back.place_set & VBN_PLACE_SET_GPU && back.gpu == 1 && back.pci_domain == 2 && back.pci_bus == 0x23 &&
                 back.entries[0].addr == at && back.length == 1000 && back.place_set & VBN_PLACE_SET_NUMA && back.numa_node == 1,
             "the record");
        split.opcode = VBN_WR_RDMA_WRITE;
        split.mr_set = set;
        split.length = 8;
        split.flags = VBN_SEND_INLINE;
        WANT(vbn_rdma_split(g.qp, &split, 0, &wr, 1, &count, &total), VBN_ERR_ARGUMENT);
        WANT_TEXT("the memory is a GPU's");
        /* There are no numbers of allocations, so replaced memory isn't noticed; freed memory is. */
        MUST(state_of() == VBN_GPU_MR_UNKNOWN, "state %d", state_of());
        hsa.freed = 1u << HSA_GPU1;
        MUST(state_of() == VBN_GPU_MR_FREED, "state %d", state_of());
        hsa.freed = 0;
        OK(vbn_mr_set_close(&set));
    }
    /* The other GPU's, which another process has shared; and a dma-buf "for each segment", of which there is one. */
    attr.paths = VBN_GPU_PATH_SEGMENTS;
    OK(reg(NULL, hsa_piece(HSA_GPU0), HSA_SIZE, &attr));
    MUST(report.device == 0 && report.path == VBN_GPU_PATH_SEGMENTS && report.count == 1, "GPU %d, path %u", report.device, report.path);
    OK(vbn_mr_set_close(&set));
    regions_end();
    unsetenv("VBN_SYSFS");
    tree_close(&tree);
}

/* Each way that fails has its reason; by address, no module knows an AMD GPU's memory. */
static void regions_refused(void)
{
    NEW(vbn_gpu_mr_attr, attr);
    uint64_t at;

    regions_begin();
    at = hsa_piece(HSA_GPU1) + 100;
    hsa.unsupported = 1;
    OK(reg(NULL, at, 1000, NULL));
    MUST(report.path == VBN_GPU_PATH_PEER && report.attempts[0].outcome == VBN_GPU_ATTEMPT_FAILED, "path %u", report.path);
    CHECK_HAS(report.attempts[0].reason, "CONFIG_PCI_P2PDMA");
    OK(vbn_mr_set_close(&set));
    null.fail("reg_mr", 1, EFAULT);
    WANT(reg(NULL, at, 1000, NULL), VBN_ERR_DRIVER);
    WANT_ERRNO(EFAULT);
    WANT_TEXT("dma-buf: the kernel's amdgpu driver exports no dma-bufs");
    WANT_TEXT("| peer memory: ibv_reg_mr_iova2 failed");
    WANT_TEXT("know no AMD GPU's memory");
    hsa.unsupported = 0;
    attr.paths = VBN_GPU_PATH_DMABUF;
    hsa.fail_at = "hsa_amd_portable_export_dmabuf";
    hsa.fail = 0x1000;
    WANT(reg(NULL, at, 1000, &attr), VBN_ERR_DRIVER);
    MUST(report.attempts[0].vendor_domain == VBN_VENDOR_HSA && report.attempts[0].vendor_code == 0x1000 && last()->vendor_code == 0x1000, "vendor");
    hsa.fail_at = NULL;
    attr.flags = VBN_GPU_DMABUF_PCIE;
    WANT(reg(NULL, at, 1000, &attr), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("leave it out");
#define REFUSED(ptr, length, text) \
    do { \
        WANT(reg(NULL, ptr, length, NULL), VBN_ERR_ARGUMENT); \
        WANT_TEXT(text); \
        MUST(!report.path && report.attempts[0].outcome == VBN_GPU_ATTEMPT_NONE, "something was tried"); \
    } while (0)
    REFUSED(at, 0, "length 0");
    REFUSED(at, HSA_SIZE - 99, "what the allocation has left");
    REFUSED(at, UINT64_MAX, "the room from ptr to 2^64");
    REFUSED(hsa_piece(HSA_LOCKED), 64, "memory of the host");
    REFUSED(hsa_piece(HSA_CPU), 64, "memory of the host");
    REFUSED((uint64_t)rig_memory, 64, "is none of a GPU's");
    hsa.freed = 1u << HSA_GPU1;
    REFUSED(at, 64, "freed");
#undef REFUSED
    regions_end();
}

/* A tensor that says ROCm is taken as ROCm's, whoever else knows its address. */
static void tensors(void)
{
    int64_t shape[] = {10, 25};
    vbn_dltensor tensor = {.device_type = VBN_DL_ROCM, .device_id = 1, .ndim = 2, .dtype_code = 2, .dtype_bits = 32, .dtype_lanes = 1, .shape = shape,
        .byte_offset = 200};
    NEW(vbn_mr_set_info, info);

    begin();
    done(1);
    regions_begin();
    tensor.data = (void *)hsa_piece(HSA_GPU1);
    OK(reg(&tensor, 0, 0, NULL));
    OK(vbn_mr_set_query(set, &info));
    MUST(info.memory == VBN_MEMORY_ROCM && info.gpu == 1 && info.length == 1000 && report.kind == ROCM && report.path == VBN_GPU_PATH_DMABUF, "the set");
    MUST(state_of() == VBN_GPU_MR_UNKNOWN, "state %d", state_of());
    OK(vbn_mr_set_close(&set));
    tensor.data = (void *)hsa_piece(HSA_LOCKED);
    WANT(reg(&tensor, 0, 0, NULL), VBN_ERR_ARGUMENT);
    WANT_TEXT("memory of the host");
    tensor.device_type = VBN_DL_ROCM_HOST;
    OK(reg(&tensor, 0, 0, NULL));
    OK(vbn_mr_set_query(set, &info));
    MUST(info.memory == VBN_MEMORY_HOST && !report.path, "pinned memory");
    OK(vbn_mr_set_close(&set));
    /* One of AMD's that says CUDA: that library doesn't know it. */
    tensor.device_type = VBN_DL_CUDA;
    tensor.data = (void *)hsa_piece(HSA_GPU1);
    WANT(reg(&tensor, 0, 0, NULL), VBN_ERR_ARGUMENT);
    WANT_TEXT("is none of a GPU's");
    regions_end();
    CU(sim.cuda.CtxDestroy(context));
}

/* Each call of the runtime failing in turn: a registration and a look at it end with a status and a sentence, or go another way; nothing stays. */
static void every_call_fails(void)
{
    NEW(vbn_gpu_mr_attr, attr);
    unsigned refused = 0, other_way = 0;
    int32_t state;

    attr.kind = ROCM;
    regions_begin();
    for (size_t f = 0; f < ARRAY_SIZE(hsa_symbols); f++)
        for (int validating = 0; validating < 2; validating++)
            for (unsigned k = 1;; k++) {
                vbn_status status;

                if (validating)
                    OK(reg(NULL, hsa_piece(HSA_GPU1) + 5, 1000, &attr));
                hsa.fail_at = hsa_symbols[f].symbol;
                hsa.fail = 0x1000;
                hsa.fail_call = k;
                hsa.calls = 0;
                status = validating ? vbn_gpu_mr_validate(set, &state) : reg(NULL, hsa_piece(HSA_GPU1) + 5, 1000, &attr);
                hsa.fail_at = NULL;
                if (status) {
                    refused++;
                    MUST(status == VBN_ERR_DRIVER && last()->vendor_domain == VBN_VENDOR_HSA && last()->vendor_code == 0x1000, "call %u of %s: %s", k,
                         hsa_symbols[f].symbol, last()->message);
                    WANT_TEXT("HSA_STATUS_ERROR (0x1000)");
                } else if (!validating)
                    other_way += report.path != VBN_GPU_PATH_DMABUF;
                if (set)
                    OK(vbn_mr_set_close(&set));
                MUST(fds() == fds_before, "call %u of %s: descriptors", k, hsa_symbols[f].symbol);
                if (hsa.calls < k)
                    break;
            }
    MUST(refused >= 4 && other_way == 1, "%u failures, %u another way", refused, other_way);
    regions_end();
}

static const struct test tests[] = {
    {"rocm_symbols_missing", rocm_symbols_missing},
    {"rocm", rocm},
    {"rocm_refuses", rocm_refuses},
    {"regions", regions},
    {"regions_refused", regions_refused},
    {"tensors", tensors},
    {"every_call_fails", every_call_fails},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_rocm", tests, argc, argv);
}
