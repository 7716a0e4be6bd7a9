/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests call of the CUDA driver API, looked up in a libcuda that is open: NVIDIA's or the simulated one. Declared here, since no machine
 * that builds the tests needs CUDA; names and types are cuda.h's (CUDA 12.9, compared by scripts/check-gpu-headers).
 */
#ifndef CUDA_API_H
#define CUDA_API_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef CUDA_API_OWN_TYPES /* else cuda.h has been included */
typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext;
typedef void *CUstream;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUmemAllocationProp_st {
    unsigned type;                 /* 1: pinned */
    unsigned requestedHandleTypes; /* 1: POSIX file descriptor */
    struct {
        unsigned type; /* 1: device */
        int id;
    } location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;
typedef struct CUmemAccessDesc_st {
    struct {
        unsigned type;
        int id;
    } location;
    unsigned flags; /* 3: read and write */
} CUmemAccessDesc;
#endif

/* Field, exported name, arguments. */
#define CUDA_API_FUNCTIONS(X) \
    X(Init, cuInit, (unsigned)) \
    X(DriverGetVersion, cuDriverGetVersion, (int *)) \
    X(DeviceGet, cuDeviceGet, (CUdevice *, int)) \
    X(DeviceGetCount, cuDeviceGetCount, (int *)) \
    X(DeviceGetName, cuDeviceGetName, (char *, int, CUdevice)) \
    X(DeviceGetPCIBusId, cuDeviceGetPCIBusId, (char *, int, CUdevice)) \
    X(PrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice)) \
    X(PrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice)) \
    X(PrimaryCtxGetState, cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *)) \
    X(CtxCreate, cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice)) \
    X(CtxDestroy, cuCtxDestroy_v2, (CUcontext)) \
    X(CtxSetCurrent, cuCtxSetCurrent, (CUcontext)) \
    X(CtxGetCurrent, cuCtxGetCurrent, (CUcontext *)) \
    X(CtxGetDevice, cuCtxGetDevice, (CUdevice *)) \
    X(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext)) \
    X(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext *)) \
    X(CtxSynchronize, cuCtxSynchronize, (void)) \
    X(MemAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t)) \
    X(MemFree, cuMemFree_v2, (CUdeviceptr)) \
    X(MemAllocManaged, cuMemAllocManaged, (CUdeviceptr *, size_t, unsigned)) \
    X(MemHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned)) \
    X(MemFreeHost, cuMemFreeHost, (void *)) \
    X(MemAllocAsync, cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream)) \
    X(MemFreeAsync, cuMemFreeAsync, (CUdeviceptr, CUstream)) \
    X(MemGetAllocationGranularity, cuMemGetAllocationGranularity, (size_t *, const CUmemAllocationProp *, unsigned)) \
    X(MemCreate, cuMemCreate, (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long)) \
    X(MemRelease, cuMemRelease, (CUmemGenericAllocationHandle)) \
    X(MemAddressReserve, cuMemAddressReserve, (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long)) \
    X(MemAddressFree, cuMemAddressFree, (CUdeviceptr, size_t)) \
    X(MemMap, cuMemMap, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long)) \
    X(MemUnmap, cuMemUnmap, (CUdeviceptr, size_t)) \
    X(MemSetAccess, cuMemSetAccess, (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t)) \
    X(MemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t)) \
    X(MemcpyDtoH, cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t)) \
    X(MemsetD8, cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t)) \
    X(PointerGetAttribute, cuPointerGetAttribute, (void *, unsigned, CUdeviceptr)) \
    X(MemGetAddressRange, cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr)) \
    X(MemGetHandleForAddressRange, cuMemGetHandleForAddressRange, (void *, CUdeviceptr, size_t, unsigned, unsigned long long)) \
    X(DeviceGetAttribute, cuDeviceGetAttribute, (int *, unsigned, CUdevice))

struct cuda_api {
#define X(field, name, args) CUresult(*field) args;
    CUDA_API_FUNCTIONS(X)
#undef X
};

/* Fills the table; the first name that is missing, or NULL. What is missing is NULL in the table. */
static inline const char *cuda_api_load(struct cuda_api *api, void *library)
{
    const char *missing = NULL;
    void *address;

#define X(field, name, args) \
    address = dlsym(library, #name); \
    if (!address && !missing) \
        missing = #name; \
    memcpy(&api->field, &address, sizeof(address));
    CUDA_API_FUNCTIONS(X)
#undef X
    return missing;
}

#endif
