/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory of simulated GPUs, registered by vbn_gpu_mr_reg, on softnic's EFAs: data between GPUs and the host, in one piece and in several on either
 * side, told to the peer by a record and cut by vbn_rdma_split. VBN_TEST_DEVICE and VBN_TEST_DEVICE2 are the two ends.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simcuda/simcuda_load.h"
#include "simhsa.h"
#include "srd.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

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
static vbn_peer *to_b, *to_a;

#define CU(call) CHECK_EQ(call, 0)

static unsigned fds(void) {
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

/* No descriptor is left over. softnic's own threads open and close some, so a moment's difference says nothing. */
static void no_more_fds(unsigned before) {
    for (int i = 0; i < 400 && fds() > before; i++) sleep_ms(5);
    CHECK(fds() <= before);
}

/* Which GPU the calls of the driver are about. */
static void use_gpu(int device) {
    CUcontext context;
    CU(sim.cuda.PrimaryCtxRetain(&context, device));
    CU(sim.cuda.CtxSetCurrent(context));
    CU(sim.cuda.PrimaryCtxRelease(device));
}

/* Two ends, with a GPU each. */
static void begin(void) {
    CUcontext context;
    pages = 0;
    need_efa(test_device());
    const char *second = need_second();
    if (simcuda_start()) FAIL("no simulated libcuda beside the program");
    CHECK_OK(simcuda_use(0));
    sim.reset();
    CU(sim.cuda.Init(0));
    /* These two references keep the contexts. */
    CU(sim.cuda.PrimaryCtxRetain(&context, 0));
    CU(sim.cuda.PrimaryCtxRetain(&context, 1));
    use_gpu(0);
    srd_open(&a, &(struct srd_setup){.qp_type = VBN_QPT_SRD, .send_sge = 2, .recv_sge = 2});
    srd_open(&b, &(struct srd_setup){.qp_type = VBN_QPT_SRD, .send_sge = 2, .recv_sge = 2, .device = second});
    to_b = srd_peer(&a, &b);
    to_a = srd_peer(&b, &a);
}

static void end(void) {
    CHECK_OK(vbn_peer_close(&to_b));
    CHECK_OK(vbn_peer_close(&to_a));
    srd_close(&a);
    srd_close(&b);
    CHECK_EQ(sim.open(), 0);
}

/* ---- Memory of all sorts ---- */

enum sort { HOST, PLAIN, VMM, SORTS, ROCM = SORTS };

struct memory {
    enum sort sort;
    int gpu;
    uint64_t addr, size;
    uint64_t segment, segments; /* VMM: bytes of each, and how many */
    vbn_mr_set *set;
    uint64_t offset, length; /* the part of it that is registered */
    vbn_gpu_mr_report report;
};

static int rocm_piece(const struct memory *m) { return m->gpu ? HSA_GPU1 : HSA_GPU0; }

static struct memory memory_new(enum sort sort, int gpu, uint64_t size, uint64_t segments) {
    struct memory m = {.sort = sort, .gpu = gpu, .size = size, .segments = segments, .segment = size / segments};
    CUdeviceptr addr = 0;
    use_gpu(gpu);
    if (sort == HOST) {
        void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(bytes != MAP_FAILED);
        m.addr = (uintptr_t)bytes;
        return m;
    }
    if (sort == PLAIN) {
        CU(sim.cuda.MemAlloc(&addr, size));
        m.addr = addr;
        return m;
    }
    if (sort == ROCM) {
        CHECK_UEQ(size, HSA_SIZE);
        m.addr = hsa_piece(rocm_piece(&m));
        return m;
    }
    CUmemAllocationProp prop = {.type = 1, .location = {1, gpu}, .allocFlags = {.gpuDirectRDMACapable = 1}};
    CUmemAccessDesc access = {{1, gpu}, 3};
    CU(sim.cuda.MemAddressReserve(&addr, size, 0, 0, 0));
    for (uint64_t i = 0; i < segments; i++) {
        CUmemGenericAllocationHandle handle;
        CU(sim.cuda.MemCreate(&handle, m.segment, &prop, 0));
        CU(sim.cuda.MemMap(addr + i * m.segment, m.segment, 0, handle, 0));
        CU(sim.cuda.MemRelease(handle));
    }
    CU(sim.cuda.MemSetAccess(addr, size, &access, 1));
    m.addr = addr;
    return m;
}

static void memory_free(struct memory *m) {
    CHECK_OK(vbn_mr_set_close(&m->set));
    use_gpu(m->gpu);
    if (m->sort == HOST) CHECK_EQ(munmap((void *)(uintptr_t)m->addr, m->size), 0);
    if (m->sort == PLAIN) CU(sim.cuda.MemFree(m->addr));
    if (m->sort == VMM) {
        CU(sim.cuda.MemUnmap(m->addr, m->size));
        CU(sim.cuda.MemAddressFree(m->addr, m->size));
    }
}

static void put(const struct memory *m, uint64_t offset, const void *bytes, uint64_t length) {
    use_gpu(m->gpu);
    if (m->sort == HOST) memcpy((void *)(uintptr_t)(m->addr + offset), bytes, length);
    else if (m->sort == ROCM) CHECK(pwrite(hsa.memfd[rocm_piece(m)], bytes, length, (off_t)offset) == (ssize_t)length);
    else CU(sim.cuda.MemcpyHtoD(m->addr + offset, bytes, length));
}

static void get(const struct memory *m, uint64_t offset, void *bytes, uint64_t length) {
    use_gpu(m->gpu);
    if (m->sort == HOST) memcpy(bytes, (void *)(uintptr_t)(m->addr + offset), length);
    else if (m->sort == ROCM) CHECK(pread(hsa.memfd[rocm_piece(m)], bytes, length, (off_t)offset) == (ssize_t)length);
    else CU(sim.cuda.MemcpyDtoH(bytes, m->addr + offset, length));
}

/* Registers a part of it with a side's device; no descriptor stays open. */
static void memory_reg(struct memory *m, const struct srd_side *side, uint64_t offset, uint64_t length, const vbn_gpu_mr_attr *attr) {
    uint64_t access = VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ | (side->caps & VBN_EFA_CAP_RDMA_WRITE ? VBN_ACCESS_REMOTE_WRITE : 0);
    m->offset = offset;
    m->length = length;
    if (m->sort == HOST) {
        vbn_mr *mr;
        vbn_mr_set_attr take = {.struct_size = sizeof take, .take = 1, .memory = VBN_MEMORY_HOST};
        CHECK_OK(vbn_mr_reg(side->pd, (void *)(uintptr_t)(m->addr + offset), length, access, NULL, &mr));
        CHECK_OK(vbn_mr_set_create(&mr, 1, &take, &m->set));
        return;
    }
    /* The other GPU's context is current: it is none of the caller's to know which must be. */
    use_gpu(1 - m->gpu);
    unsigned before = fds();
    m->report = (vbn_gpu_mr_report){.struct_size = sizeof m->report};
    CHECK_OK(vbn_gpu_mr_reg(side->pd, m->addr + offset, length, access, attr, &m->set, &m->report));
    no_more_fds(before);
    CHECK_EQ(m->report.device, m->gpu);
}

/* What the peer is told of memory that is registered with several devices, by way of its bytes. */
static vbn_region_info told_of(const vbn_mr_set *const *sets, uint32_t count) {
    vbn_region_info own = {.struct_size = sizeof own}, info = {.struct_size = sizeof info};
    uint8_t bytes[VBN_RECORD_MAX_SIZE];
    size_t size;
    CHECK_OK(vbn_region_info_local(sets, count, NULL, &own));
    CHECK_OK(vbn_region_info_encode(&own, bytes, sizeof bytes, &size));
    CHECK_OK(vbn_region_info_decode(bytes, size, &info));
    return info;
}

static vbn_region_info told(const struct memory *m) {
    vbn_region_info info = told_of((const vbn_mr_set *const[]){m->set}, 1);
    CHECK_EQ(info.memory, m->sort == HOST ? VBN_MEMORY_HOST : m->sort == ROCM ? VBN_MEMORY_ROCM : VBN_MEMORY_CUDA);
    CHECK_UEQ(info.length, m->length);
    if (m->sort != HOST) CHECK_EQ(info.gpu, m->gpu);
    return info;
}

/* Carries out a transfer that is only described; tells in how many requests. */
static uint64_t run(const struct srd_side *side, const vbn_split_attr *attr) {
    uint64_t next = 0, total = 1, open = 0;
    while (next < total) {
        vbn_send_wr wrs[8];
        uint32_t count, posted;
        CHECK_OK(vbn_rdma_split(side->qp, attr, next, wrs, 8, &count, &total));
        CHECK_OK(vbn_qp_post_send(side->qp, wrs, count, &posted));
        next += posted;
        for (open = posted; open > 0; open--) {
            vbn_wc wc;
            uint32_t got = 0;
            CHECK_OK(vbn_cq_wait(side->cq, 1, &wc, 0, PATIENCE, &got));
            CHECK_EQ(wc.status, VBN_WC_SUCCESS);
        }
    }
    return total;
}

/* From a to b or back, in requests of at most `chunk`; tells how many. */
static uint64_t move(uint32_t opcode, const struct memory *here, uint64_t offset, const vbn_region_info *there, uint64_t remote_offset, uint64_t length,
                     uint64_t chunk) {
    vbn_split_attr attr = {.struct_size = sizeof attr, .flags = VBN_SEND_SIGNALED, .mr_set = here->set, .offset = offset, .region = there,
        .remote_offset = remote_offset, .length = length, .chunk = chunk, .peer = to_b, .opcode = opcode};
    return run(&a, &attr);
}

/* Fills both with patterns, moves a part of the one into the other, and looks at every byte of the other, also those around. */
static void move_and_look(uint32_t opcode, const struct memory *here, const struct memory *there, uint64_t offset, uint64_t remote_offset, uint64_t length,
                          uint64_t chunk) {
    static uint8_t source[8 * MIB], target[8 * MIB], got[8 * MIB];
    vbn_region_info region = told(there);
    const struct memory *from = opcode == VBN_WR_RDMA_READ ? there : here, *to = opcode == VBN_WR_RDMA_READ ? here : there;
    uint64_t from_at = opcode == VBN_WR_RDMA_READ ? remote_offset : offset, to_at = opcode == VBN_WR_RDMA_READ ? offset : remote_offset;
    CHECK(here->size <= sizeof got && there->size <= sizeof got);
    fill(source, from->size, (uint32_t)(length ^ offset));
    fill(target, to->size, (uint32_t)(length + 77));
    put(from, 0, source, from->size);
    put(to, 0, target, to->size);
    CHECK(move(opcode, here, offset, &region, remote_offset, length, chunk) >= (length + chunk - 1) / (chunk ? chunk : length));
    memcpy(target + to->offset + to_at, source + from->offset + from_at, length);
    get(to, 0, got, to->size);
    CHECK_MEM(got, target, to->size);
}

/* A message from a part of the one into a part of the other: of how many pieces it was gathered, and over how many it was scattered. */
static uint32_t message(const struct memory *from, uint64_t offset, const struct memory *to, uint64_t remote_offset, uint32_t length, uint32_t *scattered) {
    vbn_sge here[2], there[2];
    uint32_t gathered, posted;
    uint64_t covered;
    CHECK_OK(vbn_mr_set_segment(from->set, offset, length, 0, here, 2, &gathered, &covered));
    CHECK_UEQ(covered, length);
    CHECK_OK(vbn_mr_set_segment(to->set, remote_offset, length, 0, there, 2, scattered, &covered));
    CHECK_UEQ(covered, length);
    vbn_recv_wr recv = {.wr_id = 9, .sg_list = there, .num_sge = *scattered};
    CHECK_OK(vbn_qp_post_recv(b.qp, &recv, 1, &posted));
    vbn_send_wr wr = {.wr_id = 1, .opcode = VBN_WR_SEND, .flags = VBN_SEND_SIGNALED, .sg_list = here, .num_sge = gathered, .peer = to_b};
    srd_post(&a, &wr);
    srd_ok(&a, 1);
    CHECK_UEQ(srd_ok(&b, 9).byte_len, length);
    return gathered;
}

static int has_write(void) { return (a.caps & b.caps & VBN_EFA_CAP_RDMA_WRITE) != 0; }

/* ---- The tests ---- */

/* Every sort of memory here with every sort there, in one dma-buf or a dma-buf for each segment, of unaligned parts. */
static void matrix(int segments_export) {
    static const struct {
        uint64_t offset, remote, length, chunk;
    } parts[] = {{0, 0, 1, 0}, {5, 77, 5 * MIB, 0}, {MIB - 3, 2 * MIB + 1, 3 * MIB + 11, MIB + 7}, {5 * MIB - 1, 1, 1, 0}};
    begin();
    sim.segments_export(segments_export);
    for (int here = 0; here < SORTS; here++)
        for (int there = 0; there < SORTS; there++) {
            struct memory m = memory_new((enum sort)here, 0, 6 * MIB, 3), n = memory_new((enum sort)there, 1, 8 * MIB, 4);
            memory_reg(&m, &a, 12345, 6 * MIB - 20000, NULL);
            memory_reg(&n, &b, 4095, 8 * MIB - 4096, NULL);
            if (here == VMM) CHECK_UEQ(m.report.count, segments_export ? 1 : 3);
            if (there == VMM) CHECK_UEQ(n.report.path, segments_export ? VBN_GPU_PATH_DMABUF : VBN_GPU_PATH_SEGMENTS);
            for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
                move_and_look(VBN_WR_RDMA_READ, &m, &n, parts[i].offset, parts[i].remote, parts[i].length, parts[i].chunk);
                if (has_write()) move_and_look(VBN_WR_RDMA_WRITE, &m, &n, parts[i].offset, parts[i].remote, parts[i].length, parts[i].chunk);
            }
            memory_free(&m);
            memory_free(&n);
        }
    test_note("%s", has_write() ? "read and write" : "read only: no WRITE here");
    end();
}

