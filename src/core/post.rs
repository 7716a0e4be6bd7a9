// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data path of queue pairs: flat requests are checked and turned into libibverbs' on the stack, then handed to
//! the provider. Nothing here allocates, locks or makes a system call.

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use super::error::{self, Error, Reason, Result};
use super::handle::vbn_peer;
use super::op::Op;
use super::qp::Qp;
use super::status::*;
use crate::sys::ibv::{self, ibv_qp, ibv_recv_wr, ibv_send_wr, ibv_sge};
use crate::sys::{convert, inline, os};

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
    /// Write and read: where in the peer's memory.
    pub remote_addr: u64,
    /// Write and read: the key of the peer's region.
    pub rkey: u32,
    /// With the *_WITH_IMM operations: a value for the receiver's completion, in host byte order.
    pub imm: u32,
    /// Connectionless queue pairs: the destination. Not used by RC.
    pub peer: *mut vbn_peer,
    /// Reserved for the operations that invalidate a key.
    pub invalidate_rkey: u32,
    /// Reserved for XRC.
    pub remote_srqn: u32,
    /// Reserved for atomics.
    pub compare_add: u64,
    /// Reserved for atomics.
    pub swap: u64,
    /// For opcodes that say so.
    pub ext: *const std::ffi::c_void,
    /// Reserved.
    pub reserved: [u64; 3],
}

/// Room for one incoming message. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_recv_wr {
    /// Comes back in the completion.
    pub wr_id: u64,
    /// Must be 0.
    pub flags: u64,
    /// The segments. NULL with num_sge 1 means the segment in `sge`.
    pub sg_list: *const vbn_sge,
    /// The only segment, if sg_list is NULL and num_sge is 1.
    pub sge: vbn_sge,
    /// Number of segments. 0 is fine for a receive that only takes an RDMA write with immediate.
    pub num_sge: u32,
    /// Reserved.
    pub reserved0: u32,
    /// Reserved.
    pub ext: *const std::ffi::c_void,
    /// Reserved.
    pub reserved1: u64,
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<vbn_send_wr>() == 128 && size_of::<vbn_recv_wr>() == 64 && size_of::<vbn_sge>() == 16);
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

const SEND_FLAGS: u64 = VBN_SEND_FENCE | VBN_SEND_SIGNALED | VBN_SEND_SOLICITED | VBN_SEND_INLINE;

const _: () = {
    assert!(VBN_WR_RDMA_READ == ibv::IBV_WR_RDMA_READ && VBN_WR_SEND_WITH_IMM == ibv::IBV_WR_SEND_WITH_IMM);
    assert!(VBN_SEND_INLINE == ibv::IBV_SEND_INLINE as u64 && VBN_SEND_SOLICITED == ibv::IBV_SEND_SOLICITED as u64);
};

/// Requests handed to the provider in one call, one doorbell each. The functions that do it are `extern "C"`, which can't
/// unwind: so the exported functions end in a jump to them, without a frame and landing pad of their own.
const BATCH: usize = 32;

/// What posting needs to know of a queue pair; fixed when it is made or adopted.
#[derive(Clone, Copy)]
pub struct Path {
    pub native: NonNull<ibv_qp>,
    /// Bit n is set if opcode n may be posted.
    pub opcodes: u64,
    /// The same for requests of one segment: none where the queue takes no segments.
    pub common: u64,
    /// Largest message of the port.
    pub max_message: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline: u32,
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
}

/// Posts `wrs` to the send queue. `posted` says how many of them, from the front, are on it.
#[inline(always)]
pub fn send(qp: &Qp, wrs: &[vbn_send_wr], posted: &mut u32) -> vbn_status {
    if wrs.len() <= BATCH {
        send_batch(qp.path(), wrs.as_ptr(), wrs.len() as u32, posted)
    } else {
        send_many(qp.path(), wrs.as_ptr(), wrs.len() as u32, posted)
    }
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
    if flags > COMMON_FLAGS || lists % align_of::<vbn_sge>() != 0 || lengths > path.max_message {
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
        // SAFETY: as in `send_batch`.
        unsafe {
            fill_send(wr, segments(wr.sg_list, &wr.sge), wr.num_sge, to);
            to = link(to);
        }
    }
    list.post(path, to, wrs.len() as u32, posted)
}

/// libibverbs' requests, of one kind or the other.
trait Native {
    const OP: Op;

    /// # Safety
    /// `this` must point to room for a request.
    unsafe fn set_next(this: *mut Self, next: *mut Self);

    /// # Safety
    /// The queue pair must be live and the list complete.
    unsafe fn post(qp: *mut ibv_qp, first: *mut Self, bad: &mut *mut Self) -> i32;
}

impl Native for ibv_send_wr {
    const OP: Op = Op::QpPostSend;

    #[inline(always)]
    unsafe fn set_next(this: *mut Self, next: *mut Self) {
        // SAFETY: the caller vouches for `this`.
        unsafe { (*this).next = next };
    }

