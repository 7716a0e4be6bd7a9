// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs: their life, attributes, and the first failure seen on each.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cm_id::CmId;
use super::context::Context;
use super::cq::Cq;
use super::error::{Error, Reason, Result};
use super::event::VBN_ELEMENT_QP;
use super::flow::Flow;
use super::lock::{Guard, Lock};
use super::pd::Pd;
use super::post::{Path, Rules};
use super::post_ops::WR_ONLY;
use super::qp_attr::{VBN_MTU_4096, vbn_qp_attr, vbn_qp_info};
use super::qp_create::*;
use super::qp_ops::{self, *};
use super::slab::{Kind, Object, Ref, Slab, Slot, Vacant};
use super::srq::{self, Srq};
use super::status::*;
use super::suspect;
use super::table;
use super::wc::vbn_wc;
use crate::sys::efa::{EFADV_DEVICE_ATTR_CAPS_RNR_RETRY, efadv_qp};
use crate::sys::ibv::{self, ibv_cq, ibv_gid, ibv_qp, ibv_qp_attr, ibv_qp_cap, ibv_qp_ex, ibv_qp_init_attr};

/// A queue pair.
pub struct Qp {
    path: Path,
    pd: Ref<Pd>,
    /// Held so that they outlive the queue pair; none where an adopted one's queues have no handle.
    _cqs: [Option<Ref<Cq>>; 2],
    /// The connection manager's id that it was made on, which must outlive it.
    _cm: Option<Ref<CmId>>,
    _srq: Option<Ref<Srq>>,
    ownership: Ownership,
    user_data: u64,
    cap: ibv_qp_cap,
    sq_sig_all: bool,
    /// VBN_QPT_*.
    qp_type: i32,
    /// VBN_QP_UNSOLICITED_WRITE_RECV, ...; 0 for an adopted one, which doesn't tell.
    flags: u64,
    first_error: FirstError,
    /// Held on the way through the states, so that two threads that connect don't get between each other's steps.
    steps: Lock<()>,
    /// Copies of what the native queue pair has.
    number: u32,
    native_cqs: [*mut ibv_cq; 2],
    /// Marks this object's entry in the context's table.
    entry: *const (),
}

// SAFETY: posting is as thread-safe as the provider; everything else in libibverbs is.
unsafe impl Send for Qp {}
// SAFETY: as above.
unsafe impl Sync for Qp {}

static SLAB: Slab<Qp> = Slab::new();