static void one_dmabuf(void) { matrix(1); }
static void dmabuf_per_segment(void) { matrix(0); }

/* Messages between GPUs, and between a GPU and the host, gathered from two segments and scattered over two. */
static void send(void) {
    enum { LENGTH = 8000 };
    static const enum sort ways[][2] = {{VMM, VMM}, {HOST, VMM}, {VMM, HOST}};
    static uint8_t want[2 * 2 * MIB], got[2 * 2 * MIB];
    begin();
    sim.segments_export(0);
    for (unsigned way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        struct memory m = memory_new(ways[way][0], 0, 4 * MIB, 2), n = memory_new(ways[way][1], 1, 4 * MIB, 2);
        memory_reg(&m, &a, 0, m.size, NULL);
        memory_reg(&n, &b, 0, n.size, NULL);
        for (uint64_t shift = 1; shift < LENGTH; shift += 2666) {
            uint8_t bytes[LENGTH];
            fill(want, sizeof want, (uint32_t)shift);
            put(&n, 0, want, sizeof want);
            fill(bytes, LENGTH, (uint32_t)shift + 1 + way);
            put(&m, 2 * MIB - shift, bytes, LENGTH);
            uint32_t scattered, gathered = message(&m, 2 * MIB - shift, &n, 2 * MIB - 1 - shift / 2, LENGTH, &scattered);
            CHECK_UEQ(gathered, m.sort == VMM ? 2 : 1);
            CHECK_UEQ(scattered, n.sort == VMM ? 2 : 1);
            memcpy(want + 2 * MIB - 1 - shift / 2, bytes, LENGTH);
            get(&n, 0, got, sizeof got);
            CHECK_MEM(got, want, sizeof got);
        }
        memory_free(&m);
        memory_free(&n);
    }
    end();
}

