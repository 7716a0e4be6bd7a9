// SPDX-License-Identifier: MIT OR Apache-2.0
//! Posting through `ibv_wr_*`, for what libibverbs' classic post can't do: SRD. All requests of a call are built in one
//! session and rung with one doorbell. The provider takes all of a session or none, so a queue that has room for a part
//! only is filled by halves. Between `wr_start` and `wr_complete` the provider may hold a lock: nothing in there allocates,
//! blocks or unwinds.

use std::ptr::{self, NonNull};

use super::error::{self, Error, Reason, Result};
use super::handle::vbn_peer;
use super::op::Op;
use super::peer::{Peer, Target};
use super::post::*;
use super::post_ops::{self, *};
use super::qp_create::VBN_QP_OP_RDMA_WRITE;
use super::slab::{Kind, Slot};
use super::status::*;
use crate::sys::ibv::{ibv_data_buf, ibv_qp_ex};
use crate::sys::{convert, efa, inline, os};

/// Posts `count` requests; see `post::send`. The usual kind goes a short way: one operation, the same flags, one segment
/// inside each request. A single RDMA write goes the shortest.
#[inline(never)]
pub extern "C" fn send(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32) -> vbn_status {
    if count == 1 { one_write(path, wrs, count, posted) } else { send_other(path, wrs, count, posted) }
}

/// A single signaled write, or else whatever it is.
#[inline(never)]
extern "C" fn one_write(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32) -> vbn_status {
    // SAFETY: the caller has a request.
    let wr = unsafe { &*wrs };
    if path.common & VBN_QP_OP_RDMA_WRITE == 0 || !is_usual::<VBN_WR_RDMA_WRITE>(path, wr, VBN_SEND_SIGNALED) {
        return send_other(path, wrs, count, posted);
    }
    let Some(peer) = reachable(path, wr.peer) else { return send_other(path, wrs, count, posted) };
    let session = Session::start(builder(path));
    session.flags(VBN_SEND_SIGNALED);
    // SAFETY: checked just now.
    unsafe { session.request::<VBN_WR_RDMA_WRITE>(wr, peer) };
    let ret = session.complete();
    if ret != 0 {
        return refused(path, wrs, count, posted, ret);
    }
    *posted = count;
    VBN_OK
}

/// Several requests, or one that is no RDMA write.
#[inline(never)]
extern "C" fn send_other(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32) -> vbn_status {
    if count == 0 {
        return VBN_OK;
    }
    // SAFETY: the caller has `count` requests.
    match unsafe { (*wrs).opcode } {
        VBN_WR_RDMA_WRITE => several::<VBN_WR_RDMA_WRITE>(path, wrs, count, posted),
        VBN_WR_RDMA_READ => several::<VBN_WR_RDMA_READ>(path, wrs, count, posted),
        VBN_WR_SEND => several::<VBN_WR_SEND>(path, wrs, count, posted),
        VBN_WR_SEND_WITH_IMM => several::<VBN_WR_SEND_WITH_IMM>(path, wrs, count, posted),
        VBN_WR_RDMA_WRITE_WITH_IMM => several::<VBN_WR_RDMA_WRITE_WITH_IMM>(path, wrs, count, posted),
        _ => general(path, wrs, count, posted),
    }
}

/// A session with the provider. Dropped unfinished, it posts nothing.
struct Session(*mut ibv_qp_ex);

impl Session {
    #[inline(always)]
    fn start(wr: NonNull<ibv_qp_ex>) -> Self {
        // SAFETY: the queue pair is live, and its builder was checked for the operations when it was made.
        unsafe { inline::wr_start(wr.as_ptr()) };
        Self(wr.as_ptr())
    }

    /// 0, or why nothing was posted: an errno, or -1 with errno.
    #[inline(always)]
    fn complete(self) -> i32 {
        let wr = self.0;
        std::mem::forget(self);
        // SAFETY: as above, and the session is open.
        unsafe { inline::wr_complete(wr) }
    }

    /// What the next requests' flags are, until they are set anew: providers leave them as they are.
    #[inline(always)]
    fn flags(&self, flags: u64) {
        // SAFETY: the builder is the queue pair's, and the session is open.
        unsafe { (*self.0).wr_flags = flags as u32 };
    }

