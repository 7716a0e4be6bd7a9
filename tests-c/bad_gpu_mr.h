/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bad_input.c's rows for the registration of GPUs' memory and of tensors. */
#ifndef BAD_GPU_MR_H
#define BAD_GPU_MR_H

#include "simcuda/simcuda_load.h"

#define SYMBOLS_GPU_MR(X) \
    X(gpu_mr_reg) X(gpu_mr_validate) X(mr_reg_dltensor) X(gpu_path_name) X(gpu_attempt_name) X(gpu_mr_state_name) X(memory_name)

NAME_ROW(gpu_attempt, VBN_GPU_ATTEMPT_WON)
NAME_ROW(gpu_mr_state, VBN_GPU_MR_REPLACED)
NAME_ROW(memory, VBN_MEMORY_ROCM)
static void bad_gpu_path_name(void) { bad_bits(vbn_gpu_path_name, 7); }

static CUdeviceptr gpu_mr_memory;

/* The simulated driver, with memory of GPU 0. */
static void gpu_mr_begin(void)
{
    CUcontext context;

    MUST(!simcuda_start(), "no simulated libcuda");
    MUST(!simcuda_use(0), "%s", last()->message);
    sim.reset();
    MUST(!sim.cuda.Init(0) && !sim.cuda.CtxCreate(&context, 0, 0) && !sim.cuda.MemAlloc(&gpu_mr_memory, 1 << 21), "the simulated driver");
}

static vbn_status gpu_mr(void *pd, uint64_t ptr, uint64_t length, uint64_t access, const void *attr, void *report)
{
    CONSTRUCT(MR_SET, vbn_gpu_mr_reg(pd, ptr, length, access, attr, out, report));
}
static vbn_status gpu_mr_pd(void *pd) { return gpu_mr(pd, gpu_mr_memory, 64, 0, NULL, NULL); }
static vbn_status gpu_mr_attr(void *attr) { return gpu_mr(g.pd, gpu_mr_memory, 64, 0, attr, NULL); }
static vbn_status gpu_mr_report(void *report) { return gpu_mr(g.pd, gpu_mr_memory, 64, 0, NULL, report); }
static vbn_status gpu_mr_out(void *out) { return vbn_gpu_mr_reg(g.pd, gpu_mr_memory, 64, 0, NULL, out, NULL); }

static void bad_gpu_mr_reg(void)
{
    static const vbn_gpu_mr_attr zero = {.struct_size = sizeof(zero)};
    static const int32_t kinds[] = {INT32_MIN, -1, 3, INT32_MAX};
    NEW(vbn_gpu_mr_report, report);
    vbn_gpu_mr_attr attr = zero;

    gpu_mr_begin();
    bad_handles(PD, gpu_mr_pd);
    bad_input_struct(&attr, sizeof(attr), "vbn_gpu_mr_attr", VBN_OK, gpu_mr_attr);
    bad_output_size(sizeof(report), "vbn_gpu_mr_report", gpu_mr_report);
    bad_out(gpu_mr_out);
    for (int bit = 1; bit < 64; bit++)
        WITH(vbn_gpu_mr_attr, zero, flags, 1ull << bit, gpu_mr_attr, VBN_ERR_ARGUMENT, "unknown flag");
    for (int bit = 3; bit < 32; bit++)
        WITH(vbn_gpu_mr_attr, zero, paths, 1u << bit, gpu_mr_attr, VBN_ERR_ARGUMENT, "unknown path");
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        WITH(vbn_gpu_mr_attr, zero, kind, kinds[i], gpu_mr_attr, VBN_ERR_ARGUMENT, "kind");
    GOT(gpu_mr(g.pd, 0, 64, 0, NULL, NULL), VBN_ERR_ARGUMENT, "address 0");
    GOT(gpu_mr(g.pd, gpu_mr_memory, 0, 0, NULL, &report), VBN_ERR_ARGUMENT, "length 0");
    MUST(!report.path && report.attempts[2].path == VBN_GPU_PATH_PEER && report.attempts[0].outcome == VBN_GPU_ATTEMPT_NONE, "the report of a refusal");
    GOT(gpu_mr(g.pd, gpu_mr_memory, UINT64_MAX, 0, NULL, NULL), VBN_ERR_ARGUMENT, "length UINT64_MAX");
    GOT(gpu_mr(g.pd, gpu_mr_memory, (1 << 21) + 1, 0, NULL, NULL), VBN_ERR_ARGUMENT, "a byte too long");
    GOT(gpu_mr(g.pd, UINT64_MAX, 1, 0, NULL, NULL), VBN_ERR_ARGUMENT, "the last byte");
    GOT(gpu_mr(g.pd, (uint64_t)rig_memory, 64, 0, NULL, NULL), VBN_ERR_ARGUMENT, "memory of the host");
    GOT(gpu_mr(g.pd, gpu_mr_memory, 64, VBN_ACCESS_ON_DEMAND, NULL, NULL), VBN_ERR_ARGUMENT, "on demand");
    GOT(gpu_mr(g.pd, gpu_mr_memory, 64, 1ull << 63, NULL, NULL), VBN_ERR_ARGUMENT, "unknown access");
    GOT(gpu_mr(g.pd, gpu_mr_memory, 1 << 21, 0, NULL, NULL), VBN_OK, "all of it");
    sim.reset();
}

static vbn_mr_set *gpu_mr_set;
static vbn_status validate_out(void *state) { return vbn_gpu_mr_validate(gpu_mr_set, state); }
static vbn_status validate_set(void *set)
{
    int32_t state = 77;
    vbn_status status = vbn_gpu_mr_validate(set, &state);

    MUST(state == 77, "a refused call wrote %d", state);
    return status;
}