impl Object for Qp {
    const KIND: Kind = Kind::Qp;
    const LEAF: bool = true;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(self.pd.context())
    }

    fn native_address(&self) -> *const c_void {
        self.native().cast_const().cast()
    }

    fn number(&self) -> u32 {
        self.number
    }

    fn destroy(&self) -> Result<()> {
        if !self.ownership.is_borrowed() && Flow::any_for(self.device(), self.number) {
            return Err(Error::text(VBN_ERR_BUSY, "flow rules steer packets to the queue pair")
                .on(self.device().name())
                .hint("close them first (vbn_flow_close)"));
        }
        self.ownership.destroy(self.native(), || {
            // SAFETY: the queue pair is ours and its handle is being closed.
            self.device()
                .ret("ibv_destroy_qp", || unsafe { (self.device().verbs().destroy_qp)(self.native()) })
                .map_err(|error| error.if_busy("detach it from its multicast groups (vbn_qp_detach_mcast), and destroy what raw verbs made for it"))
        })
    }

    fn forget(&self) {
        self.device().unregister(self.native().cast(), self.entry);
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Qp {
    /// Makes a queue pair in RESET.
    pub fn create(
        pd: Ref<Pd>,
        send_cq: Ref<Cq>,
        recv_cq: Ref<Cq>,
        srq: Option<Ref<Srq>>,
        attr: &vbn_qp_init_attr,
    ) -> Result<&'static Slot<Qp>> {
        let context = pd.context().clone();
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
        has_operations(&context)?;
        let mut plan = Plan::new(&context, &recv_cq, srq.as_deref(), attr)?;
        let max_message = max_message(&context, plan.qp_type);
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let native = plan.make(&pd, &send_cq, &recv_cq)?;
        let undo = |error| {
            // SAFETY: it was made above, and nobody knows it.
            unsafe { (context.verbs().destroy_qp)(native.as_ptr()) };
            error
        };
        let wr = if plan.by_wr { Some(wr_of(&context, native, plan.ops).map_err(undo)?) } else { None };
        let extra = plan.ops & WR_ONLY;
        let wr_only = if extra != 0 { Some(wr_of(&context, native, extra).map_err(undo)?) } else { None };
        let hints = if plan.flags & VBN_QP_PROCESSING_HINTS != 0 { hints_of(&context, wr) } else { ptr::null_mut() };
        let path = Path::new(
            native,
            pd.native(),
            &plan.cap,
            Rules {
                wr,
                hints,
                wr_only,
                flushes: plan.flushes,
                max_message,
                no_recv: srq.is_some().then_some(RECEIVES_ARE_SHARED),
                ..rules(&context, plan.qp_type, plan.ops, plan.sq_sig_all, plan.flags)
            },
        );
        let native_cqs = [send_cq.native(), recv_cq.native()];
        let qp = Qp {
            path,
            pd,
            _cqs: [Some(send_cq), Some(recv_cq)],
            _cm: None,
            _srq: srq,
            ownership: Ownership::Own,
            user_data: attr.user_data,
            cap: plan.cap,
            sq_sig_all: plan.sq_sig_all,
            qp_type: plan.qp_type,
            flags: plan.flags,
            first_error: FirstError::new(),
            steps: Lock::new(()),
            // SAFETY: it has just been made.
            number: unsafe { native.as_ref() }.qp_num,
            native_cqs,
            entry: entry_of(&vacant),
        };
        room.insert(native.as_ptr().cast(), qp.table_entry());
        Ok(vacant.publish(qp))
    }

    /// Takes in a queue pair made by raw verbs in the same PD.
    pub fn adopt(pd: Ref<Pd>, native: *mut ibv_qp, attr: &vbn_adopt_attr) -> Result<&'static Slot<Qp>> {
        let (native, ownership) = adopt::check::<Qp, _>(native, attr, 0)?;
        Self::take_in(pd, native, ownership, attr.user_data, None)
    }

    /// A queue pair that librdmacm has made on an id.
    pub fn of_cm(
        pd: Ref<Pd>,
        native: *mut ibv_qp,
        ownership: Ownership,
        user_data: u64,
        id: Ref<CmId>,
    ) -> Result<&'static Slot<Qp>> {
        let native = NonNull::new(native).ok_or(Error::call("rdma_create_qp", libc::EIO))?;
        Self::take_in(pd, native, ownership, user_data, Some(id))
    }

    fn take_in(
        pd: Ref<Pd>,
        native: NonNull<ibv_qp>,
        ownership: Ownership,
        user_data: u64,
        cm: Option<Ref<CmId>>,
    ) -> Result<&'static Slot<Qp>> {
        // SAFETY: the caller says that this is a live ibv_qp.
        let raw = unsafe { native.as_ref() };
        let context = pd.context().clone();
        // The receiving side of XRC has no PD of its own.
        let no_pd = raw.qp_type == ibv::IBV_QPT_XRC_RECV && raw.pd.is_null() && raw.context == context.native();
        if raw.pd != pd.native() && !no_pd {
            return Err(Error::argument(Reason::Unrelated("the ibv_qp", "ibv_pd")));
        }
        has_operations(&context)?;
        let (qp_type, ops, wr) = adopted(&context, native)?;
        let (_, init) = query(&context, native, ibv::IBV_QP_STATE | ibv::IBV_QP_CAP)?;
        // Completion queues with handles here are kept alive, as for a queue pair made here.
        let cqs = [raw.send_cq, raw.recv_cq].map(|cq| Cq::slab().find(context.slot(), cq.cast()));
        let srq = Srq::slab().find(context.slot(), raw.srq.cast());
        let no_recv = match qp_type {
            VBN_QPT_XRC_SEND | VBN_QPT_XRC_RECV => Some(XRC_HAS_NO_RECEIVES),
            _ => (!raw.srq.is_null()).then_some(RECEIVES_ARE_SHARED),
        };
        let max_message = max_message(&context, qp_type);
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let sq_sig_all = init.sq_sig_all != 0;
        let path = Path::new(
            native,
            pd.native(),
            &init.cap,
            Rules { wr, max_message, no_recv, ..rules(&context, qp_type, ops, sq_sig_all, 0) },
        );
        let qp = Qp {
            path,
            pd,
            _cqs: cqs,
            _cm: cm,
            _srq: srq,
            ownership,
            user_data,
            cap: init.cap,
            sq_sig_all,
            qp_type,
            flags: 0,
            first_error: FirstError::new(),
            steps: Lock::new(()),
            number: raw.qp_num,
            native_cqs: [raw.send_cq, raw.recv_cq],
            entry: entry_of(&vacant),
        };
        room.insert(native.as_ptr().cast(), qp.table_entry());
        Ok(vacant.publish(qp))
    }

    /// How events of the context find the handle.
    fn table_entry(&self) -> table::Entry {
        table::Entry { kind: VBN_ELEMENT_QP, slot: self.entry, user_data: self.user_data }
    }

    #[inline(always)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn native(&self) -> *mut ibv_qp {
        self.path.native.as_ptr()
    }

    pub fn pd(&self) -> &Ref<Pd> {
        &self.pd
    }

    /// The open device that the queue pair is on.
    pub fn device(&self) -> &Ref<Context> {
        self.pd.context()
    }

    /// The number that peers and completions know it by.
    pub fn qp_num(&self) -> u32 {
        self.number
    }

    /// For the length of a way through the states.
    pub fn exclusive(&self) -> Guard<'_, ()> {
        self.steps.lock()
    }

    /// The state as the device has it.
    pub fn state(&self) -> Result<u32> {
        Ok(query(self.device(), self.path.native, ibv::IBV_QP_STATE)?.0.qp_state)
    }

    /// The attributes as the device has them.
    pub fn attributes(&self) -> Result<ibv_qp_attr> {
        Ok(query(self.device(), self.path.native, self.query_mask())?.0)
    }

    /// What can be asked: EFA refuses attributes that it doesn't have.
    fn query_mask(&self) -> i32 {
        let Some(device) = self.device().efa() else {
            return match self.qp_type {
                VBN_QPT_RC => RC_QUERY,
                VBN_QPT_UC => RC_QUERY & !RC_ONLY,
                VBN_QPT_UD => RC_QUERY | ibv::IBV_QP_QKEY,
                _ => RC_QUERY,
            };
        };
        let rnr = device.attr.device_caps & EFADV_DEVICE_ATTR_CAPS_RNR_RETRY != 0 && self.qp_type == VBN_QPT_SRD;
        EFA_QUERY | if rnr { ibv::IBV_QP_RNR_RETRY } else { 0 }
    }

    /// VBN_QPT_*.
    pub fn qp_type(&self) -> i32 {
        self.qp_type
    }

    /// VBN_QP_UNSOLICITED_WRITE_RECV, ...; 0 for an adopted one, which doesn't tell.
    pub fn flags(&self) -> u64 {
        self.flags
    }

    /// The QKEY that senders must show, as the device has it.
    pub fn qkey(&self) -> Result<u32> {
        self.must_be_connectionless()?;
        let mask = ibv::IBV_QP_STATE | ibv::IBV_QP_QKEY;
        let attr = query(self.device(), self.path.native, mask)?.0;
        if attr.qp_state == ibv::IBV_QPS_RESET {
            return Err(Error::text(VBN_ERR_ARGUMENT, "the queue pair is in RESET and has no QKEY yet")
                .on(self.device().name())
                .hint("call vbn_qp_prepare first"));
        }
        Ok(attr.qkey)
    }

    /// The port that it was brought up on; 1 before that.
    pub fn port_num(&self) -> Result<u8> {
        Ok(query(self.device(), self.path.native, ibv::IBV_QP_STATE | ibv::IBV_QP_PORT)?.0.port_num.max(1))
    }

    /// Most bytes that one RDMA request may move.
    pub fn max_rdma(&self) -> u64 {
        self.path.rules.max_rdma.into()
    }

    /// For what only connected queue pairs have.
    pub fn must_be_connected(&self) -> Result<()> {
        if is_connected(self.qp_type) {
            return Ok(());
        }
        Err(self.wrong_type("RC or UC", "vbn_qp_prepare brings others up"))
    }

    pub fn must_be_connectionless(&self) -> Result<()> {
        if matches!(self.qp_type, VBN_QPT_UD | VBN_QPT_SRD) {
            return Ok(());
        }
        Err(self.wrong_type("UD or SRD", "RC and UC queue pairs have no QKEY: see vbn_qp_connect"))
    }

    fn wrong_type(&self, wanted: &'static str, hint: &'static str) -> Error {
        Error::argument(Reason::NotOneOfSigned("qp_type", wanted))
            .value(i64::from(self.qp_type) as u64, 0)
            .on(self.device().name())
            .hint(hint)
    }

    pub fn info(&self) -> Result<vbn_qp_info> {
        let mut info = vbn_qp_info::from_native(&self.attributes()?);
        info.user_data = self.user_data;
        info.qp_num = self.number();
        info.qp_type = self.qp_type;
        info.max_send_wr = self.cap.max_send_wr;
        info.max_recv_wr = self.cap.max_recv_wr;
        info.max_send_sge = self.cap.max_send_sge;
        info.max_recv_sge = self.cap.max_recv_sge;
        info.max_inline_data = self.cap.max_inline_data;
        info.max_message = self.path.rules.max_message;
        info.max_rdma = self.path.rules.max_rdma;
        info.flags = self.flags;
        info.post_path = if self.path.rules.wr.is_some() { VBN_POST_PATH_WR } else { VBN_POST_PATH_POST_SEND };
        info.send_ops = self.path.rules.opcodes;
        info.sq_sig_all = u8::from(self.sq_sig_all);
        info.has_srq = u8::from(self.path.rules.no_recv.is_some_and(|why| why == RECEIVES_ARE_SHARED));
        Ok(info)
    }

    /// Changes attributes; `attr.set` says which.
    pub fn modify(&self, attr: &vbn_qp_attr) -> Result<()> {
        let mut native = attr.to_native()?;
        self.modify_native(&mut native, attr.set as i32)
    }

    /// `ibv_modify_qp`, with a failure traced to the attribute at fault where that can be told.
    pub fn modify_native(&self, attr: &mut ibv_qp_attr, mask: i32) -> Result<()> {
        // SAFETY: the queue pair is live.
        let done = self
            .device()
            .ret("ibv_modify_qp", || unsafe { (self.device().verbs().modify_qp)(self.native(), attr, mask) });
        if done.is_ok() && mask & ibv::IBV_QP_STATE != 0 && attr.qp_state == ibv::IBV_QPS_RESET {
            self.first_error.clear();
        }
        done.map_err(|error| suspect::explain(self, attr, mask, error.errno))
    }

    /// Joins a multicast group, or leaves it.
    pub fn mcast(&self, gid: &[u8; 16], lid: u16, attach: bool) -> Result<()> {
        if self.qp_type != VBN_QPT_UD {
            return Err(self.wrong_type("UD", "multicast is for UD alone"));
        }
        let limit = self.device().device().max_mcast_grp;
        if limit <= 0 {
            return Err(
                Error::text(VBN_ERR_NOT_SUPPORTED, "multicast is not supported by device").on(self.device().name())
            );
        }
        if !is_multicast(gid) {
            return Err(Error::text(
                VBN_ERR_ARGUMENT,
                "the GID is no multicast group: ff00::/8, or on RoCE v2 ::ffff:224.0.0.0/100",
            ));
        }
        let verbs = self.device().verbs();
        let (call, name) =
            if attach { (verbs.attach_mcast, "ibv_attach_mcast") } else { (verbs.detach_mcast, "ibv_detach_mcast") };
        let native = ibv_gid { raw: *gid };
        // SAFETY: the queue pair is live and the GID ours.
        self.device().ret(name, || unsafe { call(self.native(), &native, lid) }).map_err(|error| match error.errno {
            libc::EINVAL if attach => error.hint(
                "the queue pair must have left RESET, and lid be the group's own: on RoCE 0, on InfiniBand from 0xc000",
            ),
            libc::EINVAL => error.hint("it is not attached to that group (gid and lid must be the same)"),
            libc::ENOMEM => error
                .value(limit as u64, self.device().device().max_mcast_qp_attach.max(0) as u64)
                .hint("the device is out of groups (value has its limit) or of queue pairs in this one (limit)"),
            _ => error,
        })
    }

    /// The first failed completion of this queue pair that was not a flush, among those polled through this library.
    pub fn first_error(&self) -> Option<vbn_wc> {
        self.first_error.get()
    }
}

