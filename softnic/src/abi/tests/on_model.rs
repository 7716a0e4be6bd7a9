// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same calls over the real model: what libefa reads at open, and that a full set of objects comes and goes.

use super::*;
use crate::fault::Faults;
use crate::model::host::{Address, AsyncEvent, ContextId, Gid, Host, Sent};
use crate::model::packet::Packet;
use crate::model::types::access;
use crate::model::window::Window;
use crate::model::{Device, DeviceConfig};
use crate::profile;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

/// A host that only has shared memory.
#[derive(Default)]
pub struct QuietHost {
    words: Vec<AtomicU64>,
    next: u64,
    pub pieces: BTreeMap<u64, u64>,
    removed: u32,
}

impl Host for QuietHost {
    fn read(&mut self, _: u64, _: &mut [u8]) -> bool {
        false
    }
    fn write(&mut self, _: u64, _: &[u8]) -> bool {
        false
    }
    fn copy(&mut self, _: u64, _: u64, _: usize) -> bool {
        false
    }
    fn shm_alloc(&mut self, _: ContextId, bytes: u64) -> Option<u64> {
        self.next += bytes.next_multiple_of(4096);
        self.words.resize_with((self.next + bytes) as usize / 8, AtomicU64::default);
        self.pieces.insert(self.next, bytes);
        Some(self.next)
    }
    fn shm_free(&mut self, _: ContextId, offset: u64, bytes: u64) {
        assert_eq!(self.pieces.remove(&offset), Some(bytes));
    }
    fn shm(&self, _: ContextId) -> Window<'_> {
        Window::new(&self.words)
    }
    fn is_local(&mut self, _: &Address) -> bool {
        true
    }
    fn send(&mut self, _: &Packet<'_>) -> Sent {
        Sent::Unreachable
    }
    fn completion_event(&mut self, _: u64, _: u64) {}
    fn async_event(&mut self, _: ContextId, event: AsyncEvent) {
        self.removed += u32::from(event == AsyncEvent::DeviceFatal);
    }
    fn now_ms(&mut self) -> u64 {
        0
    }
    fn program_passes(&mut self) -> u32 {
        0
    }
}

pub struct ModelRig {
    pub session: Session,
    pub memory: Memory,
    pub env: FakeEnv,
    pub device: Device,
    pub host: QuietHost,
    pub ctx: ContextId,
}

impl ModelRig {
    pub fn new(profile: &str) -> Self {
        let mut device = Device::new(DeviceConfig {
            name: "efa_0".into(),
            profile: crate::kind::find("efa", profile).unwrap(),
            gid: Gid(*b"\xfe\x80\0\0\0\0\0\0abcdefgh"),
            slot: 3,
            seed: 1,
            faults: Faults::default(),
        });
        let ctx = device.context_open().unwrap();
        let (session, memory) = (Session::new(EFA.calls()), Memory::new());
        let mut rig = ModelRig { session, memory, env: FakeEnv::default(), device, host: QuietHost::default(), ctx };
        let mut call = Ioctl::new(object::DEVICE, 3);
        call.out(&mut rig.memory, 0, 4);
        call.out(&mut rig.memory, 0x1001, 24);
        rig.run(&mut call).unwrap();
        let answer = efa::AllocContextResp::read(&rig.output(&call, 0x1001));
        assert_eq!(answer.cmds_supp_udata_mask & 2, 2, "libefa needs the AH bit");
        assert!(answer.inline_buf_size > 0 && answer.max_llq_size >= 64);
        rig
    }

    pub fn run(&mut self, call: &mut Ioctl) -> Result<(), i32> {
        let mut bytes = call.bytes();
        let mut nic = OnModel { device: &mut self.device, host: &mut self.host, ctx: self.ctx };
        let result = self.session.ioctl(&mut bytes, &mut self.memory, &mut self.env, &mut nic);
        for (index, attr) in call.attrs.iter_mut().enumerate() {
            *attr = AttrHeader::get(&bytes, IoctlHeader::SIZE + index * AttrHeader::SIZE);
        }
        result
    }

