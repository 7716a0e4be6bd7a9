/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bad_input.c's rows for memory of GPUs. */
#ifndef BAD_GPU_H
#define BAD_GPU_H

#include "simcuda/simcuda_load.h"

#define SYMBOLS_GPU(X) \
    X(gpu_pointer_query) X(gpu_device_count) X(gpu_device_query) X(gpu_dmabuf_export) X(gpu_flush_writes) X(gpu_synchronize) X(gpu_kind_name) \
    X(gpu_memory_name) X(gpu_allocation_name)

static CUdeviceptr bad_gpu_memory;

/* The simulated driver, with memory of GPU 0. */
static void bad_gpu_begin(void)
{
    CUcontext context;

    MUST(!simcuda_start(), "no simulated libcuda");
    MUST(!simcuda_use(0), "%s", last()->message);
    sim.reset();
    MUST(!sim.cuda.Init(0) && !sim.cuda.CtxCreate(&context, 0, 0) && !sim.cuda.MemAlloc(&bad_gpu_memory, 1 << 21), "the simulated driver");
}

static const int32_t bad_gpu_kinds[] = {INT32_MIN, -1, 3, 4, 100, INT32_MAX};

static vbn_status gpu_pointer_with(void *info) { return vbn_gpu_pointer_query(VBN_GPU_KIND_CUDA, bad_gpu_memory, info); }
static void bad_gpu_pointer_query(void)
{
    static const uint64_t addresses[] = {0, 1, 4095, 1ull << 47, 1ull << 63, UINT64_MAX};
    NEW(vbn_gpu_pointer_info, info);

    bad_gpu_begin();
    bad_output_struct(sizeof(info), "vbn_gpu_pointer_info", gpu_pointer_with);
    for (size_t i = 0; i < ARRAY_SIZE(bad_gpu_kinds); i++)
        GOT(vbn_gpu_pointer_query(bad_gpu_kinds[i], bad_gpu_memory, &info), VBN_ERR_ARGUMENT, "kind");
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        GOT(vbn_gpu_pointer_query(VBN_GPU_KIND_ANY, addresses[i], &info), VBN_OK, "address of nothing");
        MUST(info.memory == VBN_GPU_MEMORY_UNKNOWN, "address %zu is memory %d", i, info.memory);
    }
}

static vbn_status gpu_count_out(void *count) { return vbn_gpu_device_count(VBN_GPU_KIND_CUDA, count); }
static void bad_gpu_device_count(void)
{
    uint32_t count = 77;

    bad_gpu_begin();
    bad_out(gpu_count_out);
    for (size_t i = 0; i < ARRAY_SIZE(bad_gpu_kinds); i++)
        GOT(vbn_gpu_device_count(bad_gpu_kinds[i], &count), VBN_ERR_ARGUMENT, "kind");
    GOT(vbn_gpu_device_count(VBN_GPU_KIND_ANY, &count), VBN_ERR_ARGUMENT, "any kind");
    MUST(count == 77, "count %u after refusals", count);
}

static vbn_status gpu_device_with(void *info) { return vbn_gpu_device_query(VBN_GPU_KIND_CUDA, 0, info); }
static void bad_gpu_device_query(void)
{
    NEW(vbn_gpu_device_info, info);

    bad_gpu_begin();
    bad_output_struct(sizeof(info), "vbn_gpu_device_info", gpu_device_with);
    for (size_t i = 0; i < ARRAY_SIZE(bad_gpu_kinds); i++)
        GOT(vbn_gpu_device_query(bad_gpu_kinds[i], 0, &info), VBN_ERR_ARGUMENT, "kind");
    GOT(vbn_gpu_device_query(VBN_GPU_KIND_ANY, 0, &info), VBN_ERR_ARGUMENT, "any kind");
    GOT(vbn_gpu_device_query(VBN_GPU_KIND_CUDA, -1, &info), VBN_ERR_ARGUMENT, "device -1");
    GOT(vbn_gpu_device_query(VBN_GPU_KIND_CUDA, INT32_MIN, &info), VBN_ERR_ARGUMENT, "device INT32_MIN");
    GOT(vbn_gpu_device_query(VBN_GPU_KIND_CUDA, INT32_MAX, &info), VBN_ERR_NOT_FOUND, "device INT32_MAX");
}

