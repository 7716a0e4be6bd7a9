// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rubbish in the rings, in packets and in calls: never a panic, and a good QP beside it goes on working.

use super::endpoint::*;
use super::world::*;
use crate::model::packet::{Kind, Packet, Payload};
use crate::model::rng::Rng;
use crate::model::types::*;

#[test]
fn random_requests() {
    for seed in [0, 1, 2, 3] {
        let mut rng = Rng::new(seed + 100);
        let mut w = World::new(&Setup { procs: &[0, 1], seed, ..Setup::default() });
        let mut good = Ep::new(&mut w, 0, Opts::default());
        let peer = Ep::new(&mut w, 1, Opts::default());
        let ah = good.ah(&mut w, 0);
        peer.ah(&mut w, 0);
        let mut a = Ep::new(&mut w, 0, Opts { wide: seed & 1 == 1, rnr_retry: Some(1), cqe: 1024, ..Opts::default() });
        let (here, there) = (a.ah(&mut w, 0), a.ah(&mut w, 1));
        let mut errors = std::collections::BTreeSet::new();
        for n in 0..10_000u32 {
            let mut wqe = [0u8; 128];
            if rng.below(4) == 0 {
                wqe.iter_mut().for_each(|b| *b = rng.draw() as u8);
            } else {
                // A request that makes sense, with some bytes broken.
                let to = if rng.below(2) == 0 { &good } else { &peer };
                let len = [0, 1, 8, 4096, 9000, 100_000][rng.below(6)];
                let mut wr =
                    a.wr(rng.below(3) as u8, n as u16, if to.dev == 0 { here } else { there }, to, 0, 0x8_0000, len);
                wr.imm = (rng.below(3) == 0).then_some(n);
                wqe = wr.bytes();
                for _ in 0..rng.below(3) {
                    wqe[rng.below(128)] ^= 1 << rng.below(8);
                }
            }
            a.post_raw(&mut w, &wqe);
            if rng.below(50) == 0 {
                a.ring(&mut w, a.qp.sq_doorbell, rng.draw() as u16);
            }
            if n % 16 == 0 {
                w.wait(1);
                w.procs.iter_mut().for_each(|p| p.lines.clear());
                errors.extend(a.polls(&mut w).iter().map(|c| c.status));
                let (d, _) = w.at(0);
                if d.qp_query(a.ctx, a.qp.handle).unwrap().attr.state == QpState::Err {
                    a.modify(&mut w, qp_mask::STATE, &QpAttr::default()).unwrap();
                    (a.sq_pc, a.rq_pc) = (0, 0);
                    a.up(&mut w).unwrap();
                }
            }
        }
        for code in [0, 1, 2, 3, 4, 5, 6, 7, 9, 10] {
            assert!(errors.contains(&code), "seed {seed}: status {code} never seen in {errors:?}");
        }
        // What still waits may take a receive request first.
        w.wait(50);
        a.polls(&mut w);
        good.polls(&mut w);
        good.recv(&mut w, 1, &[(0, 100)]);
        let wr = good.wr(0, 2, ah, &good, 0, 0, 8);
        good.post(&mut w, &wr);
        w.run();
        assert!(good.polls(&mut w).iter().any(|c| (c.id, c.status) == (2, 0)));
    }
}

