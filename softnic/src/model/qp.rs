// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs: creation, states, and the end of what is pending in them.

use super::flight::Flight;
use super::host::{Address, AsyncEvent, ContextId, Errno, Host};
use super::request::{Completion, Op, Received, RecvRequest, SendRequest, status};
use super::send::Taking;
use super::types::errno::{EINVAL, EIO, ENOENT, ENOMEM, EOPNOTSUPP};
use super::types::{QpAttr, QpInfo, QpQuery, QpSpec, QpState, qp_mask as m};
use super::wire::{Broken, QpLayout, QpRings, RecvRing};
use super::{Device, PAGE, numbers};
use crate::fault::RequestFault;
use crate::profile::caps;
use std::collections::VecDeque;

/// A request that was taken from the ring and not begun.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub flight: Box<Flight>,
    /// None as long as the device has no rules.
    pub fault: Option<Box<RequestFault>>,
    /// Not before this time (a fault).
    pub due_ms: u64,
    /// How often another request was chosen first.
    pub passed: u16,
    /// Held back for so many steps, so that a later request may come first (SRD's freedom).
    pub hold: u8,
}

#[derive(Debug)]
pub(super) struct Qp {
    pub ctx: ContextId,
    pub spec: QpSpec,
    pub info: QpInfo,
    pub attr: QpAttr,
    pub rings: QpRings,
    /// Requests (SQ) and descriptors (RQ) taken, ever.
    pub sq_taken: u16,
    pub rq_taken: u16,
    pub pending: VecDeque<Pending>,
    /// In the list of what the next look is for.
    pub is_due: bool,
    /// Requests that are held back go at this time, however few steps there were.
    pub held_until_ms: u64,
    /// The send queue stands still until then (a fault).
    pub stalled_until_ms: u64,
    /// Who was told "not ready" and wants to know when there are receive requests again.
    pub rnr_waiters: VecDeque<Address>,
    /// The receive doorbell when a receive request was last looked for.
    pub rnr_doorbell: u16,
    /// The receive doorbell that the trace was last told of, and the descriptor where the next request begins that it wasn't.
    pub recvs_traced: u16,
    pub next_traced: u16,
}

impl Device {
    pub fn qp_create(&mut self, host: &mut dyn Host, ctx: ContextId, spec: &QpSpec) -> Result<QpInfo, Errno> {
        self.run("create_qp", |d| {
            d.pd(ctx, spec.pd)?;
            d.cq(ctx, spec.send_cq)?;
            d.cq(ctx, spec.recv_cq)?;
            let QpLayout { shape, sq_bytes, rq_bytes, doorbells, caps: told } = d.qp_layout(spec)?;
            if d.qps.len() >= d.profile.max_qp.value as usize {
                return Err(ENOMEM);
            }
            let range = d.qpn_base + 1..=d.qpn_base + 4095;
            let qpn = numbers::next(&mut d.last_qpn, range, |n| d.qps.contains_key(&n)).ok_or(ENOMEM)?;
            let pieces = [sq_bytes, rq_bytes].map(|bytes| bytes.next_multiple_of(PAGE));
            let [sq_offset, rq_offset] = alloc_all(host, ctx, pieces).ok_or(ENOMEM)?;
            let [sq_bytes, rq_bytes] = pieces;
            let place = if doorbells { d.doorbells.take(host, ctx) } else { Some((0, 0)) };
            let Some((doorbell_page, doorbell_offset)) = place else {
                free_all(host, ctx, [(sq_offset, sq_bytes), (rq_offset, rq_bytes)]);
                return Err(ENOMEM);
            };
            let kind = d.profile.kind.queues();
            let (stride, depth) = (shape.rq_stride, shape.rq_depth);
            let recv = RecvRing { kind, ctx, offset: rq_offset, doorbell_offset, stride, depth };
            let rings = QpRings { kind, ctx, sq_offset, doorbell_offset, shape, recv };
            rings.begin(host);
            let info = QpInfo {
                handle: qpn,
                qpn,
                caps: told,
                sq_offset,
                sq_bytes,
                rq_offset,
                rq_bytes,
                doorbell_page,
                doorbell_bytes: if doorbells { PAGE } else { 0 },
                sq_doorbell: rings.send_word(),
                rq_doorbell: rings.recv_word(),
            };
            let mut attr = QpAttr::default();
            if d.profile.has(caps::RNR_RETRY) {
                attr.rnr_retry = spec.kind.rnr_retry;
            }
            let qp = Qp {
                ctx,
                spec: QpSpec { caps: told, ..*spec },
                info,
                attr,
                rings,
                sq_taken: 0,
                rq_taken: 0,
                pending: VecDeque::new(),
                is_due: false,
                held_until_ms: 0,
                stalled_until_ms: 0,
                rnr_waiters: VecDeque::new(),
                rnr_doorbell: 0,
                recvs_traced: 0,
                next_traced: 0,
            };
            d.qps.insert(qpn, qp);
            d.pd_users(spec.pd, true);
            d.cq_users(spec.send_cq, true);
            d.cq_users(spec.recv_cq, true);
            d.cqs_expect(spec, shape);
            Ok(info)
        })
    }

