// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data path of receives: as `post`, for a queue pair's own queue and for shared ones.

use std::sync::atomic::Ordering;

use super::error::{self, Error, Result};
use super::op::Op;
use super::post::{Path, state_hint, vbn_sge};
use super::post_list::{BATCH, List, Queue, Takes, check_segments, link, segments};
use super::srq::Srq;
use super::status::*;
use crate::sys::ibv::ibv_recv_wr;
use crate::sys::inline;

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
    /// Number of segments. 0 is fine for a receive that only takes an RDMA write with immediate, but not on EFA.
    pub num_sge: u32,
    /// Reserved.
    pub reserved0: u32,
    /// Reserved.
    pub ext: *const std::ffi::c_void,
    /// Reserved.
    pub reserved1: u64,
}

const _: () = assert!(size_of::<vbn_recv_wr>() == 64);

/// A queue that receives are posted to.
pub trait Receives: Takes<ibv_recv_wr> {
    const OP: Op;

    /// So many receives go the short way: BATCH, or 0 where each needs a closer look.
    fn short(&self) -> u32;

    fn check(&self, wr: &vbn_recv_wr) -> Result<()>;
}

impl Takes<ibv_recv_wr> for Path {
    #[inline(always)]
    unsafe fn take(&self, first: *mut ibv_recv_wr, bad: &mut *mut ibv_recv_wr) -> i32 {
        // SAFETY: the caller vouches for both.
        unsafe { inline::post_recv(self.native.as_ptr(), first, bad) }
    }

    fn queue(&self) -> Queue {
        let (op, call, name) = (Op::QpPostRecv, "ibv_post_recv", "receive");
        Queue { op, call, name, depth: self.max_recv_wr, hint: state_hint(self) }
    }
}

impl Receives for Path {
    const OP: Op = Op::QpPostRecv;

    #[inline(always)]
    fn short(&self) -> u32 {
        self.short_recv
    }

    #[inline(never)]
    fn check(&self, wr: &vbn_recv_wr) -> Result<()> {
        if let Some(why) = self.rules.no_recv {
            return Err(Error::text(VBN_ERR_ARGUMENT, why).hint("post receives there (vbn_srq_post_recv)"));
        }
        check_any(wr, self.max_recv_sge, "max_recv_sge")?;
        if self.rules.efa && wr.num_sge == 0 {
            return Err(Error::text(
                VBN_ERR_ARGUMENT,
                "num_sge is 0: libefa would lose a place of the queue for each such receive",
            )
            .hint("give a segment, of one byte if need be"));
        }
        let sges = segments(wr.sg_list, &wr.sge);
        let most = self.rules.max_recv_segment;
        for at in 0..wr.num_sge as usize {
            // SAFETY: the caller says that sg_list has num_sge segments; without a list there is one.
            let length = unsafe { (*sges.add(at)).length };
            if length > most {
                return Err(Error::limit("length of a receive segment", length.into(), most.into())
                    .hint("no message is longer than max_message; give several segments if it must be"));
            }
        }
        Ok(())
    }
}

impl Takes<ibv_recv_wr> for Srq {
    #[inline(always)]
    unsafe fn take(&self, first: *mut ibv_recv_wr, bad: &mut *mut ibv_recv_wr) -> i32 {
        // SAFETY: the caller vouches for both.
        unsafe { inline::post_srq_recv(self.native.as_ptr(), first, bad) }
    }

    fn queue(&self) -> Queue {
        let (op, call, name) = (Op::SrqPostRecv, "ibv_post_srq_recv", "shared receive");
        Queue { op, call, name, depth: self.max_wr.load(Ordering::Relaxed), hint: "" }
    }
}

impl Receives for Srq {
    const OP: Op = Op::SrqPostRecv;

    #[inline(always)]
    fn short(&self) -> u32 {
        BATCH as u32
    }

    #[inline(never)]
    fn check(&self, wr: &vbn_recv_wr) -> Result<()> {
        check_any(wr, self.max_sge, "max_sge")
    }
}

