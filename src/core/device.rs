// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which devices there are, and when there is none, why.

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write;
use std::ptr::NonNull;

use super::cold::cold_structs;
use super::error::{Error, Result, write_errno};
use super::library;
use super::status::*;
use super::sysfs::{path, text_of};
use super::text::{Name, Writer, chars, text, write_bytes};
use crate::sys::dl::{self, Handle};
use crate::sys::ibv::{ibv_context, ibv_device};
use crate::sys::verbs::Verbs;
use crate::sys::{convert, os};

/// `node_type`: not known.
pub const VBN_NODE_UNKNOWN: i32 = -1;
/// `node_type`: channel adapter: InfiniBand or RoCE.
pub const VBN_NODE_CA: i32 = 1;
/// `node_type`: switch.
pub const VBN_NODE_SWITCH: i32 = 2;
/// `node_type`: router.
pub const VBN_NODE_ROUTER: i32 = 3;
/// `node_type`: iWARP.
pub const VBN_NODE_RNIC: i32 = 4;
/// `node_type`: usNIC.
pub const VBN_NODE_USNIC: i32 = 5;
/// `node_type`: usNIC over UDP.
pub const VBN_NODE_USNIC_UDP: i32 = 6;
/// `node_type`: none of these (EFA).
pub const VBN_NODE_UNSPECIFIED: i32 = 7;

/// `transport_type`: not known.
pub const VBN_TRANSPORT_UNKNOWN: i32 = -1;
/// `transport_type`: InfiniBand or RoCE.
pub const VBN_TRANSPORT_IB: i32 = 0;
/// `transport_type`: iWARP.
pub const VBN_TRANSPORT_IWARP: i32 = 1;
/// `transport_type`: usNIC.
pub const VBN_TRANSPORT_USNIC: i32 = 2;
/// `transport_type`: usNIC over UDP.
pub const VBN_TRANSPORT_USNIC_UDP: i32 = 3;
/// `transport_type`: none of these (EFA).
pub const VBN_TRANSPORT_UNSPECIFIED: i32 = 4;

/// `vbn_device_list_reason_info.reason`: there are devices, and at least one can be opened.
pub const VBN_REASON_NONE: i32 = 0;
/// There are devices, but none can be opened, for another reason than those below; `sys_errno` is that of the first.
pub const VBN_REASON_CANNOT_OPEN: i32 = 1;
/// libibverbs.so.1 could not be loaded.
pub const VBN_REASON_LIBRARY_MISSING: i32 = 2;
/// The libibverbs that was found is too old, or something else of that name.
pub const VBN_REASON_LIBRARY_UNUSABLE: i32 = 3;
/// The kernel's RDMA modules are not loaded.
pub const VBN_REASON_NO_MODULE: i32 = 4;
/// The kernel knows of no RDMA device.
pub const VBN_REASON_NO_DEVICE: i32 = 5;
/// There is a device, but its node in /dev/infiniband is missing.
pub const VBN_REASON_NO_NODE: i32 = 6;
/// There is a device, but this process may not open its node in /dev/infiniband.
pub const VBN_REASON_NOT_PERMITTED: i32 = 7;
/// The kernel has a device, but libibverbs found no provider library for it.
pub const VBN_REASON_NO_PROVIDER: i32 = 8;
/// libibverbs failed to list the devices.
pub const VBN_REASON_LIST_FAILED: i32 = 9;

/// A device, as `vbn_device_list` tells it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_device_info {
    /// Name, such as "mlx5_0"; to be given to vbn_context_open.
    pub name: [c_char; 64],
    /// Name of its node below /dev/infiniband, such as "uverbs0".
    pub uverbs_name: [c_char; 64],
    /// Its directory in sysfs.
    pub sysfs_path: [c_char; 256],
    /// Globally unique number of the device, in host byte order; 0 if it has none.
    pub guid: u64,
    /// VBN_NODE_*: libibverbs' numbers.
    pub node_type: i32,
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    pub transport_type: i32,
    /// Place in the list.
    pub index: u32,
    /// VBN_OK if this process can open it, else why not: VBN_ERR_*.
    pub open_status: i32,
    /// errno of the attempt to open it, or 0.
    pub open_errno: i32,
    /// 0.
    pub reserved0: u32,
}

