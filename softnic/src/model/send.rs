// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester: takes requests from send rings, in an order of its own, checks them and sends their packets.

use super::Device;
use super::flight::{DATAGRAM_PATIENCE_MS, Flight, Piece, Stage, wake};
use super::host::{Address, Host, Segment, Sent};
use super::packet::{CHUNK, Kind, Packet, Payload};
use super::place::{Segments, part};
use super::qp::Pending;
use super::request::{FEW_SEND_SGES, Local, Op, Remote, SendRequest, status};
use super::rng::Rng;
use super::types::{QpState, access};
use crate::profile::caps;
use std::borrow::Cow;

/// Requests among which the next one is chosen.
const WINDOW: usize = 16;
/// A request that was passed over so often goes next.
const PATIENCE: u16 = 32;
/// One request in so many is held back, for at least and less than so many steps: requests that are posted one by one would never
/// meet otherwise. A ring of the doorbell is two steps, a poll two more. No longer than the time, either.
const HOLD_ONE_IN: usize = 4;
const HOLD_STEPS: (u8, u8) = (3, 9);
pub(super) const HOLD_MS: u64 = 1;
/// After so many requests in a row, each posted when no other of the device was under way and all completions of its CQ had been read, none is held
/// back until two meet again: who always waits for one before the next can't see an order, and would only be slowed down.
const LONELY: u8 = 64;
/// Requests that one QP begins in one step.
const BUDGET: usize = 128;
/// Placement inside a WRITE is reordered in blocks that are aligned to this.
const BLOCK: u32 = 128;

/// What requests are taken from their ring for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taking {
    /// One that nothing keeps from beginning may begin at once; the rest are pending.
    Begin,
    /// All are pending.
    Keep,
    /// The same, in whatever state the QP is.
    Flush,
}

impl Device {
    /// Takes what the send doorbell of a QP brings.
    pub(super) fn take_sends(&mut self, host: &mut dyn Host, qpn: u32, what_for: Taking) {
        let Some(q) = self.qps.get_mut(&qpn) else { return };
        if q.attr.state != QpState::Rts && what_for != Taking::Flush {
            return;
        }
        let doorbell = q.rings.sends_posted(host, q.sq_taken);
        let waiting = doorbell.wrapping_sub(q.sq_taken);
        if waiting == 0 {
            return;
        }
        self.moved = true;
        if u32::from(waiting) > q.rings.shape.sq_depth {
            q.sq_taken = doorbell;
            return self.qp_fatal(host, qpn, "the send doorbell moved by more than the ring holds");
        }
        let tracing = host.tracing();
        if tracing {
            host.trace(&format!("{} qp {qpn}: doorbell sq {doorbell}: {waiting} posted", self.name));
        }
        let is_only = waiting == 1 && q.pending.is_empty();
        let is_alone = is_only && what_for == Taking::Begin && q.can_begin(self.now_ms) && self.port_up;
        let is_lonely =
            is_only && self.flights.is_empty() && self.cqs.get(&q.spec.send_cq).is_some_and(|cq| cq.is_read(host));
        self.lonely = if is_lonely { self.lonely.saturating_add(1) } else { 0 };
        for _ in 0..waiting {
            let mut flight = Flight::next(qpn, &mut self.spare);
            q.rings.read_send(host, q.sq_taken, &mut flight.req);
            q.sq_taken = q.sq_taken.wrapping_add(1);
            if tracing {
                host.trace(&format!("{} qp {qpn}: {}", self.name, flight.req));
            }
            let (faults, op) = (&mut self.faults, flight.req.op.unwrap_or(Op::Send));
            let fault = (!faults.is_empty()).then(|| Box::new(faults.request(op, qpn)));
            let (delay_ms, stall_ms) = fault.as_ref().map_or((0, 0), |fault| (fault.delay_ms, fault.stall_ms));
            let due_ms = if delay_ms > 0 { self.now_ms + delay_ms } else { 0 };
            let mut hold =
                if self.shuffle && !q.spec.kind.ordered { draw_hold(&mut self.rng).saturating_sub(1) } else { 0 };
            if self.lonely > LONELY {
                hold = 0;
            }
            if hold > 0 && !q.holding() {
                q.held_until_ms = self.now_ms + HOLD_MS;
            }
            if stall_ms > 0 {
                q.stalled_until_ms = self.now_ms + stall_ms;
            }
            let pending = Pending { flight, fault, due_ms, passed: 0, hold };
            if is_alone && hold == 0 && pending.fault.is_none() {
                return self.begin_only(host, qpn, pending);
            }
            q.pending.push_back(pending);
        }
        q.rings.sends_taken(host, q.sq_taken);
        self.rung(qpn);
    }

