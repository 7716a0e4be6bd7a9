// SPDX-License-Identifier: MIT OR Apache-2.0
//! The less common operations: atomics, invalidation, binding of windows, atomic writes and flushes. What each asks of a
//! request is checked here, and libibverbs' request filled in. None of it is met by a batch of plain sends, writes and reads.

use super::error::{self, Error, Reason, Result};
use super::handle::{Handle, vbn_mr, vbn_mw};
use super::mw::{Mw, VBN_MW_TYPE_2};
use super::op::Op;
use super::post::{self, Path, VBN_SEND_INLINE, VBN_WR_RDMA_READ, vbn_send_wr};
use super::post_wr;
use super::slab::{Object, Slot};
use super::status::*;
use crate::sys::ibv::{self, ibv_mw, ibv_mw_bind_info, ibv_send_wr, ibv_send_wr_atomic, ibv_send_wr_bind_mw};

/// Compare the peer's 8 bytes at `remote_addr` with `compare_add` and, if they are equal, put `swap` there. What was there
/// before comes into the segment, of 8 bytes too. `remote_addr` must be a multiple of 8. All are numbers in host byte
/// order, as a uint64_t lies in memory. RC, where the device has atomics (VBN_CAP_ATOMICS says among whom they are atomic);
/// the peer's region and queue pair must have VBN_ACCESS_REMOTE_ATOMIC, the latter not by default (vbn_rc_attr.access).
pub const VBN_WR_ATOMIC_CMP_AND_SWP: u32 = 5;
/// Add `compare_add` to the peer's 8 bytes at `remote_addr`, modulo 2^64. For the rest as VBN_WR_ATOMIC_CMP_AND_SWP.
pub const VBN_WR_ATOMIC_FETCH_AND_ADD: u32 = 6;
/// Take back the key `invalidate_rkey`, of a window of type 2 that this queue pair has bound: the peer's access through it
/// is refused from then on. No segments.
pub const VBN_WR_LOCAL_INV: u32 = 7;
/// Bind a window of type 2, as the vbn_bind_mw_ext at `ext` says. No segments. Requests behind it may name the new key.
pub const VBN_WR_BIND_MW: u32 = 8;
/// Send, and take back the peer's key `invalidate_rkey` when the message has arrived. The receive's completion has
/// VBN_WC_WITH_INV and the key in `imm`. A key that can't be taken back ends the connection.
pub const VBN_WR_SEND_WITH_INV: u32 = 9;
/// Wait until what was written to `remote_addr` is visible, or persistent, as the vbn_flush_ext at `ext` says. No segments.
/// The peer's region must have VBN_ACCESS_FLUSH_GLOBAL or VBN_ACCESS_FLUSH_PERSISTENT. Only where send_ops asked for it.
pub const VBN_WR_FLUSH: u32 = 14;
/// Write the 8 bytes at `ext`, of any alignment and free after the post, to the peer's `remote_addr`, a multiple of 8, so that
/// nobody sees a part of them. No segments. Only where send_ops asked for it.
pub const VBN_WR_ATOMIC_WRITE: u32 = 15;

/// `vbn_flush_ext.type`: what was written is visible to all.
pub const VBN_FLUSH_GLOBAL: u32 = 1;
/// `vbn_flush_ext.type`: what was written survives a loss of power.
pub const VBN_FLUSH_PERSISTENT: u32 = 2;
/// `vbn_flush_ext.level`: `length` bytes at remote_addr.
pub const VBN_FLUSH_RANGE: u32 = 0;
/// `vbn_flush_ext.level`: the whole region.
pub const VBN_FLUSH_MR: u32 = 1;

/// What VBN_WR_BIND_MW finds at `ext`. Read while posting. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_bind_mw_ext {
    /// The window, of type 2 and the queue pair's PD.
    pub mw: *mut vbn_mw,
    /// The region behind it, of the same PD and with VBN_ACCESS_MW_BIND.
    pub mr: *mut vbn_mr,
    /// Where the window begins, as the region's own addresses count.
    pub addr: u64,
    /// Bytes, at least 1.
    pub length: u64,
    /// VBN_ACCESS_REMOTE_WRITE, _READ, _ATOMIC, and VBN_ACCESS_ZERO_BASED for addresses that count from the window's begin.
    pub access: u64,
    /// The key that the window gets: its present one with another low byte. 0: the low byte goes up by one. vbn_mw_rkey tells
    /// it after the post.
    pub rkey: u32,
    /// 0.
    pub reserved0: u32,
}

