// SPDX-License-Identifier: MIT OR Apache-2.0
//! CQ and QP.

use super::*;
use crate::kind::efa::{SRD, UD};
use crate::model::types::QpState;

/// CREATE_CQ as `ibv_icmd_create_cq` fills it.
pub fn cq_call(
    memory: &mut Memory,
    cqe: u32,
    user_handle: u64,
    channel: Option<i32>,
    private: &[u8],
    answer: usize,
) -> Ioctl {
    let mut call = Ioctl::new(object::CQ, 0);
    call.object(0, 0);
    call.out(memory, 6, 4);
    call.u32(1, cqe);
    call.u64(2, user_handle);
    if let Some(fd) = channel {
        call.object(3, fd as u64);
    }
    call.u32(4, 0);
    call.input(memory, 0x1000, private);
    call.out(memory, 0x1001, answer);
    call
}

pub fn private_cq() -> efa::CreateCq {
    efa::CreateCq { entry_size: 16, sub_cqs: 1, ..efa::CreateCq::default() }
}

impl Rig {
    pub fn cq(&mut self, user_handle: u64, channel: Option<i32>) -> u32 {
        let mut call = cq_call(&mut self.memory, 64, user_handle, channel, &private_cq().bytes(), 40);
        call.run(self).unwrap();
        call.attr(0).data as u32
    }

    pub fn destroy_cq(&mut self, handle: u32) -> Result<DestroyCqResp, i32> {
        let mut call = Ioctl::new(object::CQ, 1);
        call.out(&mut self.memory, 1, 8);
        call.object(0, u64::from(handle));
        call.run(self)?;
        Ok(DestroyCqResp::read(&call.output(self, 1)))
    }

    pub fn qp(&mut self, pd: u32, cq: u32, user_handle: u64) -> u32 {
        let mut call = qp_call(&mut self.memory, pd, cq, &private_qp().bytes());
        call.attr(7).data = user_handle;
        call.run(self).unwrap();
        call.attr(0).data as u32
    }

    pub fn destroy_qp(&mut self, handle: u32) -> Result<u32, i32> {
        let mut call = Ioctl::new(object::QP, 1);
        call.out(&mut self.memory, 1, 4);
        call.object(0, u64::from(handle));
        call.run(self)?;
        Ok(u32::get(&call.output(self, 1), 0))
    }

    fn modify(&mut self, request: &ModifyQp) -> Result<(), i32> {
        self.command(26, &request.bytes(), 0, 0).map(|_| ())
    }
}

pub fn private_qp() -> efa::CreateQp {
    efa::CreateQp { rq_ring_size: 1024, sq_ring_size: 4096, ..efa::CreateQp::default() }
}

/// CREATE_QP of an SRD QP as `ibv_icmd_create_qp` fills it.
pub fn qp_call(memory: &mut Memory, pd: u32, cq: u32, private: &[u8]) -> Ioctl {
    let caps = QpCap { max_send_wr: 64, max_recv_wr: 64, max_send_sge: 2, max_recv_sge: 1, max_inline_data: 32 };
    let mut call = Ioctl::new(object::QP, 0);
    call.object(2, u64::from(pd));
    call.object(4, u64::from(cq));
    call.object(5, u64::from(cq));
    call.object(0, 0);
    call.u64(9, 255);
    call.u64(7, 0x1234);
    call.input(memory, 8, &caps.bytes());
    call.u32(10, 1 << 12);
    call.out(memory, 13, 20);
    call.out(memory, 14, 4);
    call.input(memory, 0x1000, private);
    call.out(memory, 0x1001, 64);
    call
}

#[test]
fn cq_tells_where_its_ring_is() {
    let mut rig = Rig::new();
    let fd = rig.channel();
    let private = efa::CreateCq { entry_size: 32, flags: 3, ..private_cq() };
    let mut call = cq_call(&mut rig.memory, 128, 0xabc, Some(fd), &private.bytes(), 40);
    // rdma-core marks the event descriptor as optional.
    rig.env.asyncs.push(50);
    call.object(7, 50);
    call.optional();
    call.run(&mut rig).unwrap();
    assert_eq!(u32::get(&call.output(&rig, 6), 0), 128);
    let answer = efa::CreateCqResp::read(&call.output(&rig, 0x1001));
    assert_eq!(
        (answer.comp_mask, answer.q_mmap_key, answer.q_mmap_size, answer.db_mmap_key),
        (1, 0x4000, 0x2000, 0x9000)
    );
    assert_eq!((answer.cq_idx, answer.db_off), (77, 0));
    let spec = *rig.nic.cqs.values().last().unwrap();
    assert_eq!((spec.cqe, spec.entry_size, spec.user_handle), (128, 32, 0xabc));
    assert_eq!((spec.channel, spec.with_sgid), (Some(fd as u64 * 10), true));
}