/// ff00::/8, and 224.0.0.0/4 as RoCE v2 writes it.
fn is_multicast(gid: &[u8; 16]) -> bool {
    matches!(gid, [0xff, ..] | [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xe0..=0xef, ..])
}

/// Posting calls the driver's operations without looking, so they must be there before there is a handle to post on.
fn has_operations(context: &Context) -> Result<()> {
    let ops = &context.content().ops;
    for (there, name) in [(ops.post_send.is_some(), "post_send"), (ops.post_recv.is_some(), "post_recv")] {
        if !there {
            return Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NoOperation(name)).on(context.name()));
        }
    }
    Ok(())
}

/// Why a queue pair takes no receives.
const RECEIVES_ARE_SHARED: &str = "the queue pair has no receives of its own: they come from its shared receive queue";
const XRC_HAS_NO_RECEIVES: &str = "an XRC queue pair has no receives of its own: messages name a shared receive queue";

/// EFA's receive descriptors have 16 bits for the length; libefa cuts what is longer.
const EFA_RECV_SEGMENT: u32 = 0xffff;

/// What the type of the queue pair and the device ask of requests.
fn rules(context: &Context, qp_type: i32, opcodes: u64, sq_sig_all: bool, flags: u64) -> Rules {
    let xrc = matches!(qp_type, VBN_QPT_XRC_SEND | VBN_QPT_XRC_RECV);
    // The requests of a raw packet queue pair are whole packets, which carry their own address.
    let connected = is_connected(qp_type) || xrc || qp_type == VBN_QPT_RAW_PACKET;
    let mut rules = Rules { opcodes, connected, xrc, ..Rules::common() };
    if let Some(device) = context.efa() {
        let caps = &device.attr;
        rules.efa = true;
        rules.old_efa = qp_type == VBN_QPT_SRD && device.may_hide_write();
        rules.must_signal = !sq_sig_all;
        rules.max_rdma = caps.max_rdma_size;
        rules.max_recv_segment = EFA_RECV_SEGMENT;
        rules.inline_write = flags & VBN_QP_INLINE_WRITE != 0;
    }
    rules
}

