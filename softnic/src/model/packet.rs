// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets between devices and their form as bytes (little-endian, a header of one of two lengths, then the payload).

use super::host::{Address, Gid, Segment};
use std::borrow::Cow;

/// The longest payload of a packet to another process. SENDs are shorter (the device's MTU); WRITE and READ are cut into chunks.
pub const CHUNK: u32 = 32 * 1024;
/// Bytes of the encoded header: of an answer and a plain SEND, and of all others. With the 8 bytes that come first in a ring they are
/// one or two cache lines, and the payload begins at one: some processors copy at a tenth of their speed to where it nearly lies
/// as it does in the source's page.
const SHORT: usize = 56;
const LONG: usize = 120;
/// An upper bound of an encoded packet's length to another process.
pub const MAX_ENCODED: usize = LONG + CHUNK as usize;

/// Data of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload<'a> {
    Bytes(Cow<'a, [u8]>),
    /// Memory of the sending process. Goes through as it is within one process; `encode` reads it.
    User(Cow<'a, [Segment]>),
}

impl Payload<'_> {
    pub const EMPTY: Payload<'static> = Payload::Bytes(Cow::Borrowed(&[]));

    pub fn len(&self) -> u64 {
        match self {
            Payload::Bytes(b) => b.len() as u64,
            Payload::User(s) => match &**s {
                [only] => u64::from(only.len),
                all => all.iter().map(|s| u64::from(s.len)).sum(),
            },
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn into_owned(self) -> Payload<'static> {
        match self {
            Payload::Bytes(b) => Payload::Bytes(Cow::Owned(b.into_owned())),
            Payload::User(s) => Payload::User(Cow::Owned(s.into_owned())),
        }
    }
}

/// What a packet asks or answers. `request` of the packet ties answers to questions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A whole message for a receive request.
    Send {
        qkey: u32,
        imm: Option<u32>,
        ud: bool,
    },
    /// A piece of an RDMA write. The first packet of a request to arrive is checked as a whole (`raddr`, `length`); every one
    /// carries the same facts, so pieces may arrive in any order and twice. `pieces` is how many packets the request has,
    /// repeated ones included.
    Write {
        raddr: u64,
        rkey: u32,
        length: u32,
        offset: u32,
        pieces: u32,
        imm: Option<u32>,
        unsolicited: bool,
    },
    ReadReq {
        raddr: u64,
        rkey: u32,
        length: u32,
    },
    /// A piece of the answer to a read.
    ReadResp {
        offset: u32,
        length: u32,
    },
    /// The receiver's verdict on a SEND, WRITE or READ: a completion status, 0 = fine. READ answers 0 through its pieces.
    Ack {
        status: u8,
    },
    /// The receiver said "not ready" before and has receive requests now; `request` is how many descriptors.
    Ready,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    pub source: Address,
    pub dest: Address,
    pub request: u64,
    pub kind: Kind,
    pub payload: Payload<'a>,
}

/// Why a packet could not be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// `out` is not `encoded_len()` long.
    Length,
    /// A piece of user memory could not be read.
    Fault,
}

