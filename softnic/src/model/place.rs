// SPDX-License-Identifier: MIT OR Apache-2.0
//! Putting a packet's payload into memory.

use super::host::{Host, Segment};
use super::packet::Payload;

/// Room for where a request's pieces lie: on the stack for as many as most requests have.
pub(super) struct Segments<const N: usize> {
    few: [Segment; N],
    many: Vec<Segment>,
}

const NOWHERE: Segment = Segment { addr: 0, len: 0 };

impl<const N: usize> Segments<N> {
    pub fn new() -> Segments<N> {
        Segments { few: [NOWHERE; N], many: Vec::new() }
    }

    #[inline(always)]
    pub fn room(&mut self, count: usize) -> &mut [Segment] {
        match self.few.get_mut(..count) {
            Some(few) => few,
            None => {
                self.many.resize(count, NOWHERE);
                &mut self.many
            }
        }
    }
}

/// `len` bytes of a list from byte `skip` on.
pub(super) fn part(list: &[Segment], skip: u32, len: u32) -> Vec<Segment> {
    let mut space = Space { to: list, at: u64::from(skip) };
    let mut left = len as usize;
    let mut out = Vec::new();
    while left > 0 {
        let Some(s) = space.next(left) else { break };
        left -= s.len as usize;
        out.push(s);
    }
    out
}

/// Whose memory is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gone {
    Source,
    /// Or the payload does not fit.
    Target,
}

/// Places the payload at byte `skip` of the list `to`. Parts may be written when it fails.
pub(super) fn place(host: &mut dyn Host, payload: &Payload<'_>, skip: u64, to: &[Segment]) -> Result<(), Gone> {
    // Mostly all of it goes into one piece.
    if let (Payload::Bytes(bytes), [only]) = (payload, to)
        && !bytes.is_empty()
        && bytes.len() as u64 + skip <= u64::from(only.len)
    {
        return if host.write(only.addr.wrapping_add(skip), bytes) { Ok(()) } else { Err(Gone::Target) };
    }
    place_pieces(host, payload, skip, to)
}

#[inline(never)]
fn place_pieces(host: &mut dyn Host, payload: &Payload<'_>, skip: u64, to: &[Segment]) -> Result<(), Gone> {
    if try_place(host, payload, skip, to) {
        return Ok(());
    }
    // One copy of two sides can't tell which of them failed.
    let readable = match payload {
        Payload::Bytes(_) => true,
        Payload::User(segments) => segments.iter().all(|s| is_readable(host, *s)),
    };
    Err(if readable { Gone::Target } else { Gone::Source })
}

fn is_readable(host: &mut dyn Host, s: Segment) -> bool {
    let mut buffer = [0u8; 4096];
    let mut at = 0;
    while at < s.len {
        let n = (s.len - at).min(buffer.len() as u32);
        let Some(room) = buffer.get_mut(..n as usize) else { return false };
        if !host.read(s.addr + u64::from(at), room) {
            return false;
        }
        at += n;
    }
    true
}

fn try_place(host: &mut dyn Host, payload: &Payload<'_>, skip: u64, to: &[Segment]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_list_may_begin_and_end_anywhere() {
        let s = |addr, len| Segment { addr, len };
        let list = [s(100, 10), s(200, 0), s(300, 5), s(400, 20)];
        assert_eq!(part(&list, 0, 35), [s(100, 10), s(300, 5), s(400, 20)]);
        assert_eq!(part(&list, 4, 3), [s(104, 3)]);
        assert_eq!(part(&list, 8, 10), [s(108, 2), s(300, 5), s(400, 3)]);
        assert_eq!(part(&list, 15, 100), [s(400, 20)], "there is no more");
    }
}
