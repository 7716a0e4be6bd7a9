// SPDX-License-Identifier: MIT OR Apache-2.0
//! A batch of libibverbs' requests on the stack, and what comes of handing it to a queue.

use std::mem::MaybeUninit;
use std::ptr;

use super::error::{self, Error, Reason, Result};
use super::op::Op;
use super::post::vbn_sge;
use super::status::*;
use crate::sys::ibv::{ibv_recv_wr, ibv_send_wr};
use crate::sys::{convert, os};

/// Requests handed to the provider in one call, one doorbell each. The functions that do it are `extern "C"`, which can't
/// unwind: so the exported functions end in a jump to them, without a frame and landing pad of their own.
/// cbindgen:ignore
pub const BATCH: usize = 32;

/// libibverbs' requests, of one kind or the other.
pub trait Linked {
    /// # Safety
    /// `this` must point to room for a request.
    unsafe fn set_next(this: *mut Self, next: *mut Self);
}

impl Linked for ibv_send_wr {
    #[inline(always)]
    unsafe fn set_next(this: *mut Self, next: *mut Self) {
        // SAFETY: the caller vouches for `this`.
        unsafe { (*this).next = next };
    }
}

impl Linked for ibv_recv_wr {
    #[inline(always)]
    unsafe fn set_next(this: *mut Self, next: *mut Self) {
        // SAFETY: the caller vouches for `this`.
        unsafe { (*this).next = next };
    }
}

/// Chains `to` to the place behind it, which is returned.
///
/// # Safety
/// `to` must point into a list, before its end.
#[inline(always)]
pub(super) unsafe fn link<T: Linked>(to: *mut T) -> *mut T {
    // SAFETY: the caller vouches for `to`.
    unsafe {
        let next = to.add(1);
        T::set_next(to, next);
        next
    }
}

/// A queue that takes requests of one kind.
pub trait Takes<T> {
    /// # Safety
    /// The queue must be live and the list complete.
    unsafe fn take(&self, first: *mut T, bad: &mut *mut T) -> i32;

    /// What its errors say of it.
    fn queue(&self) -> Queue;
}

/// Room for a batch of requests.
pub(super) struct List<T>([MaybeUninit<T>; BATCH]);

impl<T: Linked> List<T> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; BATCH])
    }

    #[inline(always)]
    pub(super) fn first(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// Hands the requests before `end` to the provider.
    #[inline(always)]
    pub(super) fn post<Q: Takes<T>>(&mut self, to: &Q, end: *mut T, count: u32, posted: &mut u32) -> vbn_status {
        let first = self.first();
        if end == first {
            return VBN_OK;
        }
        let mut bad: *mut T = ptr::null_mut();
        // SAFETY: at least one request was filled; the queue is live, and the list is complete and outlives the call.
        let ret = unsafe {
            T::set_next(end.sub(1), ptr::null_mut());
            to.take(first, &mut bad)
        };
        if ret == 0 {
            *posted = posted.wrapping_add(count);
            return VBN_OK;
        }
        let named = (bad as usize).wrapping_sub(first as usize) / size_of::<T>();
        not_taken(to, ret, named, count, posted)
    }
}

/// (By `dyn`, since else the compiler hands over what the cold path reads of the queue, and pays for it on the hot one.)
#[cold]
#[inline(never)]
fn not_taken<T>(to: &dyn Takes<T>, ret: i32, named: usize, count: u32, posted: &mut u32) -> vbn_status {
    to.queue().failed(ret, named, count, posted)
}

#[inline(always)]
pub(super) fn segments(list: *const vbn_sge, single: &vbn_sge) -> *const vbn_sge {
    if list.is_null() { single } else { list }
}

/// The length of all segments together.
pub(super) fn check_segments(
    count: u32,
    max: u32,
    limit: &'static str,
    list: *const vbn_sge,
    single: &vbn_sge,
) -> Result<u64> {
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

/// A queue that did not take everything.
pub struct Queue {
    pub op: Op,
    /// The function of libibverbs.
    pub call: &'static str,
    pub name: &'static str,
    pub depth: u32,
    /// What the state of its queue pair says about it.
    pub hint: &'static str,
}

impl Queue {
    /// The provider did not take everything: records how far it got, and why. `named` is the place in the list that it named as
    /// the first not taken; one outside the list means that it named none.
    pub fn failed(&self, ret: i32, named: usize, count: u32, posted: &mut u32) -> vbn_status {
        let errno = convert::ret_errno(ret, os::errno()).err().unwrap_or(libc::EIO);
        if named >= count as usize {
            *posted = posted.saturating_add(count);
            let error = Error { errno, ..Error::new(VBN_ERR_UNCERTAIN, Reason::Uncertain(self.call)) };
            return error::record(self.op, error.hint(self.hint));
        }
        let index = posted.saturating_add(named as u32);
        *posted = index;
        let error = if matches!(errno, libc::ENOMEM | libc::EAGAIN | libc::ENOSPC) {
            let (reason, depth) = (Reason::QueueFull(self.name), u64::from(self.depth));
            let full = Error::new(VBN_ERR_QUEUE_FULL, reason).value(depth, depth);
            Error { errno, ..full }.hint("poll completions, then post the rest")
        } else {
            Error::call(self.call, errno).hint(self.hint)
        };
        error::record(self.op, error.at(index.into()))
    }
}