    #[inline(always)]
    unsafe fn post(qp: *mut ibv_qp, first: *mut Self, bad: &mut *mut Self) -> i32 {
        // SAFETY: the caller vouches for both.
        unsafe { inline::post_send(qp, first, bad) }
    }
}

impl Native for ibv_recv_wr {
    const OP: Op = Op::QpPostRecv;

    #[inline(always)]
    unsafe fn set_next(this: *mut Self, next: *mut Self) {
        // SAFETY: the caller vouches for `this`.
        unsafe { (*this).next = next };
    }

    #[inline(always)]
    unsafe fn post(qp: *mut ibv_qp, first: *mut Self, bad: &mut *mut Self) -> i32 {
        // SAFETY: the caller vouches for both.
        unsafe { inline::post_recv(qp, first, bad) }
    }
}

/// Room for a batch of them, on the stack.
struct List<T>([MaybeUninit<T>; BATCH]);

impl<T: Native> List<T> {
    #[inline(always)]
    fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; BATCH])
    }

    #[inline(always)]
    fn first(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// Hands the requests before `end` to the provider.
    #[inline(always)]
    fn post(&mut self, path: &Path, end: *mut T, count: u32, posted: &mut u32) -> vbn_status {
        let first = self.first();
        if end == first {
            return VBN_OK;
        }
        // SAFETY: at least one request was filled.
        unsafe { T::set_next(end.sub(1), ptr::null_mut()) };
        let mut bad: *mut T = ptr::null_mut();
        // SAFETY: the queue pair is live, and the list is complete and outlives the call.
        let ret = unsafe { T::post(path.native.as_ptr(), first, &mut bad) };
        if ret == 0 {
            *posted = posted.wrapping_add(count);
            return VBN_OK;
        }
        let named = (bad as usize).wrapping_sub(first as usize) / size_of::<T>();
        post_failed(path, ret, named, count, T::OP, posted)
    }
}

/// Chains `to` to the place behind it, which is returned.
///
/// # Safety
/// `to` must point into a list, before its end.
#[inline(always)]
unsafe fn link<T: Native>(to: *mut T) -> *mut T {
    // SAFETY: the caller vouches for `to`.
    unsafe {
        let next = to.add(1);
        T::set_next(to, next);
        next
    }
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

#[inline(always)]
fn segments(list: *const vbn_sge, single: &vbn_sge) -> *const vbn_sge {
    if list.is_null() { single } else { list }
}

/// Everything that can be known to be wrong with a request before the provider sees it.
#[inline(never)]
fn check_send(path: &Path, wr: &vbn_send_wr) -> Result<()> {
    if wr.flags & !SEND_FLAGS != 0 {
        return Err(Error::unknown_bits("flags", wr.flags, SEND_FLAGS));
    }
    if wr.opcode >= 64 || path.opcodes >> wr.opcode & 1 == 0 {
        return Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::NotOneOf("opcode", "an operation of this queue pair"))
            .value(wr.opcode.into(), 0)
            .hint("send_ops at creation says which operations it has"));
    }
    let length = check_segments(wr.num_sge, path.max_send_sge, "max_send_sge", wr.sg_list, &wr.sge)?;
    if length > u64::from(path.max_message) {
        return Err(
            Error::limit("message length", length, path.max_message.into()).hint("cut it into several requests")
        );
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
    Ok(())
}

/// The length of all segments together.
fn check_segments(count: u32, max: u32, limit: &'static str, list: *const vbn_sge, single: &vbn_sge) -> Result<u64> {
    if count > max {
        return Err(Error::new(VBN_ERR_LIMIT, Reason::ExceedsNamed("num_sge", limit)).value(count.into(), max.into()));
    }
    if list.is_null() {
        return match count {
            0 => Ok(0),
            1 => Ok(single.length.into()),
            _ => Err(Error::argument(Reason::Null("sg_list")).hint("only one segment fits into the request itself")),
        };
    }
    if !list.is_aligned() {
        return Err(Error::argument(Reason::Misaligned("sg_list")));
    }
    // SAFETY: the caller says that sg_list has num_sge segments.
    let list = unsafe { std::slice::from_raw_parts(list, count as usize) };
    // At most 2^32 lengths of 32 bits: the sum fits.
    Ok(list.iter().fold(0, |sum: u64, sge| sum.wrapping_add(sge.length.into())))
}

/// Posts `wrs` to the receive queue. `posted` says how many of them, from the front, are on it.
#[inline(always)]
pub fn recv(qp: &Qp, wrs: &[vbn_recv_wr], posted: &mut u32) -> vbn_status {
    if wrs.len() <= BATCH {
        recv_batch(qp.path(), wrs.as_ptr(), wrs.len() as u32, posted)
    } else {
        recv_many(qp.path(), wrs.as_ptr(), wrs.len() as u32, posted)
    }
}

#[inline(never)]
extern "C" fn recv_many(path: &Path, wrs: *const vbn_recv_wr, count: u32, posted: &mut u32) -> vbn_status {
    // SAFETY: the caller passes the parts of a slice.
    let wrs = unsafe { std::slice::from_raw_parts(wrs, count as usize) };
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = check_recv(path, wr) {
            return error::record(Op::QpPostRecv, error.at(index as u64));
        }
    }
    for batch in wrs.chunks(BATCH) {
        let status = recv_batch(path, batch.as_ptr(), batch.len() as u32, posted);
        if status != VBN_OK {
            return status;
        }
    }
    VBN_OK
}

