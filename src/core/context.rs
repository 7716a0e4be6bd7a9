// SPDX-License-Identifier: MIT OR Apache-2.0
//! An open device.

mod attr;

pub use attr::*;

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::ah::Ah;
use super::ah_cache;
use super::channel::Channel;
use super::cm::Devices;
use super::cold::cold_structs;
use super::counters::Counters;
use super::cq::Cq;
use super::device::{Device, List};
use super::dm::Dm;
use super::efa;
use super::error::{Error, Reason, Result};
use super::event::*;
use super::explain::{self, VBN_DRIVER_EFA};
use super::flow::Flow;
use super::fork;
use super::import;
use super::library;
use super::lock::Lock;
use super::mr::Mr;
use super::mr_set::MrSet;
use super::mw::Mw;
use super::pd::Pd;
use super::peer::Peer;
use super::qp::Qp;
use super::slab::{Kind, Object, Slab, Slot, Vacant};
use super::srq::Srq;
use super::status::*;
use super::table::{Entry, Table};
use super::td::Td;
use super::text::{Name, chars, tail};
use super::wait::{self, Ended};
use crate::sys::ibv::*;
use crate::sys::verbs::Verbs;
use crate::sys::{convert, dl, inline, os};

/// What `vbn_context_open` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_context_attr {
    /// sizeof(vbn_context_attr).
    pub struct_size: usize,
    /// Comes back in queries, and in events about the device and its ports.
    pub user_data: u64,
}

/// What `vbn_context_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_context_info {
    /// sizeof(vbn_context_info), set by the caller.
    pub struct_size: usize,
    /// As given when it was opened or adopted.
    pub user_data: u64,
    /// Name of the device.
    pub name: [c_char; 64],
    /// Name of its node below /dev/infiniband.
    pub uverbs_name: [c_char; 64],
    /// VBN_NODE_*: libibverbs' numbers.
    pub node_type: i32,
    /// VBN_TRANSPORT_*: libibverbs' numbers.
    pub transport_type: i32,
    /// VBN_ADOPT_*: what close does to the context. VBN_ADOPT_OWN for one that was opened here.
    pub ownership: i32,
    /// Completion vectors 0 .. num_comp_vectors - 1 can be asked for.
    pub num_comp_vectors: u32,
    /// Readable when an asynchronous event waits; -1 if there is none. For poll(), not for read().
    pub async_fd: i32,
    /// VBN_FORK_*: what fork() does to registered memory.
    pub fork_state: i32,
    /// How many ports the device has.
    pub num_ports: u32,
    /// The kernel's uverbs ABI of the device, or -1 if sysfs doesn't tell.
    pub uverbs_abi_version: i32,
    /// 1 if the extended verbs can be reached (every rdma-core since 17).
    pub extended: u8,
    /// 0.
    pub reserved0: [u8; 3],
    /// VBN_DRIVER_*: whose rules and vendor codes hold.
    pub driver: i32,
    /// What libibverbs' provider is called: "efa", "mlx5", "rxe", ...
    pub driver_name: [c_char; 32],
}

