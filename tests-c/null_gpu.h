/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of GPU memory over simulated libraries share. */
#ifndef NULL_GPU_H
#define NULL_GPU_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "null_help.h"
#include "simcuda/simcuda_load.h"

enum { CUDA = VBN_GPU_KIND_CUDA, ROCM = VBN_GPU_KIND_ROCM, ANY = VBN_GPU_KIND_ANY };
#define MIB (1ull << 20)
#define CU(call) \
    do { \
        cu_ = (call); \
        MUST(!cu_, #call ": CUresult %d", cu_); \
    } while (0)
static int cu_;

static inline unsigned fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static unsigned fds_before;
static CUcontext context;

/* The simulated driver is the library's, and not initialised yet. */
static inline void begin_cold(void)
{
    MUST(!simcuda_start(), "no simulated libcuda");
    sim.reset();
    MUST(!simcuda_use(1), "vbn_library_init: %s", last()->message);
    context = NULL;
    fds_before = fds();
}

/* It is initialised, and a context of GPU 0 is current. */
static inline void begin(void)
{
    begin_cold();
    CU(sim.cuda.Init(0));
    CU(sim.cuda.CtxCreate(&context, 0, 0));
}

/* Nothing is left of it, and this thread's contexts are as they were: `contexts` deep. */
static inline void done(unsigned contexts)
{
    MUST(sim.contexts() == contexts, "contexts: %u, not %u", sim.contexts(), contexts);
    MUST(!sim.open(), "the driver has %u things left", sim.open());
    MUST(fds() == fds_before, "descriptors: %u, at the beginning %u", fds(), fds_before);
    MUST(!sim.calls("cuCtxCreate_v2") == !context, "the library made a context");
}

/* The host's pages as the library sees them. */
static long page_override;

long sysconf(int name)
{
    static long (*real)(int);
    void *address;

    if (name == _SC_PAGESIZE && page_override)
        return page_override;
    if (!real) {
        address = dlsym(RTLD_NEXT, "sysconf");
        memcpy(&real, &address, sizeof(address));
    }
    return real(name);
}

/* VMM memory of `count` segments of 2 MiB, and a hole of as much behind it. */
struct vmm {
    CUdeviceptr addr;
    size_t segments, size;
};

static inline struct vmm vmm_new(size_t count, int capable, int device)
{
    struct vmm vmm = {0, count, count * 2 * MIB};
    CUmemAllocationProp prop = {.type = 1, .location = {1, device}, .allocFlags = {.gpuDirectRDMACapable = (unsigned char)capable}};
    CUmemAccessDesc access = {{1, device}, 3};
    CUmemGenericAllocationHandle handle;

    CU(sim.cuda.MemAddressReserve(&vmm.addr, vmm.size + 2 * MIB, 0, 0, 0));
    for (size_t i = 0; i < count; i++) {
        CU(sim.cuda.MemCreate(&handle, 2 * MIB, &prop, 0));
        CU(sim.cuda.MemMap(vmm.addr + i * 2 * MIB, 2 * MIB, 0, handle, 0));
        CU(sim.cuda.MemRelease(handle));
    }
    CU(sim.cuda.MemSetAccess(vmm.addr, vmm.size, &access, 1));
    return vmm;
}

static inline void vmm_free(struct vmm *vmm)
{
    CU(sim.cuda.MemUnmap(vmm->addr, vmm->size));
    CU(sim.cuda.MemAddressFree(vmm->addr, vmm->size + 2 * MIB));
}

static inline vbn_gpu_pointer_info query(int kind, uint64_t ptr)
{
    NEW(vbn_gpu_pointer_info, info);

    OK(vbn_gpu_pointer_query(kind, ptr, &info));
    return info;
}

/* The bytes of a dma-buf, as a device would see them. */
static inline unsigned char *mapped(const vbn_gpu_dmabuf *buf, uint64_t length)
{
    int64_t at = sim.map_dmabuf(buf->fd, buf->offset, length, 1);
    uint64_t within = buf->offset % 4096;
    unsigned char *raw;

    if (at != -ENOENT) {
        MUST(at > 0, "simcuda_map_dmabuf: %s", strerror((int)-at));
        return (unsigned char *)at;
    }
    raw = mmap(NULL, length + within, PROT_READ | PROT_WRITE, MAP_SHARED, buf->fd, (off_t)(buf->offset - within));
    MUST(raw != MAP_FAILED, "mmap: %s", strerror(errno));
    return raw + within;
}

static inline void unmap(unsigned char *at, uint64_t length)
{
    uint64_t within = (uint64_t)at % 4096;

    munmap(at - within, length + within);
}

/* Exports a range and sees that its bytes are those of the memory, neither more to the left nor to the right. */
static inline void export_is_right(uint64_t ptr, uint64_t length)
{
    NEW(vbn_gpu_dmabuf, buf);
    unsigned char *bytes, first = (unsigned char)(ptr >> 8 ^ length), byte;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    OK(vbn_gpu_dmabuf_export(ANY, ptr, length, NULL, &buf));
    MUST(buf.kind == CUDA && buf.base % page == 0 && buf.length % page == 0, "base %#llx length %#llx", (unsigned long long)buf.base,
         (unsigned long long)buf.length);
    MUST(buf.base + buf.offset == ptr && buf.offset < page && buf.offset + length <= buf.length && buf.length - buf.offset - length < page,
         "offset %#llx", (unsigned long long)buf.offset);
    MUST(fcntl(buf.fd, F_GETFD) == FD_CLOEXEC, "not closed on exec");
    CU(sim.cuda.MemsetD8(ptr, 0x11, length));
    CU(sim.cuda.MemsetD8(ptr, first, 1));
    bytes = mapped(&buf, length);
    MUST(bytes[0] == first && (length == 1 || bytes[length - 1] == 0x11), "the first byte is %#x, not %#x", bytes[0], first);
    bytes[length - 1] = (unsigned char)~first;
    CU(sim.cuda.MemcpyDtoH(&byte, ptr + length - 1, 1));
    MUST(byte == (unsigned char)~first, "the last byte is %#x", byte);
    unmap(bytes, length);
    close(buf.fd);
}

/* Each function of the library that needs the driver, on memory that is all right. */
enum { QUERY, COUNT, DEVICE, EXPORT, FLUSH, SYNC, CALLS };
static const char *const call_names[] = {"vbn_gpu_pointer_query", "vbn_gpu_device_count", "vbn_gpu_device_query",
                                         "vbn_gpu_dmabuf_export", "vbn_gpu_flush_writes", "vbn_gpu_synchronize"};

static uint64_t export_length = 4096;

static inline vbn_status call(int which, int kind, uint64_t ptr)
{
    NEW(vbn_gpu_pointer_info, info);
    NEW(vbn_gpu_device_info, device);
    NEW(vbn_gpu_dmabuf, buf);
    vbn_status status = VBN_OK;
    uint32_t count = 77;

    switch (which) {
    case QUERY: return vbn_gpu_pointer_query(kind, ptr, &info);
    case COUNT: return vbn_gpu_device_count(kind, &count);
    case DEVICE: return vbn_gpu_device_query(kind, 0, &device);
    case EXPORT:
        status = vbn_gpu_dmabuf_export(kind, ptr, export_length, NULL, &buf);
        MUST((buf.fd >= 0) == !status, "status %d with descriptor %d", status, buf.fd);
        if (buf.fd >= 0)
            close(buf.fd);
        return status;
    case FLUSH: return vbn_gpu_flush_writes(kind, 0, VBN_GPU_FLUSH_OWNER, NULL);
    default: return vbn_gpu_synchronize(kind, 0);
    }
}

/* The call ends with this status, its own name in the record, and the text in its message. */
static inline void ends(int which, int kind, uint64_t ptr, vbn_status status, const char *text)
{
    null_want(__FILE__, __LINE__, call_names[which], call_names[which], call(which, kind, ptr), status);
    if (status)
        WANT_TEXT(text);
}

/* A child whose library meets a driver that lacks something. */
static inline void in_child(void (*run)(void))
{
    struct test child = {"in_child", run};
    int status;
    pid_t pid = fork();

    if (!pid) {
        int failed = test_child("gpu", &child);

        fflush(stdout);
        _exit(failed);
    }
    MUST(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
    MUST(WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", status);
}

#endif
