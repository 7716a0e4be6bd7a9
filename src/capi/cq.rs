// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_cq_*` and `vbn_wc_*`.

use super::ffi::{self, guard, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::cq::{Cq, vbn_cq_attr, vbn_cq_info};
use crate::core::cq_ops::vbn_cq_modify_attr;
use crate::core::error::{self, Error};
use crate::core::handle::{vbn_context, vbn_cq};
use crate::core::op::Op;
use crate::core::status::{VBN_ERR_ARGUMENT, vbn_status};
use crate::core::wc::{self, vbn_wc};
use crate::core::wc_ext::{self, vbn_wc_ext};
use crate::sys::ibv::ibv_cq;

/// Creates a completion queue.
///
/// `attr` is required: its `cqe` says how many completions the queue must hold. When more arrive than it holds, they
/// are lost and the queue fails; so make it as deep as all queues that complete into it together.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_cq_close; NULL after a failure. It keeps `context` and the
///   channel alive.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (cqe, comp_vector; references), VBN_ERR_TOO_NEW, VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_create(
    context: *mut vbn_context,
    attr: *const vbn_cq_attr,
    out: *mut *mut vbn_cq,
) -> vbn_status {
    guard_on(Op::CqCreate, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::required_input(attr)?;
        let channel = ffi::pin_optional(attr.channel)?;
        ffi::give(out, Cq::create(context, channel, &attr)?);
        Ok(())
    })
}

/// Closes a completion queue and sets `*cq` to NULL.
///
/// With queue pairs of this library still completing into it, the call succeeds and the last of them destroys it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for one system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (queue pairs made by raw verbs use it; the handle stays valid), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_close(cq: *mut *mut vbn_cq) -> vbn_status {
    ffi::close(Op::CqClose, cq)
}

/// Tells what is known of a completion queue, its granted capacity above all.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_query(cq: *const vbn_cq, info: *mut vbn_cq_info) -> vbn_status {
    guard_on(Op::CqQuery, cq, || ffi::output(info, &ffi::pin(cq)?.info()))
}

/// Changes a completion queue. `attr` is required: how many completions, or how long, an armed queue may hold back its event, so
/// that one event serves for several.
///
/// vbn_context_query_device tells what the device can do (cq_moderation_max_count, cq_moderation_max_period). Count and period
/// both 0 end the moderation. vbn_cq_wait then waits for the event, too, but never longer than its time-out.
///
/// - Ownership: reads the caller's `*attr`.
/// - Threads: MT-safe.
/// - Blocks: for system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (more than the device offers; references),
///   VBN_ERR_NOT_SUPPORTED (the device has no moderation), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_modify_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_modify(cq: *mut vbn_cq, attr: *const vbn_cq_modify_attr) -> vbn_status {
    guard_on(Op::CqModify, cq, || {
        let cq = ffi::pin(cq)?;
        cq.modify(&ffi::required_input(attr)?)
    })
}

/// Makes room for at least `cqe` completions. Those that wait in the queue stay; vbn_cq_query tells the new depth.
///
/// Not on every device: without this a queue must be made as deep as all that will complete into it. After a failure the queue
/// is as it was.
///
/// - Ownership: none.
/// - Threads: as the provider: those of rxe and mlx5 let other threads poll meanwhile (seen in rdma-core 44 to 65). Two
///   threads must not resize one queue.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_LIMIT (above the device's max_cqe; references), VBN_ERR_NOT_SUPPORTED (the device
///   can't), VBN_ERR_DRIVER (sys_errno EINVAL: more completions are waiting), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_resize_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_resize(cq: *mut vbn_cq, cqe: u32) -> vbn_status {
    guard_on(Op::CqResize, cq, || ffi::pin(cq)?.resize(cqe))
}