    fn output(&self, call: &Ioctl, id: u16) -> Vec<u8> {
        let attr = call.attrs.iter().find(|attr| attr.id == id).unwrap();
        self.memory.get(attr.data, usize::from(attr.len))
    }

    fn command(&mut self, number: u32, core: &[u8], out: usize) -> Result<(Vec<u8>, Vec<u8>), i32> {
        let mut call = Ioctl::new(object::DEVICE, 0);
        call.u64(2, u64::from(number));
        call.input(&mut self.memory, 0, core);
        call.out(&mut self.memory, 1, out);
        call.out(&mut self.memory, 0x1001, 24);
        self.run(&mut call)?;
        Ok((self.output(&call, 1), self.output(&call, 0x1001)))
    }

    pub fn pd(&mut self) -> u32 {
        PdResp::read(&self.command(3, &[0; 8], 4).unwrap().0).handle
    }

    pub fn cq(&mut self) -> Result<u32, i32> {
        let mut call = Ioctl::new(object::CQ, 0);
        call.object(0, 0);
        call.u32(1, 64);
        call.u64(2, 9);
        call.u32(4, 0);
        call.out(&mut self.memory, 6, 4);
        call.input(&mut self.memory, 0x1000, &queues::private_cq().bytes());
        call.out(&mut self.memory, 0x1001, 40);
        self.run(&mut call)?;
        Ok(call.attr(0).data as u32)
    }

    fn destroy(&mut self, kind: u16, method: u16, handle: u32) -> Result<(), i32> {
        let mut call = Ioctl::new(kind, method);
        call.object(0, u64::from(handle));
        if kind == object::CQ || kind == object::QP {
            call.out(&mut self.memory, 1, 8);
        }
        self.run(&mut call)
    }

    fn qp(&mut self, pd: u32, cq: u32) -> (u32, u32) {
        let caps = QpCap { max_send_wr: 64, max_recv_wr: 64, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 32 };
        let private = efa::CreateQp { rq_ring_size: 64 * 16, sq_ring_size: 64 * 64, ..Default::default() };
        let mut call = Ioctl::new(object::QP, 0);
        call.object(0, 0);
        for (id, handle) in [(2, pd), (4, cq), (5, cq)] {
            call.object(id, u64::from(handle));
        }
        call.u64(9, 255);
        call.u64(7, 77);
        call.input(&mut self.memory, 8, &caps.bytes());
        call.out(&mut self.memory, 13, 20);
        call.out(&mut self.memory, 14, 4);
        call.input(&mut self.memory, 0x1000, &private.bytes());
        call.out(&mut self.memory, 0x1001, 64);
        self.run(&mut call).unwrap();
        let answer = efa::CreateQpResp::read(&self.output(&call, 0x1001));
        let keys = [answer.llq_desc_mmap_key, answer.rq_mmap_key, answer.sq_db_mmap_key];
        assert!(keys.iter().all(|key| self.host.pieces.contains_key(key)), "{answer:?}");
        (call.attr(0).data as u32, u32::get(&self.output(&call, 14), 0))
    }
}

#[test]
fn what_libefa_reads_at_open() {
    for (profile, write) in [("p4d", false), ("p5", true), ("p5en", true)] {
        let mut rig = ModelRig::new(profile);
        let (core, private) = rig.command(names::EX | 1, &[0; 8], 304).unwrap();
        let device = ExDeviceResp::read(&core).base;
        assert_eq!((device.vendor_id, device.vendor_part_id & 0xfff0, device.phys_port_cnt), (0x1d0f, 0xefa0, 1));
        assert_eq!(&device.node_guid, b"abcdefgh");
        assert!(device.max_qp > 0 && device.max_mr_size > 1 << 30 && device.max_sge_rd == 1);
        let private = efa::QueryDeviceResp::read(&private);
        assert_eq!(private.device_caps & profile::caps::RDMA_WRITE != 0, write, "{profile}");
        assert!(private.max_sq_wr > 0 && private.max_rdma_size >= 1 << 30);

        let mut call = Ioctl::new(object::DEVICE, 2);
        call.u64(0, 1);
        call.out(&mut rig.memory, 1, 48);
        rig.run(&mut call).unwrap();
        let port = ExPortResp::read(&rig.output(&call, 1)).legacy;
        assert_eq!((port.state, port.phys_state, port.gid_tbl_len, port.active_mtu, port.link_layer), (4, 5, 1, 5, 0));
        assert_eq!(port.max_msg_sz, 8928);
    }
}

