/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vbn_gpu_* over the simulated libcuda: what each answers, and what each failure of the driver becomes. */
#include <signal.h>
#include "null_gpu.h"

/* These come first, while the library has no libcuda yet. */

static void without_a_library(void)
{
    static const struct {
        int kind, library;
        const char *soname, *environment, *package;
    } kinds[] = {{CUDA, VBN_LIBRARY_CUDA, "libcuda.so.1", "VBN_CUDA_LIBRARY", "NVIDIA's driver"},
                 {ROCM, VBN_LIBRARY_ROCM, "libhsa-runtime64.so.1", "VBN_ROCM_LIBRARY", "ROCm's HSA runtime"}};
    NEW(vbn_library_attr, attr);
    NEW(vbn_library_info, info);
    NEW(vbn_symbol_info, symbol);
    char text[128];

    for (int which = 0; which < CALLS; which++)
        if (which == QUERY || which == EXPORT)
            ends(which, ANY, 4096, VBN_ERR_LIBRARY_MISSING, "neither libcuda.so.1 nor libhsa-runtime64.so.1 is loaded");
    WANT_TEXT("vbn_mr_reg");
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        attr.library = kinds[i].library;
        snprintf(text, sizeof(text), "/nowhere/%s", kinds[i].soname);
        attr.path = text;
        OK(vbn_library_init(&attr));
        for (int which = 0; which < CALLS; which++) {
            /* What ROCm has no call for needs no library to say so. */
            if (kinds[i].kind == ROCM && which >= FLUSH)
                continue;
            ends(which, kinds[i].kind, 4096, VBN_ERR_LIBRARY_MISSING, text);
            WANT_TEXT(kinds[i].soname);
            WANT_TEXT(kinds[i].environment);
            WANT_TEXT(kinds[i].package);
        }
        /* What was named is meant, by whoever asks. */
        ends(QUERY, ANY, 4096, VBN_ERR_LIBRARY_MISSING, text);
        OK(vbn_library_query(attr.library, &info));
        MUST(!info.loaded && info.library == attr.library && info.source == VBN_LIBRARY_FROM_PATH, "source %d", info.source);
        MUST(!strcmp(info.path, text) && strstr(info.error, "/nowhere") && !info.release_min, "%s: %s", info.path, info.error);
        WANT(vbn_library_missing(attr.library, 0, &symbol), VBN_ERR_LIBRARY_MISSING);

        /* Some other library under that name. */
        attr.path = "libm.so.6";
        OK(vbn_library_init(&attr));
        ends(QUERY, kinds[i].kind, 4096, VBN_ERR_SYMBOL_MISSING, "none of the");
        WANT_TEXT("libm.so.6");
        OK(vbn_library_query(attr.library, &info));
        MUST(!info.loaded && info.missing_count > 4 && strstr(info.error, "none of the"), "%u missing: %s", info.missing_count, info.error);
        OK(vbn_library_missing(attr.library, 0, &symbol));
        MUST(symbol.name[0] && !symbol.version[0] && !symbol.required && (strstr(symbol.since, "CUDA ") || strstr(symbol.since, "ROCm ")),
             "%s since %s", symbol.name, symbol.since);
        for (uint32_t at = 0; at < info.missing_count; at++) {
            OK(vbn_library_missing(attr.library, at, &symbol));
            MUST(symbol.needed_by[0], "%s: for what?", symbol.name);
        }
        WANT(vbn_library_missing(attr.library, info.missing_count, &symbol), VBN_ERR_NOT_FOUND);

        /* By the environment. */
        attr.path = NULL;
        OK(vbn_library_init(&attr));
        snprintf(text, sizeof(text), "/elsewhere/%s", kinds[i].soname);
        setenv(kinds[i].environment, text, 1);
        ends(QUERY, kinds[i].kind, 4096, VBN_ERR_LIBRARY_MISSING, text);
        ends(QUERY, ANY, 4096, VBN_ERR_LIBRARY_MISSING, text);
        unsetenv(kinds[i].environment);
    }
}

enum { VIA_PATH, VIA_ENV, VIA_HANDLE, VIA_LOADED };
static int via;

/* Every way to name it; and what something else has loaded is found by itself. */
static void one_way(void)
{
    NEW(vbn_library_attr, attr);
    NEW(vbn_library_info, info);
    static const int sources[] = {VBN_LIBRARY_FROM_PATH, VBN_LIBRARY_FROM_ENV, VBN_LIBRARY_FROM_HANDLE, VBN_LIBRARY_FROM_DEFAULT};

    MUST(!simcuda_start(), "no simulated libcuda");
    attr.library = VBN_LIBRARY_CUDA;
    if (via == VIA_PATH)
        attr.path = sim.path;
    if (via == VIA_ENV)
        setenv("VBN_CUDA_LIBRARY", sim.path, 1);
    if (via == VIA_HANDLE)
        attr.handle = sim.library;
    OK(vbn_library_init(&attr));
    CU(sim.cuda.Init(0));
    CU(sim.cuda.CtxCreate(&context, 0, 0));
    ends(QUERY, ANY, 4096, VBN_OK, NULL);
    ends(COUNT, CUDA, 0, VBN_OK, NULL);
    OK(vbn_library_query(VBN_LIBRARY_CUDA, &info));
    MUST(info.loaded && info.source == sources[via] && info.copies == 1 && !info.missing_count && !info.error[0], "source %d, %u copies, %u missing",
         info.source, info.copies, info.missing_count);
    MUST(!strcmp(info.path, sim.path), "%s, not %s", info.path, sim.path);
    MUST(sim.calls("cuInit") == 1, "cuInit");
    OK(vbn_library_init(&attr));
    attr.handle = NULL;
    attr.path = "/elsewhere";
    WANT(vbn_library_init(&attr), VBN_ERR_BUSY);
    WANT_TEXT("libcuda");
}

static void ways_to_name_it(void)
{
    for (via = VIA_PATH; via <= VIA_LOADED; via++)
        in_child(one_way);
}

