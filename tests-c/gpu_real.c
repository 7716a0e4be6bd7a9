/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the library tells of a real GPU, against what the driver says, and a region of its memory on the RDMA device if there is one. Without a
 * driver or a GPU every test skips with that reason. VBN_TEST_CUDA names another libcuda: with the simulated one the tests themselves are tested.
 * The first line tells GPU and driver: what has passed was on those.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cuda_api.h"
#include "common.h"

#define MIB (UINT64_C(1) << 20)

/* cuda.h's numbers of attributes. */
enum {
    RDMA_SUPPORTED = 116,
    FLUSH_OPTIONS = 117,
    WRITES_ORDERING = 118,
    RDMA_WITH_VMM = 110,
    DMA_BUF = 124,
    POINTER_BUFFER_ID = 7,
};

static struct cuda_api cuda;
static CUcontext context;
static vbn_gpu_device_info gpu;
static int simulated; /* this libcuda */

#define CU(call) cu(__LINE__, #call, (call))
static void cu(int line, const char *call, CUresult result) {
    if (result) FAIL("line %d: %s: CUresult %d", line, call, result);
}

/* The GPU, with its primary context current. Skips where there is none. */
static void begin(void) {
    static void *library;
    const char *path = getenv("VBN_TEST_CUDA");
    int count = 0;

    if (!library) {
        library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) SKIP("needs a GPU: no NVIDIA driver (%s)", dlerror());
        simulated = dlsym(library, "simcuda_reset") != NULL;
        if (simulated && !path) SKIP("needs a GPU: the libcuda.so.1 here is the simulated one");
        const char *missing = cuda_api_load(&cuda, library);
        if (missing) test_note("this libcuda has no %s", missing);
        vbn_library_attr attr = {.struct_size = sizeof attr, .library = VBN_LIBRARY_CUDA, .path = path};
        CHECK_OK(vbn_library_init(&attr));
        CUresult result = cuda.Init(0);
        if (result || cuda.DeviceGetCount(&count) || !count) {
            dlclose(library);
            library = NULL;
            SKIP("needs a GPU: cuInit answers %d, %d devices", result, count);
        }
        gpu.struct_size = sizeof gpu;
        CHECK_OK(vbn_gpu_device_query(VBN_GPU_KIND_CUDA, 0, &gpu));
        test_note("%s%s, CUDA %d, PCI %s, ordering %d, dma-buf %d, GPUDirect RDMA %d", simulated ? "SIMULATED: " : "", gpu.name,
                  gpu.driver_version, gpu.pci_address, gpu.writes_ordering, gpu.dmabuf, gpu.gpudirect_rdma);
    }
    if (!context) CU(cuda.PrimaryCtxRetain(&context, 0));
    CU(cuda.CtxSetCurrent(context));
}

/* How many descriptors the process has open. */
static int descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static vbn_gpu_pointer_info pointer(uint64_t address) {
    vbn_gpu_pointer_info info = {.struct_size = sizeof info};
    CHECK_OK(vbn_gpu_pointer_query(VBN_GPU_KIND_CUDA, address, &info));
    return info;
}

/* ---- the device ---- */

static int attribute(int number) {
    int value = -1;
    return cuda.DeviceGetAttribute(&value, (unsigned)number, 0) ? VBN_GPU_UNKNOWN : value;
}

static void device(void) {
    char name[128] = "", address[32] = "";
    uint32_t count = 0;
    int real = 0, version = 0;

    begin();
    CHECK_OK(vbn_gpu_device_count(VBN_GPU_KIND_CUDA, &count));
    CU(cuda.DeviceGetCount(&real));
    CHECK_UEQ(count, real);
    CHECK_EQ(gpu.dmabuf, attribute(DMA_BUF));
    CHECK_EQ(gpu.gpudirect_rdma, attribute(RDMA_SUPPORTED));
    CHECK_EQ(gpu.gpudirect_rdma_vmm, attribute(RDMA_WITH_VMM));
    CHECK_EQ(gpu.writes_ordering, attribute(WRITES_ORDERING));
    CHECK_EQ(gpu.flush_options, attribute(FLUSH_OPTIONS));
    CU(cuda.DriverGetVersion(&version));
    CHECK_EQ(gpu.driver_version, version);
    CU(cuda.DeviceGetName(name, sizeof name, 0));
    CHECK_STR(gpu.name, name);
    CU(cuda.DeviceGetPCIBusId(address, sizeof address, 0));
    /* The library's is as sysfs writes it. */
    CHECK(strcasecmp(gpu.pci_address, address) == 0);
    vbn_gpu_device_info none = {.struct_size = sizeof none};
    CHECK_STATUS(vbn_gpu_device_query(VBN_GPU_KIND_CUDA, (int32_t)count, &none), VBN_ERR_NOT_FOUND);
}

