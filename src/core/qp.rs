// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs: creation, attributes, and the first failure seen on each.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::adopt::{self, Ownership, vbn_adopt_attr};
use super::cold::cold_structs;
use super::context::Context;
use super::cq::Cq;
use super::error::{Error, Reason, Result};
use super::event::VBN_ELEMENT_QP;
use super::handle::vbn_cq;
use super::lock::{Guard, Lock};
use super::pd::Pd;
use super::post::{
    Path, VBN_WR_RDMA_READ, VBN_WR_RDMA_WRITE, VBN_WR_RDMA_WRITE_WITH_IMM, VBN_WR_SEND, VBN_WR_SEND_WITH_IMM,
};
use super::qp_attr::{vbn_qp_attr, vbn_qp_info};
use super::slab::{Kind, Object, Ref, Slab, Slot, Vacant};
use super::status::*;
use super::suspect;
use super::table;
use super::wc::vbn_wc;
use crate::sys::ibv::{self, ibv_cq, ibv_qp, ibv_qp_attr, ibv_qp_cap, ibv_qp_init_attr};

/// Reliable connected.
pub const VBN_QPT_RC: i32 = 2;
/// Unreliable connected.
pub const VBN_QPT_UC: i32 = 3;
/// Unreliable datagram.
pub const VBN_QPT_UD: i32 = 4;
/// Raw Ethernet.
pub const VBN_QPT_RAW_PACKET: i32 = 8;
/// Extended reliable connected, sending side.
pub const VBN_QPT_XRC_SEND: i32 = 9;
/// Extended reliable connected, receiving side.
pub const VBN_QPT_XRC_RECV: i32 = 10;
/// The driver's own type; on EFA, SRD.
pub const VBN_QPT_DRIVER: i32 = 255;

/// `send_ops`: VBN_WR_RDMA_WRITE.
pub const VBN_QP_OP_RDMA_WRITE: u64 = 1 << VBN_WR_RDMA_WRITE;
/// `send_ops`: VBN_WR_RDMA_WRITE_WITH_IMM.
pub const VBN_QP_OP_RDMA_WRITE_WITH_IMM: u64 = 1 << VBN_WR_RDMA_WRITE_WITH_IMM;
/// `send_ops`: VBN_WR_SEND.
pub const VBN_QP_OP_SEND: u64 = 1 << VBN_WR_SEND;
/// `send_ops`: VBN_WR_SEND_WITH_IMM.
pub const VBN_QP_OP_SEND_WITH_IMM: u64 = 1 << VBN_WR_SEND_WITH_IMM;
/// `send_ops`: VBN_WR_RDMA_READ.
pub const VBN_QP_OP_RDMA_READ: u64 = 1 << VBN_WR_RDMA_READ;

/// What RC queue pairs can do here.
const RC_OPS: u64 = VBN_QP_OP_RDMA_WRITE
    | VBN_QP_OP_RDMA_WRITE_WITH_IMM
    | VBN_QP_OP_SEND
    | VBN_QP_OP_SEND_WITH_IMM
    | VBN_QP_OP_RDMA_READ;

/// `vbn_qp_init_attr.set`: max_send_wr counts even if it is 0.
pub const VBN_QP_INIT_SET_MAX_SEND_WR: u64 = 1;
/// `vbn_qp_init_attr.set`: max_recv_wr counts even if it is 0.
pub const VBN_QP_INIT_SET_MAX_RECV_WR: u64 = 2;
/// `vbn_qp_init_attr.set`: max_recv_sge counts even if it is 0.
pub const VBN_QP_INIT_SET_MAX_RECV_SGE: u64 = 4;

/// Depth of a queue that the caller leaves open.
const DEFAULT_DEPTH: u32 = 128;

