// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data path of queue pairs: flat requests are checked and turned into libibverbs' on the stack, then handed to
//! the provider. Nothing here allocates, locks or makes a system call.

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use super::error::{Error, Reason, Result};
use super::handle::vbn_peer;
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

/// Requests handed to the provider in one call, one doorbell each.
const BATCH: usize = 32;

/// What posting needs to know of a queue pair; fixed when it is made or adopted.
#[derive(Clone, Copy)]
pub struct Path {
    pub native: NonNull<ibv_qp>,
    /// Bit n is set if opcode n may be posted.
    pub opcodes: u64,
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
pub fn send(qp: &Qp, wrs: &[vbn_send_wr], posted: &mut u32) -> Result<()> {
    let path = qp.path();
    if wrs.len() <= BATCH {
        return send_batch(path, wrs, 0, posted);
    }
    send_many(path, wrs, posted)
}

#[inline(never)]
fn send_many(path: &Path, wrs: &[vbn_send_wr], posted: &mut u32) -> Result<()> {
    for (index, wr) in wrs.iter().enumerate() {
        check_send(path, wr).map_err(|error| error.at(index as u64))?;
    }
    for batch in wrs.chunks(BATCH) {
        send_batch(path, batch, *posted, posted)?;
    }
    Ok(())
}

#[inline(always)]
fn send_batch(path: &Path, wrs: &[vbn_send_wr], base: u32, posted: &mut u32) -> Result<()> {
    let mut list = [const { MaybeUninit::<ibv_send_wr>::uninit() }; BATCH];
    let first: *mut ibv_send_wr = list.as_mut_ptr().cast();
    let mut to = first;
    for (index, wr) in wrs.iter().enumerate() {
        let plain = wr.flags & !(VBN_SEND_FENCE | VBN_SEND_SIGNALED | VBN_SEND_SOLICITED) == 0
            && wr.num_sge == 1
            && wr.sg_list.is_null()
            && wr.sge.length <= path.max_message
            && wr.opcode < 64
            && path.opcodes >> wr.opcode & 1 == 1;
        if !plain && let Err(error) = check_send(path, wr) {
            return Err(error.at(index as u64));
        }
        // SAFETY: a batch has at most BATCH requests, so `to` and at most one place behind stay within `list`.
        unsafe {
            fill_send(wr, to);
            let next = to.add(1);
            (*to).next = next;
            to = next;
        }
    }
    if to == first {
        return Ok(());
    }
    // SAFETY: at least one request was filled.
    unsafe { (*to.sub(1)).next = ptr::null_mut() };
    let mut bad: *mut ibv_send_wr = ptr::null_mut();
    // SAFETY: the queue pair is live, and the list is complete and outlives the call.
    let ret = unsafe { inline::post_send(path.native.as_ptr(), first, &mut bad) };
    if ret == 0 {
        *posted = base + wrs.len() as u32;
        return Ok(());
    }
    let named = named_index(bad.cast_const(), first, wrs.len());
    Err(post_failed(path, ret, named, base, wrs.len() as u32, Side::Send, posted))
}

/// SAFETY: `to` must point to room for a request.
#[inline(always)]
unsafe fn fill_send(wr: &vbn_send_wr, to: *mut ibv_send_wr) {
    // SAFETY: the caller vouches for `to`; plain stores leave the unions' unused parts alone.
    unsafe {
        (*to).wr_id = wr.wr_id;
        (*to).sg_list = segments(wr.sg_list, &wr.sge).cast_mut();
        (*to).num_sge = wr.num_sge as i32;
        (*to).opcode = wr.opcode;
        (*to).send_flags = wr.flags as u32;
        (*to).imm_or_rkey = wr.imm.to_be();
        (*to).wr.rdma.remote_addr = wr.remote_addr;
        (*to).wr.rdma.rkey = wr.rkey;
    }
}

#[inline(always)]
fn segments(list: *const vbn_sge, single: &vbn_sge) -> *const ibv_sge {
    let list = if list.is_null() { ptr::from_ref(single) } else { list };
    list.cast()
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
            return Err(Error::argument(Reason::Text("VBN_SEND_INLINE makes no sense for an RDMA read")));
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
    Ok(list.iter().map(|sge| u64::from(sge.length)).sum())
}

/// Posts `wrs` to the receive queue. `posted` says how many of them, from the front, are on it.
#[inline(always)]
pub fn recv(qp: &Qp, wrs: &[vbn_recv_wr], posted: &mut u32) -> Result<()> {
    let path = qp.path();
    if wrs.len() <= BATCH {
        return recv_batch(path, wrs, 0, posted);
    }
    recv_many(path, wrs, posted)
}

#[inline(never)]
fn recv_many(path: &Path, wrs: &[vbn_recv_wr], posted: &mut u32) -> Result<()> {
    for (index, wr) in wrs.iter().enumerate() {
        check_recv(path, wr).map_err(|error| error.at(index as u64))?;
    }
    for batch in wrs.chunks(BATCH) {
        recv_batch(path, batch, *posted, posted)?;
    }
    Ok(())
}

#[inline(always)]
fn recv_batch(path: &Path, wrs: &[vbn_recv_wr], base: u32, posted: &mut u32) -> Result<()> {
    let mut list = [const { MaybeUninit::<ibv_recv_wr>::uninit() }; BATCH];
    let first: *mut ibv_recv_wr = list.as_mut_ptr().cast();
    let mut to = first;
    for (index, wr) in wrs.iter().enumerate() {
        let plain = wr.flags == 0 && wr.num_sge == 1 && path.max_recv_sge != 0;
        if !plain && let Err(error) = check_recv(path, wr) {
            return Err(error.at(index as u64));
        }
        // SAFETY: a batch has at most BATCH requests, so `to` and at most one place behind stay within `list`.
        unsafe {
            (*to).wr_id = wr.wr_id;
            (*to).sg_list = segments(wr.sg_list, &wr.sge).cast_mut();
            (*to).num_sge = wr.num_sge as i32;
            let next = to.add(1);
            (*to).next = next;
            to = next;
        }
    }
    if to == first {
        return Ok(());
    }
    // SAFETY: at least one request was filled.
    unsafe { (*to.sub(1)).next = ptr::null_mut() };
    let mut bad: *mut ibv_recv_wr = ptr::null_mut();
    // SAFETY: the queue pair is live, and the list is complete and outlives the call.
    let ret = unsafe { inline::post_recv(path.native.as_ptr(), first, &mut bad) };
    if ret == 0 {
        *posted = base + wrs.len() as u32;
        return Ok(());
    }
    let named = named_index(bad.cast_const(), first, wrs.len());
    Err(post_failed(path, ret, named, base, wrs.len() as u32, Side::Recv, posted))
}

#[inline(never)]
fn check_recv(path: &Path, wr: &vbn_recv_wr) -> Result<()> {
    if wr.flags != 0 {
        return Err(Error::unknown_bits("flags", wr.flags, 0));
    }
    check_segments(wr.num_sge, path.max_recv_sge, "max_recv_sge", wr.sg_list, &wr.sge).map(drop)
}

/// Which request the provider named as the first that it did not take.
fn named_index<T>(bad: *const T, first: *const T, count: usize) -> Option<u32> {
    (0..count).find(|index| ptr::eq(first.wrapping_add(*index), bad)).map(|index| index as u32)
}

#[derive(Clone, Copy)]
enum Side {
    Send,
    Recv,
}

/// The provider did not take everything: says how far it got, and why.
#[cold]
#[inline(never)]
fn post_failed(
    path: &Path,
    ret: i32,
    named: Option<u32>,
    base: u32,
    count: u32,
    side: Side,
    posted: &mut u32,
) -> Error {
    let errno = convert::ret_errno(ret, os::errno()).err().unwrap_or(libc::EIO);
    let (call, queue, depth) = match side {
        Side::Send => ("ibv_post_send", "send", path.max_send_wr),
        Side::Recv => ("ibv_post_recv", "receive", path.max_recv_wr),
    };
    let Some(named) = named else {
        *posted = base + count;
        let mut error = Error::new(VBN_ERR_UNCERTAIN, Reason::Uncertain(call));
        error.errno = errno;
        return error.hint(state_hint(path));
    };
    *posted = base + named;
    let mut error = if matches!(errno, libc::ENOMEM | libc::EAGAIN | libc::ENOSPC) {
        Error::new(VBN_ERR_QUEUE_FULL, Reason::QueueFull(queue))
            .value(depth.into(), depth.into())
            .hint("poll completions, then post the rest")
    } else {
        Error::call(call, errno).hint(state_hint(path))
    };
    error.errno = errno;
    error.at(u64::from(base + named))
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