    /// # Safety
    /// The request was checked, its operation is `OP`.
    #[inline(always)]
    unsafe fn operation<const OP: u32>(&self, wr: &vbn_send_wr) {
        // SAFETY: the builder has every operation that the queue pair allows.
        unsafe {
            (*self.0).wr_id = wr.wr_id;
            match OP {
                VBN_WR_SEND => inline::wr_send(self.0),
                VBN_WR_SEND_WITH_IMM => inline::wr_send_imm(self.0, wr.imm.to_be()),
                VBN_WR_RDMA_READ => inline::wr_rdma_read(self.0, wr.rkey, wr.remote_addr),
                VBN_WR_RDMA_WRITE => inline::wr_rdma_write(self.0, wr.rkey, wr.remote_addr),
                VBN_WR_ATOMIC_CMP_AND_SWP => {
                    inline::wr_atomic_cmp_swp(self.0, wr.rkey, wr.remote_addr, wr.compare_add, wr.swap);
                }
                VBN_WR_ATOMIC_FETCH_AND_ADD => {
                    inline::wr_atomic_fetch_add(self.0, wr.rkey, wr.remote_addr, wr.compare_add);
                }
                VBN_WR_LOCAL_INV => inline::wr_local_inv(self.0, wr.invalidate_rkey),
                VBN_WR_SEND_WITH_INV => inline::wr_send_inv(self.0, wr.invalidate_rkey),
                VBN_WR_ATOMIC_WRITE => inline::wr_atomic_write(self.0, wr.rkey, wr.remote_addr, wr.ext),
                _ => inline::wr_rdma_write_imm(self.0, wr.rkey, wr.remote_addr, wr.imm.to_be()),
            }
        }
    }

    /// # Safety
    /// As for `operation`.
    unsafe fn bind(&self, wr: &vbn_send_wr, bind: &Bind) {
        // SAFETY: as in `operation`.
        unsafe {
            (*self.0).wr_id = wr.wr_id;
            inline::wr_bind_mw(self.0, bind.mw, bind.rkey, &bind.info);
        }
    }

    /// # Safety
    /// As for `operation`.
    unsafe fn flush(&self, wr: &vbn_send_wr, flush: &vbn_flush_ext) {
        let (length, kind, level) = (flush.length as usize, flush.r#type as u8, flush.level as u8);
        // SAFETY: as in `operation`; type and level were checked, and have few bits.
        unsafe {
            (*self.0).wr_id = wr.wr_id;
            inline::wr_flush(self.0, wr.rkey, wr.remote_addr, length, kind, level);
        }
    }

    /// A whole request with the segment inside it.
    ///
    /// # Safety
    /// As for `operation`, and the peer was live.
    #[inline(always)]
    unsafe fn request<const OP: u32>(&self, wr: &vbn_send_wr, peer: &Slot<Peer>) {
        // SAFETY: the caller vouches for the request, and every builder has the operation.
        unsafe {
            self.operation::<OP>(wr);
            self.destination(peer.body().target());
            inline::wr_set_sge(self.0, wr.sge.lkey, wr.sge.addr, wr.sge.length);
        }
    }

    #[inline(always)]
    fn destination(&self, target: &Target) {
        // SAFETY: the builder of a connectionless queue pair has the operation, and the peer's handle is live.
        unsafe { inline::wr_set_ud_addr(self.0, target.ah.as_ptr(), target.qp_num, target.qkey) };
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the session is open.
        unsafe { inline::wr_abort(self.0) };
    }
}

/// Several requests, in one session. It is given up at the first that is unlike the others, and then all are looked at closely.
#[inline(never)]
extern "C" fn several<const OP: u32>(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32) -> vbn_status {
    match build::<OP>(path, wrs, count) {
        Some(0) => {
            *posted = count;
            VBN_OK
        }
        Some(ret) => refused(path, wrs, count, posted, ret),
        None => general(path, wrs, count, posted),
    }
}

/// What the provider answered; `None` if nothing was posted.
#[inline(always)]
fn build<const OP: u32>(path: &Path, wrs: *const vbn_send_wr, count: u32) -> Option<i32> {
    // SAFETY: the caller has `count` requests, one at least.
    let (first, end) = unsafe { (&*wrs, wrs.add(count as usize)) };
    let flags = first.flags;
    let signaled = flags == VBN_SEND_SIGNALED || (flags == 0 && !path.rules.must_signal);
    if !signaled || path.common >> OP & 1 == 0 {
        return None;
    }
    // The peer that was looked at last: mostly many requests in a row have the same.
    let mut peer = reachable(path, first.peer)?;
    let session = Session::start(builder(path));
    session.flags(flags);
    let mut at = wrs;
    while at != end {
        // SAFETY: before the end.
        let wr = unsafe { &*at };
        if !is_usual::<OP>(path, wr, flags) {
            return None;
        }
        if !ptr::eq(wr.peer.cast_const().cast(), peer) {
            peer = another(path, wr)?;
        }
        // SAFETY: checked just now; and one place behind is at most the end.
        unsafe {
            session.request::<OP>(wr, peer);
            at = at.add(1);
        }
    }
    Some(session.complete())
}

/// Whether a request has the operation and the flags, and one segment inside it that is not too long.
#[inline(always)]
fn is_usual<const OP: u32>(path: &Path, wr: &vbn_send_wr, flags: u64) -> bool {
    // The two numbers lie side by side: one comparison.
    let key = |opcode: u32, num_sge: u32| u64::from(num_sge) << 32 | u64::from(opcode);
    let most = if is_rdma(OP) { path.rules.max_rdma } else { path.rules.max_message };
    key(wr.opcode, wr.num_sge) == key(OP, 1) && wr.flags == flags && wr.sg_list.is_null() && wr.sge.length <= most
}

/// A live peer of the same PD.
#[inline(always)]
fn reachable(path: &Path, handle: *mut vbn_peer) -> Option<&'static Slot<Peer>> {
    // SAFETY: a handle that this library gave out points to a slot, and slots live for ever.
    let slot: Option<&'static Slot<Peer>> = unsafe { handle.cast::<Slot<Peer>>().as_ref() };
    slot.filter(|slot| slot.live().is_some_and(|peer| ptr::eq(peer.target().pd, path.pd)))
}

