// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the model ends and memory begins: it speaks of requests and completions, and each kind of device knows what they look like in its
//! queues ([`Queues`]).
//!
//! Queues are counted by 16-bit numbers that wrap: entries posted and taken by the device, completions written and read.

use super::host::{ContextId, Host};
use super::request::{Completion, FEW_RECV_SGES, RecvRequest, SendRequest, Sge};
use super::types::{CqSpec, QpKind, QpSpec, QpState};
use crate::profile::Profile;
use core::fmt;

/// Where the queues of a QP are, and how long. Offsets are in the memfd of the context.
#[derive(Clone, Copy, Debug)]
pub struct QpRings {
    pub kind: &'static dyn Queues,
    pub ctx: ContextId,
    pub sq_offset: u64,
    pub rq_offset: u64,
    pub doorbell_offset: u64,
    pub shape: Shape,
}

/// Entries of the queues (powers of two, or 0), and bytes of a send request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub sq_stride: u32,
    pub sq_depth: u32,
    pub rq_depth: u32,
}

/// Where a CQ is.
#[derive(Clone, Copy, Debug)]
pub struct CqRing {
    pub kind: &'static dyn Queues,
    pub ctx: ContextId,
    pub offset: u64,
    pub doorbell_offset: u64,
    pub entries: u32,
    pub entry_size: u32,
    pub with_sgid: bool,
}

/// What the user says of a CQ: the last thing said, not a counter of things said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CqDoorbell {
    /// Completions read, ever.
    pub consumer: u16,
    /// Counts the events that the provider has consumed, modulo 4.
    pub cmd_sn: u8,
    pub arm: bool,
}

/// The receive queue is in a state that no provider leaves it in.
pub struct Broken;

/// The queues of one kind of device.
pub trait Queues: Sync {
    /// Where the doorbells are in the QP's doorbell page: send, receive.
    fn doorbells(&self) -> (u32, u32);
    /// May a QP change its state so, with these bits of the mask?
    fn may_change(&self, kind: QpKind, from: QpState, to: QpState, mask: u32) -> bool;
    /// None if sizes and settings that the provider chose are impossible.
    fn shape(&self, profile: &Profile, spec: &QpSpec) -> Option<Shape>;
    /// Bytes of a CQ's ring; None if there can't be one like it.
    fn cq_bytes(&self, spec: &CqSpec) -> Option<u64>;
    /// Send requests posted, ever.
    fn sends_posted(&self, host: &mut dyn Host, rings: &QpRings) -> u16;
    /// The send request of that number.
    fn read_send(&self, host: &mut dyn Host, rings: &QpRings, number: u16) -> SendRequest;
    /// Receive entries posted, ever.
    fn recvs_posted(&self, host: &mut dyn Host, rings: &QpRings) -> u16;
    /// The receive request that begins at that number, and how many entries it takes; None while it is not whole.
    fn read_recv(
        &self,
        host: &mut dyn Host,
        rings: &QpRings,
        number: u16,
        posted: u16,
    ) -> Result<Option<(RecvRequest, u16)>, Broken>;
    /// Back to the beginning.
    fn reset(&self, host: &mut dyn Host, rings: &QpRings);
    fn cq_doorbell(&self, host: &mut dyn Host, ring: &CqRing) -> CqDoorbell;
    /// The completion of that number, written so that a poll sees all of it or nothing. Its status is one of `request::status`, for the kind
    /// to translate.
    fn write_completion(&self, host: &mut dyn Host, ring: &CqRing, number: u32, completion: &Completion);
}

impl fmt::Debug for dyn Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queues")
    }
}

impl QpRings {
    /// The word that changes when requests are posted.
    pub fn send_word(&self) -> u64 {
        self.doorbell_offset + u64::from(self.kind.doorbells().0)
    }

    /// The word that changes when receives are posted.
    pub fn recv_word(&self) -> u64 {
        self.doorbell_offset + u64::from(self.kind.doorbells().1)
    }

    pub fn sends_posted(&self, host: &mut dyn Host) -> u16 {
        self.kind.sends_posted(host, self)
    }

    pub fn read_send(&self, host: &mut dyn Host, number: u16) -> SendRequest {
        self.kind.read_send(host, self, number)
    }

    pub fn recvs_posted(&self, host: &mut dyn Host) -> u16 {
        self.kind.recvs_posted(host, self)
    }

    pub fn read_recv(
        &self,
        host: &mut dyn Host,
        number: u16,
        posted: u16,
    ) -> Result<Option<(RecvRequest, u16)>, Broken> {
        self.kind.read_recv(host, self, number, posted)
    }

    pub fn reset(&self, host: &mut dyn Host) {
        self.kind.reset(host, self);
    }
}

impl CqRing {
    pub fn doorbell(&self, host: &mut dyn Host) -> CqDoorbell {
        self.kind.cq_doorbell(host, self)
    }

    pub fn write(&self, host: &mut dyn Host, number: u32, completion: &Completion) {
        self.kind.write_completion(host, self, number, completion);
    }
}

impl RecvRequest {
    pub fn empty() -> RecvRequest {
        RecvRequest { id: 0, sges: [Sge::default(); FEW_RECV_SGES], count: 0, many: Box::default() }
    }
}
