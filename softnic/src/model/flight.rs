// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests under way: answers, refusals and retries, timers, and their end.

use super::Device;
use super::host::{Address, Host, Sent};
use super::packet::Packet;
use super::place::{Gone, Segments, place};
use super::request::{FEW_SEND_SGES, Op, SendRequest, status};
use super::types::access;
use std::collections::VecDeque;

/// How long a datagram waits for a receive request before it is dropped, and how often it asks. Our choice: hardware is assumed not to wait.
pub(super) const DATAGRAM_PATIENCE_MS: u64 = 100;
const DATAGRAM_RETRY_MS: u64 = 20;
/// How often a request that may wait for ever asks again. (It need not: the receiver says when it is ready.)
const PATIENT_RETRY_MS: u64 = 20;

/// Boxes that are kept for further requests.
const SPARE: usize = 64;

/// A piece of a WRITE, as it goes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub offset: u32,
    pub len: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Stage {
    /// Packets are left to send (more than at first if there was no room).
    #[default]
    Sending,
    /// Everything is sent, the answer is not here.
    Waiting,
    /// The receiver was not ready; next attempt then, if nobody says "ready" before.
    NotReady { retry_at_ms: u64 },
}

/// A request under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    pub qpn: u32,
    pub req: SendRequest,
    pub dest: Address,
    pub stage: Stage,
    pub rnr_attempts: u32,
    /// A datagram is forgotten then, answered or not.
    pub deadline_ms: Option<u64>,
    pub pieces: Vec<Piece>,
    pub sent: usize,
    /// Bytes of a READ that have come.
    pub got: u32,
    /// Its completion was written already (late DMA).
    pub silent: bool,
}

impl Flight {
    /// For a request that is read next, in a box that was used before, if there is one. The request is still what it was.
    #[allow(clippy::vec_box)]
    pub fn next(qpn: u32, spare: &mut Vec<Box<Flight>>) -> Box<Flight> {
        let mut flight = spare.pop().unwrap_or_default();
        flight.restart(qpn);
        flight
    }

    /// All but the request.
    #[inline(always)]
    fn restart(&mut self, new_qpn: u32) {
        let Flight { qpn, req: _, dest, stage, rnr_attempts, deadline_ms, pieces, sent, got, silent } = self;
        (*qpn, *dest, *stage) = (new_qpn, Address::default(), Stage::Sending);
        (*rnr_attempts, *deadline_ms, *sent, *got, *silent) = (0, None, 0, 0, false);
        pieces.clear();
    }

    /// What it takes to send it: packets, and bytes in them.
    fn packets(&self) -> (u64, u64) {
        match self.req.op {
            Ok(Op::Write) => (self.pieces.len() as u64, self.pieces.iter().map(|p| u64::from(p.len)).sum()),
            Ok(Op::Read) => (1, 0),
            _ => (1, self.req.local.len()),
        }
    }
}

/// The requests under way, by number: the oldest comes first, and is mostly the one that ends.
#[derive(Debug, Default)]
pub(super) struct Flights(VecDeque<(u64, Box<Flight>)>);

impl Flights {
    #[inline(never)]
    fn search(&self, id: u64) -> Option<usize> {
        self.0.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    #[inline(always)]
    fn is_first(&self, id: u64) -> bool {
        self.0.front().is_some_and(|(first, _)| *first == id)
    }

    #[inline(always)]
    pub fn get(&self, id: u64) -> Option<&Flight> {
        let place = if self.is_first(id) { 0 } else { self.search(id)? };
        self.0.get(place).map(|(_, f)| &**f)
    }

    #[inline(always)]
    pub fn get_mut(&mut self, id: u64) -> Option<&mut Flight> {
        let place = if self.is_first(id) { 0 } else { self.search(id)? };
        self.0.get_mut(place).map(|(_, f)| &mut **f)
    }

    /// The number is higher than all before.
    pub fn push(&mut self, id: u64, flight: Box<Flight>) {
        self.0.push_back((id, flight));
    }

    #[inline(always)]
    pub fn remove(&mut self, id: u64) -> Option<Box<Flight>> {
        let entry = if self.is_first(id) { self.0.pop_front() } else { self.0.remove(self.search(id)?) };
        entry.map(|(_, f)| f)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &Flight)> {
        self.0.iter().map(|(id, f)| (*id, &**f))
    }

    pub fn retain(&mut self, keep: impl Fn(&Flight) -> bool) {
        self.0.retain(|(_, f)| keep(f));
    }
}

impl Device {
    /// Takes a request out and completes it.
    #[inline(always)]
    pub(super) fn end(&mut self, host: &mut dyn Host, id: u64, code: u8) {
        let Some(f) = self.flights.remove(id) else { return };
        if matches!(code, status::UNRESPONSIVE | status::UNREACHABLE) {
            self.counters.unresponsive_remote_events += 1;
        }
        if !f.silent {
            self.complete_send(host, f.qpn, &f.req, code);
        }
        if self.spare.len() < SPARE {
            self.spare.push(f);
        }
    }