    /// The checks that kernel and device make on the numbers.
    fn qp_layout(&self, spec: &QpSpec) -> Result<QpLayout, Errno> {
        let (p, c) = (self.profile, &spec.caps);
        if spec.unsolicited_write_recv && !p.has(caps::UNSOLICITED_WRITE_RECV) {
            return Err(EOPNOTSUPP);
        }
        let over = c.max_send_wr > p.max_sq_wr.value
            || c.max_recv_wr > p.max_rq_wr.value
            || c.max_send_sge > u32::from(p.max_sq_sge.value)
            || c.max_recv_sge > u32::from(p.max_rq_sge.value);
        if over {
            return Err(EINVAL);
        }
        p.kind.queues().qp_layout(p, spec).ok_or(EINVAL)
    }

    pub(super) fn qp(&self, ctx: ContextId, qp: u32) -> Result<&Qp, Errno> {
        self.qps.get(&qp).filter(|q| q.ctx == ctx).ok_or(ENOENT)
    }

    pub fn qp_query(&mut self, ctx: ContextId, qp: u32) -> Result<QpQuery, Errno> {
        self.run("query_qp", |d| {
            let q = d.qp(ctx, qp)?;
            let attr = QpAttr { cur_state: q.attr.state, ..q.attr };
            Ok(QpQuery { attr, spec: q.spec })
        })
    }

    pub fn qp_modify(
        &mut self,
        host: &mut dyn Host,
        ctx: ContextId,
        qp: u32,
        mask: u32,
        attr: &QpAttr,
    ) -> Result<(), Errno> {
        self.run("modify_qp", |d| {
            let q = d.qp(ctx, qp)?;
            let mut known = q.spec.kind.attributes;
            if !d.profile.has(caps::RNR_RETRY) {
                known &= !m::RNR_RETRY;
            }
            if mask & !known != 0 {
                return Err(EOPNOTSUPP);
            }
            let from = if mask & m::CUR_STATE != 0 { attr.cur_state } else { q.attr.state };
            let to = if mask & m::STATE != 0 { attr.state } else { from };
            let bad = from != q.attr.state
                || !d.profile.kind.queues().may_change(q.spec.kind, from, to, mask)
                || mask & m::PORT != 0 && attr.port != 1
                || mask & m::PKEY_INDEX != 0 && attr.pkey_index != 0
                || mask & m::RNR_RETRY != 0 && attr.rnr_retry > 7;
            if bad {
                return Err(EINVAL);
            }
            d.set_state(host, qp, to);
            if let Some(q) = d.qps.get_mut(&qp) {
                q.attr.take(attr, mask);
            }
            Ok(())
        })
    }

    /// A call says that requests were posted: they are begun before it returns.
    pub fn qp_rung(&mut self, host: &mut dyn Host, ctx: ContextId, qp: u32) -> Result<(), Errno> {
        if self.removed {
            return Err(EIO);
        }
        if self.qp(ctx, qp)?.attr.state < QpState::Rts {
            return Err(EINVAL);
        }
        self.now_ms = host.now_ms();
        if host.tracing() {
            self.trace_receives(host);
        }
        self.take_sends(host, qp, Taking::Begin);
        self.begin_sends(host, qp);
        self.flush_if_dead(host, qp);
        Ok(())
    }