impl Packet<'_> {
    pub fn encoded_len(&self) -> usize {
        self.header_len() + self.payload.len() as usize
    }

    fn header_len(&self) -> usize {
        match self.kind {
            Kind::Send { imm: None, .. } | Kind::Ack { .. } | Kind::Ready => SHORT,
            Kind::Send { .. } | Kind::Write { .. } | Kind::ReadReq { .. } | Kind::ReadResp { .. } => LONG,
        }
    }

    pub fn into_owned(self) -> Packet<'static> {
        Packet {
            source: self.source,
            dest: self.dest,
            request: self.request,
            kind: self.kind,
            payload: self.payload.into_owned(),
        }
    }

    /// Writes the packet to `out`, which is `encoded_len()` long. `read` reads user memory for `Payload::User`.
    pub fn encode(&self, out: &mut [u8], read: &mut dyn FnMut(u64, &mut [u8]) -> bool) -> Result<(), EncodeError> {
        let (head, mut body) = out.split_at_mut_checked(self.header_len()).ok_or(EncodeError::Length)?;
        match &self.payload {
            Payload::Bytes(b) if b.len() == body.len() => body.copy_from_slice(b),
            Payload::Bytes(_) => return Err(EncodeError::Length),
            Payload::User(segments) => {
                for s in segments.iter() {
                    let (piece, rest) = body.split_at_mut_checked(s.len as usize).ok_or(EncodeError::Length)?;
                    if !piece.is_empty() && !read(s.addr, piece) {
                        return Err(EncodeError::Fault);
                    }
                    body = rest;
                }
                if !body.is_empty() {
                    return Err(EncodeError::Length);
                }
            }
        }
        // Last: in a ring the receiver looks at this line all the time.
        self.write_header(head);
        Ok(())
    }

    fn write_header(&self, head: &mut [u8]) {
        let [first, second, request, s0, s1, d0, d1, rest @ ..] = head.as_chunks_mut().0 else { return };
        let imm_flag = |imm: Option<u32>| if imm.is_some() { IMM } else { 0 };
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        // Code, flags, status, and the word that is an rkey or a qkey.
        let (code, flags, status, key) = match self.kind {
            Kind::Send { qkey, imm, ud } => (SEND, imm_flag(imm) | flag(ud, UD), 0, qkey),
            Kind::Write { rkey, imm, unsolicited, .. } => {
                (WRITE, imm_flag(imm) | flag(unsolicited, UNSOLICITED), 0, rkey)
            }
            Kind::ReadReq { rkey, .. } => (READ_REQ, 0, 0, rkey),
            Kind::ReadResp { .. } => (READ_RESP, 0, 0, 0),
            Kind::Ack { status } => (ACK, 0, status, 0),
            Kind::Ready => (READY, 0, 0, 0),
        };
        let flags = flags | flag(!rest.is_empty(), MORE);
        let kind = u32::from_le_bytes([code, flags, status, 0]);
        *first = (u64::from(kind) | u64::from(self.source.qpn) << 32).to_le_bytes();
        *second = (u64::from(self.dest.qpn) | u64::from(key) << 32).to_le_bytes();
        *request = self.request.to_le_bytes();
        [*s0, *s1] = halves(self.source.gid);
        [*d0, *d1] = halves(self.dest.gid);
        if let [m0, m1, m2, unused @ ..] = rest {
            [*m0, *m1, *m2] = self.more().map(u64::to_le_bytes);
            unused.fill([0; 8]);
        }
    }

    /// What only a long header has.
    fn more(&self) -> [u64; 3] {
        let (raddr, imm, length, offset, pieces) = match self.kind {
            Kind::Send { imm, .. } => (0, imm, 0, 0, 0),
            Kind::Write { raddr, length, offset, pieces, imm, .. } => (raddr, imm, length, offset, pieces),
            Kind::ReadReq { raddr, length, .. } => (raddr, None, length, 0, 0),
            Kind::ReadResp { offset, length } => (0, None, length, offset, 0),
            Kind::Ack { .. } | Kind::Ready => (0, None, 0, 0, 0),
        };
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [raddr, pair(imm.unwrap_or(0), length), pair(offset, pieces)]
    }
}