/// A batch of common receives: one segment each.
#[inline(never)]
extern "C" fn recv_batch(path: &Path, wrs: *const vbn_recv_wr, count: u32, posted: &mut u32) -> vbn_status {
    // SAFETY: the callers pass the parts of a slice.
    let wrs = unsafe { std::slice::from_raw_parts(wrs, count as usize) };
    let mut list = List::<ibv_recv_wr>::new();
    let mut to = list.first();
    // What makes a request uncommon is gathered and looked at once: any flag, a segment list that is not aligned.
    let (mut flags, mut lists) = (0, 0);
    for wr in wrs {
        if wr.num_sge != 1 {
            return recv_general(path, wrs, posted);
        }
        flags |= wr.flags;
        lists |= wr.sg_list as usize;
        // SAFETY: a batch has at most BATCH requests, so `to` and at most one place behind stay within the list. The caller
        // says that sg_list has a segment.
        unsafe {
            fill_recv(wr, segments(wr.sg_list, &wr.sge), 1, to);
            to = link(to);
        }
    }
    if flags != 0 || lists % align_of::<vbn_sge>() != 0 || path.max_recv_sge == 0 {
        return recv_general(path, wrs, posted);
    }
    list.post(path, to, wrs.len() as u32, posted)
}

/// A batch that may hold anything: every request is checked in full.
#[cold]
#[inline(never)]
fn recv_general(path: &Path, wrs: &[vbn_recv_wr], posted: &mut u32) -> vbn_status {
    let mut list = List::<ibv_recv_wr>::new();
    let mut to = list.first();
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = check_recv(path, wr) {
            return error::record(Op::QpPostRecv, error.at(index as u64));
        }
        // SAFETY: as in `recv_batch`.
        unsafe {
            fill_recv(wr, segments(wr.sg_list, &wr.sge), wr.num_sge, to);
            to = link(to);
        }
    }
    list.post(path, to, wrs.len() as u32, posted)
}

/// # Safety
/// `to` must point to room for a receive, and `sges` to `count` segments.
#[inline(always)]
unsafe fn fill_recv(wr: &vbn_recv_wr, sges: *const vbn_sge, count: u32, to: *mut ibv_recv_wr) {
    // SAFETY: the caller vouches for `to`.
    unsafe {
        (*to).wr_id = wr.wr_id;
        (*to).sg_list = sges.cast_mut().cast();
        (*to).num_sge = count as i32;
    }
}

#[inline(never)]
fn check_recv(path: &Path, wr: &vbn_recv_wr) -> Result<()> {
    if wr.flags != 0 {
        return Err(Error::unknown_bits("flags", wr.flags, 0));
    }
    check_segments(wr.num_sge, path.max_recv_sge, "max_recv_sge", wr.sg_list, &wr.sge).map(drop)
}

/// The provider did not take everything: records how far it got, and why. `named` is the place in the list that it named as
/// the first not taken; one outside the list means that it named none.
#[cold]
#[inline(never)]
fn post_failed(path: &Path, ret: i32, named: usize, count: u32, op: Op, posted: &mut u32) -> vbn_status {
    let errno = convert::ret_errno(ret, os::errno()).err().unwrap_or(libc::EIO);
    let (call, queue, depth) = match op {
        Op::QpPostSend => ("ibv_post_send", "send", path.max_send_wr),
        _ => ("ibv_post_recv", "receive", path.max_recv_wr),
    };
    if named >= count as usize {
        *posted = posted.saturating_add(count);
        let error = Error { errno, ..Error::new(VBN_ERR_UNCERTAIN, Reason::Uncertain(call)) };
        return error::record(op, error.hint(state_hint(path)));
    }
    let index = posted.saturating_add(named as u32);
    *posted = index;
    let error = if matches!(errno, libc::ENOMEM | libc::EAGAIN | libc::ENOSPC) {
        let full = Error::new(VBN_ERR_QUEUE_FULL, Reason::QueueFull(queue)).value(depth.into(), depth.into());
        Error { errno, ..full }.hint("poll completions, then post the rest")
    } else {
        Error::call(call, errno).hint(state_hint(path))
    };
    error::record(op, error.at(index.into()))
}

/// What the queue pair's state, as libibverbs last knew it, says about a refused post.
fn state_hint(path: &Path) -> &'static str {
    // SAFETY: the queue pair is live.
    match unsafe { path.native.as_ref() }.state {
        ibv::IBV_QPS_RESET => "the queue pair is in RESET: bring it to INIT to receive and to RTS to send",
        ibv::IBV_QPS_INIT | ibv::IBV_QPS_RTR => "the queue pair is not yet in RTS: receives may be posted, sends not",
        ibv::IBV_QPS_ERR | ibv::IBV_QPS_SQE => "the queue pair is in an error state: see vbn_qp_first_error",
        _ => "",
    }
}