    /// What was pending is flushed, its completions stay in the CQs.
    pub fn qp_destroy(&mut self, host: &mut dyn Host, ctx: ContextId, qp: u32) -> Result<(), Errno> {
        self.run_destroy("destroy_qp", |d| {
            d.qp(ctx, qp)?;
            d.flush_qp(host, qp);
            let Some(q) = d.qps.remove(&qp) else { return Err(ENOENT) };
            d.due_qps.retain(|due| *due != qp);
            d.forget_target_state(host, qp);
            let i = q.info;
            free_all(host, ctx, [(i.sq_offset, i.sq_bytes), (i.rq_offset, i.rq_bytes)]);
            if i.doorbell_bytes > 0 {
                d.doorbells.give_back(host, ctx, q.rings.doorbell_offset);
            }
            d.pd_users(q.spec.pd, false);
            d.cq_users(q.spec.send_cq, false);
            d.cq_users(q.spec.recv_cq, false);
            Ok(())
        })
    }

    fn set_state(&mut self, host: &mut dyn Host, qpn: u32, to: QpState) {
        let Some(q) = self.qps.get_mut(&qpn) else { return };
        let from = q.attr.state;
        q.attr.state = to;
        match to {
            QpState::Err => {
                self.rung(qpn);
                self.flush_qp(host, qpn);
                self.forget_target_state(host, qpn);
            }
            QpState::Reset if from != QpState::Reset => {
                q.pending.clear();
                (q.sq_taken, q.rq_taken, q.stalled_until_ms) = (0, 0, 0);
                (q.recvs_traced, q.next_traced) = (0, 0);
                q.rnr_waiters.clear();
                q.rings.reset(host);
                let (spec, shape) = (q.spec, q.rings.shape);
                self.flights.retain(|f| f.qpn != qpn);
                self.forget_target_state(host, qpn);
                self.cqs_expect(&spec, shape);
            }
            _ => {}
        }
    }

    /// The device found the QP's rings in a state that no provider leaves them in.
    pub(super) fn qp_fatal(&mut self, host: &mut dyn Host, qpn: u32, why: &str) {
        let Some(q) = self.qps.get_mut(&qpn) else { return };
        if q.attr.state == QpState::Err {
            return;
        }
        host.trace(&format!("{} qp {qpn}: fatal: {why}", self.name));
        let (ctx, user_handle) = (q.ctx, q.spec.user_handle);
        self.set_state(host, qpn, QpState::Err);
        host.async_event(ctx, AsyncEvent::QpFatal { user_handle });
    }

    /// Completes everything that a QP has, taken or still in its rings, with FLUSHED.
    pub(super) fn flush_qp(&mut self, host: &mut dyn Host, qpn: u32) {
        self.take_sends(host, qpn, Taking::Flush);
        let flights: Vec<u64> = self.flights.iter().filter(|(_, f)| f.qpn == qpn).map(|(id, _)| id).collect();
        for id in flights {
            self.end(host, id, status::FLUSHED);
        }
        while let Some(p) = self.qps.get_mut(&qpn).and_then(|q| q.pending.pop_front()) {
            self.complete_send(host, qpn, &p.flight.req, status::FLUSHED);
        }
        let mut r = RecvRequest::default();
        while self.take_recv(host, qpn, &mut r) {
            self.complete_recv(host, qpn, r.id, Op::Send, status::FLUSHED, Received::default());
        }
    }

    /// Requests that use this address handle number in this PD.
    pub(super) fn flush_ah(&mut self, host: &mut dyn Host, pd: u32, number: u16) {
        let qpns: Vec<u32> =
            self.qps.iter().filter(|(_, q)| q.spec.pd == pd && !q.spec.kind.connected).map(|(n, _)| n).collect();
        for qpn in qpns {
            self.take_sends(host, qpn, Taking::Keep);
            let flights: Vec<u64> =
                self.flights.iter().filter(|(_, f)| f.qpn == qpn && f.req.ah == number).map(|(id, _)| id).collect();
            for id in flights {
                self.end(host, id, status::FLUSHED);
            }
            let Some(q) = self.qps.get_mut(&qpn) else { continue };
            let (gone, kept) =
                std::mem::take(&mut q.pending).into_iter().partition(|p: &Pending| p.flight.req.ah == number);
            q.pending = kept;
            let gone: VecDeque<Pending> = gone;
            for p in gone {
                self.complete_send(host, qpn, &p.flight.req, status::FLUSHED);
            }
        }
    }

