// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_srq_*`.

use std::slice;

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::handle::{vbn_pd, vbn_srq};
use crate::core::op::Op;
use crate::core::post_recv::{self, vbn_recv_wr};
use crate::core::srq::{Srq, vbn_srq_attr, vbn_srq_info, vbn_srq_modify_attr};
use crate::core::status::{VBN_OK, vbn_status};
use crate::sys::ibv::ibv_srq;

/// Creates a shared receive queue: receives from which several queue pairs take (vbn_qp_init_attr.srq), in the order in which
/// messages come in. They complete on the receiving queue pair's own completion queue.
///
/// `attr` may be NULL. The device may grant more than was asked for; vbn_srq_query tells. Post receives by vbn_srq_post_recv;
/// with a limit, VBN_EVENT_SRQ_LIMIT_REACHED says when to post more.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_srq_close; NULL after a failure. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (max_wr, max_sge, tags; references), VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED
///   (EFA; a type that the device lacks), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_srq(3), ibv_create_srq_ex(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_create(
    pd: *mut vbn_pd,
    attr: *const vbn_srq_attr,
    out: *mut *mut vbn_srq,
) -> vbn_status {
    guard_on(Op::SrqCreate, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        let cq = ffi::pin_optional(attr.cq)?;
        ffi::give(out, Srq::create(pd, cq, &attr)?);
        Ok(())
    })
}

/// Closes a shared receive queue and sets `*srq` to NULL. Queue pairs on it go on; the last of them destroys it. Receives still
/// on it then never complete.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (queue pairs of raw verbs are on it; the handle stays valid), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_srq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_close(srq: *mut *mut vbn_srq) -> vbn_status {
    ffi::close(Op::SrqClose, srq)
}

/// Tells depth, segments and limit as the device has them, and what was given at creation.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_srq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_query(srq: *const vbn_srq, info: *mut vbn_srq_info) -> vbn_status {
    guard_on(Op::SrqQuery, srq, || {
        let srq = ffi::pin(srq)?;
        ffi::check_output(info)?;
        ffi::output(info, &srq.info()?)
    })
}

/// Sets the limit of a shared receive queue, or resizes it where the device can: `attr->set` says which.
///
/// The limit's event comes once, when fewer receives are left than the limit; then the limit is gone and may be set again.
/// Setting one that is above what is left raises the event with the next message.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe. Resizing not concurrently with posting to the queue.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT (also: a limit above max_wr), VBN_ERR_LIMIT (max_wr above the device's; references),
///   VBN_ERR_TOO_NEW, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE,
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_srq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_modify(srq: *mut vbn_srq, attr: *const vbn_srq_modify_attr) -> vbn_status {
    guard_on(Op::SrqModify, srq, || {
        let srq = ffi::pin(srq)?;
        srq.modify(&ffi::required_input(attr)?)
    })
}

/// Posts `n` receives for whichever queue pair needs one next. `*posted` as for vbn_qp_post_send.
///
/// - Ownership: the requests and segment lists are free after the call; the memory that they name belongs to the device
///   until their completion.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_QUEUE_FULL, VBN_ERR_UNCERTAIN, VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (num_sge), VBN_ERR_DRIVER,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the
///   driver then refused was under way), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_post_srq_recv(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_post_recv(
    srq: *mut vbn_srq,
    wrs: *const vbn_recv_wr,
    n: u32,
    posted: *mut u32,
) -> vbn_status {
    ffi::hot(Op::SrqPostRecv, || {
        // SAFETY: NULL or the caller's variable.
        if let Some(posted) = unsafe { posted.as_mut() } {
            *posted = 0;
            if !wrs.is_null()
                && let Some(body) = ffi::hot_live(srq)
            {
                // SAFETY: not NULL; that n requests are there is the caller's word.
                return post_recv::post(body, unsafe { slice::from_raw_parts(wrs, n as usize) }, posted);
            }
        }
        post_refused(srq, wrs.is_null(), n, posted.is_null())
    })
}

/// The unusual ends of a post: NULL or an unusable handle; nothing to post is fine.
#[cold]
#[inline(never)]
fn post_refused(srq: *const vbn_srq, no_wrs: bool, n: u32, no_posted: bool) -> vbn_status {
    let null = match (no_posted, no_wrs && n > 0) {
        (true, _) => Some("posted"),
        (false, true) => Some("wrs"),
        (false, false) => None,
    };
    if null.is_none() && ffi::hot_live(srq).is_some() {
        return VBN_OK;
    }
    ffi::hot_refused(Op::SrqPostRecv, srq, null)
}

/// Lends the `ibv_srq`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_native(srq: *const vbn_srq, native_out: *mut *mut ibv_srq) -> vbn_status {
    ffi::native(Op::SrqNative, srq, native_out, Srq::native)
}

/// Gives the `ibv_srq` away: the handle ends, the queue lives on and is the caller's to destroy. Its PD must outlive it.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*srq` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (queue pairs are on it), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_release(srq: *mut *mut vbn_srq, native_out: *mut *mut ibv_srq) -> vbn_status {
    ffi::release(Op::SrqRelease, srq, native_out, Srq::native)
}

/// Makes a handle for an `ibv_srq` that raw verbs made in the `ibv_pd` of `pd`.
///
/// `native` must be a live ibv_srq. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_srq_adopt(
    pd: *mut vbn_pd,
    native: *mut ibv_srq,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_srq,
) -> vbn_status {
    guard_on(Op::SrqAdopt, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Srq::adopt(pd, native, &attr)?);
        Ok(())
    })
}