/// The builder of a queue pair whose requests go through ibv_wr_*, with all that posting calls.
fn wr_of(context: &Context, native: NonNull<ibv_qp>, ops: u64) -> Result<NonNull<ibv_qp_ex>> {
    // SAFETY: the queue pair is live.
    let wr = NonNull::new(unsafe { (context.verbs().qp_to_qp_ex)(native.as_ptr()) });
    match wr.filter(|wr| wr_operations(*wr, ops) & ops == ops) {
        Some(wr) => Ok(wr),
        None => Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NoOperation("ibv_wr_*")).on(context.name())),
    }
}

/// The operations of a builder, if it has what every one of them needs. `made_for`: the last two are in the struct only if the
/// queue pair was made for them.
fn wr_operations(builder: NonNull<ibv_qp_ex>, made_for: u64) -> u64 {
    let place = builder.as_ptr();
    // SAFETY: the builder lives as long as its queue pair; these fields are in it since there are builders.
    let last_two = unsafe {
        let has = |op: u64, there: &dyn Fn() -> bool| if made_for & op != 0 && there() { op } else { 0 };
        has(VBN_QP_OP_ATOMIC_WRITE, &|| (*place).wr_atomic_write.is_some())
            | has(VBN_QP_OP_FLUSH, &|| (*place).wr_flush.is_some())
    };
    // SAFETY: as above.
    let wr = unsafe { &*place };
    let frame = wr.wr_start.is_some()
        && wr.wr_complete.is_some()
        && wr.wr_abort.is_some()
        && wr.wr_set_sge.is_some()
        && wr.wr_set_sge_list.is_some()
        && wr.wr_set_inline_data_list.is_some();
    let connected = matches!(wr.qp_base.qp_type, ibv::IBV_QPT_RC | ibv::IBV_QPT_UC);
    if !frame || (!connected && wr.wr_set_ud_addr.is_none()) {
        return 0;
    }
    let has = |there: bool, op: u64| if there { op } else { 0 };
    has(wr.wr_send.is_some(), VBN_QP_OP_SEND)
        | has(wr.wr_send_imm.is_some(), VBN_QP_OP_SEND_WITH_IMM)
        | has(wr.wr_rdma_read.is_some(), VBN_QP_OP_RDMA_READ)
        | has(wr.wr_rdma_write.is_some(), VBN_QP_OP_RDMA_WRITE)
        | has(wr.wr_rdma_write_imm.is_some(), VBN_QP_OP_RDMA_WRITE_WITH_IMM)
        | has(wr.wr_atomic_cmp_swp.is_some(), VBN_QP_OP_ATOMIC_CMP_AND_SWP)
        | has(wr.wr_atomic_fetch_add.is_some(), VBN_QP_OP_ATOMIC_FETCH_AND_ADD)
        | has(wr.wr_local_inv.is_some(), VBN_QP_OP_LOCAL_INV)
        | has(wr.wr_bind_mw.is_some(), VBN_QP_OP_BIND_MW)
        | has(wr.wr_send_inv.is_some(), VBN_QP_OP_SEND_WITH_INV)
        | last_two
}

