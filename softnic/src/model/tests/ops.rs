// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each operation moves exactly its bytes, on one device, between devices of one process, and between processes.

use super::SEEDS;
use super::endpoint::*;
use super::world::*;
use crate::kind::efa::UD;

/// Two endpoints in each possible neighbourhood.
fn pairs(opts: Opts, mut test: impl FnMut(&mut World, &mut Ep, &mut Ep)) {
    for (procs, b) in [(&[0usize][..], 0), (&[0, 0][..], 1), (&[0, 1][..], 1)] {
        for seed in SEEDS {
            let mut w = World::new(&Setup { procs, seed, ..Setup::default() });
            let mut a = Ep::new(&mut w, 0, opts.clone());
            let mut b = Ep::new(&mut w, b, opts.clone());
            test(&mut w, &mut a, &mut b);
        }
    }
}

#[test]
fn send_with_and_without_immediate_scatters_over_several_pieces() {
    pairs(Opts { recv_sge: 3, ..Opts::default() }, |w, a, b| {
        let data = pattern(5000, 1);
        a.fill(w, 0, &data);
        b.recv(w, 40, &[(0x40000, 1000), (0x50000, 3000), (0x60000, 2000)]);
        b.recv(w, 41, &[(0x70000, 4000)]);
        let ah = a.ah(w, b.dev);
        let mut wr = a.wr(0, 7, ah, b, 0, 0, 2000);
        wr.sges.push((BASE + 2000, 3000, a.mr.lkey));
        a.post(w, &wr);
        w.run();
        assert_eq!(a.one(w), (7, 0));
        let wc = b.poll(w).unwrap();
        assert_eq!((wc.id, wc.status, wc.length, wc.op(), wc.flags & 8), (40, 0, 5000, 0, 0));
        assert!(wc.is_recv());
        assert_eq!((u32::from(wc.source), u32::from(wc.qpn)), (a.qp.qpn, b.qp.qpn));
        let got = [b.bytes(w, 0x40000, 1000), b.bytes(w, 0x50000, 3000), b.bytes(w, 0x60000, 1000)].concat();
        assert_eq!(got, data);
        assert_eq!(b.bytes(w, 0x60000 + 1000, 8), [0; 8]);

        let mut wr = a.wr(0, 8, ah, b, 0, 0, 10);
        wr.imm = Some(0xdead_beef);
        a.post(w, &wr);
        w.run();
        assert_eq!(a.one(w), (8, 0));
        let wc = b.poll(w).unwrap();
        assert_eq!((wc.id, wc.length, wc.imm, wc.flags & 8), (41, 10, 0xdead_beef, 8));
        assert_eq!(b.bytes(w, 0x70000, 11), [&data[..10], &[0]].concat());
    });
}

#[test]
fn inline_of_both_sizes() {
    for (wide, len) in [(false, 32usize), (true, 80)] {
        pairs(Opts { wide, ..Opts::default() }, |w, a, b| {
            let data = pattern(len, 9);
            let (ah, _) = (a.ah(w, b.dev), b.ah(w, a.dev));
            b.recv(w, 1, &[(0x40000, 100)]);
            let mut wr = a.wr(0, 2, ah, b, 0, 0, 0);
            wr.inline = Some(data.clone());
            wr.sges.clear();
            a.post(w, &wr);
            w.run();
            assert_eq!(a.one(w), (2, 0));
            assert_eq!(b.poll(w).unwrap().length, len as u32);
            assert_eq!(b.bytes(w, 0x40000, len), data);
            if wide {
                wr.op = 2;
                wr.id = 3;
                wr.remote = (BASE + 0x50000, len as u32, b.mr.rkey);
                a.post(w, &wr);
                w.run();
                assert_eq!(a.one(w), (3, 0));
                assert_eq!(b.bytes(w, 0x50000, len), data);
                assert_eq!(b.polls(w), []);
            }
        });
    }
}

#[test]
fn read_and_write_of_all_sizes() {
    pairs(Opts::default(), |w, a, b| {
        let (ah, _) = (a.ah(w, b.dev), b.ah(w, a.dev));
        for (n, len) in [0usize, 1, 64, 127, 1000, 32768, 32769, 200_000].into_iter().enumerate() {
            let data = pattern(len, n as u8);
            a.fill(w, 0, &data);
            b.fill(w, 0x4_0000, &vec![0xff; 0x3_4000]);
            a.post(w, &a.wr(2, n as u16, ah, b, 0, 0x4_0001, len as u32));
            w.run();
            let wc = a.poll(w).unwrap();
            assert_eq!((wc.id, wc.status, wc.op()), (n as u16, 0, 2), "write of {len}");
            assert_eq!(b.bytes(w, 0x4_0000, 1), [0xff]);
            assert_eq!(b.bytes(w, 0x4_0001, len), data, "write of {len}");
            assert_eq!(b.bytes(w, 0x4_0001 + len as u64, 1), [0xff], "write of {len}");

            a.fill(w, 0x8_0000, &vec![0xee; 0x3_4000]);
            a.post(w, &a.wr(1, 99, ah, b, 0x8_0003, 0x4_0001, len as u32));
            w.run();
            let wc = a.poll(w).unwrap();
            assert_eq!((wc.id, wc.status, wc.op()), (99, 0, 1), "read of {len}");
            assert_eq!(a.bytes(w, 0x8_0003, len), data, "read of {len}");
            assert_eq!(a.bytes(w, 0x8_0003 + len as u64, 1), [0xee], "read of {len}");
        }
        assert_eq!((a.polls(w), b.polls(w)), (vec![], vec![]));
    });
}

