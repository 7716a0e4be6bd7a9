// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_td_*`.

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::handle::{vbn_context, vbn_td};
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::core::td::{Td, vbn_td_attr};
use crate::sys::ibv::ibv_td;

/// Allocates a thread domain: what is made in it, through a protection domain of vbn_pd_alloc_parent, is used by one thread at
/// a time, which the caller promises, so that the driver can leave out its locks.
///
/// Drivers of mlx5, and libefa since rdma-core 59, have such; soft-RoCE has none. `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_td_close; NULL after a failure. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver has none), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_td(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_td_alloc(
    context: *mut vbn_context,
    attr: *const vbn_td_attr,
    out: *mut *mut vbn_td,
) -> vbn_status {
    guard_on(Op::TdAlloc, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Td::alloc(context, &attr)?);
        Ok(())
    })
}

/// Closes a thread domain and sets `*td` to NULL. With parent domains left in it, the last of them deallocates it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (parent domains made by raw verbs are in it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_td(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_td_close(td: *mut *mut vbn_td) -> vbn_status {
    ffi::close(Op::TdClose, td)
}

/// Lends the `ibv_td`. It stays this library's: don't deallocate it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_td_native(td: *const vbn_td, native_out: *mut *mut ibv_td) -> vbn_status {
    ffi::native(Op::TdNative, td, native_out, Td::native)
}

/// Gives the `ibv_td` away: the handle ends, the thread domain lives on and is the caller's to deallocate.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*td` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (parent domains or calls use it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_td_release(td: *mut *mut vbn_td, native_out: *mut *mut ibv_td) -> vbn_status {
    ffi::release(Op::TdRelease, td, native_out, Td::native)
}

/// Makes a handle for an `ibv_td` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_td. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
/// There is no query that would tell `user_data`.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_td_adopt(
    context: *mut vbn_context,
    native: *mut ibv_td,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_td,
) -> vbn_status {
    guard_on(Op::TdAdopt, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Td::adopt(context, native, &attr)?);
        Ok(())
    })
}
