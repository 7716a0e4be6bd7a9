// SPDX-License-Identifier: MIT OR Apache-2.0
//! The provider's side: one PD, CQ, region and QP, with requests written and completions read as libefa does.

use super::world::*;
use crate::kind::efa::SRD;
use crate::model::host::{ContextId, Errno};
use crate::model::types::*;

pub const QKEY: u32 = 0x1111;

#[derive(Clone)]
pub struct Opts {
    pub kind: &'static QpType,
    pub depth: u32,
    pub wide: bool,
    pub cqe: u32,
    pub recv_sge: u32,
    pub channel: Option<u64>,
    pub unsolicited: bool,
    pub rnr_retry: Option<u8>,
    pub access: u32,
}

impl Default for Opts {
    fn default() -> Self {
        let access = access::LOCAL_WRITE | access::REMOTE_READ | access::REMOTE_WRITE;
        let kind = &SRD;
        Opts {
            kind,
            depth: 64,
            wide: false,
            cqe: 256,
            recv_sge: 1,
            channel: None,
            unsolicited: false,
            rnr_retry: None,
            access,
        }
    }
}

/// A completion as the provider reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wc {
    pub id: u16,
    pub status: u8,
    pub flags: u8,
    pub qpn: u16,
    pub length: u32,
    pub ah: u16,
    pub source: u16,
    pub imm: u32,
    pub sgid: [u8; 16],
}

impl Wc {
    pub fn is_recv(&self) -> bool {
        self.flags >> 1 & 3 == 2
    }
    pub fn op(&self) -> u8 {
        self.flags >> 4 & 7
    }
}

pub struct Ep {
    pub dev: usize,
    pub ctx: ContextId,
    pub pd: PdInfo,
    pub mr: MrInfo,
    pub cq: CqInfo,
    pub qp: QpInfo,
    pub opts: Opts,
    pub sq_pc: u16,
    pub rq_pc: u16,
    pub cc: u16,
    pub cmd_sn: u8,
}

/// A send request, to be written into a ring.
#[derive(Clone)]
pub struct Wr {
    pub id: u16,
    pub op: u8,
    pub sges: Vec<(u64, u32, u32)>,
    pub inline: Option<Vec<u8>>,
    pub imm: Option<u32>,
    pub remote: (u64, u32, u32),
    pub ah: u16,
    pub qpn: u32,
    pub qkey: u32,
}

impl Wr {
    pub fn bytes(&self) -> [u8; 128] {
        let mut w = [0u8; 128];
        let rdma = self.op != 0;
        w[0..2].copy_from_slice(&self.id.to_le_bytes());
        w[2] = self.op | u8::from(self.imm.is_some()) << 4 | u8::from(self.inline.is_some()) << 5 | 1 << 7;
        w[3] = 0b1_1100;
        w[4..6].copy_from_slice(&(self.qpn as u16).to_le_bytes());
        let len = self.inline.as_ref().map_or(self.sges.len(), |i| i.len()) as u16;
        w[6..8].copy_from_slice(&len.to_le_bytes());
        w[8..12].copy_from_slice(&self.imm.unwrap_or(0).to_le_bytes());
        w[12..14].copy_from_slice(&self.ah.to_le_bytes());
        w[16..20].copy_from_slice(&self.qkey.to_le_bytes());
        let mut at = 32;
        if rdma {
            let (addr, len, rkey) = self.remote;
            w[32..36].copy_from_slice(&len.to_le_bytes());
            w[36..40].copy_from_slice(&rkey.to_le_bytes());
            w[40..48].copy_from_slice(&addr.to_le_bytes());
            at = 48;
        }
        if let Some(data) = &self.inline {
            w[at..at + data.len()].copy_from_slice(data);
        }
        for (addr, len, lkey) in &self.sges {
            w[at..at + 4].copy_from_slice(&len.to_le_bytes());
            w[at + 4..at + 8].copy_from_slice(&lkey.to_le_bytes());
            w[at + 8..at + 16].copy_from_slice(&addr.to_le_bytes());
            at += 16;
        }
        w
    }
}

