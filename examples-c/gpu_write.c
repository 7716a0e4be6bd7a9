/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * gpu_write: one GPU's memory goes into another's over SRD, AWS EFA's transport, past the host's memory, every byte checked.
 *
 *   gpu_write --listen PORT [--address ADDRESS] [OPTIONS]                ADDRESS is 127.0.0.1 unless given; PORT 0: a free one
 *   gpu_write --connect HOST PORT [--size BYTES] [OPTIONS]               16 MiB unless told otherwise
 *       --gpu N             the GPU's ordinal; 0 unless given
 *       --device NAME       the NIC; else the one that is nearest to the GPU
 *       --simulated FILE    no real GPU, even where there is one: libverbena's simulated libcuda, tests-c/simcuda. Where there is no GPU,
 *                           one that the loader finds as libcuda.so.1 is taken without being asked for
 *
 * The client has the data. It WRITEs them into the server's memory, or, where a device has no WRITE, the server READs them.
 *
 *   cc -std=c11 gpu_write.c $(pkg-config --cflags --libs verbena) -ldl -o gpu_write
 *   softnic run --device efa -- sh -c './gpu_write --listen 18515 --simulated FILE & ./gpu_write --connect 127.0.0.1 18515 --simulated FILE; wait'
 *
 * What differs from memory of the host (srd_write.c):
 *   - vbn_gpu_mr_reg instead of vbn_mr_reg: it tries what there is, and tells which way worked or why none did. The result is a set, since
 *     memory of a GPU may have to be registered in pieces.
 *   - Before the NIC reads: the work that makes the data is done (vbn_gpu_synchronize).
 *   - Before the GPU reads what a NIC has written: vbn_gpu_flush_writes, after the completion.
 */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <verbena.h>

#define DEPTH 16                      /* requests under way at once; the device may grant more */
#define BATCH 8                       /* requests handed over in one call */
#define COMPLETIONS 1024              /* room for every completion that can be outstanding */
#define TIMEOUT INT64_C(30000000000)  /* ns: nobody waits for ever for a peer that died */

#include "data.h"
#include "tcp.h"

/* --- CUDA, by its driver's library, so that this builds without it -------------------------------------- */

typedef unsigned long long gpu_address;

static struct {
    void *library;
    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*retain_context)(void **context, int device);
    int (*release_context)(int device);
    int (*set_context)(void *context);
    int (*alloc)(gpu_address *memory, size_t size);
    int (*free)(gpu_address memory);
    int (*to_gpu)(gpu_address to, const void *from, size_t size);
    int (*to_host)(void *to, gpu_address from, size_t size);
} cuda;