#[test]
fn random_receive_descriptors() {
    let mut rng = Rng::new(9);
    let mut w = World::new(&Setup::default());
    let mut good = Ep::new(&mut w, 0, Opts::default());
    let mut a = Ep::new(&mut w, 0, Opts { recv_sge: 3, cqe: 1024, ..Opts::default() });
    let ah = good.ah(&mut w, 0);
    let mut seen = std::collections::BTreeSet::new();
    for n in 0..10_000u16 {
        let mut desc = [0u8; 16];
        desc.iter_mut().for_each(|b| *b = rng.draw() as u8);
        if rng.below(2) == 0 {
            desc[0..8].copy_from_slice(&BASE.to_le_bytes());
            desc[12..16].copy_from_slice(&(a.mr.lkey | 3 << 30).to_le_bytes());
        }
        a.recv_raw(&mut w, &desc);
        a.ring(&mut w, a.qp.rq_doorbell, a.rq_pc);
        let wr = good.wr(0, n, ah, &a, 0, 0, 300);
        good.post(&mut w, &wr);
        w.run();
        w.procs[0].lines.clear();
        seen.extend(good.polls(&mut w).iter().map(|c| c.status));
        a.polls(&mut w);
        if w.at(0).0.qp_query(a.ctx, a.qp.handle).unwrap().attr.state == QpState::Err {
            a.modify(&mut w, qp_mask::STATE, &QpAttr::default()).unwrap();
            (a.sq_pc, a.rq_pc) = (0, 0);
            a.up(&mut w).unwrap();
        }
        if n % 40 == 0 {
            // What waits for a receive request is flushed, so that the ring has room.
            good.modify(&mut w, qp_mask::STATE, &QpAttr { state: QpState::Err, ..QpAttr::default() }).unwrap();
            good.modify(&mut w, qp_mask::STATE, &QpAttr::default()).unwrap();
            (good.sq_pc, good.rq_pc) = (0, 0);
            good.up(&mut w).unwrap();
        }
    }
    assert!(seen.is_superset(&[0, 1, 11, 12].into()), "{seen:?}");
}

#[test]
fn random_packets() {
    let mut rng = Rng::new(77);
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let mut b = Ep::new(&mut w, 1, Opts::default());
    let (ah, _) = (a.ah(&mut w, 1), b.ah(&mut w, 0));
    w.procs[0].room = 1000;
    w.procs[1].room = 1000;
    let mut decoded = 0;
    for n in 0..20_000u16 {
        let wr = a.wr((n % 3) as u8, n, ah, &b, 0, 0x8_0000, 500);
        if n % 4 == 0 {
            b.recv(&mut w, n, &[(0, 1000)]);
        }
        a.post(&mut w, &wr);
        w.run();
        let template = Packet {
            source: crate::model::host::Address { gid: gid(rng.below(2)), qpn: a.qp.qpn },
            dest: crate::model::host::Address { gid: gid(1), qpn: b.qp.qpn },
            request: u64::from(n),
            kind: [Kind::Ready, Kind::ReadReq { raddr: 0, rkey: 0, length: 0 }][rng.below(2)],
            payload: Payload::Bytes(vec![7; rng.below(64)].into()),
        };
        let mut bytes = vec![0; template.encoded_len()];
        let header = bytes.len() - template.payload.len() as usize;
        template.encode(&mut bytes, &mut |_, _| true).unwrap();
        bytes[0] = rng.below(8) as u8;
        for _ in 0..rng.below(6) {
            bytes[rng.below(header)] = rng.draw() as u8;
        }
        if let Some(p) = Packet::decode(&bytes) {
            decoded += 1;
            let (d, host) = w.at(rng.below(2));
            d.receive(host, &p);
            w.disturbed();
            for proc in &mut w.procs {
                proc.outgoing.retain(|p| p.dest.gid == gid(0) || p.dest.gid == gid(1));
            }
        }
        w.procs.iter_mut().for_each(|p| p.lines.clear());
        a.polls(&mut w);
        b.polls(&mut w);
        if n % 32 == 31 {
            a.modify(&mut w, qp_mask::STATE, &QpAttr::default()).unwrap();
            (a.sq_pc, a.rq_pc) = (0, 0);
            a.up(&mut w).unwrap();
        }
    }
    assert!(decoded > 10_000, "{decoded}");
}