/// Asks for one event on the queue's channel at the next completion, or with `solicited_only` 1 at the next solicited
/// or failed one. Completions that are there already cause none: arm, then poll once more, then wait; vbn_cq_wait does
/// that.
///
/// - Ownership: nothing changes hands.
/// - Threads: MT-safe.
/// - Blocks: no (a system call on soft-RoCE).
/// - Errors: VBN_ERR_ARGUMENT (no channel, solicited_only above 1), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_req_notify_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_arm(cq: *mut vbn_cq, solicited_only: u8) -> vbn_status {
    guard_on(Op::CqArm, cq, || {
        let cq = ffi::pin(cq)?;
        if solicited_only > 1 {
            return Err(Error::range("solicited_only", solicited_only.into(), "0 or 1"));
        }
        cq.arm(solicited_only != 0)
    })
}

/// Takes up to `n` completions (at most 2147483647) from the queue into `wcs`. `*got` is always written. No completion is VBN_OK with
/// `*got` 0. A failed request is a completion like any other: look at `status`, or use vbn_wc_check.
///
/// - Ownership: fills the caller's array.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_ARGUMENT (NULL), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the driver then refused was under way),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_poll(cq: *mut vbn_cq, n: u32, wcs: *mut vbn_wc, got: *mut u32) -> vbn_status {
    ffi::hot(Op::CqPoll, || {
        if !got.is_null()
            && !wcs.is_null()
            && let Some(body) = ffi::hot_live_short(cq)
        {
            // SAFETY: not NULL; got is the caller's variable, and wcs has room for n: the caller's word.
            return unsafe { body.poll(n, wcs, &mut *got) };
        }
        poll_refused(cq, wcs, got)
    })
}

/// Why a poll can't go on.
#[cold]
#[inline(never)]
fn poll_refused(cq: *const vbn_cq, wcs: *const vbn_wc, got: *mut u32) -> vbn_status {
    let got_is_null = got.is_null();
    // SAFETY: NULL or the caller's variable.
    if let Some(got) = unsafe { got.as_mut() } {
        *got = 0;
    }
    let null = if wcs.is_null() { Some("wcs") } else { None };
    ffi::hot_refused(Op::CqPoll, cq, if got_is_null { Some("got") } else { null })
}

/// Takes up to `n` completions with the fields that the queue was created for. `out` is an array whose elements lie `stride`
/// bytes apart: sizeof(vbn_wc_ext). `*got` is always written; no completion is VBN_OK with `*got` 0. Of a queue without
/// fields it tells what vbn_cq_poll does.
///
/// Completions of queue pairs that were destroyed before are passed over and counted (EFA; `skipped` of vbn_cq_query).
/// When the queue itself fails behind the first one, what was taken before is returned with VBN_OK, and the failure is not kept: the
/// next call goes on where the provider does, and tells the failure if the provider meets it again.
///
/// - Ownership: fills the caller's array.
/// - Threads: as thread-safe as the driver; most lock inside. Not concurrently with closing the handle.
/// - Blocks: no. No allocation, lock or system call of this library's.
/// - Errors: VBN_ERR_ARGUMENT (NULL, stride), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_BUSY (a close that the driver then refused was under way),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_cq_ex(3), efadv_create_cq(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_poll_ext(
    cq: *mut vbn_cq,
    n: u32,
    out: *mut vbn_wc_ext,
    stride: usize,
    got: *mut u32,
) -> vbn_status {
    ffi::hot(Op::CqPollExt, || {
        let fits = stride >= size_of::<vbn_wc_ext>() && stride.is_multiple_of(align_of::<vbn_wc_ext>());
        if !got.is_null()
            && !out.is_null()
            && fits
            && let Some(body) = ffi::hot_live(cq)
        {
            // SAFETY: not NULL; got is the caller's variable, and out has room for n elements: the caller's word.
            return unsafe { wc_ext::poll(body, n, out, stride, &mut *got) };
        }
        poll_ext_refused(cq, out, fits, got)
    })
}

