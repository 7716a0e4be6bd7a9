// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the model ends and memory begins: it speaks of requests and completions, and each kind of device knows what they look like in its
//! queues ([`Queues`]).
//!
//! Queues are counted by 16-bit numbers that wrap: entries posted and taken by the device, completions written and read.

use super::host::{ContextId, Host};
use super::request::{Completion, RecvRequest, SendRequest};
use super::types::{CqSpec, QpCaps, QpSpec, QpState, QpType};
use super::window::Window;
use crate::profile::Profile;
use core::fmt;

/// Where the queues of a QP are, and how long. Offsets are in the memfd of the context.
#[derive(Clone, Copy, Debug)]
pub struct QpRings {
    pub kind: &'static dyn Queues,
    pub ctx: ContextId,
    pub sq_offset: u64,
    pub doorbell_offset: u64,
    pub shape: Shape,
    pub recv: RecvRing,
}

/// Where receive requests are. Nothing in it is the QP's, so that QPs could share one.
#[derive(Clone, Copy, Debug)]
pub struct RecvRing {
    pub kind: &'static dyn Queues,
    pub ctx: ContextId,
    pub offset: u64,
    pub doorbell_offset: u64,
    pub stride: u32,
    pub depth: u32,
}

/// A word in the memory of a QP, by the piece in which it lies and how far from its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    SendRing(u32),
    RecvRing(u32),
    Doorbells(u32),
}

/// What a kind makes of the sizes that a provider asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QpLayout {
    pub shape: Shape,
    /// The pieces of memory, which are rounded up to pages; 0 for one that the kind doesn't have.
    pub sq_bytes: u64,
    pub rq_bytes: u64,
    /// Words of their own for the doorbells, within `doorbells::PLACE` bytes.
    pub doorbells: bool,
    /// What the user is told.
    pub caps: QpCaps,
}

/// The same for a CQ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CqLayout {
    /// Places in the ring: a power of two.
    pub entries: u32,
    /// How many completions it holds, which is what the user is told.
    pub cqe: u32,
    pub bytes: u64,
    pub doorbell_bytes: u64,
    /// Every program says how far it has read: a ring is never taken to have room because nothing was said.
    pub always_told: bool,
    /// A call asks for the next event (`Device::cq_arm`), not the doorbell.
    pub armed_by_call: bool,
}

/// Entries of the queues (powers of two, or 0), and bytes of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub sq_stride: u32,
    pub sq_depth: u32,
    pub rq_stride: u32,
    pub rq_depth: u32,
}

/// Where a CQ is.
#[derive(Clone, Copy, Debug)]
pub struct CqRing {
    pub kind: &'static dyn Queues,
    pub ctx: ContextId,
    pub offset: u64,
    pub doorbell_offset: u64,
    /// Places, a power of two.
    pub entries: u32,
    pub entry_size: u32,
    pub with_sgid: bool,
}

/// What the user says of a CQ in memory: the last thing said, not a counter of things said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CqDoorbell {
    /// Completions read, ever.
    pub consumer: u16,
    /// Counts the events that the provider has consumed, modulo 4. It and `arm` mean nothing where a call arms.
    pub cmd_sn: u8,
    pub arm: bool,
}

/// The receive queue is in a state that no provider leaves it in.
pub struct Broken;