static const struct {
    const char *symbol, *since;
    unsigned plain, vmm; /* the calls that fail, on memory of cuMemAlloc and on VMM memory, with a current context */
} symbols[] = {
    {"cuPointerGetAttribute", "CUDA 4.0", 1 << QUERY | 1 << EXPORT, 1 << QUERY | 1 << EXPORT},
    {"cuMemGetAddressRange_v2", "CUDA 3.2", 0, 1 << EXPORT},
    {"cuMemGetHandleForAddressRange", "CUDA 11.7", 1 << EXPORT, 1 << EXPORT},
    {"cuFlushGPUDirectRDMAWrites", "CUDA 11.3", 1 << FLUSH, 1 << FLUSH},
    {"cuCtxSynchronize", "CUDA 2.0", 1 << SYNC, 1 << SYNC},
    {"cuCtxGetCurrent", "CUDA 4.0", 1 << FLUSH | 1 << SYNC, 1 << FLUSH | 1 << SYNC | 1 << EXPORT},
    {"cuCtxGetDevice", "CUDA 2.0", 1 << FLUSH | 1 << SYNC, 1 << FLUSH | 1 << SYNC | 1 << EXPORT},
    {"cuCtxPushCurrent_v2", "CUDA 4.0", 1 << EXPORT, 0},
    {"cuCtxPopCurrent_v2", "CUDA 4.0", 1 << EXPORT, 0},
    {"cuDeviceGet", "CUDA 2.0", 1 << DEVICE, 1 << DEVICE},
    {"cuDeviceGetCount", "CUDA 2.0", 1 << COUNT, 1 << COUNT},
    {"cuDeviceGetAttribute", "CUDA 2.0", 0, 0},
    {"cuDeviceGetName", "CUDA 2.0", 0, 0},
    {"cuDeviceGetPCIBusId", "CUDA 4.1", 0, 0},
    {"cuDriverGetVersion", "CUDA 2.2", 0, 0},
    {"cuMemRetainAllocationHandle", "CUDA 11.0", 0, 0},
    {"cuMemGetAllocationPropertiesFromHandle", "CUDA 10.2", 0, 0},
    {"cuMemRelease", "CUDA 10.2", 0, 0},
    {"cuDevicePrimaryCtxGetState", "CUDA 7.0", 0, 0},
    {"cuDevicePrimaryCtxRetain", "CUDA 7.0", 0, 0},
    {"cuDevicePrimaryCtxRelease_v2", "CUDA 11.0", 0, 0},
};
static size_t symbol_at;

static void lacks_one(void)
{
    NEW(vbn_library_info, library);
    NEW(vbn_symbol_info, symbol);
    NEW(vbn_gpu_device_info, device);
    vbn_gpu_pointer_info info;
    CUdeviceptr plain;
    struct vmm vmm;
    const char *name = symbols[symbol_at].symbol;

    begin();
    sim.hide(name, 1);
    CU(sim.cuda.MemAlloc(&plain, 2 * MIB));
    vmm = vmm_new(1, 1, 0);
    for (int pass = 0; pass < 2; pass++)
        for (int which = 0; which < CALLS; which++) {
            int fails = (pass ? symbols[symbol_at].vmm : symbols[symbol_at].plain) >> which & 1;

            ends(which, CUDA, pass ? vmm.addr : plain, fails ? VBN_ERR_SYMBOL_MISSING : VBN_OK, name);
            if (fails) {
                WANT_TEXT(symbols[symbol_at].since);
                WANT_TEXT("driver");
                MUST(!strstr(last()->message, "rdma-core"), "%s", last()->message);
            }
            MUST(sim.contexts() == 1, "contexts");
        }
    OK(vbn_library_query(VBN_LIBRARY_CUDA, &library));
    MUST(library.loaded && library.missing_count == 1 && library.source == VBN_LIBRARY_FROM_LOOKUP, "%u missing", library.missing_count);
    OK(vbn_library_missing(VBN_LIBRARY_CUDA, 0, &symbol));
    MUST(!strcmp(symbol.name, name) && !strcmp(symbol.since, symbols[symbol_at].since) && symbol.needed_by[0], "%s", symbol.name);
    if (!strcmp(name, "cuMemRetainAllocationHandle") || !strcmp(name, "cuMemRelease")) {
        info = query(CUDA, vmm.addr);
        MUST(info.allocation == VBN_GPU_ALLOCATION_UNKNOWN && info.rdma_capable == 1, "allocation %d", info.allocation);
    }
    if (strcmp(name, "cuDeviceGet")) {
        OK(vbn_gpu_device_query(CUDA, 0, &device));
        if (!strcmp(name, "cuMemGetHandleForAddressRange"))
            MUST(device.dmabuf == 0, "dmabuf %d", device.dmabuf);
        if (!strcmp(name, "cuDeviceGetAttribute"))
            MUST(device.dmabuf == -1 && device.gpudirect_rdma == -1 && device.gpudirect_rdma_vmm == -1 && device.writes_ordering == -1 &&
                     device.flush_options == -1,
                 "known without attributes");
        MUST(!strcmp(name, "cuDeviceGetName") == !device.name[0], "name \"%s\"", device.name);
        MUST(!strcmp(name, "cuDriverGetVersion") == !device.driver_version, "version %d", device.driver_version);
        MUST(!strcmp(device.pci_address, "0000:fa:00.0"), "%s", device.pci_address);
    }
    CU(sim.cuda.MemFree(plain));
    vmm_free(&vmm);
    done(1);
}

static void symbols_missing(void)
{
    for (symbol_at = 0; symbol_at < ARRAY_SIZE(symbols); symbol_at++)
        in_child(lacks_one);
}

/* A driver of CUDA 10.1: what it can't tell is unknown, what it can't do is said. */
static void old(void)
{
    NEW(vbn_gpu_device_info, device);
    vbn_gpu_pointer_info info;
    CUdeviceptr plain;

    begin();
    sim.version(10010);
    CU(sim.cuda.MemAlloc(&plain, 2 * MIB));
    info = query(CUDA, plain + 100);
    MUST(info.memory == VBN_GPU_MEMORY_DEVICE && info.base == plain && info.size == 2 * MIB && info.range_base == plain && info.buffer_id, "info");
    MUST(info.allocation == VBN_GPU_ALLOCATION_UNKNOWN && info.rdma_capable == VBN_GPU_UNKNOWN && info.mapped == VBN_GPU_UNKNOWN, "%d %d %d",
         info.allocation, info.rdma_capable, info.mapped);
    OK(vbn_gpu_device_query(CUDA, 0, &device));
    MUST(device.dmabuf == 0 && device.gpudirect_rdma == -1 && device.gpudirect_rdma_vmm == -1 && device.flush_options == -1 &&
             device.writes_ordering == -1 && device.driver_version == 10010,
         "device");
    ends(EXPORT, CUDA, plain, VBN_ERR_SYMBOL_MISSING, "needs CUDA 11.7");
    WANT_TEXT("515");
    ends(FLUSH, CUDA, 0, VBN_ERR_SYMBOL_MISSING, "needs CUDA 11.3");
    WANT_TEXT("RDMA READ");
    CU(sim.cuda.MemFree(plain));
    done(1);
}

static void old_driver(void)
{
    in_child(old);
}

/* From here on it is loaded, and stays so. */

static void uninitialised(void)
{
    begin_cold();
    for (int which = 0; which < CALLS; which++) {
        ends(which, CUDA, 4096, VBN_ERR_DRIVER, "CUDA_ERROR_NOT_INITIALIZED (3)");
        WANT_TEXT("cuInit(0)");
        MUST(last()->vendor_domain == VBN_VENDOR_CUDA && last()->vendor_code == 3 && !last()->sys_errno, "vendor");
    }
    ends(QUERY, ANY, 4096, VBN_ERR_DRIVER, "cuInit(0)");
    MUST(!sim.calls("cuInit"), "the library initialised the driver");
    done(0);
}