/// Where hints about a request are given; NULL where the provider has none.
fn hints_of(context: &Context, wr: Option<NonNull<ibv_qp_ex>>) -> *mut efadv_qp {
    let of = context.efa().and_then(|device| device.provider.functions.qp_from_ibv_qp_ex);
    match (of, wr) {
        // SAFETY: the queue pair is an EFA's and live.
        (Some(of), Some(wr)) => unsafe { of(wr.as_ptr()) },
        _ => ptr::null_mut(),
    }
}

/// (type, operations, builder) of a queue pair that raw verbs made.
fn adopted(context: &Context, native: NonNull<ibv_qp>) -> Result<(i32, u64, Option<NonNull<ibv_qp_ex>>)> {
    // SAFETY: the caller says that this is a live ibv_qp.
    let qp_type = unsafe { native.as_ref() }.qp_type;
    let srd = qp_type == ibv::IBV_QPT_DRIVER && context.efa().is_some();
    match qp_type {
        ibv::IBV_QPT_RC => Ok((VBN_QPT_RC, qp_ops::of_rc(context), None)),
        ibv::IBV_QPT_UC => Ok((VBN_QPT_UC, UC_OPS, None)),
        ibv::IBV_QPT_XRC_SEND => srq::has_xrc(context).map(|()| (VBN_QPT_XRC_SEND, qp_ops::of_rc(context), None)),
        ibv::IBV_QPT_XRC_RECV => srq::has_xrc(context).map(|()| (VBN_QPT_XRC_RECV, 0, None)),
        ibv::IBV_QPT_UD => Ok((VBN_QPT_UD, UD_OPS, None)),
        ibv::IBV_QPT_RAW_PACKET => Ok((VBN_QPT_RAW_PACKET, VBN_QP_OP_SEND, None)),
        ibv::IBV_QPT_DRIVER if srd => {
            // SAFETY: the queue pair is live.
            let wr = NonNull::new(unsafe { (context.verbs().qp_to_qp_ex)(native.as_ptr()) });
            match wr.map(|wr| (wr, wr_operations(wr, 0))).filter(|(_, ops)| *ops != 0) {
                Some((wr, ops)) => Ok((VBN_QPT_SRD, ops, Some(wr))),
                None => Err(Error::text(VBN_ERR_NOT_SUPPORTED, "the SRD queue pair was made without send operations")
                    .on(context.name())
                    .hint("make it with efadv_create_qp_ex and IBV_QP_INIT_ATTR_SEND_OPS_FLAGS")),
            }
        }
        other => Err(Error::new(
            VBN_ERR_NOT_SUPPORTED,
            Reason::NotOneOf("qp_type", "RC, UC, UD, XRC, RAW_PACKET, or SRD on an EFA"),
        )
        .value(other.into(), 0)
        .on(context.name())),
    }
}

