// SPDX-License-Identifier: MIT OR Apache-2.0
//! The responder: executes what comes from other QPs, under this process's own keys.

use super::Device;
use super::flight::{Piece, wake};
use super::host::{Address, Host, Segment, Sent};
use super::packet::{Kind, Packet, Payload};
use super::place::{Gone, Segments, place};
use super::qp::Qp;
use super::request::{FEW_RECV_SGES, Op, Received, RecvRequest, status};
use super::send::{HOLD_MS, draw_hold};
use super::types::{QpState, access};
use std::borrow::Cow;

/// A datagram's data begin behind this much space for a global routing header.
const GRH: u32 = 40;
/// Senders that a QP remembers to wake.
const WAITERS: usize = 4096;
/// WRITEs of which only a part has come.
const PARTIAL_WRITES: usize = 1 << 16;

/// A WRITE in several pieces.
#[derive(Debug)]
pub(super) struct PartialWrite {
    qpn: u32,
    /// Packets still to come.
    left: u32,
    /// The sender has its verdict already; the rest is swallowed.
    failed: bool,
}

/// A READ being answered.
#[derive(Debug)]
pub(super) struct ReadJob {
    ours: Address,
    pub peer: Address,
    request: u64,
    raddr: u64,
    rkey: u32,
    length: u32,
    /// In the order in which they go out.
    pieces: Vec<Piece>,
    sent: usize,
    /// Held back for so many steps, but not beyond the time, so that what comes later may be executed before it (SRD's freedom).
    hold: u8,
    held_until_ms: u64,
}

/// The facts of a WRITE packet.
#[derive(Clone, Copy)]
struct Write {
    raddr: u64,
    rkey: u32,
    length: u32,
    offset: u32,
    pieces: u32,
    imm: Option<u32>,
    unsolicited: bool,
}

impl Device {
    /// A packet for this device has come.
    pub fn receive(&mut self, host: &mut dyn Host, p: &Packet<'_>) {
        self.now_ms = host.now_ms();
        self.moved = true;
        self.deliver(host, p, false);
    }

    /// As `receive`. A message that is taken, and all is well, is not answered: then true, and the caller calls `receipt` of its sender.
    pub fn receive_for_receipt(&mut self, host: &mut dyn Host, p: &Packet<'_>) -> bool {
        self.now_ms = host.now_ms();
        self.moved = true;
        self.deliver(host, p, true)
    }

    /// A SEND of this number was taken and all is well: as the packet that says so.
    pub fn receipt(&mut self, host: &mut dyn Host, request: u64) {
        self.now_ms = host.now_ms();
        self.moved = true;
        if !self.removed {
            self.counters.rx_pkts += 1;
            if let Some(f) = self.flights.get(request) {
                self.answered.note(f.dest.gid);
            }
            self.verdict(host, request, status::OK);
        }
    }

    /// Executes a packet. True: it was a message, and its sender is told by a receipt (`may_receipt`) that all is well.
    #[inline(always)]
    pub(super) fn deliver(&mut self, host: &mut dyn Host, p: &Packet<'_>, may_receipt: bool) -> bool {
        if self.removed {
            // A device that is not there answers nobody; its peers find out by time. The time is cut short here.
            if matches!(p.kind, Kind::Send { .. } | Kind::Write { .. } | Kind::ReadReq { .. }) {
                self.reply(host, p, status::UNRESPONSIVE);
            }
            return false;
        }
        self.counters.rx_pkts += 1;
        self.counters.rx_bytes += p.payload.len();
        if let Kind::Send { qkey, imm, ud } = p.kind {
            let code = self.target_send(host, p, qkey, imm, ud);
            if code == status::OK && may_receipt {
                self.counters.tx_pkts += 1;
                return true;
            }
            self.reply(host, p, code);
            return false;
        }
        let answers = matches!(p.kind, Kind::ReadResp { .. } | Kind::Ack { .. })
            && self.flights.get(p.request).is_some_and(|f| f.dest == p.source);
        if answers {
            self.answered.note(p.source.gid);
        }
        match p.kind {
            Kind::Write { raddr, rkey, length, offset, pieces, imm, unsolicited } => {
                self.target_write(host, p, Write { raddr, rkey, length, offset, pieces, imm, unsolicited });
            }
            Kind::ReadReq { raddr, rkey, length } => self.target_read(host, p, raddr, rkey, length),
            Kind::ReadResp { offset, length } if answers => self.read_response(host, p, offset, length),
            Kind::Ack { status } if answers => self.verdict(host, p.request, status),
            Kind::Ready => self.receiver_ready(host, p.source, p.request),
            Kind::Send { .. } | Kind::ReadResp { .. } | Kind::Ack { .. } => {}
        }
        false
    }

