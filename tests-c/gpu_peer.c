/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory of simulated GPUs on softnic, on a host where the first device (VBN_TEST_DEVICE) has a peer-memory module and the second
 * (VBN_TEST_DEVICE2) has none: softnic run --device efa,peermem=efa --device efa.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simcuda/simcuda_load.h"
#include "srd.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)

/* Other pages than the machine's, for this program, libverbena and the simulated libcuda alike. */
static long pages;
long sysconf(int name) {
    static long (*real)(int);
    if (name == _SC_PAGESIZE && pages) return pages;
    if (!real) {
        void *address = dlsym(RTLD_NEXT, "sysconf");
        memcpy(&real, &address, sizeof real);
    }
    return real(name);
}

static struct srd_side a, b;
static CUcontext context;

/* What stands in a file of the RDMA device's PCI device, without the newline; "" if there is none. */
static const char *device_file(const char *device, const char *file) {
    static char text[64];
    char path[256];
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/device/%s", device, file);
    FILE *in = fopen(path, "r");
    text[0] = '\0';
    if (in && !fgets(text, sizeof text, in)) FAIL("%s: %s", path, strerror(errno));
    if (in) fclose(in);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Skips but on softnic with a peer-memory module for the first device. */
static void need_peer_memory(void) {
    need_efa(test_device());
    if (strcmp(device_file(test_device(), "p2p"), "NVIDIA peermem") != 0 || !getenv("SOFTNIC_DIR"))
        SKIP("needs softnic with peermem=efa for %s", test_device());
}

/* A fresh simulated GPU with a current context, of a driver of this version (0: the usual). */
static void begin_simulated(int version) {
    pages = 0;
    if (simcuda_start()) FAIL("no simulated libcuda beside the program");
    sim.reset();
    if (version) sim.version(version);
    CHECK_OK(simcuda_use(version != 0));
    CHECK_EQ(sim.cuda.Init(0), 0);
    CHECK_EQ(sim.cuda.PrimaryCtxRetain(&context, 0), 0);
    CHECK_EQ(sim.cuda.CtxSetCurrent(context), 0);
}

static void begin_version(int version) {
    need_peer_memory();
    begin_simulated(version);
}

static void begin(void) { begin_version(0); }

static CUdeviceptr gpu_alloc(uint64_t size) {
    CUdeviceptr memory = 0;
    CHECK_EQ(sim.cuda.MemAlloc(&memory, size), 0);
    return memory;
}

/* New memory at an address of one's choice, within a reserved range; all of VMM_SIZE. */
#define VMM_SIZE (4 * MIB)
static void vmm_map(CUdeviceptr at) {
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1, .id = 0}, .allocFlags = {.gpuDirectRDMACapable = 1}};
    CUmemAccessDesc access = {.location = {.type = 1, .id = 0}, .flags = 3};
    CUmemGenericAllocationHandle handle;
    CHECK_EQ(sim.cuda.MemCreate(&handle, VMM_SIZE, &prop, 0), 0);
    CHECK_EQ(sim.cuda.MemMap(at, VMM_SIZE, 0, handle, 0), 0);
    CHECK_EQ(sim.cuda.MemSetAccess(at, VMM_SIZE, &access, 1), 0);
    CHECK_EQ(sim.cuda.MemRelease(handle), 0);
}

static CUdeviceptr vmm_reserve(void) {
    CUdeviceptr range = 0;
    CHECK_EQ(sim.cuda.MemAddressReserve(&range, VMM_SIZE, 0, 0, 0), 0);
    return range;
}

static void vmm_free(CUdeviceptr range) {
    CHECK_EQ(sim.cuda.MemUnmap(range, VMM_SIZE), 0);
    CHECK_EQ(sim.cuda.MemAddressFree(range, VMM_SIZE), 0);
}

/* Memory of a GPU gets a pattern, or has it. */
static void gpu_fill(CUdeviceptr memory, uint64_t size, uint32_t seed) {
    uint8_t *bytes = malloc(size);
    fill(bytes, size, seed);
    CHECK_EQ(sim.cuda.MemcpyHtoD(memory, bytes, size), 0);
    free(bytes);
}