impl<'a> Packet<'a> {
    /// Reads a packet that fills `bytes`; the payload is borrowed. None: not a packet.
    pub fn decode(bytes: &'a [u8]) -> Option<Packet<'a>> {
        let (head, mut payload) = bytes.split_first_chunk::<SHORT>()?;
        let [code, flags, status, ..] = *head;
        let mut more = [0; 3];
        if flags & MORE != 0 {
            let (long, rest) = bytes.split_first_chunk::<LONG>()?;
            (more, payload) = ([word(long, 7), word(long, 8), word(long, 9)], rest);
        }
        let [raddr, imm_length, offset_pieces] = more;
        let (length, offset) = ((imm_length >> 32) as u32, offset_pieces as u32);
        let imm = (flags & IMM != 0).then_some(imm_length as u32);
        let a = (word(head, 1) >> 32) as u32;
        let kind = match code {
            SEND => Kind::Send { qkey: a, imm, ud: flags & UD != 0 },
            WRITE => Kind::Write {
                raddr,
                rkey: a,
                length,
                offset,
                pieces: (offset_pieces >> 32) as u32,
                imm,
                unsolicited: flags & UNSOLICITED != 0,
            },
            READ_REQ => Kind::ReadReq { raddr, rkey: a, length },
            READ_RESP => Kind::ReadResp { offset, length },
            ACK => Kind::Ack { status },
            READY => Kind::Ready,
            _ => return None,
        };
        let gid = |at| Gid((u128::from(word(head, at)) | u128::from(word(head, at + 1)) << 64).to_le_bytes());
        Some(Packet {
            source: Address { gid: gid(3), qpn: (word(head, 0) >> 32) as u32 },
            dest: Address { gid: gid(5), qpn: word(head, 1) as u32 },
            request: word(head, 2),
            kind,
            payload: Payload::Bytes(Cow::Borrowed(payload)),
        })
    }
}

const SEND: u8 = 1;
const WRITE: u8 = 2;
const READ_REQ: u8 = 3;
const READ_RESP: u8 = 4;
const ACK: u8 = 5;
const READY: u8 = 6;
const IMM: u8 = 1;
const UD: u8 = 2;
const UNSOLICITED: u8 = 4;
/// The header is LONG.
const MORE: u8 = 8;

fn halves(gid: Gid) -> [[u8; 8]; 2] {
    let all = u128::from_le_bytes(gid.0);
    [all as u64, (all >> 64) as u64].map(u64::to_le_bytes)
}

#[inline(always)]
fn word<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    bytes.get(8 * at..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: Kind, payload: Payload<'_>) -> Packet<'_> {
        let source = Address { gid: Gid([1; 16]), qpn: 0x1001 };
        Packet {
            source,
            dest: Address { gid: Gid([2; 16]), qpn: 0x2002 },
            request: 0x1122_3344_5566_7788,
            kind,
            payload,
        }
    }

    #[test]
    fn every_kind_survives_the_wire() {
        let kinds = [
            Kind::Send { qkey: 7, imm: Some(0), ud: false },
            Kind::Send { qkey: 7, imm: None, ud: true },
            Kind::Send { qkey: 7, imm: Some(5), ud: false },
            Kind::Write { raddr: 1 << 63, rkey: 2, length: 3, offset: 4, pieces: 5, imm: Some(6), unsolicited: true },
            Kind::Write { raddr: 1, rkey: 2, length: 3, offset: 4, pieces: 5, imm: None, unsolicited: false },
            Kind::ReadReq { raddr: 9, rkey: 8, length: 7 },
            Kind::ReadResp { offset: 1, length: 2 },
            Kind::Ack { status: 10 },
            Kind::Ready,
        ];
        for kind in kinds {
            let p = packet(kind, Payload::Bytes(Cow::Borrowed(b"payload")));
            let mut buf = vec![0xee; p.encoded_len()];
            p.encode(&mut buf, &mut |_, _| false).unwrap();
            assert_eq!(buf.len(), p.header_len() + 7);
            assert_eq!(Packet::decode(&buf).unwrap(), p);
            for length in [0, SHORT - 1, SHORT, buf.len() - 1, buf.len() + 1] {
                assert_eq!(p.encode(&mut vec![0; length], &mut |_, _| false), Err(EncodeError::Length));
            }
        }
    }

    #[test]
    fn user_memory_is_read_while_encoding() {
        let segments = [Segment { addr: 100, len: 3 }, Segment { addr: 200, len: 0 }, Segment { addr: 300, len: 2 }];
        let p = packet(Kind::Ready, Payload::User(Cow::Borrowed(&segments)));
        let mut buf = vec![0; p.encoded_len()];
        p.encode(&mut buf, &mut |addr, out| {
            out.fill((addr / 100) as u8);
            true
        })
        .unwrap();
        assert_eq!(&buf[SHORT..], [1, 1, 1, 3, 3]);
        assert_eq!(p.encode(&mut buf, &mut |addr, _| addr != 300), Err(EncodeError::Fault));
        assert_eq!(p.encode(&mut buf[1..], &mut |_, _| true), Err(EncodeError::Length));
        assert_eq!(p.encode(&mut vec![0; p.encoded_len() + 1], &mut |_, _| true), Err(EncodeError::Length));
    }

    #[test]
    fn rubbish_is_no_packet() {
        assert!(Packet::decode(&[1; SHORT - 1]).is_none());
        assert!(Packet::decode(&[0; SHORT]).is_none());
        assert!(Packet::decode(&[99; LONG]).is_none());
        let mut long = [0; LONG];
        (long[0], long[1]) = (WRITE, MORE);
        assert!(Packet::decode(&long).is_some());
        assert!(Packet::decode(&long[..LONG - 1]).is_none());
    }
}
