// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests in the send and receive rings.

use super::layout::{field, u16_at, u32_at, u64_at};
use crate::model::request::{FEW_INLINE, FEW_SEND_SGES, Local, Op, Remote, SendRequest, Sge, status};

const LKEY: u32 = 0x00ff_ffff;
const META: usize = 32;
/// An RDMA request's local part begins behind the remote descriptor.
const RDMA_LOCAL: usize = META + 16;

const CTRL1_IMM: u8 = 1 << 4;
const CTRL1_INLINE: u8 = 1 << 5;
const CTRL1_EXTENSION: u8 = 1 << 6;
const CTRL1_META: u8 = 1 << 7;
const CTRL2_FIRST_LAST: u8 = 0b1100;
const CTRL2_COMP: u8 = 1 << 4;

/// Reads a send request of `size` bytes, 64 or 128.
pub fn parse_send(wqe: &[u8; 128], size: usize) -> SendRequest {
    let [_, _, ctrl1, ctrl2, ..] = *wqe;
    let op = match ctrl1 & 0xf {
        _ if ctrl1 & CTRL1_META == 0
            || ctrl1 & CTRL1_EXTENSION != 0
            || ctrl2 & CTRL2_FIRST_LAST != CTRL2_FIRST_LAST =>
        {
            Err(status::QP_INTERNAL)
        }
        0 => Ok(Op::Send),
        1 => Ok(Op::Read),
        2 => Ok(Op::Write),
        _ => Err(status::UNSUPPORTED_OP),
    };
    let rdma = matches!(op, Ok(Op::Read | Op::Write));
    let length = usize::from(u16_at(wqe, 6));
    let local_at = if rdma { RDMA_LOCAL } else { META };
    let local = if ctrl1 & CTRL1_INLINE != 0 {
        inline(wqe.get(..size).unwrap_or(&[]), local_at, length)
    } else {
        sges(wqe, local_at, length, rdma)
    };
    let remote = if rdma {
        Remote { len: u32_at(wqe, META), rkey: u32_at(wqe, META + 4), addr: u64_at(wqe, META + 8) }
    } else {
        Remote::default()
    };
    // The upper bits of a 64-bit id lie in the request's last 6 bytes of metadata; they are zero when not in use.
    let id = u64::from(u16_at(wqe, 0)) | u64::from(u16_at(wqe, 26)) << 16 | u64::from(u32_at(wqe, 28)) << 32;
    SendRequest {
        id,
        op: local.as_ref().map_or_else(|code| Err(*code), |_| op),
        signaled: ctrl2 & CTRL2_COMP != 0,
        imm: (ctrl1 & CTRL1_IMM != 0).then(|| u32_at(wqe, 8)),
        local: local.unwrap_or(Local::Sges { sges: [Sge::default(); FEW_SEND_SGES], count: 0 }),
        remote,
        ah: u16_at(wqe, 12),
        dest_qpn: u32::from(u16_at(wqe, 4)),
        qkey: u32_at(wqe, 16),
    }
}

fn inline(wqe: &[u8], at: usize, len: usize) -> Result<Local, u8> {
    let mut bytes = [0u8; FEW_INLINE];
    // 128-byte requests carry at most 80 bytes in either form.
    let from = wqe.get(at..at + len).filter(|_| len <= 80).ok_or(status::BAD_LENGTH)?;
    bytes.get_mut(..len).ok_or(status::BAD_LENGTH)?.copy_from_slice(from);
    Ok(Local::Inline { bytes, len })
}

fn sges(wqe: &[u8; 128], at: usize, count: usize, rdma: bool) -> Result<Local, u8> {
    if count > if rdma { 1 } else { FEW_SEND_SGES } {
        return Err(status::BAD_LENGTH);
    }
    let mut sges = [Sge::default(); FEW_SEND_SGES];
    for (i, sge) in sges.iter_mut().enumerate().take(count) {
        let desc: [u8; 16] = field(wqe, at + 16 * i);
        *sge = Sge { len: u32_at(&desc, 0), lkey: u32_at(&desc, 4) & LKEY, addr: u64_at(&desc, 8) };
    }
    Ok(Local::Sges { sges, count })
}

/// One receive descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxDesc {
    pub id: u64,
    pub sge: Sge,
    pub first: bool,
    pub last: bool,
}

pub fn parse_recv(desc: &[u8; 16]) -> RxDesc {
    let lkey = u32_at(desc, 12);
    RxDesc {
        id: u64::from(u16_at(desc, 8)),
        sge: Sge { addr: u64_at(desc, 0), len: u32::from(u16_at(desc, 10)), lkey: lkey & LKEY },
        first: lkey & 1 << 30 != 0,
        last: lkey & 1 << 31 != 0,
    }
}
