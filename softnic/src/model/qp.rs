// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs: creation, states, and the end of what is pending in them.

use super::host::{Address, AsyncEvent, ContextId, Errno, Host};
use super::request::{Completion, MAX_RECV_SGE, Op, Received, RecvRequest, SendRequest, Sge, status};
use super::types::errno::{EINVAL, ENOENT, ENOMEM, EOPNOTSUPP};
use super::types::{QpAttr, QpInfo, QpKind, QpQuery, QpSpec, QpState, qp_mask as m};
use super::{Device, PAGE, efa, numbers, transition};
use crate::fault::RequestFault;
use crate::profile::caps;
use std::collections::VecDeque;

/// A request that was taken from the ring and not begun.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub req: SendRequest,
    pub fault: RequestFault,
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
    pub sq_stride: u32,
    pub sq_depth: u32,
    pub rq_depth: u32,
    /// Requests (SQ) and descriptors (RQ) taken, ever.
    pub sq_taken: u16,
    pub rq_taken: u16,
    pub pending: VecDeque<Pending>,
    /// Requests that are held back go at this time, however few steps there were.
    pub held_until_ms: u64,
    /// The send queue stands still until then (a fault).
    pub stalled_until_ms: u64,
    /// Who was told "not ready" and wants to know when there are receive requests again.
    pub rnr_waiters: VecDeque<Address>,
    /// The receive doorbell when a receive request was last looked for.
    pub rnr_doorbell: u16,
}

impl Device {
    pub fn qp_create(&mut self, host: &mut dyn Host, ctx: ContextId, spec: &QpSpec) -> Result<QpInfo, Errno> {
        self.run("create_qp", |d| {
            d.pd(ctx, spec.pd)?;
            d.cq(ctx, spec.send_cq)?;
            d.cq(ctx, spec.recv_cq)?;
            let shape = d.qp_shape(spec)?;
            if d.qps.len() >= d.profile.max_qp.value as usize {
                return Err(ENOMEM);
            }
            let range = d.qpn_base + 1..=d.qpn_base + 4095;
            let qpn = numbers::next(&mut d.last_qpn, range, |n| d.qps.contains_key(&n)).ok_or(ENOMEM)?;
            let sq_bytes = u64::from(spec.sq_ring_bytes).next_multiple_of(PAGE);
            let rq_bytes = u64::from(spec.rq_ring_bytes).next_multiple_of(PAGE);
            let [sq_offset, rq_offset, doorbell_offset] =
                alloc_all(host, ctx, [sq_bytes, rq_bytes, PAGE]).ok_or(ENOMEM)?;
            let info = QpInfo {
                handle: qpn,
                qpn,
                caps: spec.caps,
                sq_offset,
                sq_bytes,
                rq_offset,
                rq_bytes,
                doorbell_offset,
                doorbell_bytes: PAGE,
                sq_doorbell: efa::SQ_DOORBELL,
                rq_doorbell: efa::RQ_DOORBELL,
            };
            let mut attr = QpAttr::default();
            if spec.kind == QpKind::Srd && d.profile.has(caps::RNR_RETRY) {
                attr.rnr_retry = 7;
            }
            let qp = Qp {
                ctx,
                spec: *spec,
                info,
                attr,
                sq_stride: shape.sq_stride,
                sq_depth: shape.sq_depth,
                rq_depth: spec.rq_ring_bytes / efa::RX_DESC,
                sq_taken: 0,
                rq_taken: 0,
                pending: VecDeque::new(),
                held_until_ms: 0,
                stalled_until_ms: 0,
                rnr_waiters: VecDeque::new(),
                rnr_doorbell: 0,
            };
            d.qps.insert(qpn, qp);
            d.pd_users(spec.pd, true);
            d.cq_users(spec.send_cq, true);
            d.cq_users(spec.recv_cq, true);
            Ok(info)
        })
    }