    #[inline(always)]
    pub(super) fn complete_send(&mut self, host: &mut dyn Host, qpn: u32, req: &SendRequest, status: u8) {
        let Some(q) = self.qps.get(&qpn) else { return };
        let op = req.op.unwrap_or(Op::Send);
        self.counters.completed(op, req.local.len(), status == status::OK);
        if req.signaled || q.spec.sq_sig_all {
            let cq = q.spec.send_cq;
            self.complete(host, cq, Completion { id: req.id, status, op, qpn, recv: None });
        }
        if status != status::OK {
            self.stop_if_failed(host, qpn, status);
        }
    }

    /// A request or receive of this QP has failed.
    fn stop_if_failed(&mut self, host: &mut dyn Host, qpn: u32, code: u8) {
        if code != status::FLUSHED && self.qps.get(&qpn).is_some_and(|q| q.spec.kind.fail_stop) {
            self.set_state(host, qpn, QpState::Err);
        }
    }

    #[inline(always)]
    pub(super) fn complete_recv(&mut self, host: &mut dyn Host, qpn: u32, id: u64, op: Op, status: u8, recv: Received) {
        let Some(q) = self.qps.get(&qpn) else { return };
        q.rings.recv.taken(host, q.rq_taken);
        let cq = q.spec.recv_cq;
        self.complete(host, cq, Completion { id, status, op, qpn, recv: Some(recv) });
        if status != status::OK {
            self.stop_if_failed(host, qpn, status);
        }
    }

    /// Tells of receive doorbells that were rung, and of the requests behind them.
    pub(super) fn trace_receives(&mut self, host: &mut dyn Host) {
        for (qpn, q) in self.qps.iter_mut() {
            q.trace_receives(host, &self.name, qpn);
        }
    }

    /// The next receive request, in place of what `out` was before. False if there is none.
    #[inline(always)]
    pub(super) fn take_recv(&mut self, host: &mut dyn Host, qpn: u32, out: &mut RecvRequest) -> bool {
        let Some(q) = self.qps.get_mut(&qpn) else { return false };
        if host.tracing() {
            // Before it is taken: then all that the trace has yet to be told of lies in the ring.
            q.trace_receives(host, &self.name, qpn);
        }
        let shm = host.shm(q.ctx);
        let doorbell = q.rings.recv.posted(shm, q.rq_taken);
        q.rnr_doorbell = doorbell;
        if doorbell == q.rq_taken {
            return false;
        }
        match q.rings.recv.read(shm, q.rq_taken, doorbell, out) {
            Ok(Some(entries)) => {
                q.rq_taken = q.rq_taken.wrapping_add(entries);
                true
            }
            Ok(None) => false,
            Err(Broken) => {
                q.rq_taken = doorbell;
                self.qp_fatal(host, qpn, "receive descriptors without first or last, or more than the ring holds");
                false
            }
        }
    }
}

impl Qp {
    /// Requests were posted that have not been taken.
    pub fn is_rung(&self, host: &dyn Host) -> bool {
        self.rings.sends_posted(host, self.sq_taken) != self.sq_taken
    }

    /// Nothing is before a request that is posted now, and nothing keeps it from beginning.
    pub fn can_begin(&self, now_ms: u64) -> bool {
        self.pending.is_empty() && self.stalled_until_ms <= now_ms && !self.spec.kind.ordered
    }

    /// Takes packets of this sender.
    pub fn welcomes(&self, sender: &Address) -> bool {
        !self.spec.kind.connected || self.attr.peer() == *sender
    }

    /// Takes a message: a datagram or not, with this Q-Key.
    pub fn takes_message(&self, sender: &Address, qkey: u32, datagram: bool) -> bool {
        let kind = self.spec.kind;
        kind.datagram == datagram && self.welcomes(sender) && (kind.connected || self.attr.qkey == qkey)
    }

    /// Its own access bits allow the peer of a connected QP less than those of the region do.
    pub fn lets(&self, need: u32) -> bool {
        !self.spec.kind.connected || self.attr.access & need == need
    }

    /// It waits for receive requests, whose doorbell nobody watches.
    pub fn is_restless(&self) -> bool {
        !self.rnr_waiters.is_empty() || self.attr.state == QpState::Err
    }

    pub fn holding(&self) -> bool {
        self.held().is_some()
    }

    /// After how many steps the first request that is held back goes.
    pub fn held(&self) -> Option<u8> {
        self.pending.iter().map(|p| p.hold).filter(|hold| *hold > 0).min()
    }