/// Largest message, as the first port has it; some drivers leave it 0 for "no limit of ours". A UD message is one packet, so it
/// can't be longer than the largest MTU of the ports (soft-RoCE drops a longer one with success). EFA tells its own limit.
fn max_message(context: &Context, qp_type: i32) -> u32 {
    if qp_type == VBN_QPT_UD && context.efa().is_none() {
        let mtus = (1..=context.ports()).filter_map(|port| context.port(port).ok()).map(|port| port.active_mtu);
        return mtus.max().filter(|mtu| (1..=VBN_MTU_4096 as u32).contains(mtu)).map_or(u32::MAX, |mtu| 128 << mtu);
    }
    context.port(1).map(|port| port.max_msg_sz).ok().filter(|size| *size != 0).unwrap_or(u32::MAX)
}

fn entry_of(vacant: &Vacant<Qp>) -> *const () {
    ptr::from_ref(vacant.slot()).cast()
}

const EFA_QUERY: i32 = ibv::IBV_QP_STATE
    | ibv::IBV_QP_PKEY_INDEX
    | ibv::IBV_QP_PORT
    | ibv::IBV_QP_QKEY
    | ibv::IBV_QP_SQ_PSN
    | ibv::IBV_QP_CAP;

const RC_QUERY: i32 = ibv::IBV_QP_STATE
    | ibv::IBV_QP_CUR_STATE
    | ibv::IBV_QP_ACCESS_FLAGS
    | ibv::IBV_QP_PKEY_INDEX
    | ibv::IBV_QP_PORT
    | ibv::IBV_QP_AV
    | ibv::IBV_QP_PATH_MTU
    | ibv::IBV_QP_TIMEOUT
    | ibv::IBV_QP_RETRY_CNT
    | ibv::IBV_QP_RNR_RETRY
    | ibv::IBV_QP_RQ_PSN
    | ibv::IBV_QP_MAX_QP_RD_ATOMIC
    | ibv::IBV_QP_MIN_RNR_TIMER
    | ibv::IBV_QP_SQ_PSN
    | ibv::IBV_QP_MAX_DEST_RD_ATOMIC
    | ibv::IBV_QP_PATH_MIG_STATE
    | ibv::IBV_QP_CAP
    | ibv::IBV_QP_DEST_QPN;

