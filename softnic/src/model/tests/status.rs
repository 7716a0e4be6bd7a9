// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each completion status that a device can produce, and that an error touches only its own request.

use super::endpoint::*;
use super::world::*;
use crate::model::types::*;

/// Two processes, one device each, address handles both ways.
fn two(a: Opts, b: Opts) -> (World, Ep, Ep, AhInfo) {
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    let a = Ep::new(&mut w, 0, a);
    let b = Ep::new(&mut w, 1, b);
    let ah = a.ah(&mut w, 1);
    b.ah(&mut w, 0);
    (w, a, b, ah)
}

fn plain() -> (World, Ep, Ep, AhInfo) {
    two(Opts::default(), Opts::default())
}

/// The request fails with `code`; a good one behind it works.
fn fails(w: &mut World, a: &mut Ep, b: &mut Ep, ah: AhInfo, wr: &Wr, code: u8) {
    a.post(w, wr);
    w.run();
    assert_eq!(a.one(w), (wr.id, code));
    b.recv(w, 900, &[(0x9_0000, 100)]);
    a.post(w, &a.wr(0, 901, ah, b, 0, 0, 8));
    w.run();
    assert_eq!(a.one(w), (901, 0), "the QP lives on after status {code}");
    assert_eq!(b.polls(w).last().unwrap().id, 900);
}

#[test]
fn local_errors() {
    let (mut w, mut a, mut b, ah) = plain();
    let good = a.wr(0, 1, ah, &b, 0, 0, 8);
    let cases: Vec<(Wr, u8)> = vec![
        (Wr { op: 5, ..good.clone() }, 3),
        (Wr { ah: ah.number + 1, ..good.clone() }, 4),
        (Wr { sges: vec![(BASE, 8, a.mr.lkey + 1)], ..good.clone() }, 5),
        (Wr { sges: vec![(BASE + MEMORY as u64 - 4, 8, a.mr.lkey)], ..good.clone() }, 5),
        (Wr { sges: vec![(BASE - 1, 8, a.mr.lkey)], ..good.clone() }, 5),
        (Wr { sges: vec![(BASE, 8929, a.mr.lkey)], ..good.clone() }, 6),
        (Wr { remote: (BASE, 9, b.mr.rkey), op: 2, ..good.clone() }, 6),
        (
            Wr {
                sges: vec![(BASE, (1 << 30) + 1, a.mr.lkey)],
                remote: (BASE, (1 << 30) + 1, b.mr.rkey),
                op: 2,
                ..good.clone()
            },
            6,
        ),
    ];
    for (wr, code) in cases {
        fails(&mut w, &mut a, &mut b, ah, &wr, code);
    }
    // Metadata that no provider writes.
    let mut wqe = good.bytes();
    wqe[2] &= 0x7f;
    a.post_raw(&mut w, &wqe);
    w.run();
    assert_eq!(a.one(&mut w), (1, 2));
}

#[test]
fn an_oversized_send_fails_and_the_largest_does_not() {
    let (mut w, mut a, mut b, ah) = plain();
    b.recv(&mut w, 1, &[(0, 9000)]);
    let wr = a.wr(0, 2, ah, &b, 0, 0, 8928);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (2, 0));
    assert_eq!(b.poll(&mut w).unwrap().length, 8928);
}

#[test]
fn a_device_without_write_says_unsupported() {
    let mut w = World::new(&Setup { profile: "p4d", procs: &[0, 1], ..Setup::default() });
    let access = access::LOCAL_WRITE | access::REMOTE_READ;
    let mut a = Ep::new(&mut w, 0, Opts { access, ..Opts::default() });
    let mut b = Ep::new(&mut w, 1, Opts { access, ..Opts::default() });
    let ah = a.ah(&mut w, 1);
    b.ah(&mut w, 0);
    let wr = a.wr(2, 1, ah, &b, 0, 0, 8);
    fails(&mut w, &mut a, &mut b, ah, &wr, 3);
    let wr = a.wr(1, 2, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (2, 0));
}

