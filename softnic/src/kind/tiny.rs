// SPDX-License-Identifier: MIT OR Apache-2.0
//! A second kind, for tests: nothing of it looks like EFA's, and the rest of softnic serves it as it is.
//!
//! Requests of 32 bytes {id u64, address u64, length u32, key u32, AH u16, 0, QP number u32}; its receives are the same without an address.
//! Completions of 16 bytes {serial number u32, status u32, id u64}, big-endian, where statuses are 1000 more. Doorbells of 32 bits at 8 and
//! 128. A QP goes from RESET to RTS at once.

use super::{Calls, Kind, Queues, Sysfs};
use crate::abi::call::Call;
use crate::abi::errno::{EOPNOTSUPP, Res, fail};
use crate::abi::private::{CqRequest, QpRequest};
use crate::abi::structs::DeviceResp;
use crate::abi::wire::{array_at, wire};
use crate::model::host::Host;
use crate::model::request::{Completion, Local, Op, RecvRequest, Remote, SendRequest, Sge};
use crate::model::types::{AhInfo, CqInfo, CqSpec, PdInfo, QpInfo, QpKind, QpSpec, QpState};
use crate::model::wire::{Broken, CqDoorbell, CqRing, QpRings, Shape};
use crate::profile::{Own, Profile, Visitor, assumed, caps};
use std::any::Any;

pub struct Tiny;

const ENTRY: u32 = 32;
const DOORBELLS: (u32, u32) = (8, 128);