/// Why the list of devices is empty.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_device_list_reason_info {
    /// sizeof(vbn_device_list_reason_info), set by the caller.
    pub struct_size: usize,
    /// VBN_REASON_*.
    pub reason: i32,
    /// The errno behind it, or 0.
    pub sys_errno: i32,
    /// How many devices libibverbs lists.
    pub count: u32,
    /// 0.
    pub reserved0: u32,
    /// The same as a sentence with the remedy.
    pub message: [c_char; 512],
}
cold_structs!(vbn_device_list_reason_info);

/// The devices that libibverbs lists, held until dropped.
pub struct List {
    pub verbs: &'static Verbs,
    list: NonNull<*mut ibv_device>,
    count: usize,
}

impl List {
    /// `None` when the kernel has no RDMA at all.
    pub fn get() -> Result<Option<List>> {
        let verbs = library::verbs()?;
        let mut count: c_int = 0;
        os::set_errno(0);
        // SAFETY: a valid place for the number.
        let list = unsafe { (verbs.get_device_list)(&mut count) };
        match convert::pointer(list, os::errno()) {
            Ok(list) => Ok(Some(List { verbs, list, count: usize::try_from(count).unwrap_or(0) })),
            Err(libc::ENOSYS) => Ok(None),
            Err(errno) => Err(Error::call("ibv_get_device_list", errno)),
        }
    }

    /// The same, and `None` too when there is no usable library, for `reason` to explain.
    pub fn present() -> Result<Option<List>> {
        match Self::get() {
            Err(error) if matches!(error.status, VBN_ERR_LIBRARY_MISSING | VBN_ERR_SYMBOL_MISSING) => Ok(None),
            result => result,
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn devices(&self) -> impl Iterator<Item = Device<'_>> {
        // SAFETY: the list has `count` entries, each a device that lives as long as the list.
        (0..self.count).map(|index| Device { list: self, native: unsafe { *self.list.as_ptr().add(index) } })
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: came from ibv_get_device_list; devices that were opened are counted by libibverbs.
        unsafe { (self.verbs.free_device_list)(self.list.as_ptr()) };
    }
}

/// One device of a list.
pub struct Device<'a> {
    list: &'a List,
    native: *mut ibv_device,
}

impl Device<'_> {
    fn content(&self) -> &ibv_device {
        // SAFETY: lives as long as the list.
        unsafe { &*self.native }
    }

    pub fn name(&self) -> Name {
        Name::new(text(&self.content().name))
    }

    fn info(&self, index: u32) -> vbn_device_info {
        let device = self.content();
        let (open_status, open_errno) = match self.probe() {
            Ok(()) => (VBN_OK, 0),
            Err(errno) => (of_errno(errno), errno),
        };
        vbn_device_info {
            name: chars(text(&device.name)),
            uverbs_name: chars(text(&device.dev_name)),
            sysfs_path: chars(text(&device.ibdev_path)),
            // SAFETY: a live device.
            guid: u64::from_be(unsafe { (self.list.verbs.get_device_guid)(self.native) }),
            node_type: device.node_type,
            transport_type: device.transport_type,
            index,
            open_status,
            open_errno,
            reserved0: 0,
        }
    }

    /// Tries the device's node. `None`: the device isn't the kernel's, so that its node says nothing.
    pub fn try_node(&self) -> Option<std::result::Result<(), i32>> {
        let device = self.content();
        let sysfs = path(|out| write_bytes(out, text(&device.ibdev_path)));
        if !os::exists(text_of(&sysfs)) {
            return None;
        }
        let node = path(|out| {
            out.write_str("/dev/infiniband/")?;
            write_bytes(out, text(&device.dev_name))
        });
        Some(os::probe_device(text_of(&node)))
    }

    /// Whether this process can open the device. Trying its node costs little; libibverbs waits five seconds for a
    /// node that is missing or not permitted, and then reports ENOENT in both cases.
    fn probe(&self) -> std::result::Result<(), i32> {
        if let Some(result) = self.try_node() {
            return result;
        }
        let context = self.open()?;
        // SAFETY: opened above, and used by nobody.
        unsafe { (self.list.verbs.close_device)(context.as_ptr()) };
        Ok(())
    }

    /// Opens the device with libibverbs.
    pub fn open(&self) -> std::result::Result<NonNull<ibv_context>, i32> {
        os::set_errno(0);
        // SAFETY: a live device.
        let context = unsafe { (self.list.verbs.open_device)(self.native) };
        convert::pointer(context, os::errno())
    }
}

