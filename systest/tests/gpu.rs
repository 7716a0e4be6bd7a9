// SPDX-License-Identifier: MIT OR Apache-2.0
//! The numbers and structs of `src/sys/cuda.rs` against those of the cudarc crate, which has them from CUDA's headers.
//! `scripts/check-gpu-headers` compares with the headers themselves.

use cudarc::driver::sys as theirs;
use std::mem::offset_of;
use verbena_systest::sys::cuda as ours;

macro_rules! same {
    ($enum:ident: $($name:ident)*) => {
        $(assert_eq!(ours::$name as i64, theirs::$enum::$name as i64, stringify!($name));)*
    };
}

#[test]
fn numbers() {
    same! {
        CUresult:
        CUDA_SUCCESS CUDA_ERROR_INVALID_VALUE CUDA_ERROR_OUT_OF_MEMORY CUDA_ERROR_NOT_INITIALIZED
        CUDA_ERROR_DEINITIALIZED CUDA_ERROR_STUB_LIBRARY CUDA_ERROR_DEVICE_UNAVAILABLE CUDA_ERROR_NO_DEVICE
        CUDA_ERROR_INVALID_DEVICE CUDA_ERROR_INVALID_CONTEXT CUDA_ERROR_MAP_FAILED CUDA_ERROR_ECC_UNCORRECTABLE
        CUDA_ERROR_OPERATING_SYSTEM CUDA_ERROR_INVALID_HANDLE CUDA_ERROR_ILLEGAL_STATE CUDA_ERROR_NOT_FOUND
        CUDA_ERROR_ILLEGAL_ADDRESS CUDA_ERROR_CONTEXT_IS_DESTROYED CUDA_ERROR_LAUNCH_FAILED CUDA_ERROR_NOT_PERMITTED
        CUDA_ERROR_NOT_SUPPORTED CUDA_ERROR_SYSTEM_NOT_READY CUDA_ERROR_SYSTEM_DRIVER_MISMATCH CUDA_ERROR_UNKNOWN
    }
    same! {
        CUmemorytype_enum:
        CU_MEMORYTYPE_HOST CU_MEMORYTYPE_DEVICE
    }
    same! {
        CUpointer_attribute_enum:
        CU_POINTER_ATTRIBUTE_CONTEXT CU_POINTER_ATTRIBUTE_MEMORY_TYPE CU_POINTER_ATTRIBUTE_BUFFER_ID
        CU_POINTER_ATTRIBUTE_IS_MANAGED CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
        CU_POINTER_ATTRIBUTE_RANGE_SIZE CU_POINTER_ATTRIBUTE_MAPPED CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
    }
    same! {
        CUdevice_attribute_enum:
        CU_DEVICE_ATTRIBUTE_PCI_BUS_ID CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING
        CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
    }
    same! {
        CUmemRangeHandleType_enum:
        CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
    }
    same! {
        CUmemRangeFlags_enum:
        CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE
    }
    same! {
        CUflushGPUDirectRDMAWritesOptions_enum:
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS
    }
    same! {
        CUGPUDirectRDMAWritesOrdering_enum:
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_NONE CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES
    }
    same! {
        CUflushGPUDirectRDMAWritesTarget_enum:
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX
    }
    same! {
        CUflushGPUDirectRDMAWritesScope_enum:
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES
    }
}

#[test]
fn structs() {
    type Ours = ours::CUmemAllocationProp;
    type Theirs = theirs::CUmemAllocationProp_st;
    assert_eq!((size_of::<Ours>(), align_of::<Ours>()), (size_of::<Theirs>(), align_of::<Theirs>()));
    assert_eq!(offset_of!(Ours, requestedHandleTypes), offset_of!(Theirs, requestedHandleTypes));
    assert_eq!(offset_of!(Ours, location.id), offset_of!(Theirs, location.id));
    assert_eq!(offset_of!(Ours, win32HandleMetaData), offset_of!(Theirs, win32HandleMetaData));
    assert_eq!(offset_of!(Ours, compressionType), offset_of!(Theirs, allocFlags.compressionType));
    assert_eq!(offset_of!(Ours, gpuDirectRDMACapable), offset_of!(Theirs, allocFlags.gpuDirectRDMACapable));
    assert_eq!(offset_of!(Ours, usage), offset_of!(Theirs, allocFlags.usage));
    assert_eq!(size_of::<ours::CUdeviceptr>(), size_of::<theirs::CUdeviceptr>());
    assert_eq!(size_of::<ours::CUmemGenericAllocationHandle>(), size_of::<theirs::CUmemGenericAllocationHandle>());
}