    /// The receiver's word on a request.
    pub(super) fn verdict(&mut self, host: &mut dyn Host, id: u64, code: u8) {
        if self.flights.get(id).is_some_and(|f| f.deadline_ms.is_some()) {
            return self.datagram_verdict(host, id, code);
        }
        if code != status::REMOTE_RNR {
            self.note_progress(id, code);
            return self.end(host, id, code);
        }
        let Some(f) = self.flights.get_mut(id) else { return };
        let retries = self.qps.get(&f.qpn).map_or(0, |q| q.attr.rnr_retry);
        if retries < 7 && f.rnr_attempts >= u32::from(retries) {
            return self.end(host, id, status::REMOTE_RNR);
        }
        let wait = if retries == 7 { PATIENT_RETRY_MS } else { u64::from(self.profile.rnr_timer_ms.value) };
        f.rnr_attempts = f.rnr_attempts.saturating_add(1);
        f.stage = Stage::NotReady { retry_at_ms: self.now_ms + wait };
        self.look_at_flights(self.now_ms + wait);
    }

    /// A datagram's sender learns nothing, but waits a little for a receiver that is not ready: processes that share a processor
    /// would lose most of their datagrams otherwise.
    fn datagram_verdict(&mut self, host: &mut dyn Host, id: u64, code: u8) {
        if code != status::REMOTE_RNR {
            self.note_progress(id, code);
            return self.end(host, id, status::OK);
        }
        let Some(f) = self.flights.get_mut(id) else { return };
        let retry_at_ms = self.now_ms + DATAGRAM_RETRY_MS;
        f.stage = Stage::NotReady { retry_at_ms };
        self.look_at_flights(retry_at_ms);
    }

    /// A receiver that was not ready is now: "ready" costs no attempt. One request more than it has room for is sent, so that it
    /// knows that there is more to come.
    pub(super) fn receiver_ready(&mut self, host: &mut dyn Host, peer: Address, room: u64) {
        let most = usize::try_from(room).unwrap_or(0).saturating_add(1);
        let waiting: Vec<u64> = self
            .flights
            .iter()
            .filter(|(_, f)| f.dest == peer && matches!(f.stage, Stage::NotReady { .. }))
            .map(|(id, _)| id)
            .take(most)
            .collect();
        for id in waiting {
            if let Some(f) = self.flights.get_mut(id) {
                f.rnr_attempts = f.rnr_attempts.saturating_sub(1);
            }
            self.again(host, id);
        }
    }

    /// A receiver took a request: one that it refused before may be next, in the next step.
    fn note_progress(&mut self, id: u64, code: u8) {
        if code == status::OK
            && self.flights_due_ms != u64::MAX
            && let Some(f) = self.flights.get(id)
        {
            self.progressed.push(f.dest);
        }
    }

    /// Sends a whole request again, under a new number so that pieces of the first attempt can't be taken for it.
    fn again(&mut self, host: &mut dyn Host, id: u64) {
        let Some(mut f) = self.flights.remove(id) else { return };
        let (packets, bytes) = f.packets();
        self.counters.resent(packets, bytes);
        (f.stage, f.sent) = (Stage::Sending, 0);
        let id = self.add_flight(f);
        self.transmit(host, id);
    }

    /// There will be something to do for a flight at this time.
    pub(super) fn look_at_flights(&mut self, at_ms: u64) {
        self.flights_due_ms = self.flights_due_ms.min(at_ms);
    }