static void bad_arguments(void)
{
    NEW(vbn_gpu_pointer_info, info);
    NEW(vbn_gpu_device_info, device);
    NEW(vbn_gpu_dmabuf, buf);
    uint32_t count;

    begin();
    WANT(vbn_gpu_pointer_query(3, 4096, &info), VBN_ERR_ARGUMENT);
    WANT_TEXT("VBN_GPU_KIND_ANY (0), _CUDA (1), _ROCM (2)");
    WANT(vbn_gpu_dmabuf_export(-1, 4096, 1, NULL, &buf), VBN_ERR_ARGUMENT);
    WANT(vbn_gpu_device_count(ANY, &count), VBN_ERR_ARGUMENT);
    WANT_TEXT("VBN_GPU_KIND_CUDA (1), _ROCM (2)");
    WANT(vbn_gpu_device_query(ANY, 0, &device), VBN_ERR_ARGUMENT);
    WANT(vbn_gpu_flush_writes(ANY, 0, 100, NULL), VBN_ERR_ARGUMENT);
    WANT(vbn_gpu_synchronize(ANY, 0), VBN_ERR_ARGUMENT);
    WANT(vbn_gpu_device_query(CUDA, -1, &device), VBN_ERR_ARGUMENT);
    WANT_TEXT("device -1");
    /* What a query says of memory that is no GPU's is no device, and not the current one either. */
    MUST(VBN_GPU_DEVICE_CURRENT != VBN_GPU_UNKNOWN, "one number with two meanings");
    for (int device = -3; device < 0; device++) {
        if (device == VBN_GPU_DEVICE_CURRENT)
            continue;
        WANT(vbn_gpu_flush_writes(CUDA, device, 100, NULL), VBN_ERR_ARGUMENT);
        WANT_TEXT("VBN_GPU_DEVICE_CURRENT (-2)");
        MUST(!strstr(last()->message, "VBN_GPU_UNKNOWN") == (device != VBN_GPU_UNKNOWN), "%s", last()->message);
        WANT(vbn_gpu_synchronize(CUDA, device), VBN_ERR_ARGUMENT);
        MUST(!strstr(last()->message, "VBN_GPU_UNKNOWN") == (device != VBN_GPU_UNKNOWN), "%s", last()->message);
    }
    WANT(vbn_gpu_flush_writes(CUDA, 0, 0, NULL), VBN_ERR_ARGUMENT);
    WANT_TEXT("VBN_GPU_FLUSH_OWNER (100), _ALL_DEVICES (200)");
    done(1);
}

static void pointers(void)
{
    CUdeviceptr plain, small, pool, managed, reserved;
    vbn_gpu_pointer_info info;
    struct vmm vmm, incapable;
    CUcontext other;
    void *host;
    int local;
    uint64_t id;

    begin();
    CU(sim.cuda.MemAlloc(&plain, 3 * MIB));
    CU(sim.cuda.MemAlloc(&small, 100));
    CU(sim.cuda.CtxCreate(&other, 0, 1));
    CU(sim.cuda.MemAllocAsync(&pool, 3 * MIB, NULL));
    CU(sim.cuda.MemAllocManaged(&managed, 8192, 1));
    CU(sim.cuda.MemHostAlloc(&host, 8192, 0));
    vmm = vmm_new(3, 1, 1);
    incapable = vmm_new(1, 0, 0);
    CU(sim.cuda.MemAddressReserve(&reserved, 4 * MIB, 0, 0, 0));

    for (int kind = ANY; kind <= CUDA; kind++) {
        info = query(kind, plain + 3 * MIB - 1);
        MUST(info.kind == CUDA && info.memory == VBN_GPU_MEMORY_DEVICE && info.device == 0 && info.allocation == VBN_GPU_ALLOCATION_PLAIN, "plain");
        MUST(info.base == plain && info.size == 3 * MIB && info.range_base == plain && info.range_size == 3 * MIB, "bounds");
        MUST(info.context == context && info.rdma_capable == 1 && info.mapped == 1 && info.buffer_id, "context");
    }
    id = info.buffer_id;
    info = query(CUDA, small + 50);
    MUST(info.base == small && info.size == 100 && info.buffer_id != id && info.allocation == VBN_GPU_ALLOCATION_PLAIN, "small");
    info = query(CUDA, small + 100);
    MUST(info.memory == VBN_GPU_MEMORY_UNKNOWN && info.kind == CUDA && info.device == -1 && !info.buffer_id && !info.size && info.mapped == -1, "behind");
    info = query(CUDA, pool);
    MUST(info.memory == VBN_GPU_MEMORY_DEVICE && info.allocation == VBN_GPU_ALLOCATION_POOL && info.device == 1 && !info.context, "pool");
    MUST(info.base == pool && info.size == 3 * MIB && info.rdma_capable == 0, "pool");
    info = query(CUDA, managed + 1);
    MUST(info.memory == VBN_GPU_MEMORY_MANAGED && info.base == managed && info.size == 8192 && info.device == 1, "managed");
    info = query(CUDA, (uint64_t)host + 1);
    MUST(info.memory == VBN_GPU_MEMORY_HOST && info.base == (uint64_t)host && info.device == VBN_GPU_UNKNOWN && info.context == other, "host");
    info = query(CUDA, vmm.addr + 2 * MIB + 5);
    MUST(info.memory == VBN_GPU_MEMORY_DEVICE && info.allocation == VBN_GPU_ALLOCATION_VMM && info.device == 1 && !info.context, "vmm");
    MUST(info.base == vmm.addr + 2 * MIB && info.size == 2 * MIB, "segment");
    MUST(info.range_base == vmm.addr && info.range_size == 8 * MIB && info.rdma_capable == 1 && info.mapped == 1, "range");
    MUST(info.buffer_id != query(CUDA, vmm.addr).buffer_id, "two segments, one number");
    info = query(CUDA, incapable.addr);
    MUST(info.allocation == VBN_GPU_ALLOCATION_VMM && info.rdma_capable == 0 && info.device == 0, "incapable");
    /* The same told by the properties, where the attribute is unknown. */
    sim.no_pointer_attribute(15);
    MUST(query(CUDA, incapable.addr).rdma_capable == 0 && query(CUDA, vmm.addr).rdma_capable == 1 && query(CUDA, plain).rdma_capable == -1,
         "properties");
    for (size_t i = 0; i < 2; i++) {
        info = query(CUDA, i ? vmm.addr + 6 * MIB : reserved);
        MUST(info.memory == VBN_GPU_MEMORY_UNKNOWN && info.mapped == 0 && info.range_base == (i ? vmm.addr : reserved) && !info.size, "reserved");
    }
    info = query(CUDA, (uint64_t)&local);
    MUST(info.memory == VBN_GPU_MEMORY_UNKNOWN && info.mapped == VBN_GPU_UNKNOWN && !info.range_size, "a variable");
    info = query(CUDA, 0);
    MUST(info.memory == VBN_GPU_MEMORY_UNKNOWN, "NULL");
    info = query(CUDA, UINT64_MAX);
    MUST(info.memory == VBN_GPU_MEMORY_UNKNOWN, "the last byte");

    /* Freed and allocated again: another number, wherever it is. */
    CU(sim.cuda.CtxPopCurrent(&other));
    CU(sim.cuda.MemFree(plain));
    MUST(query(CUDA, plain).memory == VBN_GPU_MEMORY_UNKNOWN, "freed");
    CU(sim.cuda.MemAlloc(&plain, 3 * MIB));
    MUST(query(CUDA, plain).buffer_id != id, "the same number again");
    CU(sim.cuda.MemFree(plain));
    CU(sim.cuda.MemFree(small));
    CU(sim.cuda.MemFreeAsync(pool, NULL));
    CU(sim.cuda.MemFree(managed));
    CU(sim.cuda.MemFreeHost(host));
    vmm_free(&vmm);
    vmm_free(&incapable);
    CU(sim.cuda.MemAddressFree(reserved, 4 * MIB));
    done(1);
}

