// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection manager ids: what a socket is to a connection. librdmacm opens the devices itself, so its contexts are lent.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cm::{CmChannel, Devices};
use super::cm_addr::vbn_cm_addr;
use super::cm_conn::{
    self, Message, VBN_CM_CONN_SET_INITIATOR_DEPTH, VBN_CM_CONN_SET_RESPONDER_RESOURCES, vbn_cm_conn_attr,
};
use super::cm_event::*;
use super::cold::{Cold, cold_structs};
use super::context::{Context, Room, vbn_context_attr};
use super::cq::Cq;
use super::error::{Error, Reason, Result};
use super::library;
use super::lock::Lock;
use super::pd::{Pd, vbn_pd_attr};
use super::qp::Qp;
use super::qp_create::{Plan, VBN_QPT_RC, VBN_QPT_UD, vbn_qp_init_attr};
use super::slab::{Kind, Object, Ref, Slab, Slot, Vacant};
use super::srq::Srq;
use super::status::*;
use super::table::Entry;
use super::text::{Name, chars};
use crate::sys::ibv::{Zeroed, ibv_context, ibv_device_attr, ibv_qp, ibv_qp_init_attr};
use crate::sys::rdmacm::*;
use crate::sys::{convert, os};

/// Connections: RC queue pairs, with the port numbers of TCP's kind (but apart from TCP's).
pub const VBN_CM_PS_TCP: i32 = 0x0106;
/// Datagrams: UD queue pairs.
pub const VBN_CM_PS_UDP: i32 = 0x0111;
/// InfiniBand's own service ids.
pub const VBN_CM_PS_IB: i32 = 0x013f;

/// `vbn_cm_id_attr.set`: tos.
pub const VBN_CM_ID_SET_TOS: u64 = 1;
/// `vbn_cm_id_attr.set`: reuse_addr.
pub const VBN_CM_ID_SET_REUSE_ADDR: u64 = 2;
/// `vbn_cm_id_attr.set`: only_v6.
pub const VBN_CM_ID_SET_ONLY_V6: u64 = 4;
/// `vbn_cm_id_attr.set`: ack_timeout.
pub const VBN_CM_ID_SET_ACK_TIMEOUT: u64 = 8;
/// cbindgen:ignore
const SET: u64 = 15;

/// What `vbn_cm_id_create` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cm_id_attr {
    /// sizeof(vbn_cm_id_attr).
    pub struct_size: usize,
    /// VBN_CM_ID_SET_*: options that count.
    pub set: u64,
    /// Comes back in the id's events and queries.
    pub user_data: u64,
    /// VBN_CM_PS_*. 0: VBN_CM_PS_TCP.
    pub port_space: i32,
    /// Type of service of the packets (DSCP and ECN).
    pub tos: u8,
    /// 1: the port may be another id's too, as with SO_REUSEADDR.
    pub reuse_addr: u8,
    /// 1: an id bound to the IPv6 wildcard takes no IPv4 connections.
    pub only_v6: u8,
    /// How long the peer's acknowledgements are waited for: 4.096 us * 2^n, 5 bits.
    pub ack_timeout: u8,
}

/// What `vbn_cm_id_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_cm_id_info {
    /// sizeof(vbn_cm_id_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation or by vbn_cm_id_set_user_data.
    pub user_data: u64,
    /// VBN_CM_PS_*.
    pub port_space: i32,
    /// VBN_QPT_*: the type of its queue pair.
    pub qp_type: i32,
    /// Number of its queue pair; 0 if it has none.
    pub qp_num: u32,
    /// The device's port; 0 before there is a device.
    pub port_num: u8,
    /// 1 if it has a device: resolved, bound to an address of a device, or a client's request.
    pub has_device: u8,
    /// 1 if it has a queue pair.
    pub has_qp: u8,
    /// 0.
    pub reserved0: u8,
    /// Name of the device.
    pub device: [c_char; 64],
    /// One's own address.
    pub local: vbn_cm_addr,
    /// The peer's.
    pub peer: vbn_cm_addr,
    /// Bytes of private data that vbn_cm_id_connect takes.
    pub max_connect_data: u32,
    /// The same of vbn_cm_id_accept.
    pub max_accept_data: u32,
    /// The same of vbn_cm_id_reject.
    pub max_reject_data: u32,
    /// 0.
    pub reserved1: u32,
}
cold_structs!(vbn_cm_id_attr, vbn_cm_id_info);