pub fn qp_spec(o: &Opts, pd: u32, cq: u32) -> QpSpec {
    let rq = (o.depth * o.recv_sge).next_power_of_two();
    QpSpec {
        kind: o.kind,
        pd,
        send_cq: cq,
        recv_cq: cq,
        user_handle: 0x9b,
        caps: QpCaps {
            max_send_wr: o.depth,
            max_recv_wr: o.depth,
            max_send_sge: 2,
            max_recv_sge: o.recv_sge,
            max_inline_data: if o.wide { 80 } else { 32 },
        },
        sq_ring_bytes: o.depth * if o.wide { 128 } else { 64 },
        rq_ring_bytes: rq * 16,
        unsolicited_write_recv: o.unsolicited,
        sl: 0,
        sq_sig_all: false,
    }
}

impl Ep {
    pub fn new(w: &mut World, dev: usize, opts: Opts) -> Ep {
        let (d, p) = w.at(dev);
        let ctx = d.context_open().unwrap();
        let pd = d.pd_alloc(p, ctx).unwrap();
        let length = MEMORY as u64;
        let spec = MrSpec { pd: pd.handle, start: BASE, length, iova: BASE, access: opts.access, dmabuf: false };
        let mr = d.mr_reg(p, ctx, &spec).unwrap();
        let cq = CqSpec {
            cqe: opts.cqe,
            entry_size: 32,
            sub_cqs: 1,
            user_handle: 0xc0,
            channel: opts.channel,
            comp_vector: 0,
            with_sgid: true,
        };
        let cq = d.cq_create(p, ctx, &cq).unwrap();
        let qp = d.qp_create(p, ctx, &qp_spec(&opts, pd.handle, cq.handle)).unwrap();
        let mut ep = Ep { dev, ctx, pd, mr, cq, qp, opts, sq_pc: 0, rq_pc: 0, cc: 0, cmd_sn: 0 };
        ep.up(w).unwrap();
        ep
    }

    /// RESET to RTS.
    pub fn up(&mut self, w: &mut World) -> Result<(), Errno> {
        use qp_mask as m;
        let mut attr = QpAttr { state: QpState::Init, qkey: QKEY, port: 1, sq_psn: 77, ..QpAttr::default() };
        self.modify(w, m::STATE | m::PKEY_INDEX | m::PORT | m::QKEY, &attr)?;
        attr.state = QpState::Rtr;
        self.modify(w, m::STATE, &attr)?;
        attr.state = QpState::Rts;
        attr.rnr_retry = self.opts.rnr_retry.unwrap_or(0);
        let retry = if self.opts.rnr_retry.is_some() { m::RNR_RETRY } else { 0 };
        self.modify(w, m::STATE | m::SQ_PSN | retry, &attr)
    }

    pub fn modify(&self, w: &mut World, mask: u32, attr: &QpAttr) -> Result<(), Errno> {
        let (d, p) = w.at(self.dev);
        d.qp_modify(p, self.ctx, self.qp.handle, mask, attr)
    }

    pub fn ah(&self, w: &mut World, device: usize) -> AhInfo {
        let (d, p) = w.at(self.dev);
        d.ah_create(p, self.ctx, &AhSpec { pd: self.pd.handle, is_global: true, port: 1, dgid: gid(device) }).unwrap()
    }

    /// A request to `peer`, of `len` bytes at `at` here and (RDMA) `rat` there.
    #[allow(clippy::too_many_arguments)]
    pub fn wr(&self, op: u8, id: u16, ah: AhInfo, peer: &Ep, at: u64, rat: u64, len: u32) -> Wr {
        Wr {
            id,
            op,
            sges: vec![(BASE + at, len, self.mr.lkey)],
            inline: None,
            imm: None,
            remote: if op == 0 { (0, 0, 0) } else { (BASE + rat, len, peer.mr.rkey) },
            ah: ah.number,
            qpn: peer.qp.qpn,
            qkey: QKEY,
        }
    }

    /// Writes a request and rings.
    pub fn post(&mut self, w: &mut World, wr: &Wr) {
        self.post_raw(w, &wr.bytes());
    }

    pub fn post_raw(&mut self, w: &mut World, wqe: &[u8; 128]) {
        use crate::model::host::Host;
        let stride = if self.opts.wide { 128 } else { 64 };
        let (_, p) = w.at(self.dev);
        let slot = u64::from(u32::from(self.sq_pc) & (self.opts.depth - 1));
        p.shm(self.ctx).write(self.qp.sq_offset + slot * stride, &wqe[..stride as usize]);
        self.sq_pc = self.sq_pc.wrapping_add(1);
        self.ring(w, self.qp.sq_doorbell, self.sq_pc);
    }