    /// The QP that a packet is for, if it takes packets.
    fn target(&self, p: &Packet<'_>) -> Option<&Qp> {
        let takes = |s| matches!(s, QpState::Rtr | QpState::Rts | QpState::Sqd);
        self.qps.get(&p.dest.qpn).filter(|q| takes(q.attr.state))
    }

    /// Takes a message. Answers the verdict for its sender. (For datagrams too: their senders use it to slow down, and show nobody.)
    #[inline(always)]
    fn target_send(&mut self, host: &mut dyn Host, p: &Packet<'_>, qkey: u32, imm: Option<u32>, ud: bool) -> u8 {
        let qpn = p.dest.qpn;
        let Some(q) = self.target(p).filter(|q| q.takes_message(&p.source, qkey, ud)) else {
            self.counters.rx_drops += 1;
            return status::REMOTE_BAD_QPN;
        };
        let untaken = q.rq_taken;
        let mut recv = RecvRequest::default();
        if !self.take_recv(host, qpn, &mut recv) {
            self.remember_waiter(qpn, p.source);
            self.counters.rx_drops += 1;
            return status::REMOTE_RNR;
        }
        let Some(q) = self.qps.get(&qpn) else { return status::REMOTE_BAD_QPN };
        let pd = q.spec.pd;
        let skip = if ud { GRH } else { 0 };
        let length = p.payload.len() as u32 + skip;
        let received = Received {
            length,
            ah: self.ahs.number_for(q.ctx, pd, &p.source.gid),
            source_gid: p.source.gid,
            source_qpn: p.source.qpn,
            imm,
            unsolicited: false,
        };
        let mut to = Segments::<FEW_RECV_SGES>::new();
        let to = to.room(recv.sges().len());
        let translated = self.translate_all(pd, recv.sges(), access::LOCAL_WRITE, to);
        let (ours, theirs) = if u64::from(length) > recv.len() {
            (status::BAD_LENGTH, status::REMOTE_BAD_LENGTH)
        } else if translated.is_err() {
            (status::INVALID_LKEY, status::REMOTE_BAD_STATUS)
        } else {
            match place(host, &p.payload, u64::from(skip), to) {
                Ok(()) => {
                    self.counters.recv_wrs += 1;
                    self.counters.recv_bytes += p.payload.len();
                    (status::OK, status::OK)
                }
                Err(Gone::Target) => (status::INVALID_LKEY, status::REMOTE_BAD_STATUS),
                // Between processes it would not even have been sent.
                Err(Gone::Source) => {
                    if let Some(q) = self.qps.get_mut(&qpn) {
                        q.rq_taken = untaken;
                    }
                    return status::INVALID_LKEY;
                }
            }
        };
        self.complete_recv(host, qpn, recv.id, Op::Send, ours, received);
        theirs
    }

    fn target_write(&mut self, host: &mut dyn Host, p: &Packet<'_>, w: Write) {
        let key = (p.source, p.request);
        let mut partial = self.partial_writes.remove(&key);
        let known_bad = partial.as_ref().is_some_and(|s| s.failed);
        let mut code = status::OK;
        if !known_bad {
            code = self.place_write(host, p, &w);
            if code != status::OK {
                self.counters.rx_drops += 1;
                self.reply(host, p, code);
            }
        }
        let left = partial.as_ref().map_or(w.pieces, |s| s.left).saturating_sub(1);
        let failed = known_bad || code != status::OK;
        if left > 0 {
            let state = partial.get_or_insert(PartialWrite { qpn: p.dest.qpn, left, failed });
            (state.left, state.failed) = (left, failed);
            if self.partial_writes.len() >= PARTIAL_WRITES {
                self.partial_writes.pop_first();
            }
            if let Some(state) = partial {
                self.partial_writes.insert(key, state);
            }
        } else if !failed {
            self.finish_write(host, p, &w);
        }
    }

    /// Checks a piece of a WRITE and puts it in its place.
    fn place_write(&mut self, host: &mut dyn Host, p: &Packet<'_>, w: &Write) -> u8 {
        let Some(q) = self.target(p).filter(|q| q.spec.kind.writes && q.welcomes(&p.source)) else {
            return status::REMOTE_BAD_QPN;
        };
        let pd = q.spec.pd;
        if !q.spec.kind.connected && !self.ahs.knows(pd, &p.source.gid) {
            return status::REMOTE_UNKNOWN_PEER;
        }
        if !q.lets(access::REMOTE_WRITE) {
            return status::REMOTE_BAD_ADDRESS;
        }
        if w.imm.is_some() && q.spec.unsolicited_write_recv != w.unsolicited {
            return status::FEATURE_MISMATCH;
        }
        let len = p.payload.len();
        if u64::from(w.offset) + len > u64::from(w.length) {
            return status::REMOTE_BAD_ADDRESS;
        }
        if w.length == 0 {
            return status::OK;
        }
        let Some(all) = self.translate(w.rkey, pd, w.raddr, w.length, access::REMOTE_WRITE) else {
            return status::REMOTE_BAD_ADDRESS;
        };
        match place(host, &p.payload, u64::from(w.offset), &[all]) {
            Ok(()) => {}
            Err(Gone::Target) => return status::REMOTE_BAD_ADDRESS,
            Err(Gone::Source) => return status::INVALID_LKEY,
        }
        status::OK
    }