/* Three segments of 2 GiB here, one of 6 there: around each boundary, and beyond 4 GiB, the bytes are where they belong. Memory takes
   pages only where it is touched. */
static void beyond_4_gib(void) {
    enum { MESSAGE = 8000 };
    static const uint64_t places[] = {0, 2 * GIB - 5000, 4 * GIB - 5000, 4 * GIB + 12345, 6 * GIB - 10000};
    static uint8_t bytes[10000], got[10000];
    begin();
    sim.segments_export(0);
    struct memory m = memory_new(VMM, 0, 6 * GIB, 3), n = memory_new(PLAIN, 1, 6 * GIB + 2 * MIB, 1);
    memory_reg(&m, &a, 0, m.size, NULL);
    memory_reg(&n, &b, 333, 6 * GIB, NULL);
    CHECK_UEQ(m.report.count, 3);
    vbn_region_info region = told(&n);
    vbn_split_attr all = {.struct_size = sizeof all, .mr_set = m.set, .region = &region, .length = 6 * GIB, .opcode = VBN_WR_RDMA_READ, .peer = to_b};
    uint64_t total;
    uint32_t count;
    CHECK_OK(vbn_rdma_split(a.qp, &all, 0, NULL, 0, &count, &total));
    CHECK_UEQ(total, 6);
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
        fill(bytes, sizeof bytes, i);
        put(&n, n.offset + places[i], bytes, sizeof bytes);
        uint64_t requests = move(VBN_WR_RDMA_READ, &m, places[i], &region, places[i], sizeof bytes, 0);
        CHECK_UEQ(requests, i == 1 || i == 2 ? 2 : 1);
        get(&m, places[i], got, sizeof got);
        CHECK_MEM(got, bytes, sizeof got);
        uint32_t scattered;
        fill(bytes, MESSAGE, i + 100);
        put(&m, places[i], bytes, MESSAGE);
        CHECK_UEQ(message(&m, places[i], &n, places[i], MESSAGE, &scattered), i == 1 || i == 2 ? 2 : 1);
        CHECK_UEQ(scattered, 1);
        get(&n, n.offset + places[i], got, MESSAGE);
        CHECK_MEM(got, bytes, MESSAGE);
        if (!has_write()) continue;
        fill(bytes, sizeof bytes, i + 50);
        put(&m, places[i], bytes, sizeof bytes);
        move(VBN_WR_RDMA_WRITE, &m, places[i], &region, places[i], sizeof bytes, 0);
        get(&n, n.offset + places[i], got, sizeof got);
        CHECK_MEM(got, bytes, sizeof got);
    }
    memory_free(&m);
    memory_free(&n);
    end();
}