static void gpu_check(CUdeviceptr memory, uint64_t size, uint32_t seed) {
    uint8_t *want = malloc(size), *got = malloc(size);
    fill(want, size, seed);
    CHECK_EQ(sim.cuda.MemcpyDtoH(got, memory, size), 0);
    CHECK_MEM(got, want, size);
    free(want);
    free(got);
}

static vbn_mr *peer_reg(vbn_pd *pd, CUdeviceptr memory, uint64_t size) {
    vbn_mr *mr = NULL;
    uint64_t access = VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ | (a.caps & VBN_EFA_CAP_RDMA_WRITE ? VBN_ACCESS_REMOTE_WRITE : 0);
    CHECK_OK(vbn_mr_reg(pd, (void *)(uintptr_t)memory, size, access, NULL, &mr));
    return mr;
}

/* A request on memory of GPUs. */
static vbn_send_wr gpu_wr(vbn_peer *peer, uint32_t opcode, uint64_t wr_id, CUdeviceptr from, const vbn_mr *mr, CUdeviceptr to, const vbn_mr *peer_mr,
                          uint32_t length) {
    vbn_send_wr wr = {.wr_id = wr_id, .opcode = opcode, .flags = VBN_SEND_SIGNALED, .num_sge = 1, .peer = peer};
    wr.sge = (vbn_sge){.addr = from, .length = length, .lkey = vbn_mr_lkey(mr)};
    if (opcode != VBN_WR_SEND) wr.remote_addr = to, wr.rkey = vbn_mr_rkey(peer_mr);
    return wr;
}

static int has_write(void) { return (a.caps & VBN_EFA_CAP_RDMA_WRITE) != 0; }

/* Two sides that know each other, and what their peers are. */
static vbn_peer *to_b, *to_a;
static void sides_open(void) {
    srd_open(&a, &(struct srd_setup){.qp_type = VBN_QPT_SRD});
    srd_open(&b, &(struct srd_setup){.qp_type = VBN_QPT_SRD});
    to_b = srd_peer(&a, &b);
    to_a = srd_peer(&b, &a);
}

static void sides_close(void) {
    CHECK_OK(vbn_peer_close(&to_b));
    CHECK_OK(vbn_peer_close(&to_a));
    srd_close(&a);
    srd_close(&b);
}

/* The modules are where a kernel shows them, and only the first device is served. */
static void modules(void) {
    begin();
    CHECK_STR(device_file(need_second(), "p2p"), "");
    CHECK(access("/sys/module/efa_nv_peermem/initstate", R_OK) == 0);
    CHECK(access("/sys/module/nvidia_peermem", F_OK) != 0);
}

/* The device with a module, as `a`, and the one without. */
static void open_both(vbn_context **other, vbn_pd **pd) {
    CHECK_OK(vbn_context_open(test_device(), NULL, &a.context));
    CHECK_OK(vbn_pd_alloc(a.context, NULL, &a.pd));
    CHECK_OK(vbn_context_open(need_second(), NULL, other));
    CHECK_OK(vbn_pd_alloc(*other, NULL, pd));
}

static void close_both(vbn_context **other, vbn_pd **pd) {
    CHECK_OK(vbn_pd_close(pd));
    CHECK_OK(vbn_context_close(other));
    CHECK_OK(vbn_pd_close(&a.pd));
    CHECK_OK(vbn_context_close(&a.context));
}

