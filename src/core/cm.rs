// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection manager's event channels.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cm_event::vbn_cm_event;
use super::cm_id::CmId;
use super::cm_library;
use super::cold::cold_structs;
use super::context::{Context, Room};
use super::error::{Error, Result};
use super::fork;
use super::lock::Lock;
use super::slab::{Kind, Object, Ref, Slab, Slot, Vacant};
use super::status::*;
use super::table::{Entry, Table};
use super::wait::{self, Ended};
use crate::sys::ibv::ibv_context;
use crate::sys::rdmacm::*;
use crate::sys::{convert, os};

/// What `vbn_cm_channel_create` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cm_channel_attr {
    /// sizeof(vbn_cm_channel_attr).
    pub struct_size: usize,
    /// Comes back in queries.
    pub user_data: u64,
}

/// What `vbn_cm_channel_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cm_channel_info {
    /// sizeof(vbn_cm_channel_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// Becomes readable when there is an event. For poll, epoll and the like; don't read from it and don't close it.
    pub fd: i32,
    /// Ids whose events come in here, those closed but still used by their queue pair included.
    pub id_count: u32,
}
cold_structs!(vbn_cm_channel_attr, vbn_cm_channel_info);

/// An event channel.
pub struct CmChannel {
    native: NonNull<rdma_event_channel>,
    functions: &'static RdmaCm,
    ownership: Ownership,
    fd: i32,
    user_data: u64,
    /// The ids that events can name.
    table: Lock<Table>,
}

// SAFETY: librdmacm's calls on a channel are thread-safe, and the pointer is used for nothing else.
unsafe impl Send for CmChannel {}
// SAFETY: as above.
unsafe impl Sync for CmChannel {}

static SLAB: Slab<CmChannel> = Slab::new();

impl Object for CmChannel {
    const KIND: Kind = Kind::CmChannel;
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    /// It is no device's.
    fn context(&self) -> Option<&Context> {
        None
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native.as_ptr(), || {
            // SAFETY: the channel is ours, and no id of ours reports to it any more.
            unsafe { (self.functions.destroy_event_channel)(self.native.as_ptr()) };
            Ok(())
        })
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl CmChannel {
    pub fn create(attr: &vbn_cm_channel_attr) -> Result<&'static Slot<CmChannel>> {
        let functions = cm_library::functions()?;
        fork::guard()?;
        let vacant = SLAB.take()?;
        os::set_errno(0);
        // SAFETY: takes nothing.
        let native = unsafe { (functions.create_event_channel)() };
        let native = convert::pointer(native, os::errno()).map_err(no_channel)?;
        // SAFETY: librdmacm has just made it.
        let fd = unsafe { native.as_ref() }.fd;
        let table = Lock::new(Table::empty());
        let channel = CmChannel { native, functions, ownership: Ownership::Own, fd, user_data: attr.user_data, table };
        if let Err(errno) = os::set_nonblocking(fd) {
            let _ = channel.destroy();
            return Err(Error::call("fcntl(O_NONBLOCK)", errno));
        }
        Ok(vacant.publish(channel))
    }