/* ---- pointers ---- */

static void pointers(void) {
    CUdeviceptr memory, managed;
    void *host;
    static char own[64];

    begin();
    CU(cuda.MemAlloc(&memory, MIB));
    vbn_gpu_pointer_info info = pointer(memory + 1000);
    CHECK_EQ(info.memory, VBN_GPU_MEMORY_DEVICE);
    CHECK_EQ(info.device, 0);
    CHECK_UEQ(info.base, memory);
    CHECK_UEQ(info.size, MIB);
    CHECK_EQ(info.allocation, VBN_GPU_ALLOCATION_PLAIN);
    if (gpu.gpudirect_rdma == 1) CHECK(info.rdma_capable != 0);
    CU(cuda.MemFree(memory));
    CHECK_EQ(pointer((uint64_t)(uintptr_t)own).memory, VBN_GPU_MEMORY_UNKNOWN);
    CU(cuda.MemHostAlloc(&host, 4096, 0));
    CHECK_EQ(pointer((uint64_t)(uintptr_t)host).memory, VBN_GPU_MEMORY_HOST);
    CU(cuda.MemFreeHost(host));
    CU(cuda.MemAllocManaged(&managed, 4096, 1));
    CHECK_EQ(pointer(managed).memory, VBN_GPU_MEMORY_MANAGED);
    CU(cuda.MemFree(managed));
}

/* Each allocation has a number of its own, also at the address of an earlier one. */
static void buffer_ids(void) {
    CUdeviceptr memory, other;
    uint64_t raw = 0;

    begin();
    CU(cuda.MemAlloc(&memory, 4 * MIB));
    CU(cuda.MemAlloc(&other, 4 * MIB));
    uint64_t first = pointer(memory).buffer_id;
    CU(cuda.PointerGetAttribute(&raw, POINTER_BUFFER_ID, memory));
    CHECK_UEQ(first, raw);
    CHECK_UEQ(pointer(memory + 4 * MIB - 1).buffer_id, first);
    CHECK(pointer(other).buffer_id != first);
    CU(cuda.MemFree(memory));
    for (int i = 0; i < 8; i++) {
        CU(cuda.MemAlloc(&memory, 4 * MIB));
        uint64_t next = pointer(memory).buffer_id;
        CHECK(next != first);
        first = next;
        CU(cuda.MemFree(memory));
    }
    CU(cuda.MemFree(other));
}

/* A call without a current context leaves none behind. */
static void contexts(void) {
    CUdeviceptr memory;
    CUcontext now = (void *)1;

    begin();
    CU(cuda.MemAlloc(&memory, MIB));
    CU(cuda.CtxSetCurrent(NULL));
    CHECK_UEQ(pointer(memory + 5).base, memory);
    CU(cuda.CtxGetCurrent(&now));
    CHECK(now == NULL);
    CU(cuda.CtxSetCurrent(context));
    CU(cuda.MemFree(memory));
}

/* ---- exports ---- */

static void need_dmabuf(void) {
    if (gpu.dmabuf != 1) SKIP("needs dma-bufs from the driver: the attribute of %s says %d (open kernel modules are needed)", gpu.name, gpu.dmabuf);
}

/* Exports a range and checks what is told of it. */
static void export_at(CUdeviceptr at, uint64_t length) {
    vbn_gpu_dmabuf buf = {.struct_size = sizeof buf};
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    CHECK_OK(vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, at, length, NULL, &buf));
    CHECK(fcntl(buf.fd, F_GETFD) == FD_CLOEXEC);
    CHECK_UEQ(buf.base % page, 0);
    CHECK_UEQ(buf.length % page, 0);
    CHECK_UEQ(buf.base + buf.offset, at);
    CHECK(buf.offset + length <= buf.length);
    CHECK_EQ(buf.kind, VBN_GPU_KIND_CUDA);
    CHECK(close(buf.fd) == 0);
}

static void exports(void) {
    static const uint64_t offsets[] = {0, 1, 256, 4095, 4096, 65535, 65536, 1000000}, lengths[] = {1, 4096, 65536, 1000000};
    CUdeviceptr memory;

    begin();
    need_dmabuf();
    int before = descriptors();
    CU(cuda.MemAlloc(&memory, 4 * MIB));
    for (unsigned i = 0; i < sizeof offsets / sizeof *offsets; i++)
        for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) export_at(memory + offsets[i], lengths[k]);
    export_at(memory, 4 * MIB);
    export_at(memory + 4 * MIB - 1, 1);
    vbn_gpu_dmabuf buf = {.struct_size = sizeof buf};
    CHECK_STATUS(vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, memory, 0, NULL, &buf), VBN_ERR_ARGUMENT);
    CHECK_STATUS(vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, memory + 1, UINT64_MAX, NULL, &buf), VBN_ERR_ARGUMENT);
    CHECK_EQ(buf.fd, -1);
    CU(cuda.MemFree(memory));
    CHECK_EQ(descriptors(), before);
}