    /// What comes in between two looks is one line of the doorbell. What makes no sense is told and left alone: taking it is another's work.
    fn trace_receives(&mut self, host: &mut dyn Host, device: &str, qpn: u32) {
        let doorbell = self.recv_doorbell(host);
        let new = doorbell.wrapping_sub(std::mem::replace(&mut self.recvs_traced, doorbell));
        if new == 0 {
            return;
        }
        host.trace(&format!("{device} qp {qpn}: doorbell rq {doorbell}: {new} posted"));
        let mut request = RecvRequest::default();
        while self.next_traced != doorbell {
            match self.rings.recv.read(host.shm(self.ctx), self.next_traced, doorbell, &mut request) {
                Ok(Some(entries)) => {
                    host.trace(&format!("{device} qp {qpn}: {request}"));
                    self.next_traced = self.next_traced.wrapping_add(entries);
                }
                // Its end comes with a later doorbell.
                Ok(None) => return,
                Err(Broken) => {
                    host.trace(&format!("{device} qp {qpn}: wqe Recv malformed"));
                    self.next_traced = doorbell;
                }
            }
        }
    }

    /// Receive entries posted, ever.
    pub fn recv_doorbell(&self, host: &dyn Host) -> u16 {
        self.rings.recv.posted(host.shm(self.ctx), self.rq_taken)
    }
}

/// Pieces of shared memory: all, or none. One without bytes has none.
pub(super) fn alloc_all<const N: usize>(host: &mut dyn Host, ctx: ContextId, bytes: [u64; N]) -> Option<[u64; N]> {
    let mut offsets = [0; N];
    for i in 0..N {
        let (Some(bytes_i), Some(offset)) = (bytes.get(i).copied(), offsets.get_mut(i)) else { return None };
        if bytes_i == 0 {
            continue;
        }
        match host.shm_alloc(ctx, bytes_i) {
            Some(o) => *offset = o,
            None => {
                free_all(host, ctx, offsets.into_iter().zip(bytes).take(i));
                return None;
            }
        }
    }
    Some(offsets)
}

pub(super) fn free_all(host: &mut dyn Host, ctx: ContextId, pieces: impl IntoIterator<Item = (u64, u64)>) {
    for (offset, bytes) in pieces.into_iter().filter(|(_, bytes)| *bytes > 0) {
        host.shm_free(ctx, offset, bytes);
    }
}

impl QpAttr {
    /// Sets what the mask names.
    fn take(&mut self, from: &QpAttr, mask: u32) {
        if mask & m::PKEY_INDEX != 0 {
            self.pkey_index = from.pkey_index;
        }
        if mask & m::PORT != 0 {
            self.port = from.port;
        }
        if mask & m::QKEY != 0 {
            self.qkey = from.qkey;
        }
        if mask & m::SQ_PSN != 0 {
            self.sq_psn = from.sq_psn;
        }
        if mask & m::RNR_RETRY != 0 {
            self.rnr_retry = from.rnr_retry;
        }
        if mask & m::EN_SQD_ASYNC_NOTIFY != 0 {
            self.en_sqd_async_notify = from.en_sqd_async_notify;
        }
        if mask & m::ACCESS != 0 {
            self.access = from.access;
        }
        self.take_connection(from, mask);
    }

    /// What only connected queue pairs have.
    fn take_connection(&mut self, from: &QpAttr, mask: u32) {
        if mask & m::PATH != 0 {
            self.path = from.path;
        }
        if mask & m::DEST_QPN != 0 {
            self.dest_qpn = from.dest_qpn;
        }
        if mask & m::RQ_PSN != 0 {
            self.rq_psn = from.rq_psn;
        }
        if mask & m::PATH_MTU != 0 {
            self.path_mtu = from.path_mtu;
        }
        if mask & m::TIMEOUT != 0 {
            self.timeout = from.timeout;
        }
        if mask & m::RETRY_CNT != 0 {
            self.retry_cnt = from.retry_cnt;
        }
        if mask & m::MAX_RD_ATOMIC != 0 {
            self.max_rd_atomic = from.max_rd_atomic;
        }
        if mask & m::MAX_DEST_RD_ATOMIC != 0 {
            self.max_dest_rd_atomic = from.max_dest_rd_atomic;
        }
        if mask & m::MIN_RNR_TIMER != 0 {
            self.min_rnr_timer = from.min_rnr_timer;
        }
    }
}