/* 32 MiB in four requests, and a write whose immediate value, when it comes, stands for the data: they are in the GPU's memory then. */
static void chunks_and_immediate(void) {
    enum { ALL = 32 << 20, CHUNK = 8 << 20, PART = 1 << 20 };
    uint8_t *bytes = malloc(ALL), *got = malloc(ALL);
    CHECK(bytes && got);
    begin();
    struct memory m = memory_new(PLAIN, 0, ALL, 1), n = memory_new(PLAIN, 1, ALL, 1);
    memory_reg(&m, &a, 0, ALL, NULL);
    memory_reg(&n, &b, 0, ALL, NULL);
    vbn_region_info region = told(&n);
    fill(bytes, ALL, 32);
    put(has_write() ? &m : &n, 0, bytes, ALL);
    CHECK_UEQ(move(has_write() ? VBN_WR_RDMA_WRITE : VBN_WR_RDMA_READ, &m, 0, &region, 0, ALL, CHUNK), 4);
    get(has_write() ? &n : &m, 0, got, ALL);
    CHECK_MEM(got, bytes, ALL);
    if (has_write()) {
        vbn_split_attr attr = {.struct_size = sizeof attr, .wr_id = 7, .flags = VBN_SEND_SIGNALED, .mr_set = m.set, .region = &region, .length = PART, .peer = to_b,
            .opcode = VBN_WR_RDMA_WRITE_WITH_IMM, .imm = 0x5eed};
        vbn_send_wr wr;
        uint32_t count = 0, posted = 0;
        uint64_t total = 0;
        fill(bytes, PART, 33);
        put(&m, 0, bytes, PART);
        srd_recv(&b, 8, 0, 64);
        CHECK_OK(vbn_rdma_split(a.qp, &attr, 0, &wr, 1, &count, &total));
        CHECK_UEQ(total, 1);
        CHECK_OK(vbn_qp_post_send(a.qp, &wr, 1, &posted));
        vbn_wc wc = srd_ok(&b, 8);
        get(&n, 0, got, PART);
        CHECK_MEM(got, bytes, PART);
        CHECK_UEQ(wc.imm, 0x5eed);
        CHECK_UEQ(wc.byte_len, PART);
        srd_ok(&a, 7);
    } else {
        test_note("no WRITE here, so no immediate value");
    }
    memory_free(&m);
    memory_free(&n);
    end();
    free(bytes);
    free(got);
}