#[test]
fn memory_that_is_gone_is_an_error_and_no_crash() {
    let (mut w, mut a, mut b, ah) = plain();
    w.procs[0].holes.push((BASE + 0x1000, 0x1000));
    w.procs[1].holes.push((BASE + 0x2000, 0x1000));
    let wr = a.wr(0, 1, ah, &b, 0x1000, 0, 8);
    fails(&mut w, &mut a, &mut b, ah, &wr, 5);
    let wr = a.wr(2, 2, ah, &b, 0, 0x2ff8, 16);
    fails(&mut w, &mut a, &mut b, ah, &wr, 7);
    let wr = a.wr(1, 3, ah, &b, 0, 0x2ff8, 16);
    fails(&mut w, &mut a, &mut b, ah, &wr, 7);
    let wr = a.wr(1, 4, ah, &b, 0x1ff8, 0, 16);
    fails(&mut w, &mut a, &mut b, ah, &wr, 5);
    b.recv(&mut w, 50, &[(0x2000, 100)]);
    let wr = a.wr(0, 5, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!((a.one(&mut w), b.one(&mut w)), ((5, 12), (50, 5)));
}

/// One process on both sides: a single copy, of which either end can fail.
#[test]
fn within_one_process_the_right_side_is_blamed() {
    let mut w = World::new(&Setup::default());
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let ah = a.ah(&mut w, 0);
    w.procs[0].holes.push((BASE + 0x1000, 0x1000));
    for (op, local, remote, code) in [(1, 0x1ff8, 0, 5), (1, 0, 0x1ff8, 7), (2, 0x1ff8, 0, 5), (2, 0, 0x1ff8, 7)] {
        let wr = a.wr(op, 1, ah, &a, local, remote, 16);
        a.post(&mut w, &wr);
        w.run();
        assert_eq!(a.one(&mut w), (1, code), "op {op} from {local:#x} and {remote:#x}");
    }
    // The receive request was not touched.
    a.recv(&mut w, 50, &[(0x4000, 100)]);
    for (from, code) in [(0x1ff8, 5), (0, 0)] {
        let wr = a.wr(0, 2, ah, &a, from, 0, 16);
        a.post(&mut w, &wr);
        w.run();
        let done: Vec<_> = a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect();
        assert_eq!(done, if code == 5 { vec![(2, 5)] } else { vec![(50, 0), (2, 0)] });
    }
}

#[test]
fn deregistered_regions_are_noticed_at_both_ends() {
    let (mut w, mut a, mut b, ah) = plain();
    let old = b.mr;
    let (d, p) = w.at(1);
    d.mr_dereg(p, b.ctx, old.handle).unwrap();
    b.mr = d.mr_reg(p, b.ctx, &old.spec).unwrap();
    assert_ne!(b.mr.rkey, old.rkey);
    let wr = Wr { remote: (BASE, 8, old.rkey), ..a.wr(2, 1, ah, &b, 0, 0, 8) };
    fails(&mut w, &mut a, &mut b, ah, &wr, 7);
    let (d, p) = w.at(0);
    let old = a.mr;
    d.mr_dereg(p, a.ctx, old.handle).unwrap();
    a.mr = d.mr_reg(p, a.ctx, &old.spec).unwrap();
    let wr = Wr { sges: vec![(BASE, 8, old.lkey)], ..a.wr(0, 2, ah, &b, 0, 0, 8) };
    fails(&mut w, &mut a, &mut b, ah, &wr, 5);
}

#[test]
fn regions_whose_memory_was_freed_fail_as_deregistered_ones() {
    let (mut w, mut a, mut b, ah) = plain();
    let (d, p) = w.at(1);
    assert_eq!(d.mr_lost(b.mr.spec.start), [b.mr.rkey]);
    assert_eq!(d.mr_lost(b.mr.spec.start + 1), []);
    let (old, spec) = (b.mr, b.mr.spec);
    b.mr = d.mr_reg(p, b.ctx, &spec).unwrap();
    let wr = Wr { remote: (BASE, 8, old.rkey), ..a.wr(2, 1, ah, &b, 0, 0, 8) };
    fails(&mut w, &mut a, &mut b, ah, &wr, 7);
    let (d, p) = w.at(1);
    d.mr_dereg(p, b.ctx, old.handle).unwrap();
    let (d, p) = w.at(0);
    let old = a.mr;
    d.mr_lost(old.spec.start);
    a.mr = d.mr_reg(p, a.ctx, &old.spec).unwrap();
    let wr = Wr { sges: vec![(BASE, 8, old.lkey)], ..a.wr(0, 2, ah, &b, 0, 0, 8) };
    fails(&mut w, &mut a, &mut b, ah, &wr, 5);
}

#[test]
fn remote_access_is_checked() {
    for (grant, op, code) in [
        (access::LOCAL_WRITE | access::REMOTE_READ, 2, 7),
        (access::LOCAL_WRITE | access::REMOTE_WRITE, 1, 7),
        (access::LOCAL_WRITE | access::REMOTE_READ, 1, 0),
        (access::LOCAL_WRITE | access::REMOTE_WRITE, 2, 0),
    ] {
        let (mut w, mut a, b, ah) = two(Opts::default(), Opts { access: grant, ..Opts::default() });
        let wr = a.wr(op, 1, ah, &b, 0, 0, 100_000);
        a.post(&mut w, &wr);
        w.run();
        assert_eq!(a.one(&mut w), (1, code), "op {op} with access {grant:#x}");
    }
    let (mut w, mut a, mut b, ah) = plain();
    for (op, at, len) in [(2, MEMORY as u64 - 4, 8), (1, MEMORY as u64 - 4, 8), (2, u64::MAX - BASE - 3, 8)] {
        let mut wr = a.wr(op, 1, ah, &b, 0, 0, len);
        wr.remote.0 = BASE.wrapping_add(at);
        fails(&mut w, &mut a, &mut b, ah, &wr, 7);
    }
}

#[test]
fn a_read_needs_local_write_access() {
    let (mut w, mut a, b, ah) = two(Opts { access: 0, ..Opts::default() }, Opts::default());
    let wr = a.wr(1, 1, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (1, 5));
}

#[test]
fn wrong_qp_number_key_or_state_at_the_peer() {
    let (mut w, mut a, mut b, ah) = plain();
    b.recv(&mut w, 1, &[(0, 100)]);
    let good = a.wr(0, 1, ah, &b, 0, 0, 8);
    for wr in [Wr { qpn: b.qp.qpn + 7, ..good.clone() }, Wr { qkey: QKEY + 1, ..good.clone() }] {
        a.post(&mut w, &wr);
        w.run();
        assert_eq!(a.one(&mut w), (1, 9));
    }
    assert_eq!(b.polls(&mut w), []);
    b.modify(&mut w, qp_mask::STATE, &QpAttr { state: QpState::Err, ..QpAttr::default() }).unwrap();
    assert_eq!(b.one(&mut w), (1, 1), "the receive request is flushed");
    a.post(&mut w, &good);
    w.run();
    assert_eq!(a.one(&mut w), (1, 9));
}

#[test]
fn a_receive_request_that_is_too_short() {
    let (mut w, mut a, mut b, ah) = plain();
    b.recv(&mut w, 5, &[(0, 7)]);
    let wr = a.wr(0, 1, ah, &b, 0, 0, 8);
    fails(&mut w, &mut a, &mut b, ah, &wr, 11);
}

#[test]
fn strangers_may_send_but_not_read_or_write() {
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let mut b = Ep::new(&mut w, 1, Opts::default());
    let ah = a.ah(&mut w, 1);
    for op in [1, 2] {
        let wr = a.wr(op, 1, ah, &b, 0, 0, 100_000);
        fails(&mut w, &mut a, &mut b, ah, &wr, 14);
    }
    b.ah(&mut w, 0);
    for op in [1, 2] {
        let wr = a.wr(op, 1, ah, &b, 0, 0, 100_000);
        a.post(&mut w, &wr);
        w.run();
        assert_eq!(a.one(&mut w), (1, 0));
    }
}

#[test]
fn peers_that_disagree_about_unsolicited_receives() {
    for unsolicited in [true, false] {
        let (mut w, mut a, mut b, ah) =
            two(Opts { unsolicited, ..Opts::default() }, Opts { unsolicited: !unsolicited, ..Opts::default() });
        b.recv(&mut w, 1, &[(0, 10)]);
        let mut wr = a.wr(2, 1, ah, &b, 0, 0, 8);
        a.post(&mut w, &wr);
        w.run();
        assert_eq!(a.one(&mut w), (1, 0), "a plain WRITE does not care");
        wr.imm = Some(1);
        a.post(&mut w, &wr);
        w.run();
        assert_eq!(a.one(&mut w), (1, 18));
        assert_eq!(b.polls(&mut w), []);
    }
}

#[test]
fn nobody_there_and_not_there_any_more() {
    let (mut w, mut a, mut b, ah) = plain();
    let nowhere = a.ah(&mut w, 9);
    let wr = a.wr(0, 1, nowhere, &b, 0, 0, 8);
    fails(&mut w, &mut a, &mut b, ah, &wr, 15);
    // Waits for a receive request when its peer dies.
    let wr = a.wr(0, 2, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.polls(&mut w), []);
    let peer = gid(1);
    let (d, p) = w.at(0);
    d.peer_gone(p, &mut |a| (a.gid == peer).then_some(crate::model::host::Sent::Dead));
    p.dead.push(crate::model::host::Address { gid: peer, qpn: b.qp.qpn });
    assert_eq!(a.one(&mut w), (2, 13));
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (2, 13));
    assert_eq!(w.at(0).0.counters().unresponsive_remote_events, 3);
}

