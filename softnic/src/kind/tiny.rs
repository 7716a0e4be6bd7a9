// SPDX-License-Identifier: MIT OR Apache-2.0
//! A second kind, for tests: nothing of it looks like EFA's, and the rest of softnic serves it as it is.
//!
//! Each queue is one piece of memory: a header with the place that is filled next (`PRODUCER`) and the place that is read next
//! (`CONSUMER`), then places, of which one stays free. The provider writes one of the two words, the device the other.
//!
//! A send request is a head of 32 bytes {id u64, QP number u32, AH u16, operation u8, inline u8, remote address u64, remote key u32, count u32},
//! then `count` pieces {address u64, length u32, key u32} or bytes; a receive is {id u64, count u32, 0}, then pieces. A completion is 16 bytes
//! {status u32, QP number u32, id u64}, big-endian, where statuses are 1000 more. A QP goes from RESET to RTS at once. One type is connected and keeps the order.

use super::{Calls, Kind, Queues, Sysfs};
use crate::abi::call::Call;
use crate::abi::env::Nic;
use crate::abi::errno::{EOPNOTSUPP, Res, fail};
use crate::abi::objects::Objects;
use crate::abi::private::{Command, CqRequest, QpRequest, REQ_NOTIFY, ring_by_write};
use crate::abi::structs::{DeviceResp, WriteHeader};
use crate::abi::wire::{array_at, wire};
use crate::model::host::Host;
use crate::model::request::{Completion, Local, Op, RecvRequest, Remote, SendRequest, Sge, status};
use crate::model::types::{AhInfo, CqInfo, CqSpec, PdInfo, QpCaps, QpInfo, QpSpec, QpState, QpType, qp_mask as m};
use crate::model::window::Window;
use crate::model::wire::{Broken, CqDoorbell, CqLayout, CqRing, QpLayout, QpRings, RecvRing, Shape, Word};
use crate::profile::{Own, Profile, Visitor, assumed, caps};
use std::any::Any;

mod tests;

pub struct Tiny;

const PRODUCER: u32 = 64;
const CONSUMER: u64 = 128;
const DATA: u64 = 192;
const SEND_HEAD: u32 = 32;
const RECV_HEAD: u32 = 16;
const COMPLETION: u32 = 16;
/// Pieces of a request.
const SGES: u32 = 8;

/// Requests one by one to one peer, until one of them fails.
static LINE: QpType = QpType {
    name: "Line",
    datagram: false,
    connected: true,
    ordered: true,
    fail_stop: true,
    reads: true,
    writes: true,
    rnr_retry: 7,
    attributes: m::STATE | m::PATH | m::DEST_QPN | m::ACCESS | m::RNR_RETRY,
};
/// Requests to anybody, in any order.
static LOOSE: QpType = QpType {
    name: "Loose",
    datagram: false,
    connected: false,
    ordered: false,
    fail_stop: false,
    reads: true,
    writes: true,
    rnr_retry: 0,
    attributes: m::STATE,
};

wire! {
    /// Where a queue lies.
    Place [16] { 0 offset: u64, 8 bytes: u64 }
}

#[derive(Debug)]
struct Nothing;