    pub fn ring(&self, w: &mut World, doorbell: u64, value: u16) {
        use crate::model::host::Host;
        let (_, p) = w.at(self.dev);
        p.shm(self.ctx).store32(doorbell, u32::from(value));
    }

    /// Posts a receive request of these pieces.
    pub fn recv(&mut self, w: &mut World, id: u16, pieces: &[(u64, u16)]) {
        let lkey = self.mr.lkey;
        let last = pieces.len() - 1;
        for (i, (at, len)) in pieces.iter().enumerate() {
            let mut d = [0u8; 16];
            d[0..8].copy_from_slice(&(BASE + at).to_le_bytes());
            d[8..10].copy_from_slice(&(if i == 0 { id } else { 0 }).to_le_bytes());
            d[10..12].copy_from_slice(&len.to_le_bytes());
            let ctrl = lkey | u32::from(i == 0) << 30 | u32::from(i == last) << 31;
            d[12..16].copy_from_slice(&ctrl.to_le_bytes());
            self.recv_raw(w, &d);
        }
        self.ring(w, self.qp.rq_doorbell, self.rq_pc);
    }

    pub fn recv_raw(&mut self, w: &mut World, desc: &[u8; 16]) {
        use crate::model::host::Host;
        let (_, p) = w.at(self.dev);
        let descs = (self.opts.depth * self.opts.recv_sge).next_power_of_two();
        let slot = u64::from(u32::from(self.rq_pc) & (descs - 1));
        p.shm(self.ctx).write(self.qp.rq_offset + slot * 16, desc);
        self.rq_pc = self.rq_pc.wrapping_add(1);
    }

    /// Reads one completion, if there is one, and tells.
    pub fn poll(&mut self, w: &mut World) -> Option<Wc> {
        let read = self.read(w)?;
        self.cq_doorbell(w, false);
        Some(read)
    }

    /// As an extended poll does that goes on to ENOENT: the doorbell stays as it is.
    pub fn read(&mut self, w: &mut World) -> Option<Wc> {
        use crate::model::host::Host;
        let (_, p) = w.at(self.dev);
        let mut e = [0u8; 32];
        let slot = u32::from(self.cc) & (self.opts.cqe - 1);
        p.shm(self.ctx).read(self.cq.ring_offset + u64::from(slot) * 32, &mut e);
        let phase = u32::from(self.cc) & self.opts.cqe == 0;
        if (e[3] & 1 == 1) != phase {
            return None;
        }
        self.cc = self.cc.wrapping_add(1);
        let u16_at = |i: usize| u16::from_le_bytes([e[i], e[i + 1]]);
        let mut length = u32::from(u16_at(6));
        if e[3] >> 4 & 7 == 2 {
            length |= u32::from(u16_at(16)) << 16;
        }
        Some(Wc {
            id: u16_at(0),
            status: e[2],
            flags: e[3] & !1,
            qpn: u16_at(4),
            length,
            ah: u16_at(8),
            source: u16_at(10),
            imm: u32::from_le_bytes([e[12], e[13], e[14], e[15]]),
            sgid: e[16..32].try_into().unwrap(),
        })
    }

    pub fn cq_doorbell(&self, w: &mut World, arm: bool) {
        use crate::model::host::Host;
        let (_, p) = w.at(self.dev);
        let word = u32::from(self.cc) | u32::from(self.cmd_sn & 3) << 29 | u32::from(arm) << 31;
        p.shm(self.ctx).store32(self.cq.doorbell_offset, word);
    }

    pub fn polls(&mut self, w: &mut World) -> Vec<Wc> {
        std::iter::from_fn(|| self.poll(w)).collect()
    }

    pub fn reads(&mut self, w: &mut World) -> Vec<Wc> {
        std::iter::from_fn(|| self.read(w)).collect()
    }

    /// The only completion: its id and status.
    pub fn one(&mut self, w: &mut World) -> (u16, u8) {
        let all = self.polls(w);
        assert_eq!(all.len(), 1, "{all:?}");
        (all[0].id, all[0].status)
    }

    pub fn fill(&self, w: &mut World, at: u64, bytes: &[u8]) {
        let (_, p) = w.at(self.dev);
        p.mem[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    }

    pub fn bytes(&self, w: &mut World, at: u64, len: usize) -> Vec<u8> {
        let (_, p) = w.at(self.dev);
        p.mem[at as usize..at as usize + len].to_vec()
    }
}

pub fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(31) ^ (i >> 8) as u8 ^ seed).collect()
}
