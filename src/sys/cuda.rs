// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is used of the CUDA driver API (`cuda.h`, CUDA 12.9; names, numbers and types compared with it by
//! `scripts/check-gpu-headers`). libcuda.so.1 has no symbol versions: a changed function has a name with `_v2`. Results are
//! plain integers, since a newer driver has results that no list knows.

use super::verbs::{Convention, MissingSet, Symbol, functions};
use core::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};

/// The result of every function: 0, or an error.
pub type CUresult = c_int;
/// A device's ordinal.
pub type CUdevice = c_int;
pub type CUdeviceptr = c_ulonglong;
pub type CUcontext = *mut c_void;
pub type CUmemGenericAllocationHandle = c_ulonglong;
pub type CUpointer_attribute = c_uint;
pub type CUdevice_attribute = c_uint;
pub type CUmemRangeHandleType = c_uint;
pub type CUflushGPUDirectRDMAWritesTarget = c_uint;
pub type CUflushGPUDirectRDMAWritesScope = c_uint;

pub const CUDA_SUCCESS: CUresult = 0;
pub const CUDA_ERROR_INVALID_VALUE: CUresult = 1;
pub const CUDA_ERROR_OUT_OF_MEMORY: CUresult = 2;
pub const CUDA_ERROR_NOT_INITIALIZED: CUresult = 3;
pub const CUDA_ERROR_DEINITIALIZED: CUresult = 4;
pub const CUDA_ERROR_STUB_LIBRARY: CUresult = 34;
pub const CUDA_ERROR_DEVICE_UNAVAILABLE: CUresult = 46;
pub const CUDA_ERROR_NO_DEVICE: CUresult = 100;
pub const CUDA_ERROR_INVALID_DEVICE: CUresult = 101;
pub const CUDA_ERROR_INVALID_CONTEXT: CUresult = 201;
pub const CUDA_ERROR_MAP_FAILED: CUresult = 205;
pub const CUDA_ERROR_ECC_UNCORRECTABLE: CUresult = 214;
pub const CUDA_ERROR_OPERATING_SYSTEM: CUresult = 304;
pub const CUDA_ERROR_INVALID_HANDLE: CUresult = 400;
pub const CUDA_ERROR_ILLEGAL_STATE: CUresult = 401;
pub const CUDA_ERROR_NOT_FOUND: CUresult = 500;
pub const CUDA_ERROR_ILLEGAL_ADDRESS: CUresult = 700;
pub const CUDA_ERROR_CONTEXT_IS_DESTROYED: CUresult = 709;
pub const CUDA_ERROR_LAUNCH_FAILED: CUresult = 719;
pub const CUDA_ERROR_NOT_PERMITTED: CUresult = 800;
pub const CUDA_ERROR_NOT_SUPPORTED: CUresult = 801;
pub const CUDA_ERROR_SYSTEM_NOT_READY: CUresult = 802;
pub const CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: CUresult = 803;
pub const CUDA_ERROR_UNKNOWN: CUresult = 999;

pub const CU_MEMORYTYPE_HOST: c_uint = 1;
pub const CU_MEMORYTYPE_DEVICE: c_uint = 2;

pub const CU_POINTER_ATTRIBUTE_CONTEXT: CUpointer_attribute = 1;
pub const CU_POINTER_ATTRIBUTE_MEMORY_TYPE: CUpointer_attribute = 2;
pub const CU_POINTER_ATTRIBUTE_BUFFER_ID: CUpointer_attribute = 7;
pub const CU_POINTER_ATTRIBUTE_IS_MANAGED: CUpointer_attribute = 8;
pub const CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: CUpointer_attribute = 9;
pub const CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: CUpointer_attribute = 11;
pub const CU_POINTER_ATTRIBUTE_RANGE_SIZE: CUpointer_attribute = 12;
pub const CU_POINTER_ATTRIBUTE_MAPPED: CUpointer_attribute = 13;
pub const CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: CUpointer_attribute = 15;
pub const CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: CUpointer_attribute = 17;

pub const CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: CUdevice_attribute = 33;
pub const CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: CUdevice_attribute = 34;
pub const CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: CUdevice_attribute = 50;
pub const CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: CUdevice_attribute = 110;
pub const CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED: CUdevice_attribute = 116;
pub const CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: CUdevice_attribute = 117;
pub const CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: CUdevice_attribute = 118;
pub const CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED: CUdevice_attribute = 124;

pub const CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD: CUmemRangeHandleType = 1;
/// For `cuMemGetHandleForAddressRange`: the way over PCIe where the device has another one too. CUDA 12.8.
pub const CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE: c_ulonglong = 1;

pub const CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST: c_uint = 1;
pub const CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS: c_uint = 2;
pub const CU_GPU_DIRECT_RDMA_WRITES_ORDERING_NONE: c_int = 0;
pub const CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER: c_int = 100;
pub const CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES: c_int = 200;
pub const CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX: CUflushGPUDirectRDMAWritesTarget = 0;
pub const CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER: CUflushGPUDirectRDMAWritesScope = 100;
pub const CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES: CUflushGPUDirectRDMAWritesScope = 200;

/// Where an allocation is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUmemLocation {
    pub r#type: c_uint,
    pub id: c_int,
}

/// What an allocation of `cuMemCreate` was made for; `allocFlags` is a struct of its own in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUmemAllocationProp {
    pub r#type: c_uint,
    pub requestedHandleTypes: c_uint,
    pub location: CUmemLocation,
    pub win32HandleMetaData: *mut c_void,
    pub compressionType: u8,
    pub gpuDirectRDMACapable: u8,
    pub usage: u16,
    pub reserved: [u8; 4],
}

