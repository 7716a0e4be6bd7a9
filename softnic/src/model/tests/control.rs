// SPDX-License-Identifier: MIT OR Apache-2.0
//! The control calls: limits, who may see what, what is busy, and that everything is given back.

use super::endpoint::*;
use super::world::*;
use crate::model::host::{AsyncEvent, ContextId, Gid};
use crate::model::types::errno::*;
use crate::model::types::*;
use crate::model::{Device, PAGE};

fn one() -> (World, Ep) {
    let mut w = World::new(&Setup::default());
    let ep = Ep::new(&mut w, 0, Opts::default());
    (w, ep)
}

#[test]
fn regions_are_checked() {
    let (mut w, ep) = one();
    let (d, p) = w.at(0);
    let good = MrSpec { pd: ep.pd.handle, start: BASE + 10, length: 100, iova: 10, access: 1, dmabuf: false };
    let mut reg = |spec: MrSpec| d.mr_reg(p, ep.ctx, &spec).map(|m| m.lkey);
    assert!(reg(good).is_ok());
    assert_eq!(reg(MrSpec { pd: 999, ..good }), Err(ENOENT));
    assert_eq!(reg(MrSpec { length: 0, ..good }), Err(EINVAL));
    assert_eq!(reg(MrSpec { iova: 11, ..good }), Err(EINVAL));
    assert_eq!(reg(MrSpec { start: u64::MAX - 5, iova: u64::MAX - 5, ..good }), Err(EINVAL));
    assert_eq!(reg(MrSpec { access: access::REMOTE_WRITE, ..good }), Err(EINVAL));
    assert_eq!(reg(MrSpec { access: access::MW_BIND, ..good }), Err(EOPNOTSUPP));
    assert_eq!(reg(MrSpec { access: 1 | access::REMOTE_ATOMIC, ..good }), Err(EOPNOTSUPP));
    assert!(reg(MrSpec { access: 1 | 1 << 20, ..good }).is_ok(), "relaxed ordering is ignored");
    assert_eq!(reg(MrSpec { length: PAGE * 60_000_000, ..good }), Err(ENOMEM));
}

#[test]
fn keys_are_24_bits_and_come_back_late() {
    let (mut w, ep) = one();
    let (d, p) = w.at(0);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200_000 {
        let m = d.mr_reg(p, ep.ctx, &ep.mr.spec).unwrap();
        assert!(m.lkey < 1 << 24 && m.lkey != ep.mr.lkey && m.lkey == m.rkey);
        assert!(seen.insert(m.lkey));
        d.mr_dereg(p, ep.ctx, m.handle).unwrap();
    }
}

#[test]
fn an_offset_region_maps_its_addresses() {
    let mut w = World::new(&Setup::default());
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let ah = a.ah(&mut w, 0);
    let (d, p) = w.at(0);
    let spec =
        MrSpec { pd: a.pd.handle, start: BASE + 0x3000, length: 0x1000, iova: 0x7000_0000, access: 7, dmabuf: true };
    let mr = d.mr_reg(p, a.ctx, &spec).unwrap();
    assert_eq!(d.mr_query(a.ctx, mr.handle), Ok(mr));
    a.fill(&mut w, 0, b"eight by");
    let mut wr = a.wr(2, 1, ah, &a, 0, 0, 8);
    wr.remote = (0x7000_0ff8, 8, mr.rkey);
    a.post(&mut w, &wr);
    wr.remote.0 += 1;
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.polls(&mut w).iter().map(|c| c.status).collect::<Vec<_>>(), [0, 7]);
    assert_eq!(a.bytes(&mut w, 0x3ff8, 8), b"eight by");
}

#[test]
fn address_handles_are_checked_and_counted() {
    let (mut w, ep) = one();
    let (d, p) = w.at(0);
    let good = AhSpec { pd: ep.pd.handle, is_global: true, port: 1, dgid: gid(0) };
    for bad in
        [AhSpec { is_global: false, ..good }, AhSpec { port: 2, ..good }, AhSpec { dgid: Gid::default(), ..good }]
    {
        assert_eq!(d.ah_create(p, ep.ctx, &bad), Err(EINVAL));
    }
    let other_pd = d.pd_alloc(p, ep.ctx).unwrap();
    let first = d.ah_create(p, ep.ctx, &good).unwrap();
    let in_other = d.ah_create(p, ep.ctx, &AhSpec { pd: other_pd.handle, ..good }).unwrap();
    assert_ne!(first.number, in_other.number);
    assert_eq!(d.pd_free(p, ep.ctx, other_pd.handle), Err(EBUSY));
    d.ah_destroy(p, ep.ctx, in_other.handle).unwrap();
    assert_eq!(d.ah_destroy(p, ep.ctx, in_other.handle), Err(ENOENT));
    d.pd_free(p, ep.ctx, other_pd.handle).unwrap();
    let max = d.profile().max_ah.value;
    let mut last = Ok(first);
    for n in 0..=max {
        let mut dgid = gid(1);
        dgid.0[4..8].copy_from_slice(&n.to_le_bytes());
        last = d.ah_create(p, ep.ctx, &AhSpec { dgid, ..good });
    }
    assert_eq!(last, Err(ENOMEM));
    assert!(d.ah_create(p, ep.ctx, &good).is_ok(), "a known peer costs nothing");
    assert_eq!(d.counters().create_ah_err, 5);
}