#[test]
fn rdma_core_33_knows_no_doorbell() {
    let mut rig = Rig::new();
    let mut call = cq_call(&mut rig.memory, 16, 1, None, &private_cq().bytes(), 32);
    call.run(&mut rig).unwrap();
    let bytes = call.output(&rig, 0x1001);
    assert_eq!(bytes.len(), 32);
    assert_eq!(efa::CreateCqResp::read(&bytes).q_mmap_key, 0x4000);
    assert_eq!(rig.nic.cqs.values().last().unwrap().channel, None);
}

#[test]
fn bad_cqs_are_refused() {
    let mut rig = Rig::new();
    let good = private_cq();
    for (private, errno) in [
        (efa::CreateCq { comp_mask: 1, ..good.clone() }, EINVAL),
        (efa::CreateCq { flags: 4, ..good.clone() }, EINVAL),
        (efa::CreateCq { reserved: [0, 0, 1, 0, 0], ..good.clone() }, EINVAL),
    ] {
        assert_eq!(
            cq_call(&mut rig.memory, 16, 1, None, &private.bytes(), 40).run(&mut rig),
            Err(errno),
            "{private:?}"
        );
    }
    assert_eq!(cq_call(&mut rig.memory, 16, 1, None, &good.bytes()[..8], 40).run(&mut rig), Err(EINVAL));
    assert_eq!(cq_call(&mut rig.memory, 16, 1, None, &[], 40).run(&mut rig), Err(EINVAL));
    assert_eq!(cq_call(&mut rig.memory, 16, 1, Some(3), &good.bytes(), 40).run(&mut rig), Err(EBADF));
    assert_eq!(cq_call(&mut rig.memory, 16, 1, Some(-1), &good.bytes(), 40).run(&mut rig), Err(EBADF));

    let mut vector = cq_call(&mut rig.memory, 16, 1, None, &good.bytes(), 40);
    vector.attr(4).data = 8;
    assert_eq!(vector.run(&mut rig), Err(EINVAL));
    let mut events = cq_call(&mut rig.memory, 16, 1, None, &good.bytes(), 40);
    events.object(7, 3);
    assert_eq!(events.run(&mut rig), Err(EBADF));
    for (flags, errno) in [(1, EOPNOTSUPP), (2, EOPNOTSUPP), (4, EINVAL)] {
        let mut call = cq_call(&mut rig.memory, 16, 1, None, &good.bytes(), 40);
        call.u32(5, flags);
        assert_eq!(call.run(&mut rig), Err(errno));
    }
    // An external buffer is refused as such, and the next ordinary CQ works: EPROTONOSUPPORT would have ended them all.
    let mut external = cq_call(&mut rig.memory, 16, 1, None, &good.bytes(), 40);
    external.object(10, 7);
    external.u64(11, 0);
    external.u64(9, 4096);
    assert_eq!(external.run(&mut rig), Err(EOPNOTSUPP));
    assert!(rig.nic.live.is_empty() && rig.session.open_objects() == 0);
    rig.cq(1, None);
}

#[test]
fn qp_tells_its_rings_and_number() {
    let mut rig = Rig::new();
    let (pd, cq) = (rig.pd(), rig.cq(1, None));
    let private = efa::CreateQp { flags: 1, sl: 8, ..private_qp() };
    let mut call = qp_call(&mut rig.memory, pd, cq, &private.bytes());
    call.run(&mut rig).unwrap();
    assert_eq!(u32::get(&call.output(&rig, 14), 0), 0x1001);
    assert_eq!(QpCap::read(&call.output(&rig, 13)).max_send_wr, 64);
    let answer = efa::CreateQpResp::read(&call.output(&rig, 0x1001));
    assert_eq!((answer.llq_desc_mmap_key, answer.rq_mmap_key, answer.rq_mmap_size), (0x1_0000, 0x2_0000, 0x3000));
    assert_eq!((answer.sq_db_mmap_key, answer.rq_db_mmap_key), (0x3_0000, 0x3_0000));
    assert_eq!((answer.sq_db_offset, answer.rq_db_offset, answer.llq_desc_offset), (0, 64, 0));
    let spec = rig.nic.qps.values().last().unwrap().spec;
    assert_eq!((spec.kind, spec.sl, spec.unsolicited_write_recv, spec.sq_sig_all), (&SRD, 8, true, true));
    assert_eq!((spec.sq_ring_bytes, spec.rq_ring_bytes, spec.user_handle), (4096, 1024, 0x1234));
}

#[test]
fn a_private_request_of_rdma_core_44_means_no_flags() {
    let mut rig = Rig::new();
    let (pd, cq) = (rig.pd(), rig.cq(1, None));
    let mut call = qp_call(&mut rig.memory, pd, cq, &private_qp().bytes()[..16]);
    call.attr(9).data = 4;
    call.remove(10);
    call.run(&mut rig).unwrap();
    let spec = rig.nic.qps.values().last().unwrap().spec;
    assert_eq!((spec.kind, spec.sl, spec.unsolicited_write_recv, spec.sq_sig_all), (&UD, 0, false, false));
}