impl Own for Nothing {
    fn each(&self, _: Visitor<'_>) {}
    fn as_any(&self) -> &dyn Any {
        self
    }
}

pub static PROFILE: Profile = Profile {
    kind: &Tiny,
    name: "only",
    about: "for tests",
    own: &Nothing,
    caps: caps::Caps {
        cap_rdma_read: assumed(caps::RDMA_READ),
        cap_rnr_retry: assumed(caps::RNR_RETRY),
        cap_cq_notifications: assumed(caps::CQ_NOTIFICATIONS),
        cap_cq_with_sgid: assumed(0),
        cap_data_polling_128: assumed(0),
        cap_rdma_write: assumed(caps::RDMA_WRITE),
        cap_unsolicited_write_recv: assumed(0),
    },
    max_qp: assumed(65536),
    max_cq: assumed(4),
    max_mr: assumed(4),
    max_pd: assumed(4),
    max_ah: assumed(4),
    max_cqe: assumed(64),
    max_sq_wr: assumed(16),
    max_rq_wr: assumed(16),
    max_sq_sge: assumed(SGES as u16),
    max_rq_sge: assumed(SGES as u16),
    max_rdma_sge: assumed(SGES as u16),
    max_rdma_size: assumed(4096),
    mtu: assumed(1024),
    max_mr_pages: assumed(1024),
    comp_vectors: assumed(1),
    link_gbps: assumed(10),
    rnr_timer_ms: assumed(1),
};

impl Kind for Tiny {
    fn name(&self) -> &'static str {
        "tiny"
    }
    fn provider(&self) -> &'static str {
        "libtiny"
    }
    fn profiles(&self) -> &'static [Profile] {
        std::slice::from_ref(&PROFILE)
    }
    fn default_profile(&self) -> &'static Profile {
        &PROFILE
    }
    fn queues(&self) -> &'static dyn Queues {
        &Tiny
    }
    fn calls(&self) -> &'static dyn Calls {
        &Tiny
    }
    fn sysfs(&self, _: &Profile) -> Sysfs {
        Sysfs {
            driver: "tiny",
            pci: None,
            abi_version: 7,
            node_type: "1: CA",
            hca_type: "TINY",
            link_layer: "Ethernet",
            gid_type: "RoCE v2",
            port_counters: &["tx_pkts"],
            device_counters: &[],
            peer_module: "nvidia_peermem",
            peer_file: Some(("gpus", "yes")),
        }
    }
}

/// The number of which a place shows the lowest bits: the first one from `from` on.
fn number(from: u16, place: u32, mask: u32) -> u16 {
    from.wrapping_add((place.wrapping_sub(u32::from(from)) & mask) as u16)
}

fn begin(shm: Window<'_>, ring: u64, stride: u32, depth: u32) {
    shm.store32(ring, stride);
    shm.store32(ring + 4, depth.wrapping_sub(1));
}

/// An entry, and how many bytes there are before its end.
fn entry(shm: Window<'_>, ring: u64, slot: u32, stride: u32) -> Vec<u8> {
    let mut bytes = vec![0; stride as usize];
    shm.read(ring + DATA + u64::from(slot * stride), &mut bytes);
    bytes
}

fn pieces(bytes: &[u8], at: usize, count: u32) -> Vec<Sge> {
    let word = |at| u32::from_le_bytes(array_at(bytes, at));
    let piece = |at| Sge { addr: u64::from_le_bytes(array_at(bytes, at)), len: word(at + 8), lkey: word(at + 12) };
    (0..count.min(SGES) as usize).map(|n| piece(at + 16 * n)).collect()
}

/// Places and bytes of one for so many requests with so many pieces behind a head: one place stays free.
fn ring(requests: u32, head: u32, sges: u32) -> (u32, u32, u64) {
    let (depth, stride) = ((requests + 1).next_power_of_two(), (head + 16 * sges).next_power_of_two());
    (depth, stride, DATA + u64::from(depth * stride))
}