wire! {
    /// Ring and doorbell of a queue.
    Place [16] { 0 ring: u64, 8 doorbell: u64 }
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
        cap_rnr_retry: assumed(0),
        cap_cq_notifications: assumed(0),
        cap_cq_with_sgid: assumed(0),
        cap_data_polling_128: assumed(0),
        cap_rdma_write: assumed(0),
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
    max_sq_sge: assumed(1),
    max_rq_sge: assumed(1),
    max_rdma_sge: assumed(1),
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

fn entry(host: &mut dyn Host, r: &QpRings, ring: u64, number: u16, depth: u32) -> (u64, Sge, u16, u32) {
    let mut e = [0; ENTRY as usize];
    host.shm_read(r.ctx, ring + u64::from((u32::from(number) & (depth - 1)) * ENTRY), &mut e);
    let word = |at| u32::from_le_bytes(array_at(&e, at));
    let sge = Sge { addr: u64::from_le_bytes(array_at(&e, 8)), len: word(16), lkey: word(20) };
    (u64::from_le_bytes(array_at(&e, 0)), sge, u16::from_le_bytes(array_at(&e, 24)), word(28))
}

impl Queues for Tiny {
    fn doorbells(&self) -> (u32, u32) {
        DOORBELLS
    }
    fn may_change(&self, _: QpKind, from: QpState, to: QpState, _: u32) -> bool {
        from == QpState::Reset && to == QpState::Rts
    }
    fn shape(&self, _: &Profile, spec: &QpSpec) -> Option<Shape> {
        let (sq_depth, rq_depth) = (spec.sq_ring_bytes / ENTRY, spec.rq_ring_bytes / ENTRY);
        let good = sq_depth.is_power_of_two() && rq_depth.is_power_of_two();
        good.then_some(Shape { sq_stride: ENTRY, sq_depth, rq_depth })
    }
    fn cq_bytes(&self, spec: &CqSpec) -> Option<u64> {
        Some(u64::from(spec.cqe) * 16)
    }
    fn sends_posted(&self, host: &mut dyn Host, r: &QpRings) -> u16 {
        host.shm_load32(r.ctx, r.doorbell_offset + u64::from(DOORBELLS.0)) as u16
    }
    fn read_send(&self, host: &mut dyn Host, r: &QpRings, number: u16) -> SendRequest {
        let (id, sge, ah, dest_qpn) = entry(host, r, r.sq_offset, number, r.shape.sq_depth);
        SendRequest {
            id,
            op: Ok(Op::Send),
            signaled: true,
            imm: None,
            local: Local::of_sges(&[sge]),
            remote: Remote::default(),
            ah,
            dest_qpn,
            qkey: 0,
        }
    }
    fn recvs_posted(&self, host: &mut dyn Host, r: &QpRings) -> u16 {
        host.shm_load32(r.ctx, r.doorbell_offset + u64::from(DOORBELLS.1)) as u16
    }
    fn read_recv(
        &self,
        host: &mut dyn Host,
        r: &QpRings,
        number: u16,
        posted: u16,
    ) -> Result<Option<(RecvRequest, u16)>, Broken> {
        if number == posted {
            return Ok(None);
        }
        let (id, sge, ..) = entry(host, r, r.rq_offset, number, r.shape.rq_depth);
        Ok(Some((RecvRequest::of_sges(id, &[sge]), 1)))
    }
    fn reset(&self, _: &mut dyn Host, _: &QpRings) {}
    fn cq_doorbell(&self, host: &mut dyn Host, r: &CqRing) -> CqDoorbell {
        CqDoorbell { consumer: host.shm_load32(r.ctx, r.doorbell_offset + 12) as u16, cmd_sn: 0, arm: false }
    }
    fn write_completion(&self, host: &mut dyn Host, r: &CqRing, number: u32, c: &Completion) {
        let at = r.offset + u64::from((number & (r.entries - 1)) * 16);
        host.shm_write(r.ctx, at + 8, &c.id.to_be_bytes());
        host.shm_write(r.ctx, at + 4, &(1000 + u32::from(c.status)).to_be_bytes());
        host.shm_write(r.ctx, at, &(number + 1).to_be_bytes());
    }
}

impl Calls for Tiny {
    fn driver_id(&self) -> u32 {
        99
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
        call.uhw_out(&Place { ring: info.ring_offset, doorbell: info.doorbell_offset }.bytes())
    }
    fn qp_request(&self, call: &mut Call<'_>, qp_type: u64) -> Res<QpRequest> {
        if qp_type != 2 {
            return fail(EOPNOTSUPP, "only RC (2)");
        }
        let bytes = u32::from_ne_bytes(array_at(&call.uhw_in(4, 4)?, 0));
        Ok(QpRequest {
            kind: QpKind::Srd,
            sq_ring_bytes: bytes,
            rq_ring_bytes: bytes,
            unsolicited_write_recv: false,
            sl: 0,
        })
    }
    fn qp_made(&self, call: &mut Call<'_>, info: &QpInfo) -> Res<()> {
        let send = Place { ring: info.sq_offset, doorbell: info.doorbell_offset + u64::from(info.sq_doorbell) };
        let recv = Place { ring: info.rq_offset, doorbell: info.doorbell_offset + u64::from(info.rq_doorbell) };
        call.uhw_out(&[send.bytes(), recv.bytes()].concat())
    }
}

mod tests {
    use super::*;
    use crate::abi::errno::EFAULT;
    use crate::abi::structs::{CreateAh, IoctlHeader, ModifyQp, MrResp, PdResp, QpCap, RegMr};
    use crate::abi::tests::builder::Ioctl;
    use crate::abi::tests::fake::{FakeEnv, Memory, PEER};
    use crate::abi::{OnModel, Session};
    use crate::fault::Faults;
    use crate::model::host::{ContextId, Gid};
    use crate::model::tests::world::{MEMORY, Proc};
    use crate::model::types::qp_mask;
    use crate::model::{Device, DeviceConfig};
    use crate::run::config::Peermem;

    struct Rig {
        session: Session,
        memory: Memory,
        env: FakeEnv,
        device: Device,
        host: Proc,
        ctx: ContextId,
    }

    impl Rig {
        fn new() -> Rig {
            let gid = Gid(*b"\xfe\x80\0\0\0\0\0\0tinytiny");
            let (name, faults) = ("tiny_0".into(), Faults::default());
            let mut device = Device::new(DeviceConfig { name, profile: &PROFILE, gid, slot: 0, seed: 0, faults });
            let ctx = device.context_open().unwrap();
            let host = Proc { mem: vec![0; MEMORY], room: 8, local_gids: vec![gid], ..Proc::default() };
            let session = Session::new(PROFILE.kind.calls());
            let mut rig = Rig { session, memory: Memory::new(), env: FakeEnv::default(), device, host, ctx };
            rig.run(&mut Ioctl::new(0, 3)).unwrap();
            rig
        }

        fn run(&mut self, call: &mut Ioctl) -> Result<(), i32> {
            call.header = IoctlHeader { driver: 99, ..call.header.clone() };
            let mut nic = OnModel { device: &mut self.device, host: &mut self.host, ctx: self.ctx };
            let mut bytes = call.bytes();
            let result = self.session.ioctl(&mut bytes, &mut self.memory, &mut self.env, &mut nic);
            for (index, attr) in call.attrs.iter_mut().enumerate() {
                *attr = crate::abi::wire::Field::get(&bytes, 24 + index * 16);
            }
            result
        }

        fn command(&mut self, number: u64, core: &[u8], out: usize, private: usize) -> (Vec<u8>, Vec<u8>) {
            let mut call = Ioctl::new(0, 0);
            call.u64(2, number);
            call.input(&mut self.memory, 0, core);
            if out > 0 {
                call.out(&mut self.memory, 1, out);
            }
            if private > 0 {
                call.out(&mut self.memory, 0x1001, private);
            }
            self.run(&mut call).unwrap_or_else(|e| panic!("{e}: {}", self.session.line()));
            (self.out(&call, 1), self.out(&call, 0x1001))
        }

        fn out(&self, call: &Ioctl, id: u16) -> Vec<u8> {
            let found = call.attrs.iter().find(|attr| attr.id == id);
            found.map_or_else(Vec::new, |attr| self.memory.get(attr.data, usize::from(attr.len)))
        }

        fn post(&mut self, place: &Place, number: u32, words: (u64, u64, u32, u32, u16, u32)) {
            let (id, addr, len, key, ah, qpn) = words;
            let mut e = [id.to_le_bytes(), addr.to_le_bytes()].concat();
            e.extend([len.to_le_bytes(), key.to_le_bytes(), u32::from(ah).to_le_bytes(), qpn.to_le_bytes()].concat());
            self.host.shm_write(self.ctx, place.ring + u64::from(number % 4 * ENTRY), &e);
            self.host.shm_store32(self.ctx, place.doorbell, number + 1);
            while self.device.step(&mut self.host).busy {}
        }

        fn completion(&mut self, cq: &Place, number: u32) -> (u32, u32, u64) {
            let mut e = [0; 16];
            self.host.shm_read(self.ctx, cq.ring + u64::from(number % 8 * 16), &mut e);
            self.host.shm_store32(self.ctx, cq.doorbell + 12, number + 1);
            let word = |at| u32::from_be_bytes(array_at(&e, at));
            (word(0), word(4), u64::from_be_bytes(array_at(&e, 8)))
        }
    }

    #[test]
    fn another_kind_sends_and_receives() {
        let mut rig = Rig::new();
        let pd = PdResp::read(&rig.command(3, &[0; 8], 4, 0).0).handle;
        let start = rig.memory.alloc(4096);
        let reg = RegMr { start, length: 4096, iova: start, pd, access: 1 };
        let key = MrResp::read(&rig.command(9, &reg.bytes(), 12, 0).0).lkey;
        let to = CreateAh { pd, dgid: rig.device.gid().0, is_global: 1, port: 1, ..CreateAh::default() };
        let ah = u16::from_ne_bytes(array_at(&rig.command(5, &to.bytes(), 4, 2).1, 0));

        let mut call = Ioctl::new(3, 0);
        call.object(0, 0);
        call.u32(1, 8);
        call.u64(2, 5);
        call.u32(4, 0);
        call.out(&mut rig.memory, 6, 4);
        call.out(&mut rig.memory, 0x1001, Place::SIZE);
        rig.run(&mut call).unwrap();
        let (cq_handle, cq) = (call.attr(0).data, Place::read(&rig.out(&call, 0x1001)));

        let mut call = Ioctl::new(4, 0);
        call.object(0, 0);
        call.object(2, u64::from(pd));
        call.object(4, cq_handle);
        call.object(5, cq_handle);
        call.u64(7, 6);
        let cap = QpCap { max_send_wr: 4, max_recv_wr: 4, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
        call.input(&mut rig.memory, 8, &cap.bytes());
        call.u64(9, 2);
        call.out(&mut rig.memory, 13, 20);
        call.out(&mut rig.memory, 14, 4);
        call.input(&mut rig.memory, 0x1000, &(4 * ENTRY).to_ne_bytes());
        call.out(&mut rig.memory, 0x1001, 32);
        rig.run(&mut call).unwrap();
        let (qp, rings) = (call.attr(0).data as u32, rig.out(&call, 0x1001));
        let (send, recv) = (Place::read(&rings), Place::read(&rings[16..]));
        let qpn = u32::from_ne_bytes(array_at(&rig.out(&call, 14), 0));

        let up = ModifyQp { qp, mask: qp_mask::STATE, state: QpState::Rts as u8, ..ModifyQp::default() };
        rig.command(26, &up.bytes(), 0, 0);
        for round in 0..20u32 {
            let text = [round as u8 ^ 0x5a; 100];
            rig.host.write(start, &text);
            rig.post(&recv, round, (u64::from(round) << 40, start + 2048, 256, key, 0, 0));
            rig.post(&send, round, (7, start, 100, key, ah, qpn));
            let mut got = [rig.completion(&cq, 2 * round), rig.completion(&cq, 2 * round + 1)];
            got.sort_by_key(|c| c.2 != 7);
            assert_eq!((got[0].1, got[0].2), (1000, 7), "the send, round {round}");
            assert_eq!((got[1].1, got[1].2), (1000, u64::from(round) << 40), "the receive");
            let mut arrived = [0; 100];
            assert!(rig.host.read(start + 2048, &mut arrived) && arrived == text);
        }
        // And a status in the kind's own numbers: a key that is none.
        rig.post(&send, 20, (8, start, 100, key ^ 1, ah, qpn));
        assert_eq!(rig.completion(&cq, 40), (41, 1005, 8));
    }

    /// A GPU's address is resolved where the module is the one that this kind of device asks: nvidia_peermem, which no EFA does.
    #[test]
    fn peer_memory_by_nvidia_peermem() {
        for (module, served) in [(Peermem::None, false), (Peermem::Nvidia, true), (Peermem::Efa, false)] {
            let efa = crate::kind::find("efa", "p5").unwrap();
            assert_eq!(module.serves(&efa.kind.sysfs(efa)), module == Peermem::Efa);
            let mut rig = Rig::new();
            rig.env.peer = module.serves(&Tiny.sysfs(&PROFILE));
            let pd = PdResp::read(&rig.command(3, &[0; 8], 4, 0).0).handle;
            let mut call = Ioctl::new(0, 0);
            call.u64(2, 9);
            let request = RegMr { start: PEER + 16, length: 100, iova: 16, pd, access: 1 };
            call.input(&mut rig.memory, 0, &request.bytes());
            call.out(&mut rig.memory, 1, 12);
            assert_eq!(rig.run(&mut call), if served { Ok(()) } else { Err(EFAULT) }, "{module:?}");
            assert_eq!(rig.env.mapped.contains_key(&0x6000_0010), served);
        }
    }

    #[test]
    fn its_calls_are_its_own() {
        let mut rig = Rig::new();
        let mut call = Ioctl::new(7, 0x1000);
        assert!(rig.run(&mut call).is_err());
        assert_eq!(
            rig.session.line().split(" -> ").next(),
            Some("uverbs MR.method 0x1000"),
            "EFA's query is no call here"
        );
        let (device, _) = rig.command(1, &[0; 8], 176, 0);
        assert_eq!(DeviceResp::read(&device).vendor_id, 0xff_ffff);
        let other = Ioctl::new(0, 2);
        let mut nic = OnModel { device: &mut rig.device, host: &mut rig.host, ctx: rig.ctx };
        let mut bytes = other.bytes();
        assert!(rig.session.ioctl(&mut bytes, &mut rig.memory, &mut rig.env, &mut nic).is_err());
        assert!(rig.session.line().contains("driver 17, this is 99"), "{}", rig.session.line());
    }
}