static const vbn_gpu_dmabuf_attr good_dmabuf = {.struct_size = sizeof(good_dmabuf)};
static vbn_status gpu_export(int32_t kind, uint64_t ptr, uint64_t length, const void *attr)
{
    NEW(vbn_gpu_dmabuf, buf);
    vbn_status status = vbn_gpu_dmabuf_export(kind, ptr, length, attr, &buf);

    MUST(status ? buf.fd == -1 : buf.fd >= 0, "descriptor %d after %s", buf.fd, vbn_status_name(status));
    if (!status)
        close(buf.fd);
    return status;
}
static vbn_status gpu_export_attr(void *attr) { return gpu_export(VBN_GPU_KIND_ANY, bad_gpu_memory, 4096, attr); }
static vbn_status gpu_export_out(void *out)
{
    vbn_status status = vbn_gpu_dmabuf_export(VBN_GPU_KIND_CUDA, bad_gpu_memory, 4096, NULL, out);

    /* A struct that ends before `fd` gets none. */
    if (!status && *(size_t *)out >= offsetof(vbn_gpu_dmabuf, kind))
        close(((vbn_gpu_dmabuf *)out)->fd);
    return status;
}
static void bad_gpu_dmabuf_export(void)
{
    vbn_gpu_dmabuf_attr attr = good_dmabuf;
    int next;

    bad_gpu_begin();
    next = dup(0);
    close(next);
    bad_input_struct(&attr, sizeof(attr), "vbn_gpu_dmabuf_attr", VBN_OK, gpu_export_attr);
    bad_output_struct(sizeof(vbn_gpu_dmabuf), "vbn_gpu_dmabuf", gpu_export_out);
    for (size_t i = 0; i < ARRAY_SIZE(bad_gpu_kinds); i++)
        GOT(gpu_export(bad_gpu_kinds[i], bad_gpu_memory, 4096, NULL), VBN_ERR_ARGUMENT, "kind");
    for (int bit = 1; bit < 64; bit++) {
        attr.flags = 1ull << bit;
        GOT(gpu_export_attr(&attr), VBN_ERR_ARGUMENT, "unknown flag");
    }
    GOT(gpu_export(0, 0, 4096, NULL), VBN_ERR_ARGUMENT, "address 0");
    GOT(gpu_export(0, bad_gpu_memory, 0, NULL), VBN_ERR_ARGUMENT, "length 0");
    GOT(gpu_export(0, bad_gpu_memory, UINT64_MAX, NULL), VBN_ERR_ARGUMENT, "length UINT64_MAX");
    GOT(gpu_export(0, bad_gpu_memory, UINT64_MAX - bad_gpu_memory, NULL), VBN_ERR_ARGUMENT, "all the rest of the address space");
    GOT(gpu_export(0, UINT64_MAX, 1, NULL), VBN_ERR_ARGUMENT, "the last byte");
    GOT(gpu_export(0, (uint64_t)rig_memory, 64, NULL), VBN_ERR_ARGUMENT, "memory of the host");
    MUST(dup(0) == next, "a descriptor was left open");
    close(next);
}

static vbn_status gpu_flush_out(void *done) { return vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, 0, VBN_GPU_FLUSH_OWNER, done); }
static void bad_gpu_flush_writes(void)
{
    static const int32_t scopes[] = {INT32_MIN, -1, 0, 1, 99, 101, 300, INT32_MAX};
    int32_t done = 77;

    bad_gpu_begin();
    GOT(gpu_flush_out(NULL), VBN_OK, "NULL output");
    GOT(gpu_flush_out(out_room + 1), VBN_ERR_ARGUMENT, "misaligned output");
    for (size_t i = 0; i < ARRAY_SIZE(bad_gpu_kinds); i++)
        GOT(vbn_gpu_flush_writes(bad_gpu_kinds[i], 0, VBN_GPU_FLUSH_OWNER, &done), VBN_ERR_ARGUMENT, "kind");
    GOT(vbn_gpu_flush_writes(VBN_GPU_KIND_ANY, 0, VBN_GPU_FLUSH_OWNER, &done), VBN_ERR_ARGUMENT, "any kind");
    for (size_t i = 0; i < ARRAY_SIZE(scopes); i++)
        GOT(vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, 0, scopes[i], &done), VBN_ERR_ARGUMENT, "scope");
    GOT(vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, -1, VBN_GPU_FLUSH_OWNER, &done), VBN_ERR_ARGUMENT, "device -1");
    GOT(vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, -3, VBN_GPU_FLUSH_OWNER, &done), VBN_ERR_ARGUMENT, "device -3");
    GOT(vbn_gpu_flush_writes(VBN_GPU_KIND_CUDA, INT32_MAX, VBN_GPU_FLUSH_OWNER, &done), VBN_ERR_NOT_FOUND, "device INT32_MAX");
    MUST(done == 77, "*done is %d after refusals", done);
}

static void bad_gpu_synchronize(void)
{
    bad_gpu_begin();
    GOT(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, 0), VBN_OK, "a good device");
    for (size_t i = 0; i < ARRAY_SIZE(bad_gpu_kinds); i++)
        GOT(vbn_gpu_synchronize(bad_gpu_kinds[i], 0), VBN_ERR_ARGUMENT, "kind");
    GOT(vbn_gpu_synchronize(VBN_GPU_KIND_ANY, 0), VBN_ERR_ARGUMENT, "any kind");
    GOT(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, -1), VBN_ERR_ARGUMENT, "device -1");
    GOT(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, -3), VBN_ERR_ARGUMENT, "device -3");
    GOT(vbn_gpu_synchronize(VBN_GPU_KIND_CUDA, INT32_MAX), VBN_ERR_NOT_FOUND, "device INT32_MAX");
}

NAME_ROW(gpu_kind, VBN_GPU_KIND_ROCM)
NAME_ROW(gpu_memory, VBN_GPU_MEMORY_MANAGED)
NAME_ROW(gpu_allocation, VBN_GPU_ALLOCATION_POOL)

#endif
