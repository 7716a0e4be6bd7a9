// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared receive queues: receives that several queue pairs take from.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::cq::Cq;
use super::error::{Error, Reason, Result};
use super::event::VBN_ELEMENT_SRQ;
use super::handle::vbn_cq;
use super::pd::Pd;
use super::slab::{Kind, Object, Ref, Slab, Slot};
use super::status::*;
use super::table;
use crate::sys::ibv::{
    self, Zeroed, ibv_device_attr_ex, ibv_srq, ibv_srq_attr, ibv_srq_init_attr, ibv_srq_init_attr_ex, ibv_tm_cap,
    ibv_xrcd,
};
use crate::sys::inline;

/// A plain shared receive queue, for RC, UC and UD queue pairs.
pub const VBN_SRQT_BASIC: i32 = 0;
/// For extended reliable connected queue pairs.
pub const VBN_SRQT_XRC: i32 = 1;
/// One that matches tags. The tags themselves are posted by ibv_post_srq_ops on what vbn_srq_native lends.
pub const VBN_SRQT_TM: i32 = 2;

/// `vbn_srq_modify_attr.set`: max_wr.
pub const VBN_SRQ_SET_MAX_WR: u64 = 1;
/// `vbn_srq_modify_attr.set`: limit.
pub const VBN_SRQ_SET_LIMIT: u64 = 2;
/// cbindgen:ignore
const MODIFY_SET: u64 = VBN_SRQ_SET_MAX_WR | VBN_SRQ_SET_LIMIT;

/// Depth that the caller leaves open.
const DEFAULT_DEPTH: u32 = 128;

/// What `vbn_srq_create` may be told. All-zero is the default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_srq_attr {
    /// sizeof(vbn_srq_attr).
    pub struct_size: usize,
    /// Comes back in events and queries.
    pub user_data: u64,
    /// Receives that it holds. 0: 128, or the device's limit if lower.
    pub max_wr: u32,
    /// Segments of a receive. 0: 1.
    pub max_sge: u32,
    /// VBN_EVENT_SRQ_LIMIT_REACHED comes when fewer receives are left, once. 0: never.
    pub limit: u32,
    /// VBN_SRQT_*.
    pub srq_type: i32,
    /// XRC: an `ibv_xrcd` of the same device, which must outlive the queue. Otherwise NULL.
    pub xrcd: *mut ibv_xrcd,
    /// XRC and TM: where its receives complete; kept alive. Otherwise NULL: each queue pair has its own.
    pub cq: *mut vbn_cq,
    /// TM: tags that it holds.
    pub max_num_tags: u32,
    /// TM: operations on its tags that may be under way.
    pub max_ops: u32,
}

/// What `vbn_srq_query` tells.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_srq_info {
    /// sizeof(vbn_srq_info), set by the caller.
    pub struct_size: usize,
    /// As given at creation.
    pub user_data: u64,
    /// Receives that it holds, as the device has it.
    pub max_wr: u32,
    /// Segments of a receive, as the device has it.
    pub max_sge: u32,
    /// The limit whose event is still to come; 0: none.
    pub limit: u32,
    /// VBN_SRQT_*. An adopted one is taken for XRC if it has a number, and else for basic.
    pub srq_type: i32,
    /// XRC: its number, which peers need. Otherwise 0.
    pub srq_num: u32,
    /// The kernel's number of the queue; events carry it.
    pub handle: u32,
}

/// What `vbn_srq_modify` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_srq_modify_attr {
    /// sizeof(vbn_srq_modify_attr).
    pub struct_size: usize,
    /// VBN_SRQ_SET_*: what to change.
    pub set: u64,
    /// Receives that it shall hold, where the device can resize it.
    pub max_wr: u32,
    /// As vbn_srq_attr.limit. The event takes the limit away: set it again for the next.
    pub limit: u32,
}
cold_structs!(vbn_srq_attr, vbn_srq_info, vbn_srq_modify_attr);

/// A shared receive queue. What posting needs comes first.
#[repr(C)]
pub struct Srq {
    pub native: NonNull<ibv_srq>,
    pub max_sge: u32,
    /// For the sentence about a full queue.
    pub max_wr: AtomicU32,
    pd: Ref<Pd>,
    /// Held so that it outlives the queue.
    _cq: Option<Ref<Cq>>,
    ownership: Ownership,
    user_data: u64,
    srq_type: i32,
    /// Marks this object's entry in the context's table.
    entry: *const (),
}

