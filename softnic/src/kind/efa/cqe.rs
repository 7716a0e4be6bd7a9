// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completions in the CQ ring.

use super::layout::NO_AH;
use crate::model::request::{Completion, Op};

/// The first half of a completion of 32 bytes, or the whole of one of 16, in words whose first byte is the lowest.
#[inline(always)]
pub fn encode(c: &Completion, phase: bool) -> [u64; 2] {
    let op = match c.op {
        Op::Send => 0u64,
        Op::Read => 1,
        Op::Write => 2,
    };
    let phase = u64::from(phase) << 24;
    let head = u64::from(c.id as u16) | u64::from(c.status) << 16 | phase | op << 28 | u64::from(c.qpn as u16) << 32;
    match &c.recv {
        None => [head | 1 << 25 | c.id << 32 & 0xffff << 48, c.id >> 32],
        Some(r) => {
            let flags = 2 << 25 | u64::from(r.imm.is_some()) << 27 | u64::from(r.unsolicited) << 31;
            let from = u64::from(r.ah.unwrap_or(NO_AH)) | u64::from(r.source_qpn as u16) << 16;
            [head | flags | u64::from(r.length as u16) << 48, from | u64::from(r.imm.unwrap_or(0)) << 32]
        }
    }
}

/// The second half.
pub fn encode_rest(c: &Completion, with_sgid: bool) -> [u64; 2] {
    match &c.recv {
        Some(r) if c.op == Op::Write => [u64::from(r.length >> 16), 0],
        Some(r) if with_sgid && r.ah.is_none() => halves(r.source_gid.0),
        _ => [0, 0],
    }
}

fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let all = u128::from_le_bytes(bytes);
    [all as u64, (all >> 64) as u64]
}
