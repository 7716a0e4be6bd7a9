// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data path of send queues: flat requests are checked and turned into libibverbs' on the stack, then handed to
//! the provider. Nothing here allocates, locks or makes a system call.

use std::ptr::{self, NonNull};

use super::error::{self, Error, Reason, Result};
use super::explain::VBN_DRIVER_EFA;
use super::handle::vbn_peer;
use super::op::Op;
use super::peer::{Peer, Target};
use super::post_list::{BATCH, List, Queue, Takes, check_segments, link, segments};
use super::qp::Qp;
use super::slab::Slot;
use super::status::*;
use super::{post_ops, post_wr};
use crate::sys::efa::efadv_qp;
use crate::sys::ibv::{self, ibv_pd, ibv_qp, ibv_qp_ex, ibv_send_wr, ibv_send_wr_ud, ibv_sge};
use crate::sys::inline;

/// A piece of registered memory. The layout is ibv_sge's. Frozen.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vbn_sge {
    /// Where it begins, inside the region that lkey belongs to.
    pub addr: u64,
    /// Bytes.
    pub length: u32,
    /// The region's lkey.
    pub lkey: u32,
}

/// A request to send, write or read: one struct for all transports. Frozen; fields that an operation does not use are
/// not looked at, and get a meaning only by a new opcode or flag.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_send_wr {
    /// Comes back in the completion.
    pub wr_id: u64,
    /// VBN_SEND_SIGNALED, ...
    pub flags: u64,
    /// VBN_WR_SEND, VBN_WR_RDMA_WRITE, ...
    pub opcode: u32,
    /// Number of segments.
    pub num_sge: u32,
    /// The segments. NULL with num_sge 1 means the segment in `sge`.
    pub sg_list: *const vbn_sge,
    /// The only segment, if sg_list is NULL and num_sge is 1.
    pub sge: vbn_sge,
    /// Write, read, atomics and flush: where in the peer's memory.
    pub remote_addr: u64,
    /// Write, read, atomics and flush: the key of the peer's region, or of a window.
    pub rkey: u32,
    /// With the *_WITH_IMM operations: a value for the receiver's completion, in host byte order.
    pub imm: u32,
    /// Connectionless queue pairs: the destination. Not used by RC.
    pub peer: *mut vbn_peer,
    /// VBN_WR_LOCAL_INV, VBN_WR_SEND_WITH_INV: the key to be taken back.
    pub invalidate_rkey: u32,
    /// XRC: number of the peer's shared receive queue. Otherwise not looked at.
    pub remote_srqn: u32,
    /// Atomics: the value to compare with, or to add.
    pub compare_add: u64,
    /// VBN_WR_ATOMIC_CMP_AND_SWP: the new value.
    pub swap: u64,
    /// For opcodes that say so.
    pub ext: *const std::ffi::c_void,
    /// Reserved.
    pub reserved: [u64; 3],
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<vbn_send_wr>() == 128 && size_of::<vbn_sge>() == 16);
    assert!(offset_of!(vbn_sge, lkey) == offset_of!(ibv_sge, lkey) && size_of::<vbn_sge>() == size_of::<ibv_sge>());
};

/// Write into the peer's memory.
pub const VBN_WR_RDMA_WRITE: u32 = 0;
/// The same, and use up one of the peer's receives for a completion with an immediate value.
pub const VBN_WR_RDMA_WRITE_WITH_IMM: u32 = 1;
/// Send into one of the peer's receives.
pub const VBN_WR_SEND: u32 = 2;
/// The same with an immediate value.
pub const VBN_WR_SEND_WITH_IMM: u32 = 3;
/// Read from the peer's memory.
pub const VBN_WR_RDMA_READ: u32 = 4;

/// Start only after all earlier reads and atomics of this queue pair are done.
pub const VBN_SEND_FENCE: u64 = 1;
/// Report success too. Without it only failures complete (unless the queue pair has sq_sig_all).
pub const VBN_SEND_SIGNALED: u64 = 2;
/// Wake a receiver that waits for solicited completions only.
pub const VBN_SEND_SOLICITED: u64 = 4;
/// Copy the data while posting: the buffers are free at once and need no lkey.
pub const VBN_SEND_INLINE: u64 = 8;

/// SRD, with VBN_QP_PROCESSING_HINTS: the request belongs to a burst of many small ones.
pub const VBN_SEND_BURST: u64 = 0x1_0000_0000;

const SEND_FLAGS: u64 = VBN_SEND_FENCE | VBN_SEND_SIGNALED | VBN_SEND_SOLICITED | VBN_SEND_INLINE;