/* A small block shares its pages with others, and is exported all the same. */
static void small_blocks(void) {
    CUdeviceptr blocks[16];

    begin();
    need_dmabuf();
    for (int i = 0; i < 16; i++) CU(cuda.MemAlloc(&blocks[i], 700));
    for (int i = 0; i < 16; i++) export_at(blocks[i], 700);
    for (int i = 0; i < 16; i++) CU(cuda.MemFree(blocks[i]));
}

/* VMM memory of two segments, made with and without gpuDirectRDMACapable. */
static void segments(void) {
    for (int capable = 1; capable >= 0; capable--) {
        CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}};
        CUmemAccessDesc access = {.location = {.type = 1, .id = 0}, .flags = 3};
        CUmemGenericAllocationHandle handles[2];
        CUdeviceptr range;
        size_t grain = 0;

        begin();
        if (capable && gpu.gpudirect_rdma_vmm != 1) {
            test_note("no VMM memory with gpuDirectRDMACapable: attribute 110 of %s says %d", gpu.name, gpu.gpudirect_rdma_vmm);
            continue;
        }
        prop.allocFlags.gpuDirectRDMACapable = (unsigned char)capable;
        CU(cuda.MemGetAllocationGranularity(&grain, &prop, 0));
        CU(cuda.MemAddressReserve(&range, 2 * grain, 0, 0, 0));
        for (int i = 0; i < 2; i++) {
            CU(cuda.MemCreate(&handles[i], grain, &prop, 0));
            CU(cuda.MemMap(range + (uint64_t)i * grain, grain, 0, handles[i], 0));
        }
        CU(cuda.MemSetAccess(range, 2 * grain, &access, 1));
        vbn_gpu_pointer_info info = pointer(range + grain + 1);
        CHECK_EQ(info.memory, VBN_GPU_MEMORY_DEVICE);
        CHECK_EQ(info.allocation, VBN_GPU_ALLOCATION_VMM);
        CHECK_UEQ(info.base, range + grain);
        CHECK_UEQ(info.size, grain);
        CHECK(info.rdma_capable == VBN_GPU_UNKNOWN || info.rdma_capable == capable);
        if (gpu.dmabuf == 1 && capable) {
            export_at(range + 1, grain - 1);
            export_at(range + grain, grain);
            vbn_gpu_dmabuf buf = {.struct_size = sizeof buf};
            vbn_status both = vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, range, 2 * grain, NULL, &buf);
            test_note("one dma-buf of two segments: %s", both ? test_last_error() : "yes");
            if (!both) close(buf.fd);
        }
        CU(cuda.MemUnmap(range, 2 * grain));
        for (int i = 0; i < 2; i++) CU(cuda.MemRelease(handles[i]));
        CU(cuda.MemAddressFree(range, 2 * grain));
    }
}

/* ---- flush ---- */

static void flush(void) {
    begin();
    for (int32_t scope = VBN_GPU_FLUSH_OWNER; scope <= VBN_GPU_FLUSH_ALL_DEVICES; scope += 100) {
        int32_t done = -7;
        vbn_status status = vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, 0, scope, &done);
        if (gpu.writes_ordering >= scope) {
            CHECK_STATUS(status, VBN_OK);
            CHECK_EQ(done, VBN_GPU_FLUSH_NOT_NEEDED);
        } else if (gpu.flush_options == VBN_GPU_UNKNOWN) {
            /* A driver that doesn't tell is tried. */
            CHECK(!status ? done == VBN_GPU_FLUSH_DONE : status == VBN_ERR_NOT_SUPPORTED && done == -7);
        } else if (gpu.flush_options & VBN_GPU_FLUSH_OPTION_HOST) {
            CHECK_STATUS(status, VBN_OK);
            CHECK_EQ(done, VBN_GPU_FLUSH_DONE);
        } else
            CHECK_STATUS(status, VBN_ERR_NOT_SUPPORTED);
    }
    CHECK_OK(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, 0));
    CHECK_OK(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, VBN_GPU_DEVICE_CURRENT));
}

/* ---- a NIC ---- */

static vbn_context *nic;
static vbn_pd *pd;

