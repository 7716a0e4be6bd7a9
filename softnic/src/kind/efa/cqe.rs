// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completions in the CQ ring.

use super::layout::NO_AH;
use crate::model::request::{Completion, Op};

/// A completion as 32 bytes, in words whose first byte is the lowest; a ring of 16-byte entries takes the first half.
pub fn encode(c: &Completion, phase: bool, with_sgid: bool) -> [u64; 4] {
    let op = match c.op {
        Op::Send => 0u8,
        Op::Read => 1,
        Op::Write => 2,
    };
    let mut flags = u8::from(phase) | op << 4;
    let (length, second, third, fourth) = match &c.recv {
        None => {
            flags |= 1 << 1;
            ((c.id >> 16) as u16, c.id >> 32, 0, 0)
        }
        Some(r) => {
            flags |= 2 << 1 | u8::from(r.imm.is_some()) << 3 | u8::from(r.unsolicited) << 7;
            let from = u64::from(r.ah.unwrap_or(NO_AH)) | u64::from(r.source_qpn as u16) << 16;
            let second = from | u64::from(r.imm.unwrap_or(0)) << 32;
            let [third, fourth] = match r.ah {
                _ if c.op == Op::Write => [u64::from(r.length >> 16), 0],
                None if with_sgid => halves(r.source_gid.0),
                _ => [0, 0],
            };
            (r.length as u16, second, third, fourth)
        }
    };
    let head = u64::from(c.id as u16) | u64::from(c.status) << 16 | u64::from(flags) << 24;
    let first = head | u64::from(c.qpn as u16) << 32 | u64::from(length) << 48;
    [first, second, third, fourth]
}

fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let all = u128::from_le_bytes(bytes);
    [all as u64, (all >> 64) as u64]
}