    /// The checks that kernel and device make on the numbers.
    fn qp_shape(&self, spec: &QpSpec) -> Result<Shape, Errno> {
        let (p, c) = (self.profile, &spec.caps);
        if spec.unsolicited_write_recv && !p.has(caps::UNSOLICITED_WRITE_RECV) {
            return Err(EOPNOTSUPP);
        }
        let over = c.max_send_wr > p.max_sq_wr.value
            || c.max_recv_wr > p.max_rq_wr.value
            || c.max_send_sge > u32::from(p.max_sq_sge.value)
            || c.max_recv_sge > u32::from(p.max_rq_sge.value)
            || c.max_inline_data > u32::from(p.inline_buf_size.value.max(p.inline_buf_size_ex.value));
        if over || spec.sl != 0 && spec.sl != 8 {
            return Err(EINVAL);
        }
        let sq_depth = if spec.sq_ring_bytes == 0 {
            0
        } else {
            c.max_send_wr.max(u32::from(p.min_sq_wr.value)).next_power_of_two()
        };
        let sq_stride = spec.sq_ring_bytes.checked_div(sq_depth).unwrap_or(64);
        let wide = sq_stride == 128 && p.inline_buf_size_ex.value > 0;
        let sq_ok = sq_depth * sq_stride == spec.sq_ring_bytes && (sq_stride == 64 || wide)
            || spec.sq_ring_bytes == 0 && c.max_send_wr == 0;
        let rq_descs = spec.rq_ring_bytes / efa::RX_DESC;
        let rq_ok = spec.rq_ring_bytes.is_multiple_of(efa::RX_DESC)
            && (rq_descs == 0 || rq_descs.is_power_of_two())
            && rq_descs <= 1 << 15
            && u64::from(rq_descs) >= u64::from(c.max_recv_wr);
        if !sq_ok || spec.sq_ring_bytes > p.max_llq_size.value || !rq_ok {
            return Err(EINVAL);
        }
        Ok(Shape { sq_stride, sq_depth })
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
            let mut known =
                m::STATE | m::CUR_STATE | m::EN_SQD_ASYNC_NOTIFY | m::PKEY_INDEX | m::PORT | m::QKEY | m::SQ_PSN;
            if d.profile.has(caps::RNR_RETRY) {
                known |= m::RNR_RETRY;
            }
            if mask & !known != 0 {
                return Err(EOPNOTSUPP);
            }
            let from = if mask & m::CUR_STATE != 0 { attr.cur_state } else { q.attr.state };
            let to = if mask & m::STATE != 0 { attr.state } else { from };
            let bad = from != q.attr.state
                || !transition::allowed(q.spec.kind, from, to, mask)
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

    /// What was pending is flushed, its completions stay in the CQs.
    pub fn qp_destroy(&mut self, host: &mut dyn Host, ctx: ContextId, qp: u32) -> Result<(), Errno> {
        self.run_destroy("destroy_qp", |d| {
            d.qp(ctx, qp)?;
            d.flush_qp(host, qp);
            let Some(q) = d.qps.remove(&qp) else { return Err(ENOENT) };
            d.forget_target_state(host, qp);
            for (offset, bytes) in [
                (q.info.sq_offset, q.info.sq_bytes),
                (q.info.rq_offset, q.info.rq_bytes),
                (q.info.doorbell_offset, PAGE),
            ] {
                if bytes > 0 {
                    host.shm_free(ctx, offset, bytes);
                }
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
                self.flush_qp(host, qpn);
                self.forget_target_state(host, qpn);
            }
            QpState::Reset if from != QpState::Reset => {
                q.pending.clear();
                (q.sq_taken, q.rq_taken, q.stalled_until_ms) = (0, 0, 0);
                q.rnr_waiters.clear();
                let (ctx, at) = (q.ctx, q.info.doorbell_offset);
                host.shm_store32(ctx, at + u64::from(efa::SQ_DOORBELL), 0);
                host.shm_store32(ctx, at + u64::from(efa::RQ_DOORBELL), 0);
                self.flights.retain(|_, f| f.qpn != qpn);
                self.forget_target_state(host, qpn);
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
        self.take_sends(host, qpn, true);
        let flights: Vec<u64> = self.flights.iter().filter(|(_, f)| f.qpn == qpn).map(|(id, _)| *id).collect();
        for id in flights {
            self.end(host, id, status::FLUSHED);
        }
        while let Some(p) = self.qps.get_mut(&qpn).and_then(|q| q.pending.pop_front()) {
            self.complete_send(host, qpn, &p.req, status::FLUSHED);
        }
        while let Some(r) = self.take_recv(host, qpn) {
            self.complete_recv(host, qpn, r.id, Op::Send, status::FLUSHED, Received::default());
        }
    }

    /// Requests that use this address handle number in this PD.
    pub(super) fn flush_ah(&mut self, host: &mut dyn Host, pd: u32, number: u16) {
        let qpns: Vec<u32> = self.qps.iter().filter(|(_, q)| q.spec.pd == pd).map(|(n, _)| *n).collect();
        for qpn in qpns {
            self.take_sends(host, qpn, false);
            let flights: Vec<u64> =
                self.flights.iter().filter(|(_, f)| f.qpn == qpn && f.req.ah == number).map(|(id, _)| *id).collect();
            for id in flights {
                self.end(host, id, status::FLUSHED);
            }
            let Some(q) = self.qps.get_mut(&qpn) else { continue };
            let (gone, kept) = std::mem::take(&mut q.pending).into_iter().partition(|p: &Pending| p.req.ah == number);
            q.pending = kept;
            let gone: VecDeque<Pending> = gone;
            for p in gone {
                self.complete_send(host, qpn, &p.req, status::FLUSHED);
            }
        }
    }

    pub(super) fn complete_send(&mut self, host: &mut dyn Host, qpn: u32, req: &SendRequest, status: u8) {
        let Some(q) = self.qps.get(&qpn) else { return };
        let op = req.op.unwrap_or(Op::Send);
        if status != status::OK {
            match op {
                Op::Read => self.counters.rdma_read_wr_err += 1,
                Op::Write => self.counters.rdma_write_wr_err += 1,
                Op::Send => {}
            }
        }
        if req.signaled || q.spec.sq_sig_all {
            let cq = q.spec.send_cq;
            self.complete(host, cq, Completion { id: req.id, status, op, qpn, recv: None });
        }
    }

    pub(super) fn complete_recv(&mut self, host: &mut dyn Host, qpn: u32, id: u64, op: Op, status: u8, recv: Received) {
        let Some(q) = self.qps.get(&qpn) else { return };
        let cq = q.spec.recv_cq;
        self.complete(host, cq, Completion { id, status, op, qpn, recv: Some(recv) });
    }

    /// The next receive request: one or more descriptors, up to the one that says "last".
    pub(super) fn take_recv(&mut self, host: &mut dyn Host, qpn: u32) -> Option<RecvRequest> {
        let q = self.qps.get_mut(&qpn)?;
        let doorbell = q.recv_doorbell(host);
        let waiting = doorbell.wrapping_sub(q.rq_taken);
        q.rnr_doorbell = doorbell;
        if waiting == 0 {
            return None;
        }
        let mut out = RecvRequest { id: 0, sges: [Sge::default(); MAX_RECV_SGE], count: 0 };
        let mut broken = u32::from(waiting) > q.rq_depth;
        for i in 0..waiting {
            let mut desc = [0u8; efa::RX_DESC as usize];
            let slot = u32::from(q.rq_taken.wrapping_add(i)) & q.rq_depth.saturating_sub(1);
            host.shm_read(q.ctx, q.info.rq_offset + u64::from(slot * efa::RX_DESC), &mut desc);
            let desc = efa::wqe::parse_recv(&desc);
            broken |= desc.first != (i == 0);
            if i == 0 {
                out.id = desc.id;
            }
            match out.sges.get_mut(out.count) {
                Some(place) if !broken => *place = desc.sge,
                _ => {
                    q.rq_taken = q.rq_taken.wrapping_add(waiting);
                    self.qp_fatal(host, qpn, "receive descriptors without first or last, or more than the ring holds");
                    return None;
                }
            }
            out.count += 1;
            if desc.last {
                q.rq_taken = q.rq_taken.wrapping_add(i + 1);
                return Some(out);
            }
        }
        None
    }
}

impl Qp {
    /// It waits for receive requests, whose doorbell nobody watches.
    pub fn is_restless(&self) -> bool {
        !self.rnr_waiters.is_empty() || self.attr.state == QpState::Err
    }

    pub fn holding(&self) -> bool {
        self.pending.iter().any(|p| p.hold > 0)
    }

    /// Receive descriptors written, ever.
    pub fn recv_doorbell(&self, host: &mut dyn Host) -> u16 {
        host.shm_load32(self.ctx, self.info.doorbell_offset + u64::from(efa::RQ_DOORBELL)) as u16
    }
}

struct Shape {
    sq_stride: u32,
    sq_depth: u32,
}

fn alloc_all(host: &mut dyn Host, ctx: ContextId, bytes: [u64; 3]) -> Option<[u64; 3]> {
    let mut offsets = [0; 3];
    for i in 0..3 {
        let (Some(bytes_i), Some(offset)) = (bytes.get(i).copied(), offsets.get_mut(i)) else { return None };
        if bytes_i == 0 {
            continue;
        }
        match host.shm_alloc(ctx, bytes_i) {
            Some(o) => *offset = o,
            None => {
                for (o, b) in offsets.iter().zip(bytes).take(i).filter(|(_, b)| *b > 0) {
                    host.shm_free(ctx, *o, b);
                }
                return None;
            }
        }
    }
    Some(offsets)
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
    }
}