static void bad_gpu_mr_validate(void)
{
    int32_t state = 77;

    gpu_mr_begin();
    bad_handles(MR_SET, validate_set);
    OK(vbn_gpu_mr_reg(g.pd, gpu_mr_memory, 64, 0, NULL, &gpu_mr_set, NULL));
    bad_out(validate_out);
    OK(validate_out(&state));
    MUST(state == VBN_GPU_MR_VALID, "state %d", state);
    OK(vbn_mr_set_close(&gpu_mr_set));
    GOT(validate_set(live(MR_SET)), VBN_ERR_ARGUMENT, "a set of the host's memory");
    sim.reset();
}

static vbn_dltensor good_tensor(void)
{
    static const int64_t shape[] = {16};

    return (vbn_dltensor){.data = rig_memory, .device_type = VBN_DL_CPU, .ndim = 1, .dtype_bits = 32, .dtype_lanes = 1, .shape = shape};
}
static vbn_status tensor_reg(void *pd, const void *tensor, const void *attr, void *report)
{
    CONSTRUCT(MR_SET, vbn_mr_reg_dltensor(pd, tensor, 0, attr, out, report));
}
static vbn_status tensor_pd(void *pd)
{
    vbn_dltensor tensor = good_tensor();

    return tensor_reg(pd, &tensor, NULL, NULL);
}
static vbn_status tensor_with(void *tensor) { return tensor_reg(g.pd, tensor, NULL, NULL); }
static vbn_status tensor_attr(void *attr)
{
    vbn_dltensor tensor = good_tensor();

    return tensor_reg(g.pd, &tensor, attr, NULL);
}
static vbn_status tensor_report(void *report)
{
    vbn_dltensor tensor = good_tensor();

    return tensor_reg(g.pd, &tensor, NULL, report);
}
static vbn_status tensor_out(void *out)
{
    vbn_dltensor tensor = good_tensor();

    return vbn_mr_reg_dltensor(g.pd, &tensor, 0, NULL, out, NULL);
}

static void bad_mr_reg_dltensor(void)
{
    static const vbn_gpu_mr_attr zero = {.struct_size = sizeof(zero)};
    static const int64_t odd[2] = {16, 1};
    vbn_gpu_mr_attr attr = zero;
    vbn_dltensor tensor = good_tensor();

    bad_handles(PD, tensor_pd);
    bad_input_struct(&attr, sizeof(attr), "vbn_gpu_mr_attr", VBN_OK, tensor_attr);
    bad_output_size(sizeof(vbn_gpu_mr_report), "vbn_gpu_mr_report", tensor_report);
    bad_out(tensor_out);
    GOT(tensor_with(NULL), VBN_ERR_ARGUMENT, "NULL tensor");
    GOT(tensor_with(out_room + 1), VBN_ERR_ARGUMENT, "misaligned tensor");
    GOT(tensor_with(&tensor), VBN_OK, "a good tensor");
    WITH(vbn_dltensor, tensor, data, NULL, tensor_with, VBN_ERR_ARGUMENT, "NULL data");
    WITH(vbn_dltensor, tensor, ndim, -1, tensor_with, VBN_ERR_ARGUMENT, "ndim -1");
    WITH(vbn_dltensor, tensor, ndim, INT32_MIN, tensor_with, VBN_ERR_ARGUMENT, "ndim INT32_MIN");
    WITH(vbn_dltensor, tensor, ndim, 65, tensor_with, VBN_ERR_ARGUMENT, "ndim 65");
    WITH(vbn_dltensor, tensor, ndim, INT32_MAX, tensor_with, VBN_ERR_ARGUMENT, "ndim INT32_MAX");
    WITH(vbn_dltensor, tensor, shape, NULL, tensor_with, VBN_ERR_ARGUMENT, "NULL shape");
    WITH(vbn_dltensor, tensor, shape, (const int64_t *)((const char *)odd + 1), tensor_with, VBN_ERR_ARGUMENT, "misaligned shape");
    WITH(vbn_dltensor, tensor, strides, (const int64_t *)((const char *)odd + 1), tensor_with, VBN_ERR_ARGUMENT, "misaligned strides");
    WITH(vbn_dltensor, tensor, strides, odd, tensor_with, VBN_ERR_ARGUMENT, "strides with gaps");
    WITH(vbn_dltensor, tensor, dtype_bits, 0, tensor_with, VBN_ERR_ARGUMENT, "no bits");
    WITH(vbn_dltensor, tensor, dtype_lanes, 0, tensor_with, VBN_ERR_ARGUMENT, "no lanes");
    WITH(vbn_dltensor, tensor, byte_offset, UINT64_MAX, tensor_with, VBN_ERR_ARGUMENT, "byte_offset UINT64_MAX");
    WITH(vbn_dltensor, tensor, device_type, 0, tensor_with, VBN_ERR_NOT_SUPPORTED, "device_type 0");
    WITH(vbn_dltensor, tensor, device_type, INT32_MAX, tensor_with, VBN_ERR_NOT_SUPPORTED, "device_type INT32_MAX");
    WITH(vbn_dltensor, tensor, device_type, INT32_MIN, tensor_with, VBN_ERR_NOT_SUPPORTED, "device_type INT32_MIN");
    WITH(vbn_gpu_mr_attr, zero, kind, 1, tensor_attr, VBN_ERR_ARGUMENT, "kind");
    WITH(vbn_gpu_mr_attr, zero, paths, 1, tensor_attr, VBN_ERR_ARGUMENT, "paths");
    WITH(vbn_gpu_mr_attr, zero, flags, 2, tensor_attr, VBN_ERR_ARGUMENT, "flags");
}

#endif