/// What `vbn_qp_create` is told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_qp_init_attr {
    /// sizeof(vbn_qp_init_attr).
    pub struct_size: usize,
    /// VBN_QP_INIT_SET_*: fields whose zero is meant.
    pub set: u64,
    /// Comes back in events and queries.
    pub user_data: u64,
    /// Where sends complete. Required; kept alive.
    pub send_cq: *mut vbn_cq,
    /// Where receives complete. NULL: send_cq. Kept alive.
    pub recv_cq: *mut vbn_cq,
    /// VBN_QPT_*. 0: RC.
    pub qp_type: i32,
    /// Requests that the send queue holds. 0: 128, or the device's limit if lower.
    pub max_send_wr: u32,
    /// Requests that the receive queue holds. 0: likewise.
    pub max_recv_wr: u32,
    /// Segments of a send request. 0: 1.
    pub max_send_sge: u32,
    /// Segments of a receive request. 0: 1.
    pub max_recv_sge: u32,
    /// Bytes that VBN_SEND_INLINE may carry. 0: none asked for; the device may grant some.
    pub max_inline_data: u32,
    /// VBN_QP_OP_*: the operations that will be posted. 0: all that the type and device have.
    pub send_ops: u64,
    /// 1: every request completes, as if it had VBN_SEND_SIGNALED.
    pub sq_sig_all: u8,
    /// 0.
    pub reserved0: [u8; 7],
}
cold_structs!(vbn_qp_init_attr);

/// A queue pair.
pub struct Qp {
    path: Path,
    pd: Ref<Pd>,
    /// Held so that they outlive the queue pair; none where an adopted one's queues have no handle.
    _cqs: [Option<Ref<Cq>>; 2],
    ownership: Ownership,
    user_data: u64,
    cap: ibv_qp_cap,
    sq_sig_all: bool,
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

    fn context(&self) -> *const Slot<Context> {
        self.pd.context().slot()
    }

    fn native_address(&self) -> *const c_void {
        self.native().cast_const().cast()
    }

    fn number(&self) -> u32 {
        self.number
    }

    fn destroy(&self) -> Result<()> {
        self.ownership.destroy(self.native(), || {
            // SAFETY: the queue pair is ours and its handle is being closed.
            self.device().ret("ibv_destroy_qp", || unsafe { (self.device().verbs().destroy_qp)(self.native()) })
        })
    }

    fn forget(&self) {
        self.device().unregister(self.native().cast(), self.entry);
    }

    fn is_borrowed(&self) -> bool {
        self.ownership.is_borrowed()
    }

    fn device_is_gone(&self, told: bool) -> bool {
        self.ownership.is_own() && (told || self.device().is_gone())
    }
}