impl Queues for Tiny {
    fn words(&self) -> (Word, Word) {
        (Word::SendRing(PRODUCER), Word::RecvRing(PRODUCER))
    }
    fn may_change(&self, kind: &QpType, from: QpState, to: QpState, mask: u32) -> bool {
        let needed = if kind.connected { m::PATH | m::DEST_QPN } else { 0 };
        to == QpState::Reset || from == QpState::Reset && to == QpState::Rts && mask & needed == needed
    }
    fn qp_layout(&self, _: &Profile, spec: &QpSpec) -> Option<QpLayout> {
        let c = &spec.caps;
        let (sq_depth, sq_stride, sq_bytes) = ring(c.max_send_wr, SEND_HEAD, c.max_send_sge);
        let (rq_depth, rq_stride, rq_bytes) = ring(c.max_recv_wr, RECV_HEAD, c.max_recv_sge);
        let caps = QpCaps {
            max_send_wr: sq_depth - 1,
            max_recv_wr: rq_depth - 1,
            max_inline_data: sq_stride - SEND_HEAD,
            ..*c
        };
        let shape = Shape { sq_stride, sq_depth, rq_stride, rq_depth };
        Some(QpLayout { shape, sq_bytes, rq_bytes, doorbells: false, caps })
    }
    fn cq_layout(&self, _: &Profile, spec: &CqSpec) -> Option<CqLayout> {
        let (entries, stride, bytes) = ring(spec.cqe, COMPLETION, 0);
        let cqe = entries - 1;
        (stride == COMPLETION).then_some(CqLayout {
            entries,
            cqe,
            bytes,
            doorbell_bytes: 0,
            always_told: true,
            armed_by_call: true,
        })
    }
    fn begin_qp(&self, shm: Window<'_>, r: &QpRings) {
        begin(shm, r.sq_offset, r.shape.sq_stride, r.shape.sq_depth);
        begin(shm, r.recv.offset, r.shape.rq_stride, r.shape.rq_depth);
    }
    fn begin_cq(&self, shm: Window<'_>, r: &CqRing) {
        begin(shm, r.offset, COMPLETION, r.entries);
    }
    fn sends_posted(&self, shm: Window<'_>, r: &QpRings, taken: u16) -> u16 {
        number(taken, shm.load32(r.sq_offset + u64::from(PRODUCER)), r.shape.sq_depth - 1)
    }
    fn sends_taken(&self, host: &dyn Host, r: &QpRings, taken: u16) {
        host.shm(r.ctx).store32(r.sq_offset + CONSUMER, u32::from(taken) & (r.shape.sq_depth - 1));
    }
    fn read_send(&self, shm: Window<'_>, r: &QpRings, number: u16, out: &mut SendRequest) {
        let slot = u32::from(number) & (r.shape.sq_depth - 1);
        let e = entry(shm, r.sq_offset, slot, r.shape.sq_stride);
        let word = |at| u32::from_le_bytes(array_at(&e, at));
        let [op, inline, ..] = array_at::<4>(&e, 14);
        let count = word(28);
        let local = match e.get(SEND_HEAD as usize..).and_then(|data| data.get(..count as usize)) {
            Some(data) if inline == 1 => Local::of_bytes(data),
            _ => Local::of_sges(&pieces(&e, SEND_HEAD as usize, count)),
        };
        let op = match op {
            0 => Ok(Op::Send),
            1 => Ok(Op::Read),
            2 => Ok(Op::Write),
            _ => Err(status::UNSUPPORTED_OP),
        };
        let remote = Remote { addr: u64::from_le_bytes(array_at(&e, 16)), len: local.len() as u32, rkey: word(24) };
        let (id, ah) = (u64::from_le_bytes(array_at(&e, 0)), u16::from_le_bytes(array_at(&e, 12)));
        *out = SendRequest { id, op, signaled: true, imm: None, local, remote, ah, dest_qpn: word(8), qkey: 0 };
    }
    fn recvs_posted(&self, shm: Window<'_>, r: &RecvRing, taken: u16) -> u16 {
        number(taken, shm.load32(r.offset + u64::from(PRODUCER)), r.depth - 1)
    }
    fn recvs_taken(&self, host: &dyn Host, r: &RecvRing, taken: u16) {
        host.shm(r.ctx).store32(r.offset + CONSUMER, u32::from(taken) & (r.depth - 1));
    }
    fn read_recv(
        &self,
        shm: Window<'_>,
        r: &RecvRing,
        number: u16,
        posted: u16,
        out: &mut RecvRequest,
    ) -> Result<Option<u16>, Broken> {
        if number == posted {
            return Ok(None);
        }
        let slot = u32::from(number) & (r.depth - 1);
        let e = entry(shm, r.offset, slot, r.stride);
        let (id, count) = (u64::from_le_bytes(array_at(&e, 0)), u32::from_le_bytes(array_at(&e, 8)));
        *out = RecvRequest::of_sges(id, &pieces(&e, RECV_HEAD as usize, count));
        Ok(Some(1))
    }
    fn reset(&self, shm: Window<'_>, r: &QpRings) {
        for at in [r.sq_offset, r.recv.offset] {
            shm.store32(at + u64::from(PRODUCER), 0);
            shm.store32(at + CONSUMER, 0);
        }
    }
    fn cq_word(&self, r: &CqRing) -> u64 {
        r.offset + CONSUMER
    }
    fn cq_doorbell(&self, shm: Window<'_>, r: &CqRing, produced: u32) -> CqDoorbell {
        let unread = produced.wrapping_sub(shm.load32(r.offset + CONSUMER)) & (r.entries - 1);
        CqDoorbell { consumer: produced.wrapping_sub(unread) as u16, cmd_sn: 0, arm: false }
    }
    fn write_completion(&self, shm: Window<'_>, r: &CqRing, number: u32, c: &Completion) {
        let at = r.offset + DATA + u64::from((number & (r.entries - 1)) * COMPLETION);
        let head = [(1000 + u32::from(c.status)).to_be_bytes(), c.qpn.to_be_bytes()];
        shm.write(at, head.as_flattened());
        shm.write(at + 8, &c.id.to_be_bytes());
        shm.store32(r.offset + u64::from(PRODUCER), (number + 1) & (r.entries - 1));
    }
}