/// What no queue takes.
fn check_any(wr: &vbn_recv_wr, max: u32, limit: &'static str) -> Result<()> {
    if wr.flags != 0 {
        return Err(Error::unknown_bits("flags", wr.flags, 0));
    }
    check_segments(wr.num_sge, max, limit, wr.sg_list, &wr.sge).map(drop)
}

/// Posts `wrs` to the queue. `posted` says how many of them, from the front, are on it.
#[inline(always)]
pub fn post<Q: Receives>(to: &Q, wrs: &[vbn_recv_wr], posted: &mut u32) -> vbn_status {
    if wrs.len() <= to.short() as usize {
        batch(to, wrs.as_ptr(), wrs.len() as u32, posted)
    } else {
        many(to, wrs.as_ptr(), wrs.len() as u32, posted)
    }
}

/// More than fit into one batch, which are all checked before the first is posted; and what needs a closer look.
#[inline(never)]
extern "C" fn many<Q: Receives>(to: &Q, wrs: *const vbn_recv_wr, count: u32, posted: &mut u32) -> vbn_status {
    // SAFETY: the caller passes the parts of a slice.
    let wrs = unsafe { std::slice::from_raw_parts(wrs, count as usize) };
    let short = to.short() > 0;
    if !short && wrs.len() <= BATCH {
        return general(to, wrs, posted);
    }
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = to.check(wr) {
            return error::record(Q::OP, error.at(index as u64));
        }
    }
    for part in wrs.chunks(BATCH) {
        let status =
            if short { batch(to, part.as_ptr(), part.len() as u32, posted) } else { general(to, part, posted) };
        if status != VBN_OK {
            return status;
        }
    }
    VBN_OK
}

/// A batch of common receives: one segment each. The first other one sends the whole batch to `general`.
#[inline(never)]
extern "C" fn batch<Q: Receives>(to: &Q, wrs: *const vbn_recv_wr, count: u32, posted: &mut u32) -> vbn_status {
    // SAFETY: the callers pass the parts of a slice.
    let wrs = unsafe { std::slice::from_raw_parts(wrs, count as usize) };
    let mut list = List::<ibv_recv_wr>::new();
    let mut end = list.first();
    // What makes a request uncommon is gathered and looked at once: any flag, a segment list that is not aligned.
    let (mut flags, mut lists) = (0, 0);
    for wr in wrs {
        if wr.num_sge != 1 {
            return general(to, wrs, posted);
        }
        flags |= wr.flags;
        lists |= wr.sg_list as usize;
        // SAFETY: a batch has at most BATCH requests, so `end` and at most one place behind stay within the list. The caller
        // says that sg_list has a segment.
        unsafe {
            fill(wr, segments(wr.sg_list, &wr.sge), 1, end);
            end = link(end);
        }
    }
    if flags != 0 || lists % align_of::<vbn_sge>() != 0 || to.short() == 0 {
        return general(to, wrs, posted);
    }
    list.post(to, end, wrs.len() as u32, posted)
}

/// A batch that may hold anything: every request is checked in full.
#[cold]
#[inline(never)]
fn general<Q: Receives>(to: &Q, wrs: &[vbn_recv_wr], posted: &mut u32) -> vbn_status {
    let mut list = List::<ibv_recv_wr>::new();
    let mut end = list.first();
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = to.check(wr) {
            return error::record(Q::OP, error.at(index as u64));
        }
        // SAFETY: as in `batch`.
        unsafe {
            fill(wr, segments(wr.sg_list, &wr.sge), wr.num_sge, end);
            end = link(end);
        }
    }
    list.post(to, end, wrs.len() as u32, posted)
}

/// # Safety
/// `to` must point to room for a receive, and `sges` to `count` segments.
#[inline(always)]
unsafe fn fill(wr: &vbn_recv_wr, sges: *const vbn_sge, count: u32, to: *mut ibv_recv_wr) {
    // SAFETY: the caller vouches for `to`.
    unsafe {
        (*to).wr_id = wr.wr_id;
        (*to).sg_list = sges.cast_mut().cast();
        (*to).num_sge = count as i32;
    }
}