/// The queues of one kind of device.
pub trait Queues: Sync {
    /// The words that change when something is posted into the send and the receive queue.
    fn words(&self) -> (Word, Word);
    /// May a QP change its state so, with these bits of the mask?
    fn may_change(&self, kind: &QpType, from: QpState, to: QpState, mask: u32) -> bool;
    /// None if sizes and settings that the provider chose are impossible. They are within the profile's limits.
    fn qp_layout(&self, profile: &Profile, spec: &QpSpec) -> Option<QpLayout>;
    fn cq_layout(&self, profile: &Profile, spec: &CqSpec) -> Option<CqLayout>;
    /// What the provider shall find in memory that is zeroed so far.
    fn begin_qp(&self, _shm: Window<'_>, _rings: &QpRings) {}
    fn begin_cq(&self, _shm: Window<'_>, _ring: &CqRing) {}
    /// Send requests posted, ever; `taken` of them the device has. (A queue that shows places instead of counters needs that.)
    fn sends_posted(&self, shm: Window<'_>, rings: &QpRings, taken: u16) -> u16;
    /// The device has taken so many, ever: their places are the provider's again.
    fn sends_taken(&self, _host: &dyn Host, _rings: &QpRings, _taken: u16) {}
    /// The send request of that number, all of it, in place of what `out` was before.
    fn read_send(&self, shm: Window<'_>, rings: &QpRings, number: u16, out: &mut SendRequest);
    /// Receive entries posted, ever.
    fn recvs_posted(&self, shm: Window<'_>, ring: &RecvRing, taken: u16) -> u16;
    fn recvs_taken(&self, _host: &dyn Host, _ring: &RecvRing, _taken: u16) {}
    /// The receive request that begins at that number, in place of what `out` was before, and how many entries it takes; None while it is
    /// not whole.
    fn read_recv(
        &self,
        shm: Window<'_>,
        ring: &RecvRing,
        number: u16,
        posted: u16,
        out: &mut RecvRequest,
    ) -> Result<Option<u16>, Broken>;
    /// Back to the beginning.
    fn reset(&self, shm: Window<'_>, rings: &QpRings);
    /// Where the word lies by which the user says how far it has read.
    fn cq_word(&self, ring: &CqRing) -> u64 {
        ring.doorbell_offset
    }
    /// `produced` completions were written, ever.
    fn cq_doorbell(&self, shm: Window<'_>, ring: &CqRing, produced: u32) -> CqDoorbell;
    /// The completion of that number, written so that a poll sees all of it or nothing. Its status is one of `request::status`, for the kind
    /// to translate.
    fn write_completion(&self, shm: Window<'_>, ring: &CqRing, number: u32, completion: &Completion);
}

impl fmt::Debug for dyn Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queues")
    }
}

impl QpRings {
    fn offset(&self, word: Word) -> u64 {
        let (piece, at) = match word {
            Word::SendRing(at) => (self.sq_offset, at),
            Word::RecvRing(at) => (self.recv.offset, at),
            Word::Doorbells(at) => (self.doorbell_offset, at),
        };
        piece + u64::from(at)
    }

    /// The word that changes when requests are posted.
    pub fn send_word(&self) -> u64 {
        self.offset(self.kind.words().0)
    }

    /// The word that changes when receives are posted.
    pub fn recv_word(&self) -> u64 {
        self.offset(self.kind.words().1)
    }

    pub fn sends_posted(&self, host: &dyn Host, taken: u16) -> u16 {
        self.kind.sends_posted(host.shm(self.ctx), self, taken)
    }

    pub fn sends_taken(&self, host: &dyn Host, taken: u16) {
        self.kind.sends_taken(host, self, taken);
    }

    pub fn read_send(&self, host: &dyn Host, number: u16, out: &mut SendRequest) {
        self.kind.read_send(host.shm(self.ctx), self, number, out);
    }

    pub fn begin(&self, host: &dyn Host) {
        self.kind.begin_qp(host.shm(self.ctx), self);
    }

    pub fn reset(&self, host: &dyn Host) {
        self.kind.reset(host.shm(self.ctx), self);
    }
}

impl RecvRing {
    pub fn posted(&self, shm: Window<'_>, taken: u16) -> u16 {
        self.kind.recvs_posted(shm, self, taken)
    }

    pub fn taken(&self, host: &dyn Host, taken: u16) {
        self.kind.recvs_taken(host, self, taken);
    }

    pub fn read(
        &self,
        shm: Window<'_>,
        number: u16,
        posted: u16,
        out: &mut RecvRequest,
    ) -> Result<Option<u16>, Broken> {
        self.kind.read_recv(shm, self, number, posted, out)
    }
}

impl CqRing {
    pub fn doorbell(&self, shm: Window<'_>, produced: u32) -> CqDoorbell {
        self.kind.cq_doorbell(shm, self, produced)
    }

    pub fn word(&self) -> u64 {
        self.kind.cq_word(self)
    }

    pub fn write(&self, shm: Window<'_>, number: u32, completion: &Completion) {
        self.kind.write_completion(shm, self, number, completion);
    }
}
