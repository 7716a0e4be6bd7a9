// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_gpu_*`.

use std::mem::offset_of;
use std::os::fd::IntoRawFd;

use super::ffi::{self, guard};
use crate::core::cold::Cold;
use crate::core::gpu::{self, Range, vbn_gpu_device_info, vbn_gpu_dmabuf, vbn_gpu_dmabuf_attr, vbn_gpu_pointer_info};
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// Tells what an address is: memory of a GPU, of the host, managed, or none that a GPU's library knows; and of which allocation.
///
/// `kind` is VBN_GPU_KIND_CUDA, VBN_GPU_KIND_ROCM, or VBN_GPU_KIND_ANY: whichever knows the address. That no library knows the
/// address is an answer, not an error. Nothing is read from the address, and nothing is initialised: the caller has called cuInit or hsa_init,
/// or what does so for him (the CUDA runtime, HIP, PyTorch).
///
/// A context of the memory's GPU is current in this thread during the call where one can be found, to tell the bounds of the
/// allocation; afterwards all is as before.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIBRARY_MISSING (of the kind, or of any), VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what: not initialised, ...), VBN_ERR_NOT_FOUND (no GPU), VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuPointerGetAttribute, cuMemGetAddressRange, cuMemRetainAllocationHandle; hsa_amd_pointer_info
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gpu_pointer_query(kind: i32, ptr: u64, info: *mut vbn_gpu_pointer_info) -> vbn_status {
    guard(Op::GpuPointerQuery, || {
        ffi::check_output(info)?;
        ffi::output(info, &gpu::pointer(kind, ptr)?)
    })
}

/// Counts the GPUs that a library shows. `kind` is VBN_GPU_KIND_CUDA or VBN_GPU_KIND_ROCM.
///
/// - Ownership: sets the caller's `*count`.
/// - Threads: MT-safe.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER (vendor_code says what: not
///   initialised, ...), VBN_ERR_NOT_FOUND, VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuDeviceGetCount; hsa_iterate_agents
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gpu_device_count(kind: i32, count: *mut u32) -> vbn_status {
    guard(Op::GpuDeviceCount, || {
        let count = ffi::out(count, "count")?;
        *count = gpu::device_count(kind)?;
        Ok(())
    })
}

/// Tells what a GPU can do for a NIC, and where it is. `kind` is VBN_GPU_KIND_CUDA or VBN_GPU_KIND_ROCM, `device` the ordinal among
/// those that the library shows. Needs no context.
///
/// What the attributes promise may still fail: the proof is a registration.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for reads of sysfs, and while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_FOUND (no such GPU), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what: not initialised, ...), VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuDeviceGetAttribute, cuDeviceGetPCIBusId; hsa_agent_get_info, hsa_system_get_info; sysfs
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gpu_device_query(kind: i32, device: i32, info: *mut vbn_gpu_device_info) -> vbn_status {
    guard(Op::GpuDeviceQuery, || {
        ffi::check_output(info)?;
        ffi::output(info, &gpu::device(kind, device)?)
    })
}