functions! {
    /// libcuda's functions, none of which is required: an old driver lacks some. `cuInit` is not among them, since that is the
    /// caller's to decide.
    Cuda
    required {
    }
    optional {
        driver_get_version: fn(*mut c_int) -> CUresult, c"cuDriverGetVersion", c"", "CUDA 2.2", Code;
        device_get: fn(*mut CUdevice, c_int) -> CUresult, c"cuDeviceGet", c"", "CUDA 2.0", Code;
        device_get_count: fn(*mut c_int) -> CUresult, c"cuDeviceGetCount", c"", "CUDA 2.0", Code;
        device_get_name: fn(*mut c_char, c_int, CUdevice) -> CUresult, c"cuDeviceGetName", c"", "CUDA 2.0", Code;
        device_get_attribute: fn(*mut c_int, CUdevice_attribute, CUdevice) -> CUresult, c"cuDeviceGetAttribute", c"", "CUDA 2.0", Code;
        device_get_pci_bus_id: fn(*mut c_char, c_int, CUdevice) -> CUresult, c"cuDeviceGetPCIBusId", c"", "CUDA 4.1", Code;
        primary_ctx_get_state: fn(CUdevice, *mut c_uint, *mut c_int) -> CUresult, c"cuDevicePrimaryCtxGetState", c"", "CUDA 7.0", Code;
        primary_ctx_retain: fn(*mut CUcontext, CUdevice) -> CUresult, c"cuDevicePrimaryCtxRetain", c"", "CUDA 7.0", Code;
        primary_ctx_release: fn(CUdevice) -> CUresult, c"cuDevicePrimaryCtxRelease_v2", c"", "CUDA 11.0", Code;
        ctx_get_current: fn(*mut CUcontext) -> CUresult, c"cuCtxGetCurrent", c"", "CUDA 4.0", Code;
        ctx_get_device: fn(*mut CUdevice) -> CUresult, c"cuCtxGetDevice", c"", "CUDA 2.0", Code;
        ctx_push_current: fn(CUcontext) -> CUresult, c"cuCtxPushCurrent_v2", c"", "CUDA 4.0", Code;
        ctx_pop_current: fn(*mut CUcontext) -> CUresult, c"cuCtxPopCurrent_v2", c"", "CUDA 4.0", Code;
        ctx_synchronize: fn() -> CUresult, c"cuCtxSynchronize", c"", "CUDA 2.0", Code;
        pointer_get_attribute: fn(*mut c_void, CUpointer_attribute, CUdeviceptr) -> CUresult, c"cuPointerGetAttribute", c"", "CUDA 4.0", Code;
        mem_get_address_range: fn(*mut CUdeviceptr, *mut usize, CUdeviceptr) -> CUresult, c"cuMemGetAddressRange_v2", c"", "CUDA 3.2", Code;
        mem_retain_allocation_handle: fn(*mut CUmemGenericAllocationHandle, *mut c_void) -> CUresult, c"cuMemRetainAllocationHandle", c"", "CUDA 11.0", Code;
        mem_get_allocation_properties: fn(*mut CUmemAllocationProp, CUmemGenericAllocationHandle) -> CUresult, c"cuMemGetAllocationPropertiesFromHandle", c"", "CUDA 10.2", Code;
        mem_release: fn(CUmemGenericAllocationHandle) -> CUresult, c"cuMemRelease", c"", "CUDA 10.2", Code;
        mem_get_handle_for_address_range: fn(*mut c_void, CUdeviceptr, usize, CUmemRangeHandleType, c_ulonglong) -> CUresult, c"cuMemGetHandleForAddressRange", c"", "CUDA 11.7", Code;
        flush_gpu_direct_rdma_writes: fn(CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope) -> CUresult, c"cuFlushGPUDirectRDMAWrites", c"", "CUDA 11.3", Code;
    }
}

/// C's name of a result, if this list has it.
pub const fn result_name(result: i64) -> Option<&'static str> {
    macro_rules! names {
        ($($name:ident)*) => {
            $(if result == $name as i64 { return Some(stringify!($name)); })*
        };
    }
    names! {
        CUDA_ERROR_INVALID_VALUE CUDA_ERROR_OUT_OF_MEMORY CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_DEINITIALIZED
        CUDA_ERROR_STUB_LIBRARY CUDA_ERROR_DEVICE_UNAVAILABLE CUDA_ERROR_NO_DEVICE CUDA_ERROR_INVALID_DEVICE
        CUDA_ERROR_INVALID_CONTEXT CUDA_ERROR_MAP_FAILED CUDA_ERROR_ECC_UNCORRECTABLE CUDA_ERROR_OPERATING_SYSTEM
        CUDA_ERROR_INVALID_HANDLE CUDA_ERROR_ILLEGAL_STATE CUDA_ERROR_NOT_FOUND CUDA_ERROR_ILLEGAL_ADDRESS
        CUDA_ERROR_CONTEXT_IS_DESTROYED CUDA_ERROR_LAUNCH_FAILED CUDA_ERROR_NOT_PERMITTED CUDA_ERROR_NOT_SUPPORTED
        CUDA_ERROR_SYSTEM_NOT_READY CUDA_ERROR_SYSTEM_DRIVER_MISMATCH CUDA_ERROR_UNKNOWN
    }
    None
}