static int find(const char *name, void *function) {
    void *address = dlsym(cuda.library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static void check_cuda(const char *what, int result) {
    if (result != 0) die("%s: CUDA's error %d", what, result);
}

/* Opens a libcuda and says whether it has a GPU. */
static int cuda_try(const char *file) {
    int count = 0;
    cuda.library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    return cuda.library && find("cuInit", &cuda.init) && find("cuDeviceGetCount", &cuda.device_count) &&
           find("cuDevicePrimaryCtxRetain", &cuda.retain_context) && find("cuDevicePrimaryCtxRelease_v2", &cuda.release_context) &&
           find("cuCtxSetCurrent", &cuda.set_context) && find("cuMemAlloc_v2", &cuda.alloc) && find("cuMemFree_v2", &cuda.free) &&
           find("cuMemcpyHtoD_v2", &cuda.to_gpu) && find("cuMemcpyDtoH_v2", &cuda.to_host) && cuda.init(0) == 0 &&
           cuda.device_count(&count) == 0 && count > 0;
}

/* A GPU with a current context: a real one if there is one, unless a simulated one is asked for. */
static void cuda_open(int gpu, const char *simulated, char about[256]) {
    if (!cuda_try(simulated ? simulated : "libcuda.so.1")) {
        if (simulated) die("%s is no simulated libcuda", simulated);
        die("there is no GPU here (no libcuda.so.1, or it finds none); --simulated FILE takes a simulated one");
    }
    int real = dlsym(cuda.library, "simcuda_reset") == NULL; /* the simulated one can have the name, too */
    if (real && simulated) die("%s is no simulated libcuda", simulated);

    /* The library finds the libcuda of the process by itself. It is told here because the simulated one may have any name. */
    vbn_library_attr attr = {.struct_size = sizeof attr, .library = VBN_LIBRARY_CUDA, .handle = cuda.library};
    check(vbn_library_init(&attr));
    void *context = NULL;
    check_cuda("cuDevicePrimaryCtxRetain", cuda.retain_context(&context, gpu));
    check_cuda("cuCtxSetCurrent", cuda.set_context(context));

    vbn_gpu_device_info info = {.struct_size = sizeof info};
    check(vbn_gpu_device_query(VBN_GPU_KIND_CUDA, gpu, &info));
    snprintf(about, 256, "%s, %s, CUDA %d.%d", real ? "real GPU" : "SIMULATED GPU", info.name, info.driver_version / 1000, info.driver_version % 1000 / 10);
}

/* --- the NIC ------------------------------------------------------------------------------------------------ */

struct side {
    vbn_caps caps;
    vbn_context *context;
    vbn_pd *pd;
    vbn_cq *cq;
    vbn_qp *qp;
    vbn_peer *peer;
    int gpu;
    gpu_address memory;
    uint64_t length, seed;
    vbn_mr_set *set; /* the memory, for the NIC */
    vbn_endpoint_info endpoint, their_endpoint;
    vbn_region_info region, their_region;
    int can_write, they_can_write;
    char about_gpu[256], about_nic[128];
};

/* Of the devices that have SRD and READ the one that is nearest to the GPU. */
static void choose_device(struct side *side, char name[64]) {
    vbn_device_match devices[32];
    uint32_t count = 0;
    int32_t least = INT32_MAX;
    check(vbn_device_find(VBN_CAP_SRD | VBN_CAP_READ, devices, sizeof devices[0], 32, &count));
    for (uint32_t i = 0; i < count && i < 32 && devices[i].matches; i++) {
        vbn_distance_attr attr = {.struct_size = sizeof attr, .gpu_kind = VBN_GPU_KIND_CUDA, .gpu_device = side->gpu, .nic = devices[i].name};
        vbn_distance_info info = {.struct_size = sizeof info, .distance = VBN_DISTANCE_UNKNOWN};
        if (vbn_gpu_nic_distance(&attr, &info) != VBN_OK) info.distance = VBN_DISTANCE_UNKNOWN; /* a simulated GPU is nowhere */
        if (info.distance >= least) continue;
        least = info.distance;
        memcpy(name, devices[i].name, sizeof devices[i].name);
    }
    if (least == INT32_MAX) die("no RDMA device with SRD: %s", count ? devices[0].reason : "there is none at all");
    snprintf(side->about_nic, sizeof side->about_nic, "the nearest, distance %s", vbn_distance_name(least));
}

static void open_nic(struct side *side, const char *device) {
    char nearest[64];
    if (!device) choose_device(side, nearest);
    check(vbn_context_open(device ? device : nearest, NULL, &side->context));
    side->caps.struct_size = sizeof side->caps;
    check(vbn_context_caps(side->context, &side->caps));
    side->can_write = (side->caps.caps & VBN_CAP_WRITE) != 0;
    check(vbn_pd_alloc(side->context, NULL, &side->pd));
    vbn_cq_attr cq = {.struct_size = sizeof cq, .cqe = COMPLETIONS};
    check(vbn_cq_create(side->context, &cq, &side->cq));
    vbn_qp_init_attr qp = {.struct_size = sizeof qp, .qp_type = VBN_QPT_SRD, .send_cq = side->cq, .max_send_wr = DEPTH, .sq_sig_all = 1};
    check(vbn_qp_create(side->pd, &qp, &side->qp));
    vbn_qp_prepare_attr prepare = {.struct_size = sizeof prepare, .set = VBN_QP_PREPARE_SET_QKEY, .qkey = vbn_qkey_random()};
    check(vbn_qp_prepare(side->qp, &prepare));
    side->endpoint.struct_size = sizeof side->endpoint;
    check(vbn_endpoint_info_local(side->qp, NULL, &side->endpoint));
}

static const char *path_name(uint32_t path) {
    return path == VBN_GPU_PATH_DMABUF ? "one dma-buf" : path == VBN_GPU_PATH_SEGMENTS ? "a dma-buf for each segment" : "peer memory";
}

/* The GPU's memory for the NIC. If that fails, the error tells why by each way. */
static void register_memory(struct side *side) {
    check_cuda("cuMemAlloc", cuda.alloc(&side->memory, side->length));
    uint64_t access = VBN_ACCESS_LOCAL_WRITE | VBN_ACCESS_REMOTE_READ | (side->can_write ? VBN_ACCESS_REMOTE_WRITE : 0);
    vbn_gpu_mr_report report = {.struct_size = sizeof report};
    check(vbn_gpu_mr_reg(side->pd, side->memory, side->length, access, NULL, &side->set, &report));
    printf("%s: %" PRIu64 " bytes registered by %s, regions: %" PRIu32 "\n", role, side->length, path_name(report.path), report.count);
    for (uint32_t i = 0; i < report.num_attempts && report.attempts[i].path != report.path; i++)
        printf("%s:   not by %s: %s\n", role, path_name(report.attempts[i].path), report.attempts[i].reason);
    side->region.struct_size = sizeof side->region;
    check(vbn_region_info_local((const vbn_mr_set *const *)&side->set, 1, NULL, &side->region));
}

/* --- what the two tell each other over TCP -------------------------------------------------------------- */

#define HELLO_SIZE (2 * VBN_RECORD_MAX_SIZE + 1)

static void meet(struct side *side, int fd) {
    uint8_t bytes[HELLO_SIZE] = {0}, *region = bytes + VBN_RECORD_MAX_SIZE;
    size_t size;
    check(vbn_endpoint_info_encode(&side->endpoint, bytes, VBN_RECORD_MAX_SIZE, &size));
    check(vbn_region_info_encode(&side->region, region, VBN_RECORD_MAX_SIZE, &size));
    bytes[HELLO_SIZE - 1] = (uint8_t)side->can_write;
    tcp_write(fd, bytes, sizeof bytes);
    tcp_read(fd, bytes, sizeof bytes);
    side->their_endpoint.struct_size = sizeof side->their_endpoint;
    side->their_region.struct_size = sizeof side->their_region;
    check(vbn_endpoint_info_decode(bytes, VBN_RECORD_MAX_SIZE, &side->their_endpoint)); /* both check every field, too */
    check(vbn_region_info_decode(region, VBN_RECORD_MAX_SIZE, &side->their_region));
    side->they_can_write = bytes[HELLO_SIZE - 1];
    if (side->their_region.length != side->length) die("the peer has %" PRIu64 " bytes instead of %" PRIu64, side->their_region.length, side->length);
    check(vbn_peer_from_info(side->qp, &side->their_endpoint, NULL, &side->peer));
    tcp_meet(fd, 'p'); /* SRD: both must know each other before the first request */
}

/* --- the data ------------------------------------------------------------------------------------------------ */

static uint8_t *host_copy(const struct side *side) {
    uint8_t *bytes = malloc(side->length);
    if (!bytes) die("no memory for %" PRIu64 " bytes", side->length);
    return bytes;
}

/* A kernel of yours would do this. */
static void make_data(const struct side *side) {
    uint8_t *bytes = host_copy(side);
    fill(bytes, side->length, side->seed);
    check_cuda("cuMemcpyHtoD", cuda.to_gpu(side->memory, bytes, side->length));
    free(bytes);
    check(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, side->gpu)); /* the NIC doesn't wait for streams */
}

/* And a kernel of yours would read them. */
static int data_are_right(const struct side *side) {
    uint8_t *bytes = host_copy(side);
    int32_t done = 0;
    check(vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, side->gpu, VBN_GPU_FLUSH_OWNER, &done));
    printf("%s: flush: %s\n", role, done == VBN_GPU_FLUSH_DONE ? "done" : "not needed on this GPU");
    check_cuda("cuMemcpyDtoH", cuda.to_host(bytes, side->memory, side->length));
    uint64_t at = first_difference(bytes, side->length, side->seed);
    free(bytes);
    if (at < side->length) printf("%s: WRONG: the bytes at %" PRIu64 " are not the client's\n", role, at);
    return at >= side->length;
}