impl Calls for Tiny {
    fn driver_id(&self) -> u32 {
        99
    }
    fn commands(&self) -> &'static [Command] {
        &[REQ_NOTIFY]
    }
    fn write(&self, header: &WriteHeader, body: &[u8], objects: &Objects, nic: &mut dyn Nic) -> Option<Res<()>> {
        (header.command == 28).then(|| ring_by_write(header, body, objects, nic))
    }
    fn context_told(&self, _: &mut Call<'_>) -> Res<()> {
        Ok(())
    }
    fn device_told(&self, _: &mut Call<'_>) -> Res<()> {
        Ok(())
    }
    fn fill_device(&self, _: &Profile, answer: &mut DeviceResp) {
        answer.vendor_id = 0xff_ffff;
    }
    fn gid_type(&self) -> u32 {
        2
    }
    fn pd_made(&self, _: &mut Call<'_>, _: &PdInfo) -> Res<()> {
        Ok(())
    }
    fn ah_made(&self, call: &mut Call<'_>, info: &AhInfo) -> Res<()> {
        call.uhw_out(&info.number.to_ne_bytes())
    }
    fn cq_request(&self, call: &mut Call<'_>) -> Res<CqRequest> {
        call.uhw_in_none()?;
        Ok(CqRequest { entry_size: 16, sub_cqs: 1, with_sgid: false })
    }
    fn cq_made(&self, call: &mut Call<'_>, info: &CqInfo) -> Res<()> {
        call.uhw_out(&Place { offset: info.ring_offset, bytes: info.ring_bytes }.bytes())
    }
    fn qp_request(&self, call: &mut Call<'_>, qp_type: u64) -> Res<QpRequest> {
        let kind = match qp_type {
            2 => &LINE,
            4 => &LOOSE,
            _ => return fail(EOPNOTSUPP, "only RC (2) and UD (4)"),
        };
        call.uhw_in_none()?;
        Ok(QpRequest { kind, sq_ring_bytes: 0, rq_ring_bytes: 0, unsolicited_write_recv: false, sl: 0 })
    }
    fn qp_made(&self, call: &mut Call<'_>, info: &QpInfo) -> Res<()> {
        let send = Place { offset: info.sq_offset, bytes: info.sq_bytes };
        let recv = Place { offset: info.rq_offset, bytes: info.rq_bytes };
        call.uhw_out(&[send.bytes(), recv.bytes()].concat())
    }
}