/// The objects of a context. "Closed" ones wait for their last user; "refused" ones could not be destroyed yet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_live_info {
    /// sizeof(vbn_live_info), set by the caller.
    pub struct_size: usize,
    /// Open vbn_pd handles.
    pub pd_open: u32,
    /// Closed, but regions or queue pairs are left in it.
    pub pd_closed: u32,
    /// Closed, but the driver refused to deallocate it.
    pub pd_refused: u32,
    /// Open vbn_mr handles.
    pub mr_open: u32,
    /// Open vbn_channel handles.
    pub channel_open: u32,
    /// Closed, but completion queues report to it.
    pub channel_closed: u32,
    /// Closed, but libibverbs refused to destroy it.
    pub channel_refused: u32,
    /// Open vbn_cq handles.
    pub cq_open: u32,
    /// Closed, but queue pairs complete to it.
    pub cq_closed: u32,
    /// Closed, but the driver refused to destroy it.
    pub cq_refused: u32,
    /// Open vbn_qp handles.
    pub qp_open: u32,
    /// Open vbn_peer handles.
    pub peer_open: u32,
    /// Open vbn_ah handles.
    pub ah_open: u32,
    /// Closed, but peers use it.
    pub ah_closed: u32,
    /// Closed, but the driver refused to destroy it.
    pub ah_refused: u32,
    /// EFA: `ibv_ah`s that handles and peers share, in use.
    pub ah_cached: u32,
    /// EFA: the same, kept though nobody uses them; see vbn_pd_trim_ahs.
    pub ah_idle: u32,
    /// Open vbn_srq handles.
    pub srq_open: u32,
    /// Closed, but queue pairs take from it.
    pub srq_closed: u32,
    /// Closed, but the driver refused to destroy it.
    pub srq_refused: u32,
    /// Open vbn_mw handles.
    pub mw_open: u32,
    /// Open vbn_td handles.
    pub td_open: u32,
    /// Closed, but parent domains use it.
    pub td_closed: u32,
    /// Closed, but the driver refused to deallocate it.
    pub td_refused: u32,
    /// Open vbn_dm handles.
    pub dm_open: u32,
    /// Closed, but regions are on it.
    pub dm_closed: u32,
    /// Closed, but the driver refused to free it.
    pub dm_refused: u32,
    /// Open vbn_flow handles.
    pub flow_open: u32,
    /// Open vbn_counters handles.
    pub counters_open: u32,
    /// Closed, but rules use them.
    pub counters_closed: u32,
    /// Closed, but the driver refused to destroy them.
    pub counters_refused: u32,
    /// 0.
    pub reserved0: u32,
}
cold_structs!(vbn_context_attr, vbn_context_info, vbn_live_info);

/// An open device.
pub struct Context {
    native: NonNull<ibv_context>,
    verbs: &'static Verbs,
    slot: &'static Slot<Context>,
    ownership: Ownership,
    user_data: u64,
    name: Name,
    device: ibv_device_attr,
    efa: Option<efa::Device>,
    /// Keeps the native context open where librdmacm has lent it.
    lent: Option<Devices>,
    /// What events can name.
    table: Lock<Table>,
}

// SAFETY: libibverbs' control calls are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

static SLAB: Slab<Context> = Slab::new();

impl Object for Context {
    const KIND: Kind = Kind::Context;
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(self)
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native.as_ptr(), || {
            // SAFETY: the context is ours and nothing of ours uses it any more.
            self.ret("ibv_close_device", || unsafe { (self.verbs.close_device)(self.native.as_ptr()) })
        })
    }

    fn forget(&self) {
        if let Some(devices) = &self.lent {
            devices.release();
        }
        // Another handle may be on a borrowed one, and share its address handles; those of this handle's PDs went with them.
        if !self.ownership.is_borrowed() {
            ah_cache::forget(self.native.as_ptr());
        }
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

/// Room in the table for an object that is about to be made; dropped unused, it is given back.
pub struct Room<'a> {
    table: &'a Lock<Table>,
}

impl<'a> Room<'a> {
    /// Asks for room in a table.
    pub fn on(table: &'a Lock<Table>) -> Result<Self> {
        table.lock().reserve()?;
        Ok(Room { table })
    }

    /// Makes the object known to events. Can't fail.
    pub fn insert(self, native: *const c_void, entry: Entry) {
        self.table.lock().insert(native, entry);
        std::mem::forget(self);
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.table.lock().unreserve();
    }
}

