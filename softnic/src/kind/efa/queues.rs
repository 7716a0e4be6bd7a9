// SPDX-License-Identifier: MIT OR Apache-2.0
//! EFA's queues: rings of descriptors, each with a doorbell that counts what was put in.

use super::layout::{RQ_DOORBELL, RX_DESC, SQ_DOORBELL};
use super::{cqe, profiles, transition, wqe};
use crate::model::PAGE;
use crate::model::request::{Completion, RecvRequest, SendRequest};
use crate::model::types::{CqSpec, QpCaps, QpSpec, QpState, QpType};
use crate::model::window::Window;
use crate::model::wire::{Broken, CqDoorbell, CqLayout, CqRing, QpLayout, QpRings, Queues, RecvRing, Shape, Word};
use crate::profile::Profile;

pub struct Rings;

/// Each piece of a receive request takes a descriptor, and the device's limit is one of descriptors. Newer libefa check it themselves.
fn holds_receives(p: &Profile, c: &QpCaps) -> bool {
    u64::from(c.max_recv_wr) * u64::from(c.max_recv_sge.max(1)) <= u64::from(p.max_rq_wr.value)
}

fn doorbell(shm: Window<'_>, page: u64, at: u32) -> u16 {
    shm.load32(page + u64::from(at)) as u16
}

impl Queues for Rings {
    fn words(&self) -> (Word, Word) {
        (Word::Doorbells(SQ_DOORBELL), Word::Doorbells(RQ_DOORBELL))
    }

    fn may_change(&self, kind: &QpType, from: QpState, to: QpState, mask: u32) -> bool {
        transition::allowed(kind, from, to, mask)
    }

    fn qp_layout(&self, p: &Profile, spec: &QpSpec) -> Option<QpLayout> {
        let (c, own) = (&spec.caps, profiles::own(p));
        let sq_depth = if spec.sq_ring_bytes == 0 {
            0
        } else {
            c.max_send_wr.max(u32::from(own.min_sq_wr.value)).next_power_of_two()
        };
        let sq_stride = spec.sq_ring_bytes.checked_div(sq_depth).unwrap_or(64);
        let wide = sq_stride == 128 && own.inline_buf_size_ex.value > 0;
        let sq_ok = sq_depth * sq_stride == spec.sq_ring_bytes && (sq_stride == 64 || wide)
            || spec.sq_ring_bytes == 0 && c.max_send_wr == 0;
        let rq_depth = spec.rq_ring_bytes / RX_DESC;
        let rq_ok = spec.rq_ring_bytes.is_multiple_of(RX_DESC)
            && (rq_depth == 0 || rq_depth.is_power_of_two())
            && rq_depth <= 1 << 15
            && u64::from(rq_depth) >= u64::from(c.max_recv_wr)
            && holds_receives(p, c);
        let fits = u64::from(spec.sq_ring_bytes) <= u64::from(own.max_llq_size.value);
        let inline_fits = c.max_inline_data <= u32::from(own.inline_buf_size.value.max(own.inline_buf_size_ex.value));
        let known_sl = spec.sl == 0 || spec.sl == 8;
        (sq_ok && rq_ok && fits && inline_fits && known_sl).then_some(QpLayout {
            shape: Shape { sq_stride, sq_depth, rq_stride: RX_DESC, rq_depth },
            sq_bytes: u64::from(spec.sq_ring_bytes),
            rq_bytes: u64::from(spec.rq_ring_bytes),
            doorbells: true,
            caps: *c,
        })
    }

    /// libefa rounds up to a power of two.
    fn cq_layout(&self, _: &Profile, spec: &CqSpec) -> Option<CqLayout> {
        let known = spec.entry_size == 16 && !spec.with_sgid || spec.entry_size == 32;
        (known && spec.sub_cqs == 1 && spec.cqe.is_power_of_two()).then(|| CqLayout {
            entries: spec.cqe,
            cqe: spec.cqe,
            bytes: u64::from(spec.cqe) * u64::from(spec.entry_size),
            doorbell_bytes: PAGE,
            always_told: false,
            armed_by_call: false,
        })
    }

    fn sends_posted(&self, shm: Window<'_>, r: &QpRings, _: u16) -> u16 {
        doorbell(shm, r.doorbell_offset, SQ_DOORBELL)
    }

    fn read_send(&self, shm: Window<'_>, r: &QpRings, number: u16, out: &mut SendRequest) {
        let slot = u32::from(number) & r.shape.sq_depth.saturating_sub(1);
        let at = r.sq_offset + u64::from(slot) * u64::from(r.shape.sq_stride);
        wqe::read_send(shm, at, r.shape.sq_stride, out);
    }

    fn recvs_posted(&self, shm: Window<'_>, r: &RecvRing, _: u16) -> u16 {
        doorbell(shm, r.doorbell_offset, RQ_DOORBELL)
    }

    /// One or more descriptors, up to the one that says "last".
    fn read_recv(
        &self,
        shm: Window<'_>,
        r: &RecvRing,
        number: u16,
        posted: u16,
        out: &mut RecvRequest,
    ) -> Result<Option<u16>, Broken> {
        let waiting = posted.wrapping_sub(number);
        if u32::from(waiting) > r.depth {
            return Err(Broken);
        }
        for (i, place) in (0..waiting).zip(&mut out.sges) {
            let slot = u32::from(number.wrapping_add(i)) & r.depth.saturating_sub(1);
            let desc = wqe::read_recv(shm, r.offset + u64::from(slot * RX_DESC));
            if desc.first != (i == 0) {
                return Err(Broken);
            }
            if i == 0 {
                out.id = desc.id;
            }
            *place = desc.sge;
            if desc.last {
                out.count = usize::from(i) + 1;
                return Ok(Some(i + 1));
            }
        }
        if usize::from(waiting) > out.sges.len() { Err(Broken) } else { Ok(None) }
    }

    fn reset(&self, shm: Window<'_>, r: &QpRings) {
        shm.store32(r.doorbell_offset + u64::from(SQ_DOORBELL), 0);
        shm.store32(r.doorbell_offset + u64::from(RQ_DOORBELL), 0);
    }

    fn cq_doorbell(&self, shm: Window<'_>, r: &CqRing, _: u32) -> CqDoorbell {
        let word = shm.load32(r.doorbell_offset);
        CqDoorbell { consumer: word as u16, cmd_sn: ((word >> 29) & 3) as u8, arm: word >> 31 != 0 }
    }

    fn write_completion(&self, shm: Window<'_>, r: &CqRing, number: u32, c: &Completion) {
        let phase = number & r.entries == 0;
        let at = r.offset + u64::from(number & (r.entries - 1)) * u64::from(r.entry_size);
        if r.entry_size == 32 {
            shm.publish(at + 16, cqe::encode_rest(c, r.with_sgid));
        }
        // The phase bit is in the first word, which goes last.
        shm.publish(at, cqe::encode(c, phase));
    }
}