const _: () = {
    assert!(VBN_WR_RDMA_READ == ibv::IBV_WR_RDMA_READ && VBN_WR_SEND_WITH_IMM == ibv::IBV_WR_SEND_WITH_IMM);
    assert!(VBN_SEND_INLINE == ibv::IBV_SEND_INLINE as u64 && VBN_SEND_SOLICITED == ibv::IBV_SEND_SOLICITED as u64);
};

/// `(path, requests, how many, posted)`
pub type SendFn = extern "C" fn(&Path, *const vbn_send_wr, u32, &mut u32) -> vbn_status;

/// Drivers whose requests go through `ibv_wr_*` unless the caller says otherwise: the driver, the lowest rdma-core that it is
/// proven on, and where. That the pointers are there proves nothing: up to rdma-core 63.0 soft-RoCE's send wrong data.
/// cbindgen:ignore
pub const BY_WR: &[(i32, u32, &str)] = &[(VBN_DRIVER_EFA, 44, "tests-c/srd_*.c on softnic, libefa 44, 56 and 65")];

/// What posting needs to know of a queue pair; fixed when it is made or adopted.
#[derive(Clone, Copy)]
pub struct Path {
    pub native: NonNull<ibv_qp>,
    /// Bit n is set if opcode n may be posted in the plain way, with one segment: by ibv_post_send if connected, by ibv_wr_*
    /// if not.
    pub common: u64,
    /// How sends are posted. Chosen once, so that neither way pays for the other.
    pub send: SendFn,
    /// So many receives go the short way: BATCH, or 0 where each needs a closer look.
    pub short_recv: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline: u32,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub rules: Rules,
    /// Peers must be of this PD.
    pub pd: *mut ibv_pd,
}

/// What the type of a queue pair and its driver ask of requests.
#[derive(Clone, Copy)]
pub struct Rules {
    /// Bit n is set if opcode n may be posted.
    pub opcodes: u64,
    /// Largest message of the port.
    pub max_message: u32,
    /// Most bytes of one RDMA request. 0: as max_message.
    pub max_rdma: u32,
    /// Most bytes of one segment of a receive.
    pub max_recv_segment: u32,
    /// Whether requests have no peer of their own.
    pub connected: bool,
    /// Whether requests name a shared receive queue of the peer (XRC).
    pub xrc: bool,
    /// Why no receives may be posted, if so.
    pub no_recv: Option<&'static str>,
    /// Whether libefa may be too old to know of RDMA WRITE.
    pub old_efa: bool,
    /// EFA knows neither fences nor solicited events, and takes one segment for RDMA.
    pub efa: bool,
    /// Whether each request must have VBN_SEND_SIGNALED.
    pub must_signal: bool,
    /// Whether RDMA writes may be inline. (Everywhere but on EFA they may.)
    pub inline_write: bool,
    /// Where requests are built, if they go through ibv_wr_*.
    pub wr: Option<NonNull<ibv_qp_ex>>,
    /// Where hints about them are given, or NULL.
    pub hints: *mut efadv_qp,
    /// Where those are built that only ibv_wr_* knows, if the others go through ibv_post_send.
    pub wr_only: Option<NonNull<ibv_qp_ex>>,
    /// VBN_FLUSH_* types that the device has.
    pub flushes: u32,
}

/// The operations that a plain batch may have: opcodes 0 to 4.
const COMMON_OPS: u64 = 0x1f;

impl Rules {
    /// Those of every driver but EFA's.
    pub const fn common() -> Self {
        Self {
            opcodes: 0,
            max_message: u32::MAX,
            max_rdma: 0,
            max_recv_segment: u32::MAX,
            connected: true,
            xrc: false,
            no_recv: None,
            efa: false,
            old_efa: false,
            must_signal: false,
            inline_write: true,
            wr: None,
            hints: ptr::null_mut(),
            wr_only: None,
            flushes: 0,
        }
    }
}

impl Path {
    pub fn new(native: NonNull<ibv_qp>, pd: *mut ibv_pd, cap: &ibv::ibv_qp_cap, mut rules: Rules) -> Self {
        if rules.max_rdma == 0 {
            rules.max_rdma = rules.max_message;
        }
        let plain = rules.connected == rules.wr.is_none() && !rules.xrc && cap.max_send_sge > 0;
        let own_recv = rules.no_recv.is_none() && cap.max_recv_sge > 0;
        Self {
            native,
            common: if plain { rules.opcodes & COMMON_OPS } else { 0 },
            send: if rules.wr.is_some() { post_wr::send } else { send_batch },
            short_recv: if own_recv && rules.max_recv_segment == u32::MAX { BATCH as u32 } else { 0 },
            max_send_sge: cap.max_send_sge,
            max_recv_sge: cap.max_recv_sge,
            max_inline: cap.max_inline_data,
            max_send_wr: cap.max_send_wr,
            max_recv_wr: cap.max_recv_wr,
            rules,
            pd,
        }
    }
}

