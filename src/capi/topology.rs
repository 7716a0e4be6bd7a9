// SPDX-License-Identifier: MIT OR Apache-2.0
//! `vbn_gpu_nic_distance` and `vbn_nic_nearest`.

use std::ffi::{CStr, c_char};

use super::ffi::{self, guard};
use crate::core::error::{Error, Result};
use crate::core::op::Op;
use crate::core::status::{VBN_ERR_ARGUMENT, vbn_status};
use crate::core::topology::{self, Pci, Root, vbn_distance_attr, vbn_distance_info};

/// Tells how far a GPU and a NIC are from each other: behind one PCIe switch, at one host bridge, at one NUMA node, or across
/// processors; what their ways have in common; and their NUMA nodes.
///
/// It is read from sysfs: the links of /sys/bus/pci/devices, `numa_node`, and the tables of the nodes. Nothing is opened or asked,
/// so that it works for devices that this process may not use. A virtual machine often shows another tree than the
/// hardware has: there a greater distance may be a hidden switch. A NIC that is no PCI device (soft-RoCE), and
/// one whose place sysfs doesn't tell, is at VBN_DISTANCE_UNKNOWN, with the cause in `reason`.
///
/// - Ownership: reads `*attr`; fills the caller's `*info`, whose struct_size must be set.
/// - Threads: MT-safe.
/// - Blocks: for reads of some small files, and while a GPU's library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_FOUND (no such GPU, or no such PCI or RDMA device in this sysfs; `object`
///   is its name), of `gpu_device` as of vbn_gpu_device_query: VBN_ERR_LIBRARY_MISSING, VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER
///   (vendor_code says what), VBN_ERR_NOT_SUPPORTED, VBN_ERR_NO_MEMORY; and of `context`: VBN_ERR_CLOSED, VBN_ERR_FORKED,
///   VBN_ERR_DEVICE_GONE, VBN_ERR_LIMIT (references); VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: Linux, Documentation/ABI/testing/sysfs-bus-pci and stable/sysfs-devices-node
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_gpu_nic_distance(
    attr: *const vbn_distance_attr,
    info: *mut vbn_distance_info,
) -> vbn_status {
    guard(Op::GpuNicDistance, || {
        ffi::check_output(info)?;
        let attr = ffi::required_input(attr)?;
        // SAFETY: as its field says, a C string or NULL.
        let named = unsafe { text(attr.nic) };
        let context = ffi::pin_optional(attr.context)?;
        let (root, gpu) = ends(&attr)?;
        let found = match (named, &context) {
            (Some(nic), None) => topology::distance(&root, gpu, nic)?,
            (None, Some(context)) => topology::distance(&root, gpu, context.name().bytes())?,
            (Some(_), Some(_)) => return Err(Error::text(VBN_ERR_ARGUMENT, "nic and context are both set")),
            (None, None) => return Err(Error::text(VBN_ERR_ARGUMENT, "nic and context are both NULL")),
        };
        ffi::output(info, &found)
    })
}

/// Lists the kernel's RDMA devices by their distance from a GPU, the nearest first; of those at the same distance the ones with
/// fewer bridges between, then by name.
///
/// `attr` says which GPU, by PCI address or by ordinal; its `nic` and `context` must be NULL. Fills as many elements of `nics` as there are devices
/// and room, each `entry_size` bytes apart, which each has as its struct_size, and says in `*count_out` how many
/// devices there are. With `capacity` 0, `nics` may be NULL. No RDMA in the kernel and no device give success and a count
/// of 0. Whether a device can be opened is not looked at: see vbn_device_find.
///
/// Several may be equally near, as the four EFAs beside each GPU of a p5.48xlarge: an application spreads over those with
/// the `distance` of the first.
///
/// - Ownership: reads `*attr`; fills the caller's array. `entry_size` is sizeof(vbn_distance_info).
/// - Threads: MT-safe.
/// - Blocks: for reads of some small files for each device, and while a GPU's library is being loaded.
/// - Errors: VBN_ERR_ARGUMENT, VBN_ERR_TOO_NEW, VBN_ERR_NOT_FOUND (no such GPU, or no such PCI device in this sysfs; `object` is its
///   address), of `gpu_device` as of vbn_gpu_device_query, or because sysfs can't be listed: VBN_ERR_LIBRARY_MISSING,
///   VBN_ERR_SYMBOL_MISSING, VBN_ERR_DRIVER, VBN_ERR_NO_MEMORY, VBN_ERR_BUSY, VBN_ERR_NOT_SUPPORTED, VBN_ERR_DEVICE_GONE;
///   VBN_ERR_INTERNAL.
/// - Since: 0.1
/// - Source: Linux, Documentation/ABI/testing/sysfs-bus-pci and stable/sysfs-class-infiniband
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vbn_nic_nearest(
    attr: *const vbn_distance_attr,
    nics: *mut vbn_distance_info,
    entry_size: usize,
    capacity: u32,
    count_out: *mut u32,
) -> vbn_status {
    guard(Op::NicNearest, || {
        let count_out = ffi::out(count_out, "count_out")?;
        ffi::check_entries(nics, entry_size, capacity as usize, "nics")?;
        let attr = ffi::required_input(attr)?;
        if !attr.nic.is_null() || !attr.context.is_null() {
            return Err(Error::text(VBN_ERR_ARGUMENT, "nic and context must be NULL, since all NICs are listed"));
        }
        let (root, gpu) = ends(&attr)?;
        let count = topology::nearest(&root, gpu, capacity as usize, |index, found| {
            found.struct_size = entry_size;
            // SAFETY: the caller says that there is room for `capacity` elements, and `nearest` shows no more.
            unsafe { ffi::write_entry(nics, entry_size, index, found) };
        })?;
        *count_out = count as u32;
        Ok(())
    })
}

/// The sysfs and the GPU that are meant.
fn ends(attr: &vbn_distance_attr) -> Result<(Root, Pci)> {
    // SAFETY: as their fields say, C strings or NULL.
    let (sysfs, gpu) = unsafe { (text(attr.sysfs), text(attr.gpu)) };
    let root = Root::new(sysfs)?;
    let gpu = match gpu {
        Some(_) if attr.gpu_kind != 0 || attr.gpu_device != 0 => {
            return Err(Error::text(VBN_ERR_ARGUMENT, "gpu is set, and gpu_kind or gpu_device too"));
        }
        Some(gpu) => topology::gpu_at(gpu)?,
        None if attr.gpu_kind == 0 => {
            return Err(Error::text(VBN_ERR_ARGUMENT, "no GPU: gpu is NULL and gpu_kind 0")
                .hint("set gpu to its PCI address, or gpu_kind and gpu_device"));
        }
        None => topology::gpu_of(attr.gpu_kind, attr.gpu_device)?,
    };
    Ok((root, gpu))
}

/// # Safety
/// `pointer` is NULL or a C string that lives as long as it is needed.
unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller vouches for it.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_bytes())
}