#[test]
fn bad_qps_are_refused() {
    let mut rig = Rig::new();
    let (pd, cq) = (rig.pd(), rig.cq(1, None));
    let good = private_qp();
    type Spoil = fn(&mut Ioctl);
    let cases: [(&str, Spoil, i32); 14] = [
        ("RC", |call| call.attr(9).data = 2, EOPNOTSUPP),
        ("no PD", |call| call.remove(2), EINVAL),
        ("no send CQ", |call| call.remove(4), EINVAL),
        ("no receive CQ", |call| call.remove(5), EINVAL),
        ("PD is a CQ", |call| call.attr(2).data = call.attr(4).data, EINVAL),
        ("dead CQ", |call| call.attr(4).data = 500, ENOENT),
        ("an SRQ", |call| call.object(3, 1), EINVAL),
        ("a dead SRQ", |call| call.object(3, 500), ENOENT),
        ("scatter FCS", |call| call.attr(10).data = 1 << 8, EOPNOTSUPP),
        ("unknown flag", |call| call.attr(10).data = 1 << 20, EINVAL),
        ("source QPN", |call| call.u32(11, 5), EOPNOTSUPP),
        ("no async file", |call| call.object(12, 999), EBADF),
        ("short caps", |call| call.attr(8).len = 16, EINVAL),
        ("short answer", |call| call.attr(13).len = 16, EINVAL),
    ];
    for (what, spoil, errno) in cases {
        let mut call = qp_call(&mut rig.memory, pd, cq, &good.bytes());
        spoil(&mut call);
        assert_eq!(call.run(&mut rig), Err(errno), "{what}: {}", rig.session.line());
    }
    for private in [
        efa::CreateQp { comp_mask: 1, ..good.clone() },
        efa::CreateQp { flags: 2, ..good.clone() },
        efa::CreateQp { reserved: [1, 0, 0, 0, 0], ..good.clone() },
    ] {
        assert_eq!(qp_call(&mut rig.memory, pd, cq, &private.bytes()).run(&mut rig), Err(EINVAL), "{private:?}");
    }
    let other = efa::CreateQp { driver_qp_type: 1, ..good.clone() };
    assert_eq!(qp_call(&mut rig.memory, pd, cq, &other.bytes()).run(&mut rig), Err(EOPNOTSUPP));
    assert_eq!(qp_call(&mut rig.memory, pd, cq, &good.bytes()[..12]).run(&mut rig), Err(EINVAL));
    assert!(rig.nic.qps.is_empty());
}

#[test]
fn modify_and_query() {
    let mut rig = Rig::new();
    let (pd, cq) = (rig.pd(), rig.cq(1, None));
    let qp = rig.qp(pd, cq, 9);
    // RESET to INIT as libibverbs sends it.
    let init = ModifyQp { qp, mask: 0x71, state: 1, port: 1, qkey: 0x1111, ..ModifyQp::default() };
    rig.modify(&init).unwrap();
    rig.modify(&ModifyQp { qp, mask: 0x1_0801, state: 3, sq_psn: 77, rnr_retry: 7, qkey: 5, ..ModifyQp::default() })
        .unwrap();
    let masks: Vec<u32> = rig.nic.modified.iter().map(|(mask, _)| *mask).collect();
    assert_eq!(masks, [0x71, 0x1_0801]);
    assert_eq!(rig.nic.modified[0].1.state, QpState::Init);
    assert_eq!(rig.nic.modified[0].1.qkey, 0x1111);

    let (core, _) = rig.command(25, &QueryQp { qp, mask: u32::MAX }.bytes(), 128, 0).unwrap();
    let found = QueryQpResp::read(&core);
    assert_eq!((found.state, found.cur_state, found.sq_psn, found.rnr_retry), (3, 3, 77, 7));
    assert_eq!((found.cap.max_send_wr, found.sq_sig_all), (64, 1));

    for (request, errno) in [
        (ModifyQp { state: 7, ..init.clone() }, EINVAL),
        (ModifyQp { port: 2, ..init.clone() }, EINVAL),
        (ModifyQp { mask: 1 << 25, ..init.clone() }, EOPNOTSUPP),
        (ModifyQp { mask: 3, cur_state: 9, ..init.clone() }, EINVAL),
        (ModifyQp { qp: cq, ..init.clone() }, EINVAL),
        (ModifyQp { qp: 400, ..init.clone() }, ENOENT),
    ] {
        assert_eq!(rig.modify(&request), Err(errno), "{request:?}");
    }
    // A state that the mask does not name is not looked at.
    rig.modify(&ModifyQp { state: 99, mask: 0x40, ..init }).unwrap();
    assert_eq!(rig.command(25, &QueryQp { qp: 400, mask: 1 }.bytes(), 128, 0), Err(ENOENT));
    assert_eq!(rig.command(25, &QueryQp { qp, mask: 1 }.bytes(), 127, 0), Err(ENOSPC));
}

#[test]
fn a_provider_without_a_doorbell_is_told_by_its_shorter_answer() {
    let mut rig = Rig::new();
    for (answer, without) in [(40, 0), (32, 1)] {
        cq_call(&mut rig.memory, 64, 0, None, &private_cq().bytes(), answer).run(&mut rig).unwrap();
        assert_eq!(rig.nic.without_doorbell, without);
    }
}