#[test]
fn random_calls() {
    for seed in 0..4 {
        let mut rng = Rng::new(seed + 500);
        let mut w = World::new(&Setup { seed, ..Setup::default() });
        let (d, p) = w.at(0);
        let (mut ok, mut refused) = (0u32, 0u32);
        let mut contexts = vec![d.context_open().unwrap()];
        let (mut pds, mut cqs, mut made) = (vec![0], vec![0], vec![0]);
        for n in 0..20_000 {
            let mut any = |most: u64| rng.draw() % (most + 1);
            let ctx = contexts[any(contexts.len() as u64 - 1) as usize];
            // Handles are small numbers, keys too: many hit something. The latest of some kinds are remembered.
            let h = any(12) as u32;
            let (pd, cq, qp) = (*pds.last().unwrap(), *cqs.last().unwrap(), *made.last().unwrap());
            let result = match any(14) {
                0 if contexts.len() < 2 => d.context_open().map(|c| contexts.push(c)),
                1 if contexts.len() > 1 && any(20) == 0 => {
                    let ctx = contexts.pop().unwrap();
                    d.context_close(p, ctx);
                    let freed = p.freed.remove(&ctx).unwrap_or(0);
                    assert_eq!(
                        freed as usize,
                        p.memfds.remove(&ctx).map_or(0, |m| m.len() * 8),
                        "seed {seed}, call {n}"
                    );
                    Ok(())
                }
                2 => d.pd_alloc(p, ctx).map(|pd| pds.push(pd.handle)),
                3 => d.pd_free(p, ctx, h),
                4 => {
                    let start = any(u64::MAX - 1) >> any(63);
                    let spec =
                        MrSpec { pd: h, start, length: any(9000), iova: start, access: any(31) as u32, dmabuf: false };
                    d.mr_reg(p, ctx, &spec).map(|_| ())
                }
                5 => d.mr_dereg(p, ctx, h).map(|_| ()),
                6 => {
                    let dgid = gid(any(2) as usize);
                    d.ah_create(p, ctx, &AhSpec { pd: h, is_global: any(9) > 0, port: 1, dgid }).map(|_| ())
                }
                7 => d.ah_destroy(p, ctx, h),
                8 => {
                    let entry_size = [16, 32, 0, 64][any(3) as usize];
                    let size = if any(50) == 0 { any(17) } else { any(7) };
                    let (cqe, comp_vector) = (1u32 << size, any(8) as u32);
                    let spec = CqSpec {
                        cqe,
                        entry_size,
                        sub_cqs: 1,
                        user_handle: 1,
                        channel: None,
                        comp_vector,
                        with_sgid: any(1) > 0,
                    };
                    d.cq_create(p, ctx, &spec).map(|c| cqs.push(c.handle))
                }
                9 => d.cq_destroy(p, ctx, h),
                10 | 11 => {
                    let opts =
                        Opts { depth: 1 << any(4), wide: any(1) > 0, recv_sge: any(4) as u32, ..Opts::default() };
                    let mut spec = qp_spec(&opts, pd, cq);
                    spec.recv_cq = if any(1) > 0 { cq } else { h };
                    spec.rq_ring_bytes ^= if any(5) == 0 { 1 << any(31) } else { 0 };
                    spec.sq_ring_bytes ^= if any(5) == 0 { 1 << any(31) } else { 0 };
                    d.qp_create(p, ctx, &spec).map(|q| made.push(q.handle))
                }
                12 => d.qp_destroy(p, ctx, if any(3) > 0 { qp } else { h }),
                _ => {
                    let state = QpState::from_verbs(any(6) as u32).unwrap();
                    let attr = QpAttr { state, port: any(2) as u8, qkey: 5, ..QpAttr::default() };
                    let mask = [0x71, 1, 0x10001, any(u64::MAX - 1) as u32][any(3) as usize];
                    d.qp_modify(p, ctx, qp, mask, &attr)
                }
            };
            match result {
                Ok(()) => ok += 1,
                Err(_) => refused += 1,
            }
            if n % 8 == 0 {
                d.step(p);
            }
        }
        assert!(ok > 1000 && refused > 1000 && made.len() > 50, "{ok} done, {refused} refused, {} QPs", made.len());
    }
}