    /// Begins a request that has no other to be chosen from: as `take_only` and `begin`, past the queue of those that are pending.
    #[inline(always)]
    fn begin_only(&mut self, host: &mut dyn Host, qpn: u32, only: Pending) {
        if let Some(q) = self.qps.get(&qpn) {
            q.rings.sends_taken(host, q.sq_taken);
        }
        if self.shuffle {
            self.rng.below(1);
        }
        self.begin(host, qpn, only);
    }

    /// Begins what a QP has pending, in shuffled order.
    pub(super) fn begin_sends(&mut self, host: &mut dyn Host, qpn: u32) {
        for _ in 0..BUDGET {
            if !self.port_up || self.removed {
                return;
            }
            let Some(next) = self.choose(qpn) else { return };
            self.moved = true;
            if let Some(fault) = next.fault.as_ref().filter(|fault| fault.device != Default::default()) {
                self.device_fault(host, fault.device);
                if self.removed {
                    return;
                }
            }
            self.begin(host, qpn, next);
        }
        self.more = true;
    }

    pub(super) fn count_down_holds(&mut self, qpn: u32) {
        let Some(q) = self.qps.get_mut(&qpn).filter(|q| !q.pending.is_empty()) else { return };
        let over = q.held_until_ms < self.now_ms;
        for p in &mut q.pending {
            p.hold = if over { 0 } else { p.hold.saturating_sub(self.steps) };
        }
    }

    /// Takes one pending request out: any of the first few, and none waits for ever.
    pub(super) fn choose(&mut self, qpn: u32) -> Option<Pending> {
        let now = self.now_ms;
        let q = self.qps.get_mut(&qpn)?;
        if q.pending.is_empty() || q.attr.state != QpState::Rts {
            return None;
        }
        if q.stalled_until_ms > now {
            wake(&mut self.wake_at_ms, q.stalled_until_ms);
            return None;
        }
        if q.spec.kind.ordered {
            return self.take_next(qpn);
        }
        if q.pending.len() == 1 {
            return self.take_only(qpn);
        }
        let mut due = [0usize; WINDOW];
        let mut count = 0;
        let mut oldest = None;
        for (i, p) in q.pending.iter().enumerate() {
            if p.due_ms > now {
                wake(&mut self.wake_at_ms, p.due_ms);
                continue;
            }
            oldest.get_or_insert(i);
            if p.hold > 0 && p.passed < PATIENCE {
                continue;
            }
            if let Some(slot) = due.get_mut(count) {
                *slot = i;
                count += 1;
            } else {
                break;
            }
        }
        let (oldest, first) = (oldest?, *due.get(..count)?.first()?);
        let patient = q.pending.get(oldest).is_some_and(|p| p.passed < PATIENCE);
        let chosen = if self.shuffle && patient { *due.get(self.rng.below(count))? } else { first };
        if chosen != oldest
            && let Some(p) = q.pending.get_mut(oldest)
        {
            p.passed += 1;
        }
        q.pending.remove(chosen)
    }