impl Context {
    /// Opens the device of that name, or with an empty name the first that can be opened.
    pub fn open(name: &[u8], attr: &vbn_context_attr) -> Result<&'static Slot<Context>> {
        fork::guard()?;
        let vacant = SLAB.take()?;
        let missing = Error::new(VBN_ERR_NOT_FOUND, Reason::NoSuchDevice).on(Name::new(name));
        let list =
            List::get()?.filter(|list| list.count() > 0).ok_or(missing.hint("vbn_device_list_reason tells why"))?;
        let mut last = missing.value(0, list.count() as u64).hint("vbn_device_list tells the names");
        for device in list.devices().filter(|device| name.is_empty() || device.name().bytes() == name) {
            // libibverbs would wait five seconds, and then say that the node is missing.
            if let Some(Err(errno @ (libc::EACCES | libc::EPERM))) = device.try_node() {
                last = open_error(errno).on(device.name());
                continue;
            }
            match device.open() {
                Ok(native) => return Self::own(vacant, list.verbs, native, attr.user_data),
                Err(errno) => last = open_error(errno).on(device.name()),
            }
        }
        Err(last)
    }

    /// Opens one device of a list.
    pub fn open_listed(list: &List, device: &Device<'_>) -> Result<&'static Slot<Context>> {
        let vacant = SLAB.take()?;
        // As in `open`.
        if let Some(Err(errno @ (libc::EACCES | libc::EPERM | libc::ENOENT))) = device.try_node() {
            return Err(open_error(errno).on(device.name()));
        }
        let native = device.open().map_err(|errno| open_error(errno).on(device.name()))?;
        Self::own(vacant, list.verbs, native, 0)
    }

    /// Makes a handle for what was opened here, or closes it again.
    fn own(
        vacant: Vacant<Context>,
        verbs: &'static Verbs,
        native: NonNull<ibv_context>,
        user_data: u64,
    ) -> Result<&'static Slot<Context>> {
        // SAFETY: just opened.
        let fd = unsafe { native.as_ref() }.async_fd;
        // Ours is non-blocking from birth, so that get_async_event can't hang when another thread takes the event.
        let ready = if fd < 0 { Ok(()) } else { os::set_nonblocking(fd).map_err(|errno| Error::call("fcntl", errno)) };
        ready.and_then(|()| Self::take_over(vacant, verbs, native, Ownership::Own, user_data, None)).inspect_err(|_| {
            // SAFETY: just opened, and nobody else knows it.
            unsafe { (verbs.close_device)(native.as_ptr()) };
        })
    }

    /// The context behind a descriptor, which stays the caller's.
    pub fn import(fd: c_int, attr: &vbn_context_attr) -> Result<&'static Slot<Context>> {
        if fd < 0 {
            return Err(Error::range_signed("fd", fd.into(), "an open descriptor of a device"));
        }
        fork::guard()?;
        let verbs = library::verbs()?;
        let import = verbs.import_device.ok_or(import::symbol("ibv_import_device"))?;
        let vacant = SLAB.take()?;
        // The context takes its descriptor with it when it is closed.
        let own = os::duplicate(fd).map_err(|errno| Error::call("dup", errno))?;
        os::set_errno(0);
        // SAFETY: it looks at the descriptor, whatever that is.
        let native = convert::pointer(unsafe { import(own) }, os::errno()).map_err(|errno| {
            os::close(own);
            match errno {
                libc::EINVAL | libc::ENODEV => Error::call("ibv_import_device", errno).hint(
                    "fd must be a descriptor that vbn_context_export gave, of a device that this process can see",
                ),
                _ => import::explain(Error::call("ibv_import_device", errno)),
            }
        })?;
        Self::own(vacant, verbs, native, attr.user_data)
    }

    /// Takes in a context that raw verbs opened. Its async fd stays as it is.
    pub fn adopt(native: *mut ibv_context, attr: &vbn_adopt_attr) -> Result<&'static Slot<Context>> {
        let (native, ownership) = adopt::check::<Context, _>(native, attr, 0)?;
        let verbs = library::verbs()?;
        same_library(verbs, native)?;
        fork::guard()?;
        Self::take_over(SLAB.take()?, verbs, native, ownership, attr.user_data, None)
    }

    /// A context of librdmacm's, which keeps it open while the devices are held.
    pub fn lent(native: NonNull<ibv_context>, user_data: u64, devices: Devices) -> Result<&'static Slot<Context>> {
        let verbs = library::verbs()?;
        same_library(verbs, native)?;
        fork::guard()?;
        Self::take_over(SLAB.take()?, verbs, native, Ownership::Borrow, user_data, Some(devices))
    }

    /// Whether it is one of librdmacm's.
    pub fn is_lent(&self) -> bool {
        self.lent.is_some()
    }

    /// Makes the handle. After a failure `native` is still the caller's.
    fn take_over(
        vacant: Vacant<Context>,
        verbs: &'static Verbs,
        native: NonNull<ibv_context>,
        ownership: Ownership,
        user_data: u64,
        lent: Option<Devices>,
    ) -> Result<&'static Slot<Context>> {
        // SAFETY: an open context has a device, which lives as long.
        let name = Name::new(unsafe { &(*native.as_ref().device).name }.map(|c| c as u8).as_slice());
        let slot = vacant.slot();
        let table = Lock::new(Table::empty());
        let efa = efa::Device::of(native)?;
        let device = Zeroed::zeroed();
        let mut context = Context { native, verbs, slot, ownership, user_data, name, device, efa, lent, table };
        let device = &raw mut context.device;
        // SAFETY: the context is open.
        context.ret("ibv_query_device", || unsafe { (verbs.query_device)(native.as_ptr(), device) })?;
        Ok(vacant.publish(context))
    }

    pub fn verbs(&self) -> &'static Verbs {
        self.verbs
    }

    pub fn native(&self) -> *mut ibv_context {
        self.native.as_ptr()
    }

    pub fn name(&self) -> Name {
        self.name
    }

    pub fn user_data(&self) -> u64 {
        self.user_data
    }

    pub fn slot(&self) -> &'static Slot<Context> {
        self.slot
    }

    /// The limits of the device, as they were when it was opened.
    pub fn device(&self) -> &ibv_device_attr {
        &self.device
    }

    /// What is special about it if it is an EFA.
    pub fn efa(&self) -> Option<&efa::Device> {
        self.efa.as_ref()
    }

    /// How many ports there are.
    pub fn ports(&self) -> u8 {
        self.device.phys_port_cnt
    }

    /// How many completion vectors there are.
    pub fn num_comp_vectors(&self) -> u32 {
        u32::try_from(self.content().num_comp_vectors).unwrap_or(0)
    }

    /// IBV_TRANSPORT_*.
    pub fn transport(&self) -> i32 {
        // SAFETY: an open context has a device, which lives as long.
        unsafe { (*self.content().device).transport_type }
    }

    pub fn content(&self) -> &ibv_context {
        // SAFETY: open as long as this object lives.
        unsafe { self.native.as_ref() }
    }

    fn async_fd(&self) -> c_int {
        self.content().async_fd
    }

    /// A call that returns 0 or an errno.
    pub fn ret(&self, function: &'static str, call: impl FnOnce() -> c_int) -> Result<()> {
        os::set_errno(0);
        let ret = call();
        convert::ret_errno(ret, os::errno()).map_err(|errno| self.failure(function, errno))
    }

    /// A call that returns NULL and sets errno.
    pub fn made<T>(&self, function: &'static str, call: impl FnOnce() -> *mut T) -> Result<NonNull<T>> {
        os::set_errno(0);
        let native = call();
        convert::pointer(native, os::errno()).map_err(|errno| self.failure(function, errno))
    }

    /// Whether the kernel has taken the device away; if so, every handle on it is told.
    pub fn is_gone(&self) -> bool {
        let mut attr = ibv_device_attr::zeroed();
        // SAFETY: the context is open.
        let ret = unsafe { (self.verbs.query_device)(self.native(), &mut attr) };
        let gone = matches!(convert::ret_errno(ret, os::errno()), Err(libc::EIO | libc::ENODEV));
        if gone {
            self.mark_gone();
        }
        gone
    }

    /// A failed call on the device. That the device is gone is told as such even if nobody has read the event yet.
    fn failure(&self, function: &'static str, errno: i32) -> Error {
        let error = Error::call(function, errno).on(self.name);
        if matches!(errno, libc::EIO | libc::ENODEV) && self.is_gone() {
            return Error { status: VBN_ERR_DEVICE_GONE, ..error }.hint("close all handles of the device");
        }
        error
    }

    /// A call that returns -1 and sets errno.
    pub fn minus1(&self, function: &'static str, call: impl FnOnce() -> c_int) -> Result<()> {
        os::set_errno(0);
        let ret = call();
        convert::minus1(ret, os::errno()).map(drop).map_err(|errno| self.failure(function, errno))
    }

    /// Checks a port number.
    pub fn check_port(&self, port: u32) -> Result<u8> {
        match u8::try_from(port) {
            Ok(0) => Err(Error::range("port_num", 0, "1 or more: ports are counted from 1").on(self.name)),
            Ok(number) if number <= self.ports() => Ok(number),
            _ => Err(Error::limit("port_num", port.into(), self.ports().into()).on(self.name)),
        }
    }

    /// The state of a port, as it is now.
    pub fn port(&self, port: u8) -> Result<ibv_port_attr> {
        self.check_port(port.into())?;
        let mut attr = ibv_port_attr::zeroed();
        // SAFETY: the context is open.
        self.ret("ibv_query_port", || unsafe { inline::query_port(self.verbs, self.native(), port, &mut attr) })?;
        Ok(attr)
    }

    /// Room for an object that events can name. Ask for it before the native object is made.
    pub fn reserve(&self) -> Result<Room<'_>> {
        Room::on(&self.table)
    }

    /// Forgets an object, unless its pointer is another handle's by now.
    pub fn unregister(&self, native: *const c_void, slot: *const ()) {
        self.table.lock().remove(native, slot);
    }

    /// What is known of an object that an event names. One that raw verbs destroyed may have left its address to another kind.
    pub fn find(&self, native: *const c_void, kind: i32) -> Option<Entry> {
        self.table.lock().find(native).filter(|entry| entry.kind == kind)
    }

    pub fn info(&self) -> vbn_context_info {
        let context = self.content();
        // SAFETY: an open context has a device, which lives as long.
        let device = unsafe { &*context.device };
        vbn_context_info {
            struct_size: size_of::<vbn_context_info>(),
            user_data: self.user_data,
            name: chars(self.name.bytes()),
            uverbs_name: device.dev_name,
            node_type: device.node_type,
            transport_type: device.transport_type,
            ownership: self.ownership.to_abi(),
            num_comp_vectors: self.num_comp_vectors(),
            async_fd: context.async_fd,
            fork_state: library::fork_state(),
            num_ports: self.ports().into(),
            uverbs_abi_version: super::device::uverbs_abi(device).unwrap_or(-1),
            extended: is_extended(context).into(),
            reserved0: [0; 3],
            driver: self.driver(),
            driver_name: chars(self.driver_name()),
        }
    }

    /// VBN_DRIVER_*.
    pub fn driver(&self) -> i32 {
        if self.efa.is_some() { VBN_DRIVER_EFA } else { explain::driver_of(self.driver_name()) }
    }

    /// What the provider's file is called, without what surrounds the name: lib...-rdmav34.so, lib....so.1.
    fn driver_name(&self) -> &'static [u8] {
        let poll = self.content().ops.poll_cq;
        // SAFETY: a provider stays loaded.
        let Some((_, path)) = poll.and_then(|poll| unsafe { dl::addr_object(poll as *const c_void) }) else {
            return b"";
        };
        let file = path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let name = file.strip_prefix(b"lib").unwrap_or(file);
        name.split(|byte| matches!(byte, b'-' | b'.')).next().unwrap_or_default()
    }

    pub fn query_device(&self) -> Result<vbn_device_attr> {
        let mut attr = ibv_device_attr_ex::zeroed();
        self.ret("ibv_query_device_ex", || {
            // SAFETY: the context is open.
            unsafe { inline::query_device_ex(self.verbs, self.native(), ptr::null(), &mut attr) }
        })?;
        Ok(flatten(&attr))
    }

    pub fn query_port(&self, port: u32) -> Result<vbn_port_attr> {
        let number = self.check_port(port)?;
        let native = self.port(number)?;
        let mut attr = port_attr(&native);
        if let Some(query) = self.verbs.query_port_speed {
            let mut speed = 0;
            // SAFETY: the context is open. Not every driver has this; then the field isn't valid.
            if unsafe { query(self.native(), port, &mut speed) } == 0 {
                attr.speed_100mbps = speed;
                attr.valid |= VBN_PORT_VALID_SPEED;
            }
        }
        Ok(attr)
    }

    pub fn query_gid(&self, port: u32, index: u32) -> Result<[u8; 16]> {
        let number = self.check_port(port)?;
        let length = u32::try_from(self.port(number)?.gid_tbl_len).unwrap_or(0);
        let index = self.check_index("gid index", index, length, "the port has no GID table")?;
        let mut gid = ibv_gid { raw: [0; 16] };
        // SAFETY: the context is open.
        self.minus1("ibv_query_gid", || unsafe { (self.verbs.query_gid)(self.native(), number, index, &mut gid) })?;
        // SAFETY: all bytes are a valid GID.
        Ok(unsafe { gid.raw })
    }

    /// A partition key in host byte order.
    pub fn query_pkey(&self, port: u32, index: u32) -> Result<u16> {
        let number = self.check_port(port)?;
        let length = self.port(number)?.pkey_tbl_len;
        let index = self.check_index("pkey index", index, length.into(), "the port has no partition keys")?;
        let mut pkey = 0;
        // SAFETY: the context is open.
        self.minus1("ibv_query_pkey", || unsafe { (self.verbs.query_pkey)(self.native(), number, index, &mut pkey) })?;
        Ok(u16::from_be(pkey))
    }

    fn check_index(&self, what: &'static str, index: u32, length: u32, empty: &'static str) -> Result<c_int> {
        if length == 0 {
            return Err(Error::text(VBN_ERR_NOT_SUPPORTED, empty).on(self.name));
        }
        match c_int::try_from(index) {
            Ok(index) if index.unsigned_abs() < length => Ok(index),
            _ => Err(Error::limit(what, index.into(), u64::from(length) - 1).on(self.name)),
        }
    }

    /// The next asynchronous event. `timeout_ns`: negative waits for ever, 0 not at all.
    pub fn get_async_event(&self, timeout_ns: i64) -> Result<vbn_async_event> {
        let fd = self.async_fd();
        if fd < 0 {
            return Err(Error::text(VBN_ERR_NOT_SUPPORTED, "the device reports no asynchronous events").on(self.name));
        }
        let mut event = ibv_async_event { element: ibv_async_event_element { port_num: 0 }, event_type: 0 };
        let taken = wait::for_value(fd, os::deadline(timeout_ns), || {
            os::set_errno(0);
            // SAFETY: the context is open.
            let ret = unsafe { (self.verbs.get_async_event)(self.native(), &mut event) };
            convert::minus1(ret, os::errno())
        });
        match taken {
            Ok(_) => Ok(self.take_event(&mut event)),
            Err(Ended::Timeout) => {
                Err(Error::text(VBN_ERR_TIMEOUT, "no asynchronous event came in the time given").on(self.name))
            }
            Err(Ended::Failed(None, errno @ (libc::EIO | libc::ENODEV))) => {
                // This is how the kernel says that the device has been taken away.
                self.mark_gone();
                let error = Error::call("ibv_get_async_event", errno).on(self.name);
                Err(Error { status: VBN_ERR_DEVICE_GONE, ..error }.hint("close all handles of the device"))
            }
            Err(Ended::Failed(call, errno)) => {
                Err(Error::call(call.unwrap_or("ibv_get_async_event"), errno).on(self.name))
            }
        }
    }

    /// Copies what is to be told, and acknowledges.
    fn take_event(&self, event: &mut ibv_async_event) -> vbn_async_event {
        let event_type = event.event_type as i32;
        let kind = element_of(event_type);
        let (native, number) = named(event, kind);
        // Before the acknowledgement: until then the object can't be destroyed and its address not be another's.
        let entry = if native.is_null() { None } else { self.find(native, kind) };
        // SAFETY: came from ibv_get_async_event just now.
        unsafe { (self.verbs.ack_async_event)(event) };
        if kind == VBN_ELEMENT_DEVICE {
            self.mark_gone();
        }
        let own = matches!(kind, VBN_ELEMENT_PORT | VBN_ELEMENT_DEVICE);
        vbn_async_event {
            struct_size: size_of::<vbn_async_event>(),
            r#type: event_type,
            kind,
            user_data: entry.map_or(if own { self.user_data } else { 0 }, |entry| entry.user_data),
            number,
            known: (own || entry.is_some()).into(),
            reserved0: [0; 3],
        }
    }

    /// From now on every handle on this device answers "gone", and its close doesn't insist on a destroy.
    pub fn mark_gone(&self) {
        Flow::slab().mark_gone(self.slot);
        Counters::slab().mark_gone(self.slot);
        Qp::slab().mark_gone(self.slot);
        Peer::slab().mark_gone(self.slot);
        Ah::slab().mark_gone(self.slot);
        Srq::slab().mark_gone(self.slot);
        Mw::slab().mark_gone(self.slot);
        MrSet::slab().mark_gone(self.slot);
        Mr::slab().mark_gone(self.slot);
        Cq::slab().mark_gone(self.slot);
        Channel::slab().mark_gone(self.slot);
        Pd::slab().mark_gone(self.slot);
        Td::slab().mark_gone(self.slot);
        Dm::slab().mark_gone(self.slot);
        SLAB.mark_gone(self.slot);
    }

    /// What there is on this context.
    pub fn live(&self) -> vbn_live_info {
        let pd = Pd::slab().live(self.slot);
        let channel = Channel::slab().live(self.slot);
        let cq = Cq::slab().live(self.slot);
        let ah = Ah::slab().live(self.slot);
        let srq = Srq::slab().live(self.slot);
        let td = Td::slab().live(self.slot);
        let dm = Dm::slab().live(self.slot);
        let counters = Counters::slab().live(self.slot);
        let (ah_cached, ah_idle) = ah_cache::count(self);
        vbn_live_info {
            struct_size: size_of::<vbn_live_info>(),
            pd_open: pd.0,
            pd_closed: pd.1,
            pd_refused: pd.2,
            mr_open: Mr::slab().live(self.slot).0,
            channel_open: channel.0,
            channel_closed: channel.1,
            channel_refused: channel.2,
            cq_open: cq.0,
            cq_closed: cq.1,
            cq_refused: cq.2,
            qp_open: Qp::slab().live(self.slot).0,
            peer_open: Peer::slab().live(self.slot).0,
            ah_open: ah.0,
            ah_closed: ah.1,
            ah_refused: ah.2,
            ah_cached,
            ah_idle,
            srq_open: srq.0,
            srq_closed: srq.1,
            srq_refused: srq.2,
            mw_open: Mw::slab().live(self.slot).0,
            td_open: td.0,
            td_closed: td.1,
            td_refused: td.2,
            dm_open: dm.0,
            dm_closed: dm.1,
            dm_refused: dm.2,
            flow_open: Flow::slab().live(self.slot).0,
            counters_open: counters.0,
            counters_closed: counters.1,
            counters_refused: counters.2,
            reserved0: 0,
        }
    }
}