/* A host with pages of 64 KiB. */
static void pages_64k(void) {
    enum { MESSAGE = 8000 };
    uint8_t bytes[MESSAGE], got[MESSAGE];
    uint32_t scattered;
    begin();
    struct memory m = memory_new(VMM, 0, 4 * MIB, 2), n = memory_new(PLAIN, 1, 2 * MIB, 1);
    pages = 65536;
    memory_reg(&m, &a, 70001, 3 * MIB, NULL);
    memory_reg(&n, &b, 4097, MIB, NULL);
    move_and_look(VBN_WR_RDMA_READ, &m, &n, 60000, 65535, 200000, 0);
    if (has_write()) move_and_look(VBN_WR_RDMA_WRITE, &m, &n, 1, 3, MIB - 5, 0);
    fill(bytes, MESSAGE, 64);
    put(&m, 2 * MIB - 4001, bytes, MESSAGE); /* over the bound of two segments */
    message(&m, 2 * MIB - 4001 - m.offset, &n, 61001, MESSAGE, &scattered);
    get(&n, n.offset + 61001, got, MESSAGE);
    CHECK_MEM(got, bytes, MESSAGE);
    memory_free(&m);
    memory_free(&n);
    pages = 0;
    end();
}

/* Memory that was freed: the dma-buf's pages stay, requests still succeed, and vbn_gpu_mr_validate alone tells. */
static void freed(void) {
    int32_t state = 77;
    uint8_t bytes[100], got[100];
    begin();
    struct memory m = memory_new(HOST, 0, MIB, 1), n = memory_new(PLAIN, 1, MIB, 1);
    memory_reg(&m, &a, 0, MIB, NULL);
    memory_reg(&n, &b, 0, MIB, NULL);
    fill(bytes, sizeof bytes, 3);
    put(&n, 0, bytes, sizeof bytes);
    vbn_region_info region = told(&n);
    CHECK_OK(vbn_gpu_mr_validate(n.set, &state));
    CHECK_EQ(state, VBN_GPU_MR_VALID);
    CU(sim.cuda.MemFree(n.addr));
    CHECK_OK(vbn_gpu_mr_validate(n.set, &state));
    CHECK_EQ(state, VBN_GPU_MR_FREED);
    move(VBN_WR_RDMA_READ, &m, 0, &region, 0, sizeof bytes, 0);
    get(&m, 0, got, sizeof got);
    CHECK_MEM(got, bytes, sizeof got);
    n.sort = HOST;
    CHECK_OK(vbn_mr_set_close(&n.set));
    memory_free(&m);
    end();
}

/* Whether the first device has a peer-memory module of its own: softnic run --device efa,peermem=efa. */
static int has_peer_memory(const char *device) {
    char path[256], text[64] = "";
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/device/p2p", device);
    FILE *in = fopen(path, "r");
    if (in && !fgets(text, sizeof text, in)) text[0] = '\0';
    if (in) fclose(in);
    return text[0] != '\0' && text[0] != '\n';
}