    /// As `choose`, for a QP that keeps the order: one request after the other.
    fn take_next(&mut self, qpn: u32) -> Option<Pending> {
        if self.flights.iter().any(|(_, f)| f.qpn == qpn) {
            return None;
        }
        let q = self.qps.get_mut(&qpn)?;
        let due_ms = q.pending.front()?.due_ms;
        if due_ms > self.now_ms {
            wake(&mut self.wake_at_ms, due_ms);
            return None;
        }
        q.pending.pop_front()
    }

    /// As `choose`, where there is nothing to choose. The draw is made all the same: a seed means the same however requests are posted.
    fn take_only(&mut self, qpn: u32) -> Option<Pending> {
        let q = self.qps.get_mut(&qpn)?;
        let p = q.pending.front()?;
        let patient = p.passed < PATIENCE;
        if p.due_ms > self.now_ms {
            wake(&mut self.wake_at_ms, p.due_ms);
            return None;
        }
        if p.hold > 0 && patient {
            return None;
        }
        if self.shuffle && patient {
            self.rng.below(1);
        }
        q.pending.pop_front()
    }

    #[inline(always)]
    fn begin(&mut self, host: &mut dyn Host, qpn: u32, p: Pending) {
        let Pending { mut flight, fault, .. } = p;
        if let Some(code) = fault.as_ref().and_then(|fault| fault.status) {
            return self.complete_send(host, qpn, &flight.req, code);
        }
        flight.dest = match self.check(qpn, &flight.req, fault.is_some()) {
            Ok(dest) => dest,
            Err(code) => return self.complete_send(host, qpn, &flight.req, code),
        };
        let Some(kind) = self.qps.get(&qpn).map(|q| q.spec.kind) else { return };
        if kind.datagram && fault.as_ref().is_some_and(|fault| fault.drop) {
            // It left, and is lost on the way. (What a reliable queue pair loses it sends again: that is no fault to be seen.)
            self.counters.tx_pkts += 1;
            self.counters.tx_bytes += flight.req.local.len();
            return self.complete_send(host, qpn, &flight.req, status::OK);
        }
        flight.deadline_ms = kind.datagram.then(|| self.now_ms + DATAGRAM_PATIENCE_MS);
        flight.pieces = self.cut_write(host, &flight.req, &flight.dest, kind.ordered);
        if let Some(ms) = fault.as_ref().and_then(|fault| fault.late_dma_ms) {
            self.complete_send(host, qpn, &flight.req, status::UNRESPONSIVE);
            flight.silent = true;
            self.late.push((self.now_ms + ms, flight));
            return;
        }
        if fault.is_some_and(|fault| fault.rnr) {
            flight.stage = Stage::Waiting;
            let id = self.add_flight(flight);
            return self.verdict(host, id, status::REMOTE_RNR);
        }
        let id = self.add_flight(flight);
        self.transmit(host, id);
    }

    pub(super) fn add_flight(&mut self, flight: Box<Flight>) -> u64 {
        self.last_request = self.last_request.wrapping_add(1);
        self.look_at_flights(flight.deadline_ms.unwrap_or(u64::MAX));
        self.flights.push(self.last_request, flight);
        self.last_request
    }

    /// What the device can tell without asking the peer. A SEND's memory is looked up as it goes out, which is at once unless there are
    /// `rules` for it.
    #[inline(always)]
    fn check(&self, qpn: u32, req: &SendRequest, rules: bool) -> Result<Address, u8> {
        let q = self.qps.get(&qpn).ok_or(status::QP_INTERNAL)?;
        let op = req.op?;
        let p = self.profile;
        let supported = match op {
            Op::Send => true,
            Op::Read => q.spec.kind.reads && p.has(caps::RDMA_READ) && req.imm.is_none(),
            Op::Write => q.spec.kind.writes && p.has(caps::RDMA_WRITE),
        };
        let inline_read = op == Op::Read && req.local.inline().is_some();
        if !supported || inline_read {
            return Err(status::UNSUPPORTED_OP);
        }
        let dest = if q.spec.kind.connected {
            q.attr.peer()
        } else {
            Address { gid: self.ahs.dest(req.ah, q.spec.pd).ok_or(status::INVALID_AH)?, qpn: req.dest_qpn }
        };
        let max = if op == Op::Send { p.mtu.value } else { p.max_rdma_size.value };
        let len = req.local.len();
        if len > u64::from(max) || op != Op::Send && len != u64::from(req.remote.len) {
            return Err(status::BAD_LENGTH);
        }
        let need = if op == Op::Read { access::LOCAL_WRITE } else { 0 };
        if op != Op::Send || rules {
            let sges = req.local.sges();
            self.translate_all(q.spec.pd, sges, need, Segments::<FEW_SEND_SGES>::new().room(sges.len()))?;
        }
        Ok(dest)
    }