    /// All of a WRITE is in place: the receiver hears of it if it carries immediate data, the sender does in any case. Its bytes count here,
    /// once, however many packets brought them.
    fn finish_write(&mut self, host: &mut dyn Host, p: &Packet<'_>, w: &Write) {
        let qpn = p.dest.qpn;
        if w.imm.is_some() {
            let mut id = 0;
            if !w.unsolicited {
                let mut recv = RecvRequest::default();
                if !self.take_recv(host, qpn, &mut recv) {
                    self.remember_waiter(qpn, p.source);
                    self.counters.rx_drops += 1;
                    return self.reply(host, p, status::REMOTE_RNR);
                }
                id = recv.id;
            }
            let Some(q) = self.qps.get(&qpn) else { return };
            let received = Received {
                length: w.length,
                ah: self.ahs.number_for(q.ctx, q.spec.pd, &p.source.gid),
                source_gid: p.source.gid,
                source_qpn: p.source.qpn,
                imm: w.imm,
                unsolicited: w.unsolicited,
            };
            self.complete_recv(host, qpn, id, Op::Write, status::OK, received);
        }
        self.counters.rdma_write_recv_bytes += u64::from(w.length);
        self.reply(host, p, status::OK);
    }

    fn target_read(&mut self, host: &mut dyn Host, p: &Packet<'_>, raddr: u64, rkey: u32, length: u32) {
        let mut job = ReadJob {
            ours: p.dest,
            peer: p.source,
            request: p.request,
            raddr,
            rkey,
            length,
            pieces: Vec::new(),
            sent: 0,
            hold: 0,
            held_until_ms: 0,
        };
        if let Err(code) = self.check_read(&job) {
            self.counters.rx_drops += 1;
            return self.reply(host, p, code);
        }
        job.pieces = self.cut(host, length, &p.source);
        self.shuffle_pieces(&mut job.pieces);
        job.hold = if self.shuffle { draw_hold(&mut self.rng) } else { 0 };
        let behind = !self.shuffle && self.read_jobs.iter().any(|other| other.peer == job.peer);
        if job.hold > 0 || behind {
            job.held_until_ms = self.now_ms + HOLD_MS;
            self.read_jobs.push_back(job);
        } else {
            self.begin_answer(host, job);
        }
    }

    /// Asked again for each piece: the region may go while it is being read.
    fn check_read(&self, job: &ReadJob) -> Result<Segment, u8> {
        let takes = |s| matches!(s, QpState::Rtr | QpState::Rts | QpState::Sqd);
        let q = self.qps.get(&job.ours.qpn).filter(|q| takes(q.attr.state) && q.spec.kind.reads);
        let q = q.filter(|q| q.welcomes(&job.peer)).ok_or(status::REMOTE_BAD_QPN)?;
        let pd = q.spec.pd;
        if !q.spec.kind.connected && !self.ahs.knows(pd, &job.peer.gid) {
            return Err(status::REMOTE_UNKNOWN_PEER);
        }
        if !q.lets(access::REMOTE_READ) {
            return Err(status::REMOTE_BAD_ADDRESS);
        }
        if job.length == 0 {
            return Ok(Segment { addr: 0, len: 0 });
        }
        self.translate(job.rkey, pd, job.raddr, job.length, access::REMOTE_READ).ok_or(status::REMOTE_BAD_ADDRESS)
    }

