// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_flow_*`.

use super::ffi::{self, guard_on};
use crate::core::adopt::vbn_adopt_attr;
use crate::core::flow::{Flow, vbn_flow_attr};
use crate::core::flow_spec::vbn_flow_spec;
use crate::core::handle::{vbn_flow, vbn_qp};
use crate::core::op::Op;
use crate::core::status::vbn_status;
use crate::sys::ibv::ibv_flow;

/// Makes a rule by which packets that come in on an Ethernet port go to `qp`, on devices that steer flows (mlx5, mlx4). The
/// kernel has rules for UD and raw packet queue pairs (those of raw verbs: vbn_qp_adopt), and wants CAP_NET_RAW.
///
/// The rule is the `count` specs at `specs`, from the outermost header on, and what to do beside. `specs` may be NULL if
/// `count` is 0; `attr` may be NULL.
///
/// - Ownership: `*out` is the caller's, to be given to vbn_flow_close; NULL after a failure. It keeps the context and the
///   counters in its specs alive; the queue pair can't be closed before it. Reads the caller's specs.
/// - Threads: MT-safe.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT (index: of the spec), VBN_ERR_TOO_NEW, VBN_ERR_LIMIT (specs, port, fields that have fewer bits;
///   references), VBN_ERR_NOT_SUPPORTED (the device steers no flows), VBN_ERR_DRIVER (it can't match this, or CAP_NET_RAW is
///   missing), VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_create_flow(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_flow_create(
    qp: *mut vbn_qp,
    attr: *const vbn_flow_attr,
    specs: *const vbn_flow_spec,
    count: usize,
    out: *mut *mut vbn_flow,
) -> vbn_status {
    guard_on(Op::FlowCreate, qp, || {
        let out = ffi::out_handle(out)?;
        let qp = ffi::pin(qp)?;
        let attr = ffi::input(attr)?;
        let specs = ffi::array(specs, count, "specs")?;
        ffi::give(out, Flow::create(&qp, &attr, specs, |counters| ffi::pin(counters))?);
        Ok(())
    })
}

/// Closes a rule and sets `*flow` to NULL: from then on packets take another way.
///
/// - Ownership: takes the handle back. NULL and a pointer to NULL are fine.
/// - Threads: MT-safe; no other call on this handle may be under way or start afterwards.
/// - Blocks: for a system call.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED (through another copy of the pointer), VBN_ERR_FORKED (the same, before
///   the fork), VBN_ERR_BUSY (another thread is inside a call, or the driver refuses; the handle stays valid),
///   VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_destroy_flow(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_flow_close(flow: *mut *mut vbn_flow) -> vbn_status {
    ffi::close(Op::FlowClose, flow)
}

/// Lends the `ibv_flow`. It stays this library's: don't destroy it, and don't use it after the handle is closed.
/// Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: borrowed.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_flow_native(flow: *const vbn_flow, native_out: *mut *mut ibv_flow) -> vbn_status {
    ffi::native(Op::FlowNative, flow, native_out, Flow::native)
}

/// Gives the `ibv_flow` away: the handle ends, the rule lives on and is the caller's to destroy, before its queue pair and its
/// counters. Works, too, when the device is gone or a defect was caught on the handle.
///
/// - Ownership: `*native_out` becomes the caller's; `*flow` is set to NULL.
/// - Threads: MT-safe; no other call on this handle may start afterwards.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_BUSY (another thread is inside a call on it), VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_flow_release(flow: *mut *mut vbn_flow, native_out: *mut *mut ibv_flow) -> vbn_status {
    ffi::release(Op::FlowRelease, flow, native_out, Flow::native)
}

/// Makes a handle for an `ibv_flow` that raw verbs made for the queue pair behind `qp`, which can't be closed before it. Counters in the rule
/// must outlive it.
///
/// `native` must be a live ibv_flow. `attr` may be NULL: borrowed. `*out` is NULL after a failure. There is no query that
/// would tell `user_data`.
///
/// - Ownership: as `attr` says; see VBN_ADOPT_*. After a failure `native` is still the caller's.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NO_MEMORY, VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED,
///   VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_flow_adopt(
    qp: *mut vbn_qp,
    native: *mut ibv_flow,
    attr: *const vbn_adopt_attr,
    out: *mut *mut vbn_flow,
) -> vbn_status {
    guard_on(Op::FlowAdopt, qp, || {
        let out = ffi::out_handle(out)?;
        let qp = ffi::pin(qp)?;
        let attr = ffi::input(attr)?;
        ffi::give(out, Flow::adopt(&qp, native, &attr)?);
        Ok(())
    })
}