/* Moves everything, keeping the queue full; returns when all of it has completed. */
static void transfer(struct side *side, uint32_t opcode) {
    vbn_split_attr attr = {
        .struct_size = sizeof attr,
        .opcode = opcode,
        .mr_set = side->set,           /* pieces of this side, */
        .region = &side->their_region, /* and of the other: requests are cut where either ends */
        .length = side->length,
        .peer = side->peer,
    };
    uint64_t next = 0, total = 1, completed = 0;
    while (completed < total) {
        vbn_send_wr wrs[BATCH];
        uint32_t count = 0, posted = 0;
        check(vbn_rdma_split(side->qp, &attr, next, wrs, BATCH, &count, &total));
        vbn_status status = count > 0 ? vbn_qp_post_send(side->qp, wrs, count, &posted) : VBN_OK;
        next += posted; /* whatever the status: the first `posted` are under way */
        if (status != VBN_ERR_QUEUE_FULL) check(status);
        if (status != VBN_ERR_QUEUE_FULL && next < total) continue;
        vbn_wc wcs[BATCH];
        uint32_t got = 0;
        check(vbn_cq_wait(side->cq, BATCH, wcs, 0, TIMEOUT, &got));
        for (uint32_t i = 0; i < got; i++) check(vbn_wc_check(&wcs[i]));
        completed += got;
    }
    printf("%s: %s %" PRIu64 " bytes in %" PRIu64 " requests\n", role, opcode == VBN_WR_RDMA_WRITE ? "wrote" : "read", side->length, total);
}