/* The RDMA device. Skips where it takes no dma-bufs, or can't reach this GPU. */
static void nic_open(void) {
    vbn_caps caps = {.struct_size = sizeof caps};
    char why[512];

    begin();
    need_dmabuf();
    /* softnic's devices do their work with the processor, and a real GPU's dma-buf need not let it map the memory (mmap answers ENOTSUP). */
    if (getenv("SOFTNIC_DIR") && !simulated) SKIP("needs an RDMA device: softnic can't reach the memory of a real GPU");
    CHECK_OK(vbn_context_open(test_device(), NULL, &nic));
    CHECK_OK(vbn_context_caps(nic, &caps));
    if (!(caps.caps & VBN_CAP_DMABUF)) {
        CHECK_OK(vbn_caps_reason(&caps, VBN_CAP_DMABUF, why, sizeof why, NULL));
        CHECK_OK(vbn_context_close(&nic));
        SKIP("needs a device that takes dma-bufs: %s", why);
    }
    CHECK_OK(vbn_pd_alloc(nic, NULL, &pd));
}

static void nic_close(void) {
    CHECK_OK(vbn_pd_close(&pd));
    CHECK_OK(vbn_context_close(&nic));
}

static vbn_gpu_mr_report report;
static vbn_mr_set *set;

static vbn_status reg(CUdeviceptr at, uint64_t length, uint32_t paths, uint64_t flags) {
    vbn_gpu_mr_attr attr = {.struct_size = sizeof attr, .paths = paths, .flags = flags};
    int before = descriptors();
    report = (vbn_gpu_mr_report){.struct_size = sizeof report};
    vbn_status status = vbn_gpu_mr_reg(pd, at, length, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, &attr, &set, &report);
    CHECK((set != NULL) == (status == VBN_OK));
    CHECK_EQ(descriptors(), before);
    return status;
}

static int32_t state(void) {
    int32_t now = -7;
    CHECK_OK(vbn_gpu_mr_validate(set, &now));
    return now;
}

/* Registered at an odd address by hand and in one call, and found valid. */
static void region(void) {
    CUdeviceptr memory;
    vbn_mr *mr;

    nic_open();
    CU(cuda.MemAlloc(&memory, 4 * MIB));
    vbn_gpu_dmabuf buf = {.struct_size = sizeof buf};
    CHECK_OK(vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, memory + 12345, MIB, NULL, &buf));
    CHECK_OK(vbn_mr_reg_dmabuf(pd, buf.fd, buf.offset, MIB, memory + 12345, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    close(buf.fd);
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(reg(memory + 12345, MIB, 0, 0));
    CHECK_UEQ(report.path, VBN_GPU_PATH_DMABUF);
    CHECK_UEQ(report.buffer_id, pointer(memory).buffer_id);
    CHECK_EQ(report.device, 0);
    CHECK_EQ(state(), VBN_GPU_MR_VALID);
    CHECK_OK(vbn_mr_set_close(&set));
    CU(cuda.MemFree(memory));
    nic_close();
}

/* Ways that need not be there: told is which, and nothing stays of one that isn't. */
static void region_ways(void) {
    CUdeviceptr memory;

    nic_open();
    CU(cuda.MemAlloc(&memory, 4 * MIB));
    vbn_status status = reg(memory + 5, MIB, VBN_GPU_PATH_DMABUF, VBN_GPU_DMABUF_PCIE);
    test_note("dma-buf over PCIe: %s", status ? test_last_error() : "yes");
    if (status) {
        CHECK_HAS(test_error().message, "VBN_GPU_DMABUF_PCIE");
        CHECK_UEQ(report.path, 0);
    } else
        CHECK_OK(vbn_mr_set_close(&set));
    status = reg(memory + 5, MIB, VBN_GPU_PATH_PEER, 0);
    test_note("peer memory: %s", status ? test_last_error() : "yes");
    if (!status) {
        CHECK_EQ(state(), VBN_GPU_MR_VALID);
        CHECK_OK(vbn_mr_set_close(&set));
    }
    CU(cuda.MemFree(memory));
    nic_close();
}

/* Freed while registered, and other memory at the address. */
static void region_freed(void) {
    CUdeviceptr memory, again;

    nic_open();
    CU(cuda.MemAlloc(&memory, 4 * MIB));
    CHECK_OK(reg(memory, 4 * MIB, VBN_GPU_PATH_DMABUF, 0));
    CU(cuda.MemFree(memory));
    CHECK_EQ(state(), VBN_GPU_MR_FREED);
    CU(cuda.MemAlloc(&again, 4 * MIB));
    if (again == memory) CHECK_EQ(state(), VBN_GPU_MR_REPLACED);
    else test_note("the driver has not used the address again");
    CHECK_OK(vbn_mr_set_close(&set));
    CU(cuda.MemFree(again));
    nic_close();
}

int main(int argc, char **argv) {
    static const struct test tests[] = {
        {"device", device},
        {"pointers", pointers},
        {"buffer_ids", buffer_ids},
        {"contexts", contexts},
        {"exports", exports},
        {"small_blocks", small_blocks},
        {"segments", segments},
        {"flush", flush},
        {"region", region},
        {"region_ways", region_ways},
        {"region_freed", region_freed},
        {NULL, NULL},
    };
    return test_main("gpu_real", tests, argc, argv);
}
