// SPDX-License-Identifier: MIT OR Apache-2.0
//! An open device.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use super::adopt::{Ownership, vbn_adopt_attr};
use super::channel::Channel;
use super::cold::cold_structs;
use super::cq::Cq;
use super::device::List;
use super::error::{Error, Reason, Result};
use super::event::*;
use super::fork;
use super::library::{self, chars, tail};
use super::lock::Lock;
use super::mr::Mr;
use super::pd::Pd;
use super::qp::Qp;
use super::slab::{Kind, Object, Slab, Slot, Vacant};
use super::status::*;
use super::table::{Entry, Table};
use super::text::Name;
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

/// `vbn_context_info.ownership`: the context is destroyed with the handle.
pub const VBN_CONTEXT_OWNED: i32 = 0;
/// `vbn_context_info.ownership`: the context was adopted and stays its maker's.
pub const VBN_CONTEXT_BORROWED: i32 = 1;
/// `vbn_context_info.ownership`: the context was adopted with a destroy function of its own.
pub const VBN_CONTEXT_CUSTOM: i32 = 2;

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
    /// VBN_CONTEXT_OWNED, VBN_CONTEXT_BORROWED or VBN_CONTEXT_CUSTOM.
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
    pub reserved0: [u8; 7],
}

/// What a device can do: `ibv_device_attr_ex`, flattened, in host byte order.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_device_attr {
    /// sizeof(vbn_device_attr), set by the caller.
    pub struct_size: usize,
    /// Firmware version.
    pub fw_ver: [c_char; 64],
    /// Number of the node, in host byte order.
    pub node_guid: u64,
    /// Number of the system image, in host byte order.
    pub sys_image_guid: u64,
    /// Largest memory region.
    pub max_mr_size: u64,
    /// Page sizes that can be used, a bit each.
    pub page_size_cap: u64,
    /// Vendor.
    pub vendor_id: u32,
    /// Vendor's number of the part.
    pub vendor_part_id: u32,
    /// Hardware version.
    pub hw_ver: u32,
    /// IBV_DEVICE_* of libibverbs.
    pub device_cap_flags: u32,
    /// Queue pairs.
    pub max_qp: i32,
    /// Requests on a send or receive queue.
    pub max_qp_wr: i32,
    /// Segments of a request.
    pub max_sge: i32,
    /// Segments of a READ.
    pub max_sge_rd: i32,
    /// Completion queues.
    pub max_cq: i32,
    /// Entries of a completion queue.
    pub max_cqe: i32,
    /// Memory regions.
    pub max_mr: i32,
    /// Protection domains.
    pub max_pd: i32,
    /// READs and atomics that a QP can serve at once.
    pub max_qp_rd_atom: i32,
    /// The same for an end-to-end context.
    pub max_ee_rd_atom: i32,
    /// READs and atomics that the device can serve at once.
    pub max_res_rd_atom: i32,
    /// READs and atomics that a QP can have under way.
    pub max_qp_init_rd_atom: i32,
    /// The same for an end-to-end context.
    pub max_ee_init_rd_atom: i32,
    /// 0 none, 1 atomic among this device's QPs, 2 atomic with the CPU too.
    pub atomic_cap: i32,
    /// End-to-end contexts.
    pub max_ee: i32,
    /// Reliable datagram domains.
    pub max_rdd: i32,
    /// Memory windows.
    pub max_mw: i32,
    /// Raw IPv6 QPs.
    pub max_raw_ipv6_qp: i32,
    /// Raw Ethertype QPs.
    pub max_raw_ethy_qp: i32,
    /// Multicast groups.
    pub max_mcast_grp: i32,
    /// QPs in a multicast group.
    pub max_mcast_qp_attach: i32,
    /// QPs in all multicast groups.
    pub max_total_mcast_qp_attach: i32,
    /// Address handles.
    pub max_ah: i32,
    /// Fast memory regions (obsolete).
    pub max_fmr: i32,
    /// Remaps of a fast memory region (obsolete).
    pub max_map_per_fmr: i32,
    /// Shared receive queues.
    pub max_srq: i32,
    /// Requests on a shared receive queue.
    pub max_srq_wr: i32,
    /// Segments of a request on a shared receive queue.
    pub max_srq_sge: i32,
    /// Partition keys of a port.
    pub max_pkeys: u16,
    /// How long the device may take to acknowledge: 4.096 us * 2^n.
    pub local_ca_ack_delay: u8,
    /// Ports, as an 8-bit number; see `phys_port_cnt_ex`.
    pub phys_port_cnt: u8,
    /// 1 if the driver filled in any of the fields below.
    pub has_extended: u8,
    /// RSS: hash functions, a bit each.
    pub rss_rx_hash_function: u8,
    /// 0.
    pub reserved0: [u8; 6],
    /// On-demand paging: IBV_ODP_SUPPORT and so on.
    pub odp_general_caps: u64,
    /// On-demand paging with RC.
    pub odp_rc_caps: u32,
    /// On-demand paging with UC.
    pub odp_uc_caps: u32,
    /// On-demand paging with UD.
    pub odp_ud_caps: u32,
    /// On-demand paging with XRC.
    pub odp_xrc_caps: u32,
    /// Bits of a completion timestamp that count; 0: none.
    pub completion_timestamp_mask: u64,
    /// Clock of the timestamps in kHz.
    pub hca_core_clock: u64,
    /// IBV_DEVICE_* of libibverbs, 64 bits of them.
    pub device_cap_flags_ex: u64,
    /// Segmentation offload: largest message.
    pub tso_max: u32,
    /// Segmentation offload: QP types, a bit each.
    pub tso_supported_qpts: u32,
    /// RSS: hash fields, a bit each.
    pub rss_rx_hash_fields_mask: u64,
    /// RSS: QP types, a bit each.
    pub rss_supported_qpts: u32,
    /// RSS: indirection tables.
    pub rss_max_rwq_indirection_tables: u32,
    /// RSS: entries of an indirection table.
    pub rss_max_rwq_indirection_table_size: u32,
    /// Receive work queues.
    pub max_wq_type_rq: u32,
    /// Rate limit: lowest, in kbit/s.
    pub rate_limit_min: u32,
    /// Rate limit: highest, in kbit/s.
    pub rate_limit_max: u32,
    /// Rate limit: QP types, a bit each.
    pub rate_limit_supported_qpts: u32,
    /// IBV_RAW_PACKET_CAP_* of libibverbs.
    pub raw_packet_caps: u32,
    /// Tag matching: largest rendezvous header.
    pub tm_max_rndv_hdr_size: u32,
    /// Tag matching: tags.
    pub tm_max_num_tags: u32,
    /// Tag matching: flags.
    pub tm_flags: u32,
    /// Tag matching: operations under way.
    pub tm_max_ops: u32,
    /// Tag matching: segments.
    pub tm_max_sge: u32,
    /// Completion moderation: completions for one event.
    pub cq_moderation_max_count: u16,
    /// Completion moderation: microseconds.
    pub cq_moderation_max_period: u16,
    /// Bytes of device memory.
    pub max_dm_size: u64,
    /// PCI atomics: fetch and add, sizes.
    pub pci_atomic_fetch_add: u16,
    /// PCI atomics: swap, sizes.
    pub pci_atomic_swap: u16,
    /// PCI atomics: compare and swap, sizes.
    pub pci_atomic_compare_swap: u16,
    /// 0.
    pub reserved1: u16,
    /// Ports.
    pub phys_port_cnt_ex: u32,
    /// 0.
    pub reserved2: u32,
}