/// The host of a peer is gone: it depends on whether that had ever answered.
#[test]
fn a_peer_that_had_answered_and_one_that_never_did() {
    for (op, answered) in [(0, true), (1, true), (2, true), (1, false), (2, false)] {
        let (mut w, mut a, mut b, ah) = plain();
        let peer = gid(1);
        let wr = a.wr(op, 1, ah, &b, 0, 0x1000, 8);
        if answered {
            b.recv(&mut w, 1, &[(0, 8)]);
            a.post(&mut w, &wr);
            w.run();
            assert_eq!(a.one(&mut w), (1, 0));
        }
        // It dies while nothing is under way, and its host with it.
        let (d, p) = w.at(0);
        d.peer_gone(p, &mut |a| (a.gid == peer).then_some(crate::model::host::Sent::Dead));
        p.all_gids.retain(|g| *g != peer);
        for _ in 0..3 {
            a.post(&mut w, &wr);
            w.run();
            assert_eq!(a.one(&mut w), (1, if answered { 13 } else { 15 }), "op {op}");
        }
        let stranger = a.ah(&mut w, 9);
        let wr = a.wr(op, 2, stranger, &b, 0, 0x1000, 8);
        a.post(&mut w, &wr);
        w.run();
        assert_eq!(a.one(&mut w), (2, 15), "another peer");
    }
}