/// Why a poll can't go on.
#[cold]
#[inline(never)]
fn poll_ext_refused(cq: *const vbn_cq, out: *const vbn_wc_ext, fits: bool, got: *mut u32) -> vbn_status {
    // SAFETY: NULL or the caller's variable.
    if let Some(got) = unsafe { got.as_mut() } {
        *got = 0;
    }
    let null = match (got.is_null(), out.is_null()) {
        (true, _) => Some("got"),
        (_, true) => Some("out"),
        _ => None,
    };
    if null.is_none() && !fits && ffi::hot_live(cq).is_some() {
        return error::record(
            Op::CqPollExt,
            Error::text(VBN_ERR_ARGUMENT, "stride is smaller than a vbn_wc_ext, or not a multiple of 8")
                .hint("pass sizeof(vbn_wc_ext)"),
        );
    }
    ffi::hot_refused(Op::CqPollExt, cq, null)
}

/// Waits until there is a completion, and takes up to `n`. For `busy_ns` nanoseconds it polls without sleeping, then it
/// arms the queue, polls once more and sleeps on the channel. A queue without channel (wait_mode of vbn_cq_query says so)
/// is polled on, with sleeps in between that grow from 10 microseconds to a millisecond. `timeout_ns`: negative waits for ever, 0 only looks. `*got` is always written.
///
/// The channel must serve this queue alone; events of other queues would be lost here.
///
/// - Ownership: fills the caller's array.
/// - Threads: one thread waits on a queue at a time. Closing the handle does not wake it: use a time-out.
/// - Blocks: until there is a completion or the time is up.
/// - Errors: VBN_ERR_TIMEOUT, VBN_ERR_ARGUMENT (n 0, NULL, a shared channel), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_req_notify_cq(3), ibv_get_cq_event(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_wait(
    cq: *mut vbn_cq,
    n: u32,
    wcs: *mut vbn_wc,
    busy_ns: i64,
    timeout_ns: i64,
    got: *mut u32,
) -> vbn_status {
    guard_on(Op::CqWait, cq, || {
        let got = ffi::out(got, "got")?;
        *got = 0;
        let cq = ffi::pin(cq)?;
        if n as i32 <= 0 {
            return Err(Error::range("n", n.into(), "1..2147483647"));
        }
        ffi::array_mut(wcs, n as usize, "wcs")?;
        // SAFETY: the caller says that wcs has room for n, and it was checked for NULL.
        unsafe { cq.wait(n, wcs, busy_ns, timeout_ns, got) }
    })
}

/// VBN_OK for a successful completion; for a failed one VBN_ERR_COMPLETION, and vbn_last_error tells the status, the
/// vendor's code, what it means and what to look at. In its record `value` is the status and `vendor_code` the vendor_err.
///
/// - Ownership: reads the caller's `*wc`.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_COMPLETION, VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_poll_cq(3), InfiniBand Architecture Specification 10.7.3
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_wc_check(wc: *const vbn_wc) -> vbn_status {
    guard(Op::WcCheck, || wc::check(ffi::required(wc, "wc")?))
}

/// Lends the `ibv_cq`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_native(cq: *const vbn_cq, native_out: *mut *mut ibv_cq) -> vbn_status {
    ffi::native(Op::CqNative, cq, native_out, Cq::native)
}

/// Gives the `ibv_cq` away: the handle ends, the queue lives on and is the caller's to destroy. A channel that it has
/// must outlive it.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*cq` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (queue pairs of this library use it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_release(cq: *mut *mut vbn_cq, native_out: *mut *mut ibv_cq) -> vbn_status {
    ffi::release(Op::CqRelease, cq, native_out, Cq::native)
}

/// Makes a handle for an `ibv_cq` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_cq. If its channel has a handle, that is kept alive; otherwise vbn_cq_wait polls on, all the
/// time. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED (the driver can't poll),
///   VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_cq_adopt(
    context: *mut vbn_context,
    native: *mut ibv_cq,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_cq,
) -> vbn_status {
    guard_on(Op::CqAdopt, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Cq::adopt(context, native, &attr)?);
        Ok(())
    })
}