/* A plain registration of a GPU's address works on the first device alone, and the other's refusal says what is missing. */
static void one_of_two(void) {
    vbn_context *other;
    vbn_pd *pd;
    vbn_mr *mr, *host;
    static uint8_t memory[4096];

    begin();
    CUdeviceptr gpu = gpu_alloc(MIB);
    open_both(&other, &pd);
    CHECK_OK(vbn_mr_reg(a.pd, (void *)(uintptr_t)(gpu + 100), 1000, VBN_ACCESS_LOCAL_WRITE, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_STATUS(vbn_mr_reg(pd, (void *)(uintptr_t)(gpu + 100), 1000, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    /* What a GPU doesn't have is not the module's: past the end, over the end, freed. */
    CHECK_STATUS(vbn_mr_reg(a.pd, (void *)(uintptr_t)(gpu + MIB), 1000, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    CHECK_STATUS(vbn_mr_reg(a.pd, (void *)(uintptr_t)(gpu + MIB - 999), 64 * MIB, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    CHECK_EQ(sim.cuda.MemFree(gpu), 0);
    CHECK_STATUS(vbn_mr_reg(a.pd, (void *)(uintptr_t)(gpu + 100), 1000, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    /* The program's own memory is nobody's business, on both. */
    CHECK_OK(vbn_mr_reg(a.pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &host));
    CHECK_OK(vbn_mr_close(&host));
    CHECK_OK(vbn_mr_reg(pd, memory, sizeof memory, VBN_ACCESS_LOCAL_WRITE, NULL, &host));
    CHECK_OK(vbn_mr_close(&host));
    close_both(&other, &pd);
}

/* SEND, READ and WRITE between two GPUs, at an odd address and over page ends. */
static void traffic(void) {
    enum { OFFSET = 12345, LENGTH = 8000, LONG = 300000 };

    begin();
    sides_open();
    CUdeviceptr from = gpu_alloc(MIB), to = gpu_alloc(MIB);
    vbn_mr *from_mr = peer_reg(a.pd, from + OFFSET, LONG), *to_mr = peer_reg(b.pd, to + OFFSET, LONG);

    gpu_fill(from + OFFSET, LENGTH, 1);
    vbn_recv_wr recv = {.wr_id = 50, .num_sge = 1, .sge = {.addr = to + OFFSET, .length = LENGTH, .lkey = vbn_mr_lkey(to_mr)}};
    uint32_t posted = 0;
    CHECK_OK(vbn_qp_post_recv(b.qp, &recv, 1, &posted));
    vbn_send_wr wr = gpu_wr(to_b, VBN_WR_SEND, 1, from + OFFSET, from_mr, 0, NULL, LENGTH);
    srd_post(&a, &wr);
    srd_ok(&a, 1);
    vbn_wc wc = srd_ok(&b, 50);
    CHECK_UEQ(wc.byte_len, LENGTH);
    gpu_check(to + OFFSET, LENGTH, 1);

    gpu_fill(to + OFFSET, LONG, 2);
    wr = gpu_wr(to_b, VBN_WR_RDMA_READ, 2, from + OFFSET, from_mr, to + OFFSET, to_mr, LONG);
    srd_run(&a, &wr);
    gpu_check(from + OFFSET, LONG, 2);

    if (has_write()) {
        gpu_fill(from + OFFSET, LONG, 3);
        wr = gpu_wr(to_b, VBN_WR_RDMA_WRITE, 3, from + OFFSET, from_mr, to + OFFSET, to_mr, LONG);
        srd_run(&a, &wr);
        gpu_check(to + OFFSET, LONG, 3);
    }
    CHECK_OK(vbn_mr_close(&from_mr));
    CHECK_OK(vbn_mr_close(&to_mr));
    CHECK_EQ(sim.cuda.MemFree(from), 0);
    CHECK_EQ(sim.cuda.MemFree(to), 0);
    sides_close();
}

/* Freed while registered: the region is taken from the device, so requests fail on both sides, and closing it still succeeds. */
static void freed(void) {
    begin();
    sides_open();
    CUdeviceptr from = vmm_reserve(), to = gpu_alloc(MIB);
    vmm_map(from);
    vbn_mr *from_mr = peer_reg(a.pd, from, MIB), *to_mr = peer_reg(b.pd, to, MIB);

    CHECK_EQ(sim.cuda.MemFree(to), 0);
    vbn_send_wr wr = gpu_wr(to_b, VBN_WR_RDMA_READ, 1, from, from_mr, to, to_mr, 100);
    srd_post(&a, &wr);
    srd_failed(&a, 1, 7);
    CHECK_EQ(sim.cuda.MemUnmap(from, VMM_SIZE), 0);
    wr = gpu_wr(to_b, VBN_WR_SEND, 2, from, from_mr, 0, NULL, 100);
    srd_post(&a, &wr);
    srd_failed(&a, 2, 5);
    srd_alive(&a, &b, to_b);
    /* New memory at the old address does not bring the old region back. */
    vmm_map(from);
    wr = gpu_wr(to_b, VBN_WR_SEND, 3, from, from_mr, 0, NULL, 100);
    srd_post(&a, &wr);
    srd_failed(&a, 3, 5);
    CHECK_OK(vbn_mr_close(&from_mr));
    CHECK_OK(vbn_mr_close(&to_mr));
    /* A region of the new one works. */
    vbn_mr *new_mr = peer_reg(a.pd, from, MIB);
    gpu_fill(from, 256, 9);
    srd_recv(&b, 60, 0, 256);
    wr = gpu_wr(to_b, VBN_WR_SEND, 4, from, new_mr, 0, NULL, 256);
    srd_post(&a, &wr);
    srd_ok(&a, 4);
    srd_ok(&b, 60);
    uint8_t want[256];
    fill(want, sizeof want, 9);
    CHECK_MEM(b.memory, want, sizeof want);
    CHECK_OK(vbn_mr_close(&new_mr));
    vmm_free(from);
    sides_close();
}

/* A dma-buf keeps the pages: what is written after the memory was freed goes where nobody looks, without an error. */
static void freed_dmabuf(void) {
    vbn_gpu_dmabuf buf = {.struct_size = sizeof buf};
    vbn_mr *mr;

    begin();
    sides_open();
    CUdeviceptr memory = gpu_alloc(MIB);
    CHECK_OK(vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, memory, MIB, NULL, &buf));
    CHECK_OK(vbn_mr_reg_dmabuf(b.pd, buf.fd, buf.offset, MIB, memory, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, NULL, &mr));
    close(buf.fd);
    gpu_fill(memory, 1000, 7);
    CHECK_EQ(sim.cuda.MemFree(memory), 0);
    fill(a.memory, 1000, 8);
    vbn_send_wr wr = {.wr_id = 1, .opcode = VBN_WR_RDMA_READ, .flags = VBN_SEND_SIGNALED, .num_sge = 1, .peer = to_b};
    wr.sge = (vbn_sge){.addr = (uint64_t)(uintptr_t)a.memory, .length = 1000, .lkey = vbn_mr_lkey(a.mr)};
    wr.remote_addr = memory;
    wr.rkey = vbn_mr_rkey(mr);
    srd_run(&a, &wr);
    uint8_t want[1000];
    fill(want, sizeof want, 7);
    CHECK_MEM(a.memory, want, sizeof want);
    CHECK_OK(vbn_mr_close(&mr));
    sides_close();
}

/* How many descriptors the process has open. */
static int descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static vbn_gpu_mr_report report;

/* Registers a GPU's memory by some of the ways (0: all). */
static vbn_status gpu_reg(vbn_pd *pd, CUdeviceptr memory, uint64_t size, uint32_t paths, vbn_mr_set **out) {
    vbn_gpu_mr_attr attr = {.struct_size = sizeof attr, .paths = paths};
    memset(&report, 0xa5, sizeof report);
    report.struct_size = sizeof report;
    return vbn_gpu_mr_reg(pd, memory, size, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, &attr, out, &report);
}

/* The outcome of one way in the report. */
static const vbn_gpu_attempt *attempt(uint32_t path) {
    for (uint32_t i = 0; i < report.num_attempts; i++)
        if (report.attempts[i].path == path) return &report.attempts[i];
    FAIL("the report has no path %u", path);
}

/* A host with pages of 64 KiB: exports begin and end at their multiples, and the data still go where they belong. */
static void pages_64k(void) {
    static const uint64_t offsets[] = {0, 1, 4096, 65535, 65536, 200001};
    enum { LENGTH = 5000 };

    begin();
    sides_open();
    pages = 65536;
    CUdeviceptr memory = gpu_alloc(MIB);
    for (unsigned i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        CUdeviceptr at = memory + offsets[i];
        vbn_gpu_dmabuf buf = {.struct_size = sizeof buf};
        vbn_mr *mr;
        vbn_mr_set *set = NULL;
        CHECK_OK(gpu_reg(a.pd, at, LENGTH, VBN_GPU_PATH_DMABUF, &set));
        CHECK_OK(vbn_mr_set_close(&set));
        CHECK_OK(vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, at, LENGTH, NULL, &buf));
        CHECK_UEQ(buf.base % 65536, 0);
        CHECK_UEQ(buf.length % 65536, 0);
        CHECK_UEQ(buf.base + buf.offset, at);
        CHECK_OK(vbn_mr_reg_dmabuf(b.pd, buf.fd, buf.offset, LENGTH, at, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, NULL, &mr));
        close(buf.fd);
        gpu_fill(at, LENGTH, i);
        vbn_send_wr wr = {.wr_id = i, .opcode = VBN_WR_RDMA_READ, .flags = VBN_SEND_SIGNALED, .num_sge = 1, .peer = to_b};
        wr.sge = (vbn_sge){.addr = (uint64_t)(uintptr_t)a.memory, .length = LENGTH, .lkey = vbn_mr_lkey(a.mr)};
        wr.remote_addr = at;
        wr.rkey = vbn_mr_rkey(mr);
        srd_run(&a, &wr);
        uint8_t want[LENGTH];
        fill(want, sizeof want, i);
        CHECK_MEM(a.memory, want, sizeof want);
        CHECK_OK(vbn_mr_close(&mr));
    }
    pages = 0;
    CHECK_EQ(sim.cuda.MemFree(memory), 0);
    sides_close();
}

/* Each device has its own way: where no dma-buf can be had, only the one with a module registers, and the other says all that is missing. */
static void ways(void) {
    vbn_context *other;
    vbn_pd *pd;
    vbn_mr_set *set = NULL;

    begin();
    CUdeviceptr gpu = gpu_alloc(MIB);
    open_both(&other, &pd);
    int before = descriptors();

    CHECK_OK(gpu_reg(a.pd, gpu + 77, 5000, 0, &set));
    CHECK_UEQ(report.path, VBN_GPU_PATH_DMABUF);
    CHECK_OK(vbn_mr_set_close(&set));
    CHECK_OK(gpu_reg(pd, gpu + 77, 5000, 0, &set));
    CHECK_UEQ(report.path, VBN_GPU_PATH_DMABUF);
    CHECK_OK(vbn_mr_set_close(&set));
    CHECK_OK(gpu_reg(a.pd, gpu + 77, 5000, VBN_GPU_PATH_PEER, &set));
    CHECK_UEQ(report.path, VBN_GPU_PATH_PEER);
    CHECK_EQ(attempt(VBN_GPU_PATH_DMABUF)->outcome, VBN_GPU_ATTEMPT_NONE);
    CHECK_OK(vbn_mr_set_close(&set));
    CHECK_STATUS(gpu_reg(pd, gpu + 77, 5000, VBN_GPU_PATH_PEER, &set), VBN_ERR_DRIVER);
    CHECK_EQ(attempt(VBN_GPU_PATH_PEER)->outcome, VBN_GPU_ATTEMPT_FAILED);
    CHECK_EQ(attempt(VBN_GPU_PATH_PEER)->sys_errno, EFAULT);
    CHECK_HAS(test_error().message, "efa_nv_peermem");

    sim.plain_export(0);
    CHECK_OK(gpu_reg(a.pd, gpu + 77, 5000, 0, &set));
    CHECK_UEQ(report.path, VBN_GPU_PATH_PEER);
    CHECK_EQ(attempt(VBN_GPU_PATH_DMABUF)->outcome, VBN_GPU_ATTEMPT_FAILED);
    CHECK(attempt(VBN_GPU_PATH_DMABUF)->reason[0] != 0);
    CHECK_STR(attempt(VBN_GPU_PATH_PEER)->reason, "");
    CHECK_OK(vbn_mr_set_close(&set));
    CHECK(gpu_reg(pd, gpu + 77, 5000, 0, &set) != VBN_OK);
    CHECK(set == NULL);
    CHECK_UEQ(report.path, 0);
    CHECK_EQ(attempt(VBN_GPU_PATH_DMABUF)->outcome, VBN_GPU_ATTEMPT_FAILED);
    CHECK_EQ(attempt(VBN_GPU_PATH_PEER)->outcome, VBN_GPU_ATTEMPT_FAILED);
    CHECK_HAS(test_error().message, "dma-buf: ");
    CHECK_HAS(test_error().message, "peer memory: ");

    CHECK_EQ(descriptors(), before);
    CHECK_EQ(sim.cuda.MemFree(gpu), 0);
    close_both(&other, &pd);
}

/* A driver of CUDA 11.6 has no function for dma-bufs: that is the reason of one way, and the other works. */
static void before_dmabufs(void) {
    vbn_mr_set *set = NULL;

    begin_version(11060);
    CHECK_OK(vbn_context_open(test_device(), NULL, &a.context));
    CHECK_OK(vbn_pd_alloc(a.context, NULL, &a.pd));
    CUdeviceptr gpu = gpu_alloc(MIB);
    CHECK_OK(gpu_reg(a.pd, gpu + 5, 1000, 0, &set));
    CHECK_UEQ(report.path, VBN_GPU_PATH_PEER);
    CHECK_EQ(attempt(VBN_GPU_PATH_DMABUF)->status, VBN_ERR_SYMBOL_MISSING);
    CHECK_HAS(attempt(VBN_GPU_PATH_DMABUF)->reason, "11.7");
    CHECK_OK(vbn_mr_set_close(&set));
    CHECK_OK(vbn_pd_close(&a.pd));
    CHECK_OK(vbn_context_close(&a.context));
}

/* In a process of its own, before this one has looked up the driver's functions: so it comes first. */
static void old_driver(void) {
    static const struct test child = {"before_dmabufs", before_dmabufs};

    need_peer_memory();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = test_child("gpu_peer", &child);
        fflush(stdout);
        _exit(failed);
    }
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_EQ(status, 0);
}

/* A set of peer memory knows that its memory was freed, and that other memory has its address. */
static void validated(void) {
    vbn_mr_set *set = NULL;
    int32_t state = -7;

    begin();
    CHECK_OK(vbn_context_open(test_device(), NULL, &a.context));
    CHECK_OK(vbn_pd_alloc(a.context, NULL, &a.pd));
    CUdeviceptr gpu = vmm_reserve();
    vmm_map(gpu);
    CHECK_OK(gpu_reg(a.pd, gpu + 100, MIB, VBN_GPU_PATH_PEER, &set));
    CHECK_OK(vbn_gpu_mr_validate(set, &state));
    CHECK_EQ(state, VBN_GPU_MR_VALID);
    CHECK_EQ(sim.cuda.MemUnmap(gpu, VMM_SIZE), 0);
    CHECK_OK(vbn_gpu_mr_validate(set, &state));
    CHECK_EQ(state, VBN_GPU_MR_FREED);
    vmm_map(gpu);
    CHECK_OK(vbn_gpu_mr_validate(set, &state));
    CHECK_EQ(state, VBN_GPU_MR_REPLACED);
    CHECK_OK(vbn_mr_set_close(&set));
    vmm_free(gpu);
    CHECK_OK(vbn_pd_close(&a.pd));
    CHECK_OK(vbn_context_close(&a.context));
}

/* Memory that is freed after its region and its device are closed, and a device that is closed with a region whose memory is freed. */
static void closed_first(void) {
    vbn_mr *mr;

    begin();
    CHECK_OK(vbn_context_open(test_device(), NULL, &a.context));
    CHECK_OK(vbn_pd_alloc(a.context, NULL, &a.pd));
    CUdeviceptr one = gpu_alloc(MIB), two = gpu_alloc(MIB);
    CHECK_OK(vbn_mr_reg(a.pd, (void *)(uintptr_t)one, MIB, 0, NULL, &mr));
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_EQ(sim.cuda.MemFree(one), 0);
    CHECK_OK(vbn_mr_reg(a.pd, (void *)(uintptr_t)two, MIB, 0, NULL, &mr));
    CHECK_EQ(sim.cuda.MemFree(two), 0);
    CHECK_OK(vbn_mr_close(&mr));
    CHECK_OK(vbn_pd_close(&a.pd));
    CHECK_OK(vbn_context_close(&a.context));
}

/* libibverbs has a call for dma-bufs since rdma-core 34, libefa since 38. Before, memory goes by address; without a module all that is missing is told. */
static void old_rdma_core(void) {
    vbn_context *other;
    vbn_pd *pd;
    vbn_mr_set *set = NULL;

    begin();
    CUdeviceptr gpu = gpu_alloc(MIB);
    open_both(&other, &pd);
    int before = descriptors();
    CHECK_OK(gpu_reg(a.pd, gpu + 77, 5000, 0, &set));
    CHECK_OK(vbn_mr_set_close(&set));
    int old = report.path != VBN_GPU_PATH_DMABUF;
    if (old) {
        CHECK_UEQ(report.path, VBN_GPU_PATH_PEER);
        CHECK_STATUS(gpu_reg(pd, gpu + 77, 5000, 0, &set), VBN_ERR_DRIVER);
        CHECK_EQ(test_error().sys_errno, EFAULT);
        CHECK_STATUS(attempt(VBN_GPU_PATH_DMABUF)->status, VBN_ERR_SYMBOL_MISSING);
        CHECK_HAS(test_error().message, "dma-buf: ibv_reg_dmabuf_mr is not in the loaded library; it needs rdma-core 34 or newer");
        CHECK_HAS(test_error().message, "peer memory: ibv_reg_mr_iova2 failed");
        CHECK_HAS(test_error().message, "efa_nv_peermem");
    }
    CHECK_EQ(descriptors(), before);
    CHECK_EQ(sim.cuda.MemFree(gpu), 0);
    close_both(&other, &pd);
    if (!old) SKIP("needs an rdma-core without ibv_reg_dmabuf_mr: 33");
}

/* nvidia_peermem is there, as on a host with a ConnectX besides, and the EFA's driver doesn't ask it: no memory by address, and the message says so. */
static void nvidia_module(void) {
    vbn_mr_set *set = NULL;
    vbn_mr *mr;

    need_efa(test_device());
    if (!getenv("SOFTNIC_DIR") || access("/sys/module/nvidia_peermem/initstate", R_OK) != 0) SKIP("needs softnic with peermem=nvidia for %s", test_device());
    CHECK(access("/sys/module/efa_nv_peermem", F_OK) != 0);
    CHECK_STR(device_file(test_device(), "p2p"), "");
    begin_simulated(0);
    CHECK_OK(vbn_context_open(test_device(), NULL, &a.context));
    CHECK_OK(vbn_pd_alloc(a.context, NULL, &a.pd));
    CUdeviceptr gpu = gpu_alloc(MIB);
    CHECK_STATUS(vbn_mr_reg(a.pd, (void *)(uintptr_t)gpu, 4096, VBN_ACCESS_LOCAL_WRITE, NULL, &mr), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    CHECK_STATUS(gpu_reg(a.pd, gpu + 5, 1000, VBN_GPU_PATH_PEER, &set), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    CHECK_HAS(test_error().message, "efa doesn't use nvidia_peermem");
    CHECK_OK(gpu_reg(a.pd, gpu + 5, 1000, 0, &set));
    CHECK_UEQ(report.path, VBN_GPU_PATH_DMABUF);
    CHECK_OK(vbn_mr_set_close(&set));
    CHECK_EQ(sim.cuda.MemFree(gpu), 0);
    CHECK_OK(vbn_pd_close(&a.pd));
    CHECK_OK(vbn_context_close(&a.context));
}

int main(int argc, char **argv) {
    static const struct test tests[] = {
        {"old_driver", old_driver},
        {"modules", modules},
        {"one_of_two", one_of_two},
        {"traffic", traffic},
        {"freed", freed},
        {"freed_dmabuf", freed_dmabuf},
        {"ways", ways},
        {"validated", validated},
        {"pages_64k", pages_64k},
        {"closed_first", closed_first},
        {"old_rdma_core", old_rdma_core},
        {"nvidia_module", nvidia_module},
        {NULL, NULL},
    };
    return test_main("gpu_peer", tests, argc, argv);
}