impl Qp {
    /// Makes a queue pair in RESET.
    pub fn create(
        pd: Ref<Pd>,
        send_cq: Ref<Cq>,
        recv_cq: Ref<Cq>,
        attr: &vbn_qp_init_attr,
    ) -> Result<&'static Slot<Qp>> {
        let context = pd.context().clone();
        for (cq, what) in [(&send_cq, "send_cq"), (&recv_cq, "recv_cq")] {
            if !context.is(cq.context().slot()) {
                return Err(Error::argument(Reason::Unrelated(what, "context than pd")));
            }
        }
        has_operations(&context)?;
        let ops = check_init(&context, attr)?;
        let mut init = ibv_qp_init_attr {
            qp_context: ptr::null_mut(),
            send_cq: send_cq.native(),
            recv_cq: recv_cq.native(),
            srq: ptr::null_mut(),
            cap: wanted_cap(&context, attr),
            qp_type: ibv::IBV_QPT_RC,
            sq_sig_all: attr.sq_sig_all.into(),
        };
        check_cap(&context, &init.cap)?;
        let max_message = max_message(&context);
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        // SAFETY: PD and queues are live and of one context.
        let native = context
            .made("ibv_create_qp", || unsafe { (context.verbs().create_qp)(pd.native(), &mut init) })
            .map_err(|error| explain_create(error, &init.cap))?;
        let cap = true_depth(&context, native, init.cap);
        let qp = Qp {
            path: path(native, ops, max_message, &cap),
            pd,
            _cqs: [Some(send_cq), Some(recv_cq)],
            ownership: Ownership::Own,
            user_data: attr.user_data,
            cap,
            sq_sig_all: attr.sq_sig_all != 0,
            first_error: FirstError::new(),
            steps: Lock::new(()),
            // SAFETY: it has just been made.
            number: unsafe { native.as_ref() }.qp_num,
            native_cqs: [init.send_cq, init.recv_cq],
            entry: entry_of(&vacant),
        };
        room.insert(native.as_ptr().cast(), qp.table_entry());
        Ok(vacant.publish(qp))
    }

    /// Takes in a queue pair made by raw verbs in the same PD.
    pub fn adopt(pd: Ref<Pd>, native: *mut ibv_qp, attr: &vbn_adopt_attr) -> Result<&'static Slot<Qp>> {
        let (native, ownership) = adopt::check::<Qp, _>(native, attr, 0)?;
        // SAFETY: the caller says that this is a live ibv_qp.
        let raw = unsafe { native.as_ref() };
        if raw.pd != pd.native() {
            return Err(Error::argument(Reason::Unrelated("the ibv_qp", "ibv_pd")));
        }
        let context = pd.context().clone();
        if raw.qp_type != ibv::IBV_QPT_RC {
            return Err(
                Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NotOneOf("qp_type", "RC")).value(raw.qp_type.into(), 0)
            );
        }
        has_operations(&context)?;
        let (_, init) = query(&context, native, ibv::IBV_QP_STATE | ibv::IBV_QP_CAP)?;
        // Completion queues with handles here are kept alive, as for a queue pair made here.
        let cqs = [raw.send_cq, raw.recv_cq].map(|cq| Cq::slab().find(context.slot(), cq.cast()));
        let max_message = max_message(&context);
        let vacant = SLAB.take()?;
        let room = context.reserve()?;
        let qp = Qp {
            path: path(native, RC_OPS, max_message, &init.cap),
            pd,
            _cqs: cqs,
            ownership,
            user_data: attr.user_data,
            cap: init.cap,
            sq_sig_all: init.sq_sig_all != 0,
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
        Ok(query(self.device(), self.path.native, RC_QUERY)?.0)
    }

    pub fn info(&self) -> Result<vbn_qp_info> {
        let mut info = vbn_qp_info::from_native(&self.attributes()?);
        info.user_data = self.user_data;
        info.qp_num = self.number();
        // SAFETY: the queue pair lives as long as this object.
        info.qp_type = unsafe { self.path.native.as_ref() }.qp_type as i32;
        info.max_send_wr = self.cap.max_send_wr;
        info.max_recv_wr = self.cap.max_recv_wr;
        info.max_send_sge = self.cap.max_send_sge;
        info.max_recv_sge = self.cap.max_recv_sge;
        info.max_inline_data = self.cap.max_inline_data;
        info.max_message = self.path.max_message;
        info.send_ops = self.path.opcodes;
        info.sq_sig_all = u8::from(self.sq_sig_all);
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

    /// The first failed completion of this queue pair that was not a flush, among those polled through this library.
    pub fn first_error(&self) -> Option<vbn_wc> {
        self.first_error.get()
    }
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

/// Largest message, as the first port has it; some drivers leave it 0 for "no limit of ours".
fn max_message(context: &Context) -> u32 {
    context.port(1).map(|port| port.max_msg_sz).ok().filter(|size| *size != 0).unwrap_or(u32::MAX)
}

/// Some drivers round the depths up and say so only when queried (rxe of kernel 6.1: 128 asked for and returned, 255 there).
fn true_depth(context: &Context, native: NonNull<ibv_qp>, granted: ibv_qp_cap) -> ibv_qp_cap {
    let queried = query(context, native, ibv::IBV_QP_STATE | ibv::IBV_QP_CAP).map_or(granted, |(attr, _)| attr.cap);
    ibv_qp_cap {
        max_send_wr: granted.max_send_wr.max(queried.max_send_wr),
        max_recv_wr: granted.max_recv_wr.max(queried.max_recv_wr),
        ..granted
    }
}

fn entry_of(vacant: &Vacant<Qp>) -> *const () {
    ptr::from_ref(vacant.slot()).cast()
}

fn path(native: NonNull<ibv_qp>, opcodes: u64, max_message: u32, cap: &ibv_qp_cap) -> Path {
    Path {
        native,
        opcodes,
        common: if cap.max_send_sge == 0 { 0 } else { opcodes },
        max_message,
        max_send_sge: cap.max_send_sge,
        max_recv_sge: cap.max_recv_sge,
        max_inline: cap.max_inline_data,
        max_send_wr: cap.max_send_wr,
        max_recv_wr: cap.max_recv_wr,
    }
}

/// Checks what does not depend on capacities; returns the operations to allow.
fn check_init(context: &Context, attr: &vbn_qp_init_attr) -> Result<u64> {
    const SET: u64 = VBN_QP_INIT_SET_MAX_SEND_WR | VBN_QP_INIT_SET_MAX_RECV_WR | VBN_QP_INIT_SET_MAX_RECV_SGE;
    if attr.set & !SET != 0 {
        return Err(Error::unknown_bits("set", attr.set, SET));
    }
    if attr.sq_sig_all > 1 {
        return Err(Error::range("sq_sig_all", attr.sq_sig_all.into(), "0 or 1"));
    }
    if attr.reserved0 != [0; 7] {
        return Err(Error::reserved());
    }
    if attr.qp_type != 0 && attr.qp_type != VBN_QPT_RC {
        return Err(Error::new(
            VBN_ERR_NOT_SUPPORTED,
            Reason::NotOneOfSigned("qp_type", "RC, the only type offered so far"),
        )
        .value(i64::from(attr.qp_type) as u64, 0)
        .on(context.name()));
    }
    match attr.send_ops {
        0 => Ok(RC_OPS),
        ops if ops & !RC_OPS == 0 => Ok(ops),
        ops => Err(Error::unknown_bits("send_ops", ops, RC_OPS)),
    }
}

/// The capacities asked for, with the defaults filled in.
fn wanted_cap(context: &Context, attr: &vbn_qp_init_attr) -> ibv_qp_cap {
    let open = DEFAULT_DEPTH.min(context.device().max_qp_wr as u32);
    let or = |value: u32, default: u32, bit: u64| if value == 0 && attr.set & bit == 0 { default } else { value };
    let max_recv_wr = or(attr.max_recv_wr, open, VBN_QP_INIT_SET_MAX_RECV_WR);
    ibv_qp_cap {
        max_send_wr: or(attr.max_send_wr, open, VBN_QP_INIT_SET_MAX_SEND_WR),
        max_recv_wr,
        max_send_sge: or(attr.max_send_sge, 1, 0),
        max_recv_sge: or(attr.max_recv_sge, 1, VBN_QP_INIT_SET_MAX_RECV_SGE),
        max_inline_data: attr.max_inline_data,
    }
}

/// Compares the capacities with the device's limits, so that the message can name both.
fn check_cap(context: &Context, cap: &ibv_qp_cap) -> Result<()> {
    let device = context.device();
    let (wr, sge) = (device.max_qp_wr as u32, device.max_sge as u32);
    let checks = [
        ("max_send_wr", cap.max_send_wr, wr),
        ("max_recv_wr", cap.max_recv_wr, wr),
        ("max_send_sge", cap.max_send_sge, sge),
        ("max_recv_sge", cap.max_recv_sge, sge),
    ];
    match checks.into_iter().find(|(_, asked, limit)| asked > limit) {
        Some((what, asked, limit)) => Err(Error::limit(what, asked.into(), limit.into())
            .on(context.name())
            .hint("vbn_context_query_device has the limits")),
        None => Ok(()),
    }
}

/// A refused creation. The limit of inline data is nowhere to be asked for, so it is the usual suspect.
fn explain_create(error: Error, cap: &ibv_qp_cap) -> Error {
    if error.errno == libc::EINVAL && cap.max_inline_data > 0 {
        return error.value(cap.max_inline_data.into(), 0).hint(
            "max_inline_data may be too large: no device tells its limit, so ask for less (value has what was asked)",
        );
    }
    if error.errno == libc::EOPNOTSUPP {
        return error
            .hint("the device has no RC queue pairs, the only type that this version offers (an EFA has SRD and UD)");
    }
    if error.errno == libc::ENOMEM {
        return error.hint("the device is out of queue pairs or memory, or RLIMIT_MEMLOCK is too low for the queues");
    }
    error
}

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

fn query(context: &Context, native: NonNull<ibv_qp>, mask: i32) -> Result<(ibv_qp_attr, ibv_qp_init_attr)> {
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