#[test]
fn objects_come_and_go() {
    let mut rig = ModelRig::new("p5");
    let pd = rig.pd();
    let cq = rig.cq().unwrap();
    let (qp, qpn) = rig.qp(pd, cq);
    assert_eq!(qpn >> 12, 3);
    for (mask, state) in [(0x71, 1), (1, 2), (0x1_0801, 3)] {
        let request = ModifyQp { qp, mask, state, port: 1, qkey: 5, rnr_retry: 7, ..ModifyQp::default() };
        let mut call = Ioctl::new(object::DEVICE, 0);
        call.u64(2, 26);
        call.input(&mut rig.memory, 0, &request.bytes());
        rig.run(&mut call).unwrap();
    }
    let (core, _) = rig.command(25, &QueryQp { qp, mask: 1 }.bytes(), 128).unwrap();
    assert_eq!(QueryQpResp::read(&core).state, 3);
    let ah = CreateAh { pd, dgid: *b"\xfe\x80\0\0\0\0\0\0abcdefgh", is_global: 1, port: 1, ..CreateAh::default() };
    let ah = AhResp::read(&rig.command(5, &ah.bytes(), 4).unwrap().0).handle;
    let start = rig.memory.alloc(64);
    let mr = RegMr { start, length: 64, iova: start, pd, access: access::LOCAL_WRITE | access::REMOTE_WRITE };
    let mr = MrResp::read(&rig.command(9, &mr.bytes(), 12).unwrap().0);
    assert!(mr.lkey != 0 && mr.lkey < 1 << 24);

    let mut query = Ioctl::new(object::MR, 0x1000);
    query.object(0x1000, u64::from(mr.handle));
    (0x1001..=0x1004).for_each(|id| query.out(&mut rig.memory, id, 2));
    rig.run(&mut query).unwrap();
    assert_eq!(u16::get(&rig.output(&query, 0x1001), 0), 7);

    assert_eq!(rig.destroy(object::PD, 0, pd), Err(EBUSY));
    assert_eq!(rig.destroy(object::CQ, 1, cq), Err(EBUSY));
    for (kind, method, handle) in
        [(object::QP, 1, qp), (object::CQ, 1, cq), (object::AH, 0, ah), (object::MR, 1, mr.handle), (object::PD, 0, pd)]
    {
        assert_eq!(rig.destroy(kind, method, handle), Ok(()), "kind {kind}");
    }
    assert!(rig.host.pieces.is_empty(), "{:?}", rig.host.pieces);
}

#[test]
fn a_removed_device_refuses_all_but_destroying() {
    let mut rig = ModelRig::new("p5");
    let pd = rig.pd();
    let cq = rig.cq().unwrap();
    rig.device.remove(&mut rig.host);
    assert_eq!(rig.host.removed, 1);
    assert_eq!(rig.cq(), Err(EIO));
    for (number, core, out) in [(1, 8, 176), (3, 8, 4), (17, 8, 4)] {
        assert_eq!(rig.command(number, &vec![0; core], out).err(), Some(EIO), "command {number}");
    }
    rig.destroy(object::CQ, 1, cq).unwrap();
    rig.destroy(object::PD, 0, pd).unwrap();
}

#[test]
fn close_leaves_nothing_in_the_model() {
    let mut rig = ModelRig::new("p5");
    let (pd, cq) = (rig.pd(), rig.cq().unwrap());
    rig.qp(pd, cq);
    let mut nic = OnModel { device: &mut rig.device, host: &mut rig.host, ctx: rig.ctx };
    rig.session.close(&mut rig.env, &mut nic);
    assert_eq!(rig.session.open_objects(), 0);
    assert!(rig.host.pieces.is_empty());
    for any in 0..100 {
        assert_eq!(rig.device.pd_free(&mut rig.host, rig.ctx, any), Err(ENOENT));
    }
}