/// `vbn_port_attr.valid`: `port_cap_flags2` says something.
pub const VBN_PORT_VALID_CAP_FLAGS2: u64 = 1;
/// `vbn_port_attr.valid`: `active_speed_ex` says something, and `active_speed` is only the part of it that fits 8 bits.
pub const VBN_PORT_VALID_SPEED_EX: u64 = 2;
/// `vbn_port_attr.valid`: `speed_100mbps` says something.
pub const VBN_PORT_VALID_SPEED: u64 = 4;

/// State of a port: `ibv_port_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_port_attr {
    /// sizeof(vbn_port_attr), set by the caller.
    pub struct_size: usize,
    /// VBN_PORT_VALID_*: which of the fields that not every library and device has are filled in.
    pub valid: u64,
    /// VBN_PORT_*: libibverbs' numbers.
    pub state: i32,
    /// VBN_MTU_*: libibverbs' numbers.
    pub max_mtu: i32,
    /// VBN_MTU_*: libibverbs' numbers.
    pub active_mtu: i32,
    /// VBN_LINK_LAYER_*: libibverbs' numbers.
    pub link_layer: i32,
    /// Entries of the GID table, empty ones included.
    pub gid_tbl_len: i32,
    /// IBV_PORT_* capability bits of libibverbs.
    pub port_cap_flags: u32,
    /// Largest message.
    pub max_msg_sz: u32,
    /// Count of bad partition keys.
    pub bad_pkey_cntr: u32,
    /// Count of Q_Key violations.
    pub qkey_viol_cntr: u32,
    /// The link's speed as IBV_SPEED_* bits, wider than `active_speed`.
    pub active_speed_ex: u32,
    /// Speed of the port in units of 100 Mbit/s.
    pub speed_100mbps: u64,
    /// Entries of the partition key table.
    pub pkey_tbl_len: u16,
    /// Local identifier; 0 on Ethernet.
    pub lid: u16,
    /// Local identifier of the subnet manager.
    pub sm_lid: u16,
    /// Second set of capability bits.
    pub port_cap_flags2: u16,
    /// Number of low LID bits that choose a path.
    pub lmc: u8,
    /// Virtual lanes.
    pub max_vl_num: u8,
    /// Service level of the subnet manager.
    pub sm_sl: u8,
    /// Subnet propagation delay: 4.096 us * 2^n.
    pub subnet_timeout: u8,
    /// What the subnet manager did at start.
    pub init_type_reply: u8,
    /// Lanes: 1 is 1, 2 is 4, 4 is 8, 8 is 12, 16 is 2.
    pub active_width: u8,
    /// Speed of a lane.
    pub active_speed: u8,
    /// Physical state.
    pub phys_state: u8,
    /// Bit 0: every address needs a GRH.
    pub flags: u8,
    /// 0.
    pub reserved0: [u8; 7],
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
    /// 0.
    pub reserved0: u32,
}
cold_structs!(vbn_context_attr, vbn_context_info, vbn_device_attr, vbn_port_attr, vbn_live_info);