#[test]
fn queues_are_checked() {
    let (mut w, ep) = one();
    let (d, p) = w.at(0);
    let cq =
        CqSpec { cqe: 64, entry_size: 16, sub_cqs: 1, user_handle: 0, channel: None, comp_vector: 0, with_sgid: false };
    assert!(d.cq_create(p, ep.ctx, &cq).is_ok());
    for bad in [
        CqSpec { cqe: 0, ..cq },
        CqSpec { cqe: 65, ..cq },
        CqSpec { cqe: 65536, ..cq },
        CqSpec { entry_size: 24, ..cq },
        CqSpec { with_sgid: true, ..cq },
        CqSpec { sub_cqs: 2, ..cq },
        CqSpec { comp_vector: 8, ..cq },
    ] {
        assert_eq!(d.cq_create(p, ep.ctx, &bad), Err(EINVAL), "{bad:?}");
    }
    let good = qp_spec(&Opts::default(), ep.pd.handle, ep.cq.handle);
    let with = |change: &dyn Fn(&mut QpSpec)| {
        let mut s = good;
        change(&mut s);
        s
    };
    let mut create = |s: QpSpec| d.qp_create(p, ep.ctx, &s).map(|q| q.qpn);
    assert!(create(good).is_ok());
    assert!(create(with(&|s| (s.caps.max_recv_wr, s.caps.max_recv_sge, s.rq_ring_bytes) = (0, 0, 0))).is_ok());
    assert_eq!(create(with(&|s| s.pd = 77)), Err(ENOENT));
    assert_eq!(create(with(&|s| s.send_cq = 77)), Err(ENOENT));
    // As libefa asks: the ring has a power of two of descriptors.
    let receives = |count: u32, sges: u32| {
        with(&|s| {
            (s.caps.max_recv_wr, s.caps.max_recv_sge) = (count, sges);
            s.rq_ring_bytes = (count * sges).next_power_of_two() * 16;
        })
    };
    for (count, sges) in [(8192, 1), (4096, 2), (2730, 3)] {
        assert!(create(receives(count, sges)).is_ok(), "{count} receive requests of {sges} pieces");
        assert_eq!(create(receives(count + 1, sges)), Err(EINVAL), "{} of {sges}", count + 1);
    }
    for bad in [
        with(&|s| s.caps.max_send_wr = 4097),
        with(&|s| s.caps.max_recv_wr = 8193),
        with(&|s| s.caps.max_send_sge = 3),
        with(&|s| s.caps.max_recv_sge = 4),
        with(&|s| s.caps.max_inline_data = 81),
        with(&|s| s.sq_ring_bytes += 64),
        with(&|s| s.sq_ring_bytes *= 4),
        with(&|s| s.rq_ring_bytes = 24),
        with(&|s| s.rq_ring_bytes /= 2),
        with(&|s| s.sl = 3),
    ] {
        assert_eq!(create(bad), Err(EINVAL), "{bad:?}");
    }
    assert!(create(with(&|s| s.unsolicited_write_recv = true)).is_ok());
    let mut w = World::new(&Setup { profile: "p5", ..Setup::default() });
    let ep = Ep::new(&mut w, 0, Opts::default());
    let (d, p) = w.at(0);
    let spec = QpSpec { unsolicited_write_recv: true, ..qp_spec(&Opts::default(), ep.pd.handle, ep.cq.handle) };
    assert_eq!(d.qp_create(p, ep.ctx, &spec), Err(EOPNOTSUPP));
}

#[test]
fn modify_takes_the_kernels_attributes_and_query_gives_them_back() {
    let (mut w, ep) = one();
    let (d, _) = w.at(0);
    let q = d.qp_query(ep.ctx, ep.qp.handle).unwrap();
    assert_eq!((q.attr.state, q.attr.cur_state, q.attr.qkey, q.attr.sq_psn), (QpState::Rts, QpState::Rts, QKEY, 77));
    assert_eq!((q.attr.port, q.attr.rnr_retry), (1, 7));
    let attr = QpAttr { state: QpState::Rts, cur_state: QpState::Rts, qkey: 5, ..q.attr };
    for foreign in [1 << 3, 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 12, 1 << 20, 1 << 25] {
        assert_eq!(ep.modify(&mut w, qp_mask::STATE | foreign, &attr), Err(EOPNOTSUPP), "mask {foreign:#x}");
    }
    assert_eq!(ep.modify(&mut w, qp_mask::STATE | qp_mask::SQ_PSN, &attr), Err(EINVAL));
    let wrong = QpAttr { cur_state: QpState::Init, ..attr };
    assert_eq!(ep.modify(&mut w, qp_mask::STATE | qp_mask::CUR_STATE, &wrong), Err(EINVAL));
    ep.modify(&mut w, qp_mask::STATE | qp_mask::CUR_STATE | qp_mask::QKEY, &attr).unwrap();
    assert_eq!(w.at(0).0.qp_query(ep.ctx, ep.qp.handle).unwrap().attr.qkey, 5);
    ep.modify(&mut w, qp_mask::STATE, &QpAttr { state: QpState::Reset, ..attr }).unwrap();
    let init = QpAttr { state: QpState::Init, port: 1, ..attr };
    let mask = qp_mask::STATE | qp_mask::PORT | qp_mask::PKEY_INDEX | qp_mask::QKEY;
    for bad in [QpAttr { port: 2, ..init }, QpAttr { port: 0, ..init }, QpAttr { pkey_index: 1, ..init }] {
        assert_eq!(ep.modify(&mut w, mask, &bad), Err(EINVAL));
    }
    ep.modify(&mut w, mask, &init).unwrap();
}