#[test]
fn a_receipt_is_an_answer() {
    let (mut w, mut a, b, ah) = plain();
    let wr = a.wr(0, 1, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    let (d, p) = w.at(0);
    d.step(p);
    let sent = p.outgoing.pop_front().unwrap();
    d.receipt(p, sent.request);
    p.all_gids.retain(|g| *g != gid(1));
    assert_eq!(a.one(&mut w), (1, 0));
    a.post(&mut w, &wr);
    w.disturbed();
    w.run();
    assert_eq!(a.one(&mut w), (1, 13));
}

/// Nothing had come from it yet; that it died is known all the same, and stays so.
#[test]
fn who_died_with_the_first_request_in_flight() {
    let (mut w, mut a, b, ah) = plain();
    let peer = gid(1);
    let wr = a.wr(1, 1, ah, &b, 0, 0x1000, 8);
    a.post(&mut w, &wr);
    let (d, p) = w.at(0);
    d.step(p);
    p.outgoing.clear();
    d.peer_gone(p, &mut |a| (a.gid == peer).then_some(crate::model::host::Sent::Dead));
    p.all_gids.retain(|g| *g != peer);
    assert_eq!(a.one(&mut w), (1, 13));
    a.post(&mut w, &wr);
    w.run();
    assert_eq!(a.one(&mut w), (1, 13));
}

#[test]
fn who_stands_still_gets_what_was_sent_and_its_sender_has_given_up() {
    let (mut w, mut a, mut b, ah) = plain();
    b.recv(&mut w, 9, &[(0, 100)]);
    for (id, op) in [(1, 0), (2, 2), (3, 1)] {
        let wr = a.wr(op, id, ah, &b, 0x1000, 0x2000, 8);
        a.post(&mut w, &wr);
    }
    let (d, p) = w.at(0);
    d.step(p);
    d.peer_silent(p, &mut |a| a.gid != gid(1));
    assert_eq!(a.polls(&mut w), []);
    let (d, p) = w.at(0);
    d.peer_silent(p, &mut |a| a.gid == gid(1));
    assert_eq!(a.polls(&mut w).iter().map(|c| (c.id, c.status)).collect::<Vec<_>>(), [(1, 13), (2, 13), (3, 13)]);
    // It moves again.
    w.run();
    assert_eq!((a.polls(&mut w), b.one(&mut w)), (vec![], (9, 0)));
    b.recv(&mut w, 10, &[(0, 100)]);
    let wr = a.wr(0, 4, ah, &b, 0, 0, 8);
    a.post(&mut w, &wr);
    w.run();
    assert_eq!((a.one(&mut w), b.one(&mut w)), ((4, 0), (10, 0)));
}

#[test]
fn a_peer_that_goes_in_the_middle_of_a_write_aborts_it() {
    let (mut w, mut a, b, ah) = plain();
    w.procs[0].room = 2;
    let wr = a.wr(2, 1, ah, &b, 0, 0, 200_000);
    a.post(&mut w, &wr);
    // Two of the seven pieces arrive, then the QP goes.
    let (d, p) = w.at(0);
    d.step(p);
    let first: Vec<_> = p.outgoing.drain(..).collect();
    assert_eq!(first.len(), 2);
    let (d, p) = w.at(1);
    for packet in &first {
        d.receive(p, packet);
    }
    d.qp_destroy(p, b.ctx, b.qp.handle).unwrap();
    w.run();
    assert_eq!(a.one(&mut w), (1, 8));
}