/* What can't be exported goes by address where the device's driver has a module, and not where it has none. */
static void peer_memory(void) {
    vbn_mr_set *set;
    vbn_gpu_mr_report report = {.struct_size = sizeof report};
    need_efa(test_device());
    if (!has_peer_memory(test_device()) || has_peer_memory(need_second()))
        SKIP("needs a device with a peer-memory module and one without: softnic run --device efa,peermem=efa --device efa");
    begin();
    sim.plain_export(0);
    struct memory m = memory_new(PLAIN, 0, 2 * MIB, 1), n = memory_new(PLAIN, 1, 2 * MIB, 1);
    memory_reg(&m, &a, 12345, MIB, NULL);
    CHECK_UEQ(m.report.path, VBN_GPU_PATH_PEER);
    CHECK_EQ(m.report.attempts[0].outcome, VBN_GPU_ATTEMPT_FAILED);
    unsigned before = fds();
    CHECK_STATUS(vbn_gpu_mr_reg(b.pd, n.addr, MIB, VBN_ACCESS_LOCAL_WRITE, NULL, &set, &report), VBN_ERR_DRIVER);
    CHECK_EQ(test_error().sys_errno, EFAULT);
    CHECK(set == NULL);
    no_more_fds(before);
    test_note("%s", test_error().message);
    CHECK_HAS(test_error().message, "efa_nv_peermem");
    CHECK_EQ(report.attempts[2].sys_errno, EFAULT);
    sim.plain_export(1);
    memory_reg(&n, &b, 4095, MIB, NULL);
    CHECK_UEQ(n.report.path, VBN_GPU_PATH_DMABUF);
    move_and_look(VBN_WR_RDMA_READ, &m, &n, 1, 2, 500000, 0);
    if (has_write()) move_and_look(VBN_WR_RDMA_WRITE, &m, &n, 3, 4, 500000, 0);

    /* Segments that can't be exported, one region for each by address. */
    sim.fail("cuMemGetHandleForAddressRange", 0, 801);
    struct memory v = memory_new(VMM, 0, 4 * MIB, 2);
    memory_reg(&v, &a, 100, 4 * MIB - 200, NULL);
    CHECK_UEQ(v.report.path, VBN_GPU_PATH_PEER);
    test_note("peer memory of two segments: %u regions", v.report.count);
    move_and_look(VBN_WR_RDMA_READ, &v, &n, 2 * MIB - 5000, 7, 300000, 0);
    sim.fail("cuMemGetHandleForAddressRange", 0, 0);
    memory_free(&v);

    /* Freed: the driver has taken the region from the device, and says nothing. */
    int32_t state;
    vbn_region_info region = told(&n);
    CU(sim.cuda.MemFree(m.addr));
    CHECK_OK(vbn_gpu_mr_validate(m.set, &state));
    CHECK_EQ(state, VBN_GPU_MR_FREED);
    vbn_split_attr attr = {.struct_size = sizeof attr, .wr_id = 7, .flags = VBN_SEND_SIGNALED, .mr_set = m.set, .region = &region, .length = 100,
        .peer = to_b, .opcode = VBN_WR_RDMA_READ};
    vbn_send_wr wr;
    uint32_t count;
    uint64_t total;
    CHECK_OK(vbn_rdma_split(a.qp, &attr, 0, &wr, 1, &count, &total));
    srd_post(&a, &wr);
    srd_failed(&a, 7, 5);
    CHECK_OK(vbn_mr_set_close(&m.set));
    memory_free(&n);
    end();
}

/* A tensor of the GPU's, to one of the host's. */
static void tensors(void) {
    int64_t shape[] = {4, 1000};
    static float numbers[5000];
    float got[4000];
    begin();
    struct memory n = memory_new(PLAIN, 1, MIB, 1);
    for (int i = 0; i < 5000; i++) numbers[i] = (float)i;
    put(&n, 400, numbers, sizeof numbers);
    memset(numbers, 0, sizeof numbers);
    vbn_dltensor gpu = {.data = (void *)(uintptr_t)n.addr, .device_type = VBN_DL_CUDA, .device_id = 1, .ndim = 2, .dtype_code = 2, .dtype_bits = 32,
        .dtype_lanes = 1, .shape = shape, .byte_offset = 400};
    vbn_dltensor host = gpu;
    host.data = numbers;
    host.device_type = VBN_DL_CPU;
    struct memory m = {.sort = HOST, .addr = (uintptr_t)numbers, .size = sizeof numbers};
    CHECK_OK(vbn_mr_reg_dltensor(b.pd, &gpu, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, NULL, &n.set, NULL));
    CHECK_OK(vbn_mr_reg_dltensor(a.pd, &host, VBN_ACCESS_LOCAL_WRITE, NULL, &m.set, NULL));
    n.length = sizeof got;
    vbn_region_info region = told(&n);
    move(VBN_WR_RDMA_READ, &m, 0, &region, 0, sizeof got, 0);
    for (int i = 0; i < 4000; i++) CHECK((int)numbers[100 + i] == i);
    CHECK(numbers[99] == 0 && numbers[4100] == 0);
    CHECK_OK(vbn_mr_set_close(&m.set));
    memory_free(&n);
    end();
}