/* --- main ---------------------------------------------------------------------------------------------------- */

static void close_all(struct side *side) {
    check(vbn_qp_close(&side->qp));
    check(vbn_peer_close(&side->peer));
    check(vbn_mr_set_close(&side->set)); /* only then may the memory be freed */
    check_cuda("cuMemFree", cuda.free(side->memory));
    check(vbn_cq_close(&side->cq));
    check(vbn_pd_close(&side->pd));
    check(vbn_context_close(&side->context));
    check_cuda("cuDevicePrimaryCtxRelease", cuda.release_context(side->gpu));
}

static int run(struct side *side, const struct options *options, const char *simulated) {
    int host = options->host != NULL;
    uint8_t size[8];
    const uint8_t *p = size;
    cuda_open(side->gpu, simulated, side->about_gpu);
    open_nic(side, options->device);
    int fd = tcp_open(options);
    printf("%s: %s\n", role, side->about_gpu);
    printf("%s: NIC %s, %s\n", role, side->caps.name, side->about_nic[0] ? side->about_nic : "as asked");
    if (host) {
        put(size, side->length, 8);
        tcp_write(fd, size, sizeof size);
    } else {
        tcp_read(fd, size, sizeof size);
        side->length = get(&p, 8);
        if (side->length == 0 || side->length > UINT64_C(1) << 40) die("the client wants to send %" PRIu64 " bytes", side->length);
    }
    side->seed = side->length ^ UINT64_C(0x5eed);
    register_memory(side);
    if (host) make_data(side);
    meet(side, fd); /* the data are there when this returns */

    int writing = side->can_write && side->they_can_write;
    if (writing && host) transfer(side, VBN_WR_RDMA_WRITE);
    if (!writing && !host) transfer(side, VBN_WR_RDMA_READ);
    tcp_meet(fd, 'd'); /* a WRITE tells its target nothing: only now does it know */

    int good = host ? 1 : data_are_right(side);
    int peer_good = tcp_meet(fd, good ? 'y' : 'n') == 'y'; /* and nobody takes away what the other still uses */
    if (!host && good) printf("%s: every byte is right\n", role);
    close_all(side);
    close(fd);
    puts(good && peer_good ? "gpu_write: OK" : "gpu_write: FAILED");
    return good && peer_good ? 0 : 1;
}

static int usage(void) {
    fputs("usage: gpu_write --listen PORT [--address ADDRESS] [--gpu N] [--device NAME] [--simulated FILE]\n"
          "       gpu_write --connect HOST PORT [--size BYTES] [--gpu N] [--device NAME] [--simulated FILE]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv) {
    static struct side side = {.length = UINT64_C(16) << 20};
    struct options options = {0};
    const char *simulated = NULL;
    for (char **arg = argv + 1; arg < argv + argc; arg++) {
        if (take_option(&options, &arg)) continue;
        char *end = "";
        if (strcmp(arg[0], "--simulated") == 0 && arg[1]) {
            simulated = *++arg;
        } else if (strcmp(arg[0], "--gpu") == 0 && arg[1]) {
            side.gpu = (int)strtoul(*++arg, &end, 10);
        } else if (strcmp(arg[0], "--size") == 0 && arg[1]) {
            side.length = strtoull(*++arg, &end, 0);
        } else {
            return usage();
        }
        if (*end != '\0' || side.length == 0) return usage();
    }
    return role ? run(&side, &options, simulated) : usage();
}