    /// Takes in a channel made by raw librdmacm. Its file descriptor stays as it is.
    pub fn adopt(native: *mut rdma_event_channel, attr: &vbn_adopt_attr) -> Result<&'static Slot<CmChannel>> {
        let (native, ownership) = adopt::check::<CmChannel, _>(native, attr, 0)?;
        let functions = cm_library::functions()?;
        fork::guard()?;
        // SAFETY: the caller says that this is a live rdma_event_channel.
        let fd = unsafe { native.as_ref() }.fd;
        let table = Lock::new(Table::empty());
        Ok(SLAB.take()?.publish(CmChannel { native, functions, ownership, fd, user_data: attr.user_data, table }))
    }

    pub fn functions(&self) -> &'static RdmaCm {
        self.functions
    }

    pub fn native(&self) -> *mut rdma_event_channel {
        self.native.as_ptr()
    }

    pub fn fd(&self) -> i32 {
        self.fd
    }

    pub fn info(&self) -> vbn_cm_channel_info {
        vbn_cm_channel_info {
            struct_size: size_of::<vbn_cm_channel_info>(),
            user_data: self.user_data,
            fd: self.fd,
            id_count: self.id_count() as u32,
        }
    }

    /// How many ids report here.
    pub fn id_count(&self) -> usize {
        self.table.lock().count()
    }

    /// Room for an id in the table. Ask for it before the native one is made.
    pub fn reserve(&self) -> Result<Room<'_>> {
        Room::on(&self.table)
    }

    /// Forgets an id.
    pub fn unregister(&self, native: *const c_void, slot: *const ()) {
        self.table.lock().remove(native, slot);
    }

    /// The user_data of an id.
    pub fn user_data_of(&self, native: *const c_void) -> u64 {
        self.table.lock().find(native).map_or(0, |entry| entry.user_data)
    }

    pub fn set_user_data_of(&self, native: *const c_void, user_data: u64) {
        self.table.lock().set_user_data(native, user_data);
    }

    fn find(&self, native: *const rdma_cm_id) -> Option<Entry> {
        self.table.lock().find(native.cast())
    }

    /// Waits until `deadline` (of `os::deadline`) for an event, takes it off the channel and acknowledges it. A connection request
    /// comes with the new id's handle.
    pub fn next_event(
        channel: &Ref<Self>,
        deadline: Option<i64>,
    ) -> Result<(vbn_cm_event, Option<&'static Slot<CmId>>)> {
        // Before anything is read, so that a lack of memory costs no event.
        let mut place = Some((CmId::slab().take()?, channel.reserve()?));
        wait::for_value(channel.fd, deadline, || Self::take_event(channel, &mut place)).map_err(|ended| match ended {
            Ended::Timeout => Error::text(VBN_ERR_TIMEOUT, "no connection manager event came in the time given"),
            Ended::Failed(Some(call), errno) => Error::call(call, errno),
            Ended::Failed(None, errno) => {
                let error = Error::call("rdma_get_cm_event", errno);
                if errno == libc::EBADF {
                    error.hint("the channel's descriptor was closed by other code")
                } else {
                    error
                }
            }
        })
    }

    /// One event off the channel, or an errno.
    fn take_event<'a>(
        channel: &'a Ref<Self>,
        place: &mut Option<(Vacant<CmId>, Room<'a>)>,
    ) -> std::result::Result<(vbn_cm_event, Option<&'static Slot<CmId>>), i32> {
        let mut raw: *mut rdma_cm_event = ptr::null_mut();
        os::set_errno(0);
        // SAFETY: the channel is live and the variable is ours.
        let ret = unsafe { (channel.functions.get_cm_event)(channel.native(), &mut raw) };
        convert::minus1(ret, os::errno())?;
        // SAFETY: librdmacm has just given it, until it is acknowledged.
        let native = unsafe { &*raw };
        // SAFETY: as above.
        let mut event = unsafe { vbn_cm_event::copy(native) };
        let is_request = native.event == RDMA_CM_EVENT_CONNECT_REQUEST;
        // An id can't be destroyed before its event is acknowledged. Its context may be anybody's, so it is looked up by its address.
        let of = if is_request { native.listen_id } else { native.id };
        if let Some(entry) = channel.find(of) {
            event.user_data = entry.user_data;
            event.known = 1;
        }
        let new = match (NonNull::new(native.id), place) {
            (Some(id), place) if is_request => {
                place.take().map(|(vacant, room)| CmId::of_request(vacant, room, channel, id))
            }
            _ => None,
        };
        // SAFETY: read above, and not acknowledged yet. It fails for NULL only.
        unsafe { (channel.functions.ack_cm_event)(raw) };
        Ok((event, new))
    }
}

/// Keeps what librdmacm opens open: it closes a device that the kernel has removed with its last user.
#[derive(Clone, Copy)]
pub struct Devices {
    list: NonNull<*mut ibv_context>,
    functions: &'static RdmaCm,
}

// SAFETY: the list is librdmacm's, which takes it back from any thread.
unsafe impl Send for Devices {}
// SAFETY: as above.
unsafe impl Sync for Devices {}

impl Devices {
    /// All devices, if `wanted` is one of them. Opens those that aren't yet.
    pub fn hold(functions: &'static RdmaCm, wanted: NonNull<ibv_context>) -> Result<Self> {
        let mut count = 0;
        os::set_errno(0);
        // SAFETY: the variable is ours.
        let list = unsafe { (functions.get_devices)(&mut count) };
        let list = convert::pointer(list, os::errno()).map_err(|errno| Error::call("rdma_get_devices", errno))?;
        let devices = Self { list, functions };
        // SAFETY: so many pointers are in it.
        let all = unsafe { std::slice::from_raw_parts(list.as_ptr(), usize::try_from(count).unwrap_or(0)) };
        if all.contains(&wanted.as_ptr()) {
            return Ok(devices);
        }
        devices.release();
        Err(Error::text(VBN_ERR_DEVICE_GONE, "librdmacm no longer lists the device")
            .hint("close everything that is on it"))
    }

    /// Ends the hold. Once only; in a forked child not at all, where librdmacm's lock may be held for ever.
    pub fn release(&self) {
        // SAFETY: it came from rdma_get_devices.
        unsafe { (self.functions.free_devices)(self.list.as_ptr()) };
    }
}

/// Why there is no channel.
fn no_channel(errno: i32) -> Error {
    let error = Error::call("rdma_create_event_channel", errno);
    match error.errno {
        libc::ENOENT | libc::ENODEV | libc::ENXIO => Error { status: VBN_ERR_NOT_SUPPORTED, ..error }.hint(
            "there is no RDMA device, or the kernel's connection manager is missing (module rdma_ucm; in a container \
                 /dev/infiniband/rdma_cm)",
        ),
        libc::ENOSYS => error.hint("the kernel has no RDMA: load rdma_ucm and a device's driver"),
        libc::EACCES | libc::EPERM => error.hint("give this user access to /dev/infiniband/rdma_cm"),
        _ => error,
    }
}
