// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_mw_*`.

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::error::{Error, Reason};
use crate::core::handle::{vbn_mw, vbn_pd, vbn_qp};
use crate::core::mw::{Mw, vbn_mw_attr, vbn_mw_bind_attr, vbn_mw_info};
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_mw;

/// Allocates a memory window, bound to nothing yet. `type` is VBN_MW_TYPE_1 or VBN_MW_TYPE_2.
///
/// A window gives a peer access to a part of a region, by a key that can be taken back in one request. Windows of type 1 are
/// bound with vbn_mw_bind, those of type 2 with the request VBN_WR_BIND_MW. `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_mw_close; NULL after a failure. It keeps `pd` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device has no windows of this type),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_mw(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_alloc(
    pd: *mut vbn_pd,
    r#type: i32,
    attr: *const vbn_mw_attr,
    out: *mut *mut vbn_mw,
) -> vbn_status {
    guard_on(Op::MwAlloc, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Mw::alloc(pd, r#type, &attr)?);
        Ok(())
    })
}

/// Closes a memory window and sets `*mw` to NULL. If it is bound, peers lose their access through it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (another thread is inside a call, or the driver refuses; the handle stays valid),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_alloc_mw(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_close(mw: *mut *mut vbn_mw) -> vbn_status {
    ffi::close(Op::MwClose, mw)
}

/// Tells what is known of a memory window: its key, type and user data.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_query(mw: *const vbn_mw, info: *mut vbn_mw_info) -> vbn_status {
    guard_on(Op::MwQuery, mw, || ffi::output(info, &ffi::slot(mw)?.pin_any()?.info()))
}

/// The key for peers: that of the bind posted last, whether that has succeeded or not. 0 for NULL or a handle that can't
/// be used.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: none.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_rkey(mw: *const vbn_mw) -> u32 {
    ffi::slot(mw).ok().and_then(|slot| slot.live()).map_or(0, Mw::rkey)
}

/// Puts back the key that a window had before a bind that failed (VBN_WC_MW_BIND_ERR, or a flush). Until that is done the
/// window can't be bound again. `rkey` may differ from the present one in its low byte only.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_bind_mw(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_set_rkey(mw: *mut vbn_mw, rkey: u32) -> vbn_status {
    guard_on(Op::MwSetRkey, mw, || ffi::pin(mw)?.set_rkey(rkey))
}

/// Posts the bind of a window of type 1 to the send queue of `qp`, of type RC (or XRC_SEND): from its completion on the peer has
/// the access that `attr` tells, by the key `*rkey_out`. A length of 0 takes the window back. An earlier key ends.
///
/// The bind is done when its completion (VBN_WC_BIND_MW, attr->wr_id) is there; without VBN_SEND_SIGNALED only a failure
/// completes. The key may be told at once in a SEND on the same queue pair. `rkey_out` may be NULL; vbn_mw_rkey tells, too.
///
/// - Ownership: reads the caller's `*attr`. The region must stay until the window is taken back or closed.
/// - Threads: as thread-safe as the driver's posting. Not two at once for one window.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_QUEUE_FULL, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER,
///   VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_bind_mw(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_bind(
    qp: *mut vbn_qp,
    mw: *mut vbn_mw,
    attr: *const vbn_mw_bind_attr,
    rkey_out: *mut u32,
) -> vbn_status {
    guard_on(Op::MwBind, mw, || {
        let rkey_out = ffi::optional(rkey_out, "rkey_out")?;
        let (qp, mw) = (ffi::pin(qp)?, ffi::pin(mw)?);
        let attr = ffi::required_input(attr)?;
        if attr.mr.is_null() {
            return Err(Error::argument(Reason::Null("mr")).hint("give the region even where length is 0"));
        }
        let rkey = mw.bind(&qp, &*ffi::pin(attr.mr)?, &attr)?;
        if let Some(out) = rkey_out {
            *out = rkey;
        }
        Ok(())
    })
}

/// Lends the `ibv_mw`. It stays this library's: don't deallocate it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_native(mw: *const vbn_mw, native_out: *mut *mut ibv_mw) -> vbn_status {
    ffi::native(Op::MwNative, mw, native_out, Mw::native)
}

/// Gives the `ibv_mw` away: the handle ends, the window lives on and is the caller's to deallocate.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*mw` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_release(mw: *mut *mut vbn_mw, native_out: *mut *mut ibv_mw) -> vbn_status {
    ffi::release(Op::MwRelease, mw, native_out, Mw::native)
}

/// Makes a handle for an `ibv_mw` that raw verbs made in the `ibv_pd` of `pd`.
///
/// `native` must be a live ibv_mw. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_mw_adopt(
    pd: *mut vbn_pd,
    native: *mut ibv_mw,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_mw,
) -> vbn_status {
    guard_on(Op::MwAdopt, pd, || {
        let out = ffi::out_handle(out)?;
        let pd = ffi::pin(pd)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Mw::adopt(pd, native, &attr)?);
        Ok(())
    })
}
