// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_context_caps`, `vbn_caps_reason` and `vbn_device_find`.

use std::ffi::c_char;

use super::ffi::{self, guard, guard_on};
use crate::core::caps::{self, vbn_caps, vbn_device_match};
use crate::core::handle::vbn_context;
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// Tells what a device can do, whatever its kind, its limits, and for each thing that it can't do the reason.
///
/// Nothing is concluded from names or PCI numbers. What no query tells is tried beside the handles: a channel with a
/// completion queue, the registration of a dma-buf that isn't there, a window where the kernel reports them, and on devices
/// other than EFA a queue pair of each type, and of RC with each reported operation that its driver may not know. These are
/// destroyed before the call returns. docs/capabilities.md has the way for each capability.
///
/// - Ownership: fills the caller's `*caps`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for some system calls and commands to the device.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_CLOSED, VBN_ERR_FORKED, VBN_ERR_LIMIT (references), VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_query_device_ex(3), ibv_query_port(3), efadv_query_device(3), efadv_get_max_sq_depth(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_context_caps(context: *const vbn_context, caps: *mut vbn_caps) -> vbn_status {
    guard_on(Op::ContextCaps, context, || {
        ffi::check_output(caps)?;
        ffi::output(caps, &caps::of(&ffi::pin(context)?)?)
    })
}

/// Says in a sentence why a capability is absent, and what to do about it; or that it is there.
///
/// `cap` is one VBN_CAP_*. The text is cut to `capacity` and ends with a zero; `*needed_out` is the room that all of it
/// takes, the zero included. With `capacity` 0, `text` may be NULL; `needed_out` may be NULL.
///
/// - Ownership: reads `*caps`, which vbn_context_caps has filled in; fills the caller's text.
/// - Threads: MT-safe.
/// - Blocks: no.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_caps_reason(
    caps: *const vbn_caps,
    cap: u64,
    text: *mut c_char,
    capacity: usize,
    needed_out: *mut usize,
) -> vbn_status {
    guard(Op::CapsReason, || {
        let needed_out = ffi::optional(needed_out, "needed_out")?;
        let caps = ffi::required_input(caps)?;
        let text = ffi::array_mut(text.cast::<u8>(), capacity, "text")?;
        let needed = caps::describe(&caps, cap, text)?;
        if let Some(needed_out) = needed_out {
            *needed_out = needed;
        }
        Ok(())
    })
}

/// Looks for the devices that can do all of `required`, a mask of VBN_CAP_*, and says of each other one why it was left
/// out, so that the caller can ask for less or choose another transport.
///
/// Opens and asks every device as vbn_context_caps does, and closes it again. Fills as many elements of `devices` as
/// there are devices and room, each `entry_size` bytes apart, those that match first, and says in `*count_out` how many
/// devices there are. With `capacity` 0, `devices` may be NULL. `required` 0 matches every device that can be opened. What
/// is not certain does not match: see `unknown`. No library, no RDMA in the kernel and no device give success and a count
/// of 0; vbn_device_list_reason tells which.
///
/// - Ownership: fills the caller's array. `entry_size` is sizeof(vbn_device_match).
/// - Threads: MT-safe.
/// - Blocks: for some system calls and commands to each device.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_device_find(
    required: u64,
    devices: *mut vbn_device_match,
    entry_size: usize,
    capacity: u32,
    count_out: *mut u32,
) -> vbn_status {
    guard(Op::DeviceFind, || {
        let count_out = ffi::out(count_out, "count_out")?;
        ffi::check_entries(devices, entry_size, capacity as usize, "devices")?;
        let count = caps::find(required, capacity as usize, |index, found| {
            // SAFETY: the caller says that there is room for `capacity` elements, and `find` shows no more.
            unsafe { ffi::write_entry(devices, entry_size, index, found) };
        })?;
        *count_out = count as u32;
        Ok(())
    })
}
