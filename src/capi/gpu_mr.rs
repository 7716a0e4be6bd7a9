// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_gpu_mr_*` and `vbn_mr_reg_dltensor`.

use super::ffi::{self, guard_on};
use crate::core::dltensor::{self, vbn_dltensor};
use crate::core::error::Result;
use crate::core::gpu_mr::{self, vbn_gpu_mr_attr, vbn_gpu_mr_report};
use crate::core::handle::{vbn_mr_set, vbn_pd};
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// Registers `length` bytes of a GPU's memory at the device address `ptr`, so that the device may use them as `access`
/// (VBN_ACCESS_*) says. Neither needs to be aligned. Requests address them from `ptr` on.
///
/// The ways there are tried in turn: one dma-buf of all of it; for VMM memory of several segments a dma-buf for each; by address, with a
/// peer-memory module of the kernel, which each NIC's driver has or lacks by itself. If none works, the error says why each
/// didn't. `*report`, which may be NULL, tells the same of a success, and is written after a failure, too, unless `pd`, `attr` or `out`
/// itself was refused. `attr` may be NULL.
///
/// The memory must stay until the set is closed: nothing stops it from being freed. After that, what comes in through a dma-buf goes into
/// pages that nobody sees any more, and peer memory is taken from the device, so that requests fail; vbn_gpu_mr_validate tells.
///
/// Never post a request with VBN_SEND_INLINE from such memory: the CPU would copy the data, and can't read it (the process
/// crashes). Nothing on the data path looks; vbn_rdma_split refuses it.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mr_set_close; NULL after a failure. It keeps `pd` alive, and `owner` of
///   `attr` until a close has succeeded. No descriptor stays open.
/// - Threads: MT-safe. A context of the memory's GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: while the memory is exported and mapped, and while the GPU's library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT (length 0, memory of the host, managed or freed memory, past the allocation's end, a hole in the
///   range, access for the host's memory only), VBN_ERR_TOO_NEW, VBN_ERR_LIBRARY_MISSING (no GPU's library is loaded),
///   VBN_ERR_SYMBOL_MISSING, VBN_ERR_NOT_FOUND (no GPU), VBN_ERR_LIMIT (length above the device's max_mr_size; references),
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (sys_errno or vendor_code say how: EFAULT where no peer-memory module knows the
///   address), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: cuMemGetHandleForAddressRange, hsa_amd_portable_export_dmabuf; ibv_reg_dmabuf_mr(3), ibv_reg_mr(3)
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "no fewer describe it, and C has no other way to take them")]
pub unsafe extern "C" fn vbn_gpu_mr_reg(
    pd: *mut vbn_pd,
    ptr: u64,
    length: u64,
    access: u64,
    attr: *const vbn_gpu_mr_attr,
    out: *mut *mut vbn_mr_set,
    report: *mut vbn_gpu_mr_report,
) -> vbn_status {
    guard_on(Op::GpuMrReg, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        let set = reporting(report, |report| gpu_mr::reg(&pd, ptr, length, access, &attr, report))?;
        ffi::give(out, set);
        Ok(())
    })
}

/// Runs a registration and tells its report, whatever came of it.
fn reporting<T>(to: *mut vbn_gpu_mr_report, body: impl FnOnce(&mut vbn_gpu_mr_report) -> Result<T>) -> Result<T> {
    if to.is_null() {
        return body(&mut vbn_gpu_mr_report::unknown());
    }
    ffi::check_output(to)?;
    let mut report = vbn_gpu_mr_report::unknown();
    let made = body(&mut report);
    ffi::output(to, &report)?;
    made
}

/// Tells whether the memory of a set that vbn_gpu_mr_reg made is still what was registered. `*state` becomes one of VBN_GPU_MR_*.
///
/// The GPU's library gives each allocation a number that it never uses again, and that was kept. So memory that was freed, and
/// other memory at the same address, are found; memory that is freed a moment later is not.
///
/// - Ownership: sets the caller's `*state`.
/// - Threads: MT-safe. A context of the memory's GPU is current in this thread during the call; afterwards all is as before.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (a set of another origin), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_NOT_FOUND,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (vendor_code says what), VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: CU_POINTER_ATTRIBUTE_BUFFER_ID
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gpu_mr_validate(set: *const vbn_mr_set, state: *mut i32) -> vbn_status {
    guard_on(Op::GpuMrValidate, set, || {
        let state = ffi::out(state, "state")?;
        *state = gpu_mr::validate(&*ffi::pin(set)?)?;
        Ok(())
    })
}

/// Registers the bytes of a tensor in DLPack's form, of the host's memory or of a GPU's: as vbn_mr_reg or vbn_gpu_mr_reg would.
/// A `const DLTensor *` of dlpack.h is cast to `const vbn_dltensor *`; of a DLManagedTensor it is the member dl_tensor.
///
/// The tensor must be contiguous, row by row, and not empty; the error tells its shape and strides. `byte_offset` counts. `attr` may be NULL;
/// its `owner` is the place for the DLManagedTensor, to be deleted when the set is closed. `report` may be NULL; for memory of the
/// host its `path` is 0.
///
/// - Ownership: reads the caller's `*tensor`, its shape and strides, during the call only. `*out` is the caller's, to be given to
///   vbn_mr_set_close; NULL after a failure. It keeps `pd` alive. The memory must stay until the close has succeeded.
/// - Threads: MT-safe.
/// - Blocks: while the memory is pinned or exported and mapped.
/// - Errors: VBN_ERR_ARGUMENT (not contiguous, empty, managed memory; otherwise as vbn_gpu_mr_reg), VBN_ERR_TOO_NEW,
///   VBN_ERR_NOT_SUPPORTED (a device that isn't known here), VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING,
///   VBN_ERR_NOT_FOUND, VBN_ERR_LIMIT (length above the device's max_mr_size; references), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: DLPack 1.1, DLTensor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mr_reg_dltensor(
    pd: *mut vbn_pd,
    tensor: *const vbn_dltensor,
    access: u64,
    attr: *const vbn_gpu_mr_attr,
    out: *mut *mut vbn_mr_set,
    report: *mut vbn_gpu_mr_report,
) -> vbn_status {
    guard_on(Op::MrRegDltensor, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let tensor = ffi::required(tensor, "tensor")?;
        let attr = ffi::input(attr)?;
        let count = dltensor::dimensions(tensor)?;
        let shape = ffi::array(tensor.shape, count, "shape")?;
        let strides = if tensor.strides.is_null() { None } else { Some(ffi::array(tensor.strides, count, "strides")?) };
        let set = reporting(report, |report| dltensor::reg(&pd, tensor, shape, strides, access, &attr, report))?;
        ffi::give(out, set);
        Ok(())
    })
}