/// What UC has no use for.
const RC_ONLY: i32 = ibv::IBV_QP_TIMEOUT
    | ibv::IBV_QP_RETRY_CNT
    | ibv::IBV_QP_RNR_RETRY
    | ibv::IBV_QP_MAX_QP_RD_ATOMIC
    | ibv::IBV_QP_MIN_RNR_TIMER
    | ibv::IBV_QP_MAX_DEST_RD_ATOMIC;

/// What the driver says of the attributes in `mask`.
pub fn query(context: &Context, native: NonNull<ibv_qp>, mask: i32) -> Result<(ibv_qp_attr, ibv_qp_init_attr)> {
    let mut attr = MaybeUninit::<ibv_qp_attr>::zeroed();
    let mut init = MaybeUninit::<ibv_qp_init_attr>::zeroed();
    // SAFETY: the queue pair is live and both structs are ours.
    context.ret("ibv_query_qp", || unsafe {
        (context.verbs().query_qp)(native.as_ptr(), attr.as_mut_ptr(), mask, init.as_mut_ptr())
    })?;
    // SAFETY: all-zero is valid for both, and the call wrote numbers and pointers.
    Ok(unsafe { (attr.assume_init(), init.assume_init()) })
}

/// A completion that is stored once and read by anybody; clearing it makes room for another one.
struct FirstError {
    /// Lowest two bits: EMPTY, WRITING or THERE. Above them: how often it was cleared, so that a reader sees that what it copied
    /// was replaced meanwhile.
    state: AtomicU32,
    wc: [AtomicU64; WORDS],
}

