// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests in the send and receive rings.

use crate::model::request::{FEW_INLINE, Local, Op, Remote, SendRequest, Sge, status};
use crate::model::window::Window;

const LKEY: u32 = 0x00ff_ffff;
const META: u32 = 32;
/// An RDMA request's local part begins behind the remote descriptor.
const RDMA_LOCAL: u32 = META + 16;

/// Inline bytes of a request of 128 bytes, in either form.
const MOST_INLINE: u32 = 80;

const CTRL1_IMM: u8 = 1 << 4;
const CTRL1_INLINE: u8 = 1 << 5;
const CTRL1_EXTENSION: u8 = 1 << 6;
const CTRL1_META: u8 = 1 << 7;
const CTRL2_FIRST_LAST: u8 = 0b1100;
const CTRL2_COMP: u8 = 1 << 4;

/// Reads the send request of `size` bytes, 64 or 128, that lies at `at`. Its words begin with the lowest byte.
pub fn read_send(shm: Window<'_>, at: u64, size: u32, out: &mut SendRequest) {
    let [first, second, third, fourth, rest @ ..] = shm.load::<8>(at);
    // The upper bits of a 64-bit id lie in the request's last 6 bytes of metadata; they are zero when not in use.
    out.id = first & 0xffff | fourth & !0xffff;
    out.dest_qpn = u32::from((first >> 32) as u16);
    out.ah = (second >> 32) as u16;
    out.qkey = third as u32;
    let [ctrl1, ctrl2] = [(first >> 16) as u8, (first >> 24) as u8];
    out.signaled = ctrl2 & CTRL2_COMP != 0;
    out.imm = (ctrl1 & CTRL1_IMM != 0).then_some(second as u32);
    out.op = op(ctrl1, ctrl2);
    out.remote = Remote::default();
    let rdma = matches!(out.op, Ok(Op::Read | Op::Write));
    if rdma {
        let [keys, addr, ..] = rest;
        out.remote = Remote { len: keys as u32, rkey: (keys >> 32) as u32, addr };
    }
    let length = (first >> 48) as u16;
    let fits = if ctrl1 & CTRL1_INLINE != 0 {
        let skip = if rdma { RDMA_LOCAL } else { META };
        inline(shm, at + u64::from(skip), size.saturating_sub(skip), length, &mut out.local)
    } else {
        sges(rest, length, rdma, &mut out.local)
    };
    if !fits {
        (out.op, out.local) = (Err(status::BAD_LENGTH), Local::NONE);
    }
}

#[inline(always)]
fn op(ctrl1: u8, ctrl2: u8) -> Result<Op, u8> {
    if (ctrl1 & (CTRL1_META | CTRL1_EXTENSION), ctrl2 & CTRL2_FIRST_LAST) != (CTRL1_META, CTRL2_FIRST_LAST) {
        return Err(status::QP_INTERNAL);
    }
    match ctrl1 & 0xf {
        0 => Ok(Op::Send),
        1 => Ok(Op::Read),
        2 => Ok(Op::Write),
        _ => Err(status::UNSUPPORTED_OP),
    }
}

/// False if they don't fit into `room`, as those of no request do.
#[inline(never)]
fn inline(shm: Window<'_>, at: u64, room: u32, length: u16, local: &mut Local) -> bool {
    let len = usize::from(length);
    let mut bytes = [0u8; FEW_INLINE];
    let Some(lent) = bytes.get_mut(..len).filter(|_| u32::from(length) <= room.min(MOST_INLINE)) else { return false };
    shm.read(at, lent);
    *local = Local::Inline { bytes, len };
    true
}

/// Those in the words behind the metadata. False for more than these hold.
#[inline(always)]
fn sges(words: [u64; 4], count: u16, rdma: bool, local: &mut Local) -> bool {
    let [first, at_first, second, at_second] = words;
    let [one, two] = [sge(first, at_first), sge(second, at_second)];
    let (sges, most) = if rdma { ([two, Sge::default()], 1) } else { ([one, two], 2) };
    *local = Local::Sges { sges, count: usize::from(count.min(most)) };
    count <= most
}

fn sge(keys: u64, addr: u64) -> Sge {
    Sge { addr, len: keys as u32, lkey: (keys >> 32) as u32 & LKEY }
}

/// One receive descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxDesc {
    pub id: u64,
    pub sge: Sge,
    pub first: bool,
    pub last: bool,
}

pub fn read_recv(shm: Window<'_>, at: u64) -> RxDesc {
    let [addr, rest] = shm.load(at);
    let lkey = (rest >> 32) as u32;
    RxDesc {
        id: rest & 0xffff,
        sge: Sge { addr, len: u32::from((rest >> 16) as u16), lkey: lkey & LKEY },
        first: lkey & 1 << 30 != 0,
        last: lkey & 1 << 31 != 0,
    }
}