/// Exports memory of a GPU as a dma-buf, for vbn_mr_reg_dmabuf or another program. `ptr` and `length` may have any alignment: the
/// host's pages around them are exported, and `out->offset` tells where `ptr` lies in the dma-buf. (The part of a page that was not
/// asked for is in the dma-buf too; a region of vbn_mr_reg_dmabuf lets nobody get there.) Register it by `vbn_mr_reg_dmabuf(pd, out->fd,
/// out->offset, length, ptr, access, NULL, &mr)`, and close the descriptor; vbn_gpu_mr_reg does all of it.
///
/// A range may span several segments of VMM memory if the driver exports such; else export them one by one: vbn_gpu_pointer_query tells their
/// bounds. `attr` may be NULL.
///
/// - Ownership: `out->fd` is the caller's, to be closed with close(2); a region stays without it. -1 after a failure. The dma-buf keeps the
///   memory, not its address: free it only after the regions are closed.
/// - Threads: MT-safe. A context of the memory's GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: while the library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT (length 0, no memory of a GPU, managed memory, past the allocation's end, a hole in the range),
///   VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (no dma-bufs from this driver, this memory or with this flag; the message says how to get memory that can be
///   exported), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING (CUDA before 11.7), VBN_ERR_DRIVER (vendor_code says what:
///   not initialised, no context, ...), VBN_ERR_NOT_FOUND, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuMemGetHandleForAddressRange; hsa_amd_portable_export_dmabuf
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gpu_dmabuf_export(
    kind: i32,
    ptr: u64,
    length: u64,
    attr: *const vbn_gpu_dmabuf_attr,
    out: *mut vbn_gpu_dmabuf,
) -> vbn_status {
    guard(Op::GpuDmabufExport, || {
        ffi::output(out, &vbn_gpu_dmabuf { fd: -1, ..vbn_gpu_dmabuf::zeroed() })?;
        let attr = ffi::input(attr)?;
        let range = Range::find(kind, ptr, length)?;
        let dmabuf = range.export(attr.flags)?;
        let (offset, base, length) = (dmabuf.offset, dmabuf.base, dmabuf.length);
        // A struct that ends before the descriptor gets none, and nobody else would close it.
        let fd = if ffi::reaches(out, offset_of!(vbn_gpu_dmabuf, kind))? { dmabuf.fd.into_raw_fd() } else { -1 };
        ffi::output(out, &vbn_gpu_dmabuf { struct_size: 0, offset, base, length, fd, kind: range.info.kind })
    })
}

/// Makes what NICs have written into a GPU's memory visible to work that is started on GPUs afterwards. To be called after the
/// completion that announces the data, and before the kernel that reads it. Where the GPU orders such writes by itself the call does
/// nothing, and says so by `*done`: VBN_GPU_FLUSH_NOT_NEEDED or VBN_GPU_FLUSH_DONE. `done` may be NULL.
///
/// `kind` is VBN_GPU_KIND_CUDA (ROCm has no such call). `device` is the ordinal of the GPU with the memory, or VBN_GPU_DEVICE_CURRENT.
/// `scope` is VBN_GPU_FLUSH_OWNER or VBN_GPU_FLUSH_ALL_DEVICES: who shall see the data.
///
/// It takes a context of that GPU: the thread's current one, or else the primary one if somebody has made it. None is made. So a thread
/// without a context finds none where the program has only made some by cuCtxCreate, and must make one of them current.
///
/// Writes through dma-bufs with and without VBN_GPU_DMABUF_PCIE go different ways, and no flush orders one way after the other.
///
/// - Ownership: sets the caller's `*done`.
/// - Threads: MT-safe. A context of the GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: until the writes are visible.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (the GPU can't be flushed from the host; ROCm), VBN_ERR_LIBRARY_MISSING,
///   VBN_ERR_SYMBOL_MISSING (CUDA before 11.3), VBN_ERR_DRIVER (vendor_code says what: not initialised, no context, ...),
///   VBN_ERR_NOT_FOUND, VBN_ERR_NO_MEMORY, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuFlushGPUDirectRDMAWrites
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gpu_flush_writes(kind: i32, device: i32, scope: i32, done: *mut i32) -> vbn_status {
    guard(Op::GpuFlushWrites, || {
        let done = ffi::optional(done, "done")?;
        let what = gpu::flush_writes(kind, device, scope)?;
        if let Some(done) = done {
            *done = what;
        }
        Ok(())
    })
}

/// Waits until all work that a GPU was given in a context is done: before its results are sent. `kind` is VBN_GPU_KIND_CUDA (with ROCm
/// call hipDeviceSynchronize), `device` an ordinal or VBN_GPU_DEVICE_CURRENT.
///
/// The context is the thread's current one if it is of that GPU, or else the GPU's primary one if somebody has made it: the only one with the
/// CUDA runtime. Work in others isn't waited for; a program that makes some by cuCtxCreate makes the right one current before the call.
///
/// - Ownership: none.
/// - Threads: MT-safe. A context of the GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: until the work is done.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (ROCm), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what: not initialised, no context, earlier work has failed, ...), VBN_ERR_NOT_FOUND, VBN_ERR_NO_MEMORY,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuCtxSynchronize
#[unsafe(no_mangle)]
pub extern "C" fn vbn_gpu_synchronize(kind: i32, device: i32) -> vbn_status {
    guard(Op::GpuSynchronize, || gpu::synchronize(kind, device))
}