// SAFETY: posting is as thread-safe as the provider; everything else in libibverbs is.
unsafe impl Send for Srq {}
// SAFETY: as above.
unsafe impl Sync for Srq {}

static SLAB: Slab<Srq> = Slab::new();

impl Object for Srq {
    const KIND: Kind = Kind::Srq;
    /// Queue pairs keep it.
    const LEAF: bool = false;

    fn slab() -> &'static Slab<Self> {
        &SLAB
    }

    fn context(&self) -> Option<&Context> {
        Some(self.device())
    }

    fn native_address(&self) -> *const c_void {
        self.native().cast_const().cast()
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native(), || {
            // SAFETY: the queue is ours and no queue pair of ours uses it any more.
            self.device()
                .ret("ibv_destroy_srq", || unsafe { (self.device().verbs().destroy_srq)(self.native()) })
                .map_err(|error| error.if_busy("destroy the queue pairs that raw verbs made on it"))
        })
    }

    fn forget(&self) {
        self.device().unregister(self.native().cast(), self.entry);
    }

    fn ownership(&self) -> Ownership {
        self.ownership
    }
}

impl Srq {
    pub fn create(pd: Ref<Pd>, cq: Option<Ref<Cq>>, attr: &vbn_srq_attr) -> Result<&'static Slot<Srq>> {
        let context = pd.context().clone();
        check_type(attr, cq.as_ref())?;
        if let Some(cq) = &cq
            && !context.is(cq.context().slot())
        {
            return Err(Error::argument(Reason::Unrelated("cq", "context than pd")));
        }
        has_post(&context)?;
        let wanted = wanted(&context, attr)?;
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let (native, granted) = make(&pd, cq.as_ref(), attr, wanted).map_err(|error| explain(error, attr))?;
        // As with queue pairs, the true depth may be known to the driver's query alone.
        let granted = query(&context, native).map_or(granted, |told| ibv_srq_attr { srq_limit: 0, ..told });
        let srq = Srq {
            native,
            max_sge: granted.max_sge,
            max_wr: AtomicU32::new(granted.max_wr),
            pd,
            _cq: cq,
            ownership: Ownership::Own,
            user_data: attr.user_data,
            srq_type: attr.srq_type,
            entry: ptr::from_ref(vacant.slot()).cast(),
        };
        if attr.limit > 0 {
            // The limit at creation is "irrelevant", as ibv_create_srq(3) has it.
            srq.set(&ibv_srq_attr { srq_limit: attr.limit, ..granted }, ibv::IBV_SRQ_LIMIT).inspect_err(|_| {
                // SAFETY: it was made above, and nobody knows it.
                unsafe { (context.verbs().destroy_srq)(native.as_ptr()) };
            })?;
        }
        room.insert(native.as_ptr().cast(), srq.table_entry());
        Ok(vacant.publish(srq))
    }

    /// Takes in a shared receive queue made by raw verbs in the same PD.
    pub fn adopt(pd: Ref<Pd>, native: *mut ibv_srq, attr: &vbn_adopt_attr) -> Result<&'static Slot<Srq>> {
        let (native, ownership) = adopt::check::<Srq, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_srq.
        if unsafe { native.as_ref() }.pd != pd.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_srq", "ibv_pd")));
        }
        let context = pd.context().clone();
        has_post(&context)?;
        let told = query(&context, native)?;
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let srq = Srq {
            native,
            max_sge: told.max_sge,
            max_wr: AtomicU32::new(told.max_wr),
            pd,
            _cq: None,
            ownership,
            user_data: attr.user_data,
            srq_type: if number(native).is_some() { VBN_SRQT_XRC } else { VBN_SRQT_BASIC },
            entry: ptr::from_ref(vacant.slot()).cast(),
        };
        room.insert(native.as_ptr().cast(), srq.table_entry());
        Ok(vacant.publish(srq))
    }

    /// How events of the context find the handle.
    fn table_entry(&self) -> table::Entry {
        table::Entry { kind: VBN_ELEMENT_SRQ, slot: self.entry, user_data: self.user_data }
    }

    pub fn native(&self) -> *mut ibv_srq {
        self.native.as_ptr()
    }

    /// The open device that the queue is on.
    pub fn device(&self) -> &Ref<Context> {
        self.pd.context()
    }

    /// VBN_SRQT_*.
    pub fn srq_type(&self) -> i32 {
        self.srq_type
    }

    pub fn info(&self) -> Result<vbn_srq_info> {
        let told = query(self.device(), self.native)?;
        Ok(vbn_srq_info {
            struct_size: size_of::<vbn_srq_info>(),
            user_data: self.user_data,
            max_wr: told.max_wr,
            max_sge: told.max_sge,
            limit: told.srq_limit,
            srq_type: self.srq_type,
            srq_num: if self.srq_type == VBN_SRQT_XRC { number(self.native).unwrap_or(0) } else { 0 },
            // SAFETY: it lives as long as this object.
            handle: unsafe { self.native.as_ref() }.handle,
        })
    }

    /// Changes depth or limit.
    pub fn modify(&self, attr: &vbn_srq_modify_attr) -> Result<()> {
        if attr.set & !MODIFY_SET != 0 {
            return Err(Error::unknown_bits("set", attr.set, MODIFY_SET));
        }
        if attr.set == 0 {
            return Err(Error::range("set", 0, "naming anything to change").hint("set VBN_SRQ_SET_* bits"));
        }
        if attr.set & VBN_SRQ_SET_MAX_WR != 0 {
            if attr.max_wr == 0 {
                return Err(Error::range("max_wr", 0, "1 or more"));
            }
            check_depth(self.device(), attr.max_wr)?;
        }
        let wanted = ibv_srq_attr { max_wr: attr.max_wr, max_sge: self.max_sge, srq_limit: attr.limit };
        self.set(&wanted, attr.set as i32)
    }

    fn set(&self, wanted: &ibv_srq_attr, mask: i32) -> Result<()> {
        let mut native = *wanted;
        // SAFETY: the queue is live.
        let done = self
            .device()
            .ret("ibv_modify_srq", || unsafe { (self.device().verbs().modify_srq)(self.native(), &mut native, mask) });
        if let Err(error) = done {
            return Err(self.suspect(error, wanted, mask));
        }
        if mask & ibv::IBV_SRQ_MAX_WR != 0 {
            // The device may have granted more; without an answer what was asked for is as good.
            let now = query(self.device(), self.native).map_or(wanted.max_wr, |told| told.max_wr);
            self.max_wr.store(now, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Which of the values the driver refused, where that can be told.
    fn suspect(&self, error: Error, wanted: &ibv_srq_attr, mask: i32) -> Error {
        if error.errno != libc::EINVAL {
            return error;
        }
        let Ok(now) = query(self.device(), self.native) else { return error };
        let resized = mask & ibv::IBV_SRQ_MAX_WR != 0;
        let depth = if resized { wanted.max_wr } else { now.max_wr };
        let why = |reason, value: u32, limit: u32| Error {
            errno: error.errno,
            status: error.status,
            ..Error::argument(reason).value(value.into(), limit.into()).on(self.device().name())
        };
        if mask & ibv::IBV_SRQ_LIMIT != 0 && wanted.srq_limit > depth {
            return why(Reason::CallExceeds("ibv_modify_srq", "limit"), wanted.srq_limit, depth)
                .hint("the limit can't be above max_wr");
        }
        if resized && wanted.max_wr < now.srq_limit {
            return why(
                Reason::CallBecause("ibv_modify_srq", "max_wr is below the limit that is set"),
                wanted.max_wr,
                now.srq_limit,
            )
            .hint("set a lower limit first");
        }
        if resized {
            return error
                .value(wanted.max_wr.into(), now.max_wr.into())
                .hint("more receives may be on the queue than max_wr, or the device can't resize it");
        }
        error
    }
}

/// Posting calls the driver's operation without looking, so it must be there before there is a handle.
fn has_post(context: &Context) -> Result<()> {
    if context.content().ops.post_srq_recv.is_some() {
        return Ok(());
    }
    Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NoOperation("post_srq_recv")).on(context.name()))
}