#[test]
fn write_with_immediate_takes_a_receive_request_and_tells_the_whole_length() {
    pairs(Opts::default(), |w, a, b| {
        let (ah, back) = (a.ah(w, b.dev), b.ah(w, a.dev));
        let len = 100_000;
        a.fill(w, 0, &pattern(len, 3));
        b.recv(w, 5, &[(0, 1)]);
        let mut wr = a.wr(2, 6, ah, b, 0, 0x4_0000, len as u32);
        wr.imm = Some(17);
        a.post(w, &wr);
        w.run();
        assert_eq!(a.one(w), (6, 0));
        let wc = b.poll(w).unwrap();
        assert_eq!((wc.id, wc.status, wc.length, wc.imm, wc.op(), wc.flags & 0x88), (5, 0, len as u32, 17, 2, 8));
        assert_eq!(wc.ah, back.number);
        assert_eq!(b.bytes(w, 0x4_0000, len), pattern(len, 3));
    });
}

#[test]
fn unsolicited_write_with_immediate_takes_none() {
    pairs(Opts { unsolicited: true, ..Opts::default() }, |w, a, b| {
        let (ah, _) = (a.ah(w, b.dev), b.ah(w, a.dev));
        b.recv(w, 5, &[(0, 100)]);
        let mut wr = a.wr(2, 6, ah, b, 0, 0x4_0000, 10);
        wr.imm = Some(18);
        a.post(w, &wr);
        w.run();
        assert_eq!(a.one(w), (6, 0));
        let wc = b.poll(w).unwrap();
        assert_eq!((wc.id, wc.imm, wc.flags & 0x88), (0, 18, 0x88));
        a.post(w, &a.wr(0, 7, ah, b, 0, 0, 10));
        w.run();
        assert_eq!(b.poll(w).unwrap().id, 5, "the receive request is still there");
    });
}

#[test]
fn datagrams_leave_room_for_a_routing_header() {
    pairs(Opts { kind: &UD, recv_sge: 2, ..Opts::default() }, |w, a, b| {
        let data = pattern(100, 4);
        a.fill(w, 0, &data);
        let ah = a.ah(w, b.dev);
        b.recv(w, 1, &[(0x4_0000, 30), (0x5_0000, 500)]);
        let mut wr = a.wr(0, 2, ah, b, 0, 0, 100);
        wr.imm = Some(5);
        a.post(w, &wr);
        a.post(w, &a.wr(0, 3, ah, b, 0, 0, 100));
        w.run();
        assert_eq!(a.polls(w).len(), 1);
        w.wait(100);
        assert_eq!(a.polls(w).iter().map(|c| c.status).collect::<Vec<_>>(), [0], "nobody hears of a datagram lost");
        let got = b.polls(w);
        assert_eq!(got.len(), 1);
        assert_eq!((got[0].status, got[0].length), (0, 140));
        assert_eq!(b.bytes(w, 0x5_0000 + 10, 100), data);
    });
}

#[test]
fn a_datagram_waits_a_little_for_its_receiver() {
    pairs(Opts { kind: &UD, ..Opts::default() }, |w, a, b| {
        let ah = a.ah(w, b.dev);
        a.post(w, &a.wr(0, 2, ah, b, 0, 0, 100));
        w.wait(90);
        assert_eq!(a.polls(w), []);
        b.recv(w, 1, &[(0x4_0000, 200)]);
        w.run();
        assert_eq!((a.one(w), b.one(w)), ((2, 0), (1, 0)));
        // Nobody has that number: gone, and nobody waits.
        let mut wr = a.wr(0, 3, ah, b, 0, 0, 100);
        wr.qpn += 9;
        a.post(w, &wr);
        w.run();
        assert_eq!(a.one(w), (3, 0));
    });
}

#[test]
fn the_sender_is_named_by_its_handle_or_else_by_its_gid() {
    let mut w = World::new(&Setup { procs: &[0, 1], ..Setup::default() });
    let mut a = Ep::new(&mut w, 0, Opts::default());
    let mut b = Ep::new(&mut w, 1, Opts::default());
    let ah = a.ah(&mut w, 1);
    for (id, known) in [(1, false), (2, true)] {
        if known {
            b.ah(&mut w, 0);
        }
        b.recv(&mut w, id, &[(0, 100)]);
        let wr = a.wr(0, id, ah, &b, 0, 0, 8);
        a.post(&mut w, &wr);
        w.run();
        let wc = b.poll(&mut w).unwrap();
        assert_eq!(wc.ah, if known { 1 } else { 0xffff });
        assert_eq!(wc.sgid, if known { [0; 16] } else { gid(0).0 });
    }
    let (sent, got) = (*w.at(0).0.counters(), *w.at(1).0.counters());
    assert_eq!((sent.send_wrs, sent.send_bytes, got.recv_wrs, got.recv_bytes), (2, 16, 2, 16));
}