impl Takes<ibv_send_wr> for Path {
    #[inline(always)]
    unsafe fn take(&self, first: *mut ibv_send_wr, bad: &mut *mut ibv_send_wr) -> i32 {
        // SAFETY: the caller vouches for both.
        unsafe { inline::post_send(self.native.as_ptr(), first, bad) }
    }

    fn queue(&self) -> Queue {
        let (op, call, name) = (Op::QpPostSend, "ibv_post_send", "send");
        Queue { op, call, name, depth: self.max_send_wr, hint: state_hint(self) }
    }
}

/// Posts `wrs` to the send queue. `posted` says how many of them, from the front, are on it.
#[inline(always)]
pub fn send(qp: &Qp, wrs: &[vbn_send_wr], posted: &mut u32) -> vbn_status {
    (qp.path().send)(qp.path(), wrs.as_ptr(), wrs.len() as u32, posted)
}

/// More than fit into one batch: all are checked before the first is posted.
#[inline(never)]
extern "C" fn send_many(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32) -> vbn_status {
    // SAFETY: the caller passes the parts of a slice.
    let wrs = unsafe { std::slice::from_raw_parts(wrs, count as usize) };
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = check_send(path, wr) {
            return error::record(Op::QpPostSend, error.at(index as u64));
        }
    }
    for batch in wrs.chunks(BATCH) {
        let status = send_batch(path, batch.as_ptr(), batch.len() as u32, posted);
        if status != VBN_OK {
            return status;
        }
    }
    VBN_OK
}

/// A batch of common requests, filled in one tight loop. The first other one sends the whole batch to `send_general`.
#[inline(never)]
extern "C" fn send_batch(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32) -> vbn_status {
    if count > BATCH as u32 {
        return send_many(path, wrs, count, posted);
    }
    // SAFETY: the callers pass the parts of a slice.
    let wrs = unsafe { std::slice::from_raw_parts(wrs, count as usize) };
    let mut list = List::<ibv_send_wr>::new();
    let opcodes = path.common;
    let mut to = list.first();
    // What makes a request uncommon is gathered and looked at once: its flags, a list that is not aligned, its length.
    let (mut flags, mut lists, mut lengths) = (0, 0, 0);
    for wr in wrs {
        // num_sge and opcode side by side: one comparison says that the first is 1 and the second below 64.
        let key = (u64::from(wr.num_sge) << 32 | u64::from(wr.opcode)).wrapping_sub(1 << 32);
        if key >= 64 || opcodes >> (key & 63) & 1 == 0 {
            return send_general(path, wrs, posted);
        }
        flags |= wr.flags;
        lists |= wr.sg_list as usize;
        let sge = segments(wr.sg_list, &wr.sge);
        // SAFETY: a batch has at most BATCH requests, so `to` and at most one place behind stay within the list. The caller
        // says that sg_list has a segment; for one that is not aligned nothing is posted.
        unsafe {
            lengths |= (&raw const (*sge).length).read_unaligned();
            fill_send(wr, sge, 1, to);
            to = link(to);
        }
    }
    if flags > COMMON_FLAGS || lists % align_of::<vbn_sge>() != 0 || lengths > path.rules.max_message {
        return send_general(path, wrs, posted);
    }
    list.post(path, to, wrs.len() as u32, posted)
}

/// The flags that need no look at the request's data. They are the lowest bits, so a larger number has another one.
const COMMON_FLAGS: u64 = VBN_SEND_FENCE | VBN_SEND_SIGNALED | VBN_SEND_SOLICITED;
const _: () = assert!(COMMON_FLAGS == 7);

/// A batch that may hold anything: every request is checked in full.
#[cold]
#[inline(never)]
fn send_general(path: &Path, wrs: &[vbn_send_wr], posted: &mut u32) -> vbn_status {
    let mut list = List::<ibv_send_wr>::new();
    let mut to = list.first();
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = check_send(path, wr) {
            return error::record(Op::QpPostSend, error.at(index as u64));
        }
        if post_ops::stands_apart(wr.opcode) {
            return post_ops::send(path, wrs, posted);
        }
        // SAFETY: as in `send_batch`.
        unsafe {
            if let Err(error) = fill_any(path, wr, to) {
                return error::record(Op::QpPostSend, error.at(index as u64));
            }
            to = link(to);
        }
    }
    list.post(path, to, wrs.len() as u32, posted)
}