/// Whether the fields that only some types have are set as the type wants it.
fn check_type(attr: &vbn_srq_attr, cq: Option<&Ref<Cq>>) -> Result<()> {
    let (xrc, tm) = match attr.srq_type {
        VBN_SRQT_BASIC => (false, false),
        VBN_SRQT_XRC => (true, false),
        VBN_SRQT_TM => (false, true),
        other => {
            return Err(Error::range_signed("srq_type", other.into(), "one of VBN_SRQT_BASIC (0), XRC (1), TM (2)"));
        }
    };
    let wrong = |what| Err(Error::text(VBN_ERR_ARGUMENT, what));
    match (attr.xrcd.is_null(), cq.is_none()) {
        (true, _) if xrc => wrong("xrcd is NULL, and a shared receive queue for XRC needs its domain"),
        (false, _) if !xrc => wrong("xrcd is set, but srq_type is not VBN_SRQT_XRC"),
        (_, true) if xrc || tm => wrong("cq is NULL, and this type of shared receive queue needs one"),
        (_, false) if !xrc && !tm => {
            wrong("cq is set, but a basic shared receive queue has none: each queue pair has its own")
        }
        _ if !tm && (attr.max_num_tags != 0 || attr.max_ops != 0) => {
            wrong("max_num_tags or max_ops is set, but srq_type is not VBN_SRQT_TM")
        }
        _ => Ok(()),
    }
}