/// What VBN_WR_FLUSH finds at `ext`. Read while posting. Frozen.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_flush_ext {
    /// Bytes; not looked at with VBN_FLUSH_MR.
    pub length: u64,
    /// VBN_FLUSH_GLOBAL, VBN_FLUSH_PERSISTENT, or both.
    pub r#type: u32,
    /// VBN_FLUSH_RANGE or VBN_FLUSH_MR.
    pub level: u32,
}

const _: () = {
    assert!(size_of::<vbn_bind_mw_ext>() == 48 && size_of::<vbn_flush_ext>() == 16);
    assert!(VBN_WR_ATOMIC_CMP_AND_SWP == ibv::IBV_WR_ATOMIC_CMP_AND_SWP && VBN_WR_LOCAL_INV == ibv::IBV_WR_LOCAL_INV);
    assert!(VBN_WR_ATOMIC_FETCH_AND_ADD == ibv::IBV_WR_ATOMIC_FETCH_AND_ADD);
    assert!(VBN_WR_BIND_MW == ibv::IBV_WR_BIND_MW && VBN_WR_SEND_WITH_INV == ibv::IBV_WR_SEND_WITH_INV);
    assert!(VBN_WR_FLUSH == ibv::IBV_WR_FLUSH && VBN_WR_ATOMIC_WRITE == ibv::IBV_WR_ATOMIC_WRITE);
    assert!(
        VBN_FLUSH_GLOBAL == ibv::IBV_FLUSH_GLOBAL as u32 && VBN_FLUSH_PERSISTENT == ibv::IBV_FLUSH_PERSISTENT as u32
    );
    assert!(VBN_FLUSH_RANGE == ibv::IBV_FLUSH_RANGE as u32 && VBN_FLUSH_MR == ibv::IBV_FLUSH_MR as u32);
};

/// Operations that only ibv_wr_* knows, a bit for each.
/// cbindgen:ignore
pub const WR_ONLY: u64 = 1 << VBN_WR_FLUSH | 1 << VBN_WR_ATOMIC_WRITE;

/// Bytes of an atomic operation.
const ATOMIC: u64 = 8;

/// Whether a request (with an opcode below 64) can't simply stand in a list with others: one that only ibv_wr_* knows, and a
/// bind, after which the window has another key.
#[inline(always)]
pub fn stands_apart(opcode: u32) -> bool {
    (WR_ONLY | 1 << VBN_WR_BIND_MW) >> (opcode & 63) & 1 == 1
}

/// Whether a request has segments.
pub fn has_data(opcode: u32) -> bool {
    !matches!(opcode, VBN_WR_LOCAL_INV | VBN_WR_BIND_MW | VBN_WR_FLUSH | VBN_WR_ATOMIC_WRITE)
}

/// What can be wrong with a request of one of these operations. `length`: of all its segments.
#[cold]
#[inline(never)]
pub fn check(path: &Path, wr: &vbn_send_wr, length: u64) -> Result<()> {
    if wr.flags & VBN_SEND_INLINE != 0 && wr.opcode != VBN_WR_SEND_WITH_INV {
        return Err(Error::text(VBN_ERR_ARGUMENT, "VBN_SEND_INLINE makes sense only for sends and RDMA writes")
            .value(wr.opcode.into(), 0));
    }
    if !has_data(wr.opcode) && wr.num_sge != 0 {
        return Err(Error::range("num_sge", wr.num_sge.into(), "0, as this operation has no data of its own"));
    }
    match wr.opcode {
        VBN_WR_ATOMIC_CMP_AND_SWP | VBN_WR_ATOMIC_FETCH_AND_ADD => {
            if length != ATOMIC {
                return Err(Error::range(
                    "length of an atomic operation",
                    length,
                    "8, the size of what it brings back",
                ));
            }
            check_place(wr)
        }
        VBN_WR_BIND_MW => bind(path, wr).map(drop),
        VBN_WR_ATOMIC_WRITE => {
            if wr.ext.is_null() {
                return Err(Error::argument(Reason::Null("ext")).hint("it points to the 8 bytes to be written"));
            }
            check_place(wr)
        }
        VBN_WR_FLUSH => flush(path, wr).map(drop),
        _ => Ok(()),
    }
}

