// SPDX-License-Identifier: MIT OR Apache-2.0
//! Extended completions: what a plain one has no room for, read from the provider field by field.

use std::fmt;
use std::ptr::NonNull;

use super::cq::Cq;
use super::error::{self, Error};
use super::op::Op;
use super::status::*;
use super::wc::*;
use crate::sys::efa::{self, efadv_cq};
use crate::sys::ibv::{self, ibv_cq_ex, ibv_gid, ibv_poll_cq_attr};
use crate::sys::{convert, inline, os};

/// A completion with everything that the queue was asked to tell. `fields` says what is valid; what lies behind it and has no
/// bit there is left as it was, but for sgid. Frozen; later versions append
/// fields, which is why the distance between two of them is an argument of vbn_cq_poll_ext.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct vbn_wc_ext {
    /// The completion. After an error only wr_id, status, vendor_err and qp_num count.
    pub wc: vbn_wc,
    /// VBN_WC_EX_*: which of the fields below, and of those in `wc` that have a bit, hold something.
    pub fields: u64,
    /// In ticks of the device's clock.
    pub timestamp: u64,
    /// Nanoseconds since 1970.
    pub wallclock_ns: u64,
    /// The sender's GID.
    pub sgid: [u8; 16],
    /// Tag of the flow steering rule.
    pub flow_tag: u32,
    /// VLAN tag.
    pub cvlan: u16,
    /// 1: an RDMA write with immediate that used up no receive; its wr_id means nothing.
    pub unsolicited: u8,
    /// 0.
    pub reserved0: u8,
    /// 0.
    pub reserved1: [u64; 4],
}

const _: () = assert!(size_of::<vbn_wc_ext>() == 128 && std::mem::offset_of!(vbn_wc_ext, fields) == 48);

/// `fields`: wc.byte_len.
pub const VBN_WC_EX_BYTE_LEN: u64 = 1 << 0;
/// `fields`: wc.imm.
pub const VBN_WC_EX_IMM: u64 = 1 << 1;
/// `fields`: wc.qp_num.
pub const VBN_WC_EX_QP_NUM: u64 = 1 << 2;
/// `fields`: wc.src_qp.
pub const VBN_WC_EX_SRC_QP: u64 = 1 << 3;
/// `fields`: wc.slid.
pub const VBN_WC_EX_SLID: u64 = 1 << 4;
/// `fields`: wc.sl.
pub const VBN_WC_EX_SL: u64 = 1 << 5;
/// `fields`: wc.dlid_path_bits.
pub const VBN_WC_EX_DLID_PATH_BITS: u64 = 1 << 6;
/// `fields`: all that a vbn_wc holds.
pub const VBN_WC_EX_STANDARD: u64 = 0x7f;
/// `fields`: timestamp.
pub const VBN_WC_EX_TIMESTAMP: u64 = 1 << 7;
/// `fields`: cvlan.
pub const VBN_WC_EX_CVLAN: u64 = 1 << 8;
/// `fields`: flow_tag.
pub const VBN_WC_EX_FLOW_TAG: u64 = 1 << 9;
/// `fields`: wallclock_ns.
pub const VBN_WC_EX_WALLCLOCK: u64 = 1 << 11;
/// `fields`: sgid, on EFA, for receives of senders that have no address handle here.
pub const VBN_WC_EX_SGID: u64 = 0x1_0000_0000;
/// `fields`: unsolicited (EFA).
pub const VBN_WC_EX_UNSOLICITED: u64 = 0x2_0000_0000;

/// What only EFA tells.
/// cbindgen:ignore
pub const EFA_FIELDS: u64 = VBN_WC_EX_SGID | VBN_WC_EX_UNSOLICITED;
/// cbindgen:ignore
pub const NATIVE_FIELDS: u64 =
    VBN_WC_EX_STANDARD | VBN_WC_EX_TIMESTAMP | VBN_WC_EX_CVLAN | VBN_WC_EX_FLOW_TAG | VBN_WC_EX_WALLCLOCK;