const _: () = {
    assert!(VBN_CM_PS_TCP as u32 == RDMA_PS_TCP && VBN_CM_PS_UDP as u32 == RDMA_PS_UDP);
    assert!(VBN_CM_PS_IB as u32 == RDMA_PS_IB);
};

/// One end of a connection.
pub struct CmId {
    native: NonNull<rdma_cm_id>,
    channel: Ref<CmChannel>,
    ownership: Ownership,
    /// Marks this object's entry in the channel's table.
    entry: *const (),
    /// Held while a queue pair is made, so that two threads don't make two.
    making: Lock<()>,
    /// A queue pair was made: the PD that the id names is no longer librdmacm's.
    had_qp: AtomicBool,
}

// SAFETY: librdmacm's calls on an id are thread-safe but for what is done to its queue pair, which `making` guards here.
unsafe impl Send for CmId {}
// SAFETY: as above.
unsafe impl Sync for CmId {}

static SLAB: Slab<CmId> = Slab::new();

impl Object for CmId {
    const KIND: Kind = Kind::CmId;
    /// Its queue pair keeps it.
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    /// It is no context's.
    fn context(&self) -> Option<&Context> {
        None
    }

    fn native_address(&self) -> *const c_void {
        self.native.as_ptr().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native.as_ptr(), || {
            // SAFETY: the id is ours, its queue pair is gone, and every event of it was acknowledged when it was read.
            self.call("rdma_destroy_id", || unsafe { (self.functions().destroy_id)(self.native.as_ptr()) })
        })
    }

    fn forget(&self) {
        self.channel.unregister(self.native_address(), self.entry);
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl CmId {
    pub fn create(channel: Ref<CmChannel>, attr: &vbn_cm_id_attr) -> Result<&'static Slot<CmId>> {
        check_attr(attr)?;
        let space = match attr.port_space {
            0 => VBN_CM_PS_TCP,
            VBN_CM_PS_TCP | VBN_CM_PS_UDP | VBN_CM_PS_IB => attr.port_space,
            other => return Err(Error::range_signed("port_space", other.into(), "one of VBN_CM_PS_TCP, _UDP, _IB")),
        };
        let vacant = SLAB.take()?;
        let channel_too = channel.clone();
        let room = channel_too.reserve()?;
        let functions = channel.functions();
        let mut raw = ptr::null_mut();
        os::set_errno(0);
        // SAFETY: the channel is live and the variable is ours. The context of an id isn't needed here.
        let ret = unsafe { (functions.create_id)(channel.native(), &mut raw, ptr::null_mut(), space as u32) };
        convert::minus1(ret, os::errno()).map_err(|errno| Error::call("rdma_create_id", errno))?;
        let native = NonNull::new(raw).ok_or(Error::call("rdma_create_id", libc::EIO))?;
        let id = Self::new(&vacant, native, channel, Ownership::Own);
        if let Err(error) = id.set_options(attr) {
            // Just made, so nothing keeps it.
            let _ = id.destroy();
            return Err(error);
        }
        room.insert(native.as_ptr().cast(), id.table_entry(attr.user_data));
        Ok(vacant.publish(id))
    }

    /// The id of a client's connection request, which librdmacm has made.
    pub fn of_request(
        vacant: Vacant<CmId>,
        room: Room<'_>,
        channel: &Ref<CmChannel>,
        native: NonNull<rdma_cm_id>,
    ) -> &'static Slot<CmId> {
        let id = Self::new(&vacant, native, channel.clone(), Ownership::Own);
        room.insert(native.as_ptr().cast(), id.table_entry(0));
        vacant.publish(id)
    }

    /// Takes in an id that raw librdmacm made on the same channel.
    pub fn adopt(
        channel: Ref<CmChannel>,
        native: *mut rdma_cm_id,
        attr: &vbn_adopt_attr,
    ) -> Result<&'static Slot<CmId>> {
        let (native, ownership) = adopt::check::<CmId, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live rdma_cm_id.
        let (theirs, qp) = unsafe { (native.as_ref().channel, native.as_ref().qp) };
        if theirs != channel.native() {
            return Err(Error::argument(Reason::Unrelated("the rdma_cm_id", "rdma_event_channel")));
        }
        let vacant = SLAB.take()?;
        let channel_too = channel.clone();
        let room = channel_too.reserve()?;
        let id = Self::new(&vacant, native, channel, ownership);
        id.had_qp.store(!qp.is_null(), Ordering::Relaxed);
        room.insert(native.as_ptr().cast(), id.table_entry(attr.user_data));
        Ok(vacant.publish(id))
    }

    fn new(vacant: &Vacant<CmId>, native: NonNull<rdma_cm_id>, channel: Ref<CmChannel>, ownership: Ownership) -> Self {
        let entry = ptr::from_ref(vacant.slot()).cast();
        Self { native, channel, ownership, entry, making: Lock::new(()), had_qp: AtomicBool::new(false) }
    }

    fn table_entry(&self, user_data: u64) -> Entry {
        Entry { kind: super::event::VBN_ELEMENT_NONE, slot: self.entry, user_data }
    }

    fn set_options(&self, attr: &vbn_cm_id_attr) -> Result<()> {
        let flag = |on: u8| c_int::from(on).to_ne_bytes();
        let (reuse, only) = (flag(attr.reuse_addr), flag(attr.only_v6));
        let options: [(u64, u32, &[u8]); 4] = [
            (VBN_CM_ID_SET_TOS, RDMA_OPTION_ID_TOS, &[attr.tos]),
            (VBN_CM_ID_SET_REUSE_ADDR, RDMA_OPTION_ID_REUSEADDR, &reuse),
            (VBN_CM_ID_SET_ONLY_V6, RDMA_OPTION_ID_AFONLY, &only),
            (VBN_CM_ID_SET_ACK_TIMEOUT, RDMA_OPTION_ID_ACK_TIMEOUT, &[attr.ack_timeout]),
        ];
        for (_, option, value) in options.into_iter().filter(|(bit, ..)| attr.set & bit != 0) {
            let (level, set) = (RDMA_OPTION_ID as c_int, self.functions().set_option);
            let pointer = value.as_ptr().cast_mut().cast();
            // SAFETY: the id is live, and the kernel reads so many bytes.
            self.call("rdma_set_option", || unsafe {
                set(self.native.as_ptr(), level, option as c_int, pointer, value.len())
            })?;
        }
        Ok(())
    }

    fn functions(&self) -> &'static RdmaCm {
        self.channel.functions()
    }

    pub fn native(&self) -> *mut rdma_cm_id {
        self.native.as_ptr()
    }

    fn content(&self) -> &rdma_cm_id {
        // SAFETY: live as long as this object.
        unsafe { self.native.as_ref() }
    }

    /// A call that returns -1 and sets errno.
    fn call(&self, function: &'static str, call: impl FnOnce() -> c_int) -> Result<()> {
        os::set_errno(0);
        let ret = call();
        convert::minus1(ret, os::errno()).map(drop).map_err(|errno| Error::call(function, errno).on(self.device_name()))
    }

    /// `call` for what looks a device up: ENODEV then doesn't say that one is gone.
    fn lookup(&self, function: &'static str, call: impl FnOnce() -> c_int) -> Result<()> {
        self.call(function, call).map_err(|error| match error.errno {
            libc::ENODEV => Error { status: VBN_ERR_NOT_FOUND, ..error },
            _ => error,
        })
    }

    /// Empty while there is no device.
    fn device_name(&self) -> Name {
        // SAFETY: a device that the id is bound to lives as long.
        let name = unsafe { self.content().verbs.as_ref().map(|context| (*context.device).name) };
        name.map_or(Name::EMPTY, |name| Name::new(&name.map(|c| c as u8)))
    }

    /// The context that librdmacm has opened; librdmacm itself reads it without looking.
    fn device(&self) -> Result<NonNull<ibv_context>> {
        NonNull::new(self.content().verbs).ok_or(
            Error::text(VBN_ERR_ARGUMENT, "the id has no device yet")
                .hint("resolve an address, or bind to an address of a device, first"),
        )
    }

    fn user_data(&self) -> u64 {
        self.channel.user_data_of(self.native_address())
    }

    pub fn set_user_data(&self, user_data: u64) {
        self.channel.set_user_data_of(self.native_address(), user_data);
    }

    pub fn info(&self) -> vbn_cm_id_info {
        let id = self.content();
        // SAFETY: the id's queue pair lives until the id forgets it.
        let qp = unsafe { id.qp.as_ref() };
        vbn_cm_id_info {
            struct_size: size_of::<vbn_cm_id_info>(),
            user_data: self.user_data(),
            port_space: id.ps as i32,
            qp_type: id.qp_type as i32,
            qp_num: qp.map_or(0, |qp| qp.qp_num),
            port_num: id.port_num,
            has_device: (!id.verbs.is_null()).into(),
            has_qp: qp.is_some().into(),
            reserved0: 0,
            device: chars(self.device_name().bytes()),
            local: vbn_cm_addr::of(&id.route.addr.src_storage),
            peer: vbn_cm_addr::of(&id.route.addr.dst_storage),
            max_connect_data: cm_conn::room(id, Message::Connect) as u32,
            max_accept_data: cm_conn::room(id, Message::Accept) as u32,
            max_reject_data: cm_conn::room(id, Message::Reject) as u32,
            reserved1: 0,
        }
    }

    pub fn bind(&self, addr: &vbn_cm_addr) -> Result<()> {
        let mut addr = addr.check("addr")?.ok_or(Error::argument(Reason::Text("addr is empty")))?;
        let bind = self.functions().bind_addr;
        // SAFETY: the id is live and the address complete.
        self.lookup("rdma_bind_addr", || unsafe { bind(self.native(), (&raw mut addr).cast()) }).map_err(|error| {
            match error.errno {
                libc::EADDRINUSE => error.hint("another id has the port: choose another, or 0 for any free one"),
                libc::EADDRNOTAVAIL | libc::ENODEV => error.hint("no RDMA device of this machine has the address"),
                libc::EACCES => error.hint("ports below 1024 need CAP_NET_BIND_SERVICE"),
                libc::EINVAL => error.hint("it is bound already, or the family isn't one of its port space"),
                _ => error,
            }
        })
    }

    pub fn listen(&self, backlog: u32) -> Result<()> {
        let backlog = i32::try_from(backlog).map_err(|_| Error::range("backlog", backlog.into(), "below 2^31"))?;
        // SAFETY: the id is live.
        self.call("rdma_listen", || unsafe { (self.functions().listen)(self.native(), backlog) }).map_err(|error| {
            match error.errno {
                libc::EADDRINUSE => error.hint("another id has the port, maybe by a wildcard address"),
                libc::EINVAL => error.hint("it is listening already, or is a client's"),
                _ => error,
            }
        })
    }

    pub fn resolve_addr(&self, source: Option<&vbn_cm_addr>, target: &vbn_cm_addr, timeout_ns: i64) -> Result<()> {
        let mut source = source.map_or(Ok(None), |source| source.check("source"))?;
        let mut target = target.check("target")?.ok_or(Error::argument(Reason::Text("target is empty")))?;
        let from = source.as_mut().map_or(ptr::null_mut(), |source| ptr::from_mut(source).cast());
        let resolve = self.functions().resolve_addr;
        self.lookup("rdma_resolve_addr", || {
            // SAFETY: the id is live, and the addresses are complete, or NULL for any source.
            unsafe { resolve(self.native(), from, (&raw mut target).cast(), milliseconds(timeout_ns)) }
        })
        .map_err(|error| match error.errno {
            libc::ENODEV => error.hint("no RDMA device is on the network interface that leads there"),
            libc::EADDRNOTAVAIL => error.hint("the source is not an address of this machine"),
            libc::EADDRINUSE => error.hint("the source's port is another id's: use port 0"),
            libc::ENETUNREACH | libc::EHOSTUNREACH => error.hint("this machine has no route to the target"),
            libc::EINVAL => error.hint("the id is on its way already, or source and target are of different families"),
            _ => error,
        })
    }

    pub fn resolve_route(&self, timeout_ns: i64) -> Result<()> {
        self.device()?;
        let resolve = self.functions().resolve_route;
        // SAFETY: the id is live and has a device, whose type librdmacm looks at.
        self.lookup("rdma_resolve_route", || unsafe { resolve(self.native(), milliseconds(timeout_ns)) }).map_err(
            |error| match error.errno {
                libc::EINVAL => error.hint("its address must be resolved first, and once"),
                libc::ENODEV => error.hint(
                    "the kernel's connection manager has no way over this interface, such as soft-RoCE's loopback",
                ),
                _ => error,
            },
        )
    }

    /// Resolves address and route, and waits for both.
    pub fn resolve(&self, source: Option<&vbn_cm_addr>, target: &vbn_cm_addr, timeout_ns: i64) -> Result<()> {
        let others = self.channel.id_count();
        if others > 1 {
            return Err(Error::text(VBN_ERR_BUSY, "other ids report to this channel, and their events would be lost")
                .value(others as u64, 1)
                .hint("make a channel for this id, or use vbn_cm_id_resolve_addr and vbn_cm_id_resolve_route"));
        }
        let deadline = os::deadline(timeout_ns);
        let left = || deadline.map_or(-1, |end| end.saturating_sub(os::monotonic_ns()).max(0));
        self.resolve_addr(source, target, left())?;
        self.expect(VBN_CM_EVENT_ADDR_RESOLVED, deadline)?;
        self.resolve_route(left())?;
        self.expect(VBN_CM_EVENT_ROUTE_RESOLVED, deadline)
    }

    /// Waits for an event of that type; any other is an error.
    fn expect(&self, wanted: i32, deadline: Option<i64>) -> Result<()> {
        let (event, stranger) = CmChannel::next_event(&self.channel, deadline).map_err(|error| {
            if error.status == VBN_ERR_TIMEOUT { error.hint("close the id, which is still on its way") } else { error }
        })?;
        if let Some(stranger) = stranger {
            // A request to a raw id; nobody else will ever hear of it.
            let _ = stranger.close();
        }
        event.check().map_err(|error| error.on(self.device_name()))?;
        if event.r#type == wanted {
            return Ok(());
        }
        Err(Error::text(VBN_ERR_DRIVER, "another event came than resolving brings")
            .value(event.r#type as u64, wanted as u64))
    }

    /// A handle of the context that librdmacm has opened, which is lent.
    pub fn lend_context(&self, attr: &vbn_context_attr) -> Result<&'static Slot<Context>> {
        let native = self.device()?;
        let devices = Devices::hold(self.functions(), native)?;
        Context::lent(native, attr.user_data, devices).inspect_err(|_| devices.release())
    }

    /// A handle of the PD that librdmacm has made for all ids on the device, which is lent.
    pub fn lend_pd(&self, context: Ref<Context>, attr: &vbn_pd_attr) -> Result<&'static Slot<Pd>> {
        let native = self.device()?;
        if context.native() != native.as_ptr() || !context.is_lent() {
            return Err(Error::argument(Reason::Text("context is not what vbn_cm_id_context gives for this device")));
        }
        if self.had_qp.load(Ordering::Acquire) {
            return Err(Error::text(VBN_ERR_BUSY, "a queue pair was made on the id, which names its PD from then on")
                .hint("ask for the PD before"));
        }
        let mut borrow = vbn_adopt_attr::zeroed();
        borrow.user_data = attr.user_data;
        Pd::adopt(context, self.content().pd, &borrow)
    }

    /// Makes the queue pair, in INIT (RC) or ready (UD). It keeps the id.
    pub fn create_qp(
        id: Ref<Self>,
        pd: Ref<Pd>,
        send_cq: Ref<Cq>,
        recv_cq: Ref<Cq>,
        srq: Option<Ref<Srq>>,
        attr: &vbn_qp_init_attr,
    ) -> Result<&'static Slot<Qp>> {
        let native = id.device()?;
        let context = pd.context().clone();
        if context.native() != native.as_ptr() {
            return Err(Error::argument(Reason::Unrelated("pd", "context than the id's")).on(id.device_name()).hint(
                "make PD and completion queues on what vbn_cm_id_context gives: librdmacm opens the device itself",
            ));
        }
        for (cq, what) in [(&send_cq, "send_cq"), (&recv_cq, "recv_cq")] {
            if !context.is(cq.context().slot()) {
                return Err(Error::argument(Reason::Unrelated(what, "context than pd")));
            }
        }
        if let Some(srq) = &srq
            && !context.is(srq.device().slot())
        {
            return Err(Error::argument(Reason::Unrelated("srq", "context than pd")));
        }
        let mut attr = *attr;
        let wanted = if id.is_ud() { VBN_QPT_UD } else { VBN_QPT_RC };
        if attr.qp_type != 0 && attr.qp_type != wanted {
            return Err(Error::argument(Reason::NotOneOfSigned("qp_type", "that of the port space, or 0"))
                .value(i64::from(attr.qp_type) as u64, wanted as u64));
        }
        attr.qp_type = wanted;
        let plan = Plan::new(&context, &recv_cq, srq.as_deref(), &attr)?;
        if plan.by_wr {
            return Err(Error::text(VBN_ERR_NOT_SUPPORTED, "queue pairs of the connection manager have no ibv_wr_*")
                .hint("leave post_path 0"));
        }
        let mut init = ibv_qp_init_attr::zeroed();
        init.send_cq = send_cq.native();
        init.recv_cq = recv_cq.native();
        init.srq = plan.srq;
        init.cap = plan.cap;
        init.qp_type = wanted as u32;
        init.sq_sig_all = plan.sq_sig_all.into();
        let _alone = id.making.lock();
        if !id.content().qp.is_null() {
            return Err(Error::text(VBN_ERR_BUSY, "the id has a queue pair already").on(id.device_name()));
        }
        let create = id.functions().create_qp;
        // SAFETY: id, PD and queues are live and of one device.
        id.call("rdma_create_qp", || unsafe { create(id.native(), pd.native(), &mut init) }).map_err(|error| {
            if error.errno == libc::EINVAL && plan.cap.max_inline_data > 0 {
                return error.value(plan.cap.max_inline_data.into(), 0).hint("max_inline_data may be too large");
            }
            error
        })?;
        id.had_qp.store(true, Ordering::Release);
        let qp = id.content().qp;
        let ownership = Ownership::Custom(destroy_qp, id.native().cast());
        Qp::of_cm(pd, qp, ownership, attr.user_data, id.clone()).inspect_err(|_| {
            // SAFETY: made above, and nobody knows it.
            unsafe { (id.functions().destroy_qp)(id.native()) };
        })
    }

    fn is_ud(&self) -> bool {
        self.content().qp_type == crate::sys::ibv::IBV_QPT_UD
    }

    fn must_have_qp(&self) -> Result<()> {
        if self.content().qp.is_null() {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the id has no queue pair")
                .on(self.device_name())
                .hint("call vbn_cm_id_create_qp first"));
        }
        Ok(())
    }

    pub fn connect(&self, attr: &vbn_cm_conn_attr, private_data: &[u8]) -> Result<()> {
        self.device()?;
        if !self.is_ud() {
            self.must_have_qp()?;
        }
        cm_conn::check_room(self.content(), Message::Connect, private_data.len())?;
        let mut param = attr.to_native(private_data)?;
        // SAFETY: the id is live and has a device; the parameters are ours.
        self.call("rdma_connect", || unsafe { (self.functions().connect)(self.native(), &mut param) }).map_err(
            |error| self.explain_param(error, attr, "its route must be resolved, and it must not be connected yet"),
        )
    }

    pub fn accept(&self, attr: &vbn_cm_conn_attr, private_data: &[u8]) -> Result<()> {
        self.device()?;
        self.must_have_qp()?;
        cm_conn::check_room(self.content(), Message::Accept, private_data.len())?;
        let mut param = attr.to_native(private_data)?;
        // SAFETY: the id is live, has a device and a queue pair; the parameters are ours.
        self.call("rdma_accept", || unsafe { (self.functions().accept)(self.native(), &mut param) }).map_err(|error| {
            self.explain_param(error, attr, "only an id of a connection request can accept, and only once")
        })
    }

    /// What EINVAL to a connection's parameters means.
    fn explain_param(&self, error: Error, attr: &vbn_cm_conn_attr, otherwise: &'static str) -> Error {
        if error.errno != libc::EINVAL {
            return error;
        }
        let mut limits = ibv_device_attr::zeroed();
        let (Some(verbs), Ok(context)) = (library::loaded(), self.device()) else { return error.hint(otherwise) };
        // SAFETY: the device is open as long as the id lives.
        if unsafe { (verbs.query_device)(context.as_ptr(), &mut limits) } != 0 {
            return error.hint(otherwise);
        }
        let depths = [
            (
                VBN_CM_CONN_SET_RESPONDER_RESOURCES,
                "responder_resources",
                attr.responder_resources,
                limits.max_qp_rd_atom,
            ),
            (VBN_CM_CONN_SET_INITIATOR_DEPTH, "initiator_depth", attr.initiator_depth, limits.max_qp_init_rd_atom),
        ];
        let beyond = |&(bit, _, value, limit): &(u64, &str, u8, i32)| attr.set & bit != 0 && i32::from(value) > limit;
        match depths.into_iter().find(beyond) {
            Some((_, what, value, limit)) => {
                Error { reason: Reason::CallExceeds("rdma_connect or rdma_accept", what), ..error }
                    .value(value.into(), limit as u64)
                    .hint("leave it open for the device's limit")
            }
            None => error.hint(otherwise),
        }
    }

    pub fn reject(&self, private_data: &[u8]) -> Result<()> {
        cm_conn::check_room(self.content(), Message::Reject, private_data.len())?;
        let length = u8::try_from(private_data.len()).unwrap_or(u8::MAX);
        let reject = self.functions().reject;
        // SAFETY: the id is live, and so many bytes are there.
        self.call("rdma_reject", || unsafe { reject(self.native(), private_data.as_ptr().cast(), length) }).map_err(
            |error| {
                if error.errno == libc::EINVAL {
                    error
                        .hint("only an id of a connection request that was neither accepted nor refused can be refused")
                } else {
                    error
                }
            },
        )
    }

    pub fn disconnect(&self) -> Result<()> {
        self.device()?;
        // SAFETY: the id is live and has a device.
        self.call("rdma_disconnect", || unsafe { (self.functions().disconnect)(self.native()) }).map_err(|error| {
            if matches!(error.errno, libc::EINVAL | libc::ENOTCONN) { error.hint("it is not connected") } else { error }
        })
    }
}