/// The object that an event names: its address, if it is an object, and its number.
fn named(event: &ibv_async_event, kind: i32) -> (*const c_void, u32) {
    // SAFETY: the kind says which field libibverbs filled in, and the object lives until the acknowledgement.
    unsafe {
        match kind {
            VBN_ELEMENT_CQ => (event.element.cq.cast(), event.element.cq.as_ref().map_or(0, |cq| cq.handle)),
            VBN_ELEMENT_QP => (event.element.qp.cast(), event.element.qp.as_ref().map_or(0, |qp| qp.qp_num)),
            VBN_ELEMENT_SRQ => (event.element.srq.cast(), event.element.srq.as_ref().map_or(0, |srq| srq.handle)),
            VBN_ELEMENT_WQ => (event.element.wq.cast(), 0),
            VBN_ELEMENT_PORT => (ptr::null(), event.element.port_num.unsigned_abs()),
            _ => (ptr::null(), 0),
        }
    }
}

/// Why a device could not be opened.
fn open_error(errno: i32) -> Error {
    let error = Error::call("ibv_open_device", errno);
    match error.errno {
        libc::EACCES | libc::EPERM => error.hint("give this user access to /dev/infiniband/uverbs*"),
        libc::ENOENT => error.hint("its node in /dev/infiniband is missing; in a container it must be passed in"),
        _ => error,
    }
}