/// That of a request in the middle. Read anew, so that the loop can compare in memory.
#[inline(never)]
fn another(path: &Path, wr: &vbn_send_wr) -> Option<&'static Slot<Peer>> {
    // SAFETY: a field of the caller's request.
    reachable(path, unsafe { ptr::read_volatile(&raw const wr.peer) })
}

/// The builder of a queue pair whose requests come here.
#[inline(always)]
fn builder(path: &Path) -> NonNull<ibv_qp_ex> {
    // SAFETY: `Path::new` chooses this way for those that have one.
    unsafe { path.rules.wr.unwrap_unchecked() }
}

/// Requests of any kind: everything is checked, then posted.
#[cold]
#[inline(never)]
extern "C" fn general(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32) -> vbn_status {
    // SAFETY: the caller passes the parts of a slice.
    let wrs = unsafe { std::slice::from_raw_parts(wrs, count as usize) };
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = check_send(path, wr).and_then(|()| check_inline(wr)) {
            return error::record(Op::QpPostSend, error.at(index as u64));
        }
    }
    checked(path, builder(path), wrs, posted)
}

/// Requests that were checked. A bind ends a session: what comes behind it for the same window needs its new key.
pub fn checked(path: &Path, by: NonNull<ibv_qp_ex>, wrs: &[vbn_send_wr], posted: &mut u32) -> vbn_status {
    let mut rest = wrs;
    while !rest.is_empty() {
        let (now, later) = post_ops::run(rest);
        let key = NewKey::of(now);
        let status = match session_of_any(path, by, now) {
            Ok(ret) => halve(path, by, now, ret, posted),
            Err(kind) => closed(kind, *posted),
        };
        if status != VBN_OK {
            return status;
        }
        if let Some(key) = key {
            key.store();
        }
        rest = later;
    }
    VBN_OK
}

/// The provider answered `ret` to a session with requests of the usual kind.
#[cold]
#[inline(never)]
extern "C" fn refused(path: &Path, wrs: *const vbn_send_wr, count: u32, posted: &mut u32, ret: i32) -> vbn_status {
    // SAFETY: the caller passes the parts of a slice.
    halve(path, builder(path), unsafe { std::slice::from_raw_parts(wrs, count as usize) }, ret, posted)
}

/// Goes on after a session with all of `wrs`, to which the provider answered `ret`. A queue that has not room for all takes
/// none: then it is tried with half as many, until the longest beginning that fits is posted.
fn halve(path: &Path, by: NonNull<ibv_qp_ex>, wrs: &[vbn_send_wr], mut ret: i32, posted: &mut u32) -> vbn_status {
    let (mut rest, mut size) = (wrs, wrs.len());
    loop {
        let errno = convert::ret_errno(ret, os::errno()).err().unwrap_or(libc::EIO);
        let full = matches!(errno, libc::ENOMEM | libc::EAGAIN | libc::ENOSPC);
        if ret == 0 {
            *posted = posted.saturating_add(size as u32);
            rest = rest.get(size..).unwrap_or(&[]);
        } else if !full {
            let error = Error::call("ibv_wr_complete", errno).hint(state_hint(path));
            return error::record(Op::QpPostSend, error.at((*posted).into()));
        } else if size == 1 {
            let depth = path.max_send_wr.into();
            let full = Error::new(VBN_ERR_QUEUE_FULL, Reason::QueueFull("send")).value(depth, depth);
            let error = Error { errno, ..full }.hint("poll completions, then post the rest");
            return error::record(Op::QpPostSend, error.at((*posted).into()));
        } else {
            size /= 2;
        }
        size = size.min(rest.len());
        if rest.is_empty() {
            return VBN_OK;
        }
        ret = match session_of_any(path, by, rest.get(..size).unwrap_or(rest)) {
            Ok(ret) => ret,
            Err(kind) => return closed(kind, *posted),
        };
    }
}