    /// A WRITE as pieces: with SRD's freedom in any order, some of them twice.
    fn cut_write(&mut self, host: &mut dyn Host, req: &SendRequest, dest: &Address, ordered: bool) -> Vec<Piece> {
        if req.op != Ok(Op::Write) {
            return Vec::new();
        }
        let mut pieces = self.cut(host, req.remote.len, dest);
        if ordered {
            return pieces;
        }
        if self.shuffle
            && pieces.len() > 1
            && self.rng.below(4) == 0
            && let Some(again) = pieces.get(self.rng.below(pieces.len())).copied()
        {
            pieces.push(again);
            self.counters.resent(1, u64::from(again.len));
        }
        self.shuffle_pieces(&mut pieces);
        pieces
    }

    pub(super) fn shuffle_pieces(&mut self, pieces: &mut [Piece]) {
        if self.shuffle {
            self.rng.shuffle(pieces);
        }
    }

    /// Cuts bytes on their way to `dest` into pieces: by packet size to other processes, and so that there is something to shuffle.
    pub(super) fn cut(&mut self, host: &mut dyn Host, len: u32, dest: &Address) -> Vec<Piece> {
        let local = self.is_mine(dest) || host.is_local(dest);
        let mut size = if local { len } else { CHUNK };
        if self.shuffle {
            size = size.min((len / 4).next_multiple_of(BLOCK).max(BLOCK));
        }
        let mut pieces = Vec::with_capacity(len.div_ceil(size.max(1)) as usize + 1);
        let mut offset = 0;
        while offset < len {
            let piece = Piece { offset, len: size.min(len - offset) };
            pieces.push(piece);
            offset += piece.len;
        }
        if pieces.is_empty() {
            pieces.push(Piece { offset: 0, len: 0 });
        }
        pieces
    }

    /// Sends what is left of a request, as far as there is room.
    #[inline(always)]
    pub(super) fn transmit(&mut self, host: &mut dyn Host, id: u64) {
        loop {
            // Looked up each time: an answer may have ended the request while a packet of it was delivered.
            let Some(f) = self.flights.get_mut(id) else { return };
            let packets = if f.req.op == Ok(Op::Write) { f.pieces.len() } else { 1 };
            if f.sent >= packets {
                if f.stage == Stage::Sending {
                    f.stage = Stage::Waiting;
                }
                return;
            }
            let piece = f.pieces.get(f.sent).copied();
            f.stage = Stage::Sending;
            f.sent += 1;
            let last = f.sent >= packets;
            if last {
                f.stage = Stage::Waiting;
            }
            let ud = f.deadline_ms.is_some();
            let sent = match self.send_piece(host, id, piece, packets) {
                Ok(sent) => sent,
                Err(code) => return self.end(host, id, code),
            };
            match sent {
                Sent::Ok if last => return,
                Sent::Ok => {}
                Sent::Full => {
                    if let Some(f) = self.flights.get_mut(id) {
                        f.stage = Stage::Sending;
                        f.sent -= 1;
                    }
                    self.look_at_flights(self.now_ms);
                    wake(&mut self.wake_at_ms, self.now_ms + 1);
                    return;
                }
                Sent::Fault => return self.end(host, id, status::INVALID_LKEY),
                // A datagram to nobody is sent all the same.
                _ if ud => return self.end(host, id, status::OK),
                gone => {
                    let code = self.gone_status(id, gone);
                    return self.end(host, id, code);
                }
            }
        }
    }