/// At most a batch of requests that were checked.
#[cold]
#[inline(never)]
pub fn send_checked(path: &Path, wrs: &[vbn_send_wr], posted: &mut u32) -> vbn_status {
    let mut list = List::<ibv_send_wr>::new();
    let mut to = list.first();
    for (index, wr) in wrs.iter().take(BATCH).enumerate() {
        // SAFETY: as in `send_batch`.
        unsafe {
            if let Err(error) = fill_any(path, wr, to) {
                return error::record(Op::QpPostSend, error.at((index as u64).saturating_add((*posted).into())));
            }
            to = link(to);
        }
    }
    list.post(path, to, wrs.len() as u32, posted)
}

/// Fills in a request of any operation, which was checked. It fails only if a handle in it was closed since then.
///
/// # Safety
/// `to` must point to room for a request.
#[inline(always)]
unsafe fn fill_any(path: &Path, wr: &vbn_send_wr, to: *mut ibv_send_wr) -> Result<()> {
    // SAFETY: the caller vouches for `to`, and the check for the segments.
    unsafe {
        fill_send(wr, segments(wr.sg_list, &wr.sge), wr.num_sge, to);
        if let Some(target) = target(path, wr) {
            let (ah, remote_qpn, remote_qkey) = (target.ah.as_ptr(), target.qp_num, target.qkey);
            (*to).wr.ud = ibv_send_wr_ud { ah, remote_qpn, remote_qkey };
        }
        if path.rules.xrc {
            (*to).qp_type.xrc.remote_srqn = wr.remote_srqn;
        }
        if wr.opcode > VBN_WR_RDMA_READ { post_ops::fill(path, wr, to) } else { Ok(()) }
    }
}

/// Where a request that was checked goes, on a connectionless queue pair.
#[inline(always)]
pub fn target<'a>(path: &Path, wr: &vbn_send_wr) -> Option<&'a Target> {
    if path.rules.connected { None } else { peer(wr.peer).and_then(Slot::live).map(Peer::target) }
}

/// The slot behind a handle in a request.
#[inline(always)]
pub fn peer(handle: *mut vbn_peer) -> Option<&'static Slot<Peer>> {
    let slot = handle.cast::<Slot<Peer>>().cast_const();
    // SAFETY: a handle that this library gave out points to a slot, and slots live for ever.
    if slot.is_aligned() { unsafe { slot.as_ref() } } else { None }
}

/// # Safety
/// `to` must point to room for a request, and `sges` to `count` segments.
#[inline(always)]
unsafe fn fill_send(wr: &vbn_send_wr, sges: *const vbn_sge, count: u32, to: *mut ibv_send_wr) {
    // SAFETY: the caller vouches for `to`; plain stores leave the unions' unused parts alone. remote_addr and rkey lie side
    // by side in both structs, and the four bytes behind them are padding in this arm of the union.
    unsafe {
        (*to).wr_id = wr.wr_id;
        (*to).sg_list = sges.cast_mut().cast();
        (*to).num_sge = count as i32;
        (*to).opcode = wr.opcode;
        (*to).send_flags = wr.flags as u32;
        (*to).imm_or_rkey = wr.imm.to_be();
        (&raw mut (*to).wr).cast::<[u64; 2]>().write((&raw const wr.remote_addr).cast::<[u64; 2]>().read());
    }
}

/// Everything that can be known to be wrong with a request before the provider sees it.
#[inline(never)]
pub fn check_send(path: &Path, wr: &vbn_send_wr) -> Result<()> {
    let rules = &path.rules;
    let known = if rules.hints.is_null() { SEND_FLAGS } else { SEND_FLAGS | VBN_SEND_BURST };
    if wr.flags & !known != 0 {
        return Err(Error::unknown_bits("flags", wr.flags, known));
    }
    if wr.opcode >= 64 || rules.opcodes >> wr.opcode & 1 == 0 {
        return Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NotOneOf("opcode", "an operation of this queue pair"))
            .value(wr.opcode.into(), 0)
            .hint(absence(rules.old_efa, wr.opcode)));
    }
    if rules.efa {
        check_efa(rules, wr)?;
    }
    let length = check_segments(wr.num_sge, path.max_send_sge, "max_send_sge", wr.sg_list, &wr.sge)?;
    let (what, most) = if is_rdma(wr.opcode) {
        ("length of an RDMA request", rules.max_rdma)
    } else {
        ("message length", rules.max_message)
    };
    if length > u64::from(most) {
        let hint = if is_rdma(wr.opcode) {
            "cut it into several requests (vbn_rdma_split)"
        } else if rules.connected || rules.max_rdma > rules.max_message {
            "send it in several messages, or move it by RDMA (vbn_rdma_split)"
        } else {
            "a message is one packet, no longer than the port's MTU: send it in several messages"
        };
        return Err(Error::limit(what, length, most.into()).hint(hint));
    }
    if wr.opcode > VBN_WR_RDMA_READ {
        post_ops::check(path, wr, length)?;
    }
    if wr.flags & VBN_SEND_INLINE != 0 {
        if wr.opcode == VBN_WR_RDMA_READ {
            return Err(Error::text(VBN_ERR_ARGUMENT, "VBN_SEND_INLINE makes no sense for an RDMA read"));
        }
        if length > u64::from(path.max_inline) {
            return Err(Error::limit("inline length", length, path.max_inline.into())
                .hint("ask for a larger max_inline_data at creation, or send without VBN_SEND_INLINE"));
        }
    }
    if rules.connected { Ok(()) } else { check_peer(path, wr) }
}