/// An open device.
pub struct Context {
    native: NonNull<ibv_context>,
    verbs: &'static Verbs,
    slot: &'static Slot<Context>,
    ownership: Ownership,
    user_data: u64,
    name: Name,
    device: ibv_device_attr,
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

    fn context(&self) -> *const Slot<Context> {
        self.slot
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native.as_ptr(), || {
            // SAFETY: the context is ours and nothing of ours uses it any more.
            self.ret("ibv_close_device", || unsafe { (self.verbs.close_device)(self.native.as_ptr()) })
        })
    }
}

/// Room in the table for an object that is about to be made; dropped unused, it is given back.
pub struct Room<'a> {
    table: &'a Lock<Table>,
}

impl Room<'_> {
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
        let list = List::get()?.filter(|list| list.count() > 0).ok_or(
            Error::text(VBN_ERR_NOT_FOUND, "there is no RDMA device").hint("vbn_device_list_reason tells why"),
        )?;
        let mut last = Error::text(VBN_ERR_NOT_FOUND, "no RDMA device has the name asked for; the search failed")
            .value(0, list.count() as u64)
            .on(Name::new(name))
            .hint("vbn_device_list tells the names");
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
        ready.and_then(|()| Self::take_over(vacant, verbs, native, Ownership::Own, user_data)).inspect_err(|_| {
            // SAFETY: just opened, and nobody else knows it.
            unsafe { (verbs.close_device)(native.as_ptr()) };
        })
    }

    /// Takes in a context that raw verbs opened. Its async fd stays as it is.
    pub fn adopt(native: *mut ibv_context, attr: &vbn_adopt_attr) -> Result<&'static Slot<Context>> {
        let native = NonNull::new(native).ok_or(Error::argument(Reason::Null("native")))?;
        let ownership = Ownership::from_attr(attr)?;
        let verbs = library::verbs()?;
        same_library(verbs, native)?;
        fork::guard()?;
        Self::take_over(SLAB.take()?, verbs, native, ownership, attr.user_data)
    }

    /// Makes the handle. After a failure `native` is still the caller's.
    fn take_over(
        vacant: Vacant<Context>,
        verbs: &'static Verbs,
        native: NonNull<ibv_context>,
        ownership: Ownership,
        user_data: u64,
    ) -> Result<&'static Slot<Context>> {
        // SAFETY: an open context has a device, which lives as long.
        let name = Name::new(unsafe { &(*native.as_ref().device).name }.map(|c| c as u8).as_slice());
        let slot = vacant.slot();
        let table = Lock::new(Table::empty());
        let mut context = Context { native, verbs, slot, ownership, user_data, name, device: Zeroed::zeroed(), table };
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

    /// The limits of the device, as they were when it was opened.
    pub fn device(&self) -> &ibv_device_attr {
        &self.device
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
        convert::ret_errno(ret, os::errno()).map_err(|errno| Error::call(function, errno).on(self.name))
    }

    /// A call that returns -1 and sets errno.
    fn minus1(&self, function: &'static str, call: impl FnOnce() -> c_int) -> Result<()> {
        os::set_errno(0);
        let ret = call();
        convert::minus1(ret, os::errno()).map(drop).map_err(|errno| Error::call(function, errno).on(self.name))
    }

    /// Checks a port number.
    pub fn check_port(&self, port: u32) -> Result<u8> {
        match u8::try_from(port) {
            Ok(0) => Err(Error::range("port", 0, "1 or more: ports are counted from 1").on(self.name)),
            Ok(number) if number <= self.ports() => Ok(number),
            _ => Err(Error::limit("port", port.into(), self.ports().into()).on(self.name)),
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
        self.table.lock().reserve()?;
        Ok(Room { table: &self.table })
    }

    /// `reserve` and `insert` in one, for objects that exist already.
    pub fn register(&self, native: *const c_void, entry: Entry) -> Result<()> {
        self.reserve()?.insert(native, entry);
        Ok(())
    }

    /// Forgets an object, unless its pointer is another handle's by now.
    pub fn unregister(&self, native: *const c_void, slot: *const ()) {
        self.table.lock().remove(native, slot);
    }

    pub fn find(&self, native: *const c_void) -> Option<Entry> {
        self.table.lock().find(native)
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
            ownership: match self.ownership {
                Ownership::Own => VBN_CONTEXT_OWNED,
                Ownership::Borrow => VBN_CONTEXT_BORROWED,
                Ownership::Custom(..) => VBN_CONTEXT_CUSTOM,
            },
            num_comp_vectors: self.num_comp_vectors(),
            async_fd: context.async_fd,
            fork_state: library::fork_state(),
            num_ports: self.ports().into(),
            uverbs_abi_version: super::device::uverbs_abi(device).unwrap_or(-1),
            extended: is_extended(context).into(),
            reserved0: [0; 7],
        }
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
        let deadline = os::deadline(timeout_ns);
        loop {
            let ready = os::poll_readable(fd, deadline).map_err(|errno| Error::call("poll", errno).on(self.name))?;
            if !ready {
                return Err(Error::text(VBN_ERR_TIMEOUT, "no asynchronous event came in the time given").on(self.name));
            }
            let mut event = ibv_async_event { element: ibv_async_event_element { port_num: 0 }, event_type: 0 };
            let read = self.minus1("ibv_get_async_event", || {
                // SAFETY: the context is open.
                unsafe { (self.verbs.get_async_event)(self.native(), &mut event) }
            });
            match read {
                Ok(()) => return Ok(self.take_event(&mut event)),
                // Another thread was quicker, or a signal came.
                Err(error) if matches!(error.errno, libc::EAGAIN | libc::EINTR) => {}
                // This is how the kernel says that the device has been taken away.
                Err(error) if error.errno == libc::EIO => {
                    self.mark_gone();
                    return Err(Error { status: VBN_ERR_DEVICE_GONE, ..error }.hint("close all handles of the device"));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Copies what is to be told, and acknowledges.
    fn take_event(&self, event: &mut ibv_async_event) -> vbn_async_event {
        let event_type = event.event_type as i32;
        let element = element_of(event_type);
        let (native, number) = named(event, element);
        // Before the acknowledgement: until then the object can't be destroyed and its address not be another's.
        let entry = if native.is_null() { None } else { self.find(native) };
        // SAFETY: came from ibv_get_async_event just now.
        unsafe { (self.verbs.ack_async_event)(event) };
        if element == VBN_ELEMENT_DEVICE {
            self.mark_gone();
        }
        let own = matches!(element, VBN_ELEMENT_PORT | VBN_ELEMENT_DEVICE);
        vbn_async_event {
            struct_size: size_of::<vbn_async_event>(),
            r#type: event_type,
            element,
            user_data: entry.map_or(if own { self.user_data } else { 0 }, |entry| entry.user_data),
            number,
            known: (own || entry.is_some()).into(),
            reserved0: [0; 3],
        }
    }

    /// From now on every handle on this device answers "gone", and its close doesn't insist on a destroy.
    fn mark_gone(&self) {
        Qp::slab().mark_gone(self.slot);
        Mr::slab().mark_gone(self.slot);
        Cq::slab().mark_gone(self.slot);
        Channel::slab().mark_gone(self.slot);
        Pd::slab().mark_gone(self.slot);
        SLAB.mark_gone(self.slot);
    }

    /// What there is on this context.
    pub fn live(&self) -> vbn_live_info {
        let pd = Pd::slab().live(self.slot);
        let channel = Channel::slab().live(self.slot);
        let cq = Cq::slab().live(self.slot);
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
            reserved0: 0,
        }
    }
}

/// The object that an event names: its address, if it is an object, and its number.
fn named(event: &ibv_async_event, element: i32) -> (*const c_void, u32) {
    // SAFETY: the element says which field libibverbs filled in, and the object lives until the acknowledgement.
    unsafe {
        match element {
            VBN_ELEMENT_CQ => (event.element.cq.cast(), event.element.cq.as_ref().map_or(0, |cq| cq.handle)),
            VBN_ELEMENT_QP => (event.element.qp.cast(), event.element.qp.as_ref().map_or(0, |qp| qp.qp_num)),
            VBN_ELEMENT_SRQ => (event.element.srq.cast(), event.element.srq.as_ref().map_or(0, |srq| srq.handle)),
            VBN_ELEMENT_WQ => (event.element.wq.cast(), 0),
            _ => (ptr::null(), event.element.port_num.unsigned_abs()),
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

fn flatten(attr: &ibv_device_attr_ex) -> vbn_device_attr {
    let a = &attr.orig_attr;
    let mut flat = vbn_device_attr {
        struct_size: size_of::<vbn_device_attr>(),
        fw_ver: a.fw_ver,
        node_guid: u64::from_be(a.node_guid),
        sys_image_guid: u64::from_be(a.sys_image_guid),
        max_mr_size: a.max_mr_size,
        page_size_cap: a.page_size_cap,
        vendor_id: a.vendor_id,
        vendor_part_id: a.vendor_part_id,
        hw_ver: a.hw_ver,
        device_cap_flags: a.device_cap_flags,
        max_qp: a.max_qp,
        max_qp_wr: a.max_qp_wr,
        max_sge: a.max_sge,
        max_sge_rd: a.max_sge_rd,
        max_cq: a.max_cq,
        max_cqe: a.max_cqe,
        max_mr: a.max_mr,
        max_pd: a.max_pd,
        max_qp_rd_atom: a.max_qp_rd_atom,
        max_ee_rd_atom: a.max_ee_rd_atom,
        max_res_rd_atom: a.max_res_rd_atom,
        max_qp_init_rd_atom: a.max_qp_init_rd_atom,
        max_ee_init_rd_atom: a.max_ee_init_rd_atom,
        atomic_cap: a.atomic_cap as i32,
        max_ee: a.max_ee,
        max_rdd: a.max_rdd,
        max_mw: a.max_mw,
        max_raw_ipv6_qp: a.max_raw_ipv6_qp,
        max_raw_ethy_qp: a.max_raw_ethy_qp,
        max_mcast_grp: a.max_mcast_grp,
        max_mcast_qp_attach: a.max_mcast_qp_attach,
        max_total_mcast_qp_attach: a.max_total_mcast_qp_attach,
        max_ah: a.max_ah,
        max_fmr: a.max_fmr,
        max_map_per_fmr: a.max_map_per_fmr,
        max_srq: a.max_srq,
        max_srq_wr: a.max_srq_wr,
        max_srq_sge: a.max_srq_sge,
        max_pkeys: a.max_pkeys,
        local_ca_ack_delay: a.local_ca_ack_delay,
        phys_port_cnt: a.phys_port_cnt,
        ..super::cold::Cold::zeroed()
    };
    flatten_extension(&mut flat, attr);
    flat
}

fn flatten_extension(flat: &mut vbn_device_attr, attr: &ibv_device_attr_ex) {
    let (odp, rss, pacing, tm) = (&attr.odp_caps, &attr.rss_caps, &attr.packet_pacing_caps, &attr.tm_caps);
    flat.rss_rx_hash_function = rss.rx_hash_function;
    flat.odp_general_caps = odp.general_caps;
    flat.odp_rc_caps = odp.per_transport_caps.rc_odp_caps;
    flat.odp_uc_caps = odp.per_transport_caps.uc_odp_caps;
    flat.odp_ud_caps = odp.per_transport_caps.ud_odp_caps;
    flat.odp_xrc_caps = attr.xrc_odp_caps;
    flat.completion_timestamp_mask = attr.completion_timestamp_mask;
    flat.hca_core_clock = attr.hca_core_clock;
    flat.device_cap_flags_ex = attr.device_cap_flags_ex;
    flat.tso_max = attr.tso_caps.max_tso;
    flat.tso_supported_qpts = attr.tso_caps.supported_qpts;
    flat.rss_rx_hash_fields_mask = rss.rx_hash_fields_mask;
    flat.rss_supported_qpts = rss.supported_qpts;
    flat.rss_max_rwq_indirection_tables = rss.max_rwq_indirection_tables;
    flat.rss_max_rwq_indirection_table_size = rss.max_rwq_indirection_table_size;
    flat.max_wq_type_rq = attr.max_wq_type_rq;
    flat.rate_limit_min = pacing.qp_rate_limit_min;
    flat.rate_limit_max = pacing.qp_rate_limit_max;
    flat.rate_limit_supported_qpts = pacing.supported_qpts;
    flat.raw_packet_caps = attr.raw_packet_caps;
    flat.tm_max_rndv_hdr_size = tm.max_rndv_hdr_size;
    flat.tm_max_num_tags = tm.max_num_tags;
    flat.tm_flags = tm.flags;
    flat.tm_max_ops = tm.max_ops;
    flat.tm_max_sge = tm.max_sge;
    flat.cq_moderation_max_count = attr.cq_mod_caps.max_cq_count;
    flat.cq_moderation_max_period = attr.cq_mod_caps.max_cq_period;
    flat.max_dm_size = attr.max_dm_size;
    flat.pci_atomic_fetch_add = attr.pci_atomic_caps.fetch_add;
    flat.pci_atomic_swap = attr.pci_atomic_caps.swap;
    flat.pci_atomic_compare_swap = attr.pci_atomic_caps.compare_swap;
    flat.phys_port_cnt_ex = attr.phys_port_cnt_ex;
    // A driver that answers the extended query fills in one of these at the least.
    let filled = attr.device_cap_flags_ex | u64::from(attr.phys_port_cnt_ex) | attr.hca_core_clock | odp.general_caps;
    flat.has_extended = (filled | attr.completion_timestamp_mask | attr.max_dm_size != 0).into();
}

fn port_attr(a: &ibv_port_attr) -> vbn_port_attr {
    let mut valid = 0;
    if a.port_cap_flags & IBV_PORT_CAP_MASK2_SUP != 0 {
        valid |= VBN_PORT_VALID_CAP_FLAGS2;
    }
    if a.active_speed_ex != 0 {
        valid |= VBN_PORT_VALID_SPEED_EX;
    }
    vbn_port_attr {
        struct_size: size_of::<vbn_port_attr>(),
        valid,
        state: a.state as i32,
        max_mtu: a.max_mtu as i32,
        active_mtu: a.active_mtu as i32,
        link_layer: a.link_layer.into(),
        gid_tbl_len: a.gid_tbl_len,
        port_cap_flags: a.port_cap_flags,
        max_msg_sz: a.max_msg_sz,
        bad_pkey_cntr: a.bad_pkey_cntr,
        qkey_viol_cntr: a.qkey_viol_cntr,
        active_speed_ex: a.active_speed_ex,
        speed_100mbps: 0,
        pkey_tbl_len: a.pkey_tbl_len,
        lid: a.lid,
        sm_lid: a.sm_lid,
        port_cap_flags2: a.port_cap_flags2,
        lmc: a.lmc,
        max_vl_num: a.max_vl_num,
        sm_sl: a.sm_sl,
        subnet_timeout: a.subnet_timeout,
        init_type_reply: a.init_type_reply,
        active_width: a.active_width,
        active_speed: a.active_speed,
        phys_state: a.phys_state,
        flags: a.flags,
        reserved0: [0; 7],
    }
}
