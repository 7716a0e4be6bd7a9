// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completions in the CQ ring.

use super::layout::NO_AH;
use crate::model::request::{Completion, Op};

/// A completion as 32 bytes; a ring of 16-byte entries takes the first half.
pub fn encode(c: &Completion, phase: bool, with_sgid: bool) -> [u8; 32] {
    let mut out = [0u8; 32];
    let op = match c.op {
        Op::Send => 0u8,
        Op::Read => 1,
        Op::Write => 2,
    };
    let mut flags = u8::from(phase) | op << 4;
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(place) = out.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    };
    put(0, &(c.id as u16).to_le_bytes());
    put(4, &(c.qpn as u16).to_le_bytes());
    match &c.recv {
        None => {
            flags |= 1 << 1;
            put(6, &((c.id >> 16) as u16).to_le_bytes());
            put(8, &((c.id >> 32) as u32).to_le_bytes());
        }
        Some(r) => {
            flags |= 2 << 1 | u8::from(r.imm.is_some()) << 3 | u8::from(r.unsolicited) << 7;
            put(6, &(r.length as u16).to_le_bytes());
            put(8, &r.ah.unwrap_or(NO_AH).to_le_bytes());
            put(10, &(r.source_qpn as u16).to_le_bytes());
            put(12, &r.imm.unwrap_or(0).to_le_bytes());
            if c.op == Op::Write {
                put(16, &((r.length >> 16) as u16).to_le_bytes());
            } else if r.ah.is_none() && with_sgid {
                put(16, &r.source_gid.0);
            }
        }
    }
    put(2, &[c.status, flags]);
    out
}