/// Why a queue pair lacks an operation.
pub fn absence(old_efa: bool, opcode: u32) -> &'static str {
    if old_efa && matches!(opcode, VBN_WR_RDMA_WRITE | VBN_WR_RDMA_WRITE_WITH_IMM) {
        return super::efa::WRITE_NEEDS;
    }
    "send_ops of vbn_qp_query says which it has, and vbn_context_caps why the device has no others"
}

pub const fn is_rdma(opcode: u32) -> bool {
    matches!(opcode, VBN_WR_RDMA_WRITE | VBN_WR_RDMA_WRITE_WITH_IMM | VBN_WR_RDMA_READ)
}

/// What EFA does not have, and libefa refuses for a whole batch without saying where.
fn check_efa(rules: &Rules, wr: &vbn_send_wr) -> Result<()> {
    let lacks = |what| Error::text(VBN_ERR_NOT_SUPPORTED, what);
    if rules.must_signal && wr.flags & VBN_SEND_SIGNALED == 0 {
        return Err(Error::text(VBN_ERR_ARGUMENT, "the request is not signaled, and EFA has no unsignaled requests")
            .hint("set VBN_SEND_SIGNALED, or create the queue pair with sq_sig_all"));
    }
    if wr.flags & VBN_SEND_FENCE != 0 {
        return Err(lacks("EFA has no fences, and no order between requests")
            .hint("post what depends on a request after its completion"));
    }
    if wr.flags & VBN_SEND_SOLICITED != 0 {
        return Err(lacks("EFA has no solicited events").hint("arm the peer's queue for every completion"));
    }
    if is_rdma(wr.opcode) {
        if wr.num_sge > 1 {
            return Err(Error::limit("num_sge of an RDMA request", wr.num_sge.into(), 1)
                .hint("EFA takes one segment for RDMA: post one request for each"));
        }
        if wr.flags & VBN_SEND_INLINE != 0 && wr.opcode != VBN_WR_RDMA_READ && !rules.inline_write {
            return Err(lacks("this queue pair has no inline RDMA writes")
                .hint("create it with VBN_QP_INLINE_WRITE where the device has them"));
        }
    }
    Ok(())
}

/// Whether a request on a connectionless queue pair has somewhere to go.
fn check_peer(path: &Path, wr: &vbn_send_wr) -> Result<()> {
    let Some(slot) = peer(wr.peer) else {
        let error = if wr.peer.is_null() { Reason::Null("peer") } else { Reason::NotAHandle("vbn_peer") };
        return Err(Error::argument(error).hint("each request of a connectionless queue pair names its destination"));
    };
    match slot.live() {
        None => Err(slot.refusal()),
        Some(peer) if !ptr::eq(peer.target().pd, path.pd) => {
            Err(Error::argument(Reason::Unrelated("peer", "protection domain than the queue pair")))
        }
        Some(_) => Ok(()),
    }
}

/// What the queue pair's state, as libibverbs last knew it, says about a refused post.
pub fn state_hint(path: &Path) -> &'static str {
    // SAFETY: the queue pair is live.
    match unsafe { path.native.as_ref() }.state {
        ibv::IBV_QPS_RESET => "the queue pair is in RESET: bring it to INIT to receive and to RTS to send",
        ibv::IBV_QPS_INIT | ibv::IBV_QPS_RTR => "the queue pair is not yet in RTS: receives may be posted, sends not",
        ibv::IBV_QPS_ERR | ibv::IBV_QPS_SQE => "the queue pair is in an error state: see vbn_qp_first_error",
        _ => "",
    }
}