    /// Timers, and requests that had no room before.
    pub(super) fn resume_sends(&mut self, host: &mut dyn Host) {
        self.resume_late(host);
        for peer in std::mem::take(&mut self.progressed) {
            self.receiver_ready(host, peer, 0);
        }
        let now = self.now_ms;
        if self.flights_due_ms <= now && self.port_up {
            self.flights_due_ms = u64::MAX;
            self.resume_flights(host, now);
        }
        if self.flights_due_ms != u64::MAX && self.port_up {
            wake(&mut self.wake_at_ms, self.flights_due_ms.max(now + 1));
        }
    }

    fn resume_flights(&mut self, host: &mut dyn Host, now: u64) {
        let mut next = u64::MAX;
        let mut due = Vec::new();
        let mut expired = Vec::new();
        for (id, f) in self.flights.iter() {
            if let Some(deadline) = f.deadline_ms {
                if deadline <= now {
                    expired.push(id);
                    continue;
                }
                next = next.min(deadline);
            }
            match f.stage {
                Stage::Sending => due.push((id, false)),
                Stage::NotReady { retry_at_ms } if retry_at_ms <= now => due.push((id, true)),
                Stage::NotReady { retry_at_ms } => next = next.min(retry_at_ms),
                Stage::Waiting => {}
            }
        }
        self.look_at_flights(next);
        for id in expired {
            self.moved = true;
            self.end(host, id, status::OK);
        }
        for (id, whole) in due {
            if whole {
                self.moved = true;
                self.again(host, id);
            } else {
                self.transmit(host, id);
            }
        }
    }

    /// Writes of requests that were reported dead.
    fn resume_late(&mut self, host: &mut dyn Host) {
        let now = self.now_ms;
        while let Some(i) = self.late.iter().position(|(at, _)| *at <= now) {
            let (_, f) = self.late.remove(i);
            let id = self.add_flight(f);
            self.moved = true;
            self.transmit(host, id);
        }
        for (at, _) in &self.late {
            wake(&mut self.wake_at_ms, *at);
        }
    }

    /// The status of a request whose peer is gone. Who has died was there: what is sent to it later is no different.
    pub(super) fn gone_status(&mut self, id: u64, sent: Sent) -> u8 {
        let peer = self.flights.get(id).map(|f| f.dest.gid).unwrap_or_default();
        match sent {
            Sent::NoQp => status::REMOTE_BAD_QPN,
            Sent::Dead => {
                self.answered.note(peer);
                status::UNRESPONSIVE
            }
            _ if self.answered.knows(&peer) => status::UNRESPONSIVE,
            _ => status::UNREACHABLE,
        }
    }

    /// A piece of the answer to a READ.
    pub(super) fn read_response(&mut self, host: &mut dyn Host, p: &Packet<'_>, offset: u32, length: u32) {
        let Some(f) = self.flights.get_mut(p.request) else { return };
        let len = p.payload.len();
        let fits = length == f.req.remote.len && u64::from(offset) + len <= u64::from(length);
        if f.dest != p.source || f.req.op != Ok(Op::Read) || !fits {
            return self.end(host, p.request, status::REMOTE_BAD_STATUS);
        }
        f.got = f.got.saturating_add(len as u32);
        let complete = f.got >= length;
        let Some(f) = self.flights.get(p.request) else { return };
        let mut to = Segments::<FEW_SEND_SGES>::new();
        let pd = self.qps.get(&f.qpn).map_or(0, |q| q.spec.pd);
        let sges = f.req.local.sges();
        let to = to.room(sges.len());
        let placed = match self.translate_all(pd, sges, access::LOCAL_WRITE, to) {
            Ok(()) => place(host, &p.payload, u64::from(offset), to),
            Err(_) => Err(Gone::Target),
        };
        match placed {
            Ok(()) if complete => self.end(host, p.request, status::OK),
            Ok(()) => {}
            Err(Gone::Target) => self.end(host, p.request, status::INVALID_LKEY),
            Err(Gone::Source) => self.end(host, p.request, status::REMOTE_BAD_ADDRESS),
        }
    }
}

/// Notes the earliest time at which something is to be done.
pub(super) fn wake(at: &mut u64, ms: u64) {
    *at = (*at).min(ms);
}
