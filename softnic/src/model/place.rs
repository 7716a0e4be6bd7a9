// SPDX-License-Identifier: MIT OR Apache-2.0
//! Putting a packet's payload into memory.

use super::host::{Host, Segment};
use super::packet::Payload;

/// Places the payload at byte `skip` of the list `to`. False: it does not fit, or memory is gone (parts may be written then).
pub(super) fn place(host: &mut dyn Host, payload: &Payload<'_>, skip: u64, to: &[Segment]) -> bool {
    let mut space = Space { to, at: skip };
    match payload {
        Payload::Bytes(bytes) => {
            let mut rest: &[u8] = bytes;
            while !rest.is_empty() {
                let Some(s) = space.next(rest.len()) else { return false };
                let Some((now, later)) = rest.split_at_checked(s.len as usize) else { return false };
                if !host.write(s.addr, now) {
                    return false;
                }
                rest = later;
            }
        }
        Payload::User(segments) => {
            for from in segments.iter() {
                let mut from = *from;
                while from.len > 0 {
                    let Some(s) = space.next(from.len as usize) else { return false };
                    if !host.copy(from.addr, s.addr, s.len as usize) {
                        return false;
                    }
                    from = Segment { addr: from.addr + u64::from(s.len), len: from.len - s.len };
                }
            }
        }
    }
    true
}

/// What is left of a list of segments.
struct Space<'a> {
    to: &'a [Segment],
    /// Bytes used up in the first segment (or beyond it, at the start).
    at: u64,
}

impl Space<'_> {
    /// The next piece, no longer than `max`.
    fn next(&mut self, max: usize) -> Option<Segment> {
        loop {
            let (first, rest) = self.to.split_first()?;
            let left = u64::from(first.len).saturating_sub(self.at);
            if left == 0 {
                self.at -= u64::from(first.len);
                self.to = rest;
                continue;
            }
            let len = left.min(max as u64) as u32;
            let addr = first.addr.wrapping_add(self.at);
            self.at += u64::from(len);
            return Some(Segment { addr, len });
        }
    }
}
