// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_counters_*`.

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::counters::{Counters, vbn_counters_attr};
use crate::core::handle::{vbn_context, vbn_counters, vbn_flow};
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_counters;

/// Makes a set of counters, each 0, on devices that have such (mlx5). vbn_counters_attach says what they count, a spec of type
/// VBN_FLOW_SPEC_ACTION_COUNT of which rule. `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_counters_close; NULL after a failure. It keeps `context` alive.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_SUPPORTED (the device has none), VBN_ERR_DRIVER,
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references),
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_counters(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_counters_create(
    context: *mut vbn_context,
    attr: *const vbn_counters_attr,
    out: *mut *mut vbn_counters,
) -> vbn_status {
    guard_on(Op::CountersCreate, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Counters::create(context, &attr)?);
        Ok(())
    })
}

/// Closes a set of counters and sets `*counters` to NULL. With rules left that use it, the last of them destroys it.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (rules made by raw verbs use it), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY,
///   VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_counters(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_counters_close(counters: *mut *mut vbn_counters) -> vbn_status {
    ffi::close(Op::CountersClose, counters)
}

/// Says that the place `index` of a set counts `counter` (VBN_COUNTER_PACKETS, VBN_COUNTER_BYTES): with `flow` NULL of the
/// rules that are made with it later, else of this rule. Two things in one place are added up.
///
/// What mlx5's driver can (rdma-core 65) is `flow` NULL, before the first rule.
///
/// - Ownership: nothing changes hands; `flow` keeps `counters` alive.
/// - Threads: MT-safe.
/// - Blocks: maybe for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED (this isn't counted, or not for a rule that is there), VBN_ERR_BUSY (a
///   rule uses the set already), VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_attach_counters_point_flow(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_counters_attach(
    counters: *mut vbn_counters,
    flow: *mut vbn_flow,
    counter: i32,
    index: u32,
) -> vbn_status {
    guard_on(Op::CountersAttach, counters, || {
        let counters = ffi::pin(counters)?;
        let flow = ffi::pin_optional(flow)?;
        Counters::attach(&counters, flow.as_deref(), counter, index)
    })
}

/// Reads the first `count` places of a set. `flags` may be VBN_COUNTERS_PREFER_CACHED.
///
/// - Ownership: fills the caller's `values`. After a failure some may have been written.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DRIVER (no rule uses the set, or `count` is too small for it),
///   VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_LIMIT (references), VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_read_counters(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_counters_read(
    counters: *mut vbn_counters,
    values: *mut u64,
    count: usize,
    flags: u32,
) -> vbn_status {
    guard_on(Op::CountersRead, counters, || {
        let counters = ffi::pin(counters)?;
        counters.read(ffi::array_mut(values, count, "values")?, flags)
    })
}

/// Lends the `ibv_counters`. They stay this library's: don't destroy them, and don't use them after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_counters_native(
    counters: *const vbn_counters,
    native_out: *mut *mut ibv_counters,
) -> vbn_status {
    ffi::native(Op::CountersNative, counters, native_out, Counters::native)
}

/// Gives the `ibv_counters` away: the handle ends, the counters live on and are the caller's to destroy. Refused while rules
/// use them. Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*counters` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (rules or calls use them), VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT
///   (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_counters_release(
    counters: *mut *mut vbn_counters,
    native_out: *mut *mut ibv_counters,
) -> vbn_status {
    ffi::release(Op::CountersRelease, counters, native_out, Counters::native)
}

/// Makes a handle for an `ibv_counters` that raw verbs made on the `ibv_context` of `context`.
///
/// `native` must be a live ibv_counters. `attr` may be NULL: borrowed. `*out` is NULL after a failure.
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
pub unsafe extern "C" fn vbn_counters_adopt(
    context: *mut vbn_context,
    native: *mut ibv_counters,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_counters,
) -> vbn_status {
    guard_on(Op::CountersAdopt, context, || {
        let out = ffi::out_handle(out)?;
        let context = ffi::pin(context)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Counters::adopt(context, native, &attr)?);
        Ok(())
    })
}