/// Another thread closed a handle after it was looked at.
fn closed(kind: Kind, posted: u32) -> vbn_status {
    error::record(Op::QpPostSend, Error::new(VBN_ERR_CLOSED, Reason::Closed(kind.name())).at(posted.into()))
}

/// One session with requests that were checked. What the provider answered; `Err` if nothing was posted, since such a handle
/// was closed meanwhile.
fn session_of_any(path: &Path, by: NonNull<ibv_qp_ex>, wrs: &[vbn_send_wr]) -> std::result::Result<i32, Kind> {
    let session = Session::start(by);
    for wr in wrs {
        // Inline data is asked for by the call that brings it.
        session.flags(wr.flags & !VBN_SEND_INLINE);
        // SAFETY: the request was checked.
        unsafe {
            match wr.opcode {
                VBN_WR_SEND => session.operation::<VBN_WR_SEND>(wr),
                VBN_WR_SEND_WITH_IMM => session.operation::<VBN_WR_SEND_WITH_IMM>(wr),
                VBN_WR_RDMA_READ => session.operation::<VBN_WR_RDMA_READ>(wr),
                VBN_WR_RDMA_WRITE => session.operation::<VBN_WR_RDMA_WRITE>(wr),
                VBN_WR_ATOMIC_CMP_AND_SWP => session.operation::<VBN_WR_ATOMIC_CMP_AND_SWP>(wr),
                VBN_WR_ATOMIC_FETCH_AND_ADD => session.operation::<VBN_WR_ATOMIC_FETCH_AND_ADD>(wr),
                VBN_WR_LOCAL_INV => session.operation::<VBN_WR_LOCAL_INV>(wr),
                VBN_WR_SEND_WITH_INV => session.operation::<VBN_WR_SEND_WITH_INV>(wr),
                VBN_WR_ATOMIC_WRITE => session.operation::<VBN_WR_ATOMIC_WRITE>(wr),
                VBN_WR_BIND_MW => session.bind(wr, &post_ops::bind(path, wr).map_err(|_| Kind::Mw)?),
                // Only what `ext` points to could have changed since it was checked.
                VBN_WR_FLUSH => session.flush(wr, post_ops::flush(path, wr).map_err(|_| Kind::Qp)?),
                _ => session.operation::<VBN_WR_RDMA_WRITE_WITH_IMM>(wr),
            }
            if wr.flags & VBN_SEND_BURST != 0 {
                efa::wr_set_processing_hints(path.rules.hints, efa::EFADV_WR_PROCESSING_HINT_BURST_PPS_SENSITIVE);
            }
        }
        if !path.rules.connected {
            session.destination(target(path, wr).ok_or(Kind::Peer)?);
        }
        if post_ops::has_data(wr.opcode) {
            data(&session, wr);
        }
    }
    Ok(session.complete())
}

/// Most segments of an inline request, which are turned around on the stack.
const MOST_INLINE: usize = 64;

fn check_inline(wr: &vbn_send_wr) -> Result<()> {
    if wr.flags & VBN_SEND_INLINE != 0 && wr.num_sge as usize > MOST_INLINE {
        return Err(Error::limit("num_sge of an inline request", wr.num_sge.into(), MOST_INLINE as u64));
    }
    Ok(())
}

/// The segments of a request.
fn data(session: &Session, wr: &vbn_send_wr) {
    let list = if wr.sg_list.is_null() { &raw const wr.sge } else { wr.sg_list };
    // SAFETY: the caller says that sg_list has num_sge segments, and it was checked that the request itself has one.
    let sges = unsafe { std::slice::from_raw_parts(list, wr.num_sge as usize) };
    if wr.flags & VBN_SEND_INLINE == 0 {
        // SAFETY: every builder has the operation, and vbn_sge has ibv_sge's layout.
        unsafe { inline::wr_set_sge_list(session.0, sges.len(), list.cast()) };
        return;
    }
    let mut buffers = [ibv_data_buf { addr: ptr::null_mut(), length: 0 }; MOST_INLINE];
    for (to, sge) in buffers.iter_mut().zip(sges) {
        *to = ibv_data_buf { addr: sge.addr as *mut _, length: sge.length as usize };
    }
    // SAFETY: every builder has the operation, and no more segments were let pass; the memory is the caller's to vouch for.
    unsafe { inline::wr_set_inline_data_list(session.0, sges.len(), buffers.as_ptr()) };
}