const _: () = {
    assert!(VBN_WC_EX_STANDARD == ibv::IBV_WC_STANDARD_FLAGS && VBN_WC_EX_CVLAN == ibv::IBV_WC_EX_WITH_CVLAN);
    assert!(VBN_WC_EX_TIMESTAMP == ibv::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
    assert!(VBN_WC_EX_WALLCLOCK == ibv::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
};

/// Their names, in order.
/// cbindgen:ignore
const NAMES: &[(u64, &str)] = &[
    (VBN_WC_EX_BYTE_LEN, "VBN_WC_EX_BYTE_LEN"),
    (VBN_WC_EX_IMM, "VBN_WC_EX_IMM"),
    (VBN_WC_EX_QP_NUM, "VBN_WC_EX_QP_NUM"),
    (VBN_WC_EX_SRC_QP, "VBN_WC_EX_SRC_QP"),
    (VBN_WC_EX_SLID, "VBN_WC_EX_SLID"),
    (VBN_WC_EX_SL, "VBN_WC_EX_SL"),
    (VBN_WC_EX_DLID_PATH_BITS, "VBN_WC_EX_DLID_PATH_BITS"),
    (VBN_WC_EX_TIMESTAMP, "VBN_WC_EX_TIMESTAMP"),
    (VBN_WC_EX_CVLAN, "VBN_WC_EX_CVLAN"),
    (VBN_WC_EX_FLOW_TAG, "VBN_WC_EX_FLOW_TAG"),
    (VBN_WC_EX_WALLCLOCK, "VBN_WC_EX_WALLCLOCK"),
    (VBN_WC_EX_SGID, "VBN_WC_EX_SGID"),
    (VBN_WC_EX_UNSOLICITED, "VBN_WC_EX_UNSOLICITED"),
];

/// Writes the names of the fields, with commas between.
pub fn write_fields(fields: u64, out: &mut dyn fmt::Write) -> fmt::Result {
    let mut between = "";
    for (_, name) in NAMES.iter().filter(|(field, _)| fields & field != 0) {
        write!(out, "{between}{name}")?;
        between = ", ";
    }
    Ok(())
}

/// A queue that is read field by field. Every reader of `fields` is there: it was looked at when the queue was made.
#[derive(Clone, Copy)]
pub struct Extended {
    pub cq: NonNull<ibv_cq_ex>,
    /// EFA's readers; NULL where none of its fields was asked for.
    pub efa: *mut efadv_cq,
    /// VBN_WC_EX_*.
    pub fields: u64,
    /// Each completion is taken in a session of its own. When libefa's next_poll, up to rdma-core 57, meets a completion of a
    /// destroyed queue pair, neither another one nor end_poll may follow: both would give that request's number back to the
    /// queue pair of the completion before, and corrupt its memory.
    pub one_by_one: bool,
}

/// Takes up to `count` completions into elements of the caller's array that lie `stride` bytes apart.
///
/// # Safety
/// The array must be as long as that.
#[inline(always)]
pub unsafe fn poll(cq: &Cq, count: u32, out: *mut vbn_wc_ext, stride: usize, got: &mut u32) -> vbn_status {
    let Some(extended) = cq.extended() else {
        // SAFETY: the caller vouches for the array.
        return unsafe { poll_plain(cq, count, out, stride, got) };
    };
    if extended.one_by_one {
        // SAFETY: as above.
        return unsafe { poll_one_by_one(cq, count, out, stride, got, extended) };
    }
    // The usual sets are known when this is compiled, so that nothing is asked for each completion.
    // SAFETY: as above, and the queue has these fields.
    unsafe {
        match extended.fields {
            VBN_WC_EX_STANDARD => poll_fields::<VBN_WC_EX_STANDARD>(cq, count, out, stride, got, extended),
            STANDARD_AND_SGID => poll_fields::<STANDARD_AND_SGID>(cq, count, out, stride, got, extended),
            STANDARD_AND_EFA => poll_fields::<STANDARD_AND_EFA>(cq, count, out, stride, got, extended),
            _ => poll_fields::<ANY>(cq, count, out, stride, got, extended),
        }
    }
}

const STANDARD_AND_SGID: u64 = VBN_WC_EX_STANDARD | VBN_WC_EX_SGID;
const STANDARD_AND_EFA: u64 = VBN_WC_EX_STANDARD | EFA_FIELDS;
/// The queue has to be asked.
const ANY: u64 = 0;

/// A queue without extended fields: plain completions, one by one.
#[inline(never)]
unsafe extern "C" fn poll_plain(
    cq: &Cq,
    count: u32,
    mut to: *mut vbn_wc_ext,
    stride: usize,
    got: &mut u32,
) -> vbn_status {
    *got = 0;
    while *got < count {
        let mut found = 0;
        // SAFETY: `to` is an element of the array, or just behind the last one; all-zero is a valid completion.
        let status = unsafe {
            to.write_bytes(0, 1);
            let status = cq.poll(1, &raw mut (*to).wc, &mut found);
            let good = found > 0 && (*to).wc.status == VBN_WC_SUCCESS;
            (*to).fields = if good { VBN_WC_EX_STANDARD } else { VBN_WC_EX_QP_NUM };
            to = to.wrapping_byte_add(stride);
            status
        };
        if status != VBN_OK {
            // What was taken is told first; the provider decides whether the next call meets the failure too.
            return if *got > 0 { VBN_OK } else { status };
        }
        if found == 0 {
            break;
        }
        *got = got.wrapping_add(1);
    }
    VBN_OK
}

/// See `Extended::one_by_one`.
#[inline(never)]
unsafe extern "C" fn poll_one_by_one(
    cq: &Cq,
    count: u32,
    mut to: *mut vbn_wc_ext,
    stride: usize,
    got: &mut u32,
    extended: &Extended,
) -> vbn_status {
    *got = 0;
    while *got < count {
        let mut found = 0;
        // SAFETY: the caller vouches for the array, of which `to` is an element.
        let status = unsafe { poll_fields::<ANY>(cq, 1, to, stride, &mut found, extended) };
        if status != VBN_OK {
            // What was taken is told first; the provider decides whether the next call meets the failure too.
            return if *got > 0 { VBN_OK } else { status };
        }
        if found == 0 {
            break;
        }
        *got = got.wrapping_add(1);
        to = to.wrapping_byte_add(stride);
    }
    VBN_OK
}

/// `FIELDS`: those of the queue, or ANY.
#[inline(never)]
unsafe extern "C" fn poll_fields<const FIELDS: u64>(
    cq: &Cq,
    count: u32,
    mut to: *mut vbn_wc_ext,
    stride: usize,
    got: &mut u32,
    extended: &Extended,
) -> vbn_status {
    *got = 0;
    if count == 0 {
        return VBN_OK;
    }
    let native = extended.cq.as_ptr();
    let mut attr = ibv_poll_cq_attr { comp_mask: 0 };
    // SAFETY: the queue is live and was made for this way of polling; after a failure the provider holds no lock.
    let start = |attr: &mut ibv_poll_cq_attr| unsafe { inline::start_poll(native, attr) };
    let mut ret = start(&mut attr);
    while ret != 0 {
        if ret == libc::ENOENT {
            return VBN_OK;
        }
        if !cq.skipped(ret) {
            return failed(cq, ret);
        }
        ret = start(&mut attr);
    }
    let mut left = count;
    loop {
        // SAFETY: a completion is there to be read, and `to` is an element of the array.
        unsafe { take::<FIELDS>(cq, extended, to) };
        left = left.wrapping_sub(1);
        // Nothing is kept of what ends it here: that would be state, to be looked at by every poll.
        // SAFETY: between start and end.
        if left == 0 || unsafe { next(cq, native) } != 0 {
            break;
        }
        to = to.wrapping_byte_add(stride);
    }
    *got = count.wrapping_sub(left);
    // SAFETY: polling was started.
    unsafe { inline::end_poll(native) };
    VBN_OK
}

/// Goes on to the next completion of a queue pair that exists.
///
/// # Safety
/// Polling must have been started.
#[inline(always)]
unsafe fn next(cq: &Cq, native: *mut ibv_cq_ex) -> i32 {
    loop {
        // SAFETY: the caller vouches for it.
        let ret = unsafe { inline::next_poll(native) };
        if ret == 0 || ret == libc::ENOENT || !cq.skipped(ret) {
            return ret;
        }
    }
}

#[cold]
fn failed(cq: &Cq, errno: i32) -> vbn_status {
    let errno = convert::ret_errno(errno, os::errno()).err().unwrap_or(libc::EIO);
    error::record(Op::CqPollExt, cq.explain_poll(Error::call("ibv_start_poll", errno)))
}

/// Reads the present completion.
///
/// # Safety
/// One must be there, and `to` have room.
#[inline(always)]
unsafe fn take<const FIELDS: u64>(cq: &Cq, extended: &Extended, to: *mut vbn_wc_ext) {
    let native = extended.cq.as_ptr();
    let fields = if FIELDS == ANY { extended.fields } else { FIELDS };
    let has = |field| fields & field != 0;
    // SAFETY: a completion is there, and the queue has a reader for each of its fields; those without a bit are always there.
    unsafe {
        let status = (*native).status as i32;
        (*to).wc.wr_id = (*native).wr_id;
        (*to).wc.status = status;
        if status != VBN_WC_SUCCESS {
            return take_failure(cq, extended, to);
        }
        let wc = &mut (*to).wc;
        wc.vendor_err = 0;
        wc.opcode = inline::wc_read_opcode(native) as i32;
        wc.wc_flags = inline::wc_read_wc_flags(native);
        wc.byte_len = if has(VBN_WC_EX_BYTE_LEN) { inline::wc_read_byte_len(native) } else { 0 };
        wc.qp_num = if has(VBN_WC_EX_QP_NUM) { inline::wc_read_qp_num(native) } else { 0 };
        wc.src_qp = if has(VBN_WC_EX_SRC_QP) { inline::wc_read_src_qp(native) } else { 0 };
        wc.slid = if has(VBN_WC_EX_SLID) { inline::wc_read_slid(native) as u16 } else { 0 };
        wc.sl = if has(VBN_WC_EX_SL) { inline::wc_read_sl(native) } else { 0 };
        wc.dlid_path_bits = if has(VBN_WC_EX_DLID_PATH_BITS) { inline::wc_read_dlid_path_bits(native) } else { 0 };
        wc.imm = 0;
        let value = wc.wc_flags & (VBN_WC_WITH_IMM | VBN_WC_WITH_INV) != 0 && has(VBN_WC_EX_IMM);
        (*to).fields = if value { fields } else { fields & !VBN_WC_EX_IMM };
        if value {
            take_value(native, &mut (*to).wc);
        }
        if has(VBN_WC_EX_SGID) {
            take_sgid(extended, to);
        }
        if has(VBN_WC_EX_UNSOLICITED) {
            (*to).unsolicited = efa::wc_is_unsolicited(extended.efa).into();
        }
        if has(VBN_WC_EX_TIMESTAMP) {
            (*to).timestamp = inline::wc_read_completion_ts(native);
        }
        if has(VBN_WC_EX_WALLCLOCK) {
            (*to).wallclock_ns = inline::wc_read_completion_wallclock_ns(native);
        }
        if has(VBN_WC_EX_CVLAN) {
            (*to).cvlan = inline::wc_read_cvlan(native);
        }
        if has(VBN_WC_EX_FLOW_TAG) {
            (*to).flow_tag = inline::wc_read_flow_tag(native);
        }
    }
}

/// The immediate value, or the key that the sender has invalidated.
///
/// # Safety
/// As for `take`; the queue must have the field, and the completion one of the two.
#[inline(always)]
unsafe fn take_value(native: *mut ibv_cq_ex, wc: &mut vbn_wc) {
    // SAFETY: a field that was asked for has a reader.
    let value = unsafe { inline::wc_read_imm_or_rkey(native) };
    wc.imm = if wc.wc_flags & VBN_WC_WITH_IMM != 0 { u32::from_be(value) } else { value };
}

/// The sender's GID. Only receives have one, and only if the sender has no handle here: that is told by -ENOENT.
///
/// # Safety
/// As for `take`; the queue must have the field.
#[inline(always)]
unsafe fn take_sgid(extended: &Extended, to: *mut vbn_wc_ext) {
    // SAFETY: a field that was asked for has a reader.
    unsafe {
        let sgid = &raw mut (*to).sgid;
        sgid.write([0; 16]);
        if (*to).wc.opcode & VBN_WC_RECV == 0 || efa::wc_read_sgid(extended.efa, sgid.cast()) != 0 {
            (*to).fields &= !VBN_WC_EX_SGID;
        }
    }
}

const _: () = assert!(std::mem::offset_of!(vbn_wc_ext, sgid).is_multiple_of(align_of::<ibv_gid>()));

/// After an error only the queue pair's number counts, besides what was read already.
///
/// # Safety
/// As for `take`.
#[cold]
#[inline(never)]
unsafe fn take_failure(cq: &Cq, extended: &Extended, to: *mut vbn_wc_ext) {
    // SAFETY: a field that was asked for has a reader.
    unsafe {
        let wc = &mut (*to).wc;
        wc.vendor_err = inline::wc_read_vendor_err(extended.cq.as_ptr());
        (wc.opcode, wc.byte_len, wc.imm, wc.src_qp, wc.wc_flags) = (0, 0, 0, 0, 0);
        (wc.slid, wc.sl, wc.dlid_path_bits) = (0, 0, 0);
        let known = extended.fields & VBN_WC_EX_QP_NUM;
        wc.qp_num = if known != 0 { inline::wc_read_qp_num(extended.cq.as_ptr()) } else { 0 };
        (*to).fields = known;
        cq.note(wc);
    }
}