static void devices(void)
{
    NEW(vbn_gpu_device_info, info);
    static const int numbers[] = {124, 116, 110, 118, 117};
    char address[32] = "", path[128], upper[32];
    struct dirent *entry;
    uint32_t count = 0;
    DIR *dir;

    begin();
    OK(vbn_gpu_device_count(CUDA, &count));
    MUST(count == 2, "%u GPUs", count);
    sim.attribute(1, 118, 100);
    sim.attribute(1, 117, 3);
    OK(vbn_gpu_device_query(CUDA, 1, &info));
    MUST(info.kind == CUDA && info.device == 1 && info.dmabuf == 1 && info.gpudirect_rdma == 1 && info.gpudirect_rdma_vmm == 1, "yes");
    MUST(info.writes_ordering == VBN_GPU_ORDERING_OWNER && info.flush_options == (VBN_GPU_FLUSH_OPTION_HOST | VBN_GPU_FLUSH_OPTION_MEMOPS), "ordering");
    MUST(!strcmp(info.pci_address, "0000:fb:00.0") && strstr(info.name, "no hardware") && info.driver_version == 12090, "%s", info.pci_address);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        int *fields[] = {&info.dmabuf, &info.gpudirect_rdma, &info.gpudirect_rdma_vmm, &info.writes_ordering, &info.flush_options};

        sim.attribute(1, numbers[i], 0);
        OK(vbn_gpu_device_query(CUDA, 1, &info));
        MUST(*fields[i] == 0, "attribute %d: %d", numbers[i], *fields[i]);
        sim.no_attribute(1, numbers[i]);
        OK(vbn_gpu_device_query(CUDA, 1, &info));
        MUST(*fields[i] == VBN_GPU_UNKNOWN, "attribute %d: %d", numbers[i], *fields[i]);
    }
    /* Where the driver doesn't write the address, it is put together. */
    sim.fail("cuDeviceGetPCIBusId", 0, 999);
    sim.attribute(0, 50, 0x10002);
    sim.attribute(0, 34, 0x1f);
    OK(vbn_gpu_device_query(CUDA, 0, &info));
    MUST(!strcmp(info.pci_address, "10002:fa:1f.0"), "%s", info.pci_address);
    MUST(info.numa_node == -1 && !info.bar_size, "there is no such device");
    sim.no_attribute(0, -1);
    OK(vbn_gpu_device_query(CUDA, 0, &info));
    MUST(!info.pci_address[0] && info.numa_node == -1 && !info.bar_size && info.dmabuf == -1, "%s", info.pci_address);
    sim.fail("cuDeviceGetPCIBusId", 0, 0);
    /* No way out of the folder of devices. */
    sim.pci(0, "../../../../proc/self/../..");
    OK(vbn_gpu_device_query(CUDA, 0, &info));
    MUST(info.numa_node == -1 && !info.bar_size, "a path");

    WANT(vbn_gpu_device_query(CUDA, 2, &info), VBN_ERR_NOT_FOUND);
    WANT_TEXT("CUDA_VISIBLE_DEVICES");
    WANT_NUMBERS(2, 2);
    MUST(last()->vendor_code == 101, "vendor");
    sim.fail("cuDeviceGetCount", 1, 100);
    OK(vbn_gpu_device_count(CUDA, &count));
    MUST(!count, "%u GPUs", count);
    sim.fail("cuDeviceGetCount", 1, 999);
    WANT(vbn_gpu_device_count(CUDA, &count), VBN_ERR_DRIVER);

    /* A device that this machine has. */
    dir = opendir("/sys/bus/pci/devices");
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && strlen(entry->d_name) < sizeof(address))
            strcpy(address, entry->d_name);
    if (dir)
        closedir(dir);
    if (address[0]) {
        FILE *file;
        int node = -1;

        for (size_t i = 0; i < sizeof(address); i++)
            upper[i] = (char)(address[i] >= 'a' && address[i] <= 'f' ? address[i] - 32 : address[i]);
        sim.pci(0, upper);
        OK(vbn_gpu_device_query(CUDA, 0, &info));
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", address);
        file = fopen(path, "r");
        if (file && fscanf(file, "%d", &node) != 1)
            node = -1;
        if (file)
            fclose(file);
        MUST(!strcmp(info.pci_address, address) && info.numa_node == node, "%s on node %d, not %d", info.pci_address, info.numa_node, node);
    }
    done(1);
}

static void exports(void)
{
    static const struct {
        uint64_t offset, length;
    } cases[] = {{0, 4 * MIB}, {0, 1}, {1, 1}, {4095, 2}, {4096, 4096}, {12345, 2 * MIB}, {2 * MIB - 1, 2}, {4 * MIB - 1, 1}, {65535, 65538}};
    struct vmm vmm;
    CUdeviceptr plain, small[3];
    unsigned before;

    /* The host's own pages, and those of a 64K kernel, which the driver insists on as well. */
    for (page_override = 0; page_override <= 65536; page_override += 65536) {
        begin();
        sim.page_size(page_override ? 65536 : 4096);
        CU(sim.cuda.MemAlloc(&plain, 4 * MIB));
        vmm = vmm_new(2, 1, 0);
        for (size_t i = 0; i < 3; i++)
            CU(sim.cuda.MemAlloc(&small[i], 1000));
        before = fds();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
            export_is_right(plain + cases[i].offset, cases[i].length);
            export_is_right(vmm.addr + cases[i].offset, cases[i].length);
        }
        for (size_t i = 0; i < 3; i++)
            export_is_right(small[i] + i, 900);
        MUST(fds() == before, "descriptors");
        for (size_t i = 0; i < 3; i++)
            CU(sim.cuda.MemFree(small[i]));
        CU(sim.cuda.MemFree(plain));
        vmm_free(&vmm);
        done(1);
    }
    page_override = 0;
}

/* More than 4 GiB, of which little is there: no number is cut. */
static void big_exports(void)
{
    NEW(vbn_gpu_dmabuf, buf);
    CUdeviceptr big;
    uint64_t size = 6ull << 30;

    begin();
    CU(sim.cuda.MemAlloc(&big, size));
    OK(vbn_gpu_dmabuf_export(CUDA, big + 1, size - 1, NULL, &buf));
    MUST(buf.base == big && buf.offset == 1 && buf.length == size, "length %#llx", (unsigned long long)buf.length);
    close(buf.fd);
    OK(vbn_gpu_dmabuf_export(CUDA, big + size - 7, 7, NULL, &buf));
    MUST(buf.base == big + size - 4096 && buf.offset == 4089 && buf.length == 4096, "offset %#llx", (unsigned long long)buf.offset);
    close(buf.fd);
    CU(sim.cuda.MemFree(big));
    done(1);
}