/*
 * A host with two devices, of which the first has a peer-memory module, and memory that each has its own way to: one region by address with the first, a dma-buf
 * for each segment with the second. Its peer is on the second device too, finds the NIC of each endpoint in the record, and reaches the memory by both.
 */
static void second_nic(void) {
    static uint8_t bytes[5 * MIB], got[5 * MIB];
    struct srd_side ends[2]; /* the memory's host, on the first device and on the second */
    vbn_peer *peers[2], *back[2];
    vbn_region_info region;
    uint32_t nic = 77;
    need_efa(test_device());
    if (!has_peer_memory(test_device()) || has_peer_memory(need_second()))
        SKIP("needs a device with a peer-memory module and one without: softnic run --device efa,peermem=efa --device efa");
    begin();
    sim.segments_export(0);
    struct memory m = memory_new(VMM, 0, 8 * MIB, 2), n = memory_new(VMM, 1, 6 * MIB, 3);
    memory_reg(&m, &b, 777, 5 * MIB, NULL);
    vbn_mr_set *sets[2];
    for (int i = 0; i < 2; i++) {
        vbn_gpu_mr_attr attr = {.struct_size = sizeof attr, .paths = i ? VBN_GPU_PATH_SEGMENTS : VBN_GPU_PATH_PEER};
        srd_open(&ends[i], &(struct srd_setup){.qp_type = VBN_QPT_SRD, .device = i ? need_second() : test_device()});
        peers[i] = srd_peer(&b, &ends[i]);
        back[i] = srd_peer(&ends[i], &b);
        memory_reg(&n, &ends[i], 4095, 5 * MIB, &attr);
        CHECK_UEQ(n.report.path, attr.paths);
        sets[i] = n.set;
        if (i) continue;
        /* By address the second has no way, so a mistaken NIC can't be served by chance. */
        vbn_mr_set *none;
        CHECK_STATUS(vbn_gpu_mr_reg(b.pd, n.addr, n.size, VBN_ACCESS_LOCAL_WRITE, &attr, &none, &n.report), VBN_ERR_DRIVER);
        CHECK_EQ(test_error().sys_errno, EFAULT);
    }
    region = told_of((const vbn_mr_set *const *)sets, 2);
    CHECK_UEQ(region.num_nics, 2);
    CHECK_UEQ(region.num_entries, 1 + 3);
    for (int i = 0; i < 2; i++) {
        vbn_endpoint_info endpoint = {.struct_size = sizeof endpoint};
        CHECK_OK(vbn_endpoint_info_local(ends[i].qp, NULL, &endpoint));
        CHECK_OK(vbn_region_info_find_nic(&region, &endpoint, &nic));
        CHECK_UEQ(nic, i);
        vbn_split_attr attr = {.struct_size = sizeof attr, .flags = VBN_SEND_SIGNALED, .mr_set = m.set, .region = &region, .nic = nic, .length = 5 * MIB,
            .peer = peers[i], .opcode = VBN_WR_RDMA_READ};
        /* Segments of 4 MiB here; over there one piece, or three of 2 MiB. */
        vbn_send_wr wrs[8];
        uint32_t count;
        uint64_t total, here = 0, there = 0;
        CHECK_OK(vbn_rdma_split(b.qp, &attr, 0, wrs, 8, &count, &total));
        CHECK_UEQ(total, i ? 4 : 2);
        for (uint32_t k = 0; k < count; k++) {
            int found = 0;
            for (uint32_t e = 0; e < region.num_entries; e++) {
                const vbn_region_entry *entry = &region.entries[e];
                found |= entry->nic == nic && entry->rkey == wrs[k].rkey && wrs[k].remote_addr >= entry->addr &&
                         wrs[k].remote_addr + wrs[k].sge.length <= entry->addr + entry->length;
            }
            CHECK(found);
            CHECK_UEQ(wrs[k].sge.addr, m.addr + 777 + here);
            CHECK_UEQ(wrs[k].remote_addr, n.addr + 4095 + there);
            here += wrs[k].sge.length;
            there += wrs[k].sge.length;
        }
        CHECK_UEQ(here, 5 * MIB);
        fill(bytes, sizeof bytes, 40 + (uint32_t)i);
        put(&n, 4095, bytes, sizeof bytes);
        run(&b, &attr);
        get(&m, 777, got, sizeof got);
        CHECK_MEM(got, bytes, sizeof got);
        if (!has_write()) continue;
        fill(bytes, sizeof bytes, 50 + (uint32_t)i);
        put(&m, 777, bytes, sizeof bytes);
        attr.opcode = VBN_WR_RDMA_WRITE;
        run(&b, &attr);
        get(&n, 4095, got, sizeof got);
        CHECK_MEM(got, bytes, sizeof got);
    }
    /* An endpoint whose device the memory is not registered with. */
    vbn_endpoint_info other = {.struct_size = sizeof other};
    vbn_region_info first = told_of((const vbn_mr_set *const *)sets, 1);
    CHECK_OK(vbn_endpoint_info_local(ends[1].qp, NULL, &other));
    nic = 77;
    CHECK_STATUS(vbn_region_info_find_nic(&first, &other, &nic), VBN_ERR_NOT_FOUND);
    CHECK_UEQ(nic, 77);
    test_note("%s", test_error().message);
    CHECK_OK(vbn_mr_set_close(&sets[0]));
    n.set = sets[1];
    memory_free(&n);
    memory_free(&m);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(vbn_peer_close(&peers[i]));
        CHECK_OK(vbn_peer_close(&back[i]));
        srd_close(&ends[i]);
    }
    end();
}