fn check_place(wr: &vbn_send_wr) -> Result<()> {
    if !wr.remote_addr.is_multiple_of(ATOMIC) {
        return Err(Error::range("remote_addr of an atomic operation", wr.remote_addr, "a multiple of 8"));
    }
    Ok(())
}

/// What `ext` points to.
fn ext<'a, T>(wr: &'a vbn_send_wr, what: &'static str) -> Result<&'a T> {
    let pointer = wr.ext.cast::<T>();
    if pointer.is_null() {
        return Err(Error::argument(Reason::Null("ext")).hint(what));
    }
    if !pointer.is_aligned() {
        return Err(Error::argument(Reason::Misaligned("ext")).hint(what));
    }
    // SAFETY: not NULL and aligned; that it is there for as long as the request is the caller's word.
    Ok(unsafe { &*pointer })
}

/// The object behind a handle in a request. As on the whole data path no reference is counted.
fn live<H: Handle>(handle: *mut H, what: &'static str) -> Result<&'static H::Body> {
    let slot = handle.cast::<Slot<H::Body>>().cast_const();
    if slot.is_null() {
        return Err(Error::argument(Reason::Null(what)));
    }
    if !slot.is_aligned() {
        return Err(Error::argument(Reason::NotAHandle(H::Body::KIND.name())));
    }
    // SAFETY: a handle that this library gave out points to a slot, and slots live for ever.
    let slot = unsafe { &*slot };
    slot.live().ok_or_else(|| slot.refusal())
}

/// A bind, ready for the provider.
pub struct Bind {
    pub mw: *mut ibv_mw,
    pub rkey: u32,
    pub info: ibv_mw_bind_info,
}

/// What a request to bind says, checked.
pub fn bind(path: &Path, wr: &vbn_send_wr) -> Result<Bind> {
    let ext: &vbn_bind_mw_ext = ext(wr, "VBN_WR_BIND_MW wants a vbn_bind_mw_ext there")?;
    if ext.reserved0 != 0 {
        return Err(Error::reserved());
    }
    let (mw, mr) = (live(ext.mw, "ext->mw")?, live(ext.mr, "ext->mr")?);
    mw.must_be(VBN_MW_TYPE_2)?;
    if ext.length == 0 {
        return Err(Error::range("length", 0, "at least 1").hint("VBN_WR_LOCAL_INV takes a window of type 2 back"));
    }
    let info = mw.bind_info(mr, path.pd, ext.addr, ext.length, ext.access)?;
    let rkey = if ext.rkey == 0 { mw.next_rkey() } else { ext.rkey };
    mw.check_rkey(rkey)?;
    Ok(Bind { mw: mw.native(), rkey, info })
}

/// What a request to flush says, checked.
pub fn flush<'a>(path: &Path, wr: &'a vbn_send_wr) -> Result<&'a vbn_flush_ext> {
    let ext: &vbn_flush_ext = ext(wr, "VBN_WR_FLUSH wants a vbn_flush_ext there")?;
    let known = VBN_FLUSH_GLOBAL | VBN_FLUSH_PERSISTENT;
    if ext.r#type & !known != 0 {
        return Err(Error::unknown_bits("type", ext.r#type.into(), known.into()));
    }
    if ext.r#type == 0 {
        return Err(Error::range("type", 0, "VBN_FLUSH_GLOBAL (1), VBN_FLUSH_PERSISTENT (2), or both"));
    }
    if ext.r#type & !path.rules.flushes != 0 {
        let (lacking, has) = (ext.r#type & !path.rules.flushes, path.rules.flushes);
        return Err(Error::new(VBN_ERR_NOT_SUPPORTED, Reason::Lacks("type of flush", "the device"))
            .value(lacking.into(), has.into()));
    }
    if !matches!(ext.level, VBN_FLUSH_RANGE | VBN_FLUSH_MR) {
        return Err(Error::range("level", ext.level.into(), "VBN_FLUSH_RANGE (0) or VBN_FLUSH_MR (1)"));
    }
    Ok(ext)
}