/// Depth and segments, with the defaults filled in, within the device's limits.
fn wanted(context: &Context, attr: &vbn_srq_attr) -> Result<ibv_srq_attr> {
    let device = context.device();
    if device.max_srq <= 0 {
        let error = Error::text(VBN_ERR_NOT_SUPPORTED, "the device has no shared receive queues").on(context.name());
        return Err(if context.efa().is_some() {
            error.hint("an EFA never has: post receives on each queue pair")
        } else {
            error.hint("post receives on each queue pair")
        });
    }
    let max_wr = if attr.max_wr == 0 { DEFAULT_DEPTH.min(device.max_srq_wr as u32) } else { attr.max_wr };
    check_depth(context, max_wr)?;
    let max_sge = attr.max_sge.max(1);
    if i64::from(max_sge) > i64::from(device.max_srq_sge) {
        return Err(exceeds(context, "max_sge", max_sge, device.max_srq_sge));
    }
    if attr.limit > max_wr {
        return Err(Error::argument(Reason::ExceedsNamed("limit", "max_wr"))
            .value(attr.limit.into(), max_wr.into())
            .on(context.name()));
    }
    Ok(ibv_srq_attr { max_wr, max_sge, srq_limit: attr.limit })
}

fn check_depth(context: &Context, max_wr: u32) -> Result<()> {
    let limit = context.device().max_srq_wr;
    if i64::from(max_wr) > i64::from(limit) { Err(exceeds(context, "max_wr", max_wr, limit)) } else { Ok(()) }
}

fn exceeds(context: &Context, what: &'static str, value: u32, limit: i32) -> Error {
    Error::limit(what, value.into(), limit.max(0) as u64)
        .on(context.name())
        .hint("vbn_context_query_device has the limits (max_srq_wr, max_srq_sge)")
}