    /// Answers as much of a READ as there is room for; gives back what is left.
    fn answer_read(&mut self, host: &mut dyn Host, mut job: ReadJob) -> Option<ReadJob> {
        while let Some(next) = job.pieces.get(job.sent).copied() {
            let answer = |d: &mut Device, host: &mut dyn Host, kind, payload: Payload<'_>| {
                d.route(host, &Packet { source: job.ours, dest: job.peer, request: job.request, kind, payload })
            };
            let all = match self.check_read(&job) {
                Ok(all) => all,
                Err(code) => {
                    let sent = answer(self, host, Kind::Ack { status: code }, Payload::EMPTY);
                    return (sent == Sent::Full).then_some(job);
                }
            };
            let piece = [Segment { addr: all.addr + u64::from(next.offset), len: next.len }];
            let kind = Kind::ReadResp { offset: next.offset, length: job.length };
            match answer(self, host, kind, Payload::User(Cow::Borrowed(&piece))) {
                Sent::Ok => {}
                Sent::Full => return Some(job),
                Sent::Fault => {
                    let code = status::REMOTE_BAD_ADDRESS;
                    let sent = answer(self, host, Kind::Ack { status: code }, Payload::EMPTY);
                    return (sent == Sent::Full).then_some(job);
                }
                _ => return None,
            }
            self.counters.rdma_read_resp_bytes += u64::from(next.len);
            job.sent += 1;
        }
        None
    }

    /// Goes on with READs, and with answers for which there was no room. A peer that doesn't read holds up nobody else: what there
    /// is no room for goes to the end of the line (answers need no order).
    pub(super) fn resume_answers(&mut self, host: &mut dyn Host) {
        for _ in 0..self.outbox.len() {
            let Some(p) = self.outbox.pop_front() else { break };
            self.post(host, p);
        }
        if self.shuffle && self.read_jobs.len() > 1 {
            self.rng.shuffle(self.read_jobs.make_contiguous());
        }
        // Where order matters, those for which there is no room keep theirs.
        let mut stuck = Vec::new();
        for _ in 0..self.read_jobs.len() {
            let Some(mut job) = self.read_jobs.pop_front() else { break };
            job.hold = if job.held_until_ms < self.now_ms { 0 } else { job.hold.saturating_sub(1) };
            if job.hold > 0 {
                self.moved = true;
                self.read_jobs.push_back(job);
            } else if stuck.contains(&job.peer) {
                self.read_jobs.push_back(job);
            } else {
                let peer = job.peer;
                if !self.begin_answer(host, job) && !self.shuffle {
                    stuck.push(peer);
                }
            }
        }
    }

    /// Answers a READ as far as there is room; the rest waits, then false.
    fn begin_answer(&mut self, host: &mut dyn Host, job: ReadJob) -> bool {
        let rest = self.answer_read(host, job);
        let done = rest.is_none();
        if let Some(rest) = rest {
            self.read_jobs.push_back(rest);
            wake(&mut self.wake_at_ms, self.now_ms + 1);
        }
        done
    }

    /// A verdict for the sender of `p`.
    fn reply(&mut self, host: &mut dyn Host, p: &Packet<'_>, status: u8) {
        let answer = Packet {
            source: p.dest,
            dest: p.source,
            request: p.request,
            kind: Kind::Ack { status },
            payload: Payload::EMPTY,
        };
        self.post(host, answer);
    }

    /// Sends an answer, now or when there is room.
    fn post(&mut self, host: &mut dyn Host, p: Packet<'static>) {
        if self.route(host, &p) == Sent::Full {
            self.outbox.push_back(p);
            wake(&mut self.wake_at_ms, self.now_ms + 1);
        }
    }

    fn remember_waiter(&mut self, qpn: u32, peer: Address) {
        let Some(q) = self.qps.get_mut(&qpn) else { return };
        if q.rnr_waiters.len() < WAITERS && !q.rnr_waiters.contains(&peer) {
            q.rnr_waiters.push_back(peer);
        }
        self.rung(qpn);
    }

    /// Tells senders that were refused that there are receive requests now.
    pub(super) fn wake_waiters(&mut self, host: &mut dyn Host, qpn: u32) {
        let Some(q) = self.qps.get_mut(&qpn) else { return };
        if q.rnr_waiters.is_empty() {
            return;
        }
        let doorbell = q.recv_doorbell(host);
        if doorbell == q.rnr_doorbell {
            return;
        }
        let request = u64::from(doorbell.wrapping_sub(q.rq_taken));
        let waiters = std::mem::take(&mut q.rnr_waiters);
        self.moved = true;
        let source = Address { gid: self.gid, qpn };
        for dest in waiters {
            self.post(host, Packet { source, dest, request, kind: Kind::Ready, payload: Payload::EMPTY });
        }
    }

    /// A QP takes no packets any more: what it had begun to receive is aborted.
    pub(super) fn forget_target_state(&mut self, host: &mut dyn Host, qpn: u32) {
        let ours = Address { gid: self.gid, qpn };
        let mut aborted: Vec<(Address, u64)> =
            self.partial_writes.iter().filter(|(_, s)| s.qpn == qpn && !s.failed).map(|(key, _)| *key).collect();
        self.partial_writes.retain(|_, s| s.qpn != qpn);
        aborted.extend(self.read_jobs.iter().filter(|j| j.ours.qpn == qpn).map(|j| (j.peer, j.request)));
        self.read_jobs.retain(|j| j.ours.qpn != qpn);
        for (dest, request) in aborted {
            let kind = Kind::Ack { status: status::REMOTE_ABORT };
            self.post(host, Packet { source: ours, dest, request, kind, payload: Payload::EMPTY });
        }
    }
}