/// Completes libibverbs' request, whose common fields are filled in.
///
/// # Safety
/// `to` must point to room for a request.
pub unsafe fn fill(path: &Path, wr: &vbn_send_wr, to: *mut ibv_send_wr) -> Result<()> {
    // SAFETY: the caller vouches for `to`.
    unsafe {
        match wr.opcode {
            VBN_WR_ATOMIC_CMP_AND_SWP | VBN_WR_ATOMIC_FETCH_AND_ADD => {
                let vbn_send_wr { remote_addr, compare_add, swap, rkey, .. } = *wr;
                (*to).wr.atomic = ibv_send_wr_atomic { remote_addr, compare_add, swap, rkey };
            }
            VBN_WR_LOCAL_INV | VBN_WR_SEND_WITH_INV => (*to).imm_or_rkey = wr.invalidate_rkey,
            VBN_WR_BIND_MW => {
                let Bind { mw, rkey, info } = bind(path, wr)?;
                // rxe (provider of rdma-core 65) refuses a bind with immediate data.
                (*to).imm_or_rkey = 0;
                (*to).ext.bind_mw = ibv_send_wr_bind_mw { mw, rkey, bind_info: info };
            }
            _ => {}
        }
    }
    Ok(())
}

/// A window and the key that it gets by a bind.
pub struct NewKey(&'static Mw, u32);

impl NewKey {
    /// If the last of some requests that were checked is a bind. To be asked for before they are posted.
    pub fn of(wrs: &[vbn_send_wr]) -> Option<Self> {
        let wr = wrs.last().filter(|wr| wr.opcode == VBN_WR_BIND_MW)?;
        let ext = ext::<vbn_bind_mw_ext>(wr, "").ok()?;
        let mw = live(ext.mw, "").ok()?;
        Some(Self(mw, if ext.rkey == 0 { mw.next_rkey() } else { ext.rkey }))
    }

    /// After the post: providers look there when the window is bound again.
    pub fn store(self) {
        self.0.set_key(self.1);
    }
}

/// The requests that can go to the provider in one call, from the front: up to the first bind.
pub fn run(wrs: &[vbn_send_wr]) -> (&[vbn_send_wr], &[vbn_send_wr]) {
    let bind = wrs.iter().position(|wr| wr.opcode == VBN_WR_BIND_MW);
    wrs.split_at_checked(bind.map_or(wrs.len(), |at| at.saturating_add(1))).unwrap_or((wrs, &[]))
}

/// At most a batch of requests, some of which stand apart: in as many calls as they need.
#[cold]
#[inline(never)]
pub fn send(path: &Path, wrs: &[vbn_send_wr], done: &mut u32) -> vbn_status {
    for (index, wr) in wrs.iter().enumerate() {
        if let Err(error) = post::check_send(path, wr) {
            return error::record(Op::QpPostSend, error.at(index as u64));
        }
    }
    let wr_only = |wr: &vbn_send_wr| WR_ONLY >> (wr.opcode & 63) & 1 == 1;
    let mut rest = wrs;
    while let Some(first) = rest.first() {
        let (alike, _) = run(rest);
        let same = alike.iter().take_while(|wr| wr_only(wr) == wr_only(first)).count();
        let Some((now, later)) = rest.split_at_checked(same) else { break };
        let key = NewKey::of(now);
        let status = match path.rules.wr_only {
            Some(builder) if wr_only(first) => post_wr::checked(path, builder, now, done),
            _ => post::send_checked(path, now, done),
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

const _: () = assert!(VBN_WR_RDMA_READ < VBN_WR_ATOMIC_CMP_AND_SWP);
