// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_dm_*`.

use std::ffi::c_void;

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::dm::{Dm, vbn_dm_attr, vbn_dm_info};
use crate::core::handle::{vbn_context, vbn_dm};
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_dm;

/// Allocates memory on the device, on devices that have such (max_dm_size of vbn_context_query_device). `attr` is required, with
/// its `length`. vbn_mr_reg_dm makes it a region.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_dm_close; NULL after a failure. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (length above the device's max_dm_size; references),
///   VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_dm(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_alloc(
    context: *mut vbn_context,
    attr: *const vbn_dm_attr,
    out: *mut *mut vbn_dm,
) -> vbn_status {
    guard_on(Op::DmAlloc, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::required_input(attr)?;
        ffi::give(out, Dm::alloc(context, &attr)?);
        Ok(())
    })
}

/// Closes memory of the device and sets `*dm` to NULL. With regions left on it, the last of them frees it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (regions made by raw verbs are on it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_dm(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_close(dm: *mut *mut vbn_dm) -> vbn_status {
    ffi::close(Op::DmClose, dm)
}

/// Tells what is known of memory of the device.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_query(dm: *const vbn_dm, info: *mut vbn_dm_info) -> vbn_status {
    guard_on(Op::DmQuery, dm, || ffi::output(info, &ffi::slot(dm)?.pin_any()?.info()))
}

/// Copies `length` bytes at `from` to the device's memory, from `offset` on.
///
/// - Ownership: reads the caller's bytes.
/// - Threads: MT-safe; what two threads write to one place, or a peer at the same time, comes in any order.
/// - Blocks: while the bytes are copied.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (the driver refuses offset or length),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_LIMIT (references), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_memcpy_to_dm(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_copy_to(
    dm: *mut vbn_dm,
    offset: u64,
    from: *const c_void,
    length: usize,
) -> vbn_status {
    guard_on(Op::DmCopyTo, dm, || {
        let dm = ffi::pin(dm)?;
        dm.copy_to(offset, ffi::array(from.cast::<u8>(), length, "from")?)
    })
}

/// Copies `length` bytes of the device's memory, from `offset` on, to `to`.
///
/// - Ownership: fills the caller's bytes. After a failure some may have been written.
/// - Threads: MT-safe.
/// - Blocks: while the bytes are copied.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (the driver refuses offset or length),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_LIMIT (references), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_memcpy_from_dm(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_copy_from(dm: *mut vbn_dm, offset: u64, to: *mut c_void, length: usize) -> vbn_status {
    guard_on(Op::DmCopyFrom, dm, || {
        let dm = ffi::pin(dm)?;
        dm.copy_from(offset, ffi::array_mut(to.cast::<u8>(), length, "to")?)
    })
}

/// Lends the `ibv_dm`. It stays this library's: don't free it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_native(dm: *const vbn_dm, native_out: *mut *mut ibv_dm) -> vbn_status {
    ffi::native(Op::DmNative, dm, native_out, Dm::native)
}

/// Gives the `ibv_dm` away: the handle ends, the memory lives on and is the caller's to free.
/// Works, too, when the device is gone or a defect was caught on the handle. Of imported memory ibv_unimport_dm is the end.
///
/// - Ownership: `*native_out` becomes the caller's; `*dm` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (regions or calls use it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_release(dm: *mut *mut vbn_dm, native_out: *mut *mut ibv_dm) -> vbn_status {
    ffi::release(Op::DmRelease, dm, native_out, Dm::native)
}

/// Makes a handle for an `ibv_dm` that raw verbs made on the `ibv_context` of `context`. Nothing else tells `length`:
/// it must be what the memory was allocated with.
///
/// `native` must be a live ibv_dm. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_adopt(
    context: *mut vbn_context,
    native: *mut ibv_dm,
    length: u64,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_dm,
) -> vbn_status {
    guard_on(Op::DmAdopt, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Dm::adopt(context, native, length, &attr)?);
        Ok(())
    })
}

/// Makes a handle for memory of the device that another process allocated in an imported context (vbn_context_import); `handle`
/// is what vbn_dm_query told there. `attr` is required, with the `length` that the memory was allocated with, since nothing
/// else tells it. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_dm_close, which leaves the memory as it is: the process that
///   allocated it frees it, and not while others use it. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_SYMBOL_MISSING (rdma-core
///   before 35), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_dm(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_dm_import(
    context: *mut vbn_context,
    handle: u32,
    attr: *const vbn_dm_attr,
    out: *mut *mut vbn_dm,
) -> vbn_status {
    guard_on(Op::DmImport, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::required_input(attr)?;
        ffi::give(out, Dm::import(context, handle, &attr)?);
        Ok(())
    })
}