const EMPTY: u32 = 0;
const WRITING: u32 = 1;
const THERE: u32 = 2;
const PHASE: u32 = 3;
const WORDS: usize = size_of::<vbn_wc>() / 8;

impl FirstError {
    const fn new() -> Self {
        Self { state: AtomicU32::new(EMPTY), wc: [const { AtomicU64::new(0) }; WORDS] }
    }

    fn set(&self, wc: &vbn_wc) {
        // A plain look first: a queue pair that fails does so many times.
        let state = self.state.load(Ordering::Relaxed);
        if state & PHASE == EMPTY
            && self.state.compare_exchange(state, state | WRITING, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            // SAFETY: numbers without padding between them.
            let words = unsafe { std::mem::transmute::<vbn_wc, [u64; WORDS]>(*wc) };
            for (to, from) in self.wc.iter().zip(words) {
                // Release: whoever sees the word sees that the old value was cleared.
                to.store(from, Ordering::Release);
            }
            self.state.store(state | THERE, Ordering::Release);
        }
    }

    fn get(&self) -> Option<vbn_wc> {
        loop {
            let state = self.state.load(Ordering::Acquire);
            if state & PHASE != THERE {
                return None;
            }
            let words = self.wc.each_ref().map(|word| word.load(Ordering::Acquire));
            if self.state.load(Ordering::Relaxed) == state {
                // SAFETY: the words of one completion, as `set` took it apart.
                return Some(unsafe { std::mem::transmute::<[u64; WORDS], vbn_wc>(words) });
            }
        }
    }

    fn clear(&self) {
        let state = self.state.load(Ordering::Relaxed);
        if state & PHASE == THERE {
            let empty = (state & !PHASE).wrapping_add(PHASE + 1);
            let _ = self.state.compare_exchange(state, empty, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

/// Called by polling, for a failure that is not a flush: finds the queue pair and notes it there. It looks at every slot, which
/// is little for a queue pair that fails once; a type whose requests fail one by one (SRD) needs an index of the numbers.
pub fn note_failure(context: *const Slot<Context>, cq: *mut ibv_cq, wc: &vbn_wc) {
    if let Some(qp) = SLAB.live_with(context, wc.qp_num).find(|qp| qp.native_cqs.contains(&cq)) {
        qp.first_error.set(wc);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(n: u32) -> vbn_wc {
        // SAFETY: all numbers.
        let mut wc: vbn_wc = unsafe { std::mem::zeroed() };
        (wc.wr_id, wc.status, wc.vendor_err, wc.qp_num) = (n.into(), n as i32, n, n);
        wc
    }

    #[test]
    fn the_first_error_stays_until_it_is_cleared() {
        let first = FirstError::new();
        assert!(first.get().is_none());
        first.set(&failure(7));
        first.set(&failure(8));
        assert_eq!(first.get().unwrap().qp_num, 7);
        first.clear();
        first.clear();
        assert!(first.get().is_none());
        first.set(&failure(9));
        assert_eq!(first.get().unwrap().qp_num, 9);
    }

    #[test]
    fn a_reader_never_sees_parts_of_two() {
        let first = FirstError::new();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = 0;
                while !over.load(Ordering::Relaxed) {
                    if let Some(wc) = first.get() {
                        let all = (wc.wr_id, wc.status as u32, wc.vendor_err, wc.qp_num);
                        assert_eq!(all, (wc.qp_num.into(), wc.qp_num, wc.qp_num, wc.qp_num));
                        seen += 1;
                    }
                }
                seen
            });
            for n in 0..200_000 {
                first.set(&failure(n));
                first.clear();
            }
            over.store(true, Ordering::Relaxed);
            reader.join().unwrap();
        });
    }
}
