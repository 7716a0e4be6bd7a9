// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_pd_*`.

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::handle::{vbn_context, vbn_pd, vbn_td};
use crate::core::op::Op;
use crate::core::pd::{Pd, vbn_pd_attr, vbn_pd_info};
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_pd;

/// Allocates a protection domain, in which memory is registered and queue pairs are made.
///
/// `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_pd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_alloc(
    context: *mut vbn_context,
    attr: *const vbn_pd_attr,
    out: *mut *mut vbn_pd,
) -> vbn_status {
    guard_on(Op::PdAlloc, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Pd::alloc(context, &attr)?);
        Ok(())
    })
}

/// Makes a parent domain: a second handle on the protection domain `pd`, through which what is made is in the thread domain `td`.
///
/// It is used like any vbn_pd, and shares its regions' keys with `pd`. Address handles, peers and windows must be made through the
/// handle that their queue pair was made through. `td` and `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close. It keeps `pd` and `td` alive.
/// - Threads: MT-safe. What is made in a thread domain isn't: one thread at a time may post, or poll.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT (also a `pd` that is a parent domain), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver has
///   none), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_parent_domain(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_alloc_parent(
    pd: *mut vbn_pd,
    td: *mut vbn_td,
    attr: *const vbn_pd_attr,
    out: *mut *mut vbn_pd,
) -> vbn_status {
    guard_on(Op::PdAllocParent, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let td = ffi::pin_optional(td)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Pd::alloc_parent(pd, td, &attr)?);
        Ok(())
    })
}

/// Makes a handle for a protection domain of another process in an imported context (vbn_context_import); `handle` is what
/// vbn_pd_query told there. `attr` may be NULL. `*out` is NULL after a failure.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_pd_close, which leaves the domain as it is: the process that made it
///   deallocates it, and not while others use it. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the driver can't), VBN_ERR_SYMBOL_MISSING (rdma-core
///   before 31), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_import_pd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_import(
    context: *mut vbn_context,
    handle: u32,
    attr: *const vbn_pd_attr,
    out: *mut *mut vbn_pd,
) -> vbn_status {
    guard_on(Op::PdImport, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Pd::import(context, handle, &attr)?);
        Ok(())
    })
}

/// Closes a protection domain and sets `*pd` to NULL.
///
/// With regions or queue pairs of this library left in it, the call succeeds and the last of them deallocates it. When
/// the driver refuses (objects made by raw verbs are left), the error is returned and the handle stays valid.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (objects made by raw verbs are in it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_dealloc_pd(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_close(pd: *mut *mut vbn_pd) -> vbn_status {
    ffi::close(Op::PdClose, pd)
}

/// Tells what is known of a protection domain.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_query(pd: *const vbn_pd, info: *mut vbn_pd_info) -> vbn_status {
    guard_on(Op::PdQuery, pd, || ffi::output(info, &ffi::pin(pd)?.info()))
}

/// Lends the `ibv_pd`. It stays this library's: don't deallocate it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_native(pd: *const vbn_pd, native_out: *mut *mut ibv_pd) -> vbn_status {
    ffi::native(Op::PdNative, pd, native_out, Pd::native)
}

/// Gives the `ibv_pd` away: the handle ends, the object lives on and is the caller's to deallocate.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*pd` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (handles of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_release(pd: *mut *mut vbn_pd, native_out: *mut *mut ibv_pd) -> vbn_status {
    ffi::release(Op::PdRelease, pd, native_out, Pd::give_away)
}

/// Makes a handle for an `ibv_pd` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_pd. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_pd_adopt(
    context: *mut vbn_context,
    native: *mut ibv_pd,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_pd,
) -> vbn_status {
    guard_on(Op::PdAdopt, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Pd::adopt(context, native, &attr)?);
        Ok(())
    })
}