    #[inline(always)]
    fn send_piece(&mut self, host: &mut dyn Host, id: u64, piece: Option<Piece>, packets: usize) -> Result<Sent, u8> {
        let f = self.flights.get(id).ok_or(status::QP_INTERNAL)?;
        let q = self.qps.get(&f.qpn).ok_or(status::QP_INTERNAL)?;
        let (req, ud) = (&f.req, q.spec.kind.datagram);
        let unsolicited = q.spec.unsolicited_write_recv;
        let Remote { addr: raddr, rkey, len: length } = req.remote;
        let piece = piece.unwrap_or(Piece { offset: 0, len: req.local.len() as u32 });
        let kind = match req.op? {
            Op::Send => Kind::Send { qkey: req.qkey, imm: req.imm, ud },
            Op::Read => Kind::ReadReq { raddr, rkey, length },
            Op::Write => Kind::Write {
                raddr,
                rkey,
                length,
                offset: piece.offset,
                pieces: packets as u32,
                imm: req.imm,
                unsolicited,
            },
        };
        let mut segments = [Segment { addr: 0, len: 0 }; 1];
        let bytes_of = piece.offset as usize..piece.offset as usize + piece.len as usize;
        let inline;
        // Bytes are copied: the request may end while its packet is delivered.
        let payload = match &req.local {
            _ if req.op == Ok(Op::Read) => Payload::EMPTY,
            Local::Inline { bytes, len } => {
                inline = *bytes;
                let bytes = inline.get(..*len).and_then(|b| b.get(bytes_of)).ok_or(status::BAD_LENGTH)?;
                Payload::Bytes(Cow::Borrowed(bytes))
            }
            Local::LongInline(bytes) => {
                Payload::Bytes(Cow::Owned(bytes.get(bytes_of).ok_or(status::BAD_LENGTH)?.to_vec()))
            }
            Local::Sges { count: count @ ..=1, .. } => {
                self.translate_all(q.spec.pd, req.local.sges(), 0, &mut segments)?;
                let list = segments.get_mut(..*count).ok_or(status::BAD_LENGTH)?;
                if req.op == Ok(Op::Write)
                    && let Some(only) = list.first_mut()
                {
                    *only = Segment { addr: only.addr + u64::from(piece.offset), len: piece.len };
                }
                Payload::User(Cow::Borrowed(list))
            }
            Local::Sges { .. } | Local::ManySges(_) => self.gather(q.spec.pd, req, piece)?,
        };
        let (source, dest) = (Address { gid: self.gid, qpn: f.qpn }, f.dest);
        Ok(self.route(host, &Packet { source, dest, request: id, kind, payload }))
    }

    /// The bytes of a request that has several pieces of memory, or `piece` of them.
    #[inline(never)]
    fn gather(&self, pd: u32, req: &SendRequest, piece: Piece) -> Result<Payload<'static>, u8> {
        let sges = req.local.sges();
        let mut list = vec![Segment { addr: 0, len: 0 }; sges.len()];
        self.translate_all(pd, sges, 0, &mut list)?;
        Ok(Payload::User(Cow::Owned(if req.op == Ok(Op::Write) { part(&list, piece.offset, piece.len) } else { list })))
    }
}

/// For how many steps a request is held back; mostly none.
pub(super) fn draw_hold(rng: &mut Rng) -> u8 {
    if rng.below(HOLD_ONE_IN) != 0 {
        return 0;
    }
    HOLD_STEPS.0 + rng.below(usize::from(HOLD_STEPS.1 - HOLD_STEPS.0)) as u8
}