/// The kernel's uverbs ABI of a device, where sysfs tells it.
pub fn uverbs_abi(device: &ibv_device) -> Option<i32> {
    let file = path(|out| {
        write_bytes(out, text(&device.dev_path))?;
        out.write_str("/abi_version")
    });
    let mut content = [0; 16];
    let content = os::read_file(text_of(&file), &mut content).ok()?;
    std::str::from_utf8(content).ok()?.trim().parse().ok()
}

/// Shows the first `capacity` devices and returns how many there are. None is not an error: `reason` tells why.
pub fn list(capacity: usize, mut show: impl FnMut(usize, &vbn_device_info)) -> Result<usize> {
    let Some(list) = List::present()? else { return Ok(0) };
    for (index, device) in list.devices().enumerate().take(capacity) {
        show(index, &device.info(index as u32));
    }
    Ok(list.count())
}

/// Looks afresh why there is no device, or none that can be opened.
pub fn reason() -> vbn_device_list_reason_info {
    let mut message = [0; 512];
    let (reason, sys_errno, count) = explain(&mut Writer::new(&mut message));
    vbn_device_list_reason_info {
        struct_size: size_of::<vbn_device_list_reason_info>(),
        reason,
        sys_errno,
        count,
        reserved0: 0,
        message: message.map(|b| b as c_char),
    }
}

/// (reason, errno, devices listed). Writing into a buffer that cuts never fails.
fn explain(out: &mut Writer<'_>) -> (i32, i32, u32) {
    let list = match List::get() {
        Ok(list) => list,
        Err(error) => return explain_library(out, &error),
    };
    let Some(list) = list.filter(|list| list.count() > 0) else {
        let (reason, errno) = explain_kernel(out);
        return (reason, errno, 0);
    };
    let count = list.count() as u32;
    let mut first = None;
    for device in list.devices() {
        match device.probe() {
            Ok(()) => {
                let _ = write!(out, "devices: {count}, the first that can be opened is {}", device.name());
                return (VBN_REASON_NONE, 0, count);
            }
            Err(errno) => first = first.or(Some((device.name(), errno))),
        }
    }
    let (name, errno) = first.unwrap_or((Name::EMPTY, 0));
    let _ = write!(out, "devices: {count}, but none can be opened; {name}: ");
    let _ = write_errno(errno, out);
    let reason = reason_of(errno);
    let _ = out.write_str(remedy(reason));
    (reason, errno, count)
}

/// What it means that a node can't be opened.
fn reason_of(errno: i32) -> i32 {
    match errno {
        libc::EACCES | libc::EPERM => VBN_REASON_NOT_PERMITTED,
        libc::ENOENT => VBN_REASON_NO_NODE,
        _ => VBN_REASON_CANNOT_OPEN,
    }
}

fn remedy(reason: i32) -> &'static str {
    match reason {
        VBN_REASON_NOT_PERMITTED => "; give this user access to /dev/infiniband/uverbs*, or run as root",
        VBN_REASON_NO_NODE => "; is udev running, and in a container, are the nodes in /dev/infiniband passed in?",
        _ => "",
    }
}

fn explain_library(out: &mut Writer<'_>, error: &Error) -> (i32, i32, u32) {
    let reason = match error.status {
        VBN_ERR_LIBRARY_MISSING => VBN_REASON_LIBRARY_MISSING,
        VBN_ERR_SYMBOL_MISSING => VBN_REASON_LIBRARY_UNUSABLE,
        _ => {
            let _ = out.write_str("ibv_get_device_list failed: ");
            let _ = write_errno(error.errno, out);
            return (VBN_REASON_LIST_FAILED, error.errno, 0);
        }
    };
    if let Ok(info) = library::query(library::VBN_LIBRARY_IBVERBS) {
        let _ = write_bytes(out, text(&info.error));
    }
    let _ = write!(out, "; {}", error.hint);
    (reason, 0, 0)
}

const CLASS: &CStr = c"/sys/class/infiniband_verbs";