fn is_extended(context: &ibv_context) -> bool {
    context.abi_compat as usize == __VERBS_ABI_IS_EXTENDED
}

/// A second copy of libibverbs has its own locks, lists and layouts behind a context, so ours must not touch it.
/// Every libibverbs puts functions of its own into two of the context's operations.
fn same_library(verbs: &Verbs, native: NonNull<ibv_context>) -> Result<()> {
    // SAFETY: the caller says that this is an open context.
    let context = unsafe { native.as_ref() };
    let foreign = Error::text(VBN_ERR_ARGUMENT, "the ibv_context was not opened by the libibverbs in use");
    let Some(theirs) = context.ops._compat_query_port.filter(|_| is_extended(context)) else {
        return Err(foreign.hint("open it with ibv_open_device of rdma-core 33 or newer"));
    };
    // SAFETY: neither library is unloaded while one of its contexts is open.
    let (ours, theirs) =
        unsafe { (dl::addr_object(verbs.open_device as *const c_void), dl::addr_object(theirs as *const c_void)) };
    match (ours, theirs) {
        (Some((base, _)), Some((other, _))) if base == other => Ok(()),
        (_, Some((_, path))) => Err(foreign
            .on(Name::new(tail(path.to_bytes())))
            .hint("pass the handle of the copy that opened it to vbn_library_init before anything else")),
        _ => Err(foreign),
    }
}
