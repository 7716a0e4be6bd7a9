// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_device_list*`.

use super::ffi::{self, guard};
use crate::core::device::{self, vbn_device_info, vbn_device_list_reason_info};
use crate::core::op::Op;
use crate::core::status::vbn_status;

/// Lists the RDMA devices.
///
/// Fills as many elements of `devices` as there are devices and room, each `entry_size` bytes apart, and says in
/// `*count_out` how many devices there are. With `capacity` 0, `devices` may be NULL. No library, no RDMA in the
/// kernel and no device give success and a count of 0; vbn_device_list_reason tells which. A device that can't be
/// opened is listed with the reason in `open_status`.
///
/// - Ownership: fills the caller's array. `entry_size` is sizeof(vbn_device_info).
/// - Threads: MT-safe.
/// - Blocks: for some system calls per device.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: ibv_get_device_list(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_device_list(
    devices: *mut vbn_device_info,
    entry_size: usize,
    capacity: u32,
    count_out: *mut u32,
) -> vbn_status {
    guard(Op::DeviceList, || {
        let count_out = ffi::out(count_out, "count_out")?;
        ffi::check_entries(devices, entry_size, capacity as usize, "devices")?;
        let count = device::list(capacity as usize, |index, info| {
            // SAFETY: the caller says that there is room for `capacity` elements, and `list` shows no more.
            unsafe { ffi::write_entry(devices, entry_size, index, info) };
        })?;
        *count_out = count as u32;
        Ok(())
    })
}

/// Tells why vbn_device_list lists no device, or none that can be opened, as a code and as a sentence with the remedy.
///
/// It looks afresh: at the library, the kernel's modules, sysfs, the nodes in /dev/infiniband and the provider
/// libraries, in this order. VBN_REASON_NONE: there is a device that can be opened.
///
/// - Ownership: fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for some system calls.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: this library
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_device_list_reason(info: *mut vbn_device_list_reason_info) -> vbn_status {
    guard(Op::DeviceListReason, || {
        ffi::check_output(info)?;
        ffi::output(info, &device::reason())
    })
}