/// libibverbs lists nothing: how far does the kernel get?
fn explain_kernel(out: &mut Writer<'_>) -> (i32, i32) {
    if !os::exists(CLASS) {
        let _ = out.write_str(
            "the kernel's RDMA modules are not loaded (no /sys/class/infiniband_verbs); load ib_uverbs and the driver \
             of the device: mlx5_ib, efa, irdma, bnxt_re, or rdma_rxe with 'rdma link add rxe0 type rxe netdev DEV'",
        );
        return (VBN_REASON_NO_MODULE, libc::ENOSYS);
    }
    let Some(number) = first_device() else {
        let _ = out.write_str(
            "the kernel has no RDMA device (/sys/class/infiniband_verbs is empty); load the driver of the device, or \
             make one: 'rdma link add rxe0 type rxe netdev DEV'",
        );
        return (VBN_REASON_NO_DEVICE, libc::ENODEV);
    };
    let node = path(|out| write!(out, "/dev/infiniband/uverbs{number}"));
    if let Err(errno) = os::probe_device(text_of(&node)) {
        let _ = write!(out, "the kernel has uverbs{number}, but /dev/infiniband/uverbs{number} can't be opened: ");
        let _ = write_errno(errno, out);
        let reason = reason_of(errno);
        let _ = out.write_str(remedy(reason));
        return (reason, errno);
    }
    explain_provider(out, number);
    (VBN_REASON_NO_PROVIDER, 0)
}

/// The lowest device number in the class. Devices come and go, so the numbers may have gaps.
fn first_device() -> Option<u32> {
    (0..1024).find(|number| os::exists(text_of(&path(|out| write!(out, "/sys/class/infiniband_verbs/uverbs{number}")))))
}

fn explain_provider(out: &mut Writer<'_>, number: u32) {
    let (mut uevent, mut ibdev) = ([0; 1024], [0; 64]);
    let read = |name: &str, buffer| {
        let file = path(|out| write!(out, "/sys/class/infiniband_verbs/uverbs{number}/{name}"));
        os::read_file(text_of(&file), buffer).unwrap_or_default()
    };
    let name = read("ibdev", &mut ibdev).trim_ascii();
    let driver = driver_of(read("device/uevent", &mut uevent)).unwrap_or_default();
    let _ = write!(out, "the kernel has uverbs{number} (");
    let _ = write_bytes(out, name);
    let _ = out.write_str("), driver ");
    // A software device has no driver in sysfs.
    let _ = write_bytes(out, if driver.is_empty() { b"unknown (a software device?)" } else { driver });
    let _ = out.write_str(", but libibverbs found no provider for it: lib");
    let _ = write_bytes(out, if driver.is_empty() { b"NAME" } else { provider_of(driver) });
    match provider_abi() {
        Some(abi) => {
            let _ = write!(out, "-rdmav{abi}.so");
        }
        None => {
            let _ = out.write_str("-rdmavNN.so");
        }
    }
    let _ = out.write_str(
        " and its .driver file in /etc/libibverbs.d must be installed from the same rdma-core as libibverbs (Debian, \
         Ubuntu: ibverbs-providers); if they are, this rdma-core is older than the device, and doesn't know its PCI id",
    );
}

fn driver_of(uevent: &[u8]) -> Option<&[u8]> {
    uevent.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(b"DRIVER="))
}

/// The provider's name where it isn't the driver's.
fn provider_of(driver: &[u8]) -> &[u8] {
    match driver {
        b"mlx5_core" => b"mlx5",
        b"mlx4_core" => b"mlx4",
        b"bnxt_en" => b"bnxt_re",
        b"ice" | b"i40e" | b"idpf" => b"irdma",
        other => other,
    }
}

/// The number in the names of provider libraries is part of a symbol of libibverbs.
fn provider_abi() -> Option<u32> {
    let verbs = library::loaded()?;
    // SAFETY: libraries are never unloaded here.
    let (_, file) = unsafe { dl::addr_object(verbs.open_device as *const _) }?;
    let handle: Handle = dl::loaded(file)?;
    (20..200).find(|abi| {
        let symbol = path(|out| write!(out, "verbs_register_driver_{abi}"));
        !handle.sym(text_of(&symbol)).is_null()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_read_from_uevent() {
        assert_eq!(driver_of(b"DRIVER=efa\nPCI_CLASS=20000\n"), Some(&b"efa"[..]));
        assert_eq!(driver_of(b"PCI_CLASS=20000\nDRIVER=mlx5_core\n").map(provider_of), Some(&b"mlx5"[..]));
        assert_eq!(driver_of(b"PCI_CLASS=20000\n"), None);
    }
}