static vbn_status export(uint64_t ptr, uint64_t length, uint64_t flags)
{
    NEW(vbn_gpu_dmabuf_attr, attr);
    NEW(vbn_gpu_dmabuf, buf);
    vbn_status status;
    unsigned before = fds(), depth = sim.contexts();

    attr.flags = flags;
    memset(&buf.offset, 0x5a, sizeof(buf) - offsetof(vbn_gpu_dmabuf, offset));
    status = vbn_gpu_dmabuf_export(ANY, ptr, length, &attr, &buf);
    if (status) {
        MUST(buf.fd == -1 && !buf.offset && !buf.base && !buf.length, "descriptor %d after a failure", buf.fd);
        MUST(fds() == before, "a descriptor stayed open");
    } else
        close(buf.fd);
    MUST(sim.contexts() == depth, "contexts: %u, not %u", sim.contexts(), depth);
    return status;
}

#define REFUSED(status, text, ...) \
    do { \
        null_want(__FILE__, __LINE__, "export" #__VA_ARGS__, "vbn_gpu_dmabuf_export", export(__VA_ARGS__), status); \
        WANT_TEXT(text); \
    } while (0)

static void refused_ranges(void)
{
    CUdeviceptr plain, managed, small, reserved;
    struct vmm vmm, far;
    unsigned dmabufs;
    void *host;
    int local;

    begin();
    CU(sim.cuda.MemAlloc(&plain, 3 * MIB));
    CU(sim.cuda.MemAlloc(&small, 100));
    CU(sim.cuda.MemAllocManaged(&managed, 8192, 1));
    CU(sim.cuda.MemHostAlloc(&host, 8192, 0));
    CU(sim.cuda.MemAddressReserve(&reserved, 4 * MIB, 0, 0, 0));
    vmm = vmm_new(2, 1, 0);
    REFUSED(VBN_ERR_ARGUMENT, "ptr is NULL", 0, 4096, 0);
    REFUSED(VBN_ERR_ARGUMENT, "length 0", plain, 0, 0);
    REFUSED(VBN_ERR_ARGUMENT, "the room from ptr to 2^64", plain, UINT64_MAX - plain + 1, 0);
    REFUSED(VBN_ERR_ARGUMENT, "the room from ptr to 2^64", UINT64_MAX, 1, 0);
    REFUSED(VBN_ERR_ARGUMENT, "is memory of the host", (uint64_t)host, 8192, 0);
    WANT_TEXT("vbn_mr_reg");
    REFUSED(VBN_ERR_ARGUMENT, "is managed memory", managed, 8192, 0);
    WANT_TEXT("cudaMallocManaged");
    REFUSED(VBN_ERR_ARGUMENT, "is none of a GPU's", (uint64_t)&local, 4, 0);
    REFUSED(VBN_ERR_ARGUMENT, "cuMemMap", reserved, 4096, 0);
    REFUSED(VBN_ERR_ARGUMENT, "cuMemMap", vmm.addr + vmm.size, 4096, 0);
    REFUSED(VBN_ERR_ARGUMENT, "has left behind ptr", plain, 3 * MIB + 1, 0);
    WANT_NUMBERS(3 * MIB + 1, 3 * MIB);
    REFUSED(VBN_ERR_ARGUMENT, "has left behind ptr", plain + 3 * MIB - 1, 2, 0);
    REFUSED(VBN_ERR_ARGUMENT, "has left behind ptr", small + 1, 100, 0);
    /* A hole in the middle, and one at the end. */
    REFUSED(VBN_ERR_ARGUMENT, "nothing is mapped at", vmm.addr, vmm.size + 1, 0);
    MUST(last()->value == vmm.addr + vmm.size, "the hole is at %#llx", (unsigned long long)last()->value);
    CU(sim.cuda.MemUnmap(vmm.addr, 2 * MIB));
    REFUSED(VBN_ERR_ARGUMENT, "cuMemMap", vmm.addr, vmm.size, 0);
    REFUSED(VBN_ERR_ARGUMENT, "unknown bits 0x2", plain, 4096, 2);
    /* Nothing of this reached the driver's export. */
    dmabufs = sim.dmabufs();
    MUST(!dmabufs && !sim.calls("cuMemGetHandleForAddressRange"), "%u exports", dmabufs);
    CU(sim.cuda.MemFree(plain));
    REFUSED(VBN_ERR_ARGUMENT, "freed", plain, 4096, 0);
    CU(sim.cuda.MemUnmap(vmm.addr + 2 * MIB, 2 * MIB));
    CU(sim.cuda.MemAddressFree(vmm.addr, vmm.size + 2 * MIB));
    /* Segments of one range on two GPUs can't be one dma-buf. */
    far = vmm_new(1, 1, 0);
    vmm_free(&far);
    CU(sim.cuda.MemFree(small));
    CU(sim.cuda.MemFree(managed));
    CU(sim.cuda.MemFreeHost(host));
    CU(sim.cuda.MemAddressFree(reserved, 4 * MIB));
    done(1);
}

/* The driver says "invalid value", and the library what it wants. */
static void refused_exports(void)
{
    CUdeviceptr plain, pool;
    struct vmm vmm, incapable;

    begin();
    CU(sim.cuda.MemAlloc(&plain, 2 * MIB));
    CU(sim.cuda.MemAllocAsync(&pool, 2 * MIB, NULL));
    vmm = vmm_new(2, 1, 0);
    incapable = vmm_new(1, 0, 0);

    sim.plain_export(0);
    REFUSED(VBN_ERR_NOT_SUPPORTED, "CUDA_ERROR_INVALID_VALUE (1)", plain, 4096, 0);
    WANT_TEXT("cuMemCreate");
    WANT_TEXT("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    MUST(last()->vendor_code == 1 && last()->value == plain && last()->limit == 4096, "numbers");
    sim.plain_export(1);
    REFUSED(VBN_ERR_NOT_SUPPORTED, "gpuDirectRDMACapable: set it to 1", incapable.addr, 4096, 0);
    REFUSED(VBN_ERR_NOT_SUPPORTED, "cudaMallocAsync", pool, 4096, 0);
    sim.pool_export(1);
    MUST(!export(pool, 4096, 0), "%s", last()->message);
    sim.segments_export(0);
    REFUSED(VBN_ERR_NOT_SUPPORTED, "export each by itself", vmm.addr, vmm.size, 0);
    MUST(!export(vmm.addr + 2 * MIB, 2 * MIB, 0), "%s", last()->message);
    sim.segments_export(1);
    MUST(!export(vmm.addr, vmm.size, 0), "%s", last()->message);
    sim.fail("cuMemGetHandleForAddressRange", 1, 1);
    REFUSED(VBN_ERR_NOT_SUPPORTED, "is all of the range mapped", vmm.addr, 4096, 0);
    sim.fail("cuMemGetHandleForAddressRange", 1, 800);
    REFUSED(VBN_ERR_NOT_SUPPORTED, "CUDA_ERROR_NOT_PERMITTED (800)", plain, 4096, 0);

    REFUSED(VBN_ERR_NOT_SUPPORTED, "without VBN_GPU_DMABUF_PCIE", plain, 4096, VBN_GPU_DMABUF_PCIE);
    sim.pcie_export(1);
    MUST(!export(plain, 4096, VBN_GPU_DMABUF_PCIE), "%s", last()->message);

    sim.attribute(0, 124, 0);
    REFUSED(VBN_ERR_NOT_SUPPORTED, "DMA_BUF_SUPPORTED is 0", plain, 4096, 0);
    WANT_TEXT("efa_nv_peermem");
    sim.attribute(0, 124, 1);
    /* Success, and nothing came of it. */
    sim.fail("cuMemGetHandleForAddressRange:fd", 1, 1);
    REFUSED(VBN_ERR_DRIVER, "without a descriptor", plain, 4096, 0);
    sim.fail("cuMemGetHandleForAddressRange", 1, 999);
    REFUSED(VBN_ERR_DRIVER, "CUDA_ERROR_UNKNOWN (999)", plain, 4096, 0);
    sim.fail("cuMemGetHandleForAddressRange", 1, 2);
    REFUSED(VBN_ERR_NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY (2)", plain, 4096, 0);
    CU(sim.cuda.MemFree(plain));
    CU(sim.cuda.MemFreeAsync(pool, NULL));
    vmm_free(&vmm);
    vmm_free(&incapable);
    done(1);
}

/* What each result means, and what to do. */
static void results(void)
{
    static const struct {
        int result;
        vbn_status status;
        const char *text;
    } cases[] = {
        {2, VBN_ERR_NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY (2)"},
        {3, VBN_ERR_DRIVER, "cuInit(0)"},
        {4, VBN_ERR_DRIVER, "the process is ending"},
        {34, VBN_ERR_LIBRARY_MISSING, "lib64/stubs"},
        {46, VBN_ERR_DRIVER, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"},
        {100, VBN_ERR_NOT_FOUND, "nvidia-smi"},
        {101, VBN_ERR_NOT_FOUND, "CUDA_VISIBLE_DEVICES"},
        {201, VBN_ERR_DRIVER, "cudaSetDevice"},
        {214, VBN_ERR_DRIVER, "earlier work on the GPU has failed"},
        {304, VBN_ERR_DRIVER, "CUDA_ERROR_OPERATING_SYSTEM (304)"},
        {700, VBN_ERR_DRIVER, "earlier work on the GPU has failed"},
        {709, VBN_ERR_DRIVER, "has been destroyed"},
        {801, VBN_ERR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED (801)"},
        {802, VBN_ERR_DRIVER, "fabric manager"},
        {803, VBN_ERR_DRIVER, "reboot"},
        {12345, VBN_ERR_DRIVER, "CUresult 12345"},
        {-1, VBN_ERR_DRIVER, "CUresult -1"},
    };

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        sim.fail("cuCtxSynchronize", 1, cases[i].result);
        ends(SYNC, CUDA, 0, cases[i].status, cases[i].text);
        WANT_TEXT("cuCtxSynchronize failed: ");
        MUST(last()->vendor_domain == VBN_VENDOR_CUDA && last()->vendor_code == cases[i].result, "vendor_code %lld", (long long)last()->vendor_code);
    }
    done(1);
}

static struct {
    CUdeviceptr plain, vmm;
} shared;

/* In a thread without a context of its own; each part of `wanted` is 0, or the text of a refusal. */
static void *other_thread(void *arg)
{
    const char **wanted = arg;
    static char why[1200];
    uint64_t memory[] = {shared.plain, shared.vmm};
    unsigned before = sim.contexts();

    why[0] = 0;
    for (int i = 0; i < 2; i++) {
        vbn_status status = call(EXPORT, CUDA, memory[i]);

        if (!status != !wanted[i] || (status && !strstr(last()->message, wanted[i])))
            snprintf(why, sizeof(why), "export %d: %s", i, status ? last()->message : "succeeded");
    }
    for (int which = FLUSH; which <= SYNC; which++) {
        vbn_status status = call(which, CUDA, 0);

        if (!status != !wanted[2] || (status && !strstr(last()->message, wanted[2])))
            snprintf(why, sizeof(why), "%s: %s", call_names[which], status ? last()->message : "succeeded");
    }
    if (!vbn_gpu_flush_writes(CUDA, VBN_GPU_DEVICE_CURRENT, 100, NULL) || !strstr(last()->message, "this thread has no current CUDA context"))
        snprintf(why, sizeof(why), "flush of the current device: %s", last()->message);
    if (!vbn_gpu_synchronize(CUDA, VBN_GPU_DEVICE_CURRENT) || !strstr(last()->message, "cudaSetDevice"))
        snprintf(why, sizeof(why), "current device: %s", last()->message);
    if (sim.contexts() != before)
        snprintf(why, sizeof(why), "contexts: %u, not %u", sim.contexts(), before);
    return why[0] ? why : NULL;
}

static void in_thread(const char *plain, const char *vmm, const char *device)
{
    const char *wanted[] = {plain, vmm, device};
    pthread_t thread;
    void *why;

    MUST(!pthread_create(&thread, NULL, other_thread, wanted) && !pthread_join(thread, &why), "thread");
    MUST(!why, "%s", (char *)why);
}

static void contexts(void)
{
    static const char none[] = "this thread has no CUDA context of the GPU, and nobody has made its primary one";
    vbn_gpu_pointer_info info;
    struct vmm vmm, far;
    CUcontext primary, other, now;
    int32_t done_;

    begin();
    CU(sim.cuda.MemAlloc(&shared.plain, 2 * MIB));
    vmm = vmm_new(1, 1, 0);
    far = vmm_new(1, 1, 1);
    shared.vmm = vmm.addr;
    /* The memory's own context is found; VMM memory has none, and no primary one is there. */
    in_thread(NULL, none, none);
    MUST(last()->status != VBN_ERR_INTERNAL, "the record is another thread's");
    CU(sim.cuda.PrimaryCtxRetain(&primary, 0));
    in_thread(NULL, NULL, NULL);
    MUST(sim.contexts() == 1001, "contexts: %u", sim.contexts());
    /* In this thread its own context is as good, though it is on another GPU than the memory. */
    MUST(!export(far.addr, 4096, 0), "%s", last()->message);
    info = query(CUDA, far.addr);
    MUST(info.device == 1 && info.base == far.addr, "far");
    /* But not to flush or wait for that GPU. */
    WANT(vbn_gpu_flush_writes(CUDA, 1, 100, NULL), VBN_ERR_DRIVER);
    WANT_TEXT(none);
    WANT_NUMBERS(1, 0);
    MUST(last()->vendor_code == 201, "vendor_code");
    WANT(vbn_gpu_synchronize(CUDA, 1), VBN_ERR_DRIVER);
    CU(sim.cuda.CtxCreate(&other, 0, 1));
    OK(vbn_gpu_flush_writes(CUDA, 1, 100, &done_));
    OK(vbn_gpu_flush_writes(CUDA, VBN_GPU_DEVICE_CURRENT, 100, &done_));
    OK(vbn_gpu_synchronize(CUDA, VBN_GPU_DEVICE_CURRENT));
    OK(vbn_gpu_synchronize(CUDA, 0));
    MUST(!export(vmm.addr, 4096, 0) && !export(shared.plain, 4096, 0), "%s", last()->message);
    CU(sim.cuda.CtxGetCurrent(&now));
    MUST(now == other && sim.contexts() == 1002, "another context is current");
    /* The context that memory was allocated in is gone. */
    CU(sim.cuda.CtxDestroy(context));
    REFUSED(VBN_ERR_DRIVER, "CUDA_ERROR_CONTEXT_IS_DESTROYED (709)", shared.plain, 4096, 0);
    CU(sim.cuda.CtxGetCurrent(&now));
    MUST(now == other && sim.contexts() == 1002, "another context is current");
    /* Without one at all, addresses can still be looked up; VMM memory without the bounds of its segment. */
    CU(sim.cuda.PrimaryCtxRelease(0));
    CU(sim.cuda.CtxPopCurrent(&now));
    CU(sim.cuda.CtxPopCurrent(&now));
    info = query(CUDA, vmm.addr + 1);
    MUST(info.allocation == VBN_GPU_ALLOCATION_VMM && !info.base && !info.size && info.range_base == vmm.addr && info.range_size == 4 * MIB, "vmm");
    info = query(CUDA, shared.plain + 1);
    MUST(info.base == shared.plain && info.size == 2 * MIB, "plain");
    CU(sim.cuda.MemFree(shared.plain));
    vmm_free(&vmm);
    vmm_free(&far);
    done(0);
}

/* Contexts that cuCtxCreate has made are found by plain memory alone. A thread without any is refused the rest, and told what to do; nothing is
   made for it. With the context made current all of it works, in that context. */
static void *in_own(void *arg)
{
    static const char *const driver[] = {[EXPORT] = "cuMemGetHandleForAddressRange", [FLUSH] = "cuFlushGPUDirectRDMAWrites",
                                         [SYNC] = "cuCtxSynchronize"};
    static char why[1200];
    int device;

    (void)arg;
    why[0] = 0;
    for (int current = 0; current < 2; current++) {
        if (current && sim.cuda.CtxSetCurrent(context))
            return "cuCtxSetCurrent";
        for (int which = EXPORT; which <= SYNC; which++) {
            unsigned before = sim.calls(driver[which]);
            vbn_status status = call(which, CUDA, shared.vmm);

            if (current ? status || sim.context_at(driver[which], &device) != context
                        : status != VBN_ERR_DRIVER || last()->vendor_code != 201 || sim.calls(driver[which]) != before ||
                              !strstr(last()->message, "cuCtxSetCurrent with one that cuCtxCreate has made"))
                snprintf(why, sizeof(why), "%s %s: %s", call_names[which], current ? "with" : "without", status ? last()->message : "succeeded");
        }
    }
    return why[0] ? why : NULL;
}

static void created_contexts(void)
{
    pthread_t thread;
    struct vmm vmm;
    void *why;

    begin();
    CU(sim.cuda.MemAlloc(&shared.plain, 2 * MIB));
    vmm = vmm_new(1, 1, 0);
    shared.vmm = vmm.addr;
    MUST(!pthread_create(&thread, NULL, in_own, NULL) && !pthread_join(thread, &why), "thread");
    MUST(!why, "%s", (char *)why);
    MUST(sim.calls("cuDevicePrimaryCtxGetState") && !sim.calls("cuDevicePrimaryCtxRetain"), "the library made a primary context");
    CU(sim.cuda.MemFree(shared.plain));
    vmm_free(&vmm);
    done(1);
}

static void flushes(void)
{
    static const struct {
        int ordering, scope, done;
    } cases[] = {{0, 100, 1}, {0, 200, 1}, {100, 100, 0}, {100, 200, 1}, {200, 100, 0}, {200, 200, 0}, {-1, 100, 1}, {-1, 200, 1}};
    int32_t what;

    begin();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (int device = VBN_GPU_DEVICE_CURRENT; device <= 0; device -= VBN_GPU_DEVICE_CURRENT) {
            unsigned before = sim.calls("cuFlushGPUDirectRDMAWrites");

            if (cases[i].ordering < 0)
                sim.no_attribute(0, 118);
            else
                sim.attribute(0, 118, cases[i].ordering);
            what = 77;
            OK(vbn_gpu_flush_writes(CUDA, device, cases[i].scope, &what));
            MUST(what == (cases[i].done ? VBN_GPU_FLUSH_DONE : VBN_GPU_FLUSH_NOT_NEEDED), "case %zu: %d", i, what);
            MUST(sim.calls("cuFlushGPUDirectRDMAWrites") - before == (unsigned)cases[i].done, "case %zu: calls", i);
        }
    OK(vbn_gpu_flush_writes(CUDA, 0, 100, NULL));
    /* A driver that doesn't know the options tries; one that says no is believed. */
    sim.no_attribute(0, 117);
    what = 77;
    WANT(vbn_gpu_flush_writes(CUDA, 0, 100, &what), VBN_OK);
    sim.attribute(0, 117, 2);
    what = 77;
    WANT(vbn_gpu_flush_writes(CUDA, 0, 100, &what), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("RDMA READ");
    MUST(what == 77, "*done was written");
    sim.attribute(0, 117, 1);
    sim.fail("cuFlushGPUDirectRDMAWrites", 1, 801);
    WANT(vbn_gpu_flush_writes(CUDA, 0, 100, &what), VBN_ERR_NOT_SUPPORTED);
    WANT_TEXT("RDMA READ");
    sim.fail("cuFlushGPUDirectRDMAWrites", 1, 999);
    WANT(vbn_gpu_flush_writes(CUDA, 0, 100, &what), VBN_ERR_DRIVER);
    done(1);
}

/* The k-th call of each of the driver's functions fails, for every k: a status, nothing left, contexts and descriptors as before. */
static void every_call_fails(void)
{
    CUdeviceptr plain;
    CUcontext primary;
    struct vmm vmm;
    unsigned refused = 0, held;

    begin();
    CU(sim.cuda.MemAlloc(&plain, 2 * MIB));
    vmm = vmm_new(2, 1, 1);
    CU(sim.cuda.PrimaryCtxRetain(&primary, 1));
    held = sim.open();
    fds_before = fds();
    for (size_t f = 0; f < ARRAY_SIZE(symbols); f++)
        for (int which = 0; which < CALLS; which++)
            for (int far = 0; far < 2; far++)
                for (unsigned k = 1;; k++) {
                    unsigned before = sim.calls(symbols[f].symbol), depth = sim.contexts();
                    vbn_status status;

                    sim.fail(symbols[f].symbol, k, 999);
                    export_length = far ? 3 * MIB : 4096; /* of two segments */
                    if (far && which == FLUSH)
                        status = vbn_gpu_flush_writes(CUDA, 1, 200, NULL);
                    else if (far && which == SYNC)
                        status = vbn_gpu_synchronize(CUDA, 1);
                    else
                        status = call(which, CUDA, far ? vmm.addr : plain);
                    sim.fail(symbols[f].symbol, 1, 0);
                    if (status) {
                        refused++;
                        MUST(status == VBN_ERR_DRIVER && last()->vendor_code == 999, "%s, call %u of %s: %s", call_names[which], k, symbols[f].symbol,
                             last()->message);
                        WANT_TEXT("CUDA_ERROR_UNKNOWN (999)");
                    }
                    /* Where even letting go was refused, the driver's count says so: that is its failure, not ours. */
                    if (strcmp(symbols[f].symbol, "cuMemRelease") && strcmp(symbols[f].symbol, "cuCtxPopCurrent_v2") &&
                        strcmp(symbols[f].symbol, "cuDevicePrimaryCtxRelease_v2")) {
                        MUST(sim.contexts() == depth, "%s, call %u of %s: contexts", call_names[which], k, symbols[f].symbol);
                        MUST(sim.open() == held, "%s, call %u of %s: left", call_names[which], k, symbols[f].symbol);
                    }
                    while (sim.contexts() % 1000 > 1)
                        CU(sim.cuda.CtxPopCurrent(NULL));
                    while (sim.contexts() / 1000 > 1)
                        CU(sim.cuda.PrimaryCtxRelease(1));
                    held = sim.open();
                    MUST(fds() == fds_before, "%s, call %u of %s: descriptors", call_names[which], k, symbols[f].symbol);
                    if (sim.calls(symbols[f].symbol) - before < k)
                        break;
                }
    export_length = 4096;
    MUST(refused > 30, "only %u failures were seen", refused);
    sim.reset();
}

/* Threads at once, each with contexts of its own. */
static void *busy(void *arg)
{
    CUcontext own;
    int device = *(int *)arg;

    for (int i = 0; i < 200; i++) {
        if (sim.cuda.CtxCreate(&own, 0, device))
            return "no context";
        for (int which = 0; which < CALLS; which++)
            if (call(which, CUDA, which == EXPORT && i % 2 ? shared.vmm : shared.plain))
                return (void *)call_names[which];
        if (sim.contexts() % 1000 != 1)
            return "the thread's contexts";
        if (sim.cuda.CtxDestroy(own))
            return "no context any more";
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    int device[4];
    CUcontext primary;
    struct vmm vmm;
    void *why;

    begin();
    CU(sim.cuda.MemAlloc(&shared.plain, 2 * MIB));
    vmm = vmm_new(1, 1, 1);
    shared.vmm = vmm.addr;
    CU(sim.cuda.PrimaryCtxRetain(&primary, 0));
    for (int i = 0; i < 4; i++) {
        device[i] = i % 2;
        MUST(!pthread_create(&thread[i], NULL, busy, &device[i]), "thread");
    }
    for (int i = 0; i < 4; i++) {
        MUST(!pthread_join(thread[i], &why), "join");
        MUST(!why, "%s", (char *)why);
    }
    CU(sim.cuda.PrimaryCtxRelease(0));
    CU(sim.cuda.MemFree(shared.plain));
    vmm_free(&vmm);
    done(1);
}

/* A CPU that touches device memory crashes: no test passes by accident. */
static void touches(void)
{
    CUdeviceptr plain;
    struct vmm vmm;

    begin();
    CU(sim.cuda.MemAlloc(&plain, 2 * MIB));
    vmm = vmm_new(1, 1, 0);
    for (int i = 0; i < 2; i++) {
        int status;
        pid_t pid = fork();

        if (!pid) {
            signal(SIGSEGV, SIG_DFL);
            *(volatile char *)(i ? vmm.addr : plain) = 1;
            _exit(0);
        }
        MUST(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
        MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "status %#x", status);
    }
    CU(sim.cuda.MemFree(plain));
    vmm_free(&vmm);
    done(1);
}

static int freed_count;

static void freed(void *arg)
{
    freed_count += *(int *)arg;
}

/* What softnic relies on: where the bytes are, and that it is told when they go. */
static void simulation(void)
{
    simcuda_piece piece;
    CUdeviceptr plain, small;
    struct vmm vmm;
    unsigned char *bytes, byte;
    int one = 1, ten = 10;
    int64_t number;

    begin();
    CU(sim.cuda.MemAlloc(&plain, 4 * MIB));
    CU(sim.cuda.MemAlloc(&small, 1000));
    vmm = vmm_new(3, 1, 1);
    MUST(!sim.find(vmm.addr + 3 * MIB, &piece) && piece.device == 1 && piece.offset == MIB && piece.length == MIB && piece.memfd >= 0, "piece");
    MUST(sim.find(vmm.addr + vmm.size, &piece) == -EFAULT && sim.find((uint64_t)&byte, &piece) == -EFAULT, "nothing");
    /* Over two segments. */
    bytes = (unsigned char *)sim.map_range(vmm.addr + 2 * MIB - 3, 6, 1);
    MUST((int64_t)bytes > 0, "map_range: %lld", (long long)(int64_t)bytes);
    memcpy(bytes, "abcdef", 6);
    for (int i = 0; i < 6; i++) {
        CU(sim.cuda.MemcpyDtoH(&byte, vmm.addr + 2 * MIB - 3 + (unsigned)i, 1));
        MUST(byte == "abcdef"[i], "byte %d", i);
    }
    unmap(bytes, 6);
    bytes = (unsigned char *)sim.map_range(small + 5, 10, 0);
    CU(sim.cuda.MemsetD8(small + 5, 0x42, 10));
    MUST(bytes[0] == 0x42 && bytes[9] == 0x42 && bytes[10] == 0, "small");
    unmap(bytes, 10);
    MUST(sim.map_range(vmm.addr, vmm.size + 1, 1) == -EFAULT && sim.map_range(small, 1001, 1) == -EFAULT && sim.map_range(plain, 0, 1) == -EINVAL,
         "what isn't there");
    /* Told once, by the first byte that goes. */
    freed_count = 0;
    MUST(sim.watch((uint64_t)&byte, 1, freed, &one) == -EFAULT, "a variable");
    MUST(sim.watch(vmm.addr, vmm.size, freed, &one) > 0 && sim.watch(plain + 100, 1, freed, &ten) > 0, "watch");
    number = sim.watch(plain, 1, freed, &ten);
    sim.unwatch(number);
    CU(sim.cuda.MemUnmap(vmm.addr + 2 * MIB, 2 * MIB));
    MUST(freed_count == 1, "told %d", freed_count);
    CU(sim.cuda.MemUnmap(vmm.addr, 2 * MIB));
    CU(sim.cuda.MemFree(small));
    MUST(freed_count == 1, "told %d", freed_count);
    CU(sim.cuda.MemFree(plain));
    MUST(freed_count == 11, "told %d", freed_count);
    CU(sim.cuda.MemUnmap(vmm.addr + 4 * MIB, 2 * MIB));
    CU(sim.cuda.MemAddressFree(vmm.addr, vmm.size + 2 * MIB));
    done(1);
}

static const struct test tests[] = {
    {"without_a_library", without_a_library},
    {"ways_to_name_it", ways_to_name_it},
    {"symbols_missing", symbols_missing},
    {"old_driver", old_driver},
    {"uninitialised", uninitialised},
    {"bad_arguments", bad_arguments},
    {"pointers", pointers},
    {"devices", devices},
    {"exports", exports},
    {"big_exports", big_exports},
    {"refused_ranges", refused_ranges},
    {"refused_exports", refused_exports},
    {"results", results},
    {"contexts", contexts},
    {"created_contexts", created_contexts},
    {"flushes", flushes},
    {"every_call_fails", every_call_fails},
    {"threads", threads},
    {"touches", touches},
    {"simulation", simulation},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    null_start();
    return test_main("null_gpu", tests, argc, argv);
}