/// Makes it, and tells what was granted.
fn make(
    pd: &Ref<Pd>,
    cq: Option<&Ref<Cq>>,
    attr: &vbn_srq_attr,
    wanted: ibv_srq_attr,
) -> Result<(NonNull<ibv_srq>, ibv_srq_attr)> {
    let context = pd.context();
    if attr.srq_type == VBN_SRQT_BASIC {
        let mut init = ibv_srq_init_attr { srq_context: ptr::null_mut(), attr: wanted };
        // SAFETY: the PD is live and the struct is ours.
        let native =
            context.made("ibv_create_srq", || unsafe { (context.verbs().create_srq)(pd.native(), &mut init) })?;
        return Ok((native, init.attr));
    }
    let mut init = ibv_srq_init_attr_ex::zeroed();
    init.attr = wanted;
    init.pd = pd.native();
    init.comp_mask = ibv::IBV_SRQ_INIT_ATTR_TYPE | ibv::IBV_SRQ_INIT_ATTR_PD | ibv::IBV_SRQ_INIT_ATTR_CQ;
    init.cq = cq.map_or(ptr::null_mut(), |cq| cq.native());
    if attr.srq_type == VBN_SRQT_XRC {
        has_xrc(context)?;
        init.srq_type = ibv::IBV_SRQT_XRC;
        init.comp_mask |= ibv::IBV_SRQ_INIT_ATTR_XRCD;
        init.xrcd = attr.xrcd;
    } else {
        has_tags(context, attr)?;
        init.srq_type = ibv::IBV_SRQT_TM;
        init.comp_mask |= ibv::IBV_SRQ_INIT_ATTR_TM;
        init.tm_cap = ibv_tm_cap { max_num_tags: attr.max_num_tags, max_ops: attr.max_ops };
    }
    let (verbs, native) = (context.verbs(), context.native());
    // SAFETY: the PD and the queue are live; that the domain is, is the caller's word.
    let native = context.made("ibv_create_srq_ex", || unsafe { inline::create_srq_ex(verbs, native, &mut init) })?;
    Ok((native, init.attr))
}

/// Whether the device knows XRC.
pub fn has_xrc(context: &Context) -> Result<()> {
    if context.device().device_cap_flags & ibv::IBV_DEVICE_XRC != 0 {
        return Ok(());
    }
    Err(Error::text(VBN_ERR_NOT_SUPPORTED, "XRC is not supported by device").on(context.name()))
}

fn has_tags(context: &Context, attr: &vbn_srq_attr) -> Result<()> {
    let mut caps = ibv_device_attr_ex::zeroed();
    let (verbs, native) = (context.verbs(), context.native());
    context.ret("ibv_query_device_ex", || {
        // SAFETY: the context is open.
        unsafe { inline::query_device_ex(verbs, native, ptr::null(), &mut caps) }
    })?;
    let limits = &caps.tm_caps;
    if limits.max_num_tags == 0 {
        return Err(Error::text(VBN_ERR_NOT_SUPPORTED, "tag matching is not supported by device").on(context.name()));
    }
    for (what, asked, limit) in
        [("max_num_tags", attr.max_num_tags, limits.max_num_tags), ("max_ops", attr.max_ops, limits.max_ops)]
    {
        if asked > limit {
            return Err(Error::limit(what, asked.into(), limit.into()).on(context.name()));
        }
    }
    Ok(())
}

/// A refused creation, and the usual suspect.
fn explain(error: Error, attr: &vbn_srq_attr) -> Error {
    match error.errno {
        libc::EOPNOTSUPP | libc::ENOSYS => {
            error.hint("the device or its driver lacks this type of shared receive queue")
        }
        libc::EINVAL if attr.srq_type == VBN_SRQT_XRC => error.hint("do xrcd, cq and pd belong to one device?"),
        libc::ENOMEM => error
            .hint("the device is out of shared receive queues or memory, or RLIMIT_MEMLOCK is too low for the queue"),
        _ => error,
    }
}

/// What the driver says of the queue.
fn query(context: &Context, native: NonNull<ibv_srq>) -> Result<ibv_srq_attr> {
    let mut attr = ibv_srq_attr::zeroed();
    // SAFETY: the queue is live and the struct is ours.
    context.ret("ibv_query_srq", || unsafe { (context.verbs().query_srq)(native.as_ptr(), &mut attr) })?;
    Ok(attr)
}

/// Its number, if it has one (XRC).
fn number(native: NonNull<ibv_srq>) -> Option<u32> {
    let mut number = 0;
    // SAFETY: the queue is live.
    (unsafe { inline::get_srq_num(native.as_ptr(), &mut number) } == 0).then_some(number)
}

const _: () = {
    assert!(VBN_SRQT_XRC as u32 == ibv::IBV_SRQT_XRC && VBN_SRQT_TM as u32 == ibv::IBV_SRQT_TM);
    assert!(VBN_SRQ_SET_MAX_WR == ibv::IBV_SRQ_MAX_WR as u64 && VBN_SRQ_SET_LIMIT == ibv::IBV_SRQ_LIMIT as u64);
};