#[test]
fn objects_belong_to_their_context() {
    let (mut w, ep) = one();
    let (d, p) = w.at(0);
    let other = d.context_open().unwrap();
    assert_eq!(d.pd_free(p, other, ep.pd.handle), Err(ENOENT));
    assert_eq!(d.mr_dereg(p, other, ep.mr.handle), Err(ENOENT));
    assert_eq!(d.cq_destroy(p, other, ep.cq.handle), Err(ENOENT));
    assert_eq!(d.qp_destroy(p, other, ep.qp.handle), Err(ENOENT));
    assert_eq!(d.qp_query(other, ep.qp.handle), Err(ENOENT));
    assert_eq!(d.pd_alloc(p, ContextId(4711)).map(|p| p.handle), Err(EINVAL));
}

#[test]
fn what_is_in_use_stays_and_a_context_closes_with_all_it_has() {
    let (mut w, ep) = one();
    ep.ah(&mut w, 0);
    let (d, p) = w.at(0);
    assert_eq!(d.pd_free(p, ep.ctx, ep.pd.handle), Err(EBUSY));
    assert_eq!(d.cq_destroy(p, ep.ctx, ep.cq.handle), Err(EBUSY));
    d.context_close(p, ep.ctx);
    assert_eq!(p.freed[&ep.ctx] as usize, p.memfds[&ep.ctx].len() * 8, "every piece of the memfd was given back");
    assert_eq!(d.pd_alloc(p, ep.ctx).map(|p| p.handle), Err(EINVAL));
    let again = d.context_open().unwrap();
    assert_ne!(again, ep.ctx);
}

#[test]
fn qp_numbers_tell_the_process_and_run_out_with_an_error() {
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    let ep = Ep::new(&mut w, 1, Opts::default());
    let (d, p) = w.at(1);
    let spec = QpSpec {
        rq_ring_bytes: 0,
        caps: QpCaps { max_recv_wr: 0, max_send_wr: 1, ..ep.qp.caps },
        sq_ring_bytes: 64,
        ..qp_spec(&ep.opts, ep.pd.handle, ep.cq.handle)
    };
    let first = d.qp_create(p, ep.ctx, &spec).unwrap();
    d.qp_destroy(p, ep.ctx, first.handle).unwrap();
    let all: Vec<_> = std::iter::from_fn(|| d.qp_create(p, ep.ctx, &spec).ok()).collect();
    assert_eq!(all.len(), 4094);
    assert!(all.iter().all(|q| q.qpn >> 12 == 1 && q.qpn & 0xfff != 0));
    assert_eq!(all.last().unwrap().qpn, first.qpn, "a number comes back as late as possible");
    assert_eq!(d.qp_create(p, ep.ctx, &spec), Err(ENOMEM));
}

#[test]
fn a_removed_device_answers_gone_wakes_waiters_and_can_be_closed() {
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    let mut a = Ep::new(&mut w, 0, Opts { channel: Some(5), ..Opts::default() });
    let mut b = Ep::new(&mut w, 1, Opts::default());
    let ah = b.ah(&mut w, 0);
    a.recv(&mut w, 1, &[(0, 100)]);
    let wr = b.wr(0, 1, ah, &a, 0, 0, 8);
    let (d, p) = w.at(0);
    d.remove(p);
    d.remove(p);
    assert_eq!(p.async_events, [AsyncEvent::DeviceFatal]);
    assert_eq!(p.comp_events, [(5, 0xc0)]);
    assert!(d.removed() && !d.port().active);
    assert_eq!(d.pd_alloc(p, a.ctx), Err(EIO));
    assert_eq!(d.qp_query(a.ctx, a.qp.handle), Err(EIO));
    assert_eq!(d.command(p, "query_device"), Err(EIO));
    b.post(&mut w, &wr);
    w.run();
    assert_eq!(b.one(&mut w), (1, 13));
    let (d, p) = w.at(0);
    d.qp_destroy(p, a.ctx, a.qp.handle).unwrap();
    d.cq_destroy(p, a.ctx, a.cq.handle).unwrap();
    d.mr_dereg(p, a.ctx, a.mr.handle).unwrap();
    d.pd_free(p, a.ctx, a.pd.handle).unwrap();
    d.context_close(p, a.ctx);
}

#[test]
fn devices_may_go_to_another_thread() {
    fn sendable<T: Send>() {}
    sendable::<Device>();
}