fn check_attr(attr: &vbn_cm_id_attr) -> Result<()> {
    if attr.set & !SET != 0 {
        return Err(Error::unknown_bits("set", attr.set, SET));
    }
    let ranges = [
        ("reuse_addr", attr.reuse_addr, 1, "0 or 1"),
        ("only_v6", attr.only_v6, 1, "0 or 1"),
        ("ack_timeout", attr.ack_timeout, 31, "0..31"),
    ];
    match ranges.into_iter().find(|(_, value, most, _)| value > most) {
        Some((what, value, _, allowed)) => Err(Error::range(what, value.into(), allowed)),
        None => Ok(()),
    }
}

/// A time-out as the kernel takes it: rounded up, the longest for "for ever".
fn milliseconds(timeout_ns: i64) -> c_int {
    if timeout_ns < 0 {
        return c_int::MAX;
    }
    c_int::try_from(timeout_ns / 1_000_000 + i64::from(timeout_ns % 1_000_000 != 0)).unwrap_or(c_int::MAX)
}

/// `rdma_destroy_qp`, but a refusal isn't lost: the queue pair then stays the id's. Up to rdma-core 65 it has nothing more to
/// do, as the completion queues are the caller's.
unsafe extern "C" fn destroy_qp(qp: *mut c_void, id: *mut c_void) -> c_int {
    let Some(verbs) = library::loaded() else { return libc::EIO };
    let (qp, id) = (qp.cast::<ibv_qp>(), id.cast::<rdma_cm_id>());
    os::set_errno(0);
    // SAFETY: the queue pair that was made on the id, both live: the handle that is being closed keeps the id.
    let ret = unsafe { (verbs.destroy_qp)(qp) };
    let gone = || {
        let mut attr = ibv_device_attr::zeroed();
        // SAFETY: the device is open as long as the id lives.
        let answer = unsafe { (verbs.query_device)((*id).verbs, &mut attr) };
        matches!(answer, libc::EIO | libc::ENODEV)
    };
    match convert::ret_errno(ret, os::errno()) {
        Err(errno) if !(matches!(errno, libc::EIO | libc::ENODEV) && gone()) => errno,
        _ => {
            // SAFETY: the id is live; the field is what librdmacm's own function resets.
            unsafe { (*id).qp = ptr::null_mut() };
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_outs_are_rounded_up() {
        assert_eq!([0, 1, 1_000_000, 1_000_001, -1].map(milliseconds), [0, 1, 1, 2, c_int::MAX]);
        assert_eq!(milliseconds(i64::MAX), c_int::MAX);
    }
}