/* Memory of AMD's GPUs, with each other, the host's and NVIDIA's. By address no module knows it, whichever the device has. */
static void rocm(void) {
    static const struct {
        uint64_t offset, remote, length, chunk;
    } parts[] = {{0, 0, 1, 0}, {5, 77, 30000, 0}, {4095, 4097, 20000, 777}};
    int64_t shape[] = {100, 10};
    int32_t state = 77;
    begin();
    hsa_use();
    for (int sort = HOST; sort <= ROCM; sort++) {
        struct memory m = memory_new((enum sort)sort, 0, sort == VMM ? 4 * MIB : HSA_SIZE, sort == VMM ? 2 : 1), n = memory_new(ROCM, 1, HSA_SIZE, 1);
        memory_reg(&m, &a, 333, 40000, NULL);
        memory_reg(&n, &b, 12345, 50000, NULL);
        CHECK_UEQ(n.report.path, VBN_GPU_PATH_DMABUF);
        CHECK_EQ(n.report.kind, VBN_GPU_KIND_ROCM);
        for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            move_and_look(VBN_WR_RDMA_READ, &m, &n, parts[i].offset, parts[i].remote, parts[i].length, parts[i].chunk);
            if (has_write()) move_and_look(VBN_WR_RDMA_WRITE, &m, &n, parts[i].offset, parts[i].remote, parts[i].length, parts[i].chunk);
        }
        CHECK_OK(vbn_gpu_mr_validate(n.set, &state));
        CHECK_EQ(state, VBN_GPU_MR_UNKNOWN);
        memory_free(&m);
        memory_free(&n);
    }
    /* A tensor. */
    uint8_t bytes[4000], got[4000];
    struct memory m = memory_new(HOST, 0, MIB, 1), n = memory_new(ROCM, 1, HSA_SIZE, 1);
    vbn_dltensor tensor = {.data = (void *)(uintptr_t)n.addr, .device_type = VBN_DL_ROCM, .device_id = 1, .ndim = 2, .dtype_code = 2, .dtype_bits = 32,
        .dtype_lanes = 1, .shape = shape, .byte_offset = 12344};
    fill(bytes, sizeof bytes, 9);
    put(&n, 12344, bytes, sizeof bytes);
    memory_reg(&m, &a, 0, MIB, NULL);
    CHECK_OK(vbn_mr_reg_dltensor(b.pd, &tensor, VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ, NULL, &n.set, NULL));
    n.length = sizeof bytes;
    vbn_region_info region = told(&n);
    move(VBN_WR_RDMA_READ, &m, 0, &region, 0, sizeof bytes, 0);
    get(&m, 0, got, sizeof got);
    CHECK_MEM(got, bytes, sizeof got);
    memory_free(&m);
    memory_free(&n);
    vbn_gpu_mr_attr attr = {.struct_size = sizeof attr, .paths = VBN_GPU_PATH_PEER};
    vbn_mr_set *none;
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(vbn_gpu_mr_reg(i ? b.pd : a.pd, n.addr, 4096, VBN_ACCESS_LOCAL_WRITE, &attr, &none, NULL), VBN_ERR_DRIVER);
        CHECK_EQ(test_error().sys_errno, EFAULT);
        CHECK_HAS(test_error().message, "know no AMD GPU's memory");
    }
    end();
}

int main(int argc, char **argv) {
    static const struct test tests[] = {
        {"one_dmabuf", one_dmabuf},
        {"dmabuf_per_segment", dmabuf_per_segment},
        {"send", send},
        {"beyond_4_gib", beyond_4_gib},
        {"chunks_and_immediate", chunks_and_immediate},
        {"pages_64k", pages_64k},
        {"freed", freed},
        {"peer_memory", peer_memory},
        {"tensors", tensors},
        {"second_nic", second_nic},
        {"rocm", rocm},
        {NULL, NULL},
    };
    return test_main("gpu", tests, argc, argv);
}
